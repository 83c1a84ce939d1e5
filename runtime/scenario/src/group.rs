//! Groups: sets of objects that the user selects, copies and moves together.

use crate::ids::{
    AgentId, FlowId, ForestId, LandId, ObjectId, ObstacleId, PointOfInterestId, RoadId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A named set of objects that are selected together. Groups have no effect on a run.
///
/// Nodes cannot be in a group, because they are moved and deleted with their roads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written", into = "Written")]
#[schemars(with = "Written")]
pub struct Group {
    /// Name of the group.
    pub name: String,
    members: BTreeSet<ObjectId>,
}

impl Group {
    /// Creates a group of objects. Nodes are left out.
    pub fn new(name: &str, objects: impl IntoIterator<Item = ObjectId>) -> Self {
        let is_member = |object: &ObjectId| !matches!(object, ObjectId::Node(_));
        Self {
            name: name.into(),
            members: objects.into_iter().filter(is_member).collect(),
        }
    }

    /// Returns the objects in the group. Some of them may not exist.
    pub fn members(&self) -> &BTreeSet<ObjectId> {
        &self.members
    }

    /// Returns the group with its members replaced by the given objects.
    pub fn with_members(&self, objects: impl IntoIterator<Item = ObjectId>) -> Self {
        Self::new(&self.name, objects)
    }
}

/// A group as stored in files: ids by kind.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Group")]
struct Written {
    /// Name of the group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    /// Ids of roads.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    roads: BTreeSet<RoadId>,
    /// Ids of obstacles.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    obstacles: BTreeSet<ObstacleId>,
    /// Ids of forests.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    forests: BTreeSet<ForestId>,
    /// Ids of areas of land.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    land: BTreeSet<LandId>,
    /// Ids of points of interest.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    points_of_interest: BTreeSet<PointOfInterestId>,
    /// Ids of agents.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    agents: BTreeSet<AgentId>,
    /// Ids of flows.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    flows: BTreeSet<FlowId>,
}

impl From<Written> for Group {
    fn from(written: Written) -> Self {
        let mut members: BTreeSet<ObjectId> = BTreeSet::new();
        members.extend(written.roads.into_iter().map(ObjectId::Road));
        members.extend(written.obstacles.into_iter().map(ObjectId::Obstacle));
        members.extend(written.forests.into_iter().map(ObjectId::Forest));
        members.extend(written.land.into_iter().map(ObjectId::Land));
        let points = written.points_of_interest.into_iter();
        members.extend(points.map(ObjectId::PointOfInterest));
        members.extend(written.agents.into_iter().map(ObjectId::Agent));
        members.extend(written.flows.into_iter().map(ObjectId::Flow));
        Self {
            name: written.name,
            members,
        }
    }
}

impl From<Group> for Written {
    fn from(group: Group) -> Self {
        let mut written = Self {
            name: group.name,
            ..Self::default()
        };
        for member in group.members {
            match member {
                // Nodes cannot be in a group.
                ObjectId::Node(_) => false,
                ObjectId::Road(id) => written.roads.insert(id),
                ObjectId::Obstacle(id) => written.obstacles.insert(id),
                ObjectId::Forest(id) => written.forests.insert(id),
                ObjectId::PointOfInterest(id) => written.points_of_interest.insert(id),
                ObjectId::Agent(id) => written.agents.insert(id),
                ObjectId::Flow(id) => written.flows.insert(id),
                ObjectId::Land(id) => written.land.insert(id),
            };
        }
        written
    }
}
