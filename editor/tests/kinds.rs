//! The lists of vehicle types and stacks with the real editor.

use crate::common::Bench;
use egui::{Key, Modifiers, Pos2};
use egui_kittest::kittest::Queryable;
use roadwright_editor::model::{Action, Purpose};

fn types(bench: &Bench) -> Vec<String> {
    let all = bench.scenario().listed_vehicle_types().into_iter();
    all.map(|(key, _)| key.clone()).collect()
}

fn stacks(bench: &Bench) -> Vec<String> {
    let all = bench.scenario().listed_stacks().into_iter();
    all.map(|(key, _)| key.clone()).collect()
}

/// Returns the positions of the headers of a list, from the top.
fn tops(bench: &Bench, names: &[&str]) -> Vec<f32> {
    let top = |name: &&str| bench.harness.get_by_label(name).rect().top();
    names.iter().map(top).collect()
}

fn drag(bench: &mut Bench, from: Pos2, to: Pos2) {
    bench.harness.hover_at(from);
    bench.harness.step();
    bench.harness.drag_at(from);
    bench.harness.step();
    for i in 1..=8 {
        let at = from + (to - from) * (i as f32 / 8.0);
        bench.harness.event(egui::Event::PointerMoved(at));
        bench.harness.step();
    }
    bench.harness.drop_at(to);
    bench.harness.step();
    bench.settle();
}

/// Presses a button after scrolling the list to it.
fn press(bench: &mut Bench, name: &str) {
    bench.scroll_to(name);
    bench.press(name);
}

/// Opens a new scenario, which has the types car, enviro_400 and willys_mb, and the stacks fuzzy_driver, idm
/// and pursuit.
fn lists() -> Bench {
    let mut bench = Bench::empty();
    bench.press_tab("Scenario");
    bench.harness.run_steps(10);
    bench
}

#[test]
fn a_type_is_dragged_to_another_place_and_comes_back_by_undo() {
    let mut bench = lists();
    assert_eq!(types(&bench), ["car", "enviro_400", "willys_mb"]);
    bench.scroll_to("idm");
    let centre = |bench: &Bench, name: &str| bench.harness.get_by_label(name).rect().center();
    let (from, to) = (centre(&bench, "willys_mb"), centre(&bench, "car"));
    drag(&mut bench, from, to);
    assert_eq!(types(&bench), ["willys_mb", "car", "enviro_400"]);
    let seen = tops(&bench, &["willys_mb", "car", "enviro_400"]);
    assert!(seen.is_sorted(), "the list shows it: {seen:?}");
    // A stack cannot be dropped among types, nor beside the lists.
    let from = centre(&bench, "idm");
    drag(&mut bench, from, to);
    let map = bench.map().center();
    drag(&mut bench, from, map);
    assert_eq!(types(&bench), ["willys_mb", "car", "enviro_400"]);
    assert_eq!(stacks(&bench), ["fuzzy_driver", "idm", "pursuit"]);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(types(&bench), ["car", "enviro_400", "willys_mb"]);
}

#[test]
fn buttons_and_the_menu_move_stacks_and_the_order_is_in_the_file() {
    let mut bench = lists();
    press(&mut bench, "idm");
    bench.harness.run_steps(20);
    press(&mut bench, "Move stack idm up");
    assert_eq!(stacks(&bench), ["idm", "fuzzy_driver", "pursuit"]);
    // The stack is already on top, so nothing happens.
    press(&mut bench, "Move stack idm up");
    press(&mut bench, "Move stack idm down");
    press(&mut bench, "Move stack idm down");
    assert_eq!(stacks(&bench), ["fuzzy_driver", "pursuit", "idm"]);
    // A copy is placed after its original, and a renamed entry keeps its place.
    press(&mut bench, "Copy idm");
    assert_eq!(stacks(&bench), ["fuzzy_driver", "pursuit", "idm", "idm_2"]);
    let at = bench.scroll_to("fuzzy_driver").center();
    bench.harness.get_by_label("fuzzy_driver").click_secondary();
    bench.harness.run_steps(4);
    bench.press("Move to bottom");
    let order = ["pursuit", "idm", "idm_2", "fuzzy_driver"];
    assert_eq!(stacks(&bench), order, "{at}");
    let path = bench.folder.path().join("order.scenario.json");
    bench.ask(Action::Path(path.clone(), Purpose::Save, None));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"order\": {\"stacks\""), "{text}");
    let mut again = Bench::open(&path);
    assert_eq!(stacks(&again), order);
    // The choices for an agent are in the same order.
    again.ask(Action::Tool(roadwright_editor::tools::ToolKind::Vehicle));
    again.harness.get_by_label_contains("Stack: ").click();
    again.harness.run_steps(4);
    let offered = |name: &str| {
        let all = again.harness.query_all_by_label(name);
        all.map(|one| one.rect())
            .min_by(|a, b| a.left().total_cmp(&b.left()))
    };
    let tops: Vec<f32> = order
        .iter()
        .map(|name| offered(name).unwrap().top())
        .collect();
    assert!(tops.is_sorted(), "{tops:?}");
    assert!(bench.scenario() == again.scenario());
}

#[test]
fn a_button_adds_people_with_a_stack_that_walks() {
    let mut bench = lists();
    press(&mut bench, "Add person");
    assert_eq!(types(&bench), ["car", "enviro_400", "person", "willys_mb"]);
    assert_eq!(
        stacks(&bench),
        ["fuzzy_driver", "idm", "on_foot", "pursuit"]
    );
    bench.harness.run_steps(4);
    assert!(bench.harness.query_by_label("Add person").is_none());
    press(&mut bench, "person");
    bench.harness.run_steps(20);
    // A character has a diameter and no wheels.
    let shows = |name: &str| {
        bench
            .harness
            .query_all_by_label_contains(name)
            .next()
            .is_some()
    };
    assert!(shows("Diameter") && !shows("Wheelbase"));
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(types(&bench), ["car", "enviro_400", "willys_mb"]);
    assert_eq!(stacks(&bench), ["fuzzy_driver", "idm", "pursuit"]);
}
