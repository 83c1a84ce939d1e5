//! Rings of roundabouts as lanelets.
//!
//! A vehicle on a ring need not wait until there is room beyond each junction. The ring is one
//! circular lane, so its vehicles can advance as long as there is one free space on it.

use roadwright_scenario::junction::Layout;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind};
use roadwright_scenario::{JunctionIndex, NodeId, RoadId, RoadNetwork};
use std::collections::{BTreeMap, BTreeSet};

/// Value that means "no ring".
const NO_RING: u32 = u32::MAX;

/// The ring of a roundabout.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ring {
    /// Lanes of the ring and the connections between them, sorted by index.
    pub lanelets: Vec<LaneletIndex>,
    /// Total length of the ring's lanelets, m.
    pub length: f64,
    /// Junctions of the ring.
    pub junctions: BTreeSet<JunctionIndex>,
}

/// The rings of all roundabouts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Rings {
    rings: Vec<Ring>,
    /// For each lanelet, the index of its ring; empty without rings.
    of: Vec<u32>,
}

impl Rings {
    pub(super) fn new(network: &RoadNetwork, layout: &Layout, graph: &LaneGraph) -> Self {
        if layout.rings.is_empty() {
            return Self::default();
        }
        let roads = numbers(network, layout);
        let mut of = vec![NO_RING; graph.lanelets().len()];
        let lanes = roads.iter().flat_map(|(&road, &ring)| {
            let lanes = graph.lanes_of(road).flat_map(|(_, lanelets)| lanelets);
            lanes.map(move |&id| (id, ring))
        });
        let lanes: Vec<(LaneletIndex, u32)> = lanes.collect();
        for &(id, ring) in &lanes {
            of[id.index()] = ring;
        }
        // A connection belongs to a ring if it leads from one lane of the ring to another.
        for &(id, ring) in &lanes {
            for &next in graph.successors(id) {
                let after = graph.successors(next).first();
                let leads_on = after.is_some_and(|&after| of[after.index()] == ring);
                if graph.lanelet(next).is_connection() && leads_on {
                    of[next.index()] = ring;
                }
            }
        }
        let count = roads.values().max().map_or(0, |last| *last as usize + 1);
        let mut rings = vec![Ring::default(); count];
        let numbered = graph.indices().zip(&of);
        for (id, &ring) in numbered.filter(|(_, ring)| **ring != NO_RING) {
            let ring = &mut rings[ring as usize];
            ring.lanelets.push(id);
            if let LaneletKind::Connection { junction, .. } = graph.lanelet(id).kind {
                ring.junctions.insert(junction);
            }
            ring.length += graph.lanelet(id).length();
        }
        Self { rings, of }
    }

    /// Returns the ring to which a lanelet belongs; `None` if it belongs to none.
    #[inline]
    pub(crate) fn of(&self, id: LaneletIndex) -> Option<&Ring> {
        self.rings.get(*self.of.get(id.index())? as usize)
    }
}

/// Returns, for each road of a ring, the number of the ring. Rings are numbered in the order of
/// their smallest road ids.
fn numbers(network: &RoadNetwork, layout: &Layout) -> BTreeMap<RoadId, u32> {
    let ends = |id: RoadId| network.road(id).map(|road| [road.from, road.to]);
    let mut at: BTreeMap<NodeId, Vec<RoadId>> = BTreeMap::new();
    for &id in &layout.rings {
        for node in ends(id).into_iter().flatten() {
            at.entry(node).or_default().push(id);
        }
    }
    let mut numbers = BTreeMap::new();
    let mut next = 0;
    for &first in &layout.rings {
        let mut open = vec![first];
        let mut is_new = false;
        while let Some(id) = open.pop() {
            if numbers.contains_key(&id) {
                continue;
            }
            is_new = true;
            numbers.insert(id, next);
            let nodes = ends(id).into_iter().flatten();
            open.extend(nodes.flat_map(|node| at[&node].iter().copied()));
        }
        next += u32::from(is_new);
    }
    numbers
}
