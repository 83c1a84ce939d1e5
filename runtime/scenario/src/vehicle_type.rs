//! Vehicle types.

use crate::access::VehicleClass;
use crate::body_kind::BodyKind;
use crate::dynamics::DynamicsLevel;
use crate::gait::Gaits;
use crate::move_library::{self, MoveLibrary};
use crate::off_road::OffRoad;
use crate::quantity::{
    Acceleration, Mass, Quantity, Size, Speed, SteeringLock, Validate, check_keys,
};
use crate::vehicle_file::{FileReference, VehicleFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Dimensions and limits of all vehicles of a type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VehicleType {
    /// Name of the vehicle type.
    pub name: String,
    /// Kind of the body: a vehicle, or a character on foot. A character is a disc whose `length`
    /// equals its `width` and whose axle is in the middle.
    #[serde(default, skip_serializing_if = "BodyKind::is_default")]
    pub body: BodyKind,
    /// Overall length, m.
    pub length: Quantity<Size>,
    /// Overall width, m.
    pub width: Quantity<Size>,
    /// Overall height, m.
    pub height: Quantity<Size>,
    /// Distance between the axles, m.
    pub wheelbase: Quantity<Size>,
    /// Distance from the rear axle to the rear end, m.
    pub rear_overhang: Quantity<Size>,
    /// Mass, kg.
    pub mass: Quantity<Mass>,
    /// Top speed, m/s.
    pub max_speed: Quantity<Speed>,
    /// Maximum acceleration, m/s^2.
    pub max_acceleration: Quantity<Acceleration>,
    /// Maximum deceleration, m/s^2.
    pub max_braking: Quantity<Acceleration>,
    /// Steering lock of the front wheels, rad.
    pub max_steering: Quantity<SteeringLock>,
    /// Steering rate of the front wheels, rad/s.
    pub steering_rate: Quantity<Acceleration>,
    /// Conditions under which the vehicle leaves the lanes.
    #[serde(default, skip_serializing_if = "OffRoad::is_default")]
    pub off_road: OffRoad,
    /// Gaits of a character; by default those of an adult who walks at 1.4 m/s and jogs at 2.6 m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaits: Option<Arc<Gaits>>,
    /// Libraries of recorded moves, for the ground planner `move_tree` with `library` =
    /// `of_vehicle`. The first library whose ground fits is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub move_libraries: Vec<MoveLibrary>,
    /// The file from which these values were read, if there is one.
    #[serde(skip)]
    pub file: Option<Arc<FileReference>>,
}

impl VehicleType {
    /// Length above which a vehicle counts as a bus, m. Buses may use bus lanes.
    pub const BUS_LENGTH: f64 = 9.0;
    /// Diameter of a person, m. It also applies to pedestrians on crossings.
    pub const PERSON_DIAMETER: f64 = 0.45;
    /// Height of a person, m. It also applies to pedestrians on crossings.
    pub const PERSON_HEIGHT: f64 = 1.75;

    /// Class of the vehicle type, which determines the reserved lanes that it may use.
    pub fn class(&self) -> VehicleClass {
        if self.length > Self::BUS_LENGTH {
            VehicleClass::Bus
        } else {
            VehicleClass::Car
        }
    }

    /// Creates a mid-size car.
    pub fn car() -> Self {
        Self {
            name: "Car".into(),
            length: 4.5.into(),
            width: 1.8.into(),
            height: 1.5.into(),
            wheelbase: 2.7.into(),
            rear_overhang: 0.95.into(),
            mass: 1400.0.into(),
            max_speed: 50.0.into(),
            max_acceleration: 2.6.into(),
            max_braking: 8.0.into(),
            max_steering: 0.61.into(),
            steering_rate: 0.9.into(),
            off_road: OffRoad::WhenNeeded,
            body: BodyKind::Vehicle,
            gaits: None,
            move_libraries: Vec::new(),
            file: None,
        }
    }

    /// Returns the Willys MB jeep: hull, axles and mass of [Gerdelan 2011], table B.3.
    ///
    /// The top speed is derived from the rev limit (4000 rpm) in third gear. The steering lock and
    /// rate are typical values for road traffic, because the values in the table belong to the
    /// mechanical model.
    pub fn willys_mb() -> Self {
        Self {
            name: "Willys MB".into(),
            length: 3.34.into(),
            width: 1.57.into(),
            height: 1.59.into(),
            wheelbase: 2.45.into(),
            rear_overhang: 0.57.into(),
            mass: 1040.0.into(),
            max_speed: 31.9.into(),
            max_acceleration: 2.0.into(),
            max_braking: 7.0.into(),
            max_steering: 0.55.into(),
            steering_rate: 0.9.into(),
            off_road: OffRoad::WhenNeeded,
            body: BodyKind::Vehicle,
            gaits: None,
            move_libraries: Vec::new(),
            file: None,
        }
    }

    /// Returns the Enviro 400 double-deck bus: hull, axles and mass of [Gerdelan 2011], table B.4.
    ///
    /// The top speed is derived from the last torque point (2600 rpm) in third gear. Steering is
    /// the same as for [`willys_mb`](Self::willys_mb).
    pub fn enviro_400() -> Self {
        Self {
            name: "Enviro 400".into(),
            length: 9.8.into(),
            width: 2.55.into(),
            height: 4.05.into(),
            wheelbase: 5.2.into(),
            rear_overhang: 2.2.into(),
            mass: 15540.0.into(),
            max_speed: 27.8.into(),
            max_acceleration: 1.2.into(),
            max_braking: 6.0.into(),
            max_steering: 0.75.into(),
            steering_rate: 0.5.into(),
            off_road: OffRoad::WhenNeeded,
            body: BodyKind::Vehicle,
            gaits: None,
            move_libraries: Vec::new(),
            file: None,
        }
    }

    /// Creates a person on foot who walks at 1.4 m/s and jogs at up to 2.6 m/s.
    ///
    /// Controllers steer it like a tiny car: its wheelbase and steering lock give a minimum turning
    /// radius of 4 cm. The steering rate is its maximum angular acceleration, rad/s^2.
    pub fn person() -> Self {
        Self {
            name: "Person".into(),
            body: BodyKind::Character,
            length: Self::PERSON_DIAMETER.into(),
            width: Self::PERSON_DIAMETER.into(),
            height: Self::PERSON_HEIGHT.into(),
            wheelbase: 0.25.into(),
            rear_overhang: (0.5 * Self::PERSON_DIAMETER).into(),
            mass: 75.0.into(),
            max_speed: 1.4.into(),
            max_acceleration: 2.0.into(),
            max_braking: 3.0.into(),
            max_steering: 1.4.into(),
            steering_rate: 20.0.into(),
            off_road: OffRoad::WhenNeeded,
            gaits: None,
            move_libraries: Vec::new(),
            file: None,
        }
    }

    /// Returns a message for users that states why a dynamics level cannot move vehicles of this
    /// type; `None` if it can. Does not check whether the vehicle file lacks parts.
    pub fn refusal(&self, level: DynamicsLevel) -> Option<String> {
        match (self.body, level.traits().moves) {
            (BodyKind::Character, BodyKind::Vehicle) => Some(format!(
                "it is a character, which level \"{level}\" cannot move; use level \"{}\", or set no level",
                DynamicsLevel::Walker
            )),
            (BodyKind::Vehicle, BodyKind::Character) => Some(format!(
                "level \"{level}\" moves characters only; use another level, or a vehicle type with \
                 \"body\": \"{}\"",
                BodyKind::Character.name()
            )),
            (BodyKind::Vehicle, BodyKind::Vehicle) | (BodyKind::Character, BodyKind::Character) => {
                None
            }
        }
    }

    /// Checks that the numbers of a character describe a disc whose axle is in the middle.
    fn check_disc(&self) -> Result<(), String> {
        if self.body == BodyKind::Vehicle {
            return match self.gaits {
                None => Ok(()),
                Some(_) => Err("gaits: only characters have gaits".into()),
            };
        }
        if let Some(gaits) = &self.gaits {
            gaits.validate()?;
        }
        if self.length != self.width {
            return Err(format!(
                "width: a character is a disc, so its width must equal its length ({} m)",
                self.length
            ));
        }
        if self.rear_overhang != 0.5 * self.length {
            return Err(format!(
                "rear_overhang: the axle of a character is in its middle; expected half of length ({} m)",
                0.5 * self.length
            ));
        }
        Ok(())
    }

    /// Returns the minimum turning radius of the centre of the rear axle, m.
    pub fn min_turning_radius(&self) -> f64 {
        self.wheelbase / roadwright_geometry::math::tan(self.max_steering.get())
    }

    /// Whether the front of the vehicle is so far ahead of the rear axle that it swings out in
    /// turns. The distance is 8 m for a bus, which swings out, and 4.4 m for a large van, which
    /// does not.
    pub fn swings_out(&self) -> bool {
        self.front() > 5.5
    }

    /// Whether the vehicle has trailers.
    pub fn tows(&self) -> bool {
        let file = self.file.as_ref();
        file.is_some_and(|file| !file.vehicle.trailers.is_empty())
    }

    /// Returns the distance from the rear axle forward to the centre of the body, m.
    pub fn body_centre(&self) -> f64 {
        0.5 * self.length - self.rear_overhang
    }

    /// Returns the distance from the rear axle forward to the front end, m.
    pub fn front(&self) -> f64 {
        self.length - self.rear_overhang
    }
}

impl VehicleFile {
    /// Returns the vehicle type of this file, as scenarios use it.
    pub fn vehicle_type(&self) -> VehicleType {
        let (front, rear) = self.axles();
        VehicleType {
            name: self.name.clone(),
            length: self.body.length,
            width: self.body.width,
            height: (self.body.height + self.body.ground_clearance).into(),
            wheelbase: (front - rear).into(),
            rear_overhang: (rear + 0.5 * self.body.length).into(),
            mass: self.mass().into(),
            max_speed: self.performance.max_speed,
            max_acceleration: self.performance.max_acceleration,
            max_braking: self.performance.max_braking,
            max_steering: self.steering.lock,
            steering_rate: self.steering.rate,
            off_road: self.off_road,
            body: BodyKind::Vehicle,
            gaits: None,
            move_libraries: Vec::new(),
            file: None,
        }
    }
}

impl Validate for VehicleType {
    fn validate(&self) -> Result<(), String> {
        if let Some(file) = &self.file {
            let said = Self {
                file: self.file.clone(),
                move_libraries: self.move_libraries.clone(),
                ..file.vehicle.vehicle_type()
            };
            if *self != said {
                return Err(format!(
                    "file: the values differ from those in {}; change the file, or describe the vehicle in \
                     the scenario",
                    file.path
                ));
            }
        }
        move_library::check(&self.move_libraries)?;
        self.check_disc()?;
        check_keys!(
            self => length, width, height, wheelbase, rear_overhang, mass, max_speed, max_acceleration,
            max_braking, max_steering, steering_rate
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn off_road_is_written_only_if_it_is_not_the_default() {
        for off_road in OffRoad::ALL {
            let kind = VehicleType {
                off_road,
                ..VehicleType::car()
            };
            let text = serde_json::to_string(&kind).unwrap();
            let written = format!("\"off_road\":\"{}\"", off_road.name());
            assert_eq!(text.contains(&written), !off_road.is_default(), "{text}");
            let read: VehicleType = serde_json::from_str(&text).unwrap();
            assert_eq!(read, kind);
        }
        let text = serde_json::to_string(&VehicleType::car()).unwrap();
        let wrong = text.replacen('{', "{\"off_road\":\"always\",", 1);
        assert!(serde_json::from_str::<VehicleType>(&wrong).is_err());
    }

    #[test]
    fn table_dimensions_are_those_of_the_source() {
        let jeep = VehicleType::willys_mb();
        // The hull is 1.57 x 3.34 m, the wheels are at -1.10 and +1.35 m along it, and the masses are 1000 kg
        // for the hull and 10 kg for each of the four wheels.
        assert_eq!(
            [*jeep.width, *jeep.length, *jeep.mass],
            [1.57, 3.34, 1040.0]
        );
        assert!((jeep.wheelbase - (1.10 + 1.35)).abs() < 1e-12);
        let bus = VehicleType::enviro_400();
        assert_eq!([*bus.width, *bus.length, *bus.mass], [2.55, 9.8, 15540.0]);
        assert!((bus.wheelbase - (2.7 + 2.5)).abs() < 1e-12);
        // rpm = v / r x gear x differential x 60 / 2 pi, with a gear of 1.0 and a differential of 5.38 in the
        // table
        let top = |rpm: f64, radius: f64| rpm / 60.0 * std::f64::consts::TAU * radius / 5.38;
        assert!((jeep.max_speed - top(4000.0, 0.41)).abs() < 0.05);
        assert!((bus.max_speed - top(2600.0, 0.55)).abs() < 0.05);
    }
}
