//! Linear-quadratic control of discrete systems: small matrices, Riccati recursion and batch
//! solution.
//!
//! A [`Plant`] is x(k+1) = A x(k) + B u(k) + E w(k), where w is known in advance, such as the
//! curvature of the path ahead. [`Cost`] weights states, controls and the final state. Three
//! solutions give the same controls where several apply:
//!
//! | solution | result |
//! | --- | --- |
//! | [`Recursion`] | gains of each step of a finite horizon, by the Riccati recursion |
//! | [`Regulator`] | the constant gain of an infinite horizon |
//! | [`Batch`] | all controls of a finite horizon by one system of equations |
//!
//! Pollithy describes all three. Its printed recursion transposes A in some places, and its batch
//! matrices pair the k-th power of A with the controls of the next step and omit the final weight.
//! Here, x(k) follows from the k-th power of A, and the final weight is applied.
//!
//! [`QuadraticProgram`] adds limits to a batch.

mod batch;
mod eigenvalues;
mod matrix;
mod quadratic_program;
mod riccati;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests;

pub use batch::{Batch, LONGEST_BATCH};
pub use eigenvalues::{Pole, poles};
pub use matrix::Matrix;
pub use quadratic_program::{NoMinimum, QuadraticProgram};
pub use riccati::{Cost, Gains, LinearError, Plant, Recursion, Regulator};
