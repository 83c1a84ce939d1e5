//! Behaviours choose lanes and speeds, and ask for what goes beyond that.

use super::effects::Effecting;
use crate::agents::Agents;
use crate::dynamics::room_to_change_lane;
use crate::modules::{Modules, Rota, Rows};
use crate::route::{Goal, Travel};
use roadwright_agent::{AgentFacts, Effects, Scene, Step};
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput};
use roadwright_scenario::RoadId;
use roadwright_scenario::lane_graph::{LaneletKind, NO_LANELET};
use std::sync::Arc;

/// What the stage keeps between steps.
#[derive(Default)]
pub(crate) struct Behaving {
    rota: Rota,
    pub(crate) rows: Rows<BehaviourInput, BehaviourOutput>,
}

/// Asks the behaviours about the agents whose turn it is, and does what they ask for.
pub(crate) fn behave(
    stage: &mut Behaving,
    helpers: Option<&rayon::ThreadPool>,
    world: &mut Effecting<'_>,
) {
    let step = world.clock.step;
    stage
        .rota
        .update(&world.modules.pools.behaviour, world.agents);
    world.tell_collisions();
    let scene = wants_scene(&mut stage.rota, step, world.modules).then(|| world.scene());
    for number in 0..world.modules.pools.behaviour.instances.len() {
        let instance = &world.modules.pools.behaviour.instances[number];
        let due = stage.rota.due(number, step);
        if due.0.is_empty() {
            continue;
        }
        let (module, moment) = (instance.module(), world.clock.moment(instance.rate));
        let seen = world.surroundings().with(world.agents);
        let effects = stage.rows.ask(
            helpers,
            module.logic.asks_whole(),
            due,
            |agent| seen.behaviour_input(agent),
            |(indices, ids), inputs, outputs| {
                let step = Step {
                    indices,
                    ids,
                    ..moment
                };
                let mut effects = Effects::default();
                let (logic, parameters) = (&module.logic, &module.parameters);
                logic.step(
                    parameters,
                    &step,
                    scene.as_ref(),
                    inputs,
                    outputs,
                    &mut effects,
                );
                effects
            },
        );
        for (&agent, output) in due.0.iter().zip(&stage.rows.outputs) {
            world.take_output(agent, output);
        }
        world.apply(effects);
    }
    if let Some(scene) = scene {
        let was_asked = |agent| stage.rota.is_due(agent, step);
        world.messages.drop_read(&scene, world.agents, was_asked);
    }
}

/// Lets each agent know the nearest of those whose leader it is: `leaders` has the index of that of
/// each agent, in the order of the agents, which is that of their indices.
fn note_followers(agents: &mut [AgentFacts], leaders: &[Option<u32>]) {
    let mut nearest: Vec<Option<(f64, u64)>> = vec![None; agents.len()];
    for (own, leader) in agents.iter().zip(leaders) {
        let at = leader.and_then(|leader| {
            let at = agents.binary_search_by_key(&leader, |facts| facts.index);
            at.ok()
        });
        let Some(at) = at else { continue };
        let found = ((agents[at].position - own.position).length(), own.id);
        if nearest[at].is_none_or(|known| found < known) {
            nearest[at] = Some(found);
        }
    }
    for (own, nearest) in agents.iter_mut().zip(nearest) {
        own.follower = nearest.map(|(_, id)| id);
    }
}

/// Whether a behaviour that is due looks at others.
fn wants_scene(rota: &mut Rota, step: u64, modules: &Modules) -> bool {
    let mut instances = modules.pools.behaviour.instances.iter().enumerate();
    instances.any(|(number, instance)| {
        !rota.due(number, step).0.is_empty() && instance.module().logic.wants_scene()
    })
}

/// Road and lane that an agent follows; `None` in junctions and on open ground.
pub(crate) fn lane_of(
    ground: &crate::ground::Ground,
    agents: &Agents,
    agent: u32,
) -> Option<(RoadId, i8)> {
    let position = &agents.position[agent as usize];
    if !position.is_on_lane() {
        return None;
    }
    match ground.lanelet(position.lanelet).kind {
        LaneletKind::Lane { road, lane, .. } => Some((road, lane)),
        LaneletKind::Connection { .. } => None,
    }
}

impl Effecting<'_> {
    /// The driving agents and the messages for them.
    fn scene(&mut self) -> Arc<Scene> {
        let mail = self.messages.take_mail();
        let view = self.surroundings().with(self.agents);
        let driving = self.agents.driving();
        let (mut facts, leaders): (Vec<AgentFacts>, Vec<Option<u32>>) = driving
            .map(|agent| {
                let leader = view.leader(agent);
                (self.facts(agent, leader), leader)
            })
            .unzip();
        note_followers(&mut facts, &leaders);
        let names = (self.types.names.clone(), self.modules.names.clone());
        let mut scene = Scene::new(facts, mail, names.0, names.1);
        scene.groups = self.messages.groups.clone();
        scene.lane_middles = self.ground.lane_middles().clone();
        Arc::new(scene)
    }

    fn facts(&self, agent: u32, leader: Option<u32>) -> AgentFacts {
        let index = agent as usize;
        let (who, motion) = (&self.agents.identity[index], &self.agents.motion[index]);
        let pose = self.bodies().pose(agent);
        let lane = lane_of(self.ground, self.agents, agent);
        let progress = &self.agents.progress[index];
        let route = self.routes.get(progress.route);
        let goal = route.next_goal(progress.reached);
        AgentFacts {
            id: who.id,
            index: agent,
            position: pose.position,
            heading: pose.heading,
            speed: motion.speed,
            length: self.types.get(who.vehicle_type).length,
            vehicle: who.vehicle_type,
            stack: who.stack,
            road: lane.map(|lane| lane.0),
            lane: lane.map_or(0, |lane| lane.1),
            s: self.agents.position[index].s,
            goal: goal.map(|goal: Goal| goal.position(self.ground.graph())),
            has_arrived: self.has_arrived(agent),
            has_more_goals: progress.reached as usize + 1 < route.goals.len(),
            leader: leader.map(|leader| self.agents.identity[leader as usize].id),
            follower: None,
        }
    }

    /// Takes the output row of a behaviour: wishes that last, and a lane change to begin now.
    fn take_output(&mut self, agent: u32, output: &BehaviourOutput) {
        let index = agent as usize;
        let wish = &mut self.agents.wish[index];
        // It lasts until the behaviour is asked again, whichever that is then.
        wish.braking = 0.0;
        if output.speed_factor.is_finite() {
            wish.speed_factor = output.speed_factor.clamp(0.0, 2.0);
        }
        if output.top_speed.is_finite() {
            wish.top_speed = output.top_speed.max(0.0);
        }
        // One change at a time.
        let position = self.agents.position[index];
        if !position.may_change_lane() || output.lane_change == 0.0 {
            return;
        }
        let lanelet = self.ground.lanelet(position.lanelet);
        let target = if output.lane_change > 0.0 {
            lanelet.left
        } else {
            lanelet.right
        };
        let room = room_to_change_lane(self.agents.identity[index].level);
        if target == NO_LANELET || lanelet.length() - position.s < room {
            return;
        }
        // A change that the route does not ask for needs another route, and room.
        let progress = &self.agents.progress[index];
        let next = self.routes.get(progress.route).lanelet(progress.at + 1);
        if next != Some(target) && !self.lead_through(agent, target) {
            return;
        }
        let line = self.ground.graph().line(target);
        let guess = position.s / lanelet.length() * line.length();
        let pose = self.bodies().pose(agent);
        let place = line.project(pose.position, guess);
        let (progress, position) = (
            &mut self.agents.progress[index],
            &mut self.agents.position[index],
        );
        Travel::change_lane(progress, position, target, place);
    }
}
