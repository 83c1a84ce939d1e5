//! Reference lines: the curves along which the coordinates s and t of roads are measured.

use crate::clothoid::join_poses;
use crate::error::GeometryError;
use crate::math::wrap_angle;
use crate::pose::{OwnFrame, Pose, left_of};
use crate::segment::MAX_CURVATURE;
use crate::segment::{Element, Frame, Segment};
use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum absolute coordinate, m. Beyond this limit, a double cannot reliably represent a
/// micrometre.
pub const MAX_COORDINATE: f64 = 1e7;
/// Maximum length of a reference line, m.
pub const MAX_LENGTH: f64 = 1e7;
/// Maximum product of length and curvature of a segment, rad: about 32 full turns.
const MAX_TURN: f64 = 200.0;
/// Minimum length of a segment, m. Shorter segments are considered mistakes.
pub const MIN_SEGMENT: f64 = 1e-6;

/// A curve of lines, arcs, clothoids and cubics with continuous position and heading.
///
/// Continuity follows from the construction: each segment starts at the end pose of the previous one. `s`
/// runs from 0 to [`length`](Self::length); other values are clamped.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Record", into = "Record")]
pub struct ReferenceLine {
    start: Pose,
    segments: Vec<Segment>,
    elements: Vec<Element>,
    length: f64,
}

/// A reference line as stored in files.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "ReferenceLine", deny_unknown_fields)]
struct Record {
    /// x coordinate of the start, m.
    #[schemars(range(min = -MAX_COORDINATE, max = MAX_COORDINATE))]
    x: f64,
    /// y coordinate of the start, m.
    #[schemars(range(min = -MAX_COORDINATE, max = MAX_COORDINATE))]
    y: f64,
    /// Heading of the start, rad counter-clockwise from +x.
    heading: f64,
    /// The segments in order; at least one.
    #[schemars(length(min = 1))]
    segments: Vec<Segment>,
}

impl JsonSchema for ReferenceLine {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReferenceLine".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Record::json_schema(generator)
    }
}

impl TryFrom<Record> for ReferenceLine {
    type Error = GeometryError;

    fn try_from(record: Record) -> Result<Self, GeometryError> {
        let start = Pose::new(record.x, record.y, record.heading);
        Self::new(start, record.segments)
    }
}

impl From<ReferenceLine> for Record {
    fn from(line: ReferenceLine) -> Self {
        Self {
            x: line.start.position.x,
            y: line.start.position.y,
            heading: line.start.heading,
            segments: line.segments,
        }
    }
}

impl PartialEq for ReferenceLine {
    fn eq(&self, other: &Self) -> bool {
        // The elements and the length follow from the start and the segments.
        self.start == other.start && self.segments == other.segments
    }
}

impl ReferenceLine {
    /// Creates a line from its start pose and its segments.
    ///
    /// # Errors
    /// If there is no segment, a number is not finite, a segment is shorter than [`MIN_SEGMENT`], the line
    /// longer than [`MAX_LENGTH`] or a coordinate beyond [`MAX_COORDINATE`].
    pub fn new(start: Pose, segments: Vec<Segment>) -> Result<Self, GeometryError> {
        check_position(start.position)?;
        if !start.heading.is_finite() || start.heading.abs() > 1e3 {
            return Err(GeometryError::Heading(start.heading));
        }
        if segments.is_empty() {
            return Err(GeometryError::Empty);
        }
        for (index, segment) in segments.iter().enumerate() {
            check_segment(index, segment)?;
        }
        let line = Self::assembled(start, segments);
        for (index, element) in line.elements.iter().enumerate() {
            if !(element.length >= MIN_SEGMENT && element.length <= MAX_LENGTH) {
                return Err(GeometryError::SegmentLength {
                    index,
                    length: element.length,
                });
            }
            check_position(element.pose(element.length).position)?;
        }
        if line.length > MAX_LENGTH {
            return Err(GeometryError::Length(line.length));
        }
        Ok(line)
    }

    /// Places segments one after another without checking their values.
    fn assembled(start: Pose, segments: Vec<Segment>) -> Self {
        let mut elements = Vec::with_capacity(segments.len());
        let (mut s, mut pose) = (0.0, start);
        for segment in &segments {
            let element = Element::new(segment, s, pose);
            s += element.length;
            pose = element.pose(element.length);
            // Otherwise, headings would grow over many bends and lose digits.
            pose.heading = wrap_angle(pose.heading);
            elements.push(element);
        }
        Self {
            start,
            segments,
            elements,
            length: s,
        }
    }

    /// Creates the straight line between two points.
    ///
    /// # Errors
    /// As [`new`](Self::new), in particular if the points coincide.
    pub fn straight(from: DVec2, to: DVec2) -> Result<Self, GeometryError> {
        let heading = crate::pose::heading_of(to - from);
        let length = (to - from).length();
        Self::new(
            Pose {
                position: from,
                heading,
            },
            vec![Segment::Line { length }],
        )
    }

    /// Creates a single clothoid between two poses.
    ///
    /// # Errors
    /// [`GeometryError::NoJoin`] if no clothoid of reasonable length joins them.
    pub fn join(start: Pose, end: Pose) -> Result<Self, GeometryError> {
        let clothoid = join_poses(start, end).ok_or(GeometryError::NoJoin)?;
        Self::new(start, vec![simplest_segment(&clothoid)])
    }

    /// Length, m.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Returns the segments in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the distance along the line to the start of each segment, m.
    pub fn segment_starts(&self) -> impl Iterator<Item = f64> + '_ {
        self.elements.iter().map(|element| element.s)
    }

    /// Pose at the start.
    pub fn start(&self) -> Pose {
        self.start
    }

    /// Pose at the end.
    pub fn end(&self) -> Pose {
        self.pose(self.length)
    }

    /// Returns the pose at distance `s` (clamped to [0, length]). O(log segments).
    pub fn pose(&self, s: f64) -> Pose {
        let (element, u) = self.element_at(s);
        let mut pose = element.pose(u);
        pose.heading = wrap_angle(pose.heading);
        pose
    }

    /// Returns the heading at distance `s`, rad in (-pi, pi].
    pub fn heading(&self, s: f64) -> f64 {
        self.pose(s).heading
    }

    /// Returns the curvature at distance `s`, 1/m, positive to the left.
    pub fn curvature(&self, s: f64) -> f64 {
        let (element, u) = self.element_at(s);
        element.curvature(u)
    }

    /// Largest absolute curvature, 1/m.
    pub fn max_curvature(&self) -> f64 {
        self.elements
            .iter()
            .map(Element::max_curvature)
            .fold(0.0, f64::max)
    }

    /// Returns the point at road coordinates (s, t): `t` metres to the left of the line.
    pub fn point(&self, s: f64, t: f64) -> DVec2 {
        if t == 0.0 {
            let (element, u) = self.element_at(s);
            return element.pose(u).position;
        }
        let (_, frame) = self.own_frame(s);
        frame.origin + left_of(frame.forward) * t
    }

    /// Returns the pose at distance `s` with its own frame. On a straight line, this needs no sine
    /// or cosine.
    pub fn own_frame(&self, s: f64) -> (Pose, OwnFrame) {
        let (element, u) = self.element_at(s);
        let mut pose = element.pose(u);
        let heading = wrap_angle(pose.heading);
        // The direction of an element is computed from its own heading, which may differ by a full turn.
        let is_same = heading.to_bits() == pose.heading.to_bits();
        pose.heading = heading;
        let known = element.straight_direction().filter(|_| is_same);
        let frame = OwnFrame {
            origin: pose.position,
            forward: known.unwrap_or_else(|| pose.forward()),
        };
        (pose, frame)
    }

    /// Returns the pose on the curve offset by `t` metres to the left. It has the heading of the
    /// line.
    pub fn offset_pose(&self, s: f64, t: f64) -> Pose {
        let (pose, frame) = self.own_frame(s);
        Pose {
            position: frame.origin + left_of(frame.forward) * t,
            ..pose
        }
    }

    /// Returns the distances along the line where it is cut into straight chords. The chords stay
    /// within `tolerance` metres of the line, and of its offsets by up to `reach` metres to either
    /// side. The first distance is 0, and the last is the length.
    pub fn sample_distances(&self, tolerance: f64, reach: f64) -> Vec<f64> {
        let mut distances = vec![0.0];
        for element in &self.elements {
            let curvature = element.max_curvature();
            // A line offset to the outside of a bend is longer by the factor 1 + t kappa but bends
            // less. Only the product of chord and curvature matters, so using the line's own
            // curvature is safe.
            let stretch = 1.0 + curvature * reach;
            let step = if curvature > 0.0 {
                (8.0 * tolerance / (curvature * stretch)).sqrt().max(0.01)
            } else {
                f64::INFINITY
            };
            let count = (element.length / step).ceil().clamp(1.0, 1e6);
            distances.extend((1..=count as usize).map(|i| {
                // The last distance is exactly the end, because the next element starts there.
                if i == count as usize {
                    element.s + element.length
                } else {
                    element.s + element.length * i as f64 / count
                }
            }));
        }
        distances
    }

    /// Samples the curve that is offset from the line by `t` metres to the left. The points are
    /// dense enough for chords within `tolerance` metres of this curve.
    pub fn sample(&self, tolerance: f64, t: f64) -> Vec<DVec2> {
        self.sample_distances(tolerance, t.abs())
            .into_iter()
            .map(|s| self.point(s, t))
            .collect()
    }

    /// Samples the curves that are offset from the line by `t` metres to the right and to the left,
    /// each within `tolerance` metres. The points equal those of [`sample`](Self::sample), at half
    /// the cost.
    pub fn sample_both_sides(&self, tolerance: f64, t: f64) -> [Vec<DVec2>; 2] {
        let distances = self.sample_distances(tolerance, t.abs());
        let mut sides = [-t, t].map(|_| Vec::with_capacity(distances.len()));
        for s in distances {
            let (_, frame) = self.own_frame(s);
            for (side, t) in sides.iter_mut().zip([-t, t]) {
                side.push(frame.origin + left_of(frame.forward) * t);
            }
        }
        sides
    }

    /// Returns the smallest axis-parallel box around the line widened by `reach` metres, as its low
    /// and high corners.
    pub fn bounds(&self, reach: f64) -> (DVec2, DVec2) {
        let tolerance = 0.05;
        let pad = DVec2::splat(reach.abs() + tolerance);
        let (low, high) = crate::polygon::bounds(&self.sample(tolerance, 0.0))
            .expect("a reference line has at least two samples");
        (low - pad, high + pad)
    }

    /// Returns the same curve in the opposite direction.
    pub fn reversed(&self) -> Self {
        let segments = self.segments.iter().rev().map(Segment::reversed).collect();
        // No check is needed, because the original line has already passed it.
        Self::assembled(self.end().reversed(), segments)
    }

    /// Returns the mirror image of the curve, starting at a given pose: bends to the left become bends to the
    /// right.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn mirrored(&self, start: Pose) -> Result<Self, GeometryError> {
        Self::new(start, self.segments.iter().map(Segment::mirrored).collect())
    }

    /// Returns the part between two distances, `from < to`.
    ///
    /// # Errors
    /// If less than [`MIN_SEGMENT`] remains.
    pub fn slice(&self, from: f64, to: f64) -> Result<Self, GeometryError> {
        let (from, to) = (from.max(0.0), to.min(self.length));
        let segments: Vec<_> = self
            .elements
            .iter()
            .filter_map(|element| {
                let low = (from - element.s).max(0.0);
                let high = (to - element.s).min(element.length);
                // Because of rounding, a cut at a joint may miss the joint, and the remaining
                // sliver of the adjacent segment is too short to be a segment.
                (high - low >= MIN_SEGMENT).then(|| element.slice(low, high))
            })
            .collect();
        Self::new(self.pose(from), segments)
    }

    /// Returns this line followed by another, which keeps its shape and is moved to this line's end.
    ///
    /// # Errors
    /// If the joined line would be too long or leave the coordinate range.
    pub fn joined(&self, other: &Self) -> Result<Self, GeometryError> {
        let mut segments = self.segments.clone();
        segments.extend_from_slice(&other.segments);
        Self::new(self.start, segments)
    }

    /// Returns the position, tangent and curvature at distance `s`.
    #[inline]
    pub(crate) fn frame(&self, s: f64) -> Frame {
        let (element, u) = self.element_at(s);
        element.frame(u)
    }

    /// Returns the element that contains `s` and the distance from its start.
    fn element_at(&self, s: f64) -> (&Element, f64) {
        // NaN is treated as 0 rather than propagated.
        let s = if s > 0.0 { s.min(self.length) } else { 0.0 };
        // The first element starts at 0, so at least one element starts at or before `s`.
        let index = self.elements.partition_point(|element| element.s <= s) - 1;
        let element = &self.elements[index];
        (element, (s - element.s).min(element.length))
    }
}

/// Converts a clothoid to a line, an arc or a spiral. OpenDRIVE requires different end curvatures
/// for a spiral, so a curve of constant curvature must be written as an arc or a line.
pub fn simplest_segment(clothoid: &crate::clothoid::Clothoid) -> Segment {
    let length = clothoid.length;
    if (clothoid.sharpness * length).abs() >= 1e-9 {
        Segment::Spiral {
            length,
            curvature_start: clothoid.curvature,
            curvature_end: clothoid.end_curvature(),
        }
    } else if clothoid.curvature.abs() >= 1e-9 {
        Segment::Arc {
            length,
            curvature: clothoid.curvature,
        }
    } else {
        Segment::Line { length }
    }
}

fn check_position(position: DVec2) -> Result<(), GeometryError> {
    let fits = |v: f64| v.is_finite() && v.abs() <= MAX_COORDINATE;
    if fits(position.x) && fits(position.y) {
        Ok(())
    } else {
        Err(GeometryError::Position {
            x: position.x,
            y: position.y,
        })
    }
}

fn check_segment(index: usize, segment: &Segment) -> Result<(), GeometryError> {
    let usable = segment
        .values()
        .iter()
        .all(|v| v.is_finite() && v.abs() <= MAX_LENGTH);
    // A cubic needs a non-zero speed at both ends, because otherwise it would have no heading
    // there.
    let moves =
        |cubic: &crate::cubic::Cubic| cubic.bu > 1e-6 && cubic.velocity(1.0).length() > 1e-6;
    let forward = !matches!(segment, Segment::Cubic(cubic) if !moves(cubic));
    // Dozens of full turns are always a mistake, and so are curvatures beyond the limit.
    let fits = |length: f64, curvature: f64| {
        curvature.abs() <= MAX_CURVATURE && (curvature * length).abs() <= MAX_TURN
    };
    let gentle = match *segment {
        Segment::Arc { length, curvature } => fits(length, curvature),
        Segment::Spiral {
            length,
            curvature_start,
            curvature_end,
        } => fits(length, curvature_start) && fits(length, curvature_end),
        _ => true,
    };
    if usable && forward && gentle {
        Ok(())
    } else {
        Err(GeometryError::Segment { index })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use proptest::prelude::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    #[test]
    fn frames_and_both_sides_have_the_bits_of_single_points() {
        let line = mixed();
        for tolerance in [0.01, 0.05] {
            let both = line.sample_both_sides(tolerance, 1.7);
            assert_eq!(both, [-1.7, 1.7].map(|t| line.sample(tolerance, t)));
        }
        for i in 0..=200 {
            let s = line.length() * f64::from(i) / 200.0;
            let (pose, frame) = line.own_frame(s);
            assert_eq!(pose, line.pose(s));
            assert_eq!(frame.forward, pose.forward());
            assert_eq!(frame.point(3.0, -1.0), pose.point(3.0, -1.0));
            assert_eq!(line.point(s, 2.5), pose.position + pose.left() * 2.5);
            assert_eq!(line.point(s, 0.0), pose.position);
            assert_eq!(line.offset_pose(s, -2.5), pose.shifted(-2.5));
        }
    }

    fn mixed() -> ReferenceLine {
        ReferenceLine::new(
            Pose::new(10.0, -5.0, 0.3),
            vec![
                Segment::Line { length: 20.0 },
                Segment::Spiral {
                    length: 15.0,
                    curvature_start: 0.0,
                    curvature_end: 0.04,
                },
                Segment::Arc {
                    length: 30.0,
                    curvature: 0.04,
                },
                Segment::Cubic(Cubic::hermite(
                    25.0,
                    DVec2::new(25.0, -3.0),
                    DVec2::new(24.0, -6.0),
                )),
                Segment::Line { length: 5.0 },
            ],
        )
        .unwrap()
    }

    #[test]
    fn quarter_arc_has_its_textbook_end() {
        let line = ReferenceLine::new(
            Pose::default(),
            vec![Segment::Arc {
                length: 50.0 * FRAC_PI_2,
                curvature: 0.02,
            }],
        )
        .unwrap();
        let end = line.end();
        assert!((end.position - DVec2::new(50.0, 50.0)).length() < 1e-12);
        assert!((end.heading - FRAC_PI_2).abs() < 1e-12);
    }

    #[test]
    fn position_heading_and_distance_are_continuous() {
        let line = mixed();
        let step = 1e-3;
        let count = (line.length() / step) as usize;
        for i in 0..count {
            let (a, b) = (line.pose(i as f64 * step), line.pose((i + 1) as f64 * step));
            assert!(((b.position - a.position).length() - step).abs() < 1e-9);
            assert!(wrap_angle(b.heading - a.heading).abs() < 1e-3);
        }
    }

    #[test]
    fn samples_stay_within_tolerance() {
        let line = mixed();
        for t in [0.0f64, 6.0, -6.0] {
            let distances = line.sample_distances(0.02, t.abs());
            for pair in distances.windows(2) {
                let (a, b) = (line.point(pair[0], t), line.point(pair[1], t));
                let middle = line.point(0.5 * (pair[0] + pair[1]), t);
                let chord = (b - a).normalize();
                assert!((middle - a).perp_dot(chord).abs() < 0.021, "t {t}");
            }
        }
    }

    #[test]
    fn bad_numbers_are_refused() {
        let line = |segment| ReferenceLine::new(Pose::default(), vec![segment]);
        assert!(matches!(
            line(Segment::Line { length: 0.0 }),
            Err(GeometryError::SegmentLength { .. })
        ));
        assert!(matches!(
            line(Segment::Line { length: f64::NAN }),
            Err(GeometryError::Segment { .. })
        ));
        assert!(line(Segment::Line { length: 1e308 }).is_err());
        assert!(
            line(Segment::Arc {
                length: 1.0,
                curvature: f64::INFINITY
            })
            .is_err()
        );
        assert!(matches!(
            ReferenceLine::new(Pose::default(), vec![]),
            Err(GeometryError::Empty)
        ));
        let far = ReferenceLine::new(
            Pose::new(1e308, 0.0, 0.0),
            vec![Segment::Line { length: 1.0 }],
        );
        assert!(matches!(far, Err(GeometryError::Position { .. })));
    }

    #[test]
    fn a_cubic_that_stands_still_at_its_end_is_refused() {
        let cubic = |bu, cu, du| {
            Segment::Cubic(Cubic {
                bu,
                cu,
                du,
                cv: 0.0,
                dv: 0.0,
            })
        };
        let line = |segment| ReferenceLine::new(Pose::default(), vec![segment]);
        // u(p) = 2 p - p^2 has zero speed at p = 1, so the reversed cubic would start without a heading.
        assert!(line(cubic(2.0, -1.0, 0.0)).is_err());
        let fast = line(cubic(1.0, 0.0, 9e6)).unwrap();
        assert!((fast.reversed().length() - fast.length()).abs() < 1e-3);
    }

    #[test]
    fn a_spiral_of_endless_turns_is_refused() {
        let spiral = Segment::Spiral {
            length: 1e4,
            curvature_start: 0.0,
            curvature_end: 1e3,
        };
        assert!(ReferenceLine::new(Pose::default(), vec![spiral]).is_err());
    }

    #[test]
    fn a_cut_line_joins_again() {
        let line = mixed();
        let cut = 47.3;
        let (head, tail) = (
            line.slice(0.0, cut).unwrap(),
            line.slice(cut, line.length()).unwrap(),
        );
        assert!((head.end().position - tail.start().position).length() < 1e-9);
        let whole = head.joined(&tail).unwrap();
        assert!((whole.end().position - line.end().position).length() < 1e-6);
        assert!((whole.length() - line.length()).abs() < 1e-6);
    }

    #[test]
    fn a_file_round_trip_is_exact() {
        let line = mixed();
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(serde_json::from_str::<ReferenceLine>(&text).unwrap(), line);
    }

    proptest! {
        #[test]
        fn reversing_mirrors_distance(s in 0.0..1.0f64) {
            let line = mixed();
            let back = line.reversed();
            let (a, b) = (line.pose(s * line.length()), back.pose((1.0 - s) * line.length()));
            prop_assert!((a.position - b.position).length() < 1e-7);
            prop_assert!((wrap_angle(a.heading - b.heading).abs() - PI).abs() < 1e-7);
        }

        #[test]
        fn poses_are_finite_for_any_distance(s in proptest::num::f64::ANY) {
            let pose = mixed().pose(s);
            prop_assert!(pose.position.is_finite() && pose.heading.is_finite());
        }
    }
}
