//! Tests that scores rank good drivers above bad drivers.

use crate::scenarios::{draw, street, west_to_east};
use roadwright_agent::Slot;
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, Status, World};
use std::collections::BTreeMap;

const FITNESSES: [&str; 5] = [
    "crash_and_speed",
    "comfort",
    "safety",
    "progress",
    "rule_keeping",
];

fn stack(controller: ModuleSetting, share: f64) -> Stack {
    let mut stack = Stack {
        behaviour: ModuleSetting::new("pace").with("share", share),
        controller,
        ..Stack::default()
    };
    let all = FITNESSES.map(ModuleSetting::new).to_vec();
    assert!(stack.set(Slot::Fitness, all));
    stack
}

/// Returns the mean scores of four cars in a row after a minute on a road with a slow car ahead.
fn scores(controller: ModuleSetting, share: f64) -> BTreeMap<String, f64> {
    let mut road = Scenario::new("road");
    let style = RoadStyle {
        section: CrossSection::driving(1, 0, 3.25),
        ..street("road")
    };
    draw(&mut road, (0.0, 0.0), (900.0, 0.0), &style);
    let stacks = [
        ("slow", stack(ModuleSetting::new("idm"), 0.7)),
        ("tried", stack(controller, share)),
    ];
    for (name, stack) in stacks {
        let edit = Edit::Stack(name.into(), Some(Box::new(stack)));
        road.apply(edit).unwrap();
    }
    for id in 0..5u32 {
        let name = if id == 0 { "slow" } else { "tried" };
        let agent = Agent {
            stack: name.into(),
            start: Place::lane(RoadId(1), -1, 100.0 - 20.0 * f64::from(id)),
            destination: Some(Place::lane(RoadId(1), -1, 890.0)),
            ..west_to_east()
        };
        let edit = Edit::Agent(AgentId(id + 1), Some(Box::new(agent)));
        road.apply(edit).unwrap();
    }
    let registry = crate::modules::with_test_modules();
    let mut world = World::new(&road, &registry, &RunOptions::default()).unwrap();
    (0..6000).for_each(|_| world.step());
    let summary = world.summary();
    let mut stacks = summary.stacks.iter();
    let tried = stacks.find(|stack| stack.stack == "tried").unwrap();
    assert_eq!(tried.fitness.len(), FITNESSES.len());
    let fitness = tried.fitness.iter();
    fitness
        .map(|fitness| (fitness.module.clone(), fitness.score.mean))
        .collect()
}

#[test]
fn every_fitness_puts_drivers_in_order() {
    let idm = || ModuleSetting::new("idm");
    let close = idm().with("headway", 0.1).with("standstill_gap", 0.5);
    let drivers = BTreeMap::from([
        ("good", scores(idm(), 1.0)),
        ("slow", scores(idm(), 0.5)),
        ("tailgating", scores(close, 1.0)),
        ("crawling", scores(idm(), 0.1)),
        ("jerking", scores(ModuleSetting::new("jerky"), 1.0)),
        ("standing", scores(idm(), 0.0)),
    ]);
    // In each pair of drivers, the first driver is better by more than the margin.
    for (fitness, margin, order) in [
        (
            "crash_and_speed",
            0.05,
            &["good", "slow", "crawling", "standing"][..],
        ),
        ("crash_and_speed", 0.0, &["jerking", "standing"]),
        ("comfort", 0.05, &["crawling", "good", "jerking"]),
        ("comfort", 0.0, &["tailgating", "jerking"]),
        ("safety", 0.05, &["good", "tailgating"]),
        ("safety", -1e-9, &["standing", "crawling", "good"]),
        ("progress", 0.05, &["good", "slow", "crawling", "standing"]),
        ("rule_keeping", -1e-9, &["standing", "good"]),
    ] {
        for pair in order.windows(2) {
            let (better, worse) = (drivers[pair[0]][fitness], drivers[pair[1]][fitness]);
            assert!(
                better + margin < worse,
                "{fitness}: {} {better}, {} {worse}; {drivers:#?}",
                pair[0],
                pair[1]
            );
        }
    }
    // A driver at a tenth of the speed loses nine tenths of the time, and more because of the slow
    // car ahead. A stationary vehicle loses all of it.
    let of = |driver: &str, fitness: &str| drivers[driver][fitness];
    assert!((0.75..0.95).contains(&of("crawling", "crash_and_speed")));
    assert!(of("standing", "progress") > 0.999);
    // Driving off does not count as a jerk, so a gentle driver is comfortable.
    assert!(
        of("good", "comfort") < 1.0 && of("jerking", "comfort") > 2.0,
        "{drivers:#?}"
    );
}

/// Returns the scores of a single car that drives at a fraction of the speed limit of 13.9 m/s for
/// two minutes.
fn alone(share: f64) -> BTreeMap<String, f64> {
    let mut road = Scenario::new("road");
    let style = RoadStyle {
        section: CrossSection::driving(1, 0, 3.25),
        ..street("road")
    };
    draw(&mut road, (0.0, 0.0), (900.0, 0.0), &style);
    let mut driver = stack(ModuleSetting::new("idm"), share);
    let all = [
        "crash_and_speed",
        "safe_arrival",
        "time_above_limit",
        "contacts",
    ];
    assert!(driver.set(Slot::Fitness, all.map(ModuleSetting::new).to_vec()));
    let edit = Edit::Stack("alone".into(), Some(Box::new(driver)));
    road.apply(edit).unwrap();
    let agent = Agent {
        stack: "alone".into(),
        start: Place::lane(RoadId(1), -1, 100.0),
        destination: Some(Place::lane(RoadId(1), -1, 890.0)),
        ..west_to_east()
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    road.apply(edit).unwrap();
    let registry = crate::modules::with_test_modules();
    let mut world = World::new(&road, &registry, &RunOptions::default()).unwrap();
    while world.time() < 120.0 {
        world.step();
    }
    let summary = world.summary();
    let mut stacks = summary.stacks.iter();
    let own = stacks.find(|stack| stack.stack == "alone").unwrap();
    let fitness = own.fitness.iter();
    fitness
        .map(|fitness| (fitness.module.clone(), fitness.score.mean))
        .collect()
}

#[test]
fn a_drive_above_the_limit_ranks_behind_one_that_keeps_to_it_and_before_one_that_never_arrives() {
    let [keeps, slow, fast, stands] = [1.0, 0.7, 1.6, 0.0].map(alone);
    let order = [&keeps, &slow, &fast, &stands].map(|drive| drive["safe_arrival"]);
    assert!(order.is_sorted() && order[0] + 0.05 < order[1], "{order:?}");
    assert!(
        order[1] + 0.1 < order[2] && order[2] + 1.0 < order[3],
        "{order:?}"
    );
    assert_eq!(keeps["time_above_limit"], 0.0);
    assert!(fast["time_above_limit"] > 0.5, "{fast:?}");
    assert_eq!(fast["contacts"], 0.0);
    // Comparison: the fitness function of the source does not distinguish the two.
    assert!(
        fast["crash_and_speed"] <= keeps["crash_and_speed"],
        "{fast:?}"
    );
}

/// Creates a jeep on open ground with its goal 120 m ahead and a wall of 20 m in between.
fn before_a_wall(stack: &Stack, heading: f64) -> Scenario {
    let mut field = Scenario::new("field");
    let wall = Obstacle {
        name: "wall".into(),
        shape: Shape::Box {
            x: 0.0.into(),
            y: 0.0.into(),
            heading: 0.0.into(),
            length: 1.0.into(),
            width: 20.0.into(),
        },
        base: 0.0.into(),
        height: 3.0.into(),
        mass: None.into(),
    };
    let agent = Agent {
        vehicle: "willys_mb".into(),
        stack: "tried".into(),
        start: Place::ground(-60.0, 0.0, heading),
        destination: Some(Place::ground(60.0, 0.0, 0.0)),
        ..west_to_east()
    };
    for edit in [
        Edit::Obstacle(ObstacleId(1), Some(Box::new(wall))),
        Edit::Stack("tried".into(), Some(Box::new(stack.clone()))),
        Edit::Agent(AgentId(1), Some(Box::new(agent))),
    ] {
        field.apply(edit).unwrap();
    }
    field
}

/// Returns the score of the only drive after two minutes, and whether the agent has arrived.
fn judged(scenario: &Scenario) -> (f64, bool) {
    let registry = crate::modules::with_test_modules();
    let mut world = World::new(scenario, &registry, &RunOptions::default()).unwrap();
    while world.time() < 120.0 && !world.is_over() {
        world.step();
    }
    let drives = world.drives();
    let [(fitness, score)] = drives[0].scores[..] else {
        panic!("{:?}", drives[0].scores);
    };
    assert_eq!(fitness, "safe_arrival");
    (score, drives[0].status == Status::Arrived)
}

#[test]
fn the_default_fitness_ranks_drives_that_do_not_arrive_behind_all_others() {
    let straight = Some(ModuleSetting::new("straight"));
    let around = Stack::with_controller("pursuit");
    let through = Stack {
        ground_planner: straight.clone(),
        ..around.clone()
    };
    let standing = Stack {
        behaviour: ModuleSetting::new("pace").with("share", 0.0),
        ..around.clone()
    };
    // A vehicle that drives straight away from its goal never turns around.
    let away = Stack {
        ground_planner: straight,
        ..Stack::with_controller("idm")
    };
    let drives = [
        ("around the wall", judged(&before_a_wall(&around, 0.0))),
        ("through the wall", judged(&before_a_wall(&through, 0.0))),
        ("standing still", judged(&before_a_wall(&standing, 0.0))),
        (
            "driving away",
            judged(&before_a_wall(&away, std::f64::consts::PI)),
        ),
    ];
    let arrived = drives.map(|(_, (_, arrived))| arrived);
    assert_eq!(arrived, [true, true, false, false], "{drives:?}");
    for pair in drives.windows(2) {
        assert!(pair[0].1.0 + 0.1 < pair[1].1.0, "{drives:?}");
    }
}

#[test]
fn remaining_distance_and_contacts_do_not_depend_on_other_fitnesses() {
    // If the list contains other fitness functions, all statistics are collected. Otherwise, only
    // the statistics that the default fitness function needs are collected.
    let standing = Stack {
        behaviour: ModuleSetting::new("pace").with("share", 0.0),
        ..Stack::with_controller("pursuit")
    };
    let through = Stack {
        ground_planner: Some(ModuleSetting::new("straight")),
        ..Stack::with_controller("pursuit")
    };
    for stack in [standing, through] {
        let scenario = before_a_wall(&stack, 0.0);
        let mut both = stack.clone();
        let list = ["safe_arrival", "contacts"]
            .map(ModuleSetting::new)
            .to_vec();
        assert!(both.set(Slot::Fitness, list));
        let score = |scenario: &Scenario| {
            let registry = crate::modules::with_test_modules();
            let mut world = World::new(scenario, &registry, &RunOptions::default()).unwrap();
            while world.time() < 30.0 && !world.is_over() {
                world.step();
            }
            world.drives()[0].scores[0].1
        };
        assert_eq!(score(&scenario), score(&before_a_wall(&both, 0.0)));
    }
}
