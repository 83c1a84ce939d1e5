//! Invariants that hold for all junctions.

use super::*;

fn road_strategy() -> impl Strategy<Value = (Vec<f64>, Vec<(usize, usize, f64)>)> {
    (2usize..9).prop_flat_map(|count| {
        (
            proptest::collection::vec(0.15..1.0f64, count),
            proptest::collection::vec((1usize..4, 0usize..4, 2.75..4.0f64), count),
        )
    })
}

proptest! {
    #[test]
    fn junctions_hold_their_invariants(bundle in road_strategy()) {
        let (gaps, lanes) = bundle;
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let junction = junction_of(&roads, RIGHT);
        prop_assert_eq!(&junction, &junction_of(&roads, RIGHT));
        for arm in &junction.arms {
            prop_assert!(arm.trim >= 0.0 && arm.trim <= 150.0);
        }
        if !junction.outline().is_empty() {
            let points = junction.polygon();
            prop_assert!(polygon::is_simple(&points) && polygon::signed_area(&points) > 0.0);
            for arm in &junction.arms {
                prop_assert!(polygon::boundary_distance(&points, arm.left_cut) < 1e-6
                    || junction.flags().contains(&Flag::Degraded));
            }
        }
        for border in junction.borders() {
            let pavement = border.pavement_polygon(0.01);
            prop_assert!(pavement.is_empty()
                || (polygon::is_simple(&pavement) && polygon::signed_area(&pavement) > 0.0));
        }
        for path in junction.paths.iter().filter_map(|p| p.curve.as_ref().map(|c| (p, c))) {
            let (path, curve) = path;
            for (at, pose) in [(path.from, curve.start()), (path.to, curve.end())] {
                let road = &roads[at.road.0 as usize - 1];
                let trim = junction.arms.iter().find(|l| l.road == at.road).unwrap().trim;
                let band = road.lane_band(at.lane, trim).unwrap();
                let lane = road.reference_line.point(trim, band.centre);
                prop_assert!((lane - pose.position).length() < 1e-6);
                let line = wrap_angle(road.reference_line.heading(trim) - pose.heading);
                prop_assert!(line.abs() < 1e-6 || (line.abs() - std::f64::consts::PI).abs() < 1e-6);
            }
        }
        // Every entering lane has an exit if there is any lane on which to leave.
        let leaving = |except: u32| roads.iter().zip(1..)
            .any(|(r, id)| id != except && r.lanes_forward(0.0, RIGHT) > 0);
        for flag in &junction.flags() {
            if let Flag::NoExit(lane) = flag {
                prop_assert!(!leaving(lane.road.0), "{:?}", flag);
            }
        }
    }

    /// Checks that no path is too tight for a car if the streets have one lane in each direction
    /// and enough room.
    #[test]
    fn cars_can_drive_all_connections_of_streets_with_one_lane_in_each_direction(
        gaps in proptest::collection::vec(0.5..1.0f64, 2usize..6), width in 2.75..4.0f64, is_right in any::<bool>()
    ) {
        let side = if is_right { RIGHT } else { DrivingSide::Left };
        let lanes = vec![(1, 1, width); gaps.len()];
        let junction = junction_of(&random_roads(&gaps, &lanes, side), side);
        for path in &junction.paths {
            prop_assert!(path.min_radius() > LEAST_RADIUS, "{} m: {:?}", path.min_radius(), path);
        }
    }

    #[test]
    fn arms_may_come_in_any_order(bundle in road_strategy(), turn in 0usize..8) {
        let (gaps, lanes) = bundle;
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let ends = |order: &[usize]| {
            let arms = order.iter()
                .map(|&i| Arm::new(RoadId(i as u32 + 1), &roads[i], RoadEnd::Start)).collect();
            build(&site(RIGHT), arms)
        };
        let order: Vec<_> = (0..roads.len()).collect();
        let mut rotated = order.clone();
        rotated.rotate_left(turn % roads.len());
        prop_assert_eq!(ends(&order), ends(&rotated));
    }

    #[test]
    fn left_hand_junctions_mirror_right_hand_ones(bundle in road_strategy(), is_mini in any::<bool>()) {
        let (gaps, lanes) = bundle;
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let control = is_mini.then_some(Control::MiniRoundabout);
        let right = decided(&roads, RIGHT, control);
        let mirrored: Vec<_> = roads.iter().map(mirrored).collect();
        let left = decided(&mirrored, DrivingSide::Left, control);
        let mut a: Vec<_> = right.paths.iter()
            .map(|p| (p.from.road, -p.from.lane, p.to.road, -p.to.lane)).collect();
        let mut b: Vec<_> = left.paths.iter()
            .map(|p| (p.from.road, p.from.lane, p.to.road, p.to.lane)).collect();
        a.sort_unstable();
        b.sort_unstable();
        prop_assert_eq!(a, b);
        // The shapes are mirrored too: the trims are the same, and the areas agree to the square
        // centimetre.
        for arm in &right.arms {
            let other = left.arms.iter().find(|other| other.road == arm.road).unwrap();
            prop_assert!((arm.trim - other.trim).abs() < 1e-5);
        }
        prop_assert_eq!(right.ring.is_some(), left.ring.is_some());
        if let (Some(ring), Some(image)) = (right.ring, left.ring) {
            let there = DVec2::new(ring.centre.x, -ring.centre.y);
            prop_assert!((there - image.centre).length() < 1e-3);
            prop_assert!((ring.radius - image.radius).abs() < 1e-3);
        }
        let area = |points: &[DVec2]| polygon::signed_area(points);
        let pavements = |junction: &Junction| -> f64 {
            junction.borders().iter().map(|border| area(&border.pavement_polygon(0.01))).sum()
        };
        prop_assert!((area(&right.polygon()) - area(&left.polygon())).abs() < 1e-2);
        prop_assert!((pavements(&right) - pavements(&left)).abs() < 1e-2);
    }
}

#[test]
fn plain_junctions_hold_the_lanes_of_all_their_paths() {
    // Crossroads, T-junctions and bends at angles of at least 60 degrees, with one and two lanes in each
    // direction.
    for (bearings, lanes) in [
        (vec![0.0, 90.0, 180.0, 270.0], 1),
        (vec![0.0, 90.0, 180.0, 270.0], 2),
        (vec![0.0, 70.0, 180.0, 250.0], 1),
        (vec![0.0, 90.0, 180.0], 1),
        (vec![0.0, 60.0, 180.0], 2),
        (vec![0.0, 120.0, 240.0], 1),
        (vec![0.0, 100.0], 1),
        (vec![0.0, 150.0], 2),
    ] {
        let section = CrossSection::driving(lanes, lanes, 3.25);
        let roads: Vec<_> = bearings
            .iter()
            .map(|&b| arm(b, 100.0, section.clone(), RIGHT))
            .collect();
        let junction = junction_of(&roads, RIGHT);
        let place = junction.polygon();
        for path in junction.paths.iter().filter_map(|path| path.curve.as_ref()) {
            for t in [-1.0, 0.0, 1.0] {
                for point in path.sample(0.05, t) {
                    let out = polygon::distance(&place, point);
                    assert!(
                        out < 0.2,
                        "{bearings:?} with {lanes} lanes: {out} m outside"
                    );
                }
            }
        }
    }
}
