//! Showing the world of an individual in place of the document.

use crate::context::Context;
use crate::document::Document;
use crate::experiment::{Shown, spare_threads};
use crate::jobs::{ExperimentOutcome, Job, Outcome};
use crate::model::{Dialog, Next, Tone};
use crate::requests::PlayingAction;
use roadwright_scenario::Scenario;
use roadwright_training::experiment::RunPaths;
use roadwright_training::genetic::{Chromosome, Workers};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of shown runs. More paths would hide each other.
const MOST_RUNS: usize = 200;

/// Creates the world of an individual in the background, and shows it when it is ready.
pub(crate) fn ask_for_world(cx: &mut Context, genes: Chromosome, course: u64, name: String) {
    let problem = cx.model.experiment.training.as_ref();
    let Some(problem) = problem.and_then(|training| training.problem.clone()) else {
        return;
    };
    let origin = match &cx.model.experiment.shown {
        // When one world follows another, the document that was set aside stays the same.
        Some(shown) => shown.origin.clone(),
        None => cx.model.document.title(),
    };
    let job = Job::beside(
        format!("Preparing the world of {name}"),
        cx.wake(),
        move || {
            let scenario = problem.scenario_of(&genes, course);
            let scenario = scenario.map(Box::new).map_err(|error| error.to_string());
            // Runs the course once, because the shown world ends where this run ends.
            let shown = Shown {
                name,
                course,
                origin,
                end: problem.end_of(&genes, course).ok(),
            };
            Outcome::Experiment(ExperimentOutcome::World(shown, scenario))
        },
    );
    cx.jobs.push(job);
}

/// Repeats the runs of results in the background, and shows their paths when they are ready.
pub(crate) fn ask_for_runs(cx: &mut Context, place: usize) {
    let Some(open) = cx.model.experiment.results.get(place).cloned() else {
        return;
    };
    let origin = cx.own_document().title();
    let modules = cx.model.modules.registry.clone();
    let of = open.results.rows.len().min(MOST_RUNS);
    let label = format!("Repeating {of} runs of {}", open.name());
    let job = Job::long(label, cx.wake(), move |progress| {
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
        let arrived = ExperimentOutcome::Runs(shown, driven.map(Box::new));
        (!progress.is_cancelled()).then_some(Outcome::Experiment(arrived))
    });
    cx.jobs.push(job);
}

/// Shows the paths of runs on the course of the first run.
pub(crate) fn show_runs(cx: &mut Context, shown: Shown, driven: RunPaths) {
    if put_world(cx, shown, driven.scenario) {
        cx.model.experiment.paths = Some(Arc::new(driven.paths));
    }
}

/// Shows a world and plays it from the start to the end of its course. Its first vehicle is watched.
pub(crate) fn show_world(cx: &mut Context, shown: Shown, scenario: Scenario) {
    let first = scenario.agents().keys().next().map(|id| u64::from(id.0));
    let end = shown.end.as_ref().map(|end| end.steps);
    if put_world(cx, shown, scenario) {
        cx.then(PlayingAction::Watch(first));
        cx.then(PlayingAction::PlayTo(end));
    }
}

/// Puts a world in place of the document. Returns whether it succeeded.
fn put_world(cx: &mut Context, shown: Shown, scenario: Scenario) -> bool {
    // The test track would be shown in the same place, so it is left first.
    cx.leave_track();
    cx.model.document.commit();
    // A world is replaced without asking, unless it was edited.
    if cx.is_showing() && cx.model.document.is_dirty() {
        cx.say(
            Tone::Refused,
            "You have edited the displayed world. Save it or return to the scenario first.",
        );
        return false;
    }
    cx.stand_in(Document::new(scenario));
    cx.model.experiment.shown = Some(shown);
    cx.model.experiment.paths = None;
    true
}

/// Returns to the document, after asking for confirmation if the shown world was edited.
pub(crate) fn go_back(cx: &mut Context) {
    cx.model.document.commit();
    if cx.is_showing() && cx.model.document.is_dirty() {
        cx.model.dialog = Dialog::Unsaved(Next::Back);
    } else {
        cx.end_show();
    }
}

/// Returns the title of the shown runs.
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
