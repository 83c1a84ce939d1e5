//! Requests for entry into junctions, and the connections that they need.

use super::Scratch;
use super::grants::Grant;
use super::gridlock::STANDS;
use super::rule::Pending;
use super::situation::Situation;
use super::watch::Intruder;
use crate::agents::{AgentsRef, ClaimColumns};
use crate::fixed::Fixed;
use crate::records::{AgentIndex, LanePosition, Motion};
use crate::route::{Route, Routes};
use crate::vehicle_type::VehicleType;
use roadwright_ground::{Ground, PROFILE_BRAKING, WARMED};
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};
use serde::{Deserialize, Serialize};
use std::hint::black_box;

/// A vehicle makes its request this far before its latest braking point, m. At the latest braking
/// point, the braking distance of the vehicle reaches the stop line. With this margin, a free
/// junction admits the vehicle before it has to brake. A larger value would make vehicles hold the
/// junction for longer before they enter, so that others would have to wait.
const ASKING_MARGIN: f64 = 12.0;
/// Other vehicles take an approaching vehicle into account if it can arrive at the junction within
/// this time, s. The time is slightly longer than the longest critical gap.
const SIGHT: f64 = 8.0;
/// Maximum number of consecutive junctions that a vehicle requests together because it does not fit between
/// them.
const MAX_CHAIN: usize = 4;
/// A vehicle ahead counts as heading for the same junction if one of this many lanelets of its
/// route, starting with its current one, is a connection through that junction.
const APPROACH_LANELETS: u32 = 4;
/// A stationary vehicle blocks another one if its rear is closer than this to the end of the other
/// vehicle's lane, m. On a lane that the other vehicle is leaving, the distance to the other
/// vehicle's front counts.
const IN_THE_WAY: f64 = 5.0;

/// A request of an agent to enter a junction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Step of the first request for this connection.
    pub(super) since: u64,
    pub(super) id: u64,
    pub(super) agent: AgentIndex,
    /// Index of the first contested connection in the agent's route.
    pub(super) at: u32,
    /// Junction and connection at route index `at`.
    pub(super) path: Connection,
}

/// A contested connection that a request needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    pub(super) junction: JunctionIndex,
    /// Index of the connection in the junction.
    pub(super) path: ConnectionIndex,
    /// Index of the connection in the route.
    pub(super) at: u32,
    /// Lanelet beyond the junction.
    pub(super) exit: LaneletIndex,
    /// Whether the signals and signs of the connection apply. They apply to the first connection
    /// and to connections after narrow bends.
    pub(super) has_law: bool,
}

impl Request {
    /// Sort key of a request: by step, then by id.
    pub(super) fn place_in_order(&self) -> u128 {
        u128::from(self.since) << 64 | u128::from(self.id)
    }

    /// Time that the vehicle has waited, s.
    pub(super) fn age(&self, situation: &Situation<'_>) -> f64 {
        situation.step.saturating_sub(self.since) as f64 * situation.dt
    }
}

/// An agent that approaches a junction and has not been let in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Approach {
    /// Junction and connection that the agent approaches.
    pub(super) path: Connection,
    pub(super) agent: AgentIndex,
    /// Index of the connection in the agent's route.
    pub(super) at: u32,
    /// Distance from the vehicle's front to the stop line, m.
    pub(super) distance: f64,
}

impl Situation<'_> {
    /// Collects the connections that a vehicle needs together, up to the first lane on which it can
    /// stand without its rear in a junction.
    ///
    /// ```text
    ///      | junction 1 |--8 m--| junction 2 |------ 40 m ------
    /// ```
    ///
    /// If a bus of 10 m requested only junction 1, it would stand in that junction while it waits
    /// for junction 2. Therefore it requests both together. A car of 4.5 m fits between them and
    /// requests one after the other.
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
            // A connection without conflicts needs no grant, but vehicles may not stand on it. Its length
            // counts as room, like that of a lane.
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
                    // A vehicle may stand in the ring of a roundabout, where vehicles can move on
                    // as long as one place is free.
                    if self.ground.ring(exit).is_some() {
                        return;
                    }
                    room = 0.0;
                }
                // The route ends in the junction, so there is no exit and no room to wait for.
                (Some(_), None) => return,
                (None, _) => {
                    room += self.ground.length(lanelet);
                    // The vehicle waits at the stop line, which may be before the end of the lane.
                    let to_line = || room - self.lanes().line_before_end(lanelet);
                    if room >= space && to_line() >= space {
                        return;
                    }
                }
            }
            at += 1;
        }
    }

    /// Returns the route index of the connection where the holder of a grant has to stop for the
    /// signals of the junction. This is the connection of the grant or, if the vehicle does not fit
    /// between this connection and narrow bends before it, the first of these bends (see `needs`).
    /// `None` if an earlier junction decides for both.
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

    /// Whether a vehicle is the first in its lane before the connection at route index
    /// `connection`, apart from vehicles that have been let in.
    pub(super) fn has_turn(&self, agent: AgentIndex, connection: u32) -> bool {
        let route = self.route(agent);
        let contested = route
            .lanelet(connection)
            .and_then(|lanelet| self.ground.contested(lanelet));
        let Some(Connection { junction, .. }) = contested else {
            return false;
        };
        // No waiting vehicle may be ahead on the lanelets up to the junction. A vehicle that will
        // not enter the junction does not block the agent, but vehicles ahead of it may.
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

    /// Whether a queue on a connection without conflicts reaches back to the end of a lane.
    /// Vehicles need no request for such a connection and may stand there for a long time. If a
    /// vehicle that turns off behind the queue were let in, that vehicle would block others while
    /// it waits.
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

    /// Whether a vehicle stands close ahead on the lane that this vehicle is leaving. This vehicle
    /// cannot pass it before the lane change is complete, and the vehicle ahead may in turn wait
    /// for this vehicle.
    fn is_behind_queue_on_lane_left(&self, agent: AgentIndex) -> bool {
        let position = &self.agents.position[agent.index()];
        if position.leaving == NO_LANELET {
            return false;
        }
        // In a bend, adjacent lanes have different lengths.
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

/// Requests of agents for junctions, and the longest wait at each junction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// Longest wait at each junction, s.
    longest_waits: Vec<f32>,
    #[serde(skip)]
    lists: Scratch<RequestLists>,
}

/// Lists that are refilled in each update.
#[derive(Debug, Clone, Default)]
struct RequestLists {
    requests: Vec<Request>,
    approaches: Vec<Approach>,
    intruders: Vec<Intruder>,
    /// Vehicles that may no longer be passed over, each with the room or connection that is
    /// reserved for it.
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

    /// Whether the waiting times match the junctions of the ground.
    pub(super) fn fits(&self, ground: &Ground) -> bool {
        self.longest_waits.len() == ground.junction_count()
    }

    /// Requests of this update. After [`Self::sort`], they are in the order in which they are
    /// decided.
    pub(super) fn all(&self) -> &[Request] {
        &self.lists.requests
    }

    /// Takes the requests out of the lists, so that other data can be changed while they are
    /// decided.
    pub(super) fn take(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.lists.requests)
    }

    /// Puts the requests back into the lists.
    pub(super) fn put_back(&mut self, requests: Vec<Request>) {
        self.lists.requests = requests;
    }

    /// Agents that approach junctions and have not been let in, in the order of the junctions.
    pub(super) fn approaches(&self) -> &[Approach] {
        &self.lists.approaches
    }

    /// Agents inside a junction without a grant.
    pub(super) fn intruders_mut(&mut self) -> &mut [Intruder] {
        &mut self.lists.intruders
    }

    /// Reservations for waiting vehicles that may no longer be passed over.
    pub(super) fn pending(&self) -> &[Pending] {
        &self.lists.pending
    }

    pub(super) fn pending_mut(&mut self) -> &mut Vec<Pending> {
        &mut self.lists.pending
    }

    /// Sorts requests by time and approaches by junction.
    pub(super) fn sort(&mut self) {
        // Of two requests made in the same step, the one with the smaller id goes first. Ids are unique, so
        // the order does not depend on where agents are stored.
        let requests = &mut self.lists.requests;
        requests.sort_unstable_by_key(|request| request.place_in_order());
        let approaches = &mut self.lists.approaches;
        approaches.sort_unstable_by_key(|approach| approach.path.junction);
    }

    /// Records the age of a request for a junction, s.
    pub(super) fn note_wait(&mut self, junction: JunctionIndex, age: f64) {
        let longest = &mut self.longest_waits[junction.index()];
        *longest = longest.max(age as f32);
    }

    /// The longest wait at a junction since its roads were last changed, s.
    pub(crate) fn longest_wait(&self, junction: JunctionIndex) -> f64 {
        f64::from(self.longest_waits[junction.index()])
    }

    /// Collects three lists: the next contested connection of every agent that is close enough to
    /// request it, the agents that approach a junction and have right of way there, and the agents
    /// that are inside a junction without a grant.
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
            // The last refusal is kept as long as the agent makes the same request, because
            // decisions read it.
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
            // Most agents are in the middle of a lane and are skipped here, without reading their routes.
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
            // The agent's place in the order depends on the step in which it first requested this
            // connection. A new route resets `asked_for`, so the agent goes to the end of the order
            // for the new connection.
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

/// Prefetches the current and the next lanelets of several agents, starting with index `from`. Otherwise,
/// each read would wait for memory in turn (`perception/warm.rs`).
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

/// Finds the first contested connection of a route that has not been granted. The search starts at
/// the lanelet with route index `at`, which follows lanelet `before`. Returns its route index, the
/// connection, and the distance to its start, m. `None` if there is none within reach. `distance`
/// is the remaining length of the current lanelet, m.
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
        // The vehicle makes no requests beyond a place where it has to change lanes first.
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

/// Returns the distance ahead of a vehicle's rear axle within which the vehicle makes requests, m.
/// Example: a car drives at 8 m/s, and its front is 3.6 m ahead of its rear axle. It makes requests
/// from 64 / (2 * 1.8) + 12 + 3.6 = 33 m.
#[inline]
pub(super) fn reach(
    ground: &Ground,
    motion: &Motion,
    position: &LanePosition,
    vehicle_type: &VehicleType,
) -> f64 {
    let braking = vehicle_type.expected_braking(PROFILE_BRAKING, ground, position);
    motion.speed * motion.speed / (2.0 * braking) + ASKING_MARGIN + vehicle_type.front
}
