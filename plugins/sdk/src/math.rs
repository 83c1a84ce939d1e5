//! Functions that give the same bits on every processor, unlike those of the standard library.

pub use libm::{acos, asin, atan, atan2, cos, exp, hypot, log, pow, sin, tan};
