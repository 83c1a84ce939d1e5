//! `roadwright bench saturation`: saturation flow of a queue at a green light, compared with the driver's
//! control law integrated separately, without roads, junctions and signals.

use super::WatchedRun;
use super::arguments::{Hand, Kind, Saturation as Arguments};
use super::star::{Plan, Star};
use crate::Outcome;
use crate::commands::print_json;
use crate::terminal;
use anyhow::Context;
use roadwright_agent::Step;
use roadwright_control::Idm;
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};
use roadwright_scenario::junction::layout;
use roadwright_scenario::{
    DrivingSide, JunctionRules, Movement, RoadEnd, SignalPlan, SignalStage, VehicleType,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

const LEG: f64 = 400.0;
/// Leg with the queue, which leads to the east.
const FROM: usize = 2;
/// Leg opposite the queue. The vehicles of the queue leave the junction on this leg.
const TO: usize = 0;
/// Speed limits, km/h.
const SPEEDS: [f64; 3] = [30.0, 50.0, 70.0];
/// Demand on the measured leg, vehicles/h.
const RATE: f64 = 2000.0;
/// Green time of the leg with the queue, s. It is long enough for [`LAST`] vehicles to pass, and at
/// [`RATE`] at least as many arrive per cycle.
const GREEN: f64 = 70.0;
/// Green time of the other legs, s.
const OTHERS: f64 = 30.0;
/// Number of the first measured vehicle in the queue, counted from 1. Headways of earlier vehicles
/// include the start-up lost time.
const FIRST: usize = 4;
/// Number of the last measured vehicle in the queue, counted from 1.
const LAST: usize = 20;
/// Time without passing vehicles that marks the end of a green, s.
const RED: f64 = 15.0;
/// Time until the length of the queue has become stable, s.
const FILLING: f64 = 250.0;
/// Permitted relative difference from the result of the control law alone.
const TOLERANCE: f64 = 0.05;
/// Gap before a stop line according to the control law, m.
const BEFORE_LINE: f64 = 0.5;
/// Gap between standing vehicles according to the control law, m.
const STANDSTILL_GAP: f64 = 2.0;

/// Results for a speed limit.
#[derive(Debug, Serialize)]
struct SaturationRow {
    /// Speed limit, km/h.
    speed_limit: f64,
    greens: usize,
    /// Mean headway from the 4th to the 20th vehicle, s.
    headway: f64,
    /// Mean headway according to the control law alone, s.
    alone: f64,
    /// Saturation flow, vehicles per hour of green.
    flow: f64,
    difference: f64,
}

pub(super) fn bench(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut rows = Vec::new();
    for speed_limit in SPEEDS {
        let headways = headways(speed_limit / 3.6, arguments.dt, arguments.greens)?;
        let headway = headways.iter().sum::<f64>() / headways.len() as f64;
        let alone = alone(speed_limit / 3.6, arguments.dt);
        rows.push(SaturationRow {
            speed_limit,
            greens: headways.len(),
            headway,
            alone,
            flow: 3600.0 / headway,
            difference: headway / alone - 1.0,
        });
    }
    if arguments.json {
        print_json(&rows)?;
    } else {
        let mut out = terminal::out();
        writeln!(
            out,
            "km/h  greens  headway s  alone s  vehicles/h  difference"
        )?;
        for row in &rows {
            writeln!(
                out,
                "{:>4.0} {:>7} {:>10.3} {:>8.3} {:>11.0} {:>+10.1} %",
                row.speed_limit,
                row.greens,
                row.headway,
                row.alone,
                row.flow,
                100.0 * row.difference
            )?;
        }
    }
    let is_kept = |row: &SaturationRow| row.difference.abs() <= TOLERANCE;
    Ok(Outcome::of(rows.iter().all(is_kept)))
}

/// Returns signals that give green to the leg with the queue for `green` seconds, and then to the others for
/// `others` seconds.
pub(super) fn signals(star: &Star, green: f64, others: f64) -> JunctionRules {
    let stage = |legs: [usize; 2], time: f64| SignalStage {
        green: legs
            .map(|leg| Movement {
                road: star.legs[leg],
                turns: Vec::new(),
            })
            .to_vec(),
        permitted: Vec::new(),
        time: time.into(),
        min: None.into(),
        max: None.into(),
        amber: None.into(),
        all_red: None.into(),
    };
    JunctionRules {
        control: Some(Kind::Signals.control()),
        plan: Some(SignalPlan {
            stages: vec![stage([FROM, TO], green), stage([1, 3], others)],
            ..SignalPlan::default()
        }),
        ..JunctionRules::default()
    }
}

/// Returns the mean headway of the queue in each green, s.
pub(super) fn headways(speed_limit: f64, dt: f64, greens: u64) -> anyhow::Result<Vec<f64>> {
    let mut star = Star::new(Plan {
        kind: Kind::Signals,
        legs: 4,
        hand: Hand::Right,
        length: LEG,
        speed_limit,
    })?;
    star.rule(signals(&star, GREEN, OTHERS))?;
    star.flow(FROM, TO, "car", RATE)?;
    let line = stop_line(&star).context("the leg does not reach the junction")?;
    let mut run = WatchedRun::new(&star.scenario, dt, 1)?;
    let mut passing = Passing {
        line,
        ..Passing::default()
    };
    let mut headways = Vec::new();
    let cycles = greens as f64 + 1.0;
    let end = FILLING + cycles * (GREEN + OTHERS + 20.0);
    while run.world().time() < end && headways.len() < greens as usize {
        run.until(run.world().time() + dt)?;
        passing.look(&run);
        if let Some(headway) = passing.green_is_over(run.world().time()) {
            headways.push(headway);
        }
    }
    anyhow::ensure!(
        !headways.is_empty(),
        "no green was long enough for {LAST} vehicles"
    );
    Ok(headways)
}

/// Returns the position of the stop line of the leg with the queue, m to the east of the middle.
fn stop_line(star: &Star) -> Option<f64> {
    let layout = layout(star.scenario.network(), DrivingSide::Right);
    let arms = layout.junctions.iter().flat_map(|junction| &junction.arms);
    let mut own = arms.filter(|arm| (arm.road, arm.end) == (star.legs[FROM], RoadEnd::End));
    own.find(|arm| arm.trim > 0.0).map(|arm| -arm.trim)
}

/// Times at which vehicle fronts pass the stop line.
#[derive(Default)]
struct Passing {
    line: f64,
    /// Last observation of each vehicle front: its position (m to the east of the middle) and the
    /// time of the observation (s).
    before: BTreeMap<u64, (f64, f64)>,
    /// Times at which vehicles passed in the current green, s.
    times: Vec<f64>,
}

impl Passing {
    fn look(&mut self, run: &WatchedRun) {
        let snapshot = run.world().snapshot();
        let car = VehicleType::car();
        let front = car.length - car.rear_overhang;
        let mut now = BTreeMap::new();
        for vehicle in &snapshot.vehicles {
            let x = vehicle.pose.position.x + front;
            now.insert(vehicle.agent, (x, snapshot.time));
            let Some(&(from, at)) = self.before.get(&vehicle.agent) else {
                continue;
            };
            if from < self.line && x >= self.line {
                // Interpolated linearly, because a step is far shorter than a headway.
                let share = (self.line - from) / (x - from);
                self.times.push(at + share * (snapshot.time - at));
            }
        }
        self.before = now;
    }

    /// Returns the mean headway of the last green, once no vehicle has passed for some time.
    fn green_is_over(&mut self, time: f64) -> Option<f64> {
        let &last = self.times.last()?;
        if time < last + RED {
            return None;
        }
        let times = std::mem::take(&mut self.times);
        let is_full = times.len() >= LAST && time > FILLING;
        is_full.then(|| (times[LAST - 1] - times[FIRST - 1]) / (LAST - FIRST) as f64)
    }
}

/// Returns the mean headway according to the control law alone, s. The law is applied to points
/// that start one after another on a line.
fn alone(speed_limit: f64, dt: f64) -> f64 {
    let car = VehicleType::car();
    let spacing = car.length + STANDSTILL_GAP;
    // Front position and speed of each vehicle, starting with the first.
    let mut cars: Vec<(f64, f64)> = (0..LAST)
        .map(|place| (-BEFORE_LINE - spacing * place as f64, 0.0))
        .collect();
    let mut passed = [f64::NAN; LAST];
    let idm = Idm::entry().make();
    let mut step = 0;
    while passed[LAST - 1].is_nan() {
        let inputs: Vec<ControllerInput> = (0..LAST)
            .map(|i| ControllerInput {
                speed: cars[i].1,
                road_speed: speed_limit,
                wheelbase: car.wheelbase.get(),
                waypoint_distance: 10.0,
                leader_gap: i
                    .checked_sub(1)
                    .map_or(NOTHING, |leader| cars[leader].0 - car.length - cars[i].0),
                leader_speed: i.checked_sub(1).map_or(0.0, |leader| cars[leader].1),
                obstacle_distance: NOTHING,
                stop_distance: NOTHING,
                ..ControllerInput::default()
            })
            .collect();
        let mut outputs = vec![ControllerOutput::default(); LAST];
        idm.step(&Step::default(), &inputs, &mut outputs);
        for (i, (car, output)) in cars.iter_mut().zip(&outputs).enumerate() {
            let speed = (car.1 + output.acceleration * dt).max(0.0);
            // Acceleration is constant over the step, in which the speed changes from the old to the new one.
            let moved = 0.5 * (car.1 + speed) * dt;
            if car.0 < 0.0 && car.0 + moved >= 0.0 {
                // The line is at 0 and the vehicle was before it, so it passed the line after the fraction
                // -car.0 / moved of this step.
                passed[i] = (f64::from(step) - car.0 / moved) * dt;
            }
            *car = (car.0 + moved, speed);
        }
        step += 1;
    }
    (passed[LAST - 1] - passed[FIRST - 1]) / (LAST - FIRST) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_alone_starts_faster_where_it_may_drive_faster() {
        let [slow, fast] = [30.0, 70.0].map(|kmh| alone(kmh / 3.6, 0.1));
        assert!(
            (1.5..3.0).contains(&fast) && fast < slow,
            "{slow} and {fast}"
        );
        // The result does not depend on the step length.
        assert!((alone(13.9, 0.1) / alone(13.9, 0.01) - 1.0).abs() < 0.02);
    }
}
