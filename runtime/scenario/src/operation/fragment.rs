//! Copy and paste: a piece of a scenario is a scenario itself, so its text can be pasted anywhere.

use super::motion::Motion;
use super::{Objects, OperationError};
use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{
    AgentId, FlowId, ForestId, NodeId, ObjectId, ObstacleId, PointOfInterestId, RoadId,
};
use crate::scenario::Scenario;
use std::collections::BTreeMap;

/// A scenario of the objects alone: roads with their nodes, agents and flows whose roads are in
/// it, vehicle types and stacks that they need.
pub fn copied(scenario: &Scenario, objects: &Objects) -> Scenario {
    let mut copy = Scenario::default();
    copy.about.driving_side = scenario.about().driving_side;
    let has = |id| objects.contains(&id);
    let chosen = || {
        let roads = scenario.network().roads();
        roads.filter(|(id, _)| has(ObjectId::Road(*id)))
    };
    for (_, road) in chosen() {
        for id in [road.from, road.to] {
            if let Some(node) = scenario.network().node(id) {
                let mut node = node.clone();
                node.restrictions
                    .retain(|r| has(ObjectId::Road(r.from)) && has(ObjectId::Road(r.to)));
                copy.network.put_node(id, node);
            }
        }
    }
    for (id, road) in chosen() {
        copy.network.put_road(id, road.clone());
    }
    let keep = |id| has(ObjectId::Obstacle(id));
    copy.obstacles = subset(&scenario.obstacles, keep);
    copy.forests = subset(&scenario.forests, |id| has(ObjectId::Forest(id)));
    let keep = |id| has(ObjectId::PointOfInterest(id));
    copy.points_of_interest = subset(&scenario.points_of_interest, keep);
    let on_copy = |place: &Place| match place {
        Place::Lane(at) => has(ObjectId::Road(at.road)),
        Place::Ground(_) => true,
    };
    copy.agents = subset(&scenario.agents, |id| has(ObjectId::Agent(id)));
    copy.agents.retain(|_, agent| on_copy(&agent.start));
    for agent in copy.agents.values_mut() {
        agent.via.retain(on_copy);
        agent.destination = agent.destination.filter(on_copy);
    }
    copy.flows = subset(&scenario.flows, |id| has(ObjectId::Flow(id)));
    copy.flows
        .retain(|_, flow| on_copy(&flow.origin) && on_copy(&flow.destination));
    let users = || {
        let agents = copy.agents.values().map(|a| (&a.vehicle, &a.stack));
        agents.chain(copy.flows.values().map(|f| (&f.vehicle, &f.stack)))
    };
    let needed = |map_key: &String, of: fn((&String, &String)) -> String| {
        users().any(|user| of(user) == *map_key)
    };
    let vehicles = scenario.vehicle_types.iter();
    let types: BTreeMap<_, _> = vehicles
        .filter(|(key, _)| needed(key, |user| user.0.clone()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let stacks: BTreeMap<_, _> = scenario
        .stacks
        .iter()
        .filter(|(key, _)| needed(key, |user| user.1.clone()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    copy.vehicle_types = types;
    copy.stacks = stacks;
    copy
}

fn subset<K: Ord + Copy, V: Clone>(
    map: &BTreeMap<K, V>,
    keep: impl Fn(K) -> bool,
) -> BTreeMap<K, V> {
    let kept = map.iter().filter(|(key, _)| keep(**key));
    kept.map(|(key, value)| (*key, value.clone())).collect()
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
        place(&mut agent.start);
        agent.via.iter_mut().for_each(place);
        agent.destination.iter_mut().for_each(place);
        objects.insert(ObjectId::Agent(AgentId(id)));
        edits.push(Edit::Agent(AgentId(id), Some(Box::new(agent))));
    }
    let first = scenario.next_flow_id().0;
    for (flow, id) in piece.flows.values().zip(first..) {
        let mut flow = flow.clone();
        place(&mut flow.origin);
        place(&mut flow.destination);
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
