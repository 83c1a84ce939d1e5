//! Tests of level `sliding`: the usual stacks can drive at this level, vehicles skid, and saves contain its
//! state.

use crate::common::*;
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_simulation::{RunOptions, World, builtin_modules};

fn at(level: DynamicsLevel) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        ..RunOptions::default()
    }
}

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

#[test]
fn the_same_stacks_take_it_to_the_same_goals() {
    // The vehicles are the racer, the kart, and cars without vehicle files.
    let plain = shipped("crossroads");
    let racer = driven_by(shipped("figure-eight"), &vehicle("sliding-racer", |_| {}));
    let kart = driven_by(shipped("figure-eight"), &vehicle("soapbox-kart", |_| {}));
    for (name, scenario) in [("cars", plain), ("racer", racer), ("kart", kart)] {
        let times = [DynamicsLevel::OneTrack, DynamicsLevel::Sliding].map(|level| {
            let mut world = world(&scenario, &at(level));
            while world.time() < 600.0 && !world.is_over() {
                world.step();
            }
            let summary = world.summary();
            (
                summary.agents.arrived,
                summary.travel_time.mean,
                summary.collisions.len(),
            )
        });
        println!("{name}: {times:?}");
        assert_eq!(times[0].0, times[1].0, "{name}: {times:?}");
        assert!(
            (times[1].1 / times[0].1 - 1.0).abs() < 0.15,
            "{name}: {times:?}"
        );
        assert!(times[1].2 <= 2 * times[0].2, "{name}: {times:?}");
    }
}

#[test]
fn the_kart_track_is_driven_and_slid_on() {
    let scenario = shipped("kart-track");
    let (mut world, mut slip) = (world(&scenario, &RunOptions::default()), 0.0f64);
    let mut last = world.snapshot();
    while world.time() < 150.0 && !world.is_over() {
        world.step();
        let now = world.snapshot();
        for one in &now.vehicles {
            let Some(before) = last.vehicles.iter().find(|v| v.agent == one.agent) else {
                continue;
            };
            // Lateral speed of the rear axle.
            let moved = one.pose.position - before.pose.position;
            let aside = moved.dot(one.pose.left()).abs() / 0.02;
            if one.speed > 3.0 {
                slip = slip.max(aside / one.speed);
            }
        }
        last = now;
    }
    println!(
        "{:?} {slip} {:?}",
        world.counts(),
        world.summary().collisions
    );
    assert_eq!(world.counts().arrived, 6, "{:?}", world.counts());
    assert!(slip > 0.05, "{slip}");
    assert_eq!(world.summary().collisions.len(), 0);
}

#[test]
fn a_level_that_the_file_does_not_serve_is_refused() {
    let scenario = driven_by(shipped("figure-eight"), &vehicle("ford-escort", |_| {}));
    let refused = World::new(&scenario, &builtin_modules(), &at(DynamicsLevel::Sliding));
    let said = refused.err().unwrap().to_string();
    assert!(
        said.contains("\"sliding\"") && said.contains("has no sliding"),
        "{said}"
    );
}

#[test]
fn a_saved_world_goes_on_bit_for_bit_and_threads_change_nothing() {
    let scenario = shipped("kart-track");
    let options = RunOptions::default();
    let mut whole = world(&scenario, &options);
    let threaded = RunOptions {
        threads: 2,
        ..options.clone()
    };
    let mut threads = world(&scenario, &threaded);
    for _ in 0..700 {
        whole.step();
        threads.step();
    }
    assert_eq!(whole.state_hash(), threads.state_hash());
    let mut restored = restored(&whole, &scenario, &options);
    for _ in 0..300 {
        whole.step();
        restored.step();
    }
    assert_eq!(whole.state_hash(), restored.state_hash());
    assert_eq!(whole.snapshot(), restored.snapshot());
}
