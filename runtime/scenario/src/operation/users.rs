//! Agents, flows and turn restrictions that refer to roads: what has to change when roads do.

use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{ObjectId, RoadId};
use crate::network::Restriction;
use crate::scenario::Scenario;

/// Edits of the agents and flows whose places change; `moved` returns `None` for a place that is
/// deleted.
///
/// An agent that starts at a deleted place is deleted too, as are flows from or to it; goals there
/// are dropped.
pub(super) fn with_places(
    scenario: &Scenario,
    moved: impl Fn(&Place) -> Option<Place>,
) -> Vec<(ObjectId, Edit)> {
    let mut edits = Vec::new();
    for (&id, agent) in scenario.agents() {
        // A way-point less only shortens the trip, and an agent without a destination ends at its
        // last way-point. Without a start there is no agent.
        let mut changed = agent.clone();
        changed.via = agent.via.iter().filter_map(&moved).collect();
        changed.destination = agent.destination.as_ref().and_then(&moved);
        let kept = moved(&agent.start).map(|start| {
            changed.start = start;
            Box::new(changed)
        });
        // Agents that stay as they are get no edit: an operation on one road of a town of 10,000
        // agents yields the edits of those on it, and undo is as short.
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

/// Edits of the nodes whose turn restrictions change; one that becomes `None` is dropped.
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

/// A restriction with other names of its roads.
pub(super) fn renamed(restriction: &Restriction, name: impl Fn(RoadId) -> RoadId) -> Restriction {
    Restriction {
        kind: restriction.kind,
        from: name(restriction.from),
        to: name(restriction.to),
    }
}
