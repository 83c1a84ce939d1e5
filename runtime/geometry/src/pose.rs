//! Positions with a heading.

use crate::math::{sin_cos, wrap_angle};
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// Returns a unit vector with the given heading, radians counter-clockwise from +x.
#[inline]
pub fn unit(heading: f64) -> DVec2 {
    let (sin, cos) = sin_cos(heading);
    DVec2::new(cos, sin)
}

/// Returns the vector rotated by a quarter turn to the left.
#[inline]
pub fn left_of(direction: DVec2) -> DVec2 {
    DVec2::new(-direction.y, direction.x)
}

/// Returns the heading of a vector, radians counter-clockwise from +x.
#[inline]
pub fn heading_of(direction: DVec2) -> f64 {
    crate::math::atan2(direction.y, direction.x)
}

/// A position in the world frame (x east, y north, metres) with a heading.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Pose {
    /// Position, m.
    pub position: DVec2,
    /// Heading, rad counter-clockwise from +x.
    pub heading: f64,
}

impl Pose {
    /// Creates a pose from coordinates and heading.
    pub fn new(x: f64, y: f64, heading: f64) -> Self {
        Self {
            position: DVec2::new(x, y),
            heading,
        }
    }

    /// Returns the unit vector in the direction of the heading.
    pub fn forward(&self) -> DVec2 {
        unit(self.heading)
    }

    /// Returns the unit vector to the left of the heading.
    pub fn left(&self) -> DVec2 {
        left_of(self.forward())
    }

    /// Returns the point at (`ahead`, `left`) metres in this pose's own frame.
    pub fn point(&self, ahead: f64, left: f64) -> DVec2 {
        self.own_frame().point(ahead, left)
    }

    /// Converts a world point to this pose's own frame: metres ahead and to the left.
    pub fn to_local(&self, point: DVec2) -> DVec2 {
        self.own_frame().to_local(point)
    }

    /// Returns the pose's own frame, which converts many points with a single sine and cosine.
    #[inline]
    pub fn own_frame(&self) -> OwnFrame {
        OwnFrame {
            origin: self.position,
            forward: self.forward(),
        }
    }

    /// Returns the same position facing the opposite direction.
    pub fn reversed(&self) -> Self {
        Self {
            position: self.position,
            heading: wrap_angle(self.heading + std::f64::consts::PI),
        }
    }

    /// Returns the same position facing `angle` further to the left, rad.
    pub fn turned(&self, angle: f64) -> Self {
        Self {
            position: self.position,
            heading: wrap_angle(self.heading + angle),
        }
    }

    /// Returns the pose moved sideways by `t` metres to the left.
    pub fn shifted(&self, t: f64) -> Self {
        Self {
            position: self.position + self.left() * t,
            heading: self.heading,
        }
    }
}

/// The frame of a [`Pose`] with a precomputed direction. Its results are bit-identical to those of
/// the pose's methods, which compute a sine and a cosine on each call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnFrame {
    /// Position of the pose, m.
    pub origin: DVec2,
    /// Unit vector of the pose's heading.
    pub forward: DVec2,
}

impl OwnFrame {
    /// Returns the point at (`ahead`, `left`) metres in this frame.
    #[inline]
    pub fn point(&self, ahead: f64, left: f64) -> DVec2 {
        self.origin + self.forward * ahead + left_of(self.forward) * left
    }

    /// Converts a world point to this frame: metres ahead and to the left.
    #[inline]
    pub fn to_local(&self, point: DVec2) -> DVec2 {
        let offset = point - self.origin;
        DVec2::new(offset.dot(self.forward), offset.dot(left_of(self.forward)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_and_world_points_are_inverse() {
        let pose = Pose::new(3.0, -2.0, 2.5);
        let local = pose.to_local(pose.point(4.0, -1.5));
        assert!((local - DVec2::new(4.0, -1.5)).length() < 1e-12);
    }
}
