//! Preparing a world: modules, agents, flows and random trips.

use super::bank::{Banks, Places};
use super::batch::Membership;
use super::log::Log;
use super::{Batches, DELAY_RATE, RunOptions, SimulationError, World};
use crate::collisions::Contacts;
use crate::flow::RunningFlow;
use crate::index::Index;
use crate::kind::Kind;
use crate::mover::{Mover, Status};
use crate::obstacles::Obstacles;
use crate::populate;
use crate::reservation::Reservations;
use crate::roads::Roads;
use crate::spawn::{self, Departure, Start};
use crate::summary::ReplanCounts;
use crate::way::{Goal, Way};
use roadwright_agent::{Rate, Registry, Slot};
use roadwright_geometry::Pose;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::{Agent, AgentId, Scenario};
use std::collections::HashMap;
use std::sync::Arc;

/// Vehicle type of agents between random places.
const POPULATION_VEHICLE: &str = "car";

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
        let (stack_names, stacks, banks) = running_stacks(scenario, modules, options, dt)?;
        let lanelets = roads.graph.lanelets().len();
        let mut world = Self {
            dt,
            seed,
            lenient: options.lenient,
            step: 0,
            index: Index::new(lanelets),
            reservations: Reservations::new(roads.junction_count()),
            delays: vec![0.0; lanelets],
            delay_rate: Rate::new(DELAY_RATE, dt),
            roads,
            obstacles,
            kind_names: Arc::new(types.keys().cloned().collect()),
            largest: kinds.iter().map(|kind| kind.radius).fold(0.0, f64::max),
            kinds,
            stack_names: stack_names.into(),
            stacks,
            banks,
            registry: modules.clone(),
            overrides: options.modules.clone(),
            membership: Membership::default(),
            swaps: Vec::new(),
            movers: Vec::new(),
            ways: Vec::new(),
            departures: Vec::new(),
            flows: Vec::new(),
            retired_flows: Vec::new(),
            contacts: Contacts::default(),
            batches: Batches::default(),
            mail: Vec::new(),
            mail_counts: Vec::new(),
            has_new_modules: false,
            log: Log::default(),
            by_id: HashMap::new(),
            finder: None,
            pool: pool(options.threads)?,
            agent_updates: 0,
            replans: ReplanCounts::default(),
        };
        world.add_agents(scenario)?;
        world.add_flows(scenario)?;
        world.add_population(options)?;
        world.sort_departures();
        Ok(world)
    }

    /// First come: by time, then by id.
    pub(super) fn sort_departures(&mut self) {
        let movers = &self.movers;
        self.departures.sort_by(|a, b| {
            let id = |d: &Departure| movers[d.agent as usize].id;
            a.time.total_cmp(&b.time).then(id(a).cmp(&id(b)))
        });
    }

    fn add_agents(&mut self, scenario: &Scenario) -> Result<(), SimulationError> {
        for (id, agent) in scenario.agents() {
            let names = (agent.vehicle.as_str(), agent.stack.as_str());
            match trip(scenario, &self.roads.graph, *id, agent) {
                Ok((start, goals)) => {
                    let way = Way {
                        goals,
                        ..Way::default()
                    };
                    let depart = agent.depart;
                    self.add(u64::from(id.0), names, way, start, depart, agent.speed);
                }
                Err(_) if self.lenient => self.refuse(u64::from(id.0), names),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn add_flows(&mut self, scenario: &Scenario) -> Result<(), SimulationError> {
        self.flows = running_flows(scenario, &self.roads.graph, self.seed, self.lenient)?;
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
                goals: vec![Goal::Lanelet {
                    lanelet: trip.to.0,
                    s: trip.to.1,
                }],
                ..Way::default()
            };
            let start = Start::Lane {
                lanelet: trip.from.0,
                s: trip.from.1,
            };
            self.add(id, (POPULATION_VEHICLE, stack), way, start, 0.0, 0.0);
        }
        Ok(())
    }

    /// An agent that never appears.
    fn refuse(&mut self, id: u64, names: (&str, &str)) {
        let start = Start::Ground(Pose::default());
        let agent = self.add(id, names, Way::default(), start, f64::INFINITY, 0.0);
        self.departures.pop();
        self.movers[agent as usize].status = Status::Refused;
    }

    pub(super) fn add(
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
        let modules = self.stacks.get(stack as usize).copied();
        let mut mover = Mover::new(id, kind, stack, modules.unwrap_or_default());
        mover.holds_arrival = self.holds_arrival(mover.modules);
        self.movers.push(mover);
        self.ways.push(way);
        self.departures.push(Departure {
            agent,
            time,
            start,
            speed,
        });
        agent
    }
}

impl World {
    /// Lets all agents know what their modules ask of them: those may have been replaced.
    pub(super) fn assign_all(&mut self) {
        for agent in 0..self.movers.len() {
            self.movers[agent].holds_arrival = self.holds_arrival(self.movers[agent].modules);
        }
    }

    /// Whether the behaviour among some modules is asked before an agent leaves the road.
    pub(super) fn holds_arrival(&self, modules: Places) -> bool {
        let place = modules[Slot::Behaviour as usize] as usize;
        let behaviour = self.banks.behaviours.running.get(place);
        behaviour.is_some_and(|r| r.module.logic.handles_arrival())
    }
}

/// Start and goals of an agent.
pub(super) fn trip(
    scenario: &Scenario,
    graph: &LaneGraph,
    id: AgentId,
    agent: &Agent,
) -> Result<(Start, Vec<Goal>), SimulationError> {
    let mut goals = agent.via.clone();
    goals.extend(agent.destination);
    if goals.is_empty() {
        return Err(SimulationError::NoGoal(id.to_string()));
    }
    spawn::places(scenario, graph, &id.to_string(), &agent.start, &goals)
}

/// The flows of a scenario, each at its beginning; `lenient` leaves out those whose places do not
/// exist.
pub(super) fn running_flows(
    scenario: &Scenario,
    graph: &LaneGraph,
    seed: u64,
    lenient: bool,
) -> Result<Vec<RunningFlow>, SimulationError> {
    let mut running = Vec::new();
    for (id, flow) in scenario.flows() {
        let goals = [flow.destination];
        match spawn::places(scenario, graph, &id.to_string(), &flow.origin, &goals) {
            Ok(places) => running.push(RunningFlow::new(*id, flow, places, seed)),
            Err(_) if lenient => {}
            Err(error) => return Err(error),
        }
    }
    Ok(running)
}

fn pool(threads: usize) -> Result<Option<rayon::ThreadPool>, SimulationError> {
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some)
        .map_err(|_| SimulationError::Threads(threads))
}

/// Names of the stacks of a scenario, the places of their modules, and the modules.
fn running_stacks(
    scenario: &Scenario,
    registry: &Registry,
    options: &RunOptions,
    dt: f64,
) -> Result<(Vec<String>, Vec<Places>, Banks), SimulationError> {
    let mut banks = Banks::new();
    let (mut names, mut places) = (Vec::new(), Vec::new());
    for (name, stack) in scenario.stacks() {
        names.push(name.clone());
        places.push(banks.places(name, &options.modules.apply(stack), registry, dt)?);
    }
    Ok((names, places, banks))
}
