//! Exports parts of a map as text, with one character per cell, and as colours for pictures.

use super::cell::{Cell, CellSize};
use super::cost::{PLAIN, SMALLEST_FACTOR};
use super::grid::GridError;
use super::ground::{OpenGround, ProfileId, Reading, Window};
use std::collections::BTreeMap;

/// Maximum number of cells in a picture. Larger pictures do not fit on a screen.
const MOST_SHOWN: u64 = 2048 * 2048;

/// Cost factors of the cells in a rectangular window, for export as text or as an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellMap {
    window: Window,
    /// Factors row by row from the south-west; 0 for blocked cells.
    factors: Vec<u32>,
    marks: BTreeMap<Cell, Mark>,
}

/// Symbol that is drawn on a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// A path crosses the cell.
    Path,
    /// An agent is in the cell.
    Agent,
    /// A goal is in the cell.
    Goal,
}

impl OpenGround {
    /// Returns the cost factors of the cells in a rectangular window of a profile's map.
    ///
    /// # Errors
    /// If the window has no cells or too many cells.
    pub fn cell_map(
        &mut self,
        profile: ProfileId,
        reading: Reading,
        window: Window,
    ) -> Result<CellMap, GridError> {
        let map = self.window(profile, None, reading, window)?;
        let factors = map.cells().map(|cell| map.factor_at(cell)).collect();
        Ok(CellMap {
            window,
            factors,
            marks: BTreeMap::new(),
        })
    }
}

impl Window {
    /// Returns the cells of the given size between two corners, which may be given in any order,
    /// with a margin in metres. A rectangle that is too large to be shown is reduced to 2048
    /// columns and rows.
    pub fn around(corners: [roadwright_geometry::DVec2; 2], margin: f64, size: CellSize) -> Self {
        let [a, b] = corners;
        let low = size.nearest_cell(a.min(b) - margin);
        let high = size.nearest_cell(a.max(b) + margin);
        let edge = (MOST_SHOWN as f64).sqrt() as u32;
        let span = |low: i32, high: i32| high.abs_diff(low).saturating_add(1);
        let (columns, rows) = (span(low.x, high.x), span(low.y, high.y));
        let is_too_large = u64::from(columns) * u64::from(rows) > MOST_SHOWN;
        let cut = |cells: u32| if is_too_large { cells.min(edge) } else { cells };
        Self {
            origin: low,
            columns: cut(columns),
            rows: cut(rows),
        }
    }
}

impl CellMap {
    /// Returns the number of columns.
    pub fn columns(&self) -> u32 {
        self.window.columns
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u32 {
        self.window.rows
    }

    /// Marks a cell. A goal replaces other marks, and an agent replaces a path. Cells outside the rectangle
    /// are ignored.
    pub fn mark(&mut self, cell: Cell, mark: Mark) {
        let at = self.marks.entry(cell).or_insert(mark);
        *at = mark.max(*at);
    }

    /// Factor at a column and a row, counted from the north-west corner; 0 if the cell is blocked.
    fn at(&self, column: u32, row: u32) -> u32 {
        let from_south = self.window.rows - 1 - row;
        let at = u64::from(from_south) * u64::from(self.window.columns) + u64::from(column);
        self.factors[at as usize]
    }

    fn cell(&self, column: u32, row: u32) -> Cell {
        let origin = self.window.origin;
        Cell::new(
            origin.x + column as i32,
            origin.y + (self.window.rows - 1 - row) as i32,
        )
    }

    /// Returns the map as text, with one line per row from the north and one character per cell, as
    /// in [Gerdelan 2011], figure 5.7.
    ///
    /// | character | cell |
    /// | --- | --- |
    /// | `#` | blocked |
    /// | `.` | plain ground |
    /// | `-` | cheaper than plain ground |
    /// | `1` to `9` | costs more: up to twice as much, up to four times, and so on |
    /// | `*`, `A`, `G` | path, agent and goal |
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.factors.len() + self.window.rows as usize);
        for row in 0..self.window.rows {
            for column in 0..self.window.columns {
                let mark = self.marks.get(&self.cell(column, row));
                text.push(match mark {
                    Some(Mark::Path) => '*',
                    Some(Mark::Agent) => 'A',
                    Some(Mark::Goal) => 'G',
                    None => character(self.at(column, row)),
                });
            }
            text.push('\n');
        }
        text
    }

    /// Colour of a cell, 0xRRGGBB, at a column and a row counted from the north-west corner. Marks have their
    /// own colours. Otherwise, blocked cells are dark, plain ground is light, and the more a cell costs, the
    /// redder it is.
    pub fn color(&self, column: u32, row: u32) -> u32 {
        match self.marks.get(&self.cell(column, row)) {
            Some(Mark::Path) => 0x1f_6f_eb,
            Some(Mark::Agent) => 0x0b_3d_91,
            Some(Mark::Goal) => 0x1a_7f_37,
            None => shade(self.at(column, row)),
        }
    }
}

/// Number of times that the factor of plain ground has to be doubled to reach `factor`, rounded up; 0 for
/// plain ground.
fn doublings(factor: u32) -> u32 {
    let more = factor.div_ceil(PLAIN as u32);
    more.next_power_of_two().trailing_zeros()
}

fn character(factor: u32) -> char {
    match factor {
        0 => '#',
        factor if factor < PLAIN as u32 => '-',
        factor => match doublings(factor).min(9) {
            0 => '.',
            times => char::from_digit(times, 10).unwrap_or('9'),
        },
    }
}

fn shade(factor: u32) -> u32 {
    const BLOCKED: u32 = 0x30_30_36;
    const CHEAP: u32 = 0xd7_ef_d0;
    const BASE: u32 = 0xf4_f1_ea;
    // Nine steps from light to dark red.
    const STEPS: [u32; 9] = [
        0xf7_e3_c4, 0xf9_d0_9a, 0xf7_b6_74, 0xf0_98_55, 0xe4_78_3f, 0xd2_58_30, 0xb8_3b_26,
        0x98_24_1f, 0x74_14_1a,
    ];
    match factor {
        0 => BLOCKED,
        factor if factor < PLAIN as u32 => CHEAP,
        factor => match doublings(factor).min(9) as usize {
            0 => BASE,
            times => STEPS[times - 1],
        },
    }
}

const _: () = assert!(SMALLEST_FACTOR < PLAIN as u32);

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::super::{Body, Item, Layer, ObstacleCosts, Profile, Shape, WALL};
    use super::*;
    use roadwright_geometry::oriented_box::OrientedBox;
    use roadwright_geometry::{DVec2, Pose};

    #[test]
    fn a_map_is_text_with_the_north_above() {
        let mut ground = OpenGround::new();
        let shape = |x: f64, y: f64, length: f64, width: f64| {
            Shape::Box(OrientedBox::new(Pose::new(x, y, 0.0), length, width))
        };
        let wall = Item::obstacle(shape(4.0, 3.5, 2.0, 1.0), WALL);
        let road = Item::area(shape(4.0, 1.5, 8.0, 1.0), Layer::Roads, 48);
        let paved = Item::area(shape(0.5, 2.5, 1.0, 1.0), Layer::Roads, -8);
        for item in [wall, road, paved] {
            ground.insert(item).unwrap();
        }
        let point = Body {
            length: 0.0,
            width: 0.0,
            height: 1.0,
            ground_clearance: 0.0,
        };
        let profile = ground.add_profile(Profile {
            costs: ObstacleCosts::NONE,
            ..Profile::new(point, CellSize::WAY_POINTS)
        });
        let corners = [DVec2::new(7.5, 4.5), DVec2::new(0.5, 0.5)];
        let window = Window::around(corners, 0.0, CellSize::WAY_POINTS);
        let mut map = ground
            .cell_map(profile, Reading::Everything, window)
            .unwrap();
        map.mark(Cell::new(1, 0), Mark::Path);
        map.mark(Cell::new(1, 0), Mark::Agent);
        map.mark(Cell::new(2, 0), Mark::Path);
        map.mark(Cell::new(3, 0), Mark::Goal);
        map.mark(Cell::new(3, 0), Mark::Path);
        map.mark(Cell::new(99, 99), Mark::Path);
        assert_eq!(
            map.text(),
            "........\n...##...\n-.......\n22222222\n.A*G....\n"
        );
        // The blocked cell is dark, and the expensive cell is red.
        assert_eq!((map.color(3, 1), map.color(0, 3)), (0x30_30_36, 0xf9_d0_9a));
        let endless = Window::around([DVec2::ZERO, DVec2::splat(1e7)], 5.0, CellSize::FINEST);
        assert_eq!((endless.columns, endless.rows), (2048, 2048));
    }
}
