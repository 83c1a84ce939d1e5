//! What a scenario is: road graph, obstacles, terrain, agents; how it changes, how it is stored,
//! and what can be wrong with it.
//!
//! Roads and lanes follow ASAM OpenDRIVE's terms. A road's reference line runs from node to node;
//! what happens where roads meet is derived by [`junction`], never stored.

mod agents;
pub mod check;
mod dynamics;
mod edit;
pub mod file;
mod history;
mod ids;
pub mod junction;
pub mod lane_graph;
mod lane_rules;
mod network;
mod objects;
pub mod operation;
mod quantity;
mod road;
mod scenario;
mod stack;
mod unique_map;
mod vehicle_type;

pub use agents::{Agent, Flow, GroundPlace, LanePlace, Place};
pub use dynamics::DynamicsLevel;
pub use edit::{Edit, EditError, MAX_ROAD_ENDS};
pub use history::History;
pub use ids::{AgentId, FlowId, ForestId, NodeId, ObjectId, ObstacleId, PointOfInterestId, RoadId};
pub use network::{Node, Restriction, RestrictionKind, RoadNetwork};
pub use objects::{Forest, Obstacle, PointOfInterest, Shape};
pub use operation::draw;
pub use road::{
    CrossSection, DrivingSide, Lane, LaneBand, LaneDirection, LaneSection, LaneType, Poly3, Road,
    RoadClass, RoadEnd,
};
pub use scenario::{About, GeoOrigin, Scenario, Settings};
pub use stack::{HowMany, ModuleKind, ModuleSetting, ModuleSettings, Slot, Stack};
pub use vehicle_type::VehicleType;
