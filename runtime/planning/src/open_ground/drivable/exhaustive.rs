//! Exhaustive search used to check the planner: Dijkstra's algorithm on cells of half the size, with twice as many
//! headings, 11 steering angles and both gears.

use super::super::ground::OpenGround;
use super::super::shape::Bounds;
use super::search::{DrivableSettings, DrivableTrip};
use super::surface::{Arc, Surface};
use super::vehicle::Placement;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::wrap_angle;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::f64::consts::TAU;

const CELL: f64 = 0.25;
const HEADINGS: i64 = 144;
const STEP: f64 = 0.5;
/// Position tolerance at the goal, m.
const CLOSE: f64 = 0.25;
/// Heading tolerance at the goal, rad.
const ALIGNED: f64 = TAU / HEADINGS as f64;

/// Finds the cost of the cheapest path within a square whose south-west corner is the origin;
/// `None` if there is no path.
pub(super) fn least_cost(
    ground: &mut OpenGround,
    trip: &DrivableTrip,
    settings: &DrivableSettings,
    margin: f64,
    edge: f64,
) -> Option<f64> {
    let bounds = Bounds {
        low: DVec2::ZERO,
        high: DVec2::splat(edge),
    };
    let vehicle = &trip.vehicle;
    let mut surface = Surface::new(ground, trip.profile, trip.owner, bounds, vehicle);
    let columns = (edge / CELL) as i64 + 1;
    let state = |at: &Placement, gear: i8| {
        let cell = (at.position / CELL).floor();
        let heading = (at.heading / TAU * HEADINGS as f64).round() as i64;
        let cell = cell.y as i64 * columns + cell.x as i64;
        ((cell * HEADINGS + heading.rem_euclid(HEADINGS)) * 2 + i64::from(gear < 0)) as usize
    };
    let mut costs = vec![f32::INFINITY; (columns * columns * HEADINGS * 2) as usize];
    let mut is_closed = vec![false; costs.len()];
    let start = Placement::of(trip.from);
    let room = surface.room(&vehicle.outline(start, margin))?;
    let mut nodes = vec![(start, room, trip.gear, 0.0f64)];
    let mut queue = BinaryHeap::from([Reverse((0u64, 0u32))]);
    while let Some(Reverse((_, number))) = queue.pop() {
        let (at, room, gear, cost) = nodes[number as usize];
        let own = state(&at, gear);
        if std::mem::replace(&mut is_closed[own], true) {
            continue;
        }
        let turned = trip
            .heading
            .map_or(0.0, |heading| wrap_angle(at.heading - heading).abs());
        if (at.position - trip.to).length() < CLOSE && turned < ALIGNED {
            return Some(cost);
        }
        for next_gear in [1i8, -1] {
            let change = if next_gear != gear && gear != 0 {
                settings.gear_change
            } else {
                0.0
            };
            let rate = if next_gear < 0 { settings.reverse } else { 1.0 };
            for share in -5..=5 {
                let arc = Arc {
                    curvature: f64::from(share) / 5.0 * vehicle.curvature,
                    length: STEP * f64::from(next_gear),
                };
                let end = at.moved(arc.curvature, arc.length);
                let is_inside =
                    end.position.min_element() >= 0.0 && end.position.max_element() < edge;
                if !is_inside {
                    continue;
                }
                let next = state(&end, next_gear);
                let new = cost + change + rate * surface.cost(ground, vehicle, at, arc);
                if is_closed[next] || f64::from(costs[next]) <= new {
                    continue;
                }
                let swept = surface.sweep(vehicle, margin, at, room, arc);
                let Some((end, room)) = swept else { continue };
                costs[next] = new as f32;
                nodes.push((end, room, next_gear, new));
                queue.push(Reverse(((new * 1024.0) as u64, nodes.len() as u32 - 1)));
            }
        }
    }
    None
}
