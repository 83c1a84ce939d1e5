//! Conversion of scenarios from and to other formats.
//!
//! So far, OpenStreetMap can be imported ([`osm`]).

pub mod osm;
