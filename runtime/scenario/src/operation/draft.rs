//! A change in several steps, each of which looks at what the ones before have made.

use crate::edit::{Edit, EditError};
use crate::scenario::Scenario;

/// A scenario while it is changed, and the edits so far.
pub(super) struct Draft {
    after: Scenario,
    edits: Vec<Edit>,
}

impl Draft {
    /// Begins with a scenario as it is.
    pub(super) fn of(scenario: &Scenario) -> Self {
        Self {
            after: scenario.clone(),
            edits: Vec::new(),
        }
    }

    /// How it is now.
    pub(super) fn now(&self) -> &Scenario {
        &self.after
    }

    /// One more step.
    pub(super) fn apply(&mut self, edit: Edit) -> Result<(), EditError> {
        self.after.apply(edit.clone())?;
        self.edits.push(edit);
        Ok(())
    }

    /// All steps as one.
    pub(super) fn edit(self) -> Edit {
        Edit::Batch(self.edits)
    }
}
