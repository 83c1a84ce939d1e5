//! Tests of turn restrictions with via roads, in traffic.

use crate::common::{add_flow, cars, draw_street, street};
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, World, builtin_modules};
use std::collections::BTreeMap;

/// Creates a block of streets. Cars drive from road 1 to road 6, either via road 2 or around the block.
///
/// ```text
///   6 ----o---5----o
///         2        4
///   1 ----o---3----o
/// ```
fn block() -> Scenario {
    let mut scenario = Scenario::new("block");
    crate::common::equip(&mut scenario, "crossroads");
    let roads = [
        ((-200.0, 0.0), (0.0, 0.0)),
        ((0.0, 0.0), (0.0, 120.0)),
        ((0.0, 0.0), (120.0, 0.0)),
        ((120.0, 0.0), (120.0, 120.0)),
        ((120.0, 120.0), (0.0, 120.0)),
        ((0.0, 120.0), (-200.0, 120.0)),
    ];
    for (from, to) in roads {
        draw_street(&mut scenario, from.into(), to.into(), &street(1, 1));
    }
    let [origin, destination] =
        [(1, 10.0), (6, 150.0)].map(|(road, s)| Place::lane(RoadId(road), -1, s));
    add_flow(&mut scenario, cars(origin, destination, 500.0));
    scenario
}

/// Forbids driving from road 1 via road 2 into road 6.
fn forbid(scenario: &Scenario) -> Edit {
    let id = scenario.network().road(RoadId(2)).unwrap().from;
    let mut node = scenario.network().node(id).unwrap().clone();
    node.rules.via_restrictions = vec![ViaRestriction {
        kind: RestrictionKind::No,
        from: RoadId(1),
        via: vec![RoadId(2)],
        to: RoadId(6),
    }];
    Edit::Node(id, Some(node))
}

/// Runs until a time (s), and records the roads on which each agent drives, in order.
fn watch(world: &mut World, until: f64, roads: &mut BTreeMap<u64, Vec<u32>>) {
    while world.time() < until {
        world.step();
        for vehicle in &world.snapshot().vehicles {
            let Some((road, _)) = vehicle.lane else {
                continue;
            };
            let driven = roads.entry(vehicle.agent).or_default();
            if driven.last() != Some(&road.0) {
                driven.push(road.0);
            }
        }
    }
}

fn world(scenario: &Scenario) -> World {
    let options = RunOptions {
        dt: Some(0.1),
        ..RunOptions::default()
    };
    World::new(scenario, &builtin_modules(), &options).unwrap()
}

#[test]
fn routes_keep_off_the_way_and_lead_around() {
    let (plain, mut ruled) = (block(), block());
    ruled.apply(forbid(&plain)).unwrap();
    for (scenario, expected) in [(&plain, vec![1, 2, 6]), (&ruled, vec![1, 3, 4, 5, 6])] {
        let mut world = world(scenario);
        let mut roads = BTreeMap::new();
        watch(&mut world, 150.0, &mut roads);
        let mut done = roads.values().filter(|roads| roads.last() == Some(&6));
        assert!(done.clone().count() > 5);
        assert!(done.all(|roads| *roads == expected), "{roads:?}");
    }
}

#[test]
fn who_is_under_way_when_it_is_forbidden_goes_another_way() {
    let before = block();
    let mut world = world(&before);
    let mut roads = BTreeMap::new();
    watch(&mut world, 60.0, &mut roads);
    let mut after = before.clone();
    after.apply(forbid(&before)).unwrap();
    let told: BTreeMap<u64, Vec<u32>> = roads.clone();
    world.update(&before, &after, &builtin_modules()).unwrap();
    watch(&mut world, 240.0, &mut roads);
    // Agents on road 1 had planned a route via road 2. Agents that are already on road 2 may have taken the
    // forbidden route.
    let mut turned = 0;
    for (agent, driven) in &roads {
        let known = told.get(agent).map_or(0, Vec::len);
        let was_before = known == 0 || told[agent].last() == Some(&1);
        let breaks = driven.windows(3).any(|three| three == [1, 2, 6]);
        assert!(!(was_before && breaks), "{agent}: {driven:?}");
        turned += u32::from(was_before && known > 0 && driven.contains(&3));
    }
    assert!(turned > 0, "{told:?}");
    let arrived = roads.values().filter(|driven| driven.ends_with(&[4, 5, 6]));
    assert!(arrived.count() > 5);
}
