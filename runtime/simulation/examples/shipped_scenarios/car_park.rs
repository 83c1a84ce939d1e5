//! A car park with bays of three kinds, and people who walk to their cars.
//!
//! ```text
//!        hedge  ______________________________________________
//!        people                <--------- door
//!        rail   _____________
//!        bays   | | | | | | |
//!   cars ----------------------------------------------------->   aisle, one-way
//!        bays   [__] [__] [__]              \ \ \ \ \ \ \
//!        kerb   _______________            ______________ rail
//!        people       <--- door   door --->
//!        hedge  ______________________________________________
//! ```
//!
//! Rails and kerb keep people off the ground on which cars move.

use super::builder::{Builder, style};
use super::scripted::driven_by_script;
use roadwright_geometry::Pose;
use roadwright_scenario::{
    CrossSection, DrivingSide, Edit, Flow, LandUse, LaneType, ModuleSetting, Obstacle, Place,
    PointOfInterest, RoadClass, RoadId, Scenario, Settings, Shape, Stack, VehicleType,
};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, PI};

/// Ends of the aisle, m.
const AISLE: [f64; 2] = [-60.0, 170.0];
/// Numbers of parallel, perpendicular and angled bays.
const BAYS: [u32; 3] = [6, 10, 8];
/// Time during which cars and people arrive, s.
const COMES: f64 = 2880.0;
/// Time at which the first person arrives, s.
const FIRST_PERSON: f64 = 100.0;

/// Cars arrive from a flow, park in free bays, and leave some minutes later when their drivers have returned.
pub(crate) fn car_park() -> Scenario {
    let mut b = Builder::new(
        "car-park",
        "A car park along a one-way aisle, with parallel, perpendicular and angled bays. Each \
         arriving car takes a free bay and stays there for a few minutes. Then its driver walks \
         back to it and drives away.",
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
    b.road(&AISLE.map(|x| (x, 0.0)), 0.0, &aisle);
    ground(&mut b);
    bays(&mut b);
    cars(&mut b);
    people(&mut b);
    b.judge_by_default();
    b.scenario
}

fn cars(b: &mut Builder) {
    let stack = Stack {
        ground_planner: Some(ModuleSetting::new("drivable_path")),
        ..driven_by_script("car_park", "lqr")
    };
    b.stack("visitor", stack);
    let length = AISLE[1] - AISLE[0];
    b.flow(Flow {
        vehicle: "car".into(),
        stack: "visitor".into(),
        dynamics: None,
        origin: Place::lane(RoadId(1), -1, 3.0),
        destination: Place::lane(RoadId(1), -1, length - 5.0),
        rate_per_hour: 60.0.into(),
        begin: 0.0.into(),
        end: COMES.into(),
    });
}

/// Adds people who leave the shops by three doors, one for each kind of bay.
fn people(b: &mut Builder) {
    let person = Box::new(VehicleType::person());
    b.apply(Edit::VehicleType("person".into(), Some(person)));
    let script = driven_by_script("to_car", "pd_follower");
    let stack = Stack {
        behaviour: script.behaviour,
        ..Stack::on_foot()
    };
    b.stack("on_foot", stack);
    for (x, y, heading) in [(52.0, 9.9, PI), (51.0, -6.6, PI), (53.0, -10.2, 0.0)] {
        let ahead = Pose::new(x, y, heading).point(2.0, 0.0);
        b.flow(Flow {
            vehicle: "person".into(),
            stack: "on_foot".into(),
            dynamics: None,
            origin: Place::ground(x, y, heading),
            destination: Place::ground(ahead.x, ahead.y, heading),
            rate_per_hour: 70.0.into(),
            begin: FIRST_PERSON.into(),
            end: (COMES + 420.0).into(),
        });
    }
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

/// Adds the ground, shops, hedges, rails and a kerb.
fn ground(b: &mut Builder) {
    for (name, [x, y, length, width], height) in [
        ("rail", [32.0, 9.0, 30.0, 0.1], 0.5),
        ("hedge", [25.5, 11.2, 51.0, 1.0], 1.5),
        ("kerb", [25.0, -5.2, 44.0, 0.4], 0.3),
        ("rail", [70.0, -9.2, 29.0, 0.1], 0.5),
        ("hedge", [25.0, -8.5, 44.0, 1.0], 1.5),
        ("hedge", [72.0, -11.9, 34.0, 1.0], 1.5),
        ("shops", [58.0, 11.0, 10.0, 6.0], 4.0),
        ("shops", [52.0, -12.0, 1.0, 6.0], 4.0),
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
    let paved = [(-2.0, -11.4), (97.0, -11.4), (97.0, 10.7), (-2.0, 10.7)];
    b.land(LandUse::Paved, "Car park", &paved);
}
