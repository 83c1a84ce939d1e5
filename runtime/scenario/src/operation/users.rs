//! Agents, flows and junction rules that refer to roads, and that have to change together with the roads.

use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{NodeId, ObjectId, RoadId};
use crate::junction_rules::RoadLane;
use crate::network::Node;
use crate::scenario::Scenario;

/// Returns the edits of the agents and flows whose places change. `moved` returns `None` for a
/// deleted place.
///
/// Agents that start at a deleted place and flows from or to it are also deleted. Goals there are
/// dropped.
pub(super) fn with_places(
    scenario: &Scenario,
    moved: impl Fn(&Place) -> Option<Place>,
) -> Vec<(ObjectId, Edit)> {
    let mut edits = Vec::new();
    for (&id, agent) in scenario.agents() {
        // A trip without one of its waypoints is only shorter, and an agent without a destination
        // ends at its last waypoint. But an agent cannot exist without a start.
        let mut changed = agent.clone();
        changed.via = agent.via.iter().filter_map(&moved).collect();
        changed.destination = agent.destination.as_ref().and_then(&moved);
        let kept = moved(&agent.start).map(|start| {
            changed.start = start;
            Box::new(changed)
        });
        // Unchanged agents get no edit. In a town of 10,000 agents, an operation on one road
        // therefore results only in edits of the agents on that road, and so does undoing it.
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

/// Returns the edits of the nodes whose rules refer to renamed roads. Entries for a road without a new id are
/// dropped.
pub(super) fn with_rules(
    scenario: &Scenario,
    name: impl Fn(NodeId, RoadId) -> Option<RoadId>,
) -> Vec<Edit> {
    with_lane_rules(scenario, |node, RoadLane { road, lane }| {
        Some(RoadLane {
            road: name(node, road)?,
            lane,
        })
    })
}

/// Like `with_rules`, but lane ids also change. For rules about whole roads, lane 0 is looked up.
pub(super) fn with_lane_rules(
    scenario: &Scenario,
    place: impl Fn(NodeId, RoadLane) -> Option<RoadLane>,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (id, node) in scenario.network().nodes() {
        let rules = node.rules.on_lanes(|lane| place(id, lane));
        if rules != node.rules {
            edits.push(Edit::Node(
                id,
                Some(Node {
                    rules,
                    ..node.clone()
                }),
            ));
        }
    }
    edits
}
