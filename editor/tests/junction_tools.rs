//! Tools that make junctions of streets: roundabouts.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::Bench;
use egui::{Key, Modifiers};
use roadwright_editor::model::Action;
use roadwright_scenario::junction::layout;
use roadwright_scenario::{Control, Scenario};

/// Two streets that cross in the middle.
fn crossing() -> Bench {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::R);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.drag(&[(0.0, -110.0), (0.0, 110.0)]);
    bench
}

/// How many junctions have a control.
fn count(scenario: &Scenario, control: Control) -> usize {
    let layout = layout(scenario.network(), scenario.about());
    let junctions = layout.junctions.iter();
    // An end of a road is none.
    let is_it = |junction: &&std::sync::Arc<roadwright_scenario::junction::Junction>| {
        junction.arms.len() > 1 && junction.control == control
    };
    junctions.filter(is_it).count()
}

fn problems(bench: &Bench) -> &[roadwright_scenario::check::Finding] {
    &bench.editor().model().findings.1
}

/// Drives one car along a drag till it has arrived.
fn arrives(bench: &mut Bench, from: (f64, f64), to: (f64, f64)) -> bool {
    bench.key(Key::A);
    bench.drag(&[from, to]);
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    bench.play_until(120.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.counts.arrived == 1)
    })
}

#[test]
fn a_roundabout_is_drawn_by_one_drag() {
    let mut bench = crossing();
    let before = bench.scenario().clone();
    bench.key(Key::C);
    bench.drag(&[(0.0, 0.0), (16.0, 0.0)]);
    assert_eq!(bench.scenario().network().road_count(), 8);
    assert_eq!(count(bench.scenario(), Control::Roundabout), 4);
    assert!(problems(&bench).is_empty(), "{:?}", problems(&bench));
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    bench.key_with(Modifiers::COMMAND, Key::Y);
    // Round three quarters of it: a turn across the oncoming traffic.
    assert!(arrives(&mut bench, (-100.0, -1.6), (1.6, 90.0)));
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
    // Too small: nothing is drawn.
    bench.drag(&[(0.0, 0.0), (4.0, 0.0)]);
    assert_eq!(bench.scenario().network().road_count(), 0);
}
