//! Routes: the goals of an agent, and the legs that lead to them.
//!
//! A route is immutable and shared by all agents with equal routes ([`Routes`]). An agent's place
//! on its route is its [`Progress`](crate::records::Progress). Only the methods in `progress.rs`
//! give an agent another route.

mod lane_changes;
mod line;
mod path;
mod planning;
mod progress;
mod roads;
mod store;

pub(crate) use lane_changes::{GIVE_UP_DISTANCE, WAITS_BEFORE, place_to_wait};
pub(crate) use line::Stretch;
pub use path::Waypoint;
pub(crate) use path::{Exact, GroundPath, PlannedPath, Probe, SteeringResponse};
pub(crate) use planning::{Asking, Question, Trip, ask_all, goal_input, plan_legs};
use progress::PATH_END;
pub(crate) use progress::{Arrival, ExactGoal, GROUND_GOAL_RADIUS, Reached, Travel};
pub(crate) use roads::Road;
pub(crate) use store::Routes;

use crate::records::{FARTHEST, LanePosition, LaneSpot, Progress};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex};
use serde::{Deserialize, Serialize};

/// Position tolerance for goals that specify a heading, m.
const EXACT_OFFSET: f64 = 0.15;
/// Heading tolerance for goals that specify a heading, rad.
const EXACT_TURN: f64 = 0.07;
/// Speed below which a vehicle counts as stationary at a goal that specifies a heading, m/s.
const EXACT_SPEED: f64 = 0.05;

/// A place that a route has to reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Goal {
    /// On a lanelet.
    Lane { lanelet: LaneletIndex, s: f64 },
    /// On open ground.
    Ground(DVec2),
    /// A place chosen by the planner where the route leaves the lanes. It is not a goal of the user
    /// and is not reported as one.
    Leave { lanelet: LaneletIndex, s: f64 },
    /// A place chosen by the planner where the route joins a lane. It counts as reached when the vehicle
    /// joins the lane.
    Join { lanelet: LaneletIndex, s: f64 },
}

impl Goal {
    /// Whether the goal is on an existing lanelet or at a valid place off the lanes. `lanelets` is the number
    /// of lanelets.
    pub(crate) fn is_sound(&self, lanelets: usize) -> bool {
        match self {
            Self::Lane { lanelet, s } | Self::Leave { lanelet, s } | Self::Join { lanelet, s } => {
                lanelet.index() < lanelets && s.is_finite()
            }
            Self::Ground(place) => place.abs().max_element() <= FARTHEST,
        }
    }

    /// Position of the goal, m.
    pub(crate) fn position(&self, graph: &LaneGraph) -> DVec2 {
        match *self {
            Self::Ground(position) => position,
            Self::Lane { lanelet, s } | Self::Leave { lanelet, s } | Self::Join { lanelet, s } => {
                graph.line(lanelet).position(s)
            }
        }
    }

    /// Place of the goal if it is approached on lanes; `None` if it is approached over open ground.
    #[inline]
    pub(crate) fn on_lane(&self) -> Option<LaneSpot> {
        match *self {
            Self::Lane { lanelet, s } | Self::Leave { lanelet, s } => Some(LaneSpot { lanelet, s }),
            Self::Ground(_) | Self::Join { .. } => None,
        }
    }

    /// Whether the place was chosen by the planner and is therefore not a goal of the user.
    #[inline]
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Leave { .. } | Self::Join { .. })
    }
}

/// Part of a route that leads to one goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Leg {
    /// The route's lanelets up to this index.
    Lanes { end: u32 },
    /// A path over open ground.
    Path(Box<GroundPath>),
    /// A straight line over open ground to the goal.
    Straight,
    /// A path over open ground that was found by a planner. Its goal is reached under the same
    /// condition as the goal of a straight leg.
    Planned(Box<PlannedPath>),
    /// A path over open ground that was found by a planner and has to be driven to its end.
    Exact(Box<PlannedPath>, Exact),
}

/// Goals in order, with the legs that lead to them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Route {
    /// Goals of the route, in order.
    pub(crate) goals: Box<[Goal]>,
    /// Legs to the goals. There are fewer legs than goals while the route is not completely
    /// planned.
    pub(crate) legs: Box<[Leg]>,
    /// Lanelets of all legs on lanes, from the start to the last goal.
    pub(crate) lanelets: Box<[LaneletIndex]>,
}

impl Route {
    /// Whether the route's lanelets exist in a network of `lanelets` lanelets, and its legs refer
    /// only to lanelets of the route.
    fn is_sound(&self, lanelets: usize) -> bool {
        let exists = |id: &LaneletIndex| id.index() < lanelets;
        let goals = self.goals.iter().all(|goal| goal.is_sound(lanelets));
        let ends = self.legs.iter().filter_map(|leg| match leg {
            Leg::Lanes { end } => Some(*end as usize),
            Leg::Path(_) | Leg::Straight | Leg::Planned(_) | Leg::Exact(..) => None,
        });
        // The end indices of the legs must not decrease.
        let legs = ends.clone().all(|end| end < self.lanelets.len()) && ends.is_sorted();
        goals && legs && self.lanelets.iter().all(exists) && self.legs.len() <= self.goals.len()
    }

    /// Whether an agent's progress and position are valid on this route.
    pub(crate) fn holds(&self, progress: &Progress, position: &LanePosition) -> bool {
        let is_on_route = self.lanelet(progress.at) == Some(position.lanelet);
        let is_somewhere = position.s.is_finite() && position.t.is_finite();
        progress.reached as usize <= self.goals.len()
            && (progress.goal_at == 0 || self.lanelet(progress.goal_at).is_some())
            && is_somewhere
            && (is_on_route || !position.is_on_lane())
    }

    /// Creates a route with goals but no legs yet.
    pub(crate) fn unplanned(goals: Vec<Goal>) -> Self {
        Self {
            goals: goals.into(),
            ..Self::default()
        }
    }

    /// Whether the route has goals both on lanes and off the lanes.
    fn leaves_lanes(&self) -> bool {
        let is_on_lane = |goal: &Goal| goal.on_lane().is_some();
        let mut goals = self.goals.iter();
        goals.clone().any(is_on_lane) && !goals.all(is_on_lane)
    }

    /// Lanelet at the given index.
    #[inline]
    pub(crate) fn lanelet(&self, index: u32) -> Option<LaneletIndex> {
        self.lanelets.get(index as usize).copied()
    }

    /// Next goal of an agent that has reached `reached` goals.
    #[inline]
    pub(crate) fn next_goal(&self, reached: u32) -> Option<Goal> {
        self.goals.get(reached as usize).copied()
    }

    /// Remaining goals of an agent that has reached `reached` goals, without the places chosen by the
    /// planner.
    pub(crate) fn goals_of_user(&self, reached: u32) -> impl Iterator<Item = Goal> {
        let ahead = self.goals.iter().skip(reached as usize).copied();
        ahead.filter(|goal| !goal.is_own())
    }

    /// Returns the route of an agent that joins a lane during a leg over open ground. `lanes` is
    /// the rest of the route, starting on that lane. `reached` is the number of goals already
    /// reached.
    pub(crate) fn joined(&self, reached: u32, lanes: Self) -> Self {
        let mut legs = vec![Leg::Straight; reached as usize];
        legs.extend(lanes.legs);
        Self {
            goals: self.goals.clone(),
            legs: legs.into(),
            lanelets: lanes.lanelets,
        }
    }

    /// Index of the lanelet of a goal.
    #[inline]
    pub(crate) fn goal_at(&self, goal: u32) -> Option<u32> {
        match self.legs.get(goal as usize)? {
            Leg::Lanes { end } => Some(*end),
            Leg::Path(_) | Leg::Straight | Leg::Planned(_) | Leg::Exact(..) => None,
        }
    }

    /// Path over open ground to a goal.
    pub(crate) fn path_to(&self, goal: u32) -> Option<&GroundPath> {
        match self.legs.get(goal as usize)? {
            Leg::Path(path) => Some(path),
            Leg::Planned(planned) | Leg::Exact(planned, _) => Some(&planned.path),
            Leg::Lanes { .. } | Leg::Straight => None,
        }
    }

    /// Like `path_to`, but without paths found by a planner. The remaining paths were set by the
    /// caller and have to be driven to their ends.
    pub(crate) fn given_path_to(&self, goal: u32) -> Option<&GroundPath> {
        match self.legs.get(goal as usize)? {
            Leg::Path(path) => Some(path),
            Leg::Lanes { .. } | Leg::Straight | Leg::Planned(_) | Leg::Exact(..) => None,
        }
    }

    /// The path that a planner has found to a goal.
    pub(crate) fn planned_to(&self, goal: u32) -> Option<&PlannedPath> {
        match self.legs.get(goal as usize)? {
            Leg::Planned(planned) | Leg::Exact(planned, _) => Some(planned),
            Leg::Lanes { .. } | Leg::Straight | Leg::Path(_) => None,
        }
    }

    /// Path that has to be driven to its end, and whether the goal is at that end; `None` for other paths.
    pub(crate) fn exact_to(&self, goal: u32) -> Option<(&PlannedPath, Exact)> {
        match self.legs.get(goal as usize)? {
            Leg::Exact(planned, exact) => Some((planned, *exact)),
            Leg::Lanes { .. } | Leg::Straight | Leg::Path(_) | Leg::Planned(_) => None,
        }
    }

    /// Whether an agent at position `s` of its path has reached its goal, for goals that are only
    /// reached at the end of the path; `None` for other goals.
    fn reaches_exactly(&self, goal: u32, s: f64, at: Reached) -> Option<bool> {
        let (planned, exact) = self.exact_to(goal)?;
        if at.exact == ExactGoal::PathEnd {
            return Some(exact.is_last && s >= planned.path.line().length() - PATH_END);
        }
        let is_there = planned.path.end().is_some_and(|end| {
            let offset = (at.pose.position - end.position).length();
            let turned = wrap_angle(at.pose.heading - end.heading);
            offset < EXACT_OFFSET && turned.abs() < EXACT_TURN
        });
        Some(exact.is_last && is_there && at.speed.abs() < EXACT_SPEED)
    }

    /// Returns the route with another leg over open ground to the next goal. `reached` is the
    /// number of goals already reached.
    pub(crate) fn with_leg(&self, reached: u32, leg: Leg) -> Self {
        let mut legs: Vec<Leg> = self.legs.to_vec();
        let at = reached as usize;
        legs.resize(legs.len().max(at + 1), Leg::Straight);
        legs[at] = leg;
        Self {
            goals: self.goals.clone(),
            legs: legs.into(),
            lanelets: self.lanelets.clone(),
        }
    }

    /// Whether the path over open ground to a goal is driven in reverse.
    #[inline]
    pub(crate) fn is_reversing(&self, goal: u32) -> bool {
        self.path_to(goal).is_some_and(GroundPath::is_reversing)
    }

    /// Returns the route with the lanelets from index `from` to index `to` replaced by `lanelets`,
    /// which has to start and end with the same lanelets. The whole range has to be part of the leg
    /// to the next goal. `reached` is the number of goals already reached.
    pub(crate) fn with_run(
        &self,
        from: u32,
        to: u32,
        reached: u32,
        lanelets: &[LaneletIndex],
    ) -> Self {
        let (from, to) = (from as usize, to as usize);
        let all = [&self.lanelets[..from], lanelets, &self.lanelets[to + 1..]].concat();
        // The goals of this leg and of later legs are shifted together with the lanelets behind the
        // replaced run. Reached goals are before the run. Example: lanelets 10 to 15 with a goal at
        // index 3. The run 1..=3 becomes four lanelets long, so the goal moves to index 4.
        let shift = |end: u32| (end as usize + lanelets.len() - (to - from + 1)) as u32;
        let legs = self.legs.iter().enumerate().map(|(goal, leg)| match leg {
            Leg::Lanes { end } if goal >= reached as usize => Leg::Lanes { end: shift(*end) },
            leg => leg.clone(),
        });
        Self {
            goals: self.goals.clone(),
            legs: legs.collect(),
            lanelets: all.into(),
        }
    }

    /// Returns the route with all goals after the first `reached` ones replaced. The lanelets stay, but the
    /// legs to the new goals still have to be planned.
    pub(crate) fn with_goals(&self, reached: u32, goals: &[Goal]) -> Self {
        Self {
            goals: [&self.goals[..reached as usize], goals].concat().into(),
            // Only the completed legs are kept, because those to the new goals have not been
            // planned.
            legs: self.legs.iter().take(reached as usize).cloned().collect(),
            lanelets: self.lanelets.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanelets(numbers: &[u32]) -> Box<[LaneletIndex]> {
        numbers.iter().copied().map(LaneletIndex::new).collect()
    }

    fn route(numbers: &[u32], ends: &[u32]) -> Route {
        let lanelets = lanelets(numbers);
        let goal = |end: &u32| Goal::Lane {
            lanelet: lanelets[*end as usize],
            s: 1.0,
        };
        Route {
            goals: ends.iter().map(goal).collect(),
            legs: ends.iter().map(|&end| Leg::Lanes { end }).collect(),
            lanelets,
        }
    }

    #[test]
    fn a_leg_is_replaced_and_later_goals_move_along() {
        let before = route(&[10, 11, 12, 13, 14, 15], &[3, 5]);
        // (from and to, goals reached, new lanelets, lanelets after, ends after)
        let cases = [
            (
                (1, 3),
                0,
                &[11, 20, 21, 13][..],
                &[10, 11, 20, 21, 13, 14, 15][..],
                [4, 6],
            ),
            ((1, 3), 0, &[11, 13], &[10, 11, 13, 14, 15], [2, 4]),
            (
                (4, 5),
                1,
                &[14, 30, 15],
                &[10, 11, 12, 13, 14, 30, 15],
                [3, 6],
            ),
            ((3, 3), 0, &[13], &[10, 11, 12, 13, 14, 15], [3, 5]),
            ((0, 2), 0, &[10, 40, 12], &[10, 40, 12, 13, 14, 15], [3, 5]),
        ];
        for ((from, to), reached, new, after_it, ends) in cases {
            let after = before.with_run(from, to, reached, &lanelets(new));
            assert_eq!(after.lanelets, lanelets(after_it));
            assert_eq!([0, 1].map(|goal| after.goal_at(goal).unwrap()), ends);
            assert_eq!(after.goals, before.goals);
        }
    }

    #[test]
    fn new_goals_keep_those_that_were_reached() {
        let before = route(&[10, 11, 12], &[1, 2]);
        let new = Goal::Ground(DVec2::ONE);
        let after = before.with_goals(1, &[new]);
        assert_eq!(&*after.goals, &[before.goals[0], new]);
        assert_eq!((after.goal_at(0), after.goal_at(1)), (Some(1), None));
    }
}
