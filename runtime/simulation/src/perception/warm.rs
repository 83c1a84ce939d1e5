//! Prefetches the data that a batch is about to read into the processor's cache, so that the batch
//! waits for memory only once.
//!
//! Lanelets, routes and leaders of agents are scattered in memory. If agents are perceived one by one, each
//! access waits for the previous one, which provides its address. Here the same data of many agents is
//! accessed together, and the processor fetches it in parallel. The only effect is on run time.

use super::{Look, View};
use crate::records::AgentIndex;
use std::hint::black_box;

/// Number of further lanelets of the route that are nearly always accessed.
const AHEAD: u32 = 2;

impl View<'_> {
    /// Prefetches the data that controllers perceive, for every agent of a batch that is on a lane.
    pub(crate) fn warm(&self, agents: &[u32], look: Look) {
        self.warm_own(agents);
        // In the order of dependency: each access needs the result of the previous one.
        black_box(self.sum(agents, |agent| self.touch_ahead(agent)));
        if look.at_path {
            let ahead = look.ahead.distance;
            black_box(self.sum(agents, |agent| self.touch_route(agent, ahead)));
        }
    }

    /// Prefetches the lanelet of every agent of a batch that is on a lane.
    pub(crate) fn warm_own(&self, agents: &[u32]) {
        // The sum passes through a black box, because compilers remove reads whose results are not
        // used.
        black_box(self.sum(agents, |agent| self.touch_own(agent)));
    }

    #[inline]
    fn sum(&self, agents: &[u32], touch: impl Fn(AgentIndex) -> f64) -> f64 {
        let agents = agents.iter().copied().map(AgentIndex::new);
        let on_lanes = agents.filter(|&agent| self.position(agent).is_on_lane());
        on_lanes.map(touch).sum()
    }

    /// Prefetches the agent's lanelet, the leader on it, and the route.
    #[inline]
    fn touch_own(&self, agent: AgentIndex) -> f64 {
        let next = self.route(agent).lanelet(self.progress(agent).at + 1);
        let leader = self.index.ahead_on_lanelet(agent);
        self.ground.length(self.position(agent).lanelet)
            + next.map_or(0.0, |id| f64::from(id.number()))
            + leader.map_or(0.0, |entry| entry.s)
    }

    /// Prefetches the centre line at the agent's position and `ahead` metres farther on.
    #[inline]
    fn touch_route(&self, agent: AgentIndex, ahead: f64) -> f64 {
        let position = self.position(agent);
        let line = self.ground.line(position.lanelet);
        line.heading(position.s) + line.position(position.s + ahead).x
    }

    /// Prefetches the allowed speed at the agent's place, the next lanelets with their vehicles,
    /// and the motion of the leader.
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
