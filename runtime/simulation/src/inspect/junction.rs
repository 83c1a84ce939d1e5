//! Inspection of one junction: queues, grants, waiting vehicles and signals.

use crate::records::AgentIndex;
use crate::traffic::{LaneEntry, Shown, StagePhase, Ticket, Waits};
use crate::world::World;
use roadwright_ground::Ground;
use roadwright_scenario::junction::{Between, LaneEnd, Light, Programme, Turn};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind};
use roadwright_scenario::{
    Connection, ConnectionIndex, Control, JunctionIndex, NodeId, RoadEnd, SignalMode,
};

/// Speed below which a vehicle counts as stationary, m/s.
const STANDING: f64 = 0.5;

/// State of a junction for inspection.
#[derive(Debug, Clone, PartialEq)]
pub struct JunctionInspection {
    /// Smallest node id of the junction.
    pub node: NodeId,
    /// Type of control, which determines the order in which vehicles enter.
    pub control: Control,
    /// State of the junction's signals, if it has signal control.
    pub programme: Option<ProgrammeInspection>,
    /// Connections of the junction, by number.
    pub turns: Vec<Turning>,
    /// Incoming lanes of the junction, by road and lane.
    pub approaches: Vec<ApproachLane>,
    /// Grants of the junction, ordered by ticket.
    pub tickets: Vec<Ticket>,
    /// Agents that wait before or in the junction, by id.
    pub waits: Vec<Waiting>,
    /// Whether the junction is closed because an edit waits until it is empty.
    pub closes: bool,
}

/// State of the signals of a junction at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgrammeInspection {
    /// Whether the stages have fixed durations or are actuated.
    pub mode: SignalMode,
    /// Number of stages.
    pub stages: usize,
    /// Current stage, from 0.
    pub stage: usize,
    /// Next stage. For actuated signals, it is unknown until the green has ended.
    pub next: Option<usize>,
    /// Current phase of the stage.
    pub phase: StagePhase,
    /// Whether the signals are closing before a restart, because an edit has changed them.
    pub is_closing: bool,
    /// Time since the phase began, s.
    pub elapsed: f64,
    /// Time until the phase ends, s; for actuated signals, the longest possible time. `None` for an
    /// actuated green while no vehicle waits for another stage.
    pub remaining: Option<f64>,
    /// Time since the first stage of the cycle began, s. `None` if times are not fixed.
    pub within_cycle: Option<f64>,
}

/// A connection of a junction with its current state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turning {
    /// Lane at the start of the connection.
    pub from: LaneEnd,
    /// Lane that the connection leads to.
    pub to: LaneEnd,
    /// Direction of the connection's turn.
    pub turn: Turn,
    /// State of the connection's signal, if the junction has signal control.
    pub light: Option<Light>,
    /// Whether a vehicle could enter the connection now: its signal is green or absent, no admitted
    /// vehicle blocks it, and no approaching vehicle has priority.
    pub goes: bool,
}

/// An incoming lane of a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct ApproachLane {
    /// The lane, and the end of the road where it enters the junction.
    pub lane: LaneEnd,
    /// Most permissive light of the lane's connections, if the junction has signal control.
    pub light: Option<Light>,
    /// Whether a vehicle could enter any of the lane's connections now.
    pub goes: bool,
    /// Number of vehicles on the lane.
    pub vehicles: usize,
    /// Number of stationary vehicles.
    pub queue: usize,
    /// Distance from the stop line to the rear of the last stationary vehicle, m; 0 if there is
    /// none.
    pub queue_length: f64,
    /// The foremost vehicle; `None` if the lane is empty.
    pub head: Option<HeadVehicle>,
}

/// The foremost vehicle on an incoming lane.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadVehicle {
    /// Id of the agent.
    pub agent: u64,
    /// Distance from the vehicle's front to the stop line, m; negative beyond it.
    pub distance: f64,
    /// Speed, m/s.
    pub speed: f64,
    /// Reason why the vehicle waits; `None` if it does not have to wait or is still too far away.
    pub waits: Option<Waits>,
}

/// An agent that waits at the junction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Id of the agent.
    pub agent: u64,
    /// Reason why the vehicle waits.
    pub waits: Waits,
}

/// Returns the state of the junction at a node for inspection; `None` if there is no junction.
pub(crate) fn inspect(world: &World, node: NodeId) -> Option<JunctionInspection> {
    let ground = &**world.ground();
    let junction = ground.junction_of(node)?;
    let turns = turns(world, junction);
    let mut ends: Vec<LaneEnd> = turns.iter().map(|turning| turning.from).collect();
    ends.sort_unstable();
    ends.dedup();
    // Vehicles that hold a grant may have left the approach lanes, and approaching vehicles may not
    // have one yet, so both are collected.
    let mut agents: Vec<AgentIndex> = world.traffic.claims.grants.holders(junction).collect();
    let mut approaches = Vec::with_capacity(ends.len());
    for end in ends {
        let pieces = pieces_before(ground.graph(), end);
        let on = pieces
            .iter()
            .flat_map(|&piece| world.traffic.index.on_lanelet(piece));
        agents.extend(on.map(|entry| entry.agent));
        approaches.push(approach(world, end, &pieces, &turns));
    }
    let (claims, setting) = (&world.traffic.claims, world.setting());
    Some(JunctionInspection {
        node: ground.node(junction)?,
        control: ground.control(junction),
        programme: programme(world, junction),
        tickets: claims
            .grants
            .tickets_of(junction, setting, world.agents.lent()),
        waits: waiting(world, junction, agents),
        closes: world.traffic.claims.closing.changing().contains(&junction),
        approaches,
        turns,
    })
}

/// Connections of a junction, and whether vehicles could enter them.
fn turns(world: &World, junction: JunctionIndex) -> Vec<Turning> {
    let ground = &**world.ground();
    let has_signals = ground.signals(junction).is_some();
    let turning = |(number, path): (
        ConnectionIndex,
        &roadwright_scenario::junction::ConnectingPath,
    )| Turning {
        from: path.from,
        to: path.to,
        turn: path.turn,
        light: has_signals.then(|| {
            world
                .traffic
                .signals
                .light(ground, Connection::new(junction, number))
        }),
        goes: goes(world, Connection::new(junction, number)),
    };
    let paths = ground.paths(junction);
    let numbered = ConnectionIndex::up_to(paths.len()).zip(paths);
    numbered.map(turning).collect()
}

/// Whether a vehicle could enter a connection now.
pub(super) fn goes(world: &World, path: Connection) -> bool {
    let (claims, setting) = (&world.traffic.claims, world.setting());
    claims.is_free(path, setting, world.agents.lent())
}

/// Returns the lanelets of the lane that ends at the given road end, from the last to the first.
fn pieces_before(graph: &LaneGraph, end: LaneEnd) -> Vec<LaneletIndex> {
    let mut lanes = graph.lanes_of(end.road);
    let pieces = lanes
        .find(|(lane, _)| *lane == end.lane)
        .map(|(_, pieces)| pieces);
    let last = pieces.and_then(|pieces| match end.end {
        RoadEnd::Start => pieces.first(),
        RoadEnd::End => pieces.last(),
    });
    let before = |&id: &LaneletIndex| {
        let mut before = graph.predecessors(id).iter();
        let same = before.find(|&&other| graph.lanelet(other).road() == Some(end.road));
        same.copied()
    };
    std::iter::successors(last.copied(), before).collect()
}

fn approach(
    world: &World,
    lane: LaneEnd,
    pieces: &[LaneletIndex],
    turns: &[Turning],
) -> ApproachLane {
    let own = || turns.iter().filter(|turning| turning.from == lane);
    let mut found = ApproachLane {
        lane,
        light: own().filter_map(|turning| turning.light).max(),
        goes: own().any(|turning| turning.goes),
        vehicles: 0,
        queue: 0,
        queue_length: 0.0,
        head: None,
    };
    // Distance from the start of a piece to the stop line, m.
    let mut to_line = 0.0;
    for &piece in pieces {
        to_line += world.ground().length(piece);
        for entry in foremost_first(world, piece) {
            let index = entry.agent.index();
            let who = &world.agents.identity[index];
            let body = world.types.get(who.vehicle_type);
            let speed = world.agents.motion[index].speed;
            found.vehicles += 1;
            if speed.abs() < STANDING {
                found.queue += 1;
                // Vehicles are visited from front to back, so the last standing vehicle sets the
                // final value.
                found.queue_length = to_line - entry.s + body.rear_overhang;
            }
            if found.head.is_none() {
                found.head = Some(HeadVehicle {
                    agent: who.id,
                    distance: to_line - entry.s - body.front,
                    speed,
                    waits: world.waits_of(entry.agent),
                });
            }
        }
    }
    found
}

/// Vehicles that follow a lanelet, from front to back. A vehicle that is changing lanes is only listed on its
/// new lane.
pub(super) fn foremost_first(world: &World, id: LaneletIndex) -> impl Iterator<Item = &LaneEntry> {
    let entries = world.traffic.index.on_lanelet(id).iter().rev();
    entries.filter(move |entry| world.agents.position[entry.agent.index()].lanelet == id)
}

/// The agents that wait for a junction, by id.
fn waiting(world: &World, junction: JunctionIndex, agents: Vec<AgentIndex>) -> Vec<Waiting> {
    let node = world.ground().node(junction);
    let waits = agents.into_iter().filter_map(|agent| {
        let waits = world.waits_of(agent)?;
        let agent = world.agents.identity[agent.index()].id;
        (Some(waits.node) == node).then_some(Waiting { agent, waits })
    });
    let mut all: Vec<Waiting> = waits.collect();
    all.sort_unstable_by_key(|waiting| waiting.agent);
    all.dedup_by_key(|waiting| waiting.agent);
    all
}

fn programme(world: &World, junction: JunctionIndex) -> Option<ProgrammeInspection> {
    let ground: &Ground = world.ground();
    let (_, signals) = ground.signals(junction)?;
    let programme = &signals.programme;
    let time = world.time();
    let shown = world.traffic.signals.shown(ground, junction, time)?;
    let is_by_clock = !shown.is_closing && !shown.is_off_clock;
    let is_fixed = programme.mode == SignalMode::Fixed && is_by_clock;
    let (elapsed, remaining) = if is_fixed {
        let (elapsed, remaining) = by_the_clock(programme, time);
        (elapsed, Some(remaining))
    } else {
        (time - shown.since, by_demand(programme, &shown, time))
    };
    let is_known = is_fixed || (shown.phase != StagePhase::Green && !shown.is_closing);
    Some(ProgrammeInspection {
        mode: programme.mode,
        stages: programme.stages.len(),
        stage: shown.stage,
        next: is_known.then_some(shown.next),
        phase: shown.phase,
        is_closing: shown.is_closing,
        elapsed,
        remaining,
        within_cycle: is_fixed.then(|| (time - programme.offset).rem_euclid(programme.cycle())),
    })
}

/// Returns the elapsed and the remaining time of the current phase of a fixed-time programme, s.
fn by_the_clock(programme: &Programme, time: f64) -> (f64, f64) {
    let (stage, within) = programme.stage_at(time);
    let green = programme.stages[stage].green;
    let intergreen = programme.intergreen(stage, programme.next(stage));
    let (amber, end) = (green + intergreen.amber, programme.duration(stage));
    let (from, to) = match programme.between(stage, within) {
        None => (0.0, green),
        Some(Between::Amber) => (green, amber),
        Some(Between::AllRed) => (amber, end - intergreen.red_amber),
        Some(Between::RedAmber) => (end - intergreen.red_amber, end),
    };
    (within - from, to - within)
}

/// Longest time until the phase of an actuated programme can end, s.
fn by_demand(programme: &Programme, shown: &Shown, time: f64) -> Option<f64> {
    let between = if shown.is_closing {
        programme.longest_intergreen()
    } else {
        programme.intergreen(shown.stage, shown.next)
    };
    let ends = match shown.phase {
        StagePhase::Amber => shown.since + between.amber,
        StagePhase::AllRed if shown.is_closing => shown.since + between.all_red,
        StagePhase::AllRed => shown.since + between.all_red - between.red_amber,
        StagePhase::RedAmber => shown.since + between.red_amber,
        // The maximum green is counted from the time when a vehicle begins to wait for another
        // stage.
        StagePhase::Green => {
            let times = programme.stages[shown.stage];
            // Infinite while no vehicles wait for another stage.
            let longest = shown.opposed.max(shown.since) + times.max;
            let longest = longest.max(shown.held_until.unwrap_or(longest));
            longest.is_finite().then_some(longest)?
        }
    };
    Some((ends - time).max(0.0))
}

/// Junction and number of a connection; `None` for other lanelets.
pub(super) fn path_of(graph: &LaneGraph, id: LaneletIndex) -> Option<Connection> {
    match graph.lanelet(id).kind {
        LaneletKind::Connection { junction, path, .. } => Some(Connection {
            junction,
            number: path,
        }),
        LaneletKind::Lane { .. } => None,
    }
}
