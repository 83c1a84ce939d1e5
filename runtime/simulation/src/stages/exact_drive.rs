//! Precise starts on planned paths, and precise stops on paths that are driven to their ends, such as the moves of a
//! vehicle that parks.
//!
//! Controllers are made for the road. They stop roughly where they should, and turn the wheels while they drive. A
//! vehicle in a narrow bay has no room for that, so the host acts like a careful driver: it turns the wheels before the
//! vehicle drives off, and brakes so that the vehicle stands at the end of the path. In between, controllers steer
//! and accelerate as usual.
//!
//! Parts of a manoeuvre begin where the vehicle changes gear. There the wheels are turned in the same manner, but
//! the vehicle need not stand at the end of a part.

use super::control::Stand;
use crate::open_ground::scale_of;
use crate::perception::View;
use crate::records::{AgentIndex, Command, Order};
use roadwright_geometry::math::atan;
use roadwright_plugin_api::ControllerInput;
use roadwright_scenario::DynamicsLevel;

/// Deceleration for the stop at the end of a path, m/s^2.
const STOPPING: f64 = 1.0;
/// Speed below which a vehicle stands, m/s.
const STANDS: f64 = 0.02;
/// Distance from the start of a path within which wheels are turned while the vehicle stands, m.
const AT_START: f64 = 0.3;
/// Like `AT_START`, for parts of a manoeuvre. The vehicle changes to the next part before it stands, m.
const AT_PART_START: f64 = 0.6;
/// Length of path whose curvature the wheels are set to, m.
const FIRST: f64 = 0.4;
/// Error of the wheel angle above which the vehicle does not drive off yet, rad.
const TURNED: f64 = 0.02;
/// Maximum time for which a vehicle stands to turn its wheels, s.
const PATIENCE: f64 = 2.5;
/// Like `PATIENCE`, for parts of a manoeuvre, s. The vehicle may have stood for a while before it found one.
const PATIENCE_IN_PARTS: f64 = 12.0;
/// Deceleration commanded meanwhile, m/s^2.
const HOLDING: f64 = 1.0;

/// Start and stop of an agent on a path that is driven to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExactDrive {
    /// The end of the path; `None` if the vehicle need not stand there.
    end: Option<Stand>,
    /// Speed in the direction of travel, m/s. It is negative just after a change of gear.
    speed: f64,
    /// Wheel angle with which the vehicle has to drive off, rad; `None` if the wheels have it already, or if the
    /// vehicle is moving.
    wheels: Option<f64>,
}

impl ExactDrive {
    /// Applies the start and the stop to the order of a controller that holds for `period` seconds.
    pub(super) fn over(self, order: Order, period: f64) -> Order {
        if let Some(steering) = self.wheels {
            let wanted = order.command.acceleration;
            let acceleration = match self.speed < -STANDS {
                // It still rolls against the direction of travel, and brakes until it stands.
                true => wanted.max(HOLDING).min(-self.speed / period),
                false => wanted.min(-HOLDING),
            };
            return Order {
                command: Command {
                    acceleration,
                    steering,
                },
                pedals: None,
            };
        }
        let end = self.end;
        match end.and_then(|end| end.held(order.command.acceleration, period)) {
            Some(acceleration) => order.with_acceleration(acceleration),
            None => order,
        }
    }
}

impl View<'_> {
    /// Start and stop of an agent on a planned path; `None` on other paths.
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
        let route = self.routes.get(progress.route);
        let exact = route.exact_to(progress.reached);
        let planned = match exact {
            Some((planned, _)) => planned,
            // Characters turn on the spot.
            None if self.agents.identity[index].level == DynamicsLevel::Walker => return None,
            None => route.planned_to(progress.reached)?,
        };
        let path = &planned.path;
        let end = exact.map(|_| Stand {
            speed: input.speed,
            way: path.line().length() - position.s,
            firm: STOPPING,
        });
        let kind = self.vehicle_type(agent);
        let is_at_start = match exact {
            Some(_) => {
                let is_patient = progress.standing < PATIENCE;
                position.s < AT_START && input.speed.abs() < STANDS && is_patient
            }
            None => {
                let is_patient = progress.standing < PATIENCE_IN_PARTS;
                let start = AT_PART_START * scale_of(kind);
                position.s < start && input.speed < STANDS && is_patient
            }
        };
        let wheels = is_at_start.then(|| {
            let curvature = path.curvature(position.s, position.s + FIRST);
            let steering = atan(input.wheelbase * curvature);
            steering.clamp(-kind.limits.max_steering, kind.limits.max_steering)
        });
        let wheels = wheels.filter(|wheels| (wheels - input.steering).abs() > TURNED);
        if end.is_none() && wheels.is_none() {
            return None;
        }
        Some(ExactDrive {
            end,
            speed: input.speed,
            wheels,
        })
    }
}
