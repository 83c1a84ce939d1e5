//! The actuator stage: what a controller wishes for becomes pedals and a gear.

use super::DriveTrain;
use super::shifting::Shifting;
use crate::dynamic::{Propulsion, Push};
use serde::{Deserialize, Serialize};

/// Slower than this the other way, the vehicle counts as standing, m/s.
const STANDING: f64 = 0.05;

/// Pedals, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Pedals {
    /// Share of the torque curve.
    pub throttle: f64,
    /// Share of the foot brake.
    pub brake: f64,
}

/// Pedals, hand brake and gear lever as somebody holds them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PedalCommand {
    /// Throttle and foot brake.
    pub pedals: Pedals,
    /// Whether the hand brake is on.
    pub hand_brake: bool,
    /// Gear, from 1 for the first one the way that the vehicle is to drive; 0 leaves it to the gearbox.
    pub gear: u8,
}

impl PedalCommand {
    /// The same within what pedals can be; what is not finite is the whole brake.
    pub fn checked(self) -> Self {
        let Pedals { throttle, brake } = self.pedals;
        let pedals = if throttle.is_finite() && brake.is_finite() {
            Pedals {
                throttle: throttle.clamp(0.0, 1.0),
                brake: brake.clamp(0.0, 1.0),
            }
        } else {
            Pedals {
                throttle: 0.0,
                brake: 1.0,
            }
        };
        Self { pedals, ..self }
    }

    /// The same where wheels are not modelled one by one: a hand brake that holds a share of them does what
    /// that share of the foot brake does.
    pub fn with_held(self, share: f64) -> Self {
        if !self.hand_brake {
            return self;
        }
        let brake = (self.pedals.brake + share).min(1.0);
        Self {
            pedals: Pedals {
                brake,
                ..self.pedals
            },
            hand_brake: false,
            ..self
        }
    }
}

/// What a drive train keeps from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveState {
    /// Of the gearbox.
    pub shifting: Shifting,
    /// Throttle in the last step, 0 to 1.
    pub throttle: f64,
    /// Foot brake in the last step, 0 to 1.
    pub brake: f64,
    /// Speed in the last step, m/s.
    speed: f64,
}

/// A driver who wishes for an acceleration, with the pedals of a drive train.
#[derive(Debug)]
pub struct Driver<'a> {
    /// The drive train.
    pub train: &'a DriveTrain,
    /// What it keeps.
    pub state: &'a mut DriveState,
    /// Wanted acceleration the way that it is to drive, m/s^2; one that is not finite counts as full
    /// braking.
    pub acceleration: f64,
    /// Whether it is to drive backwards.
    pub is_reversing: bool,
    /// Of gravity along the heading, m/s^2, where the model does not know it otherwise; less than 0 uphill.
    pub pull: f64,
    /// Pedals that somebody else holds, instead of the acceleration: they are taken as they are.
    pub pedals: Option<PedalCommand>,
}

impl DriveTrain {
    /// The pedals that give a wanted acceleration the way that the vehicle drives, m/s^2, at a speed
    /// that way: what air and rolling take is added, and what is more than the engine or the brakes
    /// have is cut.
    pub fn pedals(&self, shifting: &Shifting, along: f64, acceleration: f64) -> Pedals {
        if !acceleration.is_finite() {
            return Pedals {
                throttle: 0.0,
                brake: 1.0,
            };
        }
        let wanted = self.mass * acceleration + self.resistance(along);
        if wanted < 0.0 {
            // Without brakes nothing brakes.
            let brake = -wanted / self.foot_brake.max(f64::MIN_POSITIVE);
            return Pedals {
                throttle: 0.0,
                brake: brake.min(1.0),
            };
        }
        let gear = shifting.gear_of(self);
        // Back to a speed along the body, which is what the engine turns by: in reverse gear both are
        // negative.
        let signed = if gear.ratio < 0.0 { -along } else { along };
        let full = self.full_force(gear, signed).abs();
        let throttle = if full > 0.0 {
            (wanted / full).min(1.0)
        } else {
            0.0
        };
        Pedals {
            throttle,
            brake: 0.0,
        }
    }

    /// Forces over the mass of the vehicle at a speed along the body, m/s.
    pub fn push(&self, shifting: &Shifting, pedals: Pedals, speed: f64) -> Push {
        let gear = shifting.gear_of(self);
        Push {
            drive: pedals.throttle * self.full_force(gear, speed) / self.mass,
            driven_front: Some(gear.front),
            brake: pedals.brake * self.foot_brake / self.mass,
            resistance: self.resistance(speed) / self.mass,
            slope: 0.0,
            bank: 0.0,
        }
    }
}

impl Driver<'_> {
    /// The acceleration that pedals have to give, m/s^2: on a slope the engine carries the weight as well,
    /// and who wants to stand stands on the brake.
    fn wanted(&self, along: f64, dt: f64) -> f64 {
        if self.pull == 0.0 {
            return self.acceleration;
        }
        let stands = along.abs() < STANDING || along + self.acceleration * dt <= 0.0;
        if self.acceleration <= 0.0 && stands {
            return f64::NAN;
        }
        self.acceleration
            - if self.is_reversing {
                -self.pull
            } else {
                self.pull
            }
    }

    /// Whether the slope is stronger than all that the engine has: a vehicle that rolls back there would
    /// only hang on its brakes.
    fn is_too_steep(&self) -> bool {
        let gear = self.state.shifting.gear_of(self.train);
        let force = self.train.full_force(gear, 0.0).abs() / self.train.mass;
        let uphill = if self.is_reversing {
            self.pull
        } else {
            -self.pull
        };
        self.acceleration > 0.0 && force < uphill
    }
}

impl Propulsion for Driver<'_> {
    fn push(&mut self, speed: f64, dt: f64) -> Push {
        let direction = if self.is_reversing { -1.0 } else { 1.0 };
        let along = speed * direction;
        // What the throttle of the last step came to: whoever slows at full throttle shifts down.
        let acceleration = (speed - self.state.speed) / dt * direction;
        let pedalled = (self.state.throttle, acceleration);
        let shifting = &mut self.state.shifting;
        // Gear first, then pedals: the throttle that gives a force depends on the gear that is in.
        match self.pedals.map_or(0, |held| held.gear) {
            0 => shifting.shift(self.train, speed, pedalled, self.is_reversing, dt),
            gear => shifting.engage(self.train, speed, gear, self.is_reversing, dt),
        }
        // A gear of the other direction is engaged when the vehicle stands: until then it brakes. One
        // that has no such gear stays where it is.
        let has_gear = shifting.is_reverse == self.is_reversing;
        let can = has_gear && self.pedals.is_none() && (along > -STANDING || self.is_too_steep());
        let wanted = if can {
            self.wanted(along, dt)
        } else {
            f64::NAN
        };
        let shifting = &self.state.shifting;
        let pedals = match self.pedals {
            Some(held) if has_gear => held.pedals,
            _ => self.train.pedals(shifting, along.max(0.0), wanted),
        };
        let push = Push {
            slope: self.pull,
            ..self.train.push(shifting, pedals, speed)
        };
        self.state.throttle = pedals.throttle;
        self.state.brake = pedals.brake;
        self.state.speed = speed;
        push
    }
}
