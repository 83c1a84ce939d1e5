//! Brush tyre model with a deflection in two dimensions.

use crate::dynamic::{GRAVITY, Tyre};
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// Relaxation length over which a lateral force builds up, m. It is 0.2 to 0.6 m for passenger cars ([Pacejka
/// 2012], section 8).
pub(super) const RELAXATION: f64 = 0.3;
/// Stiffness of a wheel held by its brake, divided by its load, 1/m. With this value, a car on a
/// slope of 30 % moves by 3 mm.
pub(super) const HELD_STIFFNESS: f64 = 100.0;
/// Speed below which the lateral deflection is damped like that of a stationary tyre, m/s.
const SLOW: f64 = 2.0;

/// Grip of a tyre at its contact with the ground.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grip {
    /// Load, N.
    pub(super) load: f64,
    /// Friction coefficient.
    pub(super) friction: f64,
    /// Cornering stiffness divided by the load, 1/rad.
    pub(super) stiffness: f64,
    pub(super) tyre: Tyre,
}

/// Drive and brake forces of a wheel at its circumference, N.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Torque {
    /// Force of the engine along the wheel; negative backwards.
    pub(super) drive: f64,
    /// Maximum holding force of the brake, at least 0.
    pub(super) brake: f64,
}

/// Deflection of a tyre, m.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Brush {
    /// Longitudinal deflection while the brake holds the wheel.
    pub along: f64,
    /// Lateral deflection.
    pub across: f64,
}

impl Brush {
    /// Returns the longitudinal and lateral force of the ground on the tyre, N. The contact moves over the
    /// ground at `velocity`, m/s. Advances the deflection by `dt` seconds.
    ///
    /// The brake holds the wheel as long as its force is sufficient. Otherwise the wheel rolls, and only the
    /// engine and the brake determine the longitudinal force. If the combined force exceeds the grip, both
    /// components are reduced in proportion.
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
        // Critical damping for the mass that corresponds to the load.
        let damping = 2.0 * (HELD_STIFFNESS / GRAVITY).sqrt();
        let moved = self.along + speed * dt;
        let held = -(HELD_STIFFNESS * moved + damping * speed) * grip.load;
        let force = held
            .max(torque.drive - torque.brake)
            .min(torque.drive + torque.brake);
        self.along = if force == held {
            moved
        } else {
            // The deflection follows from the force, limited by the grip.
            let most = grip.friction / HELD_STIFFNESS;
            (-force / (HELD_STIFFNESS * grip.load)).max(-most).min(most)
        };
        force
    }

    fn across(&mut self, grip: &Grip, velocity: DVec2, dt: f64) -> f64 {
        let rolled = velocity.x.abs();
        let bristle = grip.stiffness / RELAXATION;
        // dz/dt = v_y - |v_x| z / sigma, integrated implicitly, which is stable at any speed.
        let deflection = (self.across + velocity.y * dt) / (1.0 + rolled * dt / RELAXATION);
        // Beyond this deflection, the whole contact slides, and more deflection would only delay the return.
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
        // A held wheel that is pushed sideways slides, with a force opposite to its motion.
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
        // Without load, there is no force, whatever the request.
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
