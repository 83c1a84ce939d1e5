//! Tests of the dynamics levels: they agree with each other and can be mixed.

use crate::common::{restored, run, shipped, world};
use crate::scenarios::*;
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, Summary, World, builtin_modules};
use std::collections::{BTreeMap, BTreeSet};

fn at_level(level: DynamicsLevel, dt: f64) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        dt: Some(dt),
        ..RunOptions::default()
    }
}

/// Assigns the three levels to the agents and flows of a scenario in turn.
fn mixed(mut scenario: Scenario) -> Scenario {
    let level = |number: usize| match number % 3 {
        0 => Some(DynamicsLevel::Lane),
        1 => Some(DynamicsLevel::DynamicOneTrack),
        _ => None,
    };
    for (number, (id, agent)) in scenario.agents().clone().into_iter().enumerate() {
        let changed = Agent {
            dynamics: level(number),
            ..agent
        };
        let edit = Edit::Agent(id, Some(Box::new(changed)));
        scenario.apply(edit).unwrap();
    }
    for (number, (id, flow)) in scenario.flows().clone().into_iter().enumerate() {
        let changed = Flow {
            dynamics: level(number),
            ..flow
        };
        let edit = Edit::Flow(id, Some(Box::new(changed)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

#[test]
fn the_lane_level_drives_as_the_one_track_level_does() {
    for name in ["crossroads", "old-town", "figure-eight"] {
        let scenario = shipped(name);
        let fine = at_level(DynamicsLevel::OneTrack, 0.01);
        // All bodies are compared, so that no contact is missed.
        let coarse = RunOptions {
            verify: true,
            ..at_level(DynamicsLevel::Lane, 0.1)
        };
        let (arrived, summary) = run(&scenario, &fine, 600.0);
        let (arrived_on_lanes, on_lanes) = run(&scenario, &coarse, 600.0);
        assert_eq!(arrived_on_lanes, arrived, "{name}");
        let ratio = on_lanes.travel_time.mean / summary.travel_time.mean;
        assert!(
            (ratio - 1.0).abs() < 0.1,
            "{name}: trips take {ratio} times as long"
        );
        let contacts = (on_lanes.collisions.len(), summary.collisions.len());
        assert!(contacts.0 <= contacts.1, "{name}: {contacts:?} contacts");
    }
}

#[test]
fn tyres_that_slip_take_the_same_stacks_to_the_same_goals() {
    for name in ["crossroads", "old-town", "figure-eight"] {
        let scenario = shipped(name);
        let (arrived, summary) = run(&scenario, &at_level(DynamicsLevel::OneTrack, 0.01), 600.0);
        let slips = at_level(DynamicsLevel::DynamicOneTrack, 0.01);
        let (arrived_slipping, slipping) = run(&scenario, &slips, 600.0);
        assert_eq!(arrived_slipping, arrived, "{name}");
        assert_ne!(
            slipping.state_hash, summary.state_hash,
            "{name}: no tyre slipped"
        );
        let ratio = slipping.travel_time.mean / summary.travel_time.mean;
        assert!(
            (ratio - 1.0).abs() < 0.15,
            "{name}: trips take {ratio} times as long"
        );
        let contacts = (slipping.collisions.len(), summary.collisions.len());
        assert!(
            contacts.0 <= 2 * contacts.1,
            "{name}: {contacts:?} contacts"
        );
        let deepest = |summary: &Summary| {
            let depths = summary.collisions.iter().map(|contact| contact.depth);
            depths.fold(0.0, f64::max)
        };
        println!(
            "| {name} | {} | {:.1}, {:.1} s | {} of {:.0} cm, {} of {:.0} cm |",
            arrived.len(),
            summary.travel_time.mean,
            slipping.travel_time.mean,
            contacts.1,
            100.0 * deepest(&summary),
            contacts.0,
            100.0 * deepest(&slipping),
        );
    }
}

#[test]
fn levels_drive_beside_each_other_with_the_same_bits_for_any_threads() {
    let scenario = mixed(shipped("crossroads"));
    for dt in [0.01, 0.02] {
        let mut hashes = BTreeSet::new();
        for threads in [1, 2] {
            let options = RunOptions {
                threads,
                dt: Some(dt),
                ..RunOptions::default()
            };
            let mut world = world(&scenario, &options);
            while world.time() < 400.0 && !world.is_over() {
                world.step();
            }
            assert!(world.is_over(), "{:?} at dt {dt}", world.counts());
            assert_eq!(world.counts().arrived, 64);
            assert!(world.collisions().is_empty(), "{:?}", world.collisions());
            hashes.insert(world.state_hash());
        }
        assert_eq!(hashes.len(), 1, "dt {dt}");
    }
}

#[test]
fn the_command_line_goes_before_the_agent_and_that_before_the_settings() {
    let level_of = |settings, agent, forced| {
        let mut scenario = crossroads();
        let level = Settings {
            dynamics: settings,
            ..scenario.settings()
        };
        scenario.apply(Edit::Settings(level)).unwrap();
        let driver = Agent {
            dynamics: agent,
            ..west_to_east()
        };
        let edit = Edit::Agent(AgentId(1), Some(Box::new(driver)));
        scenario.apply(edit).unwrap();
        let options = RunOptions {
            dynamics: forced,
            ..RunOptions::default()
        };
        let mut world = world(&scenario, &options);
        world.step();
        world.inspect(1).unwrap().dynamics
    };
    let (steers, follows) = (DynamicsLevel::OneTrack, DynamicsLevel::Lane);
    assert_eq!(level_of(steers, None, None), steers);
    assert_eq!(level_of(follows, None, None), follows);
    assert_eq!(level_of(follows, Some(steers), None), steers);
    assert_eq!(level_of(steers, Some(follows), Some(steers)), steers);
    assert_eq!(level_of(steers, None, Some(follows)), follows);
}

#[test]
fn nobody_jumps_on_the_lane_level() {
    let scenario = shipped("old-town");
    for dt in [0.01, 0.1] {
        let mut world = world(&scenario, &at_level(DynamicsLevel::Lane, dt));
        let mut before = BTreeMap::new();
        let mut sideways = 0.0f64;
        while world.time() < 100.0 {
            world.step();
            let start = world.snapshot_within_step(0.0);
            let end = world.snapshot();
            for (start, vehicle) in start.vehicles.iter().zip(&end.vehicles) {
                if let Some((position, speed)) =
                    before.insert(vehicle.agent, (vehicle.pose.position, vehicle.speed))
                {
                    let moved: f64 = (vehicle.pose.position - position).length();
                    let mean: f64 = 0.5 * (vehicle.speed + speed);
                    // The tolerance allows for the joint between two lines in a bend, and for
                    // lateral motion.
                    assert!(moved < 2.0 * mean * dt + 0.1, "{moved} m with {mean} m/s");
                    // The start of the step matches the end of the previous step, as far as it can
                    // be reconstructed.
                    let back = (start.pose.position - position).length();
                    assert!(back < 0.8 * mean * dt + 0.1, "{back} m with {mean} m/s");
                }
                sideways = sideways.max(vehicle.t.abs());
            }
        }
        assert!(sideways > 2.0, "no vehicle changed lanes");
    }
}

#[test]
fn off_the_lanes_agents_are_told_why_they_drive_another_level() {
    let scenario = shipped("obstacle-field");
    let run = |options: &RunOptions| {
        let mut world = world(&scenario, options);
        (0..3000).for_each(|_| world.step());
        let faults = world.faults().clone();
        (world.snapshot().hash(), faults)
    };
    let (plain, faults) = run(&RunOptions::default());
    assert!(faults.is_empty());
    let (refused, faults) = run(&at_level(DynamicsLevel::Lane, 0.01));
    assert_eq!(plain, refused);
    let (words, count) = faults.iter().next().unwrap();
    assert!(words.contains("keeps to lanes") && words.contains("one_track"));
    assert_eq!(*count, scenario.agents().len() as u64);
}

#[test]
fn an_agent_takes_another_level_where_it_is() {
    let mut scenario = crossroads();
    let driver = west_to_east();
    let edit = Edit::Agent(AgentId(1), Some(Box::new(driver.clone())));
    scenario.apply(edit).unwrap();
    let mut world = world(&scenario, &RunOptions::default());
    for level in [
        DynamicsLevel::Lane,
        DynamicsLevel::DynamicOneTrack,
        DynamicsLevel::OneTrack,
    ] {
        (0..300).for_each(|_| world.step());
        let before = world.snapshot().vehicles[0];
        let changed = Agent {
            dynamics: Some(level),
            ..driver.clone()
        };
        let mut edited = scenario.clone();
        let edit = Edit::Agent(AgentId(1), Some(Box::new(changed)));
        edited.apply(edit).unwrap();
        world
            .update(&scenario, &edited, &builtin_modules())
            .unwrap();
        scenario = edited;
        assert_eq!(world.inspect(1).unwrap().dynamics, level);
        let now = world.snapshot().vehicles[0];
        assert!((now.pose.position - before.pose.position).length() < 0.05);
        assert_eq!(now.speed, before.speed);
    }
    while !world.is_over() && world.time() < 100.0 {
        world.step();
    }
    assert_eq!(world.counts().arrived, 1);
}

#[test]
fn a_save_of_mixed_levels_goes_on_exactly() {
    let scenario = mixed(shipped("old-town"));
    for moment in [333, 2006, 4999] {
        let mut whole = world(&scenario, &RunOptions::default());
        (0..moment).for_each(|_| whole.step());
        let mut again = restored(&whole, &scenario, &RunOptions::default());
        for _ in 0..1500 {
            whole.step();
            again.step();
        }
        assert_eq!(again.state_hash(), whole.state_hash(), "at step {moment}");
    }
}

/// Creates two vehicles that drive blindly, one behind the other, across a junction at 150 m. The
/// vehicle behind is faster. The vehicle ahead starts at position `start`, m.
fn blindly_over_a_junction(start: f64) -> Scenario {
    let mut scenario = Scenario::new("junction");
    let style = RoadStyle {
        section: CrossSection::driving(1, 0, 3.25),
        ..street("road")
    };
    draw(&mut scenario, (0.0, 0.0), (400.0, 0.0), &style);
    draw(&mut scenario, (150.0, -80.0), (150.0, 80.0), &style);
    let network = scenario.network();
    let ends_at = |x: f64| {
        let mut roads = network.roads();
        let ends = |road: &Road| network.node(road.to).is_some_and(|node| node.x == x);
        roads.find(|(_, road)| ends(road)).unwrap().0
    };
    let (first, second) = (ends_at(150.0), ends_at(400.0));
    let stack = Stack::with_controller("blind");
    let edit = Edit::Stack("blind".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    // The slow vehicle is ahead, so that the fast vehicle is admitted behind it. It could brake.
    for (id, (s, speed)) in [(start, 2.0), (start - 31.0, 12.0)].into_iter().enumerate() {
        let agent = Agent {
            stack: "blind".into(),
            start: Place::lane(first, -1, s),
            destination: Some(Place::lane(second, -1, 240.0)),
            speed: speed.into(),
            ..west_to_east()
        };
        let edit = Edit::Agent(AgentId(id as u32 + 1), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

#[test]
fn contacts_by_order_are_those_of_bodies() {
    let registry = crate::modules::with_test_modules();
    // The vehicles meet in all places: on the lane before the junction, at both ends of the
    // junction, inside it, and after it.
    for number in 0..24 {
        let scenario = blindly_over_a_junction(70.0 + 3.0 * f64::from(number));
        let contacts = |options: &RunOptions| {
            let mut world = World::new(&scenario, &registry, options).unwrap();
            (0..1000).for_each(|_| world.step());
            let times = world.collisions().iter().map(|contact| contact.time);
            times.collect::<Vec<_>>()
        };
        let by_order = contacts(&at_level(DynamicsLevel::Lane, 0.01));
        let by_bodies = contacts(&RunOptions {
            verify: true,
            ..at_level(DynamicsLevel::Lane, 0.01)
        });
        let steering = contacts(&at_level(DynamicsLevel::OneTrack, 0.01));
        assert_eq!((by_bodies.len(), by_order.len()), (1, 1), "start {number}");
        // Bodies are compared in each step, but the order along lanes is only checked five times a second.
        let late = by_order[0] - by_bodies[0];
        assert!((0.0..0.2).contains(&late), "start {number}: {late} s");
        assert!((by_bodies[0] - steering[0]).abs() < 0.1, "start {number}");
    }
}
