//! Driving over open ground: the map of a running world, and what agents off the lanes do with it.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `fixed_items.rs` | the part of the map that follows from a scenario alone |
//! | `profiles.rs` | for whom maps are made: vehicle types and sizes of cells |

mod fixed_items;
mod profiles;

pub use fixed_items::{FixedItems, ItemSource};
pub use profiles::{body_of, profile_of};
