//! Driving beside or off the lanes at the request of a behaviour: along a path, around other
//! vehicles, to the kerb, and back onto a lane.
//!
//! An excursion is a path over open ground, for which the agent leaves its lane. Until the agent
//! joins a lane again, it ignores junctions, leaders and lane changes, and reacts to obstacles and
//! other bodies instead. After a swerve, the agent continues on lanes to its remaining goals. A
//! path set by its behaviour replaces them.

use super::effects::{Effecting, give_up_grants};
use crate::records::{AgentIndex, LanePosition, LaneSpot, Phase, keeps_to_lanes};
use crate::route::{Goal, Leg, Route, Waypoint, goal_input};
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_ground::Spot;
use roadwright_scenario::DynamicsLevel;
use roadwright_scenario::lane_graph::NO_LANELET;
use std::f64::consts::PI;

/// Distance between the points of a line beside a lane, m.
const SPACING: f64 = 1.0;
/// Minimum speed along a line beside a lane, m/s.
const SLOWEST: f64 = 3.0;
/// Distance below which two points of a path are merged, m.
const LEAST_STEP: f64 = 0.1;
/// Speed where a path changes between forward and reverse driving, m/s.
const CREEP: f64 = 0.5;
/// Maximum length of a path, m. Longer paths are cut off.
const LONGEST: f64 = 2000.0;
/// An agent can join a lane only within this distance of it, m.
const JOIN_REACH: f64 = 4.0;
/// An agent can join a lane only within this angle to it, rad.
const JOIN_ANGLE: f64 = 0.8;
/// An agent on a trip over open ground continues on a lane if its offset from the lane's centre
/// line is at most this, m.
const JOINED_OFFSET: f64 = 1.2;
/// An agent on a trip over open ground may join its planned lane, or another one, only within this
/// distance of the planned joining place, m.
const JOINED_WITHIN: f64 = 45.0;
/// An agent on a trip over open ground continues on a lane if its angle to the lane is at most
/// this, rad.
const JOINED_ANGLE: f64 = 0.45;

/// Lateral profile of a swerve, relative to the centre line of the agent's lane.
pub(super) struct Swerve {
    pub(super) offset: f64,
    pub(super) within: f64,
    pub(super) along: f64,
    pub(super) comes_back: bool,
}

impl Swerve {
    fn length(&self) -> f64 {
        let back = if self.comes_back { self.within } else { 0.0 };
        (self.within + self.along + back).min(LONGEST)
    }

    /// Offset from the lane's centre line after the given distance, m to the left.
    fn at(&self, distance: f64) -> f64 {
        //  offset |      .-------------.
        //         |    .'               '.
        //       0 |---'                   '-----> distance
        //         |<within>|<-- along -->|<within>
        //
        // From 0 to 1, with a slope of zero at both ends.
        let smooth = |share: f64| {
            let share = share.clamp(0.0, 1.0);
            share * share * (3.0 - 2.0 * share)
        };
        let within = self.within.max(SPACING);
        let out = smooth(distance / within);
        let back = if self.comes_back {
            smooth((distance - self.within - self.along) / within)
        } else {
            0.0
        };
        self.offset * (out - back)
    }
}

impl Effecting<'_> {
    /// Drives an agent along the line set by its behaviour, with detours around fixed obstacles.
    /// Logs a fault if the line is invalid, or if there is no path around an obstacle.
    pub(super) fn drive_own_path(&mut self, agent: AgentIndex, line: &[(DVec2, f64)]) {
        let paths = paths_along(self.bodies().pose(agent), line);
        if paths.is_empty() {
            self.complain(agent, "a path needs two different points".into());
            return;
        }
        let places: Vec<DVec2> = line.iter().map(|point| point.0).collect();
        let paths = match self.scene(agent, &places) {
            Some(mut scene) => {
                let paths = scene.around(paths);
                self.leave_scene(scene);
                paths
            }
            None => Ok(paths),
        };
        match paths {
            Ok(paths) => self.take_paths(agent, paths, Vec::new()),
            Err(at) => {
                let text = format!(
                    "an obstacle blocks the path before ({:.1}, {:.1}), and the vehicle finds no path around it",
                    at.x, at.y
                );
                self.complain(agent, text);
            }
        }
    }

    /// Drives an agent along a line over the ground, given as positions (m) and speeds (m/s). A
    /// negative speed means driving in reverse. The remaining goals are replaced by `later`.
    /// Returns whether the line is valid.
    fn drive_path(&mut self, agent: AgentIndex, line: &[(DVec2, f64)], later: Vec<Goal>) -> bool {
        let paths = paths_along(self.bodies().pose(agent), line);
        if paths.is_empty() {
            return false;
        }
        self.take_paths(agent, paths, later);
        true
    }

    /// Makes an agent follow paths over the ground one after another, and then continue to its
    /// later goals.
    pub(super) fn take_paths(
        &mut self,
        agent: AgentIndex,
        paths: Vec<Vec<Waypoint>>,
        later: Vec<Goal>,
    ) {
        self.leave_lane(agent);
        let reached = self.goals_behind(agent);
        // Each path ends in a goal on open ground. The goals on lanes, for the return, come after
        // them.
        let end = |path: &Vec<Waypoint>| path.last().map(|w| Goal::Ground(w.pose.position));
        let goals: Vec<Goal> = paths.iter().filter_map(end).chain(later).collect();
        let mut route = self.route_of(agent).with_goals(reached, &goals);
        let paths = paths
            .into_iter()
            .map(|path| Leg::Path(Box::new(path.into())));
        route.legs = route.legs.iter().cloned().chain(paths).collect();
        self.move_to_route(agent, route);
        self.travel(agent).reach(reached);
        self.agents.progress[agent.index()].has_own_goals = true;
        self.agents.identity[agent.index()].phase = Phase::Driving;
    }

    /// Makes an agent swerve from the centre line of its lane. Logs a fault if the agent is not on a lane.
    pub(super) fn swerve(&mut self, agent: AgentIndex, swerve: &Swerve) {
        // The agent would stop inside the junction or block it. Its behaviour requests the swerve
        // again in its next update.
        if !swerve.comes_back && self.meets_junction(agent, swerve.length()) {
            return;
        }
        let line = self.line_beside(agent, swerve);
        let later = match swerve.comes_back {
            true => self.goals_left(agent, self.goals_behind(agent)),
            false => Vec::new(),
        };
        if !self.drive_path(agent, &line, later) {
            self.complain(
                agent,
                "the agent is not on a lane, so it cannot swerve".into(),
            );
        }
    }

    /// Whether an agent on a lane is in a contested junction or reaches one within `distance`
    /// metres.
    fn meets_junction(&self, agent: AgentIndex, distance: f64) -> bool {
        if !self.agents.position[agent.index()].is_on_lane() {
            return false;
        }
        let reach = distance + self.vehicle_type(agent).front;
        let view = self.surroundings().with(self.agents.lent());
        let mut lanelets = view.lanelets_ahead(agent, reach);
        lanelets.any(|lanelet| self.ground.contested(lanelet).is_some())
    }

    /// Returns the line of a swerve: the centre lines of the lanelets ahead, shifted sideways.
    /// Empty off the lanes.
    fn line_beside(&self, agent: AgentIndex, swerve: &Swerve) -> Vec<(DVec2, f64)> {
        let index = agent.index();
        let position = self.agents.position[index];
        let mut line = Vec::new();
        if !position.is_on_lane() {
            return line;
        }
        let speed = self.agents.motion[index].speed.max(SLOWEST);
        let route = self.route_of(agent);
        let mut at = self.agents.progress[index].at;
        let (mut s, mut lanelet) = (position.s, position.lanelet);
        let steps = (swerve.length() / SPACING).floor() as u32;
        for step in 1..=steps {
            s += SPACING;
            // Continues onto the next lanelet of the route as long as no lane change is needed.
            while s > self.ground.length(lanelet) {
                let Some(next) = route.lanelet(at + 1) else {
                    break;
                };
                if !self.ground.leads_to(lanelet, next) {
                    break;
                }
                s -= self.ground.length(lanelet);
                (lanelet, at) = (next, at + 1);
            }
            let middle = self.ground.line(lanelet).pose(s);
            let aside = swerve.at(f64::from(step) * SPACING);
            let is_end = step == steps && !swerve.comes_back;
            line.push((middle.point(0.0, aside), if is_end { 0.0 } else { speed }));
        }
        line
    }

    /// Moves an agent from its lane to open ground and releases its grants at junctions.
    fn leave_lane(&mut self, agent: AgentIndex) {
        let index = agent.index();
        if !self.agents.position[index].is_on_lane() {
            return;
        }
        // Level `lane` only works on lanes. The agent switches to a level that works everywhere,
        // and keeps it even after it has joined a lane again.
        if keeps_to_lanes(self.agents.identity[index].level) {
            let (ground, level) = (self.ground, DynamicsLevel::OneTrack);
            self.dynamics.assign(ground, self.agents, agent, level);
        }
        // Off the lanes, the agent finds other bodies by position, starting in this step.
        self.locate_bodies();
        // An agent off the lanes must not keep others waiting at a junction.
        self.traffic.claims.forget(agent);
        self.agents.claim[index].granted_to = self.agents.progress[index].at;
        self.agents.position[index] = LanePosition {
            lanelet: NO_LANELET,
            leaving: NO_LANELET,
            ..LanePosition::default()
        };
        self.agents.touch();
    }

    /// Moves an agent from its lane to open ground if its next goal is off the lanes.
    pub(crate) fn leave_for_ground(&mut self, agent: AgentIndex) {
        self.leave_lane(agent);
    }

    /// Makes an agent off the lanes join the lane that it has reached on its trip over open ground, and gives
    /// it a route to its goals on lanes. Returns whether it has joined.
    pub(crate) fn join_from_ground(&mut self, agent: AgentIndex) -> bool {
        let reached = self.agents.progress[agent.index()].reached + 1;
        let goals = self.route_of(agent).goals.iter().skip(reached as usize);
        let goals: Vec<Goal> = goals
            .take_while(|goal| goal.on_lane().is_some())
            .copied()
            .collect();
        let pose = self.bodies().pose(agent);
        // A shortcut over open ground may lead back to the lane that the agent has just left.
        let planned = self.route_of(agent).next_goal(reached - 1);
        let planned = planned.map(|goal| goal.position(self.ground.graph()));
        if planned.is_none_or(|place| (place - pose.position).length() > JOINED_WITHIN) {
            return false;
        }
        let spots = self.ground.finder().under(self.ground.graph(), pose);
        let joined = spots.into_iter().find_map(|spot| {
            let (lanelet, s, t) = spot;
            let heading = self.ground.line(lanelet).heading(s);
            let is_along = wrap_angle(pose.heading - heading).abs() < JOINED_ANGLE;
            if t.abs() > JOINED_OFFSET || !is_along {
                return None;
            }
            let lanes = self.route_from(agent, on_lane(spot), goals.clone())?;
            Some((spot, self.route_of(agent).joined(reached, lanes)))
        });
        let Some(((lanelet, s, t), route)) = joined else {
            return false;
        };
        let step = self.clock.step;
        self.travel(agent).start_over(route, step);
        self.travel(agent).reach(reached);
        self.agents.position[agent.index()] = LanePosition {
            lanelet,
            leaving: NO_LANELET,
            s,
            t,
        };
        give_up_grants(self.ground, self.agents, self.traffic, agent);
        self.agents.touch();
        true
    }

    /// Counts the planned exit from the lanes as reached, if the agent has already left the lanes.
    pub(crate) fn pass_exit(&mut self, agent: AgentIndex) {
        let reached = self.agents.progress[agent.index()].reached + 1;
        self.travel(agent).reach(reached);
    }

    /// Moves an agent from its lane to open ground because a user has taken manual control. The
    /// agent keeps its goals.
    pub(crate) fn take_over(&mut self, agent: AgentIndex) {
        self.leave_lane(agent);
        let goals = self.goals_left(agent, self.goals_behind(agent));
        if goals.is_empty() {
            // The agent is already on open ground and stays there.
            return;
        }
        // The path to the goals is dropped, because the user may drive anywhere.
        let step = self.clock.step;
        self.travel(agent).start_over(Route::unplanned(goals), step);
        self.travel(agent).reach(0);
    }

    /// Ends manual control of an agent, which continues to its goals from a nearby lane, or over
    /// open ground.
    pub(crate) fn resume(&mut self, agent: AgentIndex) {
        let goals = self.goals_left(agent, self.agents.progress[agent.index()].reached);
        let spot = self.lane_beside(agent).filter(|_| !goals.is_empty());
        if let Some(spot) = spot
            && let Some(route) = self.route_from(agent, on_lane(spot), goals.clone())
        {
            self.take_lane(agent, spot, Some(route));
            return;
        }
        if !goals.is_empty() {
            let ahead = goals
                .iter()
                .map(|goal| Goal::Ground(goal.position(self.ground.graph())));
            let route = Route::unplanned(ahead.collect());
            let step = self.clock.step;
            self.travel(agent).start_over(route, step);
            self.travel(agent).reach(0);
        }
        self.agents.touch();
    }

    /// Returns the remaining goals on lanes, which an agent drives to after its current path.
    fn goals_left(&self, agent: AgentIndex, reached: u32) -> Vec<Goal> {
        let goals = self.route_of(agent).goals.iter().skip(reached as usize);
        goals
            .filter(|goal| matches!(goal, Goal::Lane { .. }))
            .copied()
            .collect()
    }

    /// Makes an agent join a nearby lane and continue to its remaining goals. Notifies the agent if
    /// there is no such lane or no route.
    pub(super) fn rejoin(&mut self, agent: AgentIndex) {
        let reached = self.agents.progress[agent.index()].reached;
        let goals = self.goals_left(agent, reached);
        let is_back = match self.lane_beside(agent) {
            Some(spot) => {
                let route = self.route_from(agent, on_lane(spot), goals);
                self.take_lane(agent, spot, route)
            }
            None => false,
        };
        if !is_back {
            self.tell_no_route(agent);
        }
    }

    /// Makes an agent off the lanes join a nearby lane that leads in its direction, with a route to
    /// a place. Returns whether this was possible.
    pub(super) fn join_lane(&mut self, agent: AgentIndex, place: DVec2) -> bool {
        let Some(spot) = self.lane_beside(agent) else {
            return false;
        };
        let goals = self.ground.finder().near(self.ground.graph(), place);
        let mut goals = goals.into_iter().take(super::effects::MOST_SPOTS);
        let route = goals.find_map(|(lanelet, s, _)| {
            self.route_from(agent, on_lane(spot), vec![Goal::Lane { lanelet, s }])
        });
        self.take_lane(agent, spot, route)
    }

    /// Finds a nearby lane that leads in the agent's direction.
    fn lane_beside(&self, agent: AgentIndex) -> Option<Spot> {
        let pose = self.bodies().pose(agent);
        let spots = self
            .ground
            .finder()
            .near(self.ground.graph(), pose.position);
        spots.into_iter().find(|&(lanelet, s, t)| {
            let heading = self.ground.line(lanelet).heading(s);
            t.abs() < JOIN_REACH && wrap_angle(pose.heading - heading).abs() < JOIN_ANGLE
        })
    }

    /// Plans a route from a place on a lane to several goals, in order.
    fn route_from(&self, agent: AgentIndex, start: LaneSpot, goals: Vec<Goal>) -> Option<Route> {
        let class = self.vehicle_type(agent).class;
        let mut lanelets = vec![start.lanelet];
        let (mut from, mut legs) = (start, Vec::new());
        for goal in &goals {
            let input = goal_input(*goal, from, class)?;
            from = LaneSpot {
                lanelet: input.goal_lanelet.into(),
                s: input.goal_s,
            };
            // Each leg begins with the lanelet on which the previous leg ends.
            lanelets.extend_from_slice(&self.asking(agent).route(input)?[1..]);
            legs.push(Leg::Lanes {
                end: lanelets.len() as u32 - 1,
            });
        }
        (!goals.is_empty()).then(|| Route {
            goals: goals.into(),
            legs: legs.into(),
            lanelets: lanelets.into(),
        })
    }

    /// Moves an agent onto a lane if `route` is given. Returns whether it was moved.
    fn take_lane(&mut self, agent: AgentIndex, spot: Spot, route: Option<Route>) -> bool {
        let (lanelet, s, t) = spot;
        let Some(route) = route else { return false };
        let index = agent.index();
        let step = self.clock.step;
        self.travel(agent).start_over(route, step);
        self.travel(agent).reach(0);
        self.agents.position[index] = LanePosition {
            lanelet,
            leaving: NO_LANELET,
            s,
            t,
        };
        self.agents.progress[index].has_own_goals = true;
        self.agents.identity[index].phase = Phase::Driving;
        give_up_grants(self.ground, self.agents, self.traffic, agent);
        self.agents.touch();
        true
    }
}

/// Returns the position along the lane, without the lateral offset.
fn on_lane(spot: Spot) -> LaneSpot {
    let (lanelet, s, _) = spot;
    LaneSpot { lanelet, s }
}

/// Returns the paths from a pose through a line of positions and speeds, cut off at the maximum
/// length. Each forward or reverse section is a separate path. Positions with a negative speed are
/// reached in reverse. The vehicle creeps at each change of direction.
fn paths_along(here: Pose, line: &[(DVec2, f64)]) -> Vec<Vec<Waypoint>> {
    let mut paths: Vec<Vec<Waypoint>> = Vec::new();
    let (mut before, mut length, mut gear) = (here.position, 0.0, 1);
    for &(place, speed) in line {
        let step = (place - before).length();
        length += step;
        // Positions and speeds come from scripts. The first value that is not finite ends the line.
        if !place.is_finite() || !speed.is_finite() || length > LONGEST {
            break;
        }
        // Two points at the same position have no direction.
        if step <= LEAST_STEP {
            continue;
        }
        // The vehicle reaches a point with speed 0 in its current gear.
        if speed != 0.0 {
            gear = if speed < 0.0 { -1 } else { 1 };
        }
        let heading = heading_in(gear, place - before);
        let next = Waypoint {
            pose: Pose {
                position: place,
                heading,
            },
            speed: speed.abs().min(100.0),
            gear,
        };
        match paths.last_mut() {
            Some(path) if path[0].gear == gear => path.push(next),
            last => {
                let start = Waypoint {
                    pose: match last {
                        None => here,
                        Some(_) => Pose {
                            position: before,
                            heading,
                        },
                    },
                    ..next
                };
                if let Some(end) = last.and_then(|path| path.last_mut()) {
                    end.speed = end.speed.min(CREEP);
                }
                paths.push(vec![start, next]);
            }
        }
        before = place;
    }
    if let (Some(path), Some(first)) = (paths.first_mut(), line.first()) {
        path[0].speed = first.1.abs();
    }
    paths
}

/// Heading of a vehicle that moves in the given direction, forwards or in reverse.
fn heading_in(gear: i8, direction: DVec2) -> f64 {
    let heading = roadwright_geometry::heading_of(direction);
    if gear < 0 {
        wrap_angle(heading + PI)
    } else {
        heading
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn along(line: &[(f64, f64, f64)]) -> Vec<Vec<(f64, f64, i8)>> {
        let line: Vec<(DVec2, f64)> = line
            .iter()
            .map(|&(x, y, speed)| (DVec2::new(x, y), speed))
            .collect();
        let paths = paths_along(Pose::default(), &line);
        let told = |w: &Waypoint| (w.pose.position.x, w.speed, w.gear);
        paths
            .iter()
            .map(|path| path.iter().map(told).collect())
            .collect()
    }

    #[test]
    fn a_line_forwards_is_one_path() {
        let paths = along(&[(10.0, 0.0, 4.0), (10.0, 0.05, 9.0), (30.0, 0.0, 0.0)]);
        assert_eq!(
            paths,
            [[(0.0, 4.0, 1), (10.0, 4.0, 1), (30.0, 0.0, 1)].to_vec()]
        );
        assert!(along(&[]).is_empty() && along(&[(0.05, 0.0, 3.0)]).is_empty());
        let nonsense = [(f64::NAN, 0.0, 1.0), (9.0, 0.0, f64::INFINITY)];
        assert!(nonsense.into_iter().all(|point| along(&[point]).is_empty()));
        assert!(along(&[(LONGEST + 1.0, 0.0, 1.0)]).is_empty());
        // Speeds are limited to the highest top speed of all vehicles.
        assert_eq!(along(&[(5.0, 0.0, 1e9)])[0][1], (5.0, 100.0, 1));
    }

    #[test]
    fn speeds_below_0_lead_back_and_the_vehicle_keeps_its_heading() {
        let line = [(20.0, 0.0, 4.0), (12.0, 0.0, -2.0), (8.0, 0.0, 0.0)];
        let there_and_back = [
            vec![(0.0, 4.0, 1), (20.0, CREEP, 1)],
            vec![(20.0, 2.0, -1), (12.0, 2.0, -1), (8.0, 0.0, -1)],
        ];
        assert_eq!(along(&line), there_and_back);
        let line = line.map(|(x, y, speed)| (DVec2::new(x, y), speed));
        let paths = paths_along(Pose::default(), &line);
        let headings = paths.iter().flatten().map(|w| w.pose.heading.abs());
        assert!(headings.fold(0.0, f64::max) < 1e-9, "{paths:?}");
        // The vehicle reverses immediately.
        assert_eq!(along(&[(-9.0, 0.0, -1.0)])[0][0], (0.0, 1.0, -1));
    }
}
