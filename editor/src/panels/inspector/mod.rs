//! Properties of the selected object with units and ranges. Each kind of object has a separate file.

mod agent;
mod controller;
mod corners;
mod cross_section;
mod crossings;
mod facts;
mod flow;
mod forest;
mod junction;
mod junction_now;
mod land;
mod lane_turns;
mod lanes;
pub(super) mod law;
mod node;
mod obstacle;
mod paint;
mod path;
mod place;
mod road;
mod road_now;
mod several;
mod stage_times;
mod stages;
mod timeline;
mod traffic;
mod turns;

pub(crate) use path::zones;

use super::PanelFrame;
use super::widgets::empty;
use crate::model::{Action, Model};
use crate::tools::ToolKind;
use egui::Ui;
use roadwright_scenario::ObjectId;

/// Maximum number of findings listed for the selected object; the Problems panel lists all.
const MOST_FINDINGS: usize = 5;

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    match model.single() {
        Some(object) => {
            self::object(ui, model, object, actions);
            super::green_wave::opener(ui, model, actions);
            problems(ui, model, object);
        }
        None if model.tool == ToolKind::Paint => paint::ui(ui, model, actions),
        None if model.selection.is_empty() => facts::ui(ui, model),
        None => {
            several::ui(ui, model, actions);
            super::green_wave::opener(ui, model, actions);
        }
    }
}

/// Shows the properties of an object. Nothing is shown for a deleted object, which stays selected until the
/// next scene.
fn object(ui: &mut Ui, model: &Model, object: ObjectId, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    match object {
        ObjectId::Node(id) => {
            if let Some(node) = scenario.network().node(id) {
                node::ui(ui, model, id, node, actions);
            }
        }
        ObjectId::Road(id) => {
            if let Some(road) = scenario.network().road(id) {
                road::ui(ui, id, road, actions);
                lanes::ui(ui, model, id, road, actions);
                road_now::ui(ui, model, id, actions);
            }
        }
        ObjectId::Obstacle(id) => {
            if let Some(obstacle) = scenario.obstacles().get(&id) {
                obstacle::ui(ui, id, obstacle, actions);
            }
        }
        ObjectId::Forest(id) => {
            if let Some(forest) = scenario.forests().get(&id) {
                forest::ui(ui, id, forest, actions);
            }
        }
        ObjectId::Land(id) => {
            if let Some(land) = scenario.land().get(&id) {
                land::ui(ui, id, land, actions);
            }
        }
        ObjectId::PointOfInterest(id) => {
            if let Some(point) = scenario.points_of_interest().get(&id) {
                place::ui(ui, id, point, actions);
            }
        }
        ObjectId::Agent(id) => {
            if let Some(agent) = scenario.agents().get(&id) {
                agent::ui(ui, model, id, agent, actions);
            }
        }
        ObjectId::Flow(id) => {
            if let Some(flow) = scenario.flows().get(&id) {
                flow::ui(ui, model, id, flow, actions);
            }
        }
    }
}

/// Lists the findings of the check for the object.
fn problems(ui: &mut Ui, model: &Model, object: ObjectId) {
    let color = model.theme().tone(crate::tools::Tone::Warning);
    let all = model.findings.1.iter();
    let own = all.filter(|finding| finding.object == object);
    for finding in own.take(MOST_FINDINGS) {
        ui.add_space(4.0);
        ui.label(egui::RichText::new(&finding.message).color(color).small());
    }
}
