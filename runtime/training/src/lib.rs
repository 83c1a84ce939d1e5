//! Experiments and training: how well modules drive, with error bars, and how they learn to do better.

pub mod genetic;
