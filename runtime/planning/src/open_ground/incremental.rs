//! `incremental_path`: D* Lite, which repairs its last plan where the map has changed.
//!
//! This is the optimised version of [Koenig 2002], which searches from the goal. Keys are pairs of 64-bit
//! integers, and ties are broken by the index of the cell, so that results do not depend on the machine.

use super::cell::{Cell, Direction, NodeIndex};
use super::cost::Rules;
use super::grid::GridMap;
use super::grid_path::GridAnswer;
use super::search::CellPath;
use super::space::{Space, for_each_step};

/// Cost of a cell from which the goal cannot be reached.
const UNREACHED: u64 = u64::MAX;
/// Queue position that marks a cell as not in the queue.
const ABSENT: u32 = u32::MAX;
/// Number of children per heap entry. Four entries fit into a cache line.
const BRANCHES: usize = 4;
/// Limit for repairs: if more than 1 / `RESTART_SHARE` of the cells have changed, the planner plans from
/// scratch.
const RESTART_SHARE: u64 = 20;

/// Priority of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    estimated: u64,
    cost: u64,
}

/// Costs of a cell.
#[derive(Debug, Clone, Copy)]
struct Label {
    /// Cost to the goal when the cell was last expanded or updated (g in [Koenig 2002]).
    settled: u64,
    /// Cost to the goal through the best neighbour (one-step lookahead, rhs in [Koenig 2002]).
    ahead: u64,
}

/// A change of the factor of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactorChange {
    /// Cell whose factor changes.
    pub cell: Cell,
    /// The new factor; 0 blocks the cell.
    pub factor: u32,
}

/// Reason why a plan was made from scratch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// The plan is the first one, or the goal has changed.
    Goal,
    /// More than a twentieth of the cells have changed.
    ManyChanges,
    /// A factor has fallen below the smallest factor on which the estimate is based.
    SmallerFactor,
}

/// Planner that maintains the cheapest path from a moving start to a goal on a changing map.
///
/// ```
/// use roadwright_planning::open_ground::{Cell, FactorChange, GridMap, IncrementalPath, Rules};
///
/// let map = GridMap::new(Cell::new(0, 0), 20, 20)?;
/// let mut planner = IncrementalPath::new(map, Rules::default(), Cell::new(19, 10));
/// let straight = planner.plan(Cell::new(0, 10)).cost();
/// let wall: Vec<_> = (0..19).map(|y| FactorChange { cell: Cell::new(10, y), factor: 0 }).collect();
/// planner.change(&wall);
/// // The agent has moved on meanwhile.
/// assert!(planner.plan(Cell::new(3, 10)).cost() > straight);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct IncrementalPath {
    map: GridMap,
    rules: Rules,
    goal: Cell,
    goal_node: Option<NodeIndex>,
    labels: Vec<Label>,
    queue: CellQueue,
    /// Sum of the estimates between successive starts. Keys that were computed earlier are too small by up to
    /// this amount.
    offset: u64,
    last_start: Option<Cell>,
    smallest_factor: u32,
    /// Cells changed since the last plan.
    changed: u64,
    restart: Option<Restart>,
    last_restart: Option<Restart>,
    expanded: u64,
}

impl IncrementalPath {
    /// Creates a planner for one goal. The first plan is made from scratch.
    pub fn new(map: GridMap, rules: Rules, goal: Cell) -> Self {
        let nodes = map.len();
        Self {
            goal_node: map.index_of(goal),
            map,
            rules,
            goal,
            labels: Vec::with_capacity(nodes),
            queue: CellQueue::default(),
            offset: 0,
            last_start: None,
            smallest_factor: 0,
            changed: 0,
            restart: Some(Restart::Goal),
            last_restart: None,
            expanded: 0,
        }
    }

    /// Returns the current map.
    pub fn map(&self) -> &GridMap {
        &self.map
    }

    /// Returns the current goal.
    pub fn goal(&self) -> Cell {
        self.goal
    }

    /// Number of cells that the last plan expanded.
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    /// Reason why the last plan was made from scratch; `None` if it repaired the previous plan.
    pub fn restarted(&self) -> Option<Restart> {
        self.last_restart
    }

    /// Sets a new goal.
    pub fn set_goal(&mut self, goal: Cell) {
        if goal != self.goal {
            self.goal = goal;
            self.goal_node = self.map.index_of(goal);
            self.restart = Some(Restart::Goal);
        }
    }

    /// Changes factors of the map. Cells outside the map are ignored.
    pub fn change(&mut self, changes: &[FactorChange]) {
        for change in changes {
            let Some(before) = self.map.set(change.cell, change.factor) else {
                continue;
            };
            let now = self.map.factor_at(change.cell);
            if before == now {
                continue;
            }
            self.changed += 1;
            if now != 0 && now < self.smallest_factor {
                self.restart.get_or_insert(Restart::SmallerFactor);
            }
            if self.changed * RESTART_SHARE > self.map.area() {
                self.restart.get_or_insert(Restart::ManyChanges);
            }
        }
        if self.restart.is_some() {
            return;
        }
        for change in changes {
            self.update_around(change.cell);
        }
    }

    /// Updates a cell and its neighbours. A diagonal step between two neighbours may pass a corner of the
    /// cell, so the cell can also permit or forbid such a step.
    fn update_around(&mut self, cell: Cell) {
        let around = Direction::ALL.map(|direction| cell.toward(direction));
        for cell in around.into_iter().chain([cell]) {
            if let Some(node) = self.map.index_of(cell) {
                self.look_ahead(node);
                self.update(node);
            }
        }
    }

    /// Returns the cheapest path from a cell to the goal. If several paths are equally cheap, the choice does
    /// not depend on earlier plans. To achieve this, all cells on these paths are expanded.
    pub fn plan_uniquely(&mut self, start: Cell) -> GridAnswer {
        self.plan_until(start, Ties::Expanded)
    }

    /// Returns the cheapest path from a cell to the goal.
    pub fn plan(&mut self, start: Cell) -> GridAnswer {
        self.plan_until(start, Ties::Left)
    }

    fn plan_until(&mut self, start: Cell, ties: Ties) -> GridAnswer {
        self.expanded = 0;
        self.last_restart = None;
        let (Some(start_node), Some(goal_node)) = (self.map.index_of(start), self.goal_node) else {
            return GridAnswer::NoPath;
        };
        if let Some(why) = self.restart.take() {
            self.begin(goal_node, start);
            self.last_restart = Some(why);
        } else if let Some(last) = self.last_start {
            self.offset += self.estimate(last, start);
        }
        self.last_start = Some(start);
        self.changed = 0;
        if self.map.factor(start_node) == 0 || self.map.factor(goal_node) == 0 {
            // A search for a path to a blocked cell would expand the whole map.
            return GridAnswer::NoPath;
        }
        self.settle(start_node, ties);
        self.path_from(start_node)
            .map_or(GridAnswer::NoPath, GridAnswer::Found)
    }

    fn begin(&mut self, goal: NodeIndex, start: Cell) {
        let unreached = Label {
            settled: UNREACHED,
            ahead: UNREACHED,
        };
        self.labels.clear();
        self.labels.resize(self.map.len(), unreached);
        self.queue.restart(self.map.len());
        self.offset = 0;
        // Keys depend on the estimate, so the estimate must not change after this point.
        self.smallest_factor = self.map.smallest_factor();
        self.last_start = Some(start);
        self.labels[goal.index()].ahead = 0;
        self.update(goal);
    }

    #[inline]
    fn estimate(&self, a: Cell, b: Cell) -> u64 {
        self.rules.bound(a, b, self.smallest_factor)
    }

    #[inline]
    fn key(&self, node: NodeIndex) -> Key {
        let label = self.labels[node.index()];
        let cost = label.settled.min(label.ahead);
        let start = self.last_start.unwrap_or(self.goal);
        let estimated = match cost {
            UNREACHED => UNREACHED,
            cost => cost + self.estimate(start, self.map.cell(node)) + self.offset,
        };
        Key { estimated, cost }
    }

    /// Adds a cell to the queue or updates its key if its settled cost differs from the recomputed
    /// one; otherwise removes the cell from the queue.
    #[inline]
    fn update(&mut self, node: NodeIndex) {
        let label = self.labels[node.index()];
        if label.settled == label.ahead {
            self.queue.remove(node);
        } else {
            let key = self.key(node);
            self.queue.put(node, key);
        }
    }

    /// Recomputes a cell's cost to the goal from the costs of its neighbours.
    fn look_ahead(&mut self, node: NodeIndex) {
        if Some(node) == self.goal_node {
            return;
        }
        let mut ahead = UNREACHED;
        if self.map.factor(node) > 0 {
            let labels = &self.labels;
            for_each_step(&mut self.map, self.rules, node, |_, step| {
                let beyond = labels[step.to.index()].settled;
                if beyond != UNREACHED {
                    ahead = ahead.min(beyond + step.cost);
                }
            });
        }
        self.labels[node.index()].ahead = ahead;
    }

    /// Expands cells until the cost of the start is final.
    fn settle(&mut self, start: NodeIndex, ties: Ties) {
        while let Some(first) = self.queue.first() {
            let label = self.labels[start.index()];
            let last = self.key(start);
            let is_done = match ties {
                Ties::Left => first.key >= last,
                Ties::Expanded => first.key.estimated > last.estimated,
            };
            if is_done && label.ahead <= label.settled {
                break;
            }
            let node = first.node;
            let key = self.key(node);
            let label = self.labels[node.index()];
            if first.key < key {
                // The start has moved since this key was computed.
                self.queue.put(node, key);
            } else if label.settled > label.ahead {
                self.expanded += 1;
                self.labels[node.index()].settled = label.ahead;
                self.queue.remove(node);
                self.lower_neighbours(node, label.ahead);
            } else {
                self.expanded += 1;
                self.labels[node.index()].settled = UNREACHED;
                self.raise_neighbours(node, label.settled);
            }
        }
    }

    /// Lowers the costs of the neighbours of a cell. Steps cost the same in both directions, so the
    /// neighbours are also the predecessors.
    fn lower_neighbours(&mut self, node: NodeIndex, cost: u64) {
        let mut lowered = Neighbours::default();
        if self.map.factor(node) > 0 {
            let labels = &mut self.labels;
            for_each_step(&mut self.map, self.rules, node, |_, step| {
                let label = &mut labels[step.to.index()];
                if cost + step.cost < label.ahead {
                    label.ahead = cost + step.cost;
                    lowered.push(step.to);
                }
            });
        }
        for node in lowered.iter() {
            self.update(node);
        }
    }

    fn raise_neighbours(&mut self, node: NodeIndex, before: u64) {
        let mut raised = Neighbours::default();
        if self.map.factor(node) > 0 {
            let (labels, goal) = (&self.labels, self.goal_node);
            for_each_step(&mut self.map, self.rules, node, |_, step| {
                let is_by_way = labels[step.to.index()].ahead == before + step.cost;
                if is_by_way && Some(step.to) != goal {
                    raised.push(step.to);
                }
            });
        }
        for node in raised.iter() {
            self.look_ahead(node);
            self.update(node);
        }
        self.look_ahead(node);
        self.update(node);
    }

    fn path_from(&mut self, start: NodeIndex) -> Option<CellPath> {
        let goal = self.goal_node?;
        // The start itself may not have been expanded, so its cost through its best neighbour is
        // used.
        let cost = self.labels[start.index()].ahead;
        if cost == UNREACHED {
            return None;
        }
        let mut cells = vec![self.map.cell(start)];
        let mut at = start;
        while at != goal {
            let labels = &self.labels;
            let mut best: Option<(u64, NodeIndex)> = None;
            for_each_step(&mut self.map, self.rules, at, |_, step| {
                let beyond = labels[step.to.index()].settled;
                if beyond != UNREACHED {
                    let candidate = (beyond + step.cost, step.to);
                    best = Some(best.map_or(candidate, |best| best.min(candidate)));
                }
            });
            at = best?.1;
            cells.push(self.map.cell(at));
        }
        Some(CellPath { cells, cost })
    }
}

/// Treatment of cells on other paths that are as cheap as the one found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    Left,
    Expanded,
}

/// List of up to eight cells.
#[derive(Default)]
struct Neighbours {
    nodes: [u32; 8],
    len: usize,
}

impl Neighbours {
    fn push(&mut self, node: NodeIndex) {
        self.nodes[self.len] = node.0;
        self.len += 1;
    }

    fn iter(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        self.nodes.map(NodeIndex).into_iter().take(self.len)
    }
}

/// A heap of cells whose keys can be changed.
#[derive(Debug, Clone, Default)]
struct CellQueue {
    heap: Vec<QueueEntry>,
    /// Position of each cell in the heap.
    positions: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct QueueEntry {
    key: Key,
    node: NodeIndex,
}

impl QueueEntry {
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        (self.key, self.node) < (other.key, other.node)
    }
}

impl CellQueue {
    fn restart(&mut self, nodes: usize) {
        self.heap.clear();
        self.positions.clear();
        self.positions.resize(nodes, ABSENT);
    }

    #[inline]
    fn first(&self) -> Option<QueueEntry> {
        self.heap.first().copied()
    }

    /// Adds a cell, or changes its key.
    fn put(&mut self, node: NodeIndex, key: Key) {
        let entry = QueueEntry { key, node };
        let at = self.positions[node.index()];
        if at == ABSENT {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1, entry);
        } else {
            self.place(at as usize, entry);
        }
    }

    fn remove(&mut self, node: NodeIndex) {
        let at = self.positions[node.index()];
        if at == ABSENT {
            return;
        }
        self.positions[node.index()] = ABSENT;
        if let Some(last) = self.heap.pop()
            && last.node != node
        {
            self.place(at as usize, last);
        }
    }

    /// Puts an entry at a position of the heap, and restores the order of the heap around it.
    fn place(&mut self, at: usize, entry: QueueEntry) {
        let parent = at.wrapping_sub(1) / BRANCHES;
        if at > 0 && entry.is_before(&self.heap[parent]) {
            self.rise(at, entry);
        } else {
            self.sink(at, entry);
        }
    }

    fn rise(&mut self, mut at: usize, entry: QueueEntry) {
        while at > 0 {
            let parent = (at - 1) / BRANCHES;
            if !entry.is_before(&self.heap[parent]) {
                break;
            }
            self.set(at, self.heap[parent]);
            at = parent;
        }
        self.set(at, entry);
    }

    fn sink(&mut self, mut at: usize, entry: QueueEntry) {
        loop {
            let first = at * BRANCHES + 1;
            let children = first..(first + BRANCHES).min(self.heap.len());
            let mut best: Option<usize> = None;
            for child in children {
                if best.is_none_or(|best| self.heap[child].is_before(&self.heap[best])) {
                    best = Some(child);
                }
            }
            match best {
                Some(child) if self.heap[child].is_before(&entry) => {
                    self.set(at, self.heap[child]);
                    at = child;
                }
                _ => break,
            }
        }
        self.set(at, entry);
    }

    #[inline]
    fn set(&mut self, at: usize, entry: QueueEntry) {
        self.heap[at] = entry;
        self.positions[entry.node.index()] = at as u32;
    }
}
