//! Tests with a block of four one-way streets and more vehicles than it can handle.
//!
//! ```text
//!            ^ exit        |
//!   exit <---+-------------+--- entry
//!            |             ^
//!            v             |
//!  entry ----+-------------+---> exit
//!            |             |
//!            v exit        ^ entry
//! ```
//!
//! Vehicles that enter turn left twice, and drive along three sides of the block before they leave.

use super::*;
use crate::builtin_modules;
use crate::summary::Summary;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{
    Control, CrossSection, DynamicsLevel, Edit, Flow, JunctionRules, Node, Place, RoadClass,
    RoadEnd,
};

/// Side of the block, m.
const SIDE: f64 = 70.0;
/// Length of the streets beyond the block, m.
const BEYOND: f64 = 60.0;
/// Time after which no more vehicles spawn, s.
const END: f64 = 90.0;

/// Start and end of each of the four streets, in driving order around the block.
fn streets() -> [(DVec2, DVec2); 4] {
    let (low, high) = (-BEYOND, SIDE + BEYOND);
    [
        (DVec2::new(low, 0.0), DVec2::new(high, 0.0)),
        (DVec2::new(SIDE, low), DVec2::new(SIDE, high)),
        (DVec2::new(high, SIDE), DVec2::new(low, SIDE)),
        (DVec2::new(0.0, high), DVec2::new(0.0, low)),
    ]
}

fn one_way() -> RoadStyle {
    RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 13.9,
        section: CrossSection::driving(1, 0, 3.5),
    }
}

/// Creates the block of streets. `buses` is the fraction of buses.
fn block(control: Option<Control>, buses: f64) -> Scenario {
    let mut scenario = Scenario::new("block");
    crate::testing::equip(&mut scenario);
    for (from, to) in streets() {
        let line = ReferenceLine::straight(from, to).unwrap();
        let edit = draw::road(&scenario, &line, &one_way()).unwrap();
        scenario.apply(edit).unwrap();
    }
    rule(&mut scenario, control);
    fill(&mut scenario, buses);
    scenario
}

fn rule(scenario: &mut Scenario, control: Option<Control>) {
    let network = scenario.network();
    let crossings = network
        .nodes()
        .filter(|(id, _)| network.ends_at(*id).len() > 2);
    let rules = JunctionRules {
        control,
        ..JunctionRules::default()
    };
    let ruled = |(id, node): (_, &Node)| {
        let rules = rules.clone();
        Edit::Node(
            id,
            Some(Node {
                rules,
                ..node.clone()
            }),
        )
    };
    let edits = crossings.map(ruled).collect();
    scenario.apply(Edit::Batch(edits)).unwrap();
}

/// A place near the edge of the map where vehicles enter or leave.
fn gate(scenario: &Scenario, at: DVec2, end: RoadEnd) -> Place {
    let network = scenario.network();
    let is_there = |id| {
        network
            .node(id)
            .is_some_and(|node| (node.position() - at).length() < 1.0)
    };
    let (id, road) = network
        .roads()
        .find(|(_, road)| {
            is_there(if end == RoadEnd::Start {
                road.from
            } else {
                road.to
            })
        })
        .unwrap();
    let s = if end == RoadEnd::Start {
        10.0
    } else {
        road.length() - 10.0
    };
    Place::lane(id, -1, s)
}

fn fill(scenario: &mut Scenario, buses: f64) {
    for (number, (from, _)) in streets().into_iter().enumerate() {
        let (_, to) = streets()[(number + 2) % 4];
        for (vehicle, share) in [("car", 1.0 - buses), ("enviro_400", buses)] {
            let flow = Flow {
                vehicle: vehicle.into(),
                stack: "idm".into(),
                origin: gate(scenario, from, RoadEnd::Start),
                destination: gate(scenario, to, RoadEnd::End),
                rate_per_hour: (1200.0 * share).into(),
                begin: 0.0.into(),
                end: END.into(),
                dynamics: None,
            };
            let id = scenario.next_flow_id();
            scenario
                .apply(Edit::Flow(id, Some(Box::new(flow))))
                .unwrap();
        }
    }
}

fn world(scenario: &Scenario, threads: usize) -> World {
    let options = RunOptions {
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        threads,
        ..RunOptions::default()
    };
    World::new(scenario, &builtin_modules(), &options).unwrap()
}

fn run_to(world: &mut World, seconds: f64) {
    while world.time() < seconds && !world.is_over() {
        world.step();
    }
}

#[test]
fn a_full_block_of_one_way_streets_locks_unless_its_rings_turn() {
    let scenario = block(None, 0.0);
    let [turning, left] = [false, true].map(|leaves_rings| {
        let mut world = world(&scenario, 1);
        world.traffic.claims.gridlock.leaves_rings = leaves_rings;
        run_to(&mut world, 1800.0);
        world.summary()
    });
    // Comparison: if rings are not resolved, no vehicle has left in the last ten minutes.
    assert!(left.agents.active > 20, "{:?}", left.agents);
    assert_eq!(left.law.rotations, 0);
    let agents = turning.agents;
    assert_eq!(
        (agents.active, agents.arrived),
        (0, agents.spawned),
        "{agents:?}"
    );
    assert!(agents.spawned > left.agents.spawned && turning.law.rotations > 0);
    lawful(&turning, "turning");
    lawful(&left, "left as it is");
}

/// Asserts that no vehicles have touched, and that none has entered a junction without a grant.
fn lawful(summary: &Summary, what: &str) {
    assert!(
        summary.collisions.is_empty(),
        "{what}: {:?}",
        summary.collisions
    );
    let law = summary.law;
    assert_eq!(
        (law.breaches, law.red_passed, law.stops_missed),
        (0, 0, 0),
        "{what}"
    );
}

#[test]
fn under_every_control_the_block_drains() {
    for control in [
        Control::Signals,
        Control::AllWayStop,
        Control::Priority,
        Control::Stop,
    ] {
        let mut world = world(&block(Some(control), 0.0), 1);
        run_to(&mut world, 3600.0);
        let summary = world.summary();
        lawful(&summary, &format!("{control:?}"));
        let (agents, law) = (summary.agents, summary.law);
        assert_eq!(
            (agents.active, agents.waiting),
            (0, 0),
            "{control:?}: {agents:?}, {law:?}"
        );
        assert!(
            law.rotations > 0 && law.gridlocks == 0,
            "{control:?}: {law:?}"
        );
    }
}

#[test]
fn a_ring_in_which_buses_do_not_fit_is_counted_once_and_nobody_is_taken_out() {
    let mut world = world(&block(None, 0.3), 1);
    run_to(&mut world, 900.0);
    let summary = world.summary();
    lawful(&summary, "buses");
    let agents = summary.agents;
    assert_eq!(agents.active + agents.arrived, agents.spawned);
    assert!(agents.active > 20, "{agents:?}");
    assert_eq!(
        (summary.law.gridlocks, summary.law.sent_round),
        (1, 0),
        "{:?}",
        summary.law
    );
}

#[test]
fn who_has_another_way_is_sent_round() {
    let mut scenario = block(None, 0.3);
    // Extra roads lead from each exit of the block to the next entry.
    for (number, (_, exit)) in streets().into_iter().enumerate() {
        let (entry, _) = streets()[(number + 2) % 4];
        let line = ReferenceLine::straight(exit, entry).unwrap();
        let edit = draw::road(&scenario, &line, &one_way()).unwrap();
        scenario.apply(edit).unwrap();
    }
    let mut world = world(&scenario, 1);
    run_to(&mut world, 3600.0);
    let summary = world.summary();
    let (agents, law) = (summary.agents, summary.law);
    assert_eq!(
        (agents.active, agents.waiting),
        (0, 0),
        "{agents:?}, {law:?}"
    );
    assert!(
        law.sent_round > 0,
        "{law:?}, {} replanned",
        summary.replans.stuck
    );
}

#[test]
fn turning_rings_are_the_same_with_any_number_of_threads_and_after_a_save() {
    for control in [None, Some(Control::Signals)] {
        let scenario = block(control, 0.1);
        let [mut one, mut three] = [1, 3].map(|threads| world(&scenario, threads));
        // The time is between two searches for rings, while some agents request green.
        run_to(&mut one, 300.45);
        run_to(&mut three, 300.45);
        assert_eq!(one.state_hash(), three.state_hash());
        let saved = one.save().unwrap();
        let options = RunOptions {
            dt: Some(0.1),
            dynamics: Some(DynamicsLevel::Lane),
            verify: true,
            ..RunOptions::default()
        };
        let (ground, registry) = (Ground::new(&scenario), builtin_modules());
        let (mut restored, _) =
            World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
        for _ in 0..4000 {
            one.step();
            restored.step();
        }
        assert_eq!(one.state_hash(), restored.state_hash());
        assert_eq!(one.summary().law, restored.summary().law);
    }
}

#[test]
fn a_locked_block_is_explained_as_a_deadlock_and_counted_once() {
    let mut world = world(&block(None, 0.0), 1);
    world.traffic.claims.gridlock.leaves_rings = true;
    run_to(&mut world, 900.0);
    let driving: Vec<u64> = (world.agents.census().driving())
        .map(|agent| world.agents.identity[agent.index()].id)
        .collect();
    let chains = driving.iter().map(|&id| world.wait_chain(id).unwrap());
    let chains: Vec<_> = chains.filter(|chain| chain.begins_standing()).collect();
    assert!(chains.len() > 20, "{}", chains.len());
    for chain in &chains {
        // Each vehicle of the ring waits for the next one, and the last vehicle waits for the first.
        let ring = chain.deadlocked();
        assert!(ring.len() > 3, "{chain:?}");
        assert_eq!(chain.cause(), "deadlock");
        let next = ring.iter().skip(1).chain(ring.first());
        for (link, next) in ring.iter().zip(next) {
            let reason = &link.stop.as_ref().unwrap().reason;
            assert!(reason.agents().contains(&next.agent), "{link:?}, {next:?}");
            assert!(link.since.is_some());
        }
    }
    let summary = world.summary();
    assert_eq!(summary.law.gridlocks, 1, "{:?}", summary.law);
    let causes: Vec<&str> = (summary.standing.iter())
        .map(|standing| standing.cause.as_str())
        .collect();
    assert!(causes.contains(&"deadlock"), "{causes:?}");
    assert!(world.wait_chain(9_999).is_none());
}

#[test]
fn a_queue_at_a_red_light_ends_at_its_head_and_is_not_counted() {
    let mut world = world(&block(Some(Control::Signals), 0.0), 1);
    let mut queues = 0;
    while world.time() < 60.0 {
        world.step();
        let driving: Vec<_> = world.agents.census().driving().collect();
        for agent in driving {
            let id = world.agents.identity[agent.index()].id;
            let chain = world.wait_chain(id).unwrap();
            let last = chain.links.last().unwrap();
            let is_root = chain.end == crate::ChainEnd::Root;
            if is_root && chain.links.len() > 1 && chain.cause() == "red" {
                let reason = &last.stop.as_ref().unwrap().reason;
                assert!(reason.agents().is_empty(), "{last:?}");
                queues += 1;
            }
        }
    }
    assert!(queues > 20, "{queues}");
    let causes = world.summary().standing;
    assert!(
        causes.iter().all(|standing| standing.cause != "red"),
        "{causes:?}"
    );
}

#[test]
fn counts_of_standing_vehicles_are_saved_and_restored() {
    let scenario = block(None, 0.3);
    let mut saved = world(&scenario, 1);
    run_to(&mut saved, 300.0);
    let save = saved.save().unwrap();
    let options = RunOptions::default();
    let ground = Ground::new(&scenario);
    let (mut restored, _) =
        World::restore(ground, &scenario, &builtin_modules(), &options, &save).unwrap();
    for world in [&mut saved, &mut restored] {
        run_to(world, 600.0);
    }
    assert!(!saved.summary().standing.is_empty());
    assert_eq!(saved.summary().standing, restored.summary().standing);
    assert_eq!(saved.summary().law, restored.summary().law);
}
