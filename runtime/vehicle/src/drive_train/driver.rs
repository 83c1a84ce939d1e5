//! The actuator stage, which converts a controller's request into pedal positions and a gear.

use super::DriveTrain;
use super::shifting::Shifting;
use crate::dynamic::{Propulsion, Push};
use serde::{Deserialize, Serialize};

/// Speed in the wrong direction below which the vehicle counts as stationary, m/s.
const STANDING: f64 = 0.05;

/// Pedal positions, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Pedals {
    /// Fraction of the torque at full throttle.
    pub throttle: f64,
    /// Fraction of full braking.
    pub brake: f64,
}

/// Positions of pedals, hand brake and gear lever.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PedalCommand {
    /// Throttle and foot brake.
    pub pedals: Pedals,
    /// Whether the hand brake is applied.
    pub hand_brake: bool,
    /// Gear, counted from 1 for the first gear in the intended direction of travel. With 0, the
    /// gearbox selects the gear.
    pub gear: u8,
}

impl PedalCommand {
    /// Returns the command with its values clamped. Non-finite values mean full brake.
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

    /// Converts the command for models without individual wheels: a hand brake that acts on a
    /// fraction of the wheels becomes the same fraction of the foot brake.
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

/// State of a drive train between steps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveState {
    /// State of the gearbox.
    pub shifting: Shifting,
    /// Throttle in the last step, 0 to 1.
    pub throttle: f64,
    /// Foot brake in the last step, 0 to 1.
    pub brake: f64,
    /// Speed in the last step, m/s.
    speed: f64,
}

/// A driver that requests an acceleration and operates the pedals of a drive train.
#[derive(Debug)]
pub struct Driver<'a> {
    /// The drive train.
    pub train: &'a DriveTrain,
    /// State of the drive train.
    pub state: &'a mut DriveState,
    /// Requested acceleration in the intended direction of travel, m/s^2. Non-finite values mean full
    /// braking.
    pub acceleration: f64,
    /// Whether the driver wants to reverse.
    pub is_reversing: bool,
    /// Acceleration due to gravity along the heading, m/s^2; negative uphill. Needed only for
    /// models that do not include gravity.
    pub pull: f64,
    /// Pedal positions that are applied directly, in place of the requested acceleration.
    pub pedals: Option<PedalCommand>,
}

impl DriveTrain {
    /// Returns the pedals for an acceleration (m/s^2) at the speed `along` (m/s), both in the
    /// direction of travel. Drag and rolling resistance are compensated as far as the engine and
    /// brakes allow.
    pub fn pedals(&self, shifting: &Shifting, along: f64, acceleration: f64) -> Pedals {
        if !acceleration.is_finite() {
            return Pedals {
                throttle: 0.0,
                brake: 1.0,
            };
        }
        let wanted = self.mass * acceleration + self.resistance(along);
        if wanted < 0.0 {
            // Without brakes, there is no deceleration.
            let brake = -wanted / self.foot_brake.max(f64::MIN_POSITIVE);
            return Pedals {
                throttle: 0.0,
                brake: brake.min(1.0),
            };
        }
        let gear = shifting.gear_of(self);
        // Converted back to a speed along the body, which determines the engine speed. In reverse
        // gear, both are negative.
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

    /// Returns the forces at the given speed along the body (m/s), divided by the mass of the vehicle.
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
    /// Returns the acceleration that the pedals have to provide, m/s^2. On a slope, the engine also has to
    /// overcome gravity. If the vehicle has to stand still, the brake is applied.
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

    /// Whether the slope is too steep for the engine. If it is, the brake only keeps the vehicle
    /// from rolling back.
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
        // The acceleration that resulted from the throttle in the last step. A vehicle that slows
        // down at full throttle shifts down.
        let acceleration = (speed - self.state.speed) / dt * direction;
        let shifting = &mut self.state.shifting;
        shifting.choose_direction(self.train, speed, self.is_reversing);
        // The gear is chosen before the pedals, because the throttle for a force depends on the gear.
        match self.pedals.map_or(0, |held| held.gear) {
            0 => shifting.shift(self.train, speed, self.state.throttle, acceleration, dt),
            gear => shifting.engage(self.train, speed, gear, dt),
        }
        // A gear for the opposite direction is engaged only at a standstill, so the vehicle brakes
        // first. If it has no such gear, it remains at rest.
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
