//! Data derived from a revision of the scenario in the background: the scene, the findings, and the routes of
//! selected trips.

use crate::context::Context;
use crate::planned_routes::RoutePlanner;
use crate::route_source::RouteSource;
use crate::scene::Scene;
use crate::worker::{Share, Worker};
use roadwright_scenario::Scenario;
use roadwright_scenario::check::{Finding, check, sort};
use roadwright_simulation::check_on_ground;
use std::sync::Arc;

/// A scenario revision from which data is derived.
struct Question {
    /// Epoch of the context. Answers about another document are discarded, because the revisions of all
    /// documents start from the same number.
    epoch: u64,
    scenario: Arc<Scenario>,
    revision: u64,
}

/// A revision whose scene is needed.
struct SceneQuestion {
    question: Question,
    /// The scene whose unchanged roads are reused.
    before: Arc<Scene>,
    share: Share,
}

/// The findings about a revision.
#[derive(Default)]
struct Checked {
    epoch: u64,
    revision: u64,
    findings: Vec<Finding>,
}

/// The workers and their last requests. There are several workers, so that a slow check does not
/// delay the display.
pub(crate) struct Derivation {
    /// Derives scenes. Unchanged roads of the given scene are reused. The answer has the epoch of the question.
    scenes: Worker<SceneQuestion, (u64, Scene)>,
    checks: Worker<Question, Checked>,
    /// Checks destinations and starts off the lanes.
    ground_checks: Worker<Question, Checked>,
    checked: Checked,
    ground_checked: Checked,
    routes: RoutePlanner,
    /// Epoch of the context and revision of the document at the last request.
    asked: (u64, u64),
    /// Progress of the last requested scene.
    share: Share,
    /// Whether the answers of the workers are held back, for tests.
    is_held: bool,
}

impl Derivation {
    /// Creates workers that call `wake` after each answer. The worker that finds routes shares its route
    /// source with the tools.
    pub(crate) fn new(routes: RouteSource, wake: impl Fn() + Send + Clone + 'static) -> Self {
        Self {
            scenes: Worker::new(
                |asked: SceneQuestion| {
                    let Question {
                        epoch,
                        scenario,
                        revision,
                    } = asked.question;
                    let watch = |share: f64| asked.share.set(share as f32);
                    let scene = Scene::after(scenario, revision, &asked.before, &watch);
                    (epoch, scene)
                },
                wake.clone(),
            ),
            checks: Worker::new(|question: Question| question.checked(check), wake.clone()),
            ground_checks: Worker::new(
                |question: Question| question.checked(check_on_ground),
                wake.clone(),
            ),
            checked: Checked::default(),
            ground_checked: Checked::default(),
            routes: RoutePlanner::new(routes, wake),
            asked: (0, 0),
            share: Share::default(),
            is_held: false,
        }
    }

    /// Holds back the answers of the workers, as if the workers were slow. For tests.
    pub(crate) fn hold(&mut self) {
        self.is_held = true;
    }

    /// Stops holding back the answers of the workers.
    pub(crate) fn release(&mut self) {
        self.is_held = false;
    }

    /// Sends the newest revision to the workers.
    pub(crate) fn derive(&mut self, cx: &mut Context) {
        self.routes.plan(cx);
        let revision = cx.model.document.revision();
        // The revisions of another document start from the same number.
        let asked = (cx.epoch, revision);
        if self.asked == asked {
            return;
        }
        if self.asked.0 != cx.epoch {
            (self.checked, self.ground_checked) = (Checked::default(), Checked::default());
        }
        self.asked = asked;
        let question = || Question {
            epoch: cx.epoch,
            scenario: cx.model.document.scenario().clone(),
            revision,
        };
        // The unchanged roads of the current scene are not sampled again.
        self.share = Share::default();
        self.scenes.ask(SceneQuestion {
            question: question(),
            before: cx.model.scene.clone(),
            share: self.share.clone(),
        });
        self.checks.ask(question());
        self.ground_checks.ask(question());
    }

    /// Whether destinations off the lanes have been checked in this revision.
    pub(crate) fn has_checked_ground(&self, revision: u64) -> bool {
        self.ground_checked.revision == revision
    }

    /// Whether the routes of the selected trips are known.
    pub(crate) fn knows_routes(&self) -> bool {
        self.routes.is_answered()
    }

    /// Waits for the scene of the newest revision.
    pub(crate) fn wait_for_scene(&mut self, cx: &mut Context) {
        if let Some((_, scene)) = self.scenes.wait() {
            self.take_scene(cx, scene);
        }
    }

    /// Stores the answers of the workers, and the progress of the scene.
    pub(crate) fn take_answers(&mut self, cx: &mut Context) {
        // Another document may have been opened since the last request.
        if self.asked.0 == cx.epoch {
            cx.view.canvas.painter.note_scene(self.share.get());
        }
        if self.is_held {
            return;
        }
        let epoch = cx.epoch;
        if let Some((_, scene)) = self.scenes.take().filter(|(of, _)| *of == epoch) {
            self.take_scene(cx, scene);
        }
        let is_current = |checked: &Checked| checked.epoch == epoch;
        let checked = self.checks.take().filter(is_current);
        let ground_checked = self.ground_checks.take().filter(is_current);
        if checked.is_some() || ground_checked.is_some() {
            self.checked = checked.unwrap_or(std::mem::take(&mut self.checked));
            self.ground_checked =
                ground_checked.unwrap_or(std::mem::take(&mut self.ground_checked));
            let lists = [&self.checked.findings, &self.ground_checked.findings];
            let mut all: Vec<Finding> = lists.into_iter().flatten().cloned().collect();
            sort(&mut all);
            cx.model.findings = (self.checked.revision, Arc::new(all));
        }
        self.routes.take(cx);
    }

    fn take_scene(&mut self, cx: &mut Context, scene: Scene) {
        cx.model.scene = Arc::new(scene);
        cx.drop_vanished();
    }
}

impl Question {
    /// Answers the question with the findings of a check.
    fn checked(self, check: impl Fn(&Scenario) -> Vec<Finding>) -> Checked {
        Checked {
            epoch: self.epoch,
            revision: self.revision,
            findings: check(&self.scenario),
        }
    }
}
