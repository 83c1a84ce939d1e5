//! `hybrid_fuzzy_path`: searches of bounded size for agents that drive while they plan.
//!
//! A search ends when its budget of expansions is spent, and the agent drives to the cell that looked best at
//! that point ([Gerdelan 2011], chapter 6). To avoid returning to the same place, the planner learns: the
//! cost from an expanded cell is at least the cost of leaving the expanded area (RTAA*, [Koenig 2006]).

use super::cell::{Cell, NodeIndex};
use super::cost::Rules;
use super::explain::ExplainedPlan;
use super::goal_costs::GoalCosts;
use super::ground::{Change, OpenGround, ProfileId, Reading, Stamp};
use super::item::Owner;
use super::raster::{TILE_CELLS, TileKey};
use super::search::{CellPath, DistanceEstimate, Estimate, Progress, Search};
use super::space::Space;
use super::tile_space::{Reader, Spot, SpotError, TileCache};
use roadwright_geometry::{DVec2, Pose};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parameters of the planner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HybridParameters {
    /// Rules for steps between cells.
    pub rules: Rules,
    /// Maximum number of cells that each search expands.
    pub budget: u64,
    /// Lookahead distance to the waypoint at standstill, m.
    pub near: f64,
    /// Additional lookahead to the waypoint, as a travel time at the current speed, s.
    pub ahead: f64,
    /// Minimum time between replans after the driver has left the path, s.
    pub pause: f64,
}

impl Default for HybridParameters {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            budget: 4000,
            // If waypoints are closer than a few vehicle lengths, the speed oscillates ([Gerdelan 2011],
            // section 6.3).
            near: 8.0,
            ahead: 2.0,
            pause: 0.25,
        }
    }
}

/// A trip to be planned: the agent's vehicle, its current spot and its goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trip {
    /// Profile of the agent's vehicle.
    pub profile: ProfileId,
    /// Agent that makes the trip; its own items are ignored.
    pub owner: Option<Owner>,
    /// Current spot of the agent.
    pub from: Spot,
    /// Goal of the agent.
    pub to: Spot,
}

/// End of a plan, or the reason why there is no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanEnd {
    /// The path ends at the goal.
    Goal,
    /// The path ends at the cell that looked best when the budget was spent.
    Budget,
    /// There is no plan, because all reachable cells have been expanded. Only
    /// [`Reachability`](super::Reachability), which uses finer cells, can prove that there is no path.
    WalledIn,
    /// There is no plan, because the agent or its goal overlaps an obstacle or is outside the world.
    Spot(SpotError),
}

/// A path to the goal, or to the cell at which the search ended.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridPlan {
    /// The path; empty if there is none.
    pub path: CellPath,
    /// Centres of the cells of the path, m.
    pub points: Vec<DVec2>,
    /// End of the path, or the reason why there is none.
    pub end: PlanEnd,
    /// Number of expanded cells, including those expanded for learning.
    pub expanded: u64,
}

/// Learned lower bounds of the costs to a goal.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Learned {
    /// Values of the cells of each tile, row by row; 0 for cells without a learned value.
    tiles: BTreeMap<(i32, i32), Vec<u64>>,
}

impl Learned {
    fn raise(&mut self, cell: Cell, cost: u64) {
        let key = TileKey::of(cell);
        let tile = self.tiles.entry((key.y, key.x));
        let tile = tile.or_insert_with(|| vec![0; TILE_CELLS]);
        let known = &mut tile[TileKey::position(cell)];
        *known = cost.max(*known);
    }
}

/// Estimate of a search: the maximum of the distance, the learned value, and the cost found by a
/// search from the goal.
struct LearnedEstimate<'a> {
    distance: DistanceEstimate,
    learned: &'a Learned,
    costs: Option<&'a GoalCosts>,
    /// The tile that was read last. Successive cells are usually in one tile.
    last: std::cell::Cell<Option<KnownTile<'a>>>,
}

/// Known lower bounds of the costs to the goal from the cells of a tile.
#[derive(Clone, Copy)]
struct KnownTile<'a> {
    key: TileKey,
    /// Learned values; `None` if there are none.
    learned: Option<&'a [u64]>,
    /// Number of the tile in the search from the goal.
    number: Option<u32>,
}

impl<'a> LearnedEstimate<'a> {
    fn new(distance: DistanceEstimate, learned: &'a Learned, costs: Option<&'a GoalCosts>) -> Self {
        Self {
            distance,
            learned,
            costs,
            last: std::cell::Cell::new(None),
        }
    }

    #[inline]
    fn tile(&self, key: TileKey) -> KnownTile<'a> {
        match self.last.get() {
            Some(tile) if tile.key == key => tile,
            _ => {
                let learned = self.learned.tiles.get(&(key.y, key.x));
                let tile = KnownTile {
                    key,
                    learned: learned.map(Vec::as_slice),
                    number: self.costs.and_then(|costs| costs.tile(key)),
                };
                self.last.set(Some(tile));
                tile
            }
        }
    }

    /// Returns the larger of the learned value and the cost found by the search from the goal.
    #[inline]
    fn known_at(&self, cell: Cell) -> u64 {
        if self.learned.tiles.is_empty() && self.costs.is_none() {
            return 0;
        }
        let tile = self.tile(TileKey::of(cell));
        let learned = tile
            .learned
            .map_or(0, |values| values[TileKey::position(cell)]);
        let cost = self
            .costs
            .map_or(0, |costs| costs.in_tile(tile.number, cell));
        learned.max(cost)
    }
}

impl Estimate for LearnedEstimate<'_> {
    #[inline]
    fn cost_to_go(&self, node: NodeIndex, cell: Cell) -> u64 {
        let distance = self.distance.cost_to_go(node, cell);
        distance.max(self.known_at(cell))
    }
}

/// The planner of one agent. Its learned values are part of the agent's saved state.
#[derive(Debug, Clone)]
pub struct HybridPath {
    parameters: HybridParameters,
    memory: HybridMemory,
    search: Search,
    /// Cache of an earlier search, whose memory the next one uses.
    spare: Option<TileCache>,
}

/// State that the planner keeps between plans.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HybridMemory {
    learned: Learned,
    goal: Option<(i32, i32)>,
    /// Smallest factor of the map when the first value was learned.
    smallest_factor: u32,
    stamp: u64,
    /// Time of the last plan, s.
    planned_at: Option<f64>,
}

impl HybridMemory {
    /// Whether `other` has the same goal and learned values. The times of the last plans may differ.
    pub fn knows_as_much_as(&self, other: &Self) -> bool {
        self.goal == other.goal && self.learned == other.learned
    }

    /// Number of tiles with learned values.
    pub fn learned_tiles(&self) -> usize {
        self.learned.tiles.len()
    }

    /// Whether a loaded memory is valid: each learned tile has a value for every cell.
    pub fn is_sound(&self) -> bool {
        let mut tiles = self.learned.tiles.values();
        tiles.all(|tile| tile.len() == TILE_CELLS)
    }

    /// Records that the memory was last compared with the map at `stamp`. Saves do not store the
    /// stamp in the memories, because a rebuilt map restarts its count of changes.
    pub fn set_stamp(&mut self, stamp: Stamp) {
        self.stamp = stamp.count();
    }
}

impl HybridPath {
    /// Creates a planner that has learned nothing.
    pub fn new(parameters: HybridParameters) -> Self {
        Self {
            parameters,
            memory: HybridMemory::default(),
            search: Search::default(),
            spare: None,
        }
    }

    /// Returns the state kept between plans.
    pub fn memory(&self) -> &HybridMemory {
        &self.memory
    }

    /// Restores the state kept between plans.
    pub fn restore(&mut self, memory: HybridMemory) {
        self.memory = memory;
    }

    /// Removes and returns the state kept between plans. Afterwards, the planner has learned nothing.
    pub fn take_memory(&mut self) -> HybridMemory {
        std::mem::take(&mut self.memory)
    }

    /// Sets the parameters of later plans.
    pub fn set_parameters(&mut self, parameters: HybridParameters) {
        self.parameters = parameters;
    }

    /// Drops values that are no longer lower bounds because the map has changed. Planning does the same. This
    /// function is called before a world is saved, so that the changes need not be saved.
    pub fn catch_up(&mut self, ground: &mut OpenGround, trip: &Trip) {
        let is_idle = self.memory.learned.tiles.is_empty();
        if is_idle || self.memory.stamp == ground.stamp().count() {
            self.memory.stamp = ground.stamp().count();
            return;
        }
        let size = ground.profile(trip.profile).cell;
        let goal = size.cell_of(trip.to.position);
        self.forget_outdated(ground, trip, goal);
    }

    /// Number of tiles with learned values.
    pub fn learned_tiles(&self) -> usize {
        self.memory.learned.tiles.len()
    }

    /// Plans the trip. `now` is the simulation time, s.
    pub fn plan(&mut self, ground: &mut OpenGround, trip: &Trip, now: f64) -> HybridPlan {
        self.plan_with(ground, trip, now, None)
    }

    /// Like [`Self::plan`], guided by a search from the goal of the same trip, which must not be outdated.
    pub fn plan_with(
        &mut self,
        ground: &mut OpenGround,
        trip: &Trip,
        now: f64,
        costs: Option<&GoalCosts>,
    ) -> HybridPlan {
        self.memory.planned_at = Some(now);
        let size = ground.profile(trip.profile).cell;
        let goal = size.cell_of(trip.to.position);
        self.forget_outdated(ground, trip, goal);
        let mut seen = self.run(ground, trip, Reading::Everything, costs);
        let has_moving = seen.cache.as_ref().is_some_and(TileCache::has_moving);
        self.spare = seen.cache.take().or(self.spare.take());
        if has_moving {
            // Learned values must not depend on moving items, because they would be too large once these
            // items have moved.
            let mut standing = self.run(ground, trip, Reading::Standing, costs);
            self.spare = standing.cache.take().or(self.spare.take());
            self.learn(&standing);
            seen.plan.expanded += standing.plan.expanded;
        } else {
            self.learn(&seen);
        }
        seen.plan
    }

    /// Drops the learned values if they belong to another goal or are no longer lower bounds.
    fn forget_outdated(&mut self, ground: &mut OpenGround, trip: &Trip, goal: Option<Cell>) {
        let size = ground.profile(trip.profile).cell;
        let smallest_factor = ground.smallest_factor(trip.profile);
        let memory = &mut self.memory;
        let goal = goal.map(|goal| (goal.x, goal.y));
        let fell = memory.learned.tiles.keys().any(|(y, x)| {
            let area = TileKey { y: *y, x: *x }.bounds(size);
            let since = Stamp::from_count(memory.stamp);
            ground.change_for(trip.owner, since, &area, Reading::Standing) == Change::Fell
        });
        if fell || goal != memory.goal || smallest_factor < memory.smallest_factor {
            memory.learned = Learned::default();
            memory.goal = goal;
        }
        if memory.learned.tiles.is_empty() {
            memory.smallest_factor = smallest_factor;
        }
        memory.stamp = ground.stamp().count();
    }

    /// Plans without learning. Returns the plan and the cells that its search expands.
    pub(super) fn run_and_list(
        &mut self,
        ground: &mut OpenGround,
        trip: &Trip,
        costs: Option<&GoalCosts>,
    ) -> ExplainedPlan {
        let run = self.run(ground, trip, Reading::Everything, costs);
        let expanded = run.cache.map_or(Vec::new(), |mut cache| {
            let space = cache.space(ground);
            let closed = self.search.closed().iter();
            closed.map(|node| space.cell(*node)).collect()
        });
        ExplainedPlan {
            plan: run.plan,
            expanded,
        }
    }

    fn run(
        &mut self,
        ground: &mut OpenGround,
        trip: &Trip,
        reading: Reading,
        costs: Option<&GoalCosts>,
    ) -> EndedSearch {
        let reader = Reader {
            profile: trip.profile,
            owner: trip.owner,
            reading,
        };
        let mut cache = match self.spare.take() {
            Some(mut cache) => {
                cache.restart(ground, reader);
                cache
            }
            None => TileCache::new(ground, reader),
        };
        let size = cache.cell_size();
        let mut space = cache.space(ground);
        let spots = space.open(trip.to).and_then(|goal| {
            let start = space.open(trip.from)?;
            Ok((start, goal))
        });
        let (start, goal) = match spots {
            Ok(nodes) => nodes,
            Err(error) => return EndedSearch::nowhere(PlanEnd::Spot(error)),
        };
        let rules = self.parameters.rules;
        let distance = DistanceEstimate {
            goal: space.cell(goal),
            rules,
            smallest_factor: space.smallest_factor(),
        };
        let estimate = LearnedEstimate::new(distance, &self.memory.learned, costs);
        let search = &mut self.search;
        search.begin(&mut space, rules, &estimate, start, Some(goal));
        let progress = search.advance(&mut space, &estimate, self.parameters.budget);
        let (end, target) = match progress {
            Progress::Found => (PlanEnd::Goal, Some(goal)),
            Progress::Searching => {
                let best = search.best_open(&space, &estimate);
                (PlanEnd::Budget, best)
            }
            Progress::Exhausted => (PlanEnd::WalledIn, None),
        };
        let path = target.and_then(|target| search.path_to(&mut space, target));
        let lessons = target.map_or(Vec::new(), |target| {
            let cost = search.cost(target).unwrap_or(0);
            let bound = cost + estimate.cost_to_go(target, space.cell(target));
            let closed = search.closed().iter();
            let lesson = |node: &NodeIndex| Lesson {
                cell: space.cell(*node),
                cost: bound - search.cost(*node).unwrap_or(bound).min(bound),
            };
            closed.map(lesson).collect()
        });
        let path = path.unwrap_or_default();
        let expanded = search.expanded();
        let points = path.cells.iter().map(|cell| size.centre(*cell)).collect();
        EndedSearch {
            cache: Some(cache),
            plan: HybridPlan {
                path,
                points,
                end,
                expanded,
            },
            lessons,
        }
    }

    fn learn(&mut self, run: &EndedSearch) {
        for lesson in &run.lessons {
            self.memory.learned.raise(lesson.cell, lesson.cost);
        }
    }

    /// Returns the point of a plan that an agent should head for. It is the farthest point that can be
    /// reached on a straight line over free cells, up to the waypoint distance for this speed (m/s). `None`
    /// if the plan has no points.
    pub fn way_point(
        &self,
        ground: &mut OpenGround,
        trip: &Trip,
        plan: &HybridPlan,
        speed: f64,
    ) -> Option<DVec2> {
        let reach = self.parameters.near + self.parameters.ahead * speed.abs();
        let from = trip.from.position;
        let nearest = plan.points.iter().enumerate();
        let nearest = nearest.min_by(|a, b| {
            let distance = |point: &DVec2| (*point - from).length_squared();
            distance(a.1).total_cmp(&distance(b.1))
        })?;
        let mut best = *nearest.1;
        let mut length = 0.0;
        let mut before = from;
        for &point in &plan.points[nearest.0..] {
            length += (point - before).length();
            before = point;
            if length > reach {
                break;
            }
            if self.is_visible(ground, trip, from, point) {
                best = point;
            }
        }
        Some(best)
    }

    /// Whether a straight line passes only through free cells. Cells around its start are ignored,
    /// because an agent may stop closer to an obstacle than it would drive.
    fn is_visible(&self, ground: &mut OpenGround, trip: &Trip, from: DVec2, to: DVec2) -> bool {
        let profile = ground.profile(trip.profile);
        let (size, radius) = (profile.cell, profile.body.circumscribed_radius());
        let length = (to - from).length();
        // With four samples per cell, a line can at most cut the corner of a cell unnoticed.
        let steps = (4.0 * length / size.metres()).ceil().clamp(1.0, 4096.0);
        let reading = Reading::Standing;
        (0..=steps as u32).all(|step| {
            let share = f64::from(step) / steps;
            if share * length < radius {
                return true;
            }
            let cell = size.nearest_cell(from + (to - from) * share);
            ground.factor(trip.profile, cell, reading) > 0
        })
    }

    /// Whether the agent should replan in the next step. `now` is the current time, s.
    pub fn replans(&self, disagreement: Option<Disagreement>, now: f64) -> bool {
        let since = self.memory.planned_at.map(|planned| now - planned);
        disagreement.is_some() && since.is_none_or(|since| since >= self.parameters.pause)
    }
}

/// Result of a search: the plan, and the data for learning from the search.
struct EndedSearch {
    plan: HybridPlan,
    lessons: Vec<Lesson>,
    /// The tiles that the search has read; `None` if the search did not begin.
    cache: Option<TileCache>,
}

impl EndedSearch {
    fn nowhere(end: PlanEnd) -> Self {
        Self {
            plan: HybridPlan {
                path: CellPath::default(),
                points: Vec::new(),
                end,
                expanded: 0,
            },
            lessons: Vec::new(),
            cache: None,
        }
    }
}

/// A lower bound of the cost from a cell to the goal.
struct Lesson {
    cell: Cell,
    cost: u64,
}

/// Disagreement between a driver and its plan ([Gerdelan 2011], section 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disagreement {
    /// The vehicle is beside its path, or does not head along it.
    LeftPath,
    /// The waypoint is behind the vehicle.
    Behind,
    /// The driver passes the nearest obstacle on one side, but the waypoint requires the other side.
    OtherSide,
    /// The vehicle cannot turn sharply enough to reach the waypoint.
    TooSharp,
}

/// Current motion of a vehicle, for comparison with its plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Driving {
    /// Position of the vehicle, and the direction in which it moves.
    pub pose: Pose,
    /// Smallest radius that the vehicle can turn at its speed, m.
    pub turning_radius: f64,
    /// The nearest obstacle ahead around which the driver steers; `None` if there is none.
    pub avoiding: Option<Avoiding>,
}

/// An obstacle around which a driver steers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Avoiding {
    /// The nearest point of the obstacle, m.
    pub obstacle: DVec2,
    /// Curvature of the driver's path, 1/m, positive to the left.
    pub curvature: f64,
}

impl Driving {
    /// Reason why the driver cannot follow the plan to a waypoint; `None` if it can.
    pub fn disagreement(&self, way_point: DVec2) -> Option<Disagreement> {
        let local = self.pose.to_local(way_point);
        let distance = local.length();
        if distance == 0.0 {
            return None;
        }
        if local.x < 0.0 {
            return Some(Disagreement::Behind);
        }
        if let Some(avoiding) = self.avoiding {
            let obstacle = self.pose.to_local(avoiding.obstacle);
            let is_ahead = obstacle.x > 0.0 && obstacle.x < local.x;
            // Side of the straight line to the obstacle on which the waypoint is.
            let side = obstacle.perp_dot(local);
            if is_ahead && side * avoiding.curvature < 0.0 {
                return Some(Disagreement::OtherSide);
            }
        }
        // Radius of the circle that leads to the waypoint.
        let radius = distance * distance / (2.0 * local.y.abs());
        (radius < self.turning_radius).then_some(Disagreement::TooSharp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a driver at the origin that heads east, and turns with a radius of at least 5 m.
    fn driving(avoiding: Option<Avoiding>) -> Driving {
        Driving {
            pose: Pose::default(),
            turning_radius: 5.0,
            avoiding,
        }
    }

    #[test]
    fn a_driver_disagrees_with_waypoints_behind_it_and_with_those_that_it_cannot_reach() {
        let to = |x: f64, y: f64| driving(None).disagreement(DVec2::new(x, y));
        for (x, y, expected) in [
            (10.0, 0.0, None),
            (10.0, 3.0, None),
            (-0.1, 8.0, Some(Disagreement::Behind)),
            (-10.0, 0.0, Some(Disagreement::Behind)),
            // The circle through (3, 3) has a radius of 3 m, and the circle through (5.1, 5.1) has
            // a radius of 5.1 m.
            (3.0, 3.0, Some(Disagreement::TooSharp)),
            (3.0, -3.0, Some(Disagreement::TooSharp)),
            (5.1, 5.1, None),
            (0.0, 0.0, None),
        ] {
            assert_eq!(to(x, y), expected, "{x}, {y}");
        }
    }

    #[test]
    fn a_driver_disagrees_with_waypoints_beyond_the_other_side_of_its_obstacle() {
        let obstacle = DVec2::new(6.0, 0.5);
        for (curvature, waypoint, expected) in [
            // To the left around the obstacle, as the driver steers.
            (0.1, DVec2::new(12.0, 4.0), None),
            (0.1, DVec2::new(12.0, -4.0), Some(Disagreement::OtherSide)),
            (-0.1, DVec2::new(12.0, -4.0), None),
            (-0.1, DVec2::new(12.0, 4.0), Some(Disagreement::OtherSide)),
            // Beyond the waypoint, an obstacle does not matter.
            (0.1, DVec2::new(5.0, -0.5), None),
        ] {
            let around = Avoiding {
                obstacle,
                curvature,
            };
            let found = driving(Some(around)).disagreement(waypoint);
            assert_eq!(found, expected, "{curvature}, {waypoint}");
        }
        let behind = Avoiding {
            obstacle: DVec2::new(-2.0, 0.0),
            curvature: 0.1,
        };
        let waypoint = DVec2::new(12.0, -4.0);
        assert_eq!(driving(Some(behind)).disagreement(waypoint), None);
    }
}
