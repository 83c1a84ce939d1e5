//! The world: agents on roads, one step after the other.

mod appear;
mod batch;
mod inspect;
mod options;
mod report;
mod reroute;
mod setup;
mod update;

pub use inspect::Inspection;
pub use options::{RunOptions, SimulationError};

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
use crate::way::Way;
use batch::{SLICE, ask};
use rayon::prelude::*;
use roadwright_agent::{Modules, Rate, Slot, Step};
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput};
use roadwright_scenario::lane_graph::LaneGraph;

/// What each standing vehicle adds to the expected time on a strip, s.
const DELAY_PER_VEHICLE: f32 = 4.0;
/// How often expected delays are counted, Hz.
const DELAY_RATE: f64 = 1.0;

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
    lenient: bool,
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
    /// Flows that an edit has taken out: if they come back, they go on counting.
    retired_flows: Vec<RunningFlow>,
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
}
