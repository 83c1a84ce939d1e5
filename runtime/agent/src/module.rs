//! The one interface of all modules.

use crate::parameter::ParameterSet;
use roadwright_plugin_api::{
    BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput, FitnessInput,
    FitnessOutput, PlannerInput, PlannerOutput,
};
use roadwright_scenario::lane_graph::{LaneGraph, StripId};

/// The place of a module in a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// Finds the way.
    Planner,
    /// Chooses lanes and the mood.
    Behaviour,
    /// Steers and accelerates.
    Controller,
    /// Rates the driving.
    Fitness,
}

impl Slot {
    /// All slots in the order in which a step asks them.
    pub const ALL: [Self; 4] = [
        Self::Planner,
        Self::Behaviour,
        Self::Controller,
        Self::Fitness,
    ];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Behaviour => "behaviour",
            Self::Controller => "controller",
            Self::Fitness => "fitness",
        }
    }

    /// How often its modules are asked unless the stack says otherwise, Hz. Planner and
    /// controller: source 003, section 8.2.
    pub fn default_rate_hz(self) -> f64 {
        match self {
            Self::Planner => 6.0,
            Self::Behaviour => 4.0,
            Self::Controller => 30.0,
            Self::Fitness => 1.0,
        }
    }
}

/// What a module says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleInfo {
    /// Stable id, used in files.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
}

/// What all modules have.
pub trait Module: Send + Sync {
    /// What the module says about itself.
    fn info(&self) -> ModuleInfo;

    /// Its parameters with their values.
    fn parameters(&self) -> &ParameterSet;

    /// Its parameters, to be set between steps.
    fn parameters_mut(&mut self) -> &mut ParameterSet;

    /// State that a later version of the module may take over; empty if it keeps none.
    fn save_state(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes over saved state; `false` if it does not fit and the module started fresh.
    fn load_state(&mut self, state: &[u8]) -> bool {
        state.is_empty()
    }
}

/// The moment that a batch is asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Simulation time, s.
    pub time: f64,
    /// Time until the same agent is asked again, s.
    pub period: f64,
}

/// How far ahead a controller wants its way-point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookahead {
    /// Least distance, m.
    pub distance: f64,
    /// Time, s, that is multiplied by the speed; the larger of the two counts.
    pub time: f64,
}

/// Steers and accelerates.
///
/// An output depends on its own row and the parameters only, so the host may cut a batch into
/// slices and ask for them in parallel.
pub trait Controller: Module {
    /// Answers a batch; `inputs` and `outputs` have the same length.
    fn step(&self, step: &Step, inputs: &[ControllerInput], outputs: &mut [ControllerOutput]);

    /// How far ahead it wants its way-point.
    fn lookahead(&self) -> Lookahead;
}

/// Chooses lanes and the mood.
pub trait Behaviour: Module {
    /// Answers a batch; `inputs` and `outputs` have the same length.
    fn step(&self, step: &Step, inputs: &[BehaviourInput], outputs: &mut [BehaviourOutput]);
}

/// Rates the driving.
pub trait Fitness: Module {
    /// Answers a batch; `inputs` and `outputs` have the same length.
    fn step(&self, inputs: &[FitnessInput], outputs: &mut [FitnessOutput]);
}

/// What planners see of the world.
#[derive(Debug, Clone, Copy)]
pub struct PlannerView<'a> {
    /// The strips.
    pub graph: &'a LaneGraph,
    /// Expected extra time on each strip because of standing traffic, s.
    pub delays: &'a [f32],
}

/// Finds the way.
pub trait Planner: Module {
    /// Answers a batch: appends each route to `routes` and says where it is.
    fn step(
        &self,
        view: &PlannerView<'_>,
        inputs: &[PlannerInput],
        routes: &mut Vec<StripId>,
        outputs: &mut [PlannerOutput],
    );
}
