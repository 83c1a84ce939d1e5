//! The data that Roadwright exchanges with its modules: plain records ([`records`]) and the binary interface
//! of compiled plugins ([`abi`]).
//!
//! `include/roadwright_plugin.h` is the same interface in C. Both assert the same layouts.

pub mod abi;
pub mod records;

pub use records::*;
