//! Priority by the rank of main streets.
//!
//! Trunk, primary and secondary roads are all of the class `arterial`, so the rules of junctions treat them
//! as equals. Where roads of different rank meet, the import sets the major roads.
//!
//! ```text
//!                 | secondary
//!     ------------+------------ primary       major: both arms of the primary road
//!                 | secondary
//! ```

use super::elements::OsmNode;
use super::projection::LocalProjection;
use super::roads::{Piece, road_id};
use roadwright_geometry::math::{atan2, wrap_angle};
use roadwright_scenario::RoadId;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

/// Rank of a main street, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Secondary roads and their slip roads.
    Secondary,
    /// Primary roads and their slip roads.
    Primary,
    /// Trunk roads, whose slip roads have a separate class.
    Trunk,
}

impl Rank {
    /// Returns the rank of a value of `highway`; `None` for roads whose class already determines their rank.
    pub(super) fn of(highway: &str) -> Option<Self> {
        match highway {
            "trunk" => Some(Self::Trunk),
            "primary" | "primary_link" => Some(Self::Primary),
            "secondary" | "secondary_link" => Some(Self::Secondary),
            _ => None,
        }
    }
}

/// Rank and directions of a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    /// Rank of the piece; `None` if the piece is not a main street.
    pub(super) rank: Option<Rank>,
    /// Whether the piece's class is above that of main streets.
    pub(super) is_above: bool,
    /// Whether the piece has lanes against its direction.
    pub(super) is_two_way: bool,
}

/// An arm at a node.
struct Arm {
    road: RoadId,
    /// Direction in which the arm leaves the node, rad.
    bearing: f64,
    standing: Standing,
    enters: bool,
    leaves: bool,
    is_ring: bool,
}

/// Returns the major roads of nodes where main streets of several ranks meet. `standing` returns the rank of
/// a piece. `is_decided` states whether signals, signs or islands determine priority at a node.
pub(super) fn majors(
    pieces: &[Piece],
    places: &BTreeMap<i64, OsmNode>,
    standing: impl Fn(&Piece) -> Standing,
    is_decided: impl Fn(i64) -> bool,
) -> BTreeMap<i64, Vec<RoadId>> {
    let mut arms: BTreeMap<i64, Vec<Arm>> = BTreeMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        let last = piece.nodes.len() - 1;
        for (end, next) in [(0, 1), (last, last - 1)] {
            let standing = standing(piece);
            let node = piece.nodes[end];
            arms.entry(node).or_default().push(Arm {
                road: road_id(index),
                bearing: bearing(&places[&node], &places[&piece.nodes[next]]),
                standing,
                enters: end == last || standing.is_two_way,
                leaves: end == 0 || standing.is_two_way,
                is_ring: piece.is_ring,
            });
        }
    }
    let undecided = arms.into_iter().filter(|(node, _)| !is_decided(*node));
    undecided
        .filter_map(|(node, arms)| Some((node, major_arms(&arms)?)))
        .collect()
}

fn bearing(from: &OsmNode, to: &OsmNode) -> f64 {
    let projection = LocalProjection::new(from.latitude, from.longitude);
    let direction = projection.to_world(to.latitude, to.longitude);
    atan2(direction.y, direction.x)
}

/// Returns the major roads of a junction; `None` if the road classes determine priority.
fn major_arms(arms: &[Arm]) -> Option<Vec<RoadId>> {
    let ranks: BTreeSet<Rank> = arms.iter().filter_map(|arm| arm.standing.rank).collect();
    let highest = *ranks.last()?;
    let entering = arms.iter().filter(|arm| arm.enters).count();
    let is_plain = arms.len() >= 3 && entering >= 2;
    let is_above = arms.iter().any(|arm| arm.standing.is_above);
    let is_ring = arms.iter().any(|arm| arm.is_ring);
    // Where two one-way roads become one, their numbers of lanes decide.
    let leaving = arms.iter().filter(|arm| arm.leaves).count();
    let is_merge = leaving == 1 && arms.iter().all(|arm| arm.enters != arm.leaves);
    if ranks.len() < 2 || !is_plain || is_above || is_ring || is_merge {
        return None;
    }
    let mut major: Vec<&Arm> = arms
        .iter()
        .filter(|arm| arm.standing.rank == Some(highest))
        .collect();
    // A single major arm continues in the arm that is most nearly opposite.
    if let [only] = major[..] {
        let others = arms.iter().filter(|arm| arm.road != only.road);
        let bend = |arm: &&Arm| wrap_angle(only.bearing - arm.bearing + PI).abs();
        let partner = others.min_by(|a, b| bend(a).total_cmp(&bend(b)));
        major.extend(partner);
    }
    Some(major.into_iter().map(|arm| arm.road).collect())
}
