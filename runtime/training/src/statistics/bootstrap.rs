//! The bootstrap method, which estimates the variability of a statistic by resampling the values.

use super::distributions::{normal_cdf, normal_quantile};
use super::intervals::{Interval, Method};
use roadwright_geometry::math::Stream;

/// Replicates of a statistic from resampled values [Efron 1987].
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    estimate: f64,
    /// The statistic for each resample, ascending.
    replicates: Vec<f64>,
    /// Acceleration of the BCa method: the rate at which the standard error of the statistic changes with its
    /// value, estimated by the jackknife.
    acceleration: f64,
}

impl Bootstrap {
    /// Draws `resamples` samples, each as large as the list of values. Random numbers come from `stream`, so
    /// the same stream gives bit-identical results. `None` for fewer than two values or without resamples.
    pub fn of(
        values: &[f64],
        resamples: usize,
        mut stream: Stream,
        statistic: impl Fn(&[f64]) -> f64,
    ) -> Option<Self> {
        if values.len() < 2 || resamples == 0 {
            return None;
        }
        let mut drawn = vec![0.0; values.len()];
        let mut replicate = || {
            for value in &mut drawn {
                *value = values[stream.next_index(values.len())];
            }
            statistic(&drawn)
        };
        let mut replicates: Vec<f64> = (0..resamples).map(|_| replicate()).collect();
        replicates.sort_unstable_by(f64::total_cmp);
        Some(Self {
            estimate: statistic(values),
            replicates,
            acceleration: acceleration(&without_each(values, &statistic)),
        })
    }

    /// Returns the statistic of the original values.
    pub fn estimate(&self) -> f64 {
        self.estimate
    }

    /// Returns the percentile interval of the replicates.
    pub fn percentile(&self, level: f64) -> Interval {
        let tail = 0.5 * (1.0 - level);
        self.between(tail, 1.0 - tail, Method::Percentile, level)
    }

    /// Returns the interval corrected for bias and acceleration (BCa). If all replicates are on one side of
    /// the estimate, no correction is possible, and the percentile interval is returned.
    pub fn bca(&self, level: f64) -> Interval {
        let bias = normal_quantile(self.share_below());
        if !bias.is_finite() {
            return self.percentile(level);
        }
        let corrected = |p: f64| {
            // Without bias and acceleration, this equals `p`, which gives the percentile interval.
            let from = bias + normal_quantile(p);
            normal_cdf(bias + from / (1.0 - self.acceleration * from))
        };
        let tail = 0.5 * (1.0 - level);
        self.between(corrected(tail), corrected(1.0 - tail), Method::Bca, level)
    }

    /// Returns the fraction of the replicates below the estimate. Replicates equal to the estimate
    /// count half.
    fn share_below(&self) -> f64 {
        // With few values, many replicates equal the estimate. Counting all of these on one side would look
        // like a bias.
        let below = self.replicates.partition_point(|&r| r < self.estimate);
        let up_to = self.replicates.partition_point(|&r| r <= self.estimate);
        0.5 * (below + up_to) as f64 / self.replicates.len() as f64
    }

    fn between(&self, low: f64, high: f64, method: Method, level: f64) -> Interval {
        Interval {
            low: self.quantile(low),
            high: self.quantile(high),
            method,
            level,
        }
    }

    /// Returns the replicate at a quantile, interpolated linearly.
    fn quantile(&self, share: f64) -> f64 {
        let last = self.replicates.len() - 1;
        let place = share.clamp(0.0, 1.0) * last as f64;
        let before = place.floor() as usize;
        let after = (before + 1).min(last);
        let (a, b) = (self.replicates[before], self.replicates[after]);
        a + (b - a) * (place - before as f64)
    }
}

/// Returns the statistic of all values except one, for each value that can be left out.
fn without_each(values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    // The omitted value is swapped to the end, so that no list is copied.
    let mut rest = values.to_vec();
    let last = rest.len() - 1;
    let of_rest = |left_out: usize| {
        rest.swap(left_out, last);
        let found = statistic(&rest[..last]);
        rest.swap(left_out, last);
        found
    };
    (0..values.len()).map(of_rest).collect()
}

/// Returns one sixth of the skewness of the jackknife estimates, each of which leaves out one
/// value.
fn acceleration(jackknife: &[f64]) -> f64 {
    let mean = jackknife.iter().sum::<f64>() / jackknife.len() as f64;
    let sum = |power: i32| -> f64 { jackknife.iter().map(|j| (mean - j).powi(power)).sum() };
    // If leaving out any single value does not change the statistic, this is 0, and only the bias is
    // corrected.
    let squares = sum(2);
    if squares > 0.0 {
        sum(3) / (6.0 * squares * squares.sqrt())
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 8] = [2.1, 3.4, 1.9, 5.6, 4.4, 2.2, 3.3, 8.9];

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn intervals_of_given_replicates_agree_with_scipy() {
        let replicates = [
            3.1, 3.3, 3.35, 3.4, 3.5, 3.52, 3.6, 3.66, 3.7, 3.75, 3.8, 3.81, 3.9, 4.0, 4.05, 4.2,
            4.3, 4.4, 4.6, 4.9,
        ];
        let bootstrap = Bootstrap {
            estimate: mean(&VALUES),
            replicates: replicates.to_vec(),
            acceleration: acceleration(&without_each(&VALUES, mean)),
        };
        // Computed with norm.cdf and norm.ppf of scipy 1.17.1, and percentile of numpy.
        assert!((bootstrap.acceleration - 0.070_389_901_980_202_65).abs() < 1e-12);
        let bca = bootstrap.bca(0.9);
        assert!((bca.low - 3.503_662_422_678_267).abs() < 1e-9, "{bca:?}");
        assert!((bca.high - 4.883_220_813_975_42).abs() < 1e-9, "{bca:?}");
        let plain = bootstrap.percentile(0.9);
        assert!((plain.low - 3.29).abs() < 1e-9 && (plain.high - 4.615).abs() < 1e-9);
    }

    #[test]
    fn our_own_draws_come_close_to_those_of_scipy() {
        // stats.bootstrap with 200,000 resamples: BCa 2.825 to 6.1, percentile 2.65 to 5.6625.
        let bootstrap = Bootstrap::of(&VALUES, 50_000, Stream::new(1, "test", 0), mean).unwrap();
        let (bca, plain) = (bootstrap.bca(0.95), bootstrap.percentile(0.95));
        assert!((bca.low - 2.825).abs() < 0.05 && (bca.high - 6.1).abs() < 0.08);
        assert!((plain.low - 2.65).abs() < 0.05 && (plain.high - 5.6625).abs() < 0.08);
    }

    #[test]
    fn the_same_stream_gives_the_same_bits() {
        let of = |seed| Bootstrap::of(&VALUES, 200, Stream::new(seed, "test", 0), mean).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn equal_values_and_too_few_are_no_trouble() {
        let draw = |values: &[f64]| Bootstrap::of(values, 100, Stream::new(1, "test", 0), mean);
        let equal = draw(&[3.0; 5]).unwrap().bca(0.95);
        assert_eq!((equal.low, equal.high), (3.0, 3.0));
        assert_eq!(draw(&[3.0]), None);
        assert_eq!(
            Bootstrap::of(&VALUES, 0, Stream::new(1, "test", 0), mean),
            None
        );
        // For a statistic other than the mean, here the maximum, all replicates are at or below the estimate.
        let most = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
        let most = Bootstrap::of(&VALUES, 100, Stream::new(1, "test", 0), most).unwrap();
        assert!(most.bca(0.95).high <= 8.9);
        assert_eq!(most.estimate(), 8.9);
    }
}
