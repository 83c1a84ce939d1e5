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
        let paint = frame.free(paths, Body::CAR, BESIDE_PAINT, LEAST_LENGTH)?;
        let raised = may_raise
            .then(|| frame.free(paths, WHEELS, BESIDE_KERB, LEAST_RAISED))
            .flatten()
            .filter(|island| island.end_width() >= LEAST_END);
        Some(Splitter {
            road: arm.road_id,
            end: arm.end,
            paint: frame.shape(&paint),
            raised: raised.map_or_else(Vec::new, |island| frame.shape(&island)),
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

impl Free {
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
    fn free(
        &self,
        paths: &[ConnectingPath],
        body: Body,
        beside: f64,
        least_length: f64,
    ) -> Option<Free> {
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
        limits.free(beside, least_length)
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

    /// Returns the outline of the area. Its sides smooth out the steps between the rows.
    fn shape(&self, Free(rows): &Free) -> Vec<DVec2> {
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
        let left = left.into_iter().rev().map(|p| DVec2::new(p.x, -p.y));
        let mut points: Vec<DVec2> = (right.into_iter().chain(left))
            .map(|p| self.at.point(p.x, self.mirror * p.y))
            .collect();
        points.dedup_by(|a, b| (*a - *b).length() < 0.02);
        if polygon::signed_area(&points) < 0.0 {
            points.reverse();
        }
        points
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
    fn free(&self, beside: f64, least_length: f64) -> Option<Free> {
        let mut rows: Vec<(f64, f64, f64)> = Vec::new();
        for (i, &(right, left)) in self.rows.iter().enumerate() {
            let x = CELL * (i as f64 + 0.5);
            let (right, left) = (right + beside, left - beside);
            let is_free = right.is_finite() && left.is_finite() && left - right >= LEAST_WIDTH;
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
        (last - nearest >= least_length).then_some(Free(rows))
    }
}
