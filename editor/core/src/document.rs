//! The document: a scenario with its history and its file.

use roadwright_scenario::{Edit, EditError, History, Scenario, file};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Title of a scenario without a name.
pub const UNTITLED: &str = "Untitled";

/// Returns the name of a scenario's file without its extension.
pub fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    Some(name.trim_end_matches(".scenario.json").to_owned())
}

/// A scenario that is being edited.
///
/// It changes only through [`apply`](Self::apply), gestures, undo and redo. Each change gives it a new
/// [`revision`](Self::revision).
#[derive(Debug, Clone)]
pub struct Document {
    scenario: Arc<Scenario>,
    history: History,
    path: Option<PathBuf>,
    /// Modification time of the file when this program last read or wrote it.
    file_time: Option<SystemTime>,
    revision: u64,
    /// Number of the document, unique in this program.
    id: u64,
    /// State numbers of the steps in effect and of the undone steps.
    states: Vec<u64>,
    undone_states: Vec<u64>,
    saved_state: Option<u64>,
    /// The scenario before the gesture in progress.
    base: Option<Arc<Scenario>>,
    /// The label of the gesture in progress.
    gesture: Option<String>,
}

impl Document {
    /// Creates a document for a scenario without a file.
    pub fn new(scenario: Scenario) -> Self {
        Self {
            scenario: Arc::new(scenario),
            history: History::default(),
            path: None,
            file_time: None,
            revision: 1,
            id: fresh(),
            states: vec![0],
            undone_states: Vec::new(),
            saved_state: Some(0),
            base: None,
            gesture: None,
        }
    }

    /// Creates a document that was read from a file.
    pub fn from_file(scenario: Scenario, path: &Path) -> Self {
        Self {
            path: Some(path.to_owned()),
            file_time: modified(path),
            ..Self::new(scenario)
        }
    }

    /// Returns the current scenario.
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// Returns the steps that can be undone and redone.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the revision number, which grows with every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the file of the document, if any.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether the document has unsaved changes.
    pub fn is_dirty(&self) -> bool {
        self.gesture.is_some() || Some(self.state()) != self.saved_state
    }

    /// Marks the document as never saved. Used for recovered and imported scenarios, because no
    /// file contains them.
    pub fn mark_dirty(&mut self) {
        self.saved_state = None;
    }

    /// Returns the number of the current state. Undo and redo return to the same numbers, so a
    /// saved document is clean again after undoing later steps. Repeating an edit gives a new
    /// number.
    pub fn state(&self) -> u64 {
        *self.states.last().unwrap_or(&0)
    }

    /// Returns the number of the document, unique in this program.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the scenario before the gesture in progress, or the current one if there is no
    /// gesture.
    pub fn base(&self) -> &Arc<Scenario> {
        self.base.as_ref().unwrap_or(&self.scenario)
    }

    /// Returns the title of the document: the name of its file, or of its scenario.
    pub fn title(&self) -> String {
        let name = self.path.as_deref().and_then(name_of);
        name.unwrap_or_else(|| self.scenario.about().name.clone())
    }

    /// Applies an edit as a separate step. An edit without effect adds no step.
    ///
    /// # Errors
    /// As for [`Scenario::apply`]. The document then stays unchanged.
    pub fn apply(&mut self, label: &str, edit: Edit) -> Result<(), EditError> {
        self.commit();
        if is_empty(&edit) {
            return Ok(());
        }
        self.history
            .apply(Arc::make_mut(&mut self.scenario), label, edit)?;
        self.revision += 1;
        self.push_state();
        Ok(())
    }

    /// Applies an edit as the current state of the gesture in progress, in place of the gesture's
    /// previous edit. A different label starts a new gesture.
    ///
    /// # Errors
    /// As for [`Scenario::apply`]. The gesture then has no effect.
    pub fn preview(&mut self, label: &str, edit: Edit) -> Result<(), EditError> {
        if self.gesture.as_deref() != Some(label) {
            self.commit();
        }
        if self.gesture.is_none() {
            self.base = Some(self.scenario.clone());
        }
        // Workers and the run keep older revisions, so a shared scenario is copied here. Roads and terrain
        // stay shared even then.
        let scenario = Arc::make_mut(&mut self.scenario);
        // The gesture's previous edit is reverted first, because its edits apply to the base.
        if self.gesture.is_some() {
            self.history.abort(scenario);
        }
        self.history.begin(label);
        // An edit without effect also gets a new revision, because the previous edit was reverted.
        self.gesture = Some(label.to_owned());
        self.revision += 1;
        if is_empty(&edit) {
            return Ok(());
        }
        self.history.apply(scenario, label, edit)
    }

    /// Ends the gesture in progress and makes its last state one step.
    pub fn commit(&mut self) {
        if self.gesture.take().is_some() {
            // The scenario stays as last shown, so its revision does not change.
            self.base = None;
            // A gesture that ended where it began leaves no step.
            let before = self.history.undo_labels().count();
            self.history.end();
            if self.history.undo_labels().count() > before {
                self.push_state();
            }
        }
    }

    /// Ends the gesture in progress if it has this label.
    pub fn commit_gesture(&mut self, label: &str) {
        if self.gesture.as_deref() == Some(label) {
            self.commit();
        }
    }

    // Numbers of states, where 0 is the opened document:
    //
    //   edit, edit            states 0 1 2
    //   save                  saved_state 2: clean
    //   undo                  states 0 1, undone 2: not clean
    //   redo                  states 0 1 2: clean again
    //   undo, another edit    states 0 1 3: state 2 is unreachable, so the document stays unsaved
    fn push_state(&mut self) {
        self.states.push(fresh());
        self.undone_states.clear();
    }

    /// Reverts the gesture in progress.
    pub fn abort(&mut self) {
        if self.gesture.take().is_some() {
            self.base = None;
            self.history.abort(Arc::make_mut(&mut self.scenario));
            self.revision += 1;
        }
    }

    /// Undoes a step and returns its label; `None` if there is nothing to undo.
    pub fn undo(&mut self) -> Option<String> {
        self.commit();
        // After the commit, because a gesture in progress is the step to undo.
        let label = self.history.undo_labels().last().map(str::to_owned)?;
        self.history.undo(Arc::make_mut(&mut self.scenario));
        self.undone_states.extend(self.states.pop());
        self.revision += 1;
        Some(label)
    }

    /// Redoes a step and returns its label; `None` if there is nothing to redo.
    pub fn redo(&mut self) -> Option<String> {
        self.commit();
        let label = self.history.redo_labels().next().map(str::to_owned)?;
        self.history.redo(Arc::make_mut(&mut self.scenario));
        self.states.extend(self.undone_states.pop());
        self.revision += 1;
        Some(label)
    }

    /// Undoes or redoes steps until `steps` of them are in effect.
    pub fn go_to(&mut self, steps: usize) {
        // Step by step, so that states move between done and undone.
        while self.history.undo_labels().count() > steps && self.undo().is_some() {}
        while self.history.undo_labels().count() < steps && self.redo().is_some() {}
    }

    /// Records that a state has been written to `path`.
    pub fn saved_as(&mut self, path: &Path, state: u64) {
        self.path = Some(path.to_owned());
        self.file_time = modified(path);
        // Edits made since that state stay unsaved.
        self.saved_state = Some(state);
    }

    /// Whether another program has written the file since it was read or saved.
    pub fn changed_on_disk(&self) -> bool {
        match (&self.path, self.file_time) {
            // A deleted file does not count as changed; saving writes it again.
            (Some(path), Some(known)) => modified(path).is_some_and(|now| now != known),
            _ => false,
        }
    }

    /// Accepts the file on disk, so that the same change is not reported again.
    pub fn accept_disk(&mut self) {
        self.file_time = self.path.as_deref().and_then(modified);
    }

    /// Returns the text that saving writes.
    pub fn text(&self) -> String {
        file::to_text(&self.scenario)
    }
}

/// Returns a new unique number.
fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path)
        .and_then(|data| data.modified())
        .ok()
}

fn is_empty(edit: &Edit) -> bool {
    match edit {
        Edit::Batch(edits) => edits.iter().all(is_empty),
        Edit::TerrainSamples(samples) => samples.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_scenario::{Node, NodeId};

    fn node(id: u32, x: f64) -> Edit {
        Edit::Node(
            NodeId(id),
            Some(Node::at(roadwright_geometry::DVec2::new(x, 0.0))),
        )
    }

    #[test]
    fn a_gesture_is_one_step_and_can_be_taken_back() {
        let mut document = Document::new(Scenario::new("test"));
        let empty = document.scenario().clone();
        for x in 0..10 {
            document
                .preview("Move node", node(1, f64::from(x)))
                .unwrap();
        }
        document.commit();
        assert_eq!(document.history().undo_labels().count(), 1);
        assert_eq!(document.undo().as_deref(), Some("Move node"));
        assert_eq!(*document.scenario(), empty);
        document.preview("Move node", node(1, 3.0)).unwrap();
        document.abort();
        assert_eq!(*document.scenario(), empty);
    }

    #[test]
    fn a_click_on_the_history_goes_there() {
        let mut document = Document::new(Scenario::new("test"));
        for id in 1..=5 {
            document.apply("Add node", node(id, 0.0)).unwrap();
        }
        document.go_to(2);
        assert_eq!(document.scenario().network().node_count(), 2);
        document.go_to(4);
        assert_eq!(document.scenario().network().node_count(), 4);
    }

    #[test]
    fn it_is_dirty_until_that_very_state_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.scenario.json");
        let mut document = Document::new(Scenario::new("test"));
        assert!(!document.is_dirty());
        document.apply("Add node", node(1, 0.0)).unwrap();
        let state = document.state();
        document.apply("Add node", node(2, 0.0)).unwrap();
        std::fs::write(&path, document.text()).unwrap();
        document.saved_as(&path, state);
        assert!(document.is_dirty());
        document.saved_as(&path, document.state());
        assert!(!document.is_dirty() && document.title() == "a");
        document.undo();
        assert!(document.is_dirty());
        document.redo();
        assert!(!document.is_dirty());
        document.preview("Move node", node(1, 9.0)).unwrap();
        assert!(document.is_dirty());
        document.abort();
        assert!(!document.is_dirty());
    }
}
