//! `roadwright bench gaps`: capacity of yielding movements, compared with the formulae of the Highway
//! Capacity Manual.
//!
//! One leg gives way and always has a queue, while random traffic passes on the others. The number of queued
//! vehicles that enter per hour follows [HCM 2000] equation 17-3:
//!
//! ```text
//! c = q e^(-q tc) / (1 - e^(-q tf))      q: vehicles that pass; tc: critical gap, tf: follow-up time
//! c = 1,380 e^(-0.00102 q)               into a roundabout of one lane [HCM 2016]
//! ```

use super::WatchedRun;
use super::arguments::{Gaps as Arguments, Kind};
use super::star::{Plan, Star};
use crate::Outcome;
use crate::commands::print_json;
use crate::terminal;
use roadwright_geometry::math::exp;
use roadwright_scenario::RoadId;
use serde::Serialize;
use std::io::Write;

const LEG: f64 = 300.0;
const SPEED_LIMIT: f64 = 13.9;
/// Index of the leg that yields.
const ENTRY: usize = 3;
/// Demand on the yielding leg, vehicles/h.
const QUEUE: f64 = 2000.0;
/// Total flow of the passing traffic, vehicles/h.
const PASSING: [f64; 4] = [200.0, 400.0, 600.0, 800.0];
/// Duration of a run, s.
const SECONDS: f64 = 3600.0;
/// Time before measurement starts, s.
const WARM_UP: f64 = 120.0;
/// Permitted ratios of a measured capacity to the formula.
const SHARES: std::ops::RangeInclusive<f64> = 0.75..=1.25;

/// A movement that yields.
#[derive(Clone, Copy)]
enum Movement {
    NearTurn,
    Straight,
    FarTurn,
    IntoRing,
}

impl Movement {
    const ALL: [Self; 4] = [
        Self::NearTurn,
        Self::Straight,
        Self::FarTurn,
        Self::IntoRing,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::NearTurn => "yield, near turn",
            Self::Straight => "yield, straight",
            Self::FarTurn => "yield, far turn",
            Self::IntoRing => "roundabout entry",
        }
    }

    /// Returns the capacity according to the handbook for a passing flow, vehicles/h.
    fn formula(self, passing: f64) -> f64 {
        // [HCM 2000], exhibit 17-5, two lanes: critical gap and follow-up time, s.
        let (critical, follow_up) = match self {
            Self::NearTurn => (6.2, 3.3),
            Self::Straight => (6.5, 4.0),
            Self::FarTurn => (7.1, 3.5),
            Self::IntoRing => return 1380.0 * exp(-0.00102 * passing),
        };
        let q = passing / 3600.0;
        passing * exp(-q * critical) / (1.0 - exp(-q * follow_up))
    }
}

/// Capacity of a movement at a passing flow, vehicles/h.
#[derive(Debug, Serialize)]
struct GapRow {
    movement: &'static str,
    passing: f64,
    entering: f64,
    formula: f64,
    share: f64,
    overlaps: usize,
}

pub(super) fn bench(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let common = &arguments.common;
    let mut out = terminal::out();
    if !common.json {
        writeln!(
            out,
            "movement          passing/h entering/h  formula  share  overlaps"
        )?;
    }
    let mut rows = Vec::new();
    for movement in Movement::ALL {
        for wanted in PASSING {
            let row = measure(movement, wanted, arguments)?;
            if !common.json {
                writeln!(
                    out,
                    "{:<17} {:>9.0} {:>10.0} {:>8.0} {:>6.2} {:>9}",
                    row.movement, row.passing, row.entering, row.formula, row.share, row.overlaps
                )?;
                out.flush()?;
            }
            rows.push(row);
        }
    }
    drop(out);
    if common.json {
        print_json(&rows)?;
    }
    let is_kept = |row: &GapRow| SHARES.contains(&row.share) && row.overlaps == 0;
    Ok(Outcome::of(rows.iter().all(is_kept)))
}

fn measure(movement: Movement, wanted: f64, arguments: &Arguments) -> anyhow::Result<GapRow> {
    let common = &arguments.common;
    let (star, passing_legs) = star(movement, wanted, arguments)?;
    let roads: Vec<RoadId> = passing_legs.iter().map(|&leg| star.legs[leg]).collect();
    let entry = [star.legs[ENTRY]];
    let (seeds, seconds) = (common.seeds.unwrap_or(3), common.seconds.unwrap_or(SECONDS));
    // In short runs it is a quarter of the time, so that enough time is left to measure.
    let warm_up = WARM_UP.min(0.25 * seconds);
    let (mut passing, mut entering, mut overlaps) = (0.0, 0.0, 0);
    for seed in 1..=seeds {
        let mut run = WatchedRun::new(&star.scenario, common.dt, seed)?;
        run.until(warm_up)?;
        let before = (run.passed(&roads), run.passed(&entry));
        run.until(seconds)?;
        let hours = (seconds - warm_up) / 3600.0 * seeds as f64;
        passing += (run.passed(&roads) - before.0) as f64 / hours;
        entering += (run.passed(&entry) - before.1) as f64 / hours;
        overlaps += run.world().collisions().len();
    }
    // Based on the measured passing flow, because random traffic never matches the demand exactly.
    let formula = movement.formula(passing);
    Ok(GapRow {
        movement: movement.name(),
        passing,
        entering,
        formula,
        share: entering / formula,
        overlaps,
    })
}

/// Creates a junction with a queue on one leg. Returns the legs of the vehicles that pass.
fn star(
    movement: Movement,
    wanted: f64,
    arguments: &Arguments,
) -> anyhow::Result<(Star, Vec<usize>)> {
    let kind = match movement {
        Movement::IntoRing => Kind::Roundabout,
        _ => Kind::Priority,
    };
    let mut star = Star::new(Plan {
        kind,
        legs: 4,
        hand: arguments.hand,
        length: LEG,
        speed_limit: SPEED_LIMIT,
    })?;
    // In the direction of the ring, the near turn leads to the next leg.
    let [near, opposite, far] = [1, 2, 3].map(|steps| star.round(ENTRY, steps));
    let (to, passing) = match movement {
        // A near turn conflicts only with vehicles that leave by the same leg.
        Movement::NearTurn => (near, vec![(far, near)]),
        Movement::Straight => (opposite, vec![(far, near), (near, far)]),
        Movement::FarTurn => (far, vec![(far, near), (near, far)]),
        // Vehicles from the previous leg pass the entry and leave by the next leg.
        Movement::IntoRing => (opposite, vec![(far, near)]),
    };
    star.flow(ENTRY, to, "car", QUEUE)?;
    for &(from, to) in &passing {
        star.flow(from, to, "car", wanted / passing.len() as f64)?;
    }
    Ok((star, passing.into_iter().map(|(from, _)| from).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulae_are_those_of_the_handbook() {
        // Without passing traffic one vehicle enters per follow-up time.
        assert!((Movement::Straight.formula(1e-6) - 900.0).abs() < 0.1);
        assert!((Movement::IntoRing.formula(0.0) - 1380.0).abs() < 1e-9);
        // 400 an hour: 400 e^-0.7222 / (1 - e^-0.4444) = 541.
        assert!((Movement::Straight.formula(400.0) - 541.3).abs() < 1.0);
    }
}
