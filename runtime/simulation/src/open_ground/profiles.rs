//! Map profiles of vehicle types for open ground.

pub use crate::vehicle_type::body_of;
use roadwright_planning::open_ground::{CellSize, Effect, Layer, LayerEffect, Profile};
use roadwright_scenario::VehicleType;

/// Returns the profile of a vehicle type for cells of this size.
pub fn profile_of(vehicle: &VehicleType, cell: CellSize) -> Profile {
    Profile {
        effects: effects_of(vehicle),
        ..Profile::new(body_of(vehicle), cell)
    }
}

/// Returns the effects of cost layers on a vehicle type, where they differ from the default.
///
/// Slopes cost more for vehicles with less acceleration. Tracks halve the cost of slippery ground and water.
pub fn effects_of(vehicle: &VehicleType) -> Vec<LayerEffect> {
    /// Acceleration at which slopes have their default cost, m/s^2: that of a mid-size car.
    const COMMON_ACCELERATION: f64 = 2.6;
    const LEAST: f64 = 250.0;
    const MOST: f64 = 4000.0;
    let slopes = (1000.0 * COMMON_ACCELERATION / vehicle.max_acceleration).round();
    let mut effects = vec![LayerEffect {
        layer: Layer::Slope,
        effect: Effect::Slows(slopes.clamp(LEAST, MOST) as i32),
    }];
    let file = vehicle.file.as_ref();
    if file.is_some_and(|file| file.vehicle.tracks.is_some()) {
        let halved = |layer| LayerEffect {
            layer,
            effect: Effect::Slows(500),
        };
        effects.extend([Layer::Grip, Layer::Water].map(halved));
    }
    effects
}
