//! Vehicle types as records, for controllers that request vehicle data.

use super::VehicleTypes;
use roadwright_plugin_api::{HitchData, VehicleData};
use roadwright_scenario::{DynamicsLevel, VehiclePart};

/// One record for each vehicle type at each dynamics level.
#[derive(Debug, Clone, Default)]
pub(crate) struct VehicleRecords {
    pub(crate) vehicles: Vec<VehicleData>,
    /// Trailers of all types. The records of a type at different levels share them.
    pub(crate) hitches: Vec<HitchData>,
    /// Hash of all records, never 0.
    pub(crate) version: u64,
}

impl VehicleRecords {
    pub(crate) fn of(types: &VehicleTypes) -> Self {
        let mut all = Self::default();
        for number in 0..types.count() as u16 {
            let first = all.hitches.len() as u32;
            let trailers = types.train(number).trailers().iter();
            all.hitches.extend(trailers.map(|trailer| HitchData {
                coupling: trailer.coupling,
                to_axle: trailer.to_axle,
                front: trailer.front,
                length: trailer.length,
                width: trailer.width,
                max_angle: trailer.lock,
            }));
            let count = all.hitches.len() as u32 - first;
            let levels = DynamicsLevel::ALL.into_iter();
            all.vehicles.extend(levels.map(|level| VehicleData {
                hitches: first,
                hitch_count: count,
                ..record(types, number, level)
            }));
        }
        let hash = crate::hash::of_words([(&all.vehicles, &all.hitches)].into_iter());
        all.version = hash.max(1);
        all
    }

    /// Index of the record of a vehicle type at a level.
    pub(crate) fn index(number: u16, level: DynamicsLevel) -> u32 {
        u32::from(number) * DynamicsLevel::ALL.len() as u32 + level as u32
    }
}

/// Record of a type without its trailers. Dead times and lags are 0, because no level models them.
fn record(types: &VehicleTypes, number: u16, level: DynamicsLevel) -> VehicleData {
    let kind = types.get(number);
    let limits = &kind.limits;
    let modelled = |value: f64| if level.traits().steers { value } else { 0.0 };
    VehicleData {
        length: kind.length,
        width: kind.width,
        height: types.span(number, 0).high,
        wheelbase: limits.wheelbase,
        axle_to_front: kind.front,
        axle_to_rear: kind.length - kind.front,
        mass: mass(types, number, level),
        max_speed: limits.max_speed,
        max_acceleration: limits.max_acceleration,
        max_braking: limits.max_braking,
        max_steering: modelled(limits.max_steering),
        max_steering_rate: modelled(limits.steering_rate),
        ..VehicleData::default()
    }
}

/// Mass of a type at a level, kg; 0 at levels that do not model forces.
fn mass(types: &VehicleTypes, number: u16, level: DynamicsLevel) -> f64 {
    let traits = level.traits();
    let kind = types.get(number);
    match (traits.slips, traits.pushes) {
        (false, _) => 0.0,
        (true, true) => types.rigid(number).mass,
        (true, false) if traits.needs.contains(&VehiclePart::Sliding) => kind.sliding.mass,
        (true, false) => kind.single_track.mass,
    }
}
