//! `roadwright bench verify`: whether the rows of results come out again.

use super::UntilInterrupted;
use super::course::{find, open, read_unchecked, threads};
use super::course_arguments::Verify;
use crate::commands::{keep_stdout, write_json};
use crate::terminal;
use crate::{Outcome, progress};
use anyhow::bail;
use roadwright_training::experiment::{Experiment, Results, sample};
use roadwright_training::{Row, Setup};
use serde::Serialize;
use std::io::Write;

/// What came of it.
#[derive(Serialize)]
struct Verified {
    /// Whether the rows are those that their hash was made of.
    hash_fits: bool,
    /// Rows in the results.
    rows: usize,
    /// Seeds of those that were run again.
    seeds: Vec<u64>,
    /// Those that came out otherwise.
    different: Vec<Different>,
}

#[derive(Serialize)]
struct Different {
    written: Row,
    found: Row,
}

pub(super) fn verify(arguments: &Verify) -> anyhow::Result<Outcome> {
    let results = read_unchecked(&arguments.results)?;
    let head = &results.head;
    let course = find(&head.course)?;
    let setup: Setup = head.setup.clone();
    let document = arguments.common.json.then(keep_stdout).transpose()?;
    let host = open(&arguments.common, &course, &setup)?;
    let modules = host.registry();
    let experiment = Experiment {
        course: &course,
        setup: &setup,
        modules: &modules,
        first_seed: head.first_seed,
        stop: head.stop,
        against: None,
        level: head.level,
        threads: threads(arguments.common.threads),
    };
    let rows = sample(&results, arguments.all);
    let different = experiment.verify(&results, &rows, &UntilInterrupted)?;
    if progress::interrupted() {
        bail!("interrupted");
    }
    let verified = Verified {
        hash_fits: results.check_hash().is_ok(),
        rows: results.rows.len(),
        seeds: rows.iter().map(|&row| results.rows[row].seed).collect(),
        different: (different.into_iter())
            .map(|d| Different {
                written: d.written,
                found: d.found,
            })
            .collect(),
    };
    match document {
        Some(mut out) => write_json(&mut *out, &verified)?,
        None => print(&results, &verified)?,
    }
    let is_sound = verified.hash_fits && verified.different.is_empty();
    Ok(if is_sound {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

fn print(results: &Results, verified: &Verified) -> anyhow::Result<()> {
    let mut out = terminal::out();
    let (count, all) = (verified.seeds.len(), verified.rows);
    writeln!(
        out,
        "{}: {count} of {all} rows run again",
        results.head.course
    )?;
    if !verified.hash_fits {
        writeln!(
            out,
            "the rows were changed: they do not have the hash in the file"
        )?;
    }
    for Different { written, found } in &verified.different {
        writeln!(
            out,
            "seed {}: fitness {} and hash {} in the file, {} and {} now",
            written.seed, written.fitness, written.hash, found.fitness, found.hash
        )?;
    }
    if verified.different.is_empty() {
        writeln!(out, "all of them came out the same, bit for bit")?;
    }
    out.flush()?;
    Ok(())
}
