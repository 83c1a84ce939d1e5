//! Who asks to enter a junction, and for which connections.

use super::Scratch;
use super::grants::Grant;
use super::gridlock::STANDS;
use super::rule::Pending;
use super::situation::Situation;
use super::watch::Intruder;
use crate::agents::{AgentsRef, ClaimColumns};
use crate::fixed::Fixed;
use crate::ground::{Ground, PROFILE_BRAKING, WARMED};
use crate::records::{AgentIndex, LanePosition, Motion};
use crate::route::{Route, Routes};
use crate::vehicle_type::VehicleType;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};
use serde::{Deserialize, Serialize};
use std::hint::black_box;

/// A vehicle asks this much before its braking distance reaches the stop line, m: then a free junction
/// lets it in before it would brake for it. With a larger value it holds the junction for longer
/// before it enters, and others wait.
const ASKING_MARGIN: f64 = 12.0;
/// Others see a vehicle this long before it comes to a junction, s: the longest critical gap and a
/// little.
const SIGHT: f64 = 8.0;
/// Junctions in a row that a vehicle may need at once, because it fits nowhere between them.
const MAX_CHAIN: usize = 4;
/// Lanelets ahead on which a vehicle in front counts as on its way into the same junction: an
/// approach, the connection and their seams.
const APPROACH_LANELETS: u32 = 4;
/// Who stands with its rear nearer than this beyond the end of a lane, or ahead on a lane that one is leaving, is in
/// the way, m.
const IN_THE_WAY: f64 = 5.0;

/// An agent that wants to enter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// The step in which it first asked for this connection.
    pub(super) since: u64,
    pub(super) id: u64,
    pub(super) agent: AgentIndex,
    /// Index of the first contested connection in its route.
    pub(super) at: u32,
    /// Junction and connection.
    pub(super) path: Connection,
}

/// A contested connection that a request needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    pub(super) junction: JunctionIndex,
    /// Number of the connection in the junction.
    pub(super) path: ConnectionIndex,
    /// Index of the connection in the route.
    pub(super) at: u32,
    /// Lanelet beyond the junction.
    pub(super) exit: LaneletIndex,
    /// Whether its signals and signs count: it is the first one, or there were only narrow bends before.
    pub(super) has_law: bool,
}

impl Request {
    /// Who asked sooner goes first, of two that asked in the same step the one with the smaller id: both as one
    /// number.
    pub(super) fn place_in_order(&self) -> u128 {
        u128::from(self.since) << 64 | u128::from(self.id)
    }

    /// How long it has been waiting, s.
    pub(super) fn age(&self, situation: &Situation<'_>) -> f64 {
        situation.step.saturating_sub(self.since) as f64 * situation.dt
    }
}

/// An agent that comes near a junction and has not been let in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Approach {
    /// Junction and connection.
    pub(super) path: Connection,
    pub(super) agent: AgentIndex,
    /// Index of the connection in its route.
    pub(super) at: u32,
    /// From its front to the stop line, m.
    pub(super) distance: f64,
}

impl Situation<'_> {
    /// The connections that a vehicle needs at once: up to the first lane on which it can stand
    /// without its rear in a junction.
    ///
    /// ```text
    ///      | junction 1 |--8 m--| junction 2 |------ 40 m ------
    /// ```
    ///
    /// A bus of 10 m that enters junction 1 alone would stand in it while it waits for junction 2. It
    /// asks for both. A car of 4.5 m fits in between and asks for one after the other.
    pub(super) fn needs(&self, request: &Request, out: &mut Vec<Need>) {
        out.clear();
        let (route, space) = (self.route(request.agent), self.space(request.agent));
        let mut room = 0.0;
        let mut at = request.at;
        let mut is_ruled = false;
        while let Some(lanelet) = route.lanelet(at) {
            if out.len() == MAX_CHAIN {
                return;
            }
            // A connection that nothing conflicts with needs no grant, but it is no place to stand
            // either; as a lanelet of the route its length counts as room like that of a lane.
            match (self.ground.contested(lanelet), route.lanelet(at + 1)) {
                (
                    Some(Connection {
                        junction,
                        number: path,
                    }),
                    Some(exit),
                ) => {
                    out.push(Need {
                        junction,
                        path,
                        at,
                        exit,
                        has_law: out.is_empty() || !is_ruled,
                    });
                    is_ruled |= self.ground.is_ruled(junction);
                    // In a ring one may stand: there is room to move on while one place is free.
                    if self.ground.ring(exit).is_some() {
                        return;
                    }
                    room = 0.0;
                }
                // The route ends in the junction: no exit, nothing to wait for beyond it.
                (Some(_), None) => return,
                (None, _) => {
                    room += self.ground.length(lanelet);
                    // It waits at the stop line, which may lie before the end of the lane.
                    let to_line = || room - self.lanes().line_before_end(lanelet);
                    if room >= space && to_line() >= space {
                        return;
                    }
                }
            }
            at += 1;
        }
    }

    /// The index in the route of the holder of a grant at which it has to stop for the signals of that
    /// junction: where it enters it, or the first of the narrow bends before it between which it does not fit
    /// (`needs`). `None` if a junction before rules for both.
    pub(super) fn law_from(&self, grant: &Grant) -> Option<u32> {
        if grant.is_first {
            return Some(grant.at);
        }
        let (route, space) = (self.route(grant.agent), self.space(grant.agent));
        let (mut first, mut room) = (grant.at, 0.0);
        for at in (0..grant.at).rev() {
            let lanelet = route.lanelet(at)?;
            if let Some(Connection { junction, .. }) = self.ground.contested(lanelet) {
                if self.ground.is_ruled(junction) {
                    return None;
                }
                (first, room) = (at, 0.0);
                continue;
            }
            if at + 1 == first {
                room -= self.lanes().line_before_end(lanelet);
            }
            room += self.ground.length(lanelet);
            if room >= space {
                break;
            }
        }
        Some(first)
    }

    /// Whether the vehicle is the foremost on its lane that is not let in yet, before the connection at
    /// an index of its route.
    pub(super) fn has_turn(&self, agent: AgentIndex, connection: u32) -> bool {
        let route = self.route(agent);
        let contested = route
            .lanelet(connection)
            .and_then(|lanelet| self.ground.contested(lanelet));
        let Some(Connection { junction, .. }) = contested else {
            return false;
        };
        // On the lanelets up to the junction nobody may be ahead who still waits. Who does not drive into it
        // at all does not hold up the agent, but those may who are ahead of that one.
        let own = self.agents.progress[agent.index()].at;
        let lanelets = (own + 1..connection).filter_map(|at| route.lanelet(at));
        let beyond = lanelets.flat_map(|lanelet| self.index.on_lanelet(lanelet));
        let mut ahead = self.index.all_ahead_on_lanelet(agent).chain(beyond);
        let mut is_behind_queue = false;
        let comes_first = ahead.find_map(|entry| {
            let other = self.route(entry.agent);
            let leads_in = |from: u32, to: u32| {
                let lanelets = (from..to).filter_map(|at| other.lanelet(at));
                lanelets
                    .filter_map(|lanelet| self.ground.contested(lanelet))
                    .any(|found| found.junction == junction)
            };
            let at = self.agents.progress[entry.agent.index()].at;
            let granted_to = self.agents.claim[entry.agent.index()].granted_to;
            let is_let_in = leads_in(at + 1, granted_to);
            let asks = is_let_in || leads_in(at + 1, at + APPROACH_LANELETS);
            is_behind_queue |= !asks && self.stands_in_queue(entry.agent);
            asks.then_some(is_let_in)
        });
        if is_behind_queue || comes_first == Some(false) {
            return false;
        }
        let lane = self.lane_before(agent, connection);
        !lane.is_some_and(|lane| self.reaches_back_to(lane))
            && !self.is_behind_queue_on_lane_left(agent)
    }

    /// Whether a queue reaches back to the end of a lane over a way that nobody else meets. Nobody asks for those,
    /// so one may stand there for long; who is behind and turns off would keep others out meanwhile.
    fn reaches_back_to(&self, lane: LaneletIndex) -> bool {
        let mut connections = self.ground.successors(lane).iter();
        connections.any(|&connection| {
            self.index.hindmost(connection).is_some_and(|last| {
                self.ground.contested(connection).is_none()
                    && self.lanes().rear(&last) < IN_THE_WAY
                    && self.stands_in_queue(last.agent)
            })
        })
    }

    /// Whether somebody stands close ahead on the lane that a vehicle is leaving: it cannot pass that one before it
    /// is across, and that one may wait for it.
    fn is_behind_queue_on_lane_left(&self, agent: AgentIndex) -> bool {
        let position = &self.agents.position[agent.index()];
        if position.leaving == NO_LANELET {
            return false;
        }
        // Lanes side by side differ in length in a bend.
        let share = position.s / self.ground.length(position.lanelet);
        let own = share * self.ground.length(position.leaving);
        let front = own + self.vehicle_type(agent).front;
        let mut others = self.index.on_lanelet(position.leaving).iter();
        others.any(|other| {
            let is_ahead = other.agent != agent && other.s > own;
            let is_near = self.lanes().rear(other) < front + IN_THE_WAY;
            is_ahead && is_near && self.stands_in_queue(other.agent)
        })
    }

    fn stands_in_queue(&self, agent: AgentIndex) -> bool {
        self.agents.progress[agent.index()].standing >= STANDS
    }
}

/// Requests of agents to junctions, with the longest waits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// The longest wait at each junction, s.
    longest_waits: Vec<f32>,
    #[serde(skip)]
    lists: Scratch<RequestLists>,
}

/// Lists that each update fills anew.
#[derive(Debug, Clone, Default)]
struct RequestLists {
    requests: Vec<Request>,
    approaches: Vec<Approach>,
    intruders: Vec<Intruder>,
    /// What those wait for who are not passed over any more.
    pending: Vec<Pending>,
}

impl Requests {
    pub(super) fn new(junctions: usize) -> Self {
        Self {
            longest_waits: vec![0.0; junctions],
            lists: Scratch::default(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.lists.requests.capacity() * size_of::<Request>()
    }

    /// Whether the waits are for the junctions of a ground.
    pub(super) fn fits(&self, ground: &Ground) -> bool {
        self.longest_waits.len() == ground.junction_count()
    }

    /// Requests of this update; after [`Self::sort`] in the order in which they are decided.
    pub(super) fn all(&self) -> &[Request] {
        &self.lists.requests
    }

    /// Takes the requests out, so that the rest can be changed while they are decided.
    pub(super) fn take(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.lists.requests)
    }

    /// Puts the requests back.
    pub(super) fn put_back(&mut self, requests: Vec<Request>) {
        self.lists.requests = requests;
    }

    /// Agents near junctions, in the order of the junctions.
    pub(super) fn approaches(&self) -> &[Approach] {
        &self.lists.approaches
    }

    /// Agents inside a junction without a grant.
    pub(super) fn intruders_mut(&mut self) -> &mut [Intruder] {
        &mut self.lists.intruders
    }

    /// What those wait for who are not passed over any more.
    pub(super) fn pending(&self) -> &[Pending] {
        &self.lists.pending
    }

    pub(super) fn pending_mut(&mut self) -> &mut Vec<Pending> {
        &mut self.lists.pending
    }

    /// Sorts requests by the time of asking, and approaches by junction.
    pub(super) fn sort(&mut self) {
        // Of two that asked in the same step the smaller id goes first. Ids are unique, so the order
        // does not depend on where agents are stored.
        let requests = &mut self.lists.requests;
        requests.sort_unstable_by_key(|request| request.place_in_order());
        let approaches = &mut self.lists.approaches;
        approaches.sort_unstable_by_key(|approach| approach.path.junction);
    }

    /// Records the age of a request to a junction, s.
    pub(super) fn note_wait(&mut self, junction: JunctionIndex, age: f64) {
        let longest = &mut self.longest_waits[junction.index()];
        *longest = longest.max(age as f32);
    }

    /// The longest time for which anybody has waited for a junction since its roads were changed, s.
    pub(crate) fn longest_wait(&self, junction: JunctionIndex) -> f64 {
        f64::from(self.longest_waits[junction.index()])
    }

    /// The next contested connection of every agent that is close enough to ask, and of those that come
    /// near junctions in which others give way to them; and who is in a junction without having been let
    /// in.
    pub(super) fn collect(
        &mut self,
        step: u64,
        fixed: Fixed<'_>,
        routes: &Routes,
        agents: &mut ClaimColumns<'_>,
    ) {
        let Fixed { ground, types } = fixed;
        let RequestLists {
            requests,
            approaches,
            intruders,
            ..
        } = &mut *self.lists;
        requests.clear();
        approaches.clear();
        intruders.clear();
        for index in 0..agents.capacity() {
            if index % WARMED == 0 {
                warm(ground, routes, agents.lent(), index);
            }
            let (who, position) = (&agents.identity[index], &agents.position[index]);
            let claim = &mut agents.claim[index];
            // Why it was refused is known to those who are decided before it; it stays while it asks.
            let refused = std::mem::take(&mut claim.refused);
            claim.wall_at = 0;
            if !who.drives() || !position.is_on_lane() {
                continue;
            }
            let at = agents.progress[index].at;
            if claim.granted_to <= at
                && let Some(path) = ground.contested(position.lanelet)
            {
                intruders.push(Intruder {
                    agent: AgentIndex::from_index(index),
                    path,
                    at,
                });
            }
            let remaining = ground.length(position.lanelet) - position.s;
            let motion = &agents.motion[index];
            let vehicle_type = types.get(who.vehicle_type);
            let reach = reach(ground, motion, position, vehicle_type);
            let sight = reach.max(SIGHT * motion.speed + vehicle_type.front);
            // Most agents are in the middle of a lane: they are done here, without their routes.
            if remaining >= sight {
                continue;
            }
            let progress = &agents.progress[index];
            let route = routes.get(progress.route);
            let next = next_contested(
                ground,
                route,
                progress.at,
                position.lanelet,
                remaining,
                sight,
                claim.granted_to,
            );
            let Some((at, path, distance)) = next else {
                continue;
            };
            if ground.looks_out(path.junction) {
                approaches.push(Approach {
                    path,
                    agent: AgentIndex::from_index(index),
                    at,
                    distance: distance - vehicle_type.front,
                });
            }
            if distance >= reach {
                continue;
            }
            // Its place in the order is that of the step in which it first asked for this connection.
            // A new route resets `asked_for`: the agent queues again for what it needs now.
            claim.ask(at, step);
            claim.refused = refused;
            requests.push(Request {
                since: claim.asked_since(),
                id: who.id,
                agent: AgentIndex::from_index(index),
                at,
                path,
            });
        }
    }
}

/// Looks at the lanelets of the next agents from an index on, and at those that come next on their routes:
/// one after the other each would wait for memory (`perception/warm.rs`).
fn warm(ground: &Ground, routes: &Routes, agents: AgentsRef<'_>, from: usize) {
    let batch = from..(from + WARMED).min(agents.capacity());
    let on_lanes = batch
        .filter(|&agent| agents.identity[agent].drives() && agents.position[agent].is_on_lane());
    let next = |agent: usize| {
        let progress = &agents.progress[agent];
        routes.get(progress.route).lanelet(progress.at + 1)
    };
    let here = on_lanes.clone().map(|agent| {
        ground.length(agents.position[agent].lanelet)
            + next(agent).map_or(0.0, |id| f64::from(id.number()))
    });
    black_box(here.sum::<f64>());
    let ahead = on_lanes.filter_map(next);
    black_box(ahead.map(|lanelet| ground.length(lanelet)).sum::<f64>());
}

/// The first contested connection in a route that has not been granted, from the lanelet `from` on:
/// its index in the route, junction and path, and how far away it begins, m. `None` if that is beyond
/// the reach. `distance` is what is left of the lanelet, m.
#[inline]
fn next_contested(
    ground: &Ground,
    route: &Route,
    at: u32,
    before: LaneletIndex,
    mut distance: f64,
    reach: f64,
    granted_to: u32,
) -> Option<(u32, Connection, f64)> {
    let from = (at, before);
    let (mut at, mut before) = from;
    while distance < reach {
        at += 1;
        let lanelet = route.lanelet(at)?;
        // Where the lane has to be changed first, nothing beyond is asked for.
        if !ground.leads_to(before, lanelet) {
            return None;
        }
        if at >= granted_to
            && let Some(path) = ground.contested(lanelet)
        {
            return Some((at, path, distance));
        }
        distance += ground.length(lanelet);
        before = lanelet;
    }
    None
}

/// How far ahead of its rear axle a vehicle asks, m. Example: a car whose front is 3.6 m before its
/// rear axle asks at 8 m/s from 64 / (2 * 1.8) + 12 + 3.6 = 33 m.
#[inline]
pub(super) fn reach(
    ground: &Ground,
    motion: &Motion,
    position: &LanePosition,
    vehicle_type: &VehicleType,
) -> f64 {
    let braking = ground.expected_braking(PROFILE_BRAKING, position, vehicle_type);
    motion.speed * motion.speed / (2.0 * braking) + ASKING_MARGIN + vehicle_type.front
}
