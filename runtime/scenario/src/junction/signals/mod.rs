//! Traffic signals: what has green when.
//!
//! A [`Programme`] says how long stages last and how one gives way to another; the [`Signals`] of a
//! junction say which of its paths have green in each stage. Junctions that lie side by side follow one
//! programme ([`signal_plans`]), so that a street has green at all of them at once.
//!
//! ```text
//!   stage 0            | stage 1            | stage 0 again
//!   green     amber red| green     amber red| green
//!   |---------|----|---|---------|----|---|-|--------> time
//!   offset                                  offset + cycle
//! ```
//!
//! In some countries the end of red is shown with amber beside it to those who get green next
//! ([`Intergreen::red_amber`]).

mod settled;
mod shared;
mod stages;
mod walk;

pub use shared::{SignalPlans, signal_plans};
#[cfg(test)]
pub(in crate::junction) use walk::lengthen;
pub use walk::{WALK_WINDOW, WALKING_SPEED};

use super::{Conflicts, Junction};
use crate::junction_rules::{Control, MAX_STAGES, SignalControllerSetting, SignalMode};
use crate::named::named;

/// Time from one start of the first stage to the next where nothing else is decided, s.
pub const DEFAULT_CYCLE: f64 = 60.0;
/// Shortest time of green, s.
pub const MIN_GREEN: f64 = 6.0;
/// Longest time of green while others wait, where signals go by demand, s.
pub const MAX_GREEN: f64 = 50.0;
/// Who has waited for so long for a stage is next, whoever decides, s; at fixed times not before a cycle.
pub const LONGEST_WAIT: f64 = 120.0;

named! {
    /// What a path's signal shows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Light {
        /// Stop.
        Red = "red",
        /// Stop; green comes next.
        RedAmber = "red_amber",
        /// Stop if it can be done.
        Amber = "amber",
        /// Go, and give way to whom the rules say.
        Green = "green",
    }
}

impl Light {
    /// What a path's signal shows that has green in a stage or not; if the stage ends, whether it has green in
    /// the next one, and which part of the change it is.
    #[inline]
    pub fn of(has_green: bool, change: Option<(bool, Between)>) -> Self {
        let Some((gets_green, between)) = change else {
            return if has_green { Self::Green } else { Self::Red };
        };
        match (has_green, gets_green) {
            // Who goes on in the next stage sees nothing of the change.
            (true, true) => Self::Green,
            (true, false) if between == Between::Amber => Self::Amber,
            (false, true) if between == Between::RedAmber => Self::RedAmber,
            _ => Self::Red,
        }
    }

    /// Whether nobody may drive: red, with amber beside it or without.
    #[inline]
    pub fn is_red(self) -> bool {
        matches!(self, Self::Red | Self::RedAmber)
    }

    /// The lamps that are lit.
    pub fn lamps(self) -> &'static [Self] {
        match self {
            Self::Red => &[Self::Red],
            Self::RedAmber => &[Self::Red, Self::Amber],
            Self::Amber => &[Self::Amber],
            Self::Green => &[Self::Green],
        }
    }
}

/// Part of what comes between two stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Amber for those that lose their green.
    Amber,
    /// Red for all.
    AllRed,
    /// Red for all, with amber beside it for those that get green.
    RedAmber,
}

/// How long a stage lasts, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageTimes {
    /// Green, where times are fixed.
    pub green: f64,
    /// Shortest green, where they go by demand.
    pub min: f64,
    /// Longest green while others wait, where they go by demand.
    pub max: f64,
}

/// What comes between two stages, s.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Intergreen {
    /// How long those that lose their green have amber.
    pub amber: f64,
    /// How long all is red after that.
    pub all_red: f64,
    /// How long the end of that is shown as red and amber to those that get green: at most `all_red`.
    pub red_amber: f64,
}

impl Intergreen {
    /// Both together, s.
    pub fn duration(self) -> f64 {
        self.amber + self.all_red
    }

    fn longer(self, other: Self) -> Self {
        Self {
            amber: self.amber.max(other.amber),
            all_red: self.all_red.max(other.all_red),
            red_amber: self.red_amber.max(other.red_amber),
        }
    }
}

/// When stages come and go.
#[derive(Debug, Clone, PartialEq)]
pub struct Programme {
    /// Whether times are fixed or go by demand; by demand where a module decides, in case that it fails.
    pub mode: SignalMode,
    /// The module that decides which stage is next.
    pub controller: Option<SignalControllerSetting>,
    /// When the first stage starts for the first time, s.
    pub offset: f64,
    /// The stages in their order.
    pub stages: Vec<StageTimes>,
    /// From each stage to each other one, row by row.
    intergreens: Vec<Intergreen>,
}

impl Programme {
    /// What comes between two stages.
    pub fn intergreen(&self, from: usize, to: usize) -> Intergreen {
        self.intergreens[from * self.stages.len() + to]
    }

    /// The longest of all that come between stages.
    pub fn longest_intergreen(&self) -> Intergreen {
        let all = self.intergreens.iter().copied();
        all.fold(Intergreen::default(), Intergreen::longer)
    }

    /// The stage after one.
    pub fn next(&self, stage: usize) -> usize {
        (stage + 1) % self.stages.len()
    }

    /// How long a stage lasts with what comes before the next one, where times are fixed, s.
    pub fn duration(&self, stage: usize) -> f64 {
        let intergreen = self.intergreen(stage, self.next(stage));
        self.stages[stage].green + intergreen.duration()
    }

    /// Time from one start of the first stage to the next, where times are fixed, s.
    pub fn cycle(&self) -> f64 {
        (0..self.stages.len()).map(|i| self.duration(i)).sum()
    }

    /// Time from one green of a stage to the next at most, s.
    pub fn longest_cycle(&self) -> f64 {
        if self.mode == SignalMode::Fixed {
            return self.cycle();
        }
        let greens = self.stages.iter().map(|stage| stage.max);
        let change = self.longest_intergreen().duration();
        // A module may let others go first until somebody has waited for too long.
        let passed_over = self.controller.as_ref().map_or(0.0, |_| LONGEST_WAIT);
        passed_over + greens.map(|green| green + change).sum::<f64>()
    }

    /// What a stage has come to a time, s, after its beginning, where times are fixed; `None` while it is
    /// green.
    pub fn between(&self, stage: usize, within: f64) -> Option<Between> {
        let green = self.stages[stage].green;
        let intergreen = self.intergreen(stage, self.next(stage));
        let to_come = self.duration(stage) - within;
        match within {
            _ if within < green => None,
            _ if within < green + intergreen.amber => Some(Between::Amber),
            _ if to_come > intergreen.red_amber => Some(Between::AllRed),
            _ if intergreen.red_amber > 0.0 => Some(Between::RedAmber),
            _ => Some(Between::AllRed),
        }
    }

    /// The stage at a moment, and the time since it began, s, where times are fixed. O(stages).
    pub fn stage_at(&self, time: f64) -> (usize, f64) {
        // Before the offset as well: cycles run back from it without end.
        let mut within = (time - self.offset).rem_euclid(self.cycle());
        for stage in 0..self.stages.len() {
            let duration = self.duration(stage);
            if within < duration {
                return (stage, within);
            }
            within -= duration;
        }
        // Rounding: the very end of a cycle is the start of the next.
        (0, 0.0)
    }
}

/// The signals of one junction.
#[derive(Debug, Clone, PartialEq)]
pub struct Signals {
    /// When stages come and go.
    pub programme: Programme,
    /// For each stage which paths have green.
    pub greens: Vec<Vec<bool>>,
    /// For each stage which of those give way to all others with green whose ways they meet; empty where
    /// none do.
    permitted: Vec<Vec<bool>>,
    /// By how much the street that has green in each stage differs from east and west, rad.
    slants: Vec<f64>,
}

impl Signals {
    /// The signals of a junction by itself; `None` if it has none, or they do not rule it: they flash, are
    /// off, or would need [too many stages](Self::too_many_stages). O(paths^2).
    pub fn of(junction: &Junction, conflicts: &Conflicts) -> Option<Self> {
        let signals = Self::wanted(junction, conflicts)?;
        (signals.greens.len() <= MAX_STAGES).then_some(signals)
    }

    /// How many stages the signals of a junction would need, if that is more than [`MAX_STAGES`]: it has none
    /// then. O(paths^2).
    pub fn too_many_stages(junction: &Junction, conflicts: &Conflicts) -> Option<usize> {
        let stages = Self::wanted(junction, conflicts)?.greens.len();
        (stages > MAX_STAGES).then_some(stages)
    }

    fn wanted(junction: &Junction, conflicts: &Conflicts) -> Option<Self> {
        let is_ruled = junction.control == Control::Signals && junction.plan.mode.rules();
        (is_ruled && !junction.paths.is_empty()).then(|| stages::signals(junction, conflicts))
    }

    /// Whether a path has green in a stage only as far as it gives way to others with green, however the
    /// roads lie.
    #[inline]
    pub fn is_permitted(&self, path: usize, stage: usize) -> bool {
        self.permitted.get(stage).is_some_and(|paths| paths[path])
    }

    /// What a path's signal shows at a moment, where times are fixed. O(stages).
    pub fn light(&self, path: usize, time: f64) -> Light {
        let (stage, within) = self.programme.stage_at(time);
        let next = self.programme.next(stage);
        let between = self.programme.between(stage, within);
        self.light_in(path, stage, between.map(|between| (next, between)))
    }

    /// What a path's signal shows in a stage; if that ends, before which other one and in which part of
    /// the change.
    #[inline]
    pub fn light_in(&self, path: usize, stage: usize, change: Option<(usize, Between)>) -> Light {
        let change = change.map(|(next, between)| (self.greens[next][path], between));
        Light::of(self.greens[stage][path], change)
    }
}
