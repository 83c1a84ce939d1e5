//! Tests of trips from a lane into a parking bay and back. They use the stack that the editor gives
//! vehicles whose destination is a bay.

use crate::common::{add_flow, cars, draw_street, street};
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::math::{cos, sin, wrap_angle};
use roadwright_scenario::{
    Agent, AgentId, BAY, Edit, ModuleSetting, Obstacle, ObstacleId, Place, RoadId, Scenario, Shape,
    Stack, VehicleType,
};
use roadwright_simulation::{Party, RunOptions, World, builtin_modules};
use roadwright_testing::is_slow;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, PI};

/// Half the length of the street, m.
const HALF: f64 = 100.0;
/// Distance between the kerbs and the centre line of the street, m.
const EDGE: f64 = 3.25;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Parallel,
    Perpendicular,
    Angled,
}

/// A bay beside a street along x, and the lane on which a trip begins or ends.
#[derive(Debug, Clone, Copy)]
struct Bay {
    kind: Kind,
    /// Whether the bay is on the left of the street, beside the westbound traffic.
    is_left: bool,
    /// Whether the car drives on the westbound lane.
    is_westbound: bool,
}

impl Bay {
    /// Returns the angle between the street and a parked vehicle (rad), and the distance between
    /// two bays (m).
    fn shape(self) -> (f64, f64) {
        match self.kind {
            Kind::Parallel => (0.0, 6.0),
            Kind::Perpendicular => (FRAC_PI_2, 2.5),
            Kind::Angled => (FRAC_PI_3, 2.5 / sin(FRAC_PI_3)),
        }
    }

    /// Returns the centre of a vehicle in the bay with the given number.
    fn middle(self, number: f64) -> Pose {
        let (angle, pitch) = self.shape();
        let across = EDGE + 0.1 + 0.5 * (BAY.0 * sin(angle) + BAY.1 * cos(angle));
        match self.is_left {
            true => Pose::new(number * pitch, across, PI - angle),
            false => Pose::new(number * pitch, -across, -angle),
        }
    }

    /// Returns the pose of the rear axle of a car in the bay.
    fn parked(self) -> Pose {
        let middle = self.middle(0.0);
        Pose {
            position: middle.point(-VehicleType::car().body_centre(), 0.0),
            ..middle
        }
    }

    /// Returns the place on the car's lane that is `distance` metres beyond the bay in the driving
    /// direction.
    fn on_lane(self, distance: f64) -> Place {
        match self.is_westbound {
            true => Place::lane(RoadId(1), 1, HALF - distance),
            false => Place::lane(RoadId(1), -1, HALF + distance),
        }
    }

    /// Creates the street, with cars in the bays beside the free one.
    fn scenario(self) -> Scenario {
        let mut scenario = Scenario::new("parking");
        let ends = [-HALF, HALF].map(|x| DVec2::new(x, 0.0));
        draw_street(&mut scenario, ends[0], ends[1], &street(1, 1));
        for (id, number) in (1..).zip([-1.0, 1.0]) {
            let middle = self.middle(number);
            let obstacle = Obstacle {
                name: "parked car".into(),
                shape: Shape::Box {
                    x: middle.position.x.into(),
                    y: middle.position.y.into(),
                    heading: middle.heading.into(),
                    length: 4.5.into(),
                    width: 1.8.into(),
                },
                base: 0.0.into(),
                height: 1.5.into(),
                mass: None.into(),
            };
            let edit = Edit::Obstacle(ObstacleId(id), Some(Box::new(obstacle)));
            scenario.apply(edit).unwrap();
        }
        let stack = Stack {
            ground_planner: Some(ModuleSetting::new("drivable_path").with("arrive", 1.0)),
            ..Stack::with_controller("lqr")
        };
        let edit = Edit::Stack("parking".into(), Some(Box::new(stack)));
        scenario.apply(edit).unwrap();
        scenario
    }

    fn into_bay(self, distance: f64) -> Scenario {
        let parked = self.parked();
        let bay = Place::ground(parked.position.x, parked.position.y, parked.heading);
        self.trip(self.on_lane(-distance), bay)
    }

    fn out_of_bay(self) -> Scenario {
        let parked = self.parked();
        let bay = Place::ground(parked.position.x, parked.position.y, parked.heading);
        self.trip(bay, self.on_lane(90.0))
    }

    fn trip(self, start: Place, destination: Place) -> Scenario {
        let mut scenario = self.scenario();
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: "parking".into(),
            start,
            via: Vec::new(),
            destination: Some(destination),
            depart: 20.0.into(),
            speed: 0.0.into(),
            dynamics: None,
            repeat: None.into(),
        };
        let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
        scenario
    }
}

/// Drives car 1 of a scenario to its destination, and returns its last pose.
fn drive(scenario: &Scenario, what: &str) -> Pose {
    let mut world = World::new(scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let mut last = None;
    while world.time() < 140.0 && !world.finished().any(|drive| drive.id == 1) {
        world.step();
        let vehicle = world.snapshot();
        last = vehicle.vehicle(1).map(|vehicle| vehicle.pose).or(last);
    }
    assert!(world.time() < 140.0, "{what}: {last:?}");
    let touches = |party: Party| matches!(party, Party::Agent(1));
    let mut contacts = world.collisions().iter();
    let contact = contacts.find(|contact| contact.agent == 1 || touches(contact.with));
    assert!(contact.is_none(), "{what}: {contact:?}");
    last.unwrap()
}

/// Returns bays of all kinds on both sides of the street, for cars from both directions.
fn all() -> Vec<Bay> {
    let kinds = [Kind::Parallel, Kind::Perpendicular, Kind::Angled];
    let sides = [(false, false), (true, false), (false, true), (true, true)];
    let bay = |kind: Kind| {
        sides.map(|(is_left, is_westbound)| Bay {
            kind,
            is_left,
            is_westbound,
        })
    };
    kinds.into_iter().flat_map(bay).collect()
}

/// Returns one bay of each kind, on different sides; in the long tests, all bays.
fn some() -> Vec<Bay> {
    match is_slow() {
        true => all(),
        false => all().into_iter().step_by(5).collect(),
    }
}

fn assert_parked(bay: Bay, last: Pose, what: &str) {
    let goal = bay.parked();
    let offset = last.position.distance(goal.position);
    let turned = wrap_angle(last.heading - goal.heading).abs();
    assert!(
        offset < 0.2 && turned < 5.0_f64.to_radians(),
        "{what}: {offset:.3} m, {turned:.3} rad"
    );
}

#[test]
fn cars_drive_from_lanes_into_bays_of_every_kind_and_out_again() {
    for bay in some() {
        let what = format!("{bay:?}");
        assert_parked(bay, drive(&bay.into_bay(50.0), &what), &what);
        drive(&bay.out_of_bay(), &format!("out of {what}"));
    }
}

/// Adds traffic in both directions to the street, each with `rate` vehicles per hour.
fn with_traffic(mut scenario: Scenario, rate: f64) -> Scenario {
    let stack = Stack::with_controller("idm");
    let edit = Edit::Stack("idm".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    let ends = [3.0, 2.0 * HALF - 3.0];
    for (lane, [from, to]) in [(-1, ends), (1, [ends[1], ends[0]])] {
        let places = [from, to].map(|s| Place::lane(RoadId(1), lane, s));
        add_flow(&mut scenario, cars(places[0], places[1], rate));
    }
    scenario
}

#[test]
fn cars_park_and_leave_among_traffic_without_a_contact() {
    for bay in some() {
        let what = format!("{bay:?} among traffic");
        let last = drive(&with_traffic(bay.into_bay(50.0), 250.0), &what);
        assert_parked(bay, last, &what);
        let out = format!("out of {what}");
        drive(&with_traffic(bay.out_of_bay(), 250.0), &out);
    }
}
