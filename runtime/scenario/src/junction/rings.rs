//! Rings of roundabouts: closed chains of one-way roads around an island.
//!
//! ```text
//!            |  ^
//!        .--<+<--.        Right-hand traffic drives around counter-clockwise. At an exit,
//!       v         ^       the ring continues in the road that bends most to the inside. No
//!    ---+  island +---    bend of a ring is as sharp as the corner of a block, and a ring
//!       v         ^       is nearly circular.
//!        '-->+>--'
//! ```

use crate::driving_side::DrivingSide;
use crate::ids::{NodeId, RoadId};
use crate::network::RoadNetwork;
use crate::road::Road;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, polygon};
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

/// Maximum number of roads in a ring. The largest real rings have about twenty arms.
const MAX_ROADS: usize = 48;
/// Range of lengths that a ring may have, m. It corresponds to radii of 5 to 130 m.
const LENGTH: std::ops::Range<f64> = 30.0..820.0;
/// Maximum bend of a ring at a node, rad. Blocks of one-way streets have corners of 90 degrees.
const MAX_BEND: f64 = 70.0 * PI / 180.0;
/// Minimum ratio of a ring's area to that of a circle of the same length. For a square, the ratio
/// is 0.785.
const ROUNDNESS: f64 = 0.7;
/// Spacing of the points from which the area of a ring is computed, m.
const SAMPLING: f64 = 2.0;

/// A one-way road, seen in its driving direction.
struct OneWay {
    road: RoadId,
    is_forward: bool,
    start: Pose,
    end: Pose,
    from: NodeId,
    to: NodeId,
}

/// Returns the roads of all rings. O(one-way roads).
pub(crate) fn rings(network: &RoadNetwork, side: DrivingSide) -> BTreeSet<RoadId> {
    let roads = network.roads();
    let roads: Vec<OneWay> = roads
        .filter_map(|(id, road)| one_way(id, road, side))
        .collect();
    let mut leaving: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for (i, road) in roads.iter().enumerate() {
        leaving.entry(road.from).or_default().push(i);
    }
    let next: Vec<Option<usize>> = roads
        .iter()
        .map(|road| innermost(road, leaving.get(&road.to)?, &roads, side))
        .collect();
    let mut rings = BTreeSet::new();
    let mut is_done = vec![false; roads.len()];
    for first in 0..roads.len() {
        if is_done[first] {
            continue;
        }
        let Some(ring) = ring_from(first, &next) else {
            continue;
        };
        for &i in &ring {
            is_done[i] = true;
        }
        if is_roundabout(&ring, &roads, network, side) {
            rings.extend(ring.iter().map(|&i| roads[i].road));
        }
    }
    rings
}

/// Returns the roads of the ring that contains a road, including other rings that touch it, in
/// order of id. O(roads of these rings).
pub(crate) fn connected(
    network: &RoadNetwork,
    rings: &BTreeSet<RoadId>,
    road: RoadId,
) -> BTreeSet<RoadId> {
    let mut found = BTreeSet::new();
    let mut open = vec![road];
    while let Some(id) = open.pop() {
        let Some(road) = network.road(id).filter(|_| rings.contains(&id)) else {
            continue;
        };
        if found.insert(id) {
            let nodes = [road.from, road.to].into_iter();
            open.extend(
                nodes
                    .flat_map(|node| network.ends_at(node))
                    .map(|(id, _)| id),
            );
        }
    }
    found
}

/// Whether all lanes of a road lead in one direction.
pub(crate) fn is_one_way(road: &Road, side: DrivingSide) -> bool {
    let [forward, backward] = directions(road, side);
    forward != backward
}

/// Returns whether a road has lanes in the direction of its reference line, and whether it has
/// lanes in the opposite direction.
pub(crate) fn directions(road: &Road, side: DrivingSide) -> [bool; 2] {
    [
        road.lanes_forward(0.0, side) > 0,
        road.lanes_backward(0.0, side) > 0,
    ]
}

/// Whether two roads are equivalent for the detection of rings: they have the same alignment and
/// driving directions.
pub(super) fn is_driven_alike(a: &Road, b: &Road, side: DrivingSide) -> bool {
    (a.from, a.to) == (b.from, b.to)
        && directions(a, side) == directions(b, side)
        && a.reference_line == b.reference_line
}

fn one_way(id: RoadId, road: &Road, side: DrivingSide) -> Option<OneWay> {
    if road.length() > LENGTH.end || !is_one_way(road, side) {
        return None;
    }
    let (start, end) = (road.reference_line.start(), road.reference_line.end());
    let is_forward = road.lanes_forward(0.0, side) > 0;
    let (start, end, from, to) = if is_forward {
        (start, end, road.from, road.to)
    } else {
        (end.reversed(), start.reversed(), road.to, road.from)
    };
    Some(OneWay {
        road: id,
        is_forward,
        start,
        end,
        from,
        to,
    })
}

/// Finds the one-way road that bends most towards the inside of a ring, among the roads `leaving`
/// the end of `road`; `None` if all of them bend too sharply.
fn innermost(
    road: &OneWay,
    leaving: &[usize],
    roads: &[OneWay],
    side: DrivingSide,
) -> Option<usize> {
    let inside = side.around();
    let bend = |i: &usize| inside * wrap_angle(roads[*i].start.heading - road.end.heading);
    leaving
        .iter()
        .filter(|i| bend(i).abs() < MAX_BEND)
        // If several bends are equal, the road with the smallest number is used, regardless of the
        // order of the list.
        .max_by(|a, b| bend(a).total_cmp(&bend(b)).then(b.cmp(a)))
        .copied()
}

/// Returns the chain that starts with a road; `None` if the chain does not close at that road.
fn ring_from(first: usize, next: &[Option<usize>]) -> Option<Vec<usize>> {
    let mut ring = vec![first];
    // A chain that runs into a ring from outside never returns to its first road, so the limit on the number
    // of roads ends the search.
    while ring.len() <= MAX_ROADS {
        let last = *ring.last()?;
        match next[last]? {
            i if i == first => return Some(ring),
            i => ring.push(i),
        }
    }
    None
}

/// Whether a closed chain is driven in the right direction and is nearly circular.
fn is_roundabout(
    ring: &[usize],
    roads: &[OneWay],
    network: &RoadNetwork,
    side: DrivingSide,
) -> bool {
    let mut points = Vec::new();
    let mut length = 0.0;
    for &i in ring {
        let Some(road) = network.road(roads[i].road) else {
            return false;
        };
        length += road.length();
        if length > LENGTH.end {
            return false;
        }
        let count = (road.length() / SAMPLING).ceil().max(1.0) as usize;
        let pose = |k: usize| {
            let share = k as f64 / count as f64;
            let share = if roads[i].is_forward {
                share
            } else {
                1.0 - share
            };
            road.reference_line.pose(share * road.length()).position
        };
        points.extend((0..count).map(pose));
    }
    let area = side.around() * polygon::signed_area(&points);
    // A circle of this length has the area length^2 / (4 pi). If the chain is driven in the wrong direction,
    // its area is negative.
    LENGTH.contains(&length) && area > ROUNDNESS * length * length / (4.0 * PI)
}
