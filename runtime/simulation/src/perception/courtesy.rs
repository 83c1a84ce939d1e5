//! Vehicles on the lanes beside: those that have to change into the agent's lane, and those on the
//! lane that the agent itself has to change to.
//!
//! ```text
//!     beside   --------[A]|          A has to change before its lane ends
//!     own      --[B]----------[C]-->
//! ```
//!
//! A is let in once it has waited for a while: B, the next behind it that can slow down in time,
//! follows it as if it were ahead on the own lane. A does its part after the same while: it drives
//! behind C, as fast as that, and does not pass along a moving queue until its own lane ends.
//! Two that want each other's lane would go on side by side until both lanes end, so of those the one
//! behind falls back at once.

use super::View;
use crate::records::{AgentIndex, LaneSpot};
use crate::traffic::{LaneEntry, Lanes};
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// Who has been seeking a gap for so long, s, is let in.
const PATIENCE: f32 = 5.0;
/// Who has stood for so long, s, drives on: whom it would let in cannot come.
const COURTESY: f64 = 15.0;
/// How hard one slows down for that, m/s^2.
const SLOWING: f64 = 1.5;
/// So many vehicles ahead on a lane beside are looked at.
const LOOKED_AT: usize = 3;
/// Who stands closer than this behind who seeks leaves it no gap by standing, m: it drives on, and the
/// next one lets it in.
const LEAST_ROOM: f64 = 1.5;
/// Slower than this counts as standing, m/s.
const STANDING: f64 = 0.2;
/// Who falls back drives with this share of the other's speed, unless that is nearly standing, m/s.
const FALLING_BACK: f64 = 0.7;
const NEARLY_STANDING: f64 = 2.0;

/// What an agent does for those beside it.
pub(super) struct Courtesy {
    /// A vehicle to follow as if it were ahead on the own lane; its place is the one there, m.
    pub(super) let_in: Option<LaneEntry>,
    /// Highest speed for falling back, m/s; infinite without a reason to.
    pub(super) top_speed: f64,
}

/// A vehicle ahead, or right beside, on a lane beside.
struct Beside {
    /// With its place on the agent's own lane, m.
    entry: LaneEntry,
    speed: f64,
    /// From the agent's front to its rear, m; negative where the bodies overlap along the lane.
    gap: f64,
    /// How long it has been seeking a gap in the agent's lane, s; 0 if it does not.
    seeking: f32,
}

impl View<'_> {
    /// What an agent on a lane does for those beside it.
    pub(super) fn courtesy(&self, agent: AgentIndex) -> Courtesy {
        let mut courtesy = Courtesy {
            let_in: None,
            top_speed: f64::INFINITY,
        };
        // Those who want to come over as well as those whose lane it wants: a line may part them in one
        // direction only, and in both nobody wants to.
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
        let progress = self.progress(agent);
        let wants_over = self.route(agent).lanelet(progress.at + 1) == Some(side);
        let own = if wants_over { progress.seeking } else { 0.0 };
        for (number, beside) in self.beside(agent, side).enumerate() {
            let is_let_in = progress.standing < COURTESY
                && (beside.seeking >= PATIENCE || own > 0.0 && beside.seeking > 0.0);
            // A queue that stands is passed along: further ahead there may be a gap.
            let falls_in = number == 0 && own >= PATIENCE && beside.speed > NEARLY_STANDING;
            if is_let_in || falls_in {
                self.stay_behind(agent, &beside, own > 0.0, courtesy);
            }
        }
    }

    /// Follows a vehicle beside if the agent can slow down in time; else it falls back from the side of
    /// that one, if it wants to change behind it.
    fn stay_behind(
        &self,
        agent: AgentIndex,
        beside: &Beside,
        changes: bool,
        courtesy: &mut Courtesy,
    ) {
        let speed = self.motion(agent).speed;
        // The way on which it slows down to the speed of the other: (v^2 - u^2) / 2 a.
        let slowing = (speed * speed - beside.speed * beside.speed).max(0.0) / (2.0 * SLOWING);
        let is_useless = speed.max(beside.speed) < STANDING && beside.gap < LEAST_ROOM && !changes;
        if beside.gap >= slowing && !is_useless {
            let ahead = courtesy.let_in.into_iter().chain([beside.entry]);
            courtesy.let_in = self.nearest(ahead);
        } else if changes && beside.gap < 0.0 && beside.speed > NEARLY_STANDING {
            courtesy.top_speed = courtesy.top_speed.min(FALLING_BACK * beside.speed);
        }
    }

    /// Whether a vehicle could come over from its lane: who is close behind another one that stands cannot.
    fn has_way(&self, agent: AgentIndex, lane: LaneletIndex) -> bool {
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

    /// The next vehicles ahead of an agent on a lane beside, the nearest first. Right beside each other
    /// the one with the smaller id is ahead.
    fn beside(&self, agent: AgentIndex, side: LaneletIndex) -> impl Iterator<Item = Beside> {
        let (s, lanelet) = (self.position(agent).s, self.position(agent).lanelet);
        let entries = self.index.on_lanelet(side);
        // The same share of the length is the place right beside.
        let scale = self.ground.length(lanelet) / self.ground.length(side);
        let first = entries.partition_point(|entry| entry.s * scale < s);
        let front = s + self.vehicle_type(agent).front;
        let id = self.agents.identity[agent.index()].id;
        let ahead = entries[first..].iter().map(move |entry| LaneEntry {
            s: entry.s * scale,
            ..*entry
        });
        ahead
            // Who is leaving this lane is on it as well, with a place on its new one.
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
                    seeking: if wants_in && self.has_way(entry.agent, side) {
                        theirs.seeking
                    } else {
                        0.0
                    },
                }
            })
    }
}
