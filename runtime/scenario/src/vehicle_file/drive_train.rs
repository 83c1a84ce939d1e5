//! Engine, gearbox, brakes and resistance of a vehicle.

use crate::quantity::{
    Density, Drag, FinalDrive, Force, GearRatio, Inertia, Quantity, Rpm, Share, Size, Torque,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How torque is read between the points of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Straight lines, [Gerdelan 2011] equation 11.1.
    #[default]
    Linear,
    /// A monotone cubic: smooth, and nowhere above or below the points beside it.
    Smooth,
}

/// The engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Torque at full throttle: pairs of rpm and N m, rpm growing. Below the first its torque is
    /// held, above the last one there is none (rev limit).
    #[serde(deserialize_with = "read_curve")]
    #[schemars(with = "Vec<(Rpm, Torque)>")]
    pub torque_curve_rpm_nm: Vec<(f64, f64)>,
    /// How torque is read between the points.
    #[serde(default, skip_serializing_if = "crate::road::is_default")]
    pub interpolation: Interpolation,
    /// Of crankshaft and flywheel, kg m^2.
    #[serde(
        default,
        deserialize_with = "Inertia::read_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Inertia>")]
    pub inertia: Option<f64>,
}

/// A gear. Neutral is not in the list: every gearbox has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gear {
    /// What it is called: `R`, `1`, `2`.
    pub name: String,
    /// Turns of the engine for one of the output; negative backwards, never 0.
    #[serde(deserialize_with = "GearRatio::read")]
    #[schemars(with = "GearRatio")]
    pub ratio: f64,
    /// How many wheels it drives: of four, two are the rear ones (0 and 1).
    pub wheels: u8,
}

/// How a differential shares torque.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Differential {
    /// Equal torques: the wheel with the least grip limits both.
    #[default]
    Open,
    /// Equal speeds: each wheel gives what it can.
    Locked,
}

/// Gearbox, final drive and what decides about gears.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gearbox {
    /// At least one forward gear, from the highest ratio to the lowest.
    pub gears: Vec<Gear>,
    /// Ratio of the final drive.
    #[serde(deserialize_with = "FinalDrive::read")]
    #[schemars(with = "FinalDrive")]
    pub final_drive: f64,
    /// How it shares torque between the wheels.
    #[serde(default, skip_serializing_if = "crate::road::is_default")]
    pub differential: Differential,
    /// Share of the engine's torque that comes through.
    #[serde(deserialize_with = "Share::read")]
    #[schemars(with = "Share")]
    pub efficiency: f64,
    /// The automatic gearbox shifts up here.
    #[serde(deserialize_with = "Rpm::read")]
    #[schemars(with = "Rpm")]
    pub up_rpm: f64,
    /// It shifts down here.
    #[serde(deserialize_with = "Rpm::read")]
    #[schemars(with = "Rpm")]
    pub down_rpm: f64,
}

/// Brakes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Brakes {
    /// Foot brake of one wheel at its circumference, N, limited by grip.
    #[serde(deserialize_with = "Force::read")]
    #[schemars(with = "Force")]
    pub foot: f64,
    /// Numbers of the wheels that the hand brake holds, up to their grip.
    #[serde(default = "rear_wheels")]
    pub hand_wheels: Vec<u8>,
}

fn rear_wheels() -> Vec<u8> {
    vec![0, 1]
}

/// Resistance of air and rolling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resistance {
    /// Drag coefficient.
    #[serde(deserialize_with = "Drag::read")]
    #[schemars(with = "Drag")]
    pub drag: f64,
    /// Area on which the air presses, m^2.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub area: f64,
    /// Rolling resistance of the whole vehicle over its speed, N s/m.
    #[serde(deserialize_with = "Force::read")]
    #[schemars(with = "Force")]
    pub rolling: f64,
    /// Density of the air, kg/m^3.
    #[serde(default = "air", deserialize_with = "Density::read")]
    #[schemars(with = "Density")]
    pub air_density: f64,
}

/// [Gerdelan 2011] section 11.4.
fn air() -> f64 {
    1.2
}

fn read_curve<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let points = Vec::<(f64, f64)>::deserialize(d)?;
    check_curve(&points).map_err(serde::de::Error::custom)?;
    Ok(points)
}

fn check_curve(points: &[(f64, f64)]) -> Result<(), String> {
    if points.is_empty() {
        return Err("the curve has no point: expected at least one of rpm and N m".into());
    }
    for (number, &(rpm, torque)) in points.iter().enumerate() {
        Rpm::check(rpm).map_err(|why| format!("point {number}: {why}"))?;
        Torque::check(torque).map_err(|why| format!("point {number}: {why}"))?;
    }
    let back = points.windows(2).position(|pair| pair[1].0 <= pair[0].0);
    match back {
        Some(number) => Err(format!(
            "point {} is not beyond point {number}: expected growing rpm",
            number + 1
        )),
        None => Ok(()),
    }
}
