//! Fuzz target for results of experiments.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::results(bytes));
