//! Tests of the command line.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod absurd;
mod architecture;
mod bench;
mod bundles;
mod claims;
mod common;
mod courses;
mod documentation;
mod evil;
mod failed_runs;
mod forgery;
mod gains;
mod kept_inputs;
mod measurements;
mod misbehaviour;
mod modules;
#[cfg(unix)]
mod moves;
mod outputs;
mod plan;
mod plugins;
mod program;
mod roundabouts;
mod save;
#[path = "../../scenario/tests/common/mod.rs"]
mod scenarios;
mod terminal;
mod tidy;
mod towns;
mod training;
mod vehicles;
mod wording;
mod worker;
mod world_access;
