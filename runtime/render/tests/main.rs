//! Tests of pictures.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bays;
mod bridges;
mod ledges;
mod left_hand;
mod look;
mod paint;
