//! Durations of the latest calls, with their mean and a percentile.

/// Number of calls that are stored.
const SAMPLES: usize = 512;

/// Durations of the latest calls.
#[derive(Debug, Default)]
pub(crate) struct CallTimes {
    micros: Vec<f32>,
    /// Duration of each call for all its agents together, us.
    whole: Vec<f32>,
    next: usize,
    /// Number of calls so far.
    pub(crate) calls: u64,
}

impl CallTimes {
    /// Records the duration of a call with the given number of rows.
    pub(crate) fn note(&mut self, rows: usize, seconds: f64) {
        self.calls += 1;
        let micros = (seconds * 1e6 / rows.max(1) as f64) as f32;
        let whole = (seconds * 1e6) as f32;
        if self.micros.len() < SAMPLES {
            self.micros.push(micros);
            self.whole.push(whole);
        } else {
            self.micros[self.next] = micros;
            self.whole[self.next] = whole;
            self.next = (self.next + 1) % SAMPLES;
        }
    }

    /// Returns the mean duration of whole calls, us; 0 without calls.
    pub(crate) fn mean_of_calls(&self) -> f64 {
        let sum: f64 = self.whole.iter().map(|&t| f64::from(t)).sum();
        sum / self.whole.len().max(1) as f64
    }

    /// Returns the mean and 99th percentile of the duration per agent, us; 0 without calls.
    pub(crate) fn mean_and_p99(&self) -> (f64, f64) {
        if self.micros.is_empty() {
            return (0.0, 0.0);
        }
        let mut sorted = self.micros.clone();
        sorted.sort_by(f32::total_cmp);
        let mean = sorted.iter().map(|&t| f64::from(t)).sum::<f64>() / sorted.len() as f64;
        let at = ((sorted.len() - 1) as f64 * 0.99).round() as usize;
        (mean, f64::from(sorted[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_calls_count() {
        let mut times = CallTimes::default();
        assert_eq!(times.mean_and_p99(), (0.0, 0.0));
        (0..600).for_each(|_| times.note(10, 1.0));
        // Earlier calls are forgotten: 512 calls of 1 us per agent.
        (0..512).for_each(|_| times.note(10, 1e-5));
        let (mean, p99) = times.mean_and_p99();
        assert!((mean - 1.0).abs() < 1e-6 && (p99 - 1.0).abs() < 1e-6);
        assert_eq!(times.calls, 1112);
    }
}
