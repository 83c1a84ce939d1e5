//! Kinds of vehicles.

use crate::access::VehicleClass;
use crate::quantity::{Acceleration, Mass, Quantity, Size, Speed, SteeringLock, Validate, at};
use crate::vehicle_file::FileReference;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Dimensions and limits that all vehicles of a kind share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VehicleType {
    /// What it is called.
    pub name: String,
    /// Length over all, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub length: f64,
    /// Width over all, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub width: f64,
    /// Height over all, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub height: f64,
    /// Distance between the axles, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub wheelbase: f64,
    /// Distance from the rear axle to the rear end, m.
    #[serde(deserialize_with = "Size::read")]
    #[schemars(with = "Size")]
    pub rear_overhang: f64,
    /// Mass, kg.
    #[serde(deserialize_with = "Mass::read")]
    #[schemars(with = "Mass")]
    pub mass: f64,
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
    /// Steering lock, rad at the front wheels.
    #[serde(deserialize_with = "SteeringLock::read")]
    #[schemars(with = "SteeringLock")]
    pub max_steering: f64,
    /// How fast the front wheels are turned, rad/s.
    #[serde(deserialize_with = "Acceleration::read")]
    #[schemars(with = "Acceleration")]
    pub steering_rate: f64,
    /// The file that says all of this, if it is one of its own.
    #[serde(skip)]
    pub file: Option<Arc<FileReference>>,
}

impl VehicleType {
    /// Vehicles longer than this are taken for buses: they may use bus lanes, m.
    pub const BUS_LENGTH: f64 = 9.0;

    /// What it counts as where lanes are reserved.
    pub fn class(&self) -> VehicleClass {
        if self.length > Self::BUS_LENGTH {
            VehicleClass::Bus
        } else {
            VehicleClass::Car
        }
    }

    /// A mid-size car.
    pub fn car() -> Self {
        Self {
            name: "Car".into(),
            length: 4.5,
            width: 1.8,
            height: 1.5,
            wheelbase: 2.7,
            rear_overhang: 0.95,
            mass: 1400.0,
            max_speed: 50.0,
            max_acceleration: 2.6,
            max_braking: 8.0,
            max_steering: 0.61,
            steering_rate: 0.9,
            file: None,
        }
    }

    /// The Willys MB jeep: hull, axles and mass of [Gerdelan 2011], table B.3.
    ///
    /// Top speed follows from its rev limit (4000 rpm) in third gear. The steering lock and rate
    /// are those of traffic driving; the table's belong to the mechanical model.
    pub fn willys_mb() -> Self {
        Self {
            name: "Willys MB".into(),
            length: 3.34,
            width: 1.57,
            height: 1.59,
            wheelbase: 2.45,
            rear_overhang: 0.57,
            mass: 1040.0,
            max_speed: 31.9,
            max_acceleration: 2.0,
            max_braking: 7.0,
            max_steering: 0.55,
            steering_rate: 0.9,
            file: None,
        }
    }

    /// The Enviro 400 double-deck bus: hull, axles and mass of [Gerdelan 2011], table B.4.
    ///
    /// Top speed follows from its last torque point (2600 rpm) in third gear; steering as for
    /// [`willys_mb`](Self::willys_mb).
    pub fn enviro_400() -> Self {
        Self {
            name: "Enviro 400".into(),
            length: 9.8,
            width: 2.55,
            height: 4.05,
            wheelbase: 5.2,
            rear_overhang: 2.2,
            mass: 15540.0,
            max_speed: 27.8,
            max_acceleration: 1.2,
            max_braking: 6.0,
            max_steering: 0.75,
            steering_rate: 0.5,
            file: None,
        }
    }

    /// Smallest radius that the middle of the rear axle can drive, m.
    pub fn min_turning_radius(&self) -> f64 {
        self.wheelbase / roadwright_geometry::math::tan(self.max_steering)
    }

    /// Distance from the rear axle forward to the middle of the body, m.
    pub fn body_centre(&self) -> f64 {
        0.5 * self.length - self.rear_overhang
    }

    /// Distance from the rear axle forward to the front end, m.
    pub fn front(&self) -> f64 {
        self.length - self.rear_overhang
    }
}

impl Validate for VehicleType {
    fn validate(&self) -> Result<(), String> {
        if let Some(file) = &self.file {
            let said = Self {
                file: self.file.clone(),
                ..file.vehicle.vehicle_type()
            };
            if *self != said {
                return Err(format!(
                    "file: {} says otherwise; change the file, or describe the vehicle in the \
                     scenario",
                    file.path
                ));
            }
        }
        at("length", Size::check(self.length))?;
        at("width", Size::check(self.width))?;
        at("height", Size::check(self.height))?;
        at("wheelbase", Size::check(self.wheelbase))?;
        at("rear_overhang", Size::check(self.rear_overhang))?;
        at("mass", Mass::check(self.mass))?;
        at("max_speed", Speed::check(self.max_speed))?;
        at(
            "max_acceleration",
            Acceleration::check(self.max_acceleration),
        )?;
        at("max_braking", Acceleration::check(self.max_braking))?;
        at("max_steering", SteeringLock::check(self.max_steering))?;
        at("steering_rate", Acceleration::check(self.steering_rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_dimensions_are_those_of_the_source() {
        let jeep = VehicleType::willys_mb();
        // Hull 1.57 x 3.34; wheels at -1.10 and +1.35 along; hull 1000 kg and four wheels of 10.
        assert_eq!((jeep.width, jeep.length, jeep.mass), (1.57, 3.34, 1040.0));
        assert!((jeep.wheelbase - (1.10 + 1.35)).abs() < 1e-12);
        let bus = VehicleType::enviro_400();
        assert_eq!((bus.width, bus.length, bus.mass), (2.55, 9.8, 15540.0));
        assert!((bus.wheelbase - (2.7 + 2.5)).abs() < 1e-12);
        // rpm = v / r x gear x differential x 60 / 2 pi, table gears 1.0 and 5.38
        let top = |rpm: f64, radius: f64| rpm / 60.0 * std::f64::consts::TAU * radius / 5.38;
        assert!((jeep.max_speed - top(4000.0, 0.41)).abs() < 0.05);
        assert!((bus.max_speed - top(2600.0, 0.55)).abs() < 0.05);
    }
}
