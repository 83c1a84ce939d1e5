//! Perception of agents: the route ahead, the leader, the stop line, the nearest obstacle.
//!
//! Perception reads and never writes. Each row depends only on its agent and on the world before
//! the stage, so rows can be filled in any order and by any number of threads.
//!
//! | file | perceived |
//! | --- | --- |
//! | `courtesy.rs` | vehicles that have to change into an agent's lane, for its controller |
//! | `crossing.rs` | gaps in the traffic of a road that an agent crosses or joins from open ground |
//! | `disagreement.rs` | whether a driver off the lanes disagrees with its plan |
//! | `drive.rs` | current performance of the vehicle, for a controller that drives by pedals |
//! | `grip_ahead.rs` | bends and stopping distances on slippery ground, for its controller |
//! | `guard.rs` | the room ahead of an agent on a planned path, for emergency braking |
//! | `lane.rs` | the route ahead of an agent on a lane, for its controller |
//! | `open_ground.rs` | a goal or path off the lanes, for its controller |
//! | `path_ahead.rs` | the path ahead and the vehicle, for a controller that uses a model of the vehicle |
//! | `near.rs` | nearby objects, for a controller that requests them |
//! | `objects.rs` | all objects of the world, for `near.rs` |
//! | `points.rs` | points of the path ahead, motion and vehicle, for a controller that requests them |
//! | `obstacles.rs` | the nearest body that is not lane traffic, for its controller |
//! | `warm.rs` | nothing: prefetches the data that a batch is about to read |
//! | `behaviour.rs` | gaps beside the agent, goal and junction ahead, for its behaviour |

mod behaviour;
mod courtesy;
mod crossing;
mod disagreement;
mod drive;
mod grip_ahead;
mod guard;
mod lane;
mod near;
mod objects;
mod obstacles;
mod open_ground;
mod path_ahead;
mod points;
mod warm;

pub(crate) use guard::RoomAhead;
pub(crate) use lane::StopCause;
pub(crate) use near::ObjectScene;
pub(crate) use objects::{ObjectList, ObjectSources};
pub use path_ahead::{Travel, lateral_model};
pub(crate) use points::{KeptPaths, NeedsLists, Used, Wanted};
pub(crate) use roadwright_ground::OPEN_GROUND_SPEED;

use crate::agents::AgentsRef;
use crate::dynamics::{Bodies, Dynamics};
use crate::records::{AgentIndex, LanePosition, Motion, Progress, keeps_to_lanes};
use crate::route::{Route, Routes};
use crate::traffic::{Claims, Index, LaneEntry};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use glam::DVec2;
use roadwright_agent::{Controller, Lookahead, Module, Outlook, PathParts};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, heading_of};
use roadwright_ground::Ground;
use roadwright_plugin_api::{ControllerInput, NOTHING};
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{DynamicsLevel, VerticalSpan};
use std::f64::consts::PI;

/// Distance between the points ahead at which behaviours see the allowed speed, m.
const OUTLOOK_STEP: f64 = 2.0;
/// Behaviours see a leader up to this distance, m.
const LEADER_REACH: f64 = 200.0;

/// Maximum curvature of the path corrections that a vehicle makes at speed, 1/m: 4 m/s^2 at 10 m/s.
const SWING_CURVATURE: f64 = 0.04;
/// Lookahead time as a multiple of the time that the wheels take to turn from one side to the other. The
/// lookahead time is 1.0 s for a bus and 0.3 s for a car.
const SWING_MARGIN: f64 = 1.2;

/// Borrowed data that perception reads.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) agents: AgentsRef<'a>,
    pub(crate) routes: &'a Routes,
    pub(crate) index: &'a Index,
    pub(crate) dynamics: &'a Dynamics,
    pub(crate) claims: Option<&'a Claims>,
}

/// Like `View`, but without the agents, for stages that modify agents between perceptions.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
    pub(crate) index: &'a Index,
    pub(crate) dynamics: &'a Dynamics,
    /// State of claims at junctions, for controllers; `None` if no controller row is filled in.
    pub(crate) claims: Option<&'a Claims>,
}

impl<'a> Surroundings<'a> {
    /// Adds the current agents.
    pub(crate) fn with(self, agents: AgentsRef<'a>) -> View<'a> {
        View {
            ground: self.ground,
            types: self.types,
            agents,
            routes: self.routes,
            index: self.index,
            dynamics: self.dynamics,
            claims: self.claims,
        }
    }
}

/// Properties of a controller that determine what the controller perceives.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// Lookahead distance and time of the controller's waypoint.
    pub(crate) ahead: Lookahead,
    /// Whether the direction of the path affects the accelerations that the controller chooses.
    pub(crate) at_path: bool,
    /// Whether the controller's waypoint lies along the bend just ahead, and not on the lane.
    pub(crate) along_bend: bool,
    /// Parts into which the controller divides the path ahead, if it uses a model of its vehicle.
    pub(crate) parts: Option<PathParts>,
}

impl Look {
    /// Properties of the given controller.
    pub(crate) fn of(module: &Module<dyn Controller>) -> Self {
        Self {
            ahead: module.lookahead(),
            at_path: module.logic.looks_at_path(),
            along_bend: module.aims_along_bend(),
            parts: module.path_parts(),
        }
    }
}

/// One lanelet of the route ahead.
// distance < 0         distance            distance
//     |<-- length -->|<-- length -->|<---- length ---->|
//     |===[car]======|==============|==================|
//         ^ rear axle: distances are measured from here along the route
struct Stretch {
    lanelet: LaneletIndex,
    /// Index in the route.
    at: u32,
    /// Distance from the rear axle to the start of the lanelet, m; negative for the current
    /// lanelet.
    distance: f64,
    /// Length of the lanelet, m.
    length: f64,
    /// Whether the route ends with this lanelet.
    is_last: bool,
    /// Whether a lane change is required on this lanelet.
    changes: bool,
}

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn vehicle_type(&self, agent: AgentIndex) -> &'a VehicleType {
        self.types
            .get(self.agents.identity[agent.index()].vehicle_type)
    }

    /// Range of heights that an agent's vehicle and its trailers cover.
    fn whole_span(&self, agent: AgentIndex) -> VerticalSpan {
        self.types
            .whole_span(self.agents.identity[agent.index()].vehicle_type)
    }

    /// Id of an agent. Ties between vehicles are broken by id, because indices depend on the agents
    /// that left earlier.
    fn id(&self, entry: &LaneEntry) -> u64 {
        self.agents.identity[entry.agent.index()].id
    }

    #[inline]
    fn motion(&self, agent: AgentIndex) -> &'a Motion {
        &self.agents.motion[agent.index()]
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
    pub(crate) fn pose(&self, agent: AgentIndex) -> Pose {
        self.bodies().pose(agent)
    }

    #[inline]
    fn level(&self, agent: AgentIndex) -> DynamicsLevel {
        self.agents.identity[agent.index()].level
    }

    #[inline]
    fn position(&self, agent: AgentIndex) -> &'a LanePosition {
        &self.agents.position[agent.index()]
    }

    #[inline]
    fn progress(&self, agent: AgentIndex) -> &'a Progress {
        &self.agents.progress[agent.index()]
    }

    #[inline]
    pub(crate) fn route(&self, agent: AgentIndex) -> &'a Route {
        self.routes.get(self.progress(agent).route)
    }

    /// Whether an agent follows a path in reverse.
    pub(crate) fn is_reversing(&self, agent: AgentIndex) -> bool {
        let progress = self.progress(agent);
        !self.position(agent).is_on_lane() && self.route(agent).is_reversing(progress.reached)
    }

    /// The input row of a controller.
    pub(crate) fn controller_input(&self, agent: AgentIndex, look: Look) -> ControllerInput {
        let look = Look {
            at_path: true,
            ..look
        };
        let mut input = self.allowed_input(agent, look);
        self.apply_wish(agent, &mut input);
        input
    }

    /// Applies the lasting request of the agent's behaviour to its controller input. Returns the
    /// speed allowed by road, bends and vehicle, m/s, which does not depend on this request.
    pub(crate) fn apply_wish(&self, agent: AgentIndex, input: &mut ControllerInput) -> f64 {
        let wish = &self.agents.wish[agent.index()];
        let max_speed = self.vehicle_type(agent).limits.max_speed;
        let allowed = input.road_speed.min(max_speed);
        input.road_speed = (input.road_speed * wish.speed_factor)
            .min(wish.top_speed)
            .min(max_speed)
            .min(self.halting_speed(agent, input))
            / self.pace(agent, input);
        allowed
    }

    /// Controller input without the request of the behaviour.
    pub(crate) fn allowed_input(&self, agent: AgentIndex, look: Look) -> ControllerInput {
        let (motion, vehicle_type) = (self.motion(agent), self.vehicle_type(agent));
        // Controllers only know forward driving. A reversing agent is presented to its controller
        // as a vehicle that is turned around and drives forwards: its heading is turned by pi, its
        // speed is positive, and its wheels are mirrored. The one-track model follows the same path
        // in both directions (`dynamics/one_track.rs`), so every controller can reverse without
        // special code.
        let is_reversing = self.is_reversing(agent);
        let hand = if is_reversing { -1.0 } else { 1.0 };
        let speed = hand * motion.speed;
        let distance = look
            .ahead
            .distance
            .max(self.lookahead_time(agent, look) * speed);
        // Points and headings of lanes are rarely in the processor's cache, so they are only read
        // for controllers that need them for steering.
        let at_path = look.at_path || !keeps_to_lanes(self.level(agent));
        let mut input = ControllerInput {
            speed,
            steering: match at_path {
                true => hand * self.bodies().steering(agent, vehicle_type),
                false => 0.0,
            },
            wheelbase: vehicle_type.limits.wheelbase,
            length: vehicle_type.length,
            leader_gap: NOTHING,
            stop_distance: NOTHING,
            obstacle_distance: NOTHING,
            ..ControllerInput::default()
        };
        let pose = at_path.then(|| self.pose_ahead(agent, is_reversing));
        let pose_ahead = || pose.unwrap_or_else(|| self.pose_ahead(agent, is_reversing));
        if self.position(agent).is_on_lane() {
            self.perceive_lane(agent, pose, distance, look.along_bend, &mut input);
        } else {
            self.perceive_ground(agent, pose_ahead(), distance, &mut input);
        }
        self.perceive_obstacle(agent, pose_ahead, &mut input);
        input
    }

    /// Lookahead time of an agent's controller, s. On a lane, it is at least the time that the
    /// wheels take to turn from one side to the other. With a shorter lookahead, a bus that has
    /// been pushed aside corrects too late and weaves.
    #[inline]
    fn lookahead_time(&self, agent: AgentIndex, look: Look) -> f64 {
        if !self.position(agent).is_on_lane() {
            return look.ahead.time;
        }
        let limits = &self.vehicle_type(agent).limits;
        let swing = 2.0 * SWING_CURVATURE * limits.wheelbase / limits.steering_rate;
        look.ahead.time.max(SWING_MARGIN * swing)
    }

    /// Pose of an agent, turned by 180 degrees while the agent reverses.
    #[inline]
    fn pose_ahead(&self, agent: AgentIndex, is_reversing: bool) -> Pose {
        let mut pose = self.pose(agent);
        if is_reversing {
            pose.heading = wrap_angle(pose.heading + PI);
        }
        pose
    }

    /// Lanelets ahead along the route, up to the next required lane change.
    fn ahead(&self, agent: AgentIndex) -> impl Iterator<Item = Stretch> + 'a {
        let position = self.position(agent);
        let route = self.route(agent);
        let ground = self.ground;
        // Where two lanelets meet, projection onto the second can give a slightly negative s, which
        // would make all distances ahead too long. It is set to 0.
        let mut next = Some((
            self.progress(agent).at,
            position.lanelet,
            -position.s.max(0.0),
        ));
        std::iter::from_fn(move || {
            let (at, lanelet, distance) = next?;
            let after = route.lanelet(at + 1);
            // If the next lanelet of the route is adjacent to this one, a lane change is required first.
            // Everything after it is not straight ahead, so the iteration ends.
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

    /// Returns the lanelets that an agent is on or will reach within `distance` metres of its rear axle, up
    /// to the first lane change that its route requires.
    pub(crate) fn lanelets_ahead(
        &self,
        agent: AgentIndex,
        distance: f64,
    ) -> impl Iterator<Item = LaneletIndex> + 'a {
        let stretches = self.ahead(agent);
        let near = stretches.take_while(move |stretch| stretch.distance < distance);
        near.map(|stretch| stretch.lanelet)
    }

    /// The vehicle ahead on the route, within the range that behaviours see.
    pub(crate) fn leader(&self, agent: AgentIndex) -> Option<AgentIndex> {
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

    /// Speeds allowed by limits and bends on the route ahead.
    pub(crate) fn outlook(&self, agent: AgentIndex) -> Outlook {
        if !self.position(agent).is_on_lane() {
            return Outlook::new([OPEN_GROUND_SPEED as f32; Outlook::PARTS]);
        }
        let mut lowest = [f32::INFINITY; Outlook::PARTS];
        let reach = Outlook::PARTS as f64 * Outlook::PART;
        for stretch in self.ahead(agent) {
            if stretch.distance >= reach {
                break;
            }
            // Speeds are sampled every few metres and each part stores the lowest one. A behaviour
            // that reads the speed at some distance then does not miss a bend between two samples.
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
}

/// Sets the waypoint of a controller's row to `point`: its distance and angle from `pose`.
#[inline]
fn aim(pose: Pose, point: DVec2, input: &mut ControllerInput) {
    input.waypoint_distance = (point - pose.position).length();
    input.waypoint_angle = angle_to(pose, point);
}

/// Angle from the heading of a pose to a point, rad, positive to the left; 0 if the point is at the
/// pose.
#[inline]
fn angle_to(pose: Pose, point: DVec2) -> f64 {
    let offset = point - pose.position;
    if offset == DVec2::ZERO {
        return 0.0;
    }
    wrap_angle(heading_of(offset) - pose.heading)
}

#[cfg(test)]
mod tests;
