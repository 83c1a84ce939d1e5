//! The vehicle for which a path is planned.

use super::trailer::DrivableTrailer;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose, left_of};

/// Footprint and minimum turning circle of a vehicle. Poses refer to the centre of the rear axle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrivableVehicle {
    /// Length, m.
    pub length: f64,
    /// Width, m.
    pub width: f64,
    /// Distance from the rear axle forward to the centre of the body, m.
    pub centre: f64,
    /// Maximum curvature of the vehicle's path, 1/m; positive.
    pub curvature: f64,
    /// Whether the vehicle may drive in reverse.
    pub reverses: bool,
    /// The towed trailer; `None` without a trailer.
    pub trailer: Option<DrivableTrailer>,
}

impl DrivableVehicle {
    /// Outline of the vehicle with its rear axle at `pose`, enlarged by `margin` metres on all sides.
    pub fn footprint(&self, pose: Pose, margin: f64) -> OrientedBox {
        self.outline(Placement::of(pose), margin)
    }

    /// Returns the pose of the rear axle, given the pose of the body's centre.
    pub fn rear_axle(&self, body: Pose) -> Pose {
        Pose {
            position: body.point(-self.centre, 0.0),
            heading: body.heading,
        }
    }

    #[inline]
    pub(super) fn outline(&self, at: Placement, margin: f64) -> OrientedBox {
        OrientedBox {
            centre: at.point(self.centre),
            forward: at.forward,
            half_length: 0.5 * self.length + margin,
            half_width: 0.5 * self.width + margin,
        }
    }

    /// Distance from the rear axle to the farthest point of the footprint, m.
    pub(super) fn reach(&self, margin: f64) -> f64 {
        let ahead = 0.5 * self.length + self.centre.abs() + margin;
        DVec2::new(ahead, 0.5 * self.width + margin).length()
    }

    /// Minimum turning radius, m.
    pub(super) fn radius(&self) -> f64 {
        1.0 / self.curvature
    }
}

/// A pose together with its direction vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placement {
    pub(super) position: DVec2,
    pub(super) forward: DVec2,
    pub(super) heading: f64,
}

impl Placement {
    pub(super) fn of(pose: Pose) -> Self {
        Self {
            position: pose.position,
            forward: pose.forward(),
            heading: pose.heading,
        }
    }

    pub(super) fn pose(&self) -> Pose {
        Pose {
            position: self.position,
            heading: self.heading,
        }
    }

    /// Returns the point `ahead` metres in front of the rear axle.
    #[inline]
    pub(super) fn point(&self, ahead: f64) -> DVec2 {
        self.position + self.forward * ahead
    }

    /// Returns the placement at the end of an arc of `length` metres.
    #[inline]
    pub(super) fn moved(&self, curvature: f64, length: f64) -> Self {
        if curvature == 0.0 {
            return Self {
                position: self.position + self.forward * length,
                ..*self
            };
        }
        let turn = curvature * length;
        let (sin, cos) = roadwright_geometry::math::sin_cos(turn);
        let (ahead, left) = if turn.abs() < 1e-6 {
            (length * (1.0 - turn * turn / 6.0), 0.5 * length * turn)
        } else {
            (sin / curvature, (1.0 - cos) / curvature)
        };
        let side = left_of(self.forward);
        Self {
            position: self.position + self.forward * ahead + side * left,
            forward: self.forward * cos + side * sin,
            heading: roadwright_geometry::math::wrap_angle(self.heading + turn),
        }
    }
}
