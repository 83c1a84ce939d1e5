//! An overpass with two ramps: drawn in a few actions, and driven.

use crate::common::Bench;
use crate::scenarios::{draw, flows_between_ends, street};
use egui::Key;
use roadwright_geometry::Pose;
use roadwright_scenario::check::{Severity, check};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::{Agent, AgentId, DynamicsLevel, Edit, Flow, Place, RoadId, Scenario};
use roadwright_simulation::{RunOptions, World, builtin_modules};
use roadwright_testing::scaled;
use std::collections::BTreeMap;

/// Number of vehicles in a run.
const VEHICLES: f64 = 200.0;
/// Period in which they depart, s.
const DEPARTURES: f64 = 400.0;

/// Draws a street, a bridge over it, and two ramps, with eight strokes and keys after the choice of the tool.
pub(crate) fn overpass() -> Bench {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 190.0);
    bench.key(Key::R);
    bench.drag(&[(-150.0, 0.0), (150.0, 0.0)]);
    bench.key(Key::PageUp);
    bench.drag(&[(0.0, -150.0), (0.0, 150.0)]);
    for side in [1.0, -1.0] {
        bench.press_at(80.0 * side, 0.0);
        for (x, y) in [(80.0, 8.0), (79.0, 18.0), (76.0, 30.0), (70.0, 43.0)] {
            bench.move_to(x * side, y * side);
        }
        bench.key(Key::PageUp);
        for (x, y) in [(60.0, 56.0), (47.0, 67.0), (30.0, 75.0), (12.0, 79.0)] {
            bench.move_to(x * side, y * side);
        }
        bench.move_to(0.0, 80.0 * side);
        bench.release_at(0.0, 80.0 * side);
    }
    bench
}

/// Returns flows between the ends of the street and those of the bridge.
fn flows(scenario: &Scenario, rate_per_hour: f64) -> Vec<Flow> {
    let network = scenario.network();
    let is_outer = |place: &Place| {
        let Place::Lane(at) = place else { return false };
        let road = network.road(at.road).unwrap();
        [road.from, road.to].map(|node| network.ends_at(node).len() == 1) != [false, false]
    };
    let mut flows = flows_between_ends(scenario, 5.0, rate_per_hour);
    flows.retain(|flow| is_outer(&flow.origin) && is_outer(&flow.destination));
    flows
}

#[test]
fn an_overpass_with_two_ramps_is_drawn_and_driven() {
    let bench = overpass();
    let scenario = bench.scenario();
    let roads: Vec<_> = scenario.network().roads().map(|(_, road)| road).collect();
    // Three pieces each of the street and of the bridge, and two of each ramp.
    let on = |layer: i8| roads.iter().filter(|road| road.layer == layer).count();
    assert_eq!((on(0), on(1)), (5, 5));
    let errors = check(scenario).into_iter();
    let errors: Vec<_> = errors
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    for seed in 1..=scaled(10).min(3) {
        let mut scenario = scenario.clone();
        let rate = VEHICLES / 12.0 / DEPARTURES * 3600.0;
        let flows = flows(&scenario, rate);
        assert_eq!(flows.len(), 12);
        for mut flow in flows {
            flow.end = DEPARTURES.into();
            let id = scenario.next_flow_id();
            scenario
                .apply(Edit::Flow(id, Some(Box::new(flow))))
                .unwrap();
        }
        let options = RunOptions {
            verify: true,
            seed: Some(seed),
            ..RunOptions::default()
        };
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        while world.time() < 600.0 {
            world.step();
        }
        let (summary, counts) = (world.summary(), world.counts());
        assert!(summary.collisions.is_empty(), "{:?}", summary.collisions);
        assert!(
            f64::from(counts.spawned as u32) > 0.8 * VEHICLES,
            "{counts:?}"
        );
        assert_eq!(counts.arrived, counts.spawned, "seed {seed}: {counts:?}");
    }
}

/// Creates a car that drives from one place to another.
fn car(start: Place, destination: Place, depart: f64) -> Agent {
    Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start,
        via: Vec::new(),
        destination: Some(destination),
        depart: depart.into(),
        repeat: Default::default(),
        speed: Default::default(),
    }
}

/// Adds ten cars, one every two seconds, and returns their ids.
fn add_cars(scenario: &mut Scenario, start: Place, destination: Place) -> Vec<AgentId> {
    let cars = (0..10).map(|number| {
        let agent = car(start, destination, 2.0 * f64::from(number));
        let id = scenario.next_agent_id();
        let edit = Edit::Agent(id, Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
        id
    });
    cars.collect()
}

fn without(scenario: &Scenario, agents: &[AgentId]) -> Scenario {
    let mut without = scenario.clone();
    for id in agents {
        without.apply(Edit::Agent(*id, None)).unwrap();
    }
    without
}

/// Returns the poses of some agents in each step of a run of 40 s.
fn traces(scenario: &Scenario, agents: &[AgentId], level: DynamicsLevel) -> Vec<Vec<(u64, Pose)>> {
    let options = RunOptions {
        dynamics: Some(level),
        ..RunOptions::default()
    };
    let mut world = World::new(scenario, &builtin_modules(), &options).unwrap();
    let mut traces = Vec::new();
    while world.time() < 40.0 {
        world.step();
        let vehicles = world.snapshot().vehicles;
        let all = vehicles.iter().map(|vehicle| (vehicle.agent, vehicle.pose));
        let is_asked = |(agent, _): &(u64, Pose)| agents.iter().any(|id| u64::from(id.0) == *agent);
        traces.push(all.filter(is_asked).collect());
    }
    traces
}

#[test]
fn vehicles_on_a_bridge_and_below_it_do_not_react_to_each_other() {
    let mut both = Scenario::new("two layers");
    draw(&mut both, (-150.0, 0.0), (150.0, 0.0), &street(""));
    let above = RoadStyle {
        layer: 1,
        ..street("")
    };
    draw(&mut both, (0.0, -150.0), (0.0, 150.0), &above);
    let roads: Vec<RoadId> = both.network().roads().map(|(id, _)| id).collect();
    // Cars in both directions, so that many are at the crossing at the same time.
    let mut own: BTreeMap<RoadId, Vec<AgentId>> = BTreeMap::new();
    for &road in &roads {
        let place = |lane: i8, s: f64| Place::lane(road, lane, s);
        let mut cars = add_cars(&mut both, place(-1, 5.0), place(-1, 295.0));
        cars.extend(add_cars(&mut both, place(1, 295.0), place(1, 5.0)));
        own.insert(road, cars);
    }
    for (kept, gone) in [(roads[0], roads[1]), (roads[1], roads[0])] {
        let mut alone = without(&both, &own[&gone]);
        alone.apply(Edit::Road(gone, None)).unwrap();
        let levels = [
            DynamicsLevel::Lane,
            DynamicsLevel::OneTrack,
            DynamicsLevel::Rigid,
        ];
        for level in levels {
            let together = traces(&both, &own[&kept], level);
            assert!(together.iter().any(|step| step.len() > 10), "{level}");
            assert!(together == traces(&alone, &own[&kept], level), "{level}");
        }
    }
    // Where a street crosses on the same layer, they do react.
    let crossing = both.network().next_road_id();
    draw(&mut both, (50.0, -150.0), (50.0, 150.0), &street(""));
    let start = Place::lane(crossing, -1, 5.0);
    let beyond = RoadId(crossing.0 + 1);
    let others = add_cars(&mut both, start, Place::lane(beyond, -1, 145.0));
    let alone = without(&both, &others);
    let level = DynamicsLevel::Lane;
    let own = &own[&roads[0]];
    assert!(traces(&both, own, level) != traces(&alone, own, level));
}
