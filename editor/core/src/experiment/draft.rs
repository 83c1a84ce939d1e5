//! The experiment being set up, and its errors.

use crate::document::Document;
use roadwright_agent::Registry;
use roadwright_scenario::Scenario;
use roadwright_training::CourseError;
use roadwright_training::genetic::{
    Evaluate, Experiment, Gene, Genome, Problem, ProblemError, parameters, stack_of,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Extension of an experiment's file name.
pub const ENDING: &str = ".experiment.json";

/// An experiment being set up.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The experiment. If it uses the scenario of the document, `scenario` is set only when the experiment is
    /// written; see `Draft::whole`.
    pub experiment: Experiment,
    /// File of the experiment.
    pub path: Option<PathBuf>,
    /// The scenario named in the experiment, with its path; `None` if the experiment uses the scenario of the
    /// document.
    pub scenario: Option<(PathBuf, Arc<Scenario>)>,
    /// Revision number, which grows with every change.
    pub revision: u64,
    /// The experiment as stored in its file.
    pub saved: Option<Experiment>,
    /// Steps that can be undone and redone.
    pub history: DraftHistory,
}

/// Maximum number of changes that can be undone.
const MOST_CHANGES: usize = 200;

/// The part of a draft that undo and redo restore.
#[derive(Debug, Clone)]
pub struct DraftState {
    experiment: Experiment,
    scenario: Option<(PathBuf, Arc<Scenario>)>,
}

/// The gesture during which a change was made. All changes of one gesture form one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gesture {
    /// Press time of the held button, as the bits of a double.
    pub pressed: Option<u64>,
    /// The field with keyboard focus.
    pub field: Option<u64>,
}

/// Earlier states of a draft for undo and redo.
#[derive(Debug, Clone, Default)]
pub struct DraftHistory {
    before: Vec<DraftState>,
    after: Vec<DraftState>,
    gesture: Gesture,
}

impl DraftHistory {
    /// Whether there are changes to undo, and whether there are changes to redo.
    pub fn has(&self) -> (bool, bool) {
        (!self.before.is_empty(), !self.after.is_empty())
    }
}

impl Draft {
    /// Whether the experiment uses the scenario of the document.
    pub fn is_on_document(&self) -> bool {
        self.experiment.course.is_none() && self.scenario.is_none()
    }

    /// Returns the title of the experiment.
    pub fn title(&self) -> String {
        let name = self.path.as_deref().and_then(Path::file_name);
        let name = name.map(|name| name.to_string_lossy().into_owned());
        name.map_or_else(
            || "Untitled".into(),
            |name| name.strip_suffix(ENDING).unwrap_or(&name).to_owned(),
        )
    }

    /// Whether the draft has unsaved changes.
    pub fn is_dirty(&self) -> bool {
        self.saved.as_ref() != Some(&self.experiment)
    }

    /// Returns the current state of the part that undo and redo restore.
    pub fn state(&self) -> DraftState {
        DraftState {
            experiment: self.experiment.clone(),
            scenario: self.scenario.clone(),
        }
    }

    fn put(&mut self, state: DraftState) -> DraftState {
        DraftState {
            experiment: std::mem::replace(&mut self.experiment, state.experiment),
            scenario: std::mem::replace(&mut self.scenario, state.scenario),
        }
    }

    /// Records a change made in a gesture. `before` is the state before the change.
    pub fn note(&mut self, before: DraftState, gesture: Gesture) {
        if before.experiment == self.experiment {
            return;
        }
        let history = &mut self.history;
        let goes_on = gesture != Gesture::default() && gesture == history.gesture;
        history.gesture = gesture;
        history.after.clear();
        // A gesture keeps only the state before its first change.
        if goes_on && !history.before.is_empty() {
            return;
        }
        history.before.push(before);
        if history.before.len() > MOST_CHANGES {
            history.before.remove(0);
        }
    }

    /// Undoes the last change.
    pub fn undo(&mut self) {
        self.history.gesture = Gesture::default();
        if let Some(state) = self.history.before.pop() {
            let left = self.put(state);
            self.history.after.push(left);
        }
    }

    /// Redoes the change that was last undone.
    pub fn redo(&mut self) {
        self.history.gesture = Gesture::default();
        if let Some(state) = self.history.after.pop() {
            let left = self.put(state);
            self.history.before.push(left);
        }
    }

    /// Returns the experiment with its scenario filled in, to be saved in the given folder.
    pub fn whole(
        &self,
        document: &Document,
        folder: Option<&Path>,
    ) -> (Experiment, Option<Arc<Scenario>>) {
        let mut whole = self.experiment.clone();
        if whole.course.is_some() {
            return (whole, None);
        }
        let (path, scenario) = match &self.scenario {
            Some((path, scenario)) => (Some(path.as_path()), scenario.clone()),
            None => (document.path(), document.base().clone()),
        };
        let named = path.map(|path| from_folder(path, folder));
        whole.scenario = Some(named.unwrap_or_else(|| document.title()));
        (whole, Some(scenario))
    }
}

/// Returns a path relative to `folder` if the two have a common prefix, otherwise the path unchanged.
fn from_folder(path: &Path, folder: Option<&Path>) -> String {
    let relative = folder.and_then(|folder| {
        let (mut own, mut base) = (path.components().peekable(), folder.components().peekable());
        let mut shared = 0;
        while own.peek().is_some() && own.peek() == base.peek() {
            own.next();
            base.next();
            shared += 1;
        }
        // Paths that share only the root do not belong together.
        let is_near = shared > 1 || (!path.is_absolute() && folder.as_os_str().is_empty());
        let up = base.map(|_| "..");
        let down = own.map(|part| part.as_os_str().to_str());
        let parts: Option<Vec<&str>> = up.map(Some).chain(down).collect();
        parts.filter(|_| is_near).map(|parts| parts.join("/"))
    });
    relative.unwrap_or_else(|| path.display().to_string())
}

/// An error in an experiment: a key of its file and a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The key in the experiment's file.
    pub key: &'static str,
    /// The message for the user.
    pub message: String,
}

/// The parameters of an experiment's stack, and which of them are genes.
#[derive(Debug, Clone, Default)]
pub struct Ticks {
    /// All parameters of the stack.
    pub all: Vec<Gene>,
    /// Names of the parameters that are genes.
    pub chosen: BTreeSet<String>,
}

impl Ticks {
    /// Lists the parameters of an experiment's stack and marks its genes; empty if the stack is
    /// missing.
    pub fn of(experiment: &Experiment, scenario: Option<&Scenario>, registry: &Registry) -> Self {
        let Ok(stack) = stack_of(experiment, scenario, registry) else {
            return Self::default();
        };
        // Patterns are tried separately, so that a pattern without matches does not hide the matches of
        // others.
        let chosen = experiment.genes.iter().flat_map(|pattern| {
            let chosen = Genome::choose(std::slice::from_ref(pattern), &stack, registry);
            let chosen = chosen.iter().flat_map(Genome::genes);
            chosen.map(Gene::name).collect::<Vec<_>>()
        });
        Self {
            chosen: chosen.collect(),
            all: parameters(&stack, registry),
        }
    }
}

/// Result of checking a draft.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// The revisions of the draft and of the document that were checked.
    pub of: (u64, u64),
    /// Number of drives in each run.
    pub drives: usize,
    /// The error that prevents training, if any.
    pub fault: Option<Fault>,
}

/// A request to check a draft.
pub struct Question {
    /// Revisions of the draft and of the document.
    pub of: (u64, u64),
    /// The draft to be checked.
    pub experiment: Experiment,
    /// The scenario of the draft, if it needs one.
    pub scenario: Option<Arc<Scenario>>,
    /// The available modules.
    pub registry: Registry,
}

/// Checks whether a draft can be trained.
pub fn check(question: Question) -> Checked {
    let Question {
        of,
        experiment,
        scenario,
        registry,
    } = question;
    let mut checked = Checked {
        of,
        ..Checked::default()
    };
    // The problem owns its scenario, but the document's scenario is shared.
    let scenario = scenario.map(|scenario| Scenario::clone(&scenario));
    checked.fault = match experiment.fault() {
        Some((key, message)) => Some(Fault { key, message }),
        None => match Problem::new(&experiment, scenario, &registry) {
            Ok(problem) => {
                checked.drives = problem.drives_of_a_run();
                None
            }
            Err(error) => Some(Fault {
                key: key_of(&error),
                message: error.to_string(),
            }),
        },
    };
    checked
}

/// Returns the key at which an error is reported.
fn key_of(error: &ProblemError) -> &'static str {
    match error {
        ProblemError::Genes(_) => "genes",
        ProblemError::NoStack { .. } | ProblemError::Simulation(_) => "stack",
        ProblemError::Course(error) if matches!(**error, CourseError::NoSuchVehicle { .. }) => {
            "vehicle"
        }
        ProblemError::Course(_) | ProblemError::NoScenario => "course",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_named_from_the_folder_of_the_experiment_on() {
        let named =
            |path: &str, folder: Option<&str>| from_folder(Path::new(path), folder.map(Path::new));
        assert_eq!(named("/a/b/x.json", Some("/a/b")), "x.json");
        assert_eq!(named("/a/b/x.json", Some("/a/c/d")), "../../b/x.json");
        assert_eq!(named("/a/x.json", Some("/b")), "/a/x.json");
        assert_eq!(named("/a/x.json", None), "/a/x.json");
        assert_eq!(named("s/x.json", Some("")), "s/x.json");
    }
}
