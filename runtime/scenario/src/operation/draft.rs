//! A change made in several steps. Each step sees the results of the previous ones.

use crate::edit::{Edit, EditError};
use crate::scenario::Scenario;

/// A scenario that is being modified, with its edits so far.
pub(super) struct Draft {
    after: Scenario,
    edits: Vec<Edit>,
}

impl Draft {
    /// Starts with a copy of a scenario.
    pub(super) fn of(scenario: &Scenario) -> Self {
        Self {
            after: scenario.clone(),
            edits: Vec::new(),
        }
    }

    /// The scenario after the steps so far.
    pub(super) fn now(&self) -> &Scenario {
        &self.after
    }

    /// Applies another step.
    pub(super) fn apply(&mut self, edit: Edit) -> Result<(), EditError> {
        self.after.apply(edit.clone())?;
        self.edits.push(edit);
        Ok(())
    }

    /// Returns all steps as a single edit.
    pub(super) fn edit(self) -> Edit {
        Edit::Batch(self.edits)
    }
}
