//! Scenario files: read, written, read again, checked, driven.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::scenario(bytes));
