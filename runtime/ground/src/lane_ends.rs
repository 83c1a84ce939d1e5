//! Lanes that end where their road continues with fewer lanes.
//!
//! ```text
//!     lane B  --------------------------------------------------->
//!     lane A  -----------------------------'                          A ends and merges into B on a taper
//!             |<- announced: 100 to 400 m ->|<-- taper -->|
//! ```
//!
//! A lane that begins where a ramp joins is an *acceleration lane*: at its end, its vehicles yield.
//! At the end of any other lane, vehicles alternate.

use roadwright_scenario::junction::{Layout, LinkKind};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind, NO_LANELET};
use roadwright_scenario::{Connection, Control, JunctionIndex};

/// Distance from the end of a lane within which the lane is treated as ending, m.
const KNOWN_AHEAD: f64 = 500.0;
/// Maximum length of an acceleration lane, m. A longer lane from a ramp ends like any other lane.
const LONGEST_JOINING: f64 = 500.0;
/// Value that means "does not end".
const NONE: u32 = u32::MAX;

/// The end of a lane, and the rule for merging there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaneEnd {
    /// The lane beside this one that continues on the same road.
    pub beside: LaneletIndex,
    /// Distance from the start of this lanelet to the end of the lane, m. The taper begins at the
    /// end of the lane.
    pub distance: f64,
    /// Whether this is an acceleration lane, whose vehicles yield at its end.
    pub joins: bool,
}

/// All lanes that end. In most networks there are none, and the lists are empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct LaneEnds {
    /// For each lanelet, its index in the list of ends.
    of: Vec<u32>,
    ends: Vec<LaneEnd>,
    /// Connections at the ends of acceleration lanes, in ascending order.
    joining: Vec<Connection>,
    /// Junctions where a lane ends and its vehicles alternate with those of the lane beside it, in
    /// ascending order.
    alternating: Vec<JunctionIndex>,
}

impl LaneEnds {
    /// Finds the lanes that end. O(connections + lanelets of lanes that end).
    pub(super) fn new(layout: &Layout, graph: &LaneGraph) -> Self {
        let mut all = Self::default();
        for (id, lanelet) in graph.numbered() {
            let LaneletKind::Connection { junction, path, .. } = lanelet.kind else {
                continue;
            };
            let junction = &layout.junctions[junction.index()];
            let is_plain = junction.arms.len() == 2
                && junction.control != Control::Signals
                && junction.crossings.is_empty();
            if is_plain && junction.paths[path.index()].kind == LinkKind::Merge {
                all.add(graph, id);
            }
        }
        all.joining.sort_unstable();
        all.alternating.sort_unstable();
        all.alternating.dedup();
        all
    }

    /// Adds the lane that ends at a connection, if a lane beside it continues.
    fn add(&mut self, graph: &LaneGraph, connection: LaneletIndex) {
        let (&[lane], &[beyond]) = (graph.predecessors(connection), graph.successors(connection))
        else {
            return;
        };
        let continues = |side: &LaneletIndex| {
            *side != NO_LANELET
                && graph.successors(lane) == [connection]
                && lanes_after(graph, *side).any(|next| next == beyond)
        };
        let Some(side) = sides(graph, lane)
            .into_iter()
            .position(|side| continues(&side))
        else {
            return;
        };
        let first = self.ends.len();
        let joins = self.go_back(graph, lane, side);
        for end in &mut self.ends[first..] {
            end.joins = joins;
        }
        if let LaneletKind::Connection { junction, path, .. } = graph.lanelet(connection).kind {
            match joins {
                true => self.joining.push(Connection::new(junction, path)),
                false => self.alternating.push(junction),
            }
        }
    }

    /// Adds the lanelets of a lane, starting at its end and going backwards. `side` is 0 if the
    /// lane that continues is on the left, and 1 if it is on the right. Returns whether the lane is
    /// an acceleration lane, which begins where a ramp joins and is not too long.
    fn go_back(&mut self, graph: &LaneGraph, last: LaneletIndex, side: usize) -> bool {
        let (mut lane, mut behind) = (last, 0.0);
        loop {
            let beside = sides(graph, lane)[side];
            if beside == NO_LANELET {
                return false;
            }
            behind += graph.lanelet(lane).length();
            if behind - graph.lanelet(lane).length() < KNOWN_AHEAD {
                self.put(
                    graph,
                    lane,
                    LaneEnd {
                        beside,
                        distance: behind,
                        joins: false,
                    },
                );
            }
            // The lane may have several origins, or its origin may also lead to other lanes.
            let origins: Vec<LaneletIndex> = lanes_before(graph, lane).collect();
            let &[before] = &origins[..] else {
                return false;
            };
            let road = |id: LaneletIndex| graph.lanelet(id).road();
            let mut others = lanes_before(graph, beside);
            let is_of_one_road = others.any(|other| road(other) == road(before));
            let comes_from_ramp = !is_of_one_road && lanes_before(graph, beside).next().is_some();
            if comes_from_ramp || behind > KNOWN_AHEAD.max(LONGEST_JOINING) {
                return comes_from_ramp && behind <= LONGEST_JOINING;
            }
            if lanes_after(graph, before).count() != 1 {
                return false;
            }
            lane = before;
        }
    }

    fn put(&mut self, graph: &LaneGraph, lane: LaneletIndex, end: LaneEnd) {
        if self.of.is_empty() {
            self.of = vec![NONE; graph.lanelets().len()];
        }
        if self.of[lane.index()] == NONE {
            self.of[lane.index()] = self.ends.len() as u32;
            self.ends.push(end);
        }
    }

    /// Returns the end of a lanelet's lane; `None` if the lane does not end within [`KNOWN_AHEAD`].
    #[inline]
    pub(crate) fn of(&self, id: LaneletIndex) -> Option<&LaneEnd> {
        let &number = self.of.get(id.index())?;
        self.ends.get(number as usize)
    }

    /// Whether a connection is at the end of an acceleration lane.
    #[inline]
    pub(crate) fn joins_by(&self, connection: Connection) -> bool {
        !self.joining.is_empty() && self.joining.binary_search(&connection).is_ok()
    }

    /// Whether vehicles alternate at the end of any lane.
    #[inline]
    pub(crate) fn has_alternating(&self) -> bool {
        !self.alternating.is_empty()
    }

    /// Whether a lane ends at a junction and its vehicles alternate there with those of the lane
    /// beside it.
    #[inline]
    pub(crate) fn alternate_at(&self, junction: JunctionIndex) -> bool {
        self.has_alternating() && self.alternating.binary_search(&junction).is_ok()
    }

    /// Whether an acceleration lane ends at a junction.
    pub(crate) fn joins_at(&self, junction: JunctionIndex) -> bool {
        let mut joining = self.joining.iter();
        joining.any(|connection| connection.junction == junction)
    }
}

/// Returns the lanes to the left and to the right that a vehicle can change to.
fn sides(graph: &LaneGraph, lane: LaneletIndex) -> [LaneletIndex; 2] {
    let lanelet = graph.lanelet(lane);
    [lanelet.left, lanelet.right]
}

/// Returns the lanes that follow a lane, directly or over a connection.
fn lanes_after(graph: &LaneGraph, lane: LaneletIndex) -> impl Iterator<Item = LaneletIndex> {
    lanes_over_connections(graph, lane, LaneGraph::successors)
}

/// Returns the lanes that lead to a lane, directly or over a connection.
fn lanes_before(graph: &LaneGraph, lane: LaneletIndex) -> impl Iterator<Item = LaneletIndex> {
    lanes_over_connections(graph, lane, LaneGraph::predecessors)
}

/// Returns the neighbours of a lane along the road. A neighbour that is a connection is replaced by
/// its own neighbours.
fn lanes_over_connections(
    graph: &LaneGraph,
    lane: LaneletIndex,
    neighbours: impl Fn(&LaneGraph, LaneletIndex) -> &[LaneletIndex],
) -> impl Iterator<Item = LaneletIndex> {
    neighbours(graph, lane).iter().flat_map(move |next| {
        match graph.lanelet(*next).is_connection() {
            true => neighbours(graph, *next).iter(),
            false => std::slice::from_ref(next).iter(),
        }
        .copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ground;
    use roadwright_scenario::junction::layout;
    use roadwright_scenario::{Scenario, file};

    /// Creates a one-way road with a speed limit of 120 km/h that has 3 lanes and, after 600 m, 2
    /// lanes.
    fn drop() -> Scenario {
        let text = r#"{"format":"roadwright-scenario","version":2,"about":{"name":"drop","driving_side":"right"},"settings":{"dt":0.02,"seed":1,"duration":600},
            "nodes":{"1":{"x":-600,"y":0},"2":{"x":0,"y":0},"3":{"x":400,"y":0}},
            "roads":{"1":{"from":1,"to":2,"class":"motorway","speed_limit":33.3,
              "reference_line":{"x":-600,"y":0,"heading":0,"segments":[{"type":"line","length":600}]},
              "lane_sections":[{"lanes":[{"id":-1,"type":"driving","width":[{"a":3.5}]},
                {"id":-2,"type":"driving","width":[{"a":3.5}]},{"id":-3,"type":"driving","width":[{"a":3.5}]}]}]},
             "2":{"from":2,"to":3,"class":"motorway","speed_limit":33.3,
              "reference_line":{"x":0,"y":0,"heading":0,"segments":[{"type":"line","length":400}]},
              "lane_sections":[{"lanes":[{"id":-1,"type":"driving","width":[{"a":3.5}]},
                {"id":-2,"type":"driving","width":[{"a":3.5}]}]}]}}}"#;
        file::from_text(text).expect("a scenario")
    }

    #[test]
    fn the_outer_lane_ends_and_merges_on_a_taper_that_can_be_driven_at_the_limit() {
        let scenario = drop();
        let ground = Ground::new(&scenario);
        let graph = ground.graph();
        let ending: Vec<LaneletIndex> = graph
            .indices()
            .filter(|&id| ground.lane_end(id).is_some())
            .collect();
        let &[lane] = &ending[..] else {
            panic!("{ending:?}");
        };
        let lanelet = graph.lanelet(lane);
        assert!(matches!(lanelet.kind, LaneletKind::Lane { lane: -3, .. }));
        let end = ground.lane_end(lane).expect("it ends");
        assert_eq!((end.beside, end.joins), (lanelet.left, false));
        assert!((end.distance - lanelet.length()).abs() < 1e-9);
        // Half of the taper of about 97 m is before the node.
        assert!((545.0..560.0).contains(&end.distance), "{}", end.distance);
        let taper = graph.successors(lane)[0];
        assert!(
            graph.lanelet(taper).free_speed > 32.0,
            "{}",
            graph.lanelet(taper).free_speed
        );
        let fresh = LaneEnds::new(&layout(scenario.network(), scenario.about()), graph);
        assert_eq!(fresh.ends.len(), 1);
    }
}
