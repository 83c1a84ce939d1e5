//! Parts of a vehicle: body, wheels, steering, suspension, and what joins vehicles.

use super::numbers;
use crate::quantity::{
    Acceleration, CorneringStiffness, Force, Friction, Inertia, Mass, Offset, Quantity, Share,
    Size, Speed, SpringRate, SteeringLock, TyreRate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point of the vehicle, m: forward, to the left, up from the middle of the body.
pub type Point = [f64; 3];

/// The body ("hull" of [Gerdelan 2011], tables B.3 and B.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Over all, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub length: f64,
    /// Over all, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub width: f64,
    /// Of the body itself, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub height: f64,
    /// From the ground to the body, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub ground_clearance: f64,
    /// Without wheels, kg.
    #[serde(deserialize_with = "Mass::read")]
    #[schemars(with = "Mass")]
    pub mass: f64,
    /// Length, width and height of the box in which the mass is even, m; without it that is the body.
    #[serde(
        default,
        deserialize_with = "numbers::size_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<[Size; 3]>")]
    pub mass_box: Option<[f64; 3]>,
    /// Height of the centre of gravity of the whole vehicle above the ground, m.
    #[serde(
        default,
        deserialize_with = "Size::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Size>")]
    pub centre_height: Option<f64>,
    /// Of the whole vehicle about its vertical axis, kg m^2; without it that of the mass box.
    #[serde(
        default,
        deserialize_with = "Inertia::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Inertia>")]
    pub yaw_inertia: Option<f64>,
    /// Coefficient of friction of the body, when it touches something.
    #[serde(
        default,
        deserialize_with = "Friction::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Friction>")]
    pub friction: Option<f64>,
    /// Softness of the body in contacts: ODE's constraint-force mix.
    #[serde(
        default,
        deserialize_with = "Share::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Share>")]
    pub softness: Option<f64>,
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
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub radius: f64,
    /// Of one wheel, kg.
    #[serde(deserialize_with = "Mass::read")]
    #[schemars(with = "Mass")]
    pub mass: f64,
    /// Middles at rest under load, m: forward, to the left, up from the middle of the body.
    #[serde(deserialize_with = "numbers::points")]
    #[schemars(with = "Vec<[Offset; 3]>")]
    pub positions: Vec<Point>,
    /// Coefficient of friction of the tyres on the reference ground (asphalt).
    #[serde(
        default,
        deserialize_with = "Friction::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Friction>")]
    pub friction: Option<f64>,
    /// Cornering stiffness over load, 1/rad.
    #[serde(
        default,
        deserialize_with = "CorneringStiffness::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<CorneringStiffness>")]
    pub cornering_stiffness: Option<f64>,
    /// How lateral forces grow with slip.
    #[serde(default, skip_serializing_if = "crate::road::is_default")]
    pub tyre: TyreModel,
    /// What they are at level `rigid`.
    #[serde(default, skip_serializing_if = "crate::road::is_default")]
    pub shape: WheelShape,
    /// Stiffness of a tyre against the ground, N/m, for spheres; what gives way by 2 cm under the static
    /// load unless given.
    #[serde(
        default,
        deserialize_with = "TyreRate::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<TyreRate>")]
    pub radial_stiffness: Option<f64>,
    /// Softness of the tyres in contacts: ODE's constraint-force mix.
    #[serde(
        default,
        deserialize_with = "Share::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Share>")]
    pub softness: Option<f64>,
    /// Share of the speed of an impact with which a wheel bounces, for spheres; 0.5 unless given.
    #[serde(
        default,
        deserialize_with = "Share::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Share>")]
    pub bounce: Option<f64>,
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
    #[serde(deserialize_with = "SteeringLock::read")]
    #[schemars(with = "SteeringLock")]
    pub lock: f64,
    /// How fast the wheels are turned, rad/s.
    #[serde(deserialize_with = "Acceleration::read")]
    #[schemars(with = "Acceleration")]
    pub rate: f64,
    /// Of the motor that turns the wheels, N m.
    #[serde(
        default,
        deserialize_with = "Force::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Force>")]
    pub torque_nm: Option<f64>,
}

/// Springs, the same at each wheel; without this part wheels are joined rigidly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// Of one wheel, N/m.
    #[serde(deserialize_with = "SpringRate::read")]
    #[schemars(with = "SpringRate")]
    pub spring: f64,
    /// Of one wheel, N s/m.
    #[serde(deserialize_with = "SpringRate::read")]
    #[schemars(with = "SpringRate")]
    pub damping: f64,
    /// Force of the anti-sway bars on a wheel per metre of difference between left and right, N/m.
    #[serde(default, deserialize_with = "SpringRate::read")]
    #[schemars(with = "SpringRate")]
    pub anti_sway: f64,
}

/// What drivers can count on: limits of the levels without an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Performance {
    /// Top speed, m/s.
    #[serde(deserialize_with = "Speed::read")]
    #[schemars(with = "Speed")]
    pub max_speed: f64,
    /// Largest acceleration, m/s^2.
    #[serde(deserialize_with = "Acceleration::read")]
    #[schemars(with = "Acceleration")]
    pub max_acceleration: f64,
    /// Hardest braking, m/s^2.
    #[serde(deserialize_with = "Acceleration::read")]
    #[schemars(with = "Acceleration")]
    pub max_braking: f64,
}

/// Where another vehicle is joined on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Articulation {
    /// Place of the universal joint, m: forward, to the left, up from the middle of the body.
    #[serde(deserialize_with = "numbers::point")]
    #[schemars(with = "[Offset; 3]")]
    pub anchor: Point,
}

/// How a sliding car slides: constants of [Adam 2007], appendix A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sliding {
    /// Air resistance over the square of the speed, N s^2/m^2 (`DRAG`).
    #[serde(deserialize_with = "SpringRate::read")]
    #[schemars(with = "SpringRate")]
    pub drag: f64,
    /// Rolling resistance over the speed, N s/m (`RESISTANCE`).
    #[serde(deserialize_with = "SpringRate::read")]
    #[schemars(with = "SpringRate")]
    pub resistance: f64,
    /// Cornering stiffness of the front axle over its load, 1/rad (`CAF` without its sign).
    #[serde(deserialize_with = "CorneringStiffness::read")]
    #[schemars(with = "CorneringStiffness")]
    pub front_stiffness: f64,
    /// Cornering stiffness of the rear axle over its load, 1/rad (`CAR` without its sign).
    #[serde(deserialize_with = "CorneringStiffness::read")]
    #[schemars(with = "CorneringStiffness")]
    pub rear_stiffness: f64,
    /// Largest lateral force of an axle over its load (`MAXGRIP`).
    #[serde(deserialize_with = "Friction::read")]
    #[schemars(with = "Friction")]
    pub grip: f64,
}

/// Continuous tracks: the wheels of a side are driven together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tracks {
    /// Torque with which a side is turned against the other one, N m.
    #[serde(deserialize_with = "Force::read")]
    #[schemars(with = "Force")]
    pub torque_nm: f64,
    /// Speed of the sides against each other where the vehicle turns on the spot, m/s.
    #[serde(default = "pivot_speed", deserialize_with = "Speed::read")]
    #[schemars(with = "Speed")]
    pub pivot_speed: f64,
}

fn pivot_speed() -> f64 {
    1.0
}
