//! Control laws shared by several controllers.

use roadwright_agent::{Lookahead, ParameterSet};
use roadwright_geometry::math::{atan, sin};
use roadwright_plugin_api::ControllerInput;

/// Gap kept between stationary vehicles, m.
pub const STANDSTILL_GAP: f64 = 2.0;
/// Distance kept from a stop line, m.
pub const STOP_GAP: f64 = 0.5;

/// Returns the steering angle that drives along the circle through a point, tangent to the heading: the
/// pursuit point of [Wang 2004]. `distance` and `angle` are measured from the rear axle.
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
    // Below half a metre the circle would be tighter than any vehicle can drive.
    let curvature = 2.0 * sin(angle) / distance.max(0.5);
    atan(wheelbase * curvature)
}

/// Returns the lookahead that the parameters `lookahead_time` and `lookahead_distance` set.
pub(crate) fn chosen_lookahead(parameters: &ParameterSet) -> Lookahead {
    Lookahead {
        time: parameters.value("lookahead_time"),
        distance: parameters.value("lookahead_distance"),
    }
}

/// Maximum lateral acceleration that steering may cause, m/s^2.
const LATERAL_ACCELERATION: f64 = 4.0;

/// Returns the steering angle towards the waypoint of a row, limited so that the lateral acceleration stays
/// within 4 m/s^2.
///
/// Without the limit, a long vehicle that is beside its lane at speed would request more steering than its
/// actuator can follow, return too late, and weave from side to side forever.
#[inline]
pub fn steady_steering(input: &ControllerInput) -> f64 {
    let ControllerInput {
        speed,
        wheelbase,
        waypoint_distance,
        waypoint_angle,
        ..
    } = *input;
    // Straight ahead, as for controllers that ignore the path, so there is nothing to limit.
    if waypoint_angle == 0.0 {
        return waypoint_angle;
    }
    let wanted = pursuit_steering(wheelbase, waypoint_distance, waypoint_angle);
    // v^2 / radius is the lateral acceleration; at a standstill any steering is allowed.
    let largest = atan(wheelbase * LATERAL_ACCELERATION / (speed * speed).max(0.1));
    wanted.clamp(-largest, largest)
}

/// Returns the safe speed of [Krauss 1998], in the form used by SUMO. It is the highest speed from
/// which a vehicle can still stop within `gap` metres behind an object, after a reaction time. The
/// object moves at `front_speed` and may brake.
///
/// From v the vehicle needs v r + v^2 / 2b; the object in front leaves gap + front^2 / 2b. Both are
/// equal for v = sqrt((b r)^2 + front^2 + 2 b gap) - b r. Example: b = 3 m/s^2, r = 0.3 s, a
/// stationary vehicle 20 m ahead: sqrt(0.81 + 0 + 120) - 0.9 = 10.1 m/s.
#[inline]
pub fn safe_speed(gap: f64, front_speed: f64, braking: f64, reaction: f64) -> f64 {
    let lag = braking * reaction;
    let radicand = lag * lag + front_speed * front_speed + 2.0 * braking * gap.max(0.0);
    // A gap that is already too short counts as 0. Behind a stationary vehicle the result is 0;
    // behind a moving one it is less than that vehicle's speed.
    (radicand.sqrt() - lag).max(0.0)
}

/// Returns the highest speed from which the vehicle can still stop both behind the leader and
/// before the point where it has to stop, m/s.
#[inline]
pub fn halting_speed(input: &ControllerInput, braking: f64, reaction: f64) -> f64 {
    let gap = input.leader_gap - STANDSTILL_GAP;
    let behind = safe_speed(gap, input.leader_speed, braking, reaction);
    let before = safe_speed(input.stop_distance - STOP_GAP, 0.0, braking, reaction);
    behind.min(before)
}

/// Returns the acceleration towards a speed that may be negative, m/s^2. The acceleration is `gain`
/// per unit of speed error, limited to 2 m/s^2, as is usual among parked cars. If the vehicle has
/// reached its target and must stand still, it brakes as hard as necessary.
#[inline]
pub fn towards_speed(speed: f64, wanted: f64, gain: f64, is_there: bool) -> f64 {
    if is_there {
        // 10 1/s: the speed is gone after a few steps, without the brake reversing the motion.
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
        // At walking speed it follows the circle; at 11 m/s v^2 tan(steering) / wheelbase = 4.
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
