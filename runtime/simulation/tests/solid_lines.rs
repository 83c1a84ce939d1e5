//! Tests of lines between lanes that must not be crossed, in traffic.

use crate::common::{add_flow, cars, draw_street};
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, World, builtin_modules};
use std::collections::BTreeMap;

/// Creates a one-way street that consists of three roads with two lanes each. At its end, the left lane turns
/// left (road 4) and the right lane turns right (road 5).
///
/// ```text
///     1 (150 m)      2 (150 m)      3 (120 m)   / 4
///   ------------o--------------o---------------o
///   ------------o--------------o---------------o
///                                               \\ 5
/// ```
fn street(lines: &[(u32, LaneChange)]) -> Scenario {
    let mut scenario = Scenario::new("street");
    crate::common::equip(&mut scenario, "crossroads");
    let courses = [
        ((0.0, 0.0), (150.0, 0.0), 2),
        ((150.0, 0.0), (300.0, 0.0), 2),
        ((300.0, 0.0), (420.0, 0.0), 2),
        ((420.0, 0.0), (520.0, 80.0), 1),
        ((420.0, 0.0), (520.0, -80.0), 1),
    ];
    for (from, to, lanes) in courses {
        draw_street(
            &mut scenario,
            from.into(),
            to.into(),
            &crate::common::street(lanes, 0),
        );
    }
    for &(id, change) in lines {
        let id = RoadId(id);
        let mut road = scenario.network().road(id).unwrap().clone();
        for lane in &mut road.lane_sections[0].lanes {
            lane.lane_change = change;
        }
        scenario
            .apply(Edit::Road(id, Some(Box::new(road))))
            .unwrap();
    }
    scenario
}

/// Adds a flow of cars from a lane of a road to one of the roads at the end.
fn flow(scenario: &mut Scenario, from: u32, lane: i8, to: u32, rate: f64) {
    let origin = Place::lane(RoadId(from), lane, 10.0);
    let destination = Place::lane(RoadId(to), -1, 60.0);
    add_flow(scenario, cars(origin, destination, rate));
}

/// Runs the scenario. Returns the number of lane changes by road and side (1 to the left), and the number of
/// arrivals.
fn changes(scenario: &Scenario, level: DynamicsLevel) -> (BTreeMap<(u32, i8), u32>, usize) {
    let options = RunOptions {
        dynamics: Some(level),
        dt: Some(0.1),
        verify: true,
        ..RunOptions::default()
    };
    let mut world = World::new(scenario, &builtin_modules(), &options).unwrap();
    let mut last: BTreeMap<u64, (RoadId, i8)> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    while world.time() < 240.0 {
        world.step();
        for vehicle in &world.snapshot().vehicles {
            let Some((road, lane)) = vehicle.lane else {
                continue;
            };
            let before = last.insert(vehicle.agent, (road, lane));
            if let Some((_, old)) = before.filter(|&(old, before)| old == road && before != lane) {
                // Lane -1 is the left one.
                *counts.entry((road.0, (lane - old).signum())).or_insert(0) += 1;
            }
        }
    }
    let summary = world.summary();
    assert!(summary.collisions.is_empty(), "{:?}", summary.collisions);
    (counts, summary.agents.arrived)
}

#[test]
fn who_has_to_change_does_so_before_the_line_begins() {
    for level in [DynamicsLevel::Lane, DynamicsLevel::OneTrack] {
        let run = |lines: &[(u32, LaneChange)]| {
            let mut scenario = street(lines);
            flow(&mut scenario, 1, -2, 4, 300.0);
            flow(&mut scenario, 1, -1, 5, 300.0);
            changes(&scenario, level)
        };
        // Without lines, lanes are changed about 200 m before the end or later, that is, on the second and
        // third road.
        let (free, arrived) = run(&[]);
        let on = |counts: &BTreeMap<(u32, i8), u32>, road| {
            [1, -1].map(|side| counts.get(&(road, side)).copied().unwrap_or(0))
        };
        let beyond = on(&free, 2).iter().chain(&on(&free, 3)).sum::<u32>();
        assert!(beyond > 10 && arrived > 20, "{level:?} {free:?} {arrived}");
        let solid = [(2, LaneChange::None), (3, LaneChange::None)];
        let (lined, arrived) = run(&solid);
        assert!(on(&lined, 1).iter().all(|&count| count > 5), "{lined:?}");
        assert_eq!(
            (on(&lined, 2), on(&lined, 3)),
            ([0; 2], [0; 2]),
            "{level:?}"
        );
        assert!(arrived > 15, "{level:?} {arrived}");
        // These lines may only be crossed from the right.
        let one_sided = [(2, LaneChange::Left), (3, LaneChange::Left)];
        let (lined, _) = run(&one_sided);
        assert_eq!((on(&lined, 2)[1], on(&lined, 3)[1]), (0, 0), "{lined:?}");
        assert!(on(&lined, 2)[0] + on(&lined, 3)[0] > 5, "{lined:?}");
    }
}

#[test]
fn who_cannot_change_any_more_does_not_set_out() {
    let lanes = |road, lane| {
        let solid = [1, 2, 3].map(|road| (road, LaneChange::None));
        let mut scenario = street(&solid);
        flow(&mut scenario, road, lane, 4, 400.0);
        changes(&scenario, DynamicsLevel::Lane)
    };
    let (counts, arrived) = lanes(2, -2);
    assert_eq!((counts.len(), arrived), (0, 0));
    // From the left lane, no lane change is needed.
    let (counts, arrived) = lanes(2, -1);
    assert!(counts.is_empty() && arrived > 10, "{counts:?} {arrived}");
}
