//! The kinematic one-track model.

use crate::agents::{Command, Motion};
use crate::vehicle_type::VehicleType;
use roadwright_geometry::math::wrap_angle;
use roadwright_vehicle::OneTrackState;
use serde::{Deserialize, Serialize};

/// What the model keeps beside the motion.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OneTrack {
    /// Angle of the front wheels, rad, by agent index.
    pub(super) steering: Vec<f64>,
}

impl OneTrack {
    pub(super) fn insert(&mut self, agent: u32) {
        let agent = agent as usize;
        if self.steering.len() <= agent {
            self.steering.resize(agent + 1, 0.0);
        }
        self.steering[agent] = 0.0;
    }
}

/// Moves one body by a step.
#[inline]
pub(super) fn advance(
    motion: &mut Motion,
    steering: &mut f64,
    command: &Command,
    vehicle_type: &VehicleType,
    dt: f64,
) {
    let before = OneTrackState {
        pose: motion.pose,
        speed: motion.speed,
        steering: *steering,
    };
    let limits = &vehicle_type.limits;
    let after =
        roadwright_vehicle::step(&before, limits, command.acceleration, command.steering, dt);
    *steering = after.steering;
    *motion = Motion {
        pose: after.pose,
        z: motion.z,
        speed: after.speed,
        yaw_rate: wrap_angle(after.pose.heading - before.pose.heading) / dt,
        acceleration: (after.speed - before.speed) / dt,
    };
}
