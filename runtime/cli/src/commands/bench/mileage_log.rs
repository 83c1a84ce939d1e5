//! `bench run --log`: what each drive had after every 10 m, as a table that goes on with its results.

use super::course::table_of;
use super::course_arguments::Run;
use anyhow::{Context, bail};
use roadwright_training::MileageMark;
use roadwright_training::experiment::Results;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const HEAD: &str = "seed,agent,driver,distance_m,time_s,fitness\n";
/// Largest table that is gone on with, bytes.
const LARGEST: u64 = 512 * roadwright_files::MEBIBYTE;

/// The table, and where it is written to.
pub(super) struct MileageLog {
    path: PathBuf,
    text: Mutex<String>,
}

impl MileageLog {
    /// A new table, or the one that belongs to earlier results: of runs that they do not have, nothing is kept.
    pub(super) fn open(arguments: &Run, earlier: Option<&Results>) -> anyhow::Result<Option<Self>> {
        let Some(path) = &arguments.log else {
            return Ok(None);
        };
        if let Some(out) = &arguments.out {
            let taken = [out.as_path(), &table_of(out)].map(std::path::absolute);
            let own = std::path::absolute(path)?;
            if taken.into_iter().flatten().any(|taken| taken == own) {
                bail!(
                    "the results of --out are written to {}: name another --log",
                    path.display()
                );
            }
        }
        let done = earlier.and_then(|results| results.rows.last());
        let text = match done {
            None => HEAD.to_owned(),
            Some(last) => known(path, last.seed)?,
        };
        let log = Self {
            path: path.clone(),
            text: Mutex::new(text),
        };
        // A place that cannot be written to is found now.
        log.write()?;
        Ok(Some(log))
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

    pub(super) fn write(&self) -> anyhow::Result<()> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let written = roadwright_files::write(&self.path, text.as_bytes());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// The rows of a table up to a seed.
fn known(path: &Path, last: u64) -> anyhow::Result<String> {
    let at = || format!("cannot go on with {}", path.display());
    let text = roadwright_files::read_text(path, LARGEST).with_context(at)?;
    let Some(rows) = text.strip_prefix(HEAD) else {
        bail!("{} is no mileage log: name another --log", path.display());
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
