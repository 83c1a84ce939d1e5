//! Agents that have not been spawned: future departures, and due departures that wait in the queue
//! of their lane until there is room.
//!
//! As long as a jam reaches back to the start of a flow, the queue of the flow grows. Each step
//! examines only the first agent of each queue, so long queues cost nothing.

use super::{Departure, Start};
use roadwright_scenario::lane_graph::LaneletIndex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Agents that have not been spawned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Departures {
    /// Future departures, sorted by time, then by id.
    coming: VecDeque<Departure>,
    /// Due departures in order of arrival, by the lanelet on which they wait.
    queues: BTreeMap<LaneletIndex, VecDeque<Departure>>,
    /// Like `queues`, but for agents off the lanes, which do not queue behind each other.
    off_lanes: VecDeque<Departure>,
}

impl Departures {
    /// Adds an agent. Call [`sort`](Self::sort) afterwards.
    pub(crate) fn push(&mut self, departure: Departure) {
        self.coming.push_back(departure);
    }

    /// Adds agents with future departures, and leaves queues unchanged.
    pub(crate) fn add(&mut self, later: Vec<Departure>) {
        self.coming.extend(later);
        self.sort_coming();
    }

    /// Sorts all departures by time, then by id. Queues are dissolved, and their agents become due again.
    pub(crate) fn sort(&mut self) {
        // Queues are keyed by lanelet, and an edit may have moved the agents to other lanelets.
        let waiting = std::mem::take(&mut self.queues).into_values().flatten();
        self.coming.extend(waiting);
        self.coming.append(&mut self.off_lanes);
        self.sort_coming();
    }

    fn sort_coming(&mut self) {
        let all = self.coming.make_contiguous();
        all.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.id.cmp(&b.id)));
    }

    /// Moves due departures into the queues. Agents of flows queue behind earlier agents.
    pub(crate) fn come(&mut self, time: f64, of_flows: Vec<Departure>) {
        let due = self.coming.partition_point(|next| next.time <= time);
        for departure in self.coming.drain(..due).chain(of_flows) {
            match departure.start {
                Start::Lane { lanelet, .. } => {
                    self.queues.entry(lanelet).or_default().push_back(departure);
                }
                Start::Ground(_) => self.off_lanes.push_back(departure),
            }
        }
    }

    /// Offers waiting agents to `admit`, which hands an agent back if there is no room for it. A
    /// queue is processed from the front until its first agent is handed back. Off the lanes, every
    /// agent is tried. O(queues + admitted agents + agents off the lanes), regardless of the length
    /// of the queues.
    pub(crate) fn offer(&mut self, mut admit: impl FnMut(Departure) -> Option<Departure>) {
        self.queues.retain(|_, queue| {
            while let Some(first) = queue.pop_front() {
                if let Some(back) = admit(first) {
                    queue.push_front(back);
                    return true;
                }
            }
            false
        });
        // Off the lanes, each agent has its own start, so the first agent must not hold up the
        // others.
        for _ in 0..self.off_lanes.len() {
            let next = self.off_lanes.pop_front();
            self.off_lanes.extend(next.and_then(&mut admit));
        }
    }

    /// Iterates over all departures, including the queued ones.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Departure> {
        let queues = self.queues.values().flatten();
        self.coming.iter().chain(queues).chain(&self.off_lanes)
    }

    /// All departures as mutable references. Call [`sort`](Self::sort) afterwards if places or times were
    /// changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Departure> {
        let queues = self.queues.values_mut().flatten();
        let coming = self.coming.iter_mut().chain(queues);
        coming.chain(&mut self.off_lanes)
    }

    /// Keeps only the departures for which `stays` returns true.
    pub(crate) fn retain(&mut self, mut stays: impl FnMut(&Departure) -> bool) {
        self.coming.retain(&mut stays);
        self.off_lanes.retain(&mut stays);
        self.queues.retain(|_, queue| {
            queue.retain(&mut stays);
            !queue.is_empty()
        });
    }

    /// Number of departures.
    pub(crate) fn len(&self) -> usize {
        self.coming.len() + self.queued()
    }

    /// Number of due departures that wait for room.
    pub(crate) fn queued(&self) -> usize {
        let at_lanes = self.queues.values().map(VecDeque::len);
        at_lanes.sum::<usize>() + self.off_lanes.len()
    }

    /// Whether there are no departures.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
