//! Tests of the guarantees of the simulation.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod banks;
mod branches;
mod characters;
mod common;
mod coordinators;
mod coupling;
mod determinism;
mod driving;
mod extracts;
mod followers;
mod grip;
mod grip_ahead;
mod ground_map;
mod hands;
mod heat_map;
mod heights;
mod junctions;
mod lane_ends;
mod levels;
mod live_edits;
#[allow(unreachable_pub, reason = "the fuzz targets are programs of their own")]
#[path = "../../../fuzz/src/made_up.rs"]
mod made_up;
mod made_up_saves;
mod mechanics;
mod modules;
mod move_trees;
mod needs;
mod open_ground;
mod overlapping_roads;
mod parking;
mod pedals;
mod people;
mod planned_route;
mod random_junctions;
mod random_networks;
#[path = "common/random_steps.rs"]
mod random_steps;
mod rigid;
mod rigid_trailers;
mod roads_and_ground;
mod save;
#[path = "../../scenario/tests/common/mod.rs"]
mod scenarios;
mod scores;
mod shipped;
#[allow(dead_code, reason = "the program's own `main` is not called here")]
#[path = "../examples/shipped_scenarios.rs"]
mod shipped_scenarios;
mod sliding;
mod slopes;
mod solid_lines;
mod standing;
mod statistics;
mod tracks;
mod trailers;
mod vehicles;
mod via_routes;
mod waiting;
mod wheels;
