//! Updates the per-agent statistics that some fitness functions use (`agents/accounts.rs`).

use crate::agents::{Account, Accounts, Odometer};
use crate::dynamics::Bodies;
use crate::records::{AgentIndex, Collision, Progress, Statistics};
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
        // Each driving agent has a record after the loop, so if there are more records than agents, some
        // agents have left.
        if self.of.len() > agents.count() {
            self.of.retain(|&id, _| agents.find(id).is_some());
            self.deviations.retain(|&id, _| agents.find(id).is_some());
        }
        for collision in &scene.collisions[self.counted.min(scene.collisions.len())..] {
            for id in std::iter::once(collision.agent).chain(collision.with.agent()) {
                if let Some(account) = self.of.get_mut(&id) {
                    account.collisions += 1;
                }
            }
        }
        self.counted = scene.collisions.len();
    }
}

impl Account {
    fn watch(&mut self, agent: AgentIndex, scene: AccountInputs<'_>) {
        let agents = scene.bodies.agents;
        let index = agent.index();
        let (motion, progress) = (&agents.motion[index], &agents.progress[index]);
        self.energy += 0.5 * motion.speed * motion.speed * scene.dt;
        self.goal_distance = goal_distance(agent, progress, scene);
        if progress.reached != self.reached {
            let now = Odometer::of(&scene.statistics[index]);
            // After a change of goals fewer may have been reached than before, which ends no segment.
            if progress.reached > self.reached {
                self.segments.add(self.begin, now, scene.dt);
            }
            (self.reached, self.begin) = (progress.reached, now);
        }
    }
}

/// Straight-line distance from the centre of the body to the last goal, m; 0 without a goal.
fn goal_distance(agent: AgentIndex, progress: &Progress, scene: AccountInputs<'_>) -> f64 {
    let who = &scene.bodies.agents.identity[agent.index()];
    let Some(goal) = scene.routes.get(progress.route).goals.last() else {
        return 0.0;
    };
    let goal = goal.position(scene.bodies.ground.graph());
    let body = scene.types.get(who.vehicle_type).body_centre;
    (scene.bodies.pose(agent).point(body, 0.0) - goal).length()
}
