//! Fuzz target for OpenStreetMap XML, which is read, imported, and driven as a scenario.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::osm_xml(bytes));
