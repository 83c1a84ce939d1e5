//! Bridges and tunnels: where a road passes over water or over a road of a lower layer.
//!
//! ```text
//!                  span
//!        |<----------------------->|        seen from above; the road below passes under the middle
//!   =====#=========================#=====   parapet
//!   -----#-------------------------#-----   joint at either end
//!   =====#=========================#=====   parapet, with the shadow of the deck beside it
//!          10 m |<- overlap ->| 10 m
//! ```

use crate::painter::{Painter, Pass};
use crate::palette::{CASING, KERB, MARKING, OUTLINE, SHADOW, SHADOW_OPACITY, faded, rgb};
use crate::road::MIN_KERB_SCALE;
use glam::DVec2;
use roadwright_geometry::{polygon, polyline};
use roadwright_scenario::junction::Layout;
use roadwright_scenario::{Land, LandUse, NodeId, Road, RoadBox, RoadBoxes, RoadId, Scenario};
use roadwright_simulation::VehicleRecord;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

/// Length of a deck on either side of the road or water that it crosses, m.
const APPROACH: f64 = 10.0;
/// Height of a layer above the next lower one, m.
const LAYER_HEIGHT: f64 = 5.0;
/// Distance between the points at which a road is tested for roads or water below it, m.
const STEP: f64 = 2.0;
/// Width of a parapet, m. It stands outside the lanes.
const PARAPET: f64 = 0.5;
/// Width of the lit edge of a parapet, m.
const LIT_EDGE: f64 = 0.15;
/// Width of a joint at the end of a deck, m.
const JOINT: f64 = 0.3;
/// Lengths (on, off) of the dashes along the edges of a tunnel, m.
const TUNNEL_DASH: (f64, f64) = (4.0, 3.0);
/// Opacity of the edges of a tunnel.
const TUNNEL_OPACITY: f32 = 0.45;
/// Width of the bar across the mouth of a tunnel, m.
const PORTAL: f64 = 0.8;
/// Gradient of an embankment along the road, m of height per m.
const GRADE: f64 = 0.08;
/// Width of an embankment's slope per metre of height.
const SLOPE: f64 = 1.6;
/// Maximum width of the slope of an embankment, m. The tiles of the editor leave 10 m beside roads.
const MOST_SLOPE: f64 = 9.0;
/// Length of the shortest embankment that is drawn, m.
const LEAST_EMBANKMENT: f64 = 8.0;
/// Distance between the short lines that show the slope of an embankment, m.
const HACHURES: f64 = 2.8;
/// Opacity of hachures.
const HACHURE_OPACITY: f32 = 0.3;
/// Opacity of the light on the slope towards the sun, and of the shadow on the opposite slope.
const LIT: f32 = 0.5;
const UNLIT: f32 = 0.16;
/// Minimum distance of a deck from a node shared by the roads above and below, m. The widths of
/// both roads are added to it.
const CLEAR_OF_NODE: f64 = 15.0;
/// Edge length of the grid cells that index decks, m.
const CELL: f64 = 64.0;

/// The reference line of a road, with its bounding box and the reach of the road's edges.
#[derive(Debug, Clone, Copy)]
pub struct RoadLine<'a> {
    /// Id of the road.
    pub id: RoadId,
    /// Points of its reference line, m.
    pub line: &'a [DVec2],
    /// South-west corner of the bounding box of the line, m.
    pub low: DVec2,
    /// North-east corner of the bounding box of the line, m.
    pub high: DVec2,
    /// Greatest distance of an edge of the road from its line, m.
    pub reach: f64,
}

/// Kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// A part of a road that passes over water or over another road on the ground or above it.
    Deck,
    /// A part of a road above a tunnel.
    Roof,
    /// A covered part of a road below the ground.
    Tunnel,
}

/// A part of a road that passes over or below something.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Kind of the span.
    pub kind: SpanKind,
    /// Id of the road.
    pub road: RoadId,
    /// Start, m along the road.
    pub from: f64,
    /// End, m along the road.
    pub to: f64,
    /// Layer of the deck or roof. For a tunnel, this is the layer that covers it.
    pub layer: i8,
    /// Height of the deck above the road or water below it, m; 0 for roofs and tunnels.
    clearance: f64,
    /// Outline of the deck or roof, m; empty for a tunnel.
    outline: Vec<DVec2>,
}

impl Hash for Span {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            kind,
            road,
            from,
            to,
            layer,
            clearance,
            // The outline follows from the road and the distances.
            outline: _,
        } = self;
        (kind, road, layer).hash(state);
        (from.to_bits(), to.to_bits(), clearance.to_bits()).hash(state);
    }
}

/// The bridges and tunnels of a scenario.
#[derive(Debug, Clone, Default)]
pub struct Bridges {
    /// Decks and roofs, ordered by road.
    decks: Vec<Span>,
    /// Covered parts of roads below layer 0, ordered by road.
    tunnels: Vec<Span>,
    /// Decks and roofs by the cells that they touch.
    cells: HashMap<(i32, i32), Vec<u32>>,
}

impl Bridges {
    /// Finds the bridges of a scenario, given the lines of its roads.
    pub fn new(scenario: &Scenario, layout: &Layout, lines: &[RoadLine<'_>]) -> Self {
        let finder = Finder::new(scenario, layout, lines);
        let mut decks: Vec<Span> = Vec::new();
        let mut tunnels: Vec<Span> = Vec::new();
        for line in finder.lines.values() {
            decks.extend(finder.decks(line));
            tunnels.extend(finder.tunnels(line));
        }
        let mut cells: HashMap<(i32, i32), Vec<u32>> = HashMap::new();
        for (index, deck) in decks.iter().enumerate() {
            for cell in cells_of(&deck.outline) {
                cells.entry(cell).or_default().push(index as u32);
            }
        }
        Self {
            decks,
            tunnels,
            cells,
        }
    }

    /// Finds the bridges of a scenario.
    pub fn of(scenario: &Scenario, layout: &Layout) -> Self {
        let roads = scenario.network().roads();
        let sampled: Vec<(RoadId, Vec<DVec2>, f64)> = roads
            .map(|(id, road)| (id, road.reference_line.sample(0.1, 0.0), road.reach()))
            .collect();
        let lines = sampled.iter().filter_map(|(id, line, reach)| {
            let (low, high) = polygon::bounds(line)?;
            Some(RoadLine {
                id: *id,
                line,
                low,
                high,
                reach: *reach,
            })
        });
        Self::new(scenario, layout, &lines.collect::<Vec<_>>())
    }

    /// Returns the layers that have decks or roofs, lowest first.
    pub fn layers(&self) -> BTreeSet<i8> {
        self.decks.iter().map(|deck| deck.layer).collect()
    }

    /// Returns the decks and covered parts of a road.
    pub fn of_road(&self, road: RoadId) -> impl Iterator<Item = &Span> {
        spans(&self.decks, road)
            .iter()
            .chain(spans(&self.tunnels, road))
    }

    /// Whether a deck or roof of a higher layer covers a point of a layer.
    pub fn covers(&self, point: DVec2, layer: i8) -> bool {
        let Some(near) = self.cells.get(&cell_of(point)) else {
            return false;
        };
        let decks = near
            .iter()
            .filter_map(|index| self.decks.get(*index as usize));
        decks
            .filter(|deck| deck.layer > layer)
            .any(|deck| polygon::contains(&deck.outline, point))
    }

    /// Returns the layer of a vehicle that is partly covered by a deck or roof of a higher layer;
    /// otherwise `None`.
    pub fn layer_if_covered(&self, vehicle: &VehicleRecord, scenario: &Scenario) -> Option<i8> {
        if self.decks.is_empty() {
            return None;
        }
        let road = vehicle
            .lane
            .and_then(|(road, _)| scenario.network().road(road));
        let layer = road.map_or(0, |road| road.layer);
        let half = 0.5 * vehicle.length;
        let points = [half, 0.0, -half].map(|ahead| vehicle.body.point(ahead, 0.0));
        let is_covered = points.into_iter().any(|point| self.covers(point, layer));
        is_covered.then_some(layer)
    }

    /// Draws the embankments that lead to decks, on the ground below all roads.
    pub fn draw_embankments(
        &self,
        painter: &mut impl Painter,
        scenario: &Scenario,
        layout: &Layout,
        roads: &[RoadId],
    ) {
        if painter.scale() < MIN_KERB_SCALE {
            return;
        }
        painter.begin(Pass::Ground);
        // A bridge of layer 0 over water is as high as the banks.
        for deck in self.decks_of(roads).filter(|deck| deck.layer > 0) {
            let Some(road) = scenario.network().road(deck.road) else {
                continue;
            };
            let Some((start, end)) = layout.remaining(deck.road, road) else {
                continue;
            };
            // Between two decks, each embankment gets half of the road.
            let others = spans(&self.decks, deck.road).iter();
            let others = others.filter(|other| other.kind == SpanKind::Deck);
            let before = others.clone().filter(|other| other.to < deck.from);
            let before = before.map(|other| 0.5 * (other.to + deck.from));
            let after = others.filter(|other| other.from > deck.to);
            let after = after.map(|other| 0.5 * (other.from + deck.to));
            let ends = [
                (deck.from, before.fold(start, f64::max)),
                (deck.to, after.fold(end, f64::min)),
            ];
            for (abutment, foot) in ends {
                let bank = Embankment::new(road, abutment, foot, deck.clearance);
                if let Some(bank) = bank {
                    bank.draw(painter);
                }
            }
        }
    }

    /// Draws the shadows of decks, below the decks.
    pub fn draw_shadows(&self, painter: &mut impl Painter, roads: &[RoadId]) {
        painter.begin(Pass::Ground);
        for deck in self.decks_of(roads) {
            let cast = 0.42 * deck.clearance * DVec2::new(1.0, -1.0).normalize();
            let shadow: Vec<DVec2> = deck.outline.iter().map(|point| *point + cast).collect();
            let fade = 0.12 + 0.05 * deck.clearance;
            painter.soft_polygon(&shadow, fade, faded(SHADOW, SHADOW_OPACITY));
        }
    }

    /// Draws the decks of roads, below the roads themselves.
    pub fn draw_decks(&self, painter: &mut impl Painter, roads: &[RoadId]) {
        painter.begin(Pass::Ground);
        for deck in self.decks_of(roads) {
            painter.polygon(&deck.outline, rgb(CASING));
        }
    }

    /// Draws the parapets and joints of roads, above everything that is painted on them.
    pub fn draw_parapets(&self, painter: &mut impl Painter, scenario: &Scenario, roads: &[RoadId]) {
        painter.begin(Pass::Marking);
        for deck in self.decks_of(roads) {
            let Some(road) = scenario.network().road(deck.road) else {
                continue;
            };
            for s in [deck.from, deck.to] {
                painter.line(&across(road, s), JOINT, 0.8, faded(OUTLINE, 0.7));
            }
            let lit = 0.5 * (PARAPET - LIT_EDGE) * DVec2::new(-1.0, 1.0).normalize();
            for side in [Side::Left, Side::Right] {
                let line = edge(road, deck, side, 0.5 * PARAPET);
                painter.line(&line, PARAPET, 1.2, rgb(OUTLINE));
                let line: Vec<DVec2> = line.into_iter().map(|point| point + lit).collect();
                painter.line(&line, LIT_EDGE, 0.5, rgb(KERB));
            }
        }
    }

    /// Draws the edges of the tunnels that a layer covers, so that they are visible through this layer.
    pub fn draw_tunnels(&self, painter: &mut impl Painter, scenario: &Scenario, layer: i8) {
        let covered = self.tunnels.iter().filter(|tunnel| tunnel.layer == layer);
        draw_tunnels(painter, scenario, covered);
    }

    /// Draws the edges of the tunnels of roads. Each tunnel is drawn on its covering layer, which
    /// is passed to `set_layer` first.
    pub fn draw_tunnels_of<P: Painter>(
        &self,
        painter: &mut P,
        scenario: &Scenario,
        roads: &[RoadId],
        set_layer: impl Fn(&mut P, i8),
    ) {
        for tunnel in roads.iter().flat_map(|road| spans(&self.tunnels, *road)) {
            set_layer(painter, tunnel.layer);
            draw_tunnels(painter, scenario, [tunnel]);
        }
    }

    /// Returns the decks of the given roads, without roofs.
    fn decks_of<'a>(&'a self, roads: &'a [RoadId]) -> impl Iterator<Item = &'a Span> {
        let all = roads.iter().flat_map(|road| spans(&self.decks, *road));
        all.filter(|span| span.kind == SpanKind::Deck)
    }

    /// Returns the roads among the given ones that have decks or roofs.
    pub fn among(&self, roads: &[RoadId]) -> Vec<RoadId> {
        let has_deck = |road: &&RoadId| !spans(&self.decks, **road).is_empty();
        roads.iter().filter(has_deck).copied().collect()
    }
}

fn draw_tunnels<'a>(
    painter: &mut impl Painter,
    scenario: &Scenario,
    tunnels: impl IntoIterator<Item = &'a Span>,
) {
    painter.begin(Pass::Marking);
    for tunnel in tunnels {
        let Some(road) = scenario.network().road(tunnel.road) else {
            continue;
        };
        let color = faded(MARKING, TUNNEL_OPACITY);
        for side in [Side::Left, Side::Right] {
            let line = edge(road, tunnel, side, 0.0);
            painter.dashed_line(&line, 0.3, 1.0, Some(TUNNEL_DASH), color);
        }
        for s in [tunnel.from - 0.5 * PORTAL, tunnel.to + 0.5 * PORTAL] {
            painter.line(&across(road, s), PORTAL, 1.2, rgb(OUTLINE));
        }
    }
}

/// Returns the spans of a road in a list ordered by road.
fn spans(all: &[Span], road: RoadId) -> &[Span] {
    let from = all.partition_point(|span| span.road < road);
    let to = all.partition_point(|span| span.road <= road);
    &all[from..to]
}

/// An embankment from the ground to the end of a deck.
struct Embankment<'a> {
    road: &'a Road,
    /// Position of its highest point, m along the road.
    abutment: f64,
    /// Position of its lowest point, m along the road.
    foot: f64,
    /// Width of a slope at the abutment, m.
    width: f64,
}

impl<'a> Embankment<'a> {
    /// Returns the embankment for a deck at a height, m. `farthest` is the last position on the
    /// road where it may end.
    fn new(road: &'a Road, abutment: f64, farthest: f64, height: f64) -> Option<Self> {
        let length = (farthest - abutment).abs().min(height / GRADE);
        let foot = abutment + length.copysign(farthest - abutment);
        (length >= LEAST_EMBANKMENT).then_some(Self {
            road,
            abutment,
            foot,
            width: (height * SLOPE).min(MOST_SLOPE),
        })
    }

    /// Returns the width of a slope at a distance along the road, m.
    fn width_at(&self, s: f64) -> f64 {
        self.width * (s - self.foot) / (self.abutment - self.foot)
    }

    /// Returns a point on the slope beside the road. `share` is its distance from the edge of the
    /// road, as a fraction of the slope's width.
    fn point(&self, s: f64, side: Side, share: f64) -> DVec2 {
        let (right, left) = self.road.edges(s);
        let t = side.outside(right, left, share * self.width_at(s));
        self.road.reference_line.point(s, t)
    }

    fn draw(&self, painter: &mut impl Painter) {
        let sun = DVec2::new(-1.0, 1.0);
        for side in [Side::Left, Side::Right] {
            let line = |share: f64| {
                let places = places(self.foot.min(self.abutment), self.foot.max(self.abutment));
                places.map(move |s| self.point(s, side, share))
            };
            let mut slope: Vec<DVec2> = line(0.0).collect();
            slope.extend(line(1.0).collect::<Vec<_>>().into_iter().rev());
            let across =
                self.point(self.abutment, side, 1.0) - self.point(self.abutment, side, 0.0);
            let color = match across.dot(sun) > 0.0 {
                true => faded(KERB, LIT),
                false => faded(SHADOW, UNLIT),
            };
            painter.polygon(&slope, color);
            let length = (self.abutment - self.foot).abs();
            let count = (length / HACHURES) as u32;
            for i in 0..count {
                let s =
                    self.abutment + (self.foot - self.abutment) * f64::from(i) / f64::from(count);
                let share = if i % 2 == 0 { 0.75 } else { 0.4 };
                let hachure = [self.point(s, side, 0.08), self.point(s, side, share)];
                painter.line(&hachure, 0.12, 0.6, faded(OUTLINE, HACHURE_OPACITY));
            }
        }
    }
}

/// A side of a road, seen in its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Side {
    /// Returns the lateral position of a point at `distance` outside the road's edge on this side,
    /// m to the left.
    pub(crate) fn outside(self, right: f64, left: f64, distance: f64) -> f64 {
        match self {
            Self::Left => left + distance,
            Self::Right => right - distance,
        }
    }
}

/// Returns the edge of a road along a span, moved outwards by a distance, m.
fn edge(road: &Road, span: &Span, side: Side, outwards: f64) -> Vec<DVec2> {
    let point = |s: f64| {
        let (right, left) = road.edges(s);
        let t = side.outside(right, left, outwards);
        road.reference_line.point(s, t)
    };
    places(span.from, span.to).map(point).collect()
}

/// Returns the line across a road between its edges.
fn across(road: &Road, s: f64) -> [DVec2; 2] {
    let (right, left) = road.edges(s);
    [left, right].map(|t| road.reference_line.point(s, t))
}

/// Returns evenly spaced distances along a road, including both ends and at most [`STEP`] apart, m.
fn places(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let count = ((to - from) / STEP).ceil().max(1.0) as u32;
    (0..=count).map(move |i| from + (to - from) * f64::from(i) / f64::from(count))
}

fn cell_of(point: DVec2) -> (i32, i32) {
    let cell = (point / CELL).floor();
    (cell.x as i32, cell.y as i32)
}

/// Returns the cells that the bounding box of an outline touches.
fn cells_of(outline: &[DVec2]) -> Vec<(i32, i32)> {
    let Some((low, high)) = polygon::bounds(outline) else {
        return Vec::new();
    };
    let ((x0, y0), (x1, y1)) = (cell_of(low), cell_of(high));
    (x0..=x1)
        .flat_map(|x| (y0..=y1).map(move |y| (x, y)))
        .collect()
}

/// A road and its reference line.
struct Line<'a> {
    road: &'a Road,
    of: RoadLine<'a>,
}

impl Line<'_> {
    fn overlaps(&self, low: DVec2, high: DVec2) -> bool {
        let (own_low, own_high) = (self.of.low - self.of.reach, self.of.high + self.of.reach);
        own_low.cmple(high).all() && own_high.cmpge(low).all()
    }

    fn covers(&self, point: DVec2) -> bool {
        self.overlaps(point, point) && polyline::distance(self.of.line, point) <= self.of.reach
    }
}

/// Finds roads that pass over other roads or water.
struct Finder<'a> {
    scenario: &'a Scenario,
    layout: &'a Layout,
    lines: BTreeMap<RoadId, Line<'a>>,
    /// Index of the roads in `lines` by position.
    boxes: RoadBoxes,
    water: Vec<(&'a Land, DVec2, DVec2)>,
    lowest: i8,
}

impl<'a> Finder<'a> {
    fn new(scenario: &'a Scenario, layout: &'a Layout, lines: &[RoadLine<'a>]) -> Self {
        let network = scenario.network();
        let lines = lines.iter().filter_map(|of| {
            let road = network.road(of.id)?;
            Some((of.id, Line { road, of: *of }))
        });
        let lines: BTreeMap<RoadId, Line<'a>> = lines.collect();
        let boxes = lines.iter().map(|(id, line)| RoadBox {
            road: *id,
            low: line.of.low - line.of.reach,
            high: line.of.high + line.of.reach,
        });
        let water = scenario
            .land()
            .values()
            .filter(|land| land.usage == LandUse::Water);
        Self {
            scenario,
            layout,
            boxes: RoadBoxes::of(boxes),
            lowest: lines
                .values()
                .map(|line| line.road.layer)
                .min()
                .unwrap_or(0),
            water: water
                .filter_map(|land| {
                    let (low, high) = polygon::bounds(&land.outline)?;
                    Some((land, low, high))
                })
                .collect(),
            lines,
        }
    }

    /// Returns the distances along a road where it is tested for overlaps. Junctions are left out.
    fn distances(&self, line: &Line<'_>) -> Vec<f64> {
        let Some((from, to)) = self.layout.remaining(line.of.id, line.road) else {
            return Vec::new();
        };
        if to - from < STEP {
            return Vec::new();
        }
        places(from, to).collect()
    }

    /// Returns the roads whose bounding boxes overlap that of the given road and which `is_meant`
    /// accepts.
    fn near(&self, line: &Line<'_>, is_meant: impl Fn(&Road) -> bool) -> Vec<&Line<'a>> {
        let (low, high) = (line.of.low - line.of.reach, line.of.high + line.of.reach);
        let near = self.boxes.overlapping(low, high).into_iter();
        let others = near.filter_map(|id| self.lines.get(&id));
        others.filter(|other| is_meant(other.road)).collect()
    }

    fn decks(&self, upper: &Line<'_>) -> Vec<Span> {
        let layer = upper.road.layer;
        let (low, high) = (upper.of.low, upper.of.high);
        let is_near =
            |(_, from, to): &&(&Land, DVec2, DVec2)| from.cmple(high).all() && to.cmpge(low).all();
        let water: Vec<&Land> = match layer {
            0.. => self
                .water
                .iter()
                .filter(is_near)
                .map(|(land, ..)| *land)
                .collect(),
            _ => Vec::new(),
        };
        let lower = match layer > self.lowest {
            true => self.near(upper, |road| road.layer < layer),
            false => Vec::new(),
        };
        if water.is_empty() && lower.is_empty() {
            return Vec::new();
        }
        let middle = |s: f64| {
            let (right, left) = upper.road.edges(s);
            upper.road.reference_line.point(s, 0.5 * (right + left))
        };
        let passes = |lower: &&&Line<'_>, point: DVec2| {
            lower.covers(point) && !self.meet(upper, lower, point)
        };
        let below = |s: f64| {
            let point = middle(s);
            let roads = lower
                .iter()
                .filter(|lower| lower.road.layer >= 0 && passes(lower, point));
            let heights = roads.map(|lower| LAYER_HEIGHT * f64::from(layer - lower.road.layer));
            let over_water = water
                .iter()
                .any(|land| land.contains(point))
                .then_some(LAYER_HEIGHT);
            let clearance = heights.chain(over_water).fold(0.0, f64::max);
            (clearance > 0.0).then_some(clearance)
        };
        let over_tunnel = |s: f64| {
            let point = middle(s);
            let is_over = lower
                .iter()
                .any(|lower| lower.road.layer < 0 && passes(&lower, point));
            is_over.then_some(0.0)
        };
        let decks = self.with_approaches(upper, self.overlaps(upper, below));
        let decks = decks
            .into_iter()
            .map(|span| deck(upper, SpanKind::Deck, span));
        let roofs = self.overlaps(upper, over_tunnel);
        let roofs = roofs
            .into_iter()
            .map(|span| deck(upper, SpanKind::Roof, span));
        decks.chain(roofs).collect()
    }

    /// Finds the covered parts of a road below layer 0.
    fn tunnels(&self, lower: &Line<'_>) -> Vec<Span> {
        let layer = lower.road.layer;
        if layer >= 0 {
            return Vec::new();
        }
        let above = self.near(lower, |road| road.layer > layer);
        let mut tunnels = Vec::new();
        for cover in above
            .iter()
            .map(|line| line.road.layer)
            .collect::<BTreeSet<i8>>()
        {
            let covering: Vec<&&Line<'_>> = above
                .iter()
                .filter(|line| line.road.layer == cover)
                .collect();
            let below = |s: f64| {
                let point = lower.road.reference_line.point(s, 0.0);
                let is_over =
                    |upper: &&&Line<'_>| upper.covers(point) && !self.meet(upper, lower, point);
                covering.iter().any(is_over).then_some(0.0)
            };
            for span in self.overlaps(lower, below) {
                tunnels.push(Span {
                    kind: SpanKind::Tunnel,
                    road: lower.of.id,
                    layer: cover,
                    from: span.from,
                    to: span.to,
                    clearance: 0.0,
                    outline: Vec::new(),
                });
            }
        }
        tunnels
    }

    /// Whether two roads share a node near a point. If so, neither passes over the other there.
    fn meet(&self, upper: &Line<'_>, lower: &Line<'_>, point: DVec2) -> bool {
        let ends = |road: &Road| -> [NodeId; 2] { [road.from, road.to] };
        let reach = upper.of.reach + lower.of.reach + CLEAR_OF_NODE;
        let shared = ends(upper.road)
            .into_iter()
            .filter(|node| ends(lower.road).contains(node));
        let mut nodes = shared.filter_map(|node| self.scenario.network().node(node));
        nodes.any(|node| node.position().distance(point) < reach)
    }

    /// Finds the parts of a road that pass over or below something. At a distance along the road,
    /// `below` returns the height difference, m, or `None` if there is no overlap.
    fn overlaps(&self, line: &Line<'_>, below: impl Fn(f64) -> Option<f64>) -> Vec<Overlap> {
        let mut found: Vec<Overlap> = Vec::new();
        let mut before: Option<f64> = None;
        let mut open = false;
        for s in self.distances(line) {
            match (below(s), found.last_mut().filter(|_| open)) {
                (Some(clearance), Some(last)) => {
                    last.to = s;
                    last.clearance = last.clearance.max(clearance);
                }
                (Some(clearance), None) => {
                    let from = before.map_or(s, |before| border(s, before, &below));
                    found.push(Overlap {
                        from,
                        to: s,
                        clearance,
                    });
                    open = true;
                }
                (None, Some(last)) => {
                    last.to = border(last.to, s, &below);
                    open = false;
                }
                (None, None) => {}
            }
            before = Some(s);
        }
        found
    }

    /// Extends overlaps by the approaches of decks, and joins overlaps that touch afterwards.
    fn with_approaches(&self, line: &Line<'_>, overlaps: Vec<Overlap>) -> Vec<Overlap> {
        let Some((from, to)) = self.layout.remaining(line.of.id, line.road) else {
            return Vec::new();
        };
        let mut joined: Vec<Overlap> = Vec::new();
        for mut overlap in overlaps {
            overlap.from = (overlap.from - APPROACH).max(from);
            overlap.to = (overlap.to + APPROACH).min(to);
            match joined.last_mut().filter(|last| last.to >= overlap.from) {
                Some(last) => {
                    last.to = overlap.to;
                    last.clearance = last.clearance.max(overlap.clearance);
                }
                None => joined.push(overlap),
            }
        }
        joined
    }
}

/// Finds the end of an overlap between a distance inside it and a distance outside it, to within a few
/// centimetres.
fn border(inside: f64, outside: f64, below: impl Fn(f64) -> Option<f64>) -> f64 {
    let (mut inside, mut outside) = (inside, outside);
    for _ in 0..5 {
        let middle = 0.5 * (inside + outside);
        match below(middle) {
            Some(_) => inside = middle,
            None => outside = middle,
        }
    }
    inside
}

/// Creates the deck or roof over an overlap.
fn deck(line: &Line<'_>, kind: SpanKind, overlap: Overlap) -> Span {
    let mut span = Span {
        kind,
        road: line.of.id,
        layer: line.road.layer,
        from: overlap.from,
        to: overlap.to,
        clearance: overlap.clearance,
        outline: Vec::new(),
    };
    let mut outline = edge(line.road, &span, Side::Left, PARAPET);
    outline.extend(
        edge(line.road, &span, Side::Right, PARAPET)
            .into_iter()
            .rev(),
    );
    span.outline = outline;
    span
}

/// A part of a road that passes over or below something.
struct Overlap {
    from: f64,
    to: f64,
    clearance: f64,
}
