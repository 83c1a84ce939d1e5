//! Tests of conflicts between connections.

use super::*;

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
        ConnectionIndex::from_index(found.unwrap())
    };
    let length = |path: ConnectionIndex| paths[path.index()].curve.as_ref().unwrap().length();
    let [east, north, west, _] = [0, 1, 2, 3].map(|arm| straight(junction.arms[arm].road));
    // Oncoming connections pass each other. Crossing connections meet in the middle of both.
    assert!(!conflicts.are_in_conflict(east, west));
    let (on_east, on_north) = conflicts.between(east, north).unwrap();
    for (interval, path) in [(on_east, east), (on_north, north)] {
        assert!(0.0 < interval.from && interval.from < interval.to && interval.to < length(path));
        assert!(interval.to - interval.from > 3.0, "{interval:?}");
    }
    assert_eq!(conflicts.between(north, east), Some((on_north, on_east)));
    for (i, a) in paths.iter().enumerate() {
        for (j, b) in paths.iter().enumerate() {
            let [one, other] = [i, j].map(ConnectionIndex::from_index);
            let conflict = conflicts.are_in_conflict(one, other);
            assert_eq!(conflict, conflicts.are_in_conflict(other, one));
            // Vehicles from the same lane follow each other, and vehicles into the same lane take turns.
            assert!(!(conflict && a.from == b.from));
            assert!(conflict || a.from == b.from || a.to != b.to || i == j);
        }
        assert!(
            conflicts.is_contested(ConnectionIndex::from_index(i)),
            "every path of a crossroads meets another"
        );
    }
}

#[test]
fn who_turns_tightly_meets_who_comes_out_of_the_lane_beside() {
    for side in [DrivingSide::Right, DrivingSide::Left] {
        // One vehicle turns from the south around the near corner, while another comes straight out
        // of the street into which it turns.
        let (near, far) = match side {
            DrivingSide::Right => (1, 3),
            DrivingSide::Left => (3, 1),
        };
        let met = |radius: f64| {
            let junction = ruled(&CROSS, side, |roads, rules| {
                for (road, bearing) in roads.iter_mut().zip(CROSS) {
                    *road = arm(bearing, 100.0, CrossSection::driving(1, 1, 2.5), side);
                }
                for (road, next) in [(1, 2), (2, 3), (3, 4), (4, 1)] {
                    rules.set_corner(RoadId(road), RoadId(next), Some(radius));
                }
            });
            let (turning, coming) = (path(&junction, 4, near), path(&junction, near, far));
            let length = |path: ConnectionIndex| {
                let curve = junction.paths[path.index()].curve.as_ref();
                curve.unwrap().length()
            };
            let met = Conflicts::of(&junction).between(turning, coming);
            met.map(|(own, theirs)| (own.from / length(turning), theirs.to / length(coming)))
        };
        // At the end of the bend, the front swings out over a vehicle that has just entered.
        let (from, to) = met(3.0).unwrap();
        assert!(from > 0.6 && to < 0.4, "{from} {to}");
        assert_eq!(met(10.0), None);
    }
}

#[test]
fn who_comes_out_of_the_lane_beside_waits_at_the_line_where_no_car_can_follow_the_turn() {
    // Vehicles turn sharply from the fourth street into the first one, while others come out of the
    // first one.
    let met = |bearing: f64, width: f64, radius: f64| {
        let bearings = [0.0, 90.0, 180.0, bearing];
        let junction = ruled(&bearings, RIGHT, |roads, rules| {
            for (road, bearing) in roads.iter_mut().zip(bearings) {
                *road = arm(bearing, 100.0, CrossSection::driving(1, 1, width), RIGHT);
            }
            rules.set_corner(RoadId(4), RoadId(1), Some(radius));
        });
        let (turning, coming) = (path(&junction, 4, 1), path(&junction, 1, 3));
        let tightest = junction.paths[turning.index()].min_radius();
        let met = Conflicts::of(&junction).between(turning, coming).unwrap();
        (tightest, met.1.from)
    };
    // On their connection, cars would first touch 2 m beyond the line.
    let (tightest, from) = met(290.0, 3.5, 1.0);
    assert!(tightest < 2.5, "{tightest}");
    assert_eq!(from, 0.0);
    // Cars leave this connection by a tenth of a metre.
    let (tightest, from) = met(295.0, 3.0, 3.0);
    assert!((3.6..3.85).contains(&tightest), "{tightest}");
    assert!(from > 0.0, "{from}");
}
