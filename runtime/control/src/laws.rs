//! Control laws that several controllers share.

use roadwright_geometry::math::{atan, sin};
use roadwright_plugin_api::ControllerInput;

/// Gap that is kept between standing vehicles, m.
pub const STANDSTILL_GAP: f64 = 2.0;
/// Distance that is kept to a stop line, m.
pub const STOP_GAP: f64 = 0.5;

/// Steering angle that drives the circle through a point, tangent to the heading: the pursuit point
/// of [Wang 2004]. `distance` and `angle` are those of the point from the rear axle.
///
/// ```text
///           . P      The circle touches the heading at the rear axle and passes through P. By the
///        .  /        chord's angle its radius is distance / (2 sin(angle)), and a one-track
///      .   /         vehicle drives it with tan(steering) = wheelbase / radius.
///     .   / distance
///     .  /) angle
///     [==]
/// ```
#[inline]
pub fn pursuit_steering(wheelbase: f64, distance: f64, angle: f64) -> f64 {
    // Closer than half a metre the circle would be tighter than any vehicle can drive.
    let curvature = 2.0 * sin(angle) / distance.max(0.5);
    atan(wheelbase * curvature)
}

/// Lateral acceleration beyond which nobody steers, m/s^2.
const LATERAL_ACCELERATION: f64 = 4.0;

/// Steering for the way-point of a row, within a lateral acceleration of 4 m/s^2.
///
/// Without the limit a long vehicle that is beside its lane at speed asks for more steering than its
/// actuator can follow, comes back too late, and weaves from side to side for ever.
#[inline]
pub fn steady_steering(input: &ControllerInput) -> f64 {
    let ControllerInput {
        speed,
        wheelbase,
        waypoint_distance,
        waypoint_angle,
        ..
    } = *input;
    // Straight ahead, as where nobody looks at the way: then there is nothing to limit.
    if waypoint_angle == 0.0 {
        return waypoint_angle;
    }
    let wanted = pursuit_steering(wheelbase, waypoint_distance, waypoint_angle);
    // v^2 / radius is the lateral acceleration; standing, any steering will do.
    let largest = atan(wheelbase * LATERAL_ACCELERATION / (speed * speed).max(0.1));
    wanted.clamp(-largest, largest)
}

/// Highest speed from which one can still stop in `gap` metres behind something that moves at
/// `front_speed` and may itself brake, after a reaction time: the safe speed of [Krauss 1998], in the form that SUMO uses.
///
/// From v the vehicle needs v r + v^2 / 2b; the one in front leaves gap + front^2 / 2b. Equal for
/// v = sqrt((b r)^2 + front^2 + 2 b gap) - b r. Example: b = 3 m/s^2, r = 0.3 s, a standing vehicle
/// 20 m ahead: sqrt(0.81 + 0 + 120) - 0.9 = 10.1 m/s.
#[inline]
pub fn safe_speed(gap: f64, front_speed: f64, braking: f64, reaction: f64) -> f64 {
    let lag = braking * reaction;
    let radicand = lag * lag + front_speed * front_speed + 2.0 * braking * gap.max(0.0);
    // A gap that is too short already counts as 0: behind a standing vehicle that gives 0, behind a
    // moving one less than its speed.
    (radicand.sqrt() - lag).max(0.0)
}

/// Speed that keeps clear of the leader and of the point where one must stand, m/s.
#[inline]
pub fn halting_speed(input: &ControllerInput, braking: f64, reaction: f64) -> f64 {
    let gap = input.leader_gap - STANDSTILL_GAP;
    let behind = safe_speed(gap, input.leader_speed, braking, reaction);
    let before = safe_speed(input.stop_distance - STOP_GAP, 0.0, braking, reaction);
    behind.min(before)
}

/// Acceleration towards a speed that may be negative, m/s^2: `gain` for each metre a second that is missing,
/// 2 m/s^2 at most as people do it among parked cars; who is there stops as hard as that takes.
#[inline]
pub fn towards_speed(speed: f64, wanted: f64, gain: f64, is_there: bool) -> f64 {
    if is_there {
        // Ten a second: gone within a few asks, and the brake never turns the way.
        return -10.0 * speed;
    }
    (gain * (wanted - speed)).clamp(-2.0, 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_circle_passes_through_the_point() {
        // A point 10 m away at 30 degrees lies on a circle of radius 10 m.
        let steering = pursuit_steering(2.7, 10.0, 30f64.to_radians());
        assert!((2.7 / roadwright_geometry::math::tan(steering) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn steering_stays_within_what_tyres_hold() {
        let input = |speed: f64| ControllerInput {
            speed,
            wheelbase: 5.2,
            waypoint_distance: 6.0,
            waypoint_angle: 0.8,
            ..ControllerInput::default()
        };
        // At walking speed it is that of the circle, at 11 m/s v^2 tan(steering) / wheelbase = 4.
        assert_eq!(
            steady_steering(&input(1.0)),
            pursuit_steering(5.2, 6.0, 0.8)
        );
        let fast = roadwright_geometry::math::tan(steady_steering(&input(11.0)));
        assert!((121.0 * fast / 5.2 - 4.0).abs() < 1e-9);
    }

    #[test]
    fn straight_ahead_the_law_steers_to_the_bit_as_its_formula_does() {
        for angle in [0.0, -0.0, 1e-300] {
            let input = ControllerInput {
                speed: 13.0,
                wheelbase: 2.7,
                waypoint_distance: 8.0,
                waypoint_angle: angle,
                ..ControllerInput::default()
            };
            let formula = pursuit_steering(2.7, 8.0, angle);
            assert_eq!(steady_steering(&input).to_bits(), formula.to_bits());
        }
    }

    proptest! {
        #[test]
        fn a_follower_at_safe_speed_never_hits_a_braking_leader(
            gap in 0.0..60.0f64, leader in 0.0..30.0f64,
        ) {
            let (braking, reaction) = (3.0, 0.5);
            let speed = safe_speed(gap, leader, braking, reaction);
            let stopping = speed * reaction + speed * speed / (2.0 * braking);
            prop_assert!(stopping <= gap + leader * leader / (2.0 * braking) + 1e-9);
        }
    }
}
