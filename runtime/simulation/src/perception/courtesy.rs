//! Cooperation with vehicles on adjacent lanes: vehicles that have to change into the agent's lane,
//! and vehicles on the lane that the agent has to change to.
//!
//! ```text
//!     beside   --------[A]|          A has to change before its lane ends
//!     own      --[B]----------[C]-->
//! ```
//!
//! A is let in once it has waited for a while. B, the next vehicle behind that can slow down in
//! time, then follows A as if A were ahead on B's lane. A also cooperates after that time: it stays
//! behind C at C's speed, instead of passing a moving queue until its own lane ends. Two vehicles
//! that want each other's lane would otherwise drive side by side until both lanes end, so the rear
//! one falls back at once.
//!
//! Where a lane ends and merges into the adjacent one, no driver has to change lanes. Of two
//! vehicles beside each other at similar speeds, the rear one eases off until there is room for
//! both in one lane. They then neither arrive at the end side by side nor need to brake there. In a
//! queue, they alternate at the end instead.

use super::View;
use crate::records::{AgentIndex, LaneSpot};
use crate::traffic::{LaneEntry, Lanes};
use roadwright_agent::LaneEndSight;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// A vehicle is let in after it has sought a gap for this time, s.
const PATIENCE: f32 = 5.0;
/// Maximum time that a vehicle waits at a standstill to let another one in, s. After that time, the
/// other vehicle is assumed to be unable to change lanes.
const COURTESY: f64 = 15.0;
/// Deceleration for letting a vehicle in, m/s^2.
const SLOWING: f64 = 1.5;
/// Number of vehicles ahead on an adjacent lane that are considered.
const LOOKED_AT: usize = 3;
/// Minimum distance between a stationary vehicle and a vehicle ahead of it that seeks a gap, m. At
/// a shorter distance, waiting would not make room, so the stationary vehicle drives on and the
/// next one lets the other in.
const LEAST_ROOM: f64 = 1.5;
/// Speed below which a vehicle counts as stationary, m/s.
const STANDING: f64 = 0.2;
/// Speed at which an agent falls back, as a fraction of the other vehicle's speed.
const FALLING_BACK: f64 = 0.7;
/// Minimum speed of an agent that falls back, m/s. It applies if the other vehicle is nearly
/// stationary.
const NEARLY_STANDING: f64 = 2.0;
/// Time gap that an agent opens to the vehicle ahead on the other lane before a lane ends, s.
const ROOM_AT_LANE_END: f64 = 1.0;
/// Speed of an agent that opens a gap before a lane ends, as a fraction of its previous speed. With
/// the intelligent driver model, this is a deceleration of 0.8 m/s^2.
const EASING_OFF: f64 = 0.9;
/// An agent opens a gap for a slower vehicle at the end of a lane if their speeds differ by at most
/// this, m/s. An even slower vehicle is passed.
const SIMILAR_SPEED: f64 = 5.0;
/// Traffic below this fraction of the speed limit is a queue. Vehicles in a queue alternate at the
/// end of a lane.
const QUEUE_SPEED: f64 = 0.4;

/// Reaction of an agent to vehicles beside it: it follows one of them or falls back.
pub(super) struct Courtesy {
    /// A vehicle that the agent follows as if it were ahead on the agent's lane. Its position is
    /// projected onto this lane, m.
    pub(super) let_in: Option<LaneEntry>,
    /// Highest speed while falling back, m/s; infinite if the agent need not fall back.
    pub(super) top_speed: f64,
}

/// A vehicle on an adjacent lane, ahead of the agent or level with the agent.
pub(super) struct Beside {
    /// The vehicle, with its position projected onto the agent's lane, m.
    entry: LaneEntry,
    speed: f64,
    /// Distance from the agent's front to the rear of the vehicle, m; negative if the bodies overlap along
    /// the lane.
    pub(super) gap: f64,
    /// Time for which the vehicle has been seeking a gap in the agent's lane, s; 0 if it does not
    /// seek one.
    seeking: f32,
}

impl Beside {
    /// Index of the agent that drives the vehicle.
    pub(super) fn agent(&self) -> AgentIndex {
        self.entry.agent
    }
}

impl View<'_> {
    /// Determines how an agent on a lane accommodates vehicles beside it.
    pub(super) fn courtesy(&self, agent: AgentIndex) -> Courtesy {
        let mut courtesy = Courtesy {
            let_in: None,
            top_speed: f64::INFINITY,
        };
        // Considers the vehicles that want to change into the agent's lane, and those on the lane
        // that the agent wants. A line may forbid changes in one direction only. If it forbids
        // both, no vehicle wants to change.
        for side in self.ground.beside(self.position(agent).lanelet) {
            if side != NO_LANELET {
                self.look_beside(agent, side, &mut courtesy);
            }
        }
        courtesy
    }

    fn look_beside(&self, agent: AgentIndex, side: LaneletIndex, courtesy: &mut Courtesy) {
        if self.index.on_lanelet(side).is_empty() {
            return;
        }
        self.make_room(agent, side, courtesy);
        let progress = self.progress(agent);
        let wants_over = self.route(agent).lanelet(progress.at + 1) == Some(side);
        let own = if wants_over { progress.seeking } else { 0.0 };
        for (number, beside) in self.beside(agent, side).enumerate() {
            let is_let_in = progress.standing < COURTESY
                && (beside.seeking >= PATIENCE || own > 0.0 && beside.seeking > 0.0);
            // The agent passes a standing queue, because there may be a gap farther ahead.
            let falls_in = number == 0 && own >= PATIENCE && beside.speed > NEARLY_STANDING;
            if is_let_in || falls_in {
                self.stay_behind(agent, &beside, own > 0.0, courtesy);
            }
        }
    }

    /// Makes the agent ease off behind a vehicle on an adjacent lane if either of the two lanes ends soon.
    fn make_room(&self, agent: AgentIndex, side: LaneletIndex, courtesy: &mut Courtesy) {
        let position = self.position(agent);
        let own = position.lanelet;
        let ends = |lane: LaneletIndex, beside: LaneletIndex| {
            let end = self.ground.lane_end(lane);
            end.filter(|end| end.beside == beside)
        };
        let Some(end) = ends(side, own).or_else(|| ends(own, side)) else {
            return;
        };
        let limit = self.ground.lanelet(own).speed_limit;
        if end.distance - position.s > LaneEndSight::default().at(limit) {
            return;
        }
        let Some(beside) = self.beside(agent, side).next() else {
            return;
        };
        let speed = self.motion(agent).speed;
        let is_similar = speed - beside.speed < SIMILAR_SPEED;
        let is_free = beside.speed.min(speed) > QUEUE_SPEED * limit;
        if is_similar && is_free && beside.gap < ROOM_AT_LANE_END * speed {
            courtesy.top_speed = courtesy.top_speed.min(EASING_OFF * speed);
        }
    }

    /// Makes the agent follow a vehicle beside it if it can slow down in time. Otherwise, the agent falls
    /// back if it wants to change lanes behind that vehicle.
    fn stay_behind(
        &self,
        agent: AgentIndex,
        beside: &Beside,
        changes: bool,
        courtesy: &mut Courtesy,
    ) {
        let speed = self.motion(agent).speed;
        // Distance for slowing down to the speed of the other vehicle: (v^2 - u^2) / 2 a.
        let slowing = (speed * speed - beside.speed * beside.speed).max(0.0) / (2.0 * SLOWING);
        let is_useless = speed.max(beside.speed) < STANDING && beside.gap < LEAST_ROOM && !changes;
        if beside.gap >= slowing && !is_useless {
            let ahead = courtesy.let_in.into_iter().chain([beside.entry]);
            courtesy.let_in = self.nearest(ahead);
        } else if changes && beside.gap < 0.0 && beside.speed > NEARLY_STANDING {
            courtesy.top_speed = courtesy.top_speed.min(FALLING_BACK * beside.speed);
        }
    }

    /// Whether a vehicle has enough room ahead to complete a lane change, which it lacks close
    /// behind a stationary vehicle.
    fn leads_on(&self, agent: AgentIndex, lane: LaneletIndex) -> bool {
        let s = self.position(agent).s;
        let lanes = Lanes {
            ground: self.ground,
            types: self.types,
            index: self.index,
            agents: self.agents,
        };
        lanes.has_room_to_get_over(
            agent,
            LaneSpot { lanelet: lane, s },
            self.ground.length(lane) - s,
        )
    }

    /// Returns the next vehicles ahead of an agent on an adjacent lane, nearest first. If two
    /// vehicles are level with each other, the one with the smaller id counts as ahead.
    pub(super) fn beside(
        &self,
        agent: AgentIndex,
        side: LaneletIndex,
    ) -> impl Iterator<Item = Beside> {
        let (s, lanelet) = (self.position(agent).s, self.position(agent).lanelet);
        let entries = self.index.on_lanelet(side);
        // The place beside the agent is at the same fraction of the length.
        let scale = self.ground.length(lanelet) / self.ground.length(side);
        let first = entries.partition_point(|entry| entry.s * scale < s);
        let front = s + self.vehicle_type(agent).front;
        let id = self.agents.identity[agent.index()].id;
        let ahead = entries[first..].iter().map(move |entry| LaneEntry {
            s: entry.s * scale,
            ..*entry
        });
        ahead
            // A vehicle that is leaving this lane is listed on it as well, with its position on the new lane.
            .filter(move |entry| self.position(entry.agent).lanelet == side)
            .filter(move |entry| entry.s > s || self.id(entry) < id)
            .take(LOOKED_AT)
            .map(move |entry| {
                let theirs = self.progress(entry.agent);
                let wants_in = self.route(entry.agent).lanelet(theirs.at + 1) == Some(lanelet);
                Beside {
                    entry,
                    speed: self.motion(entry.agent).speed,
                    gap: entry.s - self.vehicle_type(entry.agent).rear_overhang - front,
                    seeking: if wants_in && self.leads_on(entry.agent, side) {
                        theirs.seeking
                    } else {
                        0.0
                    },
                }
            })
    }
}
