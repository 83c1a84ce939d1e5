//! Neighbouring carriageways that overlap although no junction joins them, such as a frontage road or a slip
//! road that was drawn along the edge of a motorway.
//!
//! ```text
//!     frontage | overlap |  main road  | other direction        Each pair of neighbours moves apart by half of
//!     ---------+=========+-------------+----------------         its overlap, again and again, so that a
//!       <--    <--                 -->      -->                  push reaches the neighbours beyond.
//! ```
//!
//! Roads that join each other overlap near their common node, where the junction separates them. So do roads that
//! end at two junctions close to each other.

use super::{BEYOND, Knots, LEAST, OPPOSITE, ease, foot, knots, smooth};
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::{DrivingSide, NodeId, Poly3, Road};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Overlap above which carriageways are moved apart, m. Markings and gutters account for smaller
/// overlaps.
const OVERLAP: f64 = 0.3;
/// Distance between carriageways that were moved apart, m.
const GAP: f64 = 0.1;
/// Distance from a common node within which two roads may overlap, m.
const NEAR_NODE: f64 = 15.0;
/// Distance from a common node within which two roads may overlap if one of them is a two-way
/// street, m. Such streets meet at an angle, so that the junction extends to the point where they
/// part.
const NEAR_FORK: f64 = 60.0;
/// Maximum distance between two junctions that count as one, m. The area between them is paved, as
/// at the crossing of two dual carriageways.
const ONE_JUNCTION: f64 = 25.0;
/// Minimum number of road ends at a junction.
const JUNCTION_ENDS: usize = 3;
/// Change per round below which the search for displacements ends, m.
const SETTLED: f64 = 1e-4;
/// Maximum number of rounds in which neighbours push each other. In each round, a push reaches one
/// neighbour farther.
const ROUNDS: usize = 200;
/// Number of rounds in which a displacement is passed on to continuing roads.
const PASSES: usize = 3;

/// A road whose lanes may move to either side.
struct Band {
    /// Index of the road.
    road: usize,
    nodes: [NodeId; 2],
    length: f64,
    knots: Vec<(f64, Pose)>,
    /// Right edge of the carriageway at each knot, m to the left of the line.
    right: Vec<f64>,
    /// Left edge of the carriageway at each knot, m to the left of the line.
    left: Vec<f64>,
    /// Lane offset at each knot, m.
    offsets: Vec<f64>,
    /// Smallest and largest further displacement at each knot, m to the left.
    limits: Vec<(f64, f64)>,
    layer: i8,
    is_one_way: bool,
}

impl Band {
    /// Returns the band of a road whose lane offset was `before`; `None` if its width changes.
    fn of(index: usize, road: &Road, side: DrivingSide, before: f64) -> Option<Self> {
        let knots = knots(road);
        let edges: Vec<_> = knots.iter().map(|&(s, _)| road.carriageway(s)).collect();
        let offset = |&(s, _): &(f64, Pose)| Poly3::value_in(&road.lane_offset, s);
        let offsets: Vec<f64> = knots.iter().map(offset).collect();
        let limit = |(&offset, &(right, left)): (&f64, &(f64, f64))| {
            let (moved, most) = (offset - before, 0.5 * (left - right));
            ((-most - moved).min(0.0), (most - moved).max(0.0))
        };
        (road.lane_sections.len() == 1).then(|| Self {
            road: index,
            nodes: [road.from, road.to],
            length: road.length(),
            limits: offsets.iter().zip(&edges).map(limit).collect(),
            knots,
            right: edges.iter().map(|edges| edges.0).collect(),
            left: edges.iter().map(|edges| edges.1).collect(),
            offsets,
            layer: road.layer,
            is_one_way: road.lanes_backward(0.0, side) == 0 || road.lanes_forward(0.0, side) == 0,
        })
    }

    /// Interpolates a quantity that is known at each knot. `s` is a distance along the road, m.
    fn at(&self, values: &[f64], s: f64) -> f64 {
        let last = self.knots.len() - 1;
        let place = (s / self.length * last as f64).clamp(0.0, last as f64);
        let i = (place as usize).min(last.saturating_sub(1));
        let share = place - i as f64;
        values[i] * (1.0 - share) + values[(i + 1).min(last)] * share
    }
}

/// A knot of a band, and the position beside it on another band.
struct Pair {
    band: usize,
    knot: usize,
    other: usize,
    /// Distance along the other band, m.
    s: f64,
    /// Position of the knot, m to the left of the other band's line.
    y: f64,
    /// 1 if both lines lead in the same direction, -1 otherwise.
    direction: f64,
}

impl Pair {
    /// Returns the overlap of the two carriageways, m; negative if there is a gap between them. Also returns
    /// the direction in which the overlap pushes the first carriageway: 1 for its left, -1 for its right.
    fn overlap(&self, bands: &[Band], shifts: &[Vec<f64>]) -> (f64, f64) {
        let (own, other) = (&bands[self.band], &bands[self.other]);
        let shift = shifts[self.band][self.knot];
        let (right, left) = (own.right[self.knot] + shift, own.left[self.knot] + shift);
        // Edges of this band's carriageway, in the frame of the other band.
        let (low, high) = match self.direction > 0.0 {
            true => (self.y + right, self.y + left),
            false => (self.y - left, self.y - right),
        };
        let moved = other.at(&shifts[self.other], self.s);
        let other_low = other.at(&other.right, self.s) + moved;
        let other_high = other.at(&other.left, self.s) + moved;
        match low + high >= other_low + other_high {
            true => (other_high - low, self.direction),
            false => (high - other_low, -self.direction),
        }
    }
}

/// Moves overlapping carriageways apart. `before` has the lane offset of each road before any displacement.
/// Returns the roads that still overlap another one with a larger index.
pub(super) fn spread(
    roads: &mut [Road],
    side: DrivingSide,
    before: &[f64],
    counts: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let indices = (0..roads.len()).filter(|&index| counts(index));
    let bands: Vec<Band> = indices
        .filter_map(|index| Band::of(index, &roads[index], side, before[index]))
        .collect();
    let pairs = pairs(&bands, roads);
    let mut shifts: Vec<Vec<f64>> = bands.iter().map(|b| vec![0.0; b.knots.len()]).collect();
    push_apart(&bands, &pairs, &mut shifts);
    for (band, shift) in bands.iter().zip(&mut shifts) {
        slope(band, shift);
    }
    pass_on(&bands, &mut shifts);
    for (band, shift) in bands.iter().zip(&shifts) {
        if shift.iter().any(|by| by.abs() > LEAST) {
            let places = band.knots.iter().map(|knot| knot.0);
            let offsets = band
                .offsets
                .iter()
                .zip(shift)
                .map(|(offset, by)| offset + by);
            roads[band.road].lane_offset = smooth(&places.zip(offsets).collect::<Vec<_>>());
        }
    }
    let overlapping = pairs.iter().filter(|pair| {
        let is_first = bands[pair.band].road < bands[pair.other].road;
        is_first && pair.overlap(&bands, &shifts).0 > OVERLAP
    });
    let mut left: Vec<usize> = overlapping.map(|pair| bands[pair.band].road).collect();
    left.dedup();
    left
}

/// Finds the positions where bands run beside each other.
fn pairs(bands: &[Band], roads: &[Road]) -> Vec<Pair> {
    let index = Knots::of(bands.iter().map(|band| &band.knots[..]));
    let junctions = Junctions::of(roads);
    let mut pairs = Vec::new();
    for (band, own) in bands.iter().enumerate() {
        for (knot, &(s, pose)) in own.knots.iter().enumerate() {
            for (other, near) in index.beside(band, pose.position) {
                let line = &roads[bands[other].road].reference_line;
                let s_other = foot(line, near, pose.position);
                let there = line.pose(s_other);
                let turned = wrap_angle(there.heading - pose.heading).abs();
                let place = there.to_local(pose.position);
                let is_parallel = turned < OPPOSITE || PI - turned < OPPOSITE;
                let is_beside = place.x.abs() <= BEYOND && bands[other].layer == own.layer;
                if is_parallel
                    && is_beside
                    && !junctions.separate([(own, s), (&bands[other], s_other)])
                {
                    pairs.push(Pair {
                        band,
                        knot,
                        other,
                        s: s_other,
                        y: place.y,
                        direction: if turned < OPPOSITE { 1.0 } else { -1.0 },
                    });
                }
            }
        }
    }
    pairs
}

/// The nodes where at least [`JUNCTION_ENDS`] roads end.
struct Junctions {
    places: BTreeMap<NodeId, DVec2>,
}

impl Junctions {
    fn of(roads: &[Road]) -> Self {
        let mut ends: BTreeMap<NodeId, (DVec2, usize)> = BTreeMap::new();
        for road in roads {
            let line = &road.reference_line;
            for (node, pose) in [(road.from, line.start()), (road.to, line.end())] {
                ends.entry(node).or_insert((pose.position, 0)).1 += 1;
            }
        }
        let places = ends.into_iter();
        let places = places.filter(|(_, (_, count))| *count >= JUNCTION_ENDS);
        Self {
            places: places.map(|(node, (place, _))| (node, place)).collect(),
        }
    }

    /// Whether two roads may overlap at the given distances along them, m, because both end at the same
    /// junction near these places.
    fn separate(&self, places: [(&Band, f64); 2]) -> bool {
        let is_ramp = places.iter().all(|(band, _)| band.is_one_way);
        let reach = if is_ramp { NEAR_NODE } else { NEAR_FORK };
        let near = |(band, s): (&Band, f64)| {
            let ends = [(band.nodes[0], s), (band.nodes[1], band.length - s)];
            ends.into_iter()
                .filter(move |(_, distance)| *distance < reach)
                .map(|(node, _)| node)
        };
        let [mut own, other] = places.map(near);
        let others: Vec<NodeId> = other.collect();
        own.any(|node| others.iter().any(|&other| self.are_one(node, other)))
    }

    /// Whether two nodes are identical, or are junctions close to each other.
    fn are_one(&self, node: NodeId, other: NodeId) -> bool {
        let places = [node, other].map(|node| self.places.get(&node));
        let is_close = matches!(places, [Some(a), Some(b)] if a.distance(*b) < ONE_JUNCTION);
        node == other || is_close
    }
}

/// Lets overlapping bands push each other to the sides, starting with bands that overlap by more than
/// `OVERLAP`.
fn push_apart(bands: &[Band], pairs: &[Pair], shifts: &mut [Vec<f64>]) {
    let mut is_active = vec![false; bands.len()];
    for pair in pairs {
        if pair.overlap(bands, shifts).0 > OVERLAP {
            is_active[pair.band] = true;
            is_active[pair.other] = true;
        }
    }
    // Largest push to the left and to the right of each knot, m.
    let mut pushes: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    for _ in 0..ROUNDS {
        pushes.clear();
        for pair in pairs {
            if !is_active[pair.other] {
                continue;
            }
            let (overlap, direction) = pair.overlap(bands, shifts);
            is_active[pair.band] |= overlap > OVERLAP;
            let lack = overlap + GAP;
            if is_active[pair.band] && lack > 0.0 {
                let push = pushes.entry((pair.band, pair.knot)).or_default();
                match direction > 0.0 {
                    true => push.0 = push.0.max(lack),
                    false => push.1 = push.1.max(lack),
                }
            }
        }
        let mut largest: f64 = 0.0;
        for (&(band, knot), (left, right)) in &pushes {
            let shift = &mut shifts[band][knot];
            let (least, most) = bands[band].limits[knot];
            let next = (*shift + 0.5 * (left - right)).clamp(least, most);
            largest = largest.max((next - *shift).abs());
            *shift = next;
        }
        if largest < SETTLED {
            return;
        }
    }
}

/// Extends displacements so that they begin and end gradually.
fn slope(band: &Band, shifts: &mut [f64]) {
    let eased = |sign: f64| {
        let places = band.knots.iter().zip(shifts.iter());
        let mut places: Vec<(f64, f64)> = places
            .map(|(knot, by)| (knot.0, (sign * by).max(0.0)))
            .collect();
        ease(places.iter_mut());
        ease(places.iter_mut().rev());
        places
    };
    let (left, right) = (eased(1.0), eased(-1.0));
    for (i, shift) in shifts.iter_mut().enumerate() {
        *shift = left[i].1 - right[i].1;
    }
}

/// Passes displacements at the ends of roads on to the roads that continue them.
fn pass_on(bands: &[Band], shifts: &mut [Vec<f64>]) {
    // The bands at each node, and whether they end there.
    let mut at: BTreeMap<NodeId, Vec<(usize, bool)>> = BTreeMap::new();
    for (number, band) in bands.iter().enumerate() {
        for (node, is_end) in [(band.nodes[0], false), (band.nodes[1], true)] {
            at.entry(node).or_default().push((number, is_end));
        }
    }
    let knot = |(band, is_end): (usize, bool)| match is_end {
        true => bands[band].knots.len() - 1,
        false => 0,
    };
    for _ in 0..PASSES {
        for ends in at.values() {
            let [one, other] = ends[..] else { continue };
            // Left of one road is left of the other if one ends where the other begins.
            let same = if one.1 != other.1 { 1.0 } else { -1.0 };
            let (own, theirs) = (shifts[one.0][knot(one)], shifts[other.0][knot(other)]);
            if one.0 == other.0 || (own - same * theirs).abs() < LEAST {
                continue;
            }
            let (to, value) = match own.abs() > theirs.abs() {
                true => (other, same * own),
                false => (one, same * theirs),
            };
            shifts[to.0][knot(to)] = value;
            slope(&bands[to.0], &mut shifts[to.0]);
        }
    }
}
