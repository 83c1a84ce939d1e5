//! The data exchanged between Roadwright and its modules: plain records ([`records`]) and the binary
//! interface of compiled plugins ([`abi`]).
//!
//! `include/roadwright_plugin.h` is the same interface in C; both sides assert the same layouts.

pub mod abi;
pub mod records;

pub use records::*;
