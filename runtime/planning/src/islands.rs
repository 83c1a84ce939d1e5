//! Connected areas of restricted roads.
//!
//! A search that enters private ground can only reach goals on that ground. Without knowledge of the islands,
//! every search would explore all car parks along its route.

use roadwright_scenario::RoadAccess;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, NO_LANELET};

/// Marks a lanelet without access restrictions, which belongs to no island.
const OPEN: u32 = u32::MAX;

/// Island of each restricted lanelet. An island consists of restricted lanelets that are connected, in either
/// direction, without public lanelets between them.
pub(crate) struct Islands(Vec<u32>);

impl Islands {
    /// Finds the islands of a graph; `None` if no road is restricted. O(lanelets).
    pub(crate) fn of(graph: &LaneGraph) -> Option<Self> {
        let is_closed = |id: LaneletIndex| graph.lanelet(id).road_access != RoadAccess::All;
        graph.indices().any(is_closed).then(|| {
            let mut islands = vec![OPEN; graph.lanelets().len()];
            let mut open = Vec::new();
            for first in graph.indices().filter(|&id| is_closed(id)) {
                open.push(first);
                while let Some(id) = open.pop() {
                    if islands[id.index()] != OPEN {
                        continue;
                    }
                    islands[id.index()] = first.number();
                    let linked = graph.successors(id).iter().chain(graph.predecessors(id));
                    let near = linked.copied().chain(graph.lanelet(id).beside);
                    open.extend(near.filter(|&id| id != NO_LANELET && is_closed(id)));
                }
            }
            Self(islands)
        })
    }

    /// Whether two lanelets are on the same island.
    #[inline]
    pub(crate) fn are_one(&self, a: LaneletIndex, b: LaneletIndex) -> bool {
        let island = self.0[a.index()];
        island != OPEN && island == self.0[b.index()]
    }
}
