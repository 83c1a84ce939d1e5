//! Running means with error bars, as in figures 9.3 and 12.5 of [Gerdelan 2011].

use super::Moments;
use serde::Serialize;

/// Mean of the first observations, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Accumulated {
    /// Number of observations.
    pub runs: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Standard deviation of the values; 0 for a single value.
    pub standard_deviation: f64,
    /// Standard error of the mean. For a single observation it is 0, which is not an estimate.
    pub standard_error: f64,
}

/// Returns the mean of the first observation, of the first two, and so on.
pub fn accumulate(values: &[f64]) -> Vec<Accumulated> {
    let mut moments = Moments::default();
    let add = |(number, &value): (usize, &f64)| {
        moments.push(value);
        Accumulated {
            runs: number + 1,
            mean: moments.mean(),
            standard_deviation: moments.standard_deviation(),
            standard_error: moments.standard_error(),
        }
    };
    values.iter().enumerate().map(add).collect()
}

/// Returns the smallest number of runs after which the error bars of two means (one standard error in each
/// direction) remain separate. `None` if the bars overlap at the end, or if either mean has fewer than two
/// runs.
///
/// Means that separate but overlap again later do not count as separated.
pub fn separation(first: &[Accumulated], second: &[Accumulated]) -> Option<usize> {
    let overlap = |(a, b): (&Accumulated, &Accumulated)| {
        // A single run has no error bar. Written so that NaN counts as an overlap.
        let apart = (a.mean - b.mean).abs() > a.standard_error + b.standard_error;
        a.runs < 2 || !apart
    };
    let both = first.len().min(second.len());
    let last = first
        .iter()
        .zip(second)
        .rposition(overlap)
        .map_or(0, |last| last + 1);
    (last < both).then_some(last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_first_so_many() {
        let found = accumulate(&[2.0, 4.0, 9.0]);
        let means: Vec<f64> = found.iter().map(|point| point.mean).collect();
        assert_eq!(means, [2.0, 3.0, 5.0]);
        assert_eq!((found[0].runs, found[0].standard_error), (1, 0.0));
        // The standard deviation of the three values is sqrt(13).
        assert!((found[2].standard_deviation - 13f64.sqrt()).abs() < 1e-12);
        assert!((found[2].standard_error - (13f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!(accumulate(&[]).is_empty());
    }

    #[test]
    fn means_have_separated_when_their_bars_stay_apart() {
        let low = accumulate(&[1.0, 3.0, 1.0, 3.0, 1.0, 3.0]);
        let high = accumulate(&[9.0, 7.0, 9.0, 7.0, 9.0, 7.0]);
        assert_eq!(separation(&low, &high), Some(2));
        assert_eq!(separation(&low, &low), None);
        assert_eq!(separation(&[], &high), None);
        assert_eq!(separation(&low[..1], &high[..1]), None);
        // The means are separate at first but overlap at the end.
        let falls = accumulate(&[9.0, 7.0, -4.0, -4.0, -2.0, 6.0]);
        assert_eq!(separation(&low, &falls), None);
        // The means overlap at first. The fourth run moves one mean by 4.5, and its error bar grows by as
        // much.
        let rises = accumulate(&[2.0, 2.0, 2.0, 20.0, 20.0, 20.0]);
        assert_eq!(separation(&low, &rises), Some(5));
    }
}
