//! The experiment that is being set up, and what is wrong with it.

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

/// What the name of an experiment's file ends with.
pub const ENDING: &str = ".experiment.json";

/// An experiment that is set up.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The experiment. Where it is driven on the scenario of the document, its `scenario` is only known when it is
    /// written: see `Draft::whole`.
    pub experiment: Experiment,
    /// Its file.
    pub path: Option<PathBuf>,
    /// The scenario that it names, with its path, if that is not the document's.
    pub scenario: Option<(PathBuf, Arc<Scenario>)>,
    /// Grows with every change.
    pub revision: u64,
    /// The experiment as it stands in its file.
    pub saved: Option<Experiment>,
    /// What it was before, and what was taken back.
    pub history: DraftHistory,
}

/// Most changes that can be taken back.
const MOST_CHANGES: usize = 200;

/// What of a draft a change changes.
#[derive(Debug, Clone)]
pub struct DraftState {
    experiment: Experiment,
    scenario: Option<(PathBuf, Arc<Scenario>)>,
}

/// The gesture that a change belongs to. Changes of one gesture are one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gesture {
    /// When the button was pressed that is still down, as the bits of a time.
    pub pressed: Option<u64>,
    /// The field that has the keyboard.
    pub field: Option<u64>,
}

/// The states that a draft had, to be taken back and put back again.
#[derive(Debug, Clone, Default)]
pub struct DraftHistory {
    before: Vec<DraftState>,
    after: Vec<DraftState>,
    gesture: Gesture,
}

impl DraftHistory {
    /// Whether there is a change to take back, and whether there is one to put back.
    pub fn has(&self) -> (bool, bool) {
        (!self.before.is_empty(), !self.after.is_empty())
    }
}

impl Draft {
    /// Whether it is driven on the scenario of the document.
    pub fn is_on_document(&self) -> bool {
        self.experiment.course.is_none() && self.scenario.is_none()
    }

    /// What it is called.
    pub fn title(&self) -> String {
        let name = self.path.as_deref().and_then(Path::file_name);
        let name = name.map(|name| name.to_string_lossy().into_owned());
        name.map_or_else(
            || "Untitled".into(),
            |name| name.strip_suffix(ENDING).unwrap_or(&name).to_owned(),
        )
    }

    /// Whether its file does not hold it.
    pub fn is_dirty(&self) -> bool {
        self.saved.as_ref() != Some(&self.experiment)
    }

    /// What a change changes, as it is.
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

    /// Notes that it was changed in a gesture.
    pub fn note(&mut self, before: DraftState, gesture: Gesture) {
        if before.experiment == self.experiment {
            return;
        }
        let history = &mut self.history;
        let goes_on = gesture != Gesture::default() && gesture == history.gesture;
        history.gesture = gesture;
        history.after.clear();
        // Of one gesture the state before it counts.
        if goes_on && !history.before.is_empty() {
            return;
        }
        history.before.push(before);
        if history.before.len() > MOST_CHANGES {
            history.before.remove(0);
        }
    }

    /// Takes the last change back.
    pub fn undo(&mut self) {
        self.history.gesture = Gesture::default();
        if let Some(state) = self.history.before.pop() {
            let left = self.put(state);
            self.history.after.push(left);
        }
    }

    /// Puts the change back that was taken back last.
    pub fn redo(&mut self) {
        self.history.gesture = Gesture::default();
        if let Some(state) = self.history.after.pop() {
            let left = self.put(state);
            self.history.before.push(left);
        }
    }

    /// The experiment with the scenario that it names, for a file in a folder.
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

/// A path as it is named in a file of a folder: from there on, if both have a beginning in common.
fn from_folder(path: &Path, folder: Option<&Path>) -> String {
    let relative = folder.and_then(|folder| {
        let (mut own, mut base) = (path.components().peekable(), folder.components().peekable());
        let mut shared = 0;
        while own.peek().is_some() && own.peek() == base.peek() {
            own.next();
            base.next();
            shared += 1;
        }
        // A common root alone is nothing that moves together.
        let is_near = shared > 1 || (!path.is_absolute() && folder.as_os_str().is_empty());
        let up = base.map(|_| "..");
        let down = own.map(|part| part.as_os_str().to_str());
        let parts: Option<Vec<&str>> = up.map(Some).chain(down).collect();
        parts.filter(|_| is_near).map(|parts| parts.join("/"))
    });
    relative.unwrap_or_else(|| path.display().to_string())
}

/// What is wrong with an experiment: a key of its file, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The key.
    pub key: &'static str,
    /// What is wrong, for people.
    pub message: String,
}

/// The parameters of the stack of an experiment, and which of them are genes.
#[derive(Debug, Clone, Default)]
pub struct Ticks {
    /// All of them.
    pub all: Vec<Gene>,
    /// Names of those that are genes.
    pub chosen: BTreeSet<String>,
}

impl Ticks {
    /// Those of an experiment; none if its stack is not there.
    pub fn of(experiment: &Experiment, scenario: Option<&Scenario>, registry: &Registry) -> Self {
        let Ok(stack) = stack_of(experiment, scenario, registry) else {
            return Self::default();
        };
        // One by one: a pattern that chooses nothing must not hide what the others do.
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

/// What a look at a draft has found.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// The revisions of the draft and of the document that were looked at.
    pub of: (u64, u64),
    /// Drives of a run.
    pub drives: usize,
    /// What is in the way of training, if anything is.
    pub fault: Option<Fault>,
}

/// A question about a draft.
pub struct Question {
    /// Revisions of the draft and of the document.
    pub of: (u64, u64),
    /// The draft.
    pub experiment: Experiment,
    /// The scenario that it is driven on, if it needs one.
    pub scenario: Option<Arc<Scenario>>,
    /// The modules to choose from.
    pub registry: Registry,
}

/// Looks whether a draft can be trained.
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
    // The problem keeps a scenario of its own; the document's is shared.
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

/// The key at which an error is told.
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
