//! The lane graph as flat arrays, for planners in plugins.

use roadwright_plugin_api::abi::{
    LANELET_BUS_ONLY, LANELET_CLOSED, LANELET_CONNECTION, LANELET_NO_BUSES, LANELET_NO_THROUGH,
    RwLanelet, RwPoint,
};
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletKind};
use roadwright_scenario::{LaneAccess, RoadAccess};

/// A lane graph as flat arrays.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FlatRoads {
    pub(crate) lanelets: Vec<RwLanelet>,
    pub(crate) successors: Vec<u32>,
    pub(crate) points: Vec<RwPoint>,
    /// Version number, which changes whenever the roads change.
    pub(crate) version: u64,
}

impl FlatRoads {
    /// Converts a graph. O(points).
    pub(crate) fn new(graph: &LaneGraph) -> Self {
        let mut flat = Self {
            version: graph.identity(),
            ..Self::default()
        };
        for (id, lanelet) in graph.numbered() {
            let points = graph.line(id).points();
            let mut flags = 0;
            if lanelet.access == LaneAccess::Buses {
                flags |= LANELET_BUS_ONLY;
            }
            if lanelet.access == LaneAccess::Cars {
                flags |= LANELET_NO_BUSES;
            }
            if lanelet.road_access != RoadAccess::All {
                flags |= LANELET_NO_THROUGH;
            }
            if lanelet.road_access == RoadAccess::No {
                flags |= LANELET_CLOSED;
            }
            let mut turn = 0;
            if let LaneletKind::Connection { turn: taken, .. } = lanelet.kind {
                flags |= LANELET_CONNECTION;
                turn = match taken {
                    Turn::Left => 1,
                    Turn::Straight => 0,
                    Turn::Right => -1,
                    Turn::UTurn => 2,
                };
            }
            flat.lanelets.push(RwLanelet {
                length: lanelet.length(),
                speed_limit: lanelet.free_speed,
                width: lanelet.width,
                first_successor: flat.successors.len() as u32,
                successor_count: graph.successors(id).len() as u32,
                left: lanelet.left.number(),
                right: lanelet.right.number(),
                first_point: flat.points.len() as u32,
                point_count: points.len() as u32,
                flags,
                turn,
            });
            let successors = graph.successors(id).iter();
            flat.successors.extend(successors.map(|next| next.number()));
            let points = points.map(|p| RwPoint { x: p.x, y: p.y });
            flat.points.extend(points);
        }
        flat
    }
}

/// Returns the lanelets of an answer, or a message if they do not lead from the requested start to the
/// requested goal. The list is empty if the answer contains no route.
pub(crate) fn checked_route<'a>(
    roads: &FlatRoads,
    input: &PlannerInput,
    output: &PlannerOutput,
    route: &'a [u32],
) -> Result<&'a [u32], String> {
    if output.count == 0 {
        return Ok(&[]);
    }
    if !(0.0..=1e9).contains(&output.travel_time) {
        return Err(format!(
            "the planner returned a travel time of {} s",
            output.travel_time
        ));
    }
    let end = output.start.checked_add(output.count);
    let lanelets = end.and_then(|end| route.get(output.start as usize..end as usize));
    let Some(lanelets) = lanelets else {
        return Err("the planner returned a route that is longer than its buffer".into());
    };
    if lanelets[0] != input.lanelet || lanelets[lanelets.len() - 1] != input.goal_lanelet {
        return Err(format!(
            "planner returned a route from lanelet {} to {} instead of {} to {}",
            lanelets[0],
            lanelets[lanelets.len() - 1],
            input.lanelet,
            input.goal_lanelet
        ));
    }
    let count = roads.lanelets.len() as u32;
    // Checked before the transitions, which use these numbers as indices.
    if let Some(unknown) = lanelets.iter().find(|&&lanelet| lanelet >= count) {
        return Err(format!(
            "planner returned lanelet {unknown}, but there are only {count}"
        ));
    }
    let is_joined = |pair: &[u32]| {
        let from = &roads.lanelets[pair[0] as usize];
        // A route may change lanes. The next lanelet then lies beside the previous one.
        let beside = from.left == pair[1] || from.right == pair[1];
        let first = from.first_successor as usize;
        let successors = &roads.successors[first..first + from.successor_count as usize];
        beside || successors.contains(&pair[1])
    };
    match lanelets.windows(2).find(|pair| !is_joined(pair)) {
        Some(gap) => Err(format!(
            "planner returned a route that jumps from lanelet {} to {}",
            gap[0], gap[1]
        )),
        None => Ok(lanelets),
    }
}
