//! Dynamic one-track model with tyre slip.

use super::{Bodies, Body, Dynamics, Level, LevelStep, RecordedSlip};
use crate::records::{AgentIndex, Motion, PlayedFrame};
use crate::snapshot::MechanicsRecord;
use crate::vehicle_type::{VehicleType, VehicleTypes};
use roadwright_agent::TyreInput;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::dynamic::{Banked, Wish};
use roadwright_vehicle::{Climb, DriveState, Driver, DynamicState};
use serde::{Deserialize, Serialize};

/// The level of the dynamic one-track model.
pub(crate) struct DynamicOneTrack;

/// State of an agent at this level.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SlipState {
    /// Angle of the front wheels, rad.
    pub(super) steering: f64,
    /// Lateral speed of the rear axle, m/s, positive to the left.
    sideways: f64,
    /// Yaw rate, rad/s.
    yaw_rate: f64,
    /// State of the drive train, if the vehicle has one.
    pub(super) drive: DriveState,
}

impl Level for DynamicOneTrack {
    type State = SlipState;
    type States = Vec<SlipState>;

    const LEVEL: DynamicsLevel = DynamicsLevel::DynamicOneTrack;

    fn states(dynamics: &Dynamics) -> &Self::States {
        &dynamics.dynamic_one_track
    }

    fn states_mut(dynamics: &mut Dynamics) -> &mut Self::States {
        &mut dynamics.dynamic_one_track
    }

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
        // Controllers see a reversing vehicle as if it were turned around. While it still rolls
        // against its gear, it brakes and its wheels keep their angle.
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
            // Computed from the poses, so that it is consistent with the visible motion.
            yaw_rate: wrap_angle(after.pose.heading - before.pose.heading) / dt,
            acceleration: (after.speed - before.speed) / dt,
        };
        None
    }

    #[inline]
    fn steering(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> f64 {
        bodies.dynamics.dynamic_one_track[agent.index()].steering
    }

    #[inline]
    fn slip(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> [f64; 2] {
        let state = &bodies.dynamics.dynamic_one_track[agent.index()];
        [state.sideways, state.yaw_rate]
    }

    fn recorded_slip(
        bodies: &Bodies<'_>,
        agent: AgentIndex,
        vehicle_type: &VehicleType,
    ) -> RecordedSlip {
        let state = &bodies.dynamics.dynamic_one_track[agent.index()];
        let at_centre = state.sideways + vehicle_type.single_track.rear * state.yaw_rate;
        RecordedSlip {
            sideways: Some(at_centre),
            yaw_rate: Some(state.yaw_rate),
        }
    }

    fn drive_state(dynamics: &Dynamics, agent: AgentIndex) -> Option<DriveState> {
        let state = dynamics.dynamic_one_track.get(agent.index());
        Some(state.map(|state| state.drive).unwrap_or_default())
    }

    fn mechanics(
        bodies: &Bodies<'_>,
        agent: AgentIndex,
        types: &VehicleTypes,
    ) -> Option<MechanicsRecord> {
        let who = &bodies.agents.identity[agent.index()];
        let train = types.drive_train(who.vehicle_type)?;
        let Motion { speed, .. } = bodies.agents.motion[agent.index()];
        let state = &bodies.dynamics.dynamic_one_track[agent.index()].drive;
        Some(MechanicsRecord {
            agent: who.id,
            drive: Some(train.reading(state, speed)),
            wheels: Vec::new(),
            shape: None,
        })
    }

    fn tyres(vehicle_type: &VehicleType, direction: f64) -> Option<TyreInput> {
        let model = &vehicle_type.single_track;
        let [front_load, rear_load] = model.axle_loads(0.0);
        Some(TyreInput {
            mass: model.mass,
            yaw_inertia: model.yaw_inertia,
            front: direction * model.front,
            rear: direction * model.rear,
            front_stiffness: model.stiffness[0] * front_load,
            rear_stiffness: model.stiffness[1] * rear_load,
        })
    }
}
