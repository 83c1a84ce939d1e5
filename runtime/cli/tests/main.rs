//! What the program promises.
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
mod kept_inputs;
mod measurements;
mod misbehaviour;
mod outputs;
mod plugins;
mod program;
#[allow(unreachable_pub, reason = "the fuzz targets are programs of their own")]
#[path = "../../../fuzz/src/lib.rs"]
mod readers;
mod save;
#[path = "../../scenario/tests/common/mod.rs"]
mod scenarios;
mod terminal;
mod tidy;
mod training;
mod vehicles;
mod worker;
mod world_access;
