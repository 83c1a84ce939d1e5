//! Bounded maps: a rectangle of cells in one array.

use super::cell::{Cell, NodeIndex};
use super::cost::{LARGEST_FACTOR, PLAIN, SMALLEST_FACTOR};
use super::space::Space;
use thiserror::Error;

/// Maximum number of cells of a [`GridMap`].
pub const MOST_CELLS: u64 = 64_000_000;

/// Number of cells along the edge of a tile.
pub const TILE: usize = 64;

/// Reason why a map cannot be created.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GridError {
    /// The map has no cells.
    #[error("a map needs at least one column and one row")]
    Empty,
    /// The map has more than [`MOST_CELLS`] cells.
    #[error("{columns} x {rows} cells are too many; expected at most {MOST_CELLS}")]
    TooLarge {
        /// Requested number of columns.
        columns: u32,
        /// Requested number of rows.
        rows: u32,
    },
}

/// A rectangle of cells with their factors.
///
/// It is surrounded by a frame of blocked cells, so that searches need not test for its edge.
#[derive(Debug, Clone)]
pub struct GridMap {
    origin: Cell,
    columns: u32,
    rows: u32,
    /// Number of cells in a row, including the frame.
    stride: usize,
    /// Factors of the cells; 0 if blocked.
    factors: Vec<u16>,
    ranges: Vec<FactorRange>,
    tile_columns: usize,
}

/// Smallest and largest factor of the free cells of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FactorRange {
    /// The range has not been computed yet.
    Unknown,
    /// No cell is free.
    Blocked,
    Known {
        low: u16,
        high: u16,
    },
}

impl GridMap {
    /// Creates a map of plain ground whose south-west cell is `origin`.
    ///
    /// # Errors
    /// If it has no cells or more than [`MOST_CELLS`].
    pub fn new(origin: Cell, columns: u32, rows: u32) -> Result<Self, GridError> {
        if columns == 0 || rows == 0 {
            return Err(GridError::Empty);
        }
        let most = i32::MAX as u32 / 4;
        if u64::from(columns) * u64::from(rows) > MOST_CELLS || columns > most || rows > most {
            return Err(GridError::TooLarge { columns, rows });
        }
        let stride = columns as usize + 2;
        let mut factors = vec![0; stride * (rows as usize + 2)];
        for row in 1..=rows as usize {
            factors[row * stride + 1..][..columns as usize].fill(PLAIN as u16);
        }
        let tile_columns = (columns as usize).div_ceil(TILE);
        let tiles = tile_columns * (rows as usize).div_ceil(TILE);
        let plain = FactorRange::Known {
            low: PLAIN as u16,
            high: PLAIN as u16,
        };
        Ok(Self {
            origin,
            columns,
            rows,
            stride,
            factors,
            ranges: vec![plain; tiles],
            tile_columns,
        })
    }

    /// Returns the south-west cell.
    pub fn origin(&self) -> Cell {
        self.origin
    }

    /// Number of columns.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Number of rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Number of cells.
    pub fn area(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.rows)
    }

    /// Returns the index of a cell; `None` outside the map.
    #[inline]
    pub fn index_of(&self, cell: Cell) -> Option<NodeIndex> {
        let x = i64::from(cell.x) - i64::from(self.origin.x);
        let y = i64::from(cell.y) - i64::from(self.origin.y);
        let inside =
            (0..i64::from(self.columns)).contains(&x) && (0..i64::from(self.rows)).contains(&y);
        inside.then(|| NodeIndex(((y as usize + 1) * self.stride + x as usize + 1) as u32))
    }

    /// All cells, row by row from the south-west.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let (origin, columns, rows) = (self.origin, self.columns as i32, self.rows as i32);
        (0..rows)
            .flat_map(move |y| (0..columns).map(move |x| Cell::new(origin.x + x, origin.y + y)))
    }

    /// Factor of a cell; 0 if it is blocked or outside the map.
    #[inline]
    pub fn factor_at(&self, cell: Cell) -> u32 {
        self.index_of(cell).map_or(0, |node| self.factor(node))
    }

    /// Sets the factor of a cell; 0 blocks it. Other factors are clamped to [`SMALLEST_FACTOR`] and
    /// [`LARGEST_FACTOR`]. Returns the previous factor; `None` if the cell is outside the map, where nothing
    /// can be set.
    pub fn set(&mut self, cell: Cell, factor: u32) -> Option<u32> {
        let node = self.index_of(cell)?;
        let held = match factor {
            0 => 0,
            factor => factor.clamp(SMALLEST_FACTOR, LARGEST_FACTOR),
        } as u16;
        let before = std::mem::replace(&mut self.factors[node.index()], held);
        let x = (i64::from(cell.x) - i64::from(self.origin.x)) as usize;
        let y = (i64::from(cell.y) - i64::from(self.origin.y)) as usize;
        let range = &mut self.ranges[y / TILE * self.tile_columns + x / TILE];
        *range = range.after(before, held);
        Some(u32::from(before))
    }

    /// Smallest and largest factor of the free cells; `None` if all cells are blocked.
    pub fn factor_range(&mut self) -> Option<std::ops::RangeInclusive<u32>> {
        let (mut least, mut most) = (u16::MAX, 0);
        for tile in 0..self.ranges.len() {
            if self.ranges[tile] == FactorRange::Unknown {
                self.ranges[tile] = self.range_of(tile);
            }
            if let FactorRange::Known { low, high } = self.ranges[tile] {
                (least, most) = (least.min(low), most.max(high));
            }
        }
        (most > 0).then(|| u32::from(least)..=u32::from(most))
    }

    fn range_of(&self, tile: usize) -> FactorRange {
        let (left, bottom) = (
            tile % self.tile_columns * TILE,
            tile / self.tile_columns * TILE,
        );
        let right = (left + TILE).min(self.columns as usize);
        let top = (bottom + TILE).min(self.rows as usize);
        let rows = (bottom..top).map(|y| (y + 1) * self.stride + 1);
        let factors = rows.flat_map(|row| &self.factors[row + left..row + right]);
        let free = factors.copied().filter(|factor| *factor > 0);
        free.fold(FactorRange::Blocked, |range, factor| match range {
            FactorRange::Known { low, high } => FactorRange::Known {
                low: low.min(factor),
                high: high.max(factor),
            },
            _ => FactorRange::Known {
                low: factor,
                high: factor,
            },
        })
    }
}

impl FactorRange {
    /// Returns the range after the factor of a cell has changed from `before` to `now`.
    fn after(self, before: u16, now: u16) -> Self {
        match self {
            // The cell may have been the only one with its factor.
            Self::Known { low, high } if before != now && (before == low || before == high) => {
                Self::Unknown
            }
            Self::Known { low, high } if now > 0 => Self::Known {
                low: low.min(now),
                high: high.max(now),
            },
            Self::Blocked if now > 0 => Self::Known {
                low: now,
                high: now,
            },
            other => other,
        }
    }
}

impl Space for GridMap {
    #[inline]
    fn len(&self) -> usize {
        self.factors.len()
    }

    #[inline]
    fn cell(&self, node: NodeIndex) -> Cell {
        // Uses 32 bits, because searches call this for every cell and divisions of 64 bits take twice as long.
        let stride = self.stride as u32;
        Cell::new(
            self.origin.x + (node.0 % stride) as i32 - 1,
            self.origin.y + (node.0 / stride) as i32 - 1,
        )
    }

    fn node(&mut self, cell: Cell) -> Option<NodeIndex> {
        self.index_of(cell)
    }

    #[inline]
    fn factor(&self, node: NodeIndex) -> u32 {
        u32::from(self.factors[node.index()])
    }

    #[inline]
    fn neighbours(&mut self, node: NodeIndex) -> [NodeIndex; 8] {
        let (at, stride) = (node.0, self.stride as u32);
        let (above, below) = (at + stride, at - stride);
        [
            at + 1,
            above + 1,
            above,
            above - 1,
            at - 1,
            below - 1,
            below,
            below + 1,
        ]
        .map(NodeIndex)
    }

    fn smallest_factor(&mut self) -> u32 {
        self.factor_range()
            .map_or(SMALLEST_FACTOR, |range| *range.start())
    }

    fn uniform_factor(&mut self) -> Option<u32> {
        let range = self.factor_range()?;
        (range.start() == range.end()).then_some(*range.start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_frame_is_blocked_and_cells_come_back() {
        let mut map = GridMap::new(Cell::new(-3, 7), 5, 4).unwrap();
        for cell in map.cells() {
            let node = map.node(cell).unwrap();
            assert_eq!((map.cell(node), map.factor(node)), (cell, 16));
        }
        assert_eq!(map.node(Cell::new(2, 7)), None);
        let corner = map.node(Cell::new(-3, 7)).unwrap();
        let free = map.neighbours(corner).map(|node| map.factor(node));
        assert_eq!(free, [16, 16, 16, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn maps_without_cells_or_with_too_many_are_refused() {
        assert_eq!(
            GridMap::new(Cell::default(), 0, 5).err(),
            Some(GridError::Empty)
        );
        assert!(GridMap::new(Cell::default(), u32::MAX, 3).is_err());
    }

    proptest! {
        #[test]
        fn the_range_of_factors_is_that_of_the_free_cells(
            changes in prop::collection::vec((0..90i32, 0..70i32, prop::sample::select(vec![0u32, 8, 16, 20, 70_000])), 0..60),
        ) {
            let mut map = GridMap::new(Cell::default(), 90, 70).unwrap();
            for (x, y, factor) in changes {
                map.set(Cell::new(x, y), factor);
                let free: Vec<u32> = map.cells().map(|cell| map.factor_at(cell)).filter(|f| *f > 0).collect();
                let range = map.factor_range().unwrap();
                prop_assert_eq!(Some(range.start()), free.iter().min());
                prop_assert_eq!(Some(range.end()), free.iter().max());
            }
        }
    }
}
