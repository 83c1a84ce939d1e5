//! Edits: values that describe every change of a scenario. Applying an edit returns its inverse.

use crate::agents::{Agent, Flow, Place};
use crate::group::Group;
use crate::ids::{
    AgentId, FlowId, ForestId, GroupId, LandId, NodeId, ObjectId, ObstacleId, PaintId,
    PointOfInterestId, RoadId,
};
use crate::land::Land;
use crate::lane_rules::check_lanes;
use crate::list_order::ListOrder;
use crate::network::Node;
use crate::objects::{Forest, Obstacle, PointOfInterest};
use crate::paint::PaintLayer;
use crate::quantity::Validate;
use crate::road::Road;
use crate::scenario::{About, Scenario, Settings};
use crate::stack::Stack;
use crate::vehicle_type::VehicleType;
use roadwright_geometry::HeightField;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// A change of a scenario.
///
/// For objects, `Some` inserts or replaces the object and `None` deletes it. An edit is
/// self-contained, so that it can be stored, sent and applied later.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "nodes are edited one by one; a batch of thousands comes from imports only, and is short-lived"
)]
pub enum Edit {
    /// Descriptive data of the scenario.
    About(Box<About>),
    /// Simulation settings.
    Settings(Settings),
    /// A node.
    Node(NodeId, Option<Node>),
    /// A road.
    Road(RoadId, Option<Box<Road>>),
    /// The whole terrain.
    Terrain(Option<Box<HeightField>>),
    /// Some terrain samples, each as an index and a height. Indices are counted row by row from the
    /// south-west.
    TerrainSamples(Vec<(usize, f64)>),
    /// An obstacle.
    Obstacle(ObstacleId, Option<Box<Obstacle>>),
    /// A forest.
    Forest(ForestId, Option<Box<Forest>>),
    /// An area of land.
    Land(LandId, Option<Box<Land>>),
    /// A layer of painted ground.
    Paint(PaintId, Option<Box<PaintLayer>>),
    /// A point of interest.
    PointOfInterest(PointOfInterestId, Option<Box<PointOfInterest>>),
    /// A vehicle type.
    VehicleType(String, Option<Box<VehicleType>>),
    /// A stack.
    Stack(String, Option<Box<Stack>>),
    /// An agent.
    Agent(AgentId, Option<Box<Agent>>),
    /// A flow.
    Flow(FlowId, Option<Box<Flow>>),
    /// A group of objects.
    Group(GroupId, Option<Box<Group>>),
    /// The order in which lists show vehicle types and stacks.
    Order(Box<ListOrder>),
    /// Several changes at once. Either all or none of them are applied.
    Batch(Vec<Edit>),
}

/// Reason why an edit cannot be applied. The scenario is unchanged.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EditError {
    /// A road names a node that does not exist.
    #[error("{road} ends at {node}, which does not exist")]
    NoSuchNode {
        /// The road.
        road: RoadId,
        /// The missing node.
        node: NodeId,
    },
    /// A node to be deleted is still in use.
    #[error("cannot delete {node}: {road} ends there")]
    NodeInUse {
        /// The node.
        node: NodeId,
        /// A road that ends at the node.
        road: RoadId,
    },
    /// The lanes of a road are missing or invalid.
    #[error("{road}: {why}")]
    BadLanes {
        /// The road.
        road: RoadId,
        /// The problem.
        why: &'static str,
    },
    /// The object to delete does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// An object to be deleted is still in use.
    #[error("cannot delete {what}: {user} uses it")]
    InUse {
        /// The object to be deleted.
        what: String,
        /// The first user of the object that was found.
        user: String,
    },
    /// An agent or flow names something that does not exist.
    #[error("{user} refers to {what}, which does not exist")]
    Dangling {
        /// Name of the agent or flow.
        user: String,
        /// The missing object.
        what: String,
    },
    /// A number is outside the range that files allow.
    #[error("{what}: {message}")]
    OutOfRange {
        /// The object.
        what: String,
        /// The problem.
        message: String,
    },
    /// The node already has the maximum number of road ends, so no further road can join it.
    #[error("{road}: {node} already has {MAX_ROAD_ENDS} road ends")]
    TooManyEnds {
        /// The road.
        road: RoadId,
        /// The node.
        node: NodeId,
    },
    /// A terrain sample does not exist, or its new height is out of range.
    #[error("terrain sample {index} cannot be set to {height}")]
    TerrainSample {
        /// Index of the sample.
        index: usize,
        /// The requested height, m.
        height: f64,
    },
}

impl Scenario {
    /// Applies an edit and returns its inverse.
    ///
    /// A deleted object leaves its groups; a group that becomes empty is deleted with it.
    ///
    /// Applying the inverse restores a scenario equal to the original. The cost depends on the number
    /// of changed objects; deleted objects also need a search for their users.
    ///
    /// # Errors
    /// If the change would break the integrity of the scenario. It is then unchanged.
    pub fn apply(&mut self, edit: Edit) -> Result<Edit, EditError> {
        // An inverse has the form of its edit with the old value in it:
        //
        //     edit                    before         inverse
        //     Road(7, Some(new))      no road 7      Road(7, None)
        //     Road(7, Some(new))      old road 7     Road(7, Some(old))
        //     Road(7, None)           old road 7     Road(7, Some(old))
        check_values(&edit)?;
        let leaving = deleted_object(&edit);
        let inverse = self.apply_checked(edit)?;
        let mut inverses = vec![inverse];
        if let Some(object) = leaving {
            inverses.extend(self.leave_groups(object));
        }
        // The object has to be restored before its groups refer to it again.
        Ok(match inverses.len() {
            1 => inverses.swap_remove(0),
            _ => Edit::Batch(inverses),
        })
    }

    /// Removes a deleted object from its groups. Returns the edits that put it back.
    fn leave_groups(&mut self, object: ObjectId) -> Vec<Edit> {
        let with_it = |(id, group): (&GroupId, &Group)| {
            let is_in = group.members().contains(&object);
            is_in.then(|| (*id, group.clone()))
        };
        let groups: Vec<_> = self.groups.iter().filter_map(with_it).collect();
        for (id, group) in &groups {
            let rest = group.members().iter().filter(|member| **member != object);
            let rest = group.with_members(rest.copied());
            if rest.members().is_empty() {
                self.groups.remove(id);
            } else {
                self.groups.insert(*id, rest);
            }
        }
        let back = |(id, group)| Edit::Group(id, Some(Box::new(group)));
        groups.into_iter().map(back).collect()
    }

    fn apply_checked(&mut self, edit: Edit) -> Result<Edit, EditError> {
        match edit {
            Edit::About(about) => Ok(Edit::About(Box::new(std::mem::replace(
                &mut self.about,
                *about,
            )))),
            Edit::Settings(settings) => {
                self.network.set_moment(settings.moment());
                let before = std::mem::replace(&mut self.settings, settings);
                Ok(Edit::Settings(before))
            }
            Edit::Node(id, Some(node)) => {
                check_id(id.0, &id)?;
                Ok(Edit::Node(id, self.network.put_node(id, node)))
            }
            Edit::Node(id, None) => self.take_node(id),
            Edit::Road(id, Some(road)) => self.put_road(id, *road),
            Edit::Road(id, None) => self.take_road(id),
            Edit::Terrain(terrain) => Ok(Edit::Terrain(
                std::mem::replace(&mut self.terrain, terrain.map(|t| Arc::new(*t)))
                    .map(|old| Box::new(Arc::unwrap_or_clone(old))),
            )),
            Edit::TerrainSamples(samples) => self.set_samples(&samples),
            Edit::Obstacle(id, value) => {
                let old = swap(Arc::make_mut(&mut self.obstacles), id, value, || {
                    id.to_string()
                })?;
                Ok(Edit::Obstacle(id, old))
            }
            Edit::Forest(id, value) => {
                let old = swap(&mut self.forests, id, value, || id.to_string())?;
                Ok(Edit::Forest(id, old))
            }
            Edit::Land(id, value) => {
                let old = swap(Arc::make_mut(&mut self.land), id, value, || id.to_string())?;
                Ok(Edit::Land(id, old))
            }
            Edit::Paint(id, value) => {
                check_id(id.0, &id)?;
                // Vehicle types that the layer names need not exist. An entry for a missing type has no
                // effect.
                let old = swap(Arc::make_mut(&mut self.paint), id, value, || id.to_string())?;
                Ok(Edit::Paint(id, old))
            }
            Edit::PointOfInterest(id, value) => {
                let old = swap(&mut self.points_of_interest, id, value, || id.to_string())?;
                Ok(Edit::PointOfInterest(id, old))
            }
            Edit::VehicleType(key, value) => self.swap_vehicle_type(key, value),
            Edit::Stack(key, value) => self.swap_stack(key, value),
            Edit::Agent(id, value) => {
                if let Some(agent) = &value {
                    self.check_user(&id, &agent.vehicle, &agent.stack, agent.places())?;
                }
                let old = swap(&mut self.agents, id, value, || id.to_string())?;
                Ok(Edit::Agent(id, old))
            }
            Edit::Flow(id, value) => {
                if let Some(flow) = &value {
                    self.check_user(&id, &flow.vehicle, &flow.stack, flow.places())?;
                }
                let old = swap(&mut self.flows, id, value, || id.to_string())?;
                Ok(Edit::Flow(id, old))
            }
            Edit::Group(id, value) => {
                check_id(id.0, &id)?;
                // Members need not exist, because groups are a convenience and nothing depends on them.
                let old = swap(&mut self.groups, id, value, || id.to_string())?;
                Ok(Edit::Group(id, old))
            }
            // As with group members, the names need not exist.
            Edit::Order(order) => Ok(Edit::Order(Box::new(std::mem::replace(
                &mut self.order,
                *order,
            )))),
            Edit::Batch(edits) => self.apply_all(edits),
        }
    }

    fn apply_all(&mut self, edits: Vec<Edit>) -> Result<Edit, EditError> {
        // All or nothing: if the third edit fails, the inverses of the second and the first are
        // applied. An inverse cannot fail, because it restores a valid state.
        //
        // The inverse of a batch contains the inverses in reverse order: after inserting [Node(1),
        // Road(2) at node 1], the road has to be deleted before the node.
        let mut inverses = Vec::with_capacity(edits.len());
        for edit in edits {
            match self.apply(edit) {
                Ok(inverse) => inverses.push(inverse),
                Err(error) => {
                    for inverse in inverses.into_iter().rev() {
                        self.apply(inverse)
                            .expect("the inverse of an applied edit is valid");
                    }
                    return Err(error);
                }
            }
        }
        inverses.reverse();
        Ok(Edit::Batch(inverses))
    }

    fn take_node(&mut self, id: NodeId) -> Result<Edit, EditError> {
        // References are checked in both directions: an inserted object may refer only to existing
        // objects, and an object that others refer to cannot be deleted. Therefore, no sequence of
        // edits leaves a dangling id. The only exception is turn restrictions: their ids may
        // dangle, in which case they have no effect.
        if let Some(&(road, _)) = self.network.ends_at(id).first() {
            return Err(EditError::NodeInUse { node: id, road });
        }
        match self.network.remove_node(id) {
            Some(node) => Ok(Edit::Node(id, Some(node))),
            None => Err(EditError::Missing(id.to_string())),
        }
    }

    fn put_road(&mut self, id: RoadId, road: Road) -> Result<Edit, EditError> {
        for node in [road.from, road.to] {
            if self.network.node(node).is_none() {
                return Err(EditError::NoSuchNode { road: id, node });
            }
            // The old version of a replaced road does not count.
            let others = self
                .network
                .ends_at(node)
                .into_iter()
                .filter(|end| end.0 != id);
            let own = 1 + usize::from(road.from == road.to);
            if others.count() + own > MAX_ROAD_ENDS {
                return Err(EditError::TooManyEnds { road: id, node });
            }
        }
        check_id(id.0, &id)?;
        check_lanes(&road).map_err(|why| EditError::BadLanes { road: id, why })?;
        Ok(Edit::Road(
            id,
            self.network.put_road(id, road).map(Box::new),
        ))
    }

    fn take_road(&mut self, id: RoadId) -> Result<Edit, EditError> {
        let stands_on = |place: &Place| matches!(place, Place::Lane(at) if at.road == id);
        let in_use = |user: String| EditError::InUse {
            what: id.to_string(),
            user,
        };
        for (agent_id, agent) in &self.agents {
            if agent.places().any(stands_on) {
                return Err(in_use(agent_id.to_string()));
            }
        }
        for (flow_id, flow) in &self.flows {
            if flow.places().into_iter().any(stands_on) {
                return Err(in_use(flow_id.to_string()));
            }
        }
        match self.network.remove_road(id) {
            Some(road) => Ok(Edit::Road(id, Some(Box::new(road)))),
            None => Err(EditError::Missing(id.to_string())),
        }
    }

    fn set_samples(&mut self, samples: &[(usize, f64)]) -> Result<Edit, EditError> {
        let wrong = |&(index, height): &(usize, f64)| EditError::TerrainSample { index, height };
        let first_error = || {
            samples
                .first()
                .map_or(EditError::Missing("terrain".into()), wrong)
        };
        let terrain = self.terrain.as_ref().ok_or_else(first_error)?;
        // The field is immutable and shared between copies of the scenario, so it is replaced as a whole.
        let mut heights = terrain.heights().to_vec();
        let mut old = Vec::with_capacity(samples.len());
        for sample in samples {
            let slot = heights.get_mut(sample.0).ok_or_else(|| wrong(sample))?;
            old.push((sample.0, std::mem::replace(slot, sample.1)));
        }
        // NaN also fails this comparison.
        let usable = |height: f64| height.abs() <= roadwright_geometry::MAX_COORDINATE;
        if let Some(sample) = samples.iter().find(|sample| !usable(sample.1)) {
            return Err(wrong(sample));
        }
        self.terrain = Some(Arc::new(
            terrain.with_heights(heights).map_err(|_| first_error())?,
        ));
        // An edit may set a sample twice. The inverse is in reverse order, so that the sample's
        // original value is restored last.
        old.reverse();
        Ok(Edit::TerrainSamples(old))
    }

    fn swap_vehicle_type(
        &mut self,
        key: String,
        value: Option<Box<VehicleType>>,
    ) -> Result<Edit, EditError> {
        if value.is_none() {
            self.check_unused("vehicle type", &key, |a| &a.vehicle, |f| &f.vehicle)?;
        }
        let old = swap(&mut self.vehicle_types, key.clone(), value, || {
            format!("vehicle type \"{key}\"")
        })?;
        Ok(Edit::VehicleType(key, old))
    }

    fn swap_stack(&mut self, key: String, value: Option<Box<Stack>>) -> Result<Edit, EditError> {
        if value.is_none() {
            self.check_unused("stack", &key, |a| &a.stack, |f| &f.stack)?;
        }
        let old = swap(&mut self.stacks, key.clone(), value, || {
            format!("stack \"{key}\"")
        })?;
        Ok(Edit::Stack(key, old))
    }

    fn check_unused(
        &self,
        kind: &str,
        key: &str,
        of_agent: impl Fn(&Agent) -> &String,
        of_flow: impl Fn(&Flow) -> &String,
    ) -> Result<(), EditError> {
        let agents = self.agents.iter().filter(|(_, a)| of_agent(a) == key);
        let flows = self.flows.iter().filter(|(_, f)| of_flow(f) == key);
        let mut users = agents
            .map(|(id, _)| id.to_string())
            .chain(flows.map(|(id, _)| id.to_string()));
        match users.next() {
            Some(user) => Err(EditError::InUse {
                what: format!("{kind} \"{key}\""),
                user,
            }),
            None => Ok(()),
        }
    }

    fn check_user<'a>(
        &self,
        user: &impl fmt::Display,
        vehicle: &str,
        stack: &str,
        places: impl IntoIterator<Item = &'a Place>,
    ) -> Result<(), EditError> {
        let dangling = |what: String| EditError::Dangling {
            user: user.to_string(),
            what,
        };
        if !self.vehicle_types.contains_key(vehicle) {
            return Err(dangling(format!("vehicle type \"{vehicle}\"")));
        }
        if !self.stacks.contains_key(stack) {
            return Err(dangling(format!("stack \"{stack}\"")));
        }
        // Only the road has to exist. Whether the lane exists and s is on the road is a finding of `check`,
        // because a road may be shortened while agents stand on it.
        for place in places {
            if let Place::Lane(at) = place
                && self.network.road(at.road).is_none()
            {
                return Err(dangling(at.road.to_string()));
            }
        }
        Ok(())
    }
}

/// Maximum number of road ends at one node, because a junction considers all pairs of their lanes.
pub const MAX_ROAD_ENDS: usize = 32;
/// Largest allowed id. Ids can be counted up from it without overflow.
const MAX_ID: u32 = 4_000_000_000;

fn check_id(number: u32, what: &impl fmt::Display) -> Result<(), EditError> {
    if number <= MAX_ID {
        return Ok(());
    }
    Err(EditError::OutOfRange {
        what: what.to_string(),
        message: format!("ids must not exceed {MAX_ID}"),
    })
}

fn valid(what: impl fmt::Display, value: &impl Validate) -> Result<(), EditError> {
    value.validate().map_err(|message| EditError::OutOfRange {
        what: what.to_string(),
        message,
    })
}

/// Checks the numbers of the object that an edit inserts.
fn check_values(edit: &Edit) -> Result<(), EditError> {
    match edit {
        Edit::About(about) => valid("about", &**about),
        Edit::Settings(settings) => valid("settings", settings),
        Edit::Node(id, Some(node)) => valid(id, node),
        Edit::Road(id, Some(road)) => valid(id, &**road),
        Edit::Obstacle(id, Some(obstacle)) => valid(id, &**obstacle),
        Edit::Forest(id, Some(forest)) => valid(id, &**forest),
        Edit::Land(id, Some(land)) => valid(id, &**land),
        Edit::Paint(id, Some(layer)) => valid(id, &**layer),
        Edit::PointOfInterest(id, Some(point)) => valid(id, &**point),
        Edit::VehicleType(key, Some(vehicle)) => valid(key, &**vehicle),
        Edit::Stack(key, Some(stack)) => valid(key, &**stack),
        Edit::Agent(id, Some(agent)) => valid(id, &**agent),
        Edit::Flow(id, Some(flow)) => valid(id, &**flow),
        Edit::Order(order) => valid("order", &**order),
        // Deletions contain no numbers. Height fields and batches check their own numbers.
        Edit::Node(_, None)
        | Edit::Road(_, None)
        | Edit::Obstacle(_, None)
        | Edit::Forest(_, None)
        | Edit::Land(_, None)
        | Edit::Paint(_, None)
        | Edit::PointOfInterest(_, None)
        | Edit::VehicleType(_, None)
        | Edit::Stack(_, None)
        | Edit::Agent(_, None)
        | Edit::Flow(_, None)
        | Edit::Group(..)
        | Edit::Terrain(_)
        | Edit::TerrainSamples(_)
        | Edit::Batch(_) => Ok(()),
    }
}

/// Returns the object that an edit deletes; `None` if it deletes no object that can be in a group.
fn deleted_object(edit: &Edit) -> Option<ObjectId> {
    match edit {
        Edit::Road(id, None) => Some(ObjectId::Road(*id)),
        Edit::Obstacle(id, None) => Some(ObjectId::Obstacle(*id)),
        Edit::Forest(id, None) => Some(ObjectId::Forest(*id)),
        Edit::Land(id, None) => Some(ObjectId::Land(*id)),
        Edit::PointOfInterest(id, None) => Some(ObjectId::PointOfInterest(*id)),
        Edit::Agent(id, None) => Some(ObjectId::Agent(*id)),
        Edit::Flow(id, None) => Some(ObjectId::Flow(*id)),
        _ => None,
    }
}

/// Inserts, replaces or deletes a map entry and returns the old value.
fn swap<K: Ord, V>(
    map: &mut BTreeMap<K, V>,
    key: K,
    value: Option<Box<V>>,
    name: impl FnOnce() -> String,
) -> Result<Option<Box<V>>, EditError> {
    match value {
        Some(value) => Ok(map.insert(key, *value).map(Box::new)),
        None => match map.remove(&key) {
            Some(old) => Ok(Some(Box::new(old))),
            None => Err(EditError::Missing(name())),
        },
    }
}
