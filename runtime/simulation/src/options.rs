//! Options of a run, and reasons why it cannot start.

use roadwright_agent::{HowMany, ModuleError, Slot};
use roadwright_scenario::{DynamicsLevel, ModuleSetting, RoadId, Scenario, Stack};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunOptions {
    /// Seed; `None` uses that of the scenario.
    pub seed: Option<u64>,
    /// Time step, s; `None` uses that of the scenario.
    pub dt: Option<f64>,
    /// Number of threads; 0 and 1 mean no helper threads.
    pub threads: usize,
    /// Number of cars with random trips to add.
    pub populate: usize,
    /// Places where random trips begin and end.
    pub populate_from: PopulateFrom,
    /// Stack of the added cars; `None` means `idm`.
    pub populate_stack: Option<String>,
    /// Time of day at the beginning, in hours; `None` uses that of the scenario.
    pub time_of_day: Option<f64>,
    /// Number of pedestrians per hour on each side of a crossing, unless the crossing sets another number;
    /// `None` uses the settings of the scenario.
    pub pedestrians: Option<f64>,
    /// Level of dynamics of all agents; `None` uses the levels of agents, flows and settings.
    pub dynamics: Option<DynamicsLevel>,
    /// Whether all bodies are checked for contacts in every step. Otherwise, only bodies near those
    /// whose level can leave the lanes are checked. Among vehicles that follow lanes, contacts are
    /// then detected only with the vehicle ahead on the route, not on crossing or merging
    /// connections.
    pub verify: bool,
    /// Modules that override those of all stacks.
    pub modules: ModuleOverrides,
    /// Whether an agent without a goal, or with a place that does not exist, is refused
    /// individually. This is used for scenarios that are still being drawn. If not set, such an
    /// agent makes the whole run fail.
    pub lenient: bool,
}

impl RunOptions {
    /// Number of pedestrians per hour on each side of a crossing.
    pub(crate) fn pedestrians_in(&self, scenario: &Scenario) -> Result<f64, SimulationError> {
        let rate = self
            .pedestrians
            .unwrap_or(scenario.settings().pedestrians.get());
        if (0.0..=MOST_PEOPLE).contains(&rate) {
            Ok(rate)
        } else {
            Err(SimulationError::Pedestrians(rate))
        }
    }
}

/// Maximum number of pedestrians per hour at one side of a crossing: one per second.
const MOST_PEOPLE: f64 = 3600.0;

/// Places where random trips begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PopulateFrom {
    /// Anywhere on the lanes, uniformly by length.
    Inside,
    /// At road ends on the edge of the map, as for through traffic.
    Edges,
    /// Half of the starts and half of the destinations at edges, the rest inside.
    #[default]
    Both,
}

/// Statistics of random trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Population {
    /// Number of trips requested.
    pub wanted: usize,
    /// Number of trips created. It is lower than requested only if no more routes are left.
    pub made: usize,
    /// Number of trips that begin at an edge of the map.
    pub from_edges: usize,
    /// Number of trips that end at an edge of the map.
    pub to_edges: usize,
    /// Number of trips whose start is already occupied. Their vehicles wait until there is room.
    pub queued: usize,
}

/// Modules, by slot, that override those of all stacks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModuleOverrides([Option<Vec<String>>; Slot::COUNT]);

impl ModuleOverrides {
    /// Sets the modules of a slot. Returns the previous ones.
    ///
    /// # Errors
    /// If the number of modules is wrong; the error is the number that the slot takes.
    pub fn set(
        &mut self,
        slot: Slot,
        modules: Vec<String>,
    ) -> Result<Option<Vec<String>>, HowMany> {
        if !slot.how_many().fits(modules.len()) {
            return Err(slot.how_many());
        }
        Ok(self.0[slot as usize].replace(modules))
    }

    /// Slots with overrides, and their modules.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Slot, &[String])> {
        let slots = Slot::ALL.into_iter().zip(&self.0);
        slots.filter_map(|(slot, modules)| Some((slot, modules.as_deref()?)))
    }

    /// Fills the slots that are unset here from `others`.
    pub(crate) fn fill_in(&mut self, others: Self) {
        for (own, other) in self.0.iter_mut().zip(others.0) {
            if own.is_none() {
                *own = other;
            }
        }
    }

    /// Returns a copy of the stack with these modules. Modules that it already has keep their
    /// parameters.
    pub fn apply(&self, stack: &Stack) -> Stack {
        // An override chooses modules but must not reset parameters. A stack that already names the
        // module keeps its parameter values.
        let mut changed = stack.clone();
        for (slot, modules) in Slot::ALL.into_iter().zip(&self.0) {
            let Some(modules) = modules else { continue };
            let own = stack.settings(slot);
            let settings = modules.iter().map(|id| {
                let known = own.iter().find(|setting| setting.module == *id);
                known.cloned().unwrap_or_else(|| ModuleSetting::new(id))
            });
            let fits = changed.set(slot, settings.collect());
            debug_assert!(fits, "the number of modules was checked when they were set");
        }
        changed
    }
}

/// Reason why a scenario cannot be run.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SimulationError {
    /// A stack cannot be built.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The module that a signal plan names cannot run.
    #[error("signals of node {node}: {error}")]
    SignalController {
        /// Smallest node id of the signals.
        node: u32,
        /// Error message of the module.
        error: String,
    },
    /// The vehicle file lacks values that its level of dynamics needs.
    #[error(
        "vehicle type \"{vehicle}\" cannot drive at level \"{level}\": {file} has no {}", .missing.join(", ")
    )]
    Level {
        /// Key of the vehicle type.
        vehicle: String,
        /// File of the vehicle type.
        file: String,
        /// Level of dynamics that the vehicle cannot use.
        level: DynamicsLevel,
        /// Keys that are missing from the file.
        missing: Vec<&'static str>,
    },
    /// A level cannot move bodies of this kind.
    #[error("vehicle type \"{vehicle}\": {reason}")]
    Body {
        /// Key of the vehicle type.
        vehicle: String,
        /// Reason why the level cannot move the body, as a message for users.
        reason: String,
    },
    /// An agent or flow cannot use the move tree of its stack.
    #[error("{who} cannot use the ground planner move_tree: {reason}")]
    MoveTree {
        /// Name of the agent or flow.
        who: String,
        /// Reason why the move tree cannot be used, as a message for users.
        reason: String,
    },
    /// A place does not exist.
    #[error("{who}: {place} is not a drivable place; run `roadwright check` for details")]
    NoSuchPlace {
        /// Name of the agent or flow.
        who: String,
        /// Description of the place that does not exist.
        place: String,
    },
    /// More random trips are requested than a run may have.
    #[error("{0} random trips are too many; expected at most {1}")]
    TooManyTrips(usize, usize),
    /// No suitable places for random trips are left.
    #[error("none of {wanted} vehicles can be placed: {why}")]
    NoRoom {
        /// Number of vehicles requested.
        wanted: usize,
        /// Reason why the vehicles cannot be placed, as a message for users.
        why: &'static str,
    },
    /// The time step is out of range.
    #[error("a time step of {0} s is out of range: expected 0.0001 to 1 s")]
    TimeStep(f64),
    /// The number of pedestrians is out of range.
    #[error("{0} people per hour is out of range: expected 0 to 3600")]
    Pedestrians(f64),
    /// The time of day is out of range.
    #[error("a time of day of {0} h is out of range: expected 0 to below 24")]
    TimeOfDay(f64),
    /// There are too many lanes.
    #[error(
        "{0} brings the lanes above 20,000 km or ten million points in total; run `roadwright \
         check` for details"
    )]
    TooMuch(RoadId),
    /// The helper threads cannot be started.
    #[error("cannot start {0} threads")]
    Threads(usize),
    /// An agent has no goals.
    #[error("{0} has neither a destination nor a waypoint")]
    NoGoal(String),
    /// A vehicle type does not exist.
    #[error("unknown vehicle type \"{0}\"")]
    NoSuchVehicleType(String),
    /// A stack does not exist.
    #[error("unknown stack \"{0}\"")]
    NoSuchStack(String),
}

/// Creates the helper threads besides the calling one; `None` if no helpers are requested.
pub(crate) fn helpers(threads: usize) -> Result<Option<rayon::ThreadPool>, SimulationError> {
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some)
        .map_err(|_| SimulationError::Threads(threads))
}
