//! Tests of the determinism contract: the same scenario and seed give bit-identical results, whatever else is
//! running.

use crate::common::{all_shipped, has_scripts, shipped};
use roadwright_scenario::Scenario;
use roadwright_simulation::{RunOptions, World, builtin_modules};

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

fn hash_after(scenario: &Scenario, options: &RunOptions, seconds: f64) -> u64 {
    let mut world = world(scenario, options);
    while world.time() < seconds {
        world.step();
    }
    world.state_hash()
}

#[test]
fn repeats_and_threads_give_the_same_bits() {
    let old_town = shipped("old-town");
    for threads in [1, 2, 3, 8] {
        let options = RunOptions {
            threads,
            populate: 100,
            ..RunOptions::default()
        };
        assert_eq!(
            hash_after(&old_town, &options, 15.0),
            hash_after(
                &old_town,
                &RunOptions {
                    threads: 1,
                    ..options.clone()
                },
                15.0
            ),
            "{threads} threads"
        );
    }
}

#[test]
fn looking_at_a_run_does_not_change_it() {
    let scenario = shipped("crossroads");
    let mut watched = world(&scenario, &RunOptions::default());
    for _ in 0..3000 {
        watched.step();
        let snapshot = watched.snapshot();
        assert!(
            snapshot
                .vehicles
                .iter()
                .all(|v| v.pose.position.is_finite())
        );
        let _ = watched.summary();
    }
    assert_eq!(
        watched.state_hash(),
        hash_after(&scenario, &RunOptions::default(), 29.995)
    );
}

#[test]
fn another_seed_is_another_run() {
    let scenario = shipped("crossroads");
    let seeded = |seed| RunOptions {
        seed: Some(seed),
        ..RunOptions::default()
    };
    assert_ne!(
        hash_after(&scenario, &seeded(1), 30.0),
        hash_after(&scenario, &seeded(2), 30.0)
    );
}

#[test]
fn golden_hashes_hold() {
    // There are two hashes for each shipped scenario: one of the whole state, and one of the
    // contents of snapshots. The first hash changes whenever the stored data does. The second hash
    // changes only if vehicles drive differently. If this is intended, copy the new hashes from the
    // message and state the change in the changelog. If not, something is no longer deterministic.
    let golden = include_str!("golden.txt");
    let mut found = String::new();
    for name in all_shipped() {
        let scenario = shipped(&name);
        // The tests of the extension crate check the scenarios with scripts.
        if has_scripts(&scenario) {
            continue;
        }
        let seconds = match name.as_str() {
            "crossroads" => 40.0,
            "figure-eight" | "obstacle-field" => 60.0,
            _ => 20.0,
        };
        let mut world = world(&scenario, &RunOptions::default());
        while world.time() < seconds {
            world.step();
        }
        let (state, seen) = (world.state_hash(), world.snapshot().hash());
        found += &format!("{name} {seconds} {state:016x} {seen:016x}\n");
    }
    assert_eq!(golden, found, "golden hashes differ; found:\n{found}");
}
