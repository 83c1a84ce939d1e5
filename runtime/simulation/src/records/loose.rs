//! Loose obstacles that have been pushed, as recorded in snapshots.

use glam::DVec2;
use roadwright_scenario::ObstacleId;

/// A loose obstacle that has been pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct LooseRecord {
    /// Id of the obstacle.
    pub obstacle: ObstacleId,
    /// Outline in plan view, counter-clockwise, m.
    pub outline: Vec<DVec2>,
    /// Angle from upright, rad, 0 to pi.
    pub tilt: f64,
}
