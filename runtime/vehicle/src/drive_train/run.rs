//! A straight drive with given pedals, and its energy balance.

use super::shifting::Shifting;
use super::{DriveTrain, Pedals};
use crate::dynamic::GRAVITY;
use roadwright_geometry::math::{cos, sin};
use std::f64::consts::TAU;

/// Energies since the start, J.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energy {
    /// Energy from the engine.
    pub engine: f64,
    /// Loss in the slipping clutch.
    pub clutch: f64,
    /// Loss in gearbox and final drive.
    pub gearbox: f64,
    /// Loss to drag.
    pub drag: f64,
    /// Loss to rolling resistance.
    pub rolling: f64,
    /// Loss in the brakes.
    pub brakes: f64,
    /// Gain in potential energy.
    pub height: f64,
    /// Gain in kinetic energy.
    pub kinetic: f64,
}

impl Energy {
    /// Returns the unaccounted energy as a fraction of the engine's energy or, if the engine gave
    /// none, of all converted energy.
    pub fn unaccounted(&self) -> f64 {
        let lost = self.clutch + self.gearbox + self.drag + self.rolling + self.brakes;
        let missing = self.engine - (lost + self.height + self.kinetic);
        missing.abs() / self.engine.max(lost).max(f64::MIN_POSITIVE)
    }
}

/// A vehicle on a straight road.
#[derive(Debug, Clone, PartialEq)]
pub struct StraightRun<'a> {
    train: &'a DriveTrain,
    /// Grade of the road, rad.
    grade: f64,
    /// State of the gearbox.
    pub shifting: Shifting,
    /// Speed, at least 0, m/s.
    pub speed: f64,
    /// Distance travelled since the start, m.
    pub distance: f64,
    /// Time since the start, s.
    pub time: f64,
    /// Acceleration in the last step, m/s^2.
    pub acceleration: f64,
    /// Energy balance.
    pub energy: Energy,
}

impl<'a> StraightRun<'a> {
    /// Creates a vehicle in the gear for its speed. `speed` is in m/s, and `grade` is the grade of the road
    /// in rad.
    pub fn new(train: &'a DriveTrain, speed: f64, grade: f64) -> Self {
        let mut shifting = Shifting::default();
        while train.rpm(shifting.gear_of(train), speed) >= train.up_rpm
            && usize::from(shifting.gear) + 1 < train.gears.len()
        {
            shifting.gear += 1;
        }
        Self {
            train,
            grade,
            shifting,
            speed,
            distance: 0.0,
            time: 0.0,
            acceleration: 0.0,
            energy: Energy::default(),
        }
    }

    /// Drives for `dt` seconds. Throttle and brake are limited by the grip, and the vehicle does not roll
    /// backwards.
    pub fn step(&mut self, pedals: Pedals, dt: f64) {
        let (train, speed) = (self.train, self.speed);
        (self.shifting).shift(train, speed, pedals.throttle, self.acceleration, dt);
        // Midpoint rule: a half step gives the speed at the middle. The forces at that speed act
        // over the distance at the mean speed, so the work that they do equals the change of
        // kinetic energy, and the balance closes.
        let first = self.forces(pedals, self.speed);
        let middle = (self.speed + 0.5 * dt * first.sum() / self.train.mass).max(0.0);
        let forces = self.forces(pedals, middle);
        let after = self.speed + dt * forces.sum() / self.train.mass;
        // The vehicle stops within the step and stays there.
        let time = if after < 0.0 {
            dt * self.speed / (self.speed - after)
        } else {
            dt
        };
        let after = after.max(0.0);
        let travelled = 0.5 * (self.speed + after) * time;
        self.account(&forces, after, travelled, time);
        self.acceleration = (after - self.speed) / dt;
        self.distance += travelled;
        self.time += dt;
        self.speed = after;
    }

    fn forces(&self, pedals: Pedals, speed: f64) -> Forces {
        let (train, gear) = (self.train, self.shifting.gear_of(self.train));
        let load = train.mass * GRAVITY * cos(self.grade);
        let drive = pedals.throttle * train.full_force(gear, speed);
        // The brakes do not push a stationary vehicle backwards. A vehicle that stops within the step is
        // braked until it stops.
        let moves = self.speed > 0.0;
        let held = |force: f64| if moves { force } else { 0.0 };
        Forces {
            drive: drive.min(train.traction(gear, load)),
            brake: held((pedals.brake * train.foot_brake).min(train.friction * load)),
            drag: train.drag * speed * speed,
            rolling: train.rolling * speed,
            slope: train.mass * GRAVITY * sin(self.grade),
        }
    }

    /// Adds the energies of a step over `travelled` metres. The engine's energy is computed from its speed
    /// and torque, and the other energies from force and distance.
    fn account(&mut self, forces: &Forces, after: f64, travelled: f64, time: f64) {
        let (train, gear) = (self.train, self.shifting.gear_of(self.train));
        // Computed from the force at the wheels, because the grip may have reduced the force that the
        // throttle requested.
        let torque = forces.drive * train.radius / (gear.ratio * train.efficiency);
        // Rotation of the shaft behind the clutch in this step, rad.
        let turned = travelled / train.radius * gear.ratio;
        let idles = train.curve.idle_rpm() * TAU / 60.0 * time;
        let energy = &mut self.energy;
        // The engine turns with the shaft but never below its idle speed. The difference is lost in the
        // slipping clutch.
        energy.engine += torque * turned.max(idles);
        energy.clutch += torque * (idles - turned).max(0.0);
        energy.gearbox += torque * turned * (1.0 - train.efficiency);
        energy.drag += forces.drag * travelled;
        energy.rolling += forces.rolling * travelled;
        energy.brakes += forces.brake * travelled;
        energy.height += forces.slope * travelled;
        energy.kinetic += 0.5 * train.mass * (after * after - self.speed * self.speed);
    }
}

/// Forces along the direction of travel, in newtons.
struct Forces {
    drive: f64,
    brake: f64,
    drag: f64,
    rolling: f64,
    slope: f64,
}

impl Forces {
    fn sum(&self) -> f64 {
        self.drive - self.brake - self.drag - self.rolling - self.slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_train::tests::{enviro, willys};

    const FULL: Pedals = Pedals {
        throttle: 1.0,
        brake: 0.0,
    };

    fn run(mut run: StraightRun<'_>, pedals: Pedals, seconds: f64, dt: f64) -> StraightRun<'_> {
        for _ in 0..(seconds / dt).round() as u32 {
            run.step(pedals, dt);
        }
        run
    }

    #[test]
    fn energy_is_accounted_for() {
        for train in [willys(), enviro()] {
            for (pedals, speed, grade) in [
                (FULL, 0.0, 0.0),
                (FULL, 0.0, 0.02),
                (
                    Pedals {
                        throttle: 0.4,
                        brake: 0.0,
                    },
                    3.0,
                    0.0,
                ),
                (
                    Pedals {
                        throttle: 0.0,
                        brake: 0.3,
                    },
                    20.0,
                    0.0,
                ),
            ] {
                let end = run(StraightRun::new(&train, speed, grade), pedals, 30.0, 0.005);
                let missing = end.energy.unaccounted();
                assert!(missing < 0.01, "{missing} of {:?}", end.energy);
                // No component may be negative, and the engine must have done work.
                let energy = end.energy;
                assert!(energy.engine + energy.brakes > 1000.0, "{energy:?}");
                assert!(energy.clutch >= 0.0 && energy.gearbox >= 0.0, "{energy:?}");
            }
        }
    }

    #[test]
    fn the_gearbox_goes_through_its_gears_and_back() {
        let train = willys();
        let mut drive = StraightRun::new(&train, 0.0, 0.0);
        let (mut ups, mut last) = (Vec::new(), 0);
        for _ in 0..12_000 {
            drive.step(FULL, 0.005);
            if drive.shifting.gear != last {
                ups.push((
                    drive.time,
                    train.rpm(&train.gears[usize::from(last)], drive.speed),
                ));
                last = drive.shifting.gear;
            }
        }
        assert_eq!(ups.len(), 2, "{ups:?}");
        for &(_, rpm) in &ups {
            assert!((0.995 * 4000.0..=4000.0).contains(&rpm), "{ups:?}");
        }
        assert!(ups[1].0 - ups[0].0 >= 0.5, "{ups:?}");
        let coasting = run(
            drive,
            Pedals {
                throttle: 0.0,
                brake: 0.2,
            },
            60.0,
            0.005,
        );
        assert_eq!((coasting.speed, coasting.shifting.gear), (0.0, 0));
    }

    #[test]
    fn a_gear_that_there_is_not_becomes_the_highest() {
        let train = willys();
        let mut drive = StraightRun::new(&train, 5.0, 0.0);
        drive.shifting.gear = 200;
        drive.step(FULL, 0.005);
        assert!(usize::from(drive.shifting.gear) < train.gears.len());
    }

    #[test]
    fn top_speed_is_where_it_ends_up() {
        for train in [willys(), enviro()] {
            let end = run(StraightRun::new(&train, 0.0, 0.0), FULL, 240.0, 0.01);
            let ratio = end.speed / train.top_speed();
            assert!((ratio - 1.0).abs() < 0.02, "{} {ratio}", end.speed);
        }
    }

    #[test]
    fn brakes_stop_it_as_far_as_the_closed_form_says() {
        let train = DriveTrain {
            drag: 0.0,
            rolling: 0.0,
            ..willys()
        };
        for dt in [0.01, 0.005, 0.0025] {
            let pedals = Pedals {
                throttle: 0.0,
                brake: 1.0,
            };
            let end = run(StraightRun::new(&train, 20.0, 0.0), pedals, 20.0, dt);
            let exact = 400.0 / (2.0 * train.hardest_braking());
            assert!(
                (end.distance / exact - 1.0).abs() < 1e-6,
                "{} {exact}",
                end.distance
            );
            assert_eq!(end.speed, 0.0);
        }
    }
}
