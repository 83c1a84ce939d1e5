//! Tests of imports.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod land;
mod merged_junctions;
mod merges;
mod osm;
mod overlaps;
mod roundabouts;
mod towns;
