//! Tests of vehicles with vehicle files: dynamics levels, drive trains, and stacks that drive them.

use crate::common::*;
use roadwright_scenario::{Agent, DynamicsLevel, Edit, Scenario, Settings};
use roadwright_simulation::{RunOptions, World, builtin_modules};

fn at(level: DynamicsLevel) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        ..RunOptions::default()
    }
}

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

#[test]
fn the_jeep_and_the_bus_drive_with_their_engines_to_their_goals() {
    for name in ["willys-mb", "enviro-400", "bmw-320i"] {
        let scenario = driven_by(shipped("figure-eight"), &vehicle(name, |_| {}));
        let mut times = Vec::new();
        for level in [DynamicsLevel::OneTrack, DynamicsLevel::DynamicOneTrack] {
            let mut world = world(&scenario, &at(level));
            while world.time() < 600.0 && !world.is_over() {
                world.step();
            }
            assert_eq!(world.counts().arrived, 3, "{name} {level}");
            times.push(world.summary().travel_time.mean);
        }
        let ratio = times[1] / times[0];
        assert!((ratio - 1.0).abs() < 0.15, "{name}: {times:?}");
        assert_ne!(times[0], times[1], "{name}");
    }
}

#[test]
fn a_weak_engine_is_felt_where_there_is_one() {
    let fastest = |share: f64, level: DynamicsLevel| {
        let kind = vehicle("willys-mb", |file| {
            let engine = file.engine.as_mut().unwrap();
            engine
                .torque_curve_rpm_nm
                .iter_mut()
                .for_each(|point| point.1 *= share);
        });
        let mut world = world(&driven_by(shipped("figure-eight"), &kind), &at(level));
        let mut fastest = 0.0f64;
        while world.time() < 20.0 {
            world.step();
            let speeds = world.snapshot().vehicles.into_iter().map(|one| one.speed);
            fastest = speeds.fold(fastest, f64::max);
        }
        fastest
    };
    let (slips, rolls) = (DynamicsLevel::DynamicOneTrack, DynamicsLevel::OneTrack);
    assert!(fastest(0.05, slips) < 0.8 * fastest(1.0, slips));
    // The kinematic level has no engine.
    assert_eq!(fastest(0.05, rolls), fastest(1.0, rolls));
}

#[test]
fn a_level_that_a_file_cannot_serve_is_refused_with_what_is_missing() {
    let scenario = driven_by(
        shipped("figure-eight"),
        &vehicle("semi-trailer-tractor", |_| {}),
    );
    let refused = |scenario: &Scenario, options: &RunOptions| {
        let refused = World::new(scenario, &builtin_modules(), options)
            .err()
            .unwrap();
        refused.to_string()
    };
    let said = refused(&scenario, &at(DynamicsLevel::DynamicOneTrack));
    for words in [
        "vehicle type \"",
        "level \"dynamic_one_track\"",
        "vehicles/semi-trailer-tractor.vehicle.json",
        "has no wheels.friction, wheels.cornering_stiffness, body.centre_height",
    ] {
        assert!(said.contains(words), "{said}");
    }
    // Comparison: at its own level, the vehicle drives.
    let mut running = world(&scenario, &at(DynamicsLevel::OneTrack));
    running.step();
    // An edit of a running world that would need this level is rejected as well, and changes
    // nothing.
    let (id, agent) = scenario.agents().iter().next().unwrap();
    let mut edited = scenario.clone();
    let slipping = Agent {
        dynamics: Some(DynamicsLevel::DynamicOneTrack),
        ..agent.clone()
    };
    edited
        .apply(Edit::Agent(*id, Some(Box::new(slipping))))
        .unwrap();
    assert!(refused(&edited, &RunOptions::default()).contains("wheels.friction"));
    let mut plain = world(&scenario, &RunOptions::default());
    plain.step();
    let before = plain.state_hash();
    assert!(
        plain
            .update(&scenario, &edited, &builtin_modules())
            .is_err()
    );
    assert_eq!(plain.state_hash(), before);
}

#[test]
fn gears_are_saved_and_threads_do_not_matter() {
    let mut scenario = driven_by(shipped("crossroads"), &vehicle("willys-mb", |_| {}));
    let settings = Settings {
        dynamics: DynamicsLevel::DynamicOneTrack,
        ..scenario.settings()
    };
    scenario.apply(Edit::Settings(settings)).unwrap();
    let with = |threads: usize| RunOptions {
        threads,
        ..RunOptions::default()
    };
    let (mut one, mut two) = (world(&scenario, &with(1)), world(&scenario, &with(2)));
    (0..2500).for_each(|_| one.step());
    (0..2500).for_each(|_| two.step());
    assert_eq!(one.state_hash(), two.state_hash());
    let mut again = restored(&one, &scenario, &with(1));
    for _ in 0..1500 {
        one.step();
        again.step();
    }
    assert_eq!(one.state_hash(), again.state_hash());
    assert!(one.snapshot().vehicles.len() > 1);
}

#[test]
fn finer_physics_drive_nearly_the_same_way() {
    let place = |rate: f64| {
        let mut scenario = driven_by(shipped("figure-eight"), &vehicle("willys-mb", |_| {}));
        let settings = Settings {
            physics_rate_hz: rate.into(),
            ..scenario.settings()
        };
        scenario.apply(Edit::Settings(settings)).unwrap();
        let mut world = world(&scenario, &at(DynamicsLevel::DynamicOneTrack));
        (0..2000).for_each(|_| world.step());
        world.snapshot().vehicles[0].pose.position
    };
    let (usual, fine) = (place(200.0), place(1000.0));
    let apart: f64 = (usual - fine).length();
    assert!(apart < 0.5, "{apart} m apart");
    assert_ne!(usual, fine);
}
