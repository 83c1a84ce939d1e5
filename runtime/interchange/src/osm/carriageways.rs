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
/// Size of the cells in which lines are looked for, m: no two lines that are farther apart are too close.
const CELL: f64 = 32.0;

/// Moves lanes aside where carriageways of opposite directions lie too close. Returns the indices of the
/// roads whose lanes moved. `counts` says of a road whether it is looked at.
pub(super) fn part(
    roads: &mut [Road],
    side: DrivingSide,
    counts: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let one_way = |index: usize| Carriageway::of(&roads[index], side);
    let indices = (0..roads.len()).filter(|&index| counts(index));
    let all: BTreeMap<usize, Carriageway> = indices
        .filter_map(|index| Some((index, one_way(index)?)))
        .collect();
    let near = Near::new(&all);
    let moved: Vec<(usize, Vec<Poly3>)> = all
        .iter()
        .filter_map(|(&index, own)| {
            let aside = own.aside(index, roads, (&all, &near));
            let is_moved = aside.iter().any(|(_, by)| *by > LEAST);
            is_moved.then(|| (index, own.offsets(&aside)))
        })
        .collect();
    moved
        .into_iter()
        .map(|(index, offsets)| {
            roads[index].lane_offset = offsets;
            index
        })
        .collect()
}

/// A one-way street.
struct Carriageway {
    /// Points of its line.
    points: Vec<Pose>,
    /// Places at which its lanes may move aside, m along it.
    knots: Vec<f64>,
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
    fn of(road: &Road, side: DrivingSide) -> Option<Self> {
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
        let places = |step: f64| {
            let count = (road.length() / step).ceil().max(1.0) as usize;
            (0..=count).map(move |i| road.length() * i as f64 / count as f64)
        };
        let line = &road.reference_line;
        Some(Self {
            points: places(FINE).map(|s| line.pose(s)).collect(),
            knots: places(STEP).collect(),
            offset: Poly3::value_in(&road.lane_offset, 0.0),
            inner: if sign > 0.0 { left } else { -right },
            sign,
            layer: road.layer,
        })
    }

    /// How far its lanes move away from oncoming traffic at each knot, m.
    fn aside(
        &self,
        index: usize,
        roads: &[Road],
        (all, near): (&BTreeMap<usize, Self>, &Near),
    ) -> Vec<(f64, f64)> {
        let line = &roads[index].reference_line;
        let by = |&s: &f64| {
            let pose = line.pose(s);
            let others = near.at(pose.position).filter(|&other| other != index);
            let shifts = others.map(|other| self.apart_from(&all[&other], pose));
            (s, shifts.fold(0.0, f64::max))
        };
        let wanted: Vec<(f64, f64)> = self.knots.iter().map(by).collect();
        let eased = |&(s, _): &(f64, f64)| {
            let reach = |&(at, by): &(f64, f64)| by - SLOPE * (at - s).abs();
            (s, wanted.iter().map(reach).fold(0.0, f64::max))
        };
        wanted.iter().map(eased).collect()
    }

    /// How far its lanes at a pose move away from another carriageway, m; 0 where that is far enough, or
    /// runs another way.
    fn apart_from(&self, other: &Self, pose: Pose) -> f64 {
        let to = |point: &&Pose| (point.position - pose.position).length_squared();
        let nearest = other.points.iter().min_by(|a, b| to(a).total_cmp(&to(b)));
        let Some(there) = nearest.filter(|_| other.layer == self.layer) else {
            return 0.0;
        };
        let turned = wrap_angle(there.heading - pose.heading).abs();
        let place = there.to_local(pose.position);
        // Seen from there as well, oncoming traffic keeps to that side.
        let distance = place.y * self.sign;
        if PI - turned > OPPOSITE || place.x.abs() > 2.0 * FINE || distance < -0.5 * FINE {
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
        // Pieces that go on as the one before say nothing new.
        pieces.dedup_by(|next, before| {
            *next
                == Poly3 {
                    s: next.s,
                    ..*before
                }
                && is_flat(next)
        });
        pieces
    }
}

fn is_flat(poly: &Poly3) -> bool {
    (poly.b, poly.c, poly.d) == (0.0, 0.0, 0.0)
}

/// Which carriageways pass near a place.
struct Near(BTreeMap<(i64, i64), Vec<usize>>);

impl Near {
    fn new(all: &BTreeMap<usize, Carriageway>) -> Self {
        let mut cells: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
        for (&index, carriageway) in all {
            for point in &carriageway.points {
                let (x, y) = cell(point.position);
                // Into the cells around it as well: a place is looked up in one.
                for near in (-1..=1).flat_map(|i| (-1..=1).map(move |j| (x + i, y + j))) {
                    let there = cells.entry(near).or_default();
                    if there.last() != Some(&index) {
                        there.push(index);
                    }
                }
            }
        }
        Self(cells)
    }

    fn at(&self, place: DVec2) -> impl Iterator<Item = usize> + '_ {
        self.0.get(&cell(place)).into_iter().flatten().copied()
    }
}

fn cell(place: DVec2) -> (i64, i64) {
    let cell = (place / CELL).floor();
    (cell.x as i64, cell.y as i64)
}
