//! `roadwright bench verify`: checks whether results match their experiment.

use super::UntilInterrupted;
use super::course::{find, open, read, read_unchecked, threads};
use super::course_arguments::Verify;
use crate::commands::sampling::{Plan, Sampling};
use crate::commands::{keep_stdout, signature, write_json};
use crate::terminal;
use crate::watchdog::Watchdog;
use crate::{Outcome, progress};
use anyhow::bail;
use roadwright_training::experiment::{Difference, NotChecked, Results, RunSeries, not_checked};
use roadwright_training::{RunRow, Setup};
use serde::Serialize;
use std::io::Write;

/// Result of a verification.
#[derive(Serialize)]
struct Verified {
    /// Version of the file format.
    version: u32,
    /// Whether the hashes match the rows and the file.
    hash_fits: bool,
    /// Number of rows in the results.
    rows: usize,
    /// Seeds of the rows that were run again.
    seeds: Vec<u64>,
    #[serde(flatten)]
    sampling: Sampling,
    /// Errors in the header, in the hashes, and at the end of the rows.
    wrong: Vec<String>,
    /// Rows whose results differ when they are run again.
    different: Vec<Different>,
    /// Fields that were not checked.
    not_checked: Vec<Unchecked>,
}

#[derive(Serialize)]
struct Different {
    written: RunRow,
    found: RunRow,
}

#[derive(Serialize)]
struct Unchecked {
    field: &'static str,
    why: &'static str,
}

impl From<Difference> for Different {
    fn from(difference: Difference) -> Self {
        let Difference { written, found } = difference;
        Self { written, found }
    }
}

impl From<NotChecked> for Unchecked {
    fn from(not_checked: NotChecked) -> Self {
        let NotChecked { field, why } = not_checked;
        Self { field, why }
    }
}

pub(super) fn verify(arguments: &Verify) -> anyhow::Result<Outcome> {
    if let Some(text) = super::race::text_of_try(arguments) {
        return super::race::verify(arguments, &text);
    }
    let results = read_unchecked(&arguments.results)?;
    if results.rows.is_empty() {
        bail!(
            "{}: there are no rows to verify",
            arguments.results.display()
        );
    }
    let head = &results.head;
    let course = find(&head.course)?;
    let setup: Setup = head.setup.clone();
    let against = arguments.against.as_deref().map(read).transpose()?;
    if head.stop.looks_at_differences() && against.is_none() {
        bail!("the stopping rule compares with other results; specify them with --against");
    }
    let document = arguments.common.json.then(keep_stdout).transpose()?;
    let host = open(&arguments.common, &course, &setup)?;
    let _watchdog = Watchdog::new(&host);
    let modules = host.registry();
    let experiment = RunSeries {
        course: &course,
        setup: &setup,
        modules: &modules,
        first_seed: head.first_seed,
        stop: head.stop,
        against: against.as_ref(),
        level: head.level,
        threads: threads(arguments.common.threads),
    };
    let mut wrong = experiment.check(&results)?;
    if let Some(key) = &arguments.signed_by {
        wrong.extend(signature::check(&arguments.results, key)?);
    }
    let plan = Plan {
        count: results.rows.len(),
        at_once: experiment.threads,
        is_quiet: arguments.common.json,
    };
    let mut different = Vec::new();
    let (sampling, rows) = plan.work_through(&arguments.sample, &mut |rows| {
        different.extend(experiment.run_again(&results, rows, &UntilInterrupted)?);
        Ok(!progress::interrupted())
    })?;
    if progress::interrupted() {
        bail!("interrupted");
    }
    different.sort_by_key(|difference: &Difference| difference.written.seed);
    let unchecked = not_checked(&results);
    let verified = Verified {
        version: results.version(),
        hash_fits: results.check_hash().is_ok(),
        rows: results.rows.len(),
        seeds: rows.iter().map(|&row| results.rows[row].seed).collect(),
        sampling,
        wrong,
        different: different.into_iter().map(Different::from).collect(),
        not_checked: unchecked.into_iter().map(Unchecked::from).collect(),
    };
    match document {
        Some(mut out) => write_json(&mut *out, &verified)?,
        None => print(&results, &verified)?,
    }
    let is_sound = verified.wrong.is_empty() && verified.different.is_empty();
    Ok(Outcome::of(is_sound))
}

/// Describes a row: its fitness and hash, or the reason why it failed.
fn in_words(row: &RunRow) -> String {
    match (row.fitness, &row.failed) {
        (Some(fitness), None) => format!("fitness {fitness} and hash {}", row.hash),
        (_, reason) => reason.clone().unwrap_or_else(|| "no fitness".into()),
    }
}

fn print(results: &Results, verified: &Verified) -> anyhow::Result<()> {
    let mut out = terminal::out();
    verified
        .sampling
        .print(&mut out, &results.head.course, "rows")?;
    for wrong in &verified.wrong {
        writeln!(out, "wrong: {wrong}")?;
    }
    for Different { written, found } in &verified.different {
        writeln!(
            out,
            "seed {}: {} in the file, {} now",
            written.seed,
            in_words(written),
            in_words(found)
        )?;
    }
    if verified.different.is_empty() {
        writeln!(out, "all of them are reproduced bit for bit")?;
    }
    if !results.is_sealed() {
        writeln!(
            out,
            "version 1 of the format: the hash covers the rows only; course, drivers, fitness, fitness direction \
             and end of the experiment were recomputed"
        )?;
    }
    for Unchecked { field, why } in &verified.not_checked {
        writeln!(out, "not checked: {field} ({why})")?;
    }
    out.flush()?;
    Ok(())
}
