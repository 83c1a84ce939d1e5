//! Copy and paste: a piece of a scenario is a scenario itself, so its text can be pasted anywhere.

use super::motion::Motion;
use super::{Objects, OperationError};
use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{
    AgentId, FlowId, ForestId, NodeId, ObjectId, ObstacleId, PointOfInterestId, RoadId,
};
use crate::scenario::{About, Scenario};
use std::collections::{BTreeMap, BTreeSet};

/// A scenario of the objects alone: roads with their nodes, agents and flows whose roads are in
/// it, vehicle types and stacks that they need.
pub fn copied(scenario: &Scenario, objects: &Objects) -> Scenario {
    let mut copy = Scenario::default();
    for edit in copies(scenario, objects) {
        copy.apply(edit)
            .expect("what a scenario holds, with all that it names, fits an empty one");
    }
    copy
}

/// The edits that put copies of objects into an empty scenario: what others name comes first.
fn copies(scenario: &Scenario, objects: &Objects) -> Vec<Edit> {
    let has = |id| objects.contains(&id);
    let has_road = |id: RoadId| has(ObjectId::Road(id));
    let on_copy = |place: &Place| match place {
        Place::Lane(at) => has_road(at.road),
        Place::Ground(_) => true,
    };
    let agents: Vec<_> = scenario
        .agents
        .iter()
        .filter(|(id, agent)| has(ObjectId::Agent(**id)) && on_copy(&agent.start))
        .collect();
    let flows: Vec<_> = scenario
        .flows
        .iter()
        .filter(|(id, flow)| has(ObjectId::Flow(**id)) && flow.places().into_iter().all(on_copy))
        .collect();
    let mut edits = vec![Edit::About(Box::new(About {
        driving_side: scenario.about().driving_side,
        ..About::default()
    }))];
    let of_agents = agents
        .iter()
        .map(|(_, agent)| (&agent.vehicle, &agent.stack));
    let of_flows = flows.iter().map(|(_, flow)| (&flow.vehicle, &flow.stack));
    let users: Vec<_> = of_agents.chain(of_flows).collect();
    for (key, vehicle) in &scenario.vehicle_types {
        if users.iter().any(|user| user.0 == key) {
            edits.push(Edit::VehicleType(
                key.clone(),
                Some(Box::new(vehicle.clone())),
            ));
        }
    }
    for (key, stack) in &scenario.stacks {
        if users.iter().any(|user| user.1 == key) {
            edits.push(Edit::Stack(key.clone(), Some(Box::new(stack.clone()))));
        }
    }
    edits.extend(road_copies(scenario, has_road));
    for (&id, obstacle) in &scenario.obstacles {
        if has(ObjectId::Obstacle(id)) {
            edits.push(Edit::Obstacle(id, Some(Box::new(obstacle.clone()))));
        }
    }
    for (&id, forest) in &scenario.forests {
        if has(ObjectId::Forest(id)) {
            edits.push(Edit::Forest(id, Some(Box::new(forest.clone()))));
        }
    }
    for (&id, point) in &scenario.points_of_interest {
        if has(ObjectId::PointOfInterest(id)) {
            edits.push(Edit::PointOfInterest(id, Some(Box::new(point.clone()))));
        }
    }
    for (&id, agent) in agents {
        let mut agent = agent.clone();
        agent.via.retain(on_copy);
        agent.destination = agent.destination.filter(on_copy);
        edits.push(Edit::Agent(id, Some(Box::new(agent))));
    }
    for (&id, flow) in flows {
        edits.push(Edit::Flow(id, Some(Box::new(flow.clone()))));
    }
    edits
}

/// The edits for roads and the nodes at their ends, with the turn restrictions among them.
fn road_copies(scenario: &Scenario, has: impl Fn(RoadId) -> bool) -> Vec<Edit> {
    let network = scenario.network();
    let chosen = || network.roads().filter(|(id, _)| has(*id));
    let ends: BTreeSet<NodeId> = chosen()
        .flat_map(|(_, road)| [road.from, road.to])
        .collect();
    let nodes = network.nodes().filter(|(id, _)| ends.contains(id));
    let nodes = nodes.map(|(id, node)| {
        let mut node = node.clone();
        node.restrictions.retain(|r| has(r.from) && has(r.to));
        Edit::Node(id, Some(node))
    });
    let roads = chosen().map(|(id, road)| Edit::Road(id, Some(Box::new(road.clone()))));
    nodes.chain(roads).collect()
}

/// The edit that adds all of `piece` to a scenario under new ids, moved by `motion`, and the new
/// objects.
///
/// Vehicle types and stacks that the scenario has already under the same key are not replaced.
///
/// # Errors
/// If a road would leave the world.
pub fn pasted(
    scenario: &Scenario,
    piece: &Scenario,
    motion: &Motion,
) -> Result<(Edit, Objects), OperationError> {
    let mut edits = Vec::new();
    let mut objects = Objects::new();
    let (next_node, next_road) = (
        scenario.network().next_node_id().0,
        scenario.network().next_road_id().0,
    );
    let nodes: BTreeMap<NodeId, NodeId> =
        new_ids(piece.network.nodes().map(|(id, _)| id), next_node, NodeId);
    let roads: BTreeMap<RoadId, RoadId> =
        new_ids(piece.network.roads().map(|(id, _)| id), next_road, RoadId);
    for (id, node) in piece.network.nodes() {
        let mut node = node.clone();
        let p = motion.point(node.position());
        (node.x, node.y) = (p.x, p.y);
        let known = |id: &RoadId| roads.contains_key(id);
        node.restrictions.retain(|r| known(&r.from) && known(&r.to));
        for restriction in &mut node.restrictions {
            restriction.from = roads[&restriction.from];
            restriction.to = roads[&restriction.to];
        }
        edits.push(Edit::Node(nodes[&id], Some(node)));
    }
    for (id, road) in piece.network.roads() {
        let mut road = road.clone();
        (road.from, road.to) = (nodes[&road.from], nodes[&road.to]);
        road.reference_line = motion.line(&road.reference_line)?;
        objects.insert(ObjectId::Road(roads[&id]));
        edits.push(Edit::Road(roads[&id], Some(Box::new(road))));
    }
    for (key, kind) in &piece.vehicle_types {
        if !scenario.vehicle_types.contains_key(key) {
            edits.push(Edit::VehicleType(key.clone(), Some(Box::new(kind.clone()))));
        }
    }
    for (key, stack) in &piece.stacks {
        if !scenario.stacks.contains_key(key) {
            edits.push(Edit::Stack(key.clone(), Some(Box::new(stack.clone()))));
        }
    }
    let first = scenario.next_obstacle_id().0;
    for (obstacle, id) in piece.obstacles.values().zip(first..) {
        let mut obstacle = obstacle.clone();
        obstacle.shape = motion.shape(&obstacle.shape);
        objects.insert(ObjectId::Obstacle(ObstacleId(id)));
        edits.push(Edit::Obstacle(ObstacleId(id), Some(Box::new(obstacle))));
    }
    let first = scenario.next_forest_id().0;
    for (forest, id) in piece.forests.values().zip(first..) {
        let mut forest = forest.clone();
        forest.area.iter_mut().for_each(|p| *p = motion.point(*p));
        objects.insert(ObjectId::Forest(ForestId(id)));
        edits.push(Edit::Forest(ForestId(id), Some(Box::new(forest))));
    }
    let first = scenario.next_point_of_interest_id().0;
    for (point, id) in piece.points_of_interest.values().zip(first..) {
        let id = PointOfInterestId(id);
        objects.insert(ObjectId::PointOfInterest(id));
        let point = motion.point_of_interest(point);
        edits.push(Edit::PointOfInterest(id, Some(Box::new(point))));
    }
    let place = |place: &mut Place| {
        *place = match *place {
            Place::Lane(at) => Place::lane(roads[&at.road], at.lane, at.s),
            Place::Ground(ground) => motion.ground(ground),
        };
    };
    let first = scenario.next_agent_id().0;
    for (agent, id) in piece.agents.values().zip(first..) {
        let mut agent = agent.clone();
        agent.places_mut().for_each(place);
        objects.insert(ObjectId::Agent(AgentId(id)));
        edits.push(Edit::Agent(AgentId(id), Some(Box::new(agent))));
    }
    let first = scenario.next_flow_id().0;
    for (flow, id) in piece.flows.values().zip(first..) {
        let mut flow = flow.clone();
        flow.places_mut().into_iter().for_each(place);
        objects.insert(ObjectId::Flow(FlowId(id)));
        edits.push(Edit::Flow(FlowId(id), Some(Box::new(flow))));
    }
    Ok((Edit::Batch(edits), objects))
}

fn new_ids<K: Ord>(
    old: impl Iterator<Item = K>,
    first: u32,
    make: impl Fn(u32) -> K,
) -> BTreeMap<K, K> {
    old.zip(first..).map(|(id, new)| (id, make(new))).collect()
}
