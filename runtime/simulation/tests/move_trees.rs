//! Tests of agents with move trees: they play clips, arrive, and are refused where clips cannot be played.

use crate::common::{restored, vehicle};
use roadwright_agent::Slot;
use roadwright_geometry::math::Stream;
use roadwright_moves::{
    ClipFile, Corridor, Course, MoveFile, Racer, Ring, ShippedLibrary, Track, Traffic, Yard,
};
use roadwright_scenario::check::check;
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, ModuleSetting, MoveLibrary, ObjectId, Obstacle,
    ObstacleId, Place, Scenario, Shape, Stack,
};
use roadwright_simulation::{
    Ground, HandControls, ModuleOverrides, RunOptions, SavedWorld, VehicleRecord, World,
    blocked_moves, builtin_modules, check_on_ground, unmet,
};

/// A wall from south to north at position `x`, m.
#[derive(Clone, Copy)]
struct Wall {
    x: f64,
    south: f64,
    north: f64,
}

fn wall(wall: Wall) -> Obstacle {
    Obstacle {
        name: "wall".into(),
        shape: Shape::Box {
            x: wall.x.into(),
            y: (0.5 * (wall.south + wall.north)).into(),
            heading: 0.0.into(),
            length: 1.0.into(),
            width: (wall.north - wall.south).into(),
        },
        base: 0.0.into(),
        height: 3.0.into(),
        mass: None.into(),
    }
}

fn racer(y: f64, destination: Place) -> Agent {
    Agent {
        name: "racer".into(),
        vehicle: "racer".into(),
        stack: "racer".into(),
        start: Place::ground(0.0, y, 0.0),
        via: Vec::new(),
        destination: Some(destination),
        depart: 0.0.into(),
        speed: 0.0.into(),
        dynamics: Some(DynamicsLevel::Sliding),
        repeat: None.into(),
    }
}

/// Creates a racer at the origin with its goal 200 m to the east, between walls.
fn track(walls: &[Wall], planner: ModuleSetting) -> Scenario {
    let mut scenario = Scenario::new("track");
    let mut settings = scenario.settings();
    settings.dt = 0.02.into();
    scenario.apply(Edit::Settings(settings)).unwrap();
    for (number, &one) in (1..).zip(walls) {
        let edit = Edit::Obstacle(ObstacleId(number), Some(Box::new(wall(one))));
        scenario.apply(edit).unwrap();
    }
    let kind = vehicle("sliding-racer", |_| {});
    let edit = Edit::VehicleType("racer".into(), Some(Box::new(kind)));
    scenario.apply(edit).unwrap();
    let stack = Stack {
        ground_planner: Some(planner),
        ..Stack::with_controller("idm")
    };
    scenario
        .apply(Edit::Stack("racer".into(), Some(Box::new(stack))))
        .unwrap();
    let agent = racer(0.0, Place::ground(200.0, 0.0, 0.0));
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    scenario
}

/// Two walls, one after another, that extend across the straight line to the goal.
const CHICANE: [Wall; 2] = [
    Wall {
        x: 70.0,
        south: -40.0,
        north: 4.0,
    },
    Wall {
        x: 130.0,
        south: -4.0,
        north: 40.0,
    },
];

fn move_tree() -> ModuleSetting {
    ModuleSetting::new("move_tree")
}

/// Value of the parameter `library` that selects the libraries of the vehicle type.
const OF_VEHICLE: f64 = 5.0;

fn replayed() -> ModuleSetting {
    move_tree().with("execution", 1.0)
}

/// Creates a user library from the shipped library `large`, as if it had been recorded on ground with the
/// given grip.
fn own_library(file: &str, grip: f64) -> MoveLibrary {
    let shipped = ShippedLibrary::named("large").unwrap();
    let mut clips = ClipFile::from_text(shipped.clips).unwrap();
    clips.ground.grip = grip;
    let mut moves = MoveFile::from_text(shipped.moves).unwrap();
    moves.clips = "own.clips.json".into();
    moves.clips_hash = clips.hash();
    MoveLibrary::new(file, &moves.to_text(), &clips.to_text())
}

/// Creates a user library from the shipped library `large`, without the moves that brake.
fn without_braking() -> MoveLibrary {
    let shipped = ShippedLibrary::named("large").unwrap();
    let clips = ClipFile::from_text(shipped.clips).unwrap();
    let mut moves = MoveFile::from_text(shipped.moves).unwrap();
    moves.moves.retain(|one| !one.clip.ends_with("lose"));
    moves.clips = "own.clips.json".into();
    moves.clips_hash = clips.hash();
    MoveLibrary::new("own.moves.json", &moves.to_text(), &clips.to_text())
}

/// Creates the chicane with a vehicle type that has its own libraries.
fn with_libraries(name: &str, libraries: Vec<MoveLibrary>) -> Scenario {
    let mut scenario = track(&CHICANE, move_tree().with("library", OF_VEHICLE));
    let kind = roadwright_scenario::VehicleType {
        move_libraries: libraries,
        ..vehicle(name, |_| {})
    };
    let edit = Edit::VehicleType("racer".into(), Some(Box::new(kind)));
    scenario.apply(edit).unwrap();
    scenario
}

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

fn at(level: DynamicsLevel) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        ..RunOptions::default()
    }
}

fn run(world: &mut World, seconds: f64) {
    let end = world.time() + seconds;
    while world.time() < end && !world.is_over() {
        world.step();
    }
}

fn only(world: &World) -> VehicleRecord {
    world.snapshot().vehicles[0]
}

#[test]
fn a_racer_plays_clips_to_its_goal_at_each_level_that_can() {
    let scenario = track(&CHICANE, move_tree());
    let mut drives = Vec::new();
    // The racer's file has no values for `dynamic_one_track`.
    for level in [DynamicsLevel::OneTrack, DynamicsLevel::Sliding] {
        let mut world = world(&scenario, &at(level));
        let mut poses = Vec::new();
        while world.time() < 60.0 && !world.is_over() {
            world.step();
            poses.extend(world.snapshot().vehicles.iter().map(|one| one.pose));
        }
        let summary = world.summary();
        assert_eq!(summary.agents.arrived, 1, "{level}");
        assert!(
            summary.collisions.is_empty(),
            "{level}: {:?}",
            summary.collisions
        );
        drives.push(poses);
    }
    // The clips alone determine the motion, whatever the level.
    assert_eq!(drives[0], drives[1]);
}

#[test]
fn other_libraries_can_be_chosen() {
    for library in 0..5 {
        let planner = move_tree().with("library", f64::from(library));
        let scenario = track(&[], planner);
        let mut world = world(&scenario, &RunOptions::default());
        run(&mut world, 60.0);
        assert_eq!(world.summary().agents.arrived, 1, "{library}");
    }
}

#[test]
fn clips_that_cannot_be_played_are_refused_in_words() {
    let scenario = track(&[], move_tree());
    let refused = |scenario: &Scenario, options: &RunOptions, expected: &str| {
        let error = World::new(scenario, &builtin_modules(), options).err();
        let said = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(expected), "{said}");
        assert!(said.starts_with("agent 1"), "{said}");
    };
    refused(&scenario, &at(DynamicsLevel::Lane), "its level is lane");
    let step = RunOptions {
        dt: Some(0.03),
        ..RunOptions::default()
    };
    refused(
        &scenario,
        &step,
        "use a time step of 0.005, 0.01, 0.02, 0.04 s",
    );
    let with = |name: &str| {
        let mut other = scenario.clone();
        let kind = vehicle(name, |_| {});
        let edit = Edit::VehicleType("racer".into(), Some(Box::new(kind)));
        other.apply(edit).unwrap();
        other
    };
    let rigid = at(DynamicsLevel::Rigid);
    refused(&with("willys-mb"), &rigid, "its level is rigid");
    let usual = RunOptions::default();
    refused(
        &with("bmw-320i"),
        &at(DynamicsLevel::OneTrack),
        "front end 2.70 m instead of 3.68 m",
    );
    refused(
        &with("escort-caravan"),
        &at(DynamicsLevel::OneTrack),
        "tows trailers",
    );
    // `check` reports the same.
    assert!(unmet(&scenario, &builtin_modules()).is_empty());
    let mut slow = scenario;
    let mut settings = slow.settings();
    settings.dt = 0.03.into();
    slow.apply(Edit::Settings(settings)).unwrap();
    let found = unmet(&slow, &builtin_modules());
    assert!(found[0].to_string().contains("not a multiple"), "{found:?}");
    refused(&slow, &usual, "not a multiple");
}

#[test]
fn a_racer_follows_clips_to_its_goal_by_its_own_model() {
    // If the level differs from the recorded one, the vehicle deviates more from its clips, so it gets more
    // space.
    for (level, walls) in [
        (DynamicsLevel::OneTrack, &CHICANE[..0]),
        (DynamicsLevel::Sliding, &CHICANE[..]),
    ] {
        let mut world = world(&track(walls, replayed()), &at(level));
        run(&mut world, 60.0);
        let summary = world.summary();
        assert_eq!(summary.agents.arrived, 1, "{level}");
        assert_eq!(summary.collisions.len(), 0, "{level}");
        let used = &summary.move_trees[0];
        assert_eq!(used.library, "large");
        assert!(used.moves > 3 && used.plans >= used.moves, "{used:?}");
        if level == DynamicsLevel::Sliding {
            assert!(used.worst_distance > 0.0, "{used:?}");
            // If the deviation exceeds half a metre, the rest of a clip is moved to the vehicle.
            assert!(
                used.worst_distance < 0.6 && used.corrections <= 1,
                "{used:?}"
            );
        }
    }
}

#[test]
fn a_follower_brakes_where_every_move_is_blocked() {
    // At 12 m/s, the shortest move that does not brake is more than 10 m long. The wall is nearer
    // than that, but farther away than the stopping distance. Side walls prevent turns.
    let mut scenario = track(&[], replayed().with("library", OF_VEHICLE));
    let kind = roadwright_scenario::VehicleType {
        move_libraries: vec![without_braking()],
        ..vehicle("sliding-racer", |_| {})
    };
    let edit = Edit::VehicleType("racer".into(), Some(Box::new(kind)));
    scenario.apply(edit).unwrap();
    let end = wall(Wall {
        x: 12.8,
        south: -30.0,
        north: 30.0,
    });
    let side = |y: f64| {
        let mut one = wall(Wall {
            x: 0.0,
            south: y - 0.5,
            north: y + 0.5,
        });
        if let Shape::Box { length, .. } = &mut one.shape {
            *length = 40.0.into();
        }
        one
    };
    for (number, one) in (1..).zip([end, side(3.0), side(-3.0)]) {
        let edit = Edit::Obstacle(ObstacleId(number), Some(Box::new(one)));
        scenario.apply(edit).unwrap();
    }
    let agent = Agent {
        speed: 12.0.into(),
        ..racer(0.0, Place::ground(200.0, 0.0, 0.0))
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    let mut world = world(&scenario, &RunOptions::default());
    run(&mut world, 5.0);
    let summary = world.summary();
    assert_eq!(summary.collisions.len(), 0, "{:?}", summary.collisions);
    assert!(only(&world).speed.abs() < 0.1, "{}", only(&world).speed);
    assert!(summary.move_trees[0].without_path > 0);
    let log: Vec<&str> = world.log().map(|line| line.text.as_str()).collect();
    assert!(log.iter().any(|line| line.contains("no path")), "{log:?}");
}

#[test]
fn vehicle_types_have_libraries_of_their_own() {
    let library = own_library("clips/own.moves.json", 1.0);
    let scenario = with_libraries("sliding-racer", vec![library.clone()]);
    let mut world = world(&scenario, &RunOptions::default());
    run(&mut world, 60.0);
    let summary = world.summary();
    assert_eq!((summary.agents.arrived, summary.collisions.len()), (1, 0));
    assert_eq!(summary.move_trees.len(), 1);
    assert_eq!(summary.move_trees[0].library, "clips/own.moves.json");
    assert_eq!(summary.move_trees[0].hash, library.hash);
}

#[test]
fn of_several_libraries_the_first_whose_ground_fits_is_used() {
    let (ice, dry) = (
        own_library("ice.moves.json", 0.3),
        own_library("dry.moves.json", 1.0),
    );
    let scenario = with_libraries("sliding-racer", vec![ice.clone(), dry]);
    let mut both = world(&scenario, &RunOptions::default());
    run(&mut both, 2.0);
    assert_eq!(both.summary().move_trees[0].library, "dry.moves.json");
    let mut slippery = world(
        &with_libraries("sliding-racer", vec![ice]),
        &RunOptions::default(),
    );
    run(&mut slippery, 2.0);
    assert_eq!(slippery.summary().move_trees, []);
    let log: Vec<&str> = slippery.log().map(|line| line.text.as_str()).collect();
    assert!(log.iter().any(|line| line.contains("grip")), "{log:?}");
}

#[test]
fn an_agent_that_cannot_begin_any_move_is_found() {
    assert_eq!(blocked_moves(&track(&CHICANE, move_tree())), []);
    // A wall directly ahead of the agent, and the same wall with another planner.
    let close = Wall {
        x: 4.5,
        south: -20.0,
        north: 20.0,
    };
    let found = blocked_moves(&track(&[close], move_tree()));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].object, ObjectId::Agent(AgentId(1)));
    let message = &found[0].message;
    assert!(
        message.contains("\"large\" out of state \"Stop\""),
        "{message}"
    );
    let straight = ModuleSetting::new("straight");
    assert_eq!(blocked_moves(&track(&[close], straight)), []);
}

#[test]
fn only_moves_of_the_library_that_fits_the_ground_count_as_blocked() {
    let close = Wall {
        x: 4.5,
        south: -20.0,
        north: 20.0,
    };
    let found = |libraries: Vec<MoveLibrary>| {
        let mut scenario = with_libraries("sliding-racer", libraries);
        let obstacle = Edit::Obstacle(ObstacleId(9), Some(Box::new(wall(close))));
        scenario.apply(obstacle).unwrap();
        // A second agent shares libraries and obstacles with the first, and starts in the open.
        let other = racer(-60.0, Place::ground(200.0, -60.0, 0.0));
        let edit = Edit::Agent(AgentId(2), Some(Box::new(other)));
        scenario.apply(edit).unwrap();
        blocked_moves(&scenario)
    };
    let (ice, dry) = (
        own_library("ice.moves.json", 0.3),
        own_library("dry.moves.json", 1.0),
    );
    // A library that was recorded on other ground is not used for any move.
    assert_eq!(found(vec![ice.clone()]), []);
    let both = found(vec![ice, dry]);
    assert_eq!(both.len(), 1, "{both:?}");
    assert_eq!(both[0].object, ObjectId::Agent(AgentId(1)));
    assert!(both[0].message.contains("\"dry.moves.json\""), "{both:?}");
}

#[test]
fn libraries_that_do_not_fit_are_refused_in_words() {
    let refused = |scenario: &Scenario, expected: &str| {
        let error = World::new(scenario, &builtin_modules(), &RunOptions::default()).err();
        let said = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(expected), "{said}");
        let found = unmet(scenario, &builtin_modules());
        assert!(found.iter().any(|one| one.to_string().contains(expected)));
    };
    refused(
        &with_libraries("sliding-racer", Vec::new()),
        "has no move libraries",
    );
    let own = || own_library("own.moves.json", 1.0);
    refused(
        &with_libraries("soapbox-kart", vec![own()]),
        "was recorded with sliding-racer, which differs from its vehicle type",
    );
    let damaged = MoveLibrary::new("own.moves.json", &own().moves, "{}");
    refused(
        &with_libraries("sliding-racer", vec![damaged]),
        "the library \"own.moves.json\"",
    );
}

#[test]
fn a_library_that_is_replaced_is_taken_at_the_next_move_and_saves_name_theirs() {
    let before = with_libraries("sliding-racer", vec![own_library("own.moves.json", 1.0)]);
    let after = with_libraries("sliding-racer", vec![own_library("own.moves.json", 0.99)]);
    let mut world = world(&before, &RunOptions::default());
    run(&mut world, 2.5);
    let saved = SavedWorld::from_bytes(&world.save().unwrap().to_bytes()).unwrap();
    let restored = World::restore(
        Ground::new(&after),
        &after,
        &builtin_modules(),
        &RunOptions::default(),
        &saved,
    );
    let said = restored.err().map(|error| error.to_string());
    let said = said.unwrap_or_default();
    assert!(said.contains("own.moves.json"), "{said}");
    world.update(&before, &after, &builtin_modules()).unwrap();
    run(&mut world, 60.0);
    let summary = world.summary();
    assert_eq!((summary.agents.arrived, summary.collisions.len()), (1, 0));
    let hashes: Vec<&str> = (summary.move_trees.iter())
        .map(|one| one.hash.as_str())
        .collect();
    assert_eq!(hashes.len(), 2, "{hashes:?}");
    assert_ne!(hashes[0], hashes[1]);
}

#[test]
fn runs_are_the_same_with_any_number_of_threads_and_after_a_save_within_a_clip() {
    for planner in [move_tree(), replayed()] {
        same_after_saves(planner);
    }
}

fn same_after_saves(planner: ModuleSetting) {
    let mut scenario = track(&CHICANE, planner);
    // There are other vehicles on the track, so that plans have moving bodies to avoid.
    for (number, y) in [(2, 12.0), (3, 18.0), (4, 24.0)] {
        let agent = racer(y, Place::ground(200.0, -10.0, 0.0));
        let edit = Edit::Agent(AgentId(number), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    let options = RunOptions::default();
    let mut whole = world(&scenario, &options);
    for moment in [0.5, 2.5, 1.7] {
        run(&mut whole, moment);
        let two = RunOptions {
            threads: 2,
            ..options.clone()
        };
        let mut again = restored(&whole, &scenario, &two);
        assert_eq!(again.state_hash(), whole.state_hash(), "{moment}");
        for step in 0..150 {
            whole.step();
            again.step();
            assert_eq!(again.state_hash(), whole.state_hash(), "step {step}");
        }
    }
}

#[test]
fn a_person_takes_over_without_a_jump_and_gives_back() {
    let scenario = track(&[], move_tree());
    let mut world = world(&scenario, &RunOptions::default());
    run(&mut world, 3.0);
    let before = only(&world);
    assert!(before.speed > 5.0, "{}", before.speed);
    assert!(world.drive_by_hand(1, HandControls::default()));
    world.step();
    let after = only(&world);
    let moved = (after.pose.position - before.pose.position).length();
    assert!((moved - 0.02 * before.speed).abs() < 0.02, "{moved}");
    assert!((after.speed - before.speed).abs() < 0.2);
    run(&mut world, 1.0);
    assert!(world.give_back(1));
    run(&mut world, 60.0);
    assert_eq!(world.summary().agents.arrived, 1);
}

#[test]
fn a_contact_ends_the_plan_and_the_controller_drives_on() {
    let mut scenario = track(&[], move_tree());
    let mut world = world(&scenario, &RunOptions::default());
    run(&mut world, 4.5);
    let place = only(&world).pose.position;
    let before = scenario.clone();
    // A wall appears just ahead, in the middle of a clip.
    let ahead = wall(Wall {
        x: place.x + 4.5,
        south: -30.0,
        north: 30.0,
    });
    scenario
        .apply(Edit::Obstacle(ObstacleId(1), Some(Box::new(ahead))))
        .unwrap();
    world
        .update(&before, &scenario, &builtin_modules())
        .unwrap();
    run(&mut world, 1.0);
    assert!(!world.summary().collisions.is_empty());
    let log: Vec<&str> = world.log().map(|line| line.text.as_str()).collect();
    assert!(
        log.iter().any(|line| line.contains("ended its plan")),
        "{log:?}"
    );
}

#[test]
fn an_override_gives_all_agents_a_move_tree() {
    let scenario = track(&CHICANE, ModuleSetting::new("straight"));
    let mut modules = ModuleOverrides::default();
    modules
        .set(Slot::GroundPlanner, vec!["move_tree".into()])
        .unwrap();
    let options = RunOptions {
        modules,
        ..RunOptions::default()
    };
    let mut world = world(&scenario, &options);
    run(&mut world, 60.0);
    assert_eq!(world.summary().agents.arrived, 1);
    assert!(world.summary().collisions.is_empty());
}

#[test]
fn three_laps_of_a_closed_track_are_driven() {
    let ring = Ring {
        length: 420.0,
        corners: 6,
        sharpness: 0.4,
        width: 16.0,
        laps: 3,
        seed: 2,
    };
    assert_eq!(ring.misfit(), None);
    let course = ring.course("ring", 240.0);
    let scenario = course.scenario("Three laps.", &Default::default()).unwrap();
    let mut world = world(&scenario, &RunOptions::default());
    run(&mut world, 240.0);
    let summary = world.summary();
    assert_eq!((summary.agents.arrived, summary.collisions.len()), (1, 0));
    // Corners may be cut within 5 m of their centres.
    assert!(
        summary.distance_driven > 3.0 * 350.0,
        "{}",
        summary.distance_driven
    );
}

#[test]
fn cars_of_a_generated_track_keep_their_speed_and_react_to_nothing() {
    let corridor = Corridor {
        length: 250.0,
        corners: 2,
        sharpness: 0.4,
        width: 20.0,
        seed: 3,
    };
    let traffic = Traffic {
        count: 6,
        lines: 2,
        margin: 3.0,
        speed: 4.0,
        tilt: 0.0,
    };
    let course = corridor.course("track", Some(&traffic), 60.0).with_seed(1);
    let mut scenario = course.scenario("A track.", &Default::default()).unwrap();
    scenario.apply(Edit::Agent(AgentId(1), None)).unwrap();
    let mut world = world(&scenario, &RunOptions::default());
    while world.time() < 60.0 {
        world.step();
        for car in &world.snapshot().vehicles {
            assert!((car.speed - 4.0).abs() < 0.2, "{}", car.speed);
        }
        // Lines of the course and bodies of the world are at the same positions.
        if (world.time() - 20.0).abs() < 0.005 {
            for mover in course.movers(world.time()) {
                let bounds = mover.outline.bounds();
                let centre = 0.5 * (bounds.low + bounds.high);
                let vehicles = &world.snapshot().vehicles;
                let apart = vehicles.iter().map(|car| {
                    let middle = car.pose.point(0.3 * 3.4, 0.0);
                    (middle - centre).length()
                });
                let nearest = apart.fold(f64::INFINITY, f64::min);
                assert!(nearest < 2.5, "{nearest}");
            }
        }
    }
    assert!(world.summary().collisions.is_empty());
}

/// Whether a racer whose library has shunting moves arrives (0 or 1), and its number of contacts.
fn leaves(scenario: &Scenario) -> [usize; 2] {
    let mut world = world(scenario, &RunOptions::default());
    run(&mut world, 90.0);
    let summary = world.summary();
    [summary.agents.arrived, summary.collisions.len()]
}

#[test]
fn moves_in_reverse_leave_a_dead_end_and_a_narrow_turn() {
    for yard in Yard::ALL {
        let course = yard.course();
        let scenario = course.scenario("A yard.", &Racer::shunting()).unwrap();
        assert_eq!(leaves(&scenario), [1, 0], "{}", yard.name());
        let forwards = course.scenario("A yard.", &Racer::default()).unwrap();
        assert_eq!(leaves(&forwards)[0], 0, "{}", yard.name());
    }
}

/// Creates the chicane with one of the heuristics. The limit on nodes is high enough for a plan to
/// reach the goal.
fn with_heuristic(heuristic: f64) -> World {
    let planner = move_tree()
        .with("heuristic", heuristic)
        .with("nodes", 100_000.0);
    world(&track(&CHICANE, planner), &RunOptions::default())
}

#[test]
fn both_heuristics_give_the_same_drive() {
    let [mut straight, mut detours] = [0.0, 1.0].map(with_heuristic);
    for _ in 0..250 {
        straight.step();
        detours.step();
    }
    let poses = |world: &World| world.snapshot().vehicles[0].pose;
    assert_eq!(poses(&straight), poses(&detours));
    assert!(poses(&straight).position.x > 20.0);
}

/// Checks that a generated track is passable for its racer, so that it has no findings.
fn assert_passable(name: &str, course: &Course) {
    let scenario = course.scenario("A track.", &Racer::default()).unwrap();
    let mut found = check(&scenario);
    found.extend(check_on_ground(&scenario));
    assert!(found.is_empty(), "{name}: {found:?}");
    assert!(unmet(&scenario, &builtin_modules()).is_empty(), "{name}");
}

#[test]
fn tracks_of_the_tables_are_passable_and_without_findings() {
    for track in Track::ALL {
        assert_passable(track.name(), &track.course().with_seed(1));
    }
}

#[test]
fn generated_tracks_of_all_settings_are_passable_and_without_findings() {
    let cases = roadwright_testing::scaled(200) as u64;
    let (mut made, mut seed) = (0, 0);
    while made < cases {
        seed += 1;
        let mut draw = Stream::new(seed, "tracks", 0);
        let corners = draw.next_in(0.0, 13.0) as u32;
        let length = draw.next_in(100.0, 800.0);
        let sharpness = draw.next_in(0.0, 1.2);
        let width = draw.next_in(8.0, 40.0);
        let corridor = Corridor {
            length,
            corners,
            sharpness,
            width,
            seed,
        };
        let ring = Ring {
            length,
            corners: corners.max(3),
            sharpness,
            width,
            laps: 2,
            seed,
        };
        let is_ring = seed % 2 == 0;
        if is_ring && ring.misfit().is_none() {
            assert_passable(&format!("{ring:?}"), &ring.course("ring", 60.0));
            made += 1;
        } else if !is_ring && corridor.misfit().is_none() {
            let course = corridor.course("track", None, 60.0).with_seed(seed);
            assert_passable(&format!("{corridor:?}"), &course);
            made += 1;
        }
    }
}
