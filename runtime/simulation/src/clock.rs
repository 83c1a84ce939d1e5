//! Simulated time.

use crate::options::{RunOptions, SimulationError};
use roadwright_agent::{Rate, Step};
use roadwright_scenario::Settings;
use serde::{Deserialize, Serialize};

/// Rate of updates that need not be faster than the reactions of drivers, Hz. Drivers take half a
/// second or more to react.
const BEATS: f64 = 5.0;

/// Largest number of steps in a save. Up to this number, a double represents every number of steps exactly,
/// and nothing overflows.
const LAST_STEP: u64 = 1 << 53;

/// Time of a run, and the seed of all its random streams.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Clock {
    /// Time step, s.
    pub(crate) dt: f64,
    pub(crate) seed: u64,
    /// Time of day at the first step, h.
    pub(crate) begins_at: f64,
    /// Number of steps taken so far.
    pub(crate) step: u64,
}

impl Clock {
    /// Creates the clock of a run before its first step. Options override the settings.
    ///
    /// # Errors
    /// If the time step or the time of day is out of range.
    pub(crate) fn new(settings: &Settings, options: &RunOptions) -> Result<Self, SimulationError> {
        let dt = options.dt.unwrap_or(settings.dt.get());
        if !(1e-4..=1.0).contains(&dt) {
            return Err(SimulationError::TimeStep(dt));
        }
        let begins_at = options.time_of_day.unwrap_or(settings.time_of_day.get());
        if !(0.0..24.0).contains(&begins_at) {
            return Err(SimulationError::TimeOfDay(begins_at));
        }
        Ok(Self {
            dt,
            seed: options.seed.unwrap_or(settings.seed),
            begins_at,
            step: 0,
        })
    }

    /// Whether the number of steps in a saved clock is within [`LAST_STEP`].
    pub(crate) fn is_sound(&self) -> bool {
        self.step <= LAST_STEP
    }

    /// Simulated time, s.
    #[inline]
    pub(crate) fn time(&self) -> f64 {
        // A product and not a sum over the steps, so that rounding errors do not accumulate and a restored
        // world has exactly the same time.
        self.step as f64 * self.dt
    }

    /// Simulated time at the end of this step, s.
    pub(crate) fn end_of_step(&self) -> f64 {
        (self.step + 1) as f64 * self.dt
    }

    /// Number of steps between two beats. Beats are a fifth of a second apart, or one step if a
    /// step is longer.
    pub(crate) fn beat_steps(&self) -> u64 {
        Rate::new(BEATS, self.dt).period()
    }

    /// Time between two beats, s.
    pub(crate) fn beat_period(&self) -> f64 {
        self.beat_steps() as f64 * self.dt
    }

    /// Whether this step is on the beat.
    pub(crate) fn is_on_beat(&self) -> bool {
        self.step.is_multiple_of(self.beat_steps())
    }

    /// Time of day, h, from 0 to below 24.
    pub(crate) fn time_of_day(&self) -> f64 {
        (self.begins_at + self.time() / 3600.0).rem_euclid(24.0)
    }

    /// Time since the beginning of step `step`, s.
    pub(crate) fn since(&self, step: u64) -> f64 {
        self.step.saturating_sub(step) as f64 * self.dt
    }

    /// Returns the current time, the time step and the given rate in the form that modules receive.
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
