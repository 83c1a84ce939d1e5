//! Records used by all parts of a world. They depend on none of these parts and form the lowest layer of this
//! crate.

mod agent_index;
mod collision;
mod counts;
mod failures;
mod instances;
mod level;
mod loose;
mod people;
mod played_frame;
mod rigid_shape;
mod route_id;
mod rows;
mod save_error;

pub use agent_index::AgentIndex;
pub use collision::{Collision, Party};
pub(crate) use counts::{are_countable, are_distinct, are_short_counts};
pub use failures::ModuleFailure;
pub(crate) use failures::ModuleFailures;
pub(crate) use instances::Instances;
pub(crate) use level::keeps_to_lanes;
pub use loose::LooseRecord;
pub use people::{PeopleCounts, PersonRecord};
pub(crate) use played_frame::PlayedFrame;
pub use rigid_shape::RigidShape;
pub(crate) use route_id::RouteId;
pub(crate) use rows::{
    Aside, Claim, Command, FARTHEST, Identity, LanePosition, LaneSpot, Motion, Order, Phase,
    Progress, Refusal, Statistics, Wish,
};
pub use save_error::SaveError;
