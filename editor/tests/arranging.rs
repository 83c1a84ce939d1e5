//! Mirroring, rotating and hiding with the real editor.

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::model::Action;
use roadwright_editor::tools::{MapPart, ToolKind};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{ObjectId, Scenario};

/// Draws two roads that cross 60 m east of the origin, a box beside them, and a car, and selects
/// everything. The view extends 150 m in each direction.
fn corner() -> Bench {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::R);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.drag(&[(60.0, -100.0), (60.0, 100.0)]);
    bench.key(Key::O);
    bench.drag(&[(-80.0, 30.0), (-60.0, 45.0)]);
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (61.6, 80.0)]);
    bench.key(Key::V);
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench
}

fn box_at(scenario: &Scenario) -> DVec2 {
    let obstacle = scenario.obstacles().values().next().unwrap();
    obstacle.shape.centre()
}

/// Returns the largest distance between two nodes with the same id, m.
fn apart(a: &Scenario, b: &Scenario) -> f64 {
    let nodes = a.network().nodes();
    let gaps = nodes.map(|(id, node)| {
        let other = b.network().node(id).unwrap();
        (other.position() - node.position()).length()
    });
    gaps.fold(0.0, f64::max)
}

#[test]
fn the_selection_is_mirrored_in_one_step_and_twice_is_nothing() {
    let mut bench = corner();
    let before = bench.scenario().clone();
    let selected = bench.editor().model().selection.clone();
    bench.key_with(Modifiers::SHIFT, Key::H);
    let once = bench.scenario().clone();
    let (was, is) = (box_at(&before), box_at(&once));
    assert!((was.y - is.y).abs() < 0.2 && is.x > 50.0, "{was} {is}");
    assert!(apart(&before, &once) > 50.0);
    assert_eq!(bench.editor().model().selection, selected);
    let problems = &bench.editor().model().findings.1;
    assert!(problems.is_empty(), "{problems:?}");
    // Undo reverts it in a single step.
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::Y);
    assert_eq!(bench.scenario(), &once);
    // Mirrored twice.
    bench.key_with(Modifiers::SHIFT, Key::H);
    let twice = bench.scenario().clone();
    assert!(apart(&before, &twice) < 1e-6);
    assert!((box_at(&twice) - was).length() < 1e-6);
    assert_eq!(before.agents(), twice.agents());
    // Mirrors top to bottom, and rotates by quarter turns.
    bench.key_with(Modifiers::SHIFT, Key::V);
    assert!(box_at(bench.scenario()).y < 0.0);
    bench.key_with(Modifiers::SHIFT, Key::V);
    for _ in 0..4 {
        bench.key_with(Modifiers::COMMAND, Key::CloseBracket);
    }
    assert!(apart(&before, bench.scenario()) < 1e-6);
    bench.key_with(Modifiers::COMMAND, Key::OpenBracket);
    assert!(apart(&before, bench.scenario()) > 50.0);
}

#[test]
fn mirroring_works_while_it_runs_and_says_when_there_is_nothing_to_mirror() {
    let mut bench = corner();
    bench.ask(Action::Speed(f64::INFINITY));
    bench.step_run(100);
    bench.key_with(Modifiers::SHIFT, Key::H);
    bench.step_run(20);
    bench.settle();
    let live = bench.editor().model().live.clone().unwrap();
    assert!(live.snapshot.step >= 110, "{}", live.snapshot.step);
    bench.ask(Action::Do(Command::Reset));
    let arrived = bench.editor().model().live.clone();
    assert!(arrived.is_none_or(|live| live.counts.arrived == 0));
    bench.key(Key::Space);
    let arrived = bench.play_until_arrived(120.0);
    assert!(arrived, "the mirrored trip can be driven");
    bench.key(Key::Space);
    // An agent on a lane follows its road, so there is nothing to mirror.
    let agent = *bench.scenario().agents().keys().next().unwrap();
    bench.ask(Action::Select(Objects::from([ObjectId::Agent(agent)])));
    let before = bench.scenario().clone();
    bench.key_with(Modifiers::SHIFT, Key::H);
    assert_eq!(bench.scenario(), &before);
    bench.ask(Action::Select(Objects::new()));
    bench.key_with(Modifiers::SHIFT, Key::V);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn it_is_found_in_the_menu_and_in_the_palette() {
    let mut bench = corner();
    let before = bench.scenario().clone();
    bench.press("Edit");
    bench.press("Mirror and turn");
    bench.press("Mirror left to right Shift+H");
    assert_ne!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::P);
    bench.type_text("mirror left");
    bench.key(Key::Enter);
    assert!(apart(&before, bench.scenario()) < 1e-6);
    // Without modifiers, the letters still select tools.
    bench.key(Key::H);
    assert_eq!(bench.editor().model().tool, ToolKind::Terrain);
    assert!(
        bench
            .harness
            .query_by_label("Mirror left to right Shift+H")
            .is_none()
    );
}

fn hide(bench: &mut Bench, part: MapPart) {
    bench.set(|settings| settings.tools.hidden.extend([part]));
}

fn pixels(bench: &mut Bench, name: &str) -> Vec<u8> {
    let path = bench.folder.path().join(name);
    bench.picture(&path);
    std::fs::read(path).unwrap()
}

#[test]
fn what_is_hidden_is_not_drawn_taken_or_lost() {
    let mut bench = corner();
    bench.ask(Action::Select(Objects::new()));
    bench.hover(-140.0, -140.0);
    let (before, scenario) = (pixels(&mut bench, "a.png"), bench.scenario().clone());
    bench.press("View");
    bench.press("Hide");
    bench.press("Hide obstacles");
    bench.key(Key::Escape);
    bench.hover(-140.0, -140.0);
    assert_ne!(pixels(&mut bench, "b.png"), before);
    assert_eq!(bench.scenario(), &scenario, "it is hidden, not deleted");
    assert!(!bench.editor().model().document.title().is_empty());
    // Neither a click nor a box nor Select all selects the hidden object.
    bench.click(-70.0, 37.0);
    assert!(bench.editor().model().selection.is_empty());
    bench.drag_with(&[(-95.0, 20.0), (-50.0, 60.0)], Modifiers::SHIFT);
    assert!(bench.editor().model().selection.is_empty());
    bench.key_with(Modifiers::COMMAND, Key::A);
    let selection = &bench.editor().model().selection;
    assert!(!selection.iter().any(|o| matches!(o, ObjectId::Obstacle(_))));
    assert!(selection.iter().any(|o| matches!(o, ObjectId::Road(_))));
    // The list marks it as hidden and can still select it.
    bench.press_tab("Scenario");
    bench.harness.get_by_label_contains("Obstacles (1), hidden");
    // One click shows it again without other effects.
    bench.ask(Action::Select(Objects::new()));
    bench.press_tab("Inspector");
    bench.press("Hidden: obstacles. Show all");
    assert!(bench.editor().model().settings.tools.hidden.is_empty());
    assert!(bench.harness.query_by_label_contains("Show all").is_none());
    bench.hover(-140.0, -140.0);
    assert!(
        pixels(&mut bench, "c.png") == before,
        "the picture is unchanged"
    );
    assert_eq!(bench.scenario(), &scenario);
}

#[test]
fn hiding_puts_the_selection_down_and_leaves_the_run_alone() {
    let mut bench = corner();
    assert!(!bench.editor().model().selection.is_empty());
    for part in MapPart::KINDS {
        hide(&mut bench, part);
    }
    assert!(bench.editor().model().selection.is_empty());
    bench.harness.get_by_label("Hidden: 6 kinds. Show all");
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    let arrived = bench.play_until_arrived(120.0);
    assert!(arrived, "hiding does not affect the simulation");
    bench.key(Key::Space);
    // A list selects a hidden object, and Delete then applies to it.
    let road = *bench
        .scenario()
        .network()
        .roads()
        .map(|(id, _)| id)
        .collect::<Vec<_>>()
        .first()
        .unwrap();
    bench.ask(Action::Select(Objects::from([ObjectId::Road(road)])));
    assert_eq!(bench.editor().model().selection.len(), 1);
    bench.key_with(Modifiers::ALT, Key::H);
    assert!(bench.editor().model().settings.tools.hidden.is_empty());
    // Hidden parts are stored with the view between sessions, and in no file.
    hide(&mut bench, MapPart::Layer(3));
    assert!(
        bench.harness.query_by_label_contains("Show all").is_none(),
        "no such layer here"
    );
    hide(&mut bench, MapPart::Vehicles);
    let text = bench.editor().model().document.text();
    assert!(!text.contains("hidden"));
    let settings = serde_json::to_string(&bench.editor().model().settings).unwrap();
    assert!(
        settings.contains("\"hidden\":[\"vehicles\",{\"layer\":3}]"),
        "{settings}"
    );
}

#[test]
fn a_layer_is_hidden_alone() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut bench = Bench::open(&path.join("../scenarios/figure-eight.scenario.json"));
    let before = pixels(&mut bench, "a.png");
    hide(&mut bench, MapPart::Layer(1));
    let one = pixels(&mut bench, "b.png");
    assert_ne!(one, before);
    bench.harness.get_by_label("Hidden: layer 1. Show all");
    bench.key_with(Modifiers::COMMAND, Key::A);
    let scenario = bench.scenario();
    let selected = bench.editor().model().selection.iter();
    for object in selected {
        if let ObjectId::Road(id) = object {
            assert_eq!(scenario.network().road(*id).unwrap().layer, 0);
        }
    }
    hide(&mut bench, MapPart::Roads);
    assert_ne!(pixels(&mut bench, "c.png"), one);
}
