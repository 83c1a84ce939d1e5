//! Tests of uncoupled trailers: vehicles of other types can couple them, and pedestrians stop for them.

use crate::common::*;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_scenario::junction::layout;
use roadwright_scenario::*;
use roadwright_simulation::{
    CouplingError, HandControls, ModuleOverrides, PERSON_RADIUS, PersonRecord, RunOptions, World,
    builtin_modules,
};
use std::collections::BTreeSet;

/// Departure time of the second vehicle, s.
const COMES: f64 = 25.0;

/// Creates a vehicle that drives off to the east, and another vehicle that spawns in its place.
fn yard(first: &VehicleType, second: &VehicleType) -> Scenario {
    let mut scenario = Scenario::new("yard");
    let stack = Edit::Stack(
        "pursuit".into(),
        Some(Box::new(Stack::with_controller("pursuit"))),
    );
    scenario.apply(stack).unwrap();
    for (number, kind, x, depart) in [(1, first, 0.0, 0.0), (2, second, 14.0, COMES)] {
        let key = format!("type {number}");
        let agent = Agent {
            name: String::new(),
            vehicle: key.clone(),
            stack: "pursuit".into(),
            dynamics: None,
            start: Place::ground(x, 0.0, 0.0),
            via: Vec::new(),
            destination: Some(Place::ground(900.0, 0.0, 0.0)),
            depart: depart.into(),
            speed: 0.0.into(),
            repeat: None.into(),
        };
        let kind = Edit::VehicleType(key, Some(Box::new(kind.clone())));
        scenario.apply(kind).unwrap();
        let agent = Edit::Agent(AgentId(number), Some(Box::new(agent)));
        scenario.apply(agent).unwrap();
    }
    scenario
}

fn options(threads: usize) -> RunOptions {
    RunOptions {
        dynamics: Some(DynamicsLevel::OneTrack),
        dt: Some(0.02),
        threads,
        ..straight()
    }
}

fn run(world: &mut World, seconds: f64) {
    let steps = (seconds / world.dt()).round() as u64;
    (0..steps).for_each(|_| world.step());
}

fn drive(world: &mut World, pedals: f64, seconds: f64) {
    let steering = 0.0;
    assert!(world.drive_by_hand(
        2,
        HandControls {
            pedals,
            steering,
            ..HandControls::default()
        }
    ));
    run(world, seconds);
}

/// Returns the distance between the coupling of vehicle 2, which is `ahead` metres ahead of its
/// rear axle, and the coupling of the uncoupled trailer, m.
fn gap(world: &World, ahead: f64) -> f64 {
    let snapshot = world.snapshot();
    let own = snapshot.vehicle(2).unwrap().pose.point(ahead, 0.0);
    (own - snapshot.standing[0].trailer.coupling).length()
}

fn speed(world: &World) -> f64 {
    world.snapshot().vehicle(2).unwrap().speed
}

/// Runs until the first vehicle has uncoupled its trailers from number `from` on and driven off,
/// and the second vehicle has spawned and reversed towards them.
fn backed_up(scenario: &Scenario, from: u8, ahead: f64, options: &RunOptions) -> World {
    let mut world = World::new(scenario, &builtin_modules(), options).unwrap();
    world.step();
    let tows = world.snapshot().trailers.len();
    assert_eq!(
        world.uncouple(1, Some(from)),
        Ok(tows + 1 - usize::from(from))
    );
    run(&mut world, COMES + 0.5);
    assert!(matches!(
        world.couple(2),
        Err(CouplingError::TooFar(_) | CouplingError::NothingFits)
    ));
    for _ in 0..3000 {
        if gap(&world, ahead) < 0.35 {
            break;
        }
        let pedals = if speed(&world) > -0.4 { -0.2 } else { 0.0 };
        drive(&mut world, pedals, 0.02);
    }
    for _ in 0..500 {
        let pedals = -0.3 * speed(&world).signum();
        if speed(&world).abs() < 0.02 {
            break;
        }
        drive(&mut world, pedals, 0.02);
    }
    drive(&mut world, 0.0, 0.5);
    assert!(gap(&world, ahead) < 0.5, "{}", gap(&world, ahead));
    world
}

/// Position of the coupling of the caravan's car, m ahead of its rear axle.
const BALL: f64 = -2.25 + 1.50876;

#[test]
fn worlds_saved_right_after_a_change_between_two_steps_plan_on_alike() {
    let (truck, tractor) = (
        vehicle("semi-trailer-truck", |_| {}),
        vehicle("semi-trailer-tractor", |_| {}),
    );
    let scenario = yard(&truck, &tractor);
    let options = RunOptions {
        modules: ModuleOverrides::default(),
        ..options(1)
    };
    let standing = || {
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        world.step();
        world
    };
    let mut uncoupled = standing();
    assert_eq!(uncoupled.uncouple(1, None), Ok(1));
    let mut coupled = backed_up(&scenario, 1, 0.0, &options);
    assert_eq!(coupled.couple(2), Ok(1));
    let controls = HandControls {
        pedals: 0.0,
        steering: 0.0,
        ..HandControls::default()
    };
    let mut by_hand = standing();
    assert!(by_hand.drive_by_hand(1, controls));
    let mut given_back = standing();
    assert!(given_back.drive_by_hand(1, controls));
    run(&mut given_back, 1.0);
    assert!(given_back.give_back(1));
    for (change, mut world) in [
        ("uncoupled", uncoupled),
        ("coupled", coupled),
        ("by hand", by_hand),
        ("given back", given_back),
    ] {
        let mut saved = restored(&world, &scenario, &options);
        for world in [&mut world, &mut saved] {
            run(world, 8.0);
        }
        assert_eq!(world.state_hash(), saved.state_hash(), "{change}");
    }
}

#[test]
fn a_tractor_takes_the_trailer_of_a_truck() {
    let (truck, tractor) = (
        vehicle("semi-trailer-truck", |_| {}),
        vehicle("semi-trailer-tractor", |_| {}),
    );
    let scenario = yard(&truck, &tractor);
    let runs = [1, 2].map(|threads| {
        let mut world = backed_up(&scenario, 1, 0.0, &options(threads));
        let stood = world.snapshot().standing[0].trailer.body;
        assert_eq!(world.couple(2), Ok(1));
        assert_eq!(world.couple(2), Err(CouplingError::NoFreeCoupling));
        let mut hashes = vec![world.state_hash()];
        let mut saved = restored(&world, &scenario, &options(1));
        drive(&mut world, 0.6, 8.0);
        drive(&mut saved, 0.6, 8.0);
        assert_eq!(world.state_hash(), saved.state_hash());
        let towed = world.snapshot();
        let [trailer] = towed.trailers[..] else {
            panic!("{:?}", towed.trailers)
        };
        assert_eq!((trailer.agent, trailer.number), (2, 1));
        assert!(trailer.body.position.x > stood.position.x + 5.0 && trailer.length == 13.6);
        // The coupling is on the axle of the tractor.
        let axle = towed.vehicle(2).unwrap().pose.position;
        assert!((trailer.coupling - axle).length() < 1e-9);
        // The tractor uncouples the trailer and can couple it again.
        for _ in 0..200 {
            if speed(&world) > 0.02 {
                drive(&mut world, -0.3, 0.02);
            }
        }
        drive(&mut world, 0.0, 0.5);
        assert_eq!(world.uncouple(2, None), Ok(1));
        assert_eq!(world.snapshot().standing.len(), 1);
        assert_eq!(world.couple(2), Ok(1));
        assert!(world.collisions().is_empty(), "{:?}", world.collisions());
        hashes.push(world.state_hash());
        hashes
    });
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0][0], runs[0][1]);
}

#[test]
fn what_does_not_fit_is_said() {
    let truck = vehicle("semi-trailer-truck", |_| {});
    let car = vehicle("escort-caravan", |file| file.trailers.clear());
    let mut world = backed_up(&yard(&truck, &car), 1, BALL, &options(1));
    let before = world.state_hash();
    let Err(CouplingError::OtherHeight { own, theirs }) = world.couple(2) else {
        panic!("{:?}", world.couple(2))
    };
    assert!(
        (own - 0.42).abs() < 1e-9 && (theirs - 1.5).abs() < 1e-9,
        "{own} {theirs}"
    );
    assert_eq!(world.state_hash(), before);
    // A ball that is 10 cm lower fits. One that is 20 cm lower does not.
    let pair = vehicle("escort-caravan", |file| {
        file.trailers.push(file.trailers[0].clone())
    });
    for (lower, fits) in [(0.1, true), (0.2, false)] {
        let car = vehicle("escort-caravan", |file| {
            file.trailers.clear();
            file.articulation.as_mut().unwrap().anchor[2] -= lower;
        });
        // There are two trailers. The first one belongs behind a car.
        let mut world = backed_up(&yard(&pair, &car), 1, BALL, &options(1));
        let joined = world.couple(2);
        assert_eq!(joined == Ok(2), fits, "{joined:?}");
        assert_eq!(world.snapshot().trailers.len(), if fits { 2 } else { 0 });
    }
    // This trailer belongs behind another trailer.
    let car = vehicle("escort-caravan", |file| file.trailers.clear());
    let mut world = backed_up(&yard(&pair, &car), 2, BALL, &options(1));
    assert_eq!(world.couple(2), Err(CouplingError::BelongsElsewhere));
    let said = CouplingError::BelongsElsewhere.to_string();
    assert!(said.contains("a vehicle that tows nothing"), "{said}");
}

#[test]
fn an_edit_that_makes_them_unfit_parts_them() {
    let truck = vehicle("semi-trailer-truck", |_| {});
    let tractor = vehicle("semi-trailer-tractor", |_| {});
    let lower = vehicle("semi-trailer-tractor", |file| {
        file.articulation.as_mut().unwrap().anchor[2] -= 0.5;
    });
    let faster = vehicle("semi-trailer-tractor", |file| {
        file.performance.max_speed = 30.0.into()
    });
    let bare = vehicle("semi-trailer-truck", |file| file.trailers.clear());
    let scenario = yard(&truck, &tractor);
    for (what, first, second, left) in [
        ("nothing relevant", &truck, &faster, 1),
        ("the height", &truck, &lower, 0),
        ("the trailer", &bare, &tractor, 0),
    ] {
        let mut world = backed_up(&scenario, 1, 0.0, &options(1));
        assert_eq!(world.couple(2), Ok(1));
        drive(&mut world, 0.3, 1.0);
        let new = yard(first, second);
        world.update(&scenario, &new, &builtin_modules()).unwrap();
        drive(&mut world, 0.3, 1.0);
        let snapshot = world.snapshot();
        let of_it = snapshot.trailers.iter().filter(|one| one.agent == 2);
        assert_eq!(of_it.count(), left, "{what}");
        restored(&world, &new, &options(1));
    }
}

/// While an uncoupled caravan stands on a zebra crossing, pedestrians wait at the kerb. Without a
/// caravan, they walk.
#[test]
fn people_on_foot_do_not_walk_through_what_stands() {
    let mut scenario = shipped("crossings");
    let (agents, flows) = (scenario.agents().clone(), scenario.flows().clone());
    for id in agents.into_keys() {
        scenario.apply(Edit::Agent(id, None)).unwrap();
    }
    for id in flows.into_keys() {
        scenario.apply(Edit::Flow(id, None)).unwrap();
    }
    let laid_out = layout(scenario.network(), scenario.about());
    let zebra = laid_out.junctions.iter().find(|one| {
        let is_signalled = one.control == Control::Signals;
        !is_signalled && !one.crossings.is_empty()
    });
    let zebra = zebra.unwrap();
    let crossing = &zebra.crossings[0];
    let mut along = crossing.right_kerb;
    along.position = along.point(0.0, 0.5 * crossing.length);
    let start = along.point(4.7, 0.0);
    let kind = vehicle("escort-caravan", |_| {});
    let kind = Edit::VehicleType("caravan".into(), Some(Box::new(kind)));
    scenario.apply(kind).unwrap();
    let stack = Edit::Stack(
        "hand".into(),
        Some(Box::new(Stack::with_controller("pursuit"))),
    );
    scenario.apply(stack).unwrap();
    let far = along.point(60.0, 0.0);
    let agent = Agent {
        name: String::new(),
        vehicle: "caravan".into(),
        stack: "hand".into(),
        dynamics: None,
        start: Place::ground(start.x, start.y, along.heading),
        via: Vec::new(),
        destination: Some(Place::ground(far.x, far.y, along.heading)),
        depart: 0.0.into(),
        speed: 0.0.into(),
        repeat: None.into(),
    };
    let agent = Edit::Agent(AgentId(900), Some(Box::new(agent)));
    scenario.apply(agent).unwrap();
    let arrived = [true, false].map(|lets_go| {
        let mut world = World::new(&scenario, &builtin_modules(), &options(1)).unwrap();
        world.step();
        if lets_go {
            assert_eq!(world.uncouple(900, None), Ok(1));
        }
        run(&mut world, 15.0);
        let road = Some(crossing.road);
        for _ in 0..6 {
            world.add_pedestrian(zebra.nodes[0], road).unwrap();
        }
        let mut nearest = f64::INFINITY;
        let here = |one: &&PersonRecord| (one.position - along.position).length() < 8.0;
        let mut came = BTreeSet::new();
        for _ in 0..1500 {
            world.step();
            let snapshot = world.snapshot();
            came.extend(snapshot.people.iter().filter(here).map(|one| one.id));
            for one in &snapshot.standing {
                let trailer = &one.trailer;
                let body = OrientedBox::new(trailer.body, trailer.length, trailer.width);
                let apart = snapshot
                    .people
                    .iter()
                    .map(|person| (body.closest_point(person.position) - person.position).length());
                nearest = apart.fold(nearest, f64::min);
            }
        }
        if lets_go {
            let body = world.snapshot().standing[0].trailer.body;
            assert!((body.position - along.position).length() < 1.0, "{body:?}");
            assert!(nearest > PERSON_RADIUS, "{nearest}");
        }
        let people = world.snapshot().people;
        let left: Vec<_> = people.iter().filter(here).collect();
        assert_eq!(
            lets_go,
            left.iter().all(|one| one.waits) && left.len() >= 6,
            "{left:?}"
        );
        came.len() - left.len()
    });
    assert!(arrived[0] == 0 && arrived[1] >= 6, "{arrived:?}");
}
