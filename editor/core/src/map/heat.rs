//! The heat map as triangles: pale roads with the stretches of lanes that vehicles used.
//!
//! ```text
//!   . . . . . . . . . . .    casing of the road
//!   ======####====##=====    lane, its stretches of 10 m filled
//!   - - - - - - - - - - -    road markings, drawn over both
//!   ==============####===
//! ```

use super::mesh::{Ink, Level, Mesh, MeshBuilder};
use crate::live::HeatCells;
use crate::scene::Scene;
use crate::settings::Heat;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_render::palette::{self, rgb};
use roadwright_render::{Color, Painter, Pass, junction_layer};
use roadwright_scenario::junction::ConnectingPath;
use roadwright_scenario::{Road, RoadId};
use roadwright_simulation::{HeatCell, HeatLane, HeatMap, HeatPlace};
use std::sync::Arc;

/// Largest distance between a lane and its chords, m.
const TOLERANCE: f64 = 0.05;
/// Width below which a lane counts as closed, m: a widening lane has not opened yet, or a narrowing
/// lane has ended.
const NARROWEST: f64 = 0.1;
/// Distance from section borders at which lanes are sampled, m. Exactly on a border, the lane would
/// be ambiguous.
const BESIDE: f64 = 1e-6;
/// Width of the casing of pale roads, pixels.
const CASING: f64 = 1.0;
/// Extra width on both sides of lanes at small scales, in pixels, so that they are not thinner than a
/// pixel.
const FAR_PIXELS: f64 = 0.7;
/// Opacity of the cells on open ground.
const GROUND_OPACITY: f32 = 0.75;

/// Input of a heat map.
#[derive(Clone)]
pub struct HeatQuestion {
    /// The scene whose roads are coloured.
    pub scene: Arc<Scene>,
    /// Traffic recorded for each cell.
    pub cells: Arc<HeatCells>,
    /// The quantity shown.
    pub kind: Heat,
    /// Whether the theme is dark.
    pub is_dark: bool,
    /// Whether the scale is so small that roads are drawn as lines.
    pub is_far: bool,
}

impl HeatQuestion {
    /// Whether `other` shows the same roads in the same style.
    fn has_roads_of(&self, other: &Self) -> bool {
        let shown = |question: &Self| (question.is_dark, question.is_far);
        Arc::ptr_eq(&self.scene, &other.scene) && shown(self) == shown(other)
    }

    /// Whether `other` leads to the same picture.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.cells, &other.cells) && self.kind == other.kind;
        is_same && self.has_roads_of(other)
    }

    fn builder(&self) -> MeshBuilder {
        let (low, high) = self.scene.scenario.bounds().unwrap_or_default();
        let level = if self.is_far { Level::Far } else { Level::Near };
        // These colours already belong to the theme.
        let mut builder = MeshBuilder::new(0.5 * (low + high), level, Ink::Light);
        // Drawn below the markings, but at small scales above the lines that represent roads.
        builder.begin(if self.is_far {
            Pass::Marking
        } else {
            Pass::Lane
        });
        builder
    }
}

/// A heat map ready to be drawn.
#[derive(Clone)]
pub struct HeatPicture {
    /// The input that it was made from.
    pub question: HeatQuestion,
    /// Pale roads, and the coloured stretches on them.
    pub meshes: [Arc<Mesh>; 2],
    /// Value at the end of the scale.
    pub top: f64,
}

impl HeatPicture {
    /// Creates a heat map, reusing the pale roads of the previous one if they are the same.
    pub fn new(question: HeatQuestion, before: Option<&Self>) -> Self {
        let known = before.filter(|before| before.question.has_roads_of(&question));
        let roads = known.map(|before| before.meshes[0].clone());
        let roads = roads.unwrap_or_else(|| Arc::new(pale_roads(&question)));
        let top = question.kind.top(&question.cells);
        let stretches = Arc::new(stretches(&question, top));
        Self {
            question,
            meshes: [roads, stretches],
            top,
        }
    }
}

impl Heat {
    /// Returns the value at the end of the scale: fixed for shares, the maximum for counts.
    pub fn top(self, cells: &HeatCells) -> f64 {
        let count = |cell: &HeatCell| match self {
            Self::Traffic => cell.vehicle_seconds(),
            Self::Collisions => f64::from(cell.collisions),
            Self::None | Self::Speed | Self::Congestion => 1.0,
        };
        cells
            .iter()
            .map(|(_, cell)| count(cell))
            .fold(1.0, f64::max)
    }

    /// Returns the position of a cell on the scale from 0 to 1, where higher is worse; `None` if
    /// the cell is not shown.
    pub fn share(self, cell: &HeatCell, top: f64) -> Option<f64> {
        let share = match self {
            Self::None => None,
            Self::Traffic => (cell.seen > 0).then(|| cell.vehicle_seconds() / top),
            Self::Speed => cell.share_of_limit().map(|share| 1.0 - share),
            Self::Congestion => cell.standing_share(),
            Self::Collisions => (cell.collisions > 0).then(|| f64::from(cell.collisions) / top),
        };
        share.map(|share| share.clamp(0.0, 1.0))
    }

    /// Returns the legend: the quantity with its unit, and the two ends of the scale.
    pub fn legend(self, top: f64) -> [String; 3] {
        let texts = match self {
            Self::None => ["", "", ""],
            Self::Traffic => ["Vehicle-seconds per 10 m of lane", "0 s", ""],
            Self::Speed => [
                "Mean speed, % of the limit",
                "100 %, free flow",
                "0 %, stopped",
            ],
            Self::Congestion => [
                "Share of time at a standstill",
                "0 %, moving",
                "100 %, stopped",
            ],
            Self::Collisions => ["Collisions per 10 m of lane", "0", ""],
        };
        let [title, low, high] = texts.map(str::to_owned);
        match self {
            Self::Traffic => [title, low, format!("{top:.0} s, maximum")],
            Self::Collisions => [title, low, format!("{top:.0}, maximum")],
            Self::None | Self::Speed | Self::Congestion => [title, low, high],
        }
    }
}

/// Triangulates the roads in pale colours, so that the coloured lanes stand out.
fn pale_roads(question: &HeatQuestion) -> Mesh {
    let mut builder = question.builder();
    let (road, casing) = palette::heat_road(question.is_dark);
    let extra = if question.is_far { FAR_PIXELS } else { 0.0 };
    // All casings are drawn before all roads; otherwise they would cross the mouths of junctions.
    for (hex, pixels) in [(casing, extra + CASING), (road, extra)] {
        let color = Ink::Light.bytes(rgb(hex));
        let scenario = &question.scene.scenario;
        for (id, road) in scenario.network().roads() {
            let Some((from, to)) = question.scene.layout.remaining(id, road) else {
                continue;
            };
            if road.is_drivable() {
                builder.set_layer(road.layer);
                let line = &road.reference_line;
                let edges = |s: f64| Some(road.carriageway(s));
                let (left, right) = band(line, &distances(road), from, to, edges);
                builder.band(&left, &right, pixels, color);
            }
        }
        for junction in &question.scene.layout.junctions {
            let outline = junction.polygon();
            let Some(layer) = junction_layer(scenario, junction).filter(|_| outline.len() > 2)
            else {
                continue;
            };
            builder.set_layer(layer);
            if hex == casing {
                // Twice as wide, because half of the line lies inside the outline, below the surface.
                builder.edge(&outline, 0.0, 2.0 * pixels as f32, rgb(hex));
            } else {
                builder.polygon(&outline, rgb(hex));
            }
        }
    }
    builder.finish()
}

/// Triangulates the coloured stretches of lanes and connections.
fn stretches(question: &HeatQuestion, top: f64) -> Mesh {
    let mut builder = question.builder();
    let mut roads = Roads::default();
    for (place, cell) in question.cells.iter() {
        let Some(share) = question.kind.share(cell, top) else {
            continue;
        };
        let color = palette::heat_ramp(share, question.is_dark);
        match *place {
            HeatPlace::Ground(column, row) => ground_cell(&mut builder, column, row, color),
            HeatPlace::Lane(lane, stretch) => {
                let band = roads.lane(&question.scene, lane.0, lane.1, stretch);
                put(&mut builder, question, band, color);
            }
            HeatPlace::Connection(from, to, stretch) => {
                let band = connection(&question.scene, from, to, stretch);
                put(&mut builder, question, band, color);
            }
        }
    }
    builder.finish()
}

/// The left and right edges of a stretch, and the layer of its road.
type Band = (i8, (Vec<DVec2>, Vec<DVec2>));

fn put(builder: &mut MeshBuilder, question: &HeatQuestion, band: Option<Band>, color: Color) {
    // The past is shown on the current roads, some of which may have been deleted since.
    let Some((layer, (left, right))) = band else {
        return;
    };
    let pixels = if question.is_far { FAR_PIXELS } else { 0.0 };
    builder.set_layer(layer);
    builder.band(&left, &right, pixels, Ink::Light.bytes(color));
}

fn ground_cell(builder: &mut MeshBuilder, column: i32, row: i32, mut color: Color) {
    let low = HeatMap::CELL * DVec2::new(f64::from(column), f64::from(row));
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let corners = corners.map(|(x, y)| low + HeatMap::CELL * DVec2::new(x, y));
    color.set_alpha(GROUND_OPACITY);
    builder.set_layer(0);
    builder.polygon(&corners, color);
}

/// Cache of the last road, because consecutive stretches are usually on the same road.
#[derive(Default)]
struct Roads {
    last: Option<(RoadId, Vec<f64>)>,
}

impl Roads {
    /// Returns the edges of a stretch, cut off at the junctions of its road; `None` if the lane no
    /// longer exists.
    fn lane(&mut self, scene: &Scene, id: RoadId, lane: i8, stretch: u32) -> Option<Band> {
        let road = scene.scenario.network().road(id)?;
        let (from, to) = scene.layout.remaining(id, road)?;
        if self.last.as_ref().is_none_or(|(last, _)| *last != id) {
            self.last = Some((id, distances(road)));
        }
        let (_, distances) = self.last.as_ref()?;
        let start = f64::from(stretch) * HeatMap::STRETCH;
        let (from, to) = (start.max(from), (start + HeatMap::STRETCH).min(to));
        let edges = |s: f64| {
            let band = road.lane_band(lane, s)?;
            let half = 0.5 * band.width;
            (band.width > NARROWEST).then_some((band.centre - half, band.centre + half))
        };
        Some((
            road.layer,
            band(&road.reference_line, distances, from, to, edges),
        ))
    }
}

/// Returns the edges of a stretch of a connection through a junction; `None` if it no longer
/// exists.
fn connection(scene: &Scene, from: HeatLane, to: HeatLane, stretch: u32) -> Option<Band> {
    let road = scene.scenario.network().road(from.0)?;
    let is_meant = |path: &&ConnectingPath| {
        (path.from.road, path.from.lane) == from && (path.to.road, path.to.lane) == to
    };
    // A lane leads to one end of its road only, so there is at most one such connection.
    let find = |node| {
        let junction = scene.layout.junction_at(node)?;
        Some((junction, junction.paths.iter().find(is_meant)?))
    };
    let (junction, path) = find(road.to).or_else(|| find(road.from))?;
    let line = path.curve.as_ref()?;
    let start = f64::from(stretch) * HeatMap::STRETCH;
    let end = (start + HeatMap::STRETCH).min(line.length());
    let edges = |s: f64| {
        let (first, last) = path.width;
        // The width changes from the width of the lane being left to the width of the lane being
        // entered.
        let half = 0.5 * (first + (last - first) * s / line.length());
        Some((-half, half))
    };
    let layer = junction_layer(&scene.scenario, junction)?;
    let distances = line.sample_distances(TOLERANCE, path.width.0.max(path.width.1));
    Some((layer, band(line, &distances, start, end, edges)))
}

/// Returns the distances along a road at which it is sampled. They are close enough together for
/// bends and for lanes that widen.
fn distances(road: &Road) -> Vec<f64> {
    let (right, left) = road.edges(0.0);
    let reach = left.max(-right).max(0.0);
    let mut all = road.reference_line.sample_distances(TOLERANCE, reach);
    let count = (road.length() / HeatMap::STRETCH) as u32;
    all.extend((1..=count).map(|i| f64::from(i) * HeatMap::STRETCH));
    let sections = road.lane_sections.iter().skip(1);
    all.extend(sections.flat_map(|section| [section.s - BESIDE, section.s + BESIDE]));
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// Returns the left and right edge of a band along a line between two distances; empty if the
/// distances are too close together.
fn band(
    line: &ReferenceLine,
    distances: &[f64],
    from: f64,
    to: f64,
    edges: impl Fn(f64) -> Option<(f64, f64)>,
) -> (Vec<DVec2>, Vec<DVec2>) {
    // Below, `BESIDE` is cut off at both ends, so some length must remain.
    if to - from < 3.0 * BESIDE {
        return (Vec::new(), Vec::new());
    }
    // Other lanes may begin exactly at the ends, so the band is sampled slightly inside.
    let (from, to) = (from + BESIDE, to - BESIDE);
    let first = distances.partition_point(|s| *s <= from);
    let last = distances.partition_point(|s| *s < to);
    let inner = distances[first.min(last)..last].iter().copied();
    std::iter::once(from)
        .chain(inner)
        .chain([to])
        .filter_map(|s| {
            let (right, left) = edges(s)?;
            Some((line.point(s, left), line.point(s, right)))
        })
        .unzip()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_scenario::operation::draw::{self, RoadStyle};
    use roadwright_scenario::{CrossSection, RoadClass, Scenario};

    /// Creates two 200 m streets that cross at the origin.
    fn crossing() -> Arc<Scene> {
        let mut scenario = Scenario::new("crossing");
        for (from, to) in [
            (DVec2::new(-100.0, 0.0), DVec2::new(100.0, 0.0)),
            (DVec2::new(0.0, -100.0), DVec2::new(0.0, 100.0)),
        ] {
            let style = RoadStyle {
                name: String::new(),
                class: RoadClass::Residential,
                layer: 0,
                speed_limit: 14.0,
                section: CrossSection::driving(1, 1, 3.25),
            };
            let line = ReferenceLine::straight(from, to).unwrap();
            let edit = draw::road(&scenario, &line, &style).unwrap();
            scenario.apply(edit).unwrap();
        }
        Arc::new(Scene::new(Arc::new(scenario), 1))
    }

    fn picture(cells: HeatCells, kind: Heat) -> HeatPicture {
        let question = HeatQuestion {
            scene: crossing(),
            cells: Arc::new(cells),
            kind,
            is_dark: false,
            is_far: false,
        };
        HeatPicture::new(question, None)
    }

    /// Returns the positions of the opaque corners of a mesh, m.
    fn corners(mesh: &Mesh) -> Vec<DVec2> {
        let opaque = mesh.vertices.iter().filter(|v| v[4] != 0);
        let place =
            |v: &[u32; 5]| DVec2::new(f32::from_bits(v[0]).into(), f32::from_bits(v[1]).into());
        opaque.map(|v| mesh.origin + place(v)).collect()
    }

    fn seen(seen: u32) -> HeatCell {
        HeatCell {
            seen,
            allowed: 14.0 * f64::from(seen),
            ..HeatCell::default()
        }
    }

    #[test]
    fn a_stretch_is_the_band_of_its_lane_and_nothing_else() {
        let scene = crossing();
        let network = scene.scenario.network();
        let (id, road) = network
            .roads()
            .find(|(_, road)| road.reference_line.start().position.x < -99.0)
            .unwrap();
        assert!((road.reference_line.point(0.0, 0.0).x + 100.0).abs() < 1e-9);
        let place = HeatPlace::Lane((id, -1), 4);
        let drawn = corners(&picture(vec![(place, seen(20))], Heat::Traffic).meshes[1]);
        assert!(drawn.len() >= 4);
        for corner in drawn {
            assert!((-60.001..=-49.999).contains(&corner.x), "{corner}");
            assert!((-3.251..=0.001).contains(&corner.y), "{corner}");
        }
        // The road continues under another id beyond the junction, and a deleted road is not drawn.
        for gone in [
            HeatPlace::Lane((id, -1), 12),
            HeatPlace::Lane((id, -7), 4),
            HeatPlace::Lane((RoadId(99), -1), 4),
            HeatPlace::Connection((id, -1), (id, -1), 0),
            HeatPlace::Connection((RoadId(99), -1), (id, -1), 0),
        ] {
            let picture = picture(vec![(gone, seen(20))], Heat::Traffic);
            assert_eq!(corners(&picture.meshes[1]), [], "{gone:?}");
        }
    }

    #[test]
    fn a_path_through_a_junction_is_drawn_inside_it() {
        let scene = crossing();
        let junction = scene.layout.junctions.iter().find(|j| j.paths.len() > 8);
        let junction = junction.unwrap();
        let low = junction.polygon().into_iter().reduce(DVec2::min).unwrap();
        let high = junction.polygon().into_iter().reduce(DVec2::max).unwrap();
        let mut drawn = 0;
        for path in &junction.paths {
            let ends = (
                (path.from.road, path.from.lane),
                (path.to.road, path.to.lane),
            );
            let place = HeatPlace::Connection(ends.0, ends.1, 0);
            let corners = corners(&picture(vec![(place, seen(4))], Heat::Speed).meshes[1]);
            drawn += usize::from(corners.len() >= 4);
            for corner in corners {
                let is_inside = corner.cmpge(low - 0.01).all() && corner.cmple(high + 0.01).all();
                assert!(is_inside, "{corner} of {path:?}");
            }
        }
        assert_eq!(drawn, junction.paths.len());
    }

    #[test]
    fn scales_say_what_is_bad_and_legends_have_units() {
        let half = HeatCell {
            seen: 10,
            standing: 5,
            collisions: 1,
            speed: 35.0,
            allowed: 140.0,
        };
        let most = HeatCell {
            seen: 40,
            collisions: 4,
            ..half
        };
        let cells: HeatCells = vec![
            (HeatPlace::Ground(0, 0), half),
            (HeatPlace::Ground(1, 0), most),
        ];
        for (kind, top, share, high) in [
            (Heat::Traffic, 20.0, Some(0.25), "20 s, maximum"),
            (Heat::Speed, 1.0, Some(0.75), "0 %, stopped"),
            (Heat::Congestion, 1.0, Some(0.5), "100 %, stopped"),
            (Heat::Collisions, 4.0, Some(0.25), "4, maximum"),
            (Heat::None, 1.0, None, ""),
        ] {
            assert_eq!(kind.top(&cells), top, "{kind:?}");
            assert_eq!(kind.share(&half, top), share, "{kind:?}");
            assert_eq!(kind.legend(top)[2], high);
        }
        // Cells without vehicles show nothing except collisions.
        let nobody = HeatCell::default();
        assert!(
            Heat::ALL
                .iter()
                .all(|kind| kind.share(&nobody, 1.0).is_none())
        );
    }
}
