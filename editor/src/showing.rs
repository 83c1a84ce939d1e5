//! Showing the world of an individual in place of the document.

use crate::app::Editor;
use crate::document::Document;
use crate::experiment::{Shown, spare_threads};
use crate::jobs::{Job, Outcome};
use crate::laboratory::Arrived;
use crate::model::{Dialog, Next, Tone};
use roadwright_scenario::Scenario;
use roadwright_training::experiment::RunPaths;
use roadwright_training::genetic::{Chromosome, Workers};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of shown runs, because more paths would hide each other.
const MOST_RUNS: usize = 200;

impl Editor {
    /// Whether the world of an individual is shown in place of the document.
    pub(crate) fn is_showing(&self) -> bool {
        self.model.experiment.shown.is_some()
    }

    /// Creates the world of an individual in the background, and shows it when ready.
    pub(crate) fn ask_for_world(&mut self, genes: Chromosome, course: u64, name: String) {
        let problem = self.model.experiment.training.as_ref();
        let Some(problem) = problem.and_then(|training| training.problem.clone()) else {
            return;
        };
        let origin = match &self.model.experiment.shown {
            // Between two worlds, the paused document stays the same.
            Some(shown) => shown.origin.clone(),
            None => self.model.document.title(),
        };
        let job = Job::beside(
            format!("Preparing the world of {name}"),
            self.wake(),
            move || {
                let scenario = problem.scenario_of(&genes, course);
                let scenario = scenario.map(Box::new).map_err(|error| error.to_string());
                // The run that scores it, driven once: the world ends where that run ends.
                let shown = Shown {
                    name,
                    course,
                    origin,
                    end: problem.end_of(&genes, course).ok(),
                };
                Outcome::Experiment(Arrived::World(shown, scenario))
            },
        );
        self.flow.jobs.push(job);
    }

    /// Repeats the runs of results in the background, and shows their paths when ready.
    pub(crate) fn ask_for_runs(&mut self, place: usize) {
        let Some(open) = self.model.experiment.results.get(place).cloned() else {
            return;
        };
        let origin = self.own_document().title();
        let modules = self.model.modules.registry.clone();
        let of = open.results.rows.len().min(MOST_RUNS);
        let label = format!("Repeating {of} runs of {}", open.name());
        let job = Job::long(label, self.wake(), move |progress| {
            let done = AtomicUsize::new(0);
            let note = || {
                // Called before each run, so the first call reports 0.
                let done = done.fetch_add(1, Ordering::Relaxed);
                progress.set(done as f32 / of as f32);
                !progress.is_cancelled()
            };
            let driven = Workers::new(spare_threads()).and_then(|workers| {
                let driven =
                    workers.install(|| RunPaths::of(&open.results, MOST_RUNS, &modules, &note));
                driven.map_err(|error| format!("{}: {error}", open.name()))
            });
            let course = open.results.head.first_seed;
            let name = match &driven {
                Ok(driven) => name_of_runs(&open.name(), driven),
                Err(_) => String::new(),
            };
            let shown = Shown {
                name,
                course,
                origin,
                end: None,
            };
            let arrived = Arrived::Runs(shown, driven.map(Box::new));
            (!progress.is_cancelled()).then_some(Outcome::Experiment(arrived))
        });
        self.flow.jobs.push(job);
    }

    /// Shows the paths of runs on the course of the first.
    pub(crate) fn show_runs(&mut self, shown: Shown, driven: RunPaths) {
        if self.put_world(shown, driven.scenario) {
            self.model.experiment.paths = Some(Arc::new(driven.paths));
        }
    }

    /// Shows a world and plays it from its start to the end of its course; its first vehicle is watched.
    pub(crate) fn show_world(&mut self, shown: Shown, scenario: Scenario) {
        let first = scenario.agents().keys().next().map(|id| u64::from(id.0));
        let end = shown.end.as_ref().map(|end| end.steps);
        if self.put_world(shown, scenario) {
            self.watch(first);
            let live = self.live();
            live.end_at(end);
            live.play(true);
        }
    }

    /// Puts a world in place of the document. Returns whether it succeeded.
    fn put_world(&mut self, shown: Shown, scenario: Scenario) -> bool {
        // The test track takes the same place, so it is left first.
        self.leave_track();
        self.model.document.commit();
        // A world is replaced by another one without asking, unless it was edited.
        if self.is_showing() && self.model.document.is_dirty() {
            self.say(
                Tone::Refused,
                "The world shown was edited. Save it or go back to the scenario first.",
            );
            return false;
        }
        self.stand_in(Document::new(scenario));
        self.model.experiment.shown = Some(shown);
        self.model.experiment.paths = None;
        true
    }

    /// Returns to the document; asks first if the shown world was edited.
    pub(crate) fn go_back(&mut self) {
        self.model.document.commit();
        if self.is_showing() && self.model.document.is_dirty() {
            self.model.dialog = Dialog::Unsaved(Next::Back);
        } else {
            self.end_show();
        }
    }

    /// Shows the document again in its previous state.
    pub(crate) fn end_show(&mut self) {
        self.model.experiment.shown = None;
        self.model.experiment.paths = None;
        self.end_waiting();
    }
}

/// Description of the shown runs.
fn name_of_runs(name: &str, driven: &RunPaths) -> String {
    let RunPaths {
        runs, differing, ..
    } = driven;
    let complete = driven.paths.iter().filter(|path| path.is_complete).count();
    let of = driven.paths.len();
    let differing = match differing {
        0 => String::new(),
        n => format!(", {n} runs differ from the file"),
    };
    format!("{runs} runs of {name} ({complete} of {of} drives completed{differing})")
}
