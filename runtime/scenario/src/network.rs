//! The road graph: nodes are junctions and road ends, edges are roads.

use crate::ids::{NodeId, RoadId};
use crate::junction_rules::{Control, JunctionRules};
use crate::quantity::{Coordinate, Quantity, Validate, check_keys};
use crate::road::{Road, RoadEnd};
use crate::week_times::Moment;
use glam::DVec2;
use petgraph::Direction;
use petgraph::stable_graph::{EdgeIndex, NodeIndex, StableDiGraph};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A place where roads meet or end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// x coordinate, m.
    pub x: Quantity<Coordinate>,
    /// y coordinate, m.
    pub y: Quantity<Coordinate>,
    /// Rules of the node's junction. Files store them in a separate section.
    #[serde(skip)]
    pub rules: JunctionRules,
}

impl Node {
    /// Creates a node without rules.
    pub fn at(position: DVec2) -> Self {
        Self {
            x: position.x.into(),
            y: position.y.into(),
            rules: JunctionRules::default(),
        }
    }

    /// Position, m.
    pub fn position(&self) -> DVec2 {
        DVec2::new(self.x.get(), self.y.get())
    }
}

/// Roads and nodes as a graph, accessed by their stable ids.
///
/// A copy shares its roads with the original, so that a snapshot of the scenario can be passed to other
/// threads while editing continues.
#[derive(Debug, Clone, Default)]
pub struct RoadNetwork {
    // A stable graph: when a node or an edge is deleted, all other indices stay valid, so the two
    // maps below need no update.
    graph: StableDiGraph<(NodeId, Node), (RoadId, Arc<Road>)>,
    node_index: BTreeMap<NodeId, NodeIndex>,
    road_index: BTreeMap<RoadId, EdgeIndex>,
    /// Day and time at which a run starts. They determine which timed turn restrictions apply.
    moment: Moment,
}

impl PartialEq for RoadNetwork {
    fn eq(&self, other: &Self) -> bool {
        // Networks are compared by ids and contents rather than by graph indices, which depend on
        // the order of edits: a road that was deleted and restored by undo may have another index.
        // Roads are first compared by pointer, so for a copy with one changed road, only the
        // contents of that road are compared.
        let shared = |network: &Self, id| network.shared_road(id).map(Arc::as_ptr);
        self.nodes().eq(other.nodes())
            && self.road_count() == other.road_count()
            && self
                .roads()
                .zip(other.roads())
                .all(|(a, b)| a.0 == b.0 && (shared(self, a.0) == shared(other, b.0) || a.1 == b.1))
    }
}

impl RoadNetwork {
    /// Returns the underlying petgraph graph, for use with its algorithms. Weights contain the
    /// stable ids.
    pub fn graph(&self) -> &StableDiGraph<(NodeId, Node), (RoadId, Arc<Road>)> {
        &self.graph
    }

    /// Returns the node whose rules control the junction of the given nodes. This is the first node with
    /// signals or, if there is none, the first node that sets right of way. `None` if there is neither.
    pub(crate) fn deciding_node(&self, nodes: &[NodeId]) -> Option<NodeId> {
        let rules = |id: &NodeId| self.node(*id).map(|node| &node.rules);
        let has_signals =
            |id: &NodeId| rules(id).is_some_and(|rules| rules.control == Some(Control::Signals));
        let decides = |id: &NodeId| rules(id).is_some_and(JunctionRules::decide_who_goes_first);
        let nodes = || nodes.iter().copied();
        nodes().find(has_signals).or_else(|| nodes().find(decides))
    }

    /// Returns the node with the given id; `None` if there is none.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.node_index.get(&id).map(|&index| &self.graph[index].1)
    }

    /// Returns the road with the given id; `None` if there is none.
    pub fn road(&self, id: RoadId) -> Option<&Road> {
        self.road_index.get(&id).map(|&index| &*self.graph[index].1)
    }

    /// Returns a road by id as a shared pointer; `None` if there is none. If two networks return
    /// the same pointer, their roads are equal.
    pub fn shared_road(&self, id: RoadId) -> Option<&Arc<Road>> {
        self.road_index.get(&id).map(|&index| &self.graph[index].1)
    }

    /// Returns all nodes in ascending order of id.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> + '_ {
        self.node_index
            .iter()
            .map(|(&id, &index)| (id, &self.graph[index].1))
    }

    /// Returns all roads in ascending order of id.
    pub fn roads(&self) -> impl Iterator<Item = (RoadId, &Road)> + '_ {
        self.road_index
            .iter()
            .map(|(&id, &index)| (id, &*self.graph[index].1))
    }

    /// Returns the roads that differ in another network or exist in only one of the two, in
    /// ascending order of id. Shared roads are known to be equal without comparing their contents.
    /// O(roads of both).
    pub fn differing_roads(&self, other: &Self) -> Vec<RoadId> {
        let is_same = |a: &&Road, b: &&Road| std::ptr::eq(*a, *b) || a == b;
        differing(self.roads(), other.roads(), is_same)
    }

    /// Returns the nodes that differ in another network or exist in only one of the two, in
    /// ascending order of id. O(nodes of both).
    pub fn differing_nodes(&self, other: &Self) -> Vec<NodeId> {
        // Timed restrictions can change a node that was not edited.
        let is_moved = self.moment != other.moment;
        differing(self.nodes(), other.nodes(), |a, b| {
            a == b && (!is_moved || a.rules.timed_restrictions.is_empty())
        })
    }

    /// Returns the moment at which a run starts. It determines whether timed turn restrictions
    /// apply.
    pub fn moment(&self) -> Moment {
        self.moment
    }

    pub(crate) fn set_moment(&mut self, moment: Moment) {
        self.moment = moment;
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.node_index.len()
    }

    /// Number of roads.
    pub fn road_count(&self) -> usize {
        self.road_index.len()
    }

    /// Returns the mean position of nodes, m. `nodes` must not be empty.
    pub(crate) fn centre(&self, nodes: &[NodeId]) -> DVec2 {
        let positions = nodes.iter().filter_map(|&id| self.node(id));
        positions.map(Node::position).sum::<DVec2>() / nodes.len() as f64
    }

    /// Returns the road ends at a node, sorted by road and end. A loop road appears twice.
    pub fn ends_at(&self, node: NodeId) -> Vec<(RoadId, RoadEnd)> {
        let Some(&index) = self.node_index.get(&node) else {
            return Vec::new();
        };
        let ends = |direction, end| {
            self.graph
                .edges_directed(index, direction)
                .map(move |edge| (edge.weight().0, end))
        };
        let mut all: Vec<_> = ends(Direction::Outgoing, RoadEnd::Start)
            .chain(ends(Direction::Incoming, RoadEnd::End))
            .collect();
        // petgraph lists edges by age, but results derived from a junction must depend only on the
        // scenario.
        all.sort_unstable();
        all
    }

    /// Returns the next unused node id.
    pub fn next_node_id(&self) -> NodeId {
        NodeId(
            self.node_index
                .last_key_value()
                .map_or(1, |(id, _)| id.0.saturating_add(1)),
        )
    }

    /// Returns the next unused road id.
    pub fn next_road_id(&self) -> RoadId {
        RoadId(
            self.road_index
                .last_key_value()
                .map_or(1, |(id, _)| id.0.saturating_add(1)),
        )
    }

    /// Inserts or replaces a node. Returns the previous node; `None` if there was none.
    pub(crate) fn put_node(&mut self, id: NodeId, node: Node) -> Option<Node> {
        if let Some(&index) = self.node_index.get(&id) {
            return Some(std::mem::replace(&mut self.graph[index].1, node));
        }
        self.node_index.insert(id, self.graph.add_node((id, node)));
        None
    }

    /// Deletes a node and returns it; `None` if there is none. The caller has to ensure that no
    /// road ends there.
    pub(crate) fn remove_node(&mut self, id: NodeId) -> Option<Node> {
        let index = self.node_index.remove(&id)?;
        self.graph.remove_node(index).map(|(_, node)| node)
    }

    /// Inserts or replaces a road. Returns the previous road; `None` if there was none. The caller
    /// has to ensure that its nodes exist.
    pub(crate) fn put_road(&mut self, id: RoadId, road: Road) -> Option<Road> {
        // A replaced road is also removed first, because petgraph cannot change the ends of an
        // edge.
        let old = self.remove_road(id);
        if let (Some(&from), Some(&to)) = (
            self.node_index.get(&road.from),
            self.node_index.get(&road.to),
        ) {
            self.road_index
                .insert(id, self.graph.add_edge(from, to, (id, Arc::new(road))));
        }
        old
    }

    /// Deletes a road and returns it; `None` if there is none.
    pub(crate) fn remove_road(&mut self, id: RoadId) -> Option<Road> {
        let index = self.road_index.remove(&id)?;
        let (_, road) = self.graph.remove_edge(index)?;
        Some(Arc::unwrap_or_clone(road))
    }
}

impl Validate for Node {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => x, y)?;
        self.rules.validate()
    }
}

/// Returns the ids of entries that differ between two lists or are in only one of them. Both lists
/// are in ascending order of id. O(entries of both).
fn differing<K: Ord + Copy, T>(
    before: impl Iterator<Item = (K, T)>,
    after: impl Iterator<Item = (K, T)>,
    is_same: impl Fn(&T, &T) -> bool,
) -> Vec<K> {
    let (mut before, mut after) = (before.peekable(), after.peekable());
    let mut found = Vec::new();
    while let Some((&(a, ref old), &(b, ref new))) = before.peek().zip(after.peek()) {
        if a != b || !is_same(old, new) {
            found.push(a.min(b));
        }
        if a <= b {
            before.next();
        }
        if b <= a {
            after.next();
        }
    }
    found.extend(before.chain(after).map(|(id, _)| id));
    found
}
