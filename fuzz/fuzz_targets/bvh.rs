//! Fuzz target for recorded motion.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::bvh(bytes));
