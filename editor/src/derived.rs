//! Data derived from a revision of the scenario in the background: the scene, the findings, and the routes of
//! selected trips.

use crate::app::Editor;
use crate::planned_ways::{self, Asked, PlannedWays, WayQuestion};
use crate::scene::Scene;
use crate::worker::Worker;
use roadwright_scenario::Scenario;
use roadwright_scenario::check::{Finding, check};
use std::sync::Arc;

/// A revision of a scenario, and the previous scene, whose unchanged roads are reused.
type SceneQuestion = (Arc<Scenario>, u64, Arc<Scene>);
type CheckQuestion = (Arc<Scenario>, u64);

/// The workers and their last requests. There are several, so that a long check does not delay the display.
pub(crate) struct Derivation {
    scenes: Worker<SceneQuestion, Scene>,
    checks: Worker<CheckQuestion, (u64, Vec<Finding>)>,
    pub(crate) ways: Worker<WayQuestion, (u64, PlannedWays)>,
    asked_revision: u64,
    pub(crate) asked_ways: Asked,
}

impl Derivation {
    /// Creates workers that call `wake` after each answer.
    pub(crate) fn new(wake: impl Fn() + Send + Clone + 'static) -> Self {
        Self {
            scenes: Worker::new(
                |(scenario, revision, before): SceneQuestion| {
                    Scene::new(scenario, revision, Some(&before))
                },
                wake.clone(),
            ),
            checks: Worker::new(
                |(scenario, revision): CheckQuestion| (revision, check(&scenario)),
                wake.clone(),
            ),
            ways: Worker::new(planned_ways::answers(), wake),
            asked_revision: 0,
            asked_ways: Asked::default(),
        }
    }
}

impl Editor {
    /// Sends the newest revision to the workers.
    pub(crate) fn derive(&mut self) {
        self.plan_ways();
        let revision = self.model.document.revision();
        if self.derived.asked_revision == revision {
            return;
        }
        self.derived.asked_revision = revision;
        let scenario = self.model.document.scenario();
        // The present scene: its unchanged roads are not sampled again.
        let before = self.model.scene.clone();
        self.derived
            .scenes
            .ask((scenario.clone(), revision, before));
        self.derived.checks.ask((scenario.clone(), revision));
    }

    /// Waits for the scene of the newest revision.
    pub(crate) fn wait_for_scene(&mut self) {
        if let Some(scene) = self.derived.scenes.wait() {
            self.take_scene(scene);
        }
    }

    /// Takes the answers of the workers.
    pub(crate) fn take_answers(&mut self) {
        if let Some(scene) = self.derived.scenes.take() {
            self.take_scene(scene);
        }
        if let Some((revision, findings)) = self.derived.checks.take() {
            self.model.findings = (revision, Arc::new(findings));
        }
        self.take_ways();
    }

    fn take_scene(&mut self, scene: Scene) {
        self.model.scene = Arc::new(scene);
        self.drop_vanished();
    }

    /// Discards derived data for another document: the old roads are useless there, although revisions start
    /// at the same number.
    pub(crate) fn forget_derived(&mut self) {
        // Revisions start at 1, so the new document is always requested.
        self.derived.asked_revision = 0;
        self.model.scene = Arc::new(Scene::empty());
    }
}
