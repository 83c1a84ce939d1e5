//! A slope under a vehicle with a planar model: gravity along and across its heading, and the
//! response of the engine and brakes to the driver's request.
//!
//! Accelerations are forces divided by the mass of the vehicle. They are positive along the
//! heading, in either direction of travel. Distance and speed are horizontal. On a slope of 10 %,
//! the distance along the ground is 0.5 % longer, which planar models neglect.
//!
//! ```text
//!                     _.-'   pull = -g sin(a) uphill, +g sin(a) downhill
//!            drive _.[==]    load = cos(a): the fraction of the weight that is perpendicular to the ground
//!               _.-' pull
//!          _.-' a
//! ```
//!
//! ```
//! use roadwright_vehicle::{Ask, Grade};
//!
//! // 20 % uphill, an engine for 1.5 m/s^2 on level ground, dry asphalt.
//! let grade = Grade::between(0.2 * 2.7, 2.7).with(1.5, 1.05 * 9.81);
//! let wish = Ask { acceleration: 1.0, is_reversing: false, max_braking: 8.0, pedals: None };
//! let effort = grade.effort(0.0, &wish, 0.01);
//! // The full force of the engine is less than the pull of the slope, so the vehicle rolls back.
//! assert!(effort.drive == 1.5 && grade.roll(effort, 0.0, 0.01).0 < 0.0);
//! ```

use crate::drive_train::{PedalCommand, Pedals};
use crate::dynamic::{GRAVITY, Propulsion, Push};

/// Height difference between the axles below which the ground counts as level, m. It is larger than
/// the rounding errors of heights.
const LEVEL: f64 = 1e-9;

/// A slope under a vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grade {
    /// Acceleration due to gravity along the heading, m/s^2; negative uphill.
    pub pull: f64,
    /// Acceleration due to gravity across the heading, m/s^2, positive to the left. It is 0 unless
    /// set by [`Grade::banked`].
    pub bank: f64,
    /// Fraction of the weight that acts perpendicular to the ground, 0 to 1.
    pub load: f64,
    /// Maximum acceleration of the engine, m/s^2.
    pub engine: f64,
    /// Maximum combined longitudinal and lateral acceleration that the grip allows, m/s^2.
    pub hardest: f64,
}

/// A driver's request on a slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ask {
    /// Requested acceleration in the intended direction of travel, m/s^2; non-finite values mean full
    /// braking.
    pub acceleration: f64,
    /// Whether the driver wants to reverse.
    pub is_reversing: bool,
    /// Maximum deceleration of the brakes, m/s^2.
    pub max_braking: f64,
    /// Pedal positions that are applied directly, in place of the requested acceleration.
    pub pedals: Option<PedalCommand>,
}

/// Accelerations that the engine and brakes produce, m/s^2.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effort {
    /// Acceleration due to the engine along the heading; negative backwards.
    pub drive: f64,
    /// Deceleration due to the brakes against the motion, at least 0.
    pub brake: f64,
}

impl Effort {
    /// Converts pedals to accelerations by engine and brakes for vehicles without a drive train,
    /// m/s^2. The pedals are fractions of `engine` and `braking`.
    #[inline]
    pub fn of_pedals(pedals: Pedals, engine: f64, braking: f64) -> Self {
        Self {
            drive: pedals.throttle * engine,
            brake: pedals.brake * braking,
        }
    }

    /// Returns the effort with both accelerations multiplied by the given factor.
    pub fn shortened(self, share: f64) -> Self {
        Self {
            drive: self.drive * share,
            brake: self.brake * share,
        }
    }

    /// Returns the longitudinal acceleration that the tyres have to transmit, m/s^2.
    pub fn along_tyres(self) -> f64 {
        self.drive.abs().max(self.brake)
    }
}

impl Grade {
    /// Creates the slope under two axles, with unlimited engine and grip. The front axle is `rise` metres
    /// higher than the rear axle, and `wheelbase` is their horizontal distance, m. For level ground,
    /// [`Grade::is_level`] is true.
    pub fn between(rise: f64, wheelbase: f64) -> Self {
        let (rise, flat) = if rise.abs() > LEVEL {
            let length = (rise * rise + wheelbase * wheelbase).sqrt();
            (rise / length, wheelbase / length)
        } else {
            (0.0, 1.0)
        };
        Self {
            pull: -GRAVITY * rise,
            bank: 0.0,
            load: flat,
            engine: f64::INFINITY,
            hardest: f64::INFINITY,
        }
    }

    /// Adds a slope across the heading. The left side is `rise` metres higher than the right side, and
    /// `width` is their horizontal distance, m.
    pub fn banked(self, rise: f64, width: f64) -> Self {
        if rise.is_nan() || rise.abs() <= LEVEL {
            return self;
        }
        let length = (rise * rise + width * width).sqrt();
        // The factor of a longitudinal slope is cos(a). With both slopes, the normal of the plane gives the
        // factor 1 / sqrt(1 + tan^2 a + tan^2 b).
        let across = rise / width;
        Self {
            bank: -GRAVITY * rise / length,
            load: 1.0 / (1.0 / (self.load * self.load) + across * across).sqrt(),
            ..self
        }
    }

    /// Sets the maximum acceleration of the engine, and the maximum acceleration that the tyres can transmit
    /// on level ground, m/s^2. The tyre limit is multiplied by the fraction of the weight that acts
    /// perpendicular to the slope.
    pub fn with(self, engine: f64, hardest: f64) -> Self {
        Self {
            engine,
            hardest: hardest * self.load,
            ..self
        }
    }

    /// Whether there is no slope.
    pub fn is_level(&self) -> bool {
        self.pull == 0.0
    }

    /// Returns the response of the engine and brakes for the next `dt` seconds at the given speed
    /// along the heading, m/s. The slope is compensated as far as the engine and brakes permit, and
    /// the brake holds the vehicle if it has to stand still. Pedals are applied directly, without
    /// compensation of the slope.
    pub fn effort(&self, speed: f64, ask: &Ask, dt: f64) -> Effort {
        let direction = if ask.is_reversing { -1.0 } else { 1.0 };
        let (along, pull) = (speed * direction, self.pull * direction);
        if let Some(command) = ask.pedals {
            let effort = Effort::of_pedals(command.pedals, self.engine, ask.max_braking);
            return Effort {
                drive: direction * effort.drive,
                ..effort
            };
        }
        let brake = |brake: f64| Effort { drive: 0.0, brake };
        if !ask.acceleration.is_finite() {
            return brake(ask.max_braking);
        }
        let wish = ask.acceleration;
        if along < 0.0 {
            // The vehicle rolls in the direction opposite to its gear. It brakes first if the
            // engine can hold it on the slope. If the engine is too weak for that, the brake would
            // hold it there forever, so the engine is used instead.
            let strongest = self.engine.min(self.hardest);
            return if wish > 0.0 && strongest + pull < 0.0 {
                Effort {
                    drive: direction * self.engine,
                    brake: 0.0,
                }
            } else {
                brake(ask.max_braking)
            };
        }
        if wish <= 0.0 && along + wish * dt <= 0.0 {
            return brake(ask.max_braking);
        }
        let force = wish - pull;
        if force < 0.0 {
            brake((-force).min(ask.max_braking))
        } else {
            Effort {
                drive: direction * force.min(self.engine),
                brake: 0.0,
            }
        }
    }

    /// Returns the maximum engine acceleration that keeps the vehicle within its top speed for `dt`
    /// seconds, m/s^2. `along` is the speed in the direction of travel, m/s.
    pub fn room(&self, max_speed: f64, along: f64, drive: f64, dt: f64) -> f64 {
        let pull = self.pull * drive.signum();
        ((max_speed - along) / dt - pull).max(0.0)
    }

    /// Returns the speed along the heading after `dt` seconds (m/s) and the distance covered in
    /// that time (m). Brakes end a motion but never start one: the vehicle stands still if the
    /// brakes can hold it, and slides if gravity is stronger. Exact for constant forces.
    pub fn roll(&self, effort: Effort, speed: f64, dt: f64) -> (f64, f64) {
        let Effort { drive, brake } = effort;
        let net = drive + self.pull;
        let stands = net.abs() <= brake;
        let from_rest = |time: f64| {
            if stands {
                return (0.0, 0.0);
            }
            let after = (net - brake.copysign(net)) * time;
            (after, 0.5 * after * time)
        };
        if speed == 0.0 {
            return from_rest(dt);
        }
        let after = speed + (net - brake.copysign(speed)) * dt;
        if after * speed >= 0.0 {
            return (after, 0.5 * (speed + after) * dt);
        }
        // The vehicle stops within the step. It may then move in the other direction.
        let stopping = dt * speed / (speed - after);
        let (after, travelled) = from_rest(dt - stopping);
        (after, 0.5 * speed * stopping + travelled)
    }
}

/// Propulsion on a slope for vehicles without a drive train, used by models that compute forces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Climb {
    /// Slope under the vehicle.
    pub grade: Grade,
    /// Request of the driver.
    pub ask: Ask,
    /// Top speed, m/s.
    pub max_speed: f64,
}

impl Propulsion for Climb {
    fn push(&mut self, speed: f64, dt: f64) -> Push {
        let Effort { drive, brake } = self.grade.effort(speed, &self.ask, dt);
        let pull = self.grade.pull;
        let room = self
            .grade
            .room(self.max_speed, speed * drive.signum(), drive, dt);
        Push {
            drive: drive.clamp(-room, room),
            brake,
            slope: pull,
            ..Push::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ask(acceleration: f64) -> Ask {
        Ask {
            acceleration,
            is_reversing: false,
            max_braking: 8.0,
            pedals: None,
        }
    }

    /// Drives on a slope of `rise` in 1 with an engine of 2 m/s^2. Returns the speed and distance after the
    /// given number of seconds.
    fn drive(rise: f64, wish: f64, mut speed: f64, seconds: f64, dt: f64) -> (f64, f64) {
        let grade = Grade::between(rise, 1.0).with(2.0, 9.0);
        let mut place = 0.0;
        for _ in 0..(seconds / dt).round() as u32 {
            let effort = grade.effort(speed, &ask(wish), dt);
            let share = (grade.hardest / effort.along_tyres()).min(1.0);
            let (after, travelled) = grade.roll(effort.shortened(share), speed, dt);
            (speed, place) = (after, place + travelled);
        }
        (speed, place)
    }

    #[test]
    fn the_pull_is_that_of_the_slope() {
        let grade = Grade::between(0.3, 3.0);
        let angle = roadwright_geometry::math::atan(0.1);
        let (sin, cos) = roadwright_geometry::math::sin_cos(angle);
        assert!((grade.pull + GRAVITY * sin).abs() < 1e-12);
        assert!((grade.load - cos).abs() < 1e-12);
        // Rounding errors of heights on level land do not count as a slope.
        let level = Grade::between(4e-16, 2.7);
        assert!(level.is_level() && level.load == 1.0);
        assert!(Grade::between(f64::NAN, 2.7).is_level());
    }

    #[test]
    fn a_bank_pulls_across_and_takes_weight_off() {
        let grade = Grade::between(0.0, 2.7).banked(0.36, 1.8);
        let angle = roadwright_geometry::math::atan(0.2);
        let (sin, cos) = roadwright_geometry::math::sin_cos(angle);
        // The left side is higher, so gravity pulls to the right.
        assert!((grade.bank + GRAVITY * sin).abs() < 1e-12 && grade.pull == 0.0);
        assert!((grade.load - cos).abs() < 1e-12);
        // Combined with a longitudinal slope, the factor follows from the normal of the plane.
        let both = Grade::between(0.27, 2.7).banked(0.36, 1.8);
        assert!((both.load - 1.0 / (1.0 + 0.01 + 0.04f64).sqrt()).abs() < 1e-12);
        let level = Grade::between(0.27, 2.7);
        for rise in [0.0, 4e-16, f64::NAN] {
            assert_eq!(level.banked(rise, 1.8), level);
        }
    }

    #[test]
    fn a_wish_is_given_as_far_as_the_engine_goes() {
        // A slope of 10 % takes 0.976 m/s^2 of the 2 m/s^2, which leaves 1.024 m/s^2.
        let left = 2.0 + Grade::between(0.1, 1.0).pull;
        for (wish, given) in [(1.0, 1.0), (2.0, left), (50.0, left)] {
            let (speed, _) = drive(0.1, wish, 0.0, 4.0, 0.01);
            assert!((speed - 4.0 * given).abs() < 1e-9, "{wish}: {speed}");
        }
        // Downhill, gravity helps.
        let (speed, _) = drive(-0.1, 1.0, 0.0, 4.0, 0.01);
        assert!((speed - 4.0).abs() < 1e-9, "{speed}");
    }

    #[test]
    fn the_limiting_grade_is_that_of_engine_and_weight() {
        // The limit is at sin a = 2 / g.
        let limit = {
            let sin = 2.0 / GRAVITY;
            sin / (1.0f64 - sin * sin).sqrt()
        };
        assert!(drive(0.99 * limit, 1.5, 0.0, 10.0, 0.01).1 > 0.5);
        let (speed, travelled) = drive(1.01 * limit, 1.5, 0.0, 10.0, 0.01);
        assert!(travelled < -0.5 && speed < 0.0, "{speed} {travelled}");
        // If zero acceleration is requested, the vehicle stands exactly still.
        assert_eq!(drive(1.01 * limit, 0.0, 0.0, 10.0, 0.01), (0.0, 0.0));
        assert_eq!(drive(-0.5, -1.0, 0.0, 10.0, 0.01), (0.0, 0.0));
    }

    #[test]
    fn who_rolls_up_comes_back_however_long_the_steps_are() {
        let exact = drive(0.5, 2.0, 12.0, 8.0, 0.001);
        assert!(exact.0 < -5.0);
        for dt in [0.005, 0.02, 0.1] {
            let seen = drive(0.5, 2.0, 12.0, 8.0, dt);
            assert!((seen.0 - exact.0).abs() < 1e-9, "{dt}: {seen:?} {exact:?}");
            assert!((seen.1 - exact.1).abs() < 1e-9, "{dt}: {seen:?} {exact:?}");
        }
    }

    #[test]
    fn pedals_are_taken_as_they_are() {
        let pressed = |throttle: f64, brake: f64| Ask {
            pedals: Some(PedalCommand {
                pedals: Pedals { throttle, brake },
                ..PedalCommand::default()
            }),
            ..ask(f64::NAN)
        };
        let rolled = |rise: f64, ask: Ask, speed: f64| {
            let grade = Grade::between(rise, 1.0).with(2.0, 9.0);
            grade.roll(grade.effort(speed, &ask, 0.01), speed, 1.0).0
        };
        let up = Grade::between(0.1, 1.0).pull;
        // With given pedals, the slope is not compensated.
        assert!((rolled(0.1, pressed(1.0, 0.0), 10.0) - (12.0 + up)).abs() < 1e-12);
        assert!((rolled(0.1, pressed(0.0, 0.5), 10.0) - (10.0 - 4.0 + up)).abs() < 1e-12);
        assert!((rolled(0.1, pressed(0.0, 0.0), 10.0) - (10.0 + up)).abs() < 1e-12);
        // Without pedals, the vehicle rolls back. With the brake, it is held.
        assert!((rolled(0.1, pressed(0.0, 0.0), 0.0) - up).abs() < 1e-12);
        assert_eq!(rolled(0.1, pressed(0.0, 0.2), 0.0), 0.0);
        // The engine and the brake oppose each other.
        assert!((rolled(0.1, pressed(1.0, 0.1), 10.0) - (11.2 + up)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn no_wish_makes_energy_that_engine_and_slope_do_not_have(
            rise in -2.0..2.0f64, speed in -40.0..40.0f64, wish in proptest::num::f64::ANY,
            is_reversing: bool, dt in 1e-3..0.2f64,
        ) {
            let grade = Grade::between(rise, 1.0).with(2.0, 9.0);
            let ask = Ask { is_reversing, ..ask(wish) };
            let effort = grade.effort(speed, &ask, dt);
            prop_assert!(effort.drive.abs() <= 2.0 && effort.brake <= 8.0 && effort.brake >= 0.0);
            let (after, travelled) = grade.roll(effort, speed, dt);
            prop_assert!(after.is_finite() && travelled.is_finite());
            let gained = 0.5 * (after * after - speed * speed) - grade.pull * travelled;
            // Work of the engine, with a tolerance for rounding.
            prop_assert!(gained <= (effort.drive * travelled).max(0.0) + 1e-9, "{gained} {effort:?}");
        }
    }
}
