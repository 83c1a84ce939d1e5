//! Frames: the state of a vehicle and its controls at a moment of a clip.

use crate::placement::Placement;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose};

/// State of a vehicle at a moment, and the controls that are held until the next frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Frame {
    /// Pose of the middle of the rear axle.
    pub pose: Pose,
    /// Speed of the centre of gravity along the vehicle, m/s.
    pub forward: f64,
    /// Speed of the centre of gravity to the left, m/s.
    pub sideways: f64,
    /// Yaw rate, rad/s, positive to the left.
    pub yaw_rate: f64,
    /// Angle of the front wheels, rad, positive to the left.
    pub wheels: f64,
    /// Controls held from this frame to the next.
    pub command: FrameCommand,
}

/// Controls that are held during a frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrameCommand {
    /// Commanded angle of the front wheels, rad, positive to the left.
    pub steering: f64,
    /// Commanded acceleration in the intended direction of travel, m/s^2.
    pub acceleration: f64,
    /// Pedal positions, if the driver used pedals. They replace the acceleration.
    pub pedals: Option<HeldPedals>,
    /// Direction of travel.
    pub gear: Gear,
}

/// Positions of the pedals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldPedals {
    /// Throttle, 0 to 1.
    pub throttle: f64,
    /// Brake, 0 to 1.
    pub brake: f64,
}

/// Direction of travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gear {
    /// The vehicle drives forwards.
    #[default]
    Forwards,
    /// The vehicle drives backwards.
    Reverse,
}

/// Weights of the differences in [`distance`]. The source uses no weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Weight of the speed along the vehicle, 1 per m/s.
    pub forward: f64,
    /// Weight of the speed to the left, 1 per m/s.
    pub sideways: f64,
    /// Weight of the yaw rate, 1 per rad/s.
    pub yaw_rate: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            forward: 1.0,
            sideways: 1.0,
            yaw_rate: 1.0,
        }
    }
}

/// Returns the difference between the motions of two frames in vehicle axes ([Adam 2007], section
/// 3.4): the weighted sum of the differences in speed, lateral speed and yaw rate.
pub fn distance(one: &Frame, other: &Frame, weights: &Weights) -> f64 {
    weights.forward * (one.forward - other.forward).abs()
        + weights.sideways * (one.sideways - other.sideways).abs()
        + weights.yaw_rate * (one.yaw_rate - other.yaw_rate).abs()
}

impl Frame {
    /// Placement of the middle of the rear axle.
    pub fn placement(&self) -> Placement {
        Placement::of(self.pose)
    }

    /// Returns the motion between this frame and the next one: `share` is 0 at this frame and 1 at
    /// the next. The command is the one held in between.
    pub fn between(&self, next: &Self, share: f64) -> Self {
        let mix = |from: f64, to: f64| from + share * (to - from);
        let turned = wrap_angle(next.pose.heading - self.pose.heading);
        Self {
            pose: Pose {
                position: self.pose.position.lerp(next.pose.position, share),
                heading: wrap_angle(self.pose.heading + share * turned),
            },
            forward: mix(self.forward, next.forward),
            sideways: mix(self.sideways, next.sideways),
            yaw_rate: mix(self.yaw_rate, next.yaw_rate),
            wheels: mix(self.wheels, next.wheels),
            command: self.command,
        }
    }

    /// Returns the frame mirrored left to right, about the x axis.
    pub fn mirrored(&self) -> Self {
        // Avoids -0.0, which differs from 0.0 in files.
        let turned = |value: f64| if value == 0.0 { 0.0 } else { -value };
        let Pose { position, heading } = self.pose;
        Self {
            pose: Pose {
                position: DVec2::new(position.x, turned(position.y)),
                heading: wrap_angle(turned(heading)),
            },
            sideways: turned(self.sideways),
            yaw_rate: turned(self.yaw_rate),
            wheels: turned(self.wheels),
            command: FrameCommand {
                steering: turned(self.command.steering),
                ..self.command
            },
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame([forward, sideways, yaw_rate]: [f64; 3]) -> Frame {
        Frame {
            pose: Pose::new(forward, sideways, yaw_rate),
            forward,
            sideways,
            yaw_rate,
            wheels: 0.1 * sideways,
            ..Frame::default()
        }
    }

    #[test]
    fn the_distance_is_the_sum_of_the_source() {
        let one = frame([20.0, 0.5, -0.25]);
        let other = frame([19.5, -0.25, 0.25]);
        assert_eq!(
            distance(&one, &other, &Weights::default()),
            0.5 + 0.75 + 0.5
        );
        let weights = Weights {
            yaw_rate: 2.0,
            ..Weights::default()
        };
        assert_eq!(distance(&one, &other, &weights), 0.5 + 0.75 + 1.0);
    }

    proptest! {
        #[test]
        fn the_distance_is_symmetric_and_mirroring_keeps_it(
            a in [-40.0..40.0f64, -20.0..20.0, -3.0..3.0],
            b in [-40.0..40.0f64, -20.0..20.0, -3.0..3.0],
        ) {
            let (a, b) = (frame(a), frame(b));
            let weights = Weights::default();
            let apart = distance(&a, &b, &weights);
            prop_assert_eq!(apart, distance(&b, &a, &weights));
            prop_assert_eq!(apart, distance(&a.mirrored(), &b.mirrored(), &weights));
            prop_assert_eq!(a.mirrored().mirrored(), a);
            prop_assert_eq!(distance(&a, &a, &weights), 0.0);
        }
    }
}
