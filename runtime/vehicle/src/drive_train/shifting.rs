//! The automatic gearbox.

use super::{DriveTrain, Gear};
use serde::{Deserialize, Serialize};

/// Minimum time between two shifts, s.
const REST: f64 = 0.5;
/// Fraction of the rev limit at which the gearbox shifts up. It is below 1, because the engine
/// gives no torque beyond the limit.
const UP: f64 = 0.995;
/// Throttle position above which the throttle counts as fully open.
const FULL: f64 = 0.99;
/// Speed below which a gear in the other direction can be engaged, m/s.
const STANDING: f64 = 0.05;

/// State of an automatic gearbox.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Shifting {
    /// Index of the forward gear, starting at 0.
    pub gear: u8,
    /// Whether the reverse gear is engaged.
    pub is_reverse: bool,
    /// Time until the next shift is possible, s.
    pub rests: f64,
}

impl Shifting {
    /// Returns the engaged gear.
    pub fn gear_of<'a>(&self, train: &'a DriveTrain) -> &'a Gear {
        match &train.reverse {
            Some(reverse) if self.is_reverse => reverse,
            // A save may come from a vehicle that had more gears.
            _ => &train.gears[usize::from(self.gear).min(train.gears.len() - 1)],
        }
    }

    /// Changes between the forward gears and the reverse gear. Does nothing while the vehicle
    /// moves, or if it has no reverse gear.
    pub fn choose_direction(&mut self, train: &DriveTrain, speed: f64, is_reversing: bool) {
        if speed.abs() < STANDING && train.reverse.is_some() {
            self.is_reverse = is_reversing;
        }
    }

    /// Engages a requested gear; 1 is the first forward gear, and numbers above the last gear
    /// select the last gear. As with the automatic gearbox, a shift is delayed until the minimum
    /// time since the last shift has passed and the new gear would keep the engine within its rev
    /// limit.
    pub fn engage(&mut self, train: &DriveTrain, speed: f64, gear: u8, dt: f64) {
        self.rests = (self.rests - dt).max(0.0);
        if self.is_reverse || self.rests > 0.0 {
            return;
        }
        let wanted = usize::from(gear.saturating_sub(1)).min(train.gears.len() - 1);
        let takes_it = train.rpm(&train.gears[wanted], speed) <= train.curve.limit_rpm();
        if wanted != usize::from(self.gear) && takes_it {
            self.gear = wanted as u8;
            self.rests = REST;
        }
    }

    /// Shifts if necessary. Shifts up at the rev limit. Shifts down if the engine speed is too low,
    /// or if the vehicle slows down at full throttle and is slow enough for the lower gear.
    pub fn shift(
        &mut self,
        train: &DriveTrain,
        speed: f64,
        throttle: f64,
        acceleration: f64,
        dt: f64,
    ) {
        self.rests = (self.rests - dt).max(0.0);
        // There is only one reverse gear. The forward gear is remembered while it is engaged.
        if self.is_reverse || self.rests > 0.0 {
            return;
        }
        // A save may come from a vehicle that had more gears.
        self.gear = self.gear.min((train.gears.len() - 1) as u8);
        let rpm = train.rpm(self.gear_of(train), speed);
        if rpm >= UP * train.up_rpm && usize::from(self.gear) + 1 < train.gears.len() {
            self.gear += 1;
            self.rests = REST;
            return;
        }
        let Some(lower) = self.gear.checked_sub(1) else {
            return;
        };
        let slows = throttle > FULL && acceleration < 0.0;
        // Otherwise, the next step would shift up again.
        let takes_it = train.rpm(&train.gears[usize::from(lower)], speed) < UP * train.up_rpm;
        if (rpm < train.down_rpm || slows) && takes_it {
            self.gear = lower;
            self.rests = REST;
        }
    }
}
