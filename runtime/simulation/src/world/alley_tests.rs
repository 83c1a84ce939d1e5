//! Tests with two streams of cars on a street whose middle is too narrow for two cars.

use super::*;
use crate::builtin_modules;
use crate::traffic::SwitchedOff;
use roadwright_geometry::{DVec2, Pose, ReferenceLine, Segment};
use roadwright_scenario::alleys::{AlleySide, Passing};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::vehicle_file::{FileReference, VehicleFile};
use roadwright_scenario::{
    Agent, AgentId, CrossSection, DynamicsLevel, Edit, Flow, Place, Poly3, RoadClass, RoadId,
    VehicleType,
};
use std::path::Path;
use std::sync::Arc;

/// A double-decker bus.
const BUS: &str = "enviro_400";
/// Time after which no more vehicles spawn, s.
const END: f64 = 600.0;

fn street(width: f64) -> RoadStyle {
    RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 8.3,
        section: CrossSection::driving(1, 1, width),
    }
}

fn with_vehicles() -> Scenario {
    let mut scenario = Scenario::new("alley");
    crate::testing::equip(&mut scenario);
    scenario
}

fn draw(scenario: &mut Scenario, x: f64, y: f64, to_x: f64, to_y: f64, width: f64) -> RoadId {
    let from = (x, y);
    let to = (to_x, to_y);
    let line = ReferenceLine::straight(DVec2::from(from), DVec2::from(to)).unwrap();
    let edit = draw::road(scenario, &line, &street(width)).unwrap();
    scenario.apply(edit).unwrap();
    let roads = scenario.network().roads();
    roads.map(|(id, _)| id).max().unwrap()
}

/// Sets the lane width to 3.25 m, and to 1.65 m from 120 to 180 m.
fn narrow_middle(scenario: &mut Scenario, road: RoadId) {
    narrow_to(scenario, road, 1.65);
}

/// Sets the lane width to 3.25 m, and to `width` from 120 to 180 m.
fn narrow_to(scenario: &mut Scenario, road: RoadId, width: f64) {
    let slope = 0.1 * (3.25 - width);
    let piece = |s: f64, a: f64, b: f64| Poly3 {
        s: s.into(),
        a: a.into(),
        b: b.into(),
        ..Poly3::constant(a)
    };
    let mut changed = scenario.network().road(road).unwrap().clone();
    for section in &mut changed.lane_sections {
        for lane in &mut section.lanes {
            lane.width = vec![
                piece(0.0, 3.25, 0.0),
                piece(110.0, 3.25, -slope),
                piece(120.0, width, 0.0),
                piece(180.0, width, slope),
                piece(190.0, 3.25, 0.0),
            ];
        }
    }
    scenario
        .apply(Edit::Road(road, Some(Box::new(changed))))
        .unwrap();
}

fn flow(scenario: &mut Scenario, vehicle: &str, from: Place, to: Place, rate: f64) {
    let flow = Flow {
        vehicle: vehicle.into(),
        stack: "idm".into(),
        origin: from,
        destination: to,
        rate_per_hour: rate.into(),
        begin: 0.0.into(),
        end: END.into(),
        dynamics: None,
    };
    let id = scenario.next_flow_id();
    scenario
        .apply(Edit::Flow(id, Some(Box::new(flow))))
        .unwrap();
}

/// Creates a street of 300 m with a stream of cars in each direction.
fn alley(rate: f64) -> Scenario {
    let mut scenario = with_vehicles();
    let road = draw(&mut scenario, 0.0, 0.0, 300.0, 0.0, 3.25);
    narrow_middle(&mut scenario, road);
    let (along, against) = (-1, 1);
    for (lane, from, to) in [(along, 10.0, 290.0), (against, 290.0, 10.0)] {
        let places = [from, to].map(|s| Place::lane(road, lane, s));
        let [from, to] = places;
        flow(&mut scenario, "car", from, to, rate);
    }
    scenario
}

fn world(scenario: &Scenario, level: DynamicsLevel, threads: usize) -> World {
    let options = RunOptions {
        dt: Some(0.1),
        dynamics: Some(level),
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
fn two_streams_pass_an_alley_by_turns() {
    let scenario = alley(250.0);
    for level in [DynamicsLevel::Lane, DynamicsLevel::OneTrack] {
        let [heeded, left] = [SwitchedOff::Nothing, SwitchedOff::Everything].map(|switched_off| {
            let mut world = world(&scenario, level, 1);
            world.traffic.claims.alleys.switched_off = switched_off;
            run_to(&mut world, 1200.0);
            world.summary()
        });
        // Comparison: if vehicles do not wait, bodies touch.
        assert!(!left.collisions.is_empty(), "{level}");
        assert_eq!(heeded.collisions, [], "{level}");
        let (agents, law) = (heeded.agents, heeded.law);
        assert_eq!(
            (agents.active, agents.waiting, agents.arrived),
            (0, 0, agents.spawned),
            "{level}: {agents:?}"
        );
        assert!(agents.spawned > 60, "{agents:?}");
        // After a vehicle has waited for six seconds, the vehicles inside leave and only a few
        // others go before it.
        let waits = crate::alley_waits(&Ground::new(&scenario), RoadId(1));
        let [wait] = &waits[..] else {
            panic!("{waits:?}");
        };
        // Two lanes lead to an alley of about 74 m, so the bound is 6 + 3 * 2 * (74 + 12) / 3 s.
        assert!((170.0..190.0).contains(&wait.bound), "{wait:?}");
        assert!(
            law.longest_wait < 60.0 && law.longest_wait < wait.bound,
            "{level}: {law:?}"
        );
        assert_eq!((law.breaches, law.gridlocks), (0, 0), "{level}: {law:?}");
    }
}

/// Creates a street with two alleys of 60 m that meet at a side street, with no place to stand between them, and
/// a stream of cars in each direction.
fn two_alleys(rate: f64) -> Scenario {
    let mut scenario = with_vehicles();
    let west = draw(&mut scenario, -200.0, 0.0, -60.0, 0.0, 3.25);
    draw(&mut scenario, -60.0, 0.0, 0.0, 0.0, 1.65);
    draw(&mut scenario, 0.0, 0.0, 60.0, 0.0, 1.65);
    let east = draw(&mut scenario, 60.0, 0.0, 200.0, 0.0, 3.25);
    draw(&mut scenario, 0.0, -100.0, 0.0, 0.0, 3.25);
    let (along, against) = (-1, 1);
    let trips = [
        (
            Place::lane(west, along, 10.0),
            Place::lane(east, along, 130.0),
        ),
        (
            Place::lane(east, against, 130.0),
            Place::lane(west, against, 10.0),
        ),
    ];
    for (from, to) in trips {
        flow(&mut scenario, "car", from, to, rate);
    }
    scenario
}

/// A vehicle reserves everything up to a place with room before it enters an alley. Without this
/// reservation, vehicles that were let into the two alleys from both ends are stuck between them.
#[test]
fn alleys_that_touch_deadlock_only_without_the_reservation_beyond() {
    let scenario = two_alleys(150.0);
    let [kept, dropped] = [SwitchedOff::Nothing, SwitchedOff::Beyond].map(|switched_off| {
        let mut world = world(&scenario, DynamicsLevel::Lane, 1);
        assert_eq!(world.ground().alleys().list().len(), 2);
        world.traffic.claims.alleys.switched_off = switched_off;
        run_to(&mut world, 1200.0);
        world.summary()
    });
    let (agents, law) = (kept.agents, kept.law);
    assert_eq!(
        (agents.active, agents.queued, law.gridlocks),
        (0, 0, 0),
        "{agents:?} {law:?}"
    );
    assert!(agents.arrived > 40, "{agents:?}");
    assert_eq!(kept.collisions, []);
    // Comparison: without the reservation, they wait for each other.
    let (agents, law) = (dropped.agents, dropped.law);
    assert!(agents.active > 1, "{agents:?}");
    assert!(law.gridlocks > 0, "{law:?}");
}

/// After an edit elsewhere, vehicles that were let in and have not reached their alley keep it, and
/// waiting vehicles keep their waiting times.
#[test]
fn held_alleys_and_waiting_times_last_over_an_edit_of_another_road() {
    let mut scenario = alley(400.0);
    let mut world = world(&scenario, DynamicsLevel::Lane, 1);
    let without = scenario.clone();
    draw(&mut scenario, 0.0, 500.0, 100.0, 500.0, 3.25);
    let with = scenario;
    let holders = |world: &World| {
        let alleys = &world.traffic.claims.alleys;
        let [one, other] = AlleySide::both(0).map(|side| alleys.holders(side).collect::<Vec<_>>());
        (one, other, alleys.waiting_since())
    };
    let (mut held, mut waited, mut has_road) = (0, 0, false);
    while world.time() < 300.0 {
        let next = world.time() + 1.0;
        run_to(&mut world, next);
        let before = holders(&world);
        let [from, to] = if has_road {
            [&with, &without]
        } else {
            [&without, &with]
        };
        world.update(from, to, &builtin_modules()).unwrap();
        has_road = !has_road;
        assert_eq!(holders(&world), before, "{} s", world.time());
        held += before.0.len() + before.1.len();
        waited += before.2.len();
    }
    assert!(held > 100 && waited > 100, "{held} {waited}");
    assert_eq!(world.summary().collisions, []);
    // Turns are the same as without edits: a waiting vehicle is next after six seconds.
    let law = world.summary().law;
    assert!(law.longest_wait < 60.0, "{law:?}");
}

#[test]
fn who_waits_for_an_alley_is_told_for_whom() {
    let mut world = world(&alley(400.0), DynamicsLevel::Lane, 1);
    let mut told = 0;
    for _ in 0..3000 {
        world.step();
        let seen = world.inspect_road(RoadId(1)).unwrap();
        let [alley] = &seen.alleys[..] else {
            panic!("{:?}", seen.alleys);
        };
        assert!(alley.span.0 > 90.0 && alley.span.1 < 210.0, "{alley:?}");
        assert!(
            alley.inside.iter().any(Vec::is_empty),
            "one direction at a time: {alley:?}"
        );
        for (waiting, oncoming) in alley.waiting.iter().zip(alley.inside.iter().rev()) {
            for &agent in waiting {
                let waits = world.inspect(agent).and_then(|seen| seen.waits).unwrap();
                let text = waits.to_string();
                assert!(
                    text.starts_with("its turn in the alley of road 1"),
                    "{text}"
                );
                assert_eq!(&waits.whom, oncoming);
                told += 1;
            }
        }
    }
    assert!(told > 100, "{told}");
}

/// Creates a square of streets with sides of 200 m. The lanes of the street between the lower
/// corners have the given width.
fn square(width: f64) -> Scenario {
    let mut scenario = with_vehicles();
    draw(&mut scenario, -100.0, 0.0, 0.0, 0.0, 3.25);
    draw(&mut scenario, 0.0, 0.0, 200.0, 0.0, width);
    draw(&mut scenario, 200.0, 0.0, 300.0, 0.0, 3.25);
    draw(&mut scenario, 0.0, 0.0, 0.0, 200.0, 3.25);
    draw(&mut scenario, 0.0, 200.0, 200.0, 200.0, 3.25);
    draw(&mut scenario, 200.0, 200.0, 200.0, 0.0, 3.25);
    scenario
}

#[test]
fn a_street_that_is_narrow_all_along_is_waited_for_at_its_stop_lines_and_buses_drive_round() {
    // The direct route is 380 m long, and the route around the square is 400 m longer.
    for (vehicle, rate, ways) in [
        ("car", 120.0, 300.0..450.0),
        ("enviro_400", 30.0, 700.0..850.0),
    ] {
        let mut scenario = square(2.0);
        let (west, east) = (RoadId(1), RoadId(3));
        let ends = [
            (Place::lane(west, -1, 10.0), Place::lane(east, -1, 90.0)),
            (Place::lane(east, 1, 90.0), Place::lane(west, 1, 10.0)),
        ];
        for (from, to) in ends {
            flow(&mut scenario, vehicle, from, to, rate);
        }
        let mut world = world(&scenario, DynamicsLevel::Lane, 1);
        run_to(&mut world, 1800.0);
        let summary = world.summary();
        assert_eq!(summary.collisions, [], "{vehicle}");
        let agents = summary.agents;
        assert_eq!(
            (agents.active, agents.arrived),
            (0, agents.spawned),
            "{vehicle}: {agents:?}"
        );
        let drives = world.drives();
        assert!(drives.len() > 6);
        let driven: Vec<f64> = drives.iter().map(|drive| drive.distance).collect();
        // A few cars may reroute while the narrow street is occupied.
        let as_expected = driven.iter().filter(|way| ways.contains(*way)).count();
        assert!(
            10 * as_expected >= 9 * driven.len(),
            "{vehicle}: {driven:?}"
        );
        let law = summary.law;
        assert_eq!((law.breaches, law.gridlocks), (0, 0), "{vehicle}: {law:?}");
    }
}

#[test]
fn alleys_are_the_same_with_any_number_of_threads_and_after_a_save() {
    let scenario = alley(300.0);
    let [mut one, mut three] = [1, 3].map(|threads| world(&scenario, DynamicsLevel::Lane, threads));
    run_to(&mut one, 100.05);
    run_to(&mut three, 100.05);
    assert_eq!(one.state_hash(), three.state_hash());
    let saved = one.save().unwrap();
    let options = RunOptions {
        dt: Some(0.1),
        dynamics: Some(DynamicsLevel::Lane),
        verify: true,
        ..RunOptions::default()
    };
    let (ground, registry) = (Ground::new(&scenario), builtin_modules());
    let (mut restored, _) = World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
    for _ in 0..2000 {
        one.step();
        restored.step();
    }
    assert_eq!(one.state_hash(), restored.state_hash());
}

/// Creates a narrow street of 120 m along the x axis between two wide streets, with side streets at
/// the given distance. Two cars start near its ends and would drive towards each other. Asserts
/// that only one of them is spawned at first.
fn assert_do_not_face_each_other(between: f64) {
    let mut scenario = with_vehicles();
    let west = draw(&mut scenario, -160.0, 0.0, -60.0, 0.0, 3.25);
    let pieces = (120.0 / between).round() as u32;
    let narrow: Vec<RoadId> = (0..pieces)
        .map(|piece| {
            let x = f64::from(piece) * between - 60.0;
            draw(&mut scenario, x, 0.0, x + between, 0.0, 1.65)
        })
        .collect();
    let east = draw(&mut scenario, 60.0, 0.0, 160.0, 0.0, 3.25);
    for piece in 1..pieces {
        let x = f64::from(piece) * between - 60.0;
        draw(&mut scenario, x, -100.0, x, 0.0, 3.25);
    }
    let (along, against) = (-1, 1);
    let (left, right) = (narrow[0], narrow[narrow.len() - 1]);
    let trips = [
        (
            Place::lane(left, along, 0.5 * between),
            Place::lane(east, along, 90.0),
        ),
        (
            Place::lane(right, against, 0.5 * between),
            Place::lane(west, against, 10.0),
        ),
    ];
    put_trips(&mut scenario, trips);
    let mut world = world(&scenario, DynamicsLevel::OneTrack, 1);
    assert_eq!(world.ground().alleys().list().len(), narrow.len());
    world.step();
    // One car waits until the other has left.
    assert_eq!(world.snapshot().vehicles.len(), 1);
    run_to(&mut world, 120.0);
    let summary = world.summary();
    assert_eq!(summary.agents.arrived, 2, "{:?}", summary.agents);
    assert!(summary.collisions.is_empty());
}

/// Adds cars that depart immediately.
fn put_trips(scenario: &mut Scenario, trips: [(Place, Place); 2]) {
    for (number, (start, destination)) in (1..).zip(trips) {
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: None,
            start,
            via: Vec::new(),
            destination: Some(destination),
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        let edit = Edit::Agent(AgentId(number), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
}

#[test]
fn who_begins_in_an_alley_leaves_it_through_the_next_one_before_who_waits_for_both() {
    // There are two alleys without a place to wait between them. One car approaches the first alley
    // and needs both. The other car starts at the far end of the second alley, and drives in the
    // opposite direction.
    let mut scenario = with_vehicles();
    let west = draw(&mut scenario, -160.0, 0.0, -60.0, 0.0, 3.25);
    draw(&mut scenario, -60.0, 0.0, 0.0, 0.0, 1.65);
    let second = draw(&mut scenario, 0.0, 0.0, 150.0, 0.0, 1.65);
    let east = draw(&mut scenario, 150.0, 0.0, 250.0, 0.0, 3.25);
    let (along, against) = (-1, 1);
    let trips = [
        (
            Place::lane(west, along, 85.0),
            Place::lane(east, along, 90.0),
        ),
        (
            Place::lane(second, against, 140.0),
            Place::lane(west, against, 10.0),
        ),
    ];
    put_trips(&mut scenario, trips);
    let mut world = world(&scenario, DynamicsLevel::OneTrack, 1);
    assert_eq!(world.ground().alleys().list().len(), 2);
    world.step();
    assert_eq!(world.snapshot().vehicles.len(), 2);
    run_to(&mut world, 200.0);
    let summary = world.summary();
    assert_eq!(summary.agents.arrived, 2, "{:?}", summary.agents);
    assert!(summary.collisions.is_empty());
    let longest = summary.law.longest_wait;
    assert!((10.0..60.0).contains(&longest), "{longest} s");
}

#[test]
fn two_that_begin_in_alleys_on_both_sides_of_a_junction_do_not_face_each_other() {
    assert_do_not_face_each_other(60.0);
}

#[test]
fn two_that_begin_in_alleys_far_from_each_other_without_a_place_between_do_not_face_each_other() {
    assert_do_not_face_each_other(20.0);
}

/// Creates a street with a bend of 90 degrees and a radius of 14 m, with the given lane width and a stream of
/// vehicles in each direction. The second stream drives on the inside of the bend.
fn bend(width: f64, vehicles: [&str; 2], rate: f64) -> Scenario {
    bend_of(14.0, width, vehicles, rate)
}

/// Like [`bend`], but with the given radius, m.
fn bend_of(radius: f64, width: f64, vehicles: [&str; 2], rate: f64) -> Scenario {
    let mut scenario = with_vehicles();
    let segments = vec![
        Segment::Line { length: 150.0 },
        Segment::Arc {
            length: radius * std::f64::consts::FRAC_PI_2,
            curvature: 1.0 / radius,
        },
        Segment::Line { length: 150.0 },
    ];
    let line = ReferenceLine::new(Pose::new(0.0, 0.0, 0.0), segments).unwrap();
    let edit = draw::road(&scenario, &line, &street(width)).unwrap();
    scenario.apply(edit).unwrap();
    let (road, found) = scenario.network().roads().next().unwrap();
    let far = found.length() - 20.0;
    for (vehicle, lane, from, to) in [(vehicles[0], -1, 20.0, far), (vehicles[1], 1, far, 20.0)] {
        let [from, to] = [from, to].map(|s| Place::lane(road, lane, s));
        flow(&mut scenario, vehicle, from, to, rate);
    }
    scenario
}

#[test]
fn a_bus_and_cars_pass_a_bend_by_turns_and_cars_pass_each_other() {
    for level in [DynamicsLevel::Lane, DynamicsLevel::OneTrack] {
        let run = |vehicles: [&str; 2], switched_off: SwitchedOff| {
            let mut world = world(&bend(3.25, vehicles, 120.0), level, 1);
            world.traffic.claims.alleys.switched_off = switched_off;
            run_to(&mut world, 1200.0);
            let summary = world.summary();
            let agents = summary.agents;
            assert_eq!(
                (agents.active, agents.waiting),
                (0, 0),
                "{level}: {agents:?}"
            );
            assert!(agents.spawned > 25, "{agents:?}");
            (summary.collisions.len(), summary.law.longest_wait)
        };
        let mixed = ["car", BUS];
        // Comparison: if vehicles do not wait, the fronts of buses touch cars.
        assert!(run(mixed, SwitchedOff::Everything).0 > 0, "{level}");
        let (contacts, longest) = run(mixed, SwitchedOff::Nothing);
        assert_eq!(contacts, 0, "{level}");
        assert!(longest > 0.0 && longest < 60.0, "{level}: {longest} s");
        // Cars do not wait for each other, whether or not there are a few buses in the world.
        assert_eq!(
            run(["car", "car"], SwitchedOff::Nothing),
            (0, 0.0),
            "{level}"
        );
        let mut few = bend(3.25, ["car", "car"], 120.0);
        let road = few.network().roads().next().unwrap().0;
        let bus = Agent {
            vehicle: BUS.into(),
            ..parked(road)
        };
        let edit = Edit::Agent(AgentId(1000), Some(Box::new(bus)));
        few.apply(edit).unwrap();
        let mut world = world(&few, level, 1);
        run_to(&mut world, 1200.0);
        let law = world.summary().law;
        assert_eq!(law.longest_wait, 0.0, "{level}: {law:?}");
    }
}

/// Creates an agent that departs only when all others have left.
fn parked(road: RoadId) -> Agent {
    Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start: Place::lane(road, -1, 20.0),
        via: Vec::new(),
        destination: Some(Place::lane(road, -1, 60.0)),
        depart: 1000.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    }
}

#[test]
fn two_buses_pass_a_street_by_turns_in_which_a_bus_and_a_car_fit() {
    let street = |vehicles: [&str; 2]| {
        let mut scenario = with_vehicles();
        // The street is wide at both ends, so that there is a place to wait.
        let road = draw(&mut scenario, 0.0, 0.0, 300.0, 0.0, 3.25);
        narrow_to(&mut scenario, road, 2.78);
        for (vehicle, lane, from, to) in [
            (vehicles[0], -1, 20.0, 280.0),
            (vehicles[1], 1, 280.0, 20.0),
        ] {
            let [from, to] = [from, to].map(|s| Place::lane(road, lane, s));
            flow(&mut scenario, vehicle, from, to, 120.0);
        }
        scenario
    };
    let waits = |vehicles: [&str; 2]| {
        let mut world = world(&street(vehicles), DynamicsLevel::Lane, 1);
        run_to(&mut world, 1200.0);
        let summary = world.summary();
        assert_eq!(summary.collisions, [], "{vehicles:?}");
        assert_eq!(summary.agents.active, 0, "{vehicles:?}");
        summary.law.longest_wait
    };
    assert_eq!(waits([BUS, "car"]), 0.0);
    let longest = waits([BUS, BUS]);
    assert!(longest > 0.0 && longest < 60.0, "{longest} s");
}

#[test]
fn cars_move_over_in_a_tight_bend_instead_of_taking_turns() {
    for level in [DynamicsLevel::Lane, DynamicsLevel::OneTrack] {
        for (radius, width) in [(10.0, 2.8), (12.0, 2.7)] {
            let scenario = bend_of(radius, width, ["car", "car"], 250.0);
            let mut world = world(&scenario, level, 1);
            assert_eq!(world.ground().alleys().list(), []);
            let [place] = world.ground().alleys().tight() else {
                panic!("{:?}", world.ground().alleys().tight());
            };
            let farthest = place.offsets.iter().copied().fold(0.0, f64::min);
            assert!(farthest < -0.03, "{farthest}");
            let mut reached: f64 = 0.0;
            while world.time() < 1200.0 && !world.is_over() {
                world.step();
                let aside =
                    (0..world.agents.aside.len()).map(|index| world.agents.aside[index].now);
                reached = aside.fold(reached, |least, now| least.min(now.into()));
            }
            assert!(
                (reached - farthest).abs() < 1e-3,
                "{level}: {reached} {farthest}"
            );
            let summary = world.summary();
            assert_eq!(summary.collisions, [], "{level}, {radius} m");
            let agents = summary.agents;
            assert_eq!(
                (agents.active, agents.waiting),
                (0, 0),
                "{level}: {agents:?}"
            );
            assert!(agents.spawned > 60, "{agents:?}");
            assert_eq!(summary.law.longest_wait, 0.0, "{level}, {radius} m");
        }
    }
}

#[test]
fn a_car_that_appears_ahead_of_one_that_was_let_in_does_not_lock_the_alley() {
    let between = |range: std::ops::Range<u32>| range.map(f64::from);
    let mut late = 0;
    for depart in between(0..16) {
        let mut scenario = with_vehicles();
        let road = draw(&mut scenario, 0.0, 0.0, 300.0, 0.0, 3.25);
        narrow_middle(&mut scenario, road);
        let cars = [
            (-1, 10.0, 290.0, 0.0),
            (1, 290.0, 10.0, 1.0),
            (-1, 85.0, 290.0, depart),
        ];
        for (number, (lane, start, destination, depart)) in (1..).zip(cars) {
            let agent = Agent {
                start: Place::lane(road, lane, start),
                destination: Some(Place::lane(road, lane, destination)),
                depart: depart.into(),
                ..parked(road)
            };
            let edit = Edit::Agent(AgentId(number), Some(Box::new(agent)));
            scenario.apply(edit).unwrap();
        }
        let mut world = world(&scenario, DynamicsLevel::Lane, 1);
        run_to(&mut world, 300.0);
        let summary = world.summary();
        assert_eq!(
            summary.agents.arrived, 3,
            "{depart} s: {:?}",
            summary.agents
        );
        assert!(summary.collisions.is_empty(), "{depart} s");
        late += u32::from(summary.law.longest_wait > 5.0);
    }
    // In some of these runs, the oncoming car had to wait.
    assert!(late > 2, "{late}");
}

/// A car with a caravan.
fn caravan() -> VehicleType {
    let path = "../../scenarios/vehicles/escort-caravan.vehicle.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let vehicle = VehicleFile::load(&path).unwrap();
    VehicleType {
        file: Some(Arc::new(FileReference {
            path: "escort-caravan.vehicle.json".into(),
            hash: String::new(),
            was: None,
            vehicle: vehicle.clone(),
        })),
        ..vehicle.vehicle_type()
    }
}

#[test]
fn a_trailer_makes_a_bend_an_alley_in_which_cars_pass_each_other() {
    let passing = |vehicle: &str| {
        let mut scenario = bend_of(15.0, 2.7, ["car", "car"], 60.0);
        let edit = Edit::VehicleType("caravan".into(), Some(Box::new(caravan())));
        scenario.apply(edit).unwrap();
        let road = scenario.network().roads().next().unwrap().0;
        let agent = Agent {
            vehicle: vehicle.into(),
            ..parked(road)
        };
        let edit = Edit::Agent(AgentId(1000), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
        let ground = Ground::new(&scenario);
        let alleys = ground.alleys().list().iter();
        alleys.map(|alley| alley.passing).collect::<Vec<_>>()
    };
    assert_eq!(passing("car"), []);
    assert!(passing("caravan").contains(&Passing::Cars));
}
