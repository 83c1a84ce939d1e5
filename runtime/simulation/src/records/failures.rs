//! Failures of external modules in a run.

use roadwright_agent::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Failures of a plugin or script in a run. If there are any, the results of the run do not reflect
/// the performance of the module, because a built-in module took its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModuleFailure {
    /// Number of answers that the built-in module gave in place of the module. Answers that a
    /// module may leave to the host are not counted.
    pub answers: u64,
    /// Number of effects of a behaviour that could not be carried out.
    pub effects: u64,
    /// Simulation time of the first failure, s.
    pub first_at: f64,
    /// Message of the first failure.
    pub reason: String,
    /// Build that failed first; empty if no build of the module ever ran.
    pub build: String,
    /// Simulation time at which the host gave up on the module, s; `None` if the module is still
    /// called.
    pub out_since: Option<f64>,
    /// Whether a process died or a wall-clock limit was exceeded. If so, repeating the run may give different
    /// results.
    pub depends_on_machine: bool,
}

impl ModuleFailure {
    /// Number of failed answers and effects.
    pub fn count(&self) -> u64 {
        self.answers + self.effects
    }
}

/// Failures of a run by module id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModuleFailures(BTreeMap<String, ModuleFailure>);

impl ModuleFailures {
    /// Adds the failures of a module in a step.
    pub(crate) fn add(&mut self, module: &str, time: f64, failure: Failure) {
        let entry = self.entry(module, time, || failure.reason);
        entry.answers += failure.answers;
        entry.depends_on_machine |= failure.depends_on_machine;
        if entry.build.is_empty() {
            entry.build = failure.build;
        }
        if failure.is_out {
            entry.out_since.get_or_insert(time);
        }
    }

    /// Counts an effect that could not be carried out.
    pub(crate) fn add_effect(&mut self, module: &str, time: f64, reason: &str) {
        self.entry(module, time, || reason.to_owned()).effects += 1;
    }

    fn entry(
        &mut self,
        module: &str,
        time: f64,
        reason: impl FnOnce() -> String,
    ) -> &mut ModuleFailure {
        let known = self.0.entry(module.to_owned());
        known.or_insert_with(|| ModuleFailure {
            first_at: time,
            reason: reason(),
            ..ModuleFailure::default()
        })
    }

    /// Failures of a module.
    pub(crate) fn of(&self, module: &str) -> Option<&ModuleFailure> {
        self.0.get(module)
    }

    /// All failures, by module id.
    pub(crate) fn into_inner(self) -> BTreeMap<String, ModuleFailure> {
        self.0
    }
}
