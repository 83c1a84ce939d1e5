//! The clip follower. It drives a vehicle with its own model by the recorded commands of a clip,
//! and corrects the commands so that the vehicle stays on the clip.
//!
//! Across the clip, the correction of the steering gives a rolling vehicle a damped response of 1.5
//! rad/s. Along the clip, position and speed are corrected by the acceleration. In a skid, the
//! tyres are saturated, and a steering correction does not act as on a rolling vehicle. The
//! correction therefore fades out with the slip of the clip.

use crate::frame::{Frame, FrameCommand, Gear, HeldPedals};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::{atan2, wrap_angle};

/// Natural frequency of the lateral correction, rad/s.
const RESPONSE: f64 = 1.5;
/// Damping ratio of the lateral correction.
const DAMPING: f64 = 0.9;
/// Speed below which the steering correction no longer grows, m/s.
const SLOWEST: f64 = 3.0;
/// Maximum steering correction, rad.
const MOST_STEERING: f64 = 0.2;
/// Acceleration per position error along the clip, 1/s^2.
const ALONG_GAIN: f64 = 1.0;
/// Acceleration per speed error, 1/s.
const SPEED_GAIN: f64 = 2.0;
/// Maximum correction of the acceleration, m/s^2.
const MOST_ACCELERATION: f64 = 3.0;
/// The steering correction has its full size while the slip of the clip is at most this, rad.
const ROLLS: f64 = 0.1;
/// Slip of the clip above which the steering is not corrected, rad.
const SKIDS: f64 = 0.35;
/// Pedal correction per acceleration correction, 1 per m/s^2.
const PEDAL: f64 = 0.1;
/// Position error above which a vehicle replans, m.
const FAR: f64 = 0.5;
/// Heading error above which a vehicle replans, rad: 5 degrees.
const TURNED: f64 = 0.0873;

/// Deviation of a vehicle from a clip.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FollowError {
    /// Distance ahead of the clip, m.
    pub ahead: f64,
    /// Distance to the left of the clip, m.
    pub left: f64,
    /// Difference between the headings, rad; positive if the vehicle points further left.
    pub heading: f64,
}

impl FollowError {
    /// Returns the deviation of a motion from the motion in a clip, both in world coordinates.
    pub fn of(now: &Frame, clip: &Frame) -> Self {
        let DVec2 { x, y } = clip.placement().to_local(now.pose.position);
        Self {
            ahead: x,
            left: y,
            heading: wrap_angle(now.pose.heading - clip.pose.heading),
        }
    }

    /// Distance from the clip, m.
    pub fn distance(&self) -> f64 {
        DVec2::new(self.ahead, self.left).length()
    }

    /// Whether the vehicle is so far from the clip that it has to replan: more than 0.5 m or 5
    /// degrees.
    pub fn is_large(&self) -> bool {
        self.distance() > FAR || self.heading.abs() > TURNED
    }
}

/// Returns the command of a vehicle that follows a clip. `now` is its motion and `clip` the motion that the clip has
/// at this moment, both in world coordinates. `wheelbase` is in metres.
pub fn follow(now: &Frame, clip: &Frame, wheelbase: f64) -> FrameCommand {
    let error = FollowError::of(now, clip);
    let direction = match clip.command.gear {
        Gear::Forwards => 1.0,
        Gear::Reverse => -1.0,
    };
    let steering = -direction * lateral(&error, clip, direction, wheelbase);
    let wanted = ALONG_GAIN * error.ahead + SPEED_GAIN * (now.forward - clip.forward);
    let change = (-direction * wanted).clamp(-MOST_ACCELERATION, MOST_ACCELERATION);
    let FrameCommand {
        steering: held,
        acceleration,
        pedals,
        gear,
    } = clip.command;
    FrameCommand {
        steering: held + steering,
        acceleration: acceleration + change,
        pedals: pedals.map(|pedals| pressed(pedals, change)),
        gear,
    }
}

/// Returns the steering angle that corresponds to the lateral error, rad, positive to the left. The
/// correction is its negative.
fn lateral(error: &FollowError, clip: &Frame, direction: f64, wheelbase: f64) -> f64 {
    let speed = direction * clip.forward.abs().max(SLOWEST);
    let slip = atan2(clip.sideways.abs(), clip.forward.abs().max(SLOWEST));
    let share = ((SKIDS - slip) / (SKIDS - ROLLS)).clamp(0.0, 1.0);
    let wanted =
        RESPONSE * RESPONSE * error.left + 2.0 * DAMPING * RESPONSE * speed * error.heading;
    (share * wheelbase / (speed * speed) * wanted).clamp(-MOST_STEERING, MOST_STEERING)
}

/// Adjusts the pedals so that the acceleration changes by `change` m/s^2.
fn pressed(pedals: HeldPedals, change: f64) -> HeldPedals {
    let more = (PEDAL * change).max(0.0);
    let less = (-PEDAL * change).max(0.0);
    // A pedal that is pressed is released before the other one is pressed.
    let moved = |own: f64, other: f64, more: f64, less: f64| {
        (own + (more - other).max(0.0) - less).clamp(0.0, 1.0)
    };
    HeldPedals {
        throttle: moved(pedals.throttle, pedals.brake, more, less),
        brake: moved(pedals.brake, pedals.throttle, less, more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::Pose;

    fn at(pose: Pose, forward: f64) -> Frame {
        Frame {
            pose,
            forward,
            ..Frame::default()
        }
    }

    #[test]
    fn a_vehicle_on_its_clip_gets_the_recorded_command() {
        let mut clip = at(Pose::new(3.0, 4.0, 0.5), 12.0);
        clip.command = FrameCommand {
            steering: 0.1,
            acceleration: 2.0,
            pedals: Some(HeldPedals {
                throttle: 0.25,
                brake: 0.0,
            }),
            gear: Gear::Forwards,
        };
        assert_eq!(follow(&clip, &clip, 2.5), clip.command);
    }

    #[test]
    fn errors_are_steered_and_braked_against() {
        let clip = at(Pose::new(0.0, 0.0, 0.0), 10.0);
        let left = follow(&at(Pose::new(0.0, 0.3, 0.0), 10.0), &clip, 2.5);
        assert!(left.steering < 0.0 && left.acceleration == 0.0, "{left:?}");
        let turned = follow(&at(Pose::new(0.0, 0.0, 0.05), 10.0), &clip, 2.5);
        assert!(turned.steering < 0.0);
        let ahead = follow(&at(Pose::new(0.4, 0.0, 0.0), 10.0), &clip, 2.5);
        assert!(ahead.acceleration < 0.0 && ahead.steering == 0.0);
        let fast = follow(&at(Pose::new(0.0, 0.0, 0.0), 11.0), &clip, 2.5);
        assert!(fast.acceleration < 0.0);
        let mut skid = clip;
        skid.sideways = -6.0;
        let command = follow(&at(Pose::new(0.0, 0.3, 0.05), 10.0), &skid, 2.5);
        assert_eq!(command.steering, 0.0);
    }

    #[test]
    fn in_reverse_the_corrections_are_those_of_the_turned_vehicle() {
        let mut clip = at(Pose::new(0.0, 0.0, 0.0), -5.0);
        clip.command.gear = Gear::Reverse;
        // To the left of the clip and moving backwards: the rear has to go right, so the nose goes left.
        let left = follow(&at(Pose::new(0.0, 0.3, 0.0), -5.0), &clip, 2.5);
        let wheels = -left.steering;
        let rate = -5.0 / 2.5 * wheels;
        assert!(-5.0 * rate < 0.0, "{left:?}");
        // Ahead of the clip means behind in the direction of travel, so the vehicle speeds up.
        let ahead = follow(&at(Pose::new(0.4, 0.0, 0.0), -5.0), &clip, 2.5);
        assert!(ahead.acceleration > 0.0);
    }

    #[test]
    fn a_pressed_pedal_is_released_before_the_other_one() {
        let pedals = HeldPedals {
            throttle: 0.2,
            brake: 0.0,
        };
        let slower = pressed(pedals, -1.0);
        assert!((slower.throttle - 0.1).abs() < 1e-12 && slower.brake == 0.0);
        let braking = pressed(pedals, -3.0);
        assert!(braking.throttle == 0.0 && (braking.brake - 0.1).abs() < 1e-12);
    }

    #[test]
    fn large_errors_begin_at_half_a_metre_and_five_degrees() {
        let error = |ahead: f64, left: f64, degrees: f64| FollowError {
            ahead,
            left,
            heading: degrees.to_radians(),
        };
        assert!(!error(0.3, 0.39, 4.9).is_large());
        assert!(error(0.3, 0.41, 0.0).is_large());
        assert!(error(0.0, 0.0, -5.1).is_large());
    }
}
