//! Transcendental functions with bit-identical results on every processor.
//!
//! The standard library calls the platform's math library, which selects instructions for the
//! current processor, so the last bit of its results may differ between machines. Code that can
//! affect a simulation calls these functions instead; a lint rejects the others.

use std::f64::consts::{PI, TAU};

/// Sine and cosine of an angle in radians.
#[inline]
pub fn sin_cos(angle: f64) -> (f64, f64) {
    libm::sincos(angle)
}

/// Sine of an angle in radians.
#[inline]
pub fn sin(angle: f64) -> f64 {
    libm::sin(angle)
}

/// Cosine of an angle in radians.
#[inline]
pub fn cos(angle: f64) -> f64 {
    libm::cos(angle)
}

/// Tangent of an angle in radians.
#[inline]
pub fn tan(angle: f64) -> f64 {
    libm::tan(angle)
}

/// Angle whose tangent is `x`, in radians, in (-pi/2, pi/2).
#[inline]
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// Angle of the vector (x, y) from +x, in radians, in (-pi, pi].
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// Angle whose cosine is `x`, in radians; `x` is clamped to [-1, 1].
#[inline]
pub fn acos(x: f64) -> f64 {
    libm::acos(x.clamp(-1.0, 1.0))
}

/// Angle whose sine is `x`, in radians; `x` is clamped to [-1, 1].
#[inline]
pub fn asin(x: f64) -> f64 {
    libm::asin(x.clamp(-1.0, 1.0))
}

/// `x` to the power of `y`.
#[inline]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Natural exponential.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm of a positive number.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Inverse hyperbolic tangent of `x` in (-1, 1).
#[inline]
pub fn atanh(x: f64) -> f64 {
    libm::atanh(x)
}

/// Hyperbolic sine.
#[inline]
pub fn sinh(x: f64) -> f64 {
    libm::sinh(x)
}

/// Hyperbolic cosine.
#[inline]
pub fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}

/// Returns the complementary error function.
#[inline]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// Natural logarithm of the gamma function of a positive number.
#[inline]
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Normalises an angle to (-pi, pi].
#[inline]
pub fn wrap_angle(angle: f64) -> f64 {
    // Nearly all angles are already in range. They are returned unchanged, to the last bit.
    if angle > -PI && angle <= PI {
        return angle;
    }
    let wrapped = angle - TAU * ((angle + PI) / TAU).floor();
    // The floor maps pi to -pi, but the interval is closed at its upper end.
    if wrapped <= -PI {
        wrapped + TAU
    } else {
        wrapped
    }
}

/// Scrambles a 64-bit value (the finaliser of SplitMix64, [Steele 2014]).
///
/// This is the only source of randomness below the editor. Every stream applies this function to a counter,
/// so a draw never depends on the number of other draws.
#[inline]
pub fn mix64(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A named stream of random numbers, derived from (seed, stream name, index).
///
/// ```
/// use roadwright_geometry::math::Stream;
/// let mut first = Stream::new(7, "spawn", 3);
/// let mut again = Stream::new(7, "spawn", 3);
/// assert_eq!(first.next_u64(), again.next_u64());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// Creates the stream for a purpose (`name`) and an owner (`index`) within a run.
    pub fn new(seed: u64, name: &str, index: u64) -> Self {
        // Hashes the name byte by byte and then the owner, so that every stream of a run starts at
        // a different state. Adding an owner or a name does not affect the other streams.
        let named = name
            .bytes()
            .fold(mix64(seed), |hash, byte| mix64(hash ^ u64::from(byte)));
        Self {
            state: mix64(named ^ mix64(index)),
        }
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        // The step of the counter is odd, so that the counter visits all 2^64 states. It is the
        // golden ratio of the range, so that successive states are evenly spread.
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix64(self.state)
    }

    /// Returns a uniform number in [0, 1).
    pub fn next_unit(&mut self) -> f64 {
        // Uses the 53 bits of a double's mantissa: every result is a multiple of 2^-53, and no
        // result is 1.
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a uniform number in [low, high).
    pub fn next_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next_unit()
    }

    /// Returns a uniform index below `count`; 0 if `count` is 0.
    pub fn next_index(&mut self, count: usize) -> usize {
        // Multiply-shift keeps the bias below 2^-32 for the counts that occur here.
        ((u128::from(self.next_u64()) * count as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_angles_lie_in_the_half_open_interval() {
        for (angle, expected) in [(0.0, 0.0), (PI, PI), (-PI, PI), (3.0 * PI, PI), (TAU, 0.0)] {
            assert!((wrap_angle(angle) - expected).abs() < 1e-12, "{angle}");
        }
        assert!((wrap_angle(-3.5 * PI) - 0.5 * PI).abs() < 1e-12);
    }

    #[test]
    fn streams_of_other_names_and_owners_differ() {
        let draw = |seed, name, index| Stream::new(seed, name, index).next_u64();
        let first = draw(1, "a", 1);
        assert_ne!(first, draw(2, "a", 1));
        assert_ne!(first, draw(1, "b", 1));
        assert_ne!(first, draw(1, "a", 2));
    }

    #[test]
    fn uniform_draws_fill_their_interval() {
        let mut stream = Stream::new(0, "uniform", 0);
        let mean = (0..10_000).map(|_| stream.next_unit()).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02);
        assert!((0..1000).all(|_| stream.next_index(7) < 7));
    }
}
