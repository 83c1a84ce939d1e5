//! Map profiles of vehicle types for open ground.

use roadwright_planning::open_ground::{Body, CellSize, Effect, Layer, LayerEffect, Profile};
use roadwright_scenario::VehicleType;

/// Outline and heights of a vehicle type. Width and height are the maximum over the vehicle and its trailers,
/// because the trailers follow its path.
pub fn body_of(vehicle: &VehicleType) -> Body {
    let file = vehicle.file.as_ref().map(|file| &file.vehicle);
    let trailers = file.map_or(&[][..], |file| &file.trailers);
    let widths = trailers.iter().map(|trailer| trailer.width.get());
    let span = vehicle.whole_span();
    Body {
        length: vehicle.length.get(),
        width: widths.fold(vehicle.width.get(), f64::max),
        height: span.high,
        ground_clearance: span.low,
    }
}

/// Returns the profile of a vehicle type for cells of this size.
pub fn profile_of(vehicle: &VehicleType, cell: CellSize) -> Profile {
    Profile {
        effects: effects_of(vehicle),
        ..Profile::new(body_of(vehicle), cell)
    }
}

/// Returns the effects of cost layers on a vehicle type that differ from the default.
///
/// Slopes cost more for a vehicle with less acceleration. Tracks halve the cost of slippery ground and water.
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
