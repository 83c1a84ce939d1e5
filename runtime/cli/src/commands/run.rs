//! `roadwright run`.

use super::{load, print_json, run_options};
use crate::Outcome;
use crate::arguments::Run;
use crate::progress;
use anyhow::{Context, bail};
use cpu_time::ProcessTime;
use roadwright_simulation::{Snapshot, Summary, World, builtin_modules};
use serde::Serialize;
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
}

impl Report {
    /// Goes on with a later part of the same run.
    pub(super) fn absorb(&mut self, later: Self) {
        self.wall_seconds += later.wall_seconds;
        self.cpu_seconds += later.cpu_seconds;
        self.summary = later.summary;
        self.interrupted |= later.interrupted;
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
    let mut world =
        World::new(&scenario, &builtin_modules(), &options).context("cannot run the scenario")?;
    let mut trace = arguments.trace.as_deref().map(Trace::create).transpose()?;
    let quiet = arguments.quiet || arguments.json;
    // A time that was asked for is simulated to its end; otherwise the last arrival ends the run.
    let ending = if arguments.seconds.is_some() {
        Ending::AtTime
    } else {
        Ending::WhenOver
    };
    let report = drive(&mut world, seconds, ending, quiet, trace.as_mut())?;
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

/// Steps the world until the time is over, all have arrived or Ctrl-C is pressed.
pub(super) fn drive(
    world: &mut World,
    seconds: f64,
    ending: Ending,
    quiet: bool,
    mut trace: Option<&mut Trace>,
) -> anyhow::Result<Report> {
    progress::catch_interrupt();
    let steps = (seconds / world.dt()).round() as u64;
    let bar = progress::bar(steps, quiet);
    #[expect(
        clippy::disallowed_methods,
        reason = "the program reports how long the run took"
    )]
    let wall = std::time::Instant::now();
    let cpu = ProcessTime::now();
    for step in 0..steps {
        // The first step at or after each tenth of a second.
        let tenths = |steps: u64| (steps as f64 * world.dt() / TRACE_PERIOD + 1e-9).floor();
        let is_due = step == 0 || tenths(step) > tenths(step - 1);
        if let Some(trace) = trace.as_deref_mut().filter(|_| is_due) {
            trace.write(&world.snapshot())?;
        }
        if progress::interrupted() || (ending == Ending::WhenOver && world.is_over()) {
            break;
        }
        world.step();
        if step % 64 == 0 {
            bar.set_position(step);
            bar.set_message(message(world));
        }
    }
    if let Some(trace) = trace {
        trace.write(&world.snapshot())?;
    }
    bar.finish_and_clear();
    let (cpu_seconds, wall_seconds) = (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
    let mut report = Report {
        summary: world.summary(),
        wall_seconds,
        cpu_seconds,
        updates_per_cpu_second: 0.0,
        realtime_factor: 0.0,
        interrupted: progress::interrupted(),
    };
    report.rate();
    Ok(report)
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
