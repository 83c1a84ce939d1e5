//! The parts of a step by name, for those who measure what each costs.

use serde::Serialize;

/// A part of a step.
///
/// The world says which one begins ([`Observer::at_stage`]) and never hears anything back: who looks at
/// a clock then changes nothing.
///
/// [`Observer::at_stage`]: crate::Observer::at_stage
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Edits enter, and modules hear who came and left.
    Boundary,
    /// Those whose time has come look for a free place.
    Appear,
    /// Junctions, signals and people on foot decide.
    GiveWay,
    /// Planners are asked: by those who appear, who have stood for long or have missed their lane, and by
    /// rings of full lanes.
    Plan,
    /// Behaviours are asked, and what they want is done; with routes to goals that they choose.
    Behave,
    /// Controllers are asked.
    Control,
    /// Bodies move.
    Advance,
    /// Who touches whom; the index of places.
    Collide,
}

impl Stage {
    /// All stages, in the order of a step in which nobody appears.
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

    /// Its name, as in files.
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
