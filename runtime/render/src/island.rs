//! The islands of roundabouts.
//!
//! A ring is a closed chain of one-way roads. In right-hand traffic, the inside is to the left of the roads.
//! The area inside the carriageway is the island. On small rings with one lane, it has an apron of setts, over which the
//! rear wheels of long vehicles may roll.

use crate::painter::{Painter, Pass};
use crate::palette::{APRON, KERB, MEDIAN, SETT_JOINT, faded, rgb};
use crate::road::{KERB_WIDTH, MIN_KERB_SCALE};
use glam::DVec2;
use roadwright_geometry::{polygon, unit};
use roadwright_scenario::junction::Layout;
use roadwright_scenario::{DrivingSide, LaneType, NodeId, Road, RoadId, Scenario};
use std::collections::BTreeSet;
use std::f64::consts::{PI, TAU};

/// Maximum area of an island, m^2: the area inside a ring with a diameter of 80 m. Larger areas are ordinary
/// blocks.
const LARGEST: f64 = 5_000.0;
/// Maximum number of roads in a ring.
const MOST_ROADS: usize = 64;

/// Width of an apron, m, and its largest share of the radius of the island.
const APRON_WIDTH: (f64, f64) = (2.4, 0.3);
/// Radius of the largest island with an apron, m. Long vehicles need none on larger rings.
const LARGEST_WITH_APRON: f64 = 18.0;
/// Minimum width of an apron, m. Narrower ones are left out.
const LEAST_APRON: f64 = 0.8;
/// Distance between joints of setts around an apron, m, and number of rows of setts.
const SETTS: (f64, u32) = (0.6, 3);
/// Width of a joint between setts, m.
const JOINT: f64 = 0.04;
/// Scale from which joints between setts are drawn, pixels per metre.
const JOINT_SCALE: f64 = 10.0;

/// Draws the islands of the rings whose first road is among the given roads.
pub(crate) fn draw(
    canvas: &mut impl Painter,
    scenario: &Scenario,
    layout: &Layout,
    roads: &[RoadId],
) {
    let mut done: BTreeSet<RoadId> = BTreeSet::new();
    for &id in roads.iter().filter(|id| layout.rings.contains(id)) {
        let Some(chain) = chain(scenario, layout, id).filter(|_| !done.contains(&id)) else {
            continue;
        };
        done.extend(&chain);
        // Draws each ring only once, even if its roads are drawn in several calls.
        if chain
            .iter()
            .min()
            .is_none_or(|first| !roads.contains(first))
        {
            continue;
        }
        let (edge, has_pavement) = inside(canvas.tolerance(), scenario, &chain);
        if edge.len() < 3 || polygon::signed_area(&edge).abs() > LARGEST {
            continue;
        }
        canvas.begin(Pass::Ground);
        match apron_width(scenario, &chain, &edge).filter(|_| !has_pavement) {
            Some(width) => apron(canvas, &edge, width),
            None => canvas.polygon(&edge, rgb(MEDIAN)),
        }
        // An island without a pavement has its own kerb, whose outer half is covered by the carriageway.
        if !has_pavement && canvas.scale() >= MIN_KERB_SCALE {
            canvas.begin(Pass::Kerb);
            canvas.edge(&edge, 2.0 * KERB_WIDTH, 2.0, rgb(KERB));
        }
    }
}

/// Returns the width of the apron around an island, m; `None` if it has none.
fn apron_width(scenario: &Scenario, chain: &[RoadId], edge: &[DVec2]) -> Option<f64> {
    let roads = chain.iter().filter_map(|id| scenario.network().road(*id));
    let has_one_lane = |road: &Road| {
        let lanes = road.section_at(0.5 * road.length()).lanes.iter();
        lanes.filter(|lane| lane.kind != LaneType::Sidewalk).count() == 1
    };
    let radius = (polygon::signed_area(edge).abs() / PI).sqrt();
    let (most, share) = APRON_WIDTH;
    let width = most.min(share * radius);
    let is_needed = radius <= LARGEST_WITH_APRON && width >= LEAST_APRON;
    (is_needed && roads.into_iter().all(has_one_lane)).then_some(width)
}

/// Draws an island with an apron of setts and the kerb between both.
fn apron(canvas: &mut impl Painter, edge: &[DVec2], width: f64) {
    let rows = (1..=SETTS.1).map(|row| inset(edge, width * f64::from(row) / f64::from(SETTS.1)));
    let rows: Vec<Vec<DVec2>> = rows.collect();
    canvas.polygon(edge, rgb(APRON));
    let Some((lawn, joints)) = rows.split_last().filter(|(lawn, _)| lawn.len() > 2) else {
        return;
    };
    if canvas.nearest_scale() >= JOINT_SCALE {
        let color = faded(SETT_JOINT, 0.7);
        for row in joints {
            canvas.edge(row, JOINT, 0.0, color);
        }
        for [outer, inner] in spokes(edge, lawn) {
            canvas.line(&[outer, inner], JOINT, 0.0, color);
        }
    }
    canvas.polygon(lawn, rgb(MEDIAN));
    if canvas.scale() >= MIN_KERB_SCALE {
        canvas.edge(lawn, KERB_WIDTH, 1.5, rgb(KERB));
    }
}

/// Returns the outline at a distance inside a polygon, m. Parts that would be closer than that to
/// another edge are left out.
fn inset(edge: &[DVec2], by: f64) -> Vec<DVec2> {
    let inward = inward(edge);
    let moved = edge
        .iter()
        .zip(inward)
        .map(|(point, normal)| *point + by * normal);
    let is_clear = |point: &DVec2| polygon::boundary_distance(edge, *point) > 0.98 * by - 0.02;
    moved.filter(is_clear).collect()
}

/// Returns a unit vector for each corner of a polygon, which points to the inside.
fn inward(edge: &[DVec2]) -> impl Iterator<Item = DVec2> + '_ {
    let turn = polygon::signed_area(edge).signum();
    let count = edge.len();
    (0..count).map(move |i| {
        let (before, after) = (edge[(i + count - 1) % count], edge[(i + 1) % count]);
        turn * (after - before).perp().normalize_or_zero()
    })
}

/// Returns joints across an apron, from the outer to the inner edge, at even bearings from the
/// middle.
fn spokes(edge: &[DVec2], lawn: &[DVec2]) -> Vec<[DVec2; 2]> {
    let middle = polygon::centroid(edge);
    let length: f64 = polygon::edges(edge).map(|(a, b)| (b - a).length()).sum();
    // A multiple of four, so that the mirror image has the same joints.
    let count = 4 * ((0.25 * length / SETTS.0).round().clamp(2.0, 100.0) as u32);
    let spoke = |i: u32| {
        let direction = unit(TAU * f64::from(i) / f64::from(count));
        Some([edge, lawn].map(|ring| crossing(ring, middle, direction)))
            .and_then(|[outer, inner]| Some([outer?, inner?]))
    };
    (0..count).filter_map(spoke).collect()
}

/// Returns the point where a ray leaves a polygon.
fn crossing(ring: &[DVec2], from: DVec2, direction: DVec2) -> Option<DVec2> {
    polygon::edges(ring).find_map(|(a, b)| {
        let along = b - a;
        let cross = direction.perp_dot(along);
        let (ahead, share) = (
            (a - from).perp_dot(along) / cross,
            (a - from).perp_dot(direction) / cross,
        );
        let is_hit = cross != 0.0 && ahead > 0.0 && (0.0..=1.0).contains(&share);
        is_hit.then(|| from + ahead * direction)
    })
}

/// Returns the roads of a ring in driving order, starting from one of them; `None` if they do not form a
/// ring.
fn chain(scenario: &Scenario, layout: &Layout, first: RoadId) -> Option<Vec<RoadId>> {
    let network = scenario.network();
    let side = scenario.about().driving_side;
    let ends = |id: RoadId| -> Option<(NodeId, NodeId)> {
        let road = network.road(id)?;
        let forward = is_forward(road, side);
        Some(if forward {
            (road.from, road.to)
        } else {
            (road.to, road.from)
        })
    };
    let (start, mut at) = ends(first)?;
    let mut chain = vec![first];
    while at != start {
        let here = network.ends_at(at).into_iter().map(|(id, _)| id);
        let next = here
            .filter(|id| layout.rings.contains(id) && !chain.contains(id))
            .find(|id| ends(*id).is_some_and(|(from, _)| from == at))?;
        chain.push(next);
        at = ends(next)?.1;
        if chain.len() > MOST_ROADS {
            return None;
        }
    }
    Some(chain)
}

/// Whether a one-way road runs in the direction of increasing s.
fn is_forward(road: &Road, side: DrivingSide) -> bool {
    road.lanes_forward(0.0, side) > 0
}

/// Returns the inner edge of a ring's carriageway, and whether there is a pavement inside it.
fn inside(tolerance: f64, scenario: &Scenario, chain: &[RoadId]) -> (Vec<DVec2>, bool) {
    let side = scenario.about().driving_side;
    let mut points = Vec::new();
    let mut has_pavement = false;
    for road in chain.iter().filter_map(|id| scenario.network().road(*id)) {
        let forward = is_forward(road, side);
        // In right-hand traffic, the island is on the left.
        let is_left = forward == (side == DrivingSide::Right);
        let pick = |(right, left): (f64, f64)| if is_left { left } else { right };
        let mut distances = road.reference_line.sample_distances(tolerance, 0.0);
        if !forward {
            distances.reverse();
        }
        has_pavement |= (pick(road.edges(0.0)) - pick(road.carriageway(0.0))).abs() > 0.05;
        let edge = distances
            .iter()
            .map(|&s| road.reference_line.point(s, pick(road.carriageway(s))));
        // The last point of a road is the first point of the next road.
        let count = distances.len().saturating_sub(1);
        points.extend(edge.take(count));
    }
    (points, has_pavement)
}
