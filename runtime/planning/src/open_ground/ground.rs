//! The map: items on the ground, and tiles of cells that are computed when they are first read.

use super::cell::{Cell, CellSize};
use super::cost::{PLAIN, clamp_factor};
use super::grid::{GridError, GridMap, TILE};
use super::item::{Item, ItemId, Mobility, Owner, Role};
use super::item_index::ItemIndex;
use super::paint::{Paint, Painting};
use super::profile::{Heights, Profile};
use super::raster::{self, Range, Sign, Sums, TILE_CELLS, TileKey};
use super::shape::{Bounds, Piece, Shape, ShapeError};
use roadwright_geometry::DVec2;
use roadwright_geometry::oriented_box::OrientedBox;
use std::collections::{BTreeMap, VecDeque};

/// Default memory for cached tiles, bytes.
pub const TILE_MEMORY: usize = 256 << 20;
/// Size of a tile without moving bodies, bytes.
const TILE_BYTES: usize = TILE_CELLS * 8;
/// Size of a cached tile with its factors, without moving bodies, bytes.
const KEPT_BYTES: usize = TILE_BYTES + TILE_CELLS * 4;
/// Edge length of the squares that index the items, m.
const SQUARE: f64 = 32.0;
/// An item is listed in at most this many squares. Larger items are checked in every query.
const MOST_SQUARES: u64 = 4096;
/// Number of changes that are recorded. A search that read its tiles before the oldest recorded change counts
/// as outdated.
const MOST_CHANGES: usize = 65_536;

/// Identifier of a profile in a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileId(u32);

/// Kinds of items that a reader of the map takes into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// All items.
    Everything,
    /// Stationary items only.
    Standing,
}

/// Version of the map: the number of changes so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Stamp(u64);

impl Stamp {
    /// Returns the number of changes, for a save.
    pub(super) fn count(self) -> u64 {
        self.0
    }

    /// Restores a stamp from a saved number.
    pub(super) fn from_count(count: u64) -> Self {
        Self(count)
    }
}

/// Change of an area of the map since a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The area has not changed.
    Unchanged,
    /// Some cells cost more or are newly blocked, and none costs less.
    Rose,
    /// Some cells may cost less or be newly free, so values learned from the map may no longer hold.
    Fell,
}

/// The items on the ground, and the map of each profile.
///
/// Tiles are computed when they are first read, cached as far as memory allows, and updated when items are added,
/// removed or moved. An updated tile equals one computed from scratch.
///
/// ```
/// use roadwright_geometry::{Pose, oriented_box::OrientedBox};
/// use roadwright_planning::open_ground::*;
///
/// let mut ground = OpenGround::new();
/// let jeep = Body { length: 3.34, width: 1.57, height: 1.59, ground_clearance: 0.2 };
/// let jeep = ground.add_profile(Profile::new(jeep, CellSize::WAY_POINTS));
/// let wall = Shape::Box(OrientedBox::new(Pose::new(0.0, 0.0, 0.0), 1.0, 20.0));
/// let wall = ground.insert(Item::obstacle(wall, Heights::up_to(3.0)))?;
/// assert_eq!(ground.factor(jeep, Cell::new(0, 0), Reading::Everything), 0);
/// ground.remove(wall);
/// assert_eq!(ground.factor(jeep, Cell::new(0, 0), Reading::Everything), 16);
/// # Ok::<(), ShapeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OpenGround {
    items: Vec<Slot>,
    free: Vec<u32>,
    squares: BTreeMap<(i32, i32), Vec<u32>>,
    /// Items that are too large for the index of squares.
    large: Vec<u32>,
    /// Stationary items that may stop a body. Collision checks read only these.
    obstacles: ItemIndex,
    owned: BTreeMap<Owner, Vec<ItemId>>,
    paintings: BTreeMap<u32, Painting>,
    maps: Vec<TileMap>,
    stamp: Stamp,
    standing_changes: ChangeLog,
    /// The latest changes of moving items. They are kept separately, because bodies that move in every step
    /// would otherwise displace all other changes.
    moving_changes: ChangeLog,
    memory: usize,
}

#[derive(Debug, Clone)]
struct Slot {
    generation: u32,
    item: Option<Item>,
    /// Bounds of the item. Computing the bounds of a polygon takes longer than most checks that use
    /// them.
    bounds: Bounds,
}

impl Slot {
    fn empty() -> Self {
        Self {
            generation: 0,
            item: None,
            bounds: Bounds {
                low: DVec2::ZERO,
                high: DVec2::ZERO,
            },
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct LoggedChange {
    stamp: Stamp,
    bounds: Bounds,
    change: Change,
    /// Owner of the changed item.
    owner: Option<Owner>,
}

/// The latest changes of stationary or moving items.
#[derive(Debug, Clone, Default)]
struct ChangeLog {
    changes: VecDeque<LoggedChange>,
    /// The latest change that has been dropped.
    forgotten: Stamp,
}

impl ChangeLog {
    fn note(&mut self, change: LoggedChange) {
        self.changes.push_back(change);
        if self.changes.len() > MOST_CHANGES
            && let Some(oldest) = self.changes.pop_front()
        {
            self.forgotten = oldest.stamp;
        }
    }

    /// Returns the most significant change in an area since a stamp. Changes of the reader's own
    /// items are ignored.
    fn since(&self, stamp: Stamp, area: &Bounds, reader: Option<Owner>) -> Change {
        if stamp < self.forgotten {
            return Change::Fell;
        }
        let newer = self.changes.iter().rev().take_while(|c| c.stamp > stamp);
        let is_own = |c: &LoggedChange| c.owner.is_some() && c.owner == reader;
        let seen = newer.filter(|c| c.bounds.meets(area) && !is_own(c));
        seen.map(|c| c.change).max().unwrap_or(Change::Unchanged)
    }
}

/// The tiles of a profile.
#[derive(Debug, Clone)]
struct TileMap {
    profile: Profile,
    tiles: BTreeMap<TileKey, Tile>,
    reads: u64,
    /// Stationary items that make some cells cheaper than plain ground, ordered by number.
    lowering: Vec<u32>,
    /// Smallest factor in each tile with items that lower the cost.
    smallest: BTreeMap<TileKey, u32>,
}

#[derive(Debug, Clone)]
pub(super) struct Tile {
    pub(super) standing: Sums,
    /// Sums over moving bodies; `None` for tiles without moving bodies.
    pub(super) moving: Option<Box<Sums>>,
    /// Whether moving bodies have changed since `moving` was computed. `moving` is computed when the tile is
    /// read, so a moving body is drawn only when and where an agent plans.
    is_stale: bool,
    last_read: u64,
    /// Factors of the cells, for readers without items in the tile; `None` until all of them are read.
    factors: Option<Box<TileFactors>>,
}

/// Factors of the cells of a tile; 0 for blocked cells.
#[derive(Debug, Clone)]
struct TileFactors {
    /// Factors with stationary items only.
    standing: Vec<u16>,
    /// Factors with all items; `None` if no moving item affects the tile.
    everything: Option<Vec<u16>>,
}

impl TileFactors {
    fn of(tile: &Tile) -> Self {
        let read = |reading| {
            let factors = (0..TILE_CELLS).map(|at| tile.factor(at, reading, None) as u16);
            factors.collect::<Vec<u16>>()
        };
        let standing = read(Reading::Standing);
        // Sums that have returned to zero may still be in memory.
        let everything = tile.moving.as_ref().map(|_| read(Reading::Everything));
        Self {
            everything: everything.filter(|factors| *factors != standing),
            standing,
        }
    }
}

impl Default for OpenGround {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenGround {
    /// Creates an unbounded map of plain ground.
    pub fn new() -> Self {
        Self::with_memory(TILE_MEMORY)
    }

    /// Creates an unbounded map of plain ground with the given memory for tiles, in bytes. At least one tile
    /// is kept.
    pub fn with_memory(memory: usize) -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
            squares: BTreeMap::new(),
            large: Vec::new(),
            obstacles: ItemIndex::default(),
            owned: BTreeMap::new(),
            paintings: BTreeMap::new(),
            maps: Vec::new(),
            stamp: Stamp::default(),
            standing_changes: ChangeLog::default(),
            moving_changes: ChangeLog::default(),
            memory,
        }
    }

    /// Returns a copy without computed tiles, for readers that must not modify this map. It has the
    /// same profiles.
    pub fn without_tiles(&self) -> Self {
        let map = |map: &TileMap| TileMap {
            profile: map.profile.clone(),
            tiles: BTreeMap::new(),
            reads: 0,
            lowering: map.lowering.clone(),
            smallest: map.smallest.clone(),
        };
        Self {
            items: self.items.clone(),
            free: self.free.clone(),
            squares: self.squares.clone(),
            large: self.large.clone(),
            obstacles: self.obstacles.clone(),
            owned: self.owned.clone(),
            paintings: self.paintings.clone(),
            maps: self.maps.iter().map(map).collect(),
            stamp: self.stamp,
            standing_changes: self.standing_changes.clone(),
            moving_changes: self.moving_changes.clone(),
            memory: self.memory,
        }
    }

    /// Adds a profile. If an equal profile already exists, its identifier is returned instead.
    pub fn add_profile(&mut self, profile: Profile) -> ProfileId {
        let known = self.maps.iter().position(|map| map.profile == profile);
        if let Some(at) = known {
            return ProfileId(at as u32);
        }
        let lowering = self.items.iter().zip(0..).filter_map(|(slot, index)| {
            let item = slot.item.as_ref()?;
            is_lowering(&profile, item).then_some(index)
        });
        let lowering = lowering.collect();
        self.maps.push(TileMap {
            profile,
            tiles: BTreeMap::new(),
            reads: 0,
            lowering,
            smallest: BTreeMap::new(),
        });
        ProfileId((self.maps.len() - 1) as u32)
    }

    /// Returns the profile with this identifier.
    pub fn profile(&self, id: ProfileId) -> &Profile {
        &self.maps[id.0 as usize].profile
    }

    /// Adds an item.
    ///
    /// # Errors
    /// If a map cannot contain its shape.
    pub fn insert(&mut self, item: Item) -> Result<ItemId, ShapeError> {
        item.check()?;
        let index = self.free.pop().unwrap_or_else(|| {
            self.items.push(Slot::empty());
            (self.items.len() - 1) as u32
        });
        let id = ItemId {
            index,
            generation: self.items[index as usize].generation,
        };
        if let Some(owner) = item.owner {
            self.owned.entry(owner).or_default().push(id);
        }
        self.place(index, item);
        Ok(id)
    }

    /// Removes and returns an item; `None` if it has already been removed.
    pub fn remove(&mut self, id: ItemId) -> Option<Item> {
        self.item(id)?;
        let item = self.lift(id.index)?;
        self.items[id.index as usize].generation += 1;
        self.free.push(id.index);
        if let Some(owner) = item.owner
            && let Some(ids) = self.owned.get_mut(&owner)
        {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.owned.remove(&owner);
            }
        }
        Some(item)
    }

    /// Replaces an item by another one with the same owner.
    ///
    /// # Errors
    /// If a map cannot contain the new shape. In that case, the old item stays.
    pub fn replace(&mut self, id: ItemId, item: Item) -> Result<(), ShapeError> {
        item.check()?;
        if self.item(id).is_none_or(|before| *before == item) {
            return Ok(());
        }
        debug_assert_eq!(self.item(id).and_then(|before| before.owner), item.owner);
        self.lift(id.index);
        self.place(id.index, item);
        Ok(())
    }

    /// Returns an item; `None` if it has been removed.
    pub fn item(&self, id: ItemId) -> Option<&Item> {
        let slot = self.items.get(id.index as usize)?;
        slot.item
            .as_ref()
            .filter(|_| slot.generation == id.generation)
    }

    fn place(&mut self, index: u32, item: Item) {
        for map in &mut self.maps {
            map.update(&item, Sign::Add);
            if is_lowering(&map.profile, &item) {
                let at = map.lowering.partition_point(|other| *other < index);
                map.lowering.insert(at, index);
            }
        }
        match squares_of(item.shape.bounds()) {
            None => self.large.push(index),
            Some(squares) => {
                for square in in_range(squares) {
                    self.squares.entry(square).or_default().push(index);
                }
            }
        }
        self.log(&item, Sign::Add);
        let bounds = item.shape.bounds();
        if may_stop(&item) {
            self.obstacles.insert(index, &bounds);
        }
        let slot = &mut self.items[index as usize];
        slot.bounds = bounds;
        slot.item = Some(item);
    }

    fn lift(&mut self, index: u32) -> Option<Item> {
        let slot = &mut self.items[index as usize];
        let item = slot.item.take()?;
        if may_stop(&item) {
            self.obstacles.remove(index, &slot.bounds);
        }
        for map in &mut self.maps {
            map.update(&item, Sign::Remove);
            map.lowering.retain(|other| *other != index);
        }
        match squares_of(item.shape.bounds()) {
            None => self.large.retain(|other| *other != index),
            Some(squares) => {
                for square in in_range(squares) {
                    if let Some(indices) = self.squares.get_mut(&square) {
                        indices.retain(|other| *other != index);
                        if indices.is_empty() {
                            self.squares.remove(&square);
                        }
                    }
                }
            }
        }
        self.log(&item, Sign::Remove);
        Some(item)
    }

    fn log(&mut self, item: &Item, sign: Sign) {
        let reach = self.maps.iter().map(|map| map.profile.reach());
        let reach = reach.fold(0.0, f64::max);
        let lowers = self
            .maps
            .iter()
            .any(|map| raster::lowers(&map.profile, item));
        // Depends only on the effect of the item, and not on which tiles happen to be in memory.
        let change = if lowers || sign == Sign::Remove {
            Change::Fell
        } else {
            Change::Rose
        };
        let bounds = item.shape.bounds().grown(reach);
        self.note(bounds, item.mobility, item.owner, change);
    }

    fn note(&mut self, bounds: Bounds, mobility: Mobility, owner: Option<Owner>, change: Change) {
        self.stamp.0 += 1;
        let change = LoggedChange {
            stamp: self.stamp,
            bounds,
            change,
            owner,
        };
        match mobility {
            Mobility::Stands => self.standing_changes.note(change),
            Mobility::Moves => self.moving_changes.note(change),
        }
    }

    /// Returns the stamp of the current map.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Change of an area since a stamp.
    pub fn change_since(&self, stamp: Stamp, area: &Bounds, reading: Reading) -> Change {
        self.change_for(None, stamp, area, reading)
    }

    /// Change of an area since a stamp, ignoring the owner's own items.
    pub fn change_for(
        &self,
        reader: Option<Owner>,
        stamp: Stamp,
        area: &Bounds,
        reading: Reading,
    ) -> Change {
        let standing = self.standing_changes.since(stamp, area, reader);
        match reading {
            Reading::Standing => standing,
            Reading::Everything => standing.max(self.moving_changes.since(stamp, area, reader)),
        }
    }

    /// Paints a cell of a painted layer and returns the previous paint. Callers choose the numbers of layers.
    /// All cells of a layer have the size of the cell that was painted first.
    pub fn paint(&mut self, layer: u32, size: CellSize, cell: Cell, paint: Paint) -> Paint {
        let painting = self
            .paintings
            .entry(layer)
            .or_insert_with(|| Painting::new(size));
        let size = painting.size();
        let before = painting.paint(cell, paint);
        if before == paint {
            return before;
        }
        let half = DVec2::splat(0.5 * size.metres());
        let centre = size.centre(cell);
        let bounds = Bounds {
            low: centre - half,
            high: centre + half,
        };
        for map in &mut self.maps {
            map.forget(bounds);
        }
        let change = if before.is_above(paint) {
            Change::Fell
        } else {
            Change::Rose
        };
        self.note(bounds, Mobility::Stands, None, change);
        before
    }

    /// Returns the paint of a cell.
    pub fn painted(&self, layer: u32, cell: Cell) -> Paint {
        self.paintings
            .get(&layer)
            .map_or(Paint::default(), |painting| painting.at(cell))
    }

    /// Indices of the items whose shape may overlap an area, in ascending order.
    fn items_near(&self, area: Bounds) -> Vec<u32> {
        let mut indices = self.large.clone();
        match squares_of(area) {
            Some(squares) => {
                for square in in_range(squares) {
                    indices.extend(self.squares.get(&square).into_iter().flatten());
                }
            }
            None => indices.extend(self.squares.values().flatten()),
        }
        indices.sort_unstable();
        indices.dedup();
        indices
    }

    pub(super) fn live_items_near(&self, area: Bounds) -> impl Iterator<Item = &Item> {
        let indices = self.items_near(area).into_iter();
        indices.filter_map(|index| self.items[index as usize].item.as_ref())
    }

    /// Returns a tile, computing it if it is not cached.
    pub(super) fn tile(&mut self, profile: ProfileId, key: TileKey) -> &Tile {
        self.tile_mut(profile, key)
    }

    fn tile_mut(&mut self, profile: ProfileId, key: TileKey) -> &mut Tile {
        let at = profile.0 as usize;
        if !self.maps[at].tiles.contains_key(&key) {
            let tile = self.make(profile, key);
            self.make_room();
            self.maps[at].tiles.insert(key, tile);
        }
        let known = self.maps[at].tiles.get(&key);
        let moving = known
            .filter(|tile| tile.is_stale)
            .map(|_| self.moving(profile, key));
        let map = &mut self.maps[at];
        map.reads += 1;
        let reads = map.reads;
        // The tile exists, because it was just computed if it was missing.
        let tile = map.tiles.entry(key).or_insert_with(Tile::empty);
        if let Some(moving) = moving {
            tile.moving = moving;
            tile.is_stale = false;
            tile.factors = None;
        }
        tile.last_read = reads;
        tile
    }

    /// Returns the contribution of all moving bodies to a tile; `None` if the tile contains no
    /// moving body.
    fn moving(&self, profile: ProfileId, key: TileKey) -> Option<Box<Sums>> {
        let profile = &self.maps[profile.0 as usize].profile;
        let area = key.bounds(profile.cell).grown(profile.reach());
        let mut sums: Option<Box<Sums>> = None;
        let moving = self.live_items_near(area);
        for item in moving.filter(|item| item.mobility == Mobility::Moves) {
            let sums = sums.get_or_insert_with(|| Box::new(Sums::new()));
            raster::draw(profile, item, key, Sign::Add, sums);
        }
        sums
    }

    /// Computes a tile from scratch.
    fn make(&self, profile: ProfileId, key: TileKey) -> Tile {
        let profile = &self.maps[profile.0 as usize].profile;
        let mut tile = Tile::empty();
        let reach = profile.reach();
        let area = key.bounds(profile.cell).grown(reach);
        for item in self.live_items_near(area) {
            tile.update(profile, item, key, Sign::Add);
        }
        for painting in self.paintings.values() {
            painting.draw(profile, key, &mut tile.standing);
        }
        tile
    }

    /// Drops the least recently read tiles if there is no memory for another one.
    fn make_room(&mut self) {
        let most = (self.memory / KEPT_BYTES).max(1);
        let kept: usize = self.maps.iter().map(TileMap::weight).sum();
        if kept < most {
            return;
        }
        for map in &mut self.maps {
            // A quarter of the tiles is dropped at once, so that this search does not run for every new tile.
            let mut reads: Vec<u64> = map.tiles.values().map(|tile| tile.last_read).collect();
            reads.sort_unstable();
            let Some(limit) = reads.get(reads.len() / 4).copied() else {
                continue;
            };
            map.tiles.retain(|_, tile| tile.last_read > limit);
        }
    }

    /// Number of cached tiles of all profiles. Tiles with moving bodies are counted twice.
    pub fn kept_tiles(&self) -> usize {
        self.maps.iter().map(TileMap::weight).sum()
    }

    /// Drops all cached tiles. They are computed again when they are next read.
    pub fn drop_tiles(&mut self) {
        self.maps.iter_mut().for_each(|map| map.tiles.clear());
    }

    /// Factor of a cell; 0 if it is blocked.
    pub fn factor(&mut self, profile: ProfileId, cell: Cell, reading: Reading) -> u32 {
        let tile = self.tile(profile, TileKey::of(cell));
        tile.factor(TileKey::position(cell), reading, None)
    }

    /// Contribution of an owner's items to a tile; `None` if the owner has no items in it.
    fn own_share(
        &self,
        profile: ProfileId,
        key: TileKey,
        owner: Owner,
        reading: Reading,
    ) -> Option<Sums> {
        let profile = &self.maps[profile.0 as usize].profile;
        let area = key.bounds(profile.cell);
        let own = self.owned.get(&owner)?.iter();
        let own = own.filter_map(|id| self.item(*id)).filter(|item| {
            (reading == Reading::Everything || item.mobility == Mobility::Stands)
                && raster::extent(profile, item).meets(&area)
        });
        let mut share = None;
        for item in own {
            let sums = share.get_or_insert_with(Sums::new);
            raster::draw(profile, item, key, Sign::Add, sums);
        }
        share
    }

    /// Calls `each` with the factors of a tile, ignoring the owner's items. Blocked cells have the
    /// factor 0. Returns whether moving items of other owners affect the tile.
    pub(super) fn read_tile(
        &mut self,
        profile: ProfileId,
        key: TileKey,
        owner: Option<Owner>,
        reading: Reading,
        mut each: impl FnMut(u32),
    ) -> bool {
        let own = owner.and_then(|owner| self.own_share(profile, key, owner, Reading::Everything));
        let Some(own) = own else {
            let (factors, moves) = self.shared_factors(profile, key, reading);
            factors.iter().for_each(|factor| each(u32::from(*factor)));
            return moves;
        };
        let own_standing =
            owner.and_then(|owner| self.own_share(profile, key, owner, Reading::Standing));
        let tile = self.tile(profile, key);
        let may_move = reading == Reading::Everything && tile.moving.is_some();
        let mut moves = false;
        for at in 0..TILE_CELLS {
            let standing = tile.factor(at, Reading::Standing, own_standing.as_ref());
            let factor = match reading {
                Reading::Standing => standing,
                Reading::Everything => tile.factor(at, reading, Some(&own)),
            };
            // Factors are compared, because sums that have returned to zero may still be in memory.
            moves |= may_move && factor != standing;
            each(factor);
        }
        moves
    }

    /// Factors of a tile for readers without items in it, and whether moving items affect them.
    fn shared_factors(
        &mut self,
        profile: ProfileId,
        key: TileKey,
        reading: Reading,
    ) -> (&[u16], bool) {
        let tile = self.tile_mut(profile, key);
        let made = tile.factors.take();
        let factors = made.unwrap_or_else(|| Box::new(TileFactors::of(tile)));
        let factors = &*tile.factors.insert(factors);
        match (reading, &factors.everything) {
            (Reading::Everything, Some(everything)) => (everything.as_slice(), true),
            _ => (factors.standing.as_slice(), false),
        }
    }

    /// Lower bound of the factors of all free cells of a profile.
    ///
    /// Only tiles with items cheaper than plain ground are examined, because all other cells are plain ground or
    /// cost more. Moving items can only add cost.
    pub fn smallest_factor(&mut self, profile: ProfileId) -> u32 {
        let at = profile.0 as usize;
        let map = &self.maps[at];
        let size = map.profile.cell;
        let mut keys = Vec::new();
        for &index in &map.lowering {
            let Some(item) = &self.items[index as usize].item else {
                continue;
            };
            let extent = raster::extent(&map.profile, item);
            let tiles = Range::cells(extent, size).tiles();
            if tiles.area() > MOST_SQUARES {
                return super::cost::SMALLEST_FACTOR;
            }
            keys.extend(in_range(tiles).map(|(y, x)| TileKey { y, x }));
        }
        for painting in self.paintings.values() {
            let Some(lowered) = painting.lowered_tiles(size) else {
                return super::cost::SMALLEST_FACTOR;
            };
            keys.extend(lowered);
        }
        keys.sort_unstable();
        keys.dedup();
        let mut smallest = PLAIN as u32;
        for key in keys {
            let known = self.maps[at].smallest.get(&key).copied();
            let least = known.unwrap_or_else(|| {
                let tile = self.tile(profile, key);
                let factors =
                    (0..TILE_CELLS).map(|cell| tile.factor(cell, Reading::Standing, None));
                // A cell that is blocked by a stationary item is free for the owner of the item.
                let own = tile
                    .standing
                    .costs
                    .iter()
                    .map(|cost| clamp_factor(PLAIN.saturating_add(*cost)));
                factors
                    .filter(|f| *f > 0)
                    .chain(own)
                    .min()
                    .unwrap_or(PLAIN as u32)
            });
            self.maps[at].smallest.insert(key, least);
            smallest = smallest.min(least);
        }
        smallest
    }

    /// Copies a rectangle into a [`GridMap`], for planners that need bounded maps.
    ///
    /// # Errors
    /// If the rectangle has no cells or too many cells.
    pub fn window(
        &mut self,
        profile: ProfileId,
        owner: Option<Owner>,
        reading: Reading,
        window: Window,
    ) -> Result<GridMap, GridError> {
        let mut map = GridMap::new(window.origin, window.columns, window.rows)?;
        let high = Cell::new(
            window.origin.x + (window.columns - 1) as i32,
            window.origin.y + (window.rows - 1) as i32,
        );
        let cells = Range {
            low: window.origin,
            high,
        };
        for (y, x) in in_range(cells.tiles()) {
            let key = TileKey { y, x };
            let origin = key.origin();
            let mut at = 0;
            self.read_tile(profile, key, owner, reading, |factor| {
                let cell = Cell::new(origin.x + at % TILE as i32, origin.y + at / TILE as i32);
                at += 1;
                if cells.contains(cell.x, cell.y) && factor != PLAIN as u32 {
                    map.set(cell, factor);
                }
            });
        }
        Ok(map)
    }

    /// Returns the item with this index, if it obstructs a body and meets an area.
    fn obstructing(&self, index: u32, reader: Obstructed<'_>, area: &Bounds) -> Option<&Item> {
        let slot = &self.items[index as usize];
        let item = slot.item.as_ref().filter(|_| slot.bounds.meets(area))?;
        let is_own = item.owner.is_some() && item.owner == reader.owner;
        if is_own {
            return None;
        }
        let profile = reader.profile;
        let stops = matches!(
            profile.effect(item.layer),
            super::profile::Effect::AsItIs | super::profile::Effect::Stops
        );
        let is_met = || matches!(item.role_for(profile), Role::Obstacle(heights) if profile.is_in_the_way(heights));
        (stops && is_met()).then_some(item)
    }

    /// Whether a condition holds for any obstacle that is near an area and obstructs a body. The
    /// condition may be evaluated more than once for an obstacle, and in any order.
    fn any_in_the_way(
        &self,
        reader: Obstructed<'_>,
        area: &Bounds,
        mut condition: impl FnMut(&Item) -> bool,
    ) -> bool {
        self.obstacles.any_near(area, |index| {
            self.obstructing(index, reader, area)
                .is_some_and(&mut condition)
        })
    }

    /// Returns the obstacles that are near an area and obstruct a body, in the order of their
    /// numbers.
    fn in_the_way(&self, reader: Obstructed<'_>, area: &Bounds) -> Vec<&Item> {
        let mut indices = Vec::new();
        self.obstacles.any_near(area, |index| {
            indices.push(index);
            false
        });
        indices.sort_unstable();
        indices.dedup();
        let items = indices.into_iter();
        items
            .filter_map(|index| self.obstructing(index, reader, area))
            .collect()
    }

    fn obstructed(&self, profile: ProfileId, owner: Option<Owner>) -> Obstructed<'_> {
        Obstructed {
            profile: self.profile(profile),
            owner,
        }
    }

    /// Returns the outlines of the stationary obstacles that are near an area and obstruct a body.
    pub(super) fn shapes_in_the_way(
        &self,
        profile: ProfileId,
        owner: Option<Owner>,
        area: Bounds,
    ) -> Vec<Shape> {
        let items = self.in_the_way(self.obstructed(profile, owner), &area);
        items.into_iter().map(|item| item.shape.clone()).collect()
    }

    /// Whether a body is clear of all stationary items. Cells are blocked at a larger distance from
    /// items, because the body needs clearance while it follows a path.
    pub fn is_free(&self, profile: ProfileId, owner: Option<Owner>, body: &OrientedBox) -> bool {
        let reach = DVec2::splat(body.radius());
        let area = Bounds {
            low: body.centre - reach,
            high: body.centre + reach,
        };
        let reader = self.obstructed(profile, owner);
        !self.any_in_the_way(reader, &area, |item| item.shape.overlaps(body))
    }

    /// Distance from a point to the nearest stationary obstacle, at most `within`, m.
    pub fn clearance(
        &self,
        profile: ProfileId,
        owner: Option<Owner>,
        point: DVec2,
        within: f64,
    ) -> f64 {
        let mut nearest = within;
        let reader = self.obstructed(profile, owner);
        self.any_in_the_way(reader, &around(point, within), |item| {
            nearest = nearest.min(item.shape.distance(point));
            false
        });
        nearest
    }

    /// Whether a straight line is clear of stationary obstacles.
    pub(super) fn line_is_free(
        &self,
        profile: ProfileId,
        owner: Option<Owner>,
        a: DVec2,
        b: DVec2,
    ) -> bool {
        let area = Bounds {
            low: a.min(b),
            high: a.max(b),
        };
        let reader = self.obstructed(profile, owner);
        !self.any_in_the_way(reader, &area, |item| item.shape.meets_line(a, b))
    }

    /// Parts of outlines within `within` metres of a point.
    pub(super) fn pieces_near(
        &self,
        profile: ProfileId,
        owner: Option<Owner>,
        point: DVec2,
        within: f64,
    ) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for item in self.in_the_way(self.obstructed(profile, owner), &around(point, within)) {
            item.shape.for_each_piece(|piece| {
                if (piece.closest(point) - point).length() <= within {
                    pieces.push(piece);
                }
            });
        }
        pieces
    }
}

/// A body that items may obstruct.
#[derive(Clone, Copy)]
struct Obstructed<'a> {
    profile: &'a Profile,
    /// Agent whose own items do not obstruct it.
    owner: Option<Owner>,
}

/// Whether an item may stop the body of some profile until it is removed.
fn may_stop(item: &Item) -> bool {
    item.mobility == Mobility::Stands && matches!(item.role, Role::Obstacle(_) | Role::Painted(_))
}

/// A rectangle of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The south-west cell.
    pub origin: Cell,
    /// Number of columns of the rectangle.
    pub columns: u32,
    /// Number of rows of the rectangle.
    pub rows: u32,
}

fn around(point: DVec2, within: f64) -> Bounds {
    Bounds {
        low: point,
        high: point,
    }
    .grown(within)
}

fn is_lowering(profile: &Profile, item: &Item) -> bool {
    item.mobility == Mobility::Stands && raster::lowers(profile, item)
}

/// Returns the squares that a rectangle overlaps; `None` if there are too many.
fn squares_of(bounds: Bounds) -> Option<Range> {
    let square = |point: DVec2| {
        let square = (point / SQUARE).floor();
        Cell::new(square.x as i32, square.y as i32)
    };
    let squares = Range {
        low: square(bounds.low),
        high: square(bounds.high),
    };
    (squares.area() <= MOST_SQUARES).then_some(squares)
}

/// All positions in a range, row by row, each as row and column.
fn in_range(range: Range) -> impl Iterator<Item = (i32, i32)> {
    (range.low.y..=range.high.y)
        .flat_map(move |y| (range.low.x..=range.high.x).map(move |x| (y, x)))
}

impl TileMap {
    fn weight(&self) -> usize {
        let tiles = self.tiles.values();
        tiles
            .map(|tile| 1 + usize::from(tile.moving.is_some()))
            .sum()
    }

    /// Adds an item to the cached tiles, or subtracts it from them.
    fn update(&mut self, item: &Item, sign: Sign) {
        let range = Range::cells(raster::extent(&self.profile, item), self.profile.cell).tiles();
        if item.mobility == Mobility::Stands {
            let in_rows = TileKey {
                y: range.low.y,
                x: i32::MIN,
            }..=TileKey {
                y: range.high.y,
                x: i32::MAX,
            };
            let outdated: Vec<TileKey> = self
                .smallest
                .range(in_rows)
                .map(|(key, _)| *key)
                .filter(|key| range.contains(key.x, key.y))
                .collect();
            for key in outdated {
                self.smallest.remove(&key);
            }
        }
        let in_rows = TileKey {
            y: range.low.y,
            x: range.low.x,
        }..=TileKey {
            y: range.high.y,
            x: range.high.x,
        };
        for (key, tile) in self.tiles.range_mut(in_rows) {
            if range.contains(key.x, key.y) {
                match item.mobility {
                    Mobility::Stands => tile.update(&self.profile, item, *key, sign),
                    Mobility::Moves => tile.is_stale = true,
                }
            }
        }
    }

    /// Drops the cached tiles that overlap a rectangle. They are computed again when they are next
    /// read.
    fn forget(&mut self, bounds: Bounds) {
        // The centre of a cell may be exactly on the edge.
        let bounds = bounds.grown(self.profile.cell.metres());
        let range = Range::cells(bounds, self.profile.cell).tiles();
        for (y, x) in in_range(range) {
            let key = TileKey { y, x };
            self.tiles.remove(&key);
            self.smallest.remove(&key);
        }
    }
}

impl Tile {
    fn empty() -> Self {
        Self {
            standing: Sums::new(),
            moving: None,
            is_stale: false,
            last_read: 0,
            factors: None,
        }
    }

    fn update(&mut self, profile: &Profile, item: &Item, key: TileKey, sign: Sign) {
        self.factors = None;
        match item.mobility {
            Mobility::Stands => raster::draw(profile, item, key, sign, &mut self.standing),
            Mobility::Moves => {
                let sums = self.moving.get_or_insert_with(|| Box::new(Sums::new()));
                raster::draw(profile, item, key, sign, sums);
            }
        }
    }

    /// Factor of a cell, excluding the contribution `own` of an owner's items; 0 if the cell is blocked.
    #[inline]
    pub(super) fn factor(&self, at: usize, reading: Reading, own: Option<&Sums>) -> u32 {
        let mut cost = self.standing.costs[at];
        let mut blocks = self.standing.blocks[at];
        if reading == Reading::Everything
            && let Some(moving) = &self.moving
        {
            cost = cost.wrapping_add(moving.costs[at]);
            blocks = blocks.wrapping_add(moving.blocks[at]);
        }
        if let Some(own) = own {
            cost = cost.wrapping_sub(own.costs[at]);
            blocks = blocks.wrapping_sub(own.blocks[at]);
        }
        if blocks > 0 {
            0
        } else {
            clamp_factor(PLAIN.saturating_add(cost))
        }
    }
}

/// Doubles the cell size until a map of the extent fits into the given memory, in bytes.
pub fn fitting_cell_size(extent: Bounds, wanted: CellSize, memory: usize) -> FittingSize {
    let size = extent.high - extent.low;
    let mut fitting = FittingSize {
        size: wanted,
        doublings: 0,
    };
    loop {
        let tile = fitting.size.metres() * TILE as f64;
        let tiles = (size.x / tile).ceil().max(1.0) * (size.y / tile).ceil().max(1.0);
        let doubled = CellSize::new(2.0 * fitting.size.metres());
        match doubled {
            Some(doubled) if tiles * TILE_BYTES as f64 > memory as f64 => {
                fitting.size = doubled;
                fitting.doublings += 1;
            }
            _ => return fitting,
        }
    }
}

/// Result of [`fitting_cell_size`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittingSize {
    /// Cell size with which a map of the extent fits into the memory.
    pub size: CellSize,
    /// Number of times that the requested size was doubled.
    pub doublings: u32,
}

/// Heights of a wall, without an upper limit.
pub const WALL: Heights = Heights {
    base: 0.0,
    top: 1e6,
};

#[cfg(test)]
mod tests;
