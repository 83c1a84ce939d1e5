//! Experiments and training: how well modules drive, with error bars, and how they learn to do better.
//!
//! A [`Course`] makes a scenario of a seed and says when its drives end and how they are rated.
//! [`measure`] runs one and gives a [`RunRow`]; the same course, setup and seed give the same row, bit for
//! bit. An [`experiment::RunSeries`] repeats that over seeds until it has seen enough, and
//! [`statistics`] put error bars to it. [`genetic`] breeds the parameters of modules on courses.

pub mod course;
pub mod experiment;
pub mod genetic;
mod measure;
pub mod statistics;

pub use course::{Course, CourseError, End, Ends, Setup, UNSEEN_SEED};
pub use measure::{
    DriveRow, Handling, Measured, MileageMark, RunRow, measure, measure_logged, measure_while,
};
