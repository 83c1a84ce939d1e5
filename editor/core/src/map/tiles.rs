//! The map in tiles, with the contents of each tile and its triangles at each level of detail.

use super::mesh::{Ink, Level, Mesh, MeshBuilder};
use crate::scene::Scene;
use roadwright_geometry::{DVec2, polygon};
use roadwright_render::{
    Painter, Pass, ground, junction_layer, land, over_traffic, palette, roads_and_junctions, verges,
};
use roadwright_scenario::junction::{Junction, OutlineEdge};
use roadwright_scenario::{
    DrivingSide, LandId, ObjectId, ObstacleId, Road, RoadClass, RoadId, Scenario,
};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Edge length of a tile, m. An edit rebuilds a whole tile, so larger tiles make edits slower, and smaller
/// tiles need more GPU calls per frame.
const SIDE: f64 = 500.0;

/// Width of the verges and embankments beside roads, m.
const BESIDE_ROADS: f64 = 10.0;

/// A tile by its column and row.
pub type TileId = (i32, i32);

/// Contents of a tile: roads, junctions, land and fixed obstacles whose centre is in it.
#[derive(Debug, Clone, Default)]
pub struct Tile {
    roads: Vec<RoadId>,
    junctions: Vec<usize>,
    land: Vec<LandId>,
    obstacles: Vec<ObstacleId>,
    /// South-west corner of the bounding box, m.
    pub low: DVec2,
    /// North-east corner of the bounding box, m.
    pub high: DVec2,
    /// Hash of the contents, equal for equal contents.
    pub fingerprint: u64,
    /// Roads of the tile. Keeping them alive ensures that no other road gets an address that is
    /// part of the fingerprint.
    held: Vec<Arc<Road>>,
}

/// All tiles of a scene.
#[derive(Debug, Clone, Default)]
pub struct Tiles {
    tiles: BTreeMap<TileId, Tile>,
}

impl Tiles {
    /// Sorts a scene into tiles.
    pub fn new(scene: &Scene) -> Self {
        let mut tiles: BTreeMap<TileId, Tile> = BTreeMap::new();
        for shape in &scene.roads {
            // Each road belongs to one tile, which grows to contain it, so that nothing is drawn twice and
            // long roads are not cut.
            let id = tile_of(0.5 * (shape.low + shape.high));
            let tile = tiles.entry(id).or_default();
            let empty = tile.roads.is_empty();
            tile.grow(
                shape.low - shape.reach - BESIDE_ROADS,
                shape.high + shape.reach + BESIDE_ROADS,
                empty,
            );
            tile.roads.push(shape.id);
        }
        for (index, junction) in scene.layout.junctions.iter().enumerate() {
            if junction.outline().is_empty() {
                continue;
            }
            let tile = tiles.entry(tile_of(junction.centre)).or_default();
            let borders = junction
                .borders()
                .iter()
                .flat_map(|border| &border.pavement);
            let mut points = junction.polygon();
            points.extend(borders.map(OutlineEdge::from));
            if let Some((low, high)) = polygon::bounds(&points) {
                let empty = tile.is_empty();
                tile.grow(low - 1.0, high + 1.0, empty);
            }
            tile.junctions.push(index);
        }
        land_and_obstacles(&mut tiles, scene);
        for tile in tiles.values_mut() {
            tile.fingerprint = fingerprint(tile, scene);
            let shared = tile
                .roads
                .iter()
                .filter_map(|id| scene.scenario.network().shared_road(*id));
            tile.held = shared.cloned().collect();
        }
        Self { tiles }
    }

    /// Returns the tiles that overlap a box.
    pub fn visible(&self, low: DVec2, high: DVec2) -> impl Iterator<Item = (TileId, &Tile)> {
        let seen = move |tile: &&Tile| !(tile.low.cmpgt(high).any() || tile.high.cmplt(low).any());
        let tiles = self.tiles.iter().map(|(id, tile)| (*id, tile));
        tiles.filter(move |(_, tile)| seen(tile))
    }

    /// Returns a tile, if it exists.
    pub fn get(&self, id: TileId) -> Option<&Tile> {
        self.tiles.get(&id)
    }
}

impl Tile {
    fn is_empty(&self) -> bool {
        let has_roads = !self.roads.is_empty() || !self.junctions.is_empty();
        !has_roads && self.land.is_empty() && self.obstacles.is_empty()
    }

    /// Returns the land and fixed obstacles of the tile.
    pub fn contents(&self) -> Contents<'_> {
        Contents {
            land: &self.land,
            obstacles: &self.obstacles,
        }
    }

    /// Whether the tile contains fixed obstacles.
    pub fn has_obstacles(&self) -> bool {
        !self.obstacles.is_empty()
    }

    fn grow(&mut self, low: DVec2, high: DVec2, empty: bool) {
        (self.low, self.high) = if empty {
            (low, high)
        } else {
            (self.low.min(low), self.high.max(high))
        };
    }
}

/// Maximum reach of a house's shadow and yard, m.
const AROUND: f64 = 12.0;

fn land_and_obstacles(tiles: &mut BTreeMap<TileId, Tile>, scene: &Scene) {
    let mut put = |(low, high): (DVec2, DVec2), reach: f64, add: &dyn Fn(&mut Tile)| {
        let tile = tiles.entry(tile_of(0.5 * (low + high))).or_default();
        let empty = tile.is_empty();
        tile.grow(low - reach, high + reach, empty);
        add(tile);
    };
    for (id, _) in scene.scenario.painted_land() {
        if let Some(around) = scene.bounds_of(ObjectId::Land(id)) {
            put(around, 3.0, &|tile| tile.land.push(id));
        }
    }
    for (&id, obstacle) in scene.scenario.obstacles() {
        let around = scene.bounds_of(ObjectId::Obstacle(id));
        if let (Some(around), None) = (around, obstacle.mass.get()) {
            put(around, AROUND, &|tile| tile.obstacles.push(id));
        }
    }
}

/// Returns the tile of a point.
pub fn tile_of(point: DVec2) -> TileId {
    let cell = (point / SIDE).floor();
    (cell.x as i32, cell.y as i32)
}

/// Returns the middle of a tile, m.
pub fn middle(id: TileId) -> DVec2 {
    let (column, row) = id;
    SIDE * (DVec2::new(f64::from(column), f64::from(row)) + 0.5)
}

fn fingerprint(tile: &Tile, scene: &Scene) -> u64 {
    let mut hasher = DefaultHasher::new();
    let about = scene.scenario.about();
    (about.driving_side == DrivingSide::Left).hash(&mut hasher);
    // Signs differ by country.
    about.country.hash(&mut hasher);
    let network = scene.scenario.network();
    for id in &tile.roads {
        id.hash(&mut hasher);
        // An edit creates a new road, so comparing addresses shows whether the road is the same
        // without reading its points. Its trim depends on its surroundings.
        network.shared_road(*id).map(Arc::as_ptr).hash(&mut hasher);
        let trim = scene.layout.trims.get(id).copied().unwrap_or_default();
        (trim.start.to_bits(), trim.end.to_bits()).hash(&mut hasher);
        scene.layout.internal.contains(id).hash(&mut hasher);
        for span in scene.bridges.of_road(*id) {
            span.hash(&mut hasher);
        }
        // The ends of a road's markings depend on the junctions at its ends.
        let road = network.road(*id);
        for node in road.into_iter().flat_map(|road| [road.from, road.to]) {
            let junction = scene.layout.junction_at(node);
            let arms = junction.into_iter().flat_map(|junction| &junction.arms);
            for arm in arms.filter(|arm| arm.road == *id) {
                arm.sign.hash(&mut hasher);
            }
            junction
                .map(|junction| junction.is_crossing())
                .hash(&mut hasher);
        }
    }
    // The island of a roundabout is drawn with one of its roads and depends on all of them.
    let rings = &scene.layout.rings;
    if tile.roads.iter().any(|id| rings.contains(id)) {
        for id in rings {
            (id, network.shared_road(*id).map(Arc::as_ptr)).hash(&mut hasher);
        }
    }
    for index in &tile.junctions {
        let junction = &scene.layout.junctions[*index];
        junction.control.hash(&mut hasher);
        for point in junction.polygon() {
            (point.x.to_bits(), point.y.to_bits()).hash(&mut hasher);
        }
        for border in junction.borders() {
            // The corners determine the rest, because the shape between them follows from the outline.
            for edge in &border.pavement {
                let point = edge.from();
                (point.x.to_bits(), point.y.to_bits()).hash(&mut hasher);
            }
        }
        // Arrows depend on the lanes to which the connections lead.
        for path in &junction.paths {
            (path.from.road, path.from.lane, path.turn as u8).hash(&mut hasher);
        }
        // Arrows and stop lines of a junction depend on the lanes of its roads.
        for arm in &junction.arms {
            // Yield triangles at the entry of a roundabout lie on its rim.
            (arm.road, arm.sign, rings.contains(&arm.road)).hash(&mut hasher);
            network
                .shared_road(arm.road)
                .map(Arc::as_ptr)
                .hash(&mut hasher);
        }
    }
    for id in &tile.land {
        let Some(land) = scene.scenario.land().get(id) else {
            continue;
        };
        (id, land.usage).hash(&mut hasher);
        for ring in land.rings() {
            hash_ring(ring, &mut hasher);
        }
    }
    for id in &tile.obstacles {
        let Some(obstacle) = scene.scenario.obstacles().get(id) else {
            continue;
        };
        (id, obstacle.height.to_bits()).hash(&mut hasher);
        hash_ring(&obstacle.shape.outline(), &mut hasher);
    }
    hasher.finish()
}

fn hash_ring(ring: &[DVec2], hasher: &mut impl Hasher) {
    ring.len().hash(hasher);
    for point in ring {
        (point.x.to_bits(), point.y.to_bits()).hash(hasher);
    }
}

/// Layer of yards in the meshes of land: below every kind of land use.
pub const YARDS: i8 = -1;

/// Land and fixed obstacles of a tile.
#[derive(Debug, Clone, Copy, Default)]
pub struct Contents<'a> {
    /// Ids of the areas of land.
    pub land: &'a [LandId],
    /// Ids of the fixed obstacles.
    pub obstacles: &'a [ObstacleId],
}

/// Triangulates the land and yards of a tile, which are below all roads.
pub fn ground(scene: &Scene, tile: &Tile, level: Level, ink: Ink) -> Mesh {
    let origin = 0.5 * (tile.low + tile.high);
    ground_of(&scene.scenario, tile.contents(), origin, level, ink)
}

/// Triangulates land and yards. `origin` is the point that corners are relative to, m.
pub fn ground_of(
    scenario: &Scenario,
    contents: Contents<'_>,
    origin: DVec2,
    level: Level,
    ink: Ink,
) -> Mesh {
    let mut builder = MeshBuilder::new(origin, level, ink);
    // At small scales the meshes of the previous level are shown, see `frame`.
    if let Some(detail) = land::Detail::at(builder.nearest_scale()).filter(|_| level != Level::Far)
    {
        builder.set_layer(YARDS);
        let obstacles = contents.obstacles.iter();
        let houses = obstacles.filter_map(|id| scenario.obstacles().get(id));
        land::yards(&mut builder, houses, detail);
    }
    let areas = contents.land.iter();
    for area in areas.filter_map(|id| scenario.land().get(id)) {
        // Land is layered by use across all tiles, so that a park that extends into the next tile
        // is drawn above the district there.
        builder.set_layer(area.usage.rank() as i8);
        ground::area(&mut builder, area);
    }
    builder.finish()
}

/// Triangulates the fixed obstacles of a tile, which are drawn above the roads as in exported
/// pictures.
pub fn obstacles(scene: &Scene, tile: &Tile, level: Level, ink: Ink) -> Mesh {
    let origin = 0.5 * (tile.low + tile.high);
    obstacles_of(&scene.scenario, tile.contents(), origin, level, ink)
}

/// Triangulates fixed obstacles. `origin` is the point that corners are relative to, m.
pub fn obstacles_of(
    scenario: &Scenario,
    contents: Contents<'_>,
    origin: DVec2,
    level: Level,
    ink: Ink,
) -> Mesh {
    let mut builder = MeshBuilder::new(origin, level, ink);
    if level == Level::Far {
        return builder.finish();
    }
    let all = scenario.obstacles();
    let own = contents.obstacles.iter();
    let own: Vec<_> = own.filter_map(|id| Some((id, all.get(id)?))).collect();
    land::obstacles(&mut builder, own);
    builder.finish()
}

/// Triangulates the roads and junctions of a tile, lower layers first.
pub fn mesh(scene: &Scene, tile: &Tile, level: Level, ink: Ink) -> Mesh {
    let mut builder = MeshBuilder::new(0.5 * (tile.low + tile.high), level, ink);
    if level == Level::Far {
        lines(&mut builder, scene, tile);
        return builder.finish();
    }
    let network = scene.scenario.network();
    // Drawn layer by layer, so that a bridge covers the roads below it.
    let mut layers: BTreeMap<i8, (Vec<RoadId>, Vec<&Junction>)> = BTreeMap::new();
    for &id in &tile.roads {
        if let Some(road) = network.road(id) {
            layers.entry(road.layer).or_default().0.push(id);
        }
    }
    for &index in &tile.junctions {
        let junction = &scene.layout.junctions[index];
        if let Some(layer) = junction_layer(&scene.scenario, junction) {
            layers.entry(layer).or_default().1.push(junction);
        }
    }
    let (scenario, bridges) = (&*scene.scenario, &*scene.bridges);
    // Verges lie on the ground, including those of roads above it.
    builder.set_layer(i8::MIN);
    for (roads, junctions) in layers.values() {
        verges(
            &mut builder,
            scenario,
            &scene.layout,
            bridges,
            roads,
            junctions,
        );
    }
    for (layer, (roads, junctions)) in layers {
        builder.set_layer(layer);
        bridges.draw_shadows(&mut builder, &roads);
        bridges.draw_decks(&mut builder, &roads);
        roads_and_junctions(&mut builder, scenario, &scene.layout, &roads, &junctions);
        bridges.draw_parapets(&mut builder, scenario, &roads);
        bridges.draw_tunnels_of(&mut builder, scenario, &roads, MeshBuilder::set_layer);
    }
    builder.finish()
}

/// Triangulates the tunnels of a tile and its roads with decks or roofs, which are drawn again
/// above the vehicles below them.
pub fn decks(scene: &Scene, tile: &Tile, level: Level, ink: Ink) -> Mesh {
    let mut builder = MeshBuilder::new(0.5 * (tile.low + tile.high), level, ink);
    if level == Level::Far {
        return builder.finish();
    }
    for id in scene.bridges.among(&tile.roads) {
        if let Some(road) = scene.scenario.network().road(id) {
            builder.set_layer(road.layer);
            over_traffic(
                &mut builder,
                &scene.scenario,
                &scene.layout,
                &scene.bridges,
                &[id],
            );
        }
    }
    let bridges = &scene.bridges;
    bridges.draw_tunnels_of(
        &mut builder,
        &scene.scenario,
        &tile.roads,
        MeshBuilder::set_layer,
    );
    builder.finish()
}

/// Draws roads as lines, as seen at small scales. More important roads have wider lines.
fn lines(builder: &mut MeshBuilder, scene: &Scene, tile: &Tile) {
    for id in &tile.roads {
        let Some(road) = scene.scenario.network().road(*id) else {
            continue;
        };
        // More important classes are wider and drawn later, so they end up on top.
        let (pixels, hex, order) = match road.class {
            RoadClass::Path => (0.8, palette::CASING, Pass::Ground),
            RoadClass::Service => (0.9, palette::PARKING, Pass::Paving),
            RoadClass::Residential => (1.2, palette::PARKING, Pass::Kerb),
            RoadClass::Collector => (1.7, palette::ASPHALT, Pass::Surface),
            RoadClass::Arterial => (2.3, palette::ASPHALT, Pass::Lane),
            RoadClass::Ramp => (1.7, palette::ASPHALT, Pass::Lane),
            RoadClass::Motorway => (3.0, palette::ASPHALT, Pass::Marking),
        };
        builder.set_layer(road.layer);
        builder.begin(order);
        // An error of 1.5 m is invisible at 2.5 m per point or more.
        let points = road.reference_line.sample(1.5, 0.0);
        builder.pixel_line(&points, pixels, palette::rgb(hex));
    }
}
