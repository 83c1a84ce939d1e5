//! Levels of dynamics: how bodies answer to commands.
//!
//! A level owns the state of its model in arrays of its own and moves all its agents at once; what
//! everybody else reads is the shared [`Motion`]. Limits of the vehicle are applied by the level,
//! for every module. So far there is one level: the kinematic one-track model.

mod one_track;

use crate::agents::{Command, Motion};
use crate::vehicle_type::VehicleType;
use one_track::OneTrack;
use serde::{Deserialize, Serialize};

/// The levels of a world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dynamics {
    one_track: OneTrack,
}

impl Dynamics {
    /// A body that stands or rolls with straight wheels.
    pub(crate) fn insert(&mut self, agent: u32) {
        self.one_track.insert(agent);
    }

    /// Bytes of one agent.
    pub(crate) fn bytes_per_agent(&self) -> usize {
        size_of::<f64>()
    }

    /// Whether there is state for so many agents.
    pub(crate) fn holds(&self, agents: usize) -> bool {
        self.one_track.steering.len() >= agents
    }

    /// Angle of an agent's front wheels, rad.
    #[inline]
    pub(crate) fn steering(&self, agent: u32) -> f64 {
        self.one_track.steering[agent as usize]
    }

    /// The states of the models, by agent index, to be moved along with other columns.
    pub(crate) fn wheels(&mut self) -> &mut [f64] {
        &mut self.one_track.steering
    }
}

/// Moves one body by a step.
#[inline]
pub(crate) fn advance(
    motion: &mut Motion,
    steering: &mut f64,
    command: &Command,
    vehicle_type: &VehicleType,
    dt: f64,
) {
    one_track::advance(motion, steering, command, vehicle_type, dt);
}
