//! Stages of a step, for measuring the time that each of them takes.

use serde::Serialize;

/// A stage of a step, as observers see it.
///
/// The world announces each stage when it begins ([`Observer::at_stage`]). Observers return
/// nothing, so measuring time has no effect on a run.
///
/// [`Observer::at_stage`]: crate::Observer::at_stage
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Edits are applied, and modules are notified of agents that were added or removed.
    Boundary,
    /// Agents that are due are spawned where there is space.
    Appear,
    /// Junctions, signals and pedestrians make their decisions.
    GiveWay,
    /// Planners are called for spawned agents, for agents that have been stationary for a long time
    /// or missed their lane, and to break up rings of full lanes.
    Plan,
    /// Behaviours are updated and their requests are carried out, including routes to the goals
    /// that they choose.
    Behave,
    /// Controllers are updated.
    Control,
    /// Bodies move.
    Advance,
    /// Contacts are detected, and the position index is rebuilt.
    Collide,
}

impl Stage {
    /// All stages, in the order of a step without spawned agents.
    pub const ALL: [Self; 8] = [
        Self::Boundary,
        Self::Appear,
        Self::GiveWay,
        Self::Plan,
        Self::Behave,
        Self::Control,
        Self::Advance,
        Self::Collide,
    ];

    /// Name of the stage in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boundary => "boundary",
            Self::Appear => "appear",
            Self::GiveWay => "give_way",
            Self::Plan => "plan",
            Self::Behave => "behave",
            Self::Control => "control",
            Self::Advance => "advance",
            Self::Collide => "collide",
        }
    }
}
