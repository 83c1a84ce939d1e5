//! Data derived from a revision of the scenario in the background: the scene, the findings, and the routes of
//! selected trips.

use crate::context::Context;
use crate::planned_routes::RoutePlanner;
use crate::scene::Scene;
use crate::worker::Worker;
use roadwright_scenario::Scenario;
use roadwright_scenario::check::{Finding, check, sort};
use roadwright_simulation::unreachable_over_ground;
use std::sync::Arc;

/// A revision of a scenario from which a scene is derived, and the previous scene. Unchanged roads
/// of the previous scene are reused.
type SceneQuestion = (Arc<Scenario>, u64, Arc<Scene>);
type CheckQuestion = (Arc<Scenario>, u64);

/// The workers and their last requests. There are several workers, so that a slow check does not
/// delay the display.
pub(crate) struct Derivation {
    scenes: Worker<SceneQuestion, Scene>,
    checks: Worker<CheckQuestion, (u64, Vec<Finding>)>,
    /// Checks destinations off the lanes, which may take a second or two.
    ground_checks: Worker<CheckQuestion, (u64, Vec<Finding>)>,
    checked: (u64, Vec<Finding>),
    ground_checked: (u64, Vec<Finding>),
    routes: RoutePlanner,
    /// Epoch of the context and revision of the document at the last request.
    asked: (u64, u64),
}

impl Derivation {
    /// Creates workers that call `wake` after each answer.
    pub(crate) fn new(wake: impl Fn() + Send + Clone + 'static) -> Self {
        Self {
            scenes: Worker::new(
                |(scenario, revision, before): SceneQuestion| {
                    Scene::after(scenario, revision, &before)
                },
                wake.clone(),
            ),
            checks: Worker::new(
                |(scenario, revision): CheckQuestion| (revision, check(&scenario)),
                wake.clone(),
            ),
            ground_checks: Worker::new(
                |(scenario, revision): CheckQuestion| {
                    (revision, unreachable_over_ground(&scenario))
                },
                wake.clone(),
            ),
            checked: (0, Vec::new()),
            ground_checked: (0, Vec::new()),
            routes: RoutePlanner::new(wake),
            asked: (0, 0),
        }
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
        self.asked = asked;
        let scenario = cx.model.document.scenario();
        // The unchanged roads of the current scene are not sampled again.
        let before = cx.model.scene.clone();
        self.scenes.ask((scenario.clone(), revision, before));
        self.checks.ask((scenario.clone(), revision));
        self.ground_checks.ask((scenario.clone(), revision));
    }

    /// Whether destinations off the lanes have been checked in this revision.
    pub(crate) fn has_checked_ground(&self, revision: u64) -> bool {
        self.ground_checked.0 == revision
    }

    /// Whether the routes of the selected trips are known.
    pub(crate) fn knows_routes(&self) -> bool {
        self.routes.is_answered()
    }

    /// Waits for the scene of the newest revision.
    pub(crate) fn wait_for_scene(&mut self, cx: &mut Context) {
        if let Some(scene) = self.scenes.wait() {
            self.take_scene(cx, scene);
        }
    }

    /// Stores the answers of the workers.
    pub(crate) fn take_answers(&mut self, cx: &mut Context) {
        if let Some(scene) = self.scenes.take() {
            self.take_scene(cx, scene);
        }
        let (checked, ground_checked) = (self.checks.take(), self.ground_checks.take());
        if checked.is_some() || ground_checked.is_some() {
            self.checked = checked.unwrap_or(std::mem::take(&mut self.checked));
            self.ground_checked =
                ground_checked.unwrap_or(std::mem::take(&mut self.ground_checked));
            let all = self.checked.1.iter().chain(&self.ground_checked.1);
            let mut all: Vec<Finding> = all.cloned().collect();
            sort(&mut all);
            cx.model.findings = (self.checked.0, Arc::new(all));
        }
        self.routes.take(cx);
    }

    fn take_scene(&mut self, cx: &mut Context, scene: Scene) {
        cx.model.scene = Arc::new(scene);
        cx.drop_vanished();
    }
}
