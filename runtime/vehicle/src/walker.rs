//! The body of a character: an oriented disc with accelerations along and about its heading ([Kuffner 1998],
//! section 7.1). It can also step sideways and turn on the spot.

use crate::one_track::OneTrackLimits;
use roadwright_geometry::math::{atan, sin, tan, wrap_angle};
use roadwright_geometry::{Pose, left_of, unit};

/// Speed below which the turn rate for a steering angle no longer decreases, m/s. It allows a
/// standing character to turn.
pub const SLOWEST: f64 = 0.1;
/// Maximum turn rate, rad/s.
pub const TURN_RATE: f64 = 3.5;
/// Maximum lateral speed, m/s.
pub const SIDE_SPEED: f64 = 0.5;
/// Maximum lateral acceleration of a side step, m/s^2.
pub const SIDE_ACCELERATION: f64 = 2.0;

/// State of the body of a character.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WalkerState {
    /// Position of the centre, and heading.
    pub pose: Pose,
    /// Speed along the heading, m/s; negative backwards.
    pub speed: f64,
    /// Speed to the left, m/s.
    pub sideways: f64,
    /// Turn rate, rad/s, positive to the left.
    pub turn_rate: f64,
}

/// Direction in which a character walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facing {
    /// Forwards.
    Ahead,
    /// Backwards.
    Back,
}

/// Command to a character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WalkerCommand {
    /// Acceleration in the direction of travel, m/s^2.
    pub acceleration: f64,
    /// Requested turn rate, rad/s.
    pub turn_rate: f64,
    /// Requested lateral speed to the left, m/s.
    pub sideways: f64,
    /// Direction of travel.
    pub facing: Facing,
}

/// Returns the turn rate of a character for a steering angle (rad) at a speed (m/s), in rad/s. The
/// character turns like a one-track vehicle with the given wheelbase at this speed, or at 0.1 m/s
/// if it is slower.
pub fn turn_rate(limits: &OneTrackLimits, speed: f64, steering: f64) -> f64 {
    let most = limits.max_steering;
    let steering = if steering.is_finite() {
        steering.clamp(-most, most)
    } else {
        0.0
    };
    let wanted = speed.abs().max(SLOWEST) * tan(steering) / limits.wheelbase;
    wanted.clamp(-TURN_RATE, TURN_RATE)
}

/// Returns the steering angle for a turn rate (rad/s) at a speed (m/s), in rad. It is the inverse
/// of [`turn_rate`].
pub fn steering(limits: &OneTrackLimits, speed: f64, turn_rate: f64) -> f64 {
    atan(limits.wheelbase * turn_rate / speed.abs().max(SLOWEST))
}

/// Moves a character by `dt` seconds within the limits of its type. The steering rate is used as the maximum
/// angular acceleration, rad/s^2.
pub fn walk(
    before: &WalkerState,
    limits: &OneTrackLimits,
    command: &WalkerCommand,
    dt: f64,
) -> WalkerState {
    let direction = match command.facing {
        Facing::Ahead => 1.0,
        Facing::Back => -1.0,
    };
    let along = direction * before.speed;
    let acceleration = limits.acceleration(command.acceleration);
    let along = if along < 0.0 {
        // The character stops before walking in the opposite direction.
        (along + limits.max_braking * dt).min(0.0)
    } else {
        (along + acceleration * dt).clamp(0.0, limits.max_speed)
    };
    let turning = limits.steering_rate * dt;
    let turn_rate = before.turn_rate
        + (command.turn_rate.clamp(-TURN_RATE, TURN_RATE) - before.turn_rate)
            .clamp(-turning, turning);
    let stepping = SIDE_ACCELERATION * dt;
    let wanted = command.sideways.clamp(-SIDE_SPEED, SIDE_SPEED);
    let sideways = before.sideways + (wanted - before.sideways).clamp(-stepping, stepping);
    let speed = if along == 0.0 { 0.0 } else { direction * along };
    let half = 0.5 * turn_rate * dt;
    let chord = if half.abs() < 1e-9 {
        1.0
    } else {
        sin(half) / half
    };
    let ahead = unit(before.pose.heading + half);
    let mean = 0.5 * (before.speed + speed);
    let moved = ahead * mean + left_of(ahead) * sideways;
    WalkerState {
        pose: Pose {
            position: before.pose.position + moved * (dt * chord),
            heading: wrap_angle(before.pose.heading + 2.0 * half),
        },
        speed,
        sideways,
        turn_rate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_scenario::VehicleType;

    const DT: f64 = 1.0 / 30.0;

    fn limits() -> OneTrackLimits {
        OneTrackLimits::from(&VehicleType::person())
    }

    fn command(acceleration: f64, turn_rate: f64, sideways: f64) -> WalkerCommand {
        WalkerCommand {
            acceleration,
            turn_rate,
            sideways,
            facing: Facing::Ahead,
        }
    }

    #[test]
    fn a_standing_character_turns_on_the_spot_and_steps_sideways() {
        let mut state = WalkerState::default();
        for _ in 0..30 {
            state = walk(&state, &limits(), &command(-1.0, 2.0, 0.0), DT);
        }
        assert_eq!(state.pose.position, roadwright_geometry::DVec2::ZERO);
        assert!((state.pose.heading - 2.0).abs() < 0.15, "{state:?}");
        let mut state = WalkerState::default();
        for _ in 0..60 {
            state = walk(&state, &limits(), &command(0.0, 0.0, 0.4), DT);
        }
        assert!(state.pose.position.x.abs() < 1e-12, "{state:?}");
        assert!((state.pose.position.y - 0.76).abs() < 0.02, "{state:?}");
    }

    #[test]
    fn it_walks_at_most_at_its_top_speed_and_never_backwards_unless_told() {
        let mut state = WalkerState::default();
        for _ in 0..120 {
            state = walk(&state, &limits(), &command(9.0, 0.0, 0.0), DT);
        }
        assert_eq!(state.speed, 1.4);
        for _ in 0..120 {
            state = walk(&state, &limits(), &command(-9.0, 0.0, 0.0), DT);
        }
        assert_eq!(state.speed, 0.0);
        let back = WalkerCommand {
            facing: Facing::Back,
            ..command(1.0, 0.0, 0.0)
        };
        for _ in 0..15 {
            state = walk(&state, &limits(), &back, DT);
        }
        assert!((state.speed + 0.5).abs() < 1e-9, "{state:?}");
    }

    #[test]
    fn steering_and_turn_rate_are_inverse_to_each_other() {
        for speed in [0.0, 0.05, 0.7, 1.4] {
            for rate in [-1.5, 0.0, 0.3, 2.0] {
                let angle = steering(&limits(), speed, rate);
                assert!((turn_rate(&limits(), speed, angle) - rate).abs() < 1e-9);
            }
        }
        assert_eq!(turn_rate(&limits(), 1.4, f64::NAN), 0.0);
        assert_eq!(turn_rate(&limits(), 1.4, 1.5), TURN_RATE);
    }
}
