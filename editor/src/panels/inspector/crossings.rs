//! Pedestrian crossings over the arms of a junction.

use super::super::property::{OF, Property, Subject};
use super::super::widgets::{Number, change, heading};
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_scenario::junction::{CROSSING_WIDTH, crossing_width};
use roadwright_scenario::{CrossingRule, Edit, Node, NodeId, RoadId};
use std::ops::RangeInclusive;

/// Range of a crossing's width in files, m.
const WIDTHS: RangeInclusive<f64> = 2.0..=20.0;

/// Pedestrian properties of all crossings at the node.
const PEOPLE: [Property<Node>; 1] = [Property {
    name: "Pedestrians",
    label: OF,
    unit: "/h",
    range: 0.0..=3600.0,
    step: 10.0,
    hint: "Pedestrians per hour from each side of each crossing at this node.",
    get: |node| Some(node.rules.crossings.first()?.people.unwrap_or(0.0)),
    set: |node, people| {
        for crossing in &mut node.rules.crossings {
            crossing.people = Some(people).into();
        }
    },
}];

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    let network = model.document.scenario().network();
    let mut roads: Vec<RoadId> = network.ends_at(id).into_iter().map(|end| end.0).collect();
    roads.sort_unstable();
    roads.dedup();
    // At the end of a single road no traffic has to be crossed.
    if roads.len() < 2 {
        return;
    }
    heading(ui, "Crossings");
    let mut subject = Subject {
        name: id.to_string(),
        object: node,
        edit: &|node| Edit::Node(id, Some(node)),
        actions,
    };
    ui.horizontal_wrapped(|ui| {
        for road in roads {
            let mut is_there = node.rules.crossing(road).is_some();
            let name = format!("Crossing over {road}");
            if ui.checkbox(&mut is_there, &name).changed() {
                subject.apply(name, |node| {
                    if is_there {
                        put(node, road)
                    } else {
                        take(node, road)
                    }
                });
            }
        }
    });
    if !node.rules.crossings.is_empty() {
        Grid::new("crossings").num_columns(2).show(ui, |ui| {
            subject.numbers(ui, &PEOPLE);
            widths(ui, model, id, node, subject.actions);
        });
    }
}

/// Shows the width of each crossing, ordered by road.
fn widths(ui: &mut Ui, model: &Model, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    let network = model.document.scenario().network();
    for crossing in &node.rules.crossings {
        let road = crossing.road;
        let usual = network.road(road).map_or(CROSSING_WIDTH, crossing_width);
        let name = format!("Width over {road}");
        let number = Number {
            name: &name,
            value: crossing.width.unwrap_or(usual),
            range: WIDTHS,
            unit: "m",
            step: 0.1,
            hint: "Width of the crossing, along the road.",
        };
        let (width, response) = number.ui(ui);
        let edit = || {
            let mut node = node.clone();
            set_width(&mut node, road, width, usual);
            Edit::Node(id, Some(node))
        };
        change(&response, &format!("{name} at {id}"), edit, actions);
    }
}

/// Sets the width of the crossing over a road, m; the default is not written.
fn set_width(node: &mut Node, road: RoadId, width: f64, usual: f64) {
    let mut crossings = node.rules.crossings.iter_mut();
    if let Some(crossing) = crossings.find(|crossing| crossing.road == road) {
        crossing.width = ((width != usual).then_some(width)).into();
    }
}

/// Removes the crossing over a road.
fn take(node: &mut Node, road: RoadId) {
    node.rules
        .crossings
        .retain(|crossing| crossing.road != road);
}

/// Adds a crossing over a road, with the pedestrian rate of the existing ones.
fn put(node: &mut Node, road: RoadId) {
    let crossings = &mut node.rules.crossings;
    let people = crossings.first().and_then(|other| other.people.get());
    crossings.retain(|crossing| crossing.road != road);
    crossings.push(CrossingRule {
        people: people.into(),
        ..CrossingRule::over(road)
    });
    crossings.sort_unstable_by_key(|crossing| crossing.road);
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_scenario::JunctionRules;

    #[test]
    fn the_usual_width_is_not_written() {
        let mut node = Node::at(roadwright_geometry::DVec2::ZERO);
        put(&mut node, RoadId(7));
        put(&mut node, RoadId(8));
        let widths = |node: &Node| -> Vec<Option<f64>> {
            let crossings = node.rules.crossings.iter();
            crossings.map(|crossing| *crossing.width).collect()
        };
        set_width(&mut node, RoadId(8), 4.5, CROSSING_WIDTH);
        assert_eq!(widths(&node), [None, Some(4.5)]);
        set_width(&mut node, RoadId(8), CROSSING_WIDTH, CROSSING_WIDTH);
        assert_eq!(widths(&node), [None, None]);
    }

    #[test]
    fn crossings_come_and_go_with_their_rate() {
        let mut node = Node {
            x: 0.0.into(),
            y: 0.0.into(),
            rules: JunctionRules::default(),
        };
        put(&mut node, RoadId(7));
        (PEOPLE[0].set)(&mut node, 90.0);
        put(&mut node, RoadId(3));
        let all = |node: &Node| -> Vec<(u32, Option<f64>)> {
            let crossings = node.rules.crossings.iter();
            crossings.map(|rule| (rule.road.0, *rule.people)).collect()
        };
        assert_eq!(all(&node), [(3, Some(90.0)), (7, Some(90.0))]);
        take(&mut node, RoadId(7));
        assert_eq!(all(&node), [(3, Some(90.0))]);
        take(&mut node, RoadId(3));
        assert!(node.rules.is_empty());
        assert_eq!((PEOPLE[0].get)(&node), None);
    }
}
