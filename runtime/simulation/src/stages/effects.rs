//! What comes of what behaviours ask for beyond their output rows.

use super::excursions::Swerve;
use super::retire::Exit;
use crate::agents::{Agents, Finished, Phase, Status};
use crate::clock::Clock;
use crate::demand::Demand;
use crate::dynamics::{Bodies, Dynamics};
use crate::ground::Ground;
use crate::messages::{LogLine, Messages};
use crate::modules::Modules;
use crate::perception::Surroundings;
use crate::route::{Asking, Goal, Route, Routes, Travel, goal_input};
use crate::traffic::Traffic;
use crate::vehicle_type::{VehicleType, VehicleTypes};
use glam::DVec2;
use roadwright_agent::{Effect, Effects, Registry, Slot};
use roadwright_geometry::Pose;
use roadwright_plugin_api::PlannerInput;
use roadwright_scenario::ModuleSetting;
use roadwright_scenario::lane_graph::LaneletId;

/// Minimum time between replans while chasing or fleeing, s.
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
pub(super) const MOST_SPOTS: usize = 8;
/// Hardest braking that can be asked for, m/s^2; vehicles have limits of their own.
const MOST_BRAKING: f64 = 20.0;
/// How much longer the route may become by a lane change that nobody needs, m.
const DETOUR: f64 = 60.0;

/// The parts of the world that effects act on.
pub(crate) struct Effecting<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) dynamics: &'a mut Dynamics,
    pub(crate) agents: &'a mut Agents,
    pub(crate) routes: &'a mut Routes,
    pub(crate) modules: &'a mut Modules,
    pub(crate) traffic: &'a mut Traffic,
    pub(crate) messages: &'a mut Messages,
    pub(crate) finished: &'a mut Finished,
    pub(crate) demand: &'a mut Demand,
}

impl Effecting<'_> {
    pub(super) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            ground: self.ground,
            types: self.types,
            routes: self.routes,
            index: &self.traffic.index,
            dynamics: self.dynamics,
        }
    }

    /// Does what was asked for, in the order of ids.
    pub(super) fn apply(&mut self, effects: Vec<Effects>) {
        let lists = effects.into_iter().flat_map(Effects::into_list);
        let mut all: Vec<(u32, Effect)> = lists.collect();
        all.sort_by_key(|(agent, _)| self.agents.identity[*agent as usize].id);
        let spawned = self.demand.spawned;
        for (agent, effect) in all {
            if self.agents.drives(agent) {
                self.apply_one(agent, effect);
            }
        }
        if self.demand.spawned > spawned {
            self.demand.departures.sort();
        }
    }

    fn apply_one(&mut self, agent: u32, effect: Effect) {
        match effect {
            Effect::GoTo(place) => {
                if !self.go_to(agent, place) {
                    self.tell_no_route(agent);
                }
            }
            Effect::Chase(id) => self.chase(agent, id),
            Effect::Flee(id) => self.flee(agent, id),
            Effect::Leave => self.leave(agent),
            Effect::Indicate(indicator) => {
                self.agents.wish[agent as usize].indicator = indicator;
            }
            Effect::Park(middle, heading) => {
                if !self.park(
                    agent,
                    Pose {
                        position: middle,
                        heading,
                    },
                ) {
                    let text = "there is no way into that bay from here: it is too tight for the \
                                vehicle, or too far away";
                    self.complain(agent, text.into());
                }
            }
            Effect::Brake(braking) => {
                self.agents.wish[agent as usize].braking = braking.clamp(0.0, MOST_BRAKING);
            }
            Effect::Rejoin => {
                if !self.rejoin(agent) {
                    self.tell_no_route(agent);
                }
            }
            Effect::DrivePath(line) => {
                if !self.drive_path(agent, &line, false) {
                    self.complain(agent, "a path needs two different places".into());
                }
            }
            Effect::Swerve {
                offset,
                within,
                along,
                comes_back,
            } => {
                let swerve = Swerve {
                    offset,
                    within,
                    along,
                    comes_back,
                };
                if !self.swerve(agent, &swerve) {
                    self.complain(agent, "there is no lane here to drive beside".into());
                }
            }
            Effect::Spawn {
                vehicle,
                stack,
                from,
                to,
            } => {
                if let Err(why) = self.spawn((&vehicle, &stack), from, to) {
                    self.complain(agent, why);
                }
            }
            Effect::Join(group) => {
                let id = self.agents.identity[agent as usize].id;
                if !self.messages.join(group, id) {
                    self.complain(agent, "there are too many groups".into());
                }
            }
            Effect::Quit(group) => {
                let id = self.agents.identity[agent as usize].id;
                self.messages.quit(&group, id);
            }
            Effect::SetParameter { slot, key, value } => {
                self.choose(agent, slot, |registry, settings| {
                    set_parameter(registry, slot, settings, key, value);
                });
            }
            Effect::UseModule { slot, module } => {
                self.choose(agent, slot, |_, settings| {
                    let own = settings.iter().position(|own| own.module == module);
                    // One that it has already keeps its parameters.
                    *settings = match own {
                        Some(own) => vec![settings.swap_remove(own)],
                        None => vec![ModuleSetting::new(&module)],
                    };
                });
            }
            Effect::Send { to, letter } => {
                if let Some(to) = self.agents.find(to) {
                    self.send(agent, to, letter);
                }
            }
            Effect::SendGroup { group, letter } => self.send_group(agent, &group, &letter),
            Effect::Broadcast { radius, letter } => self.broadcast(agent, radius, &letter),
            Effect::Log(text) => self.write_log(agent, text, false),
            Effect::Mark { at, text } => {
                let at = at.unwrap_or(self.place(agent));
                let (time, id) = (self.clock.time(), self.agents.identity[agent as usize].id);
                self.messages.log.mark(time, id, at, text);
            }
            Effect::Fault(text) => self.complain(agent, text),
        }
    }

    /// The type of an agent's vehicle.
    pub(super) fn vehicle_type(&self, agent: u32) -> &VehicleType {
        let number = self.agents.identity[agent as usize].vehicle_type;
        self.types.get(number)
    }

    /// Where agents are.
    pub(super) fn bodies(&self) -> Bodies<'_> {
        Bodies {
            ground: self.ground,
            agents: self.agents,
            dynamics: self.dynamics,
        }
    }

    /// Where an agent is, m.
    pub(super) fn place(&self, agent: u32) -> DVec2 {
        self.bodies().pose(agent).position
    }

    /// Whether an agent waits at its last goal.
    pub(super) fn has_arrived(&self, agent: u32) -> bool {
        self.agents.identity[agent as usize].phase == Phase::AtGoal
    }

    /// Takes an agent off the road.
    fn leave(&mut self, agent: u32) {
        let status = if self.has_arrived(agent) {
            Status::Arrived
        } else {
            Status::Removed
        };
        let time = self.clock.time();
        let mut exit = Exit {
            clock: self.clock,
            modules: self.modules,
            agents: self.agents,
            dynamics: self.dynamics,
            routes: self.routes,
            messages: self.messages,
            finished: self.finished,
        };
        exit.retire(agent, status, time);
    }

    pub(super) fn complain(&mut self, agent: u32, text: String) {
        self.write_log(agent, text, true);
    }

    fn write_log(&mut self, agent: u32, text: String, is_fault: bool) {
        let who = &self.agents.identity[agent as usize];
        let behaviour = who.modules.of(Slot::Behaviour);
        let settings = self.modules.pools.of(Slot::Behaviour).settings(behaviour);
        let line = LogLine {
            time: self.clock.time(),
            agent: who.id,
            module: settings[0].module.clone(),
            text,
            is_fault,
        };
        if is_fault {
            self.messages.log.write_fault(line);
        } else {
            self.messages.log.write(line);
        }
    }

    /// Another module, or the same with another parameter, for one agent.
    fn choose(
        &mut self,
        agent: u32,
        slot: Slot,
        change: impl FnOnce(&Registry, &mut Vec<ModuleSetting>),
    ) {
        if let Err(error) = self.modules.choose(self.agents, agent, slot, change) {
            self.complain(agent, error.to_string());
        }
    }

    /// A question to the planner of an agent.
    pub(super) fn asking(&self, agent: u32) -> Asking<'_> {
        let ground = (self.ground, self.types);
        let delays = &self.traffic.delays;
        self.modules
            .asking(self.clock, ground, delays, self.agents, agent)
    }

    pub(super) fn route_of(&self, agent: u32) -> &Route {
        self.routes.get(self.agents.progress[agent as usize].route)
    }

    pub(super) fn travel(&mut self, agent: u32) -> Travel<'_> {
        Travel {
            routes: self.routes,
            progress: &mut self.agents.progress[agent as usize],
            claim: &mut self.agents.claim[agent as usize],
        }
    }

    /// A new last goal at the lane nearest to a place; the old goals stay if there is no way.
    fn go_to(&mut self, agent: u32, place: DVec2) -> bool {
        if !self.agents.position[agent as usize].is_on_lane() {
            // Who has never been on lanes drives over the ground.
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

    /// Gives an agent a goal in place of all that it has not reached; says whether it can get
    /// there.
    fn set_goal(&mut self, agent: u32, goal: Goal) -> bool {
        let index = agent as usize;
        // A last goal at which it waits counts as reached.
        let reached = self.goals_behind(agent);
        let candidate = self.route_of(agent).with_goals(reached, &[goal]);
        let (route, gives_up_grants) = match goal {
            Goal::Ground(_) => (candidate, false),
            Goal::Lane { .. } => {
                let progress = crate::agents::Progress {
                    reached,
                    ..self.agents.progress[index]
                };
                let position = &self.agents.position[index];
                let claim = &self.agents.claim[index];
                let turned = self
                    .asking(agent)
                    .turned(&candidate, (position, &progress, claim));
                match turned {
                    Some(turned) => turned,
                    None => return false,
                }
            }
        };
        let is_planned = matches!(goal, Goal::Lane { .. });
        self.take_route(agent, route, is_planned, gives_up_grants);
        self.travel(agent).reach(reached);
        self.agents.progress[index].has_own_goals = true;
        self.agents.identity[index].phase = Phase::Driving;
        true
    }

    /// Goals that an agent has behind it if it gets new ones now.
    pub(super) fn goals_behind(&self, agent: u32) -> u32 {
        self.agents.progress[agent as usize].reached + u32::from(self.has_arrived(agent))
    }

    pub(super) fn take_route(
        &mut self,
        agent: u32,
        route: Route,
        is_planned: bool,
        gives_up_grants: bool,
    ) {
        let step = self.clock.step;
        if is_planned {
            self.travel(agent).replan(route, step);
        } else {
            self.travel(agent).move_to(route);
            let position = &mut self.agents.position[agent as usize];
            (position.s, position.t) = (0.0, 0.0);
        }
        if gives_up_grants {
            give_up_grants(self.ground, self.agents, self.traffic, agent);
        }
    }

    fn may_replan(&self, agent: u32) -> bool {
        self.clock
            .since(self.agents.progress[agent as usize].planned_at)
            >= REPLAN_TIME
    }

    /// Drives to where another agent is.
    fn chase(&mut self, agent: u32, id: u64) {
        let Some(other) = self.agents.find(id) else {
            return;
        };
        let target = self.agents.position[other as usize];
        let is_on_lane = self.agents.position[agent as usize].is_on_lane();
        if !is_on_lane || !target.is_on_lane() {
            let place = self.place(other);
            // From a lane it drives to the lane that is nearest to the other one.
            if !is_on_lane || self.may_replan(agent) {
                self.go_to(agent, place);
            }
            return;
        }
        let goal = Goal::Lane {
            lanelet: target.lanelet,
            s: target.s,
        };
        let reached = self.agents.progress[agent as usize].reached;
        match self.route_of(agent).next_goal(reached) {
            // It is still on the same lanelet: the goal moves along.
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

    /// Drives along the lanelets that lead farthest from another agent.
    fn flee(&mut self, agent: u32, id: u64) {
        let Some(other) = self.agents.find(id) else {
            return;
        };
        let index = agent as usize;
        if !self.agents.position[index].is_on_lane() || !self.may_replan(agent) {
            return;
        }
        let danger = self.place(other);
        let route = self.route_of(agent);
        let from = self.agents.claim[index]
            .granted_to
            .max(self.agents.progress[index].at)
            .min(route.lanelets.len() as u32 - 1);
        let bus = self.vehicle_type(agent).bus;
        let flight = self.flight(route.lanelets[from as usize], danger, bus);
        let Some(&end) = flight.last() else { return };
        let s = self.ground.lanelet(end).length();
        let reached = self.goals_behind(agent);
        let route = self.route_of(agent).with_flight(reached, from, &flight, s);
        self.take_route(agent, route, true, false);
        self.travel(agent).reach(reached);
        self.agents.progress[index].has_own_goals = true;
        self.agents.identity[index].phase = Phase::Driving;
    }

    /// Lanelets after one, each the successor that leads farthest away.
    fn flight(&self, from: LaneletId, danger: DVec2, bus: bool) -> Vec<LaneletId> {
        let graph = self.ground.graph();
        let mut flight: Vec<LaneletId> = Vec::new();
        let (mut at, mut length) = (from, 0.0);
        while length < FLIGHT && flight.len() < FLIGHT_LANELETS {
            let distance = |lanelet: LaneletId| {
                let line = graph.line(lanelet);
                (line.position(line.length()) - danger).length()
            };
            let open = graph.successors(at).iter().copied();
            let open = open.filter(|&next| {
                let is_free = bus || !graph.lanelet(next).bus_only;
                is_free && next != from && !flight.contains(&next)
            });
            let best = open.max_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(b.cmp(&a)));
            let Some(best) = best else { break };
            flight.push(best);
            length += graph.lanelet(best).length();
            at = best;
        }
        // A route ends on a lane, not inside a junction.
        while flight
            .last()
            .is_some_and(|&last| graph.lanelet(last).is_connection())
        {
            flight.pop();
        }
        flight
    }

    /// Makes the route lead over the lane beside an agent, if there is room on it and the goals can
    /// be reached from there.
    pub(super) fn lead_through(&mut self, agent: u32, target: LaneletId) -> bool {
        let Some(route) = self.route_through(agent, target) else {
            return false;
        };
        self.take_route(agent, route, true, false);
        true
    }

    fn route_through(&self, agent: u32, target: LaneletId) -> Option<Route> {
        let index = agent as usize;
        let (position, progress) = (&self.agents.position[index], &self.agents.progress[index]);
        let graph = self.ground.graph();
        let own = graph.lanelet(position.lanelet);
        let is_committed =
            self.agents.claim[index].granted_to > progress.at + 1 || self.has_arrived(agent);
        let asking = self.asking(agent);
        let is_closed = graph.lanelet(target).bus_only && !asking.bus;
        let view = self.surroundings().with(self.agents);
        if is_committed
            || is_closed
            || own.length() - position.s < LATEST_CHANGE
            || !position.may_change_lane()
            || !view.has_room_beside(agent, target, CHANGE_GAP, CHANGE_TIME)
        {
            return None;
        }
        let route = self.route_of(agent);
        let s = position.s / own.length() * graph.lanelet(target).length();
        let goal = route.next_goal(progress.reached)?;
        let input = PlannerInput {
            may_change_first: 0,
            ..goal_input(goal, (target, s), asking.bus)?
        };
        let beyond = asking.route(input)?;
        let goal_at = route.goal_at(progress.reached)?;
        // A lane that is left sideways does not count twice.
        let length = |lanelets: &[LaneletId]| -> f64 {
            let pairs = lanelets.windows(2);
            let driven = pairs.filter(|pair| self.ground.leads_to(pair[0], pair[1]));
            driven.map(|pair| graph.lanelet(pair[0]).length()).sum()
        };
        let before = &route.lanelets[progress.at as usize..=goal_at as usize];
        if length(&beyond) > length(before) + DETOUR {
            return None;
        }
        let lanelets = [&[position.lanelet], &beyond[..]].concat();
        Some(route.with_run((progress.at, goal_at), progress.reached, &lanelets))
    }
}

/// Gives back what an agent has been granted, unless it is inside a junction already.
pub(crate) fn give_up_grants(
    ground: &Ground,
    agents: &mut Agents,
    traffic: &mut Traffic,
    agent: u32,
) {
    let index = agent as usize;
    if ground.contested(agents.position[index].lanelet).is_none() {
        agents.claim[index].granted_to = agents.progress[index].at;
        traffic.claims.forget(agent);
    }
}

/// Sets a parameter of the first module of a slot that has it; if none has, of the first, which
/// says so.
fn set_parameter(
    registry: &Registry,
    slot: Slot,
    settings: &mut [ModuleSetting],
    key: String,
    value: f64,
) {
    let infos = registry.infos(slot.kind());
    let has_it = |setting: &ModuleSetting| {
        infos.iter().any(|(info, parameters)| {
            info.id == setting.module && parameters.iter().any(|own| own.key == key)
        })
    };
    let owner = settings.iter().position(has_it).unwrap_or(0);
    if let Some(setting) = settings.get_mut(owner) {
        setting.parameters.insert(key, value);
    }
}
