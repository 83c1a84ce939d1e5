//! Perception of the route ahead of an agent on a lane: speed, leader, stops, waypoint.

use super::{Stretch, View, aim};
use crate::records::AgentIndex;
use crate::route::{Goal, Route, WAITS_BEFORE, place_to_wait};
use crate::traffic::{LaneEntry, along};
use glam::DVec2;
use roadwright_agent::LaneEndSight;
use roadwright_geometry::math::{sin, wrap_angle};
use roadwright_geometry::{Pose, unit};
use roadwright_ground::PROFILE_BRAKING;
use roadwright_plugin_api::ControllerInput;
use roadwright_scenario::alleys::TightStretch;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_scenario::{Connection, ConnectionIndex};
use std::f64::consts::PI;

/// Margin added to the gentle stopping distance to get the lookahead of controllers, m.
const HORIZON_MARGIN: f64 = 20.0;
/// Minimum lookahead distance of controllers, m. It applies to slow vehicles, whose stopping distance is
/// short.
const LEAST_HORIZON: f64 = 30.0;
/// A vehicle that has to stop at its goal aims to stop this far beyond the goal, m. Controllers
/// stop slightly short of their stops, so the vehicle would otherwise not reach the goal.
const STOP_BEYOND: f64 = 1.5;
/// A vehicle that has to change to another lane stops at this distance from the end of its lane, m.
const LANE_END_GAP: f64 = 1.0;
/// Constant part of the distance ahead at which the current bend is measured, m. With a smaller
/// value, the wheels would not turn in time where a bend begins abruptly. With a larger value,
/// steering would begin and end too early.
const BEND_AHEAD: f64 = 2.0;
/// Part of the distance in [`BEND_AHEAD`] that is proportional to the speed, s.
const BEND_TIME: f64 = 0.3;

/// A vehicle that finds no gap stops before the end of its lane with this deceleration, m/s^2.
const MERGE_BRAKING: f64 = 3.0;
/// A vehicle on an ending lane keeps its speed as long as the end of the lane is farther away than
/// its braking distance plus this margin, m.
const MERGE_MARGIN: f64 = 10.0;
/// The body counts as being on its old lane as long as its centre is farther than this from the new
/// lane, m.
const LEFT_BEHIND: f64 = 1.2;
/// A vehicle that has merged close behind a faster vehicle expects the gap to be normal after this
/// time, s.
const SETTLES_IN: f64 = 1.0;

/// The gap to the preceding vehicle may still be too short by this fraction of the distance to a
/// merge. Vehicles that leave a queue accelerate by about 10 m/s up to the merge. The desired gap
/// of a driver with a headway of 1.2 s therefore grows by 12 m, which is 0.03 of the 400 m at which
/// the end of the lane is announced. Vehicles open their gaps while they accelerate, all at the
/// same time. With values from 0.01 to 0.04 the same number of vehicles pass, with 0.05 a seventh
/// fewer.
const OPENS: f64 = 0.03;
/// Minimum gap that is reported while a vehicle opens a gap before a merge, m. With it, the
/// intelligent driver model brakes at about 1.5 m/s^2.
const OPENING_GAP: f64 = 2.0;
/// Speed-dependent part of the minimum gap, added to [`OPENING_GAP`], s.
const OPENING_TIME: f64 = 0.8;

/// A vehicle ahead, and the distance from the agent's rear axle to the start of the vehicle's lanelet, m.
type Ahead = (LaneEntry, f64);

/// A vehicle on the other of two merging lanes.
struct OnOtherLane {
    agent: AgentIndex,
    /// Connection through which the vehicle's lane merges.
    path: ConnectionIndex,
    /// Position of the vehicle's rear axle along the connection, m; negative before it.
    s: f64,
}

/// Speed at which cars pass each other in tight places, m/s.
const TIGHT_SPEED: f64 = 15.0 / 3.6;
/// Deceleration of cars that slow down for a tight place, m/s^2.
const TIGHT_BRAKING: f64 = 1.0;
/// A car begins to watch for oncoming vehicles at this distance before a tight place, m.
const TIGHT_SIGHT: f64 = 60.0;

/// Reasons why an agent has to stop at a place ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// A vehicle ahead.
    Leader(AgentIndex),
    /// A connection that has not been granted.
    Closed(LaneletIndex),
    /// A position in a junction where the agent has to stop until others have passed.
    Wall,
    /// The last goal, where the agent has to stop.
    Goal,
    /// The end of a lane that the agent has to leave by a lane change.
    LaneEnd,
}

impl View<'_> {
    /// Fills in the controller input of an agent on a lane from its position and the lanelets
    /// ahead. `lookahead` is the distance of the waypoint, m. `along_bend` places the waypoint on
    /// the current bend. Without a pose, the waypoint is left out.
    pub(super) fn perceive_lane(
        &self,
        agent: AgentIndex,
        pose: Option<Pose>,
        lookahead: f64,
        along_bend: bool,
        input: &mut ControllerInput,
    ) {
        let (position, at) = (self.position(agent), self.progress(agent).at);
        // The controller treats the lateral offset that the behaviour wants as the centre line.
        input.lane_offset = position.t - self.led_to(agent);
        input.road_speed = self.ground.road_speed(position.lanelet, position.s);
        // Example: at 14 m/s, stopping with 1.8 m/s^2 takes 54 m, so the agent looks 74 m ahead.
        let horizon = self
            .horizon(agent, HORIZON_MARGIN)
            .max(lookahead)
            .max(LEAST_HORIZON);
        self.heed_bends(agent, horizon, input);
        let courtesy = self.courtesy(agent);
        input.road_speed = input.road_speed.min(courtesy.top_speed);
        input.road_speed = input.road_speed.min(self.tight_speed(agent));
        let let_in = courtesy.let_in.map(|entry| (entry, -position.s));
        let mut leader = self.nearer(self.leader_here(agent), let_in);
        let mut waypoint: Option<Pose> = None;
        for stretch in self.ahead(agent) {
            if stretch.distance > horizon {
                break;
            }
            // The speed on the current lanelet is already known, because its profile includes the
            // bends.
            if stretch.at > at {
                input.road_speed = input.road_speed.min(self.reachable_speed(&stretch));
            }
            if stretch.changes {
                input.road_speed = self.seeking_speed(agent, &stretch, input.road_speed);
            }
            input.stop_distance = input.stop_distance.min(self.stop_on(agent, &stretch));
            leader = leader.or_else(|| self.leader_on(agent, &stretch));
            if pose.is_some() {
                waypoint = waypoint.or_else(|| self.waypoint_on(&stretch, lookahead));
            }
            let is_complete = leader.is_some() && (waypoint.is_some() || pose.is_none());
            if is_complete && stretch.distance + stretch.length > horizon {
                break;
            }
        }
        if let Some(leader) = leader {
            self.follow(agent, leader, input);
        }
        self.follow_in_turn(agent, input);
        if let Some(pose) = pose {
            self.face(agent, pose, waypoint, lookahead, along_bend, input);
        }
    }

    /// Maximum speed of a car that approaches or passes a tight place when there is oncoming traffic, m/s;
    /// infinite elsewhere.
    fn tight_speed(&self, agent: AgentIndex) -> f64 {
        let position = self.position(agent);
        let stretches = self.ground.alleys().tight_on(position.lanelet);
        if stretches.is_empty() {
            return f64::INFINITY;
        }
        let kind = self.vehicle_type(agent);
        let is_met = |place: &&TightStretch| {
            let there = place.opposite;
            let mut others = self.index.on_lanelet(there.lanelet).iter();
            others.any(|entry| {
                let is_near = entry.s > there.from - TIGHT_SIGHT && entry.s < there.to + kind.front;
                is_near && entry.agent != agent
            })
        };
        let ahead = stretches.iter().filter(|place| position.s < place.to);
        let speeds = ahead.filter(is_met).map(|place| {
            let distance = (place.from - position.s - kind.front).max(0.0);
            (TIGHT_SPEED.powi(2) + 2.0 * TIGHT_BRAKING * distance).sqrt()
        });
        speeds.fold(f64::INFINITY, f64::min)
    }

    /// Fills in an agent's offset and angle relative to its lane, and its waypoint on the path or
    /// along the bend. `lookahead` is in m.
    #[inline]
    fn face(
        &self,
        agent: AgentIndex,
        pose: Pose,
        waypoint: Option<Pose>,
        lookahead: f64,
        along_bend: bool,
        input: &mut ControllerInput,
    ) {
        let position = self.position(agent);
        let here = self.ground.line(position.lanelet).pose(position.s);
        input.heading_error = wrap_angle(pose.heading - here.heading);
        let Some(waypoint) = waypoint else {
            return;
        };
        input.path_curvature = wrap_angle(waypoint.heading - here.heading) / lookahead;
        let target = match along_bend {
            true => self.along_bend(agent, here, input.speed, waypoint.position, lookahead),
            false => waypoint.position,
        };
        let aside = self.led_to(agent);
        // The waypoint is shifted by the lateral offset that the behaviour wants. Usually this
        // offset is zero, and nothing is computed.
        let target = match aside == 0.0 {
            true => target,
            false => target + aside * unit(waypoint.heading + 0.5 * PI),
        };
        aim(pose, target, input);
    }

    /// Current target of the agent's lateral offset from the lane's centre line, m to the left.
    #[inline]
    pub(super) fn led_to(&self, agent: AgentIndex) -> f64 {
        f64::from(self.agents.aside[agent.index()].now)
    }

    /// Returns the point at the given distance (m) on the circle that approximates the agent's path
    /// just ahead. The circle touches the lane at `here`, beside the vehicle, and passes through
    /// the lane a little farther on. `waypoint` is the point of the path at the same distance.
    ///
    /// ```text
    ///                    .-'      Q lies on the path. Steering for Q begins before the bend, cuts its inside
    ///                 .-'  Q      and straightens before it ends: 4.5 m ahead, it is up to 0.4 m off
    ///     ==[A]======'......P     in a bend of 5 m radius. P waits for the bend: 0.1 m.
    /// ```
    ///
    /// If a bend is tighter than the vehicle's turning radius, the vehicle has to turn early and
    /// cut the bend, so Q is used there.
    fn along_bend(
        &self,
        agent: AgentIndex,
        here: Pose,
        speed: f64,
        waypoint: DVec2,
        ahead: f64,
    ) -> DVec2 {
        let part = BEND_AHEAD.max(BEND_TIME * speed).min(ahead);
        let (mut near, mut before, mut sharpest) = (None, here, 0.0f64);
        for pose in self.poses_ahead(agent, part, ahead) {
            let turn = wrap_angle(pose.heading - before.heading);
            sharpest = sharpest.max(turn.abs() / part);
            near.get_or_insert(pose.position);
            before = pose;
        }
        match near {
            Some(near) if sharpest <= self.vehicle_type(agent).tightest_bend => {
                on_circle(here, near, ahead)
            }
            _ => waypoint,
        }
    }

    /// Poses on an agent's path at multiples of `part` metres, up to `ahead` metres away.
    pub(super) fn poses_ahead(
        &self,
        agent: AgentIndex,
        part: f64,
        ahead: f64,
    ) -> impl Iterator<Item = Pose> {
        let mut stretches = self.ahead(agent);
        let (mut stretch, mut along) = (stretches.next(), 0.0);
        std::iter::from_fn(move || {
            if along >= ahead {
                return None;
            }
            along += part;
            loop {
                if let Some(pose) = self.waypoint_on(stretch.as_ref()?, along) {
                    return Some(pose);
                }
                stretch = stretches.next();
            }
        })
    }

    /// Returns the highest current speed that still lets an agent reach the allowed speed at the
    /// start of a stretch by gentle braking, m/s: v^2 = v_entry^2 + 2 b d. Within a lanelet, the
    /// speed profile of the ground already includes this. Here it is applied across the lanelets of
    /// the route.
    #[inline]
    fn reachable_speed(&self, stretch: &Stretch) -> f64 {
        let entry_speed = self.ground.entry_speed(stretch.lanelet);
        (entry_speed * entry_speed + 2.0 * PROFILE_BRAKING * stretch.distance).sqrt()
    }

    /// Speed limit for an agent that has to change lanes, m/s. An agent at this speed can still
    /// brake gently before the last place where the changes are possible. Returns `allowed` if the
    /// agent cannot or need not wait there.
    ///
    /// ```text
    ///     beside   [====]  [====]  [====]  [====]
    ///     own      --[A]--->.............:-------|     A waits before the dotted stretch,
    ///                       needed to change           which it needs for its lane changes
    /// ```
    fn seeking_speed(&self, agent: AgentIndex, stretch: &Stretch, allowed: f64) -> f64 {
        let (route, graph) = (self.route(agent), self.ground.graph());
        let changes = route.lane_changes_from(stretch.at, graph);
        let s = place_to_wait(stretch.length, changes);
        let distance = stretch.distance + s;
        let speed = (2.0 * PROFILE_BRAKING * distance.max(0.0)).sqrt();
        // Usually this place is far away, so neither the goal nor the roads beyond have to be
        // examined.
        if speed >= allowed {
            return allowed;
        }
        let reached = self.progress(agent).reached;
        // An agent between two lanes would block both and could not begin the next change. On a
        // short lane, its rear would still be in the junction. An agent beside its goal has
        // arrived.
        let to_goal = route.goal_beside(stretch.at, changes, reached, graph);
        let cannot_wait = self.position(agent).leaving != NO_LANELET
            || distance < -WAITS_BEFORE
            || s < self.vehicle_type(agent).rear_overhang
            || to_goal.is_some()
            || self.may_change_later(agent, stretch);
        if cannot_wait { allowed } else { speed }
    }

    /// Distance from the vehicle's front to the nearest stop on a stretch, m; infinity if there is
    /// none.
    #[inline]
    fn stop_on(&self, agent: AgentIndex, stretch: &Stretch) -> f64 {
        let mut nearest = f64::INFINITY;
        self.for_each_stop(agent, stretch, |stop, _| nearest = nearest.min(stop));
        nearest
    }

    /// Calls `visit` for each stop on a stretch, with its cause and its distance from the front in metres.
    #[inline]
    fn for_each_stop(
        &self,
        agent: AgentIndex,
        stretch: &Stretch,
        mut visit: impl FnMut(f64, StopCause),
    ) {
        let front = self.vehicle_type(agent).front;
        let progress = self.progress(agent);
        if stretch.at > progress.at && self.is_closed(stretch, agent) {
            let line = stretch.distance - front - self.setback(stretch);
            if !self.keeps_speed_to_merge(agent, line) {
                visit(line, StopCause::Closed(stretch.lanelet));
            }
        }
        let claim = &self.agents.claim[agent.index()];
        if claim.wall_at == stretch.at + 1 && !self.ignores_law(agent) {
            // The agent has been admitted and waits inside the junction for another vehicle to pass first.
            let wall = stretch.distance + f64::from(claim.wall_s) - front;
            visit(wall, StopCause::Wall);
        }
        if stretch.is_last && progress.holds_arrival {
            // At its last goal, the agent stands until its behaviour chooses a new goal. Goals are
            // reached with the rear axle, so the distance from the axle to the front is not
            // subtracted.
            let route = self.route(agent);
            let goal = stretch.distance + goal_on(route, stretch.lanelet, stretch.length);
            visit((goal + STOP_BEYOND).max(0.0), StopCause::Goal);
        }
        if stretch.changes && !self.may_change_later(agent, stretch) {
            // The agent has to change lanes before the lane ends.
            let end = stretch.distance + stretch.length;
            visit(end - front - LANE_END_GAP, StopCause::LaneEnd);
        }
    }

    /// Whether an agent on an ending lane keeps its speed because it may still find a gap.
    /// Otherwise, it would become too slow for the gaps in the adjacent lane. It must still be able
    /// to brake firmly before the line, which is `line` metres ahead.
    fn keeps_speed_to_merge(&self, agent: AgentIndex, line: f64) -> bool {
        let speed = self.motion(agent).speed;
        let needed = speed * speed / (2.0 * MERGE_BRAKING) + MERGE_MARGIN;
        line > needed && self.ground.lane_end(self.position(agent).lanelet).is_some()
    }

    /// Returns the distance before a connection at which vehicles stop, m.
    #[inline]
    fn setback(&self, stretch: &Stretch) -> f64 {
        let contested = self.ground.contested(stretch.lanelet);
        contested.map_or(
            0.0,
            |Connection {
                 junction,
                 number: path,
             }| {
                let has_buses = self.types.sets_lines_back;
                self.ground.setback(junction, path, has_buses)
            },
        )
    }

    /// Finds the nearest place within `reach` metres where an agent on a lane has to stop because
    /// of its leader or its route. Returns the distance from the front (m), the place and the
    /// cause.
    pub(crate) fn nearest_stop(
        &self,
        agent: AgentIndex,
        reach: f64,
    ) -> Option<(f64, DVec2, StopCause)> {
        let front = self.vehicle_type(agent).front;
        let mut leader = self.leader_here(agent);
        let mut stops: Vec<(f64, StopCause)> = Vec::new();
        let stretches = || self.ahead(agent).take_while(|s| s.distance < reach);
        for stretch in stretches() {
            self.for_each_stop(agent, &stretch, |stop, cause| stops.push((stop, cause)));
            leader = leader.or_else(|| self.leader_on(agent, &stretch));
        }
        if let Some((entry, distance)) = leader {
            let rear = distance + entry.s - self.vehicle_type(entry.agent).rear_overhang;
            stops.push(((rear - front).max(0.0), StopCause::Leader(entry.agent)));
        }
        let nearest = stops.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let (distance, cause) = nearest.filter(|(distance, _)| *distance < reach)?;
        let along = distance + front;
        // If the leader beyond the last stretch takes another route, the agent stops at the end of
        // its own route.
        let on = stretches()
            .filter(|stretch| stretch.distance <= along)
            .last()?;
        let s = (along - on.distance).min(on.length);
        Some((distance, self.ground.line(on.lanelet).position(s), cause))
    }

    /// Whether the required lane change can be made on the next road instead.
    fn may_change_later(&self, agent: AgentIndex, stretch: &Stretch) -> bool {
        let (route, reached) = (self.route(agent), self.progress(agent).reached);
        let class = self.vehicle_type(agent).class;
        let graph = self.ground.graph();
        route.deferred(stretch.at, reached, graph, class).is_some()
    }

    /// Whether a stretch is a contested connection that the agent may not enter yet.
    #[inline]
    fn is_closed(&self, stretch: &Stretch, agent: AgentIndex) -> bool {
        stretch.at >= self.agents.claim[agent.index()].granted_to
            && self.ground.contested(stretch.lanelet).is_some()
            && !self.ignores_law(agent)
    }

    fn ignores_law(&self, agent: AgentIndex) -> bool {
        self.agents.wish[agent.index()].ignores_law
    }

    /// Finds the vehicle ahead on the agent's lanelet, or on the lane that the agent has not left
    /// yet. Vehicles whose tail is still on the lanelet are included.
    fn leader_here(&self, agent: AgentIndex) -> Option<Ahead> {
        let position = self.position(agent);
        let on_it = self.index.ahead_on_lanelet(agent);
        let on_old = (position.leaving != NO_LANELET && position.t.abs() > LEFT_BEHIND)
            .then(|| self.ahead_on(position.leaving, agent, position.s))
            .flatten();
        // Just after a fork, the rear of a vehicle on the other branch may still extend into this one.
        let beside = self
            .ground
            .fork_before(position.lanelet)
            .and_then(|fork| self.parting(agent, fork, position.lanelet, position.s));
        let nearest = match (on_old, beside) {
            (None, None) => on_it,
            _ => self.nearest([on_it, on_old, beside].into_iter().flatten()),
        };
        let ahead = nearest.map(|entry| (entry, -position.s));
        let next = self.route(agent).lanelet(self.progress(agent).at + 1);
        let merging = next
            .and_then(|next| self.merging(agent, position.lanelet, next, position.s, -position.s));
        self.nearer(ahead, merging)
    }

    /// Finds the vehicle to follow on a stretch, or at the fork at its end. Only later stretches
    /// are searched for a leader, because the search on the agent's current lanelet has already
    /// been done.
    #[inline]
    fn leader_on(&self, agent: AgentIndex, stretch: &Stretch) -> Option<Ahead> {
        let on_it = (stretch.at > self.progress(agent).at)
            .then(|| self.index.hindmost(stretch.lanelet))
            .flatten();
        let on_it = on_it.map(|entry| (entry, stretch.distance));
        let merging = (stretch.at > self.progress(agent).at)
            .then(|| self.merging_ahead(agent, stretch.at, stretch.distance))
            .flatten();
        let ahead = self.nearer(on_it, merging);
        if ahead.is_some() {
            return ahead;
        }
        if self.ground.successor_count(stretch.lanelet) < 2 || stretch.is_last || stretch.changes {
            return None;
        }
        let own = self.route(agent).lanelet(stretch.at + 1)?;
        let beside = self.parting(agent, stretch.lanelet, own, f64::NEG_INFINITY)?;
        let nearest = self.nearest(self.index.hindmost(own).into_iter().chain([beside]))?;
        // A merging vehicle may be nearer than the tail of a vehicle that has turned off at the
        // fork.
        let begin = stretch.distance + stretch.length;
        let merging = self.merging_ahead(agent, stretch.at + 1, begin);
        self.nearer(Some((nearest, begin)), merging)
    }

    /// Finds a vehicle that merges into the agent's route on a lanelet ahead, at route index `at`
    /// and `distance` metres away.
    #[inline]
    fn merging_ahead(&self, agent: AgentIndex, at: u32, distance: f64) -> Option<Ahead> {
        let route = self.route(agent);
        let (connection, next) = (route.lanelet(at)?, route.lanelet(at + 1)?);
        self.merging(agent, connection, next, f64::NEG_INFINITY, distance)
    }

    /// Finds a vehicle that has turned off at a fork while its tail still blocks the branch of the
    /// agent's route. The vehicle is not on any lanelet of the route, so the other searches do not
    /// find it:
    ///
    /// ```text
    ///                    .--[A]->     A has turned off, its tail is at the fork
    ///   ---[B]----------<
    ///                    '------->    B continues here
    /// ```
    ///
    /// `before` is the lanelet before the fork and `own` the agent's branch. Only vehicles that are
    /// more than `beyond` metres along their branch are considered.
    fn parting(
        &self,
        agent: AgentIndex,
        before: LaneletIndex,
        own: LaneletIndex,
        beyond: f64,
    ) -> Option<LaneEntry> {
        let is_long = self.vehicle_type(agent).is_long();
        let successors = self.ground.successors(before);
        let others = successors.iter().filter(|&&other| other != own);
        let tails = others.filter_map(|&other| {
            let entry = self.ahead_on(other, agent, beyond)?;
            let vehicle_type = self.vehicle_type(entry.agent);
            let rear = entry.s - vehicle_type.rear_overhang;
            let is_long = is_long || vehicle_type.is_long();
            (rear < self.ground.parting(other, own, is_long)).then_some(entry)
        });
        self.nearest(tails)
    }

    /// Finds a vehicle on another connection into the same lane whose rear has reached the point
    /// where both connections meet. From that point on, the agent follows this vehicle as if it
    /// were on the agent's own connection, at the same distance from the end. Before that point,
    /// the junction decides which vehicle goes first and where the other vehicle waits.
    ///
    /// ```text
    ///   ---[A]--.                 A is ahead of B, which is farther from the end
    ///            '--.
    ///   ---------[B]-'---------->
    /// ```
    ///
    /// A vehicle that merges close behind a faster vehicle need not brake, because the gap grows
    /// anyway. Therefore the gap expected after [`SETTLES_IN`] is used. Accepting short gaps for a
    /// while after merging is called relaxation in [Laval and Leclercq 2008].
    ///
    /// `beyond` is a position on the agent's connection, and `distance` is the distance to the
    /// start of that connection, both in m.
    #[inline]
    fn merging(
        &self,
        agent: AgentIndex,
        connection: LaneletIndex,
        next: LaneletIndex,
        beyond: f64,
        distance: f64,
    ) -> Option<Ahead> {
        // No vehicles merge on ordinary lanes, which most lanelets are.
        let conflict = self.ground.contested(connection)?;
        self.merging_in(agent, conflict, connection, next, beyond, distance)
    }

    /// Like `merging`, for a connection with known junction and index.
    fn merging_in(
        &self,
        agent: AgentIndex,
        path: Connection,
        connection: LaneletIndex,
        next: LaneletIndex,
        beyond: f64,
        distance: f64,
    ) -> Option<Ahead> {
        let (junction, path) = (path.junction, path.number);
        let length = self.ground.length(connection);
        let mut nearest = None;
        for &other in self.ground.joining(connection, next) {
            // The other connection is usually empty, which the index tells without reading its
            // geometry.
            let entries = self.index.on_lanelet(other);
            if other == connection || entries.is_empty() {
                continue;
            }
            let Some(Connection { number: theirs, .. }) = self.ground.contested(other) else {
                continue;
            };
            // Converts positions so that they are at the same distance from the end of the agent's
            // connection.
            let shift = length - self.ground.length(other);
            for entry in entries {
                if entry.agent == agent || entry.s + shift <= beyond {
                    continue;
                }
                let kind = self.vehicle_type(entry.agent);
                let is_long = kind.is_long() || self.vehicle_type(agent).is_long();
                let conflicts = self.ground.conflicts(junction, is_long);
                let met = conflicts.between(theirs, path);
                if met.is_some_and(|(place, _)| entry.s - kind.rear_overhang > place.from) {
                    let speed = |agent: AgentIndex| self.agents.motion[agent.index()].speed;
                    let gained = SETTLES_IN * (speed(entry.agent) - speed(agent)).max(0.0);
                    nearest = self.nearer(nearest, Some((*entry, distance + shift + gained)));
                    break;
                }
            }
        }
        nearest
    }

    /// The nearer of two vehicles ahead.
    #[inline]
    fn nearer(&self, one: Option<Ahead>, other: Option<Ahead>) -> Option<Ahead> {
        // Usually, at most one of them exists.
        let (Some(a), Some(b)) = (one, other) else {
            return one.or(other);
        };
        let place = |ahead: &Ahead| ahead.0.s + ahead.1;
        let by_id = || self.id(&a.0).cmp(&self.id(&b.0));
        let order = place(&a).total_cmp(&place(&b)).then_with(by_id);
        Some(if order.is_le() { a } else { b })
    }

    /// Next vehicle on a lanelet beyond position `s` (m), other than the agent itself.
    fn ahead_on(&self, lanelet: LaneletIndex, agent: AgentIndex, s: f64) -> Option<LaneEntry> {
        let entries = self.index.on_lanelet(lanelet);
        let first = entries.partition_point(|entry| entry.s <= s);
        let mut ahead = entries[first..].iter();
        ahead.find(|entry| entry.agent != agent).copied()
    }

    /// The entry with the smallest position on its lanelet.
    pub(super) fn nearest(&self, entries: impl Iterator<Item = LaneEntry>) -> Option<LaneEntry> {
        entries.min_by(|a, b| a.s.total_cmp(&b.s).then(self.id(a).cmp(&self.id(b))))
    }

    /// Finds the point on a stretch at the lookahead distance. Beyond the end of the route, or of a
    /// lane that the vehicle has to leave, the point lies straight ahead.
    #[inline]
    fn waypoint_on(&self, stretch: &Stretch, lookahead: f64) -> Option<Pose> {
        let end = stretch.distance + stretch.length;
        if end >= lookahead {
            let line = self.ground.line(stretch.lanelet);
            return Some(line.pose(lookahead - stretch.distance));
        }
        if !stretch.is_last && !stretch.changes {
            return None;
        }
        // The waypoint keeps its distance. If it stayed at the end, the vehicle would pass it and
        // then have to turn around.
        let at_end = self.ground.line(stretch.lanelet).pose(stretch.length);
        Some(Pose {
            position: at_end.point(lookahead - end, 0.0),
            heading: at_end.heading,
        })
    }

    /// Makes an agent follow the preceding vehicle of the other lane where two lanes merge in turn,
    /// as if that vehicle were ahead on the agent's own lane. The gap has to be open when the merge
    /// begins. Until then, it counts as longer than it is by [`OPENS`] times the remaining
    /// distance.
    ///
    /// ```text
    ///   -----------[B]---.       B goes first. A follows B as if B were at b, and arrives with
    ///   ---[A]------(b)---'---   a gap in which it need not brake.
    /// ```
    ///
    /// This begins long before the vehicles draw tickets. If they only opened the gap at the merge,
    /// each vehicle of a queue would stand there until the preceding one has driven away.
    fn follow_in_turn(&self, agent: AgentIndex, input: &mut ControllerInput) {
        let Some(claims) = self.claims.filter(|_| self.ground.has_alternating_ends()) else {
            return;
        };
        let limit = self
            .ground
            .lanelet(self.position(agent).lanelet)
            .speed_limit;
        let reach = LaneEndSight::default().at(limit);
        let near = self.ahead(agent).take_while(|s| s.distance < reach);
        let merge = near.filter_map(|s| Some((self.ground.contested(s.lanelet)?, s)));
        let Some((path, stretch)) = merge.take(1).next() else {
            return;
        };
        if !self.ground.alternate_at(path.junction) {
            return;
        }
        let is_let_in = stretch.at < self.agents.claim[agent.index()].granted_to;
        let before = match is_let_in {
            true => claims.predecessor(agent, stretch.at, path).map(|before| {
                let route = self.route(before.agent);
                let s = along(before.agent, before.at, self.ground, route, self.agents);
                OnOtherLane {
                    agent: before.agent,
                    path: before.path,
                    s,
                }
            }),
            false => self.next_of_other_lane(agent, &stretch),
        };
        let Some(before) = before else {
            return;
        };
        let (kind, own) = (self.vehicle_type(before.agent), self.vehicle_type(agent));
        let is_long = kind.is_long() || own.is_long();
        let conflicts = self.ground.conflicts(path.junction, is_long);
        let Some((place, theirs)) = conflicts.between(path.number, before.path) else {
            return;
        };
        let to_merge = stretch.distance + place.from - own.front;
        if to_merge <= 0.0 {
            return;
        }
        let to_clear = theirs.from - (before.s - kind.rear_overhang);
        let least = OPENING_GAP + OPENING_TIME * input.speed.max(0.0);
        let gap = (to_merge - to_clear + OPENS * to_merge).max(least);
        if gap < input.leader_gap {
            input.leader_gap = gap;
            input.leader_speed = self.motion(before.agent).speed;
        }
    }

    /// The next vehicle ahead of an agent on the other lane, where two lanes merge on a stretch.
    fn next_of_other_lane(&self, agent: AgentIndex, stretch: &Stretch) -> Option<OnOtherLane> {
        let next = self.route(agent).lanelet(stretch.at + 1)?;
        let lane = self.position(agent).lanelet;
        let others = self.ground.joining(stretch.lanelet, next).iter();
        let mut others = others.filter(|&&other| other != stretch.lanelet);
        others.find_map(|&other| {
            let path = self.ground.contested(other)?.number;
            let sides = self.ground.beside(lane).into_iter();
            let mut sides =
                sides.filter(|&side| side != NO_LANELET && self.ground.leads_to(side, other));
            let beside = sides.find_map(|side| {
                let agent = self.beside(agent, side).next()?.agent();
                let s = self.position(agent).s - self.ground.length(side);
                Some(OnOtherLane { agent, path, s })
            });
            let inside = || {
                let last = self.index.hindmost(other)?;
                Some(OnOtherLane {
                    agent: last.agent,
                    path,
                    s: last.s,
                })
            };
            beside.or_else(inside)
        })
    }

    /// Fills in the gap to the leader and the leader's speed.
    #[inline]
    fn follow(&self, agent: AgentIndex, leader: Ahead, input: &mut ControllerInput) {
        let (entry, distance) = leader;
        let rear = distance + entry.s - self.vehicle_type(entry.agent).rear_overhang;
        input.leader_gap = (rear - self.vehicle_type(agent).front).max(0.0);
        input.leader_speed = self.motion(entry.agent).speed;
    }
}

/// Point at distance `along` (m) on the circle that is tangent to `pose` and passes through the
/// point `through`, which lies ahead.
fn on_circle(pose: Pose, through: DVec2, along: f64) -> DVec2 {
    let place = pose.to_local(through);
    let curvature = 2.0 * place.y / place.length_squared();
    // The farthest point of a circle is half-way around it.
    let half = 0.5 * (curvature * along).clamp(-PI, PI);
    let chord = match half == 0.0 {
        true => along,
        false => along * sin(half) / half,
    };
    pose.position + chord * unit(pose.heading + half)
}

/// Position of the last goal on the last lanelet of a route, m.
fn goal_on(route: &Route, last: LaneletIndex, length: f64) -> f64 {
    match route.goals.last() {
        Some(&Goal::Lane { lanelet, s }) if lanelet == last => s,
        _ => length,
    }
}
