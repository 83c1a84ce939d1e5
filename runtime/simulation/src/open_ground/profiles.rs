//! For whom maps of open ground are made.

pub use crate::vehicle_type::body_of;
use roadwright_planning::open_ground::{CellSize, Profile};
use roadwright_scenario::VehicleType;

/// The profile of a vehicle type with cells of a size.
pub fn profile_of(vehicle: &VehicleType, cell: CellSize) -> Profile {
    Profile::new(body_of(vehicle), cell)
}
