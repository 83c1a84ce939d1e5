//! Finds the lanelets at or near a position.

use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex};

/// Distance from the centre line within which a vehicle counts as being on a lane, m.
pub const LANE_REACH: f64 = 3.0;
/// Maximum difference between the headings of a vehicle and a lane at which the vehicle counts as
/// being on the lane, rad.
const LANE_TURN: f64 = 0.9;
/// Cell size of the index over the lanes, m.
const CELL: f64 = 12.0;
/// Maximum distance from a position at which a lane is found, m.
const FAR: f64 = 100.0;

/// Index over the lanes of a graph. It does not own the graph.
pub struct LaneFinder {
    grid: GridIndex,
    /// For each point of the grid, its lanelet and the distance along it.
    points: Vec<(LaneletIndex, f64)>,
}

/// A lanelet, with the distance along it and the distance to the left of it, m.
pub type Spot = (LaneletIndex, f64, f64);

impl LaneFinder {
    pub(super) fn new(graph: &LaneGraph) -> Self {
        let (mut points, mut positions) = (Vec::new(), Vec::new());
        for (id, lanelet) in graph.numbered() {
            let samples = (lanelet.length() / (0.5 * CELL)).ceil().max(1.0) as usize;
            for i in 0..=samples {
                let s = lanelet.length() * i as f64 / samples as f64;
                points.push((id, s));
                positions.push(graph.line(id).position(s));
            }
        }
        let mut grid = GridIndex::new();
        grid.rebuild(&positions, CELL);
        Self { grid, points }
    }

    /// Returns the lanelets within `reach` of a position, each with its distance from the position,
    /// m.
    pub(super) fn around(&self, graph: &LaneGraph, place: DVec2, reach: f64) -> Vec<(f64, Spot)> {
        let mut found: Vec<(f64, Spot)> = Vec::new();
        // Points are at most half a cell apart, so extending the search by one cell finds a point
        // of every lane within reach.
        self.grid
            .for_each_within(place, reach + CELL, |point, _: DVec2| {
                let (lanelet, guess) = self.points[point as usize];
                let line = graph.line(lanelet);
                let (s, t) = line.project(place, guess);
                let s = s.clamp(0.0, line.length());
                let miss = (line.position(s) - place).length();
                let known = found.iter_mut().find(|candidate| candidate.1.0 == lanelet);
                match known {
                    Some(known) if known.0 <= miss => {}
                    Some(known) => *known = (miss, (lanelet, s, t)),
                    None if miss < reach => found.push((miss, (lanelet, s, t))),
                    None => {}
                }
            });
        found
    }

    /// Returns the lanes and connections at ground level whose surface, widened by `beyond` metres,
    /// contains a position.
    pub fn covering(&self, graph: &LaneGraph, place: DVec2, beyond: f64) -> Vec<Spot> {
        let around = self.around(graph, place, LANE_REACH + beyond);
        let spots = around.into_iter().map(|(_, spot)| spot);
        let mut covering: Vec<Spot> = spots
            .filter(|&(id, s, t)| {
                let lanelet = graph.lanelet(id);
                // Beyond the ends of a lanelet, the offset is measured along its end.
                let is_beside = (0.0..=lanelet.length()).contains(&s)
                    && (graph.line(id).position(s) - place).length()
                        <= 0.5 * lanelet.width + beyond;
                lanelet.layer == 0 && is_beside && t.abs() <= 0.5 * lanelet.width + beyond
            })
            .collect();
        covering.sort_by_key(|spot| spot.0);
        covering
    }

    /// Returns the lanelets under a pose, best match first.
    pub fn under(&self, graph: &LaneGraph, pose: Pose) -> Vec<Spot> {
        let around = self.around(graph, pose.position, LANE_REACH);
        let fitting = around.into_iter().filter_map(|(miss, spot)| {
            let heading = graph.line(spot.0).heading(spot.1);
            let turn = wrap_angle(heading - pose.heading).abs();
            // A lane in the direction of the vehicle is a better match than a lane that is slightly
            // closer: one radian counts as much as two metres.
            (turn < LANE_TURN).then_some((miss + 2.0 * turn, spot))
        });
        in_order(fitting.collect())
    }

    /// Returns the lanes near a position, nearest lane first.
    pub fn near(&self, graph: &LaneGraph, place: DVec2) -> Vec<Spot> {
        let lanes = |reach: f64| -> Vec<(f64, Spot)> {
            let around = self.around(graph, place, reach).into_iter();
            around
                .filter(|(_, spot)| !graph.lanelet(spot.0).is_connection())
                .collect()
        };
        // Most positions are close to a road, and a search within 100 m would find hundreds of
        // points.
        let close = lanes(CELL);
        in_order(if close.is_empty() { lanes(FAR) } else { close })
    }
}

fn in_order(mut found: Vec<(f64, Spot)>) -> Vec<Spot> {
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.0.cmp(&b.1.0)));
    found.into_iter().map(|(_, spot)| spot).collect()
}
