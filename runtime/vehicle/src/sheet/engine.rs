//! Torque and power of the engine, and traction forces as a function of speed.

use super::Sheet;
use crate::drive_train::DriveTrain;
use crate::dynamic::GRAVITY;
use std::f64::consts::TAU;

/// Number of intervals of a plotted curve.
const POINTS: u32 = 120;
/// End of the resistance curve, as a multiple of the top speed.
const BEYOND: f64 = 1.15;

/// Operating point of an engine at full throttle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnginePoint {
    /// Engine speed, rpm.
    pub rpm: f64,
    /// Torque, N m.
    pub torque: f64,
    /// Power, W.
    pub power: f64,
}

/// Full-throttle force of a gear as a function of speed.
#[derive(Debug, Clone, PartialEq)]
pub struct GearForce {
    /// Name of the gear.
    pub name: String,
    /// Points up to the rev limit. Each consists of a speed (m/s) and the force of the wheels on
    /// the ground (N).
    pub points: Vec<[f64; 2]>,
}

/// Forces as a function of speed on level ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Traction {
    /// Forces of the forward gears, from first to last.
    pub gears: Vec<GearForce>,
    /// Points of the resistance curve. Each consists of a speed (m/s) and the sum of drag and
    /// rolling resistance (N).
    pub resistance: Vec<[f64; 2]>,
    /// Top speed, m/s, at which the force balances the resistance or the engine reaches its rev
    /// limit.
    pub top_speed: f64,
    /// Maximum force of the tyres of all wheels, N; infinite if the file has no friction.
    pub grip: f64,
}

/// Returns equally spaced values from 0 to 1, including both.
pub(super) fn parts() -> impl Iterator<Item = f64> {
    (0..=POINTS).map(|part| f64::from(part) / f64::from(POINTS))
}

impl DriveTrain {
    /// Torque and power at full throttle from idle to the rev limit.
    pub fn engine_curve(&self) -> Vec<EnginePoint> {
        let (idle, limit) = (self.curve.idle_rpm(), self.curve.limit_rpm());
        let point = |part: f64| {
            // The last point is exactly at the limit, above which there is no torque.
            let rpm = (idle + part * (limit - idle)).min(limit);
            let torque = self.curve.torque(rpm);
            EnginePoint {
                rpm,
                torque,
                power: torque * rpm * TAU / 60.0,
            }
        };
        parts().map(point).collect()
    }

    /// Maximum power of the engine, W.
    pub fn most_power(&self) -> f64 {
        let powers = self.engine_curve().into_iter().map(|point| point.power);
        powers.fold(0.0, f64::max)
    }

    /// Maximum torque of the engine, N m.
    pub fn most_torque(&self) -> f64 {
        self.curve.peak()
    }

    /// Returns the force curves of all gears, and the resistance curve.
    pub fn traction_curves(&self) -> Traction {
        let gears = self.gears.iter().map(|gear| {
            let limit = self.speed(gear, self.curve.limit_rpm());
            // Slightly reduced, so that rounding does not exceed the rev limit.
            let speeds = parts().map(|part| part * limit * (1.0 - 1e-12));
            GearForce {
                name: gear.name.clone(),
                points: speeds
                    .map(|speed| [speed, self.full_force(gear, speed)])
                    .collect(),
            }
        });
        let top_speed = self.top_speed();
        let speeds = parts().map(|part| part * BEYOND * top_speed);
        Traction {
            gears: gears.collect(),
            resistance: speeds.map(|v| [v, self.resistance(v)]).collect(),
            top_speed,
            grip: self.friction * self.mass * self.own_share * GRAVITY,
        }
    }
}

impl Sheet<'_> {
    /// Torque and power at full throttle; empty without a drive train.
    pub fn engine_curve(&self) -> Vec<EnginePoint> {
        let train = self.train.as_ref();
        train.map(DriveTrain::engine_curve).unwrap_or_default()
    }

    /// Returns the forces as a function of speed; `None` if the file has no drive train.
    pub fn traction_curves(&self) -> Option<Traction> {
        self.train.as_ref().map(DriveTrain::traction_curves)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::drive_train::tests::{enviro, willys};

    #[test]
    fn power_is_torque_times_speed_up_to_the_rev_limit() {
        let curve = willys().engine_curve();
        let (first, last) = (curve[0], curve[curve.len() - 1]);
        assert_eq!((first.rpm, first.torque), (600.0, 119.31));
        assert_eq!((last.rpm, last.torque), (4000.0, 105.75));
        // 105.75 N m at 4000 rpm, computed by hand.
        assert!((last.power - 44_296.5).abs() < 1.0, "{last:?}");
        assert_eq!(willys().most_torque(), 143.72);
        assert_eq!(willys().most_power(), last.power);
    }

    #[test]
    fn the_last_gear_ends_at_the_top_speed_and_has_force_to_spare() {
        for train in [willys(), enviro()] {
            let curves = train.traction_curves();
            assert_eq!(curves.gears.len(), train.gears.len());
            let last = curves.gears.last().unwrap().points.last().unwrap();
            // The engine speed limits both.
            assert!((last[0] / curves.top_speed - 1.0).abs() < 1e-9);
            assert!(last[1] > train.resistance(last[0]), "{last:?}");
            // A higher gear has less force and a higher top speed.
            for pair in curves.gears.windows(2) {
                assert!(pair[0].points[0][1] > pair[1].points[0][1]);
                assert!(pair[0].points.last().unwrap()[0] < pair[1].points.last().unwrap()[0]);
            }
            let beyond = curves.resistance.last().unwrap()[0];
            assert!(beyond > curves.top_speed);
        }
    }

    #[test]
    fn in_a_wind_the_curves_cross_at_the_top_speed() {
        let barn = DriveTrain {
            drag: 5.0,
            ..willys()
        };
        let curves = barn.traction_curves();
        let top = curves.top_speed;
        let gears = barn.gears.iter();
        let most = gears
            .map(|gear| barn.full_force(gear, top))
            .fold(0.0, f64::max);
        assert!((most - barn.resistance(top)).abs() < 1.0);
        let last = curves.gears.last().unwrap().points.last().unwrap()[0];
        assert!(top < 0.8 * last);
    }
}
