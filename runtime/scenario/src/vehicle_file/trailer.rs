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
    /// What holds it to what tows it.
    #[serde(default, skip_serializing_if = "TrailerJoint::is_universal")]
    pub joint: TrailerJoint,
    /// Its centre of gravity, m ahead of the coupling: negative behind it; without it, in the middle of
    /// the body. What it is ahead of the axle is the share of the weight that the coupling carries.
    #[serde(
        default,
        deserialize_with = "Offset::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Offset>")]
    pub centre: Option<f64>,
    /// Of its centre of gravity above the ground, m; without it, 0.38 of the height.
    #[serde(
        default,
        deserialize_with = "Size::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Size>")]
    pub centre_height: Option<f64>,
    /// Of its body above the ground, m; without it, 0.12 of the height.
    #[serde(
        default,
        deserialize_with = "Size::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Size>")]
    pub ground_clearance: Option<f64>,
    /// Largest angle to what tows it, rad: there bodies touch.
    #[serde(
        default = "Trailer::common_lock",
        deserialize_with = "SteeringLock::read"
    )]
    #[schemars(with = "SteeringLock")]
    pub lock: f64,
}

/// A joint of trailers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrailerJoint {
    /// It turns and pitches, and rolls with what tows it: a fifth wheel, the joint of a bus.
    #[default]
    Universal,
    /// It rolls as well: a ball hitch.
    Ball,
}

impl TrailerJoint {
    /// Whether it is a universal joint.
    pub fn is_universal(&self) -> bool {
        *self == Self::Universal
    }
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

    /// Its centre of gravity, m ahead of the coupling.
    pub fn centre(&self) -> f64 {
        self.centre.unwrap_or(self.front - 0.5 * self.length)
    }

    /// Key and reason of the first number about its body that cannot be.
    pub(super) fn check_body(&self) -> Result<(), (&'static str, String)> {
        if let Some(centre) = self.centre
            && (centre < self.rear() || centre > self.front || centre > 0.0)
        {
            let (rear, front) = (self.rear(), self.front.min(0.0));
            return Err((
                "centre",
                format!(
                    "the centre of gravity is at {centre} m: expected {rear} to {front}, under the body \
                     and behind the coupling"
                ),
            ));
        }
        let heights = [
            ("centre_height", self.centre_height),
            ("ground_clearance", self.ground_clearance),
        ];
        let too_high = |(_, height): &(_, Option<f64>)| height.is_some_and(|h| h >= self.height);
        match heights.into_iter().find(too_high) {
            Some((key, height)) => Err((
                key,
                format!(
                    "{} m is above the body, which ends at {} m: expected less",
                    height.unwrap_or_default(),
                    self.height
                ),
            )),
            None => Ok(()),
        }
    }

    /// Where the next trailer is joined on, m ahead of the coupling.
    pub fn next_coupling(&self) -> f64 {
        self.hitch.unwrap_or(self.rear())
    }
}
