//! Tests of the editor.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod arranging;
mod bays;
mod common;
mod comparing;
mod damaged;
mod doors;
mod experiment;
mod fuzz;
mod green_wave;
mod groups;
mod idle;
mod input_order;
mod joining;
mod junction_rules;
mod junction_tools;
mod junctions;
mod kinds;
mod lane_rule;
mod modules;
mod moves;
mod open_ground;
mod opening;
mod overpass;
mod past;
mod pictures;
mod race;
mod scan;
#[path = "../../runtime/scenario/tests/common/mod.rs"]
mod scenarios;
mod selection;
mod stories;
mod timeline;
mod workshop;
