//! Junctions with cars put at them by hand.

use super::scene::EXIT_GAP;
use crate::agents::Refusal;
use crate::clock::Clock;
use crate::modules::SignalControllers;
use crate::route::place_to_wait;
use crate::testing::Stand;
use crate::traffic::Lanes;
use roadwright_geometry::{DVec2, Pose};
use roadwright_scenario::junction::Light;
use roadwright_scenario::lane_graph::{LaneletId, NO_LANELET};
use roadwright_scenario::{Control, JunctionRules, RoadId, SignalMode, SignalPlan};

impl Stand {
    /// A car so far before the junction, m, that drives straight on.
    fn comes(&mut self, id: u64, direction: DVec2, before: f64, speed: f64) -> u32 {
        let lanelets = self.straight(direction);
        let s = self.ground.length(lanelets[0]) - before;
        self.car(id, &lanelets, s, speed)
    }

    /// Lets junctions decide, if it is time.
    fn decide(&mut self, clock: &Clock) {
        self.look();
        self.claims.update(
            clock,
            (&self.ground, &self.types),
            &self.routes,
            (&self.index, &self.signals),
            (&mut self.agents, &mut self.people),
        );
    }

    /// A step in which junctions decide, on the beat or not.
    fn step(&mut self, step: u64) {
        let clock = crate::testing::clock(step);
        self.claims.is_overdue = true;
        self.decide(&clock);
        let modules = (&mut SignalControllers::default(), &[][..]);
        let arrivals = self.claims.arrivals();
        self.signals.update(&clock, &self.ground, arrivals, modules);
    }

    /// Lets the signals go on to a step, without anybody.
    fn wait_until(&mut self, step: u64) {
        let clock = crate::testing::clock(step - 1);
        let modules = (&mut SignalControllers::default(), &[][..]);
        self.signals
            .update(&clock, &self.ground, Some(&[]), modules);
    }

    fn is_let_in(&self, agent: u32) -> bool {
        self.agents.claim[agent as usize].granted_to == 2
    }

    /// Moves a car so far beyond the start of its last lanelet.
    fn drive_out(&mut self, agent: u32, beyond: f64) {
        let index = agent as usize;
        let route = self.routes.get(self.agents.progress[index].route);
        self.agents.position[index].lanelet = route.lanelets[2];
        self.agents.position[index].s = beyond;
        self.agents.progress[index].at = 2;
    }

    /// Cars stand on the exit, one behind the other, up to the junction; their ids begin with 100.
    fn fill_exit(&mut self, direction: DVec2) {
        let exit = self.straight(direction)[2];
        let length = self.ground.length(exit);
        let space = self.types.get(0).length + EXIT_GAP;
        let count = (length / space) as u64;
        for number in 0..count {
            let standing = self.comes(100 + number, direction, 1.0, 0.0);
            self.drive_out(standing, length - space * (number as f64 + 0.5));
        }
    }

    /// The direction of the street that has green.
    fn street_with_green(&self) -> DVec2 {
        let has_green = |direction: &DVec2| {
            let connection = self.straight(*direction)[1];
            let path = self.ground.contested(connection).unwrap();
            self.signals.light(&self.ground, path) == Light::Green
        };
        [DVec2::X, DVec2::Y].into_iter().find(has_green).unwrap()
    }

    /// Where a car has to wait inside, m along its connection.
    fn wall(&self, agent: u32) -> Option<f32> {
        let claim = &self.agents.claim[agent as usize];
        (claim.wall_at > 0).then_some(claim.wall_s)
    }

    fn refused(&self, agent: u32) -> Refusal {
        self.agents.claim[agent as usize].refused
    }

    /// Moves a car along its connection, its rear axle so far from its start, m.
    fn drive_in(&mut self, agent: u32, s: f64) {
        let index = agent as usize;
        let route = self.routes.get(self.agents.progress[index].route);
        self.agents.position[index].lanelet = route.lanelets[1];
        self.agents.position[index].s = s;
        self.agents.progress[index].at = 1;
    }

    /// Puts a car off the lanes, with its rear axle at a pose.
    fn put_off_lanes(&mut self, agent: u32, pose: Pose) {
        let index = agent as usize;
        self.agents.position[index].lanelet = NO_LANELET;
        self.agents.motion[index].pose = pose;
    }
}

fn ruled(control: Control) -> Stand {
    Stand::crossing_of(&JunctionRules {
        control: Some(control),
        ..JunctionRules::default()
    })
}

#[test]
fn who_comes_first_passes_first_and_the_other_waits_inside_or_out() {
    let mut crossing = ruled(Control::Zipper);
    let first = crossing.comes(7, DVec2::X, 5.0, 4.0);
    crossing.step(1);
    // The smaller id does not help who asks later, and the first needs far more than a second.
    let second = crossing.comes(3, DVec2::Y, 5.0, 4.0);
    crossing.step(2);
    assert!(crossing.is_let_in(first) && !crossing.is_let_in(second));
    assert_eq!(crossing.refused(second), Refusal::Occupied);
    // The first is about to leave the place where they meet: the second may come, and waits for it.
    crossing.drive_in(first, 8.0);
    crossing.step(3);
    let place = crossing.wall(second);
    assert!(
        crossing.is_let_in(second) && place.is_some_and(|s| s > 0.0),
        "{place:?}"
    );
    assert_eq!(crossing.wall(first), None, "who was first waits for nobody");
    // As soon as the first one's rear has left the place, nobody waits.
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
    // New junctions decide at once, whatever the step.
    assert!(step(&mut crossing, 3));
    let let_in = [first, second].map(|agent| crossing.is_let_in(agent));
    assert_eq!(let_in, [false, true]);
    // Who is let in has left the road: his index will be somebody else's before the next decision.
    let (junction, _) = crossing
        .claims
        .held()
        .map(|held| (held.junction, held.path))
        .next()
        .unwrap();
    assert!(crossing.claims.has(second, junction, 1));
    crossing.agents.remove(second);
    assert!(!step(&mut crossing, 4));
    assert!(!crossing.claims.has(second, junction, 1));
    // The other one gets in when junctions decide again: a fifth of a second after step 0.
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
        // From the south, which is on the right of who comes from the west.
        let from_south = crossing.comes(b, DVec2::Y, 5.0, 4.0);
        crossing.step(1);
        assert!(crossing.is_let_in(from_south) && !crossing.is_let_in(from_west));
        assert_eq!(crossing.refused(from_west), Refusal::GivesWay);
    }
}

#[test]
fn who_has_a_yield_sign_waits_for_a_gap() {
    // The street from west to east goes first: roads 1 and 2, cut by the crossing into 1, 3 and 2, 4.
    let rules = |control| JunctionRules {
        control: Some(control),
        major: vec![RoadId(1), RoadId(3)],
        ..JunctionRules::default()
    };
    let mut crossing = Stand::crossing_of(&rules(Control::Priority));
    let minor = crossing.comes(1, DVec2::Y, 3.0, 0.0);
    let major = crossing.comes(2, DVec2::X, 60.0, 13.0);
    crossing.step(1);
    // 60 m at 13 m/s are less than the critical gap of 6.5 s.
    assert_eq!(crossing.refused(minor), Refusal::GivesWay);
    // Without anybody on the major road it goes at once.
    crossing.agents.remove(major);
    crossing.step(2);
    assert!(crossing.is_let_in(minor));
    // The major road waits for nobody who has not been let in.
    let mut crossing = Stand::crossing_of(&rules(Control::Priority));
    let minor = crossing.comes(1, DVec2::Y, 3.0, 4.0);
    let major = crossing.comes(2, DVec2::X, 12.0, 10.0);
    crossing.step(1);
    assert!(crossing.is_let_in(major) && !crossing.is_let_in(minor));
    // At a stop sign it has to stand first, even if nobody comes.
    let mut crossing = Stand::crossing_of(&rules(Control::Stop));
    let minor = crossing.comes(1, DVec2::Y, 6.0, 3.0);
    crossing.step(1);
    assert_eq!(crossing.refused(minor), Refusal::Stop);
    crossing.agents.motion[minor as usize].speed = 0.0;
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
        // Somebody always comes on the major road, and is gone in the next step.
        let major = crossing.comes(100 + step, DVec2::X, 14.0, 8.0);
        crossing.step(step);
        let_in += usize::from(crossing.is_let_in(major));
        crossing.agents.remove(major);
        if crossing.is_let_in(minor) {
            // 0.1 s a step.
            assert!((595..=605).contains(&step), "{step}");
            assert!(let_in > 500, "the others drove: {let_in}");
            return;
        }
    }
    panic!("it waits for ever");
}

#[test]
fn signals_are_obeyed_and_a_red_light_takes_the_grant_back() {
    let mut crossing = ruled(Control::Signals);
    // The first stage begins at 0 s; the green of the other street in its second half.
    let east = crossing.comes(1, DVec2::X, 20.0, 5.0);
    let north = crossing.comes(2, DVec2::Y, 20.0, 5.0);
    crossing.step(0);
    let (goes, stands) = if crossing.is_let_in(east) {
        (east, north)
    } else {
        (north, east)
    };
    assert!(crossing.is_let_in(goes) && crossing.refused(stands) == Refusal::Red);
    // Half a cycle later it is the other way round; who has not entered gives its grant back.
    crossing.wait_until(350);
    crossing.step(350);
    assert!(crossing.is_let_in(stands) && !crossing.is_let_in(goes));
    // Who cannot stop for amber any more goes on: at 12 m/s 10 m before the line.
    let mut junctions = 0..crossing.ground.junction_count() as u32;
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
fn who_has_the_right_of_way_and_no_room_is_not_waited_for() {
    let rules = JunctionRules {
        control: Some(Control::Priority),
        major: vec![RoadId(1), RoadId(3)],
        ..JunctionRules::default()
    };
    let mut crossing = Stand::crossing_of(&rules);
    // The exit of the major road is full, and somebody stands before the junction because of that.
    let exit = crossing.straight(DVec2::X)[2];
    let length = crossing.ground.length(exit);
    let space = crossing.types.get(0).length + EXIT_GAP;
    for number in 0..(length / space) as u64 {
        let standing = crossing.comes(100 + number, DVec2::X, 1.0, 0.0);
        crossing.drive_out(standing, length - space * (number as f64 + 0.5));
    }
    let minor = crossing.comes(1, DVec2::Y, 4.0, 0.0);
    crossing.step(1);
    crossing.agents.claim[minor as usize].granted_to = 0;
    crossing.claims.forget(minor);
    let major = crossing.comes(2, DVec2::X, 4.0, 0.0);
    crossing.step(2);
    crossing.step(3);
    assert_eq!(crossing.refused(major), Refusal::NoRoom);
    assert!(crossing.is_let_in(minor), "{:?}", crossing.refused(minor));
}

#[test]
fn who_cuts_in_before_a_holder_takes_its_turn() {
    let mut crossing = Stand::crossing();
    let holder = crossing.comes(1, DVec2::X, 25.0, 8.0);
    crossing.step(1);
    assert!(crossing.is_let_in(holder));
    // Another one that has not been let in now stands before it, and cannot enter either: a third
    // comes from the right.
    let third = crossing.comes(3, DVec2::Y, 4.0, 4.0);
    let cutter = crossing.comes(2, DVec2::X, 6.0, 3.0);
    crossing.step(2);
    assert!(
        !crossing.is_let_in(holder),
        "it asks again, behind the other"
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
    // A crossing car holds the junction; of two in a row on the approach neither gets in.
    let crosser = crossing.comes(2, DVec2::Y, 13.0, 1.0);
    crossing.step(2);
    let leader = crossing.comes(3, DVec2::X, 4.0, 0.0);
    let follower = crossing.comes(4, DVec2::X, 12.0, 8.0);
    crossing.step(3);
    assert!(crossing.is_let_in(crosser));
    assert!(!crossing.is_let_in(leader) && !crossing.is_let_in(follower));
    assert_eq!(crossing.refused(follower), Refusal::NotFirst);
    // Then both at once: a car that is let in does not hold up those behind it.
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
    // Its trip ends before the junction: it needs nothing there, and stands behind one that does.
    crossing.car(4, &[approach], length - 12.0, 0.0);
    let behind = crossing.comes(5, DVec2::X, 19.0, 4.0);
    crossing.step(2);
    assert!(!crossing.is_let_in(waits) && !crossing.is_let_in(behind));
    assert_eq!(crossing.refused(behind), Refusal::NotFirst);
    // Alone it keeps nobody from it.
    let mut crossing = Stand::crossing();
    crossing.car(4, &[approach], length - 12.0, 0.0);
    let behind = crossing.comes(5, DVec2::X, 19.0, 4.0);
    crossing.step(1);
    assert!(crossing.is_let_in(behind));
}

#[test]
fn a_full_exit_keeps_everybody_out() {
    let mut crossing = Stand::crossing();
    crossing.fill_exit(DVec2::X);
    let agent = crossing.comes(1, DVec2::X, 5.0, 4.0);
    crossing.step(1);
    assert!(!crossing.is_let_in(agent));
    // As soon as the foremost one has gone on, there is room.
    let first = crossing.agents.find(100).unwrap();
    crossing.agents.remove(first);
    crossing.step(2);
    assert!(crossing.is_let_in(agent));
}

/// Roads in line: up to a crossing, so many metres beyond its middle, and on; and the lanelets along them.
fn cut_beyond_crossing(apart: f64) -> (Stand, Vec<LaneletId>) {
    let stand = Stand::on(&[
        ((-100.0, 0.0), (0.0, 0.0), 1, 1),
        ((0.0, 0.0), (apart, 0.0), 1, 1),
        ((apart, 0.0), (apart + 100.0, 0.0), 1, 1),
        ((0.0, -100.0), (0.0, 100.0), 1, 1),
    ]);
    let way = straight_on(&stand, 1);
    (stand, way)
}

#[test]
fn where_a_street_is_cut_beyond_a_junction_its_next_piece_is_room_as_well() {
    for (apart, room_for) in [(15.0, 3), (15.0, 2), (15.0, 1), (15.0, 0), (40.0, 3)] {
        let (mut stand, way) = cut_beyond_crossing(apart);
        let (first, last) = (way[2], way[way.len() - 1]);
        let space = stand.types.get(0).whole_length + EXIT_GAP;
        let is_short = stand.ground.length(first) < 2.0 * space;
        assert_eq!(is_short, apart < 20.0);
        let lengths = way[2..].iter().map(|&lane| stand.ground.length(lane));
        let places = (lengths.sum::<f64>() / space) as u32;
        let (end, standing) = (stand.ground.length(last), places - room_for);
        // Those behind them do not find a place on the next piece, and stand on the first one.
        for number in (0..standing).filter(|_| is_short) {
            let s = end - space * (f64::from(number) + 0.9);
            let (lane, s) = match s > 0.0 {
                true => (last, s),
                false => (first, stand.ground.length(first) + s),
            };
            stand.car(10 + u64::from(number), &[lane], s, 0.0);
        }
        let line = stand.ground.length(way[0]);
        let cars = [0u8, 1, 2].map(|number| {
            let s = line - 5.0 - 8.0 * f64::from(number);
            stand.car(1 + u64::from(number), &way, s, 5.0)
        });
        stand.step(1);
        let is_inside = |&car: &u32| stand.agents.claim[car as usize].granted_to > 0;
        let let_in = cars.into_iter().filter(is_inside).count();
        assert_eq!(let_in, room_for as usize, "{apart} m, {standing} stand");
    }
}

#[test]
fn nobody_appears_where_those_come_on_who_were_let_in_before_a_short_piece() {
    let (mut stand, way) = cut_beyond_crossing(15.0);
    let last = way[way.len() - 1];
    let length = stand.ground.length(last);
    let space = stand.types.get(0).whole_length + EXIT_GAP;
    let standing = (length / space) as u32;
    let appears = |stand: &Stand| {
        let lanes = Lanes {
            ground: &stand.ground,
            types: &stand.types,
            index: &stand.index,
            agents: &stand.agents,
        };
        stand
            .claims
            .may_appear(lanes, last, std::iter::empty(), space)
    };
    for number in 0..standing - 1 {
        let s = length - space * (f64::from(number) + 0.9);
        stand.car(10 + u64::from(number), &[last], s, 0.0);
    }
    stand.look();
    assert!(appears(&stand));
    let line = stand.ground.length(way[0]);
    for number in 0..2u8 {
        let s = line - 5.0 - 8.0 * f64::from(number);
        stand.car(1 + u64::from(number), &way, s, 5.0);
    }
    stand.step(1);
    assert!(
        !appears(&stand),
        "both have been promised a place, and one fits before"
    );
}

/// Two lanes between two junctions: the way onto the right one, and the one beside it.
fn two_lanes_between_crossings() -> (Stand, [LaneletId; 3], LaneletId) {
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
    let mut ways = graph.successors(approach).iter();
    let way = ways.find(|&&way| graph.successors(way).contains(&exit));
    let way = [approach, *way.unwrap(), exit];
    (stand, way, beside)
}

#[test]
fn room_beyond_ends_where_those_wait_who_have_to_change_lanes() {
    for changes in [false, true] {
        let (mut stand, way, beside) = two_lanes_between_crossings();
        let [approach, _, exit] = way;
        let length = stand.ground.length(exit);
        let space = stand.types.get(0).whole_length + EXIT_GAP;
        // As many as leave room for one, if the first one drives up to the end.
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
        let own = stand.car(1, &way, stand.ground.length(approach) - 8.0, 0.0);
        stand.step(1);
        assert_eq!(stand.refused(own) == Refusal::NoRoom, changes);
    }
}

#[test]
fn room_beyond_is_kept_for_who_has_to_change_to_it_at_the_end_of_its_lane() {
    // (seeking for, s, before the end of its lane, m, whether it wants over, whether who comes is let in)
    let cases = [
        (12.0, 4.0, true, false),
        // Others who count on the room keep it where it is.
        (-12.0, 4.0, true, false),
        (4.0, 4.0, true, true),
        (12.0, 20.0, true, true),
        (12.0, 4.0, false, true),
    ];
    for (seeking, before, wants_over, comes) in cases {
        let (mut stand, way, beside) = two_lanes_between_crossings();
        let [approach, _, exit] = way;
        let length = stand.ground.length(exit);
        // As many as leave room for one.
        let space = stand.types.get(0).whole_length + EXIT_GAP;
        let spaces = (length / space) as u32 - 1;
        let to = if wants_over { exit } else { beside };
        let own = stand.car(1, &way, stand.ground.length(approach) - 8.0, 0.0);
        let seeker = stand.car(2, &[beside, to], length - before, 0.0);
        stand.agents.progress[seeker as usize].seeking = seeking;
        stand.agents.progress[seeker as usize].standing = 20.0;
        for number in 0..spaces {
            let s = length - space * (f64::from(number) + 0.9);
            stand.car(10 + u64::from(number), &[exit], s, 0.0);
        }
        stand.step(1);
        assert_eq!(
            stand.refused(own) != Refusal::NoRoom,
            comes,
            "seeks for {seeking} s at {before} m, wants over: {wants_over}"
        );
    }
}

/// It stood there for ever: who is ahead on the lane that it leaves waits for whoever has been let in.
#[test]
fn who_stands_between_two_lanes_behind_another_one_is_not_let_in() {
    for standing in [0.0, 10.0] {
        let (mut stand, way, _) = two_lanes_between_crossings();
        let approach = way[0];
        let old_lane = stand.ground.graph().lanelet(approach).left;
        let length = stand.ground.length(approach);
        let own = stand.car(1, &way, length - 12.0, 0.0);
        stand.agents.position[own as usize].leaving = old_lane;
        let ahead = stand.car(2, &[old_lane], length - 5.0, 0.0);
        stand.agents.progress[ahead as usize].standing = standing;
        stand.step(1);
        let is_let_in = stand.refused(own) == Refusal::None;
        assert_eq!(is_let_in, standing == 0.0, "{:?}", stand.refused(own));
    }
}

/// Straight on from the west one meets nobody, so nobody asks; to the left one crosses who comes from the east.
#[test]
fn who_turns_off_behind_a_queue_straight_on_is_not_let_in() {
    let roads = [
        ((-100.0, 0.0), (0.0, 0.0), 1, 1),
        ((0.0, 0.0), (100.0, 0.0), 1, 1),
        ((0.0, 0.0), (0.0, 100.0), 1, 0),
    ];
    // How long the last one of the queue has stood, s, and where, m along its way.
    let cases = [(10.0, 1.5, false), (0.0, 1.5, true), (10.0, 9.0, true)];
    for (standing, s, comes) in cases {
        let mut stand = Stand::on(&roads);
        let [approach, straight, beyond] = stand.straight(DVec2::X);
        let graph = stand.ground.graph();
        let mut others = graph.successors(approach).iter();
        let left = *others.find(|&&way| way != straight).unwrap();
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
        stand.agents.progress[last as usize].standing = standing;
        stand.step(1);
        assert_eq!(stand.is_let_in(own), comes, "{standing} s, {s} m");
    }
}

/// A street that crosses two others which are so far apart, m, and the lanelets along it to the east.
fn two_crossings(apart: f64) -> (Stand, [LaneletId; 5]) {
    two_crossings_of(apart, &JunctionRules::default())
}

/// The same with junctions that have rules.
fn two_crossings_of(apart: f64, rules: &JunctionRules) -> (Stand, [LaneletId; 5]) {
    let roads = [
        ((-100.0, 0.0), (0.0, 0.0), 1, 1),
        ((0.0, 0.0), (apart, 0.0), 1, 1),
        ((apart, 0.0), (apart + 100.0, 0.0), 1, 1),
        ((0.0, -100.0), (0.0, 100.0), 1, 1),
        ((apart, -100.0), (apart, 100.0), 1, 1),
    ];
    let stand = Stand::ruled(&roads, rules);
    let graph = stand.ground.graph();
    let lane = |road: u32| {
        let mut lanes = graph.lanes_of(RoadId(road));
        let heads_east = |id: &LaneletId| graph.line(*id).heading(0.0).abs() < 0.1;
        let all = lanes.find_map(|(_, pieces)| pieces.iter().copied().find(heads_east));
        all.unwrap()
    };
    let (approach, between, exit) = (lane(1), lane(2), lane(3));
    let across = |from, to| {
        let mut ways = graph.successors(from).iter().copied();
        let way = ways.find(|&way| graph.successors(way).contains(&to));
        way.unwrap()
    };
    let ways = [across(approach, between), across(between, exit)];
    (stand, [approach, ways[0], between, ways[1], exit])
}

fn granted_to(stand: &Stand, agent: u32) -> u32 {
    stand.agents.claim[agent as usize].granted_to
}

#[test]
fn who_drives_on_at_once_leaves_the_lane_between_two_junctions_to_the_next() {
    // The first one goes all the way, or only on to the lane in between.
    for (goes_to, lets_in) in [(5, true), (3, false)] {
        let (mut stand, way) = two_crossings(20.0);
        let (length, room) = (
            stand.ground.length(way[2]),
            stand.types.get(0).whole_length + EXIT_GAP,
        );
        assert!(length < room, "a car fits in between: {length} m");
        let s = stand.ground.length(way[0]) - 8.0;
        let first = stand.car(1, &way[..goes_to], s, 4.0);
        let second = stand.car(2, &way, s - 8.0, 4.0);
        stand.step(1);
        assert_eq!(
            granted_to(&stand, first),
            goes_to as u32 - 1,
            "nobody is before it"
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
        let (mut stand, way) = two_crossings(24.0);
        let (length, room) = (
            stand.ground.length(way[2]),
            stand.types.get(0).whole_length + EXIT_GAP,
        );
        assert!(
            (room..2.0 * room).contains(&length),
            "one car fits in between: {length} m"
        );
        let (next, _) = stand.ground.contested(way[3]).unwrap();
        // The first one stands at the line of the second junction, and the other one comes to the first.
        let front = stand.types.get(0).front;
        let first = stand.car(1, &way[2..], length - front - 0.5, 0.0);
        let second = stand.car(2, &way, stand.ground.length(way[0]) - 8.0, 4.0);
        if is_closed {
            stand.claims.close(vec![next]);
        }
        stand.step(1);
        assert_eq!(granted_to(&stand, first), if is_closed { 0 } else { 2 });
        assert_eq!(granted_to(&stand, second), if is_closed { 0 } else { 2 });
        if is_closed {
            assert_eq!(stand.refused(second), Refusal::NoRoom);
            continue;
        }
        // The junction is to be changed: the first one keeps its turn while the other one counts on it.
        stand.claims.close(vec![next]);
        stand.step(2);
        assert_eq!(granted_to(&stand, first), 2);
        stand.agents.remove(second);
        stand.step(3);
        assert_eq!(granted_to(&stand, first), 1, "its turn is taken back");
    }
}

#[test]
fn who_stands_behind_one_that_stays_leaves_its_place_to_nobody() {
    for stays in [false, true] {
        let (mut stand, way) = two_crossings(32.0);
        let (length, kind) = (stand.ground.length(way[2]), *stand.types.get(0));
        let room = kind.whole_length + EXIT_GAP;
        assert!(
            (2.0 * room..3.0 * room).contains(&length),
            "two cars fit in between: {length} m"
        );
        // One at the end of the lane that drives no farther, and one behind it that does.
        let s = length - kind.front - 0.5;
        if stays {
            stand.car(1, &way[2..3], s, 0.0);
        } else {
            stand.car(1, &way[2..], s, 0.0);
        }
        let behind = stand.car(2, &way[2..], s - room, 0.0);
        let comes = stand.car(3, &way, stand.ground.length(way[0]) - 8.0, 4.0);
        stand.step(1);
        assert_eq!(granted_to(&stand, behind), 2, "it has its turn");
        assert_eq!(stand.refused(comes) == Refusal::NoRoom, stays);
    }
}

#[test]
fn room_beyond_ends_at_the_stop_line() {
    for sets_lines_back in [false, true] {
        let (mut stand, way) = two_crossings(32.0);
        stand.types.sets_lines_back = sets_lines_back;
        let (length, kind) = (stand.ground.length(way[2]), *stand.types.get(0));
        let room = kind.whole_length + EXIT_GAP;
        let (next, path) = stand.ground.contested(way[3]).unwrap();
        let before_end = stand.ground.setback(next, path, sets_lines_back);
        assert_eq!(
            length - before_end >= 2.0 * room,
            !sets_lines_back,
            "of two cars one waits in the junction: {length} m, {before_end} m"
        );
        // One waits at the line of the second junction, which is closed, and another one comes.
        let s = length - before_end - kind.front - 0.5;
        let first = stand.car(1, &way[2..], s, 0.0);
        let second = stand.car(2, &way, stand.ground.length(way[0]) - 14.0, 4.0);
        stand.claims.close(vec![next]);
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
    let (mut stand, way) = two_crossings_of(24.0, &rules);
    let paths = [way[1], way[3]].map(|way| stand.ground.contested(way).unwrap());
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
    // So many steps before the green of the street ends.
    for (before_end, leaves_its_place) in [(100, true), (30, true), (20, false), (5, false)] {
        let (mut stand, _) = two_crossings_of(24.0, &rules);
        (1..=end - before_end).for_each(|step| stand.wait_until(step));
        assert!(shines_green(&stand));
        let front = stand.types.get(0).front;
        let s = stand.ground.length(way[2]) - front - 0.5;
        let first = stand.car(1, &way[2..], s, 0.0);
        let second = stand.car(2, &way, stand.ground.length(way[0]) - 8.0, 4.0);
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

#[test]
fn there_is_a_signal_between_two_junctions_only_where_a_car_can_wait() {
    let rules = JunctionRules {
        control: Some(Control::Signals),
        ..JunctionRules::default()
    };
    let mut seen = [0, 0];
    for apart in (36..=60).map(|halves| 0.5 * f64::from(halves)) {
        let (mut stand, way) = two_crossings_of(apart, &rules);
        let paths = [way[1], way[3]].map(|way| stand.ground.contested(way).unwrap());
        let is_green = |stand: &Stand| {
            let light = |path| stand.signals.light(&stand.ground, path);
            paths.iter().all(|&path| light(path) == Light::Green)
        };
        let green = (1..1000).find(|&step| {
            stand.wait_until(step);
            is_green(&stand)
        });
        let comes = stand.car(1, &way, stand.ground.length(way[0]) - 8.0, 4.0);
        stand.step(green.unwrap() + 1);
        let needs_both = granted_to(&stand, comes) == 4;
        let heads = stand.ground.signal_heads(false, |_| Light::Green);
        let has_signal = heads.filter(|head| head.road == RoadId(2)).count() > 0;
        assert_eq!(needs_both, !has_signal, "{apart} m apart");
        seen[usize::from(has_signal)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 3), "{seen:?}");
}

/// The lanelets from the only way in of a road straight on.
fn straight_on(stand: &Stand, road: u32) -> Vec<LaneletId> {
    let graph = stand.ground.graph();
    let lanes = graph.lanes_of(RoadId(road)).flat_map(|(_, pieces)| pieces);
    let mut ways = lanes
        .copied()
        .filter(|&id| graph.predecessors(id).is_empty());
    let mut way = vec![ways.next().unwrap()];
    let heading = graph.line(way[0]).heading(0.0);
    let is_straight = |to: &&LaneletId| {
        let line = graph.line(**to);
        (line.heading(line.length()) - heading).abs() < 0.5
    };
    while let Some(&next) = graph
        .successors(way[way.len() - 1])
        .iter()
        .find(is_straight)
    {
        way.push(next);
    }
    way
}

/// A narrow street that bends by 17 degrees so far, m, before it crosses another one with signals; the way
/// along it and the path of that across. Nothing where two cars fit past each other in the bend.
fn bend_before_signals(
    apart: f64,
    mode: SignalMode,
) -> Option<(Stand, Vec<LaneletId>, (u32, u32))> {
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
    let way = straight_on(&stand, 1);
    let contested = way.iter().filter_map(|&id| stand.ground.contested(id));
    let contested: Vec<(u32, u32)> = contested.collect();
    let [bend, crossing] = contested[..] else {
        return None;
    };
    assert!(stand.ground.is_ruled(crossing.0) && !stand.ground.is_ruled(bend.0));
    Some((stand, way, crossing))
}

#[test]
fn signals_behind_a_narrow_bend_hold_before_it() {
    let mut seen = 0;
    for apart in (8..=20).map(f64::from) {
        let Some((mut stand, way, crossing)) = bend_before_signals(apart, SignalMode::Fixed) else {
            continue;
        };
        let mut asks_at = |wanted| {
            let step = (1..1000).find(|&step| {
                stand.wait_until(step);
                stand.signals.light(&stand.ground, crossing) == wanted
            });
            let comes = stand.car(1, &way, stand.ground.length(way[0]) - 8.0, 4.0);
            stand.step(step.unwrap() + 1);
            let answer = (granted_to(&stand, comes), stand.refused(comes));
            stand.agents.remove(comes);
            answer
        };
        // Where it fits in between it asks for the bend alone.
        if asks_at(Light::Green) == (4, Refusal::None) {
            seen += 1;
            assert_eq!(asks_at(Light::Red), (0, Refusal::Red), "{apart} m");
            // Who was let in and has not come to the bend yet stays before it when the green ends.
            let green = (1..1000).find(|&step| {
                stand.wait_until(step);
                stand.signals.light(&stand.ground, crossing) == Light::Green
            });
            let comes = stand.car(1, &way, stand.ground.length(way[0]) - 8.0, 0.0);
            stand.step(green.unwrap() + 1);
            assert_eq!(granted_to(&stand, comes), 4);
            let ended = (green.unwrap() + 2..2000).any(|step| {
                stand.step(step);
                stand.signals.light(&stand.ground, crossing).is_red()
            });
            stand.step(2001);
            assert!(ended, "{apart} m");
            // Nothing from the bend on, which comes second in its route.
            assert_eq!(granted_to(&stand, comes), 1, "{apart} m");
            stand.agents.remove(comes);
        }
    }
    assert!(seen > 3);
}

#[test]
fn who_waits_before_a_narrow_bend_is_seen_by_the_signals_behind_it() {
    for apart in (8..=20).map(f64::from) {
        let Some((mut stand, way, crossing)) = bend_before_signals(apart, SignalMode::Actuated)
        else {
            continue;
        };
        // Somebody comes along the other street, so that this one is red, and is gone.
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
        let comes = stand.car(2, &way, stand.ground.length(way[0]) - 8.0, 0.0);
        let is_let_in = steps.any(|step| {
            stand.step(step);
            granted_to(&stand, comes) > 0
        });
        assert!(is_let_in, "{apart} m");
    }
}

#[test]
fn who_is_off_the_lanes_in_a_junction_holds_the_ways_that_it_touches() {
    // (rear axle of who has left the lanes, whether who comes from the west and from the south is let in)
    let cases = [
        ((4.5, -1.7, 0.0), [false, true]),
        ((0.0, 0.0, 0.8), [false, false]),
        // Before the line, and beside the way.
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
            // Nothing is left of it.
            crossing.agents.remove(stray);
            crossing.step(2);
            assert!(crossing.is_let_in(comes), "{direction} {x} {y}");
        }
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
    // At 12 m/s one stops within 24 m by 3 m/s^2, within 16 m by 4.5 m/s^2. In between, who comes with its turn
    // goes on, and who has none, and so brakes already, does not.
    let goes = |distance: f64, has_turn: bool| {
        let mut crossing = ruled(Control::Signals);
        let mut junctions = 0..crossing.ground.junction_count() as u32;
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
    // Across the street that has green first: it is not let in.
    let car = crossing.comes(1, DVec2::Y, 14.0, 0.0);
    let mut distance = |sets_lines_back| {
        crossing.types.sets_lines_back = sets_lines_back;
        crossing.step(1);
        let Some([arrival]) = crossing.claims.arrivals() else {
            panic!("one comes: {:?}", crossing.claims.arrivals());
        };
        assert!(!crossing.is_let_in(car));
        let (junction, path) = arrival.path;
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
