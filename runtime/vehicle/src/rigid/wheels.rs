//! Rotation of wheels, and their forces on the ground.
//!
//! A wheel **rolls** as long as its tyre transmits the forces of engine and brake. It then turns
//! with the ground, apart from a small slip caused by the force. If the forces exceed the grip, the
//! wheel **slides**: with too much torque it spins up against its inertia, with too much braking it
//! locks, and friction acts on the ground in the sliding direction of the contact. A wheel in the
//! air keeps its rotation.

use super::brush::{Grip, Torque};
use crate::dynamic::Tyre;
use glam::DVec2;
use roadwright_geometry::math::atan2;
use serde::{Deserialize, Serialize};

/// Speed below which slip is not defined, m/s.
const SLIPLESS: f64 = 0.1;
/// Maximum slip ratio of a rolling wheel.
const MOST_CREEP: f64 = 0.3;
/// Minimum reference speed for comparing the speeds of locked wheels, m/s.
const SLOWEST: f64 = 2.0;
/// Number of bisection steps in the search for the speed of locked wheels.
const HALVINGS: u32 = 48;

/// Rotation of a wheel, and its values from the last step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct WheelState {
    /// Rotational speed, rad/s; positive forwards.
    pub spin: f64,
    /// Whether the wheel slides, which means that it turns faster or slower than a rolling wheel.
    pub slides: bool,
    /// Steering angle, rad, positive to the left.
    pub steering: f64,
    /// Spring travel from the rest position, m; negative in rebound.
    pub travel: f64,
    /// Slip ratio: the circumferential speed of the wheel minus the ground speed, divided by the
    /// larger of the two. -1 for a locked wheel, 1 for a wheel that spins on the spot, 0 in the air
    /// and at rest.
    pub slip_ratio: f64,
    /// Angle between the wheel's heading and its motion, rad, positive if the wheel drifts to the left; 0 in
    /// the air and at rest.
    pub slip_angle: f64,
}

/// The rotating parts of a wheel within a solver step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turning {
    /// Radius of the wheel, m.
    pub(super) radius: f64,
    /// Inertia, expressed as a mass at the circumference, kg.
    pub(super) mass: f64,
    /// Whether excess torque spins up the wheel, as the torque of an engine does.
    pub(super) is_engine: bool,
    /// Maximum circumferential speed to which the engine can turn the wheel, m/s.
    pub(super) fastest: f64,
    /// Time step, s.
    pub(super) dt: f64,
}

impl WheelState {
    /// Circumferential speed, m/s.
    pub(super) fn rim(&self, radius: f64) -> f64 {
        self.spin * radius
    }

    /// Returns the force of the engine and brake on the ground before the tyre responds. For a
    /// rolling wheel, this is the whole force. For a sliding wheel, it is friction, and the rest
    /// changes the speed of the wheel.
    pub(super) fn pull(
        &mut self,
        torque: Torque,
        grip: &Grip,
        velocity: DVec2,
        turning: &Turning,
    ) -> Torque {
        if !self.slides {
            return torque;
        }
        let (rim, most) = (self.rim(turning.radius), grip.friction * grip.load);
        let per_force = turning.dt / turning.mass;
        let braked = held_back(rim, torque, per_force);
        let (slip, across) = (rim - velocity.x, velocity.y.abs());
        let size = DVec2::new(slip, across).length();
        // Longitudinal friction and its increase with slip, integrated implicitly so that friction never
        // reverses the motion.
        let (friction, slope) = if size > 0.0 {
            (
                most * slip / size,
                most * across * across / (size * size * size),
            )
        } else {
            (0.0, 0.0)
        };
        let change = (braked - rim - friction * per_force) / (1.0 + slope * per_force);
        let mut after = rim + change;
        let left = after - velocity.x;
        // A wheel that is locked by its brake does not count as sliding here, however strong the
        // brake is, because the tyre determines whether it holds. Only a drive force beyond the
        // grip keeps the wheel spinning.
        let is_held = torque.drive.abs() - torque.brake <= most;
        if most > 0.0 && left * slip <= 0.0 && (is_held || size == 0.0) {
            self.slides = false;
            return torque;
        }
        let fastest = turning.fastest.max(velocity.x.abs()).max(rim.abs());
        after = after.max(-fastest).min(fastest);
        self.spin = after / turning.radius;
        let left = after - velocity.x;
        let size = DVec2::new(left, across).length();
        let friction = if size > 0.0 { most * left / size } else { 0.0 };
        Torque {
            drive: friction,
            brake: 0.0,
        }
    }

    /// Updates the spin of a rolling wheel. `wanted` is the longitudinal force that was requested,
    /// `force` the one that the tyre transmits, N. If the tyre transmits less, an excess of braking
    /// slows the wheel down, possibly to a stop, and an excess of drive makes it slide.
    pub(super) fn roll(
        &mut self,
        torque: Torque,
        force: f64,
        wanted: f64,
        grip: &Grip,
        speed: f64,
        turning: &Turning,
    ) {
        if self.slides {
            return;
        }
        if grip.load <= 0.0 {
            self.slides = true;
            return;
        }
        let creep = (force / (grip.stiffness * grip.load)).clamp(-MOST_CREEP, MOST_CREEP);
        let rolling = speed + speed.abs() * creep;
        let is_cut = wanted.abs() > force.abs();
        let rim = if is_cut && torque.brake > torque.drive.abs() {
            // The wheel is braked harder than the ground can drive it.
            let slower = (wanted.abs() - force.abs()) * turning.dt / turning.mass;
            let before = self.rim(turning.radius).abs().min(rolling.abs());
            (before - slower).max(0.0).copysign(speed)
        } else if is_cut && turning.is_engine && torque.drive.abs() > force.abs() {
            self.slides = true;
            let faster = (torque.drive - force) * turning.dt / turning.mass;
            let fastest = turning.fastest.max(rolling.abs());
            (rolling + faster).max(-fastest).min(fastest)
        } else {
            rolling
        };
        self.spin = rim / turning.radius;
    }

    /// Computes the slip from the rotation of the wheel and the velocity of its contact, m/s.
    pub(super) fn read_slip(&mut self, velocity: DVec2, radius: f64, load: f64) {
        let rim = self.rim(radius);
        let fastest = rim.abs().max(velocity.x.abs());
        (self.slip_ratio, self.slip_angle) = (0.0, 0.0);
        if load > 0.0 && fastest > SLIPLESS {
            self.slip_ratio = (rim - velocity.x) / fastest;
        }
        if load > 0.0 && velocity.length() > SLIPLESS {
            self.slip_angle = atan2(velocity.y, velocity.x.abs());
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        let numbers = [
            self.spin,
            self.steering,
            self.travel,
            self.slip_ratio,
            self.slip_angle,
        ];
        numbers.iter().all(|number| number.is_finite())
    }
}

/// Returns the circumferential speed of a wheel on which only the engine and the brake act. The
/// brake can stop the wheel but not reverse it.
fn held_back(rim: f64, torque: Torque, per_force: f64) -> f64 {
    let driven = rim + torque.drive * per_force;
    let braked = torque.brake * per_force;
    (driven.abs() - braked).max(0.0).copysign(driven)
}

/// Wheels that are forced to the same speed by a locked differential.
#[derive(Debug, Clone, Copy)]
pub(super) struct Locked {
    /// Circumferential speed, m/s.
    pub(super) rim: f64,
}

impl Locked {
    /// Returns the common speed of the wheels after a step, m/s. The engine force `drive` (N)
    /// accelerates them from the speed `before` against their tyre forces. `wheels` contains the
    /// grip and longitudinal speed of each wheel.
    pub(super) fn turn(before: f64, drive: f64, wheels: &[(Grip, f64)], turning: &Turning) -> Self {
        let mass = turning.mass * wheels.len() as f64;
        let grip: f64 = wheels
            .iter()
            .map(|(grip, _)| grip.friction * grip.load)
            .sum();
        let most = (drive.abs() + grip) * turning.dt / mass;
        let (mut low, mut high) = (before - most, before + most);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let tyres = wheels
                .iter()
                .map(|(grip, speed)| Self { rim: middle }.force(grip, *speed));
            let left = drive - tyres.sum::<f64>() - mass * (middle - before) / turning.dt;
            if left > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let fastest = turning.fastest.max(before.abs());
        Self {
            rim: (0.5 * (low + high)).max(-fastest).min(fastest),
        }
    }

    /// Returns the longitudinal force of one of the wheels, whose contact moves at the given speed, m/s. The
    /// force increases with the slip, up to the grip.
    pub(super) fn force(self, grip: &Grip, speed: f64) -> f64 {
        let slip = (self.rim - speed) / speed.abs().max(SLOWEST);
        let force = grip.stiffness * slip * grip.load;
        if grip.tyre == Tyre::Linear && grip.friction.is_infinite() {
            return force;
        }
        let most = grip.friction * grip.load;
        force.max(-most).min(most)
    }
}
