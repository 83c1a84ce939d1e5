//! Exact costs to a goal, from a search that continues over the steps of a run.
//!
//! A search of bounded size gets lost where the cost to the goal is far higher than the distance suggests,
//! for example behind steep or wet ground: it would have to expand all cells with lower estimates, and an
//! agent that learns while it drives would have to drive through all of them. A second search from the goal
//! does not depend on where the agent is, so it can continue while the agent drives. Once it has reached the
//! agent, it knows the path.

use super::cell::Cell;
use super::cost::Rules;
use super::ground::{Change, OpenGround, Reading};
use super::hybrid::Trip;
use super::raster::TileKey;
use super::search::{NoEstimate, Search};
use super::tile_space::{Reader, TileCache};

/// Maximum number of cells that the search expands.
const MOST: u64 = 400_000;

/// Costs from the cells around a goal to the goal, considering only stationary items. Moving items can only
/// add cost, so the costs are lower bounds.
///
/// ```
/// use roadwright_geometry::DVec2;
/// use roadwright_planning::open_ground::*;
///
/// let mut ground = OpenGround::new();
/// let jeep = Body { length: 3.34, width: 1.57, height: 1.59, ground_clearance: 0.2 };
/// let trip = Trip {
///     profile: ground.add_profile(Profile::new(jeep, CellSize::WAY_POINTS)),
///     owner: None,
///     from: Spot::anyhow(DVec2::new(0.5, 0.5)),
///     to: Spot::anyhow(DVec2::new(30.5, 0.5)),
/// };
/// let mut costs = GoalCosts::new(&mut ground, &trip, Rules::default()).ok_or("blocked")?;
/// costs.advance(&mut ground, 10_000);
/// // Plain ground costs 10 times 16 + 16 for each step.
/// assert_eq!(costs.bound(Cell::new(20, 0)), 10 * 320);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GoalCosts {
    trip: Trip,
    rules: Rules,
    cache: TileCache,
    search: Search,
    /// Largest cost of an expanded cell. All other cells cost at least as much.
    reached: u64,
}

impl GoalCosts {
    /// Starts a search from the goal of a trip; `None` if a body does not fit there.
    pub fn new(ground: &mut OpenGround, trip: &Trip, rules: Rules) -> Option<Self> {
        let reader = Reader {
            profile: trip.profile,
            owner: trip.owner,
            reading: Reading::Standing,
        };
        let mut cache = TileCache::new(ground, reader);
        let mut search = Search::default();
        let mut space = cache.space(ground);
        let goal = space.open(trip.to).ok()?;
        search.begin(&mut space, rules, &NoEstimate, goal, None);
        Some(Self {
            trip: *trip,
            rules,
            cache,
            search,
            reached: 0,
        })
    }

    /// Whether the costs apply to a trip with these rules.
    pub fn serves(&self, trip: &Trip, rules: Rules) -> bool {
        let own = &self.trip;
        (own.profile, own.owner, own.to) == (trip.profile, trip.owner, trip.to)
            && self.rules == rules
    }

    /// Expands at most `budget` more cells. Stops at 400,000 in all.
    pub fn advance(&mut self, ground: &mut OpenGround, budget: u64) {
        let left = MOST.saturating_sub(self.search.expanded());
        let mut space = self.cache.space(ground);
        self.search
            .advance(&mut space, &NoEstimate, budget.min(left));
        let last = self.search.closed().last();
        self.reached = last
            .and_then(|node| self.search.cost(*node))
            .unwrap_or(self.reached);
    }

    /// Number of cells expanded so far.
    pub fn expanded(&self) -> u64 {
        self.search.expanded()
    }

    /// Whether a stationary item was added, removed or moved in the tiles that the search has read,
    /// so that it has to start again.
    pub fn is_outdated(&self, ground: &OpenGround) -> bool {
        self.cache.change(ground) != Change::Unchanged
    }

    /// Lower bound of the cost from a cell to the goal. It is exact for the cells that the search has expanded.
    pub fn bound(&self, cell: Cell) -> u64 {
        self.in_tile(self.tile(TileKey::of(cell)), cell)
    }

    /// Index of a tile in the search; `None` if the search has not read the tile.
    #[inline]
    pub(super) fn tile(&self, key: TileKey) -> Option<u32> {
        self.cache.tile_number(key)
    }

    /// Like [`Self::bound`], for a cell of the tile with this index.
    #[inline]
    pub(super) fn in_tile(&self, tile: Option<u32>, cell: Cell) -> u64 {
        let node = tile.map(|tile| TileCache::node_in(tile, cell));
        node.filter(|node| self.search.is_closed(*node))
            .and_then(|node| self.search.cost(node))
            .unwrap_or(self.reached)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Body, CellSize, Item, Layer, Profile, Shape, Spot};
    use super::super::{HybridParameters, HybridPath, PlanEnd};
    use super::*;
    use roadwright_geometry::oriented_box::OrientedBox;
    use roadwright_geometry::{DVec2, Pose};

    /// Returns a goal on ground that is surrounded by four strips as expensive as a detour of 320
    /// m.
    fn moat() -> (OpenGround, Trip) {
        let mut ground = OpenGround::new();
        for (x, y, length, width) in [
            (0.0, 20.0, 45.0, 5.0),
            (0.0, -20.0, 45.0, 5.0),
            (20.0, 0.0, 5.0, 45.0),
            (-20.0, 0.0, 5.0, 45.0),
        ] {
            let strip = OrientedBox::new(Pose::new(x, y, 0.0), length, width);
            let water = Item::area(Shape::Box(strip), Layer::Water, 1008);
            ground.insert(water).unwrap();
        }
        let body = Body {
            length: 3.3,
            width: 1.6,
            height: 1.6,
            ground_clearance: 0.2,
        };
        let profile = ground.add_profile(Profile::new(body, CellSize::WAY_POINTS));
        let trip = Trip {
            profile,
            owner: None,
            from: Spot::at(Pose::new(60.0, 0.0, 3.0)),
            to: Spot::anyhow(DVec2::new(0.5, 0.5)),
        };
        (ground, trip)
    }

    /// Drives each plan to its end, and returns the length in cells and whether the goal was reached.
    fn drive(expansions_per_plan: u64) -> (f64, bool) {
        let (mut ground, mut trip) = moat();
        let size = CellSize::WAY_POINTS;
        let mut planner = HybridPath::new(HybridParameters::default());
        let mut costs = GoalCosts::new(&mut ground, &trip, Rules::default()).unwrap();
        let mut length = 0.0;
        for _ in 0..60 {
            costs.advance(&mut ground, expansions_per_plan);
            let plan = planner.plan_with(&mut ground, &trip, 0.0, Some(&costs));
            length += plan.path.length();
            if plan.end == PlanEnd::Goal {
                return (length, true);
            }
            let Some(last) = plan.path.cells.last() else {
                break;
            };
            trip.from = Spot::anyhow(size.centre(*last));
        }
        (length, false)
    }

    #[test]
    fn costs_from_the_goal_end_a_long_search_for_a_way_round() {
        let (lost, _) = drive(0);
        let (length, has_arrived) = drive(60_000);
        assert!(has_arrived);
        // Without them, the agent drives round the moat again and again.
        assert!(length < 0.5 * lost, "{length} of {lost}");
    }

    #[test]
    fn costs_are_those_of_the_cheapest_paths_and_bounds_elsewhere() {
        let (mut ground, trip) = moat();
        let mut part = GoalCosts::new(&mut ground, &trip, Rules::default()).unwrap();
        let mut more = part.clone();
        for _ in 0..30 {
            part.advance(&mut ground, 100);
        }
        more.advance(&mut ground, 200_000);
        for x in -80..80 {
            for y in [-63, -20, 0, 7, 64] {
                let cell = Cell::new(x, y);
                assert!(part.bound(cell) <= more.bound(cell), "{cell:?}");
            }
        }
        // Several small budgets give the same costs as a single large one.
        let mut whole = GoalCosts::new(&mut ground, &trip, Rules::default()).unwrap();
        whole.advance(&mut ground, 3_000);
        assert_eq!(whole.bound(Cell::new(17, 3)), part.bound(Cell::new(17, 3)));
        assert_eq!(whole.expanded(), part.expanded());
        assert!(part.serves(&trip, Rules::default()));
        assert!(!part.is_outdated(&ground));
        let post = OrientedBox::new(Pose::new(5.0, 5.0, 0.0), 1.0, 1.0);
        let post = Item::obstacle(Shape::Box(post), super::super::WALL);
        ground.insert(post).unwrap();
        assert!(part.is_outdated(&ground));
    }
}
