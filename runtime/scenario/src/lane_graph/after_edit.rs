//! The lane graph of an edited network. Unchanged lanelets are copied, and lanelets before the edit
//! are matched with lanelets after it.
//!
//! An edit in a city changes only a few of its thousands of roads. Sampling centre lines takes most
//! of the time for building a graph. Lanelets of unchanged roads are therefore copied with their
//! points. The result must equal a graph built from scratch, lanelet by lanelet, so copies are
//! added in the same order as new lanelets. A property test compares the two graphs
//! (`tests/incremental.rs`).

use super::build::Builder;
use super::{LaneGraph, Lanelet, LaneletIndex, LaneletKind, NO_LANELET, PathLanelets};
use crate::ids::RoadId;
use crate::index::JunctionIndex;
use crate::junction::Layout;
use crate::network::RoadNetwork;
use crate::road::Road;
use crate::scenario::Scenario;
use std::ops::Range;

/// Maximum fraction of new centre lines. The centre lines of an edited network are the previous
/// ones followed by new ones. Once the new ones exceed this fraction of the total, only the lines
/// still in use are copied.
const MOST_OWN_LINES: f64 = 0.1;

/// Returns the earlier lanelet that a lanelet was copied from, given the result of
/// [`LaneGraph::after_edit`]; `None` if the lanelet is new.
#[inline]
pub fn copied(copies: &[LaneletIndex], id: LaneletIndex) -> Option<LaneletIndex> {
    Some(copies[id.index()]).filter(|&copy| copy != NO_LANELET)
}

/// A network before an edit, with its derived data.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// The roads.
    pub network: &'a RoadNetwork,
    /// Layout of the roads.
    pub layout: &'a Layout,
    /// The lane graph of the roads.
    pub graph: &'a LaneGraph,
}

impl Before<'_> {
    /// Whether a road is unchanged and is cut back by its junctions by the same lengths.
    ///
    /// Copies of a scenario share their roads, so it is enough to compare addresses. A road that
    /// was replaced by an equal one is sampled again, which costs time but does not change the
    /// result.
    pub(super) fn has_same(&self, id: RoadId, road: &Road, start: f64, end: f64) -> bool {
        let old = self.network.road(id);
        old.is_some_and(|old| {
            std::ptr::eq(old, road) && self.layout.remaining(id, old) == Some((start, end))
        })
    }
}

impl LaneGraph {
    /// Creates the lanelets of an edited scenario. The result equals that of [`new`](Self::new),
    /// but lanelets of roads and junctions that the edit did not change are copied. Also returns,
    /// for each lanelet, the earlier lanelet that it was copied from, or [`NO_LANELET`]. The
    /// driving side must be the same.
    pub fn after_edit(
        scenario: &Scenario,
        layout: &Layout,
        before: Before<'_>,
    ) -> (Self, Vec<LaneletIndex>) {
        Self::build(scenario, layout, Some(before))
    }

    /// Returns the counterpart of each lanelet in an edited network: the same piece of lane, or the
    /// connection between the same lanes; [`NO_LANELET`] if there is no counterpart. Shapes may differ.
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

    /// For each lane lanelet, finds its counterpart in the edited network (same road, lane and
    /// section) and writes it to `found`.
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

    /// For each connection, finds its counterpart in the edited network and writes it to `found`.
    /// The counterpart is the connection that joins the counterparts of the same lanes, because an
    /// edit changes the indices of junctions and paths.
    fn find_connections(&self, edited: &Self, found: &mut [LaneletIndex]) {
        for (id, lanelet) in self.numbered() {
            if !lanelet.is_connection() {
                continue;
            }
            let end = |ids: &[LaneletIndex]| ids.first().map(|&end| found[end.index()]);
            // A connection has one predecessor and one successor.
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
    /// Reserves about as much memory as the previous graph needed, and copies its centre lines,
    /// unless too many of them are new.
    pub(super) fn expect(&mut self, before: &LaneGraph) {
        // Slightly more than before, because an edit adds a few lanelets, and reallocating would
        // copy all of them.
        self.lanelets.reserve(before.lanelets.len() + 64);
        self.copies.reserve(before.lanelets.len() + 64);
        self.links.reserve(before.links.len() / 2 + 64);
        self.continues_lines = before.lines.own_share() < MOST_OWN_LINES;
        if self.continues_lines {
            self.lines = before.lines.clone();
        }
        self.copy_of = vec![NO_LANELET; before.lanelets.len()];
    }

    /// Adds a copy of an earlier lanelet.
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

    /// Adds copies of the earlier lanelets of a road.
    pub(super) fn copy_road(&mut self, road: RoadId, before: &LaneGraph) {
        let ids = before.index.of_road(road);
        let first = LaneletIndex::from_index(self.lanelets.len());
        // Neighbours belong to the same road, so the difference between their indices is the same
        // in the copy.
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

    /// Adds copies of the earlier connections of junction `number`, given the range of their paths. Returns
    /// `false` and adds no connection if a road at the junction is not a copy.
    pub(super) fn copy_connections(
        &mut self,
        number: JunctionIndex,
        paths: Range<usize>,
        before: &LaneGraph,
    ) -> bool {
        let paths = &before.paths[paths];
        let copied = |id: LaneletIndex| id == NO_LANELET || self.copy_of[id.index()] != NO_LANELET;
        // A path that has no lanelet at one end may have one after the edit.
        let is_copied = |path: &PathLanelets| path.from != NO_LANELET && copied(path.from);
        // Either all connections are copied or none, because the lanelets of a junction are in the
        // order of its paths.
        if !paths.iter().all(|path| is_copied(path) && copied(path.to)) {
            return false;
        }
        // In the order of paths, like new connections.
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

/// Returns the index of the first path of each junction among all paths, followed by the total
/// number of paths.
pub(super) fn first_paths(layout: &Layout) -> Vec<usize> {
    let mut firsts = vec![0];
    for junction in &layout.junctions {
        firsts.push(firsts[firsts.len() - 1] + junction.paths.len());
    }
    firsts
}
