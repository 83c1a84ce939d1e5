//! Test grounds: slopes, bumps, steps and gaps, as experienced by wheels of a given radius.
//!
//! A wheel rolls over an edge rather than following the profile of the ground. The wheel's height
//! is that of a circle that just touches the ground (the envelope of the profile), so that rays
//! behave like round wheels.

use crate::rigid::Surface;
use glam::{DVec2, DVec3};
use roadwright_geometry::math::{sin_cos, tan};

/// A plane that rises at `angle` in the direction `heading`, both in rad.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slope {
    pub(super) angle: f64,
    pub(super) heading: f64,
}

impl Surface for Slope {
    fn at(&self, place: DVec2) -> (f64, DVec3) {
        let uphill = roadwright_geometry::unit(self.heading);
        let (sin, cos) = sin_cos(self.angle);
        let height = place.dot(uphill) * tan(self.angle);
        (height, (-uphill * sin).extend(cos))
    }
}

/// An obstruction across the path at x = 0, on level ground.
#[derive(Debug, Clone, Copy)]
pub(super) enum Obstruction {
    /// A half-round pipe with this radius, m.
    HalfRound(f64),
    /// A step up of this height, m.
    Step(f64),
    /// A trench of this width, m. It is deeper than the wheels are high.
    Gap(f64),
}

/// A course with an obstruction, for wheels of the given radius, m.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    pub(super) obstruction: Obstruction,
    pub(super) radius: f64,
}

impl Course {
    /// Returns the height and slope experienced by a wheel at position x.
    fn profile(&self, x: f64) -> (f64, f64) {
        let radius = self.radius;
        match self.obstruction {
            // The centre of a wheel that rolls over the pipe moves on a circle of radius + bump. The contact
            // is one radius lower.
            Obstruction::HalfRound(bump) => {
                let (height, slope) = arc(radius + bump, x);
                above_ground(height - radius, slope)
            }
            // Before the edge, the wheel touches it, and the centre of the wheel moves on a circle
            // around the edge.
            Obstruction::Step(step) if x < 0.0 => {
                let (height, slope) = arc(radius, x);
                above_ground(step + height - radius, slope)
            }
            Obstruction::Step(step) => (step, 0.0),
            Obstruction::Gap(width) => {
                if x <= 0.0 || x >= width {
                    return (0.0, 0.0);
                }
                let (near, far) = (arc(radius, x), arc(radius, x - width));
                // The wheel rests on the edge that supports it at the greater height.
                let (height, slope) = if near.0 > far.0 { near } else { far };
                (height - radius, slope)
            }
        }
    }
}

/// Returns the height and slope of a half circle around the origin; 0 outside it.
fn arc(radius: f64, x: f64) -> (f64, f64) {
    let square = radius * radius - x * x;
    if square <= 0.0 {
        return (0.0, 0.0);
    }
    let height = square.sqrt();
    (height, -x / height)
}

fn above_ground(height: f64, slope: f64) -> (f64, f64) {
    if height > 0.0 {
        (height, slope)
    } else {
        (0.0, 0.0)
    }
}

impl Surface for Course {
    fn at(&self, place: DVec2) -> (f64, DVec3) {
        let (height, slope) = self.profile(place.x);
        (height, DVec3::new(-slope, 0.0, 1.0).normalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_roll_over_edges() {
        let course = |obstruction| Course {
            obstruction,
            radius: 0.4,
        };
        let height = |obstruction, x| course(obstruction).at(DVec2::new(x, 3.0)).0;
        // A pipe lifts the wheel by the radius of the pipe. The wheel touches it before being above
        // it.
        assert!((height(Obstruction::HalfRound(0.1), 0.0) - 0.1).abs() < 1e-12);
        assert_eq!(height(Obstruction::HalfRound(0.1), 0.31), 0.0);
        assert!(height(Obstruction::HalfRound(0.1), 0.29) > 0.0);
        // The wheel touches the edge of a step before its centre reaches the edge.
        assert!((height(Obstruction::Step(0.2), -1e-9) - 0.2).abs() < 1e-6);
        assert_eq!(height(Obstruction::Step(0.2), -0.35), 0.0);
        // In the middle of a trench, both edges support the wheel.
        let dip = 0.4 - (0.4f64 * 0.4 - 0.25 * 0.25).sqrt();
        assert!((height(Obstruction::Gap(0.5), 0.25) + dip).abs() < 1e-12);
        assert_eq!(height(Obstruction::Gap(1.0), 0.5), -0.4);
    }
}
