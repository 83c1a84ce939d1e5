//! Possible starts and ends of random trips: at the edges of the map, and anywhere inside.

use crate::records::LaneSpot;
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, polygon};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind};
use roadwright_scenario::{
    NodeId, RoadAccess, RoadClass, RoadEnd, RoadId, RoadNetwork, Scenario, VehicleClass,
};
use std::collections::BTreeMap;

/// Length of the shortest lane on which a trip may start or end, m.
const MIN_LANE: f64 = 12.0;
/// Minimum distance of the start or end of a trip from the start of its lane, m. It keeps vehicles
/// from extending into the adjoining lanelet.
const FROM_START: f64 = 4.0;
/// Minimum distance of the start or end of a trip from the end of its lane, m.
const FROM_END: f64 = 6.0;
/// A road end that is no farther than this from the border of the map counts as leading off the
/// map, m.
const BORDER: f64 = 50.0;
/// Like `BORDER`, but as a fraction of the map's size, because extracts of large areas have ragged edges.
const BORDER_SHARE: f64 = 0.02;

/// A weighted set of lanes from which random places are drawn.
#[derive(Clone, Default)]
pub(super) struct Pool {
    /// Lanes, each with its weight in a random draw.
    lanes: Vec<(LaneletIndex, f64)>,
    /// Cumulative sums of the weights, one for each lane.
    sums: Vec<f64>,
}

impl Pool {
    fn new(lanes: Vec<(LaneletIndex, f64)>) -> Self {
        let mut total = 0.0;
        let sums = lanes.iter().map(|(_, weight)| {
            total += weight;
            total
        });
        Self {
            sums: sums.collect(),
            lanes,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Draws a random lane, and a random position on it as a fraction of its length, 0 to 1.
    pub(super) fn draw(&self, stream: &mut Stream) -> Option<(LaneletIndex, f64)> {
        let total = *self.sums.last()?;
        // One random number gives both the lane (the interval of the sums into which it falls) and
        // the position along the lane (the remainder).
        let at = stream.next_in(0.0, total);
        let index = self.sums.partition_point(|&sum| sum <= at);
        // Because of rounding, the drawn number may equal the total, which is beyond the last lane.
        let index = index.min(self.lanes.len() - 1);
        let (lane, weight) = self.lanes[index];
        let before = self.sums[index] - weight;
        Some((lane, ((at - before) / weight).clamp(0.0, 1.0)))
    }

    /// Returns a pool of the lanes for which `keeps` returns true.
    pub(super) fn filtered(&self, mut keeps: impl FnMut(LaneletIndex) -> bool) -> Self {
        let lanes = self.lanes.iter().copied();
        Self::new(lanes.filter(|(lane, _)| keeps(*lane)).collect())
    }
}

/// All lanes on which random trips can begin and end.
pub(super) struct Pools {
    /// Lanes that bring traffic into the map over its edge.
    pub(super) entries: Pool,
    /// Lanes that lead traffic out of the map over its edge.
    pub(super) exits: Pool,
    /// All lanes, weighted by length.
    pub(super) inside: Pool,
}

impl Pools {
    pub(super) fn new(scenario: &Scenario, graph: &LaneGraph) -> Self {
        let usable = || graph.numbered().filter(|(id, _)| is_usable(graph, *id));
        let edges = edges(scenario);
        let spans = spans(graph);
        let (mut entries, mut exits) = (Vec::new(), Vec::new());
        for (id, lanelet) in usable() {
            let Some((road, (low, high))) = lanelet.road().and_then(|r| Some((r, *spans.get(&r)?)))
            else {
                continue;
            };
            let class = scenario.network().road(road).map(|road| road.class);
            let weight = weight(class.unwrap_or_default());
            // An exact comparison is correct, because the span of the road was computed from the
            // same numbers.
            let is_edge = |at: f64| {
                at == low && edges.contains_key(&(road, RoadEnd::Start))
                    || at == high && edges.contains_key(&(road, RoadEnd::End))
            };
            // In the driving direction: for lanes against the road, `from` is larger than `to`.
            let (from, to) = lanelet.road_span;
            if is_edge(from) {
                entries.push((id, weight));
            }
            if is_edge(to) {
                exits.push((id, weight));
            }
        }
        Self {
            entries: Pool::new(entries),
            exits: Pool::new(exits),
            inside: Pool::new(usable().map(|(id, l)| (id, l.length())).collect()),
        }
    }
}

/// Whether random trips may begin and end on a lanelet: its lane must admit cars, and its road must
/// be open to all traffic or at least to destination traffic.
fn is_usable(graph: &LaneGraph, id: LaneletIndex) -> bool {
    let lanelet = graph.lanelet(id);
    let is_open = matches!(
        lanelet.road_access,
        RoadAccess::All | RoadAccess::Destination
    );
    let is_lane = matches!(lanelet.kind, LaneletKind::Lane { .. });
    let is_for_cars = lanelet.access.admits(VehicleClass::Car);
    is_lane && is_open && is_for_cars && lanelet.length() >= MIN_LANE
}

/// Relative traffic volume of one lane of a road at the edge of the map.
fn weight(class: RoadClass) -> f64 {
    match class {
        RoadClass::Path | RoadClass::Service => 1.0,
        RoadClass::Residential => 2.0,
        RoadClass::Collector => 4.0,
        RoadClass::Arterial | RoadClass::Ramp | RoadClass::Motorway => 8.0,
    }
}

/// Returns the place at a fraction of a lane's length, clamped so that it keeps a few metres from
/// both ends.
pub(super) fn spot_inside(graph: &LaneGraph, lane: LaneletIndex, share: f64) -> LaneSpot {
    let length = graph.lanelet(lane).length();
    LaneSpot {
        lanelet: lane,
        s: (share * length).clamp(FROM_START, length - FROM_END),
    }
}

/// Place where vehicles enter the map on a lane.
pub(super) fn entry(lane: LaneletIndex) -> LaneSpot {
    LaneSpot {
        lanelet: lane,
        s: FROM_START,
    }
}

/// Place where vehicles leave the map on a lane.
pub(super) fn exit(graph: &LaneGraph, lane: LaneletIndex) -> LaneSpot {
    LaneSpot {
        lanelet: lane,
        s: graph.lanelet(lane).length() - FROM_END,
    }
}

/// For each road, the smallest and largest distance along the road that its lanelets cover, m.
fn spans(graph: &LaneGraph) -> BTreeMap<RoadId, (f64, f64)> {
    let mut spans = BTreeMap::new();
    for lanelet in graph.lanelets() {
        if let Some(road) = lanelet.road() {
            let (from, to) = lanelet.road_span;
            let (low, high) = spans.entry(road).or_insert((from, from));
            *low = f64::min(*low, from.min(to));
            *high = f64::max(*high, from.max(to));
        }
    }
    spans
}

/// Returns the road ends where traffic enters and leaves the map, with their nodes. A road end
/// counts if no other road shares its node and the node is near the border of the map. Away from
/// the border, only one-way roads count, because no real one-way road is a dead end.
fn edges(scenario: &Scenario) -> BTreeMap<(RoadId, RoadEnd), NodeId> {
    let network = scenario.network();
    let side = scenario.about().driving_side;
    let hull = hull(network);
    let size = polygon::bounds(&hull).map_or(0.0, |(low, high)| (high - low).length());
    let reach = BORDER.max(BORDER_SHARE * size);
    let mut ends: BTreeMap<NodeId, Vec<(RoadId, RoadEnd)>> = BTreeMap::new();
    for (id, road) in network.roads().filter(|(_, road)| road.is_drivable()) {
        for end in [RoadEnd::Start, RoadEnd::End] {
            ends.entry(road.node_at(end)).or_default().push((id, end));
        }
    }
    let lone = ends.into_iter().filter(|(_, ends)| ends.len() == 1);
    let is_edge = |&(node, (id, end)): &(NodeId, (RoadId, RoadEnd))| {
        let (Some(place), Some(road)) = (network.node(node), network.road(id)) else {
            return false;
        };
        let s = if end == RoadEnd::Start {
            0.0
        } else {
            road.length()
        };
        // A one-way street that has no connection at one end counts as leading off the map,
        // wherever that end is. Otherwise, the street would be unusable.
        let is_one_way = road.lanes_forward(s, side) == 0 || road.lanes_backward(s, side) == 0;
        is_one_way || distance_to(&hull, place.position()) <= reach
    };
    let edges = lone.map(|(node, ends)| (node, ends[0])).filter(is_edge);
    edges.map(|(node, end)| (end, node)).collect()
}

/// Border of the map: the convex hull of all nodes where roads end.
fn hull(network: &RoadNetwork) -> Vec<DVec2> {
    let ends = network.roads().flat_map(|(_, road)| [road.from, road.to]);
    let places = ends.filter_map(|node| Some(network.node(node)?.position()));
    polygon::convex_hull(&places.collect::<Vec<_>>())
}

/// Distance of a place from the boundary of a polygon, m.
fn distance_to(polygon: &[DVec2], place: DVec2) -> f64 {
    let next = polygon.iter().cycle().skip(1);
    let sides = polygon.iter().zip(next).map(|(&a, &b)| {
        let along = b - a;
        let share = (place - a).dot(along) / along.length_squared().max(1e-12);
        (a + share.clamp(0.0, 1.0) * along - place).length()
    });
    sides.fold(f64::INFINITY, f64::min)
}
