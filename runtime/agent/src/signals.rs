//! Signal controllers: the trait of modules that select the next stage, and the information that
//! they receive.
//!
//! A signal controller only selects the next stage. The host enforces minimum green, amber, all-red
//! and the maximum waiting time, and the stages themselves are free of conflicts. Two conflicting
//! movements therefore never have green at the same time, whatever a controller answers.

use crate::module::Logic;
use crate::parameter::ParameterSet;
use roadwright_scenario::RoadId;
use roadwright_scenario::junction::{Light, StageTimes, Turn};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Traffic demand at a set of signals.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Demand {
    /// Number of stopped or crawling vehicles before the stop line.
    pub queue: u32,
    /// Number of vehicles that have passed the detectors since the stage began. Counted only if a
    /// module controls the signals.
    pub arrivals: u32,
    /// Longest standing time of a queued vehicle, in seconds.
    pub longest_wait: f64,
}

impl Demand {
    /// Combines two demands: queues and arrivals are added, and the longer wait is kept.
    pub fn with(self, other: Self) -> Self {
        Self {
            queue: self.queue + other.queue,
            arrivals: self.arrivals + other.arrivals,
            longest_wait: self.longest_wait.max(other.longest_wait),
        }
    }
}

/// A movement: vehicles that arrive on one road and make the same turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovementFacts {
    /// Road on which the vehicles arrive.
    pub road: RoadId,
    /// Turn that the vehicles make.
    pub turn: Turn,
    /// Bit mask of the stages in which the movement has green.
    pub stages: u32,
    /// Demand of the movement.
    pub demand: Demand,
}

/// One stage of a signal programme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageFacts {
    /// Durations of the stage.
    pub times: StageTimes,
    /// Combined demand of all movements with green in the stage.
    pub demand: Demand,
    /// Whether a vehicle or pedestrian is waiting for the stage, or an agent has called it.
    pub is_called: bool,
}

/// Visible state of the signals of one programme.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SignalFacts {
    /// Smallest node id among the signals.
    pub node: u32,
    /// Simulation time, in seconds.
    pub time: f64,
    /// Step number.
    pub step: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Current stage, or the previous one during a change of stage.
    pub stage: u32,
    /// Next stage, during a change of stage.
    pub next: Option<u32>,
    /// Time since the stage began or, during a change, since the change began, in seconds.
    pub elapsed: f64,
    /// Time until the green can end, in seconds: the rest of the fixed or minimum green or, during
    /// a change, the time until the next stage begins. It is 0 while demand extends the green.
    pub remaining: f64,
    /// Stage that the fixed-time plan would show now, or to which it would be changing.
    pub planned: u32,
    /// The stages.
    pub stages: Vec<StageFacts>,
    /// The movements, by road and turn.
    pub movements: Vec<MovementFacts>,
    /// Most permissive light of any lane of a road, by road.
    pub lights: BTreeMap<RoadId, Light>,
}

/// Input of a signal controller while a stage has green and may end.
#[derive(Debug, Clone, Copy)]
pub struct SignalView<'a> {
    /// Current stage.
    pub stage: u32,
    /// Time for which other traffic has waited for another stage, in seconds; `None` if no traffic
    /// is waiting.
    pub opposed_for: Option<f64>,
    /// Bit mask of the stages that have been called or have traffic waiting.
    pub calls: u32,
    /// Whether vehicles with green are approaching.
    pub is_extended: bool,
    /// Stage that the fixed-time plan would show now, or to which it would be changing. Without
    /// such a plan, this is the current stage.
    pub planned: u32,
    /// Durations of the stages.
    pub times: &'a [StageTimes],
    /// Demand; `None` unless the controller needs it ([`SignalController::wants_facts`]).
    pub facts: Option<&'a Arc<SignalFacts>>,
}

/// Selects the next stage of a signal programme. Each programme has its own instance.
pub trait SignalController: Logic {
    /// Returns the next stage, or `None` to keep the current one. Invalid stages and the current stage also
    /// keep the current one.
    ///
    /// # Errors
    /// If the controller fails. The error describes the failure, and the host falls back to actuated control.
    fn decide(
        &mut self,
        parameters: &ParameterSet,
        view: &SignalView<'_>,
    ) -> Result<Option<u32>, String>;

    /// Whether the controller uses queues and arrivals. If so, it is called once per second, otherwise in
    /// every step.
    fn wants_facts(&self) -> bool {
        true
    }
}

/// Fixed-time control.
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

/// Actuated control: a stage continues while vehicles with green approach, until other traffic has
/// waited for the maximum green. It is followed by the next stage with waiting traffic.
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

/// Tolerance for times that are sums of steps, in seconds.
const ROUNDING: f64 = 1e-9;

impl SignalView<'_> {
    /// Whether other traffic has waited for the maximum green of the stage.
    pub fn is_overdue(&self) -> bool {
        let longest = self.times[self.stage as usize].max;
        self.opposed_for
            .is_some_and(|waited| waited + ROUNDING >= longest)
    }

    /// Returns the next called stage after the current one; `None` if there is none.
    pub fn next_called(&self) -> Option<u32> {
        let count = self.times.len() as u32;
        // The search is in programme order and starts after the current stage, so that no stage is
        // skipped indefinitely.
        let mut following = (1..count).map(|i| (self.stage + i) % count);
        following.find(|stage| self.calls & (1 << stage) != 0)
    }
}
