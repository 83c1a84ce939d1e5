//! Behaviour scripts: compiled, with every handler tried out.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::script(bytes));
