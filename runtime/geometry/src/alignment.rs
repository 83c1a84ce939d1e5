//! Alignments: an editable form of lines, as points of intersection (PIs) with a curve at each.
//!
//! The first and last points are the ends of the line. At each point in between, the tangents
//! before and after a curve meet. Moving a point changes only the curves at it and at its two
//! neighbours.

use crate::clothoid::displacement;
use crate::error::GeometryError;
use crate::math::{cos, sin, tan, wrap_angle};
use crate::pose::{Pose, heading_of};
use crate::reference_line::{MIN_SEGMENT, ReferenceLine};
use crate::segment::Segment;
use glam::DVec2;

/// Turn above which a curve has several points of intersection, rad.
const MAX_DEFLECTION: f64 = 1.9;
/// Turn below which a curve is ignored, rad.
const MIN_DEFLECTION: f64 = 1e-9;
/// Fraction of a leg that a curve may use if the curve at the other end of the leg is also rebuilt.
const LEG_SHARE: f64 = 0.5;
/// Radius of a new curve before it is limited by the lengths of the legs, m.
const NEW_RADIUS: f64 = 1e4;

/// A point of intersection with its curve.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlPoint {
    /// Intersection of the tangents, m. For the first and last point, this is the end of the line.
    pub position: DVec2,
    /// Radius of the curve if the legs are long enough, m.
    pub radius: f64,
    /// Length of each spiral at that radius, m.
    pub spiral: f64,
    /// The curve as built.
    curve: Vec<Segment>,
    /// Tangent lengths before and after the point, m.
    tangents: (f64, f64),
}

impl ControlPoint {
    fn corner(position: DVec2, radius: f64, spiral: f64) -> Self {
        Self {
            position,
            radius,
            spiral,
            curve: Vec::new(),
            tangents: (0.0, 0.0),
        }
    }

    /// Returns the largest curvature of the curve as built, 1/m; 0 at the ends.
    pub fn curvature(&self) -> f64 {
        self.curve.iter().map(largest_curvature).fold(0.0, f64::max)
    }
}

/// A line represented by its points of intersection.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    points: Vec<ControlPoint>,
}

impl Alignment {
    /// Returns the points of intersection of a reference line made of lines, arcs and spirals (and
    /// gentle cubics).
    ///
    /// Returns `None` if the tangents of some curve do not meet between its ends, because such a
    /// line has no points to move. [`line`](Self::line) of the result is the same line to within
    /// 1e-9 m. O(segments).
    pub fn of(line: &ReferenceLine) -> Option<Self> {
        if let Some(index) = line.segments().iter().position(has_inflection) {
            return Self::of(&cut_at_inflection(line, index)?);
        }
        let mut points = vec![ControlPoint::corner(line.start().position, 0.0, 0.0)];
        let starts: Vec<f64> = line.segment_starts().chain([line.length()]).collect();
        let mut run: Option<(usize, f64)> = None;
        for (index, segment) in line.segments().iter().enumerate() {
            let sign = turn_sign(segment);
            let turned = turn_of(line, &starts, index);
            match run {
                Some((first, before)) if before * sign > 0.0 => {
                    let total = turned + turn_between(line, &starts, first, index);
                    if total.abs() > MAX_DEFLECTION {
                        points.push(curve_point(line, &starts, first, index)?);
                        run = Some((index, sign));
                    }
                }
                Some((first, _)) => {
                    points.push(curve_point(line, &starts, first, index)?);
                    run = (sign != 0.0).then_some((index, sign));
                }
                None => run = (sign != 0.0).then_some((index, sign)),
            }
            if turned.abs() > MAX_DEFLECTION && run.is_some_and(|(first, _)| first == index) {
                return Self::of(&halved(line, index)?);
            }
        }
        if let Some((first, _)) = run {
            points.push(curve_point(line, &starts, first, line.segments().len())?);
        }
        points.push(ControlPoint::corner(line.end().position, 0.0, 0.0));
        Some(Self { points })
    }

    /// Creates the polygon through `points` with a curve of `radius` and spirals of length `spiral`
    /// at each inner corner. Curves at short legs are tighter.
    ///
    /// # Errors
    /// If fewer than two distinct points are given. A corner that turns straight back cannot have a
    /// curve. [`line`](Self::line) reports this.
    pub fn polygon(points: &[DVec2], radius: f64, spiral: f64) -> Result<Self, GeometryError> {
        let mut distinct: Vec<DVec2> = Vec::new();
        for &point in points {
            if distinct
                .last()
                .is_none_or(|last| (*last - point).length() > 1e-3)
            {
                distinct.push(point);
            }
        }
        if distinct.len() < 2 {
            return Err(GeometryError::TooFewPoints {
                needed: 2,
                given: distinct.len(),
            });
        }
        let corner = |&p: &DVec2| ControlPoint::corner(p, radius, spiral);
        let mut alignment = Self {
            points: distinct.iter().map(corner).collect(),
        };
        let last = alignment.points.len() - 1;
        alignment.rebuild(0..=last);
        Ok(alignment)
    }

    /// Returns the points in order.
    pub fn points(&self) -> &[ControlPoint] {
        &self.points
    }

    /// Moves a point and rebuilds the curves at it and at its neighbours.
    pub fn move_point(&mut self, index: usize, to: DVec2) {
        self.points[index].position = to;
        self.rebuild(index.saturating_sub(1)..=index + 1);
    }

    /// Sets the preferred radius at a point. The curve gets this radius if its legs are long enough.
    pub fn set_radius(&mut self, index: usize, radius: f64) {
        let point = &mut self.points[index];
        point.spiral *= radius / point.radius.max(1e-3);
        point.radius = radius;
        self.rebuild(index..=index);
    }

    /// Inserts a point on the leg before `index`, without changing the line.
    pub fn insert(&mut self, index: usize, position: DVec2, radius: f64) {
        let at = index.clamp(1, self.points.len() - 1);
        self.points
            .insert(at, ControlPoint::corner(position, radius, 0.0));
    }

    /// Removes an inner point and rebuilds the curves of its neighbours.
    pub fn remove(&mut self, index: usize) {
        if index > 0 && index + 1 < self.points.len() {
            self.points.remove(index);
            self.rebuild(index - 1..=index);
        }
    }

    /// Returns the line.
    ///
    /// # Errors
    /// If points coincide, a corner turns straight back, or curves overlap.
    pub fn line(&self) -> Result<ReferenceLine, GeometryError> {
        let first = self.points[0].position;
        let start = Pose {
            position: first,
            heading: heading_of(self.points[1].position - first),
        };
        let mut segments = Vec::new();
        for pair in self.points.windows(2) {
            let leg = (pair[1].position - pair[0].position).length();
            let length = leg - pair[0].tangents.1 - pair[1].tangents.0;
            if length < -1e-6 {
                return Err(GeometryError::NoJoin);
            }
            // Shorter pieces are rounding errors at the point where two curves meet.
            if length > 1e3 * MIN_SEGMENT {
                segments.push(Segment::Line { length });
            }
            segments.extend_from_slice(&pair[1].curve);
        }
        let line = ReferenceLine::new(start, segments)?;
        let last = self.points[self.points.len() - 1].position;
        if (line.end().position - last).length() > 1e-6 {
            return Err(GeometryError::NoJoin);
        }
        Ok(line)
    }

    fn rebuild(&mut self, range: std::ops::RangeInclusive<usize>) {
        let last = self.points.len() - 1;
        let inner = (*range.start()).max(1)..=(*range.end()).min(last.saturating_sub(1));
        let anew = |j: usize| inner.contains(&j);
        let room = |points: &[ControlPoint], from: usize, to: usize| {
            let leg = (points[to].position - points[from].position).length();
            let is_end = to == 0 || to == last;
            if is_end {
                leg
            } else if anew(to) {
                LEG_SHARE * leg
            } else if to > from {
                leg - points[to].tangents.0
            } else {
                leg - points[to].tangents.1
            }
        };
        let rooms: Vec<(usize, f64)> = inner
            .clone()
            .map(|j| {
                (
                    j,
                    room(&self.points, j, j - 1).min(room(&self.points, j, j + 1)),
                )
            })
            .collect();
        for (j, room) in rooms {
            let (before, after) = (self.points[j - 1].position, self.points[j + 1].position);
            self.points[j].build(before, after, room);
        }
    }
}

impl ControlPoint {
    fn build(&mut self, before: DVec2, after: DVec2, room: f64) {
        let incoming = heading_of(self.position - before);
        let deflection = wrap_angle(heading_of(after - self.position) - incoming);
        let wanted = if self.radius > 0.0 {
            self.radius
        } else {
            NEW_RADIUS
        };
        let turn = deflection.abs();
        if turn < MIN_DEFLECTION || room <= 0.0 {
            (self.curve, self.tangents) = (Vec::new(), (0.0, 0.0));
            return;
        }
        let spiral = self.spiral.min(0.9 * wanted * turn);
        let tangent = tangent_length(wanted, spiral, turn);
        // If the curve is too large, a scaled copy of it fits exactly.
        let scale = (room / tangent).min(1.0);
        let (radius, spiral) = (wanted * scale, spiral * scale);
        let curvature = deflection.signum() / radius;
        let arc = radius * turn - spiral;
        self.curve.clear();
        let transition = |from: f64, to: f64| Segment::Spiral {
            length: spiral,
            curvature_start: from,
            curvature_end: to,
        };
        if spiral > 0.01 {
            self.curve.push(transition(0.0, curvature));
        }
        let arc = if spiral > 0.01 { arc } else { radius * turn };
        self.curve.push(Segment::Arc {
            length: arc,
            curvature,
        });
        if spiral > 0.01 {
            self.curve.push(transition(curvature, 0.0));
        }
        let tangent = if spiral > 0.01 {
            tangent * scale
        } else {
            radius * tan(0.5 * turn)
        };
        self.tangents = (tangent, tangent);
    }
}

/// Returns the distance from the point of intersection to the start of a spiral-arc-spiral curve,
/// m.
fn tangent_length(radius: f64, spiral: f64, turn: f64) -> f64 {
    let at_spiral = 0.5 * spiral / radius;
    let (mut shift, mut advance) = (0.0, 0.0);
    if spiral > 0.0 {
        let end = displacement(0.0, 0.0, 1.0 / (radius * spiral), spiral);
        shift = end.y - radius * (1.0 - cos(at_spiral));
        advance = end.x - radius * sin(at_spiral);
    }
    (radius + shift) * tan(0.5 * turn) + advance
}

/// Returns the direction in which a segment turns: 1 left, -1 right, 0 straight.
fn turn_sign(segment: &Segment) -> f64 {
    match *segment {
        Segment::Line { .. } => 0.0,
        Segment::Arc { curvature, .. } => sign_or_zero(curvature),
        Segment::Spiral {
            curvature_start,
            curvature_end,
            ..
        } => sign_or_zero(curvature_start + curvature_end),
        Segment::Cubic(cubic) => sign_or_zero(2.0 * cubic.cv + 3.0 * cubic.dv),
    }
}

fn sign_or_zero(value: f64) -> f64 {
    if value.abs() < 1e-12 {
        0.0
    } else {
        value.signum()
    }
}

fn largest_curvature(segment: &Segment) -> f64 {
    match *segment {
        Segment::Line { .. } | Segment::Cubic(_) => 0.0,
        Segment::Arc { curvature, .. } => curvature.abs(),
        Segment::Spiral {
            curvature_start,
            curvature_end,
            ..
        } => curvature_start.abs().max(curvature_end.abs()),
    }
}

fn turn_between(line: &ReferenceLine, starts: &[f64], first: usize, end: usize) -> f64 {
    (first..end).map(|i| turn_of(line, starts, i)).sum()
}

/// Returns how far a segment turns, rad. It may exceed a half turn.
fn turn_of(line: &ReferenceLine, starts: &[f64], index: usize) -> f64 {
    match line.segments()[index] {
        Segment::Line { .. } => 0.0,
        Segment::Arc { length, curvature } => length * curvature,
        Segment::Spiral {
            length,
            curvature_start,
            curvature_end,
        } => 0.5 * length * (curvature_start + curvature_end),
        Segment::Cubic(_) => {
            wrap_angle(line.heading(starts[index + 1]) - line.heading(starts[index]))
        }
    }
}

/// Whether a segment turns first in one direction and then in the other.
fn has_inflection(segment: &Segment) -> bool {
    match *segment {
        Segment::Spiral {
            curvature_start,
            curvature_end,
            ..
        } => curvature_start * curvature_end < 0.0,
        Segment::Cubic(cubic) => cubic.cv * (cubic.cv + 3.0 * cubic.dv) < 0.0,
        Segment::Line { .. } | Segment::Arc { .. } => false,
    }
}

/// Returns the same line with a spiral cut where its curvature is zero; `None` for a cubic, which
/// cannot be cut in this way.
fn cut_at_inflection(line: &ReferenceLine, index: usize) -> Option<ReferenceLine> {
    let Segment::Spiral {
        length,
        curvature_start,
        curvature_end,
    } = line.segments()[index]
    else {
        return None;
    };
    let share = curvature_start / (curvature_start - curvature_end);
    let mut segments = line.segments().to_vec();
    let part = |length: f64, from: f64, to: f64| Segment::Spiral {
        length,
        curvature_start: from,
        curvature_end: to,
    };
    let parts = [
        part(share * length, curvature_start, 0.0),
        part((1.0 - share) * length, 0.0, curvature_end),
    ];
    segments.splice(index..=index, parts);
    ReferenceLine::new(line.start(), segments).ok()
}

/// Returns the point of intersection of the curve that consists of the segments `first..end`;
/// `None` if the tangents at its ends do not meet between these ends.
fn curve_point(
    line: &ReferenceLine,
    starts: &[f64],
    first: usize,
    end: usize,
) -> Option<ControlPoint> {
    let (from, to) = (line.pose(starts[first]), line.pose(starts[end]));
    let (u, v) = (from.forward(), to.forward());
    let cross = u.perp_dot(v);
    let gap = to.position - from.position;
    if cross.abs() < 1e-12 {
        return None;
    }
    // gap = ahead u + after v.
    let (ahead, after) = (gap.perp_dot(v) / cross, u.perp_dot(gap) / cross);
    if ahead < 0.0 || after < 0.0 {
        return None;
    }
    let curve = line.segments()[first..end].to_vec();
    let sharpest = curve.iter().map(largest_curvature).fold(0.0, f64::max);
    let spiral = match curve.first() {
        Some(Segment::Spiral { length, .. }) if curve.len() > 1 => *length,
        _ => 0.0,
    };
    let radius = if sharpest > 0.0 {
        1.0 / sharpest
    } else {
        ahead.max(1.0)
    };
    Some(ControlPoint {
        position: from.position + ahead * u,
        radius,
        spiral,
        curve,
        tangents: (ahead, after),
    })
}

/// Returns the same line with one of its segments cut into two equal parts; `None` if the segment
/// is too short.
fn halved(line: &ReferenceLine, index: usize) -> Option<ReferenceLine> {
    let start = line.segment_starts().nth(index)?;
    let length = line.segments()[index].length();
    if length < 0.1 {
        return None;
    }
    let middle = start + 0.5 * length;
    line.slice(0.0, middle)
        .ok()?
        .joined(&line.slice(middle, line.length()).ok()?)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_s_of_one_spiral_and_a_loop_have_their_points() {
        let s = vec![
            Segment::Line { length: 20.0 },
            Segment::Spiral {
                length: 60.0,
                curvature_start: 0.02,
                curvature_end: -0.02,
            },
            Segment::Line { length: 20.0 },
        ];
        let ramp = vec![
            Segment::Line { length: 50.0 },
            Segment::Arc {
                length: 1.5 * std::f64::consts::PI * 30.0,
                curvature: 1.0 / 30.0,
            },
            Segment::Line { length: 50.0 },
        ];
        for segments in [s, ramp] {
            let line = ReferenceLine::new(Pose::new(3.0, 4.0, 0.5), segments).unwrap();
            let points = Alignment::of(&line).unwrap();
            assert!(points.points().len() >= 4);
            assert!(greatest_gap(&points.line().unwrap(), &line) < 1e-9);
        }
    }

    #[test]
    fn coinciding_points_make_no_line() {
        let mut points = Alignment::polygon(&zigzag(), 40.0, 10.0).unwrap();
        points.move_point(2, zigzag()[1]);
        assert!(points.line().is_err());
    }

    fn zigzag() -> Vec<DVec2> {
        [
            (0.0, 0.0),
            (100.0, 0.0),
            (180.0, 70.0),
            (300.0, 60.0),
            (420.0, 150.0),
            (560.0, 120.0),
        ]
        .map(DVec2::from)
        .to_vec()
    }

    fn greatest_gap(a: &ReferenceLine, b: &ReferenceLine) -> f64 {
        (0..=200)
            .map(|i| {
                let share = f64::from(i) / 200.0;
                let (p, q) = (a.pose(share * a.length()), b.pose(share * b.length()));
                (p.position - q.position).length()
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn a_polygon_keeps_its_ends_and_its_radius() {
        let line = Alignment::polygon(&zigzag(), 40.0, 10.0)
            .unwrap()
            .line()
            .unwrap();
        assert!((line.start().position - zigzag()[0]).length() < 1e-12);
        assert!((line.end().position - zigzag()[5]).length() < 1e-9);
        assert!((line.max_curvature() - 1.0 / 40.0).abs() < 1e-9);
    }

    #[test]
    fn a_line_comes_back_from_its_points() {
        for spiral in [0.0, 12.0] {
            let line = Alignment::polygon(&zigzag(), 40.0, spiral)
                .unwrap()
                .line()
                .unwrap();
            let points = Alignment::of(&line).unwrap();
            assert_eq!(points.points().len(), 6);
            for (point, corner) in points.points().iter().zip(zigzag()) {
                assert!(
                    (point.position - corner).length() < 1e-8,
                    "{point:?} {corner}"
                );
            }
            assert!(greatest_gap(&points.line().unwrap(), &line) < 1e-9);
        }
    }

    #[test]
    fn a_hairpin_has_several_points() {
        let arc = vec![
            Segment::Line { length: 50.0 },
            Segment::Arc {
                length: std::f64::consts::PI * 15.0,
                curvature: 1.0 / 15.0,
            },
            Segment::Line { length: 50.0 },
        ];
        let line = ReferenceLine::new(Pose::default(), arc).unwrap();
        let points = Alignment::of(&line).unwrap();
        assert_eq!(points.points().len(), 4);
        assert!(greatest_gap(&points.line().unwrap(), &line) < 1e-9);
    }

    #[test]
    fn moving_a_point_leaves_the_rest() {
        let line = Alignment::polygon(&zigzag(), 40.0, 10.0)
            .unwrap()
            .line()
            .unwrap();
        let mut points = Alignment::of(&line).unwrap();
        points.move_point(1, DVec2::new(100.0, -30.0));
        let moved = points.line().unwrap();
        // Nothing changes beyond the start of the curve at point 3.
        for i in 0..50 {
            let back = f64::from(i) * 5.0;
            let (p, q) = (
                moved.pose(moved.length() - back),
                line.pose(line.length() - back),
            );
            assert!((p.position - q.position).length() < 1e-8, "{back}");
        }
        assert!(greatest_gap(&moved, &line) > 5.0);
    }

    #[test]
    fn inserting_changes_nothing_and_removing_undoes_it() {
        let line = Alignment::polygon(&zigzag(), 40.0, 10.0)
            .unwrap()
            .line()
            .unwrap();
        let mut points = Alignment::of(&line).unwrap();
        points.insert(1, DVec2::new(40.0, 0.0), 30.0);
        assert!(greatest_gap(&points.line().unwrap(), &line) < 1e-9);
        points.remove(1);
        assert!(greatest_gap(&points.line().unwrap(), &line) < 1e-6);
    }

    proptest! {
        #[test]
        fn moves_never_break_a_line(moves in prop::collection::vec((0usize..6, -200.0..700.0f64, -300.0..300.0f64), 1..12)) {
            let mut points = Alignment::polygon(&zigzag(), 40.0, 10.0).unwrap();
            for (index, x, y) in moves {
                let before = points.clone();
                points.move_point(index, DVec2::new(x, y));
                match points.line() {
                    Ok(line) => {
                        let end = points.points().last().unwrap().position;
                        prop_assert!((line.end().position - end).length() < 1e-6);
                    }
                    Err(_) => points = before,
                }
            }
        }
    }
}
