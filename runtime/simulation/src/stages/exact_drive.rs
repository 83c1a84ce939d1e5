//! Precise starts and stops on paths that are driven to their ends, for example when a vehicle
//! parks.
//!
//! Controllers are made for the road. They stop only approximately where they should, and turn the
//! wheels while the vehicle moves. In a narrow bay, there is no space for that. Therefore the host
//! acts like a careful driver: it turns the wheels before the vehicle drives off, and brakes so
//! that the vehicle stops exactly at the end of the path. In between, controllers steer and
//! accelerate as usual.
//!
//! Parts of other planned manoeuvres begin where the vehicle changes gear. There, the wheels are
//! turned in the same way, but the vehicle need not stop exactly at the end of a part.

use super::control::Stand;
use crate::open_ground::pull;
use crate::perception::View;
use crate::records::{AgentIndex, Command, Order};
use crate::route::GroundPath;
use roadwright_geometry::math::atan;
use roadwright_plugin_api::ControllerInput;

/// Deceleration of the stop at the end of a path, m/s^2.
const STOPPING: f64 = 1.0;
/// The vehicle is stopped immediately within this distance of the end of a path, m.
const AT_END: f64 = 0.03;
/// If a vehicle is slower than this along its path, it has not driven off yet, m/s. This includes a
/// vehicle that still rolls against its new gear. On some levels, such a vehicle reverses its
/// motion within a step, so that its speed is never 0 at the end of a step.
const STANDS: f64 = 0.02;
/// If a controller slows its vehicle down too early, the host keeps the vehicle rolling within this
/// distance of the end of a path, m.
const CREEPING: f64 = 0.6;
/// Maximum speed at which the host keeps a vehicle rolling, m/s.
const CREEP: f64 = 0.3;
/// Deceleration of the approach to the end of the path while the host keeps a vehicle rolling,
/// m/s^2.
const APPROACH: f64 = 0.4;
/// Acceleration per unit of speed error while the host keeps a vehicle rolling, 1/s.
const CREEP_GAIN: f64 = 2.0;
/// Maximum acceleration while the host keeps a vehicle rolling, m/s^2.
const CREEP_ACCELERATION: f64 = 0.5;
/// If a controller brakes harder than this, it is assumed to do so for a reason other than the end
/// of the path, m/s^2.
const HARD: f64 = 0.6;
/// The wheels are turned at a standstill within this distance of the start of a path, m.
const AT_START: f64 = 0.3;
/// Like `AT_START`, for parts of a manoeuvre, m. It is longer, because a vehicle switches to the
/// next part before it has stopped.
const AT_PART_START: f64 = 0.6;
/// Length of the first piece of the path, whose curvature determines the initial wheel angle, m.
const FIRST: f64 = 0.4;
/// The vehicle waits before it drives off if the error of its wheel angle exceeds this, rad.
const TURNED: f64 = 0.02;
/// Maximum time for which a vehicle waits at the start of a planned path while its wheels turn, s.
/// A vehicle that has already been stationary for longer when the path is found alternates between
/// turning its wheels and trying to drive off.
const TURNS_WHEELS: f64 = 6.0;
/// Time for each attempt to drive off with the current wheel angle, s.
const DRIVES_OFF: f64 = 2.0;
/// Deceleration commanded while the wheels are turned, m/s^2.
const HOLDING: f64 = 1.0;
/// Deceleration of a vehicle that still rolls against its new gear, m/s^2.
const STOPS_ROLLING: f64 = 2.5;

/// Control of the start and stop on a path that is driven to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExactDrive {
    /// The end of the path, where the vehicle has to stop; `None` if it need not stop there, or if
    /// the controller stops the vehicle without help from the host.
    end: Option<Stand>,
    /// Speed of a vehicle that still rolls against the direction of the current part of a
    /// manoeuvre, m/s; `None` if it does not.
    rolls_back: Option<f64>,
    /// Wheel angle that the vehicle needs before it drives off, rad; `None` if the wheels already
    /// have it, or if the vehicle has already driven off.
    wheels: Option<f64>,
    /// Whether the agent is a character, which needs no help from the host to stop.
    is_on_foot: bool,
}

impl ExactDrive {
    /// Modifies the order of a controller while the vehicle starts to drive along a path, and while
    /// it stops at the end. The order applies for `period` seconds.
    pub(super) fn over(self, order: Order, period: f64) -> Order {
        if let Some(steering) = self.wheels {
            let wanted = order.command.acceleration;
            let acceleration = match self.rolls_back {
                Some(speed) => wanted.max(STOPS_ROLLING).min(speed / period),
                None => wanted.min(-HOLDING),
            };
            return Order {
                command: Command {
                    acceleration,
                    steering,
                },
                pedals: None,
            };
        }
        let Some(end) = self.end else {
            return order;
        };
        if end.distance <= AT_END && !self.is_on_foot {
            return order.with_acceleration(order.command.acceleration.min(-STOPPING));
        }
        let order = match self.creeping(end) {
            Some(least) if (-HARD..least).contains(&order.command.acceleration) => {
                order.with_acceleration(least)
            }
            _ => order,
        };
        match end.held(order.command.acceleration, period) {
            Some(acceleration) => order.with_acceleration(acceleration),
            None => order,
        }
    }
}

impl ExactDrive {
    /// Returns the acceleration that keeps a vehicle rolling just before the end of its path;
    /// `None` farther away.
    ///
    /// Controllers approach a stop asymptotically, so the last centimetres of each move would take
    /// them seconds.
    fn creeping(self, end: Stand) -> Option<f64> {
        let Stand {
            speed, distance, ..
        } = end;
        (distance < CREEPING && !self.is_on_foot).then(|| {
            let wanted = (2.0 * APPROACH * distance).sqrt().min(CREEP);
            (CREEP_GAIN * (wanted - speed)).min(CREEP_ACCELERATION)
        })
    }
}

impl View<'_> {
    /// Controls the start and stop of an agent on a path that is driven to its end. For other
    /// planned paths, and for paths set by a behaviour, only the start is controlled. `None`
    /// without a path.
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
        let kind = self.vehicle_type(agent);
        let part = match exact {
            None if !kind.is_disc => route.planned_to(progress.reached),
            _ => None,
        };
        let path = match exact.map(|(planned, _)| planned).or(part) {
            Some(planned) => &planned.path,
            None => route.given_path_to(progress.reached)?,
        };
        let end = exact.map(|_| Stand {
            speed: input.speed,
            distance: path.line().length() - position.s,
            firm: STOPPING,
        });
        let in_turn = progress.standing.rem_euclid(TURNS_WHEELS + DRIVES_OFF);
        let scale = match part {
            Some(_) => kind.scale(),
            None => 1.0,
        };
        let (start, is_patient) = match part {
            Some(_) => (AT_PART_START * scale, in_turn < TURNS_WHEELS),
            None => (AT_START, true),
        };
        // A character turns as it walks off, or on the spot (`pivot.rs`).
        let waits =
            !kind.is_disc && position.s < start && input.speed < STANDS * scale && is_patient;
        let wheels = waits.then(|| {
            let curvature = path.curvature(position.s, position.s + FIRST * scale);
            let steering = atan(input.wheelbase * curvature);
            steering.clamp(-kind.limits.max_steering, kind.limits.max_steering)
        });
        let wheels = wheels.filter(|wheels| (wheels - input.steering).abs() > TURNED);
        if end.is_none() && wheels.is_none() {
            return None;
        }
        let rolls_back = part.is_some() && input.speed < -STANDS && !self.is_too_steep(agent, path);
        Some(ExactDrive {
            end,
            rolls_back: rolls_back.then_some(-input.speed),
            wheels,
            is_on_foot: kind.is_disc,
        })
    }

    /// Whether the slope that an agent faces in the direction of its path is too steep for its
    /// engine.
    fn is_too_steep(&self, agent: AgentIndex, path: &GroundPath) -> bool {
        let limits = &self.vehicle_type(agent).limits;
        let gear = if path.is_reversing() { -1 } else { 1 };
        let pull = pull(self.ground, self.pose(agent), limits.wheelbase, gear);
        pull + limits.max_acceleration < 0.0
    }
}
