//! `roadwright train verify`: checks whether a training record matches its experiment.

use super::arguments::Verify;
use super::run::problem_of_record;
use super::{load_record, tell_version, threads};
use crate::commands::sampling::{Plan, Sampling};
use crate::commands::{keep_stdout, signature, write_json};
use crate::{Outcome, progress, terminal};
use anyhow::{Context, bail};
use roadwright_training::genetic::record::{Record, RecordError};
use roadwright_training::genetic::{TrainingError, Verification};
use serde::Serialize;
use std::io::Write;

/// Result of a verification.
#[derive(Serialize)]
struct Verified {
    /// Version of the record's format.
    version: u32,
    /// Generations that were run again, numbered from 1.
    generations: Vec<usize>,
    #[serde(flatten)]
    sampling: Option<Sampling>,
    /// Errors at the end of the record and in its champion that are found without driving.
    wrong: Vec<String>,
    /// Differences found by driving again.
    different: Vec<String>,
    /// Number of individuals that the user struck out. These interventions cannot be derived from the
    /// experiment.
    struck_out: usize,
    /// Names of fields that were not checked.
    not_checked: Vec<&'static str>,
}

/// Field with the description of the experiment. It has no effect on the training.
const ABOUT: &str = "experiment.about";
/// Field with the builds of modules. Older versions of the program did not write it.
const MODULES: &str = "modules";

/// Returns the fields of a record that are not checked by repeating the training.
fn not_checked(record: &Record) -> Vec<&'static str> {
    let builds = record.modules.is_none().then_some(MODULES);
    [ABOUT].into_iter().chain(builds).collect()
}

pub(super) fn verify(arguments: &Verify) -> anyhow::Result<Outcome> {
    let document = arguments.json.then(keep_stdout).transpose()?;
    let record = load_record(&arguments.record)?;
    let ours = env!("CARGO_PKG_VERSION");
    if record.is_sealed() && record.roadwright != ours {
        bail!(
            "{}: written by version {} of roadwright, but this is {ours}; other versions may drive differently",
            arguments.record.display(),
            record.roadwright
        );
    }
    tell_version(&record, &arguments.record);
    let experiment = &record.experiment;
    let (path, folder) = (&arguments.record, arguments.folder.as_deref());
    let problem = problem_of_record(&arguments.extensions, path, folder, experiment)?;
    let verification = Verification::new(experiment, problem.genome(), &*problem, &record);
    let mut verified = match verification {
        Ok(verification) => drive(arguments, &record, &verification)?,
        // Genes that do not follow from the scores are a finding. Other errors mean a different experiment.
        Err(TrainingError::Record(error @ RecordError::Generation { .. })) => Verified {
            wrong: vec![error.to_string()],
            ..Verified::new(&record)
        },
        Err(error) => {
            let at = || arguments.record.display().to_string();
            return Err(error).with_context(at);
        }
    };
    if let Some(key) = &arguments.signed_by {
        verified
            .wrong
            .extend(signature::check(&arguments.record, key)?);
    }
    match document {
        Some(mut out) => write_json(&mut out, &verified)?,
        None => verified.print(&mut terminal::out(), arguments)?,
    }
    let is_sound = verified.wrong.is_empty() && verified.different.is_empty();
    Ok(Outcome::of(is_sound))
}

/// Drives some generations and the champion again.
fn drive(
    arguments: &Verify,
    record: &Record,
    verification: &Verification<'_>,
) -> anyhow::Result<Verified> {
    let pool = threads(arguments.workers)?;
    let wrong = verification.check();
    progress::catch_interrupt();
    // The candidates of a generation share the threads, so generations run one after another.
    let plan = Plan {
        count: record.generations.len(),
        at_once: 1,
        is_quiet: arguments.json,
    };
    let mut different = Vec::new();
    let (sampling, rows) = plan.work_through(&arguments.sample, &mut |rows| {
        different.extend(pool.install(|| verification.run_again(rows)));
        Ok(!progress::interrupted())
    })?;
    if progress::interrupted() {
        bail!("interrupted");
    }
    different.extend(pool.install(|| verification.judge_again())?);
    Ok(Verified {
        generations: rows.into_iter().map(|row| row + 1).collect(),
        sampling: Some(sampling),
        wrong,
        different,
        ..Verified::new(record)
    })
}

impl Verified {
    /// Creates a result without findings.
    fn new(record: &Record) -> Self {
        Self {
            version: record.version,
            generations: Vec::new(),
            sampling: None,
            wrong: Vec::new(),
            different: Vec::new(),
            struck_out: record.struck_out(),
            not_checked: not_checked(record),
        }
    }

    fn print(&self, out: &mut dyn Write, arguments: &Verify) -> std::io::Result<()> {
        if let Some(sampling) = &self.sampling {
            let name = arguments.record.display().to_string();
            sampling.print(out, &name, "generations")?;
        }
        for wrong in &self.wrong {
            writeln!(out, "wrong: {wrong}")?;
        }
        for different in &self.different {
            writeln!(out, "{different}")?;
        }
        if self.wrong.is_empty() && self.different.is_empty() {
            writeln!(
                out,
                "all of them and the champion are reproduced bit for bit"
            )?;
        }
        if self.struck_out > 0 {
            writeln!(
                out,
                "individuals struck out by hand: {}; rerunning the experiment without the record \
                 will not reproduce the champion",
                self.struck_out
            )?;
        }
        for field in &self.not_checked {
            let why = match *field {
                MODULES => "the record does not state which module builds it was made with",
                _ => "the field is free text",
            };
            writeln!(out, "not checked: {field} ({why})")?;
        }
        out.flush()
    }
}
