//! The lane level: a point that follows its lane, for traffic at scale.
//!
//! It keeps lanelet, s, t and speed; a pose is made when somebody reads it. Steering is ignored.
//! A change of lane is a smooth profile of t that is done where a connection begins: there t is 0.

use super::{Body, Level, LevelStep, STANDING};
use crate::ground::Ground;
use crate::records::{Aside, LanePosition, Motion};
use crate::vehicle_type::VehicleType;
use roadwright_geometry::Pose;
use roadwright_geometry::math::atan;
use roadwright_scenario::DynamicsLevel;
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_vehicle::{Effort, Grade, at_rest, moving_time};
use serde::{Deserialize, Serialize};

/// Time for which a command is held at most, s: less than drivers take to react, and at 50 km/h less than 3 m.
/// In between a body rolls on, and neither the ground nor its route is looked at.
const STRIDE: f64 = 0.2;
/// A change of lane takes this long, s, and at least so many times as far as the front is before the rear axle;
/// less only before a junction.
const CHANGE_TIME: f64 = 3.0;
const CHANGE_LENGTHS: f64 = 4.0;
/// Closer to the end of a lane no change begins, m. A vehicle that has stopped with its front at the
/// end can still change.
pub(super) const CHANGE_ROOM: f64 = 4.0;

/// The level of bodies that follow their lane.
pub(crate) struct Lane;

/// What the level keeps of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct LaneState {
    // One of many thousands of records: single precision is enough. Beside the lane that is a micrometre,
    // and the place where it stops rolling is rounded down.
    /// Acceleration in this stride, m/s^2.
    acceleration: f32,
    /// Where its change of lane began, m to the left of the lane that it changes to.
    from: f32,
    /// Share of the change that is done, 0 to 1.
    done: f32,
    /// Where it points in the change: metres to the left for each metre along the lane.
    slope: f32,
    /// Curvature of the lane where this stride began, 1/m: the same whether it rolls or is looked at since.
    curvature: f32,
    /// The lanelet on which it rolls until its stride ends, and up to where, m; nowhere if that is 0.
    rolls_to: f32,
    rolls_on: LaneletIndex,
    /// Whether it wanted to go on in this stride and the slope was stronger.
    is_too_steep: bool,
}

impl Level for Lane {
    type State = LaneState;

    const LEVEL: DynamicsLevel = DynamicsLevel::Lane;
    const READS_LINES: bool = false;

    fn stride(dt: f64) -> u32 {
        // As many steps as fit, with a bit of room for rounding.
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
        // Setting out, coming to rest and the highest speed are looked at.
        let stands = speed == 0.0 && state.acceleration <= 0.0;
        let fastest = speed + f64::from(state.acceleration) * STRIDE;
        let is_even = speed >= STANDING && fastest <= vehicle_type.limits.max_speed;
        let may_roll = position.t == 0.0 && (stands || is_even);
        state.rolls_on = position.lanelet;
        // Down: it must not roll over the end.
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
        // distance: steps of 10 or 50 ms come to the same place.
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
}

/// What engine, brakes, grip and slope make of a command, m/s^2.
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

/// The same on a slope. A lane is not driven backwards: who would roll back stands.
fn on_slope(grade: &Grade, body: &Body<'_>, dt: f64) -> f64 {
    let speed = body.motion.speed;
    let effort = grade.effort(speed, &body.ask(), dt);
    let share = (grade.hardest / effort.along_tyres()).min(1.0);
    let Effort { drive, brake } = effort.shortened(share);
    let net = drive + grade.pull;
    // What only holds does not push.
    if speed == 0.0 && net.abs() <= brake {
        0.0
    } else {
        net - brake
    }
}

impl LaneState {
    /// Its place or its roads are others: it has to be looked at in the next step.
    pub(super) fn stop_rolling(&mut self) {
        self.rolls_to = 0.0;
    }

    /// Whether the slope is too steep for what its driver wants.
    pub(super) fn is_held(&self) -> bool {
        self.is_too_steep
    }

    /// The next place beside the lane, m to the left, of a body at `t` that goes on by `way` and has
    /// to be on the lane within `room` metres. Its front is so far before its rear axle, m.
    fn drift(&mut self, t: f64, distance: f64, speed: f64, front: f64, room: f64) -> f64 {
        // The profile is known by where it began and how far it is; a t that it did not make begins
        // another one.
        if t != self.t() {
            // It has begun to change lanes, or was put elsewhere.
            (self.from, self.done) = (t as f32, 0.0);
        }
        // Done is counted by distance, not by time, so a vehicle that stands does not slide sideways.
        // At 14 m/s a change takes 42 m, a car takes 15 m below 5 m/s; before a junction it is as fast as
        // it has to be, because connections have no lane beside them.
        let in_time = 1.0 / (CHANGE_TIME * speed).max(CHANGE_LENGTHS * front);
        let done = f64::from(self.done);
        let rate = in_time.max((1.0 - done) / room.max(distance));
        self.done = (done + distance * rate).min(1.0) as f32;
        self.slope = self.slope_with(front, rate) as f32;
        self.t()
    }

    /// Points the body along the line that it is led on at a speed, m/s.
    fn lead(&mut self, aside: Aside, speed: f64) {
        self.slope = match speed > STANDING {
            true => aside.rate / speed as f32,
            false => 0.0,
        };
    }

    fn t(&self) -> f64 {
        self.t_at(f64::from(self.done))
    }

    /// A polynomial of fifth order: at both ends neither direction nor curvature jumps.
    fn t_at(&self, x: f64) -> f64 {
        let from = f64::from(self.from);
        let left = 1.0 - x;
        // from * (1 - 10 x^3 + 15 x^4 - 6 x^5), factored: exactly 0 at x = 1, with no rest of rounding.
        from * left * left * left * (1.0 + x * (3.0 + 6.0 * x))
    }

    /// Change of t along the body: its front is where the rear axle will be when it has come there, as on a
    /// street, so that a long one does not swing out beyond the lane that it changes to. In the beginning
    /// the front leads by less: directions do not jump.
    fn slope_with(&self, front: f64, rate: f64) -> f64 {
        let done = f64::from(self.done);
        let lead = (front * rate).min(done).min(1.0 - done);
        (self.t_at(done + lead) - self.t_at(done)) / front
    }
}

/// Grip of the ground below a body.
fn grip_here(ground: &Ground, position: &LanePosition) -> f64 {
    let place = ground.line(position.lanelet).position(position.s);
    ground.grip_on(place, ground.layers(position))
}

/// Way to the end of a lane before a junction, m.
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
pub(super) fn pose(state: &LaneState, ground: &Ground, position: &LanePosition) -> Pose {
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

    /// From the rear axle of a car and of a bus to its front, m.
    const FRONTS: [f64; 2] = [3.7, 8.0];

    /// A car of 14 m/s at most on a straight road of 200 m.
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
            // A stride that begins well within a lane, neither near to a standstill nor to the highest speed,
            // is rolled but for its first step.
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
                // It never goes back, and never beyond the lane, nor does its front.
                prop_assert!(next.abs() <= t.abs() + 1e-6 && next * from >= 0.0);
                let slope = f64::from(state.slope);
                let at_front = next + slope * front;
                prop_assert!(at_front * from > -1e-5, "{at_front} from {from}");
                // It turns like a vehicle: in a bend of 5 m at least.
                let turned = (slope - before).abs();
                prop_assert!(turned <= 0.2 * speed.max(1.0) * dt, "{turned}");
                steepest = steepest.max(slope.abs());
                (t, time) = (next, time + dt);
            }
            if speed > 1.0 {
                prop_assert!(t == 0.0 && time > 2.9, "{time} s");
            }
            // Nobody slides sideways.
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
            // What is left of it is less than the last step can do.
            prop_assert!(t.abs() <= distance, "{t} m off at {s} of {room} m");
            prop_assert!(steepest < 1.0, "{steepest}");
        }
    }
}
