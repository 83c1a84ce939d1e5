//! The world: agents on roads, one step after the other.

use crate::collisions::{Contact, Contacts, Scene};
use crate::flow::RunningFlow;
use crate::index::Index;
use crate::mover::{Mover, Status};
use crate::obstacles::Obstacles;
use crate::perception::View;
use crate::populate;
use crate::reservation::Reservations;
use crate::roads::{PROFILE_BRAKING, Roads};
use crate::snapshot::{Snapshot, VehicleRecord};
use crate::spawn::{self, Departure, Start};
use crate::steering;
use crate::summary::{AgentCounts, Statistic, Summary};
use crate::way::{Goal, Way};
use rayon::prelude::*;
use roadwright_agent::{ModuleError, Modules, PlannerView, Rate, Registry, Slot, Step};
use roadwright_geometry::Pose;
use roadwright_plugin_api::{
    BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput, FitnessInput,
    FitnessOutput, PlannerInput, PlannerOutput,
};
use roadwright_scenario::lane_graph::{LaneGraph, StripKind};
use roadwright_scenario::{ModuleSetting, Place, Scenario, Stack, VehicleType};
use roadwright_vehicle::OneTrackLimits;
use std::hash::Hasher;
use thiserror::Error;

/// Rows that a thread takes at once.
const SLICE: usize = 64;
/// An agent that has stood this long looks for another way, s; and again after as long.
const REROUTE_AFTER: f64 = 15.0;
/// A lane change that has not come about this close to the end of the lane is given up, m.
const GIVE_UP_DISTANCE: f64 = 12.0;
/// What each standing vehicle adds to the expected time on a strip, s.
const DELAY_PER_VEHICLE: f32 = 4.0;
/// Vehicle type of agents between random places.
const POPULATION_VEHICLE: &str = "car";
/// How often expected delays are counted, Hz.
const DELAY_RATE: f64 = 1.0;

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
    /// Stack of the added cars; `None`: `idm`.
    pub populate_stack: Option<String>,
    /// Controller for all stacks instead of their own.
    pub controller: Option<String>,
}

/// Why a scenario cannot be run.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SimulationError {
    /// A stack cannot be put together.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// A place is not there.
    #[error("{who}: {place} is not a place that one can drive at; `roadwright check` tells more")]
    NoSuchPlace {
        /// Agent or flow.
        who: String,
        /// The place.
        place: String,
    },
    /// There is no place to put random agents.
    #[error("only {found} of {wanted} vehicles find a place on lanes that can reach each other")]
    NoRoom {
        /// Places found.
        found: usize,
        /// Agents asked for.
        wanted: usize,
    },
    /// The time step is unusable.
    #[error("a time step of {0} s is out of range: expected 0.0001 to 1 s")]
    TimeStep(f64),
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

/// A vehicle type as the step needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Kind {
    pub(crate) length: f64,
    pub(crate) width: f64,
    pub(crate) rear_overhang: f64,
    /// From the rear axle to the front end, m.
    pub(crate) front: f64,
    /// From the rear axle to the middle of the body, m.
    pub(crate) body_centre: f64,
    /// Of the circle around the middle that holds the body, m.
    pub(crate) radius: f64,
    pub(crate) bus: bool,
    pub(crate) limits: OneTrackLimits,
}

impl From<&VehicleType> for Kind {
    fn from(kind: &VehicleType) -> Self {
        Self {
            length: kind.length,
            width: kind.width,
            rear_overhang: kind.rear_overhang,
            front: kind.front(),
            body_centre: kind.body_centre(),
            radius: 0.5 * glam::DVec2::new(kind.length, kind.width).length(),
            bus: kind.is_bus(),
            limits: OneTrackLimits::from(kind),
        }
    }
}

/// A stack that is running.
struct RunningStack {
    modules: Modules,
    /// Of planner, behaviour and controller; a fitness is asked when a summary is made.
    rates: [Rate; 3],
}

/// Rows of one batch, kept between steps so that nothing is allocated in them.
#[derive(Default)]
struct Batches {
    due: Vec<u32>,
    controller: (Vec<ControllerInput>, Vec<ControllerOutput>),
    behaviour: (Vec<BehaviourInput>, Vec<BehaviourOutput>),
    contacts: Vec<Contact>,
}

/// A running scenario.
pub struct World {
    dt: f64,
    seed: u64,
    step: u64,
    roads: Roads,
    obstacles: Obstacles,
    kind_names: Vec<String>,
    kinds: Vec<Kind>,
    stack_names: Vec<String>,
    stacks: Vec<RunningStack>,
    movers: Vec<Mover>,
    ways: Vec<Way>,
    departures: Vec<Departure>,
    flows: Vec<RunningFlow>,
    scenario: Scenario,
    index: Index,
    reservations: Reservations,
    contacts: Contacts,
    delays: Vec<f32>,
    delay_rate: Rate,
    batches: Batches,
    pool: Option<rayon::ThreadPool>,
    agent_updates: u64,
    largest: f64,
}

impl World {
    /// Prepares a scenario for running.
    ///
    /// # Errors
    /// If a module, a parameter or a place does not exist, or an option is out of range.
    pub fn new(
        scenario: &Scenario,
        modules: &Registry,
        options: &RunOptions,
    ) -> Result<Self, SimulationError> {
        let settings = scenario.settings();
        let dt = options.dt.unwrap_or(settings.dt);
        if !(1e-4..=1.0).contains(&dt) {
            return Err(SimulationError::TimeStep(dt));
        }
        let seed = options.seed.unwrap_or(settings.seed);
        let roads = Roads::new(scenario);
        let obstacles = Obstacles::new(scenario, &roads.graph);
        let types = scenario.vehicle_types();
        let kinds: Vec<Kind> = types.values().map(Kind::from).collect();
        let mut stack_names = Vec::new();
        let mut stacks = Vec::new();
        for (name, stack) in scenario.stacks() {
            stack_names.push(name.clone());
            stacks.push(running_stack(
                name,
                stack,
                modules,
                options.controller.as_deref(),
                dt,
            )?);
        }
        let strips = roads.graph.strips().len();
        let mut world = Self {
            dt,
            seed,
            step: 0,
            index: Index::new(strips),
            reservations: Reservations::new(roads.junction_count()),
            delays: vec![0.0; strips],
            delay_rate: Rate::new(DELAY_RATE, dt),
            roads,
            obstacles,
            kind_names: types.keys().cloned().collect(),
            largest: kinds.iter().map(|kind| kind.radius).fold(0.0, f64::max),
            kinds,
            stack_names,
            stacks,
            movers: Vec::new(),
            ways: Vec::new(),
            departures: Vec::new(),
            flows: Vec::new(),
            scenario: scenario.clone(),
            contacts: Contacts::default(),
            batches: Batches::default(),
            pool: pool(options.threads)?,
            agent_updates: 0,
        };
        world.add_agents()?;
        world.add_flows()?;
        world.add_population(options)?;
        // First come: by time, then by id.
        let movers = &world.movers;
        world.departures.sort_by(|a, b| {
            let id = |d: &Departure| movers[d.agent as usize].id;
            a.time.total_cmp(&b.time).then(id(a).cmp(&id(b)))
        });
        Ok(world)
    }

    fn add_agents(&mut self) -> Result<(), SimulationError> {
        let scenario = self.scenario.clone();
        for (id, agent) in scenario.agents() {
            let mut goals = agent.via.clone();
            goals.extend(agent.destination);
            let (start, goals) = spawn::places(
                &scenario,
                &self.roads.graph,
                &id.to_string(),
                &agent.start,
                &goals,
            )?;
            let way = Way {
                goals,
                ..Way::default()
            };
            if way.goals.is_empty() {
                return Err(SimulationError::NoGoal(id.to_string()));
            }
            let names = (agent.vehicle.as_str(), agent.stack.as_str());
            self.add(
                u64::from(id.0),
                names,
                way,
                start,
                agent.depart,
                agent.speed,
            );
        }
        Ok(())
    }

    fn add_flows(&mut self) -> Result<(), SimulationError> {
        for (id, flow) in self.scenario.flows() {
            // The places are checked now, not when the first agent appears.
            let goals = [flow.destination];
            spawn::places(
                &self.scenario,
                &self.roads.graph,
                &id.to_string(),
                &flow.origin,
                &goals,
            )?;
            self.flows.push(RunningFlow::new(*id, flow, self.seed));
        }
        Ok(())
    }

    fn add_population(&mut self, options: &RunOptions) -> Result<(), SimulationError> {
        if options.populate == 0 {
            return Ok(());
        }
        let stack = options.populate_stack.as_deref().unwrap_or("idm");
        if !self.stack_names.iter().any(|name| name == stack) {
            return Err(SimulationError::NoSuchStack(stack.into()));
        }
        if !self
            .kind_names
            .iter()
            .any(|name| name == POPULATION_VEHICLE)
        {
            return Err(SimulationError::NoSuchVehicleType(
                POPULATION_VEHICLE.into(),
            ));
        }
        let trips = populate::trips(&self.roads.graph, options.populate, self.seed);
        if trips.len() < options.populate {
            return Err(SimulationError::NoRoom {
                found: trips.len(),
                wanted: options.populate,
            });
        }
        let first = self
            .movers
            .iter()
            .map(|mover| mover.id + 1)
            .max()
            .unwrap_or(1);
        for (trip, id) in trips.into_iter().zip(first..) {
            let way = Way {
                goals: vec![Goal::Strip {
                    strip: trip.to.0,
                    s: trip.to.1,
                }],
                ..Way::default()
            };
            let start = Start::Lane {
                strip: trip.from.0,
                s: trip.from.1,
            };
            self.add(id, (POPULATION_VEHICLE, stack), way, start, 0.0, 0.0);
        }
        Ok(())
    }

    fn add(
        &mut self,
        id: u64,
        (vehicle, stack): (&str, &str),
        way: Way,
        start: Start,
        time: f64,
        speed: f64,
    ) -> u32 {
        let place = |names: &[String], name: &str| {
            names
                .iter()
                .position(|known| known == name)
                .unwrap_or_default() as u16
        };
        let agent = self.movers.len() as u32;
        let (kind, stack) = (
            place(&self.kind_names, vehicle),
            place(&self.stack_names, stack),
        );
        self.movers.push(Mover::new(id, kind, stack));
        self.ways.push(way);
        self.departures.push(Departure {
            agent,
            time,
            start,
            speed,
        });
        agent
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.step as f64 * self.dt
    }

    /// Time step, s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// The strips of the roads.
    pub fn lane_graph(&self) -> &LaneGraph {
        &self.roads.graph
    }

    /// Whether all agents have arrived or were refused and no flow can bring more.
    pub fn is_over(&self) -> bool {
        let time = self.time();
        self.departures.is_empty()
            && self.flows.iter().all(|flow| flow.flow.end < time)
            && !self.movers.iter().any(Mover::is_active)
    }

    /// Takes one step of dt, in the fixed order: appear, index, give way, plan, behave, control,
    /// move, collide.
    pub fn step(&mut self) {
        if self.appear() {
            self.index.rebuild(&self.movers, &self.kinds);
        }
        self.reservations.update(
            self.step,
            &self.roads,
            &self.kinds,
            &mut self.movers,
            &self.ways,
            &self.index,
        );
        self.count_delays();
        self.plan();
        self.behave();
        self.control();
        self.advance();
        self.collide();
        self.step += 1;
    }

    fn view(&self) -> View<'_> {
        View {
            roads: &self.roads,
            obstacles: &self.obstacles,
            kinds: &self.kinds,
            movers: &self.movers,
            ways: &self.ways,
            index: &self.index,
        }
    }

    /// Lets agents appear whose time has come; says whether any did.
    fn appear(&mut self) -> bool {
        let time = self.time();
        self.start_flow_agents(time);
        let due = self
            .departures
            .iter()
            .take_while(|departure| departure.time <= time)
            .count();
        if due == 0 {
            return false;
        }
        let mut appeared: Vec<u32> = Vec::new();
        let mut kept = Vec::new();
        for departure in self.departures.drain(..due).collect::<Vec<_>>() {
            let agent = departure.agent as usize;
            let kind = self.kinds[self.movers[agent].kind as usize];
            if !spawn::has_room(departure.start, &kind, &self.view(), &appeared) {
                kept.push(departure);
                continue;
            }
            let planned = match departure.start {
                Start::Ground(_) => true,
                Start::Lane { strip, s } => {
                    let planner = &*self.stacks[self.movers[agent].stack as usize]
                        .modules
                        .planner;
                    let view = PlannerView {
                        graph: &self.roads.graph,
                        delays: &self.delays,
                    };
                    spawn::plan_way(planner, &view, (strip, s), kind.bus, &mut self.ways[agent])
                }
            };
            if planned {
                spawn::appear(&mut self.movers[agent], &departure, &self.roads.graph, time);
                self.movers[agent].planned_at = self.step;
                appeared.push(departure.agent);
            } else {
                self.movers[agent].status = Status::Refused;
            }
        }
        self.departures.splice(0..0, kept);
        !appeared.is_empty()
    }

    fn start_flow_agents(&mut self, time: f64) {
        for i in 0..self.flows.len() {
            while let Some(id) = self.flows[i].due(time) {
                let flow = self.flows[i].flow.clone();
                let goals: [Place; 1] = [flow.destination];
                let found =
                    spawn::places(&self.scenario, &self.roads.graph, "", &flow.origin, &goals);
                if let Ok((start, goals)) = found {
                    let way = Way {
                        goals,
                        ..Way::default()
                    };
                    self.add(id, (&flow.vehicle, &flow.stack), way, start, time, 0.0);
                    // It is due now: among those who wait, behind the ones that came before.
                    let last = self.departures.pop();
                    let place = self.departures.partition_point(|d| d.time <= time);
                    self.departures.splice(place..place, last);
                }
            }
        }
    }

    /// Counts who stands where, for planners.
    fn count_delays(&mut self) {
        if !self.delay_rate.is_due(self.step, 0) {
            return;
        }
        self.delays.fill(0.0);
        for mover in self.movers.iter().filter(|m| m.is_active() && m.on_lane()) {
            if mover.waiting > 2.0 {
                self.delays[mover.strip as usize] += DELAY_PER_VEHICLE;
            }
        }
    }

    /// Lists the active agents of a stack that are due in a slot.
    fn list_due(movers: &[Mover], stack: usize, rate: Rate, step: u64, due: &mut Vec<u32>) {
        due.clear();
        due.extend(movers.iter().enumerate().filter_map(|(agent, mover)| {
            let asked = mover.is_active()
                && mover.stack as usize == stack
                && rate.is_due(step, agent as u64);
            asked.then_some(agent as u32)
        }));
    }

    /// New ways for those who stand for long or cannot change lanes in time.
    fn plan(&mut self) {
        let mut due = std::mem::take(&mut self.batches.due);
        for stack in 0..self.stacks.len() {
            let rate = self.stacks[stack].rates[Slot::Planner as usize];
            Self::list_due(&self.movers, stack, rate, self.step, &mut due);
            for &agent in &due {
                if let Some((from, input)) = self.reroute_question(agent) {
                    self.reroute(stack, agent, from, input);
                }
            }
        }
        self.batches.due = due;
    }

    /// Whether an agent needs another way, and from which index of its path.
    fn reroute_question(&self, agent: u32) -> Option<(u32, PlannerInput)> {
        let mover = &self.movers[agent as usize];
        let way = &self.ways[agent as usize];
        let Some(Goal::Strip {
            strip: goal_strip,
            s: goal_s,
        }) = way.next_goal(mover.goals_reached)
        else {
            return None;
        };
        let since = (self.step - mover.planned_at) as f64 * self.dt;
        let stuck = mover.waiting > REROUTE_AFTER && since > REROUTE_AFTER;
        let remaining = self.roads.strip(mover.strip).length() - mover.s;
        let speed = mover.state.speed;
        let braking = speed * speed / (2.0 * PROFILE_BRAKING);
        let changes = self.view().lane_change_needed(mover, way) != 0.0;
        let too_late = changes && remaining < GIVE_UP_DISTANCE.max(braking) && since > 1.0;
        if !stuck && !too_late {
            return None;
        }
        // What has been granted is kept.
        let from = if mover.granted_to > mover.cursor + 1 {
            mover.granted_to
        } else {
            mover.cursor
        };
        let strip = way.strip(from)?;
        let goal_at = *way.goal_at.get(mover.goals_reached as usize)?;
        if from > goal_at {
            return None;
        }
        let near_end = from == mover.cursor && remaining < 2.0 * GIVE_UP_DISTANCE;
        let input = PlannerInput {
            strip,
            s: if from == mover.cursor { mover.s } else { 0.0 },
            goal_strip,
            goal_s,
            bus: u32::from(self.kinds[mover.kind as usize].bus),
            may_change_first: u32::from(!too_late && !near_end),
        };
        Some((from, input))
    }

    fn reroute(&mut self, stack: usize, agent: u32, from: u32, input: PlannerInput) {
        let planner = &self.stacks[stack].modules.planner;
        let view = PlannerView {
            graph: &self.roads.graph,
            delays: &self.delays,
        };
        let (mut routes, mut outputs) = (Vec::new(), [PlannerOutput::default()]);
        planner.step(&view, &[input], &mut routes, &mut outputs);
        let mover = &mut self.movers[agent as usize];
        mover.planned_at = self.step;
        let output = outputs[0];
        if output.count == 0 {
            return;
        }
        let leg = &routes[output.start as usize..(output.start + output.count) as usize];
        self.ways[agent as usize].replace_leg(from, mover.goals_reached, leg);
        mover.asked_for = 0;
    }

    fn behave(&mut self) {
        let mut batches = std::mem::take(&mut self.batches);
        for stack in 0..self.stacks.len() {
            let running = &self.stacks[stack];
            let rate = running.rates[Slot::Behaviour as usize];
            Self::list_due(&self.movers, stack, rate, self.step, &mut batches.due);
            let step = self.step_of(rate);
            let (inputs, outputs) = &mut batches.behaviour;
            let view = self.view();
            ask(
                self.pool.as_ref(),
                &batches.due,
                inputs,
                outputs,
                |agent| view.behaviour_input(agent),
                |i, o| running.modules.behaviour.step(&step, i, o),
            );
            for (&agent, output) in batches.due.iter().zip(outputs.iter()) {
                self.take_behaviour(agent, output);
            }
        }
        self.batches = batches;
    }

    fn step_of(&self, rate: Rate) -> Step {
        Step {
            time: self.time(),
            period: rate.period() as f64 * self.dt,
        }
    }

    fn take_behaviour(&mut self, agent: u32, output: &BehaviourOutput) {
        let mover = &mut self.movers[agent as usize];
        if output.speed_factor.is_finite() {
            mover.speed_factor = output.speed_factor.clamp(0.0, 2.0);
        }
        if !mover.on_lane() || output.lane_change == 0.0 {
            return;
        }
        let strip = self.roads.strip(mover.strip);
        let target = if output.lane_change > 0.0 {
            strip.left
        } else {
            strip.right
        };
        // Only where the way leads: a change elsewhere would need a new way.
        if self.ways[agent as usize].strip(mover.cursor + 1) != Some(target) {
            return;
        }
        let line = &self.roads.strip(target).line;
        let guess = mover.s / strip.length() * line.length();
        (mover.s, mover.t) = line.project(mover.state.pose.position, guess);
        mover.shadow = mover.strip;
        mover.strip = target;
        mover.cursor += 1;
    }

    fn control(&mut self) {
        let mut batches = std::mem::take(&mut self.batches);
        for stack in 0..self.stacks.len() {
            let running = &self.stacks[stack];
            let rate = running.rates[Slot::Controller as usize];
            Self::list_due(&self.movers, stack, rate, self.step, &mut batches.due);
            let step = self.step_of(rate);
            let lookahead = running.modules.controller.lookahead();
            let (inputs, outputs) = &mut batches.controller;
            let view = self.view();
            ask(
                self.pool.as_ref(),
                &batches.due,
                inputs,
                outputs,
                |agent| view.controller_input(agent, lookahead),
                |i, o| running.modules.controller.step(&step, i, o),
            );
            for ((&agent, input), output) in
                batches.due.iter().zip(inputs.iter()).zip(outputs.iter())
            {
                let mover = &mut self.movers[agent as usize];
                mover.command = *output;
                mover.drive.road_speed_sum += input.road_speed;
                mover.drive.samples += 1;
            }
        }
        self.batches = batches;
    }

    fn advance(&mut self) {
        let (time, dt) = (self.time(), self.dt);
        let (roads, kinds) = (&self.roads, &self.kinds);
        let one = |mover: &mut Mover, way: &Way| {
            if mover.is_active() {
                let kind = &kinds[mover.kind as usize];
                steering::advance(mover, way, kind, roads, time, dt);
            }
        };
        self.agent_updates += self.index.located.len() as u64;
        match &self.pool {
            None => self
                .movers
                .iter_mut()
                .zip(&self.ways)
                .for_each(|(m, w)| one(m, w)),
            Some(pool) => pool.install(|| {
                let movers = self.movers.par_chunks_mut(SLICE);
                movers
                    .zip(self.ways.par_chunks(SLICE))
                    .for_each(|(movers, ways)| {
                        movers.iter_mut().zip(ways).for_each(|(m, w)| one(m, w));
                    });
            }),
        }
    }

    fn collide(&mut self) {
        // Bodies have moved; the next step starts with this index.
        self.index.rebuild(&self.movers, &self.kinds);
        let mut contacts = std::mem::take(&mut self.batches.contacts);
        contacts.clear();
        let scene = Scene {
            movers: &self.movers,
            kinds: &self.kinds,
            index: &self.index,
            obstacles: &self.obstacles,
            roads: &self.roads,
            largest: self.largest,
        };
        let count = self.index.located.len();
        match &self.pool {
            None => (0..count).for_each(|number| scene.contacts(number, &mut contacts)),
            Some(pool) => {
                let parts: Vec<Vec<Contact>> = pool.install(|| {
                    let slices = (0..count).into_par_iter().step_by(SLICE);
                    let part = |first: usize| {
                        let mut part = Vec::new();
                        let numbers = first..(first + SLICE).min(count);
                        numbers.for_each(|number| scene.contacts(number, &mut part));
                        part
                    };
                    slices.map(part).collect()
                });
                contacts.extend(parts.into_iter().flatten());
            }
        }
        let time = (self.step + 1) as f64 * self.dt;
        self.contacts.update(time, &contacts, &mut self.movers);
        self.batches.contacts = contacts;
    }

    /// A hash over the state of all agents, for comparing runs.
    pub fn state_hash(&self) -> u64 {
        let mut hasher = twox_hash::XxHash3_64::with_seed(0);
        hasher.write_u64(self.step);
        for mover in &self.movers {
            mover.hash(&mut hasher);
        }
        hasher.write_usize(self.contacts.log.len());
        hasher.finish()
    }

    /// The vehicles that drive now.
    pub fn snapshot(&self) -> Snapshot {
        let record = |mover: &Mover| {
            let kind = &self.kinds[mover.kind as usize];
            let pose = mover.state.pose;
            let lane = mover
                .on_lane()
                .then(|| match self.roads.strip(mover.strip).kind {
                    StripKind::Lane { road, lane, .. } => Some((road, lane)),
                    StripKind::Connection { .. } => None,
                });
            VehicleRecord {
                agent: mover.id,
                pose,
                body: Pose {
                    position: pose.point(kind.body_centre, 0.0),
                    heading: pose.heading,
                },
                length: kind.length,
                width: kind.width,
                speed: mover.state.speed,
                steering: mover.state.steering,
                acceleration: mover.command.acceleration,
                lane: lane.flatten(),
                s: mover.s,
                t: mover.t,
                status: mover.status,
            }
        };
        Snapshot {
            time: self.time(),
            step: self.step,
            vehicles: self
                .movers
                .iter()
                .filter(|m| m.is_active())
                .map(record)
                .collect(),
        }
    }

    /// How many agents are in which state.
    pub fn counts(&self) -> AgentCounts {
        let count = |status| self.movers.iter().filter(|m| m.status == status).count();
        let (arrived, active) = (count(Status::Arrived), count(Status::Active));
        AgentCounts {
            spawned: arrived + active,
            arrived,
            active,
            refused: count(Status::Refused),
            waiting: count(Status::Waiting),
        }
    }

    /// What came of the run so far.
    pub fn summary(&self) -> Summary {
        let arrived = self.movers.iter().filter(|m| m.status == Status::Arrived);
        let times: Vec<f64> = arrived.map(|m| m.drive.ended - m.drive.started).collect();
        Summary {
            state_hash: format!("{:016x}", self.state_hash()),
            steps: self.step,
            sim_seconds: self.time(),
            agents: self.counts(),
            agent_updates: self.agent_updates,
            collisions: self.contacts.log.clone(),
            distance_driven: self.movers.iter().map(|m| m.drive.distance).sum(),
            travel_time: Statistic::of(&times),
            fitness: Statistic::of(&self.fitness()),
        }
    }

    /// Fitness of every agent that has driven, by the fitness module of its stack.
    fn fitness(&self) -> Vec<f64> {
        let drove = self.movers.iter().filter(|m| m.drive.steps > 0);
        drove
            .map(|mover| {
                let drive = &mover.drive;
                let time = drive.steps as f64 * self.dt;
                let input = FitnessInput {
                    crash_rating: drive.squared_penetration / drive.steps as f64,
                    mean_speed: drive.distance / time,
                    mean_road_speed: drive.road_speed_sum / drive.samples.max(1) as f64,
                    distance: drive.distance,
                    time,
                };
                let mut output = [FitnessOutput::default()];
                let modules = &self.stacks[mover.stack as usize].modules;
                modules.fitness.step(&[input], &mut output);
                output[0].score
            })
            .collect()
    }
}

fn pool(threads: usize) -> Result<Option<rayon::ThreadPool>, SimulationError> {
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some)
        .map_err(|_| SimulationError::Threads(threads))
}

fn running_stack(
    name: &str,
    stack: &Stack,
    modules: &Registry,
    controller: Option<&str>,
    dt: f64,
) -> Result<RunningStack, SimulationError> {
    let mut stack = stack.clone();
    if let Some(id) = controller.filter(|id| *id != stack.controller.module) {
        stack.controller = ModuleSetting::new(id);
    }
    let settings = [&stack.planner, &stack.behaviour, &stack.controller];
    let rates = std::array::from_fn(|i| {
        let rate = settings[i]
            .rate_hz
            .unwrap_or(Slot::ALL[i].default_rate_hz());
        Rate::new(rate, dt)
    });
    Ok(RunningStack {
        modules: modules.modules(name, &stack)?,
        rates,
    })
}

/// Perceives and asks slice by slice; with helpers the slices are shared out.
fn ask<I, O>(
    pool: Option<&rayon::ThreadPool>,
    due: &[u32],
    inputs: &mut Vec<I>,
    outputs: &mut Vec<O>,
    perceive: impl Fn(u32) -> I + Sync,
    answer: impl Fn(&[I], &mut [O]) + Sync,
) where
    I: Default + Clone + Send + Sync,
    O: Default + Clone + Send,
{
    inputs.clear();
    inputs.resize(due.len(), I::default());
    outputs.clear();
    outputs.resize(due.len(), O::default());
    let slice = |due: &[u32], inputs: &mut [I], outputs: &mut [O]| {
        for (&agent, input) in due.iter().zip(inputs.iter_mut()) {
            *input = perceive(agent);
        }
        answer(inputs, outputs);
    };
    match pool {
        None => slice(due, inputs, outputs),
        Some(pool) => pool.install(|| {
            due.par_chunks(SLICE)
                .zip(inputs.par_chunks_mut(SLICE))
                .zip(outputs.par_chunks_mut(SLICE))
                .for_each(|((due, inputs), outputs)| slice(due, inputs, outputs));
        }),
    }
}
