//! The route ahead of an agent on a lane: speed, leader, places to stop at, way-point.

use super::{Stretch, View, aim};
use crate::ground::PROFILE_BRAKING;
use crate::records::AgentIndex;
use crate::route::{Goal, Route, WAITS_BEFORE, place_to_wait};
use crate::traffic::LaneEntry;
use glam::DVec2;
use roadwright_geometry::math::{sin, wrap_angle};
use roadwright_geometry::{Pose, unit};
use roadwright_plugin_api::ControllerInput;
use roadwright_scenario::Connection;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use std::f64::consts::PI;

/// Controllers look as far ahead as they need to stop gently, and this much farther, m; but at least
/// so far, m, because a vehicle that stands needs nothing to stop.
const HORIZON_MARGIN: f64 = 20.0;
const LEAST_HORIZON: f64 = 30.0;
/// A vehicle that has to stop at its goal aims this far past it, so that it reaches it, m:
/// controllers stop a little before where they are to stop.
const STOP_BEYOND: f64 = 1.5;
/// A vehicle stops this far before the end of a lane that it has to leave sideways, m.
const LANE_END_GAP: f64 = 1.0;
/// The bend that is driven now is that of so many metres and so many seconds ahead. Less leaves wheels no
/// time to turn where a bend begins at once, more begins and ends bends too early.
const BEND_AHEAD: f64 = 2.0;
const BEND_TIME: f64 = 0.3;

/// While its middle is farther than this from the lane that it changes to, a body is still on the one
/// that it leaves, m.
const LEFT_BEHIND: f64 = 1.2;
/// Who has joined close behind a faster one reckons with the gap that there will be so much later, s.
const SETTLES_IN: f64 = 1.0;

/// A vehicle ahead, and the distance from the own rear axle to the start of its lanelet, m.
type Ahead = (LaneEntry, f64);

/// What asks an agent to stand at a place ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// This vehicle is ahead.
    Leader(AgentIndex),
    /// It has not been let onto this connection.
    Closed(LaneletIndex),
    /// It has been let in, and others pass first inside.
    Wall,
    /// Its last goal, where it is to stay.
    Goal,
    /// The lane that it is on leads elsewhere, and has to be changed.
    LaneEnd,
}

impl View<'_> {
    /// Fills the row of an agent that is on a lane, from its place and from a walk over the lanelets
    /// ahead. `lookahead` is the distance of the way-point, m, and whether it lies along the bend; without a
    /// pose nobody looks at that.
    pub(super) fn perceive_lane(
        &self,
        agent: AgentIndex,
        pose: Option<Pose>,
        lookahead: f64,
        along_bend: bool,
        input: &mut ControllerInput,
    ) {
        let (position, at) = (self.position(agent), self.progress(agent).at);
        // The line that its behaviour wants beside the middle is shown to it as the middle.
        input.lane_offset = position.t - self.led_to(agent);
        input.road_speed = self.ground.road_speed(position.lanelet, position.s);
        // Example: at 14 m/s a stop with 1.8 m/s^2 takes 54 m, so it looks 74 m ahead.
        let horizon = self
            .horizon(agent, HORIZON_MARGIN)
            .max(lookahead)
            .max(LEAST_HORIZON);
        self.heed_bends(agent, horizon, input);
        let courtesy = self.courtesy(agent);
        input.road_speed = input.road_speed.min(courtesy.top_speed);
        let let_in = courtesy.let_in.map(|entry| (entry, -position.s));
        let mut leader = self.nearer(self.leader_here(agent), let_in);
        let mut waypoint: Option<Pose> = None;
        for stretch in self.ahead(agent) {
            if stretch.distance > horizon {
                break;
            }
            // The speed on the own lanelet is known already; its own bends are in its profile.
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
        if let Some(pose) = pose {
            self.face(agent, pose, waypoint, lookahead, along_bend, input);
        }
    }

    /// Sets how an agent stands to its lane, and to its way-point at a distance, m, on the way or along the
    /// bend.
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
        // Beside the middle, where its behaviour wants it: mostly nowhere, and then nothing is computed.
        let target = match aside == 0.0 {
            true => target,
            false => target + aside * unit(waypoint.heading + 0.5 * PI),
        };
        aim(pose, target, input);
    }

    /// Where an agent is led beside the middle of its lane, m to the left.
    #[inline]
    fn led_to(&self, agent: AgentIndex) -> f64 {
        f64::from(self.agents.aside[agent.index()].now)
    }

    /// The point so far ahead, m, on the circle that the way of an agent follows just ahead: it touches the
    /// lane at `here`, beside the vehicle, and passes through the lane a little farther on. `waypoint` is the
    /// point of the way that is as far ahead.
    ///
    /// ```text
    ///                    .-'      On the way lies Q. For Q one steers before the bend begins, drives inside
    ///                 .-'  Q      of it, and straightens before it ends: with 4.5 m ahead up to 0.4 m off
    ///     ==[A]======'......P     in a bend of 5 m radius. P waits for the bend: 0.1 m.
    /// ```
    ///
    /// A bend that is tighter than the vehicle can drive has to begin early and be cut: there it is Q.
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

    /// The way of an agent at every multiple of a distance, m, until one is as far ahead as another, m.
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

    /// The highest speed now from which gentle braking reaches the speed that the road allows where
    /// a stretch begins, m/s: v^2 = v_entry^2 + 2 b d. Within a lanelet the speed profile of the
    /// ground holds that already; this carries it over the seams along the route.
    #[inline]
    fn reachable_speed(&self, stretch: &Stretch) -> f64 {
        let entry_speed = self.ground.entry_speed(stretch.lanelet);
        (entry_speed * entry_speed + 2.0 * PROFILE_BRAKING * stretch.distance).sqrt()
    }

    /// The speed of an agent that is allowed one, m/s, from which gentle braking lets it wait for a gap at the
    /// last place of a stretch from which the lanes can be changed that have to be; the allowed one if it has
    /// passed that.
    ///
    /// ```text
    ///     beside   [====]  [====]  [====]  [====]
    ///     own      --[A]--->.............:-------|     A waits before the dots: from there it can change
    ///                       needed to change           within them, and is let in; at the end it cannot
    /// ```
    fn seeking_speed(&self, agent: AgentIndex, stretch: &Stretch, allowed: f64) -> f64 {
        let (route, graph) = (self.route(agent), self.ground.graph());
        let changes = route.lane_changes_from(stretch.at, graph);
        let s = place_to_wait(stretch.length, changes);
        let way = stretch.distance + s;
        let speed = (2.0 * PROFILE_BRAKING * way.max(0.0)).sqrt();
        // Mostly it is far: then its goal and the roads beyond are not looked at.
        if speed >= allowed {
            return allowed;
        }
        let reached = self.progress(agent).reached;
        // Between two lanes it would stand in the way on both, and could not begin the next change; on a
        // short lane it would wait in the junction before it; and beside its goal it has arrived.
        let to_goal = route.goal_beside(stretch.at, changes, reached, graph);
        let cannot_wait = self.position(agent).leaving != NO_LANELET
            || way < -WAITS_BEFORE
            || s < self.vehicle_type(agent).rear_overhang
            || to_goal.is_some()
            || self.may_change_later(agent, stretch);
        if cannot_wait { allowed } else { speed }
    }

    /// Distance from the front to the nearest place on a stretch where the agent has to stand, m;
    /// infinity if there is none.
    #[inline]
    fn stop_on(&self, agent: AgentIndex, stretch: &Stretch) -> f64 {
        let mut nearest = f64::INFINITY;
        self.for_each_stop(agent, stretch, |stop, _| nearest = nearest.min(stop));
        nearest
    }

    /// Calls `visit` with the distances from the front to the places on a stretch where the agent has to
    /// stand, m, each with what asks for it.
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
            visit(line, StopCause::Closed(stretch.lanelet));
        }
        let claim = &self.agents.claim[agent.index()];
        if claim.wall_at == stretch.at + 1 && !self.ignores_law(agent) {
            // It has been let in, and waits inside for another who passes first.
            let wall = stretch.distance + f64::from(claim.wall_s) - front;
            visit(wall, StopCause::Wall);
        }
        if stretch.is_last && progress.holds_arrival {
            // At its last goal it stands until its behaviour says what comes next. Goals are reached
            // with the rear axle, so the front is not subtracted.
            let route = self.route(agent);
            let goal = stretch.distance + goal_on(route, stretch.lanelet, stretch.length);
            visit((goal + STOP_BEYOND).max(0.0), StopCause::Goal);
        }
        if stretch.changes && !self.may_change_later(agent, stretch) {
            // The lane has to be changed before it ends.
            let end = stretch.distance + stretch.length;
            visit(end - front - LANE_END_GAP, StopCause::LaneEnd);
        }
    }

    /// How far before a connection one stops, m.
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

    /// The nearest place within a reach, m, at which an agent on a lane has to stand behind its leader
    /// or for what its route asks: the distance from its front, m, the place, and the cause.
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
        // Beyond the last stretch, where a leader goes another way, the end of the route counts.
        let on = stretches()
            .filter(|stretch| stretch.distance <= along)
            .last()?;
        let s = (along - on.distance).min(on.length);
        Some((distance, self.ground.line(on.lanelet).position(s), cause))
    }

    /// Whether a lane change can be made on the next road as well.
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

    /// The vehicle ahead on the lanelet that the agent is on, or with its tail still on it, or on the
    /// lane that the agent has not left yet.
    fn leader_here(&self, agent: AgentIndex) -> Option<Ahead> {
        let position = self.position(agent);
        let on_it = self.index.ahead_on_lanelet(agent);
        let on_old = (position.leaving != NO_LANELET && position.t.abs() > LEFT_BEHIND)
            .then(|| self.ahead_on(position.leaving, agent, position.s))
            .flatten();
        // Just behind a fork the rear of who takes the other way may still be in this one.
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
        let merging = next.and_then(|next| {
            self.merging(agent, (position.lanelet, next), position.s, -position.s)
        });
        self.nearer(ahead, merging)
    }

    /// The vehicle on a stretch, or at the fork at its end, that the agent has to follow. The one
    /// ahead on the agent's own lanelet is known before the walk, so only later stretches count.
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
        // Somebody who joins may be nearer than the tail of who has turned off.
        let begin = stretch.distance + stretch.length;
        let merging = self.merging_ahead(agent, stretch.at + 1, begin);
        self.nearer(Some((nearest, begin)), merging)
    }

    /// The vehicle that joins the way of an agent on a lanelet ahead, at an index of its route and so far
    /// away, m.
    #[inline]
    fn merging_ahead(&self, agent: AgentIndex, at: u32, distance: f64) -> Option<Ahead> {
        let route = self.route(agent);
        let way = (route.lanelet(at)?, route.lanelet(at + 1)?);
        self.merging(agent, way, f64::NEG_INFINITY, distance)
    }

    /// A vehicle that has turned off at a fork, but whose tail still blocks the branch that the route
    /// takes. It is on no lanelet of the route, so without this nobody would follow it:
    ///
    /// ```text
    ///                    .--[A]->     A has turned off, its tail is at the fork
    ///   ---[B]----------<
    ///                    '------->    B goes on here
    /// ```
    ///
    /// `before` is the lanelet before the fork, `own` the branch; those count that are beyond a place
    /// on theirs, m.
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

    /// A vehicle on another connection into the same lane whose rear has come to where both meet: from
    /// there on one follows it as if it were on the own connection, as far from its end. Before, the
    /// junction says who goes first, and where the other one waits.
    ///
    /// ```text
    ///   ---[A]--.                 A is ahead of B, which is farther from the end
    ///            '--.
    ///   ---------[B]-'---------->
    /// ```
    ///
    /// Who joins close behind a faster one need not brake for it: the gap becomes larger by itself, and
    /// counts as what it will be in [`SETTLES_IN`]. That drivers accept short gaps for a while after they
    /// have joined a stream is the relaxation of [Laval and Leclercq 2008].
    ///
    /// `beyond` is a place on the own connection, m, `distance` the way to its start, m.
    #[inline]
    fn merging(
        &self,
        agent: AgentIndex,
        (connection, next): (LaneletIndex, LaneletIndex),
        beyond: f64,
        distance: f64,
    ) -> Option<Ahead> {
        // Most lanelets are lanes, where nobody joins.
        let conflict = self.ground.contested(connection)?;
        self.merging_in(agent, conflict, connection, next, beyond, distance)
    }

    /// The same on a connection of which junction and path are known.
    fn merging_in(
        &self,
        agent: AgentIndex,
        Connection {
            junction,
            number: path,
        }: Connection,
        connection: LaneletIndex,
        next: LaneletIndex,
        beyond: f64,
        distance: f64,
    ) -> Option<Ahead> {
        let length = self.ground.length(connection);
        let mut nearest = None;
        for &other in self.ground.joining(connection, next) {
            // Mostly nobody is there: that is known without a look at the other connection.
            let entries = self.index.on_lanelet(other);
            if other == connection || entries.is_empty() {
                continue;
            }
            let Some(Connection { number: theirs, .. }) = self.ground.contested(other) else {
                continue;
            };
            // Their places, as far from the end on the own connection.
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

    /// The nearer one of two vehicles ahead.
    #[inline]
    fn nearer(&self, one: Option<Ahead>, other: Option<Ahead>) -> Option<Ahead> {
        // Mostly there is one at most.
        let (Some(a), Some(b)) = (one, other) else {
            return one.or(other);
        };
        let place = |ahead: &Ahead| ahead.0.s + ahead.1;
        let by_id = || self.id(&a.0).cmp(&self.id(&b.0));
        let order = place(&a).total_cmp(&place(&b)).then_with(by_id);
        Some(if order.is_le() { a } else { b })
    }

    /// The next vehicle on a lanelet beyond a place, m, other than the agent itself.
    fn ahead_on(&self, lanelet: LaneletIndex, agent: AgentIndex, s: f64) -> Option<LaneEntry> {
        let entries = self.index.on_lanelet(lanelet);
        let first = entries.partition_point(|entry| entry.s <= s);
        let mut ahead = entries[first..].iter();
        ahead.find(|entry| entry.agent != agent).copied()
    }

    /// The vehicle that is least far along its lanelet.
    pub(super) fn nearest(&self, entries: impl Iterator<Item = LaneEntry>) -> Option<LaneEntry> {
        entries.min_by(|a, b| a.s.total_cmp(&b.s).then(self.id(a).cmp(&self.id(b))))
    }

    /// Where the lookahead distance ends on a stretch; beyond the end of the route, or of a lane that
    /// has to be left, straight on.
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
        // Beyond the end the way-point keeps its distance. At the end itself it would come closer and
        // closer, and be passed: then the vehicle would have to turn round to it.
        let at_end = self.ground.line(stretch.lanelet).pose(stretch.length);
        Some(Pose {
            position: at_end.point(lookahead - end, 0.0),
            heading: at_end.heading,
        })
    }

    /// Sets gap and speed of the leader.
    #[inline]
    fn follow(&self, agent: AgentIndex, (entry, distance): Ahead, input: &mut ControllerInput) {
        let rear = distance + entry.s - self.vehicle_type(entry.agent).rear_overhang;
        input.leader_gap = (rear - self.vehicle_type(agent).front).max(0.0);
        input.leader_speed = self.motion(entry.agent).speed;
    }
}

/// The point so far along, m, on the circle that touches a pose and passes through a place ahead of it.
fn on_circle(pose: Pose, through: DVec2, along: f64) -> DVec2 {
    let place = pose.to_local(through);
    let curvature = 2.0 * place.y / place.length_squared();
    // Half way round is as far as one can look along a circle.
    let half = 0.5 * (curvature * along).clamp(-PI, PI);
    let chord = match half == 0.0 {
        true => along,
        false => along * sin(half) / half,
    };
    pose.position + chord * unit(pose.heading + half)
}

/// Place of the last goal on the last lanelet of a route, m.
fn goal_on(route: &Route, last: LaneletIndex, length: f64) -> f64 {
    match route.goals.last() {
        Some(&Goal::Lane { lanelet, s }) if lanelet == last => s,
        _ => length,
    }
}
