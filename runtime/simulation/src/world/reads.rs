//! Read access to a world.

use super::World;
use crate::agents::Drive;
use crate::dynamics::{Bodies, LooseCounts};
use crate::fixed::Fixed;
use crate::hands::HandControls;
use crate::open_ground::PathStatus;
use crate::perception::{Surroundings, View};
use crate::records::{AgentIndex, Collision};
use crate::stages::scene::Onlooking;
use crate::standing::{Standing, WaitChain};
use crate::summary::{ModuleRecord, SwapRecord};
use crate::traffic::{Setting, Waits};
use roadwright_agent::BehaviourView;
use roadwright_ground::{Ground, SignalHead};
use roadwright_scenario::NodeId;
use roadwright_scenario::lane_graph::LaneGraph;
use std::sync::Arc;

impl World {
    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.clock.time()
    }

    /// Time step, s.
    pub fn dt(&self) -> f64 {
        self.clock.dt
    }

    /// Status of the planned path of an agent off the lanes; `None` if the agent does not plan.
    pub fn path_status(&self, id: u64) -> Option<&PathStatus> {
        self.ground_plans.status(id)
    }

    /// Returns the agents off the lanes that have no path, or whose search has not ended, with the
    /// statuses of their paths, by id.
    pub fn without_known_path(&self) -> impl Iterator<Item = (u64, &PathStatus)> {
        self.ground_plans.without_known_path()
    }

    /// Number of steps taken.
    pub fn steps(&self) -> u64 {
        self.clock.step
    }

    /// Graph of the lanelets of the roads.
    pub fn lane_graph(&self) -> &LaneGraph {
        self.ground.graph()
    }

    /// Returns an agent under manual control, and its controls. If there are several, returns the
    /// one with the lowest id.
    pub fn driven_by_hand(&self) -> Option<(u64, HandControls)> {
        self.hands.first()
    }

    /// Key of an agent's vehicle type; `None` if the agent is not driving.
    pub fn vehicle_type_of(&self, id: u64) -> Option<&Arc<str>> {
        let agent = self.agents.census().find(id)?;
        let who = &self.agents.lent().identity[agent.index()];
        Some(self.types.key(who.vehicle_type))
    }

    /// Slope of the ground under an agent, as rise over run; `None` if the agent is not driving.
    pub fn slope_under(&self, id: u64) -> Option<f64> {
        let agent = self.agents.census().find(id)?;
        let who = &self.agents.lent().identity[agent.index()];
        let wheelbase = self.types.get(who.vehicle_type).limits.wheelbase;
        Some(self.ground.slope(self.bodies().pose(agent), wheelbase))
    }

    /// Ground on which the world runs.
    pub fn ground(&self) -> &Arc<Ground> {
        &self.ground
    }

    /// Whether all agents have arrived or were refused, no flow can add more agents, and no pedestrians are
    /// present or will arrive.
    pub fn is_over(&self) -> bool {
        let has_people = !self.traffic.people.is_over();
        !has_people && self.agents.census().count() == 0 && self.demand.is_over(self.time())
    }

    /// Smallest node ids of the junctions that a pending edit waits for. Until the edit is applied,
    /// these junctions admit no vehicles or hold back approaching vehicles. Empty if no edit is
    /// pending.
    pub fn closing_nodes(&self) -> Vec<NodeId> {
        let closed = self.traffic.claims.closing.changing().iter();
        closed.filter_map(|&at| self.ground.node(at)).collect()
    }

    /// Modules replaced so far, in order.
    pub fn swaps(&self) -> &[SwapRecord] {
        &self.modules.swaps
    }

    /// External modules in use, with their builds.
    pub fn modules(&self) -> Vec<ModuleRecord> {
        self.modules.records()
    }

    /// Access to the positions of all bodies.
    pub(crate) fn bodies(&self) -> Bodies<'_> {
        Bodies {
            ground: &self.ground,
            agents: self.agents.lent(),
            dynamics: &self.dynamics,
        }
    }

    /// Number of driving agents, summed over all steps.
    pub fn agent_updates(&self) -> u64 {
        self.agent_updates
    }

    /// Collisions so far, in order.
    pub fn collisions(&self) -> &[Collision] {
        &self.traffic.contacts.log
    }

    /// Numbers of loose obstacles that have been moved and felled. Only level `rigid` moves obstacles.
    pub fn loose_counts(&self) -> LooseCounts {
        self.dynamics.rigid.counts(&self.ground).unwrap_or_default()
    }

    /// One row for each drive that has ended, in the order in which the drives ended.
    pub fn finished(&self) -> impl ExactSizeIterator<Item = Drive<'_>> {
        self.finished.iter()
    }

    /// Id, spawn time (s) and distance driven so far (m) of each driving agent, in unspecified
    /// order.
    pub fn odometers(&self) -> impl Iterator<Item = (u64, f64, f64)> + '_ {
        self.agents.census().driving().map(|agent| {
            let statistics = &self.agents.statistics[agent.index()];
            let id = self.agents.identity[agent.index()].id;
            (id, statistics.started, statistics.distance)
        })
    }

    /// Average memory per driving agent for columns, index, batches and claims, in bytes.
    pub fn bytes_per_agent(&self) -> f64 {
        let rows = self.scratch.behaving.rows.bytes() + self.scratch.controlling.bytes();
        let rows = rows + self.scratch.ground_planning.bytes();
        let columns = self.agents.bytes() + self.dynamics.bytes();
        let traffic = self.traffic.index.bytes()
            + self.traffic.neighbours.bytes()
            + self.traffic.claims.bytes();
        (columns + rows + traffic) as f64 / self.agents.census().count().max(1) as f64
    }

    /// State of the signals of all lanes. O(lanes with signals), plus O(lanelets) on first use of a
    /// ground.
    pub fn signals(&self) -> impl Iterator<Item = SignalHead> + '_ {
        let light = |path| self.traffic.signals.light(&self.ground, path);
        self.ground.signal_heads(self.types.sets_lines_back, light)
    }

    /// Reason why the agent with the given index waits.
    pub(crate) fn waits_of(&self, agent: AgentIndex) -> Option<Waits> {
        let claims = &self.traffic.claims;
        claims.waits(agent, self.setting(), self.agents.lent())
    }

    /// Borrows the parts of the world that steps never change.
    pub(crate) fn fixed(&self) -> Fixed<'_> {
        Fixed {
            ground: &self.ground,
            types: &self.types,
        }
    }

    /// Borrows the inputs of decisions at junctions.
    pub(crate) fn setting(&self) -> Setting<'_> {
        self.traffic
            .setting(&self.clock, self.fixed(), &self.routes)
    }

    /// Current inputs of an agent's behaviour; `None` if the agent is not driving. The cost is a
    /// pass over all agents.
    pub fn behaviour_view(&self, id: u64) -> Option<BehaviourView> {
        let onlooking = Onlooking {
            clock: &self.clock,
            view: self.view(),
            modules: &self.modules,
            messages: &self.messages,
            signals: &self.traffic.signals,
        };
        onlooking.behaviour_view(id)
    }

    /// Returns the reason why a driving agent is stationary, with the chain of vehicles that it
    /// waits for; `None` if the agent is not driving. O(vehicles in the chain), plus O(driving
    /// vehicles) for each vehicle of the chain that is off the lanes.
    pub fn wait_chain(&self, id: u64) -> Option<WaitChain> {
        let agent = self.agents.census().find(id)?;
        Some(self.standing().chain(agent))
    }

    /// Borrows the parts of the world that explain why a vehicle is stationary.
    pub(crate) fn standing(&self) -> Standing<'_> {
        Standing {
            clock: &self.clock,
            view: self.view(),
            setting: self.setting(),
            claims: &self.traffic.claims,
            modules: &self.modules,
            hands: &self.hands,
            ground_plans: &self.ground_plans,
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        let surroundings = Surroundings {
            ground: &self.ground,
            types: &self.types,
            routes: &self.routes,
            index: &self.traffic.index,
            dynamics: &self.dynamics,
            claims: Some(&self.traffic.claims),
        };
        surroundings.with(self.agents.lent())
    }
}
