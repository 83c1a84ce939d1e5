//! What the solver of rigid bodies has of a vehicle.

use glam::DVec3;
use roadwright_vehicle::rigid::RigidModel;

/// The bodies of a vehicle as the solver has them. It is that of the vehicle's type: how they lie is in
/// the vehicle's record.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RigidShape {
    /// Corners of the convex parts of the hull as others touch it, from the centre of gravity: ahead, to
    /// the left and up, m.
    pub hull: Vec<Vec<DVec3>>,
    /// Middles of the wheels at rest, from the centre of gravity, m.
    pub hubs: Vec<DVec3>,
    /// Static loads of the wheels, N.
    pub loads: Vec<f64>,
    /// Whether wheels are spheres; else they are rays.
    pub has_spheres: bool,
    /// From the middle of the rear axle ahead to the centre of gravity, m.
    pub rear: f64,
}

impl RigidShape {
    pub(crate) fn of(model: &RigidModel) -> Self {
        let wheels = model.wheels.iter();
        Self {
            hull: model.hull_parts(),
            hubs: wheels
                .clone()
                .map(|wheel| wheel.hub(model.radius))
                .collect(),
            loads: wheels.map(|wheel| wheel.load).collect(),
            has_spheres: model.spheres.is_some(),
            rear: model.rear,
        }
    }
}
