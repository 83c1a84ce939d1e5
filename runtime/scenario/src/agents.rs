//! Agents with their vehicles, modules, starts and destinations.

use crate::defaults::is_zero;
use crate::dynamics::DynamicsLevel;
use crate::ids::RoadId;
use crate::quantity::{
    Angle, Coordinate, Distance, Duration, OptionalQuantity, PerHour, Quantity, SpeedOrZero,
    Validate, check_keys,
};
use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A start, waypoint or destination: a place on a lane or on open ground.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a place: {\"road\":, \"lane\":, \"s\":} or {\"x\":, \"y\":, \"heading\":}"
)]
pub enum Place {
    /// On a lane.
    Lane(LanePlace),
    /// On open ground.
    Ground(GroundPlace),
}

/// A position on a lane, given by its distance along the road.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanePlace {
    /// The road.
    pub road: RoadId,
    /// The lane.
    pub lane: i8,
    /// Distance along the reference line, m.
    pub s: Quantity<Distance>,
}

/// A pose on open ground.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroundPlace {
    /// x coordinate, m.
    pub x: Quantity<Coordinate>,
    /// y coordinate, m.
    pub y: Quantity<Coordinate>,
    /// Heading, rad.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub heading: Quantity<Angle>,
}

impl GroundPlace {
    /// Position, m.
    pub fn position(&self) -> DVec2 {
        DVec2::new(self.x.get(), self.y.get())
    }
}

impl Place {
    /// Creates a place on a lane.
    pub fn lane(road: RoadId, lane: i8, s: f64) -> Self {
        Self::Lane(LanePlace {
            road,
            lane,
            s: s.into(),
        })
    }

    /// Creates a place on open ground.
    pub fn ground(x: f64, y: f64, heading: f64) -> Self {
        Self::Ground(GroundPlace {
            x: x.into(),
            y: y.into(),
            heading: heading.into(),
        })
    }
}

/// An agent: a driver with its vehicle and trip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Name of the agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Key of the agent's vehicle type.
    pub vehicle: String,
    /// Key of the agent's stack.
    pub stack: String,
    /// Dynamics level of the agent's body; defaults to the level in the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamics: Option<DynamicsLevel>,
    /// Start of the trip.
    pub start: Place,
    /// Places to visit on the route, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<Place>,
    /// End of the trip; defaults to the last waypoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<Place>,
    /// Departure time, s.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depart: Quantity<Duration>,
    /// Delay between arriving and departing again from the start, s. The agent waits longer if the
    /// start is occupied. Without this key, the agent drives only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: OptionalQuantity<Duration>,
    /// Speed at the start, m/s.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub speed: Quantity<SpeedOrZero>,
}

/// A stream of agents with the same vehicle type and stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Key of the vehicle type.
    pub vehicle: String,
    /// Key of the stack.
    pub stack: String,
    /// Dynamics level of the agents' bodies; defaults to the level in the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamics: Option<DynamicsLevel>,
    /// Place where the agents are spawned.
    pub origin: Place,
    /// Place to which the agents drive.
    pub destination: Place,
    /// Average number of agents per hour.
    pub rate_per_hour: Quantity<PerHour>,
    /// Earliest departure time, s.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub begin: Quantity<Duration>,
    /// Latest departure time, s.
    pub end: Quantity<Duration>,
}

impl Agent {
    /// Returns the start, waypoints and destination of the agent, in this order.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.start)
            .chain(&self.via)
            .chain(&self.destination)
    }

    /// Returns the start, waypoints and destination of the agent, as mutable references.
    pub fn places_mut(&mut self) -> impl Iterator<Item = &mut Place> {
        std::iter::once(&mut self.start)
            .chain(&mut self.via)
            .chain(&mut self.destination)
    }

    /// Returns the places that the agent has to reach, in order.
    pub fn goals(&self) -> impl Iterator<Item = &Place> {
        self.via.iter().chain(&self.destination)
    }
}

impl Flow {
    /// Origin and destination of the flow.
    pub fn places(&self) -> [&Place; 2] {
        [&self.origin, &self.destination]
    }

    /// Returns the origin and destination of the flow, as mutable references.
    pub fn places_mut(&mut self) -> [&mut Place; 2] {
        [&mut self.origin, &mut self.destination]
    }
}

impl Validate for Place {
    fn validate(&self) -> Result<(), String> {
        match self {
            Self::Lane(place) => check_keys!(place => s),
            Self::Ground(place) => check_keys!(place => x, y, heading),
        }
    }
}

impl Validate for Agent {
    fn validate(&self) -> Result<(), String> {
        self.places().try_for_each(Place::validate)?;
        check_keys!(self => depart, repeat, speed)
    }
}

impl Validate for Flow {
    fn validate(&self) -> Result<(), String> {
        self.places().into_iter().try_for_each(Place::validate)?;
        check_keys!(self => rate_per_hour, begin, end)
    }
}
