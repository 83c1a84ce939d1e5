//! Edits of the scenario while it runs: they enter between two steps.

use super::bank::Banks;
use super::lane_finder::LaneFinder;
use super::setup::{running_flows, trip};
use super::{SimulationError, World};
use crate::flow::RunningFlow;
use crate::index::Index;
use crate::kind::Kind;
use crate::mover::Status;
use crate::obstacles::Obstacles;
use crate::reservation::Reservations;
use crate::roads::Roads;
use crate::spawn::{self, Start};
use crate::way::{Goal, Way};
use glam::DVec2;
use roadwright_agent::{Registry, Slot};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletId, NO_LANELET};
use roadwright_scenario::{Agent, AgentId, ModuleSetting, Road, RoadId, Scenario, Stack};
use std::collections::BTreeMap;

impl World {
    /// Takes over the changes from `old`, which the world runs, to `new`.
    ///
    /// Vehicles keep their place and speed. Who has another destination plans a new way from where
    /// it is, and so does everyone if the lanes have changed; who has no lane left under it, or no
    /// way, is taken out. Agents and flows that are new come from now on. The same edits after the same
    /// steps give the same bits. Cost: that of what has changed; a changed road network is laid
    /// out anew.
    ///
    /// # Errors
    /// As [`World::new`]; the world is unchanged then.
    pub fn update(
        &mut self,
        old: &Scenario,
        new: &Scenario,
        modules: &Registry,
    ) -> Result<(), SimulationError> {
        let stacks = if old.stacks() == new.stacks() {
            None
        } else {
            // Asked first, so that a wrong setting changes nothing.
            let mut banks = Banks::new();
            for (name, stack) in new.stacks() {
                banks.places(name, &self.overrides.apply(stack), modules, self.dt)?;
            }
            Some(())
        };
        let changed_side = old.about().driving_side != new.about().driving_side;
        let roads = (changed_side || !same_lanes(old, new)).then(|| Roads::new(new));
        let graph = roads
            .as_ref()
            .map_or(&self.roads.graph, |roads| &roads.graph);
        // Everything that can fail has to before anything is changed.
        let changed = changed_agents(old, new, graph, self.lenient)?;
        let flows = running_flows(new, graph, self.seed, self.lenient)?;

        self.take_kinds(new);
        self.registry = modules.clone();
        if stacks.is_some() {
            self.take_stacks(new)?;
        }
        let has_new_roads = roads.is_some();
        if let Some(roads) = roads {
            self.take_roads(roads, new, &flows);
        }
        if has_new_roads || old.obstacles() != new.obstacles() || old.forests() != new.forests() {
            self.obstacles = Obstacles::new(new, &self.roads.graph);
        }
        self.take_agents(old, new, changed);
        self.take_flows(flows);
        let movers = &self.movers;
        let waits = |agent: u32| movers[agent as usize].status == Status::Waiting;
        self.departures.retain(|departure| waits(departure.agent));
        self.sort_departures();
        self.index.rebuild(&self.movers, &self.kinds);
        Ok(())
    }

    fn take_kinds(&mut self, new: &Scenario) {
        let types = new.vehicle_types();
        let names: Vec<String> = types.keys().cloned().collect();
        let places = new_places(&self.kind_names, &names);
        for mover in &mut self.movers {
            match places[mover.kind as usize] {
                Some(place) => mover.kind = place,
                None => (mover.kind, mover.status) = (0, Status::Removed),
            }
        }
        self.kind_names = names.into();
        self.kinds = types.values().map(Kind::from).collect();
        self.largest = self
            .kinds
            .iter()
            .map(|kind| kind.radius)
            .fold(0.0, f64::max);
    }

    /// The new stacks. A module that differs in parameters only goes on with what it remembers.
    fn take_stacks(&mut self, new: &Scenario) -> Result<(), SimulationError> {
        let names: Vec<String> = new.stacks().keys().cloned().collect();
        let own = self.own_modules();
        let mut old = std::mem::replace(&mut self.banks, Banks::new());
        let stacks: Vec<(&String, Stack)> = new
            .stacks()
            .iter()
            .map(|(name, stack)| (name, self.overrides.apply(stack)))
            .collect();
        // Exact matches first, so that nobody else takes what somebody still has.
        for is_similar in [false, true] {
            for (name, stack) in &stacks {
                self.banks.adopt(name, stack, &mut old, is_similar, self.dt);
            }
        }
        let places = stacks.iter().map(|(name, stack)| {
            let registry = &self.registry;
            self.banks.places(name, stack, registry, self.dt)
        });
        self.stacks = places.collect::<Result<_, _>>()?;
        let moved = new_places(&self.stack_names, &names);
        for mover in &mut self.movers {
            match moved[mover.stack as usize] {
                Some(place) => mover.stack = place,
                None => (mover.stack, mover.status) = (0, Status::Removed),
            }
            mover.modules = self.stacks[mover.stack as usize];
        }
        for (agent, slot, setting) in own {
            let stack = self.stack_names[self.movers[agent].stack as usize].clone();
            // One that the registry does not have any more is that of the stack again.
            if let Ok(place) = self.place_module(slot, &stack, &setting) {
                self.movers[agent].modules[slot as usize] = place;
            }
        }
        self.assign_all();
        self.stack_names = names.into();
        self.membership.clear();
        Ok(())
    }

    /// The modules that agents have chosen for themselves.
    fn own_modules(&self) -> Vec<(usize, Slot, ModuleSetting)> {
        let mut own = Vec::new();
        for (agent, mover) in self
            .movers
            .iter()
            .enumerate()
            .filter(|(_, m)| m.is_active())
        {
            let of_stack = self.stacks[mover.stack as usize];
            for slot in Slot::ALL {
                let place = mover.modules[slot as usize];
                if place != of_stack[slot as usize] {
                    own.push((agent, slot, self.banks.setting(slot, place).clone()));
                }
            }
        }
        own
    }

    /// Puts everyone on the new roads: vehicles by where they are, starts and goals by what the
    /// scenario says of them, and those of random trips by where they were.
    fn take_roads(&mut self, roads: Roads, new: &Scenario, flows: &[RunningFlow]) {
        let old = std::mem::replace(&mut self.roads, roads);
        let finder = LaneFinder::new(&self.roads.graph);
        let found = |lanelet: LaneletId, s: f64| {
            let pose = old.graph.line(lanelet).pose(s);
            finder.under(&self.roads.graph, pose).first().copied()
        };
        let told = |id: u64| told_places(id, new, flows, &self.roads.graph);
        for departure in &mut self.departures {
            let mover = &mut self.movers[departure.agent as usize];
            let start = match (told(mover.id), departure.start) {
                (Some((start, _)), _) => Some(start),
                (None, Start::Lane { lanelet, s }) => {
                    found(lanelet, s).map(|(lanelet, s, _)| Start::Lane { lanelet, s })
                }
                (None, ground) => Some(ground),
            };
            match start {
                Some(start) => departure.start = start,
                None => mover.status = Status::Removed,
            }
        }
        for (mover, way) in self.movers.iter_mut().zip(&mut self.ways) {
            if !matches!(mover.status, Status::Active | Status::Waiting) {
                continue;
            }
            let told = (!mover.has_own_goals).then(|| told(mover.id)).flatten();
            if let Some((_, goals)) = told.filter(|t| t.1.len() == way.goals.len()) {
                way.goals = goals;
                continue;
            }
            for goal in &mut way.goals {
                if let Goal::Lanelet { lanelet, s } = *goal {
                    match found(lanelet, s) {
                        Some((lanelet, s, _)) => *goal = Goal::Lanelet { lanelet, s },
                        None => mover.status = Status::Removed,
                    }
                }
            }
        }
        let lanelets = self.roads.graph.lanelets().len();
        self.index = Index::new(lanelets);
        self.delays = vec![0.0; lanelets];
        self.reservations = Reservations::new(self.roads.junction_count());
        let driving = self.movers.iter().enumerate();
        let driving = driving.filter(|(_, mover)| mover.is_active() && mover.on_lane());
        let found: Vec<_> = driving
            .map(|(agent, mover)| (agent, finder.under(&self.roads.graph, mover.state.pose)))
            .collect();
        self.finder = Some(finder);
        for (agent, places) in found {
            self.start_over(agent, &places);
        }
    }

    /// A new way from the first of the lanelets under the agent that leads to its goals, with
    /// nothing granted yet; the agent is taken out if none does.
    fn start_over(&mut self, agent: usize, places: &[(LaneletId, f64, f64)]) {
        let leads = places.iter().any(|&place| {
            let mover = &mut self.movers[agent];
            (mover.lanelet, mover.s, mover.t) = place;
            (mover.cursor, mover.granted_to, mover.asked_for) = (0, 0, 0);
            mover.shadow = NO_LANELET;
            mover.has_arrived = false;
            self.ways[agent].path = vec![place.0];
            self.plan_from(agent, 0)
        });
        let mover = &mut self.movers[agent];
        if !leads {
            mover.status = Status::Removed;
        } else if let (Some(path), Some(exit)) = (
            self.roads.contested(mover.lanelet),
            self.ways[agent].lanelet(1),
        ) {
            mover.granted_to = 1;
            self.reservations.hold(agent as u32, path, 0, exit);
        }
    }

    /// Plans from an index of the agent's path to the goals that it has not reached; says whether
    /// there is a way.
    fn plan_from(&mut self, agent: usize, from: usize) -> bool {
        let mover = &self.movers[agent];
        let reached = mover.goals_reached as usize;
        let old = &self.ways[agent];
        let lanelet = old.path[from];
        let s = if from == mover.cursor as usize {
            mover.s.max(0.0)
        } else {
            0.0
        };
        let mut rest = Way {
            goals: old.goals[reached..].to_vec(),
            ..Way::default()
        };
        let planner = self.banks.planner_of(mover);
        let view = self.planner_view();
        let bus = self.kinds[mover.kind as usize].bus;
        if !spawn::plan_way(planner, &view, (lanelet, s), bus, &mut rest) {
            return false;
        }
        let way = &mut self.ways[agent];
        way.path.truncate(from);
        way.path.extend(rest.path);
        way.goal_at.truncate(reached);
        way.goal_at.resize(reached, 0);
        way.goal_at
            .extend(rest.goal_at.iter().map(|at| at + from as u32));
        self.movers[agent].planned_at = self.step;
        self.movers[agent].asked_for = 0;
        true
    }

    fn take_agents(&mut self, old: &Scenario, new: &Scenario, changed: BTreeMap<AgentId, Change>) {
        let index: BTreeMap<u64, usize> = self
            .movers
            .iter()
            .enumerate()
            .map(|(agent, mover)| (mover.id, agent))
            .collect();
        for (id, change) in changed {
            let known = index.get(&u64::from(id.0)).copied();
            match (change, known) {
                (Change::Removed, Some(agent)) => self.take_out(agent),
                (Change::Removed, None) => {}
                (Change::Changed { start, goals }, Some(agent))
                    if self.movers[agent].is_active() =>
                {
                    let edited = &new.agents()[&id];
                    let before = old.agents().get(&id);
                    let is_same = |before: &Agent| {
                        (&before.via, &before.destination) == (&edited.via, &edited.destination)
                    };
                    // What its script wants stays, unless the way itself was edited.
                    let is_same_way =
                        self.movers[agent].has_own_goals && before.is_some_and(is_same);
                    self.change_active(agent, edited, start, goals, is_same_way);
                }
                // Only its roads have other names or ends now: what it has done is done.
                (Change::Changed { .. }, Some(agent))
                    if self.movers[agent].status == Status::Arrived
                        && is_same_trip(old, new, id) => {}
                (Change::Changed { start, goals }, known) => {
                    // It waits, has arrived or is new: it starts (again) as the edit says.
                    if let Some(agent) = known {
                        self.take_out(agent);
                        self.movers[agent].id |= 1 << 63;
                    }
                    let agent = &new.agents()[&id];
                    let time = agent.depart.max(self.time());
                    let names = (agent.vehicle.as_str(), agent.stack.as_str());
                    let way = Way {
                        goals,
                        ..Way::default()
                    };
                    self.add(u64::from(id.0), names, way, start, time, agent.speed);
                }
            }
        }
    }

    fn take_out(&mut self, agent: usize) {
        self.movers[agent].status = Status::Removed;
        self.departures.retain(|d| d.agent as usize != agent);
    }

    /// An agent that drives gets its new vehicle, stack and goals where it is.
    fn change_active(
        &mut self,
        agent: usize,
        edited: &Agent,
        start: Start,
        goals: Vec<Goal>,
        is_same_way: bool,
    ) {
        let place = |names: &[String], name: &str| names.iter().position(|n| n == name);
        let mover = &mut self.movers[agent];
        if let Some(kind) = place(&self.kind_names, &edited.vehicle) {
            mover.kind = kind as u16;
        }
        if let Some(stack) = place(&self.stack_names, &edited.stack)
            && mover.stack != stack as u16
        {
            mover.stack = stack as u16;
            mover.modules = self.stacks[stack];
        }
        let modules = mover.modules;
        let holds = self.holds_arrival(modules);
        let mover = &mut self.movers[agent];
        mover.holds_arrival = holds;
        if is_same_way || self.ways[agent].goals == goals {
            return;
        }
        mover.has_arrived = false;
        mover.has_own_goals = false;
        // Way-points that are behind stay behind, unless they were changed.
        let kept = self.ways[agent].goals.iter().zip(&goals);
        let kept = kept.take_while(|(before, now)| before == now).count();
        let kept = kept.min(goals.len() - 1) as u32;
        mover.goals_reached = mover.goals_reached.min(kept);
        self.ways[agent].goals = goals;
        match (start, mover.on_lane()) {
            (Start::Lane { .. }, true) => {
                if !self.turn_to_new_goals(agent) {
                    self.movers[agent].status = Status::Removed;
                }
            }
            (Start::Ground(_), _) => {
                // On open ground there is no way to plan, and no lane to keep.
                (mover.cursor, mover.granted_to, mover.asked_for) = (0, 0, 0);
                mover.lanelet = NO_LANELET;
                mover.shadow = NO_LANELET;
                self.ways[agent].path.clear();
                self.reservations.forget(agent as u32);
            }
            (Start::Lane { .. }, false) => {
                let pose = mover.state.pose;
                let finder = self
                    .finder
                    .get_or_insert_with(|| LaneFinder::new(&self.roads.graph));
                let places = finder.under(&self.roads.graph, pose);
                if places.is_empty() {
                    let goals = self.ways[agent].goals.iter();
                    let goals = goals.map(|goal| Goal::Ground(self.place_of(goal)));
                    self.ways[agent].goals = goals.collect();
                } else {
                    self.reservations.forget(agent as u32);
                    self.start_over(agent, &places);
                }
            }
        }
    }

    /// Plans to new goals from the end of what has been granted; if the next goal lies before it,
    /// or there is no way from there, from where the agent is. Says whether there is a way.
    pub(super) fn turn_to_new_goals(&mut self, agent: usize) -> bool {
        let mover = &self.movers[agent];
        let (cursor, way) = (mover.cursor as usize, &self.ways[agent]);
        let granted = (mover.granted_to as usize).clamp(cursor, way.path.len() - 1);
        let near = match way.next_goal(mover.goals_reached) {
            Some(Goal::Lanelet { lanelet, s }) => {
                let on_way = way.path[cursor..granted]
                    .iter()
                    .position(|on| *on == lanelet);
                on_way.is_some_and(|at| at > 0 || s > mover.s)
            }
            _ => false,
        };
        if !near && self.plan_from(agent, granted) {
            return true;
        }
        let inside = self.roads.contested(self.movers[agent].lanelet).is_some();
        if !self.plan_from(agent, cursor) {
            return false;
        }
        if !inside {
            self.movers[agent].granted_to = cursor as u32;
            self.reservations.forget(agent as u32);
        }
        true
    }

    fn take_flows(&mut self, mut flows: Vec<RunningFlow>) {
        let time = self.time();
        for flow in &mut flows {
            // A flow that was away for a while goes on counting where it was.
            let mut known = self.flows.iter().chain(&self.retired_flows);
            if let Some(before) = known.find(|before| before.id() == flow.id()) {
                flow.continue_from(before);
            }
            flow.start_after(time);
        }
        self.retired_flows.append(&mut self.flows);
        let is_back = |old: &RunningFlow| flows.iter().any(|flow| flow.id() == old.id());
        self.retired_flows.retain(|old| !is_back(old));
        self.flows = flows;
    }
}

/// What became of an agent.
enum Change {
    Removed,
    Changed { start: Start, goals: Vec<Goal> },
}

fn changed_agents(
    old: &Scenario,
    new: &Scenario,
    graph: &LaneGraph,
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
        let change = match trip(new, graph, id, agent) {
            Ok((start, goals)) => Change::Changed { start, goals },
            // Being drawn: it gets its destination next.
            Err(_) if lenient => Change::Removed,
            Err(error) => return Err(error),
        };
        changed.insert(id, change);
    }
    Ok(changed)
}

/// Whether all that the lanelets are made of is the same: street names may differ.
fn same_lanes(old: &Scenario, new: &Scenario) -> bool {
    let (a, b) = (old.network(), new.network());
    let same = |(id, road): (RoadId, &Road)| {
        b.road(id).is_some_and(|other| {
            std::ptr::eq(road, other) || {
                let name = road.name.clone();
                *road
                    == Road {
                        name,
                        ..other.clone()
                    }
            }
        })
    };
    a.road_count() == b.road_count() && a.nodes().eq(b.nodes()) && a.roads().all(same)
}

/// Whether an agent's trip leads from the same place to the same places as before.
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

/// Start and goals that the scenario has for an agent or for the agents of a flow; `None` for
/// those of random trips.
fn told_places(
    id: u64,
    new: &Scenario,
    flows: &[RunningFlow],
    graph: &LaneGraph,
) -> Option<(Start, Vec<Goal>)> {
    if let Some(flow) = flows.iter().find(|flow| flow.owns(id)) {
        return Some((flow.start, flow.goals.clone()));
    }
    let id = AgentId(u32::try_from(id).ok()?);
    trip(new, graph, id, new.agents().get(&id)?).ok()
}

/// Where each of the old names stands among the new ones.
fn new_places(old: &[String], new: &[String]) -> Vec<Option<u16>> {
    let place = |name: &String| new.iter().position(|n| n == name).map(|at| at as u16);
    old.iter().map(place).collect()
}
