//! Dynamics level of characters on foot.

use super::{Bodies, Body, Dynamics, Level, LevelStep, RecordedSlip};
use crate::records::{AgentIndex, Motion};
use crate::route::ExactGoal;
use crate::vehicle_type::{VehicleType, VehicleTypes};
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::gait::{BaseMotion, Figure, Stride};
use roadwright_vehicle::walker::{self, Facing, WalkerCommand, WalkerState};
use serde::{Deserialize, Serialize};

/// Level of characters. Slopes and slippery ground do not affect them.
pub(crate) struct Walker;

/// A character without a planned path has arrived when it is this close to its goal on open ground,
/// m.
const ARRIVED: f64 = 0.5;

/// State of one character.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct OnFoot {
    /// Speed to the left, m/s.
    sideways: f64,
    /// Turn rate, rad/s.
    turn_rate: f64,
    /// Step phase, and the positions of the feet.
    stride: Stride,
}

impl OnFoot {
    /// Motion of the character's base point.
    fn base(&self, motion: &Motion) -> BaseMotion {
        BaseMotion {
            pose: motion.pose,
            speed: motion.speed,
            sideways: self.sideways,
            turn_rate: self.turn_rate,
        }
    }
}

impl Level for Walker {
    type State = OnFoot;
    type States = Vec<OnFoot>;

    const LEVEL: DynamicsLevel = DynamicsLevel::Walker;
    const EXACT_GOAL: ExactGoal = ExactGoal::PathEnd;

    fn goal_radius(_: &VehicleType) -> f64 {
        ARRIVED
    }

    fn states(dynamics: &Dynamics) -> &Self::States {
        &dynamics.walker
    }

    fn states_mut(dynamics: &mut Dynamics) -> &mut Self::States {
        &mut dynamics.walker
    }

    fn stride(_: f64) -> u32 {
        1
    }

    fn advance(state: &mut OnFoot, body: Body<'_>, step: LevelStep<'_>) -> Option<f64> {
        let limits = &body.vehicle_type.limits;
        let acceleration = body.wish();
        let (motion, dt) = (body.motion, step.dt);
        let before = WalkerState {
            pose: motion.pose,
            speed: motion.speed,
            sideways: state.sideways,
            turn_rate: state.turn_rate,
        };
        let command = WalkerCommand {
            acceleration,
            // Controllers see a character that walks backwards as if it were turned around. This
            // does not change the sign of the turn rate.
            turn_rate: walker::turn_rate(limits, motion.speed, body.command.steering),
            sideways: f64::from(body.aside.rate),
            facing: if body.is_reversing {
                Facing::Back
            } else {
                Facing::Ahead
            },
        };
        let after = walker::walk(&before, limits, &command, dt);
        state.sideways = after.sideways;
        state.turn_rate = after.turn_rate;
        *motion = Motion {
            pose: after.pose,
            z: motion.z,
            speed: after.speed,
            yaw_rate: wrap_angle(after.pose.heading - motion.pose.heading) / dt,
            acceleration: (after.speed - motion.speed) / dt,
        };
        let base = state.base(motion);
        if let Some(gaits) = body.gaits {
            state.stride.advance(gaits, &base, dt);
        }
        None
    }

    /// Steering angle that would turn a car with the character's wheelbase at the character's turn
    /// rate.
    fn steering(bodies: &Bodies<'_>, agent: AgentIndex, vehicle_type: &VehicleType) -> f64 {
        let turn_rate = bodies.dynamics.walker[agent.index()].turn_rate;
        let speed = bodies.agents.motion[agent.index()].speed;
        let angle = walker::steering(&vehicle_type.limits, speed, turn_rate);
        if speed < 0.0 { -angle } else { angle }
    }

    fn slip(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> [f64; 2] {
        let state = &bodies.dynamics.walker[agent.index()];
        [state.sideways, state.turn_rate]
    }

    fn recorded_slip(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> RecordedSlip {
        let state = &bodies.dynamics.walker[agent.index()];
        RecordedSlip {
            // Side slip is defined only for tyres.
            sideways: None,
            yaw_rate: Some(state.turn_rate),
        }
    }
}

impl Bodies<'_> {
    /// Computes the feet and shoulders of a character; `None` for vehicles. Called only when a
    /// snapshot is made.
    pub(crate) fn figure(&self, agent: AgentIndex, types: &VehicleTypes) -> Option<Figure> {
        if self.level(agent) != DynamicsLevel::Walker {
            return None;
        }
        let gaits = types.gaits(self.agents.identity[agent.index()].vehicle_type)?;
        let state = self.dynamics.walker.get(agent.index())?;
        let base = state.base(&self.agents.motion[agent.index()]);
        Some(state.stride.figure(gaits, &base))
    }
}
