//! Random steps at which worlds are saved. `ROADWRIGHT_SEED` sets the seed.

use std::fmt::{self, Display};

/// Maximum time before a save, s.
const LONGEST: f64 = 20.0;
/// Duration of the comparison after a save, s.
const LATER: f64 = 5.0;

/// A stream of random numbers (SplitMix64).
pub(crate) struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    /// Creates the stream with the seed from the environment.
    pub(crate) fn from_environment() -> Self {
        let seed = roadwright_testing::seed(1);
        Self { seed, state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns the step at which a world is saved (at least 1), and the number of further steps that are
    /// compared.
    pub(crate) fn moments(&mut self, dt: f64) -> (u64, u64) {
        let steps = |seconds: f64| (seconds / dt).round() as u64;
        (1 + self.next() % steps(LONGEST), steps(LATER))
    }
}

impl Display for Random {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{}={}", roadwright_testing::SEED, self.seed)
    }
}
