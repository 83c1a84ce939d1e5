//! What a world tells: hash, snapshot, counts, summary.

use super::World;
use crate::mover::{Mover, Status};
use crate::snapshot::{Snapshot, VehicleRecord};
use crate::summary::{AgentCounts, ModuleRecord, Statistic, Summary};
use roadwright_agent::{Rate, Slot, Step};
use roadwright_geometry::Pose;
use roadwright_plugin_api::{FitnessInput, FitnessOutput};
use roadwright_scenario::RoadId;
use roadwright_scenario::lane_graph::LaneletKind;
use std::hash::Hasher;

impl World {
    /// A hash over the state of all agents, for comparing runs.
    pub fn state_hash(&self) -> u64 {
        let mut hasher = twox_hash::XxHash3_64::with_seed(0);
        hasher.write_u64(self.step);
        for mover in &self.movers {
            mover.hash(&mut hasher);
        }
        hasher.write_usize(self.contacts.log.len());
        hasher.finish()
    }

    /// Road and lane that an agent follows; none in junctions and on open ground.
    pub(super) fn lane_of(&self, mover: &Mover) -> Option<(RoadId, i8)> {
        if !mover.on_lane() {
            return None;
        }
        match self.roads.lanelet(mover.lanelet).kind {
            LaneletKind::Lane { road, lane, .. } => Some((road, lane)),
            LaneletKind::Connection { .. } => None,
        }
    }

    /// The vehicles that drive now.
    pub fn snapshot(&self) -> Snapshot {
        let record = |mover: &Mover| {
            let kind = &self.kinds[mover.kind as usize];
            let pose = mover.state.pose;
            VehicleRecord {
                agent: mover.id,
                pose,
                body: Pose {
                    position: pose.point(kind.body_centre, 0.0),
                    heading: pose.heading,
                },
                length: kind.length,
                width: kind.width,
                speed: mover.state.speed,
                steering: mover.state.steering,
                acceleration: mover.command.acceleration,
                lane: self.lane_of(mover),
                s: mover.s,
                t: mover.t,
                status: mover.status,
            }
        };
        Snapshot {
            time: self.time(),
            step: self.step,
            vehicles: self
                .movers
                .iter()
                .filter(|m| m.is_active())
                .map(record)
                .collect(),
        }
    }

    /// The collisions so far, in order.
    pub fn collisions(&self) -> &[crate::collisions::Collision] {
        &self.contacts.log
    }

    /// How many agents are in which state.
    pub fn counts(&self) -> AgentCounts {
        let count = |status| self.movers.iter().filter(|m| m.status == status).count();
        let (arrived, active) = (count(Status::Arrived), count(Status::Active));
        AgentCounts {
            spawned: arrived + active,
            arrived,
            active,
            refused: count(Status::Refused),
            waiting: count(Status::Waiting),
        }
    }

    /// The modules from outside that are in use, with their builds.
    pub fn modules(&self) -> Vec<ModuleRecord> {
        self.banks.records()
    }

    /// What came of the run so far.
    pub fn summary(&self) -> Summary {
        let arrived = self.movers.iter().filter(|m| m.status == Status::Arrived);
        let times: Vec<f64> = arrived.map(|m| m.drive.ended - m.drive.started).collect();
        Summary {
            state_hash: format!("{:016x}", self.state_hash()),
            steps: self.step,
            sim_seconds: self.time(),
            agents: self.counts(),
            agent_updates: self.agent_updates,
            collisions: self.contacts.log.clone(),
            distance_driven: self.movers.iter().map(|m| m.drive.distance).sum(),
            replans: self.replans,
            travel_time: Statistic::of(&times),
            fitness: Statistic::of(&self.fitness()),
            modules: self.modules(),
            swaps: self.swaps.clone(),
        }
    }

    /// Fitness of every agent that has driven, by the fitness module of its stack.
    fn fitness(&self) -> Vec<f64> {
        let drove = self.movers.iter().enumerate();
        drove
            .filter(|(_, mover)| mover.drive.steps > 0)
            .map(|(index, mover)| {
                let drive = &mover.drive;
                let steps = drive.steps as f64;
                let time = steps * self.dt;
                let input = FitnessInput {
                    crash_rating: drive.squared_penetration / steps,
                    mean_speed: drive.distance / time,
                    mean_road_speed: drive.road_speed_sum / drive.samples.max(1) as f64,
                    distance: drive.distance,
                    time,
                    mean_squared_acceleration: drive.squared_acceleration / steps,
                    mean_squared_jerk: drive.squared_jerk / steps,
                    mean_squared_lateral_acceleration: drive.squared_lateral_acceleration / steps,
                };
                let mut output = [FitnessOutput::default()];
                let step = Step {
                    indices: &[index as u32],
                    ids: &[mover.id],
                    ..self.step_of(Rate::new(1.0, self.dt))
                };
                let fitness = mover.modules[Slot::Fitness as usize] as usize;
                let fitness = &self.banks.fitnesses.running[fitness];
                fitness.module.step(&step, &[input], &mut output);
                output[0].score
            })
            .collect()
    }
}
