//! Tests of snapshots of rigid vehicles: dashboard readings, wheels and mishaps.

use crate::common::*;
use glam::{DVec2, DVec3};
use roadwright_scenario::{DynamicsLevel, Scenario, VehicleType};
use roadwright_simulation::{RunOptions, VehicleRecord, World, builtin_modules};

fn rigid(dt: f64) -> RunOptions {
    RunOptions {
        dynamics: Some(DynamicsLevel::Rigid),
        dt: Some(dt),
        ..RunOptions::default()
    }
}

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

/// Checks that the dashboard readings and wheels in snapshots have the correct values on level
/// ground, and that other levels of dynamics have none.
#[test]
fn dials_and_wheels_are_read_from_a_snapshot() {
    let kind = vehicle("willys-mb", |_| {});
    let scenario = driven_by(shipped("figure-eight"), &kind);
    for level in DynamicsLevel::FOR_VEHICLES {
        let serves = kind
            .file
            .as_ref()
            .unwrap()
            .vehicle
            .missing(level)
            .is_empty();
        if !serves {
            continue;
        }
        let options = RunOptions {
            dynamics: Some(level),
            ..rigid(0.02)
        };
        let mut world = world(&scenario, &options);
        for _ in 0..600 {
            world.step();
        }
        let snapshot = world.snapshot();
        for one in &snapshot.vehicles {
            let mechanics = snapshot.mechanics_of(one.agent);
            match level {
                DynamicsLevel::Rigid => {
                    let mechanics = mechanics.unwrap();
                    let (wheels, drive) = (&mechanics.wheels, mechanics.drive.unwrap());
                    let whole: f64 = wheels.iter().map(|wheel| wheel.load).sum();
                    assert!((whole / (1040.0 * 9.81) - 1.0).abs() < 0.05, "{wheels:?}");
                    // Two wheels at the rear axle, then two at the front axle, left wheels first.
                    for (wheel, (is_front, side)) in
                        wheels
                            .iter()
                            .zip([(false, 1.0), (false, -1.0), (true, 1.0), (true, -1.0)])
                    {
                        assert_eq!(wheel.place.x > 1.5, is_front, "{wheel:?}");
                        assert!((wheel.place.y * side - 0.6).abs() < 0.2, "{wheel:?}");
                        assert!(is_front || wheel.place.x.abs() < 1e-9, "{wheel:?}");
                        assert!((wheel.radius - 0.41).abs() < 0.05 && !wheel.slides());
                    }
                    for wheel in wheels {
                        // Wheels on the outside of a bend are faster than the centre of the rear axle.
                        let ratio = wheel.spin * 0.41 / one.speed;
                        assert!((ratio - 1.0).abs() < 0.15, "{ratio} {wheel:?}");
                    }
                    assert!(drive.rpm >= 600.0 && drive.rpm < 4100.0, "{drive:?}");
                    assert!(drive.gear >= 1 && drive.clutch > 0.0, "{drive:?}");
                    // The front wheels steer about a common centre.
                    let mean = 0.5 * (wheels[2].steering + wheels[3].steering);
                    assert!(
                        (mean - one.steering).abs() < 0.01,
                        "{mean} {}",
                        one.steering
                    );
                    assert_eq!(wheels[0].steering, 0.0);
                }
                DynamicsLevel::DynamicOneTrack => {
                    let mechanics = mechanics.unwrap();
                    assert!(mechanics.wheels.is_empty());
                    assert!(mechanics.drive.unwrap().rpm > 600.0);
                }
                _ => assert!(mechanics.is_none(), "{level}"),
            }
        }
        assert!(snapshot.mechanics_of(99_999).is_none());
    }
}

/// Checks that the shapes of the solver match the vehicles: wheels of both kinds stand on the
/// ground, and the hull matches the body but is slightly smaller. Other levels have no shapes.
#[test]
fn the_bodies_of_the_solver_lie_where_vehicles_are() {
    for (name, has_spheres) in [("willys-mb", false), ("willys-mb", true), ("t-28", true)] {
        let kind = vehicle(name, |file| {
            if has_spheres {
                file.wheels.shape = roadwright_scenario::vehicle_file::WheelShape::Sphere;
            }
        });
        let mut world = world(&driven_by(shipped("figure-eight"), &kind), &rigid(0.02));
        (0..400).for_each(|_| world.step());
        let snapshot = world.snapshot();
        assert!(snapshot.vehicles.len() == 3);
        for vehicle in &snapshot.vehicles {
            let mechanics = snapshot.mechanics_of(vehicle.agent).unwrap();
            let shape = mechanics.shape.clone().unwrap();
            assert_eq!(shape.has_spheres, has_spheres);
            assert_eq!(shape.hubs.len(), mechanics.wheels.len());
            let lying = shape.lying(vehicle).unwrap();
            for (hub, wheel) in shape.hubs.iter().zip(&mechanics.wheels) {
                let height = lying.point(*hub + DVec3::Z * wheel.travel).z;
                assert!(
                    (height - wheel.radius).abs() < 0.03,
                    "{name}: {height} {wheel:?}"
                );
            }
            let corners = shape.hull.iter().flatten();
            let corners: Vec<_> = corners.map(|&c| lying.point(c)).collect();
            let local = |point: &DVec3| vehicle.body.to_local(point.truncate());
            let far = |of: fn(DVec2) -> f64| {
                corners
                    .iter()
                    .map(|corner| of(local(corner)).abs())
                    .fold(0.0, f64::max)
            };
            let (length, width) = (2.0 * far(|p| p.x), 2.0 * far(|p| p.y));
            // Pitch and roll have a slight effect.
            assert!(
                (length - vehicle.length + 0.04).abs() < 0.1,
                "{name}: {length}"
            );
            assert!(
                (width - vehicle.width + 0.04).abs() < 0.15,
                "{name}: {width}"
            );
        }
    }
    let kind = vehicle("willys-mb", |_| {});
    let planar = RunOptions {
        dynamics: Some(DynamicsLevel::DynamicOneTrack),
        ..rigid(0.02)
    };
    let mut world = world(&driven_by(shipped("figure-eight"), &kind), &planar);
    (0..100).for_each(|_| world.step());
    let snapshot = world.snapshot();
    assert!(snapshot.mechanics.len() == 3);
    assert!(snapshot.mechanics.iter().all(|one| one.shape.is_none()));
}

/// Vehicles on their side and stuck vehicles are counted. Moving vehicles are not.
#[test]
fn who_is_tipped_over_or_stuck_is_counted() {
    // A top-heavy jeep with high tyre grip tips over in a bend, and a jeep whose engine has no torque stands
    // still.
    let tippy = vehicle("willys-mb", |file| {
        file.body.centre_height = Some(2.6).into();
        file.wheels.friction = Some(1.5).into();
        file.suspension.as_mut().unwrap().anti_sway = 0.0.into();
    });
    let weak = vehicle("willys-mb", |file| {
        let engine = file.engine.as_mut().unwrap();
        engine
            .torque_curve_rpm_nm
            .iter_mut()
            .for_each(|point| point.1 = 0.0);
    });
    let sound = vehicle("willys-mb", |_| {});
    let counted = |kind: &VehicleType| {
        let mut world = world(&driven_by(shipped("figure-eight"), kind), &rigid(0.02));
        while world.time() < 160.0 {
            world.step();
        }
        let mishaps = world.summary().mishaps;
        let vehicles = world.snapshot().vehicles;
        let count = |is: fn(&VehicleRecord) -> bool| vehicles.iter().filter(|v| is(v)).count();
        // The records of the vehicles give the same counts.
        assert_eq!(count(|v| v.mishap.tipped_over), mishaps.tipped_over);
        assert_eq!(count(|v| v.mishap.stuck), mishaps.stuck);
        assert!(vehicles.iter().all(|v| {
            let words = match v.mishap {
                mishap if mishap.tipped_over => Some("tipped over"),
                mishap => mishap.stuck.then_some("stuck"),
            };
            v.mishap.words() == words
        }));
        mishaps
    };
    let (tipped, stands, drives) = (counted(&tippy), counted(&weak), counted(&sound));
    assert!(tipped.tipped_over > 0 && tipped.stuck > 0, "{tipped:?}");
    assert!(stands.tipped_over == 0 && stands.stuck == 3, "{stands:?}");
    assert_eq!((drives.tipped_over, drives.stuck), (0, 0));
}
