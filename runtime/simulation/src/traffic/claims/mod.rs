//! Which vehicles may enter a junction, and what they have been granted.
//!
//! ```text
//!        approach          |  junction  |   exit
//!   ---------------------->|~~~~~~~~~~~~|------------------>
//! requests from here ^     ^ stop line  ^ room for its length?
//! ```
//!
//! An agent requests entry when its braking distance reaches the stop line. A request names all connections
//! that the agent needs at once: if it fits nowhere between two junctions, it needs both. `rule.rs` decides
//! whether it may enter: signals, signs and right of way determine whose turn it is, and there must be room
//! beyond. A vehicle that is let in draws a ticket. Where two connections conflict, the lower ticket passes
//! first and the other vehicle waits before the conflict (`walls.rs`), so several vehicles can be inside at
//! once. Reserving places in time [Dresner 2008] needs punctual drivers; an order does not.
//!
//! **Invariant:** of two agents whose connections conflict, only the one with the lower ticket is in the
//! places where they meet, until its rear has left them. Tickets on one lane are in the order of its
//! vehicles: a vehicle returns its ticket and requests again if another vehicle cuts in before it, or if
//! its signal turns red before it has entered.
//!
//! **Why no vehicle waits indefinitely inside:** vehicles wait for lower tickets only, so waiting never
//! forms a circle. The holder of the lowest ticket waits for no vehicle, has been promised room beyond, and
//! leaves. Room is counted as if no vehicle there moved on, except vehicles that have been let into the
//! next junction and will not lose their turn (`rule.rs`): a vehicle that others count on keeps its turn at
//! amber near its line, and when its junction is to change. No other vehicle takes that room
//! (`promise.rs`): vehicles that spawn or change lanes leave it free. A vehicle that counts on another may
//! have to wait for it. The other has a lower ticket even in another junction, because the tickets of all
//! junctions are drawn in one order. A vehicle that passes before others, with a ticket out of that order,
//! counts on no vehicle.
//! **Why no vehicle waits indefinitely outside, while its exit drains:** after at most a minute of waiting
//! a request is locked (`rule.rs`): the vehicle need not give way any more, and no vehicle on a conflicting
//! connection is let in before it. A vehicle that cannot drive because of a queue holds no ticket
//! (`request.rs`) if the queue stands on a connection without conflicts, where no grants are needed, or on
//! the lane that the vehicle is leaving.
//! **Why full lanes that wait for each other in a ring start to move:** they are let in together, or one of
//! the vehicles is rerouted (`gridlock.rs`).
//!
//! **How often:** every fifth of a second, or every step if that is longer; in each step while pedestrians
//! are at a crossing, since they walk in each. Where the distance driven until the next decision matters,
//! that period is allowed for, so steps of 1 and of 100 ms are equally safe.
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
//! | 100 | A is near enough and requests; no vehicle is inside | A 1 |
//! | 103 | B requests; it would have to wait long inside for A | A 1 |
//! | 105 | C requests; it does not meet A | A 1, C 2 |
//! | 130 | A will have left X when B gets there, and C will have left Y | A 1, C 2, B 3 |
//! | 160 | A has left; B is inside and waits before Y for C, which is late | C 2, B 3 |
//! | 210 | C has left Y; B continues | B 3 |
//!
//! # Parts
//!
//! `request.rs` finds the requests and what they need; `situation.rs` knows where the agents are; `rule.rs`
//! decides; `follow_up.rs` knows how soon one vehicle may follow another at a sign; `update.rs` runs all of
//! this in each decision; `promise.rs` knows which vehicles count on room beyond; `closing.rs` empties
//! junctions that are to change; `alley.rs` lets vehicles into stretches that are too narrow for two;
//! `walls.rs` enforces the order inside; `gridlock.rs` resolves rings of full lanes; this file keeps the
//! grants.

mod alley;
mod bound;
mod closing;
mod follow_up;
mod gridlock;
mod look;
mod off_lanes;
mod on_foot;
mod promise;
mod request;
mod room;
mod rule;
mod situation;
mod update;
mod waits;
mod walls;
mod watch;

use super::signals::Arrival;
use crate::ground::Ground;
use crate::records::{AgentIndex, are_distinct};
use crate::summary::LawCounts;
use alley::{AlleyNeed, AlleyRequest, Alleys, Kept};
use follow_up::Entries;
pub(crate) use gridlock::{Detour, StuckRing};
pub use look::Ticket;
use request::{Approach, Need, Request};
use roadwright_scenario::alleys::AlleySide;
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};
use rule::Pending;
use serde::{Deserialize, Serialize};
use situation::Situation;
pub(crate) use situation::space;
pub(crate) use situation::{Given, Setting};
pub use waits::{Waits, Why};
use watch::Intruder;

/// First ticket. Lower numbers are left for vehicles that are inside without having drawn a ticket.
const FIRST_TICKET: u64 = 1 << 32;
/// Distance between successive tickets. The numbers in between are for vehicles that pass before one that
/// was let in earlier.
const TICKET_STEP: u64 = 1 << 20;

/// Largest ticket of a save: 2^42 vehicles can be let in before tickets overflow.
const LAST_TICKET: u64 = 1 << 62;

/// A connection that an agent may be on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Grant {
    agent: AgentIndex,
    /// Number of the connection in its junction.
    path: ConnectionIndex,
    /// Index of the connection in the agent's route; a route can lead through one junction twice.
    at: u32,
    /// Lanelet beyond the junction.
    exit: LaneletIndex,
    /// On conflicting connections the lower ticket passes first.
    ticket: u64,
    /// Time for which other vehicles are expected to delay it, s.
    delay: f32,
    /// Whether the agent's front has reached the connection.
    has_entered: bool,
    /// Whether it was let in.
    is_invited: bool,
    /// Whether it is the first of a chain. Signals count only there, or behind narrow bends.
    is_first: bool,
    /// Whether it was let in together with a ring of full lanes.
    is_in_ring: bool,
    /// Whether it was let in to turn at a red light.
    is_on_red: bool,
    /// Position of the agent's front when an edit moved the stop line behind it, m. It may wait there for
    /// others even if their conflict begins earlier. 0 for all others.
    stands_at: f32,
    #[serde(skip)]
    noted: Noted,
}

/// Position of the rear axle of a grant's holder along its connection, m. Cached during an update, in which
/// no vehicle moves, because it is read often. NaN before and after; not part of the state.
#[derive(Debug, Clone, Copy)]
struct Noted(f64);

impl Noted {
    const NOTHING: Self = Self(f64::NAN);
}

impl Default for Noted {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl PartialEq for Noted {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Grant {
    /// Creates the grant of a vehicle that is let in alone and has not entered yet.
    fn new(
        agent: AgentIndex,
        path: ConnectionIndex,
        at: u32,
        exit: LaneletIndex,
        ticket: u64,
    ) -> Self {
        Self {
            agent,
            path,
            at,
            exit,
            ticket,
            delay: 0.0,
            has_entered: false,
            is_invited: true,
            is_first: true,
            is_in_ring: false,
            is_on_red: false,
            stands_at: 0.0,
            noted: Noted::NOTHING,
        }
    }
}

/// The grants of all junctions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// Grants of each junction, in the order of their tickets.
    granted: Vec<Vec<Grant>>,
    /// Junctions with a grant. Few of thousands have one, and only those are visited in a step.
    busy: Vec<JunctionIndex>,
    /// Next ticket.
    next_ticket: u64,
    counts: LawCounts,
    /// Longest wait at each junction, s.
    longest_waits: Vec<f32>,
    /// When a vehicle last drove over each line with a sign.
    entries: Entries,
    /// Rings of full lanes that are counted as locked, by the smallest agent id of their heads.
    gridlocked: Vec<u64>,
    /// Which vehicles are in which alleys.
    alleys: Alleys,
    /// Whether junctions decide in the next step even if it is not their turn, because they are new.
    is_overdue: bool,
    /// Junctions that are to be changed. No more vehicles are let in. Not saved, because pending edits are
    /// not.
    #[serde(skip)]
    closed: Vec<JunctionIndex>,
    /// Junctions from which arriving vehicles are held back, because their stop lines are to move outward.
    #[serde(skip)]
    held_back: Vec<JunctionIndex>,
    /// Connections that are covered by bodies off the lanes, in order. Updated before each decision.
    #[serde(skip)]
    taken: Vec<Connection>,
    /// Whether rings are left unresolved, as a baseline for tests.
    #[cfg(test)]
    #[serde(skip)]
    pub(crate) leaves_rings: bool,
    /// Whether alleys are treated as ordinary roads, as a baseline for tests.
    #[cfg(test)]
    #[serde(skip)]
    pub(crate) leaves_alleys: bool,
    #[serde(skip)]
    scratch: Scratch,
}

/// Buffers that are refilled in every step, kept so that a step allocates nothing.
#[derive(Debug, Clone, Default)]
struct Scratch {
    requests: Vec<Request>,
    approaches: Vec<Approach>,
    /// Vehicles that are no longer passed over, with what others leave to them.
    pending: Vec<Pending>,
    needs: Vec<Need>,
    /// Agents that may come to an alley soon.
    near_alleys: Vec<AgentIndex>,
    /// Requests for alleys from the open road, the alleys that one request needs, and the alleys that are
    /// kept for agents that have waited long.
    alley_requests: Vec<AlleyRequest>,
    alley_needs: Vec<AlleyNeed>,
    kept_alleys: Vec<Kept>,
    /// Agents that must return their grants, each with the first index in its route that is revoked.
    revoked: Vec<(AgentIndex, u32)>,
    /// How long pedestrians have kept vehicles from driving over each busy crossing, s.
    kept: Vec<f64>,
    intruders: Vec<Intruder>,
    /// Whether junctions have decided in this step.
    has_decided: bool,
    arrivals: Vec<Arrival>,
    /// Lanes before signals whose first vehicle has no room beyond.
    blocked: Vec<LaneletIndex>,
    walls: Vec<(AgentIndex, walls::Wall)>,
    stuck: Vec<StuckRing>,
    asks_for_green: Vec<(u64, Connection)>,
}

// Scratch is not state: claims with different leftovers are equal.
impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A grant as the other parts of traffic see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) junction: JunctionIndex,
    pub(super) agent: AgentIndex,
    pub(super) path: ConnectionIndex,
    /// Index of the connection in the agent's route.
    pub(super) at: u32,
}

impl Claims {
    /// All grants of vehicles that were let in.
    pub(super) fn held(&self) -> impl Iterator<Item = Held> + '_ {
        let busy = self.busy.iter();
        busy.flat_map(|&junction| {
            let grants = self.granted[junction.index()].iter();
            let invited = grants.filter(|grant| grant.is_invited);
            invited.map(move |grant| Held {
                junction,
                agent: grant.agent,
                path: grant.path,
                at: grant.at,
            })
        })
    }

    /// The grants of all junctions.
    fn by_junction(&self) -> impl Iterator<Item = (JunctionIndex, &Vec<Grant>)> {
        JunctionIndex::up_to(self.granted.len()).zip(&self.granted)
    }

    pub(crate) fn new(junctions: usize) -> Self {
        Self {
            granted: vec![Vec::new(); junctions],
            longest_waits: vec![0.0; junctions],
            next_ticket: FIRST_TICKET,
            is_overdue: true,
            ..Self::default()
        }
    }

    /// Bytes of the grants and requests. The empty lists of junctions are counted with the ground.
    pub(crate) fn bytes(&self) -> usize {
        let held: usize = self
            .busy
            .iter()
            .map(|&at| self.granted[at.index()].len())
            .sum();
        held * size_of::<Grant>() + self.scratch.requests.capacity() * size_of::<Request>()
    }

    /// The state for a hash, with ids instead of indices, so that it does not depend on where agents are
    /// stored.
    pub(crate) fn hashed(&self, id_of: impl Fn(AgentIndex) -> u64) -> impl Serialize {
        let mut granted = Vec::new();
        for (junction, grants) in self.by_junction() {
            // In the order of tickets, which is significant.
            granted.extend(grants.iter().map(|grant| {
                let id = id_of(grant.agent);
                (
                    id,
                    junction,
                    Grant {
                        agent: AgentIndex::default(),
                        ..*grant
                    },
                )
            }));
        }
        (
            (granted, self.next_ticket, self.alleys.hashed(id_of)),
            (&self.counts, &self.longest_waits, &self.entries),
            (&self.gridlocked, self.is_overdue),
        )
    }

    /// Whether all grants fit the junctions of a ground and this number of agents.
    pub(crate) fn fits(&self, ground: &Ground, agents: usize) -> bool {
        let junctions = ground.junction_count();
        let lanelets = ground.graph().lanelets().len();
        let is_sound = |(junction, grants): (JunctionIndex, &Vec<Grant>)| {
            let paths = ground.law(junction).conflicts.path_count();
            let exists = |grant: &Grant| {
                (grant.path.index()) < paths
                    && (grant.agent.index()) < agents
                    && grant.exit.index() < lanelets
            };
            grants.is_sorted_by_key(|grant| grant.ticket) && grants.iter().all(exists)
        };
        let mut busy = self.busy.iter();
        self.granted.len() == junctions
            && self.next_ticket <= LAST_TICKET
            && self.counts.are_sound()
            && are_distinct(&self.busy)
            && self.alleys.fits(ground, agents)
            && self.longest_waits.len() == junctions
            && self.by_junction().all(is_sound)
            && busy.all(|&junction| (junction.index()) < junctions)
    }

    /// Lets a vehicle in on the connection at an index of its route. It may be inside already.
    pub(crate) fn hold(
        &mut self,
        agent: AgentIndex,
        Connection {
            junction,
            number: path,
        }: Connection,
        at: u32,
        exit: LaneletIndex,
        is_inside: bool,
    ) {
        let ticket = self.draw_ticket();
        let grant = Grant {
            has_entered: is_inside,
            ..Grant::new(agent, path, at, exit, ticket)
        };
        self.add(junction, grant);
    }

    /// Gives a ticket after all others to an agent whose front an edit has placed at `front` beyond the
    /// start of a connection, m.
    pub(crate) fn hold_standing(
        &mut self,
        agent: AgentIndex,
        Connection {
            junction,
            number: path,
        }: Connection,
        at: u32,
        exit: LaneletIndex,
        front: f64,
    ) {
        let ticket = self.draw_ticket();
        let grant = Grant {
            has_entered: true,
            is_invited: false,
            stands_at: front as f32,
            ..Grant::new(agent, path, at, exit, ticket)
        };
        self.add(junction, grant);
    }

    fn draw_ticket(&mut self) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += TICKET_STEP;
        ticket
    }

    fn add(&mut self, junction: JunctionIndex, grant: Grant) {
        let list = &mut self.granted[junction.index()];
        if list.is_empty() {
            self.busy.push(junction);
        }
        // After those with the same ticket, which have had it for longer.
        let place = list.partition_point(|other| other.ticket <= grant.ticket);
        list.insert(place, grant);
    }

    /// A ticket that is lower than one of a junction and higher than those before it.
    fn ticket_before(&self, junction: JunctionIndex, ticket: u64) -> u64 {
        let list = &self.granted[junction.index()];
        let place = list.partition_point(|grant| grant.ticket < ticket);
        let lower = place.checked_sub(1).map(|i| list[i].ticket);
        // After twenty in one gap two tickets are equal. Then the order of the list decides.
        let lower = lower.unwrap_or(ticket.saturating_sub(TICKET_STEP));
        lower + (ticket - lower) / 2
    }

    /// Gives the lowest ticket to an agent that is inside a junction without having drawn one, so that
    /// others keep clear.
    pub(crate) fn hold_inside(
        &mut self,
        agent: AgentIndex,
        Connection {
            junction,
            number: path,
        }: Connection,
        at: u32,
        exit: LaneletIndex,
    ) {
        let next = self.draw_ticket();
        // One below the lowest: it is inside already, so it waits for no vehicle and all others wait for
        // it.
        let first = self.granted[junction.index()].first();
        let ticket = first.map_or(next, |first| first.ticket.saturating_sub(1));
        let grant = Grant {
            has_entered: true,
            is_invited: false,
            ..Grant::new(agent, path, at, exit, ticket)
        };
        self.add(junction, grant);
    }

    /// The lowest ticket of each agent; `u64::MAX` for agents without a ticket.
    pub(crate) fn tickets(&self, agents: usize) -> Vec<u64> {
        let mut tickets = vec![u64::MAX; agents];
        for grant in self.granted.iter().flatten() {
            let ticket = &mut tickets[grant.agent.index()];
            *ticket = grant.ticket.min(*ticket);
        }
        tickets
    }

    /// Whether there are alleys that are used by one direction at a time.
    #[cfg(test)]
    fn heeds_alleys(&self, ground: &Ground) -> bool {
        !ground.alleys().is_empty() && !self.leaves_alleys
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "tests have a switch")]
    fn heeds_alleys(&self, ground: &Ground) -> bool {
        !ground.alleys().is_empty()
    }

    #[cfg(test)]
    fn leaves_rings(&self) -> bool {
        self.leaves_rings
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "tests have a switch")]
    fn leaves_rings(&self) -> bool {
        false
    }

    /// Counts vehicles that missed their turn.
    pub(crate) fn count_missed_turns(&mut self, missed: u64) {
        self.counts.missed_turns += missed;
    }

    /// Counts of breaches, waits and interventions at junctions.
    pub(crate) fn counts(&self) -> LawCounts {
        self.counts
    }

    /// Counts vehicles whose controllers had to be overruled at a stop line.
    pub(crate) fn count_held(&mut self, held: u64) {
        self.counts.held_by_law += held;
    }

    /// Whether a vehicle holds the connection at an index of its route.
    pub(crate) fn has(&self, agent: AgentIndex, junction: JunctionIndex, at: u32) -> bool {
        let list = &self.granted[junction.index()];
        list.iter()
            .any(|grant| grant.agent == agent && grant.at == at)
    }

    /// Takes over the grants from before an edit of the roads. `lanelet` maps old lanelets to present ones.
    /// `moved` returns the connection and exit that now correspond to a vehicle's grant in a junction at an
    /// index of its route, or `None` to drop the grant.
    pub(crate) fn take_over(
        &mut self,
        held: &Self,
        lanelet: impl Fn(LaneletIndex) -> Option<LaneletIndex>,
        moved: impl Fn(AgentIndex, JunctionIndex, u32) -> Option<(Connection, LaneletIndex)>,
    ) {
        (self.next_ticket, self.counts) = (held.next_ticket, held.counts);
        self.gridlocked.clone_from(&held.gridlocked);
        self.entries = held.entries.moved(lanelet);
        // Grants are moved one by one, because an edit can split a junction or renumber its connections.
        for (junction, grants) in held.by_junction() {
            for grant in grants {
                if let Some((
                    Connection {
                        junction,
                        number: path,
                    },
                    exit,
                )) = moved(grant.agent, junction, grant.at)
                {
                    self.add(
                        junction,
                        Grant {
                            path,
                            exit,
                            ..*grant
                        },
                    );
                }
            }
        }
        // An edit can merge two junctions. Then a vehicle may hold two connections with one ticket, and
        // they are sorted in the order of its route.
        for grants in &mut self.granted {
            grants.sort_unstable_by_key(|grant| (grant.ticket, grant.at));
        }
    }

    /// For each agent the smallest index of its route for which it holds a grant; `u32::MAX` for agents
    /// without grants.
    pub(crate) fn firsts(&self, agents: usize) -> Vec<u32> {
        let mut firsts = vec![u32::MAX; agents];
        for grant in self.granted.iter().flatten() {
            let first = &mut firsts[grant.agent.index()];
            *first = grant.at.min(*first);
        }
        firsts
    }

    /// Whether another vehicle holds a connection that conflicts with a path of a junction.
    pub(crate) fn are_in_conflict(
        &self,
        agent: AgentIndex,
        Connection {
            junction,
            number: path,
        }: Connection,
        ground: &Ground,
    ) -> bool {
        let mut others = self.granted[junction.index()].iter();
        others.any(|grant| grant.agent != agent && ground.in_conflict(junction, path, grant.path))
    }

    /// The index of an agent's route up to which it holds alleys; 0 if it holds none.
    pub(crate) fn alleys_held_to(&self, agent: AgentIndex) -> u32 {
        self.alleys.held_to(agent)
    }

    /// Agents that hold one direction of an alley.
    pub(crate) fn alley_holders(&self, side: AlleySide) -> impl Iterator<Item = AgentIndex> + '_ {
        self.alleys.holders(side)
    }

    /// Revokes the grants of a vehicle, starting at an index of its route.
    pub(crate) fn forget_from(&mut self, agent: AgentIndex, at: u32) {
        self.alleys.forget_from(agent, at);
        self.keep(|grant| grant.agent != agent || grant.at < at);
    }

    /// Revokes all grants of a vehicle.
    pub(crate) fn forget(&mut self, agent: AgentIndex) {
        self.alleys.forget(agent);
        self.keep(|grant| grant.agent != agent);
    }

    /// Keeps the grants for which `stays` holds. A junction without grants is no longer busy.
    fn keep(&mut self, stays: impl Fn(&Grant) -> bool) {
        // A junction leaves the list of busy ones with its last grant. `hold` adds it again.
        let granted = &mut self.granted;
        self.busy.retain(|&junction| {
            let list = &mut granted[junction.index()];
            list.retain(&stays);
            !list.is_empty()
        });
    }

    /// Vehicles that approach signals; `None` in steps in which junctions do not decide.
    pub(crate) fn arrivals(&self) -> Option<&[Arrival]> {
        let scratch = &self.scratch;
        scratch.has_decided.then_some(&scratch.arrivals)
    }
}

#[cfg(test)]
mod tests;
