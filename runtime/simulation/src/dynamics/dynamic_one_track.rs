//! Dynamic one-track model with tyre slip.

use super::{Body, Level, LevelStep};
use crate::move_trees::PlayedFrame;
use crate::records::Motion;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::dynamic::{Banked, Wish};
use roadwright_vehicle::{Climb, DriveState, Driver, DynamicState};
use serde::{Deserialize, Serialize};

/// Level of the dynamic one-track model.
pub(crate) struct DynamicOneTrack;

/// State of one agent on this level.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SlipState {
    /// Angle of the front wheels, rad.
    pub(super) steering: f64,
    /// Speed of the rear axle to the left, m/s.
    sideways: f64,
    /// Yaw rate, rad/s.
    yaw_rate: f64,
    /// State of the drive train, if the vehicle has one.
    pub(super) drive: DriveState,
}

impl SlipState {
    /// State of the drive train.
    pub(crate) fn drive(&self) -> &DriveState {
        &self.drive
    }

    /// Lateral speed of the rear axle to the left, m/s.
    pub(super) fn sideways(&self) -> f64 {
        self.sideways
    }

    /// Yaw rate, rad/s.
    pub(super) fn yaw_rate(&self) -> f64 {
        self.yaw_rate
    }
}

impl Level for DynamicOneTrack {
    type State = SlipState;

    const LEVEL: DynamicsLevel = DynamicsLevel::DynamicOneTrack;

    fn stride(_: f64) -> u32 {
        1
    }

    fn put(state: &mut SlipState, frame: &PlayedFrame) {
        *state = SlipState {
            steering: frame.wheels,
            sideways: frame.rear_sideways,
            yaw_rate: frame.yaw_rate,
            ..*state
        };
    }

    fn advance(state: &mut SlipState, body: Body<'_>, step: LevelStep<'_>) -> Option<f64> {
        let grip = body.grip(step.ground);
        let grade = body.bank_and_grade(step.ground, body.motion.pose);
        let climb = grade.map(|grade| Climb {
            grade,
            ask: body.ask(),
            max_speed: body.vehicle_type.limits.max_speed,
        });
        let (held, acceleration) = (body.held(), body.wish());
        let (motion, dt) = (body.motion, step.dt);
        let (limits, command) = (body.vehicle_type.limits, body.command);
        let before = DynamicState {
            pose: motion.pose,
            speed: motion.speed,
            sideways: state.sideways,
            yaw_rate: state.yaw_rate,
            steering: state.steering,
        };
        // Controllers see a vehicle that reverses as turned around. While it still rolls against its gear, it
        // brakes and the wheels keep their angle.
        let rolls_back = before.speed < 0.0 || before.speed == 0.0 && body.is_reversing;
        let wheels = match (rolls_back == body.is_reversing, body.is_reversing) {
            (false, _) => state.steering,
            (true, false) => command.steering,
            (true, true) => -command.steering,
        };
        let mut model = body.vehicle_type.single_track;
        if let Some(grip) = grip {
            model.friction *= grip;
        }
        if let Some(grade) = grade {
            model.friction *= grade.load;
        }
        let model = &model;
        let is_reversing = body.is_reversing;
        let rate = step.physics_rate_hz;
        let mut drive = state.drive;
        let bank = grade.map_or(0.0, |grade| grade.bank);
        let after = if let Some(train) = body.drive_train {
            let mut driver = Driver {
                train,
                state: &mut drive,
                acceleration,
                is_reversing,
                pull: grade.map_or(0.0, |grade| grade.pull),
                pedals: held,
            };
            let mut banked = Banked {
                propulsion: &mut driver,
                bank,
            };
            before.step(model, &limits, &mut banked, wheels, dt, rate)
        } else if let Some(mut climb) = climb {
            let mut banked = Banked {
                propulsion: &mut climb,
                bank,
            };
            before.step(model, &limits, &mut banked, wheels, dt, rate)
        } else {
            let mut wish = Wish {
                acceleration,
                is_reversing,
                limits,
            };
            before.step(model, &limits, &mut wish, wheels, dt, rate)
        };
        *state = SlipState {
            steering: after.steering,
            sideways: after.sideways,
            yaw_rate: after.yaw_rate,
            drive,
        };
        *motion = Motion {
            pose: after.pose,
            z: motion.z,
            speed: after.speed,
            // Computed from the poses, so that the visible motion is consistent.
            yaw_rate: wrap_angle(after.pose.heading - before.pose.heading) / dt,
            acceleration: (after.speed - before.speed) / dt,
        };
        None
    }
}
