//! Tests of scenarios.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod checks;
mod common;
mod conflict_zones;
mod edits;
mod files;
mod green_wave;
mod groups;
mod incremental;
mod joints;
mod lane_change;
mod mirror;
mod operations;
mod outlines;
mod overrides;
mod quantities;
mod random_junctions;
mod reachability;
mod red_amber;
mod salvage;
mod slip_roads;
mod vehicle_files;
mod via_rules;
