//! The timeline below the map: when it opens, its contents, and rewinding with it.

use crate::common::Bench;
use egui::{Key, Modifiers, Rect};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::live::LivePicture;
use roadwright_editor::model::Action;
use roadwright_editor::panel::PanelId;
use roadwright_editor::settings::RunCurve;
use roadwright_geometry::DVec2;
use roadwright_scenario::{NodeId, ObjectId};
use std::path::Path;
use std::sync::Arc;

/// Name of the chart.
const CHART: &str = "Timeline of the run";

fn crossroads() -> Bench {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench
}

/// Plays for at least a minute, during which the timeline opens, and pauses.
fn after_a_run() -> Bench {
    let mut bench = crossroads();
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    bench.play_until(65.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.snapshot.time > 65.0)
    });
    bench.ask(Action::Do(Command::StepOnce));
    bench.ask(Action::Speed(1.0));
    bench
}

/// Returns the position of a moment on the chart, as a fraction of its width.
fn share(bench: &Bench, time: f64) -> f32 {
    let to = live(bench).timeline.to;
    let spans = [60.0, 120.0, 300.0];
    let span = spans.into_iter().find(|span| to <= *span).unwrap();
    (time / (1.1 * span)) as f32
}

fn is_open(bench: &Bench) -> bool {
    bench.harness.query_by_label(CHART).is_some()
}

fn live(bench: &Bench) -> Arc<LivePicture> {
    bench.editor().model().live.clone().unwrap()
}

fn chart(bench: &Bench) -> Rect {
    bench.harness.get_by_label(CHART).rect()
}

/// Presses the pointer on the chart at a share of its width, and moves it to others before the release.
fn drag_over(bench: &mut Bench, shares: &[f32]) {
    let rect = chart(bench);
    // Near the bottom, where no dots are.
    let at = |share: f32| egui::pos2(rect.left() + share * rect.width(), rect.bottom() - 4.0);
    bench.harness.hover_at(at(shares[0]));
    bench.harness.step();
    bench.harness.drag_at(at(shares[0]));
    bench.harness.step();
    for share in shares {
        bench.harness.hover_at(at(*share));
        bench.harness.step();
    }
    bench.harness.drop_at(at(shares[shares.len() - 1]));
    bench.harness.step();
    bench.settle();
}

#[test]
fn it_opens_with_the_first_run_and_stays_closed_once_it_is_closed() {
    let mut bench = crossroads();
    let map = bench.map();
    assert!(!is_open(&bench));
    // A single step is not a run.
    bench.step_run(1);
    assert!(!is_open(&bench));
    bench.key(Key::Space);
    assert!(bench.play_until(1.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.snapshot.time > 0.5)
    }));
    bench.key(Key::Space);
    assert!(is_open(&bench));
    let height = map.height() - bench.map().height();
    assert!((195.0..=206.0).contains(&height), "{height}");
    // The timeline keeps its height in a taller window.
    bench.harness.set_size(egui::vec2(1280.0, 1000.0));
    bench.harness.run_steps(4);
    let higher = map.height() + 200.0 - bench.map().height();
    assert!((higher - height).abs() < 2.0, "{higher}");
    // After it was closed with the cross of its tab, it does not open with the next run.
    let view = bench.editor().model().settings.timeline;
    assert!(view.opens);
    let tab = bench.harness.query_all_by_label("Timeline");
    let tab = tab.max_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
    let tab = tab.unwrap().rect();
    let cross = egui::pos2(tab.right() - 10.0, tab.center().y);
    bench.harness.hover_at(cross);
    bench.harness.step();
    bench.harness.drag_at(cross);
    bench.harness.drop_at(cross);
    bench.harness.run_steps(3);
    bench.settle();
    assert!(!is_open(&bench));
    assert!(!bench.editor().model().settings.timeline.opens);
    bench.key(Key::Space);
    bench.key(Key::Space);
    assert!(!is_open(&bench));
    // The command opens it again.
    bench.ask(Action::Do(Command::Panel(PanelId::Timeline)));
    assert!(is_open(&bench));
    assert!(bench.editor().model().settings.timeline.opens);
}

#[test]
fn a_drag_looks_back_and_the_run_goes_on_from_there() {
    let mut bench = after_a_run();
    let [first, second, last] = [40.0, 30.0, 10.0].map(|time| share(&bench, time));
    drag_over(&mut bench, &[first, second, last]);
    let at = live(&bench).timeline.at.unwrap();
    assert!((at - 10.0).abs() < 0.5, "{at}");
    assert!((live(&bench).snapshot.time - at).abs() < 1e-9);
    // The buttons are in the timeline, and there is no second bar above the map.
    assert!(bench.harness.query_by_label("Back to now").is_some());
    // Arrow keys step by a second and, with Shift, by a step of the run.
    bench.key(Key::ArrowLeft);
    assert!((live(&bench).timeline.at.unwrap() - (at - 1.0)).abs() < 1e-6);
    bench.key_with(Modifiers::SHIFT, Key::ArrowRight);
    let dt = bench.scenario().settings().dt.get();
    assert!((live(&bench).timeline.at.unwrap() - (at - 1.0 + dt)).abs() < 1e-6);
    // A drag beyond the present returns to it, and so does Escape.
    drag_over(&mut bench, &[last, 0.98]);
    assert_eq!(live(&bench).timeline.at, None);
    bench.key(Key::Home);
    assert_eq!(live(&bench).timeline.at, Some(0.0));
    bench.key(Key::Escape);
    assert_eq!(live(&bench).timeline.at, None);
    drag_over(&mut bench, &[second]);
    bench.press("Continue from here");
    bench.key(Key::Space);
    let on = live(&bench);
    assert!(
        on.timeline.at.is_none() && on.timeline.to < 50.0,
        "{:?}",
        on.timeline
    );
    // Later events are no longer shown.
    let mut all = on.events.arrivals.iter().chain(&on.events.contacts);
    assert!(all.all(|event| event.time <= on.timeline.to));
}

#[test]
fn keys_of_the_timeline_do_not_move_what_is_selected() {
    let mut bench = after_a_run();
    let before = bench.scenario().clone();
    let road = bench.scenario().network().roads().next().unwrap().0;
    bench.ask(Action::Select([ObjectId::Road(road)].into()));
    let place = share(&bench, 30.0);
    drag_over(&mut bench, &[place]);
    bench.key(Key::ArrowLeft);
    assert!(live(&bench).timeline.at.is_some());
    assert_eq!(bench.scenario(), &before);
    // Other keys act as usual: Space continues from the shown moment.
    bench.key(Key::Space);
    assert_eq!(live(&bench).timeline.at, None);
    bench.key(Key::Space);
}

#[test]
fn a_click_on_a_dot_shows_the_moment_and_the_place() {
    let mut bench = after_a_run();
    let arrivals = live(&bench).events.arrivals.clone();
    assert!(!arrivals.is_empty());
    let trips = live(&bench).results.trips.clone();
    assert_eq!(arrivals.len(), trips.len());
    let rect = {
        let dots = bench.harness.query_all_by_label_contains(" arrival");
        let leftmost = dots.min_by(|a, b| a.rect().left().total_cmp(&b.rect().left()));
        leftmost.unwrap().rect()
    };
    let at = rect.center();
    bench.harness.hover_at(at);
    bench.harness.step();
    bench.harness.drag_at(at);
    bench.harness.step();
    bench.harness.drop_at(at);
    bench.harness.step();
    bench.settle();
    let first = &arrivals[0];
    let seen = live(&bench);
    assert!((seen.timeline.at.unwrap() - (first.time - 0.5)).abs() < 0.02);
    let centre = bench.editor().model().camera.centre;
    let place: DVec2 = first.place.unwrap();
    assert!((centre - place).length() < 2.0, "{centre} {place}");
    // The vehicle is still there, at this place.
    let vehicle = seen.snapshot.vehicle(first.agent).unwrap();
    assert!((vehicle.body.position - place).length() < 30.0);
}

#[test]
fn the_selected_junction_shows_its_lights_as_they_were() {
    let mut bench = after_a_run();
    let node = NodeId(5);
    bench.ask(Action::Select([ObjectId::Node(node)].into()));
    let lights = live(&bench).lights.clone();
    assert!(lights.lanes.len() >= 4, "{lights:?}");
    let recorded = |time: f64| -> Vec<_> {
        let lanes = lights.lanes.iter();
        let light = |lane: &roadwright_editor::live::LaneLights| {
            let before = lane.changes.iter().rev().find(|change| change.time <= time);
            before.unwrap().light
        };
        lanes
            .map(|lane| (lane.road, lane.lane, light(lane)))
            .collect()
    };
    // The same lights are found when the run is rewound. The chosen times are away from changes.
    for time in [3.0, 11.1, 22.3, 33.1] {
        bench.ask(Action::LookBack(time));
        let signals = live(&bench).signals.clone();
        let near = |lane: &roadwright_editor::live::LaneLights| {
            lane.changes
                .iter()
                .any(|change| (change.time - time).abs() < 0.3)
        };
        if lights.lanes.iter().any(near) {
            continue;
        }
        let mut seen: Vec<_> = signals
            .iter()
            .filter(|head| lights.lanes.iter().any(|lane| lane.road == head.road))
            .map(|head| (head.road, head.lane, head.light))
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, recorded(time), "at {time} s");
        // The recorded lights are still those of the present.
        assert_eq!(live(&bench).lights, lights);
    }
    bench.ask(Action::Select(Default::default()));
    assert!(live(&bench).lights.lanes.is_empty());
}

#[test]
fn the_curve_is_chosen_from_a_list_and_kept() {
    let mut bench = after_a_run();
    assert_eq!(
        bench.editor().model().settings.timeline.curve,
        RunCurve::MeanSpeed
    );
    bench.press("Curve: Mean speed, m/s");
    bench.press("Stopped");
    assert_eq!(
        bench.editor().model().settings.timeline.curve,
        RunCurve::Stopped
    );
    let folder = bench.folder.path().join("settings");
    // Settings are written with a short delay.
    for _ in 0..100 {
        bench.harness.step();
        let text = std::fs::read_to_string(folder.join("settings.json")).unwrap_or_default();
        if text.contains("\"curve\": \"stopped\"") {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the choice is not kept");
}
