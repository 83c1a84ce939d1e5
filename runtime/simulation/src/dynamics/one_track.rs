//! The kinematic one-track model.

use super::{Body, Level, LevelStep};
use crate::agents::Motion;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::OneTrackState;

/// The level of the kinematic one-track model. It keeps the angle of the front wheels, rad.
pub(crate) struct OneTrack;

impl Level for OneTrack {
    type State = f64;

    const LEVEL: DynamicsLevel = DynamicsLevel::OneTrack;

    fn stride(_: f64) -> u32 {
        1
    }

    #[inline]
    fn advance(steering: &mut f64, body: Body<'_>, step: LevelStep<'_>) -> Option<f64> {
        let (motion, dt) = (body.motion, step.dt);
        let before = OneTrackState {
            pose: motion.pose,
            speed: motion.speed,
            steering: *steering,
        };
        let (limits, command) = (&body.vehicle_type.limits, body.command);
        let after =
            roadwright_vehicle::step(&before, limits, command.acceleration, command.steering, dt);
        *steering = after.steering;
        *motion = Motion {
            pose: after.pose,
            z: motion.z,
            speed: after.speed,
            yaw_rate: wrap_angle(after.pose.heading - before.pose.heading) / dt,
            acceleration: (after.speed - before.speed) / dt,
        };
        None
    }
}
