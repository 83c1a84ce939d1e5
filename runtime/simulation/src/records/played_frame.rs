//! Frames of clips, which replace the motion computed by a dynamics level.

use super::Command;
use roadwright_geometry::Pose;

/// Motion of a vehicle at the end of a step, read from a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlayedFrame {
    /// Pose of the rear axle.
    pub(crate) pose: Pose,
    /// Speed along the vehicle, m/s.
    pub(crate) speed: f64,
    /// Speed of the centre of gravity to the left, m/s.
    pub(crate) sideways: f64,
    /// Lateral speed of the rear axle to the left, m/s.
    pub(crate) rear_sideways: f64,
    /// Yaw rate, rad/s.
    pub(crate) yaw_rate: f64,
    /// Angle of the front wheels, rad.
    pub(crate) wheels: f64,
    /// Command that was active in the clip at this moment.
    pub(crate) command: Command,
}
