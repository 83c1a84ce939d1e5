//! The data sheet of a vehicle: figures that are computed from its file without driving.
//!
//! The proving ground ([`crate::proving`]) compares its manoeuvres with some of these figures. User
//! interfaces draw the others: torque against engine speed, force against speed, springs, roll, a side view
//! and a rear view.

mod engine;
mod facts;
mod from_type;
mod outline;
mod roll;
mod spring;

pub use engine::{EnginePoint, GearForce, Traction};
pub use facts::Fact;
pub use from_type::file_of_type;
pub use outline::{Outline, TrailerOutline};
pub use roll::RollCurve;
pub use spring::QuarterCar;

use crate::drive_train::DriveTrain;
use crate::dynamic::SingleTrack;
use crate::one_track::OneTrackLimits;
use crate::rigid::RigidModel;
use roadwright_scenario::DynamicsLevel;
use roadwright_scenario::vehicle_file::VehicleFile;

/// A vehicle file, with the models that can be created from it.
#[derive(Debug, Clone)]
pub struct Sheet<'a> {
    /// The file.
    pub file: &'a VehicleFile,
    /// Limits that a driver has to respect.
    pub limits: OneTrackLimits,
    /// Drive train of the vehicle; `None` if the file lacks any of its parts.
    pub train: Option<DriveTrain>,
    /// Dynamic one-track model; `None` if the file lacks keys for it.
    pub model: Option<SingleTrack>,
    /// Rigid-body model; `None` if the file lacks keys for it.
    pub rigid: Option<RigidModel>,
}

impl<'a> Sheet<'a> {
    /// Creates the sheet of a vehicle.
    pub fn of(file: &'a VehicleFile) -> Self {
        let serves = |level| file.missing(level).is_empty();
        Self {
            file,
            limits: OneTrackLimits::from(&file.vehicle_type()),
            train: DriveTrain::new(file),
            model: serves(DynamicsLevel::DynamicOneTrack).then(|| SingleTrack::from(file)),
            rigid: serves(DynamicsLevel::Rigid)
                .then(|| RigidModel::of_file(file))
                .flatten(),
        }
    }

    /// Whether the vehicle has a rigid-body model that is too stiff to be simulated.
    pub fn is_too_stiff(&self) -> bool {
        self.rigid.as_ref().is_some_and(RigidModel::is_too_stiff)
    }

    /// Returns the most detailed dynamics level that the file supports at an acceptable computing
    /// time.
    pub fn thickest_level(&self) -> DynamicsLevel {
        if self.rigid.is_some() && !self.is_too_stiff() {
            DynamicsLevel::Rigid
        } else if self.model.is_some() {
            DynamicsLevel::DynamicOneTrack
        } else if self.file.sliding.is_some() {
            DynamicsLevel::Sliding
        } else {
            DynamicsLevel::OneTrack
        }
    }

    /// Describes values of `performance` that the drive train cannot reach.
    pub fn contradictions(&self) -> Vec<String> {
        let Some(train) = &self.train else {
            return Vec::new();
        };
        let promised = &self.file.performance;
        let pairs = [
            (
                "max_speed",
                promised.max_speed.get(),
                train.top_speed(),
                "m/s",
            ),
            (
                "max_acceleration",
                promised.max_acceleration.get(),
                train.hardest_acceleration(),
                "m/s^2",
            ),
            (
                "max_braking",
                promised.max_braking.get(),
                train.hardest_braking(),
                "m/s^2",
            ),
        ];
        let broken = pairs
            .into_iter()
            .filter(|(_, said, can, _)| *said > can * (1.0 + TOLERANCE));
        let words = broken.map(|(key, said, can, unit)| {
            format!(
                "performance.{key}: the file states {said} {unit}, but engine and brakes give {can:.2}"
            )
        });
        words.collect()
    }
}

/// Permitted relative difference between `performance` and the values of the drive train.
const TOLERANCE: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;

    #[test]
    fn the_thickest_level_is_one_that_the_file_serves() {
        for (name, level) in [
            ("willys-mb", DynamicsLevel::Rigid),
            ("ford-escort", DynamicsLevel::DynamicOneTrack),
            ("sliding-racer", DynamicsLevel::Sliding),
            ("semi-trailer-tractor", DynamicsLevel::OneTrack),
        ] {
            let file = shipped(name);
            assert_eq!(Sheet::of(&file).thickest_level(), level, "{name}");
            assert!(file.missing(level).is_empty(), "{name}");
        }
    }

    #[test]
    fn what_is_too_stiff_for_its_mass_is_driven_at_a_thinner_level() {
        let mut file = shipped("willys-mb");
        (*file.body.mass, *file.wheels.mass) = (1e-3, 1e-3);
        assert!(!Sheet::of(&file).is_too_stiff());
        let Some(suspension) = &mut file.suspension else {
            panic!("the jeep has springs");
        };
        suspension.spring = 1e9.into();
        let sheet = Sheet::of(&file);
        assert!(sheet.is_too_stiff());
        assert_eq!(sheet.thickest_level(), DynamicsLevel::DynamicOneTrack);
    }

    #[test]
    fn promises_that_engine_and_brakes_do_not_keep_are_named() {
        let mut file = shipped("willys-mb");
        assert_eq!(Sheet::of(&file).contradictions(), Vec::<String>::new());
        file.performance.max_speed = 90.0.into();
        let found = Sheet::of(&file).contradictions();
        assert!(
            found.len() == 1
                && found[0].starts_with("performance.max_speed: the file states 90 m/s"),
            "{found:?}"
        );
    }
}
