//! Reroutes one vehicle of a ring of full lanes if nothing else resolves the ring.

use crate::agents::{AgentsRef, PlanColumns};
use crate::clock::Clock;
use crate::fixed::Fixed;
use crate::modules::Modules;
use crate::records::LaneSpot;
use crate::route::{Route, Routes, Travel, goal_input};
use crate::traffic::{Delays, Detour, StuckRing};
use crate::vehicle_type::VehicleTypes;
use roadwright_ground::Ground;

/// Inputs for rerouting a vehicle of a ring.
pub(crate) struct DetourInputs<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) modules: &'a Modules,
    pub(crate) delays: &'a Delays,
}

impl DetourInputs<'_> {
    /// Reroutes one of the vehicles at the heads of the ring's queues: the first one that can reach
    /// its goal by another route. Returns whether a vehicle was rerouted.
    pub(crate) fn send_one(
        &self,
        ring: &StuckRing,
        routes: &mut Routes,
        agents: &mut PlanColumns<'_>,
    ) -> bool {
        let found = ring.detours.iter().find_map(|detour| {
            let route = self.route_by(detour, routes, agents.lent())?;
            Some((detour.agent, route))
        });
        let Some((agent, route)) = found else {
            return false;
        };
        let mut travel = Travel {
            routes,
            progress: &mut agents.progress[agent.index()],
            claim: &mut agents.claim[agent.index()],
        };
        travel.replan(route, self.clock.step);
        true
    }

    /// Returns a route for an agent that continues on another lane after the junction before which
    /// it waits. `None` if no such route leads to its next goal, or if the goal is before that
    /// junction.
    fn route_by(&self, detour: &Detour, routes: &Routes, agents: AgentsRef<'_>) -> Option<Route> {
        let index = detour.agent.index();
        let progress = &agents.progress[index];
        let route = routes.get(progress.route);
        let goal_at = route.goal_at(progress.reached)?;
        // A detour is useless if the goal is before the place where the agent would turn off, or if
        // the agent has already reached that place.
        if goal_at <= detour.at || progress.at >= detour.at {
            return None;
        }
        let fixed = Fixed {
            ground: self.ground,
            types: self.types,
        };
        let (delays, agent) = (&self.delays.0, detour.agent);
        let asking = (self.modules).asking(self.clock, fixed, delays, agents.census, agent);
        let goal = route.next_goal(progress.reached)?;
        let beyond = asking.route(goal_input(
            goal,
            LaneSpot {
                lanelet: detour.exit,
                s: 0.0,
            },
            asking.class,
        )?)?;
        let before = &route.lanelets[progress.at as usize..detour.at as usize];
        let lanelets = [before, &[detour.connection], &beyond].concat();
        Some(route.with_run(progress.at, goal_at, progress.reached, &lanelets))
    }
}
