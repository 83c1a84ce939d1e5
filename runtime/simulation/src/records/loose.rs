//! Loose obstacles that have been pushed, as pictures show them.

use glam::DVec2;
use roadwright_scenario::ObstacleId;

/// A loose obstacle that has been pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct LooseRecord {
    /// Which one.
    pub obstacle: ObstacleId,
    /// What it covers as seen from above, counter-clockwise, m.
    pub outline: Vec<DVec2>,
    /// How far it leans from upright, rad, 0 to pi.
    pub tilt: f64,
}
