//! Tests of the tracks as courses: the scored drives, and the behaviour of the other cars.

use roadwright_geometry::DVec2;
use roadwright_simulation::{Party, RunOptions, SteeringLock, World, builtin_modules};
use roadwright_training::{ControlChange, Course, PersonTry, Setup, measure, measure_logged};
use std::collections::BTreeMap;

fn course(name: &str) -> Course {
    Course::named(name).unwrap()
}

#[test]
fn the_racer_arrives_without_a_contact_and_alone_is_scored() {
    let modules = builtin_modules();
    let (measured, marks) =
        measure_logged(&course("final"), &Setup::default(), &modules, 1).unwrap();
    assert_eq!(measured.drives.len(), 1);
    let drive = &measured.drives[0];
    // A contact would have ended the drive.
    assert_eq!((drive.agent, drive.end.name()), (1, "arrived"));
    assert!(drive.time > 20.0 && drive.distance > 500.0, "{drive:?}");
    assert!(marks.len() > 50 && marks.iter().all(|mark| mark.agent == 1));
}

#[test]
fn cars_hold_their_speed_whatever_the_racer_does() {
    let (course, modules) = (course("cornered-cars"), builtin_modules());
    let end = |planner: Option<&str>| {
        let mut setup = Setup::default();
        if let Some(planner) = planner {
            let setting = roadwright_scenario::ModuleSetting::new(planner);
            setup.modules.insert("ground_planner".into(), vec![setting]);
        }
        let scenario = course.whole_scenario(1, &setup).unwrap();
        let mut world = World::new(&scenario, &modules, &RunOptions::default()).unwrap();
        let mut racer = DVec2::ZERO;
        let mut cars = BTreeMap::new();
        while world.time() < 40.0 {
            world.step();
            for vehicle in world.snapshot().vehicles {
                if vehicle.agent == 1 {
                    racer = vehicle.body.position;
                } else {
                    assert!((vehicle.speed - 3.0).abs() < 0.1, "{}", vehicle.speed);
                    cars.insert(vehicle.agent, vehicle.body.position);
                }
            }
        }
        // Cars keep clear of walls in bends.
        for collision in world.collisions() {
            let is_wall = matches!(collision.with, Party::Obstacle(_));
            assert!(collision.agent == 1 || !is_wall, "{collision:?}");
        }
        (racer, cars)
    };
    let (racer, cars) = end(None);
    let (other_racer, other_cars) = end(Some("straight"));
    assert!(cars.len() > 20);
    assert_ne!(racer, other_racer);
    assert_eq!(cars, other_cars);
}

#[test]
fn a_drive_on_the_straight_is_complete_when_it_lasts() {
    let course = course("long-straight");
    assert!(!course.has_arrival());
    let measured = measure(&course, &Setup::default(), &builtin_modules(), 1).unwrap();
    let drive = &measured.drives[0];
    match drive.end.name() {
        "held" => assert!(drive.time > 119.0, "{drive:?}"),
        end => panic!("{end}: {drive:?}"),
    }
}

#[test]
fn a_person_drives_the_racer() {
    let (course, setup, modules) = (course("cornered-cars"), Setup::default(), builtin_modules());
    let straight_on = ControlChange {
        step: 1,
        pedals: 1.0,
        steering: 0.0,
        lock: SteeringLock::Limited,
    };
    let own = PersonTry::drive(&course, &setup, &modules, 1, vec![straight_on]).unwrap();
    // The racer collides with a wall or a car.
    let ends: Vec<&str> = own.row.ends.keys().map(|end| end.name()).collect();
    assert_eq!((own.row.drives, &ends[..]), (1, &["struck"][..]));
    let again = own.drive_again(&course, &modules).unwrap();
    assert_eq!(again.wrong, Vec::<String>::new());
}
