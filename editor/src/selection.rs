//! Changes of the selection, and of the settings that decide which objects can be selected.

use crate::context::Context;
use crate::edit_commands::Editing;
use crate::model::{Action, Tone};
use crate::settings::Settings;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{ObjectId, Scenario};

/// Returns all objects that "Select all" selects. Nodes are left out, because they move and
/// disappear together with their roads.
fn everything(scenario: &Scenario) -> Objects {
    let roads = scenario.network().roads().map(|(id, _)| ObjectId::Road(id));
    let obstacles = scenario.obstacles().keys();
    let forests = scenario.forests().keys();
    let land = scenario.land().keys();
    let points = scenario.points_of_interest().keys();
    let agents = scenario.agents().keys();
    let flows = scenario.flows().keys();
    roads
        .chain(obstacles.map(|id| ObjectId::Obstacle(*id)))
        .chain(forests.map(|id| ObjectId::Forest(*id)))
        .chain(land.map(|id| ObjectId::Land(*id)))
        .chain(points.map(|id| ObjectId::PointOfInterest(*id)))
        .chain(agents.map(|id| ObjectId::Agent(*id)))
        .chain(flows.map(|id| ObjectId::Flow(*id)))
        .collect()
}

impl Editing {
    /// Selects objects. A single agent is watched as well, so that its panel shows its state.
    pub(crate) fn select(&mut self, cx: &mut Context, objects: Objects) {
        if cx.model.selection != objects {
            cx.model.explained = None;
        }
        cx.model.selection = objects;
        if let Some(ObjectId::Agent(id)) = cx.model.single() {
            cx.then(Action::Watch(Some(u64::from(id.0))));
        }
    }

    pub(crate) fn select_all(&mut self, cx: &mut Context) {
        let scenario = cx.model.document.scenario();
        let mut all = everything(scenario);
        let options = &cx.model.settings.tools;
        all.retain(|object| !options.is_kept_away(scenario, *object));
        cx.model.selection = all;
    }

    /// Applies settings. Hidden objects are deselected, because keys would move or delete them unseen. The
    /// lists of the Scenario panel can select them again.
    pub(crate) fn take_settings(&mut self, cx: &mut Context, settings: Settings) {
        let before = std::mem::replace(&mut cx.model.settings, settings).tools;
        let scenario = cx.model.document.scenario();
        let now = &cx.model.settings.tools;
        if before.hidden != now.hidden {
            let vanishes = |object: &ObjectId| {
                now.is_hidden(scenario, *object) && !before.is_hidden(scenario, *object)
            };
            cx.model.selection.retain(|object| !vanishes(object));
        }
    }

    /// Shows all hidden objects again.
    pub(crate) fn show_hidden(&mut self, cx: &mut Context) {
        let hidden = std::mem::take(&mut cx.model.settings.tools.hidden);
        if hidden.is_empty() {
            cx.say(Tone::Refused, "Nothing is hidden.");
        }
    }
}

impl Context {
    /// Removes deleted objects from the selection.
    pub(crate) fn drop_vanished(&mut self) {
        let scenario = self.model.document.scenario();
        self.model
            .selection
            .retain(|object| scenario.contains(*object));
    }
}
