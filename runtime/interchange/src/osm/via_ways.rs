//! Turn restrictions with via ways. For example, a U-turn over the short street between two carriageways
//! consists of two turns, each of which is permitted on its own.

use super::elements::Relation;
use super::restrictions::members;
use super::roads::{Built, Piece, road_id};
use roadwright_scenario::{RestrictionKind, RoadId, ViaRestriction};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A piece of a way, with its road and the nodes at its ends.
type RoadPiece = (RoadId, [i64; 2]);

/// Reads a relation as a restriction, together with the node where its via ways begin. Returns the reason if
/// it is left out.
pub(super) fn read(
    relation: &Relation,
    kind: RestrictionKind,
    built: &Built,
) -> Result<(i64, ViaRestriction), &'static str> {
    let of_role = |role: &'static str| runs(relation, built, role);
    let (from, via, to) = (of_role("from"), of_role("via"), of_role("to"));
    if from.is_empty() || via.is_empty() || to.is_empty() {
        return Err("turn restrictions via ways that are not imported");
    }
    // The via ways end where `from` ends and where `to` begins.
    let inner: BTreeSet<i64> = via.iter().flat_map(|(_, ends)| *ends).collect();
    let at = |runs: &[RoadPiece]| -> Vec<(RoadId, i64)> {
        let ends = runs
            .iter()
            .flat_map(|&(road, ends)| ends.map(|node| (road, node)));
        ends.filter(|(_, node)| inner.contains(node)).collect()
    };
    let mut found: Vec<(Vec<RoadId>, RoadId, i64, RoadId)> = Vec::new();
    for &(from, start) in &at(&from) {
        for &(to, end) in at(&to).iter().filter(|(_, end)| *end != start) {
            found.extend(between(&via, start, end).map(|roads| (roads, from, start, to)));
        }
    }
    found.sort_by_key(|(roads, from, _, to)| (roads.len(), *from, *to));
    // A way that passes one of the nodes has two roads there. Only the angle in the name of the restriction
    // would show which of them is meant.
    let is_clear = match &found[..] {
        [one, other, ..] => one.0.len() < other.0.len(),
        [_] => true,
        [] => return Err("turn restrictions via ways that do not meet"),
    };
    if !is_clear {
        return Err("turn restrictions whose ways are not split where the via ways begin and end");
    }
    let (via, from, node, to) = found.swap_remove(0);
    let rule = ViaRestriction {
        kind,
        from,
        via,
        to,
    };
    Ok((node, rule))
}

/// Returns the pieces of the ways with a given role.
fn runs(relation: &Relation, built: &Built, role: &'static str) -> Vec<RoadPiece> {
    let ways: BTreeSet<i64> = members(relation, role)
        .filter(|member| member.0 == 'w')
        .map(|member| member.1)
        .collect();
    let pieces = built.pieces.iter().enumerate();
    let own = pieces.filter(|(index, _)| !built.ways_of(*index).is_disjoint(&ways));
    let ends = |piece: &Piece| [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]];
    own.map(|(index, piece)| (road_id(index), ends(piece)))
        .collect()
}

/// Returns the shortest list of roads from one node to another; `None` if the roads do not connect them.
fn between(runs: &[RoadPiece], start: i64, end: i64) -> Option<Vec<RoadId>> {
    let mut came_by: BTreeMap<i64, (i64, RoadId)> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(node) = open.pop_front() {
        for &(road, ends) in runs.iter().filter(|(_, ends)| ends.contains(&node)) {
            let next = if ends[0] == node { ends[1] } else { ends[0] };
            if next != start && !came_by.contains_key(&next) {
                came_by.insert(next, (node, road));
                open.push_back(next);
            }
        }
    }
    let mut roads = Vec::new();
    let mut node = end;
    while node != start {
        let &(before, road) = came_by.get(&node)?;
        roads.push(road);
        node = before;
    }
    roads.reverse();
    Some(roads)
}
