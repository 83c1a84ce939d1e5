//! Call rates of slots, distributed over the steps.

/// A period as a whole number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    period: u64,
}

impl Rate {
    /// Returns the nearest period for a rate in Hz and a time step in seconds. It is at least one
    /// step.
    pub fn new(rate_hz: f64, dt: f64) -> Self {
        // Rates are rounded to whole steps. At 10 ms, for example, 30 Hz becomes every third step,
        // or 33.3 Hz.
        let steps = (1.0 / (rate_hz * dt)).round().clamp(1.0, 1e12);
        Self {
            period: steps as u64,
        }
    }

    /// Returns the nearest period that is a multiple of `stride` steps. It is at least one stride.
    #[must_use]
    pub fn in_strides(self, stride: u64) -> Self {
        let stride = stride.max(1);
        let strides = (self.period + stride / 2) / stride;
        Self {
            period: strides.max(1) * stride,
        }
    }

    /// Number of steps between two calls.
    pub fn period(&self) -> u64 {
        self.period
    }

    /// Whether the module is called in this step for the agent with the given id. Agents are
    /// distributed evenly over the steps. Ids are used rather than indices, because indices are
    /// reused and an agent's turn must not depend on the previous owner of its index.
    #[inline]
    pub fn is_due(&self, step: u64, id: u64) -> bool {
        (step + id).is_multiple_of(self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn periods_become_whole_strides() {
        // 30 Hz, 10 Hz, 4 Hz and 1 Hz at 10 ms, rounded to strides of a tenth of a second.
        let rates = [30.0, 10.0, 4.0, 1.0].map(|hz| Rate::new(hz, 0.01).in_strides(10).period());
        assert_eq!(rates, [10, 10, 30, 100]);
        assert_eq!(Rate::new(30.0, 0.01).in_strides(1).period(), 3);
    }

    #[test]
    fn rates_become_whole_periods() {
        assert_eq!(Rate::new(30.0, 0.01).period(), 3);
        assert_eq!(Rate::new(6.0, 0.01).period(), 17);
        assert_eq!(Rate::new(30.0, 0.1).period(), 1);
    }

    proptest! {
        #[test]
        fn every_agent_is_asked_once_a_period(rate in 0.5..200.0f64, index in 0u64..1000) {
            let rate = Rate::new(rate, 0.01);
            let due = (100..100 + rate.period()).filter(|&step| rate.is_due(step, index)).count();
            prop_assert_eq!(due, 1);
        }
    }
}
