//! Turn restrictions from relations.

use super::Warnings;
use super::elements::{Elements, Relation};
use super::roads::{Built, road_id};
use super::via_ways;
use roadwright_scenario::{Restriction, RestrictionKind, RoadId, ViaRestriction};
use std::collections::BTreeMap;

/// The restrictions that can be imported, by OSM node.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Restrictions at a node.
    pub(super) at: BTreeMap<i64, Vec<Restriction>>,
    /// Restrictions with via roads, by the node where the via roads begin.
    pub(super) via: BTreeMap<i64, Vec<ViaRestriction>>,
}

/// Collects the restrictions that can be imported.
pub(super) fn collect(elements: &Elements, built: &Built, warnings: &mut Warnings) -> Found {
    // Relations refer to ways and a node, but the scenario refers to roads, so this maps (way, node at an
    // end) to roads.
    let mut ends: BTreeMap<(i64, i64), Vec<RoadId>> = BTreeMap::new();
    for (index, piece) in built.pieces.iter().enumerate() {
        for node in [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]] {
            ends.entry((piece.way, node))
                .or_default()
                .push(road_id(index));
        }
    }
    let mut found = Found::default();
    for relation in &elements.restrictions {
        if members(relation, "via").any(|member| member.0 == 'w') {
            match via_ways::read(relation, built) {
                Ok((node, rule)) => found.via.entry(node).or_default().push(rule),
                Err(reason) => warnings.add(reason, format!("relation {}", relation.id)),
            }
            continue;
        }
        match read(relation, &ends) {
            Ok((via, restrictions)) => found.at.entry(via).or_default().extend(restrictions),
            Err(reason) => warnings.add(reason, format!("relation {}", relation.id)),
        }
    }
    for list in found.via.values_mut() {
        list.sort_by_key(|r| (r.from, r.to, r.kind == RestrictionKind::Only));
        list.dedup();
    }
    for list in found.at.values_mut() {
        // Two relations may be equal, and their order in a file has no meaning.
        list.sort_by_key(|r| (r.from, r.to, r.kind == RestrictionKind::Only));
        list.dedup();
    }
    found
}

/// Reads a relation as a restriction at a node, or returns the reason why it is left out.
fn read(
    relation: &Relation,
    ends: &BTreeMap<(i64, i64), Vec<RoadId>>,
) -> Result<(i64, Vec<Restriction>), &'static str> {
    let kind = kind_of(relation)?;
    let via = via_node(relation)?;
    // Ways are cut at junctions. Of the roads of this way, the one that ends at the via node is meant.
    let roads = |role: &'static str| -> Vec<RoadId> {
        let ways = members(relation, role).filter(|m| m.0 == 'w');
        ways.filter_map(|m| ends.get(&(m.1, via)))
            .flatten()
            .copied()
            .collect()
    };
    let (from, to) = (roads("from"), roads("to"));
    if from.is_empty() || to.is_empty() {
        return Err("turn restrictions between ways that are not imported or do not meet");
    }
    // A way that passes the via node has two roads there, and the turn concerns only one of them. Only the
    // angle in the name (no_left_turn) would show which:
    //
    //     from ----> via ----> from        into which `to`, coming from which side?
    //
    // Forbidding both would be wrong. Relation:restriction on the wiki asks mappers to cut ways at the via
    // node, so there are few such relations. They are left out with a warning.
    if from.len() > 1 || to.len() > 1 {
        return Err("turn restrictions whose ways are not split at the via node");
    }
    let restriction = Restriction {
        kind,
        from: from[0],
        to: to[0],
    };
    Ok((via, vec![restriction]))
}

/// Returns whether a turn is prohibited or prescribed. The rest of the value (left turn, U-turn) follows from
/// the members.
pub(super) fn kind_of(relation: &Relation) -> Result<RestrictionKind, &'static str> {
    // If there is only `restriction:hgv` or `restriction:conditional`, the restriction does not apply to all
    // cars at all times.
    let value = relation
        .tags
        .get("restriction")
        .or(relation.tags.get("restriction:motorcar"));
    match value.map(String::as_str) {
        Some(v) if v.starts_with("no_") => Ok(RestrictionKind::No),
        Some(v) if v.starts_with("only_") => Ok(RestrictionKind::Only),
        Some(_) => Err("turn restrictions of an unknown kind"),
        None => Err("turn restrictions that apply only at certain times or to certain vehicles"),
    }
}

/// Returns the node at which the turn is made.
fn via_node(relation: &Relation) -> Result<i64, &'static str> {
    let mut vias = members(relation, "via");
    match (vias.next(), vias.next()) {
        (Some(('n', id, _)), None) => Ok(*id),
        (Some(_), _) => Err("turn restrictions via several nodes"),
        (None, _) => Err("turn restrictions without a via member"),
    }
}

pub(super) fn members<'a>(
    relation: &'a Relation,
    role: &'static str,
) -> impl Iterator<Item = &'a (char, i64, String)> {
    relation.members.iter().filter(move |m| m.2 == role)
}
