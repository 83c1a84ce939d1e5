//! Masks: the cells that a move sweeps, and a bit map of the positions near fixed obstacles, [Adam
//! 2007], section 5.6.
//!
//! The mask of a move is a list of discs that contain its swept cells, relative to the placement at
//! which it begins. A bit of the map is set if a disc whose centre is in the cell may touch a fixed
//! obstacle. A move is free of fixed obstacles if the bits of all its discs are clear. Otherwise,
//! the exact test is needed only for the pieces that touch a disc whose bit is set, and only for
//! the obstacles near these discs. The result always equals the result of the exact test.

use crate::body::{Bounds, Convex};
use crate::placement::Placement;
use crate::sweep::Piece;
use roadwright_geometry::DVec2;
use std::f64::consts::FRAC_1_SQRT_2;

/// Edge length of a swept cell, m. A car on a straight move sweeps a single row of them.
const SWEPT: f64 = 1.7;
/// Radius of a disc that contains a swept cell, with a margin for rounding, m.
const RADIUS: f64 = SWEPT * FRAC_1_SQRT_2 + 1e-6;
/// Edge length of a cell of the bit map, m, unless the map would have too many cells.
const CELL: f64 = 0.5;
/// Maximum number of cells of the bit map.
const MOST_CELLS: f64 = 4e6;

/// The discs that a move sweeps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mask {
    discs: Vec<Disc>,
}

/// A disc around a swept cell.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Disc {
    centre: DVec2,
    /// Indices of the first and the last piece that touches the cell.
    pieces: [u32; 2],
}

/// The part of a move that may touch fixed obstacles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Doubt {
    /// Indices of the first and the last piece to test.
    pub(crate) pieces: [usize; 2],
    /// Box that contains all possible contacts, in world coordinates.
    pub(crate) area: Bounds,
}

impl Mask {
    /// Computes the mask of the pieces of a move.
    pub(crate) fn of(pieces: &[Piece]) -> Self {
        let mut discs: Vec<Disc> = Vec::new();
        for (number, piece) in (0u32..).zip(pieces) {
            // Cells are centred on the axis of the vehicle.
            let first = (piece.bounds.low / SWEPT - 0.5).ceil() - 1.0;
            let last = (piece.bounds.high / SWEPT + 0.5).floor() + 1.0;
            let size = last - first;
            for row in 0..=size.y as u32 {
                for column in 0..=size.x as u32 {
                    let cell = first + DVec2::new(f64::from(column), f64::from(row));
                    let centre = SWEPT * cell;
                    if !square(centre).meets(&piece.hull) {
                        continue;
                    }
                    match discs.iter_mut().find(|disc| disc.centre == centre) {
                        Some(disc) => disc.pieces[1] = number,
                        None => discs.push(Disc {
                            centre,
                            pieces: [number; 2],
                        }),
                    }
                }
            }
        }
        Self { discs }
    }
}

/// Returns the square of a swept cell.
fn square(centre: DVec2) -> Convex {
    let half = 0.5 * SWEPT;
    let corner = |x: f64, y: f64| centre + DVec2::new(x, y);
    Convex::quadrilateral([
        corner(-half, -half),
        corner(half, -half),
        corner(half, half),
        corner(-half, half),
    ])
}

/// Positions near fixed obstacles, one bit per cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct MaskMap {
    low: DVec2,
    /// Number of cells per metre.
    scale: f64,
    columns: usize,
    rows: usize,
    /// Bits of the cells, row by row.
    words: Vec<u64>,
}

impl MaskMap {
    /// Creates the map of fixed obstacles.
    pub(crate) fn of(fixed: &[Convex]) -> Self {
        let boxes = fixed.iter().map(Convex::bounds);
        let Some(all) = boxes.reduce(|one, other| one.with(&other)) else {
            return Self::default();
        };
        let all = all.grown(RADIUS);
        let size = all.high - all.low;
        let cell = CELL.max((size.x * size.y / MOST_CELLS).sqrt());
        let all = all.grown(2.0 * cell);
        let counts = ((all.high - all.low) / cell).ceil();
        let (columns, rows) = (counts.x as usize, counts.y as usize);
        let mut map = Self {
            low: all.low,
            scale: 1.0 / cell,
            columns,
            rows,
            words: vec![0; (columns * rows).div_ceil(64)],
        };
        for outline in fixed {
            map.add(outline, cell);
        }
        map
    }

    /// Sets the bits of the cells in which a disc may touch an outline.
    fn add(&mut self, outline: &Convex, cell: f64) {
        // Half of the diagonal of a cell, slightly more because of rounding.
        let reach = RADIUS + FRAC_1_SQRT_2 * cell * (1.0 + 1e-6);
        let index = |at: f64, count: usize| ((at * self.scale).max(0.0) as usize).min(count - 1);
        let bounds = outline.bounds().grown(reach);
        let rows = [bounds.low, bounds.high].map(|corner| index(corner.y - self.low.y, self.rows));
        for row in rows[0]..=rows[1] {
            let height = self.low.y + cell * (row as f64 + 0.5);
            let Some([west, east]) = extent(outline, [height - reach, height + reach]) else {
                continue;
            };
            let columns = [west - reach, east + reach].map(|x| index(x - self.low.x, self.columns));
            for column in columns[0]..=columns[1] {
                let centre = DVec2::new(self.low.x + cell * (column as f64 + 0.5), height);
                if outline.distance(centre) <= reach {
                    let number = row * self.columns + column;
                    self.words[number / 64] |= 1 << (number % 64);
                }
            }
        }
    }

    /// Whether a disc may touch an obstacle. `centre` is in world coordinates.
    #[inline]
    fn is_near(&self, centre: DVec2) -> bool {
        let at = (centre - self.low) * self.scale;
        if at.x < 0.0 || at.y < 0.0 {
            return false;
        }
        let (column, row) = (at.x as usize, at.y as usize);
        if column >= self.columns || row >= self.rows {
            return false;
        }
        let number = row * self.columns + column;
        (self.words[number / 64] >> (number % 64)) & 1 == 1
    }

    /// Returns the part of a move that may touch fixed obstacles; `None` if the move touches none
    /// of them.
    pub(crate) fn doubt(&self, mask: &Mask, place: &Placement) -> Option<Doubt> {
        let mut pieces = [u32::MAX, 0];
        let mut area = Bounds {
            low: DVec2::INFINITY,
            high: DVec2::NEG_INFINITY,
        };
        for disc in &mask.discs {
            let centre = place.point(disc.centre);
            if self.is_near(centre) {
                pieces = [pieces[0].min(disc.pieces[0]), pieces[1].max(disc.pieces[1])];
                area.low = area.low.min(centre);
                area.high = area.high.max(centre);
            }
        }
        (pieces[0] <= pieces[1]).then(|| Doubt {
            pieces: pieces.map(|number| number as usize),
            area: area.grown(RADIUS),
        })
    }
}

/// Returns the smallest and largest east coordinate of an outline between two north coordinates, m;
/// `None` if no part of the outline is between them.
fn extent(outline: &Convex, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
    let corners = outline.corners();
    let mut extent = [f64::INFINITY, f64::NEG_INFINITY];
    for (number, &from) in corners.iter().enumerate() {
        let along = corners[(number + 1) % corners.len()] - from;
        // Fractions of the edge at which it enters and leaves the band between the two heights.
        let [mut first, mut last] = [0.0, 1.0];
        if along.y != 0.0 {
            let crossings = [low, high].map(|height| (height - from.y) / along.y);
            first = f64::max(first, crossings[0].min(crossings[1]));
            last = f64::min(last, crossings[0].max(crossings[1]));
        } else if from.y < low || from.y > high {
            continue;
        }
        if first <= last {
            for x in [first, last].map(|share| from.x + share * along.x) {
                extent = [extent[0].min(x), extent[1].max(x)];
            }
        }
    }
    (extent[0] <= extent[1]).then_some(extent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::tests::CAR;
    use crate::frame::Frame;
    use crate::sweep::{Sweep, SweepKind};
    use roadwright_geometry::Pose;

    /// Returns a move of 20 m straight ahead.
    fn straight() -> Sweep {
        let frames: Vec<Frame> = (0..=25)
            .map(|frame| Frame {
                pose: Pose::new(0.8 * f64::from(frame), 0.0, 0.0),
                ..Frame::default()
            })
            .collect();
        Sweep::of(&frames, &CAR, SweepKind::Exact)
    }

    #[test]
    fn a_straight_move_has_a_single_row_of_discs() {
        let mask = Mask::of(&straight().pieces);
        // From -0.7 m to 22.7 m: cells 0 to 13, whose centres are 1.7 m apart.
        assert_eq!(mask.discs.len(), 14);
        assert!(mask.discs.iter().all(|disc| disc.centre.y == 0.0));
    }

    #[test]
    fn only_discs_near_a_wall_are_in_doubt() {
        let wall = |x: f64| Convex::line(DVec2::new(x, -5.0), DVec2::new(x, 5.0));
        let mask = Mask::of(&straight().pieces);
        let place = Placement::ORIGIN;
        let doubt = |walls: &[Convex]| MaskMap::of(walls).doubt(&mask, &place);
        assert_eq!(doubt(&[]), None);
        assert_eq!(doubt(&[wall(26.0)]), None);
        let found = doubt(&[wall(10.0)]).unwrap();
        assert!(found.area.low.x <= 10.0 && found.area.high.x >= 10.0);
        assert!(found.area.low.x > 5.0 && found.area.high.x < 15.0);
        // A wall beside the move: at 3 m it is far enough, at 1 m it is not.
        let beside = |y: f64| Convex::line(DVec2::new(-9.0, y), DVec2::new(50.0, y));
        assert_eq!(doubt(&[beside(3.0)]), None);
        assert!(doubt(&[beside(1.0)]).is_some());
    }
}
