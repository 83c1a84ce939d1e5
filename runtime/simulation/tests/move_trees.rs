//! Agents with move trees: they play clips, arrive, and are refused where clips cannot be played.

use crate::common::{restored, vehicle};
use roadwright_agent::Slot;
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, ModuleSetting, Obstacle, ObstacleId, Place, Scenario,
    Shape, Stack,
};
use roadwright_simulation::{
    HandControls, ModuleOverrides, RunOptions, VehicleRecord, World, builtin_modules, unmet,
};

/// A wall from south to north at x, m.
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

/// A racer that starts at the origin, with its goal 200 m to the east, between walls.
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

/// Two walls, one after the other, that reach across the straight line to the goal.
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
    // The file of the racer has no values for `dynamic_one_track`.
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
    // The clips alone decide, not the level.
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
    // `check` says the same.
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
fn runs_are_the_same_with_any_number_of_threads_and_after_a_save_within_a_clip() {
    let mut scenario = track(&CHICANE, move_tree());
    // Others on the track, so that plans have moving bodies to avoid.
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
