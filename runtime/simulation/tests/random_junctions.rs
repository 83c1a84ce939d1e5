//! Tests of traffic at random junctions with 2 to 9 arms, which are 25 to 335 degrees apart and 3
//! to 30 m wide. They cover left-hand and right-hand traffic and all types of control, with more
//! vehicles than can pass.
//!
//! `ROADWRIGHT_JUNCTIONS=1000 cargo test -p roadwright-simulation --test all random_junctions`
//! tests more junctions, and `ROADWRIGHT_SEED=9` tests different ones.

use crate::common::{add_flow, cars};
use crate::scenarios::Star;
use glam::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_scenario::junction::layout;
use roadwright_scenario::*;
use roadwright_simulation::{
    Ending, JunctionWatch, RunOptions, Session, Ticket, World, builtin_modules,
};
use roadwright_testing::{scaled, seed};

/// Minimum angle between two arms, degrees.
const LEAST_GAP: f64 = 25.0;
/// Demand on each lane that leads to the junction, vehicles/h.
const RATE: f64 = 900.0;
/// Fraction of buses.
const BUSES: f64 = 0.1;
/// Duration of a run, s.
const DURATION: f64 = 120.0;
/// Radius below which no car can follow a connection, m. `check` reports such connections.
const TIGHT: f64 = 2.5;
/// The default seed.
const SEED: u64 = 8;
/// Number of a junction with the default seed that has a connection too tight for any car.
const TOO_TIGHT: u64 = 306;
/// Number of a junction with the default seed that is a bend between two streets.
const BEND: u64 = 112;
/// Maximum distance from the centre at which contacts are counted, m. Farther out, at the ends of
/// roads, some vehicles turn around.
const NEAR: f64 = 110.0;
/// Tolerated contact depth between a vehicle that has stopped half-way through a lane change and a
/// vehicle that passes it, m.
const HAIR: f64 = 0.03;

const CONTROLS: [Option<Control>; 7] = [
    None,
    Some(Control::Uncontrolled),
    Some(Control::Priority),
    Some(Control::Stop),
    Some(Control::AllWayStop),
    Some(Control::Signals),
    Some(Control::MiniRoundabout),
];

/// Creates a star of roads full of traffic. Also returns the node in its centre.
fn busy(seed: u64, number: u64) -> (Scenario, NodeId) {
    let mut random = Stream::new(seed, "driven junctions", number);
    let star = Star::random(&mut random, LEAST_GAP);
    let (mut scenario, roads) = star.plain();
    crate::common::equip(&mut scenario, "crossroads");
    let network = scenario.network();
    let middle = network
        .nodes()
        .find(|(id, _)| network.ends_at(*id).len() == roads.len());
    let (node, rest) = middle.map(|(id, node)| (id, node.clone())).unwrap();
    let control = CONTROLS[number as usize % CONTROLS.len()];
    let rules = JunctionRules {
        control,
        ..JunctionRules::default()
    };
    let edit = Edit::Node(node, Some(Node { rules, ..rest }));
    scenario.apply(edit).unwrap();
    fill(&mut scenario, &star, &roads);
    (scenario, node)
}

/// Adds a flow from each lane that leads to the junction into every other road. The destination lanes
/// alternate between the lanes of that road.
fn fill(scenario: &mut Scenario, star: &Star, roads: &[RoadId]) {
    let lanes = |leg: usize, enters: bool| -> Vec<Place> {
        let road = scenario.network().road(roads[leg]).unwrap();
        let is_inward = star.legs[leg].inward;
        let is_right = (star.side == DrivingSide::Right) == (is_inward == enters);
        let from_end = if enters { 12.0 } else { 25.0 };
        let s = if is_inward {
            from_end
        } else {
            road.length() - from_end
        };
        (1..=4)
            .map(|lane| if is_right { -lane } else { lane })
            .filter(|lane| road.lane_band(*lane, s).is_some())
            .map(|lane| Place::lane(roads[leg], lane, s))
            .collect()
    };
    let mut flows = Vec::new();
    for from in 0..roads.len() {
        for to in (0..roads.len()).filter(|to| *to != from) {
            let targets = lanes(to, false);
            for (turn, origin) in lanes(from, true).into_iter().enumerate() {
                let Some(target) = targets.get(turn % targets.len().max(1)) else {
                    continue;
                };
                for (vehicle, share) in [("car", 1.0 - BUSES), ("enviro_400", BUSES)] {
                    let rate = RATE * share / (roads.len() - 1) as f64;
                    flows.push(Flow {
                        vehicle: vehicle.into(),
                        ..cars(origin, *target, rate)
                    });
                }
            }
        }
    }
    for flow in flows {
        add_flow(scenario, flow);
    }
}

/// Returns the numbers of the tested junctions. A nightly run tests `count` of them.
fn numbers(count: u64) -> std::ops::Range<u64> {
    let wanted = std::env::var("ROADWRIGHT_JUNCTIONS").ok();
    0..wanted.map_or_else(|| scaled(count), |text| text.parse().unwrap())
}

fn world(scenario: &Scenario) -> World {
    world_on(scenario, 1)
}

fn world_on(scenario: &Scenario, threads: usize) -> World {
    let options = RunOptions {
        threads,
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        ..RunOptions::default()
    };
    World::new(scenario, &builtin_modules(), &options).unwrap()
}

/// Whether at least some car can follow all connections. `check` reports connections that no car
/// can follow.
fn can_be_driven(scenario: &Scenario) -> bool {
    let layout = layout(scenario.network(), scenario.about());
    let paths = layout.junctions.iter().flat_map(|junction| &junction.paths);
    let mut tightest = paths.map(|path| path.min_radius());
    tightest.all(|radius| radius > TIGHT)
}

#[test]
fn nobody_touches_anybody_or_breaks_the_law() {
    let (mut passed, mut judged, mut touched_where_tight) = (0, 0, 0);
    for number in numbers(100) {
        let (scenario, _) = busy(seed(SEED), number);
        let mut session = Session::new(world(&scenario));
        let mut watch = JunctionWatch::default();
        let goes_on = |_: &World| true;
        session.run(Ending::AtTime(DURATION), &mut [&mut watch], goes_on);
        let summary = session.world().summary();
        let law = summary.law;
        let broken = (law.breaches, law.red_passed, law.stops_missed);
        assert_eq!(broken, (0, 0, 0), "{number}");
        // No vehicle has to brake harder than 5 m/s^2 in order to obey the junctions.
        assert_eq!(law.held_by_law, 0, "{number}");
        for junction in watch.figures(session.world()) {
            passed += junction.approaches.iter().map(|a| a.passed).sum::<u64>();
            let (wait, bound) = (junction.longest_wait, junction.bound);
            assert!(wait <= bound, "{number}: {wait} s, the bound is {bound} s");
        }
        let deepest = deepest(session.world());
        if can_be_driven(&scenario) {
            judged += 1;
            assert!(deepest < HAIR, "{number}: {:?}", summary.collisions);
        } else {
            touched_where_tight += usize::from(deepest >= HAIR);
        }
    }
    println!(
        "{passed} passed, {judged} junctions without contacts, {touched_where_tight} others with some"
    );
    assert!(passed > 30 * judged, "{passed} passed");
    assert!(5 * judged > numbers(100).end, "{judged} are judged");
}

/// Control test: contacts are detected on connections that are too tight for any car, where bodies
/// do touch.
#[test]
fn contacts_are_seen() {
    let (scenario, _) = busy(SEED, TOO_TIGHT);
    assert!(!can_be_driven(&scenario));
    let mut world = world(&scenario);
    while world.time() < DURATION {
        world.step();
    }
    assert!(deepest(&world) > HAIR, "{} m", deepest(&world));
}

/// Returns the depth of the deepest contact near the centre of a world, excluding the ends of its
/// roads, m.
fn deepest(world: &World) -> f64 {
    let all = world.summary().collisions;
    let near = all.iter().filter(|c| DVec2::new(c.x, c.y).length() < NEAR);
    near.map(|contact| contact.depth).fold(0.0, f64::max)
}

/// In the bend between two streets, only buses conflict with other vehicles. The edit that adds the first bus
/// makes all vehicles request grants.
#[test]
fn buses_that_an_edit_brings_touch_nobody() {
    let (scenario, _) = busy(SEED, BEND);
    let mut without = scenario.clone();
    let buses = scenario.flows().iter();
    for (id, _) in buses.filter(|(_, flow)| flow.vehicle != "car") {
        without.apply(Edit::Flow(*id, None)).unwrap();
    }
    let mut world = world(&without);
    while world.time() < DURATION {
        world.step();
        if world.time() > 10.0 && world.time() < 10.15 {
            world
                .update(&without, &scenario, &builtin_modules())
                .unwrap();
        }
    }
    let snapshot = world.snapshot();
    assert!(snapshot.vehicles.iter().any(|vehicle| vehicle.length > 9.0));
    assert!(deepest(&world) < HAIR, "{} m", deepest(&world));
}

#[test]
fn tickets_keep_their_order_and_are_kept_inside() {
    let mut kept = 0;
    let numbers = numbers(20);
    let count = numbers.end;
    for number in numbers {
        let (scenario, node) = busy(seed(SEED), number);
        let mut world = world(&scenario);
        let mut before: Vec<Ticket> = Vec::new();
        while world.time() < 60.0 {
            world.step();
            let tickets = world.inspect_junction(node).unwrap().tickets;
            let key = |ticket: &Ticket| (ticket.agent, ticket.path);
            let place = |one: &Ticket| tickets.iter().position(|ticket| key(ticket) == key(one));
            let places: Vec<usize> = before.iter().filter_map(place).collect();
            assert!(places.is_sorted(), "{number} at {}", world.time());
            let snapshot = world.snapshot();
            for ticket in before.iter().filter(|ticket| ticket.has_entered) {
                let now = tickets.iter().find(|now| key(now) == key(ticket));
                // The ticket of a vehicle inside is never revoked. It ends when the vehicle's tail has left.
                let vehicle = snapshot.vehicle(ticket.agent);
                let is_inside = vehicle.is_some_and(|vehicle| vehicle.lane.is_none());
                assert!(now.is_some() || !is_inside, "{number}: {ticket:?}");
                assert!(
                    now.is_none_or(|now| now.has_entered),
                    "{number}: {ticket:?}"
                );
                kept += 1;
            }
            before = tickets;
        }
    }
    assert!(kept > 70 * count, "{kept}");
}

#[test]
fn junctions_are_the_same_for_all_numbers_of_threads() {
    for number in numbers(4) {
        let (scenario, _) = busy(seed(SEED), number);
        let hash = |threads: usize| {
            let mut world = world_on(&scenario, threads);
            while world.time() < 60.0 {
                world.step();
            }
            world.state_hash()
        };
        let one = hash(1);
        assert_eq!((hash(2), hash(8)), (one, one), "{number}");
    }
}
