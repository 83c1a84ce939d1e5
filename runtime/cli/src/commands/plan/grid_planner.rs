//! A common interface to planners that find the path between two cells of a map.

use super::Planner;
use roadwright_geometry::{DVec2, Pose};
use roadwright_planning::open_ground::{
    Body, Cell, CellPath, CellSize, FlowField, GridMap, GridPath, Guide, HybridParameters,
    HybridPath, IncrementalPath, ObstacleCosts, OpenGround, Paint, PlanEnd, Profile, ProfileId,
    Rules, Spot, Trip,
};

/// A planner on a map.
pub(super) enum GridPlanner {
    Search(GridMap, Box<GridPath>),
    FlowField(GridMap),
    Incremental(Box<IncrementalPath>),
    Hybrid(Box<Hybrid>),
}

/// Planner state of `hybrid_fuzzy_path`: the map divided into tiles, and the maximum number of expansions per
/// search.
pub(super) struct Hybrid {
    ground: OpenGround,
    profile: ProfileId,
    budget: u64,
    /// Number of cells of the map, which is used to detect endless drives.
    area: u64,
}

/// The result of planning a path.
pub(super) struct Planned {
    pub(super) path: Option<CellPath>,
    pub(super) expanded: u64,
}

impl GridPlanner {
    pub(super) fn new(planner: Planner, map: GridMap, budget: u64) -> Self {
        let rules = Rules::MOVING_AI;
        let search = |map, guide| Self::Search(map, Box::new(GridPath::new(rules, guide)));
        match planner {
            Planner::GridPath => search(map, Guide::AStar),
            Planner::Dijkstra => search(map, Guide::Dijkstra),
            Planner::FlowField => Self::FlowField(map),
            Planner::IncrementalPath => {
                let goal = map.origin();
                Self::Incremental(Box::new(IncrementalPath::new(map, rules, goal)))
            }
            Planner::HybridFuzzyPath => Self::Hybrid(Box::new(Hybrid::new(&map, budget))),
        }
    }

    /// Finds the path between two cells.
    pub(super) fn find(&mut self, start: Cell, goal: Cell) -> Planned {
        match self {
            Self::Search(map, planner) => {
                let answer = planner.find(map, start, goal);
                Planned {
                    path: answer.path().cloned(),
                    expanded: planner.expanded(),
                }
            }
            Self::FlowField(map) => {
                let mut field = FlowField::by_search(map, Rules::MOVING_AI, goal);
                Planned {
                    path: field.path_from(start),
                    expanded: field.work(),
                }
            }
            Self::Incremental(planner) => {
                planner.set_goal(goal);
                let answer = planner.plan(start);
                Planned {
                    path: answer.path().cloned(),
                    expanded: planner.expanded(),
                }
            }
            Self::Hybrid(hybrid) => hybrid.drive(start, goal),
        }
    }
}

impl Hybrid {
    fn new(map: &GridMap, budget: u64) -> Self {
        let mut ground = OpenGround::new();
        // A body without extent, which fits into every free cell.
        let body = Body {
            length: 0.0,
            width: 0.0,
            height: 1.0,
            ground_clearance: 0.0,
        };
        let profile = Profile {
            costs: ObstacleCosts::NONE,
            ..Profile::new(body, CellSize::WAY_POINTS)
        };
        let profile = ground.add_profile(profile);
        let mut block = |cell| {
            ground.paint(0, CellSize::WAY_POINTS, cell, Paint::Block);
        };
        for cell in map.cells().filter(|cell| map.factor_at(*cell) == 0) {
            block(cell);
        }
        let (columns, rows) = (map.columns() as i32, map.rows() as i32);
        for x in -1..=columns {
            block(Cell::new(x, -1));
            block(Cell::new(x, rows));
        }
        for y in 0..rows {
            block(Cell::new(-1, y));
            block(Cell::new(columns, y));
        }
        Self {
            ground,
            profile,
            budget,
            area: map.area(),
        }
    }

    /// Follows each plan to its end and plans again from there until the goal is reached.
    fn drive(&mut self, start: Cell, goal: Cell) -> Planned {
        let size = CellSize::WAY_POINTS;
        let mut planner = HybridPath::new(HybridParameters {
            rules: Rules::MOVING_AI,
            budget: self.budget,
            ..HybridParameters::default()
        });
        let centre = |cell: Cell| -> DVec2 { size.centre(cell) };
        let mut driven = CellPath {
            cells: vec![start],
            cost: 0,
        };
        let mut expanded = 0;
        let mut at = start;
        while (driven.cells.len() as u64) < 100 * self.area {
            let place = centre(at);
            let trip = Trip {
                profile: self.profile,
                owner: None,
                from: Spot::at(Pose::new(place.x, place.y, 0.0)),
                to: Spot::anyhow(centre(goal)),
            };
            let plan = planner.plan(&mut self.ground, &trip, 0.0);
            expanded += plan.expanded;
            driven.cost += plan.path.cost;
            driven.cells.extend(plan.path.cells.iter().skip(1));
            match (plan.end, plan.path.cells.last()) {
                (PlanEnd::Goal, _) => {
                    return Planned {
                        path: Some(driven),
                        expanded,
                    };
                }
                (PlanEnd::Budget, Some(end)) if *end != at => at = *end,
                _ => break,
            }
        }
        Planned {
            path: None,
            expanded,
        }
    }
}
