//! Reachability of lanelets.
//!
//! Whether a road may be driven can depend on the roads before it. For example, a vehicle that
//! enters private ground may not leave it on the other side. Where access is restricted, the search
//! therefore visits a lanelet up to twice, once for each part of the trip ([`TripPart`]). The same
//! applies to restrictions with via roads ([`ViaPlaces`]).

use super::{LaneGraph, LaneletIndex, NO_LANELET, SearchPlace, ViaPlaces};
use crate::access::{RoadAccess, TripPart, VehicleClass};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Reachable places, by part of the trip. If the network has restrictions with via ways, a lanelet may have
/// several places ([`ViaPlaces`]).
#[derive(Debug)]
pub(super) struct Reached {
    leaving: Vec<bool>,
    arriving: Vec<bool>,
    /// For each lanelet, whether any of its places has been reached.
    lanelets: Vec<bool>,
}

impl Reached {
    fn none(graph: &LaneGraph) -> Self {
        let lanelets = graph.lanelets.len();
        let places = graph.via_places().map_or(lanelets, ViaPlaces::count);
        Self {
            leaving: vec![false; places],
            arriving: vec![false; places],
            lanelets: vec![false; lanelets],
        }
    }

    /// Whether a trip can reach the plain place of a lanelet in its leaving part. Every trip begins
    /// in this state.
    pub(super) fn holds_start(&self, id: LaneletIndex) -> bool {
        self.leaving[id.index()]
    }

    fn holds_state(&self, state: State) -> bool {
        match state.part {
            TripPart::Leaving => self.leaving[state.place as usize],
            TripPart::Arriving => self.arriving[state.place as usize],
        }
    }

    /// Whether a lanelet can be reached.
    pub(super) fn holds(&self, id: LaneletIndex) -> bool {
        self.lanelets[id.index()]
    }

    /// Records a place as reached. Returns whether it is new.
    fn note(&mut self, state: State, lanelet: LaneletIndex) -> bool {
        self.lanelets[lanelet.index()] = true;
        let seen = match state.part {
            TripPart::Leaving => &mut self.leaving[state.place as usize],
            TripPart::Arriving => &mut self.arriving[state.place as usize],
        };
        !std::mem::replace(seen, true)
    }
}

/// State of a trip: a place and the part of the trip.
#[derive(Debug, Clone, Copy)]
struct State {
    place: SearchPlace,
    part: TripPart,
}

impl State {
    /// Returns the state of a trip that begins on a lanelet. It does not depend on the roads driven
    /// before.
    fn start(id: LaneletIndex) -> Self {
        Self {
            place: id.number(),
            part: TripPart::Leaving,
        }
    }
}

/// Minimum distance to the end of the lane at which a starting vehicle can still change lanes, m.
pub const ROOM_TO_CHANGE: f64 = 5.0;
/// Length of road that each lane change takes in traffic, m.
pub const ROOM_FOR_CHANGE: f64 = 18.0;

impl LaneGraph {
    /// Returns the lanelets to which a vehicle can move next: first the successors, then the
    /// neighbours.
    fn next_of(&self, id: LaneletIndex) -> impl Iterator<Item = LaneletIndex> + '_ {
        let lanelet = self.lanelet(id);
        let sides = [lanelet.left, lanelet.right];
        let all = self.successors(id).iter().copied().chain(sides);
        all.filter(|&next| next != NO_LANELET)
    }

    /// Returns the lanelets whose vehicles can move to this one: first the predecessors, then the
    /// neighbours.
    fn before(&self, id: LaneletIndex) -> impl Iterator<Item = LaneletIndex> + '_ {
        let before = self.predecessors(id).iter().copied();
        before.chain(self.changing_onto(id))
    }

    /// Returns, for each lanelet, whether a trip from `start` can reach it, with lane changes. The
    /// search respects bus lanes, the access of roads, and restrictions with via ways. `start`
    /// itself is reachable. O(lanelets).
    pub fn reachable_from(&self, start: LaneletIndex, class: VehicleClass) -> Vec<bool> {
        self.reached_from(start, class).lanelets
    }

    /// Like `reachable_from`, but by place and part of the trip.
    pub(super) fn reached_from(&self, start: LaneletIndex, class: VehicleClass) -> Reached {
        let mut reached = Reached::none(self);
        reached.note(State::start(start), start);
        self.spread([State::start(start)].into(), &mut reached, class);
        reached
    }

    /// Like `reached_from`, but the search stops at places in `known`, because everything that can
    /// be reached from them is also in `known`.
    pub(super) fn reached_beside(
        &self,
        start: LaneletIndex,
        class: VehicleClass,
        known: &Reached,
    ) -> Reached {
        let mut reached = Reached::none(self);
        reached.note(State::start(start), start);
        let mut open = VecDeque::from([State::start(start)]);
        while let Some(from) = open.pop_front() {
            for next in self.next_of(self.at(from.place)) {
                let new = self.enter(from, next, class, &mut reached);
                open.extend(new.filter(|state| !known.holds_state(*state)));
            }
        }
        reached
    }

    /// Like `reachable_from`, for a trip that begins less than [`ROOM_TO_CHANGE`] before the end of its lane
    /// and therefore cannot change lanes there. O(lanelets).
    pub fn reachable_straight_on(&self, start: LaneletIndex, class: VehicleClass) -> Vec<bool> {
        let mut reached = Reached::none(self);
        let ahead = self.successors(start).iter();
        let ahead =
            ahead.filter_map(|&next| self.enter(State::start(start), next, class, &mut reached));
        let open = ahead.collect();
        self.spread(open, &mut reached, class);
        // Recorded last, so that a trip that returns to the start may change lanes there.
        reached.note(State::start(start), start);
        reached.lanelets
    }

    /// Whether a trip can return from the end of a lanelet to the lanelet's beginning. O(lanelets).
    pub fn leads_round(&self, start: LaneletIndex, class: VehicleClass) -> bool {
        let mut reached = Reached::none(self);
        self.spread([State::start(start)].into(), &mut reached, class);
        reached.holds(start)
    }

    /// Returns, for each lanelet, whether a trip from it can reach `goal`, with lane changes. The
    /// goal can reach itself. O(lanelets).
    pub fn reaching(&self, goal: LaneletIndex, class: VehicleClass) -> Vec<bool> {
        let mut reached = Reached::none(self);
        let mut open = VecDeque::new();
        // The search starts with all places of the goal in both parts, because a trip may arrive in
        // any of them.
        for place in self.places_of(goal) {
            for part in [TripPart::Leaving, TripPart::Arriving] {
                let state = State { place, part };
                reached.note(state, goal);
                open.push_back(state);
            }
        }
        while let Some(state) = open.pop_front() {
            let id = self.at(state.place);
            let lanelet = self.lanelet(id);
            // The check includes the goal itself, because vehicles without access cannot enter it.
            if !lanelet.access.admits(class) {
                continue;
            }
            for before in self.before(id) {
                let own = self.lanelet(before).road_access;
                for place in self.places_of(before) {
                    if self.onto(place, id) != Some(state.place) {
                        continue;
                    }
                    for part in [TripPart::Leaving, TripPart::Arriving] {
                        let from = State { place, part };
                        let leads_here = part.onto(own, lanelet.road_access) == Some(state.part);
                        if leads_here && reached.note(from, before) {
                            open.push_back(from);
                        }
                    }
                }
            }
        }
        // A trip begins in its leaving part and at a plain place.
        reached.leaving.truncate(self.lanelets.len());
        reached.leaving
    }

    /// Returns the lanelet of a place.
    fn at(&self, place: SearchPlace) -> LaneletIndex {
        let via = self.via_places();
        via.map_or_else(|| LaneletIndex::new(place), |via| via.lanelet(place))
    }

    /// Returns all places of a lanelet.
    fn places_of(&self, id: LaneletIndex) -> impl Iterator<Item = SearchPlace> + '_ {
        let via = self.via_places();
        let plain = via.is_none().then_some(id.number());
        let all = via.map(|via| via.of_lanelet(id));
        plain.into_iter().chain(all.into_iter().flatten())
    }

    /// Returns the place reached by driving from a place onto a lanelet; `None` if a restriction
    /// forbids it.
    pub(super) fn onto(&self, from: SearchPlace, id: LaneletIndex) -> Option<SearchPlace> {
        match self.via_places() {
            Some(via) => via.onto(from, id),
            None => Some(id.number()),
        }
    }

    /// Records everything that trips in the given states can reach.
    fn spread(&self, mut open: VecDeque<State>, reached: &mut Reached, class: VehicleClass) {
        while let Some(from) = open.pop_front() {
            for next in self.next_of(self.at(from.place)) {
                open.extend(self.enter(from, next, class, reached));
            }
        }
    }

    /// Records that a trip drives from a place onto the next lanelet. Returns the new state; `None`
    /// if this is not allowed or already recorded. Each place is recorded only once per part of the
    /// trip, so the search ends.
    fn enter(
        &self,
        from: State,
        next: LaneletIndex,
        class: VehicleClass,
        reached: &mut Reached,
    ) -> Option<State> {
        let lanelet = self.lanelet(next);
        // The access of the first lanelet is not checked, because the vehicle is already there.
        if !lanelet.access.admits(class) {
            return None;
        }
        let own = self.lanelet(self.at(from.place)).road_access;
        let state = State {
            place: self.onto(from.place, next)?,
            part: from.part.onto(own, lanelet.road_access)?,
        };
        reached.note(state, next).then_some(state)
    }

    /// Returns the largest set of lanelets that can all reach each other, in ascending order. Bus
    /// lanes and roads with restricted access are left out. O(lanelets) for the first call, then
    /// O(1).
    pub fn main_component(&self) -> &[LaneletIndex] {
        let main = &self.on_first_use.main_component;
        main.get_or_init(|| self.find_main_component())
    }

    fn find_main_component(&self) -> Vec<LaneletIndex> {
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
        // Not `tarjan_scc`, which recurses along the streets and overflows the stack in a city.
        let components = petgraph::algo::kosaraju_scc(&graph);
        let largest = components
            .into_iter()
            .max_by_key(|lanelets| (lanelets.len(), Reverse(lanelets.iter().min().copied())))
            .unwrap_or_default();
        let mut lanelets: Vec<LaneletIndex> = largest
            .into_iter()
            .map(|n| LaneletIndex::from_index(n.index()))
            // Without a loop, every single lanelet is a set of the largest size.
            .filter(|&id| is_open(id))
            .collect();
        lanelets.sort_unstable();
        lanelets
    }
}
