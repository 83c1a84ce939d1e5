//! Results files of experiments, which are checked when they are read.

use super::stop::{Stop, Stopped};
use crate::course::Setup;
use crate::measure::RunRow;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use thiserror::Error;

const FORMAT: &str = "roadwright-results";
/// Version of the format that is written. Files of version 1 have no seal, and their hash only covers the
/// rows.
const VERSION: u32 = 2;

/// The definition of an experiment, on which its rows depend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Name of the course, or of the file with the user's scenario.
    pub course: String,
    /// Hash of the course without its drivers, 16 hexadecimal digits. Results can be compared if their hashes
    /// are equal. Empty in results of versions that did not write it.
    #[serde(default)]
    pub course_hash: String,
    /// Whether the course is a user's scenario.
    pub is_own: bool,
    /// Hash of the scenario of the first seed, 16 hexadecimal digits.
    pub scenario_hash: String,
    /// Vehicles, drivers and fitness functions.
    pub setup: Setup,
    /// External modules with their builds. Built-in modules are identified by the version.
    pub modules: Vec<String>,
    /// Id of the fitness module.
    pub fitness: String,
    /// Whether a lower fitness is better.
    pub lower_is_better: bool,
    /// The first seed. The others are consecutive.
    pub first_seed: u64,
    /// The stopping rule.
    pub stop: Stop,
    /// Confidence level of intervals.
    pub level: f64,
    /// Version of the program that made the rows.
    pub roadwright: String,
}

/// Results of an experiment: its definition and its current rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    format: String,
    version: u32,
    /// Definition of the experiment.
    pub head: Head,
    /// Description of the machine on which the rows were computed. It does not affect the rows.
    pub machine: String,
    /// Reason why the experiment ended; absent if it has not ended.
    pub stopped: Option<Stopped>,
    /// Hash of all rows, 16 hexadecimal digits.
    pub hash: String,
    /// Hash of the whole file, including the rows, 64 hexadecimal digits. Empty in files of version 1.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seal: String,
    /// One row per seed, in order.
    pub rows: Vec<RunRow>,
}

/// A run without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedRun {
    /// Seed of the run.
    pub seed: u64,
    /// Module that failed, time, and reason.
    pub reason: String,
}

impl std::fmt::Display for FailedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seed {}: {}; no result", self.seed, self.reason)
    }
}

/// Reason why a file cannot be read as results.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// The text is not valid for a results file. The parser's error is not the source of this
    /// error, because its message would be repeated.
    #[error("cannot be read as results: {0}")]
    Syntax(String),
    /// The file is of another kind.
    #[error("this is {0}; expected a results file")]
    Other(&'static str),
    /// The file has an unknown format.
    #[error("the format is \"{0}\"; expected a results file")]
    Format(String),
    /// The file was written by a newer version of the program.
    #[error(
        "version {0} is newer than {VERSION}, the newest supported version; update Roadwright to \
         read it"
    )]
    Newer(u32),
    /// This version does not exist.
    #[error("format version {0} does not exist: the file was changed")]
    NoVersion(u32),
    /// The file has a seal, although files of its version have none.
    #[error(
        "the file has a seal, but version 1 files have none: the version was changed after the \
         file was written"
    )]
    SealOfLater,
    /// The stopping rule is invalid. The rule's error is not the source of this error, because its message
    /// would be repeated.
    #[error("head.stop: {0}")]
    Stop(String),
    /// A row does not fit the others.
    #[error("row {number} (seed {seed}): {what}")]
    Row {
        /// Number of the row, starting at 1.
        number: usize,
        /// Seed of the row.
        seed: u64,
        /// Description of the problem.
        what: &'static str,
    },
    /// The rows were changed after they were written.
    #[error("the rows have the hash {found}, but the file states {written}: the rows were changed")]
    Changed {
        /// The computed hash of the rows.
        found: String,
        /// The hash in the file.
        written: String,
    },
    /// The file was changed after it was written.
    #[error("the seal does not match: the file was changed after it was written")]
    Seal,
}

impl Results {
    /// Creates results from existing rows that cover the whole plan.
    pub fn of_rows(head: Head, rows: Vec<RunRow>) -> Self {
        let mut results = Self::new(head);
        results.rows = rows;
        results.stopped = Some(Stopped::Runs);
        results.seal();
        results
    }

    /// Creates results without rows.
    pub(super) fn new(head: Head) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            head,
            machine: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            stopped: None,
            hash: hash_of(&[]),
            seal: String::new(),
            rows: Vec::new(),
        }
    }

    /// Computes the hashes of the rows and of the file, in the current version of the format.
    pub(super) fn seal(&mut self) {
        self.version = VERSION;
        self.hash = hash_of(&self.rows);
        self.seal = self.seal_of();
    }

    /// Computes the hash of everything in the file, 64 hexadecimal digits. A field that is added to the
    /// format must be skipped when it has its default value. Otherwise, the seals of earlier files would no
    /// longer match.
    fn seal_of(&self) -> String {
        let all = (
            self.version,
            &self.head,
            &self.machine,
            self.stopped,
            &self.rows,
        );
        blake3::hash(json(&all).as_bytes()).to_hex().to_string()
    }

    /// Returns the version of the format in which the file was written.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Whether a hash covers the whole file. In files of version 1, the hash only covers the rows.
    pub fn is_sealed(&self) -> bool {
        self.version >= 2
    }

    /// Fitness values of the rows that succeeded, in the order of seeds.
    pub fn fitnesses(&self) -> Vec<f64> {
        self.rows.iter().filter_map(|row| row.fitness).collect()
    }

    /// Returns the failed rows in the order of seeds, with their reasons.
    pub fn failures(&self) -> Vec<FailedRun> {
        let failed = self.rows.iter().filter_map(|row| {
            let reason = row.failed.clone()?;
            Some(FailedRun {
                seed: row.seed,
                reason,
            })
        });
        failed.collect()
    }

    /// Reads results, even if their rows do not match the hash.
    ///
    /// # Errors
    /// If the results cannot be read. The error describes the problem.
    pub fn parse(text: &str) -> Result<Self, ResultsError> {
        /// Fields that are parsed before all others, because parsing a file of another format as results
        /// could fail with an unhelpful message.
        #[derive(Deserialize)]
        struct Header {
            format: Option<String>,
        }
        let syntax = |error: serde_json::Error| ResultsError::Syntax(error.to_string());
        let header: Header = serde_json::from_str(text).map_err(syntax)?;
        if let Some(format) = header.format.filter(|format| format != FORMAT) {
            return Err(match format.as_str() {
                roadwright_scenario::file::FORMAT => ResultsError::Other("a scenario"),
                crate::genetic::record::FORMAT => ResultsError::Other("a training record"),
                crate::genetic::experiment::FORMAT => ResultsError::Other("an experiment"),
                _ => ResultsError::Format(format),
            });
        }
        let results: Self = serde_json::from_str(text).map_err(syntax)?;
        if results.version > VERSION {
            return Err(ResultsError::Newer(results.version));
        }
        if results.version == 0 {
            return Err(ResultsError::NoVersion(0));
        }
        if !results.is_sealed() && !results.seal.is_empty() {
            return Err(ResultsError::SealOfLater);
        }
        let stop = results.head.stop.check();
        stop.map_err(|error| ResultsError::Stop(error.to_string()))?;
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

    fn check_row(&self, index: usize, row: &RunRow) -> Result<(), &'static str> {
        let ended = row
            .ends
            .values()
            .fold(0usize, |sum, &n| sum.saturating_add(n));
        let complete = row.ends.iter().filter(|(end, _)| end.is_complete());
        let complete = complete.fold(0usize, |sum, (_, &n)| sum.saturating_add(n));
        // Uses wrapping addition, because a file may contain any first seed, and reading it must not panic.
        if row.seed != self.head.first_seed.wrapping_add(index as u64) {
            Err("its seed does not follow that of the previous row")
        } else if let Some(reason) = &row.failed {
            let is_bare = *row == RunRow::failed(row.seed, reason.clone());
            let has_figures = "it failed but has values";
            is_bare.then_some(()).ok_or(has_figures)
        } else if row.drives == 0 || ended != row.drives {
            Err("the number of ends differs from the number of drives")
        } else if complete != row.completed {
            Err("the number of completed drives does not match the list of ends")
        } else if !row.fitness.is_some_and(f64::is_finite) || !row.time.is_finite() {
            Err("its fitness or time is not a finite number")
        } else {
            Ok(())
        }
    }

    /// Checks the hashes of the rows and the file.
    ///
    /// # Errors
    /// If a hash does not match.
    pub fn check_hash(&self) -> Result<(), ResultsError> {
        let found = hash_of(&self.rows);
        if found != self.hash {
            return Err(ResultsError::Changed {
                found,
                written: self.hash.clone(),
            });
        }
        if self.is_sealed() && self.seal != self.seal_of() {
            return Err(ResultsError::Seal);
        }
        Ok(())
    }

    /// Returns the text of the results file, without changing the hashes.
    pub fn to_text(&self) -> String {
        let mut sealed = self.clone();
        sealed.seal();
        let rows: Vec<String> = sealed.rows.iter().map(json).collect();
        let lines = [
            ("format", json(&sealed.format)),
            ("version", json(&sealed.version)),
            ("head", json(&sealed.head)),
            ("machine", json(&sealed.machine)),
            ("stopped", json(&sealed.stopped)),
            ("hash", json(&sealed.hash)),
            ("seal", json(&sealed.seal)),
            // One row per line, so that files can be compared.
            ("rows", format!("[\n{}\n]", rows.join(",\n"))),
        ];
        let lines = lines.map(|(key, value)| format!("\"{key}\": {value}"));
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }

    /// Returns the rows as a table with one line per row.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "course,scenario_hash,roadwright,seed,drives,completed,fitness,time_s,ends,hash,failed\n",
        );
        let head = &self.head;
        let course = quoted(&head.course);
        for row in &self.rows {
            let ends: Vec<String> = (row.ends.iter())
                .map(|(end, count)| format!("{end}:{count}"))
                .collect();
            let (hash, version) = (&head.scenario_hash, &head.roadwright);
            // A failed row has no values.
            let number = |number: Option<f64>| number.map_or_else(String::new, |n| n.to_string());
            let (fitness, time) = (number(row.fitness), number(row.fitness.map(|_| row.time)));
            let failed = row.failed.as_deref().map_or_else(String::new, quoted);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{course},{hash},{version},{},{},{},{fitness},{time},{},{},{failed}",
                row.seed,
                row.drives,
                row.completed,
                ends.join(" "),
                row.hash
            );
        }
        text
    }
}

/// Quotes a string as a field of a table as RFC 4180 specifies.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers, strings and lists can be serialized")
}

/// Returns the hash of rows, 16 hexadecimal digits.
fn hash_of(rows: &[RunRow]) -> String {
    digits(json(&rows).as_bytes())
}

/// Returns the first 16 hexadecimal digits of the hash of some bytes.
pub(crate) fn digits(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}
