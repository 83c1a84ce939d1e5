//! Roundabouts: a ring of one-way roads around a point, where approaching roads end.
//!
//! ```text
//!            |                        |
//!            |                     .--o--.
//!            |                    /       \       Everything inside the circle is deleted: pieces of
//!     -------+-------    ->   ---o    +    o---   roads, and junctions. Roads are cut where they cross
//!            |                    \       /       the circle, and the ring joins these points. Streets
//!            |                     '--o--'        widen towards the ring.
//!            |                        |
//! ```

use super::flare::flared;
use super::{DrawError, JOIN_DISTANCE, Joint, MIN_PIECE, RoadStyle, StrokeEnd, road, split};
use crate::driving_side::DrivingSide;
use crate::edit::Edit;
use crate::ids::{NodeId, ObjectId, RoadId};
use crate::junction::{self, rings};
use crate::lane_type::LaneType;
use crate::operation::deleted;
use crate::operation::draft::Draft;
use crate::road::{CrossSection, Lane, Road, RoadClass, RoadEnd};
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::{GeometryError, Pose, ReferenceLine, Segment, heading_of, unit};
use std::collections::BTreeSet;
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::RangeInclusive;

/// Range of radii of the centre line of the ring's lane, m. Smaller roundabouts are mini
/// roundabouts, which are a form of junction control.
pub const RING_RADIUS: RangeInclusive<f64> = 8.0..=100.0;
/// Radius of a ring whose size the user does not choose, m.
pub const DEFAULT_RADIUS: f64 = 15.0;
/// Radii to try for a junction where a ring of [`DEFAULT_RADIUS`] does not fit, m.
const OTHER_RADII: [f64; 4] = [18.0, 12.0, 22.0, 10.0];
/// Width of the lane in the smallest rings and in large rings, m. Buses need more width in tight rings.
const WIDTH: (f64, f64) = (5.8, 4.5);
/// Ring radii to which the two widths apply, m.
const WIDTH_AT: (f64, f64) = (14.0, 27.0);
/// Maximum speed limit of a ring, m/s.
const FASTEST: f64 = 30.0 / 3.6;

/// Spacing of the points at which a line is tested against a circle, m. Testing only the ends of a
/// straight line would miss a line that crosses the circle and has both ends outside it.
const STEP: f64 = 1.0;

/// A point where a road meets a ring.
struct Arm {
    /// Bearing from the centre, rad.
    bearing: f64,
    class: RoadClass,
    /// Width of the wider of the arm's pavements, m; 0 if it has none.
    pavement: f64,
}

/// Returns the edit that places a roundabout with one lane around a point, on the given layer.
/// `radius` is the radius of the lane's centre line in metres, and has to be within
/// [`RING_RADIUS`].
///
/// Roads are cut where they cross the circle, and everything inside it is removed as if it were
/// [deleted], including agents that start inside and flows from or to it. The ring is driven in the
/// direction of the scenario's driving side. It has the class of its most important arm, and a
/// pavement on the outside if any arm has one. Streets that are long enough widen around an island
/// over their last 28 m.
///
/// # Errors
/// If the radius is out of range, or a road ends too close to the circle to be cut there.
pub fn roundabout(
    scenario: &Scenario,
    centre: DVec2,
    radius: f64,
    layer: i8,
) -> Result<Edit, DrawError> {
    if !RING_RADIUS.contains(&radius) {
        return Err(DrawError::RingRadius(radius));
    }
    let mut draft = Draft::of(scenario);
    let mut arms = Vec::new();
    for (id, cuts) in cut_roads(scenario, centre, radius, layer)? {
        // Starts with the last cut, because the first part of a road keeps the id and the
        // distances.
        for &s in cuts.iter().rev() {
            draft.apply(split(draft.now(), id, s)?)?;
        }
        arms.extend(cuts.iter().filter_map(|&s| {
            let road = scenario.network().road(id)?;
            let place = road.reference_line.pose(s).position;
            let (left, right) = junction::Arm::new(id, road, RoadEnd::Start).pavements(s);
            Some(Arm {
                bearing: heading_of(place - centre),
                class: road.class,
                pavement: left.max(right),
            })
        }));
    }
    let is_inside =
        |line: &ReferenceLine| (line.pose(0.5 * line.length()).position - centre).length() < radius;
    let roads = draft.now().network().roads();
    let inside = roads.filter(|(_, road)| road.layer == layer && is_inside(&road.reference_line));
    let inside = inside.map(|(id, _)| ObjectId::Road(id)).collect();
    draft.apply(deleted(draft.now(), &inside))?;
    for (road, end) in ends_on(draft.now(), centre, radius, layer) {
        if let Some(edit) = flared(draft.now(), road, end, radius) {
            draft.apply(edit)?;
        }
    }
    let style = style(&arms, radius, layer);
    let first = draft.now().network().next_road_id();
    for line in arcs(&arms, centre, radius, scenario.about().driving_side)? {
        draft.apply(road(draft.now(), &line, &style)?)?;
    }
    let pavement = arms.iter().map(|arm| arm.pavement).fold(0.0, f64::max);
    let pieces = draft.now().network().roads().map(|(id, _)| id);
    let pieces: Vec<RoadId> = pieces.filter(|id| *id >= first).collect();
    for edit in paved(draft.now(), &pieces, pavement) {
        draft.apply(edit)?;
    }
    Ok(draft.edit())
}

/// Returns the edit that replaces a junction, given by its nodes, by a roundabout around its middle. The radius is
/// 15 m, or the first of 18, 12, 22 and 10 m that the roads leave room for. Roads on other layers stay as they are.
///
/// # Errors
/// If a road of the junction already belongs to a ring, or no radius fits; the error is then that of 15 m.
pub fn roundabout_at(scenario: &Scenario, nodes: &[NodeId]) -> Result<Edit, DrawError> {
    let network = scenario.network();
    let rings = rings::rings(network, scenario.about().driving_side);
    let ends = nodes.iter().flat_map(|node| network.ends_at(*node));
    let roads: BTreeSet<RoadId> = ends.map(|(road, _)| road).collect();
    if roads.iter().any(|road| rings.contains(road)) {
        return Err(DrawError::AlreadyRing);
    }
    let centre = network.centre(nodes);
    let layers = roads.iter().filter_map(|id| network.road(*id));
    let layer = layers.map(|road| road.layer).max().unwrap_or(0);
    let ring = |radius| roundabout(scenario, centre, radius, layer);
    ring(DEFAULT_RADIUS).or_else(|error| {
        let mut others = OTHER_RADII.into_iter().map(ring);
        others.find_map(Result::ok).ok_or(error)
    })
}

/// Completes the edit of a new road, whose ends have the given joints: a street that ends on a ring widens towards it,
/// and the ring gets a pavement on the outside if the street has one. O(one-way roads) if an end joins a one-way road,
/// otherwise O(1).
pub(super) fn with_arms(
    scenario: &Scenario,
    edit: Edit,
    ends: &[StrokeEnd; 2],
) -> Result<Edit, DrawError> {
    let network = scenario.network();
    let side = scenario.about().driving_side;
    let is_one_way = |id: RoadId| {
        let road = network.road(id);
        road.is_some_and(|road| rings::is_one_way(road, side))
    };
    let meets_one_way = |end: &StrokeEnd| match &end.joint {
        Joint::Node(node) => network.ends_at(*node).iter().any(|(id, _)| is_one_way(*id)),
        Joint::Road { road, .. } => is_one_way(*road),
        Joint::SlipRoad(_) | Joint::Free => false,
    };
    if !ends.iter().any(meets_one_way) {
        return Ok(edit);
    }
    let first = network.next_road_id();
    let mut draft = Draft::of(scenario);
    draft.apply(edit)?;
    let rings = rings::rings(draft.now().network(), side);
    for (id, end, ring) in new_arms(draft.now(), first, &rings) {
        let lines = ring.iter().filter_map(|id| draft.now().network().road(*id));
        let radius = lines.map(Road::length).sum::<f64>() / TAU;
        let Some(road) = draft.now().network().road(id) else {
            continue;
        };
        let at_ring = match end {
            RoadEnd::Start => 0.0,
            RoadEnd::End => road.length(),
        };
        let (left, right) = junction::Arm::new(id, road, end).pavements(at_ring);
        let street = flared(draft.now(), id, end, radius);
        let ring = paved(draft.now(), &ring, left.max(right));
        for edit in street.into_iter().chain(ring) {
            draft.apply(edit)?;
        }
    }
    Ok(draft.edit())
}

/// Returns the ends of new roads that are on rings, each with the roads of its ring. The ids of new
/// roads start at `first`.
fn new_arms(
    scenario: &Scenario,
    first: RoadId,
    rings: &BTreeSet<RoadId>,
) -> Vec<(RoadId, RoadEnd, Vec<RoadId>)> {
    let network = scenario.network();
    let new = network
        .roads()
        .filter(|(id, _)| *id >= first && !rings.contains(id));
    let ends = new.flat_map(|(id, road)| {
        [(RoadEnd::Start, road.from), (RoadEnd::End, road.to)].map(|(end, node)| (id, end, node))
    });
    let on_ring = ends.filter_map(|(id, end, node)| {
        let mut met = network.ends_at(node).into_iter().map(|(id, _)| id);
        let met = met.find(|id| rings.contains(id))?;
        let ring = rings::connected(network, rings, met).into_iter().collect();
        Some((id, end, ring))
    });
    on_ring.collect()
}

/// Returns the edits that add a pavement on the outside of the pieces of a ring that have none. The
/// pavement is added after the ring has been drawn. In a cross-section with a pavement, lane and
/// pavement together would be centred on the line, rather than only the lane.
fn paved(scenario: &Scenario, pieces: &[RoadId], width: f64) -> Vec<Edit> {
    if width <= 0.0 {
        return Vec::new();
    }
    let has_pavement = |road: &Road| {
        let lanes = road.lane_sections.iter().flat_map(|section| &section.lanes);
        lanes
            .into_iter()
            .any(|lane| lane.kind == LaneType::Sidewalk)
    };
    let pieces = pieces
        .iter()
        .filter_map(|id| Some((*id, scenario.network().road(*id)?)));
    let with_pavement = pieces
        .filter(|(_, road)| !has_pavement(road))
        .map(|(id, road)| {
            let mut road = road.clone();
            for section in &mut road.lane_sections {
                let out = section
                    .lanes
                    .iter()
                    .map(|lane| lane.id)
                    .max_by_key(|id| id.abs());
                let out = out.unwrap_or(0);
                let pavement = Lane::new(out + out.signum(), LaneType::Sidewalk, width);
                section.lanes.push(pavement);
                section.lanes.sort_by_key(|lane| -lane.id);
            }
            Edit::Road(id, Some(Box::new(road)))
        });
    with_pavement.collect()
}

/// Returns the ends of the roads of a layer that are on a circle.
fn ends_on(scenario: &Scenario, centre: DVec2, radius: f64, layer: i8) -> Vec<(RoadId, RoadEnd)> {
    let roads = scenario
        .network()
        .roads()
        .filter(|(_, road)| road.layer == layer);
    let ends = roads.flat_map(|(id, road)| {
        let (first, last) = (road.reference_line.start(), road.reference_line.end());
        [(first, RoadEnd::Start), (last, RoadEnd::End)]
            .map(|(pose, end)| (pose.position, (id, end)))
    });
    let on_it = ends.filter(|(at, _)| ((*at - centre).length() - radius).abs() < JOIN_DISTANCE);
    on_it.map(|(_, end)| end).collect()
}

/// Returns the roads on a layer that cross a circle, with the distances of the crossings along
/// them. Fails if a road crosses the circle close to one of its ends.
fn cut_roads(
    scenario: &Scenario,
    centre: DVec2,
    radius: f64,
    layer: i8,
) -> Result<Vec<(RoadId, Vec<f64>)>, DrawError> {
    let mut found = Vec::new();
    for (id, road) in scenario.network().roads() {
        let (low, high) = road.reference_line.bounds(radius);
        let is_near = centre.cmpge(low).all() && centre.cmple(high).all();
        if road.layer != layer || !is_near {
            continue;
        }
        let cuts = crossings(&road.reference_line, centre, radius);
        let length = road.length();
        if cuts.iter().any(|&s| s.min(length - s) < MIN_PIECE) {
            return Err(DrawError::RingMeetsEnd(id));
        }
        if !cuts.is_empty() {
            found.push((id, cuts));
        }
    }
    Ok(found)
}

/// Returns the distances along a line to its crossings with a circle, in ascending order.
fn crossings(line: &ReferenceLine, centre: DVec2, radius: f64) -> Vec<f64> {
    let beyond = |s: f64| (line.pose(s).position - centre).length() - radius;
    let length = line.length();
    let count = (length / STEP).ceil().max(1.0) as usize;
    let place = |i: usize| length * i as f64 / count as f64;
    let mut found = Vec::new();
    for i in 0..count {
        let (mut low, mut high) = (place(i), place(i + 1));
        let starts_inside = beyond(low) < 0.0;
        if starts_inside == (beyond(high) < 0.0) {
            continue;
        }
        // Bisection to full precision: 2^-40 of a few metres.
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            match (beyond(middle) < 0.0) == starts_inside {
                true => low = middle,
                false => high = middle,
            }
        }
        found.push(0.5 * (low + high));
    }
    found
}

fn style(arms: &[Arm], radius: f64, layer: i8) -> RoadStyle {
    let class = arms.iter().map(|arm| arm.class).max();
    let class = class.unwrap_or(RoadClass::Residential);
    RoadStyle {
        name: String::new(),
        class,
        layer,
        speed_limit: class.default_speed_limit().min(FASTEST),
        section: ring_section(radius),
    }
}

/// Returns the cross-section of a ring with one lane. `radius` is in metres. The smaller the
/// radius, the wider the lane.
pub fn ring_section(radius: f64) -> CrossSection {
    let share = (radius - WIDTH_AT.0) / (WIDTH_AT.1 - WIDTH_AT.0);
    let width = WIDTH.0 + (WIDTH.1 - WIDTH.0) * share.clamp(0.0, 1.0);
    CrossSection {
        forward: vec![(LaneType::Driving, width)],
        backward: Vec::new(),
    }
}

/// Returns the pieces of a ring between its arms, each in the driving direction. A ring has at
/// least two pieces.
fn arcs(
    arms: &[Arm],
    centre: DVec2,
    radius: f64,
    side: DrivingSide,
) -> Result<Vec<ReferenceLine>, GeometryError> {
    let turn = side.around();
    // Starting in the east, in the driving direction.
    let mut places: Vec<f64> = arms
        .iter()
        .map(|arm| (turn * arm.bearing).rem_euclid(TAU))
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|next, before| (*next - *before) * radius < JOIN_DISTANCE);
    match places[..] {
        [] => places = vec![0.0, PI],
        [only] => places.push(only + PI),
        _ => {}
    }
    let first = places[0] + TAU;
    let ends = places.iter().copied().skip(1).chain([first]);
    let piece = |(from, to): (f64, f64)| {
        let start = Pose {
            position: centre + radius * unit(turn * from),
            heading: turn * (from + FRAC_PI_2),
        };
        let bend = Segment::Arc {
            length: (to - from) * radius,
            curvature: turn / radius,
        };
        ReferenceLine::new(start, vec![bend])
    };
    places.iter().copied().zip(ends).map(piece).collect()
}
