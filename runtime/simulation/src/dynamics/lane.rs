//! Level `lane`: a point that follows its lane, for large amounts of traffic.
//!
//! Its state consists of lanelet, s, t and speed. The pose is computed on demand, and steering is
//! ignored. A lane change is a smooth profile of t that reaches 0 before a connection begins.

use super::{Bodies, Body, Dynamics, Level, LevelStep, RecordedSlip, STANDING};
use crate::records::{AgentIndex, Aside, LanePosition, Motion};
use crate::vehicle_type::VehicleType;
use roadwright_geometry::Pose;
use roadwright_geometry::math::atan;
use roadwright_ground::Ground;
use roadwright_scenario::DynamicsLevel;
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_vehicle::{Effort, Grade, at_rest, moving_time};
use serde::{Deserialize, Serialize};

/// Maximum time that a command is held, s. It is shorter than the reaction time of drivers, and at
/// 50 km/h, a vehicle drives less than 3 m in this time. Between commands, a body is extrapolated
/// without reading the ground or its route.
const STRIDE: f64 = 0.2;
/// Duration of a lane change, s.
const CHANGE_TIME: f64 = 3.0;
/// Minimum length of a lane change, as a multiple of the distance from rear axle to front. Only
/// lane changes before a junction are shorter.
const CHANGE_LENGTHS: f64 = 4.0;
/// A lane change may begin only at this distance or more before the end of a lane, m. The distance
/// is short enough for a vehicle whose front has stopped at the end.
const CHANGE_ROOM: f64 = 4.0;
/// Speed below which the wheels are shown straight, m/s.
const CRAWLING: f64 = 0.1;

/// The level of bodies that follow their lane.
pub(crate) struct Lane;

/// State of an agent at this level.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct LaneState {
    // Single precision saves memory when there are many thousands of records. It resolves offsets
    // of a micrometre, and the position at which extrapolation stops is rounded down.
    /// Acceleration in this stride, m/s^2.
    acceleration: f32,
    /// Lateral offset at which the lane change began, m to the left of the new lane.
    from: f32,
    /// Completed fraction of the lane change, 0 to 1.
    done: f32,
    /// Direction during the lane change: metres to the left for each metre along the lane.
    slope: f32,
    /// Curvature of the lane at the start of this stride, 1/m. Extrapolated and fully computed
    /// bodies use the same value.
    curvature: f32,
    /// The body is extrapolated in this stride, instead of being recomputed, until it reaches this
    /// position on the lanelet, m; 0 if every step is computed in full.
    rolls_to: f32,
    rolls_on: LaneletIndex,
    /// Whether a slope kept the vehicle from accelerating as its driver wanted in this stride.
    is_too_steep: bool,
}

impl Level for Lane {
    type State = LaneState;
    type States = Vec<LaneState>;

    const LEVEL: DynamicsLevel = DynamicsLevel::Lane;
    const READS_LINES: bool = false;
    const CHANGE_ROOM: f64 = CHANGE_ROOM;

    fn states(dynamics: &Dynamics) -> &Self::States {
        &dynamics.lane
    }

    fn states_mut(dynamics: &mut Dynamics) -> &mut Self::States {
        &mut dynamics.lane
    }

    fn stride(dt: f64) -> u32 {
        // The number of steps that fit into the stride, with a small tolerance for rounding.
        ((STRIDE / dt * (1.0 + 1e-9)) as u32).max(1)
    }

    #[inline]
    fn roll(
        state: &LaneState,
        motion: &mut Motion,
        position: &mut LanePosition,
        dt: f64,
    ) -> Option<f64> {
        let is_before = position.s < f64::from(state.rolls_to);
        let may_roll = position.lanelet == state.rolls_on && is_before && position.t == 0.0;
        if !may_roll {
            return None;
        }
        let before = motion.speed;
        if before == 0.0 {
            motion.acceleration = 0.0;
            return Some(0.0);
        }
        let speed = before + f64::from(state.acceleration) * dt;
        let distance = 0.5 * (before + speed) * dt;
        if speed < STANDING || position.s + distance >= f64::from(state.rolls_to) {
            return None;
        }
        motion.acceleration = (speed - before) / dt;
        motion.speed = speed;
        motion.yaw_rate = speed * f64::from(state.curvature);
        position.s += distance;
        Some(distance)
    }

    #[inline]
    fn let_roll(
        state: &mut LaneState,
        motion: &Motion,
        position: &LanePosition,
        vehicle_type: &VehicleType,
        until: f64,
    ) {
        let speed = motion.speed;
        // Steps in which a body starts, stops or reaches its top speed are computed in full.
        let stands = speed == 0.0 && state.acceleration <= 0.0;
        let fastest = speed + f64::from(state.acceleration) * STRIDE;
        let is_even = speed >= STANDING && fastest <= vehicle_type.limits.max_speed;
        let may_roll = position.t == 0.0 && (stands || is_even);
        state.rolls_on = position.lanelet;
        // Rounded down, because the body must not be extrapolated beyond the end.
        state.rolls_to = if may_roll {
            (until as f32).next_down()
        } else {
            0.0
        };
    }

    #[inline]
    fn advance(state: &mut LaneState, body: Body<'_>, step: LevelStep<'_>) -> Option<f64> {
        if step.begins {
            state.acceleration = given(state, &body, step) as f32;
            let position = &*body.position;
            state.curvature = step.ground.curvature(position.lanelet, position.s) as f32;
        }
        let (motion, position) = (body.motion, body.position);
        let limits = &body.vehicle_type.limits;
        let before = motion.speed;
        let acceleration = f64::from(state.acceleration);
        let wanted = before + acceleration * step.dt;
        motion.speed = at_rest(wanted.clamp(0.0, limits.max_speed), acceleration);
        // Within a stride the acceleration is constant, so the mean of the two speeds gives the exact
        // distance. The body reaches the same place with steps of 10 ms and of 50 ms.
        let distance = 0.5 * (before + motion.speed) * moving_time(before, wanted, step.dt);
        motion.acceleration = (motion.speed - before) / step.dt;
        motion.yaw_rate = motion.speed * f64::from(state.curvature);
        if body.aside != Aside::default() && position.may_change_lane() {
            state.lead(body.aside, motion.speed);
            position.t = f64::from(body.aside.now);
        } else if position.t != 0.0 {
            let room = room_before_junction(step.ground, position);
            let front = body.vehicle_type.front;
            position.t = state.drift(position.t, distance, motion.speed, front, room);
        }
        Some(distance)
    }

    #[inline]
    fn pose(bodies: &Bodies<'_>, agent: AgentIndex) -> Pose {
        let index = agent.index();
        let position = &bodies.agents.position[index];
        pose(&bodies.dynamics.lane[index], bodies.ground, position)
    }

    #[inline]
    fn steering(bodies: &Bodies<'_>, agent: AgentIndex, vehicle_type: &VehicleType) -> f64 {
        let Motion {
            speed, yaw_rate, ..
        } = bodies.agents.motion[agent.index()];
        // Wheel angle of a one-track vehicle in this bend. At rest, it has no meaning.
        if yaw_rate == 0.0 || speed < CRAWLING {
            return 0.0;
        }
        atan(vehicle_type.limits.wheelbase * yaw_rate / speed)
    }

    fn recorded_slip(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> RecordedSlip {
        RecordedSlip {
            sideways: None,
            yaw_rate: Some(bodies.agents.motion[agent.index()].yaw_rate),
        }
    }
}

/// Acceleration that results from command, engine, brakes, grip and slope, m/s^2.
#[inline]
fn given(state: &mut LaneState, body: &Body<'_>, step: LevelStep<'_>) -> f64 {
    let (ground, limits) = (step.ground, &body.vehicle_type.limits);
    if ground.slopes().is_some() {
        state.is_too_steep = false;
        let pose = pose(state, ground, body.position);
        if let Some(grade) = body.grade(ground, pose) {
            let given = on_slope(&grade, body, step.dt);
            state.is_too_steep = given < 0.0 && body.wish() > 0.0;
            return given;
        }
    }
    let given = limits.acceleration(body.wish());
    if !ground.has_grip() {
        return given;
    }
    let hardest = grip_here(ground, body.position) * body.vehicle_type.hardest();
    given.clamp(-hardest, hardest)
}

/// Like `given`, but on a slope. Lanes are not driven in reverse, so a vehicle that would roll back stands
/// still.
fn on_slope(grade: &Grade, body: &Body<'_>, dt: f64) -> f64 {
    let speed = body.motion.speed;
    let effort = grade.effort(speed, &body.ask(), dt);
    let share = (grade.hardest / effort.along_tyres()).min(1.0);
    let Effort { drive, brake } = effort.shortened(share);
    let net = drive + grade.pull;
    // Brakes hold the vehicle but never push it.
    if speed == 0.0 && net.abs() <= brake {
        0.0
    } else {
        net - brake
    }
}

impl LaneState {
    /// Ends the extrapolation because the vehicle's place or the roads have changed. The next step
    /// computes the body in full.
    pub(super) fn stop_rolling(&mut self) {
        self.rolls_to = 0.0;
    }

    /// Whether the slope prevents the acceleration that the driver wants.
    pub(super) fn is_held(&self) -> bool {
        self.is_too_steep
    }

    /// Returns the next lateral offset of a body, m to the left. `t` is the current offset. The
    /// body advances by `distance` and has to be on the centre line within `room` metres. `front`
    /// is the distance from the rear axle to the front, m.
    fn drift(&mut self, t: f64, distance: f64, speed: f64, front: f64, room: f64) -> f64 {
        // The profile follows from its start and its progress. If t does not match the profile, a
        // new one begins.
        if t != self.t() {
            // The body has begun to change lanes, or was moved.
            (self.from, self.done) = (t as f32, 0.0);
        }
        // Progress depends on distance and not on time, so a standing vehicle does not slide sideways. At 14
        // m/s, a change takes 42 m, and below 5 m/s a car takes 15 m. Before a junction, the change is as
        // fast as it has to be, because connections have no adjacent lane.
        let in_time = 1.0 / (CHANGE_TIME * speed).max(CHANGE_LENGTHS * front);
        let done = f64::from(self.done);
        let rate = in_time.max((1.0 - done) / room.max(distance));
        self.done = (done + distance * rate).min(1.0) as f32;
        self.slope = self.slope_with(front, rate) as f32;
        self.t()
    }

    /// Takes over the lateral offset of the guided line, and its slope at `speed` (m/s).
    fn lead(&mut self, aside: Aside, speed: f64) {
        self.slope = match speed > STANDING {
            true => aside.rate / speed as f32,
            false => 0.0,
        };
    }

    fn t(&self) -> f64 {
        self.t_at(f64::from(self.done))
    }

    /// Lateral offset after the fraction `x` of the lane change, m: a fifth-order polynomial whose
    /// direction and curvature are continuous at both ends.
    fn t_at(&self, x: f64) -> f64 {
        let from = f64::from(self.from);
        let left = 1.0 - x;
        // from * (1 - 10 x^3 + 15 x^4 - 6 x^5), factored so that it is exactly 0 at x = 1, without rounding
        // errors.
        from * left * left * left * (1.0 + x * (3.0 + 6.0 * x))
    }

    /// Slope of t along the body. The front is placed on the curve that the rear axle will follow, so that a
    /// long vehicle does not swing out beyond the new lane. At both ends of the lane change, the front leads
    /// by less, so that the heading does not jump.
    fn slope_with(&self, front: f64, rate: f64) -> f64 {
        let done = f64::from(self.done);
        let lead = (front * rate).min(done).min(1.0 - done);
        (self.t_at(done + lead) - self.t_at(done)) / front
    }
}

/// Grip of the ground below a body.
fn grip_here(ground: &Ground, position: &LanePosition) -> f64 {
    let place = ground.line(position.lanelet).position(position.s);
    ground.grip_on(place, ground.layers(position.lanelet))
}

/// Remaining length of a body's lane if a junction follows it, m; infinite otherwise.
fn room_before_junction(ground: &Ground, position: &LanePosition) -> f64 {
    let graph = ground.graph();
    let next = graph.successors(position.lanelet).first();
    if next.is_some_and(|&next| graph.lanelet(next).is_connection()) {
        ground.length(position.lanelet) - position.s
    } else {
        f64::INFINITY
    }
}

/// Pose of a body.
fn pose(state: &LaneState, ground: &Ground, position: &LanePosition) -> Pose {
    let on_lane = ground.line(position.lanelet).pose(position.s);
    if position.t == 0.0 {
        return on_lane;
    }
    Pose {
        position: on_lane.point(0.0, position.t),
        heading: on_lane.heading + atan(f64::from(state.slope)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Command;
    use crate::testing::Stand;
    use proptest::prelude::*;

    #[test]
    fn a_stride_is_a_fifth_of_a_second_or_a_step() {
        let strides = [0.001, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 1.0].map(Lane::stride);
        assert_eq!(strides, [200, 20, 10, 6, 4, 2, 1, 1]);
    }

    /// Distances from the rear axle to the front of a car and of a bus, m.
    const FRONTS: [f64; 2] = [3.7, 8.0];

    /// Creates a car with a top speed of 14 m/s on a straight road of 200 m.
    fn road() -> (Stand, VehicleType, LaneletIndex) {
        let stand = Stand::on(&[((0.0, 0.0), (200.0, 0.0), 1, 0)]);
        let mut vehicle_type = *stand.types.get(0);
        vehicle_type.limits.max_speed = 14.0;
        let lanelet = stand.lanes_from_the_right()[0];
        (stand, vehicle_type, lanelet)
    }

    proptest! {
        #[test]
        fn rolling_is_what_looking_at_each_step_gives(
            speed in 0.0..15.0f64, acceleration in -8.0..3.0f64, s in 0.0..200.0f64, dt in 0.001..0.05f64,
        ) {
            let (stand, vehicle_type, lanelet) = road();
            let place = LanePosition { lanelet, s, ..LanePosition::default() };
            let command = Command { acceleration, steering: 0.0 };
            let drive = |rolls: bool| {
                let mut state = LaneState::default();
                let (mut motion, mut position) = (Motion { speed, ..Motion::default() }, place);
                let mut rolled = 0;
                for step in 0..Lane::stride(dt) {
                    if rolls && Lane::roll(&state, &mut motion, &mut position, dt).is_some() {
                        rolled += 1;
                        continue;
                    }
                    let body = Body {
                        motion: &mut motion,
                        position: &mut position,
                        command: &command,
                        pedals: None,
                        vehicle_type: &vehicle_type,
                        drive_train: None,
                        gaits: None,
                        is_reversing: false,
                        aside: Aside::default(),
                    };
                    let step = LevelStep {
                        ground: &stand.ground,
                        dt,
                        physics_rate_hz: 100.0,
                        begins: step == 0,
                    };
                    position.s += Lane::advance(&mut state, body, step).unwrap_or(0.0);
                    if rolls {
                        let end = stand.ground.length(lanelet);
                        Lane::let_roll(&mut state, &motion, &position, &vehicle_type, end);
                    }
                }
                (motion, position, rolled)
            };
            let (slow, quick) = (drive(false), drive(true));
            prop_assert_eq!(&slow.0, &quick.0);
            prop_assert_eq!(&slow.1, &quick.1);
            // A stride that begins well within the lane and away from standstill and top speed is
            // extrapolated, except for its first step.
            let is_even = (2.0..13.0).contains(&speed) && s < 190.0;
            prop_assert!(!is_even || quick.2 == Lane::stride(dt) - 1, "{} steps", quick.2);
        }

        #[test]
        fn a_change_of_lane_is_smooth_and_takes_three_seconds(
            speed in 0.0..30.0f64, from in -4.0..4.0f64, front in prop::sample::select(&FRONTS[..]),
        ) {
            prop_assume!(from.abs() > 0.1);
            let (mut state, mut t) = (LaneState::default(), from);
            let (mut time, mut steepest, dt) = (0.0, 0.0f64, 0.1);
            while t != 0.0 && time < 60.0 {
                let before = f64::from(state.slope);
                let next = state.drift(t, speed * dt, speed, front, f64::INFINITY);
                // The offset never grows and never crosses the centre line, and neither does the
                // offset of the front.
                prop_assert!(next.abs() <= t.abs() + 1e-6 && next * from >= 0.0);
                let slope = f64::from(state.slope);
                let at_front = next + slope * front;
                prop_assert!(at_front * from > -1e-5, "{at_front} from {from}");
                // The body turns like a vehicle in a bend with a radius of at least 5 m.
                let turned = (slope - before).abs();
                prop_assert!(turned <= 0.2 * speed.max(1.0) * dt, "{turned}");
                steepest = steepest.max(slope.abs());
                (t, time) = (next, time + dt);
            }
            if speed > 1.0 {
                prop_assert!(t == 0.0 && time > 2.9, "{time} s");
            }
            // The body does not slide sideways.
            prop_assert!(steepest < 0.51, "{steepest}");
        }

        #[test]
        fn a_change_of_lane_is_done_before_the_junction(
            speed in 0.1..30.0f64, from in -3.5..3.5f64, room in CHANGE_ROOM..60.0f64,
            front in prop::sample::select(&FRONTS[..]),
        ) {
            let (mut state, mut t, mut s, mut steepest) = (LaneState::default(), from, 0.0, 0.0f64);
            let distance = speed * 0.1;
            while s + distance < room {
                let next = state.drift(t, distance, speed, front, room - s);
                prop_assert!(next.abs() <= t.abs() + 1e-6);
                steepest = steepest.max(f64::from(state.slope).abs());
                (t, s) = (next, s + distance);
            }
            // The remaining offset is less than the last step can cover.
            prop_assert!(t.abs() <= distance, "{t} m off at {s} of {room} m");
            prop_assert!(steepest < 1.0, "{steepest}");
        }
    }
}
