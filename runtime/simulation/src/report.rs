//! What a world tells: snapshot, counts, summary, hash.

use crate::agents::Status;
use crate::hash::StateHasher;
use crate::snapshot::{Snapshot, VehicleRecord};
use crate::stages::behave::lane_of;
use crate::stages::retire::fitness;
use crate::summary::{AgentCounts, Statistic, Summary};
use crate::world::World;
use roadwright_geometry::Pose;

/// A hash over all state that is carried from step to step, in the order of ids; what modules keep
/// for themselves is not in it.
pub(crate) fn state_hash(world: &World) -> u64 {
    let mut hasher = StateHasher::new();
    hasher.add(&world.clock);
    for agent in world.agents.by_growing_id() {
        let mut row = world.agents.row(agent);
        // Where a route is stored does not matter, but what it is does; so with indices.
        let route = world.routes.hash_of(row.progress.route);
        row.progress.route = Default::default();
        hasher.add(&(row, route));
        world.dynamics.hash(row.identity.level, agent, &mut hasher);
    }
    for finished in &world.finished {
        hasher.add(finished);
    }
    hasher.add(&world.demand.departures);
    hasher.add(&(&world.traffic.contacts, &world.traffic.delays));
    hasher.add(&(world.agent_updates, world.replans));
    for flow in &world.demand.flows {
        hasher.add(flow.progress());
    }
    hasher.add(&world.demand.retired_flows);
    let id_of = |agent: u32| world.agents.identity[agent as usize].id;
    hasher.add(&world.traffic.claims.by_id(id_of));
    // Each receiver reads its mail in the order of sending; between receivers there is none.
    let mut mail: Vec<_> = world.messages.mail.iter().collect();
    mail.sort_by_key(|message| id_of(message.to));
    for message in mail {
        hasher.add(&(
            id_of(message.to),
            message.from,
            &message.topic,
            message.value,
        ));
    }
    hasher.add(&world.messages.log);
    hasher.finish()
}

/// The vehicles that drive now, in the order of their ids, at a share of the last step.
pub(crate) fn snapshot(world: &World, share: f64) -> Snapshot {
    let bodies = world.bodies();
    let record = |agent: u32| {
        let index = agent as usize;
        let who = &world.agents.identity[index];
        let motion = bodies.motion_at(agent, world.clock.dt, share);
        let position = &world.agents.position[index];
        let vehicle_type = world.types.get(who.vehicle_type);
        VehicleRecord {
            agent: who.id,
            pose: motion.pose,
            body: Pose {
                position: motion.pose.point(vehicle_type.body_centre, 0.0),
                heading: motion.pose.heading,
            },
            length: vehicle_type.length,
            width: vehicle_type.width,
            speed: motion.speed,
            steering: bodies.steering(agent, vehicle_type),
            acceleration: world.agents.command[index].acceleration,
            lane: lane_of(&world.ground, &world.agents, agent),
            s: position.s,
            t: position.t,
            status: Status::Active,
        }
    };
    Snapshot {
        time: world.time() - (1.0 - share) * world.clock.dt,
        step: world.clock.step,
        vehicles: world
            .agents
            .by_growing_id()
            .into_iter()
            .map(record)
            .collect(),
    }
}

/// How many agents are in which state.
pub(crate) fn counts(world: &World) -> AgentCounts {
    let count = |status| {
        let finished = world.finished.iter();
        finished.filter(|agent| agent.status == status).count()
    };
    let (arrived, active) = (count(Status::Arrived), world.agents.count());
    AgentCounts {
        spawned: arrived + active,
        arrived,
        active,
        refused: count(Status::Refused),
        waiting: world.demand.departures.len(),
    }
}

/// What came of the run so far.
pub(crate) fn summary(world: &World) -> Summary {
    let finished = &world.finished;
    let arrived = finished
        .iter()
        .filter(|agent| agent.status == Status::Arrived);
    let times: Vec<f64> = arrived.map(|agent| agent.ended - agent.started).collect();
    let driving = world.agents.by_growing_id();
    let scores = driving
        .iter()
        .filter_map(|&agent| fitness(&world.clock, &world.modules, &world.agents, agent));
    let scores: Vec<f64> = finished
        .iter()
        .filter_map(|agent| agent.fitness)
        .chain(scores)
        .collect();
    let distances = driving
        .iter()
        .map(|&agent| world.agents.statistics[agent as usize].distance);
    let distance: f64 = finished
        .iter()
        .map(|agent| agent.distance)
        .chain(distances)
        .sum();
    Summary {
        state_hash: format!("{:016x}", state_hash(world)),
        steps: world.clock.step,
        sim_seconds: world.time(),
        agents: counts(world),
        agent_updates: world.agent_updates,
        collisions: world.traffic.contacts.log.clone(),
        distance_driven: distance,
        replans: world.replans,
        travel_time: Statistic::of(&times),
        fitness: Statistic::of(&scores),
        modules: world.modules.records(),
        swaps: world.modules.swaps.clone(),
    }
}
