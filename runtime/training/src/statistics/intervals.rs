//! Confidence intervals for a sample size that is fixed in advance.

use super::distributions::{normal_quantile, student_t_quantile};
use super::moments::Moments;
use serde::{Deserialize, Serialize};

/// Method by which an interval is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Student's t for a mean.
    StudentT,
    /// Wilson's score method for a fraction.
    Wilson,
    /// Percentiles of the bootstrap.
    Percentile,
    /// Bootstrap corrected for bias and acceleration (BCa).
    Bca,
    /// Asymptotic confidence sequence for a mean, which remains valid under monitoring.
    AsymptoticSequence,
    /// Confidence sequence for the mean of values between 0 and 1, which remains valid under monitoring.
    BettingSequence,
}

impl Method {
    /// Name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::StudentT => "student_t",
            Self::Wilson => "wilson",
            Self::Percentile => "percentile",
            Self::Bca => "bca",
            Self::AsymptoticSequence => "asymptotic_sequence",
            Self::BettingSequence => "betting_sequence",
        }
    }
}

/// A confidence interval: it contains the estimated quantity in a given fraction of all experiments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Method by which the interval was computed.
    pub method: Method,
    /// Confidence level: fraction of experiments whose interval contains the quantity, 0 to 1.
    pub level: f64,
}

impl Interval {
    /// Returns the width from the lower to the upper end.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether the interval contains a value.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Returns the confidence interval of a mean by Student's t [Student 1908]; `None` for fewer than two values.
pub fn student_t(moments: &Moments, level: f64) -> Option<Interval> {
    if moments.count() < 2 {
        return None;
    }
    let freedom = (moments.count() - 1) as f64;
    // The remaining probability is divided between two tails. At 95 %, the ends are at 2.5 % and 97.5 %.
    let reach = student_t_quantile(0.5 + 0.5 * level, freedom) * moments.standard_error();
    Some(Interval {
        low: moments.mean() - reach,
        high: moments.mean() + reach,
        method: Method::StudentT,
        level,
    })
}

/// Returns the confidence interval of a fraction by the score method [Wilson 1927]. Its width is not zero
/// even for fractions of 0 and 1. `None` without trials.
pub fn wilson(successes: u64, trials: u64, level: f64) -> Option<Interval> {
    if trials == 0 {
        return None;
    }
    let n = trials as f64;
    let share = successes.min(trials) as f64 / n;
    let z = normal_quantile(0.5 + 0.5 * level);
    // The ends are the two fractions p with |share - p| = z · sqrt(p (1 - p) / n). The standard error is that
    // of p rather than of the observed fraction, which would be 0 if all trials or none succeeded.
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let variance = share * (1.0 - share) / n + z * z / (4.0 * n * n);
    let reach = z * variance.sqrt() / (1.0 + z * z / n);
    // Otherwise, rounding would leave a small residue rather than exactly 0 or 1.
    let low = if successes == 0 { 0.0 } else { middle - reach };
    let high = if successes >= trials {
        1.0
    } else {
        middle + reach
    };
    Some(Interval {
        low,
        high,
        method: Method::Wilson,
        level,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_scipy() {
        // scipy 1.17.1: stats.t.interval, binomtest(..).proportion_ci(method="wilson").
        let values = [2.1, 3.4, 1.9, 5.6, 4.4, 2.2, 3.3, 8.9];
        let moments = Moments::of(&values);
        assert!((moments.standard_error() - 0.832_755_752_220_987_5).abs() < 1e-12);
        let t = student_t(&moments, 0.95).unwrap();
        assert!((t.low - 2.005_845_552_644_861_3).abs() < 1e-9, "{t:?}");
        assert!((t.high - 5.944_154_447_355_139).abs() < 1e-9, "{t:?}");
        for (successes, trials, level, low, high) in [
            (0, 10, 0.95, 0.0, 0.277_532_799_862_889_26),
            (10, 10, 0.95, 0.722_467_200_137_110_7, 1.0),
            (
                3,
                10,
                0.95,
                0.107_791_267_406_301_02,
                0.603_221_852_538_854_6,
            ),
            (
                57,
                100,
                0.99,
                0.442_075_702_679_974_15,
                0.689_213_401_039_810_5,
            ),
            (
                180,
                200,
                0.95,
                0.850_594_187_567_282_6,
                0.934_329_551_330_904_1,
            ),
            (1, 1, 0.95, 0.206_549_314_377_237_45, 1.0),
        ] {
            let found = wilson(successes, trials, level).unwrap();
            assert!((found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9);
        }
    }

    #[test]
    fn too_few_values_have_no_interval() {
        assert_eq!(student_t(&Moments::of(&[3.0]), 0.95), None);
        assert_eq!(wilson(0, 0, 0.95), None);
    }
}
