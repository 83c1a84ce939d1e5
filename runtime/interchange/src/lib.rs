//! Scenarios from and to other formats.
//!
//! So far: OpenStreetMap in ([`osm`]).

pub mod osm;
