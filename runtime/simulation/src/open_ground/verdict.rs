//! Verdict on whether an agent can reach its goal, as reported and saved.

use roadwright_geometry::{DVec2, Pose};
use roadwright_planning::open_ground::{Reason, SpotError};
use serde::{Deserialize, Serialize};

/// Status of an agent's path off the lanes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum PathStatus {
    /// It is not known yet whether there is a path.
    #[default]
    Searching,
    /// There is a path to the goal, and the agent drives along it.
    Found,
    /// There is no path. The agent waits until something changes.
    NoPath(NoPath),
}

/// Reason why there is no path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoPath {
    /// Kind of the reason.
    pub kind: NoPathKind,
    /// The reason as a text for users, including the width of the gap.
    pub text: String,
    /// The widest gap on a possible path, if it is too narrow; `None` if there is no gap.
    pub gap: Option<NarrowGap>,
}

/// A gap that is too narrow for the vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NarrowGap {
    /// Width between the outlines, m.
    pub width: f64,
    /// Centre of the gap, m.
    pub at: DVec2,
    /// Width that the vehicle needs, m.
    pub needed: f64,
}

/// Kinds of reasons why there is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoPathKind {
    /// The agent overlaps an obstacle or is off the map.
    StartBlocked,
    /// The goal lies inside an obstacle or off the map.
    GoalBlocked,
    /// The agent is enclosed by obstacles.
    StartWalledIn,
    /// The goal is enclosed by obstacles.
    GoalWalledIn,
    /// The vehicle type never leaves the lanes, and the lanes do not lead to the goal.
    NoLanes,
}

impl NoPathKind {
    /// Name of the kind, as written to files.
    pub fn name(self) -> &'static str {
        match self {
            Self::StartBlocked => "start_blocked",
            Self::GoalBlocked => "goal_blocked",
            Self::StartWalledIn => "start_walled_in",
            Self::GoalWalledIn => "goal_walled_in",
            Self::NoLanes => "no_lanes",
        }
    }
}

impl NoPath {
    /// Reason reported if no lanes lead to the goal.
    pub(crate) const NO_LANES: &str = "no connecting lanes";

    /// Creates the reason for a vehicle that keeps to lanes if no connected lanes lead to its goal.
    pub(crate) fn no_lanes() -> Self {
        Self {
            kind: NoPathKind::NoLanes,
            text: Self::NO_LANES.into(),
            gap: None,
        }
    }
}

impl From<Reason> for NoPath {
    fn from(reason: Reason) -> Self {
        let walls = match reason {
            Reason::Start(_) | Reason::Goal(_) => None,
            Reason::StartWalledIn(walls) | Reason::GoalWalledIn(walls) => Some(walls),
        };
        let gap = walls.and_then(|walls| {
            walls.gap.map(|gap| NarrowGap {
                width: gap.width,
                at: gap.at,
                needed: walls.needed,
            })
        });
        Self {
            kind: match reason {
                Reason::Start(SpotError::Outside | SpotError::Blocked) => NoPathKind::StartBlocked,
                Reason::Goal(SpotError::Outside | SpotError::Blocked) => NoPathKind::GoalBlocked,
                Reason::StartWalledIn(_) => NoPathKind::StartWalledIn,
                Reason::GoalWalledIn(_) => NoPathKind::GoalWalledIn,
            },
            text: reason.to_string(),
            gap,
        }
    }
}

/// Saved form of the searches for a verdict. A restored world repeats them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedSearch {
    /// Position of the agent when the searches began: the centre of its body.
    pub(super) from: Pose,
    /// Number of cells that the searches have been allowed to expand so far.
    pub(super) spent: u64,
}
