//! Engine, gearbox, brakes and driving resistance of a vehicle.

use crate::quantity::{
    Density, Drag, FinalDrive, Force, GearRatio, Inertia, OptionalQuantity, Quantity, Rpm, Share,
    Size, TorqueCurve,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Interpolation of torque between the points of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Straight lines ([Gerdelan 2011], equation 11.1).
    #[default]
    Linear,
    /// A monotone cubic: smooth, and never above or below both adjacent points.
    Smooth,
}

/// The engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Torque at full throttle, as pairs of rpm and N m, with rpm ascending. Below the first point, the
    /// torque of the first point applies. Above the last point, there is no torque (rev limit).
    pub torque_curve_rpm_nm: Quantity<TorqueCurve, Vec<(f64, f64)>>,
    /// Interpolation between the points.
    #[serde(default, skip_serializing_if = "crate::defaults::is_default")]
    pub interpolation: Interpolation,
    /// Moment of inertia of crankshaft and flywheel, kg m^2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: OptionalQuantity<Inertia>,
}

/// A gear. Neutral is not listed, because every gearbox has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gear {
    /// Name, such as `R`, `1` or `2`.
    pub name: String,
    /// Engine speed divided by output speed. It is negative for reverse, and never 0.
    pub ratio: Quantity<GearRatio>,
    /// Number of driven wheels, counted from the first wheel in the file. For example, 2 of 4
    /// wheels means rear-wheel drive (wheels 0 and 1).
    pub wheels: u8,
}

/// Distribution of torque between the wheels of a differential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Differential {
    /// Equal torques. The wheel with the least grip limits both wheels.
    #[default]
    Open,
    /// Equal speeds. Each wheel transmits what its grip allows.
    Locked,
}

/// Gearbox, final drive and shift points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gearbox {
    /// The forward and reverse gears, with at least one forward gear. Forward gears are listed from
    /// the highest ratio to the lowest.
    pub gears: Vec<Gear>,
    /// Ratio of the final drive.
    pub final_drive: Quantity<FinalDrive>,
    /// Distribution of torque between the wheels.
    #[serde(default, skip_serializing_if = "crate::defaults::is_default")]
    pub differential: Differential,
    /// Fraction of the engine's torque that reaches the wheels.
    pub efficiency: Quantity<Share>,
    /// Engine speed at which the automatic gearbox shifts up, rpm.
    pub up_rpm: Quantity<Rpm>,
    /// Engine speed at which the gearbox shifts down, rpm.
    pub down_rpm: Quantity<Rpm>,
}

/// Brakes of a vehicle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Brakes {
    /// Force of the foot brake at the circumference of one wheel, N. It is limited by grip.
    pub foot: Quantity<Force>,
    /// Indices of the wheels on which the hand brake acts. It can hold them up to the limit of their grip.
    #[serde(default = "rear_wheels")]
    pub hand_wheels: Vec<u8>,
}

fn rear_wheels() -> Vec<u8> {
    vec![0, 1]
}

/// Air and rolling resistance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resistance {
    /// Drag coefficient.
    pub drag: Quantity<Drag>,
    /// Frontal area, m^2.
    pub area: Quantity<Size>,
    /// Rolling resistance of the whole vehicle divided by the vehicle's speed, N s/m.
    pub rolling: Quantity<Force>,
    /// Density of the air, kg/m^3.
    #[serde(default = "air")]
    pub air_density: Quantity<Density>,
}

/// Returns the default density of air, from section 11.4 of [Gerdelan 2011].
fn air() -> Quantity<Density> {
    1.2.into()
}
