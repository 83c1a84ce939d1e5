//! Polyline of a route on lanes, for display: the centre lines of its lanes, connected by lane changes.

use super::{Goal, Route};
use roadwright_geometry::DVec2;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex};

/// Maximum distance between consecutive points of a line, m.
const STEP: f64 = 2.0;

/// Length of each half of a drawn lane change, m. It is shorter if there is less space.
const HALF_OF_CHANGE: f64 = 10.0;

/// A part of a route on one lanelet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) lanelet: LaneletIndex,
    /// Start (`from`) and end (`to`) on the lanelet, m.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Whether the stretch begins and whether it ends with a lane change.
    changes: (bool, bool),
}

impl Stretch {
    pub(crate) fn length(&self) -> f64 {
        self.to - self.from
    }

    /// Appends the points of the stretch. A lane change is drawn as a straight line from the last point to
    /// the first point of the next stretch.
    pub(crate) fn append_to(&self, points: &mut Vec<DVec2>, graph: &LaneGraph) {
        let room = HALF_OF_CHANGE.min(0.4 * self.length());
        let cut = |is_change: bool| if is_change { room } else { 0.0 };
        let (from, to) = (
            self.from + cut(self.changes.0),
            self.to - cut(self.changes.1),
        );
        let line = graph.line(self.lanelet);
        // The points are evenly spaced, so that the last one coincides with the end.
        let steps = ((to - from) / STEP).ceil().max(1.0);
        for step in 0..=steps as usize {
            points.push(line.position(from + (to - from) * step as f64 / steps));
        }
    }
}

impl Route {
    /// Stretches of the route from the given position on lanelet `at` to the end.
    ///
    /// If the route changes lanes on a road, the lanes share the rest of the road equally, because
    /// the actual places of lane changes depend on other vehicles.
    pub(crate) fn stretches(
        &self,
        graph: &LaneGraph,
        at: u32,
        s: f64,
    ) -> impl Iterator<Item = Stretch> {
        // Index of the first lane on the road, number of lanes there, and the remaining part of the road.
        let mut lanes = (at, 0);
        let mut part = (0.0, 1.0);
        let first = at;
        (at..self.lanelets.len() as u32).map(move |at| {
            if at == first || at >= lanes.0 + lanes.1 {
                lanes = (at, self.lane_changes_from(at, graph) + 1);
                let begin = if at == first { s } else { 0.0 };
                part = self.part_of_road(graph, lanes.0, lanes.1, begin);
            }
            let (nth, count) = (at - lanes.0, f64::from(lanes.1));
            let lanelet = self.lanelets[at as usize];
            let place = |nth: u32| {
                let share = part.0 + (part.1 - part.0) * f64::from(nth) / count;
                share * graph.lanelet(lanelet).length()
            };
            Stretch {
                lanelet,
                from: place(nth),
                to: place(nth + 1),
                changes: (nth > 0, nth + 1 < lanes.1),
            }
        })
    }

    /// Returns the part of a road that is driven, as fractions of its length. It begins at position
    /// `begin` on the first of `count` lanes. It ends at the goal if the goal is on the last of
    /// these lanes, and otherwise at the end of the road.
    fn part_of_road(&self, graph: &LaneGraph, first: u32, count: u32, begin: f64) -> (f64, f64) {
        let (first, last) = (first, first + count - 1);
        let length = |at: u32| graph.lanelet(self.lanelets[at as usize]).length();
        let from = begin / length(first);
        let to = match self.goals.last() {
            Some(Goal::Lane { s, .. }) if self.lanelet(last + 1).is_none() => s / length(last),
            _ => 1.0,
        };
        (from, to.max(from))
    }
}
