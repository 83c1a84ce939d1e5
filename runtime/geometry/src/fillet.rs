//! Smooth reference lines from corner points: lines joined by arcs.

use crate::error::GeometryError;
use crate::math::{cos, tan, wrap_angle};
use crate::pose::{Pose, heading_of};
use crate::reference_line::{MIN_SEGMENT, ReferenceLine};
use crate::segment::Segment;
use glam::DVec2;

/// Options for the conversion of corner points to a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FilletOptions {
    /// Maximum radius of an arc, m.
    pub radius: f64,
    /// Maximum distance between a corner point and the curve, m.
    pub miss: f64,
}

/// Minimum radii for the bends of a road. With smaller radii, its inner edges would run backwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmallestRadii {
    /// Minimum radius of bends to the left, m.
    pub left: f64,
    /// Minimum radius of bends to the right, m.
    pub right: f64,
    /// Maximum distance between a corner point and a curve that is widened to one of these radii,
    /// m.
    pub miss: f64,
}

/// A line with widened bends.
#[derive(Debug, Clone, PartialEq)]
pub struct Widened {
    /// The line.
    pub line: ReferenceLine,
    /// Number of bends with a larger radius than [`FilletOptions::miss`] allows.
    pub count: usize,
}

/// Distance below which two points count as the same, m.
const SAME_POINT: f64 = 0.01;
/// Minimum turn of a corner that gets an arc, rad.
const MIN_TURN: f64 = 1e-9;

/// Returns a line between the end points that rounds every corner point in between by an arc.
///
/// The arc at a corner has the preferred radius. The radius is smaller if the arc would otherwise
/// miss the corner by more than `miss` or use more than half of a leg. The line passes exactly
/// through the first and last points. Even a corner of more than 175 degrees gets an arc (with a
/// radius of a few millimetres), so that the heading stays continuous.
///
/// # Errors
/// If fewer than two distinct points are given or a coordinate is out of range.
pub fn fillet(points: &[DVec2], options: FilletOptions) -> Result<ReferenceLine, GeometryError> {
    Ok(rounded(points, options, None)?.line)
}

/// Returns the line of [`fillet`] with its tight bends widened. A bend whose radius is below `smallest` gets
/// that radius, as far as its legs and [`SmallestRadii::miss`] allow.
///
/// # Errors
/// If fewer than two distinct points are given or a coordinate is out of range.
pub fn fillet_widened(
    points: &[DVec2],
    options: FilletOptions,
    smallest: SmallestRadii,
) -> Result<Widened, GeometryError> {
    rounded(points, options, Some(smallest))
}

fn rounded(
    points: &[DVec2],
    options: FilletOptions,
    smallest: Option<SmallestRadii>,
) -> Result<Widened, GeometryError> {
    let points = distinct(points);
    if points.len() < 2 {
        return Err(GeometryError::TooFewPoints {
            needed: 2,
            given: points.len(),
        });
    }
    let headings: Vec<_> = points.windows(2).map(|p| heading_of(p[1] - p[0])).collect();
    let legs: Vec<_> = points.windows(2).map(|p| (p[1] - p[0]).length()).collect();
    let mut segments = Vec::with_capacity(2 * points.len());
    // Length of this leg that the arc at the previous corner occupies.
    let mut used = 0.0;
    let mut count = 0;
    for i in 0..legs.len() {
        let corner = (i + 1 < legs.len()).then(|| {
            let turn = wrap_angle(headings[i + 1] - headings[i]);
            let leg = legs[i].min(legs[i + 1]);
            let corner = Corner::new(turn, leg, options);
            let wider = smallest.and_then(|smallest| corner.widened(leg, smallest));
            count += usize::from(wider.is_some());
            wider.unwrap_or(corner)
        });
        let tangent = corner.as_ref().map_or(0.0, |c| c.tangent);
        let straight = legs[i] - used - tangent;
        // If two arcs use up the whole leg, there is no line between them.
        if straight >= MIN_SEGMENT {
            segments.push(Segment::Line { length: straight });
        }
        if let Some(corner) = corner.filter(|c| c.length() >= MIN_SEGMENT) {
            segments.push(Segment::Arc {
                length: corner.length(),
                curvature: corner.turn.signum() / corner.radius,
            });
        }
        used = tangent;
    }
    let start = Pose {
        position: points[0],
        heading: headings[0],
    };
    let line = ReferenceLine::new(start, segments)?;
    Ok(Widened { line, count })
}

/// An arc that rounds one corner.
///
/// ```text
///   ----------.- - +  corner        tangent = r tan(turn / 2)
///             ' .  :                distance from corner to arc = r (1 / cos(turn / 2) - 1)
///     |<tangent>| \:
///                  |
/// ```
struct Corner {
    turn: f64,
    radius: f64,
    /// Distance from the corner to the start of the arc.
    tangent: f64,
}

impl Corner {
    fn new(turn: f64, leg: f64, options: FilletOptions) -> Self {
        // A full reversal has no finite tangent, so it is treated as a turn of 175 degrees.
        let half = 0.5 * turn.abs().min(175f64.to_radians());
        if half < MIN_TURN {
            return Self {
                turn: 0.0,
                radius: f64::INFINITY,
                tangent: 0.0,
            };
        }
        let radius = options.radius.min(largest_radius(half, leg, options.miss));
        Self {
            turn,
            radius,
            tangent: radius * tan(half),
        }
    }

    /// Returns the corner with its arc widened to the smallest radius for its direction, or as far
    /// as there is room. `None` if widening does not enlarge the arc.
    fn widened(&self, leg: f64, smallest: SmallestRadii) -> Option<Self> {
        let wanted = if self.turn > 0.0 {
            smallest.left
        } else {
            smallest.right
        };
        let half = 0.5 * self.turn.abs().min(175f64.to_radians());
        if self.turn == 0.0 || wanted <= self.radius {
            return None;
        }
        let radius = wanted.min(largest_radius(half, leg, smallest.miss));
        (radius > self.radius).then(|| Self {
            turn: self.turn,
            radius,
            tangent: radius * tan(half),
        })
    }

    fn length(&self) -> f64 {
        if self.turn == 0.0 {
            0.0
        } else {
            self.radius * self.turn.abs()
        }
    }
}

/// Returns the largest radius of an arc that turns by twice `half` (rad), uses less than half of a
/// leg, and misses its corner by at most `miss`, m.
fn largest_radius(half: f64, leg: f64, miss: f64) -> f64 {
    // The arc misses the corner by radius (1 / cos(turn / 2) - 1), and uses radius tan(turn / 2) of each
    // leg.
    let by_miss = miss / (1.0 / cos(half) - 1.0).max(1e-12);
    // Slightly less than half, so that two arcs of maximum size leave some of the leg between them.
    let by_leg = 0.49 * leg / tan(half);
    by_miss.min(by_leg)
}

fn distinct(points: &[DVec2]) -> Vec<DVec2> {
    let mut kept: Vec<DVec2> = Vec::with_capacity(points.len());
    for &point in points {
        if kept
            .last()
            .is_none_or(|last| (point - *last).length() >= SAME_POINT)
        {
            kept.push(point);
        } else if kept.len() > 1 && point == points[points.len() - 1] {
            // The line ends exactly at the last point, so the point next to it is dropped.
            let last = kept.len() - 1;
            kept[last] = point;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPTIONS: FilletOptions = FilletOptions {
        radius: 10.0,
        miss: 5.0,
    };

    #[test]
    fn tight_bends_are_widened_on_their_own_side_as_far_as_they_may_miss() {
        let points = [DVec2::ZERO, DVec2::new(50.0, 0.0), DVec2::new(90.0, 20.0)];
        let tight = FilletOptions {
            radius: 40.0,
            miss: 0.05,
        };
        let radius = |line: &ReferenceLine| 1.0 / line.max_curvature();
        let before = radius(&fillet(&points, tight).unwrap());
        assert!(before < 2.0, "{before}");
        let widened = |left: f64, right: f64, miss: f64| {
            let smallest = SmallestRadii { left, right, miss };
            fillet_widened(&points, tight, smallest).unwrap()
        };
        // The line bends to the left.
        let wide = widened(8.0, 1.0, 1.5);
        assert_eq!(wide.count, 1);
        assert!((radius(&wide.line) - 8.0).abs() < 1e-9);
        let other = widened(1.0, 8.0, 1.5);
        assert_eq!((other.count, radius(&other.line)), (0, before));
        // A turn of 27 degrees with a radius of 8 m misses the corner by 0.22 m.
        let short = widened(8.0, 8.0, 0.1);
        assert_eq!(short.count, 1);
        assert!((radius(&short.line) - 2.0 * before).abs() < 1e-9);
    }

    #[test]
    fn a_right_angle_gets_its_arc() {
        let points = [DVec2::ZERO, DVec2::new(50.0, 0.0), DVec2::new(50.0, 50.0)];
        let line = fillet(&points, OPTIONS).unwrap();
        assert_eq!(line.segments().len(), 3);
        assert!((line.length() - (80.0 + 5.0 * std::f64::consts::PI)).abs() < 1e-9);
        assert!((line.end().position - points[2]).length() < 1e-9);
        // E = R (1 / cos(45 deg) - 1)
        let middle = line.pose(0.5 * line.length()).position;
        assert!(((middle - points[1]).length() - 4.142_135_623).abs() < 1e-6);
    }

    #[test]
    fn one_point_is_no_line() {
        let error = fillet(&[DVec2::ZERO, DVec2::new(0.0, 0.001)], OPTIONS).unwrap_err();
        assert_eq!(
            error,
            GeometryError::TooFewPoints {
                needed: 2,
                given: 1
            }
        );
    }

    proptest! {
        #[test]
        fn ends_are_met_and_corners_are_near(
            coordinates in proptest::collection::vec((-100.0..100.0f64, -100.0..100.0f64), 2..12),
        ) {
            let points: Vec<_> = coordinates.iter().map(|&(x, y)| DVec2::new(x, y)).collect();
            let steps_back = points.windows(3).any(|p| {
                wrap_angle(heading_of(p[2] - p[1]) - heading_of(p[1] - p[0])).abs() > 3.0
            });
            prop_assume!(!steps_back && points.windows(2).all(|p| (p[1] - p[0]).length() > 1.0));
            let line = fillet(&points, FilletOptions { radius: 20.0, miss: 0.5 }).unwrap();
            prop_assert!((line.start().position - points[0]).length() < 1e-9);
            prop_assert!((line.end().position - points[points.len() - 1]).length() < 1e-6);
        }
    }
}
