//! Edits of the scenario while it runs: they enter between two steps.

use super::setup::{running_flows, running_stack, trip};
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
use roadwright_agent::{PlannerView, Registry};
use roadwright_geometry::Pose;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::lane_graph::{LaneGraph, NO_STRIP, StripId};
use roadwright_scenario::{Agent, AgentId, Scenario};
use std::collections::BTreeMap;

/// A vehicle finds its new lane within this distance and turn, m and rad.
const LANE_REACH: f64 = 3.0;
const LANE_TURN: f64 = 0.9;
/// Cell of the index over the lanes, m.
const CELL: f64 = 12.0;

impl World {
    /// Takes over the changes from `old`, which the world runs, to `new`.
    ///
    /// Vehicles keep their place and speed. Who has another destination, or whose roads have
    /// changed, plans a new way from where it is; who has no lane left under it, or no way, is
    /// taken out. Agents and flows that are new come from now on. The same edits after the same
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
            let stacks = new.stacks().iter();
            let running = stacks.map(|(name, s)| running_stack(name, s, modules, None, self.dt));
            Some(running.collect::<Result<Vec<_>, _>>()?)
        };
        let changed_side = old.about().driving_side != new.about().driving_side;
        let roads = (changed_side || old.network() != new.network()).then(|| Roads::new(new));
        let graph = roads
            .as_ref()
            .map_or(&self.roads.graph, |roads| &roads.graph);
        // Everything that can fail has to before anything is changed.
        let changed = changed_agents(old, new, graph, self.lenient)?;
        let flows = running_flows(new, graph, self.seed, self.lenient)?;

        self.take_kinds(new);
        if let Some(stacks) = stacks {
            self.take_stacks(new, stacks);
        }
        let has_new_roads = roads.is_some();
        if let Some(roads) = roads {
            self.take_roads(roads);
        }
        if has_new_roads || old.obstacles() != new.obstacles() || old.forests() != new.forests() {
            self.obstacles = Obstacles::new(new, &self.roads.graph);
        }
        self.take_agents(new, changed);
        self.take_flows(flows);
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
        self.kind_names = names;
        self.kinds = types.values().map(Kind::from).collect();
        self.largest = self
            .kinds
            .iter()
            .map(|kind| kind.radius)
            .fold(0.0, f64::max);
    }

    fn take_stacks(&mut self, new: &Scenario, stacks: Vec<super::RunningStack>) {
        let names: Vec<String> = new.stacks().keys().cloned().collect();
        let places = new_places(&self.stack_names, &names);
        for mover in &mut self.movers {
            match places[mover.stack as usize] {
                Some(place) => mover.stack = place,
                None => (mover.stack, mover.status) = (0, Status::Removed),
            }
        }
        self.stack_names = names;
        self.stacks = stacks;
    }

    /// Puts everyone on the new roads, by place and heading.
    fn take_roads(&mut self, roads: Roads) {
        let old = std::mem::replace(&mut self.roads, roads);
        let finder = LaneFinder::new(&self.roads.graph);
        let found = |strip: StripId, s: f64| finder.find(old.graph.strip(strip).line.pose(s));
        for departure in &mut self.departures {
            if let Start::Lane { strip, s } = departure.start {
                match found(strip, s) {
                    Some((strip, s, _)) => departure.start = Start::Lane { strip, s },
                    None => self.movers[departure.agent as usize].status = Status::Removed,
                }
            }
        }
        for (mover, way) in self.movers.iter_mut().zip(&mut self.ways) {
            if !matches!(mover.status, Status::Active | Status::Waiting) {
                continue;
            }
            for goal in &mut way.goals {
                if let Goal::Strip { strip, s } = *goal {
                    match found(strip, s) {
                        Some((strip, s, _)) => *goal = Goal::Strip { strip, s },
                        None => mover.status = Status::Removed,
                    }
                }
            }
            if mover.is_active() && mover.on_lane() {
                mover.shadow = NO_STRIP;
                match finder.find(mover.state.pose) {
                    Some(place) => (mover.strip, mover.s, mover.t) = place,
                    None => mover.status = Status::Removed,
                }
            }
        }
        let strips = self.roads.graph.strips().len();
        self.index = Index::new(strips);
        self.delays = vec![0.0; strips];
        self.reservations = Reservations::new(self.roads.junction_count());
        for agent in 0..self.movers.len() {
            let mover = &self.movers[agent];
            if mover.is_active() && mover.on_lane() {
                self.start_over(agent);
            }
        }
    }

    /// A new way from the strip that the agent is on, with nothing granted yet.
    fn start_over(&mut self, agent: usize) {
        let mover = &mut self.movers[agent];
        (mover.cursor, mover.granted_to, mover.asked_for) = (0, 0, 0);
        self.ways[agent].path = vec![mover.strip];
        if !self.plan_from(agent, 0) {
            return;
        }
        let mover = &mut self.movers[agent];
        if let (Some(path), Some(exit)) =
            (self.roads.contested(mover.strip), self.ways[agent].strip(1))
        {
            mover.granted_to = 1;
            self.reservations.hold(agent as u32, path, 0, exit);
        }
    }

    /// Plans from an index of the agent's path to the goals that it has not reached; takes it out
    /// if there is no way.
    fn plan_from(&mut self, agent: usize, from: usize) -> bool {
        let mover = &self.movers[agent];
        let reached = mover.goals_reached as usize;
        let old = &self.ways[agent];
        let strip = old.path[from];
        let s = if from == mover.cursor as usize {
            mover.s.max(0.0)
        } else {
            0.0
        };
        let mut rest = Way {
            goals: old.goals[reached..].to_vec(),
            ..Way::default()
        };
        let planner = &*self.stacks[mover.stack as usize].modules.planner;
        let view = PlannerView {
            graph: &self.roads.graph,
            delays: &self.delays,
        };
        let bus = self.kinds[mover.kind as usize].bus;
        if !spawn::plan_way(planner, &view, (strip, s), bus, &mut rest) {
            self.movers[agent].status = Status::Removed;
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

    fn take_agents(&mut self, new: &Scenario, changed: BTreeMap<AgentId, Change>) {
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
                    self.change_active(agent, &new.agents()[&id], start, goals);
                }
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
    fn change_active(&mut self, agent: usize, edited: &Agent, start: Start, goals: Vec<Goal>) {
        let place = |names: &[String], name: &str| names.iter().position(|n| n == name);
        let mover = &mut self.movers[agent];
        if let Some(kind) = place(&self.kind_names, &edited.vehicle) {
            mover.kind = kind as u16;
        }
        if let Some(stack) = place(&self.stack_names, &edited.stack) {
            mover.stack = stack as u16;
        }
        if self.ways[agent].goals == goals {
            return;
        }
        // Way-points that are behind stay behind, unless they were changed.
        let kept = self.ways[agent].goals.iter().zip(&goals);
        let kept = kept.take_while(|(before, now)| before == now).count();
        let kept = kept.min(goals.len() - 1) as u32;
        mover.goals_reached = mover.goals_reached.min(kept);
        self.ways[agent].goals = goals;
        match (start, mover.on_lane()) {
            (Start::Lane { .. }, true) => {
                let from = mover.granted_to.max(mover.cursor) as usize;
                let from = from.min(self.ways[agent].path.len() - 1);
                self.plan_from(agent, from);
            }
            (Start::Ground(_), _) => {
                // On open ground there is no way to plan, and no lane to keep.
                mover.strip = NO_STRIP;
                mover.shadow = NO_STRIP;
                self.ways[agent].path.clear();
            }
            (Start::Lane { .. }, false) => {
                let finder = LaneFinder::new(&self.roads.graph);
                match finder.find(mover.state.pose) {
                    Some(place) => {
                        (mover.strip, mover.s, mover.t) = place;
                        self.start_over(agent);
                    }
                    None => {
                        let places = self.ways[agent].goals.iter();
                        let places = places.map(|goal| Goal::Ground(self.place_of(goal)));
                        self.ways[agent].goals = places.collect();
                    }
                }
            }
        }
    }

    fn take_flows(&mut self, mut flows: Vec<RunningFlow>) {
        let time = self.time();
        for flow in &mut flows {
            match self.flows.iter().find(|before| before.id() == flow.id()) {
                Some(before) => flow.continue_from(before),
                None => flow.start_after(time),
            }
        }
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

/// Where each of the old names stands among the new ones.
fn new_places(old: &[String], new: &[String]) -> Vec<Option<u16>> {
    let place = |name: &String| new.iter().position(|n| n == name).map(|at| at as u16);
    old.iter().map(place).collect()
}

/// Finds the strip under a pose.
struct LaneFinder<'a> {
    graph: &'a LaneGraph,
    grid: GridIndex,
    /// Strip and distance of each point in the grid.
    points: Vec<(StripId, f64)>,
}

impl<'a> LaneFinder<'a> {
    fn new(graph: &'a LaneGraph) -> Self {
        let (mut points, mut positions) = (Vec::new(), Vec::new());
        for (id, strip) in graph.strips().iter().enumerate() {
            let samples = (strip.length() / (0.5 * CELL)).ceil().max(1.0) as usize;
            for i in 0..=samples {
                let s = strip.length() * i as f64 / samples as f64;
                points.push((id as StripId, s));
                positions.push(strip.line.position(s));
            }
        }
        let mut grid = GridIndex::new();
        grid.rebuild(&positions, CELL);
        Self {
            graph,
            grid,
            points,
        }
    }

    /// Strip, distance along it and to the left of it.
    fn find(&self, pose: Pose) -> Option<(StripId, f64, f64)> {
        let mut best: Option<(f64, StripId, f64, f64)> = None;
        self.grid
            .for_each_within(pose.position, CELL, |point, _: DVec2| {
                let (strip, guess) = self.points[point as usize];
                let line = &self.graph.strip(strip).line;
                let (s, t) = line.project(pose.position, guess);
                let s = s.clamp(0.0, line.length());
                let miss = (line.position(s) - pose.position).length();
                let turn = wrap_angle(line.heading(s) - pose.heading).abs();
                let rank = miss + 2.0 * turn;
                let better = best.is_none_or(|(least, known, ..)| {
                    rank < least - 1e-9 || (rank < least + 1e-9 && strip < known)
                });
                if miss < LANE_REACH && turn < LANE_TURN && better {
                    best = Some((rank, strip, s, t));
                }
            });
        best.map(|(_, strip, s, t)| (strip, s, t))
    }
}
