//! A grid of cells over boxes: finds what may lie in a box, at a cost that does not depend on how large
//! the largest of all boxes is.

use super::body_list::Changes;
use glam::DVec2;
use roadwright_geometry::polygon;

/// Side of a cell, m: about a vehicle and the room around it.
const CELL: f64 = 8.0;
/// Cells at most, and cells that boxes cover together: in a larger world cells are larger.
const MOST_CELLS: f64 = 4e6;

/// A box by its corners, with its number.
type Numbered = (u32, (DVec2, DVec2));

/// Something in a cell, with its box.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct CellEntry {
    low: DVec2,
    high: DVec2,
    number: u32,
}

/// Boxes by the cells that they cover.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cells {
    origin: DVec2,
    cell: f64,
    columns: usize,
    rows: usize,
    /// Start of each cell in the entries; one more than cells.
    starts: Vec<u32>,
    entries: Vec<CellEntry>,
}

impl Cells {
    /// The cells of boxes, which are numbered in growing order. `touches` says whether what is in a box may
    /// reach into a disc: a slanting wall has a large box, and is in few of its cells.
    pub(super) fn new(boxes: &[Numbered], touches: impl Fn(u32, DVec2, f64) -> bool) -> Self {
        Self::after(None, boxes, touches)
    }

    /// The cells of all bodies after an edit: bodies that stay keep theirs. A box stands in the list where its
    /// number says.
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

    /// The grid for some boxes, without them.
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
        // One wall through the world covers many cells, and so may a thousand.
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
        // Never more than a handful for each box would be worth it: doubling ends when all are in one.
        boxes.iter().map(of).sum::<f64>() - 4.0 * boxes.len() as f64
    }

    /// The cells that some boxes reach into, box by box: each with the place of its box in the list.
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

    /// Adds the cells of boxes that an edit has left, with their numbers now.
    fn find_kept(&self, changes: &Changes, found: &mut Vec<(u32, u32)>) {
        for (cell, pair) in (0u32..).zip(self.starts.windows(2)) {
            let entries = &self.entries[pair[0] as usize..pair[1] as usize];
            let kept = entries
                .iter()
                .filter_map(|entry| changes.number(entry.number));
            found.extend(kept.map(|number| (cell, number)));
        }
    }

    /// Puts boxes into the cells that they were found in. Those of a cell keep their order.
    fn fill(&mut self, found: &[(u32, u32)], boxes: &[Numbered]) {
        // A counting sort from behind: counts become ends, and each entry moves its own one down, until it is
        // where the cell begins.
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

    /// Brings some cells into the order of numbers.
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
        // A cast of floats saturates, so what lies outside goes to the cells at the border.
        let column = (local.x as usize).min(self.columns - 1);
        let row = (local.y as usize).min(self.rows - 1);
        (column, row)
    }

    /// Calls `visit` for every box that meets one, at least once.
    #[inline]
    pub(super) fn for_each_in(&self, low: DVec2, high: DVec2, mut visit: impl FnMut(u32)) {
        if self.entries.is_empty() {
            return;
        }
        let ((left, bottom), (right, top)) = (self.cell_of(low), self.cell_of(high));
        for row in bottom..=top {
            let base = row * self.columns;
            // The cells of a row lie behind each other: one run for each row.
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
