//! Conversion of scenarios from and to other formats.
//!
//! The only supported format is OpenStreetMap, which can be imported ([`osm`]).

pub mod osm;
