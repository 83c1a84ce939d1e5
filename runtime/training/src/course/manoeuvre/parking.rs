//! The course `parking`: a car parks between two others, at right angles to the aisle along which it drives.
//!
//! ```text
//!   |      |      |      |
//!   | car  | bay  | car  |      bays of 2.5 x 5 m
//!   |______|      |______|
//!
//!   ->car                       aisle of 6.5 m
//!   ______________________      wall
//! ```
//!
//! The centre of the bay is the origin, its mouth is in the direction of +x, and the aisle is along y. The
//! side from which the car arrives, its start in the aisle, and the positions of the two other cars in their
//! bays are random. The car has to stop in the centre of the bay, facing the aisle, without touching
//! anything.

use super::super::draft::{Draft, Trip};
use super::super::{Course, End, Ends, Kind};
use super::car::Car;
use super::{Beginning, Manoeuvre, point_at, row, see, touches};
use roadwright_geometry::math::{Stream, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use roadwright_scenario::{Place, Shape};
use std::f64::consts::FRAC_PI_2;

/// Depth of bays, m.
const DEPTH: f64 = 5.0;
/// Width of bays, m.
const WIDTH: f64 = 2.5;
/// Width of the aisle, m.
const AISLE: f64 = 6.5;
/// Length and width of the parked cars, m.
const OTHER: (f64, f64) = (4.5, 1.8);
/// Maximum deviation of parked cars from the centres of their bays, m.
const OTHERS_OFF: f64 = 0.15;
/// Maximum deviation of parked cars in heading, rad.
const OTHERS_ASKEW: f64 = 0.03;
/// Tolerance of the final position, along and across the bay, m.
const NEAR: f64 = 0.3;
/// Tolerance of the final heading, rad.
const STRAIGHT: f64 = 5.0 * std::f64::consts::PI / 180.0;
/// Speed below which a car counts as stationary, m/s.
const STANDING: f64 = 0.05;
/// Time limit, s.
const TIME: f64 = 90.0;

pub(in crate::course) fn course() -> Course {
    Course {
        name: "parking".into(),
        doc: "A car drives along an aisle and must park in a 2.5 m bay between two other cars, \
              facing the aisle; it has 90 s."
            .into(),
        vehicle: "car",
        driver: "bay_parking",
        fitness: "manoeuvre_score",
        ends: Ends::after(TIME),
        kind: Kind::Parking,
    }
}

pub(in crate::course) fn draft(seed: u64) -> Draft {
    let mut draft = Draft::new("parking", seed, TIME);
    let mut stream = Stream::new(seed, "parking", 0);
    let from = if stream.next_unit() < 0.5 { -1.0 } else { 1.0 };
    let middle = 0.5 * DEPTH + 0.5 * AISLE;
    // The car drives along the aisle from below (heading up) or from above (heading down).
    let start = Place::ground(
        middle + stream.next_in(-0.5, 0.5),
        -from * stream.next_in(3.0, 9.0),
        from * FRAC_PI_2 + stream.next_in(-0.1, 0.1),
    );
    for side in [-1.0, 1.0] {
        let mut off = || stream.next_in(-OTHERS_OFF, OTHERS_OFF);
        let (x, y) = (off(), side * WIDTH + off());
        let heading = stream.next_in(-OTHERS_ASKEW, OTHERS_ASKEW);
        let (length, width) = OTHER;
        draft.obstacle("parked car", a_box(x, y, heading, length, width), 1.5);
    }
    let wall = 0.5;
    let back = -0.5 * (DEPTH + wall);
    let front = 0.5 * (DEPTH + wall) + AISLE;
    draft.obstacle("kerb", a_box(back, 0.0, 0.0, wall, 12.0), 0.3);
    draft.obstacle("wall", a_box(front, 0.0, 0.0, wall, 60.0), 2.0);
    draft.trip(Trip {
        start,
        starts_by_middle: false,
        via: Vec::new(),
        destination: Place::ground(0.0, 0.0, 0.0),
        speed: 0.0,
    });
    draft
}

/// Returns a rectangle with the given centre, heading, length and width.
pub(in crate::course) fn a_box(x: f64, y: f64, heading: f64, length: f64, width: f64) -> Shape {
    Shape::Box {
        x: x.into(),
        y: y.into(),
        heading: heading.into(),
        length: length.into(),
        width: width.into(),
    }
}

/// A car that has to park in a bay.
struct Parking {
    car: Car,
    others: Vec<OrientedBox>,
}

pub(super) fn begin(beginning: &Beginning<'_>) -> impl Manoeuvre + use<> {
    Parking {
        car: beginning.car(),
        others: beginning.boxes(),
    }
}

impl Parking {
    /// Returns the centre of the body, relative to the centre of the bay.
    fn middle(&self) -> DVec2 {
        self.car.pose.point(self.car.kind.body_centre(), 0.0)
    }
}

/// Whether a car counts as parked in a bay around the origin, given the car's centre, heading and speed.
pub(super) fn is_parked(middle: DVec2, heading: f64, speed: f64) -> bool {
    let off = middle.abs();
    off.x <= NEAR && off.y <= NEAR && heading.abs() <= STRAIGHT && speed.abs() < STANDING
}

impl Manoeuvre for Parking {
    fn perceive(&self) -> ControllerInput {
        let Pose { position, heading } = self.car.pose;
        // Position of the rear axle at which the centre of the car is at the centre of the bay.
        let goal = DVec2::new(-self.car.kind.body_centre(), 0.0);
        let mut input = ControllerInput {
            lane_offset: position.y,
            heading_error: wrap_angle(heading),
            stop_distance: position.x - goal.x,
            ..row(&self.car)
        };
        point_at(goal, &self.car, &mut input);
        see(&self.car, &self.others, &mut input);
        input
    }

    fn advance(&mut self, command: ControllerOutput, dt: f64) {
        self.car.advance(command, dt);
    }

    fn end(&self, is_last: bool) -> Option<End> {
        if touches(&self.car.body(), &self.others) {
            return Some(End::Struck);
        }
        if is_parked(self.middle(), self.car.pose.heading, self.car.speed) {
            return Some(End::Arrived);
        }
        is_last.then_some(End::Time)
    }

    fn car(&self) -> &Car {
        &self.car
    }

    fn goal_distance(&self) -> f64 {
        self.middle().length()
    }

    fn state(&self) -> Vec<f64> {
        self.car.state()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stands_within_0_3_m_and_5_degrees_is_parked() {
        for (x, y, degrees, speed, expected) in [
            (0.0, 0.0, 0.0, 0.0, true),
            (0.29, -0.29, 4.9, 0.0, true),
            (0.31, 0.0, 0.0, 0.0, false),
            (0.0, -0.31, 0.0, 0.0, false),
            (0.0, 0.0, -5.1, 0.0, false),
            (0.0, 0.0, 180.0, 0.0, false),
            (0.0, 0.0, 0.0, -0.2, false),
            (f64::NAN, 0.0, 0.0, 0.0, false),
        ] {
            let heading = f64::to_radians(degrees);
            let found = is_parked(DVec2::new(x, y), heading, speed);
            assert_eq!(found, expected, "{x} {y} {degrees} {speed}");
        }
    }
}
