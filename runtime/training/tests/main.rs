//! Tests of training and measurement.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bays;
mod follow_path;
mod forest_rigid;
mod forest_training;
mod manoeuvres;
mod open_ground;
mod runs;
mod tracks;
