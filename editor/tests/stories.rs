//! What a person does, with the real editor: each tool by drags and clicks, playing, files, keys.

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use roadwright_editor::model::{Action, Dialog, Next, Purpose};
use roadwright_editor::tools::{MapPart, ObstacleKind, TerrainMode, ToolKind};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{
    DrivingSide, DynamicsLevel, LandId, LandUse, Node, ObjectId, Place, PointOfInterestId, RoadId,
    Shape,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn undo_gives_back(bench: &mut Bench, before: &roadwright_scenario::Scenario) {
    let after = bench.scenario().clone();
    assert_ne!(&after, before);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), before);
    bench.key_with(Modifiers::COMMAND, Key::Y);
    assert_eq!(bench.scenario(), &after);
}

#[test]
fn from_an_empty_world_to_a_car_through_a_junction_in_six_actions() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    // 1 and 2: two roads; New has put the road tool in hand. Their crossing is a junction.
    assert_eq!(bench.editor().model().tool, ToolKind::Road);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.drag(&[(0.0, -100.0), (0.0, 100.0)]);
    assert_eq!(bench.scenario().network().road_count(), 4);
    // 3: the vehicle tool. 4: from the start to the destination. 5: play.
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (1.6, 80.0)]);
    let agent = bench.scenario().agents().values().next().unwrap();
    assert!(matches!(agent.start, Place::Lane(_)), "{agent:?}");
    assert!(
        matches!(agent.destination, Some(Place::Lane(_))),
        "{agent:?}"
    );
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    let arrived = bench.play_until(120.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.counts.arrived == 1)
    });
    assert!(arrived);
    assert!(
        bench.editor().model().findings.1.is_empty(),
        "{:?}",
        bench.editor().model().findings
    );
}

#[test]
fn a_problem_is_repaired_by_a_click() {
    let mut bench = Bench::crossroads();
    bench.ask(Action::Tool(ToolKind::Obstacle));
    bench.drag(&[(-60.0, -4.0), (-50.0, 3.0)]);
    bench.key(Key::V);
    let before = bench.scenario().clone();
    let problems = |bench: &Bench| bench.editor().model().findings.1.len();
    assert_eq!(problems(&bench), 1);
    bench.press_tab("Problems (1)");
    bench.press("Delete the obstacle: obstacle 1");
    assert_eq!(problems(&bench), 0);
    assert!(bench.scenario().obstacles().is_empty());
    undo_gives_back(&mut bench, &before);
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
        let live = bench.editor().model().live.as_ref().unwrap();
        live.counts.active
    };
    assert_eq!(driving(&bench), 1);
    // The road under it, with the agent that starts there.
    bench.key(Key::V);
    bench.click(-60.0, 1.6);
    bench.key(Key::Delete);
    bench.step_run(2);
    assert_eq!(driving(&bench), 0);
    bench.press_tab("Vehicle");
    bench.settle();
    let texts = |bench: &Bench, text: &str| bench.harness.query_by_label_contains(text).is_some();
    assert!(texts(&bench, "It was taken out at 00:0"));
    let live = bench.editor().model().live.clone().unwrap();
    let said = &live.error.as_ref().unwrap().1;
    assert!(
        said.starts_with("A vehicle was taken out of the run"),
        "{said}"
    );
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.step_run(200);
    assert_eq!(driving(&bench), 1);
    assert!(!texts(&bench, "It was taken out"));
}

#[test]
fn a_freehand_stroke_is_a_road_of_lines_and_arcs() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    let bend: Vec<(f64, f64)> = (0..=40)
        .map(|i| {
            let angle = f64::from(i) / 40.0 * 1.5;
            let (sin, cos) = roadwright_geometry::math::sin_cos(angle);
            (60.0 * sin, 60.0 - 60.0 * cos)
        })
        .collect();
    let mut points = vec![(-100.0, 0.0)];
    points.extend(bend);
    let empty = bench.scenario().clone();
    bench.drag(&points);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    let radius = 1.0 / road.reference_line.max_curvature();
    assert!((45.0..75.0).contains(&radius), "{radius}");
    assert!(
        road.reference_line.segments().len() <= 5,
        "{:?}",
        road.reference_line.segments()
    );
    undo_gives_back(&mut bench, &empty);
}

#[test]
fn clicks_lay_a_road_point_by_point() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.click(-100.0, 0.0);
    bench.click(0.0, 0.0);
    bench.click(50.0, 60.0);
    bench.click(100.0, 60.0);
    bench.key(Key::Backspace);
    bench.key(Key::Enter);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    let end = road.reference_line.end().position;
    assert!(
        (end.x - 50.0).abs() < 1.0 && (end.y - 60.0).abs() < 1.0,
        "{end}"
    );
}

#[test]
fn a_typed_length_is_kept_and_escape_takes_the_stroke_back() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.click(-100.0, 0.0);
    bench.hover(0.0, 0.0);
    bench.type_text("75");
    bench.key(Key::Enter);
    bench.key(Key::Enter);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    assert!((road.length() - 75.0).abs() < 0.5, "{}", road.length());
    let before = bench.scenario().clone();
    bench.click(-100.0, -50.0);
    bench.hover(0.0, -50.0);
    bench.key(Key::Escape);
    bench.key(Key::Enter);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_road_that_starts_on_another_one_joins_it() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.drag(&[(30.0, 1.0), (30.0, 100.0)]);
    let network = bench.scenario().network();
    assert_eq!(network.road_count(), 3);
    assert!(
        network
            .nodes()
            .any(|(id, _)| network.ends_at(id).len() == 3)
    );
}

#[test]
fn a_slip_road_dragged_onto_a_motorway_gets_a_lane_of_its_own() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 250.0);
    let preset = |bench: &mut Bench, name: &str| {
        let mut options = bench.editor().model().settings.tools.clone();
        let presets = &options.presets;
        options.preset = presets.iter().position(|p| p.name == name).unwrap();
        bench.set(|settings| settings.tools = options);
    };
    preset(&mut bench, "One-way, 3 lanes");
    bench.drag(&[(-300.0, 0.0), (300.0, 0.0)]);
    let motorway = bench.scenario().clone();
    preset(&mut bench, "Slip road");
    bench.drag(&[(-200.0, -60.0), (-120.0, -32.0), (-10.0, -6.0)]);
    let joined = bench.scenario().network();
    assert_eq!(joined.road_count(), 3);
    let widest = joined
        .roads()
        .map(|(_, road)| road.lanes_driven(1.0, true, DrivingSide::Right));
    assert_eq!(widest.max(), Some(4));
    undo_gives_back(&mut bench, &motorway);
    // Who comes by the slip road changes over and drives on.
    bench.key(Key::A);
    bench.drag(&[(-190.0, -56.0), (280.0, 0.0)]);
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    let arrived = bench.play_until(120.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.counts.arrived == 1)
    });
    assert!(arrived);
    assert!(bench.editor().model().findings.1.is_empty());
}

#[test]
fn a_dragged_point_bends_a_road_and_stays_local() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    bench.key(Key::V);
    bench.double_click(-60.0, 0.0);
    let id = match bench.editor().model().selection.first() {
        Some(ObjectId::Road(id)) => *id,
        other => panic!("{other:?}"),
    };
    let bent = bench.scenario().network().road(id).unwrap().clone();
    assert!(bent.reference_line.segments().len() > 1);
    // The point was put 2 m to the left of the road.
    bench.drag(&[(-60.0, 2.0), (-60.0, 30.0)]);
    let road = bench.scenario().network().road(id).unwrap();
    assert!(
        road.length() > bent.length() + 3.0,
        "{} {}",
        road.length(),
        bent.length()
    );
    for (other, road) in bench.scenario().network().roads().filter(|(r, _)| *r != id) {
        assert_eq!(Some(road), before.network().road(other));
    }
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_dragged_junction_takes_its_roads_along() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    bench.key(Key::V);
    bench.click(0.0, 0.0);
    assert!(matches!(
        bench.editor().model().selection.first(),
        Some(ObjectId::Node(_))
    ));
    bench.drag(&[(0.0, 0.0), (20.0, 15.0)]);
    assert!(
        bench.editor().model().findings.1.is_empty(),
        "{:?}",
        bench.editor().model().findings
    );
    undo_gives_back(&mut bench, &before);
}

#[test]
fn clicks_select_add_cycle_and_boxes_select_what_is_inside() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(-60.0, 0.5);
    let first = bench.editor().model().selection.clone();
    assert!(matches!(first.first(), Some(ObjectId::Road(_))));
    bench.click_with(60.0, 0.5, Modifiers::COMMAND);
    assert_eq!(bench.editor().model().selection.len(), 2);
    bench.drag_with(&[(-140.0, -120.0), (140.0, 120.0)], Modifiers::SHIFT);
    assert_eq!(bench.editor().model().selection.len(), 4);
    // The same place again: the road below the junction.
    bench.click(0.0, 0.0);
    let upper = bench.editor().model().selection.clone();
    bench.click(0.0, 0.0);
    assert_ne!(bench.editor().model().selection, upper);
    bench.key(Key::Escape);
    assert!(bench.editor().model().selection.is_empty());
}

#[test]
fn obstacles_are_dragged_out_moved_turned_and_sized() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 60.0);
    bench.key(Key::O);
    let empty = bench.scenario().clone();
    bench.drag(&[(-20.0, -10.0), (0.0, 0.0)]);
    undo_gives_back(&mut bench, &empty);
    bench.set(|s| s.tools.obstacle.kind = ObstacleKind::Circle);
    bench.drag(&[(30.0, 0.0), (36.0, 0.0)]);
    bench.set(|s| s.tools.obstacle.kind = ObstacleKind::Polygon);
    bench.click(-40.0, 20.0);
    bench.click(-20.0, 20.0);
    bench.click(-30.0, 40.0);
    bench.key(Key::Enter);
    let shapes: Vec<Shape> = bench
        .scenario()
        .obstacles()
        .values()
        .map(|o| o.shape.clone())
        .collect();
    assert_eq!(shapes.len(), 3);
    assert!(
        matches!(shapes[0], Shape::Box { length, width, .. } if (length - 20.0).abs() < 0.5 && (width - 10.0).abs() < 0.5),
        "{shapes:?}"
    );
    assert!(matches!(shapes[1], Shape::Circle { radius, .. } if (radius - 6.0).abs() < 0.5));
    assert!(matches!(&shapes[2], Shape::Polygon { points } if points.len() == 3));

    bench.key(Key::V);
    bench.click(-10.0, -5.0);
    let before = bench.scenario().clone();
    bench.drag(&[(-10.0, -5.0), (-5.0, -15.0)]);
    undo_gives_back(&mut bench, &before);
    // Its upper right corner is now at (5, -10).
    let before = bench.scenario().clone();
    bench.drag(&[(5.0, -10.0), (10.0, -2.0)]);
    undo_gives_back(&mut bench, &before);
    let sized = bench
        .scenario()
        .obstacles()
        .values()
        .next()
        .unwrap()
        .shape
        .clone();
    assert!(
        matches!(sized, Shape::Box { length, .. } if (length - 25.0).abs() < 0.7),
        "{sized:?}"
    );
    bench.key(Key::Delete);
    assert_eq!(bench.scenario().obstacles().len(), 2);
}

#[test]
fn forests_are_painted_and_erased() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 120.0);
    bench.key(Key::T);
    let empty = bench.scenario().clone();
    bench.drag(&[(-60.0, 0.0), (60.0, 0.0)]);
    let forest = bench.scenario().forests().values().next().unwrap().clone();
    assert!(forest.trees().len() > 40, "{}", forest.trees().len());
    undo_gives_back(&mut bench, &empty);
    // The same brush again makes the same forest larger.
    bench.drag(&[(0.0, 0.0), (0.0, 60.0)]);
    assert_eq!(bench.scenario().forests().len(), 1);
    bench.set(|s| s.tools.forest.erase = true);
    let before = bench.scenario().clone();
    bench.drag(&[(-30.0, -40.0), (-30.0, 40.0)]);
    assert_eq!(bench.scenario().forests().len(), 2);
    undo_gives_back(&mut bench, &before);
}

#[test]
fn land_is_drawn_reshaped_and_named() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 120.0);
    bench.key(Key::U);
    let empty = bench.scenario().clone();
    bench.set(|s| s.tools.land = LandUse::Water);
    for (x, y) in [(-60.0, -40.0), (20.0, -40.0), (20.0, 30.0)] {
        bench.click(x, y);
    }
    bench.key(Key::Enter);
    let pond = bench.scenario().land()[&LandId(1)].clone();
    assert_eq!((pond.usage, pond.outline.len()), (LandUse::Water, 3));
    assert!((pond.area() - 2_800.0).abs() < 60.0, "{}", pond.area());
    // It is selected: the Inspector has it.
    let selected = ObjectId::Land(LandId(1));
    assert!(bench.editor().model().selection.contains(&selected));
    undo_gives_back(&mut bench, &empty);
    // Freehand, around it; and a line that crosses itself is none.
    bench.set(|s| s.tools.land = LandUse::Park);
    let round = [
        (-90.0, -70.0),
        (60.0, -70.0),
        (60.0, 60.0),
        (-90.0, 60.0),
        (-90.0, -60.0),
    ];
    bench.drag(&round);
    assert_eq!(bench.scenario().land().len(), 2);
    let park = &bench.scenario().land()[&LandId(2)];
    assert!(
        park.usage == LandUse::Park && park.outline.len() < 12,
        "{park:?}"
    );
    let before = bench.scenario().clone();
    bench.drag(&[(-80.0, 0.0), (40.0, 50.0), (40.0, 0.0), (-80.0, 50.0)]);
    assert_eq!(
        bench.scenario(),
        &before,
        "an outline that crosses itself is refused"
    );

    bench.key(Key::V);
    // Water lies on the park: it is found first.
    bench.click(10.0, -20.0);
    assert!(bench.editor().model().selection.contains(&selected));
    let before = bench.scenario().clone();
    bench.drag(&[(20.0, 30.0), (30.0, 40.0)]);
    let moved = bench.scenario().land()[&LandId(1)].outline.clone();
    let is_near = |p: &DVec2| (*p - DVec2::new(30.0, 40.0)).length() < 1.5;
    assert!(moved.iter().any(is_near), "{moved:?}");
    undo_gives_back(&mut bench, &before);
    bench.key(Key::Delete);
    assert_eq!(bench.scenario().land().len(), 1);
    // Locked, the mouse leaves it alone.
    bench.set(|s| {
        s.tools.locks.insert(MapPart::Land);
    });
    bench.click(10.0, -20.0);
    assert!(bench.editor().model().selection.is_empty());
}

#[test]
fn places_get_names_and_bays_a_heading() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 60.0);
    bench.key(Key::P);
    let empty = bench.scenario().clone();
    bench.click(10.0, 5.0);
    let points = bench.scenario().points_of_interest().clone();
    let point = &points[&PointOfInterestId(1)];
    assert_eq!((point.name.as_str(), point.heading), ("Place 1", None));
    let click = point.position();
    assert!((click - DVec2::new(10.0, 5.0)).length() < 0.5, "{click}");
    undo_gives_back(&mut bench, &empty);
    bench.drag(&[(-20.0, 0.0), (-20.0, 8.0)]);
    let second = PointOfInterestId(2);
    let bay = bench.scenario().points_of_interest()[&second].clone();
    let heading = bay.heading.unwrap();
    assert!(
        (heading - std::f64::consts::FRAC_PI_2).abs() < 0.05,
        "{heading}"
    );
    // It is selected, and can be named, moved, copied and deleted like all others.
    bench.ask(Action::Tool(ToolKind::Select));
    bench.click(30.0, 30.0);
    bench.click(-20.0, 0.0);
    let selected = ObjectId::PointOfInterest(second);
    assert_eq!(bench.editor().model().single(), Some(selected));
    let before = bench.scenario().clone();
    bench.drag(&[(-20.0, 0.0), (-5.0, 0.0)]);
    let moved = bench.scenario().points_of_interest()[&second].clone();
    assert!((moved.x - bay.x - 15.0).abs() < 1.0, "{moved:?}");
    assert_eq!(moved.heading, bay.heading);
    undo_gives_back(&mut bench, &before);
    bench.key_with(Modifiers::COMMAND, Key::D);
    assert_eq!(bench.scenario().points_of_interest().len(), 3);
    bench.key(Key::Delete);
    assert_eq!(bench.scenario().points_of_interest().len(), 2);
}

#[test]
fn the_ground_is_raised_lowered_smoothed_and_flattened() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 120.0);
    bench.key(Key::H);
    let empty = bench.scenario().clone();
    bench.drag(&[(-40.0, 0.0), (40.0, 0.0)]);
    undo_gives_back(&mut bench, &empty);
    let height = |bench: &Bench, x: f64, y: f64| {
        bench
            .scenario()
            .ground_height(roadwright_geometry::DVec2::new(x, y))
    };
    let hill = height(&bench, 0.0, 0.0);
    assert!(hill > 2.0, "{hill}");
    assert!(height(&bench, 0.0, 80.0).abs() < 1e-9);
    for mode in [
        TerrainMode::Lower,
        TerrainMode::Smooth,
        TerrainMode::Flatten,
    ] {
        bench.set(|s| s.tools.terrain.mode = mode);
        let before = bench.scenario().clone();
        bench.drag(&[(0.0, 10.0), (30.0, 10.0)]);
        undo_gives_back(&mut bench, &before);
    }
}

#[test]
fn the_status_line_says_how_high_and_steep_the_ground_under_the_pointer_is() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 120.0);
    bench.hover(13.0, 12.3);
    let says = |bench: &Bench, what: &str| bench.harness.query_by_label_contains(what).is_some();
    assert!(!says(&bench, "slope"), "there is no terrain yet");
    bench.key(Key::H);
    bench.drag(&[(-40.0, 0.0), (40.0, 0.0)]);
    let mut slopes = Vec::new();
    for (x, y) in [(13.0, 12.3), (3.0, 83.0)] {
        bench.hover(x, y);
        let at = bench.editor().model().pointer.unwrap();
        let scenario = bench.scenario();
        let rise =
            |step: DVec2| scenario.ground_height(at + step) - scenario.ground_height(at - step);
        let step = 1e-4;
        let gradient = DVec2::new(rise(DVec2::X * step), rise(DVec2::Y * step)) / (2.0 * step);
        let slope = 100.0 * gradient.length();
        let height = scenario.ground_height(at);
        let said = format!("{height:.1} m high  slope {slope:.0} %");
        assert!(says(&bench, &said), "{said}");
        slopes.push(slope);
    }
    assert!(slopes[0] > 5.0 && slopes[1] < 0.1, "{slopes:?}");
}

/// What is said under the pointer is what runs have there, in the middle of roads, beside them and in
/// junctions: each kind of ground has a grip of its own, by which the map of runs tells them apart.
#[test]
fn the_status_line_says_what_one_stands_on() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/proving-ground.scenario.json");
    let mut kinds = BTreeSet::new();
    for bench in [Bench::open(&file), Bench::crossroads()] {
        let mut scenario = bench.scenario().clone();
        let settings = roadwright_scenario::Settings {
            grip: serde_json::from_str(
                r#"{"open_ground": 0.1, "path": 0.2, "service": 0.3, "residential": 0.4, "collector": 0.5,
                "arterial": 0.6, "ramp": 0.7, "motorway": 0.8}"#,
            )
            .unwrap(),
            ..scenario.settings()
        };
        let edit = roadwright_scenario::Edit::Settings(settings);
        scenario.apply(edit).unwrap();
        let (low, high) = scenario.bounds().unwrap();
        let scene = roadwright_editor::scene::Scene::new(Arc::new(scenario), 0, None);
        let map = scene.grip.clone().unwrap();
        let mut others = 0;
        for row in 0..100 {
            for column in 0..100 {
                let share = DVec2::new(f64::from(column), f64::from(row)) / 99.0;
                let place = low + share * (high - low);
                let class = scene.class_at(place);
                let grip = class.map_or(0.1, |class| settings.grip.of(class));
                kinds.insert(class);
                others += usize::from(grip != map.at(place, u32::MAX));
            }
        }
        // At their edges: roads of the map are made of straight pieces.
        assert!(others <= 10, "{others} of 10,000 places");
    }
    assert!(kinds.len() >= 3 && kinds.contains(&None), "{kinds:?}");
}

#[test]
fn the_grip_of_the_ground_is_set_and_known_under_the_pointer() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    let far = DVec2::new(60.0, 60.0);
    assert!(bench.editor().model().scene.grip.is_none());
    bench.press_tab("Scenario");
    bench.press("Grip of the ground");
    let field = bench.field("Grip: open ground");
    bench.drag_right(field.center(), -30.0);
    let grip = bench.scenario().settings().grip;
    assert!(
        grip.open_ground > 0.0 && grip.open_ground < 0.95,
        "{grip:?}"
    );
    let others = roadwright_scenario::GroundGrip {
        open_ground: 1.0,
        ..grip
    };
    assert_eq!(others, roadwright_scenario::GroundGrip::default());
    let map = bench.editor().model().scene.grip.clone().unwrap();
    assert_eq!(map.at(far, u32::MAX), grip.open_ground);
    assert_eq!(map.at(DVec2::ZERO, u32::MAX), 1.0);
    let says = |bench: &Bench, what: &str| bench.harness.query_by_label_contains(what).is_some();
    bench.hover(far.x, far.y);
    let said = format!("open ground, grip {:.2}", grip.open_ground);
    assert!(says(&bench, &said), "{said}");
    undo_gives_back(&mut bench, &before);
}

#[test]
fn slopes_and_black_ice_are_chosen_beside_the_grip() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    bench.press_tab("Scenario");
    bench.press("Grip of the ground");
    for (list, choice) in [
        ("Drivers and grip: see the grip", "do not see it"),
        ("Slopes: act at all levels", "rigid bodies only"),
    ] {
        bench.scroll_to(list);
        let role = egui::accesskit::Role::ComboBox;
        bench.harness.get_by_role_and_label(role, list).click();
        bench.harness.run_steps(4);
        bench.press(choice);
    }
    let settings = bench.scenario().settings();
    assert!(settings.grip.hidden && !settings.slopes, "{settings:?}");
    bench.key_with(Modifiers::COMMAND, Key::Z);
    undo_gives_back(&mut bench, &before);
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
    // Who begins where another one does sets out later.
    let problems = roadwright_scenario::check::check(bench.scenario());
    assert_eq!(problems, Vec::new());
    // Other ones at the next click.
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
    // Where there is no road nobody drives, and there is nothing to take back.
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
    // It is dragged onto the lane while the car comes.
    bench.key(Key::V);
    bench.drag(&[(57.5, -27.5), (57.5, -1.6)]);
    bench.key(Key::Space);
    assert!(bench.play_until(60.0, |e| speed(e).is_some_and(|(v, x)| v < 0.1 && x > 20.0)));
    assert!(
        bench
            .editor()
            .model()
            .live
            .as_ref()
            .unwrap()
            .collisions
            .is_empty()
    );
    // And away again: it drives on.
    bench.drag(&[(57.5, -1.6), (57.5, -27.5)]);
    assert!(bench.play_until(120.0, |e| {
        e.model()
            .live
            .as_ref()
            .is_some_and(|l| l.counts.arrived == 1)
    }));
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
    assert!(bench.play_until(120.0, |e| {
        e.model()
            .live
            .as_ref()
            .is_some_and(|l| l.counts.arrived == 1)
    }));
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
    // The middle of the trip is taken hold of, and put onto the road to the north.
    bench.drag(&[(-5.0, -1.6), (1.6, 60.0)]);
    assert!(matches!(via(&bench)[..], [Place::Lane(_)]));
    // There is one before it and one after it now.
    let at = |bench: &Bench, i: usize| {
        let scenario = bench.scenario();
        scenario.pose_of(&via(bench)[i]).unwrap().position
    };
    let first = at(&bench, 0);
    let after = 0.5 * (first + DVec2::new(100.0, -1.6));
    bench.drag(&[(after.x, after.y), (60.0, -1.6)]);
    assert_eq!(via(&bench).len(), 2);
    assert_eq!(at(&bench, 0), first);
    // Moved, and taken out.
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
fn copies_are_pasted_within_and_between_scenarios() {
    let mut bench = Bench::crossroads();
    bench.key_with(Modifiers::COMMAND, Key::A);
    assert_eq!(bench.editor().model().selection.len(), 4);
    bench.ask(Action::Do(roadwright_editor::command::Command::Copy));
    let before = bench.scenario().clone();
    bench.key_with(Modifiers::COMMAND, Key::D);
    assert_eq!(bench.scenario().network().road_count(), 8);
    undo_gives_back(&mut bench, &before);
    bench.ask(Action::Go(Next::New));
    assert_eq!(bench.scenario().network().road_count(), 0);
    bench.ask(Action::Do(roadwright_editor::command::Command::Paste));
    assert_eq!(bench.scenario().network().road_count(), 4);
    assert_eq!(bench.scenario().network().node_count(), 5);
}

#[test]
fn roads_are_split_merged_reversed_and_simplified() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.key(Key::V);
    bench.click(60.0, 0.5);
    let whole = bench.scenario().clone();
    bench.key(Key::K);
    assert_eq!(bench.scenario().network().road_count(), 2);
    undo_gives_back(&mut bench, &whole);
    let cut = bench.scenario().clone();
    bench.click(60.0, 0.0);
    bench.key(Key::J);
    assert_eq!(bench.scenario().network().road_count(), 1);
    undo_gives_back(&mut bench, &cut);
    let merged = bench.scenario().clone();
    bench.click(20.0, 0.5);
    bench.ask(Action::Do(roadwright_editor::command::Command::ReverseRoad));
    undo_gives_back(&mut bench, &merged);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    assert!(road.reference_line.start().position.x > 100.0);
}

#[test]
fn lanes_are_added_and_removed_by_their_cards() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.key(Key::V);
    bench.click(60.0, 0.5);
    let before = bench.scenario().clone();
    bench.press("Add right lane");
    let lanes = |bench: &Bench| {
        let network = bench.scenario().network();
        network.road(RoadId(1)).unwrap().lane_sections[0]
            .lanes
            .len()
    };
    assert_eq!(lanes(&bench), 3);
    undo_gives_back(&mut bench, &before);
    bench.press("Remove the lane (lane -2)");
    assert_eq!(lanes(&bench), 2);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn problems_are_listed_marked_and_jumped_to() {
    let mut bench = Bench::crossroads();
    bench.key(Key::O);
    bench.drag(&[(50.0, -3.0), (54.0, 0.0)]);
    let finding = bench.editor().model().findings.1.first().unwrap().clone();
    assert_eq!(finding.code.name(), "obstacle-on-road");
    bench.look_at(-1000.0, 0.0, 100.0);
    let title = format!("warning: {}", finding.object);
    let found = bench.harness.query_by_label(&title).is_some();
    bench.press(if found { &title } else { "error: obstacle 1" });
    let camera = bench.editor().model().camera;
    assert!((camera.centre - finding.place).length() < 1.0);
    assert_eq!(
        bench.editor().model().selection,
        Objects::from([finding.object])
    );
}

#[test]
fn saved_files_open_again_and_changes_by_others_are_noticed() {
    let mut bench = Bench::crossroads();
    let path = bench.folder.path().join("mine.scenario.json");
    bench.key_with(Modifiers::COMMAND, Key::S);
    assert!(matches!(
        bench.editor().model().dialog,
        Dialog::Path {
            purpose: Purpose::Save,
            ..
        }
    ));
    bench.ask(Action::Path(path.clone(), Purpose::Save, None));
    assert!(!bench.editor().model().document.is_dirty());
    // Nobody had named it; a name of one's own stays.
    assert_eq!(bench.scenario().about().name, "mine");
    let saved = bench.scenario().clone();
    let again = Bench::open(&path);
    assert_eq!(again.scenario(), &saved);
    bench.key(Key::R);
    bench.drag(&[(-100.0, 60.0), (-20.0, 60.0)]);
    assert!(bench.editor().model().document.is_dirty());
    // Unsaved changes are asked about.
    bench.key_with(Modifiers::COMMAND, Key::N);
    assert!(matches!(
        bench.editor().model().dialog,
        Dialog::Unsaved(Next::New)
    ));
    bench.press("Cancel");
    assert_eq!(bench.scenario().network().road_count(), 5);
    // Someone else writes the file.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\"mine\"", "\"Theirs\"");
    std::fs::write(&path, text).unwrap();
    for _ in 0..200 {
        bench.harness.step();
    }
    assert!(bench.editor().model().changed_on_disk);
    // Edits that are not saved are asked about here too.
    bench.press("Reload it");
    bench.press("Don't save");
    assert_eq!(bench.scenario().about().name, "Theirs");
    assert!(!bench.editor().model().changed_on_disk);
}

#[test]
fn edits_survive_a_crash() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let lost = {
        let mut bench = Bench::open_in(folder.clone(), None);
        bench.ask(Action::Go(Next::New));
        bench.look_at(0.0, 0.0, 150.0);
        bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
        // Ten seconds later at the latest it is kept.
        for _ in 0..(10.0 / 0.05) as usize {
            bench.harness.step();
        }
        bench.settle();
        std::thread::sleep(std::time::Duration::from_millis(300));
        bench.scenario().clone()
        // The editor ends here without saying goodbye.
    };
    let mut bench = Bench::open_in(folder, None);
    assert_eq!(bench.editor().model().recoveries.len(), 1);
    bench.press("Recover Untitled");
    assert_eq!(bench.scenario(), &lost);
    assert!(bench.editor().model().document.is_dirty());
}

#[test]
fn any_command_is_found_by_name_and_keys_can_be_changed() {
    let mut bench = Bench::crossroads();
    bench.key_with(Modifiers::COMMAND, Key::P);
    bench.type_text("tool: flow");
    bench.key(Key::Enter);
    assert_eq!(bench.editor().model().tool, ToolKind::Flow);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    bench.key_with(Modifiers::SHIFT, Key::Questionmark);
    assert!(matches!(bench.editor().model().dialog, Dialog::Keys { .. }));
    bench
        .harness
        .get_by_label("Key of Tool: Road")
        .scroll_to_me();
    bench.settle();
    bench.press("Key of Tool: Road");
    bench.key(Key::Escape);
    let dialog = &bench.editor().model().dialog;
    assert!(
        matches!(dialog, Dialog::Keys { .. }),
        "Esc leaves the key alone, not the sheet"
    );
    bench.press("Key of Tool: Road");
    bench.key(Key::X);
    bench.close_dialog();
    bench.key(Key::X);
    assert_eq!(bench.editor().model().tool, ToolKind::Road);
}

#[test]
fn streets_are_found_by_their_names() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.key_with(Modifiers::COMMAND, Key::F);
    bench.type_text("parliament");
    bench.key(Key::Enter);
    let model = bench.editor().model();
    let Some(ObjectId::Road(id)) = model.selection.first() else {
        panic!("{:?}", model.selection);
    };
    let road = model.document.scenario().network().road(*id).unwrap();
    assert_eq!(road.name, "Parliament Row");
}

#[test]
fn the_history_is_walked_by_clicks() {
    let mut bench = Bench::crossroads();
    bench.press("History");
    bench.press("1  Draw road");
    assert_eq!(bench.scenario().network().road_count(), 1);
    bench.press("2  Draw road");
    assert_eq!(bench.scenario().network().road_count(), 4);
    bench.press("0  As it was opened");
    assert_eq!(bench.scenario().network().road_count(), 0);
}

#[test]
fn map_extracts_are_imported_beside_the_frame() {
    let mut bench = Bench::start();
    let path = bench.folder.path().join("small.osm");
    let osm = r#"<osm version="0.6"><node id="1" lat="53.0" lon="-6.0"/><node id="2" lat="53.001" lon="-6.0"/>
        <node id="3" lat="53.001" lon="-6.002"/><way id="7"><nd ref="1"/><nd ref="2"/><nd ref="3"/>
        <tag k="highway" v="residential"/><tag k="name" v="Small Street"/></way>
        <way id="8"><nd ref="3"/><nd ref="99"/><tag k="highway" v="residential"/></way></osm>"#;
    std::fs::write(&path, osm).unwrap();
    bench.ask(Action::Path(path, Purpose::Import, None));
    assert!(bench.scenario().network().road_count() >= 1);
    // What was left out stays in a panel, and a click shows where it lies.
    bench.harness.get_by_label("Left out or changed: 1");
    bench.press("way 8");
    let centre = bench.editor().model().camera.centre;
    let at_end = |node: &Node| (node.position() - centre).length() < 1.0;
    let mut nodes = bench.scenario().network().nodes();
    assert!(nodes.any(|(_, node)| at_end(node)));
    drop(nodes);
    assert!(
        bench
            .scenario()
            .about()
            .attribution
            .contains("OpenStreetMap")
    );
    let picture = bench.folder.path().join("map.png");
    bench.ask(Action::Path(picture.clone(), Purpose::Picture, None));
    assert!(image::open(&picture).unwrap().width() > 500);
    // Of another scenario it is only told.
    bench.ask(Action::Go(Next::New));
    assert!(
        bench
            .harness
            .query_by_label_contains("Another scenario is open now")
            .is_some()
    );
}

#[test]
fn a_bad_file_says_what_is_wrong_and_nothing_is_lost() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    let path = bench.folder.path().join("bad.scenario.json");
    std::fs::write(&path, "{ \"format\": 3").unwrap();
    bench.ask(Action::Go(Next::Open(path)));
    assert_eq!(bench.scenario(), &before);
    bench.ask(Action::Go(Next::Open("/no/such/file".into())));
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn values_in_the_inspector_are_one_step_each() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(-60.0, 0.5);
    let before = bench.scenario().clone();
    let role = egui::accesskit::Role::SpinButton;
    let field = bench.harness.get_by_role_and_label(role, "Speed limit");
    let at = field.rect().center();
    bench.harness.hover_at(at);
    bench.harness.drag_at(at);
    bench.harness.step();
    for i in 1..10 {
        bench.harness.hover_at(at + egui::vec2(4.0 * i as f32, 0.0));
        bench.harness.step();
    }
    bench.harness.drop_at(at + egui::vec2(40.0, 0.0));
    bench.settle();
    let steps = bench
        .editor()
        .model()
        .document
        .history()
        .undo_labels()
        .count();
    assert_eq!(steps, 3);
    undo_gives_back(&mut bench, &before);
}

#[test]
fn the_interface_scales_and_changes_its_colours() {
    let mut bench = Bench::start();
    bench.close_dialog();
    let before = bench.harness.ctx.zoom_factor();
    bench.ask(Action::Do(roadwright_editor::command::Command::Larger));
    bench.settle();
    let larger = bench.harness.ctx.zoom_factor();
    assert!(larger > before);
    bench.ask(Action::Do(roadwright_editor::command::Command::ToggleTheme));
    assert!(bench.harness.ctx.global_style().visuals.dark_mode);
    // Both are kept: the next start looks the same.
    for _ in 0..40 {
        bench.harness.step();
    }
    let mut again = Bench::open_in(bench.folder.clone(), None);
    again.settle();
    assert_eq!(again.harness.ctx.zoom_factor(), larger);
    assert!(again.harness.ctx.global_style().visuals.dark_mode);
}

#[test]
fn a_picture_is_traced_over_moved_and_scaled() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 100.0);
    let path = bench.folder.path().join("plan.png");
    image::RgbaImage::from_pixel(64, 32, image::Rgba([200, 40, 40, 255]))
        .save(&path)
        .unwrap();
    bench.ask(Action::Path(path, Purpose::Background, None));
    let background = |bench: &Bench| bench.editor().model().background.clone().unwrap();
    let (low, size) = (background(&bench).low, background(&bench).size());
    assert_eq!(bench.editor().model().tool, ToolKind::Overlay);
    bench.drag(&[(0.0, 0.0), (30.0, 10.0)]);
    let moved = background(&bench).low - low;
    assert!(
        (moved.x - 30.0).abs() < 1.0 && (moved.y - 10.0).abs() < 1.0,
        "{moved}"
    );
    bench.ask(Action::ScaleBackground(2.0));
    assert!((background(&bench).size().x - 2.0 * size.x).abs() < 1e-6);
    bench.press("Remove picture");
    assert!(bench.editor().model().background.is_none());
}

#[test]
fn the_map_pans_zooms_and_follows_a_vehicle() {
    let mut bench = Bench::crossroads();
    let before = bench.editor().model().camera;
    let at = bench.at(50.0, 20.0);
    bench.harness.hover_at(at);
    bench.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, 3.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    for _ in 0..20 {
        bench.harness.step();
    }
    let after = bench.editor().model().camera;
    assert!(after.scale < 0.9 * before.scale);
    // The point under the pointer stays there.
    assert!((bench.at(50.0, 20.0) - at).length() < 1.0);
    bench.key(Key::Home);
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    bench.ask(Action::Speed(8.0));
    bench.key(Key::Space);
    bench.key_with(Modifiers::SHIFT, Key::F);
    assert!(bench.editor().model().follow);
    assert!(bench.play_until(60.0, |e| e.model().camera.centre.x > -60.0));
    let centre = bench.editor().model().camera.centre;
    assert!(centre.y.abs() < 5.0, "{centre}");
}

#[test]
fn a_run_can_be_stepped_and_reset_and_repeats_itself() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    let run = |bench: &mut Bench| {
        bench.step_run(300);
        bench.settle();
        let live = bench.editor().model().live.clone().unwrap();
        (live.snapshot.step, live.hash)
    };
    let first = run(&mut bench);
    assert_eq!(first.0, 300);
    bench.ask(Action::Do(roadwright_editor::command::Command::Reset));
    assert_eq!(
        bench.editor().model().live.as_ref().unwrap().snapshot.step,
        0
    );
    assert_eq!(run(&mut bench), first);
}

#[test]
fn edits_made_while_a_file_loads_are_asked_about() {
    let mut bench = Bench::crossroads();
    let path = bench.folder.path().join("other.scenario.json");
    roadwright_scenario::file::save(&roadwright_scenario::Scenario::new("other"), &path).unwrap();
    bench.ask(Action::Path(
        bench.folder.path().join("mine"),
        Purpose::Save,
        None,
    ));
    assert!(bench.folder.path().join("mine.scenario.json").exists());
    // The file is asked for, and before it is there a road is drawn.
    bench.harness.state_mut().ask(Action::Go(Next::Open(path)));
    let edit = roadwright_scenario::Edit::Node(
        roadwright_scenario::NodeId(99),
        Some(roadwright_scenario::Node::at(
            roadwright_geometry::DVec2::new(9.0, 9.0),
        )),
    );
    bench.ask(Action::Apply("Add node".into(), edit));
    assert_eq!(bench.editor().model().dialog, Dialog::Unsaved(Next::Loaded));
    assert_eq!(bench.scenario().network().node_count(), 6);
    bench.press("Don't save");
    assert_eq!(bench.scenario().about().name, "other");
}

#[test]
fn undoing_to_what_was_saved_is_clean() {
    let mut bench = Bench::crossroads();
    bench.ask(Action::Path(
        bench.folder.path().join("mine"),
        Purpose::Save,
        None,
    ));
    bench.drag(&[(-100.0, 60.0), (-20.0, 60.0)]);
    assert!(bench.editor().model().document.is_dirty());
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert!(!bench.editor().model().document.is_dirty());
}

#[test]
fn keys_do_nothing_behind_a_window_that_asks() {
    let mut bench = Bench::crossroads();
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.key_with(Modifiers::COMMAND, Key::N);
    let before = bench.scenario().clone();
    bench.harness.event(egui::Event::Cut);
    bench.key(Key::Delete);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn the_minimap_is_not_the_map() {
    let mut bench = Bench::crossroads();
    // The map shows everything: there is no need of a minimap.
    assert!(bench.harness.query_by_label("minimap").is_none());
    bench.look_at(0.0, 0.0, 60.0);
    bench.settle();
    let before = bench.scenario().clone();
    let at = bench.harness.get_by_label("minimap").rect();
    let camera = bench.editor().model().camera;
    bench.harness.hover_at(at.center());
    bench.harness.step();
    bench.harness.drag_at(at.center() + egui::vec2(-40.0, 20.0));
    bench.harness.step();
    bench
        .harness
        .hover_at(at.center() + egui::vec2(40.0, -20.0));
    bench.harness.step();
    bench.harness.drop_at(at.center() + egui::vec2(40.0, -20.0));
    bench.settle();
    assert_eq!(bench.scenario(), &before);
    assert_ne!(bench.editor().model().camera.centre, camera.centre);
}

#[test]
fn parameters_of_a_stack_are_edited_by_their_descriptions() {
    let mut bench = Bench::crossroads();
    bench.press("Scenario");
    bench.press("fuzzy_driver");
    let label = "route_steering_gain";
    assert!(bench.harness.query_all_by_label(label).count() > 0);
    let before = bench.scenario().clone();
    bench.press("aggregation of fuzzy_driver: max");
    bench.press("sum");
    let stack = &bench.scenario().stacks()["fuzzy_driver"];
    assert_eq!(stack.controller.parameters["aggregation"], 1.0);
    undo_gives_back(&mut bench, &before);
}

#[test]
fn a_stack_gets_a_second_fitness_and_loses_the_first() {
    let mut bench = Bench::crossroads();
    bench.press("Scenario");
    bench.press("idm");
    let fitnesses = |bench: &Bench| -> Vec<String> {
        let stack = &bench.scenario().stacks()["idm"];
        let settings = stack.fitness.0.iter();
        settings.map(|setting| setting.module.clone()).collect()
    };
    bench.press("Add fitness to idm: add a fitness");
    bench.press("Safety");
    assert_eq!(fitnesses(&bench), ["crash_and_speed", "safety"]);
    let before = bench.scenario().clone();
    bench.press("Take out Fitness of idm");
    assert_eq!(fitnesses(&bench), ["safety"]);
    // A controller cannot be taken out, and a second one not be added.
    let query = |label: &str| bench.harness.query_all_by_label(label).count();
    assert_eq!(query("Take out Controller of idm"), 0);
    assert_eq!(query("Add controller to idm: add a controller"), 0);
    undo_gives_back(&mut bench, &before);
}

#[test]
fn distances_are_measured_and_change_nothing() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    bench.key(Key::M);
    bench.drag(&[(-50.0, 40.0), (50.0, 40.0)]);
    bench.click(-50.0, -40.0);
    bench.click(50.0, -40.0);
    bench.key(Key::Escape);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_cross_section_is_kept_as_a_preset() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(-60.0, 0.5);
    bench.press("Add right lane");
    bench.key(Key::R);
    bench.press("Keep selected as preset");
    let tools = &bench.editor().model().settings.tools;
    assert_eq!(tools.chosen().section.forward.len(), 2);
    bench.drag(&[(-120.0, 60.0), (-40.0, 60.0)]);
    let (_, road) = bench.scenario().network().roads().last().unwrap();
    assert_eq!(road.lane_sections[0].lanes.len(), 3);
}

#[test]
fn a_level_of_dynamics_is_chosen_for_the_scenario_and_for_one_vehicle() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    bench.press_tab("Scenario");
    bench.press("Dynamics: One track, steers");
    bench.press("Lane, follows it");
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
    bench.press("Dynamics: As in settings: Lane, follows it");
    bench.press("One track, steers");
    assert_eq!(level(&bench), Some(DynamicsLevel::OneTrack));
    assert!(drives_at(&mut bench, DynamicsLevel::OneTrack));
}

#[test]
fn the_keys_that_the_welcome_panel_names_work_there() {
    let mut bench = Bench::crossroads();
    bench.ask(Action::Show(Dialog::Welcome));
    assert_eq!(bench.editor().model().dialog, Dialog::Welcome);
    // Keys of the map do not: nothing is undone behind the panel.
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario().network().road_count(), 4);
    assert_eq!(bench.editor().model().dialog, Dialog::Welcome);
    // New does; there are unsaved roads, so it asks first.
    bench.key_with(Modifiers::COMMAND, Key::N);
    assert!(matches!(
        bench.editor().model().dialog,
        Dialog::Unsaved(Next::New)
    ));
}

#[test]
fn a_right_click_opens_what_can_be_done_with_a_thing() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    let before = bench.scenario().clone();
    right_click(&mut bench, -60.0, 0.0);
    // What lies there is selected, and its menu is open.
    let selection = bench.editor().model().selection.clone();
    assert!(
        matches!(selection.first(), Some(ObjectId::Road(_))),
        "{selection:?}"
    );
    bench.press("Split here");
    assert_eq!(
        bench.scenario().network().road_count(),
        before.network().road_count() + 1
    );
    undo_gives_back_last(&mut bench, &before);
    // A node: crossings on all its arms.
    right_click(&mut bench, 0.0, 0.0);
    let selection = bench.editor().model().selection.clone();
    let Some(ObjectId::Node(node)) = selection.first().copied() else {
        panic!("{selection:?}");
    };
    bench.press("Add crossings on all arms");
    let rules = &bench.scenario().network().node(node).unwrap().rules;
    assert_eq!(rules.crossings.len(), 4);
    // Open ground: a vehicle begins here, and the tool waits for its destination.
    right_click(&mut bench, -100.0, 60.0);
    assert!(bench.editor().model().selection.is_empty());
    bench.press("Drive from here");
    assert_eq!(bench.editor().model().tool, ToolKind::Vehicle);
    bench.click(100.0, 60.0);
    let agent = bench.scenario().agents().values().next().unwrap();
    assert!(agent.destination.is_some());
}

/// A right click without a drag.
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
    // Nobody is watched.
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
    bench.press("Couple the trailer behind it");
    bench.settle();
    assert_eq!(counts(&bench), (3, 0));
}

fn right_click(bench: &mut Bench, x: f64, y: f64) {
    let at = bench.at(x, y);
    bench.harness.hover_at(at);
    bench.harness.step();
    for pressed in [true, false] {
        bench.harness.event(egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Secondary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        bench.harness.step();
    }
    bench.settle();
}

fn undo_gives_back_last(bench: &mut Bench, before: &roadwright_scenario::Scenario) {
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), before);
}

/// An empty world with three boxes, all selected.
fn three_boxes() -> Bench {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::O);
    bench.set(|settings| settings.tools.obstacle.kind = ObstacleKind::Box);
    for (x, y) in [(-80.0, 5.0), (-10.0, -20.0), (70.0, 30.0)] {
        bench.drag(&[(x, y), (x + 12.0, y + 9.0)]);
    }
    bench.key(Key::V);
    bench.key_with(Modifiers::COMMAND, Key::A);
    assert_eq!(bench.editor().model().selection.len(), 3);
    bench
}

fn box_bounds(bench: &Bench) -> Vec<(DVec2, DVec2)> {
    let model = bench.editor().model();
    let all = model.selection.iter();
    all.map(|object| model.scene.bounds_of(*object).unwrap())
        .collect()
}

#[test]
fn arrow_keys_nudge_and_menus_align_and_spread() {
    let mut bench = three_boxes();
    let before = box_bounds(&bench);
    bench.key(Key::ArrowRight);
    bench.key(Key::ArrowUp);
    for (new, old) in box_bounds(&bench).iter().zip(&before) {
        assert!(
            (new.0 - old.0 - DVec2::ONE).length() < 1e-6,
            "{new:?} {old:?}"
        );
    }
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(box_bounds(&bench), before);
    right_click(&mut bench, -10.0 + 6.0, -20.0 + 4.0);
    assert_eq!(
        bench.editor().model().selection.len(),
        3,
        "the selection stays"
    );
    bench.press("Align south edges");
    let aligned = box_bounds(&bench);
    assert!(
        aligned
            .iter()
            .all(|b| (b.0.y - aligned[0].0.y).abs() < 1e-6),
        "{aligned:?}"
    );
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(box_bounds(&bench), before);
}

#[test]
fn what_several_roads_share_is_changed_in_one_step() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.key_with(Modifiers::COMMAND, Key::A);
    let before = bench.scenario().clone();
    bench.press("Access: All");
    bench.press("Private");
    let mut roads = bench.scenario().network().roads();
    assert!(roads.all(|(_, road)| road.access == roadwright_scenario::RoadAccess::Private));
    drop(roads);
    undo_gives_back_last(&mut bench, &before);
}

#[test]
fn select_similar_takes_the_roads_of_a_class() {
    let mut bench = Bench::crossroads();
    bench.key(Key::O);
    bench.drag(&[(-80.0, 40.0), (-70.0, 50.0)]);
    bench.key(Key::V);
    bench.click(-60.0, 0.0);
    assert_eq!(bench.editor().model().selection.len(), 1);
    bench.key_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::A);
    let selection = bench.editor().model().selection.clone();
    assert_eq!(selection.len(), 4);
    assert!(
        selection
            .iter()
            .all(|object| matches!(object, ObjectId::Road(_)))
    );
}

#[test]
fn a_scenario_is_shared_and_opened_from_one_file() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut bench = Bench::open_in(folder.clone(), None);
    bench.close_dialog();
    let shipped = roadwright_editor::shipped::ALL.iter();
    let chase = shipped.into_iter().position(|s| s.name == "chase").unwrap();
    bench.ask(Action::Go(Next::Shipped(chase)));
    let scenario = bench.scenario().clone();
    let file = folder.path().join("chase.rwz");
    bench.press("File");
    bench.press("Share… Ctrl+Shift+E");
    assert!(matches!(bench.editor().model().dialog, Dialog::Path { .. }));
    bench.ask(Action::Path(
        folder.path().join("chase"),
        Purpose::Share,
        None,
    ));
    assert!(file.is_file());
    // Dropped into the window of somebody else it is shown, and nothing is written.
    bench.ask(Action::Go(Next::New));
    let dropped = Arc::new(Dropped(file));
    bench.harness.input_mut().dropped_files.push(dropped);
    bench.harness.step();
    bench.settle();
    assert!(matches!(
        bench.editor().model().dialog,
        Dialog::Bundle { .. }
    ));
    assert!(!folder.path().join("chase").exists());
    assert!(
        bench
            .harness
            .query_by_label("scripts/evader.rhai")
            .is_some()
    );
    bench.press("Unpack and open");
    bench.settle();
    assert_eq!(bench.scenario(), &scenario);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    assert!(folder.path().join("chase/scripts/evader.rhai").is_file());
    assert!(
        bench.editor().model().live.is_none(),
        "nothing runs before play is pressed"
    );
}

/// A file that is let fall on the window.
#[derive(Debug)]
struct Dropped(std::path::PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &std::path::Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

#[test]
fn a_file_that_is_no_bundle_is_refused_and_the_document_stays() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut bench = Bench::open_in(folder.clone(), None);
    bench.close_dialog();
    let before = bench.scenario().clone();
    let file = folder.path().join("evil.rwz");
    std::fs::write(&file, b"PK\x03\x04 no archive").unwrap();
    bench.ask(Action::Path(file, Purpose::Open, None));
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn results_show_curves_and_trips_and_are_written_as_tables() {
    let mut bench = Bench::start();
    bench.close_dialog();
    let shipped = roadwright_editor::shipped::ALL.iter();
    let town = shipped
        .into_iter()
        .position(|s| s.name == "crossroads")
        .unwrap();
    bench.ask(Action::Go(Next::Shipped(town)));
    bench.ask(Action::Speed(f64::INFINITY));
    bench.ask(Action::Do(roadwright_editor::command::Command::Results));
    bench.key(Key::Space);
    assert!(bench.play_until(120.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.results.trips.len() > 3)
    }));
    // One step by hand, and it stands still.
    bench.ask(Action::Do(roadwright_editor::command::Command::StepOnce));
    let results = bench
        .editor()
        .model()
        .live
        .as_ref()
        .unwrap()
        .results
        .clone();
    assert!(results.rows.len() > 10 && results.before.is_none());
    // A click on a trip goes to where it ended.
    let trip = results.trips.last().unwrap();
    let (_, last) = trip.places.unwrap();
    bench.press("Trips");
    let name = roadwright_simulation::agent_name(trip.agent);
    bench.press(&name);
    let centre = bench.editor().model().camera.centre;
    assert!((centre - last).length() < 5.0, "{centre} {last}");
    let folder = bench.folder.path().join("out");
    bench.ask(Action::Path(folder.clone(), Purpose::Results, None));
    let lines = |name: &str| {
        std::fs::read_to_string(folder.join(name))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(lines("timeline.csv"), results.rows.len() + 1);
    assert_eq!(lines("trips.csv"), results.trips.len() + 1);
    assert!(lines("heat.csv") > 10);
    // The run before stays for comparison.
    bench.ask(Action::Do(roadwright_editor::command::Command::Reset));
    let again = bench
        .editor()
        .model()
        .live
        .as_ref()
        .unwrap()
        .results
        .clone();
    assert_eq!(again.before.as_ref().unwrap().rows, results.rows);
    assert_eq!(again.rows.len(), 1);
}

#[test]
fn stacks_are_renamed_copied_and_deleted_in_the_window() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.press_tab("Scenario");
    bench.press("idm");
    bench.press("Copy idm");
    assert!(bench.scenario().stacks().contains_key("idm_2"));
    let before = bench.scenario().clone();
    let users = before
        .agents()
        .values()
        .filter(|agent| agent.stack == "idm");
    let users = users.count();
    assert!(users > 0);
    // Somebody uses it.
    bench.press("Delete idm");
    assert_eq!(bench.scenario(), &before);
    bench.press("Name of stack idm");
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.type_text("commuter");
    bench.key(Key::Enter);
    let agents = bench.scenario().agents().values();
    assert_eq!(
        agents.filter(|agent| agent.stack == "commuter").count(),
        users
    );
    assert!(!bench.scenario().stacks().contains_key("idm"));
    undo_gives_back(&mut bench, &before);
    bench.press("idm_2");
    bench.press("Delete idm_2");
    assert!(!bench.scenario().stacks().contains_key("idm_2"));
}

#[test]
fn an_agent_starts_again_after_it_has_arrived() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (-40.0, -1.6)]);
    let id = *bench.scenario().agents().keys().next().unwrap();
    bench.ask(Action::Select(Objects::from([ObjectId::Agent(id)])));
    bench.press("Starts again after arrival");
    assert_eq!(bench.scenario().agents()[&id].repeat, Some(10.0));
    // Its name and its field.
    assert_eq!(bench.harness.query_all_by_label("Repeats after").count(), 2);
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    assert!(bench.play_until(200.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.counts.arrived >= 3)
    }));
}

#[test]
fn what_is_locked_is_not_taken_by_the_mouse() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(60.0, 0.0);
    assert_eq!(bench.editor().model().selection.len(), 1);
    bench.set(|settings| {
        settings.tools.locks.insert(MapPart::Roads);
    });
    bench.click(60.0, 0.0);
    assert!(bench.editor().model().selection.is_empty());
    let before = bench.scenario().clone();
    bench.drag(&[(60.0, 0.0), (60.0, 30.0)]);
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.key(Key::Delete);
    assert_eq!(bench.scenario(), &before);
    bench.set(|settings| settings.tools.locks.clear());
    bench.click(60.0, 0.0);
    assert_eq!(bench.editor().model().selection.len(), 1);
}

/// What the Inspector says of the way of the selected trip.
fn told_way(bench: &Bench) -> String {
    let mut all = bench.harness.query_all_by_label_contains("");
    let texts = all
        .by_ref()
        .filter_map(|node| node.accesskit_node().value());
    let is_way = |text: &String| text.contains(" m, ") || text == "none leads there";
    texts.into_iter().find(is_way).unwrap_or_default()
}

#[test]
fn the_way_of_a_trip_is_told_before_play() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (1.6, 80.0)]);
    // 100 m to the middle and 80 m on, less the corner that is cut.
    let told = told_way(&bench);
    let metres: f64 = told.split(' ').next().unwrap().parse().unwrap();
    assert!((160.0..185.0).contains(&metres), "{told}");
    // A longer trip has a longer way, with every edit.
    bench.key(Key::V);
    bench.drag(&[(1.6, 80.0), (1.6, 40.0)]);
    let shorter: f64 = told_way(&bench).split(' ').next().unwrap().parse().unwrap();
    assert!((metres - shorter - 40.0).abs() < 3.0, "{metres} {shorter}");
    // Against the traffic none leads, and the Inspector says so.
    bench.key(Key::A);
    bench.drag(&[(60.0, -1.6), (20.0, -1.6)]);
    assert_eq!(told_way(&bench), "none leads there");
}

#[test]
fn a_file_is_found_in_its_folder_without_a_dialog_of_the_desktop() {
    let folder = tempfile::tempdir().unwrap();
    let towns = folder.path().join("towns");
    std::fs::create_dir(&towns).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "").unwrap();
    let mut bench = Bench::crossroads();
    bench.ask(Action::Path(towns.join("cross"), Purpose::Save, None));
    bench.ask(Action::Leave(Next::New));
    bench.key_with(Modifiers::COMMAND, Key::O);
    // Typed to the folder, gone on with Tab, and then by clicks.
    let typed = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    bench.type_text(&typed);
    assert!(bench.harness.query_by_label("towns/").is_some());
    assert!(
        bench.harness.query_by_label("notes.txt").is_none(),
        "it does not fit"
    );
    bench.type_text("to");
    bench.key(Key::Tab);
    bench.press("cross.scenario.json");
    bench.press("Open");
    assert_eq!(bench.scenario().network().road_count(), 4);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    // From the next time on it is among the recent ones.
    bench.ask(Action::Leave(Next::New));
    bench.key_with(Modifiers::COMMAND, Key::O);
    bench.press("cross.scenario.json   recent");
    assert_eq!(bench.scenario().network().road_count(), 4);
    // A folder that is not there says so, and a folder is no scenario: it is looked into.
    bench.key_with(Modifiers::COMMAND, Key::O);
    bench.type_text(&format!("{typed}nowhere/"));
    assert!(
        bench
            .harness
            .query_by_label_contains("cannot be read")
            .is_some()
    );
    bench.close_dialog();
    bench.key_with(Modifiers::COMMAND, Key::O);
    bench.type_text(&folder.path().join("towns").display().to_string());
    bench.press("Open");
    assert!(
        bench
            .harness
            .query_by_label("cross.scenario.json")
            .is_some()
    );
}

#[test]
fn the_view_menu_ticks_what_is_on() {
    let mut bench = Bench::empty();
    let ticks = |bench: &mut Bench| {
        bench.press("View");
        let toggled = ["Grid", "Snap to grid", "Minimap"].map(|name| {
            let node = bench.harness.get_by_label_contains(name);
            node.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
        });
        bench.press("View");
        toggled
    };
    let before = ticks(&mut bench);
    bench.key(Key::G);
    bench.key_with(Modifiers::SHIFT, Key::G);
    bench.key(Key::N);
    let after = ticks(&mut bench);
    assert_eq!(after, before.map(|on| !on));
}
