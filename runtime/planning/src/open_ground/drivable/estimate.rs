//! Estimates the cost from each cell to the target, ignoring headings.
//!
//! A* runs from the target towards the root of the search, and continues whenever the cost of another cell is
//! needed (RRA*, [Silver 2005]). It therefore expands only a corridor of cells.

use super::super::cell::Cell;
use super::super::ground::OpenGround;
use super::surface::Surface;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Units of cost per metre of plain ground.
const UNITS: f64 = 1024.0;
/// Cost of a cell that has not been reached.
const UNKNOWN: u32 = u32::MAX;
/// Marks a cell whose factor has not been read.
const UNREAD: u16 = 0;
/// Marks a cell in which the body does not fit at any heading.
const CLOSED: u16 = u16::MAX;
/// Number of bits after the binary point in the lengths of steps.
const SHIFT: u32 = 8;

/// Cell from which a step leads to a neighbour, with the length of the step.
#[derive(Debug, Clone, Copy)]
struct Leaving {
    cost: u32,
    factor: u16,
    length: u32,
}

/// State of the backward search that computes the costs.
#[derive(Debug, Clone)]
pub(super) struct Estimate {
    costs: Vec<u32>,
    is_final: Vec<bool>,
    factors: Vec<u16>,
    queue: BinaryHeap<Reverse<u64>>,
    toward: (i32, i32),
    straight: u32,
    diagonal: u32,
    expanded: u64,
    smallest_factor: u32,
    margin: f64,
}

impl Estimate {
    /// Starts the search at the cell `target`. The cell `toward` guides the search.
    pub(super) fn new(surface: &Surface, margin: f64, target: u32, toward: u32) -> Self {
        let cells = surface.cells() as usize;
        // Two factors of 16 correspond to plain ground.
        let metre = surface.size.metres() * UNITS / 32.0 * f64::from(1u32 << SHIFT);
        let mut estimate = Self {
            costs: vec![UNKNOWN; cells],
            is_final: vec![false; cells],
            factors: vec![UNREAD; cells],
            queue: BinaryHeap::new(),
            toward: surface.place(toward),
            straight: metre as u32,
            diagonal: (metre * std::f64::consts::SQRT_2) as u32,
            expanded: 0,
            smallest_factor: surface.smallest_factor,
            margin,
        };
        estimate.costs[target as usize] = 0;
        estimate.queue.push(Reverse(u64::from(target)));
        estimate
    }

    /// Number of cells expanded since the last call of `forget_work`.
    pub(super) fn expanded(&self) -> u64 {
        self.expanded
    }

    /// Resets the number of expanded cells, after the caller has added it to its own total.
    pub(super) fn forget_work(&mut self) {
        self.expanded = 0;
    }

    /// Cost from a cell to the target, m of plain ground; `None` if there is no path.
    #[inline]
    pub(super) fn cost(
        &mut self,
        surface: &mut Surface,
        ground: &mut OpenGround,
        cell: u32,
    ) -> Option<f64> {
        if !self.is_final[cell as usize] && !self.search(surface, ground, cell) {
            return None;
        }
        Some(f64::from(self.costs[cell as usize]) / UNITS)
    }

    /// Continues until the cost of a cell is final. Returns `false` if the cell cannot reach the target.
    fn search(&mut self, surface: &mut Surface, ground: &mut OpenGround, cell: u32) -> bool {
        if self.factor(surface, ground, cell) == CLOSED {
            return false;
        }
        while let Some(Reverse(entry)) = self.queue.pop() {
            let at = entry as u32;
            if self.is_final[at as usize] {
                continue;
            }
            self.expand(surface, ground, at);
            if at == cell {
                return true;
            }
        }
        false
    }

    fn expand(&mut self, surface: &mut Surface, ground: &mut OpenGround, at: u32) {
        self.is_final[at as usize] = true;
        self.expanded += 1;
        let straight = Leaving {
            cost: self.costs[at as usize],
            factor: self.factor(surface, ground, at),
            length: self.straight,
        };
        let diagonal = Leaving {
            length: self.diagonal,
            ..straight
        };
        let (column, row) = surface.place(at);
        let mut is_open = [false; 4];
        // The straight neighbours come first, because diagonal steps depend on them.
        const SIDES: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
        for (side, (x, y)) in SIDES.into_iter().enumerate() {
            let next = Cell::new(column + x, row + y);
            is_open[side] = self.reach(surface, ground, next, straight);
        }
        for side in 0..4 {
            let other = (side + 1) % 4;
            if is_open[side] && is_open[other] {
                let (a, b) = (SIDES[side], SIDES[other]);
                let next = Cell::new(column + a.0 + b.0, row + a.1 + b.1);
                self.reach(surface, ground, next, diagonal);
            }
        }
    }

    /// Updates the cell at a column and row, to which a step from another cell leads. Returns whether the
    /// cell is open.
    #[inline]
    fn reach(
        &mut self,
        surface: &mut Surface,
        ground: &mut OpenGround,
        to: Cell,
        from: Leaving,
    ) -> bool {
        let (column, row) = (to.x, to.y);
        if column < 0 || row < 0 || column >= surface.columns || row >= surface.rows {
            return false;
        }
        let next = (row * surface.columns + column) as u32;
        let factor = self.factor(surface, ground, next);
        if factor == CLOSED {
            return false;
        }
        let both = u64::from(from.factor) + u64::from(factor);
        let step = (both * u64::from(from.length)) >> SHIFT;
        let new = (u64::from(from.cost) + step).min(u64::from(UNKNOWN - 1)) as u32;
        if new < self.costs[next as usize] {
            self.costs[next as usize] = new;
            let (x, y) = (
                (column - self.toward.0).unsigned_abs(),
                (row - self.toward.1).unsigned_abs(),
            );
            let (less, more) = (x.min(y), x.max(y));
            let octile = less * self.diagonal + (more - less) * self.straight;
            let ahead = (u64::from(octile) * u64::from(2 * self.smallest_factor)) >> SHIFT;
            let key = u64::from(new).saturating_add(ahead);
            self.queue.push(Reverse(key << 32 | u64::from(next)));
        }
        true
    }

    #[inline]
    fn factor(&mut self, surface: &mut Surface, ground: &mut OpenGround, cell: u32) -> u16 {
        let known = self.factors[cell as usize];
        if known != UNREAD {
            return known;
        }
        let factor = match surface.is_never_free(cell, self.margin) {
            true => CLOSED,
            false => surface.factor_of_free(ground, cell).min(CLOSED - 1),
        };
        self.factors[cell as usize] = factor;
        factor
    }
}
