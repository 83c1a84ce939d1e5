//! Fuzz target for bundles and their manifests.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::bundle(bytes));
