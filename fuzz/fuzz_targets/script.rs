//! Fuzz target for behaviour scripts, which are compiled with a trial of every handler.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| roadwright_fuzz::script(bytes));
