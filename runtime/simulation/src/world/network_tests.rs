//! Control test for the tests of random networks. Without the reservation beyond an alley, vehicles
//! deadlock.

#[allow(
    dead_code,
    clippy::duplicate_mod,
    reason = "this test needs few of these helpers, and other unit tests use one of its files"
)]
#[path = "../../tests/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "another test edits the networks")]
#[path = "../../tests/random_networks/network.rs"]
mod network;

use crate::traffic::SwitchedOff;
use crate::{RunOptions, World, builtin_modules};
use network::Network;
use roadwright_scenario::DynamicsLevel;
use roadwright_testing::is_slow;

/// Time during which vehicles spawn, s.
const INPUT: f64 = 180.0;
/// Time by which all vehicles must have arrived, s.
const DRAINED: f64 = 1500.0;

/// Whether vehicles in a network deadlock, or have not all arrived in time.
fn locks(number: u64, switched_off: SwitchedOff) -> bool {
    let mut network = Network::new(1, number);
    let load = network.between(0.1, 1.2);
    network.fill(load, INPUT);
    let options = RunOptions {
        seed: Some(number),
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        ..RunOptions::default()
    };
    let mut world = World::new(&network.scenario, &builtin_modules(), &options).unwrap();
    world.traffic.claims.alleys.switched_off = switched_off;
    while world.time() < DRAINED && (world.time() < INPUT || !world.is_over()) {
        world.step();
    }
    let summary = world.summary();
    let agents = &summary.agents;
    summary.law.gridlocks > 0 || agents.arrived < agents.spawned || agents.queued > 0
}

#[test]
fn random_networks_deadlock_only_without_the_reservation_beyond() {
    // Network 122 is the first in which vehicles deadlock. Running all networks before it takes a
    // while.
    let first = if is_slow() { 0 } else { 120 };
    let number = (first..1000).find(|&number| locks(number, SwitchedOff::Beyond));
    println!("{number:?}");
    let number = number.expect("a network in which vehicles deadlock");
    assert!(!locks(number, SwitchedOff::Nothing), "network {number}");
}
