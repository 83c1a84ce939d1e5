//! Display and control of a junction and a road during a run.

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::model::Action;
use roadwright_scenario::junction::{Conflicts, ConnectingPath, Light, Signals, Turn};
use roadwright_scenario::{
    Edit, LaneChange, Movement, NodeId, ObjectId, Restriction, RestrictionKind, RoadId, SignalMode,
    SignalPlan, SignalStage,
};
use std::collections::BTreeSet;
use std::path::Path;

const NODE: NodeId = NodeId(5);

/// Opens the crossroads after some steps, with the junction selected.
fn crossroads(steps: usize) -> Bench {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.look_at(0.0, 0.0, 60.0);
    bench.step_run(steps);
    bench.settle();
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Node(NODE)])));
    bench
}

fn plan(bench: &Bench) -> Option<SignalPlan> {
    let node = bench.scenario().network().node(NODE).unwrap();
    node.rules.plan.clone()
}

fn times(stages: &[SignalStage]) -> Vec<f64> {
    stages.iter().map(|stage| stage.time.get()).collect()
}

#[test]
fn a_selected_junction_or_road_is_looked_into_and_nothing_else() {
    let mut bench = crossroads(1_500);
    let live = bench.editor().model().live.clone().unwrap();
    let junction = live.junction.as_ref().unwrap();
    assert_eq!(junction.node, NODE);
    assert!(live.road.is_none() && junction.approaches.len() == 8);
    assert!(
        junction
            .turns
            .iter()
            .any(|turn| turn.light == Some(Light::Green))
    );
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Road(RoadId(1))])));
    let live = bench.editor().model().live.clone().unwrap();
    assert_eq!(live.road.as_ref().unwrap().road, RoadId(1));
    assert!(live.junction.is_none());
    bench.ask(Action::Select(BTreeSet::new()));
    let live = bench.editor().model().live.clone().unwrap();
    assert!(live.road.is_none() && live.junction.is_none());
}

#[test]
fn a_click_on_who_waits_watches_it() {
    let mut bench = crossroads(1_000);
    let mut agent = None;
    for _ in 0..40 {
        bench.step_run(100);
        bench.settle();
        let live = bench.editor().model().live.clone().unwrap();
        let waits = &live.junction.as_ref().unwrap().waits;
        agent = waits.first().map(|waiting| waiting.agent);
        if agent.is_some() {
            break;
        }
    }
    let agent = agent.expect("a vehicle waits for green within 50 s");
    let name = roadwright_simulation::agent_name(agent);
    // The agent's name is also in the queue; either link works.
    let link = bench.harness.query_all_by_label(&name).next();
    link.unwrap().scroll_to_me();
    bench.harness.run_steps(30);
    bench.settle();
    let link = bench.harness.query_all_by_label(&name).next();
    link.unwrap().click();
    bench.harness.step();
    bench.settle();
    assert_eq!(bench.editor().model().watched, Some(agent));
}

#[test]
fn a_standing_vehicle_is_explained_down_to_the_vehicle_at_the_light() {
    let mut bench = crossroads(1_000);
    // A vehicle behind others in a queue at a red light.
    let queue = |bench: &Bench| {
        let chain = bench.editor().model().live.as_ref()?.wait_chain.clone()?;
        (chain.links.len() > 1 && chain.cause() == "red").then_some(chain)
    };
    let mut found = None;
    'run: for _ in 0..60 {
        bench.step_run(100);
        bench.settle();
        let live = bench.editor().model().live.clone().unwrap();
        let standing = live.snapshot.vehicles.iter().filter(|v| v.speed < 0.05);
        for vehicle in standing {
            bench.ask(Action::Watch(Some(vehicle.agent)));
            found = queue(&bench);
            if found.is_some() {
                break 'run;
            }
        }
    }
    let chain = found.expect("there is a queue at a red light within 60 s");
    bench.press_tab("Vehicle");
    assert!(bench.harness.query_by_label("Why it is stopped").is_some());
    // The root waits for green; a click on its name watches it.
    let root = chain.links.last().unwrap();
    let reason = root.stop.as_ref().unwrap().reason.to_string();
    assert!(reason.starts_with("green"), "{reason}");
    let name = roadwright_simulation::agent_name(root.agent);
    bench.scroll_to(&name);
    bench
        .harness
        .query_all_by_label(&name)
        .next()
        .unwrap()
        .click();
    bench.harness.step();
    bench.settle();
    assert_eq!(bench.editor().model().watched, Some(root.agent));
}

#[test]
fn the_end_of_a_green_is_dragged_while_the_run_goes_on_and_undone_in_one_step() {
    let mut bench = crossroads(500);
    assert_eq!(plan(&bench), None);
    let before = bench.scenario().clone();
    let grip = bench.scroll_to("End of green of stage 1").center();
    bench.drag_right(grip, 20.0);
    let longer = plan(&bench).unwrap();
    let [first, second] = times(&longer.stages)[..] else {
        panic!("{longer:?}");
    };
    // In steps of half a second; the next stage loses what this one gains.
    assert!(first - second > 2.0 && (2.0 * (first - second) % 1.0).abs() < 1e-9);
    assert_eq!(longer.mode, SignalMode::Fixed);
    // The run applies the edit: all signals close and restart.
    bench.step_run(10);
    bench.settle();
    let live = bench.editor().model().live.clone().unwrap();
    assert!(live.error.is_none() && live.snapshot.step > 500);
    let programme = live.junction.as_ref().unwrap().programme.clone().unwrap();
    assert!(programme.is_closing, "{programme:?}");
    bench.step_run(1_200);
    bench.settle();
    let live = bench.editor().model().live.clone().unwrap();
    let programme = live.junction.as_ref().unwrap().programme.clone().unwrap();
    assert!(
        !programme.is_closing && programme.stages == 2,
        "{programme:?}"
    );
    // A second drag is a second step, and no green becomes shorter than six seconds.
    let grip = bench.scroll_to("End of green of stage 1").center();
    bench.drag_right(grip, -400.0);
    assert!((times(&plan(&bench).unwrap().stages)[0] - 6.0).abs() < 1e-9);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(plan(&bench), Some(longer));
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn the_whole_cycle_is_dragged_to_another_start() {
    let mut bench = crossroads(0);
    let before = bench.scenario().clone();
    let whole = bench.scroll_to("Start of the cycle");
    // On the axis, away from the ends of greens.
    let axis = egui::pos2(whole.left() + 30.0, whole.bottom() - 4.0);
    bench.drag_right(axis, 0.25 * whole.width());
    let moved = plan(&bench).unwrap();
    assert!(moved.stages.is_empty(), "{moved:?}");
    assert!(
        (13.0..17.0).contains(&moved.offset) && *moved.offset % 0.5 == 0.0,
        "{moved:?}"
    );
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_turn_is_explained_forbidden_and_allowed_again() {
    let mut bench = crossroads(0);
    let before = bench.scenario().clone();
    bench.press("Turns (12)");
    // A turn across oncoming traffic has to yield to it.
    let layout = bench.editor().model().scene.layout.clone();
    let junction = layout.junction_at(NODE).unwrap();
    let left = roadwright_scenario::junction::Turn::Left;
    let path = junction
        .paths
        .iter()
        .find(|path| path.turn == left)
        .unwrap();
    let (from, to) = (path.from.road, path.to.road);
    bench.press(&format!("Explain {from} to {to}"));
    let told = bench
        .harness
        .query_all_by_label_contains("oncoming traffic");
    assert!(told.count() > 0);
    bench.press(&format!("Forbid {from} to {to}"));
    let no = Restriction {
        kind: RestrictionKind::No,
        from,
        to,
    };
    let rules = |bench: &Bench| bench.scenario().network().node(NODE).unwrap().rules.clone();
    assert_eq!(rules(&bench).restrictions, vec![no]);
    let layout = bench.editor().model().scene.layout.clone();
    let mut paths = layout.junction_at(NODE).unwrap().paths.iter();
    assert!(!paths.any(|path| (path.from.road, path.to.road) == (from, to)));
    bench.press(&format!("Allow {from} to {to}"));
    assert_eq!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn turns_from_lane_to_lane_are_taken_out_and_left_to_the_rules_again() {
    let mut bench = crossroads(0);
    let before = bench.scenario().clone();
    let layout = bench.editor().model().scene.layout.clone();
    let path = layout.junction_at(NODE).unwrap().paths[0].clone();
    let name = format!(
        "{} lane {} to {} lane {}",
        path.from.road, path.from.lane, path.to.road, path.to.lane
    );
    let paths = layout.junction_at(NODE).unwrap().paths.len();
    bench.press(&format!("Lanes ({paths})"));
    bench.press(&format!("Remove {name}"));
    let layout = bench.editor().model().scene.layout.clone();
    assert_eq!(layout.junction_at(NODE).unwrap().paths.len(), paths - 1);
    let rules = |bench: &Bench| bench.scenario().network().node(NODE).unwrap().rules.clone();
    assert_eq!(rules(&bench).turns.remove.len(), 1);
    bench.press(&format!("Reset {name}"));
    assert_eq!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_corner_is_given_a_radius_and_left_to_the_roads_again() {
    let mut bench = crossroads(0);
    let before = bench.scenario().clone();
    let layout = bench.editor().model().scene.layout.clone();
    let arms = &layout.junction_at(NODE).unwrap().arms;
    let (road, next) = (arms[0].road, arms[1].road);
    bench.press("Corners (4)");
    let mut node = before.network().node(NODE).unwrap().clone();
    node.rules.set_corner(road, next, Some(150.0_f64.sqrt()));
    bench.ask(Action::Apply("Corner".into(), Edit::Node(NODE, Some(node))));
    bench.settle();
    let layout = bench.editor().model().scene.layout.clone();
    let radius = layout.junction_at(NODE).unwrap().corners[0].radius;
    assert!((radius - 150.0_f64.sqrt()).abs() < 1e-6, "{radius}");
    bench.press(&format!("Reset corner {road} to {next}"));
    assert_eq!(bench.scenario(), &before);
}

/// Returns the road of a straight movement that has or does not have green in a stage.
fn straight_on(bench: &Bench, stage: usize, has_green: bool) -> RoadId {
    let layout = &bench.editor().model().scene.layout;
    let junction = layout.junction_at(NODE).unwrap();
    let signals = Signals::of(junction, &Conflicts::of(junction)).unwrap();
    let mut paths = junction.paths.iter().enumerate();
    let is_meant = |(number, path): &(usize, &ConnectingPath)| {
        path.turn == Turn::Straight && signals.greens[stage][*number] == has_green
    };
    paths.find(is_meant).unwrap().1.from.road
}

fn has_text(bench: &Bench, text: &str) -> bool {
    bench.harness.query_all_by_label_contains(text).count() > 0
}

#[test]
fn red_and_amber_is_chosen_while_a_run_goes_on() {
    let mut bench = crossroads(200);
    let before = bench.scenario().clone();
    bench.press("Red-amber: Country default: off");
    bench.press("2.0 s");
    assert_eq!(plan(&bench).unwrap().red_amber, Some(2.0));
    // Signals close and restart, with red-amber before the first green.
    let mut has_shown = false;
    for _ in 0..400 {
        bench.step_run(5);
        let live = bench.editor().model().live.clone().unwrap();
        assert!(live.error.is_none());
        let turns = &live.junction.as_ref().unwrap().turns;
        has_shown |= turns.iter().any(|turn| turn.light == Some(Light::RedAmber));
        if has_shown {
            break;
        }
    }
    assert!(has_shown);
    bench.settle();
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn lines_between_lanes_are_switched_on_their_cards() {
    let mut bench = crossroads(0);
    let before = bench.scenario().clone();
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Road(RoadId(1))])));
    let change = |bench: &Bench| {
        let road = bench.scenario().network().road(RoadId(1)).unwrap();
        let mut lanes = road.lane_sections[0].lanes.iter();
        lanes.find(|lane| lane.id == -1).unwrap().lane_change
    };
    bench.press("Lane -1 changes to the right");
    assert_eq!(change(&bench), LaneChange::Left);
    bench.press("Lane -1 changes to the left");
    assert_eq!(change(&bench), LaneChange::None);
    bench.press("Lane -1 changes to the right");
    assert_eq!(change(&bench), LaneChange::Right);
    bench.step_run(10);
    bench.settle();
    let live = bench.editor().model().live.clone().unwrap();
    assert!(live.error.is_none());
    for _ in 0..3 {
        bench.key_with(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn movements_are_switched_in_stages_by_clicks_and_conflicts_are_refused() {
    let mut bench = crossroads(0);
    let before = bench.scenario().clone();
    let (goes, waits) = (straight_on(&bench, 0, true), straight_on(&bench, 0, false));
    // From green to permitted green: the derived stages become explicit.
    bench.press(&format!("{goes} left in stage 1: green"));
    let stages = plan(&bench).unwrap().stages;
    let left = vec![Movement {
        road: goes,
        turns: vec![Turn::Left],
    }];
    assert_eq!((stages.len(), &stages[0].permitted), (2, &left));
    let is_green = |turn| stages[0].green.iter().any(|m| m.includes(goes, turn));
    assert!(!is_green(Turn::Left) && is_green(Turn::Straight) && is_green(Turn::Right));
    assert!(stages[1].permitted.is_empty());
    // The run applies the stages.
    bench.step_run(10);
    bench.settle();
    assert!(bench.live().error.is_none());
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    // Two streets cannot have green at the same time: the second becomes permitted, with a message.
    assert!(!has_text(&bench, "cannot be green"));
    bench.press(&format!("{waits} straight in stage 1: red"));
    let stages = plan(&bench).unwrap().stages;
    let permitted = |turn| stages[0].permitted.iter().any(|m| m.includes(waits, turn));
    assert!(permitted(Turn::Straight) && !permitted(Turn::Right));
    let why = format!("{waits} straight cannot be green in stage 1: it conflicts with ");
    assert!(has_text(&bench, &why) && has_text(&bench, "neither would yield"));
    // The first street cannot yield as well, so it becomes red in that stage.
    bench.press(&format!("{goes} straight in stage 1: green"));
    assert!(has_text(
        &bench,
        &format!("{goes} straight cannot be permitted in stage 1")
    ));
    // The movement had green in that stage only, so red everywhere is refused too, and nothing
    // changes.
    assert!(has_text(
        &bench,
        &format!("{goes} straight cannot be red in stage 1: it would never get green")
    ));
    assert_eq!(plan(&bench).unwrap().stages, stages);
    // Back to red, without a message.
    bench.press(&format!("{waits} straight in stage 1: permitted"));
    assert!(!has_text(&bench, " cannot be "));
    assert!(plan(&bench).unwrap().stages[0].permitted.is_empty());
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn times_of_stages_are_set_and_stages_are_added_and_taken_away() {
    let mut bench = crossroads(0);
    let before = bench.scenario().clone();
    bench.press("Stage times (2)");
    let amber = bench.field("Amber of stage 1").center();
    bench.drag_right(amber, 20.0);
    let stages = plan(&bench).unwrap().stages;
    assert!(
        stages[0].amber.unwrap() > 4.0 && stages[1].amber.is_none(),
        "{stages:?}"
    );
    assert_eq!(stages[0].all_red, None);
    bench.press("Add stage");
    let more = plan(&bench).unwrap().stages;
    assert_eq!(more.len(), 3);
    assert_eq!(more[2].green, stages[1].green);
    // The last two stages are equal: one of them can be removed, but not the other.
    bench.press("Remove stage 2");
    assert_eq!(plan(&bench).unwrap().stages.len(), 2);
    bench.press("Remove stage 2");
    assert_eq!(plan(&bench).unwrap().stages.len(), 2);
    bench.press("Automatic");
    assert!(plan(&bench).unwrap().stages.is_empty());
    for _ in 0..4 {
        bench.key_with(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(bench.scenario(), &before);
}
