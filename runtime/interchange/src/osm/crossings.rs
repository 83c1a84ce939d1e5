//! Assigns pedestrian crossings to arms of junctions.
//!
//! ```text
//!    ---X---[junction]       A crossing within 25 m of a junction belongs to that arm of the
//!                            junction. Farther away, the way is split at the crossing, which
//!                            becomes a node of its own.
//! ```

use super::elements::OsmNode;
use super::projection::great_circle_distance;
use super::roads::{Piece, road_id};
use roadwright_scenario::RoadId;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum distance along the way between a junction and the crossings on its arms, m.
const REACH: f64 = 25.0;
/// Minimum length of the pieces of road that a cut at a crossing may leave, m.
const LEAST_PIECE: f64 = 15.0;

/// Whether there is a marked pedestrian crossing at a node.
fn is_crossing(node: &OsmNode) -> bool {
    node.sign.crossing.is_there && !node.sign.crossing.is_unmarked
}

/// Returns the crossings on drivable ways that are too far from any junction to belong to one of
/// its arms. The ways have to be cut at these nodes. `cuts` contains the nodes where ways are
/// already cut.
pub(super) fn alone(
    runs: &[Piece],
    places: &BTreeMap<i64, OsmNode>,
    cuts: &BTreeSet<i64>,
) -> BTreeSet<i64> {
    let mut alone = BTreeSet::new();
    for run in runs {
        // Distance along the run, m.
        let mut at = vec![0.0];
        for pair in run.nodes.windows(2) {
            let step = great_circle_distance(&places[&pair[0]], &places[&pair[1]]);
            at.push(at[at.len() - 1] + step);
        }
        let mut taken: Vec<f64> = (0..run.nodes.len())
            .filter(|&i| cuts.contains(&run.nodes[i]))
            .map(|i| at[i])
            .collect();
        for (i, node) in run.nodes.iter().enumerate() {
            let is_apart = taken
                .iter()
                .all(|place| (place - at[i]).abs() > REACH.max(LEAST_PIECE));
            if is_crossing(&places[node]) && is_apart {
                alone.insert(*node);
                taken.push(at[i]);
            }
        }
    }
    alone
}

/// The roads with crossings at each node of the graph.
#[derive(Default)]
pub(super) struct Crossings {
    pub(super) over: BTreeMap<i64, BTreeSet<RoadId>>,
    /// Number of crossings in the data that belong to an arm.
    pub(super) count: usize,
    /// Number of crossings on drivable ways that are too far from any junction.
    pub(super) unassigned: usize,
}

/// Assigns each crossing to an arm of the graph. The index of a piece determines the id of its
/// road.
pub(super) fn place_crossings(
    pieces: &[Piece],
    places: &BTreeMap<i64, OsmNode>,
    on_ways: &BTreeSet<i64>,
) -> Crossings {
    let mut ends: BTreeMap<i64, usize> = BTreeMap::new();
    for piece in pieces {
        for node in [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]] {
            *ends.entry(node).or_default() += 1;
        }
    }
    let mut crossings = Crossings::default();
    let mut assigned = BTreeSet::new();
    for (index, piece) in pieces.iter().enumerate() {
        for (i, node) in piece.nodes.iter().enumerate() {
            if !is_crossing(&places[node]) {
                continue;
            }
            let Some(junction) = junction_of(piece, i, places, &ends) else {
                continue;
            };
            assigned.insert(*node);
            // At a node that only joins two roads, crossings over either of them are the same.
            let over = crossings.over.entry(junction).or_default();
            if ends[&junction] > 2 || over.is_empty() {
                over.insert(road_id(index));
            }
        }
    }
    let marked = |node: &&i64| places.get(*node).is_some_and(is_crossing);
    let all: BTreeSet<i64> = on_ways.iter().filter(marked).copied().collect();
    crossings.count = assigned.len();
    crossings.unassigned = all.difference(&assigned).count();
    crossings
}

/// Returns the graph node that owns the crossing at position `i` of a piece: the nearer end of the
/// piece that is a junction within `REACH`, or an end shared by only two roads if the crossing is
/// exactly there. `None` if there is no such end, or if the crossing is on the junction itself,
/// because its arm is then unknown.
fn junction_of(
    piece: &Piece,
    i: usize,
    places: &BTreeMap<i64, OsmNode>,
    ends: &BTreeMap<i64, usize>,
) -> Option<i64> {
    let length = |range: std::ops::Range<usize>| -> f64 {
        let steps = range
            .map(|k| great_circle_distance(&places[&piece.nodes[k]], &places[&piece.nodes[k + 1]]));
        steps.sum()
    };
    let last = piece.nodes.len() - 1;
    let both = [
        (length(0..i), piece.nodes[0]),
        (length(i..last), piece.nodes[last]),
    ];
    let near = both.into_iter().filter(|&(distance, end)| {
        let roads = ends[&end];
        let is_alone = roads == 2 && distance == 0.0;
        let is_at_arm = roads > 2 && distance > 0.0;
        distance <= REACH && (is_alone || is_at_arm)
    });
    near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, end)| end)
}
