//! Tests of external modules.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod allocations;
mod cancelled;
mod common;
mod faults;
mod ground;
mod interface;
mod law;
mod limits;
#[path = "../../simulation/tests/modules/mod.rs"]
mod modules;
mod needs;
mod over_ground;
mod pedals;
mod places;
#[path = "../../simulation/tests/common/random_steps.rs"]
mod random_steps;
mod reload;
mod road;
mod save;
#[path = "../../scenario/tests/common/mod.rs"]
mod scenarios;
mod scripts;
mod signals;
mod wanted;
mod warnings;
mod wishes;
