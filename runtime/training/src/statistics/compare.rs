//! Comparison of two drivers on the same courses, and correction for several comparisons.

use super::bootstrap::Bootstrap;
use super::distributions::student_t_cdf;
use super::intervals::{Interval, student_t};
use super::moments::Moments;
use roadwright_geometry::math::Stream;

/// Number of bootstrap replicates in a comparison.
const RESAMPLES: usize = 2000;

/// Difference between two lists of paired values, for example from the same courses. Pairing removes the
/// effect of easy and difficult courses from the difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// Number of pairs.
    pub count: u64,
    /// Mean of the second value minus the first value.
    pub mean: f64,
    /// Standard deviation of the differences.
    pub standard_deviation: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Confidence interval by Student's t.
    pub t: Interval,
    /// Confidence interval by the bootstrap.
    pub bootstrap: Interval,
    /// Probability of a mean at least this far from 0 if there is no difference (two-sided, by Student's t).
    pub p: f64,
}

/// Compares pairs; `None` if there are fewer than two.
pub fn paired(pairs: &[(f64, f64)], level: f64) -> Option<Paired> {
    let differences: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
    let moments = Moments::of(&differences);
    // A fixed stream gives the same interval for the same two results every time.
    let stream = Stream::new(0, "paired bootstrap", pairs.len() as u64);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let bootstrap = Bootstrap::of(&differences, RESAMPLES, stream, mean)?;
    Some(Paired {
        count: moments.count(),
        mean: moments.mean(),
        standard_deviation: moments.standard_deviation(),
        standard_error: moments.standard_error(),
        t: student_t(&moments, level)?,
        bootstrap: bootstrap.bca(level),
        p: two_sided(&moments),
    })
}

/// Returns the two-sided probability that the mean is at least this far from 0 by chance.
fn two_sided(moments: &Moments) -> f64 {
    let (mean, error) = (moments.mean(), moments.standard_error());
    if error > 0.0 {
        let freedom = (moments.count() - 1) as f64;
        return 2.0 * student_t_cdf(-(mean / error).abs(), freedom);
    }
    // If the differences do not vary, the difference is either certain or zero.
    if mean == 0.0 { 1.0 } else { 0.0 }
}

/// Corrects the p-values of several comparisons, so that the probability of any false positive is no higher
/// than for a single comparison [Holm 1979]. The results are in the order of the inputs.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut corrected = vec![0.0; p.len()];
    let mut least = 0.0f64;
    for (rank, &index) in order.iter().enumerate() {
        // The smallest p-value is multiplied by the number of comparisons, the next by one less, and so on.
        // The running maximum preserves the order: 0.01, 0.02, 0.02 become 0.03, 0.04, 0.04 rather than 0.03,
        // 0.04, 0.02.
        least = least.max((p[index] * (p.len() - rank) as f64).min(1.0));
        corrected[index] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_agree_with_scipy() {
        // scipy 1.17.1: ttest_rel and its interval.
        let first = [11.5, 13.9, 11.3, 14.1, 12.5, 12.0];
        let second = [12.1, 14.3, 11.0, 15.2, 13.3, 12.8];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let found = paired(&pairs, 0.95).unwrap();
        assert!(
            (found.p - 0.035_185_490_491_411_87).abs() < 1e-9,
            "{found:?}"
        );
        assert!((found.t.low - 0.058_294_796_789_289_73).abs() < 1e-9);
        assert!((found.t.high - 1.075_038_536_543_043_8).abs() < 1e-9);
        assert!(found.bootstrap.contains(found.mean));
        // Swapping the lists changes all signs.
        let turned: Vec<(f64, f64)> = pairs.iter().map(|&(a, b)| (b, a)).collect();
        let turned = paired(&turned, 0.95).unwrap();
        assert_eq!((turned.mean, turned.p), (-found.mean, found.p));
    }

    #[test]
    fn what_is_equal_does_not_differ() {
        let same = paired(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)], 0.95).unwrap();
        assert_eq!((same.mean, same.p, same.t.width()), (0.0, 1.0, 0.0));
        let always = paired(&[(1.0, 2.0), (2.0, 3.0), (3.0, 4.0)], 0.95).unwrap();
        assert_eq!((always.mean, always.p), (1.0, 0.0));
        assert_eq!(paired(&[(1.0, 2.0)], 0.95), None);
        assert_eq!(paired(&[], 0.95), None);
    }

    #[test]
    fn several_comparisons_are_corrected() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
