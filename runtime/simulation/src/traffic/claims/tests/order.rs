//! Tests of the order in which vehicles pass and wait for each other.

use super::*;
use crate::records::Refusal;
use roadwright_scenario::Connection;

#[test]
fn who_comes_first_passes_first_and_the_other_waits_inside_or_out() {
    let mut crossing = ruled(Control::Zipper);
    let first = crossing.comes(7, DVec2::X, 5.0, 4.0);
    crossing.step(1);
    // The second vehicle has a smaller id, but its request is later, so the id does not help it.
    // The first vehicle needs far more than a second.
    let second = crossing.comes(3, DVec2::Y, 5.0, 4.0);
    crossing.step(2);
    assert!(crossing.is_let_in(first) && !crossing.is_let_in(second));
    assert_eq!(crossing.refused(second), Refusal::Occupied);
    // The first vehicle is about to leave the conflict, so the second one may enter and waits
    // inside.
    crossing.drive_in(first, 8.0);
    crossing.step(3);
    let place = crossing.wall(second);
    assert!(
        crossing.is_let_in(second) && place.is_some_and(|s| s > 0.0),
        "{place:?}"
    );
    assert_eq!(crossing.wall(first), None, "the first waits for no vehicle");
    // As soon as the rear of the first vehicle has left the conflict, neither waits.
    crossing.drive_out(first, 3.0);
    crossing.step(4);
    assert_eq!(crossing.wall(second), None);
}

#[test]
fn between_decisions_only_those_who_have_left_give_back_what_they_have() {
    let mut crossing = ruled(Control::Zipper);
    let first = crossing.comes(7, DVec2::X, 5.0, 4.0);
    let second = crossing.comes(3, DVec2::Y, 5.0, 4.0);
    let step = |crossing: &mut Stand, step: u64| {
        let clock = Clock {
            dt: 0.01,
            ..crate::testing::clock(step)
        };
        crossing.decide(&clock);
        crossing.claims.arrivals().is_some()
    };
    // After a change of the junctions, they decide immediately, in any step.
    assert!(step(&mut crossing, 3));
    let let_in = [first, second].map(|agent| crossing.is_let_in(agent));
    assert_eq!(let_in, [false, true]);
    // The vehicle that was let in has left the road. Its index will be reused before the next decision.
    let junction = crossing
        .claims
        .grants
        .held()
        .map(|held| Connection::new(held.junction, held.path))
        .next()
        .unwrap()
        .junction;
    assert!(crossing.claims.grants.has(second, junction, 1));
    crossing.agents.remove(second);
    assert!(!step(&mut crossing, 4));
    assert!(!crossing.claims.grants.has(second, junction, 1));
    // The other vehicle is let in at the next decision, a fifth of a second after step 0.
    for between in 5..20 {
        assert!(!step(&mut crossing, between) && !crossing.is_let_in(first));
    }
    assert!(step(&mut crossing, 20) && crossing.is_let_in(first));
}

#[test]
fn the_nearer_side_goes_first_whatever_the_ids() {
    for (a, b) in [(1, 2), (2, 1)] {
        let mut crossing = Stand::crossing();
        let from_west = crossing.comes(a, DVec2::X, 5.0, 4.0);
        // This vehicle comes from the south, on the right of the vehicle from the west.
        let from_south = crossing.comes(b, DVec2::Y, 5.0, 4.0);
        crossing.step(1);
        assert!(crossing.is_let_in(from_south) && !crossing.is_let_in(from_west));
        assert_eq!(crossing.refused(from_west), Refusal::GivesWay);
    }
}

#[test]
fn who_has_a_yield_sign_waits_for_a_gap() {
    // The street from west to east has priority. The crossing cuts roads 1 and 2 into 1, 3 and 2,
    // 4.
    let rules = |control| JunctionRules {
        control: Some(control),
        major: vec![RoadId(1), RoadId(3)],
        ..JunctionRules::default()
    };
    let mut crossing = Stand::crossing_of(&rules(Control::Priority));
    let minor = crossing.comes(1, DVec2::Y, 3.0, 0.0);
    let major = crossing.comes(2, DVec2::X, 60.0, 13.0);
    crossing.step(1);
    // 60 m at 13 m/s take less than the critical gap of 6.5 s.
    assert_eq!(crossing.refused(minor), Refusal::GivesWay);
    // Without the vehicle on the major road, it is let in immediately.
    crossing.agents.remove(major);
    crossing.step(2);
    assert!(crossing.is_let_in(minor));
    // A vehicle on the major road does not wait for a vehicle that has not been let in.
    let mut crossing = Stand::crossing_of(&rules(Control::Priority));
    let minor = crossing.comes(1, DVec2::Y, 3.0, 4.0);
    let major = crossing.comes(2, DVec2::X, 12.0, 10.0);
    crossing.step(1);
    assert!(crossing.is_let_in(major) && !crossing.is_let_in(minor));
    // At a stop sign, a vehicle has to stop first, even if there is no other vehicle.
    let mut crossing = Stand::crossing_of(&rules(Control::Stop));
    let minor = crossing.comes(1, DVec2::Y, 6.0, 3.0);
    crossing.step(1);
    assert_eq!(crossing.refused(minor), Refusal::Stop);
    crossing.agents.motion[minor.index()].speed = 0.0;
    crossing.step(2);
    assert!(crossing.is_let_in(minor));
}

#[test]
fn who_has_waited_for_a_minute_is_not_passed_over() {
    let rules = JunctionRules {
        control: Some(Control::Priority),
        major: vec![RoadId(1), RoadId(3)],
        ..JunctionRules::default()
    };
    let mut crossing = Stand::crossing_of(&rules);
    let minor = crossing.comes(1, DVec2::Y, 3.0, 0.0);
    let mut let_in = 0;
    for step in 1..700u64 {
        // In each step, there is another vehicle on the major road, which is removed before the
        // next step.
        let major = crossing.comes(100 + step, DVec2::X, 14.0, 8.0);
        crossing.step(step);
        let_in += usize::from(crossing.is_let_in(major));
        crossing.agents.remove(major);
        if crossing.is_let_in(minor) {
            // A step is 0.1 s.
            assert!((595..=605).contains(&step), "{step}");
            assert!(let_in > 500, "the others drove: {let_in}");
            return;
        }
    }
    panic!("it is never let in");
}

#[test]
fn who_cuts_in_before_a_holder_takes_its_turn() {
    let mut crossing = Stand::crossing();
    let holder = crossing.comes(1, DVec2::X, 25.0, 8.0);
    crossing.step(1);
    assert!(crossing.is_let_in(holder));
    // Another vehicle, which has not been let in, now stands ahead of it. That vehicle cannot enter
    // either, because a third vehicle comes from the right.
    let third = crossing.comes(3, DVec2::Y, 4.0, 4.0);
    let cutter = crossing.comes(2, DVec2::X, 6.0, 3.0);
    crossing.step(2);
    assert!(
        !crossing.is_let_in(holder),
        "it requests again, behind the other"
    );
    crossing.agents.remove(third);
    crossing.step(3);
    crossing.step(4);
    assert!(crossing.is_let_in(cutter) && crossing.is_let_in(holder));
}

#[test]
fn opposite_ways_do_not_wait_for_each_other() {
    let mut crossing = Stand::crossing();
    let east = crossing.comes(1, DVec2::X, 5.0, 4.0);
    let west = crossing.comes(2, DVec2::NEG_X, 5.0, 4.0);
    crossing.step(1);
    assert!(crossing.is_let_in(east) && crossing.is_let_in(west));
}

#[test]
fn nobody_asks_from_far_away_or_is_let_in_past_a_waiting_leader() {
    let mut crossing = Stand::crossing();
    let far = crossing.comes(1, DVec2::X, 60.0, 4.0);
    crossing.step(1);
    assert!(!crossing.is_let_in(far), "it is 60 m away at 4 m/s");
    // A crossing car holds the junction. Neither of two cars in a row on the approach is let in.
    let crosser = crossing.comes(2, DVec2::Y, 13.0, 1.0);
    crossing.step(2);
    let leader = crossing.comes(3, DVec2::X, 4.0, 0.0);
    let follower = crossing.comes(4, DVec2::X, 12.0, 8.0);
    crossing.step(3);
    assert!(crossing.is_let_in(crosser));
    assert!(!crossing.is_let_in(leader) && !crossing.is_let_in(follower));
    assert_eq!(crossing.refused(follower), Refusal::NotFirst);
    // Both are then let in together, because a car that is let in does not hold up the cars behind it.
    crossing.drive_out(crosser, 8.0);
    crossing.step(4);
    crossing.step(5);
    assert!(crossing.is_let_in(leader) && crossing.is_let_in(follower));
}

#[test]
fn nobody_is_let_in_past_one_that_arrives_behind_one_that_waits() {
    let mut crossing = Stand::crossing();
    crossing.comes(2, DVec2::Y, 13.0, 1.0);
    crossing.step(1);
    let waits = crossing.comes(3, DVec2::X, 4.0, 0.0);
    let approach = crossing.straight(DVec2::X)[0];
    let length = crossing.ground.length(approach);
    // Its trip ends before the junction, so it makes no request. It stands behind a vehicle
    // that makes one.
    crossing.car(4, &[approach], length - 12.0, 0.0);
    let behind = crossing.comes(5, DVec2::X, 19.0, 4.0);
    crossing.step(2);
    assert!(!crossing.is_let_in(waits) && !crossing.is_let_in(behind));
    assert_eq!(crossing.refused(behind), Refusal::NotFirst);
    // Without the waiting vehicle, the vehicle behind may enter.
    let mut crossing = Stand::crossing();
    crossing.car(4, &[approach], length - 12.0, 0.0);
    let behind = crossing.comes(5, DVec2::X, 19.0, 4.0);
    crossing.step(1);
    assert!(crossing.is_let_in(behind));
}

#[test]
fn who_is_off_the_lanes_in_a_junction_holds_the_ways_that_it_touches() {
    // (rear axle of the vehicle off the lanes, whether vehicles from the west and from the south are let
    // in)
    let cases = [
        ((4.5, -1.7, 0.0), [false, true]),
        ((0.0, 0.0, 0.8), [false, false]),
        // The vehicle is before the line and beside the connection.
        ((-30.0, -1.7, 0.0), [true, true]),
        ((9.0, 1.7, 3.1), [true, true]),
    ];
    for ((x, y, heading), let_in) in cases {
        for (direction, is_let_in) in [DVec2::X, DVec2::Y].into_iter().zip(let_in) {
            let mut crossing = ruled(Control::Zipper);
            let stray = crossing.comes(1, DVec2::X, 60.0, 0.0);
            crossing.put_off_lanes(stray, Pose::new(x, y, heading));
            let comes = crossing.comes(2, direction, 5.0, 4.0);
            crossing.step(1);
            assert_eq!(crossing.is_let_in(comes), is_let_in, "{direction} {x} {y}");
            let refused = crossing.refused(comes);
            assert_eq!(refused == Refusal::OffLanes, !is_let_in, "{refused:?}");
            // When the vehicle is removed, the connections are free again.
            crossing.agents.remove(stray);
            crossing.step(2);
            assert!(crossing.is_let_in(comes), "{direction} {x} {y}");
        }
    }
}
