//! Trailers of a vehicle.

use super::Suspension;
use crate::quantity::{
    CorneringStiffness, Force, Friction, Mass, Offset, OptionalQuantity, Quantity, Size,
    SteeringLock,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum difference between `coupling_to_axle` and the centre of the axles, m.
const OFF_MEAN: f64 = 0.05;

/// A trailer, coupled to the `articulation` of the vehicle or to the trailer before it.
///
/// Positions are measured in metres ahead of the trailer's own coupling, so positions behind the coupling are
/// negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trailer {
    /// Name of the trailer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Length of the trailer's body, m.
    pub length: Quantity<Size>,
    /// Overall width, m.
    pub width: Quantity<Size>,
    /// Overall height, m.
    pub height: Quantity<Size>,
    /// Mass, kg.
    pub mass: Quantity<Mass>,
    /// Distance from the trailer's coupling back to its axle, or to the centre of its axles, m.
    pub coupling_to_axle: Quantity<Size>,
    /// Front end of the trailer's body, m ahead of the coupling; negative if it is behind the
    /// coupling.
    pub front: Quantity<Offset>,
    /// Coupling for the next trailer, m ahead of this trailer's coupling; defaults to the rear end of the
    /// body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hitch: OptionalQuantity<Offset>,
    /// Joint between the trailer and the towing vehicle.
    #[serde(default, skip_serializing_if = "TrailerJoint::is_universal")]
    pub joint: TrailerJoint,
    /// Centre of gravity, m ahead of the coupling, and therefore negative behind it. The default is the
    /// centre of the body. Its distance ahead of the axle determines the fraction of the weight that the
    /// coupling carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre: OptionalQuantity<Offset>,
    /// Height of the trailer's centre of gravity above the ground, m; defaults to 0.38 of the
    /// height.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre_height: OptionalQuantity<Size>,
    /// Height of the trailer's body above the ground, m; defaults to 0.12 of the height.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground_clearance: OptionalQuantity<Size>,
    /// Axles of the trailer, m ahead of the coupling, from front to back. The mean of all axles is
    /// `coupling_to_axle`. By default, there is one axle. The load that the coupling does not carry is shared
    /// equally among the axles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axles: Quantity<Offset, Vec<f64>>,
    /// Distance between the centres of the wheels of an axle, m; defaults to 82 % of the width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track: OptionalQuantity<Size>,
    /// Wheels of the trailer, if they differ from the wheels of the vehicle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wheels: Option<TrailerWheels>,
    /// Spring and damper of each wheel, and anti-sway bars of each axle. The default is the suspension of a
    /// passenger car (1.5 Hz) for the load of a wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
    /// Maximum force of the trailer's service brake, N per wheel; 0 if it has none. By default, the trailer
    /// brakes as hard as the towing vehicle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brakes: OptionalQuantity<Force>,
    /// Angle between trailer and towing vehicle at which the bodies touch, rad.
    #[serde(default = "Trailer::common_lock")]
    pub lock: Quantity<SteeringLock>,
}

/// Wheels of a trailer. Missing values are taken from the towing vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrailerWheels {
    /// Radius, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: OptionalQuantity<Size>,
    /// Mass of one wheel, kg. It is part of the mass of the trailer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: OptionalQuantity<Mass>,
    /// Coefficient of friction of the tyres on dry asphalt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: OptionalQuantity<Friction>,
    /// Cornering stiffness divided by load, 1/rad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cornering_stiffness: OptionalQuantity<CorneringStiffness>,
}

/// Kind of joint between a trailer and the towing vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrailerJoint {
    /// The trailer can turn and pitch, but it rolls with the towing vehicle: a fifth wheel, or the
    /// joint of an articulated bus.
    #[default]
    Universal,
    /// The trailer can also roll: a ball hitch.
    Ball,
}

impl TrailerJoint {
    /// Whether the joint is a universal joint.
    pub fn is_universal(&self) -> bool {
        *self == Self::Universal
    }
}

impl Trailer {
    /// Maximum number of trailers of a vehicle.
    pub const MOST: usize = 8;

    /// Default of `lock`, rad.
    pub fn common_lock() -> Quantity<SteeringLock> {
        1.5.into()
    }

    /// Returns the rear end of the trailer's body, m ahead of the coupling. It is negative.
    pub fn rear(&self) -> f64 {
        self.front - self.length
    }

    /// Returns the centre of gravity of the trailer, m ahead of the coupling.
    pub fn centre(&self) -> f64 {
        self.centre.unwrap_or(self.front - 0.5 * self.length)
    }

    /// Axles of the trailer, m ahead of the coupling, from front to back. There is at least one.
    pub fn axles(&self) -> Vec<f64> {
        if self.axles.is_empty() {
            vec![-self.coupling_to_axle]
        } else {
            self.axles.clone().into_inner()
        }
    }

    /// Maximum number of axles of a trailer.
    pub const MOST_AXLES: usize = 8;

    /// Returns the key and the problem of the first invalid number of the trailer's axles, wheels and
    /// springs. `radius` is the radius of the towing vehicle's wheels, m.
    pub(super) fn check_axles(&self, radius: f64) -> Result<(), (String, String)> {
        let fault = |key: String, message: String| Err((key, message));
        if self.axles.len() > Self::MOST_AXLES {
            let count = self.axles.len();
            let most = Self::MOST_AXLES;
            return fault(
                "axles".into(),
                format!("{count} axles are too many; expected at most {most}"),
            );
        }
        let own = self.wheels.and_then(|wheels| *wheels.radius);
        let diameter = 2.0 * own.unwrap_or(radius);
        for (number, &axle) in self.axles.iter().enumerate() {
            let key = format!("axles.{number}");
            if axle < self.rear() || axle > self.front {
                let (rear, front) = (self.rear(), self.front);
                return fault(
                    key,
                    format!(
                        "{axle} m is not under the body, which is from {rear} to {front} m ahead of the \
                         coupling"
                    ),
                );
            }
            let before = number.checked_sub(1).map(|before| self.axles[before]);
            if let Some(before) = before
                && before - axle < diameter
            {
                return fault(
                    key,
                    format!(
                        "{axle} m follows {before} m; list the axles from front to back, at least \
                         {diameter} m (the diameter of a wheel) apart"
                    ),
                );
            }
        }
        if !self.axles.is_empty() {
            let mean = -self.axles.iter().sum::<f64>() / self.axles.len() as f64;
            if (mean - self.coupling_to_axle).abs() > OFF_MEAN {
                let given = self.coupling_to_axle;
                return fault(
                    "coupling_to_axle".into(),
                    format!(
                        "{given} m is not the distance to the centre of the axles, which is \
                         {mean:.2} m"
                    ),
                );
            }
        }
        if let Some(track) = self.track.get()
            && track > self.width
        {
            let width = self.width;
            return fault(
                "track".into(),
                format!("{track} m is wider than the body, which is {width} m wide"),
            );
        }
        match &self.suspension {
            Some(suspension) if suspension.spring <= 0.0 => fault(
                "suspension.spring".into(),
                "must be more than 0 N/m, because a trailer without springs lies on the ground"
                    .into(),
            ),
            _ => Ok(()),
        }
    }

    /// Returns the key and the problem of the first invalid number of the trailer's body.
    pub(super) fn check_body(&self) -> Result<(), (&'static str, String)> {
        if let Some(centre) = self.centre.get()
            && (centre < self.rear() || centre > self.front || centre > 0.0)
        {
            let (rear, front) = (self.rear(), self.front.min(0.0));
            return Err((
                "centre",
                format!(
                    "the centre of gravity is at {centre} m; it must be between {rear} and \
                     {front} m, within the body and behind the coupling"
                ),
            ));
        }
        let heights = [
            ("centre_height", self.centre_height.get()),
            ("ground_clearance", self.ground_clearance.get()),
        ];
        let too_high = |(_, height): &(_, Option<f64>)| height.is_some_and(|h| h >= self.height);
        match heights.into_iter().find(too_high) {
            Some((key, height)) => Err((
                key,
                format!(
                    "{} m is not below the top of the body, which is at {} m",
                    height.unwrap_or_default(),
                    self.height
                ),
            )),
            None => Ok(()),
        }
    }

    /// Returns the position of the coupling for the next trailer, m ahead of this trailer's own
    /// coupling.
    pub fn next_coupling(&self) -> f64 {
        self.hitch.unwrap_or(self.rear())
    }
}
