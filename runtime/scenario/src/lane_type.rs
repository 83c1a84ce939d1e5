//! What lanes are for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a lane is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaneType {
    /// General traffic.
    Driving,
    /// Buses only.
    Bus,
    /// Bicycles.
    Biking,
    /// Parked vehicles.
    Parking,
    /// People on foot.
    Sidewalk,
    /// Hard shoulder.
    Shoulder,
    /// Between carriageways.
    Median,
}

impl LaneType {
    /// Whether motor vehicles drive here.
    pub fn is_drivable(self) -> bool {
        matches!(self, Self::Driving | Self::Bus)
    }
}
