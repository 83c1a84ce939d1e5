//! Undo and redo. Each user gesture is one step.

use crate::edit::{Edit, EditError};
use crate::scenario::Scenario;

/// The steps that can be undone and redone.
///
/// All edits between [`begin`](Self::begin) and [`end`](Self::end) form one step, so that a drag
/// that sends one edit per frame is undone as a whole.
#[derive(Debug, Clone, Default)]
pub struct History {
    undo: Vec<Step>,
    redo: Vec<Step>,
    /// The gesture in progress.
    open: Option<Step>,
}

/// An undoable step: its label, and the edits that undo it, in the order in which the changes were made.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    label: String,
    inverses: Vec<Edit>,
}

impl History {
    /// Starts a gesture. If another gesture is open, it is ended first.
    pub fn begin(&mut self, label: &str) {
        self.end();
        self.open = Some(Step {
            label: label.into(),
            inverses: Vec::new(),
        });
    }

    /// Applies an edit to the scenario and records how to undo it.
    ///
    /// Outside a gesture, the edit forms a separate step.
    ///
    /// # Errors
    /// As for [`Scenario::apply`]; in that case, nothing is recorded.
    pub fn apply(
        &mut self,
        scenario: &mut Scenario,
        label: &str,
        edit: Edit,
    ) -> Result<(), EditError> {
        // The edit is applied first, so that the redo steps are kept if the scenario rejects it.
        let inverse = scenario.apply(edit)?;
        // The redo steps are discarded because their edits may refer to objects that this edit
        // deletes.
        self.redo.clear();
        match &mut self.open {
            Some(step) => step.inverses.push(inverse),
            None => self.undo.push(Step {
                label: label.into(),
                inverses: vec![inverse],
            }),
        }
        Ok(())
    }

    /// Ends the gesture. A gesture without edits leaves no step.
    pub fn end(&mut self) {
        if let Some(step) = self.open.take().filter(|step| !step.inverses.is_empty()) {
            self.undo.push(step);
        }
    }

    /// Undoes all edits of the open gesture and ends it without a step.
    pub fn abort(&mut self, scenario: &mut Scenario) {
        if let Some(step) = self.open.take() {
            turn(scenario, step);
        }
    }

    /// Undoes the last step. Returns `false` if there is none.
    pub fn undo(&mut self, scenario: &mut Scenario) -> bool {
        self.end();
        let Some(step) = self.undo.pop() else {
            return false;
        };
        self.redo.push(turn(scenario, step));
        true
    }

    /// Redoes the last undone step. Returns `false` if there is none.
    pub fn redo(&mut self, scenario: &mut Scenario) -> bool {
        let Some(step) = self.redo.pop() else {
            return false;
        };
        self.undo.push(turn(scenario, step));
        true
    }

    /// Returns the labels of the steps that can be undone, oldest first.
    pub fn undo_labels(&self) -> impl Iterator<Item = &str> {
        self.undo.iter().map(|step| step.label.as_str())
    }

    /// Returns the labels of the steps that can be redone, next one first.
    pub fn redo_labels(&self) -> impl Iterator<Item = &str> {
        self.redo.iter().rev().map(|step| step.label.as_str())
    }
}

/// Undoes a step and returns the step that reverts the undo.
fn turn(scenario: &mut Scenario, step: Step) -> Step {
    // The edits a, b of a drag have the inverses [a', b']. Undoing applies b' and then a', and
    // collects their inverses in this order: [b'', a'']. Undoing that step applies a'' and then
    // b'', which repeats the drag. The same function therefore serves both undo and redo.
    let inverses = step
        .inverses
        .into_iter()
        .rev()
        .map(|edit| {
            scenario
                .apply(edit)
                .expect("the inverse of an applied edit is valid")
        })
        .collect();
    Step {
        label: step.label,
        inverses,
    }
}
