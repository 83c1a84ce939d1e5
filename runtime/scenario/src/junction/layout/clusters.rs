//! Clusters of nodes that are merged into one junction.

use super::Layout;
use crate::ids::NodeId;
use crate::junction::Junction;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The junctions of an earlier layout that an edit leaves unchanged.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a> {
    pub(super) before: &'a Layout,
    /// The junctions that are rebuilt.
    pub(super) redone: &'a BTreeSet<usize>,
}

impl<'a> Kept<'a> {
    /// Returns the junction of a node; `None` if the junction is not kept.
    pub(super) fn of(&self, node: NodeId) -> Option<usize> {
        let junction = self.before.junction_of.get(&node).copied();
        junction.filter(|junction| !self.redone.contains(junction))
    }

    /// Returns all kept junctions.
    pub(super) fn junctions(&self) -> impl Iterator<Item = &'a Arc<Junction>> {
        let redone = self.redone;
        let all = self.before.junctions.iter().enumerate();
        all.filter(|(number, _)| !redone.contains(number))
            .map(|(_, junction)| junction)
    }

    fn nodes(&self, node: NodeId) -> Option<&'a [NodeId]> {
        Some(&self.before.junctions[self.of(node)?].nodes)
    }
}

/// Clusters of nodes. Each cluster is identified by its smallest node, called its root.
///
/// Kept junctions are recorded only when another cluster is merged with them, so that an edit does
/// not visit a whole city.
pub(super) struct Clusters<'a> {
    /// Union-find structure with the root of each node.
    roots: BTreeMap<NodeId, NodeId>,
    members: BTreeMap<NodeId, Vec<NodeId>>,
    kept: Option<Kept<'a>>,
}

impl<'a> Clusters<'a> {
    /// Creates a separate cluster for each given node. Kept junctions are left as they are.
    pub(super) fn apart(nodes: impl Iterator<Item = NodeId>, kept: Option<Kept<'a>>) -> Self {
        let members: BTreeMap<NodeId, Vec<NodeId>> = nodes.map(|id| (id, vec![id])).collect();
        Self {
            roots: members.keys().map(|&id| (id, id)).collect(),
            members,
            kept,
        }
    }

    /// Returns the root of a node.
    pub(super) fn root(&self, node: NodeId) -> NodeId {
        let kept = || Some(self.kept?.nodes(node)?[0]);
        let known = self.roots.get(&node).copied();
        known.or_else(kept).expect("each node is in a cluster")
    }

    /// Returns the nodes of the cluster with this root, in ascending order of id.
    pub(super) fn members(&self, root: NodeId) -> &[NodeId] {
        match self.members.get(&root) {
            Some(members) => members,
            None => {
                let kept = || self.kept?.nodes(root);
                kept().expect("each root has a cluster")
            }
        }
    }

    /// Returns the roots of all clusters that are not kept.
    pub(super) fn open(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.members.keys().copied()
    }

    /// Merges two clusters and returns the root.
    pub(super) fn union(&mut self, a: NodeId, b: NodeId) -> NodeId {
        // The smallest node becomes the root, whatever the order of merging. Any two sequences of
        // edits that lead to the same network therefore give a junction the same nodes and the same
        // index.
        let (keep, drop) = (a.min(b), a.max(b));
        if keep == drop {
            return keep;
        }
        let mut members = self.members(keep).to_vec();
        members.extend_from_slice(self.members(drop));
        members.sort_unstable();
        self.roots.extend(members.iter().map(|&node| (node, keep)));
        self.members.remove(&drop);
        self.members.insert(keep, members);
        keep
    }

    /// Returns the kept junctions that were merged with others and have to be rebuilt.
    pub(super) fn reached(&self) -> BTreeSet<usize> {
        let kept = self.kept.iter();
        kept.flat_map(|kept| self.roots.keys().filter_map(|&node| kept.of(node)))
            .collect()
    }
}
