//! Paths that a vehicle can drive, forwards and in reverse: Hybrid A* ([Dolgov 2010]).
//!
//! | part | contents |
//! | --- | --- |
//! | `vehicle.rs` | [`DrivableVehicle`]: footprint and turning circle |
//! | `trailer.rs` | [`DrivableTrailer`]: motion of a trailer, and the steering law for pushing it |
//! | `path.rs` | [`DrivablePath`]: arcs and straight lines, each in one gear |
//! | `surface.rs` | the map around a trip: factors of cells, and obstacles for exact checks |
//! | `estimate.rs` | costs to the target on cells, computed where they are needed |
//! | `states.rs` | the table of states that a search has reached |
//! | `search.rs` | [`DrivableSearch`]: the search, which can be interrupted and continued |
//! | `shot.rs` | Reeds-Shepp curves to the target of a search |
//! | `push.rs` | curves to the target for a vehicle with a trailer |
//! | `smooth.rs` | shortcuts in a path that has been found |
//! | `problems.rs` | [`DrivableProblems`]: maps and trips for measurements |
//!
//! Costs are in metres of forward driving on plain ground.

mod estimate;
#[cfg(test)]
mod exhaustive;
mod path;
mod problems;
mod push;
mod search;
mod shot;
mod smooth;
mod states;
mod surface;
#[cfg(test)]
mod tests;
mod trailer;
mod vehicle;

pub use path::{DrivablePath, DrivablePiece, DrivenPose, DrivenRun, Towed};
pub use problems::DrivableProblems;
pub use search::{DrivableProgress, DrivableSearch, DrivableSettings, DrivableTrip, LONGEST_TRIP};
pub use trailer::DrivableTrailer;
pub use vehicle::DrivableVehicle;
