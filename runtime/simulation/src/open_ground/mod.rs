//! Driving over open ground: the map of a scenario, and planning on it.
//!
//! | file | contents |
//! | --- | --- |
//! | `fixed_items.rs` | the part of the map that depends on the scenario alone |
//! | `cost_layers.rs` | slopes, water, paved and slippery ground as items with costs |
//! | `painted.rs` | painted layers as items |
//! | `pieces.rs` | cuts large areas into small pieces |
//! | `unreachable.rs` | findings about destinations that cannot be reached |
//! | `inspection.rs` | the map, search and path of an agent, for the editor |
//! | `live_map.rs` | the map of a running world, with vehicles, trailers and loose obstacles |
//! | `profiles.rs` | map profiles of vehicle types |
//! | `plans.rs` | plans of agents: when they search, which path they follow, and when there is none |
//! | `search.rs` | the searches of planners |
//! | `follow.rs` | conversion of cells to a line that a vehicle can drive |
//! | `steering.rs` | steering capabilities of drivers, for planners |
//! | `drivable.rs` | searches of `drivable_path`, and how its paths are followed |
//! | `module_search.rs` | searches that a module carries out itself |
//! | `manoeuvre.rs` | manoeuvres, forwards and in reverse, that bring a vehicle onto its path |
//! | `walking.rs` | characters on foot, and how they plan around each other |
//! | `agreement.rs` | how characters that block each other plan together |
//! | `space_time.rs` | the search for a walk among moving characters |
//! | `mixed.rs` | the quickest trips on lanes and over open ground |
//! | `verdict.rs` | whether an agent can reach its goal, as reported to users |

mod agreement;
mod cost_layers;
mod drivable;
mod fixed_items;
mod follow;
mod inspection;
mod live_map;
mod manoeuvre;
mod mixed;
mod module_search;
mod painted;
mod pieces;
mod plans;
mod profiles;
mod search;
mod space_time;
mod steering;
mod unreachable;
mod verdict;
mod walking;

pub(crate) use drivable::{DrivePlan, STRAIGHT, only_trailer, settings_for};
pub use fixed_items::{FixedItems, ItemSource};
pub(crate) use follow::{moved, pull};
pub use inspection::{
    CellFactors, GroundInspection, GroundQuestion, LayerShare, PLAIN_FACTOR, PathComparison,
    PathReport, PlannedPose, SearchOrder,
};
pub(crate) use live_map::OnGround;
pub(crate) use mixed::{End, Itinerary, KeptTrips, MixedTrips, Part, Traveller};
pub(crate) use module_search::{ModuleSearch, SearchQuestion};
pub(crate) use plans::{AgentPlan, Asked, Beyond, GroundPlans, LeftPath, Planner, Step, has_left};
pub use profiles::{body_of, effects_of, profile_of};
pub use roadwright_planning::open_ground::Disagreement;
pub(crate) use steering::{KnownSteering, Steering, SteeringKey};
pub(crate) use unreachable::unreachable_over_ground;
pub use verdict::{NarrowGap, NoPath, NoPathKind, PathStatus};
pub(crate) use walking::WalkPlan;
