//! Mirroring and turning with the real editor.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::model::Action;
use roadwright_editor::tools::ToolKind;
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{ObjectId, Scenario};

/// Two roads that cross off the middle, a box beside them and a car, seen from 150 m around.
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

/// Largest distance between nodes of the same id, m.
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
    // One step.
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::Y);
    assert_eq!(bench.scenario(), &once);
    // Twice.
    bench.key_with(Modifiers::SHIFT, Key::H);
    let twice = bench.scenario().clone();
    assert!(apart(&before, &twice) < 1e-6);
    assert!((box_at(&twice) - was).length() < 1e-6);
    assert_eq!(before.agents(), twice.agents());
    // Up and down, and by quarters.
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
    let arrived = bench.play_until(120.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.counts.arrived == 1)
    });
    assert!(arrived, "the mirrored trip can be driven");
    bench.key(Key::Space);
    // An agent on a lane follows its road: there is nothing to mirror.
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
    bench.press("Mirror left to right Shift+H");
    assert_ne!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::P);
    bench.type_text("mirror left");
    bench.key(Key::Enter);
    assert!(apart(&before, bench.scenario()) < 1e-6);
    // The letters alone are still the tools.
    bench.key(Key::H);
    assert_eq!(bench.editor().model().tool, ToolKind::Terrain);
    assert!(
        bench
            .harness
            .query_by_label("Mirror left to right Shift+H")
            .is_none()
    );
}
