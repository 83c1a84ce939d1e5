//! Requests for the stages of one programme: the stages that agents call and hold, and the records
//! that the host keeps while agents or modules control the signals.

use super::detectors::Comer;
use crate::agents::Census;
use crate::records::are_short_counts;
use roadwright_scenario::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A stage can be held for at most this time, s. All crossing traffic waits during a hold.
pub(crate) const LONGEST_HOLD: f64 = 120.0;
/// Maximum number of pending requests for one programme.
const MOST_REQUESTS: usize = 64;
/// Distance of detectors from the stop line, m.
const DETECTOR: f64 = 40.0;

/// Request of an agent for a stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Wish {
    /// The stage should come next.
    Call,
    /// The stage should stay green until the given time, s.
    Hold(f64),
}

/// A request, with the agent that made it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Request {
    agent: u64,
    stage: u32,
    wish: Wish,
}

/// Requests for one programme, with waiting times and detectors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Desk {
    /// Requests in the order of their arrival, at most one call and one hold per agent.
    requests: Vec<Request>,
    /// Time at which the hold of the current stage began, s.
    held_since: Option<f64>,
    /// Whether a request of an agent has taken the signals off their fixed-time plan.
    pub(super) is_off_clock: bool,
    /// Whether the module failed in its last call, so that demand decides instead.
    pub(super) is_by_demand: bool,
    /// For each stage, the time when vehicles or pedestrians began to wait for it, s. Recorded
    /// while a module decides, and after the first request.
    waiting: Vec<Option<f64>>,
    /// Ids of the vehicles within range of the detectors.
    near: Vec<u64>,
    /// Number of vehicles that have reached the detectors since the stage began, by connection.
    arrivals: BTreeMap<Connection, u32>,
}

impl Desk {
    /// Adds a request. It replaces an earlier request of the same kind by the same agent. Returns `false` if
    /// there are too many requests.
    pub(super) fn ask(&mut self, agent: u64, stage: u32, wish: Wish, stages: usize) -> bool {
        let is_call = wish == Wish::Call;
        self.requests
            .retain(|known| known.agent != agent || (known.wish == Wish::Call) != is_call);
        if self.requests.len() == MOST_REQUESTS {
            return false;
        }
        self.requests.push(Request { agent, stage, wish });
        self.waiting.resize(stages, None);
        true
    }

    /// Drops the requests of an agent.
    pub(super) fn release(&mut self, agent: u64) {
        self.requests.retain(|known| known.agent != agent);
    }

    /// Drops the call of an agent.
    pub(super) fn withdraw_call(&mut self, agent: u64) {
        self.requests
            .retain(|known| known.agent != agent || known.wish != Wish::Call);
    }

    /// Drops the requests of agents that no longer exist.
    pub(super) fn forget_gone(&mut self, agents: Census<'_>) {
        self.requests
            .retain(|known| agents.find(known.agent).is_some());
    }

    /// Stages that agents have called, one bit each.
    pub(super) fn called(&self) -> u32 {
        let calls = self.requests.iter().filter(|own| own.wish == Wish::Call);
        calls.fold(0, |bits, own| bits | 1u32 << own.stage)
    }

    /// Returns when the hold of a stage ends, s; `None` if the stage is not held at `time`.
    pub(super) fn hold_of(&self, stage: u32, time: f64) -> Option<f64> {
        let holds = self.requests.iter().filter_map(|own| match own.wish {
            Wish::Hold(until) if own.stage == stage && until > time => Some(until),
            _ => None,
        });
        let until = holds.reduce(f64::max)?;
        // The limit counts from the first hold of this green, even if the request is repeated.
        let bound = self.held_since.unwrap_or(time) + LONGEST_HOLD;
        Some(until.min(bound)).filter(|until| *until > time)
    }

    /// Whether the current stage is held. The time limit of a hold counts from the first call that returns
    /// `true`.
    pub(super) fn holds(&mut self, stage: u32, time: f64) -> bool {
        self.requests
            .retain(|own| !matches!(own.wish, Wish::Hold(until) if until <= time));
        let is_held = self.hold_of(stage, time).is_some();
        if is_held {
            self.held_since.get_or_insert(time);
        }
        is_held
    }

    /// Starts to record waiting times.
    pub(super) fn watch(&mut self, stages: usize) {
        self.waiting.resize(stages, None);
    }

    /// Records the stages that vehicles or pedestrians wait for, one bit each.
    pub(super) fn note_waits(&mut self, bits: u32, time: f64) {
        // If a wait ends and resumes later, it starts from zero.
        for (stage, since) in self.waiting.iter_mut().enumerate() {
            if bits & (1u32 << stage) == 0 {
                *since = None;
            } else {
                since.get_or_insert(time);
            }
        }
    }

    /// Returns the stage that has waited longest if it has waited too long; otherwise `None`.
    pub(super) fn starved(&self, time: f64, longest: impl Fn() -> f64) -> Option<u32> {
        let waits = self.waiting.iter().zip(0u32..);
        let waits = waits.filter_map(|(since, stage)| Some(((*since)?, stage)));
        // If two stages have waited equally long, the one with the smaller number is chosen, so that runs are
        // reproducible.
        let (since, stage) = waits.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        (time - since >= longest()).then_some(stage)
    }

    /// Records that a stage has just become green, which fulfils the calls for this stage.
    pub(super) fn begin_green(&mut self, stage: u32) {
        self.requests
            .retain(|own| own.wish != Wish::Call || own.stage != stage);
        self.held_since = None;
        self.arrivals.clear();
    }

    /// Counts the vehicles that have reached the detectors since the last call.
    pub(super) fn detect(&mut self, comers: &[Comer], group: usize) {
        let within = |comer: &&Comer| comer.group == group && comer.distance <= DETECTOR;
        let mut near = Vec::new();
        for comer in comers.iter().filter(within) {
            // Vehicles are counted on arrival. Vehicles that were near in the previous call have
            // already been counted.
            if self.near.binary_search(&comer.id).is_err() {
                *self.arrivals.entry(comer.path).or_default() += 1;
            }
            near.push(comer.id);
        }
        near.sort_unstable();
        self.near = near;
    }

    /// Number of vehicles that have arrived on a connection since the stage began.
    pub(super) fn arrivals(&self, path: Connection) -> u32 {
        self.arrivals.get(&path).copied().unwrap_or(0)
    }

    /// Whether all stages in these records exist.
    pub(super) fn fits(&self, stages: usize) -> bool {
        let mut requests = self.requests.iter();
        requests.all(|own| (own.stage as usize) < stages)
            && (self.waiting.is_empty() || self.waiting.len() == stages)
            && self.requests.len() <= MOST_REQUESTS
            && are_short_counts(self.arrivals.values().copied())
    }

    /// Whether there are no requests or records.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
