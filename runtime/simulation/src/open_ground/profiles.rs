//! For whom maps of open ground are made.

use roadwright_planning::open_ground::{Body, CellSize, Profile};
use roadwright_scenario::VehicleType;

/// Outline and heights of a vehicle type: the width and the height are those of the largest of the vehicle
/// and its trailers, which follow it.
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

/// The profile of a vehicle type with cells of a size.
pub fn profile_of(vehicle: &VehicleType, cell: CellSize) -> Profile {
    Profile::new(body_of(vehicle), cell)
}
