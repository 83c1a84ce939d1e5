//! Progress along routes: all methods that change the route of an agent or its place on the route.
//!
//! Progress has to match the route: the index of the lanelet, the goals reached, the index of the
//! next goal's lanelet, and the requests and grants at junctions. Only the methods of [`Travel`]
//! replace a route, so that consistency is ensured in one place:
//!
//! | method | new route | place on it | grants | requests repeated |
//! | --- | --- | --- | --- | --- |
//! | [`Travel::plan`] | the first one | at its start | none yet | |
//! | [`Travel::replan`] | equal up to the place, or to the end of the grants | stays | stay | yes |
//! | [`Travel::start_over`] | begins at the agent | its start | none | yes |
//! | [`Travel::move_to`] | the same lanelets, possibly renumbered, or open ground | stays | stay | no |
//! | [`Travel::move_goals`] | the same lanelets, with other goals on them | stays | stay | no |

use super::{Goal, Leg, Route, Routes};
use crate::records::{Claim, LanePosition, Progress};
use roadwright_geometry::{DVec2, Pose};
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// A goal on open ground counts as reached within this distance, m ([Gerdelan 2011], chapter 12).
pub(crate) const GROUND_GOAL_RADIUS: f64 = 6.0;

/// Condition under which a goal at the end of an exact path is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExactGoal {
    /// The body is stationary at the goal, with the heading of the path.
    Stand,
    /// The body is at the end of the path. The heading does not matter.
    PathEnd,
}

/// Pose and speed of an agent, and the condition under which it reaches goals on open ground.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reached {
    pub(crate) pose: Pose,
    /// Speed, m/s.
    pub(crate) speed: f64,
    /// A goal without a path is reached within this radius, m.
    pub(crate) radius: f64,
    pub(crate) exact: ExactGoal,
}

/// Progress of one agent, with the data that must change together with it.
pub(crate) struct Travel<'a> {
    pub(crate) routes: &'a mut Routes,
    pub(crate) progress: &'a mut Progress,
    pub(crate) claim: &'a mut Claim,
}

/// A vehicle begins to seek a gap at this distance from the end of its lane, m.
const SEEKING_DISTANCE: f64 = 200.0;
/// A path counts as completed at this distance from its end, m.
pub(super) const PATH_END: f64 = 0.1;

/// Result of advancing along a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The agent is still driving.
    UnderWay,
    /// The agent is at its last goal and waits there.
    AtGoal,
    /// The agent has reached its last goal.
    Finished,
}

impl Travel<'_> {
    /// Gives an agent its first route.
    pub(crate) fn plan(&mut self, route: Route) {
        self.progress.route = self.routes.take(route);
        self.progress
            .look_ahead(self.routes.get(self.progress.route));
    }

    /// Replaces the route by one that is equal up to the agent's place, or to the end of its
    /// grants. Requests at junctions are repeated.
    pub(crate) fn replan(&mut self, route: Route, step: u64) {
        self.exchange(route);
        self.progress.planned_at = step;
        self.claim.asked_for = 0;
    }

    /// Replaces the route by one that begins at the agent. The agent loses its grants.
    pub(crate) fn start_over(&mut self, route: Route, step: u64) {
        self.replan(route, step);
        self.progress.at = 0;
        self.claim.granted_to = 0;
    }

    /// Replaces the route by one that leads to other goals along the same lanelets, or over open
    /// ground.
    pub(crate) fn move_to(&mut self, route: Route) {
        self.exchange(route);
    }

    /// Moves the goals to other places on the same lanelets.
    pub(crate) fn move_goals(&mut self, goals: &[Goal]) {
        let route = self.routes.get(self.progress.route).clone();
        self.exchange(Route {
            goals: goals.into(),
            ..route
        });
    }

    /// Moves the agent to the adjacent lanelet that is next on the route. The body does not move: `s` and `t`
    /// are converted to the new lane.
    pub(crate) fn change_lane(
        progress: &mut Progress,
        position: &mut LanePosition,
        target: LaneletIndex,
        s: f64,
        t: f64,
    ) {
        *position = LanePosition {
            lanelet: target,
            leaving: position.lanelet,
            s,
            t,
        };
        progress.at += 1;
    }

    /// Ends the trip: the agent no longer has a route.
    pub(crate) fn finish(&mut self) {
        self.routes.release(self.progress.route);
    }

    fn exchange(&mut self, route: Route) {
        let new = self.routes.take(route);
        // The new route is acquired before the old route is released. Otherwise, if they are equal, the store
        // could drop the route in between.
        let old = std::mem::replace(&mut self.progress.route, new);
        self.routes.release(old);
        self.progress.look_ahead(self.routes.get(new));
    }

    /// Sets the number of goals that have been reached.
    pub(crate) fn reach(&mut self, reached: u32) {
        self.progress.reached = reached;
        self.progress
            .look_ahead(self.routes.get(self.progress.route));
    }
}

impl Progress {
    /// Looks up the route index of the next goal.
    fn look_ahead(&mut self, route: &Route) {
        self.goal_at = route.goal_at(self.reached).unwrap_or(0);
    }

    /// Updates how long the agent has been seeking a gap for a lane change.
    #[inline]
    pub(crate) fn seek(
        &mut self,
        position: &LanePosition,
        route: &Route,
        ground: &Ground,
        dt: f64,
    ) {
        let seeks = position.may_change_lane()
            && ground.has_beside(position.lanelet)
            && ground.length(position.lanelet) - position.s < SEEKING_DISTANCE
            && route.changes_lane_at(self.at, ground);
        // The value is negative while a promise keeps the agent from changing lanes, and counting
        // continues afterwards.
        self.seeking = if seeks {
            self.seeking + (dt as f32).copysign(self.seeking)
        } else {
            0.0
        };
    }

    /// Records that the agent cannot change lanes because the space on the adjacent lane has been promised to
    /// other vehicles.
    pub(crate) fn note_kept(&mut self) {
        self.seeking = -self.seeking.abs();
    }

    /// Records that the space on the adjacent lane is not promised to other vehicles.
    pub(crate) fn note_free(&mut self) {
        self.seeking = self.seeking.abs();
    }

    /// Projects a body onto its lanelet, or onto a following lanelet if the body has passed the end.
    #[inline]
    pub(crate) fn locate(
        &mut self,
        position: &mut LanePosition,
        route: &Route,
        ground: &Ground,
        place: DVec2,
    ) {
        loop {
            let lanelet = position.lanelet;
            let length = ground.length(lanelet);
            (position.s, position.t) = ground.line(lanelet).project(place, position.s);
            // A body beyond the end of its lanelet is projected again onto the next lanelet of the route.
            // This is a loop because a fast vehicle passes a short lanelet within one step. Where the route
            // ends or a lane change is required, s stays beyond the end.
            if position.s < length || !self.enter_next(position, route, ground, length) {
                return;
            }
        }
    }

    /// Moves a body along its lanelet and the following ones. Returns the distance moved, m. The
    /// body stops at the end of the last lanelet, or of a lanelet that it has to leave by a lane
    /// change.
    #[inline]
    pub(crate) fn go_along(
        &mut self,
        position: &mut LanePosition,
        route: &Route,
        ground: &Ground,
        distance: f64,
    ) -> f64 {
        position.s += distance;
        loop {
            let length = ground.length(position.lanelet);
            if position.s < length {
                return distance;
            }
            if !self.enter_next(position, route, ground, length) {
                let beyond = position.s - length;
                position.s = length;
                return (distance - beyond).max(0.0);
            }
        }
    }

    /// Moves the agent to the next lanelet of the route if the current lanelet leads directly to
    /// it. Returns whether the agent was moved. `length` is the length of the current lanelet, m.
    #[inline]
    fn enter_next(
        &mut self,
        position: &mut LanePosition,
        route: &Route,
        ground: &Ground,
        length: f64,
    ) -> bool {
        match route.lanelet(self.at + 1) {
            Some(next) if ground.leads_to(position.lanelet, next) => {
                position.s -= length;
                position.lanelet = next;
                // The lane that the agent was leaving ends here too, or leads elsewhere.
                position.leaving = NO_LANELET;
                self.at += 1;
                true
            }
            _ => false,
        }
    }

    /// Updates the goals reached, and returns whether the agent has arrived.
    ///
    /// A goal on a lane is reached when the rear axle has passed it. A goal on open ground is
    /// reached within a radius, because a vehicle that just misses a point would circle around it.
    /// The end of a path, or a goal with a heading, is reached when the path is completed. At a
    /// goal with a heading, the vehicle also has to stop.
    #[inline]
    pub(crate) fn reach_goals(
        &mut self,
        route: &Route,
        position: &LanePosition,
        at: Reached,
    ) -> Arrival {
        let place = at.pose.position;
        // The most common case: the next goal is on a lanelet ahead.
        if self.at < self.goal_at {
            return Arrival::UnderWay;
        }
        while let Some(goal) = route.next_goal(self.reached) {
            let is_reached = match goal {
                Goal::Ground(goal) => match route.given_path_to(self.reached) {
                    Some(path) => position.s >= path.line().length() - PATH_END,
                    None => route
                        .reaches_exactly(self.reached, position.s, at)
                        .unwrap_or((place - goal).length() < at.radius),
                },
                // The agent joins the lane in a separate stage.
                Goal::Join { .. } => false,
                Goal::Lane { s, .. } | Goal::Leave { s, .. } => {
                    let at = route.goal_at(self.reached).unwrap_or(0);
                    self.at > at || (self.at == at && position.s >= s)
                }
            };
            if !is_reached {
                return Arrival::UnderWay;
            }
            let is_last = self.reached as usize + 1 == route.goals.len();
            // At the end of a path set by its behaviour, the agent continues only at the
            // behaviour's request. Example: a script parks a vehicle with two paths, one forwards
            // and one in reverse. Between them, the vehicle continues without a request. At the end
            // of the second path, it waits for the script.
            let is_path = self.has_own_goals
                && route.given_path_to(self.reached).is_some()
                && route.given_path_to(self.reached + 1).is_none();
            if is_path || is_last && self.holds_arrival {
                return Arrival::AtGoal;
            }
            self.reached += 1;
            if is_last {
                return Arrival::Finished;
            }
            self.look_ahead(route);
            // The position on the next path is only computed after this step.
            let was_path = route.given_path_to(self.reached - 1).is_some();
            if self.at < self.goal_at || was_path {
                return Arrival::UnderWay;
            }
        }
        Arrival::UnderWay
    }
}

impl Route {
    /// Returns the route up to lanelet `from`, followed by the given lanelets, with a single
    /// remaining goal at their end. It is used for agents that flee.
    pub(crate) fn with_flight(
        &self,
        reached: u32,
        from: u32,
        flight: &[LaneletIndex],
        s: f64,
    ) -> Self {
        let Some(&end) = flight.last() else {
            return self.clone();
        };
        let goal = Goal::Lane { lanelet: end, s };
        let lanelets = [&self.lanelets[..=from as usize], flight].concat();
        let mut legs: Vec<Leg> = self.legs.iter().take(reached as usize).cloned().collect();
        legs.resize(reached as usize, Leg::Straight);
        legs.push(Leg::Lanes {
            end: lanelets.len() as u32 - 1,
        });
        Self {
            goals: [&self.goals[..reached as usize], &[goal]].concat().into(),
            legs: legs.into(),
            lanelets: lanelets.into(),
        }
    }
}
