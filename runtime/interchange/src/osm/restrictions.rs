//! Turn restrictions from relations.

use super::Warnings;
use super::conditional::{self, Conditional};
use super::elements::{Elements, Relation};
use super::roads::{Built, road_id};
use super::via_ways;
use roadwright_scenario::{
    Restriction, RestrictionKind, RoadId, TimedRestriction, ViaRestriction, WeekTimes,
};
use std::collections::BTreeMap;

/// Turn restrictions that can be imported, by OSM node.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Restrictions at a node.
    pub(super) at: BTreeMap<i64, Vec<Restriction>>,
    /// Restrictions with via roads, by the node where the via roads begin.
    pub(super) via: BTreeMap<i64, Vec<ViaRestriction>>,
    /// Restrictions that apply only at certain times, by their node or, if they have via roads, by
    /// the node where these begin.
    pub(super) timed: BTreeMap<i64, Vec<TimedRestriction>>,
}

/// Collects the restrictions that can be imported.
pub(super) fn collect(elements: &Elements, built: &Built, warnings: &mut Warnings) -> Found {
    // Relations refer to ways and a node, but the scenario refers to roads, so this maps (way, node at an
    // end) to roads.
    let mut ends: BTreeMap<(i64, i64), Vec<RoadId>> = BTreeMap::new();
    for (index, piece) in built.pieces.iter().enumerate() {
        for way in built.ways_of(index) {
            for node in [piece.nodes[0], piece.nodes[piece.nodes.len() - 1]] {
                let roads = ends.entry((way, node)).or_default();
                roads.push(road_id(index));
            }
        }
    }
    let mut found = Found::default();
    for relation in &elements.restrictions {
        for rule in rules(relation, warnings) {
            let added = rule.and_then(|rule| found.add(relation, rule, built, &ends));
            if let Err(reason) = added {
                warn(warnings, reason, relation);
            }
        }
    }
    for list in found.timed.values_mut() {
        list.sort_by_cached_key(|r| {
            let is_only = r.kind == RestrictionKind::Only;
            (r.from, r.to, is_only, r.times.to_string())
        });
        list.dedup();
    }
    for list in found.via.values_mut() {
        list.sort_by_key(|r| (r.from, r.to, r.kind == RestrictionKind::Only));
        list.dedup();
    }
    for list in found.at.values_mut() {
        // Sorted, because the order of relations in a file has no meaning and two relations may be equal.
        list.sort_by_key(|r| (r.from, r.to, r.kind == RestrictionKind::Only));
        list.dedup();
    }
    found
}

/// A rule of a relation.
struct Rule {
    kind: RestrictionKind,
    /// Times at which the rule applies; `None` for all times.
    times: Option<WeekTimes>,
}

/// Returns the rules of a relation, or the reasons why they are left out.
fn rules(relation: &Relation, warnings: &mut Warnings) -> Vec<Result<Rule, &'static str>> {
    let always = |kind| Rule { kind, times: None };
    let Some(condition) = conditional::value(&relation.tags) else {
        return vec![kind_of(relation).map(always)];
    };
    if let Ok(kind) = kind_of(relation) {
        warn(warnings, conditional::EXCEPTIONS, relation);
        return vec![Ok(always(kind))];
    }
    let mut rule = |part: Conditional| {
        if part.had_holidays {
            warn(warnings, conditional::HOLIDAYS, relation);
        }
        Rule {
            kind: part.kind,
            times: Some(part.times),
        }
    };
    let parts = conditional::read(condition).into_iter();
    parts.map(|part| part.map(&mut rule)).collect()
}

impl Found {
    /// Adds a rule of a relation, or returns the reason why it is left out.
    fn add(
        &mut self,
        relation: &Relation,
        Rule { kind, times }: Rule,
        built: &Built,
        ends: &BTreeMap<(i64, i64), Vec<RoadId>>,
    ) -> Result<(), &'static str> {
        let timed = |from, via, to, times| TimedRestriction {
            kind,
            from,
            via,
            to,
            times,
        };
        if members(relation, "via").any(|member| member.0 == 'w') {
            let (node, rule) = via_ways::read(relation, kind, built)?;
            match times {
                None => self.via.entry(node).or_default().push(rule),
                Some(times) => {
                    let timed = timed(rule.from, rule.via, rule.to, times);
                    self.timed.entry(node).or_default().push(timed);
                }
            }
            return Ok(());
        }
        let (node, rule) = read(relation, kind, ends)?;
        match times {
            None => self.at.entry(node).or_default().push(rule),
            Some(times) => {
                let timed = timed(rule.from, Vec::new(), rule.to, times);
                self.timed.entry(node).or_default().push(timed);
            }
        }
        Ok(())
    }
}

fn warn(warnings: &mut Warnings, reason: &str, relation: &Relation) {
    warnings.add(reason, format!("relation {}", relation.id));
}

/// Reads a relation as a restriction at a node, or returns the reason why it is left out.
fn read(
    relation: &Relation,
    kind: RestrictionKind,
    ends: &BTreeMap<(i64, i64), Vec<RoadId>>,
) -> Result<(i64, Restriction), &'static str> {
    let via = via_node(relation)?;
    // Ways are cut at junctions. The relation refers to the one of the way's roads that ends at the
    // via node.
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
    Ok((via, restriction))
}

/// Returns whether a turn is prohibited or prescribed. The rest of the value (left turn, U-turn) follows from
/// the members.
fn kind_of(relation: &Relation) -> Result<RestrictionKind, &'static str> {
    // If there is only `restriction:hgv`, the restriction does not apply to cars.
    let value = relation
        .tags
        .get("restriction")
        .or(relation.tags.get("restriction:motorcar"));
    match value {
        Some(value) => kind_of_value(value),
        None => Err("turn restrictions that apply only to some vehicles"),
    }
}

/// Returns the kind of a restriction such as `no_left_turn`.
pub(super) fn kind_of_value(value: &str) -> Result<RestrictionKind, &'static str> {
    match value {
        v if v.starts_with("no_") => Ok(RestrictionKind::No),
        v if v.starts_with("only_") => Ok(RestrictionKind::Only),
        _ => Err("turn restrictions with an unknown value"),
    }
}

/// Returns the node where the turn is made.
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
