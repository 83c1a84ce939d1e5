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

mod settled;
mod shared;
mod stages;
mod walk;

pub use shared::{SignalPlans, signal_plans};
#[cfg(test)]
pub(in crate::junction) use walk::lengthen;
pub use walk::{WALK_WINDOW, WALKING_SPEED};

use super::{Conflicts, Junction};
use crate::junction_rules::{Control, SignalControllerSetting, SignalMode};
use crate::named::named;

/// Time from one start of the first stage to the next where nothing else is decided, s.
pub const DEFAULT_CYCLE: f64 = 60.0;
/// Shortest time of green, s.
pub const MIN_GREEN: f64 = 6.0;
/// Longest time of green while others wait, where signals go by demand, s.
pub const MAX_GREEN: f64 = 50.0;

named! {
    /// What a path's signal shows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Light {
        /// Stop.
        Red = "red",
        /// Stop if it can be done.
        Amber = "amber",
        /// Go, and give way to whom the rules say.
        Green = "green",
    }
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
    /// The signals of a junction by itself; `None` if it has none, or they do not rule it: they flash
    /// or are off. O(paths^2).
    pub fn of(junction: &Junction, conflicts: &Conflicts) -> Option<Self> {
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
        let times = self.programme.stages[stage];
        let ending = (within >= times.green).then_some(next);
        let is_amber = within < times.green + self.programme.intergreen(stage, next).amber;
        self.light_in(path, stage, ending, is_amber)
    }

    /// What a path's signal shows in a stage; if that ends, before another one and in amber or not.
    #[inline]
    pub fn light_in(
        &self,
        path: usize,
        stage: usize,
        ending: Option<usize>,
        is_amber: bool,
    ) -> Light {
        if !self.greens[stage][path] {
            return Light::Red;
        }
        match ending {
            None => Light::Green,
            // Who goes on in the next stage sees nothing of the change.
            Some(next) if self.greens[next][path] => Light::Green,
            Some(_) if is_amber => Light::Amber,
            Some(_) => Light::Red,
        }
    }
}
