//! Tests of a tracked vehicle: the usual stacks can drive it, it turns on the spot, and a save resumes
//! exactly.

use crate::common::*;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, heading_of};
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, Place, Scenario, Stack, VehicleType,
};
use roadwright_simulation::{HandControls, RunOptions, World, builtin_modules};
use roadwright_testing::is_slow;

/// Returns a shipped scenario in which all agents drive tanks with the given controller.
fn driven(name: &str, controller: &str) -> Scenario {
    let mut scenario = driven_by(shipped(name), &vehicle("t-28", |_| {}));
    for (key, stack) in scenario.stacks().clone() {
        let stack = Stack {
            controller: Stack::with_controller(controller).controller,
            ..stack
        };
        let edit = Edit::Stack(key, Some(Box::new(stack)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

fn options(level: DynamicsLevel, threads: usize) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        threads,
        ..straight()
    }
}

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

#[test]
fn all_controllers_drive_tracks_to_their_goals() {
    let controllers = ["fuzzy_driver", "idm", "pursuit"];
    for controller in &controllers[..if is_slow() { 3 } else { 1 }] {
        let scenario = driven("figure-eight", controller);
        let mut world = world(&scenario, &options(DynamicsLevel::Rigid, 1));
        while world.time() < 400.0 && !world.is_over() {
            world.step();
        }
        println!(
            "{controller}: {} arrived after {:.0} s",
            world.counts().arrived,
            world.time()
        );
        assert_eq!(world.counts().arrived, 3, "{controller}");
        assert!(world.summary().collisions.is_empty(), "{controller}");
    }
}

#[test]
fn levels_without_tracks_drive_it_as_a_car() {
    for level in [
        DynamicsLevel::Lane,
        DynamicsLevel::OneTrack,
        DynamicsLevel::DynamicOneTrack,
    ] {
        let scenario = driven("figure-eight", "idm");
        let mut world = world(&scenario, &options(level, 1));
        while world.time() < 400.0 && !world.is_over() {
            world.step();
        }
        assert_eq!(world.counts().arrived, 3, "{level}");
    }
}

/// Creates a single vehicle on open ground.
fn on_open_ground(kind: VehicleType) -> Scenario {
    let mut scenario = Scenario::new("open ground");
    let edits = [
        Edit::VehicleType("tank".into(), Some(Box::new(kind))),
        Edit::Stack(
            "pursuit".into(),
            Some(Box::new(Stack::with_controller("pursuit"))),
        ),
        Edit::Agent(
            AgentId(1),
            Some(Box::new(Agent {
                name: String::new(),
                vehicle: "tank".into(),
                stack: "pursuit".into(),
                dynamics: None,
                start: Place::ground(0.0, 0.0, 0.1),
                via: vec![],
                destination: Some(Place::ground(-80.0, 0.0, 3.0)),
                depart: 0.0.into(),
                repeat: None.into(),
                speed: 0.0.into(),
            })),
        ),
    ];
    for edit in edits {
        scenario.apply(edit).unwrap();
    }
    scenario
}

/// Returns the distance of a vehicle's centre from its start (m), and the angle that it has turned
/// (rad), after 8 s of full lock to the left under manual control.
fn turned_by_hand(kind: VehicleType) -> (f64, f64) {
    let scenario = on_open_ground(kind);
    let mut world = world(&scenario, &options(DynamicsLevel::Rigid, 1));
    world.step();
    let full_lock = HandControls {
        pedals: 0.0,
        steering: 1.0,
        ..HandControls::default()
    };
    // The wheels take a moment to turn.
    world.drive_by_hand(1, full_lock);
    (0..150).for_each(|_| world.step());
    let gently = HandControls {
        pedals: 0.3,
        ..full_lock
    };
    world.drive_by_hand(1, gently);
    let start = world.snapshot().vehicles[0].body;
    let (mut farthest, mut turned, mut heading) = (0.0f64, 0.0, start.heading);
    for _ in 0..400 {
        world.step();
        let body = world.snapshot().vehicles[0].body;
        farthest = farthest.max((body.position - start.position).length());
        turned += wrap_angle(body.heading - heading);
        heading = body.heading;
    }
    (farthest, turned)
}

#[test]
fn a_person_turns_it_on_the_spot() {
    let (driven, turned) = turned_by_hand(vehicle("t-28", |_| {}));
    println!("tracks: {driven:.2} m, {turned:.2} rad");
    assert!(turned > 2.5, "{turned} rad");
    assert!(driven < 0.5, "{driven} m");
    // Comparison: a jeep needs space for a bend.
    let (bend, _) = turned_by_hand(VehicleType::willys_mb());
    println!("wheels: {bend:.2} m");
    assert!(bend > 3.0, "{bend} m");
}

/// Sends a vehicle to a goal behind it. Returns the distance of its centre from its start when it first faces
/// the goal (m), and whether it arrives within two minutes.
fn turns_to_a_goal_behind(kind: VehicleType, controller: &str) -> (f64, bool) {
    let mut scenario = on_open_ground(kind);
    let edit = Edit::Stack(
        "pursuit".into(),
        Some(Box::new(Stack::with_controller(controller))),
    );
    scenario.apply(edit).unwrap();
    let mut world = world(&scenario, &options(DynamicsLevel::Rigid, 1));
    world.step();
    let start = world.snapshot().vehicles[0].body;
    let (mut farthest, mut points_there) = (0.0f64, false);
    while world.time() < 120.0 && !world.is_over() {
        world.step();
        let Some(seen) = world.snapshot().vehicles.first().copied() else {
            break;
        };
        let to_goal = DVec2::new(-80.0, 0.0) - seen.pose.position;
        let off = wrap_angle(seen.body.heading - heading_of(to_goal));
        points_there |= off.abs() < 0.3;
        if !points_there {
            farthest = farthest.max((seen.body.position - start.position).length());
        }
    }
    (farthest, world.counts().arrived == 1)
}

#[test]
fn controllers_turn_it_on_the_spot_where_the_way_leads_back() {
    for controller in ["idm", "pursuit", "fuzzy_driver"] {
        let (driven, arrives) = turns_to_a_goal_behind(vehicle("t-28", |_| {}), controller);
        println!("{controller}: {driven:.2} m, arrives: {arrives}");
        assert!(driven < 1.0 && arrives, "{controller}: {driven}");
        // Comparison: a wheeled vehicle needs space.
        let (bend, _) = turns_to_a_goal_behind(VehicleType::willys_mb(), controller);
        assert!(bend > 3.0, "{controller}: {bend}");
    }
}

#[test]
fn tracks_go_on_from_a_save_with_any_number_of_threads() {
    let scenario = driven("figure-eight", "idm");
    let (one, two) = (
        options(DynamicsLevel::Rigid, 1),
        options(DynamicsLevel::Rigid, 2),
    );
    let (mut first, mut second) = (world(&scenario, &one), world(&scenario, &two));
    for _ in 0..1000 {
        first.step();
        second.step();
    }
    assert_eq!(first.state_hash(), second.state_hash());
    assert!(first.snapshot().vehicles.iter().all(|one| one.has_tracks));
    let wheels = first.snapshot().mechanics[0].wheels.len();
    assert_eq!(wheels, 14);
    let mut again = restored(&first, &scenario, &one);
    for _ in 0..500 {
        first.step();
        again.step();
    }
    assert_eq!(first.state_hash(), again.state_hash());
}
