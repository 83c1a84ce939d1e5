//! Gaits of characters: walking and jogging cycles, and the strides derived from them for any speed
//! ([Kuffner 1998], section 7.2).
//!
//! A step cycle is split into a base point, which moves straight at constant speed, and the motion
//! relative to this point. The base point is the centre of the disc that moves over the ground
//! ([`crate::walker`]). At speeds other than that of the cycle, a table of factors shortens the
//! stride. Between the speeds of the two gaits, the gaits are blended.
//!
//! [`Stride`] is the state of a walking character. A foot on the ground stays in place, so it never
//! slides. [`Stride::figure`] returns the feet for drawing and is a pure function of this state.
//! Pedestrians on crossings walk straight ahead at one speed; [`LineSteps`] computes their stride
//! on demand.

mod bvh;
mod cycle;
mod steps;
mod stride;

pub use bvh::{Bvh, BvhError, NamedJoint, Role};
pub use cycle::{Cycle, CycleError, Frame};
pub use steps::{LineGait, LineSteps, OnLine};
pub use stride::{BaseMotion, Figure, FootPose, Stride};

use roadwright_geometry::math::{cos, sin};
use roadwright_scenario::{GaitNumbers, VehicleType};
use std::f64::consts::{PI, TAU};

/// Number of samples of a foot's swing.
pub const SAMPLES: usize = roadwright_scenario::GAIT_SAMPLES;

/// Factors that shorten the stride, by speed as a fraction of the speed of the cycle. People who
/// walk slowly take shorter and fewer steps. The cadence follows from speed and stride, so that
/// feet on the ground do not slide.
const FACTORS: [(f64, f64); 8] = [
    (0.0, 0.3),
    (0.15, 0.4),
    (0.3, 0.52),
    (0.5, 0.68),
    (0.75, 0.86),
    (1.0, 1.0),
    (1.5, 1.22),
    (2.0, 1.4),
];

/// A gait: a cycle of two steps, reduced to the numbers from which strides are computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Gait {
    /// Speed of the base point in the cycle, m/s.
    pub speed: f64,
    /// Duration of the cycle, s.
    pub duration: f64,
    /// Fraction of the cycle during which a foot is on the ground. Below 0.5, there is a flight phase.
    pub duty: f64,
    /// Lateral distance between each foot and the line of the base point, m.
    pub half_width: f64,
    /// Maximum height of a foot, m.
    pub lift: f64,
    /// Progress of a foot from one footprint to the next during its swing, 0 to 1, at equally
    /// spaced times.
    pub swing: [f64; SAMPLES],
    /// Height of a foot during its swing, as a fraction of `lift`, at equally spaced times.
    pub height: [f64; SAMPLES],
    /// Amplitude of the rotation of the shoulders, rad. The shoulder on the side of the front foot
    /// is behind.
    pub twist: f64,
}

impl Gait {
    /// The shipped walking cycle: 1.4 m/s, 58 strides per minute.
    pub fn walk() -> Self {
        Self {
            speed: 1.4,
            duration: 1.035,
            duty: 0.62,
            half_width: 0.09,
            lift: 0.09,
            twist: 0.1,
            ..Self::smooth()
        }
    }

    /// The shipped jogging cycle: 2.6 m/s, 83 strides per minute, with a flight phase.
    pub fn jog() -> Self {
        Self {
            speed: 2.6,
            duration: 0.72,
            duty: 0.38,
            half_width: 0.06,
            lift: 0.2,
            twist: 0.17,
            ..Self::smooth()
        }
    }

    /// Creates a gait with smooth lift-off and landing of the feet.
    fn smooth() -> Self {
        let share = |at: usize| at as f64 / (SAMPLES - 1) as f64;
        Self {
            speed: 1.0,
            duration: 1.0,
            duty: 0.5,
            half_width: 0.0,
            lift: 0.0,
            swing: std::array::from_fn(|at| 0.5 - 0.5 * cos(PI * share(at))),
            height: std::array::from_fn(|at| sin(PI * share(at))),
            twist: 0.0,
        }
    }

    /// Distance that the base point travels in a cycle, m.
    pub fn stride(&self) -> f64 {
        self.speed * self.duration
    }

    /// Blends this gait with another. `share` is 0 for this gait and 1 for the other.
    fn blended(&self, other: &Self, share: f64) -> Self {
        let mix = |a: f64, b: f64| a + share * (b - a);
        Self {
            speed: mix(self.speed, other.speed),
            duration: mix(self.duration, other.duration),
            duty: mix(self.duty, other.duty),
            half_width: mix(self.half_width, other.half_width),
            lift: mix(self.lift, other.lift),
            swing: std::array::from_fn(|at| mix(self.swing[at], other.swing[at])),
            height: std::array::from_fn(|at| mix(self.height[at], other.height[at])),
            twist: mix(self.twist, other.twist),
        }
    }
}

/// Strides at any speed: two gaits, the factors that shorten their strides, and the blending
/// between them.
#[derive(Debug, Clone, PartialEq)]
pub struct GaitTable {
    walk: Gait,
    jog: Gait,
}

/// The jogging cycle is not fast enough compared with the walking cycle.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the walking cycle has a speed of {walk:.2} m/s and the jogging cycle {jog:.2} m/s; the \
     jogging cycle must be at least 0.2 m/s faster"
)]
pub struct GaitOrderError {
    /// Speed of the walking cycle, m/s.
    pub walk: f64,
    /// Speed of the jogging cycle, m/s.
    pub jog: f64,
}

impl From<&GaitNumbers> for Gait {
    fn from(numbers: &GaitNumbers) -> Self {
        let curve =
            |values: &[f64]| std::array::from_fn(|at| values.get(at).copied().unwrap_or_default());
        Self {
            speed: numbers.speed.get(),
            duration: numbers.duration.get(),
            duty: numbers.duty.get(),
            half_width: numbers.half_width.get(),
            lift: numbers.lift.get(),
            swing: curve(&numbers.swing),
            height: curve(&numbers.height),
            twist: numbers.twist.get(),
        }
    }
}

impl Gait {
    /// Converts the gait to values of a vehicle type, rounded to four decimals.
    pub fn numbers(&self) -> GaitNumbers {
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        let curve = |values: &[f64; SAMPLES]| values.map(rounded).to_vec().into();
        GaitNumbers {
            speed: rounded(self.speed).into(),
            duration: rounded(self.duration).into(),
            duty: rounded(self.duty).into(),
            half_width: rounded(self.half_width).into(),
            lift: rounded(self.lift).into(),
            twist: rounded(self.twist).into(),
            swing: curve(&self.swing),
            height: curve(&self.height),
        }
    }
}

impl From<&VehicleType> for GaitTable {
    /// Returns the gaits of a vehicle type, or the shipped gaits if the type has no gaits or its
    /// gaits do not fit together.
    fn from(kind: &VehicleType) -> Self {
        let own = kind.gaits.as_ref();
        let own = own.and_then(|gaits| Self::new((&gaits.walk).into(), (&gaits.jog).into()).ok());
        own.unwrap_or_default()
    }
}

impl Default for GaitTable {
    fn default() -> Self {
        Self {
            walk: Gait::walk(),
            jog: Gait::jog(),
        }
    }
}

impl GaitTable {
    /// Creates a table from a slow and a fast gait.
    ///
    /// # Errors
    /// If the second gait is not faster by at least 0.2 m/s.
    pub fn new(walk: Gait, jog: Gait) -> Result<Self, GaitOrderError> {
        let is_ordered = walk.speed + 0.2 <= jog.speed;
        is_ordered.then_some(()).ok_or(GaitOrderError {
            walk: walk.speed,
            jog: jog.speed,
        })?;
        Ok(Self { walk, jog })
    }

    /// Weight of the fast gait in the blend at a speed, 0 to 1.
    fn blend(&self, speed: f64) -> f64 {
        let share = (speed - self.walk.speed) / (self.jog.speed - self.walk.speed);
        let share = share.clamp(0.0, 1.0);
        share * share * (3.0 - 2.0 * share)
    }

    /// Returns the factor that shortens the strides of a gait at `speed` (m/s).
    pub fn factor(gait: &Gait, speed: f64) -> f64 {
        let at = (speed / gait.speed).max(0.0);
        let next = FACTORS.partition_point(|(share, _)| *share <= at);
        let Some(&(to, after)) = FACTORS.get(next) else {
            return FACTORS[FACTORS.len() - 1].1;
        };
        let (from, before) = FACTORS[next.max(1) - 1];
        before + (after - before) * (at - from) / (to - from)
    }

    /// Length of a stride (two steps), m. `speed` is in m/s.
    pub fn stride(&self, speed: f64) -> f64 {
        let of = |gait: &Gait| gait.stride() * Self::factor(gait, speed);
        let (slow, fast) = (of(&self.walk), of(&self.jog));
        slow + self.blend(speed) * (fast - slow)
    }

    /// Fraction of the cycle during which a foot is on the ground. `speed` is in m/s.
    pub fn duty(&self, speed: f64) -> f64 {
        self.walk.duty + self.blend(speed) * (self.jog.duty - self.walk.duty)
    }

    /// Lateral distance between each foot and the line of the base point, m. `speed` is in m/s.
    pub fn half_width(&self, speed: f64) -> f64 {
        self.walk.half_width + self.blend(speed) * (self.jog.half_width - self.walk.half_width)
    }

    /// Returns the gait at `speed` (m/s). Foot heights and shoulder rotation are reduced in
    /// proportion to the stride.
    pub fn gait(&self, speed: f64) -> Gait {
        let share = self.blend(speed);
        let mut gait = self.walk.blended(&self.jog, share);
        let factor = |gait: &Gait| Self::factor(gait, speed).min(1.0);
        let factor = factor(&self.walk) + share * (factor(&self.jog) - factor(&self.walk));
        gait.lift *= 0.4 + 0.6 * factor;
        gait.twist *= factor;
        gait
    }

    /// Returns the rotation of the shoulders at the given phase of the left foot, rad; positive to
    /// the left.
    fn twist(gait: &Gait, phase: f64) -> f64 {
        // At phase 0, the left foot lands in front and the right shoulder is in front, so the
        // shoulders are turned to the left.
        gait.twist * cos(TAU * phase)
    }
}

/// Interpolates a sampled curve. `share` is 0 at the first sample and 1 at the last sample.
fn sampled(curve: &[f64; SAMPLES], share: f64) -> f64 {
    let at = share.clamp(0.0, 1.0) * (SAMPLES - 1) as f64;
    let before = (at.floor() as usize).min(SAMPLES - 2);
    let part = at - before as f64;
    curve[before] + part * (curve[before + 1] - curve[before])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_grow_with_the_speed_and_equal_the_cycles_at_their_speeds() {
        let table = GaitTable::default();
        assert!((table.stride(1.4) - 1.4 * 1.035).abs() < 1e-12);
        assert!((table.stride(2.6) - 2.6 * 0.72).abs() < 1e-12);
        let speeds: Vec<f64> = (1..=60).map(|step| 0.05 * f64::from(step)).collect();
        for pair in speeds.windows(2) {
            let [slow, fast] = [pair[0], pair[1]].map(|speed| table.stride(speed));
            assert!(slow < fast, "{pair:?}: {slow} {fast}");
            // The cadence never exceeds 110 strides per minute.
            assert!(pair[1] / fast < 110.0 / 60.0, "{pair:?}");
        }
        assert_eq!([table.duty(0.5), table.duty(3.0)], [0.62, 0.38]);
    }

    #[test]
    fn gaits_of_a_vehicle_type_replace_the_shipped_ones() {
        let mut kind = VehicleType::person();
        assert_eq!(GaitTable::from(&kind), GaitTable::default());
        let mut walk = Gait::walk().numbers();
        walk.speed = 1.0.into();
        let jog = Gait::jog().numbers();
        kind.gaits = Some(std::sync::Arc::new(roadwright_scenario::Gaits {
            walk,
            jog,
        }));
        let table = GaitTable::from(&kind);
        assert!((table.stride(1.0) - 1.035).abs() < 1e-9);
        assert!((table.stride(2.6) - 2.6 * 0.72).abs() < 1e-9);
    }

    #[test]
    fn a_jogging_cycle_slower_than_the_walking_cycle_is_refused() {
        assert!(GaitTable::new(Gait::walk(), Gait::jog()).is_ok());
        let error = GaitTable::new(Gait::jog(), Gait::walk()).unwrap_err();
        assert!(error.to_string().contains("2.60 m/s"), "{error}");
    }
}
