//! Wheels that turn: how fast each one does, and what it does to the ground.
//!
//! A wheel **rolls** as long as its tyre holds what engine and brake ask of it: then it turns with the
//! ground, and a little faster or slower as the force takes (its slip). Beyond that it **slides**: a
//! wheel with too much torque turns up, with the mass that turns with it, and the ground gets friction
//! the way that its contact slides; a wheel with too much brake stands still. A wheel in the air goes
//! on as it is.

use super::brush::{Grip, Torque};
use crate::dynamic::Tyre;
use glam::DVec2;
use roadwright_geometry::math::atan2;
use serde::{Deserialize, Serialize};

/// Below this speed slip says nothing, m/s.
const SLIPLESS: f64 = 0.1;
/// A wheel that rolls slips no more than this share.
const MOST_CREEP: f64 = 0.3;
/// Speeds of wheels that are locked to each other are compared at this speed at least, m/s.
const SLOWEST: f64 = 2.0;
/// Halvings of the range in which the speed of locked wheels is looked for.
const HALVINGS: u32 = 48;

/// How a wheel turns, and what was read of it in the last step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct WheelState {
    /// How fast it turns, rad/s; positive forwards.
    pub spin: f64,
    /// Whether it turns on its own, faster or slower than the ground takes it.
    pub slides: bool,
    /// Its angle to the hull, rad, positive to the left.
    pub steering: f64,
    /// How far its spring is pressed in from where it is at rest, m; negative: it hangs.
    pub travel: f64,
    /// How much faster than the ground its circumference is, over the larger one of the two: -1 for a
    /// locked wheel, 1 for one that spins on the spot, 0 in the air and at rest.
    pub slip_ratio: f64,
    /// Angle between the way that it points and the way that it moves, rad, positive if it drifts to
    /// the left; 0 in the air and at rest.
    pub slip_angle: f64,
}

/// What turns with a wheel, in a step of the solver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turning {
    /// Of the wheel, m.
    pub(super) radius: f64,
    /// Inertia at the circumference, kg.
    pub(super) mass: f64,
    /// Whether torque that the ground does not take turns it up: that of an engine does.
    pub(super) is_engine: bool,
    /// The engine turns the wheel no faster than this, m/s at the circumference.
    pub(super) fastest: f64,
    /// s.
    pub(super) dt: f64,
}

impl WheelState {
    /// Speed of the circumference, m/s.
    pub(super) fn rim(&self, radius: f64) -> f64 {
        self.spin * radius
    }

    /// What the ground gets of engine and brake before its tyre has answered: all of it of a wheel that
    /// rolls, and friction from one that slides, which turns faster or slower by the rest.
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
        // Friction along, and how it grows with the slip: by the implicit rule, it never turns about.
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
        let is_held = (torque.drive.abs() - torque.brake).abs() <= most;
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

    /// Turns a wheel that rolls after its tyre has answered with a force along, N, where `wanted` was
    /// what engine and brake asked for. What the ground did not take makes it slide or stops it.
    pub(super) fn roll(
        &mut self,
        (torque, force, wanted): (Torque, f64, f64),
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
            // It is braked harder than the ground can turn it.
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

    /// Reads slip from how it turns and how its contact moves, m/s.
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

/// Speed of a circumference that engine and brake alone turn: the brake stops it at most.
fn held_back(rim: f64, torque: Torque, per_force: f64) -> f64 {
    let driven = rim + torque.drive * per_force;
    let braked = torque.brake * per_force;
    (driven.abs() - braked).max(0.0).copysign(driven)
}

/// Wheels that a locked differential turns at one speed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Locked {
    /// Speed of their circumferences, m/s.
    pub(super) rim: f64,
}

impl Locked {
    /// The speed to which a force of the engine, N, brings them from one before, m/s, against their
    /// tyres; `wheels` are grips and speeds along.
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

    /// Force along of one of them whose contact moves at a speed, m/s: it grows with the slip up to
    /// the grip.
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
