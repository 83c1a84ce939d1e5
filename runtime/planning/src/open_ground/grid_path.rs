//! `grid_path`: finds the cheapest path over a map, or proves that there is none at its resolution.

use super::cell::{Cell, NodeIndex};
use super::cost::Rules;
use super::search::{CellPath, DistanceEstimate, Estimate, NoEstimate, Progress, Search};
use super::space::Space;

/// Estimate that guides a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Guide {
    /// No estimate: Dijkstra's algorithm, as in [Kuffner 1998].
    Dijkstra,
    /// The distance without obstacles as the estimate: A*.
    #[default]
    AStar,
}

/// Result of a search over a whole map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GridAnswer {
    /// The cheapest path.
    Found(CellPath),
    /// There is no path at this resolution.
    NoPath,
}

impl GridAnswer {
    /// Returns the path; `None` if there is none.
    pub fn path(&self) -> Option<&CellPath> {
        match self {
            Self::Found(path) => Some(path),
            Self::NoPath => None,
        }
    }

    /// Cost of the path; `None` if there is no path.
    pub fn cost(&self) -> Option<u64> {
        self.path().map(|path| path.cost)
    }
}

/// Planner that searches whole maps. It reuses allocated memory from search to search.
///
/// ```
/// use roadwright_planning::open_ground::{Cell, GridMap, GridPath, Guide, Rules};
///
/// let mut map = GridMap::new(Cell::new(0, 0), 8, 8)?;
/// for y in 0..7 {
///     map.set(Cell::new(4, y), 0);
/// }
/// let mut planner = GridPath::new(Rules::default(), Guide::AStar);
/// let answer = planner.find(&mut map, Cell::new(0, 0), Cell::new(7, 0));
/// let path = answer.path().ok_or("no path")?;
/// assert!(path.cells.contains(&Cell::new(4, 7)));
/// // Each step crosses two cells of plain ground, whose factor is 16.
/// assert_eq!(path.cost, 32 * (11 * 10 + 5 * 14));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct GridPath {
    rules: Rules,
    guide: Guide,
    search: Search,
}

impl GridPath {
    /// Creates a planner.
    pub fn new(rules: Rules, guide: Guide) -> Self {
        Self {
            rules,
            guide,
            search: Search::default(),
        }
    }

    /// Finds the cheapest path between two cells. There is no path if either cell is blocked or outside the
    /// map.
    pub fn find<S: Space>(&mut self, space: &mut S, start: Cell, goal: Cell) -> GridAnswer {
        let (Some(start_node), Some(goal_node)) = (space.node(start), space.node(goal)) else {
            self.search = Search::default();
            return GridAnswer::NoPath;
        };
        match self.guide {
            Guide::Dijkstra => self.run(space, &NoEstimate, start_node, goal_node),
            Guide::AStar => {
                let estimate = DistanceEstimate {
                    goal,
                    rules: self.rules,
                    smallest_factor: space.smallest_factor(),
                };
                self.run(space, &estimate, start_node, goal_node)
            }
        }
    }

    fn run<S: Space>(
        &mut self,
        space: &mut S,
        estimate: &impl Estimate,
        start: NodeIndex,
        goal: NodeIndex,
    ) -> GridAnswer {
        self.search
            .begin(space, self.rules, estimate, start, Some(goal));
        if space.factor(goal) == 0 {
            return GridAnswer::NoPath;
        }
        let progress = self.search.advance(space, estimate, u64::MAX);
        let path = match progress {
            Progress::Found => self.search.path_to(space, goal),
            Progress::Searching | Progress::Exhausted => None,
        };
        path.map_or(GridAnswer::NoPath, GridAnswer::Found)
    }

    /// Number of cells that the last search expanded.
    pub fn expanded(&self) -> u64 {
        self.search.expanded()
    }

    /// Returns the last search. Pictures show the order in which it expanded cells.
    pub fn search(&self) -> &Search {
        &self.search
    }
}
