//! Tests of vehicles under manual control, and of agents that depart repeatedly.

use crate::common::restored;
use crate::scenarios::*;
use roadwright_geometry::math::atan2;
use roadwright_scenario::*;
use roadwright_simulation::{
    Ground, HandControls, RunOptions, Status, SteeringLock, VehicleRecord, World, builtin_modules,
};

const FULL: HandControls = HandControls {
    pedals: 1.0,
    steering: 0.0,
    lock: SteeringLock::Limited,
};
const BACK: HandControls = HandControls {
    pedals: -1.0,
    steering: 0.0,
    lock: SteeringLock::Limited,
};

fn with(agents: &[Agent]) -> Scenario {
    let mut scenario = crossroads();
    for (id, agent) in (1..).zip(agents) {
        let edit = Edit::Agent(AgentId(id), Some(Box::new(agent.clone())));
        scenario.apply(edit).unwrap();
    }
    scenario
}

fn options(level: DynamicsLevel) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        ..RunOptions::default()
    }
}

fn world(scenario: &Scenario, level: DynamicsLevel) -> World {
    World::new(scenario, &builtin_modules(), &options(level)).unwrap()
}

fn drive(world: &mut World, seconds: f64) {
    let steps = (seconds / world.dt()).round() as u64;
    (0..steps).for_each(|_| world.step());
}

fn vehicle(world: &World, id: u64) -> VehicleRecord {
    let vehicles = world.snapshot().vehicles;
    vehicles.into_iter().find(|one| one.agent == id).unwrap()
}

#[test]
fn a_person_accelerates_steers_brakes_and_reverses_at_every_level() {
    for level in DynamicsLevel::FOR_VEHICLES {
        let mut world = world(&with(&[west_to_east()]), level);
        drive(&mut world, 1.0);
        assert!(world.drive_by_hand(1, FULL), "{level}");
        drive(&mut world, 3.0);
        let fast = vehicle(&world, 1);
        assert!(fast.speed > 4.0, "{level}: {fast:?}");
        // Steers left, towards the north.
        let left = HandControls {
            pedals: 0.0,
            steering: 1.0,
            ..HandControls::default()
        };
        world.drive_by_hand(1, left);
        drive(&mut world, 1.0);
        let turned = vehicle(&world, 1);
        assert!(turned.pose.heading > 0.2, "{level}: {turned:?}");
        world.drive_by_hand(1, BACK);
        let mut least = f64::INFINITY;
        for _ in 0..600 {
            world.step();
            least = least.min(vehicle(&world, 1).speed);
        }
        assert!(least < -1.0, "{level}: it stays at {least} m/s");
        // An agent at level `lane` has left the lanes and continues at another level.
        assert!(vehicle(&world, 1).lane.is_none());
        // In reverse with the wheels turned to the left, the front moves to the right.
        let before = vehicle(&world, 1).pose.heading;
        world.drive_by_hand(
            1,
            HandControls {
                pedals: -1.0,
                steering: 1.0,
                ..HandControls::default()
            },
        );
        drive(&mut world, 1.0);
        let after = vehicle(&world, 1);
        assert!(after.pose.heading < before, "{level}: {before} {after:?}");
        assert!(after.steering > 0.0, "{level}: {after:?}");
    }
}

#[test]
fn who_is_given_back_joins_its_lane_and_arrives() {
    let mut world = world(&with(&[west_to_east()]), DynamicsLevel::OneTrack);
    drive(&mut world, 1.0);
    world.drive_by_hand(1, FULL);
    drive(&mut world, 2.0);
    assert_eq!(world.driven_by_hand().unwrap().0, 1);
    assert!(world.give_back(1) && !world.give_back(1));
    assert_eq!(world.driven_by_hand(), None);
    assert!(vehicle(&world, 1).lane.is_some());
    drive(&mut world, 60.0);
    assert_eq!(world.counts().arrived, 1);
}

#[test]
fn who_is_given_back_far_from_all_lanes_drives_to_its_goal_over_the_ground() {
    let mut world = world(&with(&[west_to_east()]), DynamicsLevel::OneTrack);
    drive(&mut world, 1.0);
    world.drive_by_hand(
        1,
        HandControls {
            pedals: 1.0,
            steering: 0.5,
            ..HandControls::default()
        },
    );
    drive(&mut world, 4.0);
    assert!(world.give_back(1));
    drive(&mut world, 120.0);
    assert_eq!(world.counts().arrived, 1, "{:?}", world.snapshot().vehicles);
}

#[test]
fn it_does_not_arrive_while_a_person_drives_and_others_see_it() {
    // The second agent starts at the same place, where the first agent still stands.
    let second = Agent {
        depart: 6.0.into(),
        ..west_to_east()
    };
    let mut world = world(&with(&[west_to_east(), second]), DynamicsLevel::OneTrack);
    drive(&mut world, 4.0);
    world.drive_by_hand(1, FULL);
    drive(&mut world, 1.0);
    let brake = HandControls {
        pedals: -0.2,
        steering: 0.0,
        ..HandControls::default()
    };
    world.drive_by_hand(1, brake);
    while vehicle(&world, 1).speed > 0.2 {
        world.step();
    }
    world.drive_by_hand(1, HandControls::default());
    drive(&mut world, 30.0);
    let (first, second) = (vehicle(&world, 1), vehicle(&world, 2));
    assert!(second.speed < 0.5, "{second:?}");
    assert!(second.pose.position.x < first.pose.position.x);
    assert_eq!(world.collisions().len(), 0);
    // The vehicle drives through the goal and beyond.
    world.drive_by_hand(1, FULL);
    drive(&mut world, 15.0);
    assert!(vehicle(&world, 1).pose.position.x > 120.0);
    assert_eq!(world.counts().arrived, 0);
}

#[test]
fn hands_are_state_that_is_saved_and_hashed() {
    let scenario = with(&[west_to_east()]);
    let mut whole = world(&scenario, DynamicsLevel::OneTrack);
    drive(&mut whole, 1.0);
    let untouched = whole.state_hash();
    whole.drive_by_hand(1, FULL);
    assert_ne!(whole.state_hash(), untouched);
    drive(&mut whole, 1.0);
    let options = RunOptions {
        threads: 2,
        ..RunOptions::default()
    };
    let mut again = restored(&whole, &scenario, &options);
    assert_eq!(again.driven_by_hand(), Some((1, FULL)));
    for world in [&mut whole, &mut again] {
        drive(world, 2.0);
        world.drive_by_hand(1, BACK);
        drive(world, 2.0);
        world.give_back(1);
        drive(world, 2.0);
    }
    assert_eq!(whole.state_hash(), again.state_hash());
}

#[test]
fn absurd_controls_and_agents_do_no_harm() {
    let mut world = world(&with(&[west_to_east()]), DynamicsLevel::DynamicOneTrack);
    assert!(!world.drive_by_hand(1, FULL), "it has not appeared");
    drive(&mut world, 1.0);
    assert!(!world.drive_by_hand(7, FULL) && !world.give_back(7));
    for value in [f64::NAN, f64::INFINITY, -1e300] {
        world.drive_by_hand(
            1,
            HandControls {
                pedals: value,
                steering: value,
                ..HandControls::default()
            },
        );
        drive(&mut world, 0.5);
        assert!(vehicle(&world, 1).pose.position.is_finite());
    }
}

#[test]
fn an_agent_that_is_taken_out_is_let_go_of() {
    let scenario = with(&[west_to_east()]);
    let mut world = world(&scenario, DynamicsLevel::OneTrack);
    drive(&mut world, 1.0);
    world.drive_by_hand(1, FULL);
    let mut edited = scenario.clone();
    edited.apply(Edit::Agent(AgentId(1), None)).unwrap();
    world
        .update(&scenario, &edited, &builtin_modules())
        .unwrap();
    drive(&mut world, 0.1);
    assert_eq!(world.driven_by_hand(), None);
}

fn repeating(seconds: f64) -> Agent {
    Agent {
        repeat: Some(seconds).into(),
        ..west_to_east()
    }
}

/// Returns the start and end of each drive of agent 1, s.
fn drives(world: &World) -> Vec<(f64, f64)> {
    let ended = world.finished();
    let own = ended.filter(|drive| drive.id == 1 && drive.status == Status::Arrived);
    own.map(|drive| (drive.started, drive.ended)).collect()
}

#[test]
fn an_agent_sets_out_again_so_long_after_each_arrival() {
    let mut world = world(&with(&[repeating(5.0)]), DynamicsLevel::OneTrack);
    drive(&mut world, 120.0);
    let drives = drives(&world);
    assert!(drives.len() >= 3, "{drives:?}");
    for pair in drives.windows(2) {
        let rest = pair[1].0 - pair[0].1;
        assert!((rest - 5.0).abs() < 0.03, "{drives:?}");
    }
    assert!(!world.is_over());
    // Positive control: without the setting, it drives once.
    let mut once = self::world(&with(&[west_to_east()]), DynamicsLevel::OneTrack);
    drive(&mut once, 120.0);
    assert_eq!(self::drives(&once).len(), 1);
    assert!(once.is_over());
}

#[test]
fn it_waits_until_there_is_room() {
    // A vehicle stands at the start forever, because its lane is blocked ahead of it.
    let blocked = Agent {
        depart: 8.0.into(),
        ..west_to_east()
    };
    let mut scenario = with(&[repeating(0.0), blocked]);
    let x = -84.0;
    let crate_on_lane = Edit::Obstacle(ObstacleId(1), Some(Box::new(crate_at(x, -1.6))));
    let mut world = world(&scenario, DynamicsLevel::OneTrack);
    drive(&mut world, 8.5);
    let before = scenario.clone();
    scenario.apply(crate_on_lane).unwrap();
    world
        .update(&before, &scenario, &builtin_modules())
        .unwrap();
    drive(&mut world, 60.0);
    assert_eq!(drives(&world).len(), 1);
    assert_eq!(world.counts().waiting, 1);
    assert_eq!(world.collisions().len(), 0);
}

#[test]
fn setting_out_again_is_the_same_in_every_run_and_goes_on_from_a_save() {
    let scenario = with(&[
        repeating(3.0),
        Agent {
            depart: 4.0.into(),
            ..repeating(0.0)
        },
    ]);
    let options = |threads| RunOptions {
        threads,
        ..RunOptions::default()
    };
    let run = |threads| World::new(&scenario, &builtin_modules(), &options(threads)).unwrap();
    let (mut one, mut two) = (run(1), run(2));
    // Saves in the middle of a pause, in the middle of a drive, and in the step of an arrival.
    drive(&mut one, 10.0);
    while one.counts().arrived == 0 {
        one.step();
    }
    let at_arrival = one.save().unwrap();
    drive(&mut one, 1.0);
    let in_rest = one.save().unwrap();
    drive(&mut one, 60.0);
    let steps = one.steps();
    (0..steps).for_each(|_| two.step());
    assert_eq!(one.state_hash(), two.state_hash());
    for saved in [at_arrival, in_rest] {
        let ground = Ground::new(&scenario);
        let restored = World::restore(ground, &scenario, &builtin_modules(), &options(1), &saved);
        let mut again = restored.unwrap().0;
        while again.steps() < steps {
            again.step();
        }
        assert_eq!(again.state_hash(), one.state_hash());
    }
}

#[test]
fn an_edit_ends_and_begins_it() {
    let scenario = with(&[repeating(20.0)]);
    let mut world = world(&scenario, DynamicsLevel::OneTrack);
    while world.counts().arrived == 0 {
        world.step();
    }
    // The agent waits for its next start when the edit removes the repetition.
    let once = with(&[west_to_east()]);
    world.update(&scenario, &once, &builtin_modules()).unwrap();
    drive(&mut world, 40.0);
    assert_eq!(drives(&world).len(), 1);
    assert!(world.is_over());
    // After the edit, the agent repeats its trip from its first arrival on.
    let mut world = self::world(&once, DynamicsLevel::OneTrack);
    drive(&mut world, 2.0);
    world.update(&once, &scenario, &builtin_modules()).unwrap();
    drive(&mut world, 90.0);
    assert!(drives(&world).len() >= 2, "{:?}", drives(&world));
}

/// Returns the largest slip angle of the vehicle in a bend that it enters at 20 m/s, rad, and the
/// world at the end of the run.
fn slip_in_a_bend(lock: SteeringLock) -> (f64, World) {
    let scenario = with(&[west_to_east()]);
    let mut world = world(&scenario, DynamicsLevel::Sliding);
    drive(&mut world, 1.0);
    world.drive_by_hand(1, HandControls { lock, ..FULL });
    let fast = (0..3000).any(|_| {
        world.step();
        vehicle(&world, 1).speed > 20.0
    });
    assert!(fast, "{:?}", vehicle(&world, 1));
    let left = HandControls {
        pedals: 0.0,
        steering: 1.0,
        lock,
    };
    world.drive_by_hand(1, left);
    let mut largest = 0.0f64;
    let steps = (2.0 / world.dt()) as u64;
    for _ in 0..steps {
        world.step();
        let seen = vehicle(&world, 1);
        let sideways = seen.sideways.unwrap();
        largest = largest.max(atan2(sideways.abs(), seen.speed.abs().max(1.0)));
    }
    (largest, world)
}

#[test]
fn a_person_skids_with_the_full_lock_alone_and_a_save_keeps_it() {
    let (limited, _) = slip_in_a_bend(SteeringLock::Limited);
    let (full, world) = slip_in_a_bend(SteeringLock::Full);
    println!("limited {limited:.2} rad, full {full:.2} rad");
    assert!(limited < 0.2, "{limited}");
    assert!(full > 0.5, "{full}");
    // The choice is part of the state: a restored run has the same choice and hash, and continues
    // identically.
    let mut again = restored(
        &world,
        &with(&[west_to_east()]),
        &options(DynamicsLevel::Sliding),
    );
    let controls = again.driven_by_hand().unwrap().1;
    assert_eq!(controls.lock, SteeringLock::Full);
    assert_eq!(again.state_hash(), world.state_hash());
    let mut limited = world.driven_by_hand().unwrap().1;
    limited.lock = SteeringLock::Limited;
    again.drive_by_hand(1, limited);
    assert_ne!(again.state_hash(), world.state_hash());
}
