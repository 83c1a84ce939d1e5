//! Shapes of bodies.

use super::yard::vector;
use glam::{DVec2, DVec3};
use rapier3d_f64::prelude::{Pose, SharedShape, Vector};

/// Number of corners of the polygon that represents a disc.
const ROUND: u32 = 8;

/// Minimum sine of the turn at a corner of an outline.
const LEAST_TURN: f64 = 1e-6;

/// A convex shape relative to its centre.
#[derive(Clone)]
pub struct Solid {
    pub(super) shape: SharedShape,
    /// Pose of the shape in the body frame.
    pub(super) pose: Pose,
    corners: Vec<DVec3>,
    half_height: f64,
}

impl std::fmt::Debug for Solid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Solid")
            .field("corners", &self.corners)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Solid {
    fn eq(&self, other: &Self) -> bool {
        self.corners == other.corners
    }
}

impl Solid {
    /// Creates a box from half its length, width and height, m.
    pub fn cuboid(half: DVec3) -> Self {
        let outline = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
            .map(|(x, y)| DVec2::new(x * half.x, y * half.y));
        Self {
            shape: SharedShape::cuboid(half.x, half.y, half.z),
            pose: Pose::IDENTITY,
            corners: ends(&outline, half.z),
            half_height: half.z,
        }
    }

    /// Creates a box from half its length, width and height, with the upright edges cut off by `cut` on each
    /// side, m.
    pub(super) fn hull(half: DVec3, cut: f64) -> Self {
        let (x, y) = (half.x, half.y);
        let outline = [
            (x, y - cut),
            (x - cut, y),
            (cut - x, y),
            (-x, y - cut),
            (-x, cut - y),
            (cut - x, -y),
            (x - cut, -y),
            (x, cut - y),
        ]
        .map(DVec2::from);
        Self::prism(&outline, half.z).unwrap_or_else(|| Self::cuboid(half))
    }

    /// Creates an upright cylinder with dimensions in m.
    pub fn cylinder(radius: f64, half_height: f64) -> Self {
        // Rapier's cylinders are parallel to the y axis. A quarter turn about x makes them upright.
        let outline: Vec<DVec2> = (0..ROUND)
            .map(|corner| {
                let angle = f64::from(corner) / f64::from(ROUND) * std::f64::consts::TAU;
                radius * roadwright_geometry::unit(angle)
            })
            .collect();
        Self {
            shape: SharedShape::cylinder(half_height, radius),
            // Rapier's cylinders are parallel to the y axis. A quarter turn about x makes them upright.
            pose: Pose::rotation(Vector::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0)),
            corners: ends(&outline, half_height),
            half_height,
        }
    }

    /// Creates an upright prism over a convex, counter-clockwise outline (m) around its centre;
    /// `None` if the outline has no area.
    pub fn prism(outline: &[DVec2], half_height: f64) -> Option<Self> {
        let outline = without_straight_corners(outline);
        let count = outline.len() as u32;
        if count < 3 {
            return None;
        }
        let corners = ends(&outline, half_height);
        let mut faces = Vec::new();
        for corner in 1..count - 1 {
            faces.push([0, corner + 1, corner]);
            faces.push([count, count + corner, count + corner + 1]);
        }
        for corner in 0..count {
            let next = (corner + 1) % count;
            faces.push([corner, next, count + next]);
            faces.push([corner, count + next, count + corner]);
        }
        let points = corners.iter().map(|&corner| vector(corner)).collect();
        Some(Self {
            shape: SharedShape::convex_mesh(points, &faces)?,
            pose: Pose::IDENTITY,
            corners,
            half_height,
        })
    }

    /// Corners relative to the centre, m.
    pub fn corners(&self) -> &[DVec3] {
        &self.corners
    }

    /// Half the height, m.
    pub fn half_height(&self) -> f64 {
        self.half_height
    }
}

/// Removes the corners at which an outline does not turn.
fn without_straight_corners(outline: &[DVec2]) -> Vec<DVec2> {
    let count = outline.len();
    let turns = |corner: &usize| {
        let [a, b, c] = [count - 1, 0, 1].map(|step| outline[(corner + step) % count]);
        let (to, from) = (b - a, c - b);
        to.perp_dot(from) > LEAST_TURN * to.length() * from.length()
    };
    let corners = (0..count).filter(turns);
    corners.map(|corner| outline[corner]).collect()
}

/// Returns the corners of both end faces.
fn ends(outline: &[DVec2], half_height: f64) -> Vec<DVec3> {
    let end = |z: f64| outline.iter().map(move |point| point.extend(z));
    end(-half_height).chain(end(half_height)).collect()
}
