//! Reachability between many pairs of lanelets.

use super::reach::Reached;
use super::{LaneGraph, LaneletIndex};
use crate::access::{TripPart, VehicleClass};

/// Answers whether trips of one class of vehicle lead from lanelet to lanelet.
///
/// ```text
///     from ----> hub ----> to        Nearly all trips of a town can use its main streets, so whether they
///                                    reach one lanelet there, the hub, and can be reached from it decides.
/// ```
///
/// In addition, if the hub leads to a lanelet, it leads to everything that can be reached from that lanelet.
/// Only the few questions that neither rule answers need a separate search. The answers equal those of
/// [`LaneGraph::reachable_from`].
pub struct Reachability<'a> {
    graph: &'a LaneGraph,
    class: VehicleClass,
    hub: Option<Hub>,
    /// Lanelets that can be reached from the last start that needed a search.
    last: Option<Search>,
}

/// Reachability from and to the hub, which is a lanelet of the main streets.
struct Hub {
    lanelet: LaneletIndex,
    /// Whether each lanelet leads to the hub.
    reaching: Vec<bool>,
    /// Lanelets that the hub leads to.
    reached: Reached,
}

struct Search {
    from: LaneletIndex,
    reached: Vec<bool>,
}

impl<'a> Reachability<'a> {
    /// Prepares the answers for a graph. O(lanelets).
    pub fn new(graph: &'a LaneGraph, class: VehicleClass) -> Self {
        let main = graph.main_component();
        // The road of the hub is open to all traffic. A trip that reaches the hub is therefore still in its
        // leaving part, and may continue like a trip that begins there.
        let hub = main.first().map(|&lanelet| Hub {
            lanelet,
            reaching: graph.reaching(lanelet, class),
            reached: graph.reached_from(lanelet, class),
        });
        Self {
            graph,
            class,
            hub,
            last: None,
        }
    }

    /// The class of the vehicles.
    pub fn class(&self) -> VehicleClass {
        self.class
    }

    /// Whether a trip can lead from one lanelet to another, with lane changes. A lanelet leads to itself.
    /// O(1), or O(lanelets) if the main streets do not decide.
    pub fn leads(&mut self, from: LaneletIndex, to: LaneletIndex) -> bool {
        if let Some(hub) = &self.hub {
            if hub.reaching[from.index()] && hub.reached.holds(to) {
                return true;
            }
            // A lanelet that the hub reaches leads only to lanelets that the hub also reaches.
            if hub.reached.holds_part(from, TripPart::Leaving) && !hub.reached.holds(to) {
                return false;
            }
        }
        match &self.last {
            // Callers often ask for one start and several destinations in a row.
            Some(last) if last.from == from => last.reached[to.index()],
            _ => {
                let reached = self.graph.reachable_from(from, self.class);
                let leads = reached[to.index()];
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
            match TripPart::Leaving.onto(own, lanelet.road_access) {
                Some(TripPart::Leaving) if self.leads(next, to) => return true,
                // From there, the trip may use fewer roads than a trip that begins there.
                Some(TripPart::Arriving) => {
                    return graph.reachable_straight_on(from, self.class)[to.index()];
                }
                _ => {}
            }
        }
        false
    }

    /// Whether a trip can return from the end of a lanelet to the lanelet's beginning.
    pub fn leads_round(&self, lanelet: LaneletIndex) -> bool {
        // The hub is reached from itself without driving, so it can decide only for other lanelets.
        let by_hub = self.hub.as_ref().is_some_and(|hub| {
            let is_another = hub.lanelet != lanelet;
            is_another && hub.reaching[lanelet.index()] && hub.reached.holds(lanelet)
        });
        by_hub || self.graph.leads_round(lanelet, self.class)
    }
}
