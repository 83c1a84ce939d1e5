//! Turns of a junction that a person takes away, and gives back.

use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::junction::Junction;
use crate::junction_rules::{LaneTurn, RoadLane};
use crate::restriction::{Restriction, RestrictionKind};
use crate::scenario::Scenario;

/// The edit that forbids to drive from one road into another at a junction, said at one of its nodes; `None`
/// if it does not exist.
///
/// A turn restriction; in a merged junction, where roads end at several nodes and streets within lead round,
/// each way from lane to lane is taken out.
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

/// The edit that allows again to drive from one road into another at a junction, whichever of its nodes says
/// that it is forbidden; `None` if none does.
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
