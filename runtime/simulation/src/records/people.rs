//! Pedestrians, as recorded in snapshots and summaries.

use glam::DVec2;
use serde::{Deserialize, Serialize};

/// Statistics of pedestrians.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PeopleCounts {
    /// Number of pedestrians that have come to a crossing.
    pub came: u64,
    /// Number of pedestrians that have reached the other side.
    pub arrived: u64,
    /// Longest time that a pedestrian has waited at a kerb or on an island, s.
    pub longest_wait: f64,
    /// Total distance walked, m.
    pub walked_metres: f64,
    /// Number of pedestrians that were turned away because two hundred others were already waiting
    /// at their crossing.
    pub turned_away: u64,
}

/// State of a pedestrian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PersonRecord {
    /// Number of the pedestrian, starting at 1. It is independent of agent ids.
    pub id: u64,
    /// Position, m.
    pub position: DVec2,
    /// Heading, rad.
    pub heading: f64,
    /// Whether the pedestrian waits.
    pub waits: bool,
}
