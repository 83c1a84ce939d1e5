//! Removal of agents. An agent is scored, leaves one result row, and releases everything that it
//! holds except its claims.
//!
//! Claims are released by the junctions, which check in every step whether the holders of grants
//! still drive (`traffic/claims`).

use crate::agents::{Agents, Finished, FinishedRow, Score, Status};
use crate::clock::Clock;
use crate::dynamics::{Bodies, Dynamics};
use crate::messages::Messages;
use crate::modules::{Modules, WantedAccounts};
use crate::records::{AgentIndex, Statistics};
use crate::route::{Routes, Travel};
use crate::traffic::GoalInputs;
use crate::vehicle_type::VehicleTypes;
use roadwright_agent::{Conduct, Rate, Step};
use roadwright_ground::Ground;
use roadwright_plugin_api::{FitnessInput, FitnessOutput, NOTHING};

/// Borrowed parts of the world that are involved in the removal of an agent.
pub(crate) struct Exit<'a> {
    pub(crate) clock: &'a Clock,
    /// The ground; `None` during an edit, because the positions of agents may still refer to the
    /// old roads.
    pub(crate) ground: Option<&'a Ground>,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) modules: &'a Modules,
    pub(crate) agents: &'a mut Agents,
    pub(crate) dynamics: &'a mut Dynamics,
    pub(crate) routes: &'a mut Routes,
    pub(crate) messages: &'a mut Messages,
    pub(crate) finished: &'a mut Finished,
}

impl Exit<'_> {
    /// Removes an agent from the road at `time`, in seconds. Its modules are notified at the next
    /// step boundary.
    pub(crate) fn retire(&mut self, agent: AgentIndex, status: Status, time: f64) {
        let index = agent.index();
        let statistics = self.agents.statistics[index];
        let who = &self.agents.identity[index];
        // The agent is scored first, while its columns and modules still exist.
        let scored = Scored {
            clock: self.clock,
            ground: self.ground,
            types: self.types,
            modules: self.modules,
            agents: self.agents,
            dynamics: self.dynamics,
            routes: self.routes,
        };
        let scores = scored
            .scores(agent, status)
            .into_iter()
            .map(|(fitness, value)| Score {
                fitness: self.finished.number(fitness),
                value,
            })
            .collect();
        let stack = self
            .finished
            .number(&self.modules.names[who.stack as usize]);
        self.finished.rows.push(FinishedRow {
            id: who.id,
            status,
            started: if status == Status::Refused {
                0.0
            } else {
                statistics.started
            },
            ended: time,
            distance: statistics.distance,
            stack,
            scores,
        });
        let mut travel = Travel {
            routes: self.routes,
            progress: &mut self.agents.progress[index],
            claim: &mut self.agents.claim[index],
        };
        travel.finish();
        // The agent's index will be reused, but not its id. The mail must be deleted because it is
        // keyed by index, unlike groups, which are keyed by id.
        self.messages.forget(agent);
        self.messages.quit_all(self.agents.identity[index].id);
        self.dynamics.remove(agent);
        self.agents.accounts.forget(self.agents.identity[index].id);
        self.agents.remove(agent);
    }
}

/// Borrowed parts of the world for computing scores.
#[derive(Clone, Copy)]
pub(crate) struct Scored<'a> {
    pub(crate) clock: &'a Clock,
    /// Ground of the agents' positions; `None` if they may refer to another ground. The remaining
    /// distance is then 0.
    pub(crate) ground: Option<&'a Ground>,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) modules: &'a Modules,
    pub(crate) agents: &'a Agents,
    pub(crate) dynamics: &'a Dynamics,
    pub(crate) routes: &'a Routes,
}

impl Scored<'_> {
    /// Scores of an agent's drive so far, by fitness function; empty if it has not driven.
    pub(crate) fn scores(self, agent: AgentIndex, status: Status) -> Vec<(&'static str, f64)> {
        let (clock, agents) = (self.clock, self.agents);
        let statistics = &agents.statistics[agent.index()];
        if statistics.steps == 0 {
            return Vec::new();
        }
        let who = &agents.identity[agent.index()];
        let step = Step {
            indices: &[agent.number()],
            ids: &[who.id],
            // A fitness function is evaluated once for a whole drive, so the period is arbitrary.
            ..clock.moment(Rate::new(1.0, clock.dt))
        };
        let mut input = fitness_input(statistics, clock.dt, status);
        let has_arrived = status == Status::Arrived;
        let (accounts, conduct) = (&agents.accounts, &mut input.conduct);
        accounts.tell(who.id, statistics, clock.dt, has_arrived, conduct);
        if self.modules.wanted_accounts() == WantedAccounts::Collisions && !has_arrived {
            conduct.goal_distance = self.goal_distance(agent);
        }
        let fitnesses = self.modules.fitnesses(who.modules).iter();
        fitnesses
            .map(|module| {
                let mut output = [FitnessOutput::default()];
                module.step(&step, &[input], &mut output);
                (module.info.id, output[0].score)
            })
            .collect()
    }

    fn goal_distance(self, agent: AgentIndex) -> f64 {
        let Some(ground) = self.ground else {
            return 0.0;
        };
        let inputs = GoalInputs {
            bodies: Bodies {
                ground,
                agents: self.agents.lent(),
                dynamics: self.dynamics,
            },
            types: self.types,
            routes: self.routes,
        };
        inputs.goal_distance(agent)
    }
}

fn fitness_input(statistics: &Statistics, dt: f64, status: Status) -> FitnessInput {
    let steps = f64::from(statistics.steps);
    let time = steps * dt;
    FitnessInput {
        crash_rating: f64::from(statistics.squared_penetration) / steps,
        mean_speed: statistics.distance / time,
        mean_road_speed: statistics.road_speed_sum / f64::from(statistics.samples.max(1)),
        distance: statistics.distance,
        time,
        mean_squared_acceleration: statistics.squared_acceleration / steps,
        mean_squared_jerk: statistics.squared_jerk / f64::from(statistics.samples.max(1)),
        mean_squared_lateral_acceleration: statistics.squared_lateral_acceleration / steps,
        conduct: conduct(statistics, dt, status),
    }
}

fn conduct(statistics: &Statistics, dt: f64, status: Status) -> Conduct {
    let samples = f64::from(statistics.samples.max(1));
    let mean = |sum: f32| f64::from(sum) / samples;
    Conduct {
        collision_exposure: mean(statistics.collision_exposure),
        tailgating: mean(statistics.tailgating),
        // 0 means that there was no encounter. This is the best value and not the worst.
        least_post_encroachment: match statistics.least_post_encroachment {
            least if least > 0.0 => f64::from(least),
            _ => NOTHING,
        },
        time_lost: mean(statistics.time_lost),
        speeding: mean(statistics.speeding),
        off_lane: f64::from(statistics.off_lane) / samples,
        uninvited: f64::from(statistics.uninvited) / samples,
        above_limit: f64::from(statistics.above_limit) / samples,
        overlap: f64::from(statistics.penetration) * dt,
        has_arrived: f64::from(u8::from(status == Status::Arrived)),
        ..Conduct::default()
    }
}
