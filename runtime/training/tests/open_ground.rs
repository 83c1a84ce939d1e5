//! Tests of courses without lanes.

use roadwright_geometry::DVec2;
use roadwright_scenario::{Agent, AgentId, Edit, Obstacle, ObstacleId, Place, Scenario, Shape};
use roadwright_simulation::{RunOptions, Status, World, builtin_modules};
use roadwright_training::{Course, End, Measured, Setup, measure};
use std::collections::BTreeMap;

/// Drives a course. Returns the results, and the time of each agent as a multiple of its free travel time.
fn drive(name: &str, seed: u64) -> (Measured, BTreeMap<u64, f64>) {
    let course = Course::named(name).unwrap();
    let setup = Setup::default();
    let scenario = course.scenario(seed, &setup).unwrap();
    let free = course.free_times(&scenario).into_iter();
    let free: BTreeMap<u64, f64> = free
        .map(|(agent, time)| (u64::from(agent.0), time))
        .collect();
    let measured = measure(&course, &setup, &builtin_modules(), seed).unwrap();
    let drives = measured.drives.iter();
    let ratios = drives.map(|drive| (drive.agent, drive.time / free[&drive.agent]));
    let ratios = ratios.collect();
    (measured, ratios)
}

#[test]
fn cars_drive_between_houses_in_time() {
    for seed in [1, 2, 4, 7] {
        let (measured, ratios) = drive("obstacle-town", seed);
        let ends = measured.drives.iter();
        assert!(
            ends.clone().all(|drive| drive.end == End::Arrived),
            "{seed}: {:?}",
            measured.drives
        );
        assert!(
            ratios.values().all(|ratio| *ratio <= 2.5),
            "{seed}: {ratios:?}"
        );
    }
}

/// Turns around the ends of walls have to begin on the outside of a corridor.
#[test]
fn a_jeep_drives_through_a_maze_in_time() {
    for seed in [8, 9] {
        let (measured, ratios) = drive("maze", seed);
        let drive = &measured.drives[0];
        assert_eq!(drive.end, End::Arrived, "{seed}: {drive:?}");
        assert!(ratios[&1] <= 2.5, "{seed}: {ratios:?}");
    }
}

/// Regression test: a car stood between walls until its time was over.
#[test]
fn a_car_does_not_stand_for_ever_between_walls() {
    let (measured, ratios) = drive("obstacle-town", 5);
    let ends = measured.drives.iter();
    assert!(
        ends.clone().all(|drive| drive.end == End::Arrived),
        "{:?}",
        measured.drives
    );
    assert!(ratios.values().all(|ratio| *ratio <= 2.5), "{ratios:?}");
}

/// The goal of the first jeep is on a hill whose slopes cost as much as a detour of several hundred metres.
#[test]
fn a_jeep_does_not_circle_round_a_hill_for_ever() {
    let (measured, ratios) = drive("hill-country-drive", 1);
    let first = &measured.drives[0];
    assert_eq!((first.agent, first.end), (1, End::Arrived), "{first:?}");
    assert!(ratios[&1] <= 2.5, "{ratios:?}");
}

/// A car must not follow the last part of a manoeuvre so long that it drifts off and touches a
/// house.
#[test]
fn a_car_leaves_a_manoeuvre_as_soon_as_it_can_drive_on() {
    let (measured, _) = drive("obstacle-town", 19);
    let struck = measured.drives.iter();
    let struck = struck.filter(|drive| drive.end == End::Struck);
    assert_eq!(struck.count(), 0, "{:?}", measured.drives);
}

/// Creates a scenario in which the office's first cart drives from one room through two doors of
/// 1.2 m into a third room. The doors are offset sideways by 2.4 m.
fn doors() -> Scenario {
    let course = Course::named("office").unwrap();
    let mut scenario = course.scenario(1, &Setup::default()).unwrap();
    for id in scenario.obstacles().keys().copied().collect::<Vec<_>>() {
        scenario.apply(Edit::Obstacle(id, None)).unwrap();
    }
    for id in scenario
        .agents()
        .keys()
        .copied()
        .skip(1)
        .collect::<Vec<_>>()
    {
        scenario.apply(Edit::Agent(id, None)).unwrap();
    }
    let walls = [
        [0.0, -1.5, 3.6],
        [0.0, 3.3, 3.6],
        [3.0, -3.3, 3.6],
        [3.0, 1.5, 3.6],
    ];
    for (number, [x, y, length]) in (1..).zip(walls) {
        let wall = Obstacle {
            name: "wall".into(),
            shape: Shape::Box {
                x: x.into(),
                y: y.into(),
                heading: 0.0.into(),
                length: 0.1.into(),
                width: length.into(),
            },
            base: 0.0.into(),
            height: 1.8.into(),
            mass: None.into(),
        };
        let edit = Edit::Obstacle(ObstacleId(number), Some(Box::new(wall)));
        scenario.apply(edit).unwrap();
    }
    let cart = Agent {
        start: Place::ground(-2.0, 0.0, 0.5),
        destination: Some(Place::ground(5.5, 0.0, 0.0)),
        ..scenario.agents()[&AgentId(1)].clone()
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(cart)));
    scenario.apply(edit).unwrap();
    scenario
}

#[test]
fn a_cart_drives_through_doors_to_its_goal() {
    let options = RunOptions::default();
    let mut world = World::new(&doors(), &builtin_modules(), &options).unwrap();
    let mut last = DVec2::new(-2.0, 0.0);
    while world.time() < 25.0 && !world.is_over() {
        world.step();
        if let Some(cart) = world.snapshot().vehicle(1) {
            last = cart.pose.position;
        }
    }
    let drive = &world.drives()[0];
    assert_eq!(drive.status, Status::Arrived, "{drive:?} at {last}");
    assert_eq!(world.summary().collisions.len(), 0);
    // Short vehicles get closer to their goals than long ones.
    assert!((last.x - 5.5).abs() < 1.5, "{last}");
}
