//! The data that Roadwright exchanges with its modules: plain records ([`records`]), the binary interface of
//! compiled plugins ([`abi`]), and a description of both ([`description`]).
//!
//! `include/roadwright_plugin.h` is the same interface in C. Both assert the same layouts.

pub mod abi;
pub mod description;
pub mod records;

pub use records::*;
