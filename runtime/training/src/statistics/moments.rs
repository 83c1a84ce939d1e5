//! Mean, standard deviation and interquartile mean.

/// Count, mean and variance of values that are added one by one [Welford 1962].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    count: u64,
    mean: f64,
    /// Sum of the squared deviations from the mean.
    squares: f64,
}

impl Moments {
    /// Returns the moments of a list of values.
    pub fn of(values: &[f64]) -> Self {
        let mut moments = Self::default();
        values.iter().for_each(|&value| moments.push(value));
        moments
    }

    /// Adds a value.
    pub fn push(&mut self, value: f64) {
        // Computing the variance from the sum of squares and the square of the sum would lose all digits if
        // the mean is large.
        self.count += 1;
        let from_old = value - self.mean;
        self.mean += from_old / self.count as f64;
        self.squares += from_old * (value - self.mean);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the values; 0 without values.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the variance of the values (n - 1); 0 for fewer than two values.
    pub fn variance(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        self.squares / (self.count - 1) as f64
    }

    /// Returns the standard deviation of the values (n - 1); 0 for fewer than two values.
    pub fn standard_deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Standard error of the mean; 0 for fewer than two values.
    pub fn standard_error(&self) -> f64 {
        self.standard_deviation() / (self.count.max(1) as f64).sqrt()
    }
}

/// Returns the interquartile mean: the mean of the middle half of the values [Agarwal 2021]. A
/// quarter of the values (rounded down) is left out at each end. `None` without values.
pub fn interquartile_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let left_out = sorted.len() / 4;
    // With fewer than four values, none is left out, which gives the plain mean.
    let middle = &sorted[left_out..sorted.len() - left_out];
    (!middle.is_empty()).then(|| Moments::of(middle).mean())
}

/// Returns the minimum, quartiles and maximum, as in a box plot. Quartiles between two values are
/// interpolated linearly. `None` without values.
pub fn five_numbers(values: &[f64]) -> Option<[f64; 5]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = share * last as f64;
        let (low, part) = (place.floor() as usize, place - place.floor());
        let high = (low + 1).min(last);
        sorted[low] + part * (sorted[high] - sorted[low])
    };
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_survives_a_large_mean() {
        let values: Vec<f64> = [4.0, 7.0, 13.0, 16.0].map(|v| v + 1e9).to_vec();
        let moments = Moments::of(&values);
        assert_eq!((moments.count(), moments.mean()), (4, 1e9 + 10.0));
        assert_eq!(moments.variance(), 30.0);
        // The plain formula on the same values shows why it is not used.
        let squares: f64 = values.iter().map(|v| v * v).sum();
        let plain = (squares - 4.0 * moments.mean() * moments.mean()) / 3.0;
        assert!((plain - 30.0).abs() > 1.0, "{plain}");
    }

    #[test]
    fn few_values_have_no_spread() {
        assert_eq!(Moments::default().mean(), 0.0);
        let one = Moments::of(&[3.0]);
        assert_eq!((one.mean(), one.standard_error()), (3.0, 0.0));
    }

    #[test]
    fn quartiles_between_two_values_are_interpolated() {
        // Computed by hand: a quarter of five steps is 1.25, which is a quarter of the distance from 2 to 4.
        let values = [32.0, 2.0, 4.0, 16.0, 8.0, 1.0];
        assert_eq!(five_numbers(&values), Some([1.0, 2.5, 6.0, 14.0, 32.0]));
        assert_eq!(five_numbers(&[7.0]), Some([7.0; 5]));
        assert_eq!(five_numbers(&[]), None);
    }

    #[test]
    fn the_middle_half_has_no_outliers() {
        // According to scipy 1.17, trim_mean([1, 2, 3, 4, 5, 6, 7, 1000], 0.25) is 4.5, and that of the first
        // seven values is 4.0.
        let values = [1000.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0];
        assert_eq!(interquartile_mean(&values), Some(4.5));
        assert_eq!(
            interquartile_mean(&[7.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0]),
            Some(4.0)
        );
        assert_eq!(interquartile_mean(&[2.0]), Some(2.0));
        assert_eq!(interquartile_mean(&[]), None);
    }
}
