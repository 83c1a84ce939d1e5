//! Vehicles on tracks turn on the spot where their way leads far to the side, or back.
//!
//! Controllers drive cars: none of them turns the wheels so far that a track would have to run backwards,
//! and towards what is behind it a car that follows a circle drives straight on. So the host does what a
//! driver of such a vehicle would: it slows down, turns on the spot, and lets the controller go on.

use crate::perception::View;
use crate::records::{AgentIndex, Command, Order};
use roadwright_geometry::math::atan;
use roadwright_plugin_api::ControllerInput;
use roadwright_scenario::DynamicsLevel;

/// A way-point that lies farther from the heading than this is turned to on the spot, rad: 70 degrees. A
/// turn that has begun ends at the smaller angle.
const FROM: f64 = 1.2;
const UNTIL: f64 = 0.2;
/// Who turns faster than this has begun, rad/s.
const TURNING: f64 = 0.05;
/// Beyond the angle at which a track stands still, so that it is reached.
const BEYOND: f64 = 1.03;
/// With an obstacle nearer than this ahead, m, the controller is the one to pass it.
const CLEAR: f64 = 8.0;
/// Acceleration that says that one wants to go on, and braking before the turn, m/s^2.
const GOING: f64 = 0.5;
const SLOWING: f64 = 2.0;

/// A turn on the spot that the way asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pivot {
    /// Angle of the wheels of the car in place of the tracks, rad.
    steering: f64,
    /// Whether it is slow enough, and its wheels are turned so far.
    is_slow: bool,
    is_ready: bool,
}

impl Pivot {
    /// What a command becomes; one that wants to stand stays.
    pub(super) fn over(self, order: Order) -> Order {
        let command = order.command;
        if !self.is_slow {
            return if command.acceleration <= -SLOWING {
                order
            } else {
                order.with_acceleration(-SLOWING)
            };
        }
        if command.acceleration <= 0.0 {
            return order;
        }
        Order {
            command: Command {
                // Until the wheels are there it stands: it would drive a bend.
                acceleration: if self.is_ready { GOING } else { 0.0 },
                steering: self.steering,
            },
            pedals: None,
        }
    }
}

impl View<'_> {
    /// The turn on the spot that the way of an agent asks for, if its vehicle can.
    #[inline]
    pub(super) fn pivot(&self, agent: AgentIndex, input: &ControllerInput) -> Option<Pivot> {
        let who = &self.agents.identity[agent.index()];
        match who.level {
            DynamicsLevel::Rigid => self.pivot_of_body(agent, input),
            _ => None,
        }
    }

    /// The same for an agent of level `rigid`.
    fn pivot_of_body(&self, agent: AgentIndex, input: &ControllerInput) -> Option<Pivot> {
        let who = &self.agents.identity[agent.index()];
        let kind = self.types.get(who.vehicle_type);
        if !kind.has_tracks {
            return None;
        }
        let tracks = self.types.rigid(who.vehicle_type).tracks?;
        let (angle, motion) = (input.waypoint_angle, &self.agents.motion[agent.index()]);
        let is_slow = motion.speed.abs() < 0.9 * tracks.pivot_speed;
        let has_begun = is_slow && motion.yaw_rate.abs() > TURNING;
        let from = if has_begun { UNTIL } else { FROM };
        let is_clear = input.obstacle_distance > CLEAR;
        let tight = atan(kind.limits.wheelbase * BEYOND * 2.0 / tracks.tread);
        if angle.abs() < from || !is_clear || tight > kind.limits.max_steering {
            return None;
        }
        let side = angle.signum();
        Some(Pivot {
            steering: side * tight,
            is_slow,
            is_ready: has_begun || side * input.steering > tight - 0.01,
        })
    }
}
