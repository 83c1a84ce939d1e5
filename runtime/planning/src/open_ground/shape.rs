//! Shapes on the ground, with exact overlap tests between shapes and bodies.

use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, MAX_COORDINATE, Pose, polygon};
use std::sync::Arc;
use thiserror::Error;

/// Reason why a map cannot contain a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// A number is not finite, or a point is outside the world.
    #[error("the shape has a coordinate that is not finite or not within 10,000 km of the origin")]
    Position,
    /// A polygon does not have an area.
    #[error("a polygon needs at least three corners")]
    Corners,
    /// Heights are in the wrong order.
    #[error("the lower edge must not be above the upper edge")]
    Heights,
}

/// An area on the ground.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A rectangle at any angle.
    Box(OrientedBox),
    /// A circle.
    Circle(Circle),
    /// A polygon without crossing edges.
    Polygon(Arc<[DVec2]>),
    /// The ground ahead of a moving body, in the form of a teardrop.
    Teardrop(Teardrop),
}

/// A circle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle {
    /// Centre, m.
    pub centre: DVec2,
    /// Radius, m.
    pub radius: f64,
}

/// The ground that a moving body will cover: a teardrop, widest at the body, with its tip ahead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Teardrop {
    /// Centre of the body and direction of its motion.
    pub pose: Pose,
    /// Distance from the centre to the tip, m.
    pub length: f64,
    /// Half the width at the body, m.
    pub half_width: f64,
}

impl Teardrop {
    /// Fraction of the full cost at a point, for a body whose half-width is `reach` metres. It is 1 at the
    /// moving body, decreases to 0 at the tip, and is 0 outside the teardrop.
    pub fn share(&self, point: DVec2, reach: f64) -> f64 {
        let local = self.pose.to_local(point);
        let half_width = self.half_width + reach;
        if local.x <= 0.0 {
            // Behind the centre, the teardrop is round.
            return f64::from(u8::from(local.length() < half_width));
        }
        if local.x >= self.length {
            return 0.0;
        }
        let left = 1.0 - local.x / self.length;
        // The square root keeps the teardrop wide near the body.
        if local.y.abs() < half_width * left.sqrt() {
            left
        } else {
            0.0
        }
    }
}

/// Axis-aligned rectangle, m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// South-west corner.
    pub low: DVec2,
    /// North-east corner.
    pub high: DVec2,
}

impl Bounds {
    /// Returns the rectangle, extended by the given distance on all sides.
    pub fn grown(self, by: f64) -> Self {
        Self {
            low: self.low - DVec2::splat(by),
            high: self.high + DVec2::splat(by),
        }
    }

    /// Whether two rectangles overlap or touch.
    pub fn meets(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

/// A straight or round part of an outline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Piece {
    Edge(DVec2, DVec2),
    Circle(Circle),
}

impl Piece {
    /// Returns the point of the piece closest to another point.
    pub(super) fn closest(&self, point: DVec2) -> DVec2 {
        match self {
            Self::Edge(a, b) => polygon::closest_on_segment(*a, *b, point),
            Self::Circle(circle) => {
                let away = (point - circle.centre).normalize_or(DVec2::X);
                circle.centre + away * circle.radius
            }
        }
    }
}

impl Shape {
    /// Creates a polygon from its corners.
    pub fn polygon(corners: &[DVec2]) -> Self {
        Self::Polygon(corners.into())
    }

    /// Whether a map can contain the shape.
    ///
    /// # Errors
    /// If a number is not finite, or the shape is outside the world or has no area.
    pub fn check(&self) -> Result<(), ShapeError> {
        if let Self::Polygon(corners) = self
            && corners.len() < 3
        {
            return Err(ShapeError::Corners);
        }
        let is_usable = match self {
            Self::Box(shape) => shape.forward.is_finite(),
            Self::Circle(circle) => circle.radius >= 0.0,
            Self::Polygon(corners) => corners.iter().all(|corner| corner.is_finite()),
            Self::Teardrop(drop) => drop.pose.heading.is_finite() && drop.half_width >= 0.0,
        };
        let bounds = self.bounds();
        let limit = DVec2::splat(MAX_COORDINATE);
        // The comparisons are false for numbers that are not finite.
        let is_near = bounds.low.cmpge(-limit).all()
            && bounds.high.cmple(limit).all()
            && bounds.low.cmple(bounds.high).all();
        if is_usable && is_near {
            Ok(())
        } else {
            Err(ShapeError::Position)
        }
    }

    /// Returns the smallest axis-aligned rectangle that contains the shape.
    pub fn bounds(&self) -> Bounds {
        let around = |centre: DVec2, reach: DVec2| Bounds {
            low: centre - reach,
            high: centre + reach,
        };
        match self {
            Self::Box(shape) => around(
                shape.centre,
                DVec2::new(shape.reach(DVec2::X), shape.reach(DVec2::Y)),
            ),
            Self::Circle(circle) => around(circle.centre, DVec2::splat(circle.radius)),
            Self::Polygon(corners) => {
                let bounds = polygon::bounds(corners);
                let (low, high) = bounds.unwrap_or((DVec2::NAN, DVec2::NAN));
                Bounds { low, high }
            }
            Self::Teardrop(drop) => {
                let tip = drop.pose.point(drop.length.max(0.0), 0.0);
                let reach = DVec2::splat(drop.half_width);
                Bounds {
                    low: drop.pose.position.min(tip) - reach,
                    high: drop.pose.position.max(tip) + reach,
                }
            }
        }
    }

    /// Distance from a point to the shape's area, m; 0 inside.
    #[inline]
    pub fn distance(&self, point: DVec2) -> f64 {
        match self {
            Self::Box(shape) => {
                let offset = point - shape.centre;
                let left = DVec2::new(-shape.forward.y, shape.forward.x);
                let along = (offset.dot(shape.forward).abs() - shape.half_length).max(0.0);
                let across = (offset.dot(left).abs() - shape.half_width).max(0.0);
                (along * along + across * across).sqrt()
            }
            Self::Circle(circle) => ((point - circle.centre).length() - circle.radius).max(0.0),
            Self::Polygon(corners) => polygon::distance(corners, point),
            Self::Teardrop(drop) => {
                if drop.share(point, 0.0) > 0.0 {
                    0.0
                } else {
                    (point - drop.pose.position).length()
                }
            }
        }
    }

    /// Whether the interior of a body overlaps the shape.
    pub fn overlaps(&self, body: &OrientedBox) -> bool {
        match self {
            Self::Box(shape) => shape.penetration(body) > 0.0,
            Self::Circle(circle) => body.circle_penetration(circle.centre, circle.radius) > 0.0,
            Self::Polygon(corners) => polygon_overlaps(corners, body),
            Self::Teardrop(_) => false,
        }
    }

    /// Whether the shape covers more than half of a body's rectangle.
    pub fn covers_most(&self, body: &OrientedBox) -> bool {
        /// Number of corners of the polygon that approximates a circle. Its area is 0.6 % too small.
        const SIDES: u32 = 32;
        let area = 4.0 * body.half_length * body.half_width;
        let covered = match self {
            Self::Box(shape) => covered_area(&shape.corners(), body),
            Self::Circle(circle) => {
                let corner = |side: u32| {
                    let angle = f64::from(side) * std::f64::consts::TAU / f64::from(SIDES);
                    circle.centre + roadwright_geometry::unit(angle) * circle.radius
                };
                let corners: Vec<DVec2> = (0..SIDES).map(corner).collect();
                covered_area(&corners, body)
            }
            Self::Polygon(corners) => covered_area(corners, body),
            Self::Teardrop(_) => 0.0,
        };
        // Exactly one half, up to rounding, does not count as more than half.
        covered > 0.5 * area * (1.0 + 1e-9)
    }

    /// Whether a straight line between two points meets the shape.
    pub(super) fn meets_line(&self, a: DVec2, b: DVec2) -> bool {
        match self {
            Self::Circle(circle) => {
                let closest = polygon::closest_on_segment(a, b, circle.centre);
                (closest - circle.centre).length() <= circle.radius
            }
            Self::Teardrop(_) => false,
            Self::Box(_) | Self::Polygon(_) => {
                let mut is_met = self.distance(a) == 0.0;
                self.for_each_piece(|piece| {
                    if let Piece::Edge(c, d) = piece {
                        is_met |= polygon::segments_cross(a, b, c, d);
                    }
                });
                is_met
            }
        }
    }

    /// Calls `visit` for each part of the outline.
    pub(super) fn for_each_piece(&self, mut visit: impl FnMut(Piece)) {
        match self {
            Self::Box(shape) => {
                let corners = shape.corners();
                polygon::edges(&corners).for_each(|(a, b)| visit(Piece::Edge(a, b)));
            }
            Self::Circle(circle) => visit(Piece::Circle(*circle)),
            Self::Polygon(corners) => {
                polygon::edges(corners).for_each(|(a, b)| visit(Piece::Edge(a, b)));
            }
            Self::Teardrop(_) => {}
        }
    }
}

/// Transforms a point into the frame of a body. In this frame, the sides of the body are parallel
/// to the axes.
fn local(body: &OrientedBox, point: DVec2) -> DVec2 {
    let offset = point - body.centre;
    let left = DVec2::new(-body.forward.y, body.forward.x);
    DVec2::new(offset.dot(body.forward), offset.dot(left))
}

/// Whether the interior of a body's rectangle intersects a polygon, which need not be convex.
fn polygon_overlaps(corners: &[DVec2], body: &OrientedBox) -> bool {
    let half = DVec2::new(body.half_length, body.half_width);
    let crosses = polygon::edges(corners).any(|(a, b)| {
        let (a, b) = (local(body, a), local(body, b));
        enters(a, b, half)
    });
    crosses || polygon::contains(corners, body.centre)
}

/// Whether a straight line has points strictly inside a rectangle whose centre is the origin.
fn enters(a: DVec2, b: DVec2, half: DVec2) -> bool {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    let chord = b - a;
    for (start, step, half) in [(a.x, chord.x, half.x), (a.y, chord.y, half.y)] {
        if step == 0.0 {
            if start.abs() >= half {
                return false;
            }
            continue;
        }
        let (first, second) = ((-half - start) / step, (half - start) / step);
        from = from.max(first.min(second));
        to = to.min(first.max(second));
    }
    from < to
}

/// Computes the area of a polygon inside a body's rectangle, m^2, by clipping the polygon along the
/// four sides ([Sutherland 1974]). Clipping a concave polygon can leave edges that are traversed
/// twice, but these cancel out.
fn covered_area(corners: &[DVec2], body: &OrientedBox) -> f64 {
    let mut points: Vec<DVec2> = corners.iter().map(|corner| local(body, *corner)).collect();
    let sides = [
        (DVec2::X, body.half_length),
        (DVec2::NEG_X, body.half_length),
        (DVec2::Y, body.half_width),
        (DVec2::NEG_Y, body.half_width),
    ];
    for (normal, reach) in sides {
        let mut kept = Vec::with_capacity(points.len() + 4);
        for (a, b) in polygon::edges(&points) {
            let (inside_a, inside_b) = (reach - a.dot(normal), reach - b.dot(normal));
            if (inside_a >= 0.0) != (inside_b >= 0.0) {
                kept.push(a + (b - a) * (inside_a / (inside_a - inside_b)));
            }
            if inside_b >= 0.0 {
                kept.push(b);
            }
        }
        points = kept;
    }
    polygon::signed_area(&points).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64) -> OrientedBox {
        OrientedBox::new(Pose::new(x, y, 0.0), 1.0, 1.0)
    }

    #[test]
    fn shapes_that_only_touch_do_not_overlap() {
        let wall = OrientedBox::new(Pose::new(0.0, 0.0, 0.0), 1.0, 20.0);
        let shapes = [Shape::Box(wall), Shape::polygon(&wall.corners())];
        for shape in shapes {
            assert!(shape.overlaps(&square(0.5, 0.5)), "{shape:?}");
            assert!(!shape.overlaps(&square(1.0, 0.0)), "{shape:?}");
            // A shape that covers half of each of two cells covers most of neither.
            assert!(!shape.covers_most(&square(0.5, 0.5)), "{shape:?}");
            assert!(shape.covers_most(&square(0.4, 0.5)), "{shape:?}");
        }
    }

    #[test]
    fn bent_polygons_are_covered_by_their_area() {
        let bent: Vec<DVec2> = [
            (0.0, 0.0),
            (3.0, 0.0),
            (3.0, 3.0),
            (2.0, 3.0),
            (2.0, 1.0),
            (1.0, 1.0),
            (1.0, 3.0),
            (0.0, 3.0),
        ]
        .map(DVec2::from)
        .into();
        let body = OrientedBox::new(Pose::new(1.5, 1.5, 0.0), 3.0, 3.0);
        assert!((covered_area(&bent, &body) - 7.0).abs() < 1e-12);
        assert!(!polygon_overlaps(&bent, &square(1.5, 2.0)));
        assert!(polygon_overlaps(&bent, &square(1.5, 1.4)));
    }

    #[test]
    fn shapes_that_are_nowhere_are_refused() {
        for x in [f64::NAN, f64::INFINITY, 2e7] {
            let circle = Circle {
                centre: DVec2::new(x, 0.0),
                radius: 1.0,
            };
            assert_eq!(Shape::Circle(circle).check(), Err(ShapeError::Position));
        }
        assert_eq!(Shape::polygon(&[]).check(), Err(ShapeError::Corners));
    }

    #[test]
    fn a_teardrop_is_widest_at_the_body_and_ends_in_a_point() {
        let drop = Teardrop {
            pose: Pose::new(0.0, 0.0, 0.0),
            length: 30.0,
            half_width: 1.0,
        };
        assert_eq!(drop.share(DVec2::ZERO, 0.0), 1.0);
        assert_eq!(drop.share(DVec2::new(15.0, 0.0), 0.0), 0.5);
        assert_eq!(drop.share(DVec2::new(15.0, 0.8), 0.0), 0.0);
        assert!(drop.share(DVec2::new(15.0, 0.8), 1.0) > 0.0);
        assert_eq!(drop.share(DVec2::new(30.0, 0.0), 1.0), 0.0);
    }
}
