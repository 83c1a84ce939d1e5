//! Mini roundabouts that are one node of the data (Tag:highway=mini_roundabout on the wiki).
//!
//! Where the data draw a ring, they have no such node on it, or it says nothing more.

use super::Warnings;
use super::elements::{OsmNode, SignKind};
use super::roads::Piece;
use roadwright_scenario::DrivingSide;
use std::collections::{BTreeMap, BTreeSet};

/// The nodes of the graph that are mini roundabouts: at least three roads meet there, none of them the
/// ring of another one. Of the others on drivable ways a warning tells.
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
            // Traffic goes round with the island on the side that one does not drive on.
            if sign.clockwise == Some(side == DrivingSide::Right) {
                warnings.add(
                    "directions of mini roundabouts against the side that one drives on",
                    object(),
                );
            }
            minis.insert(node);
        }
    }
    minis
}
