//! Tests of stop lines that leave room for buses.

use super::*;

/// Extent of a body: its ends along its axis, measured from its rear axle or its front, and half its width,
/// m.
#[derive(Clone, Copy)]
struct Extent {
    rear: f64,
    front: f64,
    half: f64,
}

/// Returns the corners of a body whose reference point (rear axle or front) is at the pose `at`.
fn corners(at: Pose, body: Extent) -> [DVec2; 4] {
    let Extent { rear, front, half } = body;
    [(rear, -half), (front, -half), (front, half), (rear, half)].map(|(x, y)| at.point(x, y))
}

/// Whether two convex areas overlap, which is the case if no edge of either area separates them.
fn overlap(a: &[DVec2; 4], b: &[DVec2; 4]) -> bool {
    let parts = |one: &[DVec2; 4], other: &[DVec2; 4]| {
        (0..4).any(|i| {
            let edge = one[(i + 1) % 4] - one[i];
            // Corners are counter-clockwise, so outside is on the right of each edge.
            other.iter().all(|p| edge.perp_dot(*p - one[i]) < 0.0)
        })
    };
    !parts(a, b) && !parts(b, a)
}

/// Extent of a bus from its rear axle, m.
const BUS: Extent = Extent {
    rear: -1.0,
    front: 8.0,
    half: 1.275,
};
/// Extent of a car from its rear axle, m.
const CAR: Extent = Extent {
    rear: -0.9,
    front: 3.7,
    half: 0.9,
};

/// Counts the poses on all paths where a body touches a waiting car. The cars are 4.6 m long and
/// wait with their fronts `back` metres before the cut of an entering lane.
fn touched(junction: &Junction, body: Extent, back: impl Fn(LaneEnd) -> f64) -> usize {
    let mut count = 0;
    for lane in &junction.paths {
        let start = lane.curve.as_ref().unwrap().start();
        let car = corners(
            start,
            Extent {
                rear: -back(lane.from) - 4.6,
                front: -back(lane.from),
                half: 0.95,
            },
        );
        for path in &junction.paths {
            if path.from == lane.from {
                continue;
            }
            let curve = path.curve.as_ref().unwrap();
            let steps = (curve.length() / 0.2).ceil() as usize;
            count += (0..=steps)
                .map(|i| curve.pose(curve.length() * i as f64 / steps as f64))
                .filter(|at| overlap(&car, &corners(*at, body)))
                .count();
        }
    }
    count
}

/// Returns the setback of the stop line of a lane, m.
fn of_lane(setbacks: &[(LaneEnd, f64)], lane: LaneEnd) -> f64 {
    let found = setbacks.iter().find(|(own, _)| *own == lane);
    found.map_or(0.0, |(_, by)| *by)
}

#[test]
fn buses_turn_clear_of_those_who_wait_at_their_lines() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for bearings in [&CROSS[..], &[0.0, 90.0, 180.0], &[90.0, 210.0, 330.0]] {
            let junction = ruled(bearings, side, |_, _| {});
            let setbacks = junction.setbacks();
            let back = |lane| of_lane(&setbacks, lane);
            // With stop lines at the cuts, buses would touch waiting vehicles.
            assert!(touched(&junction, BUS, |_| 0.0) > 0, "{bearings:?}");
            assert_eq!(touched(&junction, BUS, back), 0, "{bearings:?}");
            assert!(
                setbacks.iter().all(|(_, by)| (0.4..=7.0).contains(by)),
                "{setbacks:?}"
            );
        }
    }
}

/// A car that is 0.5 m wider on each side, because drivers straighten up late after sharp turns at
/// rings.
const DRIFTING: Extent = Extent { half: 1.4, ..CAR };

#[test]
fn cars_turn_clear_of_those_who_wait_where_corners_are_tight() {
    let with = |radius: f64, side, control| {
        ruled(&CROSS, side, |roads, rules| {
            rules.control = control;
            for (road, bearing) in roads.iter_mut().zip(CROSS) {
                *road = arm(bearing, 100.0, CrossSection::driving(1, 1, 3.25), side);
            }
            for (road, next) in [(1, 2), (2, 3), (3, 4), (4, 1)] {
                rules.set_corner(RoadId(road), RoadId(next), Some(radius));
            }
        })
    };
    for side in [DrivingSide::Right, DrivingSide::Left] {
        let at_ring = with(0.6, side, Some(Control::Roundabout));
        let setbacks = at_ring.setbacks_of_cars();
        let back = |lane| of_lane(&setbacks, lane);
        assert_eq!(touched(&at_ring, DRIFTING, back), 0);
        let tight = with(0.6, side, None);
        let setbacks = tight.setbacks_of_cars();
        let back = |lane| of_lane(&setbacks, lane);
        assert!(touched(&tight, CAR, |_| 0.0) > 0);
        assert_eq!(touched(&tight, CAR, back), 0);
        let most =
            |setbacks: &[(LaneEnd, f64)]| setbacks.iter().map(|(_, by)| *by).fold(0.0, f64::max);
        assert!(most(&at_ring.setbacks_of_cars()) > most(&setbacks) + 0.1);
        // Wider lanes leave enough room without a setback.
        let wide = with(6.0, side, None);
        assert_eq!(touched(&wide, CAR, |_| 0.0), 0);
        assert_eq!(wide.setbacks_of_cars(), []);
    }
}

#[test]
fn cars_turn_clear_of_those_who_wait_where_streets_meet_at_an_angle() {
    // A car that is 0.1 m wider on each side, because drivers do not follow their path exactly.
    const BROAD: Extent = Extent {
        rear: -0.9,
        front: 3.7,
        half: 1.1,
    };
    let mut without = 0;
    for side in [DrivingSide::Right, DrivingSide::Left] {
        for bearings in [[0.0, 60.0, 180.0], [0.0, 120.0, 180.0], [0.0, 75.0, 210.0]] {
            let junction = ruled(&bearings, side, |roads, _| {
                for (road, bearing) in roads.iter_mut().zip(bearings) {
                    *road = arm(bearing, 100.0, CrossSection::driving(1, 1, 2.75), side);
                }
            });
            let setbacks = junction.setbacks_of_cars();
            let back = |lane| of_lane(&setbacks, lane);
            without += touched(&junction, BROAD, |_| 0.0);
            assert_eq!(touched(&junction, BROAD, back), 0, "{bearings:?}");
        }
    }
    assert!(without > 0);
}

#[test]
fn lines_are_set_back_as_far_as_buses_need_only_where_long_vehicles_drive() {
    let mut scenario = crate::Scenario::new("lines");
    assert!(!scenario.has_long_vehicles());
    // No agent drives this vehicle type.
    assert!(
        scenario
            .vehicle_types()
            .values()
            .any(|kind| kind.front() > 6.0)
    );
    let line = ReferenceLine::straight(DVec2::ZERO, DVec2::new(100.0, 0.0)).unwrap();
    let road = scenario.network().next_road_id();
    crate::testing::draw_street(&mut scenario, &line, 3.5, 10.0);
    let flow = |vehicle: &str| crate::Flow {
        vehicle: vehicle.into(),
        stack: "idm".into(),
        dynamics: None,
        origin: crate::Place::lane(road, -1, 5.0),
        destination: crate::Place::lane(road, -1, 90.0),
        rate_per_hour: 100.0.into(),
        begin: 0.0.into(),
        end: 100.0.into(),
    };
    for (vehicle, is_long) in [("car", false), ("enviro_400", true)] {
        let id = scenario.next_flow_id();
        let edit = crate::Edit::Flow(id, Some(Box::new(flow(vehicle))));
        scenario.apply(edit).unwrap();
        assert_eq!(scenario.has_long_vehicles(), is_long, "{vehicle}");
    }
}
