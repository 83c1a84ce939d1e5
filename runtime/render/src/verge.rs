//! Verges: the ground beside fast roads without pavements.
//!
//! ```text
//!   . . . . . . . . . .   earth beside the outer edge
//!   ===================
//!   - - - - - - - - - -   carriageway
//!   ===================
//!   -------------------   guard rail, on the strip of grass beside the inner edge of a motorway: two such strips
//!   . . . . . . . . . .   are the median between two carriageways
//! ```

use crate::bridge::{Bridges, Side, SpanKind};
use crate::marking::{RURAL, is_one_way};
use crate::painter::{Painter, Pass};
use crate::palette::{MEDIAN, RAIL, SAND, rgb};
use crate::road::{self, MIN_KERB_SCALE, Stretch};
use roadwright_scenario::junction::{Junction, Layout};
use roadwright_scenario::{DrivingSide, Road, RoadClass, RoadId, Scenario};
use std::ops::Range;

/// Width of earth beside a carriageway, m.
const EARTH: f64 = 1.5;
/// Width of grass beside the inner edge of a motorway, m: half of a median.
const GRASS: f64 = 2.0;
/// Distance of a guard rail from the edge of the carriageway, m.
pub(crate) const BEFORE_RAIL: f64 = 0.65;
/// Width of a guard rail, m.
pub(crate) const RAIL_WIDTH: f64 = 0.25;
/// Width of the part of a verge that lies below the carriageway, m.
const BELOW: f64 = 0.2;

/// Draws the ground beside roads: the verges of fast roads, except on bridges and in tunnels, and
/// the embankments that lead to bridges. Call this before any other part of the roads is drawn.
pub fn verges(
    painter: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    bridges: &Bridges,
    roads: &[RoadId],
    junctions: &[&Junction],
) {
    if painter.scale() < MIN_KERB_SCALE {
        return;
    }
    bridges.draw_embankments(painter, scenario, layout, roads);
    let has_verge = |id: &RoadId| scenario.network().road(*id).is_some_and(has_verge);
    let fast: Vec<RoadId> = roads.iter().copied().filter(has_verge).collect();
    let side = scenario.about().driving_side;
    painter.begin(Pass::Ground);
    for junction in junctions {
        if junction.arms.iter().all(|arm| has_verge(&arm.road)) {
            let outline = junction.polygon_within(painter.tolerance());
            painter.edge(&outline, 2.0 * EARTH, 0.0, rgb(SAND));
        }
    }
    let stretches = road::stretches(scenario, layout, &fast, painter.tolerance());
    for stretch in &stretches {
        for part in open_parts(stretch, bridges) {
            for edge in [Side::Left, Side::Right] {
                beside(painter, stretch, &part, edge, side);
            }
        }
    }
}

/// Whether the ground beside a road without pavements is a verge.
fn has_verge(road: &Road) -> bool {
    road.speed_limit >= RURAL && road.class != RoadClass::Path && road.layer >= 0
}

/// Returns the parts of a stretch without decks, in metres along the road.
fn open_parts(stretch: &Stretch<'_>, bridges: &Bridges) -> Vec<Range<f64>> {
    let (mut from, to) = stretch.range();
    let mut parts = Vec::new();
    let decks = bridges.of_road(stretch.id);
    for deck in decks.filter(|span| span.kind == SpanKind::Deck) {
        parts.push(from..deck.from.min(to));
        from = from.max(deck.to);
    }
    parts.push(from..to);
    parts.retain(|part| part.end - part.start > 0.01);
    parts
}

/// Draws the verge on one side of a part of a stretch.
fn beside(
    painter: &mut impl Painter,
    stretch: &Stretch<'_>,
    part: &Range<f64>,
    edge: Side,
    side: DrivingSide,
) {
    let road = stretch.road;
    let middle = 0.5 * (part.start + part.end);
    let outside = |(right, left): (f64, f64), by: f64| edge.outside(right, left, by);
    if (outside(road.edges(middle), 0.0) - outside(road.carriageway(middle), 0.0)).abs() > 0.05 {
        return;
    }
    // In right-hand traffic, the inner edge is to the left of the driving direction.
    let is_forward = road.lanes_forward(middle, side) > 0;
    let is_inner = (edge == Side::Left) == (is_forward == (side == DrivingSide::Right));
    let has_rail = road.class == RoadClass::Motorway && is_one_way(road) && is_inner;
    let (width, color) = if has_rail {
        (GRASS, MEDIAN)
    } else {
        (EARTH, SAND)
    };
    let line = |beyond: f64| {
        stretch.part((part.start, part.end), |s| {
            outside(road.carriageway(s), beyond)
        })
    };
    let mut band = line(-BELOW);
    band.extend(line(width).into_iter().rev());
    painter.polygon(&band, rgb(color));
    if has_rail {
        painter.line(&line(BEFORE_RAIL), RAIL_WIDTH, 1.0, rgb(RAIL));
    }
}
