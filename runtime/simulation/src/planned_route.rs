//! Routes that trips would take on empty roads, for display without a run.

use crate::demand::{Start, places};
use crate::open_ground::{End, MixedTrips, Part};
use crate::perception::OPEN_GROUND_SPEED;
use crate::records::{AgentIndex, LaneSpot};
use crate::route::{Goal, Route, Stretch, Trip, plan_legs};
use crate::setup::TripDriver;
use roadwright_agent::{Module, Planner, PlannerView, Registry, Step};
use roadwright_geometry::{DVec2, Pose};
use roadwright_ground::{Ground, LANE_REACH, Spot};
use roadwright_scenario::check::trip_problem;
use roadwright_scenario::{Agent, Flow, ModuleSetting, Place, Scenario, Slot, VehicleType};
use std::sync::Arc;

/// Planner that replaces an external planner of a stack.
const PLANNER: &str = "route";

/// Finds the routes of trips in a scenario, and can be updated when the scenario is edited.
///
/// The built-in planner `route` runs with the parameters of the trip's stack, and finds the same routes as at
/// the start of a run on empty roads. No plugins or scripts are called.
pub struct RouteFinder {
    scenario: Arc<Scenario>,
    ground: Arc<Ground>,
    planners: Registry,
}

/// A route from a start through waypoints to a destination.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRoute {
    /// Points of the route, m. On lanes they are at most 2 m apart. Lane changes and sections over open
    /// ground are straight lines.
    pub points: Vec<DVec2>,
    /// Length, m.
    pub length: f64,
    /// Travel time without waiting, s, at the speeds that the roads and the vehicle allow.
    pub time: f64,
}

/// Start or end of a trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TripEnd {
    /// Position of the rear axle's centre or, if the heading is `None`, of the body's centre, m.
    pub position: DVec2,
    /// Heading, rad; `None` if any heading is allowed.
    pub heading: Option<f64>,
}

/// Request for a route on lanes between two places.
pub(crate) struct LaneQuestion<'a> {
    pub(crate) vehicle: &'a VehicleType,
    /// Stack whose route planner is used.
    pub(crate) stack: &'a str,
    pub(crate) from: TripEnd,
    pub(crate) to: TripEnd,
}

/// Result of a request for a route on lanes between two places.
pub(crate) enum OnLanes {
    /// At least one of the places is off the lanes.
    Beside,
    /// Both places are on lanes, but no route connects them.
    Unconnected,
    /// The quickest route.
    Route(PlannedRoute),
}

impl RouteFinder {
    /// Creates a route finder for a scenario. The cost is that of [`Ground::new`].
    pub fn new(scenario: Arc<Scenario>) -> Self {
        let mut planners = Registry::default();
        roadwright_planning::register(&mut planners);
        Self {
            ground: Ground::new(&scenario),
            scenario,
            planners,
        }
    }

    /// Switches to an edited version of the scenario. The cost depends on the extent of the edits.
    pub fn follow(&mut self, scenario: Arc<Scenario>) {
        if Arc::ptr_eq(&self.scenario, &scenario) {
            return;
        }
        self.ground = self.ground.after_edit(&self.scenario, &scenario);
        self.scenario = scenario;
    }

    /// Returns the route of an agent. `None` if there is no route, or if one of the agent's places, its stack
    /// or its vehicle type does not exist.
    pub fn route(&self, agent: &Agent) -> Option<PlannedRoute> {
        let goals: Vec<_> = agent.goals().copied().collect();
        self.find(&agent.vehicle, &agent.stack, &agent.start, &goals)
    }

    /// Returns the route of the agents of a flow; `None` under the same conditions as
    /// [`Self::route`].
    pub fn route_of_flow(&self, flow: &Flow) -> Option<PlannedRoute> {
        self.find(
            &flow.vehicle,
            &flow.stack,
            &flow.origin,
            &[flow.destination],
        )
    }

    /// Returns the reason why a vehicle type cannot drive on lanes from each stop to the next;
    /// `None` if it can.
    pub fn problem(&self, vehicle: &str, stops: &[Place]) -> Option<String> {
        trip_problem(&self.scenario, self.ground.graph(), vehicle, stops)
    }

    pub(crate) fn ground(&self) -> &Ground {
        &self.ground
    }

    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Finds the quickest route between two places on lanes.
    pub(crate) fn between(&self, question: &LaneQuestion<'_>) -> OnLanes {
        let (starts, goals) = (self.lanes_at(&question.from), self.lanes_at(&question.to));
        if starts.is_empty() || goals.is_empty() {
            return OnLanes::Beside;
        }
        let mut best: Option<PlannedRoute> = None;
        for &start in &starts {
            for &(lanelet, s, _) in &goals {
                let start = LaneSpot {
                    lanelet: start.0,
                    s: start.1,
                };
                let ends = [start, LaneSpot { lanelet, s }];
                let Some(route) = self.on_lanes(question.vehicle, question.stack, ends) else {
                    continue;
                };
                if best.as_ref().is_none_or(|best| route.time < best.time) {
                    best = Some(route);
                }
            }
        }
        best.map_or(OnLanes::Unconnected, OnLanes::Route)
    }

    /// Resolves the end of a trip: to the best lane at its place, or to a place off the lanes.
    pub(crate) fn end(&self, end: &TripEnd) -> End {
        match self.lanes_at(end).first() {
            Some(&(lanelet, s, _)) => End::Lane(LaneSpot { lanelet, s }),
            None => End::Ground(end.position),
        }
    }

    /// Converts a place on a lane to the end of a leg over open ground, where any heading is allowed.
    pub(crate) fn beside(&self, spot: LaneSpot) -> TripEnd {
        TripEnd {
            position: self.ground.graph().line(spot.lanelet).position(spot.s),
            heading: None,
        }
    }

    /// Finds the quickest route between two places on lanes; `None` if no lanes connect them.
    pub(crate) fn on_lanes(
        &self,
        vehicle: &VehicleType,
        stack: &str,
        ends: [LaneSpot; 2],
    ) -> Option<PlannedRoute> {
        let standard = || {
            let setting = ModuleSetting::new(PLANNER);
            let found = self.planners.module("", Slot::Planner, &setting);
            found.ok()
        };
        let planner = self.planner(stack).or_else(standard)?;
        let [start, LaneSpot { lanelet, s }] = ends;
        let trip = Trip {
            agent: AgentIndex::default(),
            id: 0,
            start,
            class: vehicle.class(),
        };
        let route = self.search(&planner, trip, vec![Goal::Lane { lanelet, s }])?;
        Some(self.along(&route, start.s, vehicle))
    }

    /// Lanes at a place, the best one first.
    fn lanes_at(&self, end: &TripEnd) -> Vec<Spot> {
        let graph = self.ground.graph();
        let finder = self.ground.finder();
        let spots = match end.heading {
            Some(heading) => finder.under(
                graph,
                Pose {
                    position: end.position,
                    heading,
                },
            ),
            None => finder.near(graph, end.position),
        };
        let is_on = |spot: &Spot| {
            let line = graph.line(spot.0);
            let is_beside = spot.2.abs() <= 0.5 * graph.lanelet(spot.0).width;
            is_beside && line.position(spot.1).distance(end.position) <= LANE_REACH
        };
        spots.into_iter().filter(is_on).collect()
    }

    /// Finds the route through a list of places, for a vehicle type with a stack.
    pub(crate) fn find(
        &self,
        vehicle: &str,
        stack: &str,
        start: &Place,
        goals: &[Place],
    ) -> Option<PlannedRoute> {
        let trips = MixedTrips::new(&self.ground);
        let driver = TripDriver {
            scenario: &self.scenario,
            trips: &trips,
            vehicle,
            stack,
        };
        let vehicle = self.scenario.vehicle_types().get(vehicle)?;
        if let Some(parts) = driver.parts(start, goals) {
            return self.of_parts(&parts, vehicle, stack);
        }
        let (start, goals) = places(&self.scenario, &self.ground, "", start, goals).ok()?;
        let Start::Lane { lanelet, s } = start else {
            return Some(straight(start.pose(&self.ground).position, &goals, vehicle));
        };
        let trip = Trip {
            agent: AgentIndex::default(),
            id: 0,
            start: LaneSpot { lanelet, s },
            class: vehicle.class(),
        };
        let route = self.search(&self.planner(stack)?, trip, goals)?;
        Some(self.along(&route, s, vehicle))
    }

    /// Combines the parts of a trip into a route.
    fn of_parts(&self, parts: &[Part], vehicle: &VehicleType, stack: &str) -> Option<PlannedRoute> {
        let mut whole = PlannedRoute {
            points: Vec::new(),
            length: 0.0,
            time: 0.0,
        };
        for part in parts {
            match part {
                Part::Lanes { from, to } => {
                    let lanes = self.on_lanes(vehicle, stack, [*from, *to])?;
                    whole.points.extend(lanes.points);
                    (whole.length, whole.time) =
                        (whole.length + lanes.length, whole.time + lanes.time);
                }
                Part::Ground { points, time } => {
                    whole.length += roadwright_geometry::polyline::length(points);
                    whole.time += time;
                    whole.points.extend(points);
                }
            }
        }
        Some(whole)
    }

    fn search(&self, planner: &Module<dyn Planner>, trip: Trip, goals: Vec<Goal>) -> Option<Route> {
        let view = PlannerView {
            graph: self.ground.graph(),
            delays: &[],
        };
        let step = Step {
            time: 0.0,
            period: 1.0,
            index: 0,
            seed: 0,
            indices: &[],
            ids: &[],
        };
        let unplanned = Route::unplanned(goals);
        plan_legs(planner, &view, &step, &[(trip, &unplanned)]).pop()?
    }

    fn planner(&self, stack: &str) -> Option<Module<dyn Planner>> {
        let own = self.scenario.stacks().get(stack)?.settings(Slot::Planner);
        let own = own.first().filter(|setting| setting.module == PLANNER);
        let standard = ModuleSetting::new(PLANNER);
        let setting = own.unwrap_or(&standard);
        self.planners.module(stack, Slot::Planner, setting).ok()
    }

    fn along(&self, route: &Route, start: f64, vehicle: &VehicleType) -> PlannedRoute {
        let mut planned = PlannedRoute {
            points: Vec::new(),
            length: 0.0,
            time: 0.0,
        };
        let graph = self.ground.graph();
        for stretch in route.stretches(graph, 0, start) {
            stretch.append_to(&mut planned.points, graph);
            planned.length += stretch.length();
            planned.time += self.time_on(&stretch, vehicle);
        }
        planned
    }

    fn time_on(&self, stretch: &Stretch, vehicle: &VehicleType) -> f64 {
        let middle = 0.5 * (stretch.from + stretch.to);
        let speed = self.ground.road_speed(stretch.lanelet, middle);
        stretch.length() / speed.min(vehicle.max_speed.get())
    }
}

/// Creates a route over open ground, straight from goal to goal.
fn straight(start: DVec2, goals: &[Goal], vehicle: &VehicleType) -> PlannedRoute {
    let on_ground = |goal: &Goal| match goal {
        Goal::Ground(place) => Some(*place),
        Goal::Lane { .. } | Goal::Leave { .. } | Goal::Join { .. } => None,
    };
    let mut points = vec![start];
    points.extend(goals.iter().filter_map(on_ground));
    let length = points.windows(2).map(|two| two[0].distance(two[1])).sum();
    PlannedRoute {
        points,
        length,
        time: length / vehicle.max_speed.min(OPEN_GROUND_SPEED),
    }
}
