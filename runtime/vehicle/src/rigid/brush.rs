//! Tyres: a brush with a deflection, in two directions.

use crate::dynamic::{GRAVITY, Tyre};
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// Way over which a lateral force builds up, m: relaxation lengths of passenger cars are 0.2 to 0.6 m,
/// [Pacejka 2012] section 8.
pub(super) const RELAXATION: f64 = 0.3;
/// Stiffness of a wheel that its brake holds, over its load, 1/m: a car on a slope of 30 % gives way by
/// 3 mm.
pub(super) const HELD_STIFFNESS: f64 = 100.0;
/// Below this speed the lateral deflection is damped as that of a tyre at rest, m/s.
const SLOW: f64 = 2.0;

/// What a tyre can do on the ground below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grip {
    /// N.
    pub(super) load: f64,
    /// Coefficient of friction.
    pub(super) friction: f64,
    /// Cornering stiffness over load, 1/rad.
    pub(super) stiffness: f64,
    pub(super) tyre: Tyre,
}

/// What drives and brakes a wheel, N at its circumference.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Torque {
    /// Of the engine, along the wheel; negative backwards.
    pub(super) drive: f64,
    /// What the brake can hold, at least 0.
    pub(super) brake: f64,
}

/// Deflection of a tyre, m.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Brush {
    /// Along the wheel, of a wheel that its brake holds.
    pub along: f64,
    /// Across it.
    pub across: f64,
}

impl Brush {
    /// Force of the ground on the tyre along and across the wheel, N, whose contact moves over the
    /// ground at `velocity`, m/s, and the one along that was asked of it. Takes the deflection on by `dt`
    /// seconds.
    ///
    /// The brake holds the wheel as long as that takes no more than it has; otherwise the wheel rolls,
    /// and engine and brake alone give the force along. What is more than the grip is cut in
    /// proportion, along and across.
    pub(super) fn force(
        &mut self,
        grip: &Grip,
        torque: Torque,
        velocity: DVec2,
        dt: f64,
    ) -> (DVec2, f64) {
        if grip.load <= 0.0 || grip.friction <= 0.0 {
            *self = Self::default();
            return (DVec2::ZERO, 0.0);
        }
        let wanted = DVec2::new(
            self.along(grip, torque, velocity.x, dt),
            self.across(grip, velocity, dt),
        );
        let (size, most) = (wanted.length(), grip.friction * grip.load);
        if size <= most {
            return (wanted, wanted.x);
        }
        let share = most / size;
        self.along *= share;
        (wanted * share, wanted.x)
    }

    fn along(&mut self, grip: &Grip, torque: Torque, speed: f64, dt: f64) -> f64 {
        // Critically damped for the mass that the load stands for.
        let damping = 2.0 * (HELD_STIFFNESS / GRAVITY).sqrt();
        let moved = self.along + speed * dt;
        let held = -(HELD_STIFFNESS * moved + damping * speed) * grip.load;
        let force = held
            .max(torque.drive - torque.brake)
            .min(torque.drive + torque.brake);
        self.along = if force == held {
            moved
        } else {
            // Wound up as far as the force says, but no farther than the grip.
            let most = grip.friction / HELD_STIFFNESS;
            (-force / (HELD_STIFFNESS * grip.load)).max(-most).min(most)
        };
        force
    }

    fn across(&mut self, grip: &Grip, velocity: DVec2, dt: f64) -> f64 {
        let rolled = velocity.x.abs();
        let bristle = grip.stiffness / RELAXATION;
        // dz/dt = v_y - |v_x| z / sigma, by the implicit rule: stable at any speed.
        let deflection = (self.across + velocity.y * dt) / (1.0 + rolled * dt / RELAXATION);
        // The whole contact slides from here on; more deflection would only delay the way back.
        let most = 3.0 * grip.friction / bristle;
        self.across = deflection.max(-most).min(most);
        let fade = (1.0 - rolled / SLOW).max(0.0);
        let damping = (bristle / GRAVITY).sqrt() * fade;
        let slip = (bristle * self.across + damping * velocity.y) / grip.stiffness;
        -grip.load
            * grip
                .tyre
                .force_per_load(slip, grip.stiffness, grip.friction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRIP: Grip = Grip {
        load: 3000.0,
        friction: 0.8,
        stiffness: 20.0,
        tyre: Tyre::Brush,
    };

    fn settled(torque: Torque, velocity: DVec2) -> DVec2 {
        let mut brush = Brush::default();
        for _ in 0..2000 {
            brush.force(&GRIP, torque, velocity, 0.005);
        }
        brush.force(&GRIP, torque, velocity, 0.005).0
    }

    #[test]
    fn frictionless_ground_gives_no_force_and_no_nan() {
        let grip = Grip {
            friction: 0.0,
            ..GRIP
        };
        let braked = Torque {
            drive: 0.0,
            brake: 5000.0,
        };
        let mut brush = Brush::default();
        for velocity in [DVec2::ZERO, DVec2::new(8.0, 1.0)] {
            let force = brush.force(&grip, braked, velocity, 0.005);
            assert_eq!(force, (DVec2::ZERO, 0.0));
            assert_eq!(brush, Brush::default());
        }
    }

    #[test]
    fn steady_slip_gives_the_force_of_the_tyre() {
        for slip in [0.01, -0.03, 0.08, 0.5] {
            let force = settled(Torque::default(), DVec2::new(15.0, 15.0 * slip));
            let exact = -3000.0 * Tyre::Brush.force_per_load(slip, 20.0, 0.8);
            assert!((force.y - exact).abs() < 1e-6 * 3000.0, "{slip}: {force}");
            assert_eq!(force.x, 0.0);
        }
    }

    #[test]
    fn along_and_across_share_the_grip() {
        let full = 0.8 * 3000.0;
        for drive in [0.0, 1000.0, 3000.0, -1e9] {
            for slip in [0.0, 0.05, 1.0, -4.0] {
                let torque = Torque { drive, brake: 0.0 };
                let force = settled(torque, DVec2::new(10.0, 10.0 * slip));
                assert!(
                    force.length() <= full * (1.0 + 1e-12),
                    "{drive} {slip}: {force}"
                );
            }
        }
        // A wheel that is held and pushed sideways slides against its motion.
        let held = Torque {
            drive: 0.0,
            brake: f64::INFINITY,
        };
        let force = settled(held, DVec2::new(3.0, 4.0));
        assert!((force.length() - full).abs() < 1e-6, "{force}");
        assert!(force.x < 0.0 && force.y < 0.0);
    }

    #[test]
    fn a_brake_gives_what_it_has_and_no_more() {
        let brake = Torque {
            drive: 0.0,
            brake: 500.0,
        };
        assert_eq!(settled(brake, DVec2::new(10.0, 0.0)).x, -500.0);
        assert_eq!(settled(brake, DVec2::new(-10.0, 0.0)).x, 500.0);
        assert_eq!(settled(brake, DVec2::ZERO), DVec2::ZERO);
        // Without load there is no force, whatever is asked.
        let lifted = Grip { load: 0.0, ..GRIP };
        let mut brush = Brush {
            along: 0.1,
            across: 0.1,
        };
        assert_eq!(
            brush.force(&lifted, brake, DVec2::ONE, 0.005).0,
            DVec2::ZERO
        );
        assert_eq!(brush, Brush::default());
    }
}
