use super::*;
use crate::junction::{Body, JunctionShape, JunctionShapes};
use std::sync::Arc;

/// Creates a crossroads of unequal streets with its centre at `place`, rotated by an angle. Its
/// roads are numbered from `first`.
fn crossroads(place: DVec2, turned: f64, first: u32, width: f64) -> Junction {
    let streets = [(0.0, width), (80.0, 3.5), (190.0, 3.25), (260.0, 3.0)];
    let roads = streets.map(|(bearing, width): (f64, f64)| {
        let mut road = arm(0.0, 90.0, CrossSection::driving(2, 1, width), RIGHT);
        let far = place + 90.0 * unit(bearing.to_radians() + turned);
        road.reference_line = ReferenceLine::straight(place, far).unwrap();
        road
    });
    let arms = roads.iter().zip(first..);
    let arms = arms.map(|(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start));
    let site = Site {
        centre: place,
        ..site(RIGHT)
    };
    build(&site, arms.collect())
}

#[test]
fn a_junction_has_one_shape_wherever_it_lies_and_however_it_is_turned() {
    let shapes = JunctionShapes::default();
    let one = shapes.shape_of(&crossroads(DVec2::ZERO, 0.0, 1, 3.5));
    for (place, turned, first) in [
        ((0.0, 0.0), 0.0, 40),
        ((100.0, -5900.0), 0.0, 7),
        ((1234.567, -987.654), 0.7, 3),
        ((-8.0e4, 3.0e4), -2.9, 900),
    ] {
        let other = shapes.shape_of(&crossroads(DVec2::from(place), turned, first, 3.5));
        assert!(
            Arc::ptr_eq(&one, &other),
            "at {place:?}, turned by {turned}"
        );
    }
    assert_eq!(shapes.count(), 1);
    // A difference of one millimetre makes a different shape.
    let wider = shapes.shape_of(&crossroads(DVec2::ZERO, 0.0, 1, 3.501));
    assert!(!Arc::ptr_eq(&one, &wider));
    assert_eq!(shapes.count(), 2);
    drop(wider);
    shapes.forget_unused();
    assert_eq!(shapes.count(), 1);
}

#[test]
fn results_do_not_depend_on_the_junction_from_which_a_shape_was_taken() {
    let places = [(0.0, 0.0, 0.0), (4321.1, -765.4, 1.1), (-2.0e4, 7.0e3, 2.6)];
    let junctions = places.map(|(x, y, turned)| crossroads(DVec2::new(x, y), turned, 1, 3.5));
    for first in &junctions {
        let shapes = JunctionShapes::default();
        let shape = shapes.shape_of(first);
        assert!(!shape.conflicts().list().is_empty());
        assert!(shape.setbacks().iter().any(|&setback| setback > 0.0));
        for other in &junctions {
            let alone = JunctionShape::of(other);
            assert_eq!(shape.conflicts(), &Conflicts::of(other));
            assert_eq!(
                shape.wide_conflicts(),
                &Conflicts::of_bodies(other, Body::LONG)
            );
            assert_eq!(shape.swept_by_buses(), alone.swept_by_buses());
            assert_eq!(shape.setbacks(), alone.setbacks());
            assert_eq!(shape.setbacks_of_cars(), alone.setbacks_of_cars());
        }
    }
}

#[test]
fn setbacks_of_lanes_are_those_of_their_connections() {
    let junction = crossroads(DVec2::new(50.0, 20.0), 0.3, 1, 3.5);
    let shape = JunctionShape::of(&junction);
    let of_lanes = junction.setbacks();
    assert!(!of_lanes.is_empty());
    for (path, &setback) in junction.paths.iter().zip(shape.setbacks()) {
        let listed = of_lanes.iter().find(|(lane, _)| *lane == path.from);
        assert_eq!(listed.map_or(0.0, |(_, setback)| *setback), setback);
    }
}
