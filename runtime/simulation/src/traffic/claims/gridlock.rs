//! Rings of full lanes: the first vehicle (head) of each lane waits for room on the next lane.
//!
//! ```text
//!      A ->  |             A waits for room behind B, B for room behind C, C behind D, D behind A.
//!    --------+--------     Each may go, and none has room. No rule of a single junction
//!     ^      |      B      helps. But if all four go at once, each takes the place that the next
//!     |      |      |      one leaves.
//!     D      |      v
//!    --------+--------
//!            |  <- C
//! ```
//!
//! Each head waits for one lane, so rings are found by following one link from each head: O(heads).
//! All heads of a ring are let in at once if each fits into the space that the next head leaves and
//! no other vehicle blocks them. At signals, the heads request the stages that give them green and
//! hold these stages, as any agent may, until all of them have green. If a ring has been stationary
//! for a long time, a head that has an alternative route is rerouted. If there is none, the ring is
//! counted and stays. No vehicle is ever removed.

use super::alley::Alleys;
use super::grants::Grants;
use super::request::{Need, Request, Requests};
use super::room::{Room, Stay, Trust};
use super::rule::{JunctionState, find_place, is_stopped, of_junction, to_line};
use super::situation::Situation;
use super::{Claims, Scratch, Setting};
use crate::agents::ClaimColumns;
use crate::clock::Clock;
use crate::records::{AgentIndex, Refusal};
use roadwright_agent::Rate;
use roadwright_scenario::Connection;
use roadwright_scenario::junction::Light;
use roadwright_scenario::lane_graph::LaneletIndex;
use serde::{Deserialize, Serialize};

/// Rate of the search for rings, Hz.
const RATE: f64 = 1.0;
/// The heads of an unresolved ring search for another route at this rate, Hz. It is low because the
/// search is expensive.
const DETOUR_RATE: f64 = 0.1;
/// A vehicle counts as part of a ring if it has been stationary for at least this time, s. Vehicles
/// in moving queues also stop briefly.
pub(super) const STANDS: f64 = 3.0;
/// One head of a ring is rerouted after all its heads have been stationary for this time, s.
const TURNS_WITHIN: f64 = 60.0;
/// Like `TURNS_WITHIN`, for a ring whose heads need green, s. Each head may have to wait for two
/// signal cycles.
const TURNS_WITHIN_AT_SIGNALS: f64 = 240.0;
/// The heads of a ring request green after they have been stationary for this time, s. Most queues
/// have moved on by then.
const ASKS_FOR_GREEN: f64 = 15.0;
/// Maximum number of lanelets, starting at an exit, that are searched for the vehicle that blocks
/// the exit.
const QUEUE: usize = 12;
/// A vehicle is let in together with its ring only within this distance of its stop line, m. The
/// other vehicles of the ring rely on this vehicle. If it were farther away, its signal might turn
/// red before it reaches the line, and only part of the ring would move.
pub(super) const AT_LINE: f64 = 3.0;

/// The first vehicle in a lane, which waits for room.
#[derive(Debug, Clone)]
struct Head {
    request: Request,
    /// Connections that the vehicle needs together.
    needs: Vec<Need>,
    /// Index of the need whose exit is the full lane.
    full: usize,
    /// Oncoming vehicle that makes the head wait before an alley, if any.
    oncoming: Option<AgentIndex>,
    /// Index, in the list of heads, of the head of the full lane; `None` if that lane may be
    /// moving.
    next: Option<usize>,
}

impl Head {
    /// Whether the vehicle enters at a signal.
    fn needs_green(&self, situation: &Situation<'_>) -> bool {
        situation
            .ground
            .signals(self.request.path.junction)
            .is_some()
    }

    /// Returns the id of the agent, and the connection that it is waiting to enter.
    fn asked_connection(&self) -> (u64, Connection) {
        (self.request.id, self.request.path)
    }
}

/// A possible detour for a head of a ring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Detour {
    pub(crate) agent: AgentIndex,
    /// Index of the replaced connection in the agent's route.
    pub(crate) at: u32,
    /// The new connection. `exit` is the lane after it.
    pub(crate) connection: LaneletIndex,
    pub(crate) exit: LaneletIndex,
}

/// A ring that does not move.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StuckRing {
    /// Smallest id of the ring's heads, which identifies the ring.
    pub(crate) first_id: u64,
    /// Detours, in the order in which they are tried.
    pub(crate) detours: Vec<Detour>,
}

/// Requests that are granted together.
type Batch = Vec<(Request, Vec<Need>)>;

impl Claims {
    /// Lets the heads of rings of full lanes enter, and collects rings that have been stationary
    /// for a long time.
    pub(super) fn turn_rings(
        &mut self,
        clock: &Clock,
        setting: Setting<'_>,
        agents: &mut ClaimColumns<'_>,
    ) {
        self.gridlock.lists.stuck.clear();
        self.gridlock.forget_green();
        if !clock.is_on_beat() || self.gridlock.leaves_rings() {
            return;
        }
        let is_due = |rate| {
            let rate = Rate::new(rate, clock.beat_period());
            rate.is_due(clock.step / clock.beat_steps(), 0)
        };
        if !is_due(RATE) {
            return;
        }
        let heads = self.rings().heads(&setting.with(agents.lent()));
        let rings = rings_among(&heads);
        let first_ids: Vec<u64> = rings.iter().map(|ring| first_id(ring, &heads)).collect();
        // A ring that has dissolved can form again, and is then counted again.
        self.gridlock.keep_counted(&first_ids);
        let may_search = is_due(DETOUR_RATE);
        for (ring, first_id) in rings.iter().zip(first_ids) {
            // Recreated for each ring, so that it includes the grants of the previous ring. No head
            // is in more than one ring, because each waits for only one other head.
            let situation = &setting.with(agents.lent());
            if let Some(batch) = self.rings().batch(ring, &heads, situation) {
                self.counts.rotations += 1;
                self.grants.let_in_together(&batch, agents);
                continue;
            }
            let stood = stood_for(ring, &heads, situation);
            let needs_green = |&&number: &&usize| heads[number].needs_green(situation);
            let signals = ring.iter().filter(needs_green);
            let has_signals = signals.clone().next().is_some();
            if stood >= ASKS_FOR_GREEN {
                let asked = signals.map(|&number| heads[number].asked_connection());
                self.gridlock.lists.asks_for_green.extend(asked);
            }
            let within = if has_signals {
                TURNS_WITHIN_AT_SIGNALS
            } else {
                TURNS_WITHIN
            };
            if may_search && stood >= within {
                let detours = self.rings().detours(ring, &heads, situation);
                self.gridlock
                    .lists
                    .stuck
                    .push(StuckRing { first_id, detours });
            }
        }
    }

    fn rings(&self) -> Rings<'_> {
        Rings {
            room: self.room(),
            alleys: &self.alleys,
            requests: &self.requests,
        }
    }

    /// Counts a vehicle of a ring that was rerouted.
    pub(crate) fn count_sent_round(&mut self) {
        self.counts.sent_round += 1;
    }

    /// Counts a ring that could not be resolved. The ring is counted only once, however long it
    /// lasts.
    pub(crate) fn count_gridlock(&mut self, first_id: u64) {
        self.counts.gridlocks += u64::from(self.gridlock.is_new(first_id));
    }

    /// Counts a ring of vehicles that wait for each other for any reason, unless it has already
    /// been counted as a ring of full lanes.
    pub(crate) fn count_deadlock(&mut self, members: &[u64]) {
        self.counts.gridlocks += u64::from(!self.gridlock.has_counted_one_of(members));
    }
}

/// State of the search for rings of full lanes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gridlock {
    /// Rings of full lanes that have been counted as gridlocks, identified by the smallest agent id of their
    /// heads.
    gridlocked: Vec<u64>,
    /// Whether rings are left unresolved. Used for comparison in tests.
    #[cfg(test)]
    #[serde(skip)]
    pub(crate) leaves_rings: bool,
    #[serde(skip)]
    lists: Scratch<RingLists>,
}

/// Lists that are refilled in each search for rings.
#[derive(Debug, Clone, Default)]
struct RingLists {
    stuck: Vec<StuckRing>,
    asks_for_green: Vec<(u64, Connection)>,
}

impl Gridlock {
    #[cfg(test)]
    fn leaves_rings(&self) -> bool {
        self.leaves_rings
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "only tests change this switch")]
    fn leaves_rings(&self) -> bool {
        false
    }

    /// Copies the counted rings from the state before an edit of the roads.
    pub(super) fn take_over(&mut self, before: &Self) {
        self.gridlocked.clone_from(&before.gridlocked);
    }

    /// Whether any of these agents identifies a ring of full lanes that has been counted.
    fn has_counted_one_of(&self, agents: &[u64]) -> bool {
        self.gridlocked.iter().any(|id| agents.contains(id))
    }

    /// Drops the counted rings that no longer exist.
    fn keep_counted(&mut self, first_ids: &[u64]) {
        self.gridlocked.retain(|id| first_ids.contains(id));
    }

    /// Records a ring as counted. Returns `false` if it was already recorded.
    fn is_new(&mut self, first_id: u64) -> bool {
        let is_new = !self.gridlocked.contains(&first_id);
        if is_new {
            self.gridlocked.push(first_id);
        }
        is_new
    }

    /// Withdraws all requests for green.
    pub(super) fn forget_green(&mut self) {
        self.lists.asks_for_green.clear();
    }

    /// Removes and returns the rings that did not move in the last update and need a vehicle to be
    /// rerouted.
    pub(crate) fn stuck_rings(&mut self) -> Vec<StuckRing> {
        std::mem::take(&mut self.lists.stuck)
    }

    /// Vehicles that request green as part of a ring of full lanes: id and connection.
    pub(crate) fn asks_for_green(&self) -> &[(u64, Connection)] {
        &self.lists.asks_for_green
    }
}

/// Inputs of the search for rings.
#[derive(Clone, Copy)]
struct Rings<'a> {
    room: Room<'a>,
    alleys: &'a Alleys,
    requests: &'a Requests,
}

impl Rings<'_> {
    /// Finds the vehicles that are stationary at a junction because there is no room beyond it,
    /// each with the vehicle that it waits for.
    fn heads(&self, situation: &Situation<'_>) -> Vec<Head> {
        let agents = situation.agents;
        let standing = self.requests.all().iter().filter(|request| {
            let refused = agents.claim[request.agent.index()].refused;
            matches!(
                refused,
                // A vehicle at a red light may lack room as well.
                Refusal::NoRoom | Refusal::Red | Refusal::Occupied | Refusal::Alley
            ) && agents.progress[request.agent.index()].standing >= STANDS
        });
        let mut heads: Vec<Head> = standing
            .filter_map(|request| self.head(request, situation))
            .collect();
        // Sorted by id, so that rings are found in the same order regardless of where agents are
        // stored.
        heads.sort_unstable_by_key(|head| head.request.id);
        let mut by_agent: Vec<(AgentIndex, usize)> = heads
            .iter()
            .map(|head| head.request.agent)
            .zip(0..)
            .collect();
        by_agent.sort_unstable();
        for head in &mut heads {
            let blocker = match head.oncoming {
                Some(oncoming) => foremost_of(oncoming, situation),
                None => blocker(head.needs[head.full].exit, situation),
            };
            let known = |agent| {
                by_agent
                    .binary_search_by_key(&agent, |(agent, _)| *agent)
                    .ok()
            };
            head.next = blocker.and_then(known).map(|place| by_agent[place].1);
        }
        heads
    }

    fn head(&self, request: &Request, situation: &Situation<'_>) -> Option<Head> {
        let mut needs = Vec::new();
        situation.needs(request, &mut needs);
        if let Some(oncoming) = self.oncoming(request, &needs, situation) {
            return Some(Head {
                request: *request,
                needs,
                full: 0,
                oncoming: Some(oncoming),
                next: None,
            });
        }
        let last = needs.len().checked_sub(1)?;
        let full = (0..needs.len()).find(|&i| {
            let stay = if i == last { Stay::Stop } else { Stay::Pass };
            let (room, trust) = (self.room, Trust::LetIn);
            !room.has_room(request, &needs[i], stay, &[], trust, situation)
        })?;
        // Roundabouts have a separate rule, which keeps their rings from locking.
        let is_roundabout = situation.ground.ring(needs[full].exit).is_some();
        (!is_roundabout).then_some(Head {
            request: *request,
            needs,
            full,
            oncoming: None,
            next: None,
        })
    }

    /// Finds the oncoming vehicle in an alley that a request needs, at a junction or after it.
    fn oncoming(
        &self,
        request: &Request,
        needs: &[Need],
        situation: &Situation<'_>,
    ) -> Option<AgentIndex> {
        if !self.alleys.are_heeded(situation.ground) {
            return None;
        }
        let mut alleys = Vec::new();
        self.alleys
            .needs_beyond(request, needs, situation, &mut alleys);
        self.alleys.first_of(request.agent, &alleys, situation)
    }

    fn needs_alley(&self, request: &Request, needs: &[Need], situation: &Situation<'_>) -> bool {
        if !self.alleys.are_heeded(situation.ground) {
            return false;
        }
        let mut alleys = Vec::new();
        self.alleys
            .needs_beyond(request, needs, situation, &mut alleys);
        !alleys.is_empty()
    }

    /// Returns the requests and needs of the heads of a ring; `None` unless all heads may enter now
    /// and find room if they enter together.
    fn batch(&self, ring: &[usize], heads: &[Head], situation: &Situation<'_>) -> Option<Batch> {
        let mut batch: Batch = Vec::with_capacity(ring.len());
        for &number in ring {
            let head = &heads[number];
            let next = &heads[head.next?];
            // A vehicle that waits for an alley cannot enter before all oncoming vehicles have left
            // it.
            if self.needs_alley(&head.request, &head.needs, situation) {
                return None;
            }
            // Intermediate lanes have to be empty, because the ring does not make room on them.
            let is_last = head.full + 1 == head.needs.len();
            let need = &head.needs[head.full];
            let (leaves, comes) = [next, head]
                .map(|head| situation.space(head.request.agent))
                .into();
            // A lane that is already too full must not become fuller.
            let fits = comes <= leaves
                || self
                    .room
                    .room_beyond(&head.request, need, Trust::Nobody, situation)
                    + leaves
                    >= comes;
            if !is_last || !fits {
                return None;
            }
            if !self.may_come_last(head, situation) {
                return None;
            }
            if batch
                .iter()
                .any(|(_, others)| are_in_conflict(&head.needs, others, situation))
            {
                return None;
            }
            batch.push((head.request, head.needs.clone()));
        }
        Some(batch)
    }

    /// Whether a head may enter all connections that it needs, after all vehicles that have been
    /// let in. It has to come last, because a vehicle that passes before others must not rely on
    /// them to move. It need not yield, because vehicles with right of way could not drive on
    /// either.
    fn may_come_last(&self, head: &Head, situation: &Situation<'_>) -> bool {
        head.needs.iter().all(|need| {
            if self.room.closing.is_closed(need.junction) {
                return false;
            }
            let is_first = need.at == head.request.at;
            let is_before_line = is_first && to_line(&head.request, situation) > AT_LINE;
            // At amber, the light may turn red before the vehicle has entered, while the other
            // heads wait for it.
            let is_green =
                situation.light(Connection::new(need.junction, need.path)) == Light::Green;
            if is_before_line || need.has_law && !is_green {
                return false;
            }
            let junction = JunctionState {
                inside: self.room.grants.of(need.junction),
                pending: self.requests.pending(),
                approaches: of_junction(self.requests.approaches(), need.junction),
            };
            is_stopped(&head.request, need, situation).is_ok()
                && find_place(&head.request, need, &junction, situation) == Ok(None)
        })
    }

    /// Finds other lanes with room that the heads of a ring can enter from their current positions,
    /// in the order of ids and lanelets. The planners determine whether a route to the goals leads
    /// on from there.
    fn detours(&self, ring: &[usize], heads: &[Head], situation: &Situation<'_>) -> Vec<Detour> {
        let mut ring = ring.to_vec();
        ring.sort_unstable();
        ring.iter()
            .flat_map(|&number| self.detours_of(&heads[number], situation))
            .collect()
    }

    fn detours_of(&self, head: &Head, situation: &Situation<'_>) -> Vec<Detour> {
        let (agent, at) = (head.request.agent, head.request.at);
        let graph = situation.ground.graph();
        let Some(lane) = situation.lane_before(agent, at) else {
            return Vec::new();
        };
        let class = situation.vehicle_type(agent).class;
        let detour = |&connection: &LaneletIndex| {
            let exit = *graph.successors(connection).first()?;
            let Connection {
                junction,
                number: path,
            } = situation.ground.contested(connection)?;
            let need = Need {
                junction,
                path,
                at,
                exit,
                has_law: true,
            };
            let is_other = head.needs.first().is_some_and(|own| exit != own.exit);
            let is_open = graph.lanelet(exit).access.admits(class)
                && graph.lanelet(connection).access.admits(class);
            let (stay, trust) = (Stay::Stop, Trust::Nobody);
            let has_room = (self.room).has_room(&head.request, &need, stay, &[], trust, situation);
            (is_other && is_open && has_room).then_some(Detour {
                agent,
                at,
                connection,
                exit,
            })
        };
        graph.successors(lane).iter().filter_map(detour).collect()
    }
}

impl Grants {
    fn let_in_together(&mut self, batch: &Batch, agents: &mut ClaimColumns<'_>) {
        for (request, needs) in batch {
            let claim = &mut agents.claim[request.agent.index()];
            claim.granted_to = self.grant_last(request, needs);
            claim.refused = Refusal::None;
            self.keep_at_amber(request.agent, needs);
        }
    }

    /// Makes a vehicle that was let in with its ring continue at amber, even if it could easily
    /// stop, because the other vehicles of the ring rely on it.
    fn keep_at_amber(&mut self, agent: AgentIndex, needs: &[Need]) {
        for need in needs {
            let grants = self.of_mut(need.junction).iter_mut();
            for grant in grants.filter(|grant| grant.agent == agent) {
                grant.is_in_ring = true;
            }
        }
    }
}

/// Whether the connections of two heads of a ring conflict in a junction. If they do, one head
/// would wait inside the junction for the other, which might itself wait for the room that the
/// first head leaves.
fn are_in_conflict(one: &[Need], other: &[Need], situation: &Situation<'_>) -> bool {
    one.iter().any(|a| {
        let same = other.iter().filter(|b| b.junction == a.junction);
        let conflicts = situation.ground.long_conflicts(a.junction);
        same.into_iter()
            .any(|b| conflicts.are_in_conflict(a.path, b.path))
    })
}

/// Returns the vehicle at the head of the queue that fills a lane: the foremost vehicle on the lane, or on
/// the lanes where the queue continues.
fn blocker(exit: LaneletIndex, situation: &Situation<'_>) -> Option<AgentIndex> {
    foremost_of(situation.lanes().front_of_queue(exit)?, situation)
}

/// Returns the vehicle at the head of the queue in which `first` stands.
fn foremost_of(mut first: AgentIndex, situation: &Situation<'_>) -> Option<AgentIndex> {
    for _ in 0..QUEUE {
        let agent = first.index();
        let claim = &situation.agents.claim[agent];
        // The vehicle has been let in, or waits at a junction.
        let at = situation.agents.progress[agent].at;
        let waits = !matches!(claim.refused, Refusal::None | Refusal::NotFirst);
        if waits || claim.granted_to > at + 1 {
            return Some(first);
        }
        let next = situation.route(first).lanelet(at + 1)?;
        let front = situation.lanes().front_of_queue(next);
        match front.filter(|&agent| agent != first) {
            Some(agent) => first = agent,
            None => return Some(first),
        }
    }
    None
}

/// Time since the last head of a ring stopped, s.
fn stood_for(ring: &[usize], heads: &[Head], situation: &Situation<'_>) -> f64 {
    let agents = ring
        .iter()
        .map(|&number| heads[number].request.agent.index());
    agents.fold(f64::INFINITY, |least, agent| {
        least.min(situation.agents.progress[agent].standing)
    })
}

fn first_id(ring: &[usize], heads: &[Head]) -> u64 {
    let ids = ring.iter().map(|&number| heads[number].request.id);
    ids.min().unwrap_or_default()
}

/// Returns the rings of heads that wait for each other, in the order of their smallest indices.
///
/// Each head has at most one link, which leads to the head that it waits for. A walk follows the
/// links from an unmarked head and marks each head with the number of the walk. It ends at a head
/// without a link, at a mark of an earlier walk, or at a mark of the same walk, which closes a
/// ring.
fn rings_among(heads: &[Head]) -> Vec<Vec<usize>> {
    let mut marks = vec![usize::MAX; heads.len()];
    let mut rings = Vec::new();
    for start in 0..heads.len() {
        let mut at = Some(start);
        while let Some(number) = at {
            if marks[number] == start {
                rings.push(ring_from(number, heads));
                break;
            }
            if marks[number] != usize::MAX {
                break;
            }
            marks[number] = start;
            at = heads[number].next;
        }
    }
    rings
}

/// The heads of a ring, starting with a given one.
fn ring_from(start: usize, heads: &[Head]) -> Vec<usize> {
    let mut ring = vec![start];
    let mut at = heads[start].next;
    while let Some(number) = at.filter(|&number| number != start) {
        ring.push(number);
        at = heads[number].next;
    }
    ring
}
