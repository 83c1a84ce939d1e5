//! New goals and routes at the request of behaviours: driving to a place, chasing, fleeing, and
//! changing to a lane that is not on the route.

use super::effects::{Effecting, MOST_SPOTS, give_up_grants};
use crate::records::{AgentIndex, LaneSpot, Phase, Progress};
use crate::route::{Goal, Route, goal_input};
use glam::DVec2;
use roadwright_plugin_api::PlannerInput;
use roadwright_scenario::VehicleClass;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// Minimum time between replans while chasing or fleeing, s.
const REPLAN_TIME: f64 = 0.5;
/// Length of the planned route of a fleeing agent, m.
const FLIGHT: f64 = 400.0;
/// Maximum number of lanelets in the route of a fleeing agent.
const FLIGHT_LANELETS: usize = 24;
/// Minimum gap to vehicles on the adjacent lane for an optional lane change, m.
const CHANGE_GAP: f64 = 3.0;
/// Time gap for vehicles that close in, s. Multiplied by the closing speed, it is added to
/// [`CHANGE_GAP`].
const CHANGE_TIME: f64 = 1.5;
/// No optional lane change begins closer than this to the end of a lane, m.
const LATEST_CHANGE: f64 = 30.0;
/// If a vehicle gives up its grant, it must be able to stop before the end of its lane with this
/// deceleration, m/s^2.
const GENTLE_BRAKING: f64 = 2.0;
/// Maximum extra length of a route because of an optional lane change, m.
const DETOUR: f64 = 60.0;

impl Effecting<'_> {
    /// Gives an agent a route to the lane nearest to a place, or over open ground if there is no
    /// lane near the place. If there is no route, the agent is notified.
    pub(super) fn go_to_or_tell(&mut self, agent: AgentIndex, place: DVec2) {
        // An agent that has never been on lanes drives to the exact position.
        let is_off_road = self.route_of(agent).lanelets.is_empty();
        let goes_itself = is_off_road || self.is_off_lanes(place);
        let goes = goes_itself && self.go_over_ground(agent, place)
            || self.go_to(agent, place)
            || !goes_itself && self.go_over_ground(agent, place);
        if !goes {
            self.tell_no_route(agent);
        }
    }

    /// Replaces the goals of an agent by one on the lane nearest to a place. Returns whether there
    /// is a route to it. If not, the old goals are kept.
    fn go_to(&mut self, agent: AgentIndex, place: DVec2) -> bool {
        if !self.agents.position[agent.index()].is_on_lane() {
            // An agent off the lanes has these options, in this order: joining a nearby lane,
            // reversing out of a parking bay, or, if it has never been on lanes, driving straight
            // over the ground.
            let is_off_road = self.route_of(agent).lanelets.is_empty();
            return self.join_lane(agent, place)
                || self.back_out(agent, place)
                || is_off_road && self.set_goal(agent, Goal::Ground(place));
        }
        let ground = self.ground;
        let spots = ground.finder().near(ground.graph(), place);
        spots
            .into_iter()
            .take(MOST_SPOTS)
            .any(|(lanelet, s, _)| self.set_goal(agent, Goal::Lane { lanelet, s }))
    }

    /// Replaces all remaining goals of an agent by one goal. Returns whether it can be reached.
    fn set_goal(&mut self, agent: AgentIndex, goal: Goal) -> bool {
        self.set_goals(agent, &[goal])
    }

    /// Replaces all remaining goals of an agent. Returns whether all goals before the first goal off the
    /// lanes can be reached.
    pub(super) fn set_goals(&mut self, agent: AgentIndex, goals: &[Goal]) -> bool {
        let Some(&goal) = goals.first() else {
            return false;
        };
        let index = agent.index();
        // The last goal counts as reached if the agent waits there.
        let reached = self.goals_behind(agent);
        let candidate = self.route_of(agent).with_goals(reached, goals);
        let (route, gives_up_grants) = match goal {
            Goal::Ground(_) | Goal::Join { .. } => (candidate, false),
            Goal::Lane { .. } | Goal::Leave { .. } => {
                let progress = Progress {
                    reached,
                    ..self.agents.progress[index]
                };
                let position = &self.agents.position[index];
                let claim = &self.agents.claim[index];
                let turned = self
                    .asking(agent)
                    .turned(&candidate, position, &progress, claim);
                match turned {
                    Some(turned) => turned,
                    None => return false,
                }
            }
        };
        match goal {
            Goal::Lane { .. } | Goal::Leave { .. } => self.take_planned_route(agent, route),
            Goal::Ground(_) | Goal::Join { .. } => self.move_to_route(agent, route),
        }
        if gives_up_grants {
            give_up_grants(self.ground, self.agents, self.traffic, agent);
        }
        self.travel(agent).reach(reached);
        self.agents.progress[index].has_own_goals = true;
        self.agents.identity[index].phase = Phase::Driving;
        true
    }

    fn may_replan(&self, agent: AgentIndex) -> bool {
        self.clock
            .since(self.agents.progress[agent.index()].planned_at)
            >= REPLAN_TIME
    }

    /// Makes an agent chase another agent, whose position becomes its goal.
    pub(super) fn chase(&mut self, agent: AgentIndex, id: u64) {
        let Some(other) = self.agents.census().find(id) else {
            return;
        };
        let target = self.agents.position[other.index()];
        let is_on_lane = self.agents.position[agent.index()].is_on_lane();
        if !is_on_lane || !target.is_on_lane() {
            let place = self.place(other);
            // On lanes, the agent drives to the lane nearest to the other agent.
            if !is_on_lane || self.may_replan(agent) {
                self.go_to(agent, place);
            }
            return;
        }
        let goal = Goal::Lane {
            lanelet: target.lanelet,
            s: target.s,
        };
        let reached = self.agents.progress[agent.index()].reached;
        match self.route_of(agent).next_goal(reached) {
            // While the target is still on the lanelet of the goal, the goal moves along with it
            // and the route stays. The planner is called only when the target reaches another
            // lanelet, and even then not in every step.
            Some(Goal::Lane { lanelet, .. })
                if lanelet == target.lanelet && !self.has_arrived(agent) =>
            {
                let mut goals = self.route_of(agent).goals.to_vec();
                if goals[reached as usize] != goal {
                    goals[reached as usize] = goal;
                    self.travel(agent).move_goals(&goals);
                }
            }
            _ if self.may_replan(agent) => {
                self.set_goal(agent, goal);
            }
            _ => {}
        }
    }

    /// Gives an agent a route that leads away from another agent. It is built without a planner,
    /// because fleeing has no destination and the direction is chosen separately at each junction.
    pub(super) fn flee(&mut self, agent: AgentIndex, id: u64) {
        let Some(other) = self.agents.census().find(id) else {
            return;
        };
        let index = agent.index();
        if !self.agents.position[index].is_on_lane() || !self.may_replan(agent) {
            return;
        }
        let danger = self.place(other);
        let route = self.route_of(agent);
        // The agent first drives the granted lanelets, and flees from their end.
        let from = self.agents.claim[index]
            .granted_to
            .max(self.agents.progress[index].at)
            .min(route.lanelets.len() as u32 - 1);
        let class = self.vehicle_type(agent).class;
        let flight = self.flight(route.lanelets[from as usize], danger, class);
        let Some(&end) = flight.last() else { return };
        let s = self.ground.lanelet(end).length();
        let reached = self.goals_behind(agent);
        let route = self.route_of(agent).with_flight(reached, from, &flight, s);
        self.take_planned_route(agent, route);
        self.travel(agent).reach(reached);
        self.agents.progress[index].has_own_goals = true;
        self.agents.identity[index].phase = Phase::Driving;
    }

    /// Lanelets that follow `from`, up to the limits of a flight. At each fork, the successor whose
    /// end is farthest from the danger is chosen. If two are equally far away, the one with the
    /// smaller index is chosen.
    fn flight(&self, from: LaneletIndex, danger: DVec2, class: VehicleClass) -> Vec<LaneletIndex> {
        let graph = self.ground.graph();
        let mut flight: Vec<LaneletIndex> = Vec::new();
        let (mut at, mut length) = (from, 0.0);
        while length < FLIGHT && flight.len() < FLIGHT_LANELETS {
            let distance = |lanelet: LaneletIndex| {
                let line = graph.line(lanelet);
                (line.position(line.length()) - danger).length()
            };
            let open = graph.successors(at).iter().copied();
            let own = graph.lanelet(at).road_access;
            let open = open.filter(|&next| {
                let lanelet = graph.lanelet(next);
                // Agents do not flee into yards, because the only exit is the road on which they
                // entered.
                let is_open = lanelet.road_access.strictness() <= own.strictness();
                let is_free = is_open && lanelet.access.admits(class);
                is_free && next != from && !flight.contains(&next)
            });
            let best = open.max_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(b.cmp(&a)));
            let Some(best) = best else { break };
            flight.push(best);
            length += graph.lanelet(best).length();
            at = best;
        }
        // A route has to end on a lane, because a vehicle that waits in a junction would block
        // others.
        while flight
            .last()
            .is_some_and(|&last| graph.lanelet(last).is_connection())
        {
            flight.pop();
        }
        flight
    }

    /// Reroutes an agent over the adjacent lane, if there is space on that lane and the goals can be reached
    /// from it. Returns whether the agent was rerouted.
    pub(super) fn lead_through(&mut self, agent: AgentIndex, target: LaneletIndex) -> bool {
        let Some(route) = self.route_through(agent, target) else {
            return false;
        };
        let is_committed = self.is_committed(agent);
        self.take_planned_route(agent, route);
        if is_committed {
            give_up_grants(self.ground, self.agents, self.traffic, agent);
        }
        true
    }

    /// Whether a junction has admitted an agent from its current lane and reserves the connection
    /// for it.
    fn is_committed(&self, agent: AgentIndex) -> bool {
        let index = agent.index();
        self.agents.claim[index].granted_to > self.agents.progress[index].at + 1
    }

    /// Whether an agent that a junction has admitted may still change to the lane `target`. There
    /// are two such cases. Either its own lane ends, and it can stop gently before the end in case
    /// it is not admitted again. Or an adjacent lane ends, and `target` needs no admission.
    fn may_give_up_merge(&self, agent: AgentIndex, target: LaneletIndex) -> bool {
        let index = agent.index();
        let (position, progress) = (&self.agents.position[index], &self.agents.progress[index]);
        // The agent also holds grants beyond the next connection.
        if self.agents.claim[index].granted_to != progress.at + 2 {
            return false;
        }
        let own = position.lanelet;
        let length = self.ground.length(own);
        if self
            .ground
            .lane_end(own)
            .is_some_and(|end| end.distance <= length)
        {
            let speed = self.agents.motion[index].speed;
            let room = length - position.s - self.vehicle_type(agent).front;
            return room > speed * speed / (2.0 * GENTLE_BRAKING);
        }
        let ends_into = |side: LaneletIndex| {
            let end = (side != NO_LANELET).then(|| self.ground.lane_end(side));
            end.flatten().is_some_and(|end| end.beside == own)
        };
        let mut beyond = self.ground.successors(target).iter();
        self.ground.beside(own).into_iter().any(ends_into)
            && beyond.all(|&next| self.ground.contested(next).is_none())
    }

    /// Whether an agent may change to an adjacent lane that is not on its route.
    fn may_change_to(&self, agent: AgentIndex, target: LaneletIndex) -> bool {
        let index = agent.index();
        let position = &self.agents.position[index];
        let graph = self.ground.graph();
        let own = graph.lanelet(position.lanelet);
        let is_committed = self.has_arrived(agent)
            || self.is_committed(agent) && !self.may_give_up_merge(agent, target);
        let class = self.vehicle_type(agent).class;
        let is_closed = !graph.lanelet(target).access.admits(class);
        let view = self.surroundings().with(self.agents.lent());
        !is_committed
            && !is_closed
            && own.length() - position.s >= LATEST_CHANGE
            && position.may_change_lane()
            && view.has_room_beside(agent, target, CHANGE_GAP, CHANGE_TIME)
    }

    /// Returns a route to an agent's next goal over the adjacent lane, continued by the old route.
    /// `None` if the lane change is not allowed now, or if it would make the route much longer.
    fn route_through(&self, agent: AgentIndex, target: LaneletIndex) -> Option<Route> {
        if !self.may_change_to(agent, target) {
            return None;
        }
        let index = agent.index();
        let (position, progress) = (&self.agents.position[index], &self.agents.progress[index]);
        let graph = self.ground.graph();
        let own = graph.lanelet(position.lanelet);
        let asking = self.asking(agent);
        let route = self.route_of(agent);
        let s = position.s / own.length() * graph.lanelet(target).length();
        let goal = route.next_goal(progress.reached)?;
        let input = PlannerInput {
            may_change_first: 0,
            ..goal_input(goal, LaneSpot { lanelet: target, s }, asking.class)?
        };
        let beyond = asking.route(input)?;
        let goal_at = route.goal_at(progress.reached)?;
        // A lane that is left sideways is not counted twice, because part of the distance is driven
        // on this lane and the rest on the adjacent one.
        let length = |lanelets: &[LaneletIndex]| -> f64 {
            let pairs = lanelets.windows(2);
            let driven = pairs.filter(|pair| self.ground.leads_to(pair[0], pair[1]));
            driven.map(|pair| graph.lanelet(pair[0]).length()).sum()
        };
        let before = &route.lanelets[progress.at as usize..=goal_at as usize];
        if length(&beyond) > length(before) + DETOUR {
            return None;
        }
        let lanelets = [&[position.lanelet], &beyond[..]].concat();
        Some(route.with_run(progress.at, goal_at, progress.reached, &lanelets))
    }
}
