//! The map of a scenario.

use crate::RenderError;
use crate::canvas::Canvas;
use crate::painter::{Painter, Pass};
use crate::palette::{
    BODIES, CROWN, DESTINATION, FIXED, FOREST, GLASS, GROUND, LOOSE, OUTLINE, SIGNAL, TRUNK, faded,
    rgb,
};
use crate::{arrow, crossing, furniture, island, marking, names, points_of_interest, road};
use glam::{DVec2, DVec3};
use roadwright_geometry::HeightField;
use roadwright_geometry::math::mix64;
use roadwright_scenario::junction::{Junction, Layout, layout};
use roadwright_scenario::{Place, RoadId, Scenario};
use roadwright_simulation::{Indicator, Snapshot, VehicleRecord};
use std::collections::BTreeSet;
use tiny_skia::Color;

/// What a picture shows and how large it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Width and height, pixels.
    pub size: (u32, u32),
    /// Part of the world as low and high corner, m; `None`: all of it.
    pub view: Option<(DVec2, DVec2)>,
    /// Paths that were driven, the lowest first; a legend names them.
    pub trails: Vec<Trail>,
    /// What stands below the title; `None`: how many vehicles there are, and when.
    pub detail: Option<String>,
}

/// A path that was driven.
#[derive(Debug, Clone, PartialEq)]
pub struct Trail {
    /// Its points, m.
    pub points: Vec<DVec2>,
    /// Its width, m; never less than two pixels.
    pub width: f64,
    /// Its colour, 0xRRGGBB.
    pub color: u32,
    /// What the legend calls it.
    pub label: String,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            size: (1600, 1000),
            view: None,
            trails: Vec::new(),
            detail: None,
        }
    }
}

/// Free space around the world, as a share of its size.
const FRAME: f64 = 0.03;

/// Draws a scenario, with the vehicles of a snapshot, as PNG.
///
/// # Errors
/// If there is nothing to draw or the picture cannot be made.
pub fn map(
    scenario: &Scenario,
    snapshot: Option<&Snapshot>,
    picture: &Picture,
) -> Result<Vec<u8>, RenderError> {
    let (low, high) = match picture.view {
        Some(view) => view,
        None => framed(scenario.bounds().ok_or(RenderError::Empty)?),
    };
    let mut canvas = Canvas::new(picture.size, low, high)?;
    canvas.clear(GROUND);
    if let Some(terrain) = scenario.terrain() {
        shade(&mut canvas, terrain);
    }
    for forest in scenario.forests().values() {
        canvas.polygon(&forest.area, faded(FOREST, 0.8));
    }
    // From the ground up: what is drawn later covers what lies below it in the world. Texts come
    // last, so that nothing covers them.
    let layout = layout(scenario.network(), scenario.about().driving_side);
    draw_roads(&mut canvas, scenario, &layout);
    draw_obstacles(&mut canvas, scenario);
    points_of_interest(&mut canvas, scenario);
    draw_trees(&mut canvas, scenario);
    draw_ground_goals(&mut canvas, scenario);
    for trail in &picture.trails {
        canvas.line(&trail.points, trail.width, 2.0, None, rgb(trail.color));
    }
    for vehicle in snapshot.into_iter().flat_map(|s| &s.vehicles) {
        draw_vehicle(&mut canvas, vehicle);
    }
    for person in snapshot.into_iter().flat_map(|s| &s.people) {
        crossing::person(&mut canvas, person);
    }
    names::streets(&mut canvas, scenario, &layout);
    names::places(&mut canvas, scenario);
    let about = scenario.about();
    let detail = picture.detail.clone().unwrap_or_else(|| detail(snapshot));
    furniture::title(&mut canvas, &about.name, &detail);
    furniture::legend(&mut canvas, &picture.trails);
    furniture::scale_bar(&mut canvas);
    furniture::attribution(&mut canvas, &about.attribution);
    canvas.png()
}

fn framed((low, high): (DVec2, DVec2)) -> (DVec2, DVec2) {
    let pad = (FRAME * (high - low)).max(DVec2::splat(2.0));
    (low - pad, high + pad)
}

fn detail(snapshot: Option<&Snapshot>) -> String {
    let text = |s: &Snapshot| {
        let people = match s.people.len() {
            0 => String::new(),
            1 => " and 1 person on foot".into(),
            count => format!(" and {count} people on foot"),
        };
        format!("{} vehicles{people} at {:.1} s", s.vehicles.len(), s.time)
    };
    snapshot.map(text).unwrap_or_default()
}

/// Height tints and hill shading, light from the north-west.
fn shade(canvas: &mut Canvas, field: &HeightField) {
    let light = DVec3::new(-0.5, 0.5, 0.7).normalize();
    let heights = field.heights();
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (from, to) = (field.origin(), field.far_corner());
    for y in 0..canvas.height() as u32 {
        for x in 0..canvas.width() as u32 {
            let point = canvas.world(f64::from(x) + 0.5, f64::from(y) + 0.5);
            if point.cmplt(from).any() || point.cmpgt(to).any() {
                continue;
            }
            // The range counts as a metre at least: nearly level ground has nearly one tint.
            let height = (field.height(point) - lowest) / (highest - lowest).max(1.0);
            // Relative to level ground, which keeps its tint.
            let brightness = smooth_normal(field, point).dot(light) / light.z;
            // Contour lines every tenth of the range, a pixel wide.
            let beside = canvas.world(f64::from(x) + 1.5, f64::from(y) + 1.5);
            let band = |p: DVec2| {
                ((field.height(p) - lowest) / (highest - lowest).max(1.0) * 10.0).floor()
            };
            let contour = if band(point) == band(beside) {
                1.0
            } else {
                0.9
            };
            canvas.put(x, y, tint(height, brightness.clamp(0.45, 1.1) * contour));
        }
    }
}

/// The normal from heights a sample apart: the facets of the grid do not show.
fn smooth_normal(field: &HeightField, point: DVec2) -> DVec3 {
    let step = field.spacing();
    let slope = |offset: DVec2| {
        (field.height(point + offset) - field.height(point - offset)) / (2.0 * step)
    };
    let (x, y) = (slope(DVec2::new(step, 0.0)), slope(DVec2::new(0.0, step)));
    DVec3::new(-x, -y, 1.0).normalize()
}

fn tint(height: f64, brightness: f64) -> Color {
    let (low, high) = ([0.83, 0.87, 0.76], [0.93, 0.90, 0.83]);
    let mix =
        |i: usize| ((low[i] + height * (high[i] - low[i])) * brightness).clamp(0.0, 1.0) as f32;
    Color::from_rgba(mix(0), mix(1), mix(2), 1.0).unwrap_or(Color::WHITE)
}

/// Roads and junctions, lower layers first.
fn draw_roads(canvas: &mut Canvas, scenario: &Scenario, layout: &Layout) {
    let roads = scenario.network().roads();
    // A layer is drawn whole before the next one: a bridge covers the markings of the road below it.
    let layers: BTreeSet<i8> = roads.map(|(_, road)| road.layer).collect();
    for layer in layers {
        let roads = scenario.network().roads();
        let roads: Vec<RoadId> = roads
            .filter(|(_, road)| road.layer == layer)
            .map(|(id, _)| id)
            .collect();
        let junctions: Vec<&Junction> = layout
            .junctions
            .iter()
            .map(|junction| &**junction)
            .filter(|junction| junction_layer(scenario, junction) == Some(layer))
            .collect();
        roads_and_junctions(canvas, scenario, layout, &roads, &junctions);
    }
}

/// Draws some roads and junctions of one layer with all that is painted on them.
pub fn roads_and_junctions(
    painter: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    roads: &[RoadId],
    junctions: &[&Junction],
) {
    let stretches = road::stretches(scenario, layout, roads, painter.tolerance());
    island::draw(painter, scenario, layout, roads);
    road::draw(painter, scenario, &stretches, junctions);
    painter.begin(Pass::Marking);
    marking::lines(painter, scenario, layout, &stretches);
    marking::through_lines(painter, scenario, junctions);
    crossing::zebras(painter, junctions);
    marking::stop_lines(painter, scenario, junctions);
    arrow::turns(painter, scenario, layout, junctions);
    arrow::one_ways(painter, scenario, layout, roads);
}

/// The layer that a junction is drawn on, the lowest of the roads that meet: a ramp's foot lies on
/// the ground. `None` without roads.
pub fn junction_layer(scenario: &Scenario, junction: &Junction) -> Option<i8> {
    let roads = junction
        .arms
        .iter()
        .filter_map(|arm| scenario.network().road(arm.road));
    roads.map(|road| road.layer).min()
}

fn draw_obstacles(canvas: &mut Canvas, scenario: &Scenario) {
    for obstacle in scenario.obstacles().values() {
        let outline = obstacle.shape.outline();
        // A shadow as long as the thing is high tells walls from kerbs.
        let shadow = DVec2::new(0.25, -0.25) * obstacle.height.min(20.0);
        let cast: Vec<_> = outline.iter().map(|p| *p + shadow).collect();
        canvas.polygon(&cast, faded(OUTLINE, 0.25));
        let color = if obstacle.mass.is_some() {
            LOOSE
        } else {
            FIXED
        };
        canvas.polygon(&outline, rgb(color));
        canvas.edge(&outline, 0.0, 1.2, rgb(OUTLINE));
    }
}

fn draw_trees(canvas: &mut Canvas, scenario: &Scenario) {
    for (_, forest) in scenario.planted() {
        let crown = (0.45 * forest.spacing).clamp(0.8, 3.5);
        for tree in forest.trees() {
            canvas.circle(
                tree + DVec2::new(0.3, -0.3) * crown,
                crown,
                1.0,
                faded(OUTLINE, 0.18),
            );
            canvas.circle(tree, crown, 1.0, faded(CROWN, 0.75));
            canvas.circle(tree, forest.trunk_radius, 0.7, rgb(TRUNK));
        }
    }
}

/// Destinations off the lanes: nothing else shows them.
fn draw_ground_goals(canvas: &mut Canvas, scenario: &Scenario) {
    for agent in scenario.agents().values() {
        if let Some(Place::Ground(goal)) = agent.destination {
            canvas.circle(goal.position(), 1.6, 6.0, rgb(DESTINATION));
            canvas.circle(goal.position(), 0.9, 3.4, rgb(crate::palette::PAPER));
            canvas.circle(goal.position(), 0.45, 1.6, rgb(DESTINATION));
        }
    }
}

/// The lamps that are lit, in half lengths ahead and half widths to the left of a vehicle's middle.
pub fn indicator_lamps(indicator: Indicator) -> &'static [(f64, f64)] {
    const LAMPS: [(f64, f64); 4] = [(0.88, 0.82), (-0.92, 0.82), (0.88, -0.82), (-0.92, -0.82)];
    match indicator {
        Indicator::Off => &[],
        Indicator::Left => &LAMPS[..2],
        Indicator::Right => &LAMPS[2..],
        Indicator::Hazard => &LAMPS,
    }
}

fn draw_vehicle(canvas: &mut Canvas, vehicle: &VehicleRecord) {
    // Never smaller than a few pixels: a city shows where its traffic is.
    let grow = (8.0 / (vehicle.length * canvas.scale)).max(1.0);
    let (half_length, half_width) = (0.5 * vehicle.length * grow, 0.5 * vehicle.width * grow);
    // An octagon: corners cut off more at the front than at the back, so that one sees where it heads.
    //
    //      ________________
    //     |                `.      ahead ->
    //     |________________.'
    //
    let outline = |ahead: f64, behind: f64, width: f64| {
        let corner = 0.35 * width;
        [
            (ahead, width - corner),
            (ahead - corner, width),
            (behind + 0.5 * corner, width),
            (behind, width - 0.5 * corner),
            (behind, -width + 0.5 * corner),
            (behind + 0.5 * corner, -width),
            (ahead - corner, -width),
            (ahead, -width + corner),
        ]
        .map(|(x, y)| vehicle.body.point(x, y))
    };
    let body = outline(half_length, -half_length, half_width);
    // By a scrambled id: neighbours in the order of ids get different colours, and an agent keeps its
    // own from picture to picture.
    let color = BODIES[(mix64(vehicle.agent) % BODIES.len() as u64) as usize];
    canvas.edge(&body, 0.25, 1.4, faded(GLASS, 0.85));
    canvas.polygon(&body, rgb(color));
    for lamp in indicator_lamps(vehicle.indicator) {
        let at = vehicle
            .body
            .point(lamp.0 * half_length, lamp.1 * half_width);
        canvas.circle(at, 0.22, 1.6, rgb(SIGNAL));
    }
    if canvas.scale > 3.0 {
        let glass = |from: f64, to: f64| {
            [(from, 0.78), (to, 0.66), (to, -0.66), (from, -0.78)]
                .map(|(x, y)| vehicle.body.point(x * half_length, y * half_width))
        };
        canvas.polygon(&glass(0.55, 0.2), faded(GLASS, 0.85));
        canvas.polygon(&glass(-0.75, -0.55), faded(GLASS, 0.85));
    }
}
