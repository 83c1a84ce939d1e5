//! Answers a single request for a path, for commands and checks rather than for driving agents.

use super::cell::{Cell, CellSize};
use super::cost::Rules;
use super::flow_field::FlowField;
use super::goal_costs::GoalCosts;
use super::grid::GridMap;
use super::grid_path::GridAnswer;
use super::ground::{OpenGround, Reading, Window};
use super::hybrid::{HybridParameters, HybridPath, PlanEnd, Trip};
use super::incremental::IncrementalPath;
use super::profile::Profile;
use super::reach::{Reachability, Reason, Verdict};
use super::search::{CellPath, DistanceEstimate, Estimate, NoEstimate, Progress, Search};
use super::space::Space;
use super::tile_space::{Reader, Spot, TileCache, TileSpace};
use roadwright_agent::GroundSearch;
use roadwright_geometry::{DVec2, Pose, heading_of};

/// Number of cells that the search from the goal expands while the agent drives to the end of a plan of bounded size. An
/// agent in a run expands as many in about a second.
const MEANWHILE: u64 = 60_000;

/// Number of cells that are expanded between two checks for cancellation.
const PORTION: u64 = 65_536;
/// Maximum number of times that the cell size is halved because cells are too coarse for a sufficiently wide
/// gap.
const HALVINGS: u32 = 4;
/// Distance between the positions that are checked on a straight path, m.
const STRIDE: f64 = 0.25;

/// A request for the path of a trip.
#[derive(Debug, Clone, Copy)]
pub struct Inquiry {
    /// Start, destination and vehicle.
    pub trip: Trip,
    /// Planner to use.
    pub search: GroundSearch,
    /// Rules for steps between cells.
    pub rules: Rules,
    /// Maximum number of cells that all searches together may expand.
    pub most: u64,
}

/// Answer to an [`Inquiry`].
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A path was found.
    Found(FoundPath),
    /// There is no path.
    NoPath(Reason),
    /// The straight path (`straight`) is blocked by an obstacle near this position, m.
    InTheWay(DVec2),
    /// The search reached its maximum number of cells, or was stopped.
    Undecided,
}

/// A path over open ground.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPath {
    /// Cells and cost of the path.
    pub path: CellPath,
    /// Edge length of the cells.
    pub size: CellSize,
    /// Start, centres of the cells, and goal, m.
    pub points: Vec<DVec2>,
}

/// An answer, and the number of cells expanded for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Answer to the inquiry.
    pub answer: Answer,
    /// Number of cells expanded by all searches.
    pub expanded: u64,
}

impl OpenGround {
    /// Decides whether there is a path, and finds it. Calls `goes_on` from time to time, and stops when it
    /// returns `false`.
    pub fn answer(&mut self, inquiry: &Inquiry, mut goes_on: impl FnMut() -> bool) -> Answered {
        if !inquiry.search.uses_map() {
            return self.straight(&inquiry.trip);
        }
        let mut searches = Reachability::new(self, inquiry.trip);
        let verdict = loop {
            let left = inquiry.most.saturating_sub(searches.expanded());
            match searches.advance(self, left.min(PORTION)) {
                Verdict::Searching if left > 0 && goes_on() => {}
                verdict => break verdict,
            }
        };
        let expanded = searches.expanded();
        match verdict {
            Verdict::Searching => Answered {
                answer: Answer::Undecided,
                expanded,
            },
            Verdict::NoPath(reason) => Answered {
                answer: Answer::NoPath(reason),
                expanded,
            },
            Verdict::Reachable => self.find(inquiry, expanded, goes_on),
        }
    }

    /// Finds a path that is known to exist. If the cells are too coarse for the path, finer cells are used.
    fn find(
        &mut self,
        inquiry: &Inquiry,
        before: u64,
        mut goes_on: impl FnMut() -> bool,
    ) -> Answered {
        let mut finder = Finder {
            inquiry: *inquiry,
            expanded: before,
        };
        for _ in 0..=HALVINGS {
            if let Some(path) = finder.run(self, &mut goes_on) {
                return Answered {
                    answer: Answer::Found(path),
                    expanded: finder.expanded,
                };
            }
            let profile = self.profile(finder.inquiry.trip.profile).clone();
            let Some(cell) = profile.cell.halved() else {
                break;
            };
            finder.inquiry.trip.profile = self.add_profile(Profile { cell, ..profile });
        }
        Answered {
            answer: Answer::Undecided,
            expanded: finder.expanded,
        }
    }

    /// Checks the straight line from start to goal for obstacles.
    fn straight(&self, trip: &Trip) -> Answered {
        let profile = self.profile(trip.profile);
        let (from, to) = (trip.from.position, trip.to.position);
        let body = profile.body;
        let length = (to - from).length();
        // If numbers are not finite, the loop runs no step. The end is checked below.
        let steps = (length / STRIDE).ceil().clamp(1.0, 1e7) as u32;
        let at = |step: u32| from.lerp(to, f64::from(step) / f64::from(steps));
        let is_met = |step: &u32| {
            let pose = Pose {
                position: at(*step),
                heading: heading_of(to - from),
            };
            !pose.position.is_finite()
                || !self.is_free(trip.profile, trip.owner, &body.footprint(pose))
        };
        let answer = match (0..=steps).find(is_met) {
            Some(step) => Answer::InTheWay(at(step)),
            None => Answer::Found(FoundPath {
                path: CellPath::default(),
                size: profile.cell,
                points: vec![from, to],
            }),
        };
        Answered {
            answer,
            expanded: 0,
        }
    }
}

/// State of a search with a given cell size.
struct Finder {
    inquiry: Inquiry,
    expanded: u64,
}

impl Finder {
    fn run(
        &mut self,
        ground: &mut OpenGround,
        goes_on: &mut impl FnMut() -> bool,
    ) -> Option<FoundPath> {
        match self.inquiry.search {
            GroundSearch::Bounded { budget } => self.drive(ground, budget, goes_on),
            GroundSearch::Whole { is_guided: false } => {
                let whole = self.whole(ground, NoEstimate, goes_on)?;
                Some(self.found(ground, whole.path))
            }
            // The paths of `drivable_path` come from `DrivableSearch`. Over cells, it is treated like
            // `grid_path`.
            GroundSearch::Whole { is_guided: true } | GroundSearch::Drivable { .. } => {
                let whole = self.guided(ground, goes_on)?;
                Some(self.found(ground, whole.path))
            }
            GroundSearch::FlowField | GroundSearch::Incremental => {
                // These planners need a bounded map. A map of all cells that A* has expanded contains the
                // cheapest path.
                let mut whole = self.guided(ground, goes_on)?;
                let (start, goal) = whole.ends()?;
                let mut map = whole.map(ground)?;
                let path = self.on_map(&mut map, start, goal)?;
                Some(self.found(ground, path))
            }
            GroundSearch::Straight | GroundSearch::MoveTree(_) => None,
        }
    }

    fn reader(&self) -> Reader {
        Reader {
            profile: self.inquiry.trip.profile,
            owner: self.inquiry.trip.owner,
            reading: Reading::Everything,
        }
    }

    fn guided(
        &mut self,
        ground: &mut OpenGround,
        goes_on: &mut impl FnMut() -> bool,
    ) -> Option<Whole> {
        let size = ground.profile(self.inquiry.trip.profile).cell;
        let estimate = DistanceEstimate {
            goal: size.cell_of(self.inquiry.trip.to.position)?,
            rules: self.inquiry.rules,
            smallest_factor: ground.smallest_factor(self.inquiry.trip.profile),
        };
        self.whole(ground, estimate, goes_on)
    }

    /// Finds the cheapest path with one search; `None` if the search found no path or was stopped.
    fn whole(
        &mut self,
        ground: &mut OpenGround,
        estimate: impl Estimate,
        goes_on: &mut impl FnMut() -> bool,
    ) -> Option<Whole> {
        let trip = self.inquiry.trip;
        let mut cache = TileCache::new(ground, self.reader());
        let mut search = Search::default();
        let mut space = cache.space(ground);
        let start = space.open(trip.from).ok()?;
        let goal = space.open(trip.to).ok()?;
        search.begin(&mut space, self.inquiry.rules, &estimate, start, Some(goal));
        let before = self.expanded;
        let progress = loop {
            let left = self.inquiry.most.saturating_sub(self.expanded);
            let progress = search.advance(&mut space, &estimate, left.min(PORTION));
            self.expanded = before + search.expanded();
            if progress != Progress::Searching || left == 0 || !goes_on() {
                break progress;
            }
        };
        let path = match progress {
            Progress::Found => search.path_to(&mut space, goal)?,
            Progress::Searching | Progress::Exhausted => return None,
        };
        Some(Whole {
            path,
            cache,
            search,
        })
    }

    /// Finds the path with a planner that needs a bounded map; `None` if it finds none.
    fn on_map(&mut self, map: &mut GridMap, start: Cell, goal: Cell) -> Option<CellPath> {
        let rules = self.inquiry.rules;
        if self.inquiry.search == GroundSearch::FlowField {
            let mut field = FlowField::by_search(map, rules, goal);
            self.expanded += field.work();
            return field.path_from(start);
        }
        let mut planner = IncrementalPath::new(map.clone(), rules, goal);
        let answer = planner.plan(start);
        self.expanded += planner.expanded();
        match answer {
            GridAnswer::Found(path) => Some(path),
            GridAnswer::NoPath => None,
        }
    }

    /// Follows each plan of a bounded search to its end and plans again from there, until the goal is reached. `None`
    /// if a plan makes no progress, if the limit on cells is reached, or if `goes_on` returns false.
    fn drive(
        &mut self,
        ground: &mut OpenGround,
        budget: u64,
        goes_on: &mut impl FnMut() -> bool,
    ) -> Option<FoundPath> {
        let mut planner = HybridPath::new(HybridParameters {
            rules: self.inquiry.rules,
            budget,
            ..HybridParameters::default()
        });
        let mut trip = self.inquiry.trip;
        let size = ground.profile(trip.profile).cell;
        let mut driven = CellPath::default();
        let mut costs = None;
        while self.expanded < self.inquiry.most && goes_on() {
            let plan = planner.plan_with(ground, &trip, 0.0, costs.as_ref());
            self.expanded += plan.expanded.max(1);
            let end = plan.path.cells.last().copied();
            let is_moved = end != driven.cells.last().copied();
            let skipped = usize::from(!driven.cells.is_empty());
            driven.cost += plan.path.cost;
            driven
                .cells
                .extend(plan.path.cells.into_iter().skip(skipped));
            match (plan.end, end) {
                (PlanEnd::Goal, _) => return Some(self.found(ground, driven)),
                (PlanEnd::Budget, Some(cell)) if is_moved => {
                    trip.from = Spot::anyhow(size.centre(cell));
                    costs = costs.or_else(|| GoalCosts::new(ground, &trip, self.inquiry.rules));
                    if let Some(costs) = &mut costs {
                        let before = costs.expanded();
                        costs.advance(ground, MEANWHILE);
                        self.expanded += costs.expanded() - before;
                    }
                }
                _ => return None,
            }
        }
        None
    }

    fn found(&self, ground: &OpenGround, path: CellPath) -> FoundPath {
        let trip = &self.inquiry.trip;
        let size = ground.profile(trip.profile).cell;
        let inner = path.cells.len().saturating_sub(2);
        let centres = path.cells.iter().skip(1).take(inner);
        let mut points = vec![trip.from.position];
        points.extend(centres.map(|cell| size.centre(*cell)));
        points.push(trip.to.position);
        FoundPath { path, size, points }
    }
}

/// A search over the whole map that has found the goal.
struct Whole {
    path: CellPath,
    cache: TileCache,
    search: Search,
}

impl Whole {
    fn ends(&self) -> Option<(Cell, Cell)> {
        let first = self.path.cells.first().copied();
        first.zip(self.path.cells.last().copied())
    }

    /// Returns the expanded cells and their neighbours as a bounded map; `None` if there are too many.
    fn map(&mut self, ground: &mut OpenGround) -> Option<GridMap> {
        let mut space: TileSpace<'_> = self.cache.space(ground);
        let expanded = self.search.closed().iter();
        let cells: Vec<Cell> = expanded.map(|node| space.cell(*node)).collect();
        let all = || cells.iter().chain(&self.path.cells);
        let low = Cell::new(
            all().map(|cell| cell.x).min()? - 1,
            all().map(|cell| cell.y).min()? - 1,
        );
        let high = Cell::new(
            all().map(|cell| cell.x).max()? + 1,
            all().map(|cell| cell.y).max()? + 1,
        );
        let window = Window {
            origin: low,
            columns: high.x.abs_diff(low.x) + 1,
            rows: high.y.abs_diff(low.y) + 1,
        };
        let mut map = GridMap::new(window.origin, window.columns, window.rows).ok()?;
        for cell in map.cells() {
            // Uses the factors that the search has read, because some cells were opened so that the agent can
            // leave its spot.
            let factor = space.node(cell).map_or(0, |node| space.factor(node));
            map.set(cell, factor);
        }
        Some(map)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::super::{Body, Item, Shape, WALL};
    use super::*;
    use roadwright_geometry::oriented_box::OrientedBox;

    const ALL: [GroundSearch; 5] = [
        GroundSearch::Whole { is_guided: true },
        GroundSearch::Whole { is_guided: false },
        GroundSearch::FlowField,
        GroundSearch::Incremental,
        GroundSearch::Bounded { budget: 200 },
    ];

    fn wall(ground: &mut OpenGround, x: f64, y: f64, size: DVec2) {
        let shape = OrientedBox::new(Pose::new(x, y, 0.0), size.x, size.y);
        ground
            .insert(Item::obstacle(Shape::Box(shape), WALL))
            .unwrap();
    }

    /// Returns a pocket that opens to the west, with a jeep in it.
    fn pocket(closed: bool) -> (OpenGround, Trip) {
        let mut ground = OpenGround::new();
        wall(&mut ground, 20.0, 0.0, DVec2::new(1.0, 41.0));
        for y in [-20.0, 20.0] {
            wall(&mut ground, 0.0, y, DVec2::new(41.0, 1.0));
        }
        if closed {
            wall(&mut ground, -20.0, 0.0, DVec2::new(1.0, 41.0));
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
            from: Spot::at(Pose::new(10.0, 0.0, 0.0)),
            to: Spot::anyhow(DVec2::new(60.0, 0.0)),
        };
        (ground, trip)
    }

    fn ask(ground: &mut OpenGround, trip: Trip, search: GroundSearch) -> Answered {
        let inquiry = Inquiry {
            trip,
            search,
            rules: Rules::default(),
            most: 1_000_000,
        };
        ground.answer(&inquiry, || true)
    }

    #[test]
    fn every_planner_leaves_a_pocket_and_exact_ones_at_the_same_cost() {
        let (mut ground, trip) = pocket(false);
        let mut costs = Vec::new();
        for search in ALL {
            let Answered { answer, expanded } = ask(&mut ground, trip, search);
            let Answer::Found(found) = answer else {
                panic!("{search:?}: {answer:?}");
            };
            assert_eq!(found.points.first(), Some(&trip.from.position));
            assert_eq!(found.points.last(), Some(&trip.to.position));
            assert!(expanded > 100, "{search:?} {expanded}");
            costs.push(found.path.cost);
        }
        assert!(costs[..4].iter().all(|cost| *cost == costs[0]), "{costs:?}");
        assert!(costs[4] >= costs[0]);
        let straight = ask(&mut ground, trip, GroundSearch::Straight).answer;
        let Answer::InTheWay(at) = straight else {
            panic!("{straight:?}");
        };
        assert!((17.0..19.6).contains(&at.x), "{at}");
    }

    #[test]
    fn a_closed_pocket_has_no_path_and_a_small_budget_no_verdict() {
        let (mut ground, trip) = pocket(true);
        for search in ALL {
            let answer = ask(&mut ground, trip, search).answer;
            assert!(
                matches!(answer, Answer::NoPath(Reason::StartWalledIn(_))),
                "{search:?}: {answer:?}"
            );
        }
        let inquiry = Inquiry {
            trip,
            search: ALL[0],
            rules: Rules::default(),
            most: 50,
        };
        let answered = ground.answer(&inquiry, || true);
        assert_eq!(answered.answer, Answer::Undecided);
        assert!(answered.expanded <= 50);
        let stopped = ground.answer(
            &Inquiry {
                most: u64::MAX,
                ..inquiry
            },
            || false,
        );
        assert!(matches!(
            stopped.answer,
            Answer::Undecided | Answer::NoPath(_)
        ));
    }

    #[test]
    fn places_that_are_none_are_answered_in_words() {
        let (mut ground, trip) = pocket(false);
        for place in [
            DVec2::NAN,
            DVec2::new(f64::INFINITY, 0.0),
            DVec2::new(1e8, 0.0),
            DVec2::new(20.0, 0.0),
        ] {
            let to = Trip {
                to: Spot::anyhow(place),
                ..trip
            };
            let from = Trip {
                from: Spot::anyhow(place),
                ..trip
            };
            for search in ALL {
                let answer = ask(&mut ground, to, search).answer;
                assert!(
                    matches!(answer, Answer::NoPath(Reason::Goal(_))),
                    "{place}: {answer:?}"
                );
                let answer = ask(&mut ground, from, search).answer;
                assert!(
                    matches!(answer, Answer::NoPath(Reason::Start(_))),
                    "{place}: {answer:?}"
                );
            }
            let answer = ask(&mut ground, to, GroundSearch::Straight).answer;
            assert!(matches!(answer, Answer::InTheWay(_)), "{place}: {answer:?}");
        }
    }
}
