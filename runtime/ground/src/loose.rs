//! Obstacles with a mass, which are bodies that can be pushed.

use glam::{DVec2, DVec3};
use roadwright_geometry::math::{atan2, sin_cos};
use roadwright_geometry::polygon;
use roadwright_scenario::ObstacleId;
use roadwright_vehicle::rigid::{LooseModel, LooseState, Solid, Surface};

/// Friction coefficient of loose obstacles on the ground and against each other.
const FRICTION: f64 = 0.5;

/// A loose obstacle with its initial position.
#[derive(Debug, Clone)]
pub struct LooseKind {
    /// The obstacle.
    pub id: ObstacleId,
    /// Model of its motion.
    pub model: LooseModel,
    middle: DVec2,
    heading: f64,
    /// Radius of the circle around its centre that encloses the obstacle in any orientation, m.
    pub radius: f64,
}

/// Moments of an area about its centroid: area and second moments.
struct Moments {
    area: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl LooseKind {
    /// Creates a disc on the ground; lengths in m, mass in kg.
    pub(super) fn disc(id: ObstacleId, middle: DVec2, radius: f64, height: f64, mass: f64) -> Self {
        let across = mass * (radius * radius / 4.0 + height * height / 12.0);
        let inertia = DVec3::new(across, across, 0.5 * mass * radius * radius);
        let solid = Solid::cylinder(radius, 0.5 * height);
        Self::new(id, solid, middle, 0.0, mass, inertia)
    }

    /// Returns a prism with a convex, counter-clockwise outline; lengths in m, mass in kg. `None`
    /// if the outline has no area.
    pub(super) fn prism(id: ObstacleId, outline: &[DVec2], height: f64, mass: f64) -> Option<Self> {
        let middle = polygon::centroid(outline);
        let about: Vec<DVec2> = outline.iter().map(|&corner| corner - middle).collect();
        let moments = moments(&about);
        // Its axes are the principal axes of inertia.
        let heading = 0.5 * atan2(2.0 * moments.xy, moments.xx - moments.yy);
        let turned: Vec<DVec2> = about.iter().map(|&corner| turn(corner, -heading)).collect();
        let solid = Solid::prism(&turned, 0.5 * height)?;
        let own = self::moments(&turned);
        let (long, wide) = (own.xx / own.area, own.yy / own.area);
        let tall = height * height / 12.0;
        // The moment about each axis depends on the extent across the axis: yy and the height for
        // x, xx and the height for y.
        let inertia = mass * DVec3::new(wide + tall, long + tall, long + wide);
        Some(Self::new(id, solid, middle, heading, mass, inertia))
    }

    fn new(
        id: ObstacleId,
        solid: Solid,
        middle: DVec2,
        heading: f64,
        mass: f64,
        inertia: DVec3,
    ) -> Self {
        let corners = solid.corners().iter();
        let radius = corners.map(|corner| corner.length()).fold(0.0, f64::max);
        Self {
            id,
            middle,
            heading,
            radius,
            model: LooseModel {
                height: solid.half_height(),
                solid,
                mass,
                inertia,
                friction: FRICTION,
            },
        }
    }

    /// Returns the initial state, before the obstacle is pushed.
    pub fn standing(&self, surface: &impl Surface) -> LooseState {
        self.model.standing(self.middle, self.heading, surface)
    }

    /// Returns the outline in plan view, counter-clockwise, m.
    pub fn outline(&self, state: &LooseState) -> Vec<DVec2> {
        let body = &state.body;
        let corners = self.model.solid.corners().iter();
        let places = corners.map(|&corner| (body.position + body.rotation * corner).truncate());
        polygon::convex_hull(&places.collect::<Vec<_>>())
    }

    /// Returns how far the base of the obstacle has moved, m.
    pub fn shift(&self, state: &LooseState) -> f64 {
        let body = &state.body;
        let base = body.position - body.rotation * DVec3::Z * self.model.height;
        (base.truncate() - self.middle).length()
    }
}

fn turn(point: DVec2, angle: f64) -> DVec2 {
    let (sin, cos) = sin_cos(angle);
    DVec2::new(cos, sin).rotate(point)
}

fn moments(outline: &[DVec2]) -> Moments {
    let mut sum = Moments {
        area: 0.0,
        xx: 0.0,
        yy: 0.0,
        xy: 0.0,
    };
    // For the triangle between the centre and each edge: int x^2 = cross (ax^2 + ax bx + bx^2) / 12, and so
    // on.
    for (a, b) in polygon::edges(outline) {
        let cross = a.perp_dot(b);
        sum.area += cross / 2.0;
        sum.xx += cross * (a.x * a.x + a.x * b.x + b.x * b.x) / 12.0;
        sum.yy += cross * (a.y * a.y + a.y * b.y + b.y * b.y) / 12.0;
        sum.xy += cross * (a.x * b.y + 2.0 * (a.x * a.y + b.x * b.y) + b.x * a.y) / 24.0;
    }
    sum
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_geometry::Pose;
    use roadwright_geometry::oriented_box::OrientedBox;
    use roadwright_vehicle::rigid::Flat;

    #[test]
    fn a_turned_box_has_the_inertia_of_a_box_and_stands_where_it_is_drawn() {
        let drawn = OrientedBox::new(Pose::new(5.0, -3.0, 0.7), 4.0, 1.0).corners();
        let kind = LooseKind::prism(ObstacleId(1), &drawn, 2.0, 12.0).unwrap();
        let exact = DVec3::new(1.0 + 4.0, 16.0 + 4.0, 16.0 + 1.0);
        assert!(
            (kind.model.inertia - exact).length() < 1e-9,
            "{}",
            kind.model.inertia
        );
        let state = kind.standing(&Flat);
        assert!(kind.shift(&state) < 1e-12);
        let outline = kind.outline(&state);
        assert_eq!(outline.len(), 4);
        for corner in drawn {
            let near = outline.iter().map(|point| (*point - corner).length());
            assert!(near.fold(f64::INFINITY, f64::min) < 1e-9);
        }
        // A line has no area.
        let line = [DVec2::ZERO, DVec2::X, 2.0 * DVec2::X];
        assert!(LooseKind::prism(ObstacleId(1), &line, 2.0, 12.0).is_none());
    }
}
