//! Lanes that end because the data say that they merge (`turn:lanes=merge_to_left`).
//!
//! ```text
//!   ---------------------------------.            The lanes that do not end lead straight on: the next road
//!     lane 1, merges to the right      `-----     begins beside the ending lane and returns to its line. Without
//!     lane 2  ->      .....................       this, both roads are centred on their lines, and the lane at
//!     lane 3  ->             \----------------     the kerb ends, whichever one the data name.
//!   -----------------------------'
//! ```

use super::{LEAST, knots, smooth};
use crate::osm::turn_lanes::EndingLanes;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::{DrivingSide, Lane, Poly3, Road, RoadEnd};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Length over which a displaced road returns to its line, in metres per metre of displacement.
const RETURN: f64 = 30.0;

/// Lanes of a road that end at a node.
#[derive(Debug, Clone, Copy)]
pub(in crate::osm) struct Merging {
    /// Index of the road.
    pub(in crate::osm) road: usize,
    /// The end of the road where the lanes end.
    pub(in crate::osm) end: RoadEnd,
    pub(in crate::osm) lanes: EndingLanes,
}

/// Displaces the roads beyond lanes that end. Returns the indices of roads whose lanes cannot end
/// as the data say: several roads meet there, or the next road has another number of lanes.
pub(in crate::osm) fn align(
    roads: &mut [Road],
    side: DrivingSide,
    merging: &[Merging],
) -> Vec<usize> {
    if merging.is_empty() {
        return Vec::new();
    }
    let mut at = BTreeMap::new();
    for (index, road) in roads.iter().enumerate() {
        for (node, end) in [(road.from, RoadEnd::Start), (road.to, RoadEnd::End)] {
            at.entry(node).or_insert_with(Vec::new).push((index, end));
        }
    }
    let mut left_out = Vec::new();
    for one in merging {
        let node = roads[one.road].node_at(one.end);
        let own = (one.road, one.end);
        let next = match at[&node][..] {
            [a, b] if a == own => Some(b),
            [a, b] if b == own => Some(a),
            _ => None,
        };
        let shift = next.and_then(|(next, end)| {
            let from = lanes(&roads[one.road], one.end, side, Traffic::Enters);
            let to = lanes(&roads[next], end, side, Traffic::Leaves);
            Some((next, end, shift(&from, &to, one.lanes)?))
        });
        match shift {
            Some((next, end, by)) => displace(&mut roads[next], end, by),
            None => left_out.push(one.road),
        }
    }
    left_out.dedup();
    left_out
}

/// Whether traffic enters a node or leaves it.
#[derive(Clone, Copy, PartialEq)]
enum Traffic {
    Enters,
    Leaves,
}

/// A lane at the end of a road.
struct LaneAtEnd {
    /// Middle of the lane.
    middle: DVec2,
    /// Pose of the road's end in the driving direction of the lane.
    ahead: Pose,
}

/// Returns the lanes that enter or leave the node at one end of a road, from left to right as
/// drivers see them.
fn lanes(road: &Road, end: RoadEnd, side: DrivingSide, traffic: Traffic) -> Vec<LaneAtEnd> {
    let s = match end {
        RoadEnd::Start => 0.0,
        RoadEnd::End => road.length(),
    };
    let pose = road.reference_line.pose(s);
    let is_along = (end == RoadEnd::End) == (traffic == Traffic::Enters);
    let ahead = match is_along {
        true => pose,
        false => Pose {
            heading: wrap_angle(pose.heading + PI),
            ..pose
        },
    };
    let is_own = |lane: &&Lane| lane.kind.is_drivable() && lane.is_forward(side) == is_along;
    let own = road.section_at(s).lanes.iter().filter(is_own);
    let places = own.filter_map(|lane| {
        let band = road.lane_band(lane.id, s)?;
        Some(LaneAtEnd {
            middle: pose.point(0.0, band.centre),
            ahead,
        })
    });
    let mut places: Vec<LaneAtEnd> = places.collect();
    if !is_along {
        places.reverse();
    }
    places
}

/// Returns how far the lanes of the next road have to move to the left, in the driving direction,
/// to continue the lanes that do not end, m. `None` if the numbers of lanes differ.
fn shift(from: &[LaneAtEnd], to: &[LaneAtEnd], ending: EndingLanes) -> Option<f64> {
    let kept = from.get(ending.left..from.len().checked_sub(ending.right)?)?;
    if kept.is_empty() || kept.len() != to.len() {
        return None;
    }
    let ahead = kept[0].ahead;
    let beside = |places: &[LaneAtEnd]| {
        let left = places.iter().map(|place| ahead.to_local(place.middle).y);
        left.sum::<f64>() / places.len() as f64
    };
    Some(beside(kept) - beside(to))
}

/// Displaces the lanes at one end of a road to the left, as seen by drivers who enter the road there. `by` is
/// the distance, m.
fn displace(road: &mut Road, end: RoadEnd, by: f64) {
    if by.abs() < LEAST {
        return;
    }
    let by = if end == RoadEnd::Start { by } else { -by };
    let length = road.length();
    let reach = (RETURN * by.abs()).min(length);
    let points = knots(road).into_iter().map(|(s, _)| {
        let away = if end == RoadEnd::Start { s } else { length - s };
        let share = (away / reach).min(1.0);
        let rest = 1.0 - share * share * (3.0 - 2.0 * share);
        (s, Poly3::value_in(&road.lane_offset, s) + by * rest)
    });
    road.lane_offset = smooth(&points.collect::<Vec<_>>());
}
