//! Experiments and training: experiments measure how well modules drive, with error bars, and training
//! improves their parameters.
//!
//! A [`Course`] creates a scenario from a seed and defines when its drives end and how they are scored.
//! [`measure`] runs a course and returns a [`RunRow`]. The same course, setup and seed give bit-identical
//! rows. An [`experiment::RunSeries`] repeats this over seeds until the result is precise enough, and
//! [`statistics`] adds error bars. [`genetic`] breeds the parameters of modules on courses.

pub mod course;
pub mod experiment;
pub mod genetic;
mod measure;
pub mod statistics;

pub use course::{Course, CourseError, End, Ends, Setup, UNSEEN_SEED};
pub use measure::{
    ControlChange, DriveRow, Handling, Judge, Measured, MileageMark, PersonTry, RunRow, TryError,
    TryOutcome, measure, measure_driven, measure_logged, measure_while,
};
