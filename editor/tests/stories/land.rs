//! Obstacles, forests, land, places, and heights of the ground.

use super::*;

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
    // Using the same brush again makes the same forest larger.
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
    // The new area is selected, and the Inspector shows it.
    let selected = ObjectId::Land(LandId(1));
    assert!(bench.editor().model().selection.contains(&selected));
    undo_gives_back(&mut bench, &empty);
    // A park is drawn freehand around it; a line that crosses itself is refused.
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
    // Water lies on the park, so it is found first.
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
    // When locked, the mouse ignores it.
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
    assert_eq!((point.name.as_str(), *point.heading), ("Place 1", None));
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
    // The place is selected, and can be named, moved, copied and deleted like other objects.
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

/// Checks that the surface shown under the pointer is the surface in runs: in the middle of roads, beside
/// them, and in junctions. Each kind of ground has a different grip, so the grip map of runs shows which kind
/// it is.
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
        let scene = roadwright_editor::scene::Scene::new(Arc::new(scenario), 0);
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
        // At edges the two may differ, because roads on the map consist of straight pieces.
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
        open_ground: 1.0.into(),
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
        ("Drivers and grip: see the grip", "ignore the grip"),
        ("Slopes: affect all vehicles", "rigid bodies only"),
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
