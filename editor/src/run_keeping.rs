//! Keeping and comparing runs.

use crate::context::Context;
use crate::jobs::Job;
use crate::kept_runs::{KeptRunAction, Side};
use crate::model::{Dialog, Model, Purpose, Tone};
use roadwright_recording::RunResults;
use std::path::PathBuf;
use std::sync::Arc;

impl Model {
    /// Returns a run to compare; `None` if it does not exist.
    pub fn run_of(&self, side: Side) -> Option<&Arc<RunResults>> {
        let live = || self.live.as_ref().map(|live| &live.results);
        match side {
            Side::Now => live().filter(|results| results.is_some()),
            Side::Before => live().and_then(|results| results.before.as_ref()),
            Side::Kept(id) => self.kept_runs.get(id).map(|run| &run.results),
        }
    }

    /// Returns the name of a run to compare.
    pub fn name_of(&self, side: Side) -> String {
        match side {
            Side::Now => "this run".into(),
            Side::Before => "previous run".into(),
            Side::Kept(id) => {
                let run = self.kept_runs.get(id);
                run.map_or_else(|| "?".into(), |run| run.name.clone())
            }
        }
    }
}

/// Keeps the current results of the run.
pub(crate) fn keep_run(cx: &mut Context) {
    let title = cx.model.document.title();
    let live = cx.model.live.as_ref();
    let results = live.map(|live| live.results.clone()).unwrap_or_default();
    match cx.model.kept_runs.keep(&title, &results) {
        Ok(run) => {
            let text = format!("Kept {}. The next runs can be compared with it.", run.name);
            cx.say(Tone::Done, &text);
        }
        Err(why) => cx.say(Tone::Refused, &why),
    }
}

/// Carries out an action about kept runs.
pub(crate) fn act(cx: &mut Context, action: KeptRunAction) {
    let runs = &mut cx.model.kept_runs;
    match action {
        KeptRunAction::Rename(id, name) => {
            if let Err(why) = runs.rename(id, &name) {
                cx.say(Tone::Refused, &why);
            }
        }
        KeptRunAction::Drop(id) => runs.drop(id),
        KeptRunAction::Compare(a, b) => (runs.a, runs.b) = (a, b),
        KeptRunAction::Export => {
            cx.model.dialog = Dialog::Path {
                purpose: Purpose::Comparison,
                text: format!("{}-comparison", cx.model.document.title()),
                then: None,
            };
        }
    }
}

/// Writes the comparison of the two selected runs into a folder.
pub(crate) fn export_comparison(cx: &mut Context, folder: PathBuf) {
    let (a, b) = (cx.model.kept_runs.a, cx.model.kept_runs.b);
    let (Some(first), Some(second)) = (cx.model.run_of(a), cx.model.run_of(b)) else {
        cx.say(Tone::Refused, "A comparison needs two runs.");
        return;
    };
    let runs = [first.clone(), second.clone()];
    let names = [cx.model.name_of(a), cx.model.name_of(b)];
    let job = Job::comparison(runs, names, folder, cx.wake());
    cx.jobs.push(job);
}
