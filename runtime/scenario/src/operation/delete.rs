//! Taking objects out, with what cannot be without them.

use super::Objects;
use crate::agents::{Agent, Flow, Place};
use crate::edit::Edit;
use crate::ids::{NodeId, ObjectId, RoadId};
use crate::scenario::Scenario;
use std::collections::BTreeSet;

/// The edit that takes objects out.
///
/// A node takes the roads that end there along, a road the agents that start on it, flows from or
/// to it, and nodes that nothing else ends at. Destinations and way-points on a road that goes are
/// forgotten. Ids that do not exist are left out.
pub fn deleted(scenario: &Scenario, objects: &Objects) -> Edit {
    let network = scenario.network();
    let mut roads = BTreeSet::new();
    let mut nodes = BTreeSet::new();
    for object in objects {
        match *object {
            ObjectId::Road(id) if network.road(id).is_some() => {
                roads.insert(id);
            }
            ObjectId::Node(id) if network.node(id).is_some() => {
                roads.extend(network.ends_at(id).into_iter().map(|(road, _)| road));
                nodes.insert(id);
            }
            _ => {}
        }
    }
    nodes.extend(bare_nodes(scenario, &roads));
    let mut edits = Vec::new();
    for (&id, agent) in scenario.agents() {
        if objects.contains(&ObjectId::Agent(id)) || stands_on(&agent.start, &roads) {
            edits.push(Edit::Agent(id, None));
        } else if let Some(agent) = without_goals_on(agent, &roads) {
            edits.push(Edit::Agent(id, Some(Box::new(agent))));
        }
    }
    let uses =
        |flow: &Flow| stands_on(&flow.origin, &roads) || stands_on(&flow.destination, &roads);
    for (&id, flow) in scenario.flows() {
        if objects.contains(&ObjectId::Flow(id)) || uses(flow) {
            edits.push(Edit::Flow(id, None));
        }
    }
    for &id in scenario.obstacles().keys() {
        if objects.contains(&ObjectId::Obstacle(id)) {
            edits.push(Edit::Obstacle(id, None));
        }
    }
    for &id in scenario.forests().keys() {
        if objects.contains(&ObjectId::Forest(id)) {
            edits.push(Edit::Forest(id, None));
        }
    }
    for &id in scenario.points_of_interest().keys() {
        if objects.contains(&ObjectId::PointOfInterest(id)) {
            edits.push(Edit::PointOfInterest(id, None));
        }
    }
    for (id, node) in network.nodes().filter(|(id, _)| !nodes.contains(id)) {
        let dangles = |road: &RoadId| roads.contains(road);
        if node
            .restrictions
            .iter()
            .any(|r| dangles(&r.from) || dangles(&r.to))
        {
            let mut node = node.clone();
            node.restrictions
                .retain(|r| !dangles(&r.from) && !dangles(&r.to));
            edits.push(Edit::Node(id, Some(node)));
        }
    }
    edits.extend(roads.into_iter().map(|id| Edit::Road(id, None)));
    edits.extend(nodes.into_iter().map(|id| Edit::Node(id, None)));
    Edit::Batch(edits)
}

/// Nodes at which nothing ends once the roads are gone.
fn bare_nodes(scenario: &Scenario, roads: &BTreeSet<RoadId>) -> BTreeSet<NodeId> {
    let network = scenario.network();
    roads
        .iter()
        .filter_map(|id| network.road(*id))
        .flat_map(|road| [road.from, road.to])
        .filter(|node| {
            network
                .ends_at(*node)
                .iter()
                .all(|(road, _)| roads.contains(road))
        })
        .collect()
}

fn stands_on(place: &Place, roads: &BTreeSet<RoadId>) -> bool {
    matches!(place, Place::Lane(at) if roads.contains(&at.road))
}

fn without_goals_on(agent: &Agent, roads: &BTreeSet<RoadId>) -> Option<Agent> {
    let mut changed = agent.clone();
    changed.via.retain(|place| !stands_on(place, roads));
    changed.destination = agent.destination.filter(|place| !stands_on(place, roads));
    (changed != *agent).then_some(changed)
}
