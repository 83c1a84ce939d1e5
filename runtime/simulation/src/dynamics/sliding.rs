//! Level `sliding`: the sliding car of [Adam 2007], appendix A, which skids in bends.

use super::{Bodies, Body, Dynamics, Level, LevelStep, RecordedSlip};
use crate::records::{AgentIndex, Motion, PlayedFrame};
use crate::vehicle_type::VehicleType;
use roadwright_agent::TyreInput;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::Grade;
use roadwright_vehicle::sliding::{SlidingState, Wanted};
use serde::{Deserialize, Serialize};

/// Level of the sliding car, which skids in bends.
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

impl Level for Sliding {
    type State = SkidState;
    type States = Vec<SkidState>;

    const LEVEL: DynamicsLevel = DynamicsLevel::Sliding;

    fn states(dynamics: &Dynamics) -> &Self::States {
        &dynamics.sliding
    }

    fn states_mut(dynamics: &mut Dynamics) -> &mut Self::States {
        &mut dynamics.sliding
    }

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
            // Appendix A of [Adam 2007] does not limit the effect of pedals. On slippery ground the limit is
            // the grip of the tyres.
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
        // Controllers see a reversing vehicle as if it were turned around. While it still rolls against its
        // gear, it brakes and the wheels keep their angle.
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
            // Computed from the poses, so that it is consistent with the visible motion.
            yaw_rate: wrap_angle(pose.heading - motion.pose.heading) / dt,
            acceleration: (speed - motion.speed) / dt,
        };
        None
    }

    #[inline]
    fn steering(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> f64 {
        bodies.dynamics.sliding[agent.index()].steering
    }

    #[inline]
    fn slip(bodies: &Bodies<'_>, agent: AgentIndex, vehicle_type: &VehicleType) -> [f64; 2] {
        let state = &bodies.dynamics.sliding[agent.index()];
        let of_rear_axle = state.sideways - vehicle_type.sliding.rear * state.yaw_rate;
        [of_rear_axle, state.yaw_rate]
    }

    fn recorded_slip(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> RecordedSlip {
        let state = &bodies.dynamics.sliding[agent.index()];
        RecordedSlip {
            sideways: Some(state.sideways),
            yaw_rate: Some(state.yaw_rate),
        }
    }

    fn tyres(vehicle_type: &VehicleType, direction: f64) -> Option<TyreInput> {
        let model = &vehicle_type.sliding;
        let load = 0.5 * model.mass * roadwright_vehicle::sliding::GRAVITY;
        Some(TyreInput {
            mass: model.mass,
            yaw_inertia: model.inertia,
            front: direction * model.front,
            rear: direction * model.rear,
            front_stiffness: -model.front_stiffness * load,
            rear_stiffness: -model.rear_stiffness * load,
        })
    }

    fn hardest(vehicle_type: &VehicleType) -> f64 {
        vehicle_type.sliding.hardest()
    }
}
