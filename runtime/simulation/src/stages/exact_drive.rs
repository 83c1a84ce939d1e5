//! Precise starts and stops on paths that are driven to their ends, such as the moves of a vehicle that parks.
//!
//! Controllers are made for the road. They stop roughly where they should, and turn the wheels while they drive. A
//! vehicle in a narrow bay has no room for that, so the host acts like a careful driver: it turns the wheels before the
//! vehicle drives off, and brakes so that the vehicle stands at the end of the path. In between, controllers steer
//! and accelerate as usual.

use super::control::Stand;
use crate::perception::View;
use crate::records::{AgentIndex, Command, Order};
use roadwright_geometry::math::atan;
use roadwright_plugin_api::ControllerInput;

/// Deceleration for the stop at the end of a path, m/s^2.
const STOPPING: f64 = 1.0;
/// Speed below which a vehicle stands, m/s.
const STANDS: f64 = 0.02;
/// Distance from the start of a path within which wheels are turned while the vehicle stands, m.
const AT_START: f64 = 0.3;
/// Length of path whose curvature the wheels are set to, m.
const FIRST: f64 = 0.4;
/// Error of the wheel angle above which the vehicle does not drive off yet, rad.
const TURNED: f64 = 0.02;
/// Maximum time for which a vehicle stands to turn its wheels, s.
const PATIENCE: f64 = 2.5;
/// Deceleration commanded meanwhile, m/s^2.
const HOLDING: f64 = 1.0;

/// Start and stop of an agent on a path that is driven to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExactDrive {
    /// The end of the path.
    end: Stand,
    /// Wheel angle with which the vehicle has to drive off, rad; `None` if the wheels have it already, or if the
    /// vehicle is moving.
    wheels: Option<f64>,
}

impl ExactDrive {
    /// Applies the start and the stop to the order of a controller that holds for `period` seconds.
    pub(super) fn over(self, order: Order, period: f64) -> Order {
        if let Some(steering) = self.wheels {
            let acceleration = order.command.acceleration.min(-HOLDING);
            return Order {
                command: Command {
                    acceleration,
                    steering,
                },
                pedals: None,
            };
        }
        match self.end.held(order.command.acceleration, period) {
            Some(acceleration) => order.with_acceleration(acceleration),
            None => order,
        }
    }
}

impl View<'_> {
    /// Start and stop of an agent on a path that is driven to its end; `None` on other paths.
    #[inline]
    pub(super) fn exact_drive(
        &self,
        agent: AgentIndex,
        input: &ControllerInput,
    ) -> Option<ExactDrive> {
        let index = agent.index();
        let position = &self.agents.position[index];
        if position.is_on_lane() {
            return None;
        }
        let progress = &self.agents.progress[index];
        let (planned, _) = self.routes.get(progress.route).exact_to(progress.reached)?;
        let path = &planned.path;
        let end = Stand {
            speed: input.speed,
            way: path.line().length() - position.s,
            firm: STOPPING,
        };
        let is_at_start = position.s < AT_START && input.speed.abs() < STANDS;
        let wheels = (is_at_start && progress.standing < PATIENCE).then(|| {
            let limits = &self.vehicle_type(agent).limits;
            let curvature = path.curvature(position.s, position.s + FIRST);
            let steering = atan(input.wheelbase * curvature);
            steering.clamp(-limits.max_steering, limits.max_steering)
        });
        let wheels = wheels.filter(|wheels| (wheels - input.steering).abs() > TURNED);
        Some(ExactDrive { end, wheels })
    }
}
