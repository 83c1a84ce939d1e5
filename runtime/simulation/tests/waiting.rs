//! Tests of the reasons why vehicles wait.

use crate::common::{add_flow, cars, draw_street};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, StopReason, Why, World, builtin_modules};

/// Creates a street of which the middle part is a road too narrow for two cars, with flows in both directions.
fn narrow_middle() -> Scenario {
    let mut scenario = Scenario::new("narrow");
    crate::common::equip(&mut scenario, "crossroads");
    for (from, to, width) in [
        (0.0, 100.0, 3.25),
        (100.0, 160.0, 2.0),
        (160.0, 260.0, 3.25),
    ] {
        let style = RoadStyle {
            section: CrossSection::driving(1, 1, width),
            ..crate::common::street(1, 1)
        };
        draw_street(&mut scenario, (from, 0.0).into(), (to, 0.0).into(), &style);
    }
    let place = |road: u32, lane: i8, s: f64| Place::lane(RoadId(road), lane, s);
    for (from, to) in [
        (place(1, -1, 10.0), place(3, -1, 90.0)),
        (place(3, 1, 90.0), place(1, 1, 10.0)),
    ] {
        add_flow(&mut scenario, cars(from, to, 300.0));
    }
    scenario
}

#[test]
fn a_vehicle_at_a_stop_line_before_an_alley_says_whom_it_waits_for() {
    let options = RunOptions {
        dynamics: Some(DynamicsLevel::Lane),
        dt: Some(0.1),
        ..RunOptions::default()
    };
    let mut world = World::new(&narrow_middle(), &builtin_modules(), &options).unwrap();
    // At the western and at the eastern end.
    let mut told = [0, 0];
    while world.time() < 300.0 {
        world.step();
        for vehicle in world.snapshot().vehicles {
            let seen = world.inspect(vehicle.agent).and_then(|seen| seen.waits);
            let Some(waits) = seen.filter(|waits| matches!(waits.why, Why::Alley(_))) else {
                continue;
            };
            let chain = world.wait_chain(vehicle.agent).unwrap();
            let reason = chain.links[0].stop.as_ref().map(|stop| &stop.reason);
            assert!(
                !matches!(reason, Some(StopReason::NotAsked(_))),
                "agent {} waits for {waits}",
                vehicle.agent
            );
            if reason == Some(&StopReason::Junction(waits)) {
                told[usize::from(vehicle.lane == Some((RoadId(3), 1)))] += 1;
            }
        }
    }
    assert!(told.iter().all(|&count| count > 50), "{told:?}");
}
