//! Lateral guidance: guides agents at an offset from the lane's centre line while their controllers
//! keep following the leader. Offsets are requested by behaviours, or result from tight places,
//! where cars in both directions have to move over in order to pass each other.
//!
//! A request is granted as long as the vehicle stays in its lane and clear of vehicles beside it.
//! The agent moves to the offset with a lateral acceleration and speed that passengers hardly
//! notice. The offset is reduced to zero in time before a junction, because conflicts there are
//! computed for the centre lines. Controllers see the offset line as if it were the centre line
//! (`perception/lane.rs`). Level `lane` follows it directly.

use crate::agents::{Column, ControlColumns};
use crate::perception::{Surroundings, View};
use crate::records::{AgentIndex, Aside};
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::DynamicsLevel;
use roadwright_scenario::lane_graph::NO_LANELET;

/// Lateral acceleration of the guidance, m/s^2. Passengers begin to hold on only at 2 m/s^2.
const COMFORT: f64 = 0.7;
/// Maximum lateral speed, m/s.
const FASTEST: f64 = 0.8;
/// Maximum lateral speed as a fraction of the vehicle's speed. A vehicle can move sideways only while it
/// rolls, and a larger angle would swing its tail out.
const STEEPEST: f64 = 0.1;
/// Speed below which a character takes side steps, m/s.
const STEPS_BELOW: f64 = 0.3;
/// A character takes side steps if the angle to its path is at most this, rad.
const FACING: f64 = 0.4;
/// A character takes a side step only if the offset is at least this, m.
const WORTH_A_STEP: f64 = 0.12;
/// Lateral speed of side steps, m/s.
const SIDE_STEP: f64 = 0.4;
/// Clearance between a body and the edge of its lane, m.
const EDGE: f64 = 0.1;
/// Clearance between bodies beside each other, m.
const BESIDE: f64 = 0.3;
/// Bodies within this longitudinal distance count as side by side, m.
const ALONG: f64 = 3.0;
/// The lane is checked for space this time ahead, so that narrow places are detected in time, s.
const SIGHT: f64 = 2.0;
/// An agent has to be back on the centre line at this distance before a junction, m.
const BEFORE_JUNCTION: f64 = 5.0;
/// A car begins to move over when it is this time away from a tight place, s.
const TIGHT_TIME: f64 = 1.5;
/// A stationary car begins to move over at this distance before a tight place, m. For a moving car,
/// the distance that it covers in [`TIGHT_TIME`] is added.
const TIGHT_REACH: f64 = 2.0;
/// The wanted offset counts as reached if the agent is closer to it than this, m.
const THERE: f64 = 1e-4;
/// Fraction of the comfortable acceleration that is used for the approach to the wanted offset. The
/// reserve prevents overshooting, whatever the time step.
const PLANNED: f64 = 0.5;

/// Guides agents towards the lateral offsets that their behaviours want, over a step of `dt` seconds.
pub(crate) fn lead_aside(dt: f64, surroundings: Surroundings<'_>, agents: &mut ControlColumns<'_>) {
    // Both columns are mostly empty. The order of agents does not matter, because they only read
    // the positions of others and not their guidance.
    let alleys = surroundings.ground.alleys();
    let has_tight = !alleys.tight().is_empty();
    let has_walkers = agents.count_of(DynamicsLevel::Walker) > 0;
    let count = match has_tight || has_walkers {
        true => agents.capacity(),
        false => agents.wish.len().max(agents.aside.len()),
    };
    for index in 0..count.min(agents.capacity()) {
        let before = agents.aside[index];
        if has_walkers && agents.identity[index].level == DynamicsLevel::Walker {
            let agent = AgentIndex::from_index(index);
            let next = match agents.drives(agent) {
                true => surroundings.with(agents.lent()).side_step(agent),
                false => Aside::default(),
            };
            if next != before {
                agents.aside.put(index, next);
            }
            continue;
        }
        let is_idle = agents.wish[index].lane_offset == 0.0 && before == Aside::default();
        let is_free = || !has_tight || alleys.tight_on(agents.position[index].lanelet).is_empty();
        if is_idle && is_free() {
            continue;
        }
        let agent = AgentIndex::from_index(index);
        let next = match agents.drives(agent) {
            true => surroundings.with(agents.lent()).led_aside(agent, dt),
            false => Aside::default(),
        };
        agents.aside.put(index, next);
    }
}

impl View<'_> {
    /// Returns the side step of a character towards its path, or towards the offset from the path
    /// that its behaviour requests. The character takes side steps only if it faces along the path
    /// and hardly moves.
    fn side_step(&self, agent: AgentIndex) -> Aside {
        let index = agent.index();
        let position = &self.agents.position[index];
        let progress = &self.agents.progress[index];
        let wanted = f64::from(self.agents.wish[index].lane_offset);
        let path = self.routes.get(progress.route).path_to(progress.reached);
        let Some(path) = path.filter(|_| !position.is_on_lane()) else {
            return Aside::default();
        };
        let facing =
            wrap_angle(self.bodies().pose(agent).heading - path.line().heading(position.s));
        let missing = wanted - position.t;
        let is_slow = self.agents.motion[index].speed.abs() < STEPS_BELOW;
        if !is_slow || facing.abs() > FACING || missing.abs() < WORTH_A_STEP {
            return Aside::default();
        }
        let side = missing.signum();
        if !self.has_room_to_step(agent, side) {
            return Aside::default();
        }
        Aside {
            now: 0.0,
            rate: missing.clamp(-SIDE_STEP, SIDE_STEP) as f32,
        }
    }

    fn led_aside(&self, agent: AgentIndex, dt: f64) -> Aside {
        // A lane change follows a separate line, and off the lanes there is no centre line.
        if !self.agents.position[agent.index()].may_change_lane() {
            return Aside::default();
        }
        let before = self.agents.aside[agent.index()];
        let speed = self.agents.motion[agent.index()].speed;
        let wanted = match self.tight_offset(agent, speed) {
            Some(offset) => offset,
            None if self.is_before_junction(agent, before, speed) => 0.0,
            None => self.granted(agent, speed),
        };
        before.toward(wanted, speed, dt)
    }

    /// Offset to keep at the tight place that a car is in or approaches, m to the left; `None` if
    /// there is no tight place. Long vehicles take turns in tight places instead.
    fn tight_offset(&self, agent: AgentIndex, speed: f64) -> Option<f64> {
        let position = &self.agents.position[agent.index()];
        let stretches = self.ground.alleys().tight_on(position.lanelet);
        let kind = self.vehicle_type(agent);
        if stretches.is_empty() || kind.is_long() {
            return None;
        }
        let (front, rear) = (position.s + kind.front, position.s - kind.rear_overhang);
        let reach = TIGHT_TIME * speed + TIGHT_REACH;
        let mut near = stretches.iter();
        near.find(|place| front + reach > place.from && rear < place.to)
            .map(|place| place.offset)
    }

    /// Returns the lateral offset granted to an agent, m to the left: the offset that its behaviour
    /// requests, limited by the lane and by vehicles beside the agent.
    fn granted(&self, agent: AgentIndex, speed: f64) -> f64 {
        let wish = f64::from(self.agents.wish[agent.index()].lane_offset);
        if wish == 0.0 {
            return 0.0;
        }
        let room = self
            .room_in_lane(agent, SIGHT * speed)
            .min(self.room_beside(agent, wish > 0.0));
        wish.abs().min(room.max(0.0)).copysign(wish)
    }

    /// Largest offset that keeps an agent in its lane over a distance ahead of its front, m.
    fn room_in_lane(&self, agent: AgentIndex, sight: f64) -> f64 {
        let kind = self.vehicle_type(agent);
        let lanes = self.lanelets_ahead(agent, kind.front + sight);
        let widths = lanes.map(|lanelet| self.ground.lanelet(lanelet).width);
        let narrowest = widths.fold(f64::INFINITY, f64::min);
        0.5 * (narrowest - kind.width) - EDGE
    }

    /// Largest offset to one side that keeps an agent clear of the vehicles on that side, m.
    fn room_beside(&self, agent: AgentIndex, to_left: bool) -> f64 {
        let position = &self.agents.position[agent.index()];
        let own = self.ground.lanelet(position.lanelet);
        let beside = own.beside[usize::from(!to_left)];
        if beside == NO_LANELET {
            return f64::INFINITY;
        }
        let kind = self.vehicle_type(agent);
        let other_lane = self.ground.lanelet(beside);
        let between = 0.5 * (own.width + other_lane.width);
        // In a bend, adjacent lanes differ in length.
        let scale = other_lane.length() / own.length().max(1e-9);
        let (from, to) = (
            scale * (position.s - kind.rear_overhang) - ALONG,
            scale * (position.s + kind.front) + ALONG,
        );
        let mut room = f64::INFINITY;
        for entry in self.index.on_lanelet(beside) {
            let other = self.vehicle_type(entry.agent);
            let is_beside = entry.s + other.front > from && entry.s - other.rear_overhang < to;
            if entry.agent == agent || !is_beside {
                continue;
            }
            // Space between the other vehicle and the edge of its own lane on this side.
            let theirs = &self.agents.position[entry.agent.index()];
            let aside = if to_left { theirs.t } else { -theirs.t };
            let aside = if theirs.lanelet == beside { aside } else { 0.0 };
            room = room.min(between + aside - 0.5 * (kind.width + other.width) - BESIDE);
        }
        room
    }

    /// Whether an agent has to return to the centre line now, because a contested junction is
    /// ahead.
    fn is_before_junction(&self, agent: AgentIndex, before: Aside, speed: f64) -> bool {
        let fastest = FASTEST.min(STEEPEST * speed);
        let way_back = match fastest > 0.0 {
            // The agent first stops its lateral motion, then moves back and comes to rest on the centre line.
            true => speed * (f64::from(before.now.abs()) / fastest + 2.0 * fastest / COMFORT),
            false => 0.0,
        };
        let reach = way_back + self.vehicle_type(agent).front + BEFORE_JUNCTION;
        let mut lanes = self.lanelets_ahead(agent, reach);
        lanes.any(|lanelet| self.ground.contested(lanelet).is_some())
    }
}

impl Aside {
    /// Returns the next offset on the way to `wanted` (m to the left), after `dt` seconds at the
    /// given speed, m/s.
    fn toward(self, wanted: f64, speed: f64, dt: f64) -> Self {
        let (now, rate) = (f64::from(self.now), f64::from(self.rate));
        let left = wanted - now;
        let fastest = FASTEST.min(STEEPEST * speed.max(0.0));
        // Lateral speed at which the agent can still come to rest at the wanted offset comfortably.
        let target = left.signum() * (2.0 * PLANNED * COMFORT * left.abs()).sqrt().min(fastest);
        let change = COMFORT * dt;
        let rate = target.clamp(rate - change, rate + change);
        let rate = rate.clamp(-fastest, fastest);
        let next = now + rate * dt;
        let has_passed = (wanted - next) * left <= 0.0;
        if (left.abs() < THERE || has_passed) && rate.abs() <= 2.0 * change {
            return Self {
                now: wanted as f32,
                rate: 0.0,
            };
        }
        Self {
            now: next as f32,
            rate: rate as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the offsets of an agent on its approach to a wanted offset, and the time until it
    /// reaches that offset, s.
    fn way(from: Aside, wanted: f64, speed: f64, dt: f64) -> (Vec<Aside>, f64) {
        let mut all = vec![from];
        while all[all.len() - 1].now != wanted as f32 || all[all.len() - 1].rate != 0.0 {
            let next = all[all.len() - 1].toward(wanted, speed, dt);
            all.push(next);
            assert!(all.len() < 10_000, "it never gets there");
        }
        let time = dt * (all.len() - 1) as f64;
        (all, time)
    }

    #[test]
    fn a_wish_is_reached_with_comfort_and_without_passing_it() {
        for (from, wanted) in [(0.0, 0.9), (0.9, -0.9), (0.4, 0.0), (-0.2, -0.25)] {
            let from = Aside {
                now: from,
                rate: 0.0,
            };
            for dt in [0.01, 0.02, 0.1] {
                let (places, time) = way(from, wanted, 15.0, dt);
                let direct = (wanted - f64::from(from.now)).abs();
                assert!(time < 1.5 + 2.5 * direct, "{direct} m: {time} s");
                for pair in places.windows(2) {
                    let change = f64::from(pair[1].rate - pair[0].rate).abs();
                    assert!(change <= 2.1 * COMFORT * dt, "{change} in {dt}");
                    assert!(f64::from(pair[1].rate.abs()) <= FASTEST + 1e-6);
                    let beyond = (f64::from(pair[1].now) - wanted)
                        * direct.copysign(wanted - f64::from(from.now));
                    assert!(beyond <= 1e-6 + COMFORT * dt * dt, "{beyond} m too far");
                }
            }
        }
    }

    #[test]
    fn a_vehicle_that_stands_does_not_slide_and_a_slow_one_goes_aside_slowly() {
        let start = Aside::default();
        assert_eq!(start.toward(0.9, 0.0, 0.1), start);
        let (places, _) = way(start, 0.9, 2.0, 0.1);
        let fastest = places.iter().map(|place| place.rate).fold(0.0, f32::max);
        assert!((0.19..=0.2001).contains(&fastest), "{fastest}");
    }
}
