//! Connections between lanes through a junction, and the user's changes to them.

use super::super::property::Subject;
use super::law::{self, turn_title};
use super::turns::named_button;
use crate::model::{Action, Model};
use egui::{CollapsingHeader, RichText, Ui};
use roadwright_scenario::junction::{Arm, Junction, LaneEnd};
use roadwright_scenario::{Edit, LaneTurn, Node, NodeId, RoadLane, TurnRules};
use std::collections::BTreeSet;

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    let Some(law) = law::of(ui, model, id) else {
        return;
    };
    let junction = &law.junction;
    if junction.arms.len() < 2 {
        return;
    }
    let rules = &node.rules.turns;
    // The scene includes all changes by the user, so a connection may exist by a rule or by choice.
    let there: BTreeSet<LaneTurn> = junction.paths.iter().map(|p| turn(p.from, p.to)).collect();
    // Removed connections are included, so that users can restore them.
    let decided = rules.add.iter().chain(&rules.remove).copied();
    let all: BTreeSet<LaneTurn> = there.iter().copied().chain(decided).collect();
    let mut subject = Subject {
        name: id.to_string(),
        object: node,
        edit: &|node| Edit::Node(id, Some(node)),
        actions,
    };
    CollapsingHeader::new(format!("Lanes ({})", there.len()))
        .id_salt("lanes of turns")
        .show(ui, |ui| {
            for &turn in &all {
                row(
                    ui,
                    &mut subject,
                    model,
                    junction,
                    turn,
                    there.contains(&turn),
                );
            }
            add(ui, &mut subject, model, junction, &there);
        });
}

fn turn(from: LaneEnd, to: LaneEnd) -> LaneTurn {
    let lane = |end: LaneEnd| RoadLane {
        road: end.road,
        lane: end.lane,
    };
    LaneTurn {
        from: lane(from),
        to: lane(to),
    }
}

pub(super) fn lane_title(lane: RoadLane) -> String {
    format!("{} lane {}", lane.road, lane.lane)
}

fn title(turn: LaneTurn) -> String {
    format!("{} to {}", lane_title(turn.from), lane_title(turn.to))
}

/// Shows a connection between two lanes, and its actions.
fn row(
    ui: &mut Ui,
    subject: &mut Subject<'_, Node>,
    model: &Model,
    junction: &Junction,
    turn: LaneTurn,
    is_there: bool,
) {
    let rules = &subject.object.rules.turns;
    let (is_added, is_removed) = (rules.add.contains(&turn), rules.remove.contains(&turn));
    let name = title(turn);
    ui.horizontal_wrapped(|ui| {
        let mut paths = junction.paths.iter();
        let path = paths.find(|path| self::turn(path.from, path.to) == turn);
        let direction = path.map_or("", |path| turn_title(path.turn));
        let text = match (is_there, is_added) {
            (true, true) => format!("{name}, {direction}, added"),
            (true, false) => format!("{name}, {direction}"),
            (false, true) => format!("{name}, added by hand, but not drivable"),
            (false, false) => format!("{name}, removed"),
        };
        ui.label(if is_there {
            RichText::new(text)
        } else {
            RichText::new(text).weak()
        });
        if let Some(path) = path {
            let ends = (path.from, path.to);
            let is_open = model.explained == Some(ends);
            let word = if is_open { "Close" } else { "Explain" };
            if named_button(ui, word, &format!("{word} {name}")) {
                let explained = (!is_open).then_some(ends);
                subject.actions.push(Action::Explain(explained));
            }
        }
        if is_added || is_removed {
            decide(ui, subject, "Reset", &name, |rules| rules.forget(turn));
        } else {
            decide(ui, subject, "Remove", &name, |rules| rules.remove(turn));
        }
    });
}

/// Shows a button that changes the rules, with a separate accessible name.
fn decide(
    ui: &mut Ui,
    subject: &mut Subject<'_, Node>,
    word: &str,
    what: &str,
    change: impl FnOnce(&mut TurnRules),
) {
    let button = ui.small_button(word);
    let name = format!("{word} {what}");
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if button.clicked() {
        let label = format!("{name} at {}", subject.name);
        subject.apply(label, |node| change(&mut node.rules.turns));
    }
}

/// Direction of lanes at a junction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

/// Shows a menu with the connections that can be added.
fn add(
    ui: &mut Ui,
    subject: &mut Subject<'_, Node>,
    model: &Model,
    junction: &Junction,
    there: &BTreeSet<LaneTurn>,
) {
    let leading_out = lanes(model, junction, Direction::Out);
    ui.menu_button("Add connection…", |ui| {
        for from in lanes(model, junction, Direction::In) {
            ui.menu_button(format!("from {}", lane_title(from)), |ui| {
                for &to in &leading_out {
                    let turn = LaneTurn { from, to };
                    if there.contains(&turn) {
                        continue;
                    }
                    if ui.button(format!("to {}", lane_title(to))).clicked() {
                        let label = format!("Add {} at {}", title(turn), subject.name);
                        subject.apply(label, |node| node.rules.turns.add(turn));
                        ui.close();
                    }
                }
            });
        }
    });
}

/// Returns the incoming or outgoing lanes of a junction.
fn lanes(model: &Model, junction: &Junction, direction: Direction) -> Vec<RoadLane> {
    let scenario = model.document.scenario();
    let side = scenario.about().driving_side;
    let mut all = Vec::new();
    for end in &junction.arms {
        // The scene may be one revision behind.
        let Some(road) = scenario.network().road(end.road) else {
            continue;
        };
        let arm = Arm::new(end.road, road, end.end);
        let trim = end.trim.min(road.length());
        let lanes = match direction {
            Direction::In => arm.entering_lanes(trim, side),
            Direction::Out => arm.leaving_lanes(trim, side),
        };
        all.extend(lanes.iter().map(|lane| RoadLane {
            road: end.road,
            lane: lane.id,
        }));
    }
    all
}
