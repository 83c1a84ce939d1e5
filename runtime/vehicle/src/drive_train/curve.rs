//! Torque as a function of engine speed.

use roadwright_scenario::vehicle_file::{Engine, Interpolation};

/// Torque of an engine at full throttle, as a function of the engine speed.
#[derive(Debug, Clone, PartialEq)]
pub struct TorqueCurve {
    /// Points of the curve in ascending order of engine speed, at least one. Each point consists of
    /// an engine speed (rpm) and a torque (N m).
    points: Vec<(f64, f64)>,
    /// Slopes at the points, N m per rpm; empty for linear interpolation.
    slopes: Vec<f64>,
}

impl From<&Engine> for TorqueCurve {
    fn from(engine: &Engine) -> Self {
        let points = engine.torque_curve_rpm_nm.clone();
        let slopes = match engine.interpolation {
            Interpolation::Linear => Vec::new(),
            Interpolation::Smooth => monotone_slopes(&points),
        };
        Self {
            points: points.into_inner(),
            slopes,
        }
    }
}

impl TorqueCurve {
    /// Idle speed, at which the curve starts, rpm.
    pub fn idle_rpm(&self) -> f64 {
        self.points[0].0
    }

    /// Rev limit, at which the curve ends, rpm.
    pub fn limit_rpm(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }

    /// Maximum torque, N m. It occurs at a point, because the curve never exceeds its points.
    pub fn peak(&self) -> f64 {
        let torques = self.points.iter().map(|point| point.1);
        torques.fold(0.0, f64::max)
    }

    /// Torque at full throttle, N m. Between the points, it follows equation 11.1 of [Gerdelan 2011]. Below
    /// the first point, it is the torque of that point. Above the last point, it is 0.
    pub fn torque(&self, rpm: f64) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= rpm);
        if after == 0 {
            return self.points[0].1;
        }
        let (x0, y0) = self.points[after - 1];
        let Some(&(x1, y1)) = self.points.get(after) else {
            return if rpm > x0 { 0.0 } else { y0 };
        };
        let width = x1 - x0;
        let share = (rpm - x0) / width;
        if self.slopes.is_empty() {
            return y0 + share * (y1 - y0);
        }
        // Cubic Hermite interpolation.
        let (left, right) = (self.slopes[after - 1] * width, self.slopes[after] * width);
        let rest = 1.0 - share;
        y0 * rest * rest * (1.0 + 2.0 * share)
            + y1 * share * share * (3.0 - 2.0 * share)
            + left * share * rest * rest
            - right * share * share * rest
    }
}

/// Returns slopes for a cubic that never exceeds its neighbouring points ([Fritsch 1980]): the harmonic mean
/// of the slopes of the two adjacent lines, or 0 if their signs differ.
fn monotone_slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let lines: Vec<f64> = points
        .windows(2)
        .map(|pair| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0))
        .collect();
    (0..points.len())
        .map(|number| {
            let before = number.checked_sub(1).and_then(|n| lines.get(n));
            match (before, lines.get(number)) {
                // The harmonic mean is close to the slope of the flatter line, which keeps the
                // cubic between its points. If the signs differ, the point is a peak or a dip, and
                // the slope is 0.
                (Some(&a), Some(&b)) if a * b > 0.0 => 2.0 * a * b / (a + b),
                (Some(_), Some(_)) => 0.0,
                // An end point has one adjacent line, and a single point has none.
                (only, other) => only.or(other).copied().unwrap_or_default(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn willys(interpolation: Interpolation) -> TorqueCurve {
        TorqueCurve::from(&Engine {
            torque_curve_rpm_nm: vec![(600.0, 119.31), (2000.0, 143.72), (4000.0, 105.75)].into(),
            interpolation,
            inertia: None.into(),
        })
    }

    #[test]
    fn lines_go_through_the_points_and_end_where_they_should() {
        let curve = willys(Interpolation::Linear);
        assert_eq!(curve.torque(0.0), 119.31);
        assert_eq!(curve.torque(2000.0), 143.72);
        assert!((curve.torque(3000.0) - 0.5 * (143.72 + 105.75)).abs() < 1e-12);
        assert_eq!(curve.torque(4000.0), 105.75);
        assert_eq!(curve.torque(4000.1), 0.0);
        assert_eq!((curve.idle_rpm(), curve.limit_rpm()), (600.0, 4000.0));
    }

    proptest! {
        #[test]
        fn the_smooth_curve_stays_between_its_points(rpm in 600.0..4000.0f64) {
            let torque = willys(Interpolation::Smooth).torque(rpm);
            let (low, high) = if rpm < 2000.0 { (119.31, 143.72) } else { (105.75, 143.72) };
            prop_assert!(torque > low - 1e-9 && torque < high + 1e-9, "{torque}");
            // The cubic differs only slightly from the straight lines.
            let line = willys(Interpolation::Linear).torque(rpm);
            prop_assert!((torque - line).abs() < 8.0);
        }
    }

    #[test]
    fn the_smooth_curve_has_no_corners() {
        let curve = willys(Interpolation::Smooth);
        let slope = |rpm: f64| curve.torque(rpm + 0.5) - curve.torque(rpm - 0.5);
        assert!((slope(1999.0) - slope(2001.0)).abs() < 1e-3);
        let lines = willys(Interpolation::Linear);
        let slope = |rpm: f64| lines.torque(rpm + 0.5) - lines.torque(rpm - 0.5);
        assert!((slope(1999.0) - slope(2001.0)).abs() > 0.03);
    }
}
