//! Agents between random places that can reach each other.

use roadwright_geometry::math::Stream;
use roadwright_scenario::LaneAccess;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletId};
use std::collections::BTreeMap;

/// Shortest lane that gets a start or a destination, m.
const MIN_LANE: f64 = 12.0;
/// Least distance between two starts on one lane, m.
const SPACING: f64 = 14.0;
/// Least distance between start and destination, m, where the network is large enough.
const MIN_TRIP: f64 = 250.0;
/// Tries to find a free start, and a destination far enough away.
const TRIES: usize = 200;

/// A trip between two places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trip {
    pub(crate) from: (LaneletId, f64),
    pub(crate) to: (LaneletId, f64),
}

/// The lanes from which every other one can be reached, and places drawn from them evenly by length.
struct Places<'a> {
    graph: &'a LaneGraph,
    lanes: Vec<LaneletId>,
    /// Sum of the lengths up to the end of each lane, m.
    ends: Vec<f64>,
    stream: Stream,
}

impl<'a> Places<'a> {
    fn new(graph: &'a LaneGraph, seed: u64) -> Self {
        let lanes: Vec<LaneletId> = graph
            .main_component()
            .into_iter()
            // Only lanes that can all reach each other: whatever start and destination are drawn, there
            // is a route.
            .filter(|&id| {
                let lanelet = graph.lanelet(id);
                !lanelet.is_connection()
                    && lanelet.access == LaneAccess::All
                    && lanelet.length() >= MIN_LANE
            })
            .collect();
        let mut total = 0.0;
        let ends = lanes.iter().map(|&id| {
            total += graph.lanelet(id).length();
            total
        });
        Self {
            graph,
            ends: ends.collect(),
            lanes,
            stream: Stream::new(seed, "populate", 0),
        }
    }

    /// A place, a few metres away from the ends of its lane.
    fn draw(&mut self) -> (LaneletId, f64) {
        let total = self.ends.last().copied().unwrap_or_default();
        let at = self.stream.next_in(0.0, total);
        let lane = self.ends.partition_point(|&end| end <= at);
        let lane = lane.min(self.lanes.len() - 1);
        let length = self.graph.lanelet(self.lanes[lane]).length();
        // Away from the seams: a body of a few metres would reach into the lanelet before or after.
        let s = (at - (self.ends[lane] - length)).clamp(4.0, length - 6.0);
        (self.lanes[lane], s)
    }

    /// A place far enough from another one, or the farthest of several tries: small networks have no
    /// place that far away.
    fn draw_far_from(&mut self, from: (LaneletId, f64)) -> (LaneletId, f64) {
        let graph = self.graph;
        let start = graph.line(from.0).position(from.1);
        let distance = |to: &(LaneletId, f64)| (graph.line(to.0).position(to.1) - start).length();
        let mut best = self.draw();
        for _ in 0..TRIES {
            if distance(&best) >= MIN_TRIP {
                break;
            }
            let next = self.draw();
            if distance(&next) > distance(&best) {
                best = next;
            }
        }
        best
    }
}

/// `count` trips, spread evenly over the lanes from which every other one can be reached; none if
/// there are no such lanes. Once no place is free, trips begin where others do: their agents wait in
/// a queue at the lane.
pub(crate) fn trips(graph: &LaneGraph, count: usize, seed: u64) -> Vec<Trip> {
    let mut places = Places::new(graph, seed);
    if places.lanes.is_empty() {
        return Vec::new();
    }
    let mut taken: BTreeMap<LaneletId, Vec<f64>> = BTreeMap::new();
    let mut trips = Vec::new();
    let mut is_full = false;
    for _ in 0..count {
        // Once all tries have failed they are given up for the rest: each would fail as well.
        let tries = if is_full { 0 } else { TRIES };
        let free = (0..tries).map(|_| places.draw()).find(|&(lane, s)| {
            let mut near = taken.get(&lane).into_iter().flatten();
            !near.any(|at: &f64| (at - s).abs() < SPACING)
        });
        is_full = free.is_none();
        let from = free.unwrap_or_else(|| places.draw());
        let to = places.draw_far_from(from);
        taken.entry(from.0).or_default().push(from.1);
        trips.push(Trip { from, to });
    }
    trips
}
