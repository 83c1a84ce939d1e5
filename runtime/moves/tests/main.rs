//! Tests of move trees through the public interface.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod automatic;
mod collisions;
mod courses;
mod files;
mod presets;
mod replayed;
mod search;
