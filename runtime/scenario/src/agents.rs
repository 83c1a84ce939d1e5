//! Agents: who drives what, with which modules, from where to where.

use crate::dynamics::DynamicsLevel;
use crate::ids::RoadId;
use crate::number;
use crate::road::is_zero;
use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place where an agent can be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a place: {\"road\":, \"lane\":, \"s\":} or {\"x\":, \"y\":, \"heading\":}"
)]
pub enum Place {
    /// On a lane.
    Lane(LanePlace),
    /// Anywhere on the ground.
    Ground(GroundPlace),
}

/// A place on a lane.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanePlace {
    /// The road.
    pub road: RoadId,
    /// Its lane.
    pub lane: i8,
    /// Distance along the reference line, m.
    #[serde(deserialize_with = "number::distance")]
    pub s: f64,
}

/// A place on open ground.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroundPlace {
    /// Position, m.
    #[serde(deserialize_with = "number::coordinate")]
    pub x: f64,
    /// Position, m.
    #[serde(deserialize_with = "number::coordinate")]
    pub y: f64,
    /// Heading, rad.
    #[serde(
        default,
        deserialize_with = "number::angle",
        skip_serializing_if = "is_zero"
    )]
    pub heading: f64,
}

impl GroundPlace {
    /// Position, m.
    pub fn position(&self) -> DVec2 {
        DVec2::new(self.x, self.y)
    }
}

impl Place {
    /// A place on a lane.
    pub fn lane(road: RoadId, lane: i8, s: f64) -> Self {
        Self::Lane(LanePlace { road, lane, s })
    }

    /// A place on open ground.
    pub fn ground(x: f64, y: f64, heading: f64) -> Self {
        Self::Ground(GroundPlace { x, y, heading })
    }
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// What it is called.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Key of its vehicle type.
    pub vehicle: String,
    /// Key of its stack.
    pub stack: String,
    /// With which model its body moves; absent: as the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamics: Option<DynamicsLevel>,
    /// Where it starts.
    pub start: Place,
    /// Places to pass on the way, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<Place>,
    /// Where it goes; absent: its last way-point is its destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<Place>,
    /// When it appears, s.
    #[serde(
        default,
        deserialize_with = "number::duration",
        skip_serializing_if = "is_zero"
    )]
    pub depart: f64,
    /// Speed at the start, m/s.
    #[serde(
        default,
        deserialize_with = "number::speed_or_zero",
        skip_serializing_if = "is_zero"
    )]
    pub speed: f64,
}

/// A stream of agents of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Key of the vehicle type.
    pub vehicle: String,
    /// Key of the stack.
    pub stack: String,
    /// With which model their bodies move; absent: as the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamics: Option<DynamicsLevel>,
    /// Where they appear.
    pub origin: Place,
    /// Where they go.
    pub destination: Place,
    /// How many per hour, on average.
    #[serde(deserialize_with = "number::per_hour")]
    pub rate_per_hour: f64,
    /// When the first may appear, s.
    #[serde(
        default,
        deserialize_with = "number::duration",
        skip_serializing_if = "is_zero"
    )]
    pub begin: f64,
    /// When the last may appear, s.
    #[serde(deserialize_with = "number::duration")]
    pub end: f64,
}
