//! Closing of junctions that an edit will change: no more vehicles are let in until all have left.
//!
//! If a stop line moves outward, a vehicle that now stands before it would find itself inside the
//! junction. Approaching vehicles are therefore first held back at [`FAR`] before the junction,
//! while nearer vehicles proceed as usual. The junction is closed once those nearer vehicles have
//! passed it.
//!
//! Connections without a conflict, for example into a separate lane or out of a roundabout, need no
//! ticket. Vehicles on such connections have to wait before the part of the road that changes.
//! Otherwise, the road would change under them.

use super::grants::{Grant, Grants};
use super::request::Need;
use super::situation::{FAR, STANDING, Setting, Situation};
use super::walls::Wall;
use super::{Claims, Waits, Why};
use crate::agents::AgentsRef;
use crate::records::AgentIndex;
use roadwright_scenario::JunctionIndex;
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind};

/// Vehicles are considered within this distance before a connection, m. Every vehicle can stop
/// within this distance.
const SIGHT: f64 = 100.0;

/// A held vehicle may be closer to the junction than required, by at most this tolerance, m.
const SLACK: f64 = 0.5;

/// The next connection on an agent's route into a junction that is being closed.
struct ComingJunction {
    junction: JunctionIndex,
    /// Index of the connection in the route.
    at: u32,
    /// Distance from the agent's front to the start of the connection, m.
    distance: f64,
    /// The agent is stopped at this distance before the connection, m; 0 if the lane is too short
    /// to stop it there.
    hold: f64,
}

impl ComingJunction {
    /// Whether the agent has not yet passed its hold position.
    fn is_before_hold(&self) -> bool {
        self.distance >= self.hold - SLACK
    }

    /// Whether the agent can still stop at its hold position.
    fn can_be_held(&self, agent: AgentIndex, situation: &Situation<'_>) -> bool {
        let to_hold = (self.distance - self.hold).max(0.0);
        self.hold > 0.0 && self.is_before_hold() && situation.can_stop(agent, to_hold)
    }
}

/// A connection on an agent's route that conflicts with no other connection, in a junction with
/// conflicts on other connections.
struct FreeConnection {
    junction: JunctionIndex,
    /// Index of the connection in the route.
    at: u32,
    /// Distance from the agent's front to the start of the connection, m; negative inside the
    /// connection.
    distance: f64,
}

/// Junctions that pending edits will change. Pending edits are not saved, so these junctions are not saved
/// either.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Closing {
    /// Junctions that no longer let vehicles in.
    closed: Vec<JunctionIndex>,
    /// Junctions from which approaching vehicles are held back because their stop lines will move outward.
    held_back: Vec<JunctionIndex>,
}

impl Closing {
    /// Closes the given junctions to further vehicles, and opens all others.
    pub(crate) fn close(&mut self, junctions: Vec<JunctionIndex>) {
        self.closed = junctions;
    }

    /// Sets the junctions from which approaching vehicles are held back.
    pub(crate) fn hold_back_from(&mut self, junctions: Vec<JunctionIndex>) {
        self.held_back = junctions;
    }

    /// Junctions from which approaching vehicles are held back.
    pub(crate) fn held_back(&self) -> &[JunctionIndex] {
        &self.held_back
    }

    /// The junctions that are closed to further vehicles.
    pub(crate) fn closed(&self) -> &[JunctionIndex] {
        &self.closed
    }

    /// Whether a junction no longer lets vehicles in.
    pub(super) fn is_closed(&self, junction: JunctionIndex) -> bool {
        self.closed.contains(&junction)
    }

    /// Returns the junctions that have a vehicle between the junction and the place where vehicles
    /// are held back. They are in ascending order without duplicates. O(agents).
    pub(crate) fn approached(
        &self,
        setting: Setting<'_>,
        agents: AgentsRef<'_>,
    ) -> Vec<JunctionIndex> {
        let situation = setting.with(agents);
        let connections = drivers(agents).flat_map(|agent| situation.coming_junctions(agent));
        let near = connections.filter(|connection| !connection.is_before_hold());
        each_once(near.map(|connection| connection.junction))
    }

    /// Whether no vehicle is between the junctions and the places where vehicles are held back.
    pub(crate) fn held_back_are_clear(&self, setting: Setting<'_>, agents: AgentsRef<'_>) -> bool {
        let near = self.approached(setting, agents);
        let mut junctions = self.held_back.iter();
        junctions.all(|junction| near.binary_search(junction).is_err())
    }

    /// Whether an agent is held back from any of the connections that it needs.
    pub(super) fn is_held_back(
        &self,
        agent: AgentIndex,
        needs: &[Need],
        situation: &Situation<'_>,
    ) -> bool {
        self.junction_to_hold_before(agent, situation)
            .is_some_and(|connection| {
                let is_needed = needs.iter().any(|need| need.at == connection.at);
                is_needed && connection.hold > 0.0 && connection.is_before_hold()
            })
    }

    /// Whether a vehicle that has already been let in is held back after all, because it can still
    /// stop.
    pub(super) fn is_called_back(&self, grant: &Grant, situation: &Situation<'_>) -> bool {
        self.junction_to_hold_before(grant.agent, situation)
            .is_some_and(|connection| {
                connection.at == grant.at && connection.can_be_held(grant.agent, situation)
            })
    }

    /// Finds the next connection of an agent into a junction that holds vehicles back; `None` if
    /// the agent is not near such a junction.
    fn junction_to_hold_before(
        &self,
        agent: AgentIndex,
        situation: &Situation<'_>,
    ) -> Option<ComingJunction> {
        // Usually no vehicle is held back, and routes need not be read.
        if self.held_back.is_empty() {
            return None;
        }
        let mut connections = situation.coming_junctions(agent);
        connections.find(|connection| self.held_back.contains(&connection.junction))
    }

    /// Distance between the end of a lane and the vehicles that are held back on it, m; 0 if none
    /// are held back there.
    pub(super) fn kept_free_before_end(
        &self,
        lane: LaneletIndex,
        situation: &Situation<'_>,
    ) -> f64 {
        if self.held_back.is_empty() {
            return 0.0;
        }
        let mut connections = situation.ground.graph().successors(lane).iter();
        let leads_there =
            connections.any(
                |&connection| match situation.ground.lanelet(connection).kind {
                    LaneletKind::Connection { junction, .. } => self.held_back.contains(&junction),
                    _ => false,
                },
            );
        if leads_there { FAR } else { 0.0 }
    }

    /// Holds back the approaching vehicles that can stop.
    pub(super) fn hold_back(&self, situation: &Situation<'_>, out: &mut Vec<(AgentIndex, Wall)>) {
        let coming = drivers(situation.agents)
            .filter_map(|agent| Some((agent, self.junction_to_hold_before(agent, situation)?)));
        let held = coming.filter(|(agent, connection)| connection.can_be_held(*agent, situation));
        out.extend(
            held.map(|(agent, connection)| (agent, (connection.at, -connection.hold as f32))),
        );
    }

    /// Returns the junctions that will be changed: the closed ones or, if there are none, those
    /// that hold vehicles back.
    pub(crate) fn changing(&self) -> &[JunctionIndex] {
        match self.closed.is_empty() {
            true => &self.held_back,
            false => &self.closed,
        }
    }

    /// Returns the reason why an agent waits before a connection without conflicts.
    pub(super) fn waits_before_closed(
        &self,
        connection: LaneletIndex,
        situation: &Situation<'_>,
    ) -> Option<Waits> {
        let LaneletKind::Connection { junction, .. } = situation.ground.lanelet(connection).kind
        else {
            return None;
        };
        let is_changing = self.changing().contains(&junction);
        is_changing.then_some(Waits {
            node: situation.ground.node(junction)?,
            why: Why::Closed,
            whom: Vec::new(),
        })
    }

    /// Stops vehicles that approach closed junctions on connections without a conflict, if they can still
    /// stop.
    pub(super) fn hold_before_closed(
        &self,
        situation: &Situation<'_>,
        out: &mut Vec<(AgentIndex, Wall)>,
    ) {
        let coming = drivers(situation.agents).flat_map(|agent| situation.free_connections(agent));
        let held = coming.filter(|(agent, connection)| {
            self.closed.contains(&connection.junction)
                && connection.distance >= 0.0
                && situation.can_stop(*agent, connection.distance)
        });
        out.extend(held.map(|(agent, connection)| (agent, (connection.at, 0.0))));
    }
}

impl Grants {
    /// Returns the junctions with a vehicle inside, or with an approaching vehicle that cannot stop
    /// before the junction, in ascending order without duplicates. O(agents).
    pub(crate) fn occupied(
        &self,
        setting: Setting<'_>,
        agents: AgentsRef<'_>,
    ) -> Vec<JunctionIndex> {
        let situation = setting.with(agents);
        let freely = drivers(agents).flat_map(|agent| situation.free_connections(agent));
        let freely = freely.filter_map(|(agent, connection)| {
            let stops =
                connection.distance >= 0.0 && situation.can_stop(agent, connection.distance);
            (!stops).then_some(connection.junction)
        });
        each_once(self.busy().iter().copied().chain(freely))
    }
}

impl Claims {
    /// Whether all vehicles have left the closed junctions.
    pub(crate) fn closed_are_empty(&self, setting: Setting<'_>, agents: AgentsRef<'_>) -> bool {
        let occupied = self.grants.occupied(setting, agents);
        let mut closed = self.closing.closed.iter();
        closed.all(|junction| occupied.binary_search(junction).is_err())
    }

    /// Whether all vehicles at the stop lines of the closed junctions are stationary, and all other
    /// vehicles are far away, including those that have left the junctions.
    pub(crate) fn queues_stand(&self, setting: Setting<'_>, agents: AgentsRef<'_>) -> bool {
        let situation = setting.with(agents);
        let asking = self.requests.all().iter();
        let asking = asking.filter(|request| situation.agents.drives(request.agent));
        let asking = asking.map(|request| (request.agent, request.path.junction, request.at));
        let freely = drivers(agents).flat_map(|agent| situation.free_connections(agent));
        let freely = freely.map(|(agent, connection)| (agent, connection.junction, connection.at));
        let mut coming = asking
            .chain(freely)
            .filter(|(_, junction, _)| self.closing.closed.contains(junction));
        coming.all(|(agent, _, at)| situation.stands_or_is_far(agent, at))
            && !drivers(agents).any(|agent| {
                let left = situation.just_left(agent);
                left.is_some_and(|junction| self.closing.closed.contains(&junction))
            })
    }
}

/// The agents that drive on lanes.
fn drivers(agents: AgentsRef<'_>) -> impl Iterator<Item = AgentIndex> + '_ {
    let driving = agents.driving();
    driving.filter(move |&agent| agents.position[agent.index()].is_on_lane())
}

/// Sorts junctions in ascending order and removes duplicates.
fn each_once(junctions: impl Iterator<Item = JunctionIndex>) -> Vec<JunctionIndex> {
    let mut all: Vec<JunctionIndex> = junctions.collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Situation<'_> {
    /// Returns the junction that a moving agent left within the last few metres.
    fn just_left(&self, agent: AgentIndex) -> Option<JunctionIndex> {
        let at = self.agents.progress[agent.index()].at.checked_sub(1)?;
        let lanelet = self.route(agent).lanelet(at)?;
        let LaneletKind::Connection { junction, .. } = self.ground.lanelet(lanelet).kind else {
            return None;
        };
        let beyond = self.rear(agent, at) - self.ground.length(lanelet);
        (beyond < FAR && self.speed(agent) >= STANDING).then_some(junction)
    }

    /// Connections into junctions that an agent will reach next.
    fn coming_junctions(self, agent: AgentIndex) -> impl Iterator<Item = ComingJunction> {
        let route = self.route(agent);
        let first = self.agents.progress[agent.index()].at;
        let lanelets = (first..).map_while(move |at| Some((at, route.lanelet(at)?)));
        let pairs =
            lanelets
                .clone()
                .zip(lanelets.skip(1))
                .map(move |((_, lane), (at, connection))| {
                    (lane, at, connection, -self.front(agent, at))
                });
        let near = pairs.take_while(|&(.., distance)| distance < SIGHT);
        near.filter_map(move |(lane, at, connection, distance)| {
            let LaneletKind::Connection { junction, .. } = self.ground.lanelet(connection).kind
            else {
                return None;
            };
            let is_long = self.ground.length(lane) >= FAR + self.space(agent);
            (distance >= 0.0).then_some(ComingJunction {
                junction,
                at,
                distance,
                hold: if is_long { FAR } else { 0.0 },
            })
        })
    }

    /// Returns the conflict-free connections that `agent` occupies or will reach next, paired with
    /// the agent.
    fn free_connections(
        self,
        agent: AgentIndex,
    ) -> impl Iterator<Item = (AgentIndex, FreeConnection)> {
        let route = self.route(agent);
        // The agent's rear may still be on the previous connection.
        let first = self.agents.progress[agent.index()].at.saturating_sub(1);
        let lanelets = (first..).map_while(move |at| Some((at, route.lanelet(at)?)));
        let near = lanelets.map(move |(at, lanelet)| (at, lanelet, -self.front(agent, at)));
        let near = near.take_while(|&(_, _, distance)| distance < SIGHT);
        near.filter_map(move |(at, lanelet, distance)| {
            let LaneletKind::Connection { junction, .. } = self.ground.lanelet(lanelet).kind else {
                return None;
            };
            let is_free = self.ground.contested(lanelet).is_none();
            let others_cross = !self.ground.law(junction).conflicts().list().is_empty();
            let has_left = self.rear(agent, at) >= self.ground.length(lanelet);
            (is_free && others_cross && !has_left).then_some((
                agent,
                FreeConnection {
                    junction,
                    at,
                    distance,
                },
            ))
        })
    }
}
