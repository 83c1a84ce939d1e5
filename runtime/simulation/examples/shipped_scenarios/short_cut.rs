//! A road around a field: vehicles leave the lanes whenever that is quicker.

use super::builder::{Builder, named, style, trip};
use roadwright_scenario::{
    CrossSection, DrivingSide, Edit, Flow, LandUse, Obstacle, OffRoad, Place, RoadClass, RoadId,
    Scenario, Shape, VehicleType,
};

/// The road around the field.
const LONG_ROAD: RoadId = RoadId(1);
/// The track to the farm, which no lane connects to the road.
const FARM_TRACK: RoadId = RoadId(2);

/// A road leads around a field. One jeep crosses the field, because it may drive anywhere. Another
/// one keeps to the road, and two drive to and from a farm that no lane connects to the road.
pub(crate) fn short_cut() -> Scenario {
    let mut b = Builder::new(
        "short-cut",
        "A road leads around a field. A jeep whose type may leave the road freely crosses the \
         field, one whose type leaves it only when needed keeps to the road, and two drive to and \
         from a farm that no lane connects to the road.",
        DrivingSide::Right,
    );
    b.settings(1, 150.0);
    country(&mut b);
    b.judge_by_default();
    let jeep = b.scenario.vehicle_types()["willys_mb"].clone();
    for (key, name, off_road) in [
        ("free_jeep", "Jeep, drives anywhere", OffRoad::Free),
        ("road_jeep", "Jeep, keeps to roads", OffRoad::WhenNeeded),
    ] {
        let kind = VehicleType {
            name: name.into(),
            off_road,
            ..jeep.clone()
        };
        b.apply(Edit::VehicleType(key.into(), Some(Box::new(kind))));
    }
    drivers(&mut b);
    b.scenario
}

/// Adds the roads and the objects between them.
fn country(b: &mut Builder) {
    let lanes = || CrossSection::driving(1, 1, 3.25);
    let around = [
        (-340.0, -90.0),
        (170.0, -90.0),
        (170.0, 110.0),
        (-340.0, 110.0),
    ];
    let long = style("Long Road", RoadClass::Collector, 50.0, lanes());
    b.road(&around, 50.0, &long);
    let track = style("Farm Track", RoadClass::Service, 30.0, lanes());
    b.road(&[(0.0, 20.0), (110.0, 20.0)], 0.0, &track);
    b.building(
        "barn",
        &[(60.0, 30.0), (84.0, 30.0), (84.0, 44.0), (60.0, 44.0)],
        7.0,
    );
    b.building(
        "farmhouse",
        &[(96.0, 32.0), (110.0, 32.0), (110.0, 42.0), (96.0, 42.0)],
        8.0,
    );
    b.building(
        "shed",
        &[(-196.0, 0.0), (-176.0, 0.0), (-176.0, 12.0), (-196.0, 12.0)],
        4.0,
    );
    b.obstacle(Obstacle {
        name: "hedge".into(),
        shape: Shape::Box {
            x: (-110.0).into(),
            y: 55.0.into(),
            heading: 0.3.into(),
            length: 70.0.into(),
            width: 1.5.into(),
        },
        base: 0.0.into(),
        height: 2.0.into(),
        mass: None.into(),
    });
    let pond = [
        (-130.0, -40.0),
        (-95.0, -52.0),
        (-70.0, -35.0),
        (-82.0, -8.0),
        (-118.0, -10.0),
    ];
    b.land(LandUse::Water, "Pond", &pond);
    let meadow = [
        (-236.0, -84.0),
        (120.0, -84.0),
        (162.0, -40.0),
        (162.0, 62.0),
        (120.0, 104.0),
        (-236.0, 104.0),
    ];
    b.land(LandUse::Grass, "Meadow", &meadow);
}

/// Adds four jeeps, and cars on the road.
fn drivers(b: &mut Builder) {
    let end = road_length(b, LONG_ROAD) - 20.0;
    let (begin, arrival) = (
        Place::lane(LONG_ROAD, -1, 100.0),
        Place::lane(LONG_ROAD, -1, end - 130.0),
    );
    for (name, vehicle, depart) in [
        ("jeep across the field", "free_jeep", 0.0),
        ("jeep on the road", "road_jeep", 3.0),
    ] {
        b.agent(named(name, trip(vehicle, "idm", begin, arrival, depart)));
    }
    let farm = Place::lane(FARM_TRACK, -1, 90.0);
    b.agent(named(
        "jeep to the farm",
        trip("free_jeep", "idm", begin, farm, 8.0),
    ));
    let from_farm = Place::lane(FARM_TRACK, 1, 90.0);
    b.agent(named(
        "jeep from the farm",
        trip("free_jeep", "idm", from_farm, arrival, 0.0),
    ));
    for (lane, origin, destination) in [(-1, 5.0, end), (1, end, 5.0)] {
        b.flow(Flow {
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: None,
            origin: Place::lane(LONG_ROAD, lane, origin),
            destination: Place::lane(LONG_ROAD, lane, destination),
            rate_per_hour: 120.0.into(),
            begin: 0.0.into(),
            end: 90.0.into(),
        });
    }
}

fn road_length(b: &Builder, id: RoadId) -> f64 {
    let mut roads = b.scenario.network().roads();
    let (_, road) = roads
        .find(|(other, _)| *other == id)
        .expect("it has been drawn");
    road.length()
}
