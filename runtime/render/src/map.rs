//! The map of a scenario.

use crate::RenderError;
use crate::bridge::Bridges;
use crate::canvas::Canvas;
use crate::figure::{self, Figure};
use crate::hint::Hint;
use crate::land::Tree;
use crate::painter::{Painter, Pass};
use crate::palette::{self, DESTINATION, GROUND, rgb};
use crate::relief::{self, Relief};
use crate::street_name::Cover;
use crate::{
    arrow, bodies, canopy, crossing, furniture, gore, ground, guide, hint, island, land, marking,
    median, mini, names, painted, points_of_interest, rim, road, signal, splitter, symbol, terrain,
    verges,
};
use glam::DVec2;
use roadwright_geometry::HeightField;
use roadwright_geometry::unit;
use roadwright_scenario::junction::{Junction, Layout, layout};
use roadwright_scenario::{BodyKind, MapPart, Place, RoadId, Scenario, hides_layer};
use roadwright_simulation::{PersonRecord, SignalHead, Snapshot, TrailerRecord, VehicleRecord};
use std::collections::{BTreeMap, BTreeSet};

/// Size of a character's destination mark relative to that of a vehicle.
const CHARACTER_GOAL: f64 = 0.2;

/// Contents and size of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Width and height, pixels.
    pub size: (u32, u32),
    /// Visible part of the world, given by its low and high corner, m; `None` for everything except
    /// land beyond the roads.
    pub view: Option<(DVec2, DVec2)>,
    /// Driven paths in drawing order. They are listed in a legend.
    pub trails: Vec<Trail>,
    /// Text below the title; `None` for the number of vehicles and the time.
    pub detail: Option<String>,
    /// Whether title, legend, scale bar and attribution are drawn.
    pub furnished: bool,
    /// Whether the dark theme is used.
    pub dark: bool,
    /// Whether the solver's rigid bodies are drawn as lines over the map.
    pub bodies: bool,
    /// Outlines of fixed objects around the rigid bodies. They are drawn together with the bodies; see
    /// [`bodies::stills`].
    pub stills: Vec<Vec<DVec2>>,
    /// Lights of signals. Signals that are not listed are off.
    pub signals: Vec<SignalHead>,
    /// Kinds of objects and layers of roads that are hidden.
    pub hidden: BTreeSet<MapPart>,
}

impl Picture {
    fn shows(&self, part: MapPart) -> bool {
        !self.hidden.contains(&part)
    }
}

/// A driven path.
#[derive(Debug, Clone, PartialEq)]
pub struct Trail {
    /// Points of the path, m.
    pub points: Vec<DVec2>,
    /// Width of the path, m. The path is drawn at least two pixels wide.
    pub width: f64,
    /// Colour of the path, 0xRRGGBB.
    pub color: u32,
    /// Name in the legend.
    pub label: String,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            size: (1600, 1000),
            view: None,
            trails: Vec::new(),
            detail: None,
            furnished: true,
            dark: false,
            bodies: false,
            stills: Vec::new(),
            signals: Vec::new(),
            hidden: BTreeSet::new(),
        }
    }
}

/// Minimum scale at which signals are drawn, pixels per metre.
const LEAST_SIGNAL_SCALE: f64 = 1.25;
/// Margin around the world, as a share of its size.
const FRAME: f64 = 0.03;

/// Draws a scenario with the vehicles of a snapshot as a PNG.
///
/// # Errors
/// If there is nothing to draw, or the picture cannot be created.
pub fn map(
    scenario: &Scenario,
    snapshot: Option<&Snapshot>,
    picture: &Picture,
) -> Result<Vec<u8>, RenderError> {
    drawn(scenario, snapshot, picture)?.png()
}

/// Draws the same map as [`map`], and returns its canvas.
pub(crate) fn drawn(
    scenario: &Scenario,
    snapshot: Option<&Snapshot>,
    picture: &Picture,
) -> Result<Canvas, RenderError> {
    let (low, high) = match picture.view {
        Some(view) => view,
        None => framed(scenario.frame().ok_or(RenderError::Empty)?),
    };
    let mut canvas = Canvas::new(picture.size, low, high)?;
    canvas.set_dark(picture.dark);
    canvas.clear(GROUND);
    if let Some(field) = scenario.terrain() {
        draw_terrain(&mut canvas, field, picture.dark);
    }
    draw_land(&mut canvas, scenario, picture);
    // Drawn from bottom to top, so that objects higher in the world cover lower ones. Names are on
    // the ground, below vehicles.
    let layout = layout(scenario.network(), scenario.about());
    layout.make_surfaces();
    let bridges = Bridges::of(scenario, &layout);
    let roads = Roads {
        scenario,
        layout: &layout,
        bridges: &bridges,
        hidden: &picture.hidden,
    };
    roads.draw(&mut canvas);
    let covered = Covered::of(
        scenario,
        &bridges,
        snapshot.filter(|_| picture.shows(MapPart::Vehicles)),
    );
    covered.draw(&mut canvas, &roads);
    draw_objects(&mut canvas, scenario, snapshot, picture);
    let driving = snapshot.filter(|_| picture.shows(MapPart::Vehicles));
    write_names(&mut canvas, scenario, &layout, picture, driving);
    for trail in &picture.trails {
        canvas.line(&trail.points, trail.width, 2.0, rgb(trail.color));
    }
    if let Some(snapshot) = driving {
        let above = |vehicle: &&VehicleRecord| !covered.agents.contains_key(&vehicle.agent);
        for vehicle in snapshot.vehicles.iter().filter(above) {
            draw_vehicle(&mut canvas, vehicle, snapshot);
        }
    }
    // Trailers are drawn on top of their vehicles, because a semi-trailer rests on its tractor.
    for trailer in driving.into_iter().flat_map(Snapshot::all_trailers) {
        if !covered.agents.contains_key(&trailer.agent) {
            draw_trailer(&mut canvas, trailer);
        }
    }
    for (person, figure) in snapshot.into_iter().flat_map(Snapshot::people_on_foot) {
        let scale = 1.0 / canvas.scale;
        draw_hints(&mut canvas, hint::feet_of(figure, scale));
        let heading = hint::heading_of_shoulders(figure);
        draw_person(&mut canvas, &PersonRecord { heading, ..*person });
    }
    draw_lit_signals(&mut canvas, scenario, &layout, picture);
    // The signs are drawn on top of everything else, because these vehicles need attention.
    for vehicle in driving.into_iter().flat_map(|s| &s.vehicles) {
        let sign = hint::sign(vehicle, 1.0 / canvas.scale);
        draw_hints(&mut canvas, sign);
    }
    if let Some(snapshot) = snapshot.filter(|_| picture.bodies) {
        draw_bodies(&mut canvas, scenario, snapshot, picture);
    }
    if picture.furnished {
        let about = scenario.about();
        let detail = picture.detail.clone().unwrap_or_else(|| detail(snapshot));
        furniture::title(&mut canvas, &about.name, &detail);
        furniture::legend(&mut canvas, &picture.trails);
        furniture::scale_bar(&mut canvas);
        furniture::attribution(&mut canvas, &about.attribution);
    }
    Ok(canvas)
}

/// Draws yards, land, forest floors and painted layers, which are below the roads.
fn draw_land(canvas: &mut Canvas, scenario: &Scenario, picture: &Picture) {
    if picture.shows(MapPart::Obstacles)
        && let Some(paint) = land::Detail::at(canvas.scale)
    {
        land::yards(canvas, scenario.obstacles().values(), paint);
    }
    if picture.shows(MapPart::Land) {
        ground::all(canvas, scenario);
    }
    if picture.shows(MapPart::Forests) {
        land::floors(canvas, scenario);
    }
    if picture.shows(MapPart::Land) {
        painted::all(canvas, scenario);
    }
}

/// Draws obstacles, points of interest, trees, and destinations off the lanes, on top of the roads.
fn draw_objects(
    canvas: &mut Canvas,
    scenario: &Scenario,
    snapshot: Option<&Snapshot>,
    picture: &Picture,
) {
    if picture.shows(MapPart::Obstacles) {
        let pushed = snapshot.map_or(&[][..], |snapshot| &snapshot.loose);
        let obstacles = land::where_pushed(scenario.obstacles().iter(), pushed);
        let obstacles = obstacles.iter().map(|(id, one)| (id, one.as_ref()));
        land::obstacles(canvas, obstacles);
    }
    if picture.shows(MapPart::Places) {
        points_of_interest(canvas, scenario);
    }
    if picture.shows(MapPart::Forests) {
        draw_trees(canvas, scenario);
    }
    if picture.shows(MapPart::Vehicles) {
        draw_ground_goals(canvas, scenario);
    }
}

/// Writes the names of all visible objects. Street names keep clear of the vehicles of a snapshot.
fn write_names(
    canvas: &mut Canvas,
    scenario: &Scenario,
    layout: &Layout,
    picture: &Picture,
    driving: Option<&Snapshot>,
) {
    if picture.shows(MapPart::Land) {
        names::land(canvas, scenario);
    }
    let covers = driving.map_or_else(Vec::new, |snapshot| covers(snapshot, 1.0 / canvas.scale));
    names::streets(canvas, scenario, layout, &picture.hidden, &covers);
    if picture.shows(MapPart::Places) {
        names::places(canvas, scenario);
    }
}

/// Returns the areas that vehicles and trailers cover at their drawn size. `scale` is in metres per
/// pixel.
fn covers(snapshot: &Snapshot, scale: f64) -> Vec<Cover> {
    let cover = |at: DVec2, length: f64, width: f64| {
        let grow = figure::enlargement(length, scale);
        Cover {
            at,
            length: length * grow,
            width: width * grow,
        }
    };
    let vehicles = snapshot.vehicles.iter();
    let vehicles = vehicles.map(|one| cover(one.body.position, one.length, one.width));
    let trailers = snapshot.all_trailers();
    let trailers = trailers.map(|one| cover(one.body.position, one.length, one.width));
    vehicles.chain(trailers).collect()
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

/// Draws height tints and hill shading pixel by pixel, and contour lines with their heights.
fn draw_terrain(canvas: &mut Canvas, field: &HeightField, dark: bool) {
    let (from, to) = (field.origin(), field.far_corner());
    let share = terrain::height_share(field);
    for y in 0..canvas.height() as u32 {
        for x in 0..canvas.width() as u32 {
            let point = canvas.world(f64::from(x) + 0.5, f64::from(y) + 0.5);
            if point.cmplt(from).any() || point.cmpgt(to).any() {
                continue;
            }
            let color =
                terrain::ground_color(share(field.height(point)), slope(field, point), dark);
            canvas.put(x, y, color);
        }
    }
    let relief = Relief::new(field);
    terrain::draw_contours(canvas, &relief.contours);
    relief::draw(canvas, &relief);
}

/// Returns the slope as a central difference over one sample to each side, so that the facets of
/// the grid do not show.
fn slope(field: &HeightField, point: DVec2) -> DVec2 {
    let step = field.spacing();
    let slope = |offset: DVec2| {
        (field.height(point + offset) - field.height(point - offset)) / (2.0 * step)
    };
    DVec2::new(slope(DVec2::new(step, 0.0)), slope(DVec2::new(0.0, step)))
}

/// The roads that a picture shows, with the data for drawing them.
struct Roads<'a> {
    scenario: &'a Scenario,
    layout: &'a Layout,
    bridges: &'a Bridges,
    hidden: &'a BTreeSet<MapPart>,
}

impl Roads<'_> {
    /// Draws roads and junctions, lower layers first. Hidden layers are left out.
    fn draw(&self, canvas: &mut Canvas) {
        let roads = self.scenario.network().roads();
        // A layer is drawn completely before the next one, because a bridge covers the markings of the road below
        // it.
        let layers: BTreeSet<i8> = roads.map(|(_, road)| road.layer).collect();
        let shown = layers
            .into_iter()
            .filter(|layer| !hides_layer(self.hidden, *layer));
        let shown: Vec<Level<'_>> = shown.map(|layer| self.level(layer)).collect();
        // Verges lie on the ground, including those of roads above it.
        for level in &shown {
            let (roads, junctions) = (&level.roads, &level.junctions);
            verges(
                canvas,
                self.scenario,
                self.layout,
                self.bridges,
                roads,
                junctions,
            );
        }
        for Level {
            layer,
            roads,
            junctions,
        } in shown
        {
            self.bridges.draw_shadows(canvas, &roads);
            self.bridges.draw_decks(canvas, &roads);
            roads_and_junctions(canvas, self.scenario, self.layout, &roads, &junctions);
            self.bridges.draw_parapets(canvas, self.scenario, &roads);
            self.bridges.draw_tunnels(canvas, self.scenario, layer);
        }
    }

    fn level(&self, layer: i8) -> Level<'_> {
        let all = self.layout.junctions.iter();
        let own = all.filter(|one| junction_layer(self.scenario, one) == Some(layer));
        Level {
            layer,
            roads: self.on_layer(layer),
            junctions: own.map(|junction| &**junction).collect(),
        }
    }

    fn on_layer(&self, layer: i8) -> Vec<RoadId> {
        let roads = self.scenario.network().roads();
        let own = roads.filter(|(_, road)| road.layer == layer);
        own.map(|(id, _)| id).collect()
    }
}

/// The roads and junctions of a layer.
struct Level<'a> {
    layer: i8,
    roads: Vec<RoadId>,
    junctions: Vec<&'a Junction>,
}

/// Vehicles below the decks of bridges.
struct Covered<'a> {
    snapshot: Option<&'a Snapshot>,
    /// Agents of these vehicles, with the layers on which they drive.
    agents: BTreeMap<u64, i8>,
}

impl<'a> Covered<'a> {
    fn of(scenario: &Scenario, bridges: &Bridges, snapshot: Option<&'a Snapshot>) -> Self {
        let vehicles = snapshot.into_iter().flat_map(|snapshot| &snapshot.vehicles);
        let covered = vehicles.filter_map(|vehicle| {
            let layer = bridges.layer_if_covered(vehicle, scenario)?;
            Some((vehicle.agent, layer))
        });
        Self {
            snapshot,
            agents: covered.collect(),
        }
    }

    /// Draws the vehicles, lower layers first. The decks of each layer are drawn over the vehicles below
    /// them.
    fn draw(&self, canvas: &mut Canvas, roads: &Roads<'_>) {
        let Some(snapshot) = self.snapshot.filter(|_| !self.agents.is_empty()) else {
            return;
        };
        let mut from = i8::MIN;
        for deck in roads.bridges.layers() {
            let is_between = |agent: &u64| {
                let layer = self.agents.get(agent);
                layer.is_some_and(|layer| (from..deck).contains(layer))
            };
            for vehicle in snapshot
                .vehicles
                .iter()
                .filter(|one| is_between(&one.agent))
            {
                draw_vehicle(canvas, vehicle, snapshot);
            }
            for trailer in snapshot.all_trailers().filter(|one| is_between(&one.agent)) {
                draw_trailer(canvas, trailer);
            }
            if !hides_layer(roads.hidden, deck) {
                let own = roads.on_layer(deck);
                over_traffic(canvas, roads.scenario, roads.layout, roads.bridges, &own);
                roads.bridges.draw_tunnels(canvas, roads.scenario, deck);
            }
            from = deck;
        }
    }
}

/// Draws the given roads and junctions of a layer with all their paint.
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
    guide::cycle_surfaces(painter, scenario, junctions);
    median::raised(painter, scenario, layout, &stretches, junctions);
    painter.begin(Pass::Marking);
    marking::lines(painter, scenario, layout, &stretches);
    symbol::draw(painter, scenario, &stretches);
    gore::chevrons(painter, junctions);
    marking::through_lines(painter, scenario, junctions);
    guide::lines(painter, scenario, junctions);
    mini::islands(painter, junctions);
    splitter::painted(painter, scenario, junctions);
    crossing::zebras(painter, junctions);
    marking::stop_lines(painter, scenario, layout, junctions);
    rim::paint(painter, scenario, layout, junctions);
    arrow::turns(painter, scenario, layout, junctions);
    arrow::one_ways(painter, scenario, layout, roads);
    if painter.scale() > LEAST_SIGNAL_SCALE {
        for junction in junctions {
            signal::draw_off(painter, scenario, layout, junction);
        }
    }
}

/// Redraws the roads that have decks or roofs, so that they cover the vehicles below them. All `roads` have
/// the same layer.
pub fn over_traffic(
    painter: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    bridges: &Bridges,
    roads: &[RoadId],
) {
    let roads = bridges.among(roads);
    bridges.draw_decks(painter, &roads);
    roads_and_junctions(painter, scenario, layout, &roads, &[]);
    bridges.draw_parapets(painter, scenario, &roads);
}

/// Returns the layer on which a junction is drawn. It is the lowest layer of the junction's roads,
/// because the foot of a ramp is on the ground. `None` if the junction has no roads.
pub fn junction_layer(scenario: &Scenario, junction: &Junction) -> Option<i8> {
    let roads = junction
        .arms
        .iter()
        .filter_map(|arm| scenario.network().road(arm.road));
    roads.map(|road| road.layer).min()
}

fn draw_trees(canvas: &mut Canvas, scenario: &Scenario) {
    let parts = land::TREE.parts();
    let (low, high) = canvas.view();
    let counts = scenario.planted();
    let in_view = counts
        .map(|(_, forest)| canopy::expected_trees(forest, low, high))
        .sum();
    for (_, forest) in scenario.planted() {
        let crown = land::crown(forest);
        let grain = land::grain(forest) * canvas.scale;
        let shown = canopy::share_of_trees(grain, in_view, canopy::SMALLEST);
        if shown < 1.0 {
            let color = canopy::between_trees(canopy::color(forest, canvas.is_dark()), shown);
            canvas.plain_polygon(&forest.area, color);
        }
        if shown <= 0.0 {
            continue;
        }
        // The crown with the largest radius, including its shadow.
        let reach = 2.0 * crown;
        let is_seen =
            |tree: &Tree| tree.at.cmpgt(low - reach).all() && tree.at.cmplt(high + reach).all();
        let trees = land::planted(forest).filter(|tree| tree.order < shown);
        for tree in trees.filter(is_seen) {
            let color = canvas.shown(rgb(tree.color));
            canvas.figure(
                &parts,
                tree.at,
                tree.crown * unit(tree.turn),
                tree.crown,
                color,
            );
        }
    }
}

/// Draws destinations outside the lanes, which would otherwise not be visible.
fn draw_ground_goals(canvas: &mut Canvas, scenario: &Scenario) {
    for agent in scenario.agents().values() {
        if let Some(Place::Ground(goal)) = agent.destination {
            let kind = scenario.vehicle_types().get(&agent.vehicle);
            let size = match kind.map(|kind| kind.body) {
                Some(BodyKind::Character) => CHARACTER_GOAL,
                _ => 1.0,
            };
            let at = goal.position();
            canvas.circle(at, 1.6 * size, 6.0, rgb(DESTINATION));
            canvas.circle(at, 0.9 * size, 3.4, rgb(crate::palette::PAPER));
            canvas.circle(at, 0.45 * size, 1.6, rgb(DESTINATION));
        }
    }
}

fn draw_hints(canvas: &mut Canvas, hints: impl IntoIterator<Item = Hint>) {
    for hint in hints {
        let parts = hint.figure.parts();
        canvas.figure(&parts, hint.at, hint.front, hint.half_width, hint.color);
    }
}

fn draw_vehicle(canvas: &mut Canvas, vehicle: &VehicleRecord, snapshot: &Snapshot) {
    let scale = 1.0 / canvas.scale;
    draw_hints(canvas, hint::wheels(vehicle, snapshot, scale));
    if vehicle.body_kind == BodyKind::Character {
        let person = PersonRecord {
            id: vehicle.agent,
            position: vehicle.body.position,
            heading: hint::shoulder_heading(vehicle, snapshot),
            waits: false,
        };
        draw_person(canvas, &person);
        return;
    }
    let grow = figure::enlargement(vehicle.length, scale);
    let front = 0.5 * vehicle.length * grow * vehicle.body.forward();
    let half_width = 0.5 * vehicle.width * grow;
    let body = if vehicle.has_tracks {
        Figure::of_tracked(scale)
    } else {
        Figure::of_vehicle(vehicle.length, scale)
    };
    let color = figure::body_color(vehicle.agent, vehicle.length, body);
    canvas.figure(
        &body.parts(),
        vehicle.body.position,
        front,
        half_width,
        color,
    );
    draw_hints(canvas, hint::roof(vehicle, scale));
    for (lamp, (ahead, left)) in figure::lit_lamps(vehicle.indicator, vehicle.brakes) {
        let side = front.normalize_or_zero().perp() * half_width;
        let at = vehicle.body.position + f64::from(ahead) * front + f64::from(left) * side;
        let reach = figure::GLOW * grow;
        canvas.figure(
            &lamp.parts(),
            at,
            reach * vehicle.body.forward(),
            reach,
            color,
        );
    }
}

/// Draws rigid bodies as lines of equal width, on top of the lines of the fixed objects around them.
fn draw_bodies(canvas: &mut Canvas, scenario: &Scenario, snapshot: &Snapshot, picture: &Picture) {
    let dark = picture.dark;
    for line in &picture.stills {
        canvas.overlay(line, 1.5, palette::still_line(dark));
    }
    let (view, color) = (canvas.view(), palette::body_line(dark));
    for line in bodies::lines(scenario, snapshot, view, 1.0 / canvas.scale) {
        canvas.overlay(&line, 1.5, color);
    }
}

fn draw_trailer(canvas: &mut Canvas, trailer: &TrailerRecord) {
    let scale = 1.0 / canvas.scale;
    let figure = Figure::of_trailer(scale);
    if figure == Figure::Trailer {
        let front = trailer.body.point(0.5 * trailer.length, 0.0);
        canvas.line(
            &[front, trailer.coupling],
            0.15,
            1.0,
            rgb(crate::palette::RIM),
        );
    }
    canvas.figure(
        &figure.parts(),
        trailer.body.position,
        0.5 * trailer.length * trailer.body.forward(),
        0.5 * trailer.width,
        figure::body_color(trailer.agent, trailer.length, figure),
    );
}

/// Draws lit signals on top of the unlit ones of the map.
fn draw_lit_signals(canvas: &mut Canvas, scenario: &Scenario, layout: &Layout, picture: &Picture) {
    let is_shown = |head: &&SignalHead| {
        let road = scenario.network().road(head.road);
        !hides_layer(&picture.hidden, road.map_or(0, |road| road.layer))
    };
    if canvas.scale > LEAST_SIGNAL_SCALE {
        let shown: Vec<SignalHead> = picture.signals.iter().filter(is_shown).copied().collect();
        for (head, light) in signal::lit(scenario, layout, &shown) {
            signal::draw(canvas, head, Some(light));
        }
    }
}

fn draw_person(canvas: &mut Canvas, person: &PersonRecord) {
    if let Some((half_depth, half_width)) = figure::person_size(1.0 / canvas.scale) {
        let front = half_depth * unit(person.heading);
        let color = figure::person_color(person.id);
        let parts = Figure::Person.parts();
        canvas.figure(&parts, person.position, front, half_width, color);
    }
}
