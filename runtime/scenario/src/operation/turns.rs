//! Turns of a junction that the user removes or restores.

use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::junction::Junction;
use crate::junction_rules::{LaneTurn, RoadLane};
use crate::restriction::{Restriction, RestrictionKind};
use crate::scenario::Scenario;

/// Returns the edit that prohibits driving from one road into another at the junction of a node; `None` if
/// the node does not exist.
///
/// The edit adds a turn restriction. In a merged junction, where roads end at several nodes and internal
/// streets offer other routes, the edit instead removes each turn from lane to lane.
pub fn without_turn(
    scenario: &Scenario,
    junction: &Junction,
    node: NodeId,
    from: RoadId,
    to: RoadId,
) -> Option<Edit> {
    let network = scenario.network();
    let mut changed = network.node(node)?.clone();
    if junction.nodes.len() == 1 {
        changed.rules.restrictions.push(Restriction {
            kind: RestrictionKind::No,
            from,
            to,
        });
    } else {
        let paths = junction.paths.iter();
        let meant = paths.filter(|path| (path.from.road, path.to.road) == (from, to));
        for path in meant {
            let [from, to] = [path.from, path.to].map(|end| RoadLane {
                road: end.road,
                lane: end.lane,
            });
            changed.rules.turns.remove(LaneTurn { from, to });
        }
    }
    Some(Edit::Node(node, Some(changed)))
}

/// Returns the edit that permits driving from one road into another at a junction again. All nodes
/// of the junction that prohibit the turn are changed. Returns `None` if none of them does.
pub fn with_turn(
    scenario: &Scenario,
    junction: &Junction,
    from: RoadId,
    to: RoadId,
) -> Option<Edit> {
    let mut edits = Vec::new();
    for &id in &junction.nodes {
        let node = scenario.network().node(id)?;
        let mut changed = node.clone();
        let rules = &mut changed.rules;
        rules
            .restrictions
            .retain(|rule| rule.kind != RestrictionKind::No || (rule.from, rule.to) != (from, to));
        let removed = &mut rules.turns.remove;
        removed.retain(|turn| (turn.from.road, turn.to.road) != (from, to));
        if changed != *node {
            edits.push(Edit::Node(id, Some(changed)));
        }
    }
    (!edits.is_empty()).then_some(Edit::Batch(edits))
}
