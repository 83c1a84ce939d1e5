//! Training: runs generations until a stopping rule applies, and writes a record after each generation.

use super::arguments::TrainRun;
use super::report::{self, Report};
use super::{load_experiment, load_record, name_of, threads};
use crate::arguments::ExtensionFlags;
use crate::commands::{keep_stdout, load, write_json};
use crate::extensions::Notes;
use crate::outputs::{Checkpoint, Inputs, Kind, Outputs};
use crate::terminal::{self, say};
use crate::watchdog::Watchdog;
use crate::{Outcome, extensions, progress};
use anyhow::{Context, bail};
use roadwright_extension::{Host, Wanted};
use roadwright_scenario::{Scenario, Slot};
use roadwright_training::genetic::experiment::{Experiment, NameOr};
use roadwright_training::genetic::{Champion, Problem, Training, Verdict};
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Deref;
use std::path::Path;

/// Maximum number of failed drives that are listed individually.
const MOST_TOLD: usize = 20;

pub(super) fn run(arguments: &TrainRun) -> anyhow::Result<Outcome> {
    let path = arguments.experiment.as_deref();
    let path = path.context("specify an experiment file")?;
    let arguments = &with_record(arguments, path);
    let mut experiment = load_experiment(path)?;
    if let Some(generations) = arguments.generations {
        experiment.stop.generations = generations;
    }
    experiment.seed = arguments.seed.unwrap_or(experiment.seed);
    let out = match &arguments.out {
        Some(out) => Some(claim(arguments, path, &experiment, out)?),
        None => None,
    };
    // Reserved for the document before plugins are loaded, because they may print.
    let document = arguments.json.then(keep_stdout).transpose()?;
    let is_quiet = arguments.json || arguments.quiet;
    let problem = problem(&arguments.extensions, path, &experiment)?;
    if !is_quiet {
        for (_, why) in problem.warnings(&experiment) {
            say!("warning: {why}");
        }
    }
    progress::catch_interrupt();
    let (mut training, state) = begin(arguments, &experiment, &problem)?;
    // A finished record is not written again.
    let out = out.filter(|_| state == State::UnderWay);
    if state == State::Finished && !is_quiet {
        say!("the training is already finished, so its record was not changed");
    }
    // An unwritable path is detected now, not after the first generation.
    keep(out.as_ref(), &mut training)?;
    let pool = threads(arguments.workers)?;
    breed(out.as_ref(), &pool, &mut training, is_quiet)?;
    let champion = pool.install(|| training.champion())?;
    let failed = tell_failures(&training, &champion);
    let first_seed = experiment.seeds.test[0];
    let verdict = Verdict::new(&problem, first_seed, &training, champion)?;
    let report = Report::new(&name_of(path), problem.genome(), &training, &verdict);
    training.record().champion = Some(verdict.recorded(problem.genome()));
    keep(out.as_ref(), &mut training)?;
    if let Some(mut out) = document {
        write_json(&mut out, &report)?;
    } else if !arguments.quiet {
        report.print(&mut terminal::out(), problem.genome(), &verdict)?;
    }
    Ok(Outcome::of(failed == 0))
}

/// Reports failed drives on standard error, because they are not results. Returns the number of failed
/// individuals and test drives.
fn tell_failures(training: &Training<'_>, champion: &Champion) -> usize {
    let bred = training.failures().into_iter();
    let bred = bred.map(|failed| failed.to_string());
    let judged = [
        ("the champion", &champion.held_out),
        ("the baseline (values before training)", &champion.start),
    ];
    let judged = judged.into_iter().flat_map(|(who, runs)| {
        let failures = runs.iter().filter_map(|run| run.as_ref().err());
        failures.map(move |reason| format!("{who}: {reason}; no result"))
    });
    let chosen = champion.failed_finalists.iter();
    let chosen = chosen.map(|reason| format!("a finalist: {reason}; no result"));
    let all: Vec<String> = bred.chain(chosen).chain(judged).collect();
    for failed in all.iter().take(MOST_TOLD) {
        say!("{failed}");
    }
    if all.len() > MOST_TOLD {
        say!(
            "{} more failed; the record has all of them",
            all.len() - MOST_TOLD
        );
    }
    all.len()
}

/// Returns the arguments with the path of the record filled in. If training is resumed, the default is a path
/// beside the experiment.
fn with_record(arguments: &TrainRun, experiment: &Path) -> TrainRun {
    let beside = || experiment.with_file_name(format!("{}.training.json", name_of(experiment)));
    let out = arguments.out.clone();
    TrainRun {
        out: out.or_else(|| arguments.resume.then(beside)),
        ..arguments.clone()
    }
}

/// A problem together with the host of its modules. The host must live longer than the problem, because
/// isolated plugins end with it.
pub(super) struct Prepared {
    problem: Problem,
    _watchdog: Watchdog,
    _host: Host,
}

impl Deref for Prepared {
    type Target = Problem;

    fn deref(&self) -> &Problem {
        &self.problem
    }
}

/// Loads the experiment with its modules and its scenario.
pub(super) fn problem(
    flags: &ExtensionFlags,
    path: &Path,
    experiment: &Experiment,
) -> anyhow::Result<Prepared> {
    let beside = path.parent().unwrap_or(Path::new(""));
    let file = experiment.scenario.as_ref().map(|file| beside.join(file));
    let scenario = file.as_deref().map(load).transpose()?;
    // Plugins and scripts are searched for beside the scenario, or else beside the experiment.
    let place = file.as_deref().unwrap_or(path);
    let wanted = wanted(experiment, scenario.as_ref());
    let host = extensions::open(flags, Some(place), wanted, Notes::Omit)?;
    let problem = Problem::new(experiment, scenario, &host.registry());
    let problem = problem.map_err(|error| extensions::or_cause(error, &host));
    Ok(Prepared {
        problem: problem.with_context(|| format!("cannot train {}", path.display()))?,
        _watchdog: Watchdog::new(&host),
        _host: host,
    })
}

/// Loads the experiment of a record with its modules and its scenario. `folder` is the folder of the
/// experiment; by default, the folder of the record.
pub(super) fn problem_of_record(
    flags: &ExtensionFlags,
    path: &Path,
    folder: Option<&Path>,
    experiment: &Experiment,
) -> anyhow::Result<Prepared> {
    let named = path.file_name().unwrap_or_default();
    let place = folder.map_or_else(|| path.to_owned(), |folder| folder.join(named));
    if let Some(scenario) = &experiment.scenario {
        let file = place.with_file_name(scenario);
        if !file.exists() {
            bail!(
                "{}: the scenario of its experiment is missing: {}; specify the folder of the \
                 experiment with --folder DIR",
                path.display(),
                file.display()
            );
        }
    }
    problem(flags, &place, experiment)
}

/// Returns the modules that an experiment may use.
fn wanted(experiment: &Experiment, scenario: Option<&Scenario>) -> Wanted {
    let mut ids = BTreeSet::new();
    match &experiment.fitness {
        Some(NameOr::Name(name)) => ids.insert(name.clone()),
        Some(NameOr::Own(setting)) => ids.insert(setting.module.clone()),
        None => false,
    };
    if let NameOr::Own(stack) = &experiment.stack {
        let settings = Slot::ALL.into_iter().flat_map(|slot| stack.settings(slot));
        ids.extend(settings.map(|setting| setting.module.clone()));
    }
    ids.extend(scenario.into_iter().flat_map(Scenario::modules));
    Wanted::Ids(ids)
}

/// Whether a training run is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Generations or the final evaluation are still to be done, or the training has not started.
    UnderWay,
    /// The record has a champion, and the stopping rule requires nothing more.
    Finished,
}

/// Starts a training run, or resumes it.
fn begin<'a>(
    arguments: &TrainRun,
    experiment: &'a Experiment,
    problem: &'a Problem,
) -> anyhow::Result<(Training<'a>, State)> {
    if let Some(out) = arguments.out.as_deref().filter(|out| out.exists()) {
        if !arguments.resume {
            bail!(
                "{} already exists; use --resume to continue it, or choose another file for --out",
                out.display()
            );
        }
        let record = load_record(out)?;
        let training = Training::resume(experiment, problem.genome(), problem, &record);
        let training = training.with_context(|| format!("cannot resume {}", out.display()))?;
        let state = match record.champion.is_some() && training.is_over() {
            true => State::Finished,
            false => State::UnderWay,
        };
        return Ok((training, state));
    }
    // A training run that was stopped before its first generation has no record yet, so it starts from the
    // beginning.
    let training = Training::new(experiment, problem.genome(), problem)?;
    Ok((training, State::UnderWay))
}

/// Claims the path of the record.
fn claim(
    arguments: &TrainRun,
    path: &Path,
    experiment: &Experiment,
    out: &Path,
) -> anyhow::Result<Checkpoint> {
    let beside = path.parent().unwrap_or(Path::new(""));
    let file = experiment.scenario.as_ref().map(|file| beside.join(file));
    let place = file.as_deref().unwrap_or(path);
    let read = Inputs::none()
        .file("the experiment", path)
        .files_of("the scenario of the experiment", &file)
        .extensions(&arguments.extensions, Some(place));
    let mut outputs = Outputs::of(read);
    if arguments.json {
        outputs.prints("--json");
    }
    outputs.checkpoint("--out", out, Kind::Record)
}

/// Runs generations until a stopping rule applies.
fn breed(
    record: Option<&Checkpoint>,
    pool: &rayon::ThreadPool,
    training: &mut Training<'_>,
    is_quiet: bool,
) -> anyhow::Result<()> {
    let mut out = terminal::out();
    if !is_quiet {
        writeln!(out, "{}", report::HEAD)?;
        for report in training.reports() {
            report::print_generation(&mut out, report)?;
        }
    }
    while !training.is_over() {
        if progress::interrupted() {
            let done = training.reports().len();
            let advice = match record {
                Some(record) => {
                    format!("resume it with --resume --out {}", record.path().display())
                }
                None => "start it with --out to make it resumable".into(),
            };
            bail!("interrupted after {done} generations; {advice}");
        }
        pool.install(|| training.step());
        if let Some(reason) = training.failed_from_the_start() {
            forget(record)?;
            bail!(
                "every individual of the first generation failed, so there is nothing to breed from: {reason}"
            );
        }
        keep(record, training)?;
        if let Some(report) = training.reports().last().filter(|_| !is_quiet) {
            report::print_generation(&mut out, report)?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Removes the record of a training run without results.
fn forget(record: Option<&Checkpoint>) -> anyhow::Result<()> {
    let Some(out) = record.map(Checkpoint::path).filter(|out| out.exists()) else {
        return Ok(());
    };
    // The record contains no generation, because the first one is recorded only if at least one individual
    // was evaluated.
    std::fs::remove_file(out).with_context(|| format!("cannot remove {}", out.display()))
}

/// Writes the record if one is requested.
fn keep(record: Option<&Checkpoint>, training: &mut Training<'_>) -> anyhow::Result<()> {
    let Some(record) = record else {
        return Ok(());
    };
    record.write(training.record().to_text().as_bytes())
}
