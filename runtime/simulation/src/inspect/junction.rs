//! Looking into one junction: who queues, who has been let in, who waits for whom, what signals do.

use crate::ground::Ground;
use crate::records::AgentIndex;
use crate::traffic::{LaneEntry, Shown, StagePhase, Ticket, Waits};
use crate::world::World;
use roadwright_scenario::junction::{Between, LaneEnd, Light, Programme, Turn};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind};
use roadwright_scenario::{
    Connection, ConnectionIndex, Control, JunctionIndex, NodeId, RoadEnd, SignalMode,
};

/// Below this a vehicle stands, m/s.
const STANDING: f64 = 0.5;

/// What goes on at a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct JunctionInspection {
    /// Its smallest node.
    pub node: NodeId,
    /// What says who goes first.
    pub control: Control,
    /// What its signals do, if signals rule it.
    pub programme: Option<ProgrammeInspection>,
    /// Its paths, by their numbers.
    pub turns: Vec<Turning>,
    /// The lanes that lead in, by road and lane.
    pub approaches: Vec<ApproachLane>,
    /// What it has granted, in the order of the tickets.
    pub tickets: Vec<Ticket>,
    /// Who waits for it or in it, by agent.
    pub waits: Vec<Waiting>,
    /// Whether nobody is let in any more, because an edit waits until it is empty.
    pub closes: bool,
}

/// The signals of a junction at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgrammeInspection {
    /// Whether times are fixed or go by demand.
    pub mode: SignalMode,
    /// How many stages there are.
    pub stages: usize,
    /// The stage that is shown, from 0.
    pub stage: usize,
    /// The one after it; by demand it is known once the green has ended.
    pub next: Option<usize>,
    /// Which part of the stage.
    pub phase: StagePhase,
    /// Whether an edit has changed the signals, and they close before they begin anew.
    pub is_closing: bool,
    /// Time since the phase began, s.
    pub elapsed: f64,
    /// Time until it ends, s: by demand at most. `None` while nobody waits for another stage.
    pub remaining: Option<f64>,
    /// Time since the first stage began, s, where times are fixed.
    pub within_cycle: Option<f64>,
}

/// A path of a junction now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turning {
    /// Lane that it comes from.
    pub from: LaneEnd,
    /// Lane that it leads into.
    pub to: LaneEnd,
    /// Which way it turns.
    pub turn: Turn,
    /// What its signal shows, if signals rule the junction.
    pub light: Option<Light>,
    /// Whether it is free: green, nobody let in before is in its way, and nobody comes to whom it
    /// gives way.
    pub goes: bool,
}

/// A lane that leads into a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct ApproachLane {
    /// The lane, and the end of the road at which it leads in.
    pub lane: LaneEnd,
    /// The most that any way on from it shows, if signals rule the junction.
    pub light: Option<Light>,
    /// Whether any way on from it is free.
    pub goes: bool,
    /// Vehicles on it.
    pub vehicles: usize,
    /// Those of them that stand.
    pub queue: usize,
    /// From the stop line to the rear of the last one that stands, m; 0 for none.
    pub queue_length: f64,
    /// The foremost one.
    pub head: Option<HeadVehicle>,
}

/// The foremost vehicle on a lane that leads into a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadVehicle {
    /// The agent.
    pub agent: u64,
    /// From its front to the stop line, m; negative beyond it.
    pub distance: f64,
    /// m/s.
    pub speed: f64,
    /// What it waits for; `None` if it need not wait, or does not come near yet.
    pub waits: Option<Waits>,
}

/// An agent that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The agent.
    pub agent: u64,
    /// What for.
    pub waits: Waits,
}

/// Looks into the junction of a node.
pub(crate) fn inspect(world: &World, node: NodeId) -> Option<JunctionInspection> {
    let ground = &**world.ground();
    let junction = ground.roads.junction_of(node)?;
    let turns = turns(world, junction);
    let mut ends: Vec<LaneEnd> = turns.iter().map(|turning| turning.from).collect();
    ends.sort_unstable();
    ends.dedup();
    // Who has been let in may be on no lane before it any more, and who comes has not been let in: both
    // are asked.
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

/// The paths of a junction, and which of them are free.
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
    let paths = ground.roads.paths(junction);
    let numbered = ConnectionIndex::up_to(paths.len()).zip(paths);
    numbered.map(turning).collect()
}

/// Whether a path is free now.
pub(super) fn goes(world: &World, path: Connection) -> bool {
    let (claims, setting) = (&world.traffic.claims, world.setting());
    claims.is_free(path, setting, world.agents.lent())
}

/// The lanelets of a lane that leads out of its road at an end, the last one first.
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
    // From the start of a piece to the stop line, m.
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
                // From front to back: the last one that stands has the last word.
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

/// Who follows a lanelet, from front to back. Who leaves it sideways is on its new lane already.
pub(super) fn foremost_first(world: &World, id: LaneletIndex) -> impl Iterator<Item = &LaneEntry> {
    let entries = world.traffic.index.on_lanelet(id).iter().rev();
    entries.filter(move |entry| world.agents.position[entry.agent.index()].lanelet == id)
}

/// Those of some agents that wait for a junction, by id.
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

/// Since when the phase of a fixed programme is shown, and for how long still, s.
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

/// For how long the phase of a programme by demand is shown at most, s.
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
        // The longest green counts from when somebody has begun to wait for another stage.
        StagePhase::Green => {
            let times = programme.stages[shown.stage];
            // Infinite while nobody waits for another stage.
            let longest = shown.opposed.max(shown.since) + times.max;
            let longest = longest.max(shown.held_until.unwrap_or(longest));
            longest.is_finite().then_some(longest)?
        }
    };
    Some((ends - time).max(0.0))
}

/// The junction and path of a connection.
pub(super) fn path_of(graph: &LaneGraph, id: LaneletIndex) -> Option<Connection> {
    match graph.lanelet(id).kind {
        LaneletKind::Connection { junction, path, .. } => Some(Connection {
            junction,
            number: path,
        }),
        LaneletKind::Lane { .. } => None,
    }
}
