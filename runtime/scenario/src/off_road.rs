//! Conditions under which vehicles leave the lanes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conditions under which a vehicle type leaves the lanes.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OffRoad {
    /// Vehicles leave the lanes only from a start or to a goal off the lanes.
    #[default]
    WhenNeeded,
    /// Vehicles also leave the lanes where open ground is a short cut, and between road networks
    /// that no lane connects.
    Free,
    /// Vehicles never leave the lanes. A start or goal off the lanes has no connection to the road
    /// network.
    Never,
}

impl OffRoad {
    /// All values.
    pub const ALL: [Self; 3] = [Self::WhenNeeded, Self::Free, Self::Never];

    /// Name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::WhenNeeded => "when_needed",
            Self::Free => "free",
            Self::Never => "never",
        }
    }

    /// Whether this is the default. Files leave out the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
