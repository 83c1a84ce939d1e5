//! People on foot, as pictures and summaries show them.

use glam::DVec2;
use serde::{Deserialize, Serialize};

/// What became of people on foot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PeopleCounts {
    /// How many have come to a crossing.
    pub came: u64,
    /// How many have reached the other side.
    pub arrived: u64,
    /// The longest time for which anybody has waited at a kerb or on an island, s.
    pub longest_wait: f64,
    /// What all have walked, m.
    pub walked_metres: f64,
    /// Those who came and found two hundred at the same crossing: they went elsewhere.
    pub turned_away: u64,
}

/// A person at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PersonRecord {
    /// Its number, from 1 on; no agent's id.
    pub id: u64,
    /// Where it is, m.
    pub position: DVec2,
    /// Which way it faces, rad.
    pub heading: f64,
    /// Whether it waits.
    pub waits: bool,
}
