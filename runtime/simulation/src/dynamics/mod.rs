//! Levels of dynamics: models of how bodies respond to commands.
//!
//! A level keeps the state of its model in its own array and moves its agents one by one
//! (`stages/advance.rs`). All other code reads the shared [`Motion`] and the lane position. Every
//! level enforces the limits of the vehicle, regardless of which module commands it.
//!
//! Levels synchronise after every time step of the world, when all bodies have reached the world's
//! time. A level may hold a command for a stride of several steps. Within a stride, bodies follow a
//! closed-form solution, so that they do not jump. Example: dt 0.02 s, a stride of 5 steps, agents
//! 1 and 2:
//!
//! ```text
//!   step     0  1  2  3  4  5  6  7  8  9
//!   agent 1              T              T     T: takes its newest command
//!   agent 2           T              T        in between: the same acceleration
//! ```
//!
//! Strides are staggered by id, so that about the same number of agents take commands in each step.

mod dynamic_one_track;
mod lane;
mod one_track;
mod rigid;
mod sliding;
mod standing;
mod trailers;
mod walker;

pub(crate) use dynamic_one_track::DynamicOneTrack;
pub(crate) use lane::Lane;
use lane::LaneState;
pub(crate) use one_track::OneTrack;
pub use rigid::LooseCounts;
pub(crate) use rigid::loose_record;
pub(crate) use rigid::{Around, Rigid, RigidBodies};
pub(crate) use sliding::Sliding;
pub(crate) use standing::{FreeCoupling, MOST_ANGLE, REACH, StandingTrain, StandingTrains};
pub(crate) use trailers::Trailers;
pub(crate) use walker::Walker;

use crate::agents::{Agents, AgentsRef};
use crate::hash::StateHasher;
use crate::options::SimulationError;
use crate::records::{AgentIndex, Aside, Command, LanePosition, Motion, PlayedFrame};
use crate::route::ExactGoal;
use crate::snapshot::MechanicsRecord;
use crate::vehicle_type::{VehicleType, VehicleTypes};
use roadwright_agent::TyreInput;
use roadwright_geometry::{Pose, unit};
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{BodyKind, DynamicsLevel, Scenario};
use roadwright_vehicle::gait::GaitTable;
use roadwright_vehicle::{Ask, DriveState, DriveTrain, Grade, PedalCommand};
use serde::{Deserialize, Serialize};

/// Speed below which an agent counts as stationary, m/s.
pub(crate) const STANDING: f64 = 0.1;

/// Evaluates an expression with the type that implements a level. The macro is the list of all levels; a
/// level that is missing here does not compile.
macro_rules! of_level {
    ($level:expr, $type:ident => $value:expr) => {
        $crate::dynamics::of_level! {
            @lines $level, $type => $value;
            OneTrack
            Lane
            DynamicOneTrack
            Rigid
            Sliding
            Walker
        }
    };
    (@lines $level:expr, $type:ident => $value:expr; $($name:ident)*) => {
        match $level {
            $(roadwright_scenario::DynamicsLevel::$name => {
                type $type = $crate::dynamics::$name;
                $value
            })*
        }
    };
}

pub(crate) use of_level;

/// A body with its commands, as a level receives it to move the body by one step.
pub(crate) struct Body<'a> {
    pub(crate) motion: &'a mut Motion,
    pub(crate) position: &'a mut LanePosition,
    pub(crate) command: &'a Command,
    /// Pedals, if the vehicle is controlled by pedals. The command is then an estimate of their effect.
    pub(crate) pedals: Option<PedalCommand>,
    pub(crate) vehicle_type: &'a VehicleType,
    /// Drive train, if the vehicle's file has one.
    pub(crate) drive_train: Option<&'a DriveTrain>,
    /// Gaits of a character; `None` for a vehicle.
    pub(crate) gaits: Option<&'a GaitTable>,
    /// Whether the driver wants to reverse.
    pub(crate) is_reversing: bool,
    /// Guided lateral offset from the centre line of the body's lane.
    pub(crate) aside: Aside,
}

impl Body<'_> {
    /// Grip of the ground below the body relative to dry asphalt, as the mean of both axles; `None`
    /// if it is 1.
    #[inline]
    fn grip(&self, ground: &Ground) -> Option<f64> {
        if !ground.has_grip() {
            return None;
        }
        let grip = self.mean_grip(ground, self.motion.pose);
        (grip != 1.0).then_some(grip)
    }

    /// Mean grip below both axles at a pose.
    fn mean_grip(&self, ground: &Ground, pose: Pose) -> f64 {
        let layers = ground.layers(self.position.lanelet);
        let front = pose.point(self.vehicle_type.limits.wheelbase, 0.0);
        0.5 * (ground.grip_on(pose.position, layers) + ground.grip_on(front, layers))
    }

    /// Slope along the vehicle, from the heights of both axles, with the acceleration limits of
    /// engine and grip; `None` if the ground is level.
    #[inline]
    fn grade(&self, ground: &Ground, pose: Pose) -> Option<Grade> {
        let grade = ground.grade(pose, self.vehicle_type.limits.wheelbase)?;
        Some(self.climbs(grade, self.mean_grip(ground, pose)))
    }

    /// Like `grade`, but includes the slope across the vehicle's heading.
    #[inline]
    fn bank_and_grade(&self, ground: &Ground, pose: Pose) -> Option<Grade> {
        let (wheelbase, width) = (self.vehicle_type.limits.wheelbase, self.vehicle_type.width);
        let along = ground.grade(pose, wheelbase);
        let level = Grade::between(0.0, wheelbase);
        let grade = along.unwrap_or(level);
        let grade = grade.banked(ground.bank(pose, wheelbase, width), width);
        let is_level = along.is_none() && grade.bank == 0.0;
        (!is_level).then(|| self.climbs(grade, self.mean_grip(ground, pose)))
    }

    /// Adds the acceleration limits of engine and grip to a slope. Downhill, the engine limit of
    /// level ground applies. Uphill, the limit of the drive train applies, if the vehicle file has
    /// one.
    fn climbs(&self, grade: Grade, grip: f64) -> Grade {
        let direction = if self.is_reversing { -1.0 } else { 1.0 };
        let along = self.motion.speed * direction;
        let is_uphill = grade.pull * direction < 0.0;
        let train = self.drive_train.filter(|_| is_uphill);
        let engine = train.map(|train| train.strongest(along, self.is_reversing, grade.load, grip));
        let engine = engine.unwrap_or(self.vehicle_type.limits.max_acceleration);
        grade.with(engine, grip * self.vehicle_type.hardest())
    }

    /// Acceleration, direction and pedals that the body's controller requests, for the model of
    /// slopes.
    fn ask(&self) -> Ask {
        let limits = &self.vehicle_type.limits;
        Ask {
            // Limited to the maximum acceleration on level ground.
            acceleration: self.command.acceleration.min(limits.max_acceleration),
            is_reversing: self.is_reversing,
            max_braking: limits.max_braking,
            pedals: self.held(),
        }
    }

    /// Pedals for dynamics levels without individual wheels. The hand brake is converted to a
    /// fraction of the foot brake.
    fn held(&self) -> Option<PedalCommand> {
        let share = self.vehicle_type.held;
        self.pedals.map(|pedals| pedals.with_held(share))
    }

    /// Acceleration that the controller wants on level ground without an engine model, m/s^2. Pedals are
    /// converted to their effect within the limits of the vehicle.
    #[inline]
    fn wish(&self) -> f64 {
        match self.held() {
            Some(held) => self.vehicle_type.limits.pressed(held.pedals),
            None => self.command.acceleration,
        }
    }

    /// Target angle of the front wheels, rad. A controller sees a reversing vehicle as if it were
    /// turned around. While the vehicle rolls against the selected direction, the wheels keep their
    /// angle.
    fn wheels(&self, now: f64) -> f64 {
        let speed = self.motion.speed;
        let rolls_back = speed < 0.0 || speed == 0.0 && self.is_reversing;
        match (rolls_back == self.is_reversing, self.is_reversing) {
            (false, _) => now,
            (true, false) => self.command.steering,
            (true, true) => -self.command.steering,
        }
    }
}

/// Ground and timing of a step, as a level receives them.
#[derive(Clone, Copy)]
pub(crate) struct LevelStep<'a> {
    pub(crate) ground: &'a Ground,
    /// Duration of the step, s.
    pub(crate) dt: f64,
    /// Minimum update rate of the dynamics levels that model forces, Hz.
    pub(crate) physics_rate_hz: f64,
    /// Whether a stride begins in this step, so that the level takes the new command.
    pub(crate) begins: bool,
}

/// A model of how bodies move.
pub(crate) trait Level {
    /// State that the level keeps for one agent, in addition to the shared columns. The default is
    /// a body that is stationary or rolls straight ahead.
    type State: Copy + Default + Send;
    /// States of all agents.
    type States: States<State = Self::State>;

    /// The level that this type implements.
    const LEVEL: DynamicsLevel;
    /// Whether the level needs the geometry of a lane to move a body along it.
    const READS_LINES: bool = true;
    /// Distance before the end of its lane that a body needs for a lane change, m.
    const CHANGE_ROOM: f64 = 0.0;
    /// Condition under which a goal at the end of an exact path is reached.
    const EXACT_GOAL: ExactGoal = ExactGoal::Stand;

    /// Radius around a goal on open ground within which a body counts as arrived, m. It does not
    /// apply to a body that has to stop at the end of its path. Vehicles that are shorter than the
    /// typical length have a smaller radius.
    fn goal_radius(kind: &VehicleType) -> f64 {
        crate::route::GROUND_GOAL_RADIUS * kind.scale()
    }

    /// States of this level.
    fn states(dynamics: &Dynamics) -> &Self::States;

    /// Returns the states of this level for writing.
    fn states_mut(dynamics: &mut Dynamics) -> &mut Self::States;

    /// Number of steps of `dt` seconds that the level holds a command.
    fn stride(dt: f64) -> u32;

    /// Extrapolates a body by a step of `dt` seconds within a stride, if only its position and
    /// speed change. Returns the distance driven along the body's lane (m), or `None` if the body
    /// was not moved.
    #[inline]
    fn roll(
        _state: &Self::State,
        _motion: &mut Motion,
        _position: &mut LanePosition,
        _dt: f64,
    ) -> Option<f64> {
        None
    }

    /// Sets how far a body may be extrapolated on its lanelet until its stride ends, m; 0 if every
    /// step has to be computed in full. Called after each step that is computed in full.
    #[inline]
    fn let_roll(
        _state: &mut Self::State,
        _motion: &Motion,
        _position: &LanePosition,
        _vehicle_type: &VehicleType,
        _until: f64,
    ) {
    }

    /// Sets the level's state of a body whose motion is played from a clip. Called only for levels
    /// that can play clips.
    #[inline]
    fn put(_state: &mut Self::State, _frame: &PlayedFrame) {}

    /// Moves a body by a step, within the limits of its vehicle. If the level follows lanes on its
    /// own, returns the distance along the lane, m. Otherwise returns `None`, and the body is
    /// projected onto its lane.
    fn advance(state: &mut Self::State, body: Body<'_>, step: LevelStep<'_>) -> Option<f64>;

    /// Pose of a body. Levels whose bodies follow lanes compute the pose, because [`Motion`] does
    /// not contain it.
    #[inline]
    fn pose(bodies: &Bodies<'_>, agent: AgentIndex) -> Pose {
        bodies.agents.motion[agent.index()].pose
    }

    /// Angle of the front wheels, rad.
    fn steering(bodies: &Bodies<'_>, agent: AgentIndex, vehicle_type: &VehicleType) -> f64;

    /// Lateral speed of the rear axle to the left, m/s, and yaw rate, rad/s.
    #[inline]
    fn slip(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> [f64; 2] {
        [0.0, bodies.agents.motion[agent.index()].yaw_rate]
    }

    /// Side slip and yaw rate of a body; `None` for values that the level does not model.
    fn recorded_slip(
        bodies: &Bodies<'_>,
        agent: AgentIndex,
        vehicle_type: &VehicleType,
    ) -> RecordedSlip;

    /// State of the drive train, which is at rest before the first step; `None` if the level has
    /// none.
    fn drive_state(_: &Dynamics, _: AgentIndex) -> Option<DriveState> {
        None
    }

    /// State of engine and wheels; `None` if the level models neither.
    fn mechanics(_: &Bodies<'_>, _: AgentIndex, _: &VehicleTypes) -> Option<MechanicsRecord> {
        None
    }

    /// Returns the parameters of a vehicle's linear tyre model for a direction of travel; `None` if
    /// the level does not model side slip.
    fn tyres(_: &VehicleType, _direction: f64) -> Option<TyreInput> {
        None
    }

    /// Maximum acceleration that the tyres of a vehicle can transfer, m/s^2.
    fn hardest(vehicle_type: &VehicleType) -> f64 {
        vehicle_type.hardest()
    }
}

/// States of a level, by agent index.
pub(crate) trait States {
    /// State that the level keeps for one agent.
    type State;

    /// Makes room for `agents` agents.
    fn grow(&mut self, agents: usize);

    /// Resets the state of a body that is removed.
    fn forget(&mut self, agent: AgentIndex);

    /// Whether there is a state for the agent with this index.
    fn holds(&self, agent: usize) -> bool;

    /// Adds the state of an agent to a hash.
    fn add_to_hash(&self, agent: AgentIndex, hasher: &mut StateHasher);

    /// Memory used, in bytes.
    fn bytes(&self) -> usize;

    /// The states as a slice, if the level moves its bodies one by one; otherwise `None`.
    fn one_by_one(&mut self) -> Option<&mut [Self::State]>;
}

impl<S: Copy + Default + Serialize> States for Vec<S> {
    type State = S;

    fn grow(&mut self, agents: usize) {
        if self.len() < agents {
            self.resize(agents, S::default());
        }
    }

    fn forget(&mut self, agent: AgentIndex) {
        if let Some(state) = self.get_mut(agent.index()) {
            *state = S::default();
        }
    }

    fn holds(&self, agent: usize) -> bool {
        agent < self.len()
    }

    fn add_to_hash(&self, agent: AgentIndex, hasher: &mut StateHasher) {
        hasher.add(&self[agent.index()]);
    }

    fn bytes(&self) -> usize {
        size_of_val(&self[..])
    }

    fn one_by_one(&mut self) -> Option<&mut [S]> {
        Some(self)
    }
}

/// Number of steps of `dt` seconds that a level holds a command.
pub(crate) fn stride(level: DynamicsLevel, dt: f64) -> u64 {
    u64::from(of_level!(level, L => L::stride(dt)))
}

/// Distance before the end of its lane that a body needs for a lane change, m.
pub(crate) fn room_to_change_lane(level: DynamicsLevel) -> f64 {
    of_level!(level, L => L::CHANGE_ROOM)
}

/// Rules that assign a dynamics level to spawned agents.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LevelChoice {
    /// Level for all agents, regardless of the scenario.
    pub(crate) forced: Option<DynamicsLevel>,
    /// Level of agents without a level in the scenario.
    pub(crate) default: DynamicsLevel,
}

impl LevelChoice {
    /// Returns the level of an agent. `own` is the level that the scenario sets for it. Characters always walk.
    pub(crate) fn of(&self, own: Option<DynamicsLevel>, body: BodyKind) -> DynamicsLevel {
        match body {
            BodyKind::Character => DynamicsLevel::Walker,
            BodyKind::Vehicle => self.forced.or(own).unwrap_or(self.default),
        }
    }

    /// Returns the reason why vehicles of a type cannot use the chosen level, as a message for
    /// users.
    fn refusal(
        &self,
        own: Option<DynamicsLevel>,
        kind: &roadwright_scenario::VehicleType,
    ) -> Option<String> {
        // A forced or default level is meant for vehicles only, so characters keep theirs.
        match kind.body {
            BodyKind::Character => kind.refusal(own?),
            BodyKind::Vehicle => kind.refusal(self.of(own, kind.body)),
        }
    }

    /// Rejects a scenario whose agents or flows have vehicles that cannot drive at their levels.
    pub(crate) fn check(&self, scenario: &Scenario) -> Result<(), SimulationError> {
        let agents = scenario.agents().values();
        let flows = scenario.flows().values();
        let users = agents
            .map(|agent| (&agent.vehicle, agent.dynamics))
            .chain(flows.map(|flow| (&flow.vehicle, flow.dynamics)));
        for (vehicle, own) in users {
            let Some(kind) = scenario.vehicle_types().get(vehicle) else {
                continue;
            };
            if let Some(reason) = self.refusal(own, kind) {
                return Err(SimulationError::Body {
                    vehicle: vehicle.clone(),
                    reason,
                });
            }
            let Some(file) = kind.file.as_ref() else {
                continue;
            };
            let level = self.of(own, kind.body);
            let missing = file.vehicle.missing(level);
            if !missing.is_empty() {
                return Err(SimulationError::Level {
                    vehicle: vehicle.clone(),
                    file: file.path.clone(),
                    level,
                    missing,
                });
            }
        }
        Ok(())
    }
}

/// Levels of a world, with their states by agent index. An unused level takes no memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dynamics {
    pub(crate) one_track: <OneTrack as Level>::States,
    pub(crate) lane: <Lane as Level>::States,
    pub(crate) dynamic_one_track: <DynamicOneTrack as Level>::States,
    pub(crate) rigid: RigidBodies,
    pub(crate) sliding: <Sliding as Level>::States,
    pub(crate) walker: <Walker as Level>::States,
    /// Trailers of agents on all levels.
    pub(crate) trailers: Trailers,
    /// Uncoupled trailers. They are a separate part of saves.
    #[serde(skip)]
    pub(crate) standing: StandingTrains,
}

impl Dynamics {
    /// Memory used by all states, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let of = |level: DynamicsLevel| of_level!(level, L => L::states(self).bytes());
        let levels: usize = DynamicsLevel::ALL.map(of).iter().sum();
        levels + self.trailers.bytes() + self.standing.bytes()
    }

    /// Adds a body that is stationary or rolls straight ahead.
    pub(crate) fn insert(&mut self, agent: AgentIndex, level: DynamicsLevel) {
        self.grow(level, agent.index() + 1);
        self.remove(agent);
    }

    /// Makes room for `agents` agents in the states of a level.
    pub(crate) fn grow(&mut self, level: DynamicsLevel, agents: usize) {
        of_level!(level, L => L::states_mut(self).grow(agents));
    }

    /// Ends the extrapolation: the next step computes all bodies in full, even in the middle of a stride.
    /// Called when roads or routes have changed.
    pub(crate) fn stop_rolling(&mut self) {
        self.lane.iter_mut().for_each(LaneState::stop_rolling);
    }

    /// Removes a body.
    pub(crate) fn remove(&mut self, agent: AgentIndex) {
        for level in DynamicsLevel::ALL {
            of_level!(level, L => L::states_mut(self).forget(agent));
        }
        // Uncoupled trailers are not owned by agents: they stay when their agent leaves.
        self.trailers.forget(agent);
    }

    /// Whether there is state for an agent on the given level.
    pub(crate) fn holds(&self, level: DynamicsLevel, agent: usize) -> bool {
        of_level!(level, L => L::states(self).holds(agent))
    }

    /// Whether an agent of level `lane` cannot climb the slope of its lane although it wants to
    /// drive.
    pub(crate) fn is_held_by_slope(&self, agent: usize) -> bool {
        self.lane.get(agent).is_some_and(LaneState::is_held)
    }

    /// Adds an agent's state on its level to a hash.
    pub(crate) fn hash(&self, level: DynamicsLevel, agent: AgentIndex, hasher: &mut StateHasher) {
        of_level!(level, L => L::states(self).add_to_hash(agent, hasher));
        // A vehicle that tows nothing has the same hash as a vehicle without a coupling.
        if let Some(train) = self.trailers.of(agent) {
            hasher.add(&train);
        }
    }

    /// Switches an agent to another level at its current place.
    pub(crate) fn assign(
        &mut self,
        ground: &Ground,
        agents: &mut Agents,
        agent: AgentIndex,
        level: DynamicsLevel,
    ) {
        // The pose is computed while the agent still has its old level, because only this level
        // knows its place.
        let bodies = Bodies {
            ground,
            agents: agents.lent(),
            dynamics: self,
        };
        let pose = bodies.pose(agent);
        agents.motion[agent.index()].pose = pose;
        let train = self.trailers.take(agent);
        self.insert(agent, level);
        self.trailers.put(agent, train);
        agents.set_level(agent, level);
    }
}

/// Side slip and yaw of a body; `None` where its level does not model them.
pub(crate) struct RecordedSlip {
    /// Speed of the centre of gravity to the left, m/s.
    pub(crate) sideways: Option<f64>,
    /// Yaw rate, rad/s.
    pub(crate) yaw_rate: Option<f64>,
}

/// Positions and poses of all bodies, on all dynamics levels.
#[derive(Clone, Copy)]
pub(crate) struct Bodies<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) agents: AgentsRef<'a>,
    pub(crate) dynamics: &'a Dynamics,
}

impl Bodies<'_> {
    #[inline]
    fn level(&self, agent: AgentIndex) -> DynamicsLevel {
        self.agents.identity[agent.index()].level
    }

    /// Returns the pose of a body. The pose of a body that follows its lane is computed on demand,
    /// because [`Motion`] does not contain it.
    #[inline]
    pub(crate) fn pose(&self, agent: AgentIndex) -> Pose {
        of_level!(self.level(agent), L => L::pose(self, agent))
    }

    /// Returns the motion at a fraction `share` of the last step, from 0 (start) to 1 (end). The
    /// step took `dt` seconds.
    pub(crate) fn motion_at(&self, agent: AgentIndex, dt: f64, share: f64) -> Motion {
        let now = Motion {
            pose: self.pose(agent),
            ..self.agents.motion[agent.index()]
        };
        if share == 1.0 {
            return now;
        }
        now.before((1.0 - share) * dt)
    }

    /// Angle of the front wheels, rad.
    #[inline]
    pub(crate) fn steering(&self, agent: AgentIndex, vehicle_type: &VehicleType) -> f64 {
        of_level!(self.level(agent), L => L::steering(self, agent, vehicle_type))
    }

    /// Lateral speed of the rear axle to the left (m/s) and yaw rate (rad/s) of an agent. The lateral speed
    /// is 0 at levels without side slip and at level `rigid`.
    pub(crate) fn slip(&self, agent: AgentIndex, vehicle_type: &VehicleType) -> [f64; 2] {
        of_level!(self.level(agent), L => L::slip(self, agent, vehicle_type))
    }

    /// Side slip and yaw rate of an agent; `None` for values that its level does not model.
    pub(crate) fn recorded_slip(
        &self,
        agent: AgentIndex,
        vehicle_type: &VehicleType,
    ) -> RecordedSlip {
        of_level!(self.level(agent), L => L::recorded_slip(self, agent, vehicle_type))
    }

    /// Returns the state of an agent's engine and wheels; `None` on levels that model neither.
    pub(crate) fn mechanics(
        &self,
        agent: AgentIndex,
        types: &VehicleTypes,
    ) -> Option<MechanicsRecord> {
        of_level!(self.level(agent), L => L::mechanics(self, agent, types))
    }

    /// Offset of a body to the left of a lane's centre line, m. `lanelet` is the body's lane, or
    /// the lane that it is leaving.
    pub(crate) fn offset_on(&self, agent: AgentIndex, lanelet: LaneletIndex) -> f64 {
        let position = &self.agents.position[agent.index()];
        if position.lanelet == lanelet {
            return position.t;
        }
        let line = self.ground.line(lanelet);
        line.project(self.pose(agent).position, position.s).1
    }
}

impl Motion {
    /// Motion `time` seconds ago, assuming the current yaw rate and acceleration.
    fn before(&self, time: f64) -> Self {
        // The heading half-way equals that of the chord, so that bends are drawn as bends.
        let turned = self.yaw_rate * time;
        let speed = self.speed - self.acceleration * time;
        // The speed is clamped at 0, because the body did not roll in the other direction before.
        let speed = if self.speed < 0.0 {
            speed.min(0.0)
        } else {
            speed.max(0.0)
        };
        let distance = 0.5 * (speed + self.speed) * time;
        let along = unit(self.pose.heading - 0.5 * turned);
        Self {
            pose: Pose {
                position: self.pose.position - along * distance,
                heading: self.pose.heading - turned,
            },
            speed,
            ..*self
        }
    }
}
