//! Cells, and the indices that searches use for them.

use roadwright_geometry::DVec2;

/// A square of the map, given by its column (to the east) and its row (to the north).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cell {
    /// Column, counted to the east.
    pub x: i32,
    /// Row, counted to the north.
    pub y: i32,
}

impl Cell {
    /// Creates a cell from its column and row.
    pub const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }

    /// Returns the neighbouring cell in a direction.
    pub fn toward(self, direction: Direction) -> Self {
        let (x, y) = direction.offset();
        Self::new(self.x + x, self.y + y)
    }

    /// Numbers of columns and rows between two cells.
    pub fn distance(self, other: Self) -> CellDistance {
        CellDistance {
            columns: self.x.abs_diff(other.x),
            rows: self.y.abs_diff(other.y),
        }
    }
}

/// Numbers of columns and rows between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellDistance {
    /// Number of columns between the cells.
    pub columns: u32,
    /// Number of rows between the cells.
    pub rows: u32,
}

/// One of the eight neighbours, counter-clockwise from the east. Odd numbers are diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Direction(u8);

impl Direction {
    /// All eight directions.
    pub const ALL: [Self; 8] = [
        Self(0),
        Self(1),
        Self(2),
        Self(3),
        Self(4),
        Self(5),
        Self(6),
        Self(7),
    ];

    /// Index of the direction in [`Self::ALL`].
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the direction at an index of [`Self::ALL`], modulo its length.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        Self((index & 7) as u8)
    }

    /// Whether a step in this direction changes both column and row.
    #[inline]
    pub fn is_diagonal(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the opposite direction.
    #[inline]
    pub fn opposite(self) -> Self {
        Self((self.0 + 4) & 7)
    }

    /// Change of column and row by a step.
    #[inline]
    pub fn offset(self) -> (i32, i32) {
        const OFFSETS: [(i32, i32); 8] = [
            (1, 0),
            (1, 1),
            (0, 1),
            (-1, 1),
            (-1, 0),
            (-1, -1),
            (0, -1),
            (1, -1),
        ];
        OFFSETS[self.index()]
    }
}

/// Index of a cell within a [`Space`](super::Space). Searches use it to break ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub(super) u32);

impl NodeIndex {
    /// Represents a cell that does not exist.
    pub const NONE: Self = Self(u32::MAX);

    /// Returns the index as a `usize`, for use with an array.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Edge length of square cells, m. Positive and finite.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct CellSize(f64);

impl CellSize {
    /// Size for planners that output waypoints.
    pub const WAY_POINTS: Self = Self(1.0);
    /// Size for planners that consider headings.
    pub const HEADINGS: Self = Self(0.5);
    /// Size for characters on foot.
    pub const CHARACTERS: Self = Self(0.2);
    /// Smallest size of cells. A search that fails halves the cells down to this size before its
    /// answer is "no path".
    pub const FINEST: Self = Self(0.25);
    /// Half of [`Self::FINEST`], for spaces that are too large to be searched for gaps.
    pub(super) const FINEST_ROOM: Self = Self(0.125);
    /// Smallest size that is accepted, m. With smaller cells, column numbers at the edge of the world would
    /// not fit into 32 bits.
    pub const SMALLEST: f64 = 0.02;

    /// Creates a size from metres; `None` unless it is between [`Self::SMALLEST`] and 1,000 m.
    pub fn new(metres: f64) -> Option<Self> {
        (Self::SMALLEST..=1000.0)
            .contains(&metres)
            .then_some(Self(metres))
    }

    /// Returns the size in metres.
    #[inline]
    pub fn metres(self) -> f64 {
        self.0
    }

    /// Cells of half the size; `None` below [`Self::SMALLEST`].
    pub fn halved(self) -> Option<Self> {
        Self::new(0.5 * self.0)
    }

    /// Centre of a cell, m.
    #[inline]
    pub fn centre(self, cell: Cell) -> DVec2 {
        DVec2::new(self.middle(cell.x), self.middle(cell.y))
    }

    /// Coordinate of the centre of a column or row, m.
    #[inline]
    pub(super) fn middle(self, index: i32) -> f64 {
        (f64::from(index) + 0.5) * self.0
    }

    /// Returns the cell of a point; `None` if the point is not finite or more than 10,000 km away.
    pub fn cell_of(self, point: DVec2) -> Option<Cell> {
        let limit = roadwright_geometry::MAX_COORDINATE;
        let inside = point.x.abs() <= limit && point.y.abs() <= limit;
        inside.then(|| self.nearest_cell(point))
    }

    /// Returns the cell of a point that is known to be inside the world.
    pub(super) fn nearest_cell(self, point: DVec2) -> Cell {
        // The cast saturates, so even a point outside the world has a cell.
        Cell::new(
            (point.x / self.0).floor() as i32,
            (point.y / self.0).floor() as i32,
        )
    }
}
