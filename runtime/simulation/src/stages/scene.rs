//! The scene that behaviours see: all driving agents, their mail, and the positions of objects.
//!
//! A scene is a copy, built once per step for all behaviours that see other agents. They all see
//! the same state, although they may run on several threads and their requests change the world
//! afterwards.

use crate::agents::AgentsRef;
use crate::clock::Clock;
use crate::messages::Messages;
use crate::modules::Modules;
use crate::perception::{OPEN_GROUND_SPEED, View};
use crate::records::{AgentIndex, LanePosition, Phase};
use crate::route::Goal;
use crate::traffic::{SignalStates, look_at_signals};
use roadwright_agent::{
    AgentFacts, BehaviourView, LogicState, Message, SignalFacts, Slot, Surroundings,
};
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind};
use roadwright_scenario::{Connection, RoadId};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

/// Inputs for building scenes.
#[derive(Clone, Copy)]
pub(crate) struct Onlooking<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) view: View<'a>,
    pub(crate) modules: &'a Modules,
    pub(crate) messages: &'a Messages,
    pub(crate) signals: &'a SignalStates,
}

impl Onlooking<'_> {
    /// Builds the scene of the driving agents. It contains their mail in the order of receivers,
    /// and the outlook of the agents in `looking`.
    pub(crate) fn scene(&self, mail: Vec<Message>, looking: &[AgentIndex]) -> Surroundings {
        let (view, ground) = (&self.view, self.view.ground);
        let (mut facts, leaders): (Vec<AgentFacts>, Vec<Option<AgentIndex>>) = view
            .agents
            .driving()
            .map(|agent| {
                let leader = view.leader(agent);
                (self.facts(agent, leader), leader)
            })
            .unzip();
        note_followers(&mut facts, &leaders);
        // Lists that rarely change are shared with the world instead of being copied for each
        // scene.
        let names = (view.types.names.clone(), self.modules.names.clone());
        let mut scene = Surroundings::new(facts, mail, names.0, names.1);
        scene.groups = self.messages.groups.clone();
        scene.lane_middles = ground.lane_middles().clone();
        scene.places = ground.places().clone();
        scene.time_of_day = self.clock.time_of_day();
        // Computed only for agents that are updated in this step, because each outlook iterates
        // along the route.
        let outlook = |&agent: &AgentIndex| (agent.number(), view.outlook(agent));
        scene.outlooks = looking.iter().map(outlook).collect();
        scene
    }

    /// The current inputs of an agent's behaviour; `None` if the agent is not driving.
    pub(crate) fn behaviour_view(&self, id: u64) -> Option<BehaviourView> {
        let index = self.view.agents.find(id)?;
        let who = &self.view.agents.identity[index.index()];
        let instance = who.modules.of(Slot::Behaviour);
        let module = self.modules.pools.behaviour.instances[instance as usize].module();
        let settings = self.modules.pools.of(Slot::Behaviour).settings(instance);
        let state = match module.logic.save_state() {
            LogicState::Bytes(bytes) => Some(bytes),
            LogicState::Stateless | LogicState::Unknown => None,
        };
        let mail = self.messages.sorted_mail();
        let mut scene = self.scene(mail, &[index]);
        scene.signals = self.signal_facts();
        Some(BehaviourView {
            time: self.clock.time(),
            step: self.clock.step,
            seed: self.clock.seed,
            index: index.number(),
            input: self.view.behaviour_input(index),
            scene: Arc::new(scene),
            behaviour: (settings[0].module.clone(), state),
        })
    }

    fn facts(&self, agent: AgentIndex, leader: Option<AgentIndex>) -> AgentFacts {
        let index = agent.index();
        let (ground, agents) = (self.view.ground, self.view.agents);
        let (who, motion) = (&agents.identity[index], &agents.motion[index]);
        let pose = self.view.bodies().pose(agent);
        let lane = lane_of(ground, agents, agent);
        let (position, progress) = (&agents.position[index], &agents.progress[index]);
        let route = self.view.routes.get(progress.route);
        let mut goals = route.goals_of_user(progress.reached);
        let goal = goals.next();
        let ahead = self.path_ahead(agent);
        AgentFacts {
            id: who.id,
            index: agent.number(),
            position: pose.position,
            heading: pose.heading,
            speed: motion.speed,
            length: self.view.types.get(who.vehicle_type).length,
            vehicle: self.view.types.whole(who.vehicle_type),
            trailers: self.view.types.train(who.vehicle_type).trailers().len() as u8,
            stack: who.stack,
            road: lane.map(|lane| lane.0),
            lane: lane.map_or(0, |lane| lane.1),
            s: position.s,
            t: self.beside_lane(position, pose),
            speed_limit: self.speed_limit(position),
            signal: ahead.map(|path| self.signals.light(ground, path)),
            signal_ahead: ahead.map_or((0, 0), |path| self.signal_ahead(path)),
            indicator: agents.wish[index].indicator,
            goal: goal.map(|goal: Goal| goal.position(ground.graph())),
            has_arrived: who.phase == Phase::AtGoal,
            has_more_goals: goals.next().is_some(),
            leader: leader.map(|leader| agents.identity[leader.index()].id),
            follower: None,
        }
    }

    /// Signal states that behaviours can see, by node.
    pub(crate) fn signal_facts(&self) -> BTreeMap<u32, Arc<SignalFacts>> {
        let (view, ground) = (&self.view, self.view.ground);
        let comers = look_at_signals(ground, view.types, view.routes, view.agents);
        let mut by_node = BTreeMap::new();
        for group in 0..ground.programmes().count() {
            let facts = self.signals.facts(self.clock, ground, &comers, group);
            let facts = Arc::new(facts);
            for junction in ground.signal_group(group) {
                let nodes = ground.junction_nodes(junction).iter();
                by_node.extend(nodes.map(|node| (node.0, facts.clone())));
            }
        }
        by_node
    }

    /// Returns the smallest node id of the junction of a connection, and the stages that give the
    /// connection green.
    fn signal_ahead(&self, path: Connection) -> (u32, u32) {
        let nodes = self.view.ground.junction_nodes(path.junction).iter();
        let node = nodes.map(|node| node.0).min().unwrap_or(0);
        (node, self.view.ground.connection_gist(path).stages)
    }

    /// An agent's connection through the signalled junction at the end of its lane.
    fn path_ahead(&self, agent: AgentIndex) -> Option<Connection> {
        let (ground, agents) = (self.view.ground, self.view.agents);
        let progress = &agents.progress[agent.index()];
        if !agents.position[agent.index()].is_on_lane() {
            return None;
        }
        let next = self
            .view
            .routes
            .get(progress.route)
            .lanelet(progress.at + 1)?;
        let path = ground.contested(next)?;
        ground.signals(path.junction)?;
        Some(path)
    }

    /// Offset of an agent from the centre line of its lane, m to the left. Off the lanes, the
    /// offset is measured from the nearest lane in the agent's direction; it is 0 if there is none
    /// nearby.
    fn beside_lane(&self, position: &LanePosition, pose: Pose) -> f64 {
        if position.is_on_lane() {
            return position.t;
        }
        let ground = self.view.ground;
        let spots = ground.finder().near(ground.graph(), pose.position);
        let leads_there = |&(lanelet, s, _): &(LaneletIndex, f64, f64)| {
            let heading = ground.line(lanelet).heading(s);
            wrap_angle(pose.heading - heading).abs() < 0.5 * PI
        };
        let spot = spots.into_iter().find(leads_there);
        spot.map_or(0.0, |(_, _, t)| t)
    }

    /// Speed limit at an agent's position, m/s.
    fn speed_limit(&self, position: &LanePosition) -> f64 {
        if position.is_on_lane() {
            self.view.ground.lanelet(position.lanelet).speed_limit
        } else {
            OPEN_GROUND_SPEED
        }
    }
}

/// Fills in the nearest follower of each agent. `leaders` contains the leader of each agent, in the
/// order of `agents`, which are sorted by index.
fn note_followers(agents: &mut [AgentFacts], leaders: &[Option<AgentIndex>]) {
    let mut nearest: Vec<Option<(f64, u64)>> = vec![None; agents.len()];
    for (own, leader) in agents.iter().zip(leaders) {
        let at = leader.and_then(|leader| {
            // The agents are sorted by index.
            let at = agents.binary_search_by_key(&leader.number(), |facts| facts.index);
            at.ok()
        });
        let Some(at) = at else { continue };
        let found = ((agents[at].position - own.position).length(), own.id);
        // Compared by distance, then by id, so that ties are resolved in the same way in every run.
        if nearest[at].is_none_or(|known| found < known) {
            nearest[at] = Some(found);
        }
    }
    for (own, nearest) in agents.iter_mut().zip(nearest) {
        own.follower = nearest.map(|(_, id)| id);
    }
}

/// Road and lane that an agent follows; `None` in junctions and off the lanes.
pub(crate) fn lane_of(
    ground: &roadwright_ground::Ground,
    agents: AgentsRef<'_>,
    agent: AgentIndex,
) -> Option<(RoadId, i8)> {
    let position = &agents.position[agent.index()];
    if !position.is_on_lane() {
        return None;
    }
    match ground.lanelet(position.lanelet).kind {
        LaneletKind::Lane { road, lane, .. } => Some((road, lane)),
        LaneletKind::Connection { .. } => None,
    }
}
