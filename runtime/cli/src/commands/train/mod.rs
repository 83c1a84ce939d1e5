//! `roadwright train`: trains parameters of modules, and evaluates them on unseen courses.

mod arguments;
mod check;
mod compare;
mod compression;
mod front;
mod preset;
mod report;
mod run;
mod study;
mod verify;

pub(crate) use arguments::Train;
pub(crate) use check::check_experiment;

use crate::Outcome;
use crate::terminal::{self, say};
use anyhow::{Context, bail};
use arguments::TrainVerb;
use roadwright_training::genetic::experiment::{self, Experiment};
use roadwright_training::genetic::record::{self, Record};
use std::io::Write;
use std::path::Path;

pub(crate) fn train(arguments: &Train) -> anyhow::Result<Outcome> {
    match &arguments.verb {
        Some(TrainVerb::Study(study)) => study::study(study),
        Some(TrainVerb::Compare(compare)) => compare::compare(compare),
        Some(TrainVerb::Front(arguments)) => front::front(arguments),
        Some(TrainVerb::Apply(apply)) => preset::apply(apply),
        Some(TrainVerb::Verify(arguments)) => verify::verify(arguments),
        None if arguments.run.schema => {
            write!(terminal::out(), "{}", experiment::schema())?;
            Ok(Outcome::Fine)
        }
        None => run::run(&arguments.run),
    }
}

/// Whether a file name has the extension of an experiment.
pub(crate) fn is_experiment(path: &Path) -> bool {
    path.to_string_lossy().ends_with(SUFFIX)
}

const SUFFIX: &str = ".experiment.json";

/// Reads an experiment.
pub(crate) fn load_experiment(path: &Path) -> anyhow::Result<Experiment> {
    let text = roadwright_files::read_text(path, experiment::LARGEST);
    let text = text.with_context(|| format!("cannot open the experiment {}", path.display()))?;
    Experiment::from_text(&text).map_err(|error| {
        let place = match (error.line, error.column) {
            (0, _) => path.display().to_string(),
            (line, 0) => format!("{}:{line}", path.display()),
            (line, column) => format!("{}:{line}:{column}", path.display()),
        };
        anyhow::anyhow!("cannot open the experiment: {place}: {error}")
    })
}

/// Returns the name of an experiment, which is its file name without the extension.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned()
}

fn load_record(path: &Path) -> anyhow::Result<Record> {
    let text = roadwright_files::read_text(path, record::LARGEST);
    let text = text.with_context(|| format!("cannot open the record {}", path.display()))?;
    Record::from_text(&text).with_context(|| format!("cannot use the record {}", path.display()))
}

/// Warns about parts of a record that its hash does not cover.
fn tell_version(record: &Record, path: &Path) {
    if !record.is_sealed() {
        let path = path.display();
        say!(
            "{path}: the hash of this older record does not cover the champion; `roadwright train \
             verify {path}` repeats the drives"
        );
    }
}

/// Creates the thread pool of a command.
fn threads(workers: Option<usize>) -> anyhow::Result<rayon::ThreadPool> {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.unwrap_or_else(all);
    if !(1..=256).contains(&workers) {
        bail!("--workers {workers} is out of range: expected 1 to 256");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
    pool.context("cannot start the threads")
}
