//! `roadwright bench junctions`: saturates junctions with traffic and checks their guarantees.

use super::WatchedRun;
use super::arguments::{Hand, Junctions as Arguments, Kind};
use super::star::{Plan, Star, StarPlace};
use crate::Outcome;
use crate::commands::print_json;
use crate::terminal;
use cpu_time::ProcessTime;
use roadwright_scenario::{Edit, VehicleType};
use serde::Serialize;
use std::io::Write;

/// Length of a leg, m.
const LEG: f64 = 300.0;
/// Speed limit of a leg, m/s.
const SPEED_LIMIT: f64 = 13.9;
/// Demand per leg, vehicles/h. It exceeds what any junction can serve.
const RATE: f64 = 2000.0;
/// Default duration, s.
const SECONDS: f64 = 3600.0;
/// Time at which counting starts, s. By then, the legs have filled.
const WARM_UP: f64 = 60.0;
/// Minimum duration of a run whose halves are compared, s.
const HALVES_FROM: f64 = 1800.0;
/// Minimum throughput of the second half relative to the first.
const LEAST_SHARE: f64 = 0.95;
/// Fraction of the time during which exits are closed.
const CLOSED_SHARE: f64 = 1.0 / 12.0;
/// Time after the exits have reopened that is excluded from the counts, s. The queues at the exits
/// dissolve during this time.
const DRAINING: f64 = 60.0;
/// Key of the vehicle type that closes an exit.
const BREAKDOWN: &str = "breakdown";
/// Distance from the junction to the vehicle that closes an exit, m.
const BREAKDOWN_AT: f64 = 90.0;
/// Crawling speed of the vehicle that closes an exit, m/s.
const CRAWL: f64 = 0.1;
/// Position of the first vehicle on each leg, m from the outer end. It is the same on all legs, so
/// that these vehicles reach the junction in the same step.
const FIRST_AT: f64 = 200.0;
/// Speed of the first vehicle on each leg, m/s.
const FIRST_SPEED: f64 = 10.0;

/// Results of the runs on one junction.
#[derive(Debug, Serialize)]
struct JunctionRow {
    control: &'static str,
    legs: usize,
    hand: &'static str,
    /// Number of vehicles that entered per hour, in the first half.
    first_half: f64,
    second_half: f64,
    /// Longest wait, s.
    longest_wait: f64,
    /// Upper limit of the wait that the junction guarantees, including `closed`, s.
    bound: f64,
    closed: f64,
    overlaps: usize,
    /// Depth of the deepest overlap, m.
    deepest: f64,
    red_passed: u64,
    /// Number of vehicles that entered without a grant.
    breaches: u64,
    /// Number of vehicles that had waited so long that no conflicting vehicle was allowed to enter
    /// before them.
    locked: u64,
    /// CPU time of all runs, s.
    cpu_seconds: f64,
    /// Guarantees that did not hold.
    broken: Vec<&'static str>,
}

#[derive(Serialize)]
struct Document<'a> {
    seconds: f64,
    dt: f64,
    seeds: u64,
    buses: f64,
    junctions: &'a [JunctionRow],
}

pub(super) fn bench(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let common = &arguments.common;
    let (seconds, seeds) = (common.seconds.unwrap_or(SECONDS), common.seeds.unwrap_or(1));
    let mut out = terminal::out();
    if !common.json {
        writeln!(
            out,
            "{:<13} legs side  passed/h per half    longest wait (bound)  overlaps  red  locked  CPU s",
            "control"
        )?;
    }
    let mut rows = Vec::new();
    for plan in plans(arguments) {
        let row = measure(plan, arguments, seconds, seeds)?;
        if !common.json {
            writeln!(out, "{}", row.line())?;
            out.flush()?;
        }
        rows.push(row);
    }
    drop(out);
    if common.json {
        let document = Document {
            seconds,
            dt: common.dt,
            seeds,
            buses: arguments.buses,
            junctions: &rows,
        };
        print_json(&document)?;
    }
    Ok(Outcome::of(rows.iter().all(|row| row.broken.is_empty())))
}

/// Returns all requested junctions.
fn plans(arguments: &Arguments) -> Vec<Plan> {
    let mut plans = Vec::new();
    for kind in Kind::ALL {
        for legs in 3..=6 {
            for hand in [Hand::Right, Hand::Left] {
                let fits = kind != Kind::Zipper || legs == 3;
                let is_wanted = arguments.control.is_none_or(|wanted| wanted == kind)
                    && arguments
                        .legs
                        .is_none_or(|wanted| usize::from(wanted) == legs)
                    && arguments.hand.is_none_or(|wanted| wanted == hand);
                if fits && is_wanted {
                    plans.push(Plan {
                        kind,
                        legs,
                        hand,
                        length: LEG,
                        speed_limit: SPEED_LIMIT,
                    });
                }
            }
        }
    }
    plans
}

/// Returns the times when exits are closed and opened again, s. Both times are the same if the exits are not
/// closed.
fn closed(arguments: &Arguments, seconds: f64) -> (f64, f64) {
    let half = 0.5 * CLOSED_SHARE * seconds;
    let middle = 0.5 * seconds;
    if arguments.close_exits {
        (middle - half, middle + half)
    } else {
        (middle, middle)
    }
}

fn measure(
    plan: Plan,
    arguments: &Arguments,
    seconds: f64,
    seeds: u64,
) -> anyhow::Result<JunctionRow> {
    let (close, open) = closed(arguments, seconds);
    let star = saturated(plan, arguments.buses, close, open)?;
    let warm_up = WARM_UP.min(0.25 * seconds);
    let settled = if open > close { open + DRAINING } else { open };
    let mut row = JunctionRow {
        control: plan.kind.name(),
        legs: plan.legs,
        hand: plan.hand.name(),
        first_half: 0.0,
        second_half: 0.0,
        longest_wait: 0.0,
        bound: 0.0,
        closed: open - close,
        overlaps: 0,
        deepest: 0.0,
        red_passed: 0,
        breaches: 0,
        locked: 0,
        cpu_seconds: 0.0,
        broken: Vec::new(),
    };
    for seed in 1..=seeds {
        let cpu = ProcessTime::now();
        let mut run = WatchedRun::new(&star.scenario, arguments.common.dt, seed)?;
        row.first_half += run.rate(&star.legs, warm_up, close)? / seeds as f64;
        row.second_half += run.rate(&star.legs, settled, seconds)? / seeds as f64;
        row.add(&run);
        row.cpu_seconds += cpu.elapsed().as_secs_f64();
    }
    row.judge(seconds);
    Ok(row)
}

/// Creates a junction with more traffic than it can serve, from each leg to all others. The first
/// vehicles of all legs arrive in the same step. From `close` to `open`, in seconds, a vehicle
/// closes each exit.
fn saturated(plan: Plan, buses: f64, close: f64, open: f64) -> anyhow::Result<Star> {
    let mut star = Star::new(plan)?;
    let breakdown = VehicleType {
        max_speed: CRAWL.into(),
        ..VehicleType::car()
    };
    let edit = Edit::VehicleType(BREAKDOWN.into(), Some(Box::new(breakdown)));
    star.apply(edit)?;
    for from in 0..plan.legs {
        for to in 0..plan.legs {
            let rate = RATE * star.share(from, to);
            for (vehicle, share) in [("car", 1.0 - buses), ("enviro_400", buses)] {
                if rate * share > 0.0 {
                    star.flow(from, to, vehicle, rate * share)?;
                }
            }
        }
        let opposite = (0..plan.legs).max_by(|&a, &b| {
            let (a, b) = (star.share(from, a), star.share(from, b));
            a.total_cmp(&b)
        });
        let opposite = opposite.filter(|&to| star.share(from, to) > 0.0);
        if let Some(to) = opposite {
            let start = StarPlace {
                leg: from,
                s: FIRST_AT,
                inward: true,
            };
            let destination = StarPlace {
                leg: to,
                s: 20.0,
                inward: false,
            };
            star.vehicle(start, destination, "car", 0.0, FIRST_SPEED)?;
        }
        if open > close && star.leads(from).1 {
            // Distances on legs are measured from their outer ends.
            let at = plan.length - BREAKDOWN_AT;
            // The vehicle drives outward, towards s = 0, and despawns where its crawl ends.
            let end = at - CRAWL * (open - close);
            let place = |s| StarPlace {
                leg: from,
                s,
                inward: false,
            };
            star.vehicle(place(at), place(end), BREAKDOWN, close, 0.0)?;
        }
    }
    Ok(star)
}

impl JunctionRow {
    fn add(&mut self, run: &WatchedRun) {
        let summary = run.world().summary();
        self.overlaps += summary.collisions.len();
        let depths = summary.collisions.iter().map(|collision| collision.depth);
        self.deepest = depths.fold(self.deepest, f64::max);
        self.red_passed += summary.law.red_passed;
        self.breaches += summary.law.breaches;
        self.locked += summary.law.let_in_by_lock;
        for junction in run.watch.figures(run.world()) {
            let slack = |wait: f64, bound: f64| bound - wait;
            // Of the junctions of a ring, the one closest to its bound is reported.
            let is_worse = self.bound == 0.0
                || slack(junction.longest_wait, junction.bound)
                    < slack(self.longest_wait, self.bound);
            if is_worse {
                (self.longest_wait, self.bound) = (junction.longest_wait, junction.bound);
            }
        }
    }

    fn judge(&mut self, seconds: f64) {
        // Traffic that slowly locks up has a lower throughput in the second half.
        let lasts = self.second_half >= LEAST_SHARE * self.first_half;
        let promises = [
            ("overlaps", self.overlaps == 0),
            ("wait", self.longest_wait <= self.bound + self.closed),
            ("red passed", self.red_passed == 0),
            ("uninvited", self.breaches == 0),
            ("second half", lasts || seconds < HALVES_FROM),
            ("stuck", self.second_half > 0.0),
        ];
        let broken = promises.iter().filter(|(_, is_kept)| !is_kept);
        self.broken = broken.map(|(name, _)| *name).collect();
    }

    fn line(&self) -> String {
        let mut line = format!(
            "{:<13} {:>4} {:<5} {:>8.0} {:>8.0} {:>14.1} s ({:.0}) {:>9} {:>6} {:>7} {:>6.1}",
            self.control,
            self.legs,
            self.hand,
            self.first_half,
            self.second_half,
            self.longest_wait,
            self.bound + self.closed,
            self.overlaps,
            self.red_passed,
            self.locked,
            self.cpu_seconds
        );
        if self.overlaps > 0 {
            line += &format!(", up to {:.2} m", self.deepest);
        }
        if !self.broken.is_empty() {
            line += &format!("  BROKEN: {}", self.broken.join(", "));
        }
        line
    }
}
