//! A change made in several steps. Each step operates on the result of the previous ones.

use crate::edit::{Edit, EditError};
use crate::scenario::Scenario;

/// A scenario under modification, with the edits made to it.
pub(super) struct Draft {
    after: Scenario,
    edits: Vec<Edit>,
}

impl Draft {
    /// Creates a draft from a copy of a scenario.
    pub(super) fn of(scenario: &Scenario) -> Self {
        Self {
            after: scenario.clone(),
            edits: Vec::new(),
        }
    }

    /// Returns the scenario with all previous steps applied.
    pub(super) fn now(&self) -> &Scenario {
        &self.after
    }

    /// Applies another step.
    pub(super) fn apply(&mut self, edit: Edit) -> Result<(), EditError> {
        self.after.apply(edit.clone())?;
        self.edits.push(edit);
        Ok(())
    }

    /// Returns all steps as one edit.
    pub(super) fn edit(self) -> Edit {
        Edit::Batch(self.edits)
    }
}
