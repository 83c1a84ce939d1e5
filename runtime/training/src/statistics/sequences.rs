//! Confidence sequences: intervals that remain valid under monitoring. At a level of 95 %, all
//! intervals of an experiment contain the mean in 95 % of all experiments, so an experiment may
//! stop as soon as the intervals are narrow enough.
//!
//! An interval for a fixed number of values must not be monitored: if an experiment stops as soon
//! as the interval looks good, the interval misses the mean far more often than claimed.

use super::intervals::{Interval, Method};
use super::moments::Moments;
use roadwright_geometry::math::ln;

/// Asymptotic confidence sequence for a mean ([Waudby-Smith 2024], theorem 2.2). It needs many
/// values, as Student's t does for values that are not normal. When monitored from the 30th value
/// onwards, it misses the mean of a normal distribution in 3 % of all experiments, and the mean of
/// an exponential distribution in 6.5 %. Monitoring from the 100th value onwards reduces the latter
/// to 3.6 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsymptoticSequence {
    level: f64,
    /// Square of `rho`, which determines where the sequence is tightest.
    rho_squared: f64,
}

impl AsymptoticSequence {
    /// Creates a sequence with a confidence level of 0 to 1 that is tightest at the planned number of values.
    pub fn new(level: f64, planned: u64) -> Self {
        // This choice minimises the width at that number.
        let twice = -2.0 * ln(1.0 - level);
        Self {
            level,
            rho_squared: (twice + ln(twice) + 1.0) / planned.max(1) as f64,
        }
    }

    /// Returns the interval for the added values; `None` for fewer than two values.
    pub fn interval(&self, moments: &Moments) -> Option<Interval> {
        if moments.count() < 2 {
            return None;
        }
        let n = moments.count() as f64;
        // The theorem uses standard deviations. With standard errors, as here, the denominator has one factor
        // of `n` less.
        let grown = n * self.rho_squared + 1.0;
        let bound = 2.0 * grown / (n * self.rho_squared) * ln(grown.sqrt() / (1.0 - self.level));
        let reach = for_few(bound.sqrt(), n - 1.0) * moments.standard_error();
        Some(Interval {
            low: moments.mean() - reach,
            high: moments.mean() + reach,
            method: Method::AsymptoticSequence,
            level: self.level,
        })
    }
}

/// Converts a number of standard errors of the normal distribution to that of Student's t distribution with
/// the same tail ([Abramowitz 1964], 26.7.5). This matters for few values, because their standard deviation
/// is also an estimate.
fn for_few(z: f64, freedom: f64) -> f64 {
    let squared = z * z;
    let first = (squared + 1.0) / (4.0 * freedom);
    let second = (5.0 * squared * squared + 16.0 * squared + 3.0) / (96.0 * freedom * freedom);
    z * (1.0 + first + second)
}

/// Number of equal intervals between the tested means, which cover the range from 0 to 1.
const PLACES: usize = 1000;
/// Maximum fraction of the capital that a single bet risks.
const RISK: f64 = 0.5;

/// Confidence sequence for the mean of values between 0 and 1, based on bets against every possible mean
/// ([Waudby-Smith 2023], section 4). If the capital of a bet against a mean grows large, this mean is
/// probably not the true one.
#[derive(Debug, Clone, PartialEq)]
pub struct BettingSequence {
    level: f64,
    /// The remaining possible means, with the capital of the bets on higher and on lower values.
    means: Vec<Bet>,
    /// Distance between the possible means.
    spacing: f64,
    count: u64,
    sum: f64,
    /// Sum of the squared distances from the running mean.
    squares: f64,
}

/// Capital of two bets against a possible mean: that values are higher, and that they are lower. Both start
/// with 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bet {
    mean: f64,
    on_more: f64,
    on_less: f64,
}

impl BettingSequence {
    /// Creates a sequence with a confidence level of 0 to 1.
    pub fn new(level: f64) -> Self {
        let spacing = 1.0 / PLACES as f64;
        let means = (0..=PLACES).map(|place| place as f64 * spacing);
        Self::against(level, means, spacing)
    }

    fn against(level: f64, means: impl Iterator<Item = f64>, spacing: f64) -> Self {
        let bet = |mean| Bet {
            mean,
            on_more: 1.0,
            on_less: 1.0,
        };
        Self {
            level,
            means: means.map(bet).collect(),
            spacing,
            count: 0,
            sum: 0.0,
            squares: 0.0,
        }
    }

    /// Adds a value, clamped to the range 0 to 1.
    pub fn push(&mut self, value: f64) {
        let value = value.clamp(0.0, 1.0);
        // The stake must not depend on the value. Otherwise, bets on the true mean could gain on average, and
        // the confidence level would not hold.
        let stake = self.stake();
        for bet in &mut self.means {
            // The worst value for the bet on higher values is 0, which costs `stake · mean` of the capital,
            // and the worst value for the other bet is 1. With this limit, at least half of the capital
            // remains, because a bettor could not recover from 0. At a mean of 0 or 1, the limit is infinite,
            // but then one of the two bets cannot lose.
            bet.on_more *= 1.0 + stake.min(RISK / bet.mean) * (value - bet.mean);
            bet.on_less *= 1.0 - stake.min(RISK / (1.0 - bet.mean)) * (value - bet.mean);
        }
        self.count += 1;
        self.sum += value;
        let mean = (0.5 + self.sum) / (self.count + 1) as f64;
        self.squares += (value - mean) * (value - mean);
        self.drop_losers();
    }

    /// Returns the stake on the next value, which depends only on earlier values.
    fn stake(&self) -> f64 {
        let next = (self.count + 1) as f64;
        // Computed as if there had been one more value before all others, at a distance of 0.5 from the mean.
        let variance = (0.25 + self.squares) / next;
        (2.0 * ln(2.0 / (1.0 - self.level)) / (variance * next * ln(next + 1.0))).sqrt()
    }

    /// Removes the possible means that are rejected by the capital of their bets. If all remaining means
    /// would be rejected, none is removed, so that the interval is never empty.
    fn drop_losers(&mut self) {
        // Fair bets reach this capital with a probability of at most 1 - level, however long the monitoring
        // lasts.
        let rich = 1.0 / (1.0 - self.level);
        // Each of the two bettors has half of the capital.
        let is_left = |bet: &Bet| 0.5 * bet.on_more.max(bet.on_less) < rich;
        if self.means.iter().any(is_left) {
            self.means.retain(is_left);
        }
    }

    /// Returns the interval for the added values.
    pub fn interval(&self) -> Interval {
        let ends = self.means.first().zip(self.means.last());
        let (low, high) = ends.map_or((0.0, 1.0), |(first, last)| (first.mean, last.mean));
        Interval {
            // The true mean may be between two of the tested means.
            low: (low - self.spacing).max(0.0),
            high: (high + self.spacing).min(1.0),
            method: Method::BettingSequence,
            level: self.level,
        }
    }
}

#[cfg(test)]
impl BettingSequence {
    /// Creates a sequence that tests a single mean.
    pub(super) fn against_one(level: f64, mean: f64) -> Self {
        Self::against(level, std::iter::once(mean), 0.0)
    }

    /// Whether the capital of the bets against the first remaining mean is large enough to reject this mean.
    pub(super) fn someone_is_rich(&self) -> bool {
        let bet = self.means[0];
        0.5 * bet.on_more.max(bet.on_less) >= 1.0 / (1.0 - self.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(values: impl Iterator<Item = f64>) -> BettingSequence {
        let mut sequence = BettingSequence::new(0.95);
        values.for_each(|value| sequence.push(value));
        sequence
    }

    #[test]
    fn more_values_make_it_narrower_and_never_empty() {
        let none = BettingSequence::new(0.95).interval();
        assert_eq!((none.low, none.high), (0.0, 1.0));
        let mut last = none;
        let mut sequence = BettingSequence::new(0.95);
        for number in 0..400 {
            sequence.push(f64::from(number % 2));
            let now = sequence.interval();
            assert!(now.low >= last.low && now.high <= last.high);
            last = now;
        }
        assert!(last.contains(0.5) && last.width() < 0.25, "{last:?}");
        // An adversarial case: first only values of 1, and then only values of 0.
        let turned = watched((0..400).map(|n| f64::from(n < 200))).interval();
        assert!(turned.low <= turned.high, "{turned:?}");
    }

    #[test]
    fn all_and_none_have_intervals() {
        let all = watched(std::iter::repeat_n(1.0, 100)).interval();
        assert!(all.high == 1.0 && all.low > 0.9, "{all:?}");
        let none = watched(std::iter::repeat_n(0.0, 100)).interval();
        assert!(none.low == 0.0 && none.high < 0.1, "{none:?}");
        let absurd = watched([f64::INFINITY, -1e300, 7.0].into_iter()).interval();
        assert!(absurd.contains(0.5));
    }

    #[test]
    fn the_asymptotic_sequence_is_wider_than_students_t_and_shrinks() {
        use crate::statistics::student_t;
        let sequence = AsymptoticSequence::new(0.95, 100);
        let values: Vec<f64> = (0..1000).map(|n| f64::from(n % 10)).collect();
        let at = |count: usize| {
            let moments = Moments::of(&values[..count]);
            let ours = sequence.interval(&moments).unwrap().width();
            (ours, ours / student_t(&moments, 0.95).unwrap().width())
        };
        assert!(at(1000).0 < at(100).0);
        // Compared with an interval that must not be monitored, the sequence is tightest at the planned
        // number.
        let (early, planned, late) = (at(10).1, at(100).1, at(1000).1);
        assert!(planned < 1.6 && planned > 1.2, "{planned}");
        assert!(
            early > planned && late > planned,
            "{early} {planned} {late}"
        );
        assert_eq!(sequence.interval(&Moments::of(&[1.0])), None);
    }
}
