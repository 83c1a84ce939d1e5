//! Kinematic one-track model.

use super::{Body, Level, LevelStep};
use crate::move_trees::PlayedFrame;
use crate::records::Motion;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::{Grade, OneTrackState};
use std::f64::consts::PI;

/// Level of the kinematic one-track model. Its state is the angle of the front wheels, rad.
pub(crate) struct OneTrack;

impl Level for OneTrack {
    type State = f64;

    const LEVEL: DynamicsLevel = DynamicsLevel::OneTrack;

    fn stride(_: f64) -> u32 {
        1
    }

    fn put(steering: &mut f64, frame: &PlayedFrame) {
        *steering = frame.wheels;
    }

    #[inline]
    fn advance(steering: &mut f64, body: Body<'_>, step: LevelStep<'_>) -> Option<f64> {
        let grade = body.bank_and_grade(step.ground, body.motion.pose);
        if let Some(grade) = grade {
            drive_on(&grade, steering, body, step.dt);
            return None;
        }
        let grip = body.grip(step.ground);
        let wish = body.wish();
        let (motion, dt) = (body.motion, step.dt);
        let before = OneTrackState {
            pose: motion.pose,
            speed: motion.speed,
            steering: *steering,
        };
        let (limits, command) = (&body.vehicle_type.limits, body.command);
        // A gear is engaged at standstill. Until then the vehicle brakes in its rolling direction.
        let rolls_back = before.speed < 0.0 || before.speed == 0.0 && body.is_reversing;
        let hardest = grip.map(|grip| grip * body.vehicle_type.hardest());
        let advance = |state: &OneTrackState| {
            let (acceleration, wheels) = if rolls_back == body.is_reversing {
                (wish, command.steering)
            } else {
                (-limits.max_braking, state.steering)
            };
            match hardest {
                None => roadwright_vehicle::step(state, limits, acceleration, wheels, dt),
                Some(hardest) => roadwright_vehicle::step_within(
                    state,
                    limits,
                    acceleration,
                    wheels,
                    dt,
                    hardest,
                ),
            }
        };
        let after = if rolls_back {
            turned_about(&advance(&turned_about(&before)))
        } else {
            advance(&before)
        };
        *steering = after.steering;
        keep(motion, &after, dt);
        None
    }
}

/// One step on a slope.
fn drive_on(grade: &Grade, steering: &mut f64, body: Body<'_>, dt: f64) {
    let before = OneTrackState {
        pose: body.motion.pose,
        speed: body.motion.speed,
        steering: *steering,
    };
    let (ask, wheels) = (body.ask(), body.wheels(*steering));
    let limits = &body.vehicle_type.limits;
    let after = roadwright_vehicle::step_on_grade(&before, limits, &ask, wheels, grade, dt);
    *steering = after.steering;
    keep(body.motion, &after, dt);
}

/// Stores the visible motion.
#[inline]
fn keep(motion: &mut Motion, after: &OneTrackState, dt: f64) {
    *motion = Motion {
        pose: after.pose,
        z: motion.z,
        speed: after.speed,
        // Computed from the poses and not from speed and wheels, so that the visible motion is consistent.
        yaw_rate: wrap_angle(after.pose.heading - motion.pose.heading) / dt,
        acceleration: (after.speed - motion.speed) / dt,
    };
}

/// Turns around a vehicle that rolls backwards, so that it rolls forwards with its rear axle at the same
/// place. In this model both trace the same path if the wheels are mirrored.
fn turned_about(state: &OneTrackState) -> OneTrackState {
    OneTrackState {
        pose: Pose {
            heading: wrap_angle(state.pose.heading + PI),
            ..state.pose
        },
        speed: if state.speed == 0.0 {
            0.0
        } else {
            -state.speed
        },
        steering: -state.steering,
    }
}
