//! Perception of an agent off the lanes: the path, or the goal if there is no path.

use super::{View, aim};
use crate::open_ground::moved;
use crate::records::AgentIndex;
use crate::route::{Goal, GroundPath, PlannedPath};
use crate::vehicle_type::VehicleType;
use roadwright_control::laws::STOP_GAP;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::math::{asin, sin, tan, wrap_angle};
use roadwright_geometry::{DVec2, Pose, heading_of};
use roadwright_plugin_api::ControllerInput;
use roadwright_scenario::DynamicsLevel;
use std::f64::consts::FRAC_PI_2;

/// Speed below which a path counts as a manoeuvre, for example into a parking bay, m/s. Manoeuvres have
/// sharper bends than roads, so their lookahead is limited.
const MANOEUVRING_SPEED: f64 = 3.0;
/// Constant part of the lookahead limit on a manoeuvre, m.
const MANOEUVRING_LOOKAHEAD: f64 = 1.5;
/// Part of the lookahead limit on a manoeuvre that is proportional to the speed, s.
const MANOEUVRING_TIME: f64 = 0.6;

/// Constant part of the minimum waypoint distance on a planned path, m.
const NEAREST: f64 = 2.0;
/// Part of the minimum waypoint distance that is proportional to the speed, s.
const NEAREST_TIME: f64 = 0.3;
/// Step of the search for a waypoint, as a fraction of the minimum waypoint distance.
const NEARER: f64 = 0.5;
/// Largest waypoint distance on a planned path, m. The cost of the waypoint search grows with the
/// square of the distance, and vehicle speeds are not limited.
const FARTHEST: f64 = 100.0;
/// Maximum distance between a planned path and the straight line to the waypoint, as a fraction of the path's
/// margin.
const ROOM_SHARE: f64 = 0.5;
/// Distance between the path and the straight line to the waypoint that is allowed even if the
/// path's margin is small, m.
const LEAST_ROOM: f64 = 0.05;
/// Preview time for steering on a planned path, s. It compensates for the time that the wheels take to turn.
const FORESIGHT: f64 = 0.15;

/// A driver on a planned path adapts to the speed of the path this time ahead, s.
const SPEED_LEAD: f64 = 0.4;

/// Constant part of the distance over which the curvature of an exact path is averaged, m.
const EXACT_AHEAD: f64 = 0.1;
/// Part of the averaging distance of an exact path that is proportional to the speed, s.
const EXACT_AHEAD_TIME: f64 = 0.6;
/// A vehicle of typical length returns to an exact path within this distance, m.
const EXACT_RETURN: f64 = 1.0;

/// Limits of the waypoint distance on a planned path, m.
#[derive(Debug, Clone, Copy)]
struct Reach {
    least: f64,
    most: f64,
    /// Step of the search for the waypoint, m.
    step: f64,
    /// Maximum distance between the path and the straight line to the waypoint, m.
    room: f64,
}

impl Reach {
    fn of(planned: &PlannedPath, kind: &VehicleType, speed: f64) -> Self {
        let scale = kind.reaction_scale();
        let (near, speed) = (planned.near.min(NEAREST * scale), speed.max(0.0));
        Self {
            least: near + NEAREST_TIME * scale.sqrt() * speed,
            most: (planned.near + planned.ahead * speed).min(FARTHEST),
            step: NEARER * near,
            room: (ROOM_SHARE * planned.margin).max(LEAST_ROOM),
        }
    }

    /// Returns the farthest distance along a path such that the straight line from `place` to this
    /// point stays near the path, m.
    fn straight(self, line: CentreLine<'_>, s: f64, place: DVec2) -> f64 {
        let mut reach = self.least.min(self.most);
        let mut next = reach;
        loop {
            next = (next + self.step).min(self.most);
            if next <= reach {
                return reach;
            }
            let end = line.position(s + next);
            let chord = (end - place).normalize_or_zero();
            let steps = (next / self.step).floor() as u32;
            let is_near = (1..steps).all(|step| {
                let along = self.step * f64::from(step);
                let offset = line.position(s + along) - place;
                // A vehicle beside its path gradually returns to the path.
                let share = 1.0 - along / next;
                let own = chord.perp_dot(line.position(s) - place).abs() * share;
                chord.perp_dot(offset).abs() <= self.room + own
            });
            if !is_near {
                return reach;
            }
            reach = next;
        }
    }
}

/// Moves the waypoint of a row to the distance that the controller wants, along the circle through
/// the vehicle and the waypoint.
///
/// A nearby point shows how sharply a driver has to steer. However, fuzzy drivers mistake a nearby
/// waypoint for the end of the route, near which they creep and stop turning. The sine of the angle
/// grows by at most a factor of `sharpest`, because drivers do not steer exactly towards distant
/// waypoints.
fn move_away(distance: f64, sharpest: f64, input: &mut ControllerInput) {
    let near = input.waypoint_distance;
    if input.waypoint_angle.abs() >= FRAC_PI_2 || near >= distance {
        input.waypoint_distance = near.max(distance);
        return;
    }
    let sharper = (distance / near.max(0.5)).min(sharpest);
    let sine = sin(input.waypoint_angle) * sharper;
    input.waypoint_angle = asin(sine.clamp(-1.0, 1.0));
    input.waypoint_distance = distance;
}

/// Returns the pose at a distance along a line. Beyond the end, the line continues straight.
pub(super) fn beyond(line: CentreLine<'_>, s: f64) -> Pose {
    if s <= line.length() {
        return line.pose(s);
    }
    let end = line.pose(line.length());
    Pose {
        position: end.point(s - line.length(), 0.0),
        heading: end.heading,
    }
}

/// Curvature of the circle that takes a vehicle to a target, 1/m. Allows for the time that the
/// wheels need to turn.
pub(super) fn curvature_to(target: DVec2, pose: Pose, input: &ControllerInput) -> f64 {
    let bend = tan(input.steering) / input.wheelbase;
    let soon = moved(pose, FORESIGHT * input.speed.max(0.0), bend);
    let offset = target - soon.position;
    let angle = wrap_angle(heading_of(offset) - soon.heading);
    match angle.abs() < FRAC_PI_2 {
        true => 2.0 * sin(angle) / offset.length().max(0.1),
        // The target cannot be reached, so the vehicle turns as sharply as it can.
        false => f64::INFINITY.copysign(angle),
    }
}

/// Mean curvature of a path just ahead of a position, 1/m. It is measured ahead because the wheels take time
/// to turn.
pub(super) fn curvature_ahead(path: &GroundPath, s: f64, speed: f64) -> f64 {
    curvature_within(path, s, speed, 1.0)
}

/// Like `curvature_ahead`, for a vehicle whose distances are scaled by `scale`.
fn curvature_within(path: &GroundPath, s: f64, speed: f64, scale: f64) -> f64 {
    let time = EXACT_AHEAD_TIME * scale.sqrt();
    path.curvature(s, s + EXACT_AHEAD * scale + time * speed.max(0.0))
}

/// Speed below which a vehicle of typical length follows the bends of its path exactly, m/s. If
/// such a vehicle steered for a waypoint in a bend ahead, it would turn more sharply than its path
/// and hit the obstacle that the path avoids.
const SLOW: f64 = 1.0;

/// Like `SLOW`, for a character, m/s.
const SLOW_ON_FOOT: f64 = 0.2;

/// Steering curvature of a vehicle on a planned path, 1/m. `target` is its waypoint.
pub(super) fn planned_curvature(
    planned: &PlannedPath,
    kind: &VehicleType,
    s: f64,
    target: DVec2,
    pose: Pose,
    input: &ControllerInput,
) -> f64 {
    let scale = kind.reaction_scale();
    let slow = match kind.is_disc {
        true => SLOW_ON_FOOT,
        false => SLOW * scale.sqrt(),
    };
    match input.speed < slow {
        true => exact_curvature(&planned.path, s, input, scale),
        false => curvature_to(target, pose, input),
    }
}

/// Steering curvature that brings a vehicle back to a path that it has to follow exactly, 1/m.
fn exact_curvature(path: &GroundPath, s: f64, input: &ControllerInput, scale: f64) -> f64 {
    let back = EXACT_RETURN * scale;
    let errors = 2.0 * input.heading_error + input.lane_offset / back;
    curvature_within(path, s, input.speed, scale) - errors / back
}

impl View<'_> {
    /// Fills in the controller input of an agent off the lanes. The agent follows the path to its
    /// next goal, or drives straight to the goal if there is no path.
    pub(super) fn perceive_ground(
        &self,
        agent: AgentIndex,
        pose: Pose,
        lookahead: f64,
        input: &mut ControllerInput,
    ) {
        input.road_speed = self.open_ground_speed(agent);
        let (route, reached) = (self.route(agent), self.progress(agent).reached);
        match (route.path_to(reached), route.next_goal(reached)) {
            (Some(path), _) => self.perceive_path(agent, pose, path, lookahead, input),
            (None, Some(goal @ (Goal::Ground(_) | Goal::Join { .. }))) => {
                aim(pose, goal.position(self.ground.graph()), input);
            }
            (None, _) => {}
        }
    }

    /// Returns the position of an agent's waypoint along a planned path, m. `pose` faces the
    /// direction of travel; `speed` is in m/s.
    fn reach_on(&self, agent: AgentIndex, planned: &PlannedPath, pose: Pose, speed: f64) -> f64 {
        let s = self.position(agent).s;
        let reach = Reach::of(planned, self.vehicle_type(agent), speed);
        reach.straight(planned.path.line(), s, pose.position)
    }

    /// Returns the pose on a planned path that an agent steers towards. `pose` faces the direction
    /// of travel; `speed` is in m/s.
    pub(super) fn target_on(
        &self,
        agent: AgentIndex,
        planned: &PlannedPath,
        pose: Pose,
        speed: f64,
    ) -> Pose {
        let reach = self.reach_on(agent, planned, pose, speed);
        beyond(planned.path.line(), self.position(agent).s + reach)
    }

    /// Speed that an agent's controller would choose for the angle to its waypoint, as a fraction
    /// of the allowed speed. The speeds of planned paths already take bends into account, so an
    /// agent whose controller also slows down in bends may be given a higher allowed speed.
    pub(super) fn pace(&self, agent: AgentIndex, input: &ControllerInput) -> f64 {
        if self.position(agent).is_on_lane() {
            return 1.0;
        }
        let planned = self.route(agent).planned_to(self.progress(agent).reached);
        let response = planned.and_then(|planned| planned.response.as_ref());
        response.map_or(1.0, |response| response.pace(input.waypoint_angle))
    }

    /// Presents a path over open ground to the controller as the centre line of a lane that ends
    /// with the path, so that controllers treat paths like lanes.
    fn perceive_path(
        &self,
        agent: AgentIndex,
        pose: Pose,
        path: &GroundPath,
        lookahead: f64,
        input: &mut ControllerInput,
    ) {
        let position = self.position(agent);
        let line = path.line();
        let here = line.heading(position.s);
        let reached = self.progress(agent).reached;
        let (route, planned) = (self.route(agent), self.route(agent).planned_to(reached));
        let exact = route.exact_to(reached);
        let speed =
            match exact.is_none() && planned.is_some_and(|planned| planned.response.is_some()) {
                // While the speed decreases, drivers lag behind.
                true => {
                    let soon = position.s + SPEED_LEAD * input.speed.max(0.0);
                    path.speed(position.s).min(path.speed(soon))
                }
                false => path.speed(position.s),
            };
        // A waypoint 4.5 m ahead would cut the corners of a path into a parking bay, whose curves
        // are shorter than that. With this limit, the waypoint is 2.1 m ahead at 1 m/s.
        let lookahead = if speed <= MANOEUVRING_SPEED {
            lookahead.min(MANOEUVRING_LOOKAHEAD + MANOEUVRING_TIME * input.speed)
        } else {
            lookahead
        };
        input.lane_offset = position.t;
        input.heading_error = wrap_angle(pose.heading - here);
        input.road_speed = speed * self.open_ground_share(agent);
        let reach = planned.map_or(lookahead, |planned| {
            self.reach_on(agent, planned, pose, input.speed)
        });
        let target = beyond(line, position.s + reach);
        aim(pose, target.position, input);
        if let Some(planned) = planned {
            if let Some(distance) = self.wait_before_road(agent, path) {
                input.stop_distance = distance;
            }
            if self.level(agent) == DynamicsLevel::Walker {
                // Controllers stop short of a line, but a character stops at the end of its path.
                let left = (line.length() - position.s).max(0.0) + STOP_GAP;
                input.stop_distance = input.stop_distance.min(left);
            }
            match &planned.response {
                Some(response) => {
                    let curvature = match exact {
                        Some(_) => exact_curvature(path, position.s, input, 1.0),
                        None => {
                            let kind = self.vehicle_type(agent);
                            planned_curvature(
                                planned,
                                kind,
                                position.s,
                                target.position,
                                pose,
                                input,
                            )
                        }
                    };
                    input.waypoint_angle = response.angle(input.speed, curvature);
                    input.waypoint_distance = response.distance();
                }
                None => move_away(lookahead, planned.sharpest, input),
            }
        }
        input.path_curvature = wrap_angle(target.heading - here) / reach;
    }
}
