//! Effects: requests of behaviours beyond their output rows, and their execution.
//!
//! Effects are collected while behaviours are updated, possibly by several threads, and carried out
//! afterwards by a single thread. Each kind of effect has a file: `rerouting.rs` (other goals and
//! routes), `excursions.rs` (off the lanes and back), `parking.rs`, `company.rs` (messages, added
//! vehicles), `trailers.rs` (uncoupling and coupling).

use super::excursions::Swerve;
use super::retire::Exit;
use crate::agents::{Agents, Finished, Status};
use crate::clock::Clock;
use crate::demand::Demand;
use crate::dynamics::{Bodies, Dynamics};
use crate::fixed::Fixed;
use crate::hands::Hands;
use crate::messages::{LogLine, Messages};
use crate::modules::Modules;
use crate::open_ground::KeptTrips;
use crate::perception::Surroundings;
use crate::records::{AgentIndex, Phase, Wish};
use crate::route::{Asking, Route, Routes, Travel};
use crate::traffic::{StageWish, Traffic};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use glam::DVec2;
use roadwright_agent::{Effect, Effects, Registry, Slot, write_value};
use roadwright_geometry::Pose;
use roadwright_ground::Ground;
use roadwright_scenario::{ModuleSetting, NodeId};

/// Maximum number of lanes near a place that are tried as the end of a route, the nearest first.
pub(super) const MOST_SPOTS: usize = 8;
/// Maximum deceleration that can be requested, m/s^2. The limit of the vehicle applies as well.
const MOST_BRAKING: f64 = 20.0;
/// Borrowed parts of the world that effects change or read.
pub(crate) struct Effecting<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    /// Agents under manual control. Effects that move these agents are not carried out.
    pub(crate) hands: &'a Hands,
    pub(crate) dynamics: &'a mut Dynamics,
    pub(crate) agents: &'a mut Agents,
    pub(crate) routes: &'a mut Routes,
    pub(crate) modules: &'a mut Modules,
    pub(crate) traffic: &'a mut Traffic,
    pub(crate) messages: &'a mut Messages,
    pub(crate) finished: &'a mut Finished,
    pub(crate) demand: &'a mut Demand,
    pub(crate) trips: &'a mut KeptTrips,
}

impl Effecting<'_> {
    pub(super) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            ground: self.ground,
            types: self.types,
            routes: self.routes,
            index: &self.traffic.index,
            dynamics: self.dynamics,
            claims: None,
        }
    }

    /// Carries out the requested effects in the order of ids.
    pub(super) fn apply(&mut self, effects: Vec<Effects>) {
        let lists = effects.into_iter().flat_map(Effects::into_list);
        let mut all: Vec<(AgentIndex, Effect)> = lists
            .map(|(agent, effect)| (agent.into(), effect))
            .collect();
        // Agents are updated in the order of their indices, which depend on the agents that left
        // earlier. But effects can involve other agents. If two agents request the last free group,
        // or write to the same receiver, the same agent has to come first in every run. Therefore
        // effects are sorted by id. The sort is stable, which keeps the requests of one agent in
        // order.
        all.sort_by_key(|(agent, _)| self.id(*agent));
        let spawned = self.demand.spawned;
        for (agent, effect) in all {
            // An earlier effect may have removed the agent.
            let is_held = moves(&effect) && self.hands.hold(self.id(agent));
            if self.agents.census().drives(agent) && !is_held {
                self.apply_one(agent, effect);
            }
        }
        // Added vehicles depart immediately and are queued after all pending departures.
        if self.demand.spawned > spawned {
            self.demand.departures.sort();
        }
    }

    /// Carries out one effect. If it fails because there is no route, the agent is notified so that its
    /// behaviour can react. All other failures are logged as faults.
    fn apply_one(&mut self, agent: AgentIndex, effect: Effect) {
        match effect {
            // Destination and route.
            Effect::GoTo(place) => self.go_to_or_tell(agent, place),
            Effect::Rejoin => self.rejoin(agent),
            Effect::Chase(id) => self.chase(agent, id),
            Effect::Flee(id) => self.flee(agent, id),
            Effect::Leave => self.leave(agent),
            Effect::Park(position, heading) => self.park(agent, Pose { position, heading }),
            Effect::DrivePath(line) => self.drive_own_path(agent, &line),
            Effect::Swerve {
                offset,
                within,
                along,
                comes_back,
            } => self.swerve(
                agent,
                &Swerve {
                    offset,
                    within,
                    along,
                    comes_back,
                },
            ),
            // Driving style.
            Effect::Indicate(indicator) => self.wish(agent).indicator = indicator,
            Effect::IgnoreLaw(ignores) => self.wish(agent).ignores_law = ignores,
            Effect::Brake(braking) => self.wish(agent).braking = braking.clamp(0.0, MOST_BRAKING),
            Effect::LaneOffset(offset) => self.wish(agent).lane_offset = offset as f32,
            Effect::SetParameter { slot, key, value } => {
                self.choose(agent, slot, |registry, settings| {
                    set_parameter(registry, slot, settings, key, value);
                });
            }
            Effect::UseModule { slot, module } => {
                self.choose(agent, slot, |_, settings| use_module(settings, &module));
            }
            // Trailers.
            Effect::Uncouple(from) => self.uncouple_or_complain(agent, from),
            Effect::Couple => self.couple_or_complain(agent),
            // Added vehicles, and messages.
            Effect::Spawn {
                vehicle,
                stack,
                from,
                to,
            } => self.spawn_or_complain(agent, &vehicle, &stack, from, to),
            Effect::Join(group) => self.join(agent, group),
            Effect::Quit(group) => self.messages.quit(&group, self.id(agent)),
            Effect::Send { to, letter } => self.send_to(agent, to, letter),
            Effect::SendGroup { group, letter } => self.send_group(agent, &group, &letter),
            Effect::Broadcast { radius, letter } => self.broadcast(agent, radius, &letter),
            // Signals.
            Effect::CallStage { node, stage } => {
                self.ask_signals(agent, node, stage, StageWish::Call);
            }
            Effect::HoldStage {
                node,
                stage,
                seconds,
            } => {
                let until = self.clock.time() + seconds;
                self.ask_signals(agent, node, stage, StageWish::Hold(until));
            }
            Effect::ReleaseStage { node } => {
                let id = self.id(agent);
                let done = self.traffic.signals.release(self.ground, node, id);
                self.complain_of(agent, done);
            }
            Effect::CallPedestrian { node } => {
                let people = &mut self.traffic.people;
                let came = people.call(self.ground, NodeId(node), None);
                self.complain_of(agent, came.map(drop).map_err(|why| why.to_string()));
            }
            // Output for the user.
            Effect::Log(text) => self.write_log(agent, text),
            Effect::Mark { at, text } => self.mark(agent, at, text),
            // The module counts the call in which the script failed.
            Effect::Fault(text) => self.write_fault(agent, text),
        }
    }

    /// Returns the lasting requests of an agent's behaviour for writing.
    fn wish(&mut self, agent: AgentIndex) -> &mut Wish {
        &mut self.agents.wish[agent.index()]
    }

    /// Requests a stage of the signals at a node.
    fn ask_signals(&mut self, agent: AgentIndex, node: u32, stage: u32, wish: StageWish) {
        let id = self.id(agent);
        let done = self.traffic.signals.ask(self.ground, node, stage, id, wish);
        self.complain_of(agent, done);
    }

    fn complain_of(&mut self, agent: AgentIndex, done: Result<(), String>) {
        if let Err(why) = done {
            self.complain(agent, why);
        }
    }

    /// Shows a mark at a place, or at the agent if `at` is `None`.
    fn mark(&mut self, agent: AgentIndex, at: Option<DVec2>, text: String) {
        let at = at.unwrap_or(self.place(agent));
        let (time, id) = (self.clock.time(), self.id(agent));
        self.messages.log.mark(time, id, at, text);
    }

    pub(super) fn id(&self, agent: AgentIndex) -> u64 {
        self.agents.identity[agent.index()].id
    }

    /// Type of an agent's vehicle.
    pub(super) fn vehicle_type(&self, agent: AgentIndex) -> &VehicleType {
        let number = self.agents.identity[agent.index()].vehicle_type;
        self.types.get(number)
    }

    /// Poses of the bodies of all agents.
    pub(super) fn bodies(&self) -> Bodies<'_> {
        Bodies {
            ground: self.ground,
            agents: self.agents.lent(),
            dynamics: self.dynamics,
        }
    }

    /// Updates the grid index of all bodies, unless it has already been updated in this step.
    pub(super) fn locate_bodies(&mut self) {
        let bodies = Bodies {
            ground: self.ground,
            agents: self.agents.lent(),
            dynamics: self.dynamics,
        };
        self.traffic.index.locate(&bodies, self.types);
    }

    /// Position of an agent, m.
    pub(super) fn place(&self, agent: AgentIndex) -> DVec2 {
        self.bodies().pose(agent).position
    }

    /// Whether an agent waits at its last goal.
    pub(super) fn has_arrived(&self, agent: AgentIndex) -> bool {
        self.agents.identity[agent.index()].phase == Phase::AtGoal
    }

    /// Removes an agent from the road.
    fn leave(&mut self, agent: AgentIndex) {
        let status = if self.has_arrived(agent) {
            Status::Arrived
        } else {
            Status::Removed
        };
        let time = self.clock.time();
        let mut exit = Exit {
            clock: self.clock,
            ground: Some(self.ground),
            types: self.types,
            modules: self.modules,
            agents: self.agents,
            dynamics: self.dynamics,
            routes: self.routes,
            messages: self.messages,
            finished: self.finished,
        };
        exit.retire(agent, status, time);
    }

    /// Logs a message that is not a fault.
    pub(super) fn tell(&mut self, agent: AgentIndex, text: String) {
        self.write_log(agent, text);
    }

    /// Logs that an effect cannot be carried out, as a fault of the behaviour that requested it.
    pub(super) fn complain(&mut self, agent: AgentIndex, text: String) {
        let module = self.behaviour_of(agent);
        let time = self.clock.time();
        self.modules.failures.add_effect(&module, time, &text);
        self.write_fault(agent, text);
    }

    /// Id of an agent's behaviour.
    fn behaviour_of(&self, agent: AgentIndex) -> String {
        let behaviour = self.agents.identity[agent.index()]
            .modules
            .of(Slot::Behaviour);
        let settings = self.modules.pools.of(Slot::Behaviour).settings(behaviour);
        settings[0].module.clone()
    }

    fn write_log(&mut self, agent: AgentIndex, text: String) {
        let line = self.log_line(agent, text);
        self.messages.log.write(line);
    }

    fn write_fault(&mut self, agent: AgentIndex, text: String) {
        let line = LogLine {
            is_fault: true,
            ..self.log_line(agent, text)
        };
        self.messages.log.write_fault(line);
    }

    fn log_line(&self, agent: AgentIndex, text: String) -> LogLine {
        LogLine {
            time: self.clock.time(),
            agent: self.agents.identity[agent.index()].id,
            module: self.behaviour_of(agent),
            text,
            is_fault: false,
        }
    }

    /// Changes the module in a slot of an agent's stack, or a parameter of that module, for this agent only.
    fn choose(
        &mut self,
        agent: AgentIndex,
        slot: Slot,
        change: impl FnOnce(&Registry, &mut Vec<ModuleSetting>),
    ) {
        if let Err(error) = self.modules.choose(self.agents, agent, slot, change) {
            self.complain(agent, error.to_string());
        }
    }

    /// Returns the context for a request to an agent's planner.
    pub(super) fn asking(&self, agent: AgentIndex) -> Asking<'_> {
        let fixed = Fixed {
            ground: self.ground,
            types: self.types,
        };
        let delays = &self.traffic.delays.0;
        self.modules
            .asking(self.clock, fixed, delays, self.agents.census(), agent)
    }

    pub(super) fn route_of(&self, agent: AgentIndex) -> &Route {
        self.routes.get(self.agents.progress[agent.index()].route)
    }

    pub(super) fn travel(&mut self, agent: AgentIndex) -> Travel<'_> {
        Travel {
            routes: self.routes,
            progress: &mut self.agents.progress[agent.index()],
            claim: &mut self.agents.claim[agent.index()],
        }
    }

    /// Number of goals that an agent has reached, including the goal at which it has just arrived.
    pub(super) fn goals_behind(&self, agent: AgentIndex) -> u32 {
        self.agents.progress[agent.index()].reached + u32::from(self.has_arrived(agent))
    }

    /// Gives an agent a planned route along lanelets.
    pub(super) fn take_planned_route(&mut self, agent: AgentIndex, route: Route) {
        let step = self.clock.step;
        self.travel(agent).replan(route, step);
    }

    /// Gives an agent a route whose current leg is off the lanes.
    pub(super) fn move_to_route(&mut self, agent: AgentIndex, route: Route) {
        self.travel(agent).move_to(route);
        // Off the lanes, both are measured along the path, which begins at the agent's position.
        let position = &mut self.agents.position[agent.index()];
        (position.s, position.t) = (0.0, 0.0);
    }
}

/// Whether an effect changes an agent's route or ends its drive.
fn moves(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::GoTo(_)
            | Effect::Rejoin
            | Effect::Chase(_)
            | Effect::Flee(_)
            | Effect::Leave
            | Effect::Park(..)
            | Effect::DrivePath(_)
            | Effect::Swerve { .. }
            | Effect::Uncouple(_)
            | Effect::Couple
    )
}

/// Releases the grants of an agent, unless the agent is already inside a junction.
pub(crate) fn give_up_grants(
    ground: &Ground,
    agents: &mut Agents,
    traffic: &mut Traffic,
    agent: AgentIndex,
) {
    let index = agent.index();
    if ground.contested(agents.position[index].lanelet).is_none() {
        agents.claim[index].granted_to = agents.progress[index].at;
        traffic.claims.forget(agent);
    }
}

/// Selects another module in a slot. If the module is already selected, its parameters stay.
fn use_module(settings: &mut Vec<ModuleSetting>, module: &str) {
    let own = settings.iter().position(|own| own.module == module);
    *settings = match own {
        Some(own) => vec![settings.swap_remove(own)],
        None => vec![ModuleSetting::new(module)],
    };
}

/// Sets a parameter in the first module of a slot that has this parameter. If there is none, it is
/// set in the first module, so that the error message names a module and lists its parameters.
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
    let Some(setting) = settings.get_mut(owner) else {
        return;
    };
    let own = infos.iter().find(|(info, _)| info.id == setting.module);
    let own = own.map_or(&[][..], |(_, parameters)| *parameters);
    match own.iter().find(|own| own.key == key) {
        // A setting contains either all cells of a table or none of them.
        Some(cell) if cell.cell.is_some() => write_value(&mut setting.parameters, own, cell, value),
        _ => {
            setting.parameters.insert(key, value);
        }
    }
}
