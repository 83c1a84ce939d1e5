//! Fuzz target for training experiments.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::experiment(bytes));
