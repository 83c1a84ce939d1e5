//! Vehicle files: `NAME.vehicle.json`.
//!
//! One file contains the data of a vehicle for all dynamics levels. Each level reads the parts that
//! it needs, and [`VehicleFile::missing`] lists the keys that a level needs but the file lacks. The
//! keys correspond to the rows of [Gerdelan 2011], table B.2, plus parameters of tyre slip.

mod check;
mod drive_train;
mod parts;
mod shipped;
mod text;
mod trailer;

pub use drive_train::{Brakes, Differential, Engine, Gear, Gearbox, Interpolation, Resistance};
pub use parts::{
    Articulation, Body, Performance, Point, Sliding, Steering, Suspension, Tracks, TyreModel,
    WheelShape, Wheels,
};
pub use shipped::{SHIPPED, ShippedVehicle};
pub use trailer::{Trailer, TrailerJoint, TrailerWheels};

use crate::dynamics::{DynamicsLevel, VehiclePart};
use crate::json_text::{FileError, TextError};
use crate::off_road::OffRoad;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The value of the key `format` in every vehicle file.
pub const FORMAT: &str = "roadwright-vehicle";
/// Version of the format.
pub const VERSION: u32 = 1;
/// File name extension of vehicle files.
pub const EXTENSION: &str = ".vehicle.json";
/// Maximum size of a vehicle file, bytes. A typical file has about 2 kB.
pub const LARGEST: u64 = roadwright_files::MEBIBYTE;

/// The file from which a vehicle type was read.
#[derive(Debug, Clone, PartialEq)]
pub struct FileReference {
    /// Path of the file relative to the folder of the scenario.
    pub path: String,
    /// Hash of the file's text, see [`hash`].
    pub hash: String,
    /// The hash stored in the scenario, if the file has changed since the scenario was saved;
    /// otherwise `None`.
    pub was: Option<String>,
    /// The contents of the file.
    pub vehicle: VehicleFile,
}

/// A vehicle, part by part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Roadwright vehicle")]
pub struct VehicleFile {
    /// Always `roadwright-vehicle`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format.
    #[schemars(range(min = 1, max = VERSION))]
    pub version: u32,
    /// Name of the vehicle.
    pub name: String,
    /// Sources of the vehicle's numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Dimensions and masses.
    pub body: Body,
    /// Wheels and tyres.
    pub wheels: Wheels,
    /// Steered wheels, steering lock and steering rate.
    pub steering: Steering,
    /// Performance limits, on which drivers rely.
    pub performance: Performance,
    /// Springs and anti-sway bars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
    /// Engine with its torque curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// Gears and final drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gearbox: Option<Gearbox>,
    /// Foot brake and hand brake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brakes: Option<Brakes>,
    /// Air and rolling resistance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resistance: Option<Resistance>,
    /// Coupling for a trailer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub articulation: Option<Articulation>,
    /// Trailers coupled to the vehicle, from front to back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trailers: Vec<Trailer>,
    /// Constants of the sliding car.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sliding: Option<Sliding>,
    /// Continuous tracks, if the vehicle has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracks: Option<Tracks>,
    /// Conditions under which the vehicle leaves the lanes.
    #[serde(default, skip_serializing_if = "OffRoad::is_default")]
    pub off_road: OffRoad,
    /// Pass limits of manoeuvres on the proving ground, by name, in the units of the manoeuvres.
    /// They override the limits derived from the other numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, f64>,
}

impl VehicleFile {
    /// Reads a vehicle from the text of its file.
    ///
    /// # Errors
    /// If the text is not a vehicle of a known version. The error names the line, the key and the reason.
    pub fn from_text(text: &str) -> Result<Self, TextError> {
        let file: Self = crate::json_text::from_json(text)?;
        file.check()
            .map_err(|(key, message)| TextError::whole(&key, message))?;
        Ok(file)
    }

    /// Reads a vehicle file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a vehicle of a known version.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        let text = roadwright_files::read_text(path, LARGEST).map_err(|error| FileError::Io {
            path: path.to_owned(),
            error,
        })?;
        Self::from_text(&text).map_err(|error| FileError::Text {
            path: path.to_owned(),
            error,
        })
    }

    /// Mass of all trailers, kg.
    pub fn towed_mass(&self) -> f64 {
        self.trailers
            .iter()
            .fold(0.0, |sum, trailer| sum + trailer.mass)
    }

    /// Returns the position of the coupling for the first trailer, m ahead of the centre of the
    /// body; `None` without an `articulation`.
    pub fn coupling(&self) -> Option<f64> {
        self.articulation.as_ref().map(|joint| joint.anchor[0])
    }

    /// Returns the height of the coupling above level ground, m; `None` without an `articulation`.
    /// The front of a trailer is at the same height, because trailers are towed level.
    pub fn coupling_height(&self) -> Option<f64> {
        let body = &self.body;
        let middle = body.ground_clearance + 0.5 * body.height;
        let joint = self.articulation.as_ref()?;
        Some(middle + joint.anchor[2])
    }

    /// Mass of body and wheels, kg.
    pub fn mass(&self) -> f64 {
        self.body.mass + self.wheels.mass * self.wheels.positions.len() as f64
    }

    /// Returns the moment of inertia about the vertical axis, kg m^2. It is the given value or, by
    /// default, that of the mass box with uniform density plus that of the wheels as point masses.
    pub fn yaw_inertia(&self) -> f64 {
        let Body {
            length,
            width,
            height,
            mass,
            mass_box,
            yaw_inertia,
            ..
        } = self.body;
        yaw_inertia.unwrap_or_else(|| {
            let [length, width, _] = mass_box.unwrap_or([length.get(), width.get(), height.get()]);
            let places = self.wheels.positions.iter();
            let squares: f64 = places.map(|p| p[0] * p[0] + p[1] * p[1]).sum();
            mass * (length * length + width * width) / 12.0 + self.wheels.mass * squares
        })
    }

    /// Returns the mean positions of the two groups of wheels along the vehicle, m ahead of the
    /// centre of the body: first the steered wheels, then the other wheels.
    pub fn axles(&self) -> (f64, f64) {
        let wheels = (0u8..).zip(&self.wheels.positions);
        let (steered, others): (Vec<_>, Vec<_>) =
            wheels.partition(|(number, _)| self.steering.wheels.contains(number));
        let mean = |wheels: Vec<(u8, &[f64; 3])>| {
            let sum: f64 = wheels.iter().fold(0.0, |sum, (_, place)| sum + place[0]);
            sum / wheels.len() as f64
        };
        (mean(steered), mean(others))
    }

    /// Returns the keys that a level needs but this vehicle lacks. If there are none, the level can
    /// drive the vehicle.
    pub fn missing(&self, level: DynamicsLevel) -> Vec<&'static str> {
        let keys = level
            .traits()
            .needs
            .iter()
            .flat_map(|part| self.keys(*part));
        keys.filter(|(_, given)| !given)
            .map(|(key, _)| key)
            .collect()
    }

    /// Returns the keys of a part. Each is paired with a flag that states whether the file contains
    /// it.
    fn keys(&self, part: VehiclePart) -> Vec<(&'static str, bool)> {
        match part {
            VehiclePart::Tyres => vec![
                ("wheels.friction", self.wheels.friction.is_some()),
                (
                    "wheels.cornering_stiffness",
                    self.wheels.cornering_stiffness.is_some(),
                ),
                ("body.centre_height", self.body.centre_height.is_some()),
            ],
            VehiclePart::Suspension => vec![("suspension", self.suspension.is_some())],
            VehiclePart::Sliding => vec![("sliding", self.sliding.is_some())],
            VehiclePart::WholeDriveTrain => {
                let train = self.drive_train();
                // An incomplete drive train cannot drive the vehicle.
                match train.iter().any(|(_, given)| *given) {
                    true => train.to_vec(),
                    false => Vec::new(),
                }
            }
        }
    }

    /// Returns the keys of the parts of a drive train. Each is paired with a flag that states
    /// whether the file contains it.
    pub fn drive_train(&self) -> [(&'static str, bool); 4] {
        [
            ("engine", self.engine.is_some()),
            ("gearbox", self.gearbox.is_some()),
            ("brakes", self.brakes.is_some()),
            ("resistance", self.resistance.is_some()),
        ]
    }

    /// Returns the JSON Schema of vehicle files, as text.
    pub fn schema() -> String {
        let schema = schemars::schema_for!(Self);
        let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
        text.push('\n');
        text
    }
}

/// Returns the hash of a vehicle file's text, as stored in scenarios: XXH3, 16 hexadecimal digits.
pub fn hash(text: &str) -> String {
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(text.as_bytes()))
}
