//! Fuzz target for saves with modified parts.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::save(bytes));
