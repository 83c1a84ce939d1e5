//! What is left of agents that do not drive any more.

use serde::{Deserialize, Serialize};

/// Where an agent is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It drives.
    Active,
    /// It has reached its destination and is gone.
    Arrived,
    /// It cannot get to its destination and never appeared.
    Refused,
    /// An edit of the scenario took it out while it drove or waited.
    Removed,
}

/// The one row that an agent leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FinishedAgent {
    /// Its id.
    pub id: u64,
    /// How it ended.
    pub status: Status,
    /// When it appeared, s; 0 if it never did.
    pub started: f64,
    /// When it left, was refused or was deleted, s.
    pub ended: f64,
    /// Distance driven, m.
    pub distance: f64,
    /// Its fitness by the fitness module that it had; `None` if it has not driven.
    pub fitness: Option<f64>,
}

// Long runs keep one for each agent.
const _: () = assert!(size_of::<FinishedAgent>() <= 200);
