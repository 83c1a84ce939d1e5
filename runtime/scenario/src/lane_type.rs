//! Types of lanes, by their use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Type of a lane, by its use.
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
    /// Pedestrians.
    Sidewalk,
    /// Hard shoulder.
    Shoulder,
    /// Area between carriageways.
    Median,
    /// Area between carriageways that is painted and never raised, such as a centre turn lane.
    PaintedMedian,
}

impl LaneType {
    /// Whether motor vehicles may drive on this lane.
    pub fn is_drivable(self) -> bool {
        matches!(self, Self::Driving | Self::Bus)
    }
}
