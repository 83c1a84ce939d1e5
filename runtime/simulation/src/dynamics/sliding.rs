//! The sliding car.

use super::{Body, Level, LevelStep};
use crate::move_trees::PlayedFrame;
use crate::records::Motion;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::Grade;
use roadwright_vehicle::sliding::{SlidingModel, SlidingState, Wanted};
use serde::{Deserialize, Serialize};

/// Level of the sliding car.
pub(crate) struct Sliding;

/// State of one agent on this level.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SkidState {
    /// Angle of the front wheels, rad.
    pub(super) steering: f64,
    /// Speed of the centre of gravity to the left, m/s.
    sideways: f64,
    /// Yaw rate, rad/s.
    yaw_rate: f64,
}

impl SkidState {
    /// Lateral speed of the rear axle to the left, m/s.
    pub(super) fn sideways(&self, model: &SlidingModel) -> f64 {
        self.sideways - model.rear * self.yaw_rate
    }

    /// Speed of the centre of gravity to the left, m/s.
    pub(super) fn sideways_of_centre(&self) -> f64 {
        self.sideways
    }

    /// Yaw rate, rad/s.
    pub(super) fn yaw_rate(&self) -> f64 {
        self.yaw_rate
    }
}

impl Level for Sliding {
    type State = SkidState;

    const LEVEL: DynamicsLevel = DynamicsLevel::Sliding;

    fn stride(_: f64) -> u32 {
        1
    }

    fn put(state: &mut SkidState, frame: &PlayedFrame) {
        *state = SkidState {
            steering: frame.wheels,
            sideways: frame.sideways,
            yaw_rate: frame.yaw_rate,
        };
    }

    fn advance(state: &mut SkidState, body: Body<'_>, step: LevelStep<'_>) -> Option<f64> {
        let grip = body.grip(step.ground);
        let grade = body.bank_and_grade(step.ground, body.motion.pose);
        let (pedals, acceleration) = (body.held(), body.wish());
        let (motion, dt, command) = (body.motion, step.dt, body.command);
        let (mut model, mut limits) = (body.vehicle_type.sliding, body.vehicle_type.limits);
        if let Some(grip) = grip {
            model.grip *= grip;
            // The appendix does not limit the effect of pedals. On slippery ground the limit is the grip of
            // the tyres.
            let hardest = model.hardest();
            limits.max_braking = limits.max_braking.min(hardest);
            limits.max_acceleration = limits.max_acceleration.min(hardest);
        }
        let slope = grade.map(|grade| {
            model.grip *= grade.load;
            Grade {
                hardest: model.hardest(),
                ..grade
            }
        });
        let model = &model;
        let (forward, left) = (motion.pose.forward(), motion.pose.left());
        let before = SlidingState {
            position: motion.pose.point(model.rear, 0.0),
            heading: motion.pose.heading,
            velocity: forward * motion.speed + left * state.sideways,
            yaw_rate: state.yaw_rate,
        };
        // Controllers see a vehicle that reverses as turned around. While it still rolls against its gear, it
        // brakes and the wheels keep their angle.
        let rolls_back = motion.speed < 0.0 || motion.speed == 0.0 && body.is_reversing;
        let steering = match (rolls_back == body.is_reversing, body.is_reversing) {
            (false, _) => state.steering,
            (true, false) => command.steering,
            (true, true) => -command.steering,
        };
        let wanted = Wanted {
            acceleration,
            is_reversing: body.is_reversing,
            steering,
            limits,
            slope,
            pedals,
        };
        let rate = step.physics_rate_hz;
        let (after, wheels) = before.advance(model, &wanted, state.steering, dt, rate);
        let speed = after.along();
        let stands = after.velocity == DVec2::ZERO && before.velocity == DVec2::ZERO;
        let pose = if stands {
            motion.pose
        } else {
            after.pose(model)
        };
        *state = SkidState {
            steering: wheels,
            sideways: after.velocity.dot(pose.left()),
            yaw_rate: after.yaw_rate,
        };
        *motion = Motion {
            pose,
            z: motion.z,
            speed,
            // Computed from the poses, so that the visible motion is consistent.
            yaw_rate: wrap_angle(pose.heading - motion.pose.heading) / dt,
            acceleration: (speed - motion.speed) / dt,
        };
        None
    }
}
