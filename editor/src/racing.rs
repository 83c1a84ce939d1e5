//! The subject for the user's races on courses: the countdown, and the attempts, which are stored
//! in files.

use crate::context::Context;
use crate::document::Document;
use crate::experiment::Shown;
use crate::jobs::{Job, Outcome, RaceOutcome};
use crate::live::JudgedRace;
use crate::model::Tone;
use crate::race::{
    COUNTDOWN, KeptTry, Race, RaceAction, RaceOrder, RacePhase, ReadyRace, keep, kept_tries,
};
use crate::requests::PlayingAction;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folder of attempts in the user's data folder.
const TRIES: &str = "tries";
/// Size of the map section around the vehicle at the start of a race, m.
const SEEN: f64 = 60.0;

/// The subject for races.
pub(crate) struct Racing {
    /// Default folder in which attempts are kept.
    folder: PathBuf,
    /// Number of started attempts.
    begun: u64,
}

impl Racing {
    /// Creates the subject. `data` is the user's data folder.
    pub(crate) fn new(data: &Path) -> Self {
        Self {
            folder: data.join(TRIES),
            begun: 0,
        }
    }

    /// Carries out an action.
    pub(crate) fn act(&mut self, cx: &mut Context, action: RaceAction) {
        match action {
            RaceAction::Start(order) => self.prepare(cx, *order),
            RaceAction::Again if cx.model.race.is_some() => self.begin(cx),
            RaceAction::Again => {
                let text = "Start a race on the Race page of the Experiment panel first.";
                cx.say(Tone::Refused, text);
            }
        }
    }

    /// Returns the folder in which the attempts at a race are kept.
    fn folder_of(&self, order: &RaceOrder) -> PathBuf {
        let given = order.folder.clone();
        given.unwrap_or_else(|| self.folder.clone())
    }

    /// Prepares a course in the background.
    fn prepare(&mut self, cx: &mut Context, mut order: RaceOrder) {
        if order.course.name.is_empty() {
            // The window's scenario is identified by its file, so that the attempt can be repeated.
            let own = cx.own_document();
            let path = own.path().map(|path| path.display().to_string());
            order.course.name = path.unwrap_or_else(|| own.title());
        }
        let modules = cx.model.modules.registry.clone();
        let folder = self.folder_of(&order);
        let label = format!("Preparing {}", order.course.name);
        let job = Job::beside(label, cx.wake(), move || {
            let tries = kept_tries(&order, &folder);
            let ready = ReadyRace::prepare(order, &modules);
            let ready = ready.map(|ready| Box::new((ready, tries)));
            Outcome::Race(RaceOutcome::Ready(ready.map_err(|error| error.to_string())))
        });
        cx.jobs.push(job);
    }

    /// Handles the outcome of a job.
    pub(crate) fn take(&mut self, cx: &mut Context, outcome: RaceOutcome) {
        match outcome {
            RaceOutcome::Ready(Ok(ready)) => {
                let (ready, tries) = *ready;
                self.show(cx, ready, tries);
            }
            RaceOutcome::Kept(Ok(kept)) => {
                if let Some(race) = &mut cx.model.race {
                    let kept = *kept;
                    let text = format!(
                        "Try {}: {}. Kept as {}.",
                        kept.number,
                        kept.in_words(),
                        kept.path.display()
                    );
                    race.tries.push(kept);
                    cx.say(Tone::Done, &text);
                }
            }
            RaceOutcome::Ready(Err(error)) | RaceOutcome::Kept(Err(error)) => {
                cx.say(Tone::Failed, &format!("{error}."));
            }
        }
    }

    /// Shows a course in place of the document and begins the first attempt.
    fn show(&mut self, cx: &mut Context, ready: ReadyRace, tries: Vec<KeptTry>) {
        cx.leave_track();
        cx.model.document.commit();
        if cx.is_showing() && cx.model.document.is_dirty() {
            cx.say(
                Tone::Refused,
                "You have edited the displayed world. Save it or return to the scenario first.",
            );
            return;
        }
        let origin = match &cx.model.experiment.shown {
            Some(shown) => shown.origin.clone(),
            None => cx.model.document.title(),
        };
        let agents = ready.scenario.agents();
        let start = agents.values().next().map(|agent| agent.start);
        let start = start.and_then(|start| ready.scenario.pose_of(&start));
        cx.stand_in(Document::new(ready.scenario.clone()));
        cx.model.experiment.shown = Some(Shown {
            name: ready.order.course.name.clone(),
            course: ready.order.seed,
            origin,
            end: None,
        });
        cx.model.experiment.paths = None;
        cx.view.needs_frame = false;
        if let Some(start) = start {
            let half = roadwright_geometry::DVec2::splat(0.5 * SEEN);
            cx.jump(start.position - half, start.position + half);
        }
        cx.model.race = Some(Race {
            ready: Arc::new(ready),
            phase: RacePhase::Ended,
            number: 0,
            tries,
        });
        self.begin(cx);
    }

    /// Begins an attempt with its countdown.
    fn begin(&mut self, cx: &mut Context) {
        self.begun += 1;
        let ends = cx.egui.input(|input| input.time) + COUNTDOWN;
        let Some(race) = &mut cx.model.race else {
            return;
        };
        race.phase = RacePhase::Countdown(ends);
        race.number = self.begun;
        let judged = JudgedRace {
            number: self.begun,
            agent: race.ready.agent,
            course: race.ready.order.course.clone(),
        };
        // Otherwise, the button that started the race would receive the arrow keys.
        cx.egui.memory_mut(|memory| {
            if let Some(focused) = memory.focused() {
                memory.surrender_focus(focused);
            }
        });
        cx.then(PlayingAction::BeginRace(Box::new(judged)));
        cx.egui.request_repaint();
    }

    /// Ends the countdown when it is over, and writes a finished attempt to a file.
    pub(crate) fn look(&mut self, cx: &mut Context) {
        if !cx.is_showing() {
            cx.model.race = None;
        }
        let now = cx.egui.input(|input| input.time);
        let Some(race) = &mut cx.model.race else {
            return;
        };
        match race.phase {
            RacePhase::Countdown(ends) if now >= ends => {
                race.phase = RacePhase::Driving;
                cx.then(PlayingAction::GoOn);
            }
            RacePhase::Countdown(_) => cx.egui.request_repaint(),
            RacePhase::Driving => self.keep_ended(cx),
            RacePhase::Ended => {}
        }
    }

    /// Writes the attempt to a file if it has ended.
    fn keep_ended(&mut self, cx: &mut Context) {
        let live = cx.model.live.as_ref();
        let Some(progress) = live.and_then(|live| live.race.clone()) else {
            return;
        };
        let Some(race) = &mut cx.model.race else {
            return;
        };
        if progress.number != race.number || progress.ended.is_none() && !progress.is_void {
            return;
        }
        race.phase = RacePhase::Ended;
        if progress.is_void {
            cx.say(
                Tone::Refused,
                "This try is not kept, because the run was rewound or edited, or control was \
                 returned to the modules.",
            );
            return;
        }
        let order = race.ready.order.clone();
        let (modules, folder) = (cx.model.modules.registry.clone(), self.folder_of(&order));
        let label = format!("Saving the try on {}", order.course.name);
        let job = Job::beside(label, cx.wake(), move || {
            let controls = progress.controls.to_vec();
            let kept = keep(&order, &modules, controls, &folder);
            Outcome::Race(RaceOutcome::Kept(kept.map(Box::new)))
        });
        cx.jobs.push(job);
    }
}
