//! The table that an experiment leaves behind, as a file that is checked when it is read.

use super::stop::{Stop, Stopped};
use crate::course::Setup;
use crate::measure::Row;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use thiserror::Error;

const FORMAT: &str = "roadwright-results";
const VERSION: u32 = 1;

/// What an experiment is: everything that its rows depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Name of the course, or of the file of a scenario of one's own.
    pub course: String,
    /// Hash of the course without its drivers, 16 hexadecimal digits: results with the same one are compared.
    /// Empty in results of versions that did not write it.
    #[serde(default)]
    pub course_hash: String,
    /// Whether the course is a scenario of one's own.
    pub is_own: bool,
    /// Hash of the scenario of the first seed, 16 hexadecimal digits.
    pub scenario_hash: String,
    /// Who drives, with what.
    pub setup: Setup,
    /// Modules from outside, with their builds; built-in ones are those of the version.
    pub modules: Vec<String>,
    /// Id of the fitness.
    pub fitness: String,
    /// Whether a lower one is better.
    pub lower_is_better: bool,
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// What ends the experiment.
    pub stop: Stop,
    /// Level of intervals.
    pub level: f64,
    /// Version of the program.
    pub roadwright: String,
}

/// An experiment with its rows so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    format: String,
    version: u32,
    /// What it is.
    pub head: Head,
    /// On what kind of machine it was made; rows do not depend on it.
    pub machine: String,
    /// Why it ended; absent while it is not finished.
    pub stopped: Option<Stopped>,
    /// Hash of all rows, 16 hexadecimal digits.
    pub hash: String,
    /// One row for each seed, in their order.
    pub rows: Vec<Row>,
}

/// Why a file is no results.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// It is not written as results are.
    #[error("no results that can be read: {0}")]
    Syntax(#[from] serde_json::Error),
    /// It is something else.
    #[error("format is \"{0}\"; expected \"{FORMAT}\"")]
    Format(String),
    /// A newer program has made it.
    #[error("version {0} is newer than {VERSION}, which this program knows: use a newer one")]
    Newer(u32),
    /// The stopping rule cannot be.
    #[error("head.stop: {0}")]
    Stop(#[from] super::StopError),
    /// A row does not fit the others.
    #[error("row {number} (seed {seed}): {what}")]
    Row {
        /// Its number, from 1.
        number: usize,
        /// Its seed.
        seed: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// Somebody has changed the rows.
    #[error(
        "the rows have the hash {found} and not {written}, as the file says: they were changed"
    )]
    Changed {
        /// The hash of the rows.
        found: String,
        /// The one in the file.
        written: String,
    },
}

impl Results {
    /// Rows that were made otherwise, as results: all that were planned.
    pub fn of_rows(head: Head, rows: Vec<Row>) -> Self {
        let mut results = Self::new(head);
        results.rows = rows;
        results.stopped = Some(Stopped::Runs);
        results.seal();
        results
    }

    /// Results without a row yet.
    pub(super) fn new(head: Head) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            head,
            machine: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            stopped: None,
            hash: hash_of(&[]),
            rows: Vec::new(),
        }
    }

    /// Notes the hash of the rows as they are.
    pub(super) fn seal(&mut self) {
        self.hash = hash_of(&self.rows);
    }

    /// Reads results, also some whose rows do not have the hash that they say.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(text: &str) -> Result<Self, ResultsError> {
        let results: Self = serde_json::from_str(text)?;
        if results.format != FORMAT {
            return Err(ResultsError::Format(results.format));
        }
        if results.version > VERSION {
            return Err(ResultsError::Newer(results.version));
        }
        results.head.stop.check()?;
        for (index, row) in results.rows.iter().enumerate() {
            let wrong = |what| ResultsError::Row {
                number: index + 1,
                seed: row.seed,
                what,
            };
            results.check_row(index, row).map_err(wrong)?;
        }
        Ok(results)
    }

    fn check_row(&self, index: usize, row: &Row) -> Result<(), &'static str> {
        let ended = row
            .ends
            .values()
            .fold(0usize, |sum, &n| sum.saturating_add(n));
        let complete = row.ends.iter().filter(|(end, _)| end.is_complete());
        let complete = complete.fold(0usize, |sum, (_, &n)| sum.saturating_add(n));
        // Wrapping, since a file may hold any first seed, and reading it must not panic.
        if row.seed != self.head.first_seed.wrapping_add(index as u64) {
            Err("its seed is not the one after that of the row before")
        } else if row.drives == 0 || ended != row.drives {
            Err("there are not as many ends as drives")
        } else if complete != row.completed {
            Err("there are not as many completed drives as ends that complete one")
        } else if !row.fitness.is_finite() || !row.time.is_finite() {
            Err("its fitness or time is no number")
        } else {
            Ok(())
        }
    }

    /// Whether the rows are those that the hash was made of.
    ///
    /// # Errors
    /// If they are not.
    pub fn check_hash(&self) -> Result<(), ResultsError> {
        let found = hash_of(&self.rows);
        if found == self.hash {
            return Ok(());
        }
        Err(ResultsError::Changed {
            found,
            written: self.hash.clone(),
        })
    }

    /// The results as a file, with the hash of the rows as they are.
    pub fn to_text(&self) -> String {
        let rows: Vec<String> = self.rows.iter().map(json).collect();
        let lines = [
            ("format", json(&self.format)),
            ("version", json(&self.version)),
            ("head", json(&self.head)),
            ("machine", json(&self.machine)),
            ("stopped", json(&self.stopped)),
            ("hash", json(&hash_of(&self.rows))),
            // A row stands on a line of its own, so that files can be compared.
            ("rows", format!("[\n{}\n]", rows.join(",\n"))),
        ];
        let lines = lines.map(|(key, value)| format!("\"{key}\": {value}"));
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }

    /// The rows as a table with one line for each.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "course,scenario_hash,roadwright,seed,drives,completed,fitness,time_s,ends,hash\n",
        );
        let head = &self.head;
        // Names of files may hold anything: quoted as RFC 4180 says.
        let course = format!("\"{}\"", head.course.replace('"', "\"\""));
        for row in &self.rows {
            let ends: Vec<String> = (row.ends.iter())
                .map(|(end, count)| format!("{end}:{count}"))
                .collect();
            let (hash, version) = (&head.scenario_hash, &head.roadwright);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{course},{hash},{version},{},{},{},{},{},{},{}",
                row.seed,
                row.drives,
                row.completed,
                row.fitness,
                row.time,
                ends.join(" "),
                row.hash
            );
        }
        text
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers, texts and lists can be written")
}

/// The hash of rows, 16 hexadecimal digits.
fn hash_of(rows: &[Row]) -> String {
    digits(json(&rows).as_bytes())
}

/// The first 16 hexadecimal digits of the hash of some bytes.
pub(crate) fn digits(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}
