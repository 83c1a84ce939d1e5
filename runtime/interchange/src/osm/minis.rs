//! Mini roundabouts mapped as a single node (Tag:highway=mini_roundabout on the wiki).
//!
//! If the data also contain the ring, a node of this kind on the ring has no effect.

use super::Warnings;
use super::elements::{OsmNode, SignKind};
use super::roads::Piece;
use roadwright_scenario::DrivingSide;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the nodes of the graph that are mini roundabouts: nodes with this tag where at least
/// three roads meet and that are not on the ring of another roundabout. Adds a warning for each
/// other node with this tag on a drivable way, and for islands whose direction contradicts the
/// driving side.
pub(super) fn place(
    pieces: &[Piece],
    places: &BTreeMap<i64, OsmNode>,
    on_ways: &BTreeSet<i64>,
    side: DrivingSide,
    warnings: &mut Warnings,
) -> BTreeSet<i64> {
    let mut ends: BTreeMap<i64, usize> = BTreeMap::new();
    let mut on_ring = BTreeSet::new();
    for piece in pieces {
        for node in [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]] {
            *ends.entry(node).or_default() += 1;
            if piece.is_ring {
                on_ring.insert(node);
            }
        }
    }
    let mut minis = BTreeSet::new();
    for &node in on_ways {
        let Some(sign) = places.get(&node).map(|place| place.sign) else {
            continue;
        };
        if sign.kind != Some(SignKind::MiniRoundabout) {
            continue;
        }
        let object = || format!("node {node}");
        if on_ring.contains(&node) {
            warnings.add("mini roundabouts on the ring of a roundabout", object());
        } else if ends.get(&node).is_none_or(|&roads| roads < 3) {
            warnings.add(
                "mini roundabouts where fewer than three roads meet",
                object(),
            );
        } else {
            // Traffic passes this island in the direction that is usual for the other driving side.
            if sign.clockwise == Some(side == DrivingSide::Right) {
                warnings.add(
                    "mini roundabouts whose direction contradicts the driving side",
                    object(),
                );
            }
            minis.insert(node);
        }
    }
    minis
}
