//! Creates vehicle files for vehicle types that have none.

use crate::dynamic::GRAVITY;
use crate::rigid::RigidModel;
use roadwright_scenario::VehicleType;
use roadwright_scenario::vehicle_file::{
    Body, FORMAT, Performance, Steering, Suspension, TyreModel, VERSION, VehicleFile, WheelShape,
    Wheels,
};

/// Maximum fraction of a vehicle type's mass that is assigned to its wheels. Files list the masses
/// of body and wheels separately.
const MOST_WHEELS: f64 = 0.2;
/// Factor for rounding converted values to three decimals, which are millimetres and grams.
const DECIMALS: f64 = 1e3;

/// Creates a vehicle file with the values that the dynamics levels assume for a vehicle type. If
/// the type already has a file, that file is returned. Otherwise, the file has no drive train. Its
/// wheels, springs and tyres are those of passenger cars, as used by level `rigid`.
pub fn file_of_type(kind: &VehicleType) -> VehicleFile {
    if let Some(file) = &kind.file {
        return file.vehicle.clone();
    }
    let model = RigidModel::from(kind);
    let wheel_mass = rounded(20f64.min(0.25 * MOST_WHEELS * kind.mass));
    let clearance = rounded(2.0 * (model.height + model.hull.z - model.half_size.z)) / 2.0;
    let height = kind.height - clearance;
    let middle = clearance + 0.5 * height;
    // Positions in the model are relative to the centre of gravity, and those in the file are relative to the
    // centre of the hull.
    let ahead = |x: f64| rounded(x - model.hull.x);
    let places = model.wheels.iter().map(|wheel| {
        let place = wheel.contact;
        [
            ahead(place.x),
            rounded(place.y),
            // The centre of a wheel is one radius above the ground.
            rounded(model.radius - middle),
        ]
    });
    let steered = (0u8..).zip(&model.wheels).filter(|(_, w)| w.steers > 0.0);
    let sum = |of: fn(&crate::rigid::Wheel) -> f64| {
        let all = model.wheels.iter().map(of);
        rounded(all.sum::<f64>() / model.wheels.len() as f64)
    };
    VehicleFile {
        format: FORMAT.into(),
        version: VERSION,
        name: kind.name.clone(),
        description: format!(
            "Created from a vehicle type without a file: wheels, springs and tyres are typical of \
             passenger cars, with the same springs at all wheels (mean load {:.0} N).",
            kind.mass * GRAVITY / model.wheels.len() as f64
        ),
        body: Body {
            length: kind.length,
            width: kind.width,
            height: rounded(height).into(),
            ground_clearance: clearance.into(),
            mass: (kind.mass - 4.0 * wheel_mass).into(),
            mass_box: None.into(),
            centre_height: Some(rounded(model.height)).into(),
            yaw_inertia: Some(rounded(model.inertia.z)).into(),
            friction: None.into(),
            softness: None.into(),
        },
        wheels: Wheels {
            radius: model.radius.into(),
            mass: wheel_mass.into(),
            positions: places.collect(),
            friction: Some(model.friction).into(),
            cornering_stiffness: Some(model.stiffness).into(),
            tyre: TyreModel::Saturating,
            shape: WheelShape::Ray,
            radial_stiffness: None.into(),
            softness: None.into(),
            bounce: None.into(),
        },
        steering: Steering {
            wheels: steered.map(|(number, _)| number).collect(),
            inverted: Vec::new(),
            lock: kind.max_steering,
            rate: kind.steering_rate,
            torque_nm: None.into(),
        },
        performance: Performance {
            max_speed: kind.max_speed,
            max_acceleration: kind.max_acceleration,
            max_braking: kind.max_braking,
        },
        suspension: Some(Suspension {
            spring: sum(|wheel| wheel.spring).into(),
            damping: sum(|wheel| wheel.damping).into(),
            anti_sway: rounded(model.anti_sway).into(),
        }),
        engine: None,
        gearbox: None,
        brakes: None,
        resistance: None,
        articulation: None,
        trailers: Vec::new(),
        sliding: None,
        tracks: None,
        off_road: kind.off_road,
        limits: Default::default(),
    }
}

fn rounded(value: f64) -> f64 {
    (value * DECIMALS).round() / DECIMALS
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_scenario::DynamicsLevel;

    #[test]
    fn the_file_of_a_type_is_that_type() {
        for kind in [
            VehicleType::car(),
            VehicleType::willys_mb(),
            VehicleType::enviro_400(),
        ] {
            let file = file_of_type(&kind);
            assert_eq!(file.checked(), Ok(()), "{}", kind.name);
            let again = file.vehicle_type();
            for (one, other) in [
                (kind.length.get(), again.length.get()),
                (kind.width.get(), again.width.get()),
                (kind.height.get(), again.height.get()),
                (kind.wheelbase.get(), again.wheelbase.get()),
                (kind.rear_overhang.get(), again.rear_overhang.get()),
                (kind.mass.get(), again.mass.get()),
                (kind.max_speed.get(), again.max_speed.get()),
                (kind.max_steering.get(), again.max_steering.get()),
            ] {
                assert!((one - other).abs() < 2e-3, "{}: {one} {other}", kind.name);
            }
            assert!(file.missing(DynamicsLevel::Rigid).is_empty());
            // With this file, the vehicle behaves as it does without a file.
            let (given, made) = (RigidModel::from(&kind), RigidModel::of_file(&file).unwrap());
            assert!((given.height - made.height).abs() < 1e-3);
            assert!((given.inertia.z / made.inertia.z - 1.0).abs() < 1e-3);
            assert!((given.roll_gradient() / made.roll_gradient() - 1.0).abs() < 0.1);
            for (one, other) in given.wheels.iter().zip(&made.wheels) {
                assert!((one.load / other.load - 1.0).abs() < 0.01, "{}", kind.name);
                assert_eq!((one.steers, one.partner), (other.steers, other.partner));
            }
        }
    }
}
