//! Tests of slip roads. Fast roads open a lane for a slip road, and no vehicle has to stop.

use crate::common::{draw, street};
use proptest::prelude::*;
use roadwright_geometry::{DVec2, ReferenceLine, polygon};
use roadwright_scenario::check::check;
use roadwright_scenario::file::to_text;
use roadwright_scenario::junction::{Junction, Layout, layout};
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;

fn one_way(class: RoadClass, lanes: usize) -> RoadStyle {
    RoadStyle {
        class,
        speed_limit: class.default_speed_limit(),
        section: CrossSection::driving(lanes, 0, 3.6),
        ..street("")
    }
}

/// Creates a motorway along the x axis, towards the east.
fn motorway(side: DrivingSide) -> Scenario {
    let mut scenario = Scenario::new("motorway");
    scenario
        .apply(Edit::About(Box::new(About {
            driving_side: side,
            ..About::default()
        })))
        .unwrap();
    let style = one_way(RoadClass::Motorway, 3);
    draw(&mut scenario, (-500.0, 0.0), (500.0, 0.0), &style);
    scenario
}

fn layout_of(scenario: &Scenario) -> Layout {
    layout(scenario.network(), scenario.about().driving_side)
}

/// Returns the junction where three roads meet.
fn joint(layout: &Layout) -> &Junction {
    let joints: Vec<_> = layout
        .junctions
        .iter()
        .filter(|j| j.arms.len() == 3)
        .collect();
    assert_eq!(joints.len(), 1);
    joints[0]
}

#[test]
fn a_slip_road_joins_on_a_lane_of_its_own_from_either_side() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for y in [-60.0, 60.0] {
            let mut scenario = motorway(side);
            let ramp = one_way(RoadClass::Ramp, 1);
            draw(&mut scenario, (-300.0, y), (0.0, 0.05 * y), &ramp);
            let layout = layout_of(&scenario);
            let junction = joint(&layout);
            assert!(
                junction.is_direct && !junction.is_crossing(),
                "{side:?} {y}"
            );
            assert!(junction.flags().is_empty() && junction.outline().is_empty());
            // Three lanes continue, and the slip road leads into the lane that opens for it.
            assert_eq!(junction.paths.len(), 4);
            assert!(junction.paths.iter().all(|path| path.curve.is_none()));
            assert_eq!(junction.gores().len(), 1);
            let findings = check(&scenario);
            assert!(findings.is_empty(), "{side:?} {y}: {findings:?}");
            // The gore is on the side from which the slip road comes.
            let gore = &junction.gores()[0];
            assert!(gore.left.iter().chain(&gore.right).all(|p| p.y * y > 0.0));
        }
    }
}

#[test]
fn a_slip_road_leaves_from_a_lane_of_its_own() {
    let mut scenario = motorway(DrivingSide::Right);
    let ramp = one_way(RoadClass::Ramp, 1);
    draw(&mut scenario, (0.0, -3.0), (300.0, -60.0), &ramp);
    let layout = layout_of(&scenario);
    let junction = joint(&layout);
    assert!(junction.is_direct);
    assert_eq!((junction.paths.len(), junction.gores().len()), (4, 1));
    assert!(check(&scenario).is_empty());
    // The lane opens before the node.
    let lanes: Vec<i8> = scenario
        .network()
        .road(RoadId(1))
        .unwrap()
        .lane_sections
        .last()
        .unwrap()
        .lanes
        .iter()
        .map(|lane| lane.id)
        .collect();
    assert_eq!(lanes, [-1, -2, -3, -4]);
}

#[test]
fn a_gore_lies_between_the_roads_and_ends_where_they_have_parted() {
    let mut scenario = motorway(DrivingSide::Right);
    let ramp = one_way(RoadClass::Ramp, 1);
    draw(&mut scenario, (-300.0, -60.0), (0.0, -3.0), &ramp);
    let layout = layout_of(&scenario);
    let gore = &joint(&layout).gores()[0];
    let widths: Vec<f64> = gore
        .left
        .iter()
        .zip(&gore.right)
        .map(|(a, b)| (*a - *b).length())
        .collect();
    assert!((3.6..4.6).contains(&widths[0]), "{widths:?}");
    assert!(widths[widths.len() - 1] < 0.05, "{widths:?}");
    assert!(widths.is_sorted_by(|a, b| a >= b), "{widths:?}");
    let ring: Vec<DVec2> = gore.right.iter().rev().chain(&gore.left).copied().collect();
    assert!(polygon::signed_area(&polygon::tidy_ring(&ring)) > 10.0);
}

#[test]
fn at_a_large_angle_or_on_a_slow_road_there_is_a_crossing() {
    // A road that meets a motorway at a large angle results in an ordinary junction.
    let mut scenario = motorway(DrivingSide::Right);
    let ramp = one_way(RoadClass::Ramp, 1);
    draw(&mut scenario, (-60.0, -100.0), (0.0, -0.2), &ramp);
    assert!(!joint(&layout_of(&scenario)).is_direct);
    // A road that joins a town street also gets an ordinary junction.
    let mut scenario = Scenario::new("town");
    let slow = one_way(RoadClass::Residential, 1);
    draw(&mut scenario, (-500.0, 0.0), (500.0, 0.0), &slow);
    draw(&mut scenario, (-300.0, -60.0), (0.0, -0.2), &slow);
    assert!(!joint(&layout_of(&scenario)).is_direct);
    // There is not enough motorway left for an auxiliary lane.
    let mut scenario = motorway(DrivingSide::Right);
    draw(&mut scenario, (150.0, -60.0), (450.0, -3.0), &ramp);
    assert!(layout_of(&scenario).junctions.iter().all(|j| !j.is_direct));
}

#[test]
fn one_way_streets_that_cross_make_a_crossing() {
    // Each lane continues straight on at this junction too, although the paths cross.
    let mut scenario = Scenario::new("cross");
    let street = one_way(RoadClass::Residential, 1);
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &street);
    draw(&mut scenario, (0.0, -100.0), (0.0, 100.0), &street);
    let layout = layout_of(&scenario);
    let crossing = layout.junctions.iter().find(|j| j.arms.len() == 4).unwrap();
    assert!(!crossing.is_direct && crossing.is_crossing());
    assert_eq!(crossing.paths.len(), 4);
}

#[test]
fn what_somebody_has_decided_counts() {
    let mut scenario = motorway(DrivingSide::Right);
    let ramp = one_way(RoadClass::Ramp, 1);
    draw(&mut scenario, (-300.0, -60.0), (0.0, -3.0), &ramp);
    let node = joint(&layout_of(&scenario)).nodes[0];
    let old = scenario.network().node(node).unwrap().clone();
    let rules = JunctionRules {
        control: Some(Control::Signals),
        ..JunctionRules::default()
    };
    scenario
        .apply(Edit::Node(node, Some(Node { rules, ..old })))
        .unwrap();
    let layout = layout_of(&scenario);
    assert!(!joint(&layout).is_direct && joint(&layout).is_crossing());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Checks that any road drawn beside a motorway can be undone and is laid out without a panic.
    #[test]
    fn drawing_beside_a_motorway_can_be_undone(
        x in -450.0..450.0f64,
        y in -80.0..80.0f64,
        to_x in -450.0..450.0f64,
        to_y in -8.0..8.0f64,
        lanes in 1usize..3,
        leaves: bool,
    ) {
        let mut scenario = motorway(DrivingSide::Right);
        let before = to_text(&scenario);
        let (from, to) = (DVec2::new(x, y), DVec2::new(to_x, to_y));
        let (from, to) = if leaves { (to, from) } else { (from, to) };
        let line = ReferenceLine::straight(from, to);
        prop_assume!(line.is_ok());
        let edit = draw::road(&scenario, &line.unwrap(), &one_way(RoadClass::Ramp, lanes));
        if let Ok(edit) = edit {
            let back = scenario.apply(edit).unwrap();
            let layout = layout_of(&scenario);
            LaneGraph::new(&scenario, &layout);
            scenario.apply(back).unwrap();
            prop_assert_eq!(to_text(&scenario), before);
        }
    }
}
