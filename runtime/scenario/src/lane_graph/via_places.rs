//! Restrictions with via ways in route searches.
//!
//! Whether a road may be driven can depend on the previous roads. A lanelet on a via way therefore
//! has several places: a plain place for most vehicles, and an additional place for vehicles that
//! have followed the roads of the restriction up to there:
//!
//! ```text
//!   from ---> via' ---x   to        `via'` is `via` for vehicles from `from`: it
//!   else ---> via  ---->  to        leads on to all but `to`
//! ```
//!
//! Networks without such restrictions have only plain places.

use super::{LaneGraph, LaneletIndex, NO_LANELET};
use crate::via_rules::Followed;
use std::collections::BTreeMap;

/// A lanelet, or a lanelet together with the via ways that a vehicle has followed. The number of a
/// plain place is that of its lanelet.
pub type SearchPlace = u32;

/// The additional places of a graph, and the moves between places.
#[derive(Debug)]
pub struct ViaPlaces {
    plain: u32,
    /// Lanelets of the additional places, in the order of their numbers.
    lanelets: Vec<LaneletIndex>,
    known: BTreeMap<(LaneletIndex, Followed), SearchPlace>,
    /// Moves from a place onto a lanelet that do not lead to the plain place of that lanelet. The
    /// value is the resulting place, or `None` if the move is prohibited.
    moves: BTreeMap<(SearchPlace, LaneletIndex), Option<SearchPlace>>,
    /// For each plain place, whether `moves` has entries for it.
    has_moves: Vec<bool>,
    /// For lanelets with several places, the place of a vehicle that may have followed any of the
    /// via roads that lead there.
    careful: BTreeMap<LaneletIndex, SearchPlace>,
}

impl ViaPlaces {
    /// Finds the via ways of a graph; `None` if it has no restrictions of this kind.
    pub(super) fn of(graph: &LaneGraph) -> Option<Self> {
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
        let mut open: Vec<(SearchPlace, LaneletIndex, Followed)> = Vec::new();
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
    fn spread(&mut self, graph: &LaneGraph, open: &mut Vec<(SearchPlace, LaneletIndex, Followed)>) {
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

    /// Returns the place of a lanelet for a vehicle that has followed the given via ways. A new
    /// place is added to `open`.
    fn place(
        &mut self,
        graph: &LaneGraph,
        id: LaneletIndex,
        followed: Followed,
        open: &mut Vec<(SearchPlace, LaneletIndex, Followed)>,
    ) -> SearchPlace {
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
    pub fn count(&self) -> usize {
        self.plain as usize + self.lanelets.len()
    }

    /// Returns the lanelet of a place.
    #[inline]
    pub fn lanelet(&self, place: SearchPlace) -> LaneletIndex {
        match place.checked_sub(self.plain) {
            None => LaneletIndex::new(place),
            Some(other) => self.lanelets[other as usize],
        }
    }

    /// Returns the place reached by driving from a place onto a lanelet; `None` if this is forbidden.
    #[inline]
    pub fn onto(&self, from: SearchPlace, id: LaneletIndex) -> Option<SearchPlace> {
        if self.has_moves.get(from as usize) == Some(&false) {
            return Some(id.number());
        }
        let moved = self.moves.get(&(from, id)).copied();
        moved.unwrap_or(Some(id.number()))
    }

    /// Returns the place where a trip with an unknown history begins. To be safe, the vehicle is
    /// assumed to have followed all via ways that lead there.
    pub fn careful(&self, id: LaneletIndex) -> SearchPlace {
        self.careful.get(&id).copied().unwrap_or(id.number())
    }
    /// Returns all places of a lanelet, the plain one first.
    pub(super) fn of_lanelet(&self, id: LaneletIndex) -> impl Iterator<Item = SearchPlace> + '_ {
        let others = self.known.range((id, Followed::default())..);
        let others = others.take_while(move |((lanelet, _), _)| *lanelet == id);
        std::iter::once(id.number()).chain(others.map(|(_, &place)| place))
    }

    /// Whether a lanelet has more than its plain place.
    pub(super) fn has_several(&self, id: LaneletIndex) -> bool {
        self.careful.contains_key(&id)
    }
}
