//! Scores put drivers in order: good ones before bad ones.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "../../scenario/tests/common/mod.rs"]
mod common;
mod modules;

use common::{draw, street, west_to_north};
use roadwright_scenario::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, World};

/// Mean score of four cars behind each other on one road, with a slow one ahead, after a minute.
fn score(share: f64) -> f64 {
    let mut road = Scenario::new("road");
    let style = RoadStyle {
        section: CrossSection::driving(1, 0, 3.25),
        ..street("road")
    };
    draw(&mut road, (0.0, 0.0), (900.0, 0.0), &style);
    let stack = |share: f64| Stack {
        behaviour: ModuleSetting::new("pace").with("share", share),
        ..Stack::with_controller("idm")
    };
    let stacks = [("slow", stack(0.7)), ("tried", stack(share))];
    for (name, stack) in stacks {
        let edit = Edit::Stack(name.into(), Some(Box::new(stack)));
        road.apply(edit).unwrap();
    }
    for id in 0..5u32 {
        let agent = Agent {
            stack: if id == 0 {
                "slow".into()
            } else {
                "tried".into()
            },
            start: Place::lane(RoadId(1), -1, 100.0 - 20.0 * f64::from(id)),
            destination: Some(Place::lane(RoadId(1), -1, 890.0)),
            ..west_to_north()
        };
        let edit = Edit::Agent(AgentId(id + 1), Some(Box::new(agent)));
        road.apply(edit).unwrap();
    }
    let registry = modules::with_test_modules();
    let mut world = World::new(&road, &registry, &RunOptions::default()).unwrap();
    (0..6000).for_each(|_| world.step());
    let summary = world.summary();
    let tried = summary
        .stacks
        .iter()
        .find(|stack| stack.stack == "tried")
        .unwrap();
    tried.fitness[0].score.mean
}

#[test]
fn who_drives_slower_scores_worse_whatever_its_behaviour_allows() {
    let good = score(1.0);
    let slow = score(0.5);
    let crawling = score(0.1);
    let standing = score(0.0);
    let order = [good, slow, crawling, standing];
    assert!(
        order.windows(2).all(|pair| pair[0] + 0.05 < pair[1]),
        "{order:?}"
    );
    // A tenth of the speed misses nine tenths of it; the slow car ahead is counted too.
    assert!((0.75..0.95).contains(&crawling), "{crawling}");
}
