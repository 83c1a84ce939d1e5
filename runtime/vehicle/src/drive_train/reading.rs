//! Instrument readings of a drive train.

use super::{DriveState, DriveTrain};

/// State of a drive train as shown on the driver's instruments.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DriveReading {
    /// Engine speed, rpm; at least the idle speed.
    pub rpm: f64,
    /// Idle speed, rpm. Below it, the clutch slips.
    pub idle_rpm: f64,
    /// Maximum engine speed (rev limit), rpm.
    pub limit_rpm: f64,
    /// Current gear: 1 is the first forward gear, -1 the reverse gear.
    pub gear: i8,
    /// Engine revolutions per wheel revolution; negative in reverse.
    pub ratio: f64,
    /// Throttle pedal, 0 to 1.
    pub throttle: f64,
    /// Brake pedal, 0 to 1.
    pub brake: f64,
    /// Clutch engagement, 0 to 1. The clutch slips below the idle speed.
    pub clutch: f64,
}

impl DriveTrain {
    /// Returns the readings for a circumferential speed of the driven wheels, m/s.
    pub fn reading(&self, state: &DriveState, speed: f64) -> DriveReading {
        let shifting = &state.shifting;
        let gear = shifting.gear_of(self);
        let is_backwards = gear.ratio < 0.0;
        let turned = self.rpm(gear, speed).max(0.0);
        let idle = self.curve.idle_rpm();
        let number = shifting.gear.min(self.gears.len() as u8 - 1) as i8 + 1;
        DriveReading {
            rpm: turned.max(idle),
            idle_rpm: idle,
            limit_rpm: self.curve.limit_rpm(),
            gear: if is_backwards { -1 } else { number },
            ratio: gear.ratio,
            throttle: state.throttle,
            brake: state.brake,
            clutch: if idle > 0.0 {
                (turned / idle).min(1.0)
            } else {
                1.0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_train::Shifting;
    use crate::drive_train::tests::willys;

    #[test]
    fn dials_show_the_gear_the_engine_and_the_clutch() {
        let train = willys();
        let mut state = DriveState::default();
        let at_rest = train.reading(&state, 0.0);
        assert_eq!((at_rest.gear, at_rest.rpm, at_rest.clutch), (1, 600.0, 0.0));
        state.shifting = Shifting {
            gear: 2,
            ..Shifting::default()
        };
        let rolling = train.reading(&state, 20.0);
        let turned = 20.0 / 0.41 * 5.38 * 60.0 / std::f64::consts::TAU;
        assert!((rolling.rpm - turned).abs() < 1e-9, "{rolling:?}");
        assert_eq!((rolling.gear, rolling.clutch), (3, 1.0));
        state.shifting.is_reverse = true;
        let backwards = train.reading(&state, -2.0);
        assert_eq!(backwards.gear, -1);
        assert!(backwards.rpm > 600.0, "{backwards:?}");
    }
}
