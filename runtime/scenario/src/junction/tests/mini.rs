//! Tests of mini roundabouts.

use super::*;
use roadwright_geometry::math::Stream;

/// Streets with the given bearings that meet at a mini roundabout.
fn mini(bearings: &[f64], side: DrivingSide) -> Junction {
    ruled(bearings, side, |_, rules| {
        rules.control = Some(Control::MiniRoundabout);
    })
}

/// Bearings of the streets: a crossroads, a T-junction, a Y-junction, five streets, and a skew crossing.
const SHAPES: [&[f64]; 5] = [
    &CROSS,
    &[0.0, 90.0, 180.0],
    &[90.0, 210.0, 330.0],
    &[0.0, 72.0, 144.0, 216.0, 288.0],
    &[10.0, 80.0, 200.0, 265.0],
];

#[test]
fn connections_go_round_the_island_and_keep_off_it() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for bearings in SHAPES {
            let junction = mini(bearings, side);
            let ring = junction.ring.expect("there is room");
            assert!(
                junction.flags().is_empty(),
                "{bearings:?}: {:?}",
                junction.flags()
            );
            assert!(ring.radius >= 4.5 && ring.island >= 1.5, "{ring:?}");
            // There is a path from each street into each other one, and back into the same street if a car
            // can turn that tightly.
            let back = junction
                .paths
                .iter()
                .filter(|path| path.turn == Turn::UTurn)
                .count();
            let n = bearings.len();
            assert_eq!(junction.paths.len(), n * (n - 1) + back, "{bearings:?}");
            assert!(back + 1 >= n, "{bearings:?}: {back}");
            let outline = junction.polygon();
            for path in &junction.paths {
                let curve = path.curve.as_ref().unwrap();
                let mut turned = 0.0;
                let steps = (curve.length() / 0.1).ceil() as usize;
                let at = |i: usize| curve.pose(curve.length() * i as f64 / steps as f64);
                for i in 0..=steps {
                    let pose = at(i);
                    let from_centre = pose.position - ring.centre;
                    // At its rear axle, the inner side of a car is clear of the island.
                    assert!(from_centre.length() - 0.95 > ring.island, "{path:?}");
                    let next = at((i + 1).min(steps)).position - ring.centre;
                    turned += wrap_angle(
                        roadwright_geometry::heading_of(next)
                            - roadwright_geometry::heading_of(from_centre),
                    );
                    // The front corners of the car while its front is in the junction.
                    let to_end = curve.length() * (1.0 - i as f64 / steps as f64);
                    if to_end > 4.5 {
                        for side in [-0.95, 0.95] {
                            let corner = pose.point(3.8, side);
                            let beyond = polygon::distance(&outline, corner);
                            assert!(beyond < 0.35, "{bearings:?}: {beyond} m over the kerb");
                        }
                    }
                }
                // All vehicles drive around the island in the same direction, and U-turns lead once
                // around it.
                let around = match side {
                    DrivingSide::Right => turned,
                    DrivingSide::Left => -turned,
                };
                assert!(around > 0.0, "{path:?}");
                if path.turn == Turn::UTurn {
                    assert!(around > 5.0, "{around}");
                }
            }
        }
    }
}

#[test]
fn without_the_decision_nobody_turns_back_and_there_is_no_ring() {
    let junction = ruled(&CROSS, RIGHT, |_, _| {});
    assert!(junction.ring.is_none() && junction.paths.len() == 12);
}

#[test]
fn who_enters_gives_way_to_who_comes_past() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let junction = mini(&CROSS, side);
        assert!(signs(&junction).iter().all(|sign| *sign == Sign::Yield));
        let right = RightOfWay::of(&junction, &Conflicts::of(&junction));
        let gives_way =
            |(a, b), (c, d)| right.gives_way(path(&junction, a, b), path(&junction, c, d));
        // Roads 1 to 4 are in the east, north, west and south. In right-hand traffic, a vehicle from the
        // south yields to vehicles that circulate from the left, and to no others.
        let (before, after) = match side {
            DrivingSide::Right => (3, 1),
            DrivingSide::Left => (1, 3),
        };
        assert!(gives_way((4, 2), (before, after)) && !gives_way((before, after), (4, 2)));
        assert!(gives_way((after, before), (4, 2)) && !gives_way((4, 2), (after, before)));
        // A vehicle on a U-turn passes all entries.
        assert!(gives_way((4, 2), (before, before)));
        // If each of two paths passes the other's entry, neither waits for the other.
        assert!(!gives_way((4, before), (2, after)) && !gives_way((2, after), (4, before)));
        let conflicts = Conflicts::of(&junction);
        let opposite = (path(&junction, 4, before), path(&junction, 2, after));
        assert!(conflicts.are_in_conflict(opposite.0, opposite.1));
    }
}

#[test]
fn on_short_streets_there_is_no_ring_and_it_is_told() {
    let junction = ruled(&CROSS, RIGHT, |roads, rules| {
        rules.control = Some(Control::MiniRoundabout);
        for road in roads {
            let far = road.reference_line.end().position * 0.1;
            road.reference_line = ReferenceLine::straight(DVec2::ZERO, far).unwrap();
        }
    });
    assert!(junction.ring.is_none());
    assert!(junction.flags().contains(&Flag::NoRoomForRing));
    assert_eq!(junction.control, Control::MiniRoundabout);
    assert_eq!(junction.paths.len(), 12);
}

#[test]
fn streets_of_three_lanes_in_each_direction_have_no_ring_and_it_is_told() {
    let with_lanes = |lanes: usize| {
        ruled(&CROSS, RIGHT, |roads, rules| {
            rules.control = Some(Control::MiniRoundabout);
            roads[1].lane_sections[0] = CrossSection::driving(1, lanes, 3.25).lanes(RIGHT).1;
        })
    };
    assert!(with_lanes(2).ring.is_some());
    let junction = with_lanes(3);
    assert!(junction.ring.is_none());
    assert!(junction.flags().contains(&Flag::NoRoomForRing));
}

#[test]
fn the_ring_is_joined_and_left_without_kinks_whatever_the_corners() {
    // Corners of various sizes push the island away from the centre to where there is room.
    let mut random = Stream::new(20, "corners", 0);
    let mut pushed = 0;
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for _ in 0..60 {
            let junction = ruled(&CROSS, side, |_, rules| {
                rules.control = Some(Control::MiniRoundabout);
                for road in 1..=4 {
                    let next = RoadId(road % 4 + 1);
                    let radius = (random.next_index(2) == 0).then(|| random.next_in(0.5, 12.0));
                    rules.set_corner(RoadId(road), next, radius);
                }
            });
            let Some(ring) = junction.ring else {
                continue;
            };
            pushed += usize::from(ring.centre.length() > 1.5);
            // A turn to the near side cuts the corner, so it is as sharp as the corner.
            let near = Turn::near(side);
            for path in junction.paths.iter().filter(|path| path.turn != near) {
                let radius = path.min_radius();
                assert!(radius > 2.5, "{radius} m: {path:?}");
            }
        }
    }
    assert!(pushed > 10, "{pushed}");
}
