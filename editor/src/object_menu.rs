//! The context menu of an object on the map.

use crate::arrangement::Arrangement;
use crate::command::Command;
use crate::command_button::command_button;
use crate::model::{Action, Model, Tone};
use crate::tools::ToolKind;
use egui::Ui;
use roadwright_geometry::DVec2;
use roadwright_geometry::projection::Projector;
use roadwright_scenario::operation::draw;
use roadwright_scenario::{CrossingRule, Edit, NodeId, ObjectId, PointOfInterest, RoadId};

/// Shows the menu of the selection when it is opened from a list.
pub(crate) fn in_list(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    self::ui(ui, model, None, actions);
}

/// Shows the menu of the selection. `at` is the clicked point on the map, m.
pub(crate) fn ui(ui: &mut Ui, model: &Model, at: Option<DVec2>, actions: &mut Vec<Action>) {
    // The menu is as wide as its longest line, so that it does not block clicks elsewhere.
    ui.set_min_width(190.0);
    match model.single() {
        Some(object) => single(ui, model, object, at, actions),
        None if model.selection.is_empty() => {}
        None => several(ui, model, actions),
    }
    if !model.selection.is_empty() {
        ui.separator();
        use Command as C;
        let common = [
            C::Copy,
            C::Cut,
            C::Duplicate,
            C::Delete,
            C::SelectSimilar,
            C::FrameSelection,
        ];
        commands(ui, model, &common, actions);
        let mirrors = [C::MirrorLeftRight, C::MirrorUpDown];
        commands(ui, model, &mirrors, actions);
    }
    if let Some(at) = at {
        if !model.selection.is_empty() {
            ui.separator();
        }
        here(ui, model, at, actions);
    }
}

fn commands(ui: &mut Ui, model: &Model, all: &[Command], actions: &mut Vec<Action>) {
    for command in all {
        let button = command_button(model, *command);
        if ui.add(button).on_hover_text(command.hint()).clicked() {
            actions.push(Action::Do(*command));
            ui.close();
        }
    }
}

fn item(ui: &mut Ui, text: &str) -> bool {
    let clicked = ui.button(text).clicked();
    if clicked {
        ui.close();
    }
    clicked
}

/// Shows the actions on a single object, depending on its kind.
fn single(
    ui: &mut Ui,
    model: &Model,
    object: ObjectId,
    at: Option<DVec2>,
    actions: &mut Vec<Action>,
) {
    ui.strong(object.to_string());
    match object {
        ObjectId::Road(id) => {
            if let Some(at) = at
                && item(ui, "Split here")
            {
                actions.push(split(model, id, at));
            }
            commands(
                ui,
                model,
                &[Command::ReverseRoad, Command::SimplifyRoad],
                actions,
            );
        }
        ObjectId::Node(id) => {
            if item(ui, "Add crossings on all arms") {
                actions.push(add_crossings(model, id));
            }
            let own = [
                Command::MergeRoads,
                Command::MergeJunctions,
                Command::PartJunctions,
                Command::AddTurnLanes,
                Command::TurnIntoRoundabout,
            ];
            commands(ui, model, &own, actions);
        }
        ObjectId::Agent(id) => {
            let agent = u64::from(id.0);
            if item(ui, "Watch") {
                actions.push(Action::Watch(Some(agent)));
            }
            if item(ui, "Watch and follow") {
                actions.push(Action::Watch(Some(agent)));
                // The command toggles, so it is sent only if following is off.
                if !model.follow {
                    actions.push(Action::Do(Command::Follow));
                }
            }
        }
        ObjectId::Flow(_)
        | ObjectId::Obstacle(_)
        | ObjectId::Forest(_)
        | ObjectId::Land(_)
        | ObjectId::PointOfInterest(_) => {}
    }
}

fn several(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    commands(ui, model, &[Command::Group, Command::Ungroup], actions);
    if model.selected_nodes().count() > 1 {
        commands(ui, model, &[Command::MergeJunctions], actions);
    }
    ui.separator();
    for arrangement in Arrangement::ALL {
        if item(ui, arrangement.title()) {
            actions.push(Action::Arrange(arrangement));
        }
    }
}

/// Shows the actions at a point on the map.
fn here(ui: &mut Ui, model: &Model, at: DVec2, actions: &mut Vec<Action>) {
    for (text, tool) in [
        ("Drive from here", ToolKind::Vehicle),
        ("Draw a road from here", ToolKind::Road),
    ] {
        if item(ui, text) {
            actions.push(Action::Begin(tool, at));
        }
    }
    if item(ui, "Add place here") {
        actions.push(place(model, at));
    }
    if item(ui, "Paste here") {
        actions.push(Action::PasteAt(at));
    }
    if model.selection.is_empty() {
        commands(ui, model, &[Command::SelectAll, Command::FrameAll], actions);
    }
}

/// Returns the action that splits the road at the point nearest to the click.
fn split(model: &Model, id: RoadId, at: DVec2) -> Action {
    let scenario = model.document.scenario();
    let Some(road) = scenario.network().road(id) else {
        return Action::Say(Tone::Refused, format!("{id} no longer exists."));
    };
    // Roads are split along the reference line, wherever across the road the click was.
    let s = Projector::new(road.reference_line.clone()).closest(at).s;
    match draw::split(scenario, id, s) {
        Ok(edit) => Action::Apply("Split road".into(), edit),
        Err(error) => Action::Say(Tone::Refused, format!("{error}.")),
    }
}

/// Returns the action that adds crossings over all arms that have none.
fn add_crossings(model: &Model, id: NodeId) -> Action {
    let network = model.document.scenario().network();
    let Some(node) = network.node(id) else {
        return Action::Say(Tone::Refused, format!("{id} no longer exists."));
    };
    let mut node = node.clone();
    for (road, _) in network.ends_at(id) {
        if node.rules.crossing(road).is_none() {
            node.rules.crossings.push(CrossingRule::over(road));
        }
    }
    node.rules
        .crossings
        // Sorted by road, so that the file does not depend on the order in which the crossings were added.
        .sort_unstable_by_key(|crossing| crossing.road);
    Action::Apply(format!("Crossings of {id}"), Edit::Node(id, Some(node)))
}

fn place(model: &Model, at: DVec2) -> Action {
    let id = model.document.scenario().next_point_of_interest_id();
    let point = PointOfInterest {
        name: id.to_string(),
        x: at.x.into(),
        y: at.y.into(),
        heading: None.into(),
    };
    let edit = Edit::PointOfInterest(id, Some(Box::new(point)));
    Action::Apply("Place point of interest".into(), edit)
}
