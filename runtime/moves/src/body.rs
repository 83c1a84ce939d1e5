//! Outlines of vehicles as rectangles, and convex outlines in general.

use crate::placement::Placement;
use roadwright_geometry::{DVec2, polygon};
use roadwright_scenario::vehicle_file::VehicleFile;
use serde::{Deserialize, Serialize};

/// Rectangular outline of a vehicle, relative to the middle of its rear axle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyOutline {
    /// Distance from the rear axle to the front end, m.
    pub front: f64,
    /// Distance from the rear axle back to the rear end, m.
    pub rear: f64,
    /// Half of the width, m.
    pub half_width: f64,
    /// Distance from the rear axle forward to the centre of gravity, m.
    pub centre_of_gravity: f64,
}

impl BodyOutline {
    /// Returns the outline of the vehicle in a vehicle file, without trailers.
    pub fn of_file(file: &VehicleFile) -> Self {
        let (_, rear_axle) = file.axles();
        let half_length = 0.5 * file.body.length;
        Self {
            front: half_length - rear_axle,
            rear: half_length + rear_axle,
            half_width: 0.5 * file.body.width,
            centre_of_gravity: -rear_axle,
        }
    }

    /// Corners of the outline at a placement, counter-clockwise from the front left.
    pub fn corners(&self, place: &Placement) -> [DVec2; 4] {
        let Self {
            front,
            rear,
            half_width,
            ..
        } = *self;
        [
            DVec2::new(front, half_width),
            DVec2::new(-rear, half_width),
            DVec2::new(-rear, -half_width),
            DVec2::new(front, -half_width),
        ]
        .map(|corner| place.point(corner))
    }

    /// Length of the diagonal, m.
    pub fn diagonal(&self) -> f64 {
        DVec2::new(self.front + self.rear, 2.0 * self.half_width).length()
    }

    /// Distance from the rear axle to the farthest corner, m.
    pub fn reach(&self) -> f64 {
        DVec2::new(self.front.max(self.rear), self.half_width).length()
    }
}

/// Maximum number of corners of an outline. The hull of two rectangles has up to eight.
const MOST_CORNERS: usize = 8;

/// A convex outline with up to eight corners, counter-clockwise. An outline with two corners is a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Convex {
    corners: [DVec2; MOST_CORNERS],
    count: usize,
}

impl Convex {
    /// Creates a line from one point to another.
    pub fn line(from: DVec2, to: DVec2) -> Self {
        let mut corners = [from; MOST_CORNERS];
        corners[1] = to;
        Self { corners, count: 2 }
    }

    /// Creates the convex hull of eight points.
    pub fn hull(points: [DVec2; MOST_CORNERS]) -> Self {
        let mut sorted = points;
        sorted.sort_unstable_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        // Andrew's monotone chain, without collinear points.
        let mut chain = [DVec2::ZERO; 2 * MOST_CORNERS];
        let mut count = 0;
        let mut add = |point: DVec2, least: usize, count: &mut usize| {
            while *count >= least + 2
                && (chain[*count - 1] - chain[*count - 2]).perp_dot(point - chain[*count - 2])
                    <= 0.0
            {
                *count -= 1;
            }
            chain[*count] = point;
            *count += 1;
        };
        for point in sorted {
            add(point, 0, &mut count);
        }
        let lower = count - 1;
        for point in sorted.into_iter().rev().skip(1) {
            add(point, lower, &mut count);
        }
        // The chain ends with its first point.
        let count = (count - 1).clamp(1, MOST_CORNERS);
        let mut corners = [chain[0]; MOST_CORNERS];
        corners[..count].copy_from_slice(&chain[..count]);
        if count == 1 {
            return Self::line(corners[0], corners[0]);
        }
        Self { corners, count }
    }

    /// Creates a convex polygon with four corners, given in either direction.
    pub fn quadrilateral(corners: [DVec2; 4]) -> Self {
        let mut all = [corners[0]; MOST_CORNERS];
        all[..4].copy_from_slice(&corners);
        Self::hull(all)
    }

    /// Corners of the outline.
    #[inline]
    pub fn corners(&self) -> &[DVec2] {
        &self.corners[..self.count]
    }

    /// Returns the outline relative to a placement.
    #[inline]
    pub fn to_local(&self, place: &Placement) -> Self {
        self.map(|corner| place.to_local(corner))
    }

    /// Returns the outline, translated by a vector.
    #[inline]
    pub fn shifted(&self, by: DVec2) -> Self {
        self.map(|corner| corner + by)
    }

    fn map(&self, change: impl Fn(DVec2) -> DVec2) -> Self {
        let mut corners = self.corners;
        for corner in &mut corners[..self.count] {
            *corner = change(*corner);
        }
        Self {
            corners,
            count: self.count,
        }
    }

    /// Bounding box of the outline.
    #[inline]
    pub fn bounds(&self) -> Bounds {
        Bounds::of(self.corners())
    }

    /// Whether two outlines have a point in common, by separating axes.
    pub fn meets(&self, other: &Self) -> bool {
        !self.has_axis_before(other) && !other.has_axis_before(self)
    }

    /// Distance from a point to the outline, m; 0 inside.
    pub(crate) fn distance(&self, point: DVec2) -> f64 {
        polygon::distance(self.corners(), point)
    }

    /// Whether another outline is entirely outside one of the edges of this outline.
    fn has_axis_before(&self, other: &Self) -> bool {
        (0..self.count).any(|i| {
            let from = self.corners[i];
            let to = self.corners[if i + 1 == self.count { 0 } else { i + 1 }];
            // The normal points outwards, because corners are counter-clockwise.
            let normal = DVec2::new(to.y - from.y, from.x - to.x);
            let edge = normal.dot(from);
            other
                .corners()
                .iter()
                .all(|&corner| normal.dot(corner) > edge)
        })
    }
}

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates, m.
    pub low: DVec2,
    /// Largest coordinates, m.
    pub high: DVec2,
}

impl Bounds {
    /// Returns the bounding box of points.
    #[inline]
    pub fn of(points: &[DVec2]) -> Self {
        let mut bounds = Self {
            low: DVec2::INFINITY,
            high: DVec2::NEG_INFINITY,
        };
        for &point in points {
            bounds.low = bounds.low.min(point);
            bounds.high = bounds.high.max(point);
        }
        bounds
    }

    /// Returns the bounding box of two boxes.
    pub fn with(&self, other: &Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Returns the box, extended by `by` metres on all sides.
    #[inline]
    pub fn grown(&self, by: f64) -> Self {
        Self {
            low: self.low - by,
            high: self.high + by,
        }
    }

    /// Whether two boxes have a point in common.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        self.low.x <= other.high.x
            && other.low.x <= self.high.x
            && self.low.y <= other.high.y
            && other.low.y <= self.high.y
    }

    /// Converts a box relative to a placement to its bounding box in world coordinates.
    #[inline]
    pub fn placed(&self, place: &Placement) -> Self {
        let centre = place.point(0.5 * (self.low + self.high));
        let half = 0.5 * (self.high - self.low);
        let forward = place.forward.abs();
        let reach = DVec2::new(
            forward.x * half.x + forward.y * half.y,
            forward.y * half.x + forward.x * half.y,
        );
        Self {
            low: centre - reach,
            high: centre + reach,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use roadwright_geometry::Pose;

    /// The body of a car in unit tests of this crate.
    pub(crate) const CAR: BodyOutline = BodyOutline {
        front: 2.7,
        rear: 0.7,
        half_width: 0.8,
        centre_of_gravity: 1.0,
    };

    fn at(x: f64, y: f64, heading: f64) -> Placement {
        Placement::of(Pose::new(x, y, heading))
    }

    #[test]
    fn a_post_inside_an_outline_meets_it_and_a_wall_beside_it_does_not() {
        let car = Convex::quadrilateral(CAR.corners(&at(10.0, 5.0, 0.3)));
        let inside = at(10.0, 5.0, 0.3).point(DVec2::new(1.0, 0.1));
        let post = Convex::quadrilateral([
            inside,
            inside + DVec2::new(0.1, 0.0),
            inside + DVec2::new(0.1, 0.1),
            inside + DVec2::new(0.0, 0.1),
        ]);
        assert!(car.meets(&post) && post.meets(&car));
        let beside = |left: f64| {
            let place = at(10.0, 5.0, 0.3);
            Convex::line(
                place.point(DVec2::new(-20.0, left)),
                place.point(DVec2::new(20.0, left)),
            )
        };
        assert!(!car.meets(&beside(0.801)));
        assert!(car.meets(&beside(0.799)));
        assert!(car.meets(&beside(-0.799)) && !car.meets(&beside(-0.801)));
    }

    #[test]
    fn points_that_fall_together_are_a_line() {
        let point = DVec2::new(1.0, 2.0);
        let hull = Convex::hull([point; 8]);
        assert_eq!(hull.corners(), [point, point]);
        let mut two = [point; 8];
        two[5] = DVec2::new(3.0, 2.0);
        assert_eq!(Convex::hull(two).corners().len(), 2);
    }

    proptest! {
        #[test]
        fn hulls_contain_their_points_and_turn_left(
            points in proptest::array::uniform8([-5.0..5.0f64, -5.0..5.0]),
        ) {
            let points = points.map(DVec2::from);
            let hull = Convex::hull(points);
            let corners = hull.corners();
            for (i, &from) in corners.iter().enumerate() {
                let to = corners[(i + 1) % corners.len()];
                for point in points {
                    prop_assert!((to - from).perp_dot(point - from) >= -1e-9);
                }
            }
        }

        #[test]
        fn outlines_meet_if_and_only_if_samples_say_so(
            a in [-3.0..3.0f64, -3.0..3.0, -3.0..3.0],
            b in [-3.0..3.0f64, -3.0..3.0, -3.0..3.0],
        ) {
            let of = |[x, y, heading]: [f64; 3]| at(x, y, heading);
            let (a, b) = (of(a), of(b));
            let meets = Convex::quadrilateral(CAR.corners(&a))
                .meets(&Convex::quadrilateral(CAR.corners(&b)));
            // Compares with a sampled test: whether a point of one body is well inside the other.
            let inside = (0..=40).any(|i| (0..=20).any(|j| {
                let local = DVec2::new(
                    -CAR.rear + f64::from(i) / 40.0 * 3.4,
                    CAR.half_width * (f64::from(j) / 10.0 - 1.0),
                );
                let seen = b.to_local(a.point(local));
                seen.x > -CAR.rear && seen.x < CAR.front && seen.y.abs() < CAR.half_width
            }));
            prop_assert!(meets || !inside);
        }
    }
}
