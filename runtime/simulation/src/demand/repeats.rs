//! Agents that set out again when they have arrived.

use super::{Departure, Departures};
use crate::agents::{FinishedRow, Status};
use std::collections::BTreeMap;

/// Agents that set out again, as they start each time. It follows from the scenario alone: who waits for
/// the next start is among the departures, which are saved.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// By id; their time is how long after an arrival they come, s.
    again: BTreeMap<u64, Departure>,
}

impl Repeats {
    /// Agents by their ids; their time is how long after an arrival they come, s.
    pub(crate) fn new(again: BTreeMap<u64, Departure>) -> Self {
        Self { again }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.again.keys().copied()
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        self.again.contains_key(&id)
    }

    /// After a step that ended at a time, s: those who have arrived in it come again later. Who was
    /// refused, or taken out by an edit, does not.
    pub(crate) fn after(&self, ended: &[FinishedRow], time: f64, departures: &mut Departures) {
        // Nearly always nobody does.
        if self.again.is_empty() || ended.is_empty() {
            return;
        }
        // Who was taken out does not come again.
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
