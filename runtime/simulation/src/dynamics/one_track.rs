//! Kinematic one-track model.

use super::{Bodies, Body, Dynamics, Level, LevelStep, RecordedSlip};
use crate::records::{AgentIndex, Motion, PlayedFrame};
use crate::vehicle_type::VehicleType;
use roadwright_geometry::Pose;
use roadwright_geometry::math::{tan, wrap_angle};
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::{Grade, OneTrackState};
use std::f64::consts::PI;

/// Level of the kinematic one-track model. Its state is the angle of the front wheels, rad.
pub(crate) struct OneTrack;

impl Level for OneTrack {
    type State = f64;
    type States = Vec<f64>;

    const LEVEL: DynamicsLevel = DynamicsLevel::OneTrack;

    fn states(dynamics: &Dynamics) -> &Self::States {
        &dynamics.one_track
    }

    fn states_mut(dynamics: &mut Dynamics) -> &mut Self::States {
        &mut dynamics.one_track
    }

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
        // Gears are engaged at standstill. Until then, the vehicle brakes.
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

    #[inline]
    fn steering(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> f64 {
        bodies.dynamics.one_track[agent.index()]
    }

    fn recorded_slip(
        bodies: &Bodies<'_>,
        agent: AgentIndex,
        vehicle_type: &VehicleType,
    ) -> RecordedSlip {
        let wheels = bodies.dynamics.one_track[agent.index()];
        let speed = bodies.agents.motion[agent.index()].speed;
        RecordedSlip {
            sideways: None,
            yaw_rate: Some(speed * tan(wheels) / vehicle_type.limits.wheelbase),
        }
    }
}

/// Moves the body by one step on a slope.
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

/// Stores the resulting motion, which other agents see.
#[inline]
fn keep(motion: &mut Motion, after: &OneTrackState, dt: f64) {
    *motion = Motion {
        pose: after.pose,
        z: motion.z,
        speed: after.speed,
        // Computed from the poses and not from speed and wheels, so that it is consistent with the
        // visible motion.
        yaw_rate: wrap_angle(after.pose.heading - motion.pose.heading) / dt,
        acceleration: (after.speed - motion.speed) / dt,
    };
}

/// Turns around a vehicle that rolls backwards, so that it rolls forwards with its rear axle at the
/// same place. In this model, the original and the turned vehicle trace the same path if the wheels
/// are mirrored.
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
