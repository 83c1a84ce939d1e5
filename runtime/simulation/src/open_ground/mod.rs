//! Driving over open ground: the map of a scenario, and planning on it.
//!
//! | file | contents |
//! | --- | --- |
//! | `fixed_items.rs` | the part of the map that depends on the scenario alone |
//! | `cost_layers.rs` | slopes, water, paved and slippery ground as items with costs |
//! | `pieces.rs` | cuts large areas into small pieces |
//! | `trip_finder.rs` | plans the path of a trip without driving it |
//! | `unreachable.rs` | findings about destinations that cannot be reached |
//! | `profiles.rs` | map profiles of vehicle types |

mod cost_layers;
mod fixed_items;
mod pieces;
mod profiles;
mod unreachable;

pub use fixed_items::{FixedItems, ItemSource};
pub use profiles::{body_of, effects_of, profile_of};
pub use unreachable::unreachable_over_ground;
