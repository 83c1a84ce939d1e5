//! Path searches of planners on the map of a world.

use roadwright_agent::{GroundPlanning, GroundSearch};
use roadwright_geometry::DVec2;
use roadwright_planning::open_ground::{
    Cell, CellPath, CellSize, Change, DistanceEstimate, FactorChange, GoalCosts, GridAnswer,
    GridMap, HybridMemory, HybridParameters, HybridPath, IncrementalPath, NoEstimate, OpenGround,
    PlanEnd, ProfileId, Progress, Reader, Reading, Rules, Search, Space, Stamp, TileCache, Trip,
    Window,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of cells that a search over the whole map expands. It is large, because such a
/// search runs only if a path is known to exist.
const MOST: u64 = 1_000_000;
/// The map of `incremental_path` extends this far beyond start and goal, m.
const BEYOND: f64 = 40.0;
/// Maximum number of cells along an edge of the map of `incremental_path`.
const LONGEST_EDGE: u32 = 2048;
/// Maximum distance from a blocked start or goal to the free cell that replaces it, in cells.
const RING: i32 = 6;

/// A path found by a search.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Centres of the cells of the path, beginning at the agent; empty if there is no path yet.
    pub(super) points: Vec<DVec2>,
    pub(super) end: PlanEnd,
    /// Number of cells that the search has expanded; 0 if it is not counted.
    pub(super) expanded: u64,
}

impl Found {
    fn none(end: PlanEnd) -> Self {
        Self {
            points: Vec::new(),
            end,
            expanded: 0,
        }
    }

    fn over(cells: &CellPath, size: CellSize) -> Self {
        Self {
            points: cells.cells.iter().map(|cell| size.centre(*cell)).collect(),
            end: PlanEnd::Goal,
            expanded: 0,
        }
    }
}

/// Saved form of the part of the map that `incremental_path` keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedWindow {
    x: i32,
    y: i32,
    columns: u32,
    rows: u32,
}

/// Costs to goals, shared by all agents with the same goal and profile. They are recomputed when
/// the map changes.
#[derive(Default)]
pub(super) struct Fields(BTreeMap<FieldKey, Field>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FieldKey {
    profile: ProfileId,
    goal: (i32, i32),
}

/// A search from a goal. The search continues whenever an agent needs a path from a cell that the
/// search has not reached yet.
struct Field {
    cache: TileCache,
    search: Search,
}

/// Map, trip and settings of a search.
pub(super) struct Seeker<'a> {
    pub(super) map: &'a mut OpenGround,
    pub(super) hybrid: &'a mut HybridPath,
    pub(super) fields: &'a mut Fields,
    pub(super) planning: &'a GroundPlanning,
    pub(super) trip: Trip,
    /// Factor on the usual budget of a bounded search.
    pub(super) budget_factor: u64,
    /// Costs to the goal that guide a bounded search; `None` if they are not known.
    pub(super) costs: Option<&'a GoalCosts>,
    pub(super) now: f64,
}

impl Seeker<'_> {
    /// Searches for a path. Updates the state that the agent keeps for its planner.
    pub(super) fn find(
        &mut self,
        memory: &mut HybridMemory,
        window: &mut Option<SavedWindow>,
        incremental: &mut Option<IncrementalPath>,
    ) -> Found {
        match self.planning.search {
            GroundSearch::Straight | GroundSearch::MoveTree(_) => Found::none(PlanEnd::Budget),
            GroundSearch::Whole { is_guided } => self.whole(is_guided),
            // Only used for goals that are too far away for a drivable path.
            GroundSearch::Drivable { .. } => self.whole(true),
            GroundSearch::FlowField => self.along_field(),
            GroundSearch::Bounded { budget } => self.bounded(budget, memory),
            GroundSearch::Incremental => self.repaired(window, incremental),
        }
    }

    fn rules(&self) -> Rules {
        self.planning.into()
    }

    /// Cells of the agent and its goal; `None` if either is off the map.
    fn ends(&self) -> Option<(Cell, Cell)> {
        let size = self.size();
        let start = size.cell_of(self.trip.from.position)?;
        Some((start, size.cell_of(self.trip.to.position)?))
    }

    fn size(&self) -> CellSize {
        self.map.profile(self.trip.profile).cell
    }

    fn bounded(&mut self, budget: u64, memory: &mut HybridMemory) -> Found {
        self.hybrid.set_parameters(HybridParameters {
            rules: self.rules(),
            budget: budget * self.budget_factor,
            near: self.planning.near,
            ahead: self.planning.ahead,
            pause: self.planning.pause,
        });
        // The changes of the map since the last plan have already been applied.
        memory.set_stamp(self.map.stamp());
        self.hybrid.restore(std::mem::take(memory));
        let rules = self.rules();
        let costs = self.costs.filter(|costs| costs.serves(&self.trip, rules));
        let plan = self.hybrid.plan_with(self.map, &self.trip, self.now, costs);
        *memory = self.hybrid.take_memory();
        memory.set_stamp(Stamp::default());
        Found {
            points: plan.points,
            end: plan.end,
            expanded: plan.expanded,
        }
    }

    fn whole(&mut self, is_guided: bool) -> Found {
        let rules = self.rules();
        let reader = Reader {
            profile: self.trip.profile,
            owner: self.trip.owner,
            reading: Reading::Everything,
        };
        let size = self.size();
        let mut cache = TileCache::new(self.map, reader);
        let mut space = cache.space(self.map);
        let opened = space
            .open(self.trip.to)
            .and_then(|goal| Ok((space.open(self.trip.from)?, goal)));
        let (start, goal) = match opened {
            Ok(nodes) => nodes,
            Err(error) => return Found::none(PlanEnd::Spot(error)),
        };
        let mut search = Search::default();
        let progress = if is_guided {
            let estimate = DistanceEstimate {
                goal: space.cell(goal),
                rules,
                smallest_factor: space.smallest_factor(),
            };
            search.begin(&mut space, rules, &estimate, start, Some(goal));
            search.advance(&mut space, &estimate, MOST)
        } else {
            search.begin(&mut space, rules, &NoEstimate, start, Some(goal));
            search.advance(&mut space, &NoEstimate, MOST)
        };
        match progress {
            Progress::Found => search
                .path_to(&mut space, goal)
                .map_or(Found::none(PlanEnd::WalledIn), |path| {
                    Found::over(&path, size)
                }),
            Progress::Searching => Found::none(PlanEnd::Budget),
            Progress::Exhausted => Found::none(PlanEnd::WalledIn),
        }
    }

    /// Finds a path along the cost field of the agent's goal. The field is shared, so it includes
    /// the costs that the agent itself causes.
    fn along_field(&mut self) -> Found {
        let size = self.size();
        let profile = self.trip.profile;
        let Some((start, goal)) = self.ends() else {
            return Found::none(PlanEnd::WalledIn);
        };
        let rules = self.rules();
        let mut is_free = |cell| self.map.factor(profile, cell, Reading::Everything) > 0;
        let goal = nearest_free(goal, &mut is_free);
        let start = nearest_free(start, &mut is_free);
        let (Some(start), Some(goal)) = (start, goal) else {
            return Found::none(PlanEnd::WalledIn);
        };
        let key = FieldKey {
            profile,
            goal: (goal.x, goal.y),
        };
        let known = self.fields.0.get(&key);
        if known.is_none_or(|field| field.cache.change(self.map) != Change::Unchanged) {
            let reader = Reader {
                profile,
                owner: None,
                reading: Reading::Everything,
            };
            let mut cache = TileCache::new(self.map, reader);
            let mut search = Search::default();
            let mut space = cache.space(self.map);
            if let Some(goal) = space.node(goal) {
                search.begin(&mut space, rules, &NoEstimate, goal, None);
            }
            self.fields.0.insert(key, Field { cache, search });
        }
        let Some(field) = self.fields.0.get_mut(&key) else {
            return Found::none(PlanEnd::Budget);
        };
        field.path_from(self.map, start, size)
    }

    fn repaired(
        &mut self,
        window: &mut Option<SavedWindow>,
        incremental: &mut Option<IncrementalPath>,
    ) -> Found {
        let size = self.size();
        let Some((start, goal)) = self.ends() else {
            return Found::none(PlanEnd::WalledIn);
        };
        let beyond = (BEYOND / size.metres()).ceil() as i32;
        loop {
            let fits = window.is_some_and(|window| window.holds(start) && window.holds(goal));
            if !fits {
                *window = SavedWindow::around(start, goal, beyond);
                *incremental = None;
            }
            let Some(kept) = *window else {
                return Found::none(PlanEnd::Budget);
            };
            let Some(map) = self.read(kept) else {
                return Found::none(PlanEnd::Budget);
            };
            let is_free = |cell: Cell| map.index_of(cell).is_some_and(|n| map.factor(n) > 0);
            let ends = (nearest_free(start, is_free), nearest_free(goal, is_free));
            let (Some(from), Some(to)) = ends else {
                return Found::none(PlanEnd::WalledIn);
            };
            match self.repair(map, incremental, from, to) {
                GridAnswer::Found(path) => return Found::over(&path, size),
                GridAnswer::NoPath => match kept.larger() {
                    // The path may lead outside the window, so a larger one is tried.
                    Some(larger) => {
                        *window = Some(larger);
                        *incremental = None;
                    }
                    None => return Found::none(PlanEnd::WalledIn),
                },
            }
        }
    }

    fn read(&mut self, window: SavedWindow) -> Option<GridMap> {
        let Trip { profile, owner, .. } = self.trip;
        let read = self
            .map
            .window(profile, owner, Reading::Everything, window.into());
        read.ok()
    }

    fn repair(
        &self,
        map: GridMap,
        incremental: &mut Option<IncrementalPath>,
        from: Cell,
        to: Cell,
    ) -> GridAnswer {
        let rules = self.rules();
        let planner = match incremental {
            Some(planner) => {
                let changes = changes(planner.map(), &map);
                planner.set_goal(to);
                planner.change(&changes);
                planner
            }
            None => incremental.insert(IncrementalPath::new(map, rules, to)),
        };
        planner.plan_uniquely(from)
    }
}

impl Field {
    fn path_from(&mut self, map: &mut OpenGround, start: Cell, size: CellSize) -> Found {
        let mut space = self.cache.space(map);
        let Some(node) = space.node(start) else {
            return Found::none(PlanEnd::WalledIn);
        };
        let left = |search: &Search| MOST.saturating_sub(search.expanded());
        loop {
            if self.search.is_closed(node) {
                break;
            }
            let budget = left(&self.search).min(4096);
            if budget == 0 {
                return Found::none(PlanEnd::Budget);
            }
            if self.search.advance(&mut space, &NoEstimate, budget) == Progress::Exhausted
                && !self.search.is_closed(node)
            {
                return Found::none(PlanEnd::WalledIn);
            }
        }
        let path = self.search.path_to(&mut space, node);
        let mut found = path.map_or(Found::none(PlanEnd::WalledIn), |path| {
            Found::over(&path, size)
        });
        found.points.reverse();
        found
    }
}

impl SavedWindow {
    /// Creates the window around two cells; `None` if it would be too large.
    fn around(a: Cell, b: Cell, beyond: i32) -> Option<Self> {
        let low = Cell::new(a.x.min(b.x) - beyond, a.y.min(b.y) - beyond);
        let high = Cell::new(a.x.max(b.x) + beyond, a.y.max(b.y) + beyond);
        let (columns, rows) = (high.x.abs_diff(low.x) + 1, high.y.abs_diff(low.y) + 1);
        (columns.max(rows) <= LONGEST_EDGE).then_some(Self {
            x: low.x,
            y: low.y,
            columns,
            rows,
        })
    }

    /// Returns the window enlarged by half its size on all sides; `None` if it would be too large.
    fn larger(self) -> Option<Self> {
        let beyond = (self.columns.max(self.rows) / 2) as i32;
        let high = Cell::new(
            self.x + self.columns as i32 - 1,
            self.y + self.rows as i32 - 1,
        );
        Self::around(Cell::new(self.x, self.y), high, beyond)
    }

    fn holds(self, cell: Cell) -> bool {
        let inside = |at: i32, low: i32, count: u32| at >= low && at.abs_diff(low) < count;
        inside(cell.x, self.x, self.columns) && inside(cell.y, self.y, self.rows)
    }
}

impl From<SavedWindow> for Window {
    fn from(window: SavedWindow) -> Self {
        Self {
            origin: Cell::new(window.x, window.y),
            columns: window.columns,
            rows: window.rows,
        }
    }
}

/// Finds the cells that differ between two maps of the same window.
fn changes(before: &GridMap, now: &GridMap) -> Vec<FactorChange> {
    let origin = now.origin();
    let mut changes = Vec::new();
    for y in 0..now.rows() as i32 {
        for x in 0..now.columns() as i32 {
            let cell = Cell::new(origin.x + x, origin.y + y);
            let factor = now.factor_at(cell);
            if before.factor_at(cell) != factor {
                changes.push(FactorChange { cell, factor });
            }
        }
    }
    changes
}

/// Returns `cell` if it is free, otherwise the nearest free cell. If several are equally near,
/// returns the one with the smallest row, then the smallest column. `None` if there is no free cell
/// within a few cells.
fn nearest_free(cell: Cell, mut is_free: impl FnMut(Cell) -> bool) -> Option<Cell> {
    if is_free(cell) {
        return Some(cell);
    }
    let mut around: Vec<Cell> = (-RING..=RING)
        .flat_map(|y| (-RING..=RING).map(move |x| Cell::new(cell.x + x, cell.y + y)))
        .collect();
    let squared = |other: &Cell| {
        let away = other.distance(cell);
        away.columns * away.columns + away.rows * away.rows
    };
    around.sort_by_key(|other| (squared(other), other.y, other.x));
    around.into_iter().find(|other| is_free(*other))
}
