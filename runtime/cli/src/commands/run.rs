//! `roadwright run`.

use super::{load, print_json, run_options};
use crate::Outcome;
use crate::arguments::Run;
use crate::watchdog::Watchdog;
use crate::{extensions, progress};
use anyhow::{Context, bail};
use cpu_time::ProcessTime;
use roadwright_extension::Host;
use roadwright_simulation::{Snapshot, Summary, World};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// A summary with what it cost.
#[derive(Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    pub(super) summary: Summary,
    wall_seconds: f64,
    cpu_seconds: f64,
    updates_per_cpu_second: f64,
    realtime_factor: f64,
    interrupted: bool,
    /// Faults of modules, with how often each came.
    faults: BTreeMap<String, u64>,
}

impl Report {
    /// Goes on with a later part of the same run.
    pub(super) fn absorb(&mut self, later: Self) {
        self.wall_seconds += later.wall_seconds;
        self.cpu_seconds += later.cpu_seconds;
        self.summary = later.summary;
        self.interrupted |= later.interrupted;
        self.faults = later.faults;
        self.rate();
    }

    fn rate(&mut self) {
        let per = |amount: f64, time: f64| if time > 0.0 { amount / time } else { 0.0 };
        self.updates_per_cpu_second = per(self.summary.agent_updates as f64, self.cpu_seconds);
        self.realtime_factor = per(self.summary.sim_seconds, self.wall_seconds);
    }
}

/// Seconds between two rows of a vehicle in a trace.
const TRACE_PERIOD: f64 = 0.1;

pub(crate) fn run(arguments: &Run) -> anyhow::Result<Outcome> {
    let scenario = load(&arguments.file)?;
    let seconds = arguments.seconds.unwrap_or(scenario.settings().duration);
    if !(0.0..=1e7).contains(&seconds) {
        bail!("--seconds must be 0 to 10,000,000");
    }
    let options = run_options(&arguments.simulate)?;
    let quiet = arguments.quiet || arguments.json;
    let host = extensions::open(&arguments.simulate.extensions, Some(&arguments.file), quiet);
    let mut world =
        World::new(&scenario, &host.registry(), &options).context("cannot run the scenario")?;
    let mut trace = arguments.trace.as_deref().map(Trace::create).transpose()?;
    // A time that was asked for is simulated to its end; otherwise the last arrival ends the run.
    let ending = if arguments.seconds.is_some() {
        Ending::AtTime
    } else {
        Ending::WhenOver
    };
    let mut run = Drive {
        world: &mut world,
        host: Some(&host),
        trace: trace.as_mut(),
        logs: arguments.log && !quiet,
        quiet,
    };
    let report = run.drive(seconds, ending)?;
    if let Some(trace) = trace {
        trace.finish()?;
    }
    if arguments.json {
        print_json(&report)?;
    } else if !arguments.quiet {
        write!(std::io::stdout().lock(), "{}", table(&report))?;
    }
    Ok(Outcome::Fine)
}

/// What ends a run before Ctrl-C does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The time.
    AtTime,
    /// The time, or the arrival of the last agent.
    WhenOver,
}

/// A world that is run, and what goes along with it.
pub(super) struct Drive<'a> {
    pub(super) world: &'a mut World,
    /// Whose events are told.
    pub(super) host: Option<&'a Host>,
    pub(super) trace: Option<&'a mut Trace>,
    /// Whether lines that modules log are printed.
    pub(super) logs: bool,
    pub(super) quiet: bool,
}

impl Drive<'_> {
    /// Steps the world until the time is over, all have arrived or Ctrl-C is pressed.
    pub(super) fn drive(&mut self, seconds: f64, ending: Ending) -> anyhow::Result<Report> {
        progress::catch_interrupt();
        let steps = (seconds / self.world.dt()).round() as u64;
        let bar = progress::bar(steps, self.quiet);
        #[expect(
            clippy::disallowed_methods,
            reason = "the program reports how long the run took"
        )]
        let wall = std::time::Instant::now();
        let cpu = ProcessTime::now();
        let mut logged = 0;
        let _watchdog = self.host.map(Watchdog::new);
        for step in 0..steps {
            // The first step at or after each tenth of a second.
            let dt = self.world.dt();
            let tenths = |steps: u64| (steps as f64 * dt / TRACE_PERIOD + 1e-9).floor();
            let is_due = step == 0 || tenths(step) > tenths(step - 1);
            if let Some(trace) = self.trace.as_deref_mut().filter(|_| is_due) {
                trace.write(&self.world.snapshot())?;
            }
            let is_over = ending == Ending::WhenOver && self.world.is_over();
            if progress::interrupted() || is_over {
                break;
            }
            self.world.step();
            if step % 64 == 0 {
                bar.set_position(step);
                bar.set_message(message(self.world));
                bar.suspend(|| self.tell(&mut logged));
            }
        }
        if let Some(trace) = self.trace.as_deref_mut() {
            trace.write(&self.world.snapshot())?;
        }
        bar.finish_and_clear();
        self.tell(&mut logged);
        let (cpu_seconds, wall_seconds) =
            (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
        let mut report = Report {
            summary: self.world.summary(),
            wall_seconds,
            cpu_seconds,
            updates_per_cpu_second: 0.0,
            realtime_factor: 0.0,
            interrupted: progress::interrupted(),
            faults: self.world.faults().clone(),
        };
        report.rate();
        Ok(report)
    }

    /// Prints what modules have logged since the last time, and what happened to them.
    fn tell(&self, logged: &mut u64) {
        if let Some(host) = self.host {
            extensions::tell(&host.events(), self.quiet);
        }
        let new = (self.world.log_count() - *logged) as usize;
        *logged = self.world.log_count();
        let lines = self.world.log();
        let skipped = lines.len().saturating_sub(new);
        for line in lines.skip(skipped) {
            if self.logs || (line.is_fault && !self.quiet) {
                let word = if line.is_fault { "fault" } else { "log" };
                eprintln!(
                    "{word}: {:.2} s, agent {}, {}: {}",
                    line.time, line.agent, line.module, line.text
                );
            }
        }
    }
}

fn message(world: &World) -> String {
    let counts = world.counts();
    format!(
        "{} of {} arrived",
        counts.arrived,
        counts.spawned + counts.waiting
    )
}

/// The summary for people.
pub(super) fn table(report: &Report) -> String {
    let summary = &report.summary;
    let agents = summary.agents;
    let mut rows = vec![
        (
            "simulated",
            format!("{:.2} s in {} steps", summary.sim_seconds, summary.steps),
        ),
        (
            "agents",
            format!(
                "{} spawned, {} arrived, {} active, {} refused, {} waiting",
                agents.spawned, agents.arrived, agents.active, agents.refused, agents.waiting
            ),
        ),
        (
            "distance driven",
            format!("{:.1} km", summary.distance_driven / 1000.0),
        ),
        (
            "travel time",
            format!(
                "{:.1} s, standard error {:.1} s, of {} trips",
                summary.travel_time.mean,
                summary.travel_time.standard_error,
                summary.travel_time.count
            ),
        ),
        (
            "fitness",
            format!(
                "{:.4}, standard error {:.4}, of {} agents (0 is best)",
                summary.fitness.mean, summary.fitness.standard_error, summary.fitness.count
            ),
        ),
        ("collisions", summary.collisions.len().to_string()),
        (
            "planned again",
            format!(
                "{} after standing for long, {} for a missed lane change",
                summary.replans.stuck, summary.replans.too_late
            ),
        ),
        (
            "speed",
            format!(
                "{:.0}x real time, {:.2} million agent updates per CPU second",
                report.realtime_factor,
                report.updates_per_cpu_second / 1e6
            ),
        ),
        ("state hash", summary.state_hash.clone()),
    ];
    if report.interrupted {
        rows.insert(0, ("interrupted", "the figures are those so far".into()));
    }
    let mut text: String = rows
        .iter()
        .map(|(name, value)| format!("{name:<16} {value}\n"))
        .collect();
    for collision in summary.collisions.iter().take(5) {
        text += &format!(
            "  at {:.2} s agent {} with {:?} at ({:.1}, {:.1}), {:.2} m deep\n",
            collision.time,
            collision.agent,
            collision.with,
            collision.x,
            collision.y,
            collision.depth
        );
    }
    for module in &summary.modules {
        text += &format!("{:<16} {} {}\n", module.slot, module.module, module.build);
    }
    for swap in &summary.swaps {
        text += &format!("  at {:.2} s {}: {}\n", swap.time, swap.module, swap.note);
    }
    let faults: u64 = report.faults.values().sum();
    if faults > 0 {
        text += &format!(
            "{:<16} {faults} of modules; the built-in ones stood in\n",
            "faults"
        );
    }
    if summary.collisions.len() > 5 {
        text += &format!(
            "  and {} more (--json lists all)\n",
            summary.collisions.len() - 5
        );
    }
    text
}

/// Writes where vehicles are as CSV.
pub(super) struct Trace(csv::Writer<File>);

impl Trace {
    fn create(path: &Path) -> anyhow::Result<Self> {
        let mut writer = csv::Writer::from_path(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        writer.write_record([
            "time_s",
            "agent",
            "x_m",
            "y_m",
            "heading_rad",
            "speed_mps",
            "acceleration_mps2",
            "steering_rad",
            "road",
            "lane",
            "s_m",
            "t_m",
        ])?;
        Ok(Self(writer))
    }

    fn write(&mut self, snapshot: &Snapshot) -> anyhow::Result<()> {
        for vehicle in &snapshot.vehicles {
            let (road, lane) = vehicle
                .lane
                .map_or((String::new(), String::new()), |(road, lane)| {
                    (road.0.to_string(), lane.to_string())
                });
            self.0.write_record([
                format!("{:.3}", snapshot.time),
                vehicle.agent.to_string(),
                format!("{:.4}", vehicle.pose.position.x),
                format!("{:.4}", vehicle.pose.position.y),
                format!("{:.5}", vehicle.pose.heading),
                format!("{:.4}", vehicle.speed),
                format!("{:.4}", vehicle.acceleration),
                format!("{:.5}", vehicle.steering),
                road,
                lane,
                format!("{:.3}", vehicle.s),
                format!("{:.3}", vehicle.t),
            ])?;
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        self.0.flush().context("cannot finish the trace")
    }
}
