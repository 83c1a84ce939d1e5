//! View of the unbounded map for searches.

use super::cell::{Cell, CellSize, Direction, NodeIndex};
use super::cost::PLAIN;
use super::grid::TILE;
use super::ground::{Change, OpenGround, ProfileId, Reading, Stamp};
use super::item::Owner;
use super::raster::{TILE_CELLS, TileKey};
use super::shape::Bounds;
use super::space::Space;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, MAX_COORDINATE, Pose};
use std::collections::BTreeMap;

/// Link to a neighbouring tile that has not been looked up yet.
const UNKNOWN: u32 = u32::MAX;
/// Factor of blocked cells near an obstacle that are opened so that an agent on them can leave.
const OPENED: u32 = 8 * PLAIN as u32;
/// Maximum distance from its body at which an agent on blocked cells searches for a free cell, m.
const WAY_OUT: f64 = 3.0;
/// Maximum overlap with a touched obstacle at which an agent can still drive away, m.
const TOUCH: f64 = 0.15;
/// Number of headings that are tried for a goal without a heading.
const HEADINGS: u32 = 16;

/// Current or future position of a body, with or without a heading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// Centre of the body, m.
    pub position: DVec2,
    /// Heading, rad; `None` if any heading is allowed.
    pub heading: Option<f64>,
}

impl Spot {
    /// Creates a spot from a pose.
    pub fn at(pose: Pose) -> Self {
        Self {
            position: pose.position,
            heading: Some(pose.heading),
        }
    }

    /// Creates a spot where any heading is allowed.
    pub fn anyhow(position: DVec2) -> Self {
        Self {
            position,
            heading: None,
        }
    }
}

/// Reason why a search cannot begin or end at a spot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpotError {
    /// The spot is not within 10,000 km of the origin, or its coordinates are not finite.
    Outside,
    /// The body overlaps an obstacle at the spot.
    Blocked,
}

/// Input of a search: the map of a profile, and the items on it that the search considers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reader {
    /// Profile of the map.
    pub profile: ProfileId,
    /// The agent, whose own items are ignored.
    pub owner: Option<Owner>,
    /// Kinds of items that the search takes into account.
    pub reading: Reading,
}

/// Copies of the tiles that a search has read.
///
/// A search that takes several steps keeps the copies. [`Self::change`] reports how the map has changed since
/// they were made.
#[derive(Debug, Clone)]
pub struct TileCache {
    reader: Reader,
    size: CellSize,
    slots: BTreeMap<TileKey, u32>,
    keys: Vec<TileKey>,
    factors: Vec<u16>,
    /// The eight tiles around each tile.
    links: Vec<[u32; 8]>,
    smallest_factor: u32,
    stamp: Stamp,
    has_moving: bool,
}

/// View of the map for one search: the tile cache together with the open ground that it reads.
pub struct TileSpace<'a> {
    pub(super) cache: &'a mut TileCache,
    pub(super) ground: &'a mut OpenGround,
}

impl TileCache {
    /// Creates a cache without tiles.
    pub fn new(ground: &mut OpenGround, reader: Reader) -> Self {
        Self {
            reader,
            size: ground.profile(reader.profile).cell,
            slots: BTreeMap::new(),
            keys: Vec::new(),
            factors: Vec::new(),
            links: Vec::new(),
            smallest_factor: ground.smallest_factor(reader.profile),
            stamp: ground.stamp(),
            has_moving: false,
        }
    }

    /// Clears the cache for another search, and keeps its memory.
    pub(super) fn restart(&mut self, ground: &mut OpenGround, reader: Reader) {
        self.reader = reader;
        self.size = ground.profile(reader.profile).cell;
        self.slots.clear();
        self.keys.clear();
        self.factors.clear();
        self.links.clear();
        self.smallest_factor = ground.smallest_factor(reader.profile);
        self.stamp = ground.stamp();
        self.has_moving = false;
    }

    /// Returns a view of the map for a search that uses this cache.
    pub fn space<'a>(&'a mut self, ground: &'a mut OpenGround) -> TileSpace<'a> {
        TileSpace {
            cache: self,
            ground,
        }
    }

    /// Size of the cells, m.
    pub fn cell_size(&self) -> CellSize {
        self.size
    }

    /// Whether moving items affect any of the tiles.
    pub fn has_moving(&self) -> bool {
        self.has_moving
    }

    /// Number of tiles that have been read.
    pub fn tiles(&self) -> usize {
        self.keys.len()
    }

    /// Change of the tiles since the first one was read.
    pub fn change(&self, ground: &OpenGround) -> Change {
        self.change_of(ground, self.reader.reading)
    }

    /// Like [`Self::change`], but only for the kinds of items given by `reading`.
    pub(super) fn change_of(&self, ground: &OpenGround, reading: Reading) -> Change {
        if ground.stamp() == self.stamp {
            return Change::Unchanged;
        }
        // The rectangle around all tiles is checked first, because in most cases nothing has changed.
        let all = self.keys.iter().map(|key| key.bounds(self.size));
        let all = all.reduce(|a, b| Bounds {
            low: a.low.min(b.low),
            high: a.high.max(b.high),
        });
        let Some(all) = all else {
            return Change::Unchanged;
        };
        if ground.change_for(self.reader.owner, self.stamp, &all, reading) == Change::Unchanged {
            return Change::Unchanged;
        }
        let changes = self.keys.iter().map(|key| {
            let area = key.bounds(self.size);
            ground.change_for(self.reader.owner, self.stamp, &area, reading)
        });
        changes.max().unwrap_or(Change::Unchanged)
    }

    /// Index of a tile in the cache; `None` if the tile has not been read.
    pub(super) fn tile_number(&self, key: TileKey) -> Option<u32> {
        self.slots.get(&key).copied()
    }

    /// Node of a cell in the tile with this index.
    #[inline]
    pub(super) fn node_in(tile: u32, cell: Cell) -> NodeIndex {
        node_at(tile, TileKey::position(cell))
    }

    fn position(&self, node: NodeIndex) -> usize {
        node.index() % TILE_CELLS
    }
}

impl TileSpace<'_> {
    fn slot(&mut self, key: TileKey) -> u32 {
        if let Some(slot) = self.cache.slots.get(&key) {
            return *slot;
        }
        let slot = self.cache.keys.len() as u32;
        self.cache.slots.insert(key, slot);
        self.cache.keys.push(key);
        self.cache.links.push([UNKNOWN; 8]);
        let bounds = key.bounds(self.cache.size);
        let limit = DVec2::splat(MAX_COORDINATE);
        if bounds.low.cmplt(-limit).any() || bounds.high.cmpgt(limit).any() {
            // The world ends here.
            self.cache
                .factors
                .resize(self.cache.factors.len() + TILE_CELLS, 0);
            return slot;
        }
        let Reader {
            profile,
            owner,
            reading,
        } = self.cache.reader;
        let factors = &mut self.cache.factors;
        factors.reserve(TILE_CELLS);
        let moves = self
            .ground
            .read_tile(profile, key, owner, reading, |factor| {
                factors.push(factor as u16);
            });
        self.cache.has_moving |= moves;
        slot
    }

    /// Returns the index of a neighbouring tile in the cache, and adds the tile if it is missing.
    fn linked(&mut self, slot: u32, direction: Direction) -> u32 {
        let known = self.cache.links[slot as usize][direction.index()];
        if known != UNKNOWN {
            return known;
        }
        let key = self.cache.keys[slot as usize];
        let (x, y) = direction.offset();
        let beside = self.slot(TileKey {
            y: key.y + y,
            x: key.x + x,
        });
        self.cache.links[slot as usize][direction.index()] = beside;
        self.cache.links[beside as usize][direction.opposite().index()] = slot;
        beside
    }

    /// Opens cells so that a spot can be left or reached even if its cell is blocked. A body that overlaps no
    /// obstacle there, or has only touched it, may be moved to the nearest free cell without turning. Returns
    /// the node of the spot.
    ///
    /// # Errors
    /// If the spot is outside the world, or the body overlaps an obstacle there.
    pub fn open(&mut self, spot: Spot) -> Result<NodeIndex, SpotError> {
        let size = self.cache.size;
        let cell = size.cell_of(spot.position).ok_or(SpotError::Outside)?;
        let node = self.node(cell).ok_or(SpotError::Outside)?;
        let body = self.body_at(spot).ok_or(SpotError::Blocked)?;
        if self.factor(node) > 0 {
            return Ok(node);
        }
        let reach = self.ground.profile(self.cache.reader.profile).body;
        let reach = ((reach.circumscribed_radius() + WAY_OUT) / size.metres()).ceil() as u32;
        // Breadth-first search over the cells at which the body does not overlap an obstacle.
        let mut opened = vec![cell];
        let mut parents = vec![0];
        let mut at = 0;
        while at < opened.len() {
            let from = opened[at];
            for direction in Direction::ALL {
                let to = from.toward(direction);
                let away = to.distance(cell);
                if away.columns.max(away.rows) > reach || opened.contains(&to) {
                    continue;
                }
                let moved = OrientedBox {
                    centre: size.centre(to),
                    ..body
                };
                if !self.is_clear(&moved) {
                    continue;
                }
                let is_free = self.node(to).is_some_and(|node| self.factor(node) > 0);
                if !is_free {
                    opened.push(to);
                    parents.push(at);
                    continue;
                }
                self.open_chain(&opened, &parents, at, to);
                return Ok(node);
            }
            at += 1;
        }
        // No free cell is near, so the search will find that the spot is walled in.
        self.set(node, OPENED);
        Ok(node)
    }

    /// Opens the cells of a chain, and the cells beside its diagonal steps, because steps may not cut
    /// corners.
    fn open_chain(&mut self, opened: &[Cell], parents: &[usize], last: usize, free: Cell) {
        let mut at = last;
        let mut beyond = free;
        loop {
            let cell = opened[at];
            for open in [
                cell,
                Cell::new(cell.x, beyond.y),
                Cell::new(beyond.x, cell.y),
            ] {
                if let Some(node) = self.node(open)
                    && self.factor(node) == 0
                {
                    self.set(node, OPENED);
                }
            }
            if at == 0 {
                break;
            }
            beyond = cell;
            at = parents[at];
        }
    }

    fn set(&mut self, node: NodeIndex, factor: u32) {
        self.cache.factors[node.index()] = factor as u16;
    }

    /// Returns the outline of the body at a spot, at a heading without overlap with an obstacle;
    /// `None` if there is no such heading. A body that has touched an obstacle is shrunk by
    /// [`TOUCH`].
    fn body_at(&self, spot: Spot) -> Option<OrientedBox> {
        let body = self.ground.profile(self.cache.reader.profile).body;
        let at = |heading| {
            let pose = Pose {
                position: spot.position,
                heading,
            };
            body.footprint(pose)
        };
        if let Some(heading) = spot.heading {
            let body = at(heading);
            let shrunk = OrientedBox {
                half_length: body.half_length - TOUCH.min(0.5 * body.half_length),
                half_width: body.half_width - TOUCH.min(0.5 * body.half_width),
                ..body
            };
            return [body, shrunk].into_iter().find(|body| self.is_clear(body));
        }
        let turned = |step| f64::from(step) * std::f64::consts::PI / f64::from(HEADINGS);
        let mut outlines = (0..HEADINGS).map(|step| at(turned(step)));
        outlines.find(|body| self.is_clear(body))
    }

    fn is_clear(&self, body: &OrientedBox) -> bool {
        let Reader { profile, owner, .. } = self.cache.reader;
        self.ground.is_free(profile, owner, body)
    }
}

impl Space for TileSpace<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.cache.factors.len()
    }

    #[inline]
    fn cell(&self, node: NodeIndex) -> Cell {
        let key = self.cache.keys[node.index() / TILE_CELLS];
        let at = self.cache.position(node);
        let origin = key.origin();
        Cell::new(origin.x + (at & 63) as i32, origin.y + (at >> 6) as i32)
    }

    fn node(&mut self, cell: Cell) -> Option<NodeIndex> {
        let slot = self.slot(TileKey::of(cell));
        Some(node_at(slot, TileKey::position(cell)))
    }

    #[inline]
    fn factor(&self, node: NodeIndex) -> u32 {
        u32::from(self.cache.factors[node.index()])
    }

    #[inline]
    fn neighbours(&mut self, node: NodeIndex) -> [NodeIndex; 8] {
        let at = self.cache.position(node) as i32;
        let (x, y) = (at & 63, at >> 6);
        let last = TILE as i32 - 1;
        if x > 0 && x < last && y > 0 && y < last {
            let at = node.0;
            return [
                at + 1,
                at + 65,
                at + 64,
                at + 63,
                at - 1,
                at - 65,
                at - 64,
                at - 63,
            ]
            .map(NodeIndex);
        }
        let slot = (node.index() / TILE_CELLS) as u32;
        Direction::ALL.map(|direction| {
            let (right, up) = direction.offset();
            let (x, y) = (x + right, y + up);
            let beside = tile_beside(x, y);
            let slot = beside.map_or(slot, |direction| self.linked(slot, direction));
            node_at(slot, (((y & 63) << 6) | (x & 63)) as usize)
        })
    }

    fn smallest_factor(&mut self) -> u32 {
        self.cache.smallest_factor
    }
}

fn node_at(slot: u32, position: usize) -> NodeIndex {
    NodeIndex(slot * TILE_CELLS as u32 + position as u32)
}

/// Returns the direction from this tile to the tile that contains a column and row, given relative
/// to this tile; `None` if that is this tile.
fn tile_beside(x: i32, y: i32) -> Option<Direction> {
    let offset = (x >> 6, y >> 6);
    Direction::ALL
        .into_iter()
        .find(|direction| direction.offset() == offset)
}
