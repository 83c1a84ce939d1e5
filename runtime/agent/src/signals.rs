//! Who decides what traffic signals show: one question, and what is told with it.
//!
//! A controller of signals says which stage is next, and nothing else. Shortest greens, amber, red for
//! all and the longest wait are kept by the host, and stages are free of conflicts: whatever a
//! controller answers, nobody gets green together with somebody whom it crosses.

use crate::module::Logic;
use crate::parameter::ParameterSet;
use roadwright_scenario::RoadId;
use roadwright_scenario::junction::{Light, StageTimes, Turn};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Who comes near some signals.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Demand {
    /// Vehicles that stand before the stop line, or creep.
    pub queue: u32,
    /// Vehicles that have passed the detectors since the stage began to be shown; counted only where a
    /// module decides.
    pub arrivals: u32,
    /// How long the one of them that has been standing longest has done so, s.
    pub longest_wait: f64,
}

impl Demand {
    /// Both together.
    pub fn with(self, other: Self) -> Self {
        Self {
            queue: self.queue + other.queue,
            arrivals: self.arrivals + other.arrivals,
            longest_wait: self.longest_wait.max(other.longest_wait),
        }
    }
}

/// The vehicles that come from one road and turn in one way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovementFacts {
    /// The road that they come from.
    pub road: RoadId,
    /// Where they turn.
    pub turn: Turn,
    /// The stages in which they have green, one bit each.
    pub stages: u32,
    /// Who comes.
    pub demand: Demand,
}

/// One stage of some signals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageFacts {
    /// How long it lasts.
    pub times: StageTimes,
    /// All who have green in it together.
    pub demand: Demand,
    /// Whether somebody waits for it, or has called it.
    pub is_called: bool,
}

/// What can be seen of the signals of one programme.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SignalFacts {
    /// The smallest of their nodes.
    pub node: u32,
    /// Simulation time, s.
    pub time: f64,
    /// Number of the step.
    pub step: u64,
    /// Seed of the run.
    pub seed: u64,
    /// The stage that is shown, or has been shown last while they change.
    pub stage: u32,
    /// The stage that comes next, while they change.
    pub next: Option<u32>,
    /// How long they have shown the stage, or have been changing, s.
    pub elapsed: f64,
    /// Until the green can end: what is left of its fixed time, or of the shortest one, s; while they
    /// change, until the next stage begins. 0 where a green goes on by demand.
    pub remaining: f64,
    /// The stage that fixed times would show now, or be changing to.
    pub planned: u32,
    /// The stages.
    pub stages: Vec<StageFacts>,
    /// The movements, by road and turn.
    pub movements: Vec<MovementFacts>,
    /// The most that any lane of a road has.
    pub lights: BTreeMap<RoadId, Light>,
}

/// What a controller of signals is told while a stage has green and may end.
#[derive(Debug, Clone, Copy)]
pub struct SignalView<'a> {
    /// The stage that is shown.
    pub stage: u32,
    /// For how long somebody has been waiting for another stage while this one was shown, s; `None` if
    /// nobody waits.
    pub opposed_for: Option<f64>,
    /// The stages that somebody waits for, one bit each.
    pub calls: u32,
    /// Whether vehicles with green come near.
    pub is_extended: bool,
    /// The stage that fixed times would show now, or be changing to; where times are not fixed, the one
    /// that is shown.
    pub planned: u32,
    /// How long stages last.
    pub times: &'a [StageTimes],
    /// Who comes; only for those that look at it ([`SignalController::wants_facts`]).
    pub facts: Option<&'a Arc<SignalFacts>>,
}

/// Decides which stage of the signals of one programme is next. Each programme has an instance of its
/// own.
pub trait SignalController: Logic {
    /// The stage that is to come; `None` to keep the one that is shown, which any answer but another
    /// stage means as well.
    ///
    /// # Errors
    /// What went wrong; the host decides by demand then.
    fn decide(
        &mut self,
        parameters: &ParameterSet,
        view: &SignalView<'_>,
    ) -> Result<Option<u32>, String>;

    /// Whether it looks at queues and arrivals: then it is asked once a second, else in every step.
    fn wants_facts(&self) -> bool {
        true
    }
}

/// By fixed times.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedTimes;

impl Logic for FixedTimes {}

impl SignalController for FixedTimes {
    fn decide(&mut self, _: &ParameterSet, view: &SignalView<'_>) -> Result<Option<u32>, String> {
        Ok((view.planned != view.stage).then_some(view.planned))
    }

    fn wants_facts(&self) -> bool {
        false
    }
}

/// By demand: a stage stays while vehicles with green come near, until somebody else has waited for
/// the longest green; then comes the next stage that somebody waits for.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByDemand;

impl Logic for ByDemand {}

impl SignalController for ByDemand {
    fn decide(&mut self, _: &ParameterSet, view: &SignalView<'_>) -> Result<Option<u32>, String> {
        let goes_on = view.is_extended && !view.is_overdue();
        Ok(if goes_on { None } else { view.next_called() })
    }

    fn wants_facts(&self) -> bool {
        false
    }
}

/// Times are sums of steps.
const ROUNDING: f64 = 1e-9;

impl SignalView<'_> {
    /// Whether somebody has waited for the longest green of the stage.
    pub fn is_overdue(&self) -> bool {
        let longest = self.times[self.stage as usize].max;
        self.opposed_for
            .is_some_and(|waited| waited + ROUNDING >= longest)
    }

    /// The next stage after this one that somebody waits for.
    pub fn next_called(&self) -> Option<u32> {
        let count = self.times.len() as u32;
        // In the order of the programme, from the one after this to the one before it: nobody is passed
        // over for ever.
        let mut following = (1..count).map(|i| (self.stage + i) % count);
        following.find(|stage| self.calls & (1 << stage) != 0)
    }
}
