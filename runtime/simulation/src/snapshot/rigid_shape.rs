//! Placement of a vehicle's rigid-body shape in the world, for renderers.

use super::VehicleRecord;
use crate::records::RigidShape;
use glam::DVec3;
use roadwright_geometry::Pose;
use roadwright_geometry::math::sin_cos;

impl RigidShape {
    /// Returns the placement of the shape in the world; `None` for a vehicle without an attitude.
    pub fn lying(&self, vehicle: &VehicleRecord) -> Option<Lying> {
        let attitude = vehicle.attitude?;
        let pitch = sin_cos(attitude.pitch);
        Some(Lying {
            pose: vehicle.pose,
            ahead: self.rear * pitch.1,
            height: attitude.height,
            pitch,
            roll: sin_cos(attitude.roll),
        })
    }
}

/// Placement of a body in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lying {
    /// Centre of the rear axle, and heading.
    pose: Pose,
    /// Horizontal distance from the rear axle to the centre of gravity, m along the heading.
    ahead: f64,
    /// Height of the centre of gravity, m.
    height: f64,
    /// Sine and cosine of the pitch angle.
    pitch: (f64, f64),
    roll: (f64, f64),
}

impl Lying {
    /// World position of a point of the body. The point is given relative to the centre of gravity:
    /// forward, left and up, m.
    pub fn point(&self, at: DVec3) -> DVec3 {
        let ((pitch_sin, pitch_cos), (roll_sin, roll_cos)) = (self.pitch, self.roll);
        let left = at.y * roll_cos - at.z * roll_sin;
        let up = at.y * roll_sin + at.z * roll_cos;
        let ahead = at.x * pitch_cos - up * pitch_sin;
        let place = self.pose.point(self.ahead + ahead, left);
        place.extend(self.height + at.x * pitch_sin + up * pitch_cos)
    }
}
