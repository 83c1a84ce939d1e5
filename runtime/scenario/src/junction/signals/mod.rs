//! Traffic signals: stages, their times and the resulting lights.
//!
//! A [`Programme`] contains the times of the stages and of the changes between them. The
//! [`Signals`] of a junction contain the paths that have green in each stage. Adjacent junctions
//! share one programme ([`signal_plans`]), so that a street has green at all of them at the same
//! time.
//!
//! ```text
//!   stage 0            | stage 1            | stage 0 again
//!   green     amber red| green     amber red| green
//!   |---------|----|---|---------|----|---|-|--------> time
//!   offset                                  offset + cycle
//! ```
//!
//! Some countries show amber together with the end of red before green ([`Intergreen::red_amber`]).

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

/// Default duration of a cycle, from one start of the first stage to the next, s.
pub const DEFAULT_CYCLE: f64 = 60.0;
/// Minimum duration of green, s.
pub const MIN_GREEN: f64 = 6.0;
/// Maximum green of actuated signals while other traffic waits, s.
pub const MAX_GREEN: f64 = 50.0;
/// Maximum waiting time for a stage, s. After that, this stage is next, whatever the controller
/// decides. With fixed times, the limit is at least a full cycle.
pub const LONGEST_WAIT: f64 = 120.0;

named! {
    /// The light of a path's signal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Light {
        /// Vehicles stop.
        Red = "red",
        /// Vehicles stop. Green follows.
        RedAmber = "red_amber",
        /// Vehicles stop if possible.
        Amber = "amber",
        /// Vehicles go, but yield as the rules require.
        Green = "green",
    }
}

impl Light {
    /// Returns the light of a path. `has_green` states whether the path has green in the stage.
    /// While the stage ends, `change` states whether the path has green in the next stage, and
    /// contains the current part of the change.
    #[inline]
    pub fn of(has_green: bool, change: Option<(bool, Between)>) -> Self {
        let Some((gets_green, between)) = change else {
            return if has_green { Self::Green } else { Self::Red };
        };
        match (has_green, gets_green) {
            // Paths that keep their green are not affected by a change of stage.
            (true, true) => Self::Green,
            (true, false) if between == Between::Amber => Self::Amber,
            (false, true) if between == Between::RedAmber => Self::RedAmber,
            _ => Self::Red,
        }
    }

    /// Whether the light prohibits entry: red, with or without amber.
    #[inline]
    pub fn is_red(self) -> bool {
        matches!(self, Self::Red | Self::RedAmber)
    }

    /// Lamps that are lit for this light.
    pub fn lamps(self) -> &'static [Self] {
        match self {
            Self::Red => &[Self::Red],
            Self::RedAmber => &[Self::Red, Self::Amber],
            Self::Amber => &[Self::Amber],
            Self::Green => &[Self::Green],
        }
    }
}

/// Parts of the change between two stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Amber for the paths that lose green.
    Amber,
    /// Red for all paths.
    AllRed,
    /// Red for all paths, with amber for the paths that get green next.
    RedAmber,
}

/// Times of a stage, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageTimes {
    /// Green time if times are fixed.
    pub green: f64,
    /// Minimum green of actuated signals.
    pub min: f64,
    /// Maximum green of actuated signals while other traffic waits.
    pub max: f64,
}

/// Times between two stages, s.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Intergreen {
    /// Amber for the paths that lose green.
    pub amber: f64,
    /// All-red time after amber.
    pub all_red: f64,
    /// Duration of red and amber at the end of the all-red time for paths that get green, s. It is
    /// at most `all_red`.
    pub red_amber: f64,
}

impl Intergreen {
    /// Sum of amber and all-red, s.
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

/// The stage times of a signal plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Programme {
    /// Whether times are fixed or actuated. If a controller module fails, the actuated mode is the fallback.
    pub mode: SignalMode,
    /// The module that selects the next stage.
    pub controller: Option<SignalControllerSetting>,
    /// Start of the first cycle, s.
    pub offset: f64,
    /// The stages, in order.
    pub stages: Vec<StageTimes>,
    /// Times between every pair of stages, row by row.
    intergreens: Vec<Intergreen>,
}

impl Programme {
    /// Returns the times between two stages.
    pub fn intergreen(&self, from: usize, to: usize) -> Intergreen {
        self.intergreens[from * self.stages.len() + to]
    }

    /// Returns the longest times between any two stages.
    pub fn longest_intergreen(&self) -> Intergreen {
        let all = self.intergreens.iter().copied();
        all.fold(Intergreen::default(), Intergreen::longer)
    }

    /// Returns the stage that follows a stage.
    pub fn next(&self, stage: usize) -> usize {
        (stage + 1) % self.stages.len()
    }

    /// Returns the duration of a stage of a fixed-time plan, including the change to the next one,
    /// s.
    pub fn duration(&self, stage: usize) -> f64 {
        let intergreen = self.intergreen(stage, self.next(stage));
        self.stages[stage].green + intergreen.duration()
    }

    /// Returns the duration of a cycle of a fixed-time plan, s.
    pub fn cycle(&self) -> f64 {
        (0..self.stages.len()).map(|i| self.duration(i)).sum()
    }

    /// Returns the longest time between two greens of a stage, s.
    pub fn longest_cycle(&self) -> f64 {
        if self.mode == SignalMode::Fixed {
            return self.cycle();
        }
        let greens = self.stages.iter().map(|stage| stage.max);
        let change = self.longest_intergreen().duration();
        // A module may prefer other stages until a vehicle has waited for the maximum time.
        let passed_over = self.controller.as_ref().map_or(0.0, |_| LONGEST_WAIT);
        passed_over + greens.map(|green| green + change).sum::<f64>()
    }

    /// Returns the part of the change that is in progress `within` seconds after the start of a
    /// stage, with fixed times; `None` while the stage is green.
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

    /// Returns the stage of a fixed-time plan at a time, and the seconds since the stage began. O(stages).
    pub fn stage_at(&self, time: f64) -> (usize, f64) {
        // Times before the offset are valid too, because cycles extend endlessly into the past.
        let mut within = (time - self.offset).rem_euclid(self.cycle());
        for stage in 0..self.stages.len() {
            let duration = self.duration(stage);
            if within < duration {
                return (stage, within);
            }
            within -= duration;
        }
        // Because of rounding, the end of a cycle may count as the start of the next one.
        (0, 0.0)
    }
}

/// The signals of one junction.
#[derive(Debug, Clone, PartialEq)]
pub struct Signals {
    /// Times of the junction's stages.
    pub programme: Programme,
    /// For each stage, whether each path has green in it.
    pub greens: Vec<Vec<bool>>,
    /// For each stage and each path with green in it, whether the path is permissive: it yields to
    /// all conflicting paths with green. Empty if no path is permissive.
    permitted: Vec<Vec<bool>>,
    /// Direction of the street that has green in each stage, as an angle from the east-west axis,
    /// rad.
    slants: Vec<f64>,
}

impl Signals {
    /// Returns the signals of a junction, ignoring its neighbours; `None` if the junction has no
    /// signals, or if they flash, are off, or would need [too many stages](Self::too_many_stages).
    /// O(paths^2).
    pub fn of(junction: &Junction, conflicts: &Conflicts) -> Option<Self> {
        let signals = Self::wanted(junction, conflicts)?;
        (signals.greens.len() <= MAX_STAGES).then_some(signals)
    }

    /// Returns the number of stages that the signals of a junction would need if it exceeds [`MAX_STAGES`],
    /// and `None` otherwise. A junction that needs too many stages has no signals. O(paths^2).
    pub fn too_many_stages(junction: &Junction, conflicts: &Conflicts) -> Option<usize> {
        let stages = Self::wanted(junction, conflicts)?.greens.len();
        (stages > MAX_STAGES).then_some(stages)
    }

    fn wanted(junction: &Junction, conflicts: &Conflicts) -> Option<Self> {
        let is_ruled = junction.control == Control::Signals && junction.plan.mode.rules();
        (is_ruled && !junction.paths.is_empty()).then(|| stages::signals(junction, conflicts))
    }

    /// Whether a path with green in a stage yields to other paths with green, regardless of the
    /// layout of the roads.
    #[inline]
    pub fn is_permitted(&self, path: usize, stage: usize) -> bool {
        self.permitted.get(stage).is_some_and(|paths| paths[path])
    }

    /// Returns the light of a path at the given time in a fixed-time plan. O(stages).
    pub fn light(&self, path: usize, time: f64) -> Light {
        let (stage, within) = self.programme.stage_at(time);
        let next = self.programme.next(stage);
        let between = self.programme.between(stage, within);
        self.light_in(path, stage, between.map(|between| (next, between)))
    }

    /// Returns the light of a path in a stage. While the stage ends, `change` contains the next
    /// stage and the current part of the change.
    #[inline]
    pub fn light_in(&self, path: usize, stage: usize, change: Option<(usize, Between)>) -> Light {
        let change = change.map(|(next, between)| (self.greens[next][path], between));
        Light::of(self.greens[stage][path], change)
    }
}
