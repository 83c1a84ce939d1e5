//! Tests of room beyond junctions.

use super::*;
use crate::records::{AgentIndex, Refusal};
use roadwright_scenario::{Connection, LaneletIndex};

#[test]
fn who_has_the_right_of_way_and_no_room_is_not_waited_for() {
    let rules = JunctionRules {
        control: Some(Control::Priority),
        major: vec![RoadId(1), RoadId(3)],
        ..JunctionRules::default()
    };
    let mut crossing = Stand::crossing_of(&rules);
    // The exit of the major road is full, so a vehicle waits before the junction.
    let exit = crossing.straight(DVec2::X)[2];
    let length = crossing.ground.length(exit);
    let space = crossing.types.get(0).length + EXIT_GAP;
    for number in 0..(length / space) as u64 {
        let standing = crossing.comes(100 + number, DVec2::X, 1.0, 0.0);
        crossing.drive_out(standing, length - space * (number as f64 + 0.5));
    }
    let minor = crossing.comes(1, DVec2::Y, 4.0, 0.0);
    crossing.step(1);
    crossing.agents.claim[minor.index()].granted_to = 0;
    crossing.claims.forget(minor);
    let major = crossing.comes(2, DVec2::X, 4.0, 0.0);
    crossing.step(2);
    crossing.step(3);
    assert_eq!(crossing.refused(major), Refusal::NoRoom);
    assert!(crossing.is_let_in(minor), "{:?}", crossing.refused(minor));
}

#[test]
fn a_full_exit_keeps_everybody_out() {
    let mut crossing = Stand::crossing();
    crossing.fill_exit(DVec2::X);
    let agent = crossing.comes(1, DVec2::X, 5.0, 4.0);
    crossing.step(1);
    assert!(!crossing.is_let_in(agent));
    // As soon as the foremost vehicle has gone, there is room.
    let first = crossing.agents.census().find(100).unwrap();
    crossing.agents.remove(first);
    crossing.step(2);
    assert!(crossing.is_let_in(agent));
}

/// Creates a straight street that is divided at a crossing, and again `apart` metres after it. Also returns
/// its lanelets.
fn cut_beyond_crossing(apart: f64) -> (Stand, Vec<LaneletIndex>) {
    let stand = Stand::on(&[
        ((-100.0, 0.0), (0.0, 0.0), 1, 1),
        ((0.0, 0.0), (apart, 0.0), 1, 1),
        ((apart, 0.0), (apart + 100.0, 0.0), 1, 1),
        ((0.0, -100.0), (0.0, 100.0), 1, 1),
    ]);
    let lanelets = straight_on(&stand, 1);
    (stand, lanelets)
}

#[test]
fn where_a_street_is_cut_beyond_a_junction_its_next_piece_is_room_as_well() {
    for (apart, room_for) in [(15.0, 3), (15.0, 2), (15.0, 1), (15.0, 0), (40.0, 3)] {
        let (mut stand, lanelets) = cut_beyond_crossing(apart);
        let (first, last) = (lanelets[2], lanelets[lanelets.len() - 1]);
        let space = stand.types.get(0).whole_length + EXIT_GAP;
        let is_short = stand.ground.length(first) < 2.0 * space;
        assert_eq!(is_short, apart < 20.0);
        let lengths = lanelets[2..].iter().map(|&lane| stand.ground.length(lane));
        let places = (lengths.sum::<f64>() / space) as u32;
        let (end, standing) = (stand.ground.length(last), places - room_for);
        // The last vehicles do not fit on the next piece and stand on the first one.
        for number in (0..standing).filter(|_| is_short) {
            let s = end - space * (f64::from(number) + 0.9);
            let (lane, s) = match s > 0.0 {
                true => (last, s),
                false => (first, stand.ground.length(first) + s),
            };
            stand.car(10 + u64::from(number), &[lane], s, 0.0);
        }
        let line = stand.ground.length(lanelets[0]);
        let cars = [0u8, 1, 2].map(|number| {
            let s = line - 5.0 - 8.0 * f64::from(number);
            stand.car(1 + u64::from(number), &lanelets, s, 5.0)
        });
        stand.step(1);
        let is_inside = |&car: &AgentIndex| stand.agents.claim[car.index()].granted_to > 0;
        let let_in = cars.into_iter().filter(is_inside).count();
        assert_eq!(let_in, room_for as usize, "{apart} m, {standing} stand");
    }
}

#[test]
fn nobody_appears_where_those_come_on_who_were_let_in_before_a_short_piece() {
    let (mut stand, lanelets) = cut_beyond_crossing(15.0);
    let last = lanelets[lanelets.len() - 1];
    let length = stand.ground.length(last);
    let space = stand.types.get(0).whole_length + EXIT_GAP;
    let standing = (length / space) as u32;
    let appears = |stand: &Stand| {
        let lanes = Lanes {
            ground: &stand.ground,
            types: &stand.types,
            index: &stand.index,
            agents: stand.agents.lent(),
        };
        stand
            .claims
            .grants
            .may_appear(lanes, last, std::iter::empty(), space)
    };
    for number in 0..standing - 1 {
        let s = length - space * (f64::from(number) + 0.9);
        stand.car(10 + u64::from(number), &[last], s, 0.0);
    }
    stand.look();
    assert!(appears(&stand));
    let line = stand.ground.length(lanelets[0]);
    for number in 0..2u8 {
        let s = line - 5.0 - 8.0 * f64::from(number);
        stand.car(1 + u64::from(number), &lanelets, s, 5.0);
    }
    stand.step(1);
    assert!(
        !appears(&stand),
        "both have been promised a place, and only one fits"
    );
}

/// Creates two lanes between two junctions. Also returns the route onto the right lane, and the adjacent
/// lane.
fn two_lanes_between_crossings() -> (Stand, [LaneletIndex; 3], LaneletIndex) {
    let roads = [
        ((-100.0, 0.0), (0.0, 0.0), 2, 0),
        ((0.0, 0.0), (40.0, 0.0), 2, 0),
        ((40.0, 0.0), (140.0, 0.0), 2, 0),
        ((0.0, -100.0), (0.0, 100.0), 1, 1),
        ((40.0, -100.0), (40.0, 100.0), 1, 1),
    ];
    let stand = Stand::on(&roads);
    let graph = stand.ground.graph();
    let on = |road: u32, is_right: bool| {
        let all = graph.lanes_of(RoadId(road)).flat_map(|(_, pieces)| pieces);
        let mut all = all.filter(|&&id| (graph.lanelet(id).right == NO_LANELET) == is_right);
        *all.next().unwrap()
    };
    let (approach, exit, beside) = (on(1, true), on(2, true), on(2, false));
    let mut connections = graph.successors(approach).iter();
    let connection = connections.find(|&&connection| graph.successors(connection).contains(&exit));
    let route = [approach, *connection.unwrap(), exit];
    (stand, route, beside)
}

#[test]
fn room_beyond_ends_where_those_wait_who_have_to_change_lanes() {
    for changes in [false, true] {
        let (mut stand, lanelets, beside) = two_lanes_between_crossings();
        let [approach, _, exit] = lanelets;
        let length = stand.ground.length(exit);
        let space = stand.types.get(0).whole_length + EXIT_GAP;
        // As many cars as still leave room for one more car if the first car drives up to the end.
        let spaces = (length / space) as u64 - 1;
        let waits_up_to = place_to_wait(length, 1) + stand.types.get(0).front;
        assert!(waits_up_to < (spaces + 1) as f64 * space);
        for number in 0..spaces {
            let s = length - space * (number as f64 + 0.9);
            let lanes = if changes && number == 0 {
                &[exit, beside][..]
            } else {
                &[exit]
            };
            stand.car(10 + number, lanes, s, 0.0);
        }
        let own = stand.car(1, &lanelets, stand.ground.length(approach) - 8.0, 0.0);
        stand.step(1);
        assert_eq!(stand.refused(own) == Refusal::NoRoom, changes);
    }
}

#[test]
fn room_beyond_is_kept_for_who_has_to_change_to_it_at_the_end_of_its_lane() {
    // (time for which the vehicle has sought a gap, s; distance to the end of its lane, m; whether
    // it wants to change lanes; whether a vehicle from the junction is let in)
    let cases = [
        (12.0, 4.0, true, false),
        // Vehicles that rely on the room keep the vehicle from changing lanes.
        (-12.0, 4.0, true, false),
        (4.0, 4.0, true, true),
        (12.0, 20.0, true, true),
        (12.0, 4.0, false, true),
    ];
    for (seeking, before, wants_over, comes) in cases {
        let (mut stand, lanelets, beside) = two_lanes_between_crossings();
        let [approach, _, exit] = lanelets;
        let length = stand.ground.length(exit);
        // As many cars as leave room for one more.
        let space = stand.types.get(0).whole_length + EXIT_GAP;
        let spaces = (length / space) as u32 - 1;
        let to = if wants_over { exit } else { beside };
        let own = stand.car(1, &lanelets, stand.ground.length(approach) - 8.0, 0.0);
        let seeker = stand.car(2, &[beside, to], length - before, 0.0);
        stand.agents.progress[seeker.index()].seeking = seeking;
        stand.agents.progress[seeker.index()].standing = 20.0;
        for number in 0..spaces {
            let s = length - space * (f64::from(number) + 0.9);
            stand.car(10 + u64::from(number), &[exit], s, 0.0);
        }
        stand.step(1);
        assert_eq!(
            stand.refused(own) != Refusal::NoRoom,
            comes,
            "seeks for {seeking} s at {before} m, wants to change: {wants_over}"
        );
    }
}

/// If a vehicle between two lanes were let in, it would stand in the junction indefinitely, because
/// the vehicle ahead on the lane that it is leaving waits for vehicles that have been let in.
#[test]
fn who_stands_between_two_lanes_behind_another_one_is_not_let_in() {
    for standing in [0.0, 10.0] {
        let (mut stand, lanelets, _) = two_lanes_between_crossings();
        let approach = lanelets[0];
        let old_lane = stand.ground.graph().lanelet(approach).left;
        let length = stand.ground.length(approach);
        let own = stand.car(1, &lanelets, length - 12.0, 0.0);
        stand.agents.position[own.index()].leaving = old_lane;
        let ahead = stand.car(2, &[old_lane], length - 5.0, 0.0);
        stand.agents.progress[ahead.index()].standing = standing;
        stand.step(1);
        let is_let_in = stand.refused(own) == Refusal::None;
        assert_eq!(is_let_in, standing == 0.0, "{:?}", stand.refused(own));
    }
}

/// A vehicle that drives straight on from the west has no conflicts, so it makes no request. A
/// vehicle that turns left crosses the traffic from the east.
#[test]
fn who_turns_off_behind_a_queue_straight_on_is_not_let_in() {
    let roads = [
        ((-100.0, 0.0), (0.0, 0.0), 1, 1),
        ((0.0, 0.0), (100.0, 0.0), 1, 1),
        ((0.0, 0.0), (0.0, 100.0), 1, 0),
    ];
    // (time for which the last vehicle of the queue has stood, s; its position along its
    // connection, m; whether the vehicle that turns off is let in)
    let cases = [(10.0, 1.5, false), (0.0, 1.5, true), (10.0, 9.0, true)];
    for (standing, s, comes) in cases {
        let mut stand = Stand::on(&roads);
        let [approach, straight, beyond] = stand.straight(DVec2::X);
        let graph = stand.ground.graph();
        let mut others = graph.successors(approach).iter();
        let left = *others.find(|&&lanelets| lanelets != straight).unwrap();
        let exit = graph.successors(left)[0];
        assert!(stand.ground.contested(straight).is_none());
        assert!(stand.ground.contested(left).is_some());
        let own = stand.car(
            1,
            &[approach, left, exit],
            stand.ground.length(approach) - 8.0,
            0.0,
        );
        let last = stand.car(2, &[straight, beyond], s, 0.0);
        stand.agents.progress[last.index()].standing = standing;
        stand.step(1);
        assert_eq!(stand.is_let_in(own), comes, "{standing} s, {s} m");
    }
}

/// Creates a street that crosses two others, which are `apart` metres apart. Also returns the lanelets along
/// it to the east.
fn two_crossings(apart: f64) -> (Stand, [LaneletIndex; 5]) {
    two_crossings_of(apart, &JunctionRules::default())
}

#[test]
fn who_drives_on_at_once_leaves_the_lane_between_two_junctions_to_the_next() {
    // The first vehicle drives through both junctions, or only onto the lane between them.
    for (goes_to, lets_in) in [(5, true), (3, false)] {
        let (mut stand, lanelets) = two_crossings(20.0);
        let (length, room) = (
            stand.ground.length(lanelets[2]),
            stand.types.get(0).whole_length + EXIT_GAP,
        );
        assert!(length < room, "a car fits in between: {length} m");
        let s = stand.ground.length(lanelets[0]) - 8.0;
        let first = stand.car(1, &lanelets[..goes_to], s, 4.0);
        let second = stand.car(2, &lanelets, s - 8.0, 4.0);
        stand.step(1);
        assert_eq!(
            granted_to(&stand, first),
            goes_to as u32 - 1,
            "no vehicle is before it"
        );
        assert_eq!(granted_to(&stand, second), if lets_in { 4 } else { 0 });
        if !lets_in {
            assert_eq!(stand.refused(second), Refusal::Occupied);
        }
    }
}

#[test]
fn who_has_its_turn_at_the_next_junction_leaves_its_place_to_who_comes_behind() {
    for is_closed in [false, true] {
        let (mut stand, lanelets) = two_crossings(24.0);
        let (length, room) = (
            stand.ground.length(lanelets[2]),
            stand.types.get(0).whole_length + EXIT_GAP,
        );
        assert!(
            (room..2.0 * room).contains(&length),
            "one car fits in between: {length} m"
        );
        let next = stand.ground.contested(lanelets[3]).unwrap().junction;
        // The first vehicle stands at the line of the second junction, and the other one approaches the
        // first junction.
        let front = stand.types.get(0).front;
        let first = stand.car(1, &lanelets[2..], length - front - 0.5, 0.0);
        let second = stand.car(2, &lanelets, stand.ground.length(lanelets[0]) - 8.0, 4.0);
        if is_closed {
            stand.claims.closing.close(vec![next]);
        }
        stand.step(1);
        assert_eq!(granted_to(&stand, first), if is_closed { 0 } else { 2 });
        assert_eq!(granted_to(&stand, second), if is_closed { 0 } else { 2 });
        if is_closed {
            assert_eq!(stand.refused(second), Refusal::NoRoom);
            continue;
        }
        // An edit is about to change the junction. The first vehicle keeps its turn as long as the
        // other vehicle relies on it.
        stand.claims.closing.close(vec![next]);
        stand.step(2);
        assert_eq!(granted_to(&stand, first), 2);
        stand.agents.remove(second);
        stand.step(3);
        assert_eq!(granted_to(&stand, first), 1, "its turn is revoked");
    }
}

#[test]
fn who_stands_behind_one_that_stays_leaves_its_place_to_nobody() {
    for stays in [false, true] {
        let (mut stand, lanelets) = two_crossings(32.0);
        let (length, kind) = (stand.ground.length(lanelets[2]), *stand.types.get(0));
        let room = kind.whole_length + EXIT_GAP;
        assert!(
            (2.0 * room..3.0 * room).contains(&length),
            "two cars fit in between: {length} m"
        );
        // The first vehicle stands at the end of the lane and either stays or continues. The second vehicle
        // stands behind it and will continue.
        let s = length - kind.front - 0.5;
        if stays {
            stand.car(1, &lanelets[2..3], s, 0.0);
        } else {
            stand.car(1, &lanelets[2..], s, 0.0);
        }
        let behind = stand.car(2, &lanelets[2..], s - room, 0.0);
        let comes = stand.car(3, &lanelets, stand.ground.length(lanelets[0]) - 8.0, 4.0);
        stand.step(1);
        assert_eq!(granted_to(&stand, behind), 2, "it has its turn");
        assert_eq!(stand.refused(comes) == Refusal::NoRoom, stays);
    }
}

#[test]
fn room_beyond_ends_at_the_stop_line() {
    for sets_lines_back in [false, true] {
        let (mut stand, lanelets) = two_crossings(32.0);
        stand.types.sets_lines_back = sets_lines_back;
        let (length, kind) = (stand.ground.length(lanelets[2]), *stand.types.get(0));
        let room = kind.whole_length + EXIT_GAP;
        let Connection {
            junction: next,
            number: path,
        } = stand.ground.contested(lanelets[3]).unwrap();
        let before_end = stand.ground.setback(next, path, sets_lines_back);
        assert_eq!(
            length - before_end >= 2.0 * room,
            !sets_lines_back,
            "one of two cars would wait in the junction: {length} m, {before_end} m"
        );
        // One vehicle waits at the line of the second junction, which is closed, and another one
        // approaches.
        let s = length - before_end - kind.front - 0.5;
        let first = stand.car(1, &lanelets[2..], s, 0.0);
        let second = stand.car(2, &lanelets, stand.ground.length(lanelets[0]) - 14.0, 4.0);
        stand.claims.closing.close(vec![next]);
        stand.step(1);
        assert_eq!(granted_to(&stand, first), 0);
        assert_eq!(granted_to(&stand, second) > 0, !sets_lines_back);
    }
}

#[test]
fn who_may_lose_its_green_before_it_enters_leaves_its_place_to_nobody() {
    let rules = JunctionRules {
        control: Some(Control::Signals),
        ..JunctionRules::default()
    };
    let (mut stand, lanelets) = two_crossings_of(24.0, &rules);
    let paths = [lanelets[1], lanelets[3]].map(|lanelet| stand.ground.contested(lanelet).unwrap());
    let shines_green = |stand: &Stand| {
        let light = |path| stand.signals.light(&stand.ground, path);
        paths.iter().all(|&path| light(path) == Light::Green)
    };
    let mut green = |step| {
        stand.wait_until(step);
        shines_green(&stand)
    };
    let begin = (1..1000).find(|&step| green(step)).unwrap();
    let end = (begin..1000).find(|&step| !green(step)).unwrap();
    // Number of steps before the end of the street's green.
    for (before_end, leaves_its_place) in [(100, true), (30, true), (20, false), (5, false)] {
        let (mut stand, _) = two_crossings_of(24.0, &rules);
        (1..=end - before_end).for_each(|step| stand.wait_until(step));
        assert!(shines_green(&stand));
        let front = stand.types.get(0).front;
        let s = stand.ground.length(lanelets[2]) - front - 0.5;
        let first = stand.car(1, &lanelets[2..], s, 0.0);
        let second = stand.car(2, &lanelets, stand.ground.length(lanelets[0]) - 8.0, 4.0);
        stand.step(end - before_end);
        assert_eq!(granted_to(&stand, first), 2, "{before_end} steps");
        let refused = stand.refused(second);
        assert_eq!(
            refused != Refusal::NoRoom,
            leaves_its_place,
            "{before_end} steps: {refused:?}"
        );
    }
}
