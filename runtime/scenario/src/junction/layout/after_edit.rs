//! The layout of a network that was edited: what the edit does not reach is taken over.

use super::super::rings;
use super::{Layout, Planner};
use crate::country::Custom;
use crate::ids::{NodeId, RoadId};
use crate::network::RoadNetwork;
use crate::road::{Road, RoadEnd};
use std::collections::{BTreeMap, BTreeSet};

/// The layout of an edited network: equal to that of [`layout`](super::layout()), and sharing all junctions with the
/// layout `before` that the edit does not reach. Driving side and law are the same. Cost: that of the
/// junctions around what was changed, and a walk over all nodes and roads.
pub fn layout_after_edit(
    (network, before): (&RoadNetwork, &Layout),
    edited: &RoadNetwork,
    custom: impl Into<Custom>,
) -> Layout {
    let custom = custom.into();
    let side = custom.side;
    // A fixed point: junctions are kept as they were until something that is laid out again reaches
    // them. `redone` only grows, so there are at most as many rounds as junctions; mostly it is one.
    let changed = changed_roads(network, edited);
    let is_one_way = |network: &RoadNetwork| {
        let roads = changed.iter().filter_map(|id| network.road(*id));
        roads.into_iter().any(|road| rings::is_one_way(road, side))
    };
    // Rings are made of one-way roads: looking for them walks over all of those.
    let rings = if is_one_way(network) || is_one_way(edited) {
        rings::rings(edited, side)
    } else {
        before.rings.clone()
    };
    let mut redone = changed_junctions((network, edited), &changed, before);
    // A road that becomes part of a ring, or is no longer one, changes junctions all around it.
    for road in before.rings.symmetric_difference(&rings) {
        let ends = [network, edited].map(|network| network.road(*road));
        let nodes = ends.into_iter().flatten().flat_map(|r| [r.from, r.to]);
        redone.extend(nodes.filter_map(|node| before.junction_of.get(&node)));
    }
    loop {
        grow(&mut redone, (network, before), edited);
        // The junction of a node, if it is kept.
        let kept = |node: NodeId| {
            let junction = before.junction_of.get(&node).copied();
            junction.filter(|junction| !redone.contains(junction))
        };
        let mut planner = Planner::resumed(edited, custom, rings.clone(), before, kept);
        let roots = planner.members.keys().copied();
        planner.merge_short_roads(roots.filter(|&root| kept(root).is_none()).collect());
        let reached = planner.reached(before, kept);
        if reached.is_empty() {
            return planner.finish(|root| Some(before.junctions[kept(root)?].clone()));
        }
        // What merges with what was changed is laid out again as well.
        redone.extend(reached);
    }
}

/// Roads that differ in an edited network.
fn changed_roads(network: &RoadNetwork, edited: &RoadNetwork) -> BTreeSet<RoadId> {
    let differing = |one: &RoadNetwork, other: &RoadNetwork| -> Vec<RoadId> {
        let is_same = |(id, road): &(RoadId, &Road)| {
            let same = other.road(*id);
            same.is_some_and(|same| std::ptr::eq(*road, same) || *road == same)
        };
        let roads = one.roads().filter(|entry| !is_same(entry));
        roads.map(|(id, _)| id).collect()
    };
    let mut changed = differing(network, edited);
    changed.extend(differing(edited, network));
    changed.into_iter().collect()
}

/// Junctions of a layout whose nodes or roads differ in an edited network.
fn changed_junctions(
    (network, edited): (&RoadNetwork, &RoadNetwork),
    roads: &BTreeSet<RoadId>,
    before: &Layout,
) -> BTreeSet<usize> {
    let moved = network
        .nodes()
        .filter(|(id, node)| edited.node(*id) != Some(*node));
    let mut nodes: BTreeSet<NodeId> = moved.map(|(id, _)| id).collect();
    for network in [network, edited] {
        let roads = roads.iter().filter_map(|id| network.road(*id));
        nodes.extend(roads.flat_map(|road| [road.from, road.to]));
    }
    let junctions = nodes.iter().filter_map(|node| before.junction_of.get(node));
    junctions.copied().collect()
}

/// Adds the junctions beside those that are laid out again whose own layout took several steps: it
/// depends on their neighbours.
fn grow(
    redone: &mut BTreeSet<usize>,
    (network, before): (&RoadNetwork, &Layout),
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
            // A kept junction must come out as it would in a layout made from nothing. That is certain
            // for one that took a single step: it depends on its own arms only. One that was merged,
            // or whose road was squeezed, came to be in an order that its neighbours had a part in.
            for node in [road.from, road.to] {
                let Some(&beside) = before.junction_of.get(&node) else {
                    continue;
                };
                let is_loop = |(id, _): &(RoadId, RoadEnd)| before.internal.contains(id);
                // A road that is to be internal may become so now, or not any more.
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
    /// As after an earlier layout, with the nodes of all junctions apart that are not kept.
    fn resumed(
        network: &'a RoadNetwork,
        Custom { side, law }: Custom,
        rings: BTreeSet<RoadId>,
        before: &Layout,
        kept: impl Fn(NodeId) -> Option<usize>,
    ) -> Self {
        let root = |id: NodeId| kept(id).map_or(id, |junction| before.junctions[junction].nodes[0]);
        let nodes = network.nodes().map(|(id, _)| (id, root(id)));
        let parent: BTreeMap<NodeId, NodeId> = nodes.collect();
        let roots = parent.iter().filter(|(id, root)| id == root);
        let mut members: BTreeMap<NodeId, Vec<NodeId>> =
            roots.map(|(&id, _)| (id, vec![id])).collect();
        for (&id, root) in parent.iter().filter(|(id, root)| id != root) {
            members.entry(*root).or_default().push(id);
        }
        let roads = network.roads();
        let trims = roads.filter_map(|(id, _)| Some((id, *before.trims.get(&id)?)));
        let stays = |id: &RoadId| {
            let road = network.road(*id);
            road.is_some_and(|road| kept(road.from).is_some() && kept(road.to).is_some())
        };
        let internal = before.internal.iter().copied().filter(stays);
        let limits = before.limits.iter().map(|(&id, &limit)| (id, limit));
        Self {
            network,
            side,
            law,
            internal: internal.collect(),
            rings,
            trims: trims.collect(),
            limits: limits.filter(|(id, _)| stays(id)).collect(),
            parent,
            members,
        }
    }

    /// Kept junctions that were merged with others, or beside which a road was squeezed.
    fn reached(&self, before: &Layout, kept: impl Fn(NodeId) -> Option<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        for members in self.members.values().filter(|nodes| nodes.len() > 1) {
            let own: BTreeSet<Option<usize>> = members.iter().map(|&node| kept(node)).collect();
            if own.len() > 1 {
                reached.extend(own.into_iter().flatten());
            }
        }
        for id in self
            .limits
            .keys()
            .filter(|id| !before.limits.contains_key(id))
        {
            if let Some(road) = self.network.road(*id) {
                reached.extend([road.from, road.to].into_iter().filter_map(&kept));
            }
        }
        reached
    }
}
