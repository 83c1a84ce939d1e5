//! What wheels stand on.

use glam::{DVec2, DVec3};
use roadwright_geometry::HeightField;

/// A ground: a height, a normal and a friction at each place.
pub trait Surface {
    /// Height, m, and unit normal at a place.
    fn at(&self, place: DVec2) -> (f64, DVec3);

    /// Factor on the friction of tyres at a place: 1 on asphalt, 0.15 on ice.
    fn friction(&self, _place: DVec2) -> f64 {
        1.0
    }

    /// The same for a vehicle that is on some layers of roads, one bit each: below a bridge the bridge
    /// does not count.
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

/// Beyond its edge the height of its border goes on.
impl Surface for HeightField {
    fn at(&self, place: DVec2) -> (f64, DVec3) {
        self.surface(place)
    }
}
