//! What agents notice: the way ahead, the leader, the stop line, the nearest obstacle.

use crate::agents::{Agents, LanePosition, Motion, Progress};
use crate::dynamics::{Bodies, Dynamics};
use crate::ground::{Ground, PROFILE_BRAKING};
use crate::route::{Goal, GroundPath, Route, Routes};
use crate::traffic::{Entry, Index};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use glam::DVec2;
use roadwright_agent::{Lookahead, Outlook};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, heading_of};
use roadwright_plugin_api::{BehaviourInput, ControllerInput, NOTHING};
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneletId, LaneletKind, NO_LANELET};
use std::f64::consts::PI;

/// How far and how wide obstacles are looked for (source 003: the reach of its terms).
const OBSTACLE_REACH: f64 = 28.28;
const OBSTACLE_ANGLE: f64 = 1.2;
/// Speed off the roads, m/s.
pub(crate) const OPEN_GROUND_SPEED: f64 = 8.0;
/// Bodies this close beside the way count as in it, m.
const SIDE_CLEARANCE: f64 = 0.3;
/// Who has to stand at its goal aims for a bit behind it, so as to reach it, m.
const STOP_BEYOND: f64 = 1.5;
/// Distance between the places ahead whose speeds behaviours are told, m.
const OUTLOOK_STEP: f64 = 2.0;
/// Where a path over open ground is driven no faster than this, m/s, as into a parking bay, it bends
/// more sharply than roads do: nobody looks farther ahead along it than so many metres, and so many
/// seconds of driving.
const MANOEUVRING_SPEED: f64 = 3.0;
const MANOEUVRING_LOOKAHEAD: f64 = 1.5;
const MANOEUVRING_TIME: f64 = 0.6;
/// Lanelets ahead on which behaviours are told of a junction.
const JUNCTION_SIGHT: u32 = 8;
/// A vehicle that has just left the way to the side still blocks it with its tail, m.
const PARTING_DISTANCE: f64 = 8.0;

/// What perception reads.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) agents: &'a Agents,
    pub(crate) routes: &'a Routes,
    pub(crate) index: &'a Index,
    pub(crate) dynamics: &'a Dynamics,
}

/// All of that but the agents, for stages that change those in between.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
    pub(crate) index: &'a Index,
    pub(crate) dynamics: &'a Dynamics,
}

impl<'a> Surroundings<'a> {
    /// What perception reads, with the agents as they are now.
    pub(crate) fn with(self, agents: &'a Agents) -> View<'a> {
        View {
            ground: self.ground,
            types: self.types,
            agents,
            routes: self.routes,
            index: self.index,
            dynamics: self.dynamics,
        }
    }
}

/// A leader farther away than this is none, m.
const LEADER_REACH: f64 = 200.0;

/// A stretch of the route ahead.
struct Stretch {
    lanelet: LaneletId,
    /// Index in the route.
    at: u32,
    /// Distance from the rear axle to its start, m; negative for the lanelet it is on.
    distance: f64,
    /// Length of the lanelet, m.
    length: f64,
    /// Whether the route ends with it.
    is_last: bool,
    /// Whether the lane has to be changed on it.
    changes: bool,
}

impl<'a> View<'a> {
    #[inline]
    fn vehicle_type(&self, agent: u32) -> &'a VehicleType {
        self.types
            .get(self.agents.identity[agent as usize].vehicle_type)
    }

    fn id(&self, entry: &Entry) -> u64 {
        self.agents.identity[entry.agent as usize].id
    }

    #[inline]
    fn motion(&self, agent: u32) -> &'a Motion {
        &self.agents.motion[agent as usize]
    }

    #[inline]
    pub(crate) fn bodies(&self) -> Bodies<'a> {
        Bodies {
            ground: self.ground,
            agents: self.agents,
            dynamics: self.dynamics,
        }
    }

    #[inline]
    fn pose(&self, agent: u32) -> Pose {
        self.bodies().pose(agent)
    }

    #[inline]
    fn position(&self, agent: u32) -> &'a LanePosition {
        &self.agents.position[agent as usize]
    }

    #[inline]
    fn progress(&self, agent: u32) -> &'a Progress {
        &self.agents.progress[agent as usize]
    }

    #[inline]
    fn route(&self, agent: u32) -> &'a Route {
        self.routes.get(self.progress(agent).route)
    }

    /// Whether an agent follows a path backwards.
    pub(crate) fn is_reversing(&self, agent: u32) -> bool {
        let progress = self.progress(agent);
        !self.position(agent).is_on_lane() && self.route(agent).is_reversing(progress.reached)
    }

    /// The row of a controller.
    pub(crate) fn controller_input(&self, agent: u32, lookahead: Lookahead) -> ControllerInput {
        let mut input = self.allowed_input(agent, lookahead);
        self.apply_wish(agent, &mut input);
        input
    }

    /// Lets the row of a controller be what the agent's behaviour wishes. Returns the speed that
    /// road, bends and vehicle allow, whatever it wishes, m/s.
    pub(crate) fn apply_wish(&self, agent: u32, input: &mut ControllerInput) -> f64 {
        let wish = &self.agents.wish[agent as usize];
        let max_speed = self.vehicle_type(agent).limits.max_speed;
        let allowed = input.road_speed.min(max_speed);
        input.road_speed = (input.road_speed * wish.speed_factor)
            .min(wish.top_speed)
            .min(max_speed);
        allowed
    }

    /// The row of a controller, without what its behaviour wishes.
    pub(crate) fn allowed_input(&self, agent: u32, lookahead: Lookahead) -> ControllerInput {
        let (motion, vehicle_type) = (self.motion(agent), self.vehicle_type(agent));
        // Backwards it drives as a vehicle would that is turned about: what steers to the left
        // there is what steers to the right here.
        let is_reversing = self.is_reversing(agent);
        let hand = if is_reversing { -1.0 } else { 1.0 };
        let speed = hand * motion.speed;
        let distance = lookahead.distance.max(lookahead.time * speed);
        let mut input = ControllerInput {
            speed,
            steering: hand * self.bodies().steering(agent, vehicle_type),
            wheelbase: vehicle_type.limits.wheelbase,
            length: vehicle_type.length,
            leader_gap: NOTHING,
            stop_distance: NOTHING,
            obstacle_distance: NOTHING,
            ..ControllerInput::default()
        };
        let mut pose = self.pose(agent);
        if is_reversing {
            pose.heading = wrap_angle(pose.heading + PI);
        }
        if self.position(agent).is_on_lane() {
            self.perceive_lane(agent, pose, distance, &mut input);
        } else {
            self.perceive_ground(agent, pose, distance, &mut input);
        }
        self.perceive_obstacle(agent, pose, &mut input);
        input
    }

    /// The lanelets ahead along the route, up to where the lane has to be changed.
    fn ahead(&self, agent: u32) -> impl Iterator<Item = Stretch> + 'a {
        let position = self.position(agent);
        let route = self.route(agent);
        let ground = self.ground;
        // Before the start of the lanelet (at the seam of two) counts as on its start.
        let mut next = Some((
            self.progress(agent).at,
            position.lanelet,
            -position.s.max(0.0),
        ));
        std::iter::from_fn(move || {
            let (at, lanelet, distance) = next?;
            let after = route.lanelet(at + 1);
            let goes_on = after.is_some_and(|after| ground.leads_to(lanelet, after));
            let length = ground.length(lanelet);
            next = after
                .filter(|_| goes_on)
                .map(|after| (at + 1, after, distance + length));
            Some(Stretch {
                lanelet,
                at,
                distance,
                length,
                is_last: after.is_none(),
                changes: after.is_some() && !goes_on,
            })
        })
    }

    /// The vehicle ahead on the way, as far as anybody looks.
    pub(crate) fn leader(&self, agent: u32) -> Option<u32> {
        if !self.position(agent).is_on_lane() {
            return None;
        }
        let at = self.progress(agent).at;
        let ahead = self.index.ahead_on_lanelet(agent);
        let entry = ahead.or_else(|| {
            let stretches = self.ahead(agent);
            let mut near = stretches.take_while(|stretch| stretch.distance < LEADER_REACH);
            near.find_map(|stretch| {
                (stretch.at > at)
                    .then(|| self.index.hindmost(stretch.lanelet))
                    .flatten()
            })
        });
        entry.map(|entry| entry.agent)
    }

    /// The speeds that limit and bends allow on the way ahead.
    pub(crate) fn outlook(&self, agent: u32) -> Outlook {
        if !self.position(agent).is_on_lane() {
            return Outlook::new([OPEN_GROUND_SPEED as f32; Outlook::PARTS]);
        }
        let mut lowest = [f32::INFINITY; Outlook::PARTS];
        let reach = Outlook::PARTS as f64 * Outlook::PART;
        for stretch in self.ahead(agent) {
            if stretch.distance >= reach {
                break;
            }
            let end = (stretch.length).min(reach - stretch.distance);
            let mut s = (-stretch.distance).max(0.0);
            while s < end {
                let part = ((stretch.distance + s) / Outlook::PART) as usize;
                let speed = self.ground.road_speed(stretch.lanelet, s) as f32;
                let lowest = &mut lowest[part.min(Outlook::PARTS - 1)];
                *lowest = lowest.min(speed);
                s += OUTLOOK_STEP;
            }
        }
        Outlook::new(lowest)
    }

    fn perceive_lane(&self, agent: u32, pose: Pose, lookahead: f64, input: &mut ControllerInput) {
        let (position, progress) = (self.position(agent), self.progress(agent));
        let route = self.route(agent);
        let front = self.vehicle_type(agent).front;
        let speed = self.motion(agent).speed;
        let here = self.ground.line(position.lanelet).heading(position.s);
        input.lane_offset = position.t;
        input.heading_error = wrap_angle(pose.heading - here);
        input.road_speed = self.ground.road_speed(position.lanelet, position.s);
        // Far enough to brake for what is there, gently.
        let horizon = (speed * speed / (2.0 * PROFILE_BRAKING) + 20.0)
            .max(lookahead)
            .max(30.0);
        let mut leader = self
            .index
            .ahead_on_lanelet(agent)
            .map(|entry| (entry, -position.s));
        let mut waypoint: Option<Pose> = None;
        for stretch in self.ahead(agent) {
            if stretch.distance > horizon {
                break;
            }
            let end = stretch.distance + stretch.length;
            if waypoint.is_none() && end >= lookahead {
                let line = self.ground.line(stretch.lanelet);
                waypoint = Some(line.pose(lookahead - stretch.distance));
            }
            if stretch.at > progress.at {
                let entry_speed = self.ground.entry_speed(stretch.lanelet);
                let reachable =
                    (entry_speed * entry_speed + 2.0 * PROFILE_BRAKING * stretch.distance).sqrt();
                input.road_speed = input.road_speed.min(reachable);
                if self.is_closed(&stretch, agent) {
                    input.stop_distance = input.stop_distance.min(stretch.distance - front);
                }
                if leader.is_none() {
                    leader = self
                        .index
                        .hindmost(stretch.lanelet)
                        .map(|e| (e, stretch.distance));
                }
            }
            if leader.is_none() {
                leader = self.parting(route, &stretch).map(|entry| (entry, end));
            }
            if stretch.is_last && progress.holds_arrival {
                // It stands at its last goal until it is told what comes next.
                let goal = stretch.distance + goal_on(route, stretch.lanelet, stretch.length);
                let stop = (goal + STOP_BEYOND).max(0.0);
                input.stop_distance = input.stop_distance.min(stop);
            }
            if stretch.changes {
                // The lane has to be changed before it ends.
                input.stop_distance = input.stop_distance.min(end - front - 1.0);
            }
            if waypoint.is_none() && (stretch.is_last || stretch.changes) {
                let line = self.ground.line(stretch.lanelet);
                let at_end = line.pose(stretch.length);
                let beyond = at_end.point(lookahead - end, 0.0);
                waypoint = Some(Pose {
                    position: beyond,
                    heading: at_end.heading,
                });
            }
            if leader.is_some() && waypoint.is_some() && end > horizon {
                break;
            }
        }
        if let Some((entry, distance)) = leader {
            let rear = distance + entry.s - self.vehicle_type(entry.agent).rear_overhang;
            input.leader_gap = (rear - front).max(0.0);
            input.leader_speed = self.motion(entry.agent).speed;
        }
        if let Some(target) = waypoint {
            aim(pose, target.position, input);
            input.path_curvature = wrap_angle(target.heading - here) / lookahead;
        }
    }

    /// Whether a stretch is a contested connection that the agent may not enter yet.
    fn is_closed(&self, stretch: &Stretch, agent: u32) -> bool {
        stretch.at >= self.agents.claim[agent as usize].granted_to
            && self.ground.contested(stretch.lanelet).is_some()
    }

    /// A vehicle that has turned off at the end of a stretch but whose tail is still in the way.
    fn parting(&self, route: &Route, stretch: &Stretch) -> Option<Entry> {
        if self.ground.successor_count(stretch.lanelet) < 2 || stretch.is_last || stretch.changes {
            return None;
        }
        let own = route.lanelet(stretch.at + 1)?;
        let successors = self.ground.graph().successors(stretch.lanelet);
        let others = successors.iter().filter(|&&other| other != own);
        let tails = others.filter_map(|&other| self.index.hindmost(other));
        tails
            .filter(|entry| {
                entry.s - self.vehicle_type(entry.agent).rear_overhang < PARTING_DISTANCE
            })
            .min_by(|a, b| a.s.total_cmp(&b.s).then(self.id(a).cmp(&self.id(b))))
    }

    fn perceive_ground(&self, agent: u32, pose: Pose, lookahead: f64, input: &mut ControllerInput) {
        input.road_speed = OPEN_GROUND_SPEED;
        let (route, reached) = (self.route(agent), self.progress(agent).reached);
        match (route.path_to(reached), route.next_goal(reached)) {
            (Some(path), _) => self.perceive_path(agent, pose, (path, lookahead), input),
            (None, Some(Goal::Ground(goal))) => aim(pose, goal, input),
            (None, _) => {}
        }
    }

    /// A path over open ground is seen as the centre of a lane that ends with it.
    fn perceive_path(
        &self,
        agent: u32,
        pose: Pose,
        (path, lookahead): (&GroundPath, f64),
        input: &mut ControllerInput,
    ) {
        let position = self.position(agent);
        let line = path.line();
        let here = line.heading(position.s);
        let speed = path.speed(position.s);
        let lookahead = if speed <= MANOEUVRING_SPEED {
            lookahead.min(MANOEUVRING_LOOKAHEAD + MANOEUVRING_TIME * input.speed)
        } else {
            lookahead
        };
        input.lane_offset = position.t;
        input.heading_error = wrap_angle(pose.heading - here);
        input.road_speed = speed;
        let left = line.length() - position.s;
        let target = if lookahead <= left {
            line.pose(position.s + lookahead)
        } else {
            let end = line.pose(line.length());
            Pose {
                position: end.point(lookahead - left, 0.0),
                heading: end.heading,
            }
        };
        aim(pose, target.position, input);
        input.path_curvature = wrap_angle(target.heading - here) / lookahead;
    }

    /// Whether obstacles are near the lanelet that an agent is on or comes to next.
    fn is_near_obstacles(&self, agent: u32) -> bool {
        let (position, obstacles) = (self.position(agent), &self.ground.obstacles);
        if obstacles.is_empty() {
            return false;
        }
        !position.is_on_lane() || obstacles.is_watched(position.lanelet) || {
            let next = self.route(agent).lanelet(self.progress(agent).at + 1);
            next.is_some_and(|lanelet| obstacles.is_watched(lanelet))
        }
    }

    fn perceive_obstacle(&self, agent: u32, pose: Pose, input: &mut ControllerInput) {
        let sees_obstacles = self.is_near_obstacles(agent);
        let sees_bodies = !self.position(agent).is_on_lane() || self.index.any_off_lane;
        if !sees_obstacles && !sees_bodies {
            return;
        }
        let (speed, front) = if self.is_reversing(agent) {
            (
                -self.motion(agent).speed,
                self.vehicle_type(agent).rear_overhang,
            )
        } else {
            (self.motion(agent).speed, self.vehicle_type(agent).front)
        };
        let eye = Pose {
            position: pose.point(front, 0.0),
            ..pose
        };
        let mut nearest: Option<(f64, DVec2, f64)> = None;
        let mut consider = |point: DVec2, closing: f64| {
            let distance = (point - eye.position).length();
            if nearest.is_none_or(|(best, ..)| distance < best) {
                nearest = Some((distance, point, closing));
            }
        };
        if sees_obstacles {
            let accept = |point: DVec2| self.is_in_the_way(agent, eye, point);
            if let Some(point) = self
                .ground
                .obstacles
                .nearest(eye.position, OBSTACLE_REACH, accept)
            {
                let direction = (point - eye.position).normalize_or_zero();
                consider(point, speed * direction.dot(pose.forward()));
            }
        }
        if sees_bodies {
            self.index
                .for_each_near(eye.position, OBSTACLE_REACH, |number, middle| {
                    let other_agent = self.index.located[number as usize];
                    if other_agent == agent || !self.matters(agent, other_agent) {
                        return;
                    }
                    let forward = self.pose(other_agent);
                    let body = self
                        .vehicle_type(other_agent)
                        .footprint(middle, forward.heading);
                    let point = body.closest_point(eye.position);
                    if self.is_in_the_way(agent, eye, point) {
                        let direction = (point - eye.position).normalize_or_zero();
                        let own = pose.forward() * speed;
                        let theirs = forward.forward() * self.motion(other_agent).speed;
                        consider(point, (own - theirs).dot(direction));
                    }
                });
        }
        if let Some((distance, point, closing)) = nearest {
            input.obstacle_distance = distance;
            input.obstacle_angle = angle_to(eye, point);
            input.obstacle_closing_speed = closing;
        }
    }

    /// Whether another vehicle is not taken care of by following and by giving way, as lane
    /// traffic is.
    fn matters(&self, agent: u32, other: u32) -> bool {
        !self.position(agent).is_on_lane() || !self.position(other).is_on_lane()
    }

    /// Whether a point is ahead: off the lanes within the reach of sight, on a lane beside the way
    /// by less than half of the vehicle.
    fn is_in_the_way(&self, agent: u32, eye: Pose, point: DVec2) -> bool {
        if angle_to(eye, point).abs() > OBSTACLE_ANGLE {
            return false;
        }
        let position = self.position(agent);
        if !position.is_on_lane() {
            return true;
        }
        let VehicleType { front, width, .. } = *self.vehicle_type(agent);
        let reach = 0.5 * width + SIDE_CLEARANCE;
        for stretch in self.ahead(agent).take(4) {
            let line = self.ground.line(stretch.lanelet);
            let guess = (front - stretch.distance).clamp(0.0, line.length());
            let (s, t) = line.project(point, guess);
            if s <= line.length() {
                let ahead = stretch.distance + s > front - 0.5;
                return ahead && s >= 0.0 && (t - position.t.clamp(-0.5, 0.5)).abs() < reach;
            }
        }
        false
    }

    /// The row of a behaviour.
    pub(crate) fn behaviour_input(&self, agent: u32) -> BehaviourInput {
        let (position, progress) = (self.position(agent), self.progress(agent));
        let mut input = BehaviourInput {
            speed: self.motion(agent).speed,
            road_speed: OPEN_GROUND_SPEED,
            lane_remaining: NOTHING,
            target_gap_ahead: NOTHING,
            target_gap_behind: NOTHING,
            leader_gap: NOTHING,
            waiting: progress.standing,
            junction_distance: NOTHING,
            goal_distance: self.goal_distance(agent),
            ..BehaviourInput::default()
        };
        if !position.is_on_lane() {
            return input;
        }
        let lanelet = self.ground.lanelet(position.lanelet);
        input.road_speed = self.ground.road_speed(position.lanelet, position.s);
        input.lane_remaining = lanelet.length() - position.s;
        if let Some(entry) = self.index.ahead_on_lanelet(agent) {
            let rear = entry.s - self.vehicle_type(entry.agent).rear_overhang;
            input.leader_gap = rear - position.s - self.vehicle_type(agent).front;
            input.leader_speed = self.motion(entry.agent).speed;
        }
        input.lane_change_needed = self
            .route(agent)
            .lane_change_at(progress.at, self.ground.graph());
        if input.lane_change_needed != 0.0 && position.leaving == NO_LANELET {
            let target = if input.lane_change_needed > 0.0 {
                lanelet.left
            } else {
                lanelet.right
            };
            self.target_gaps(agent, target, &mut input);
        } else {
            // One change at a time.
            input.lane_change_needed = 0.0;
        }
        input.lane_left = f64::from(u8::from(lanelet.left != NO_LANELET));
        input.lane_right = f64::from(u8::from(lanelet.right != NO_LANELET));
        self.perceive_junction(agent, &mut input);
        input
    }

    fn goal_distance(&self, agent: u32) -> f64 {
        let goal = self.route(agent).next_goal(self.progress(agent).reached);
        goal.map_or(0.0, |goal| {
            let place = goal.position(self.ground.graph());
            (place - self.pose(agent).position).length()
        })
    }

    /// The next junction on the route and how the route leads through it.
    fn perceive_junction(&self, agent: u32, input: &mut BehaviourInput) {
        let route = self.route(agent);
        let mut distance = -self.position(agent).s;
        let first = self.progress(agent).at;
        for id in (first..first + JUNCTION_SIGHT).map_while(|at| route.lanelet(at)) {
            let lanelet = self.ground.lanelet(id);
            if let LaneletKind::Connection { turn, .. } = lanelet.kind {
                input.junction_distance = distance.max(0.0);
                input.junction_turn = match turn {
                    Turn::Left => 1.0,
                    Turn::Straight => 0.0,
                    Turn::Right => -1.0,
                    Turn::UTurn => 2.0,
                };
                return;
            }
            distance += lanelet.length();
        }
    }

    /// Whether there is room on the lane beside an agent: at least `gap` metres ahead and behind,
    /// and `time` seconds more for what comes closer.
    pub(crate) fn has_room_beside(&self, agent: u32, lane: LaneletId, gap: f64, time: f64) -> bool {
        let mut input = BehaviourInput {
            target_gap_ahead: NOTHING,
            target_gap_behind: NOTHING,
            ..BehaviourInput::default()
        };
        self.target_gaps(agent, lane, &mut input);
        let speed = self.motion(agent).speed;
        let needed = |closing: f64| gap + time * closing.max(0.0);
        input.target_gap_ahead >= needed(speed - input.target_speed_ahead)
            && input.target_gap_behind >= needed(input.target_speed_behind - speed)
    }

    /// Gaps on the lane to change to.
    fn target_gaps(&self, agent: u32, target: LaneletId, input: &mut BehaviourInput) {
        let position = self.position(agent);
        let VehicleType {
            front,
            rear_overhang,
            ..
        } = *self.vehicle_type(agent);
        let own = self.ground.lanelet(position.lanelet);
        let s = position.s / own.length() * self.ground.lanelet(target).length();
        let entries = self.index.on_lanelet(target);
        let place = entries.partition_point(|entry| entry.s < s);
        if let Some(entry) = entries.get(place) {
            let rear = entry.s - self.vehicle_type(entry.agent).rear_overhang;
            input.target_gap_ahead = rear - s - front;
            input.target_speed_ahead = self.motion(entry.agent).speed;
        }
        let behind = match place.checked_sub(1).map(|i| entries[i]) {
            Some(entry) => Some((entry, s - entry.s)),
            None => self
                .behind_lanelet(target)
                .map(|(entry, gap)| (entry, s + gap)),
        };
        if let Some((entry, distance)) = behind {
            let gap = distance - self.vehicle_type(entry.agent).front;
            input.target_gap_behind = gap - rear_overhang;
            input.target_speed_behind = self.motion(entry.agent).speed;
        }
    }

    /// The foremost vehicle on the lanelets that lead to one, with its distance to their end, m.
    fn behind_lanelet(&self, lanelet: LaneletId) -> Option<(Entry, f64)> {
        let leading = self.ground.graph().predecessors(lanelet).iter();
        let foremost = leading.filter_map(|&id| {
            let entry = *self.index.on_lanelet(id).last()?;
            Some((entry, self.ground.lanelet(id).length() - entry.s))
        });
        foremost.min_by(|a, b| a.1.total_cmp(&b.1).then(self.id(&a.0).cmp(&self.id(&b.0))))
    }
}

/// Place of the last goal on the last lanelet of a route, m.
fn goal_on(route: &Route, last: LaneletId, length: f64) -> f64 {
    match route.goals.last() {
        Some(&Goal::Lane { lanelet, s }) if lanelet == last => s,
        _ => length,
    }
}

/// Distance and angle from a pose to a point.
fn aim(pose: Pose, point: DVec2, input: &mut ControllerInput) {
    input.waypoint_distance = (point - pose.position).length();
    input.waypoint_angle = angle_to(pose, point);
}

fn angle_to(pose: Pose, point: DVec2) -> f64 {
    let offset = point - pose.position;
    if offset == DVec2::ZERO {
        return 0.0;
    }
    wrap_angle(heading_of(offset) - pose.heading)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stand;

    const LOOKAHEAD: Lookahead = Lookahead {
        distance: 10.0,
        time: 0.0,
    };

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn a_leader_is_the_next_along_the_route() {
        // (where the other is: lanelet of the route, or 3 for the crossing street; place on it, m;
        // whether it is the leader)
        let cases = [
            ("on its own lane", 0, 30.0, true),
            ("behind it", 0, 3.0, false),
            ("on the connection", 1, 2.0, true),
            ("beyond the junction", 2, 5.0, true),
            ("on the other street", 3, 40.0, false),
        ];
        for (what, at, s, leads) in cases {
            let mut stand = Stand::crossing();
            let route = stand.straight(DVec2::X);
            let other_street = stand.straight(DVec2::Y);
            let own = stand.car(1, &route, 10.0, 20.0);
            let lanelets = if at < 3 {
                &route[at..]
            } else {
                &other_street[..]
            };
            stand.car(2, lanelets, s, 3.0);
            stand.look();
            let input = stand.view().controller_input(own, LOOKAHEAD);
            if !leads {
                assert_eq!(input.leader_gap, NOTHING, "{what}");
                continue;
            }
            let before: f64 = route[..at].iter().map(|&id| stand.ground.length(id)).sum();
            let along = before + s - 10.0;
            let car = stand.types.get(0);
            let gap = along - car.front - car.rear_overhang;
            assert!(near(input.leader_gap, gap), "{what}: {}", input.leader_gap);
            assert_eq!(input.leader_speed, 3.0, "{what}");
        }
    }

    #[test]
    fn the_stop_line_is_there_until_the_junction_lets_it_in() {
        // (connections before this index may be entered, whether it stops)
        for (granted_to, stops) in [(0, true), (1, true), (2, false)] {
            let mut stand = Stand::crossing();
            let route = stand.straight(DVec2::X);
            let own = stand.car(1, &route, 60.0, 10.0);
            stand.agents.claim[own as usize].granted_to = granted_to;
            stand.look();
            let input = stand.view().controller_input(own, LOOKAHEAD);
            let to_line = stand.ground.length(route[0]) - 60.0 - stand.types.get(0).front;
            let expected = if stops { to_line } else { NOTHING };
            assert!(
                near(input.stop_distance, expected),
                "granted to {granted_to}"
            );
        }
    }

    #[test]
    fn a_lane_that_has_to_be_left_ends_at_its_end() {
        let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
        let lanes = stand.lanes_from_the_right();
        for (route, stops) in [(vec![lanes[0], lanes[1]], true), (vec![lanes[0]], false)] {
            let own = stand.car(stops.into(), &route, 250.0, 10.0);
            stand.look();
            let input = stand.view().controller_input(own, LOOKAHEAD);
            let to_end = 300.0 - 250.0 - stand.types.get(0).front - 1.0;
            let expected = if stops { to_end } else { NOTHING };
            assert!(near(input.stop_distance, expected), "{route:?}");
        }
    }

    #[test]
    fn the_way_to_the_left_and_to_the_right_is_told() {
        let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 3, 0)]);
        let lanes = stand.lanes_from_the_right();
        // (from lane, to lane, change that is needed, lanes to the left and to the right)
        let cases = [
            (1, 2, 1.0, (1.0, 1.0)),
            (1, 0, -1.0, (1.0, 1.0)),
            (1, 1, 0.0, (1.0, 1.0)),
            (0, 1, 1.0, (1.0, 0.0)),
            (2, 1, -1.0, (0.0, 1.0)),
        ];
        for (id, (from, to, needed, sides)) in (1..).zip(cases) {
            let route: &[_] = if from == to {
                &[lanes[from]]
            } else {
                &[lanes[from], lanes[to]]
            };
            let own = stand.car(id, route, 20.0 * id as f64, 10.0);
            stand.look();
            let input = stand.view().behaviour_input(own);
            let told = (
                input.lane_change_needed,
                (input.lane_left, input.lane_right),
            );
            assert_eq!(told, (needed, sides), "{from} to {to}");
            // One change at a time.
            stand.agents.position[own as usize].leaving = lanes[from];
            let input = stand.view().behaviour_input(own);
            assert_eq!(input.lane_change_needed, 0.0);
        }
    }

    #[test]
    fn gaps_beside_are_those_between_bodies() {
        // (cars on the other lane: place, m, and speed, m/s; room asked for: gap, m, and time, s;
        // whether it is there for one at 100 m and 10 m/s)
        let cases: [(&[(f64, f64)], _, _); 7] = [
            (&[], (3.0, 1.5), true),
            (&[(100.0, 10.0)], (3.0, 1.5), false),
            (&[(110.0, 10.0)], (3.0, 1.5), true),
            (&[(110.0, 10.0)], (7.0, 1.5), false),
            // A slow one ahead is closed up to; a fast one ahead goes away.
            (&[(110.0, 6.0)], (3.0, 1.5), false),
            (&[(90.0, 14.0)], (3.0, 1.5), false),
            (&[(90.0, 10.0), (110.0, 14.0)], (3.0, 1.5), true),
        ];
        for (others, (gap, time), is_there) in cases {
            let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
            let lanes = stand.lanes_from_the_right();
            let own = stand.car(1, &[lanes[0], lanes[1]], 100.0, 10.0);
            for (id, &(s, speed)) in (2..).zip(others) {
                stand.car(id, &[lanes[1]], s, speed);
            }
            stand.look();
            let found = stand.view().has_room_beside(own, lanes[1], gap, time);
            assert_eq!(found, is_there, "{others:?}, {gap} m and {time} s");
        }
    }

    #[test]
    fn who_comes_from_the_lane_before_is_behind() {
        let mut stand = Stand::crossing();
        let route = stand.straight(DVec2::X);
        let own = stand.car(1, &route[2..], 1.0, 5.0);
        let behind = stand.car(2, &route, 90.0, 5.0);
        stand.look();
        let view = stand.view();
        // Nobody is on the lane itself but the one who asks; the connection before it is empty.
        let found = view.behind_lanelet(route[1]).map(|(entry, _)| entry.agent);
        assert_eq!(found, Some(behind));
        assert!(view.behind_lanelet(route[0]).is_none());
        let ahead = view.index.hindmost(route[2]).map(|entry| entry.agent);
        assert_eq!(ahead, Some(own));
    }

    #[test]
    fn a_slower_road_ahead_is_braked_for_in_time() {
        let stand = {
            let mut stand = Stand::crossing();
            let route = stand.straight(DVec2::X);
            stand.car(1, &route, 5.0, 14.0);
            stand.car(2, &route, 80.0, 14.0);
            stand.look();
            stand
        };
        let speeds = [0, 1].map(|own| stand.view().controller_input(own, LOOKAHEAD).road_speed);
        let entry = stand.ground.entry_speed(stand.straight(DVec2::X)[1]);
        let distance = stand.ground.length(stand.straight(DVec2::X)[0]) - 80.0;
        let reachable = (entry * entry + 2.0 * PROFILE_BRAKING * distance).sqrt();
        assert!(speeds[1] <= reachable + 1e-9 && speeds[1] <= speeds[0]);
        assert!(near(speeds[0], 14.0), "{speeds:?}");
    }
}
