//! Perception of an agent off the lanes: its path or its goal.

use super::{View, aim};
use crate::records::AgentIndex;
use crate::route::{Goal, GroundPath};
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::math::{asin, sin, wrap_angle};
use roadwright_geometry::{DVec2, Pose};
use roadwright_plugin_api::ControllerInput;
use std::f64::consts::FRAC_PI_2;

/// Maximum speed of a path that counts as a manoeuvre, m/s (for example, into a parking bay). Such
/// a path bends more sharply than roads, so its lookahead is limited.
const MANOEUVRING_SPEED: f64 = 3.0;
/// Constant part of the lookahead limit on a manoeuvre, m.
const MANOEUVRING_LOOKAHEAD: f64 = 1.5;
/// Part of the lookahead limit on a manoeuvre that is proportional to the speed, s.
const MANOEUVRING_TIME: f64 = 0.6;

/// Distance of the nearest waypoint on a planned path, m.
const NEAREST: f64 = 2.0;
/// Step of the search for a waypoint, m.
const NEARER: f64 = 1.0;
/// Largest distance of a waypoint on a planned path, m. The cost of the search for the waypoint
/// grows with the square of the distance, and vehicle speeds are not limited.
const FARTHEST: f64 = 100.0;
/// Minimum tolerance by which the straight line to the waypoint may deviate from the planned path,
/// m.
const LEAST_ROOM: f64 = 0.1;

/// Returns the largest distance along a path at which a straight line from a place to the path
/// stays close enough to the path, m. It is at most `most` and [`FARTHEST`].
fn straight_reach(line: CentreLine<'_>, s: f64, place: DVec2, most: f64, room: f64) -> f64 {
    let most = most.min(FARTHEST);
    let mut reach = NEAREST.min(most);
    let mut next = reach;
    loop {
        next = (next + NEARER).min(most);
        if next <= reach {
            return reach;
        }
        let end = line.position(s + next);
        let chord = (end - place).normalize_or_zero();
        let steps = next.floor() as u32;
        let is_near = (1..steps).all(|step| {
            let offset = line.position(s + f64::from(step)) - place;
            // A vehicle beside its path is expected to return to it.
            let share = 1.0 - f64::from(step) / next;
            let own = chord.perp_dot(line.position(s) - place).abs() * share;
            chord.perp_dot(offset).abs() <= room + own
        });
        if !is_near {
            return reach;
        }
        reach = next;
    }
}

/// Moves the waypoint of a row to the distance that the controller wants, along the circle that
/// leads to the waypoint.
///
/// A nearby point shows how sharply a driver has to steer. However, fuzzy drivers mistake a near waypoint for
/// the end of the route, where they creep and stop turning. The sine of the angle grows at most by a factor
/// of `sharpest`, because drivers do not steer exactly towards far waypoints.
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

impl View<'_> {
    /// Fills the row of an agent off the lanes. It follows the path to its next goal, or drives straight to
    /// the goal if there is no path.
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

    /// Presents a path over open ground as the centre line of a lane that ends where the path ends.
    /// Controllers follow both in the same manner.
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
        let speed = path.speed(position.s);
        // A waypoint 4.5 m ahead would cut the corner of a path into a bay, whose curves are no longer than
        // that. At 1 m/s this looks 2.1 m ahead.
        let lookahead = if speed <= MANOEUVRING_SPEED {
            lookahead.min(MANOEUVRING_LOOKAHEAD + MANOEUVRING_TIME * input.speed)
        } else {
            lookahead
        };
        input.lane_offset = position.t;
        input.heading_error = wrap_angle(pose.heading - here);
        input.road_speed = speed * self.open_ground_share(agent);
        let planned = self.route(agent).planned_to(self.progress(agent).reached);
        let reach = planned.map_or(lookahead, |planned| {
            let room = planned.margin.max(LEAST_ROOM);
            let most = planned.near + planned.ahead * input.speed.max(0.0);
            straight_reach(line, position.s, pose.position, most, room)
        });
        let left = line.length() - position.s;
        let target = if reach <= left {
            line.pose(position.s + reach)
        } else {
            let end = line.pose(line.length());
            Pose {
                position: end.point(reach - left, 0.0),
                heading: end.heading,
            }
        };
        aim(pose, target.position, input);
        if planned.is_some()
            && let Some(distance) = self.wait_before_road(agent, path)
        {
            input.stop_distance = distance;
        }
        if let Some(planned) = planned {
            move_away(lookahead, planned.sharpest, input);
        }
        input.path_curvature = wrap_angle(target.heading - here) / reach;
    }
}
