//! The course `pendulum`: a car on a straight line carries an upright pole.
//!
//! [Gerdelan 2011], section 12.6, mentions this task as the usual test of fuzzy controllers but does not
//! specify it. The pole is a thin rod of 2 m, hinged on the roof so that it falls forwards or backwards. It
//! is pushed once at the start, with a random strength and direction. A drive ends when it leans by 30
//! degrees, or after a minute.
//!
//! With lean angle f from the vertical (positive forwards) and acceleration a of the car, the motion of the
//! pole is
//!
//! ```text
//! f'' = 3 / (2 l) * (g sin f - a cos f)
//! ```

use super::super::draft::{Draft, Trip};
use super::super::{Course, End, Ends, Kind};
use super::car::Car;
use super::{Beginning, Manoeuvre, row};
use roadwright_geometry::math::{Stream, sin_cos};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use roadwright_scenario::Place;

/// Length of the pole, m.
const LENGTH: f64 = 2.0;
/// Gravitational acceleration, m/s^2.
const GRAVITY: f64 = 9.81;
/// Lean angle from which a pole counts as fallen, rad.
const FALLEN: f64 = 30.0 * std::f64::consts::PI / 180.0;
/// Time limit, s.
const TIME: f64 = 60.0;
/// Range of the angular velocity after the push, rad/s. A car with an acceleration of 2.6 m/s^2 can only just
/// balance a push at the upper end of the range.
const KICK: (f64, f64) = (0.2, 0.6);

pub(in crate::course) fn course() -> Course {
    Course {
        name: "pendulum".into(),
        doc: "A car on a straight line balances a 2 m pole on its roof; the pole is pushed at the \
              start and must not fall for one minute."
            .into(),
        vehicle: "car",
        driver: "pole_balance",
        fitness: "balance_score",
        ends: Ends::after(TIME),
        kind: Kind::Pendulum,
    }
}

pub(in crate::course) fn draft(seed: u64) -> Draft {
    let mut draft = Draft::new("pendulum", seed, TIME);
    draft.trip(Trip {
        start: Place::ground(0.0, 0.0, 0.0),
        starts_by_middle: false,
        via: Vec::new(),
        destination: Place::ground(1000.0, 0.0, 0.0),
        speed: 0.0,
    });
    draft
}

/// A car with its pole.
struct Pendulum {
    car: Car,
    /// Angle between the pole and the vertical, rad. Positive forwards.
    lean: f64,
    /// Angular velocity of the pole, rad/s.
    fall: f64,
}

pub(super) fn begin(beginning: &Beginning<'_>) -> impl Manoeuvre + use<> {
    let mut stream = Stream::new(beginning.seed, "kick", 0);
    let kick = stream.next_in(KICK.0, KICK.1);
    let side = if stream.next_unit() < 0.5 { -1.0 } else { 1.0 };
    Pendulum {
        car: beginning.car(),
        lean: 0.0,
        fall: side * kick,
    }
}

impl Manoeuvre for Pendulum {
    fn perceive(&self) -> ControllerInput {
        ControllerInput {
            lane_offset: self.car.pose.position.x,
            heading_error: self.lean,
            path_curvature: self.fall,
            ..row(&self.car)
        }
    }

    fn advance(&mut self, command: ControllerOutput, dt: f64) {
        // The car moves on a straight line, so steering has no effect.
        let straight = ControllerOutput {
            steering: 0.0,
            ..command
        };
        let acceleration = self.car.advance(straight, dt);
        // For a thin rod on a hinge, m L² / 3 times its angular acceleration equals m L / 2 (g sin - a cos).
        // An accelerating car tips the pole backwards.
        let (sin, cos) = sin_cos(self.lean);
        let torque = GRAVITY * sin - acceleration * cos;
        // The velocity is updated first, so that the swing of a free pole neither grows nor decays.
        self.fall += 1.5 / LENGTH * torque * dt;
        self.lean += self.fall * dt;
    }

    fn end(&self, is_last: bool) -> Option<End> {
        if self.lean.is_nan() || self.lean.abs() >= FALLEN {
            return Some(End::Fell);
        }
        is_last.then_some(End::Held)
    }

    fn car(&self) -> &Car {
        &self.car
    }

    fn lean(&self) -> f64 {
        self.lean
    }

    fn state(&self) -> Vec<f64> {
        let mut state = self.car.state();
        state.extend([self.lean, self.fall]);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::Pose;
    use roadwright_geometry::math::exp;
    use roadwright_scenario::VehicleType;

    fn pole(lean: f64, fall: f64) -> Pendulum {
        Pendulum {
            car: Car::new(&VehicleType::car(), Pose::default()),
            lean,
            fall,
        }
    }

    fn command(acceleration: f64) -> ControllerOutput {
        ControllerOutput {
            acceleration,
            steering: 0.7,
        }
    }

    #[test]
    fn left_alone_it_falls_as_fast_as_a_rod_does() {
        // Small lean angles grow by a factor of e in sqrt(2 l / 3 g) = 0.369 s.
        let mut falling = pole(1e-4, 1e-4 * (1.5 * GRAVITY / LENGTH).sqrt());
        for _ in 0..12_000 {
            falling.advance(command(0.0), 1e-4);
        }
        let expected = 1e-4 * exp(1.2 * (1.5 * GRAVITY / LENGTH).sqrt());
        assert!((falling.lean / expected - 1.0).abs() < 2e-3);
        assert_eq!(falling.end(false), None);
        assert_eq!(pole(-0.53, 0.0).end(false), Some(End::Fell));
        assert_eq!(pole(f64::NAN, 0.0).end(true), Some(End::Fell));
        assert_eq!(pole(0.5, 0.0).end(true), Some(End::Held));
    }

    #[test]
    fn a_car_that_accelerates_leaves_it_behind_and_stays_on_its_line() {
        let mut upright = pole(0.0, 0.0);
        for _ in 0..10 {
            upright.advance(command(2.0), 0.01);
        }
        assert!(upright.lean < 0.0 && upright.fall < 0.0);
        assert_eq!(upright.car.pose.position.y, 0.0);
        // If gravity and acceleration balance (tan f = a / g), the lean angle stays the same.
        let even = roadwright_geometry::math::atan(2.0 / GRAVITY);
        let mut kept = pole(even, 0.0);
        for _ in 0..100 {
            kept.advance(command(2.0), 0.01);
        }
        assert!((kept.lean - even).abs() < 1e-9);
    }
}
