//! Alleys: stretches of road that are too narrow for two vehicles side by side. The two directions
//! use them in turn.
//!
//! ```text
//!              hold                     hold
//!   [B3] [B2]  [B1]  |     [A1] ->      |           A1 was let in; B1 waits for it. Once B1
//!   -----------------'------------------'------     has waited for six seconds, A2 is no
//!                                       [A2]        longer let in: B1 is next.
//! ```
//!
//! A vehicle requests an alley as it requests a junction. On the open road, it waits before the
//! alley. If there is no space to stand between a junction and the alley, the vehicle is let into
//! both at once or into neither. Vehicles in the same direction follow each other until a vehicle
//! at the other end has waited for [`TURN_AFTER`]. From then on, vehicles at this end that made
//! their requests later than the waiting vehicle have to wait for it.
//!
//! **Why waiting never forms a circle:** a vehicle requests all alleys up to the first place where
//! it can stand clear of alleys and junctions, and gets them all at once. It makes the request from
//! such a place, or from a stop line before all these alleys. Therefore a vehicle that holds an
//! alley never waits for another alley, and never has to give back an alley for which another
//! vehicle could be waiting. Like any other vehicle, it waits only for vehicles that hold junction
//! tickets, and those wait for no alley. A vehicle that waits for an alley holds neither an alley
//! nor a ticket. It keeps other vehicles out of alleys but not out of junctions, and only if they
//! made their requests later. The vehicle with the earliest request is blocked only by vehicles
//! inside.
//!
//! **Theorem.** Alleys that touch, with no place to stand between them, form a *section*. Assume
//! that
//!
//! - vehicles that leave a section find room there, because the lanes beyond drain,
//! - no two vehicles that cannot pass each other start in one section facing each other, and
//! - no vehicle has to turn round inside a section, as at the end of an alley that leads nowhere.
//!
//! Then a vehicle that requests alleys enters after at most `TURN_AFTER + (n + 1) T`, where `n` is
//! the number of vehicles with earlier requests and `T` is the longest time that a vehicle takes
//! through a section.
//!
//! *Proof.* A vehicle inside holds all alleys up to a place with room, and no vehicle is oncoming,
//! so it leaves within `T`. Induction over `n`: the vehicles with earlier requests have entered by
//! `TURN_AFTER + n T`, so this vehicle is the first before its alleys. It has waited for
//! [`TURN_AFTER`], so no vehicle from the other direction with a later request is let in. The
//! vehicles inside leave within `T`.
//!
//! `alley/model.rs` tests this for all networks of up to four alleys. The assumptions are
//! necessary. If full lanes wait for each other's room in a ring, `gridlock.rs` rotates them, but
//! it does not succeed if the ring leads through an alley. Vehicles that face each other in an
//! alley stand until one of them is removed. Departures never face each other, because a vehicle
//! departs only when no vehicle is oncoming (`demand/departure.rs`); `check` reports agents that
//! start facing each other (`facing-in-alley`).
//!
//! In some alleys, two cars can pass each other, but a bus cannot pass any vehicle. In others, only
//! two buses cannot pass each other. In such alleys, only vehicles that cannot pass each other wait
//! for each other ([`Passing`](roadwright_scenario::alleys::Passing)). Such an alley extends beyond
//! an alley for two cars that lies within it. A vehicle that needs both gets both at once, so no
//! vehicle waits within one for the other.
//!
//! A vehicle that is inside without having been let in (it spawned there, or its driver ignores the
//! rules) counts as holding the alley until it has left. If it needs the next alley in order to
//! leave, vehicles that wait for its current alley do not keep it out of the next one. Nor do they
//! keep out a vehicle ahead of it, behind which it waits: in an alley in which only two buses
//! cannot pass each other, a car that holds nothing may wait for an inner alley, with a bus behind
//! it. The same applies beyond the alley: an edit may put a new junction where the vehicle was
//! promised room, so that it stands in the alley behind the next vehicle.

mod bound;
#[cfg(test)]
mod model;

pub(super) use bound::wait_beyond;
pub use bound::{AlleyWait, alley_waits};

use super::Scratch;
use super::gridlock::STANDS;
use super::request::{Need, Request, reach};
use super::rule::TURN_AFTER;
use super::situation::Situation;
use super::walls::Wall;
use crate::records::{AgentIndex, Refusal};
use roadwright_ground::Ground;
use roadwright_scenario::alleys::{AlleyDirection, AlleySide};
use roadwright_scenario::lane_graph::LaneletIndex;
use serde::{Deserialize, Serialize};

/// Vehicles wait at this distance before an alley, m.
const BEFORE: f64 = 1.0;
/// A vehicle that is farther than this inside an alley is no longer stopped before the alley, m.
const INSIDE: f64 = 0.5;

/// A vehicle on one of this many lanelets beyond an alley can block another vehicle that stands in
/// the alley. The lanelets include a junction and the lanes on both sides of it.
const LANELETS_BEYOND: u32 = 4;

/// An alley that a vehicle has been granted or is inside.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Hold {
    agent: AgentIndex,
    side: AlleySide,
    /// Index of the lanelet in the agent's route.
    at: u32,
    lanelet: LaneletIndex,
    /// Whether the vehicle's front has reached the alley.
    has_entered: bool,
}

/// A vehicle that waits for an alley on the open road.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Waiter {
    agent: AgentIndex,
    /// Index of the alley's lanelet in the vehicle's route.
    at: u32,
    /// Step of the vehicle's request.
    since: u64,
}

/// Alleys that agents hold, and agents that wait for alleys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Alleys {
    /// Held alleys, in the order of the grants.
    held: Vec<Hold>,
    /// Waiting agents, ordered by index.
    waiting: Vec<Waiter>,
    /// Part of the rule that a test has switched off for comparison.
    #[cfg(test)]
    #[serde(skip)]
    pub(crate) switched_off: SwitchedOff,
    #[serde(skip)]
    lists: Scratch<AlleyLists>,
}

/// Part of the alley rule that is switched off.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum SwitchedOff {
    #[default]
    Nothing,
    /// The reservation beyond an alley. A vehicle is let in without the next alley, and without
    /// room behind the alley.
    Beyond,
    /// Everything: alleys are treated as ordinary roads.
    Everything,
}

/// Lists that are refilled in each update.
#[derive(Debug, Clone, Default)]
struct AlleyLists {
    /// Agents that may reach an alley soon.
    near: Vec<AgentIndex>,
    /// Requests for alleys from the open road.
    requests: Vec<AlleyRequest>,
    /// Alleys that the current request needs.
    needs: Vec<AlleyNeed>,
    /// Alleys that are reserved for agents that have waited for a long time.
    kept: Vec<Kept>,
    /// Agents that lose alleys because another vehicle is now ahead of them. Each has the route
    /// index of the first alley that it loses.
    overtaken: Vec<(AgentIndex, u32)>,
}

/// A place on an agent's route, before an alley.
#[derive(Debug, Clone, Copy)]
struct Before {
    /// Index of the lanelet in the route.
    at: u32,
    /// Distance along the lanelet, m.
    s: f64,
}

/// An alley that a request needs, with its direction and the route index of its lanelet.
#[derive(Debug, Clone, Copy)]
pub(super) struct AlleyNeed {
    pub(super) side: AlleySide,
    at: u32,
}

/// A vehicle that requests an alley from the open road.
#[derive(Debug, Clone, Copy)]
pub(super) struct AlleyRequest {
    /// Step of the request.
    pub(super) since: u64,
    pub(super) id: u64,
    pub(super) agent: AgentIndex,
    /// The first alley that the vehicle needs.
    first: AlleyNeed,
    /// Place where the vehicle waits: its route index, and the distance along the lanelet, m.
    hold: Wall,
}

/// A vehicle that has waited for an alley for a long time. Vehicles at the other end with later
/// requests have to wait for it.
#[derive(Debug, Clone, Copy)]
struct Kept {
    agent: AgentIndex,
    side: AlleySide,
}

impl Alleys {
    /// Returns the state to be hashed, with ids instead of indices.
    pub(super) fn hashed(&self, id_of: impl Fn(AgentIndex) -> u64) -> impl Serialize {
        let held = self.held.iter();
        let held = held.map(|hold| {
            (
                id_of(hold.agent),
                Hold {
                    agent: AgentIndex::default(),
                    ..*hold
                },
            )
        });
        let waiting = self.waiting.iter();
        let mut waiting: Vec<_> = waiting
            .map(|one| {
                (
                    id_of(one.agent),
                    Waiter {
                        agent: AgentIndex::default(),
                        ..*one
                    },
                )
            })
            .collect();
        waiting.sort_unstable_by_key(|(id, one)| (*id, one.at));
        (held.collect::<Vec<_>>(), waiting)
    }

    /// Whether all indices are valid on this ground and for this number of agents.
    pub(super) fn fits(&self, ground: &Ground, agents: usize) -> bool {
        let (alleys, lanelets) = (
            ground.alleys().list().len(),
            ground.graph().lanelets().len(),
        );
        let is_sound = |hold: &Hold| {
            (hold.agent.index()) < agents
                && (hold.side.alley as usize) < alleys
                && (hold.lanelet.index()) < lanelets
        };
        self.held.iter().all(is_sound)
            && self.waiting.iter().all(|one| (one.agent.index()) < agents)
            && self.waiting.is_sorted_by_key(|one| one.agent)
    }

    /// Whether the ground has alleys in which the two directions take turns, and the rule is not
    /// switched off.
    #[cfg(test)]
    pub(super) fn are_heeded(&self, ground: &Ground) -> bool {
        !ground.alleys().is_empty() && self.switched_off != SwitchedOff::Everything
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "only tests change this switch")]
    pub(super) fn are_heeded(&self, ground: &Ground) -> bool {
        !ground.alleys().is_empty()
    }

    /// Whether a vehicle that is let into an alley also gets the next alleys, up to a place with room.
    #[cfg(test)]
    fn reserves_beyond(&self) -> bool {
        self.switched_off != SwitchedOff::Beyond
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "only tests change this switch")]
    fn reserves_beyond(&self) -> bool {
        true
    }

    /// Releases the alleys that an agent holds from route index `at` onwards, unless the agent is already in
    /// an alley. An agent in an alley keeps all its alleys, because it needs them in order to leave.
    pub(super) fn forget_from(&mut self, agent: AgentIndex, at: u32) {
        let mut own = self.held.iter().filter(|hold| hold.agent == agent);
        if !own.any(|hold| hold.has_entered) {
            self.held.retain(|hold| hold.agent != agent || hold.at < at);
        }
    }

    /// Releases all alleys that an agent holds.
    pub(super) fn forget(&mut self, agent: AgentIndex) {
        self.held.retain(|hold| hold.agent != agent);
    }

    /// Carries held alleys and the times of requests over an edit of the roads. Otherwise, a
    /// vehicle that was let in but has not reached its alley could meet a vehicle that is let in
    /// from the other end. `moved` maps old lanelets to new ones. `place` maps an index of an
    /// agent's old route to the lanelet there and to its index in the new route; it returns `None`
    /// if the agent may not drive there.
    pub(crate) fn take_over(
        &mut self,
        held: &Self,
        [before, after]: [&Ground; 2],
        moved: impl Fn(LaneletIndex) -> Option<LaneletIndex>,
        place: impl Fn(AgentIndex, u32) -> Option<(u32, LaneletIndex)>,
    ) {
        for &hold in &held.held {
            let is_same =
                |&(_, lanelet): &(u32, LaneletIndex)| moved(hold.lanelet) == Some(lanelet);
            let Some((at, lanelet)) = place(hold.agent, hold.at).filter(is_same) else {
                continue;
            };
            let scale = after.length(lanelet) / before.length(hold.lanelet);
            let old = before.alleys().direction(hold.side);
            for &side in after.alleys().on(lanelet) {
                let new = after.alleys().direction(side);
                let overlaps = new.from < old.to * scale && new.to > old.from * scale;
                if overlaps && !self.has(hold.agent, AlleyNeed { side, at }) {
                    self.held.push(Hold {
                        side,
                        at,
                        lanelet,
                        ..hold
                    });
                }
            }
        }
        let waiting = held.waiting.iter().filter_map(|&one| {
            let (at, _) = place(one.agent, one.at)?;
            Some(Waiter { at, ..one })
        });
        self.waiting.extend(waiting);
    }

    /// Returns the end of the last alley that an agent is inside on the lanelet at index `at` of
    /// its route, as a position along the lanelet, m. `None` if the agent is not inside an alley
    /// there.
    pub(crate) fn inside_up_to(&self, agent: AgentIndex, at: u32, ground: &Ground) -> Option<f64> {
        let own = self.held.iter();
        let own = own.filter(|hold| hold.agent == agent && hold.at == at && hold.has_entered);
        let ends = own.map(|hold| ground.alleys().direction(hold.side).to);
        ends.reduce(f64::max)
    }

    /// Makes an agent hold the alleys that begin within `reach` metres on a lanelet of its route.
    /// This is needed after an edit that divides an alley's lane, because an agent inside has to
    /// leave through all parts.
    pub(crate) fn hold_inside(
        &mut self,
        agent: AgentIndex,
        at: u32,
        lanelet: LaneletIndex,
        reach: f64,
        ground: &Ground,
    ) {
        for &side in ground.alleys().on(lanelet) {
            let is_within = ground.alleys().direction(side).from < reach;
            if is_within && !self.has(agent, AlleyNeed { side, at }) {
                self.held.push(Hold {
                    agent,
                    side,
                    at,
                    lanelet,
                    has_entered: true,
                });
            }
        }
    }

    /// Returns the route index up to which an agent holds alleys; 0 if it holds none. The route is
    /// not replanned before this index, because the new route could lead through an alley that
    /// another vehicle holds.
    pub(crate) fn held_to(&self, agent: AgentIndex) -> u32 {
        let own = self.held.iter().filter(|hold| hold.agent == agent);
        own.map(|hold| hold.at + 1).max().unwrap_or(0)
    }

    /// Updates which vehicles are inside alleys or have left them, and finds the agents that may
    /// reach an alley soon.
    pub(super) fn look(&mut self, situation: &Situation<'_>) {
        self.held.retain_mut(|hold| {
            let direction = situation.ground.alleys().direction(hold.side);
            let is_on_route = situation.agents.drives(hold.agent)
                && situation.agents.position[hold.agent.index()].is_on_lane()
                && situation.route(hold.agent).lanelet(hold.at) == Some(hold.lanelet);
            if !is_on_route {
                return false;
            }
            hold.has_entered |= situation.front(hold.agent, hold.at) > direction.from;
            let is_beyond = situation.agents.progress[hold.agent.index()].at >= hold.at;
            !(is_beyond && situation.rear(hold.agent, hold.at) >= direction.to)
        });
        self.lists.near.clear();
        for agent in situation.agents.driving() {
            let position = &situation.agents.position[agent.index()];
            if !position.is_on_lane() {
                continue;
            }
            // Most agents cannot reach an alley soon, whatever their routes, and are skipped here.
            let distance = situation.ground.distance_to_alleys(position.lanelet);
            if distance == f64::INFINITY {
                continue;
            }
            if distance - position.s < reach_of(agent, situation) {
                self.lists.near.push(agent);
            }
            if distance <= 0.0 && situation.ground.alleys().are_on(position.lanelet) {
                self.watch(agent, situation);
            }
        }
    }

    /// Records an agent that is inside an alley without having been let in.
    fn watch(&mut self, agent: AgentIndex, situation: &Situation<'_>) {
        let at = situation.agents.progress[agent.index()].at;
        let lanelet = situation.agents.position[agent.index()].lanelet;
        if situation.route(agent).lanelet(at) != Some(lanelet) {
            return;
        }
        let (front, rear) = (situation.front(agent, at), situation.rear(agent, at));
        for &side in situation.ground.alleys().on(lanelet) {
            let direction = situation.ground.alleys().direction(side);
            let is_inside = front > direction.from + INSIDE && rear < direction.to;
            if is_inside
                && situation.heeds_alley(agent, side)
                && !self.has(agent, AlleyNeed { side, at })
            {
                self.held.push(Hold {
                    agent,
                    side,
                    at,
                    lanelet,
                    has_entered: true,
                });
            }
        }
    }

    fn has(&self, agent: AgentIndex, need: AlleyNeed) -> bool {
        let mut held = self.held.iter();
        held.any(|hold| (hold.agent, hold.side, hold.at) == (agent, need.side, need.at))
    }

    /// Whether the first alley of a request from the open road has been granted.
    fn has_first(&self, request: &AlleyRequest) -> bool {
        self.has(request.agent, request.first)
    }

    /// Vehicles that hold an alley in the other direction and that the agent cannot pass there.
    fn oncoming<'a>(
        &'a self,
        agent: AgentIndex,
        side: AlleySide,
        situation: &'a Situation<'_>,
    ) -> impl Iterator<Item = &'a Hold> {
        let is_oncoming = move |hold: &&Hold| hold.side == side.opposite() && hold.agent != agent;
        let held = self.held.iter().filter(is_oncoming);
        held.filter(move |hold| situation.hold_up(agent, hold.agent, hold.side))
    }

    /// Collects the alley requests of the agents in `near` that wait on the open road, from the oldest
    /// request to the newest.
    pub(super) fn collect(&mut self, situation: &Situation<'_>) {
        let mut out = self.take_requests();
        out.clear();
        for &agent in &self.lists.near {
            if let Some((first, hold)) = self.next(agent, situation) {
                out.push(AlleyRequest {
                    since: situation.step,
                    id: situation.agents.identity[agent.index()].id,
                    agent,
                    first,
                    hold,
                });
            }
        }
        for request in &mut out {
            let known = self
                .waiting
                .binary_search_by_key(&request.agent, |one| one.agent);
            let known = known.ok().map(|place| self.waiting[place]);
            if let Some(before) = known.filter(|one| one.at == request.first.at) {
                request.since = before.since;
            }
        }
        self.waiting.clear();
        self.waiting.extend(out.iter().map(|request| Waiter {
            agent: request.agent,
            at: request.first.at,
            since: request.since,
        }));
        self.waiting.sort_unstable_by_key(|one| one.agent);
        out.sort_unstable_by_key(|request| (request.since, request.id));
        self.put_back(out);
    }

    /// Takes the requests out of the lists, so that alleys can be changed while the requests are
    /// decided.
    pub(super) fn take_requests(&mut self) -> Vec<AlleyRequest> {
        std::mem::take(&mut self.lists.requests)
    }

    /// Puts the requests back into the lists.
    pub(super) fn put_back(&mut self, requests: Vec<AlleyRequest>) {
        self.lists.requests = requests;
    }

    /// Clears the list of alleys that were reserved in the last update.
    pub(super) fn begin(&mut self) {
        self.lists.kept.clear();
    }

    /// Adds to `out` a stop before the alley for each vehicle that has not been let in.
    pub(super) fn hold_before(&self, out: &mut Vec<(AgentIndex, Wall)>) {
        let waiting = self.lists.requests.iter();
        let waiting = waiting.filter(|one| !self.has_first(one));
        out.extend(waiting.map(|one| (one.agent, one.hold)));
    }

    /// Finds the next alley on an agent's route that the agent does not hold, and the place where
    /// the agent waits for it. `None` if the alley is far away, or if the agent needs the grant of
    /// a junction first.
    fn next(
        &self,
        agent: AgentIndex,
        situation: &Situation<'_>,
    ) -> Option<(AlleyNeed, (u32, f32))> {
        let index = agent.index();
        let position = &situation.agents.position[index];
        if !position.is_on_lane() {
            return None;
        }
        let (kind, reach) = (situation.vehicle_type(agent), reach_of(agent, situation));
        let route = situation.route(agent);
        let here = situation.agents.progress[index].at;
        let granted_to = situation.agents.claim[index].granted_to;
        let (mut at, mut before) = (here, -position.s);
        let mut lanelet = position.lanelet;
        while before < reach {
            for &side in situation.ground.alleys().on(lanelet) {
                let direction = situation.ground.alleys().direction(side);
                let is_passed = at == here && position.s + kind.front > direction.from + INSIDE;
                if is_passed
                    || !situation.heeds_alley(agent, side)
                    || self.has(agent, AlleyNeed { side, at })
                {
                    continue;
                }
                let hold = hold_before(direction, here, at, agent, situation)?;
                let is_near = -situation.along(agent, hold.0) + f64::from(hold.1) < reach;
                return is_near.then_some((AlleyNeed { side, at }, hold));
            }
            before += situation.ground.length(lanelet);
            let next = route.lanelet(at + 1)?;
            let is_closed = at + 1 >= granted_to && situation.ground.contested(next).is_some();
            if is_closed || !situation.ground.leads_to(lanelet, next) {
                return None;
            }
            (at, lanelet) = (at + 1, next);
        }
        None
    }

    /// Finds the alleys that an agent needs together. They start at route index `from` and extend
    /// to the first place after the lanelet at index `beyond` where the vehicle can stand clear of
    /// alleys.
    fn chain(
        &self,
        agent: AgentIndex,
        from: u32,
        first: Option<AlleySide>,
        beyond: u32,
        situation: &Situation<'_>,
        out: &mut Vec<AlleyNeed>,
    ) {
        out.clear();
        let alleys = situation.ground.alleys();
        let route = situation.route(agent);
        let space = situation.space(agent);
        // If the first alley is known, alleys before it are not considered.
        let mut start = first.map_or(0.0, |side| alleys.direction(side).from);
        let (mut s, mut clear) = (start, 0.0);
        let mut at = from;
        while let Some(lanelet) = route.lanelet(at) {
            let length = situation.ground.length(lanelet);
            if situation.ground.lanelet(lanelet).is_connection() {
                // Vehicles do not stand on connections, and the stop line before this one is inside
                // the alley.
                clear = 0.0;
            } else {
                for &side in alleys.on(lanelet) {
                    let direction = alleys.direction(side);
                    if direction.from < start || !situation.heeds_alley(agent, side) {
                        continue;
                    }
                    // Alleys may be nested.
                    clear += (direction.from - s).max(0.0);
                    if clear >= space && at > beyond {
                        return;
                    }
                    if !self.has(agent, AlleyNeed { side, at }) {
                        out.push(AlleyNeed { side, at });
                        if !self.reserves_beyond() {
                            return;
                        }
                    }
                    (clear, s) = (0.0, s.max(direction.to));
                }
                clear += length - s;
                if clear >= space && at > beyond {
                    return;
                }
            }
            let leads_on = route
                .lanelet(at + 1)
                .is_some_and(|next| situation.ground.leads_to(lanelet, next));
            if !leads_on {
                return;
            }
            (start, s, at) = (0.0, 0.0, at + 1);
        }
    }

    /// Decides whether an agent is let into the alleys after a junction, and records the alleys
    /// that it needs.
    pub(super) fn decide_beyond(
        &mut self,
        request: &Request,
        junctions: &[Need],
        situation: &Situation<'_>,
    ) -> Refusal {
        let mut needs = std::mem::take(&mut self.lists.needs);
        needs.clear();
        let mut refusal = Refusal::None;
        if self.are_heeded(situation.ground) {
            self.needs_beyond(request, junctions, situation, &mut needs);
            refusal = self.decide(request.agent, &needs, situation);
        }
        self.lists.needs = needs;
        refusal
    }

    /// Decides a request from the open road. `age` is the time since the request, s.
    pub(super) fn decide_on_road(
        &mut self,
        request: &AlleyRequest,
        age: f64,
        situation: &Situation<'_>,
    ) -> Refusal {
        let mut needs = std::mem::take(&mut self.lists.needs);
        self.needs_of(request, situation, &mut needs);
        let refusal = self.decide(request.agent, &needs, situation);
        self.lists.needs = needs;
        match refusal {
            Refusal::None => self.grant(request.agent, situation),
            Refusal::Alley => self.keep_for(request.agent, age),
            _ => {}
        }
        refusal
    }

    /// Decides whether an agent may enter the alleys now. If not, returns the reason.
    fn decide(&self, agent: AgentIndex, needs: &[AlleyNeed], situation: &Situation<'_>) -> Refusal {
        let holds_up = |other, side| situation.hold_up(agent, other, side);
        let is_behind =
            |hold: &Hold| follows(hold, agent, situation) || stands_behind(hold, agent, situation);
        if !self.are_free(agent, needs, holds_up, is_behind) {
            return Refusal::Alley;
        }
        let has_room = needs
            .last()
            .is_none_or(|&last| self.has_room_behind(agent, last, situation));
        if has_room {
            Refusal::None
        } else {
            Refusal::NoRoom
        }
    }

    /// Whether no oncoming vehicle holds one of the alleys that an agent needs, and none of these
    /// alleys is reserved for an oncoming vehicle. `holds_up` states whether the agent and another
    /// one cannot pass each other in an alley, and `is_behind` whether the holder of an alley has
    /// to pass the agent's place in order to leave.
    fn are_free(
        &self,
        agent: AgentIndex,
        needs: &[AlleyNeed],
        holds_up: impl Fn(AgentIndex, AlleySide) -> bool,
        is_behind: impl Fn(&Hold) -> bool,
    ) -> bool {
        let kept = &self.lists.kept;
        needs.iter().all(|&AlleyNeed { side, .. }| {
            let is_oncoming = |other: AgentIndex, its: AlleySide| {
                its == side.opposite() && other != agent && holds_up(other, side)
            };
            let is_kept = kept.iter().any(|other| {
                is_oncoming(other.agent, other.side)
                    && !self.waits_for(other.agent, agent, &is_behind)
            });
            let mut held = self.held.iter();
            !is_kept && !held.any(|hold| is_oncoming(hold.agent, hold.side))
        })
    }

    /// Whether the vehicle `keeper` has to wait until `agent` has left the alleys that are reserved
    /// for `keeper`. This is the case if `agent` is in one of these alleys, where it spawned, or if
    /// a vehicle behind it is (`is_behind`). Then `agent` must not wait for `keeper`.
    fn waits_for(
        &self,
        keeper: AgentIndex,
        agent: AgentIndex,
        is_behind: &impl Fn(&Hold) -> bool,
    ) -> bool {
        let mut sides = self
            .lists
            .kept
            .iter()
            .filter(|kept| kept.agent == keeper)
            .map(|kept| kept.side);
        sides.any(|side| {
            let mut held = self.held.iter();
            held.any(|hold| {
                hold.side == side.opposite() && (hold.agent == agent || is_behind(hold))
            })
        })
    }

    /// Whether there would be room for a vehicle between the end of an alley and the end of the
    /// lane if all vehicles there, and all vehicles let into the alley before it, stood in a queue.
    /// Without room, the vehicle might stop in the alley. If an alley ends together with its lane,
    /// it is treated like an ordinary lane.
    fn has_room_behind(
        &self,
        agent: AgentIndex,
        need: AlleyNeed,
        situation: &Situation<'_>,
    ) -> bool {
        if !self.reserves_beyond() {
            return true;
        }
        let mut taken = 0.0;
        let visit = |other| taken += situation.space(other);
        let Some(length) = self.look_behind(agent, need, situation, visit) else {
            return true;
        };
        // A vehicle that is longer than this stretch has to find it empty.
        taken == 0.0 || taken + situation.space(agent) <= length
    }

    /// Returns the vehicles that leave no room for an agent behind an alley: the vehicles that
    /// stand there or, if there are none, the vehicles that were let in before the agent. `None` if
    /// there is room.
    pub(super) fn whom_behind(
        &self,
        agent: AgentIndex,
        need: AlleyNeed,
        situation: &Situation<'_>,
    ) -> Option<Vec<AgentIndex>> {
        if self.has_room_behind(agent, need, situation) {
            return None;
        }
        let direction = situation.ground.alleys().direction(need.side);
        let mut whom = Vec::new();
        self.look_behind(agent, need, situation, |other| whom.push(other));
        let is_there = |other: &AgentIndex| {
            let position = &situation.agents.position[other.index()];
            position.lanelet == direction.lanelet && position.s > direction.from
        };
        if whom.iter().any(is_there) {
            whom.retain(is_there);
        }
        Some(whom)
    }

    /// Calls `visit` for each vehicle that needs room between the end of an alley and the next
    /// alley or the end of the lane. Returns the length of this stretch, m, or `None` if the alley
    /// ends with its lane.
    fn look_behind(
        &self,
        agent: AgentIndex,
        need: AlleyNeed,
        situation: &Situation<'_>,
        visit: impl FnMut(AgentIndex),
    ) -> Option<f64> {
        let side = need.side;
        let direction = situation.ground.alleys().direction(side);
        let sides = situation.ground.alleys().on(direction.lanelet).iter();
        let sides = sides.filter(|&&side| situation.heeds_alley(agent, side));
        let later = sides.map(|&side| situation.ground.alleys().direction(side).from);
        let end = later
            .filter(|from| *from >= direction.to)
            .fold(situation.ground.length(direction.lanelet), f64::min);
        if end <= direction.to {
            return None;
        }
        let is_behind =
            |s: f64, other: AgentIndex| s + situation.vehicle_type(other).front > direction.to;
        let entries = situation.index.on_lanelet(direction.lanelet).iter();
        let there = entries
            .filter(|entry| is_behind(entry.s, entry.agent) && entry.s < end)
            .map(|entry| entry.agent);
        let held = self.held.iter().filter(|hold| hold.side == side);
        // A vehicle that was let in farther back can use its room only after this vehicle has
        // passed.
        let promised = held
            .filter(|hold| !is_behind(situation.along(hold.agent, hold.at), hold.agent))
            .filter(|hold| !follows(hold, agent, situation))
            .map(|hold| hold.agent);
        let others = there.chain(promised).filter(|&other| other != agent);
        others.for_each(visit);
        Some(end - direction.to)
    }

    /// Returns how far an agent drives along a lanelet of its route if it waits for an alley there,
    /// m. Infinite if there is no alley, if the agent holds it or is inside it, or if the alley
    /// begins so early that the agent is let into it together with the junction before it
    /// (`chain`). `at` is the route index of the lanelet.
    pub(super) fn waits_up_to(&self, agent: AgentIndex, at: u32, situation: &Situation<'_>) -> f64 {
        if !self.are_heeded(situation.ground) {
            return f64::INFINITY;
        }
        let Some(lanelet) = situation.route(agent).lanelet(at) else {
            return f64::INFINITY;
        };
        let alleys = situation.ground.alleys();
        let is_there = situation.agents.progress[agent.index()].at == at;
        let begins = alleys.on(lanelet).iter().filter_map(|&side| {
            let from = alleys.direction(side).from;
            let is_passed = is_there && situation.front(agent, at) > from + INSIDE;
            let waits = !is_passed
                && from >= situation.space(agent)
                && situation.heeds_alley(agent, side)
                && !self.has(agent, AlleyNeed { side, at });
            waits.then_some(from)
        });
        begins.fold(f64::INFINITY, f64::min)
    }

    /// Grants an agent the alleys that were recorded as needed.
    pub(super) fn grant(&mut self, agent: AgentIndex, situation: &Situation<'_>) {
        let needs = self.lists.needs.iter();
        self.held.extend(needs.map(|&AlleyNeed { side, at }| Hold {
            agent,
            side,
            at,
            lanelet: situation.ground.alleys().direction(side).lanelet,
            has_entered: false,
        }));
    }

    /// Reserves alleys for an agent that has waited long enough, so that vehicles at the other end
    /// with later requests have to wait.
    pub(super) fn keep_for(&mut self, agent: AgentIndex, age: f64) {
        if age >= TURN_AFTER {
            let AlleyLists { needs, kept, .. } = &mut *self.lists;
            kept.extend(
                needs
                    .iter()
                    .map(|&AlleyNeed { side, .. }| Kept { agent, side }),
            );
        }
    }

    /// Whether an agent that requests an alley from the open road is the first one in its queue
    /// that has not been let in.
    pub(super) fn has_turn(&self, request: &AlleyRequest, situation: &Situation<'_>) -> bool {
        let (at, s) = request.hold;
        self.is_first_before(
            request.agent,
            request.first.side,
            Before { at, s: s.into() },
            situation,
        )
    }

    /// Whether all vehicles between an agent and a place on its route hold the alley that follows
    /// this place.
    fn is_first_before(
        &self,
        agent: AgentIndex,
        side: AlleySide,
        place: Before,
        situation: &Situation<'_>,
    ) -> bool {
        let route = situation.route(agent);
        let here = situation.agents.progress[agent.index()].at;
        let own = situation.agents.position[agent.index()].s;
        (here..=place.at).all(|at| {
            let Some(lanelet) = route.lanelet(at) else {
                return true;
            };
            let from = if at == here { own } else { f64::NEG_INFINITY };
            let to = if at == place.at {
                place.s
            } else {
                f64::INFINITY
            };
            let mut others = situation.index.on_lanelet(lanelet).iter();
            others.all(|entry| {
                let is_between = entry.agent != agent && entry.s > from && entry.s < to;
                let mut held = self.held.iter();
                !is_between || held.any(|hold| hold.agent == entry.agent && hold.side == side)
            })
        })
    }

    /// Revokes the alleys of vehicles on the open road that have not entered yet and are no longer
    /// first in their queue, because a vehicle has spawned or merged ahead of them. Otherwise, the
    /// vehicle ahead could wait for an oncoming vehicle that waits for the holder of the alley.
    pub(super) fn revoke_overtaken(&mut self, situation: &Situation<'_>) {
        let mut overtaken = std::mem::take(&mut self.lists.overtaken);
        overtaken.clear();
        for hold in self.held.iter().filter(|hold| !hold.has_entered) {
            let here = situation.agents.progress[hold.agent.index()].at;
            let route = situation.route(hold.agent);
            let mut ahead = (here..=hold.at).filter_map(|at| route.lanelet(at));
            if ahead.any(|lanelet| situation.ground.contested(lanelet).is_some()) {
                // The junction let the vehicle in together with the alley, and checks the order of
                // vehicles itself.
                continue;
            }
            let s = situation.ground.alleys().direction(hold.side).from;
            let place = Before { at: hold.at, s };
            if !self.is_first_before(hold.agent, hold.side, place, situation) {
                overtaken.push((hold.agent, hold.at));
            }
        }
        for &(agent, at) in &overtaken {
            self.forget_from(agent, at);
        }
        self.lists.overtaken = overtaken;
    }

    /// Alleys that a request from the open road needs.
    fn needs_of(
        &self,
        request: &AlleyRequest,
        situation: &Situation<'_>,
        out: &mut Vec<AlleyNeed>,
    ) {
        let AlleyNeed { side, at } = request.first;
        // The first alley is needed as a whole, and room is searched after it.
        self.chain(
            request.agent,
            at,
            Some(side),
            at.saturating_sub(1),
            situation,
            out,
        );
    }

    /// Finds the alleys that an agent on the open road waits for. Returns `false` if there are
    /// none.
    pub(super) fn needs_from_the_road(
        &self,
        agent: AgentIndex,
        situation: &Situation<'_>,
        out: &mut Vec<AlleyNeed>,
    ) -> bool {
        let Some((first, hold)) = self.next(agent, situation) else {
            return false;
        };
        let request = AlleyRequest {
            since: situation.step,
            id: 0,
            agent,
            first,
            hold,
        };
        self.needs_of(&request, situation, out);
        true
    }

    /// Finds the alleys after a junction that a request to the junction needs.
    pub(super) fn needs_beyond(
        &self,
        request: &Request,
        needs: &[Need],
        situation: &Situation<'_>,
        out: &mut Vec<AlleyNeed>,
    ) {
        out.clear();
        if let Some(last) = needs.last() {
            let from = request.at + 1;
            self.chain(request.agent, from, None, last.at, situation, out);
        }
    }

    /// Whether there is an alley before route index `at` that an agent does not hold. If so, the
    /// agent makes no requests beyond that alley.
    pub(super) fn is_held_up_before(&self, agent: AgentIndex, at: u32) -> bool {
        let known = self.waiting.binary_search_by_key(&agent, |one| one.agent);
        known.is_ok_and(|place| self.waiting[place].at < at)
    }

    /// Returns the oncoming agents that an agent has to wait for before alleys.
    pub(super) fn whom(
        &self,
        agent: AgentIndex,
        needs: &[AlleySide],
        situation: &Situation<'_>,
    ) -> Vec<AgentIndex> {
        let others = (needs.iter()).flat_map(|&side| self.oncoming(agent, side, situation));
        others.map(|hold| hold.agent).collect()
    }

    /// Returns the oncoming agent that will leave first. The other oncoming agents follow it.
    pub(super) fn first_of(
        &self,
        agent: AgentIndex,
        needs: &[AlleyNeed],
        situation: &Situation<'_>,
    ) -> Option<AgentIndex> {
        let side = needs
            .iter()
            .map(|need| need.side)
            .find(|&side| self.oncoming(agent, side, situation).next().is_some())?;
        let mut others: Vec<&Hold> = self.oncoming(agent, side, situation).collect();
        others.sort_by(|a, b| {
            let along = |hold: &Hold| situation.along(hold.agent, hold.at);
            let id = |hold: &Hold| situation.agents.identity[hold.agent.index()].id;
            along(b).total_cmp(&along(a)).then(id(a).cmp(&id(b)))
        });
        others.first().map(|hold| hold.agent)
    }

    /// Agents that wait for alleys on the open road, with the steps of their requests.
    #[cfg(test)]
    pub(crate) fn waiting_since(&self) -> Vec<(AgentIndex, u64)> {
        let waiting = self.waiting.iter();
        waiting.map(|one| (one.agent, one.since)).collect()
    }

    /// Agents that hold an alley in one direction, in the order in which they were let in.
    pub(crate) fn holders(&self, side: AlleySide) -> impl Iterator<Item = AgentIndex> + '_ {
        let held = self.held.iter().filter(move |hold| hold.side == side);
        held.map(|hold| hold.agent)
    }
}

/// Whether the holder of an alley has to pass the position of another agent before it reaches the
/// alley.
fn follows(hold: &Hold, other: AgentIndex, situation: &Situation<'_>) -> bool {
    let (own, place) = (
        &situation.agents.position[hold.agent.index()],
        &situation.agents.position[other.index()],
    );
    let here = situation.agents.progress[hold.agent.index()].at;
    let route = situation.route(hold.agent);
    (here..=hold.at)
        .any(|at| route.lanelet(at) == Some(place.lanelet) && (at > here || own.s < place.s))
}

/// Whether the holder of an alley stands in the alley and has to pass the position of another agent
/// soon after it. An edit of the roads may have taken the room that the holder was promised there,
/// so the holder may wait for the other agent to drive on.
fn stands_behind(hold: &Hold, other: AgentIndex, situation: &Situation<'_>) -> bool {
    let stands = situation.agents.progress[hold.agent.index()].standing >= STANDS;
    let place = situation.agents.position[other.index()].lanelet;
    let route = situation.route(hold.agent);
    let mut beyond = hold.at + 1..=hold.at + LANELETS_BEYOND;
    stands && hold.has_entered && beyond.any(|at| route.lanelet(at) == Some(place))
}

/// Returns the distance ahead of an agent's rear axle within which the agent makes requests, m.
fn reach_of(agent: AgentIndex, situation: &Situation<'_>) -> f64 {
    let (motion, position) = (&situation.agents.motion, &situation.agents.position);
    let (motion, position) = (&motion[agent.index()], &position[agent.index()]);
    reach(
        situation.ground,
        motion,
        position,
        situation.vehicle_type(agent),
    )
}

/// Returns the place on the open road where a vehicle waits before an alley on the lanelet at index
/// `at` of its route; `None` if a junction lets the vehicle into the alley.
fn hold_before(
    direction: AlleyDirection,
    here: u32,
    at: u32,
    agent: AgentIndex,
    situation: &Situation<'_>,
) -> Option<(u32, f32)> {
    if direction.from > 0.0 {
        return Some((at, (direction.from - BEFORE) as f32));
    }
    let route = situation.route(agent);
    let mut before = at.checked_sub(1)?;
    let mut lanelet = route.lanelet(before)?;
    if situation.ground.contested(lanelet).is_some() {
        return None;
    }
    // Vehicles do not wait on connections, even if no other connection crosses them.
    if situation.ground.lanelet(lanelet).is_connection() && before > here {
        before -= 1;
        lanelet = route.lanelet(before)?;
    }
    let end = situation.ground.length(lanelet) - BEFORE;
    Some((before, end.max(0.0) as f32))
}
