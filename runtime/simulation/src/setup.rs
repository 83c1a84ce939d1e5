//! Preparing a world: who wants to drive.

use crate::agents::{Finished, Status};
use crate::demand::{self, Demand, Departure, Repeats, Start, running_flows};
use crate::ground::Ground;
use crate::modules::{Modules, number_of};
use crate::options::{PopulateFrom, RunOptions, SimulationError};
use crate::route::Goal;
use crate::vehicle_type::VehicleTypes;
use roadwright_scenario::{Agent, AgentId, Scenario};

/// Vehicle type of agents between random places.
const POPULATION_VEHICLE: &str = "car";
/// Most random trips of a run: more than any city has cars.
const MOST_TRIPS: usize = 1_000_000;
/// Stack of agents between random places, unless the options name one.
const POPULATION_STACK: &str = "idm";

/// What demand is made of.
pub(crate) struct Sources<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) modules: &'a Modules,
    pub(crate) seed: u64,
}

impl Sources<'_> {
    /// Agents, flows and random trips of a run. Agents that cannot be put anywhere are refused if
    /// the options are lenient.
    pub(crate) fn demand(
        &self,
        options: &RunOptions,
        finished: &mut Finished,
    ) -> Result<Demand, SimulationError> {
        let mut demand = Demand::default();
        let mut last = 0;
        for (id, agent) in self.scenario.agents() {
            // In growing order: the last one is the largest.
            last = u64::from(id.0);
            match self.departure(*id, agent, agent.depart.get()) {
                Ok(departure) => demand.departures.push(departure),
                // While a scenario is being drawn, a vehicle whose road was just deleted must not keep the
                // others from driving.
                Err(_) if options.lenient => {
                    finished.push_undriven(last, &agent.stack, Status::Refused, 0.0);
                }
                Err(error) => return Err(error),
            }
        }
        demand.flows = running_flows(self.scenario, self.ground, self.seed, options.lenient)?;
        // Random trips come last and have ids behind those of the scenario: agents and flows are the
        // same with and without them.
        self.populate(options, last + 1, &mut demand)?;
        demand.departures.sort();
        demand.repeats = self.repeats();
        Ok(demand)
    }

    /// The agents that set out again whenever they have arrived. Those whose places are gone do not.
    pub(crate) fn repeats(&self) -> Repeats {
        let agents = self.scenario.agents().iter();
        let again = agents.filter_map(|(id, agent)| {
            let departure = self.departure(*id, agent, (*agent.repeat)?).ok()?;
            Some((departure.id, departure))
        });
        Repeats::new(again.collect())
    }

    /// An agent of the scenario before it appears.
    pub(crate) fn departure(
        &self,
        id: AgentId,
        agent: &Agent,
        time: f64,
    ) -> Result<Departure, SimulationError> {
        let (start, goals) = trip(self.scenario, self.ground, id, agent)?;
        Ok(Departure {
            id: u64::from(id.0),
            time,
            start,
            goals,
            speed: agent.speed.get(),
            vehicle_type: number_of(&self.types.names, &agent.vehicle).unwrap_or_default(),
            stack: number_of(&self.modules.names, &agent.stack).unwrap_or_default(),
            dynamics: agent.dynamics,
        })
    }

    /// Cars between random places, with ids from `first` on.
    fn populate(
        &self,
        options: &RunOptions,
        first: u64,
        demand: &mut Demand,
    ) -> Result<(), SimulationError> {
        if options.populate == 0 {
            return Ok(());
        }
        if options.populate > MOST_TRIPS {
            return Err(SimulationError::TooManyTrips(options.populate, MOST_TRIPS));
        }
        let stack_name = options
            .populate_stack
            .as_deref()
            .unwrap_or(POPULATION_STACK);
        let stack = self.modules.stack_number(stack_name);
        let stack = stack.ok_or_else(|| SimulationError::NoSuchStack(stack_name.into()))?;
        let vehicle_type = number_of(&self.types.names, POPULATION_VEHICLE)
            .ok_or_else(|| SimulationError::NoSuchVehicleType(POPULATION_VEHICLE.into()))?;
        let (trips, population) = demand::trips(
            self.scenario,
            self.ground.graph(),
            options.populate,
            options.populate_from,
            self.seed,
        );
        if trips.is_empty() {
            return Err(SimulationError::NoRoom {
                wanted: options.populate,
                why: match options.populate_from {
                    PopulateFrom::Edges => {
                        "no way leads from one edge of the map to another; populate it from inside"
                    }
                    PopulateFrom::Inside | PopulateFrom::Both => {
                        "there are no lanes that can reach each other"
                    }
                },
            });
        }
        demand.population = Some(population);
        for (trip, id) in trips.into_iter().zip(first..) {
            demand.departures.push(Departure {
                id,
                time: 0.0,
                start: Start::Lane {
                    lanelet: trip.from.lanelet,
                    s: trip.from.s,
                },
                goals: vec![Goal::Lane {
                    lanelet: trip.to.lanelet,
                    s: trip.to.s,
                }],
                speed: 0.0,
                vehicle_type,
                stack,
                dynamics: None,
            });
        }
        Ok(())
    }
}

/// Start and goals of an agent.
pub(crate) fn trip(
    scenario: &Scenario,
    ground: &Ground,
    id: AgentId,
    agent: &Agent,
) -> Result<(Start, Vec<Goal>), SimulationError> {
    let mut goals = agent.via.clone();
    goals.extend(agent.destination);
    if goals.is_empty() {
        return Err(SimulationError::NoGoal(id.to_string()));
    }
    demand::places(scenario, ground, &id.to_string(), &agent.start, &goals)
}
