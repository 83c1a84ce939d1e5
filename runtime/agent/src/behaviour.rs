//! The view of other agents that behaviours receive, and the effects that they can request in
//! addition to their output rows.

use crate::signals::SignalFacts;
use roadwright_geometry::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_plugin_api::BehaviourInput;
use roadwright_scenario::junction::Light;
use roadwright_scenario::{RoadId, Slot};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

/// Cell size of the spatial index of agents, in metres.
const CELL: f64 = 30.0;

/// Publicly visible data of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentFacts {
    /// Agent id.
    pub id: u64,
    /// Agent index.
    pub index: u32,
    /// Position of the centre of the rear axle, in metres.
    pub position: DVec2,
    /// Heading, rad.
    pub heading: f64,
    /// Speed, in m/s.
    pub speed: f64,
    /// Overall length, in metres.
    pub length: f64,
    /// Index of the agent's vehicle type in [`Surroundings::vehicles`].
    pub vehicle: u16,
    /// Number of trailers in tow.
    pub trailers: u8,
    /// Index of the agent's stack in [`Surroundings::stacks`].
    pub stack: u16,
    /// Current road; `None` in junctions and on open ground.
    pub road: Option<RoadId>,
    /// Lane id on the current road.
    pub lane: i8,
    /// Distance along the lanelet, in metres.
    pub s: f64,
    /// Lateral offset to the left of the lanelet's centre line, in metres.
    pub t: f64,
    /// Speed limit of the current lane, in m/s.
    pub speed_limit: f64,
    /// Light that the signals at the end of the lane show for the agent's route; `None` if there
    /// are no signals.
    pub signal: Option<Light>,
    /// Node of the signals ahead, and a bit mask of the stages in which the agent's movement has
    /// green. Without signals, the mask is 0.
    pub signal_ahead: (u32, u32),
    /// State of the direction indicators.
    pub indicator: Indicator,
    /// Position of the next goal, in metres; `None` without a goal.
    pub goal: Option<DVec2>,
    /// Whether the agent has arrived at its last goal and is waiting for instructions.
    pub has_arrived: bool,
    /// Whether more goals follow the current one.
    pub has_more_goals: bool,
    /// Id of the vehicle ahead on the agent's route; `None` if there is none.
    pub leader: Option<u64>,
    /// Id of the nearest vehicle whose leader is this agent; `None` if there is none.
    pub follower: Option<u64>,
}

/// State of a vehicle's direction indicators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Indicator {
    /// Indicators off.
    #[default]
    Off,
    /// Left indicator.
    Left,
    /// Right indicator.
    Right,
    /// Hazard lights: both sides flash.
    Hazard,
}

impl Indicator {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Off, Self::Left, Self::Right, Self::Hazard];

    /// Name in scripts and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Left => "left",
            Self::Right => "right",
            Self::Hazard => "hazard",
        }
    }

    /// Returns the state with the given name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// A value attached to a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Datum {
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
}

/// Contents of a message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Letter {
    /// Topic of the message.
    pub topic: String,
    /// Main numeric value.
    pub value: f64,
    /// Further values by name.
    pub data: BTreeMap<String, Datum>,
}

/// A message from one agent to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Index of the receiver.
    pub to: u32,
    /// Id of the sender.
    pub from: u64,
    /// Contents.
    pub letter: Letter,
}

impl Message {
    // Host topics begin with a control character, so that they cannot clash with topics of scripts.
    /// Topic of collision reports from the host. A report contains the penetration depth in metres
    /// and, if there is another agent, its id.
    pub const COLLISION: &'static str = "\u{1}collision";
    /// Topic of the host's report that a goal is unreachable.
    pub const NO_ROUTE: &'static str = "\u{1}no route";
}

/// Position of a named object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamedPlace {
    /// Position, in metres.
    pub position: DVec2,
    /// Heading of a vehicle parked at the place, in radians; `None` if the place does not specify one.
    pub heading: Option<f64>,
}

/// Speeds permitted by speed limits and bends on the route ahead of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook([f32; Self::PARTS]);

impl Outlook {
    /// Number of sections of equal length into which the route ahead is divided.
    pub const PARTS: usize = 20;
    /// Length of a section, in metres.
    pub const PART: f64 = 10.0;

    /// Creates an outlook from the lowest speed on each section, in m/s. Sections beyond the end of
    /// the route have infinite speed.
    pub fn new(lowest: [f32; Self::PARTS]) -> Self {
        Self(lowest)
    }

    /// Returns the lowest speed within the given distance, in m/s. A section that is only partly covered
    /// counts in full.
    pub fn lowest_within(&self, distance: f64) -> f64 {
        // Rounded up, so that a section which the distance only partly covers counts with its
        // lowest speed, even if this speed applies beyond the distance. A behaviour then slows down
        // slightly too early rather than too late.
        let parts = (distance.max(0.0) / Self::PART).ceil() as usize;
        let parts = &self.0[..parts.clamp(1, Self::PARTS)];
        f64::from(parts.iter().copied().fold(f32::INFINITY, f32::min))
    }
}

/// All driving agents at one moment, and their pending messages.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// Driving agents, by ascending index.
    pub agents: Vec<AgentFacts>,
    /// Pending messages, by ascending index of the receiver.
    pub mail: Vec<Message>,
    /// Names of the vehicle types.
    pub vehicles: Arc<Vec<String>>,
    /// Names of the stacks.
    pub stacks: Arc<Vec<String>>,
    /// Ids of the members of each group.
    pub groups: Arc<BTreeMap<String, BTreeSet<u64>>>,
    /// Centre points of all lanes, used to pick random destinations, in metres.
    pub lane_middles: Arc<Vec<DVec2>>,
    /// Positions of named objects.
    pub places: Arc<BTreeMap<String, NamedPlace>>,
    /// Time of day, in hours from 0 to 24.
    pub time_of_day: f64,
    /// Visible state of the signals, by node. Empty if no behaviour needs it.
    pub signals: BTreeMap<u32, Arc<SignalFacts>>,
    /// Speed outlooks of the agents in the current batch, by agent index.
    pub outlooks: BTreeMap<u32, Outlook>,
    // Built at the first search, by any thread, because most scenes are never searched.
    grid: OnceLock<GridIndex>,
    /// Index of agents by id. It is used only for look-ups and never iterated, because its order is
    /// not deterministic.
    by_id: OnceLock<HashMap<u64, u32>>,
}

impl Surroundings {
    /// Creates the surroundings from agents in ascending order of their indices, and messages in ascending
    /// order of the receivers' indices.
    pub fn new(
        agents: Vec<AgentFacts>,
        mail: Vec<Message>,
        vehicles: Arc<Vec<String>>,
        stacks: Arc<Vec<String>>,
    ) -> Self {
        Self {
            agents,
            mail,
            vehicles,
            stacks,
            ..Self::default()
        }
    }

    /// Returns the driving agent with the given index; `None` if there is none.
    pub fn with_index(&self, index: u32) -> Option<&AgentFacts> {
        let place = self
            .agents
            .binary_search_by_key(&index, |facts| facts.index);
        Some(&self.agents[place.ok()?])
    }

    /// Returns the driving agent with the given id; `None` if there is none.
    pub fn with_id(&self, id: u64) -> Option<&AgentFacts> {
        // A hash map is safe here because it is never iterated, so its order cannot affect results.
        let by_id = self.by_id.get_or_init(|| {
            let agents = self.agents.iter().enumerate();
            agents.map(|(at, facts)| (facts.id, at as u32)).collect()
        });
        Some(&self.agents[*by_id.get(&id)? as usize])
    }

    /// Returns the agents within the given radius in metres, nearest first, with ties broken by id.
    pub fn near(&self, place: DVec2, radius: f64) -> Vec<&AgentFacts> {
        let index = self.grid.get_or_init(|| {
            let positions: Vec<DVec2> = self.agents.iter().map(|facts| facts.position).collect();
            let mut index = GridIndex::new();
            index.rebuild(&positions, CELL);
            index
        });
        let mut found = Vec::new();
        index.for_each_within(place, radius, |number, at: DVec2| {
            found.push(((at - place).length_squared(), number));
        });
        let id = |number: u32| self.agents[number as usize].id;
        // Nearest first, with ties broken by id, so that the order does not depend on the grid.
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| id(a.1).cmp(&id(b.1))));
        let agent = |(_, number): (f64, u32)| &self.agents[number as usize];
        found.into_iter().map(agent).collect()
    }

    /// Returns the pending messages of the agent with the given index.
    pub fn mail_of(&self, index: u32) -> &[Message] {
        let from = self.mail.partition_point(|message| message.to < index);
        let to = self.mail.partition_point(|message| message.to <= index);
        &self.mail[from..to]
    }
}

/// The input that the behaviour of one agent would receive if called now.
#[derive(Debug, Clone)]
pub struct BehaviourView {
    /// Simulation time, in seconds.
    pub time: f64,
    /// Step number.
    pub step: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Agent index.
    pub index: u32,
    /// Input row.
    pub input: BehaviourInput,
    /// Other agents, pending messages and named places.
    pub scene: Arc<Surroundings>,
    /// Id of the behaviour module, and its saved state for its agents; `None` if the module cannot
    /// save a state.
    pub behaviour: (String, Option<Vec<u8>>),
}

/// A request by a behaviour in addition to its output row.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Drive to the lane nearest to a position, in metres.
    GoTo(DVec2),
    /// Follow another agent.
    Chase(u64),
    /// Drive away from another agent.
    Flee(u64),
    /// Leave the road network from the current position.
    Leave,
    /// Set the indicators until the next request.
    Indicate(Indicator),
    /// Ignore signals, signs and other vehicles in junctions (`true`), or obey them again
    /// (`false`).
    IgnoreLaw(bool),
    /// Drive forwards to a position beside the road, in metres, and park there at a heading, in
    /// radians.
    Park(DVec2, f64),
    /// Decelerate by at least this amount, in m/s^2, until the next call of the behaviour.
    Brake(f64),
    /// Keep this distance to the left of the lane's centre while following the leader, in metres.
    /// Vehicle, lane and neighbours limit the offset. It applies until the next call of the
    /// behaviour.
    LaneOffset(f64),
    /// Return from the end of a path to a nearby lane and drive on to the remaining goals.
    Rejoin,
    /// Follow a path over open ground, given as positions in metres, each with a speed in m/s. On
    /// the path, lanes, junctions and their rules are ignored. At the end of the path, the agent
    /// has arrived.
    DrivePath(Vec<(DVec2, f64)>),
    /// Move laterally within the lane to `offset`, over the distance `within`, and hold the offset
    /// for the distance `along`. Then move back over the distance `within`, or stop if `comes_back`
    /// is false.
    Swerve {
        /// Offset to the left of the lane's centre, in metres.
        offset: f64,
        /// The offset is reached within this distance, in metres.
        within: f64,
        /// The offset is held over this distance, in metres.
        along: f64,
        /// Whether the vehicle returns to the lane's centre.
        comes_back: bool,
    },
    /// Uncouple a trailer and all trailers behind it. Trailers are counted from 1 at the front. If
    /// `None`, uncouple only the last trailer.
    Uncouple(Option<u8>),
    /// Couple the trailers that are at the free coupling.
    Couple,
    /// Spawn another vehicle at the lane nearest to a position, with a destination.
    Spawn {
        /// Vehicle type.
        vehicle: String,
        /// Name of the vehicle's stack.
        stack: String,
        /// Spawn position, in metres.
        from: DVec2,
        /// Destination, in metres.
        to: DVec2,
    },
    /// Join a group.
    Join(String),
    /// Leave a group.
    Quit(String),
    /// Set a parameter of a module, for this agent only.
    SetParameter {
        /// Slot of the module.
        slot: Slot,
        /// Parameter key.
        key: String,
        /// New value.
        value: f64,
    },
    /// Switch to another module, for this agent only.
    UseModule {
        /// Slot of the module.
        slot: Slot,
        /// Module id.
        module: String,
    },
    /// Send a message to an agent.
    Send {
        /// Id of the receiver.
        to: u64,
        /// Contents of the message.
        letter: Letter,
    },
    /// Send a message to all members of a group.
    SendGroup {
        /// The group.
        group: String,
        /// Contents of the message.
        letter: Letter,
    },
    /// Send a message to all agents within a radius.
    Broadcast {
        /// Radius, in metres.
        radius: f64,
        /// Contents of the message.
        letter: Letter,
    },
    /// Write a line to the run's log.
    Log(String),
    /// Show a marker on the map for one second.
    Mark {
        /// Position of the marker; `None` for the agent's own position.
        at: Option<DVec2>,
        /// Label of the marker.
        text: String,
    },
    /// Request a signal stage at a node. The stage follows as soon as the current one may end.
    CallStage {
        /// The node.
        node: u32,
        /// The stage.
        stage: u32,
    },
    /// Hold a signal stage at a node while it is active.
    HoldStage {
        /// The node.
        node: u32,
        /// The stage.
        stage: u32,
        /// Duration, starting now, in seconds.
        seconds: f64,
    },
    /// Withdraw all of this agent's requests to the signals of a node.
    ReleaseStage {
        /// The node.
        node: u32,
    },
    /// Make a pedestrian arrive at a crossing of a node's junction.
    CallPedestrian {
        /// The node.
        node: u32,
    },
    /// Report an error that occurred when the behaviour was called for this agent.
    Fault(String),
}

/// Effects requested by the behaviours of a batch, in the order of the requests.
#[derive(Debug, Default)]
pub struct Effects {
    list: Vec<(u32, Effect)>,
}

impl Effects {
    /// Requests an effect for the agent with the given index.
    pub fn push(&mut self, index: u32, effect: Effect) {
        // Effects are collected first and applied later, because the world is read-only while a
        // batch is processed, possibly by several threads. The host merges the lists of all slices
        // and sorts them by agent id.
        self.list.push((index, effect));
    }

    /// Returns the requested effects.
    pub fn into_list(self) -> Vec<(u32, Effect)> {
        self.list
    }
}
