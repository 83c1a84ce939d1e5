//! Edits of the scenario during a run, which are applied at step boundaries.
//!
//! An edit is given as two scenarios, before and after. The differences are applied part by part,
//! and everything else continues bit-identically. The order matters. First, everything that can
//! fail is tried on copies. Then vehicle types and stacks are applied, because deleting them
//! removes agents. Roads come next, because all places refer to them, then agents, and finally
//! flows.

mod over_lines;
mod roads;
mod waiting;

use crate::agents::{Agents, Finished, Status};
use crate::clock::Clock;
use crate::demand::{Demand, Departure, Start};
use crate::dynamics::{Bodies, Dynamics, LevelChoice};
use crate::fixed::Fixed;
use crate::messages::LogLine;
use crate::modules::{Modules, new_numbers, number_of};
use crate::open_ground::MixedTrips;
use crate::options::SimulationError;
use crate::records::{AgentIndex, Identity, LanePosition, Phase, keeps_to_lanes};
use crate::route::{Asking, Goal, Route, Routes, Travel};
use crate::setup::{Sources, check_size, running_flows, trip};
use crate::stages::appear::off_lanes;
use crate::stages::effects::give_up_grants;
use crate::stages::retire::Exit;
use crate::traffic::{Setting, Traffic};
use crate::vehicle_type::VehicleTypes;
use glam::DVec2;
use roadwright_agent::Registry;
use roadwright_ground::Ground;
use roadwright_scenario::{Agent, AgentId, DynamicsLevel, Scenario};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
pub(crate) use waiting::{EditEntry, WaitingEdit};

/// Borrowed parts of the world that an edit may change.
pub(crate) struct Editing<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) ground: &'a mut Arc<Ground>,
    pub(crate) types: &'a mut VehicleTypes,
    pub(crate) agents: &'a mut Agents,
    pub(crate) dynamics: &'a mut Dynamics,
    pub(crate) levels: &'a mut LevelChoice,
    pub(crate) routes: &'a mut Routes,
    pub(crate) demand: &'a mut Demand,
    pub(crate) modules: &'a mut Modules,
    pub(crate) traffic: &'a mut Traffic,
    pub(crate) messages: &'a mut crate::messages::Messages,
    pub(crate) finished: &'a mut Finished,
    pub(crate) lenient: bool,
    /// Number of pedestrians per hour on each side of a crossing; overrides the scenario.
    pub(crate) pedestrians: Option<f64>,
}

/// Effect of an edit on an agent of the scenario.
enum Change {
    Removed,
    Changed { start: Start, goals: Vec<Goal> },
}

impl Editing<'_> {
    /// Replaces the running scenario `old` by `new` and applies the differences. The edit waits while
    /// vehicles are in a junction that it changes. After the wait, the prepared ground is passed in.
    pub(crate) fn apply(
        &mut self,
        old: &Scenario,
        new: &Scenario,
        registry: &Registry,
        prepared: Option<Arc<Ground>>,
    ) -> Result<EditEntry, SimulationError> {
        // Everything that can fail comes before the first change.
        let has_new_stacks = old.stacks() != new.stacks();
        if has_new_stacks {
            self.modules.check(new, registry)?;
        }
        let may_wait = prepared.is_none();
        let ground = prepared.unwrap_or_else(|| self.ground.after_edit(old, new));
        check_size(&ground)?;
        let levels = LevelChoice {
            default: new.settings().dynamics,
            ..*self.levels
        };
        levels.check(new)?;
        let trips = MixedTrips::new(&ground);
        let changed = changed_agents(old, new, &trips, self.lenient)?;
        let flows = running_flows(new, &trips, self.clock.seed, self.lenient)?;
        let to_empty = self.junctions_to_empty(&ground);
        if may_wait && !to_empty.is_empty() {
            return Ok(self.empty(to_empty, ground));
        }
        self.open();

        // Nothing can fail from here on.
        *self.levels = levels;
        self.take_types(new);
        self.modules.registry = registry.clone();
        if has_new_stacks {
            self.leave_deleted_stacks(new);
            let moved = self.modules.take_stacks(new, self.agents)?;
            self.renumber(|departure| &mut departure.stack, &moved);
        }
        // If the new ground shares its roads with the old one, the lanelets and their numbers are
        // the same.
        let before = std::mem::replace(self.ground, ground);
        if !before.shares_roads_with(self.ground) {
            self.take_roads(&before, new, &flows);
        }
        self.dynamics.stop_rolling();
        self.dynamics.rigid.take_obstacles(old, new, self.ground);
        let rate = self.pedestrians.unwrap_or(new.settings().pedestrians.get());
        (self.traffic.people).take_over(&before, self.ground, rate, self.clock);
        self.take_agents(old, new, changed);
        self.take_repeats(new);
        self.demand.take_flows(flows, self.clock.time());
        self.demand.departures.sort();
        // This comes last, when all agents have their final places and numbers.
        let bodies = Bodies {
            ground: self.ground,
            agents: self.agents.lent(),
            dynamics: self.dynamics,
        };
        self.traffic.index.rebuild(&bodies, self.types);
        self.traffic.neighbours.forget();
        self.routes.forget_roads();
        self.agents.touch();
        Ok(EditEntry::Entered)
    }

    /// Removes an agent.
    fn remove(&mut self, agent: AgentIndex) {
        let time = self.clock.time();
        self.exit().retire(agent, Status::Removed, time);
    }

    fn exit(&mut self) -> Exit<'_> {
        Exit {
            clock: self.clock,
            ground: None,
            types: self.types,
            modules: self.modules,
            agents: self.agents,
            dynamics: self.dynamics,
            routes: self.routes,
            messages: self.messages,
            finished: self.finished,
        }
    }

    /// Cancels the departures with the given agent ids, and records these agents as removed.
    fn cancel(&mut self, ids: &BTreeSet<u64>) {
        let time = self.clock.time();
        let (finished, names) = (&mut *self.finished, &self.modules.names);
        self.demand.departures.retain(|departure| {
            // They are reported as removed, so that no agent of the scenario disappears without a
            // trace.
            let is_gone = ids.contains(&departure.id);
            if is_gone {
                let stack = &names[departure.stack as usize];
                finished.push_undriven(departure.id, stack, Status::Removed, time);
            }
            !is_gone
        });
    }

    /// Applies changed vehicle types. Agents whose vehicle type was deleted are removed.
    fn take_types(&mut self, new: &Scenario) {
        let types = VehicleTypes::new(new);
        let moved = new_numbers(&self.types.names, &types.names);
        let number = |before: &VehicleTypes, vehicle_type: u16| {
            let new = moved[before.whole(vehicle_type) as usize]?;
            // A vehicle that has uncoupled trailers keeps its current number of trailers. All
            // others tow all trailers of the new type.
            let towed = before.train(vehicle_type).trailers().len();
            let has_let_go = before.whole(vehicle_type) != vehicle_type;
            if !has_let_go {
                return Some(new);
            }
            // Trailers that belong to another vehicle type are removed together with that type, or
            // if they no longer fit.
            let of = moved[before.trailers_of(vehicle_type) as usize];
            let strange = of.filter(|of| *of != new);
            let is_strange = before.trailers_of(vehicle_type) != before.whole(vehicle_type);
            Some(if is_strange {
                let kept = strange.and_then(|of| types.towing_of(new, of, towed));
                kept.or_else(|| types.towing_of(new, new, 0)).unwrap_or(new)
            } else {
                types.towing(new, towed)
            })
        };
        for agent in self.agents.census().by_growing_id() {
            let now = self.agents.identity[agent.index()].vehicle_type;
            match number(self.types, now) {
                Some(new) => {
                    self.agents.identity[agent.index()].vehicle_type = new;
                    // If the edit changes the number of trailers, they start in line behind the
                    // vehicle.
                    if !self.dynamics.trailers.fit(agent, types.train(new)) {
                        self.dynamics.trailers.forget(agent);
                    }
                }
                None => self.remove(agent),
            }
        }
        let waiting = self.demand.departures.iter();
        let gone = waiting.filter(|departure| moved[departure.vehicle_type as usize].is_none());
        self.cancel(&gone.map(|departure| departure.id).collect());
        self.renumber(|departure| &mut departure.vehicle_type, &moved);
        self.take_standing(&moved, &types);
        *self.types = types;
    }

    /// Removes uncoupled trailers whose vehicle type was deleted or no longer has such trailers.
    fn take_standing(&mut self, moved: &[Option<u16>], types: &VehicleTypes) {
        let gone = self.dynamics.standing.take_types(moved, types);
        if gone > 0 {
            self.messages.log.write(LogLine {
                time: self.clock.time(),
                agent: 0,
                module: "edit".into(),
                text: format!(
                    "{gone} {} of uncoupled trailers removed, because their vehicle type no longer has these trailers",
                    if gone == 1 { "row" } else { "rows" }
                ),
                is_fault: false,
            });
        }
    }

    /// Removes agents whose stack was deleted. This happens while their modules still exist and can
    /// score them.
    fn leave_deleted_stacks(&mut self, new: &Scenario) {
        let names = self.modules.names.clone();
        let is_deleted = |stack: u16| !new.stacks().contains_key(&names[stack as usize]);
        for agent in self.agents.census().by_growing_id() {
            if is_deleted(self.agents.identity[agent.index()].stack) {
                self.remove(agent);
            }
        }
        let waiting = self.demand.departures.iter();
        let gone = waiting.filter(|departure| is_deleted(departure.stack));
        self.cancel(&gone.map(|departure| departure.id).collect());
    }

    /// Updates the vehicle type or stack of each waiting agent to its new number. `number` selects which of
    /// the two.
    fn renumber(&mut self, number: impl Fn(&mut Departure) -> &mut u16, moved: &[Option<u16>]) {
        for departure in self.demand.departures.iter_mut() {
            let number = number(departure);
            // Agents whose vehicle type or stack was deleted have already been cancelled.
            *number = moved[*number as usize].unwrap_or_default();
        }
    }

    /// Borrows the positions and poses of all bodies on a ground.
    fn bodies<'a>(&'a self, ground: &'a Ground) -> Bodies<'a> {
        Bodies {
            ground,
            agents: self.agents.lent(),
            dynamics: self.dynamics,
        }
    }

    /// Borrows the inputs that decisions at junctions need.
    fn setting(&self) -> Setting<'_> {
        self.traffic.setting(self.clock, self.fixed(), self.routes)
    }

    fn fixed(&self) -> Fixed<'_> {
        Fixed {
            ground: self.ground,
            types: self.types,
        }
    }

    fn travel(&mut self, agent: AgentIndex) -> Travel<'_> {
        Travel {
            routes: self.routes,
            progress: &mut self.agents.progress[agent.index()],
            claim: &mut self.agents.claim[agent.index()],
        }
    }

    fn asking(&self, agent: AgentIndex) -> Asking<'_> {
        let delays = &self.traffic.delays.0;
        self.modules.asking(
            self.clock,
            self.fixed(),
            delays,
            self.agents.census(),
            agent,
        )
    }

    fn take_agents(&mut self, old: &Scenario, new: &Scenario, changed: BTreeMap<AgentId, Change>) {
        for (id, change) in changed {
            let key = u64::from(id.0);
            let driving = self.agents.census().find(key);
            match (change, driving) {
                (Change::Removed, Some(agent)) => self.remove(agent),
                (Change::Removed, None) => {
                    self.cancel(&BTreeSet::from([key]));
                    self.relabel(key);
                }
                (Change::Changed { start, goals }, Some(agent)) => {
                    let edited = &new.agents()[&id];
                    let is_same = |before: &Agent| {
                        (&before.via, &before.destination) == (&edited.via, &edited.destination)
                    };
                    // Goals set by the agent's script are kept, unless the agent's goals in the
                    // scenario were edited.
                    let keeps_goals = self.agents.progress[agent.index()].has_own_goals
                        && old.agents().get(&id).is_some_and(is_same);
                    self.change_active(agent, edited, start, goals, keeps_goals);
                    let before = old.agents().get(&id).and_then(|before| before.dynamics);
                    if before != edited.dynamics {
                        self.take_level(agent, edited.dynamics);
                    }
                }
                // Only the names or ends of its roads have changed, so the completed trip remains
                // valid.
                (Change::Changed { .. }, None)
                    if self.has_arrived(key) && is_same_trip(old, new, id) => {}
                (Change::Changed { .. }, None) => {
                    // The agent is new, is waiting or has arrived, so it starts with the edited
                    // trip.
                    self.demand
                        .departures
                        .retain(|departure| departure.id != key);
                    self.relabel(key);
                    self.renew(new, id);
                }
            }
        }
    }

    /// Marks the last completed drive of an agent as removed, so that it does not count. Used when
    /// an edit deletes or restarts the agent.
    fn relabel(&mut self, id: u64) {
        let last = self.finished.rows.iter_mut().rfind(|ended| ended.id == id);
        if let Some(last) = last {
            last.status = Status::Removed;
        }
    }

    /// Returns the inputs for creating the departures of a scenario.
    fn sources<'b>(&'b self, new: &'b Scenario) -> Sources<'b> {
        Sources {
            scenario: new,
            trips: MixedTrips::new(self.ground),
            types: self.types,
            modules: self.modules,
            seed: self.clock.seed,
        }
    }

    /// Updates the agents that depart repeatedly. Agents that no longer repeat their trip do not depart
    /// again.
    fn take_repeats(&mut self, new: &Scenario) {
        let repeats = self.sources(new).repeats();
        let before = std::mem::replace(&mut self.demand.repeats, repeats);
        for id in before.ids().filter(|id| !self.demand.repeats.has(*id)) {
            if self.has_arrived(id) {
                (self.demand.departures).retain(|departure| departure.id != id);
            }
        }
    }

    fn has_arrived(&self, id: u64) -> bool {
        let mut ended = self.finished.rows.iter().rev();
        let last = ended.find(|row| row.id == id);
        last.is_some_and(|row| row.status == Status::Arrived)
    }

    /// Restarts an agent with its data in the edited scenario.
    fn renew(&mut self, new: &Scenario, id: AgentId) {
        let agent = &new.agents()[&id];
        let time = agent.depart.max(self.clock.time());
        // Its start and goals were found when the changes were collected.
        let departure = self.sources(new).departure(id, agent, time);
        if let Ok(departure) = departure {
            self.demand.departures.push(departure);
        }
    }

    /// Gives a driving agent its new vehicle, stack and goals at its current place.
    fn change_active(
        &mut self,
        agent: AgentIndex,
        edited: &Agent,
        start: Start,
        goals: Vec<Goal>,
        keeps_goals: bool,
    ) {
        self.take_type_and_stack(agent, edited);
        let index = agent.index();
        let progress = &mut self.agents.progress[index];
        let before = self.routes.get(progress.route).clone();
        if keeps_goals || *before.goals == *goals {
            return;
        }
        self.agents.identity[index].phase = Phase::Driving;
        progress.has_own_goals = false;
        // Example: goals A, B, C with A and B reached. If they are edited to A, D, C, A stays reached and the
        // agent drives to D. If they are edited to A, B, the agent has to reach B again, as it always has to
        // reach the last goal. Passed waypoints stay passed unless they were changed.
        let kept = before.goals.iter().zip(&goals);
        let kept = kept.take_while(|(before, now)| before == now).count();
        progress.reached = progress.reached.min(kept.min(goals.len() - 1) as u32);
        let route = Route {
            goals: goals.into(),
            ..before
        };
        match (start, self.agents.position[index].is_on_lane()) {
            (Start::Lane { .. }, true) => self.turn(agent, &route),
            (Start::Ground(_), _) => {
                // A trip over open ground needs no route, so the agent leaves its lane.
                self.leave_lanes(agent);
                let step = self.agents.progress[index].planned_at;
                let route = Route::unplanned(route.goals.into_vec());
                self.travel(agent).start_over(route, step);
                self.agents.position[index] = LanePosition::default();
                self.traffic.claims.forget(agent);
            }
            (Start::Lane { .. }, false) => self.enter_roads(agent, route),
        }
    }

    fn take_type_and_stack(&mut self, agent: AgentIndex, edited: &Agent) {
        let index = agent.index();
        let who = &mut self.agents.identity[index];
        if let Some(number) = number_of(&self.types.names, &edited.vehicle) {
            // A vehicle that has uncoupled trailers gets them back only if its type changes.
            if self.types.whole(who.vehicle_type) != number {
                who.vehicle_type = number;
            }
        }
        // Modules that the agent has switched to during the run stay, unless its stack changes.
        if let Some(stack) = number_of(&self.modules.names, &edited.stack)
            && who.stack != stack
        {
            who.stack = stack;
            who.modules = self.modules.stacks[stack as usize];
        }
        self.agents.progress[index].holds_arrival = self.modules.holds_arrival(who.modules);
    }

    /// Moves an agent to the level of dynamics that the edit requests, if this level supports its
    /// vehicle.
    fn take_level(&mut self, agent: AgentIndex, wanted: Option<DynamicsLevel>) {
        let index = agent.index();
        let Identity {
            level,
            vehicle_type,
            ..
        } = self.agents.identity[index];
        let wanted = self.levels.of(wanted, self.types.body(vehicle_type));
        let is_served = self.agents.position[index].is_on_lane() || !keeps_to_lanes(wanted);
        if self.agents.census().drives(agent) && level != wanted && is_served {
            self.dynamics
                .assign(self.ground, self.agents, agent, wanted);
        }
    }

    /// Switches an agent that leaves the lanes to a dynamics level that can drive off the lanes.
    fn leave_lanes(&mut self, agent: AgentIndex) {
        let Identity { id, level, .. } = self.agents.identity[agent.index()];
        let instead = off_lanes(level, id, self.clock.time(), &mut self.messages.log);
        if instead != level {
            self.dynamics
                .assign(self.ground, self.agents, agent, instead);
        }
    }

    /// Reroutes an agent on a lane to new goals. Removes the agent if there is no route.
    fn turn(&mut self, agent: AgentIndex, route: &Route) {
        let index = agent.index();
        let (position, progress, claim) = (
            &self.agents.position[index],
            &self.agents.progress[index],
            &self.agents.claim[index],
        );
        // As when a behaviour changes the destination, the new route branches off after the granted
        // connections if possible.
        let Some((route, gives_up_grants)) =
            self.asking(agent).turned(route, position, progress, claim)
        else {
            self.remove(agent);
            return;
        };
        let step = self.clock.step;
        self.travel(agent).replan(route, step);
        if gives_up_grants {
            give_up_grants(self.ground, self.agents, self.traffic, agent);
        }
    }

    /// Gives goals on lanes to an agent on open ground. If there is a lane under the agent, it starts from
    /// that lane. Otherwise it drives straight to the goals.
    fn enter_roads(&mut self, agent: AgentIndex, route: Route) {
        let ground = self.ground.clone();
        let pose = self.bodies(&ground).pose(agent);
        let spots = ground.finder().under(ground.graph(), pose);
        if spots.is_empty() {
            let goals = route.goals.iter().filter(|goal| !goal.is_own());
            let goals = goals.map(|goal| Goal::Ground(goal.position(ground.graph())));
            let route = Route::unplanned(goals.collect());
            self.travel(agent).move_to(route);
        } else {
            self.travel(agent).move_to(route);
            self.traffic.claims.forget(agent);
            if !self.start_over(agent, &spots) {
                self.remove(agent);
            }
        }
    }
}

fn changed_agents(
    old: &Scenario,
    new: &Scenario,
    trips: &MixedTrips<'_>,
    lenient: bool,
) -> Result<BTreeMap<AgentId, Change>, SimulationError> {
    let mut changed = BTreeMap::new();
    for &id in old.agents().keys() {
        if !new.agents().contains_key(&id) {
            changed.insert(id, Change::Removed);
        }
    }
    for (&id, agent) in new.agents() {
        if old.agents().get(&id) == Some(agent) {
            continue;
        }
        let change = match trip(new, trips, id, agent) {
            Ok((start, goals)) => Change::Changed { start, goals },
            // The user is still drawing the trip and sets its destination next.
            Err(_) if lenient => Change::Removed,
            Err(error) => return Err(error),
        };
        changed.insert(id, change);
    }
    Ok(changed)
}

/// Whether an edit leaves start and goals of an agent's trip unchanged.
fn is_same_trip(old: &Scenario, new: &Scenario, id: AgentId) -> bool {
    let (Some(before), Some(now)) = (old.agents().get(&id), new.agents().get(&id)) else {
        return false;
    };
    let places = |scenario: &Scenario, agent: &Agent| -> Vec<Option<DVec2>> {
        let goals = agent.via.iter().chain(&agent.destination);
        std::iter::once(&agent.start)
            .chain(goals)
            .map(|place| Some(scenario.pose_of(place)?.position))
            .collect()
    };
    let (a, b) = (places(old, before), places(new, now));
    let near = |(a, b): (&Option<DVec2>, &Option<DVec2>)| match (a, b) {
        (Some(a), Some(b)) => (*a - *b).length() < 0.5,
        _ => false,
    };
    a.len() == b.len()
        && a.iter().zip(&b).all(near)
        && (&before.vehicle, &before.stack, before.depart) == (&now.vehicle, &now.stack, now.depart)
}
