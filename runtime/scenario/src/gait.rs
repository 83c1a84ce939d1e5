//! Gaits of characters: step cycles, reduced to the numbers that are needed to compute strides.

use crate::quantity::{Angle, GaitCycle, Quantity, Share, Speed, StepSize, check_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of samples of the curves of a gait.
pub const GAIT_SAMPLES: usize = 17;
/// Minimum speed difference between the two gaits of a character, m/s.
const FASTER: f64 = 0.2;

/// The two gaits of a character. They are blended at speeds between theirs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gaits {
    /// The slow gait.
    pub walk: GaitNumbers,
    /// The fast gait.
    pub jog: GaitNumbers,
}

/// A cycle of two steps. `roadwright vehicle gait FILE.bvh` computes these numbers from recorded motion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GaitNumbers {
    /// Speed of the character in the cycle, m/s.
    pub speed: Quantity<Speed>,
    /// Duration of a cycle, s.
    pub duration: Quantity<GaitCycle>,
    /// Fraction of the cycle during which a foot is on the ground.
    pub duty: Quantity<Share>,
    /// Lateral distance of the feet from the line along which the body moves, m.
    pub half_width: Quantity<StepSize>,
    /// Maximum height of a foot, m.
    pub lift: Quantity<StepSize>,
    /// Amplitude of the rotation of the shoulders, rad.
    pub twist: Quantity<Angle>,
    /// Progress of a foot during its swing, 0 to 1, at 17 equally spaced times.
    pub swing: Quantity<Share, Vec<f64>>,
    /// Height of a foot during its swing, as a fraction of `lift`, at 17 equally spaced times.
    pub height: Quantity<Share, Vec<f64>>,
}

impl Gaits {
    /// Checks the numbers, and that jogging is faster than walking.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let of = |name: &str, gait: &GaitNumbers| {
            gait.validate()
                .map_err(|error| format!("gaits.{name}.{error}"))
        };
        of("walk", &self.walk)?;
        of("jog", &self.jog)?;
        if self.walk.speed + FASTER > self.jog.speed.get() {
            return Err(format!(
                "gaits.jog.speed: {} m/s is too slow; expected at least {FASTER} m/s more than \
                 gaits.walk.speed ({} m/s)",
                self.jog.speed, self.walk.speed
            ));
        }
        Ok(())
    }
}

impl GaitNumbers {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => speed, duration, duty, half_width, lift, twist, swing, height)?;
        if !(0.1..=0.9).contains(&self.duty.get()) {
            return Err(format!(
                "duty: {} is out of range: expected 0.1 to 0.9",
                self.duty
            ));
        }
        for (name, curve) in [("swing", &self.swing), ("height", &self.height)] {
            if curve.len() != GAIT_SAMPLES {
                let count = curve.len();
                return Err(format!(
                    "{name}: the list has {count} values; expected {GAIT_SAMPLES}"
                ));
            }
        }
        if self.swing.first() != Some(&0.0) || self.swing.last() != Some(&1.0) {
            return Err("swing: the values must be from 0 to 1".into());
        }
        Ok(())
    }
}
