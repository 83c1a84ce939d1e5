//! Decides which vehicles may enter junctions, and stores their grants.
//!
//! ```text
//!        approach          |  junction  |   exit
//!   ---------------------->|~~~~~~~~~~~~|------------------>
//! requests from here ^     ^ stop line  ^ room for its length?
//! ```
//!
//! An agent requests entry when its braking distance reaches the stop line. A request names all
//! connections that the agent needs at once. If its vehicle does not fit between two junctions, it
//! needs the connections through both. `rule.rs` decides whether the vehicle may enter: signals,
//! signs and right of way determine the order, and there must be room beyond the junction. A
//! vehicle that is let in draws a ticket. Where two connections conflict, the vehicle with the
//! lower ticket passes first and the other vehicle waits before the conflict (`walls.rs`), so
//! several vehicles can be inside at once. Unlike a reservation of space and time [Dresner 2008],
//! this order does not require vehicles to be punctual.
//!
//! **Invariant:** of two agents whose connections conflict, only the agent with the lower ticket
//! may be where the connections meet, until its rear has left that area. Tickets on one lane are in
//! the order of its vehicles. A vehicle returns its ticket and makes a new request if another
//! vehicle cuts in ahead of it, or if its signal turns red before it has entered.
//!
//! **Why no vehicle waits indefinitely inside:** vehicles wait only for lower tickets, so waiting
//! never forms a circle. The holder of the lowest ticket does not wait for any vehicle and has been
//! promised room beyond the junction, so it leaves. Room is computed as if no vehicle there moved
//! on, except vehicles that have been let into the next junction and will not lose their turn
//! (`rule.rs`). Such a vehicle keeps its turn if its signal turns amber when it is near its line,
//! or if an edit is about to change its junction. No other vehicle takes the promised room
//! (`promise.rs`): vehicles that spawn or change lanes leave it free. A vehicle that relies on
//! another may have to wait for it. The other vehicle has a lower ticket, even in another junction,
//! because the tickets of all junctions come from one sequence. A vehicle that passes before others
//! has a ticket out of sequence, so it does not rely on any vehicle.
//!
//! **Why no vehicle waits indefinitely outside while its exit drains:** after at most a minute of
//! waiting, a request is locked (`rule.rs`). The vehicle then no longer has to yield, and no
//! vehicle on a conflicting connection is let in before it. A vehicle that cannot drive because of
//! a queue holds no ticket (`request.rs`) if the queue stands on a connection without conflicts,
//! where no grants are needed, or on the lane that the vehicle is leaving.
//!
//! **Why rings of full lanes start to move:** the vehicles at the front of these lanes are let in
//! together, or one of them is rerouted (`gridlock.rs`).
//!
//! **How often:** junctions make decisions every fifth of a second, or in every step if steps are
//! longer. While pedestrians are at a crossing, they do so in every step, because pedestrians walk
//! in every step. The distance that vehicles drive until the next decision is taken into account,
//! so steps of 1 ms and of 100 ms are equally safe.
//!
//! # Example
//!
//! A drives from west to east, B from north to south, C from east to west. A and B meet at X, C and
//! B at Y; A and C pass each other.
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
//! | step | event | tickets |
//! | --- | --- | --- |
//! | 100 | A is close enough and sends a request; no vehicle is inside | A 1 |
//! | 103 | B sends a request, but it would have to wait inside for A for a long time | A 1 |
//! | 105 | C sends a request; it does not meet A | A 1, C 2 |
//! | 130 | A will have left X when B gets there, and C will have left Y | A 1, C 2, B 3 |
//! | 160 | A has left; B is inside and waits before Y for C, which is late | C 2, B 3 |
//! | 210 | C has left Y; B continues | B 3 |
//!
//! # Parts
//!
//! `request.rs` finds the requests and what they need; `situation.rs` knows where the agents are;
//! `rule.rs` decides; `follow_up.rs` knows how soon one vehicle may follow another at a sign;
//! `update.rs` runs all of this in each decision; `promise.rs` knows which vehicles rely on room
//! beyond; `closing.rs` empties junctions that are to change; `alley.rs` lets vehicles into
//! stretches that are too narrow for two; `walls.rs` enforces the order inside; `gridlock.rs`
//! resolves rings of full lanes; `grants.rs` keeps the grants, and `revoked.rs` revokes them;
//! `priority.rs` tells controllers which of two agents goes first. Each of these parts has its own
//! state, and [`Claims`] is their sum.

mod alley;
mod bound;
mod closing;
mod follow_up;
mod grants;
mod gridlock;
mod look;
mod off_lanes;
mod on_foot;
mod priority;
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
use crate::records::AgentIndex;
use crate::summary::LawCounts;
use alley::Alleys;
#[cfg(test)]
pub(crate) use alley::SwitchedOff;
pub use alley::{AlleyWait, alley_waits};
pub use bound::longest_wait_at;
use closing::Closing;
use follow_up::Entries;
pub(super) use grants::Held;
pub(crate) use grants::RouteConnection;
use grants::{Grant, Grants};
use gridlock::Gridlock;
pub(crate) use gridlock::{Detour, StuckRing};
pub use look::Ticket;
use off_lanes::BlockedConnections;
pub(crate) use priority::Next;
use request::{Need, Requests};
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, JunctionIndex};
use serde::{Deserialize, Serialize};
use situation::Situation;
pub(crate) use situation::{Given, Setting};
pub(crate) use situation::{along, space};
use std::ops::{Deref, DerefMut};
pub use waits::{Waits, Why};
use walls::Wall;
use watch::Arrivals;

/// Requests for junctions and alleys, and the resulting grants.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) grants: Grants,
    counts: LawCounts,
    pub(crate) requests: Requests,
    /// For each stop line with a sign, the step in which a vehicle last crossed it.
    entries: Entries,
    pub(crate) gridlock: Gridlock,
    pub(crate) alleys: Alleys,
    /// Whether junctions make decisions in the next step even if none is due, because the roads have changed.
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

/// Lists that are refilled in each update, and kept so that updates allocate no memory. They are
/// not part of the state, so they always compare as equal.
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
    /// Agents that have to give back grants, each with the first route index of these grants.
    revoked: Vec<(AgentIndex, u32)>,
    /// Time that pedestrians have kept vehicles waiting at each busy crossing, s.
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

    /// Memory used by the grants and requests, in bytes. The empty lists of junctions are counted
    /// as part of the ground.
    pub(crate) fn bytes(&self) -> usize {
        self.grants.count() * size_of::<Grant>() + self.requests.bytes()
    }

    /// Returns the state to be hashed, with ids instead of indices, so that the hash does not
    /// depend on where agents are stored.
    pub(crate) fn hashed(&self, id_of: impl Fn(AgentIndex) -> u64 + Copy) -> impl Serialize {
        (
            (self.grants.hashed(id_of), self.alleys.hashed(id_of)),
            (&self.counts, &self.requests, &self.entries),
            (&self.gridlock, self.is_overdue),
        )
    }

    /// Whether all grants are valid for the junctions of a ground and this number of agents.
    pub(crate) fn fits(&self, ground: &Ground, agents: usize) -> bool {
        self.grants.fits(ground, agents)
            && self.counts.are_sound()
            && self.alleys.fits(ground, agents)
            && self.requests.fits(ground)
    }

    /// Counts vehicles that missed a lane change.
    pub(crate) fn count_missed_turns(&mut self, missed: u64) {
        self.counts.missed_turns += missed;
    }

    /// Statistics of breaches, waits and interventions at junctions.
    pub(crate) fn counts(&self) -> LawCounts {
        self.counts
    }

    /// Counts vehicles that the host had to brake before a stop line.
    pub(crate) fn count_held(&mut self, held: u64) {
        self.counts.held_by_law += held;
    }

    /// Carries grants over an edit of the roads. `lanelet` maps old lanelets to new ones. For a
    /// vehicle's grant at a junction and a route index, `moved` returns the new connection and
    /// exit, or `None` if the grant is dropped.
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

    /// Revokes the grants of a vehicle from index `at` of its route onwards.
    pub(crate) fn forget_from(&mut self, agent: AgentIndex, at: u32) {
        self.alleys.forget_from(agent, at);
        self.grants.forget_from(agent, at);
    }

    /// Revokes all grants of a vehicle.
    pub(crate) fn forget(&mut self, agent: AgentIndex) {
        self.alleys.forget(agent);
        self.grants.forget(agent);
    }

    /// Vehicles that approach signals; `None` in steps in which junctions make no decisions.
    pub(crate) fn arrivals(&self) -> Option<&[Arrival]> {
        self.arrivals.of_this_step()
    }
}

#[cfg(test)]
mod tests;
