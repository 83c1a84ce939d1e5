//! Tests of courses without lanes.

use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_scenario::{
    Agent, AgentId, Edit, ModuleSetting, Obstacle, ObstacleId, Place, Scenario, Settings, Shape,
};
use roadwright_simulation::{Collision, Party, RunOptions, Status, World, builtin_modules};
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

/// Tests turns around the ends of walls, which have to begin on the outside of a corridor.
#[test]
fn a_jeep_drives_through_a_maze_in_time() {
    for seed in [8, 9] {
        let (measured, ratios) = drive("maze", seed);
        let drive = &measured.drives[0];
        assert_eq!(drive.end, End::Arrived, "{seed}: {drive:?}");
        assert!(ratios[&1] <= 2.5, "{seed}: {ratios:?}");
    }
}

/// Regression test for a car that stood between walls until its time was over.
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

/// Carts keep to passages that are wide enough for their drivers, and pass each other without contact.
#[test]
fn carts_drive_between_the_rooms_of_an_office_in_time() {
    for seed in [2, 12, 16] {
        let (measured, ratios) = drive("office", seed);
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

/// Number of rooms along each edge of the office.
const ROOMS: usize = 6;
/// Size of the rooms, m.
const ROOM: f64 = 4.5;
/// Number of steps of the test per second.
const STEPS: u32 = 60;
/// Time for which the obstacle is dragged, and for which it is then left alone, s.
const DRAGGED: f64 = 2.0;

/// Returns the middle of a room, which is free of furniture.
fn middle(room: usize) -> DVec2 {
    let at = |number: usize| (number as f64 + 0.5) * ROOM;
    DVec2::new(at(room % ROOMS), at(room / ROOMS))
}

/// Returns the office with 20 carts, each in a separate room, that plan in each step, and the id of
/// the obstacle that is dragged.
fn busy_office(stream: &mut Stream) -> (Scenario, ObstacleId) {
    let course = Course::named("office").unwrap();
    let mut scenario = course.scenario(1, &Setup::default()).unwrap();
    let settings = Settings {
        dt: (1.0 / f64::from(STEPS)).into(),
        ..scenario.settings()
    };
    scenario.apply(Edit::Settings(settings)).unwrap();
    let cart = scenario.agents()[&AgentId(1)].clone();
    for id in scenario.agents().keys().copied().collect::<Vec<_>>() {
        scenario.apply(Edit::Agent(id, None)).unwrap();
    }
    let mut stack = scenario.stacks()[&cart.stack].clone();
    let planner = stack.ground_planner.take().unwrap();
    stack.ground_planner = Some(ModuleSetting {
        rate_hz: Some(f64::from(STEPS)).into(),
        ..planner
    });
    let edit = Edit::Stack(cart.stack.clone(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    for number in 0..20 {
        // Neighbouring rooms would also do, but the carts would have to drive farther before they meet.
        let start = middle((number * 7) % (ROOMS * ROOMS));
        let agent = Agent {
            start: Place::ground(start.x, start.y, stream.next_in(-3.0, 3.0)),
            destination: Some(anywhere_else(start, stream)),
            ..cart.clone()
        };
        let edit = Edit::Agent(AgentId(number as u32 + 1), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    let dragged = scenario.next_obstacle_id();
    place_box(&mut scenario, dragged, DVec2::splat(0.5 * ROOM));
    (scenario, dragged)
}

/// Returns the middle of a room that is not near `here`.
fn anywhere_else(here: DVec2, stream: &mut Stream) -> Place {
    loop {
        let there = middle(stream.next_index(ROOMS * ROOMS));
        if (there - here).length() > 1.5 * ROOM {
            return Place::ground(there.x, there.y, 0.0);
        }
    }
}

fn place_box(scenario: &mut Scenario, id: ObstacleId, at: DVec2) {
    let obstacle = Obstacle {
        name: "dragged".into(),
        shape: Shape::Box {
            x: at.x.into(),
            y: at.y.into(),
            heading: 0.0.into(),
            length: 0.4.into(),
            width: 0.4.into(),
        },
        base: 0.0.into(),
        height: 1.0.into(),
        mass: None.into(),
    };
    let edit = Edit::Obstacle(id, Some(Box::new(obstacle)));
    scenario.apply(edit).unwrap();
}

/// Drags goals of carts that have nearly arrived to other rooms, and a box after the carts, for some seconds. Returns the
/// contacts, and the distance that all carts have driven, m.
fn drag(seconds: f64) -> (Vec<Collision>, f64) {
    let mut stream = Stream::new(7, "dragging", 0);
    let (mut scenario, dragged) = busy_office(&mut stream);
    let modules = builtin_modules();
    let mut world = World::new(&scenario, &modules, &RunOptions::default()).unwrap();
    let mut at = DVec2::splat(0.5 * ROOM);
    for step in 1..=(seconds * f64::from(STEPS)) as u32 {
        world.step();
        let before = scenario.clone();
        let mut is_edited = false;
        let carts = world.snapshot();
        for (id, agent) in before.agents() {
            let Some(cart) = carts.vehicle(u64::from(id.0)) else {
                continue;
            };
            let here = cart.pose.position;
            let goal = before.pose_of(agent.destination.as_ref().unwrap()).unwrap();
            // All goals are dragged now and then, and before carts arrive.
            let is_dragged = (step + 97 * id.0) % (10 * STEPS) == 0;
            if is_dragged || (goal.position - here).length() < 1.5 {
                let agent = Agent {
                    destination: Some(anywhere_else(here, &mut stream)),
                    ..agent.clone()
                };
                let edit = Edit::Agent(*id, Some(Box::new(agent)));
                scenario.apply(edit).unwrap();
                is_edited = true;
            }
        }
        let phase = (world.time() / DRAGGED) as u32;
        if phase.is_multiple_of(2) && step.is_multiple_of(6) {
            // The obstacle is dragged after one cart, then after the next.
            let target = carts.vehicle(u64::from(phase / 2 % 20) + 1).unwrap();
            at += (target.pose.position - at).clamp_length_max(0.2);
            place_box(&mut scenario, dragged, at);
            is_edited = true;
        }
        if is_edited {
            world.update(&before, &scenario, &modules).unwrap();
        }
    }
    let summary = world.summary();
    assert_eq!(summary.agents.arrived, 0, "goals are dragged in time");
    let is_to_blame = |contact: &Collision| {
        let phase = ((contact.time - 0.1) / DRAGGED) as u32;
        contact.with == Party::Obstacle(dragged.0) && phase.is_multiple_of(2)
    };
    let mut contacts = summary.collisions;
    contacts.retain(|contact| !is_to_blame(contact));
    (contacts, summary.distance_driven)
}

/// Twenty carts plan in every step while goals and an obstacle are dragged ([Kuffner 1998], section 8).
#[test]
fn carts_that_plan_in_every_step_touch_nothing_while_things_are_dragged() {
    let seconds = 6.0;
    let (contacts, distance) = drag(seconds);
    assert!(contacts.is_empty(), "{contacts:?}");
    assert!(distance > 2.0 * seconds, "{distance}");
}
