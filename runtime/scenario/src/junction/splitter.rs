//! Splitter islands of roundabouts. They are the areas between the entry and the exit of an arm
//! that no vehicle drives over.
//!
//! ```text
//!        | in : out |
//!        |    :     |  <- cut         Entry and exit bend away from each other towards the ring. The
//!        |   / \    |                 island is the area left between their lanes, the bodies of cars
//!       /   /   \    \                on them, and vehicles on the ring. Where it is wide enough and
//!      /   '-----'    \               buses keep clear of it, it is raised; elsewhere it is painted.
//!     .   ring  ->     .
//! ```

use super::arm::{Arm, ArmLane};
use super::conflicts::Body;
use super::sweep::Track;
use super::{ConnectingPath, LaneEnd};
use crate::driving_side::DrivingSide;
use crate::ids::RoadId;
use crate::road::RoadEnd;
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, ReferenceLine, polygon};

/// Clearance between bodies and painted islands, m.
const BESIDE_PAINT: f64 = 0.05;
/// Clearance between bodies and raised islands, m.
const BESIDE_KERB: f64 = 0.35;
/// Distance between sampled poses of a body, m.
const STEP: f64 = 0.25;
/// Distance between points along the side of a body, m.
const BESIDE_STEP: f64 = 0.5;
/// Size of the grid cells that are used to find islands, m.
const CELL: f64 = 0.25;
/// Part of a bus that must not cross a kerb: from its rear to its front wheels. The front overhang
/// may swing over the kerb.
const WHEELS: Body = Body {
    width: Body::LONG.width,
    front: 5.2,
    rear: 1.0,
};
/// Area of a triangle up to which its corners count as collinear, m^2. It absorbs rounding errors.
const STRAIGHT: f64 = 1e-9;
/// Minimum width of an island, m. Where an island would be narrower, it ends and is continued by
/// the line between the lanes.
const LEAST_WIDTH: f64 = 0.2;
/// Smallest length of a painted island, m. Shorter islands are left out.
const LEAST_LENGTH: f64 = 1.5;
/// Smallest length of a raised island, m. Shorter islands are left out.
const LEAST_RAISED: f64 = 2.5;
/// Fraction of a U-turn path that counts as the entry at its start and as the exit at its end.
const AROUND: f64 = 0.3;
/// Smallest width of a raised island at its end towards the ring, m.
const LEAST_END: f64 = 1.2;
/// Minimum width of a raised island, m.
const LEAST_RAISED_WIDTH: f64 = 0.7;
/// Radius of the corners of painted islands, m.
const PAINT_CORNER: f64 = 0.8;
/// Radius of the corners of raised islands, m.
const RAISED_CORNER: f64 = 0.5;
/// Number of pieces of a rounded corner or of the end at the ring.
const PIECES: usize = 8;
/// Curvature below which the end of an island towards the ring is straight, 1/m.
const LEAST_CURVATURE: f64 = 0.005;

/// The island between the entry and the exit of an arm of a roundabout.
#[derive(Debug, Clone, PartialEq)]
pub struct Splitter {
    /// The road of the arm.
    pub road: RoadId,
    /// The end of the road at the roundabout.
    pub end: RoadEnd,
    /// Outline of the painted island, counter-clockwise, m. Cars keep clear of it.
    pub paint: Vec<DVec2>,
    /// Outline of the raised part inside the painted island, counter-clockwise, m; empty if wheels of buses
    /// would cross it.
    pub raised: Vec<DVec2>,
}

/// Returns the splitter islands of the arms of a roundabout. O(arms * paths * their lengths).
pub(super) fn splitters(
    arms: &[Arm<'_>],
    trims: &[f64],
    side: DrivingSide,
    paths: &[ConnectingPath],
    may_raise: bool,
) -> Vec<Splitter> {
    let arms = arms.iter().zip(trims);
    let of_arm = |(arm, &trim): (&Arm<'_>, &f64)| {
        let frame = Frame::of(arm, trim, side)?;
        let clearance = Clearance {
            beside: BESIDE_PAINT,
            least_width: LEAST_WIDTH,
            least_length: LEAST_LENGTH,
        };
        let paint = frame.free(paths, Body::CAR, clearance)?;
        let ring = may_raise
            .then(|| frame.ring(paths, &paint))
            .flatten()
            .map(|ring| ring.outside(&paint));
        let raised = may_raise
            .then(|| frame.raised(paths, &paint, ring))
            .flatten();
        Some(Splitter {
            road: arm.road_id,
            end: arm.end,
            paint: frame.shape(&paint, ring, PAINT_CORNER),
            raised: raised.unwrap_or_default(),
        })
    };
    arms.filter_map(of_arm).collect()
}

/// Frame of an arm with its origin at the cut. The x axis points towards the ring, and the y axis from the
/// entry to the exit. In left-hand traffic, the frame is mirrored, so that the results are bit-identical to
/// those of right-hand traffic.
struct Frame {
    at: Pose,
    road: RoadId,
    end: RoadEnd,
    /// 1 if y is to the left of x, -1 otherwise.
    mirror: f64,
    /// Maximum distance to the centre of the ring, m.
    depth: f64,
}

/// Free area between entry and exit, in the frame of the arm. Each row consists of its x, its right
/// end and its left end. The first row is at the cut.
struct Free(Vec<(f64, f64, f64)>);

/// Conditions for a free area.
#[derive(Clone, Copy)]
struct Clearance {
    /// Clearance to bodies and lanes, m.
    beside: f64,
    /// Minimum width, m.
    least_width: f64,
    /// Minimum length, m.
    least_length: f64,
}

/// Circle around the centre of a ring, in the frame of an arm. Islands end at it.
#[derive(Clone, Copy)]
struct Ring {
    centre: DVec2,
    radius: f64,
}

impl Ring {
    /// Enlarges the circle until it touches the end of an area and covers nothing beyond it.
    fn outside(self, Free(rows): &Free) -> Self {
        let Some(&(x, right, left)) = rows.last() else {
            return self;
        };
        let reach = |y: f64| (DVec2::new(x, y) - self.centre).length();
        let radius = self.radius.max(reach(right)).max(reach(left));
        Self { radius, ..self }
    }

    fn covers(&self, place: DVec2) -> bool {
        (place - self.centre).length() < self.radius - 1e-9
    }

    /// Returns the part of a side from the cut to the circle.
    fn before(&self, mut side: Vec<DVec2>) -> Vec<DVec2> {
        let mut inside = None;
        while let Some(&last) = side.last()
            && self.covers(last)
        {
            inside = side.pop();
        }
        if let (Some(&from), Some(to)) = (side.last(), inside) {
            let (mut out, mut over) = (0.0, 1.0);
            for _ in 0..32 {
                let middle = 0.5 * (out + over);
                match self.covers(from.lerp(to, middle)) {
                    true => over = middle,
                    false => out = middle,
                }
            }
            side.push(from.lerp(to, out));
        }
        side
    }

    /// Returns the point on the circle in the direction of a place.
    fn nearest(&self, place: DVec2) -> DVec2 {
        self.centre + self.radius * (place - self.centre).normalize_or_zero()
    }
}

impl Free {
    /// Returns the part that is at least a distance inside another area on both sides, m.
    fn inside(self, Free(outer): &Self, inset: f64) -> Self {
        let narrowed = self.0.into_iter().filter_map(|(x, right, left)| {
            let &(_, low, high) = outer.iter().find(|row| row.0 == x)?;
            let (right, left) = (right.max(low + inset), left.min(high - inset));
            (left - right >= LEAST_RAISED_WIDTH).then_some((x, right, left))
        });
        Self(narrowed.collect())
    }

    /// Returns the length of the area, m.
    fn length(&self) -> f64 {
        let (first, last) = (self.0.first(), self.0.last());
        first
            .zip(last)
            .map_or(0.0, |(first, last)| last.0 - first.0)
    }

    /// Returns the width of the area at its end towards the ring, m.
    fn end_width(&self) -> f64 {
        self.0.last().map_or(0.0, |(_, right, left)| left - right)
    }
}

impl Frame {
    /// Returns the frame; `None` if the arm has no entry or no exit, or if lanes of one direction are between
    /// those of the other.
    fn of(arm: &Arm<'_>, trim: f64, side: DrivingSide) -> Option<Self> {
        let (entering, leaving) = (
            arm.entering_lanes(trim, side),
            arm.leaving_lanes(trim, side),
        );
        let inner = |lanes: &[ArmLane]| match side {
            DrivingSide::Right => lanes.first().copied(),
            DrivingSide::Left => lanes.last().copied(),
        };
        let (entry, exit) = (inner(&entering)?, inner(&leaving)?);
        let mirror = side.around();
        let entry_edge = entry.pose.point(0.0, 0.5 * mirror * entry.width);
        let exit_edge = exit.pose.point(0.0, 0.5 * mirror * exit.width);
        // If the island starts before the ring, entry and exit already diverge at the cut.
        let apart = wrap_angle(exit.pose.reversed().heading - entry.pose.heading);
        let at = Pose {
            position: 0.5 * (entry_edge + exit_edge),
            heading: entry.pose.heading + 0.5 * apart,
        };
        Some(Self {
            at,
            road: arm.road_id,
            end: arm.end,
            mirror,
            depth: trim + 1.0,
        })
    }

    /// Returns the area that no path covers; `None` if it is too small.
    fn free(&self, paths: &[ConnectingPath], body: Body, clearance: Clearance) -> Option<Free> {
        let count = (self.depth / CELL).ceil() as usize;
        let mut limits = Limits::new(count);
        let is_here = |lane: LaneEnd| (lane.road, lane.end) == (self.road, self.end);
        for path in paths {
            let Some(curve) = &path.curve else { continue };
            let role = match (is_here(path.from), is_here(path.to)) {
                (true, true) => None,
                (true, false) => Some(Role::Enters),
                (false, true) => Some(Role::Leaves),
                (false, false) => Some(Role::Passes),
            };
            self.sweep(curve, path.width.0, path.width.1, body, |share, point| {
                // A vehicle that makes a U-turn first enters, then passes in front of the island, and finally
                // leaves.
                let back = match share {
                    ..AROUND => Role::Enters,
                    share if share > 1.0 - AROUND => Role::Leaves,
                    _ => Role::Passes,
                };
                limits.add(role.unwrap_or(back), point);
            });
        }
        limits.free(clearance)
    }

    /// Calls `add` with each point that a body or its lane covers while its rear axle follows a curve. The
    /// points are in this frame, each with the fraction of the curve that the rear axle has driven.
    fn sweep(
        &self,
        curve: &ReferenceLine,
        first_width: f64,
        last_width: f64,
        body: Body,
        mut add: impl FnMut(f64, DVec2),
    ) {
        let length = curve.length();
        let (first, last) = (-body.front, length + body.rear);
        let steps = ((last - first) / STEP).ceil() as usize;
        let along_body = (body.length() / BESIDE_STEP).ceil() as usize;
        let track = Track::of(curve);
        for i in 0..=steps {
            let s = first + (last - first) * i as f64 / steps as f64;
            let (on_curve, beyond) = track.at(s);
            let share_of_length = s / length.max(1e-6);
            for k in 0..=along_body {
                let share = k as f64 / along_body as f64;
                let ahead = beyond - body.rear + body.length() * share;
                for half in [-0.5 * body.width, 0.5 * body.width] {
                    add(share_of_length, self.seen(on_curve.point(ahead, half)));
                }
            }
            if beyond == 0.0 {
                let half = 0.5 * (first_width + (last_width - first_width) * s / length.max(1e-6));
                for half in [-half, half] {
                    add(share_of_length, self.seen(on_curve.point(0.0, half)));
                }
            }
        }
    }

    /// Transforms a point into this frame.
    fn seen(&self, place: DVec2) -> DVec2 {
        let local = self.at.to_local(place);
        DVec2::new(local.x, self.mirror * local.y)
    }

    /// Returns the outline of the raised part of a painted island; `None` if there is no room for it.
    fn raised(
        &self,
        paths: &[ConnectingPath],
        paint: &Free,
        ring: Option<Ring>,
    ) -> Option<Vec<DVec2>> {
        let clearance = Clearance {
            beside: BESIDE_KERB,
            least_width: LEAST_RAISED_WIDTH,
            least_length: LEAST_RAISED,
        };
        // The margin beside the kerb is as wide at the ring as along the lanes.
        let margin = BESIDE_KERB - BESIDE_PAINT;
        let free = self.free(paths, WHEELS, clearance)?.inside(paint, margin);
        let ring = ring.map(|ring| {
            let radius = ring.radius + margin;
            Ring { radius, ..ring }.outside(&free)
        });
        (free.length() >= LEAST_RAISED && free.end_width() >= LEAST_END)
            .then(|| self.shape(&free, ring, RAISED_CORNER))
    }

    /// Returns the circle of the ring in front of an area; `None` if traffic passes on a nearly straight line.
    fn ring(&self, paths: &[ConnectingPath], Free(rows): &Free) -> Option<Ring> {
        let is_here = |lane: LaneEnd| (lane.road, lane.end) == (self.road, self.end);
        let passes = |path: &&ConnectingPath| !is_here(path.from) && !is_here(path.to);
        let curves = paths
            .iter()
            .filter(passes)
            .filter_map(|path| path.curve.as_ref());
        let end = rows.last()?.0;
        let ring = |curve: &ReferenceLine| {
            let middle = 0.5 * curve.length();
            let curvature = curve.curvature(middle);
            if curvature.abs() < LEAST_CURVATURE {
                return None;
            }
            let centre = self.seen(curve.pose(middle).point(0.0, 1.0 / curvature));
            (centre.x > end).then_some(Ring {
                centre,
                radius: 0.0,
            })
        };
        curves.filter_map(ring).next()
    }

    /// Returns the outline of the area. Its sides smooth out the steps between the rows, its end runs along
    /// the ring, and its corners are rounded to about the given radius, m.
    fn shape(&self, Free(rows): &Free, ring: Option<Ring>, radius: f64) -> Vec<DVec2> {
        // The x of a row is its middle, except that the first row begins at the cut.
        let cut = rows
            .first()
            .filter(|row| row.0 < CELL)
            .map(|row| (0.0, row.1, row.2));
        let rows = || cut.iter().chain(rows);
        // Each side is replaced by the hull of its points towards the middle, so that the island stays inside
        // the free area.
        let right = majorant(rows().map(|&(x, right, _)| DVec2::new(x, right)));
        let left = majorant(rows().map(|&(x, _, left)| DVec2::new(x, -left)));
        let left = left.into_iter().map(|p| DVec2::new(p.x, -p.y)).collect();
        let [mut right, mut left] = [right, left].map(|side: Vec<DVec2>| match ring {
            Some(ring) => ring.before(side),
            None => side,
        });
        let mut end = ended(&mut right, &mut left, ring, radius);
        // An island that begins behind the cut has a round start as well.
        if cut.is_none() {
            right.reverse();
            left.reverse();
            let start = ended(&mut right, &mut left, None, radius);
            right.reverse();
            left.reverse();
            end.extend(left.into_iter().rev());
            // The outline is open: its first point is the first of `start`.
            end.extend(start.into_iter().skip(1).rev());
        } else {
            end.extend(left.into_iter().rev());
        }
        let mut points: Vec<DVec2> = (right.into_iter().chain(end))
            .map(|p| self.at.point(p.x, self.mirror * p.y))
            .collect();
        points.dedup_by(|a, b| (*a - *b).length() < 0.02);
        if polygon::signed_area(&points) < 0.0 {
            points.reverse();
        }
        points
    }
}

/// Shortens two sides at their ends, and returns the line with rounded corners that joins them there, from
/// `right` to `left`. Between the corners it runs along the ring.
fn ended(
    right: &mut Vec<DVec2>,
    left: &mut Vec<DVec2>,
    ring: Option<Ring>,
    radius: f64,
) -> Vec<DVec2> {
    let (Some(&first), Some(&last)) = (right.last(), left.last()) else {
        return Vec::new();
    };
    let width = (last - first).length();
    let on_end = |share: f64| {
        let place = first.lerp(last, share);
        ring.map_or(place, |ring| ring.nearest(place))
    };
    let set_back = |side: &mut Vec<DVec2>, corner: DVec2, across: DVec2| {
        let along = side
            .iter()
            .rev()
            .find(|place| (**place - corner).length() > 0.1)
            .map_or(DVec2::ZERO, |place| (*place - corner).normalize_or_zero());
        let back = radius * (1.0 + along.dot(across)) / along.perp_dot(across).abs().max(1e-3);
        let back = back.min(0.45 * width).min(0.45 * length(side));
        shorten(side, back);
        back / width.max(1e-6)
    };
    let across = (last - first).normalize_or_zero();
    let (from, to) = (
        set_back(right, first, across),
        set_back(left, last, -across),
    );
    let share = |i: usize, count: usize| i as f64 / count as f64;
    let mut line = Vec::new();
    if let Some(&side) = right.last() {
        let rounded = |i| bend(side, first, on_end(from), share(i, PIECES));
        line.extend((0..PIECES).map(rounded));
    }
    line.extend((0..=PIECES).map(|i| on_end(from + (1.0 - from - to) * share(i, PIECES))));
    if let Some(&side) = left.last() {
        let rounded = |i| bend(on_end(1.0 - to), last, side, share(i, PIECES));
        line.extend((1..=PIECES).map(rounded));
    }
    line
}

/// Returns a point of the parabola that leaves `from` and reaches `to` in the directions of a corner.
fn bend(from: DVec2, corner: DVec2, to: DVec2, share: f64) -> DVec2 {
    from.lerp(corner, share).lerp(corner.lerp(to, share), share)
}

/// Returns the length of a line through points, m.
fn length(line: &[DVec2]) -> f64 {
    line.windows(2)
        .map(|pair| (pair[1] - pair[0]).length())
        .sum()
}

/// Removes a length from the end of a line, m.
fn shorten(line: &mut Vec<DVec2>, mut by: f64) {
    while let [.., before, last] = line[..] {
        let piece = (last - before).length();
        line.pop();
        if piece > by {
            line.push(last.lerp(before, by / piece));
            return;
        }
        by -= piece;
    }
}

/// Returns the corners of the upper hull of points with increasing x: the lowest line that is above
/// all points and bends only to the right.
fn majorant(points: impl Iterator<Item = DVec2>) -> Vec<DVec2> {
    let mut line: Vec<DVec2> = Vec::new();
    for point in points {
        while let [.., before, last] = line[..]
            && (last - before).perp_dot(point - before) > -STRAIGHT
        {
            line.pop();
        }
        line.push(point);
    }
    line
}

/// Converts a distance to a row or column. A point on the border between two rows belongs to the
/// farther row, so that rounding does not matter.
fn cell(distance: f64) -> f64 {
    (distance / CELL + 1e-6).floor()
}

/// Role of an arm for a path: the path enters there, leaves there, or passes the arm.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Enters,
    Leaves,
    Passes,
}

/// Areas of the arm that vehicles drive over, divided into rows across the arm.
struct Limits {
    /// Right and left limits of entry and exit in each row, m.
    rows: Vec<(f64, f64)>,
    /// Points that other paths cover.
    passed: Vec<DVec2>,
}

impl Limits {
    fn new(count: usize) -> Self {
        Self {
            rows: vec![(f64::NEG_INFINITY, f64::INFINITY); count],
            passed: Vec::new(),
        }
    }

    fn add(&mut self, role: Role, point: DVec2) {
        let row = cell(point.x);
        if row < -1.0 || row > self.rows.len() as f64 {
            return;
        }
        let is_right = match role {
            Role::Enters => true,
            Role::Leaves => false,
            Role::Passes => {
                self.passed.push(point);
                return;
            }
        };
        // Neighbouring rows are marked too, because the samples may skip a row.
        let row = row as isize;
        for near in row - 1..=row + 1 {
            let Some((right, left)) = usize::try_from(near)
                .ok()
                .and_then(|i| self.rows.get_mut(i))
            else {
                continue;
            };
            if is_right {
                *right = right.max(point.y);
            } else {
                *left = left.min(point.y);
            }
        }
    }

    /// Returns the free rows from the cut to the area driven over by other vehicles; `None` if
    /// there are too few rows.
    fn free(&self, clearance: Clearance) -> Option<Free> {
        let beside = clearance.beside;
        let mut rows: Vec<(f64, f64, f64)> = Vec::new();
        for (i, &(right, left)) in self.rows.iter().enumerate() {
            let x = CELL * (i as f64 + 0.5);
            let (right, left) = (right + beside, left - beside);
            let is_free =
                right.is_finite() && left.is_finite() && left - right >= clearance.least_width;
            match (is_free, rows.is_empty()) {
                (true, _) => rows.push((x, right, left)),
                (false, true) => {}
                (false, false) => break,
            }
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &(_, right, left) in &rows {
            (low, high) = (low.min(right), high.max(left));
        }
        if rows.is_empty() {
            return None;
        }
        // Distance towards the ring up to which each column is free.
        let columns = ((high - low) / CELL).ceil() as usize + 1;
        let nearest = rows[0].0;
        let mut ends = vec![rows[rows.len() - 1].0; columns];
        for point in &self.passed {
            let column = cell(point.y - low);
            if column < -1.0 || column > columns as f64 {
                continue;
            }
            let column = column as isize;
            for near in column - 1..=column + 1 {
                let end = usize::try_from(near).ok().and_then(|i| ends.get_mut(i));
                if let Some(end) = end {
                    *end = end.min(point.x - beside);
                }
            }
        }
        // The island ends at the first row that a vehicle drives over.
        let reach = |right: f64, left: f64| {
            let column = |y: f64| (cell(y - low).max(0.0) as usize).min(columns - 1);
            let own = &ends[column(right)..=column(left)];
            own.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let is_clear = |&(x, right, left): &(f64, f64, f64)| x <= reach(right, left);
        let clear = rows.iter().take_while(|row| is_clear(row)).count();
        rows.truncate(clear);
        let last = rows.last()?.0;
        (last - nearest >= clearance.least_length).then_some(Free(rows))
    }
}
