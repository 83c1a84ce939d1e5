//! Driving over open ground: the map of a running world, and what agents off the lanes do with it.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `fixed_items.rs` | the part of the map that follows from a scenario alone |
//! | `live_map.rs` | the map of a running world: vehicles, trailers and loose obstacles as well |
//! | `profiles.rs` | for whom maps are made: vehicle types and sizes of cells |
//! | `plans.rs` | plans of agents: when they search, what they follow, and when there is no path |
//! | `search.rs` | the searches of planners |
//! | `follow.rs` | from cells to a line that a vehicle can drive |
//! | `manoeuvre.rs` | how a vehicle comes onto its path, forwards and backwards |
//! | `verdict.rs` | whether an agent can get to its goal, as it is reported |

mod fixed_items;
mod follow;
mod live_map;
mod manoeuvre;
mod plans;
mod profiles;
mod search;
mod verdict;

pub use fixed_items::{FixedItems, ItemSource};
pub(crate) use live_map::OnGround;
pub(crate) use plans::{AgentPlan, GroundPlans, Planner, Steering, Step};
pub use profiles::{body_of, profile_of};
pub use verdict::{NarrowGap, NoPath, NoPathKind, PathStatus};
