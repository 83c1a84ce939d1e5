//! Who may enter a junction, and what has been granted.
//!
//! ```text
//!        approach          |  junction  |   exit
//!   ---------------------->|~~~~~~~~~~~~|------------------>
//!     asks from here ^     ^ stop line  ^ room for its length?
//! ```
//!
//! An agent asks when its braking distance reaches the stop line. A request names all connections
//! that the agent needs at once: if it fits nowhere between two junctions, it needs both. Whether it
//! may enter stands in `rule.rs`: signals, signs and right of way say who may ask for his turn, and
//! there must be room beyond. Who is let in draws a ticket. Where two ways through the junction meet,
//! the lower ticket passes first, and the other waits before that place (`walls.rs`); so several can
//! be inside at once. Reservations of places in time [Dresner 2008] need drivers who are punctual; an
//! order does not.
//!
//! **Invariant:** of two agents whose connections conflict, only the one with the lower ticket is in
//! the places where they meet, until its rear has left them. Tickets on one lane are in the order of
//! its vehicles: who has another vehicle cut in before it, or finds red before it has entered, gives
//! its ticket back and asks again.
//!
//! **Why nobody waits for ever inside:** waiting goes from higher to lower tickets only, never in a
//! circle; who holds the lowest one waits for nobody, has been promised room beyond, and leaves. Room is
//! counted as if nobody there drove on, but for who has been let into the next junction and will not lose
//! its turn (`rule.rs`): who is counted on keeps it at amber near its line, and when its junction is to change.
//! Nobody else takes that room (`promise.rs`): who appears, or changes lanes, leaves it to those who count
//! on it. Who counts on somebody may have to wait for it. That goes to a lower ticket as well, in whatever
//! junction: numbers are drawn in one order for all junctions, and who passes before others, with a number
//! out of that order, counts on nobody.
//! **Why nobody waits for ever outside, while its exit drains:** who has waited for a minute at most is locked
//! (`rule.rs`): it need not give way any more, and nobody whose way conflicts with it is let in before. Who
//! cannot drive for a queue over a way that nobody else meets, and so asks nobody, or for one on the lane that it
//! is leaving, holds no ticket (`request.rs`).
//! **Why full lanes that wait for each other in a ring move on:** they are let in together, or one of them
//! is sent round (`gridlock.rs`).
//!
//! **How often:** every fifth of a second, or every step if that is longer; in each step while somebody is
//! on foot at a crossing, since people walk in each. Where it counts how far one drives until the next
//! decision that time is allowed for, so steps of 1 and of 100 ms are equally safe.
//!
//! # Example
//!
//! A drives from west to east, B from north to south, C from east to west. A and B meet at X, C and B
//! at Y; A and C pass each other.
//!
//! ```text
//!                 |  B  |
//!                 |  :  |
//!   --------------+  :  +--------------
//!     <.............:Y..............  C
//!     A ............:X..............>
//!   --------------+  :  +--------------
//!                 |  v  |
//! ```
//!
//! | step | what happens | tickets |
//! | --- | --- | --- |
//! | 100 | A is near enough and asks; nobody is inside | A 1 |
//! | 103 | B asks; it would have to wait long for A inside | A 1 |
//! | 105 | C asks; it does not meet A | A 1, C 2 |
//! | 130 | A will have left X when B comes there, and C will have left Y | A 1, C 2, B 3 |
//! | 160 | A is gone; B is inside and waits before Y for C, who is late | C 2, B 3 |
//! | 210 | C has left Y; B goes on | B 3 |
//!
//! # Parts
//!
//! `request.rs` finds who asks, and for what; `situation.rs` knows where everybody is; `rule.rs` decides;
//! `follow_up.rs` knows how fast one follows another at a sign; `update.rs` does all of that in its time;
//! `promise.rs` knows who counts on room beyond; `closing.rs` empties junctions that are to change;
//! `alley.rs` lets into stretches that are too narrow for two;
//! `walls.rs` holds the order inside; `gridlock.rs` resolves rings of full lanes;
//! `grants.rs` keeps what is granted, and `revoked.rs` takes it back. Each of these parts has its own state, and
//! [`Claims`] is their sum.

mod alley;
mod bound;
mod closing;
mod follow_up;
mod grants;
mod gridlock;
mod look;
mod off_lanes;
mod on_foot;
mod promise;
mod request;
mod revoked;
mod room;
mod rule;
mod situation;
mod update;
mod waits;
mod walls;
mod watch;

use super::signals::Arrival;
use crate::ground::Ground;
use crate::records::AgentIndex;
use crate::summary::LawCounts;
use alley::Alleys;
pub use bound::longest_wait_at;
use closing::Closing;
use follow_up::Entries;
pub(super) use grants::Held;
use grants::{Grant, Grants};
use gridlock::Gridlock;
pub(crate) use gridlock::{Detour, StuckRing};
pub use look::Ticket;
use off_lanes::BlockedConnections;
use request::{Need, Requests};
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, JunctionIndex};
use serde::{Deserialize, Serialize};
use situation::Situation;
pub(crate) use situation::space;
pub(crate) use situation::{Given, Setting};
use std::ops::{Deref, DerefMut};
pub use waits::{Waits, Why};
use walls::Wall;
use watch::Arrivals;

/// Requests to junctions and alleys, and what these have granted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) grants: Grants,
    counts: LawCounts,
    pub(crate) requests: Requests,
    /// When somebody last drove over each line with a sign.
    entries: Entries,
    pub(crate) gridlock: Gridlock,
    pub(crate) alleys: Alleys,
    /// Whether junctions decide in the next step, whatever their turn: they are new.
    is_overdue: bool,
    #[serde(skip)]
    pub(crate) closing: Closing,
    #[serde(skip)]
    off_lanes: BlockedConnections,
    #[serde(skip)]
    arrivals: Arrivals,
    #[serde(skip)]
    scratch: Scratch<Lists>,
}

/// Lists that each update fills anew, kept so that an update allocates nothing. They are not state, so all of
/// them are equal.
#[derive(Debug, Clone, Default)]
struct Scratch<T>(T);

impl<T> PartialEq for Scratch<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Deref for Scratch<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[derive(Debug, Clone, Default)]
struct Lists {
    /// Who has to give its grants back, and from which index of its route on.
    revoked: Vec<(AgentIndex, u32)>,
    /// For how long people have kept vehicles from driving over each busy crossing, s.
    kept: Vec<f64>,
    walls: Vec<(AgentIndex, Wall)>,
    needs: Vec<Need>,
}

impl Claims {
    pub(crate) fn new(junctions: usize) -> Self {
        Self {
            grants: Grants::new(junctions),
            requests: Requests::new(junctions),
            is_overdue: true,
            ..Self::default()
        }
    }

    /// Bytes of what is held and asked for; the empty lists of junctions are those of the ground.
    pub(crate) fn bytes(&self) -> usize {
        self.grants.count() * size_of::<Grant>() + self.requests.bytes()
    }

    /// All of it for a hash, with ids in the place of indices: the same wherever agents are stored.
    pub(crate) fn hashed(&self, id_of: impl Fn(AgentIndex) -> u64 + Copy) -> impl Serialize {
        (
            (self.grants.hashed(id_of), self.alleys.hashed(id_of)),
            (&self.counts, &self.requests, &self.entries),
            (&self.gridlock, self.is_overdue),
        )
    }

    /// Whether all that is held belongs to the junctions of a ground and to so many agents.
    pub(crate) fn fits(&self, ground: &Ground, agents: usize) -> bool {
        self.grants.fits(ground, agents)
            && self.counts.are_sound()
            && self.alleys.fits(ground, agents)
            && self.requests.fits(ground)
    }

    /// Counts vehicles that missed their turn.
    pub(crate) fn count_missed_turns(&mut self, missed: u64) {
        self.counts.missed_turns += missed;
    }

    /// How the law was kept.
    pub(crate) fn counts(&self) -> LawCounts {
        self.counts
    }

    /// Counts vehicles whose controllers had to be held back.
    pub(crate) fn count_held(&mut self, held: u64) {
        self.counts.held_by_law += held;
    }

    /// Takes over what was held on other roads; `lanelet` gives the lanelet that one is now, and `moved`
    /// the connection and the exit that a vehicle's grant in a junction, for an index of its route, is for
    /// now, or `None` to drop it.
    pub(crate) fn take_over(
        &mut self,
        held: &Self,
        lanelet: impl Fn(LaneletIndex) -> Option<LaneletIndex>,
        moved: impl Fn(AgentIndex, JunctionIndex, u32) -> Option<(Connection, LaneletIndex)>,
    ) {
        self.counts = held.counts;
        self.gridlock.take_over(&held.gridlock);
        self.entries = held.entries.moved(lanelet);
        self.grants.take_over(&held.grants, moved);
    }

    /// Takes back the grants of a vehicle from an index of its route on.
    pub(crate) fn forget_from(&mut self, agent: AgentIndex, at: u32) {
        self.alleys.forget_from(agent, at);
        self.grants.forget_from(agent, at);
    }

    /// Takes back all grants of a vehicle.
    pub(crate) fn forget(&mut self, agent: AgentIndex) {
        self.alleys.forget(agent);
        self.grants.forget(agent);
    }

    /// Who comes near signals; `None` in steps in which junctions do not look.
    pub(crate) fn arrivals(&self) -> Option<&[Arrival]> {
        self.arrivals.of_this_step()
    }
}

#[cfg(test)]
mod tests;
