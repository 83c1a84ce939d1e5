//! Tools that create roundabouts, turn lanes and signals.

use crate::common::Bench;
use crate::scenarios::flows_between_ends;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::model::Action;
use roadwright_scenario::junction::{Conflicts, Junction, LaneEnd, Signals, Turn, layout};
use roadwright_scenario::{ConnectionIndex, Control, Edit, ObjectId, RoadEnd, Scenario};
use roadwright_simulation::{RunOptions, World, builtin_modules};
use std::sync::Arc;

/// Returns the number of junctions with a given control.
fn count(scenario: &Scenario, control: Control) -> usize {
    let layout = layout(scenario.network(), scenario.about());
    let junctions = layout.junctions.iter();
    // The end of a single road is not a junction.
    let is_it = |junction: &&Arc<Junction>| junction.arms.len() > 1 && junction.control == control;
    junctions.filter(is_it).count()
}

fn problems(bench: &Bench) -> &[roadwright_scenario::check::Finding] {
    &bench.editor().model().findings.1
}

/// Places a car by dragging from its start to its destination, and lets it drive until it has arrived.
fn arrives(bench: &mut Bench, ends: [(f64, f64); 2]) -> bool {
    bench.key(Key::A);
    bench.drag(&ends);
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    bench.play_until_arrived(120.0)
}

#[test]
fn a_roundabout_is_drawn_by_one_drag() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    bench.key(Key::C);
    bench.drag(&[(0.0, 0.0), (16.0, 0.0)]);
    assert_eq!(bench.scenario().network().road_count(), 8);
    assert_eq!(count(bench.scenario(), Control::Roundabout), 4);
    assert!(problems(&bench).is_empty(), "{:?}", problems(&bench));
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::Y);
    // Three quarters of the ring: a turn across oncoming traffic.
    assert!(arrives(&mut bench, [(-100.0, -1.6), (1.6, 90.0)]));
}

#[test]
fn a_click_places_a_roundabout_and_escape_takes_a_drag_back() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 60.0);
    bench.key(Key::C);
    bench.click(10.0, 5.0);
    assert_eq!(bench.scenario().network().road_count(), 2);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario().network().road_count(), 0);
    // The ring would be too small, so nothing is drawn.
    bench.drag(&[(0.0, 0.0), (4.0, 0.0)]);
    assert_eq!(bench.scenario().network().road_count(), 0);
}

#[test]
fn two_streets_get_turn_lanes_and_an_arrow_of_their_own_in_eight_actions() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    // 1, 2: two streets. 3, 4: their junction. 5: the lanes. 6, 7: signals. 8: the arrow.
    bench.drag(&[(-140.0, 0.0), (140.0, 0.0)]);
    bench.drag(&[(0.0, -130.0), (0.0, 130.0)]);
    bench.key(Key::V);
    bench.click(0.0, 0.0);
    let before = bench.scenario().clone();
    bench.press("Add turn lanes");
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::Y);
    bench.press("Control: Automatic: near-side priority");
    bench.press("signals");
    bench.press("protected");
    assert!(problems(&bench).is_empty(), "{:?}", problems(&bench));
    let scenario = bench.scenario();
    let layout = layout(scenario.network(), scenario.about());
    let selected = bench.editor().model().single();
    let Some(ObjectId::Node(node)) = selected else {
        panic!("{selected:?}");
    };
    let junction = layout.junction_at(node).unwrap();
    for arm in &junction.arms {
        // A left-turn lane of at least 30 m, and one for all other turns.
        let road = scenario.network().road(arm.road).unwrap();
        let side = scenario.about().driving_side;
        let lanes = |beyond: f64| match arm.end {
            RoadEnd::Start => road.lanes_backward(arm.trim + beyond, side),
            RoadEnd::End => road.lanes_forward(road.length() - arm.trim - beyond, side),
        };
        assert_eq!((lanes(0.5), lanes(30.0), lanes(60.0)), (2, 2, 1));
    }
    // No two conflicting movements have green together.
    let conflicts = Conflicts::of(junction);
    let signals = Signals::of(junction, &conflicts).unwrap();
    for greens in &signals.greens {
        let with_green: Vec<ConnectionIndex> = ConnectionIndex::up_to(greens.len())
            .filter(|&path| greens[path.index()])
            .collect();
        assert!(!with_green.is_empty());
        for &one in &with_green {
            let meets = |other: &ConnectionIndex| conflicts.are_in_conflict(one, *other);
            assert!(!with_green.iter().any(meets), "{greens:?}");
        }
    }
    // Without the arrow, the movements have green together, and no vehicles touch in traffic.
    let junction_with = |protected: bool| {
        let mut scenario = scenario.clone();
        let mut rules = scenario.network().node(node).unwrap().clone();
        rules.rules.plan.get_or_insert_default().protected_turns = protected;
        scenario.apply(Edit::Node(node, Some(rules))).unwrap();
        scenario
    };
    for mut scenario in [junction_with(true), junction_with(false)] {
        // 600 vehicles an hour on twelve routes.
        for flow in flows_between_ends(&scenario, 5.0, 600.0 / 12.0) {
            let id = scenario.next_flow_id();
            scenario
                .apply(Edit::Flow(id, Some(Box::new(flow))))
                .unwrap();
        }
        let options = RunOptions {
            verify: true,
            ..RunOptions::default()
        };
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        while world.time() < 600.0 {
            world.step();
        }
        let summary = world.summary();
        assert!(summary.collisions.is_empty(), "{:?}", summary.collisions);
        let counts = world.counts();
        assert!(10 * counts.arrived > 8 * counts.spawned, "{counts:?}");
        assert_eq!((summary.law.red_passed, summary.law.missed_turns), (0, 0));
    }
}

#[test]
fn roads_that_go_first_are_chosen_and_given_back_to_the_roads() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(0.0, 0.0);
    bench.press("Control: Automatic: near-side priority");
    bench.press("give way");
    let major = |bench: &Bench| {
        let Some(ObjectId::Node(node)) = bench.editor().model().single() else {
            panic!("the junction is selected");
        };
        let node = bench.scenario().network().node(node).unwrap();
        node.rules.major.clone()
    };
    assert_eq!(major(&bench), []);
    assert!(!is_offered(&bench, "Automatic"));
    let tick = bench
        .harness
        .get_by_role_and_label(egui::accesskit::Role::CheckBox, "road 3");
    tick.click();
    bench.settle();
    assert!(!major(&bench).is_empty());
    bench.press("Automatic");
    assert_eq!(major(&bench), []);
}

fn is_offered(bench: &Bench, name: &str) -> bool {
    bench.harness.query_all_by_label(name).next().is_some()
}

#[test]
fn near_junctions_are_merged_and_taken_apart() {
    let mut bench = Bench::empty();
    bench.look_at(20.0, 0.0, 150.0);
    bench.key(Key::R);
    bench.drag(&[(-120.0, 0.0), (160.0, 0.0)]);
    bench.drag(&[(0.0, -100.0), (0.0, 100.0)]);
    bench.drag(&[(40.0, -100.0), (40.0, 100.0)]);
    bench.key(Key::V);
    bench.click(0.0, 0.0);
    let before = bench.scenario().clone();
    let crossings = |scenario: &Scenario| {
        let layout = layout(scenario.network(), scenario.about());
        let junctions = layout.junctions.iter();
        junctions.filter(|junction| junction.arms.len() > 2).count()
    };
    assert_eq!(crossings(&before), 2);
    bench.press("Merge junctions");
    assert_eq!(crossings(bench.scenario()), 1);
    assert!(problems(&bench).is_empty(), "{:?}", problems(&bench));
    // A turn between roads at different nodes is forbidden like any other turn.
    let merged = bench.selected_junction();
    let node_of = |end: LaneEnd| {
        bench
            .scenario()
            .network()
            .road(end.road)
            .unwrap()
            .node_at(end.end)
    };
    let mut paths = merged.paths.iter();
    let path = paths
        .find(|path| node_of(path.from) != node_of(path.to))
        .unwrap();
    let forbid = format!("Forbid {} to {}", path.from.road, path.to.road);
    bench.press("Turns (30)");
    bench.press(&forbid);
    assert_eq!(
        bench.selected_junction().paths.len(),
        merged.paths.len() - 1
    );
    assert!(problems(&bench).is_empty(), "{:?}", problems(&bench));
    bench.press(&forbid.replace("Forbid", "Allow"));
    assert_eq!(bench.selected_junction().paths.len(), merged.paths.len());
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.ask(Action::Do(Command::PartJunctions));
    assert_eq!(bench.scenario(), &before);
    bench.ask(Action::Do(Command::PartJunctions));
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_slip_lane_is_split_off_and_driven() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(0.0, 0.0);
    let before = bench.scenario().clone();
    bench.press("Turns (12)");
    for _ in 0..4 {
        let junction = bench.selected_junction();
        let mut paths = junction.paths.iter();
        let near = paths.find(|path| path.turn == Turn::Right).unwrap();
        bench.press(&format!("Slip lane {} to {}", near.from.road, near.to.road));
    }
    assert!(
        bench
            .selected_junction()
            .paths
            .iter()
            .all(|path| path.turn != Turn::Right)
    );
    // Each street is split once: a lane ends there, and one begins.
    assert_eq!(bench.scenario().network().road_count(), 12);
    assert!(problems(&bench).is_empty(), "{:?}", problems(&bench));
    assert!(arrives(&mut bench, [(-100.0, -1.6), (-1.6, -90.0)]));
    // The car, and the four lanes.
    for _ in 0..5 {
        bench.key_with(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(bench.scenario(), &before);
}
