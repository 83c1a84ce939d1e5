//! The ground surface under wheels.

use glam::{DVec2, DVec3};
use roadwright_geometry::HeightField;

/// Ground with a height, normal and friction at each position.
pub trait Surface {
    /// Height (m) and unit normal at the given position.
    fn at(&self, place: DVec2) -> (f64, DVec3);

    /// Factor on tyre friction at the given position: 1 on asphalt, 0.15 on ice.
    fn friction(&self, _place: DVec2) -> f64 {
        1.0
    }

    /// Factor on tyre friction for a vehicle on the given road layers (bit mask). The layers ensure
    /// that a bridge does not affect the road below it.
    fn friction_on(&self, place: DVec2, _layers: u32) -> f64 {
        self.friction(place)
    }
}

/// Level ground at height 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flat;

impl Surface for Flat {
    fn at(&self, _: DVec2) -> (f64, DVec3) {
        (0.0, DVec3::Z)
    }
}

/// Beyond the edge of the field, the height is that of the border.
impl Surface for HeightField {
    fn at(&self, place: DVec2) -> (f64, DVec3) {
        self.surface(place)
    }
}
