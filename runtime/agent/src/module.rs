//! The common interface of all modules.

use crate::behaviour::{Effects, Surroundings};
use crate::needs::{Needs, Views};
use crate::parameter::ParameterSet;
use crate::path_input::{PathInput, PathParts};
use roadwright_geometry::math::mix64;
use roadwright_plugin_api::{
    BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput, FitnessInput,
    FitnessOutput, NeedsInput, NeedsPedalsInput, PedalsInput, PedalsOutput, PlannerInput,
    PlannerOutput,
};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex};
use std::sync::Arc;

/// Description of a module.
///
/// The strings live as long as the program. The strings of a plugin belong to its library, which is
/// never unloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleInfo {
    /// Stable id, used in files.
    pub id: &'static str,
    /// Name for display.
    pub name: &'static str,
    /// Description of the module, in one sentence.
    pub doc: &'static str,
}

/// A module in a stack: its description, parameter values and logic.
pub struct Module<L: ?Sized> {
    /// Description of the module.
    pub info: ModuleInfo,
    /// Parameters of the module. They change only between steps.
    pub parameters: ParameterSet,
    /// Code of the module.
    pub logic: Box<L>,
}

/// Information that modules receive between two steps.
#[derive(Debug, Clone, Copy)]
pub struct StepBoundary<'a> {
    /// Number of completed steps.
    pub step: u64,
    /// Simulation time, s.
    pub time: f64,
    /// Upper limit of agent indices (exclusive).
    pub capacity: u32,
    /// Indices of the agents that have been assigned to this module since the previous boundary,
    /// ordered by agent id.
    pub added: &'a [u32],
    /// Indices of the agents that have left the module since the previous boundary, ordered by agent id. The
    /// index of a despawned agent does not become free before the next boundary. Its removal is therefore
    /// reported at least one boundary before another agent with the same index appears in `added`, and no
    /// index is in both lists.
    pub removed: &'a [u32],
}

/// A notice that a new version of a module has replaced an old one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// Description of the new version.
    pub info: ModuleInfo,
    /// Hash of the old version; empty for a built-in module.
    pub from: String,
    /// Hash of the new version; empty for a built-in module.
    pub to: String,
    /// Description of the event, for users.
    pub note: String,
}

/// A logic's state for a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogicState {
    /// The logic keeps no state between steps.
    Stateless,
    /// The complete state.
    Bytes(Vec<u8>),
    /// The logic may have state that it cannot provide. The world can then be saved only if the
    /// user accepts that this module starts fresh.
    Unknown,
}

/// Record of failed calls to an external logic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// Number of answers that the built-in fallback module gave instead. Answers that a module may
    /// leave to the host, according to the interface, are not counted.
    pub answers: u64,
    /// The first problem, described for the user.
    pub reason: String,
    /// The build that failed, as named by [`Logic::version`].
    pub build: String,
    /// Whether the module has been taken out of service. The built-in module then drives until
    /// another build is loaded.
    pub is_out: bool,
    /// Whether a process died or a wall-clock time limit was exceeded. In that case, the failure
    /// may not be reproducible.
    pub depends_on_machine: bool,
}

/// Common interface of the logics of all module kinds. A logic without state need not override any method.
pub trait Logic: Send + Sync {
    /// Returns the complete state between steps, for a save.
    fn save_state(&self) -> LogicState {
        LogicState::Stateless
    }

    /// Restores state that the same build saved. Parameters and agents are already set.
    ///
    /// # Errors
    /// If the state does not fit. The error states the reason, and the logic starts fresh.
    fn load_state(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// Build of the logic, for records; empty for built-in modules.
    fn version(&self) -> String {
        String::new()
    }

    /// Returns the failures since the last call of [`Logic::take_failure`]; `None` if there were none.
    fn failure(&self) -> Option<Failure> {
        None
    }

    /// Returns the same as [`Logic::failure`], and resets the count of failures.
    fn take_failure(&mut self) -> Option<Failure> {
        None
    }

    // Unless a logic declares otherwise, the host may split its batches, process them in parallel and skip
    // step boundaries. Built-in logics therefore incur no overhead.
    /// Whether a batch must be processed as a whole. Otherwise, slices of it may be processed in
    /// parallel.
    fn asks_whole(&self) -> bool {
        false
    }

    /// Whether [`Logic::at_step_boundary`] has any effect. Queried once.
    fn has_step_boundary(&self) -> bool {
        false
    }

    /// Called before a step, and again within it after agents have spawned, but never during
    /// another call of the module. The module is notified of an agent before it is first called for
    /// this agent. A logic that has been replaced by a newer version returns the swap, and replaces
    /// the parameters with those of the new version.
    fn at_step_boundary(&mut self, _: &mut ParameterSet, _: &StepBoundary<'_>) -> Option<Swap> {
        None
    }
}

/// The step in which a module is called for a batch, and the agents of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Step<'a> {
    /// Simulation time, in seconds.
    pub time: f64,
    /// Time until the next call for the same agent, in seconds.
    pub period: f64,
    /// Step number.
    pub index: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Agent index of each row: a dense number that an agent keeps while it drives.
    pub indices: &'a [u32],
    /// Agent id of each row.
    pub ids: &'a [u64],
}

impl Step<'_> {
    /// Returns a random number that depends only on the run, the agent and the step.
    #[inline]
    pub fn seed_of(&self, agent: u64) -> u64 {
        // Computed from run, step and agent rather than drawn from a shared stream, so that an
        // additional agent does not affect the others and threads may call this in any order. The
        // inner part is the same for all agents of a step.
        mix64(mix64(self.seed ^ mix64(self.index)) ^ agent)
    }
}

/// Lookahead of a controller: the distance to its waypoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookahead {
    /// Minimum distance, in metres.
    pub distance: f64,
    /// Lookahead time, in seconds. Multiplied by the speed, it gives a second distance. The larger
    /// distance applies.
    pub time: f64,
}

/// Steers and accelerates: converts an agent's perception into an acceleration or, if the
/// controller prefers, into pedal positions.
///
/// An output depends only on its own row, the agent's own state and the parameters, so the host may
/// split a batch into slices and process them in parallel.
pub trait Controller: Logic {
    /// Computes the outputs for a batch of agents; `inputs` and `outputs` have the same length.
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    );

    /// Returns the lookahead to the waypoint.
    fn lookahead(&self, parameters: &ParameterSet) -> Lookahead;

    /// Whether the accelerations of the controller depend on the shape of the path: on the heading
    /// error, waypoint, path curvature or steering angle. If they do not, these fields are 0 for
    /// agents whose bodies follow their lanes without steering. The steering output of such agents
    /// is not used either.
    fn looks_at_path(&self) -> bool {
        true
    }

    /// Whether the waypoint should be on the circle that the lane follows just ahead, rather than on the lane
    /// itself. With such a waypoint, a controller that steers along the circle through its waypoint follows
    /// bends exactly. With a waypoint on the lane, the controller would enter and leave bends too early, and
    /// cut them ([Coulter 1992]).
    fn aims_along_bend(&self, _: &ParameterSet) -> bool {
        false
    }

    /// Whether the controller outputs pedal positions. If so, [`Controller::drive`] is called
    /// instead of [`Controller::step`].
    fn wants_pedals(&self, _: &ParameterSet) -> bool {
        false
    }

    /// Calculates the pedal positions for a batch; `inputs` and `outputs` have the same length. The default
    /// implementation converts the accelerations of [`Controller::step`].
    fn drive(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[PedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        let seen: Vec<ControllerInput> = inputs.iter().map(|input| input.seen).collect();
        let mut commands = vec![ControllerOutput::default(); inputs.len()];
        self.step(parameters, step, &seen, &mut commands);
        for ((input, command), output) in inputs.iter().zip(commands).zip(outputs) {
            *output = PedalsOutput::of(command, &input.drive);
        }
    }

    /// Returns the parts into which the controller divides the path ahead, if it follows the path
    /// with a model of its vehicle. If so, [`Controller::follow`] is called instead of
    /// [`Controller::step`].
    fn path_parts(&self, _: &ParameterSet) -> Option<PathParts> {
        None
    }

    /// Whether the controller can reverse along a path with a trailer, as described by
    /// [`TowedInput`](crate::TowedInput). For other controllers, planners do not plan to reverse
    /// with trailers.
    fn pushes_trailers(&self) -> bool {
        false
    }

    /// Computes the outputs for a batch of vehicles that follow paths; `inputs` and `outputs` have the same length.
    /// The default implementation calls [`Controller::step`].
    fn follow(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[PathInput],
        outputs: &mut [ControllerOutput],
    ) {
        let seen: Vec<ControllerInput> = inputs.iter().map(|input| input.seen).collect();
        self.step(parameters, step, &seen, outputs);
    }

    /// Returns the data that the controller needs in addition to its row. If there are any,
    /// [`Controller::step_with_views`] is called instead of [`Controller::step`], and
    /// [`Controller::drive_with_views`] instead of [`Controller::drive`].
    fn needs(&self, _: &ParameterSet) -> Option<Needs> {
        None
    }

    /// Computes the outputs for a batch of rows that refer to views; `inputs` and `outputs` have the same
    /// length. The default implementation calls [`Controller::step`].
    fn step_with_views(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        _: &Views<'_>,
        inputs: &[NeedsInput],
        outputs: &mut [ControllerOutput],
    ) {
        let seen: Vec<ControllerInput> = inputs.iter().map(|input| input.seen).collect();
        self.step(parameters, step, &seen, outputs);
    }

    /// Calculates the pedal positions for a batch of rows that refer to views; `inputs` and `outputs` have the
    /// same length. The default implementation calls [`Controller::drive`].
    fn drive_with_views(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        _: &Views<'_>,
        inputs: &[NeedsPedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        let row = |input: &NeedsPedalsInput| PedalsInput {
            seen: input.needs.seen,
            drive: input.drive,
        };
        let rows: Vec<PedalsInput> = inputs.iter().map(row).collect();
        self.drive(parameters, step, &rows, outputs);
    }
}

impl Module<dyn Controller> {
    /// Computes the outputs for a batch of agents; `inputs` and `outputs` have the same length.
    #[inline]
    pub fn step(
        &self,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        self.logic.step(&self.parameters, step, inputs, outputs);
    }

    /// Lookahead to the waypoint.
    pub fn lookahead(&self) -> Lookahead {
        self.logic.lookahead(&self.parameters)
    }

    /// Whether the waypoint should be on the circle that the lane follows just ahead.
    pub fn aims_along_bend(&self) -> bool {
        self.logic.aims_along_bend(&self.parameters)
    }

    /// Whether the controller outputs pedal positions. If so, [`Module::drive`] is called instead
    /// of [`Module::step`].
    #[inline]
    pub fn wants_pedals(&self) -> bool {
        self.logic.wants_pedals(&self.parameters)
    }

    /// Calculates the pedal positions for a batch; `inputs` and `outputs` have the same length.
    pub fn drive(&self, step: &Step<'_>, inputs: &[PedalsInput], outputs: &mut [PedalsOutput]) {
        self.logic.drive(&self.parameters, step, inputs, outputs);
    }

    /// Returns the parts into which the controller divides the path ahead. If there are any,
    /// [`Module::follow`] is called instead of [`Module::step`].
    pub fn path_parts(&self) -> Option<PathParts> {
        self.logic.path_parts(&self.parameters)
    }

    /// Whether the controller can reverse along a path with a trailer.
    pub fn pushes_trailers(&self) -> bool {
        self.logic.pushes_trailers()
    }

    /// Computes the outputs for a batch of vehicles that follow paths; `inputs` and `outputs` have the same
    /// length.
    pub fn follow(&self, step: &Step<'_>, inputs: &[PathInput], outputs: &mut [ControllerOutput]) {
        self.logic.follow(&self.parameters, step, inputs, outputs);
    }

    /// Returns the data that the controller needs in addition to its row. If there are any,
    /// [`Module::step_with_views`] or [`Module::drive_with_views`] is called.
    pub fn needs(&self) -> Option<Needs> {
        self.logic.needs(&self.parameters)
    }

    /// Computes the outputs for a batch of rows that refer to views; `inputs` and `outputs` have the same
    /// length.
    pub fn step_with_views(
        &self,
        step: &Step<'_>,
        views: &Views<'_>,
        inputs: &[NeedsInput],
        outputs: &mut [ControllerOutput],
    ) {
        self.logic
            .step_with_views(&self.parameters, step, views, inputs, outputs);
    }

    /// Calculates the pedal positions for a batch of rows that refer to views; `inputs` and `outputs` have the
    /// same length.
    pub fn drive_with_views(
        &self,
        step: &Step<'_>,
        views: &Views<'_>,
        inputs: &[NeedsPedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        self.logic
            .drive_with_views(&self.parameters, step, views, inputs, outputs);
    }
}

/// Chooses lanes and speeds, and requests further effects.
pub trait Behaviour: Logic {
    /// Computes the outputs for a batch of agents; `inputs` and `outputs` have the same length. Further
    /// requests go to `effects`. They are applied after the stage, in the order of agents.
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        scene: Option<&Arc<Surroundings>>,
        inputs: &[BehaviourInput],
        outputs: &mut [BehaviourOutput],
        effects: &mut Effects,
    );

    /// Whether the behaviour uses data of other agents. If not, the surroundings are not built.
    fn wants_scene(&self) -> bool {
        false
    }

    /// Whether the behaviour uses signal states and queues other than those ahead of its own
    /// agents.
    fn wants_signals(&self) -> bool {
        false
    }

    /// Whether the behaviour is called before an agent that has arrived is despawned.
    fn handles_arrival(&self) -> bool {
        false
    }

    /// Whether the behaviour only decides when to make the lane changes that routes require. If so,
    /// the rows of agents that need no lane change are left empty.
    fn only_changes_lanes(&self) -> bool {
        false
    }

    /// Returns how far before the end of a lane the behaviour is informed that the lane merges into
    /// the adjacent one; `None` (the default) if it is not informed. Within these distances,
    /// `lane_change_needed` is the direction of the lane change multiplied by [`LANE_ENDS`]. The
    /// change is optional, because the route also continues through the merge.
    fn lane_end_sight(&self, _: &ParameterSet) -> Option<LaneEndSight> {
        None
    }
}

/// Factor by which the direction in `lane_change_needed` is multiplied where the lane ends
/// ([`Behaviour::lane_end_sight`]).
pub const LANE_ENDS: f64 = 2.0;

/// Typical speed limit of a town, m/s.
const TOWN_LIMIT: f64 = 50.0 / 3.6;
/// Typical speed limit of a motorway, m/s.
const MOTORWAY_LIMIT: f64 = 120.0 / 3.6;

/// Distances before the end of a lane at which the end is announced, in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaneEndSight {
    /// Distance where the speed limit is 120 km/h or more.
    pub motorway: f64,
    /// Distance where the speed limit is 50 km/h or less.
    pub town: f64,
}

impl Default for LaneEndSight {
    fn default() -> Self {
        // [MUTCD 2009], table 2C-4, condition A: 1,350 ft (411 m) at 75 mph and 325 ft (99 m) at 25 mph.
        Self {
            motorway: 400.0,
            town: 100.0,
        }
    }
}

impl LaneEndSight {
    /// Returns the distance for a speed limit (m/s), interpolated linearly between the town and motorway
    /// values, m.
    pub fn at(&self, limit: f64) -> f64 {
        let share = ((limit - TOWN_LIMIT) / (MOTORWAY_LIMIT - TOWN_LIMIT)).clamp(0.0, 1.0);
        self.town + share * (self.motorway - self.town)
    }
}

/// Scores the driving of an agent.
pub trait Fitness: Logic {
    /// Computes the outputs for a batch of agents; `inputs` and `outputs` have the same length.
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[FitnessInput],
        outputs: &mut [FitnessOutput],
    );

    /// Whether the fitness function uses post-encroachment times. They are recorded only if a
    /// fitness function of the run uses them.
    fn wants_post_encroachment(&self) -> bool {
        false
    }

    /// Whether the fitness function uses the optional statistics, which are the last fields of
    /// [`Conduct`](roadwright_plugin_api::Conduct). They are recorded only if a fitness function of the
    /// run uses them.
    fn wants_account(&self) -> bool {
        false
    }

    /// Whether the fitness function uses `collisions` and `goal_distance` of
    /// [`Conduct`](roadwright_plugin_api::Conduct), but none of the other optional statistics.
    /// Recording these two costs no time while an agent drives.
    fn wants_arrival(&self) -> bool {
        false
    }

    /// Whether a lower score means a better drive.
    fn lower_is_better(&self) -> bool {
        true
    }
}

impl Module<dyn Fitness> {
    /// Computes the outputs for a batch of agents; `inputs` and `outputs` have the same length.
    pub fn step(&self, step: &Step<'_>, inputs: &[FitnessInput], outputs: &mut [FitnessOutput]) {
        self.logic.step(&self.parameters, step, inputs, outputs);
    }
}

/// The world as planners see it.
#[derive(Debug, Clone, Copy)]
pub struct PlannerView<'a> {
    /// The lanelets.
    pub graph: &'a LaneGraph,
    /// Expected delay on each lanelet caused by queues, in seconds.
    pub delays: &'a [f32],
}

/// Finds routes through the lanes.
pub trait Planner: Logic {
    /// Finds the routes of a batch: appends each route to `routes` and stores its range in `outputs`.
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        view: &PlannerView<'_>,
        inputs: &[PlannerInput],
        routes: &mut Vec<LaneletIndex>,
        outputs: &mut [PlannerOutput],
    );
}

impl Module<dyn Planner> {
    /// Finds the routes of a batch: appends each route to `routes` and stores its range in `outputs`.
    pub fn step(
        &self,
        step: &Step<'_>,
        view: &PlannerView<'_>,
        inputs: &[PlannerInput],
        routes: &mut Vec<LaneletIndex>,
        outputs: &mut [PlannerOutput],
    ) {
        self.logic
            .step(&self.parameters, step, view, inputs, routes, outputs);
    }
}
