//! Properties of a node, at which roads meet.

use super::super::property::{EXTENT, Property};
use super::super::widgets::{change, heading};
use super::{corners, crossings, junction, junction_now, lane_turns, path, timeline, turns};
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::{Motion, moved, without_turn};
use roadwright_scenario::{
    Edit, Node, NodeId, ObjectId, RestrictionKind, RoadEnd, RoadId, ViaRestriction,
};
use std::collections::BTreeSet;

const POSITION: [Property<DVec2>; 2] = [
    Property {
        name: "x",
        label: "Move {object}",
        unit: "m",
        range: EXTENT,
        step: 0.1,
        hint: "Distance east of the origin.",
        get: |at| Some(at.x),
        set: |at, x| at.x = x,
    },
    Property {
        name: "y",
        label: "Move {object}",
        unit: "m",
        range: EXTENT,
        step: 0.1,
        hint: "Distance north of the origin.",
        get: |at| Some(at.y),
        set: |at, y| at.y = y,
    },
];

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let ends = model.document.scenario().network().ends_at(id);
    Grid::new("node")
        .num_columns(2)
        .show(ui, |ui| position(ui, model, id, node, actions));
    ui.label(format!("{} road ends meet here.", ends.len()));
    path::ui(ui, model, id, actions);
    junction::ui(ui, model, id, actions);
    crossings::ui(ui, model, id, node, actions);
    timeline::ui(ui, model, id, actions);
    turns::ui(ui, model, id, actions);
    lane_turns::ui(ui, model, id, node, actions);
    corners::ui(ui, model, id, node, actions);
    restrictions(ui, id, node, actions);
    forbid(ui, model, id, actions);
    forbid_turn_over(ui, model, id, node, &ends, actions);
    junction_now::ui(ui, model, id, actions);
}

/// Shows the position of a node. The roads at the node move with it, so a plain edit of the node is
/// not enough.
fn position(ui: &mut Ui, model: &Model, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    // Starts from the scenario before the drag, because each state of the drag bends the roads again.
    let base = model.document.base();
    let start = base
        .network()
        .node(id)
        .map_or(node.position(), Node::position);
    for property in &POSITION {
        let Some((value, response)) = property.row(ui, &node.position()) else {
            continue;
        };
        let mut to = node.position();
        (property.set)(&mut to, value);
        let objects = std::iter::once(ObjectId::Node(id)).collect();
        if let Ok(edit) = moved(base, &objects, &Motion::shift(to - start)) {
            let label = property.label_for(&id.to_string());
            change(&response, &label, || edit, actions);
        }
    }
}

/// Shows the turns that are forbidden or mandatory at the node.
fn restrictions(ui: &mut Ui, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    if node.rules.restrictions.is_empty() && node.rules.via_restrictions.is_empty() {
        return;
    }
    heading(ui, "Turn restrictions");
    for (i, rule) in node.rules.via_restrictions.iter().enumerate() {
        ui.horizontal_wrapped(|ui| {
            let via: Vec<String> = rule.via.iter().map(RoadId::to_string).collect();
            let via = via.join(", ");
            ui.label(format!(
                "{:?} turn from {} via {via} to {}",
                rule.kind, rule.from, rule.to
            ));
            if ui.small_button("Remove").clicked() {
                let mut node = node.clone();
                node.rules.via_restrictions.remove(i);
                let edit = Edit::Node(id, Some(node));
                actions.push(Action::Apply("Remove restriction".into(), edit));
            }
        });
    }
    for (i, restriction) in node.rules.restrictions.iter().enumerate() {
        ui.horizontal(|ui| {
            ui.label(format!(
                "{:?} turn from {} to {}",
                restriction.kind, restriction.from, restriction.to
            ));
            if ui.small_button("Remove").clicked() {
                let mut node = node.clone();
                node.rules.restrictions.remove(i);
                let edit = Edit::Node(id, Some(node));
                actions.push(Action::Apply("Remove restriction".into(), edit));
            }
        });
    }
}

/// Forbids the movement from one road to another over a third road in between.
fn forbid_turn_over(
    ui: &mut Ui,
    model: &Model,
    id: NodeId,
    node: &Node,
    ends: &[(RoadId, RoadEnd)],
    actions: &mut Vec<Action>,
) {
    if ends.len() < 2 {
        return;
    }
    let network = model.document.scenario().network();
    let beyond = |road: RoadId| {
        let ends = network.road(road).map(|road| [road.from, road.to]);
        let far = ends.into_iter().flatten().find(|&end| end != id);
        far.map(|far| network.ends_at(far)).unwrap_or_default()
    };
    let mut choose = |ui: &mut Ui, from: RoadId, via: RoadId| {
        for (to, _) in beyond(via).into_iter().filter(|(to, _)| *to != via) {
            if ui.button(format!("to {to}")).clicked() {
                let mut node = node.clone();
                node.rules.via_restrictions.push(ViaRestriction {
                    kind: RestrictionKind::No,
                    from,
                    via: vec![via],
                    to,
                });
                let edit = Edit::Node(id, Some(node));
                actions.push(Action::Apply("Forbid route".into(), edit));
                ui.close();
            }
        }
    };
    ui.menu_button("Forbid a route via another road…", |ui| {
        for &(from, _) in ends {
            ui.menu_button(format!("from {from}"), |ui| {
                for &(via, _) in ends.iter().filter(|(via, _)| *via != from) {
                    ui.menu_button(format!("via {via}"), |ui| choose(ui, from, via));
                }
            });
        }
    });
}

/// Forbids a turn between two roads of the junction, at any of its nodes.
fn forbid(ui: &mut Ui, model: &Model, id: NodeId, actions: &mut Vec<Action>) {
    // A node that was just drawn has no junction until the next scene.
    let Some(junction) = model.scene.layout.junction_at(id) else {
        return;
    };
    let paths = junction.paths.iter();
    let turns: BTreeSet<(RoadId, RoadId)> = paths
        .map(|path| (path.from.road, path.to.road))
        .filter(|(from, to)| from != to)
        .collect();
    if turns.is_empty() {
        return;
    }
    let froms: BTreeSet<RoadId> = turns.iter().map(|(from, _)| *from).collect();
    let scenario = model.document.scenario();
    ui.menu_button("Forbid a turn…", |ui| {
        for from in froms {
            ui.menu_button(format!("from {from}"), |ui| {
                for &turn in turns.iter().filter(|turn| turn.0 == from) {
                    if ui.button(format!("to {}", turn.1)).clicked() {
                        let edit = without_turn(scenario, junction, id, turn.0, turn.1);
                        actions.extend(edit.map(|edit| Action::Apply("Forbid turn".into(), edit)));
                        ui.close();
                    }
                }
            });
        }
    });
}
