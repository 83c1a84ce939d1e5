//! Counts of the vehicles that have been stationary for longer than a minute, by cause.

use super::Standing;
use super::chain::{Stops, Walk};
use crate::clock::Clock;
use crate::records::{AgentIndex, are_countable};
use crate::summary::StandingCount;
use roadwright_agent::Rate;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A stationary vehicle is counted after this time, s.
const STANDS_LONG: f64 = 60.0;
/// Frequency at which stationary vehicles are counted, Hz.
const RATE: f64 = 0.2;
/// Causes that are not counted. Signals may show red for longer than a minute. Vehicles may stay at
/// a destination or remain stationary under manual control for as long as their behaviour or user
/// wants.
const NOT_COUNTED: [&str; 3] = ["red", "destination", "hand"];

/// Numbers of stationary vehicles by cause. They are part of saves but not of the state hash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingCounts {
    by_cause: BTreeMap<String, StandingCount>,
    /// Agents that have been counted and have not moved since.
    counted: BTreeSet<u64>,
    /// Agents that belong to counted rings and are still stationary.
    deadlocked: BTreeSet<u64>,
}

impl StandingCounts {
    /// Whether vehicles are counted after this step.
    pub(crate) fn are_due(clock: &Clock) -> bool {
        Rate::new(RATE, clock.dt).is_due(clock.step, 0)
    }

    /// Counts by cause, in the order of the causes' names.
    pub(crate) fn list(&self) -> Vec<StandingCount> {
        self.by_cause.values().cloned().collect()
    }

    /// Whether the counts are valid after being read from a save.
    pub(crate) fn is_sound(&self) -> bool {
        let is_finite = |count: &StandingCount| {
            count.time.is_finite() && count.at.iter().all(|value| value.is_finite())
        };
        let counts = self.by_cause.values().map(|count| count.count);
        self.by_cause.values().all(is_finite) && are_countable(counts)
    }

    /// Counts the vehicles that have reached one minute at a standstill since the last update.
    /// Returns the agents of each new ring.
    pub(crate) fn update(&mut self, standing: &Standing<'_>) -> Vec<Vec<u64>> {
        let long = standing.standing_long();
        if long.is_empty() {
            self.counted.clear();
            self.deadlocked.clear();
            return Vec::new();
        }
        let ids: BTreeMap<u64, AgentIndex> = long
            .into_iter()
            .map(|agent| (standing.id(agent), agent))
            .collect();
        self.counted.retain(|id| ids.contains_key(id));
        self.deadlocked.retain(|id| ids.contains_key(id));
        let mut stops = Stops::new();
        for (&id, &agent) in &ids {
            if self.counted.insert(id) {
                let walk = standing.walk(agent, 0.0, &mut stops);
                self.count(walk.cause(&stops), agent, standing);
            }
        }
        self.new_rings(&ids, standing, &mut stops)
    }

    /// Returns the agents of each ring that has not been counted before. O(vehicles that have been
    /// stationary for a minute).
    fn new_rings(
        &mut self,
        long: &BTreeMap<u64, AgentIndex>,
        standing: &Standing<'_>,
        stops: &mut Stops,
    ) -> Vec<Vec<u64>> {
        let mut seen = BTreeSet::new();
        let mut rings = Vec::new();
        for &agent in long.values() {
            if seen.contains(&agent) {
                continue;
            }
            let found = standing.find_ring(agent, STANDS_LONG, stops, &mut seen);
            let Some(ring) = found.as_ref().and_then(Walk::ring) else {
                continue;
            };
            let members: Vec<u64> = ring.iter().map(|&agent| standing.id(agent)).collect();
            if members.iter().all(|id| !self.deadlocked.contains(id)) {
                self.deadlocked.extend(&members);
                rings.push(members);
            }
        }
        rings
    }

    fn count(&mut self, cause: &str, agent: AgentIndex, standing: &Standing<'_>) {
        if NOT_COUNTED.contains(&cause) {
            return;
        }
        let count = self.by_cause.entry(cause.to_owned());
        let first = || StandingCount {
            cause: cause.to_owned(),
            count: 0,
            agent: standing.id(agent),
            time: standing.clock.time(),
            at: standing.front(agent).to_array(),
        };
        count.or_insert_with(first).count += 1;
    }
}

impl Standing<'_> {
    /// Agents that have been stationary for at least a minute.
    fn standing_long(&self) -> Vec<AgentIndex> {
        let agents = self.view.agents.driving();
        agents
            .filter(|&agent| self.time_of(agent) >= STANDS_LONG)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_forged_save_are_refused() {
        let of = |count| StandingCounts {
            by_cause: BTreeMap::from([(
                "gap".to_owned(),
                StandingCount {
                    cause: "gap".to_owned(),
                    count,
                    agent: 1,
                    time: 60.0,
                    at: [0.0, 0.0],
                },
            )]),
            ..StandingCounts::default()
        };
        assert!(of(3).is_sound());
        assert!(!of(u64::MAX).is_sound());
    }
}
