//! Determines which of two agents goes first if their routes meet in a junction that is the next
//! one for both.

use super::Claims;
use super::situation::Setting;
use crate::agents::AgentsRef;
use crate::records::AgentIndex;
use roadwright_scenario::{Connection, ConnectionIndex};

/// Maximum number of lanelets ahead that are searched for a junction.
const LANELETS: u32 = 4;

/// The next junction of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Next {
    agent: AgentIndex,
    /// Index of the connection in the route.
    at: u32,
    path: Connection,
}

impl Next {
    /// Finds the next connection with conflicts on the route of an agent, including one that the
    /// agent is on; `None` if there is none nearby.
    pub(crate) fn of(
        agent: AgentIndex,
        setting: &Setting<'_>,
        agents: AgentsRef<'_>,
    ) -> Option<Self> {
        let index = agent.index();
        if !agents.position[index].is_on_lane() {
            return None;
        }
        let progress = &agents.progress[index];
        let route = setting.routes.get(progress.route);
        (progress.at..progress.at + LANELETS).find_map(|at| {
            let path = setting.ground.contested(route.lanelet(at)?)?;
            Some(Self { agent, at, path })
        })
    }
}

/// A vehicle on the other of two merging lanes, which an agent has to follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Predecessor {
    pub(crate) agent: AgentIndex,
    /// Connection of the vehicle.
    pub(crate) path: ConnectionIndex,
    /// Index of that connection in the vehicle's route.
    pub(crate) at: u32,
}

impl Claims {
    /// Returns the vehicle that an admitted agent has to follow where its lane merges with another
    /// one. This is the holder of the next lower ticket for the same exit. `None` unless that
    /// vehicle comes from the other lane. `path` is the agent's connection, at index `at` of its
    /// route. O(admitted agents).
    pub(crate) fn predecessor(
        &self,
        agent: AgentIndex,
        at: u32,
        path: Connection,
    ) -> Option<Predecessor> {
        let grants = self.grants.of(path.junction);
        let own = grants
            .iter()
            .position(|grant| grant.agent == agent && grant.at == at)?;
        let exit = grants[own].exit;
        let mut earlier = grants[..own].iter();
        let before = earlier.rfind(|grant| grant.exit == exit)?;
        (before.path != path.number).then_some(Predecessor {
            agent: before.agent,
            path: before.path,
            at: before.at,
        })
    }

    /// Whether one agent goes before another where their connections meet: its ticket is lower, or
    /// only it has been let in, or the other has to yield. O(admitted agents).
    pub(crate) fn goes_first(
        &self,
        first: &Next,
        second: &Next,
        setting: &Setting<'_>,
        agents: AgentsRef<'_>,
    ) -> bool {
        let junction = first.path.junction;
        let is_met = junction == second.path.junction
            && (setting.ground).in_conflict(junction, first.path.number, second.path.number);
        if !is_met {
            return false;
        }
        let ticket = |next: &Next| {
            let mut grants = self.grants.of(junction).iter();
            let own = grants.find(|grant| grant.agent == next.agent && grant.at == next.at);
            own.map(|grant| grant.ticket)
        };
        match (ticket(first), ticket(second)) {
            (Some(first), Some(second)) => first < second,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => {
                let situation = setting.with(agents);
                situation.gives_way(junction, second.path.number, first.path.number)
            }
        }
    }
}
