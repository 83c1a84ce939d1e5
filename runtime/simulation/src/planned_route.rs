//! The way of a trip before anybody drives: what a planner answers on empty roads.

use crate::demand::{Start, places};
use crate::ground::Ground;
use crate::perception::OPEN_GROUND_SPEED;
use crate::records::{AgentIndex, LaneSpot};
use crate::route::{Goal, Route, Stretch, Trip, plan_legs};
use roadwright_agent::{Module, Planner, PlannerView, Registry, Step};
use roadwright_geometry::DVec2;
use roadwright_scenario::{Agent, Flow, ModuleSetting, Place, Scenario, Slot, VehicleType};
use std::sync::Arc;

/// The planner of trips whose stack has one of its own that is not built in.
const PLANNER: &str = "route";

/// Finds the ways of trips in a scenario, and goes on doing so while it is edited.
///
/// Ways are those that the built-in planner `route` finds at the start of a run, with the parameters of the
/// trip's stack, if nobody else is there. Nothing of plugins or scripts runs.
pub struct RouteFinder {
    scenario: Arc<Scenario>,
    ground: Arc<Ground>,
    planners: Registry,
}

/// A way from a start over way-points to a destination.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRoute {
    /// The way as points at most 2 m apart on lanes; straight where a lane is changed, and on open ground
    /// from place to place, m.
    pub points: Vec<DVec2>,
    /// Length, m.
    pub length: f64,
    /// Time at the speeds that the roads allow and the vehicle can reach, without waiting, s.
    pub time: f64,
}

impl RouteFinder {
    /// Prepares a scenario. Cost: that of [`Ground::new`].
    pub fn new(scenario: Arc<Scenario>) -> Self {
        let mut planners = Registry::default();
        roadwright_planning::register(&mut planners);
        Self {
            ground: Ground::new(&scenario),
            scenario,
            planners,
        }
    }

    /// Takes the scenario as it has become. Cost: that of what has changed since.
    pub fn follow(&mut self, scenario: Arc<Scenario>) {
        self.ground = self.ground.after_edit(&self.scenario, &scenario);
        self.scenario = scenario;
    }

    /// The way of an agent; `None` if a place of it does not exist, its stack or vehicle type does not,
    /// or no way leads there.
    pub fn way(&self, agent: &Agent) -> Option<PlannedRoute> {
        let goals: Vec<_> = agent.goals().copied().collect();
        self.find(&agent.vehicle, &agent.stack, &agent.start, &goals)
    }

    /// The way of each agent of a flow; `None` as of [`Self::way`].
    pub fn way_of_flow(&self, flow: &Flow) -> Option<PlannedRoute> {
        self.find(
            &flow.vehicle,
            &flow.stack,
            &flow.origin,
            &[flow.destination],
        )
    }

    /// The way with a vehicle and a stack from a place over others.
    fn find(
        &self,
        vehicle: &str,
        stack: &str,
        start: &Place,
        goals: &[Place],
    ) -> Option<PlannedRoute> {
        let vehicle = self.scenario.vehicle_types().get(vehicle)?;
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
        let route = self.route(stack, trip, goals)?;
        Some(self.along(&route, s, vehicle))
    }

    fn route(&self, stack: &str, trip: Trip, goals: Vec<Goal>) -> Option<Route> {
        let planner = self.planner(stack)?;
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
        plan_legs(&planner, &view, &step, &[(trip, &unplanned)]).pop()?
    }

    fn planner(&self, stack: &str) -> Option<Module<dyn Planner>> {
        let own = self.scenario.stacks().get(stack)?.settings(Slot::Planner);
        let own = own.first().filter(|setting| setting.module == PLANNER);
        let standard = ModuleSetting::new(PLANNER);
        let setting = own.unwrap_or(&standard);
        self.planners.module(stack, Slot::Planner, setting).ok()
    }

    fn along(&self, route: &Route, start: f64, vehicle: &VehicleType) -> PlannedRoute {
        let mut way = PlannedRoute {
            points: Vec::new(),
            length: 0.0,
            time: 0.0,
        };
        let graph = self.ground.graph();
        for stretch in route.stretches(graph, 0, start) {
            stretch.append_to(&mut way.points, graph);
            way.length += stretch.length();
            way.time += self.time_on(&stretch, vehicle);
        }
        way
    }

    fn time_on(&self, stretch: &Stretch, vehicle: &VehicleType) -> f64 {
        let middle = 0.5 * (stretch.from + stretch.to);
        let speed = self.ground.road_speed(stretch.lanelet, middle);
        stretch.length() / speed.min(vehicle.max_speed.get())
    }
}

/// The way over open ground: straight from goal to goal.
fn straight(start: DVec2, goals: &[Goal], vehicle: &VehicleType) -> PlannedRoute {
    let on_ground = |goal: &Goal| match goal {
        Goal::Ground(place) => Some(*place),
        Goal::Lane { .. } => None,
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
