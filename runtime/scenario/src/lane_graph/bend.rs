//! Speeds at which bends can be driven comfortably.

use roadwright_geometry::centre_line::CentreLine;

/// Comfortable lateral acceleration in bends, m/s^2.
const LATERAL_ACCELERATION: f64 = 2.5;
/// Lower limit of the speed in bends, m/s.
const SLOWEST: f64 = 2.0;

/// Distance on either side of a point over which the curvature is averaged, m. Because of the
/// averaging, a kink between two lanes that continue straight does not count as a bend, however
/// sharp it is.
pub const BEND_REACH: f64 = 3.0;

/// Returns the comfortable speed in a bend, m/s. `curvature` is in 1/m. The lateral acceleration is
/// v^2 times the curvature, so a radius of 10 m allows 5 m/s.
pub fn bend_speed(curvature: f64) -> f64 {
    let speed = (LATERAL_ACCELERATION / curvature.abs().max(1e-6)).sqrt();
    speed.max(SLOWEST)
}

/// Returns the speed at each point of a line, m/s, limited by the bends of the line and by the
/// speed limit.
fn bend_speeds(line: CentreLine<'_>, limit: f64) -> impl Iterator<Item = f64> {
    let curvatures = line.curvatures(BEND_REACH);
    curvatures.map(move |curvature| limit.min(bend_speed(curvature)))
}

/// Returns the average speed along a line at its bend speeds, m/s: length divided by travel time.
pub(super) fn free_speed(line: CentreLine<'_>, limit: f64) -> f64 {
    // Each point represents half of the piece before it and half of the piece after it. All pieces are
    // equally long.
    let points = line.count();
    let weight = |point: usize| {
        if point == 0 || point + 1 == points {
            0.5
        } else {
            1.0
        }
    };
    let times = bend_speeds(line, limit).enumerate();
    let time: f64 = times.map(|(point, speed)| weight(point) / speed).sum();
    (points - 1) as f64 / time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use crate::junction::layout;
    use crate::lane_graph::LaneGraph;
    use crate::testing::draw_street;
    use roadwright_geometry::centre_line::CentreLines;
    use roadwright_geometry::{DVec2, ReferenceLine};

    /// Returns the lanelets of consecutive streets through the given points.
    fn street(points: &[(f64, f64)]) -> LaneGraph {
        let mut scenario = Scenario::new("street");
        for ends in points.windows(2) {
            let line = ReferenceLine::straight(DVec2::from(ends[0]), DVec2::from(ends[1]));
            draw_street(&mut scenario, &line.unwrap(), 3.25, 14.0);
        }
        LaneGraph::new(&scenario, &layout(scenario.network(), scenario.about()))
    }

    fn slowest_connection(graph: &LaneGraph) -> f64 {
        let connections = graph
            .lanelets()
            .iter()
            .filter(|lanelet| lanelet.is_connection());
        let speeds = connections.map(|lanelet| lanelet.free_speed);
        speeds.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn a_kink_between_two_streets_is_no_bend() {
        // A kink of 1.5 degrees within a third of a metre. An arc that turned as much over this
        // length would have a radius of 13 m and would be driven at 6 m/s.
        let kinked = street(&[(0.0, 0.0), (100.0, 0.0), (200.0, 2.6)]);
        assert!((slowest_connection(&kinked) - 14.0).abs() < 1e-9);
        // A right-angle corner is a bend.
        let corner = slowest_connection(&street(&[(0.0, 0.0), (100.0, 0.0), (100.0, 90.0)]));
        assert!((3.0..6.0).contains(&corner), "{corner}");
    }

    #[test]
    fn a_bend_slows_down_where_it_is() {
        // 40 m straight on, then a right-angle bend with a radius of 5 m.
        let bend = |i: u32| {
            let angle = f64::from(i) / 5.0;
            let (sin, cos) = (
                roadwright_geometry::math::sin(angle),
                roadwright_geometry::math::cos(angle),
            );
            DVec2::new(40.0 + 5.0 * sin, 5.0 * (1.0 - cos))
        };
        let points: Vec<DVec2> = [DVec2::ZERO].into_iter().chain((0..8).map(bend)).collect();
        let mut lines = CentreLines::default();
        let line = lines.push(&points).unwrap();
        let line = lines.line(line);
        let speeds: Vec<f64> = bend_speeds(line, 14.0).collect();
        assert!(
            speeds[..35].iter().all(|&speed| speed == 14.0),
            "{speeds:?}"
        );
        let slowest = speeds.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((3.3..3.8).contains(&slowest), "{slowest}");
        // 40 m take 2.9 s, and 7 m about 2 s.
        let mean = free_speed(line, 14.0);
        assert!((9.0..10.5).contains(&mean), "{mean}");
        assert_eq!(free_speed(line, 2.0), 2.0);
    }

    #[test]
    fn ten_metres_of_radius_allow_five_metres_a_second() {
        assert!((bend_speed(-0.1) - 5.0).abs() < 1e-12);
        assert_eq!(bend_speed(100.0), SLOWEST);
        assert!(bend_speed(0.0) > 1000.0);
    }
}
