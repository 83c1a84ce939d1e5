//! How a scenario is run, and why it may not be.

use roadwright_agent::{HowMany, ModuleError, Slot};
use roadwright_scenario::{DynamicsLevel, ModuleSetting, RoadId, Scenario, Stack};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How a scenario is run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunOptions {
    /// Seed; `None`: the scenario's.
    pub seed: Option<u64>,
    /// Time step, s; `None`: the scenario's.
    pub dt: Option<f64>,
    /// Threads; 0 and 1 mean no helpers.
    pub threads: usize,
    /// Cars to add between random places.
    pub populate: usize,
    /// Where those begin and end.
    pub populate_from: PopulateFrom,
    /// Stack of the added cars; `None`: `idm`.
    pub populate_stack: Option<String>,
    /// Time of day at the beginning, h; `None`: the scenario's.
    pub time_of_day: Option<f64>,
    /// People on foot who come to each side of a crossing in an hour, where the crossing says nothing
    /// else; `None`: as the settings of the scenario say.
    pub pedestrians: Option<f64>,
    /// Level of dynamics of all agents; `None`: as agents, flows and settings say.
    pub dynamics: Option<DynamicsLevel>,
    /// Whether the bodies of all agents are compared for contacts in every step. Without it, that
    /// is done beside levels that leave their lanes; vehicles that follow their lanes touch those
    /// before them along their way, and contacts on ways that cross or merge are not seen.
    pub verify: bool,
    /// Modules for all stacks instead of their own.
    pub modules: ModuleOverrides,
    /// Whether agents without a goal, or with a place that does not exist, are refused and the
    /// rest runs, as suits a scenario that is being drawn. Else the whole run is an error.
    pub lenient: bool,
}

impl RunOptions {
    /// People who come to each side of a crossing in an hour.
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

/// Most people that come to one side of a crossing in an hour: one in a second.
const MOST_PEOPLE: f64 = 3600.0;

/// Where random trips begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PopulateFrom {
    /// Anywhere on the lanes, evenly by length.
    Inside,
    /// Where roads end at the edge of the map, as everybody who drives past.
    Edges,
    /// Half of the starts and half of the destinations at edges, the others inside.
    #[default]
    Both,
}

/// What came of the wish for random trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Population {
    /// Trips asked for.
    pub wanted: usize,
    /// Trips made: as many as were asked for, unless no way leads from anywhere to anywhere.
    pub made: usize,
    /// Those that begin at an edge of the map.
    pub from_edges: usize,
    /// Those that end at one.
    pub to_edges: usize,
    /// Those that begin where another does: their vehicles wait until there is room.
    pub queued: usize,
}

/// Modules that all stacks use instead of their own, by slot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModuleOverrides([Option<Vec<String>>; Slot::COUNT]);

impl ModuleOverrides {
    /// Sets the modules of a slot; gives those that were set before.
    ///
    /// # Errors
    /// How many modules the slot takes, if that is another number.
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

    /// The slots that are set, with their modules.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Slot, &[String])> {
        let slots = Slot::ALL.into_iter().zip(&self.0);
        slots.filter_map(|(slot, modules)| Some((slot, modules.as_deref()?)))
    }

    /// Sets the slots that are not set here as `others` has them.
    pub(crate) fn fill_in(&mut self, others: Self) {
        for (own, other) in self.0.iter_mut().zip(others.0) {
            if own.is_none() {
                *own = other;
            }
        }
    }

    /// A stack with these modules. Those that it has already keep their parameters.
    pub fn apply(&self, stack: &Stack) -> Stack {
        // A stack that names the module already keeps its tuning: an override chooses modules, and is not
        // meant to reset parameters.
        let mut changed = stack.clone();
        for (slot, modules) in Slot::ALL.into_iter().zip(&self.0) {
            let Some(modules) = modules else { continue };
            let own = stack.settings(slot);
            let settings = modules.iter().map(|id| {
                let known = own.iter().find(|setting| setting.module == *id);
                known.cloned().unwrap_or_else(|| ModuleSetting::new(id))
            });
            let fits = changed.set(slot, settings.collect());
            debug_assert!(fits, "the number was checked when they were set");
        }
        changed
    }
}

/// Why a scenario cannot be run.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SimulationError {
    /// A stack cannot be put together.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// No module can decide about signals as their plan says.
    #[error("signals of node {node}: {error}")]
    SignalController {
        /// The smallest of their nodes.
        node: u32,
        /// What is wrong.
        error: String,
    },
    /// The file of a vehicle lacks what its level of dynamics needs.
    #[error(
        "vehicle type \"{vehicle}\" cannot drive at level \"{level}\": {file} has no {}", .missing.join(", ")
    )]
    Level {
        /// The vehicle type.
        vehicle: String,
        /// Its file.
        file: String,
        /// The level.
        level: DynamicsLevel,
        /// The keys that are missing.
        missing: Vec<&'static str>,
    },
    /// A place is not there.
    #[error("{who}: {place} is not a place that one can drive at; `roadwright check` tells more")]
    NoSuchPlace {
        /// Agent or flow.
        who: String,
        /// The place.
        place: String,
    },
    /// More random agents are asked for than a run may have.
    #[error("{0} vehicles between random places are too many: {1} are the most")]
    TooManyTrips(usize, usize),
    /// There is no place to put random agents.
    #[error("none of {wanted} vehicles finds a place: {why}")]
    NoRoom {
        /// Agents asked for.
        wanted: usize,
        /// What is missing.
        why: &'static str,
    },
    /// The time step is unusable.
    #[error("a time step of {0} s is out of range: expected 0.0001 to 1 s")]
    TimeStep(f64),
    /// So many people cannot come.
    #[error("{0} people per hour are out of range: expected 0 to 3600")]
    Pedestrians(f64),
    /// The time of day is none.
    #[error("a time of day of {0} h is out of range: expected 0 to below 24")]
    TimeOfDay(f64),
    /// There are more lanes than can be driven.
    #[error(
        "{0} makes the lanes longer than 20,000 km, or gives them more than ten million points, which \
         is the most; `roadwright check` tells more"
    )]
    TooMuch(RoadId),
    /// The helpers cannot be started.
    #[error("cannot start {0} threads")]
    Threads(usize),
    /// An agent without a place to go to.
    #[error("{0} has neither a destination nor a way-point")]
    NoGoal(String),
    /// A vehicle type that does not exist.
    #[error("there is no vehicle type \"{0}\"")]
    NoSuchVehicleType(String),
    /// A stack that does not exist.
    #[error("there is no stack \"{0}\"")]
    NoSuchStack(String),
}

/// Threads beside the calling one, if there are to be any.
pub(crate) fn helpers(threads: usize) -> Result<Option<rayon::ThreadPool>, SimulationError> {
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some)
        .map_err(|_| SimulationError::Threads(threads))
}
