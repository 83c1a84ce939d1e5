//! A uniform grid over points, used to find the points near a position. It is rebuilt from scratch,
//! which takes a few nanoseconds per point.

use glam::DVec2;

/// Maximum number of cells of a grid. Larger worlds get larger cells.
const MAX_CELLS: f64 = 4e6;

/// Points in the order of their cells (structure of arrays), sorted by counting sort.
///
/// The points in a cell have the order of the input, so results do not depend on threads.
#[derive(Debug, Clone, Default)]
pub struct GridIndex {
    origin: DVec2,
    cell: f64,
    columns: usize,
    rows: usize,
    /// Start of each cell in the arrays below, followed by the number of points.
    starts: Vec<u32>,
    ids: Vec<u32>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Cell of each input point. The buffer is kept to avoid allocations when rebuilding.
    cells: Vec<u32>,
}

impl GridIndex {
    /// Creates an empty grid.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the contents by `positions`. The id of a position is its index. O(points + cells).
    ///
    /// `cell` is the preferred cell size, m. Cells are larger if the world would otherwise have too many.
    pub fn rebuild(&mut self, positions: &[DVec2], cell: f64) {
        let (low, high) = crate::polygon::bounds(positions).unwrap_or_default();
        let size = high - low;
        // Cells also cost time, so their number is limited to a few per point.
        let most = (4.0 * positions.len() as f64 + 1024.0).min(MAX_CELLS);
        // Cell size with which about this many cells cover the bounding box.
        let smallest = (size.x.max(1.0) * size.y.max(1.0) / most).sqrt();
        // A long, thin box has few cells across, so the number of cells along it is also limited.
        let smallest = smallest.max(size.max_element() / most);
        self.cell = cell.max(smallest).max(1e-3);
        self.origin = low;
        self.columns = (size.x / self.cell) as usize + 1;
        self.rows = (size.y / self.cell) as usize + 1;
        self.starts.clear();
        self.starts.resize(self.columns * self.rows + 1, 0);
        self.cells.clear();
        for &position in positions {
            let (column, row) = self.cell_of(position);
            let cell = row * self.columns + column;
            self.cells.push(cell as u32);
            self.starts[cell + 1] += 1;
        }
        // Turns the counts into running sums, which are the ends of the points of each cell.
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.ids.resize(positions.len(), 0);
        self.x.resize(positions.len(), 0.0);
        self.y.resize(positions.len(), 0.0);
        // Filling the arrays backwards turns the running sums into the starts of the cells and
        // keeps the input order.
        for id in (0..positions.len()).rev() {
            let end = &mut self.starts[self.cells[id] as usize + 1];
            *end -= 1;
            let slot = *end as usize;
            self.ids[slot] = id as u32;
            self.x[slot] = positions[id].x;
            self.y[slot] = positions[id].y;
        }
        // Each entry i + 1 contains the start of cell i, so the entries are shifted by one.
        self.starts.rotate_left(1);
        let last = self.starts.len() - 1;
        self.starts[last] = positions.len() as u32;
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Calls `visit(id, position)` for every point within `radius` of `centre`, in cell order.
    #[inline]
    pub fn for_each_within(&self, centre: DVec2, radius: f64, mut visit: impl FnMut(u32, DVec2)) {
        if self.ids.is_empty() {
            return;
        }
        let (low_column, low_row) = self.cell_of(centre - DVec2::splat(radius));
        let (high_column, high_row) = self.cell_of(centre + DVec2::splat(radius));
        let limit = radius * radius;
        // The cells of a row are consecutive in the arrays, so each row is one run.
        for row in low_row..=high_row {
            let base = row * self.columns;
            let from = self.starts[base + low_column] as usize;
            let to = self.starts[base + high_column + 1] as usize;
            for slot in from..to {
                let position = DVec2::new(self.x[slot], self.y[slot]);
                if (position - centre).length_squared() <= limit {
                    visit(self.ids[slot], position);
                }
            }
        }
    }

    #[inline]
    fn cell_of(&self, position: DVec2) -> (usize, usize) {
        let local = (position - self.origin) / self.cell;
        // The float cast saturates, so points outside the grid are assigned to border cells.
        let column = (local.x as usize).min(self.columns - 1);
        let row = (local.y as usize).min(self.rows - 1);
        (column, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_grid_finds_what_a_scan_finds(
            points in proptest::collection::vec((-200.0..200.0f64, -50.0..50.0f64), 0..80),
            centre in (-250.0..250.0f64, -80.0..80.0f64),
            radius in 0.0..120.0f64,
            cell in 1.0..60.0f64,
        ) {
            let positions: Vec<_> = points.iter().map(|&p| DVec2::from(p)).collect();
            let centre = DVec2::from(centre);
            let mut grid = GridIndex::new();
            // The grid is built twice to detect data left over from the first build.
            grid.rebuild(&positions[..positions.len() / 2], 7.0);
            grid.rebuild(&positions, cell);
            let mut found = Vec::new();
            grid.for_each_within(centre, radius, |id, _| found.push(id));
            found.sort_unstable();
            let expected: Vec<u32> = (0..positions.len() as u32)
                .filter(|&i| (positions[i as usize] - centre).length_squared() <= radius * radius)
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn places_far_from_each_other_cost_no_more_than_others() {
        for far in [1e4, 1e9, 1e14, 1e100] {
            let positions = [DVec2::ZERO, DVec2::new(far, 1.0), DVec2::new(1.0, 0.0)];
            let mut grid = GridIndex::new();
            grid.rebuild(&positions, 20.0);
            assert!(grid.starts.len() < 10_000, "{far}: {}", grid.starts.len());
            let mut found = Vec::new();
            grid.for_each_within(DVec2::ZERO, 2.0, |id, _| found.push(id));
            found.sort_unstable();
            assert_eq!(found, [0, 2], "{far}");
        }
    }
}
