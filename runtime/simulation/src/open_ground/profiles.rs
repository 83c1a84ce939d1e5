//! For whom maps of open ground are made.

use roadwright_planning::open_ground::{Body, CellSize, Profile};
use roadwright_scenario::VehicleType;

/// Share of the height that lies below the body of a vehicle whose file does not say.
const CLEARANCE: f64 = 0.12;

/// Outline and heights of a vehicle type: the width and the height are those of the largest of the vehicle
/// and its trailers, which follow it.
pub fn body_of(vehicle: &VehicleType) -> Body {
    let file = vehicle.file.as_ref().map(|file| &file.vehicle);
    let trailers = file.map_or(&[][..], |file| &file.trailers);
    let widths = trailers.iter().map(|trailer| trailer.width.get());
    let heights = trailers.iter().map(|trailer| trailer.height.get());
    let clearance = file.map_or(CLEARANCE * vehicle.height.get(), |file| {
        file.body.ground_clearance.get()
    });
    let clearances = trailers.iter().map(|trailer| {
        let own = trailer.ground_clearance.get();
        own.unwrap_or(CLEARANCE * trailer.height.get())
    });
    Body {
        length: vehicle.length.get(),
        width: widths.fold(vehicle.width.get(), f64::max),
        height: heights.fold(vehicle.height.get(), f64::max),
        ground_clearance: clearances.fold(clearance, f64::min),
    }
}

/// The profile of a vehicle type with cells of a size.
pub fn profile_of(vehicle: &VehicleType, cell: CellSize) -> Profile {
    Profile::new(body_of(vehicle), cell)
}
