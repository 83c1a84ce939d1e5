//! Signal heads: one at the end of each signalled lane.

use super::Roads;
use roadwright_geometry::Pose;
use roadwright_scenario::junction::Light;
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind};
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex, NodeId, RoadId};
use std::collections::BTreeMap;

/// State of the signal of a lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignalHead {
    /// Smallest node id of the junction.
    pub node: NodeId,
    /// The road to which the lane belongs.
    pub road: RoadId,
    /// Id of the lane in its road.
    pub lane: i8,
    /// Centre of the lane at the stop line, in driving direction, m.
    pub stop_line: Pose,
    /// The most permissive light of all connections from the lane. It is green if any of them has
    /// green.
    pub light: Light,
}

/// A signal head without its light.
pub(super) struct Post {
    junction: JunctionIndex,
    paths: Vec<ConnectionIndex>,
    head: SignalHead,
}

/// Returns the signal heads of all lanes, in the order of junctions and lanes.
pub(super) fn posts(roads: &Roads) -> Vec<Post> {
    let graph = &roads.graph;
    let mut posts: BTreeMap<(JunctionIndex, LaneletIndex), Post> = BTreeMap::new();
    for id in graph.indices() {
        let LaneletKind::Connection { junction, path, .. } = graph.lanelet(id).kind else {
            continue;
        };
        if roads.signals(junction).is_none() {
            continue;
        }
        // A connection starts from one lane, and every junction has a node.
        let before = graph.predecessors(id).first().copied();
        let Some((before, node)) = before.zip(roads.node(junction)) else {
            continue;
        };
        let LaneletKind::Lane { road, lane, .. } = graph.lanelet(before).kind else {
            continue;
        };
        let line = graph.line(before);
        let head = SignalHead {
            node,
            road,
            lane,
            stop_line: line.pose(line.length()),
            light: Light::Red,
        };
        let post = posts.entry((junction, before)).or_insert_with(|| Post {
            junction,
            paths: Vec::new(),
            head,
        });
        post.paths.push(path);
    }
    posts.into_values().collect()
}

impl Post {
    /// Whether a vehicle can wait at the signal head. If another junction follows too closely,
    /// vehicles cannot wait, and the signals of that junction apply to both.
    pub(super) fn is_waited_at(&self, roads: &Roads, has_buses: bool) -> bool {
        let mut paths = self.paths.iter();
        paths.all(|&path| roads.has_room_to_wait(self.junction, path, has_buses))
    }

    /// Returns the signal head with its current light. `light` returns the light of a connection.
    pub(super) fn showing(&self, light: impl Fn(Connection) -> Light) -> Option<SignalHead> {
        let shown = self
            .paths
            .iter()
            .map(|&path| light(Connection::new(self.junction, path)));
        Some(SignalHead {
            light: shown.max()?,
            ..self.head
        })
    }
}
