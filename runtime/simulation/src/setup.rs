//! Preparation of a world: its demand.

use crate::agents::{Finished, Status};
use crate::demand::{self, Demand, Departure, Repeats, Start, running_flows};
use crate::ground::Ground;
use crate::modules::{Modules, number_of};
use crate::options::{PopulateFrom, RunOptions, SimulationError};
use crate::route::Goal;
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::DVec2;
use roadwright_scenario::{Agent, AgentId, LaneletIndex, Place, Scenario};

/// Planner of agents that drive straight to goals off the lanes.
const STRAIGHT: &str = "straight";
/// Distance at which a vehicle leaves its lane before the place on the lane that is nearest to its
/// destination, m. The vehicle needs this distance to turn.
const EXIT_BEFORE: f64 = 30.0;
/// Vehicle type of random trips.
const POPULATION_VEHICLE: &str = "car";
/// Maximum number of random trips of a run, more than the number of cars in any city.
const MOST_TRIPS: usize = 1_000_000;
/// Stack of random trips, unless the options name one.
const POPULATION_STACK: &str = "idm";

/// Sources of demand.
pub(crate) struct Sources<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) modules: &'a Modules,
    pub(crate) seed: u64,
}

impl Sources<'_> {
    /// Agents, flows and random trips of a run. With lenient options, agents without a valid place are
    /// refused.
    pub(crate) fn demand(
        &self,
        options: &RunOptions,
        finished: &mut Finished,
    ) -> Result<Demand, SimulationError> {
        let mut demand = Demand::default();
        let mut last = 0;
        for (id, agent) in self.scenario.agents() {
            // Ids are in ascending order, so this ends with the largest.
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
        // Random trips come last and have ids after those of the scenario, so that agents and flows are the
        // same with and without them.
        self.populate(options, last + 1, &mut demand)?;
        demand.departures.sort();
        demand.repeats = self.repeats();
        Ok(demand)
    }

    /// Agents that depart again whenever they have arrived, except agents whose places no longer exist.
    pub(crate) fn repeats(&self) -> Repeats {
        let agents = self.scenario.agents().iter();
        let again = agents.filter_map(|(id, agent)| {
            let departure = self.departure(*id, agent, (*agent.repeat)?).ok()?;
            Some((departure.id, departure))
        });
        Repeats::new(again.collect())
    }

    /// Departure of an agent of the scenario.
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

    /// Adds cars with random trips, with ids from `first` on.
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
                        "no route leads from one edge of the map to another; populate it from inside"
                    }
                    PopulateFrom::Inside | PopulateFrom::Both => {
                        "no lane can be reached from another one"
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
    if let Some(trip) = by_road(scenario, ground, agent, &goals) {
        return Ok(trip);
    }
    demand::places(scenario, ground, &id.to_string(), &agent.start, &goals)
}

/// A trip from a start on a lane to a destination off the lanes, along lanes as far as possible. Its last
/// goal on a lane is the place where it leaves the lanes. `None` for other trips, if no lane near the
/// destination can be reached, or if the stack drives straight.
fn by_road(
    scenario: &Scenario,
    ground: &Ground,
    agent: &Agent,
    goals: &[Place],
) -> Option<(Start, Vec<Goal>)> {
    let (Place::Lane(start), [via @ .., Place::Ground(destination)]) = (&agent.start, goals) else {
        return None;
    };
    let stack = scenario.stacks().get(&agent.stack)?;
    let planner = stack.ground_planner.as_ref();
    if planner.is_some_and(|setting| setting.module == STRAIGHT) {
        return None;
    }
    let graph = ground.graph();
    let start = graph.locate(start)?;
    let via = via.iter().map(|place| match place {
        Place::Lane(at) => graph.locate(at),
        Place::Ground(_) => None,
    });
    let mut on_lanes: Vec<_> = via.collect::<Option<_>>()?;
    let from = on_lanes.last().copied().unwrap_or(start);
    let class = scenario.vehicle_types().get(&agent.vehicle)?.class();
    let reachable = graph.reachable_from(from.0, class);
    let place = DVec2::new(destination.x.get(), destination.y.get());
    let is_on_the_way = |(lanelet, s): (LaneletIndex, f64)| {
        reachable[lanelet.index()] && (lanelet != from.0 || s > from.1)
    };
    let spots = ground.finder().near(graph, place);
    let exit = spots.into_iter().find_map(|(lanelet, s, _)| {
        let spot = (lanelet, (s - EXIT_BEFORE).max(0.0));
        is_on_the_way(spot).then_some(spot)
    })?;
    on_lanes.push(exit);
    let goals = on_lanes
        .into_iter()
        .map(|(lanelet, s)| Goal::Lane { lanelet, s });
    Some((
        Start::Lane {
            lanelet: start.0,
            s: start.1,
        },
        goals.chain([Goal::Ground(place)]).collect(),
    ))
}
