//! `roadwright bench delay`: delay at a signal with random arrivals, compared with Webster's formula.
//!
//! The delay is the travel time of a trip minus the travel time of the same trip without stops.

use super::WatchedRun;
use super::arguments::{Delay as Arguments, Hand, Kind};
use super::saturation::{headways, signals};
use super::star::{Plan, Star};
use crate::Outcome;
use crate::commands::print_json;
use crate::terminal;
use roadwright_geometry::math::{exp, ln};
use roadwright_scenario::junction::Light;
use roadwright_scenario::{JunctionRules, RoadId};
use roadwright_simulation::Statistic;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

const LEG: f64 = 700.0;
const SPEED_LIMIT: f64 = 13.9;
/// Legs that are measured. They have green at the same time.
const STREET: [usize; 2] = [2, 0];
/// Green time of the measured legs, and of the street that crosses them, s.
const GREEN: f64 = 30.0;
/// Degrees of saturation: arrivals as a fraction of the capacity.
const DEGREES: [f64; 2] = [0.5, 0.8];
/// Duration of a run, s.
const SECONDS: f64 = 4200.0;
/// Number of runs.
const RUNS: u64 = 32;
/// Start time of the first counted trip, s.
const WARM_UP: f64 = 300.0;
/// Fraction of the run in which counted trips start. Later trips might not be completed.
const COUNTED: f64 = 0.9;
/// Permitted relative difference from the formula.
const TOLERANCE: f64 = 0.25;
/// Maximum standard error relative to the delay.
const STANDARD_ERROR: f64 = 0.05;
/// Demand during the measurement of the capacity, vehicles/h.
const QUEUE: f64 = 2000.0;

/// Results for one degree of saturation.
#[derive(Debug, Serialize)]
struct DelayRow {
    degree: f64,
    /// Capacity and actual flow per leg, vehicles/h.
    capacity: f64,
    flow: f64,
    /// Cycle of the signals, s.
    cycle: f64,
    /// Fraction of the cycle in which vehicles pass at saturation flow.
    green_share: f64,
    trips: usize,
    hours: f64,
    /// Mean delay, s.
    delay: f64,
    standard_error: f64,
    webster: f64,
    difference: f64,
}

pub(super) fn bench(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let common = &arguments.common;
    let (seconds, runs) = (
        common.seconds.unwrap_or(SECONDS),
        common.seeds.unwrap_or(RUNS),
    );
    let (capacity, cycle) = capacity(common.dt, seconds)?;
    let headways = headways(SPEED_LIMIT, common.dt, 10)?;
    let headway = headways.iter().sum::<f64>() / headways.len() as f64;
    let counted = counted(seconds);
    let mut rows = Vec::new();
    for degree in DEGREES {
        let flow = degree * capacity;
        let mut means = Vec::new();
        let mut trips = 0;
        for seed in 1..=runs {
            let lost = lost(flow, common.dt, seed, seconds)?;
            trips += lost.len();
            means.push(Statistic::of(&lost).mean);
        }
        let delay = Statistic::of(&means);
        let green_share = capacity * headway / 3600.0;
        let webster = webster(cycle, green_share, degree, flow / 3600.0);
        rows.push(DelayRow {
            degree,
            capacity,
            flow,
            cycle,
            green_share,
            trips,
            hours: runs as f64 * (counted.end - counted.start) / 3600.0,
            delay: delay.mean,
            standard_error: delay.standard_error,
            webster,
            difference: delay.mean / webster - 1.0,
        });
    }
    if common.json {
        print_json(&rows)?;
    } else {
        let mut out = terminal::out();
        writeln!(
            out,
            "degree  capacity/h  flow/h  cycle s  green share  trips  hours  delay s (standard error)  Webster s  difference"
        )?;
        for row in &rows {
            writeln!(
                out,
                "{:>6.2} {:>11.0} {:>7.0} {:>8.1} {:>12.3} {:>6} {:>6.1} {:>8.2} ({:.2}) {:>22.2} {:>+10.1} %",
                row.degree,
                row.capacity,
                row.flow,
                row.cycle,
                row.green_share,
                row.trips,
                row.hours,
                row.delay,
                row.standard_error,
                row.webster,
                100.0 * row.difference
            )?;
        }
    }
    let is_kept = |row: &DelayRow| {
        row.difference.abs() <= TOLERANCE && row.standard_error <= STANDARD_ERROR * row.delay
    };
    Ok(Outcome::of(rows.iter().all(is_kept)))
}

/// Creates a street that crosses another one, with signals or with priority.
fn star(kind: Kind, flow: f64) -> anyhow::Result<Star> {
    let mut star = Star::new(Plan {
        kind: Kind::Signals,
        legs: 4,
        hand: Hand::Right,
        length: LEG,
        speed_limit: SPEED_LIMIT,
    })?;
    let rules = match kind {
        Kind::Signals => signals(&star, GREEN, GREEN),
        _ => JunctionRules {
            control: Some(kind.control()),
            major: STREET.map(|leg| star.legs[leg]).to_vec(),
            ..JunctionRules::default()
        },
    };
    star.rule(rules)?;
    let [one, other] = STREET;
    star.flow(one, other, "car", flow)?;
    star.flow(other, one, "car", flow)?;
    Ok(star)
}

/// Returns the capacity of each leg (vehicles/h) and the cycle (s).
fn capacity(dt: f64, seconds: f64) -> anyhow::Result<(f64, f64)> {
    let star = star(Kind::Signals, QUEUE)?;
    let legs = STREET.map(|leg| star.legs[leg]);
    let mut run = WatchedRun::new(&star.scenario, dt, 1)?;
    run.until(WARM_UP)?;
    let from = next_green(&mut run, legs[0], dt)?;
    let before = run.passed(&legs);
    // Whole cycles are counted.
    let mut greens = 0;
    let mut to = from;
    while to < from + seconds {
        to = next_green(&mut run, legs[0], dt)?;
        greens += 1;
    }
    let passed = (run.passed(&legs) - before) as f64;
    let time = to - from;
    // Vehicles of two legs have passed.
    Ok((0.5 * passed * 3600.0 / time, time / f64::from(greens)))
}

/// Runs until a green begins for a road. Returns the time at which it begins, s.
fn next_green(run: &mut WatchedRun, road: RoadId, dt: f64) -> anyhow::Result<f64> {
    // A green that is already shown began at an unknown time, so this waits for the next one.
    let mut was_green = true;
    loop {
        run.until(run.world().time() + dt)?;
        let mut heads = run.world().signals();
        let is_green = heads.any(|head| head.road == road && head.light == Light::Green);
        if is_green && !was_green {
            return Ok(run.world().time());
        }
        was_green = is_green;
    }
}

/// Returns the range of start times of the counted trips, s.
fn counted(seconds: f64) -> std::ops::Range<f64> {
    WARM_UP.min(0.25 * seconds)..COUNTED * seconds
}

/// Returns the delays of the counted trips, s.
fn lost(flow: f64, dt: f64, seed: u64, seconds: f64) -> anyhow::Result<Vec<f64>> {
    let [with, without] = [Kind::Signals, Kind::Priority].map(|kind| -> anyhow::Result<_> {
        let mut run = WatchedRun::new(&star(kind, flow)?.scenario, dt, seed)?;
        run.until(seconds)?;
        let drives = run.world().finished();
        let trips = drives.map(|drive| (drive.id, (drive.started, drive.ended - drive.started)));
        Ok(trips.collect::<BTreeMap<u64, (f64, f64)>>())
    });
    let (with, without) = (with?, without?);
    let counts = counted(seconds);
    // With the same seed both runs have the same vehicles, so trips are matched by id.
    let pairs = with.iter().filter_map(|(id, &(started, time))| {
        let &(_, free) = without.get(id)?;
        counts.contains(&started).then_some(time - free)
    });
    Ok(pairs.collect())
}

/// Returns the mean delay at a fixed-time signal with random arrivals according to [Webster 1958],
/// s.
fn webster(cycle: f64, green_share: f64, degree: f64, flow: f64) -> f64 {
    // With cycle c and flow q: c (1 - l)^2 / (2 (1 - l x)) for uniform arrivals, plus x^2 / (2 q (1 - x)) for
    // random ones, minus 0.65 (c / q^2)^(1/3) x^(2 + 5 l), which fits both to simulations.
    let (l, x) = (green_share, degree);
    let even = cycle * (1.0 - l) * (1.0 - l) / (2.0 * (1.0 - l * x));
    let random = x * x / (2.0 * flow * (1.0 - x));
    let power = |base: f64, exponent: f64| exp(exponent * ln(base));
    let correction = 0.65 * power(cycle / (flow * flow), 1.0 / 3.0) * power(x, 2.0 + 5.0 * l);
    even + random - correction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webster_is_about_nine_tenths_of_its_first_two_terms() {
        let (cycle, share, degree, flow) = (70.0, 0.4, 0.8, 0.15);
        let even = cycle * 0.36 / (2.0 * (1.0 - 0.32));
        let random = 0.64 / (2.0 * 0.15 * 0.2);
        let delay = webster(cycle, share, degree, flow);
        assert!((delay / (even + random) - 0.9).abs() < 0.05, "{delay}");
    }
}
