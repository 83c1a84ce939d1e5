//! Parts of a world that do not change while it runs.

use crate::vehicle_type::VehicleTypes;
use roadwright_ground::Ground;

/// Borrowed parts of a world that steps read and never change.
#[derive(Clone, Copy)]
pub(crate) struct Fixed<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
}
