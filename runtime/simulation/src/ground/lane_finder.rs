//! Finds the lanelets at a place.

use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex};

/// A vehicle is on a lane within this distance and turn, m and rad.
pub(crate) const LANE_REACH: f64 = 3.0;
const LANE_TURN: f64 = 0.9;
/// Cell of the index over the lanes, m.
const CELL: f64 = 12.0;
/// How far away from all lanes a place may be, m.
const FAR: f64 = 100.0;

/// An index over the lanes of a graph, which it does not hold.
pub(crate) struct LaneFinder {
    grid: GridIndex,
    /// Lanelet and distance of each point in the grid.
    points: Vec<(LaneletIndex, f64)>,
}

/// A lanelet with the distance along and to the left of it, m.
pub(crate) type Spot = (LaneletIndex, f64, f64);

impl LaneFinder {
    pub(crate) fn new(graph: &LaneGraph) -> Self {
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

    /// The lanelets within a distance of a place, each with how far it misses it.
    pub(super) fn around(&self, graph: &LaneGraph, place: DVec2, reach: f64) -> Vec<(f64, Spot)> {
        let mut found: Vec<(f64, Spot)> = Vec::new();
        // Points lie half a cell apart at most: of a lane that comes within the reach one is found with
        // a cell more.
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

    /// Lanelets under a pose, the best first.
    pub(crate) fn under(&self, graph: &LaneGraph, pose: Pose) -> Vec<Spot> {
        let around = self.around(graph, pose.position, LANE_REACH);
        let fitting = around.into_iter().filter_map(|(miss, spot)| {
            let heading = graph.line(spot.0).heading(spot.1);
            let turn = wrap_angle(heading - pose.heading).abs();
            // A lane that leads where the vehicle heads is better than one that is a little closer: one
            // radian counts as much as two metres.
            (turn < LANE_TURN).then_some((miss + 2.0 * turn, spot))
        });
        in_order(fitting.collect())
    }

    /// Lanes near a place, the nearest first.
    pub(crate) fn near(&self, graph: &LaneGraph, place: DVec2) -> Vec<Spot> {
        let lanes = |reach: f64| -> Vec<(f64, Spot)> {
            let around = self.around(graph, place, reach).into_iter();
            around
                .filter(|(_, spot)| !graph.lanelet(spot.0).is_connection())
                .collect()
        };
        // Most places are beside a road; a search over 100 m finds hundreds of points.
        let close = lanes(CELL);
        in_order(if close.is_empty() { lanes(FAR) } else { close })
    }
}

fn in_order(mut found: Vec<(f64, Spot)>) -> Vec<Spot> {
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.0.cmp(&b.1.0)));
    found.into_iter().map(|(_, spot)| spot).collect()
}
