//! Fuzz target for scenario files, which are read, written, read again, checked and driven.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::scenario(bytes));
