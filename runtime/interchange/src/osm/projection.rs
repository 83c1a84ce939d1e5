//! Projection from degrees to metres.

use super::elements::OsmNode;
use glam::DVec2;
use roadwright_geometry::math::{asin, atan2, atanh, cos, cosh, sin, sinh, tan};

/// Mean radius of the Earth, m (IUGG).
const EARTH_RADIUS: f64 = 6_371_008.8;

/// Transverse Mercator projection of a sphere around a centre. Over 20 km, its scale error is at most 5e-6.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalProjection {
    latitude: f64,
    longitude: f64,
}

impl LocalProjection {
    /// Creates a projection around a position in degrees.
    pub fn new(latitude_deg: f64, longitude_deg: f64) -> Self {
        Self {
            latitude: latitude_deg.to_radians(),
            longitude: longitude_deg.to_radians(),
        }
    }

    /// Converts degrees to metres east and north of the centre.
    pub fn to_world(&self, latitude_deg: f64, longitude_deg: f64) -> DVec2 {
        let (latitude, east) = (
            latitude_deg.to_radians(),
            longitude_deg.to_radians() - self.longitude,
        );
        // The clamp keeps positions a quarter of the globe away finite. They are rejected later, because they
        // are outside the world.
        let x = atanh((cos(latitude) * sin(east)).clamp(-0.999_999, 0.999_999));
        let y = atan2(tan(latitude), cos(east)) - self.latitude;
        EARTH_RADIUS * DVec2::new(x, y)
    }

    /// Converts a position in metres to degrees (latitude, longitude).
    pub fn to_degrees(&self, point: DVec2) -> (f64, f64) {
        let (x, y) = (
            point.x / EARTH_RADIUS,
            point.y / EARTH_RADIUS + self.latitude,
        );
        let latitude = asin(sin(y) / cosh(x));
        let longitude = self.longitude + atan2(sinh(x), cos(y));
        (latitude.to_degrees(), longitude.to_degrees())
    }
}

/// Returns the distance between two nodes along the great circle, m (haversine).
pub fn great_circle_distance(a: &OsmNode, b: &OsmNode) -> f64 {
    let (phi_a, phi_b) = (a.latitude.to_radians(), b.latitude.to_radians());
    let half_phi = 0.5 * (phi_b - phi_a);
    let half_lambda = 0.5 * (b.longitude - a.longitude).to_radians();
    // Uses the haversine, because the plain cosine formula loses all digits for near points: at 1 m the
    // cosine differs from 1 by 1e-14.
    let h = sin(half_phi) * sin(half_phi)
        + cos(phi_a) * cos(phi_b) * sin(half_lambda) * sin(half_lambda);
    2.0 * EARTH_RADIUS * asin(h.sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::elements::Sign;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn metres_and_degrees_are_inverse_and_true_to_scale(
            north in -0.1..0.1f64, east in -0.15..0.15f64,
            north2 in -0.1..0.1f64, east2 in -0.15..0.15f64,
        ) {
            let (latitude, longitude) = (53.34, -6.26);
            let projection = LocalProjection::new(latitude, longitude);
            let node = |n: f64, e: f64| OsmNode {
                latitude: latitude + n, longitude: longitude + e, sign: Sign::default() };
            let (a, b) = (node(north, east), node(north2, east2));
            let (p, q) = (projection.to_world(a.latitude, a.longitude),
                projection.to_world(b.latitude, b.longitude));
            let back = projection.to_degrees(p);
            prop_assert!((back.0 - a.latitude).abs() < 1e-9 && (back.1 - a.longitude).abs() < 1e-9);
            let circle = great_circle_distance(&a, &b);
            prop_assert!(((p - q).length() - circle).abs() < 1e-5 * circle + 1e-6);
        }
    }

    #[test]
    fn a_degree_of_latitude_has_its_length() {
        let a = OsmNode {
            latitude: 53.0,
            longitude: -6.0,
            sign: Sign::default(),
        };
        let b = OsmNode {
            latitude: 54.0,
            ..a
        };
        assert!((great_circle_distance(&a, &b) - 111_195.08).abs() < 0.1);
    }
}
