//! Rewinding a run, continuing from a past moment, and manual driving. The results are compared with worlds that are
//! stepped without an editor.

use crate::common::Bench;
use egui::Key;
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::live::{Coordinator, Live, LivePicture};
use roadwright_editor::model::Action;
use roadwright_editor::panel::PanelId;
use roadwright_scenario::{Edit, Flow, Obstacle, ObstacleId, Scenario, Settings, Shape, file};
use roadwright_simulation::{
    CouplingOrder, HandControls, HeatMap, Observer, RunOptions, World, builtin_modules,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn shipped(name: &str) -> Arc<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    Arc::new(file::load(&folder.join(format!("{name}.scenario.json"))).unwrap())
}

fn live(scenario: &Arc<Scenario>) -> Live {
    let mut live = Live::new(scenario.clone(), builtin_modules(), || ());
    live.set_speed(f64::INFINITY);
    live
}

fn world(scenario: &Scenario) -> World {
    let options = RunOptions {
        lenient: true,
        ..RunOptions::default()
    };
    World::new(scenario, &builtin_modules(), &options).unwrap()
}

/// Returns the snapshot after all orders have been carried out.
fn settled(live: &Live) -> Arc<LivePicture> {
    for _ in 0..60_000 {
        if live.is_settled() {
            return live.picture();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the run does not settle");
}

/// Plays at least until a time in seconds, then pauses.
fn play_to(live: &mut Live, time: f64) -> Arc<LivePicture> {
    live.play();
    for _ in 0..120_000 {
        if live.picture().snapshot.time >= time {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    live.pause();
    let picture = settled(live);
    assert!(picture.snapshot.time >= time);
    picture
}

fn steps(world: &mut World, to: u64) {
    while world.steps() < to {
        world.step();
    }
}

#[test]
fn any_moment_is_found_again_and_going_on_equals_the_uninterrupted_run() {
    let scenario = shipped("crossroads");
    let mut live = live(&scenario);
    let end = play_to(&mut live, 40.0);
    let mut whole = world(&scenario);
    for moment in [12.34, 0.0, 39.99, 2.0, 12.35] {
        live.look_back(moment);
        let seen = settled(&live);
        assert_eq!(seen.timeline.at, Some(seen.snapshot.time));
        assert!((seen.snapshot.time - moment).abs() < 1e-6);
        assert_eq!(seen.timeline.to, end.snapshot.time);
        let mut again = world(&scenario);
        steps(&mut again, seen.snapshot.step);
        assert_eq!(seen.hash, again.state_hash(), "at {moment} s");
        assert_eq!(seen.snapshot.hash(), again.snapshot().hash());
    }
    // The present was paused.
    live.back_to_present();
    let now = settled(&live);
    assert_eq!((now.hash, now.timeline.at), (end.hash, None));
    // Continuing from there gives the same result again.
    live.look_back(12.34);
    settled(&live);
    let branch = play_to(&mut live, 45.0);
    assert_eq!(branch.timeline.at, None);
    steps(&mut whole, branch.snapshot.step);
    assert_eq!(branch.hash, whole.state_hash());
    // Its curves equal those of a run that was never rewound.
    let mut never = self::live(&scenario);
    let never = play_to(&mut never, 45.0);
    let common = branch.results.rows.len().min(never.results.rows.len());
    assert!(common >= 45);
    assert_eq!(branch.results.rows[..common], never.results.rows[..common]);
    let before = branch.results.before.clone().unwrap();
    assert_eq!(before.rows.len(), end.results.rows.len());
}

#[test]
fn the_heat_map_of_the_past_is_that_of_a_run_up_to_there() {
    let scenario = shipped("crossroads");
    let mut live = live(&scenario);
    let end = play_to(&mut live, 40.0);
    let heat_until = |step: u64| {
        let (mut world, mut heat) = (world(&scenario), HeatMap::default());
        while world.steps() < step {
            world.step();
            heat.after_step(&world);
        }
        heat.cells().collect::<Vec<_>>()
    };
    assert_eq!(*end.heat, heat_until(end.snapshot.step));
    for moment in [30.5, 12.34, 20.0, 0.0] {
        live.look_back(moment);
        let seen = settled(&live);
        let expected = heat_until(seen.snapshot.step);
        assert_eq!(*seen.heat, expected, "at {moment} s");
        assert!(expected.len() < end.heat.len());
    }
    live.back_to_present();
    assert_eq!(settled(&live).heat, end.heat);
    // Continuing from there does not count anything twice.
    live.look_back(12.34);
    settled(&live);
    let branch = play_to(&mut live, 45.0);
    assert_eq!(*branch.heat, heat_until(branch.snapshot.step));
}

#[test]
fn edits_and_hands_on_the_way_are_done_again() {
    let scenario = shipped("crossroads");
    let mut live = live(&scenario);
    play_to(&mut live, 11.0);
    let edited = |x: f64| {
        let mut edited = (*scenario).clone();
        let shape = Shape::Circle {
            x: x.into(),
            y: (-1.6).into(),
            radius: 1.0.into(),
        };
        let obstacle = Obstacle {
            name: String::new(),
            shape,
            base: 0.0.into(),
            height: 1.0.into(),
            mass: None.into(),
        };
        let id = ObstacleId(99);
        edited
            .apply(Edit::Obstacle(id, Some(Box::new(obstacle))))
            .unwrap();
        Arc::new(edited)
    };
    live.update(edited(-40.0));
    settled(&live);
    let before = play_to(&mut live, 11.5);
    // Chosen after playing, because a busy machine plays past the time, and an earlier vehicle may
    // have arrived by then.
    let agent = before.snapshot.vehicles[0].agent;
    let controls = HandControls {
        pedals: 1.0,
        steering: 0.3,
        ..HandControls::default()
    };
    live.drive(agent, Some(controls));
    let driven = settled(&live);
    assert_eq!(driven.driven, Some((agent, controls)));
    play_to(&mut live, 13.7);
    // Several edits before one step, as in a drag.
    for x in [-39.0, -38.0, -37.0] {
        live.update(edited(x));
        settled(&live);
    }
    live.drive(agent, None);
    let end = play_to(&mut live, 19.0);
    // Every rewind and return goes through the same moments.
    let moments: Vec<f64> = (0..40).map(|i| 10.2 + 0.2 * f64::from(i)).collect();
    let look = |live: &mut Live, moment: f64| {
        live.look_back(moment);
        settled(live).hash
    };
    let backwards: Vec<u64> = moments.iter().rev().map(|m| look(&mut live, *m)).collect();
    let forwards: Vec<u64> = moments.iter().map(|m| look(&mut live, *m)).collect();
    let backwards: Vec<u64> = backwards.into_iter().rev().collect();
    assert_eq!(forwards, backwards);
    assert_ne!(look(&mut live, before.snapshot.time - 0.2), before.hash);
    // From a moment before all edits, the run reaches the same end.
    live.look_back(10.5);
    let seen = settled(&live);
    assert_eq!(
        seen.timeline.at.map(|at| (at * 100.0).round()),
        Some(1050.0)
    );
    for _ in 0..(end.snapshot.step - seen.snapshot.step) {
        live.step();
    }
    let back = settled(&live);
    assert_eq!((back.timeline.at, back.hash), (None, end.hash));
}

#[test]
fn memory_is_bounded_and_the_oldest_goes() {
    // Uses long time steps, because only the time matters here, not the driving.
    let mut scenario = (*shipped("crossroads")).clone();
    let settings = Settings {
        dt: 0.1.into(),
        ..scenario.settings()
    };
    scenario.apply(Edit::Settings(settings)).unwrap();
    for (id, flow) in scenario.flows().clone() {
        let endless = Flow {
            end: 1e4.into(),
            ..flow
        };
        let edit = Edit::Flow(id, Some(Box::new(endless)));
        scenario.apply(edit).unwrap();
    }
    let signals = scenario.network().nodes().map(|(id, _)| id);
    let signals: Vec<_> = signals.collect();
    let mut live = live(&Arc::new(scenario));
    let end = play_to(&mut live, 330.0);
    let timeline_from = end.timeline.from;
    let mut counted = 0;
    for node in signals {
        live.look_into(Some(Coordinator::Junction(node)));
        for lane in &settled(&live).lights.lanes {
            counted += 1;
            // Only the first change may be older than the period, since it tells the light at its start.
            let old = lane
                .changes
                .iter()
                .filter(|change| change.time < timeline_from);
            assert!(old.count() <= 1, "{lane:?}");
            assert!(lane.changes.len() > 5, "{lane:?}");
        }
    }
    assert!(counted >= 4, "{counted}");
    let timeline = &end.timeline;
    let reach = timeline.to - timeline.from;
    assert!((300.0..=310.0).contains(&reach), "{timeline:?}");
    // The same applies to the data that the timeline shows.
    let events = end.events.arrivals.iter().chain(&end.events.contacts);
    let oldest = events.map(|event| event.time).fold(f64::INFINITY, f64::min);
    assert!(oldest >= timeline.from - 30.0, "{oldest}");
    assert!(timeline.bytes > 1000 && timeline.bytes <= 200_000_000);
    // Earlier times give the oldest moment available.
    live.look_back(0.0);
    let seen = settled(&live);
    assert!((seen.snapshot.time - timeline.from).abs() < 1e-6);
    assert!(seen.error.is_none(), "{:?}", seen.error);
}

/// Returns the old-town scenario with a constant 150 vehicles, because each one restarts its trip
/// on arrival.
fn lively_town() -> Arc<Scenario> {
    let mut scenario = Scenario::clone(&shipped("old-town"));
    let agents = scenario.agents().clone();
    for (id, agent) in agents {
        let agent = roadwright_scenario::Agent {
            repeat: Some(0.0).into(),
            ..agent
        };
        let edit = Edit::Agent(id, Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    Arc::new(scenario)
}

/// Measures time and memory of rewinding over five minutes of old-town with 150 vehicles. Run by hand: `cargo
/// test --release -p roadwright-editor --test all -- --ignored --nocapture past::`.
#[test]
#[ignore = "a measurement"]
fn measure_looking_back() {
    let mut live = live(&lively_town());
    let end = play_to(&mut live, 310.0);
    let (from, to) = (end.timeline.from, end.timeline.to);
    println!(
        "{} vehicles, {} bytes for {} s",
        end.snapshot.vehicles.len(),
        end.timeline.bytes,
        to - from
    );
    assert!(end.timeline.bytes <= 200_000_000);
    // From one end to the other and back, so that no moment helps to find the next; just before a checkpoint
    // most steps have to be repeated.
    let moments = (0..100).map(|i| from + 1.97 + f64::from((i * 37) % 149) * 2.0);
    let mut times = Vec::new();
    for moment in moments {
        #[allow(clippy::disallowed_methods, reason = "it is measured")]
        let started = Instant::now();
        live.look_back(moment);
        let seen = settled(&live);
        times.push(started.elapsed().as_secs_f64());
        assert!((seen.snapshot.time - moment.min(to)).abs() < 0.02);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{} moments: median {:.1} ms, worst {:.1} ms",
        times.len(),
        1e3 * times[50],
        1e3 * times[99]
    );
}

#[test]
fn the_past_is_scrubbed_in_the_window_and_gone_on_from() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.step_run(1000);
    bench.settle();
    let now = bench.editor().model().live.clone().unwrap();
    bench.ask(Action::Do(Command::Panel(PanelId::Results)));
    let slider = bench.scroll_to("Moment of the run");
    let middle = slider.center();
    bench.harness.hover_at(middle);
    bench.harness.drag_at(middle);
    bench.harness.drop_at(middle);
    bench.harness.step();
    bench.settle();
    let past = bench.editor().model().live.clone().unwrap();
    let at = past.timeline.at.unwrap();
    assert!((3.0..7.0).contains(&at), "{at}");
    assert_eq!(past.snapshot.time, at);
    assert!(bench.harness.query_by_label("Back to now").is_some());
    // Steps back by a second with its key, and then returns.
    bench.key(Key::Comma);
    let earlier = bench.editor().model().live.clone().unwrap();
    assert!((at - earlier.snapshot.time - 1.0).abs() < 1e-6);
    bench.press("Back to now");
    let back = bench.editor().model().live.clone().unwrap();
    assert_eq!((back.timeline.at, back.hash), (None, now.hash));
    // Continuing from a past moment drops later results, and the curves become those of the
    // previous run.
    bench.ask(Action::LookBack(4.0));
    bench.ask(Action::Speed(1.0));
    bench.press("Continue from here");
    bench.key(Key::Space);
    let on = bench.editor().model().live.clone().unwrap();
    assert!(
        on.timeline.at.is_none() && on.timeline.to < 9.0,
        "{:?}",
        on.timeline
    );
    let before = on.results.before.clone().unwrap();
    assert_eq!(before.rows.len(), now.results.rows.len());
}

#[test]
fn a_vehicle_is_driven_with_the_keys_and_given_back() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.step_run(1500);
    bench.settle();
    let live = bench.editor().model().live.clone().unwrap();
    let agent = live.snapshot.vehicles[0].agent;
    // No agent is watched or selected, which is reported.
    bench.key_with(egui::Modifiers::SHIFT, Key::D);
    assert_eq!(bench.editor().model().driving, None);
    bench.ask(Action::Watch(Some(agent)));
    bench.key_with(egui::Modifiers::SHIFT, Key::D);
    assert_eq!(
        bench.editor().model().driving.map(|(id, _)| id),
        Some(agent)
    );
    assert!(bench.editor().model().is_playing());
    let key = |bench: &mut Bench, key: Key, pressed: bool| {
        bench.harness.event(egui::Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: egui::Modifiers::NONE,
        });
        bench.harness.step();
        bench.harness.step();
    };
    key(&mut bench, Key::W, true);
    key(&mut bench, Key::ArrowLeft, true);
    let (_, controls) = bench.editor().model().driving.unwrap();
    assert_eq!((controls.pedals, controls.steering), (1.0, 1.0));
    // The keys do not select tools or nudge meanwhile.
    assert_eq!(
        bench.editor().model().tool,
        roadwright_editor::tools::ToolKind::Select
    );
    let reached = bench.play_until(60.0, |editor| {
        let live = editor.model().live.clone().unwrap();
        live.drive.len() > 5
    });
    assert!(reached);
    key(&mut bench, Key::W, false);
    key(&mut bench, Key::ArrowLeft, false);
    let (_, controls) = bench.editor().model().driving.unwrap();
    assert_eq!((controls.pedals, controls.steering), (0.0, 0.0));
    // The drive is saved as a table like those of `run --trace`.
    let table = bench.folder.path().join("drive.csv");
    bench.ask(Action::Path(
        table.clone(),
        roadwright_editor::model::Purpose::Drive,
        None,
    ));
    let text = std::fs::read_to_string(&table).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("time_s,agent,x_m,y_m"));
    assert!(lines.clone().count() > 5);
    assert!(lines.all(|line| line.split(',').nth(1) == Some(&agent.to_string())));
    bench.key(Key::Escape);
    assert_eq!(bench.editor().model().driving, None);
    let live = bench.editor().model().live.clone().unwrap();
    assert_eq!(live.driven, None);
}

#[test]
fn couplings_on_the_way_are_done_again() {
    // Without the vehicle that is driven by a script, because only built-in modules exist here.
    let mut scenario = Scenario::clone(&shipped("trailer-yard"));
    let mut agents = scenario.agents().iter();
    let (&scripted, _) = agents.find(|(_, a)| a.stack == "shuttle").unwrap();
    for edit in [
        Edit::Agent(scripted, None),
        Edit::Stack("shuttle".into(), None),
    ] {
        scenario.apply(edit).unwrap();
    }
    let scenario = Arc::new(scenario);
    let mut live = live(&scenario);
    (0..5).for_each(|_| live.step());
    settled(&live);
    live.coupling(3, CouplingOrder::Uncouple(None));
    let parted = settled(&live);
    assert_eq!(parted.error, None);
    assert_eq!(
        (
            parted.snapshot.trailers.len(),
            parted.snapshot.standing.len()
        ),
        (2, 1)
    );
    // An impossible order is reported and does not become part of the run.
    live.coupling(3, CouplingOrder::Uncouple(None));
    let refused = settled(&live).error.clone();
    assert!(
        refused.is_some_and(|(_, text)| text.contains("Agent 3: the vehicle tows no trailers"))
    );
    let end = play_to(&mut live, 12.0);
    let again = |step: u64| {
        let mut world = world(&scenario);
        steps(&mut world, 5);
        world.uncouple(3, None).unwrap();
        steps(&mut world, step);
        world.state_hash()
    };
    assert_eq!(end.hash, again(end.snapshot.step));
    live.look_back(7.0);
    let seen = settled(&live);
    assert_eq!(seen.snapshot.standing, parted.snapshot.standing);
    assert_eq!(seen.hash, again(seen.snapshot.step));
    // Coupling in the past continues from there; there was no change before the order.
    live.look_back(0.04);
    assert!(settled(&live).snapshot.standing.is_empty());
    live.coupling(2, CouplingOrder::Uncouple(Some(1)));
    let other = settled(&live);
    assert_eq!(other.timeline.at, None);
    let standing = &other.snapshot.standing;
    assert_eq!((standing.len(), standing[0].trailer.agent), (1, 2));
}
