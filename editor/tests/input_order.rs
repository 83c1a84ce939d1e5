//! Checks that events that arrive in one frame, as after a hitch, have the same effect as one event per frame.

use crate::common::Bench;
use egui::{Event, Key, Modifiers, PointerButton, Pos2};
use egui_kittest::kittest::Queryable;
use roadwright_scenario::Scenario;

/// A sequence of events.
#[derive(Default)]
struct Events(Vec<Event>);

impl Events {
    fn key(mut self, key: Key, modifiers: Modifiers) -> Self {
        self.0.push(Event::ModifiersChanged(modifiers));
        for pressed in [true, false] {
            self.0.push(Event::Key {
                key,
                physical_key: None,
                pressed,
                repeat: false,
                modifiers,
            });
        }
        self.0.push(Event::ModifiersChanged(Modifiers::NONE));
        self
    }

    fn press(self, key: Key) -> Self {
        self.key(key, Modifiers::NONE)
    }

    fn button(mut self, pos: Pos2, pressed: bool) -> Self {
        self.0.push(Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        self
    }

    fn moved(mut self, to: Pos2) -> Self {
        self.0.push(Event::PointerMoved(to));
        self
    }

    fn click(self, at: Pos2) -> Self {
        self.moved(at).button(at, true).button(at, false)
    }

    /// Moves in steps of a few points with the button held.
    fn along(mut self, from: Pos2, to: Pos2) -> Self {
        let steps = ((to - from).length() / 8.0).ceil().max(2.0) as usize;
        for i in 1..=steps {
            self = self.moved(from + (to - from) * (i as f32 / steps as f32));
        }
        self
    }

    fn drag(self, from: Pos2, to: Pos2) -> Self {
        let pressed = self.moved(from).button(from, true);
        pressed.along(from, to).button(to, false)
    }
}

/// Sends all events in one frame.
fn at_once(bench: &mut Bench, events: &Events) {
    bench.harness.input_mut().events.extend(events.0.clone());
    bench.harness.step();
    bench.settle();
}

/// Sends one event per frame, and waits for all of its effects.
fn one_by_one(bench: &mut Bench, events: &Events) {
    for event in &events.0 {
        bench.harness.input_mut().events.push(event.clone());
        bench.harness.step();
        bench.settle();
    }
}

fn history(bench: &Bench) -> Vec<String> {
    let history = bench.editor().model().document.history();
    history.undo_labels().map(str::to_owned).collect()
}

/// Sends the events both in one frame and one by one, from the state that `prepare` creates, and
/// compares the results. Returns the resulting scenario.
#[track_caller]
fn compare(
    prepare: impl Fn(&mut Bench),
    events: impl Fn(&Bench) -> Events,
    expected_steps: usize,
) -> Scenario {
    let mut results = Vec::new();
    for send in [at_once, one_by_one] {
        let mut bench = Bench::empty();
        bench.look_at(0.0, 0.0, 150.0);
        prepare(&mut bench);
        let events = events(&bench);
        send(&mut bench, &events);
        let model = bench.editor().model();
        results.push((bench.scenario().clone(), history(&bench), model.tool));
    }
    let (one, other) = (&results[0], &results[1]);
    assert_eq!(one.1, other.1);
    assert_eq!(one.2, other.2);
    assert_eq!(one.0, other.0);
    assert_eq!(one.1.len(), expected_steps, "{:?}", one.1);
    results.swap_remove(0).0
}

fn selects(bench: &mut Bench) {
    bench.key(Key::V);
}

fn nothing(_: &mut Bench) {}

fn drawn(bench: &mut Bench) {
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
}

#[test]
fn a_tool_key_and_a_stroke() {
    let scenario = compare(
        selects,
        |bench| {
            Events::default()
                .press(Key::R)
                .drag(bench.at(-100.0, 0.0), bench.at(80.0, 20.0))
        },
        1,
    );
    assert_eq!(scenario.network().road_count(), 1);
}

#[test]
fn a_stroke_and_its_undo() {
    let undo = |bench: &Bench| {
        let drag = Events::default().drag(bench.at(-100.0, 50.0), bench.at(80.0, 60.0));
        drag.key(Key::Z, Modifiers::COMMAND)
    };
    let scenario = compare(drawn, undo, 1);
    assert_eq!(scenario.network().road_count(), 1);
}

#[test]
fn three_clicks_and_enter() {
    let chain = |bench: &Bench| {
        let clicks = [(-100.0, 0.0), (0.0, 0.0), (60.0, 70.0)];
        let events = Events::default();
        let events = clicks
            .into_iter()
            .fold(events, |events, (x, y)| events.click(bench.at(x, y)));
        events.press(Key::Enter)
    };
    let scenario = compare(nothing, chain, 1);
    let (_, road) = scenario.network().roads().next().unwrap();
    assert!(road.length() > 170.0, "{}", road.length());
}

#[test]
fn a_stroke_that_escape_cancels() {
    let cancelled = |bench: &Bench| {
        let (from, to) = (bench.at(-100.0, 0.0), bench.at(80.0, 20.0));
        let stroke = Events::default()
            .moved(from)
            .button(from, true)
            .along(from, to);
        stroke.press(Key::Escape).button(to, false)
    };
    let scenario = compare(nothing, cancelled, 0);
    assert_eq!(scenario.network().road_count(), 0);
}

#[test]
fn a_road_and_a_flow_along_it() {
    let both = |bench: &Bench| {
        let road = Events::default()
            .press(Key::R)
            .drag(bench.at(-100.0, 0.0), bench.at(100.0, 0.0));
        road.press(Key::L)
            .drag(bench.at(-90.0, -1.5), bench.at(90.0, -1.5))
    };
    let scenario = compare(selects, both, 2);
    let flow = scenario.flows().values().next().unwrap();
    let is_on_lane =
        |place: &roadwright_scenario::Place| matches!(place, roadwright_scenario::Place::Lane(_));
    assert!(is_on_lane(&flow.origin) && is_on_lane(&flow.destination));
}

#[test]
fn two_strokes_that_cross() {
    let cross = |bench: &Bench| {
        let first = Events::default().drag(bench.at(-100.0, 0.0), bench.at(100.0, 0.0));
        let second = first.drag(bench.at(0.0, -80.0), bench.at(0.0, 80.0));
        // Released on the asphalt of the first road.
        second.drag(bench.at(50.0, 80.0), bench.at(50.0, 2.0))
    };
    let scenario = compare(nothing, cross, 3);
    assert_eq!(scenario.network().road_count(), 6);
}

#[test]
fn a_stroke_that_ends_over_a_panel() {
    let out = |bench: &Bench| {
        let map = bench.map();
        // The tool box is to the left of the map.
        let outside = Pos2::new(map.left() - 20.0, map.center().y);
        Events::default().drag(bench.at(20.0, 0.0), outside)
    };
    let scenario = compare(nothing, out, 1);
    assert_eq!(scenario.network().road_count(), 1);
}

#[test]
fn a_press_on_a_panel_with_the_pointer_on_the_map_afterwards() {
    let across = |bench: &Bench| {
        let map = bench.map();
        let outside = Pos2::new(map.left() - 20.0, map.bottom() - 20.0);
        Events::default().drag(outside, bench.at(20.0, 0.0))
    };
    let scenario = compare(nothing, across, 0);
    assert_eq!(scenario.network().road_count(), 0);
}

#[test]
fn a_new_document_and_a_stroke_in_it() {
    let far_away = |bench: &mut Bench| {
        drawn(bench);
        bench.look_at(900.0, 400.0, 60.0);
        // A saved document can be left without a question.
        let path = bench.folder.path().join("saved.scenario.json");
        let save = roadwright_editor::model::Purpose::Save;
        bench.ask(roadwright_editor::model::Action::Path(path, save, None));
    };
    let anew = |bench: &Bench| {
        let middle = bench.map().center();
        let new = Events::default().key(Key::N, Modifiers::COMMAND);
        new.drag(middle, middle + egui::vec2(200.0, 0.0))
    };
    let scenario = compare(far_away, anew, 1);
    let (_, road) = scenario.network().roads().next().unwrap();
    let start = road.reference_line.start().position;
    assert!(start.length() < 1.0, "{start}");
}

/// Sends one event per frame, each a second after the previous one.
fn in_slow_frames(bench: &mut Bench, events: &Events) {
    for event in &events.0 {
        let time = bench.harness.ctx.input(|input| input.time) + 1.0;
        let input = bench.harness.input_mut();
        input.time = Some(time);
        input.events.push(event.clone());
        bench.harness.step();
    }
    bench.settle();
}

#[test]
fn a_click_on_a_button_in_slow_frames() {
    let mut bench = Bench::crossroads();
    bench.key_with(Modifiers::COMMAND, Key::N);
    let button = bench.harness.get_by_label("Don't save").rect().center();
    in_slow_frames(&mut bench, &Events::default().click(button));
    assert_eq!(bench.scenario().network().road_count(), 0);
}

#[test]
fn a_double_click_that_arrived_at_once_in_slow_frames() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    let (from, to) = (bench.at(-100.0, 0.0), bench.at(60.0, 0.0));
    let events = Events::default().click(from).click(to).click(to);
    bench.harness.input_mut().events.extend(events.0);
    for _ in 0..12 {
        let time = bench.harness.ctx.input(|input| input.time);
        bench.harness.input_mut().time = Some(time + 1.0);
        bench.harness.step();
    }
    bench.settle();
    assert_eq!(bench.scenario().network().road_count(), 1);
}
