//! Chains of vehicles that wait for each other.

use super::{Standing, StopReason, StopTarget};
use crate::records::AgentIndex;
use crate::stages::scene::lane_of;
use glam::DVec2;
use roadwright_scenario::RoadId;
use std::collections::{BTreeMap, BTreeSet};

/// A mandatory stop that is farther away than this does not count as a reason for waiting, m.
const REACH: f64 = 120.0;

/// A vehicle in a chain of waiting vehicles.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitLink {
    /// Id of the agent.
    pub agent: u64,
    /// Position of the vehicle's front, m.
    pub at: DVec2,
    /// Road and lane of the vehicle; `None` inside a junction and off the lanes.
    pub lane: Option<(RoadId, i8)>,
    /// Speed, m/s.
    pub speed: f64,
    /// Time at which the vehicle came to a stop, s; `None` while it drives.
    pub since: Option<f64>,
    /// Place where the vehicle has to stop, and the reason; `None` if only its controller stops it.
    pub stop: Option<StopTarget>,
}

impl WaitLink {
    /// Reason why the vehicle is stationary, as a sentence without a subject: "waits for the
    /// vehicle ahead (agent 3)".
    pub fn why(&self) -> String {
        match self.stop.as_ref().map(|stop| &stop.reason) {
            None => "is stopped by its controller alone".into(),
            Some(StopReason::Behaviour) => "is stopped by its behaviour".into(),
            Some(StopReason::Hand) => "is driven by a person".into(),
            Some(StopReason::Destination) => "is at its destination".into(),
            Some(reason) => format!("waits for {reason}"),
        }
    }
}

/// End of a chain of waiting vehicles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainEnd {
    /// The last vehicle is the root: it waits for no other stationary vehicle.
    Root,
    /// The last vehicle waits for the vehicle with this index in the chain. The vehicles from this
    /// index on form a deadlock.
    Ring(usize),
}

/// A chain of vehicles. Each vehicle waits for the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitChain {
    /// The vehicles, beginning with the inspected one. Never empty.
    pub links: Vec<WaitLink>,
    /// End of the chain.
    pub end: ChainEnd,
}

impl WaitChain {
    /// Whether the first vehicle of the chain is stationary.
    pub fn begins_standing(&self) -> bool {
        self.links.first().is_some_and(|link| link.since.is_some())
    }

    /// The vehicles that wait for each other in a ring; empty if there is no deadlock.
    pub fn deadlocked(&self) -> &[WaitLink] {
        match self.end {
            ChainEnd::Root => &[],
            ChainEnd::Ring(first) => &self.links[first..],
        }
    }

    /// Reason why the last vehicle is stationary, in one word: `deadlock`, the [`StopReason::name`]
    /// of the last vehicle, or `controller` if only its controller stops it.
    pub fn cause(&self) -> &'static str {
        let last = self.links.last().and_then(|link| link.stop.as_ref());
        cause_of(self.end, last)
    }
}

/// Cause of a chain with the given end. `last` is the stop of its last vehicle.
fn cause_of(end: ChainEnd, last: Option<&StopTarget>) -> &'static str {
    match end {
        ChainEnd::Ring(_) => "deadlock",
        ChainEnd::Root => last.map_or("controller", |stop| stop.reason.name()),
    }
}

/// Stops of the vehicles that have been examined so far.
pub(super) type Stops = BTreeMap<AgentIndex, Option<StopTarget>>;

/// A chain of agents, each of which waits for the next one, and the end of the chain.
pub(super) struct Walk {
    agents: Vec<AgentIndex>,
    end: ChainEnd,
}

impl Walk {
    /// The agents that wait for each other; `None` if there is no ring.
    pub(super) fn ring(&self) -> Option<&[AgentIndex]> {
        match self.end {
            ChainEnd::Root => None,
            ChainEnd::Ring(first) => Some(&self.agents[first..]),
        }
    }

    /// Cause at the end of the chain, as in [`WaitChain::cause`].
    pub(super) fn cause(&self, stops: &Stops) -> &'static str {
        let last = self.agents.last().and_then(|last| stops.get(last));
        cause_of(self.end, last.and_then(Option::as_ref))
    }
}

impl Standing<'_> {
    /// Returns the chain of waiting vehicles that begins with an agent.
    pub(crate) fn chain(&self, agent: AgentIndex) -> WaitChain {
        let mut stops = Stops::new();
        let walk = self.walk(agent, 0.0, &mut stops);
        let link = |agent: AgentIndex| self.link(agent, stops.remove(&agent).flatten());
        WaitChain {
            links: walk.agents.into_iter().map(link).collect(),
            end: walk.end,
        }
    }

    fn link(&self, agent: AgentIndex, stop: Option<StopTarget>) -> WaitLink {
        let index = agent.index();
        let agents = self.view.agents;
        let stood = self.time_of(agent);
        WaitLink {
            agent: self.id(agent),
            at: self.front(agent),
            lane: lane_of(self.view.ground, agents, agent),
            speed: agents.motion[index].speed,
            since: (stood > 0.0).then(|| self.clock.time() - stood),
            stop,
        }
    }

    /// Follows the chain from an agent to the vehicles that it waits for. Vehicles that have not
    /// been stationary for longer than `stood` seconds are left out. If there is a ring, the chain
    /// ends in it. Otherwise, it always continues with the vehicle that has been stationary the
    /// longest.
    pub(super) fn walk(&self, from: AgentIndex, stood: f64, stops: &mut Stops) -> Walk {
        if let Some(found) = self.find_ring(from, stood, stops, &mut BTreeSet::new()) {
            return found;
        }
        let mut agents = vec![from];
        let mut at = from;
        // There is no ring, so this loop terminates.
        while let Some(&next) = self.waited_for(at, stood, stops).first() {
            agents.push(next);
            at = next;
        }
        Walk {
            agents,
            end: ChainEnd::Root,
        }
    }

    /// Searches depth first for a ring among the vehicles that an agent waits for, directly or
    /// indirectly. Skips the agents in `seen`, which earlier searches have visited, and adds the
    /// agents of this search.
    pub(super) fn find_ring(
        &self,
        from: AgentIndex,
        stood: f64,
        stops: &mut Stops,
        seen: &mut BTreeSet<AgentIndex>,
    ) -> Option<Walk> {
        let mut path = vec![from];
        let mut left = vec![self.waited_for(from, stood, stops)];
        seen.insert(from);
        while let Some(choices) = left.last_mut() {
            let Some(next) = choices.pop() else {
                left.pop();
                path.pop();
                continue;
            };
            if let Some(ring) = path.iter().position(|&agent| agent == next) {
                return Some(Walk {
                    agents: path,
                    end: ChainEnd::Ring(ring),
                });
            }
            if seen.insert(next) {
                path.push(next);
                left.push(self.waited_for(next, stood, stops));
            }
        }
        None
    }

    /// The vehicles that an agent waits for and that have been stationary for longer than `stood`
    /// seconds, the longest stationary first.
    fn waited_for(&self, agent: AgentIndex, stood: f64, stops: &mut Stops) -> Vec<AgentIndex> {
        let stop = stops
            .entry(agent)
            .or_insert_with(|| self.stop(agent, REACH));
        let ids = stop.as_ref().map_or(&[][..], |stop| stop.reason.agents());
        let found = ids.iter().filter_map(|&id| self.view.agents.find(id));
        let mut found: Vec<AgentIndex> = found
            .filter(|&other| other != agent && self.time_of(other) > stood)
            .collect();
        found.sort_by(|&a, &b| {
            let longest = self.time_of(b).total_cmp(&self.time_of(a));
            longest.then(self.id(a).cmp(&self.id(b)))
        });
        found
    }
}
