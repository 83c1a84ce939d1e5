//! Carriageways whose lines are closer together than their lanes are wide.
//!
//! Two steps move them apart. This file has the first one, for the carriageways of a street; `spread.rs` has
//! the second one, for all other neighbours. No carriageway moves by more than half its width.
//!
//! A one-way street is centred on its line. Where two of them diverge from a two-way road, and along narrow
//! medians, lanes of opposite directions would overlap. In such places, each carriageway stays on its own
//! side of the middle between the two lines.
//!
//! ```text
//!                      .--------------------
//!   ------------------'          <-             D is the distance between the lines, e the
//!          <-          .- - - - - - - - - - -   distance from a line to its lanes' inner edge.
//!   - - - - - - - - - <                         A carriageway moves aside by e + GAP / 2 - D / 2.
//!          ->          '- - - - - - - - - - -   Where the lines diverge, this is about e, so that
//!   ------------------.          ->             its lanes continue those of the road.
//!                      '--------------------
//! ```

pub(super) mod merges;
mod spread;

use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, ReferenceLine};
use roadwright_scenario::{DrivingSide, LaneDirection, Poly3, Road};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Gap between two carriageways, m.
const GAP: f64 = 0.2;
/// Tolerance for the directions of opposite carriageways, radians.
const OPPOSITE: f64 = 20.0 * PI / 180.0;
/// Distance between the points of a line at which its distance from other lines is checked, m.
const STEP: f64 = 8.0;
/// Maximum distance beyond the end of a line at which a point still counts as beside the line, m.
const BEYOND: f64 = 2.0;
/// Largest overlap at which lines of opposite directions are assumed to have swapped sides by
/// mistake, m.
const CROSSED: f64 = 0.5;
/// Lateral shift of lanes per metre along the road, m.
const SLOPE: f64 = 0.1;
/// Minimum shift of lanes, m. Smaller shifts are ignored.
const LEAST: f64 = 0.02;
/// Distance beyond which two lines are never too close to each other, m.
const REACH: f64 = 32.0;

/// Moved carriageways, and carriageways that still overlap.
#[derive(Debug, Default)]
pub(super) struct Separated {
    /// Indices of the roads that were moved, each with its largest displacement, m.
    pub(super) moved: Vec<(usize, f64)>,
    /// Indices of roads that overlap another road with a larger index, because there is not enough room.
    pub(super) left: Vec<usize>,
}

/// Moves lanes aside where carriageways are too close to each other. `counts` returns whether a road is
/// considered.
pub(super) fn separate(
    roads: &mut [Road],
    side: DrivingSide,
    counts: impl Fn(usize) -> bool + Copy,
) -> Separated {
    let offset = |road: &Road| Poly3::value_in(&road.lane_offset, 0.0);
    let before: Vec<f64> = roads.iter().map(offset).collect();
    part(roads, side, counts);
    let left = spread::spread(roads, side, &before, counts);
    let displacement = |(road, before): (&Road, &f64)| {
        let offsets = knots(road)
            .into_iter()
            .map(|(s, _)| Poly3::value_in(&road.lane_offset, s));
        offsets
            .map(|offset| (offset - before).abs())
            .fold(0.0, f64::max)
    };
    let displacements = roads.iter().zip(&before).map(displacement).enumerate();
    Separated {
        moved: displacements.filter(|(_, by)| *by > LEAST).collect(),
        left,
    }
}

/// Moves lanes aside where carriageways of opposite directions are too close to each other. `counts` returns
/// whether a road is considered.
fn part(roads: &mut [Road], side: DrivingSide, counts: impl Fn(usize) -> bool) {
    let indices = (0..roads.len()).filter(|&index| counts(index));
    let all: Vec<Carriageway> = indices
        .filter_map(|index| Carriageway::of(index, &roads[index], side))
        .collect();
    let knots = Knots::of(all.iter().map(|own| &own.knots[..]));
    for (number, own) in all.iter().enumerate() {
        let aside = own.aside(|pose| {
            let others = knots.beside(number, pose.position).into_iter();
            let shifts = others.map(|(other, near)| {
                let line = &roads[all[other].road].reference_line;
                let there = line.pose(foot(line, near, pose.position));
                own.apart_from(&all[other], there, pose)
            });
            shifts.fold(0.0, f64::max)
        });
        if aside.iter().any(|(_, by)| *by > LEAST) {
            let offset = |&(s, by): &(f64, f64)| (s, own.offset - own.sign * by);
            roads[own.road].lane_offset = smooth(&aside.iter().map(offset).collect::<Vec<_>>());
        }
    }
}

/// A one-way street that may be one half of a dual carriageway.
struct Carriageway {
    /// Index of the carriageway's road.
    road: usize,
    /// Points where the lanes may shift sideways, each with the distance along the line (m) and the
    /// pose.
    knots: Vec<(f64, Pose)>,
    /// Current position of the carriageway's lanes, m to the left of the line.
    offset: f64,
    /// Distance from the carriageway's line to the edge of its lanes on the side of oncoming
    /// traffic, m.
    inner: f64,
    /// 1 if oncoming traffic is on the left, -1 if it is on the right.
    sign: f64,
    layer: i8,
}

impl Carriageway {
    /// Returns the carriageway of a one-way road in its driving direction; `None` if the road has several
    /// lane sections, or drivable lanes against its direction.
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
            knots: knots(road),
            offset: Poly3::value_in(&road.lane_offset, 0.0),
            inner: if sign > 0.0 { left } else { -right },
            sign,
            layer: road.layer,
        })
    }

    /// Returns the shift of the lanes away from oncoming traffic at each knot, m. `wanted` returns the shift
    /// that is needed at a pose. The shift increases gradually before a pose that needs it and decreases
    /// gradually after that pose.
    fn aside(&self, wanted: impl Fn(Pose) -> f64) -> Vec<(f64, f64)> {
        let knots = self.knots.iter();
        let mut aside: Vec<(f64, f64)> = knots.map(|&(s, pose)| (s, wanted(pose))).collect();
        ease(aside.iter_mut());
        ease(aside.iter_mut().rev());
        aside
    }

    /// Returns the shift that the lanes at `pose` need to be clear of another carriageway, whose nearest pose
    /// is `there`, m. It is 0 if the other carriageway is far enough away or does not run in the opposite
    /// direction.
    fn apart_from(&self, other: &Self, there: Pose, pose: Pose) -> f64 {
        let turned = wrap_angle(there.heading - pose.heading).abs();
        let place = there.to_local(pose.position);
        // Oncoming traffic is on this side, and also as seen from the other carriageway.
        let distance = place.y * self.sign;
        let is_beside = place.x.abs() <= BEYOND && distance >= -CROSSED;
        if other.layer != self.layer || PI - turned > OPPOSITE || !is_beside {
            return 0.0;
        }
        let lack = self.inner + other.inner + GAP - distance;
        let own = self.inner + 0.5 * (GAP - distance);
        own.min(self.inner).clamp(0.0, lack.max(0.0))
    }
}

/// Returns lane offsets as smooth cubic pieces through all given points, which are distances along the road and
/// offsets, m.
fn smooth(points: &[(f64, f64)]) -> Vec<Poly3> {
    let last = points.len() - 1;
    let slope = |i: usize| {
        let ((from, before), (to, after)) =
            (points[i.saturating_sub(1)], points[(i + 1).min(last)]);
        (after - before) / (to - from)
    };
    let rounded = |value: f64| (value * 1e9).round() / 1e9;
    let piece = |i: usize| {
        let ((s, a), (end, next)) = (points[i], points[i + 1]);
        let (length, from, to) = (end - s, slope(i), slope(i + 1));
        let rise = (next - a) / length;
        Poly3 {
            s: rounded(s).into(),
            a: rounded(a).into(),
            b: rounded(from).into(),
            c: (rounded((3.0 * rise - 2.0 * from - to) / length)).into(),
            d: (rounded((from + to - 2.0 * rise) / (length * length))).into(),
        }
    };
    let mut pieces: Vec<Poly3> = (0..last).map(piece).collect();
    // Of consecutive constant pieces with the same value, only the first is kept.
    let is_at = |poly: &Poly3, a: f64| poly.rebased(poly.s.get()) == Poly3::constant(a);
    pieces.dedup_by(|next, before| is_at(next, before.a.get()) && is_at(before, before.a.get()));
    pieces
}

/// Returns points along a road that are at most `STEP` apart, each with the distance (m) and the pose.
fn knots(road: &Road) -> Vec<(f64, Pose)> {
    let count = (road.length() / STEP).ceil().max(1.0) as usize;
    let along = (0..=count).map(|i| road.length() * i as f64 / count as f64);
    along.map(|s| (s, road.reference_line.pose(s))).collect()
}

/// Limits the decrease of the shift from each point to the next to `SLOPE` per metre.
fn ease<'a>(places: impl Iterator<Item = &'a mut (f64, f64)>) {
    let mut before: Option<(f64, f64)> = None;
    for place in places {
        if let Some((s, by)) = before {
            place.1 = place.1.max(by - SLOPE * (place.0 - s).abs());
        }
        before = Some(*place);
    }
}

/// Returns the distance along a line of its point nearest to `place`, m. The search starts `near` metres along
/// the line.
fn foot(line: &ReferenceLine, near: f64, place: DVec2) -> f64 {
    // On a straight line, the first iteration is exact. The others follow bends.
    let nearer = |s: f64, _| (s + line.pose(s).to_local(place).x).clamp(0.0, line.length());
    (0..3).fold(near, nearer)
}

/// The knots of several carriageways, indexed by position.
struct Knots {
    grid: GridIndex,
    /// For each knot, its carriageway and its distance along the carriageway, m.
    along: Vec<(usize, f64)>,
}

impl Knots {
    fn of<'a>(all: impl Iterator<Item = &'a [(f64, Pose)]> + Clone) -> Self {
        let each = || all.clone().enumerate();
        let along = each().flat_map(|(number, own)| own.iter().map(move |k| (number, k.0)));
        let places = each().flat_map(|(_, own)| own.iter().map(|k| k.1.position));
        let mut grid = GridIndex::new();
        grid.rebuild(&places.collect::<Vec<DVec2>>(), REACH);
        let along = along.collect();
        Self { grid, along }
    }

    /// Returns the carriageways near a position other than `own`. For each, returns the distance
    /// along the carriageway to its nearest knot, m.
    fn beside(&self, own: usize, place: DVec2) -> BTreeMap<usize, f64> {
        let mut nearest: BTreeMap<usize, (f64, u32)> = BTreeMap::new();
        self.grid.for_each_within(place, REACH, |id, position| {
            let (number, _) = self.along[id as usize];
            let found = ((position - place).length_squared(), id);
            let best = nearest.entry(number).or_insert(found);
            // If two knots are equally near, the first one along the line is used.
            if found < *best {
                *best = found;
            }
        });
        nearest.remove(&own);
        let nearest = nearest.into_iter();
        nearest
            .map(|(number, (_, id))| (number, self.along[id as usize].1))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_move_as_far_as_the_place_that_reaches_farthest(
            steps in proptest::collection::vec((1.0..8.0f64, 0.0..5.0f64), 1..40),
        ) {
            let places: Vec<(f64, f64)> = steps
                .iter()
                .scan(0.0, |s, &(step, by)| {
                    *s += step;
                    Some((*s, by))
                })
                .collect();
            let mut eased = places.clone();
            ease(eased.iter_mut());
            ease(eased.iter_mut().rev());
            for (s, by) in eased {
                let reach = places.iter().map(|(at, by)| by - SLOPE * (at - s).abs());
                let farthest = reach.fold(0.0, f64::max);
                prop_assert!((by - farthest).abs() < 1e-9, "{by} and {farthest} at {s}");
            }
        }
    }
}
