//! Tests of trailers at every level: they follow their vehicles, are perceived, take part in collisions, and
//! are saved.

use crate::common::*;
use roadwright_scenario::vehicle_file::VehicleFile;
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, Obstacle, ObstacleId, Place, Scenario, Shape, VehicleType,
    file,
};
use roadwright_simulation::{Party, RunOptions, Snapshot, World, builtin_modules};

const LEVELS: [DynamicsLevel; 4] = [
    DynamicsLevel::Lane,
    DynamicsLevel::OneTrack,
    DynamicsLevel::DynamicOneTrack,
    DynamicsLevel::Rigid,
];

fn at(level: DynamicsLevel) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        ..straight()
    }
}

fn world(scenario: &Scenario, options: &RunOptions) -> World {
    World::new(scenario, &builtin_modules(), options).unwrap()
}

/// Asserts that the coupling of each trailer stays at the coupling of the body that tows it.
fn hold_together(snapshot: &Snapshot, kind: &VehicleType) {
    let file = &kind.file.as_ref().unwrap().vehicle;
    let (_, rear) = file.axles();
    for trailer in &snapshot.trailers {
        let vehicle = snapshot.vehicles.iter().find(|v| v.agent == trailer.agent);
        let joint = vehicle
            .unwrap()
            .pose
            .point(file.coupling().unwrap() - rear, 0.0);
        assert!((joint - trailer.coupling).length() < 1e-9, "{trailer:?}");
        assert!(trailer.angle.abs() <= file.trailers[0].lock + 1e-9);
    }
}

#[test]
fn they_follow_at_every_level_and_all_arrive() {
    let bus = vehicle("articulated-bus", |_| {});
    let scenario = driven_by(shipped("figure-eight"), &bus);
    for level in LEVELS {
        let mut world = world(&scenario, &at(level));
        let (mut widest, mut seen) = (0.0f64, 0);
        while world.time() < 600.0 && !world.is_over() {
            world.step();
            let snapshot = world.snapshot();
            hold_together(&snapshot, &bus);
            assert_eq!(snapshot.trailers.len(), snapshot.vehicles.len());
            seen += snapshot.trailers.len();
            let angles = snapshot.trailers.iter().map(|trailer| trailer.angle.abs());
            widest = angles.fold(widest, f64::max);
        }
        assert_eq!(world.counts().arrived, 3, "{level}");
        // In bends of 45 m radius, the angle is about 10 m / 45 m.
        assert!(
            seen > 1000 && widest > 0.1 && widest < 0.5,
            "{level}: {widest}"
        );
        assert_eq!(world.summary().collisions.len(), 0, "{level}");
    }
}

/// Creates two agents on the loop of figure-eight. The first one is slow.
fn followed(trailer: bool) -> Scenario {
    let mut scenario = file::load(&scenarios().join("figure-eight.scenario.json")).unwrap();
    let slow = vehicle("articulated-bus", |file| {
        file.performance.max_speed = 4.0.into();
        if !trailer {
            file.trailers.clear();
        }
    });
    let kinds = [("slow", slow), ("swift", VehicleType::car())];
    for (key, kind) in kinds {
        let edit = Edit::VehicleType(key.into(), Some(Box::new(kind)));
        scenario.apply(edit).unwrap();
    }
    let agents: Vec<(AgentId, Agent)> = scenario
        .agents()
        .iter()
        .map(|(id, agent)| (*id, agent.clone()))
        .collect();
    for (number, (id, agent)) in agents.into_iter().enumerate() {
        let after = match number {
            0 => Some(Agent {
                vehicle: "slow".into(),
                ..agent
            }),
            1 => Some(Agent {
                vehicle: "swift".into(),
                ..agent
            }),
            _ => None,
        };
        scenario
            .apply(Edit::Agent(id, after.map(Box::new)))
            .unwrap();
    }
    scenario
}

#[test]
fn who_follows_sees_the_tail_of_the_trailer() {
    for level in LEVELS {
        let gaps = [true, false].map(|trailer| {
            let mut world = world(&followed(trailer), &at(level));
            let mut closest = f64::INFINITY;
            while world.time() < 60.0 {
                world.step();
                let snapshot = world.snapshot();
                let [slow, swift] = &snapshot.vehicles[..] else {
                    panic!("two drive");
                };
                let apart = (slow.pose.position - swift.pose.position).length();
                if world.time() > 20.0 {
                    closest = closest.min(apart);
                }
            }
            assert_eq!(world.summary().collisions.len(), 0, "{level}");
            closest
        });
        // The tail is 7.49 m behind the joint, and the joint is 0.3 m behind the rear of the front
        // section.
        let more = gaps[0] - gaps[1];
        assert!(more > 6.5 && more < 8.5, "{level}: {gaps:?}");
    }
}

#[test]
fn what_a_trailer_hits_is_counted() {
    // There is a post on the inside of the bend. The car passes it, but the caravan cuts the corner.
    let caravan = vehicle("escort-caravan", |_| {});
    let hits = [true, false].map(|trailer| {
        let kind = if trailer {
            caravan.clone()
        } else {
            vehicle("ford-escort", |file| file.steering.lock = 0.61.into())
        };
        let mut scenario = Scenario::new("corner");
        scenario
            .apply(Edit::VehicleType("train".into(), Some(Box::new(kind))))
            .unwrap();
        let stack = roadwright_scenario::Stack::with_controller("pursuit");
        scenario
            .apply(Edit::Stack("pursuit".into(), Some(Box::new(stack))))
            .unwrap();
        let agent = Agent {
            name: String::new(),
            vehicle: "train".into(),
            stack: "pursuit".into(),
            dynamics: None,
            start: Place::ground(0.0, 0.0, 0.0),
            via: vec![Place::ground(30.0, 0.0, 0.0), Place::ground(36.0, 8.0, 0.0)],
            destination: Some(Place::ground(30.0, 40.0, 0.0)),
            depart: 0.0.into(),
            speed: 0.0.into(),
            repeat: None.into(),
        };
        scenario
            .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
            .unwrap();
        let mut world = world(&scenario, &at(DynamicsLevel::OneTrack));
        // Positions that are covered by the inner side of the caravan but not by the inner side of
        // the car, found by driving.
        let mut swept = Vec::new();
        while world.time() < 40.0 && !world.is_over() {
            world.step();
            let snapshot = world.snapshot();
            let sides = |body: roadwright_geometry::Pose, length: f64, width: f64| {
                [-0.4, -0.2, 0.0, 0.2, 0.4].map(|share| body.point(share * length, 0.5 * width))
            };
            for one in &snapshot.trailers {
                swept.extend(sides(one.body, one.length, one.width));
            }
            for one in &snapshot.vehicles {
                swept.extend(sides(one.body, one.length, one.width));
            }
        }
        (scenario, swept)
    });
    // The innermost position that only the caravan covers.
    let corner = roadwright_geometry::DVec2::new(24.0, 14.0);
    let nearest = |places: &[roadwright_geometry::DVec2]| {
        let distance = |p: &&roadwright_geometry::DVec2| (**p - corner).length();
        *places
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .unwrap()
    };
    let (with, without) = (nearest(&hits[0].1), nearest(&hits[1].1));
    assert!(
        (with - corner).length() + 0.3 < (without - corner).length(),
        "{with} {without}"
    );
    let at_post = |scenario: &Scenario| {
        let mut scenario = scenario.clone();
        let post = Obstacle {
            name: "post".into(),
            shape: Shape::Circle {
                x: with.x.into(),
                y: with.y.into(),
                radius: 0.1.into(),
            },
            base: 0.0.into(),
            height: 1.0.into(),
            mass: None.into(),
        };
        let edit = Edit::Obstacle(ObstacleId(1), Some(Box::new(post)));
        scenario.apply(edit).unwrap();
        let mut world = world(&scenario, &at(DynamicsLevel::OneTrack));
        while world.time() < 40.0 && !world.is_over() {
            world.step();
        }
        let met = world.summary().collisions;
        met.iter()
            .filter(|hit| hit.with == Party::Obstacle(1))
            .count()
    };
    assert_eq!((at_post(&hits[0].0) > 0, at_post(&hits[1].0)), (true, 0));
}

#[test]
fn a_saved_world_goes_on_bit_for_bit_and_threads_change_nothing() {
    let scenario = driven_by(
        shipped("crossroads"),
        &vehicle("semi-trailer-truck", |_| {}),
    );
    for level in [DynamicsLevel::Lane, DynamicsLevel::OneTrack] {
        let mut whole = world(&scenario, &at(level));
        let mut threads = world(
            &scenario,
            &RunOptions {
                threads: 2,
                ..at(level)
            },
        );
        for _ in 0..1500 {
            whole.step();
            threads.step();
        }
        assert_eq!(whole.state_hash(), threads.state_hash(), "{level}");
        assert!(!whole.snapshot().trailers.is_empty());
        let mut restored = restored(&whole, &scenario, &at(level));
        for _ in 0..500 {
            whole.step();
            restored.step();
        }
        assert_eq!(whole.state_hash(), restored.state_hash(), "{level}");
        assert_eq!(whole.snapshot(), restored.snapshot(), "{level}");
    }
}

#[test]
fn trucks_share_a_crossing_with_cars() {
    let scenario = without_stack(shipped("trailer-yard"), "shuttle");
    let mut world = world(&scenario, &RunOptions::default());
    while world.time() < 180.0 {
        world.step();
    }
    let summary = world.summary();
    println!("{:?} {:?}", world.counts(), summary.collisions);
    assert!(world.counts().arrived > 15, "{:?}", world.counts());
    assert_eq!(summary.collisions.len(), 0, "{:?}", summary.collisions);
}

#[test]
fn an_edit_of_a_running_world_changes_the_train() {
    let of = |change: &dyn Fn(&mut VehicleFile)| {
        driven_by(shipped("figure-eight"), &vehicle("articulated-bus", change))
    };
    let one = of(&|_| {});
    let none = of(&|file| file.trailers.clear());
    let three = of(&|file| {
        let rear = file.trailers[0].clone();
        file.trailers.extend([rear.clone(), rear]);
    });
    let mut world = world(&one, &at(DynamicsLevel::OneTrack));
    let mut before = one;
    for (scenario, trailers) in [(none.clone(), 0), (three, 9), (none, 0)] {
        (0..200).for_each(|_| world.step());
        world
            .update(&before, &scenario, &builtin_modules())
            .unwrap();
        (0..200).for_each(|_| world.step());
        let snapshot = world.snapshot();
        assert_eq!(
            (snapshot.vehicles.len(), snapshot.trailers.len()),
            (3, trailers)
        );
        before = scenario;
    }
}
