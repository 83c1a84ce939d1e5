//! Statistics of the CPU times of many calls.

use cpu_time::ProcessTime;
use std::time::Duration;

/// CPU times, ms.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// Adds a time.
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e3);
    }

    /// Calls a function and adds the CPU time that it took.
    pub(crate) fn measure<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let cpu = ProcessTime::now();
        let done = work();
        self.add(cpu.elapsed());
        done
    }

    /// Returns a quantile of the times; 0 if there are none.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = (last as f64 * share).round() as usize;
        sorted.get(at).copied().unwrap_or(0.0)
    }

    /// Returns the median of the times; 0 if there are none.
    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Returns the mean; 0 if there are no times.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// Returns the sums of the times in two lists, element by element.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a + b).collect())
    }
}
