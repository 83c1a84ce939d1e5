//! The lane graph of an edited network: what has not changed is copied, and lanelets of before are
//! found again.
//!
//! An edit in a city changes a handful of roads out of thousands. Sampling centre lines is what a
//! graph costs, so lanelets whose roads are the same are copied with their points. The result must
//! be equal to a graph made from nothing, lanelet by lanelet: a property test holds the two
//! together (`tests/incremental.rs`), which is why copies are added in the same order as new ones.

use super::build::Builder;
use super::{LaneGraph, Lanelet, LaneletIndex, LaneletKind, NO_LANELET, PathLanelets};
use crate::ids::RoadId;
use crate::index::JunctionIndex;
use crate::junction::Layout;
use crate::network::RoadNetwork;
use crate::road::Road;
use crate::scenario::Scenario;
use std::ops::Range;

/// The centre lines of an edited network are those of before with new ones behind them, until the new ones are
/// this share of all. Then those that are still used are copied.
const MOST_OWN_LINES: f64 = 0.1;

/// The lanelet of before that one is a copy of, by what [`LaneGraph::after_edit`] says of all.
#[inline]
pub fn copied(copies: &[LaneletIndex], id: LaneletIndex) -> Option<LaneletIndex> {
    Some(copies[id.index()]).filter(|&copy| copy != NO_LANELET)
}

/// A network before an edit, with what was made of it.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// The roads.
    pub network: &'a RoadNetwork,
    /// Their layout.
    pub layout: &'a Layout,
    /// Their lanelets.
    pub graph: &'a LaneGraph,
}

impl Before<'_> {
    /// Whether a road was the same, and is cut back by its junctions as it was.
    ///
    /// Copies of a scenario share their roads, so it is enough to compare addresses: a road that
    /// was replaced by an equal one is sampled again, which costs time and changes nothing.
    pub(super) fn has_same(&self, id: RoadId, road: &Road, start: f64, end: f64) -> bool {
        let old = self.network.road(id);
        old.is_some_and(|old| {
            std::ptr::eq(old, road) && self.layout.remaining(id, old) == Some((start, end))
        })
    }
}

impl LaneGraph {
    /// The lanelets of an edited scenario: equal to those of [`new`](Self::new), with those of roads
    /// and junctions that the edit did not change copied. Says for each lanelet which one of before
    /// it is a copy of; [`NO_LANELET`] for none. The driving side is the same.
    pub fn after_edit(
        scenario: &Scenario,
        layout: &Layout,
        before: Before<'_>,
    ) -> (Self, Vec<LaneletIndex>) {
        Self::build(scenario, layout, Some(before))
    }

    /// For each lanelet the one of an edited network that is the same piece of lane, or the
    /// connection between the same lanes; [`NO_LANELET`] if it is gone. Shapes may differ.
    /// O(lanelets log lanes).
    ///
    /// ```text
    ///   before   A --(c)--> B        A and B are found by road, lane and section; c is the
    ///   after    A'--(c')-> B'       connection that leads from A' to B'
    /// ```
    pub fn counterparts(&self, edited: &Self) -> Vec<LaneletIndex> {
        let mut found = vec![NO_LANELET; self.lanelets.len()];
        self.find_lanes(edited, &mut found);
        self.find_connections(edited, &mut found);
        found
    }

    /// The pieces of lane of an edited network: same road, same lane, same section.
    fn find_lanes(&self, edited: &Self, found: &mut [LaneletIndex]) {
        let section = |graph: &Self, id: LaneletIndex| match graph.lanelet(id).kind {
            LaneletKind::Lane { section, .. } => section,
            LaneletKind::Connection { .. } => u16::MAX,
        };
        for ((road, lane), lanelets) in self.index.iter() {
            let others = edited.index.of_lane(road, lane);
            for &id in lanelets {
                let own = section(self, id);
                let same = others.iter().find(|&&other| section(edited, other) == own);
                found[id.index()] = same.copied().unwrap_or(NO_LANELET);
            }
        }
    }

    /// The connections of an edited network, by the counterparts of the lanes that they join:
    /// junctions and paths have other numbers after an edit.
    fn find_connections(&self, edited: &Self, found: &mut [LaneletIndex]) {
        for (id, lanelet) in self.numbered() {
            if !lanelet.is_connection() {
                continue;
            }
            let end = |ids: &[LaneletIndex]| ids.first().map(|&end| found[end.index()]);
            // A connection has one lanelet before it and one behind it.
            let (Some(from), Some(to)) = (end(self.predecessors(id)), end(self.successors(id)))
            else {
                continue;
            };
            if from != NO_LANELET && to != NO_LANELET {
                let mut next = edited.successors(from).iter().copied();
                let leads_to = |&between: &LaneletIndex| {
                    let is_connection = edited.lanelet(between).is_connection();
                    is_connection && edited.successors(between).first() == Some(&to)
                };
                found[id.index()] = next.find(leads_to).unwrap_or(NO_LANELET);
            }
        }
    }
}

impl Builder {
    /// Makes room for about as much as there was before.
    pub(super) fn expect(&mut self, before: &LaneGraph) {
        // A little more than before: an edit adds a few lanelets, and growing would copy all of them.
        self.lanelets.reserve(before.lanelets.len() + 64);
        self.copies.reserve(before.lanelets.len() + 64);
        self.links.reserve(before.links.len() / 2 + 64);
        self.continues_lines = before.lines.own_share() < MOST_OWN_LINES;
        if self.continues_lines {
            self.lines = before.lines.clone();
        }
        self.copy_of = vec![NO_LANELET; before.lanelets.len()];
    }

    /// Adds a copy of a lanelet of before.
    fn push_copy(
        &mut self,
        id: LaneletIndex,
        before: &LaneGraph,
        lanelet: Lanelet,
    ) -> LaneletIndex {
        let line = match self.continues_lines {
            true => lanelet.line,
            false => self.lines.push_copy(&before.lines, lanelet.line),
        };
        let copy = self.push(Lanelet { line, ..lanelet });
        self.copies[copy.index()] = id;
        self.copy_of[id.index()] = copy;
        copy
    }

    /// Adds the lanelets of a road as they were before.
    pub(super) fn copy_road(&mut self, road: RoadId, before: &LaneGraph) {
        let ids = before.index.of_road(road);
        let first = LaneletIndex::from_index(self.lanelets.len());
        // Neighbours are lanelets of the same road, which keep their distance to each other.
        let moved = |beside: LaneletIndex| match beside {
            NO_LANELET => NO_LANELET,
            beside => LaneletIndex::new(beside.number() - ids.start.number() + first.number()),
        };
        for id in LaneletIndex::within(ids.clone()) {
            let lanelet = before.lanelet(id).clone();
            let (left, right) = (moved(lanelet.left), moved(lanelet.right));
            let beside = lanelet.beside.map(moved);
            self.push_copy(
                id,
                before,
                Lanelet {
                    left,
                    right,
                    beside,
                    ..lanelet
                },
            );
        }
    }

    /// Adds the connections of junction `number` as they were before, where their paths were a
    /// range of all; says no, and adds none, if a road there is not a copy.
    pub(super) fn copy_connections(
        &mut self,
        number: JunctionIndex,
        paths: Range<usize>,
        before: &LaneGraph,
    ) -> bool {
        let paths = &before.paths[paths];
        let copied = |id: LaneletIndex| id == NO_LANELET || self.copy_of[id.index()] != NO_LANELET;
        // A path that led nowhere may lead somewhere now.
        let is_copied = |path: &PathLanelets| path.from != NO_LANELET && copied(path.from);
        // All or none: lanelets of one junction stand in the order of its paths.
        if !paths.iter().all(|path| is_copied(path) && copied(path.to)) {
            return false;
        }
        // In the order of paths, as new ones are added.
        for path in paths {
            let (from, to) = (
                self.copy_of[path.from.index()],
                self.copy_of[path.to.index()],
            );
            if path.between == NO_LANELET {
                self.connect(from, to, NO_LANELET);
                continue;
            }
            let mut lanelet = before.lanelet(path.between).clone();
            if let LaneletKind::Connection { junction, .. } = &mut lanelet.kind {
                *junction = number;
            }
            let between = self.push_copy(path.between, before, lanelet);
            self.connect(from, to, between);
        }
        true
    }
}

/// Where the paths of each junction begin among all, and where they end.
pub(super) fn first_paths(layout: &Layout) -> Vec<usize> {
    let mut firsts = vec![0];
    for junction in &layout.junctions {
        firsts.push(firsts[firsts.len() - 1] + junction.paths.len());
    }
    firsts
}
