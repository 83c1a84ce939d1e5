//! Flows: agents that appear at random times at a mean rate.

use super::Start;
use crate::route::Goal;
use roadwright_geometry::math::{Stream, ln};
use roadwright_scenario::{Flow, FlowId};

/// Ids of flow agents start here, above those of agents in files.
const FIRST_ID: u64 = 1 << 40;

/// A flow that is running.
pub(crate) struct RunningFlow {
    pub(crate) flow: Flow,
    /// Its places on the lanelets, found once.
    pub(crate) start: Start,
    pub(crate) goals: Vec<Goal>,
    id: FlowId,
    stream: Stream,
    next_time: f64,
    count: u64,
}

impl RunningFlow {
    pub(crate) fn new(
        id: FlowId,
        flow: &Flow,
        (start, goals): (Start, Vec<Goal>),
        seed: u64,
    ) -> Self {
        let mut running = Self {
            flow: flow.clone(),
            start,
            goals,
            id,
            stream: Stream::new(seed, "flow", u64::from(id.0)),
            next_time: flow.begin,
            count: 0,
        };
        running.next_time += running.gap();
        running
    }

    /// Time to the next agent: exponential, so that arrivals are a Poisson process.
    fn gap(&mut self) -> f64 {
        let rate = self.flow.rate_per_hour / 3600.0;
        if rate <= 0.0 {
            return f64::INFINITY;
        }
        -ln(1.0 - self.stream.next_unit()) / rate
    }

    /// Takes over from the same flow before an edit: its agents go on as they were to come.
    pub(crate) fn continue_from(&mut self, before: &Self) {
        self.stream = before.stream.clone();
        self.count = before.count;
        if self.flow.rate_per_hour == before.flow.rate_per_hour {
            self.next_time = before.next_time.max(self.flow.begin);
        }
    }

    /// Lets the first agent come after `time` at the earliest.
    pub(crate) fn start_after(&mut self, time: f64) {
        if self.next_time < time {
            self.next_time = time + self.gap();
        }
    }

    /// Whether an agent is one of this flow.
    pub(crate) fn owns(&self, agent: u64) -> bool {
        agent >= FIRST_ID && (agent - FIRST_ID) >> 32 == u64::from(self.id.0)
    }

    pub(crate) fn id(&self) -> FlowId {
        self.id
    }

    /// The id of an agent that is due at `time`, if there is one.
    pub(crate) fn due(&mut self, time: f64) -> Option<u64> {
        if self.next_time > time || self.next_time > self.flow.end {
            return None;
        }
        self.next_time += self.gap();
        self.count += 1;
        Some(FIRST_ID + (u64::from(self.id.0) << 32) + self.count)
    }
}
