//! Tests of perception in hand-made scenes.

use super::*;
use crate::records::AgentIndex;
use crate::testing::Stand;
use roadwright_ground::PROFILE_BRAKING;
use roadwright_scenario::LaneletIndex;
use roadwright_scenario::lane_graph::NO_LANELET;

const LOOK: Look = Look {
    ahead: Lookahead {
        distance: 10.0,
        time: 0.0,
    },
    at_path: true,
    along_bend: false,
    parts: None,
};

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn a_leader_is_the_next_along_the_route() {
    // (place of the other vehicle: lanelet of the route, or 3 for the crossing street; position on
    // it, m; whether it is the leader)
    let cases = [
        ("on its own lane", 0, 30.0, true),
        ("behind it", 0, 3.0, false),
        ("on the connection", 1, 2.0, true),
        ("beyond the junction", 2, 5.0, true),
        ("on the other street", 3, 40.0, false),
    ];
    for (what, at, s, leads) in cases {
        let mut stand = Stand::crossing();
        let route = stand.straight(DVec2::X);
        let other_street = stand.straight(DVec2::Y);
        let own = stand.car(1, &route, 10.0, 20.0);
        let lanelets = if at < 3 {
            &route[at..]
        } else {
            &other_street[..]
        };
        stand.car(2, lanelets, s, 3.0);
        stand.look();
        let input = stand.view().controller_input(own, LOOK);
        if !leads {
            assert_eq!(input.leader_gap, NOTHING, "{what}");
            continue;
        }
        let before: f64 = route[..at].iter().map(|&id| stand.ground.length(id)).sum();
        let along = before + s - 10.0;
        let car = stand.types.get(0);
        let gap = along - car.front - car.rear_overhang;
        assert!(near(input.leader_gap, gap), "{what}: {}", input.leader_gap);
        assert_eq!(input.leader_speed, 3.0, "{what}");
    }
}

#[test]
fn the_stop_line_is_there_until_the_junction_lets_it_in() {
    // (index before which connections may be entered, whether the agent stops)
    for (granted_to, stops) in [(0, true), (1, true), (2, false)] {
        let mut stand = Stand::crossing();
        let route = stand.straight(DVec2::X);
        let own = stand.car(1, &route, 60.0, 10.0);
        stand.agents.claim[own.index()].granted_to = granted_to;
        stand.look();
        let input = stand.view().controller_input(own, LOOK);
        let to_line = stand.ground.length(route[0]) - 60.0 - stand.types.get(0).front;
        let expected = if stops { to_line } else { NOTHING };
        assert!(
            near(input.stop_distance, expected),
            "granted to {granted_to}"
        );
    }
}

#[test]
fn a_lane_that_has_to_be_left_ends_at_its_end() {
    let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
    let lanes = stand.lanes_from_the_right();
    for (route, stops) in [(vec![lanes[0], lanes[1]], true), (vec![lanes[0]], false)] {
        let own = stand.car(stops.into(), &route, 250.0, 10.0);
        stand.look();
        let input = stand.view().controller_input(own, LOOK);
        let to_end = 300.0 - 250.0 - stand.types.get(0).front - 1.0;
        let expected = if stops { to_end } else { NOTHING };
        assert!(near(input.stop_distance, expected), "{route:?}");
    }
}

#[test]
fn who_finds_no_gap_waits_where_it_can_still_change_lanes() {
    // The left lane only leads to the left, the right one only to the right.
    let mut stand = Stand::on(&[
        ((0.0, 0.0), (150.0, 0.0), 2, 0),
        ((150.0, 0.0), (150.0, 80.0), 1, 0),
        ((150.0, 0.0), (150.0, -80.0), 1, 0),
    ]);
    let graph = stand.ground.graph();
    let is_right = |id: &LaneletIndex| {
        let lanelet = graph.lanelet(*id);
        lanelet.right == NO_LANELET && lanelet.left != NO_LANELET
    };
    let right = graph.indices().find(is_right).expect("a right lane");
    let left = graph.lanelet(right).left;
    let turn = graph.successors(left)[0];
    let to_the_left = [right, left, turn, graph.successors(turn)[0]];
    let length = graph.lanelet(right).length();
    // (distance from the end of the lane, m; whether a lane change is required; distance over which
    // the vehicle slows down, m)
    let cases = [
        (40.0, true, Some(27.0)),
        (20.0, true, Some(7.0)),
        (12.5, true, Some(0.0)),
        // It is too late to change lanes, so the vehicle drives on.
        (11.0, true, None),
        (20.0, false, None),
    ];
    let speed_of = |stand: &mut Stand, own: AgentIndex| {
        stand.look();
        stand.view().controller_input(own, LOOK).road_speed
    };
    for (id, (before, changes, room)) in (1..).zip(cases) {
        let route = if changes {
            &to_the_left[..]
        } else {
            &[right][..]
        };
        let own = stand.car(id, route, length - before, 5.0);
        let speed = speed_of(&mut stand, own);
        match room {
            Some(room) => assert!(
                near(speed, (2.0 * PROFILE_BRAKING * room).sqrt()),
                "{before} m before the end: {speed} m/s"
            ),
            None => assert!(speed > 10.0, "{before} m before the end: {speed} m/s"),
        }
    }
    // A vehicle between two lanes does not wait, because it would never leave the old lane while
    // standing.
    let own = stand.car(9, &to_the_left, length - 12.5, 5.0);
    stand.agents.position[own.index()].leaving = left;
    assert!(speed_of(&mut stand, own) > 10.0);
}

#[test]
fn the_way_to_the_left_and_to_the_right_is_told() {
    let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 3, 0)]);
    let lanes = stand.lanes_from_the_right();
    // (from lane, to lane, required change, lanes to the left and to the right)
    let cases = [
        (1, 2, 1.0, (1.0, 1.0)),
        (1, 0, -1.0, (1.0, 1.0)),
        (1, 1, 0.0, (1.0, 1.0)),
        (0, 1, 1.0, (1.0, 0.0)),
        (2, 1, -1.0, (0.0, 1.0)),
    ];
    for (id, (from, to, needed, sides)) in (1..).zip(cases) {
        let route: &[_] = if from == to {
            &[lanes[from]]
        } else {
            &[lanes[from], lanes[to]]
        };
        let own = stand.car(id, route, 20.0 * id as f64, 10.0);
        stand.look();
        let input = stand.view().behaviour_input(own);
        let told = (
            input.lane_change_needed,
            (input.lane_left, input.lane_right),
        );
        assert_eq!(told, (needed, sides), "{from} to {to}");
        // Only one lane change is made at a time.
        stand.agents.position[own.index()].leaving = lanes[from];
        let input = stand.view().behaviour_input(own);
        assert_eq!(input.lane_change_needed, 0.0);
    }
}

#[test]
fn gaps_beside_are_those_between_bodies() {
    // (positions, m, and speeds, m/s, of cars on the other lane; required gap, m, and time, s;
    // whether there is enough room for an agent at 100 m with 10 m/s)
    let cases: [(&[(f64, f64)], _, _); 7] = [
        (&[], (3.0, 1.5), true),
        (&[(100.0, 10.0)], (3.0, 1.5), false),
        (&[(110.0, 10.0)], (3.0, 1.5), true),
        (&[(110.0, 10.0)], (7.0, 1.5), false),
        // The agent closes in on a slow car ahead, while a fast car moves away.
        (&[(110.0, 6.0)], (3.0, 1.5), false),
        (&[(90.0, 14.0)], (3.0, 1.5), false),
        (&[(90.0, 10.0), (110.0, 14.0)], (3.0, 1.5), true),
    ];
    for (others, (gap, time), is_there) in cases {
        let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
        let lanes = stand.lanes_from_the_right();
        let own = stand.car(1, &[lanes[0], lanes[1]], 100.0, 10.0);
        for (id, &(s, speed)) in (2..).zip(others) {
            stand.car(id, &[lanes[1]], s, speed);
        }
        stand.look();
        let found = stand.view().has_room_beside(own, lanes[1], gap, time);
        assert_eq!(found, is_there, "{others:?}, {gap} m and {time} s");
    }
}

#[test]
fn who_comes_from_the_lane_before_is_behind() {
    let mut stand = Stand::crossing();
    let route = stand.straight(DVec2::X);
    let own = stand.car(1, &route[2..], 1.0, 5.0);
    let behind = stand.car(2, &route, 90.0, 5.0);
    stand.look();
    let view = stand.view();
    // The agent is alone on the lane, and the connection before it is empty.
    let found = view.behind_lanelet(route[1]).map(|(entry, _)| entry.agent);
    assert_eq!(found, Some(behind));
    assert!(view.behind_lanelet(route[0]).is_none());
    // It is also found from beyond the junction, for a vehicle that has just reached the next road.
    let (entry, distance) = view.behind_lanelet(route[2]).unwrap();
    let to_here = stand.ground.length(route[0]) - 90.0 + stand.ground.length(route[1]);
    assert_eq!((entry.agent, distance), (behind, to_here));
    let ahead = view.index.hindmost(route[2]).map(|entry| entry.agent);
    assert_eq!(ahead, Some(own));
}

#[test]
fn a_slower_road_ahead_is_braked_for_in_time() {
    let stand = {
        let mut stand = Stand::crossing();
        let route = stand.straight(DVec2::X);
        stand.car(1, &route, 5.0, 14.0);
        stand.car(2, &route, 80.0, 14.0);
        stand.look();
        stand
    };
    let agents = [0, 1].map(AgentIndex::new);
    let speeds = agents.map(|own| stand.view().controller_input(own, LOOK).road_speed);
    let entry = stand.ground.entry_speed(stand.straight(DVec2::X)[1]);
    let distance = stand.ground.length(stand.straight(DVec2::X)[0]) - 80.0;
    let reachable = (entry * entry + 2.0 * PROFILE_BRAKING * distance).sqrt();
    assert!(speeds[1] <= reachable + 1e-9 && speeds[1] <= speeds[0]);
    assert!(near(speeds[0], 14.0), "{speeds:?}");
}

#[test]
fn who_has_not_left_a_lane_yet_follows_the_one_ahead_on_it() {
    let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
    let lanes = stand.lanes_from_the_right();
    stand.car(2, &[lanes[0]], 108.0, 0.0);
    let own = stand.car(1, &[lanes[1]], 100.0, 2.0);
    // (distance from the new lane, m; whether the body is still on the old lane)
    for (beside, is_on_both) in [(3.0, true), (1.5, true), (0.8, false)] {
        let position = &mut stand.agents.position[own.index()];
        (position.leaving, position.t) = (lanes[0], -beside);
        stand.look();
        let input = stand.view().controller_input(own, LOOK);
        assert_eq!(input.leader_gap < NOTHING, is_on_both, "{beside} m beside");
    }
}

#[test]
fn a_tail_on_another_branch_is_followed_until_the_ways_part() {
    // One car goes straight on, the other turns off from the same lane ahead of it.
    let stand = Stand::crossing();
    let straight = stand.straight(DVec2::X);
    let branches = stand.ground.graph().successors(straight[0]).to_vec();
    let turning = branches.into_iter().find(|&b| b != straight[1]).unwrap();
    let exit = stand.ground.graph().successors(turning)[0];
    let together = stand.ground.parting(turning, straight[1], false);
    assert!(
        together > 1.0 && together < stand.ground.length(turning),
        "{together} m"
    );
    let overhang = stand.types.get(0).rear_overhang;
    for (rear, is_seen) in [(together - 0.5, true), (together + 0.5, false)] {
        // Tested from the approach, and from the connection itself.
        for from in [0, 1] {
            let mut stand = Stand::crossing();
            stand.car(2, &[turning, exit], rear + overhang, 0.0);
            let s = [stand.ground.length(straight[0]) - 5.0, 0.5][from];
            let own = stand.car(1, &straight[from..], s, 3.0);
            stand.look();
            let gap = stand.view().controller_input(own, LOOK).leader_gap;
            assert_eq!(gap < NOTHING, is_seen, "{gap}");
        }
    }
}

#[test]
fn who_has_been_seeking_a_gap_for_long_is_let_in() {
    // (time for which the other vehicle has sought a gap, s; its position, m; its speed, m/s;
    // response of the agent at 100 m with 10 m/s)
    let cases = [
        (6.0, 130.0, 8.0, "follows"),
        (4.0, 130.0, 8.0, "drives on"),
        // A third vehicle relies on the room that the seeking vehicle would take.
        (-6.0, 130.0, 8.0, "drives on"),
        // The agent can no longer stop in time.
        (6.0, 108.0, 0.0, "drives on"),
        // The other vehicle is behind.
        (6.0, 90.0, 8.0, "drives on"),
    ];
    for (seeking, s, speed, expected) in cases {
        let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
        let lanes = stand.lanes_from_the_right();
        let own = stand.car(1, &lanes[1..], 100.0, 10.0);
        let other = stand.car(2, &lanes, s, speed);
        stand.agents.progress[other.index()].seeking = seeking;
        stand.look();
        let input = stand.view().controller_input(own, LOOK);
        let told = if input.leader_gap == NOTHING {
            "drives on"
        } else {
            "follows"
        };
        assert_eq!(told, expected, "{seeking} s, {s} m, {speed} m/s");
    }
}

#[test]
fn who_cannot_come_over_is_not_waited_for() {
    // (gap ahead of the seeking car, m; time for which the agent has stood, s; whether it follows that car)
    let cases = [
        (40.0, 0.0, true),
        (2.0, 0.0, false),
        (40.0, 14.0, true),
        (40.0, 16.0, false),
    ];
    for (gap, standing, follows) in cases {
        let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
        let lanes = stand.lanes_from_the_right();
        let own = stand.car(1, &lanes[1..], 100.0, 0.0);
        let other = stand.car(2, &lanes, 108.0, 0.0);
        let leader = stand.car(3, &lanes[..1], 108.0, 0.0);
        let kind = stand.view().vehicle_type(other);
        stand.agents.position[leader.index()].s += kind.front + gap + kind.rear_overhang;
        stand.agents.progress[other.index()].seeking = 6.0;
        stand.agents.progress[own.index()].standing = standing;
        stand.look();
        let input = stand.view().controller_input(own, LOOK);
        let told = input.leader_gap < NOTHING;
        assert_eq!(told, follows, "{gap} m, {standing} s");
    }
}

#[test]
fn of_two_that_want_each_others_lane_the_one_behind_falls_back() {
    for (s, falls_back) in [(101.0, true), (99.0, false), (100.0, false)] {
        let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
        let lanes = stand.lanes_from_the_right();
        let own = stand.car(1, &[lanes[1], lanes[0]], 100.0, 10.0);
        let other = stand.car(2, &lanes, s, 10.0);
        for agent in [own, other] {
            stand.agents.progress[agent.index()].seeking = 0.1;
        }
        stand.look();
        let speed = |agent| stand.view().controller_input(agent, LOOK).road_speed;
        // If they are level, the vehicle with the smaller id goes first.
        assert_eq!(speed(own) < 7.1, falls_back, "{s} m");
        assert_eq!(speed(other) < 7.1, !falls_back, "{s} m");
    }
}

#[test]
fn who_has_been_seeking_for_long_drives_behind_the_one_ahead_on_the_other_lane() {
    // (time for which the agent has sought a gap, s; speed of the vehicle ahead on the other lane,
    // m/s; whether the agent follows it)
    let cases = [(6.0, 8.0, true), (4.0, 8.0, false), (6.0, 0.0, false)];
    for (seeking, speed, follows) in cases {
        let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
        let lanes = stand.lanes_from_the_right();
        let own = stand.car(1, &lanes, 100.0, 10.0);
        stand.car(2, &lanes[1..], 160.0, speed);
        stand.agents.progress[own.index()].seeking = seeking;
        stand.look();
        let input = stand.view().controller_input(own, LOOK);
        assert_eq!(
            input.leader_gap < NOTHING,
            follows,
            "{seeking} s, {speed} m/s"
        );
    }
}
