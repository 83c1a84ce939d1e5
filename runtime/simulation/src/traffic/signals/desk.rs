//! What is asked of the signals of one programme beyond who waits there: stages that agents call and
//! hold, and what the host keeps while others than its own rules decide.

use super::detectors::Comer;
use crate::agents::Census;
use crate::records::are_short_counts;
use roadwright_scenario::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A stage is held for so long at most, from when somebody has begun to hold it, s. Those who cross wait
/// meanwhile, whoever they are.
pub(crate) const LONGEST_HOLD: f64 = 120.0;
/// Requests that one programme keeps at once.
const MOST_REQUESTS: usize = 64;
/// Detectors lie so far before the stop line, m.
const DETECTOR: f64 = 40.0;

/// What an agent wants of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Wish {
    /// That it comes next.
    Call,
    /// That it stays until a time, s.
    Hold(f64),
}

/// What an agent has asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Request {
    agent: u64,
    stage: u32,
    wish: Wish,
}

/// What is asked of one programme.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Desk {
    /// In the order in which they came; of each agent one call and one hold.
    requests: Vec<Request>,
    /// When the stage that is shown began to be held, s.
    held_since: Option<f64>,
    /// Whether a request has taken fixed times out of their order.
    pub(super) is_off_clock: bool,
    /// Whether the module could not say which stage is next when it was asked last.
    pub(super) is_by_demand: bool,
    /// Since when somebody waits for each stage, s: where a module decides, and from the first request on.
    waiting: Vec<Option<f64>>,
    /// Vehicles within the detectors, by id.
    near: Vec<u64>,
    /// How many have come there since the stage began, by junction and path.
    arrivals: BTreeMap<Connection, u32>,
}

impl Desk {
    /// Takes a request; an agent has one call and one hold. `false` if there are too many.
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

    /// Forgets what an agent has asked for.
    pub(super) fn release(&mut self, agent: u64) {
        self.requests.retain(|known| known.agent != agent);
    }

    /// Forgets that an agent has called a stage.
    pub(super) fn withdraw_call(&mut self, agent: u64) {
        self.requests
            .retain(|known| known.agent != agent || known.wish != Wish::Call);
    }

    /// Forgets what those have asked for who are not there any more.
    pub(super) fn forget_gone(&mut self, agents: Census<'_>) {
        self.requests
            .retain(|known| agents.find(known.agent).is_some());
    }

    /// The stages that are called, one bit each.
    pub(super) fn called(&self) -> u32 {
        let calls = self.requests.iter().filter(|own| own.wish == Wish::Call);
        calls.fold(0, |bits, own| bits | 1u32 << own.stage)
    }

    /// Until when a stage is to be kept at a time, s; `None` if nobody wants that.
    pub(super) fn hold_of(&self, stage: u32, time: f64) -> Option<f64> {
        let holds = self.requests.iter().filter_map(|own| match own.wish {
            Wish::Hold(until) if own.stage == stage && until > time => Some(until),
            _ => None,
        });
        let until = holds.reduce(f64::max)?;
        // However often it is asked for again: the bound counts from the first hold of this green.
        let bound = self.held_since.unwrap_or(time) + LONGEST_HOLD;
        Some(until.min(bound)).filter(|until| *until > time)
    }

    /// Whether the stage that is shown is held; from then on the longest hold counts.
    pub(super) fn holds(&mut self, stage: u32, time: f64) -> bool {
        self.requests
            .retain(|own| !matches!(own.wish, Wish::Hold(until) if until <= time));
        let is_held = self.hold_of(stage, time).is_some();
        if is_held {
            self.held_since.get_or_insert(time);
        }
        is_held
    }

    /// Begins to count who waits for how long.
    pub(super) fn watch(&mut self, stages: usize) {
        self.waiting.resize(stages, None);
    }

    /// Notes which stages somebody waits for, one bit each.
    pub(super) fn note_waits(&mut self, bits: u32, time: f64) {
        // Who need not wait any more and comes back later begins anew.
        for (stage, since) in self.waiting.iter_mut().enumerate() {
            if bits & (1u32 << stage) == 0 {
                *since = None;
            } else {
                since.get_or_insert(time);
            }
        }
    }

    /// The stage that somebody has been waiting for longest, if that is too long.
    pub(super) fn starved(&self, time: f64, longest: impl Fn() -> f64) -> Option<u32> {
        let waits = self.waiting.iter().zip(0u32..);
        let waits = waits.filter_map(|(since, stage)| Some(((*since)?, stage)));
        // Of two that have waited equally long the smaller number, in every run.
        let (since, stage) = waits.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        (time - since >= longest()).then_some(stage)
    }

    /// A stage has just got green: who has called it has it.
    pub(super) fn begin_green(&mut self, stage: u32) {
        self.requests
            .retain(|own| own.wish != Wish::Call || own.stage != stage);
        self.held_since = None;
        self.arrivals.clear();
    }

    /// Counts who has come to the detectors since the last time.
    pub(super) fn detect(&mut self, comers: &[Comer], group: usize) {
        let within = |comer: &&Comer| comer.group == group && comer.distance <= DETECTOR;
        let mut near = Vec::new();
        for comer in comers.iter().filter(within) {
            // Counted when he comes into reach: who was there at the last look has been counted.
            if self.near.binary_search(&comer.id).is_err() {
                *self.arrivals.entry(comer.path).or_default() += 1;
            }
            near.push(comer.id);
        }
        near.sort_unstable();
        self.near = near;
    }

    /// How many have come on a path since the stage began.
    pub(super) fn arrivals(&self, path: Connection) -> u32 {
        self.arrivals.get(&path).copied().unwrap_or(0)
    }

    /// Whether what it keeps is about stages that there are.
    pub(super) fn fits(&self, stages: usize) -> bool {
        let mut requests = self.requests.iter();
        requests.all(|own| (own.stage as usize) < stages)
            && (self.waiting.is_empty() || self.waiting.len() == stages)
            && self.requests.len() <= MOST_REQUESTS
            && are_short_counts(self.arrivals.values().copied())
    }

    /// Whether there is nothing on it.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
