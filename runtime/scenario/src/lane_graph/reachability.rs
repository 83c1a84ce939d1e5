//! Reachability between many pairs of lanelets.

use super::reach::Reached;
use super::{LaneGraph, LaneletIndex};
use crate::access::{TripPart, VehicleClass};

/// Determines whether trips of one vehicle class can lead from one lanelet to another.
///
/// ```text
///     from ----> hub ----> to        Nearly all trips in a town can use its main streets. One lanelet there,
///                                    the hub, decides: `from` must lead to it, and it must lead to `to`.
/// ```
///
/// In addition, if the hub leads to a lanelet, it leads to everything that can be reached from that
/// lanelet. Only the few questions that neither rule answers need a separate search. The answers
/// equal those of [`LaneGraph::reachable_from`].
pub struct Reachability<'a> {
    graph: &'a LaneGraph,
    class: VehicleClass,
    hub: Option<&'a Hub>,
    /// Lanelets that can be reached from the start of the last separate search.
    last: Option<Search>,
}

/// Reachability from and to the hub, which is a lanelet on a main street.
#[derive(Debug)]
pub(super) struct Hub {
    lanelet: LaneletIndex,
    /// For each lanelet, whether it leads to the hub.
    reaching: Vec<bool>,
    /// Lanelets to which the hub leads.
    reached: Reached,
}

struct Search {
    from: LaneletIndex,
    reached: Reached,
}

impl Hub {
    /// Finds the hub of a graph; `None` if it has no main streets.
    fn of(graph: &LaneGraph, class: VehicleClass) -> Option<Self> {
        // The road of the hub is open to all traffic, so a trip that reaches the hub is still in
        // its leaving part and may continue like a trip that begins there. The hub is not on a via
        // road, because the trip might then have followed the roads of a restriction.
        let is_on_via_way =
            |id: LaneletIndex| graph.via_places().is_some_and(|via| via.has_several(id));
        let mut main = graph.main_component().iter().copied();
        let lanelet = main.find(|&id| !is_on_via_way(id))?;
        Some(Self {
            lanelet,
            reaching: graph.reaching(lanelet, class),
            reached: graph.reached_from(lanelet, class),
        })
    }
}

impl<'a> Reachability<'a> {
    /// Finds the hub of a graph for a vehicle class. O(lanelets) for the first call with this class, then
    /// O(1).
    pub fn new(graph: &'a LaneGraph, class: VehicleClass) -> Self {
        let hub = &graph.on_first_use.hubs[class as usize];
        Self {
            graph,
            class,
            hub: hub.get_or_init(|| Hub::of(graph, class)).as_ref(),
            last: None,
        }
    }

    /// Returns the class of the vehicles.
    pub fn class(&self) -> VehicleClass {
        self.class
    }

    /// Whether a trip can lead from one lanelet to another, with lane changes. A lanelet leads to
    /// itself. O(1), or O(lanelets) if the hub does not decide.
    pub fn leads(&mut self, from: LaneletIndex, to: LaneletIndex) -> bool {
        if let Some(hub) = self.hub {
            if hub.reaching[from.index()] && hub.reached.holds(to) {
                return true;
            }
            // A lanelet that the hub reaches leads only to lanelets that the hub also reaches.
            if hub.reached.holds_start(from) && !hub.reached.holds(to) {
                return false;
            }
        }
        match &self.last {
            // Callers often ask for several destinations from one start in a row.
            Some(last) if last.from == from => last.reached.holds(to),
            _ => {
                // A start that leads to the hub also leads to everything that the hub reaches. This
                // has already been answered for such destinations, so the search leaves them out.
                let hub = self.hub.filter(|hub| hub.reaching[from.index()]);
                let reached = match hub {
                    Some(hub) => self.graph.reached_beside(from, self.class, &hub.reached),
                    None => self.graph.reached_from(from, self.class),
                };
                let leads = reached.holds(to);
                self.last = Some(Search { from, reached });
                leads
            }
        }
    }

    /// Like `leads`, for a trip that begins too close to the end of its lane to change lanes there. See
    /// [`LaneGraph::reachable_straight_on`].
    pub fn leads_straight_on(&mut self, from: LaneletIndex, to: LaneletIndex) -> bool {
        if from == to {
            return true;
        }
        let graph = self.graph;
        let own = graph.lanelet(from).road_access;
        for &next in graph.successors(from) {
            let lanelet = graph.lanelet(next);
            if !lanelet.access.admits(self.class) {
                continue;
            }
            let Some(place) = graph.onto(from.number(), next) else {
                continue;
            };
            let Some(part) = TripPart::Leaving.onto(own, lanelet.road_access) else {
                continue;
            };
            if part != TripPart::Leaving || place != next.number() {
                // From there, a trip with no room to change lanes may reach fewer roads than other
                // trips.
                return graph.reachable_straight_on(from, self.class)[to.index()];
            }
            if self.leads(next, to) {
                return true;
            }
        }
        false
    }

    /// Whether a trip can return from the end of a lanelet to the lanelet's beginning.
    pub fn leads_round(&self, lanelet: LaneletIndex) -> bool {
        // The hub reaches itself without driving, so it can decide only for other lanelets.
        let by_hub = self.hub.is_some_and(|hub| {
            let is_another = hub.lanelet != lanelet;
            is_another && hub.reaching[lanelet.index()] && hub.reached.holds(lanelet)
        });
        by_hub || self.graph.leads_round(lanelet, self.class)
    }
}
