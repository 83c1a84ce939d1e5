//! What Roadwright and its modules exchange: plain records ([`records`]) and the binary interface
//! of compiled plugins ([`abi`]).
//!
//! `include/roadwright_plugin.h` says the same in C; both sides assert the same layouts.

pub mod abi;
pub mod records;

pub use records::*;
