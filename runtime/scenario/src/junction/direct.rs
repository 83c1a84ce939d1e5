//! Direct junctions: roads of one direction merge or diverge, and each lane continues in exactly
//! one other lane.
//!
//! ```text
//!   -----------------------------------------
//!    road 1     ->            :    road 2   ->
//!   - - - - - - - - - - - - - : - - - - - - -     No lane ends or begins at the node, so no road is
//!               ->            :             ->    cut back and no vehicle yields. Only the gore is
//!   ------------________------: - - - - - - -     built, which is the area between the roads until
//!     .....------ gore        :             ->    they have diverged.
//!   --  road 3  ->       -----:--------------
//! ```
//!
//! Slip roads join and leave motorways in this way ([OpenDRIVE 1.8], direct junctions).

use super::arm::{Arm, ArmLane, Flank};
use super::links::lane_end;
use super::{ConnectingPath, LinkKind, Turn};
use crate::driving_side::DrivingSide;
use crate::ids::RoadId;
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use std::f64::consts::PI;

/// Maximum gap between the ends of lanes that continue each other, m.
const GAP: f64 = 0.02;
/// Maximum difference in heading between lanes that continue each other, rad.
const BEND: f64 = 1e-2;
/// Maximum distance at the node between two edges that enclose a gore, m.
const TOUCH: f64 = 0.3;
/// Distance between two roads at which their gore ends, m. There, the verge begins with a round
/// nose.
const PARTED: f64 = 3.6;
/// Longest gore, m.
const LONGEST: f64 = 150.0;
/// Distance between points along a gore, m.
const STEP: f64 = 2.0;

/// The paved triangle between two roads that diverge at a small angle.
#[derive(Debug, Clone, PartialEq)]
pub struct Gore {
    /// The two roads.
    pub roads: (RoadId, RoadId),
    /// Left edge of the gore, m, from the point where the roads have diverged to the tip. Both
    /// edges have the same number of points, and points with the same index are opposite each
    /// other.
    pub left: Vec<DVec2>,
    /// Right edge of the gore; see `left`.
    pub right: Vec<DVec2>,
}

/// Returns the pairs of lanes that continue each other, by arm. Returns `None` if the arms do not form a
/// direct junction. In a direct junction, there are at least three arms, all of them are one-way, and every
/// lane has exactly one continuation.
pub(super) fn pairs(arms: &[Arm<'_>], side: DrivingSide) -> Option<Vec<[(usize, ArmLane); 2]>> {
    if arms.len() < 3 {
        return None;
    }
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (i, arm) in arms.iter().enumerate() {
        let (entering, leaving) = (arm.entering_lanes(0.0, side), arm.leaving_lanes(0.0, side));
        if entering.is_empty() == leaving.is_empty() {
            return None;
        }
        from.extend(entering.into_iter().map(|lane| (i, lane)));
        to.extend(leaving.into_iter().map(|lane| (i, lane)));
    }
    if from.len() != to.len() || !are_parallel(&from) {
        return None;
    }
    let mut pairs = Vec::with_capacity(from.len());
    for (i, lane) in from {
        let next = to.iter().position(|(_, next)| continues(&lane, next))?;
        // The lane is removed, because each lane continues only one other lane. The order of the remaining lanes does
        // not matter.
        pairs.push([(i, lane), to.swap_remove(next)]);
    }
    Some(pairs)
}

/// Whether the lanes run side by side in the same direction, unlike those of crossing streets.
fn are_parallel(lanes: &[(usize, ArmLane)]) -> bool {
    lanes.iter().enumerate().all(|(i, (_, lane))| {
        lanes[..i].iter().all(|(_, other)| {
            let bend = wrap_angle(lane.pose.heading - other.pose.heading).abs();
            let apart = (lane.pose.position - other.pose.position).length();
            // The centres of adjacent lanes are half the sum of their widths apart. Distances down
            // to a fifth less are accepted.
            bend < BEND && apart > 0.4 * (lane.width + other.width)
        })
    })
}

fn continues(lane: &ArmLane, next: &ArmLane) -> bool {
    let bend = wrap_angle(next.pose.heading - lane.pose.heading).abs();
    let gap = (next.pose.position - lane.pose.position).length();
    gap < GAP && bend < BEND && lane.access == next.access
}

/// Returns the connecting paths of a direct junction, ordered by (from, to). They have zero length.
pub(super) fn paths(arms: &[Arm<'_>], pairs: &[[(usize, ArmLane); 2]]) -> Vec<ConnectingPath> {
    let path = |[(a, from), (b, to)]: &[(usize, ArmLane); 2]| ConnectingPath {
        from: lane_end(&arms[*a], from.id),
        to: lane_end(&arms[*b], to.id),
        turn: Turn::Straight,
        kind: LinkKind::Normal,
        curve: None,
        width: (from.width, to.width),
        access: from.access,
    };
    let mut paths: Vec<ConnectingPath> = pairs.iter().map(path).collect();
    paths.sort_by_key(|path| (path.from, path.to));
    paths
}

/// Returns the gores of a direct junction, between arms that leave the node side by side.
pub(super) fn gores(arms: &[Arm<'_>]) -> Vec<Gore> {
    let mut gores = Vec::new();
    for arm in arms {
        for next in arms {
            let turn = wrap_angle(next.bearing() - arm.bearing()).abs();
            let (left, right) = (arm.left_edge(0.0), next.right_edge(0.0));
            let touch = (left.position - right.position).length() < TOUCH;
            if !std::ptr::eq(arm, next) && touch && turn < 0.5 * PI {
                gores.extend(gore(arm, next));
            }
        }
    }
    gores
}

/// Returns the gore between the left edge of an arm and the right edge of the next arm, looking
/// outward; `None` if the arms do not diverge far enough.
fn gore(arm: &Arm<'_>, next: &Arm<'_>) -> Option<Gore> {
    let reach = LONGEST.min(0.9 * arm.length()).min(0.9 * next.length());
    let opposite = |s: f64| {
        let left = arm.beside(Flank::Left, s, 0.0).position;
        let right = next.beside(Flank::Right, s, 0.0).position;
        (left, right)
    };
    let steps = (reach / STEP).floor() as u32;
    let parted = (0..=steps).map(|i| STEP * f64::from(i)).find(|&s| {
        let (left, right) = opposite(s);
        (left - right).length() >= PARTED
    })?;
    let count = (parted / STEP).round() as u32;
    // From the far end to the tip. Looking from the far end, left and right are swapped compared
    // with looking outward.
    let (right, left) = (0..=count)
        .rev()
        .map(|i| opposite(STEP * f64::from(i)))
        .unzip();
    Some(Gore {
        roads: (arm.road_id, next.road_id),
        left,
        right,
    })
}
