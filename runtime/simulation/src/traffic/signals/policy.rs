//! The policy that chooses the next stage: a fixed-time plan, demand, or a module.

use super::desk::Desk;
use crate::modules::SignalControllers;
use roadwright_agent::{
    ByDemand, FixedTimes, ParameterSet, SignalController, SignalFacts, SignalView,
};
use roadwright_scenario::SignalMode;
use roadwright_scenario::junction::Programme;
use std::sync::Arc;

/// Policy that chooses the next stage in a step, and its outcome.
pub(super) struct Policy<'a> {
    /// Mode that chooses the next stage if no module decides.
    pub(super) mode: SignalMode,
    /// The module that makes a decision in this step, with the facts that it receives.
    pub(super) module: Option<(&'a mut SignalControllers, usize, Option<Arc<SignalFacts>>)>,
    /// Whether the programme has a module, even if the module makes no decision in this step.
    pub(super) has_module: bool,
    /// The fault of the module, if any.
    pub(super) fault: Option<String>,
}

impl Policy<'_> {
    /// Chooses the next stage; `None` if the current stage should continue.
    pub(super) fn decide(&mut self, desk: &mut Desk, view: SignalView<'_>) -> Option<u32> {
        if let Some((controllers, group, facts)) = &mut self.module {
            let facts = facts.as_ref();
            let answer = controllers.decide(*group, &SignalView { facts, ..view });
            // After a fault, demand decides until the module is called again.
            desk.is_by_demand = answer.is_err();
            match answer {
                Ok(next) => return next,
                Err(fault) => self.fault = Some(fault),
            }
        } else if self.has_module && !desk.is_by_demand {
            // The last decision of the module was to keep the stage, and it still applies.
            return None;
        }
        let parameters = ParameterSet::new(&[]);
        let answer = match self.mode {
            SignalMode::Fixed => FixedTimes.decide(&parameters, &view),
            _ => ByDemand.decide(&parameters, &view),
        };
        answer.ok().flatten()
    }
}

/// Returns the stage that a fixed-time plan shows, or is changing to, at `time` (in seconds).
pub(super) fn planned(programme: &Programme, time: f64) -> u32 {
    let (stage, within) = programme.stage_at(time);
    if within < programme.stages[stage].green {
        stage as u32
    } else {
        programme.next(stage) as u32
    }
}
