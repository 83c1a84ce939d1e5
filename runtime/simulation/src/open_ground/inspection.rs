//! Inspection of planning over open ground: costs of cells, forecasts, an agent's search, and the comparison of its
//! path with another one.

use super::live_map::LiveMap;
use super::plans::{AgentPlan, Planner};
use super::verdict::PathStatus;
use roadwright_agent::{GroundPlanning, GroundSearch};
use roadwright_geometry::{DVec2, Pose, polyline};
use roadwright_planning::open_ground::{
    Bounds, Cell, CellSize, Disagreement, DistanceEstimate, HybridParameters, HybridPath,
    LayerCost, NoEstimate, OpenGround, PLAIN, PathCosts, Reader, Reading, Rules, Search, Space,
    TileCache, Trip, Window,
};

/// Cells are reported up to this distance from the agent, in cells.
const MOST_CELLS_AROUND: f64 = 160.0;
/// Forecasts are reported up to this distance from the agent, m.
const AROUND: f64 = 100.0;
/// Maximum number of cells that a search over the whole map expands for an inspection.
const MOST_EXPANDED: u64 = 60_000;
/// Maximum number of points of a path that is compared with the planned one.
const MOST_POINTS: usize = 2_000;

/// Cost factor of plain ground in [`CellFactors`].
pub const PLAIN_FACTOR: u32 = PLAIN as u32;

/// Selection of the data to inspect for an agent off the lanes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroundQuestion {
    /// Whether to report the cost factors of cells around the agent.
    pub cells: bool,
    /// Whether to report forecasts.
    pub forecasts: bool,
    /// Whether to repeat the agent's search and report the expanded cells.
    pub search: bool,
    /// Path to compare with the planned one, m. There is no comparison if it has fewer than two
    /// points.
    pub other_path: Vec<DVec2>,
}

/// State of an agent's planning over open ground.
#[derive(Debug, Clone, PartialEq)]
pub struct GroundInspection {
    /// Id of the agent.
    pub agent: u64,
    /// Whether the agent has a path.
    pub status: PathStatus,
    /// Reason why the agent's driver disagrees with its plan; `None` if it does not. After a
    /// disagreement the agent replans, at most once per `pause` of the planner.
    pub disagreement: Option<Disagreement>,
    /// Time of the agent's last plan, s; `None` if it has none yet.
    pub planned_at: Option<f64>,
    /// Poses along the rest of the agent's path over open ground, as far as it is known. At a gear
    /// change, two poses have the same place.
    pub poses: Vec<PlannedPose>,
    /// Cost factors of the cells around the agent, if requested.
    pub cells: Option<CellFactors>,
    /// Outlines of the forecasts around the agent, if requested, m.
    pub forecasts: Vec<Vec<DVec2>>,
    /// The agent's search, if requested.
    pub search: Option<SearchOrder>,
    /// Comparison of the path that the agent's planner finds with the other path, if one is given.
    pub comparison: Option<PathComparison>,
}

/// A pose on the planned path of a vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedPose {
    /// Pose of the middle of the rear axle.
    pub pose: Pose,
    /// Gear in which the vehicle arrives at the pose: 1 forwards, -1 in reverse.
    pub gear: i8,
}

/// Cost factors of the cells in a rectangular area.
#[derive(Debug, Clone, PartialEq)]
pub struct CellFactors {
    /// South-western corner, m.
    pub origin: DVec2,
    /// Edge length of the cells, m.
    pub cell: f64,
    /// Number of columns.
    pub columns: u32,
    /// Number of rows.
    pub rows: u32,
    /// Cost factors row by row from the south-west; 16 for plain ground and 0 for blocked cells.
    pub factors: Vec<u32>,
}

/// A search of an agent, repeated in the current situation.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOrder {
    /// Edge length of the cells, m.
    pub cell: f64,
    /// Centres of the expanded cells in the order of expansion, m.
    pub expanded: Vec<DVec2>,
    /// Centres of the cells of the path that was found, m. The path leads to the goal or, if the
    /// search budget ran out, to the most promising cell. Empty if there is no path.
    pub path: Vec<DVec2>,
}

/// Comparison of a planned path with another path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathComparison {
    /// The path that the planner finds now.
    pub planned: PathReport,
    /// The other path.
    pub other: PathReport,
}

/// Length, time and cost of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathReport {
    /// Length, m.
    pub length: f64,
    /// Driving time, s.
    pub time: f64,
    /// Cost of the path.
    pub cost: u64,
    /// Cost that the path would have over plain ground.
    pub plain: u64,
    /// Contributions of cost layers, by name. Layers without a contribution are left out.
    pub layers: Vec<LayerShare>,
    /// Number of blocked cells on the path.
    pub blocked: u32,
}

/// Contribution of a cost layer to the cost of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerShare {
    /// Name of the layer.
    pub layer: &'static str,
    /// Contribution; negative if the layer makes cells cheaper.
    pub cost: i64,
}

/// Inspects an agent that plans over open ground. Searches on a copy of the map.
pub(super) fn inspect(
    live: &LiveMap,
    plan: &AgentPlan,
    agent: &Planner<'_>,
    question: &GroundQuestion,
) -> GroundInspection {
    let mut inspection = GroundInspection {
        agent: agent.id,
        status: plan.status().clone(),
        disagreement: None,
        planned_at: plan.planned_at,
        poses: Vec::new(),
        cells: None,
        forecasts: Vec::new(),
        search: None,
        comparison: None,
    };
    let other = &question.other_path[..question.other_path.len().min(MOST_POINTS)];
    let compares = other.len() > 1;
    if !(question.cells || question.forecasts || question.search || compares) {
        return inspection;
    }
    let mut map = live.map.without_tiles();
    let trip = plan.trip(&mut map, agent);
    let size = map.profile(trip.profile).cell;
    let reach = AROUND.min(MOST_CELLS_AROUND * size.metres());
    let area = Bounds {
        low: trip.from.position,
        high: trip.from.position,
    }
    .grown(reach);
    if question.cells {
        inspection.cells = factors(&mut map, &trip, area, size);
    }
    if question.forecasts {
        let drops = map.forecasts(area, trip.owner);
        inspection.forecasts = drops.iter().map(|drop| drop.outline()).collect();
    }
    if question.search || compares {
        let rules = Rules::from(&agent.planning);
        let found = search(&mut map, &trip, plan, &agent.planning);
        if compares {
            let report = |cells: &[Cell], points: &[DVec2]| {
                let costs = map.path_costs(trip.profile, trip.owner, cells, rules);
                PathReport::new(costs, polyline::length(points), agent.top_speed)
            };
            inspection.comparison = Some(PathComparison {
                planned: report(&found.path, &centres(&found.path, size)),
                other: report(&size.cells_along(other), other),
            });
        }
        if question.search {
            inspection.search = Some(SearchOrder {
                cell: size.metres(),
                expanded: centres(&found.expanded, size),
                path: centres(&found.path, size),
            });
        }
    }
    inspection
}

fn centres(cells: &[Cell], size: CellSize) -> Vec<DVec2> {
    cells.iter().map(|cell| size.centre(*cell)).collect()
}

fn factors(map: &mut OpenGround, trip: &Trip, area: Bounds, size: CellSize) -> Option<CellFactors> {
    let window = Window::around([area.low, area.high], 0.0, size);
    let reading = Reading::Everything;
    let cells = map.window(trip.profile, trip.owner, reading, window).ok()?;
    let half = DVec2::splat(0.5 * size.metres());
    Some(CellFactors {
        origin: size.centre(window.origin) - half,
        cell: size.metres(),
        columns: window.columns,
        rows: window.rows,
        factors: cells.cells().map(|cell| cells.factor_at(cell)).collect(),
    })
}

/// Result of a search: the expanded cells and the path.
struct Found {
    expanded: Vec<Cell>,
    path: Vec<Cell>,
}

/// Repeats the search of an agent's planner. For planners that repair their last plan or share a
/// cost field, searches from the agent like `grid_path`.
fn search(map: &mut OpenGround, trip: &Trip, plan: &AgentPlan, planning: &GroundPlanning) -> Found {
    match planning.search {
        GroundSearch::Bounded { budget } => {
            let mut planner = HybridPath::new(HybridParameters {
                rules: planning.into(),
                budget: budget * plan.budget_factor(planning),
                ..HybridParameters::default()
            });
            let mut memory = plan.memory().clone();
            memory.set_stamp(map.stamp());
            planner.restore(memory);
            let explained = planner.explain(map, trip, plan.costs());
            Found {
                expanded: explained.expanded,
                path: explained.plan.path.cells,
            }
        }
        GroundSearch::Whole { is_guided: false } => whole(map, trip, planning, None),
        GroundSearch::Whole { is_guided: true }
        | GroundSearch::FlowField
        | GroundSearch::Incremental
        | GroundSearch::Drivable { .. }
        | GroundSearch::Straight
        | GroundSearch::MoveTree(_) => {
            let smallest = map.smallest_factor(trip.profile);
            whole(map, trip, planning, Some(smallest))
        }
    }
}

/// Searches the whole map with A*, guided by the smallest cost factor on the map, or with
/// Dijkstra's algorithm.
fn whole(
    map: &mut OpenGround,
    trip: &Trip,
    planning: &GroundPlanning,
    smallest_factor: Option<u32>,
) -> Found {
    let rules: Rules = planning.into();
    let reader = Reader {
        profile: trip.profile,
        owner: trip.owner,
        reading: Reading::Everything,
    };
    let mut cache = TileCache::new(map, reader);
    let mut space = cache.space(map);
    let ends = space
        .open(trip.to)
        .and_then(|goal| Ok((space.open(trip.from)?, goal)));
    let Ok((start, goal)) = ends else {
        return Found {
            expanded: Vec::new(),
            path: Vec::new(),
        };
    };
    let mut search = Search::default();
    match smallest_factor {
        Some(smallest_factor) => {
            let estimate = DistanceEstimate {
                goal: space.cell(goal),
                rules,
                smallest_factor,
            };
            search.begin(&mut space, rules, &estimate, start, Some(goal));
            search.advance(&mut space, &estimate, MOST_EXPANDED);
        }
        None => {
            search.begin(&mut space, rules, &NoEstimate, start, Some(goal));
            search.advance(&mut space, &NoEstimate, MOST_EXPANDED);
        }
    }
    let path = search.path_to(&mut space, goal);
    Found {
        expanded: search
            .closed()
            .iter()
            .map(|node| space.cell(*node))
            .collect(),
        path: path.unwrap_or_default().cells,
    }
}

impl PathReport {
    fn new(costs: PathCosts, length: f64, speed: f64) -> Self {
        let factor = match costs.plain {
            0 => 1.0,
            plain => costs.cost as f64 / plain as f64,
        };
        let share = |share: &LayerCost| LayerShare {
            layer: share.layer.name(),
            cost: share.cost,
        };
        Self {
            length,
            time: length / speed * factor,
            cost: costs.cost,
            plain: costs.plain,
            layers: costs.layers.iter().map(share).collect(),
            blocked: costs.blocked,
        }
    }
}
