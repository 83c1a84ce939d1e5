//! Vehicles, their trips, and runs that are edited.

use super::*;
use roadwright_editor::command::Command;
use roadwright_editor::route_source::RouteSource;
use roadwright_editor::scene::Scene;
use roadwright_editor::tools::{
    Mark, Pointer, StackChoice, ToolContext, ToolEvent, ToolKind as Kind, ToolOptions,
};
use roadwright_scenario::{Edit, ModuleSetting, Scenario, Slot};

/// Returns the text at the pointer while a trip is dragged with a tool.
fn label_of_drag(
    scenario: &Scenario,
    options: &ToolOptions,
    kind: Kind,
    ends: [DVec2; 2],
) -> String {
    let scene = Scene::new(Arc::new(scenario.clone()), 0);
    let scenario = Arc::new(scenario.clone());
    let context = ToolContext {
        scenario: &scenario,
        scene: &scene,
        selection: &Objects::new(),
        options,
        scale: 0.2,
        routes: &RouteSource::default(),
        taken: &[],
    };
    let pointer = |at: DVec2| Pointer {
        at,
        ..Pointer::default()
    };
    let mut tool = kind.tool();
    tool.event(ToolEvent::Press(pointer(ends[0])), &context);
    tool.event(ToolEvent::Drag(pointer(ends[1])), &context);
    let labels = tool
        .marks(&context)
        .into_iter()
        .filter_map(|mark| match mark {
            Mark::Label { text, .. } => Some(text),
            _ => None,
        });
    labels.collect()
}

#[test]
fn the_stack_is_automatic_until_one_is_chosen_and_the_label_names_it() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (100.0, -1.6)]);
    let stacks = |bench: &Bench| -> Vec<String> {
        let agents = bench.scenario().agents().values();
        agents.map(|agent| agent.stack.clone()).collect()
    };
    assert_eq!(stacks(&bench), ["idm"]);
    let options = bench.editor().model().settings.tools.clone();
    assert_eq!(options.stack, StackChoice::Automatic);
    let scenario = bench.scenario().clone();
    let on_lanes = [DVec2::new(-100.0, -1.6), DVec2::new(100.0, -1.6)];
    let on_ground = [DVec2::new(-100.0, 60.0), DVec2::new(-40.0, 60.0)];
    for kind in [Kind::Vehicle, Kind::Flow] {
        for ends in [on_lanes, on_ground] {
            let label = label_of_drag(&scenario, &options, kind, ends);
            assert!(label.ends_with("\nstack idm (automatic)"), "{label}");
        }
    }
    // The stack is selected in the bar above the map.
    bench.press("Stack: automatic");
    bench.press("pursuit");
    bench.drag(&[(-80.0, -1.6), (100.0, -1.6)]);
    assert_eq!(stacks(&bench), ["idm", "pursuit"]);
    let chosen = bench.editor().model().settings.tools.clone();
    let label = label_of_drag(&scenario, &chosen, Kind::Vehicle, on_lanes);
    assert!(label.ends_with("\nstack pursuit"), "{label}");
}

#[test]
fn play_on_a_finished_run_starts_it_again() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (100.0, -1.6)]);
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    assert!(bench.play_until(200.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.is_over)
    }));
    assert_eq!(bench.live().counts.arrived, 1);
    let end = bench.live().snapshot.time;
    bench.ask(Action::Speed(1.0));
    bench.key(Key::Space);
    assert!(bench.play_until(end, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| !live.is_over && live.is_playing && live.counts.arrived == 0)
    }));
}

#[test]
fn deleting_a_road_names_the_trips_that_end_with_it() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (100.0, -1.6)]);
    bench.key(Key::L);
    bench.drag(&[(-90.0, -1.6), (100.0, -1.6)]);
    let Place::Lane(start) = bench.scenario().agents().values().next().unwrap().start else {
        panic!("the vehicle is off the lanes");
    };
    bench.ask(Action::Select(Objects::from([ObjectId::Road(start.road)])));
    bench.ask(Action::Do(Command::Delete));
    assert!(bench.scenario().agents().is_empty() && bench.scenario().flows().is_empty());
    let told = "Also deleted 1 vehicle and 1 flow.";
    assert!(bench.harness.query_by_label(told).is_some());
    // A road without trips is deleted without a message.
    for _ in ["the deletion", "the flow", "the vehicle"] {
        bench.ask(Action::Do(Command::Undo));
    }
    bench.ask(Action::Select(Objects::from([ObjectId::Road(start.road)])));
    bench.ask(Action::Do(Command::Delete));
    assert!(
        bench
            .harness
            .query_by_label_contains("Also deleted 0")
            .is_none()
    );
}

#[test]
fn a_dragged_trip_tells_its_route_or_why_there_is_none() {
    let mut bench = Bench::crossroads();
    bench.key(Key::L);
    bench.press_at(-100.0, -1.6);
    bench.move_to(-50.0, -1.6);
    bench.move_to(1.6, 80.0);
    let model = bench.editor().model();
    let drawn = model.drawn_route.as_ref().unwrap();
    let route = drawn.route.as_ref().unwrap();
    assert!((150.0..220.0).contains(&route.length), "{}", route.length);
    assert!(route.time > 5.0);
    // The left half of the road leads away from there, so the flow takes the right half.
    bench.move_to(-1.6, 80.0);
    let drawn = bench.editor().model().drawn_route.clone().unwrap();
    assert!(drawn.route.is_ok());
    let Place::Lane(destination) = drawn.stops[1] else {
        panic!("{:?} is off the lanes", drawn.stops);
    };
    assert!(bench.scenario().flows().is_empty());
    bench.release_at(-1.6, 80.0);
    let flow = bench.scenario().flows().values().next().unwrap().clone();
    let Place::Lane(taken) = flow.destination else {
        panic!("{flow:?}");
    };
    assert_eq!(
        (taken.road, taken.lane),
        (destination.road, destination.lane)
    );
    assert!(
        (bench
            .scenario()
            .pose_of(&flow.destination)
            .unwrap()
            .position
            .x
            - 1.6)
            .abs()
            < 0.3
    );
    assert!(bench.editor().model().drawn_route.is_none());
    assert!(bench.editor().model().findings.1.is_empty());
}

#[test]
fn alt_keeps_the_lanes_under_the_pointer_and_says_why_no_route_leads_there() {
    let mut bench = Bench::crossroads();
    bench.key(Key::L);
    bench.drag_with(&[(-100.0, -1.6), (-1.6, 80.0)], Modifiers::ALT);
    let flow = bench.scenario().flows().values().next().unwrap();
    let goal = bench.scenario().pose_of(&flow.destination).unwrap();
    assert!((goal.position.x + 1.6).abs() < 0.3, "{goal:?}");
    bench.settle();
    let findings = bench.editor().model().findings.1.clone();
    let codes: Vec<&str> = findings.iter().map(|one| one.code.name()).collect();
    assert_eq!(codes, ["wrong-lane"]);
    // One click in the list of problems repairs it.
    bench.press_tab("Problems (1)");
    let flow = *bench.scenario().flows().keys().next().unwrap();
    bench.press(&format!("Change the lane: {}", ObjectId::Flow(flow)));
    assert!(bench.editor().model().findings.1.is_empty());
}

#[test]
fn stops_that_are_dragged_take_the_lane_that_leads_on() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    // From the left half of the road, where traffic comes towards it.
    bench.drag(&[(-100.0, 1.6), (100.0, -1.6)]);
    let position = |bench: &Bench, index: usize| {
        let agent = bench.scenario().agents().values().next().unwrap();
        let place = *agent.places().nth(index).unwrap();
        bench.scenario().pose_of(&place).unwrap().position
    };
    let is_at = |at: DVec2, x: f64, y: f64| at.distance(DVec2::new(x, y)) < 0.5;
    let start = position(&bench, 0);
    assert!(is_at(start, -100.0, -1.6), "{start}");
    let steps = bench.undo_steps();
    bench.key(Key::V);
    bench.drag(&[(100.0, -1.6), (-1.6, 80.0)]);
    let goal = position(&bench, 1);
    assert!(is_at(goal, 1.6, 80.0), "{goal}");
    assert_eq!(bench.undo_steps(), steps + 1);
    bench.drag(&[(-100.0, -1.6), (-60.0, 1.6)]);
    let start = position(&bench, 0);
    assert!(is_at(start, -60.0, -1.6), "{start}");
    // The other stop stays where it is.
    assert_eq!(position(&bench, 1), goal);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert!(is_at(position(&bench, 0), -100.0, -1.6));
}

#[test]
fn a_stack_that_heads_straight_for_its_goal_is_told_before_the_release_and_found_by_check() {
    let mut bench = Bench::empty();
    let mut blind = bench.scenario().stacks()["idm"].clone();
    assert!(blind.set(Slot::GroundPlanner, vec![ModuleSetting::new("straight")]));
    let edit = Edit::Stack("blind".into(), Some(Box::new(blind)));
    bench.ask(Action::Apply("Add stack".into(), edit));
    bench.set(|settings| settings.tools.stack = StackChoice::Chosen("blind".into()));
    let options = bench.editor().model().settings.tools.clone();
    let ends = [DVec2::new(-50.0, 0.0), DVec2::new(50.0, 0.0)];
    let label = label_of_drag(bench.scenario(), &options, Kind::Vehicle, ends);
    assert!(
        label.ends_with("stack blind does not steer around obstacles"),
        "{label}"
    );
    bench.look_at(0.0, 0.0, 100.0);
    bench.key(Key::A);
    bench.drag(&[(-50.0, 0.0), (50.0, 0.0)]);
    let codes = |bench: &Bench| -> Vec<&str> {
        let findings = bench.editor().model().findings.1.iter();
        findings.map(|finding| finding.code.name()).collect()
    };
    // No obstacle stands between start and goal yet.
    assert_eq!(codes(&bench), [""; 0]);
    bench.key(Key::O);
    bench.drag(&[(-5.0, -5.0), (5.0, 5.0)]);
    assert_eq!(codes(&bench), ["straight-into-obstacle"]);
    // Automatic vehicles plan a path around it.
    bench.set(|settings| settings.tools.stack = StackChoice::Automatic);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key(Key::A);
    bench.drag(&[(-50.0, 0.0), (50.0, 0.0)]);
    bench.key(Key::O);
    bench.drag(&[(-5.0, -5.0), (5.0, 5.0)]);
    assert_eq!(codes(&bench), [""; 0]);
}

#[test]
fn a_vehicle_whose_road_is_deleted_is_told_and_sets_out_again_after_undo() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (100.0, -1.6)]);
    let agent = u64::from(bench.scenario().agents().keys().next().unwrap().0);
    bench.step_run(200);
    bench.ask(Action::Watch(Some(agent)));
    let driving = |bench: &Bench| {
        let live = bench.live();
        live.counts.active
    };
    assert_eq!(driving(&bench), 1);
    // The road at this place is selected, with the agent that starts there.
    bench.key(Key::V);
    bench.click(-60.0, 1.6);
    bench.key(Key::Delete);
    bench.step_run(2);
    assert_eq!(driving(&bench), 0);
    bench.press_tab("Vehicle");
    bench.settle();
    let texts = |bench: &Bench, text: &str| bench.harness.query_by_label_contains(text).is_some();
    assert!(texts(&bench, "Removed at 00:0"));
    let live = bench.editor().model().live.clone().unwrap();
    let said = &live.error.as_ref().unwrap().1;
    assert!(
        said.starts_with("A vehicle was removed from the run"),
        "{said}"
    );
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.step_run(200);
    assert_eq!(driving(&bench), 1);
    assert!(!texts(&bench, "Removed at"));
}

#[test]
fn vehicles_and_flows_are_placed_by_clicks_too() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.click(-100.0, -1.6);
    let agent = bench.scenario().agents().values().next().unwrap();
    assert_eq!(agent.destination, None);
    bench.click(100.0, -1.6);
    let agent = bench.scenario().agents().values().next().unwrap();
    assert!(matches!(agent.destination, Some(Place::Lane(_))));
    bench.key(Key::L);
    bench.drag(&[(-1.6, 90.0), (-1.6, -90.0)]);
    let flow = bench.scenario().flows().values().next().unwrap();
    assert!(matches!(
        (flow.origin, flow.destination),
        (Place::Lane(_), Place::Lane(_))
    ));
    // On open ground a vehicle heads for its destination.
    bench.key(Key::A);
    bench.drag(&[(-100.0, 60.0), (-50.0, 60.0)]);
    let agent = bench.scenario().agents().values().last().unwrap();
    assert!(
        matches!(agent.start, Place::Ground(at) if at.heading.abs() < 0.1),
        "{agent:?}"
    );
}

#[test]
fn random_trips_are_added_in_one_step_and_taken_back_in_one() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    let before = bench.scenario().clone();
    bench.press("Add");
    let first = bench.scenario().agents().clone();
    assert_eq!(first.len(), before.agents().len() + 20);
    assert_eq!(bench.editor().model().selection.len(), 20);
    for agent in first.values() {
        assert!(matches!(agent.start, Place::Lane(_)), "{agent:?}");
        assert_eq!(agent.repeat, Some(5.0));
    }
    // A vehicle with the same start as another one starts later.
    let problems = roadwright_scenario::check::check(bench.scenario());
    assert_eq!(problems, Vec::new());
    // The next click adds different trips.
    bench.press("Add");
    let starts = |scenario: &roadwright_scenario::Scenario| {
        let starts = scenario.agents().values().map(|agent| agent.start);
        starts.collect::<Vec<_>>()
    };
    let all = starts(bench.scenario());
    assert_eq!(all.len(), first.len() + 20);
    assert_ne!(all[first.len()..], all[before.agents().len()..first.len()]);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(*bench.scenario().agents(), first);
    undo_gives_back(&mut bench, &before);
    // Without roads no vehicle is added, and there is nothing to undo.
    let mut empty = Bench::empty();
    empty.key(Key::A);
    let before = empty.scenario().clone();
    empty.press("Add");
    assert_eq!(empty.scenario(), &before);
    let document = &empty.editor().model().document;
    assert_eq!(document.history().undo_labels().count(), 0);
}

#[test]
fn an_obstacle_dragged_before_a_driving_car_stops_it() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    bench.key(Key::O);
    bench.drag(&[(55.0, -30.0), (60.0, -25.0)]);
    bench.ask(Action::Speed(8.0));
    bench.key(Key::Space);
    let speed = |editor: &roadwright_editor::Editor| {
        let live = editor.model().live.clone()?;
        let vehicle = *live.snapshot.vehicles.first()?;
        Some((vehicle.speed, vehicle.pose.position.x))
    };
    assert!(bench.play_until(60.0, |e| {
        speed(e).is_some_and(|(v, x)| v > 5.0 && x > -70.0)
    }));
    bench.key(Key::Space);
    // The obstacle is dragged onto the lane while the car approaches.
    bench.key(Key::V);
    bench.drag(&[(57.5, -27.5), (57.5, -1.6)]);
    bench.key(Key::Space);
    assert!(bench.play_until(60.0, |e| speed(e).is_some_and(|(v, x)| v < 0.1 && x > 20.0)));
    assert!(bench.live().collisions.is_empty());
    // When the obstacle is dragged away again, the car continues.
    bench.drag(&[(57.5, -1.6), (57.5, -27.5)]);
    assert!(bench.play_until_arrived(120.0));
}

#[test]
fn a_destination_that_is_moved_while_it_drives_is_driven_to() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    bench.ask(Action::Speed(8.0));
    bench.key(Key::Space);
    assert!(bench.play_until(60.0, |e| {
        e.model().live.as_ref().is_some_and(|l| {
            l.snapshot
                .vehicles
                .first()
                .is_some_and(|v| v.pose.position.x > -90.0)
        })
    }));
    bench.key(Key::Space);
    bench.key(Key::V);
    bench.drag(&[(100.0, -1.6), (1.6, 80.0)]);
    bench.key(Key::Space);
    assert!(bench.play_until(90.0, |e| {
        e.model().live.as_ref().is_some_and(|l| {
            l.inspection
                .as_ref()
                .is_some_and(|i| i.goals.last().is_some_and(|g| g.y > 70.0))
        })
    }));
    assert!(bench.play_until_arrived(120.0));
}

#[test]
fn way_points_are_dragged_out_of_the_trip_and_taken_out_again() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    let before = bench.scenario().clone();
    bench.key(Key::V);
    let via = |bench: &Bench| {
        bench
            .scenario()
            .agents()
            .values()
            .next()
            .unwrap()
            .via
            .clone()
    };
    // The middle of the trip is dragged onto the road to the north.
    bench.drag(&[(-5.0, -1.6), (1.6, 60.0)]);
    assert!(matches!(via(&bench)[..], [Place::Lane(_)]));
    // New waypoints can now be inserted before and after it.
    let at = |bench: &Bench, i: usize| {
        let scenario = bench.scenario();
        scenario.pose_of(&via(bench)[i]).unwrap().position
    };
    let first = at(&bench, 0);
    let after = 0.5 * (first + DVec2::new(100.0, -1.6));
    bench.drag(&[(after.x, after.y), (60.0, -1.6)]);
    assert_eq!(via(&bench).len(), 2);
    assert_eq!(at(&bench, 0), first);
    // The waypoint is moved, then removed.
    bench.drag(&[(first.x, first.y), (first.x, 90.0)]);
    assert!(at(&bench, 0).y > 80.0);
    let (x, y) = (at(&bench, 0).x, at(&bench, 0).y);
    bench.click_with(x, y, Modifiers::ALT);
    assert_eq!(via(&bench).len(), 1);
    for _ in 0..4 {
        bench.key_with(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(*bench.scenario(), before);
}

#[test]
fn a_level_of_dynamics_is_chosen_for_the_scenario_and_for_one_vehicle() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    bench.press_tab("Scenario");
    bench.press("Dynamics: One-track");
    bench.press("Lane");
    assert_eq!(bench.scenario().settings().dynamics, DynamicsLevel::Lane);
    bench.press_tab("Inspector");
    let level = |bench: &Bench| {
        let mut agents = bench.scenario().agents().values();
        agents.next().unwrap().dynamics
    };
    assert_eq!(level(&bench), None);
    let drives_at = |bench: &mut Bench, level: DynamicsLevel| {
        bench.play_until(90.0, |e| {
            let live = e.model().live.as_ref();
            let seen = live.and_then(|live| live.inspection.as_ref());
            seen.is_some_and(|seen| seen.dynamics == level)
        })
    };
    bench.key(Key::Space);
    assert!(drives_at(&mut bench, DynamicsLevel::Lane));
    bench.press("Dynamics: Default: Lane");
    bench.press("One-track");
    assert_eq!(level(&bench), Some(DynamicsLevel::OneTrack));
    assert!(drives_at(&mut bench, DynamicsLevel::OneTrack));
}

/// Checks that keys and the context menu (a right click without a drag) uncouple the trailer of a moving
/// vehicle.
#[test]
fn keys_and_the_menu_of_a_vehicle_under_way_let_its_trailer_go() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../scenarios/trailer-yard.scenario.json");
    let mut bench = Bench::open(&path);
    bench.close_dialog();
    bench.step_run(5);
    bench.settle();
    let counts = |bench: &Bench| {
        let live = bench.editor().model().live.clone();
        live.map_or((0, 0), |live| {
            (live.snapshot.trailers.len(), live.snapshot.standing.len())
        })
    };
    assert_eq!(counts(&bench), (3, 0));
    // No agent is watched.
    bench.key_with(Modifiers::SHIFT, egui::Key::U);
    bench.settle();
    assert_eq!(counts(&bench), (3, 0));
    bench.ask(Action::Watch(Some(3)));
    bench.key_with(Modifiers::SHIFT, egui::Key::U);
    bench.settle();
    assert_eq!(counts(&bench), (2, 1));
    bench.key_with(Modifiers::SHIFT, egui::Key::J);
    bench.settle();
    assert_eq!(counts(&bench), (3, 0));
    let live = bench.editor().model().live.clone().unwrap();
    let bus = live
        .snapshot
        .vehicles
        .iter()
        .find(|one| one.agent == 2)
        .unwrap();
    let at = bus.body.position;
    bench.look_at(at.x, at.y, 40.0);
    right_click(&mut bench, at.x, at.y);
    bench.press("Uncouple the last trailer");
    bench.settle();
    assert_eq!(counts(&bench), (2, 1));
    right_click(&mut bench, at.x, at.y);
    bench.press("Couple trailer");
    bench.settle();
    assert_eq!(counts(&bench), (3, 0));
}

#[test]
fn an_agent_starts_again_after_it_has_arrived() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (-40.0, -1.6)]);
    let id = *bench.scenario().agents().keys().next().unwrap();
    bench.ask(Action::Select(Objects::from([ObjectId::Agent(id)])));
    bench.press("Restart after arrival");
    assert_eq!(bench.scenario().agents()[&id].repeat, Some(10.0));
    // Both the name and the field are found.
    assert_eq!(bench.harness.query_all_by_label("Repeats after").count(), 2);
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    assert!(bench.play_until(200.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.counts.arrived >= 3)
    }));
}

/// Returns the text in the Inspector about the route of the selected trip.
fn told_route(bench: &Bench) -> String {
    let mut all = bench.harness.query_all_by_label_contains("");
    let texts = all
        .by_ref()
        .filter_map(|node| node.accesskit_node().value());
    let is_route = |text: &String| text.contains(" m, ") || text == "no route";
    texts.into_iter().find(is_route).unwrap_or_default()
}

#[test]
fn the_route_of_a_trip_is_told_before_play() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (1.6, 80.0)]);
    // 100 m to the middle and 80 m on, less the corner that is cut.
    let told = told_route(&bench);
    let metres: f64 = told.split(' ').next().unwrap().parse().unwrap();
    assert!((160.0..185.0).contains(&metres), "{told}");
    // A longer trip has a longer route, after every edit.
    bench.key(Key::V);
    bench.drag(&[(1.6, 80.0), (1.6, 40.0)]);
    let shorter: f64 = told_route(&bench)
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((metres - shorter - 40.0).abs() < 3.0, "{metres} {shorter}");
    // Against the traffic direction there is no route, which the Inspector reports.
    bench.key(Key::A);
    bench.drag_with(&[(60.0, -1.6), (20.0, -1.6)], Modifiers::ALT);
    assert_eq!(told_route(&bench), "no route");
}
