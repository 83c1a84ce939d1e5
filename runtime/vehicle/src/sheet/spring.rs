//! Spring and damper of a wheel, and the part of the hull's mass that they carry.

use super::Sheet;
use crate::dynamic::GRAVITY;
use crate::rigid::{RigidModel, Wheel};
use roadwright_geometry::math::{exp, sin_cos};
use std::f64::consts::TAU;

/// Maximum difference from 1 at which a damping ratio is treated as 1, because the other two
/// formulas divide by this difference.
const CRITICAL: f64 = 1e-4;

/// A quarter car: the mass that a wheel carries on its spring and damper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuarterCar {
    /// Mass, kg.
    pub mass: f64,
    /// Spring stiffness, N/m.
    pub spring: f64,
    /// Damping, N s/m.
    pub damping: f64,
}

impl From<&Wheel> for QuarterCar {
    fn from(wheel: &Wheel) -> Self {
        Self {
            mass: wheel.load / GRAVITY,
            spring: wheel.spring,
            damping: wheel.damping,
        }
    }
}

impl QuarterCar {
    /// Undamped natural frequency, Hz.
    pub fn frequency(&self) -> f64 {
        (self.spring / self.mass).sqrt() / TAU
    }

    /// Damping ratio; infinite without a spring. At 1, the hull returns as fast as possible without
    /// oscillation.
    pub fn damping_ratio(&self) -> f64 {
        0.5 * self.damping / (self.spring * self.mass).sqrt()
    }

    /// Response of the hull `time` seconds after a step in the ground, as a fraction of the step
    /// height. As at level `rigid`, dampers act on the speed of the hull, so the step does not
    /// directly excite them.
    pub fn step_response(&self, time: f64) -> f64 {
        let pulse = (self.spring / self.mass).sqrt();
        if pulse <= 0.0 || time <= 0.0 {
            return 0.0;
        }
        let ratio = self.damping_ratio();
        // Solutions of x'' + 2 ratio · pulse · x' + pulse² (x - 1) = 0 that start at 0 and at rest,
        // for two equal roots, a complex pair, and two real roots.
        if (ratio - 1.0).abs() < CRITICAL {
            return 1.0 - exp(-pulse * time) * (1.0 + pulse * time);
        }
        if ratio < 1.0 {
            let rest = (1.0 - ratio * ratio).sqrt();
            let (sin, cos) = sin_cos(rest * pulse * time);
            return 1.0 - exp(-ratio * pulse * time) * (cos + ratio / rest * sin);
        }
        let root = (ratio * ratio - 1.0).sqrt();
        let (slow, fast) = (-pulse * (ratio - root), -pulse * (ratio + root));
        1.0 + (fast * exp(slow * time) - slow * exp(fast * time)) / (slow - fast)
    }
}

impl RigidModel {
    /// Returns the quarter cars of the foremost and rearmost wheels, whose loads differ the most.
    pub fn quarter_cars(&self) -> [QuarterCar; 2] {
        let first = &self.wheels[0];
        let pick = |is_better: fn(f64, f64) -> bool| {
            self.wheels.iter().fold(first, |best, wheel| {
                if is_better(wheel.contact.x, best.contact.x) {
                    wheel
                } else {
                    best
                }
            })
        };
        [
            QuarterCar::from(pick(|a, b| a > b)),
            QuarterCar::from(pick(|a, b| a < b)),
        ]
    }
}

impl Sheet<'_> {
    /// Returns the response of the hull to a step in the ground at a front wheel and at a rear
    /// wheel. Each point consists of a time (s) and a fraction of the step height. `None` without
    /// springs.
    pub fn step_responses(&self, seconds: f64) -> Option<[Vec<[f64; 2]>; 2]> {
        let curve = |quarter: QuarterCar| {
            let times = super::engine::parts().map(|part| part * seconds);
            times.map(|t| [t, quarter.step_response(t)]).collect()
        };
        Some(self.rigid.as_ref()?.quarter_cars().map(curve))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;
    use crate::rigid::{ALL_LAYERS, CarEntry, CarState, Controls, Flat, Yard};

    fn with_ratio(ratio: f64) -> QuarterCar {
        let (mass, spring) = (250.0, 25_000.0);
        QuarterCar {
            mass,
            spring,
            damping: 2.0 * ratio * f64::sqrt(mass * spring),
        }
    }

    /// Integrates the differential equation in short steps. Returns the position at the end.
    fn integrated(quarter: QuarterCar, seconds: f64) -> f64 {
        let (mut place, mut speed, dt) = (0.0, 0.0, 1e-5);
        for _ in 0..(seconds / dt) as u32 {
            let force = quarter.spring * (1.0 - place) - quarter.damping * speed;
            speed += dt * force / quarter.mass;
            place += dt * speed;
        }
        place
    }

    #[test]
    fn the_closed_forms_solve_the_equation_of_motion() {
        for ratio in [0.0, 0.3, 0.999_99, 1.0, 1.001, 4.0] {
            let quarter = with_ratio(ratio);
            assert!((quarter.damping_ratio() - ratio).abs() < 1e-12);
            for seconds in [0.05, 0.3, 1.1] {
                let (exact, by_steps) =
                    (quarter.step_response(seconds), integrated(quarter, seconds));
                assert!(
                    (exact - by_steps).abs() < 1e-3,
                    "{ratio} {exact} {by_steps}"
                );
            }
        }
        assert!((with_ratio(0.3).frequency() - 10.0 / TAU).abs() < 1e-12);
    }

    #[test]
    fn absurd_springs_give_numbers() {
        let none = QuarterCar {
            spring: 0.0,
            ..with_ratio(0.3)
        };
        assert_eq!(none.step_response(1.0), 0.0);
        let hard = QuarterCar {
            spring: 1e9,
            damping: 1e9,
            mass: 1e-3,
        };
        let value = hard.step_response(10.0);
        assert!(value.is_finite() && value > 0.9, "{value}");
    }

    /// A whole jeep that is released 2 cm above its rest position oscillates like its quarter cars.
    #[test]
    fn the_rigid_level_swings_as_the_quarters_say() {
        let file = shipped("willys-mb");
        let model = RigidModel::of_file(&file).unwrap();
        // On an evenly loaded jeep, both axles oscillate in the same way.
        let load = model.mass * GRAVITY / 4.0;
        let quarter = QuarterCar {
            mass: load / GRAVITY,
            spring: model.wheels[0].spring,
            damping: model.wheels[0].damping,
        };
        let mut state = CarState::at_rest(&model, Default::default(), &Flat);
        let rest = state.body.position.z;
        state.body.position.z += 0.02;
        for step in 1..=60 {
            let entry = CarEntry {
                model: &model,
                state: &mut state,
                controls: Controls::default(),
                layers: ALL_LAYERS,
                towed: &mut [],
            };
            Yard::new(&Flat, 1000.0).step(vec![entry], Vec::new(), 0.01);
            let expected = 0.02 * (1.0 - quarter.step_response(0.01 * f64::from(step)));
            let seen = state.body.position.z - rest;
            assert!((seen - expected).abs() < 0.002, "{step}: {seen} {expected}");
        }
    }
}
