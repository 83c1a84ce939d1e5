//! Updates the per-agent statistics that some fitness functions use (`agents/accounts.rs`).

use crate::agents::{Account, Accounts, AgentsRef, Odometer};
use crate::dynamics::Bodies;
use crate::records::{AgentIndex, Collision, Statistics};
use crate::route::Routes;
use crate::vehicle_type::VehicleTypes;

/// Inputs for updating the statistics.
#[derive(Clone, Copy)]
pub(crate) struct AccountInputs<'a> {
    pub(crate) bodies: Bodies<'a>,
    pub(crate) statistics: &'a [Statistics],
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
    pub(crate) collisions: &'a [Collision],
    /// Length of a step, s.
    pub(crate) dt: f64,
}

impl Accounts {
    /// Updates the statistics at the end of a step.
    pub(crate) fn watch(&mut self, scene: AccountInputs<'_>) {
        let agents = scene.bodies.agents;
        for agent in agents.driving() {
            let id = agents.identity[agent.index()].id;
            let account = self.of.entry(id).or_default();
            account.watch(agent, scene);
            let deviation = self.deviations.entry(id).or_default();
            let (motion, position) = (
                &agents.motion[agent.index()],
                &agents.position[agent.index()],
            );
            deviation.add(scene.dt, position.t, motion.speed.abs());
        }
        // Each driving agent has a record now. If there are more records than agents, some agents
        // have left.
        if self.of.len() > agents.count() {
            self.of.retain(|&id, _| agents.find(id).is_some());
            self.deviations.retain(|&id, _| agents.find(id).is_some());
        }
        self.count_collisions(scene.bodies.agents, scene.collisions);
    }

    /// Counts the collisions that have begun in this step. `collisions` is the collision log of the run.
    pub(crate) fn count_collisions(&mut self, agents: AgentsRef<'_>, collisions: &[Collision]) {
        for collision in &collisions[self.counted.min(collisions.len())..] {
            for id in std::iter::once(collision.agent).chain(collision.with.agent()) {
                if agents.find(id).is_some() {
                    self.of.entry(id).or_default().collisions += 1;
                }
            }
        }
        self.counted = collisions.len();
    }
}

impl Account {
    fn watch(&mut self, agent: AgentIndex, scene: AccountInputs<'_>) {
        let agents = scene.bodies.agents;
        let index = agent.index();
        let (motion, progress) = (&agents.motion[index], &agents.progress[index]);
        let place = GoalInputs {
            bodies: scene.bodies,
            types: scene.types,
            routes: scene.routes,
        };
        self.energy += 0.5 * motion.speed * motion.speed * scene.dt;
        self.goal_distance = place.goal_distance(agent);
        if progress.reached != self.reached {
            let now = Odometer::of(&scene.statistics[index]);
            // After a change of goals, the number of goals reached may be smaller than before. This
            // does not end a segment.
            if progress.reached > self.reached {
                self.segments.add(self.begin, now, scene.dt);
            }
            (self.reached, self.begin) = (progress.reached, now);
        }
    }
}

/// Inputs for computing the remaining distance of an agent.
#[derive(Clone, Copy)]
pub(crate) struct GoalInputs<'a> {
    pub(crate) bodies: Bodies<'a>,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
}

impl GoalInputs<'_> {
    /// Straight-line distance from the centre of an agent's body to its last goal, m; 0 without a goal.
    pub(crate) fn goal_distance(self, agent: AgentIndex) -> f64 {
        let agents = self.bodies.agents;
        let index = agent.index();
        let route = self.routes.get(agents.progress[index].route);
        let Some(goal) = route.goals.last() else {
            return 0.0;
        };
        let goal = goal.position(self.bodies.ground.graph());
        let kind = self.types.get(agents.identity[index].vehicle_type);
        let centre = self.bodies.pose(agent).point(kind.body_centre, 0.0);
        (centre - goal).length()
    }
}
