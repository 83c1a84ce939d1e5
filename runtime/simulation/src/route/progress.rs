//! The verbs of progress: everything that gives an agent another route or place on it.
//!
//! Progress has to fit the route: the index of the lanelet, the goals reached, the index of the next
//! goal's lanelet, and at junctions how far is granted and what is asked for.
//! Only the verbs of [`Travel`] exchange a route, so there is one place to keep them consistent:
//!
//! | verb | the new route | place on it | grants | asks again |
//! | --- | --- | --- | --- | --- |
//! | [`Travel::plan`] | the first one | at its start | none yet | |
//! | [`Travel::replan`] | equal up to the place, or to what is granted | stays | stay | yes |
//! | [`Travel::start_over`] | begins where the agent is | its start | none | yes |
//! | [`Travel::move_to`] | the same lanelets, maybe with other numbers, or open ground | stays | stay | no |
//! | [`Travel::move_goals`] | the same lanelets, goals elsewhere on them | stays | stay | no |

use super::{Goal, Leg, Route, Routes};
use crate::ground::Ground;
use crate::records::{Claim, LanePosition, Progress};
use roadwright_geometry::DVec2;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// An open-ground goal counts as reached within this, m ([Gerdelan 2011], chapter 12).
const GROUND_GOAL_RADIUS: f64 = 6.0;

/// One agent's travel: its progress with all that goes along with it.
pub(crate) struct Travel<'a> {
    pub(crate) routes: &'a mut Routes,
    pub(crate) progress: &'a mut Progress,
    pub(crate) claim: &'a mut Claim,
}

/// Farther from the end of its lane nobody is in need of a gap, m.
const SEEKING_DISTANCE: f64 = 200.0;
/// This close to its end a path has been driven, m.
const PATH_END: f64 = 0.1;

/// What advancing has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is under way.
    UnderWay,
    /// It has come to its last goal and waits there.
    AtGoal,
    /// It has reached its last goal.
    Finished,
}

impl Travel<'_> {
    /// Gives an agent its first route.
    pub(crate) fn plan(&mut self, route: Route) {
        self.progress.route = self.routes.take(route);
        self.progress
            .look_ahead(self.routes.get(self.progress.route));
    }

    /// Another route that agrees with the one before up to the agent's place, or to the end of what
    /// it has been granted; what it asked a junction for is asked again.
    pub(crate) fn replan(&mut self, route: Route, step: u64) {
        self.exchange(route);
        self.progress.planned_at = step;
        self.claim.asked_for = 0;
    }

    /// A route that begins where the agent is, with nothing granted.
    pub(crate) fn start_over(&mut self, route: Route, step: u64) {
        self.replan(route, step);
        self.progress.at = 0;
        self.claim.granted_to = 0;
    }

    /// A route to other goals along the same lanelets, or over open ground.
    pub(crate) fn move_to(&mut self, route: Route) {
        self.exchange(route);
    }

    /// The same lanelets to goals that lie elsewhere on them.
    pub(crate) fn move_goals(&mut self, goals: &[Goal]) {
        let route = self.routes.get(self.progress.route).clone();
        self.exchange(Route {
            goals: goals.into(),
            ..route
        });
    }

    /// Moves to the lanelet beside its own, which is next on the route. The body is where it was: `s`
    /// and `t` are those of the same place beside the new lane's middle.
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

    /// Ends the travel: the agent has no route any more.
    pub(crate) fn finish(&mut self) {
        self.routes.release(self.progress.route);
    }

    fn exchange(&mut self, route: Route) {
        let new = self.routes.take(route);
        // The new one is taken before the old one is released: if they are equal the store does not
        // drop the route in between.
        let old = std::mem::replace(&mut self.progress.route, new);
        self.routes.release(old);
        self.progress.look_ahead(self.routes.get(new));
    }

    /// Counts so many goals as reached.
    pub(crate) fn reach(&mut self, reached: u32) {
        self.progress.reached = reached;
        self.progress
            .look_ahead(self.routes.get(self.progress.route));
    }
}

impl Progress {
    /// Notes where the next goal is.
    fn look_ahead(&mut self, route: &Route) {
        self.goal_at = route.goal_at(self.reached).unwrap_or(0);
    }

    /// Counts for how long it has been seeking a gap to change into.
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
        // Below 0 while it is kept from changing: it goes on from there.
        self.seeking = if seeks {
            self.seeking + (dt as f32).copysign(self.seeking)
        } else {
            0.0
        };
    }

    /// Notes whether others keep it from changing, who have been promised room on the lane beside.
    pub(crate) fn note_kept(&mut self, is_kept: bool) {
        let sought = self.seeking.abs();
        self.seeking = if is_kept { -sought } else { sought };
    }

    /// Finds a body at a place on its lanelet, and on those that it has come to; `s` is beyond the
    /// end of its own then.
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
            // Beyond the end of its lanelet it is on the next one of the route, and projected again:
            // at speed a short lanelet is passed in one step. Where the lane has to be left sideways,
            // or the route ends, s stays beyond the end.
            if position.s < length || !self.enter_next(position, route, ground, length) {
                return;
            }
        }
    }

    /// Moves a body on along its lanelet, and over to those that it comes to. Returns how far it
    /// went, m: it does not leave the end of the last, nor of one that it has to leave sideways.
    #[inline]
    pub(crate) fn go_along(
        &mut self,
        position: &mut LanePosition,
        route: &Route,
        ground: &Ground,
        way: f64,
    ) -> f64 {
        position.s += way;
        loop {
            let length = ground.length(position.lanelet);
            if position.s < length {
                return way;
            }
            if !self.enter_next(position, route, ground, length) {
                let beyond = position.s - length;
                position.s = length;
                return (way - beyond).max(0.0);
            }
        }
    }

    /// Enters the lanelet after one of a length, if the route leads straight on to it.
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
                // The lane that it was leaving ends here too, or goes elsewhere.
                position.leaving = NO_LANELET;
                self.at += 1;
                true
            }
            _ => false,
        }
    }

    /// Counts the goals that are reached, and says whether the agent has arrived.
    ///
    /// A goal on a lane is reached when the rear axle has passed it; one on open ground within a
    /// radius, because a vehicle that just misses a point would circle around it; the end of a path
    /// when it has been driven.
    #[inline]
    pub(crate) fn reach_goals(
        &mut self,
        route: &Route,
        position: &LanePosition,
        place: DVec2,
    ) -> Arrival {
        // Nearly always: the goal is on a lanelet farther on.
        if self.at < self.goal_at {
            return Arrival::UnderWay;
        }
        while let Some(goal) = route.next_goal(self.reached) {
            let is_reached = match goal {
                Goal::Ground(goal) => match route.path_to(self.reached) {
                    Some(path) => position.s >= path.line().length() - PATH_END,
                    None => (place - goal).length() < GROUND_GOAL_RADIUS,
                },
                Goal::Lane { s, .. } => {
                    let at = route.goal_at(self.reached).unwrap_or(0);
                    self.at > at || (self.at == at && position.s >= s)
                }
            };
            if !is_reached {
                return Arrival::UnderWay;
            }
            let is_last = self.reached as usize + 1 == route.goals.len();
            // From the end of a path that its behaviour wanted it goes on when that says so.
            // Example: a script parks a vehicle by two paths, forwards and then backwards. Between them
            // it goes on by itself; at the end of the second one it waits for the script.
            let is_path = self.has_own_goals
                && route.path_to(self.reached).is_some()
                && route.path_to(self.reached + 1).is_none();
            if is_path || is_last && self.holds_arrival {
                return Arrival::AtGoal;
            }
            self.reached += 1;
            if is_last {
                return Arrival::Finished;
            }
            self.look_ahead(route);
            // Where it is on the next path is known after this step.
            let was_path = route.path_to(self.reached - 1).is_some();
            if self.at < self.goal_at || was_path {
                return Arrival::UnderWay;
            }
        }
        Arrival::UnderWay
    }
}

impl Route {
    /// A flight: the route up to lanelet `from`, then these, and their end as the only goal left.
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
