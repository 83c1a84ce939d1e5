//! Reachability of lanelets.
//!
//! Whether a road may be driven can depend on the roads before it. For example, a vehicle that enters private
//! ground may not leave it on the other side. Where access is restricted, the search therefore visits a
//! lanelet up to twice, once for each part of the trip ([`TripPart`]).

use super::{LaneGraph, LaneletIndex, NO_LANELET};
use crate::access::{RoadAccess, TripPart, VehicleClass};
use std::collections::VecDeque;

/// Reachable lanelets, by part of the trip.
pub(super) struct Reached {
    leaving: Vec<bool>,
    arriving: Vec<bool>,
}

impl Reached {
    fn none(lanelets: usize) -> Self {
        Self {
            leaving: vec![false; lanelets],
            arriving: vec![false; lanelets],
        }
    }

    /// Whether a lanelet can be reached in a part of the trip.
    pub(super) fn holds_part(&self, id: LaneletIndex, part: TripPart) -> bool {
        match part {
            TripPart::Leaving => self.leaving[id.index()],
            TripPart::Arriving => self.arriving[id.index()],
        }
    }

    /// Whether a lanelet can be reached in any part of the trip.
    pub(super) fn holds(&self, id: LaneletIndex) -> bool {
        self.leaving[id.index()] || self.arriving[id.index()]
    }

    fn any(self) -> Vec<bool> {
        let both = self.leaving.into_iter().zip(self.arriving);
        both.map(|(leaving, arriving)| leaving || arriving)
            .collect()
    }

    /// Records a lanelet as reached. Returns whether it is new.
    fn note(&mut self, id: LaneletIndex, part: TripPart) -> bool {
        let seen = match part {
            TripPart::Leaving => &mut self.leaving[id.index()],
            TripPart::Arriving => &mut self.arriving[id.index()],
        };
        !std::mem::replace(seen, true)
    }
}

/// Minimum distance to the end of its lane that a starting vehicle needs for a lane change, m.
pub const ROOM_TO_CHANGE: f64 = 5.0;
/// Length that each lane change on a road needs in traffic, m.
pub const ROOM_FOR_CHANGE: f64 = 18.0;

impl LaneGraph {
    /// The lanelets to which a vehicle can drive next: first successors, then neighbours.
    fn next_of(&self, id: LaneletIndex) -> impl Iterator<Item = LaneletIndex> + '_ {
        let lanelet = self.lanelet(id);
        let sides = [lanelet.left, lanelet.right];
        let all = self.successors(id).iter().copied().chain(sides);
        all.filter(|&next| next != NO_LANELET)
    }

    /// The lanelets from which a vehicle can drive onto this one: first predecessors, then neighbours.
    fn before(&self, id: LaneletIndex) -> impl Iterator<Item = LaneletIndex> + '_ {
        let before = self.predecessors(id).iter().copied();
        before.chain(self.changing_onto(id))
    }

    /// Whether a trip from `start` can reach each lanelet, with lane changes. Bus lanes and the access of roads
    /// are respected. `start` itself is reachable. O(lanelets).
    pub fn reachable_from(&self, start: LaneletIndex, class: VehicleClass) -> Vec<bool> {
        self.reached_from(start, class).any()
    }

    /// Like `reachable_from`, but by part of the trip.
    pub(super) fn reached_from(&self, start: LaneletIndex, class: VehicleClass) -> Reached {
        let mut reached = Reached::none(self.lanelets.len());
        reached.note(start, TripPart::Leaving);
        self.spread(&mut reached, start, class);
        reached
    }

    /// Like `reachable_from`, for a trip that begins less than [`ROOM_TO_CHANGE`] before the end of its lane
    /// and therefore cannot change lanes there. O(lanelets).
    pub fn reachable_straight_on(&self, start: LaneletIndex, class: VehicleClass) -> Vec<bool> {
        let mut reached = Reached::none(self.lanelets.len());
        let ahead = self.successors(start).iter();
        let ahead = ahead
            .filter_map(|&next| self.enter(start, TripPart::Leaving, next, class, &mut reached));
        let open = ahead.collect();
        self.spread_from(open, &mut reached, class);
        // Recorded last, so that a trip that returns to the start may change lanes there.
        reached.note(start, TripPart::Leaving);
        reached.any()
    }

    /// Whether a trip can return from the end of a lanelet to the lanelet's beginning. O(lanelets).
    pub fn leads_round(&self, start: LaneletIndex, class: VehicleClass) -> bool {
        let mut reached = Reached::none(self.lanelets.len());
        self.spread(&mut reached, start, class);
        reached.any()[start.index()]
    }

    /// Whether a trip from each lanelet can reach a goal, with lane changes. The goal can reach itself.
    /// O(lanelets).
    pub fn reaching(&self, goal: LaneletIndex, class: VehicleClass) -> Vec<bool> {
        let mut reached = Reached::none(self.lanelets.len());
        let mut open = VecDeque::new();
        // A trip may reach the goal in either part, so the search begins with both.
        for part in [TripPart::Leaving, TripPart::Arriving] {
            reached.note(goal, part);
            open.push_back((goal, part));
        }
        while let Some((id, part)) = open.pop_front() {
            let lanelet = self.lanelet(id);
            // This check includes the goal itself, which vehicles without access cannot enter.
            if !lanelet.access.admits(class) {
                continue;
            }
            for before in self.before(id) {
                let own = self.lanelet(before).road_access;
                for from in [TripPart::Leaving, TripPart::Arriving] {
                    let leads_here = from.onto(own, lanelet.road_access) == Some(part);
                    if leads_here && reached.note(before, from) {
                        open.push_back((before, from));
                    }
                }
            }
        }
        // Trips begin in the leaving part.
        reached.leaving
    }

    /// Records everything that a trip starting on a lanelet can reach.
    fn spread(&self, reached: &mut Reached, start: LaneletIndex, class: VehicleClass) {
        self.spread_from([(start, TripPart::Leaving)].into(), reached, class);
    }

    fn spread_from(
        &self,
        mut open: VecDeque<(LaneletIndex, TripPart)>,
        reached: &mut Reached,
        class: VehicleClass,
    ) {
        while let Some((from, part)) = open.pop_front() {
            for next in self.next_of(from) {
                open.extend(self.enter(from, part, next, class, reached));
            }
        }
    }

    /// Records that a trip drives from a lanelet onto the next one; `None` if this is not allowed or has
    /// already been recorded. Each lanelet is recorded only once per part of the trip, so the search ends.
    fn enter(
        &self,
        from: LaneletIndex,
        part: TripPart,
        next: LaneletIndex,
        class: VehicleClass,
        reached: &mut Reached,
    ) -> Option<(LaneletIndex, TripPart)> {
        let lanelet = self.lanelet(next);
        let onto = part.onto(self.lanelet(from).road_access, lanelet.road_access);
        // The access of the first lanelet is not checked, because the vehicle is already there.
        let onto = onto.filter(|_| lanelet.access.admits(class))?;
        reached.note(next, onto).then_some((next, onto))
    }

    /// Returns the largest set of lanelets that can all reach each other, in ascending order. Bus
    /// lanes and roads with restricted access are left out. O(lanelets).
    pub fn main_component(&self) -> Vec<LaneletIndex> {
        let is_open = |id: LaneletIndex| {
            let lanelet = self.lanelet(id);
            lanelet.access.admits(VehicleClass::Car) && lanelet.road_access == RoadAccess::All
        };
        let mut graph = petgraph::graph::DiGraph::<(), ()>::with_capacity(self.lanelets.len(), 0);
        for _ in &self.lanelets {
            graph.add_node(());
        }
        for id in self.indices() {
            if !is_open(id) {
                continue;
            }
            for next in self.next_of(id).filter(|&next| is_open(next)) {
                graph.add_edge(id.number().into(), next.number().into(), ());
            }
        }
        let components = petgraph::algo::tarjan_scc(&graph);
        let largest = components
            .into_iter()
            .max_by_key(Vec::len)
            .unwrap_or_default();
        let mut lanelets: Vec<LaneletIndex> = largest
            .into_iter()
            .map(|n| LaneletIndex::from_index(n.index()))
            // If there is no loop, the largest set is any single lanelet.
            .filter(|&id| is_open(id))
            .collect();
        lanelets.sort_unstable();
        lanelets
    }
}
