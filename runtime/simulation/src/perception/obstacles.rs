//! The nearest obstructing body that is not lane traffic: obstacles, trees, vehicles off the lanes.

use super::{View, angle_to};
use crate::dynamics::STANDING;
use crate::records::AgentIndex;
use crate::vehicle_type::VehicleType;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::{MOST_ASIDE, OBSTACLE_ANGLE, OBSTACLE_REACH, SIDE_CLEARANCE};
use roadwright_plugin_api::ControllerInput;

/// The nearest point of a body counts as being ahead until it is this far behind the vehicle's
/// front, m.
const PAST_FRONT: f64 = 0.5;
/// Deceleration assumed for the sight distance, m/s^2. On a planned path, obstacles are seen within the
/// braking distance at this deceleration plus [`STANDSTILL`].
const BRAKING: f64 = 2.0;
/// Margin added to the braking distance, m.
const STANDSTILL: f64 = 3.0;
/// Fraction of the plan's clearance within which an obstacle counts as being on the planned path.
/// It is below 1 because positions on paths have small errors.
const ON_PATH: f64 = 0.8;
/// A vehicle beside its planned path is expected to return to the path over this distance along it,
/// m.
const RETURN: f64 = 8.0;
/// Distance between the examined points of a vehicle's outline, m.
const OUTLINE_STEP: f64 = 0.5;
/// Number of lanelets ahead that are searched to find the position of a point.
const LANELETS: usize = 4;

/// The front of a vehicle, as the viewpoint from which obstacles are seen.
struct Eye {
    agent: AgentIndex,
    pose: Pose,
    /// Speed along the heading of the pose, m/s.
    speed: f64,
}

/// An obstructing body.
struct Seen {
    /// Distance from the eye to the nearest point of the body, m.
    distance: f64,
    /// Id of the agent, or 0 for an obstacle. At equal distances, the body with the smallest id is
    /// chosen, so that the order in the index does not matter.
    id: u64,
    point: DVec2,
    /// Closing speed, m/s.
    closing: f64,
}

impl View<'_> {
    /// Whether there are obstacles near the agent's current or next lanelet.
    fn is_near_obstacles(&self, agent: AgentIndex) -> bool {
        if self.ground.obstacles().is_empty() {
            return false;
        }
        let (position, lanes) = (self.position(agent), self.ground.lane_obstacles());
        let is_somewhere = !self.dynamics.rigid.displaced().is_empty();
        if position.is_on_lane() && !is_somewhere && !lanes.is_seen_from(position.lanelet) {
            return false;
        }
        !position.is_on_lane() || is_somewhere || lanes.is_watched(position.lanelet) || {
            let next = self.route(agent).lanelet(self.progress(agent).at + 1);
            next.is_some_and(|lanelet| lanes.is_watched(lanelet))
        }
    }

    /// Fills in distance, angle and closing speed of the nearest obstructing body that is not lane
    /// traffic. Vehicles on lanes are left out, because they are followed as leaders or yielded to
    /// at junctions. The pose is only computed if there is something to see.
    pub(super) fn perceive_obstacle(
        &self,
        agent: AgentIndex,
        pose: impl FnOnce() -> Pose,
        input: &mut ControllerInput,
    ) {
        // Almost always, there are neither obstacles nor free bodies nearby. Checking this takes
        // only two look-ups.
        let sees_obstacles = self.is_near_obstacles(agent);
        let sees_bodies = !self.position(agent).is_on_lane() || self.index.any_off_lane;
        let sees_standing = !self.dynamics.standing.is_empty();
        if !sees_obstacles && !sees_bodies && !sees_standing {
            return;
        }
        // In reverse, the pose is turned around, so that the vehicle looks backwards.
        let pose = pose();
        let (speed, front) = if self.is_reversing(agent) {
            (
                -self.motion(agent).speed,
                self.vehicle_type(agent).rear_overhang,
            )
        } else {
            (self.motion(agent).speed, self.vehicle_type(agent).front)
        };
        let eye = Eye {
            agent,
            pose: Pose {
                position: pose.point(front, 0.0),
                ..pose
            },
            speed,
        };
        let mut nearest = if sees_obstacles {
            self.nearest_obstacle(&eye)
        } else {
            None
        };
        if sees_standing {
            self.look_for_standing(&eye, &mut nearest);
        }
        if sees_bodies {
            self.look_for_bodies(&eye, &mut nearest);
        }
        if let Some(seen) = nearest {
            input.obstacle_distance = seen.distance;
            input.obstacle_angle = angle_to(eye.pose, seen.point);
            input.obstacle_closing_speed = seen.closing;
        }
    }

    /// Nearest point of an obstructing obstacle or tree.
    fn nearest_obstacle(&self, eye: &Eye) -> Option<Seen> {
        let accept = |point: DVec2| self.is_in_the_way(eye.agent, eye.pose, point);
        let is_on_lane = self.position(eye.agent).is_on_lane();
        let point = self.ground.obstacles().nearest(
            eye.pose.position,
            OBSTACLE_REACH,
            self.dynamics.rigid.displaced(),
            is_on_lane.then(|| self.ground.lane_obstacles().in_the_way()),
            self.whole_span(eye.agent),
            accept,
        )?;
        let offset = point - eye.pose.position;
        Some(Seen {
            distance: offset.length(),
            id: 0,
            point,
            closing: eye.speed * offset.normalize_or_zero().dot(eye.pose.forward()),
        })
    }

    /// Nearest point of an obstacle or tree ahead, whether or not it is on the agent's planned
    /// path.
    pub(super) fn standing_ahead(&self, agent: AgentIndex, pose: Pose) -> Option<DVec2> {
        let eye = pose.point(self.vehicle_type(agent).front, 0.0);
        let eye = Pose {
            position: eye,
            ..pose
        };
        self.ground.obstacles().nearest(
            eye.position,
            OBSTACLE_REACH,
            self.dynamics.rigid.displaced(),
            None,
            self.whole_span(agent),
            |point| angle_to(eye, point).abs() <= OBSTACLE_ANGLE,
        )
    }

    /// Replaces `nearest` if an uncoupled trailer is closer.
    fn look_for_standing(&self, eye: &Eye, nearest: &mut Option<Seen>) {
        let layers = self.ground.layers(self.position(eye.agent).lanelet);
        let bodies = self.bodies();
        for train in self.dynamics.standing.iter() {
            // A vehicle that reverses towards a trailer to couple it has to come close to it.
            let is_taken = || {
                self.is_reversing(eye.agent) && bodies.lines_up_with(eye.agent, train, self.types)
            };
            for (_, body) in train.bodies(self.types) {
                let point = body.closest_point(eye.pose.position);
                let offset = point - eye.pose.position;
                let distance = offset.length();
                let is_nearer = nearest.as_ref().is_none_or(|best| distance < best.distance);
                if train.layers & layers == 0
                    || distance > OBSTACLE_REACH
                    || !is_nearer
                    || !self.is_in_the_way(eye.agent, eye.pose, point)
                    || is_taken()
                {
                    continue;
                }
                *nearest = Some(Seen {
                    distance,
                    id: 0,
                    point,
                    closing: eye.speed * offset.normalize_or_zero().dot(eye.pose.forward()),
                });
            }
        }
    }

    /// Replaces `nearest` if a vehicle is closer.
    fn look_for_bodies(&self, eye: &Eye, nearest: &mut Option<Seen>) {
        let visit = |number: u32, middle: DVec2| {
            let (other, part) = self.index.body(number);
            if other == eye.agent || !self.matters(eye.agent, other) {
                return;
            }
            let theirs = self.pose(other);
            let body = match part {
                0 => self.vehicle_type(other).footprint(middle, theirs.heading),
                _ => self.bodies().body(other, part, self.types),
            };
            let stands = self.motion(other).speed.abs() < STANDING;
            let Some(point) = self.seen_point(eye, &body, stands) else {
                return;
            };
            let offset = point - eye.pose.position;
            let (distance, id) = (offset.length(), self.agents.identity[other.index()].id);
            // Distances and then ids are compared, because the index visits bodies in the order of
            // cells.
            let is_nearer = |best: &Seen| (distance, id) < (best.distance, best.id);
            if nearest.as_ref().is_none_or(is_nearer) {
                let own = eye.pose.forward() * eye.speed;
                let velocity = theirs.forward() * self.motion(other).speed;
                *nearest = Some(Seen {
                    distance,
                    id,
                    point,
                    closing: (own - velocity).dot(offset.normalize_or_zero()),
                });
            }
        };
        self.index
            .for_each_near(eye.pose.position, OBSTACLE_REACH, visit);
    }

    /// Finds the nearest point of a vehicle's outline that obstructs the agent; `None` if no point
    /// does. `stands` states whether that vehicle is stationary.
    fn seen_point(&self, eye: &Eye, body: &OrientedBox, stands: bool) -> Option<DVec2> {
        let is_seen = |point: DVec2| match stands {
            true => self.is_in_the_way(eye.agent, eye.pose, point),
            false => self.is_ahead(eye.agent, eye.pose, point),
        };
        let nearest = body.closest_point(eye.pose.position);
        if is_seen(nearest) {
            return Some(nearest);
        }
        if !self.position(eye.agent).is_on_lane() || !self.may_reach_into_lane(eye.agent, body) {
            return None;
        }
        // The nearest corner of a vehicle that stands across the road may be outside the lane that
        // it blocks.
        let corners = body.corners();
        let edges = (0..4).map(|at| (corners[at], corners[(at + 1) & 3]));
        let outline = edges.flat_map(|(from, to)| {
            let steps = ((to - from).length() / OUTLINE_STEP).ceil().max(1.0);
            (0..steps as u32).map(move |step| from.lerp(to, f64::from(step) / steps))
        });
        let distance = |point: DVec2| (point - eye.pose.position).length_squared();
        let seen = outline.filter(|&point| is_seen(point));
        seen.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    }

    /// Whether a body is close enough to the agent's lane, or to the next one, to extend into the
    /// agent's path.
    fn may_reach_into_lane(&self, agent: AgentIndex, body: &OrientedBox) -> bool {
        let kind = self.vehicle_type(agent);
        let reach = 0.5 * kind.width + SIDE_CLEARANCE + MOST_ASIDE + body.radius();
        self.ahead(agent).take(LANELETS).any(|stretch| {
            let line = self.ground.line(stretch.lanelet);
            let guess = (-stretch.distance).clamp(0.0, line.length());
            let (_, t) = line.project(body.centre, guess);
            t.abs() < reach
        })
    }

    /// Whether another vehicle counts as an obstacle. Lane traffic does not, because it is followed
    /// or yielded to.
    fn matters(&self, agent: AgentIndex, other: AgentIndex) -> bool {
        !self.position(agent).is_on_lane() || !self.position(other).is_on_lane()
    }

    /// Whether a point is ahead of an agent, regardless of its planned path.
    fn is_ahead(&self, agent: AgentIndex, eye: Pose, point: DVec2) -> bool {
        match self.position(agent).is_on_lane() {
            true => self.is_in_the_way(agent, eye, point),
            false => angle_to(eye, point).abs() <= OBSTACLE_ANGLE,
        }
    }

    /// Whether a stationary point blocks an agent on a planned path. A point blocks the agent if it
    /// is close to the path, within the braking distance, and not beyond the vehicle's front at the
    /// end of the path. Without a planned path, any point ahead blocks.
    fn is_in_planned_way(&self, agent: AgentIndex, point: DVec2) -> bool {
        let progress = self.progress(agent);
        let planned = self.route(agent).planned_to(progress.reached);
        let Some(planned) = planned.filter(|planned| !planned.sees_all) else {
            return true;
        };
        let line = planned.path.line();
        let (position, kind) = (self.position(agent), self.vehicle_type(agent));
        let front = match planned.path.is_reversing() {
            true => kind.rear_overhang,
            false => kind.front,
        };
        let speed = self.motion(agent).speed;
        let scale = kind.scale();
        let reach = front + speed * speed / (2.0 * BRAKING) + STANDSTILL * scale;
        let (s, t) = line.project(point, position.s + front);
        let ahead = s - position.s;
        // A vehicle beside its path is expected to return to it.
        let own = position.t * (1.0 - ahead / (RETURN * scale)).clamp(0.0, 1.0);
        ahead > front - PAST_FRONT * scale
            && ahead < reach
            && s < line.length() + front
            && (t - own).abs() < 0.5 * kind.width + ON_PATH * planned.margin
    }

    /// Whether a point obstructs the agent. Off the lanes, any point ahead does. On a lane, a point
    /// does if it is within half the vehicle's width of the vehicle's path.
    fn is_in_the_way(&self, agent: AgentIndex, eye: Pose, point: DVec2) -> bool {
        if angle_to(eye, point).abs() > OBSTACLE_ANGLE {
            return false;
        }
        let position = self.position(agent);
        if !position.is_on_lane() {
            return self.is_in_planned_way(agent, point);
        }
        let VehicleType { front, width, .. } = *self.vehicle_type(agent);
        let reach = 0.5 * width + SIDE_CLEARANCE;
        // A body beside a bend can be straight ahead without obstructing. Therefore the point is
        // projected onto the lanelets of the route, and its position (s, t) is used.
        for stretch in self.ahead(agent).take(LANELETS) {
            let line = self.ground.line(stretch.lanelet);
            let guess = (front - stretch.distance).clamp(0.0, line.length());
            let (s, t) = line.project(point, guess);
            if s <= line.length() {
                let ahead = stretch.distance + s > front - PAST_FRONT;
                return ahead
                    && s >= 0.0
                    && (t - position.t.clamp(-MOST_ASIDE, MOST_ASIDE)).abs() < reach;
            }
        }
        false
    }
}
