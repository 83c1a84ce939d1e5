//! Driving over open ground: the map of a running world, and what agents off the lanes do with it.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `fixed_items.rs` | the part of the map that follows from a scenario alone |
//! | `cost_layers.rs`, `pieces.rs` | slopes, water, paved and slippery ground as items with costs, in small pieces |
//! | `unreachable.rs` | findings about destinations that cannot be reached |
//! | `profiles.rs` | for whom maps are made: vehicle types and sizes of cells |

mod cost_layers;
mod fixed_items;
mod pieces;
mod profiles;
mod unreachable;

pub use fixed_items::{FixedItems, ItemSource};
pub use profiles::{body_of, effects_of, profile_of};
pub use unreachable::unreachable_over_ground;
