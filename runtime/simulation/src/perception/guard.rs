//! Emergency braking of vehicles that follow planned paths.
//!
//! No driver follows its path exactly. Therefore the outline of the vehicle is moved along its
//! predicted motion, up to the braking distance. If the outline would touch something, the host
//! brakes the vehicle, and the agent replans.

use super::View;
use super::open_ground::{curvature_to, planned_curvature};
use crate::open_ground::moved;
use crate::records::AgentIndex;
use crate::route::PlannedPath;
use roadwright_geometry::math::{atan, tan, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use roadwright_plugin_api::ControllerInput;
use roadwright_scenario::lane_graph::NO_LANELET;
use std::f64::consts::PI;

/// Clearance around a vehicle of typical size, m.
const CLEARANCE: f64 = 0.05;
/// Speed-dependent part of the clearance, s. A small steering error leads a fast vehicle farther to
/// the side before it stops.
const CLEARANCE_TIME: f64 = 0.02;
/// Distance added to the braking distance of a vehicle of typical size, m.
const ROOM: f64 = 0.15;
/// Lateral room that a character needs for a side step, m.
const SIDE_ROOM: f64 = 0.15;
/// Reaction time before the vehicle brakes, s.
const REACTION: f64 = 0.05;
/// Distance between the poses that are checked for a vehicle of typical size, m.
const STEP: f64 = 0.1;
/// Maximum number of poses that are checked.
const MOST_STEPS: f64 = 30.0;
/// Overlap of outlines that is ignored, as a fraction of the clearance. If the overlap is larger,
/// the vehicle may only drive away from the obstacle.
const IGNORED: f64 = 0.4;
/// Like `IGNORED`, for the bend that results from the current wheel angle.
const IGNORED_AS_IT_IS: f64 = 0.7;
/// Additional overlap that is tolerated near an obstacle, as a fraction of the clearance of a
/// stationary vehicle. It is needed because plans know the clearance only roughly.
const ROUNDING: f64 = 0.2;
/// Search distance for the centres of other vehicles around the vehicle's outline, m.
const OTHERS: f64 = 12.0;
/// Up to this speed, the wheels turn fast enough to follow the path, and the current wheel angle is
/// not checked, m/s.
const CREEPS: f64 = 0.7;
/// Lower limit for the speed that is used to compute how far the wheels turn along the path, m/s.
const ROLLING: f64 = 0.3;

/// Cosine of the largest angle between the directions of travel of a vehicle and one that follows it.
const FOLLOWS: f64 = 0.5;

/// Free distance ahead of an agent on a planned path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoomAhead {
    /// Distance that the agent can drive before it touches something, m.
    pub(crate) distance: f64,
    /// Wheel angle with which the agent can drive farthest, rad; `None` if the agent is so slow that its
    /// wheels turn in time.
    pub(crate) steering: Option<f64>,
}

/// Outline of a vehicle at a future time on its path.
#[derive(Clone, Copy)]
struct Outline {
    body: OrientedBox,
    /// Time from now, s.
    time: f64,
    /// Present outline and motion of the vehicle; `None` if only the place is checked, for example
    /// for a side step.
    drive: Option<Driven>,
}

/// Present outline and motion of a vehicle that is checked.
#[derive(Clone, Copy)]
struct Driven {
    body: OrientedBox,
    /// Direction of travel.
    forward: DVec2,
    /// Braking deceleration of the vehicle and of others, m/s^2.
    braking: f64,
}

impl Driven {
    /// Whether another body with the given velocity (m/s) approaches from behind. Braking for it
    /// would help neither vehicle.
    fn is_followed_by(&self, other: &OrientedBox, velocity: DVec2) -> bool {
        let offset = other.centre - self.body.centre;
        let direction = velocity.normalize_or_zero();
        direction.dot(self.forward) > FOLLOWS
            && offset.dot(self.forward) < -self.body.half_length
            && direction.perp_dot(offset).abs() < self.body.half_width + other.half_width
    }

    /// Returns the distances that another vehicle with the given `speed` (m/s) may have driven
    /// after `time` (s): if it drives on as before, and if it brakes at once because its driver
    /// notices this vehicle.
    fn distances(&self, speed: f64, time: f64) -> [f64; 2] {
        let until = time.min(speed.abs() / self.braking);
        let braked = speed * until - 0.5 * (self.braking * until * until).copysign(speed);
        [speed * time, braked]
    }
}

impl View<'_> {
    /// Returns how far an agent on a planned path can drive before it touches something. `None`
    /// if the agent can stop before that with a deceleration of `braking` m/s^2.
    pub(crate) fn room_on_path(
        &self,
        agent: AgentIndex,
        input: &ControllerInput,
        braking: f64,
    ) -> Option<RoomAhead> {
        if self.position(agent).is_on_lane() {
            return None;
        }
        let planned = self.route(agent).planned_to(self.progress(agent).reached)?;
        let speed = input.speed.max(0.0);
        let scale = self.vehicle_type(agent).reaction_scale();
        let reach = speed * speed / (2.0 * braking) + REACTION * speed + ROOM * scale;
        let own = self.pose(agent);
        let around = self.outline(agent, own, speed);
        let is_alone = !self.has_bodies_near(agent, &around, reach);
        if is_alone && self.is_clear_of_obstacles(&around, reach) {
            return None;
        }
        self.room_within(agent, planned, input, braking, reach)
    }

    /// Clearance around a vehicle, m. `speed` is in m/s.
    fn clearance(&self, agent: AgentIndex, speed: f64) -> f64 {
        (CLEARANCE + CLEARANCE_TIME * speed) * self.vehicle_type(agent).scale()
    }

    /// Outline of a vehicle with its rear axle at `pose`, enlarged by the clearance at `speed`
    /// (m/s).
    fn outline(&self, agent: AgentIndex, pose: Pose, speed: f64) -> OrientedBox {
        let body = self.vehicle_type(agent).covered(pose);
        let clearance = self.clearance(agent, speed);
        OrientedBox {
            half_length: body.half_length + clearance,
            half_width: body.half_width + clearance,
            ..body
        }
    }

    /// Whether a character can step to one side without touching anything. `side` is 1 for left and
    /// -1 for right.
    pub(crate) fn has_room_to_step(&self, agent: AgentIndex, side: f64) -> bool {
        let pose = self.pose(agent);
        let at = |left: f64| {
            let place = Pose {
                position: pose.point(0.0, left),
                ..pose
            };
            let body = self.outline(agent, place, 0.0);
            let outline = Outline {
                body,
                time: 0.0,
                drive: None,
            };
            self.overlap(agent, outline)
        };
        at(SIDE_ROOM * side) <= at(0.0)
    }

    fn is_clear_of_obstacles(&self, around: &OrientedBox, reach: f64) -> bool {
        let obstacles = self.ground.obstacles();
        let stands =
            self.dynamics.rigid.displaced().is_empty() && self.dynamics.standing.is_empty();
        let has_room = || obstacles.room_around(around, reach + CLEARANCE) > reach;
        stands && (obstacles.is_empty() || has_room())
    }

    fn has_bodies_near(&self, agent: AgentIndex, around: &OrientedBox, reach: f64) -> bool {
        let mut has_any = false;
        let within = around.radius() + reach + OTHERS;
        self.index
            .for_each_near(around.centre, within, |number, _| {
                has_any |= self.index.body(number).0 != agent;
            });
        has_any
    }

    fn room_within(
        &self,
        agent: AgentIndex,
        planned: &PlannedPath,
        input: &ControllerInput,
        braking: f64,
        reach: f64,
    ) -> Option<RoomAhead> {
        let limits = &self.vehicle_type(agent).limits;
        let is_reversing = planned.path.is_reversing();
        // The pose faces the direction of travel, like the controller's input row.
        let pose = self.pose_ahead(agent, is_reversing);
        let target = self.target_on(agent, planned, pose, input.speed);
        let sharpest = tan(limits.max_steering) / limits.wheelbase;
        let place = target.position;
        let wanted = match self.route(agent).exact_to(self.progress(agent).reached) {
            Some(_) => curvature_to(place, pose, input),
            None => {
                let (kind, s) = (self.vehicle_type(agent), self.position(agent).s);
                planned_curvature(planned, kind, s, place, pose, input)
            }
        };
        let wanted = wanted.clamp(-sharpest, sharpest);
        let bend = tan(input.steering) / input.wheelbase;
        let rate = limits.steering_rate / limits.wheelbase;
        let scale = self.vehicle_type(agent).reaction_scale();
        let step = (STEP * scale).max(reach / MOST_STEPS);
        let slowest = ROLLING * scale.sqrt();
        let speed = input.speed.max(0.0);
        let drive = Driven {
            body: self.outline(agent, self.pose(agent), 0.0),
            forward: pose.forward(),
            braking,
        };
        let at = |pose: Pose, time: f64| {
            let own = match is_reversing {
                true => Pose {
                    heading: wrap_angle(pose.heading + PI),
                    ..pose
                },
                false => pose,
            };
            let outline = Outline {
                body: self.outline(agent, own, speed),
                time,
                drive: Some(drive),
            };
            self.overlap(agent, outline)
        };
        let clearance = self.clearance(agent, speed);
        let now = at(pose, 0.0);
        let rounding = ROUNDING * self.clearance(agent, 0.0);
        let sweep = |wanted: f64, ignored: f64| {
            // A body that touches something must not come closer at all, otherwise it would creep into it.
            let most = (now + rounding).min(now.max(clearance)).max(ignored);
            let (mut pose, mut bend) = (pose, bend);
            let (mut travelled, mut time) = (0.0, 0.0);
            while travelled < reach {
                let rolling = (speed * speed - 2.0 * braking * travelled)
                    .max(slowest * slowest)
                    .sqrt();
                let change = rate * step / rolling;
                bend += (wanted - bend).clamp(-change, change);
                pose = moved(pose, step, bend);
                time += step / rolling;
                if at(pose, time) > most {
                    return Some(travelled);
                }
                travelled += step;
            }
            None
        };
        // A driver does not always steer as its path requires. Therefore the body must not touch
        // anything even if the wheels keep their current angle.
        let as_planned = sweep(wanted, IGNORED * clearance);
        let rolls = speed > CREEPS * scale.sqrt();
        let as_it_is = rolls
            .then(|| sweep(bend, IGNORED_AS_IT_IS * clearance))
            .flatten();
        let distance = match (as_planned, as_it_is) {
            (None, None) => return None,
            (planned, held) => planned.unwrap_or(reach).min(held.unwrap_or(reach)),
        };
        // A driver that steered otherwise while the host brakes could still touch something.
        let holds = as_it_is.unwrap_or(reach) >= as_planned.unwrap_or(reach);
        let steering = match holds {
            true => input.steering,
            false => atan(input.wheelbase * wanted),
        };
        Some(RoomAhead {
            distance,
            steering: rolls.then_some(steering),
        })
    }

    /// Maximum depth by which an outline overlaps obstacles, uncoupled trailers or other vehicles, m.
    fn overlap(&self, agent: AgentIndex, outline: Outline) -> f64 {
        let Outline { body, time, drive } = outline;
        let mut deepest = 0.0_f64;
        self.ground.obstacles().for_each_contact(
            body.centre,
            body.radius(),
            self.dynamics.rigid.displaced(),
            self.whole_span(agent),
            || body,
            |_, depth| deepest = deepest.max(depth),
        );
        let bodies = self.bodies();
        for train in self.dynamics.standing.iter() {
            for (_, other) in train.bodies(self.types) {
                deepest = deepest.max(body.penetration(&other));
            }
        }
        let within = body.radius() + OTHERS;
        self.index.for_each_near(body.centre, within, |number, _| {
            let (other, part) = self.index.body(number);
            if other == agent || !self.is_on_level_ground(other) {
                return;
            }
            let theirs = bodies.body(other, part, self.types);
            let speed = self.motion(other).speed;
            let forward = self.pose(other).forward();
            if drive.is_some_and(|drive| drive.is_followed_by(&theirs, forward * speed)) {
                return;
            }
            let distances = drive.map_or([0.0; 2], |drive| drive.distances(speed, time));
            for distance in distances {
                let there = match part {
                    0 => self.driven_on(other, &theirs, distance),
                    _ => straight_on(&theirs, forward * distance),
                };
                deepest = deepest.max(body.penetration(&there));
            }
        });
        deepest
    }

    /// Returns the outline of another vehicle after it has driven `distance` metres at its current
    /// wheel angle, or straight ahead if it is on a lane.
    fn driven_on(&self, other: AgentIndex, body: &OrientedBox, distance: f64) -> OrientedBox {
        let pose = self.pose(other);
        let kind = self.vehicle_type(other);
        if self.position(other).is_on_lane() || kind.is_disc {
            return straight_on(body, pose.forward() * distance);
        }
        let bend = tan(self.bodies().steering(other, kind)) / kind.limits.wheelbase;
        let there = moved(pose, distance, bend);
        let middle = pose.to_local(body.centre);
        OrientedBox {
            centre: there.point(middle.x, middle.y),
            forward: there.forward(),
            ..*body
        }
    }

    /// Whether an agent is off the lanes, or on a lane at ground level.
    fn is_on_level_ground(&self, agent: AgentIndex) -> bool {
        let lanelet = self.position(agent).lanelet;
        lanelet == NO_LANELET || self.ground.lanelet(lanelet).layer == 0
    }
}

/// Returns a body, moved by an offset.
fn straight_on(body: &OrientedBox, offset: DVec2) -> OrientedBox {
    OrientedBox {
        centre: body.centre + offset,
        ..*body
    }
}
