//! Tests of pedestrian crossings.

use super::*;

/// Creates a junction with crossings over all of its arms.
fn crossed(bearings: &[f64], side: DrivingSide, control: Option<Control>) -> Junction {
    ruled(bearings, side, |roads, rules| {
        rules.control = control;
        rules.crossings = (1..=roads.len() as u32)
            .map(|road| CrossingRule::over(RoadId(road)))
            .collect();
    })
}

#[test]
fn a_crossing_lies_between_the_corners_and_the_stop_line() {
    let plain = ruled(&CROSS, RIGHT, |_, _| ());
    for side in [RIGHT, DrivingSide::Left] {
        let junction = crossed(&CROSS, side, None);
        assert_eq!(junction.crossings.len(), 4);
        for (crossing, arm) in junction.crossings.iter().zip(&junction.arms) {
            assert_eq!((crossing.road, crossing.end), (arm.road, arm.end));
            // The trim grows by the strip, its distance from the corner, and its distance from the
            // stop line: 3.6 + 0.4 + 1 m.
            assert!((arm.trim - plain.arms[0].trim - 5.0).abs() < 1e-5);
            assert!((crossing.length - 7.0).abs() < 1e-9 && crossing.islands.is_empty());
            // The middle of the strip is 2.8 m before the stop line, which runs from cut to cut.
            let cut = 0.5 * (arm.left_cut + arm.right_cut);
            let middle = crossing.place(0.5 * crossing.length);
            assert!(((cut - middle).length() - 2.8).abs() < 1e-6);
            // Three connections lead away from the arm and three into it.
            assert_eq!(crossing.covered.len(), 6, "{:?}", crossing.covered);
            for covered in &crossing.covered {
                let path = &junction.paths[covered.path.index()];
                let Taken { across, along } = covered.car;
                let length = path.curve.as_ref().unwrap().length();
                if path.from.road == crossing.road {
                    // The front reaches the strip one metre beyond the stop line.
                    assert!((along.from - 1.0).abs() < 0.51, "{along:?}");
                    assert!((along.to - 4.6).abs() < 1.1, "{along:?}");
                } else {
                    assert!((along.to - (length - 1.0)).abs() < 1.1, "{along:?}");
                    assert!(along.from < length - 4.1, "{along:?}");
                }
                // Each vehicle occupies roughly its own lane on its own side of the road.
                assert!(across.to - across.from < 4.2, "{across:?}");
                let comes = path.from.road == crossing.road;
                let is_right_half = comes != (side == RIGHT);
                let middle = 0.5 * (across.from + across.to);
                assert_eq!(middle < 3.5, is_right_half, "{across:?} {comes} {side:?}");
            }
        }
    }
}

#[test]
fn a_crossing_over_a_road_that_goes_on_lies_around_its_node() {
    let junction = ruled(&[0.0, 180.0], RIGHT, |_, rules| {
        rules.crossings = vec![CrossingRule::over(RoadId(1)), CrossingRule::over(RoadId(2))];
    });
    let [crossing] = &junction.crossings[..] else {
        panic!("{:?}", junction.crossings);
    };
    assert!(crossing.place(3.5).length() < 1e-9);
    assert!(
        junction
            .arms
            .iter()
            .all(|arm| (arm.trim - 2.8).abs() < 1e-9)
    );
    assert_eq!(crossing.covered.len(), 2);
    // If no pedestrians cross, no vehicle stops.
    let plain = ruled(&[0.0, 180.0], RIGHT, |_, _| ());
    assert!(plain.crossings.is_empty() && plain.arms.iter().all(|arm| arm.trim == 0.0));
}

#[test]
fn crossings_of_fast_roads_are_wider_unless_a_person_decides() {
    let width = |limit_kmh: f64, decided: Option<f64>| {
        let junction = ruled(&CROSS, RIGHT, |roads, rules| {
            roads[0].speed_limit = ((limit_kmh / 3.6 * 100.0_f64).round() / 100.0).into();
            let over = CrossingRule::over(RoadId(1));
            rules.crossings = vec![CrossingRule {
                width: decided.into(),
                ..over
            }];
        });
        junction.crossings[0].width
    };
    assert_eq!((width(50.0, None), width(60.0, None)), (3.6, 3.6));
    assert_eq!((width(70.0, None), width(70.0, Some(2.5))), (4.0, 2.5));
}

#[test]
fn people_wait_on_wide_medians_only() {
    for (median, islands) in [(2.0, 1), (1.0, 0)] {
        let half = || vec![(LaneType::Median, 0.5 * median), (LaneType::Driving, 3.5)];
        let section = CrossSection {
            forward: half(),
            backward: half(),
        };
        let roads: Vec<Road> = (0..4)
            .map(|i| arm(90.0 * f64::from(i), 100.0, section.clone(), RIGHT))
            .collect();
        let rules = JunctionRules {
            crossings: vec![CrossingRule::over(RoadId(1))],
            ..JunctionRules::default()
        };
        let junction = built(&roads, RIGHT, rules);
        let crossing = &junction.crossings[0];
        assert_eq!(crossing.islands.len(), islands, "{median} m");
        assert_eq!(crossing.stretches().count(), islands + 1);
        let longest = if islands == 1 { 3.5 } else { 8.0 };
        assert!((crossing.longest_stretch() - longest).abs() < 1e-9);
    }
}

#[test]
fn a_crossing_without_room_is_left_out_and_told() {
    let road = |length| arm(0.0, length, CrossSection::driving(1, 1, 3.5), RIGHT);
    let roads = [road(15.0), two_way(90.0), two_way(200.0)];
    let rules = JunctionRules {
        crossings: vec![CrossingRule::over(RoadId(1)), CrossingRule::over(RoadId(2))],
        ..JunctionRules::default()
    };
    let junction = built(&roads, RIGHT, rules);
    assert!(
        junction
            .flags()
            .contains(&Flag::NoRoomForCrossing(RoadId(1)))
    );
    let roads: Vec<_> = junction.crossings.iter().map(|c| c.road).collect();
    assert_eq!(roads, [RoadId(2)]);
}

#[test]
fn people_walk_while_what_they_cross_is_red() {
    let junction = crossed(&CROSS, RIGHT, Some(Control::Signals));
    let conflicts = Conflicts::of(&junction);
    let mut signals = Signals::of(&junction, &conflicts).unwrap();
    assert_eq!(signals.greens.len(), 2);
    let mut all = 0;
    for crossing in &junction.crossings {
        let stages = junction.walk_stages(crossing, &signals.greens);
        assert_eq!(stages.count_ones(), 1, "{stages:b}");
        let green = &signals.greens[stages.trailing_zeros() as usize];
        let from_there = |path: &&ConnectingPath| path.from.road == crossing.road;
        for (path, green) in junction.paths.iter().zip(green) {
            assert!(!(*green && from_there(&path)));
        }
        all |= stages;
    }
    assert_eq!(all, 0b11);
    // Four seconds to step onto the crossing, plus 7 m at 1.2 m/s.
    let greens = signals.greens.clone();
    crate::junction::signals::lengthen(&mut signals.programme, &greens, &junction);
    let needed = 4.0 + 7.0 / 1.2;
    assert!(
        signals
            .programme
            .stages
            .iter()
            .all(|stage| stage.min >= needed - 1e-9)
    );
    // If an arm has green in all stages, pedestrians cannot walk in any stage.
    let always = vec![vec![true; junction.paths.len()]; 2];
    assert_eq!(junction.walk_stages(&junction.crossings[0], &always), 0);
}
