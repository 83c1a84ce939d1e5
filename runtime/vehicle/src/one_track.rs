//! The kinematic one-track model, and the actuators that all dynamics levels share.
//!
//! The model treats a vehicle as a bicycle with one steered front wheel, one fixed rear wheel, and
//! no slip. Its **pose** refers to the centre of the rear axle, because the velocity there always
//! points along the body. The model only drives forwards. The simulation represents a reversing
//! vehicle by one that faces the opposite direction.

use crate::drive_train::Pedals;
use crate::grade::{Ask, Effort, Grade};
use roadwright_geometry::math::{sin_cos, tan, wrap_angle};
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::VehicleType;

/// Limits and dimensions that a step needs, prepared once per vehicle type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneTrackLimits {
    /// Wheelbase, m.
    pub wheelbase: f64,
    /// Top speed, m/s.
    pub max_speed: f64,
    /// Maximum acceleration, m/s^2.
    pub max_acceleration: f64,
    /// Maximum deceleration, m/s^2.
    pub max_braking: f64,
    /// Steering lock, rad.
    pub max_steering: f64,
    /// Steering rate of the front wheels, rad/s.
    pub steering_rate: f64,
}

impl From<&VehicleType> for OneTrackLimits {
    fn from(kind: &VehicleType) -> Self {
        Self {
            wheelbase: kind.wheelbase.get(),
            max_speed: kind.max_speed.get(),
            max_acceleration: kind.max_acceleration.get(),
            max_braking: kind.max_braking.get(),
            max_steering: kind.max_steering.get(),
            steering_rate: kind.steering_rate.get(),
        }
    }
}

impl OneTrackLimits {
    /// Limits a requested acceleration to the capabilities of the engine and brakes, m/s^2. Non-finite values
    /// mean full braking.
    #[inline]
    pub fn acceleration(&self, wanted: f64) -> f64 {
        if wanted.is_finite() {
            wanted.clamp(-self.max_braking, self.max_acceleration)
        } else {
            -self.max_braking
        }
    }

    /// Returns the acceleration that pedals produce without a drive train, m/s^2. The pedals are
    /// fractions of the maximum acceleration and deceleration.
    #[inline]
    pub fn pressed(&self, pedals: Pedals) -> f64 {
        let Effort { drive, brake } =
            Effort::of_pedals(pedals, self.max_acceleration, self.max_braking);
        drive - brake
    }

    /// Returns the steering angle after `dt` seconds of turning from `now` towards a requested angle, rad. A
    /// non-finite request holds the wheels.
    #[inline]
    pub fn turn_wheels(&self, now: f64, wanted: f64, dt: f64) -> f64 {
        let wanted = if wanted.is_finite() { wanted } else { now };
        let limit = self.steering_rate * dt;
        // First limited by the steering rate, then by the lock.
        let turned = (wanted - now).clamp(-limit, limit);
        (now + turned).clamp(-self.max_steering, self.max_steering)
    }
}

/// Speed below which a vehicle that does not accelerate counts as stationary, m/s.
const STANDSTILL: f64 = 1e-3;

/// Returns the speed, or 0 if the vehicle does not accelerate and is slow enough to count as
/// stationary.
#[inline]
pub fn at_rest(speed: f64, acceleration: f64) -> f64 {
    if speed < STANDSTILL && acceleration <= 0.0 {
        0.0
    } else {
        speed
    }
}

/// Returns the time during which a body moves in a step that would change its speed from `before`
/// to `wanted`, s. This is the whole step, or the time until the body stops.
#[inline]
pub fn moving_time(before: f64, wanted: f64, dt: f64) -> f64 {
    if wanted < 0.0 {
        dt * before / (before - wanted)
    } else {
        dt
    }
}

/// Pose of the centre of the rear axle, speed and steering angle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OneTrackState {
    /// Position of the centre of the rear axle and heading of the body.
    pub pose: Pose,
    /// Speed, m/s; negative backwards, which happens only on slopes.
    pub speed: f64,
    /// Angle of the front wheels, rad, positive to the left.
    pub steering: f64,
}

impl OneTrackState {
    /// Returns the velocity of the centre of the rear axle (m/s) and the yaw rate (rad/s). These
    /// are the rates of the kinematic one-track model in its rear-axle form, as integrated by
    /// [`step`].
    pub fn rates(&self, wheelbase: f64) -> (DVec2, f64) {
        let velocity = self.pose.forward() * self.speed;
        (velocity, self.speed * tan(self.steering) / wheelbase)
    }
}

/// Takes one step of the kinematic one-track model in its rear-axle form: x' = v cos(theta), y' = v
/// sin(theta), theta' = v tan(delta) / L.
///
/// The actuators first limit the request: the acceleration to the limits of engine and brakes, and
/// the steering to its lock and rate. The body moves with the mean speed and steering of the step
/// along its mean heading. This is second order in dt, and exact for constant acceleration on a
/// straight line, including a stop within the step. Non-finite requests mean full braking and held
/// wheels.
#[inline]
pub fn step(
    state: &OneTrackState,
    limits: &OneTrackLimits,
    acceleration: f64,
    steering: f64,
    dt: f64,
) -> OneTrackState {
    step_sharing(state, limits, acceleration, steering, dt, 1.0)
}

/// Like [`step`], but on ground whose grip limits the combined longitudinal and lateral
/// acceleration to `hardest` m/s^2. If more is needed in total, both components are reduced by the
/// same factor, so the vehicle brakes over a longer distance and runs wide. The wheels turn as
/// requested.
pub fn step_within(
    state: &OneTrackState,
    limits: &OneTrackLimits,
    acceleration: f64,
    steering: f64,
    dt: f64,
    hardest: f64,
) -> OneTrackState {
    let wheels = limits.turn_wheels(state.steering, steering, dt);
    let across = state.speed * state.speed * tan(wheels) / limits.wheelbase;
    let asked = DVec2::new(limits.acceleration(acceleration), across).length();
    let share = if asked > hardest {
        hardest / asked
    } else {
        1.0
    };
    step_sharing(state, limits, acceleration, steering, dt, share)
}

/// Like [`step_within`], but on a slope and in both directions. The speed in `state`, and the speed
/// and distance of the step, are signed. The wheels are held while the vehicle rolls against its
/// selected direction.
pub fn step_on_grade(
    state: &OneTrackState,
    limits: &OneTrackLimits,
    ask: &Ask,
    steering: f64,
    grade: &Grade,
    dt: f64,
) -> OneTrackState {
    let wheels = limits.turn_wheels(state.steering, steering, dt);
    // A slope across the heading takes grip, as a bend does. It increases the demand if the outside
    // of the bend is lower.
    let across = state.speed * state.speed * tan(wheels) / limits.wheelbase - grade.bank;
    let effort = grade.effort(state.speed, ask, dt);
    let asked = DVec2::new(effort.along_tyres(), across).length();
    let share = if asked > grade.hardest {
        grade.hardest / asked
    } else {
        1.0
    };
    let (wanted, travelled) = grade.roll(effort.shortened(share), state.speed, dt);
    let speed = wanted.clamp(-limits.max_speed, limits.max_speed);
    // The speed is limited to the top speed. The distance then follows from the mean speed.
    let travelled = if speed == wanted {
        travelled
    } else {
        0.5 * (state.speed + speed) * dt
    };
    let turned = travelled * tan(0.5 * (state.steering + wheels)) / limits.wheelbase * share;
    let mut pose = state.pose;
    if travelled != 0.0 {
        let (sin, cos) = sin_cos(pose.heading + 0.5 * turned);
        pose.position += DVec2::new(cos, sin) * travelled;
        pose.heading = wrap_angle(pose.heading + turned);
    }
    OneTrackState {
        pose,
        speed,
        steering: wheels,
    }
}

/// Takes a step in which the ground can transmit only a fraction of the force that the tyres need.
#[inline]
fn step_sharing(
    state: &OneTrackState,
    limits: &OneTrackLimits,
    acceleration: f64,
    steering: f64,
    dt: f64,
    share: f64,
) -> OneTrackState {
    let wanted_speed = state.speed + limits.acceleration(acceleration) * share * dt;
    let speed = at_rest(wanted_speed.clamp(0.0, limits.max_speed), acceleration);
    let steering = limits.turn_wheels(state.steering, steering, dt);
    let distance = 0.5 * (state.speed + speed) * moving_time(state.speed, wanted_speed, dt);
    // A stationary vehicle keeps its pose exactly, although its wheels may turn.
    if distance == 0.0 {
        return OneTrackState {
            pose: state.pose,
            speed,
            steering,
        };
    }
    let mean_steering = 0.5 * (state.steering + steering);
    let heading_change = distance * tan(mean_steering) / limits.wheelbase * share;
    // Moves along the chord of the arc, whose heading is the mean of the headings before and after the step.
    let (sin, cos) = sin_cos(state.pose.heading + 0.5 * heading_change);
    OneTrackState {
        pose: Pose {
            position: state.pose.position + DVec2::new(cos, sin) * distance,
            heading: wrap_angle(state.pose.heading + heading_change),
        },
        speed,
        steering,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn car() -> OneTrackLimits {
        OneTrackLimits::from(&VehicleType::car())
    }

    /// Reproduces the unit test `test_ks` of `test_derivatives.py` in commonroad-vehicle-models
    /// 3.0.2, for vehicle 2.
    #[test]
    fn derivatives_are_those_that_commonroad_publishes() {
        let state = OneTrackState {
            pose: Pose::new(
                3.957_942_229_793_653,
                0.039_165_010_277_140_5,
                0.029_471_735_105_281_6,
            ),
            speed: 16.354_695_786_088_357,
            steering: 0.037_849_142_721_181_1,
        };
        let (velocity, yaw_rate) = state.rates(1.156_195_706_4 + 1.422_717_093_6);
        let published = DVec2::new(16.347_593_593_425_02, 0.481_931_488_601_312_1);
        assert!((velocity - published).length() < 1e-12, "{velocity}");
        assert!((yaw_rate - 0.240_142_657_862_762_9).abs() < 1e-12);
    }

    #[test]
    fn constant_steering_drives_a_circle() {
        let steering = 0.3;
        let start = OneTrackState {
            speed: 5.0,
            steering,
            ..OneTrackState::default()
        };
        let radius = 2.7 / tan(steering);
        let mut state = start;
        let steps = (std::f64::consts::TAU * radius / (5.0 * 0.001)).round() as usize;
        for _ in 0..steps {
            state = step(&state, &car(), 0.0, steering, 0.001);
            let centre = DVec2::new(0.0, radius);
            assert!(((state.pose.position - centre).length() - radius).abs() < 1e-3);
        }
        assert!(state.pose.position.length() < 0.01, "{:?}", state.pose);
    }

    #[test]
    fn braking_ends_at_rest() {
        let mut state = OneTrackState {
            speed: 10.0,
            ..OneTrackState::default()
        };
        for _ in 0..1000 {
            state = step(&state, &car(), -4.0, 0.0, 0.01);
        }
        assert_eq!(state.speed, 0.0);
        // The braking distance is v^2 / 2a.
        assert!((state.pose.position.x - 12.5).abs() < 1e-9);
    }

    /// Returns the final position of a car that accelerates, steers and brakes for 8 s.
    fn manoeuvre(dt: f64) -> DVec2 {
        let mut state = OneTrackState {
            speed: 5.0,
            ..OneTrackState::default()
        };
        for i in 0..(8.0 / dt).round() as usize {
            let time = (i as f64 + 0.5) * dt;
            let acceleration = if time < 4.0 { 1.5 } else { -1.0 };
            let steering = if time < 4.0 { 0.12 } else { -0.12 };
            state = step(&state, &car(), acceleration, steering, dt);
        }
        state.pose.position
    }

    #[test]
    fn changing_speed_and_steering_are_of_second_order() {
        let exact = manoeuvre(0.0005);
        let errors = [0.1, 0.05, 0.025].map(|dt| (manoeuvre(dt) - exact).length());
        assert!(errors[0] < 0.02, "{errors:?}");
        for pair in errors.windows(2) {
            assert!(pair[0] / pair[1] > 3.0, "{errors:?}");
        }
    }

    #[test]
    fn grip_is_shared_between_brakes_and_bends() {
        let hardest = 2.0;
        let state = OneTrackState {
            speed: 15.0,
            steering: 0.1,
            ..OneTrackState::default()
        };
        let slips = |a: f64, delta: f64| step_within(&state, &car(), a, delta, 0.01, hardest);
        for (a, delta) in [(0.0, 0.1), (-8.0, 0.1), (2.0, 0.1)] {
            let next = slips(a, delta);
            let along = (next.speed - state.speed) / 0.01;
            let across = next.pose.heading / 0.01 * state.speed;
            let size = DVec2::new(along, across).length();
            assert!(
                (size / hardest - 1.0).abs() < 0.01,
                "{size} at {a}, {delta}"
            );
        }
        // If there is enough grip, the step is exactly the same.
        let (gentle, whole) = (
            OneTrackState {
                steering: 0.01,
                ..state
            },
            1e3,
        );
        assert_eq!(
            step_within(&gentle, &car(), -1.0, 0.01, 0.01, whole),
            step(&gentle, &car(), -1.0, 0.01, 0.01)
        );
    }

    #[test]
    fn what_is_nearly_at_rest_stands() {
        // Braking with 8 m/s^2 leaves 0.65 mm/s of 80.65 mm/s, which counts as standing.
        let state = OneTrackState {
            speed: 0.080_65,
            ..OneTrackState::default()
        };
        assert_eq!(step(&state, &car(), -1e9, 0.0, 0.01).speed, 0.0);
    }

    proptest! {
        #[test]
        fn limits_hold_for_any_command(
            speed in 0.0..50.0f64, wheel in -0.6..0.6f64,
            a in proptest::num::f64::ANY, delta in proptest::num::f64::ANY,
        ) {
            let limits = car();
            let state = OneTrackState { speed, steering: wheel, ..OneTrackState::default() };
            let next = step(&state, &limits, a, delta, 0.01);
            prop_assert!(next.speed >= 0.0 && next.speed <= limits.max_speed);
            // A remaining speed below 1 mm/s becomes 0 in one step, so that the vehicle stands.
            let braked = limits.max_braking * 0.01 + STANDSTILL;
            prop_assert!((next.speed - speed).abs() <= braked);
            prop_assert!((next.steering - wheel).abs() <= limits.steering_rate * 0.01 + 1e-12);
            prop_assert!(next.steering.abs() <= limits.max_steering);
            prop_assert!(next.pose.position.is_finite());
        }
    }

    #[test]
    fn a_bank_counts_in_what_bends_take_of_the_grip() {
        // A speed of 8 m/s on a radius of 16 m takes 4 m/s^2 of the available 5 m/s^2.
        let steering = roadwright_geometry::math::atan(car().wheelbase / 16.0);
        let state = OneTrackState {
            speed: 8.0,
            steering,
            ..OneTrackState::default()
        };
        let ask = Ask {
            acceleration: 0.0,
            is_reversing: false,
            max_braking: 8.0,
            pedals: None,
        };
        let turned = |rise: f64| {
            let grade = Grade::between(0.0, 1.0).banked(rise, 1.0).with(2.0, 5.0);
            let after = step_on_grade(&state, &car(), &ask, steering, &grade, 0.01);
            (after.pose.heading * 200.0, grade)
        };
        // The left side is lower, as on a banked track, so the slope helps the vehicle to turn left.
        for rise in [0.0, -0.2, -0.5] {
            assert!(
                (turned(rise).0 - 1.0).abs() < 1e-3,
                "{rise}: {:?}",
                turned(rise)
            );
        }
        for rise in [0.2, 0.5] {
            let (seen, grade) = turned(rise);
            let exact = grade.hardest / (4.0 - grade.bank);
            assert!(
                (seen - exact).abs() < 1e-3 && seen < 0.9,
                "{rise}: {seen} {exact}"
            );
        }
    }
}
