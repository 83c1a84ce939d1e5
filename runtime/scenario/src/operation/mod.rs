//! What a person does to objects of a scenario: draw, move, turn, delete, copy, reshape.
//!
//! These functions look at a scenario and return the [`Edit`](crate::Edit) that makes the change,
//! so a tool can show it before it is applied.

mod delete;
pub mod draw;
mod fragment;
pub mod groups;
mod lane_sections;
mod merge;
pub mod mirror;
mod motion;
mod roads;
pub mod signals;
mod turn_lanes;
mod users;

pub use delete::deleted;
pub use fragment::{copied, pasted};
pub use merge::merged;
pub use motion::{Motion, moved};
pub use roads::{reshaped, reversed, simplified, with_lanes};
pub use turn_lanes::turn_lanes;

use self::draw::DrawError;
use crate::ids::{NodeId, RoadId};
use roadwright_geometry::GeometryError;
use std::collections::BTreeSet;
use thiserror::Error;

/// A set of objects.
pub type Objects = BTreeSet<crate::ids::ObjectId>;

/// Why an operation cannot be done.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OperationError {
    /// The road does not exist.
    #[error("{0} does not exist")]
    NoSuchRoad(RoadId),
    /// Roads can be merged only where exactly two meet and their lanes match.
    #[error(
        "cannot merge at {0}: exactly two roads with the same lanes, layer and access have to meet there"
    )]
    NotTwoRoads(NodeId),
    /// No arm of a junction can have a turn lane.
    #[error(
        "no road at {0} can have a turn lane: it takes one lane that leads both across the oncoming traffic \
         and elsewhere, and room for it"
    )]
    NoTurnLanes(NodeId),
    /// The new shape has no valid geometry.
    #[error("the road cannot take this shape: {0}")]
    Geometry(#[from] GeometryError),
    /// The road cannot be drawn or cut like this.
    #[error(transparent)]
    Draw(#[from] DrawError),
}
