//! Restrictions with via ways in the route search.
//!
//! Whether a road may be driven can depend on the previous roads. A lanelet on a via way therefore has an
//! additional place for vehicles that have followed the restriction's roads so far, besides its plain place
//! for all other vehicles:
//!
//! ```text
//!   from ---> via' ---x   to        `via'` is `via` for vehicles from `from`: it
//!   else ---> via  ---->  to        leads on to all but `to`
//! ```
//!
//! Networks without such restrictions have only plain places.

use roadwright_scenario::Followed;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, NO_LANELET};
use std::collections::BTreeMap;

/// A lanelet, or a lanelet together with the via ways that have been followed. The number of a plain place is
/// that of its lanelet.
pub(crate) type Place = u32;

/// Additional places of a graph, and the moves between places.
pub(crate) struct ViaPlaces {
    plain: u32,
    /// Lanelets of the additional places, in the order of their numbers.
    lanelets: Vec<LaneletIndex>,
    known: BTreeMap<(LaneletIndex, Followed), Place>,
    /// The place reached by driving from a place onto a lanelet, if it is not the plain place of that
    /// lanelet; `None` if driving there is forbidden.
    moves: BTreeMap<(Place, LaneletIndex), Option<Place>>,
    /// Whether `moves` has entries for each plain place.
    has_moves: Vec<bool>,
    /// For lanelets with several places, the place of a vehicle that may have followed any of several via
    /// ways.
    careful: BTreeMap<LaneletIndex, Place>,
}

impl ViaPlaces {
    /// Finds the via ways of a graph; `None` if it has no restrictions of this kind.
    pub(crate) fn of(graph: &LaneGraph) -> Option<Self> {
        if graph.via_rules().is_empty() {
            return None;
        }
        let plain = graph.lanelets().len() as u32;
        let mut via = Self {
            plain,
            lanelets: Vec::new(),
            known: BTreeMap::new(),
            moves: BTreeMap::new(),
            has_moves: vec![false; plain as usize],
            careful: BTreeMap::new(),
        };
        let mut open: Vec<(Place, LaneletIndex, Followed)> = Vec::new();
        for id in graph.indices() {
            let followed = graph.followed_on(id);
            if !followed.is_empty() {
                open.push((id.number(), id, followed));
            }
        }
        via.spread(graph, &mut open);
        let mut of_lanelet: BTreeMap<LaneletIndex, Followed> = BTreeMap::new();
        for (id, followed) in via.known.keys() {
            let all = of_lanelet.entry(*id).or_default();
            *all = all.union(followed);
        }
        for (id, followed) in of_lanelet {
            let place = via.place(graph, id, followed, &mut open);
            via.careful.insert(id, place);
        }
        via.spread(graph, &mut open);
        Some(via)
    }

    /// Adds all places that can be reached from the places in `open`.
    fn spread(&mut self, graph: &LaneGraph, open: &mut Vec<(Place, LaneletIndex, Followed)>) {
        while let Some((place, id, followed)) = open.pop() {
            let lanelet = graph.lanelet(id);
            let sides = [lanelet.left, lanelet.right];
            let next = graph.successors(id).iter().copied().chain(sides);
            for next in next.filter(|&next| next != NO_LANELET) {
                let onto = match graph.followed_onto(&followed, id, next) {
                    Some(after) => match self.place(graph, next, after, open) {
                        to if to == next.number() => continue,
                        to => Some(to),
                    },
                    None => None,
                };
                self.moves.insert((place, next), onto);
                if let Some(has_moves) = self.has_moves.get_mut(place as usize) {
                    *has_moves = true;
                }
            }
        }
    }

    /// Returns the place of a lanelet for a vehicle that has followed some via ways.
    fn place(
        &mut self,
        graph: &LaneGraph,
        id: LaneletIndex,
        followed: Followed,
        open: &mut Vec<(Place, LaneletIndex, Followed)>,
    ) -> Place {
        if followed == graph.followed_on(id) {
            return id.number();
        }
        let new = self.plain + self.lanelets.len() as u32;
        let place = *self.known.entry((id, followed.clone())).or_insert(new);
        if place == new {
            self.lanelets.push(id);
            open.push((place, id, followed));
        }
        place
    }

    /// Total number of places.
    pub(crate) fn count(&self) -> usize {
        self.plain as usize + self.lanelets.len()
    }

    /// Returns the lanelet of a place.
    #[inline]
    pub(crate) fn lanelet(&self, place: Place) -> LaneletIndex {
        match place.checked_sub(self.plain) {
            None => LaneletIndex::new(place),
            Some(other) => self.lanelets[other as usize],
        }
    }

    /// Returns the place reached by driving from a place onto a lanelet; `None` if this is forbidden.
    #[inline]
    pub(crate) fn onto(&self, from: Place, id: LaneletIndex) -> Option<Place> {
        if self.has_moves.get(from as usize) == Some(&false) {
            return Some(id.number());
        }
        let moved = self.moves.get(&(from, id)).copied();
        moved.unwrap_or(Some(id.number()))
    }

    /// Returns the place where a trip with an unknown history begins. It is assumed that the vehicle has
    /// followed all via ways that lead there.
    pub(crate) fn careful(&self, id: LaneletIndex) -> Place {
        self.careful.get(&id).copied().unwrap_or(id.number())
    }
}
