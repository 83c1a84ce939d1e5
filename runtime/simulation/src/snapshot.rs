//! The world as pictures, recorders and tests read it: plain records, one per vehicle.

use crate::mover::Status;
use roadwright_geometry::Pose;
use roadwright_scenario::RoadId;

/// One vehicle at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VehicleRecord {
    /// The agent's id.
    pub agent: u64,
    /// Pose of the middle of the rear axle.
    pub pose: Pose,
    /// Pose of the middle of the body.
    pub body: Pose,
    /// Length over all, m.
    pub length: f64,
    /// Width over all, m.
    pub width: f64,
    /// Speed, m/s.
    pub speed: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
    /// Commanded acceleration, m/s^2.
    pub acceleration: f64,
    /// Road and lane that it follows, if any.
    pub lane: Option<(RoadId, i8)>,
    /// Distance along the strip that it follows, m.
    pub s: f64,
    /// Distance to the left of that strip's centre, m.
    pub t: f64,
    /// Where it is in its life.
    pub status: Status,
}

/// The world at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Simulation time, s.
    pub time: f64,
    /// Number of steps so far.
    pub step: u64,
    /// Vehicles that drive, in the order of their agents.
    pub vehicles: Vec<VehicleRecord>,
}
