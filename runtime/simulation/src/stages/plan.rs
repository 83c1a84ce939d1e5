//! Replans routes of agents that have been stationary for too long or cannot change lanes in time.

use crate::agents::{AgentsRef, PlanColumns};
use crate::clock::Clock;
use crate::fixed::Fixed;
use crate::modules::{Modules, Rota};
use crate::records::{AgentIndex, LaneSpot};
use crate::route::{GIVE_UP_DISTANCE, Goal, Question, Route, Routes, Travel, ask_all, goal_input};
use crate::traffic::{Claims, Delays};
use crate::vehicle_type::VehicleTypes;
use roadwright_agent::PlannerView;
use roadwright_ground::{Ground, PROFILE_BRAKING};
use roadwright_plugin_api::PlannerInput;
use roadwright_scenario::VehicleClass;
use roadwright_scenario::lane_graph::LaneletIndex;

/// Time that an agent is stationary before it searches for another route, s. The time is longer
/// than the red phases of signals. If the old route is still the best one, the agent searches again
/// after the same time, and later after two, four and eight times this time.
const REROUTE_AFTER: f64 = 45.0;
/// Maximum number of times that [`REROUTE_AFTER`] is doubled.
const MOST_DOUBLED: u8 = 3;
/// A vehicle that has been stationary for this time while it waits for a gap gives up the lane
/// change, s. It has not been let in by then, and it blocks others.
const WAITS_FOR_GAP: f64 = 12.0;
/// A vehicle counts as waiting for a gap if it is stationary within this distance of the place
/// where a lane change is given up, m.
const WAITING_PLACE: f64 = 3.0;
/// A detour of a stuck agent returns to its route after this distance, m. Every second attempt
/// instead searches for a completely new route to the goal, which costs much more.
const REJOIN: f64 = 1500.0;
/// Time between attempts after a missed lane change, s.
const NEXT_ATTEMPT: f64 = 1.0;

/// Number of replans in a step, by reason. A lane change does not count as a missed turn if it is
/// deferred to the next road, or given up because the goal is beside the agent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Planned {
    /// Number of replans for agents that had been stationary for too long.
    pub(crate) stuck: u64,
    /// Number of times that an agent missed its lane and got another route.
    pub(crate) missed_turns: u64,
}

/// Reason for replanning a route.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trigger {
    Stuck,
    TooLate,
}

/// An agent with the part of its route, between two indices, that has to be replaced.
struct Need {
    from: u32,
    to: u32,
    input: PlannerInput,
}

/// Inputs for the decision whether to replan.
struct PlanInputs<'a> {
    clock: &'a Clock,
    ground: &'a Ground,
    types: &'a VehicleTypes,
    routes: &'a Routes,
    agents: AgentsRef<'a>,
    claims: &'a Claims,
}

/// Inputs of the planning stage, besides routes and agents.
#[derive(Clone, Copy)]
pub(crate) struct Planning<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) fixed: Fixed<'a>,
    pub(crate) modules: &'a Modules,
    pub(crate) delays: &'a Delays,
    pub(crate) claims: &'a Claims,
}

/// Replans the routes of agents that have been stationary for too long or cannot change lanes in
/// time. All requests to a planner instance are sent in one batch.
pub(crate) fn plan(
    given: Planning<'_>,
    rota: &mut Rota,
    routes: &mut Routes,
    agents: &mut PlanColumns<'_>,
) -> Planned {
    let Planning {
        clock,
        fixed: Fixed { ground, types },
        modules,
        delays,
        claims,
    } = given;
    let pool = &modules.pools.planner;
    rota.update(pool, agents.census);
    let mut counts = Planned::default();
    let (mut questions, mut needs) = (Vec::new(), Vec::new());
    for (number, instance) in pool.instances.iter().enumerate() {
        let scene = PlanInputs {
            clock,
            ground,
            types,
            routes,
            agents: agents.lent(),
            claims,
        };
        let due = rota.due(number, clock.step).indices;
        let changed = scene.ask_for(due, &mut questions, &mut needs);
        for (agent, route) in changed {
            replan(clock, agent, route, routes, agents);
        }
        // In most steps, no agent needs another route.
        if questions.is_empty() {
            continue;
        }
        let view = PlannerView {
            graph: ground.graph(),
            delays: &delays.0,
        };
        let step = clock.moment(instance.rate);
        let answers = ask_all(instance.module(), &view, &step, &questions);
        for ((question, need), answer) in questions.iter().zip(&needs).zip(answers) {
            let (trigger, (from, to)) = *need;
            let is_new = take_answer(clock, question.agent, from, to, answer, routes, agents);
            match trigger {
                Trigger::Stuck => counts.stuck += 1,
                Trigger::TooLate if is_new => counts.missed_turns += 1,
                Trigger::TooLate => end_beside(clock, ground, question.agent, routes, agents),
            }
        }
    }
    counts
}

/// Replaces the route of an agent.
fn replan(
    clock: &Clock,
    agent: AgentIndex,
    route: Route,
    routes: &mut Routes,
    agents: &mut PlanColumns<'_>,
) {
    let mut travel = Travel {
        routes,
        progress: &mut agents.progress[agent.index()],
        claim: &mut agents.claim[agent.index()],
    };
    travel.replan(route, clock.step);
}

/// Lets an agent arrive beside its last goal if the goal is on an adjacent lane that the agent
/// cannot reach.
fn end_beside(
    clock: &Clock,
    ground: &Ground,
    agent: AgentIndex,
    routes: &mut Routes,
    agents: &mut PlanColumns<'_>,
) {
    let progress = &agents.progress[agent.index()];
    let route = routes.get(progress.route);
    let beside = route.ending_beside(progress.at, progress.reached, ground.graph());
    if let Some(route) = beside {
        replan(clock, agent, route, routes, agents);
    }
}

/// Replaces a part of an agent's route by the answer of a planner. Returns whether the two differ.
fn take_answer(
    clock: &Clock,
    agent: AgentIndex,
    from: u32,
    to: u32,
    answer: Option<Vec<LaneletIndex>>,
    routes: &mut Routes,
    agents: &mut PlanColumns<'_>,
) -> bool {
    let index = agent.index();
    let progress = &mut agents.progress[index];
    progress.planned_at = clock.step;
    let route = routes.get(progress.route);
    // If the answer is empty or equal to the old part, the agent asks less often while it stands.
    let is_new =
        |lanelets: &Vec<LaneletIndex>| route.lanelets[from as usize..=to as usize] != lanelets[..];
    let Some(lanelets) = answer.filter(is_new) else {
        progress.attempts = progress.attempts.saturating_add(1);
        return false;
    };
    progress.attempts = 0;
    let route = route.with_run(from, to, progress.reached, &lanelets);
    replan(clock, agent, route, routes, agents);
    true
}

impl PlanInputs<'_> {
    /// Collects planner requests for the agents that need another route, each with its trigger and
    /// the part of the route to replace. Returns the agents whose new routes need no planner.
    fn ask_for(
        &self,
        agents: &[u32],
        questions: &mut Vec<Question>,
        needs: &mut Vec<(Trigger, (u32, u32))>,
    ) -> Vec<(AgentIndex, Route)> {
        questions.clear();
        needs.clear();
        let mut changed = Vec::new();
        for &agent in agents {
            let agent = AgentIndex::new(agent);
            let Some(trigger) = self.trigger(agent) else {
                continue;
            };
            if trigger == Trigger::TooLate
                && let Some(route) = self.without_change(agent)
            {
                changed.push((agent, route));
                continue;
            }
            let Some(need) = self.need(agent, trigger) else {
                continue;
            };
            questions.push(Question {
                agent,
                id: self.agents.identity[agent.index()].id,
                input: need.input,
            });
            needs.push((trigger, (need.from, need.to)));
        }
        changed
    }

    /// Returns an agent's route without the lane change that it has missed; `None` if a planner is
    /// needed. The agent changes lanes one road later. If no vehicle could have changed lanes in
    /// time, the agent ends its trip beside the goal.
    fn without_change(&self, agent: AgentIndex) -> Option<Route> {
        let progress = &self.agents.progress[agent.index()];
        let (at, reached) = (progress.at, progress.reached);
        let (route, graph) = (self.routes.get(progress.route), self.ground.graph());
        // Granted lanelets must stay on the route.
        let may_defer = self.kept_to(agent) <= at + 1;
        let later = || route.deferred(at, reached, graph, self.class(agent));
        if may_defer && let Some(run) = later() {
            return Some(route.with_run(at, run.to, reached, &run.lanelets));
        }
        // The goal can be reached by a detour. Without space for the lane change, a detour would
        // lead back to the same place again and again.
        if route.has_room_for_goal(at, reached, graph) {
            return None;
        }
        route.ending_beside(at, reached, graph)
    }

    /// Returns the route index before which an agent must keep its route, because junctions and
    /// alleys have admitted it up to there.
    fn kept_to(&self, agent: AgentIndex) -> u32 {
        let granted_to = self.agents.claim[agent.index()].granted_to;
        granted_to.max(self.claims.alleys.held_to(agent))
    }

    fn class(&self, agent: AgentIndex) -> VehicleClass {
        let identity = &self.agents.identity[agent.index()];
        self.types.get(identity.vehicle_type).class
    }

    /// Returns the reason why an agent needs another route; `None` if it needs no other route.
    #[inline]
    fn trigger(&self, agent: AgentIndex) -> Option<Trigger> {
        let index = agent.index();
        let (position, progress) = (&self.agents.position[index], &self.agents.progress[index]);
        let since = self.clock.since(progress.planned_at);
        // The times are 45, 90, 180 and 360 s. A search through a jam visits much of the network, and a route
        // that was the best twice is probably still the best.
        let patience = REROUTE_AFTER * f64::from(1u32 << progress.attempts.min(MOST_DOUBLED));
        let is_stuck = progress.standing > REROUTE_AFTER && since > patience;
        if !is_stuck && since <= NEXT_ATTEMPT || !position.is_on_lane() {
            return None;
        }
        // A lane change is missed when the stopping distance exceeds the distance to the end of the
        // lane. If several changes are required, one is missed when there is no space left for the
        // others. Most roads have one lane per direction, so the route need not be examined.
        if !self.ground.has_beside(position.lanelet) {
            return is_stuck.then_some(Trigger::Stuck);
        }
        let route = self.routes.get(progress.route);
        let changes = route.lane_changes_on(progress.at, self.ground);
        let speed = self.agents.motion[index].speed;
        let braking = speed * speed / (2.0 * PROFILE_BRAKING);
        let needed = f64::from(changes) * GIVE_UP_DISTANCE;
        let waited_for = match progress.standing > WAITS_FOR_GAP {
            true => WAITING_PLACE,
            false => 0.0,
        };
        let needed = (needed + waited_for).max(braking);
        let room = || {
            route.room_for_changes(
                progress.at,
                position.s,
                changes,
                progress.reached,
                self.ground.graph(),
            )
        };
        let is_missed = changes > 0 && room() < needed;
        if is_missed && since > NEXT_ATTEMPT {
            Some(Trigger::TooLate)
        } else {
            is_stuck.then_some(Trigger::Stuck)
        }
    }

    /// Remaining length of the lanelet that an agent is on, m.
    #[inline]
    fn remaining(&self, agent: AgentIndex) -> f64 {
        let position = &self.agents.position[agent.index()];
        self.ground.lanelet(position.lanelet).length() - position.s
    }

    /// Returns the part of an agent's route that has to be replaced, and the request to the
    /// planner.
    fn need(&self, agent: AgentIndex, trigger: Trigger) -> Option<Need> {
        let index = agent.index();
        let (position, progress) = (&self.agents.position[index], &self.agents.progress[index]);
        let route = self.routes.get(progress.route);
        // Granted lanelets stay on the route, so the new part begins with the first lanelet after
        // them.
        let granted_to = self.kept_to(agent);
        let from = if granted_to > progress.at + 1 {
            granted_to
        } else {
            progress.at
        };
        let lanelet = route.lanelet(from)?;
        let goal_at = route.goal_at(progress.reached)?;
        if from > goal_at {
            return None;
        }
        // A search to the goal through a jam visits much of the network. Therefore attempts alternate between
        // a detour back to the route, which is tried first, and a full search.
        let is_detour = trigger == Trigger::Stuck && progress.attempts.is_multiple_of(2);
        let rejoin = is_detour
            .then(|| self.rejoin(route, from, goal_at))
            .flatten();
        let (to, goal) = match rejoin {
            Some(rejoin) => rejoin,
            None => (goal_at, route.next_goal(progress.reached)?),
        };
        let is_here = from == progress.at;
        // A planner that may change lanes immediately would choose the same lane change that was
        // missed.
        let is_near_end = is_here && self.remaining(agent) < 2.0 * GIVE_UP_DISTANCE;
        let s = if is_here { position.s } else { 0.0 };
        let is_too_late = trigger == Trigger::TooLate;
        let input = PlannerInput {
            may_change_first: u32::from(!is_too_late && !is_near_end),
            ..goal_input(goal, LaneSpot { lanelet, s }, self.class(agent))?
        };
        Some(Need { from, to, input })
    }

    /// Returns the place where a detour from lanelet `from` returns to the route: the end of the
    /// first lane that is farther away than [`REJOIN`]. `None` if the goal is closer.
    fn rejoin(&self, route: &Route, from: u32, goal_at: u32) -> Option<(u32, Goal)> {
        let mut distance = 0.0;
        for at in from + 1..goal_at {
            let id = route.lanelet(at)?;
            let lanelet = self.ground.lanelet(id);
            distance += lanelet.length();
            // If a lane change follows, the route continues on the adjacent lane, so a detour cannot return
            // here.
            let goes_on = route.lane_change_at(at, self.ground.graph()) == 0.0;
            if distance > REJOIN && !lanelet.is_connection() && goes_on {
                let s = lanelet.length();
                return Some((at, Goal::Lane { lanelet: id, s }));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stand;

    fn clock_at(time: f64) -> Clock {
        Clock {
            dt: 0.1,
            seed: 1,
            begins_at: 12.0,
            step: (time / 0.1) as u64,
        }
    }

    fn scene<'a>(stand: &'a Stand, clock: &'a Clock) -> PlanInputs<'a> {
        PlanInputs {
            clock,
            ground: &stand.ground,
            types: &stand.types,
            routes: &stand.routes,
            agents: stand.agents.lent(),
            claims: &stand.claims,
        }
    }

    /// Replanning need of an agent at position `s` on the right lane of a road of 300 m with its
    /// goal on lane `to`, for the given speed, standing time and number of attempts. Its last route
    /// was planned `since` seconds ago.
    fn need(
        to: usize,
        s: f64,
        speed: f64,
        standing: f64,
        attempts: u8,
        since: f64,
    ) -> Option<(Trigger, Need)> {
        let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
        let lanes = stand.lanes_from_the_right();
        let route: &[_] = if to == 0 { &lanes[..1] } else { &lanes };
        let agent = stand.car(1, route, s, speed);
        let progress = &mut stand.agents.progress[agent.index()];
        (progress.standing, progress.attempts) = (standing, attempts);
        let clock = clock_at(since);
        let scene = scene(&stand, &clock);
        let trigger = scene.trigger(agent)?;
        Some((trigger, scene.need(agent, trigger)?))
    }

    #[test]
    fn routes_are_asked_for_when_standing_or_when_a_lane_change_is_missed() {
        let trigger = |need: Option<(Trigger, Need)>| {
            need.map(|(trigger, _)| match trigger {
                Trigger::Stuck => "stuck",
                Trigger::TooLate => "too late",
            })
        };
        // (lane of the goal; position, m; speed, m/s; standing time, s; number of attempts; time
        // since the last plan, s)
        let cases = [
            ((0, 100.0, 10.0, 0.0, 0, 100.0), None),
            // Stationary agents replan after 45 s, and then after two and four times this time.
            ((0, 100.0, 0.0, 44.0, 0, 100.0), None),
            ((0, 100.0, 0.0, 46.0, 0, 100.0), Some("stuck")),
            ((0, 100.0, 0.0, 46.0, 0, 40.0), None),
            ((0, 100.0, 0.0, 120.0, 1, 80.0), None),
            ((0, 100.0, 0.0, 120.0, 1, 91.0), Some("stuck")),
            ((0, 100.0, 0.0, 900.0, 9, 350.0), None),
            ((0, 100.0, 0.0, 900.0, 9, 361.0), Some("stuck")),
            // The required lane change is no longer possible.
            ((1, 100.0, 10.0, 0.0, 0, 100.0), None),
            ((1, 290.0, 2.0, 0.0, 0, 100.0), Some("too late")),
            ((1, 290.0, 2.0, 0.0, 0, 0.5), None),
            ((1, 265.0, 14.0, 0.0, 0, 100.0), Some("too late")),
            ((1, 265.0, 5.0, 0.0, 0, 100.0), None),
            // The agent has waited for a gap at the last possible place, or it stands farther back.
            ((1, 286.0, 0.0, 11.0, 0, 100.0), None),
            ((1, 286.0, 0.0, 13.0, 0, 100.0), Some("too late")),
            ((1, 280.0, 0.0, 13.0, 0, 100.0), None),
            // An agent on the lane of its goal has not missed a lane change.
            ((0, 290.0, 2.0, 0.0, 0, 100.0), None),
        ];
        for ((to, s, speed, standing, attempts, since), expected) in cases {
            let found = trigger(need(to, s, speed, standing, attempts, since));
            let what = format!(
                "lane {to}, {s} m, {speed} m/s, stands {standing} s, {attempts} attempts, {since} s ago"
            );
            assert_eq!(found, expected, "{what}");
        }
    }

    #[test]
    fn who_could_not_change_in_time_from_the_start_of_the_lane_arrives_beside_its_goal() {
        let ends_beside = |goal_s: f64| {
            let mut stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
            let lanes = stand.lanes_from_the_right();
            let agent = stand.car(1, &lanes, 1.0, 5.0);
            let (clock, index) = (clock_at(0.0), agent.index());
            let route = Route {
                goals: [Goal::Lane {
                    lanelet: lanes[1],
                    s: goal_s,
                }]
                .into(),
                ..stand.routes.get(stand.agents.progress[index].route).clone()
            };
            let agents = &mut PlanColumns::of(&mut stand.agents);
            replan(&clock, agent, route, &mut stand.routes, agents);
            let route = scene(&stand, &clock).without_change(agent)?;
            Some((route.lanelets.to_vec() == lanes[..1], route.goals[0]))
        };
        let beside = |s: f64| {
            let stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
            let lanelet = stand.lanes_from_the_right()[0];
            Some((true, Goal::Lane { lanelet, s }))
        };
        for s in [8.0, 17.0] {
            assert_eq!(ends_beside(s), beside(s));
        }
        // Here, the agent could have changed lanes, so it takes a detour and tries again.
        assert_eq!(ends_beside(20.0), None);
    }

    #[test]
    fn near_the_end_of_its_lane_nobody_plans_to_change_it() {
        let allowed = |s: f64| {
            let (_, need) = need(1, s, 0.0, 50.0, 1, 100.0).expect("it is stuck");
            need.input.may_change_first
        };
        assert_eq!([allowed(100.0), allowed(280.0), allowed(295.0)], [1, 0, 0]);
    }
}
