//! Trailers of a vehicle.

use crate::quantity::{Mass, Offset, Quantity, Size, SteeringLock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A trailer: it is joined to the `articulation` of the vehicle, or to the trailer before it.
///
/// Places are metres ahead of its own coupling, so what is behind it is negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trailer {
    /// What it is called.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Of its body, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub length: f64,
    /// Over all, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub width: f64,
    /// Over all, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub height: f64,
    /// kg.
    #[serde(deserialize_with = "Mass::read")]
    #[schemars(with = "Mass")]
    pub mass: f64,
    /// From its coupling back to its axle, or to the middle of its axles, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub coupling_to_axle: f64,
    /// Front end of its body, m ahead of the coupling; negative behind it.
    #[serde(deserialize_with = "Offset::read")]
    #[schemars(with = "Offset")]
    pub front: f64,
    /// Where the next trailer is joined on, m ahead of the coupling; without it, at the rear end of the
    /// body.
    #[serde(
        default,
        deserialize_with = "Offset::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Offset>")]
    pub hitch: Option<f64>,
    /// Largest angle to what tows it, rad: there bodies touch.
    #[serde(
        default = "Trailer::common_lock",
        deserialize_with = "SteeringLock::read"
    )]
    #[schemars(with = "SteeringLock")]
    pub lock: f64,
}

impl Trailer {
    /// Most trailers of a vehicle.
    pub const MOST: usize = 8;

    /// The largest angle where a file says none, rad.
    pub fn common_lock() -> f64 {
        1.5
    }

    /// Rear end of its body, m ahead of the coupling: a negative number.
    pub fn rear(&self) -> f64 {
        self.front - self.length
    }

    /// Where the next trailer is joined on, m ahead of the coupling.
    pub fn next_coupling(&self) -> f64 {
        self.hitch.unwrap_or(self.rear())
    }
}
