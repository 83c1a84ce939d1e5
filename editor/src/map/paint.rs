//! The contents of the map in a frame, and the workers that make its triangles.

use super::gpu;
use super::groves::{Shown, View};
use super::heat::{HeatPicture, HeatQuestion};
use super::instances::Instances;
use super::interim::{Interim, InterimKey, Sorted};
use super::mesh::{Ink, Level, Mesh};
use super::moving::{self, Moving};
use super::objects::{self, Objects};
use super::pushed::Pushed;
use super::shapes;
use super::terrain::TerrainImage;
use super::tiles::{self, TileId, Tiles};
use crate::camera::Camera;
use crate::live::HeatCells;
use crate::map_view::MapView;
use crate::scene::Scene;
use crate::settings::Heat;
use crate::tools::MapPart;
use crate::worker::{Share, Worker};
use egui::{Color32, Rect, Shape, TextureHandle, TextureOptions};
use roadwright_geometry::DVec2;
use roadwright_render::figure::Figure;
use roadwright_render::relief::Relief;
use roadwright_render::{Pass, canopy, land};
use roadwright_scenario::Scenario;
use roadwright_simulation::LooseRecord;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Number of meshes kept while out of view.
const KEPT_MESHES: usize = 400;
/// Maximum number of tiles in one answer of the worker. It is small, so that a large map appears
/// step by step.
const TILES_AT_ONCE: usize = 8;
/// Progress of a new map once its scene has been derived, 0 to 1.
const SCENE: f32 = 0.5;
/// Progress of a new map once its contents are prepared, 0 to 1. The rest is the work on the tiles
/// in view.
const CONTENT: f32 = 0.7;
/// Progress of the contents once the terrain is drawn, 0 to 1.
const TERRAIN: f32 = 0.2;
/// Progress of the contents once everything is sorted into tiles, 0 to 1.
const TILES: f32 = 0.6;

/// Request for the triangles of tiles.
struct TileQuestion {
    scene: Arc<Scene>,
    tiles: Arc<Tiles>,
    wanted: Vec<(TileId, Level)>,
    ink: Ink,
    /// Number of the map to which the data belong.
    map: u64,
}

/// An answer with the first tiles of a request.
struct TileAnswers {
    /// Number of the map to which the data belong.
    map: u64,
    tiles: Vec<TileAnswer>,
}

struct TileAnswer {
    id: TileId,
    level: Level,
    fingerprint: u64,
    ink: Ink,
    mesh: Arc<Mesh>,
    /// Mesh of the land and yards.
    ground: Arc<Mesh>,
    /// Mesh of the fixed obstacles.
    obstacles: Arc<Mesh>,
    /// Mesh of the roads with decks, which cover vehicles on lower layers.
    decks: Arc<Mesh>,
}

/// Drawing data derived from a scene.
#[derive(Default)]
struct Content {
    tiles: Arc<Tiles>,
    objects: Arc<Objects>,
    terrain: Option<Option<TerrainImage>>,
}

struct ContentQuestion {
    scene: Arc<Scene>,
    ink: Ink,
    before: Arc<Objects>,
    /// The scene whose terrain has already been drawn.
    drawn: Option<Arc<Scene>>,
    drawn_ink: Ink,
    /// Number of the map to which the data belong.
    map: u64,
    share: Share,
}

/// Drawing data of a scene.
struct ContentAnswer {
    scene: Arc<Scene>,
    ink: Ink,
    content: Content,
    /// Number of the map to which the data belong.
    map: u64,
}

// Origin of the triangles:
//
//   scene          --content worker-->   tiles, things, trees, picture of the terrain
//   tiles in view  --tile worker-->      a mesh for each tile and level, when missing or outdated
//   meshes         --frame-->            GPU buffers, or egui shapes
//
// A frame never waits. It draws the newest meshes available, even if they are outdated.

/// The drawn ground: a texture, its position, contour lines with their heights, and their interval.
struct Terrain {
    texture: TextureHandle,
    low: DVec2,
    high: DVec2,
    contours: Arc<Mesh>,
    relief: Arc<Relief>,
    interval: f64,
}

impl Terrain {
    fn new(made: &TerrainImage, context: &egui::Context) -> Self {
        let options = TextureOptions::LINEAR;
        Self {
            texture: context.load_texture("terrain", made.image.clone(), options),
            low: made.low,
            high: made.high,
            contours: made.contours.clone(),
            relief: made.relief.clone(),
            interval: made.interval,
        }
    }
}

/// Draws the map.
pub struct MapPainter {
    uses_gpu: bool,
    ink: Ink,
    scene: Arc<Scene>,
    content: Content,
    content_scene: Option<Arc<Scene>>,
    /// The newest scene whose tiles in view have all been drawn.
    drawn_scene: Arc<Scene>,
    content_ink: Ink,
    /// Land and obstacles from edits that the workers have not drawn yet.
    interim: Interim,
    terrain: Option<Terrain>,
    meshes: HashMap<(TileId, Level), TileAnswer>,
    content_worker: Worker<ContentQuestion, ContentAnswer>,
    tile_worker: Worker<TileQuestion, TileAnswers>,
    asked: Vec<(TileId, Level)>,
    waiting: bool,
    heat_worker: Worker<HeatQuestion, HeatPicture>,
    /// The last request for a heat map; `None` if no heat map is shown.
    heat_asked: Option<HeatQuestion>,
    heat: Option<HeatPicture>,
    /// The parts of the map that are hidden.
    hidden: BTreeSet<MapPart>,
    /// Obstacles that the run has pushed, and their meshes.
    pushed: Option<Pushed>,
    /// Number of the current map. Answers about earlier maps are discarded.
    map: u64,
    /// Progress of the work on a new map, 0 to 1; `None` once it has been drawn.
    progress: Option<f32>,
    /// Progress of the last requested contents.
    content_share: Share,
    /// Whether the tile worker has answered only a part of the last request.
    has_more: bool,
    /// Whether the answers of the workers are held back, for tests.
    is_held: bool,
}

impl MapPainter {
    /// Creates a painter. With `uses_gpu`, it hands its triangles to the GPU through egui's wgpu renderer;
    /// otherwise, it creates egui shapes.
    pub fn new(uses_gpu: bool, wake: impl Fn() + Send + Clone + 'static) -> Self {
        let content = |question: ContentQuestion| {
            let scenario = &question.scene.scenario;
            // Drawing the terrain is slow, and most edits do not affect it.
            let same = question.drawn.as_ref().is_some_and(|drawn| {
                question.drawn_ink == question.ink && same_terrain(&drawn.scenario, scenario)
            });
            let terrain = |field| TerrainImage::new(field, question.ink);
            let terrain = (!same).then(|| scenario.terrain().map(terrain));
            question.share.set(TERRAIN);
            let tiles = Arc::new(Tiles::new(&question.scene));
            question.share.set(TILES);
            let content = Content {
                tiles,
                objects: Arc::new(Objects::new(scenario, question.ink, &question.before)),
                terrain,
            };
            ContentAnswer {
                scene: question.scene,
                ink: question.ink,
                content,
                map: question.map,
            }
        };
        let tile_meshes = |question: TileQuestion| {
            let answer = |&(id, level): &(TileId, Level)| {
                let tile = question.tiles.get(id)?;
                Some(TileAnswer {
                    id,
                    level,
                    fingerprint: tile.fingerprint,
                    ink: question.ink,
                    mesh: Arc::new(tiles::mesh(&question.scene, tile, level, question.ink)),
                    ground: Arc::new(tiles::ground(&question.scene, tile, level, question.ink)),
                    obstacles: {
                        let mesh = tiles::obstacles(&question.scene, tile, level, question.ink);
                        Arc::new(mesh)
                    },
                    decks: Arc::new(tiles::decks(&question.scene, tile, level, question.ink)),
                })
            };
            let found = question.wanted.iter().filter_map(answer);
            TileAnswers {
                map: question.map,
                tiles: found.take(TILES_AT_ONCE).collect(),
            }
        };
        let mut last_heat: Option<HeatPicture> = None;
        let heat = move |question: HeatQuestion| {
            let made = HeatPicture::new(question, last_heat.as_ref());
            last_heat = Some(made.clone());
            made
        };
        Self {
            uses_gpu,
            ink: Ink::Light,
            scene: Arc::new(Scene::empty()),
            content: Content::default(),
            content_scene: None,
            drawn_scene: Arc::new(Scene::empty()),
            content_ink: Ink::Light,
            interim: Interim::default(),
            terrain: None,
            meshes: HashMap::new(),
            content_worker: Worker::new(content, wake.clone()),
            tile_worker: Worker::new(tile_meshes, wake.clone()),
            asked: Vec::new(),
            waiting: false,
            heat_worker: Worker::new(heat, wake),
            heat_asked: None,
            heat: None,
            hidden: BTreeSet::new(),
            pushed: None,
            map: 0,
            progress: None,
            content_share: Share::default(),
            has_more: false,
            is_held: false,
        }
    }

    /// Discards all drawn data before the map of another document is shown.
    pub(crate) fn forget(&mut self) {
        self.map += 1;
        self.progress = Some(0.0);
        self.scene = Arc::new(Scene::empty());
        self.drawn_scene = self.scene.clone();
        self.interim = Interim::default();
        (self.content, self.content_scene) = (Content::default(), None);
        self.meshes.clear();
        self.asked.clear();
        (self.terrain, self.pushed) = (None, None);
        (self.heat_asked, self.heat) = (None, None);
        self.waiting = true;
    }

    /// Immediately draws the land and obstacles of a document that differ from the map. `scale` is
    /// in metres per point. Call this before [`shapes`](Self::shapes).
    pub(crate) fn show_edits(&mut self, scenario: &Scenario, revision: u64, scale: f64) {
        let Some(scene) = &self.content_scene else {
            return;
        };
        if self.drawn_scene.revision == revision {
            if self.interim.key.is_some() {
                self.interim = Interim::default();
            }
            return;
        }
        let key = InterimKey {
            document: revision,
            tiles: scene.revision,
            drawn: self.drawn_scene.revision,
            level: detail_of_houses(scale),
            ink: self.content_ink,
        };
        if self.interim.key != Some(key) {
            let sorted = Sorted {
                scene,
                tiles: &self.content.tiles,
            };
            self.interim = Interim::between(&self.drawn_scene, sorted, scenario, key);
        }
    }

    /// Returns the newest scene that the map has shown in full.
    pub(crate) fn drawn_scene(&self) -> &Arc<Scene> {
        &self.drawn_scene
    }

    /// Returns the progress of the work on the map of a newly opened document, 0 to 1; `None` once
    /// the map has been drawn. The work consists of the layout of the junctions, the contents of
    /// the map, and the tiles in view.
    pub(crate) fn progress(&self) -> Option<f32> {
        self.progress
    }

    /// Records the progress of deriving the scene of a newly opened document, 0 to 1.
    pub(crate) fn note_scene(&mut self, share: f32) {
        // The contents are requested as soon as the scene has been derived.
        if let Some(progress) = self.progress.as_mut().filter(|done| **done < SCENE) {
            *progress = progress.max(SCENE * share);
        }
    }

    /// Holds back the answers of the workers, as if the workers were slow. For tests.
    pub(crate) fn hold(&mut self) {
        self.is_held = true;
    }

    /// Stops holding back the answers of the workers.
    pub(crate) fn release(&mut self) {
        self.is_held = false;
    }

    /// Sets the scene to draw.
    pub fn set_scene(&mut self, scene: &Arc<Scene>, ink: Ink) {
        // Returns early if nothing has changed, because this is called every frame.
        if Arc::ptr_eq(scene, &self.scene) && ink == self.ink {
            return;
        }
        self.scene = scene.clone();
        self.ink = ink;
        self.waiting = true;
        self.content_share = Share::default();
        self.content_worker.ask(ContentQuestion {
            scene: scene.clone(),
            ink,
            // Trees are stored with their colours.
            before: if ink == self.content_ink {
                self.content.objects.clone()
            } else {
                Arc::default()
            },
            drawn: self.content_scene.clone(),
            drawn_ink: self.content_ink,
            map: self.map,
            share: self.content_share.clone(),
        });
        if self.progress.is_some() {
            self.progress = Some(SCENE);
        }
    }

    /// Sets the hidden parts.
    pub(crate) fn set_hidden(&mut self, hidden: &BTreeSet<MapPart>) {
        // Compared first, because this is called every frame.
        if self.hidden != *hidden {
            self.hidden = hidden.clone();
        }
    }

    /// Sets the obstacles pushed by the run; empty without a run.
    pub(crate) fn set_pushed(&mut self, records: &[LooseRecord]) {
        let Some(scene) = self.content_scene.clone().filter(|_| !records.is_empty()) else {
            self.pushed = None;
            return;
        };
        // Compared first, because this is called every frame.
        match &mut self.pushed {
            Some(known) if known.is_of(&scene, self.content_ink) => known.follow(records),
            pushed => *pushed = Some(Pushed::new(scene, self.content_ink, records)),
        }
    }

    fn shows(&self, part: MapPart) -> bool {
        !self.hidden.contains(&part)
    }

    /// Whether parts of the map are still being prepared.
    pub fn is_waiting(&self) -> bool {
        let shown = self.heat.as_ref().map(|heat| &heat.question);
        let heat_waits = match (&self.heat_asked, shown) {
            (Some(asked), Some(shown)) => !asked.is_like(shown),
            (Some(_), None) => true,
            (None, _) => false,
        };
        self.waiting || !self.asked.is_empty() || heat_waits
    }

    /// Sets the heat map to draw over the roads of the scene. `scale` is in metres per point.
    pub(crate) fn set_heat(&mut self, heat: Option<(&Arc<HeatCells>, Heat)>, scale: f64) {
        let Some((cells, kind)) = heat else {
            (self.heat_asked, self.heat) = (None, None);
            return;
        };
        let question = HeatQuestion {
            scene: self.scene.clone(),
            cells: cells.clone(),
            kind,
            is_dark: self.ink == Ink::Dark,
            is_far: Level::at(scale) == Level::Far,
        };
        // Compared first, because this is called every frame.
        let is_known = |asked: &HeatQuestion| asked.is_like(&question);
        if !self.heat_asked.as_ref().is_some_and(is_known) {
            self.heat_asked = Some(question.clone());
            self.heat_worker.ask(question);
        }
    }

    /// Returns the quantity of the heat map, and the value at the end of its scale.
    pub(crate) fn heat(&self) -> Option<(Heat, f64)> {
        self.heat
            .as_ref()
            .map(|heat| (heat.question.kind, heat.top))
    }

    /// Returns the contours and peaks of the terrain; `None` without terrain.
    pub fn relief(&self) -> Option<&Arc<Relief>> {
        self.terrain.as_ref().map(|terrain| &terrain.relief)
    }

    /// Returns the height difference between two contour lines, m; `None` without terrain.
    pub fn contour_interval(&self) -> Option<f64> {
        self.terrain.as_ref().map(|terrain| terrain.interval)
    }

    fn take_answers(&mut self, context: &egui::Context) {
        if self.is_held {
            return;
        }
        let map = self.map;
        let content = self.content_worker.take();
        if let Some(answer) = content.filter(|answer| answer.map == map) {
            // The answer may belong to an older scene.
            self.waiting = !Arc::ptr_eq(&answer.scene, &self.scene);
            self.content_scene = Some(answer.scene);
            self.content_ink = answer.ink;
            if let Some(terrain) = &answer.content.terrain {
                self.terrain = terrain.as_ref().map(|t| Terrain::new(t, context));
            }
            self.content = answer.content;
            // Answers about tiles of the old scene are not awaited. The next frame requests the tiles that
            // differ.
            self.asked.clear();
        }
        if let Some(heat) = self.heat_worker.take() {
            // The heat map may have been switched off since the request.
            self.heat = self.heat_asked.is_some().then_some(heat);
        }
        while let Some(answer) = self.tile_worker.take_next() {
            if answer.map != map {
                continue;
            }
            for tile in answer.tiles {
                self.asked.retain(|key| *key != (tile.id, tile.level));
                self.meshes.insert((tile.id, tile.level), tile);
            }
            self.has_more = !self.asked.is_empty();
        }
    }

    /// Draws the ground below the grid.
    pub fn paint_ground(&mut self, painter: &egui::Painter, rect: Rect, camera: &Camera) {
        self.take_answers(painter.ctx());
        if let Some(terrain) = &self.terrain {
            let (a, b) = (
                camera.screen(rect, terrain.low),
                camera.screen(rect, terrain.high),
            );
            let uv = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
            painter.image(
                terrain.texture.id(),
                Rect::from_two_pos(a, b),
                uv,
                Color32::WHITE,
            );
        }
    }

    /// Returns roads, forests, obstacles, vehicles and pedestrians as shapes for a rectangle of the window:
    /// the part below names, and the part above them. Without a run (`None`), vehicles are drawn at their
    /// starts.
    pub fn shapes(
        &mut self,
        context: &egui::Context,
        rect: Rect,
        camera: &Camera,
        moving: Option<Moving<'_>>,
    ) -> [Vec<Shape>; 2] {
        let frame = self.frame(rect, camera, moving);
        if self.uses_gpu {
            gpu::shapes(context, rect, frame).map(|shape| vec![shape])
        } else {
            shapes::shapes(rect, camera, &frame)
        }
    }

    /// Returns all shapes of a frame, from the answers of the workers.
    #[cfg(test)]
    fn shapes_of_answers(
        &mut self,
        context: &egui::Context,
        rect: Rect,
        camera: &Camera,
    ) -> Vec<Shape> {
        self.take_answers(context);
        self.shapes(context, rect, camera, None).concat()
    }

    /// Updates the progress of a new map, given how many of the tiles in view have been drawn.
    fn note_tiles(&mut self, fresh: usize, all: usize) {
        let Some(progress) = self.progress else {
            return;
        };
        self.progress = if self.content_scene.is_none() {
            // The scene has been derived if its contents have been requested.
            let is_requested = self.scene.revision > 0;
            let contents = SCENE + (CONTENT - SCENE) * self.content_share.get();
            Some(if is_requested { contents } else { progress })
        } else if fresh == all && !self.waiting {
            None
        } else {
            let done = fresh as f32 / (all as f32).max(1.0);
            // More tiles may come into view meanwhile, but progress never decreases.
            Some(progress.max(CONTENT + (1.0 - CONTENT) * done))
        };
    }

    /// Returns the contour lines and the floors of forests.
    fn ground(&self) -> Vec<Arc<Mesh>> {
        let contours = self
            .terrain
            .as_ref()
            .map(|terrain| terrain.contours.clone());
        let floors = self
            .shows(MapPart::Forests)
            .then(|| self.content.objects.floors.clone());
        contours.into_iter().chain(floors).collect()
    }

    /// Collects the contents in view and requests missing ones.
    fn frame(&mut self, rect: Rect, camera: &Camera, moving: Option<Moving<'_>>) -> Frame {
        let (low, high) = camera.view(rect);
        let level = Level::at(camera.scale);
        let (mut roads, mut land, mut obstacles) = (Vec::new(), Vec::new(), Vec::new());
        let mut decks = Vec::new();
        let mut wanted = Vec::new();
        let (mut fresh, mut all) = (0, 0);
        let content_tiles = self.content.tiles.clone();
        // Houses fade out beyond the scale at which roads become lines. They use the meshes of the previous
        // level, which are needed anyway when zooming in.
        let has_faint_houses = level != detail_of_houses(camera.scale);
        let mut interim = self.interim.tiles.clone();
        for (id, tile) in content_tiles.visible(low, high) {
            let own = self.meshes.get(&(id, level));
            let is_fresh = |known: &&TileAnswer| {
                known.fingerprint == tile.fingerprint && known.ink == self.content_ink
            };
            all += 1;
            if own.filter(is_fresh).is_some() {
                fresh += 1;
            } else if !self.asked.contains(&(id, level)) {
                wanted.push((id, level));
            }
            let faint = (id, Level::Middle);
            let houses =
                (has_faint_houses && tile.has_obstacles()).then(|| self.meshes.get(&faint));
            if houses.is_some_and(|known| known.filter(is_fresh).is_none())
                && !self.asked.contains(&faint)
            {
                wanted.push(faint);
            }
            // An outdated mesh or another level is better than a hole.
            let others = [Level::Near, Level::Close, Level::Middle, Level::Far];
            // In most tiles, many of these meshes are empty.
            let filled = |mesh: &&Arc<Mesh>| !mesh.indices.is_empty();
            let known = own.or_else(|| others.iter().find_map(|l| self.meshes.get(&(id, *l))));
            if let Some(answer) = known {
                roads.push(answer.mesh.clone());
                decks.extend(Some(&answer.decks).filter(filled).cloned());
                let answer = houses.flatten().unwrap_or(answer);
                let [ground, houses] = interim
                    .remove(&id)
                    .unwrap_or_else(|| [answer.ground.clone(), answer.obstacles.clone()]);
                land.extend(Some(ground).filter(|mesh| filled(&mesh)));
                obstacles.extend(Some(houses).filter(|mesh| filled(&mesh)));
            }
        }
        // Tiles that had no objects before the edit.
        for [ground, houses] in interim.into_values() {
            land.push(ground);
            obstacles.push(houses);
        }
        // Drawn in the passes of the roads, below their markings and below higher layers.
        roads.extend(self.heat.iter().flat_map(|heat| heat.meshes.clone()));
        if let Some(scene) = self.content_scene.as_ref().filter(|_| fresh == all)
            && !Arc::ptr_eq(scene, &self.drawn_scene)
        {
            self.drawn_scene = scene.clone();
        }
        self.note_tiles(fresh, all);
        let asks = !wanted.is_empty() || std::mem::take(&mut self.has_more);
        if let (Some(scene), true) = (&self.content_scene, asks) {
            self.asked.extend_from_slice(&wanted);
            // The worker answers only its newest request, so each request lists everything that is missing.
            self.tile_worker.ask(TileQuestion {
                scene: scene.clone(),
                tiles: content_tiles.clone(),
                wanted: self.asked.clone(),
                ink: self.content_ink,
                map: self.map,
            });
        }
        if self.meshes.len() > KEPT_MESHES {
            let visible: Vec<TileId> = content_tiles.visible(low, high).map(|(id, _)| id).collect();
            self.meshes
                // The meshes of the far level are small, and fill holes while the camera moves.
                .retain(|(id, l), _| visible.contains(id) || *l == Level::Far);
        }
        let mut forests = Shown::default();
        if self.shows(MapPart::Forests) {
            let sizes = match self.uses_gpu {
                true => canopy::SMALLEST,
                false => canopy::SMALLEST_IN_SOFTWARE,
            };
            let groves = self.content.objects.groves.iter();
            let view = View {
                low,
                high,
                scale: 1.0 / camera.scale,
                sizes,
                trees: groves.map(|grove| grove.trees_within(low, high)).sum(),
            };
            for grove in &self.content.objects.groves {
                grove.show(&view, &mut forests);
            }
        }
        let starts = (moving.is_none() && self.shows(MapPart::Vehicles))
            .then(|| self.content.objects.starts.clone());
        let moving = moving.unwrap_or_default();
        Frame {
            camera: *camera,
            land,
            ground: self.ground(),
            roads,
            obstacles,
            loose: match &self.pushed {
                Some(pushed) => pushed.meshes(),
                None => {
                    let loose = self.interim.loose.as_ref();
                    vec![loose.unwrap_or(&self.content.objects.loose).clone()]
                }
            },
            things: self.content.objects.things.clone(),
            starts,
            forests,
            covered: moving::covered(&moving, camera, low, high),
            decks,
            moving: moving::instances(&moving, camera, low, high),
            ink: self.content_ink,
            hidden: self.hidden.clone(),
        }
    }
}

/// Returns the level of detail of houses and land at a scale in metres per point. Houses are still
/// visible when roads have become lines, so they then keep the meshes of the level `Middle`.
fn detail_of_houses(scale: f64) -> Level {
    match Level::at(scale) {
        Level::Far if land::Detail::at(1.0 / scale).is_some() => Level::Middle,
        level => level,
    }
}

/// Contents of a frame.
pub(super) struct Frame {
    pub(super) camera: Camera,
    /// Meshes of the land in all tiles in view.
    pub(super) land: Vec<Arc<Mesh>>,
    /// All other layers below the roads, from the bottom up.
    pub(super) ground: Vec<Arc<Mesh>>,
    pub(super) roads: Vec<Arc<Mesh>>,
    /// Roads with decks in all tiles in view.
    decks: Vec<Arc<Mesh>>,
    /// Instances of vehicles below decks, by their layer and from the bottom up.
    covered: BTreeMap<i8, Vec<(Figure, Instances)>>,
    /// Fixed obstacles of all tiles in view.
    pub(super) obstacles: Vec<Arc<Mesh>>,
    /// Meshes of loose obstacles at rest, and of moving ones.
    pub(super) loose: Vec<Arc<Mesh>>,
    pub(super) things: Arc<Mesh>,
    pub(super) starts: Option<Arc<Mesh>>,
    pub(super) forests: Shown,
    /// Instances of each figure, from the bottom up.
    pub(super) moving: Vec<(Figure, Instances)>,
    pub(super) ink: Ink,
    hidden: BTreeSet<MapPart>,
}

/// Instances of one figure. Only the first `count` are drawn.
pub(super) struct Figures<'a> {
    pub(super) figure: Figure,
    pub(super) all: &'a Instances,
    pub(super) count: usize,
}

/// Contents of a list of meshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// Land, and the yards of houses.
    Land,
    /// Contour lines and floors of forests.
    Ground,
    Roads,
    /// Decks of a layer.
    Decks(i8),
    Obstacles,
    Things,
    Starts,
    /// The area of a forest in place of its trees, given by its index in [`Shown::canopies`].
    Canopy(usize),
}

/// A part of a frame.
pub(super) enum Part<'a> {
    /// Meshes that are drawn together, by layer and pass.
    Meshes(List, &'a [Arc<Mesh>]),
    /// Instances of a figure.
    Figures(Figures<'a>),
}

impl Frame {
    /// Returns the parts of the picture below names, from the bottom up.
    pub(super) fn below(&self) -> Vec<Part<'_>> {
        let one = std::slice::from_ref;
        let mut parts = vec![Part::Meshes(List::Land, &self.land)];
        parts.extend(
            self.ground
                .iter()
                .map(|mesh| Part::Meshes(List::Ground, one(mesh))),
        );
        parts.push(Part::Meshes(List::Roads, &self.roads));
        self.add_covered(&mut parts);
        parts.extend([
            Part::Meshes(List::Obstacles, &self.obstacles),
            Part::Meshes(List::Things, &self.loose),
            Part::Meshes(List::Things, one(&self.things)),
            Part::Meshes(List::Starts, self.starts.as_slice()),
        ]);
        // Drawn above the roads, like trees.
        let canopies = self.forests.canopies.iter().enumerate();
        parts.extend(
            canopies.map(|(number, (mesh, _))| Part::Meshes(List::Canopy(number), one(mesh))),
        );
        parts.extend(self.figures_below().map(Part::Figures));
        parts
    }

    /// Adds the vehicles below decks, each layer below the decks of the next. Decks are missing at
    /// small scales and until they have been prepared.
    fn add_covered<'a>(&'a self, parts: &mut Vec<Part<'a>>) {
        if self.covered.is_empty() {
            return;
        }
        let batches = self.decks.iter().flat_map(|mesh| &mesh.batches);
        let mut decks: BTreeSet<i8> = batches.map(|batch| batch.key.0).collect();
        for (&layer, figures) in &self.covered {
            let above = decks.split_off(&(layer + 1));
            let below = std::mem::replace(&mut decks, above);
            parts.extend(below.into_iter().map(|deck| self.decks_of(deck)));
            let figures = figures.iter();
            parts.extend(figures.map(|(figure, all)| Part::Figures(all_of(*figure, all))));
        }
        parts.extend(decks.into_iter().map(|deck| self.decks_of(deck)));
    }

    fn decks_of(&self, layer: i8) -> Part<'_> {
        Part::Meshes(List::Decks(layer), &self.decks)
    }

    /// Whether a layer of a list of meshes is drawn.
    fn shows(&self, list: List, layer: i8) -> bool {
        let part = match (list, layer) {
            (List::Land, tiles::YARDS) | (List::Obstacles, _) => MapPart::Obstacles,
            (List::Land, _) => MapPart::Land,
            (List::Decks(deck), layer) if layer != deck => return false,
            (List::Roads | List::Decks(_), layer) => {
                let is_hidden = self.hidden.contains(&MapPart::Layer(layer));
                return !is_hidden && !self.hidden.contains(&MapPart::Roads);
            }
            (List::Things, objects::LOOSE) => MapPart::Obstacles,
            (List::Things, objects::PLACES) => MapPart::Places,
            (List::Things, _) => MapPart::Vehicles,
            // These are drawn or left out as a whole.
            (List::Ground | List::Starts | List::Canopy(_), _) => return true,
        };
        !self.hidden.contains(&part)
    }

    /// Returns the opacity of a list of meshes in a layer and pass, 0 to 1. It is 0 for hidden
    /// parts; obstacles and roof details fade in with the zoom.
    pub(super) fn strength(&self, list: List, layer: i8, pass: u8) -> f32 {
        if !self.shows(list, layer) {
            return 0.0;
        }
        if let List::Canopy(number) = list {
            return self
                .forests
                .canopies
                .get(number)
                .map_or(0.0, |(_, strength)| *strength);
        }
        let fades = matches!(
            (list, layer),
            (List::Land, tiles::YARDS) | (List::Obstacles, _) | (List::Things, objects::LOOSE)
        );
        if !fades {
            return 1.0;
        }
        let pass = if pass == Pass::Kerb as u8 {
            Pass::Kerb
        } else {
            Pass::Paving
        };
        let detail = land::Detail::at(1.0 / self.camera.scale);
        detail.map_or(0.0, |detail| detail.of_pass(pass))
    }

    /// Returns the instances below names, from the bottom up: skid marks and trees.
    fn figures_below(&self) -> impl Iterator<Item = Figures<'_>> {
        let trees = self.forests.trees.iter();
        let trees = trees.map(|(all, count)| Figures {
            figure: land::TREE,
            all,
            count: *count,
        });
        self.moving_figures(|figure| figure == Figure::SkidMark)
            .chain(trees)
    }

    /// Returns the instances above names, from the bottom up: vehicles and pedestrians.
    pub(super) fn figures_above(&self) -> impl Iterator<Item = Figures<'_>> {
        self.moving_figures(|figure| figure != Figure::SkidMark)
    }

    fn moving_figures(
        &self,
        is_meant: impl Fn(Figure) -> bool,
    ) -> impl Iterator<Item = Figures<'_>> {
        let list = self.moving.iter();
        let list = list.filter(move |(figure, _)| is_meant(*figure));
        list.map(|(figure, all)| all_of(*figure, all))
    }
}

fn all_of(figure: Figure, all: &Instances) -> Figures<'_> {
    Figures {
        figure,
        all,
        count: all.list.len(),
    }
}

/// Whether two scenarios share the same terrain data. Sharing means that the terrain is unchanged,
/// because an edit of the terrain copies the data.
fn same_terrain(a: &Scenario, b: &Scenario) -> bool {
    match (a.terrain(), b.terrain()) {
        (None, None) => true,
        (Some(a), Some(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::moving::{CoveredVehicles, VehicleDot};
    use super::*;
    use roadwright_scenario::{Edit, Forest, ForestId};

    /// Creates a dense square forest around the origin, 10 km wide.
    fn forest() -> Forest {
        let corner = |x: f64, y: f64| DVec2::new(x, y) * 5_000.0;
        Forest {
            area: vec![
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ]
            .into(),
            density: 400.0.into(),
            spacing: 3.0.into(),
            trunk_radius: 0.2.into(),
            seed: 3,
        }
    }

    /// Returns the number of vertices in a list of shapes.
    fn vertices(shapes: &[egui::Shape]) -> usize {
        let meshes = shapes.iter().map(|shape| match shape {
            egui::Shape::Mesh(mesh) => mesh.vertices.len(),
            _ => 0,
        });
        meshes.sum()
    }

    /// Decks are not drawn at small scales, and are missing until they have been prepared.
    #[test]
    fn vehicles_below_decks_that_are_not_drawn_are_visible() {
        let car = VehicleDot {
            body: roadwright_geometry::Pose::default(),
            length: 4.5,
            width: 1.8,
            agent: 1,
            color: None,
            indicator: roadwright_agent::Indicator::Off,
            brakes: false,
            is_trailer: false,
            has_tracks: false,
            body_kind: roadwright_scenario::BodyKind::Vehicle,
        };
        let mut painter = MapPainter::new(false, || ());
        let rect = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(800.0, 600.0));
        let camera = Camera {
            centre: DVec2::ZERO,
            scale: 0.1,
        };
        let mut drawn = |vehicles: Vec<VehicleDot>| {
            let own = CoveredVehicles {
                vehicles,
                hints: Vec::new(),
            };
            let covered = BTreeMap::from([(0, own)]);
            let moving = Moving {
                covered: Some(&covered),
                ..Moving::default()
            };
            let context = egui::Context::default();
            let shapes = painter.shapes(&context, rect, &camera, Some(moving));
            vertices(&shapes.concat())
        };
        assert_eq!(drawn(Vec::new()), 0);
        assert!(drawn(vec![car]) > 10);
    }

    /// Without our pipelines, the renderer generates all vertices again every frame.
    #[test]
    fn a_frame_over_forests_of_millions_of_trees_has_few_vertices() {
        let mut scenario = Scenario::new("forests");
        for id in 1..=60u32 {
            let mut forest = forest();
            let place = DVec2::new(f64::from(id % 8), f64::from(id / 8)) * 10_000.0;
            forest.area.iter_mut().for_each(|corner| *corner += place);
            let edit = Edit::Forest(ForestId(id), Some(Box::new(forest)));
            scenario.apply(edit).unwrap();
        }
        let scene = std::sync::Arc::new(Scene::new(std::sync::Arc::new(scenario), 0));
        let (context, rect) = (
            egui::Context::default(),
            egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1600.0, 1000.0)),
        );
        let mut painter = MapPainter::new(false, || ());
        painter.set_scene(&scene, Ink::Light);
        let mut frame = |scale: f64| {
            let camera = Camera {
                // Within a planted forest.
                centre: DVec2::new(10_100.0, 200.0),
                scale,
            };
            let begin = cpu_time::ThreadTime::now();
            let shapes = painter.shapes_of_answers(&context, rect, &camera);
            let took = begin.elapsed();
            (painter.is_waiting(), vertices(&shapes), took)
        };
        while frame(1.0).0 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let (mut slowest, mut most) = (std::time::Duration::ZERO, 0);
        for step in 0..150 {
            let scale = 0.02 * 1.07f64.powi(step);
            let (_, vertices, took) = frame(scale);
            (slowest, most) = (slowest.max(took), most.max(vertices));
        }
        println!("slowest frame {slowest:?}, {most} vertices at most");
        assert!(most > 10_000 && most < 2_000_000, "{most}");
    }
}
