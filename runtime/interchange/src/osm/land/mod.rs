//! Land and buildings from areas, which are closed ways and multipolygons.

mod clear;
mod kinds;
mod rings;

pub(super) use kinds::matters;

use super::elements::{Elements, Way};
use super::projection::LocalProjection;
use super::{GeoBox, ImportError, ImportOptions, Warnings};
use clear::Lanes;
use glam::DVec2;
use kinds::{Kind, kind};
use rings::Shape;
use roadwright_geometry::polygon;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::{
    Edit, Land, LandId, LandUse, MAX_LAND_CORNERS, Obstacle, ObstacleId, Scenario,
};
use std::collections::BTreeMap;

/// Largest error of the simplified outlines of buildings and of land, m.
const TOLERANCES: (f64, f64) = (0.15, 0.3);
/// Maximum distance of imported land from the roads if no box is given, m.
const AROUND_ROADS: f64 = 150.0;
/// Maximum diagonal of the bounding box of a building, m. Larger buildings are mapping mistakes, or
/// represent a whole city quarter.
const LARGEST_BUILDING: f64 = 1_000.0;
/// Minimum area (m^2) and width (m) of a piece of a building that was cut.
const LEAST_PIECE: (f64, f64) = (8.0, 1.0);
/// Minimum fraction of a building that must remain after cutting; otherwise it is left out.
const LEAST_SHARE: f64 = 0.3;
/// Minimum area of land, m^2.
const LEAST_LAND: f64 = 4.0;
/// Maximum number of buildings, and also of areas of land. A city of a million people has a quarter of this
/// number.
const MOST_OBJECTS: usize = 1_000_000;
/// Maximum number of pairs of edges that are compared to find outlines that cross themselves.
const MOST_COMPARISONS: usize = 200_000_000;

/// Maximum number of corners of an outline that bypasses the polygon library if it does not cross
/// itself. For such small outlines, the library is slower.
const MOST_PLAIN: usize = 200;

/// Numbers of objects added to the scenario.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) buildings: usize,
    pub(super) areas: usize,
}

/// An area in the data, as rings of nodes. Nested rings are holes.
struct Area {
    object: String,
    name: String,
    kind: Kind,
    rings: Vec<Vec<i64>>,
}

/// Adds buildings and land to a scenario whose roads already exist.
///
/// # Errors
/// If the scenario rejects an object.
pub(super) fn add(
    elements: &Elements,
    options: &ImportOptions,
    scenario: &mut Scenario,
    graph: &LaneGraph,
    warnings: &mut Warnings,
) -> Result<Counts, ImportError> {
    let areas = areas(elements, warnings);
    if areas.is_empty() {
        return Ok(Counts::default());
    }
    let Some(window) = Window::new(scenario, options.clip) else {
        return Ok(Counts::default());
    };
    let mut adding = Adding {
        elements,
        window,
        shared: shared_nodes(&areas),
        lanes: Lanes::new(graph),
        scenario,
        warnings,
        counts: Counts::default(),
        left: MOST_COMPARISONS,
    };
    for area in &areas {
        adding.area(area)?;
    }
    Ok(adding.counts)
}

/// Returns the areas that tags describe, in the order of the data, ways first.
fn areas(elements: &Elements, warnings: &mut Warnings) -> Vec<Area> {
    let mut areas = Vec::new();
    let ways = elements.areas.iter();
    // Squares are tagged as roads.
    let squares = elements
        .ways
        .iter()
        .filter(|way| way.tags.contains_key("area"));
    for way in ways.chain(squares) {
        let object = || format!("way {}", way.id);
        let Some(kind) = read(kind(&way.tags), object, warnings) else {
            continue;
        };
        let (rings, lost) = rings::joined(&[&way.nodes]);
        // Open lines, such as the fence of a park or a river bank, are not areas.
        if lost == 0 {
            areas.push(Area {
                object: object(),
                name: name(&way.tags),
                kind,
                rings,
            });
        }
    }
    let all = [&elements.areas, &elements.ways, &elements.trams];
    let all: BTreeMap<i64, &Way> = all.into_iter().flatten().map(|way| (way.id, way)).collect();
    for relation in &elements.multipolygons {
        let object = || format!("relation {}", relation.id);
        let Some(kind) = read(kind(&relation.tags), object, warnings) else {
            continue;
        };
        // Nesting is derived from the rings, because the roles of members are often missing or wrong.
        let members = relation.members.iter().filter(|member| member.0 == 'w');
        let known: Vec<Option<&&Way>> = members.map(|member| all.get(&member.1)).collect();
        let ways: Vec<&[i64]> = known.iter().flatten().map(|way| &way.nodes[..]).collect();
        let (rings, lost) = rings::joined(&ways);
        if lost > 0 || known.iter().any(Option::is_none) {
            let reason =
                "areas whose outline is incomplete in the data (the closed parts are kept)";
            warnings.add(reason, object());
        }
        if !rings.is_empty() {
            areas.push(Area {
                object: object(),
                name: name(&relation.tags),
                kind,
                rings,
            });
        }
    }
    areas
}

fn name(tags: &super::elements::Tags) -> String {
    tags.get("name").cloned().unwrap_or_default()
}

fn read(
    kind: Option<Result<Kind, &'static str>>,
    object: impl Fn() -> String,
    warnings: &mut Warnings,
) -> Option<Kind> {
    match kind? {
        Ok(kind) => Some(kind),
        Err(reason) => {
            warnings.add(reason, object());
            None
        }
    }
}

/// Returns the nodes that two areas share, in order, because their walls or edges are adjacent.
fn shared_nodes(areas: &[Area]) -> Vec<i64> {
    let mut nodes: Vec<i64> = areas.iter().flat_map(|area| area.rings.concat()).collect();
    nodes.sort_unstable();
    let mut shared: Vec<i64> = nodes
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    shared.dedup();
    shared
}

/// The part of the world whose land is imported.
struct Window {
    projection: LocalProjection,
    /// Corners of the window, m.
    ring: Vec<DVec2>,
    /// A box that is entirely inside the window, m.
    inner: (DVec2, DVec2),
}

impl Window {
    /// Creates the window from the box, or from the surroundings of the roads; `None` if there is neither.
    fn new(scenario: &Scenario, clip: Option<GeoBox>) -> Option<Self> {
        let origin = scenario.about().origin?;
        let projection =
            LocalProjection::new(origin.latitude_deg.get(), origin.longitude_deg.get());
        let ring = match clip {
            Some(area) => [
                (area.south, area.west),
                (area.south, area.east),
                (area.north, area.east),
                (area.north, area.west),
            ]
            .map(|(latitude, longitude)| projection.to_world(latitude, longitude))
            .to_vec(),
            None => {
                let (low, high) = scenario.bounds()?;
                let (low, high) = (low - AROUND_ROADS, high + AROUND_ROADS);
                vec![
                    low,
                    DVec2::new(high.x, low.y),
                    high,
                    DVec2::new(low.x, high.y),
                ]
            }
        };
        // A box in degrees is almost a box in metres, because its sides deviate from straight lines only by
        // centimetres.
        let inner = (
            DVec2::new(ring[0].x.max(ring[3].x), ring[0].y.max(ring[1].y)),
            DVec2::new(ring[1].x.min(ring[2].x), ring[2].y.min(ring[3].y)),
        );
        let is_box = polygon::signed_area(&ring) > 0.0;
        is_box.then_some(Self {
            projection,
            ring,
            inner,
        })
    }
}

/// State while areas are added to a scenario.
struct Adding<'a> {
    elements: &'a Elements,
    window: Window,
    shared: Vec<i64>,
    lanes: Lanes,
    scenario: &'a mut Scenario,
    warnings: &'a mut Warnings,
    counts: Counts,
    /// Number of pairs of edges that may still be compared.
    left: usize,
}

impl Adding<'_> {
    fn area(&mut self, area: &Area) -> Result<(), ImportError> {
        let tolerance = match area.kind {
            Kind::Building(_) => TOLERANCES.0,
            Kind::Ground(_) => TOLERANCES.1,
        };
        let Some(rings) = self.outline(area, tolerance) else {
            let reason = "areas with nodes that are missing from the data";
            self.warnings.add(reason, area.object.clone());
            return Ok(());
        };
        let shapes = match self.shapes(&rings) {
            Ok(shapes) => shapes,
            Err(reason) => {
                self.warnings.add(reason, area.object.clone());
                return Ok(());
            }
        };
        match area.kind {
            Kind::Building(height) => self.building(area, height, shapes),
            Kind::Ground(usage) => self.land(area, usage, shapes),
        }
    }

    /// Returns the simplified rings of an area in world coordinates; `None` if a node is missing.
    fn outline(&mut self, area: &Area, tolerance: f64) -> Option<Vec<Vec<DVec2>>> {
        let (elements, window) = (self.elements, &self.window);
        let place = |node: &i64| {
            let node = elements.nodes.get(node)?;
            Some(window.projection.to_world(node.latitude, node.longitude))
        };
        let (shared_nodes, left) = (&self.shared, &mut self.left);
        let rings = area.rings.iter().map(|nodes| {
            let points: Option<Vec<DVec2>> = nodes.iter().map(place).collect();
            let points = rings::rounded(&points?);
            let shared = |i: usize| shared_nodes.binary_search(&nodes[i]).is_ok();
            Some(rings::simplified(&points, shared, tolerance, left))
        });
        rings.collect()
    }

    /// Converts rings to polygons in the window, or returns the reason why that is impossible.
    fn shapes(&mut self, rings: &[Vec<DVec2>]) -> Result<Vec<Shape>, &'static str> {
        let corners: Vec<DVec2> = rings.concat();
        let Some((low, high)) = polygon::bounds(&corners) else {
            return Ok(Vec::new());
        };
        let (least, most) = polygon::bounds(&self.window.ring).unwrap_or_default();
        if low.cmpgt(most).any() || high.cmplt(least).any() {
            return Ok(Vec::new());
        }
        if corners.len() > MAX_LAND_CORNERS {
            return Err("areas with more than 20,000 corners");
        }
        if !rings::is_tame(rings, &mut self.left) {
            return Err("areas with too many self-intersections");
        }
        let is_inside =
            low.cmpge(self.window.inner.0).all() && high.cmple(self.window.inner.1).all();
        // Most areas are a single ring without crossings, which needs no clean-up.
        let is_small = rings.len() == 1 && corners.len() <= MOST_PLAIN;
        let is_plain = is_small && polygon::is_simple(&rings[0]);
        if is_inside && is_plain {
            let ring = polygon::tidy_ring(&rings[0]);
            return Ok((ring.len() > 2).then(|| vec![ring]).into_iter().collect());
        }
        Ok(rings::inside(rings, &self.window.ring))
    }

    fn building(
        &mut self,
        area: &Area,
        height: f64,
        shapes: Vec<Shape>,
    ) -> Result<(), ImportError> {
        let whole: f64 = shapes.iter().map(rings::area).sum();
        let is_large = |shape: &Shape| {
            let (low, high) = polygon::bounds(&shape[0]).unwrap_or_default();
            (high - low).length() > LARGEST_BUILDING
        };
        if shapes.iter().any(is_large) {
            let reason = "buildings more than 1,000 m across";
            self.warnings.add(reason, area.object.clone());
            return Ok(());
        }
        let (mut pieces, mut is_cut) = (Vec::new(), false);
        for shape in shapes {
            match self.lanes.cleared(&shape) {
                None => pieces.push(shape),
                Some(rest) => {
                    is_cut = true;
                    pieces.extend(rest.into_iter().filter(is_piece));
                }
            }
        }
        if is_cut {
            let rest: f64 = pieces.iter().map(rings::area).sum();
            if rest < LEAST_SHARE * whole {
                let reason = "buildings on or over lanes";
                self.warnings.add(reason, area.object.clone());
                return Ok(());
            }
            let reason = "buildings trimmed where they are too close to lanes (arches, passages, \
                          corners)";
            self.warnings.add(reason, area.object.clone());
        }
        for piece in pieces {
            if self.is_full(self.counts.buildings, area) {
                break;
            }
            let id = ObstacleId(self.counts.buildings as u32 + 1);
            let obstacle = Obstacle {
                name: area.name.clone(),
                shape: roadwright_scenario::Shape::Polygon {
                    points: rings::opened(piece).into(),
                },
                base: 0.0.into(),
                height: height.into(),
                mass: None.into(),
            };
            self.scenario
                .apply(Edit::Obstacle(id, Some(Box::new(obstacle))))?;
            self.counts.buildings += 1;
        }
        Ok(())
    }

    fn land(&mut self, area: &Area, usage: LandUse, shapes: Vec<Shape>) -> Result<(), ImportError> {
        for shape in shapes {
            if rings::area(&shape) < LEAST_LAND {
                continue;
            }
            if self.is_full(self.counts.areas, area) {
                break;
            }
            let id = LandId(self.counts.areas as u32 + 1);
            let mut rings = shape.into_iter();
            let land = Land {
                name: area.name.clone(),
                usage,
                outline: rings.next().unwrap_or_default().into(),
                holes: rings.collect(),
            };
            self.scenario.apply(Edit::Land(id, Some(Box::new(land))))?;
            self.counts.areas += 1;
        }
        Ok(())
    }

    fn is_full(&mut self, count: usize, area: &Area) -> bool {
        let is_full = count >= MOST_OBJECTS;
        if is_full {
            let reason = "buildings and areas beyond the limit of a million each";
            self.warnings.add(reason, area.object.clone());
        }
        is_full
    }
}

/// Whether a remaining piece is large enough for a building.
fn is_piece(shape: &Shape) -> bool {
    let area = rings::area(shape);
    let edges = shape.iter().flat_map(|ring| polygon::edges(ring));
    let around: f64 = edges.map(|(a, b)| (b - a).length()).sum();
    // A long piece with area A and perimeter p has a width of about 2 A / p.
    area >= LEAST_PIECE.0 && 2.0 * area / around.max(1e-9) >= LEAST_PIECE.1
}
