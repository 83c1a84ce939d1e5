//! Driving side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The side of the road on which vehicles drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DrivingSide {
    /// Left-hand traffic, as in Ireland and Japan.
    Left,
    /// Right-hand traffic.
    #[default]
    Right,
}

impl DrivingSide {
    /// Direction of travel around an island: 1 for counter-clockwise, -1 for clockwise.
    pub fn around(self) -> f64 {
        match self {
            Self::Right => 1.0,
            Self::Left => -1.0,
        }
    }
}
