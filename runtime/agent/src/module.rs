//! The one interface of all modules.

use crate::behaviour::{Effects, Scene};
use crate::parameter::ParameterSet;
use roadwright_geometry::math::mix64;
use roadwright_plugin_api::{
    BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput, FitnessInput,
    FitnessOutput, PedalsInput, PedalsOutput, PlannerInput, PlannerOutput,
};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex};
use std::sync::Arc;

/// What a module says about itself.
///
/// The words live as long as the program: those of a plugin stay with its library, which is never
/// unloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleInfo {
    /// Stable id, used in files.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
}

/// A module in a stack: what it says about itself, the values of its parameters, and what it does.
pub struct Module<L: ?Sized> {
    /// What it says about itself.
    pub info: ModuleInfo,
    /// Its parameters; they change between steps only.
    pub parameters: ParameterSet,
    /// What it does.
    pub logic: Box<L>,
}

/// What modules are told between two steps.
#[derive(Debug, Clone, Copy)]
pub struct StepBoundary<'a> {
    /// Steps taken so far.
    pub step: u64,
    /// Simulation time, s.
    pub time: f64,
    /// Agent indices are smaller than this.
    pub capacity: u32,
    /// Indices of the agents that this module has been given since the boundary before, in the order
    /// of the agents' ids.
    pub added: &'a [u32],
    /// Indices of the agents that have left it since then, in the same order. The index of one that has
    /// left the road is free again at the next boundary and not before: so its removal is told at least
    /// one boundary before another agent with its index is among `added`, and no index is in both.
    pub removed: &'a [u32],
}

/// A new version of a module that has taken over from an old one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// What the new version says about itself.
    pub info: ModuleInfo,
    /// Hash of the old version; empty for a built-in.
    pub from: String,
    /// Hash of the new version; empty for a built-in.
    pub to: String,
    /// What happened, for people.
    pub note: String,
}

/// What a logic gives to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogicState {
    /// It keeps nothing between steps.
    Stateless,
    /// All that it keeps.
    Bytes(Vec<u8>),
    /// It may keep something that it cannot give: a save of the world is refused, unless people
    /// accept that this module starts fresh.
    Unknown,
}

/// Answers that a logic from outside owed and did not give.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// Answers that the built-in module behind it gave instead. Answers that the interface lets a module leave to
    /// the host are not among them.
    pub answers: u64,
    /// The first problem, for people.
    pub reason: String,
    /// The build that failed, as [`Logic::version`] names it.
    pub build: String,
    /// Whether it is not asked any more: the built-in module drives until another build comes.
    pub is_out: bool,
    /// Whether a process died or a time limit on the wall clock passed, so that the same run may fail at another
    /// time, or not at all.
    pub depends_on_machine: bool,
}

/// What the logic of all slots has in common. Logic that keeps no state needs none of it.
pub trait Logic: Send + Sync {
    /// All that it keeps between steps, for a save.
    fn save_state(&self) -> LogicState {
        LogicState::Stateless
    }

    /// Continues from bytes that the same build gave; it knows its parameters and agents already.
    ///
    /// # Errors
    /// Why they do not fit; the logic has started fresh then.
    fn load_state(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// Which build of it runs, for records; empty for what is built in.
    fn version(&self) -> String {
        String::new()
    }

    /// Answers that it has owed since [`Logic::take_failure`] was last called; `None` if it has given all.
    fn failure(&self) -> Option<Failure> {
        None
    }

    /// Returns what [`Logic::failure`] does, and starts counting anew.
    fn take_failure(&mut self) -> Option<Failure> {
        None
    }

    // The host may cut batches, ask in parallel and skip boundaries; a logic says what it needs. Those
    // that need nothing, as all built-ins, pay for none of it.
    /// Whether a batch must not be cut into slices that are asked in parallel.
    fn asks_whole(&self) -> bool {
        false
    }

    /// Whether [`Logic::at_step_boundary`] has anything to do; asked once.
    fn has_step_boundary(&self) -> bool {
        false
    }

    /// Called before a step, and again within it after agents have appeared, never while the module is
    /// being asked. It hears of an agent before it is first asked about it. A logic that has been replaced by a newer
    /// version says so, and puts the parameters of the new version in place of the old ones.
    fn at_step_boundary(&mut self, _: &mut ParameterSet, _: &StepBoundary<'_>) -> Option<Swap> {
        None
    }
}

/// The moment that a batch is asked about, and whom it is about.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Step<'a> {
    /// Simulation time, s.
    pub time: f64,
    /// Time until the same agent is asked again, s.
    pub period: f64,
    /// Number of the step.
    pub index: u64,
    /// Seed of the run.
    pub seed: u64,
    /// For each row the agent index: a dense number that stays its own while it drives.
    pub indices: &'a [u32],
    /// For each row the agent's id.
    pub ids: &'a [u64],
}

impl Step<'_> {
    /// A random number that depends on run, agent and step only.
    #[inline]
    pub fn seed_of(&self, agent: u64) -> u64 {
        // Mixed from run, step and agent and not drawn from a shared stream: an agent that is added
        // takes no number away from another, and threads may ask in any order.
        // What comes first is the same for all agents of a step.
        mix64(mix64(self.seed ^ mix64(self.index)) ^ agent)
    }
}

/// How far ahead a controller wants its way-point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookahead {
    /// Least distance, m.
    pub distance: f64,
    /// Time, s, that is multiplied by the speed; the larger of the two counts.
    pub time: f64,
}

/// Steers and accelerates: answers what the agent perceives with a command for its body, an acceleration
/// or, if it wants to, pedals.
///
/// An output depends on its own row, the agent's own state and the parameters only, so the host
/// may cut a batch into slices and ask for them in parallel.
pub trait Controller: Logic {
    /// Answers a batch; `inputs` and `outputs` have the same length.
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    );

    /// How far ahead it wants its way-point.
    fn lookahead(&self, parameters: &ParameterSet) -> Lookahead;

    /// Whether its accelerations depend on where the way leads: on heading error, way-point, curvature of
    /// the path and the angle of the wheels. If not, those fields are 0 for agents whose bodies follow
    /// their lanes by themselves, where nothing comes of its steering either.
    fn looks_at_way(&self) -> bool {
        true
    }

    /// Whether its way-point on a lane is to lie on the circle that the lane follows just ahead, and not on
    /// the lane itself. A law that steers for the circle through its way-point then drives each bend as it
    /// is; for a point of the lane it begins and ends bends early, and cuts them ([Coulter 1992]).
    fn aims_along_bend(&self, _: &ParameterSet) -> bool {
        false
    }

    /// Whether it drives by pedals: [`Controller::drive`] is asked then instead of [`Controller::step`].
    fn wants_pedals(&self, _: &ParameterSet) -> bool {
        false
    }

    /// Answers a batch with pedals; `inputs` and `outputs` have the same length. A controller that wants
    /// none gives those that its accelerations ask for.
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
}

impl Module<dyn Controller> {
    /// Answers a batch; `inputs` and `outputs` have the same length.
    #[inline]
    pub fn step(
        &self,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        self.logic.step(&self.parameters, step, inputs, outputs);
    }

    /// How far ahead it wants its way-point.
    pub fn lookahead(&self) -> Lookahead {
        self.logic.lookahead(&self.parameters)
    }

    /// Whether its way-point on a lane is to lie on the circle that the lane follows just ahead.
    pub fn aims_along_bend(&self) -> bool {
        self.logic.aims_along_bend(&self.parameters)
    }

    /// Whether it drives by pedals: [`Module::drive`] is asked then instead of [`Module::step`].
    #[inline]
    pub fn wants_pedals(&self) -> bool {
        self.logic.wants_pedals(&self.parameters)
    }

    /// Answers a batch with pedals; `inputs` and `outputs` have the same length.
    pub fn drive(&self, step: &Step<'_>, inputs: &[PedalsInput], outputs: &mut [PedalsOutput]) {
        self.logic.drive(&self.parameters, step, inputs, outputs);
    }
}

/// Chooses lanes and speeds, and asks for what goes beyond that.
pub trait Behaviour: Logic {
    /// Answers a batch; `inputs` and `outputs` have the same length. What goes beyond an output
    /// row is asked for by `effects`, which take place after the stage in the order of agents.
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        scene: Option<&Arc<Scene>>,
        inputs: &[BehaviourInput],
        outputs: &mut [BehaviourOutput],
        effects: &mut Effects,
    );

    /// Whether it looks at others: only then a scene is made.
    fn wants_scene(&self) -> bool {
        false
    }

    /// Whether it looks at what signals show and who waits there, beyond those ahead of its agents.
    fn wants_signals(&self) -> bool {
        false
    }

    /// Whether it is asked before an agent that has arrived is taken off the road.
    fn handles_arrival(&self) -> bool {
        false
    }

    /// Whether it says when to make the changes of lane that routes ask for, and nothing else: then the
    /// rows of agents whose routes ask for none where they are hold nothing.
    fn only_changes_lanes(&self) -> bool {
        false
    }
}

/// What the host has seen of one agent's drive beyond the rows that plugins are given: how close it
/// came to others, how much time it lost, and which rules it broke. All 0 is perfect, apart from
/// the times, which are [`NOTHING`](roadwright_plugin_api::NOTHING) where no other vehicle came near.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conduct {
    /// Mean of the missing part of a time to collision of 3 s with the leader, 0 to 1.
    pub collision_exposure: f64,
    /// Mean of the missing part of a headway of 1 s to the leader, 0 to 1.
    pub tailgating: f64,
    /// Least time from when another left a place in a junction to when this agent came there, s.
    pub least_post_encroachment: f64,
    /// Share of the time lost, compared with driving as fast as road, bends and vehicle allow.
    pub time_lost: f64,
    /// Mean of the part by which the speed limit was exceeded.
    pub speeding: f64,
    /// Share of the time beside the own lane.
    pub off_lane: f64,
    /// Share of the time in junctions that had not let it in.
    pub uninvited: f64,
    /// Share of the time more than a twentieth above the speed limit, on open ground above the speed that is
    /// allowed there.
    pub above_limit: f64,
    /// How deep the agent was in obstacles and vehicles, summed over the time, m s.
    pub overlap: f64,
    /// Whether it has arrived at its last goal.
    pub has_arrived: bool,
    /// Straight from the middle of the body to the last goal, m. As all that follows it is 0 unless
    /// some fitness of the run wants accounts ([`Fitness::wants_account`]).
    pub goal_distance: f64,
    /// Collisions that the agent was in; a body that is left and touched again counts twice.
    pub collisions: f64,
    /// Integral of half the squared speed over the time, m^2/s: the kinetic energy of a unit mass.
    pub kinetic_energy: f64,
    /// Mean over the completed parts of the route, from goal to goal, of mean penetration over length.
    pub segment_crash: f64,
    /// Mean over the same of the missing part of the allowed speed.
    pub segment_time_lost: f64,
    /// Changes between driving forwards and backwards. This and what follows is counted on courses that are
    /// manoeuvres, and 0 elsewhere.
    pub shunts: f64,
    /// Mean angle of what is balanced against the vertical, rad.
    pub mean_lean: f64,
}

impl Default for Conduct {
    fn default() -> Self {
        Self {
            collision_exposure: 0.0,
            tailgating: 0.0,
            least_post_encroachment: roadwright_plugin_api::NOTHING,
            time_lost: 0.0,
            speeding: 0.0,
            off_lane: 0.0,
            uninvited: 0.0,
            above_limit: 0.0,
            overlap: 0.0,
            has_arrived: false,
            goal_distance: 0.0,
            collisions: 0.0,
            kinetic_energy: 0.0,
            segment_crash: 0.0,
            segment_time_lost: 0.0,
            shunts: 0.0,
            mean_lean: 0.0,
        }
    }
}

/// Rates the driving.
pub trait Fitness: Logic {
    /// Answers a batch; `inputs`, `conducts` and `outputs` have the same length.
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[FitnessInput],
        conducts: &[Conduct],
        outputs: &mut [FitnessOutput],
    );

    /// Whether it looks at times of post-encroachment, which are only watched then.
    fn wants_post_encroachment(&self) -> bool {
        false
    }

    /// Whether it looks at the last five fields of [`Conduct`], which are only kept then.
    fn wants_account(&self) -> bool {
        false
    }

    /// Whether a lower score is a better drive.
    fn lower_is_better(&self) -> bool {
        true
    }
}

impl Module<dyn Fitness> {
    /// Answers a batch; `inputs`, `conducts` and `outputs` have the same length.
    pub fn step(
        &self,
        step: &Step<'_>,
        inputs: &[FitnessInput],
        conducts: &[Conduct],
        outputs: &mut [FitnessOutput],
    ) {
        self.logic
            .step(&self.parameters, step, inputs, conducts, outputs);
    }
}

/// What planners see of the world.
#[derive(Debug, Clone, Copy)]
pub struct PlannerView<'a> {
    /// The lanelets.
    pub graph: &'a LaneGraph,
    /// Expected extra time on each lanelet because of standing traffic, s.
    pub delays: &'a [f32],
}

/// Finds routes through the lanes.
pub trait Planner: Logic {
    /// Answers a batch: appends each route to `routes` and says where it is.
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
    /// Answers a batch: appends each route to `routes` and says where it is.
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
