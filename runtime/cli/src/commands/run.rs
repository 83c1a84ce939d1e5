//! `roadwright run`.

use super::{keep_stdout, load, run_options, write_json};
use crate::Outcome;
use crate::arguments::Run;
use crate::watchdog::Watchdog;
use crate::{extensions, progress};
use anyhow::{Context, bail};
use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use roadwright_agent::Registry;
use roadwright_extension::{Host, Wanted};
use roadwright_files::Beside;
use roadwright_scenario::Scenario;
use roadwright_simulation::{
    Drive as AgentDrive, Ending, Ground, Observer, RunOptions, SaveError, SavedWorld, Session,
    Snapshot, StackSummary, Statistic, Summary, World,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    /// Why the same run may give another result: the module that the clock has stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_reproducible_because: Option<String>,
    /// Scripts with faults: id, how many, and the last one.
    script_faults: Vec<ScriptFaults>,
    /// Faults of modules, with how often each came.
    faults: BTreeMap<String, u64>,
    /// Agent updates and simulated time, s, of a restored world before this run.
    #[serde(skip)]
    before: (u64, f64),
    /// Why the world could not be saved at the end.
    #[serde(skip)]
    save_error: Option<anyhow::Error>,
}

/// A report with the drive of each agent.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// Whether the same run gives the same result again.
    reproducible: bool,
    drives: &'a [AgentDrive<'a>],
}

/// What went wrong in a script.
#[derive(Debug, Serialize)]
struct ScriptFaults {
    script: String,
    faults: u64,
    /// What and where.
    last: String,
}

impl ScriptFaults {
    fn of(host: &Host) -> Vec<Self> {
        let rows = host.modules().into_iter();
        let rows = rows.filter(|row| row.tier == "script" && row.faults > 0);
        rows.map(|row| Self {
            script: row.id,
            faults: row.faults,
            last: row.last_error.unwrap_or_default(),
        })
        .collect()
    }
}

impl Report {
    /// Goes on with a later part of the same run.
    pub(super) fn absorb(&mut self, later: Self) {
        self.wall_seconds += later.wall_seconds;
        self.cpu_seconds += later.cpu_seconds;
        self.summary = later.summary;
        self.interrupted |= later.interrupted;
        self.not_reproducible_because = self
            .not_reproducible_because
            .take()
            .or(later.not_reproducible_because);
        self.script_faults = later.script_faults;
        self.faults = later.faults;
        self.rate();
    }

    fn rate(&mut self) {
        let per = |amount: f64, time: f64| if time > 0.0 { amount / time } else { 0.0 };
        let updates = self.summary.agent_updates - self.before.0;
        let simulated = self.summary.sim_seconds - self.before.1;
        self.updates_per_cpu_second = per(updates as f64, self.cpu_seconds);
        self.realtime_factor = per(simulated, self.wall_seconds);
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
    let mut document = arguments.json.then(keep_stdout).transpose()?;
    // Agents of a saved world may have chosen modules that no stack names.
    let wanted = match arguments.restore {
        Some(_) => Wanted::All,
        None => extensions::wanted(&scenario, &arguments.simulate),
    };
    let flags = &arguments.simulate.extensions;
    let host = extensions::open(flags, Some(&arguments.file), wanted, quiet)?;
    let world = match &arguments.restore {
        None => {
            World::new(&scenario, &host.registry(), &options).context("cannot run the scenario")?
        }
        Some(path) => restore(path, &scenario, &host.registry(), &options, quiet)?,
    };
    let mut trace = arguments.trace.as_deref().map(Trace::create).transpose()?;
    // A time that was asked for is simulated to its end; otherwise the last arrival ends the run.
    let ending = match arguments.seconds {
        Some(seconds) => Ending::AtTime(seconds),
        None => Ending::WhenOver(seconds),
    };
    if arguments.save.is_some() && !arguments.allow_inexact {
        // Known now, not after the run.
        let unsaved = world.unsaved_modules();
        if !unsaved.is_empty() {
            return Err(SaveError::Modules(unsaved).into());
        }
    }
    let mut session = Session::new(world);
    let mut run = Drive {
        session: &mut session,
        host: Some(&host),
        trace: trace.as_mut(),
        logs: arguments.log && !quiet,
        quiet,
        keep_going: arguments.keep_going,
        save: arguments
            .save
            .as_deref()
            .map(|path| (path, arguments.allow_inexact)),
    };
    let mut report = run.drive(ending)?;
    // Once for all who want them: fitness modules are asked.
    let drives = if document.is_some() || trace.is_some() {
        session.world().drives()
    } else {
        Vec::new()
    };
    if let Some((trace, path)) = trace.zip(arguments.trace.as_deref()) {
        trace.finish(session.world())?;
        write_scores(&path.with_extension("scores.csv"), &drives)?;
    }
    if let Some(out) = &mut document {
        let document = Document {
            report: &report,
            reproducible: report.not_reproducible_because.is_none(),
            drives: &drives,
        };
        write_json(out, &document)?;
    } else if !arguments.quiet {
        write!(std::io::stdout().lock(), "{}", table(&report))?;
    }
    if let Some(error) = report.save_error.take() {
        return Err(error);
    }
    match &report.not_reproducible_because {
        Some(why) if !arguments.keep_going => bail!(
            "{why}. The run was ended, because what follows would depend on the speed of the \
             machine; with --keep-going the built-in module drives on"
        ),
        _ if report.script_faults.is_empty() => Ok(Outcome::Fine),
        _ => Ok(Outcome::Findings),
    }
}

/// Largest saved world that is read, bytes.
const LARGEST_SAVE: u64 = 4096 * roadwright_files::MEBIBYTE;

/// A world that goes on where a saved one was.
fn restore(
    path: &Path,
    scenario: &Scenario,
    modules: &Registry,
    options: &RunOptions,
    quiet: bool,
) -> anyhow::Result<World> {
    let at = || format!("cannot restore {}", path.display());
    let bytes = roadwright_files::read(path, LARGEST_SAVE).with_context(at)?;
    let saved = SavedWorld::from_bytes(&bytes).with_context(at)?;
    let ground = Ground::new(scenario);
    let (world, notes) =
        World::restore(ground, scenario, modules, options, &saved).with_context(at)?;
    if !quiet {
        for note in saved.inexact().iter().chain(&notes) {
            eprintln!("not exact: {note}");
        }
    }
    Ok(world)
}

/// Writes a world to a file at once.
fn save(world: &World, path: &Path, allow_inexact: bool, quiet: bool) -> anyhow::Result<()> {
    let saved = world.save(allow_inexact)?;
    if !quiet {
        for module in saved.inexact() {
            eprintln!("not exact: {module} will start fresh when this save is restored");
        }
    }
    roadwright_files::write(path, &saved.to_bytes()).with_context(|| cannot_write(path))
}

/// A session that is run from the command line, and what goes along with it.
pub(super) struct Drive<'a> {
    pub(super) session: &'a mut Session,
    /// Whose events are told.
    pub(super) host: Option<&'a Host>,
    pub(super) trace: Option<&'a mut Trace>,
    /// Whether lines that modules log are printed.
    pub(super) logs: bool,
    pub(super) quiet: bool,
    /// Whether the run goes on with the built-in module when the clock has stopped another one.
    pub(super) keep_going: bool,
    /// Where the world is saved at the end, and whether modules that cannot save may start fresh.
    pub(super) save: Option<(&'a Path, bool)>,
}

impl Drive<'_> {
    /// Runs until the end or until Ctrl-C is pressed.
    pub(super) fn drive(&mut self, ending: Ending) -> anyhow::Result<Report> {
        progress::catch_interrupt();
        let world = self.session.world();
        let before = (world.agent_updates(), world.time());
        let (Ending::AtTime(end) | Ending::WhenOver(end)) = ending;
        let steps = (end / world.dt()).round() as u64;
        let mut teller = Teller {
            host: self.host,
            logs: self.logs,
            quiet: self.quiet,
            logged: world.log_count(),
            bar: progress::bar(steps.saturating_sub(world.steps()), self.quiet),
            first: world.steps(),
            told_at: now(),
            slow: BTreeSet::new(),
        };
        let wall = now();
        let cpu = ProcessTime::now();
        let watchdog = self.host.map(Watchdog::new);
        let (host, keep_going) = (self.host, self.keep_going);
        let timed_out = || host.and_then(Host::timed_out);
        let goes_on = |_: &World| !progress::interrupted() && (keep_going || timed_out().is_none());
        match self.trace.as_deref_mut() {
            None => self.session.run(ending, &mut [&mut teller], goes_on),
            Some(trace) => self.session.run(ending, &mut [&mut teller, trace], goes_on),
        };
        drop(watchdog);
        let world = self.session.world();
        // Before the summary, which asks fitness modules.
        let save_error = self
            .save
            .and_then(|(path, inexact)| save(world, path, inexact, self.quiet).err());
        teller.bar.finish_and_clear();
        teller.tell(world);
        let (cpu_seconds, wall_seconds) =
            (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
        let mut report = Report {
            summary: world.summary(),
            wall_seconds,
            cpu_seconds,
            updates_per_cpu_second: 0.0,
            realtime_factor: 0.0,
            interrupted: progress::interrupted(),
            not_reproducible_because: timed_out(),
            script_faults: host.map_or(Vec::new(), ScriptFaults::of),
            faults: world.faults().clone(),
            before,
            save_error,
        };
        report.rate();
        Ok(report)
    }
}

/// Shows progress, and prints what modules log and what happens to them.
struct Teller<'a> {
    host: Option<&'a Host>,
    logs: bool,
    quiet: bool,
    /// Lines printed so far.
    logged: u64,
    bar: ProgressBar,
    /// The step that the bar begins with.
    first: u64,
    /// When something was last told.
    told_at: Instant,
    /// Modules that have been said to be slow.
    slow: BTreeSet<String>,
}

/// Steps between two looks.
const TELL_PERIOD: u64 = 64;
/// Nobody waits longer than this for a word, and a call that takes longer, us, is worth one.
const SILENCE: Duration = Duration::from_secs(5);
const SLOW_CALL_US: f64 = 50_000.0;

#[expect(
    clippy::disallowed_methods,
    reason = "the program reports how long things take; no result depends on it"
)]
fn now() -> Instant {
    Instant::now()
}

impl Observer for Teller<'_> {
    fn after_step(&mut self, world: &World) {
        let step = world.steps() - self.first;
        let is_silent = self.told_at.elapsed() > SILENCE;
        if step % TELL_PERIOD == 1 || is_silent {
            self.told_at = now();
            if is_silent {
                self.tell_slow();
            }
            self.bar.set_position(step);
            self.bar.set_message(message(world));
            let bar = self.bar.clone();
            bar.suspend(|| self.tell(world));
        }
    }
}

impl Teller<'_> {
    /// Names the modules that the run waits for, each once.
    fn tell_slow(&mut self) {
        let rows = self.host.map_or(Vec::new(), Host::modules);
        for row in rows.iter().filter(|row| row.call_us > SLOW_CALL_US) {
            if self.slow.insert(row.id.clone()) {
                let milliseconds = row.call_us / 1000.0;
                eprintln!(
                    "warning: {} takes {milliseconds:.0} ms for a call; the run waits for it",
                    row.id
                );
            }
        }
    }

    /// Prints what modules have logged since the last time, and what happened to them.
    fn tell(&mut self, world: &World) {
        if let Some(host) = self.host {
            extensions::tell(&host.events(), self.quiet);
            if self.logs {
                for (module, line) in host.log_lines() {
                    eprintln!("log: before {:.2} s, {module}: {line}", world.time());
                }
            }
        }
        let new = (world.log_count() - self.logged) as usize;
        self.logged = world.log_count();
        let lines = world.log();
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
                "{} spawned, {} arrived, {} active, {} refused, {} waiting for their time or a place",
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
        (
            "state hash",
            match &report.not_reproducible_because {
                None => summary.state_hash.clone(),
                Some(why) => format!("{} (NOT REPRODUCIBLE: {why})", summary.state_hash),
            },
        ),
    ];
    if report.interrupted {
        rows.insert(0, ("interrupted", "the figures are those so far".into()));
    }
    let mut text: String = rows
        .iter()
        .map(|(name, value)| format!("{name:<16} {value}\n"))
        .collect();
    text += &stack_table(&summary.stacks);
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
        text += &format!("{:<16} {faults}\n", "faults");
    }
    for script in &report.script_faults {
        text += &format!(
            "  {}: {} faults; the built-in behaviour stood in. The last:\n    {}\n",
            script.script,
            script.faults,
            script.last.replace('\n', "\n    ")
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

/// What came of each stack, a line for each of its figures. Errors are standard errors.
fn stack_table(stacks: &[StackSummary]) -> String {
    let mut text = String::new();
    for stack in stacks {
        text += &format!(
            "stack {:<10} {} agents, {} arrived\n",
            stack.stack, stack.spawned, stack.arrived
        );
        let mut line = |name: &str, unit: &str, of: &Statistic| {
            if of.count > 0 {
                let (mean, error) = (of.mean, of.standard_error);
                let line = format!("  {name:<24} {mean:>10.4} ± {error:.4} {unit}");
                text += line.trim_end();
                text.push('\n');
            }
        };
        line("travel time", "s", &stack.travel_time);
        line("distance", "m", &stack.distance);
        for fitness in &stack.fitness {
            line(&fitness.module, "", &fitness.score);
        }
    }
    text
}

/// Writes the drive of each agent as CSV, with a column for each fitness.
fn write_scores(path: &Path, drives: &[AgentDrive<'_>]) -> anyhow::Result<()> {
    let at = || cannot_write(path);
    let scores = drives.iter().flat_map(|drive| &drive.scores);
    let fitnesses: BTreeSet<&str> = scores.map(|(fitness, _)| *fitness).collect();
    let mut file = csv::Writer::from_writer(Beside::new(path).with_context(at)?);
    let titles = [
        "agent",
        "stack",
        "status",
        "started_s",
        "ended_s",
        "distance_m",
    ];
    file.write_record(titles.iter().chain(&fitnesses))
        .with_context(at)?;
    for drive in drives {
        let status = format!("{:?}", drive.status).to_lowercase();
        let mut row = vec![
            drive.id.to_string(),
            drive.stack.to_owned(),
            status,
            format!("{:.3}", drive.started),
            format!("{:.3}", drive.ended),
            format!("{:.3}", drive.distance),
        ];
        for fitness in &fitnesses {
            let score = drive.scores.iter().find(|(known, _)| known == fitness);
            row.push(score.map_or(String::new(), |(_, score)| score.to_string()));
        }
        file.write_record(&row).with_context(at)?;
    }
    finish_table(file).with_context(at)
}

/// Moves a table into its place.
fn finish_table(table: csv::Writer<Beside>) -> std::io::Result<()> {
    let file = table.into_inner().map_err(|error| error.into_error())?;
    file.finish()
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Writes where vehicles are as CSV: before the first step, at the first step at or after each tenth
/// of a second, and at the end.
pub(super) struct Trace {
    file: csv::Writer<Beside>,
    path: PathBuf,
    /// The last step that was written.
    written: Option<u64>,
    /// Why nothing more could be written.
    error: Option<csv::Error>,
}

impl Observer for Trace {
    fn begin(&mut self, world: &World) {
        self.write(world);
    }

    fn after_step(&mut self, world: &World) {
        let tenths = |steps: u64| (steps as f64 * world.dt() / TRACE_PERIOD + 1e-9).floor();
        if tenths(world.steps()) > tenths(world.steps() - 1) {
            self.write(world);
        }
    }
}

impl Trace {
    fn create(path: &Path) -> anyhow::Result<Self> {
        let file = Beside::new(path).with_context(|| cannot_write(path))?;
        let mut writer = csv::Writer::from_writer(file);
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
        Ok(Self {
            file: writer,
            path: path.to_owned(),
            written: None,
            error: None,
        })
    }

    fn write(&mut self, world: &World) {
        if self.error.is_none() && self.written != Some(world.steps()) {
            self.written = Some(world.steps());
            self.error = self.write_rows(&world.snapshot()).err();
        }
    }

    fn write_rows(&mut self, snapshot: &Snapshot) -> csv::Result<()> {
        for vehicle in &snapshot.vehicles {
            let (road, lane) = vehicle
                .lane
                .map_or((String::new(), String::new()), |(road, lane)| {
                    (road.0.to_string(), lane.to_string())
                });
            self.file.write_record([
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

    fn finish(mut self, world: &World) -> anyhow::Result<()> {
        self.write(world);
        if let Some(error) = self.error {
            return Err(error).with_context(|| cannot_write(&self.path));
        }
        finish_table(self.file).with_context(|| cannot_write(&self.path))
    }
}
