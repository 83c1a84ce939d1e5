//! Optional driving statistics for fitness functions: collisions, energy, remaining distance and
//! route segments. They are collected only if a fitness function uses them, and
//! `traffic/accounts.rs` updates them in each step.

use crate::records::{Statistics, are_short_counts};
use roadwright_agent::Conduct;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Minimum divisor when a penetration is divided by the length of its segment, m. Shorter segments
/// count as this long.
const SHORTEST_SEGMENT: f64 = 1.0;

/// Statistics of the driving agents, by id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Accounts {
    pub(crate) of: BTreeMap<u64, Account>,
    /// Number of entries in the collision log that have already been counted.
    pub(crate) counted: usize,
    /// Path deviations by agent id. They are stored in a separate part of saves, because older
    /// saves have accounts without them.
    #[serde(skip)]
    pub(crate) deviations: BTreeMap<u64, Deviation>,
}

/// Deviation of an agent from the centre line of its lane or path, accumulated once the agent has
/// settled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deviation {
    /// Number of steps since the agent was first seen.
    pub(crate) steps: u64,
    /// Number of steps after settling. The deviations are accumulated over these steps.
    pub(crate) summed: u64,
    /// Sum of the squared lateral offsets after settling, m^2.
    pub(crate) squared: f64,
    /// Sum of the speeds after settling, m/s.
    pub(crate) speeds: f64,
}

/// Settling time of an agent after it was first seen, s. Deviations during this time do not count.
const SETTLED: f64 = 10.0;

impl Deviation {
    /// Adds one step of `dt` seconds with the lateral `offset` in m and the `speed` in m/s.
    pub(crate) fn add(&mut self, dt: f64, offset: f64, speed: f64) {
        self.steps = self.steps.saturating_add(1);
        if self.steps as f64 * dt <= SETTLED {
            return;
        }
        self.summed = self.summed.saturating_add(1);
        self.squared += offset * offset;
        self.speeds += speed;
    }

    /// Whether all sums are finite. Sums read from a damaged save may not be.
    pub(crate) fn is_sound(&self) -> bool {
        self.squared.is_finite() && self.squared >= 0.0 && self.speeds.is_finite()
    }

    fn tell(&self, conduct: &mut Conduct) {
        let count = self.summed.max(1) as f64;
        conduct.path_error = (self.squared / count).sqrt();
        conduct.settled_speed = self.speeds / count;
    }
}

/// Statistics of one agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Account {
    /// Number of collisions in which the agent was involved.
    pub(crate) collisions: u32,
    /// Integral of half the squared speed over time, m^2/s: the kinetic energy per unit of mass, integrated
    /// over time.
    pub(crate) energy: f64,
    /// Straight-line distance from the centre of the vehicle's body to the agent's last goal, m.
    pub(crate) goal_distance: f64,
    pub(crate) segments: Segments,
    /// Number of goals reached when the current segment began.
    pub(crate) reached: u32,
    pub(crate) begin: Odometer,
}

/// Sums over the completed segments of a route, for the fitness of [Gerdelan 2011], equation 12.1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Segments {
    count: u32,
    /// Sum over the segments of the mean penetration divided by the segment length.
    crash: f64,
    /// Sum over the segments of the relative shortfall from the allowed speed. Each term is from 0
    /// to 1.
    haste: f64,
}

/// Running totals of an agent at the time when a segment begins or ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Odometer {
    distance: f64,
    steps: u32,
    penetration: f64,
    road_speed_sum: f64,
    samples: u32,
}

impl Accounts {
    /// Whether the saved totals at the start of the segment are no larger than the current totals
    /// `now`.
    pub(crate) fn begin_before(&self, id: u64, now: &Statistics) -> bool {
        self.of.get(&id).is_none_or(|account| {
            account.begin.samples <= now.samples
                && account.begin.steps <= now.steps
                && are_short_counts([account.collisions, account.segments.count])
        })
    }
}

impl Odometer {
    pub(crate) fn of(statistics: &Statistics) -> Self {
        Self {
            distance: statistics.distance,
            steps: statistics.steps,
            penetration: f64::from(statistics.penetration),
            road_speed_sum: statistics.road_speed_sum,
            samples: statistics.samples,
        }
    }
}

impl Accounts {
    /// Whether no fitness function uses these statistics.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty() && self.counted == 0
    }

    /// Deletes the statistics of an agent that is removed.
    pub(crate) fn forget(&mut self, id: u64) {
        self.of.remove(&id);
        self.deviations.remove(&id);
    }

    /// Copies the statistics of an agent into the inputs of its fitness functions. If `has_arrived`
    /// is set, the current segment counts as completed.
    pub(crate) fn tell(
        &self,
        id: u64,
        statistics: &Statistics,
        dt: f64,
        has_arrived: bool,
        conduct: &mut Conduct,
    ) {
        let Some(account) = self.of.get(&id) else {
            return;
        };
        if let Some(deviation) = self.deviations.get(&id) {
            deviation.tell(conduct);
        }
        conduct.collisions = f64::from(account.collisions);
        conduct.kinetic_energy = account.energy;
        conduct.goal_distance = if has_arrived {
            0.0
        } else {
            account.goal_distance
        };
        let mut segments = account.segments;
        // If no segment has been completed, the unfinished one is rated.
        if has_arrived || segments.count == 0 {
            segments.add(account.begin, Odometer::of(statistics), dt);
        }
        let count = f64::from(segments.count.max(1));
        conduct.segment_crash = segments.crash / count;
        conduct.segment_time_lost = segments.haste / count;
    }
}

impl Segments {
    /// Adds the terms of one segment ([Gerdelan 2011], equation 12.1): the mean penetration divided
    /// by the length of the segment, and the shortfall from the allowed speed.
    pub(crate) fn add(&mut self, from: Odometer, to: Odometer, dt: f64) {
        let steps = f64::from(to.steps - from.steps);
        if steps == 0.0 {
            return;
        }
        let length = to.distance - from.distance;
        let samples = f64::from((to.samples - from.samples).max(1));
        let allowed = (to.road_speed_sum - from.road_speed_sum) / samples;
        let share = if allowed > 0.0 {
            (length / (steps * dt * allowed)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.count += 1;
        self.crash += (to.penetration - from.penetration) / steps / length.max(SHORTEST_SEGMENT);
        self.haste += 1.0 - share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_count_once_an_agent_has_settled() {
        let mut deviation = Deviation::default();
        for _ in 0..100 {
            deviation.add(0.1, 50.0, 1.0);
        }
        assert_eq!(deviation.summed, 0);
        for (offset, speed) in [(3.0, 8.0), (-4.0, 6.0)] {
            deviation.add(0.1, offset, speed);
        }
        let mut conduct = Conduct::default();
        deviation.tell(&mut conduct);
        assert!((conduct.path_error - 12.5f64.sqrt()).abs() < 1e-15);
        assert_eq!(conduct.settled_speed, 7.0);
    }

    #[test]
    fn a_part_is_rated_by_its_length_and_its_time() {
        let mut segments = Segments::default();
        let begin = Odometer::default();
        // 50 m in 100 steps of 0.1 s with an allowed speed of 10 m/s and a mean penetration of 0.2 m.
        let middle = Odometer {
            distance: 50.0,
            steps: 100,
            penetration: 20.0,
            road_speed_sum: 1000.0,
            samples: 100,
        };
        segments.add(begin, middle, 0.1);
        assert_eq!(segments.count, 1);
        assert!((segments.crash - 0.2 / 50.0).abs() < 1e-15);
        assert!((segments.haste - 0.5).abs() < 1e-15);
        // Driving faster than allowed does not improve the result, and a segment without steps is
        // not counted.
        let end = Odometer {
            distance: 90.0,
            steps: 120,
            road_speed_sum: 1200.0,
            samples: 120,
            ..middle
        };
        segments.add(middle, end, 0.1);
        segments.add(end, end, 0.1);
        assert_eq!(segments.count, 2);
        assert!((segments.haste - 0.5).abs() < 1e-15);
    }
}
