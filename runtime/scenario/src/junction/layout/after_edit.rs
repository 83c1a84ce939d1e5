//! Computes the layout of a network after an edit. Junctions that the edit does not affect are
//! reused.

use super::super::rings;
use super::clusters::{Clusters, Kept};
use super::{Layout, Planner, stage};
use crate::country::Custom;
use crate::driving_side::DrivingSide;
use crate::ids::{NodeId, RoadId};
use crate::network::RoadNetwork;
use crate::road::{Road, RoadEnd};
use std::collections::{BTreeMap, BTreeSet};

/// Lays out an edited network. The result equals that of [`layout`](super::layout()) and shares all junctions
/// that the edit does not affect with the layout `before`. Driving side and law must be unchanged. The cost
/// is that of laying out the junctions around the change, plus a pass over all nodes and roads.
pub fn layout_after_edit(
    network: &RoadNetwork,
    before: &Layout,
    edited: &RoadNetwork,
    custom: impl Into<Custom>,
) -> Layout {
    let custom = custom.into();
    let side = custom.side;
    let changed = Changed::new(network, edited);
    let rings = changed.rings(network, before, edited, side);
    let mut redone = changed.junctions(network, before, edited, &rings);
    // Iterates to a fixed point: junctions are kept unless a rebuilt one reaches them. `redone` only grows,
    // so there are at most as many rounds as junctions. Usually, one round is enough.
    loop {
        grow(&mut redone, network, before, edited);
        let kept = Kept {
            before,
            redone: &redone,
        };
        let mut planner = Planner::resumed(edited, custom, rings.clone(), kept, &changed);
        planner.merge_short_roads();
        let reached = planner.reached(kept);
        if reached.is_empty() {
            return planner.finish(Some(kept));
        }
        // Junctions that merge with a changed one are rebuilt as well.
        redone.extend(reached);
    }
}

/// Differences between two networks.
struct Changed {
    roads: Vec<RoadId>,
    nodes: Vec<NodeId>,
}

impl Changed {
    fn new(network: &RoadNetwork, edited: &RoadNetwork) -> Self {
        Self {
            roads: network.differing_roads(edited),
            nodes: network.differing_nodes(edited),
        }
    }

    /// Returns the rings of the edited network. The search covers all one-way roads, so it is repeated only
    /// if a changed road may be part of a ring.
    fn rings(
        &self,
        network: &RoadNetwork,
        before: &Layout,
        edited: &RoadNetwork,
        side: DrivingSide,
    ) -> BTreeSet<RoadId> {
        let is_one_way = |road: &Road| rings::is_one_way(road, side);
        let matters = |id: &RoadId| match [network, edited].map(|network| network.road(*id)) {
            [Some(a), Some(b)] => {
                (is_one_way(a) || is_one_way(b)) && !rings::is_driven_alike(a, b, side)
            }
            [a, b] => a.or(b).is_some_and(is_one_way),
        };
        match self.roads.iter().any(matters) {
            true => rings::rings(edited, side),
            false => before.rings.clone(),
        }
    }

    /// Returns the junctions of the earlier layout that an edit may affect. These are the junctions
    /// whose nodes or roads have changed, and their neighbours. A neighbour may now use more of a
    /// road whose far end has become a dead end or a mere continuation.
    fn junctions(
        &self,
        network: &RoadNetwork,
        before: &Layout,
        edited: &RoadNetwork,
        rings: &BTreeSet<RoadId>,
    ) -> BTreeSet<usize> {
        // A road that becomes or ceases to be part of a ring affects junctions all around the ring.
        // So does a changed road that stays part of it, because the length of the ring limits how
        // much of it is absorbed.
        let around = self.roads.iter().flat_map(|&id| {
            let then = rings::connected(network, &before.rings, id);
            then.into_iter().chain(rings::connected(edited, rings, id))
        });
        let around: Vec<RoadId> = around.collect();
        let roads = self
            .roads
            .iter()
            .chain(before.rings.symmetric_difference(rings))
            .chain(&around);
        let roads = roads.flat_map(|&id| [network, edited].map(|network| network.road(id)));
        let ends = roads.flatten().flat_map(|road| [road.from, road.to]);
        let nodes: BTreeSet<NodeId> = ends.chain(self.nodes.iter().copied()).collect();
        let beside = nodes.iter().flat_map(|&node| {
            let mut both = [network, edited].into_iter();
            let is_far_end = both.any(|network| network.ends_at(node).len() <= 2);
            let then = is_far_end.then(|| neighbours(network, node));
            let now = is_far_end.then(|| neighbours(edited, node));
            then.into_iter().chain(now).flatten()
        });
        let all = beside.chain(nodes.iter().copied());
        let junctions = all.filter_map(|node| before.junction_of.get(&node).copied());
        junctions.collect()
    }
}

/// Returns the nodes at the other ends of the roads at a node.
fn neighbours(network: &RoadNetwork, node: NodeId) -> Vec<NodeId> {
    let ends = network.ends_at(node).into_iter();
    let far = ends.filter_map(|(id, end)| Some(network.road(id)?.node_at(end.opposite())));
    far.collect()
}

/// Adds the neighbours of rebuilt junctions that were merged or have squeezed or internal roads.
/// The layout of such a junction depends on its neighbours, so it also has to be rebuilt.
fn grow(
    redone: &mut BTreeSet<usize>,
    network: &RoadNetwork,
    before: &Layout,
    edited: &RoadNetwork,
) {
    let mut open: Vec<usize> = redone.iter().copied().collect();
    while let Some(junction) = open.pop() {
        let nodes = &before.junctions[junction].nodes;
        let ends = nodes.iter().flat_map(|&node| {
            let now = edited.ends_at(node).into_iter();
            let then = network.ends_at(node).into_iter();
            now.map(|(id, _)| (id, edited.road(id)))
                .chain(then.map(|(id, _)| (id, network.road(id))))
        });
        for (id, road) in ends {
            let Some(road) = road else { continue };
            // A kept junction must equal the result of a layout from scratch. This is certain for a junction
            // that took a single step, because it depends only on its own arms. A merged junction, or one
            // with a squeezed road, depends on the order in which its neighbours were built.
            for node in [road.from, road.to] {
                let Some(&beside) = before.junction_of.get(&node) else {
                    continue;
                };
                let is_loop = |(id, _): &(RoadId, RoadEnd)| before.internal.contains(id);
                // The edit may change whether a road is declared internal.
                let names = |network: &RoadNetwork| {
                    let node = network.node(node);
                    node.is_some_and(|node| node.rules.internal_roads.contains(&id))
                };
                let took_steps = before.junctions[beside].nodes.len() > 1
                    || before.limits.contains_key(&id)
                    || names(network)
                    || names(edited)
                    || network.ends_at(node).iter().any(is_loop);
                if took_steps && redone.insert(beside) {
                    open.push(beside);
                }
            }
        }
    }
}

impl<'a> Planner<'a> {
    /// Creates the initial state from the earlier layout. Each node of a rebuilt junction becomes a
    /// separate cluster.
    fn resumed(
        network: &'a RoadNetwork,
        Custom { side, law }: Custom,
        rings: BTreeSet<RoadId>,
        kept: Kept<'a>,
        changed: &Changed,
    ) -> Self {
        let before = kept.before;
        let redone = kept.redone.iter().flat_map(|&i| &before.junctions[i].nodes);
        let open = redone.chain(&changed.nodes).copied();
        let open = open.filter(|&id| network.node(id).is_some());
        let mut trims = before.trims.clone();
        for id in changed
            .roads
            .iter()
            .filter(|id| network.road(**id).is_none())
        {
            trims.remove(id);
        }
        let stays = |id: &RoadId| {
            let road = network.road(*id);
            road.is_some_and(|road| kept.of(road.from).is_some() && kept.of(road.to).is_some())
        };
        let internal = before.internal.iter().copied().filter(stays);
        let limits = before.limits.iter().map(|(&id, &limit)| (id, limit));
        Self {
            network,
            side,
            law,
            internal: internal.collect(),
            rings,
            trims,
            limits: limits.filter(|(id, _)| stays(id)).collect(),
            sorted: BTreeMap::new(),
            clusters: Clusters::apart(open, Some(kept)),
            watch: &stage::ignore,
        }
    }

    /// Returns the kept junctions that were merged with rebuilt ones or that adjoin a squeezed
    /// road.
    fn reached(&self, kept: Kept<'_>) -> BTreeSet<usize> {
        let mut reached = self.clusters.reached();
        let squeezed = self.limits.keys();
        let squeezed = squeezed.filter(|id| !kept.before.limits.contains_key(id));
        let roads = squeezed.filter_map(|id| self.network.road(*id));
        let nodes = roads.flat_map(|road| [road.from, road.to]);
        reached.extend(nodes.filter_map(|node| kept.of(node)));
        reached
    }
}
