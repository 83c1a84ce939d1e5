//! Fuzz target for vehicle files.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::vehicle(bytes));
