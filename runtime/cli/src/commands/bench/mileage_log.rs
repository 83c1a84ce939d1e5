//! `roadwright bench run --log`: a table with the state of each drive after every 10 m. A resumed experiment
//! appends to it.

use super::course_arguments::RunCourse;
use anyhow::{Context, bail};
use roadwright_training::MileageMark;
use roadwright_training::experiment::Results;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const HEAD: &str = "seed,agent,driver,distance_m,time_s,fitness\n";
/// Maximum size of a table that is continued, bytes.
const LARGEST: u64 = 512 * roadwright_files::MEBIBYTE;

/// The current rows of the table.
pub(super) struct MileageLog {
    text: Mutex<String>,
}

impl MileageLog {
    /// Creates a table, or continues the table of earlier results. Rows of runs that are not in those results
    /// are dropped.
    pub(super) fn open(
        arguments: &RunCourse,
        earlier: Option<&Results>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(path) = &arguments.log else {
            return Ok(None);
        };
        let done = earlier.and_then(|results| results.rows.last());
        let text = match done {
            None => HEAD.to_owned(),
            Some(last) => known(path, last.seed)?,
        };
        Ok(Some(Self {
            text: Mutex::new(text),
        }))
    }

    pub(super) fn add(&self, seed: u64, marks: &[MileageMark]) {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        for mark in marks {
            let MileageMark {
                agent,
                driver,
                distance,
                time,
                fitness,
            } = mark;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{seed},{agent},{driver},{distance},{time},{fitness}");
        }
    }

    /// Returns the current table.
    pub(super) fn text(&self) -> String {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.clone()
    }
}

/// Returns the rows of a table up to and including the rows of seed `last`.
fn known(path: &Path, last: u64) -> anyhow::Result<String> {
    let at = || format!("cannot continue {}", path.display());
    let text = roadwright_files::read_text(path, LARGEST).with_context(at)?;
    let Some(rows) = text.strip_prefix(HEAD) else {
        bail!(
            "{} is not a mileage log; choose another file for --log",
            path.display()
        );
    };
    let seed_of = |row: &str| {
        row.split(',')
            .next()
            .and_then(|seed| seed.parse::<u64>().ok())
    };
    let kept = rows
        .lines()
        .filter(|row| seed_of(row).is_some_and(|seed| seed <= last));
    Ok(kept.fold(HEAD.to_owned(), |text, row| text + row + "\n"))
}
