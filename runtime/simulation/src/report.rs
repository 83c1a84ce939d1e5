//! What a world tells: snapshot, counts, summary, hash.

use crate::agents::{Drive, Status, pedals_of};
use crate::dynamics::loose_record;
use crate::hash::StateHasher;
use crate::lamps;
use crate::open_ground::NoPath;
use crate::records::{AgentIndex, Phase};
use crate::snapshot::{Mishap, Snapshot, VehicleRecord};
use crate::stages::retire::scores;
use crate::stages::scene::lane_of;
use crate::summary::{
    AgentCounts, AgentWithoutPath, FitnessSummary, MishapCounts, StackSummary, Statistic, Summary,
};
use crate::world::World;
use roadwright_geometry::Pose;
use std::collections::{BTreeMap, BTreeSet};

/// A body that leans farther lies on its side, rad: 60 degrees.
const TIPPED: f64 = std::f64::consts::FRAC_PI_3;
/// Who has been standing for longer is stuck, s: no common signal is red for so long.
const STUCK: f64 = 120.0;

impl World {
    /// A hash over all state that is carried from step to step, for comparing runs. It does not
    /// depend on where agents are stored. What modules keep for themselves is not in it: it shows
    /// in what their agents do. O(agents ever seen).
    pub fn state_hash(&self) -> u64 {
        state_hash(self)
    }

    /// The vehicles that drive now, in the order of their ids.
    pub fn snapshot(&self) -> Snapshot {
        snapshot(self, 1.0)
    }

    /// The vehicles that drive now, in the order of their ids, where they were at a share of the
    /// last step: 0 at its start, 1 at its end. For pictures between steps; vehicles that have just
    /// appeared or arrived are not in their place.
    pub fn snapshot_within_step(&self, share: f64) -> Snapshot {
        snapshot(self, share.clamp(0.0, 1.0))
    }

    /// How many agents are in which state.
    pub fn counts(&self) -> AgentCounts {
        counts(self)
    }

    /// What came of the run so far. Fitness modules are asked about agents that still drive.
    pub fn summary(&self) -> Summary {
        summary(self)
    }

    /// The drive so far of an agent that drives. Its fitnesses are asked.
    pub fn drive_so_far(&self, id: u64) -> Option<Drive<'_>> {
        let agent = self.agents.census().find(id)?;
        Some(drive_so_far(self, agent))
    }

    /// The drives of all agents: of those that do not drive any more in the order in which they
    /// ended, then of those that drive in the order of their ids. Their fitnesses are asked.
    pub fn drives(&self) -> Vec<Drive<'_>> {
        drives(self)
    }
}

/// A hash over all state that is carried from step to step, in the order of ids; what modules keep
/// for themselves is not in it.
pub(crate) fn state_hash(world: &World) -> u64 {
    let mut hasher = StateHasher::new();
    hasher.add(&world.clock);
    // By ids, and without indices: two worlds that store their agents at other places are equal.
    for agent in world.agents.census().by_growing_id() {
        let mut row = world.agents.row(agent);
        // Where a route is stored does not matter, but what it is does; so with indices.
        let route = world.routes.hash_of(row.progress.route);
        row.progress.route = Default::default();
        hasher.add(&(row, route));
        world.dynamics.hash(row.identity.level, agent, &mut hasher);
        // Who drives by no pedals has the hash of one who could not.
        if let Some(pedals) = pedals_of(&world.agents.pedals, agent.index()) {
            hasher.add(&pedals);
        }
    }
    hasher.add(&world.finished);
    hasher.add(&world.demand.departures);
    hasher.add(&(&world.traffic.contacts, &world.traffic.delays));
    hasher.add(&world.traffic.encroachment);
    hasher.add(&world.traffic.signals.hashed());
    hasher.add(&(world.agent_updates, world.replans));
    for flow in &world.demand.flows {
        hasher.add(flow.progress());
    }
    hasher.add(&world.demand.retired_flows);
    let id_of = |agent: AgentIndex| world.agents.identity[agent.index()].id;
    hasher.add(&world.traffic.claims.hashed(id_of));
    // Each receiver reads its mail in the order of sending; between receivers there is none.
    let mut mail: Vec<_> = world.messages.mail.iter().collect();
    mail.sort_by_key(|message| id_of(message.to.into()));
    for message in mail {
        hasher.add(&(id_of(message.to.into()), message.from, &message.letter));
    }
    hasher.add(&world.messages.log);
    hasher.add(&*world.messages.groups);
    hasher.add(&(world.messages.told_collisions, world.demand.spawned));
    // A run in which nobody goes on foot has the hash of one in which nobody could.
    if !world.traffic.people.is_untouched() {
        hasher.add(&world.traffic.people);
    }
    // A run whose fitnesses want no accounts has the hash of one in which none could.
    if !world.agents.accounts.is_empty() {
        hasher.add(&world.agents.accounts);
    }
    // The same where nobody drives by hand.
    if !world.hands.is_empty() {
        hasher.add(&world.hands);
    }
    // The same of what nobody has pushed.
    if let Some(loose) = world.dynamics.rigid.hashed_loose() {
        hasher.add(loose);
    }
    // And of trailers.
    if !world.dynamics.standing.is_untouched() {
        hasher.add(&world.dynamics.standing);
    }
    // And of plans off the lanes.
    if !world.ground_plans.is_empty() {
        hasher.add(world.ground_plans.saved());
    }
    // And of edits that wait.
    if let Some(edit) = &world.waiting {
        hasher.add(&(edit.since, edit.is_closed, world.traffic.claims.changing()));
    }
    hasher.finish()
}

/// The vehicles that drive now, in the order of their ids, at a share of the last step.
pub(crate) fn snapshot(world: &World, share: f64) -> Snapshot {
    let bodies = world.bodies();
    let record = |agent: AgentIndex| {
        let index = agent.index();
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
            has_tracks: vehicle_type.has_tracks,
            speed: motion.speed,
            steering: bodies.steering(agent, vehicle_type),
            acceleration: world.agents.command[index].acceleration,
            lane: lane_of(&world.ground, world.agents.lent(), agent),
            s: position.s,
            t: position.t,
            indicator: lamps::indicator(world, agent),
            brakes: lamps::brakes(&motion, world.agents.command[index].acceleration),
            status: Status::Active,
            attitude: world.dynamics.rigid.attitude(agent),
            mishap: mishap(world, agent),
        }
    };
    let driving = world.agents.census().by_growing_id();
    let mechanics = |&agent: &AgentIndex| bodies.mechanics(agent, &world.types);
    Snapshot {
        time: world.time() - (1.0 - share) * world.clock.dt,
        step: world.clock.step,
        mechanics: driving.iter().filter_map(mechanics).collect(),
        trailers: driving
            .iter()
            .flat_map(|&agent| {
                let pose = bodies.motion_at(agent, world.clock.dt, share).pose;
                bodies.trailers(agent, pose, &world.types)
            })
            .collect(),
        standing: world.dynamics.standing.records(&world.types),
        vehicles: driving.into_iter().map(record).collect(),
        people: world.traffic.people.records(&world.ground),
        loose: world
            .dynamics
            .rigid
            .pushed(&world.ground)
            .into_iter()
            .map(|(kind, state)| loose_record(kind, &state))
            .collect(),
    }
}

/// How many agents are in which state.
pub(crate) fn counts(world: &World) -> AgentCounts {
    let finished = world.finished.rows.iter();
    let count = |status| {
        let of_status = finished.clone().filter(|agent| agent.status == status);
        of_status.count()
    };
    let (arrived, active) = (count(Status::Arrived), world.agents.census().count());
    let removed = removed(world);
    AgentCounts {
        spawned: arrived + active + removed,
        arrived,
        active,
        removed,
        refused: count(Status::Refused),
        waiting: world.demand.departures.len(),
        queued: world.demand.departures.queued(),
    }
}

/// How many were taken off the road while they drove, and have not set out again. O(finished + waiting).
fn removed(world: &World) -> usize {
    let mut removed = BTreeSet::new();
    for agent in &world.finished.rows {
        // Others were taken out while they waited.
        if agent.status == Status::Removed && agent.distance > 0.0 {
            removed.insert(agent.id);
        } else {
            removed.remove(&agent.id);
        }
    }
    if removed.is_empty() {
        return 0;
    }
    for departure in world.demand.departures.iter() {
        removed.remove(&departure.id);
    }
    removed.retain(|&id| world.agents.census().find(id).is_none());
    removed.len()
}

/// The drives of all agents, of those that drive so far.
pub(crate) fn drives(world: &World) -> Vec<Drive<'_>> {
    // Those that ended come in the order in which they did, the others by id: lists that grow as the
    // run goes on, and are the same in every run.
    let driving = world.agents.census().by_growing_id();
    let so_far = driving.into_iter().map(|agent| drive_so_far(world, agent));
    world.finished.iter().chain(so_far).collect()
}

/// The drive of an agent that is under way.
pub(crate) fn drive_so_far(world: &World, agent: AgentIndex) -> Drive<'_> {
    let index = agent.index();
    let (who, statistics) = (
        &world.agents.identity[index],
        &world.agents.statistics[index],
    );
    Drive {
        id: who.id,
        status: Status::Active,
        stack: &world.modules.names[who.stack as usize],
        started: statistics.started,
        ended: world.time(),
        distance: statistics.distance,
        scores: scores(
            &world.clock,
            &world.modules,
            &world.agents,
            agent,
            Status::Active,
        ),
    }
}

/// Why a vehicle that drives now gets no farther.
fn mishap(world: &World, agent: AgentIndex) -> Mishap {
    let index = agent.index();
    let rigid = &world.dynamics.rigid;
    let mut bodies = rigid.car(agent).into_iter().chain(rigid.towed(agent));
    let is_on_its_way = world.agents.identity[index].phase == Phase::Driving;
    Mishap {
        tipped_over: bodies.any(|body| body.tilt() > TIPPED),
        stuck: is_on_its_way && world.agents.progress[index].standing >= STUCK,
    }
}

/// Vehicles that get no farther, among those that drive now.
fn mishaps(world: &World) -> MishapCounts {
    let mut counts = MishapCounts::default();
    for agent in world.agents.census().driving() {
        let mishap = mishap(world, agent);
        counts.tipped_over += usize::from(mishap.tipped_over);
        counts.stuck += usize::from(mishap.stuck);
    }
    counts
}

/// What came of the run so far.
pub(crate) fn summary(world: &World) -> Summary {
    let mut trips = Trips::default();
    let mut stacks: BTreeMap<&str, Trips> = BTreeMap::new();
    let drives = drives(world);
    for drive in &drives {
        // Who never drove says nothing about driving.
        let has_driven = matches!(drive.status, Status::Arrived | Status::Active);
        if has_driven || drive.distance > 0.0 {
            trips.add(drive);
            stacks.entry(drive.stack).or_default().add(drive);
        }
    }
    Summary {
        state_hash: format!("{:016x}", state_hash(world)),
        steps: world.clock.step,
        sim_seconds: world.time(),
        agents: counts(world),
        population: world.demand.population,
        agent_updates: world.agent_updates,
        collisions: world.traffic.contacts.log.clone(),
        // From 0.0: the sum of no numbers is -0.0.
        distance_driven: trips.distances.iter().fold(0.0, |sum, way| sum + way),
        replans: world.replans,
        law: world.traffic.claims.counts(),
        people: world.traffic.people.summary(),
        loose: world.dynamics.rigid.counts(&world.ground),
        mishaps: mishaps(world),
        no_path: without_path(world),
        travel_time: Statistic::of(&trips.times),
        stacks: stacks
            .into_iter()
            .map(|(stack, trips)| trips.summary(stack))
            .collect(),
        modules: world.modules.records(),
        swaps: world.modules.swaps.clone(),
        started_fresh: world.modules.fresh.clone(),
    }
}

fn without_path(world: &World) -> Vec<AgentWithoutPath> {
    let waiting = world.ground_plans.without_path();
    let record = |(agent, why): (u64, &NoPath)| AgentWithoutPath {
        agent,
        reason: why.kind.name(),
        text: why.text.clone(),
        gap: why.gap.map(|gap| gap.width),
        at: why.gap.map(|gap| gap.at.to_array()),
        needed: why.gap.map(|gap| gap.needed),
    };
    waiting.map(record).collect()
}

/// Trips of several agents.
#[derive(Default)]
struct Trips<'a> {
    /// Of those who arrived, s.
    times: Vec<f64>,
    /// m.
    distances: Vec<f64>,
    scores: BTreeMap<&'a str, Vec<f64>>,
}

impl<'a> Trips<'a> {
    fn add(&mut self, drive: &Drive<'a>) {
        if drive.status == Status::Arrived {
            self.times.push(drive.ended - drive.started);
        }
        self.distances.push(drive.distance);
        for &(fitness, score) in &drive.scores {
            self.scores.entry(fitness).or_default().push(score);
        }
    }

    fn summary(&self, stack: &str) -> StackSummary {
        let scores = self.scores.iter();
        StackSummary {
            stack: stack.into(),
            spawned: self.distances.len(),
            arrived: self.times.len(),
            travel_time: Statistic::of(&self.times),
            distance: Statistic::of(&self.distances),
            fitness: scores
                .map(|(module, values)| FitnessSummary {
                    module: (*module).into(),
                    score: Statistic::of(values),
                })
                .collect(),
        }
    }
}
