//! Map profiles of vehicle types for open ground.

pub use crate::vehicle_type::{body_of, effects_of};
use roadwright_planning::open_ground::{CellSize, Growth, Profile};
use roadwright_scenario::{BodyKind, VehicleType};

/// Returns how obstacles are grown for bodies of a kind. Characters can turn on the spot.
pub(crate) fn growth_of(body: BodyKind) -> Growth {
    match body {
        BodyKind::Vehicle => Growth::default(),
        BodyKind::Character => Growth::Circumscribed,
    }
}

/// Returns the profile of a vehicle type for cells of this size.
pub fn profile_of(vehicle: &VehicleType, cell: CellSize) -> Profile {
    Profile {
        effects: effects_of(vehicle).into(),
        growth: growth_of(vehicle.body),
        ..Profile::new(body_of(vehicle), cell)
    }
}
