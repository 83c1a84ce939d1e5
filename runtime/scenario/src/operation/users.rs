//! Who stands on roads and speaks of them: what has to change when roads do.

use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{ObjectId, RoadId};
use crate::network::Restriction;
use crate::scenario::Scenario;

/// Edits of agents and flows whose places have moved, or are gone (`None`).
///
/// Who starts at a place that is gone goes with it, as do flows from or to it; goals there are
/// forgotten.
pub(super) fn with_places(
    scenario: &Scenario,
    moved: impl Fn(&Place) -> Option<Place>,
) -> Vec<(ObjectId, Edit)> {
    let mut edits = Vec::new();
    for (&id, agent) in scenario.agents() {
        let mut changed = agent.clone();
        changed.via = agent.via.iter().filter_map(&moved).collect();
        changed.destination = agent.destination.as_ref().and_then(&moved);
        let kept = moved(&agent.start).map(|start| {
            changed.start = start;
            Box::new(changed)
        });
        if kept.as_deref() != Some(agent) {
            edits.push((ObjectId::Agent(id), Edit::Agent(id, kept)));
        }
    }
    for (&id, flow) in scenario.flows() {
        let mut changed = flow.clone();
        let places = (moved(&flow.origin), moved(&flow.destination));
        let kept = if let (Some(origin), Some(destination)) = places {
            (changed.origin, changed.destination) = (origin, destination);
            Some(Box::new(changed))
        } else {
            None
        };
        if kept.as_deref() != Some(flow) {
            edits.push((ObjectId::Flow(id), Edit::Flow(id, kept)));
        }
    }
    edits
}

/// Edits of the nodes whose turn restrictions change; one that becomes `None` is forgotten.
pub(super) fn with_restrictions(
    scenario: &Scenario,
    changed: impl Fn(crate::ids::NodeId, &Restriction) -> Option<Restriction>,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (id, node) in scenario.network().nodes() {
        let restrictions: Vec<_> = node
            .restrictions
            .iter()
            .filter_map(|restriction| changed(id, restriction))
            .collect();
        if restrictions != node.restrictions {
            let mut node = node.clone();
            node.restrictions = restrictions;
            edits.push(Edit::Node(id, Some(node)));
        }
    }
    edits
}

/// A restriction that speaks of other roads.
pub(super) fn renamed(restriction: &Restriction, name: impl Fn(RoadId) -> RoadId) -> Restriction {
    Restriction {
        kind: restriction.kind,
        from: name(restriction.from),
        to: name(restriction.to),
    }
}
