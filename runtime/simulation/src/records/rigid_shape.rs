//! Shape of a vehicle in the rigid-body solver.

use glam::DVec3;
use roadwright_vehicle::rigid::RigidModel;

/// Geometry and static wheel loads of a vehicle type in the rigid-body solver. The orientation is
/// part of the vehicle's record.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RigidShape {
    /// Corners of the convex parts of the hull, used for contacts with other bodies. Coordinates
    /// are relative to the centre of gravity: forward, left and up, m.
    pub hull: Vec<Vec<DVec3>>,
    /// Wheel centres at rest, relative to the centre of gravity, m.
    pub hubs: Vec<DVec3>,
    /// Static wheel loads, N.
    pub loads: Vec<f64>,
    /// Whether wheels are modelled as spheres rather than rays.
    pub has_spheres: bool,
    /// Distance from the centre of the rear axle to the centre of gravity, m.
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
