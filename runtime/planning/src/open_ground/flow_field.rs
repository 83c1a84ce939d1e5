//! `flow_field`: the cost to one goal from every cell, shared by all agents with this goal.
//!
//! Value iteration (Pollithy) and Dijkstra's algorithm from the goal give identical integer costs. The field
//! includes the bodies and forecasts of the agents themselves, because a shared field cannot leave out the
//! items of each agent.

use super::cell::{Cell, Direction, NodeIndex};
use super::cost::Rules;
use super::grid::GridMap;
use super::search::{CellPath, NoEstimate, Progress, Search};
use super::space::{Space, Step, for_each_step};

/// Cost of a cell from which the goal cannot be reached.
const UNREACHED: u64 = u64::MAX;

/// The cost to one goal from each cell of a map.
///
/// ```
/// use roadwright_planning::open_ground::{Cell, FlowField, GridMap, Rules};
///
/// let mut map = GridMap::new(Cell::new(0, 0), 10, 10)?;
/// let field = FlowField::by_sweeps(&mut map, Rules::default(), Cell::new(9, 0));
/// assert_eq!(field.cost(Cell::new(0, 0)), Some(9 * 320));
/// assert_eq!(field, FlowField::by_search(&mut map, Rules::default(), Cell::new(9, 0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FlowField {
    goal: Cell,
    rules: Rules,
    map: GridMap,
    costs: Vec<u64>,
    work: u64,
}

impl PartialEq for FlowField {
    /// Compares goals and costs. The method of computation does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.goal == other.goal && self.costs == other.costs
    }
}

impl FlowField {
    /// Computes the field by value iteration: sweeps over the map, starting at each of its four corners in
    /// turn, until no cost changes.
    pub fn by_sweeps(map: &mut GridMap, rules: Rules, goal: Cell) -> Self {
        let mut field = Self::unreached(map, rules, goal);
        let Some(goal) = map.index_of(goal).filter(|goal| map.factor(*goal) > 0) else {
            return field;
        };
        field.costs[goal.index()] = 0;
        let (columns, rows) = (map.columns() as i32, map.rows() as i32);
        let mut unchanged = 0;
        let mut corner = 0;
        // Once a sweep from each corner has changed nothing, all costs are consistent with those of their
        // neighbours.
        while unchanged < 4 {
            let is_eastward = corner & 1 == 0;
            let is_northward = corner & 2 == 0;
            let mut changed = false;
            for step in 0..rows {
                let y = if is_northward { step } else { rows - 1 - step };
                for step in 0..columns {
                    let x = if is_eastward {
                        step
                    } else {
                        columns - 1 - step
                    };
                    let cell = Cell::new(map.origin().x + x, map.origin().y + y);
                    changed |= field.improve(map, cell);
                }
            }
            unchanged = if changed { 0 } else { unchanged + 1 };
            corner = (corner + 1) & 3;
        }
        field
    }

    /// Computes the field by Dijkstra's algorithm, starting at the goal. This gives the costs of driving to
    /// the goal, because steps cost the same in both directions.
    pub fn by_search(map: &mut GridMap, rules: Rules, goal: Cell) -> Self {
        let mut field = Self::unreached(map, rules, goal);
        let Some(goal) = map.index_of(goal) else {
            return field;
        };
        let mut search = Search::default();
        search.begin(map, rules, &NoEstimate, goal, None);
        let progress = search.advance(map, &NoEstimate, u64::MAX);
        debug_assert_eq!(progress, Progress::Exhausted);
        for &node in search.closed() {
            field.costs[node.index()] = search.cost(node).unwrap_or(UNREACHED);
        }
        field.work = search.expanded();
        field
    }

    fn unreached(map: &GridMap, rules: Rules, goal: Cell) -> Self {
        Self {
            goal,
            rules,
            map: map.clone(),
            costs: vec![UNREACHED; map.len()],
            work: 0,
        }
    }

    /// Lowers the cost of a cell to the cost through its best neighbour. Returns whether the cost was
    /// lowered.
    fn improve(&mut self, map: &mut GridMap, cell: Cell) -> bool {
        let node = map.index_of(cell).filter(|node| map.factor(*node) > 0);
        let Some(node) = node else { return false };
        self.work += 1;
        let before = self.costs[node.index()];
        let mut best = before;
        for_each_step(map, self.rules, node, |_, step| {
            let beyond = self.costs[step.to.index()];
            if beyond != UNREACHED {
                best = best.min(beyond + step.cost);
            }
        });
        self.costs[node.index()] = best;
        best < before
    }

    /// Returns the goal of the field.
    pub fn goal(&self) -> Cell {
        self.goal
    }

    /// Cost from a cell to the goal; `None` if there is no path.
    pub fn cost(&self, cell: Cell) -> Option<u64> {
        let node = self.map.index_of(cell)?;
        let cost = self.costs[node.index()];
        (cost != UNREACHED).then_some(cost)
    }

    /// Number of cells visited to compute the field.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Returns the first step of the cheapest path to the goal. Among equally good steps, it is the
    /// first one counter-clockwise from the east. `None` at the goal, or if there is no path.
    pub fn direction(&mut self, cell: Cell) -> Option<Direction> {
        let node = self.map.index_of(cell)?;
        if cell == self.goal || self.costs[node.index()] == UNREACHED {
            return None;
        }
        self.best_step(node).map(|step| step.direction)
    }

    fn best_step(&mut self, node: NodeIndex) -> Option<Step> {
        let mut best: Option<(u64, Step)> = None;
        let costs = &self.costs;
        for_each_step(&mut self.map, self.rules, node, |_, step| {
            let beyond = costs[step.to.index()];
            if beyond == UNREACHED {
                return;
            }
            let cost = beyond + step.cost;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, step));
            }
        });
        best.map(|(_, step)| step)
    }

    /// Returns the cheapest path from a cell to the goal; `None` if there is no path.
    pub fn path_from(&mut self, start: Cell) -> Option<CellPath> {
        let cost = self.cost(start)?;
        let mut cells = vec![start];
        let mut at = start;
        while let Some(direction) = self.direction(at) {
            at = at.toward(direction);
            cells.push(at);
        }
        Some(CellPath { cells, cost })
    }
}
