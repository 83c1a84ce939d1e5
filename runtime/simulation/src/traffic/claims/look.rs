//! Tickets and free connections of a junction, for display.

use super::grants::{Grant, Grants};
use super::request::Requests;
use super::rule::is_held_up;
use super::walls::Meeting;
use super::{Claims, Setting, Situation};
use crate::agents::AgentsRef;
use crate::records::AgentIndex;
use roadwright_scenario::junction::Light;
use roadwright_scenario::{Connection, ConnectionIndex, JunctionIndex};

/// A grant of an agent at a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticket {
    /// Position of the grant in the order of the junction, starting at 1. On conflicting connections, the
    /// vehicle with the smaller number passes first.
    pub number: u32,
    /// Id of the agent.
    pub agent: u64,
    /// Index of the agent's connection in the junction.
    pub path: ConnectionIndex,
    /// Whether the front of the agent's vehicle has passed the stop line.
    pub has_entered: bool,
    /// Whether the junction let the agent in. If `false`, the agent is inside without having been let in, and
    /// others keep clear of it.
    pub is_invited: bool,
    /// Position along the connection where the agent waits inside for vehicles that pass first, m;
    /// `None` if it need not wait.
    pub wall: Option<f64>,
    /// Ids of the vehicles that pass first, in ascending order.
    pub behind: Vec<u64>,
}

impl Grants {
    /// The tickets of a junction, in order. O(tickets^2).
    pub(crate) fn tickets_of(
        &self,
        junction: JunctionIndex,
        setting: Setting<'_>,
        agents: AgentsRef<'_>,
    ) -> Vec<Ticket> {
        let situation = &setting.with(agents);
        let granted = self.of(junction);
        let ticket = |(number, grant): (u32, &Grant)| {
            let claim = &agents.claim[grant.agent.index()];
            let waits = claim.wall_at == grant.at + 1;
            let before = granted
                .iter()
                // The list is in the order of tickets, so the vehicles that pass first come earlier
                // in the list.
                .take_while(|other| other.ticket < grant.ticket);
            let met = before.filter(|other| {
                let path = Connection::new(junction, grant.path);
                waits
                    && other.agent != grant.agent
                    && Meeting::of(path, grant.agent, other, situation).is_some()
            });
            let mut behind: Vec<u64> = met.map(|other| id_of(other.agent, agents)).collect();
            behind.sort_unstable();
            Ticket {
                number,
                agent: id_of(grant.agent, agents),
                path: grant.path,
                has_entered: grant.has_entered,
                is_invited: grant.is_invited,
                wall: waits.then_some(f64::from(claim.wall_s)),
                behind,
            }
        };
        (1..).zip(granted).map(ticket).collect()
    }

    /// The agents that hold grants of a junction.
    pub(crate) fn holders(&self, junction: JunctionIndex) -> impl Iterator<Item = AgentIndex> + '_ {
        self.of(junction).iter().map(|grant| grant.agent)
    }
}

impl Claims {
    /// Whether a connection of a junction is free. Its signal must be green, no pedestrian or admitted
    /// vehicle may block it, and no vehicle with right of way may arrive within the critical gap. Room beyond
    /// the junction and stop signs are not considered, because they affect vehicles individually.
    pub(crate) fn is_free(
        &self,
        connection: Connection,
        setting: Setting<'_>,
        agents: AgentsRef<'_>,
    ) -> bool {
        let (junction, path) = (connection.junction, connection.number);
        let situation = &setting.with(agents);
        if situation.light(Connection::new(junction, path)) != Light::Green
            || situation.is_walked(Connection::new(junction, path))
        {
            return false;
        }
        let granted = self.grants.of(junction);
        let own = granted.iter().find(|grant| grant.path == path);
        if let Some(own) = own {
            // A vehicle has already been let in on this connection. The connection is free unless that
            // vehicle waits inside for others.
            return agents.claim[own.agent.index()].wall_at != own.at + 1;
        }
        let is_in_the_way = |grant: &Grant| {
            let path = Connection::new(junction, path);
            Meeting::of(path, grant.agent, grant, situation).is_some()
        };
        !granted.iter().any(is_in_the_way)
            && !(self.requests).has_to_give_way(Connection::new(junction, path), situation)
    }
}

impl Requests {
    fn has_to_give_way(&self, connection: Connection, situation: &Situation<'_>) -> bool {
        let (junction, path) = (connection.junction, connection.number);
        let right = situation.ground.law(junction).right_of_way();
        let gap = right.critical_gap(path);
        let coming = self.approaches().iter();
        let mut first = coming.filter(|other| {
            other.path.junction == junction
                && situation.agents.drives(other.agent)
                && situation.gives_way(junction, path, other.path.number)
        });
        first.any(|other| {
            !situation.light(other.path).is_red()
                && !is_held_up(other, situation)
                && situation.time_for(other.distance, other.agent, other.at) < gap
        })
    }
}

fn id_of(agent: AgentIndex, agents: AgentsRef<'_>) -> u64 {
    agents.identity[agent.index()].id
}
