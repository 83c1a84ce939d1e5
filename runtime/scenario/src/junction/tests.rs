use super::*;
use crate::road::{CrossSection, Road, RoadClass};
use proptest::prelude::*;
use roadwright_geometry::math::{cos, sin, tan, wrap_angle};
use roadwright_geometry::{polygon, unit};

const RIGHT: DrivingSide = DrivingSide::Right;

/// A straight road outward from the origin.
fn arm(bearing_deg: f64, length: f64, section: CrossSection, side: DrivingSide) -> Road {
    let far = unit(bearing_deg.to_radians()) * length;
    let (lane_offset, lanes) = section.lanes(side);
    Road {
        from: NodeId(0),
        to: NodeId(1),
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 10.0,
        reference_line: ReferenceLine::straight(DVec2::ZERO, far).unwrap(),
        lane_offset,
        lane_sections: vec![lanes],
    }
}

fn two_way(bearing_deg: f64) -> Road {
    arm(bearing_deg, 100.0, CrossSection::driving(1, 1, 3.5), RIGHT)
}

fn junction_of(roads: &[Road], side: DrivingSide) -> Junction {
    let arms = roads
        .iter()
        .zip(1..)
        .map(|(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start))
        .collect();
    let site = Site {
        nodes: vec![NodeId(0)],
        centre: DVec2::ZERO,
        side,
        signals: false,
        allows: &|_, _| true,
        limits: &|_, _| None,
    };
    build(&site, arms)
}

#[test]
fn trims_are_those_of_the_corner_formula() {
    // t = (b + a cos) / sin and fillet r cot(phi / 2): for a = b = 3.5 and r = 5 g(phi).
    for (angle, radius_share) in [(90.0f64, 1.0), (60.0, 0.6), (45.0, 0.6)] {
        let roads = [two_way(0.0), two_way(angle), two_way(200.0)];
        let junction = junction_of(&roads, RIGHT);
        let phi = angle.to_radians();
        let meeting = 3.5 * (1.0 + cos(phi)) / sin(phi);
        let expected = meeting + 5.0 * radius_share / tan(0.5 * phi);
        let arm = junction
            .arms
            .iter()
            .find(|arm| arm.road == RoadId(1))
            .unwrap();
        assert!((arm.trim - expected).abs() < 1e-5, "{angle}: {arm:?}");
    }
}

#[test]
fn a_gore_is_capped() {
    // D1: below 35 degrees the corner formula would explode.
    let junction = junction_of(&[two_way(0.0), two_way(10.0), two_way(180.0)], RIGHT);
    assert!(
        junction.arms.iter().all(|arm| arm.trim <= 25.0),
        "{junction:?}"
    );
}

#[test]
fn arms_in_line_taper() {
    // D2: the corner formula divides by sin(180 degrees).
    let wide = arm(178.0, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[two_way(0.0), wide], RIGHT);
    assert!(
        junction
            .arms
            .iter()
            .all(|arm| arm.trim > 1.0 && arm.trim < 40.0)
    );
    assert!(!junction.paths.is_empty());
}

#[test]
fn two_equal_arms_in_line_are_no_junction() {
    // Two roads of one cross-section that go on in each other need no area of their own.
    let junction = junction_of(&[two_way(0.0), two_way(180.0)], RIGHT);
    assert!(junction.arms.iter().all(|arm| arm.trim == 0.0) && junction.outline.is_empty());
    assert_eq!(junction.paths.len(), 2);
    assert!(junction.paths.iter().all(|path| path.curve.is_none()));
}

#[test]
fn a_dead_end_has_no_way_back_on_a_narrow_road() {
    // A U-turn needs the radius of a car.
    let narrow = junction_of(&[two_way(0.0)], RIGHT);
    assert!(narrow.paths.is_empty() && narrow.outline.is_empty());
    let wide = junction_of(
        &[arm(0.0, 100.0, CrossSection::driving(1, 1, 10.0), RIGHT)],
        RIGHT,
    );
    assert_eq!(wide.paths[0].turn, Turn::UTurn);
    let place = wide.polygon();
    for point in wide.paths[0].curve.as_ref().unwrap().sample(0.1, 0.0) {
        assert!(
            polygon::distance(&place, point) < 1e-6,
            "vehicles turn on the road, not beyond it"
        );
    }
}

#[test]
fn a_crossroads_of_single_lanes_has_twelve_links() {
    let roads = [0.0, 90.0, 180.0, 270.0].map(two_way);
    let junction = junction_of(&roads, RIGHT);
    assert_eq!(junction.paths.len(), 12);
    let count = |turn| junction.paths.iter().filter(|p| p.turn == turn).count();
    assert_eq!(
        (count(Turn::Left), count(Turn::Straight), count(Turn::Right)),
        (4, 4, 4)
    );
    assert!(junction.flags.is_empty());
}

#[test]
fn two_lanes_turn_from_their_own_side() {
    let two = |bearing| arm(bearing, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[0.0, 90.0, 180.0, 270.0].map(two), RIGHT);
    let normal = |turn| {
        junction
            .paths
            .iter()
            .filter(move |p| p.turn == turn && p.kind == LinkKind::Normal)
    };
    // Lane -1 / +1 is next to the middle, -2 / +2 next to the kerb.
    assert!(normal(Turn::Left).all(|p| p.from.lane.abs() == 1 && p.to.lane.abs() == 1));
    assert!(normal(Turn::Right).all(|p| p.from.lane.abs() == 2 && p.to.lane.abs() == 2));
    assert!(normal(Turn::Straight).all(|p| p.from.lane.abs() == p.to.lane.abs()));
    assert_eq!(normal(Turn::Straight).count(), 8);
}

#[test]
fn a_narrowing_road_merges_its_lanes() {
    let wide = arm(180.0, 100.0, CrossSection::driving(2, 2, 3.5), RIGHT);
    let junction = junction_of(&[two_way(0.0), wide], RIGHT);
    // Two lanes into one, one lane into two.
    assert_eq!(junction.paths.len(), 4);
    assert!(junction.flags.is_empty(), "{:?}", junction.flags);
}

#[test]
fn forbidden_turns_have_no_path() {
    let roads = [0.0, 90.0, 180.0].map(two_way);
    let arms = roads
        .iter()
        .zip(1..)
        .map(|(road, id)| Arm::new(RoadId(id), road, RoadEnd::Start))
        .collect();
    let site = Site {
        nodes: vec![NodeId(0)],
        centre: DVec2::ZERO,
        side: RIGHT,
        signals: false,
        allows: &|from, to| !(from.0 == RoadId(1) && to.0 == RoadId(2)),
        limits: &|_, _| None,
    };
    let junction = build(&site, arms);
    let has = |from, to| {
        junction
            .paths
            .iter()
            .any(|p| p.from.road == RoadId(from) && p.to.road == RoadId(to))
    };
    assert!(!has(1, 2) && has(1, 3) && has(2, 1));
}

/// Roads with bearings at least `gap` degrees apart.
fn random_roads(gaps: &[f64], lanes: &[(usize, usize, f64)], side: DrivingSide) -> Vec<Road> {
    let total: f64 = gaps.iter().sum();
    let mut bearing = 13.0;
    gaps.iter()
        .zip(lanes)
        .map(|(gap, &(forward, backward, width))| {
            bearing += 360.0 * gap / total;
            let section = CrossSection::driving(forward, backward, width);
            arm(bearing, 150.0, section, side)
        })
        .collect()
}

fn road_strategy() -> impl Strategy<Value = (Vec<f64>, Vec<(usize, usize, f64)>)> {
    (2usize..9).prop_flat_map(|count| {
        (
            proptest::collection::vec(0.15..1.0f64, count),
            proptest::collection::vec((1usize..4, 0usize..4, 2.75..4.0f64), count),
        )
    })
}

/// The mirror image of a road (y to -y), lanes and all.
fn mirrored(road: &Road) -> Road {
    let end = road.reference_line.end().position;
    let line = ReferenceLine::straight(DVec2::ZERO, DVec2::new(end.x, -end.y)).unwrap();
    let mut mirrored = Road {
        reference_line: line,
        ..road.clone()
    };
    for offset in &mut mirrored.lane_offset {
        offset.a = -offset.a;
    }
    for section in &mut mirrored.lane_sections {
        for lane in &mut section.lanes {
            lane.id = -lane.id;
        }
        section.lanes.reverse();
    }
    mirrored
}

proptest! {
    #[test]
    fn junctions_hold_their_invariants((gaps, lanes) in road_strategy()) {
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let junction = junction_of(&roads, RIGHT);
        prop_assert_eq!(&junction, &junction_of(&roads, RIGHT));
        for arm in &junction.arms {
            prop_assert!(arm.trim >= 0.0 && arm.trim <= 150.0);
        }
        if !junction.outline.is_empty() {
            let points = junction.polygon();
            prop_assert!(polygon::is_simple(&points) && polygon::signed_area(&points) > 0.0);
            for arm in &junction.arms {
                prop_assert!(polygon::boundary_distance(&points, arm.left_cut) < 1e-6
                    || junction.flags.contains(&Flag::Degraded));
            }
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
        // Every lane that enters has a way on, if there is a lane to go to.
        let leaving = |except: u32| roads.iter().zip(1..)
            .any(|(r, id)| id != except && r.lanes_driven(0.0, true, RIGHT) > 0);
        for flag in &junction.flags {
            if let Flag::NoExit(lane) = flag {
                prop_assert!(!leaving(lane.road.0), "{:?}", flag);
            }
        }
    }

    #[test]
    fn arms_may_come_in_any_order((gaps, lanes) in road_strategy(), turn in 0usize..8) {
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let ends = |order: &[usize]| {
            let arms = order.iter()
                .map(|&i| Arm::new(RoadId(i as u32 + 1), &roads[i], RoadEnd::Start)).collect();
            build(&Site { nodes: vec![NodeId(0)], centre: DVec2::ZERO, side: RIGHT, signals: false,
                allows: &|_, _| true, limits: &|_, _| None }, arms)
        };
        let order: Vec<_> = (0..roads.len()).collect();
        let mut rotated = order.clone();
        rotated.rotate_left(turn % roads.len());
        prop_assert_eq!(ends(&order), ends(&rotated));
    }

    #[test]
    fn left_hand_junctions_mirror_right_hand_ones((gaps, lanes) in road_strategy()) {
        let roads = random_roads(&gaps, &lanes, RIGHT);
        let right = junction_of(&roads, RIGHT);
        let mirrored: Vec<_> = roads.iter().map(mirrored).collect();
        let left = junction_of(&mirrored, DrivingSide::Left);
        let mut a: Vec<_> = right.paths.iter()
            .map(|p| (p.from.road, -p.from.lane, p.to.road, -p.to.lane)).collect();
        let mut b: Vec<_> = left.paths.iter()
            .map(|p| (p.from.road, p.from.lane, p.to.road, p.to.lane)).collect();
        a.sort_unstable();
        b.sort_unstable();
        prop_assert_eq!(a, b);
    }
}

#[test]
fn plain_junctions_hold_the_lanes_of_all_their_paths() {
    // Crossroads, T-junctions and bends at angles from 60 degrees on, one and two lanes each way.
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

#[test]
fn connections_conflict_where_they_cross() {
    let roads = [0.0, 90.0, 180.0, 270.0].map(two_way);
    let junction = junction_of(&roads, RIGHT);
    let conflicts = Conflicts::of(&junction);
    let paths = &junction.paths;
    let straight = |from: RoadId| {
        let found = paths
            .iter()
            .position(|p| p.turn == Turn::Straight && p.from.road == from);
        found.unwrap() as u32
    };
    let length = |path: u32| paths[path as usize].curve.as_ref().unwrap().length();
    let [east, north, west, _] = [0, 1, 2, 3].map(|arm| straight(junction.arms[arm].road));
    // Opposite ways pass each other; crossing ones meet in the middle of both.
    assert!(!conflicts.are_in_conflict(east, west));
    let (on_east, on_north) = conflicts.between(east, north).unwrap();
    for (interval, path) in [(on_east, east), (on_north, north)] {
        assert!(0.0 < interval.from && interval.from < interval.to && interval.to < length(path));
        assert!(interval.to - interval.from > 3.0, "{interval:?}");
    }
    assert_eq!(conflicts.between(north, east), Some((on_north, on_east)));
    for (i, a) in paths.iter().enumerate() {
        for (j, b) in paths.iter().enumerate() {
            let conflict = conflicts.are_in_conflict(i as u32, j as u32);
            assert_eq!(conflict, conflicts.are_in_conflict(j as u32, i as u32));
            // From one lane they follow each other, into one lane they take turns.
            assert!(!(conflict && a.from == b.from));
            assert!(conflict || a.from == b.from || a.to != b.to || i == j);
        }
        assert!(
            conflicts.is_contested(i as u32),
            "every path of a crossroads meets another"
        );
    }
}
