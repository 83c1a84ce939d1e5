//! Map profiles of vehicle types for open ground.

pub use crate::vehicle_type::{body_of, effects_of};
use roadwright_planning::open_ground::{CellSize, Profile};
use roadwright_scenario::VehicleType;

/// Returns the profile of a vehicle type for cells of this size.
pub fn profile_of(vehicle: &VehicleType, cell: CellSize) -> Profile {
    Profile {
        effects: effects_of(vehicle).into(),
        ..Profile::new(body_of(vehicle), cell)
    }
}
