//! The islands of roundabouts.
//!
//! A ring is a closed chain of one-way roads. In right-hand traffic, the inside is to the left of the roads.
//! The area inside the carriageway is the island.

use crate::painter::{Painter, Pass};
use crate::palette::{KERB, MEDIAN, rgb};
use crate::road::{KERB_WIDTH, MIN_KERB_SCALE};
use glam::DVec2;
use roadwright_geometry::polygon;
use roadwright_scenario::junction::Layout;
use roadwright_scenario::{DrivingSide, NodeId, Road, RoadId, Scenario};
use std::collections::BTreeSet;

/// Maximum area of an island, m^2: the area inside a ring with a diameter of 80 m. Larger areas are ordinary
/// blocks.
const LARGEST: f64 = 5_000.0;
/// Maximum number of roads in a ring.
const MOST_ROADS: usize = 64;

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
        // Each ring is drawn only once, even if its roads are drawn in several calls.
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
        canvas.polygon(&edge, rgb(MEDIAN));
        // An island without a pavement has its own kerb, whose outer half is covered by the carriageway.
        if !has_pavement && canvas.scale() >= MIN_KERB_SCALE {
            canvas.begin(Pass::Kerb);
            canvas.edge(&edge, 2.0 * KERB_WIDTH, 2.0, rgb(KERB));
        }
    }
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
