//! Junctions with cars put at them by hand.

use super::request::EXIT_GAP;
use crate::testing::Stand;
use roadwright_geometry::DVec2;

impl Stand {
    /// A car so far before the junction, m, that drives straight on.
    fn comes(&mut self, id: u64, direction: DVec2, before: f64, speed: f64) -> u32 {
        let lanelets = self.straight(direction);
        let s = self.ground.length(lanelets[0]) - before;
        self.car(id, &lanelets, s, speed)
    }

    fn step(&mut self, step: u64) {
        self.look();
        self.claims.update(
            step,
            &self.ground,
            &self.types,
            &self.routes,
            &self.index,
            &mut self.agents,
        );
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
}

#[test]
fn who_asks_first_goes_first_and_the_other_when_the_way_is_free() {
    let mut crossing = Stand::crossing();
    let first = crossing.comes(7, DVec2::X, 5.0, 4.0);
    crossing.step(1);
    let second = crossing.comes(3, DVec2::Y, 5.0, 4.0);
    crossing.step(2);
    // The smaller id does not help who asks later.
    assert!(crossing.is_let_in(first) && !crossing.is_let_in(second));
    // With its tail still inside, the first one keeps the other out.
    crossing.drive_out(first, 0.1);
    crossing.step(3);
    assert!(!crossing.is_let_in(second));
    crossing.drive_out(first, 6.0);
    crossing.step(4);
    assert!(crossing.is_let_in(second));
}

#[test]
fn of_two_in_one_step_the_smaller_id_goes_first() {
    for (a, b) in [(1, 2), (2, 1)] {
        let mut crossing = Stand::crossing();
        let east = crossing.comes(a, DVec2::X, 5.0, 4.0);
        let north = crossing.comes(b, DVec2::Y, 5.0, 4.0);
        crossing.step(1);
        assert_eq!(crossing.is_let_in(east), a < b);
        assert_eq!(crossing.is_let_in(north), b < a);
    }
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
    let crosser = crossing.comes(2, DVec2::Y, 2.0, 4.0);
    crossing.step(2);
    let leader = crossing.comes(3, DVec2::X, 4.0, 0.0);
    let follower = crossing.comes(4, DVec2::X, 12.0, 8.0);
    crossing.step(3);
    assert!(crossing.is_let_in(crosser));
    assert!(!crossing.is_let_in(leader) && !crossing.is_let_in(follower));
    // Then both at once: a car that is let in does not hold up those behind it.
    crossing.drive_out(crosser, 8.0);
    crossing.step(4);
    crossing.step(5);
    assert!(crossing.is_let_in(leader) && crossing.is_let_in(follower));
}

#[test]
fn a_full_exit_keeps_everybody_out() {
    let mut crossing = Stand::crossing();
    // Cars stand on the exit, one behind the other, up to the junction.
    let exit = crossing.straight(DVec2::X)[2];
    let length = crossing.ground.length(exit);
    let space = crossing.types.get(0).length + EXIT_GAP;
    let count = (length / space) as u64;
    for number in 0..count {
        let standing = crossing.comes(100 + number, DVec2::X, 1.0, 0.0);
        crossing.drive_out(standing, length - space * (number as f64 + 0.5));
    }
    let agent = crossing.comes(1, DVec2::X, 5.0, 4.0);
    crossing.step(1);
    assert!(!crossing.is_let_in(agent));
    // As soon as the foremost one has gone on, there is room.
    let first = crossing.agents.find(100).unwrap();
    crossing.agents.remove(first);
    crossing.step(2);
    assert!(crossing.is_let_in(agent));
}
