//! What can be reached from where.

use super::{LaneGraph, LaneletId, NO_LANELET};
use crate::access::{LaneAccess, VehicleClass};
use std::collections::VecDeque;

impl LaneGraph {
    /// The lanelets that a vehicle can drive to next: successors, then neighbours.
    fn next_of(&self, id: LaneletId) -> impl Iterator<Item = LaneletId> + '_ {
        let lanelet = self.lanelet(id);
        let sides = [lanelet.left, lanelet.right];
        let all = self.successors(id).iter().copied().chain(sides);
        all.filter(|&next| next != NO_LANELET)
    }

    /// Lanelets that can be driven to from one, lane changes included. O(lanelets).
    pub fn reachable_from(&self, start: LaneletId, class: VehicleClass) -> Vec<bool> {
        let mut seen = vec![false; self.lanelets.len()];
        seen[start as usize] = true;
        let mut open = VecDeque::from([start]);
        while let Some(id) = open.pop_front() {
            for next in self.next_of(id) {
                let usable = self.lanelet(next).access.admits(class);
                if usable && !seen[next as usize] {
                    seen[next as usize] = true;
                    open.push_back(next);
                }
            }
        }
        seen
    }

    /// The largest set of lanelets from each of which every other one can be reached, without
    /// bus lanes; ascending. O(lanelets).
    ///
    /// Random trips start and end in it, so that every one of them can be driven.
    pub fn main_component(&self) -> Vec<LaneletId> {
        let mut graph = petgraph::graph::DiGraph::<(), ()>::with_capacity(self.lanelets.len(), 0);
        for _ in &self.lanelets {
            graph.add_node(());
        }
        for id in 0..self.lanelets.len() as LaneletId {
            if self.lanelet(id).access != LaneAccess::All {
                continue;
            }
            let usable = |next: &LaneletId| self.lanelet(*next).access == LaneAccess::All;
            for next in self.next_of(id).filter(usable) {
                graph.add_edge(id.into(), next.into(), ());
            }
        }
        let components = petgraph::algo::tarjan_scc(&graph);
        let largest = components
            .into_iter()
            .max_by_key(Vec::len)
            .unwrap_or_default();
        let mut lanelets: Vec<LaneletId> = largest
            .into_iter()
            .map(|n| n.index() as LaneletId)
            .collect();
        lanelets.sort_unstable();
        lanelets
    }
}
