//! Kinematic trailers: a chain of axles, each of which rolls without slip behind a coupling.
//!
//! A trailer turns towards the motion of its coupling: with its heading g, a coupling that moves at
//! v in direction p, and a distance d from coupling to axle, `g' = v sin(p - g) / d`. This holds
//! for couplings on and off the axle of the towing vehicle, forwards and in reverse, where the
//! angle grows until the bodies touch (jackknife). For a straight motion of the coupling, there is
//! a closed form, the tractrix: `tan((g - p) / 2)` shrinks by `exp(-s / d)` over s metres. Each
//! step is such a motion, so results hardly depend on the step length, and steps of any length are
//! stable.
//!
//! [CommonRoad models 2020] contains the form for a coupling on the rear axle, as model KST; see
//! [`rate`].
//!
//! ```
//! use roadwright_geometry::Pose;
//! use roadwright_vehicle::trailer::{Hitched, Train};
//!
//! let caravan = Hitched {
//!     coupling: -1.0,
//!     to_axle: 4.0,
//!     front: -1.2,
//!     length: 5.5,
//!     width: 2.2,
//!     height: 2.6,
//!     lock: 1.5,
//! };
//! let train = Train::of(vec![caravan]);
//! let mut state = train.straight(Pose::default());
//! // Its car has turned to the left, and moves on that way: the caravan follows.
//! for metre in 1..=20 {
//!     let mut pose = Pose::new(0.0, 0.0, 0.5);
//!     pose.position += pose.forward() * f64::from(metre);
//!     train.tow(&mut state, pose);
//! }
//! assert!((state[0].heading - 0.5).abs() < 0.01);
//! ```

use roadwright_geometry::math::{atan2, exp, sin_cos, wrap_angle};
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::vehicle_file::VehicleFile;
use serde::{Deserialize, Serialize};

/// A trailer and the position of its coupling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hitched {
    /// Position of the coupling ahead of a reference point, m. The reference point is the centre of the
    /// towing vehicle's rear axle or, for further trailers, the coupling of the previous trailer.
    pub coupling: f64,
    /// Distance from the coupling back to the trailer's own axle, m.
    pub to_axle: f64,
    /// Front end of the trailer's body, m ahead of the coupling.
    pub front: f64,
    /// Length of the trailer's body, m.
    pub length: f64,
    /// Width, m.
    pub width: f64,
    /// Height, m.
    pub height: f64,
    /// Maximum angle relative to the towing vehicle, rad.
    pub lock: f64,
}

impl Hitched {
    /// Centre of the trailer's body, m ahead of the coupling.
    pub fn middle(&self) -> f64 {
        self.front - 0.5 * self.length
    }

    /// Radius of the bounding circle of the trailer's body, m.
    pub fn radius(&self) -> f64 {
        0.5 * DVec2::new(self.length, self.width).length()
    }
}

/// State of a trailer.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TrailerState {
    /// Heading, rad.
    pub heading: f64,
    /// Position of the trailer's coupling in the last step, m.
    pub coupling: DVec2,
}

/// The trailers of a vehicle, from front to back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Train {
    trailers: Vec<Hitched>,
}

/// Returns the turn rate of a trailer, rad/s. Its coupling is `behind` metres behind the rear axle of the
/// towing vehicle, and `to_axle` metres ahead of its own axle. The towing vehicle drives at `speed` (m/s) and
/// turns at `yaw_rate` (rad/s). `angle` is the vehicle's heading relative to the trailer's heading, rad.
pub fn rate(speed: f64, yaw_rate: f64, angle: f64, behind: f64, to_axle: f64) -> f64 {
    let (sin, cos) = sin_cos(angle);
    (speed * sin - behind * yaw_rate * cos) / to_axle
}

impl Train {
    /// Creates a train of trailers.
    pub fn of(trailers: Vec<Hitched>) -> Self {
        Self { trailers }
    }

    /// Creates the trailers of a vehicle file.
    pub fn of_file(file: &VehicleFile) -> Self {
        let (_, rear) = file.axles();
        // In the file, the first coupling is relative to the centre of the body, and each further coupling is
        // relative to the previous one. Here, the first coupling is relative to the rear axle.
        let mut coupling = file.coupling().unwrap_or(rear) - rear;
        let trailers = file.trailers.iter().map(|trailer| {
            let hitched = Hitched {
                coupling,
                to_axle: trailer.coupling_to_axle.get(),
                front: trailer.front.get(),
                length: trailer.length.get(),
                width: trailer.width.get(),
                height: trailer.height.get(),
                lock: trailer.lock.get(),
            };
            coupling = trailer.next_coupling();
            hitched
        });
        Self {
            trailers: trailers.collect(),
        }
    }

    /// Trailers, from front to back.
    pub fn trailers(&self) -> &[Hitched] {
        &self.trailers
    }

    /// Whether there are no trailers.
    pub fn is_empty(&self) -> bool {
        self.trailers.is_empty()
    }

    /// Distance from the vehicle's rear axle back to the end of the straight train, m; negative without
    /// trailers.
    pub fn tail(&self) -> f64 {
        let mut coupling = 0.0;
        let ends = self.trailers.iter().map(|trailer| {
            coupling += trailer.coupling;
            trailer.length - trailer.front - coupling
        });
        // The last trailer is not always the end, because the body of a long trailer may extend
        // beyond a short one behind it.
        ends.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns all trailers in a straight line behind a vehicle whose rear axle is at `pose`.
    pub fn straight(&self, pose: Pose) -> Vec<TrailerState> {
        let mut along = 0.0;
        let states = self.trailers.iter().map(|trailer| {
            along += trailer.coupling;
            TrailerState {
                heading: pose.heading,
                coupling: pose.point(along, 0.0),
            }
        });
        states.collect()
    }

    /// Moves the trailers of a vehicle whose rear axle has moved to a pose. If the vehicle has not moved, the
    /// trailers stay exactly where they are.
    pub fn tow(&self, states: &mut [TrailerState], pose: Pose) {
        let mut ahead = pose;
        for (trailer, state) in self.trailers.iter().zip(states) {
            let coupling = ahead.point(trailer.coupling, 0.0);
            // Processed from front to back, so that each trailer follows the new position of the
            // previous trailer in the same step.
            state.follow(coupling, trailer.to_axle);
            let angle = wrap_angle(state.heading - ahead.heading);
            if angle.abs() > trailer.lock {
                // The bodies touch, so the trailer turns with the vehicle ahead.
                state.heading = wrap_angle(ahead.heading + trailer.lock.copysign(angle));
            }
            ahead = Pose {
                position: coupling,
                heading: state.heading,
            };
        }
    }

    /// Places the trailers behind a vehicle whose rear axle is at `pose`, with the given headings.
    pub fn stand(
        &self,
        states: &mut [TrailerState],
        pose: Pose,
        headings: impl Iterator<Item = f64>,
    ) {
        for (state, heading) in states.iter_mut().zip(headings) {
            state.heading = heading;
        }
        let couplings = self.couplings(states, pose);
        for (state, coupling) in states.iter_mut().zip(couplings) {
            state.coupling = coupling.position;
        }
    }

    /// Returns the positions and headings of the trailers' couplings behind a vehicle whose rear
    /// axle is at `pose`.
    pub fn couplings(&self, states: &[TrailerState], pose: Pose) -> Vec<Pose> {
        let mut ahead = pose;
        let poses = self.trailers.iter().zip(states).map(|(trailer, state)| {
            ahead = Pose {
                position: ahead.point(trailer.coupling, 0.0),
                heading: state.heading,
            };
            ahead
        });
        poses.collect()
    }

    /// Poses of the centres of the trailers' axles.
    pub fn axles(&self, states: &[TrailerState], pose: Pose) -> Vec<Pose> {
        self.places(states, pose, |trailer| -trailer.to_axle)
    }

    /// Poses of the centres of the trailers' bodies.
    pub fn bodies(&self, states: &[TrailerState], pose: Pose) -> Vec<Pose> {
        self.places(states, pose, Hitched::middle)
    }

    fn places(
        &self,
        states: &[TrailerState],
        pose: Pose,
        along: impl Fn(&Hitched) -> f64,
    ) -> Vec<Pose> {
        let couplings = self.couplings(states, pose).into_iter();
        let places = couplings
            .zip(&self.trailers)
            .map(|(coupling, trailer)| Pose {
                position: coupling.point(along(trailer), 0.0),
                ..coupling
            });
        places.collect()
    }
}

impl TrailerState {
    /// Moves the axle so that it follows its coupling, which moves straight to a new position
    /// (tractrix).
    fn follow(&mut self, coupling: DVec2, to_axle: f64) {
        let pull = coupling - self.coupling;
        let length = pull.length();
        if length == 0.0 {
            return;
        }
        let course = atan2(pull.y, pull.x);
        // In reverse, the course points backwards and differs from the heading by more than a right
        // angle. This difference also shrinks, which turns the trailer around (jackknifing).
        let (sin, cos) = sin_cos(0.5 * wrap_angle(self.heading - course));
        // Computed with sine and cosine, because the tangent of half the angle is undefined for a trailer
        // that points exactly opposite to its course. Sine and cosine leave such a trailer unchanged.
        let left = exp(-length / to_axle);
        self.heading = wrap_angle(course + 2.0 * atan2(sin * left, cos));
        self.coupling = coupling;
    }

    /// Whether the values are physically plausible.
    pub fn is_sound(&self) -> bool {
        self.heading.is_finite() && self.coupling.is_finite()
    }
}

/// Returns the distance in reverse over which the angle of a trailer grows from `from` to `to`, m.
/// The vehicle reverses in a straight line: `d ln(tan(b / 2) / tan(a / 2))`.
pub fn distance_to_jackknife(to_axle: f64, from: f64, to: f64) -> f64 {
    let half = |angle: f64| {
        let (sin, cos) = sin_cos(0.5 * angle);
        sin / cos
    };
    to_axle * roadwright_geometry::math::ln(half(to) / half(from))
}

/// Returns the radius of the circle on which a trailer's axle rolls in a steady bend, m: `R2^2 =
/// R1^2 + e^2 - d^2`. `radius` is the radius of the circle on which the vehicle's rear axle rolls.
/// `None` if the bend is too tight.
pub fn off_tracking(radius: f64, behind: f64, to_axle: f64) -> Option<f64> {
    let square = radius * radius + behind * behind - to_axle * to_axle;
    (square > 0.0).then(|| square.sqrt())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;
    use crate::one_track::{OneTrackLimits, OneTrackState, step};
    use proptest::prelude::*;
    use roadwright_geometry::math::sin;
    use std::f64::consts::TAU;

    fn caravan(behind: f64, to_axle: f64) -> Hitched {
        Hitched {
            coupling: -behind,
            to_axle,
            front: -1.0,
            length: to_axle + 1.0,
            width: 2.2,
            height: 2.5,
            lock: 1.5,
        }
    }

    /// Returns the pose on a circle about (0, radius) at the given angle.
    fn on_circle(radius: f64, angle: f64) -> Pose {
        let (sin, cos) = sin_cos(angle);
        Pose {
            position: DVec2::new(radius * sin, radius * (1.0 - cos)),
            heading: wrap_angle(angle),
        }
    }

    /// Reproduces the unit test `test_kst` of `test_derivatives.py` in commonroad-vehicle-models
    /// 3.0.2, for vehicle 4, whose hitch angle is measured from the tractor to the trailer.
    #[test]
    fn the_rate_is_that_which_commonroad_publishes() {
        let (speed, steering, hitch) = (
            16.354_695_786_088_356,
            0.037_849_142_721_181_1,
            0.029_471_735_105_281_6,
        );
        let yaw_rate = speed * roadwright_geometry::math::tan(steering) / 3.6;
        let rate = rate(speed, yaw_rate, -hitch, 0.0, 8.1) - yaw_rate;
        assert!((rate + 0.231_527_429_694_442_76).abs() < 1e-13, "{rate}");
    }

    #[test]
    fn in_a_steady_bend_it_cuts_the_corner_as_the_closed_form_says() {
        for (behind, to_axle) in [(0.0, 4.0), (1.2, 3.5), (2.5, 6.0)] {
            for parts in [40, 400] {
                let train = Train::of(vec![caravan(behind, to_axle)]);
                let mut state = train.straight(Pose::default());
                for part in 1..=5 * parts {
                    let angle = TAU * f64::from(part) / f64::from(parts);
                    train.tow(&mut state, on_circle(9.0, angle));
                }
                let axle = train.axles(&state, on_circle(9.0, 0.0))[0];
                let radius = (axle.position - DVec2::new(0.0, 9.0)).length();
                let exact = off_tracking(9.0, behind, to_axle).unwrap();
                // The chords of the coupling's circle are slightly shorter than its arcs.
                let tolerance = if parts == 40 { 0.01 } else { 1e-4 };
                assert!((radius / exact - 1.0).abs() < tolerance, "{radius} {exact}");
            }
        }
    }

    #[test]
    fn each_of_a_chain_cuts_more_of_the_corner() {
        let train = Train::of(vec![
            caravan(1.0, 4.0),
            caravan(5.0, 3.0),
            caravan(4.0, 3.0),
        ]);
        let mut state = train.straight(Pose::default());
        for part in 1..=4000 {
            train.tow(&mut state, on_circle(12.0, TAU * f64::from(part) / 800.0));
        }
        let centre = DVec2::new(0.0, 12.0);
        let axles = train.axles(&state, on_circle(12.0, 0.0));
        let radii: Vec<f64> = axles
            .iter()
            .map(|axle| (axle.position - centre).length())
            .collect();
        let mut exact = 12.0;
        for (trailer, radius) in train.trailers().iter().zip(&radii) {
            // Each coupling is 1 m behind the axle before it.
            exact = off_tracking(exact, 1.0, trailer.to_axle).unwrap();
            assert!((radius / exact - 1.0).abs() < 1e-4, "{radii:?} {exact}");
        }
    }

    /// Compares a coupling behind the rear axle with the differential equation, integrated in small steps.
    #[test]
    fn off_the_axle_it_follows_the_differential_equation_forwards_and_back() {
        let (behind, to_axle) = (1.3, 4.2);
        let limits = OneTrackLimits::from(&roadwright_scenario::VehicleType::car());
        let train = Train::of(vec![caravan(behind, to_axle)]);
        let mut car = OneTrackState {
            speed: 3.0,
            steering: 0.0,
            ..OneTrackState::default()
        };
        let mut states = train.straight(car.pose);
        let mut heading = 0.0;
        for number in 0..8000 {
            let wanted = 0.4 * sin(f64::from(number) * 0.001);
            let before = car;
            car = step(&car, &limits, 0.0, wanted, 0.001);
            train.tow(&mut states, car.pose);
            let yaw_rate = wrap_angle(car.pose.heading - before.pose.heading) / 0.001;
            let angle = 0.5 * (car.pose.heading + before.pose.heading) - heading;
            heading += rate(3.0, yaw_rate, angle, behind, to_axle) * 0.001;
        }
        let apart = wrap_angle(states[0].heading - heading);
        assert!(apart.abs() < 2e-3, "{apart}");
        assert!(heading.abs() > 0.1, "{heading}");
        // Then in reverse, from the current state.
        let mut pose = car.pose;
        let mut angle = wrap_angle(pose.heading - heading);
        let before = angle;
        for _ in 0..1000 {
            pose.position -= pose.forward() * 0.002;
            train.tow(&mut states, pose);
            angle -= rate(-2.0, 0.0, angle, behind, to_axle) * 0.001;
        }
        let seen = wrap_angle(pose.heading - states[0].heading);
        assert!((seen - angle).abs() < 3e-3, "{seen} {angle}");
        assert!(angle.abs() > 1.3 * before.abs(), "{angle} {before}");
    }

    #[test]
    fn backwards_it_jackknifes_where_the_closed_form_says_and_stops_at_its_lock() {
        let train = Train::of(vec![caravan(0.8, 5.0)]);
        for part in [0.5, 0.01] {
            let mut pose = Pose::default();
            let mut state = train.straight(pose);
            state[0].heading = 0.1;
            let (mut distance, mut reached) = (0.0, None);
            for _ in 0..(30.0 / part) as u32 {
                pose.position.x -= part;
                distance += part;
                train.tow(&mut state, pose);
                if reached.is_none() && state[0].heading > 1.0 {
                    reached = Some(distance);
                }
            }
            let exact = distance_to_jackknife(5.0, 0.1, 1.0);
            assert!(
                (reached.unwrap() - exact).abs() <= part,
                "{reached:?} {exact}"
            );
            assert!((state[0].heading - 1.5).abs() < 1e-12, "{state:?}");
        }
    }

    #[test]
    fn what_stands_stays_to_the_bit() {
        let train = Train::of(vec![caravan(1.0, 4.0)]);
        let pose = Pose::new(3.7, -1.2, 0.9);
        let mut state = train.straight(pose);
        state[0].heading = 0.3;
        let before = state.clone();
        train.tow(&mut state, pose);
        assert_eq!(state, before);
    }

    #[test]
    fn a_file_gives_places_from_the_rear_axle_and_the_tail() {
        let file = shipped("articulated-bus");
        let train = Train::of_file(&file);
        let (_, rear) = file.axles();
        let first = train.trailers()[0];
        assert!((first.coupling - (file.coupling().unwrap() - rear)).abs() < 1e-12);
        let length = train.tail() + file.vehicle_type().front();
        assert!((length - 18.0).abs() < 0.3, "{length}");
    }

    proptest! {
        #[test]
        fn no_course_makes_it_explode(
            heading in -4.0..4.0f64, course in -4.0..4.0f64, distance in 0.0..1e6f64,
            to_axle in 1e-3..100.0f64,
        ) {
            let train = Train::of(vec![caravan(1.0, to_axle), caravan(2.0, to_axle)]);
            let mut state = train.straight(Pose::default());
            state[1].heading = heading;
            let position = roadwright_geometry::unit(course) * distance;
            let pose = Pose { position, heading };
            train.tow(&mut state, pose);
            prop_assert!(state.iter().all(TrailerState::is_sound));
            for (body, ahead) in train.bodies(&state, pose).iter().zip([pose.heading, state[0].heading]) {
                prop_assert!(body.position.is_finite());
                prop_assert!(wrap_angle(body.heading - ahead).abs() <= 1.5 + 1e-9);
            }
        }
    }
}
