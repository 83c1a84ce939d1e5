//! Planners are asked about agents that need another route.

use crate::agents::Agents;
use crate::clock::Clock;
use crate::ground::{Ground, PROFILE_BRAKING};
use crate::modules::{Modules, Rota};
use crate::route::{Question, Routes, Travel, ask_all, goal_input};
use crate::summary::ReplanCounts;
use crate::traffic::Delays;
use crate::vehicle_type::VehicleTypes;
use roadwright_agent::PlannerView;
use roadwright_plugin_api::PlannerInput;

/// An agent that has stood this long looks for another route, s; and again after as long.
const REROUTE_AFTER: f64 = 15.0;
/// A lane change that has not come about this close to the end of the lane is given up, m.
const GIVE_UP_DISTANCE: f64 = 12.0;
/// Time between two attempts after a missed lane change, s.
const NEXT_ATTEMPT: f64 = 1.0;

/// Why a route is planned again.
enum Trigger {
    Stuck,
    TooLate,
}

/// What deciding reads.
struct Scene<'a> {
    clock: &'a Clock,
    ground: &'a Ground,
    types: &'a VehicleTypes,
    routes: &'a Routes,
    agents: &'a Agents,
}

/// New routes for those who stand for long or cannot change lanes in time: all questions of an
/// instance go out as one batch.
pub(crate) fn plan(
    clock: &Clock,
    (ground, types): (&Ground, &VehicleTypes),
    modules: &Modules,
    delays: &Delays,
    rota: &mut Rota,
    routes: &mut Routes,
    agents: &mut Agents,
) -> ReplanCounts {
    let pool = &modules.pools.planners;
    rota.update(pool, agents);
    let mut counts = ReplanCounts::default();
    let (mut questions, mut starts) = (Vec::new(), Vec::new());
    for (number, instance) in pool.instances.iter().enumerate() {
        let scene = Scene {
            clock,
            ground,
            types,
            routes,
            agents,
        };
        questions.clear();
        starts.clear();
        for &agent in rota.due(number, clock.step).0 {
            let Some((trigger, from, input)) = scene.question(agent) else {
                continue;
            };
            match trigger {
                Trigger::Stuck => counts.stuck += 1,
                Trigger::TooLate => counts.too_late += 1,
            }
            let id = agents.identity[agent as usize].id;
            questions.push(Question { agent, id, input });
            starts.push(from);
        }
        if questions.is_empty() {
            continue;
        }
        let view = PlannerView {
            graph: ground.graph(),
            delays: &delays.0,
        };
        let step = clock.moment(instance.rate);
        let answers = ask_all(&instance.module, &view, &step, &questions);
        for ((question, from), answer) in questions.iter().zip(&starts).zip(answers) {
            let agent = question.agent as usize;
            let progress = &mut agents.progress[agent];
            progress.planned_at = clock.step;
            let Some(lanelets) = answer else { continue };
            let route = routes.get(progress.route);
            let route = route.with_leg(*from, progress.reached, &lanelets);
            let claim = &mut agents.claim[agent];
            let mut travel = Travel {
                routes,
                progress,
                claim,
            };
            travel.replan(route, clock.step);
        }
    }
    counts
}

impl Scene<'_> {
    /// Whether an agent needs another route and why, and from which index of its own.
    fn question(&self, agent: u32) -> Option<(Trigger, u32, PlannerInput)> {
        let index = agent as usize;
        let (position, progress) = (&self.agents.position[index], &self.agents.progress[index]);
        let since = self.clock.since(progress.planned_at);
        let is_stuck = progress.standing > REROUTE_AFTER && since > REROUTE_AFTER;
        if !is_stuck && since <= NEXT_ATTEMPT || !position.is_on_lane() {
            return None;
        }
        let route = self.routes.get(progress.route);
        let goal = route.next_goal(progress.reached)?;
        let remaining = self.ground.lanelet(position.lanelet).length() - position.s;
        let changes = route.lane_change_at(progress.at, self.ground.graph()) != 0.0;
        let speed = self.agents.motion[index].speed;
        let braking = speed * speed / (2.0 * PROFILE_BRAKING);
        let is_too_late =
            changes && remaining < GIVE_UP_DISTANCE.max(braking) && since > NEXT_ATTEMPT;
        let trigger = match (is_too_late, is_stuck) {
            (true, _) => Trigger::TooLate,
            (false, true) => Trigger::Stuck,
            (false, false) => return None,
        };
        // What has been granted is kept.
        let granted_to = self.agents.claim[index].granted_to;
        let from = if granted_to > progress.at + 1 {
            granted_to
        } else {
            progress.at
        };
        let lanelet = route.lanelet(from)?;
        if from > route.goal_at(progress.reached)? {
            return None;
        }
        let is_here = from == progress.at;
        let is_near_end = is_here && remaining < 2.0 * GIVE_UP_DISTANCE;
        let s = if is_here { position.s } else { 0.0 };
        let vehicle_type = self.types.get(self.agents.identity[index].vehicle_type);
        let input = goal_input(goal, (lanelet, s), vehicle_type.bus)?;
        let may_change_first = u32::from(!is_too_late && !is_near_end);
        Some((
            trigger,
            from,
            PlannerInput {
                may_change_first,
                ..input
            },
        ))
    }
}
