//! Fuzz target for plugin files, which are inspected without running them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::plugin_file(bytes));
