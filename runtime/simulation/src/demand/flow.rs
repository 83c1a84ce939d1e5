//! Flows: agents that are spawned at random times at a mean rate.

use super::Start;
use crate::route::Goal;
use roadwright_geometry::math::{Stream, ln};
use roadwright_scenario::{Flow, FlowId};
use serde::{Deserialize, Serialize};

/// Origin of an agent, encoded in its id.
///
/// ```text
/// 0 .. 2^39                          scenario, then random trips: by count
/// 2^39 + number                      number-th vehicle added by scripts
/// 2^40 + flow * 2^32 + number        number-th agent of a flow
/// ```
///
/// The ids of a flow's agents do not depend on other flows or on scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentKey {
    /// An agent of the scenario, or a random trip.
    Counted(u64),
    /// A vehicle added by a script, numbered from 1.
    Added(u64),
    /// An agent of a flow, numbered from 1.
    OfFlow(FlowId, u64),
}

impl AgentKey {
    const ADDED: u64 = 1 << 39;
    const FIRST_OF_FLOWS: u64 = 1 << 40;

    pub(crate) fn of(id: u64) -> Self {
        if let Some(place) = id.checked_sub(Self::FIRST_OF_FLOWS) {
            return Self::OfFlow(FlowId((place >> 32) as u32), place & u64::from(u32::MAX));
        }
        id.checked_sub(Self::ADDED)
            .map_or(Self::Counted(id), Self::Added)
    }

    pub(crate) fn id(self) -> u64 {
        match self {
            Self::Counted(id) => id,
            Self::Added(number) => Self::ADDED + number,
            Self::OfFlow(flow, number) => Self::FIRST_OF_FLOWS + (u64::from(flow.0) << 32) + number,
        }
    }
}

/// Short display name of an agent by its id: `agent 7`, `flow 3, 12th` for the 12th agent of a flow, or
/// `added vehicle 2` for one added by a script.
pub fn agent_name(id: u64) -> String {
    match AgentKey::of(id) {
        AgentKey::Counted(id) => format!("agent {id}"),
        AgentKey::Added(number) => format!("added vehicle {number}"),
        AgentKey::OfFlow(flow, number) => format!("{flow}, {number}{}", ordinal(number)),
    }
}

fn ordinal(number: u64) -> &'static str {
    match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

/// In a valid save, the next agent of a flow is overdue by at most this time, s.
const LATEST: f64 = 10.0;
/// Maximum number of agents that a flow can spawn, because agent ids reserve 32 bits for this
/// number. A save with a higher count is rejected.
const MOST_AGENTS: u64 = 1 << 32;

/// A flow of the scenario with its progress in this run.
pub(crate) struct RunningFlow {
    pub(crate) flow: Flow,
    /// Start of the flow's agents on a lanelet. It is located only once.
    pub(crate) start: Start,
    pub(crate) goals: Vec<Goal>,
    progress: FlowProgress,
}

/// State of a flow: the random stream, the time of the next agent, and the number of agents so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlowProgress {
    pub(crate) id: FlowId,
    rate_per_hour: f64,
    stream: Stream,
    next_time: f64,
    count: u64,
}

impl RunningFlow {
    pub(crate) fn new(id: FlowId, flow: &Flow, start: Start, goals: Vec<Goal>, seed: u64) -> Self {
        let mut running = Self {
            flow: flow.clone(),
            start,
            goals,
            progress: FlowProgress {
                id,
                rate_per_hour: flow.rate_per_hour.get(),
                stream: Stream::new(seed, "flow", u64::from(id.0)),
                next_time: flow.begin.get(),
                count: 0,
            },
        };
        running.progress.next_time += running.progress.gap();
        running
    }

    /// Continues the flow from its progress before an edit: keeps the random stream and the count
    /// and, if the rate is unchanged, the time of the next agent.
    pub(crate) fn continue_from(&mut self, before: &FlowProgress) {
        let now = &mut self.progress;
        // The flow continues with the same random numbers and ids, so an edit elsewhere changes nothing here.
        // If the rate differs, the gap that has already been drawn is invalid.
        now.stream = before.stream.clone();
        now.count = before.count;
        if now.rate_per_hour == before.rate_per_hour {
            now.next_time = before.next_time.max(self.flow.begin.get());
        }
    }

    /// Delays the first agent until after `time`, in seconds.
    pub(crate) fn start_after(&mut self, time: f64) {
        // A Poisson process has no memory: at any moment, the time to the next agent has the same
        // distribution as a gap.
        if self.progress.next_time < time {
            self.progress.next_time = time + self.progress.gap();
        }
    }

    /// Whether an agent belongs to this flow.
    pub(crate) fn owns(&self, agent: u64) -> bool {
        matches!(AgentKey::of(agent), AgentKey::OfFlow(flow, _) if flow == self.progress.id)
    }

    pub(crate) fn progress(&self) -> &FlowProgress {
        &self.progress
    }

    /// Resumes the flow exactly at its saved progress. `time` is the current time, s. If the rate
    /// or the start time has changed, the flow continues as after an edit. Returns `false` if the
    /// progress is invalid.
    pub(crate) fn resume(&mut self, progress: FlowProgress, time: f64) -> bool {
        if !progress.is_sound() {
            return false;
        }
        let is_same = progress.rate_per_hour.to_bits() == self.progress.rate_per_hour.to_bits();
        if is_same && progress.next_time >= self.flow.begin {
            // Otherwise, all agents that have become due since the saved time would be spawned in
            // one step.
            if progress.next_time < (time - LATEST).min(self.flow.end.get()) {
                return false;
            }
            self.progress = progress;
        } else {
            self.continue_from(&progress);
            self.start_after(time);
        }
        true
    }

    /// Returns the id of the flow's next agent and draws the time of the agent after it. `None` if
    /// no agent is due at `time`.
    pub(crate) fn due(&mut self, time: f64) -> Option<u64> {
        let progress = &mut self.progress;
        if progress.next_time > time || progress.next_time > self.flow.end {
            return None;
        }
        progress.next_time += progress.gap();
        progress.count += 1;
        Some(AgentKey::OfFlow(progress.id, progress.count).id())
    }
}

impl FlowProgress {
    /// Whether the saved progress of a flow is valid.
    pub(crate) fn is_sound(&self) -> bool {
        !self.next_time.is_nan() && self.count <= MOST_AGENTS
    }

    /// Draws the time to the next agent. It is exponentially distributed, so that arrivals are a Poisson
    /// process.
    fn gap(&mut self) -> f64 {
        let rate = self.rate_per_hour / 3600.0;
        if rate <= 0.0 {
            return f64::INFINITY;
        }
        // A unit number is below 1, so the logarithm is finite.
        -ln(1.0 - self.stream.next_unit()) / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_agents_say_where_they_come_from() {
        for key in [
            AgentKey::Counted(1),
            AgentKey::Counted((1 << 39) - 1),
            AgentKey::Added(100_000),
            AgentKey::OfFlow(FlowId(1), 1),
            AgentKey::OfFlow(FlowId(4_000_000_000), 7),
        ] {
            assert_eq!(AgentKey::of(key.id()), key);
        }
        assert_eq!(
            AgentKey::OfFlow(FlowId(2), 5).id(),
            (1 << 40) + (2 << 32) + 5
        );
        let name = |number| agent_name(AgentKey::OfFlow(FlowId(3), number).id());
        assert_eq!(agent_name(7), "agent 7");
        assert_eq!(agent_name(AgentKey::Added(2).id()), "added vehicle 2");
        assert_eq!(
            [1, 12, 22].map(name),
            ["flow 3, 1st", "flow 3, 12th", "flow 3, 22nd"]
        );
    }
}
