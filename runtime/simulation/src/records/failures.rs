//! Failures of modules from outside in a run.

use roadwright_agent::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Failures of a plugin or script in a run. A run with a failure does not measure that module, because the
/// built-in module drove in its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModuleFailure {
    /// Answers that the built-in module gave instead. Answers that the interface lets a module leave to the host
    /// are not among them.
    pub answers: u64,
    /// Effects of a behaviour that could not be carried out.
    pub effects: u64,
    /// Simulation time of the first one, s.
    pub first_at: f64,
    /// The first problem, for people.
    pub reason: String,
    /// The build that failed first; empty where none ever ran.
    pub build: String,
    /// Simulation time from which the module was not asked any more, s; `None` if it still is.
    pub out_since: Option<f64>,
    /// Whether a process died or a time limit on the wall clock passed, so that the same run may come out
    /// otherwise.
    pub depends_on_machine: bool,
}

impl ModuleFailure {
    /// Answers and effects that failed.
    pub fn count(&self) -> u64 {
        self.answers + self.effects
    }
}

/// The failures of a run by module id.
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

    /// The failures of a module.
    pub(crate) fn of(&self, module: &str) -> Option<&ModuleFailure> {
        self.0.get(module)
    }

    /// All of them, by module id.
    pub(crate) fn into_inner(self) -> BTreeMap<String, ModuleFailure> {
        self.0
    }
}
