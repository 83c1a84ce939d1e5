//! Showing, dragging, creating and undoing the green wave along a street.

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::model::{Action, Next};
use roadwright_editor::panel::PanelId;
use roadwright_scenario::{Edit, NodeId, ObjectId, RoadId, SignalMode, SignalPlan};
use std::collections::BTreeSet;
use std::path::Path;

const NODES: [u32; 4] = [5, 8, 11, 14];

/// Returns the avenue with four signals. The first and the last of them are selected.
fn avenue() -> Bench {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut bench = Bench::open(&folder.join("signal-corridor.scenario.json"));
    bench.close_dialog();
    select(&mut bench, &[5, 14]);
    bench
}

fn select(bench: &mut Bench, nodes: &[u32]) {
    let nodes = nodes.iter().map(|&id| ObjectId::Node(NodeId(id)));
    bench.ask(Action::Select(nodes.collect()));
}

fn plan(bench: &Bench, id: u32) -> SignalPlan {
    let node = bench.scenario().network().node(NodeId(id)).unwrap();
    node.rules.plan.clone().unwrap()
}

fn offsets(bench: &Bench) -> Vec<f64> {
    NODES
        .iter()
        .map(|&id| plan(bench, id).offset.get())
        .collect()
}

fn change_plan(bench: &mut Bench, id: u32, change: impl FnOnce(&mut SignalPlan)) {
    let mut node = bench.scenario().network().node(NodeId(id)).unwrap().clone();
    change(node.rules.plan.as_mut().unwrap());
    bench.ask(Action::Apply(
        "Plan".into(),
        Edit::Node(NodeId(id), Some(node)),
    ));
}

fn has_text(bench: &Bench, text: &str) -> bool {
    bench.harness.query_all_by_label_contains(text).count() > 0
}

#[test]
fn the_inspector_leads_to_the_wave_of_selected_signals_or_of_roads_between_them() {
    let mut bench = avenue();
    bench.press("Green wave");
    assert!(has_text(&bench, "From node 5 to node 14: band of "));
    for id in NODES {
        bench.harness.get_by_label(&format!("Offset of node {id}"));
    }
    // Selecting one of the signals does not close the diagram.
    select(&mut bench, &[8]);
    assert!(has_text(&bench, "From node 5 to node 14: band of "));
    // Selected roads work too, and a crossing road has no diagram.
    let mut bench = avenue();
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Road(RoadId(2))])));
    assert!(bench.harness.query_by_label("Green wave").is_none());
    let roads = [4, 7].map(|id| ObjectId::Road(RoadId(id)));
    bench.ask(Action::Select(roads.into()));
    bench.press("Green wave");
    assert!(has_text(&bench, "From node 5 to node 11: band of "));
}

#[test]
fn a_bar_is_dragged_to_whole_seconds_while_the_run_goes_on_and_undone_in_one_step() {
    let mut bench = avenue();
    bench.ask(Action::Do(Command::Panel(PanelId::GreenWave)));
    bench.step_run(200);
    let before = bench.scenario().clone();
    let bar = bench.scroll_to("Offset of node 11");
    // Two cycles of 70 s are shown.
    let seconds = 10.4;
    let points = bar.width() * (seconds / 140.0) as f32;
    bench.drag_right(bar.center(), points);
    assert_eq!(offsets(&bench), [0.0, 16.0, 39.0, 45.0]);
    assert_eq!(plan(&bench, 11).cycle, Some(70.0));
    bench.step_run(20);
    let live = bench.editor().model().live.clone().unwrap();
    assert!(live.error.is_none() && live.snapshot.step >= 220);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    // Dragged back across the start of the cycle.
    let bar = bench.scroll_to("Offset of node 8");
    bench.drag_right(bar.center(), -bar.width() * (20.0 / 140.0) as f32);
    assert_eq!(offsets(&bench), [0.0, 66.0, 29.0, 45.0]);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn the_button_makes_the_wave_for_the_design_speed_in_one_step() {
    let mut bench = avenue();
    for id in NODES {
        change_plan(&mut bench, id, |plan| plan.offset = 3.0.into());
    }
    let before = bench.scenario().clone();
    bench.ask(Action::Do(Command::Panel(PanelId::GreenWave)));
    assert!(has_text(&bench, "From node 5 to node 14: no band"));
    bench.press("Create wave");
    // 220, 400 and 620 m at 13.89 m/s.
    assert_eq!(offsets(&bench), [3.0, 18.8, 31.8, 47.6]);
    assert!(!has_text(&bench, "From node 5 to node 14: no band"));
    bench.press("Create wave");
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before, "an existing wave makes no step");
    // In the reverse direction the last signal leads.
    bench.press("Reverse direction");
    bench.press("Create wave");
    assert_eq!(offsets(&bench), [47.6, 31.8, 18.8, 3.0]);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    // A lower speed needs later greens.
    bench.press("Reverse direction");
    let speed = bench.field("Design speed").center();
    bench.drag_right(speed, -40.0);
    bench.press("Create wave");
    let slow = offsets(&bench);
    assert!(slow[0] == 3.0 && slow[1] > 20.0, "{slow:?}");
    assert_ne!(bench.scenario(), &before);
}

#[test]
fn signals_that_keep_no_step_are_named_with_what_to_do() {
    let mut bench = avenue();
    bench.ask(Action::Do(Command::Panel(PanelId::GreenWave)));
    change_plan(&mut bench, 8, |plan| plan.cycle = Some(60.0).into());
    assert!(has_text(&bench, "The cycles differ"));
    assert!(has_text(&bench, "node 8: 60.0 s"));
    change_plan(&mut bench, 8, |plan| plan.mode = SignalMode::Actuated);
    assert!(has_text(&bench, "The signals of node 8 are actuated"));
    bench.press("Show node 8");
    let selected = bench.editor().model().selection.clone();
    assert_eq!(selected, BTreeSet::from([ObjectId::Node(NodeId(8))]));
    change_plan(&mut bench, 8, |plan| {
        (plan.mode, *plan.cycle) = (SignalMode::Fixed, Some(70.0));
    });
    assert!(has_text(&bench, "From node 5 to node 14: band of "));
    // A new scenario starts without the diagram.
    bench.ask(Action::Go(Next::New));
    assert!(has_text(
        &bench,
        "Select two or more junctions with signals"
    ));
}
