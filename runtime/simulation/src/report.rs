//! Reports of a world's state: snapshot, counts, summary and hash.

use crate::agents::{Drive, Status, pedals_of};
use crate::dynamics::loose_record;
use crate::hash::StateHasher;
use crate::lamps;
use crate::open_ground::NoPath;
use crate::records::{AgentIndex, Phase, keeps_to_lanes};
use crate::snapshot::{CharacterRecord, Mishap, Snapshot, VehicleRecord};
use crate::stages::retire::Scored;
use crate::stages::scene::lane_of;
use crate::summary::{
    AgentCounts, AgentWithoutPath, FitnessSummary, MishapCounts, StackSummary, Statistic, Summary,
};
use crate::world::World;
use roadwright_geometry::Pose;
use std::collections::{BTreeMap, BTreeSet};

/// Lean angle above which a body counts as tipped over, rad: 60 degrees.
const TIPPED: f64 = std::f64::consts::FRAC_PI_3;
/// A stationary vehicle counts as stuck after this time, s. It is longer than the red phase of any
/// common signal.
const STUCK: f64 = 120.0;

impl World {
    /// Hash of all state that persists from step to step, for comparing runs. It does not depend on
    /// agent indices. The internal state of modules is not included, but it affects the hash
    /// through the motion of their agents. O(agents ever seen).
    pub fn state_hash(&self) -> u64 {
        state_hash(self)
    }

    /// Snapshot of the world. It contains the driving vehicles in the order of their ids.
    pub fn snapshot(&self) -> Snapshot {
        snapshot(self, 1.0)
    }

    /// Snapshot of the world at a fraction of the last step: 0 is its start and 1 its end. Only
    /// suitable for rendering between steps, because vehicles that have just spawned or arrived are
    /// misplaced.
    pub fn snapshot_within_step(&self, share: f64) -> Snapshot {
        snapshot(self, share.clamp(0.0, 1.0))
    }

    /// Number of agents in each state.
    pub fn counts(&self) -> AgentCounts {
        counts(self)
    }

    /// Results of the run so far. Calls the fitness modules of agents that still drive.
    pub fn summary(&self) -> Summary {
        summary(self)
    }

    /// The unfinished drive of a driving agent. Calls its fitness functions.
    pub fn drive_so_far(&self, id: u64) -> Option<Drive<'_>> {
        let agent = self.agents.census().find(id)?;
        Some(drive_so_far(self, agent))
    }

    /// Returns the drives of all agents: finished drives in the order in which they ended, then
    /// those of driving agents in the order of ids. Calls the fitness functions of the driving
    /// agents.
    pub fn drives(&self) -> Vec<Drive<'_>> {
        drives(self)
    }
}

/// Hash of all state that persists from step to step, in the order of agent ids. The internal state
/// of modules is not included.
pub(crate) fn state_hash(world: &World) -> u64 {
    let mut hasher = StateHasher::new();
    hasher.add(&world.clock);
    // Hashed by id and without indices, so that two worlds that differ only in agent indices have equal
    // hashes.
    for agent in world.agents.census().by_growing_id() {
        let mut row = world.agents.row(agent);
        // The hash covers the content of a route and not its index in the store. The same applies
        // to other indices.
        let route = world.routes.hash_of(row.progress.route);
        row.progress.route = Default::default();
        hasher.add(&(row, route));
        world.dynamics.hash(row.identity.level, agent, &mut hasher);
        // Without pedals, nothing is added, so that the hash equals that of versions without pedals.
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
    // Each receiver reads its mail in the order of sending, but the order between receivers does not matter.
    let mut mail: Vec<_> = world.messages.mail.iter().collect();
    mail.sort_by_key(|message| id_of(message.to.into()));
    for message in mail {
        hasher.add(&(id_of(message.to.into()), message.from, &message.letter));
    }
    hasher.add(&world.messages.log);
    hasher.add(&*world.messages.groups);
    hasher.add(&(world.messages.told_collisions, world.demand.spawned));
    // Without pedestrians, nothing is added, so that the hash equals that of versions without pedestrians.
    if !world.traffic.people.is_untouched() {
        hasher.add(&world.traffic.people);
    }
    // Without per-agent statistics for fitness functions, nothing is added either.
    if !world.agents.accounts.is_empty() {
        hasher.add(&world.agents.accounts);
    }
    // The same holds for manual control.
    if !world.hands.is_empty() {
        hasher.add(&world.hands);
        let full_locks = world.hands.full_locks();
        // The same holds for full steering locks.
        if !full_locks.is_empty() {
            hasher.add(&full_locks);
        }
    }
    // The same holds for obstacles that have not been pushed.
    if let Some(loose) = world.dynamics.rigid.hashed_loose() {
        hasher.add(loose);
    }
    // The same holds for uncoupled trailers.
    if !world.dynamics.standing.is_untouched() {
        hasher.add(&world.dynamics.standing);
    }
    // The same holds for plans off the lanes.
    if !world.ground_plans.is_empty() {
        hasher.add(world.ground_plans.saved());
        // The same holds for searches for drivable paths.
        let drives = world.ground_plans.saved_drives();
        if !drives.is_empty() {
            hasher.add(&drives);
        }
        // The same holds for searches of modules.
        let searches = world.ground_plans.saved_module_searches();
        if !searches.is_empty() {
            hasher.add(&searches);
        }
        // The same holds for characters.
        let walks = world.ground_plans.saved_walks();
        if !walks.is_empty() {
            hasher.add(&walks);
        }
        // The same holds for searches from goals.
        let costs = world.ground_plans.saved_costs();
        if !costs.is_empty() {
            hasher.add(&costs);
        }
    }
    // The same holds for move trees.
    if !world.move_trees.is_empty() {
        hasher.add(world.move_trees.saved());
    }
    // The same holds for waiting edits.
    if let Some(edit) = &world.waiting {
        hasher.add(&(
            edit.since,
            edit.is_closed,
            world.traffic.claims.closing.changing(),
        ));
    }
    hasher.finish()
}

/// Snapshot of the world at a fraction of the last step. It contains the driving vehicles in the
/// order of their ids.
pub(crate) fn snapshot(world: &World, share: f64) -> Snapshot {
    let bodies = world.bodies();
    let record = |agent: AgentIndex| {
        let index = agent.index();
        let who = &world.agents.identity[index];
        let motion = bodies.motion_at(agent, world.clock.dt, share);
        let position = &world.agents.position[index];
        let vehicle_type = world.types.get(who.vehicle_type);
        let slip = bodies.recorded_slip(agent, vehicle_type);
        let is_reversing = is_reversing(world, agent);
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
            body_kind: world.types.body(who.vehicle_type),
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
            sideways: slip.sideways,
            yaw_rate: slip.yaw_rate,
            pedals: pedals_of(&world.agents.pedals, index).map(|held| held.pedals),
            steering_command: is_reversing.map(|is_reversing| {
                let asked = world.agents.command[index].steering;
                // Controllers see a reversing vehicle as turned around.
                if is_reversing { -asked } else { asked }
            }),
            is_reversing,
        }
    };
    let driving = world.agents.census().by_growing_id();
    let mechanics = |&agent: &AgentIndex| bodies.mechanics(agent, &world.types);
    Snapshot {
        time: world.time() - (1.0 - share) * world.clock.dt,
        step: world.clock.step,
        mechanics: driving.iter().filter_map(mechanics).collect(),
        characters: driving
            .iter()
            .filter_map(|&agent| {
                let figure = bodies.figure(agent, &world.types)?;
                let agent = world.agents.identity[agent.index()].id;
                Some(CharacterRecord { agent, figure })
            })
            .collect(),
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
        people_figures: world.traffic.people.figures(&world.ground, &world.clock),
        loose: world
            .dynamics
            .rigid
            .pushed(&world.ground)
            .into_iter()
            .map(|(kind, state)| loose_record(kind, &state))
            .collect(),
    }
}

/// Whether an agent intends to drive in reverse; `None` on levels that keep to lanes.
fn is_reversing(world: &World, agent: AgentIndex) -> Option<bool> {
    let index = agent.index();
    let who = &world.agents.identity[index];
    if keeps_to_lanes(who.level) {
        return None;
    }
    let by_hand = world.hands.reverses(who.id);
    Some(by_hand.unwrap_or_else(|| {
        let progress = &world.agents.progress[index];
        let route = world.routes.get(progress.route);
        !world.agents.position[index].is_on_lane() && route.is_reversing(progress.reached)
    }))
}

/// Number of agents in each state.
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

/// Number of agents that were removed while driving and will not depart again. O(finished +
/// waiting).
fn removed(world: &World) -> usize {
    let mut removed = BTreeSet::new();
    for agent in &world.finished.rows {
        // The other removed agents never drove.
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

/// Drives of all agents, including unfinished ones.
pub(crate) fn drives(world: &World) -> Vec<Drive<'_>> {
    // Finished drives are in the order in which they ended, and the others in the order of ids, so
    // that both lists are the same in every run.
    let driving = world.agents.census().by_growing_id();
    let so_far = driving.into_iter().map(|agent| drive_so_far(world, agent));
    world.finished.iter().chain(so_far).collect()
}

/// The unfinished drive of a driving agent.
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
        scores: Scored {
            clock: &world.clock,
            ground: Some(&world.ground),
            types: &world.types,
            modules: &world.modules,
            agents: &world.agents,
            dynamics: &world.dynamics,
            routes: &world.routes,
        }
        .scores(agent, Status::Active),
    }
}

/// Reasons why a driving vehicle cannot continue.
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

/// Counts the driving vehicles that cannot continue.
fn mishaps(world: &World) -> MishapCounts {
    let mut counts = MishapCounts::default();
    for agent in world.agents.census().driving() {
        let mishap = mishap(world, agent);
        counts.tipped_over += usize::from(mishap.tipped_over);
        counts.stuck += usize::from(mishap.stuck);
    }
    counts
}

/// Results of the run so far.
pub(crate) fn summary(world: &World) -> Summary {
    let mut trips = Trips::default();
    let mut stacks: BTreeMap<&str, Trips> = BTreeMap::new();
    let drives = drives(world);
    for drive in &drives {
        // Agents that never drove do not contribute to the results.
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
        // The fold starts from 0.0, because the sum of an empty list would be -0.0.
        distance_driven: trips
            .distances
            .iter()
            .fold(0.0, |sum, distance| sum + distance),
        replans: world.replans,
        law: world.traffic.claims.counts(),
        people: world.traffic.people.summary(),
        loose: world.dynamics.rigid.counts(&world.ground),
        mishaps: mishaps(world),
        standing: world.standing_counts.list(),
        no_path: without_path(world),
        move_trees: world.move_trees.records(),
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

/// Travel times and distances of several agents.
#[derive(Default)]
struct Trips<'a> {
    /// Travel times of agents that arrived, s.
    times: Vec<f64>,
    /// Distances driven, m.
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
