//! Tests of splitter islands of roundabouts.

use super::*;

/// Whether a point is inside an area and more than a centimetre from its edge.
fn is_inside(area: &[DVec2], place: DVec2) -> bool {
    polygon::contains(area, place) && polygon::boundary_distance(area, place) > 0.01
}

/// Returns the points at the edges of a body that drives along a path, and at the edges of the
/// path's lane.
fn driven(path: &ConnectingPath, front: f64, half: f64) -> Vec<DVec2> {
    let curve = path.curve.as_ref().unwrap();
    let steps = (curve.length() / 0.1).ceil() as usize;
    let mut places = Vec::new();
    for i in 0..=steps {
        let share = i as f64 / steps as f64;
        let pose = curve.pose(curve.length() * share);
        let lane = 0.5 * (path.width.0 + (path.width.1 - path.width.0) * share);
        for side in [-1.0, 1.0] {
            places.push(pose.point(0.0, side * lane));
            places.extend((0..=8).map(|k| {
                let ahead = -1.0 + (front + 1.0) * f64::from(k) / 8.0;
                pose.point(ahead, side * half)
            }));
        }
    }
    places
}

#[test]
fn nobody_drives_over_the_islands_of_a_roundabout() {
    for (sense, side) in [(1.0, DrivingSide::Right), (-1.0, DrivingSide::Left)] {
        for radius in [16.0, 24.0, 40.0] {
            let layout = layout(&ring(radius, 4, sense, side), side);
            for node in 0..4 {
                let junction = &layout.junctions[layout.junction_of[&NodeId(node)]];
                let [island] = junction.splitters() else {
                    panic!("radius {radius}: {} islands", junction.splitters().len());
                };
                // The ring itself has no island, but the arm has one.
                assert_eq!(island.road, RoadId(100 + node));
                let area = polygon::signed_area(&island.paint);
                assert!(
                    area > 2.0 && polygon::is_simple(&island.paint),
                    "{radius}: {area}"
                );
                for path in &junction.paths {
                    for place in driven(path, 3.8, 0.95) {
                        assert!(!is_inside(&island.paint, place), "{radius}: {place}");
                    }
                    if !island.raised.is_empty() {
                        for place in driven(path, 5.2, 1.275) {
                            assert!(!is_inside(&island.raised, place), "{radius}: {place}");
                        }
                    }
                }
                // The raised part is inside the painted part, and the island is inside the
                // junction.
                let is_held = |place: &DVec2| polygon::distance(&island.paint, *place) < 0.05;
                assert!(island.raised.iter().all(is_held));
                let outline = junction.polygon();
                assert!(
                    island
                        .paint
                        .iter()
                        .all(|p| polygon::distance(&outline, *p) < 0.05)
                );
            }
        }
    }
}

#[test]
fn corners_of_islands_are_rounded_and_kerbs_keep_clear_of_the_painted_line() {
    for radius in [16.0, 24.0, 40.0] {
        let layout = layout(&ring(radius, 4, 1.0, RIGHT), RIGHT);
        for node in 0..4 {
            let junction = &layout.junctions[layout.junction_of[&NodeId(node)]];
            let island = &junction.splitters()[0];
            // Only the two corners at the cut may be sharp.
            for outline in [&island.paint, &island.raised] {
                let n = outline.len();
                let sharp = (0..n).filter(|&i| {
                    let before = outline[i] - outline[(i + n - 1) % n];
                    let after = outline[(i + 1) % n] - outline[i];
                    before.normalize().dot(after.normalize()) < 0.7
                });
                assert!(sharp.count() <= 2, "radius {radius}: {outline:?}");
            }
            // Beside the cut, the outlines end at the same line.
            let beside = |place: &DVec2| polygon::boundary_distance(&island.paint, *place);
            let near = island.raised.iter().filter(|place| beside(place) < 0.2);
            assert!(near.count() <= 2, "radius {radius}: {:?}", island.raised);
        }
    }
}

#[test]
fn islands_of_left_hand_traffic_mirror_those_of_right_hand_traffic() {
    let right = layout(&ring(16.0, 4, 1.0, RIGHT), RIGHT);
    let left = layout(&ring(16.0, 4, -1.0, DrivingSide::Left), DrivingSide::Left);
    for node in 0..4 {
        let of = |layout: &Layout| {
            let junction = &layout.junctions[layout.junction_of[&NodeId(node)]];
            junction.splitters()[0].clone()
        };
        let (one, other) = (of(&right), of(&left));
        for (shape, image) in [(one.paint, other.paint), (one.raised, other.raised)] {
            let areas = [&shape, &image].map(|points| polygon::signed_area(points));
            assert!((areas[0] - areas[1]).abs() < 0.1, "{areas:?}");
            let mirrored: Vec<DVec2> = image.iter().map(|p| DVec2::new(p.x, -p.y)).collect();
            let beside = |place: &DVec2| polygon::boundary_distance(&mirrored, *place);
            assert!(shape.iter().all(|place| beside(place) < 0.3));
        }
    }
}

#[test]
fn mini_roundabouts_have_painted_islands_only_and_other_junctions_none() {
    let junction = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::MiniRoundabout);
    });
    for island in junction.splitters() {
        assert!(island.raised.is_empty());
        for path in &junction.paths {
            for place in driven(path, 3.8, 0.95) {
                assert!(!is_inside(&island.paint, place));
            }
        }
    }
    let plain = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Priority)
    });
    assert!(plain.splitters().is_empty());
}
