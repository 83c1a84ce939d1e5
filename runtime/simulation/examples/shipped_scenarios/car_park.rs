//! A car park with bays of three kinds.

use super::builder::{Builder, style};
use super::scripted::driven_by_script;
use roadwright_geometry::Pose;
use roadwright_scenario::{
    CrossSection, DrivingSide, Edit, Flow, LandUse, LaneType, ModuleSetting, Obstacle, Place,
    PointOfInterest, RoadClass, RoadId, Scenario, Settings, Shape, Stack,
};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3};

/// Ends of the aisle, m.
const AISLE: [f64; 2] = [-60.0, 170.0];
/// Numbers of parallel, perpendicular and angled bays.
const BAYS: [u32; 3] = [6, 10, 8];

/// Cars come by a flow, park in free bays, stay for some minutes and leave.
pub(crate) fn car_park() -> Scenario {
    let mut b = Builder::new(
        "car-park",
        "A car park along a one-way aisle, with parallel, perpendicular and angled bays. Each car that comes \
         takes a free bay, stays there for some minutes, and leaves.",
        DrivingSide::Right,
    );
    b.apply(Edit::Settings(Settings {
        dt: 0.05.into(),
        seed: 1,
        duration: 3600.0.into(),
        ..Settings::default()
    }));
    let section = CrossSection {
        forward: vec![(LaneType::Driving, 3.5)],
        backward: Vec::new(),
    };
    let aisle = style("Car park", RoadClass::Service, 20.0, section);
    // The lane lies to the right of the road's line, so its middle is y = 0.
    b.road(&AISLE.map(|x| (x, 1.75)), 0.0, &aisle);
    ground(&mut b);
    bays(&mut b);
    let stack = Stack {
        ground_planner: Some(ModuleSetting::new("drivable_path")),
        ..driven_by_script("car_park", "lqr")
    };
    b.stack("visitor", stack);
    b.judge_by_default();
    let length = AISLE[1] - AISLE[0];
    b.flow(Flow {
        vehicle: "car".into(),
        stack: "visitor".into(),
        dynamics: None,
        origin: Place::lane(RoadId(1), -1, 3.0),
        destination: Place::lane(RoadId(1), -1, length - 5.0),
        rate_per_hour: 90.0.into(),
        begin: 0.0.into(),
        end: 2880.0.into(),
    });
    b.scenario
}

/// Adds the bays, with the names that the script looks for.
fn bays(b: &mut Builder) {
    let [parallel, perpendicular, angled] = BAYS;
    let along = |number: u32, first: f64, pitch: f64| first + pitch * f64::from(number);
    let parallel = (0..parallel).map(|n| Pose::new(along(n, 8.0, 6.5), -3.7, 0.0));
    let perpendicular = (0..perpendicular).map(|n| Pose::new(along(n, 20.0, 2.6), 6.3, FRAC_PI_2));
    let angled = (0..angled).map(|n| Pose::new(along(n, 58.0, 3.0), -6.3, -FRAC_PI_3));
    for (number, bay) in (1..).zip(parallel.chain(perpendicular).chain(angled)) {
        let point = PointOfInterest {
            name: format!("bay {number}"),
            x: bay.position.x.into(),
            y: bay.position.y.into(),
            heading: Some(bay.heading).into(),
        };
        let id = b.scenario.next_point_of_interest_id();
        b.apply(Edit::PointOfInterest(id, Some(Box::new(point))));
    }
}

/// Adds the ground, hedges and a kerb.
fn ground(b: &mut Builder) {
    for (name, [x, y, length, width], height) in [
        ("hedge", [40.0, 9.6, 80.0, 1.0], 1.5),
        ("kerb", [25.0, -5.1, 50.0, 0.4], 0.3),
        ("hedge", [72.0, -9.9, 50.0, 1.0], 1.5),
    ] {
        b.obstacle(Obstacle {
            name: name.into(),
            shape: Shape::Box {
                x: x.into(),
                y: y.into(),
                heading: 0.0.into(),
                length: length.into(),
                width: width.into(),
            },
            base: 0.0.into(),
            height: height.into(),
            mass: None.into(),
        });
    }
    let paved = [(-2.0, -9.4), (97.0, -9.4), (97.0, 9.1), (-2.0, 9.1)];
    b.land(LandUse::Paved, "Car park", &paved);
}
