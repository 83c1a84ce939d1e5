//! Junction rules that the user sets in the Inspector, and explanations of individual connections.

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::model::Action;
use roadwright_scenario::junction::{ConnectingPath, Junction, Turn, layout};
use roadwright_scenario::operation::merged_junctions;
use roadwright_scenario::{
    Control, CrossingRule, Edit, JunctionRules, NodeId, ObjectId, RestrictionKind, RoadId,
    SignalMode, ViaRestriction,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const NODE: NodeId = NodeId(5);

fn shipped(name: &str) -> Bench {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut bench = Bench::open(&folder.join(format!("{name}.scenario.json")));
    bench.close_dialog();
    bench
}

/// Opens the crossroads with the junction selected, close enough to show its arrows.
fn crossroads() -> Bench {
    let mut bench = shipped("crossroads");
    bench.look_at(0.0, 0.0, 55.0);
    select(&mut bench, NODE);
    bench
}

fn select(bench: &mut Bench, node: NodeId) {
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Node(node)])));
}

fn rules(bench: &Bench, node: NodeId) -> JunctionRules {
    bench.scenario().network().node(node).unwrap().rules.clone()
}

fn decide(bench: &mut Bench, id: NodeId, change: impl FnOnce(&mut JunctionRules)) {
    let mut node = bench.scenario().network().node(id).unwrap().clone();
    change(&mut node.rules);
    bench.ask(Action::Apply("Decide".into(), Edit::Node(id, Some(node))));
}

fn junction(bench: &Bench, node: NodeId) -> Arc<Junction> {
    let layout = layout(bench.scenario().network(), bench.scenario().about());
    layout.junction_at(node).unwrap().clone()
}

fn path(bench: &Bench, turn: Turn) -> ConnectingPath {
    let junction = junction(bench, NODE);
    let mut paths = junction.paths.iter();
    paths.find(|path| path.turn == turn).unwrap().clone()
}

fn title(path: &ConnectingPath) -> String {
    format!(
        "{} lane {} to {} lane {}",
        path.from.road, path.from.lane, path.to.road, path.to.lane
    )
}

fn has_text(bench: &Bench, text: &str) -> bool {
    bench.harness.query_all_by_label_contains(text).count() > 0
}

fn undo(bench: &mut Bench) {
    bench.key_with(Modifiers::COMMAND, Key::Z);
}

#[test]
fn a_click_on_an_arrow_explains_the_turn_from_lane_to_lane() {
    let mut bench = crossroads();
    let left = path(&bench, Turn::Left);
    let curve = left.curve.clone().unwrap();
    // A point where the connection has diverged from its neighbours and crosses others.
    let at = curve.pose(0.55 * curve.length()).position;
    bench.click(at.x, at.y);
    assert_eq!(bench.editor().model().explained, Some((left.from, left.to)));
    assert!(has_text(
        &bench,
        &format!("Connection from {}", title(&left))
    ));
    assert!(has_text(&bench, "Turn: left, "));
    assert!(has_text(&bench, &format!("m of {}.", left.from.road)));
    assert!(has_text(&bench, "Green in stage "));
    assert!(has_text(
        &bench,
        "it turns across oncoming traffic; crosses it from "
    ));
    assert!(has_text(&bench, "Accepts gaps of "));
    assert!(has_text(&bench, "The same lane also leads to "));
    // The node is still selected. Another click at the same place selects the next connection, or
    // the object below.
    assert_eq!(bench.editor().model().single(), Some(ObjectId::Node(NODE)));
    bench.click(at.x, at.y);
    let model = bench.editor().model();
    assert_ne!(
        (model.single(), model.explained),
        (Some(ObjectId::Node(NODE)), Some((left.from, left.to)))
    );
    // Another selection ends the explanation.
    select(&mut bench, NodeId(1));
    assert_eq!(bench.editor().model().explained, None);
    assert!(!has_text(&bench, "Connection from "));
}

#[test]
fn a_turn_is_explained_from_the_list_of_lanes_with_its_signs_and_crossings() {
    let mut bench = crossroads();
    let straight = path(&bench, Turn::Straight);
    let own = [straight.from.road, straight.to.road];
    let arms = junction(&bench, NODE).arms.clone();
    let across = arms.iter().map(|arm| arm.road);
    let across: Vec<RoadId> = across.filter(|road| !own.contains(road)).collect();
    decide(&mut bench, NODE, |rules| {
        rules.control = Some(Control::Stop);
        rules.major = across;
        rules.crossings = vec![CrossingRule::over(straight.to.road)];
    });
    let count = junction(&bench, NODE).paths.len();
    bench.press(&format!("Lanes ({count})"));
    let name = title(&straight);
    bench.press(&format!("Explain {name}"));
    assert!(has_text(&bench, &format!("Connection from {name}")));
    assert!(has_text(&bench, "Stop sign"));
    assert!(!has_text(&bench, "Green in stage"));
    assert!(has_text(
        &bench,
        &format!(
            "Drives over the pedestrian crossing on {} from ",
            straight.to.road
        )
    ));
    assert!(has_text(
        &bench,
        "zebra crossing, pedestrians have priority"
    ));
    bench.press(&format!("Close {name}"));
    assert!(!has_text(&bench, "Connection from "));
}

#[test]
fn a_crossing_is_made_wider_and_stays_so() {
    let mut bench = crossroads();
    let before = bench.scenario().clone();
    let road = junction(&bench, NODE).arms[0].road;
    bench.press(&format!("Crossing over {road}"));
    let width = |bench: &Bench| {
        let rules = rules(bench, NODE);
        rules
            .crossing(road)
            .and_then(|crossing| crossing.width.get())
    };
    let drawn = |bench: &Bench| junction(bench, NODE).crossings[0].width;
    assert_eq!((width(&bench), drawn(&bench)), (None, 3.6));
    let with_crossing = bench.scenario().clone();
    let field = bench.field(&format!("Width over {road}")).center();
    bench.drag_right(field, 20.0);
    let wide = width(&bench).unwrap();
    assert!((4.0..8.0).contains(&wide), "{wide}");
    assert_eq!(drawn(&bench), wide);
    // The change survives another edit and its undo.
    let wider = bench.scenario().clone();
    decide(&mut bench, NODE, |rules| {
        rules.control = Some(Control::AllWayStop)
    });
    undo(&mut bench);
    assert_eq!((bench.scenario(), width(&bench)), (&wider, Some(wide)));
    undo(&mut bench);
    assert_eq!(bench.scenario(), &with_crossing);
    bench.key_with(Modifiers::COMMAND, Key::Y);
    assert_eq!(width(&bench), Some(wide));
    undo(&mut bench);
    undo(&mut bench);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_script_is_chosen_for_signals_and_its_parameters_are_set() {
    let mut bench = crossroads();
    decide(&mut bench, NODE, |rules| {
        rules.control = Some(Control::Signals)
    });
    let before = bench.scenario().clone();
    bench.press("Mode of signals: fixed, automatic times");
    bench.press("longest_queue.rhai");
    let controller = |bench: &Bench| rules(bench, NODE).plan.unwrap().controller.unwrap();
    assert_eq!(controller(&bench).module, "longest_queue.rhai");
    assert!(controller(&bench).parameters.is_empty());
    let chosen = bench.scenario().clone();
    let field = bench.field("longest").center();
    bench.drag_right(field, 20.0);
    let longest = controller(&bench).parameters["longest"];
    assert!((46.0..60.0).contains(&longest), "{longest}");
    assert_eq!(
        controller(&bench).parameters.len(),
        1,
        "defaults are not written"
    );
    // The run applies the change.
    bench.step_run(40);
    assert!(bench.editor().model().live.clone().unwrap().error.is_none());
    undo(&mut bench);
    assert_eq!(bench.scenario(), &chosen);
    undo(&mut bench);
    assert_eq!(bench.scenario(), &before);
    // A missing module is named.
    decide(&mut bench, NODE, |rules| {
        let plan = rules.plan.get_or_insert_default();
        plan.mode = SignalMode::Actuated;
        plan.controller = Some(roadwright_scenario::SignalControllerSetting::new(
            "gone.rhai",
        ));
    });
    assert!(has_text(&bench, "gone.rhai is missing"));
}

#[test]
fn what_rules_a_junction_is_chosen_and_left_to_the_roads_again() {
    let mut bench = crossroads();
    decide(&mut bench, NODE, |rules| rules.control = None);
    let before = bench.scenario().clone();
    let mut shown = format!("Automatic: {}", word(junction(&bench, NODE).control));
    for control in Control::ALL {
        bench.press(&format!("Control: {shown}"));
        // The list offers all kinds of control. Its texts are shown beside the text of the field.
        for other in Control::ALL {
            assert!(has_text(&bench, word(other)), "{other:?}");
        }
        choose(&mut bench, word(control));
        assert_eq!(rules(&bench, NODE).control, Some(control));
        assert_eq!(junction(&bench, NODE).control, control);
        shown = word(control).to_owned();
    }
    bench.press(&format!("Control: {shown}"));
    choose(&mut bench, "Automatic");
    assert_eq!(bench.scenario(), &before);
    bench.step_run(10);
    assert!(bench.editor().model().live.clone().unwrap().error.is_none());
}

/// Selects an entry of the open list.
fn choose(bench: &mut Bench, entry: &str) {
    let all = bench.harness.query_all_by_label(entry);
    // A list is drawn over the panel, so its entries come last.
    all.last().unwrap().click();
    bench.harness.step();
    bench.settle();
}

fn word(control: Control) -> &'static str {
    match control {
        Control::Uncontrolled => "near-side priority",
        Control::Priority => "give way",
        Control::Stop => "stop",
        Control::AllWayStop => "all-way stop",
        Control::Signals => "signals",
        Control::Roundabout => "roundabout",
        Control::MiniRoundabout => "mini roundabout",
        Control::Zipper => "zipper",
    }
}

#[test]
fn the_mode_of_signals_is_chosen() {
    let mut bench = crossroads();
    decide(&mut bench, NODE, |rules| {
        (rules.control, rules.plan) = (Some(Control::Signals), None);
    });
    let before = bench.scenario().clone();
    let mut shown = "fixed, automatic times";
    let modes = [
        ("fixed", SignalMode::Fixed),
        ("on demand", SignalMode::Actuated),
        ("flashing amber", SignalMode::Flashing),
        ("off", SignalMode::Off),
    ];
    for (word, mode) in modes {
        bench.press(&format!("Mode of signals: {shown}"));
        choose(&mut bench, word);
        assert_eq!(rules(&bench, NODE).plan.unwrap().mode, mode);
        // Only fixed times have a cycle to set.
        let has_cycle = bench.harness.query_all_by_label("Cycle").count() > 0;
        assert_eq!(has_cycle, mode == SignalMode::Fixed, "{word}");
        shown = word;
    }
    for _ in modes {
        undo(&mut bench);
    }
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_turn_over_another_road_is_forbidden() {
    let mut bench = shipped("signal-corridor");
    select(&mut bench, NodeId(8));
    let before = bench.scenario().clone();
    bench.press("Forbid a route via another road…");
    bench.press("from road 5");
    bench.press("via road 7");
    bench.press("to road 9");
    let via = rules(&bench, NodeId(8)).via_restrictions;
    let wanted = ViaRestriction {
        kind: RestrictionKind::No,
        from: RoadId(5),
        via: vec![RoadId(7)],
        to: RoadId(9),
    };
    assert_eq!(via, [wanted]);
    bench
        .harness
        .get_by_label("No turn from road 5 via road 7 to road 9");
    bench.press("Remove");
    assert_eq!(bench.scenario(), &before);
    undo(&mut bench);
    undo(&mut bench);
    assert_eq!(bench.scenario(), &before);
}

/// Creates two streets that cross a third one 30 m apart, so that both junctions merge into one.
/// Also returns its two nodes.
fn merged() -> (Bench, [NodeId; 2]) {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::R);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.drag(&[(-15.0, -90.0), (-15.0, 90.0)]);
    bench.drag(&[(15.0, -90.0), (15.0, 90.0)]);
    let network = bench.scenario().network();
    let crossings = network.nodes().map(|(id, _)| id);
    let nodes: Vec<NodeId> = crossings
        .filter(|&id| network.ends_at(id).len() > 2)
        .collect();
    let [first, second] = nodes[..] else {
        panic!("two crossings: {nodes:?}");
    };
    let edit = merged_junctions(bench.scenario(), &BTreeSet::from([first, second])).unwrap();
    bench.ask(Action::Apply("Merge".into(), edit));
    (bench, [first, second])
}

#[test]
fn what_rules_a_merged_junction_is_changed_from_either_of_its_nodes() {
    for (ruling, selected) in [(0, 1), (1, 0), (0, 0)] {
        let (mut bench, nodes) = merged();
        decide(&mut bench, nodes[ruling], |rules| {
            rules.control = Some(Control::Signals);
        });
        let before = bench.scenario().clone();
        select(&mut bench, nodes[selected]);
        let words = format!("Set at {} for all nodes", nodes[ruling]);
        assert_eq!(has_text(&bench, &words), ruling != selected);
        bench.press("Control: signals");
        choose(&mut bench, "all-way stop");
        assert_eq!(
            junction(&bench, nodes[selected]).control,
            Control::AllWayStop
        );
        assert_eq!(rules(&bench, nodes[1 - ruling]).control, None);
        undo(&mut bench);
        assert_eq!(bench.scenario(), &before);
    }
}

#[test]
fn roads_that_go_first_rule_a_merged_junction_too() {
    let (mut bench, [first, second]) = merged();
    let road = junction(&bench, second).arms[0].road;
    decide(&mut bench, second, |rules| rules.major = vec![road]);
    select(&mut bench, first);
    assert!(has_text(&bench, &format!("Set at {second} for all nodes")));
    // Both nodes list major roads; a new choice then applies to the whole junction and is reset as
    // a whole.
    let before = bench.scenario().clone();
    let arms = junction(&bench, first).arms.clone();
    let other = arms.iter().map(|arm| arm.road).find(|&other| other != road);
    let other = other.unwrap();
    for (node, major) in [(first, other), (second, road)] {
        decide(&mut bench, node, |rules| {
            (rules.control, rules.major) = (Some(Control::Priority), vec![major]);
        });
    }
    let named = |bench: &Bench| {
        let nodes = [first, second].into_iter();
        nodes
            .flat_map(|id| rules(bench, id).major)
            .collect::<Vec<_>>()
    };
    assert_eq!(named(&bench), [other, road]);
    let name = road.to_string();
    let role = egui::accesskit::Role::CheckBox;
    bench.harness.get_by_role_and_label(role, &name).click();
    bench.harness.step();
    bench.settle();
    assert!(!named(&bench).contains(&road) && named(&bench).contains(&other));
    bench.press("Automatic");
    assert_eq!(named(&bench), []);
    for _ in 0..4 {
        undo(&mut bench);
    }
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_turn_of_a_merged_junction_is_forbidden_from_either_of_its_nodes() {
    let (mut bench, [first, node]) = merged();
    let before = bench.scenario().clone();
    let merged = junction(&bench, node);
    assert_eq!(merged.nodes.len(), 2);
    // From a road at one node into a road at the other.
    let ends_at = |node: NodeId, road: RoadId| {
        before
            .network()
            .ends_at(node)
            .iter()
            .any(|end| end.0 == road)
    };
    let mut paths = merged.paths.iter();
    let path = paths
        .find(|path| ends_at(first, path.from.road) && ends_at(node, path.to.road))
        .unwrap();
    let (from, to) = (path.from.road, path.to.road);
    select(&mut bench, node);
    bench.press("Forbid a turn…");
    bench.press(&format!("from {from}"));
    bench.press(&format!("to {to}"));
    let leads_so = |path: &ConnectingPath| (path.from.road, path.to.road) == (from, to);
    assert!(!junction(&bench, node).paths.iter().any(leads_so));
    let rules = rules(&bench, node);
    assert!(rules.restrictions.is_empty() && !rules.turns.remove.is_empty());
    // All other connections are unchanged.
    let others = merged.paths.iter().filter(|path| !leads_so(path)).count();
    assert_eq!(junction(&bench, node).paths.len(), others);
    undo(&mut bench);
    assert_eq!(bench.scenario(), &before);
}
