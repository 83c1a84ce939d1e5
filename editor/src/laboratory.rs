//! Carries out the actions on experiments.

use crate::context::Context;
use crate::experiment::{
    Checked, Draft, DraftHistory, ENDING, ExperimentAction, ExperimentFile, Gesture, OpenResults,
    Phase, Question, Ticks, Trainer, check,
};
use crate::jobs::{ExperimentOutcome, Job, OpenedExperiment, Outcome};
use crate::kind_edits::Kind;
use crate::model::{Action, Purpose, Tone};
use crate::panel::PanelId;
use crate::paths::experiment_path;
use crate::showing;
use crate::worker::Worker;
use roadwright_agent::Registry;
use roadwright_scenario::{Agent, AgentId, Edit, Scenario, file};
use roadwright_training::Course;
use roadwright_training::genetic::experiment::{self, NameOr};
use roadwright_training::genetic::{Experiment, parameters, patterns_of, put_preset, stack_of};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Background work for experiments.
pub(crate) struct Laboratory {
    trainer: Option<Trainer>,
    checker: Worker<Question, Checked>,
    /// The revisions of draft and document that were last sent to be checked.
    asked: (u64, u64),
    /// The revisions of draft and document from which the ticks were derived.
    ticked: (u64, u64),
    is_checking: bool,
    /// Total number of draft revisions.
    revisions: u64,
}

impl Laboratory {
    /// Creates a laboratory without work in progress. `wake` is called when there are results.
    pub(crate) fn new(wake: impl Fn() + Send + 'static) -> Self {
        Self {
            trainer: None,
            checker: Worker::new(check, wake),
            asked: (0, 0),
            ticked: (0, 0),
            is_checking: false,
            revisions: 0,
        }
    }

    /// Whether a draft is being checked.
    pub(crate) fn is_checking(&self) -> bool {
        self.is_checking
    }

    /// Whether training is in progress.
    pub(crate) fn is_training(&self) -> bool {
        let trainer = self.trainer.as_ref();
        trainer.is_some_and(|trainer| trainer.picture().phase.is_busy())
    }
}

/// Reads an experiment and its scenario.
fn read(path: &Path) -> Result<Box<OpenedExperiment>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = roadwright_files::read_text(path, experiment::LARGEST);
    let text = text.map_err(|error| wrong(&error))?;
    let experiment = Experiment::from_text(&text).map_err(|error| match error.line {
        0 => wrong(&error),
        line => format!("{}:{line}: {error}", path.display()),
    })?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let named = experiment.scenario.as_ref().map(|name| beside.join(name));
    let scenario = named.map(|named| {
        let scenario = file::load(&named).map_err(|error| wrong(&error))?;
        Ok::<_, String>((named, Arc::new(scenario)))
    });
    Ok(Box::new(OpenedExperiment {
        experiment,
        scenario: scenario.transpose()?,
    }))
}

/// Returns the current input gesture. All changes during a gesture form one step of the draft's
/// history.
fn gesture(context: &egui::Context) -> Gesture {
    let pressed = context.input(|input| {
        let pointer = &input.pointer;
        let since = pointer.press_start_time().filter(|_| pointer.any_down());
        since.map(f64::to_bits)
    });
    let field = context.memory(egui::Memory::focused);
    Gesture {
        pressed,
        field: field.map(|field| field.value()),
    }
}

/// Returns the patterns of a new experiment's genes: the rules of the stack's modules, if they have
/// any.
fn first_genes(
    experiment: &Experiment,
    scenario: Option<&Scenario>,
    registry: &Registry,
) -> Vec<String> {
    let Ok(stack) = stack_of(experiment, scenario, registry) else {
        return Vec::new();
    };
    patterns_of(&parameters(&stack, registry), |gene| {
        gene.key.starts_with("rule_")
    })
}

impl Laboratory {
    /// Carries out an action of a panel.
    pub(crate) fn act(&mut self, cx: &mut Context, action: ExperimentAction) {
        let is_change = matches!(
            action,
            ExperimentAction::Set(_) | ExperimentAction::On(_) | ExperimentAction::Stack(_)
        );
        let before = cx.model.experiment.draft.as_ref().map(Draft::state);
        let before = before.filter(|_| is_change);
        match action {
            ExperimentAction::New(course) => self.new_experiment(cx, course),
            ExperimentAction::Close => cx.model.experiment.draft = None,
            ExperimentAction::Set(experiment) => self.change_draft(cx, |draft| {
                draft.experiment = *experiment;
            }),
            ExperimentAction::On(course) => self.set_course(cx, course),
            ExperimentAction::Stack(name) => self.set_stack(cx, &name),
            ExperimentAction::Train => self.train(cx),
            ExperimentAction::Pause(on) => self.with_trainer(|trainer| trainer.pause(on)),
            ExperimentAction::Stop => self.with_trainer(Trainer::stop),
            ExperimentAction::GoOn => self.with_trainer(Trainer::go_on),
            ExperimentAction::Judge => self.with_trainer(Trainer::judge),
            ExperimentAction::StrikeOut(birth) => {
                self.with_trainer(|trainer| trainer.strike_out(birth));
            }
            ExperimentAction::Show {
                genes,
                course,
                name,
            } => showing::ask_for_world(cx, genes, course, name),
            ExperimentAction::Back => showing::go_back(cx),
            ExperimentAction::ShowRuns(place) => showing::ask_for_runs(cx, place),
            ExperimentAction::CloseResults(place) => {
                let results = &mut cx.model.experiment.results;
                if place < results.len() {
                    results.remove(place);
                }
            }
            ExperimentAction::File(file) => cx.then(Action::AskPath(Purpose::Experiment(file))),
            ExperimentAction::Apply(stack) => self.apply_champion(cx, stack),
            ExperimentAction::Undo => self.change_draft(cx, Draft::undo),
            ExperimentAction::Redo => self.change_draft(cx, Draft::redo),
        }
        if let (Some(before), Some(draft)) = (before, &mut cx.model.experiment.draft) {
            draft.note(before, gesture(&cx.egui));
        }
        self.check_draft(cx);
    }

    fn with_trainer(&self, order: impl FnOnce(&Trainer)) {
        if let Some(trainer) = &self.trainer {
            order(trainer);
        }
    }

    fn set_draft(&mut self, cx: &mut Context, mut draft: Draft) {
        self.revisions += 1;
        draft.revision = self.revisions;
        cx.model.experiment.draft = Some(draft);
    }

    fn change_draft(&mut self, cx: &mut Context, change: impl FnOnce(&mut Draft)) {
        if let Some(mut draft) = cx.model.experiment.draft.take() {
            change(&mut draft);
            self.set_draft(cx, draft);
        }
    }

    /// Creates an experiment. Without a course, the experiment uses the scenario of the document, even while
    /// the document is set aside.
    fn new_experiment(&mut self, cx: &mut Context, course: Option<String>) {
        let stack = match &course {
            Some(name) => Course::named(name)
                .map_or("", |course| course.driver)
                .to_owned(),
            None => self.usual_stack(cx),
        };
        let mut experiment = Experiment::new(course.as_deref().unwrap_or_default(), &stack);
        if course.is_none() {
            experiment.course = None;
            experiment.scenario = Some(String::new());
        }
        let scenario = cx.own_document().scenario();
        let scenario = course.is_none().then_some(&**scenario);
        experiment.genes = first_genes(&experiment, scenario, &cx.model.modules.registry);
        self.set_draft(
            cx,
            Draft {
                experiment,
                path: None,
                scenario: None,
                revision: 0,
                saved: None,
                history: DraftHistory::default(),
            },
        );
    }

    /// Returns to the document, unless unsaved changes would be lost.
    fn end_clean_show(&mut self, cx: &mut Context) {
        if cx.is_showing() && !cx.model.document.is_dirty() {
            cx.end_show();
        }
    }

    /// Returns the stack that most agents of the document use, or else the first stack.
    fn usual_stack(&self, cx: &Context) -> String {
        let scenario = cx.own_document().scenario();
        let count = |name: &String| {
            let agents = scenario
                .agents()
                .values()
                .filter(|agent| agent.stack == *name);
            let flows = scenario.flows().values().filter(|flow| flow.stack == *name);
            agents.count() + flows.count()
        };
        // If several stacks have the same number of agents, the first one is used.
        let usual = scenario
            .stacks()
            .keys()
            .rev()
            .max_by_key(|name| count(name));
        usual.cloned().unwrap_or_default()
    }

    fn set_course(&mut self, cx: &mut Context, course: Option<String>) {
        let stack = match &course {
            Some(name) => Course::named(name)
                .map_or("", |course| course.driver)
                .to_owned(),
            None => self.usual_stack(cx),
        };
        self.change_draft(cx, |draft| {
            let experiment = &mut draft.experiment;
            experiment.scenario = course.is_none().then(String::new);
            experiment.course = course;
            // The vehicle type, level and fitness of the other course may not exist for this one.
            (experiment.vehicle, experiment.dynamics, experiment.fitness) = (None, None, None);
            draft.scenario = None;
        });
        self.set_stack(cx, &stack);
    }

    fn set_stack(&mut self, cx: &mut Context, name: &str) {
        let document = cx.own_document().scenario().clone();
        let registry = cx.model.modules.registry.clone();
        self.change_draft(cx, |draft| {
            draft.experiment.stack = NameOr::Name(name.into());
            let own = draft
                .scenario
                .as_ref()
                .map(|(_, scenario)| scenario.clone());
            let scenario = draft
                .experiment
                .course
                .is_none()
                .then(|| own.unwrap_or(document));
            draft.experiment.genes = first_genes(&draft.experiment, scenario.as_deref(), &registry);
        });
    }

    fn train(&mut self, cx: &mut Context) {
        // Only one training run at a time, because two would share the same threads.
        if self.is_training() {
            return;
        }
        let Some(draft) = &cx.model.experiment.draft else {
            return;
        };
        let folder = draft.path.as_deref().and_then(Path::parent);
        let (experiment, scenario) = draft.whole(cx.own_document(), folder);
        let scenario = scenario.map(|scenario| Scenario::clone(&scenario));
        let registry = cx.model.modules.registry.clone();
        let wake = cx.wake();
        let trainer = Trainer::start(experiment, scenario, registry, wake);
        cx.model.experiment.training = Some(trainer.picture());
        self.trainer = Some(trainer);
    }

    /// Writes the champion's values into a stack of the document, as one step of its history. A new stack is also
    /// given to the selected vehicles.
    fn apply_champion(&mut self, cx: &mut Context, stack: Option<String>) {
        self.end_clean_show(cx);
        if cx.is_showing() {
            cx.say(
                Tone::Refused,
                "You have edited the displayed world. Save it or return to the scenario first.",
            );
            return;
        }
        let Some(training) = cx.model.experiment.training.clone() else {
            return;
        };
        let (Some(problem), Some(verdict)) = (&training.problem, &training.verdict) else {
            return;
        };
        let genes = &verdict.champion.genes;
        let scenario = cx.model.document.scenario();
        let mut users = Vec::new();
        let (name, applied) = match stack {
            Some(name) => {
                let Some(mut own) = scenario.stacks().get(&name).cloned() else {
                    return;
                };
                if let Err(module) = put_preset(&problem.genome().preset(genes), &mut own) {
                    let text = format!("Stack {name} does not use the trained module {module}.");
                    cx.say(Tone::Refused, &text);
                    return;
                }
                (name, own)
            }
            None => {
                users = cx.model.selected_agents();
                (new_name(scenario), problem.stack(genes))
            }
        };
        let label = format!("Apply champion to {name}");
        let mut edits = vec![Edit::Stack(name.clone(), Some(Box::new(applied)))];
        edits.extend(
            users
                .iter()
                .filter_map(|id| driven_by(scenario, *id, &name)),
        );
        match cx.model.document.apply(&label, Edit::Batch(edits)) {
            Ok(()) => {
                let now = format!("Stack {name} now has the champion's values");
                let all = Kind::Stack.users(cx.model.document.scenario(), &name);
                cx.say(Tone::Done, &match (users.len(), all) {
                    (0, 0) => format!("{now}. Select vehicles or flows, and choose this stack for them in the Inspector."),
                    (0, _) => format!("{now}."),
                    (count, _) => format!("{now}, and the selected vehicles ({count}) use it."),
                });
            }
            Err(error) => cx.say(Tone::Refused, &format!("{error}.")),
        }
    }

    /// Stores the results of checks and the state of the training, and requests the next check.
    pub(crate) fn look(&mut self, cx: &mut Context) {
        if let Some(checked) = self.checker.take() {
            self.is_checking = false;
            cx.model.experiment.checked = Some(Arc::new(checked));
        }
        if let Some(trainer) = &self.trainer {
            let picture = trainer.picture();
            let before = cx.model.experiment.training.as_ref();
            let was_busy = before.is_some_and(|before| before.phase.is_busy());
            let failure = match &picture.phase {
                // Reported once. After that the panel shows the state until the next training run starts.
                Phase::Failed(why) if was_busy => Some(format!("Training ended: {why}")),
                _ => None,
            };
            cx.model.experiment.progress = trainer.progress();
            cx.model.experiment.training = Some(picture);
            if let Some(text) = failure {
                cx.say(Tone::Failed, &text);
            }
        }
        self.check_draft(cx);
    }

    fn check_draft(&mut self, cx: &mut Context) {
        let Some(draft) = &cx.model.experiment.draft else {
            cx.model.experiment.checked = None;
            return;
        };
        // Edits of the document matter only if the experiment uses it.
        let document = cx.own_document();
        let edits = if draft.is_on_document() {
            document.revision()
        } else {
            0
        };
        let of = (draft.revision, edits);
        // Done here rather than by the worker, so that users can tick several genes without delay.
        if self.ticked != of {
            let (experiment, scenario) = draft.whole(document, None);
            let registry = &cx.model.modules.registry;
            let ticks = Ticks::of(&experiment, scenario.as_deref(), registry);
            self.ticked = of;
            cx.model.experiment.ticks = ticks;
            // The model was changed, so the draft must be borrowed again.
            return self.check_draft(cx);
        }
        // Only one check at a time; later changes are checked when the answer arrives.
        if self.is_checking || self.asked == of {
            return;
        }
        let (experiment, scenario) = draft.whole(document, None);
        self.asked = of;
        self.is_checking = true;
        self.checker.ask(Question {
            of,
            experiment,
            scenario,
            registry: cx.model.modules.registry.clone(),
        });
    }

    /// Handles a path that the user has chosen for an experiment.
    pub(crate) fn take_path(&mut self, cx: &mut Context, path: PathBuf, file: ExperimentFile) {
        match file {
            ExperimentFile::Open => {
                let label = format!("Opening {}", path.display());
                let job = Job::beside(label, cx.wake(), move || {
                    let read = read(&path);
                    Outcome::Experiment(ExperimentOutcome::Opened(path, read))
                });
                cx.jobs.push(job);
            }
            ExperimentFile::Results => {
                let label = format!("Opening {}", path.display());
                let job = Job::beside(label, cx.wake(), move || {
                    let read = OpenResults::read(&path).map(Box::new);
                    Outcome::Experiment(ExperimentOutcome::Results(read))
                });
                cx.jobs.push(job);
            }
            ExperimentFile::Save => self.save_experiment(cx, &experiment_path(&path)),
            ExperimentFile::Record => {
                let training = cx.model.experiment.training.as_ref();
                let Some(record) = training.and_then(|training| training.record.clone()) else {
                    return;
                };
                let label = format!("Writing {}", path.display());
                let job = Job::beside(label, cx.wake(), move || {
                    let text = roadwright_training::genetic::Record::clone(&record).to_text();
                    Outcome::Written(path.clone(), write(&path, &text))
                });
                cx.jobs.push(job);
            }
        }
    }

    fn save_experiment(&mut self, cx: &mut Context, path: &Path) {
        let Some(draft) = &cx.model.experiment.draft else {
            return;
        };
        if draft.is_on_document() && cx.own_document().path().is_none() {
            cx.say(
                Tone::Refused,
                "Save the scenario first, because the experiment refers to its file.",
            );
            return;
        }
        let (whole, _) = draft.whole(cx.own_document(), path.parent());
        let (path, own) = (path.to_owned(), Box::new(draft.experiment.clone()));
        let label = format!("Writing {}", path.display());
        let job = Job::beside(label, cx.wake(), move || {
            let written = write(&path, &whole.to_text());
            Outcome::Experiment(ExperimentOutcome::Saved(path, own, written))
        });
        cx.jobs.push(job);
    }

    /// Handles results of background work.
    pub(crate) fn take(&mut self, cx: &mut Context, outcome: ExperimentOutcome) {
        match outcome {
            ExperimentOutcome::Opened(path, Ok(opened)) => self.take_opened(cx, path, *opened),
            ExperimentOutcome::Saved(path, experiment, Ok(())) => {
                cx.say(Tone::Done, &format!("Saved {}.", path.display()));
                if let Some(draft) = &mut cx.model.experiment.draft {
                    // This is the state that was written. Changes made since then stay unsaved.
                    (draft.path, draft.saved) = (Some(path), Some(*experiment));
                }
            }
            ExperimentOutcome::Runs(shown, Ok(driven)) => showing::show_runs(cx, shown, *driven),
            ExperimentOutcome::World(shown, Ok(scenario)) => {
                showing::show_world(cx, shown, *scenario)
            }
            ExperimentOutcome::Results(Ok(opened)) => {
                let results = &mut cx.model.experiment.results;
                // Opening it again reloads the file.
                results.retain(|known| known.path != opened.path);
                results.push(Arc::new(*opened));
                cx.view.panels.bring_to_front(PanelId::Experiment);
            }
            ExperimentOutcome::Opened(_, Err(error))
            | ExperimentOutcome::Results(Err(error))
            | ExperimentOutcome::Runs(_, Err(error))
            | ExperimentOutcome::Saved(_, _, Err(error))
            | ExperimentOutcome::World(_, Err(error)) => cx.say(Tone::Failed, &error),
        }
    }

    fn take_opened(&mut self, cx: &mut Context, path: PathBuf, opened: OpenedExperiment) {
        let OpenedExperiment {
            mut experiment,
            scenario,
        } = opened;
        // Training uses the edited document instead of its file.
        let own = cx
            .own_document()
            .path()
            .and_then(|own| own.canonicalize().ok());
        let is_document = |named: &Path| own.is_some() && named.canonicalize().ok() == own;
        let scenario = scenario.filter(|(named, _)| !is_document(named));
        if experiment.course.is_none() && scenario.is_none() {
            experiment.scenario = Some(String::new());
        }
        self.set_draft(
            cx,
            Draft {
                saved: Some(experiment.clone()),
                experiment,
                path: Some(path),
                scenario,
                history: DraftHistory::default(),
                revision: 0,
            },
        );
        cx.view.panels.bring_to_front(PanelId::Experiment);
    }
}

/// Returns the path that the dialog suggests.
pub(crate) fn suggested_experiment(cx: &Context, file: ExperimentFile) -> String {
    let draft = cx.model.experiment.draft.as_ref();
    let named = draft.and_then(|draft| draft.path.clone());
    let folder = cx.own_document().path().and_then(Path::parent);
    let beside = |name: String| {
        let path = folder.map_or(PathBuf::from(&name), |folder| folder.join(&name));
        path.display().to_string()
    };
    match (file, named) {
        (ExperimentFile::Open | ExperimentFile::Results, _) => String::new(),
        (ExperimentFile::Save, Some(path)) => path.display().to_string(),
        (ExperimentFile::Save, None) => beside(format!("untitled{ENDING}")),
        (ExperimentFile::Record, Some(path)) => {
            let title = draft.map(Draft::title).unwrap_or_default();
            let path = path.with_file_name(format!("{title}.training.json"));
            path.display().to_string()
        }
        (ExperimentFile::Record, None) => beside("untitled.training.json".into()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let written = roadwright_files::write(path, text.as_bytes());
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the edit that gives an agent another stack; `None` if the agent does not exist.
fn driven_by(scenario: &Scenario, id: AgentId, stack: &str) -> Option<Edit> {
    let agent = Agent {
        stack: stack.to_owned(),
        ..scenario.agents().get(&id)?.clone()
    };
    Some(Edit::Agent(id, Some(Box::new(agent))))
}

/// Returns a name that no stack of the scenario has yet.
fn new_name(scenario: &Scenario) -> String {
    let free = |name: &String| !scenario.stacks().contains_key(name);
    let mut names = std::iter::once("trained".to_owned())
        .chain((2..).map(|number| format!("trained_{number}")));
    names.find(free).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.experiment.json");
        let text = Experiment::new("arena", "fuzzy_driver").to_text();
        std::fs::write(&path, &text).unwrap();
        assert!(read(&path).is_ok());
        std::fs::write(&path, text.replace("\"runs\"", "\"ruins\"")).unwrap();
        let line = text
            .lines()
            .position(|line| line.contains("\"runs\""))
            .unwrap()
            + 1;
        let error = read(&path).err().unwrap();
        assert!(
            error.contains(&format!("{line}: ")) && error.contains("ruins"),
            "{error}"
        );
        let named = text.replace("\"course\": \"arena\"", "\"scenario\": \"gone.json\"");
        std::fs::write(&path, named).unwrap();
        let error = read(&path).err().unwrap();
        assert!(error.contains("gone.json"), "{error}");
        assert!(read(&folder.path().join("y")).is_err());
    }
}
