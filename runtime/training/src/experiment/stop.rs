//! Stopping rules of experiments.

use crate::statistics::{AsymptoticSequence, Moments};
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// Minimum number of runs for an adaptive stopping rule. With fewer runs, the standard error is unreliable.
pub const MIN_RUNS: u64 = 30;
/// Maximum number of runs for an adaptive stopping rule.
pub const MAX_RUNS: u64 = 1000;
/// Maximum number of runs of an experiment.
pub const MOST_RUNS: u64 = 1_000_000;

/// The condition that ends an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case", deny_unknown_fields)]
pub enum Stop {
    /// Stops after a fixed number of runs.
    Runs {
        /// Number of runs.
        runs: u64,
    },
    /// Stops when the standard error of the mean fitness is small enough.
    StandardError {
        /// Largest standard error at which the experiment stops, in the unit of the fitness.
        at_most: f64,
        /// Minimum number of runs.
        min_runs: u64,
        /// Maximum number of runs.
        max_runs: u64,
    },
    /// Stops when the confidence interval of the mean fitness is narrow enough.
    Width {
        /// Largest width of the interval at which the experiment stops, in the unit of the fitness.
        at_most: f64,
        /// Minimum number of runs.
        min_runs: u64,
        /// Maximum number of runs.
        max_runs: u64,
    },
    /// Stops when the fitness differs significantly from that of other results on the same seeds.
    Difference {
        /// Hash of the rows to compare with, as a number.
        #[serde(with = "digits")]
        against: u64,
        /// Minimum number of runs.
        min_runs: u64,
        /// Maximum number of runs.
        max_runs: u64,
    },
}

/// Serialises a hash as 16 hexadecimal digits.
mod digits {
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde requires a reference"
    )]
    pub(super) fn serialize<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{hash:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16)
            .map_err(|_| serde::de::Error::custom("expected a hash of 16 hexadecimal digits"))
    }
}

/// Reason why a stopping rule cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StopError {
    /// The number of runs is out of range.
    #[error("the number of runs, {0}, is out of range: expected 1 to {MOST_RUNS}")]
    Runs(u64),
    /// The minimum and maximum are in the wrong order.
    #[error(
        "the minimum number of runs ({min}) must be at least 2 and not exceed the maximum ({max})"
    )]
    Bounds {
        /// Requested minimum number of runs.
        min: u64,
        /// Requested maximum number of runs.
        max: u64,
    },
    /// The target is not positive.
    #[error("the target standard error or width ({0}) must be a positive number")]
    AtMost(f64),
    /// The confidence level of the interval is out of range.
    #[error("the confidence level {0} is out of range: expected more than 0 and less than 1")]
    Level(f64),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs { runs } => write!(f, "{runs} runs"),
            Self::StandardError {
                at_most,
                min_runs,
                max_runs,
            } => write!(
                f,
                "a standard error of {at_most} after {min_runs} to {max_runs} runs"
            ),
            Self::Width {
                at_most,
                min_runs,
                max_runs,
            } => write!(
                f,
                "an interval of width {at_most} after {min_runs} to {max_runs} runs"
            ),
            Self::Difference {
                against,
                min_runs,
                max_runs,
            } => write!(
                f,
                "a difference from the results {against:016x} after {min_runs} to {max_runs} runs"
            ),
        }
    }
}

impl Stop {
    /// Checks whether the rule can be used.
    ///
    /// # Errors
    /// If a value is out of range. The error contains the value.
    pub fn check(&self) -> Result<(), StopError> {
        match *self {
            Self::Runs { runs } => in_range(runs),
            Self::StandardError {
                at_most,
                min_runs,
                max_runs,
            }
            | Self::Width {
                at_most,
                min_runs,
                max_runs,
            } => {
                in_bounds(min_runs, max_runs)?;
                let is_usable = at_most.is_finite() && at_most > 0.0;
                is_usable.then_some(()).ok_or(StopError::AtMost(at_most))
            }
            Self::Difference {
                min_runs, max_runs, ..
            } => in_bounds(min_runs, max_runs),
        }
    }

    /// Maximum number of runs.
    pub fn most(&self) -> u64 {
        match *self {
            Self::Runs { runs } => runs,
            Self::StandardError { max_runs, .. }
            | Self::Width { max_runs, .. }
            | Self::Difference { max_runs, .. } => max_runs,
        }
    }

    /// Returns the number of runs before the rule starts to evaluate intermediate results. From
    /// then on, confidence intervals have to remain valid under continuous monitoring. `None` for a
    /// fixed number of runs.
    pub fn watches_from(&self) -> Option<u64> {
        match *self {
            Self::Runs { .. } => None,
            Self::StandardError { min_runs, .. }
            | Self::Width { min_runs, .. }
            | Self::Difference { min_runs, .. } => Some(min_runs),
        }
    }

    /// Whether the rule evaluates differences from other results rather than the fitness itself.
    pub fn looks_at_differences(&self) -> bool {
        matches!(self, Self::Difference { .. })
    }

    /// Returns the ratio of the monitored quantity to its target, given the completed runs. The
    /// rule stops when the ratio is at most 1. `None` while the rule is not allowed to stop, and
    /// for a fixed number of runs.
    fn excess(&self, fitness: &Moments, level: f64) -> Option<f64> {
        let (is, at_most, min_runs) = match *self {
            Self::Runs { .. } => return None,
            Self::StandardError {
                at_most, min_runs, ..
            } => (fitness.standard_error(), at_most, min_runs),
            Self::Width {
                at_most, min_runs, ..
            } => {
                // The confidence sequence is tightest at the first possible stop, because it is not evaluated
                // earlier.
                let sequence = AsymptoticSequence::new(level, min_runs);
                let interval = sequence.interval(fitness)?;
                (interval.width(), at_most, min_runs)
            }
            Self::Difference { min_runs, .. } => {
                let sequence = AsymptoticSequence::new(level, min_runs);
                let interval = sequence.interval(fitness)?;
                // The ratio is below 1 as soon as 0 is outside the interval, which never happens for equal
                // results.
                let mean = fitness.mean().abs().max(f64::MIN_POSITIVE);
                let excess = 0.5 * interval.width() / mean;
                let is_apart = !interval.contains(0.0);
                // The interval decides, because rounding could move the ratio to the other side of 1.
                let excess = if is_apart {
                    excess.min(1.0)
                } else {
                    excess.max(1.0 + f64::EPSILON)
                };
                (excess, 1.0, min_runs)
            }
        };
        (fitness.count() >= min_runs).then_some(is / at_most)
    }

    /// Returns the reason to stop after the completed runs, in the order of seeds; `None` if more
    /// runs are needed. `done` includes failed runs, which have no fitness and are not
    /// observations. The experiment still ends after its last run.
    pub fn verdict(&self, fitness: &Moments, done: u64, level: f64) -> Option<Stopped> {
        if self
            .excess(fitness, level)
            .is_some_and(|excess| excess <= 1.0)
        {
            return Some(Stopped::Reached);
        }
        (done >= self.most()).then_some(Stopped::Runs)
    }

    /// Estimates the total number of runs from the completed ones.
    pub fn expected(&self, fitness: &Moments, level: f64) -> u64 {
        let least = self.watches_from().unwrap_or(self.most());
        let needed = match self.excess(fitness, level) {
            // Errors and widths are inversely proportional to the square root of the number of runs.
            Some(excess) => (fitness.count() as f64 * excess * excess).ceil() as u64,
            None => least,
        };
        needed.clamp(least, self.most())
    }
}

fn in_bounds(min: u64, max: u64) -> Result<(), StopError> {
    in_range(max)?;
    let fits = min >= 2 && min <= max;
    fits.then_some(()).ok_or(StopError::Bounds { min, max })
}

fn in_range(runs: u64) -> Result<(), StopError> {
    let fits = (1..=MOST_RUNS).contains(&runs);
    fits.then_some(()).ok_or(StopError::Runs(runs))
}

/// Reason why an experiment ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The target of the rule was reached.
    Reached,
    /// The maximum number of runs was reached.
    Runs,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(count: u64) -> Moments {
        let values: Vec<f64> = (0..count).map(|n| (n % 2) as f64).collect();
        Moments::of(&values)
    }

    fn verdict(rule: Stop, fitness: &Moments) -> Option<Stopped> {
        rule.verdict(fitness, fitness.count(), 0.95)
    }

    #[test]
    fn runs_that_failed_are_runs_and_no_observations() {
        let runs = Stop::Runs { runs: 7 };
        assert_eq!(runs.verdict(&spread(5), 7, 0.95), Some(Stopped::Runs));
        let watching = Stop::StandardError {
            at_most: 1.0,
            min_runs: 5,
            max_runs: 9,
        };
        assert_eq!(watching.verdict(&spread(4), 8, 0.95), None);
        assert_eq!(watching.verdict(&spread(4), 9, 0.95), Some(Stopped::Runs));
        let reached = Some(Stopped::Reached);
        assert_eq!(watching.verdict(&spread(5), 9, 0.95), reached);
    }

    #[test]
    fn each_rule_stops_when_it_says() {
        let level = 0.95;
        let runs = Stop::Runs { runs: 7 };
        assert_eq!(verdict(runs, &spread(6)), None);
        assert_eq!(verdict(runs, &spread(7)), Some(Stopped::Runs));
        // The standard deviation is about 0.5, so the error is 0.05 after about 100 runs.
        let error = Stop::StandardError {
            at_most: 0.05,
            min_runs: 30,
            max_runs: 1000,
        };
        assert_eq!(verdict(error, &spread(90)), None);
        assert_eq!(verdict(error, &spread(110)), Some(Stopped::Reached));
        let width = Stop::Width {
            at_most: 0.2,
            min_runs: 30,
            max_runs: 200,
        };
        assert_eq!(verdict(width, &spread(100)), None);
        assert_eq!(verdict(width, &spread(200)), Some(Stopped::Runs));
        // If all values are equal, the result is exact immediately, but the rule does not stop
        // before the minimum number of runs.
        let equal = |count| Moments::of(&vec![3.0; count]);
        assert_eq!(verdict(error, &equal(29)), None);
        assert_eq!(verdict(error, &equal(30)), Some(Stopped::Reached));
        assert_eq!(error.expected(&spread(40), level), 100 + 3);
        assert_eq!(error.expected(&spread(3), level), 30);
        assert_eq!(runs.expected(&spread(3), level), 7);
    }

    #[test]
    fn differences_stop_as_soon_as_they_are_apart_from_0() {
        let rule = Stop::Difference {
            against: 0xab,
            min_runs: 10,
            max_runs: 500,
        };
        let text = serde_json::to_string(&rule).unwrap();
        assert!(text.contains("\"00000000000000ab\""), "{text}");
        assert_eq!(serde_json::from_str::<Stop>(&text).unwrap(), rule);
        let bad = text.replace("00000000000000ab", "z");
        assert!(serde_json::from_str::<Stop>(&bad).is_err());
        // Differences that alternate between 0 and 1 have a mean of 0.5. With -1 and 1, there is no visible
        // difference.
        assert_eq!(verdict(rule, &spread(9)), None);
        assert_eq!(verdict(rule, &spread(60)), Some(Stopped::Reached));
        let even = |count: i64| {
            let values: Vec<f64> = (0..count).map(|n| (2 * (n % 2) - 1) as f64).collect();
            Moments::of(&values)
        };
        assert_eq!(verdict(rule, &even(400)), None);
        assert_eq!(verdict(rule, &even(500)), Some(Stopped::Runs));
        assert_eq!(
            verdict(rule, &Moments::of(&[0.0; 400])),
            None,
            "the same driver"
        );
        assert!(rule.looks_at_differences() && rule.check().is_ok());
    }

    #[test]
    fn absurd_rules_are_refused() {
        let width = |at_most, min_runs, max_runs| Stop::Width {
            at_most,
            min_runs,
            max_runs,
        };
        for stop in [
            Stop::Runs { runs: 0 },
            Stop::Runs { runs: u64::MAX },
            width(0.0, 30, 100),
            width(-1.0, 30, 100),
            width(f64::NAN, 30, 100),
            width(f64::INFINITY, 30, 100),
            width(0.1, 1, 100),
            width(0.1, 200, 100),
        ] {
            assert!(stop.check().is_err(), "{stop:?}");
        }
        assert_eq!(width(0.1, 30, 100).check(), Ok(()));
        assert_eq!(Stop::Runs { runs: 1 }.check(), Ok(()));
    }
}
