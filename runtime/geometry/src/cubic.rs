//! Cubic segments in OpenDRIVE's `paramPoly3` form, evaluated by arc length.

use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nodes and weights of five-point Gauss-Legendre quadrature on [-1, 1].
const GAUSS5: [(f64, f64); 5] = [
    (0.0, 0.568_888_888_888_888_9),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

/// Number of panels into which a cubic is divided to measure its length.
const PANELS: usize = 16;

/// Maximum accepted difference between the length of a panel and the sum of its halves, as a
/// fraction of the length. If the difference is larger, the panel is divided further. Whole panels
/// are exact to 1e-13 for an ordinary cubic, but not for a cubic with a near-cusp, where it nearly
/// stops.
const PANEL_TOLERANCE: f64 = 1e-10;

/// Maximum number of times that a panel is halved, down to a 16,384th of the curve.
const HALVINGS: u32 = 10;

/// Coefficients of a cubic in the local frame of its start, over p in [0, 1].
///
/// u(p) = bu p + cu p^2 + du p^3 ahead, v(p) = cv p^2 + dv p^3 to the left. The constant and the
/// linear lateral terms are zero, so the curve starts at its pose with exactly its heading
/// (OpenDRIVE `paramPoly3` with aU = aV = bV = 0, `pRange="normalized"`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cubic {
    /// Linear coefficient ahead, m; positive.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub bu: f64,
    /// Quadratic coefficient ahead, m.
    pub cu: f64,
    /// Cubic coefficient ahead, m.
    pub du: f64,
    /// Quadratic coefficient to the left, m.
    pub cv: f64,
    /// Cubic coefficient to the left, m.
    pub dv: f64,
}

impl Cubic {
    /// Returns the cubic that starts at the origin along +x with speed `start_speed` and ends at
    /// `end` with velocity `end_velocity` (all in the local frame, m).
    pub fn hermite(start_speed: f64, end: DVec2, end_velocity: DVec2) -> Self {
        // From u(1) = end and u'(1) = end_velocity: cu + du = x - bu and 2 cu + 3 du = x' - bu, and the
        // same to the left without bu.
        Self {
            bu: start_speed,
            cu: 3.0 * end.x - 2.0 * start_speed - end_velocity.x,
            du: start_speed + end_velocity.x - 2.0 * end.x,
            cv: 3.0 * end.y - end_velocity.y,
            dv: end_velocity.y - 2.0 * end.y,
        }
    }

    /// Returns the local position (ahead, left) at p, m.
    pub fn point(&self, p: f64) -> DVec2 {
        DVec2::new(
            p * (self.bu + p * (self.cu + p * self.du)),
            p * p * (self.cv + p * self.dv),
        )
    }

    /// Returns the first derivative with respect to p, m.
    pub fn velocity(&self, p: f64) -> DVec2 {
        DVec2::new(
            self.bu + p * (2.0 * self.cu + p * 3.0 * self.du),
            p * (2.0 * self.cv + p * 3.0 * self.dv),
        )
    }

    /// Returns the signed curvature at p, 1/m; 0 where the speed is zero.
    pub fn curvature(&self, p: f64) -> f64 {
        let velocity = self.velocity(p);
        let acceleration = DVec2::new(
            2.0 * self.cu + 6.0 * p * self.du,
            2.0 * self.cv + 6.0 * p * self.dv,
        );
        let speed = velocity.length();
        if speed < 1e-12 {
            return 0.0;
        }
        velocity.perp_dot(acceleration) / (speed * speed * speed)
    }

    /// Returns the arc length between two parameters by one application of the five-point rule, m.
    fn length_between(&self, from: f64, to: f64) -> f64 {
        let (half, middle) = (0.5 * (to - from), 0.5 * (to + from));
        half * GAUSS5
            .iter()
            .map(|(node, weight)| weight * self.velocity(middle + node * half).length())
            .sum::<f64>()
    }

    /// Like `length_between`, but for curves that may nearly stop. Halves intervals until the parts
    /// agree with the whole.
    fn careful_length_between(&self, from: f64, to: f64, halvings: u32) -> f64 {
        let whole = self.length_between(from, to);
        let middle = 0.5 * (from + to);
        let halves = self.length_between(from, middle) + self.length_between(middle, to);
        if halvings == 0 || (whole - halves).abs() <= PANEL_TOLERANCE * halves {
            // The sum of the halves would be as accurate, but the unchanged bits tell the caller
            // that this panel was not divided.
            return whole;
        }
        self.careful_length_between(from, middle, halvings - 1)
            + self.careful_length_between(middle, to, halvings - 1)
    }
}

/// A cubic with a table that converts arc length to its parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredCubic {
    cubic: Cubic,
    /// Arc length at p = i / PANELS.
    lengths: [f64; PANELS + 1],
    /// For each panel, whether one application of the rule is exact on the whole panel.
    smooth: [bool; PANELS],
}

impl MeasuredCubic {
    /// Measures a cubic. O(1): 16 panels of five-point quadrature, divided further where the curve nearly
    /// stops.
    pub fn new(cubic: Cubic) -> Self {
        let mut lengths = [0.0; PANELS + 1];
        let mut smooth = [true; PANELS];
        for i in 0..PANELS {
            let (from, to) = (i as f64 / PANELS as f64, (i + 1) as f64 / PANELS as f64);
            let length = cubic.careful_length_between(from, to, HALVINGS);
            // The two are bit-identical if the careful rule divided nothing, because it then returns the
            // length of the whole panel.
            smooth[i] = length == cubic.length_between(from, to);
            lengths[i + 1] = lengths[i] + length;
        }
        Self {
            cubic,
            lengths,
            smooth,
        }
    }

    /// Returns the coefficients.
    pub fn cubic(&self) -> &Cubic {
        &self.cubic
    }

    /// Arc length, m.
    pub fn length(&self) -> f64 {
        self.lengths[PANELS]
    }

    /// Returns the parameter at arc length `s` (clamped to the curve), with an error of about 1e-10
    /// m of arc length.
    pub fn parameter(&self, s: f64) -> f64 {
        let s = s.clamp(0.0, self.length());
        // The end of the curve belongs to the last panel.
        let panel = self.lengths[1..PANELS].partition_point(|&l| l <= s);
        let span = self.lengths[panel + 1] - self.lengths[panel];
        let low = panel as f64 / PANELS as f64;
        if span <= 0.0 {
            return low;
        }
        let guess = low + (s - self.lengths[panel]) / span / PANELS as f64;
        if self.smooth[panel] {
            self.newton(panel, s, guess)
        } else {
            self.bracketed(panel, s)
        }
    }

    /// Takes two Newton steps from a linear guess. Two steps are enough if the speed hardly changes
    /// within the panel.
    fn newton(&self, panel: usize, s: f64, guess: f64) -> f64 {
        let low = panel as f64 / PANELS as f64;
        let mut p = guess;
        for _ in 0..2 {
            let error = self.lengths[panel] + self.cubic.length_between(low, p) - s;
            let speed = self.cubic.velocity(p).length();
            if speed > 1e-12 {
                p = (p - error / speed).clamp(low, low + 1.0 / PANELS as f64);
            }
        }
        p
    }

    /// Finds the parameter by bisection. It is used near a cusp, where the speed drops to almost
    /// zero and Newton's steps overshoot.
    fn bracketed(&self, panel: usize, s: f64) -> f64 {
        let start = panel as f64 / PANELS as f64;
        let (mut low, mut high) = (start, start + 1.0 / PANELS as f64);
        let wanted = s - self.lengths[panel];
        // After 44 halvings, a sixteenth of the parameter range is reduced to 4e-15.
        for _ in 0..44 {
            let middle = 0.5 * (low + high);
            if self.cubic.careful_length_between(start, middle, HALVINGS) < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the arc length computed from a large number of short chords, for comparison.
    fn fine_length(cubic: &Cubic, to: f64) -> f64 {
        let parts = 4_000;
        (0..parts)
            .map(|i| {
                let part = to / f64::from(parts);
                cubic.length_between(f64::from(i) * part, f64::from(i + 1) * part)
            })
            .sum()
    }

    #[test]
    fn a_near_cusp_is_measured_and_inverted() {
        // The curve turns back and nearly stops at p = 0.5.
        let cusp = Cubic {
            bu: 3.0,
            cu: -6.0,
            du: 4.0,
            cv: 0.01,
            dv: 0.002,
        };
        let measured = MeasuredCubic::new(cusp);
        let exact = fine_length(&cusp, 1.0);
        assert!((measured.length() - exact).abs() < 1e-8 * exact, "{exact}");
        for i in 0..=20 {
            let s = measured.length() * f64::from(i) / 20.0;
            let back = fine_length(&cusp, measured.parameter(s));
            assert!((back - s).abs() < 1e-7, "{s} {back}");
        }
    }

    #[test]
    fn hermite_ends_where_asked() {
        let (end, velocity) = (DVec2::new(20.0, 5.0), DVec2::new(15.0, 15.0));
        let cubic = Cubic::hermite(18.0, end, velocity);
        assert!((cubic.point(1.0) - end).length() < 1e-12);
        assert!((cubic.velocity(1.0) - velocity).length() < 1e-12);
        assert_eq!(cubic.velocity(0.0), DVec2::new(18.0, 0.0));
    }

    #[test]
    fn arc_length_and_parameter_are_inverse() {
        let cubic = Cubic::hermite(18.0, DVec2::new(20.0, 5.0), DVec2::new(5.0, 18.0));
        let measured = MeasuredCubic::new(cubic);
        for i in 0..=20 {
            let s = measured.length() * f64::from(i) / 20.0;
            let p = measured.parameter(s);
            let fine: f64 = (0..200)
                .map(|k| {
                    cubic.length_between(p * f64::from(k) / 200.0, p * f64::from(k + 1) / 200.0)
                })
                .sum();
            assert!((fine - s).abs() < 1e-8, "s {s}: {fine}");
        }
    }
}
