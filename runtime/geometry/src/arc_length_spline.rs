//! Approximate arc-length parameterisation of a curve [Wang 2004].

use crate::cubic::MeasuredCubic;
use crate::reference_line::ReferenceLine;
use glam::DVec2;

/// How the spline behaves at its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCondition {
    /// Second derivative zero: the choice of [Wang 2004].
    Natural,
    /// First derivative equal to the input curve's unit tangent: better on smooth curves.
    Clamped,
}

/// A cubic spline over arc length through m + 1 equally spaced points of an input curve.
///
/// Evaluation needs no table inversion: the parameter is (approximately) the distance.
#[derive(Debug, Clone, PartialEq)]
pub struct ArcLengthSpline {
    points: Vec<DVec2>,
    /// Second derivatives at the points.
    moments: Vec<DVec2>,
    spacing: f64,
}

/// How far a spline is from its input curve and from a true arc-length parameterisation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplineErrors {
    /// Largest |Q(t(s)) - P(s)|, m.
    pub match_error: f64,
    /// Largest ||dP/ds| - 1|.
    pub arc_length_error: f64,
}

/// A curve that knows its point and its unit tangent at a distance.
trait Measured {
    fn length(&self) -> f64;
    fn point(&self, s: f64) -> DVec2;
    fn tangent(&self, s: f64) -> DVec2;
}

impl Measured for MeasuredCubic {
    fn length(&self) -> f64 {
        Self::length(self)
    }

    fn point(&self, s: f64) -> DVec2 {
        self.cubic().point(self.parameter(s))
    }

    fn tangent(&self, s: f64) -> DVec2 {
        self.cubic().velocity(self.parameter(s)).normalize_or_zero()
    }
}

impl Measured for ReferenceLine {
    fn length(&self) -> f64 {
        Self::length(self)
    }

    fn point(&self, s: f64) -> DVec2 {
        self.pose(s).position
    }

    fn tangent(&self, s: f64) -> DVec2 {
        self.pose(s).forward()
    }
}

impl ArcLengthSpline {
    /// Interpolates a cubic with `pieces` (m, at least 1) equal pieces of arc length. O(m).
    pub fn from_cubic(curve: &MeasuredCubic, pieces: usize, ends: EndCondition) -> Self {
        Self::through(curve, pieces, ends)
    }

    /// The same for a whole road line of any number of segments.
    ///
    /// ```
    /// use roadwright_geometry::arc_length_spline::{ArcLengthSpline, EndCondition};
    /// use roadwright_geometry::{Pose, ReferenceLine, Segment};
    /// # fn main() -> Result<(), roadwright_geometry::GeometryError> {
    /// let bend = Segment::Arc { length: 30.0, curvature: 0.02 };
    /// let line = ReferenceLine::new(Pose::default(), vec![Segment::Line { length: 20.0 }, bend])?;
    /// let spline = ArcLengthSpline::from_line(&line, 50, EndCondition::Clamped);
    /// assert!((spline.point(35.0) - line.pose(35.0).position).length() < 1e-3);
    /// assert!(spline.errors_on_line(&line).arc_length_error < 2e-3);
    /// # Ok(()) }
    /// ```
    pub fn from_line(line: &ReferenceLine, pieces: usize, ends: EndCondition) -> Self {
        Self::through(line, pieces, ends)
    }

    fn through(curve: &impl Measured, pieces: usize, ends: EndCondition) -> Self {
        let pieces = pieces.max(1);
        let spacing = curve.length() / pieces as f64;
        let points: Vec<_> = (0..=pieces)
            .map(|i| curve.point(i as f64 * spacing))
            .collect();
        let clamp = match ends {
            EndCondition::Natural => None,
            EndCondition::Clamped => Some((curve.tangent(0.0), curve.tangent(curve.length()))),
        };
        let moments = solve_moments(&points, spacing, clamp);
        Self {
            points,
            moments,
            spacing,
        }
    }

    /// Length of the parameter interval, m: the input curve's length.
    pub fn length(&self) -> f64 {
        self.spacing * (self.points.len() - 1) as f64
    }

    /// Point at distance `s`, held inside the curve.
    pub fn point(&self, s: f64) -> DVec2 {
        let (i, a, b) = self.piece(s);
        let h2 = self.spacing * self.spacing / 6.0;
        self.points[i] * a
            + self.points[i + 1] * b
            + h2 * ((a * a * a - a) * self.moments[i] + (b * b * b - b) * self.moments[i + 1])
    }

    /// Derivative dP/ds; close to a unit vector.
    pub fn derivative(&self, s: f64) -> DVec2 {
        let (i, a, b) = self.piece(s);
        let h = self.spacing;
        (self.points[i + 1] - self.points[i]) / h
            + h / 6.0
                * ((3.0 * b * b - 1.0) * self.moments[i + 1]
                    - (3.0 * a * a - 1.0) * self.moments[i])
    }

    /// Match and arc-length error against the input curve, from 64 samples a piece.
    pub fn errors(&self, curve: &MeasuredCubic) -> SplineErrors {
        self.errors_on(curve)
    }

    /// The same against a road line.
    pub fn errors_on_line(&self, line: &ReferenceLine) -> SplineErrors {
        self.errors_on(line)
    }

    fn errors_on(&self, curve: &impl Measured) -> SplineErrors {
        let count = 64 * (self.points.len() - 1);
        let mut errors = SplineErrors {
            match_error: 0.0,
            arc_length_error: 0.0,
        };
        for i in 0..=count {
            let s = self.length() * i as f64 / count as f64;
            let miss = curve.point(s) - self.point(s);
            let speed = (self.derivative(s).length() - 1.0).abs();
            errors.match_error = errors.match_error.max(miss.length());
            errors.arc_length_error = errors.arc_length_error.max(speed);
        }
        errors
    }

    fn piece(&self, s: f64) -> (usize, f64, f64) {
        let scaled = (s / self.spacing).clamp(0.0, (self.points.len() - 1) as f64);
        let index = (scaled as usize).min(self.points.len() - 2);
        let b = scaled - index as f64;
        (index, 1.0 - b, b)
    }
}

/// Second derivatives of the interpolating cubic spline (Thomas algorithm).
fn solve_moments(points: &[DVec2], h: f64, clamp: Option<(DVec2, DVec2)>) -> Vec<DVec2> {
    let n = points.len();
    let chord = |i: usize| (points[i + 1] - points[i]) / h;
    // Continuity of the slope at an inner point links three second derivatives:
    //   M[i-1] + 4 M[i] + M[i+1] = 6 / h (chord[i] - chord[i-1])
    // Clamped ends have 2 M[0] + M[1] = 6 / h (chord[0] - tangent), natural ones M[0] = 0.
    let (mut diagonal, mut right) = (vec![4.0; n], vec![DVec2::ZERO; n]);
    for (i, value) in right.iter_mut().enumerate().take(n - 1).skip(1) {
        *value = 6.0 / h * (chord(i) - chord(i - 1));
    }
    // Off-diagonal entry that links an end row to its neighbour.
    let link = if let Some((start, end)) = clamp {
        diagonal[0] = 2.0;
        diagonal[n - 1] = 2.0;
        right[0] = 6.0 / h * (chord(0) - start);
        right[n - 1] = 6.0 / h * (end - chord(n - 2));
        1.0
    } else {
        diagonal[0] = 1.0;
        diagonal[n - 1] = 1.0;
        0.0
    };
    for i in 1..n {
        let above = if i == 1 { link } else { 1.0 };
        let below = if i == n - 1 { link } else { 1.0 };
        let factor = below / diagonal[i - 1];
        diagonal[i] -= factor * above;
        let previous = right[i - 1];
        right[i] -= factor * previous;
    }
    let mut moments = vec![DVec2::ZERO; n];
    moments[n - 1] = right[n - 1] / diagonal[n - 1];
    for i in (0..n - 1).rev() {
        let above = if i == 0 { link } else { 1.0 };
        moments[i] = (right[i] - above * moments[i + 1]) / diagonal[i];
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;

    fn curve() -> MeasuredCubic {
        MeasuredCubic::new(Cubic::hermite(
            40.0,
            DVec2::new(30.0, 20.0),
            DVec2::new(0.0, 40.0),
        ))
    }

    #[test]
    fn knots_lie_on_the_curve() {
        let spline = ArcLengthSpline::from_cubic(&curve(), 5, EndCondition::Natural);
        for i in 0..=5 {
            let s = spline.length() * f64::from(i) / 5.0;
            let on_curve = curve().cubic().point(curve().parameter(s));
            assert!((spline.point(s) - on_curve).length() < 1e-9);
        }
    }

    #[test]
    fn more_pieces_and_clamped_ends_shrink_both_errors() {
        let errors =
            |pieces, ends| ArcLengthSpline::from_cubic(&curve(), pieces, ends).errors(&curve());
        let natural = [5, 10, 20].map(|m| errors(m, EndCondition::Natural));
        let clamped = [5, 10, 20].map(|m| errors(m, EndCondition::Clamped));
        for i in 0..2 {
            // Clamped splines converge with the fourth order, natural ones with the second.
            assert!(clamped[i + 1].match_error < clamped[i].match_error / 8.0);
            assert!(natural[i + 1].match_error < natural[i].match_error / 3.0);
            assert!(natural[i + 1].arc_length_error < natural[i].arc_length_error);
        }
        assert!(clamped[2].match_error < natural[2].match_error);
        assert!(clamped[2].match_error < 1e-4 && clamped[2].arc_length_error < 1e-3);
    }
}
