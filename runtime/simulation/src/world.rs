//! The world: agents on roads, one step after the other.

mod appear;
mod bank;
mod batch;
mod between;
mod effects;
mod inspect;
mod lane_finder;
mod log;
mod options;
mod report;
mod reroute;
mod setup;
mod update;

pub(crate) use bank::Places;
pub use inspect::Inspection;
pub use log::{LogLine, Mark};
pub use options::{ModuleOverrides, RunOptions, SimulationError};

use crate::collisions::{Contact, Contacts, Scene};
use crate::flow::RunningFlow;
use crate::index::Index;
use crate::kind::Kind;
use crate::mover::Mover;
use crate::obstacles::Obstacles;
use crate::perception::View;
use crate::reservation::Reservations;
use crate::roads::Roads;
use crate::spawn::Departure;
use crate::steering;
use crate::summary::ReplanCounts;
use crate::way::Way;
use bank::Banks;
use batch::{Due, Membership, Rows, SLICE};
use lane_finder::LaneFinder;
use log::Log;
use rayon::prelude::*;
use roadwright_agent::{Effects, Message, PlannerView, Rate, Registry, Step};
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletId, NO_LANELET};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// What each standing vehicle adds to the expected time on a lanelet, s.
const DELAY_PER_VEHICLE: f32 = 4.0;
/// How often expected delays are counted, Hz.
const DELAY_RATE: f64 = 1.0;

/// Rows of one batch, kept between steps so that nothing is allocated in them.
#[derive(Default)]
struct Batches {
    due: Due,
    controller: Rows<ControllerInput, ControllerOutput>,
    behaviour: Rows<BehaviourInput, BehaviourOutput>,
    contacts: Vec<Contact>,
}

/// A module that was replaced while the world ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SwapRecord {
    /// Steps taken before.
    pub step: u64,
    /// Simulation time, s.
    pub time: f64,
    /// Name of the slot.
    pub slot: &'static str,
    /// Id of the module.
    pub module: String,
    /// Hash of the old version; empty for a built-in.
    pub from: String,
    /// Hash of the new version; empty for a built-in.
    pub to: String,
    /// What happened, for people.
    pub note: String,
}

/// A running scenario.
pub struct World {
    dt: f64,
    seed: u64,
    lenient: bool,
    step: u64,
    roads: Roads,
    obstacles: Obstacles,
    kind_names: Arc<Vec<String>>,
    kinds: Vec<Kind>,
    stack_names: Arc<Vec<String>>,
    /// For each stack the places of its modules in the banks.
    stacks: Vec<Places>,
    banks: Banks,
    registry: Registry,
    overrides: ModuleOverrides,
    membership: Membership,
    swaps: Vec<SwapRecord>,
    movers: Vec<Mover>,
    ways: Vec<Way>,
    departures: Vec<Departure>,
    flows: Vec<RunningFlow>,
    /// Flows that an edit has taken out: if they come back, they go on counting.
    retired_flows: Vec<RunningFlow>,
    index: Index,
    reservations: Reservations,
    contacts: Contacts,
    delays: Vec<f32>,
    delay_rate: Rate,
    batches: Batches,
    /// Messages between agents that have not been read yet.
    mail: Vec<Message>,
    /// How many of them wait for each agent.
    mail_counts: Vec<u16>,
    has_new_modules: bool,
    log: Log,
    /// Where agents are by id; made anew when it does not fit any more.
    by_id: HashMap<u64, u32>,
    finder: Option<LaneFinder>,
    pool: Option<rayon::ThreadPool>,
    agent_updates: u64,
    replans: ReplanCounts,
    largest: f64,
}

impl World {
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

    /// The lanelets of the roads.
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

    /// There are other modules to choose from. Those that run already replace themselves.
    pub fn use_modules(&mut self, modules: &Registry) {
        self.registry = modules.clone();
    }

    /// The modules that were replaced so far, in order.
    pub fn swaps(&self) -> &[SwapRecord] {
        &self.swaps
    }

    /// Takes one step of dt, in the fixed order: swap modules, appear, index, give way, plan,
    /// behave, control, move, collide.
    pub fn step(&mut self) {
        self.at_step_boundary();
        if self.appear() {
            self.index.rebuild(&self.movers, &self.kinds);
            // Nobody is asked about agents that it has not been told of.
            self.at_step_boundary();
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

    fn planner_view(&self) -> PlannerView<'_> {
        PlannerView {
            graph: &self.roads.graph,
            delays: &self.delays,
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
                self.delays[mover.lanelet as usize] += DELAY_PER_VEHICLE;
            }
        }
    }

    fn behave(&mut self) {
        let mut batches = std::mem::take(&mut self.batches);
        batches
            .due
            .list(&self.banks.behaviours, &self.movers, self.step);
        let mut scene = self.scene(&batches.due);
        for place in 0..self.banks.behaviours.running.len() {
            let running = &self.banks.behaviours.running[place];
            let (agents, module, step) = (
                batches.due.of(place),
                &running.module,
                self.step_of(running.rate),
            );
            let view = self.view();
            let effects = batches.behaviour.ask(
                self.pool.as_ref(),
                module.logic.asks_whole(),
                agents,
                |agent| view.behaviour_input(agent),
                |(indices, ids), inputs, outputs| {
                    let step = Step {
                        indices,
                        ids,
                        ..step
                    };
                    let mut effects = Effects::default();
                    let (logic, parameters) = (&module.logic, &module.parameters);
                    logic.step(
                        parameters,
                        &step,
                        scene.as_ref(),
                        inputs,
                        outputs,
                        &mut effects,
                    );
                    effects
                },
            );
            for (&agent, output) in agents.0.iter().zip(&batches.behaviour.outputs) {
                self.take_behaviour(agent, output);
            }
            self.take_effects(effects);
        }
        self.drop_read_mail(scene.take(), &batches.due);
        self.batches = batches;
        // Modules that agents have chosen for themselves are told their parameters and agents.
        if std::mem::take(&mut self.has_new_modules) {
            self.at_step_boundary();
        }
    }

    fn step_of(&self, rate: Rate) -> Step<'static> {
        Step {
            time: self.time(),
            period: rate.period() as f64 * self.dt,
            index: self.step,
            seed: self.seed,
            indices: &[],
            ids: &[],
        }
    }

    fn take_behaviour(&mut self, agent: u32, output: &BehaviourOutput) {
        let mover = &mut self.movers[agent as usize];
        if output.speed_factor.is_finite() {
            mover.speed_factor = output.speed_factor.clamp(0.0, 2.0);
        }
        if output.top_speed.is_finite() {
            mover.top_speed = output.top_speed.max(0.0);
        }
        // One change at a time.
        if !mover.may_change_lane() || output.lane_change == 0.0 {
            return;
        }
        let lanelet = self.roads.lanelet(mover.lanelet);
        let target = if output.lane_change > 0.0 {
            lanelet.left
        } else {
            lanelet.right
        };
        if target == NO_LANELET {
            return;
        }
        // A change that the way does not ask for needs a new way, and room.
        let on_way = self.ways[agent as usize].lanelet(mover.cursor + 1) == Some(target);
        if on_way || self.lead_through(agent, target) {
            self.change_lane(agent, target);
        }
    }

    /// Puts an agent on the lane beside its own, which is next on its way.
    fn change_lane(&mut self, agent: u32, target: LaneletId) {
        let mover = &mut self.movers[agent as usize];
        let lanelet = self.roads.lanelet(mover.lanelet);
        let line = self.roads.graph.line(target);
        let guess = mover.s / lanelet.length() * line.length();
        (mover.s, mover.t) = line.project(mover.state.pose.position, guess);
        mover.shadow = mover.lanelet;
        mover.lanelet = target;
        mover.cursor += 1;
    }

    fn control(&mut self) {
        let mut batches = std::mem::take(&mut self.batches);
        batches
            .due
            .list(&self.banks.controllers, &self.movers, self.step);
        for (place, running) in self.banks.controllers.running.iter().enumerate() {
            let (agents, module, step) = (
                batches.due.of(place),
                &running.module,
                self.step_of(running.rate),
            );
            let lookahead = module.lookahead();
            let view = self.view();
            batches.controller.ask(
                self.pool.as_ref(),
                module.logic.asks_whole(),
                agents,
                |agent| view.controller_input(agent, lookahead),
                |(indices, ids), inputs, outputs| {
                    module.step(
                        &Step {
                            indices,
                            ids,
                            ..step
                        },
                        inputs,
                        outputs,
                    );
                },
            );
            let rows = &batches.controller;
            for ((&agent, input), output) in agents.0.iter().zip(&rows.inputs).zip(&rows.outputs) {
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
        let movers = &self.movers;
        contacts.sort_by_cached_key(|c| c.order(|agent| movers[agent as usize].id));
        let time = (self.step + 1) as f64 * self.dt;
        self.log.expire(time);
        self.contacts.update(time, &contacts, &mut self.movers);
        self.batches.contacts = contacts;
    }
}
