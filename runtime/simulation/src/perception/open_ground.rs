//! Perception of an agent off the lanes: its path or its goal.

use super::{View, aim};
use crate::records::AgentIndex;
use crate::route::{Goal, GroundPath};
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_plugin_api::ControllerInput;

/// A path with speeds up to this, m/s, such as into a parking bay, bends more sharply than roads. On it the
/// lookahead is limited to this many metres plus this many seconds of driving.
const MANOEUVRING_SPEED: f64 = 3.0;
const MANOEUVRING_LOOKAHEAD: f64 = 1.5;
const MANOEUVRING_TIME: f64 = 0.6;

impl View<'_> {
    /// Fills the row of an agent off the lanes. It follows the path to its next goal, or drives straight to
    /// the goal without one.
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
            (None, Some(Goal::Ground(goal))) => aim(pose, goal, input),
            (None, _) => {}
        }
    }

    /// A path over open ground is presented as the centre line of a lane that ends with it, because
    /// controllers follow both alike.
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
}
