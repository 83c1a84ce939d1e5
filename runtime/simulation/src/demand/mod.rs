//! Demand: which agents drive, when, and between which places.

mod departure;
mod departures;
mod flow;
mod pools;
mod populate;
mod repeats;
#[cfg(test)]
mod tests;

pub(crate) use departure::{Departure, REACH, Room, Start, places, places_on_foot};
pub(crate) use departures::Departures;
pub use flow::agent_name;
pub(crate) use flow::{AgentKey, FlowProgress, RunningFlow};
pub(crate) use populate::trips;
pub use populate::{RandomTrip, random_trips};
pub(crate) use repeats::Repeats;

use crate::options::Population;

/// Agents that have not been spawned yet, and the flows that create further agents.
#[derive(Default)]
pub(crate) struct Demand {
    /// Agents that have not been spawned.
    pub(crate) departures: Departures,
    pub(crate) flows: Vec<RunningFlow>,
    /// Agents that depart again after they have arrived. The list is derived from the scenario.
    pub(crate) repeats: Repeats,
    /// Progress of flows that an edit has removed. If a later edit adds such a flow again, the flow
    /// continues its counts.
    pub(crate) retired_flows: Vec<FlowProgress>,
    /// Statistics of random trips; `None` if none were requested.
    pub(crate) population: Option<Population>,
    /// Number of vehicles that scripts have added so far.
    pub(crate) spawned: u64,
}

impl Demand {
    /// Whether no agent is waiting and no flow can add further agents.
    pub(crate) fn is_over(&self, time: f64) -> bool {
        self.departures.is_empty() && self.flows.iter().all(|flow| flow.flow.end < time)
    }

    /// Replaces the flows by those of an edited scenario. `time` is the current time, s.
    pub(crate) fn take_flows(&mut self, mut flows: Vec<RunningFlow>, time: f64) {
        for flow in &mut flows {
            // A flow that is added again after its removal continues its count.
            let running = self.flows.iter().map(RunningFlow::progress);
            let mut known = running.chain(&self.retired_flows);
            let before = known.find(|before| before.id == flow.progress().id);
            if let Some(before) = before.cloned() {
                flow.continue_from(&before);
            }
            flow.start_after(time);
        }
        let gone = self.flows.iter().map(|flow| flow.progress().clone());
        self.retired_flows.extend(gone);
        let is_back = |old: &FlowProgress| flows.iter().any(|flow| flow.progress().id == old.id);
        self.retired_flows.retain(|old| !is_back(old));
        self.flows = flows;
    }
}
