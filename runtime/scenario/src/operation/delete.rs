//! Deletes objects, together with everything that cannot exist without them.

use super::Objects;
use super::users::{with_places, with_rules};
use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{NodeId, ObjectId, RoadId};
use crate::scenario::Scenario;
use std::collections::BTreeSet;

/// Returns the edit that deletes objects.
///
/// Deleting a node also deletes its roads. Deleting a road also deletes the agents that start on
/// it, the flows from or to it, and the nodes where no other road ends. Destinations and waypoints
/// on a deleted road are dropped. Ids that do not exist are ignored.
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
    // With this order, every edit is valid on its own. Deleting a road is rejected while an agent
    // stands on it, and deleting a node is rejected while a road ends there:
    //
    //     agents, flows  ->  rules  ->  roads  ->  nodes
    //
    // The inverse of the batch runs backwards, so nodes are restored first and agents last.
    let mut edits: Vec<_> = objects
        .iter()
        .filter_map(|object| taken_out(scenario, *object))
        .collect();
    let left = |place: &Place| (!stands_on(place, &roads)).then_some(*place);
    let followers = with_places(scenario, left).into_iter();
    // Agents and flows that are themselves deleted already have an edit. A second edit would fail, because
    // they no longer exist.
    edits.extend(
        followers
            .filter(|(object, _)| !objects.contains(object))
            .map(|(_, edit)| edit),
    );
    edits.extend(with_rules(scenario, |node, road| {
        // The rules of a deleted node need no edit.
        (nodes.contains(&node) || !roads.contains(&road)).then_some(road)
    }));
    edits.extend(roads.into_iter().map(|id| Edit::Road(id, None)));
    edits.extend(nodes.into_iter().map(|id| Edit::Node(id, None)));
    Edit::Batch(edits)
}

/// Returns the nodes that have no roads left after the given roads have been deleted.
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

/// Returns the edit that deletes an object that no other object depends on; `None` if the object does not
/// exist.
fn taken_out(scenario: &Scenario, object: ObjectId) -> Option<Edit> {
    if !scenario.contains(object) {
        return None;
    }
    match object {
        // Other objects may use roads and nodes, so these are deleted at the end of the batch.
        ObjectId::Node(_) | ObjectId::Road(_) => None,
        ObjectId::Obstacle(id) => Some(Edit::Obstacle(id, None)),
        ObjectId::Forest(id) => Some(Edit::Forest(id, None)),
        ObjectId::PointOfInterest(id) => Some(Edit::PointOfInterest(id, None)),
        ObjectId::Agent(id) => Some(Edit::Agent(id, None)),
        ObjectId::Flow(id) => Some(Edit::Flow(id, None)),
        ObjectId::Land(id) => Some(Edit::Land(id, None)),
    }
}
