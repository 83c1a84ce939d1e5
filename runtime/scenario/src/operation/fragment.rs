//! Copy and paste. A copied piece of a scenario is itself a scenario, so its text can be pasted
//! anywhere.

use super::motion::Motion;
use super::{Objects, OperationError};
use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::{
    AgentId, FlowId, ForestId, GroupId, LandId, NodeId, ObjectId, ObstacleId, PointOfInterestId,
    RoadId,
};
use crate::scenario::{About, Scenario};
use std::collections::{BTreeMap, BTreeSet};

/// Returns a scenario with only the given objects: roads with their nodes, agents and flows whose roads are
/// included, and the vehicle types and stacks that they need.
pub fn copied(scenario: &Scenario, objects: &Objects) -> Scenario {
    let mut copy = Scenario::default();
    for edit in copies(scenario, objects) {
        copy.apply(edit)
            .expect("objects of a scenario, with everything that they name, fit an empty one");
    }
    for (&id, group) in &scenario.groups {
        let members = group.members().iter().copied();
        let group = group.with_members(members.filter(|member| copy.contains(*member)));
        // A single copied member of a group does not form a group.
        if group.members().len() > 1 {
            copy.groups.insert(id, group);
        }
    }
    copy
}

/// Returns the edits that put copies of objects into an empty scenario.
///
/// Each object precedes the objects that refer to it, because each edit is checked separately: vehicle types
/// and stacks before agents, nodes before roads, and roads before the agents on them.
fn copies(scenario: &Scenario, objects: &Objects) -> Vec<Edit> {
    let has_road = |id: RoadId| objects.contains(&ObjectId::Road(id));
    let on_copy = |place: &Place| match place {
        Place::Lane(at) => has_road(at.road),
        Place::Ground(_) => true,
    };
    // An agent needs only its start, because without a destination it can still stand there. A flow
    // needs both of its places, because it makes no sense without a destination.
    let agents: Vec<_> = scenario
        .agents
        .iter()
        .filter(|(id, agent)| objects.contains(&ObjectId::Agent(**id)) && on_copy(&agent.start))
        .collect();
    let flows: Vec<_> = scenario
        .flows
        .iter()
        .filter(|(id, _)| objects.contains(&ObjectId::Flow(**id)))
        .filter(|(_, flow)| flow.places().into_iter().all(on_copy))
        .collect();
    // The driving side is copied too, because the lanes of the roads are meaningless without it.
    let mut edits = vec![Edit::About(Box::new(About {
        driving_side: scenario.about().driving_side,
        ..About::default()
    }))];
    let of_agents = agents
        .iter()
        .map(|(_, agent)| (&agent.vehicle, &agent.stack));
    let of_flows = flows.iter().map(|(_, flow)| (&flow.vehicle, &flow.stack));
    let users: Vec<_> = of_agents.chain(of_flows).collect();
    edits.extend(used_kinds(scenario, &users));
    edits.extend(road_copies(scenario, has_road));
    edits.extend(thing_copies(scenario, objects));
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

/// Returns the edits for the vehicle types and stacks that users refer to. `users` contains pairs
/// of (vehicle type, stack).
fn used_kinds(scenario: &Scenario, users: &[(&String, &String)]) -> Vec<Edit> {
    let vehicles = scenario
        .vehicle_types
        .iter()
        .filter(|(key, _)| users.iter().any(|user| user.0 == *key))
        .map(|(key, vehicle)| Edit::VehicleType(key.clone(), Some(Box::new(vehicle.clone()))));
    let stacks = scenario
        .stacks
        .iter()
        .filter(|(key, _)| users.iter().any(|user| user.1 == *key))
        .map(|(key, stack)| Edit::Stack(key.clone(), Some(Box::new(stack.clone()))));
    vehicles.chain(stacks).collect()
}

/// Returns the edits for obstacles, forests, land and points of interest, which do not refer to
/// other objects.
fn thing_copies(scenario: &Scenario, objects: &Objects) -> Vec<Edit> {
    let copy = |object: &ObjectId| match *object {
        ObjectId::Obstacle(id) => {
            let obstacle = scenario.obstacles.get(&id)?.clone();
            Some(Edit::Obstacle(id, Some(Box::new(obstacle))))
        }
        ObjectId::Forest(id) => {
            let forest = scenario.forests.get(&id)?.clone();
            Some(Edit::Forest(id, Some(Box::new(forest))))
        }
        ObjectId::Land(id) => {
            let land = scenario.land.get(&id)?.clone();
            Some(Edit::Land(id, Some(Box::new(land))))
        }
        ObjectId::PointOfInterest(id) => {
            let point = scenario.points_of_interest.get(&id)?.clone();
            Some(Edit::PointOfInterest(id, Some(Box::new(point))))
        }
        ObjectId::Node(_) | ObjectId::Road(_) | ObjectId::Agent(_) | ObjectId::Flow(_) => None,
    };
    objects.iter().filter_map(copy).collect()
}

/// Returns the edits for roads and the nodes at their ends, with the turn restrictions among these
/// roads.
fn road_copies(scenario: &Scenario, has: impl Fn(RoadId) -> bool) -> Vec<Edit> {
    let network = scenario.network();
    let chosen = || network.roads().filter(|(id, _)| has(*id));
    let ends: BTreeSet<NodeId> = chosen()
        .flat_map(|(_, road)| [road.from, road.to])
        .collect();
    // A rule is copied only if all roads that it names are copied.
    let nodes = network.nodes().filter(|(id, _)| ends.contains(id));
    let nodes = nodes.map(|(id, node)| {
        let mut node = node.clone();
        node.rules = node.rules.on_roads(|road| has(road).then_some(road));
        Edit::Node(id, Some(node))
    });
    let roads = chosen().map(|(id, road)| Edit::Road(id, Some(Box::new(road.clone()))));
    nodes.chain(roads).collect()
}

/// Returns the edit that adds all of `piece` to a scenario with new ids, moved by `motion`, and the
/// list of new objects.
///
/// Vehicle types and stacks are not replaced if the scenario already has the same key.
///
/// # Errors
/// If a road would be outside the world.
pub fn pasted(
    scenario: &Scenario,
    piece: &Scenario,
    motion: &Motion,
) -> Result<(Edit, Objects), OperationError> {
    let (next_node, next_road) = (
        scenario.network().next_node_id().0,
        scenario.network().next_road_id().0,
    );
    // New ids follow the largest one in use, in the order of the old ones: if a piece with the
    // roads 3, 7 and 8 is pasted into a scenario whose last road is 20, they become the roads 21,
    // 22 and 23. A piece can therefore be pasted any number of times, and the same paste always
    // gives the same ids.
    let mut pasting = Pasting {
        scenario,
        piece,
        motion,
        nodes: new_ids(piece.network.nodes().map(|(id, _)| id), next_node, NodeId),
        roads: new_ids(piece.network.roads().map(|(id, _)| id), next_road, RoadId),
        edits: Vec::new(),
        objects: Objects::new(),
        names: BTreeMap::new(),
    };
    pasting.add_network()?;
    pasting.add_kinds();
    pasting.add_things();
    pasting.add_agents();
    pasting.add_groups();
    Ok((Edit::Batch(pasting.edits), pasting.objects))
}

/// A paste that is being assembled. Objects are added after the objects to which they refer.
struct Pasting<'a> {
    scenario: &'a Scenario,
    piece: &'a Scenario,
    motion: &'a Motion,
    /// New ids of nodes, by their ids in the copied piece.
    nodes: BTreeMap<NodeId, NodeId>,
    roads: BTreeMap<RoadId, RoadId>,
    edits: Vec<Edit>,
    /// The new objects, so that a tool can select them. Nodes are not included, because they are moved with
    /// their roads.
    objects: Objects,
    /// The new objects, by their ids in the copied piece.
    names: BTreeMap<ObjectId, ObjectId>,
}

impl Pasting<'_> {
    fn add_network(&mut self) -> Result<(), OperationError> {
        let roads = &self.roads;
        for (id, node) in self.piece.network.nodes() {
            let mut node = node.clone();
            let p = self.motion.point(node.position());
            (*node.x, *node.y) = (p.x, p.y);
            // The text of a piece may come from anywhere, so rules that name roads outside the piece are
            // dropped.
            node.rules = node.rules.on_roads(|road| roads.get(&road).copied());
            self.edits.push(Edit::Node(self.nodes[&id], Some(node)));
        }
        for (id, road) in self.piece.network.roads() {
            let mut road = road.clone();
            (road.from, road.to) = (self.nodes[&road.from], self.nodes[&road.to]);
            road.reference_line = self.motion.line(&road.reference_line)?;
            self.objects.insert(ObjectId::Road(roads[&id]));
            let new = ObjectId::Road(roads[&id]);
            self.names.insert(ObjectId::Road(id), new);
            self.edits
                .push(Edit::Road(roads[&id], Some(Box::new(road))));
        }
        Ok(())
    }

    /// Adds vehicle types and stacks whose keys the scenario does not have yet.
    fn add_kinds(&mut self) {
        for (key, kind) in &self.piece.vehicle_types {
            if !self.scenario.vehicle_types.contains_key(key) {
                let kind = Some(Box::new(kind.clone()));
                self.edits.push(Edit::VehicleType(key.clone(), kind));
            }
        }
        for (key, stack) in &self.piece.stacks {
            if !self.scenario.stacks.contains_key(key) {
                let stack = Some(Box::new(stack.clone()));
                self.edits.push(Edit::Stack(key.clone(), stack));
            }
        }
    }

    fn add_things(&mut self) {
        let (piece, motion) = (self.piece, self.motion);
        let first = self.scenario.next_obstacle_id().0;
        for ((old, obstacle), id) in piece.obstacles.iter().zip(first..) {
            self.names
                .insert(ObjectId::Obstacle(*old), ObjectId::Obstacle(ObstacleId(id)));
            let mut obstacle = obstacle.clone();
            obstacle.shape = motion.shape(&obstacle.shape);
            let id = ObstacleId(id);
            self.add(
                ObjectId::Obstacle(id),
                Edit::Obstacle(id, Some(Box::new(obstacle))),
            );
        }
        let first = self.scenario.next_forest_id().0;
        for ((old, forest), id) in piece.forests.iter().zip(first..) {
            self.names
                .insert(ObjectId::Forest(*old), ObjectId::Forest(ForestId(id)));
            let mut forest = forest.clone();
            forest.area.iter_mut().for_each(|p| *p = motion.point(*p));
            let id = ForestId(id);
            self.add(
                ObjectId::Forest(id),
                Edit::Forest(id, Some(Box::new(forest))),
            );
        }
        let first = self.scenario.next_land_id().0;
        for ((old, land), id) in piece.land.iter().zip(first..) {
            self.names
                .insert(ObjectId::Land(*old), ObjectId::Land(LandId(id)));
            let id = LandId(id);
            let land = Some(Box::new(motion.land(land)));
            self.add(ObjectId::Land(id), Edit::Land(id, land));
        }
        let first = self.scenario.next_point_of_interest_id().0;
        for ((old, point), id) in piece.points_of_interest.iter().zip(first..) {
            self.names.insert(
                ObjectId::PointOfInterest(*old),
                ObjectId::PointOfInterest(PointOfInterestId(id)),
            );
            let point = motion.point_of_interest(point);
            let id = PointOfInterestId(id);
            self.add(
                ObjectId::PointOfInterest(id),
                Edit::PointOfInterest(id, Some(Box::new(point))),
            );
        }
    }

    fn add_agents(&mut self) {
        let piece = self.piece;
        let first = self.scenario.next_agent_id().0;
        for ((old, agent), id) in piece.agents.iter().zip(first..) {
            self.names
                .insert(ObjectId::Agent(*old), ObjectId::Agent(AgentId(id)));
            let mut agent = agent.clone();
            agent
                .places_mut()
                .for_each(|place| *place = self.pasted_place(place));
            let id = AgentId(id);
            self.add(ObjectId::Agent(id), Edit::Agent(id, Some(Box::new(agent))));
        }
        let first = self.scenario.next_flow_id().0;
        for ((old, flow), id) in piece.flows.iter().zip(first..) {
            self.names
                .insert(ObjectId::Flow(*old), ObjectId::Flow(FlowId(id)));
            let mut flow = flow.clone();
            for place in flow.places_mut() {
                *place = self.pasted_place(place);
            }
            let id = FlowId(id);
            self.add(ObjectId::Flow(id), Edit::Flow(id, Some(Box::new(flow))));
        }
    }

    /// Adds groups of the new objects under new ids.
    fn add_groups(&mut self) {
        let first = self.scenario.next_group_id().0;
        for (group, id) in self.piece.groups.values().zip(first..) {
            let members = group.members().iter();
            let members = members.filter_map(|member| self.names.get(member).copied());
            let group = Box::new(group.with_members(members));
            self.edits.push(Edit::Group(GroupId(id), Some(group)));
        }
    }

    fn add(&mut self, object: ObjectId, edit: Edit) {
        self.objects.insert(object);
        self.edits.push(edit);
    }

    /// Returns a place after pasting. A place on a lane gets the new id of its road, and a place on
    /// the ground is moved by the motion.
    fn pasted_place(&self, place: &Place) -> Place {
        match *place {
            // The look-up cannot fail, because no place in a scenario names a road that does not exist.
            Place::Lane(at) => Place::lane(self.roads[&at.road], at.lane, at.s.get()),
            Place::Ground(ground) => self.motion.ground(ground),
        }
    }
}

fn new_ids<K: Ord>(
    old: impl Iterator<Item = K>,
    first: u32,
    make: impl Fn(u32) -> K,
) -> BTreeMap<K, K> {
    old.zip(first..).map(|(id, new)| (id, make(new))).collect()
}
