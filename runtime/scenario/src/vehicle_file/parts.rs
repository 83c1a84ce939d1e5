//! Parts of a vehicle: body, wheels, steering, suspension, and couplings.

use crate::quantity::{
    Acceleration, CorneringStiffness, Force, Friction, Inertia, Mass, Offset, OptionalQuantity,
    Quantity, Share, Size, Speed, SpringRate, SteeringLock, TyreRate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point of the vehicle, m: forward, to the left and up from the centre of the body.
pub type Point = Quantity<Offset, [f64; 3]>;

/// The body ("hull" of [Gerdelan 2011], tables B.3 and B.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Overall length, m.
    pub length: Quantity<Size>,
    /// Overall width, m.
    pub width: Quantity<Size>,
    /// Height of the body without its ground clearance, m.
    pub height: Quantity<Size>,
    /// Clearance between the ground and the body, m.
    pub ground_clearance: Quantity<Size>,
    /// Mass without wheels, kg.
    pub mass: Quantity<Mass>,
    /// Length, width and height of the box over which the mass is distributed uniformly, m; defaults to the
    /// box of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_box: OptionalQuantity<Size, [f64; 3]>,
    /// Height of the centre of gravity of the whole vehicle above the ground, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre_height: OptionalQuantity<Size>,
    /// Moment of inertia of the whole vehicle about its vertical axis, kg m^2; defaults to that of the mass
    /// box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaw_inertia: OptionalQuantity<Inertia>,
    /// Coefficient of friction of the body in contacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: OptionalQuantity<Friction>,
    /// Contact softness of the body: constraint force mixing (CFM), as in ODE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softness: OptionalQuantity<Share>,
}

/// Relation between lateral tyre force and slip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TyreModel {
    /// Lateral forces grow up to friction times load (brush model).
    #[default]
    Saturating,
    /// Lateral forces are proportional to the slip angle and have no limit.
    Linear,
}

/// Shape of the wheels at level `rigid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WheelShape {
    /// Massless rays along the springs. They pass through loose objects.
    #[default]
    Ray,
    /// Spheres with mass. They can roll over loose objects.
    Sphere,
}

/// Wheels and their tyres. All wheels of a vehicle are identical.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wheels {
    /// Radius, m.
    pub radius: Quantity<Size>,
    /// Mass of one wheel, kg.
    pub mass: Quantity<Mass>,
    /// Positions of the wheel centres at rest under load, m: forward, to the left and up from the centre of
    /// the body.
    pub positions: Quantity<Offset, Vec<[f64; 3]>>,
    /// Coefficient of friction of the tyres on the reference ground (asphalt).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: OptionalQuantity<Friction>,
    /// Cornering stiffness divided by load, 1/rad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cornering_stiffness: OptionalQuantity<CorneringStiffness>,
    /// Relation between lateral force and slip.
    #[serde(default, skip_serializing_if = "crate::defaults::is_default")]
    pub tyre: TyreModel,
    /// Shape at level `rigid`.
    #[serde(default, skip_serializing_if = "crate::defaults::is_default")]
    pub shape: WheelShape,
    /// Radial stiffness of a tyre, N/m. Used only with shape `sphere`. By default, the tyre deflects by 2 cm
    /// under the static load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radial_stiffness: OptionalQuantity<TyreRate>,
    /// Contact softness of the tyres: constraint force mixing (CFM), as in ODE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softness: OptionalQuantity<Share>,
    /// Fraction of the impact speed that a wheel keeps when it bounces. Used only with shape `sphere`. The
    /// default is 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounce: OptionalQuantity<Share>,
}

/// Steering of a vehicle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steering {
    /// Indices of the steered wheels, usually the front wheels.
    pub wheels: Vec<u8>,
    /// Indices of the steered wheels that turn in the opposite direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inverted: Vec<u8>,
    /// Steering lock, rad.
    pub lock: Quantity<SteeringLock>,
    /// Steering rate of the wheels, rad/s.
    pub rate: Quantity<Acceleration>,
    /// Torque of the steering motor, N m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_nm: OptionalQuantity<Force>,
}

/// Springs, which are the same at all wheels. Without this part, the wheels are attached rigidly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// Spring rate of one wheel, N/m.
    pub spring: Quantity<SpringRate>,
    /// Damping rate of one wheel, N s/m.
    pub damping: Quantity<SpringRate>,
    /// Anti-sway bars: force on a wheel per metre of height difference between the left and right
    /// wheels, N/m.
    #[serde(default)]
    pub anti_sway: Quantity<SpringRate>,
}

/// Performance limits, on which drivers rely. They apply at levels without an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Performance {
    /// Top speed, m/s.
    pub max_speed: Quantity<Speed>,
    /// Maximum acceleration, m/s^2.
    pub max_acceleration: Quantity<Acceleration>,
    /// Maximum deceleration, m/s^2.
    pub max_braking: Quantity<Acceleration>,
}

/// Coupling for a trailer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Articulation {
    /// Position of the universal joint, m: forward, to the left and up from the centre of the body.
    pub anchor: Point,
}

/// Constants of a sliding car, from [Adam 2007], appendix A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sliding {
    /// Air resistance divided by the square of the speed, N s^2/m^2 (`DRAG`).
    pub drag: Quantity<SpringRate>,
    /// Rolling resistance divided by the speed, N s/m (`RESISTANCE`).
    pub resistance: Quantity<SpringRate>,
    /// Cornering stiffness of the front axle divided by its load, 1/rad (`CAF` without its sign).
    pub front_stiffness: Quantity<CorneringStiffness>,
    /// Cornering stiffness of the rear axle divided by its load, 1/rad (`CAR` without its sign).
    pub rear_stiffness: Quantity<CorneringStiffness>,
    /// Maximum lateral force of an axle divided by its load (`MAXGRIP`).
    pub grip: Quantity<Friction>,
}

/// Continuous tracks: the wheels of each side are driven together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tracks {
    /// Torque with which the steering drives one track against the other, N m.
    pub torque_nm: Quantity<Force>,
    /// Speed of the two tracks, in opposite directions, when the vehicle turns on the spot, m/s.
    #[serde(default = "pivot_speed")]
    pub pivot_speed: Quantity<Speed>,
}

fn pivot_speed() -> Quantity<Speed> {
    1.0.into()
}
