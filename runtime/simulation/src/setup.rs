//! Prepares the demand of a world: agents, flows and random trips.

use crate::agents::{Finished, Status};
use crate::demand::{self, Demand, Departure, Repeats, RunningFlow, Start};
use crate::modules::{Modules, number_of};
use crate::open_ground::{End, Itinerary, MixedTrips, Part, Traveller};
use crate::options::{PopulateFrom, RunOptions, SimulationError};
use crate::records::LaneSpot;
use crate::route::Goal;
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::DVec2;
use roadwright_ground::Ground;
use roadwright_scenario::{
    Agent, AgentId, BodyKind, LaneletIndex, OffRoad, Place, Scenario, VehicleType,
};

/// A vehicle leaves its lane this far before the point nearest to its destination, so that it has
/// room to turn off, m.
const EXIT_BEFORE: f64 = 30.0;
/// Vehicle type of random trips.
const POPULATION_VEHICLE: &str = "car";
/// Maximum number of random trips in a run. It is more than the number of cars in any city.
const MOST_TRIPS: usize = 1_000_000;
/// Stack of random trips, unless the options name one.
const POPULATION_STACK: &str = "idm";

/// Checks that no roads were left out of the lane graph because the network is too large.
pub(crate) fn check_size(ground: &Ground) -> Result<(), SimulationError> {
    match ground.graph().left_out() {
        Some(road) => Err(SimulationError::TooMuch(road)),
        None => Ok(()),
    }
}

/// Inputs for creating the demand of a scenario.
pub(crate) struct Sources<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) trips: MixedTrips<'a>,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) modules: &'a Modules,
    pub(crate) seed: u64,
}

impl Sources<'_> {
    /// Creates the agents, flows and random trips of a run. With lenient options, agents without a
    /// valid place are refused; otherwise they are an error.
    pub(crate) fn demand(
        &self,
        options: &RunOptions,
        finished: &mut Finished,
    ) -> Result<Demand, SimulationError> {
        let mut demand = Demand::default();
        let mut last = 0;
        for (id, agent) in self.scenario.agents() {
            // The map is in ascending order of ids, so this ends with the largest id.
            last = u64::from(id.0);
            match self.departure(*id, agent, agent.depart.get()) {
                Ok(departure) => demand.departures.push(departure),
                // While the user is editing a scenario, a vehicle whose road has just been deleted
                // must not keep the others from driving.
                Err(_) if options.lenient => {
                    finished.push_undriven(last, &agent.stack, Status::Refused, 0.0);
                }
                Err(error) => return Err(error),
            }
        }
        demand.flows = running_flows(self.scenario, &self.trips, self.seed, options.lenient)?;
        // Random trips are added last, with ids above those of the scenario, so that agents and flows are the
        // same with and without them.
        self.populate(options, last + 1, &mut demand)?;
        demand.departures.sort();
        demand.repeats = self.repeats();
        Ok(demand)
    }

    /// Returns the agents that depart again after every arrival, except agents with places that no
    /// longer exist.
    pub(crate) fn repeats(&self) -> Repeats {
        let agents = self.scenario.agents().iter();
        let again = agents.filter_map(|(id, agent)| {
            let departure = self.departure(*id, agent, (*agent.repeat)?).ok()?;
            Some((departure.id, departure))
        });
        Repeats::new(again.collect())
    }

    /// Creates the departure of an agent of the scenario.
    pub(crate) fn departure(
        &self,
        id: AgentId,
        agent: &Agent,
        time: f64,
    ) -> Result<Departure, SimulationError> {
        let (start, goals) = trip(self.scenario, &self.trips, id, agent)?;
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

    /// Adds cars with random trips. Their ids start at `first`.
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
            self.trips.ground().graph(),
            options.populate,
            options.populate_from,
            self.seed,
        );
        if trips.is_empty() {
            return Err(SimulationError::NoRoom {
                wanted: options.populate,
                why: match options.populate_from {
                    PopulateFrom::Edges => {
                        "no route leads from one edge of the map to another; populate from inside \
                         the map instead"
                    }
                    PopulateFrom::Inside | PopulateFrom::Both => {
                        "no lane can be reached from any other lane"
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

/// Creates the initial state of each flow in the scenario. If `lenient` is set, flows whose start
/// or destination does not exist are skipped; otherwise they are an error.
pub(crate) fn running_flows(
    scenario: &Scenario,
    trips: &MixedTrips<'_>,
    seed: u64,
    lenient: bool,
) -> Result<Vec<RunningFlow>, SimulationError> {
    let mut running = Vec::new();
    for (id, flow) in scenario.flows() {
        let goals = [flow.destination];
        let driver = TripDriver {
            scenario,
            trips,
            vehicle: &flow.vehicle,
            stack: &flow.stack,
        };
        match driver.trip(&id.to_string(), &flow.origin, &goals) {
            Ok((start, goals)) => {
                running.push(RunningFlow::new(*id, flow, start, goals, seed));
            }
            Err(_) if lenient => {}
            Err(error) => return Err(error),
        }
    }
    Ok(running)
}

/// Finds the start and goals of an agent.
pub(crate) fn trip(
    scenario: &Scenario,
    trips: &MixedTrips<'_>,
    id: AgentId,
    agent: &Agent,
) -> Result<(Start, Vec<Goal>), SimulationError> {
    let mut goals = agent.via.clone();
    goals.extend(agent.destination);
    if goals.is_empty() {
        return Err(SimulationError::NoGoal(id.to_string()));
    }
    let driver = TripDriver {
        scenario,
        trips,
        vehicle: &agent.vehicle,
        stack: &agent.stack,
    };
    driver.trip(&id.to_string(), &agent.start, &goals)
}

/// Vehicle type and stack of an agent or a flow, which determine where its trips leave the lanes.
#[derive(Clone, Copy)]
pub(crate) struct TripDriver<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) trips: &'a MixedTrips<'a>,
    pub(crate) vehicle: &'a str,
    pub(crate) stack: &'a str,
}

impl TripDriver<'_> {
    /// Finds the start and goals of a trip. The goals include the places where it changes between
    /// lanes and open ground.
    pub(crate) fn trip(
        &self,
        who: &str,
        start: &Place,
        goals: &[Place],
    ) -> Result<(Start, Vec<Goal>), SimulationError> {
        let kind = self.scenario.vehicle_types().get(self.vehicle);
        if kind.is_some_and(|kind| kind.body == BodyKind::Character) {
            return demand::places_on_foot(self.scenario, who, start, goals);
        }
        if let Some(trip) = self.by_lanes(start, goals) {
            return Ok(trip);
        }
        let trip = demand::places(self.scenario, self.trips.ground(), who, start, goals)?;
        let (Start::Ground(_), Some(End::Lane(LaneSpot { lanelet, s }))) =
            (trip.0, self.end(start))
        else {
            return Ok(trip);
        };
        let kind = self.scenario.vehicle_types().get(self.vehicle);
        let stays = kind.is_some_and(|kind| kind.off_road == OffRoad::Never);
        Ok(match stays {
            // No route leads to a goal off the lanes. The trip is refused, because the vehicle
            // would stand on the road otherwise.
            true => (Start::Lane { lanelet, s }, trip.1),
            false => trip,
        })
    }

    /// Plans a trip that uses lanes. `None` if the stack drives straight, if no trip is found, or if all
    /// places are on lanes and open ground may not be used.
    fn by_lanes(&self, start: &Place, goals: &[Place]) -> Option<(Start, Vec<Goal>)> {
        let kind = self.scenario.vehicle_types().get(self.vehicle)?;
        let is_on_lanes = |place: &Place| matches!(place, Place::Lane(_));
        let all_on_lanes = is_on_lanes(start) && goals.iter().all(is_on_lanes);
        if self.drives_straight() || all_on_lanes && kind.off_road != OffRoad::Free {
            return None;
        }
        if self.trips.ground().graph().lanelets().is_empty() || kind.off_road == OffRoad::Never {
            return None;
        }
        let mixed = self.mixed(kind, start, goals);
        match all_on_lanes {
            // Without a shortcut over open ground, the route planner plans the trip, because it
            // takes restrictions and traffic into account.
            true => mixed.filter(|(_, goals)| goals.iter().any(Goal::is_own)),
            false => mixed.or_else(|| self.by_nearest_exit(kind, start, goals)),
        }
    }

    fn drives_straight(&self) -> bool {
        let stack = self.scenario.stacks().get(self.stack);
        let planner = stack.and_then(|stack| stack.ground_planner.as_ref());
        stack.is_none()
            || planner.is_some_and(|setting| !roadwright_planning::uses_map(&setting.module))
    }

    /// Finds the quickest trip through the given places, on lanes and over open ground.
    fn mixed(
        &self,
        kind: &VehicleType,
        start: &Place,
        goals: &[Place],
    ) -> Option<(Start, Vec<Goal>)> {
        let itineraries = self.itineraries(kind, start, goals)?;
        let mut all = Vec::new();
        for (goal, itinerary) in goals.iter().zip(&itineraries) {
            all.extend(itinerary.changes());
            all.push(match self.end(goal)? {
                End::Lane(LaneSpot { lanelet, s }) => Goal::Lane { lanelet, s },
                End::Ground(place) => Goal::Ground(place),
            });
        }
        let start = match self.end(start)? {
            End::Lane(LaneSpot { lanelet, s }) => Start::Lane { lanelet, s },
            End::Ground(_) => Start::Ground(self.scenario.pose_of(start)?),
        };
        Some((start, all))
    }

    /// Plans the trip to each goal in parts. `None` if a goal does not exist, or if there is no
    /// trip to it.
    fn itineraries(
        &self,
        kind: &VehicleType,
        start: &Place,
        goals: &[Place],
    ) -> Option<Vec<Itinerary>> {
        let traveller = Traveller::from(kind);
        let mut from = self.end(start)?;
        let itinerary = |goal: &Place| {
            let to = self.end(goal)?;
            let ends = [from, to];
            from = to;
            match ends {
                [End::Lane(from), End::Lane(to)] if kind.off_road != OffRoad::Free => {
                    Some(Itinerary {
                        parts: vec![Part::Lanes { from, to }],
                    })
                }
                _ => self.trips.quickest(&traveller, ends),
            }
        };
        goals.iter().map(itinerary).collect()
    }

    /// Plans a trip that uses open ground, and returns its parts. `None` if all places are on lanes and open
    /// ground may not be used, or for the same reasons as [`Self::itineraries`].
    pub(crate) fn parts(&self, start: &Place, goals: &[Place]) -> Option<Vec<Part>> {
        let kind = self.scenario.vehicle_types().get(self.vehicle)?;
        self.by_lanes(start, goals)?;
        let itineraries = self.itineraries(kind, start, goals)?;
        Some(itineraries.into_iter().flat_map(|one| one.parts).collect())
    }

    fn end(&self, place: &Place) -> Option<End> {
        Some(match place {
            Place::Lane(at) => {
                let (lanelet, s) = self.trips.ground().graph().locate(at)?;
                End::Lane(LaneSpot { lanelet, s })
            }
            Place::Ground(_) => End::Ground(self.scenario.pose_of(place)?.position),
        })
    }

    /// Plans a trip from a start on a lane to a destination off the lanes. The trip follows lanes
    /// as far as possible, and leaves them near the point closest to the destination. `None` for
    /// other trips, or if no lane near the destination can be reached.
    fn by_nearest_exit(
        &self,
        kind: &VehicleType,
        start: &Place,
        goals: &[Place],
    ) -> Option<(Start, Vec<Goal>)> {
        let (Place::Lane(start), [via @ .., Place::Ground(destination)]) = (start, goals) else {
            return None;
        };
        let graph = self.trips.ground().graph();
        let start = graph.locate(start)?;
        let via = via.iter().map(|place| match place {
            Place::Lane(at) => graph.locate(at),
            Place::Ground(_) => None,
        });
        let on_lanes: Vec<_> = via.collect::<Option<_>>()?;
        let from = on_lanes.last().copied().unwrap_or(start);
        let reachable = graph.reachable_from(from.0, kind.class());
        let place = DVec2::new(destination.x.get(), destination.y.get());
        let is_on_the_way = |(lanelet, s): (LaneletIndex, f64)| {
            reachable[lanelet.index()] && (lanelet != from.0 || s > from.1)
        };
        let spots = self.trips.ground().finder().near(graph, place);
        let exit = spots.into_iter().find_map(|(lanelet, s, _)| {
            let spot = (lanelet, (s - EXIT_BEFORE).max(0.0));
            is_on_the_way(spot).then_some(spot)
        })?;
        let goals = on_lanes
            .into_iter()
            .map(|(lanelet, s)| Goal::Lane { lanelet, s });
        let (lanelet, s) = exit;
        let exit = Goal::Leave { lanelet, s };
        Some((
            Start::Lane {
                lanelet: start.0,
                s: start.1,
            },
            goals.chain([exit, Goal::Ground(place)]).collect(),
        ))
    }
}
