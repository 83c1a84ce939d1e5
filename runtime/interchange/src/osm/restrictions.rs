//! Turn restrictions from relations.

use super::Warnings;
use super::elements::{Elements, Relation};
use super::roads::{Built, road_id};
use roadwright_scenario::{Restriction, RestrictionKind, RoadId};
use std::collections::BTreeMap;

/// The restrictions that hold, by OSM node.
pub(super) fn collect(
    elements: &Elements,
    built: &Built,
    warnings: &mut Warnings,
) -> BTreeMap<i64, Vec<Restriction>> {
    let mut ends: BTreeMap<(i64, i64), Vec<RoadId>> = BTreeMap::new();
    for (index, piece) in built.pieces.iter().enumerate() {
        for node in [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]] {
            ends.entry((piece.way, node))
                .or_default()
                .push(road_id(index));
        }
    }
    let mut found: BTreeMap<i64, Vec<Restriction>> = BTreeMap::new();
    for relation in &elements.restrictions {
        match read(relation, &ends) {
            Ok((via, restrictions)) => found.entry(via).or_default().extend(restrictions),
            Err(reason) => warnings.add(reason, format!("relation {}", relation.id)),
        }
    }
    for list in found.values_mut() {
        list.sort_by_key(|r| (r.from, r.to, r.kind == RestrictionKind::Only));
        list.dedup();
    }
    found
}

/// One relation as restrictions at a node, or why it does not hold.
fn read(
    relation: &Relation,
    ends: &BTreeMap<(i64, i64), Vec<RoadId>>,
) -> Result<(i64, Vec<Restriction>), &'static str> {
    let value = relation
        .tags
        .get("restriction")
        .or(relation.tags.get("restriction:motorcar"));
    let kind = match value.map(String::as_str) {
        Some(v) if v.starts_with("no_") => RestrictionKind::No,
        Some(v) if v.starts_with("only_") => RestrictionKind::Only,
        Some(_) => return Err("turn restrictions of an unknown kind"),
        None => return Err("turn restrictions that hold at times or for some vehicles only"),
    };
    let member = |role: &'static str| relation.members.iter().filter(move |m| m.2 == role);
    let mut vias = member("via");
    let via = match (vias.next(), vias.next()) {
        (Some(('n', id, _)), None) => *id,
        (Some(_), _) => return Err("turn restrictions by way of a street, not a point"),
        (None, _) => return Err("turn restrictions without a via member"),
    };
    let roads = |role: &'static str| -> Vec<RoadId> {
        let ways = member(role).filter(|m| m.0 == 'w');
        ways.filter_map(|m| ends.get(&(m.1, via)))
            .flatten()
            .copied()
            .collect()
    };
    let (from, to) = (roads("from"), roads("to"));
    if from.is_empty() || to.is_empty() {
        return Err("turn restrictions between ways that are not imported or do not meet");
    }
    // A way that passes the via node has two roads there; the turn concerns one of each, which
    // the angle in the name would tell. Forbidding all is wrong, so these are left to the rare
    // editor that cuts ways as the wiki asks.
    if from.len() > 1 || to.len() > 1 {
        return Err("turn restrictions whose ways are not cut at the via node");
    }
    let restriction = Restriction {
        kind,
        from: from[0],
        to: to[0],
    };
    Ok((via, vec![restriction]))
}
