//! What behaviours see of others, and what they can ask for beyond an output row.

use crate::signals::SignalFacts;
use roadwright_geometry::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_plugin_api::BehaviourInput;
use roadwright_scenario::junction::Light;
use roadwright_scenario::{RoadId, Slot};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

/// Cell of the index over agents, m.
const CELL: f64 = 30.0;

/// What everybody can see of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentFacts {
    /// Its id.
    pub id: u64,
    /// Its agent index.
    pub index: u32,
    /// Middle of its rear axle, m.
    pub position: DVec2,
    /// Heading, rad.
    pub heading: f64,
    /// Speed, m/s.
    pub speed: f64,
    /// Length over all, m.
    pub length: f64,
    /// Index of its vehicle type in [`Surroundings::vehicles`].
    pub vehicle: u16,
    /// How many trailers it tows.
    pub trailers: u8,
    /// Index of its stack in [`Surroundings::stacks`].
    pub stack: u16,
    /// The road that it is on; `None` in junctions and on open ground.
    pub road: Option<RoadId>,
    /// Lane id on that road.
    pub lane: i8,
    /// Distance along its lanelet, m.
    pub s: f64,
    /// Distance to the left of its lanelet's middle, m.
    pub t: f64,
    /// Speed limit of its lane, m/s.
    pub speed_limit: f64,
    /// What the traffic signals at the end of its lane show for its way; `None` where there are none.
    pub signal: Option<Light>,
    /// Their node and the stages in which its way has green, one bit each; 0 stages where there are no
    /// signals.
    pub signal_ahead: (u32, u32),
    /// How it signals.
    pub indicator: Indicator,
    /// Its next goal, m.
    pub goal: Option<DVec2>,
    /// Whether it has arrived at its last goal and waits for what comes next.
    pub has_arrived: bool,
    /// Whether there are goals after the one that it has reached or goes to.
    pub has_more_goals: bool,
    /// Id of the vehicle ahead on its route.
    pub leader: Option<u64>,
    /// Id of the nearest vehicle that has it as its leader.
    pub follower: Option<u64>,
}

/// How a vehicle signals with its lamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Indicator {
    /// Lamps off.
    #[default]
    Off,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Both sides: it warns.
    Hazard,
}

impl Indicator {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Off, Self::Left, Self::Right, Self::Hazard];

    /// Its name in scripts and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Left => "left",
            Self::Right => "right",
            Self::Hazard => "hazard",
        }
    }

    /// The one with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// A value that goes with a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Datum {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// The contents of a message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Letter {
    /// What it is about.
    pub topic: String,
    /// A number that goes with it.
    pub value: f64,
    /// What else goes with it, by name.
    pub data: BTreeMap<String, Datum>,
}

/// A message from one agent to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Index of the receiver.
    pub to: u32,
    /// Id of the sender.
    pub from: u64,
    /// What it says.
    pub letter: Letter,
}

impl Message {
    // A control character begins the topics of the host, so that no topic of a script is one of these
    // by chance.
    /// Topic of what the host tells of a collision: with whom, if that was an agent, and how deep, m.
    pub const COLLISION: &'static str = "\u{1}collision";
    /// Topic of what the host tells of a goal that cannot be reached.
    pub const NO_ROUTE: &'static str = "\u{1}no route";
}

/// Where something with a name is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamedPlace {
    /// Its place, m.
    pub position: DVec2,
    /// How a vehicle stands there, rad, if that is said.
    pub heading: Option<f64>,
}

/// The speeds that limit and bends allow on the route ahead of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook([f32; Self::PARTS]);

impl Outlook {
    /// Number of parts of equal length into which the route ahead is cut.
    pub const PARTS: usize = 20;
    /// Length of a part, m.
    pub const PART: f64 = 10.0;

    /// The lowest speed on each part, m/s; infinity on those that the route does not reach.
    pub fn new(lowest: [f32; Self::PARTS]) -> Self {
        Self(lowest)
    }

    /// The lowest speed within a distance, m/s; of a part of it, that of the whole part.
    pub fn lowest_within(&self, distance: f64) -> f64 {
        // Rounded up: a part that is reached into counts with its lowest speed, which may lie behind the
        // distance. A behaviour slows down a little early rather than too late.
        let parts = (distance.max(0.0) / Self::PART).ceil() as usize;
        let parts = &self.0[..parts.clamp(1, Self::PARTS)];
        f64::from(parts.iter().copied().fold(f32::INFINITY, f32::min))
    }
}

/// The driving agents at one moment, and the messages that wait for them.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// The agents that drive, in the order of their indices.
    pub agents: Vec<AgentFacts>,
    /// Messages in the order of their receivers' indices.
    pub mail: Vec<Message>,
    /// Names of the vehicle types.
    pub vehicles: Arc<Vec<String>>,
    /// Names of the stacks.
    pub stacks: Arc<Vec<String>>,
    /// Ids of the members of each group.
    pub groups: Arc<BTreeMap<String, BTreeSet<u64>>>,
    /// The middles of all lanes, for random places, m.
    pub lane_middles: Arc<Vec<DVec2>>,
    /// Where what has a name is.
    pub places: Arc<BTreeMap<String, NamedPlace>>,
    /// Time of day, h, from 0 to 24.
    pub time_of_day: f64,
    /// What can be seen of signals, by node; empty unless a behaviour looks at them.
    pub signals: BTreeMap<u32, Arc<SignalFacts>>,
    /// The lowest speeds that the road allows ahead of those that are asked, by agent index.
    pub outlooks: BTreeMap<u32, Outlook>,
    // Made when the first behaviour asks, maybe by several at once: most scenes are never searched.
    grid: OnceLock<GridIndex>,
    /// Only ever asked for one id, never gone through.
    by_id: OnceLock<HashMap<u64, u32>>,
}

impl Surroundings {
    /// A scene of agents in the order of their indices and messages in the order of their receivers.
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

    /// The agent with an index.
    pub fn with_index(&self, index: u32) -> Option<&AgentFacts> {
        let place = self
            .agents
            .binary_search_by_key(&index, |facts| facts.index);
        Some(&self.agents[place.ok()?])
    }

    /// The agent with an id.
    pub fn with_id(&self, id: u64) -> Option<&AgentFacts> {
        // Hashed, since it is only looked into and never gone through: its order cannot reach any
        // result.
        let by_id = self.by_id.get_or_init(|| {
            let agents = self.agents.iter().enumerate();
            agents.map(|(at, facts)| (facts.id, at as u32)).collect()
        });
        Some(&self.agents[*by_id.get(&id)? as usize])
    }

    /// The agents within a radius, m, in the order of distance, then of ids.
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
        // Nearest first, and of equals the smaller id: not as the grid has its cells.
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| id(a.1).cmp(&id(b.1))));
        let agent = |(_, number): (f64, u32)| &self.agents[number as usize];
        found.into_iter().map(agent).collect()
    }

    /// The messages that wait for the agent with an index.
    pub fn mail_of(&self, index: u32) -> &[Message] {
        let from = self.mail.partition_point(|message| message.to < index);
        let to = self.mail.partition_point(|message| message.to <= index);
        &self.mail[from..to]
    }
}

/// What the behaviour of one agent would see if it were asked now.
#[derive(Debug, Clone)]
pub struct BehaviourView {
    /// Simulated time, s.
    pub time: f64,
    /// Number of the step.
    pub step: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Its agent index.
    pub index: u32,
    /// Its row.
    pub input: BehaviourInput,
    /// The others, its messages and the places.
    pub scene: Arc<Surroundings>,
    /// Id of its behaviour, and what that keeps of its agents, if it can say.
    pub behaviour: (String, Option<Vec<u8>>),
}

/// What a behaviour asks for beyond its output row.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Drive to the lane nearest to a place, m.
    GoTo(DVec2),
    /// Drive to where another agent is, wherever it drives.
    Chase(u64),
    /// Drive where another agent is not.
    Flee(u64),
    /// Leave the road, wherever it is.
    Leave,
    /// Signal until it is asked to signal otherwise.
    Indicate(Indicator),
    /// Heed no signals, signs and other vehicles in junctions until it is asked to heed them again.
    IgnoreLaw(bool),
    /// Drive forwards to a place beside the road, m, and stand there with a heading, rad.
    Park(DVec2, f64),
    /// Brake at least this hard, m/s^2, until the behaviour is asked again.
    Brake(f64),
    /// Drive so far to the left of the middle of the lane, m, while still following the leader: as far as vehicle,
    /// lane and neighbours allow, until the behaviour is asked again.
    LaneOffset(f64),
    /// Return from the end of a path to the lane close by, and drive on to the goals that are left.
    Rejoin,
    /// Follow a line over the ground: places, m, and the speed at each, m/s. Lanes, junctions and
    /// their rules are ignored meanwhile; at its end the agent has arrived.
    DrivePath(Vec<(DVec2, f64)>),
    /// Drive beside the middle of the lane: so far to the left, m, reached within and left again
    /// within the first distance, m, and kept over the second one. Without a way back it stands there.
    Swerve {
        /// How far to the left, m.
        offset: f64,
        /// Distance of getting there, m.
        within: f64,
        /// Distance along the offset, m.
        along: f64,
        /// Whether it comes back.
        comes_back: bool,
    },
    /// Let its trailers go from this one on, counted from 1 at the front; only the last, if none is named.
    Uncouple(Option<u8>),
    /// Join on the trailers that stand at its free coupling.
    Couple,
    /// Add another vehicle at the lane nearest to a place, which drives to another place.
    Spawn {
        /// Its vehicle type.
        vehicle: String,
        /// Its stack.
        stack: String,
        /// Where it appears, m.
        from: DVec2,
        /// Where it goes, m.
        to: DVec2,
    },
    /// Become a member of a group.
    Join(String),
    /// Leave a group.
    Quit(String),
    /// Set a parameter of a module, for this agent alone.
    SetParameter {
        /// Slot of the module.
        slot: Slot,
        /// Key of the parameter.
        key: String,
        /// Its new value.
        value: f64,
    },
    /// Use another module, for this agent alone.
    UseModule {
        /// Slot of the module.
        slot: Slot,
        /// Its id.
        module: String,
    },
    /// Send a message to an agent.
    Send {
        /// Id of the receiver.
        to: u64,
        /// What it is told.
        letter: Letter,
    },
    /// Send a message to everybody in a group.
    SendGroup {
        /// The group.
        group: String,
        /// What it is told.
        letter: Letter,
    },
    /// Send a message to everybody within a radius.
    Broadcast {
        /// The radius, m.
        radius: f64,
        /// What they are told.
        letter: Letter,
    },
    /// Write a line to the run's log.
    Log(String),
    /// Show a mark on the map for a second.
    Mark {
        /// Where; `None`: at the agent.
        at: Option<DVec2>,
        /// What stands beside it.
        text: String,
    },
    /// Ask for a stage of the signals of a node; it comes when the one that is shown may end.
    CallStage {
        /// The node.
        node: u32,
        /// The stage.
        stage: u32,
    },
    /// Keep a stage of the signals of a node while it is shown.
    HoldStage {
        /// The node.
        node: u32,
        /// The stage.
        stage: u32,
        /// For how long from now on, s.
        seconds: f64,
    },
    /// Take back what this agent has asked of the signals of a node.
    ReleaseStage {
        /// The node.
        node: u32,
    },
    /// Let a person come on foot to a crossing of the junction of a node.
    CallPedestrian {
        /// The node.
        node: u32,
    },
    /// Something went wrong while this agent was asked.
    Fault(String),
}

/// What the behaviours of a batch ask for, in the order in which they did.
#[derive(Debug, Default)]
pub struct Effects {
    list: Vec<(u32, Effect)>,
}

impl Effects {
    /// Asks for something for the agent with an index.
    pub fn push(&mut self, index: u32, effect: Effect) {
        // Collected and not carried out: while a batch is asked the world is only read, maybe by several
        // threads. The host puts the lists of all slices together and goes by ids.
        self.list.push((index, effect));
    }

    /// What has been asked for.
    pub fn into_list(self) -> Vec<(u32, Effect)> {
        self.list
    }
}
