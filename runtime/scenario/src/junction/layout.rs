//! Junctions of a whole network.
//!
//! ```text
//!    |      |                 |  |
//!  --A--3m--B--     becomes --[AB]--      The junctions at A and B want 8 m each of a road of 3 m:
//!    |      |                 |  |        they are merged, and the road becomes internal.
//! ```
//!
//! A merged junction has more arms, so it may need longer parts of the adjacent roads and use up
//! another road. Merging is therefore repeated in rounds until no road is used up. A cluster is a
//! set of merged nodes. It is identified by its smallest node, called its root. The user may
//! declare a road of any length internal. Such roads are merged first.

mod after_edit;
mod clusters;
mod stage;

use super::arm::FarEnd;
use super::corner::is_gentle;
use super::{Arm, Corner, Junction, Site, build_around, crossing, rings};
use crate::access::{LaneAccess, VehicleClass};
use crate::country::{Custom, RoadLaw};
use crate::driving_side::DrivingSide;
use crate::ids::{NodeId, RoadId};
use crate::junction_rules::{Control, CornerRule, CrossingRule, JunctionRules, TurnRules};
use crate::network::{Node, RoadNetwork};
use crate::restriction::RestrictionKind;
use crate::road::{Lane, Road, RoadEnd};
use crate::via_rules::{Followed, ViaRules};
pub use after_edit::layout_after_edit;
use clusters::{Clusters, Kept};
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::threads::map_on_all_threads;
use stage::Stage;
pub use stage::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Length of a road that must remain between its junctions, m. A larger value merges more junctions, and a
/// smaller one leaves lanelets that are shorter than a vehicle.
const MIN_REMAINDER: f64 = 2.0;
/// Minimum length of a road between two bends that is never absorbed, m. If two opposite
/// right-angle bends became one junction, no vehicle could drive the path through it.
const BETWEEN_BENDS: f64 = 8.0;
/// Maximum extent of a merged junction, m. Without a limit, a dense grid of short streets would
/// become one junction.
pub(crate) const MAX_CLUSTER: f64 = 60.0;
/// Length below which a piece of a ring is absorbed, m. With such a piece, the rear of a car that
/// leaves the ring is still at the next entry, so the exit and the entry form one conflict. A car
/// is 4.5 m long and needs 2 m behind it.
const RING_PIECE: f64 = 6.5;
/// Maximum fraction of a ring that one junction may absorb. The rest of the ring keeps traffic
/// circulating around the island.
const RING_SHARE: f64 = 0.3;
/// Maximum ratio of a road's length to the distance between its ends at which the road counts as
/// straight.
const STRAIGHT: f64 = 1.1;
/// Maximum number of rounds of merging. Each round examines only what the previous round changed.
/// If roads are still shorter than their trims after the last round, their trims are reduced.
const MAX_ROUNDS: usize = 8;
/// Minimum number of junctions for which several threads are used. Fewer junctions are all built on
/// the calling thread.
const FEW_JUNCTIONS: usize = 200;
/// Progress after the trims of all junctions have been computed once, as a fraction.
const TRIMMED: f64 = 0.45;
/// Progress after all short roads have been merged, as a fraction.
const MERGED: f64 = 0.5;

/// Lengths of a road that its junctions take up, along the reference line, m.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Trim {
    /// Trim at s = 0.
    pub start: f64,
    /// Trim at the end of the road.
    pub end: f64,
}

impl Trim {
    fn at_mut(&mut self, end: RoadEnd) -> &mut f64 {
        match end {
            RoadEnd::Start => &mut self.start,
            RoadEnd::End => &mut self.end,
        }
    }

    /// Returns the trim at one end.
    pub fn at(&self, end: RoadEnd) -> f64 {
        match end {
            RoadEnd::Start => self.start,
            RoadEnd::End => self.end,
        }
    }
}

/// The junctions of a network, and the parts of roads between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layout {
    /// Junctions, ordered by their first node. Road ends and nodes where roads merely continue are also
    /// junctions, but have no outline. Layouts share junctions that an edit did not change.
    pub junctions: Vec<Arc<Junction>>,
    /// Index of the junction of each node.
    pub junction_of: BTreeMap<NodeId, usize>,
    /// Trims of the roads that remain.
    pub trims: BTreeMap<RoadId, Trim>,
    /// Roads that are entirely inside a merged junction.
    pub internal: BTreeSet<RoadId>,
    /// Roads that are the rings of roundabouts.
    pub rings: BTreeSet<RoadId>,
    /// Upper limits for the trims of roads that are too short for their junctions.
    limits: BTreeMap<RoadId, Trim>,
}

impl Layout {
    /// Returns the part of a road between its junctions, m; `None` for a road inside a junction.
    pub fn remaining(&self, id: RoadId, road: &Road) -> Option<(f64, f64)> {
        let trim = self.trims.get(&id)?;
        Some((trim.start, road.length() - trim.end))
    }

    /// Returns the junction that contains a node; `None` if there is no such node.
    pub fn junction_at(&self, node: NodeId) -> Option<&Arc<Junction>> {
        self.junctions.get(*self.junction_of.get(&node)?)
    }

    /// Computes all missing surfaces of junctions, on all threads. Without this call, each surface
    /// is computed when it is first drawn.
    pub fn make_surfaces(&self) {
        let make = |junction: &Arc<Junction>| junction.make_surface();
        map_on_all_threads(&self.junctions, FEW_JUNCTIONS, make);
    }

    /// Computes the flags that depend on the surfaces of junctions, on all threads.
    pub(crate) fn find_flags(&self) {
        let find = |junction: &Arc<Junction>| junction.is_degraded();
        map_on_all_threads(&self.junctions, FEW_JUNCTIONS, find);
    }

    /// Returns, for each junction of another layout, its index in this layout if both layouts share
    /// the junction; `None` for junctions that were rebuilt. O(junctions of both).
    pub fn shared_by(&self, other: &Self) -> Vec<Option<usize>> {
        // Both lists are ordered by the first node of each junction.
        let mut own = (0..).zip(&self.junctions).peekable();
        let shared = |junction: &Arc<Junction>| {
            let first = junction.nodes.first();
            let is_before = |(_, own): &(usize, &Arc<Junction>)| own.nodes.first() < first;
            while own.next_if(is_before).is_some() {}
            let (index, own) = *own.peek()?;
            Arc::ptr_eq(own, junction).then_some(index)
        };
        other.junctions.iter().map(shared).collect()
    }
}

/// Lays out all junctions of a network.
///
/// A road that its two junctions would use up is absorbed into one merged junction, provided that
/// this junction stays within 60 m. Otherwise the trims of the road are squeezed and flagged. If
/// only a driving side is given, the default law applies. O(roads log roads) for nodes of bounded
/// degree.
pub fn layout(network: &RoadNetwork, custom: impl Into<Custom>) -> Layout {
    layout_watched(network, custom, &stage::ignore)
}

/// Like [`layout`](fn@layout), but reports its progress to `watch`, which has no effect on the
/// result.
pub fn layout_watched(
    network: &RoadNetwork,
    custom: impl Into<Custom>,
    watch: Watch<'_>,
) -> Layout {
    let mut planner = Planner::new(network, custom.into(), watch);
    planner.merge_short_roads();
    watch(MERGED);
    let layout = planner.finish(None);
    watch(1.0);
    layout
}

/// Returns the index of the junction of each node. Reuses the map of `before` if the nodes of all
/// junctions are unchanged.
fn numbers(junctions: &[Arc<Junction>], before: Option<&Layout>) -> BTreeMap<NodeId, usize> {
    let has_same_nodes = |layout: &&Layout| {
        let nodes = layout.junctions.iter().map(|junction| &junction.nodes);
        nodes.eq(junctions.iter().map(|junction| &junction.nodes))
    };
    if let Some(before) = before.filter(has_same_nodes) {
        return before.junction_of.clone();
    }
    let numbered = (0..).zip(junctions);
    numbered
        .flat_map(|(i, junction)| junction.nodes.iter().map(move |&node| (node, i)))
        .collect()
}

struct Planner<'a> {
    network: &'a RoadNetwork,
    side: DrivingSide,
    law: RoadLaw,
    clusters: Clusters<'a>,
    internal: BTreeSet<RoadId>,
    rings: BTreeSet<RoadId>,
    trims: BTreeMap<RoadId, Trim>,
    limits: BTreeMap<RoadId, Trim>,
    /// Sorted arms of each cluster whose arms have not changed since its trims were computed, by
    /// root.
    sorted: BTreeMap<NodeId, SortedArms<'a>>,
    /// Receives the progress.
    watch: Watch<'a>,
}

/// Arms of a cluster with the trim of each arm, m.
struct TrimmedArms<'a> {
    sorted: SortedArms<'a>,
    trims: Vec<f64>,
}

/// The arms of a cluster, counter-clockwise, and the corner after each arm.
struct SortedArms<'a> {
    arms: Vec<Arm<'a>>,
    corners: Vec<Corner>,
}

impl<'a> Planner<'a> {
    fn new(network: &'a RoadNetwork, Custom { side, law }: Custom, watch: Watch<'a>) -> Self {
        Self {
            network,
            side,
            law,
            clusters: Clusters::apart(network.nodes().map(|(id, _)| id), None),
            internal: BTreeSet::new(),
            rings: rings::rings(network, side),
            trims: BTreeMap::new(),
            limits: BTreeMap::new(),
            sorted: BTreeMap::new(),
            watch,
        }
    }

    fn root(&self, node: NodeId) -> NodeId {
        self.clusters.root(node)
    }

    fn members(&self, root: NodeId) -> &[NodeId] {
        self.clusters.members(root)
    }

    fn arms(&self, root: NodeId) -> Vec<Arm<'a>> {
        let mut arms = Vec::new();
        for &node in self.members(root) {
            for (id, end) in self.network.ends_at(node) {
                if !self.internal.contains(&id)
                    && let Some(road) = self.network.shared_road(id)
                {
                    let far_end = self.far_end(road.node_at(end.opposite()));
                    arms.push(Arm::of_shared(id, road, end).with_far_end(far_end));
                }
            }
        }
        arms
    }

    /// Returns the number of arms of a cluster.
    fn arm_count(&self, root: NodeId) -> usize {
        let members = self.members(root).iter();
        let ends = members.flat_map(|&node| self.network.ends_at(node));
        ends.filter(|(id, _)| !self.internal.contains(id)).count()
    }

    /// Returns the kind of an arm's far end, which is at node `id`. Control that the user has set
    /// for the node is ignored, because it applies to all nodes of a junction and must not separate
    /// them.
    fn far_end(&self, id: NodeId) -> FarEnd {
        let ends = self.network.ends_at(id);
        // Roads inside a junction have no pedestrian crossings.
        let is_plain = |node: &Node| node.rules.crossings.is_empty();
        let bearing = |(id, end)| Some(Arm::new(id, self.network.road(id)?, end).bearing());
        match ends[..] {
            [_] => FarEnd::DeadEnd,
            [one, other] if self.network.node(id).is_some_and(is_plain) && one.0 != other.0 => {
                let bearings = (bearing(one), bearing(other));
                let (Some(one), Some(other)) = bearings else {
                    return FarEnd::Junction;
                };
                match is_gentle(wrap_angle(one - other)) {
                    true => FarEnd::RoadGoesOn,
                    false => FarEnd::Junction,
                }
            }
            _ => FarEnd::Junction,
        }
    }

    fn centre(&self, root: NodeId) -> DVec2 {
        self.network.centre(self.members(root))
    }

    /// Absorbs roads that are shorter than their trims until none remain. Starts with all clusters
    /// that are not kept.
    fn merge_short_roads(&mut self) {
        let mut dirty = self.merge_named(&self.clusters.open().collect());
        for round in 0..MAX_ROUNDS {
            // Later rounds take little time, because few junctions merge.
            let watch = if round == 0 {
                self.watch
            } else {
                &stage::ignore
            };
            let touched = self.compute_trims(&dirty, &Stage::new(watch, 0.0..TRIMMED, dirty.len()));
            dirty = self.merge_used_up(&touched);
            if dirty.is_empty() {
                return;
            }
        }
        // Roads that would still be absorbed after the last round are squeezed.
        let all: BTreeSet<_> = self.trims.keys().copied().collect();
        for road in self.used_up(&all) {
            self.squeeze(road);
        }
    }

    /// Computes the trims of the arms of the given clusters. Returns the roads of these arms.
    fn compute_trims(&mut self, roots: &BTreeSet<NodeId>, stage: &Stage<'_>) -> BTreeSet<RoadId> {
        let roots: Vec<NodeId> = roots.iter().copied().collect();
        // The arms of a cluster depend only on the network and the clusters, so the number of threads does not
        // matter.
        let trimmed = |&root: &NodeId| {
            let trimmed = self.trimmed_arms(root);
            stage.finish_one();
            trimmed
        };
        let found = map_on_all_threads(&roots, FEW_JUNCTIONS, trimmed);
        let mut touched = BTreeSet::new();
        for (root, TrimmedArms { sorted, trims }) in roots.into_iter().zip(found) {
            for (arm, trim) in sorted.arms.iter().zip(trims) {
                *self.trims.entry(arm.road_id).or_default().at_mut(arm.end) = trim;
                touched.insert(arm.road_id);
            }
            self.sorted.insert(root, sorted);
        }
        touched
    }

    fn trimmed_arms(&self, root: NodeId) -> TrimmedArms<'a> {
        let rules = self.rules(root);
        let sorted = self.sorted_arms(root, &rules);
        let SortedArms { arms, corners } = &sorted;
        let trim = |i| crossing::trim(arms, corners, &rules.crossings, i);
        TrimmedArms {
            trims: (0..arms.len()).map(trim).collect(),
            sorted,
        }
    }

    fn sorted_arms(&self, root: NodeId, rules: &JunctionRules) -> SortedArms<'a> {
        let (mut arms, centre) = (self.arms(root), self.centre(root));
        super::arm::sort_counter_clockwise(&mut arms, centre);
        let is_ring = |road| self.rings.contains(&road);
        let corners = super::corners(centre, &arms, self.side, rules, &is_ring);
        SortedArms { arms, corners }
    }

    /// Returns the roads that their junctions use up nearly or entirely, shortest first.
    fn used_up(&self, candidates: &BTreeSet<RoadId>) -> Vec<RoadId> {
        let mut short: Vec<(f64, RoadId)> = candidates
            .iter()
            .filter(|id| !self.limits.contains_key(id) && !self.internal.contains(id))
            .filter_map(|&id| {
                let (trim, length) = (self.trims.get(&id)?, self.network.road(id)?.length());
                let used = trim.start + trim.end;
                (used > 0.0 && used > length - MIN_REMAINDER).then_some((length, id))
            })
            .collect();
        // The shortest road comes first, because merging its ends may leave the other roads long
        // enough, or use them up.
        short.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        short.into_iter().map(|(_, id)| id).collect()
    }

    /// Merges clusters along used-up roads. Returns the clusters that have changed.
    fn merge_used_up(&mut self, candidates: &BTreeSet<RoadId>) -> BTreeSet<NodeId> {
        let mut changed = BTreeSet::new();
        for id in self.used_up(candidates) {
            let Some(road) = self.network.road(id) else {
                continue;
            };
            let (a, b) = (self.root(road.from), self.root(road.to));
            let is_bend = |root| self.arm_count(root) == 2;
            let is_between_bends = road.length() >= BETWEEN_BENDS && is_bend(a) && is_bend(b);
            // Junctions on a ring are not merged with junctions beside the ring.
            let is_beside_ring =
                !self.rings.contains(&id) && (self.is_on_ring(a) || self.is_on_ring(b));
            match is_between_bends || is_beside_ring || !self.can_be_internal(id, road) {
                true => self.squeeze(id),
                false => _ = changed.insert(self.take_in(id, road)),
            }
        }
        self.with_chords(changed)
    }

    /// In the clusters of the given nodes, absorbs straight roads from one node of a cluster to
    /// another. Returns these clusters.
    fn with_chords(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> BTreeSet<NodeId> {
        let roots = self.roots(nodes);
        for &root in &roots {
            if self.members(root).len() > 1 {
                self.take_in_chords(root);
            }
        }
        roots
    }

    /// Absorbs roads that lead straight from one node of a cluster to another, because paths
    /// through the junction follow them.
    fn take_in_chords(&mut self, root: NodeId) {
        let network = self.network;
        for arm in self.arms(root) {
            let road = arm.road;
            let is_inside = self.root(road.from) == root && self.root(road.to) == root;
            let ends = [road.from, road.to].map(|id| network.node(id).map(Node::position));
            let [Some(a), Some(b)] = ends else { continue };
            let is_straight = road.length() < STRAIGHT * (b - a).length();
            if is_inside && is_straight && self.can_be_internal(arm.road_id, road) {
                self.take_in(arm.road_id, road);
            }
        }
    }

    /// Merges clusters at the ends of roads that the given nodes declare internal. Returns the
    /// resulting clusters of all given nodes.
    fn merge_named(&mut self, nodes: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let network = self.network;
        // Collected first, because roots disappear while clusters are merged.
        let listed = nodes.iter().flat_map(|&root| self.members(root));
        let listed: Vec<NodeId> = listed.copied().collect();
        for node in listed {
            let rules = network.node(node).map(|node| &node.rules);
            for &id in rules.into_iter().flat_map(|rules| &rules.internal_roads) {
                let leads_on =
                    |road: &&Road| road.from != road.to && [road.from, road.to].contains(&node);
                if let Some(road) = network.road(id).filter(leads_on)
                    && self.can_be_internal(id, road)
                {
                    self.take_in(id, road);
                }
            }
        }
        self.with_chords(nodes.iter().copied())
    }

    /// Returns the roots of the clusters that contain the given nodes. For a cluster that has been
    /// merged, this is the root of the merged cluster.
    fn roots(&self, nodes: impl IntoIterator<Item = NodeId>) -> BTreeSet<NodeId> {
        nodes.into_iter().map(|node| self.root(node)).collect()
    }

    /// Whether a road can be inside one junction, which must not exceed 60 m or break up a ring.
    fn can_be_internal(&self, id: RoadId, road: &Road) -> bool {
        let (a, b) = (self.root(road.from), self.root(road.to));
        // The road may be much longer than the distance between its ends.
        let is_long = road.length() > MAX_CLUSTER || self.extent(a, b) > MAX_CLUSTER;
        !is_long && !self.breaks_ring(id, a, b)
    }

    /// Absorbs a road and merges the clusters at its ends. Returns the root of the result.
    fn take_in(&mut self, id: RoadId, road: &Road) -> NodeId {
        self.internal.insert(id);
        self.trims.remove(&id);
        let (from, to) = (self.root(road.from), self.root(road.to));
        // One of the two roots is the root of the union.
        self.sorted.remove(&from);
        self.sorted.remove(&to);
        self.clusters.union(from, to)
    }

    /// Whether merging two clusters along a road would break up a ring. Traffic has to keep circulating
    /// around its island, however small it is.
    fn breaks_ring(&self, id: RoadId, a: NodeId, b: NodeId) -> bool {
        let is_mini = |root: NodeId| {
            let mut rules = self.rules_of_nodes(root);
            rules.any(|rules| rules.control == Some(Control::MiniRoundabout))
        };
        // Each mini roundabout has its own island.
        if is_mini(a) && is_mini(b) {
            return true;
        }
        match self.rings.contains(&id) {
            true => !self.is_short_ring_piece(id, a, b),
            false => self.is_on_ring(a) && self.is_on_ring(b),
        }
    }

    /// Whether a piece of a ring is too short for a car, and most of the ring would remain if two
    /// clusters merged along it.
    fn is_short_ring_piece(&self, id: RoadId, a: NodeId, b: NodeId) -> bool {
        let length = |id: RoadId| self.network.road(id).map_or(0.0, Road::length);
        if length(id) >= RING_PIECE {
            return false;
        }
        let is_inside = |other: &RoadId| {
            let road = self.network.road(*other);
            let root = road.map(|road| self.root(road.from));
            let is_absorbed = self.internal.contains(other) && [Some(a), Some(b)].contains(&root);
            *other == id || is_absorbed
        };
        let ring = rings::connected(self.network, &self.rings, id);
        let whole: f64 = ring.iter().copied().map(length).sum();
        let inside: f64 = ring
            .iter()
            .filter(|id| is_inside(id))
            .copied()
            .map(length)
            .sum();
        inside <= RING_SHARE * whole
    }

    /// Whether a ring passes through a cluster.
    fn is_on_ring(&self, root: NodeId) -> bool {
        let mut nodes = self.members(root).iter();
        nodes.any(|&node| {
            let ends = self.network.ends_at(node);
            ends.iter().any(|(id, _)| self.rings.contains(id))
        })
    }

    /// Returns the largest distance between any two nodes of the two clusters, m.
    fn extent(&self, a: NodeId, b: NodeId) -> f64 {
        let positions: Vec<_> = [a, b]
            .iter()
            .flat_map(|&root| self.members(root))
            .filter_map(|&id| Some(self.network.node(id)?.position()))
            .collect();
        let (low, high) = roadwright_geometry::polygon::bounds(&positions).unwrap_or_default();
        (high - low).length()
    }

    /// Limits the trims of a road so that some of it remains.
    fn squeeze(&mut self, id: RoadId) {
        let Some(length) = self.network.road(id).map(Road::length) else {
            return;
        };
        let Some(trim) = self.trims.get(&id) else {
            return;
        };
        // The usable length is divided in proportion to the trims: of a road of 12 m, 10 m are
        // usable, so trims of 8 and 9 m become 4.7 and 5.3 m. If a road is hardly longer than the
        // minimum remainder, a tenth of it is usable.
        let used = trim.start + trim.end;
        let room = (length - MIN_REMAINDER).max(0.1 * length);
        let share = (room / used).min(1.0);
        let limit = Trim {
            start: trim.start * share,
            end: trim.end * share,
        };
        self.limits.insert(id, limit);
    }

    /// Builds all junctions that are not kept, and records how far they cut back their arms. The trims of
    /// kept junctions are already known.
    fn finish(mut self, kept: Option<Kept<'_>>) -> Layout {
        let roots: Vec<NodeId> = self.clusters.open().collect();
        // Each junction depends only on the network and the clusters, so the number of threads does not
        // matter.
        let stage = Stage::new(self.watch, MERGED..1.0, roots.len());
        let build = |&root: &NodeId| {
            let junction = self.build(root);
            stage.finish_one();
            junction
        };
        let mut junctions = map_on_all_threads(&roots, FEW_JUNCTIONS, build);
        for arm in junctions.iter().flat_map(|junction| &junction.arms) {
            *self.trims.entry(arm.road).or_default().at_mut(arm.end) = arm.trim;
        }
        // Both lists are sorted, which makes this sort fast.
        junctions.extend(kept.iter().flat_map(Kept::junctions).cloned());
        junctions.sort_by_key(|junction| junction.nodes[0]);
        Layout {
            junction_of: numbers(&junctions, kept.map(|kept| kept.before)),
            junctions,
            trims: self.trims,
            internal: self.internal,
            rings: self.rings,
            limits: self.limits,
        }
    }

    /// Combines the rules of a cluster. Signals at any of its nodes control the whole cluster. Otherwise, the
    /// control set at the node with the smallest id applies. Nodes with the same control combine their major
    /// roads. Turn restrictions apply only at their own nodes. The crossings, lane turns and corners of all
    /// nodes apply.
    fn rules(&self, root: NodeId) -> JunctionRules {
        let (crossings, turns, corners) =
            (self.crossings(root), self.turns(root), self.corners(root));
        let chosen = self.network.deciding_node(self.members(root));
        let chosen = chosen.and_then(|id| Some(&self.network.node(id)?.rules));
        let Some(chosen) = chosen else {
            return JunctionRules {
                crossings,
                turns,
                corners,
                ..JunctionRules::default()
            };
        };
        let rules = self.rules_of_nodes(root);
        let alike = rules.filter(|rules| rules.control == chosen.control);
        JunctionRules {
            crossings,
            turns,
            corners,
            major: alike
                .flat_map(|rules| rules.major.iter().copied())
                .collect(),
            ..chosen.clone()
        }
    }

    /// Returns the crossings that the nodes of a cluster define on roads that leave the cluster.
    fn crossings(&self, root: NodeId) -> Vec<CrossingRule> {
        let rules = self.rules_of_nodes(root);
        let all = rules.flat_map(|rules| rules.crossings.iter().copied());
        all.filter(|rule| !self.internal.contains(&rule.road))
            .collect()
    }

    /// Returns the lane turns that the rules at the nodes of a cluster add or remove.
    fn turns(&self, root: NodeId) -> TurnRules {
        let mut all = TurnRules::default();
        for rules in self.rules_of_nodes(root) {
            all.add.extend(&rules.turns.add);
            all.remove.extend(&rules.turns.remove);
        }
        all
    }

    /// Returns the corner rules of all nodes of a cluster.
    fn corners(&self, root: NodeId) -> Vec<CornerRule> {
        let rules = self.rules_of_nodes(root);
        rules
            .flat_map(|rules| rules.corners.iter().copied())
            .collect()
    }

    /// Returns the rules of each node of a cluster.
    fn rules_of_nodes(&self, root: NodeId) -> impl Iterator<Item = &JunctionRules> {
        let nodes = self.members(root).iter();
        nodes.filter_map(move |&id| Some(&self.network.node(id)?.rules))
    }

    fn build(&self, root: NodeId) -> Arc<Junction> {
        let allows = |from: (RoadId, RoadEnd), to: (RoadId, RoadEnd)| self.allows(root, from, to);
        let limits = |road: RoadId, end: RoadEnd| self.limits.get(&road).map(|trim| trim.at(end));
        let site = Site {
            nodes: self.members(root).to_vec(),
            centre: self.centre(root),
            side: self.side,
            law: self.law,
            rules: self.rules(root),
            is_ring: &|road| self.rings.contains(&road),
            allows: &allows,
            limits: &limits,
        };
        Arc::new(match self.sorted.get(&root) {
            Some(SortedArms { arms, corners }) => build_around(&site, arms, corners.clone()),
            None => {
                let SortedArms { arms, corners } = self.sorted_arms(root, &site.rules);
                build_around(&site, &arms, corners)
            }
        })
    }

    /// Returns the vehicles that may drive from one arm of a cluster into another over the roads
    /// inside it; `None` if no vehicle may. The result depends on the directions of the roads and
    /// on turn restrictions.
    fn allows(
        &self,
        root: NodeId,
        from: (RoadId, RoadEnd),
        to: (RoadId, RoadEnd),
    ) -> Option<LaneAccess> {
        let leads_for = |class| self.leads(root, from, to, class);
        if leads_for(VehicleClass::Car) {
            return Some(LaneAccess::All);
        }
        // Buses may use bus lanes.
        let has_inside = self.members(root).len() > 1;
        (has_inside && leads_for(VehicleClass::Bus)).then_some(LaneAccess::Buses)
    }

    /// Whether vehicles of a class may drive from one arm of a cluster into another.
    fn leads(
        &self,
        root: NodeId,
        from: (RoadId, RoadEnd),
        to: (RoadId, RoadEnd),
        class: VehicleClass,
    ) -> bool {
        let node_of = |(id, end): (RoadId, RoadEnd)| self.network.road(id).map(|r| r.node_at(end));
        let (Some(start), Some(goal)) = (node_of(from), node_of(to)) else {
            return false;
        };
        // The search runs over pairs of a node and the road by which it was reached, because a turn
        // restriction depends on both. In a junction of one node, the first step decides. Via
        // restrictions depend on the whole route so far.
        let via = self.via_rules(root);
        let mut seen: BTreeSet<(NodeId, RoadId, Followed)> = BTreeSet::new();
        let begun = via.after(&Followed::default(), from.0).unwrap_or_default();
        let mut open = vec![(start, from.0, begun)];
        while let Some((node, arrived_by, followed)) = open.pop() {
            let may_leave = node == goal && self.turn_allowed(node, arrived_by, to.0);
            if may_leave && via.after(&followed, to.0).is_some() {
                return true;
            }
            if !seen.insert((node, arrived_by, followed.clone())) || self.members(root).len() == 1 {
                continue;
            }
            for (id, end) in self.network.ends_at(node) {
                let inside = self.internal.contains(&id) && id != arrived_by;
                let Some(road) = self.network.road(id).filter(|_| inside) else {
                    continue;
                };
                let forward = end == RoadEnd::Start;
                let s = if forward { 0.0 } else { road.length() };
                let is_open = |lane: &Lane| {
                    lane.is_forward(self.side) == forward
                        && lane.kind.is_drivable()
                        && LaneAccess::of(lane.kind).admits(class)
                };
                let drivable = road.section_at(s).lanes.iter().any(is_open);
                let after = via.after(&followed, id);
                let may_turn = drivable && self.turn_allowed(node, arrived_by, id);
                if let Some(after) = after.filter(|_| may_turn) {
                    let far = if forward { road.to } else { road.from };
                    open.push((far, id, after));
                }
            }
        }
        false
    }

    /// Returns the via restrictions stored at the nodes of a cluster.
    fn via_rules(&self, root: NodeId) -> ViaRules {
        let nodes = self.members(root).iter().copied();
        ViaRules::of(self.network, nodes, |_| true)
    }

    /// Whether the restrictions of a node allow a turn.
    fn turn_allowed(&self, node: NodeId, from: RoadId, to: RoadId) -> bool {
        let Some(node) = self.network.node(node) else {
            return false;
        };
        let own = || {
            node.rules
                .restrictions_at(self.network.moment())
                .filter(move |r| r.from == from)
        };
        let forbidden = own().any(|r| r.kind == RestrictionKind::No && r.to == to);
        let mut only = own().filter(|r| r.kind == RestrictionKind::Only).peekable();
        // "Only to this road" prohibits all other roads. Several such rules together permit all
        // roads that they name.
        let elsewhere = only.peek().is_some() && !only.any(|r| r.to == to);
        !forbidden && !elsewhere
    }
}
