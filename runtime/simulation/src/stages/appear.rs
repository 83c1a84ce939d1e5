//! Spawns the agents that are due: each gets a place, then a route.

use super::retire::Exit;
use crate::agents::{AgentRow, Agents, Status};
use crate::clock::Clock;
use crate::demand::{Demand, Departure, REACH, Room, Start};
use crate::dynamics::{Bodies, Dynamics, LevelChoice};
use crate::messages::{Log, LogLine};
use crate::modules::Modules;
use crate::open_ground::NoPath;
use crate::records::{
    AgentIndex, Identity, LanePosition, LaneSpot, Motion, Phase, Progress, Statistics,
    keeps_to_lanes,
};
use crate::route::{Route, Routes, Travel, Trip, plan_legs};
use crate::traffic::{Delays, Traffic};
use crate::vehicle_type::VehicleTypes;
use roadwright_agent::PlannerView;
use roadwright_geometry::Pose;
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::NO_LANELET;
use roadwright_scenario::{DynamicsLevel, OffRoad};
use std::collections::BTreeMap;

/// Inputs of the stage that spawns agents.
#[derive(Clone, Copy)]
pub(crate) struct AppearInputs<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) modules: &'a Modules,
    pub(crate) levels: LevelChoice,
}

/// Borrowed parts of the world that new agents are added to.
pub(crate) struct Arrivals<'a> {
    pub(crate) demand: &'a mut Demand,
    pub(crate) routes: &'a mut Routes,
    pub(crate) dynamics: &'a mut Dynamics,
    pub(crate) agents: &'a mut Agents,
}

/// Admits due departures where there is space, and assigns agent indices to them. Returns the
/// admitted agents. The place of an admitted agent counts as occupied in this step even if the
/// agent turns out to have no route, because the planners are called for all agents together
/// afterwards.
pub(crate) fn admit(
    scene: AppearInputs<'_>,
    traffic: &mut Traffic,
    arrivals: Arrivals<'_>,
    log: &mut Log,
) -> Vec<AgentIndex> {
    let Traffic { index, claims, .. } = traffic;
    let Arrivals {
        demand,
        routes,
        dynamics,
        agents,
    } = arrivals;
    let time = scene.clock.time();
    let of_flows = flow_agents(scene, demand, time);
    demand.departures.come(time, of_flows);
    // The position index was built at the end of the last step, so it does not contain the agents
    // that are admitted in this step. Without this list, two agents could be admitted at the same
    // place.
    let mut appeared: BTreeMap<_, Vec<AgentIndex>> = BTreeMap::new();
    let mut by_cell: BTreeMap<Cell, Vec<AgentIndex>> = BTreeMap::new();
    let mut admitted = Vec::new();
    demand.departures.offer(|departure| {
        let bodies = Bodies {
            ground: scene.ground,
            agents: agents.lent(),
            dynamics,
        };
        let lanelet = match departure.start {
            Start::Lane { lanelet, .. } => Some(lanelet),
            Start::Ground(_) => {
                // The grid is only built if an agent is about to be spawned off the lanes.
                index.locate(&bodies, scene.types);
                None
            }
        };
        let room = Room {
            bodies,
            types: scene.types,
            index,
            claims,
            appeared: &appeared,
        };
        if !room.is_there(&departure) {
            return Some(departure);
        }
        let pose = departure.start.pose(scene.ground);
        if lanelet.is_some() {
            // Only where there is room on the lane, because this takes O(agents).
            index.locate(&bodies, scene.types);
            let room = Room {
                bodies,
                types: scene.types,
                index,
                claims,
                appeared: &appeared,
            };
            let near = cells_around(pose).filter_map(|cell| by_cell.get(&cell));
            if !room.is_clear_of_bodies(&departure, near.flatten().copied()) {
                return Some(departure);
            }
        }
        // The agent gets its index before its planner has found a route. Otherwise, every attempt
        // to spawn a queued departure would cost a planner request.
        let level = level(scene, &departure, log);
        let agent = place(scene, departure, level, routes, agents);
        dynamics.insert(agent, level);
        appeared.entry(lanelet).or_default().push(agent);
        by_cell.entry(cell_of(pose)).or_default().push(agent);
        admitted.push(agent);
        None
    });
    admitted
}

/// A square of [`REACH`] metres, by its column and row.
type Cell = (i64, i64);

fn cell_of(pose: Pose) -> Cell {
    let cell = (pose.position / REACH).floor();
    (cell.x as i64, cell.y as i64)
}

/// Returns the cell of a pose and the cells around it.
fn cells_around(pose: Pose) -> impl Iterator<Item = Cell> {
    let (x, y) = cell_of(pose);
    (-1..=1).flat_map(move |column| (-1..=1).map(move |row| (x + column, y + row)))
}

/// Plans the routes of admitted agents and lets them drive. An agent without a route to its goals is refused.
/// The modules have already been notified of these agents.
pub(crate) fn depart(
    scene: AppearInputs<'_>,
    delays: &Delays,
    admitted: &[AgentIndex],
    exit: &mut Exit<'_>,
) {
    let clock = scene.clock;
    let pool = &scene.modules.pools.planner;
    let view = PlannerView {
        graph: scene.ground.graph(),
        delays: &delays.0,
    };
    let mut planned: BTreeMap<AgentIndex, Option<Route>> = BTreeMap::new();
    for (number, instance) in pool.instances.iter().enumerate() {
        let own = admitted.iter().filter(|&&agent| {
            let who = &exit.agents.identity[agent.index()];
            who.modules.of(roadwright_agent::Slot::Planner) as usize == number
                && exit.agents.position[agent.index()].is_on_lane()
        });
        let trips: Vec<(Trip, &Route)> = own.map(|&agent| trip(scene, exit, agent)).collect();
        if trips.is_empty() {
            continue;
        }
        let step = clock.moment(instance.rate);
        let routes = plan_legs(instance.module(), &view, &step, &trips);
        planned.extend(trips.iter().map(|(trip, _)| trip.agent).zip(routes));
    }
    for &agent in admitted {
        let index = agent.index();
        // An agent without a route is refused. Off the lanes, no planner is called, and the agent
        // drives straight to its goals.
        match planned.remove(&agent) {
            Some(None) => {
                let who = &exit.agents.identity[index];
                if scene.types.off_road(who.vehicle_type) == OffRoad::Never {
                    exit.messages.log.write(LogLine {
                        time: clock.time(),
                        agent: who.id,
                        module: "planner".into(),
                        text: format!("no path: {}", NoPath::NO_LANES),
                        is_fault: false,
                    });
                }
                exit.retire(agent, Status::Refused, clock.time());
            }
            Some(Some(route)) => {
                let mut travel = Travel {
                    routes: exit.routes,
                    progress: &mut exit.agents.progress[index],
                    claim: &mut exit.agents.claim[index],
                };
                travel.replan(route, clock.step);
                exit.agents.identity[index].phase = Phase::Driving;
            }
            None => {
                // The route counts as just planned, so that it is not replanned at once.
                exit.agents.progress[index].planned_at = clock.step;
                exit.agents.identity[index].phase = Phase::Driving;
            }
        }
    }
    exit.agents.touch();
}

fn trip<'a>(scene: AppearInputs<'_>, exit: &'a Exit<'_>, agent: AgentIndex) -> (Trip, &'a Route) {
    let index = agent.index();
    let (who, position) = (&exit.agents.identity[index], &exit.agents.position[index]);
    let trip = Trip {
        agent,
        id: who.id,
        start: LaneSpot {
            lanelet: position.lanelet,
            s: position.s,
        },
        class: scene.types.get(who.vehicle_type).class,
    };
    (trip, exit.routes.get(exit.agents.progress[index].route))
}

/// Dynamics level of an agent: the requested level if it supports the agent's trip, otherwise one
/// that does.
fn level(scene: AppearInputs<'_>, departure: &Departure, log: &mut Log) -> DynamicsLevel {
    let level = scene
        .levels
        .of(departure.dynamics, scene.types.body(departure.vehicle_type));
    let level = served(scene, departure, level, log);
    match departure.start {
        Start::Ground(_) => off_lanes(level, departure.id, scene.clock.time(), log),
        Start::Lane { .. } => level,
    }
}

/// Returns `level` if the vehicle file has all the values that the level needs. Otherwise, logs a
/// fault and returns `one_track`. Vehicles of the scenario are checked before the run, so this only
/// affects vehicles that modules add.
fn served(
    scene: AppearInputs<'_>,
    departure: &Departure,
    level: DynamicsLevel,
    log: &mut Log,
) -> DynamicsLevel {
    let missing = scene.types.missing(departure.vehicle_type, level);
    if missing.is_empty() {
        return level;
    }
    let (instead, keys) = (DynamicsLevel::OneTrack, missing.join(", "));
    log.write_fault(LogLine {
        time: scene.clock.time(),
        agent: departure.id,
        module: level.to_string(),
        text: format!("the vehicle file lacks {keys}, which level \"{level}\" needs; using \"{instead}\" instead"),
        is_fault: true,
    });
    instead
}

/// Returns the level that an agent on `level` uses off the lanes. Logs a fault if the two differ.
pub(crate) fn off_lanes(level: DynamicsLevel, id: u64, time: f64, log: &mut Log) -> DynamicsLevel {
    if !keeps_to_lanes(level) {
        return level;
    }
    let instead = DynamicsLevel::OneTrack;
    log.write_fault(LogLine {
        time,
        agent: id,
        module: level.to_string(),
        text: format!("level \"{level}\" keeps to lanes; using \"{instead}\" off the lanes"),
        is_fault: true,
    });
    instead
}

/// Returns the initial values of an agent's columns.
fn place(
    scene: AppearInputs<'_>,
    departure: Departure,
    level: DynamicsLevel,
    routes: &mut Routes,
    agents: &mut Agents,
) -> AgentIndex {
    let modules = scene.modules.stacks[departure.stack as usize];
    let kind = scene.types.get(departure.vehicle_type);
    let (lanelet, s) = match departure.start {
        Start::Lane { lanelet, s } => (lanelet, s),
        Start::Ground(_) => (NO_LANELET, 0.0),
    };
    let mut row = AgentRow {
        identity: Identity {
            id: departure.id,
            modules,
            vehicle_type: departure.vehicle_type,
            stack: departure.stack,
            phase: Phase::Planning,
            level,
        },
        motion: Motion {
            pose: departure.start.pose(scene.ground),
            // The agent cannot arrive there faster than its top speed.
            speed: departure.speed.min(kind.limits.max_speed),
            ..Motion::default()
        },
        position: LanePosition {
            lanelet,
            s,
            ..LanePosition::default()
        },
        progress: Progress {
            holds_arrival: scene.modules.holds_arrival(modules),
            ..Progress::default()
        },
        statistics: Statistics {
            started: scene.clock.time(),
            ..Statistics::default()
        },
        ..AgentRow::default()
    };
    let mut travel = Travel {
        routes,
        progress: &mut row.progress,
        claim: &mut row.claim,
    };
    travel.plan(Route::unplanned(departure.goals));
    agents.insert(row)
}

/// Creates the agents of flows whose departure is due.
fn flow_agents(scene: AppearInputs<'_>, demand: &mut Demand, time: f64) -> Vec<Departure> {
    let mut due = Vec::new();
    for flow in &mut demand.flows {
        while let Some(id) = flow.due(time) {
            let number = |names: &[String], name: &str| {
                crate::modules::number_of(names, name).unwrap_or_default()
            };
            due.push(Departure {
                id,
                time,
                start: flow.start,
                goals: flow.goals.clone(),
                speed: 0.0,
                vehicle_type: number(&scene.types.names, &flow.flow.vehicle),
                stack: number(&scene.modules.names, &flow.flow.stack),
                dynamics: flow.flow.dynamics,
            });
        }
    }
    due
}
