//! Lateral forces of tyres, per unit of load.

use roadwright_geometry::math::atan;

/// Relation between a tyre's lateral force and its slip angle.
///
/// Both models start with the same slope, which is the cornering stiffness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tyre {
    /// The force is proportional to the slip angle without limit, as in the linear model.
    Linear,
    /// Brush model with a parabolic pressure distribution ([Pacejka 2012], section 3.2). The force
    /// saturates at friction times load, where the tyre starts to slide.
    #[default]
    Brush,
}

impl Tyre {
    /// Returns the lateral force divided by the load, given the tangent of the slip angle. The force opposes
    /// the slip, but is returned with the sign of the slip. `stiffness` is the cornering stiffness divided by
    /// the load, 1/rad, and `friction` is the friction coefficient between tyre and ground.
    #[inline]
    pub fn force_per_load(self, slip: f64, stiffness: f64, friction: f64) -> f64 {
        match self {
            Self::Linear => stiffness * atan(slip),
            Self::Brush => {
                if friction <= 0.0 {
                    return 0.0;
                }
                // Fraction of the contact patch that slides; the load cancels out.
                let share = stiffness * slip.abs() / (3.0 * friction);
                if share >= 1.0 {
                    return friction.copysign(slip);
                }
                // 3x - 3x^2 + x^3, which is 1 - (1 - x)^3.
                let force = friction * share * (3.0 + share * (share - 3.0));
                force.copysign(slip)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_tyres_begin_with_the_cornering_stiffness() {
        for tyre in [Tyre::Linear, Tyre::Brush] {
            let slope = tyre.force_per_load(1e-6, 21.0, 0.9) / 1e-6;
            assert!((slope - 21.0).abs() < 1e-3, "{tyre:?}: {slope}");
        }
    }

    #[test]
    fn a_tyre_on_frictionless_ground_has_no_force() {
        for slip in [0.0, 0.3, -0.3] {
            assert_eq!(Tyre::Brush.force_per_load(slip, 21.0, 0.0), 0.0);
        }
    }

    #[test]
    fn only_the_linear_tyre_has_no_limit() {
        let at_half_a_radian = |tyre: Tyre| tyre.force_per_load(0.5, 21.0, 0.9);
        assert!(at_half_a_radian(Tyre::Linear) > 9.0);
        assert_eq!(at_half_a_radian(Tyre::Brush), 0.9);
        // The tyre slides above three times friction divided by stiffness, and nearly slides just
        // below.
        let edge = 3.0 * 0.9 / 21.0;
        let near = Tyre::Brush.force_per_load(0.999 * edge, 21.0, 0.9);
        assert!(near < 0.9 && near > 0.899_99, "{near}");
    }

    proptest! {
        #[test]
        fn the_brush_grows_with_slip_up_to_friction(
            slip in -2.0..2.0f64, more in 0.0..1.0f64,
            stiffness in 1.0..100.0f64, friction in 0.05..2.0f64,
        ) {
            let force = |slip: f64| Tyre::Brush.force_per_load(slip, stiffness, friction);
            prop_assert!(force(slip).abs() <= friction);
            prop_assert!(force(slip + more) >= force(slip) - 1e-12);
            prop_assert_eq!(force(-slip), -force(slip));
        }
    }
}
