//! The interface between maps and searches: cells with factors, and their neighbours.

use super::cell::{Cell, Direction, NodeIndex};
use super::cost::{Corners, Rules, SMALLEST_FACTOR};

/// Map of cells that a search can run on.
pub trait Space {
    /// Number of indices assigned so far. In spaces that create cells when they are first needed,
    /// this number grows.
    fn len(&self) -> usize;

    /// Whether no index has been assigned.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the cell with this index.
    fn cell(&self, node: NodeIndex) -> Cell;

    /// Returns the index of a cell; `None` outside the space.
    fn node(&mut self, cell: Cell) -> Option<NodeIndex>;

    /// Factor of a cell; 0 if it is blocked.
    fn factor(&self, node: NodeIndex) -> u32;

    /// Returns the eight neighbours of a free cell, in the order of [`Direction::ALL`]. Neighbours
    /// outside the space are blocked.
    fn neighbours(&mut self, node: NodeIndex) -> [NodeIndex; 8];

    /// Lower bound of the factors of all free cells. A larger bound gives a better estimate.
    fn smallest_factor(&mut self) -> u32 {
        SMALLEST_FACTOR
    }

    /// Returns the common factor of all free cells; `None` if their factors differ.
    fn uniform_factor(&mut self) -> Option<u32> {
        None
    }
}

/// A step to a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Direction of the step.
    pub direction: Direction,
    /// The cell that the step enters.
    pub to: NodeIndex,
    /// Cost of the step.
    pub cost: u64,
}

/// Calls `visit` for each step that the rules allow from a free cell.
#[inline]
pub fn for_each_step<S: Space>(
    space: &mut S,
    rules: Rules,
    from: NodeIndex,
    mut visit: impl FnMut(&S, Step),
) {
    let around = space.neighbours(from);
    let own = space.factor(from);
    let factors = around.map(|node| space.factor(node));
    for direction in Direction::ALL {
        let at = direction.index();
        if factors[at] == 0 {
            continue;
        }
        if direction.is_diagonal()
            && rules.corners == Corners::Keep
            && (factors[(at + 7) & 7] == 0 || factors[(at + 1) & 7] == 0)
        {
            continue;
        }
        let step = Step {
            direction,
            to: around[at],
            cost: rules.costs.of(direction) * u64::from(own + factors[at]),
        };
        visit(space, step);
    }
}
