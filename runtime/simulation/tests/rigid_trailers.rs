//! Tests of trailers at level `rigid`, where they are separate bodies.

use crate::common::*;
use roadwright_scenario::*;
use roadwright_simulation::{HandControls, RunOptions, World, builtin_modules};

fn options(threads: usize) -> RunOptions {
    RunOptions {
        dynamics: Some(DynamicsLevel::Rigid),
        dt: Some(0.02),
        threads,
        ..RunOptions::default()
    }
}

fn world(scenario: &Scenario, threads: usize) -> World {
    World::new(scenario, &builtin_modules(), &options(threads)).unwrap()
}

#[test]
fn a_saved_train_goes_on_bit_for_bit_and_threads_change_nothing() {
    let bus = vehicle("articulated-bus", |_| {});
    let scenario = driven_by(shipped("figure-eight"), &bus);
    let (mut whole, mut threads) = (world(&scenario, 1), world(&scenario, 2));
    for _ in 0..700 {
        whole.step();
        threads.step();
    }
    assert_eq!(whole.state_hash(), threads.state_hash());
    assert_eq!(whole.snapshot().trailers.len(), 3);
    let mut restored = restored(&whole, &scenario, &options(1));
    assert_eq!(whole.state_hash(), restored.state_hash());
    for _ in 0..300 {
        whole.step();
        restored.step();
    }
    assert_eq!(whole.state_hash(), restored.state_hash());
    assert_eq!(whole.snapshot(), restored.snapshot());
}

/// Creates a car with caravans that drives east past a loose post. The post is beside the path of the car but
/// in the path of its caravans.
fn past_a_post(caravans: usize) -> Scenario {
    let kind = vehicle("escort-caravan", |file| file.trailers.truncate(caravans));
    let mut scenario = Scenario::new("post");
    let stack = Stack::with_controller("pursuit");
    let agent = Agent {
        name: String::new(),
        vehicle: "train".into(),
        stack: "pursuit".into(),
        dynamics: None,
        start: Place::ground(0.0, 0.0, 0.0),
        via: Vec::new(),
        destination: Some(Place::ground(400.0, 0.0, 0.0)),
        depart: 0.0.into(),
        speed: 0.0.into(),
        repeat: None.into(),
    };
    let post = Obstacle {
        name: "post".into(),
        shape: Shape::Circle {
            x: 30.0.into(),
            y: 1.0.into(),
            radius: 0.05.into(),
        },
        base: 0.0.into(),
        height: 1.5.into(),
        mass: Some(20.0).into(),
    };
    let edits = [
        Edit::VehicleType("train".into(), Some(Box::new(kind))),
        Edit::Stack("pursuit".into(), Some(Box::new(stack))),
        Edit::Agent(AgentId(1), Some(Box::new(agent))),
        Edit::Obstacle(ObstacleId(1), Some(Box::new(post))),
    ];
    for edit in edits {
        scenario.apply(edit).unwrap();
    }
    scenario
}

#[test]
fn what_a_trailer_runs_into_is_pushed() {
    let felled = [1, 0].map(|caravans| {
        let mut world = world(&past_a_post(caravans), 1);
        world.step();
        let hands = HandControls {
            pedals: 0.5,
            steering: 0.0,
            ..HandControls::default()
        };
        assert!(world.drive_by_hand(1, hands));
        while world.snapshot().vehicles[0].body.position.x < 50.0 {
            world.step();
        }
        let snapshot = world.snapshot();
        assert!(snapshot.vehicles[0].body.position.y.abs() < 1.0);
        snapshot.loose.len()
    });
    assert_eq!(felled, [1, 0]);
}

/// Uncoupling and coupling at a standstill move neither car nor caravan, and afterwards the pair
/// drives off straight.
#[test]
fn a_pair_that_was_uncoupled_and_coupled_again_drives_off_straight() {
    let mut world = world(&past_a_post(1), 1);
    let drive = |world: &mut World, pedals: f64, seconds: f64| {
        let hands = HandControls {
            pedals,
            steering: 0.0,
            ..HandControls::default()
        };
        assert!(world.drive_by_hand(1, hands));
        let steps = (seconds / world.dt()).round() as u64;
        (0..steps).for_each(|_| world.step());
    };
    world.step();
    drive(&mut world, 0.0, 1.0);
    let stands = world.snapshot();
    assert_eq!(world.uncouple(1, None), Ok(1));
    drive(&mut world, 0.0, 1.0);
    let alone = world.snapshot();
    assert_eq!((alone.trailers.len(), alone.standing.len()), (0, 1));
    // Only the car's springs extend. Apart from that, it does not move.
    let moved = alone.vehicles[0].body.position - stands.vehicles[0].body.position;
    assert!(moved.length() < 0.02, "{moved}");
    assert_eq!(world.couple(1), Ok(1));
    drive(&mut world, 0.0, 1.0);
    let joined = world.snapshot();
    assert_eq!((joined.trailers.len(), joined.standing.len()), (1, 0));
    let moved = joined.trailers[0].body.position - stands.trailers[0].body.position;
    assert!(moved.length() < 0.02, "{moved}");
    drive(&mut world, 1.0, 4.0);
    assert!(world.snapshot().vehicles[0].speed > 3.0);
    assert!(world.snapshot().trailers[0].angle.abs() < 0.01);
}

/// Checks that a top-heavy caravan tips over in a bend that its car can take.
#[test]
fn a_trailer_that_falls_over_is_told() {
    let told = [1.0, 2.5].map(|height| {
        let mut scenario = past_a_post(1);
        let kind = vehicle("escort-caravan", |file| {
            file.trailers[0].centre_height = Some(height).into();
        });
        let edit = Edit::VehicleType("train".into(), Some(Box::new(kind)));
        scenario.apply(edit).unwrap();
        let mut world = world(&scenario, 1);
        world.step();
        for (pedals, steering, seconds) in [(1.0, 0.0, 9.0), (0.0, 0.6, 3.0)] {
            assert!(world.drive_by_hand(
                1,
                HandControls {
                    pedals,
                    steering,
                    ..HandControls::default()
                }
            ));
            let steps = (seconds / world.dt()) as u64;
            (0..steps).for_each(|_| world.step());
        }
        let attitude = world.snapshot().trailers[0].attitude.unwrap();
        assert_eq!(attitude.roll.abs() > 1.0, height > 2.0, "{attitude:?}");
        world.summary().mishaps.tipped_over
    });
    assert_eq!(told, [0, 1]);
}
