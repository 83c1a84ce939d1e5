//! Adds items on the ground to the tiles of a profile.
//!
//! The contribution of an item to a cell is an integer that depends only on the item, the profile and the
//! cell. Therefore the order in which items are added does not matter, and a removed item leaves no trace.

use super::cell::{Cell, CellSize};
use super::cost::{LARGEST_FACTOR, PLAIN};
use super::grid::TILE;
use super::item::{Item, Mobility, Role};
use super::profile::{Effect, Growth, Heights, Measure, Occupied, Profile};
use super::shape::{Bounds, Shape};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};

/// Number of cells in a tile.
pub(super) const TILE_CELLS: usize = TILE * TILE;

/// A square of 64 by 64 cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TileKey {
    /// Row of the tile. This is the first field, so that sorted keys go row by row.
    pub(super) y: i32,
    pub(super) x: i32,
}

impl TileKey {
    pub(super) fn of(cell: Cell) -> Self {
        Self {
            y: cell.y >> 6,
            x: cell.x >> 6,
        }
    }

    /// Returns the south-west cell.
    pub(super) fn origin(self) -> Cell {
        Cell::new(self.x << 6, self.y << 6)
    }

    /// Index of a cell within its tile.
    pub(super) fn position(cell: Cell) -> usize {
        (((cell.y & 63) << 6) | (cell.x & 63)) as usize
    }

    pub(super) fn bounds(self, size: CellSize) -> Bounds {
        let low = DVec2::new(f64::from(self.x), f64::from(self.y)) * (size.metres() * TILE as f64);
        Bounds {
            low,
            high: low + DVec2::splat(size.metres() * TILE as f64),
        }
    }
}

/// A rectangle of tiles or cells, including both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: Cell,
    pub(super) high: Cell,
}

impl Range {
    /// Returns the cells whose centres are inside the bounds, and their neighbours.
    pub(super) fn cells(bounds: Bounds, size: CellSize) -> Self {
        Self {
            low: size.nearest_cell(bounds.low),
            high: size.nearest_cell(bounds.high),
        }
    }

    /// Returns the tiles that contain the cells.
    pub(super) fn tiles(self) -> Self {
        let tile = |cell: Cell| Cell::new(cell.x >> 6, cell.y >> 6);
        Self {
            low: tile(self.low),
            high: tile(self.high),
        }
    }

    pub(super) fn contains(&self, x: i32, y: i32) -> bool {
        (self.low.x..=self.high.x).contains(&x) && (self.low.y..=self.high.y).contains(&y)
    }

    pub(super) fn area(&self) -> u64 {
        let columns = i64::from(self.high.x) - i64::from(self.low.x) + 1;
        let rows = i64::from(self.high.y) - i64::from(self.low.y) + 1;
        columns.max(0) as u64 * rows.max(0) as u64
    }

    fn within(self, other: Self) -> Option<Self> {
        let low = Cell::new(self.low.x.max(other.low.x), self.low.y.max(other.low.y));
        let high = Cell::new(self.high.x.min(other.high.x), self.high.y.min(other.high.y));
        (low.x <= high.x && low.y <= high.y).then_some(Self { low, high })
    }
}

/// Sums of costs and counts of obstacles for the cells of a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) costs: Vec<i32>,
    pub(super) blocks: Vec<u32>,
}

impl Sums {
    pub(super) fn new() -> Self {
        Self {
            costs: vec![0; TILE_CELLS],
            blocks: vec![0; TILE_CELLS],
        }
    }
}

/// Whether an item is added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Add,
    Remove,
}

impl Sign {
    #[inline]
    fn add(self, share: Share, sums: &mut Sums, at: usize) {
        // Wrapping sums return to their previous values when items are removed, and cannot overflow below
        // 30,000 items per cell.
        match self {
            Self::Add => {
                sums.costs[at] = sums.costs[at].wrapping_add(share.cost);
                sums.blocks[at] = sums.blocks[at].wrapping_add(u32::from(share.blocks));
            }
            Self::Remove => {
                sums.costs[at] = sums.costs[at].wrapping_sub(share.cost);
                sums.blocks[at] = sums.blocks[at].wrapping_sub(u32::from(share.blocks));
            }
        }
    }
}

/// Contribution of an item to a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Share {
    cost: i32,
    blocks: bool,
}

/// Returns the bounds of the area that an item affects on the map of a profile.
pub(super) fn extent(profile: &Profile, item: &Item) -> Bounds {
    let bounds = item.shape.bounds();
    match item.role_for(profile) {
        Role::Obstacle(_) => bounds.grown(profile.reach()),
        Role::Area(_) | Role::Painted(_) => bounds.grown(profile.cell.metres()),
        Role::Forecast(_) => bounds.grown(0.5 * profile.body.width + profile.cell.metres()),
    }
}

/// Whether an item makes any cell cheaper.
pub(super) fn lowers(profile: &Profile, item: &Item) -> bool {
    match (profile.effect(item.layer), item.role_for(profile)) {
        (Effect::Nothing | Effect::Stops, _) | (_, Role::Painted(_)) => false,
        (_, Role::Area(cost)) => scaled(profile, item, cost) < 0,
        (_, Role::Obstacle(_)) => {
            let costs = &profile.costs;
            costs
                .margin_cost
                .min(costs.clearance_cost)
                .min(costs.low_cost)
                < 0
        }
        (_, Role::Forecast(cost)) => cost < 0,
    }
}

/// Additional cost of ground that a vehicle type can hardly cross. Detours of up to 64 times the length are
/// preferred.
const IMPASSABLE: i64 = 63 * PLAIN as i64;

fn scaled(profile: &Profile, item: &Item, cost: i32) -> i32 {
    let scaled = match profile.effect(item.layer) {
        Effect::AsItIs => i64::from(cost),
        Effect::Slows(thousandths) => i64::from(cost) * i64::from(thousandths) / 1000,
        Effect::SlowsUpTo { thousandths, limit } => {
            let least = if cost > limit { IMPASSABLE } else { i64::MIN };
            (i64::from(cost) * i64::from(thousandths) / 1000).max(least)
        }
        Effect::Stops | Effect::Nothing => 0,
    };
    let most = i64::from(LARGEST_FACTOR);
    // Moving items never make a cell cheaper, because estimates are based on stationary items only.
    let least = match item.mobility {
        Mobility::Stands => -most,
        Mobility::Moves => 0,
    };
    scaled.clamp(least, most) as i32
}

/// Adds an item to the sums of a tile or subtracts it, as `sign` states.
pub(super) fn draw(profile: &Profile, item: &Item, tile: TileKey, sign: Sign, sums: &mut Sums) {
    let effect = profile.effect(item.layer);
    if effect == Effect::Nothing {
        return;
    }
    let own = tile.origin();
    let own = Range {
        low: own,
        high: Cell::new(own.x + TILE as i32 - 1, own.y + TILE as i32 - 1),
    };
    let extent = Range::cells(extent(profile, item), profile.cell);
    let Some(cells) = extent.within(own) else {
        return;
    };
    match item.role_for(profile) {
        Role::Obstacle(heights) => {
            draw_obstacle(profile, item, heights, effect, cells, sign, sums);
        }
        Role::Area(cost) => {
            let share = Share {
                cost: scaled(profile, item, cost),
                blocks: effect == Effect::Stops,
            };
            for_each_cell(profile.cell, cells, |at, centre| {
                if item.covers(centre) {
                    sign.add(share, sums, at);
                }
            });
        }
        Role::Forecast(cost) => {
            let Shape::Teardrop(drop) = &item.shape else {
                return;
            };
            let reach = 0.5 * profile.body.width;
            let cost = f64::from(scaled(profile, item, cost));
            for_each_cell(profile.cell, cells, |at, centre| {
                let share = Share {
                    cost: (cost * drop.share(centre, reach)) as i32,
                    blocks: false,
                };
                sign.add(share, sums, at);
            });
        }
        // For a profile, painted cells are either an area or an obstacle.
        Role::Painted(_) => {}
    }
}

fn for_each_cell(size: CellSize, cells: Range, mut visit: impl FnMut(usize, DVec2)) {
    for y in cells.low.y..=cells.high.y {
        for x in cells.low.x..=cells.high.x {
            let cell = Cell::new(x, y);
            visit(TileKey::position(cell), size.centre(cell));
        }
    }
}

fn draw_obstacle(
    profile: &Profile,
    item: &Item,
    heights: Heights,
    effect: Effect,
    cells: Range,
    sign: Sign,
    sums: &mut Sums,
) {
    if profile.is_driven_over(heights) {
        let share = Share {
            cost: match effect {
                Effect::Slows(_) | Effect::SlowsUpTo { .. } | Effect::AsItIs => {
                    scaled(profile, item, profile.costs.low_cost)
                }
                Effect::Stops | Effect::Nothing => 0,
            },
            blocks: effect == Effect::Stops,
        };
        let reach = profile.growth_radius();
        for_each_cell(profile.cell, cells, |at, centre| {
            if item.shape.distance(centre) < reach {
                sign.add(share, sums, at);
            }
        });
        return;
    }
    if !profile.is_in_the_way(heights) {
        return;
    }
    let blocks = !matches!(effect, Effect::Slows(_) | Effect::SlowsUpTo { .. });
    let blocked = Blocked::new(profile, &item.shape);
    let by_cells = match profile.measure {
        Measure::Cells if blocks => Some(grown_cells(profile, &blocked, cells)),
        _ => None,
    };
    let costs = &profile.costs;
    let reach = profile.growth_radius();
    let costly = costs.clearance.max(costs.tracking_margin);
    let mut index = 0;
    for_each_cell(profile.cell, cells, |at, centre| {
        let distance = item.shape.distance(centre);
        let is_blocked = match &by_cells {
            Some(grown) => grown[index],
            None => blocked.holds(centre, distance),
        };
        index += 1;
        let share = if is_blocked {
            Share {
                // An obstacle that only slows this vehicle adds the highest cost to the cells that it would
                // block for other vehicles.
                cost: if blocks {
                    0
                } else {
                    scaled(profile, item, costs.margin_cost + costs.clearance_cost)
                },
                blocks,
            }
        } else {
            let beyond = distance - reach;
            if beyond >= costly {
                return;
            }
            Share {
                cost: scaled(profile, item, nearness_cost(profile, beyond)),
                blocks: false,
            }
        };
        sign.add(share, sums, at);
    });
}

/// Cost of a cell at the given distance from a grown obstacle, m.
fn nearness_cost(profile: &Profile, beyond: f64) -> i32 {
    let costs = &profile.costs;
    let mut cost = 0;
    if beyond < costs.tracking_margin {
        cost += costs.margin_cost;
    }
    if beyond < costs.clearance {
        let share = 1.0 - beyond.max(0.0) / costs.clearance;
        cost += (f64::from(costs.clearance_cost) * share) as i32;
    }
    cost
}

/// Determines which cells an obstacle blocks.
struct Blocked<'a> {
    shape: &'a Shape,
    reach: f64,
    half_cell: f64,
    occupied: Occupied,
    measure: Measure,
    /// The body at the origin, if its heading affects which cells are blocked.
    body: Option<OrientedBox>,
}

impl<'a> Blocked<'a> {
    fn new(profile: &Profile, shape: &'a Shape) -> Self {
        Self {
            shape,
            reach: profile.growth_radius(),
            half_cell: 0.5 * profile.cell.metres(),
            occupied: profile.occupied,
            measure: profile.measure,
            body: match profile.growth {
                Growth::Footprint(heading) => {
                    Some(profile.body.footprint(Pose::new(0.0, 0.0, heading)))
                }
                Growth::HalfWidth | Growth::Circumscribed => None,
            },
        }
    }

    /// Whether a cell is blocked if its centre is at this distance from the shape.
    #[inline]
    fn holds(&self, centre: DVec2, distance: f64) -> bool {
        let is_reached = match &self.body {
            None => distance < self.reach,
            Some(body) => {
                distance < body.half_width
                    || distance < body.radius()
                        && self.shape.overlaps(&OrientedBox { centre, ..*body })
            }
        };
        is_reached || self.occupies(centre, distance)
    }

    /// Whether the shape occupies a cell before growth.
    #[inline]
    fn occupies(&self, centre: DVec2, distance: f64) -> bool {
        // The shape is either far from the cell or certainly overlaps it.
        let is_far = distance > self.half_cell * std::f64::consts::SQRT_2;
        if is_far {
            return false;
        }
        let square = OrientedBox {
            centre,
            forward: DVec2::X,
            half_length: self.half_cell,
            half_width: self.half_cell,
        };
        match self.occupied {
            Occupied::Anything => self.shape.overlaps(&square),
            Occupied::Most => self.shape.covers_most(&square),
        }
    }
}

/// Returns for each cell of a range whether it is within the growth of a cell that the shape
/// occupies.
fn grown_cells(profile: &Profile, blocked: &Blocked, cells: Range) -> Vec<bool> {
    debug_assert_eq!(blocked.measure, Measure::Cells);
    let size = profile.cell;
    let reach = (blocked.reach / size.metres()).floor() as i32;
    let limit = (blocked.reach / size.metres()) * (blocked.reach / size.metres());
    let columns = (cells.high.x - cells.low.x + 1) as usize;
    let rows = (cells.high.y - cells.low.y + 1) as usize;
    let mut grown = vec![false; columns * rows];
    for y in cells.low.y - reach..=cells.high.y + reach {
        for x in cells.low.x - reach..=cells.high.x + reach {
            let centre = size.centre(Cell::new(x, y));
            if !blocked.occupies(centre, blocked.shape.distance(centre)) {
                continue;
            }
            for down in -reach..=reach {
                for right in -reach..=reach {
                    let squared = f64::from(down * down + right * right);
                    if squared <= limit && cells.contains(x + right, y + down) {
                        let column = (x + right - cells.low.x) as usize;
                        let row = (y + down - cells.low.y) as usize;
                        grown[row * columns + column] = true;
                    }
                }
            }
        }
    }
    grown
}
