//! Rotated rectangles, which represent the outlines of vehicles.

use crate::pose::{Pose, left_of};
use glam::DVec2;

/// A rectangle given by its centre, heading and half sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrientedBox {
    /// Centre, m.
    pub centre: DVec2,
    /// Unit vector along the length.
    pub forward: DVec2,
    /// Half the length, m.
    pub half_length: f64,
    /// Half the width, m.
    pub half_width: f64,
}

impl OrientedBox {
    /// Creates a box from the pose of its centre and its full length and width, m.
    pub fn new(pose: Pose, length: f64, width: f64) -> Self {
        Self {
            centre: pose.position,
            forward: pose.forward(),
            half_length: 0.5 * length,
            half_width: 0.5 * width,
        }
    }

    /// Corners counter-clockwise from the front left.
    pub fn corners(&self) -> [DVec2; 4] {
        let ahead = self.forward * self.half_length;
        let left = left_of(self.forward) * self.half_width;
        let c = self.centre;
        [
            c + ahead + left,
            c - ahead + left,
            c - ahead - left,
            c + ahead - left,
        ]
    }

    /// Radius of the circle around the centre that contains the box, m.
    pub fn radius(&self) -> f64 {
        DVec2::new(self.half_length, self.half_width).length()
    }

    /// Returns the point of the box closest to `point`. A point inside the box is its own closest
    /// point.
    pub fn closest_point(&self, point: DVec2) -> DVec2 {
        let left = left_of(self.forward);
        let offset = point - self.centre;
        let along = offset
            .dot(self.forward)
            .clamp(-self.half_length, self.half_length);
        let across = offset.dot(left).clamp(-self.half_width, self.half_width);
        self.centre + self.forward * along + left * across
    }

    /// Returns the penetration depth of two boxes by the separating axis theorem, m; 0 if they do
    /// not touch.
    pub fn penetration(&self, other: &Self) -> f64 {
        let offset = other.centre - self.centre;
        let mut depth = f64::INFINITY;
        // Two convex shapes are apart if and only if they are apart along the normal of one of their sides.
        // If they are not, the smallest overlap is the shortest distance that separates them.
        for axis in [
            self.forward,
            left_of(self.forward),
            other.forward,
            left_of(other.forward),
        ] {
            let reach = self.reach(axis) + other.reach(axis);
            let overlap = reach - offset.dot(axis).abs();
            if overlap <= 0.0 {
                return 0.0;
            }
            depth = depth.min(overlap);
        }
        depth
    }

    /// Whether the [penetration](Self::penetration) of two boxes exceeds `depth`, m, which must not
    /// be negative. For most pairs of boxes, the first of the four axes already rules it out.
    pub fn penetrates(&self, other: &Self, depth: f64) -> bool {
        let offset = other.centre - self.centre;
        // Bodies side by side in neighbouring lanes are separated along their lateral axis.
        let mut axes = [
            left_of(self.forward),
            left_of(other.forward),
            self.forward,
            other.forward,
        ]
        .into_iter();
        axes.all(|axis| {
            let reach = self.reach(axis) + other.reach(axis);
            reach - offset.dot(axis).abs() > depth
        })
    }

    /// Returns the penetration depth of the box and a circle, m; 0 if they do not touch.
    pub fn circle_penetration(&self, centre: DVec2, radius: f64) -> f64 {
        // If the centre is outside the box, the circle is pushed away from the closest point.
        let closest = self.closest_point(centre);
        let distance = (closest - centre).length();
        if distance > 0.0 {
            return (radius - distance).max(0.0);
        }
        // The centre is inside the box, so the shortest exit is through the nearest side.
        let offset = centre - self.centre;
        let along = self.half_length - offset.dot(self.forward).abs();
        let across = self.half_width - offset.dot(left_of(self.forward)).abs();
        radius + along.min(across)
    }

    /// Returns the penetration depth of the box and a convex polygon, m; 0 if they do not touch.
    pub fn polygon_penetration(&self, polygon: &[DVec2]) -> f64 {
        // An edge without length has no normal. Normals have to be unit vectors, because depths are
        // distances.
        let normals =
            crate::polygon::edges(polygon).map(|(a, b)| left_of(b - a).normalize_or_zero());
        let axes = [self.forward, left_of(self.forward)];
        let mut depth = f64::INFINITY;
        for axis in normals.chain(axes).filter(|axis| *axis != DVec2::ZERO) {
            let (low, high) = polygon
                .iter()
                .map(|p| (*p - self.centre).dot(axis))
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), d| {
                    (l.min(d), h.max(d))
                });
            let reach = self.reach(axis);
            // The distances that separate the two shapes in either direction. Unlike a box, a
            // polygon may extend farther to one side.
            let overlap = (reach - low).min(high + reach);
            if overlap <= 0.0 {
                return 0.0;
            }
            depth = depth.min(overlap);
        }
        if depth.is_finite() { depth } else { 0.0 }
    }

    /// Returns the distance between two boxes, m; 0 if they touch.
    pub fn distance(&self, other: &Self) -> f64 {
        if self.penetrates(other, 0.0) {
            return 0.0;
        }
        // For two convex shapes that are apart, the nearest points include a corner of one of them.
        let to = |a: &Self, corner: DVec2| (a.closest_point(corner) - corner).length_squared();
        let theirs = other.corners().map(|corner| to(self, corner));
        let own = self.corners().map(|corner| to(other, corner));
        let nearest = theirs.into_iter().chain(own);
        nearest.fold(f64::INFINITY, f64::min).sqrt()
    }

    /// Returns the distance to a circle, m; 0 if they touch.
    pub fn distance_to_circle(&self, centre: DVec2, radius: f64) -> f64 {
        ((self.closest_point(centre) - centre).length() - radius).max(0.0)
    }

    /// Returns the distance to a convex polygon, m; 0 if they touch.
    pub fn distance_to_polygon(&self, polygon: &[DVec2]) -> f64 {
        if self.polygon_penetration(polygon) > 0.0 {
            return 0.0;
        }
        let theirs = polygon.iter();
        let theirs = theirs.map(|&corner| (self.closest_point(corner) - corner).length_squared());
        let own = self.corners().into_iter().flat_map(|corner| {
            crate::polygon::edges(polygon).map(move |(a, b)| {
                (crate::polygon::closest_on_segment(a, b, corner) - corner).length_squared()
            })
        });
        theirs.chain(own).fold(f64::INFINITY, f64::min).sqrt()
    }

    /// Returns half the extent along a unit axis, m.
    pub fn reach(&self, axis: DVec2) -> f64 {
        self.half_length * self.forward.dot(axis).abs()
            + self.half_width * left_of(self.forward).dot(axis).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::FRAC_PI_4;

    #[test]
    fn boxes_overlap_by_what_they_share() {
        let a = OrientedBox::new(Pose::new(0.0, 0.0, 0.0), 4.0, 2.0);
        let b = OrientedBox::new(Pose::new(3.5, 0.0, 0.0), 4.0, 2.0);
        assert_eq!(a.penetration(&b), 0.5);
        let turned = OrientedBox::new(Pose::new(3.6, 0.0, FRAC_PI_4), 2.0, 2.0);
        assert_eq!(a.penetration(&turned), 0.0);
    }

    #[test]
    fn circles_are_met_outside_and_inside() {
        let a = OrientedBox::new(Pose::new(0.0, 0.0, 0.0), 4.0, 2.0);
        assert_eq!(a.circle_penetration(DVec2::new(2.5, 0.0), 1.0), 0.5);
        assert_eq!(a.circle_penetration(DVec2::ZERO, 1.0), 2.0);
        let triangle = [(1.5, -1.0), (5.0, -1.0), (5.0, 3.0)].map(DVec2::from);
        assert!(a.polygon_penetration(&triangle) > 0.2);
        let away = triangle.map(|p| p + DVec2::new(3.0, 0.0));
        assert_eq!(a.polygon_penetration(&away), 0.0);
    }

    proptest! {
        #[test]
        fn distances_are_those_of_the_nearest_points(
            x in -12.0..12.0f64, y in -12.0..12.0f64, h in -3.0..3.0f64,
        ) {
            let a = OrientedBox::new(Pose::new(0.0, 0.0, 0.4), 4.5, 1.8);
            let b = OrientedBox::new(Pose::new(x, y, h), 10.0, 2.5);
            let distance = a.distance(&b);
            prop_assert!((distance - b.distance(&a)).abs() < 1e-12);
            prop_assert!((distance - a.distance_to_polygon(&b.corners())).abs() < 1e-9);
            prop_assert_eq!(distance == 0.0, a.penetrates(&b, 0.0));
            // Alternating projections onto two convex shapes converge to their nearest points.
            let mut place = b.centre;
            for _ in 0..400 {
                place = b.closest_point(a.closest_point(place));
            }
            let least = (a.closest_point(place) - place).length();
            prop_assert!((distance - least).abs() < 1e-2, "{distance} {least}");
            let to_disc = a.distance_to_circle(b.centre, 1.0);
            let to_centre = (a.closest_point(b.centre) - b.centre).length();
            prop_assert_eq!(to_disc, (to_centre - 1.0).max(0.0));
        }

        #[test]
        fn penetration_is_symmetric_and_agrees_with_corners(
            x in -6.0..6.0f64, y in -6.0..6.0f64, h in -3.0..3.0f64,
        ) {
            let a = OrientedBox::new(Pose::new(0.0, 0.0, 0.4), 4.5, 1.8);
            let b = OrientedBox::new(Pose::new(x, y, h), 10.0, 2.5);
            prop_assert!((a.penetration(&b) - b.penetration(&a)).abs() < 1e-12);
            for limit in [0.0, 0.2, 1.0, a.penetration(&b)] {
                prop_assert_eq!(a.penetrates(&b, limit), a.penetration(&b) > limit);
            }
            let inside = b.corners().iter().any(|c| (a.closest_point(*c) - *c).length() < 1e-12);
            if inside { prop_assert!(a.penetration(&b) >= 0.0) }
            let depth = b.penetration(&a);
            prop_assert!((depth - b.polygon_penetration(&a.corners())).abs() < 1e-9);
        }
    }
}
