//! Vehicle types as the step needs them.

use roadwright_scenario::VehicleType;
use roadwright_vehicle::OneTrackLimits;

/// A vehicle type as the step needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Kind {
    pub(crate) length: f64,
    pub(crate) width: f64,
    pub(crate) rear_overhang: f64,
    /// From the rear axle to the front end, m.
    pub(crate) front: f64,
    /// From the rear axle to the middle of the body, m.
    pub(crate) body_centre: f64,
    /// Of the circle around the middle that holds the body, m.
    pub(crate) radius: f64,
    pub(crate) bus: bool,
    pub(crate) limits: OneTrackLimits,
}

impl From<&VehicleType> for Kind {
    fn from(kind: &VehicleType) -> Self {
        Self {
            length: kind.length,
            width: kind.width,
            rear_overhang: kind.rear_overhang,
            front: kind.front(),
            body_centre: kind.body_centre(),
            radius: 0.5 * glam::DVec2::new(kind.length, kind.width).length(),
            bus: kind.is_bus(),
            limits: OneTrackLimits::from(kind),
        }
    }
}
