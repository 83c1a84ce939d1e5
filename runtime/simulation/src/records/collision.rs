//! Collisions, recorded when two bodies begin to overlap.

use serde::{Deserialize, Serialize};

/// Counterpart of an agent in a collision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    /// Another agent, by its id.
    Agent(u64),
    /// An obstacle, by its id.
    Obstacle(u32),
    /// An uncoupled trailer, identified by the number of its train.
    Trailer(u32),
    /// A tree of a forest.
    Tree {
        /// Id of the forest.
        forest: u32,
        /// Number of the tree in the forest.
        tree: u32,
    },
}

impl Party {
    /// The other agent; `None` if the counterpart is not an agent.
    pub fn agent(self) -> Option<u64> {
        match self {
            Self::Agent(id) => Some(id),
            Self::Obstacle(_) | Self::Trailer(_) | Self::Tree { .. } => None,
        }
    }
}

/// A collision, which begins when two bodies start to overlap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Collision {
    /// Simulation time of the first contact, s.
    pub time: f64,
    /// Id of the agent.
    pub agent: u64,
    /// The other agent or object in the collision.
    pub with: Party,
    /// X coordinate of the contact, m.
    pub x: f64,
    /// Y coordinate of the contact, m.
    pub y: f64,
    /// Maximum depth of the overlap so far, m.
    pub depth: f64,
}
