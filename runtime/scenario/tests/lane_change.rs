//! Tests of lane lines that vehicles must not cross: their effect on lanelets, and that edits and
//! files preserve them.

use crate::common::{applied, draw};
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, NO_LANELET};
use roadwright_scenario::operation::draw::{RoadStyle, split};
use roadwright_scenario::operation::{merged, reversed};
use roadwright_scenario::*;

/// Creates a street with three lanes forward and two backward.
fn street(side: DrivingSide) -> Scenario {
    let mut scenario = Scenario::new("street");
    let about = About {
        driving_side: side,
        ..scenario.about().clone()
    };
    scenario.apply(Edit::About(Box::new(about))).unwrap();
    let style = RoadStyle {
        section: CrossSection::driving(3, 2, 3.25),
        ..crate::common::street("street")
    };
    draw(&mut scenario, (0.0, 0.0), (200.0, 0.0), &style);
    scenario
}

fn with(scenario: &Scenario, lane: i8, change: LaneChange) -> Scenario {
    let mut road = scenario.network().road(RoadId(1)).unwrap().clone();
    let mut lanes = road.lane_sections[0].lanes.iter_mut();
    lanes.find(|own| own.id == lane).unwrap().lane_change = change;
    applied(scenario, Edit::Road(RoadId(1), Some(Box::new(road))))
}

fn graph(scenario: &Scenario) -> LaneGraph {
    let layout = layout(scenario.network(), scenario.about());
    LaneGraph::new(scenario, &layout)
}

/// Returns the permitted lane changes on the first part of road 1, seen by drivers: (lane, lane to
/// its left, lane to its right). 0 means that there is none.
fn changes(scenario: &Scenario) -> Vec<(i8, i8, i8)> {
    let graph = graph(scenario);
    let lanes: Vec<(i8, LaneletIndex)> = graph
        .lanes_of(RoadId(1))
        .map(|(lane, ids)| (lane, ids[0]))
        .collect();
    let name = |id: LaneletIndex| {
        let found = lanes.iter().find(|(_, own)| *own == id);
        found.map_or(0, |(lane, _)| *lane)
    };
    let row = |&(lane, id): &(i8, LaneletIndex)| {
        let lanelet = graph.lanelet(id);
        for onto in graph.changing_onto(id) {
            let other = graph.lanelet(onto);
            assert!(other.left == id || other.right == id);
        }
        for other in [lanelet.left, lanelet.right] {
            assert!(other == NO_LANELET || graph.changing_onto(other).any(|from| from == id));
        }
        (lane, name(lanelet.left), name(lanelet.right))
    };
    lanes.iter().map(row).collect()
}

#[test]
fn a_line_is_not_crossed_from_the_side_that_may_not() {
    let plain = street(DrivingSide::Right);
    let free = [(-3, -2, 0), (-2, -1, -3), (-1, 0, -2), (1, 0, 2), (2, 1, 0)];
    assert_eq!(changes(&plain), free);
    let cases = [
        (-2, LaneChange::None, (-2, 0, 0)),
        (-2, LaneChange::Left, (-2, -1, 0)),
        (-2, LaneChange::Right, (-2, 0, -3)),
        (2, LaneChange::Right, (2, 0, 0)),
        (1, LaneChange::Left, (1, 0, 0)),
    ];
    for (lane, change, expected) in cases {
        let changed = changes(&with(&plain, lane, change));
        for (row, before) in changed.iter().zip(&free) {
            // Vehicles on the other lanes may still change.
            let wanted = if row.0 == lane { &expected } else { before };
            assert_eq!(row, wanted, "{lane} {change:?}");
        }
    }
    let left = with(&street(DrivingSide::Left), 2, LaneChange::Right);
    let free = changes(&street(DrivingSide::Left));
    let row = |rows: &[(i8, i8, i8)]| *rows.iter().find(|row| row.0 == 2).unwrap();
    assert_eq!(row(&free), (2, 3, 1));
    assert_eq!(row(&changes(&left)), (2, 0, 1));
}

#[test]
fn it_stays_when_roads_are_cut_joined_turned_and_mirrored() {
    let scenario = with(&street(DrivingSide::Right), -2, LaneChange::Left);
    let rules = |scenario: &Scenario, road: RoadId| -> Vec<(i8, LaneChange)> {
        let road = scenario.network().road(road).unwrap();
        let lanes = road.lane_sections.iter().flat_map(|section| &section.lanes);
        let lanes = lanes.filter(|lane| lane.lane_change != LaneChange::Both);
        lanes.map(|lane| (lane.id, lane.lane_change)).collect()
    };
    let cut = applied(&scenario, split(&scenario, RoadId(1), 80.0).unwrap());
    let pieces: Vec<RoadId> = cut.network().roads().map(|(id, _)| id).collect();
    assert_eq!(pieces.len(), 2);
    for piece in pieces {
        assert_eq!(rules(&cut, piece), [(-2, LaneChange::Left)]);
    }
    let mut seams = cut.network().nodes();
    let seam = seams
        .find(|(_, node)| (node.x - 80.0).abs() < 1e-6)
        .unwrap()
        .0;
    drop(seams);
    let joined = applied(&cut, merged(&cut, seam).unwrap());
    assert_eq!(rules(&joined, RoadId(1)), [(-2, LaneChange::Left)]);
    assert_eq!(
        joined
            .network()
            .road(RoadId(1))
            .unwrap()
            .lane_sections
            .len(),
        1
    );
    let turned = applied(&scenario, reversed(&scenario, RoadId(1)).unwrap());
    assert_eq!(rules(&turned, RoadId(1)), [(2, LaneChange::Left)]);
    let row = |scenario, lane| changes(scenario).into_iter().find(|row| row.0 == lane);
    assert_eq!(row(&turned, 2), Some((2, 1, 0)));
    // In the mirror image, the lane at the same position counted from the other side permits
    // changes to the other side.
    let objects = [ObjectId::Road(RoadId(1))].into();
    let mirror = operation::mirror::Mirror::LeftRight(0.0);
    let mirrored = operation::mirror::mirrored(&scenario, &objects, mirror).unwrap();
    let image = applied(&scenario, mirrored.edit);
    assert_eq!(rules(&image, RoadId(1)).len(), 1);
    assert_eq!(rules(&image, RoadId(1))[0].1, LaneChange::Right);
}

#[test]
fn files_keep_it_and_say_what_is_wrong() {
    let scenario = with(&street(DrivingSide::Right), -1, LaneChange::None);
    let text = file::to_text(&scenario);
    assert_eq!(text.matches("\"lane_change\": \"none\"").count(), 1);
    assert!(file::from_text(&text).unwrap() == scenario);
    assert!(!file::to_text(&street(DrivingSide::Right)).contains("lane_change"));
    for wrong in ["\"never\"", "\"Both\"", "0", "[]", "null", "\"\""] {
        let text = text.replace(
            "\"lane_change\": \"none\"",
            &format!("\"lane_change\": {wrong}"),
        );
        let error = file::from_text(&text).unwrap_err();
        assert!(error.line > 0, "{wrong}: {error}");
    }
}
