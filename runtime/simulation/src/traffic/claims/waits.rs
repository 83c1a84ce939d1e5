//! Reasons why agents wait at junctions, and the agents that they wait for, for display.

use super::alley::{AlleyNeed, Alleys};
use super::request::Request;
use super::situation::Situation;
use super::walls::Meeting;
use super::{Claims, Setting};
use crate::records::{AgentIndex, Refusal};
use roadwright_scenario::alleys::AlleySide;
use roadwright_scenario::{Connection, NodeId, RoadId};
use std::fmt;

/// Reason why an agent waits at a junction, and the agents that it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// Smallest node id of the junction. For an alley, this is the smallest node id of a junction at one end
    /// of the alley's road.
    pub node: NodeId,
    /// Reason why the agent waits.
    pub why: Why,
    /// Ids of the agents that this agent waits for, in ascending order.
    pub whom: Vec<u64>,
}

/// Reasons why an agent waits at a junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Another vehicle is waiting ahead of the agent.
    Queue,
    /// The signal is not green.
    Red,
    /// The agent first has to stop at the stop line.
    Stop,
    /// A vehicle with right of way approaches.
    GivesWay,
    /// The agent follows another vehicle at a sign and has to check for traffic itself.
    Looks,
    /// Other vehicles block the agent, or they have waited longer.
    Occupied,
    /// There is no room beyond the junction.
    NoRoom,
    /// The agent has been let in, but another vehicle passes first.
    Inside,
    /// Pedestrians are crossing or want to cross.
    People,
    /// The junction is closed, because an edit will change it as soon as it is empty.
    Closed,
    /// A body off the lanes blocks the junction.
    OffLanes,
    /// Another vehicle is coming through an alley of this road, or has waited longer to enter it.
    Alley(RoadId),
}

impl Why {
    /// The reason in one word, for tables and `--json`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Red => "red",
            Self::Stop => "stop_sign",
            Self::GivesWay => "gives_way",
            Self::Looks => "follows_at_sign",
            Self::Occupied => "occupied",
            Self::NoRoom => "no_room",
            Self::Inside => "inside",
            Self::People => "pedestrians",
            Self::Closed => "edit",
            Self::OffLanes => "off_lanes",
            Self::Alley(_) => "alley",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queue => "the vehicle ahead",
            Self::Red => "green",
            Self::Stop => "its stop at the stop line",
            Self::GivesWay => "traffic with the right of way",
            Self::Looks => "a gap to the vehicle ahead at the sign",
            Self::Occupied => "vehicles let in earlier",
            Self::NoRoom => "room beyond",
            Self::Inside => "a vehicle in the junction that passes first",
            Self::People => "pedestrians",
            Self::Closed => "a pending edit of the junction",
            Self::OffLanes => "a vehicle off the lanes in its path",
            Self::Alley(road) => return write!(f, "its turn in the alley of {road}"),
        })
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.why, self.node)?;
        for (i, agent) in self.whom.iter().enumerate() {
            write!(f, "{} {agent}", if i == 0 { "; agent" } else { "," })?;
        }
        f.write_str(")")
    }
}

impl Claims {
    /// Reason why an agent waits at a junction, with the place; `None` if it does not wait at a
    /// junction.
    pub(crate) fn waits(
        &self,
        agent: AgentIndex,
        setting: Setting<'_>,
        agents: crate::agents::AgentsRef<'_>,
    ) -> Option<Waits> {
        let situation = &setting.with(agents);
        let claim = &agents.claim[agent.index()];
        if let Some(waits) = self.alleys.waits_of(agent, situation) {
            return Some(waits);
        }
        let (at, why) = match claim.refused {
            // The agent was not refused, so it waits at a wall inside the junction or does not wait.
            // `wall_at` is the route index plus one.
            Refusal::None => (claim.wall_at.checked_sub(1)?, Why::Inside),
            Refusal::NotFirst => (claim.asked_for, Why::Queue),
            Refusal::Red => (claim.asked_for, Why::Red),
            Refusal::Stop => (claim.asked_for, Why::Stop),
            Refusal::GivesWay => (claim.asked_for, Why::GivesWay),
            Refusal::Looks => (claim.asked_for, Why::Looks),
            Refusal::Occupied => (claim.asked_for, Why::Occupied),
            Refusal::NoRoom => (claim.asked_for, Why::NoRoom),
            Refusal::People => (claim.asked_for, Why::People),
            Refusal::Closed => (claim.asked_for, Why::Closed),
            Refusal::OffLanes => (claim.asked_for, Why::OffLanes),
            // Handled above.
            Refusal::Alley => return None,
        };
        let connection = situation.route(agent).lanelet(at)?;
        let Some(path) = situation.ground.contested(connection) else {
            return self.closing.waits_before_closed(connection, situation);
        };
        if why == Why::Inside && !self.grants.has(agent, path.junction, at) {
            // The agent is held back before a junction that it has not requested yet.
            return self.closing.waits_before_closed(connection, situation);
        }
        let whom = self.whom(agent, at, path, why, situation);
        let mut ids: Vec<u64> = whom
            .into_iter()
            .filter(|&other| other != agent)
            .map(|other| agents.identity[other.index()].id)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        Some(Waits {
            node: situation.ground.node(path.junction)?,
            why,
            whom: ids,
        })
    }

    /// Vehicles at the front of their queues that wait to use an alley in one direction.
    /// O(vehicles).
    pub(crate) fn waiting_for(
        &self,
        side: AlleySide,
        setting: Setting<'_>,
        agents: crate::agents::AgentsRef<'_>,
    ) -> Vec<AgentIndex> {
        let situation = &setting.with(agents);
        let waits = |&agent: &AgentIndex| {
            agents.claim[agent.index()].refused == Refusal::Alley
                && (self.alleys.needed_by(agent, situation).iter()).any(|need| need.side == side)
        };
        agents.driving().filter(waits).collect()
    }

    /// Returns the agents that `agent` waits for at a connection of a junction.
    fn whom(
        &self,
        agent: AgentIndex,
        at: u32,
        path: Connection,
        why: Why,
        situation: &Situation<'_>,
    ) -> Vec<AgentIndex> {
        let granted = self.grants.of(path.junction);
        let met = |own: u64| {
            let others = granted.iter().filter(move |grant| grant.ticket < own);
            let met = others.filter(|grant| Meeting::of(path, agent, grant, situation).is_some());
            met.map(|grant| grant.agent).collect()
        };
        match why {
            Why::Red | Why::Stop | Why::Looks | Why::People | Why::OffLanes | Why::Alley(_) => {
                Vec::new()
            }
            Why::Closed => granted.iter().map(|grant| grant.agent).collect(),
            Why::Queue => situation
                .index
                .ahead_on_lanelet(agent)
                .map(|entry| entry.agent)
                .into_iter()
                .collect(),
            // A requesting vehicle has no ticket yet. It would draw the highest ticket.
            Why::Occupied => met(u64::MAX),
            Why::Inside => {
                let own = granted.iter().find(|grant| grant.agent == agent);
                own.map_or(Vec::new(), |own| met(own.ticket))
            }
            Why::GivesWay => {
                let coming = self.requests.approaches().iter();
                let first = coming.filter(|other| {
                    other.path.junction == path.junction
                        && situation.gives_way(path.junction, path.number, other.path.number)
                });
                first.map(|other| other.agent).collect()
            }
            Why::NoRoom => {
                let request = Request {
                    since: situation.agents.claim[agent.index()].asked_since(),
                    id: situation.agents.identity[agent.index()].id,
                    agent,
                    at,
                    path,
                };
                let mut needs = Vec::new();
                situation.needs(&request, &mut needs);
                let mut taken =
                    (needs.iter()).map(|need| self.room().taken_by(&request, need, situation));
                taken.find(|agents| !agents.is_empty()).unwrap_or_default()
            }
        }
    }
}

impl Alleys {
    /// Returns the reason why an agent waits for an alley, with the place; `None` if no alley stops
    /// it.
    fn waits_of(&self, agent: AgentIndex, situation: &Situation<'_>) -> Option<Waits> {
        let claim = &situation.agents.claim[agent.index()];
        let is_refused = matches!(claim.refused, Refusal::Alley | Refusal::NoRoom);
        if situation.ground.alleys().is_empty() || !is_refused {
            return None;
        }
        let needs = self.needed_by(agent, situation);
        let lanelet = situation.ground.alleys().direction(needs.first()?.side);
        let road = situation.ground.lanelet(lanelet.lanelet).road()?;
        let (why, whom) = match claim.refused {
            Refusal::Alley => {
                let sides: Vec<AlleySide> = needs.iter().map(|need| need.side).collect();
                (Why::Alley(road), self.whom(agent, &sides, situation))
            }
            // There is no room behind the alley or, if there is, behind a junction before it.
            _ => (
                Why::NoRoom,
                self.whom_behind(agent, *needs.last()?, situation)?,
            ),
        };
        let ids = whom
            .into_iter()
            .map(|other| situation.agents.identity[other.index()].id);
        let mut whom: Vec<u64> = ids.collect();
        whom.sort_unstable();
        whom.dedup();
        Some(Waits {
            node: situation.ground.node_at(road)?,
            why,
            whom,
        })
    }

    /// Returns the alleys that an agent needs to proceed from its current position and does not
    /// hold yet. They are on the open road or after a junction.
    fn needed_by(&self, agent: AgentIndex, situation: &Situation<'_>) -> Vec<AlleyNeed> {
        let claim = &situation.agents.claim[agent.index()];
        let mut needs = Vec::new();
        if !self.needs_from_the_road(agent, situation, &mut needs) {
            let connection = situation.route(agent).lanelet(claim.asked_for);
            let path = connection.and_then(|connection| situation.ground.contested(connection));
            let request = path.map(|path| Request {
                since: claim.asked_since(),
                id: situation.agents.identity[agent.index()].id,
                agent,
                at: claim.asked_for,
                path,
            });
            if let Some(request) = request {
                let mut junctions = Vec::new();
                situation.needs(&request, &mut junctions);
                self.needs_beyond(&request, &junctions, situation, &mut needs);
            }
        }
        needs
    }
}
