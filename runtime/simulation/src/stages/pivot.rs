//! Turns tracked vehicles and characters on the spot if their path leads far to the side or
//! backwards.
//!
//! Controllers are made for cars. None of them steers so sharply that a track has to run backwards.
//! Controllers that follow a circle drive straight on if the waypoint is behind the vehicle.
//! Therefore the host acts like the driver of a tracked vehicle: it slows the vehicle down, turns
//! it on the spot, and then gives control back to the controller.

use crate::perception::View;
use crate::records::{AgentIndex, Command, Order};
use roadwright_geometry::math::atan;
use roadwright_plugin_api::ControllerInput;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::walker;

/// The vehicle turns on the spot if the angle between heading and waypoint exceeds this, rad: 70
/// degrees.
const FROM: f64 = 1.2;
/// A turn on the spot ends when the angle between heading and waypoint is less than this, rad.
const UNTIL: f64 = 0.2;
/// Yaw rate above which a vehicle counts as turning, rad/s.
const TURNING: f64 = 0.05;
/// The steering exceeds the wheel angle that stops one track by this factor, so that this angle is
/// actually reached.
const BEYOND: f64 = 1.03;
/// The vehicle does not turn on the spot if an obstacle ahead is closer than this, m. Its
/// controller then decides how to pass the obstacle.
const CLEAR: f64 = 8.0;
/// Acceleration commanded during the turn to signal the intention to move, m/s^2.
const GOING: f64 = 0.5;
/// A character turns on the spot if the angle between heading and waypoint exceeds this, rad.
const FROM_ON_FOOT: f64 = 1.4;
/// After a turn on the spot, a character resumes walking when the angle between heading and
/// waypoint is less than this, rad.
const FACES_FROM: f64 = 0.5;
/// Speed below which a character stops completely before it turns, m/s.
const WALKS_SLOWLY: f64 = 0.35;
/// Maximum yaw rate of a character that turns on the spot, rad/s.
const TURN_ON_FOOT: f64 = 2.3;
/// Yaw rate of a turning character per radian of remaining angle, 1/s.
const TURNS_TOWARDS: f64 = 4.0;
/// Deceleration before a turn on the spot, m/s^2.
const SLOWING: f64 = 2.0;

/// A turn on the spot that the path requires.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pivot {
    /// Wheel angle that stands for the speeds of the tracks, rad.
    steering: f64,
    /// Whether the vehicle is slow enough to turn (`is_slow`), and whether its wheels have the
    /// required angle (`is_ready`).
    is_slow: bool,
    is_ready: bool,
    /// Acceleration during the turn, once the wheels have the required angle, m/s^2.
    acceleration: f64,
}

impl Pivot {
    /// Returns the order for the turn, which replaces `order`. An order to stand still has
    /// precedence.
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
                // The vehicle stands until the wheels have the required angle. Otherwise it would drive a
                // bend.
                acceleration: if self.is_ready {
                    self.acceleration
                } else {
                    0.0
                },
                steering: self.steering,
            },
            pedals: None,
        }
    }
}

impl View<'_> {
    /// Returns the turn on the spot that an agent's path requires. `None` if it requires none, or
    /// if the vehicle cannot turn on the spot.
    #[inline]
    pub(super) fn pivot(&self, agent: AgentIndex, input: &ControllerInput) -> Option<Pivot> {
        let who = &self.agents.identity[agent.index()];
        match who.level {
            DynamicsLevel::Rigid => self.pivot_of_body(agent, input),
            DynamicsLevel::Walker => self.pivot_on_foot(agent, input),
            _ => None,
        }
    }

    /// Like `pivot`, but for an agent at level `rigid`.
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
            acceleration: GOING,
        })
    }

    /// Like `pivot`, but for a character, which stops before it turns.
    fn pivot_on_foot(&self, agent: AgentIndex, input: &ControllerInput) -> Option<Pivot> {
        let (angle, motion) = (input.waypoint_angle, &self.agents.motion[agent.index()]);
        let is_slow = motion.speed.abs() < WALKS_SLOWLY;
        let has_begun = is_slow && motion.yaw_rate.abs() > TURNING;
        let from = if has_begun { FACES_FROM } else { FROM_ON_FOOT };
        if angle.abs() < from || self.agents.position[agent.index()].is_on_lane() {
            return None;
        }
        let kind = self
            .types
            .get(self.agents.identity[agent.index()].vehicle_type);
        // The character turns more slowly towards the end, so that it does not overshoot.
        let rate = (TURNS_TOWARDS * angle).clamp(-TURN_ON_FOOT, TURN_ON_FOOT);
        Some(Pivot {
            steering: walker::steering(&kind.limits, motion.speed, rate),
            is_slow,
            is_ready: true,
            acceleration: -SLOWING,
        })
    }
}
