//! A user's attempt on a course, stored with all control changes so that it can be repeated.

use super::{Measured, RunRow, measure_driven};
use crate::course::{Course, CourseError, Setup};
use roadwright_agent::Registry;
use roadwright_simulation::{HandControls, SteeringLock};
use serde::{Deserialize, Serialize};

/// Value of the key `format` in the files of attempts.
const FORMAT: &str = "roadwright-try";
/// Newest version of the format. Version 2 added the full steering lock. Attempts without it are
/// written as version 1, which earlier versions of the program can read.
const VERSION: u32 = 2;
/// Maximum number of control changes in a file: more than an hour at 100 Hz.
const MOST_CHANGES: usize = 400_000;

/// A change of the controls before a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ControlChange {
    /// Number of steps before the change.
    pub step: u64,
    /// Pedals, -1 to 1.
    pub pedals: f64,
    /// Steering wheel, -1 (right) to 1 (left).
    pub steering: f64,
    /// Maximum angle that the steering wheel commands.
    pub lock: SteeringLock,
}

impl ControlChange {
    /// Returns the controls after the change.
    pub fn controls(&self) -> HandControls {
        HandControls {
            pedals: self.pedals,
            steering: self.steering,
            lock: self.lock,
        }
    }
}

/// A user's attempt: a recorded drive on a course, with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonTry {
    /// Name of the course, or path of a user's scenario.
    pub course: String,
    /// Hash of the course without its drivers, 16 hexadecimal digits.
    pub course_hash: String,
    /// Vehicles and modules.
    pub setup: Setup,
    /// Seed of the course.
    pub seed: u64,
    /// The control changes, in the order of steps.
    pub controls: Vec<ControlChange>,
    /// Result of the drive.
    pub row: RunRow,
    /// Version of the program that recorded the attempt.
    pub roadwright: String,
}

/// Reason why a file cannot be read as an attempt.
#[derive(Debug, thiserror::Error)]
pub enum TryError {
    /// The text is not valid for the file of an attempt.
    #[error("cannot be read as a recorded attempt: {0}")]
    Syntax(String),
    /// The file has an unknown format or version.
    #[error(
        "the format is \"{format}\", version {version}; expected {FORMAT}, version 1 to {VERSION}"
    )]
    Format {
        /// The format that the file states.
        format: String,
        /// The version that the file states.
        version: u32,
    },
    /// A control change is out of range.
    #[error(
        "controls[{0}]: steps must be in ascending order, and pedals and steering from -1 to 1"
    )]
    Control(usize),
    /// There are too many control changes.
    #[error("controls: there are more than {MOST_CHANGES} changes")]
    TooMany,
}

/// Result of repeating an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct TryOutcome {
    /// The row of the repeated drive.
    pub row: RunRow,
    /// Reasons why the attempt was not reproduced; empty if it was.
    pub wrong: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    course: String,
    course_hash: String,
    setup: Setup,
    seed: u64,
    roadwright: String,
    row: RunRow,
    controls: Vec<Written>,
}

/// A control change as it is stored in files: step, pedals and steering, and the lock if it is the
/// full one.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Limited(u64, f64, f64),
    Full(u64, f64, f64, FullLock),
}

/// The word that marks the full lock in files.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FullLock {
    FullLock,
}

impl Written {
    fn of(change: &ControlChange) -> Self {
        let ControlChange {
            step,
            pedals,
            steering,
            lock,
        } = *change;
        match lock {
            SteeringLock::Limited => Self::Limited(step, pedals, steering),
            SteeringLock::Full => Self::Full(step, pedals, steering, FullLock::FullLock),
        }
    }

    fn change(&self) -> ControlChange {
        let (step, pedals, steering, lock) = match *self {
            Self::Limited(step, pedals, steering) => {
                (step, pedals, steering, SteeringLock::Limited)
            }
            Self::Full(step, pedals, steering, FullLock::FullLock) => {
                (step, pedals, steering, SteeringLock::Full)
            }
        };
        ControlChange {
            step,
            pedals,
            steering,
            lock,
        }
    }
}

impl PersonTry {
    /// Drives a course with the given control changes.
    ///
    /// # Errors
    /// If the course cannot be driven.
    pub fn drive(
        course: &Course,
        setup: &Setup,
        modules: &Registry,
        seed: u64,
        controls: Vec<ControlChange>,
    ) -> Result<Self, CourseError> {
        let Measured { row, .. } = measure_driven(course, setup, modules, seed, &controls)?;
        Ok(Self {
            course: course.name.clone(),
            course_hash: course.hash()?,
            setup: setup.clone(),
            seed,
            controls,
            row,
            roadwright: env!("CARGO_PKG_VERSION").into(),
        })
    }

    /// Repeats the attempt and compares the results.
    ///
    /// # Errors
    /// If the course cannot be driven.
    pub fn drive_again(
        &self,
        course: &Course,
        modules: &Registry,
    ) -> Result<TryOutcome, CourseError> {
        let mut wrong = Vec::new();
        let hash = course.hash()?;
        if hash != self.course_hash {
            wrong.push(format!(
                "the course has the hash {hash}, but the attempt was driven on a course with hash {}",
                self.course_hash
            ));
        }
        let driven = measure_driven(course, &self.setup, modules, self.seed, &self.controls)?;
        if driven.row != self.row {
            wrong.push(format!(
                "the result in the file is {}, but the repeated drive gives {}",
                words(&self.row),
                words(&driven.row)
            ));
        }
        Ok(TryOutcome {
            row: driven.row,
            wrong,
        })
    }

    /// Whether a text is an attempt. Only the key `format` is checked.
    pub fn is_try(text: &str) -> bool {
        #[derive(Deserialize)]
        struct Header {
            format: Option<String>,
        }
        let header: Option<Header> = serde_json::from_str(text).ok();
        header.is_some_and(|header| header.format.as_deref() == Some(FORMAT))
    }

    /// Parses a recorded attempt.
    ///
    /// # Errors
    /// If the text is not a valid attempt.
    pub fn from_text(text: &str) -> Result<Self, TryError> {
        let document: Document =
            serde_json::from_str(text).map_err(|error| TryError::Syntax(error.to_string()))?;
        let Document {
            format, version, ..
        } = &document;
        if format != FORMAT || !(1..=VERSION).contains(version) {
            return Err(TryError::Format {
                format: format.clone(),
                version: *version,
            });
        }
        if document.controls.len() > MOST_CHANGES {
            return Err(TryError::TooMany);
        }
        let mut controls: Vec<ControlChange> = Vec::new();
        for (number, written) in document.controls.iter().enumerate() {
            let change = written.change();
            let falls = (controls.last()).is_some_and(|before| before.step > change.step);
            let is_position = |value: f64| (-1.0..=1.0).contains(&value);
            if falls || !is_position(change.pedals) || !is_position(change.steering) {
                return Err(TryError::Control(number));
            }
            controls.push(change);
        }
        Ok(Self {
            course: document.course,
            course_hash: document.course_hash,
            setup: document.setup,
            seed: document.seed,
            controls,
            row: document.row,
            roadwright: document.roadwright,
        })
    }

    /// Returns the text of the attempt's file.
    pub fn to_text(&self) -> String {
        let is_full = |change: &ControlChange| change.lock == SteeringLock::Full;
        let version = if self.controls.iter().any(is_full) {
            VERSION
        } else {
            1
        };
        let document = Document {
            format: FORMAT.into(),
            version,
            course: self.course.clone(),
            course_hash: self.course_hash.clone(),
            setup: self.setup.clone(),
            seed: self.seed,
            roadwright: self.roadwright.clone(),
            row: self.row.clone(),
            controls: self.controls.iter().map(Written::of).collect(),
        };
        // Serialising plain data cannot fail.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

/// Describes the result of a drive.
fn words(row: &RunRow) -> String {
    let ends: Vec<String> = (row.ends.iter())
        .map(|(end, count)| format!("{end} {count}"))
        .collect();
    format!(
        "{} in {:.2} s, hash {}",
        ends.join(", "),
        row.time,
        row.hash
    )
}
