//! Lane changes that a route requires.

use super::{Goal, Leg, Route};
use roadwright_ground::Ground;
use roadwright_scenario::VehicleClass;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, NO_LANELET, ROOM_FOR_CHANGE};

/// A vehicle gives up a lane change that it has not begun at this distance before the end of its
/// lane, m.
pub(crate) const GIVE_UP_DISTANCE: f64 = 12.0;
/// Distance between the place where a vehicle waits for a gap and the place where it gives up the lane
/// change, m.
pub(crate) const WAITS_BEFORE: f64 = 1.0;

/// Position of the rear axle where a vehicle waits for a gap while it still needs `changes` lane
/// changes, m. `length` is the length of its lane, m.
pub(crate) fn place_to_wait(length: f64, changes: u32) -> f64 {
    length - f64::from(changes) * GIVE_UP_DISTANCE - WAITS_BEFORE
}

/// Replacement of a part of a route, which defers a lane change to the next road.
#[derive(Debug, PartialEq)]
pub(crate) struct Deferred {
    /// Index in the route of the last lanelet that [`Self::lanelets`] replaces.
    pub(crate) to: u32,
    /// The new lanelets. The first one is the lanelet on which the planned lane change would have
    /// begun.
    pub(crate) lanelets: Vec<LaneletIndex>,
}

impl Route {
    /// Direction of the lane change to the next lanelet of the route after lanelet `at`: 1 to the left, -1 to
    /// the right, 0 for none.
    #[inline]
    pub(crate) fn lane_change_at(&self, at: u32, graph: &LaneGraph) -> f64 {
        let (Some(here), Some(next)) = (self.lanelet(at), self.lanelet(at + 1)) else {
            return 0.0;
        };
        let lanelet = graph.lanelet(here);
        match next {
            _ if next == lanelet.left => 1.0,
            _ if next == lanelet.right => -1.0,
            _ => 0.0,
        }
    }

    /// Whether the route continues on a neighbour of lanelet `at`.
    #[inline]
    pub(crate) fn changes_lane_at(&self, at: u32, ground: &Ground) -> bool {
        let (Some(here), Some(next)) = (self.lanelet(at), self.lanelet(at + 1)) else {
            return false;
        };
        // Usually the next lanelet follows directly, so neighbours need not be looked up.
        !ground.leads_to(here, next) && self.lane_change_at(at, ground.graph()) != 0.0
    }

    /// Number of consecutive lane changes that the route makes, starting on lanelet `at`.
    pub(crate) fn lane_changes_from(&self, at: u32, graph: &LaneGraph) -> u32 {
        let ahead = (at..).take_while(|&at| self.lane_change_at(at, graph) != 0.0);
        ahead.count() as u32
    }

    /// Like `lane_changes_from`, but optimised for one call per vehicle and step. Usually no change
    /// is required, so that a few look-ups are enough.
    #[inline]
    pub(crate) fn lane_changes_on(&self, at: u32, ground: &Ground) -> u32 {
        let ahead = (at..).take_while(|&at| self.changes_lane_at(at, ground));
        ahead.count() as u32
    }

    /// Position of the next goal on lanelet `at`, m; `None` if the goal is on another lanelet.
    fn goal_on(&self, at: u32, reached: u32) -> Option<f64> {
        match self.next_goal(reached)? {
            Goal::Lane { s, .. } | Goal::Leave { s, .. } if self.goal_at(reached) == Some(at) => {
                Some(s)
            }
            _ => None,
        }
    }

    /// Returns the position on lanelet `at` that is level with the last goal, m; `None` unless the
    /// vehicle reaches the lane of the goal after `changes` lane changes.
    pub(crate) fn goal_beside(
        &self,
        at: u32,
        changes: u32,
        reached: u32,
        graph: &LaneGraph,
    ) -> Option<f64> {
        let Some(Goal::Lane { lanelet: goal, s }) = self.next_goal(reached) else {
            return None;
        };
        let here = self.lanelet(at)?;
        let is_last = reached as usize + 1 == self.goals.len();
        let is_there = changes > 0 && self.lanelet(at + changes) == Some(goal);
        // Fractions of the lengths are compared, because adjacent lanes have different lengths in a
        // bend.
        let share = s / graph.lanelet(goal).length();
        (is_last && is_there).then(|| share * graph.lanelet(here).length())
    }

    /// Whether a vehicle at the start of lanelet `at` still has room to change to the lane of the
    /// last goal, if that lane is a neighbour.
    pub(crate) fn has_room_for_goal(&self, at: u32, reached: u32, graph: &LaneGraph) -> bool {
        let changes = self.lane_changes_from(at, graph);
        let beside = self.goal_beside(at, changes, reached, graph);
        beside.is_none_or(|s| s >= f64::from(changes) * ROOM_FOR_CHANGE)
    }

    /// Remaining distance for lane changes from the given position on lanelet `at`, m. It extends
    /// to the end of the lanelet or, if the last goal lies on the target lane, to the position
    /// level with the goal.
    pub(crate) fn room_for_changes(
        &self,
        at: u32,
        s: f64,
        changes: u32,
        reached: u32,
        graph: &LaneGraph,
    ) -> f64 {
        let length = self.lanelet(at).map(|id| graph.lanelet(id).length());
        let beside = self.goal_beside(at, changes, reached, graph);
        let ends = [length, beside].into_iter().flatten();
        ends.fold(f64::INFINITY, f64::min) - s
    }

    /// Returns the route with its last goal moved sideways onto lanelet `at`; `None` if the goal is
    /// not on an adjacent lane.
    pub(crate) fn ending_beside(&self, at: u32, reached: u32, graph: &LaneGraph) -> Option<Self> {
        let changes = self.lane_changes_from(at, graph);
        let s = self.goal_beside(at, changes, reached, graph)?;
        let beside = Goal::Lane {
            lanelet: self.lanelet(at)?,
            s,
        };
        let (mut goals, mut legs) = (self.goals.clone(), self.legs.clone());
        *goals.last_mut()? = beside;
        *legs.get_mut(reached as usize)? = Leg::Lanes { end: at };
        Some(Self {
            goals,
            legs,
            lanelets: self.lanelets[..=at as usize].into(),
        })
    }

    /// Defers the lane change from lanelet `at` to the next road, where both lanes continue side by side.
    /// `None` if there is no such road, or if the next goal lies before it. `reached` is the number of goals
    /// already reached.
    ///
    /// ```text
    ///     before   here     beside   c'    m'          after   here     c     m     m'
    ///
    ///     ....beside====c'====m'=====>                 .......beside....c'....m'====>
    ///     ====here......c.....m.......                 ======here=======c=====m.....
    /// ```
    pub(crate) fn deferred(
        &self,
        at: u32,
        reached: u32,
        graph: &LaneGraph,
        class: VehicleClass,
    ) -> Option<Deferred> {
        let (here, beside, next) = (
            self.lanelet(at)?,
            self.lanelet(at + 1)?,
            self.lanelet(at + 2)?,
        );
        let is_left = beside == graph.lanelet(here).left;
        let is_beside = |lane: LaneletIndex, other: LaneletIndex| {
            let lanelet = graph.lanelet(lane);
            let side = if is_left { lanelet.left } else { lanelet.right };
            side != NO_LANELET && side == other
        };
        let admits = |id: LaneletIndex| graph.lanelet(id).access.admits(class);
        // Later lane changes on the next road need room as well.
        let has_room = |lane: LaneletIndex, to: u32| {
            let after = self.lane_changes_from(to, graph);
            let is_to_goal = self.goal_beside(to, after, reached, graph);
            let room = is_to_goal.or(self.goal_on(to, reached));
            let room = room.unwrap_or(graph.lanelet(lane).length());
            room >= f64::from(1 + after) * ROOM_FOR_CHANGE
        };
        let goal_at = self.goal_at(reached)?;
        for &own in graph.successors(here).iter().filter(|&&id| admits(id)) {
            // Without a junction between the roads, the successors of both lanes are neighbours.
            if goal_at >= at + 2 && is_beside(own, next) && has_room(own, at + 2) {
                return Some(Deferred {
                    to: at + 2,
                    lanelets: vec![here, own, next],
                });
            }
            // At a junction, there are connections in between. `next` belongs to the adjacent lane,
            // and `own` to the agent's lane.
            let beyond = self.lanelet(at + 3).filter(|_| goal_at >= at + 3);
            let Some(beyond) = beyond.filter(|_| graph.lanelet(own).is_connection()) else {
                continue;
            };
            let through = graph.successors(own).iter().copied();
            let mut through =
                through.filter(|&id| admits(id) && is_beside(id, beyond) && has_room(id, at + 3));
            if let Some(lane) = through.next() {
                return Some(Deferred {
                    to: at + 3,
                    lanelets: vec![here, own, lane, beyond],
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stand;

    /// Creates a two-lane street that a side street crosses at 150 m. The lanelets are: the right
    /// lane before the junction, its left neighbour, the two connections straight ahead, and the
    /// two lanes after the junction.
    fn street() -> (Stand, [LaneletIndex; 6]) {
        let stand = Stand::on(&[
            ((0.0, 0.0), (300.0, 0.0), 2, 0),
            ((150.0, 0.0), (150.0, -80.0), 1, 0),
        ]);
        let graph = stand.ground.graph();
        let all = graph.indices();
        let begins_west = |id: &LaneletIndex| {
            let lanelet = graph.lanelet(*id);
            lanelet.right == NO_LANELET
                && lanelet.left != NO_LANELET
                && graph.line(*id).position(0.0).x < 1.0
        };
        let right = all
            .clone()
            .find(begins_west)
            .expect("the right lane in the west");
        let left = graph.lanelet(right).left;
        let is_east = |id: LaneletIndex| {
            let line = graph.line(id);
            line.position(line.length()).x > 200.0
        };
        let ahead = |lane: LaneletIndex| {
            let through = graph.successors(lane).iter().copied();
            let mut through = through.filter(|&id| is_east(graph.successors(id)[0]));
            let connection = through.next().expect("a way ahead");
            (connection, graph.successors(connection)[0])
        };
        let ((c, m), (c2, m2)) = (ahead(right), ahead(left));
        (stand, [right, left, c, m, c2, m2])
    }

    fn route(lanelets: &[LaneletIndex], s: f64) -> Route {
        let end = lanelets.len() as u32 - 1;
        Route {
            goals: [Goal::Lane {
                lanelet: lanelets[end as usize],
                s,
            }]
            .into(),
            legs: [Leg::Lanes { end }].into(),
            lanelets: lanelets.into(),
        }
    }

    #[test]
    fn a_change_is_made_on_the_next_road_where_lanes_go_on_side_by_side() {
        let (stand, [right, left, c, m, c2, m2]) = street();
        let graph = stand.ground.graph();
        let class = VehicleClass::Car;
        let found = route(&[right, left, c2, m2], 50.0).deferred(0, 0, graph, class);
        let expected = Deferred {
            to: 3,
            lanelets: vec![right, c, m, m2],
        };
        assert_eq!(found, Some(expected));
        // The lane change is not deferred beyond the goal, nor if no lane change is needed.
        assert_eq!(
            route(&[right, left], 50.0).deferred(0, 0, graph, class),
            None
        );
        assert_eq!(
            route(&[right, left, c2], 1.0).deferred(0, 0, graph, class),
            None
        );
        assert_eq!(
            route(&[right, c, m], 50.0).deferred(0, 0, graph, class),
            None
        );
    }

    #[test]
    fn who_cannot_get_to_the_lane_of_its_goal_arrives_beside_it() {
        let (stand, [right, left, c, m, c2, m2]) = street();
        let graph = stand.ground.graph();
        let beside = route(&[right, left], 70.0)
            .ending_beside(0, 0, graph)
            .expect("beside");
        assert_eq!(*beside.lanelets, [right]);
        let share = 70.0 / graph.lanelet(left).length();
        let s = share * graph.lanelet(right).length();
        assert_eq!(*beside.goals, [Goal::Lane { lanelet: right, s }]);
        // The goal is on a later lanelet, or no lane change is needed.
        assert_eq!(
            route(&[right, left, c2, m2], 9.0).ending_beside(0, 0, graph),
            None
        );
        assert_eq!(route(&[right, c, m], 9.0).ending_beside(0, 0, graph), None);
    }
}
