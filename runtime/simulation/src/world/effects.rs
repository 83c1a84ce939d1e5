//! What behaviours see of others, and what comes of what they ask for.

use super::World;
use super::batch::Due;
use super::lane_finder::LaneFinder;
use super::log::LogLine;
use crate::mover::{Mover, Status};
use crate::way::Goal;
use glam::DVec2;
use roadwright_agent::{AgentFacts, Effect, Effects, Message, ModuleError, Scene, Slot};
use roadwright_plugin_api::PlannerInput;
use roadwright_scenario::ModuleSetting;
use roadwright_scenario::lane_graph::LaneletId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Who chases or flees plans anew at most this often, s.
const REPLAN_TIME: f64 = 0.5;
/// How far ahead somebody who flees plans, m, and over how many lanelets at most.
const FLIGHT: f64 = 400.0;
const FLIGHT_LANELETS: usize = 24;
/// Least gap to the vehicles on a lane that is changed to without need, m, and the time that is
/// added for each metre a second of closing speed, s.
const CHANGE_GAP: f64 = 3.0;
const CHANGE_TIME: f64 = 1.5;
/// Closer to its end a lane is not left without need, m.
const LATEST_CHANGE: f64 = 30.0;
/// Lanes near a place that are tried for a way there.
const MOST_SPOTS: usize = 8;
/// How much longer the way may become by a lane change that nobody needs, m.
const DETOUR: f64 = 60.0;
/// Messages that may wait for one receiver.
const MOST_MAIL: u16 = 64;

impl World {
    /// The driving agents and the messages for them, if a behaviour that is due wants to see them.
    pub(super) fn scene(&mut self, due: &Due) -> Option<Arc<Scene>> {
        let running = self.banks.behaviours.running.iter().enumerate();
        let mut due =
            running.filter(|(at, r)| !due.of(*at).0.is_empty() && r.module.logic.wants_scene());
        due.next()?;
        let mut mail = std::mem::take(&mut self.mail);
        mail.sort_by_key(|message| message.to);
        let facts = |(index, mover): (usize, &Mover)| self.facts(index, mover);
        let driving = self
            .movers
            .iter()
            .enumerate()
            .filter(|(_, m)| m.is_active());
        Some(Arc::new(Scene::new(
            driving.map(facts).collect(),
            mail,
            self.kind_names.clone(),
            self.stack_names.clone(),
        )))
    }

    fn facts(&self, index: usize, mover: &Mover) -> AgentFacts {
        let lane = self.lane_of(mover);
        let goal = self.ways[index].next_goal(mover.goals_reached);
        AgentFacts {
            id: mover.id,
            index: index as u32,
            position: mover.state.pose.position,
            heading: mover.state.pose.heading,
            speed: mover.state.speed,
            length: self.kinds[mover.kind as usize].length,
            vehicle: mover.kind,
            stack: mover.stack,
            road: lane.map(|lane| lane.0),
            lane: lane.map_or(0, |lane| lane.1),
            s: mover.s,
            goal: goal.map(|goal| self.place_of(&goal)),
            has_arrived: mover.has_arrived,
        }
    }

    /// Keeps the messages for those who have not been asked yet.
    pub(super) fn drop_read_mail(&mut self, scene: Option<Arc<Scene>>, due: &Due) {
        let Some(scene) = scene else { return };
        let new = std::mem::take(&mut self.mail);
        let unread = |message: &&Message| {
            let receiver = &self.movers[message.to as usize];
            // By who was asked, not by the module that it has now: it may have chosen another one.
            receiver.is_active() && !due.has(message.to)
        };
        self.mail = scene.mail.iter().filter(unread).cloned().collect();
        self.mail.extend(new);
        self.mail_counts.clear();
        self.mail_counts.resize(self.movers.len(), 0);
        for message in &self.mail {
            self.mail_counts[message.to as usize] += 1;
        }
    }

    /// Does what was asked for, in the order of ids.
    pub(super) fn take_effects(&mut self, effects: Vec<Effects>) {
        let mut all: Vec<(u32, Effect)> =
            effects.into_iter().flat_map(Effects::into_list).collect();
        all.sort_by_key(|(agent, _)| self.movers[*agent as usize].id);
        for (agent, effect) in all {
            if !self.movers[agent as usize].is_active() {
                continue;
            }
            match effect {
                Effect::GoTo(place) => {
                    if !self.go_to(agent, place) {
                        self.complain(agent, format!("there is no way to {place:.1}"));
                        // Who has arrived and cannot go on does not block the road for ever.
                        self.leave(agent);
                    }
                }
                Effect::Chase(id) => self.chase(agent, id),
                Effect::Flee(id) => self.flee(agent, id),
                Effect::Leave => self.leave(agent),
                Effect::SetParameter { slot, key, value } => {
                    self.change_module(agent, slot, |setting| {
                        setting.parameters.insert(key, value);
                    });
                }
                Effect::UseModule { slot, module } => {
                    self.change_module(agent, slot, |setting| {
                        if setting.module != module {
                            *setting = ModuleSetting::new(&module);
                        }
                    });
                }
                Effect::Send { to, topic, value } => {
                    if let Some(to) = self.index_of(to) {
                        self.send(agent, to, topic, value);
                    }
                }
                Effect::Broadcast {
                    radius,
                    topic,
                    value,
                } => self.broadcast(agent, radius, &topic, value),
                Effect::Log(text) => self.write_log(agent, text, false),
                Effect::Mark { at, text } => {
                    let mover = &self.movers[agent as usize];
                    let at = at.unwrap_or(mover.state.pose.position);
                    let (time, id) = (self.time(), mover.id);
                    self.log.mark(time, id, at, text);
                }
                Effect::Fault(text) => self.complain(agent, text),
            }
        }
    }

    /// Takes an agent that has arrived off the road.
    fn leave(&mut self, agent: u32) {
        let time = self.time();
        let mover = &mut self.movers[agent as usize];
        if mover.has_arrived {
            mover.goals_reached += 1;
            mover.has_arrived = false;
            mover.status = Status::Arrived;
            mover.drive.ended = time;
        }
    }

    fn complain(&mut self, agent: u32, text: String) {
        self.write_log(agent, text, true);
    }

    fn write_log(&mut self, agent: u32, text: String, is_fault: bool) {
        let mover = &self.movers[agent as usize];
        let behaviour = mover.modules[Slot::Behaviour as usize];
        if is_fault && self.log.is_old_fault(&text) {
            return;
        }
        let line = LogLine {
            time: self.time(),
            agent: mover.id,
            module: self
                .banks
                .setting(Slot::Behaviour, behaviour)
                .module
                .clone(),
            text,
            is_fault,
        };
        self.log.write(line);
    }

    /// The index of an agent that drives.
    fn index_of(&mut self, id: u64) -> Option<u32> {
        let fits = |by_id: &std::collections::HashMap<u64, u32>, movers: &[Mover]| {
            let index = by_id.get(&id).copied()?;
            (movers.get(index as usize)?.id == id).then_some(index)
        };
        if fits(&self.by_id, &self.movers).is_none() && self.by_id.len() != self.movers.len() {
            let ids = self.movers.iter().enumerate();
            self.by_id = ids.map(|(index, mover)| (mover.id, index as u32)).collect();
        }
        let index = fits(&self.by_id, &self.movers)?;
        self.movers[index as usize].is_active().then_some(index)
    }

    fn send(&mut self, from: u32, to: u32, topic: String, value: f64) {
        let behaviour = self.movers[to as usize].modules[Slot::Behaviour as usize] as usize;
        let listens = self.banks.behaviours.running[behaviour]
            .module
            .logic
            .wants_scene();
        self.mail_counts.resize(self.movers.len(), 0);
        let waiting = &mut self.mail_counts[to as usize];
        if listens && *waiting < MOST_MAIL {
            *waiting += 1;
            self.mail.push(Message {
                to,
                from: self.movers[from as usize].id,
                topic,
                value,
            });
        }
    }

    fn broadcast(&mut self, from: u32, radius: f64, topic: &str, value: f64) {
        let place = self.movers[from as usize].state.pose.position;
        let mut heard = Vec::new();
        self.index
            .grid
            .for_each_within(place, radius, |number, _: DVec2| {
                heard.push(self.index.located[number as usize]);
            });
        heard.sort_unstable();
        for to in heard.into_iter().filter(|&to| to != from) {
            self.send(from, to, topic.to_owned(), value);
        }
    }

    /// A new last goal at the lane nearest to a place; the old goals stay if there is no way.
    fn go_to(&mut self, agent: u32, place: DVec2) -> bool {
        if !self.movers[agent as usize].on_lane() {
            return self.set_goal(agent, Goal::Ground(place));
        }
        let finder = self
            .finder
            .get_or_insert_with(|| LaneFinder::new(&self.roads.graph));
        let spots = finder.near(&self.roads.graph, place);
        spots
            .into_iter()
            .take(MOST_SPOTS)
            .any(|(lanelet, s, _)| self.set_goal(agent, Goal::Lanelet { lanelet, s }))
    }

    /// Gives an agent a goal in place of all that it has not reached; says whether it can get
    /// there.
    fn set_goal(&mut self, agent: u32, goal: Goal) -> bool {
        let at = agent as usize;
        let reached = self.begin_new_goals(at);
        let old = self.ways[at].goals.split_off(reached);
        self.ways[at].goals.push(goal);
        let leads = matches!(goal, Goal::Ground(_)) || self.turn_to_new_goals(at);
        let has_arrived = self.movers[at].has_arrived;
        if leads {
            self.movers[at].has_arrived = false;
            self.movers[at].has_own_goals = true;
        } else {
            self.ways[at].goals.truncate(reached);
            self.ways[at].goals.extend(old);
            if has_arrived {
                self.movers[at].goals_reached -= 1;
            }
        }
        leads
    }

    /// Counts a last goal at which an agent waits as reached; gives the number of reached goals.
    fn begin_new_goals(&mut self, agent: usize) -> usize {
        let mover = &mut self.movers[agent];
        if mover.has_arrived {
            mover.goals_reached += 1;
        }
        mover.goals_reached as usize
    }

    fn may_replan(&self, agent: u32) -> bool {
        let since = (self.step - self.movers[agent as usize].planned_at) as f64 * self.dt;
        since >= REPLAN_TIME
    }

    /// Drives to where another agent is.
    fn chase(&mut self, agent: u32, id: u64) {
        let Some(other) = self.index_of(id) else {
            return;
        };
        let target = &self.movers[other as usize];
        let (mover, way) = (&self.movers[agent as usize], &self.ways[agent as usize]);
        if !mover.on_lane() || !target.on_lane() {
            let place = target.state.pose.position;
            // From a lane it drives to the lane that is nearest to the other one.
            if !mover.on_lane() || self.may_replan(agent) {
                self.go_to(agent, place);
            }
            return;
        }
        let (lanelet, s) = (target.lanelet, target.s);
        match way.next_goal(mover.goals_reached) {
            // It is still on the same lanelet: the goal moves along.
            Some(Goal::Lanelet { lanelet: on, .. }) if on == lanelet && !mover.has_arrived => {
                let reached = mover.goals_reached as usize;
                self.ways[agent as usize].goals[reached] = Goal::Lanelet { lanelet, s };
            }
            _ if self.may_replan(agent) => {
                self.set_goal(agent, Goal::Lanelet { lanelet, s });
            }
            _ => {}
        }
    }

    /// Drives along the lanelets that lead farthest from another agent.
    fn flee(&mut self, agent: u32, id: u64) {
        let Some(other) = self.index_of(id) else {
            return;
        };
        let mover = &self.movers[agent as usize];
        if !mover.on_lane() || !self.may_replan(agent) {
            return;
        }
        let danger = self.movers[other as usize].state.pose.position;
        let way = &self.ways[agent as usize];
        let from = mover.granted_to.max(mover.cursor) as usize;
        let from = from.min(way.path.len() - 1);
        let flight = self.flight(way.path[from], danger, self.kinds[mover.kind as usize].bus);
        let Some(&end) = flight.last() else { return };
        let s = self.roads.lanelet(end).length();
        let reached = self.begin_new_goals(agent as usize);
        let way = &mut self.ways[agent as usize];
        way.goals.truncate(reached);
        way.goals.push(Goal::Lanelet { lanelet: end, s });
        way.path.truncate(from + 1);
        way.path.extend(flight);
        way.goal_at.truncate(reached);
        way.goal_at.resize(reached, 0);
        way.goal_at.push(way.path.len() as u32 - 1);
        let mover = &mut self.movers[agent as usize];
        mover.planned_at = self.step;
        mover.asked_for = 0;
        mover.has_arrived = false;
        mover.has_own_goals = true;
    }

    /// Lanelets after one, each the successor that leads farthest away.
    fn flight(&self, from: LaneletId, danger: DVec2, bus: bool) -> Vec<LaneletId> {
        let mut flight: Vec<LaneletId> = Vec::new();
        let (mut at, mut length) = (from, 0.0);
        while length < FLIGHT && flight.len() < FLIGHT_LANELETS {
            let distance = |lanelet: LaneletId| {
                let line = self.roads.graph.line(lanelet);
                (line.position(line.length()) - danger).length()
            };
            let open = self.roads.graph.successors(at).iter().copied();
            let open = open.filter(|&next| {
                let free = bus || !self.roads.lanelet(next).bus_only;
                free && next != from && !flight.contains(&next)
            });
            let best = open.max_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(b.cmp(&a)));
            let Some(best) = best else { break };
            flight.push(best);
            length += self.roads.lanelet(best).length();
            at = best;
        }
        // A way ends on a lane, not inside a junction.
        while flight
            .last()
            .is_some_and(|&last| self.roads.lanelet(last).is_connection())
        {
            flight.pop();
        }
        flight
    }

    /// Another module, or the same with another parameter, for one agent.
    fn change_module(&mut self, agent: u32, slot: Slot, change: impl FnOnce(&mut ModuleSetting)) {
        let at = agent as usize;
        let place = self.movers[at].modules[slot as usize];
        let old = self.banks.setting(slot, place);
        let mut setting = old.clone();
        change(&mut setting);
        if setting == *old {
            return;
        }
        let stack = self.stack_names[self.movers[at].stack as usize].clone();
        self.free_module(slot);
        match self.place_module(slot, &stack, &setting) {
            Ok(place) => {
                self.has_new_modules = true;
                self.movers[at].modules[slot as usize] = place;
                self.movers[at].holds_arrival = self.holds_arrival(self.movers[at].modules);
            }
            Err(error) => self.complain(agent, error.to_string()),
        }
    }

    /// Makes room for one more setting if there is none: of one that nobody uses any more.
    fn free_module(&mut self, slot: Slot) {
        if !self.banks.is_full(slot) {
            return;
        }
        let at = slot as usize;
        let users = self.movers.iter().filter(|mover| mover.is_active());
        let used = users.map(|mover| mover.modules[at]);
        let used = used.chain(self.stacks.iter().map(|places| places[at]));
        let used: BTreeSet<u16> = used.collect();
        self.banks.free_unused(slot, &used);
    }

    pub(super) fn place_module(
        &mut self,
        slot: Slot,
        stack: &str,
        setting: &ModuleSetting,
    ) -> Result<u16, ModuleError> {
        let (banks, registry, dt) = (&mut self.banks, &self.registry, self.dt);
        match slot {
            Slot::Planner => banks.planners.place(stack, setting, registry, dt),
            Slot::Behaviour => banks.behaviours.place(stack, setting, registry, dt),
            Slot::Controller => banks.controllers.place(stack, setting, registry, dt),
            Slot::Fitness => banks.fitnesses.place(stack, setting, registry, dt),
        }
    }

    /// Makes the way lead over the lane beside an agent, if there is room on it and the goals can
    /// be reached from there.
    pub(super) fn lead_through(&mut self, agent: u32, target: LaneletId) -> bool {
        let mover = &self.movers[agent as usize];
        let way = &self.ways[agent as usize];
        let remaining = self.roads.lanelet(mover.lanelet).length() - mover.s;
        let committed = mover.granted_to > mover.cursor + 1 || mover.has_arrived;
        let is_closed = self.roads.lanelet(target).bus_only && !self.kinds[mover.kind as usize].bus;
        if committed
            || is_closed
            || remaining < LATEST_CHANGE
            || !mover.may_change_lane()
            || !self
                .view()
                .has_room_beside(agent, target, CHANGE_GAP, CHANGE_TIME)
        {
            return false;
        }
        let Some(Goal::Lanelet {
            lanelet: goal_strip,
            s: goal_s,
        }) = way.next_goal(mover.goals_reached)
        else {
            return false;
        };
        let lanelet = self.roads.lanelet(mover.lanelet);
        let s = mover.s / lanelet.length() * self.roads.lanelet(target).length();
        let input = PlannerInput {
            strip: target,
            s,
            goal_strip,
            goal_s,
            bus: u32::from(self.kinds[mover.kind as usize].bus),
            may_change_first: 0,
        };
        let view = self.planner_view();
        let Some(leg) = self.banks.planner_of(mover).route(&view, input) else {
            return false;
        };
        let (cursor, reached) = (mover.cursor, mover.goals_reached);
        let goal_at = way.goal_at[reached as usize] as usize;
        let length = |lanelets: &[LaneletId]| -> f64 {
            lanelets
                .iter()
                .map(|&id| self.roads.lanelet(id).length())
                .sum()
        };
        if length(&leg) > length(&way.path[cursor as usize..=goal_at]) + DETOUR {
            return false;
        }
        let mut leg = leg;
        leg.insert(0, mover.lanelet);
        self.ways[agent as usize].replace_leg(cursor, reached, &leg);
        let mover = &mut self.movers[agent as usize];
        mover.planned_at = self.step;
        mover.asked_for = 0;
        true
    }
}
