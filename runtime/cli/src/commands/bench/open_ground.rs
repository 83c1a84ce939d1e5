//! `roadwright bench open-ground`: courses without lanes, each driven with many seeds.

use super::arguments::OpenGround as Arguments;
use super::course::{modules_of, threads};
use crate::commands::print_json;
use crate::outputs::{Inputs, Kind, Outputs};
use crate::{Outcome, progress, terminal};
use anyhow::{Context, bail};
use rayon::prelude::*;
use roadwright_scenario::file;
use roadwright_simulation::builtin_modules;
use roadwright_training::{Course, CourseError, DriveRow, End, Setup, measure_while};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Maximum duration of a drive, as a multiple of its free travel time.
const LONGEST: f64 = 2.5;
/// Maximum number of failed seeds that are listed for each course.
const LISTED: usize = 10;

/// Result of the run with one seed.
#[derive(Debug, Serialize)]
struct SeedRow {
    seed: u64,
    passed: bool,
    /// Reasons why the seed did not pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    drives: usize,
    arrived: usize,
    /// Maximum ratio of a drive's duration to its free travel time; `None` if no drive arrived.
    slowest: Option<f64>,
}

/// Results of a course, over all seeds.
#[derive(Debug, Serialize)]
struct Report {
    course: String,
    seeds: u64,
    first_seed: u64,
    passed: usize,
    drives: usize,
    arrived: usize,
    struck: usize,
    /// Mean ratio of the duration to the free travel time, over the drives that arrived; `None` if
    /// no drive arrived.
    mean_ratio: Option<f64>,
    rows: Vec<SeedRow>,
}

pub(super) fn bench(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let courses = courses_of(arguments)?;
    let (modules, fitness) = modules_of(&arguments.modules)?;
    let setup = Setup {
        dynamics: arguments.dynamics,
        modules,
        fitness,
        ..Setup::default()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads(arguments.threads));
    let pool = pool.build().context("cannot start threads")?;
    let mut reports = Vec::new();
    for course in &courses {
        let seeds = arguments.first_seed..arguments.first_seed + arguments.seeds;
        let runs = pool.install(|| {
            let runs = seeds.into_par_iter().map(|seed| run(course, &setup, seed));
            runs.collect::<anyhow::Result<Vec<SeedRun>>>()
        })?;
        if progress::interrupted() {
            bail!("interrupted");
        }
        let report = report(course, arguments, runs);
        if let Some(folder) = &arguments.failed {
            write_failed(course, &setup, &report, folder)?;
        }
        if !arguments.json {
            print(&report)?;
        }
        reports.push(report);
    }
    if arguments.json {
        print_json(&reports)?;
    }
    let share = |report: &Report| report.passed as f64 / report.seeds as f64;
    let has_passed = reports.iter().all(|report| share(report) >= arguments.pass);
    Ok(Outcome::of(has_passed))
}

/// Returns the requested courses without lanes, or all of them if none were requested.
fn courses_of(arguments: &Arguments) -> anyhow::Result<Vec<Course>> {
    let all = Course::all().into_iter();
    let known: Vec<Course> = all.filter(Course::is_on_open_ground).collect();
    if arguments.courses.is_empty() {
        return Ok(known);
    }
    let named = arguments.courses.iter().map(|name| {
        let course = known.iter().find(|course| course.name == *name);
        course.cloned().with_context(|| {
            let names: Vec<&str> = known.iter().map(|course| course.name.as_str()).collect();
            let names = names.join(", ");
            format!(
                "--course {name}: this benchmark drives only {names}; use `bench run` for other courses"
            )
        })
    });
    named.collect()
}

/// Writes the scenario of each seed that did not pass into a folder.
fn write_failed(
    course: &Course,
    setup: &Setup,
    report: &Report,
    folder: &Path,
) -> anyhow::Result<()> {
    let mut outputs = Outputs::of(Inputs::none());
    outputs.folder("--failed", folder)?;
    for row in report.rows.iter().filter(|row| !row.passed) {
        let name = format!("{}-{}.scenario.json", course.name, row.seed);
        let place = outputs.file("--failed", &folder.join(&name), Kind::Scenario)?;
        let scenario = course.whole_scenario(row.seed, setup)?;
        let text = file::text_at(&scenario, &folder.join(&name));
        outputs.write(&place, text.as_bytes())?;
    }
    outputs.commit()
}

/// State of a run with one seed.
struct SeedRun {
    row: SeedRow,
    struck: usize,
    /// Ratios of duration to free travel time of the drives that arrived.
    ratios: Vec<f64>,
}

impl SeedRun {
    /// Creates the row of a seed for which no vehicle has driven.
    fn without_drives(seed: u64) -> Self {
        Self {
            row: SeedRow {
                seed,
                passed: false,
                reasons: vec!["no vehicle has moved".into()],
                drives: 0,
                arrived: 0,
                slowest: None,
            },
            struck: 0,
            ratios: Vec::new(),
        }
    }
}

fn run(course: &Course, setup: &Setup, seed: u64) -> anyhow::Result<SeedRun> {
    let scenario = course.scenario(seed, setup)?;
    let free: BTreeMap<u64, f64> = course
        .free_times(&scenario)
        .into_iter()
        .map(|(agent, time)| (u64::from(agent.0), time))
        .collect();
    let modules = builtin_modules();
    let goes_on = &mut |_: &_| !progress::interrupted();
    let measured = match measure_while(course, setup, &modules, seed, goes_on) {
        Ok(measured) => measured,
        Err(CourseError::NobodyDrove { .. }) => return Ok(SeedRun::without_drives(seed)),
        Err(error) => return Err(error.into()),
    };
    let mut reasons = Vec::new();
    let mut ratios = Vec::new();
    for drive in &measured.drives {
        let free = free.get(&drive.agent).copied();
        let ratio = free.map(|free| drive.time / free);
        if drive.end == End::Arrived {
            ratios.extend(ratio);
        }
        reasons.extend(reason(drive, ratio));
    }
    let arrived = |drive: &&DriveRow| drive.end == End::Arrived;
    Ok(SeedRun {
        struck: measured
            .drives
            .iter()
            .filter(|drive| drive.end == End::Struck)
            .count(),
        row: SeedRow {
            seed,
            passed: reasons.is_empty(),
            reasons,
            drives: measured.drives.len(),
            arrived: measured.drives.iter().filter(arrived).count(),
            slowest: ratios.iter().copied().reduce(f64::max),
        },
        ratios,
    })
}

/// Returns the reason why a drive does not pass; `None` if it passes.
fn reason(drive: &DriveRow, ratio: Option<f64>) -> Option<String> {
    let agent = drive.agent;
    match (drive.end, ratio) {
        (End::Arrived, Some(ratio)) if ratio <= LONGEST => None,
        (End::Arrived, Some(ratio)) => Some(format!(
            "agent {agent} took {ratio:.1} times its free travel time"
        )),
        (End::Arrived, None) => None,
        (End::Struck, _) => Some(format!(
            "agent {agent} touched an obstacle or a vehicle after {:.1} s",
            drive.time
        )),
        (end, _) => Some(format!("agent {agent} did not arrive ({end})")),
    }
}

fn report(course: &Course, arguments: &Arguments, runs: Vec<SeedRun>) -> Report {
    let ratios: Vec<f64> = runs.iter().flat_map(|run| run.ratios.clone()).collect();
    let struck = runs.iter().map(|run| run.struck).sum();
    let rows: Vec<SeedRow> = runs.into_iter().map(|run| run.row).collect();
    let count = ratios.len() as f64;
    Report {
        course: course.name.clone(),
        seeds: arguments.seeds,
        first_seed: arguments.first_seed,
        passed: rows.iter().filter(|row| row.passed).count(),
        drives: rows.iter().map(|row| row.drives).sum(),
        arrived: rows.iter().map(|row| row.arrived).sum(),
        struck,
        mean_ratio: (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / count),
        rows,
    }
}

fn print(report: &Report) -> anyhow::Result<()> {
    let mut out = terminal::out();
    let ratio = report
        .mean_ratio
        .map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}"));
    writeln!(
        out,
        "{:<19} {} of {} seeds passed; {} of {} drives arrived, {} had contacts; {ratio} times the \
         free travel time",
        report.course, report.passed, report.seeds, report.arrived, report.drives, report.struck
    )?;
    let failed = report.rows.iter().filter(|row| !row.passed);
    for row in failed.clone().take(LISTED) {
        writeln!(out, "  seed {}: {}", row.seed, row.reasons.join("; "))?;
    }
    let more = failed.count().saturating_sub(LISTED);
    if more > 0 {
        writeln!(out, "  and {more} other seeds (all with --json)")?;
    }
    out.flush()?;
    Ok(())
}
