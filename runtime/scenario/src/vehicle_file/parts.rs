//! Parts of a vehicle: body, wheels, steering, suspension, and what joins vehicles.

use crate::quantity::{
    Acceleration, CorneringStiffness, Force, Friction, Inertia, Mass, Offset, OptionalQuantity,
    Quantity, Share, Size, Speed, SpringRate, SteeringLock, TyreRate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point of the vehicle, m: forward, to the left, up from the middle of the body.
pub type Point = Quantity<Offset, [f64; 3]>;

/// The body ("hull" of [Gerdelan 2011], tables B.3 and B.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Over all, m.
    pub length: Quantity<Size>,
    /// Over all, m.
    pub width: Quantity<Size>,
    /// Of the body itself, m.
    pub height: Quantity<Size>,
    /// From the ground to the body, m.
    pub ground_clearance: Quantity<Size>,
    /// Without wheels, kg.
    pub mass: Quantity<Mass>,
    /// Length, width and height of the box in which the mass is even, m; without it that is the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_box: OptionalQuantity<Size, [f64; 3]>,
    /// Height of the centre of gravity of the whole vehicle above the ground, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre_height: OptionalQuantity<Size>,
    /// Of the whole vehicle about its vertical axis, kg m^2; without it that of the mass box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaw_inertia: OptionalQuantity<Inertia>,
    /// Coefficient of friction of the body, when it touches something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: OptionalQuantity<Friction>,
    /// Softness of the body in contacts: ODE's constraint-force mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softness: OptionalQuantity<Share>,
}

/// How lateral forces of tyres grow with slip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TyreModel {
    /// Up to friction times load (brush model).
    #[default]
    Saturating,
    /// In proportion to the slip angle, without end.
    Linear,
}

/// What wheels are at level `rigid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WheelShape {
    /// Rays along the springs: they weigh nothing by themselves and pass through what lies about.
    #[default]
    Ray,
    /// Spheres with a mass of their own, which roll over what lies about.
    Sphere,
}

/// Wheels and their tyres; all of a vehicle are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wheels {
    /// m.
    pub radius: Quantity<Size>,
    /// Of one wheel, kg.
    pub mass: Quantity<Mass>,
    /// Middles at rest under load, m: forward, to the left, up from the middle of the body.
    pub positions: Quantity<Offset, Vec<[f64; 3]>>,
    /// Coefficient of friction of the tyres on the reference ground (asphalt).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: OptionalQuantity<Friction>,
    /// Cornering stiffness over load, 1/rad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cornering_stiffness: OptionalQuantity<CorneringStiffness>,
    /// How lateral forces grow with slip.
    #[serde(default, skip_serializing_if = "crate::defaults::is_default")]
    pub tyre: TyreModel,
    /// What they are at level `rigid`.
    #[serde(default, skip_serializing_if = "crate::defaults::is_default")]
    pub shape: WheelShape,
    /// Stiffness of a tyre against the ground, N/m, for spheres; what gives way by 2 cm under the static
    /// load unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radial_stiffness: OptionalQuantity<TyreRate>,
    /// Softness of the tyres in contacts: ODE's constraint-force mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softness: OptionalQuantity<Share>,
    /// Share of the speed of an impact with which a wheel bounces, for spheres; 0.5 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounce: OptionalQuantity<Share>,
}

/// Steering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steering {
    /// Numbers of the wheels that steer; those at the front.
    pub wheels: Vec<u8>,
    /// Numbers of wheels that steer the other way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inverted: Vec<u8>,
    /// Steering lock, rad.
    pub lock: Quantity<SteeringLock>,
    /// How fast the wheels are turned, rad/s.
    pub rate: Quantity<Acceleration>,
    /// Of the motor that turns the wheels, N m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_nm: OptionalQuantity<Force>,
}

/// Springs, the same at each wheel; without this part wheels are joined rigidly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// Of one wheel, N/m.
    pub spring: Quantity<SpringRate>,
    /// Of one wheel, N s/m.
    pub damping: Quantity<SpringRate>,
    /// Force of the anti-sway bars on a wheel per metre of difference between left and right, N/m.
    #[serde(default)]
    pub anti_sway: Quantity<SpringRate>,
}

/// What drivers can count on: limits of the levels without an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Performance {
    /// Top speed, m/s.
    pub max_speed: Quantity<Speed>,
    /// Largest acceleration, m/s^2.
    pub max_acceleration: Quantity<Acceleration>,
    /// Hardest braking, m/s^2.
    pub max_braking: Quantity<Acceleration>,
}

/// Where another vehicle is joined on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Articulation {
    /// Place of the universal joint, m: forward, to the left, up from the middle of the body.
    pub anchor: Point,
}

/// How a sliding car slides: constants of [Adam 2007], appendix A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sliding {
    /// Air resistance over the square of the speed, N s^2/m^2 (`DRAG`).
    pub drag: Quantity<SpringRate>,
    /// Rolling resistance over the speed, N s/m (`RESISTANCE`).
    pub resistance: Quantity<SpringRate>,
    /// Cornering stiffness of the front axle over its load, 1/rad (`CAF` without its sign).
    pub front_stiffness: Quantity<CorneringStiffness>,
    /// Cornering stiffness of the rear axle over its load, 1/rad (`CAR` without its sign).
    pub rear_stiffness: Quantity<CorneringStiffness>,
    /// Largest lateral force of an axle over its load (`MAXGRIP`).
    pub grip: Quantity<Friction>,
}

/// Continuous tracks: the wheels of a side are driven together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tracks {
    /// Torque with which a side is turned against the other one, N m.
    pub torque_nm: Quantity<Force>,
    /// Speed of the sides against each other where the vehicle turns on the spot, m/s.
    #[serde(default = "pivot_speed")]
    pub pivot_speed: Quantity<Speed>,
}

fn pivot_speed() -> Quantity<Speed> {
    1.0.into()
}
