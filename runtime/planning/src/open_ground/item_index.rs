//! Index of items by position, for checks of small areas.

use super::shape::Bounds;
use roadwright_geometry::DVec2;
use std::collections::BTreeMap;

/// Edge length of the squares, m. A vehicle overlaps a few of them.
const SQUARE: f64 = 4.0;
/// An item is listed in at most this many squares. Larger items are visited in every query.
const MOST_SQUARES: i64 = 4096;

/// Index of items by the squares that their bounds overlap.
#[derive(Debug, Clone, Default)]
pub(super) struct ItemIndex {
    /// Items of each square, by row and column.
    squares: BTreeMap<(i32, i32), Vec<u32>>,
    /// Items that overlap too many squares.
    large: Vec<u32>,
}

/// A rectangle of squares, including both ends.
#[derive(Debug, Clone, Copy)]
struct Squares {
    low: (i32, i32),
    high: (i32, i32),
}

impl Squares {
    fn of(bounds: &Bounds) -> Self {
        let square = |point: DVec2| {
            let square = (point / SQUARE).floor();
            (square.y as i32, square.x as i32)
        };
        Self {
            low: square(bounds.low),
            high: square(bounds.high),
        }
    }

    fn is_small(self) -> bool {
        let rows = i64::from(self.high.0) - i64::from(self.low.0) + 1;
        let columns = i64::from(self.high.1) - i64::from(self.low.1) + 1;
        rows <= MOST_SQUARES && columns <= MOST_SQUARES && rows * columns <= MOST_SQUARES
    }

    fn each(self) -> impl Iterator<Item = (i32, i32)> {
        let columns = self.low.1..=self.high.1;
        (self.low.0..=self.high.0).flat_map(move |row| columns.clone().map(move |x| (row, x)))
    }
}

impl ItemIndex {
    pub(super) fn insert(&mut self, item: u32, bounds: &Bounds) {
        let squares = Squares::of(bounds);
        if !squares.is_small() {
            self.large.push(item);
            return;
        }
        for square in squares.each() {
            self.squares.entry(square).or_default().push(item);
        }
    }

    /// Removes an item. `bounds` must be the bounds passed when the item was inserted.
    pub(super) fn remove(&mut self, item: u32, bounds: &Bounds) {
        let squares = Squares::of(bounds);
        if !squares.is_small() {
            self.large.retain(|other| *other != item);
            return;
        }
        for square in squares.each() {
            let Some(items) = self.squares.get_mut(&square) else {
                continue;
            };
            items.retain(|other| *other != item);
            if items.is_empty() {
                self.squares.remove(&square);
            }
        }
    }

    /// Whether a condition holds for an item near an area. Stops at the first such item. An item may be visited more
    /// than once.
    pub(super) fn any_near(&self, area: &Bounds, mut condition: impl FnMut(u32) -> bool) -> bool {
        if self.large.iter().any(|item| condition(*item)) {
            return true;
        }
        let squares = Squares::of(area);
        if !squares.is_small() {
            let mut all = self.squares.values().flatten();
            return all.any(|item| condition(*item));
        }
        if squares.low.1 > squares.high.1 {
            // The area has coordinates that are not numbers.
            return false;
        }
        (squares.low.0..=squares.high.0).any(|row| {
            let columns = (row, squares.low.1)..=(row, squares.high.1);
            let mut items = self.squares.range(columns).flat_map(|(_, items)| items);
            items.any(|item| condition(*item))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(x: f64, y: f64, size: f64) -> Bounds {
        let low = DVec2::new(x, y);
        Bounds {
            low,
            high: low + DVec2::splat(size),
        }
    }

    fn near(index: &ItemIndex, area: &Bounds) -> Vec<u32> {
        let mut found = Vec::new();
        index.any_near(area, |item| {
            found.push(item);
            false
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn every_item_that_meets_an_area_is_visited() {
        let mut index = ItemIndex::default();
        // The third and the fourth overlap more squares than an index lists.
        let items = [
            bounds(0.0, 0.0, 1.0),
            bounds(-9.0, 3.0, 10.0),
            bounds(-500.0, -500.0, 1000.0),
            bounds(-1e7, -1e7, 2e7),
        ];
        for (item, bounds) in (0..).zip(&items) {
            index.insert(item, bounds);
        }
        let areas = [
            bounds(0.5, 0.5, 0.1),
            bounds(0.0, 4.0, 0.0),
            bounds(30.0, -80.0, 5.0),
            bounds(2000.0, 0.0, 3.0),
            bounds(-600.0, -600.0, 1200.0),
        ];
        for area in &areas {
            let met = (0..).zip(&items).filter(|(_, bounds)| bounds.meets(area));
            let found = near(&index, area);
            for (item, _) in met {
                assert!(found.contains(&item), "{item} near {area:?}");
            }
        }
        assert_eq!(near(&index, &bounds(30.0, -80.0, 5.0)), [2, 3]);
        index.remove(1, &items[1]);
        index.remove(2, &items[2]);
        assert_eq!(near(&index, &bounds(-4.0, 4.0, 1.0)), [3]);
        assert_eq!(near(&index, &bounds(-600.0, -600.0, 1200.0)), [0, 3]);
    }

    #[test]
    fn the_search_stops_at_the_first_hit() {
        let mut index = ItemIndex::default();
        for item in 0..5 {
            index.insert(item, &bounds(0.0, 0.0, 1.0));
        }
        let mut visited = 0;
        let hit = index.any_near(&bounds(0.0, 0.0, 1.0), |_| {
            visited += 1;
            visited == 2
        });
        assert!(hit);
        assert_eq!(visited, 2);
    }
}
