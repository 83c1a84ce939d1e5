//! What a batch is about to read is brought into the processor's cache, so that it waits for memory once.
//!
//! Lanelets, routes and leaders of agents lie anywhere. Where one agent is perceived after the other, each
//! look waits for the one before: the next place to look at is known only then. Here the same places are
//! looked at for many agents at once, and the processor fetches them beside each other. Nothing comes of
//! it but time.

use super::{Look, View};
use crate::records::AgentIndex;
use std::hint::black_box;

/// Lanelets of the route after the own one that are nearly always looked at.
const AHEAD: u32 = 2;

impl View<'_> {
    /// Looks at what controllers are told of every agent of a batch that is on a lane.
    pub(crate) fn warm(&self, agents: &[u32], look: Look) {
        self.warm_own(agents);
        // In the order in which one look leads to the next.
        black_box(self.sum(agents, |agent| self.touch_ahead(agent)));
        if look.at_way {
            let ahead = look.ahead.distance;
            black_box(self.sum(agents, |agent| self.touch_route(agent, ahead)));
        }
    }

    /// Looks at what every agent of a batch that is on a lane is on.
    pub(crate) fn warm_own(&self, agents: &[u32]) {
        // What is looked at for nothing is left out by compilers.
        black_box(self.sum(agents, |agent| self.touch_own(agent)));
    }

    #[inline]
    fn sum(&self, agents: &[u32], touch: impl Fn(AgentIndex) -> f64) -> f64 {
        let agents = agents.iter().copied().map(AgentIndex::new);
        let on_lanes = agents.filter(|&agent| self.position(agent).is_on_lane());
        on_lanes.map(touch).sum()
    }

    /// The own lanelet, the leader on it, and the route.
    #[inline]
    fn touch_own(&self, agent: AgentIndex) -> f64 {
        let next = self.route(agent).lanelet(self.progress(agent).at + 1);
        let leader = self.index.ahead_on_lanelet(agent);
        self.ground.length(self.position(agent).lanelet)
            + next.map_or(0.0, |id| f64::from(id.number()))
            + leader.map_or(0.0, |entry| entry.s)
    }

    /// The centre line here, and so many metres ahead.
    #[inline]
    fn touch_route(&self, agent: AgentIndex, ahead: f64) -> f64 {
        let position = self.position(agent);
        let line = self.ground.line(position.lanelet);
        line.heading(position.s) + line.position(position.s + ahead).x
    }

    /// The speed here, the lanelets that come next, who is on them, and how the leader moves.
    #[inline]
    fn touch_ahead(&self, agent: AgentIndex) -> f64 {
        let (position, at) = (self.position(agent), self.progress(agent).at);
        let route = self.route(agent);
        let ahead = (at + 1..=at + AHEAD).map_while(|at| route.lanelet(at));
        let ahead = ahead.map(|id| self.ground.length(id) + self.index.on_lanelet(id).len() as f64);
        let leader = self.index.ahead_on_lanelet(agent);
        self.ground.road_speed(position.lanelet, position.s)
            + ahead.sum::<f64>()
            + leader.map_or(0.0, |entry| {
                let kind = self.vehicle_type(entry.agent);
                self.motion(entry.agent).speed + kind.rear_overhang
            })
    }
}
