//! Levels of dynamics: how bodies answer to commands.
//!
//! A level keeps the state of its model in an array of its own and moves its agents, one body after
//! the other (`stages/advance.rs`); what everybody else reads is the shared [`Motion`] and the lane
//! position. Limits of the vehicle are applied by the level, for every module.
//!
//! The dt of the world is the moment of exchange: after each step everybody is where the world is.
//! A level may hold a command for a stride of several steps; in between, bodies go on with it in
//! closed form, so nobody jumps. Example: dt 0.02 s, a stride of 5 steps, agents 1 and 2:
//!
//! ```text
//!   step     0  1  2  3  4  5  6  7  8  9
//!   agent 1              T              T     T: takes its newest command
//!   agent 2           T              T        in between: the same acceleration
//! ```
//!
//! Strides begin by id, so that each step takes the commands of about as many agents.

mod dynamic_one_track;
mod lane;
mod mechanics;
mod one_track;
mod rigid;
mod sliding;
mod standing;
mod trailers;

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

use crate::agents::{Agents, AgentsRef};
use crate::ground::Ground;
use crate::hash::StateHasher;
use crate::options::SimulationError;
use crate::records::{AgentIndex, Aside, Command, LanePosition, Motion};
use crate::vehicle_type::VehicleType;
use roadwright_geometry::math::atan;
use roadwright_geometry::{Pose, unit};
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_vehicle::{Ask, DriveTrain, Grade, PedalCommand};
use serde::{Deserialize, Serialize};

/// Below this speed an agent counts as standing, m/s.
pub(crate) const STANDING: f64 = 0.1;
/// Slower than this wheels are drawn straight by levels that do not steer, m/s.
const CRAWLING: f64 = 0.1;

/// One body in a step.
pub(crate) struct Body<'a> {
    pub(crate) motion: &'a mut Motion,
    pub(crate) position: &'a mut LanePosition,
    pub(crate) command: &'a Command,
    /// If it is driven by them; its command is what they were taken to give.
    pub(crate) pedals: Option<PedalCommand>,
    pub(crate) vehicle_type: &'a VehicleType,
    /// If its file has one.
    pub(crate) drive_train: Option<&'a DriveTrain>,
    /// Whether it is to drive backwards.
    pub(crate) is_reversing: bool,
    /// Where beside the middle of its lane it is led.
    pub(crate) aside: Aside,
}

impl Body<'_> {
    /// Grip of the ground below it as a share of that of dry asphalt: the mean of both axles; `None`
    /// where it is 1.
    #[inline]
    fn grip(&self, ground: &Ground) -> Option<f64> {
        if !ground.has_grip() {
            return None;
        }
        let grip = self.mean_grip(ground, self.motion.pose);
        (grip != 1.0).then_some(grip)
    }

    /// The mean grip below both axles at a pose.
    fn mean_grip(&self, ground: &Ground, pose: Pose) -> f64 {
        let layers = ground.layers(self.position);
        let front = pose.point(self.vehicle_type.limits.wheelbase, 0.0);
        0.5 * (ground.grip_on(pose.position, layers) + ground.grip_on(front, layers))
    }

    /// The slope below it, by the heights of both axles, with the most that its engine and the grip of
    /// the ground give; `None` where it is level.
    #[inline]
    fn grade(&self, ground: &Ground, pose: Pose) -> Option<Grade> {
        let grade = ground.grade(pose, self.vehicle_type.limits.wheelbase)?;
        Some(self.climbs(grade, self.mean_grip(ground, pose)))
    }

    /// The same with the slope across its heading.
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

    /// A slope with what engine and grip give. Downhill it is the engine of level ground; uphill the one
    /// of the drive train, where the vehicle's file has one.
    fn climbs(&self, grade: Grade, grip: f64) -> Grade {
        let direction = if self.is_reversing { -1.0 } else { 1.0 };
        let along = self.motion.speed * direction;
        let is_uphill = grade.pull * direction < 0.0;
        let train = self.drive_train.filter(|_| is_uphill);
        let engine =
            train.map(|train| train.strongest(along, self.is_reversing, (grade.load, grip)));
        let engine = engine.unwrap_or(self.vehicle_type.limits.max_acceleration);
        grade.with(engine, grip * self.vehicle_type.hardest())
    }

    /// What its controller wants of it on a slope.
    fn ask(&self) -> Ask {
        let limits = &self.vehicle_type.limits;
        Ask {
            // Not more than on level ground.
            acceleration: self.command.acceleration.min(limits.max_acceleration),
            is_reversing: self.is_reversing,
            max_braking: limits.max_braking,
            pedals: self.held(),
        }
    }

    /// Pedals as levels press them that know no single wheels.
    fn held(&self) -> Option<PedalCommand> {
        let share = self.vehicle_type.held;
        self.pedals.map(|pedals| pedals.with_held(share))
    }

    /// The acceleration that is wished for on level ground where no engine turns, m/s^2: of pedals what
    /// they give within the limits of the vehicle.
    #[inline]
    fn wish(&self) -> f64 {
        match self.held() {
            Some(held) => self.vehicle_type.limits.pressed(held.pedals),
            None => self.command.acceleration,
        }
    }

    /// The angle to which its wheels turn, rad. Controllers see a vehicle that drives backwards turned
    /// about; while it rolls against its gear the wheels stay.
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

/// One step of one body.
#[derive(Clone, Copy)]
pub(crate) struct LevelStep<'a> {
    pub(crate) ground: &'a Ground,
    /// s.
    pub(crate) dt: f64,
    /// How often levels with forces of their own are computed at least, Hz.
    pub(crate) physics_rate_hz: f64,
    /// Whether a stride begins: the command is taken then.
    pub(crate) begins: bool,
}

/// A model of how bodies move.
pub(crate) trait Level {
    /// What it keeps of one agent beside the shared columns; that of a body that stands or rolls
    /// straight on is the default.
    type State: Copy + Default + Send;

    /// Its name.
    const LEVEL: DynamicsLevel;
    /// Whether to move a body along a lane one has to know where that lies.
    const READS_LINES: bool = true;

    /// Steps of `dt` seconds for which it holds a command.
    fn stride(dt: f64) -> u32;

    /// Moves a body by a step of `dt` seconds within a stride if nothing but its place and speed changes.
    /// Returns how far it went along its lane, m; `None`: nothing is done.
    #[inline]
    fn roll(
        _state: &Self::State,
        _motion: &mut Motion,
        _position: &mut LanePosition,
        _dt: f64,
    ) -> Option<f64> {
        None
    }

    /// Told after each step that is not rolled: up to where on its lanelet a body may roll until its stride
    /// ends, m; 0 where it has to be looked at in each step.
    #[inline]
    fn let_roll(
        _state: &mut Self::State,
        _body: (&Motion, &LanePosition, &VehicleType),
        _until: f64,
    ) {
    }

    /// Moves a body by a step, within the limits of its vehicle. Returns how far it went along its
    /// lane, m, if the level keeps to lanes by itself; `None`: the body is projected onto its lane.
    fn advance(state: &mut Self::State, body: Body<'_>, step: LevelStep<'_>) -> Option<f64>;
}

/// Steps of `dt` seconds for which a level holds a command.
pub(crate) fn stride(level: DynamicsLevel, dt: f64) -> u64 {
    let steps = match level {
        DynamicsLevel::OneTrack => OneTrack::stride(dt),
        DynamicsLevel::Lane => Lane::stride(dt),
        DynamicsLevel::DynamicOneTrack => DynamicOneTrack::stride(dt),
        DynamicsLevel::Rigid => Rigid::stride(dt),
        DynamicsLevel::Sliding => Sliding::stride(dt),
    };
    u64::from(steps)
}

/// Room before the end of its lane that a body needs to change lanes, m.
pub(crate) fn room_to_change_lane(level: DynamicsLevel) -> f64 {
    match level {
        DynamicsLevel::OneTrack
        | DynamicsLevel::DynamicOneTrack
        | DynamicsLevel::Rigid
        | DynamicsLevel::Sliding => 0.0,
        DynamicsLevel::Lane => lane::CHANGE_ROOM,
    }
}

/// Which level agents get when they appear.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LevelChoice {
    /// For all, whatever the scenario says.
    pub(crate) forced: Option<DynamicsLevel>,
    /// For those of whom the scenario says nothing.
    pub(crate) default: DynamicsLevel,
}

impl LevelChoice {
    /// The level of an agent for which the scenario says `own`.
    pub(crate) fn of(&self, own: Option<DynamicsLevel>) -> DynamicsLevel {
        self.forced.or(own).unwrap_or(self.default)
    }

    /// Refuses a scenario whose agents or flows have vehicles that cannot drive at their levels.
    pub(crate) fn check(&self, scenario: &Scenario) -> Result<(), SimulationError> {
        let agents = scenario.agents().values();
        let flows = scenario.flows().values();
        let users = agents
            .map(|agent| (&agent.vehicle, agent.dynamics))
            .chain(flows.map(|flow| (&flow.vehicle, flow.dynamics)));
        for (vehicle, own) in users {
            let kind = scenario.vehicle_types().get(vehicle);
            let Some(file) = kind.and_then(|kind| kind.file.as_ref()) else {
                continue;
            };
            let level = self.of(own);
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

/// The levels of a world, with their states by agent index; a level that nobody has takes no room.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dynamics {
    pub(crate) one_track: Vec<<OneTrack as Level>::State>,
    pub(crate) lane: Vec<<Lane as Level>::State>,
    pub(crate) dynamic_one_track: Vec<<DynamicOneTrack as Level>::State>,
    pub(crate) rigid: RigidBodies,
    pub(crate) sliding: Vec<<Sliding as Level>::State>,
    /// Of all levels.
    pub(crate) trailers: Trailers,
    /// Trailers that nobody tows; a part of its own in saves.
    #[serde(skip)]
    pub(crate) standing: StandingTrains,
}

impl Dynamics {
    /// Bytes of all states.
    pub(crate) fn bytes(&self) -> usize {
        // Taken apart whole: a level that is added and not counted does not compile.
        let Self {
            one_track,
            lane,
            dynamic_one_track,
            rigid,
            sliding,
            trailers,
            standing,
        } = self;
        let slips = size_of_val(&dynamic_one_track[..]);
        let levels = size_of_val(&one_track[..]) + size_of_val(&lane[..]) + slips + rigid.bytes();
        levels + size_of_val(&sliding[..]) + trailers.bytes() + standing.bytes()
    }

    /// A body that stands or rolls straight on.
    pub(crate) fn insert(&mut self, agent: AgentIndex, level: DynamicsLevel) {
        self.grow(level, agent.index() + 1);
        self.remove(agent);
    }

    /// Makes room in a level for so many agents.
    pub(crate) fn grow(&mut self, level: DynamicsLevel, agents: usize) {
        match level {
            DynamicsLevel::OneTrack => grow(&mut self.one_track, agents),
            DynamicsLevel::Lane => grow(&mut self.lane, agents),
            DynamicsLevel::DynamicOneTrack => grow(&mut self.dynamic_one_track, agents),
            DynamicsLevel::Rigid => self.rigid.grow(agents),
            DynamicsLevel::Sliding => grow(&mut self.sliding, agents),
        }
    }

    /// All bodies are looked at in the next step, wherever they are in their strides: their roads or routes
    /// are others.
    pub(crate) fn stop_rolling(&mut self) {
        self.lane.iter_mut().for_each(LaneState::stop_rolling);
    }

    /// Forgets a body.
    pub(crate) fn remove(&mut self, agent: AgentIndex) {
        let Self {
            one_track,
            lane,
            dynamic_one_track,
            rigid,
            sliding,
            trailers,
            // Belongs to nobody: what is let go stays when its agent leaves.
            standing: _,
        } = self;
        forget(sliding, agent);
        rigid.forget(agent);
        trailers.forget(agent);
        forget(one_track, agent);
        forget(lane, agent);
        forget(dynamic_one_track, agent);
    }

    /// Whether there is state for an agent of a level.
    pub(crate) fn holds(&self, level: DynamicsLevel, agent: usize) -> bool {
        match level {
            DynamicsLevel::OneTrack => agent < self.one_track.len(),
            DynamicsLevel::Lane => agent < self.lane.len(),
            DynamicsLevel::DynamicOneTrack => agent < self.dynamic_one_track.len(),
            DynamicsLevel::Rigid => agent < self.rigid.capacity(),
            DynamicsLevel::Sliding => agent < self.sliding.len(),
        }
    }

    /// Whether an agent of level `lane` wants to climb what is too steep for it.
    pub(crate) fn is_held_by_slope(&self, agent: usize) -> bool {
        self.lane.get(agent).is_some_and(LaneState::is_held)
    }

    /// Adds what an agent's level keeps to a hash.
    pub(crate) fn hash(&self, level: DynamicsLevel, agent: AgentIndex, hasher: &mut StateHasher) {
        match level {
            DynamicsLevel::OneTrack => hasher.add(&self.one_track[agent.index()]),
            DynamicsLevel::Lane => hasher.add(&self.lane[agent.index()]),
            DynamicsLevel::DynamicOneTrack => hasher.add(&self.dynamic_one_track[agent.index()]),
            DynamicsLevel::Rigid => {
                hasher.add(&self.rigid.car(agent));
                let towed = self.rigid.towed(agent);
                if !towed.is_empty() {
                    hasher.add(&towed);
                }
            }
            DynamicsLevel::Sliding => hasher.add(&self.sliding[agent.index()]),
        }
        // Who tows nothing has the hash of one who could not.
        if let Some(train) = self.trailers.of(agent) {
            hasher.add(&train);
        }
    }

    /// Moves an agent to another level, where it is.
    pub(crate) fn assign(
        &mut self,
        ground: &Ground,
        agents: &mut Agents,
        agent: AgentIndex,
        level: DynamicsLevel,
    ) {
        // The pose is made while the agent still has its old level, which alone knows where it is.
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

fn grow<S: Copy + Default>(states: &mut Vec<S>, count: usize) {
    if states.len() < count {
        states.resize(count, S::default());
    }
}

fn forget<S: Default>(states: &mut [S], agent: AgentIndex) {
    if let Some(state) = states.get_mut(agent.index()) {
        *state = S::default();
    }
}

/// Where bodies are.
#[derive(Clone, Copy)]
pub(crate) struct Bodies<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) agents: AgentsRef<'a>,
    pub(crate) dynamics: &'a Dynamics,
}

impl Bodies<'_> {
    /// Pose of a body. That of a body that follows its lane is made here, when somebody reads it;
    /// [`Motion`] does not have it.
    #[inline]
    pub(crate) fn pose(&self, agent: AgentIndex) -> Pose {
        let index = agent.index();
        let motion = &self.agents.motion[index];
        match self.agents.identity[index].level {
            DynamicsLevel::OneTrack
            | DynamicsLevel::DynamicOneTrack
            | DynamicsLevel::Rigid
            | DynamicsLevel::Sliding => motion.pose,
            DynamicsLevel::Lane => {
                let position = &self.agents.position[index];
                lane::pose(&self.dynamics.lane[index], self.ground, position)
            }
        }
    }

    /// Motion at a share of the last step, which took `dt` seconds: 0 where it began, 1 where it
    /// ended.
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
        let index = agent.index();
        match self.agents.identity[index].level {
            DynamicsLevel::OneTrack => self.dynamics.one_track[index],
            DynamicsLevel::DynamicOneTrack => self.dynamics.dynamic_one_track[index].steering,
            DynamicsLevel::Sliding => self.dynamics.sliding[index].steering,
            DynamicsLevel::Rigid => {
                let car = self.dynamics.rigid.car(agent);
                car.map_or(0.0, |car| car.steering)
            }
            DynamicsLevel::Lane => {
                let Motion {
                    speed, yaw_rate, ..
                } = self.agents.motion[index];
                // The angle with which a one-track vehicle would drive this bend; at rest it says
                // nothing.
                if yaw_rate == 0.0 || speed < CRAWLING {
                    return 0.0;
                }
                atan(vehicle_type.limits.wheelbase * yaw_rate / speed)
            }
        }
    }

    /// Lateral speed of the rear axle to the left, m/s, and yaw rate, rad/s, of an agent; without side slip at
    /// levels that have none, or whose bodies have springs.
    pub(crate) fn slip(&self, agent: AgentIndex, vehicle_type: &VehicleType) -> [f64; 2] {
        let index = agent.index();
        match self.agents.identity[index].level {
            DynamicsLevel::Lane | DynamicsLevel::OneTrack | DynamicsLevel::Rigid => {
                [0.0, self.agents.motion[index].yaw_rate]
            }
            DynamicsLevel::DynamicOneTrack => {
                let state = &self.dynamics.dynamic_one_track[index];
                [state.sideways(), state.yaw_rate()]
            }
            DynamicsLevel::Sliding => {
                let state = &self.dynamics.sliding[index];
                [state.sideways(&vehicle_type.sliding), state.yaw_rate()]
            }
        }
    }

    /// How far to the left of the centre of a lane a body is that is on it or leaves it, m.
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
    /// The motion some time ago, s, with the yaw rate and acceleration of now.
    fn before(&self, time: f64) -> Self {
        // Half-way back the heading is that of the chord: a bend is drawn as a bend.
        let turned = self.yaw_rate * time;
        let speed = self.speed - self.acceleration * time;
        // It did not roll the other way before.
        let speed = if self.speed < 0.0 {
            speed.min(0.0)
        } else {
            speed.max(0.0)
        };
        let way = 0.5 * (speed + self.speed) * time;
        let along = unit(self.pose.heading - 0.5 * turned);
        Self {
            pose: Pose {
                position: self.pose.position - along * way,
                heading: self.pose.heading - turned,
            },
            speed,
            ..*self
        }
    }
}
