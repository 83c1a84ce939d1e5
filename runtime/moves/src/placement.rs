//! Placements: poses that store the heading as a vector, so that a clip can be placed without trigonometry.

use roadwright_geometry::math::atan2;
use roadwright_geometry::{DVec2, Pose, unit};

/// Position of the middle of a vehicle's rear axle, and direction of the vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Position, m.
    pub position: DVec2,
    /// Unit vector in the direction of the vehicle.
    pub forward: DVec2,
}

impl Placement {
    /// The origin, facing east.
    pub const ORIGIN: Self = Self {
        position: DVec2::ZERO,
        forward: DVec2::X,
    };

    /// Converts a pose to a placement.
    pub fn of(pose: Pose) -> Self {
        Self {
            position: pose.position,
            forward: unit(pose.heading),
        }
    }

    /// Converts to a pose.
    pub fn pose(&self) -> Pose {
        Pose {
            position: self.position,
            heading: atan2(self.forward.y, self.forward.x),
        }
    }

    /// Converts a point from local coordinates (x ahead, y to the left) to world coordinates.
    #[inline]
    pub fn point(&self, local: DVec2) -> DVec2 {
        self.position + self.forward.rotate(local)
    }

    /// Converts a point from world coordinates to local coordinates (x ahead, y to the left).
    #[inline]
    pub fn to_local(&self, point: DVec2) -> DVec2 {
        self.direction_to_local(point - self.position)
    }

    /// Converts a direction from world coordinates to local coordinates.
    #[inline]
    pub fn direction_to_local(&self, direction: DVec2) -> DVec2 {
        DVec2::new(
            self.forward.dot(direction),
            self.forward.perp_dot(direction),
        )
    }

    /// Converts a placement from local coordinates to world coordinates.
    #[inline]
    pub fn then(&self, relative: &Self) -> Self {
        Self {
            position: self.point(relative.position),
            forward: self.forward.rotate(relative.forward),
        }
    }

    /// Returns the world's origin, facing east, in local coordinates of this placement.
    pub fn inverse(&self) -> Self {
        self.relative(&Self::ORIGIN)
    }

    /// Converts a placement from world coordinates to local coordinates.
    pub fn relative(&self, other: &Self) -> Self {
        Self {
            position: self.to_local(other.position),
            forward: self.direction_to_local(other.forward),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_relative_placement_leads_back(
            a in [-100.0..100.0f64, -100.0..100.0, -3.0..3.0],
            b in [-100.0..100.0f64, -100.0..100.0, -3.0..3.0],
        ) {
            let placement = |[x, y, heading]: [f64; 3]| Placement::of(Pose::new(x, y, heading));
            let (a, b) = (placement(a), placement(b));
            let back = a.then(&a.relative(&b));
            prop_assert!((back.position - b.position).length() < 1e-12 * 1e3);
            let origin = a.then(&a.inverse());
            prop_assert!(origin.position.length() < 1e-9);
            prop_assert!((back.forward - b.forward).length() < 1e-14);
            let pose = b.pose();
            prop_assert!((Placement::of(pose).forward - b.forward).length() < 1e-14);
        }
    }
}
