//! Grid index of boxes. The cost of searching an area is independent of the size of the largest
//! box.

use super::body_list::Changes;
use glam::DVec2;
use roadwright_geometry::polygon;

/// Size of a cell, m. It is roughly the space taken up by a vehicle and its surroundings.
const CELL: f64 = 8.0;
/// Maximum number of cells, and of entries in all cells together. Larger worlds get larger cells.
const MOST_CELLS: f64 = 4e6;

/// Number of a box, and its low and high corners.
type Numbered = (u32, (DVec2, DVec2));

/// An entry of a cell: a numbered box.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct CellEntry {
    low: DVec2,
    high: DVec2,
    number: u32,
}

/// Boxes, indexed by the cells that they overlap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cells {
    origin: DVec2,
    cell: f64,
    columns: usize,
    rows: usize,
    /// Index of the first entry of each cell, followed by the number of entries.
    starts: Vec<u32>,
    entries: Vec<CellEntry>,
}

impl Cells {
    /// Builds the cells of boxes that are sorted by number. `touches` returns whether the content
    /// of a box may reach into a disc. This is useful for slanting walls: the box of such a wall is
    /// large, but the wall occupies only a few of its cells.
    pub(super) fn new(boxes: &[Numbered], touches: impl Fn(u32, DVec2, f64) -> bool) -> Self {
        Self::after(None, boxes, touches)
    }

    /// Builds the cells of all bodies after an edit. Bodies that are kept stay in their cells. The
    /// number of a box is its index in the list.
    pub(super) fn after(
        before: Option<(&Self, &Changes)>,
        boxes: &[Numbered],
        touches: impl Fn(u32, DVec2, f64) -> bool,
    ) -> Self {
        let mut cells = Self::empty(boxes);
        if boxes.is_empty() {
            return cells;
        }
        let known = before.filter(|(before, _)| before.has_grid_of(&cells));
        let Some((before, changes)) = known else {
            let found = cells.find(0..boxes.len() as u32, boxes, touches);
            cells.fill(&found, boxes);
            return cells;
        };
        let mut found = cells.find(changes.added.iter().copied(), boxes, touches);
        let added = found.len();
        before.find_kept(changes, &mut found);
        cells.fill(&found, boxes);
        let mut with_added: Vec<u32> = found[..added].iter().map(|(cell, _)| *cell).collect();
        with_added.sort_unstable();
        with_added.dedup();
        cells.sort(&with_added);
        cells
    }

    /// Creates an empty grid that fits the given boxes.
    fn empty(boxes: &[Numbered]) -> Self {
        let corners: Vec<DVec2> = boxes
            .iter()
            .flat_map(|(_, (low, high))| [*low, *high])
            .collect();
        let Some((low, high)) = polygon::bounds(&corners) else {
            return Self::default();
        };
        let size = (high - low).max(DVec2::splat(1.0));
        let mut cells = Self {
            origin: low,
            cell: CELL.max((size.element_product() / MOST_CELLS).sqrt()),
            ..Self::default()
        };
        // A single wall across the world may cover many cells, and so may a thousand small walls.
        while cells.covered(boxes) > MOST_CELLS {
            cells.cell *= 2.0;
        }
        cells.columns = (size.x / cells.cell) as usize + 1;
        cells.rows = (size.y / cells.cell) as usize + 1;
        cells
    }

    fn has_grid_of(&self, other: &Self) -> bool {
        (self.origin, self.cell) == (other.origin, other.cell)
            && (self.columns, self.rows) == (other.columns, other.rows)
    }

    fn covered(&self, boxes: &[Numbered]) -> f64 {
        let of = |(_, (low, high)): &Numbered| ((*high - *low) / self.cell + 2.0).element_product();
        // It is never worthwhile to have more than a few cells per box. The doubling ends at the
        // latest when all boxes are in one cell.
        boxes.iter().map(of).sum::<f64>() - 4.0 * boxes.len() as f64
    }

    /// Finds the cells that the boxes overlap, box by box. Each cell is returned with the index of
    /// its box in the list.
    fn find(
        &self,
        places: impl Iterator<Item = u32>,
        boxes: &[Numbered],
        touches: impl Fn(u32, DVec2, f64) -> bool,
    ) -> Vec<(u32, u32)> {
        let radius = 0.5 * self.cell * DVec2::ONE.length();
        let mut found = Vec::new();
        for place in places {
            let (number, (low, high)) = boxes[place as usize];
            for cell in self.range(low, high) {
                let corner = DVec2::new((cell % self.columns) as f64, (cell / self.columns) as f64);
                let middle = self.origin + (corner + 0.5) * self.cell;
                if touches(number, middle, radius) {
                    found.push((cell as u32, place));
                }
            }
        }
        found
    }

    /// Adds the cells of boxes that an edit has kept, with their new numbers.
    fn find_kept(&self, changes: &Changes, found: &mut Vec<(u32, u32)>) {
        for (cell, pair) in (0u32..).zip(self.starts.windows(2)) {
            let entries = &self.entries[pair[0] as usize..pair[1] as usize];
            let kept = entries
                .iter()
                .filter_map(|entry| changes.number(entry.number));
            found.extend(kept.map(|number| (cell, number)));
        }
    }

    /// Adds boxes to the cells that they overlap. The entries of a cell keep their order.
    fn fill(&mut self, found: &[(u32, u32)], boxes: &[Numbered]) {
        // A counting sort from the end: counts become ends, and each entry decrements the end of
        // its cell, which finally becomes the start of the cell.
        self.starts = vec![0; self.columns * self.rows + 1];
        for (cell, _) in found {
            self.starts[*cell as usize] += 1;
        }
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.entries = vec![CellEntry::default(); found.len()];
        for &(cell, place) in found.iter().rev() {
            let (number, (low, high)) = boxes[place as usize];
            let at = &mut self.starts[cell as usize];
            *at -= 1;
            self.entries[*at as usize] = CellEntry { low, high, number };
        }
    }

    /// Sorts the entries of the given cells by number.
    fn sort(&mut self, cells: &[u32]) {
        for &cell in cells {
            let range = [cell, cell + 1].map(|cell| self.starts[cell as usize] as usize);
            self.entries[range[0]..range[1]].sort_unstable_by_key(|entry| entry.number);
        }
    }

    fn range(&self, low: DVec2, high: DVec2) -> impl Iterator<Item = usize> + use<> {
        let columns = self.columns;
        let ((left, bottom), (right, top)) = (self.cell_of(low), self.cell_of(high));
        (bottom..=top).flat_map(move |row| (left..=right).map(move |column| row * columns + column))
    }

    #[inline]
    fn cell_of(&self, at: DVec2) -> (usize, usize) {
        let local = (at - self.origin) / self.cell;
        // The float cast saturates, so points outside the grid are assigned to the cells at the
        // border.
        let column = (local.x as usize).min(self.columns - 1);
        let row = (local.y as usize).min(self.rows - 1);
        (column, row)
    }

    /// Calls `visit` at least once for every box that overlaps the given box.
    #[inline]
    pub(super) fn for_each_in(&self, low: DVec2, high: DVec2, mut visit: impl FnMut(u32)) {
        if self.entries.is_empty() {
            return;
        }
        let ((left, bottom), (right, top)) = (self.cell_of(low), self.cell_of(high));
        for row in bottom..=top {
            let base = row * self.columns;
            // The cells of a row are contiguous, so each row is one run.
            let from = self.starts[base + left] as usize;
            let to = self.starts[base + right + 1] as usize;
            for entry in &self.entries[from..to] {
                let apart = entry.low.cmpgt(high).any() || entry.high.cmplt(low).any();
                if !apart {
                    visit(entry.number);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair() -> impl Strategy<Value = (DVec2, DVec2)> {
        let place = (-300.0..300.0f64, -80.0..80.0f64);
        let size = (0.0..60.0f64, 0.0..200.0f64);
        (place, size).prop_map(|((x, y), (width, height))| {
            let low = DVec2::new(x, y);
            (low, low + DVec2::new(width, height))
        })
    }

    proptest! {
        #[test]
        fn every_box_that_is_met_is_found(
            boxes in proptest::collection::vec(pair(), 0..60),
            asked in pair(),
        ) {
            let boxes: Vec<_> = (10..).zip(boxes).collect();
            let cells = Cells::new(&boxes, |_, _, _| true);
            let mut found = Vec::new();
            cells.for_each_in(asked.0, asked.1, |number| found.push(number));
            found.sort_unstable();
            found.dedup();
            let meets = |(low, high): (DVec2, DVec2)| {
                !(low.cmpgt(asked.1).any() || high.cmplt(asked.0).any())
            };
            let expected: Vec<u32> = boxes
                .iter()
                .filter(|(_, one)| meets(*one))
                .map(|(number, _)| *number)
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_world_of_walls_takes_no_more_memory_than_a_city() {
        let walls: Vec<_> = (0..2000u32)
            .map(|i| {
                let low = DVec2::new(f64::from(i), 0.0);
                (i, (low, low + DVec2::splat(1e6)))
            })
            .collect();
        let cells = Cells::new(&walls, |_, _, _| true);
        assert!(cells.entries.len() < 5_000_000 && cells.starts.len() < 5_000_000);
        let mut found = Vec::new();
        let middle = DVec2::splat(5e5);
        cells.for_each_in(middle, middle, |number| found.push(number));
        assert_eq!(found.len(), 2000);
    }
}
