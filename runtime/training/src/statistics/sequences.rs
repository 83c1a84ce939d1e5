//! Intervals that stay valid while one watches: at 95 % they hold the mean at all times together in
//! 95 % of all experiments, so one may stop when they are narrow enough.
//!
//! Watching an interval for a fixed number of values and stopping when it looks good misses the mean
//! far more often than it says.

use super::intervals::{Interval, Method};
use super::moments::Moments;
use roadwright_geometry::math::ln;

/// Intervals of a mean of many values [Waudby-Smith 2024], theorem 2.2. They are asymptotic, as
/// Student's t is for values that are not normal: watched from 30 values on they miss normal means in
/// 3 % of all experiments, but those of an exponential law in 6.5 %; from 100 on in 3.6 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AsymptoticSequence {
    level: f64,
    /// Where the sequence is tightest: its `rho` squared.
    rho_squared: f64,
}

impl AsymptoticSequence {
    /// A sequence of a level, 0 to 1, that is tightest at a planned number of values.
    pub fn new(level: f64, planned: u64) -> Self {
        // The optimum of the width at that number.
        let twice = -2.0 * ln(1.0 - level);
        Self {
            level,
            rho_squared: (twice + ln(twice) + 1.0) / planned.max(1) as f64,
        }
    }

    /// The interval of the values so far; `None` of fewer than two.
    pub fn interval(&self, moments: &Moments) -> Option<Interval> {
        if moments.count() < 2 {
            return None;
        }
        let n = moments.count() as f64;
        // The theorem counts in standard deviations; in standard errors, as here, there is one `n` less
        // below the line.
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

/// A number of standard errors of a normal law as one of Student's law with the same tail
/// ([Abramowitz 1964], 26.7.5): the deviation is estimated too, which matters with few values.
fn for_few(z: f64, freedom: f64) -> f64 {
    let squared = z * z;
    let first = (squared + 1.0) / (4.0 * freedom);
    let second = (5.0 * squared * squared + 16.0 * squared + 3.0) / (96.0 * freedom * freedom);
    z * (1.0 + first + second)
}

/// Means are tried at so many places and one more.
const PLACES: usize = 1000;
/// No bet risks more than this share of the capital in one go.
const RISK: f64 = 0.5;

/// Intervals of the mean of values in 0 to 1, by betting against every possible mean
/// [Waudby-Smith 2023], section 4: a mean against which one gets rich is not the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct BettingSequence {
    level: f64,
    /// Possible means that are left, with what one has who bet on more and on less.
    means: Vec<Bet>,
    /// Distance between possible means.
    spacing: f64,
    count: u64,
    sum: f64,
    /// Sum of the squared distances from the running mean.
    squares: f64,
}

/// The capital of two who bet against one possible mean, each with 1 at the start.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bet {
    mean: f64,
    on_more: f64,
    on_less: f64,
}

impl BettingSequence {
    /// A sequence of a level, 0 to 1.
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

    /// Adds a value; it is held in 0 to 1.
    pub fn push(&mut self, value: f64) {
        let value = value.clamp(0.0, 1.0);
        // The stake stands before the value is looked at. Only then do bets on the true mean gain
        // nothing on average, which is what the level rests on.
        let stake = self.stake();
        for bet in &mut self.means {
            // The worst for the bet on more is a value of 0, which costs `stake · mean` of the capital,
            // and for the other a value of 1. So limited, half of the capital is left at least: from 0
            // there is no way back. At a mean of 0 or 1 the limit is infinite, and there one of the two
            // bets cannot lose.
            bet.on_more *= 1.0 + stake.min(RISK / bet.mean) * (value - bet.mean);
            bet.on_less *= 1.0 - stake.min(RISK / (1.0 - bet.mean)) * (value - bet.mean);
        }
        self.count += 1;
        self.sum += value;
        let mean = (0.5 + self.sum) / (self.count + 1) as f64;
        self.squares += (value - mean) * (value - mean);
        self.drop_losers();
    }

    /// What is bet on the next value, from the values before it only.
    fn stake(&self) -> f64 {
        let next = (self.count + 1) as f64;
        // As if there had been one value before all others, half a unit from its mean.
        let variance = (0.25 + self.squares) / next;
        (2.0 * ln(2.0 / (1.0 - self.level)) / (variance * next * ln(next + 1.0))).sqrt()
    }

    /// Takes out the means against which somebody got rich. The last ones stay: an interval never
    /// becomes empty.
    fn drop_losers(&mut self) {
        // Fair bets get there with a probability of 1 - level at most, however long one watches.
        let rich = 1.0 / (1.0 - self.level);
        // Each of the two began with half of the capital.
        let is_left = |bet: &Bet| 0.5 * bet.on_more.max(bet.on_less) < rich;
        if self.means.iter().any(is_left) {
            self.means.retain(is_left);
        }
    }

    /// The interval of the values so far.
    pub fn interval(&self) -> Interval {
        let ends = self.means.first().zip(self.means.last());
        let (low, high) = ends.map_or((0.0, 1.0), |(first, last)| (first.mean, last.mean));
        Interval {
            // The mean may lie between two that were tried.
            low: (low - self.spacing).max(0.0),
            high: (high + self.spacing).min(1.0),
            method: Method::BettingSequence,
            level: self.level,
        }
    }
}

#[cfg(test)]
impl BettingSequence {
    /// A sequence that tries one mean only.
    pub(super) fn against_one(level: f64, mean: f64) -> Self {
        Self::against(level, std::iter::once(mean), 0.0)
    }

    /// Whether somebody is rich who bet against the first mean that is left.
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
        // Against all promises: first nothing but 1, then nothing but 0.
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
        // At the planned number it is tightest against an interval that must not be watched.
        let (early, planned, late) = (at(10).1, at(100).1, at(1000).1);
        assert!(planned < 1.6 && planned > 1.2, "{planned}");
        assert!(
            early > planned && late > planned,
            "{early} {planned} {late}"
        );
        assert_eq!(sequence.interval(&Moments::of(&[1.0])), None);
    }
}
