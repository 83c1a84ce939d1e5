//! Occupancy grids, and the expansion of their occupied area by a disc.

use crate::error::GeometryError;
use glam::DVec2;

/// Maximum number of cells of an occupancy grid.
pub const MAX_CELLS: usize = 64_000_000;

/// Grid of square cells, each of which is free or occupied.
#[derive(Debug, Clone, PartialEq)]
pub struct OccupancyGrid {
    origin: DVec2,
    cell: f64,
    columns: usize,
    rows: usize,
    occupied: Vec<bool>,
}

impl OccupancyGrid {
    /// Creates a grid without occupied cells, with its south-west corner at `origin`.
    ///
    /// # Errors
    /// If it has no cell, more than [`MAX_CELLS`], or a cell size that is not positive.
    pub fn new(
        origin: DVec2,
        cell: f64,
        columns: usize,
        rows: usize,
    ) -> Result<Self, GeometryError> {
        let wrong = |why| GeometryError::Grid { columns, rows, why };
        if columns == 0 || rows == 0 {
            return Err(wrong("expected at least one cell"));
        }
        if columns.saturating_mul(rows) > MAX_CELLS {
            return Err(wrong("more than 64 million cells"));
        }
        if !(cell > 0.0 && cell.is_finite() && origin.is_finite()) {
            return Err(wrong("origin or cell size is out of range or not finite"));
        }
        Ok(Self {
            origin,
            cell,
            columns,
            rows,
            occupied: vec![false; columns * rows],
        })
    }

    /// Number of columns (west to east).
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows (south to north).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the centre of a cell, m.
    pub fn centre(&self, column: usize, row: usize) -> DVec2 {
        self.origin + self.cell * DVec2::new(column as f64 + 0.5, row as f64 + 0.5)
    }

    /// Returns the cell of a point; `None` outside the grid.
    pub fn cell_of(&self, point: DVec2) -> Option<(usize, usize)> {
        let local = (point - self.origin) / self.cell;
        let inside = local.x >= 0.0
            && local.y >= 0.0
            && local.x < self.columns as f64
            && local.y < self.rows as f64;
        inside.then_some((local.x as usize, local.y as usize))
    }

    /// Whether a cell is occupied. Cells outside the grid count as occupied.
    pub fn is_occupied(&self, column: usize, row: usize) -> bool {
        column >= self.columns || row >= self.rows || self.occupied[row * self.columns + column]
    }

    /// Marks a cell as occupied. Does nothing outside the grid.
    pub fn occupy(&mut self, column: usize, row: usize) {
        if column < self.columns && row < self.rows {
            self.occupied[row * self.columns + column] = true;
        }
    }

    /// Marks every cell whose centre is inside a polygon as occupied.
    pub fn fill_polygon(&mut self, polygon: &[DVec2]) {
        let Some((low, high)) = crate::polygon::bounds(polygon) else {
            return;
        };
        // Only cells in the bounding box of the polygon are tested.
        let cell = self.cell;
        let clamp = |v: f64, count: usize| (v / cell).clamp(0.0, count as f64) as usize;
        let (low, high) = (low - self.origin, high - self.origin);
        for row in clamp(low.y, self.rows)..(clamp(high.y, self.rows) + 1).min(self.rows) {
            for column in
                clamp(low.x, self.columns)..(clamp(high.x, self.columns) + 1).min(self.columns)
            {
                if crate::polygon::contains(polygon, self.centre(column, row)) {
                    self.occupy(column, row);
                }
            }
        }
    }

    /// Returns a grid in which each cell is occupied if its centre is within `radius` metres of the
    /// centre of an occupied cell. In [Kuffner 1998], obstacles are expanded in this way by the
    /// radius of a character.
    ///
    /// Computed exactly, by thresholding a Euclidean distance transform. O(cells).
    pub fn grown(&self, radius: f64) -> Self {
        // Slightly more than the radius, so that cells at exactly this distance are included
        // despite rounding.
        let limit = (radius / self.cell) * (radius / self.cell) + 1e-9;
        let occupied = self
            .squared_distances()
            .into_iter()
            .map(|squared| squared <= limit)
            .collect();
        Self {
            occupied,
            ..self.clone()
        }
    }

    /// Returns the squared distance from each cell's centre to the nearest occupied cell, in cells;
    /// infinite if no cell is occupied ([Meijster 2000]). O(cells).
    pub fn squared_distances(&self) -> Vec<f64> {
        // There are two passes. The first finds, for each cell, the distance to the nearest
        // occupied cell in its column, upwards and downwards. The second processes each row: the
        // squared distance at column x is the minimum of (x - i)^2 + vertical(i)^2 over all columns
        // i, which is the lower envelope of parabolas.
        let (columns, rows) = (self.columns, self.rows);
        let mut vertical = vec![f64::INFINITY; columns * rows];
        for column in 0..columns {
            let mut distance = f64::INFINITY;
            for row in 0..rows {
                let index = row * columns + column;
                distance = if self.occupied[index] {
                    0.0
                } else {
                    distance + 1.0
                };
                vertical[index] = distance;
            }
            distance = f64::INFINITY;
            for row in (0..rows).rev() {
                let index = row * columns + column;
                distance = if self.occupied[index] {
                    0.0
                } else {
                    distance + 1.0
                };
                vertical[index] = vertical[index].min(distance);
            }
        }
        let mut envelope = Envelope::default();
        for row in vertical.chunks_mut(columns) {
            envelope.transform(row);
        }
        vertical
    }
}

/// Lower envelope of the parabolas of one row.
///
/// ```text
///     \     \  /    /        each column with an occupied cell has a parabola whose minimum is the
///      \     \/    /         squared vertical distance; of two parabolas, the one farther to the
///       \   _/\   /          right is the lower one beyond their intersection
///        \_/   \_/
/// ```
#[derive(Default)]
struct Envelope {
    /// Column of each parabola's vertex, and the position where the parabola becomes the lowest.
    vertices: Vec<(usize, f64)>,
    heights: Vec<f64>,
}

impl Envelope {
    /// Replaces vertical distances by squared Euclidean distances.
    fn transform(&mut self, row: &mut [f64]) {
        self.vertices.clear();
        self.heights.clear();
        self.heights.extend(row.iter().map(|d| d * d));
        for (column, &height) in self.heights.iter().enumerate() {
            // This column has no occupied cell and therefore no parabola.
            if height.is_infinite() {
                continue;
            }
            let mut from = f64::NEG_INFINITY;
            while let Some(&(vertex, start)) = self.vertices.last() {
                let (a, b) = (vertex as f64, column as f64);
                // Intersection of this parabola with the last one of the envelope. If it is to the left of
                // the point from which the last parabola is the lowest, the last parabola is never the
                // lowest.
                from = (height - self.heights[vertex] + b * b - a * a) / (2.0 * (b - a));
                if from > start {
                    break;
                }
                self.vertices.pop();
                from = f64::NEG_INFINITY;
            }
            self.vertices.push((column, from));
        }
        if self.vertices.is_empty() {
            return;
        }
        // Columns and lowest parabolas are both in ascending order, so one pass is enough.
        let mut current = 0;
        for (column, out) in row.iter_mut().enumerate() {
            let x = column as f64;
            while current + 1 < self.vertices.len() && self.vertices[current + 1].1 <= x {
                current += 1;
            }
            let vertex = self.vertices[current].0;
            let across = x - vertex as f64;
            *out = across * across + self.heights[vertex];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(columns: usize, rows: usize, marks: &[(usize, usize)]) -> OccupancyGrid {
        let mut grid = OccupancyGrid::new(DVec2::ZERO, 0.5, columns, rows).unwrap();
        for &(column, row) in marks {
            grid.occupy(column, row);
        }
        grid
    }

    #[test]
    fn a_cell_grows_to_a_disc() {
        let grown = grid(9, 9, &[(4, 4)]).grown(1.0);
        let marked = (0..81).filter(|i| grown.is_occupied(i % 9, i / 9)).count();
        // Centres within two cells of a given centre: 1 + 4 + 4 + 4.
        assert_eq!(marked, 13);
        assert!(grown.is_occupied(2, 4) && !grown.is_occupied(2, 3));
    }

    #[test]
    fn a_free_grid_stays_free() {
        assert!(
            grid(5, 4, &[])
                .squared_distances()
                .iter()
                .all(|d| d.is_infinite())
        );
    }

    #[test]
    fn a_polygon_marks_the_cells_whose_centres_it_holds() {
        let mut grid = grid(10, 10, &[]);
        grid.fill_polygon(&[(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.0, 2.0)].map(DVec2::from));
        let marked = (0..100)
            .filter(|i| grid.is_occupied(i % 10, i / 10))
            .count();
        assert_eq!(marked, 4);
    }

    proptest! {
        #[test]
        fn distances_agree_with_brute_force(
            marks in proptest::collection::vec((0..17usize, 0..11usize), 1..20),
        ) {
            let grid = grid(17, 11, &marks);
            for (index, squared) in grid.squared_distances().into_iter().enumerate() {
                let (column, row) = ((index % 17) as f64, (index / 17) as f64);
                let expected = marks.iter()
                    .map(|&(c, r)| (c as f64 - column).powi(2) + (r as f64 - row).powi(2))
                    .fold(f64::INFINITY, f64::min);
                prop_assert_eq!(squared, expected);
            }
        }
    }
}
