//! Painted layers: costs and obstacles that users, scripts and plugins set cell by cell.

use super::cell::{Cell, CellSize};
use super::cost::LARGEST_FACTOR;
use super::profile::{Effect, Layer, Profile};
use super::raster::{Range, Sums, TILE_CELLS, TileKey};
use std::collections::BTreeMap;

/// Paint of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Amount added to the cell's factor, clamped to ±65,535. An amount of 0 means bare ground.
    Cost(i32),
    /// The cell is blocked.
    Block,
}

impl Default for Paint {
    fn default() -> Self {
        Self::Cost(0)
    }
}

impl Paint {
    /// Whether a cell with this paint costs more than a cell with the paint `other`.
    pub(super) fn is_above(self, other: Self) -> bool {
        match (self, other) {
            (Self::Block, Self::Cost(_)) => true,
            (Self::Cost(a), Self::Cost(b)) => a > b,
            (_, Self::Block) => false,
        }
    }
}

/// A painted layer.
#[derive(Debug, Clone)]
pub(super) struct Painting {
    size: CellSize,
    tiles: BTreeMap<TileKey, PaintedTile>,
}

#[derive(Debug, Clone)]
struct PaintedTile {
    cells: Vec<Paint>,
    /// Number of painted cells.
    painted: u32,
    /// Number of cells that cost less than bare ground.
    lowered: u32,
}

impl Painting {
    pub(super) fn new(size: CellSize) -> Self {
        Self {
            size,
            tiles: BTreeMap::new(),
        }
    }

    pub(super) fn size(&self) -> CellSize {
        self.size
    }

    pub(super) fn at(&self, cell: Cell) -> Paint {
        let tile = self.tiles.get(&TileKey::of(cell));
        tile.map_or(Paint::default(), |tile| tile.cells[TileKey::position(cell)])
    }

    /// Paints a cell and returns the previous paint.
    pub(super) fn paint(&mut self, cell: Cell, paint: Paint) -> Paint {
        let most = LARGEST_FACTOR as i32;
        let paint = match paint {
            Paint::Cost(cost) => Paint::Cost(cost.clamp(-most, most)),
            Paint::Block => Paint::Block,
        };
        let key = TileKey::of(cell);
        let tile = self.tiles.entry(key).or_insert_with(|| PaintedTile {
            cells: vec![Paint::default(); TILE_CELLS],
            painted: 0,
            lowered: 0,
        });
        let before = std::mem::replace(&mut tile.cells[TileKey::position(cell)], paint);
        let is_painted = |paint: Paint| u32::from(paint != Paint::default());
        let is_lowered = |paint: Paint| u32::from(Paint::default().is_above(paint));
        tile.painted = tile.painted + is_painted(paint) - is_painted(before);
        tile.lowered = tile.lowered + is_lowered(paint) - is_lowered(before);
        if tile.painted == 0 {
            self.tiles.remove(&key);
        }
        before
    }

    /// Adds the paint to a tile of a profile. The cells of the profile may have another size, so each of them
    /// takes the paint at its centre.
    pub(super) fn draw(&self, profile: &Profile, key: TileKey, sums: &mut Sums) {
        let effect = profile.effect(Layer::Painted);
        if self.tiles.is_empty() || effect == Effect::Nothing {
            return;
        }
        let origin = key.origin();
        for at in 0..TILE_CELLS {
            let cell = Cell::new(origin.x + (at & 63) as i32, origin.y + (at >> 6) as i32);
            let centre = profile.cell.centre(cell);
            let paint = self.at(self.size.nearest_cell(centre));
            if paint == Paint::default() {
                continue;
            }
            match (effect, paint) {
                (Effect::Stops, _) | (Effect::AsItIs, Paint::Block) => {
                    sums.blocks[at] = sums.blocks[at].wrapping_add(1);
                }
                (Effect::AsItIs, Paint::Cost(cost)) => {
                    sums.costs[at] = sums.costs[at].wrapping_add(cost);
                }
                (
                    Effect::Slows(thousandths) | Effect::SlowsUpTo { thousandths, .. },
                    Paint::Cost(cost),
                ) => {
                    let scaled = i64::from(cost) * i64::from(thousandths) / 1000;
                    sums.costs[at] = sums.costs[at].wrapping_add(scaled as i32);
                }
                (Effect::Slows(_) | Effect::SlowsUpTo { .. }, Paint::Block)
                | (Effect::Nothing, _) => {}
            }
        }
    }

    /// Returns the tiles with at least one cell that costs less than bare ground. Tiles have cells
    /// of the given size. `None` if there are too many tiles to list.
    pub(super) fn lowered_tiles(&self, size: CellSize) -> Option<Vec<TileKey>> {
        const MOST: u64 = 4096;
        let mut keys = Vec::new();
        for (key, tile) in &self.tiles {
            if tile.lowered == 0 {
                continue;
            }
            let tiles = Range::cells(key.bounds(self.size), size).tiles();
            if tiles.area() + keys.len() as u64 > MOST {
                return None;
            }
            for y in tiles.low.y..=tiles.high.y {
                keys.extend((tiles.low.x..=tiles.high.x).map(|x| TileKey { y, x }));
            }
        }
        Some(keys)
    }
}
