//! Tests of roads that lie over each other without a junction.

use crate::common::{add_flow, cars, draw_street};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{RunOptions, VehicleRecord, World, builtin_modules};
use std::collections::BTreeSet;

/// Creates two one-way streets of two lanes, the second 3 m beside the first, with flows on all four lanes that
/// depart side by side.
fn streets(layer: i8) -> Scenario {
    let mut scenario = Scenario::new("overlap");
    crate::common::equip(&mut scenario, "crossroads");
    for (y, above) in [(0.0, 0), (3.0, 1)] {
        // Drawn on the layer above, so that no junction is created.
        let style = RoadStyle {
            layer: above,
            ..crate::common::street(2, 0)
        };
        draw_street(&mut scenario, (0.0, y).into(), (300.0, y).into(), &style);
    }
    let road = Road {
        layer,
        ..scenario.network().road(RoadId(2)).unwrap().clone()
    };
    let edit = Edit::Road(RoadId(2), Some(Box::new(road)));
    scenario.apply(edit).unwrap();
    for (road, lane) in [(1, -1), (1, -2), (2, -1), (2, -2)] {
        let place = |s: f64| Place::lane(RoadId(road), lane, s);
        add_flow(&mut scenario, cars(place(10.0), place(290.0), 900.0));
    }
    scenario
}

/// Runs a scenario. Returns the number of departed vehicles, and how many of them were spawned
/// overlapping another vehicle.
fn departures(scenario: &Scenario) -> (usize, usize) {
    let options = RunOptions {
        dynamics: Some(DynamicsLevel::Lane),
        ..RunOptions::default()
    };
    let mut world = World::new(scenario, &builtin_modules(), &options).unwrap();
    let (mut seen, mut within) = (BTreeSet::new(), 0);
    let body =
        |vehicle: &VehicleRecord| OrientedBox::new(vehicle.body, vehicle.length, vehicle.width);
    while world.time() < 60.0 {
        world.step();
        let vehicles = world.snapshot().vehicles;
        for one in &vehicles {
            if seen.insert(one.agent) {
                let own = body(one);
                let mut others = vehicles.iter().filter(|other| other.agent != one.agent);
                within += usize::from(others.any(|other| own.penetration(&body(other)) > 0.01));
            }
        }
    }
    (seen.len(), within)
}

#[test]
fn no_vehicle_appears_in_one_on_a_road_that_lies_over_its_own() {
    let (departed, within) = departures(&streets(0));
    assert_eq!(within, 0);
    assert!(departed > 30, "{departed}");
    // A bridge over the road makes no difference to the road.
    let (departed, within) = departures(&streets(1));
    assert!(within > 5, "{within}");
    assert!(departed > 50, "{departed}");
}
