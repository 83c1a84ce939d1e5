//! `roadwright bench list` and `run`: a course over many seeds, with error bars.

use super::compare::differences;
use super::course_arguments::{Common, List, RunCourse};
use super::files::Files;
use super::mileage_log::MileageLog;
use super::reproduce::line_of;
use super::tell_failures;
use crate::commands::plot::Figure;
use crate::commands::{keep_stdout, print_json, write_json};
use crate::extensions::Notes;
use crate::terminal::{self, say};
use crate::watchdog::Watchdog;
use crate::{Outcome, extensions, progress};
use anyhow::{Context, bail};
use indicatif::ProgressBar;
use roadwright_extension::{Host, Wanted};
use roadwright_scenario::{ModuleSetting, Slot, file};
use roadwright_training::experiment::{
    Estimate, Results, RunSeries, Stop, Stopped, Summary, Watcher, check_comparable,
};
use roadwright_training::statistics::{AsymptoticSequence, Moments, accumulate};
use roadwright_training::{Course, MileageMark, Setup};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Maximum size of a results file, bytes.
const LARGEST_RESULTS: u64 = 512 * roadwright_files::MEBIBYTE;
/// Default number of runs of an experiment.
const RUNS: u64 = 30;

pub(super) fn list(arguments: &List) -> anyhow::Result<Outcome> {
    #[derive(Serialize)]
    struct Listed {
        name: String,
        doc: String,
        vehicle: &'static str,
        controller: &'static str,
        fitness: &'static str,
        seconds: f64,
        mileage: Option<f64>,
    }
    let courses = Course::all().into_iter().map(|course| Listed {
        name: course.name,
        doc: course.doc,
        vehicle: course.vehicle,
        controller: course.driver,
        fitness: course.fitness,
        seconds: course.ends.time,
        mileage: course.ends.mileage,
    });
    let courses: Vec<Listed> = courses.collect();
    if arguments.json {
        print_json(&courses)?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    for course in courses {
        writeln!(out, "{:<16} {}", course.name, course.doc)?;
        let (vehicle, controller, fitness) = (course.vehicle, course.controller, course.fitness);
        writeln!(
            out,
            "{:<16} vehicle {vehicle}, controller {controller}, fitness {fitness}",
            ""
        )?;
    }
    Ok(Outcome::Fine)
}

pub(super) fn run(arguments: &RunCourse) -> anyhow::Result<Outcome> {
    let course = find(&arguments.name)?;
    let setup = setup_of(arguments)?;
    if arguments.drive {
        return super::race::race(arguments, course, setup);
    }
    let mut files = Files::claim(arguments, &course)?;
    // Reserved before the modules are opened, because they may print.
    let document = arguments.common.json.then(keep_stdout).transpose()?;
    let host = open(&arguments.common, &course, &setup)?;
    let _watchdog = Watchdog::new(&host);
    let modules = host.registry();
    let against = arguments.until_difference.as_deref();
    let against = against.map(read).transpose()?;
    if let (Some(other), Some(path)) = (&against, &arguments.until_difference) {
        tell_version(other, path);
        check_failures(other, path, arguments.without_failed)?;
    }
    let experiment = RunSeries {
        course: &course,
        setup: &setup,
        modules: &modules,
        first_seed: arguments.seed,
        stop: stop_of(arguments, against.as_ref())?,
        against: against.as_ref(),
        level: arguments.level,
        threads: threads(arguments.common.threads),
    };
    if let (Some(other), Some(path)) = (&against, &arguments.until_difference) {
        // Checked before the first run, because results of another course or fitness would otherwise be
        // detected only after hours.
        let head = experiment.head()?;
        check_comparable(&other.head, &head).with_context(|| path.display().to_string())?;
    }
    let earlier = match &arguments.out {
        // An existing file is continued; its rows are not run again.
        Some(path) if path.exists() => Some(read(path)?),
        _ => None,
    };
    let log = MileageLog::open(arguments, earlier.as_ref())?;
    let looker = Looker::new(arguments, &files, log);
    let results = experiment.run(earlier, &looker);
    let results = results.with_context(|| format!("bench run {}", arguments.name))?;
    let log = looker.finish();
    files.finish(&results, log.as_ref())?;
    let difference = against
        .as_ref()
        .map(|other| Against::new(arguments, other, &results))
        .transpose()?
        .flatten();
    tell_failures(&results.failures());
    let Some(summary) = Summary::of(&results) else {
        bail!("interrupted before the first run was complete");
    };
    if let Some(folder) = &arguments.plots {
        files.plot(&plot(&course, &results, &summary), folder)?;
    }
    match document {
        Some(mut out) => write_json(
            &mut *out,
            &Document {
                summary: &summary,
                difference,
            },
        )?,
        None => print(arguments, &course, &summary, difference.as_ref())?,
    }
    // An interrupted run, or one with failures, has fewer results than requested.
    let is_whole = summary.stopped.is_some() && summary.failed == 0;
    Ok(Outcome::of(is_whole))
}

/// Returns a figure that shows the mean fitness against the number of runs.
fn plot(course: &Course, results: &Results, summary: &Summary) -> Figure {
    // A user scenario has a path as its name.
    let name = Path::new(&course.name).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let fitness = results.fitnesses();
    let better = if summary.lower_is_better {
        "lower"
    } else {
        "higher"
    };
    Figure {
        name: format!("{name}-{}", summary.fitness_module),
        title: format!("{name}: mean and standard error against number of runs"),
        x_label: "runs".into(),
        y_label: format!("{}, {better} is better", summary.fitness_module),
        lines: vec![line_of("mean", &accumulate(&fitness))],
        marks: Vec::new(),
    }
}

/// Finds a course by its name, or makes one from a scenario file.
pub(super) fn find(name: &str) -> anyhow::Result<Course> {
    let path = Path::new(name);
    let named = Course::named(name);
    // An argument without an extension that is not a file was meant as a name, so the error lists the known
    // names.
    if named.is_ok() || (path.extension().is_none() && !path.exists()) {
        return Ok(named?);
    }
    let scenario = file::load(path).context("cannot open the scenario")?;
    Ok(Course::own(name, scenario))
}

fn setup_of(arguments: &RunCourse) -> anyhow::Result<Setup> {
    let (modules, fitness) = modules_of(&arguments.modules)?;
    Ok(Setup {
        vehicle: arguments.vehicle.clone(),
        dynamics: arguments.dynamics,
        dt: arguments.dt,
        modules,
        fitness,
        ..Setup::default()
    })
}

/// Modules that all drivers use, by the name of their slot, and fitness modules, if any are given.
type Modules = (
    BTreeMap<String, Vec<ModuleSetting>>,
    Option<Vec<ModuleSetting>>,
);

/// Parses the settings of `--use`.
pub(super) fn modules_of(settings: &[String]) -> anyhow::Result<Modules> {
    let (mut modules, mut fitness) = (BTreeMap::new(), None);
    for setting in settings {
        let parts = setting.split_once('=');
        let parts = parts.and_then(|(slot, ids)| Some((Slot::from_name(slot)?, ids)));
        let Some((slot, ids)) = parts else {
            let slots: Vec<_> = Slot::ALL.iter().map(|slot| slot.name()).collect();
            let slots = slots.join(", ");
            bail!("--use {setting}: expected SLOT=MODULE with one of the slots {slots}");
        };
        // The word "none" leaves a slot empty; whether that is allowed is checked below.
        let ids = ids.split(',').filter(|id| *id != "none");
        let settings: Vec<ModuleSetting> = ids.map(ModuleSetting::new).collect();
        if !slot.how_many().fits(settings.len()) {
            bail!("--use {setting}: {slot} takes {}", slot.how_many());
        }
        let before = match slot {
            Slot::Fitness => fitness.replace(settings),
            _ => modules.insert(slot.name().into(), settings),
        };
        if before.is_some() {
            bail!("--use {slot}= is given twice");
        }
    }
    Ok((modules, fitness))
}

/// JSON document of `bench run --json`.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Against>,
}

/// Mean difference to other results, paired by seed.
#[derive(Serialize)]
struct Against {
    /// File of the other results.
    against: String,
    /// Mean fitness minus that of the other results.
    mean: f64,
    standard_deviation: f64,
    standard_error: f64,
    /// Confidence interval that stays valid under continuous monitoring.
    interval: [f64; 2],
    method: &'static str,
    level: f64,
    /// Whether the difference is an improvement; absent if the interval contains 0.
    is_better: Option<bool>,
}

impl Against {
    /// Compares results with `other`. Returns `None` for fewer than two pairs.
    fn new(
        arguments: &RunCourse,
        other: &Results,
        results: &Results,
    ) -> anyhow::Result<Option<Self>> {
        let path = arguments.until_difference.as_deref();
        let path = path.unwrap_or(Path::new("")).display().to_string();
        let differences = differences(other, results).with_context(|| path.clone())?;
        let moments = Moments::of(&differences);
        let level = results.head.level;
        let sequence = AsymptoticSequence::new(level, arguments.min_runs);
        let Some(interval) = sequence.interval(&moments) else {
            return Ok(None);
        };
        let is_lower = moments.mean() < 0.0;
        let is_better = is_lower == results.head.lower_is_better;
        Ok(Some(Self {
            against: path,
            mean: moments.mean(),
            standard_deviation: moments.standard_deviation(),
            standard_error: moments.standard_error(),
            interval: [interval.low, interval.high],
            method: interval.method.name(),
            level,
            is_better: (!interval.contains(0.0)).then_some(is_better),
        }))
    }
}

/// Returns the rule that stops at a significant difference. The other results must be of the same course and
/// fitness. The rule stops at the last row of the other results at the latest.
fn difference_rule(arguments: &RunCourse, other: &Results) -> anyhow::Result<Stop> {
    let first = other.head.first_seed;
    let after = first.saturating_add(other.rows.len() as u64);
    let seed = arguments.seed;
    let (min_runs, common) = (arguments.min_runs, after.saturating_sub(seed.max(first)));
    if seed < first || common < min_runs {
        bail!(
            "--until-difference: the results need a row for each seed from {seed} onwards, and at least --min-runs \
             {min_runs} such rows; they have {common}"
        );
    }
    Ok(Stop::Difference {
        against: u64::from_str_radix(&other.hash, 16).unwrap_or_default(),
        min_runs,
        // Beyond the rows of the other results there is nothing to compare with.
        max_runs: arguments.max_runs.min(common),
    })
}

fn stop_of(arguments: &RunCourse, against: Option<&Results>) -> anyhow::Result<Stop> {
    let (min_runs, max_runs) = (arguments.min_runs, arguments.max_runs);
    if let Some(other) = against {
        return difference_rule(arguments, other);
    }
    Ok(match (arguments.until_se, arguments.until_width) {
        (Some(at_most), _) => Stop::StandardError {
            at_most,
            min_runs,
            max_runs,
        },
        (None, Some(at_most)) => Stop::Width {
            at_most,
            min_runs,
            max_runs,
        },
        (None, None) => Stop::Runs {
            runs: arguments.runs.unwrap_or(RUNS),
        },
    })
}

/// Returns the number of concurrent runs: the requested number, or one per core by default.
pub(super) fn threads(wanted: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    wanted.map_or_else(cores, usize::from)
}

/// Opens the modules that a course and a setup need.
pub(super) fn open(common: &Common, course: &Course, setup: &Setup) -> anyhow::Result<Host> {
    let beside = course.is_own().then(|| Path::new(&course.name));
    // Any seed will do, because stacks do not depend on it; only places and times are random.
    let scenario = course.scenario(0, setup)?;
    let wanted = Wanted::Ids(scenario.modules());
    let notes = Notes::unless(common.json);
    extensions::open(&common.extensions, beside, wanted, notes)
}

/// Reads results, and refuses them if their rows have been modified.
pub(super) fn read(path: &Path) -> anyhow::Result<Results> {
    let results = read_unchecked(path)?;
    let checked = results.check_hash();
    checked.with_context(|| format!("cannot use {}", path.display()))?;
    Ok(results)
}

/// Explains which parts of a results file its hash does not cover.
pub(super) fn tell_version(results: &Results, path: &Path) {
    if !results.is_sealed() {
        let path = path.display();
        say!(
            "{path}: the hash of these older results covers the rows only, not course, drivers, fitness and \
             direction; `roadwright bench verify {path}` recomputes them"
        );
    }
}

/// Returns an error if the results contain failed runs, unless `without_failed` is set.
pub(super) fn check_failures(
    results: &Results,
    path: &Path,
    without_failed: bool,
) -> anyhow::Result<()> {
    let (failed, runs) = (results.failures().len(), results.rows.len());
    if failed == 0 || without_failed {
        return Ok(());
    }
    bail!(
        "{}: {failed} of {runs} runs failed, and failures are not random; use --without-failed to \
         compare the others",
        path.display()
    )
}

/// Reads results, including those with modified rows.
pub(super) fn read_unchecked(path: &Path) -> anyhow::Result<Results> {
    let at = || format!("cannot read {}", path.display());
    let text = roadwright_files::read_text(path, LARGEST_RESULTS).with_context(at)?;
    Results::parse(&text).with_context(at)
}

/// Shows the progress of an experiment, and writes its intermediate results.
struct Looker<'a> {
    bar: ProgressBar,
    files: &'a Files,
    log: Option<MileageLog>,
    /// Number of rows at which the intermediate results are next written.
    next: AtomicUsize,
    /// Whether writing has failed.
    failed: AtomicBool,
}

impl<'a> Looker<'a> {
    fn new(arguments: &RunCourse, files: &'a Files, log: Option<MileageLog>) -> Self {
        let bar = progress::bar(arguments.runs.unwrap_or(RUNS), arguments.common.json);
        bar.set_message(arguments.name.clone());
        Self {
            bar,
            files,
            log,
            // The first row is written immediately, so that an unwritable path is detected early.
            next: AtomicUsize::new(1),
            failed: AtomicBool::new(false),
        }
    }

    /// Clears the progress bar. Returns the log.
    fn finish(self) -> Option<MileageLog> {
        self.bar.finish_and_clear();
        self.log
    }
}

impl Watcher for Looker<'_> {
    fn wants_marks(&self) -> bool {
        self.log.is_some()
    }

    fn marks(&self, seed: u64, marks: &[MileageMark]) {
        if let Some(log) = &self.log {
            log.add(seed, marks);
        }
    }

    fn goes_on(&self) -> bool {
        !progress::interrupted() && !self.failed.load(Ordering::Relaxed)
    }

    fn progress(&self, results: &Results, expected: u64) {
        self.bar.set_length(expected);
        self.bar.set_position(results.rows.len() as u64);
        let rows = results.rows.len();
        // If all completed runs have failed, there is nothing to write. If all runs fail, there is
        // no file.
        if rows < self.next.load(Ordering::Relaxed) || results.fitnesses().is_empty() {
            return;
        }
        // All rows are written each time, so the more rows there are, the less often they are written.
        self.next.store(rows + 1 + rows / 20, Ordering::Relaxed);
        // Failures are reported at the end, when writing is retried.
        let failed = self.files.keep(results, self.log.as_ref()).is_err();
        self.failed.fetch_or(failed, Ordering::Relaxed);
    }
}

fn print(
    arguments: &RunCourse,
    course: &Course,
    summary: &Summary,
    difference: Option<&Against>,
) -> anyhow::Result<()> {
    let mut out = terminal::out();
    let last = summary.first_seed + summary.runs + summary.failed as u64 - 1;
    writeln!(out, "{}: {}", course.name, course.doc)?;
    let failed = match summary.failed {
        0 => String::new(),
        failed => format!("; {failed} more failed and are not counted"),
    };
    writeln!(
        out,
        "runs       {}, seeds {} to {last}{failed}",
        summary.runs, summary.first_seed
    )?;
    writeln!(
        out,
        "drives     {}, {} completed",
        summary.drives, summary.completed
    )?;
    let better = if summary.lower_is_better {
        "lower"
    } else {
        "higher"
    };
    writeln!(
        out,
        "fitness    {}, {better} is better",
        summary.fitness_module
    )?;
    for (name, estimate) in [
        ("  mean", &summary.fitness),
        ("completed", &summary.completed_share),
    ] {
        writeln!(out, "{name:<10} {}", words(estimate))?;
    }
    writeln!(
        out,
        "  middle   {:.6} (interquartile mean)",
        summary.interquartile_mean
    )?;
    writeln!(out, "time       {:.2} s per drive", summary.time)?;
    if let Some(changes) = summary.gear_changes {
        writeln!(out, "gears      {changes:.2} changes per drive")?;
    }
    if let Some(difference) = difference {
        let Against {
            against,
            mean,
            standard_error,
            interval: [low, high],
            method,
            level,
            ..
        } = difference;
        let percent = level * 100.0;
        writeln!(
            out,
            "difference {mean:.6} from {against}, {percent} % interval {low:.6} to {high:.6} ({method}), \
             standard error {standard_error:.6}"
        )?;
    }
    writeln!(out, "hash       {}", summary.hash)?;
    match summary.stopped {
        Some(Stopped::Reached) if difference.is_some() => {
            writeln!(out, "stopped    the difference is significant")?;
        }
        Some(Stopped::Reached) => writeln!(out, "stopped    the requested precision was reached")?,
        Some(Stopped::Runs) => writeln!(out, "stopped    all runs are complete")?,
        None if arguments.out.is_some() => {
            say!("interrupted; the same command continues from here");
        }
        None => say!("interrupted; start it with --out to make it resumable"),
    }
    out.flush()?;
    Ok(())
}

/// Formats an estimate as text.
fn words(estimate: &Estimate) -> String {
    let Estimate { mean, level, .. } = estimate;
    match (estimate.interval, estimate.method) {
        (Some([low, high]), Some(method)) => format!(
            "{mean:.6}, {} % interval {low:.6} to {high:.6} ({}), standard deviation {:.6}, standard error {:.6}",
            level * 100.0,
            method.name(),
            estimate.standard_deviation,
            estimate.standard_error
        ),
        _ => format!("{mean:.6}, n = 1: no interval"),
    }
}
