//! How fast bends are driven.

use roadwright_geometry::centre_line::CentreLine;

/// Comfortable lateral acceleration in bends, m/s^2.
const LATERAL_ACCELERATION: f64 = 2.5;
/// Slowest speed that a bend asks for, m/s.
const SLOWEST: f64 = 2.0;

/// Bends count over this to both sides, m: a kink between two lanes that go on straight is no bend, however
/// sharp it is.
pub const BEND_REACH: f64 = 3.0;

/// The speed at which a bend of a curvature, 1/m, is driven with comfort, m/s: v^2 times the curvature is the
/// lateral acceleration, so 10 m of radius allow 5 m/s.
pub fn bend_speed(curvature: f64) -> f64 {
    let speed = (LATERAL_ACCELERATION / curvature.abs().max(1e-6)).sqrt();
    speed.max(SLOWEST)
}

/// The largest curvature of a line to either side, 1/m, over [`BEND_REACH`].
pub(super) fn sharpest_bend(line: CentreLine<'_>) -> f64 {
    let curvatures = line.curvatures(BEND_REACH).map(f64::abs);
    curvatures.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use crate::junction::layout;
    use crate::lane_graph::LaneGraph;
    use crate::testing::draw_street;
    use roadwright_geometry::{DVec2, ReferenceLine};

    /// The lanelets of streets between points, one after the other.
    fn street(points: &[(f64, f64)]) -> LaneGraph {
        let mut scenario = Scenario::new("street");
        for ends in points.windows(2) {
            let line = ReferenceLine::straight(DVec2::from(ends[0]), DVec2::from(ends[1]));
            draw_street(&mut scenario, &line.unwrap(), (3.25, 14.0));
        }
        LaneGraph::new(&scenario, &layout(scenario.network(), scenario.about()))
    }

    fn slowest_connection(graph: &LaneGraph) -> f64 {
        let connections = graph
            .lanelets()
            .iter()
            .filter(|lanelet| lanelet.is_connection());
        let speeds = connections.map(|lanelet| lanelet.speed_limit);
        speeds.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn a_kink_between_two_streets_is_no_bend() {
        // A degree and a half within a third of a metre: an arc of 13 m radius would be driven at 6 m/s.
        let kinked = street(&[(0.0, 0.0), (100.0, 0.0), (200.0, 2.6)]);
        assert_eq!(slowest_connection(&kinked), 14.0);
        // A corner is one.
        let corner = slowest_connection(&street(&[(0.0, 0.0), (100.0, 0.0), (100.0, 90.0)]));
        assert!((3.0..6.0).contains(&corner), "{corner}");
    }

    #[test]
    fn ten_metres_of_radius_allow_five_metres_a_second() {
        assert!((bend_speed(-0.1) - 5.0).abs() < 1e-12);
        assert_eq!(bend_speed(100.0), SLOWEST);
        assert!(bend_speed(0.0) > 1000.0);
    }
}
