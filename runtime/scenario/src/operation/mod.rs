//! Operations on the objects of a scenario, such as drawing, moving, rotating, deleting, copying
//! and reshaping.
//!
//! These functions inspect a scenario and return the [`Edit`](crate::Edit) for the change, so that
//! a tool can show the change before it is applied.

mod delete;
mod draft;
pub mod draw;
mod fragment;
pub mod groups;
mod lane_sections;
mod merge;
pub mod mirror;
mod motion;
mod near_junctions;
mod roads;
pub mod signals;
mod slip_lane;
mod turn_lanes;
mod turns;
mod users;

pub use delete::deleted;
pub use fragment::{copied, pasted};
pub use merge::merged;
pub use motion::{Motion, moved};
pub use near_junctions::{merged_junctions, parted_junctions};
pub(crate) use roads::on_line;
pub use roads::{reshaped, reversed, reversed_traffic, simplified, with_lanes};
pub use slip_lane::slip_lane;
pub use turn_lanes::turn_lanes;
pub use turns::{with_turn, without_turn};

use self::draw::DrawError;
use crate::ids::{NodeId, RoadId};
use roadwright_geometry::GeometryError;
use std::collections::BTreeSet;
use thiserror::Error;

/// A set of objects.
pub type Objects = BTreeSet<crate::ids::ObjectId>;

/// Reason why an operation cannot be carried out.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OperationError {
    /// The road does not exist.
    #[error("{0} does not exist")]
    NoSuchRoad(RoadId),
    /// Roads can be merged only where exactly two meet and their lanes match.
    #[error(
        "cannot merge at {0}: exactly two roads with the same lanes, layer and access must meet \
         there"
    )]
    NotTwoRoads(NodeId),
    /// No arm of a junction can have a turn lane.
    #[error(
        "no road at {0} can have a turn lane: the road needs room for it, and a lane shared by the \
         turn across oncoming traffic and other movements"
    )]
    NoTurnLanes(NodeId),
    /// No other junction can be reached from the junction by a single road.
    #[error("no road leads from here to another junction; select two junctions joined by a road")]
    NoJunctionNear,
    /// There is no room for a slip lane from one road into another.
    #[error(
        "there is no room for a slip lane from {0} to {1}: it needs a turn to the near side, and \
         about 30 m of each road free of other junctions"
    )]
    NoSlipLane(RoadId, RoadId),
    /// Trips start on, pass or end on a road that would become internal. Roads inside a junction
    /// cannot have trips.
    #[error(
        "agents or flows start on, pass or end on {0}, which would lie within the \
         junction; move them first"
    )]
    RoadIsUsed(RoadId),
    /// Two junctions cannot be merged.
    #[error(
        "{one} and {other} cannot be merged into one junction: a road of at most 60 m must join \
         them, the merged junction must fit within 60 m, and no roundabout may lose its ring"
    )]
    CannotMergeJunctions {
        /// A node of the first junction.
        one: NodeId,
        /// A node of the other junction.
        other: NodeId,
    },
    /// The new shape has no valid geometry.
    #[error("the road cannot take this shape: {0}")]
    Geometry(#[from] GeometryError),
    /// The road cannot be drawn or cut in this way.
    #[error(transparent)]
    Draw(#[from] DrawError),
}
