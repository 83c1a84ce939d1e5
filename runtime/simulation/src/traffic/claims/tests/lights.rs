//! Tests of junctions with signals.

use super::*;
use crate::records::Refusal;
use roadwright_scenario::{Connection, JunctionIndex, LaneletIndex};

#[test]
fn signals_are_obeyed_and_a_red_light_takes_the_grant_back() {
    let mut crossing = ruled(Control::Signals);
    // The first stage begins at 0 s. The green of the other street begins after half a cycle.
    let east = crossing.comes(1, DVec2::X, 20.0, 5.0);
    let north = crossing.comes(2, DVec2::Y, 20.0, 5.0);
    crossing.step(0);
    let (goes, stands) = if crossing.is_let_in(east) {
        (east, north)
    } else {
        (north, east)
    };
    assert!(crossing.is_let_in(goes) && crossing.refused(stands) == Refusal::Red);
    // Half a cycle later, the other street has green. A vehicle that has not entered gives back its
    // grant.
    crossing.wait_until(350);
    crossing.step(350);
    assert!(crossing.is_let_in(stands) && !crossing.is_let_in(goes));
    // A vehicle that can no longer stop at amber drives on. This one is 10 m before the line, at 12
    // m/s.
    let mut junctions = JunctionIndex::up_to(crossing.ground.junction_count());
    let signals = junctions.find_map(|j| crossing.ground.signals(j));
    let green = signals.unwrap().1.programme.stages[0].green;
    for (speed, passes) in [(12.0, true), (5.0, false)] {
        let mut crossing = ruled(Control::Signals);
        let direction = if goes == east { DVec2::X } else { DVec2::Y };
        let agent = crossing.comes(1, direction, 10.0 + 3.6, speed);
        let step = ((green - 0.2) * 10.0) as u64;
        crossing.wait_until(step);
        crossing.step(step);
        assert!(crossing.is_let_in(agent));
        crossing.wait_until(step + 4);
        crossing.step(step + 4);
        assert_eq!(crossing.is_let_in(agent), passes, "{speed} m/s");
    }
}

#[test]
fn flashing_signals_leave_the_rule_to_the_signs() {
    let rules = JunctionRules {
        control: Some(Control::Signals),
        major: vec![RoadId(1), RoadId(3)],
        plan: Some(SignalPlan {
            mode: SignalMode::Flashing,
            ..SignalPlan::default()
        }),
        ..JunctionRules::default()
    };
    let mut crossing = Stand::crossing_of(&rules);
    let minor = crossing.comes(1, DVec2::Y, 3.0, 0.0);
    for step in 1..400u64 {
        let major = crossing.comes(100 + step, DVec2::X, 14.0, 8.0);
        crossing.step(step);
        assert!(
            crossing.is_let_in(major) && !crossing.is_let_in(minor),
            "{step}"
        );
        crossing.agents.remove(major);
    }
}

#[test]
fn there_is_a_signal_between_two_junctions_only_where_a_car_can_wait() {
    let rules = JunctionRules {
        control: Some(Control::Signals),
        ..JunctionRules::default()
    };
    let mut seen = [0, 0];
    for apart in (36..=60).map(|halves| 0.5 * f64::from(halves)) {
        let (mut stand, lanelets) = two_crossings_of(apart, &rules);
        let paths =
            [lanelets[1], lanelets[3]].map(|lanelet| stand.ground.contested(lanelet).unwrap());
        let is_green = |stand: &Stand| {
            let light = |path| stand.signals.light(&stand.ground, path);
            paths.iter().all(|&path| light(path) == Light::Green)
        };
        let green = (1..1000).find(|&step| {
            stand.wait_until(step);
            is_green(&stand)
        });
        let comes = stand.car(1, &lanelets, stand.ground.length(lanelets[0]) - 8.0, 4.0);
        stand.step(green.unwrap() + 1);
        let needs_both = granted_to(&stand, comes) == 4;
        let heads = stand.ground.signal_heads(false, |_| Light::Green);
        let has_signal = heads.filter(|head| head.road == RoadId(2)).count() > 0;
        assert_eq!(needs_both, !has_signal, "{apart} m apart");
        seen[usize::from(has_signal)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 3), "{seen:?}");
}

/// Creates a narrow street that bends by 17 degrees and crosses another street at signals `apart` metres
/// after the bend. Also returns the route along the street, and the connection through the crossing. `None`
/// if two cars can pass each other in the bend.
fn bend_before_signals(
    apart: f64,
    mode: SignalMode,
) -> Option<(Stand, Vec<LaneletIndex>, Connection)> {
    let y = 0.3 * apart;
    let roads = [
        ((-100.0, 0.0), (0.0, 0.0), 1, 1),
        ((0.0, 0.0), (apart, y), 1, 1),
        ((apart, y), (apart + 100.0, y + 30.0), 1, 1),
        ((apart + 30.0, y - 100.0), (apart, y), 1, 1),
        ((apart, y), (apart - 30.0, y + 100.0), 1, 1),
    ];
    let rules = JunctionRules {
        control: Some(Control::Signals),
        plan: Some(SignalPlan {
            mode,
            ..SignalPlan::default()
        }),
        ..JunctionRules::default()
    };
    let stand = Stand::with_lanes(2.4, &roads, &rules);
    let lanelets = straight_on(&stand, 1);
    let contested = lanelets.iter().filter_map(|&id| stand.ground.contested(id));
    let contested: Vec<Connection> = contested.collect();
    let [bend, crossing] = contested[..] else {
        return None;
    };
    assert!(stand.ground.is_ruled(crossing.junction) && !stand.ground.is_ruled(bend.junction));
    Some((stand, lanelets, crossing))
}

#[test]
fn signals_behind_a_narrow_bend_hold_before_it() {
    let mut seen = 0;
    for apart in (8..=20).map(f64::from) {
        let Some((mut stand, lanelets, crossing)) = bend_before_signals(apart, SignalMode::Fixed)
        else {
            continue;
        };
        let mut asks_at = |wanted| {
            let step = (1..1000).find(|&step| {
                stand.wait_until(step);
                stand.signals.light(&stand.ground, crossing) == wanted
            });
            let comes = stand.car(1, &lanelets, stand.ground.length(lanelets[0]) - 8.0, 4.0);
            stand.step(step.unwrap() + 1);
            let answer = (granted_to(&stand, comes), stand.refused(comes));
            stand.agents.remove(comes);
            answer
        };
        // If the vehicle fits between the bend and the signals, it requests only the bend.
        if asks_at(Light::Green) == (4, Refusal::None) {
            seen += 1;
            assert_eq!(asks_at(Light::Red), (0, Refusal::Red), "{apart} m");
            // A vehicle that has been let in but has not reached the bend stops before the bend
            // when the green ends.
            let green = (1..1000).find(|&step| {
                stand.wait_until(step);
                stand.signals.light(&stand.ground, crossing) == Light::Green
            });
            let comes = stand.car(1, &lanelets, stand.ground.length(lanelets[0]) - 8.0, 0.0);
            stand.step(green.unwrap() + 1);
            assert_eq!(granted_to(&stand, comes), 4);
            let ended = (green.unwrap() + 2..2000).any(|step| {
                stand.step(step);
                stand.signals.light(&stand.ground, crossing).is_red()
            });
            stand.step(2001);
            assert!(ended, "{apart} m");
            // It holds no grants from the bend on. The bend is the second lanelet of its route.
            assert_eq!(granted_to(&stand, comes), 1, "{apart} m");
            stand.agents.remove(comes);
        }
    }
    assert!(seen > 3);
}

#[test]
fn who_waits_before_a_narrow_bend_is_seen_by_the_signals_behind_it() {
    for apart in (8..=20).map(f64::from) {
        let Some((mut stand, lanelets, crossing)) =
            bend_before_signals(apart, SignalMode::Actuated)
        else {
            continue;
        };
        // A vehicle on the other street turns the signal of this street red, and is then removed.
        let across = straight_on(&stand, 4);
        let other = stand.car(1, &across, stand.ground.length(across[0]) - 3.0, 0.0);
        let is_red = |stand: &Stand| stand.signals.light(&stand.ground, crossing).is_red();
        let mut steps = 1..2000;
        let turned = steps.by_ref().any(|step| {
            stand.step(step);
            is_red(&stand) && stand.is_let_in(other)
        });
        assert!(turned, "{apart} m");
        stand.agents.remove(other);
        let comes = stand.car(2, &lanelets, stand.ground.length(lanelets[0]) - 8.0, 0.0);
        let is_let_in = steps.any(|step| {
            stand.step(step);
            granted_to(&stand, comes) > 0
        });
        assert!(is_let_in, "{apart} m");
    }
}

#[test]
fn who_stands_behind_one_without_room_keeps_no_green() {
    for is_full in [true, false] {
        let mut crossing = ruled(Control::Signals);
        let street = crossing.street_with_green();
        if is_full {
            crossing.fill_exit(street);
        }
        let head = crossing.comes(1, street, 4.0, 0.0);
        let follower = crossing.comes(2, street, 11.0, 0.0);
        crossing.step(1);
        assert_eq!(crossing.refused(head) == Refusal::NoRoom, is_full);
        assert_eq!(crossing.refused(follower) == Refusal::NotFirst, is_full);
        let arrivals = crossing.claims.arrivals().unwrap();
        assert!(arrivals.len() >= 2);
        let mut keep = arrivals.iter().map(|arrival| arrival.has_room);
        assert!(keep.all(|keeps| keeps != is_full), "full: {is_full}");
    }
}

#[test]
fn who_brakes_for_amber_goes_on_braking() {
    // At 12 m/s, a vehicle stops within 24 m at 3 m/s^2 and within 16 m at 4.5 m/s^2. In between, a vehicle
    // that has been let in continues. A vehicle that has not been let in is already braking, and stops.
    let goes = |distance: f64, has_turn: bool| {
        let mut crossing = ruled(Control::Signals);
        let mut junctions = JunctionIndex::up_to(crossing.ground.junction_count());
        let signals = junctions.find_map(|junction| crossing.ground.signals(junction));
        let green = signals.unwrap().1.programme.stages[0].green;
        let street = crossing.street_with_green();
        let before_amber = ((green - 0.2) * 10.0) as u64;
        crossing.wait_until(before_amber);
        let comes = |crossing: &mut Stand| crossing.comes(1, street, distance + 3.6, 12.0);
        let early = has_turn.then(|| comes(&mut crossing));
        crossing.step(before_amber);
        crossing.wait_until(before_amber + 4);
        let agent = early.unwrap_or_else(|| comes(&mut crossing));
        crossing.step(before_amber + 4);
        crossing.is_let_in(agent)
    };
    for (distance, with_turn, without) in [
        (26.0, false, false),
        (20.0, true, false),
        (14.0, true, true),
    ] {
        assert_eq!(goes(distance, true), with_turn, "{distance} m");
        assert_eq!(goes(distance, false), without, "{distance} m");
    }
}

#[test]
fn detectors_look_from_where_vehicles_stop() {
    let mut crossing = Stand::crossing_of(&JunctionRules {
        control: Some(Control::Signals),
        ..JunctionRules::default()
    });
    // It would first cross the street that has green, so it is not let in.
    let car = crossing.comes(1, DVec2::Y, 14.0, 0.0);
    let mut distance = |sets_lines_back| {
        crossing.types.sets_lines_back = sets_lines_back;
        crossing.step(1);
        let Some([arrival]) = crossing.claims.arrivals() else {
            panic!("one vehicle approaches: {:?}", crossing.claims.arrivals());
        };
        assert!(!crossing.is_let_in(car));
        let Connection {
            junction,
            number: path,
        } = arrival.path;
        (
            arrival.distance,
            crossing.ground.setback(junction, path, true),
        )
    };
    let (to_cut, setback) = distance(false);
    let (to_line, _) = distance(true);
    assert!(setback > 1.0, "buses swing over the lane: {setback}");
    assert!(
        (to_cut - setback - to_line).abs() < 1e-9,
        "{to_cut} {to_line}"
    );
}
