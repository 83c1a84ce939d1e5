//! Identifiers: small numbers that stay the same when a scenario is saved, edited or merged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id_type {
    ($(#[$doc:meta] $name:ident, $word:literal;)*) => {$(
        #[$doc]
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($word, " {}"), self.0)
            }
        }
    )*};
}

id_type! {
    /// Identifies a node of the road graph: a junction or a road end.
    NodeId, "node";
    /// Identifies a road.
    RoadId, "road";
    /// Identifies an obstacle.
    ObstacleId, "obstacle";
    /// Identifies a forest region.
    ForestId, "forest";
    /// Identifies a point of interest.
    PointOfInterestId, "point of interest";
    /// Identifies an agent.
    AgentId, "agent";
    /// Identifies a flow of agents.
    FlowId, "flow";
    /// Identifies an area of land.
    LandId, "land";
    /// Identifies a group of objects.
    GroupId, "group";
    /// Identifies a layer of painted ground.
    PaintId, "painted layer";
}
/// Any object of a scenario that has an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectId {
    /// A node.
    Node(NodeId),
    /// A road.
    Road(RoadId),
    /// An obstacle.
    Obstacle(ObstacleId),
    /// A forest.
    Forest(ForestId),
    /// A point of interest.
    PointOfInterest(PointOfInterestId),
    /// An agent.
    Agent(AgentId),
    /// A flow.
    Flow(FlowId),
    /// An area of land.
    Land(LandId),
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(id) => id.fmt(f),
            Self::Road(id) => id.fmt(f),
            Self::Obstacle(id) => id.fmt(f),
            Self::Forest(id) => id.fmt(f),
            Self::PointOfInterest(id) => id.fmt(f),
            Self::Agent(id) => id.fmt(f),
            Self::Flow(id) => id.fmt(f),
            Self::Land(id) => id.fmt(f),
        }
    }
}
