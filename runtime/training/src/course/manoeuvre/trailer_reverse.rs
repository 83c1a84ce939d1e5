//! The course `trailer-reverse`: a car reverses a trailer of 5 m into a bay of 3 x 8 m.
//!
//! [Gerdelan 2011], section 12.6, mentions this task as a test of controllers but does not specify it. The
//! centre of the bay is the origin, and its mouth is in the direction of +x. The tail of the trailer starts
//! 20 m before the mouth. The offset of car and trailer from the bay's centre line, their heading and the
//! hitch angle are random. The drive is complete when the trailer stands with its centre within 0.3 m of the
//! centre of the bay, along and across, and within 5 degrees of the bay's direction. It fails when the hitch
//! angle reaches 60 degrees, when the car or trailer touches a wall, or after 90 s.
//!
//! The trailer follows the coupling without slip, so its axle moves in the direction of its heading. Let v be
//! the speed and w the turn rate of the car, h the distance of the coupling behind its rear axle, d the
//! distance from the coupling to the trailer's axle, and c the hitch angle (heading of the car minus that of
//! the trailer). Then the trailer turns at
//!
//! ```text
//! (v sin c - h w cos c) / d
//! ```

use super::super::draft::{Draft, Trip};
use super::super::{Course, End, Ends, Kind};
use super::car::Car;
use super::parking::{a_box, is_parked};
use super::{Beginning, Manoeuvre, point_at, row, see, touches};
use roadwright_geometry::math::{Stream, sin_cos, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use roadwright_scenario::Place;

/// Depth of the bay, m.
const DEPTH: f64 = 8.0;
/// Width of the bay, m.
const WIDTH: f64 = 3.0;
/// Thickness of the bay's walls, m.
const WALL: f64 = 0.3;
/// Length of the trailer from coupling to tail, m.
const LENGTH: f64 = 5.0;
/// Length of the drawbar in front of the trailer's body, m.
const BAR: f64 = 1.0;
/// Width of the trailer, m.
const BREADTH: f64 = 2.0;
/// Distance from the coupling to the axle, m.
const DRAWBAR: f64 = 3.5;
/// Distance from the centre of the bay to the start of the car's rear axle, m. With this distance, the tail
/// of the trailer is 20 m before the mouth.
const START: f64 = 30.0;
/// Maximum random offset along the bay at the start, m.
const ALONG: f64 = 0.5;
/// Maximum random offset across the bay at the start, m.
const ACROSS: f64 = 2.5;
/// Maximum random heading error at the start, rad.
const ASKEW: f64 = 0.25;
/// Maximum random hitch angle at the start, rad.
const BENT: f64 = 0.15;
/// Hitch angle from which a vehicle counts as jackknifed, rad.
const JACKKNIFE: f64 = 60.0 * std::f64::consts::PI / 180.0;
/// Time limit, s.
const TIME: f64 = 90.0;

pub(in crate::course) fn course() -> Course {
    Course {
        name: "trailer-reverse".into(),
        doc: "A car backs a 5 m trailer into a 3 m by 8 m bay, 20 m behind it; it has 90 s and \
              must not jackknife."
            .into(),
        vehicle: "car",
        driver: "trailer_backing",
        fitness: "manoeuvre_score",
        ends: Ends::after(TIME),
        kind: Kind::TrailerReverse,
    }
}

pub(in crate::course) fn draft(seed: u64) -> Draft {
    let mut draft = Draft::new("trailer-reverse", seed, TIME);
    let beside = 0.5 * (WIDTH + WALL);
    for side in [-1.0, 1.0] {
        let wall = a_box(0.0, side * beside, 0.0, DEPTH, WALL);
        draft.obstacle("wall", wall, 2.0);
    }
    let back = a_box(-0.5 * (DEPTH + WALL), 0.0, 0.0, WALL, WIDTH + 2.0 * WALL);
    draft.obstacle("wall", back, 2.0);
    let mut stream = Stream::new(seed, "car and trailer", 0);
    let mut off = |most: f64| stream.next_in(-most, most);
    draft.trip(Trip {
        start: Place::ground(START + off(ALONG), off(ACROSS), off(ASKEW)),
        starts_by_middle: false,
        via: Vec::new(),
        destination: Place::ground(0.0, 0.0, 0.0),
        speed: 0.0,
    });
    draft
}

/// A car with its trailer.
struct Trailer {
    car: Car,
    /// Heading of the trailer, rad.
    heading: f64,
    walls: Vec<OrientedBox>,
}

pub(super) fn begin(beginning: &Beginning<'_>) -> impl Manoeuvre + use<> {
    let mut stream = Stream::new(beginning.seed, "hitch", 0);
    let car = beginning.car();
    Trailer {
        heading: wrap_angle(car.pose.heading - stream.next_in(-BENT, BENT)),
        car,
        walls: beginning.boxes(),
    }
}

impl Trailer {
    /// Returns the distance from the rear axle to the coupling at the rear end of the car, m.
    fn coupling(&self) -> f64 {
        self.car.kind.rear_overhang.get()
    }

    /// Returns the heading of the car minus that of the trailer, rad.
    fn hitch(&self) -> f64 {
        wrap_angle(self.car.pose.heading - self.heading)
    }

    /// Returns the pose on the trailer's centre line, `distance` metres behind the coupling.
    fn behind(&self, distance: f64) -> Pose {
        let at_coupling = Pose {
            position: self.car.pose.point(-self.coupling(), 0.0),
            heading: self.heading,
        };
        Pose {
            position: at_coupling.point(-distance, 0.0),
            ..at_coupling
        }
    }

    fn middle(&self) -> Pose {
        self.behind(0.5 * LENGTH)
    }

    /// Returns the body of the trailer without its drawbar, which is too narrow to hit anything.
    fn body(&self) -> OrientedBox {
        OrientedBox::new(self.behind(0.5 * (BAR + LENGTH)), LENGTH - BAR, BREADTH)
    }
}

impl Manoeuvre for Trailer {
    fn perceive(&self) -> ControllerInput {
        let axle = self.behind(DRAWBAR).position;
        // Position of the axle at which the centre of the trailer is at the centre of the bay.
        let goal = DVec2::new(0.5 * LENGTH - DRAWBAR, 0.0);
        let mut input = ControllerInput {
            lane_offset: axle.y,
            heading_error: wrap_angle(self.heading),
            stop_distance: axle.x - goal.x,
            path_curvature: self.hitch(),
            ..row(&self.car)
        };
        point_at(goal, &self.car, &mut input);
        see(&self.car, &self.walls, &mut input);
        input
    }

    fn advance(&mut self, command: ControllerOutput, dt: f64) {
        let (hitch, before) = (self.hitch(), self.car.speed);
        self.car.advance(command, dt);
        let speed = 0.5 * (before + self.car.speed);
        let turning = self.car.yaw_rate;
        let coupling = self.coupling();
        // Only the coupling's motion across the trailer turns the trailer. The coupling moves with `speed`
        // along the car and with `coupling * turning` to the outside of the bend, because it is behind the
        // car's rear axle.
        let rate = |hitch: f64| {
            let (sin, cos) = sin_cos(hitch);
            (speed * sin - coupling * turning * cos) / DRAWBAR
        };
        // Evaluated at the middle of the step, as for the car itself.
        let halfway = hitch + 0.5 * dt * (turning - rate(hitch));
        self.heading = wrap_angle(self.heading + rate(halfway) * dt);
    }

    fn end(&self, is_last: bool) -> Option<End> {
        if self.hitch().is_nan() || self.hitch().abs() >= JACKKNIFE {
            return Some(End::Jackknifed);
        }
        if touches(&self.body(), &self.walls) || touches(&self.car.body(), &self.walls) {
            return Some(End::Struck);
        }
        let Pose { position, heading } = self.middle();
        if is_parked(position, heading, self.car.speed) {
            return Some(End::Arrived);
        }
        is_last.then_some(End::Time)
    }

    fn car(&self) -> &Car {
        &self.car
    }

    fn goal_distance(&self) -> f64 {
        self.middle().position.length()
    }

    fn state(&self) -> Vec<f64> {
        let mut state = self.car.state();
        state.push(self.heading);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::math::{asin, atan};
    use roadwright_scenario::VehicleType;

    fn trailer(hitch: f64) -> Trailer {
        Trailer {
            car: Car::new(&VehicleType::car(), Pose::new(30.0, 0.0, 0.0)),
            heading: -hitch,
            walls: Vec::new(),
        }
    }

    fn drive(trailer: &mut Trailer, acceleration: f64, steering: f64, time: f64) {
        let command = ControllerOutput {
            acceleration,
            steering,
        };
        for _ in 0..(time * 120.0) as usize {
            trailer.advance(command, 1.0 / 120.0);
        }
    }

    #[test]
    fn the_tail_begins_20_m_before_the_mouth() {
        let tail = trailer(0.0).behind(LENGTH).position.x;
        assert!((tail - 0.5 * DEPTH - 20.0).abs() < 0.1, "{tail}");
    }

    #[test]
    fn forwards_it_follows_on_the_circle_of_geometry() {
        // If the rear axle moves on a radius R, with the coupling at h behind it and the trailer's axle on
        // its own circle, the hitch angle is atan(h / R) + asin(d / sqrt(R^2 + h^2)).
        let mut behind = trailer(0.0);
        let (radius, h) = (12.0, behind.coupling());
        behind.car.steering = atan(2.7 / radius);
        let steering = behind.car.steering;
        drive(&mut behind, 1.0, steering, 2.0);
        drive(&mut behind, 0.0, steering, 40.0);
        let circle = (radius * radius + h * h).sqrt();
        let expected = atan(h / radius) + asin(DRAWBAR / circle);
        assert!((behind.hitch() - expected).abs() < 1e-3);
    }

    #[test]
    fn backwards_it_folds_up_by_itself() {
        let mut bent = trailer(0.05);
        drive(&mut bent, -0.5, 0.0, 6.0);
        assert!(bent.hitch() > 0.4, "{}", bent.hitch());
        drive(&mut bent, -0.5, 0.0, 2.0);
        assert_eq!(bent.end(false), Some(End::Jackknifed));
        let mut straight = trailer(0.0);
        drive(&mut straight, -0.5, 0.0, 6.0);
        assert_eq!(straight.hitch(), 0.0);
        let broken = trailer(f64::NAN);
        assert_eq!(broken.end(true), Some(End::Jackknifed));
    }
}
