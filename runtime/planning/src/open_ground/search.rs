//! Dijkstra's algorithm and A*. A search expands a limited number of cells per call, and continues
//! with the next call.

use super::cell::{Cell, Direction, NodeIndex};
use super::cost::{LARGEST_FACTOR, Rules};
use super::queue::MonotoneQueue;
use super::space::{Space, for_each_step};

/// A lower bound of the cost from a cell to the goal.
///
/// It has to be consistent: along a step, it may decrease by at most the cost of the step. This ensures that
/// each cell is expanded only once and that the first path found is the cheapest.
pub trait Estimate {
    /// Returns a lower bound of the cost from a cell to the goal.
    fn cost_to_go(&self, node: NodeIndex, cell: Cell) -> u64;
}

/// An estimate of 0 everywhere, which turns A* into Dijkstra's algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoEstimate;

impl Estimate for NoEstimate {
    #[inline]
    fn cost_to_go(&self, _node: NodeIndex, _cell: Cell) -> u64 {
        0
    }
}

/// Estimate that assumes that all cells are free and have the smallest factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistanceEstimate {
    /// Goal of the search.
    pub goal: Cell,
    /// Rules for steps between cells.
    pub rules: Rules,
    /// Lower bound of the factors of all free cells.
    pub smallest_factor: u32,
}

impl Estimate for DistanceEstimate {
    #[inline]
    fn cost_to_go(&self, _node: NodeIndex, cell: Cell) -> u64 {
        self.rules.bound(cell, self.goal, self.smallest_factor)
    }
}

/// Progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The search has neither found the goal nor run out of cells.
    Searching,
    /// The search has found the cheapest path.
    Found,
    /// All cells that can be reached from the start have been expanded without finding the goal.
    Exhausted,
}

/// A path over cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellPath {
    /// Cells from the start to the goal, including both.
    pub cells: Vec<Cell>,
    /// Sum of the costs of all steps.
    pub cost: u64,
}

impl CellPath {
    /// Length of the path, in cell widths.
    pub fn length(&self) -> f64 {
        let pairs = self.cells.windows(2);
        let diagonal = pairs.filter(|pair| pair[0].x != pair[1].x && pair[0].y != pair[1].y);
        let diagonal = diagonal.count();
        let straight = self.cells.len().saturating_sub(1) - diagonal;
        straight as f64 + diagonal as f64 * std::f64::consts::SQRT_2
    }
}

/// State of a cell in a search.
#[derive(Debug, Clone, Copy)]
struct Label {
    /// Cost from the start.
    cost: u64,
    /// Number of the search that wrote this state. States of earlier searches count as missing, so they need
    /// not be cleared.
    run: u32,
    state: LabelState,
    /// Direction of the step that led to the cell.
    from: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelState {
    Root,
    Open,
    Closed,
    ClosedRoot,
}

/// A search from one cell. The memory is reused for the next search.
#[derive(Debug, Clone, Default)]
pub struct Search {
    labels: Vec<Label>,
    queue: MonotoneQueue,
    closed: Vec<NodeIndex>,
    run: u32,
    start: Option<NodeIndex>,
    goal: Option<NodeIndex>,
    expanded: u64,
    rules: Rules,
}

impl Search {
    /// Starts a search. If there is no goal, it expands all cells that can be reached.
    ///
    /// If the start is blocked, which `space` reports as a factor of 0, the search is exhausted
    /// immediately.
    pub fn begin<S: Space>(
        &mut self,
        space: &mut S,
        rules: Rules,
        estimate: &impl Estimate,
        start: NodeIndex,
        goal: Option<NodeIndex>,
    ) {
        if self.run == u32::MAX {
            self.labels.clear();
            self.run = 0;
        }
        self.run += 1;
        self.rules = rules;
        self.start = Some(start);
        self.goal = goal;
        self.expanded = 0;
        self.closed.clear();
        self.grow(space.len());
        let first = estimate.cost_to_go(start, space.cell(start));
        let (unit, span) = key_scale(space, rules);
        self.queue.restart(unit, span, first);
        if space.factor(start) == 0 {
            return;
        }
        self.labels[start.index()] = Label {
            cost: 0,
            run: self.run,
            state: LabelState::Root,
            from: Direction::from_index(0),
        };
        self.queue.push(first, start.0);
    }

    /// Expands at most `budget` more cells.
    pub fn advance<S: Space>(
        &mut self,
        space: &mut S,
        estimate: &impl Estimate,
        budget: u64,
    ) -> Progress {
        let mut left = budget;
        while let Some(entry) = self.queue.pop() {
            let node = NodeIndex(entry.value);
            if self.is_closed(node) {
                continue;
            }
            if Some(node) == self.goal {
                // The entry is pushed back, so that the next call finds it again.
                self.queue.push(entry.key, entry.value);
                return Progress::Found;
            }
            if left == 0 {
                self.queue.push(entry.key, entry.value);
                return Progress::Searching;
            }
            left -= 1;
            self.expand(space, estimate, node);
        }
        Progress::Exhausted
    }

    #[inline]
    fn expand<S: Space>(&mut self, space: &mut S, estimate: &impl Estimate, node: NodeIndex) {
        self.expanded += 1;
        self.closed.push(node);
        let label = &mut self.labels[node.index()];
        label.state = match label.state {
            LabelState::Root | LabelState::ClosedRoot => LabelState::ClosedRoot,
            LabelState::Open | LabelState::Closed => LabelState::Closed,
        };
        let cost_here = label.cost;
        let (run, rules) = (self.run, self.rules);
        // The cells of neighbours are computed from this cell, because a look-up in the space would need a
        // division for each of them.
        let cell = space.cell(node);
        let Self { labels, queue, .. } = self;
        for_each_step(space, rules, node, |space, step| {
            // Reading the neighbours may have added cells to the space.
            if labels.len() < space.len() {
                grow(labels, space.len());
            }
            let label = &mut labels[step.to.index()];
            let cost = cost_here + step.cost;
            // The path to a closed cell is already the cheapest, because the estimate is consistent.
            if label.run == run && label.cost <= cost {
                return;
            }
            *label = Label {
                cost,
                run,
                state: LabelState::Open,
                from: step.direction,
            };
            let key = cost + estimate.cost_to_go(step.to, cell.toward(step.direction));
            queue.push(key, step.to.0);
        });
    }

    fn grow(&mut self, len: usize) {
        grow(&mut self.labels, len);
    }

    /// Number of cells expanded so far.
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    /// Returns the cells expanded so far, in order.
    pub fn closed(&self) -> &[NodeIndex] {
        &self.closed
    }

    /// Cheapest known cost from the start to a cell; `None` if the cell has not been reached.
    #[inline]
    pub fn cost(&self, node: NodeIndex) -> Option<u64> {
        let label = self.labels.get(node.index())?;
        (label.run == self.run).then_some(label.cost)
    }

    /// Whether a cell has been expanded.
    #[inline]
    pub fn is_closed(&self, node: NodeIndex) -> bool {
        self.labels.get(node.index()).is_some_and(|label| {
            label.run == self.run
                && matches!(label.state, LabelState::Closed | LabelState::ClosedRoot)
        })
    }

    /// Returns the cell with the smallest sum of cost and estimate among the cells that have not
    /// been expanded. Ties are broken by the larger cost so far, then by the smaller index. `None`
    /// if there is no such cell.
    pub fn best_open<S: Space>(
        &mut self,
        space: &S,
        estimate: &impl Estimate,
    ) -> Option<NodeIndex> {
        let mut equal: Vec<Candidate> = Vec::new();
        loop {
            // Entries with a larger key stay in the queue, because entries with smaller keys could not be
            // pushed back afterwards.
            let entry = match equal.first() {
                None => self.queue.pop(),
                Some(_) => self.queue.pop_equal(),
            };
            let Some(entry) = entry else { break };
            let node = NodeIndex(entry.value);
            let Some(cost) = self.cost(node) else { break };
            let key = cost + estimate.cost_to_go(node, space.cell(node));
            // Entries of closed cells, and entries outdated by a cheaper path, are skipped.
            if !self.is_closed(node) && key == entry.key {
                equal.push(Candidate { key, cost, node });
            }
        }
        for candidate in &equal {
            self.queue.push(candidate.key, candidate.node.0);
        }
        let better = |a: &Candidate, b: &Candidate| {
            let by_cost = b.cost.cmp(&a.cost);
            by_cost.then(a.node.cmp(&b.node))
        };
        equal.into_iter().min_by(better).map(|best| best.node)
    }

    /// Returns the cheapest known path from the start to a cell; `None` if the cell has not been
    /// reached.
    pub fn path_to<S: Space>(&self, space: &mut S, node: NodeIndex) -> Option<CellPath> {
        let cost = self.cost(node)?;
        let mut cells = vec![space.cell(node)];
        let mut at = node;
        loop {
            let label = self.labels[at.index()];
            if matches!(label.state, LabelState::Root | LabelState::ClosedRoot) {
                break;
            }
            at = space.neighbours(at)[label.from.opposite().index()];
            cells.push(space.cell(at));
        }
        cells.reverse();
        Some(CellPath { cells, cost })
    }
}

/// A cell at the frontier of a search.
struct Candidate {
    key: u64,
    cost: u64,
    node: NodeIndex,
}

fn grow(labels: &mut Vec<Label>, len: usize) {
    let absent = Label {
        cost: 0,
        run: 0,
        state: LabelState::Open,
        from: Direction::from_index(0),
    };
    if labels.len() < len {
        labels.resize(len, absent);
    }
}

/// Returns the greatest common divisor of all keys of a search, and the maximum difference between
/// keys that are open at the same time.
fn key_scale<S: Space>(space: &mut S, rules: Rules) -> (u64, u64) {
    let uniform = space.uniform_factor();
    let largest = u64::from(uniform.unwrap_or(LARGEST_FACTOR));
    // A step increases the cost by its own cost, and the estimate by at most the same amount.
    let span = 2 * rules.costs.diagonal() * 2 * largest;
    let unit = uniform.map_or(rules.costs.unit(), |factor| {
        rules.costs.unit() * 2 * u64::from(factor)
    });
    (unit, span)
}
