//! Positions of lane changes along a route.
//!
//! The cost of a lane change does not depend on its position, so the search finds any of several equally fast
//! routes. The route may change lanes kilometres before the turn, or on the last short piece of road. Each
//! change is therefore first moved along the route to the last road where it can be made, and then back until
//! there is enough room:
//!
//! ```text
//!               |<------ ahead ------>|
//!     a side    ....n====c'===t=======>       a change on lanelet k of the route: from r[k] to t
//!     the route ====r[k-2]==r[k-1]==r[k]      one road earlier: from r[k-2] to n, then c' and t
//! ```

use roadwright_scenario::VehicleClass;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, NO_LANELET, ROOM_FOR_CHANGE};

/// Minimum length of a lanelet on which a lane change may begin, m.
const SHORTEST: f64 = 25.0;

/// Returns the length of road required for `changes` lane changes, m.
pub(crate) fn room_for(changes: usize) -> f64 {
    SHORTEST.max(changes as f64 * ROOM_FOR_CHANGE)
}

/// Inputs for moving lane changes along a route.
pub(crate) struct Room<'a> {
    pub(crate) graph: &'a LaneGraph,
    pub(crate) class: VehicleClass,
    /// Minimum distance from the beginning of a lane change to the point where it must be complete, m.
    pub(crate) ahead: f64,
    /// Remaining length of the first lanelet of the route, m; 0 if no lane change may begin on it.
    pub(crate) first: f64,
    /// Position of the goal on the last lanelet of the route, m.
    pub(crate) goal: f64,
    /// Delays of the lanelets, s. A change is not moved if the route would then use a slower lane.
    pub(crate) delays: &'a [f32],
}

/// Moves each lane change of a route to the last road where it can be made, and then back until there is
/// enough room for it.
pub(crate) fn give_room(route: &mut [LaneletIndex], room: &Room<'_>) {
    // From the last lane change to the first, because a change cannot be moved beyond the next one.
    for k in (0..route.len().saturating_sub(1)).rev() {
        let Some(to_left) = room.side(route[k], route[k + 1]) else {
            continue;
        };
        let mut k = k;
        while let Some(later) = room.later(route, k, to_left) {
            let count = later.at - k;
            route[k + 1..=later.at].copy_from_slice(&later.lanelets[..count]);
            k = later.at;
        }
        // The change begins at the start of its road or later, so the remaining distance is at most the
        // length of the target lane.
        let mut there = room.driven_length(route, k + 1);
        while there < room.ahead
            && let Some(earlier) = room.earlier(route, k, to_left)
        {
            let count = k - earlier.at;
            route[earlier.at + 1..=k].copy_from_slice(&earlier.lanelets[..count]);
            let added = &route[earlier.at + 1..=k];
            there += added.iter().map(|&id| room.length(id)).sum::<f64>();
            k = earlier.at;
        }
    }
}

/// A lane change moved to another road: it takes place on lanelet `at` of the route, and `lanelets` replace
/// the lanelets between this lanelet and its former position.
struct Moved {
    at: usize,
    lanelets: [LaneletIndex; 2],
}

impl Room<'_> {
    fn length(&self, id: LaneletIndex) -> f64 {
        self.graph.lanelet(id).length()
    }

    /// Returns the length of the part of a lanelet that the vehicle drives along and may use for lane
    /// changes, m.
    fn driven_length(&self, route: &[LaneletIndex], at: usize) -> f64 {
        // The first lanelet is driven from the agent's position onwards, and the last one only up to the
        // goal.
        match at {
            0 => self.first,
            _ if at + 1 == route.len() => self.goal,
            _ => self.length(route[at]),
        }
    }

    fn delay(&self, id: LaneletIndex) -> f32 {
        self.delays.get(id.index()).copied().unwrap_or(0.0)
    }

    /// Returns the numbers of consecutive lane changes directly before and directly after lanelet `at` of the
    /// route.
    fn changes_around(&self, route: &[LaneletIndex], at: usize) -> (usize, usize) {
        let changes = |at: usize| self.side(route[at], route[at + 1]).is_some();
        let before = (0..at).rev().take_while(|&at| changes(at)).count();
        let last = route.len() - 1;
        let after = (at..last).take_while(|&at| changes(at)).count();
        (before, after)
    }

    /// Returns whether the second lanelet is to the left of the first; `None` if they are not neighbours.
    fn side(&self, from: LaneletIndex, to: LaneletIndex) -> Option<bool> {
        let lanelet = self.graph.lanelet(from);
        match to {
            _ if to == lanelet.left => Some(true),
            _ if to == lanelet.right => Some(false),
            _ => None,
        }
    }

    /// Returns the lanelet beside a lanelet of the route, if the vehicle may use it and there is room to
    /// change to it.
    fn beside(&self, route: &[LaneletIndex], at: usize, to_left: bool) -> Option<LaneletIndex> {
        let (before, _) = self.changes_around(route, at);
        let has_room = self.driven_length(route, at) >= room_for(before + 1);
        let lanelet = self.graph.lanelet(route[at]);
        let side = if to_left { lanelet.left } else { lanelet.right };
        (side != NO_LANELET && has_room && self.admits(side)).then_some(side)
    }

    fn admits(&self, id: LaneletIndex) -> bool {
        self.graph.lanelet(id).access.admits(self.class)
    }

    /// Returns the lane change from lanelet `k` of a route to the next, moved one road later; `None` if it
    /// cannot be moved there.
    fn later(&self, route: &[LaneletIndex], k: usize, to_left: bool) -> Option<Moved> {
        let here = route[k];
        let beside = |id: LaneletIndex| {
            let lanelet = self.graph.lanelet(id);
            if to_left { lanelet.left } else { lanelet.right }
        };
        // Continuation on the other lane after the road of the change: its connection and its next lane, or
        // directly its next lane.
        let after = *route.get(k + 2)?;
        let is_next = |at: usize, own: LaneletIndex| {
            let (_, after) = self.changes_around(route, at);
            let has_room = self.driven_length(route, at) >= room_for(after + 1);
            // The route changes back to this lane there. The moved change would lead to the other lane and
            // back on one road, and the route would contain a lanelet twice.
            let returns = route.get(at + 1) == Some(&own);
            let is_slower = self.delay(own) > self.delay(route[at]);
            beside(own) == route[at] && self.admits(own) && has_room && !returns && !is_slower
        };
        for &own in self
            .graph
            .successors(here)
            .iter()
            .filter(|&&id| self.admits(id))
        {
            if !self.graph.lanelet(after).is_connection() {
                if is_next(k + 2, own) {
                    return Some(Moved {
                        at: k + 1,
                        lanelets: [own, NO_LANELET],
                    });
                }
                continue;
            }
            let mut lanes = self.graph.successors(own).iter().copied();
            if k + 3 < route.len()
                && let Some(lane) = lanes.find(|&lane| is_next(k + 3, lane))
            {
                return Some(Moved {
                    at: k + 2,
                    lanelets: [own, lane],
                });
            }
        }
        None
    }

    /// Returns the lane change from lanelet `k` of a route to the next, moved one road earlier; `None` if it
    /// cannot be moved there.
    fn earlier(&self, route: &[LaneletIndex], k: usize, to_left: bool) -> Option<Moved> {
        let target = route[k + 1];
        let before = k.checked_sub(1)?;
        // The route has no lane beside an earlier lane change.
        if self.side(route[before], route[k]).is_some() {
            return None;
        }
        let leads = |from: LaneletIndex, to| self.graph.successors(from).contains(&to);
        if !self.graph.lanelet(route[before]).is_connection() {
            let beside = self.beside(route, before, to_left)?;
            return leads(beside, target).then_some(Moved {
                at: before,
                lanelets: [beside, NO_LANELET],
            });
        }
        let at = before.checked_sub(1)?;
        let beside = self.beside(route, at, to_left)?;
        let through = self.graph.successors(beside).iter();
        let connection = through
            .copied()
            .find(|&id| leads(id, target) && self.admits(id))?;
        Some(Moved {
            at,
            lanelets: [beside, connection],
        })
    }
}
