//! Agents that depart again after they have arrived.

use super::{Departure, Departures};
use crate::agents::{FinishedRow, Status};
use std::collections::BTreeMap;

/// Repeating agents in their initial state. The list depends only on the scenario. Agents that wait
/// for their next start are among the departures, which are saved.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// Agents by id. The `time` of each agent is the pause after its arrival, s.
    again: BTreeMap<u64, Departure>,
}

impl Repeats {
    /// Creates the list from agents by id. The `time` of each agent is the pause after its arrival, s.
    pub(crate) fn new(again: BTreeMap<u64, Departure>) -> Self {
        Self { again }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.again.keys().copied()
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        self.again.contains_key(&id)
    }

    /// Schedules the next departures of the agents that arrived in the step that ended at `time`, s. Agents
    /// that were refused or removed by an edit do not depart again.
    pub(crate) fn after(&self, ended: &[FinishedRow], time: f64, departures: &mut Departures) {
        // Almost every step returns here.
        if self.again.is_empty() || ended.is_empty() {
            return;
        }
        // Agents that were removed do not depart again.
        let arrived = ended.iter().filter(|row| row.status == Status::Arrived);
        let again: Vec<Departure> = arrived
            .filter_map(|row| self.again.get(&row.id))
            .map(|departure| Departure {
                time: time + departure.time,
                ..departure.clone()
            })
            .collect();
        if !again.is_empty() {
            departures.add(again);
        }
    }
}
