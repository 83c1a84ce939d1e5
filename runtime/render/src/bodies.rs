//! Draws rigid bodies as lines over the map, as the solver sees them: hulls in their current
//! attitude, wheels and their loads, and the vehicles and obstacles around them.

use glam::{DVec2, DVec3};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{Pose, polygon, unit};
use roadwright_scenario::{Obstacle, Scenario};
use roadwright_simulation::{Ground, Lying, MechanicsRecord, RigidShape, Snapshot, VehicleRecord};
use std::f64::consts::TAU;

/// Distance from a rigid vehicle within which other objects are drawn, m. Objects farther away are
/// not about to collide.
const NEAR: f64 = 30.0;
/// Largest scale at which wheels are drawn, m per pixel.
const FARTHEST_WHEEL: f64 = 0.15;
/// Radius of the circle that marks the contact point of a ray wheel, m.
const RAY: f64 = 0.12;
/// Number of corners of a circle.
const ROUND: u32 = 20;
/// Length of the line for a wheel's load at rest, in wheel radii.
const LOAD: f64 = 2.0;

/// A rigid vehicle of a snapshot.
struct Body<'a> {
    mechanics: &'a MechanicsRecord,
    shape: &'a RigidShape,
    lying: Lying,
    middle: DVec2,
}

/// Returns lines around rigid bodies in a part of the world. The part is given by its low and high corners in
/// metres, and the scale is in metres per pixel. Rings end where they begin. The result is empty if there is
/// no rigid vehicle in the part.
///
/// Convex parts of a hull are drawn in plan view in their actual attitude, sphere wheels as circles, and ray
/// wheels as small circles where they touch the ground. A line sideways from a wheel shows its load. At the
/// load at rest, the line is twice as long as the wheel's radius. In the air, it has no length. Trailers,
/// vehicles of other levels and loose obstacles are drawn as outlines if they are within 30 m of a rigid
/// vehicle.
pub fn lines(
    scenario: &Scenario,
    snapshot: &Snapshot,
    (low, high): (DVec2, DVec2),
    scale: f64,
) -> Vec<Vec<DVec2>> {
    let is_seen = |at: DVec2| at.cmpge(low - NEAR).all() && at.cmple(high + NEAR).all();
    let bodies = bodies(snapshot);
    let bodies: Vec<Body<'_>> = bodies.filter(|body| is_seen(body.middle)).collect();
    if bodies.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for body in &bodies {
        lines.extend(hull(body));
        if scale <= FARTHEST_WHEEL {
            wheels(body, &mut lines);
        }
    }
    let is_near = |at: DVec2| bodies.iter().any(|body| body.middle.distance(at) <= NEAR);
    lines.extend(company(scenario, snapshot, is_near));
    lines
}

/// Returns outlines of fixed objects (obstacles and tree trunks) within 30 m of the rigid vehicles
/// of a snapshot, as the solver sees them. The outlines are rings that end where they begin.
pub fn stills(ground: &Ground, snapshot: &Snapshot) -> Vec<Vec<DVec2>> {
    let middles: Vec<DVec2> = bodies(snapshot).map(|body| body.middle).collect();
    let outlines = ground.still_outlines(&middles, NEAR);
    outlines.into_iter().map(ring).collect()
}

/// Returns the rigid vehicles of a snapshot.
fn bodies(snapshot: &Snapshot) -> impl Iterator<Item = Body<'_>> {
    snapshot.mechanics.iter().filter_map(|mechanics| {
        let shape = mechanics.shape.as_deref()?;
        let lying = shape.lying(snapshot.vehicle(mechanics.agent)?)?;
        Some(Body {
            mechanics,
            shape,
            lying,
            middle: lying.point(DVec3::ZERO).truncate(),
        })
    })
}

/// Returns the areas that the parts of a hull cover in plan view.
fn hull(body: &Body<'_>) -> impl Iterator<Item = Vec<DVec2>> {
    body.shape.hull.iter().map(|part| {
        let corners = part.iter();
        let places = corners.map(|&corner| body.lying.point(corner).truncate());
        ring(polygon::convex_hull(&places.collect::<Vec<_>>()))
    })
}

/// Adds the wheels, at the positions given by their springs, and lines for their loads.
fn wheels(body: &Body<'_>, lines: &mut Vec<Vec<DVec2>>) {
    let shape = body.shape;
    let built = shape.hubs.iter().zip(&shape.loads);
    for (wheel, (&hub, &load)) in body.mechanics.wheels.iter().zip(built) {
        let hub = hub + DVec3::Z * wheel.travel;
        let foot = body.lying.point(hub - DVec3::Z * wheel.radius).truncate();
        lines.push(if shape.has_spheres {
            circle(body.lying.point(hub).truncate(), wheel.radius)
        } else {
            circle(foot, RAY)
        });
        let length = LOAD * wheel.radius * wheel.load / load;
        if length > 0.0 && length.is_finite() {
            let aside = DVec3::new(hub.x, hub.y + hub.y.signum(), hub.z - wheel.radius);
            let aside = body.lying.point(aside).truncate() - foot;
            lines.push(vec![foot, foot + length * aside.normalize_or_zero()]);
        }
    }
}

/// Returns the outlines of objects that may collide with rigid bodies, at positions accepted by
/// `is_near`.
fn company(
    scenario: &Scenario,
    snapshot: &Snapshot,
    is_near: impl Fn(DVec2) -> bool,
) -> Vec<Vec<DVec2>> {
    let outline = |body: Pose, length: f64, width: f64| {
        is_near(body.position)
            .then(|| ring(OrientedBox::new(body, length, width).corners().to_vec()))
    };
    let is_planar = |v: &&VehicleRecord| v.attitude.is_none();
    let planar = snapshot.vehicles.iter().filter(is_planar);
    let planar = planar.filter_map(|v| outline(v.body, v.length, v.width));
    let trailers = snapshot.all_trailers();
    let trailers = trailers.filter_map(|t| outline(t.body, t.length, t.width));
    let still = scenario.obstacles().iter().filter(|(id, obstacle)| {
        let pushed = snapshot.loose.iter();
        is_loose(obstacle) && !pushed.clone().any(|record| record.obstacle == **id)
    });
    let still = still.map(|(_, obstacle)| obstacle.shape.outline());
    let pushed = snapshot.loose.iter().map(|record| record.outline.clone());
    let loose = still.chain(pushed);
    let loose = loose.filter(|points| points.first().is_some_and(|&at| is_near(at)));
    planar.chain(trailers).chain(loose.map(ring)).collect()
}

/// Whether an obstacle can be pushed. Obstacles with notches or above the ground cannot.
fn is_loose(obstacle: &Obstacle) -> bool {
    let turns = |outline: &[DVec2]| {
        let edges: Vec<DVec2> = polygon::edges(outline).map(|(a, b)| b - a).collect();
        let crosses = (0..edges.len()).map(|i| edges[i].perp_dot(edges[(i + 1) % edges.len()]));
        let (left, right): (Vec<f64>, Vec<f64>) = crosses.partition(|cross| *cross >= 0.0);
        left.is_empty() || right.is_empty()
    };
    obstacle.mass.is_some() && !obstacle.hangs() && turns(&obstacle.shape.outline())
}

fn circle(middle: DVec2, radius: f64) -> Vec<DVec2> {
    let corner = |i: u32| middle + radius * unit(TAU * f64::from(i) / f64::from(ROUND));
    ring((0..ROUND).map(corner).collect())
}

/// Closes an outline by repeating its first point at the end.
fn ring(mut outline: Vec<DVec2>) -> Vec<DVec2> {
    outline.extend(outline.first().copied());
    outline
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_scenario::{Edit, ObstacleId, Shape};
    use roadwright_simulation::{Attitude, WheelRecord};
    use std::f64::consts::{FRAC_PI_2, PI};
    use std::sync::Arc;

    const VIEW: (DVec2, DVec2) = (DVec2::splat(-50.0), DVec2::splat(50.0));

    /// Creates a box of 4 x 2 x 1 m whose centre of gravity is in its middle, with a wheel on each
    /// side.
    fn shape(has_spheres: bool) -> Arc<RigidShape> {
        let corners = [-1.0, 1.0].into_iter().flat_map(|z| {
            [(2.0, 1.0), (-2.0, 1.0), (-2.0, -1.0), (2.0, -1.0)]
                .map(|(x, y)| DVec3::new(x, y, 0.5 * z))
        });
        Arc::new(RigidShape {
            hull: vec![corners.collect()],
            hubs: vec![DVec3::new(1.0, 0.8, -0.5), DVec3::new(1.0, -0.8, -0.5)],
            loads: vec![1000.0; 2],
            has_spheres,
            rear: 1.0,
        })
    }

    fn picture(has_spheres: bool, heading: f64, attitude: Attitude, loads: [f64; 2]) -> Snapshot {
        let pose = Pose::new(10.0, 5.0, heading);
        let vehicle = |agent: u64, attitude| VehicleRecord {
            agent,
            pose,
            body: pose,
            length: 4.0,
            width: 2.0,
            attitude,
            ..VehicleRecord::default()
        };
        let wheels = loads.map(|load| WheelRecord {
            radius: 0.4,
            load,
            ..WheelRecord::default()
        });
        let mechanics = MechanicsRecord {
            agent: 7,
            wheels: wheels.to_vec(),
            shape: Some(shape(has_spheres)),
            ..MechanicsRecord::default()
        };
        Snapshot {
            vehicles: vec![vehicle(3, None), vehicle(7, Some(attitude))],
            mechanics: vec![mechanics],
            ..Snapshot::default()
        }
    }

    fn lying(pitch: f64, roll: f64) -> Attitude {
        Attitude {
            height: 1.0,
            pitch,
            roll,
        }
    }

    fn drawn(snapshot: &Snapshot) -> Vec<Vec<DVec2>> {
        lines(&Scenario::default(), snapshot, VIEW, 0.05)
    }

    fn extent(line: &[DVec2]) -> DVec2 {
        let (low, high) = polygon::bounds(line).unwrap();
        high - low
    }

    #[test]
    fn a_level_hull_is_its_box_and_a_leaning_one_what_it_covers() {
        let size = |attitude, heading| {
            let all = drawn(&picture(false, heading, attitude, [1000.0; 2]));
            assert_eq!(all[0].first(), all[0].last());
            extent(&all[0])
        };
        let is = |size: DVec2, x: f64, y: f64| {
            assert!((size - DVec2::new(x, y)).length() < 1e-9, "{size}");
        };
        is(size(lying(0.0, 0.0), 0.0), 4.0, 2.0);
        is(size(lying(0.0, 0.0), FRAC_PI_2), 2.0, 4.0);
        // A box lying on its side is as wide as it was high; on its roof, its width is unchanged.
        is(size(lying(0.0, FRAC_PI_2), 0.0), 4.0, 1.0);
        is(size(lying(0.0, PI), 0.0), 4.0, 2.0);
        is(size(lying(FRAC_PI_2, 0.0), 0.0), 1.0, 2.0);
        let (sin, cos) = roadwright_geometry::math::sin_cos(0.5);
        is(size(lying(0.5, 0.0), 0.0), 4.0 * cos + sin, 2.0);
    }

    #[test]
    fn the_hull_lies_ahead_of_the_rear_axle_and_a_raised_left_side_moves_its_roof_to_the_right() {
        let all = drawn(&picture(false, 0.0, lying(0.0, 0.0), [0.0; 2]));
        let (low, high) = polygon::bounds(&all[0]).unwrap();
        assert_eq!(0.5 * (low + high), DVec2::new(11.0, 5.0));
        let snapshot = picture(false, 0.0, lying(0.1, 0.2), [0.0; 2]);
        let body = shape(false).lying(&snapshot.vehicles[1]).unwrap();
        let up = body.point(DVec3::Z) - body.point(DVec3::ZERO);
        assert!(up.x < -0.05 && up.y < -0.15 && up.z > 0.9, "{up}");
        assert!(body.point(DVec3::Y).z > 1.15 && body.point(DVec3::X).z > 1.05);
    }

    #[test]
    fn wheels_are_circles_and_loads_are_lengths() {
        let rays = drawn(&picture(false, 0.0, lying(0.0, 0.0), [1000.0, 500.0]));
        let spheres = drawn(&picture(true, 0.0, lying(0.0, 0.0), [1000.0, 0.0]));
        // Hull, two wheels with loads, and the vehicle of another level.
        assert_eq!((rays.len(), spheres.len()), (6, 5));
        assert!((extent(&rays[1]).x - 2.0 * RAY).abs() < 1e-9);
        assert!((extent(&spheres[1]).x - 0.8).abs() < 1e-9);
        // The line points to the left, or half as far to the right.
        let load = |line: &[DVec2]| line[1] - line[0];
        assert!((load(&rays[2]) - DVec2::new(0.0, 0.8)).length() < 1e-9);
        assert!((load(&rays[4]) - DVec2::new(0.0, -0.4)).length() < 1e-9);
        let far = lines(
            &Scenario::default(),
            &picture(false, 0.0, lying(0.0, 0.0), [1000.0; 2]),
            VIEW,
            0.5,
        );
        assert_eq!(far.len(), 2);
    }

    #[test]
    fn what_stands_fixed_near_a_rigid_vehicle_is_outlined() {
        let mut scenario = Scenario::new("yard");
        for (id, x) in [(1, 20.0), (2, 80.0)] {
            let post = Obstacle {
                name: String::new(),
                shape: Shape::Circle {
                    x: x.into(),
                    y: 5.0.into(),
                    radius: 1.0.into(),
                },
                base: 0.0.into(),
                height: 2.0.into(),
                mass: None.into(),
            };
            let edit = Edit::Obstacle(ObstacleId(id), Some(Box::new(post)));
            scenario.apply(edit).unwrap();
        }
        let ground = Ground::new(&scenario);
        let mut snapshot = picture(false, 0.0, lying(0.0, 0.0), [1000.0; 2]);
        let seen = stills(&ground, &snapshot);
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].first(), seen[0].last());
        let (low, high) = polygon::bounds(&seen[0]).unwrap();
        assert!((0.5 * (low + high) - DVec2::new(20.0, 5.0)).length() < 1e-9);
        // Nothing is drawn around vehicles of other levels.
        snapshot.mechanics.clear();
        assert!(stills(&ground, &snapshot).is_empty());
    }

    #[test]
    fn nothing_is_drawn_where_nobody_is_rigid_and_nothing_far_from_those_who_are() {
        let mut snapshot = picture(false, 0.0, lying(0.0, 0.0), [0.0; 2]);
        snapshot.vehicles[0].body.position.x += NEAR + 10.0;
        assert_eq!(drawn(&snapshot).len(), 3);
        let elsewhere = (DVec2::splat(500.0), DVec2::splat(600.0));
        let none = lines(&Scenario::default(), &snapshot, elsewhere, 0.05);
        assert!(none.is_empty());
        snapshot.mechanics[0].shape = None;
        assert!(drawn(&snapshot).is_empty());
        // A record with undefined heights, and then a record whose vehicle does not exist.
        let mut lost = picture(false, 0.0, lying(0.0, 0.0), [f64::NAN; 2]);
        assert_eq!(drawn(&lost).len(), 4);
        lost.vehicles.truncate(1);
        assert!(drawn(&lost).is_empty());
    }
}
