//! Simulated time.

use roadwright_agent::{Rate, Step};
use serde::{Deserialize, Serialize};

/// Where a run is in time, and the seed that all its random streams come from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Clock {
    /// Time step, s.
    pub(crate) dt: f64,
    pub(crate) seed: u64,
    /// Time of day at the first step, h.
    pub(crate) begins_at: f64,
    /// Steps taken.
    pub(crate) step: u64,
}

impl Clock {
    /// Simulated time, s.
    #[inline]
    pub(crate) fn time(&self) -> f64 {
        self.step as f64 * self.dt
    }

    /// Time of day, h, from 0 to below 24.
    pub(crate) fn time_of_day(&self) -> f64 {
        (self.begins_at + self.time() / 3600.0).rem_euclid(24.0)
    }

    /// Time since a step, s.
    pub(crate) fn since(&self, step: u64) -> f64 {
        self.step.saturating_sub(step) as f64 * self.dt
    }

    /// What modules are told of this step.
    pub(crate) fn moment(&self, rate: Rate) -> Step<'static> {
        Step {
            time: self.time(),
            period: rate.period() as f64 * self.dt,
            index: self.step,
            seed: self.seed,
            indices: &[],
            ids: &[],
        }
    }
}
