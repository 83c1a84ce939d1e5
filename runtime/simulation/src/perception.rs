//! What agents notice: the way ahead, the leader, the stop line, the nearest obstacle.

use crate::index::{Entry, Index};
use crate::kind::Kind;
use crate::mover::Mover;
use crate::obstacles::Obstacles;
use crate::roads::{PROFILE_BRAKING, Roads};
use crate::way::{Goal, Way};
use glam::DVec2;
use roadwright_agent::Lookahead;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{Pose, heading_of};
use roadwright_plugin_api::{BehaviourInput, ControllerInput, NOTHING};
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneletId, LaneletKind, NO_LANELET};

/// How far and how wide obstacles are looked for (source 003: the reach of its terms).
const OBSTACLE_REACH: f64 = 28.28;
const OBSTACLE_ANGLE: f64 = 1.2;
/// Speed off the roads, m/s.
pub(crate) const OPEN_GROUND_SPEED: f64 = 8.0;
/// Bodies this close beside the way count as in it, m.
const SIDE_CLEARANCE: f64 = 0.3;
/// Who has to stand at its goal aims for a bit behind it, so as to reach it, m.
const STOP_BEYOND: f64 = 1.5;
/// A vehicle that has just left the way to the side still blocks it with its tail, m.
const PARTING_DISTANCE: f64 = 8.0;

/// The world as perception reads it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) roads: &'a Roads,
    pub(crate) obstacles: &'a Obstacles,
    pub(crate) kinds: &'a [Kind],
    pub(crate) movers: &'a [Mover],
    pub(crate) ways: &'a [Way],
    pub(crate) index: &'a Index,
}

/// A stretch of the way ahead.
struct Stretch {
    lanelet: LaneletId,
    /// Index in the path.
    at: u32,
    /// Distance from the rear axle to its start, m; negative for the lanelet it is on.
    distance: f64,
}

impl<'a> View<'a> {
    fn kind(&self, mover: &Mover) -> &'a Kind {
        &self.kinds[mover.kind as usize]
    }

    /// The row of a controller.
    pub(crate) fn controller_input(&self, agent: u32, lookahead: Lookahead) -> ControllerInput {
        let mover = &self.movers[agent as usize];
        let kind = self.kind(mover);
        let distance = lookahead.distance.max(lookahead.time * mover.state.speed);
        let mut input = ControllerInput {
            speed: mover.state.speed,
            steering: mover.state.steering,
            wheelbase: kind.limits.wheelbase,
            length: kind.length,
            leader_gap: NOTHING,
            stop_distance: NOTHING,
            obstacle_distance: NOTHING,
            ..ControllerInput::default()
        };
        if mover.on_lane() {
            self.perceive_lane(agent, distance, &mut input);
        } else {
            self.perceive_ground(agent, &mut input);
        }
        input.road_speed = (input.road_speed * mover.speed_factor)
            .min(mover.top_speed)
            .min(kind.limits.max_speed);
        self.perceive_obstacle(agent, &mut input);
        input
    }

    /// The lanelets ahead along the path, up to where the lane has to be changed.
    fn ahead(&self, agent: u32) -> impl Iterator<Item = Stretch> + 'a {
        let mover = &self.movers[agent as usize];
        let way = &self.ways[agent as usize];
        let roads = self.roads;
        // Before the start of the lanelet (at the seam of two lanelets) counts as on its start.
        let mut next = Some((mover.cursor, mover.lanelet, -mover.s.max(0.0)));
        std::iter::from_fn(move || {
            let (at, lanelet, distance) = next?;
            let length = roads.lanelet(lanelet).length();
            next = way
                .lanelet(at + 1)
                .filter(|following| roads.graph.successors(lanelet).contains(following))
                .map(|following| (at + 1, following, distance + length));
            Some(Stretch {
                lanelet,
                at,
                distance,
            })
        })
    }

    /// Whether the next lanelet of the path lies beside the current one: 1 to the left, -1 to the
    /// right, 0 if not.
    pub(crate) fn lane_change_needed(&self, mover: &Mover, way: &Way) -> f64 {
        let Some(next) = way.lanelet(mover.cursor + 1) else {
            return 0.0;
        };
        let lanelet = self.roads.lanelet(mover.lanelet);
        match next {
            _ if next == lanelet.left => 1.0,
            _ if next == lanelet.right => -1.0,
            _ => 0.0,
        }
    }

    fn perceive_lane(&self, agent: u32, lookahead: f64, input: &mut ControllerInput) {
        let mover = &self.movers[agent as usize];
        let way = &self.ways[agent as usize];
        let kind = self.kind(mover);
        let pose = mover.state.pose;
        let speed = mover.state.speed;
        let here = self.roads.graph.line(mover.lanelet).heading(mover.s);
        input.lane_offset = mover.t;
        input.heading_error = wrap_angle(pose.heading - here);
        input.road_speed = self.roads.road_speed(mover.lanelet, mover.s);
        // Far enough to brake for what is there, gently.
        let horizon = (speed * speed / (2.0 * PROFILE_BRAKING) + 20.0)
            .max(lookahead)
            .max(30.0);
        let mut leader = self
            .index
            .ahead_on_lanelet(agent)
            .map(|entry| (entry, -mover.s));
        let mut waypoint: Option<Pose> = None;
        for stretch in self.ahead(agent) {
            if stretch.distance > horizon {
                break;
            }
            let lanelet = self.roads.lanelet(stretch.lanelet);
            let line = self.roads.graph.line(stretch.lanelet);
            let end = stretch.distance + lanelet.length();
            if waypoint.is_none() && end >= lookahead {
                waypoint = Some(line.pose(lookahead - stretch.distance));
            }
            if stretch.at > mover.cursor {
                let entry_speed = self.roads.road_speed(stretch.lanelet, 0.0);
                let reachable =
                    (entry_speed * entry_speed + 2.0 * PROFILE_BRAKING * stretch.distance).sqrt();
                input.road_speed = input.road_speed.min(reachable);
                if self.is_closed(&stretch, mover) {
                    input.stop_distance = input.stop_distance.min(stretch.distance - kind.front);
                }
                if leader.is_none() {
                    leader = self
                        .index
                        .hindmost(stretch.lanelet)
                        .map(|e| (e, stretch.distance));
                }
            }
            if leader.is_none() {
                leader = self.parting(way, &stretch).map(|entry| (entry, end));
            }
            let last = way.lanelet(stretch.at + 1).is_none();
            if last && mover.holds_arrival {
                // It stands at its last goal until it is told what comes next.
                let goal = stretch.distance + goal_on(way, stretch.lanelet, lanelet.length());
                let stop = (goal + STOP_BEYOND).max(0.0);
                input.stop_distance = input.stop_distance.min(stop);
            }
            let changes = !last
                && !self
                    .roads
                    .graph
                    .successors(stretch.lanelet)
                    .contains(&way.path[stretch.at as usize + 1]);
            if changes {
                // The lane has to be changed before it ends.
                input.stop_distance = input.stop_distance.min(end - kind.front - 1.0);
            }
            if waypoint.is_none() && (last || changes) {
                let at_end = line.pose(lanelet.length());
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
            let other = &self.movers[entry.agent as usize];
            let rear = distance + entry.s - self.kind(other).rear_overhang;
            input.leader_gap = (rear - kind.front).max(0.0);
            input.leader_speed = other.state.speed;
        }
        if let Some(target) = waypoint {
            aim(pose, target.position, input);
            input.path_curvature = wrap_angle(target.heading - here) / lookahead;
        }
    }

    /// Whether a stretch is a contested connection that the agent may not enter yet.
    fn is_closed(&self, stretch: &Stretch, mover: &Mover) -> bool {
        stretch.at >= mover.granted_to && self.roads.contested(stretch.lanelet).is_some()
    }

    /// A vehicle that has turned off at the end of a stretch but whose tail is still in the way.
    fn parting(&self, way: &Way, stretch: &Stretch) -> Option<Entry> {
        let own = way.lanelet(stretch.at + 1)?;
        let successors = self.roads.graph.successors(stretch.lanelet);
        if successors.len() < 2 || !successors.contains(&own) {
            return None;
        }
        let others = successors.iter().filter(|&&other| other != own);
        let tails = others.filter_map(|&other| self.index.hindmost(other));
        tails
            .filter(|entry| {
                let overhang = self.kind(&self.movers[entry.agent as usize]).rear_overhang;
                entry.s - overhang < PARTING_DISTANCE
            })
            .min_by(|a, b| a.s.total_cmp(&b.s).then(a.agent.cmp(&b.agent)))
    }

    fn perceive_ground(&self, agent: u32, input: &mut ControllerInput) {
        let mover = &self.movers[agent as usize];
        input.road_speed = OPEN_GROUND_SPEED;
        if let Some(Goal::Ground(goal)) = self.ways[agent as usize].next_goal(mover.goals_reached) {
            aim(mover.state.pose, goal, input);
        }
    }

    fn perceive_obstacle(&self, agent: u32, input: &mut ControllerInput) {
        let mover = &self.movers[agent as usize];
        let kind = self.kind(mover);
        let pose = mover.state.pose;
        let eye = Pose {
            position: pose.point(kind.front, 0.0),
            ..pose
        };
        let mut nearest: Option<(f64, DVec2, f64)> = None;
        let mut consider = |point: DVec2, closing: f64| {
            let distance = (point - eye.position).length();
            if nearest.is_none_or(|(best, ..)| distance < best) {
                nearest = Some((distance, point, closing));
            }
        };
        let watched = !mover.on_lane() || self.obstacles.is_watched(mover.lanelet) || {
            let next = self.ways[agent as usize].lanelet(mover.cursor + 1);
            next.is_some_and(|lanelet| self.obstacles.is_watched(lanelet))
        };
        if watched && !self.obstacles.is_empty() {
            let accept = |point: DVec2| self.is_in_the_way(agent, eye, point);
            if let Some(point) = self.obstacles.nearest(eye.position, OBSTACLE_REACH, accept) {
                let direction = (point - eye.position).normalize_or_zero();
                consider(point, mover.state.speed * direction.dot(pose.forward()));
            }
        }
        if !mover.on_lane() || self.index.any_off_lane {
            self.index
                .grid
                .for_each_within(eye.position, OBSTACLE_REACH, |number, middle| {
                    let other_agent = self.index.located[number as usize];
                    if other_agent == agent || !self.matters(agent, other_agent) {
                        return;
                    }
                    let other = &self.movers[other_agent as usize];
                    let other_kind = self.kind(other);
                    let centre = Pose {
                        position: middle,
                        heading: other.state.pose.heading,
                    };
                    let body = OrientedBox::new(centre, other_kind.length, other_kind.width);
                    let point = body.closest_point(eye.position);
                    if self.is_in_the_way(agent, eye, point) {
                        let direction = (point - eye.position).normalize_or_zero();
                        let own = pose.forward() * mover.state.speed;
                        let theirs = other.state.pose.forward() * other.state.speed;
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
        !self.movers[agent as usize].on_lane() || !self.movers[other as usize].on_lane()
    }

    /// Whether a point is ahead: off the lanes within the reach of sight, on a lane beside the way
    /// by less than half of the vehicle.
    fn is_in_the_way(&self, agent: u32, eye: Pose, point: DVec2) -> bool {
        if angle_to(eye, point).abs() > OBSTACLE_ANGLE {
            return false;
        }
        let mover = &self.movers[agent as usize];
        if !mover.on_lane() {
            return true;
        }
        let kind = self.kind(mover);
        let reach = 0.5 * kind.width + SIDE_CLEARANCE;
        for stretch in self.ahead(agent).take(4) {
            let lanelet = self.roads.lanelet(stretch.lanelet);
            let guess = (kind.front - stretch.distance).clamp(0.0, lanelet.length());
            let (s, t) = self.roads.graph.line(stretch.lanelet).project(point, guess);
            if s <= lanelet.length() {
                let ahead = stretch.distance + s > kind.front - 0.5;
                return ahead && s >= 0.0 && (t - mover.t.clamp(-0.5, 0.5)).abs() < reach;
            }
        }
        false
    }

    /// The row of a behaviour.
    pub(crate) fn behaviour_input(&self, agent: u32) -> BehaviourInput {
        let mover = &self.movers[agent as usize];
        let mut input = BehaviourInput {
            speed: mover.state.speed,
            road_speed: OPEN_GROUND_SPEED,
            lane_remaining: NOTHING,
            target_gap_ahead: NOTHING,
            target_gap_behind: NOTHING,
            leader_gap: NOTHING,
            waiting: mover.waiting,
            junction_distance: NOTHING,
            goal_distance: self.goal_distance(agent),
            ..BehaviourInput::default()
        };
        if !mover.on_lane() {
            return input;
        }
        let lanelet = self.roads.lanelet(mover.lanelet);
        input.road_speed = self.roads.road_speed(mover.lanelet, mover.s);
        input.lane_remaining = lanelet.length() - mover.s;
        if let Some(entry) = self.index.ahead_on_lanelet(agent) {
            let other = &self.movers[entry.agent as usize];
            let rear = entry.s - self.kind(other).rear_overhang;
            input.leader_gap = rear - mover.s - self.kind(mover).front;
            input.leader_speed = other.state.speed;
        }
        input.lane_change_needed = self.lane_change_needed(mover, &self.ways[agent as usize]);
        if input.lane_change_needed != 0.0 && mover.shadow == NO_LANELET {
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
        let mover = &self.movers[agent as usize];
        let place = match self.ways[agent as usize].next_goal(mover.goals_reached) {
            Some(Goal::Ground(place)) => place,
            Some(Goal::Lanelet { lanelet, s }) => self.roads.graph.line(lanelet).position(s),
            None => return 0.0,
        };
        (place - mover.state.pose.position).length()
    }

    /// The next junction on the way and how the way leads through it.
    fn perceive_junction(&self, agent: u32, input: &mut BehaviourInput) {
        let mover = &self.movers[agent as usize];
        let mut distance = -mover.s;
        for &id in self.ways[agent as usize]
            .path
            .iter()
            .skip(mover.cursor as usize)
            .take(8)
        {
            let lanelet = self.roads.lanelet(id);
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
        let speed = self.movers[agent as usize].state.speed;
        let needed = |closing: f64| gap + time * closing.max(0.0);
        input.target_gap_ahead >= needed(speed - input.target_speed_ahead)
            && input.target_gap_behind >= needed(input.target_speed_behind - speed)
    }

    /// Gaps on the lane to change to.
    fn target_gaps(&self, agent: u32, target: LaneletId, input: &mut BehaviourInput) {
        let mover = &self.movers[agent as usize];
        let kind = self.kind(mover);
        let own = self.roads.lanelet(mover.lanelet);
        let s = mover.s / own.length() * self.roads.lanelet(target).length();
        let entries = self.index.on_lanelet(target);
        let place = entries.partition_point(|entry| entry.s < s);
        if let Some(entry) = entries.get(place) {
            let other = &self.movers[entry.agent as usize];
            input.target_gap_ahead = entry.s - self.kind(other).rear_overhang - s - kind.front;
            input.target_speed_ahead = other.state.speed;
        }
        let behind = match place.checked_sub(1).map(|i| entries[i]) {
            Some(entry) => Some((entry, s - entry.s)),
            None => self
                .behind_lanelet(target)
                .map(|(entry, gap)| (entry, s + gap)),
        };
        if let Some((entry, distance)) = behind {
            let other = &self.movers[entry.agent as usize];
            input.target_gap_behind = distance - self.kind(other).front - kind.rear_overhang;
            input.target_speed_behind = other.state.speed;
        }
    }

    /// The foremost vehicle on the lanelets that lead to one, with its distance to their end, m.
    fn behind_lanelet(&self, lanelet: LaneletId) -> Option<(Entry, f64)> {
        let leading = self.roads.graph.predecessors(lanelet).iter();
        let foremost = leading.filter_map(|&id| {
            let entry = *self.index.on_lanelet(id).last()?;
            Some((entry, self.roads.lanelet(id).length() - entry.s))
        });
        foremost.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.agent.cmp(&b.0.agent)))
    }
}

/// Place of the last goal on the last lanelet of a way, m.
fn goal_on(way: &Way, last: LaneletId, length: f64) -> f64 {
    match way.goals.last() {
        Some(&Goal::Lanelet { lanelet, s }) if lanelet == last => s,
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
