//! Inspection of one road: the vehicles and free cells of each lane, and the route and next stop of
//! each vehicle.

use super::junction::{foremost_first, goes, path_of};
use super::path_ahead;
use crate::records::AgentIndex;
use crate::standing::StopTarget;
use crate::traffic::LaneEntry;
use crate::world::World;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_scenario::alleys::AlleySide;
use roadwright_scenario::junction::{Light, Turn};
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind};
use roadwright_scenario::{Connection, NodeId, RoadId};

/// Length of a car plus its gap in a queue, m. It is the minimum length of a cell.
const CAR_AND_GAP: f64 = 4.5 + 2.0;
/// A body occupies a cell if it extends into the cell by more than this, m.
const TOUCH: f64 = 0.1;
/// Paths and stops of vehicles are reported up to this distance ahead, m.
const REACH: f64 = 120.0;

/// State of a road for inspection.
#[derive(Debug, Clone, PartialEq)]
pub struct RoadInspection {
    /// Id of the road.
    pub road: RoadId,
    /// Drivable lanes of the road, by lane id, then by lane section.
    pub lanes: Vec<LaneInspection>,
    /// Stretches along the road where two cars do not fit side by side.
    pub alleys: Vec<AlleyInspection>,
}

/// A stretch of a road that both directions use in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct AlleyInspection {
    /// Start and end along the road, m.
    pub span: (f64, f64),
    /// Agents that have been admitted: in the direction of the road (first list) and in the
    /// opposite direction (second list). Only one list is non-empty, unless an agent entered
    /// without a grant.
    pub inside: [Vec<u64>; 2],
    /// Agents at the front of their lane that wait for the alley: in the direction of the road
    /// (first list) and in the opposite direction (second list).
    pub waiting: [Vec<u64>; 2],
}

/// A lane within one lane section of a road.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneInspection {
    /// OpenDRIVE id of the lane.
    pub lane: i8,
    /// Index of the lane section.
    pub section: u16,
    /// Length, m.
    pub length: f64,
    /// Mean width, m.
    pub width: f64,
    /// Cells of the lane from its start, each one car length and gap long.
    pub cells: Vec<RoadCell>,
    /// Vehicles on the lane, foremost first.
    pub vehicles: Vec<RoadVehicle>,
    /// Junction that the lane leads into; `None` if the lane continues or ends.
    pub leads_to: Option<NodeId>,
    /// Whether a vehicle could now enter any connection at the lane's end.
    pub goes: bool,
    /// Most permissive light of the lane's connections, if the junction has signal control.
    pub light: Option<Light>,
    /// Pose at the lane's end, in driving direction.
    pub end: Pose,
}

/// A cell of a lane, one car length long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoadCell {
    /// Pose at the cell's middle, in driving direction.
    pub middle: Pose,
    /// Length, m.
    pub length: f64,
    /// Foremost agent whose body is in the cell; `None` if it is free.
    pub occupant: Option<u64>,
}

/// A vehicle on a lane.
#[derive(Debug, Clone, PartialEq)]
pub struct RoadVehicle {
    /// Id of the agent.
    pub agent: u64,
    /// Position of the vehicle's rear axle along the lane, m.
    pub s: f64,
    /// Speed, m/s.
    pub speed: f64,
    /// Next lane of the vehicle's route; `None` if its route ends on its current lane.
    pub next: Option<PlannedLane>,
    /// Next stop of the vehicle within 120 m.
    pub stop: Option<StopTarget>,
    /// Path of the vehicle over the next 120 m, extended to the end of the last lane, m.
    pub path: Vec<DVec2>,
}

/// A lane to which a route leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedLane {
    /// Road of the lane.
    pub road: RoadId,
    /// Id of the lane.
    pub lane: i8,
    /// Turn of the connection to the lane; `None` if the lane is adjacent or follows without a junction.
    pub turn: Option<Turn>,
}

/// Returns the state of a road for inspection; `None` if it has no drivable lane.
pub(crate) fn inspect(world: &World, road: RoadId) -> Option<RoadInspection> {
    let lanes = world.lane_graph().lanes_of(road);
    let pieces = lanes.flat_map(|(_, pieces)| pieces);
    let lanes: Vec<_> = pieces.filter_map(|&piece| lane(world, piece)).collect();
    (!lanes.is_empty()).then(|| RoadInspection {
        road,
        lanes,
        alleys: alleys(world, road),
    })
}

/// Alleys of a road. O(vehicles) if it has any.
fn alleys(world: &World, road: RoadId) -> Vec<AlleyInspection> {
    let (graph, alleys) = (world.lane_graph(), world.ground().alleys());
    let mut seen = Vec::new();
    for (number, alley) in (0..).zip(alleys.list()) {
        let direction = alley.directions[0];
        if graph.lanelet(direction.lanelet).road() != Some(road) {
            continue;
        }
        let claims = &world.traffic.claims;
        let id = |agent: AgentIndex| world.agents.identity[agent.index()].id;
        let sides = AlleySide::both(number);
        let sorted = |agents: Vec<AgentIndex>| {
            let mut ids: Vec<u64> = agents.into_iter().map(id).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let lanelet = graph.lanelet(direction.lanelet);
        seen.push(AlleyInspection {
            span: (lanelet.road_s(direction.from), lanelet.road_s(direction.to)),
            inside: sides.map(|side| sorted(claims.alleys.holders(side).collect())),
            waiting: sides
                .map(|side| sorted(claims.waiting_for(side, world.setting(), world.agents.lent()))),
        });
    }
    seen
}

fn lane(world: &World, id: LaneletIndex) -> Option<LaneInspection> {
    let graph = world.lane_graph();
    let lanelet = graph.lanelet(id);
    let LaneletKind::Lane { lane, section, .. } = lanelet.kind else {
        return None;
    };
    let paths = || {
        graph
            .successors(id)
            .iter()
            .filter_map(|&next| path_of(graph, next))
    };
    let (ground, signals) = (world.ground(), &world.traffic.signals);
    let junction = paths().next().map(|Connection { junction, .. }| junction);
    let has_signals = junction.is_some_and(|junction| ground.signals(junction).is_some());
    let vehicles = foremost_first(world, id);
    Some(LaneInspection {
        lane,
        section,
        length: lanelet.length(),
        width: lanelet.width,
        cells: cells(world, id),
        vehicles: vehicles.map(|entry| vehicle(world, entry)).collect(),
        leads_to: junction.and_then(|junction| ground.node(junction)),
        // Vehicles never wait at the end of a lane that continues without a junction.
        goes: junction.is_none() || paths().any(|path| goes(world, path)),
        light: has_signals
            .then(|| paths().map(|path| signals.light(ground, path)).max())
            .flatten(),
        end: graph.line(id).pose(lanelet.length()),
    })
}

// Bodies extend over the ends of lanelets, so bodies on the adjoining lanelets count as well:
//
//   before             | this lanelet                  | after
//          [A--------- | ---]          [B---]    [C--- | ---------]
//                      |  x  |     |     |  x  |  x  | |
fn cells(world: &World, id: LaneletIndex) -> Vec<RoadCell> {
    let graph = world.lane_graph();
    let (line, length) = (graph.line(id), graph.lanelet(id).length());
    let index = &world.traffic.index;
    let mut bodies: Vec<(f64, f64, u64)> = Vec::new();
    let mut add = |entries: &[LaneEntry], shift: f64| {
        for entry in entries {
            let who = &world.agents.identity[entry.agent.index()];
            let body = world.types.get(who.vehicle_type);
            let s = entry.s + shift;
            bodies.push((s - body.rear_overhang, s + body.front, who.id));
        }
    };
    add(index.on_lanelet(id), 0.0);
    for &before in graph.predecessors(id) {
        add(index.on_lanelet(before), -graph.lanelet(before).length());
    }
    for &after in graph.successors(id) {
        add(index.on_lanelet(after), length);
    }
    // The length is divided evenly, so that no shorter cell remains at the end.
    let count = (length / CAR_AND_GAP).floor().max(1.0);
    let size = length / count;
    let cell = |number: u32| {
        let from = f64::from(number) * size;
        let here = bodies
            .iter()
            .filter(|(rear, front, _)| *rear < from + size - TOUCH && *front > from + TOUCH);
        let foremost = here.max_by(|a, b| a.1.total_cmp(&b.1).then(b.2.cmp(&a.2)));
        RoadCell {
            middle: line.pose(from + 0.5 * size),
            length: size,
            occupant: foremost.map(|(.., agent)| *agent),
        }
    };
    (0..count as u32).map(cell).collect()
}

fn vehicle(world: &World, entry: &LaneEntry) -> RoadVehicle {
    let index = entry.agent.index();
    RoadVehicle {
        agent: world.agents.identity[index].id,
        s: entry.s,
        speed: world.agents.motion[index].speed,
        next: next_lane(world, entry.agent),
        stop: world.standing().stop(entry.agent, REACH),
        path: path_ahead(&world.view(), entry.agent, REACH),
    }
}

fn next_lane(world: &World, agent: AgentIndex) -> Option<PlannedLane> {
    let graph = world.lane_graph();
    let progress = &world.agents.progress[agent.index()];
    let route = world.routes.get(progress.route);
    let mut turn = None;
    let mut at = progress.at;
    loop {
        at += 1;
        match graph.lanelet(route.lanelet(at)?).kind {
            LaneletKind::Lane { road, lane, .. } => return Some(PlannedLane { road, lane, turn }),
            LaneletKind::Connection {
                turn: direction, ..
            } => turn = Some(direction),
        }
    }
}
