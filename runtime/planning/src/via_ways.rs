//! Restrictions by way of roads in the search for routes.
//!
//! Whether a road may be driven can depend on the roads before it. So a lanelet on such a way is a place of
//! its own for who has come along it, beside its plain place for all others:
//!
//! ```text
//!   from ---> via' ---x   to        `via'` is `via` for who comes from `from`: it leads on
//!   else ---> via  ---->  to        to all but `to`
//! ```
//!
//! Networks without such restrictions have plain places only.

use roadwright_scenario::Followed;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, NO_LANELET};
use std::collections::BTreeMap;

/// A lanelet, or one for who has come along a way: plain places have the numbers of their lanelets.
pub(crate) type Place = u32;

/// The places of a graph beside the plain ones, and where they lead.
pub(crate) struct ViaWays {
    plain: u32,
    /// The lanelets of the other places, in the order of their numbers.
    lanelets: Vec<LaneletIndex>,
    known: BTreeMap<(LaneletIndex, Followed), Place>,
    /// Where driving from a place onto a lanelet leads, where that is not its plain place; `None`: it is
    /// forbidden.
    moves: BTreeMap<(Place, LaneletIndex), Option<Place>>,
    /// Whether a plain place has such moves.
    has_moves: Vec<bool>,
    /// For lanelets with several places the one for who may have come along any of their ways.
    careful: BTreeMap<LaneletIndex, Place>,
}

impl ViaWays {
    /// The ways of a graph; `None` if it has no restrictions of that kind.
    pub(crate) fn of(graph: &LaneGraph) -> Option<Self> {
        if graph.via_rules().is_empty() {
            return None;
        }
        let plain = graph.lanelets().len() as u32;
        let mut ways = Self {
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
        ways.spread(graph, &mut open);
        let mut of_lanelet: BTreeMap<LaneletIndex, Followed> = BTreeMap::new();
        for (id, followed) in ways.known.keys() {
            let all = of_lanelet.entry(*id).or_default();
            *all = all.union(followed);
        }
        for (id, followed) in of_lanelet {
            let place = ways.place(graph, (id, followed), &mut open);
            ways.careful.insert(id, place);
        }
        ways.spread(graph, &mut open);
        Some(ways)
    }

    /// Follows all that lead on from open places.
    fn spread(&mut self, graph: &LaneGraph, open: &mut Vec<(Place, LaneletIndex, Followed)>) {
        while let Some((place, id, followed)) = open.pop() {
            let lanelet = graph.lanelet(id);
            let sides = [lanelet.left, lanelet.right];
            let next = graph.successors(id).iter().copied().chain(sides);
            for next in next.filter(|&next| next != NO_LANELET) {
                let onto = match graph.followed_onto(&followed, (id, next)) {
                    Some(after) => match self.place(graph, (next, after), open) {
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

    /// The place of a lanelet for who has followed something.
    fn place(
        &mut self,
        graph: &LaneGraph,
        (id, followed): (LaneletIndex, Followed),
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

    /// Places in all.
    pub(crate) fn count(&self) -> usize {
        self.plain as usize + self.lanelets.len()
    }

    /// The lanelet of a place.
    #[inline]
    pub(crate) fn lanelet(&self, place: Place) -> LaneletIndex {
        match place.checked_sub(self.plain) {
            None => LaneletIndex::new(place),
            Some(other) => self.lanelets[other as usize],
        }
    }

    /// Where driving from a place onto a lanelet leads; `None` if it is forbidden.
    #[inline]
    pub(crate) fn onto(&self, from: Place, id: LaneletIndex) -> Option<Place> {
        if self.has_moves.get(from as usize) == Some(&false) {
            return Some(id.number());
        }
        let moved = self.moves.get(&(from, id)).copied();
        moved.unwrap_or(Some(id.number()))
    }

    /// Where a trip begins of which nobody knows what it has come along: as if it had come along all ways
    /// that lead there.
    pub(crate) fn careful(&self, id: LaneletIndex) -> Place {
        self.careful.get(&id).copied().unwrap_or(id.number())
    }
}
