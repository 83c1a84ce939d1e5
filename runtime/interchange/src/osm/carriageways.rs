//! Streets with two carriageways whose lines lie closer to each other than their lanes are wide.
//!
//! A one-way street lies centred on its line. Where two of them part from a two-way road, and along narrow
//! medians, lanes of opposite directions would lie on each other: each keeps to its own side of the middle
//! between both lines there.
//!
//! ```text
//!                      .--------------------
//!   ------------------'          <-             With D from line to line, e from a line to the inner
//!          <-          .- - - - - - - - - - -   edge of its lanes: a carriageway moves aside by
//!   - - - - - - - - - <                              e + GAP / 2 - D / 2.
//!          ->          '- - - - - - - - - - -   Where they part that is e, so that its lanes go on
//!   ------------------.          ->             those of the road.
//!                      '--------------------
//! ```

use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::{DrivingSide, LaneDirection, Poly3, Road};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Between two carriageways, m.
const GAP: f64 = 0.2;
/// Carriageways run in opposite directions within this, radians.
const OPPOSITE: f64 = 20.0 * PI / 180.0;
/// Between places along a line at which the distance is looked at, m.
const STEP: f64 = 8.0;
/// Between points of a line to which distances are measured, m.
const FINE: f64 = 1.0;
/// How fast lanes move aside, m for each metre.
const SLOPE: f64 = 0.1;
/// Least that lanes are moved, m.
const LEAST: f64 = 0.02;
/// Lines that are farther apart than this are not too close, m.
const REACH: f64 = 32.0;

/// Moves lanes aside where carriageways of opposite directions lie too close. Returns the indices of the
/// roads whose lanes moved. `counts` says of a road whether it is looked at.
pub(super) fn part(
    roads: &mut [Road],
    side: DrivingSide,
    counts: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let indices = (0..roads.len()).filter(|&index| counts(index));
    let all: Vec<Carriageway> = indices
        .filter_map(|index| Carriageway::of(index, &roads[index], side))
        .collect();
    let lines = Lines::of(&all, roads);
    let mut moved = Vec::new();
    for (number, own) in all.iter().enumerate() {
        let aside = own.aside(|pose| {
            let others = lines.beside(number, pose.position).into_iter();
            let shifts = others.map(|(other, there)| own.apart_from(&all[other], there, pose));
            shifts.fold(0.0, f64::max)
        });
        if aside.iter().any(|(_, by)| *by > LEAST) {
            roads[own.road].lane_offset = own.offsets(&aside);
            moved.push(own.road);
        }
    }
    moved
}

/// A one-way street.
struct Carriageway {
    /// Index of its road.
    road: usize,
    /// Places at which its lanes may move aside: m along its line, and there.
    knots: Vec<(f64, Pose)>,
    /// Where its lanes lie now, m to the left of its line.
    offset: f64,
    /// From its line to the edge of its lanes on the side of oncoming traffic, m.
    inner: f64,
    /// 1 if oncoming traffic keeps to its left, -1 to its right.
    sign: f64,
    layer: i8,
}

impl Carriageway {
    /// That of a road that is driven in its own direction only and keeps its width.
    fn of(index: usize, road: &Road, side: DrivingSide) -> Option<Self> {
        let [section] = &road.lane_sections[..] else {
            return None;
        };
        let own = if side == DrivingSide::Right { -1 } else { 1 };
        let mut drivable = section.lanes.iter().filter(|lane| lane.kind.is_drivable());
        let along = |id: i8, direction| id.signum() == own && direction == LaneDirection::Standard;
        if !drivable.all(|lane| along(lane.id, lane.direction)) {
            return None;
        }
        let (right, left) = road.carriageway(0.0);
        let sign = -f64::from(own);
        Some(Self {
            road: index,
            knots: places(road, STEP),
            offset: Poly3::value_in(&road.lane_offset, 0.0),
            inner: if sign > 0.0 { left } else { -right },
            sign,
            layer: road.layer,
        })
    }

    /// How far its lanes move away from oncoming traffic at each knot, m, where `wanted` says how far they
    /// should at a place.
    fn aside(&self, wanted: impl Fn(Pose) -> f64) -> Vec<(f64, f64)> {
        let knots = self.knots.iter();
        let wanted: Vec<(f64, f64)> = knots.map(|&(s, pose)| (s, wanted(pose))).collect();
        let eased = |&(s, _): &(f64, f64)| {
            let reach = |&(at, by): &(f64, f64)| by - SLOPE * (at - s).abs();
            (s, wanted.iter().map(reach).fold(0.0, f64::max))
        };
        wanted.iter().map(eased).collect()
    }

    /// How far its lanes at a pose move away from another carriageway, which is `there`, m; 0 where that is
    /// far enough, or runs another way.
    fn apart_from(&self, other: &Self, there: Pose, pose: Pose) -> f64 {
        let turned = wrap_angle(there.heading - pose.heading).abs();
        let place = there.to_local(pose.position);
        // Seen from there as well, oncoming traffic keeps to that side.
        let distance = place.y * self.sign;
        let is_beside = place.x.abs() <= 2.0 * FINE && distance >= -0.5 * FINE;
        if other.layer != self.layer || PI - turned > OPPOSITE || !is_beside {
            return 0.0;
        }
        let lack = self.inner + other.inner + GAP - distance;
        let own = self.inner + 0.5 * (GAP - distance);
        own.clamp(0.0, lack.max(0.0))
    }

    /// Where the lanes lie when they have moved aside: cubic pieces that go smoothly through all knots.
    fn offsets(&self, aside: &[(f64, f64)]) -> Vec<Poly3> {
        let at = |i: usize| (aside[i].0, self.offset - self.sign * aside[i].1);
        let last = aside.len() - 1;
        let slope = |i: usize| {
            let ((from, before), (to, after)) = (at(i.saturating_sub(1)), at((i + 1).min(last)));
            (after - before) / (to - from)
        };
        let rounded = |value: f64| (value * 1e9).round() / 1e9;
        let piece = |i: usize| {
            let ((s, a), (end, next)) = (at(i), at(i + 1));
            let (length, from, to) = (end - s, slope(i), slope(i + 1));
            let rise = (next - a) / length;
            Poly3 {
                s: rounded(s),
                a: rounded(a),
                b: rounded(from),
                c: rounded((3.0 * rise - 2.0 * from - to) / length),
                d: rounded((from + to - 2.0 * rise) / (length * length)),
            }
        };
        let mut pieces: Vec<Poly3> = (0..last).map(piece).collect();
        // Of flat pieces on one height the first says it all.
        let is_at = |poly: &Poly3, a: f64| poly.rebased(poly.s) == Poly3::constant(a);
        pieces.dedup_by(|next, before| is_at(next, before.a) && is_at(before, before.a));
        pieces
    }
}

/// Places along a road, at most so far apart, m: how far along, and there.
fn places(road: &Road, step: f64) -> Vec<(f64, Pose)> {
    let count = (road.length() / step).ceil().max(1.0) as usize;
    let along = (0..=count).map(|i| road.length() * i as f64 / count as f64);
    along.map(|s| (s, road.reference_line.pose(s))).collect()
}

/// Points along the lines of all carriageways.
struct Lines {
    grid: GridIndex,
    /// The carriageway of each point, and its pose.
    points: Vec<(usize, Pose)>,
}

impl Lines {
    fn of(all: &[Carriageway], roads: &[Road]) -> Self {
        let numbered = all.iter().enumerate();
        let points: Vec<(usize, Pose)> = numbered
            .flat_map(|(number, carriageway)| {
                let places = places(&roads[carriageway.road], FINE).into_iter();
                places.map(move |(_, pose)| (number, pose))
            })
            .collect();
        let positions: Vec<DVec2> = points.iter().map(|(_, pose)| pose.position).collect();
        let mut grid = GridIndex::new();
        grid.rebuild(&positions, REACH);
        Self { grid, points }
    }

    /// The nearest point of each other carriageway near a place of one.
    fn beside(&self, own: usize, place: DVec2) -> BTreeMap<usize, Pose> {
        let mut nearest: BTreeMap<usize, (f64, u32)> = BTreeMap::new();
        self.grid.for_each_within(place, REACH, |id, position| {
            let (number, _) = self.points[id as usize];
            let found = ((position - place).length_squared(), id);
            let best = nearest.entry(number).or_insert(found);
            // Of two equally near the one that lies before the other.
            if found < *best {
                *best = found;
            }
        });
        nearest.remove(&own);
        let poses = nearest.into_iter();
        poses
            .map(|(number, (_, id))| (number, self.points[id as usize].1))
            .collect()
    }
}
