//! The running simulation: a world on its own thread that receives orders and publishes snapshots.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | the interface for the window: orders in, snapshots out |
//! | `history.rs` | contacts, arrivals and lights of the last minutes |
//! | `runner.rs` | the thread: orders between steps, the clock, snapshots |

mod history;
mod runner;

pub use history::{JunctionLights, LaneLights, LightChange, RunEvent, RunEvents};
pub use roadwright_recording::{ClipEnd, ClipRows, HeatCells, Timeline, TracePoint};

use roadwright_agent::{BehaviourView, Registry};
use roadwright_geometry::DVec2;
use roadwright_recording::RunResults;
use roadwright_scenario::{NodeId, ObjectId, RoadId, Scenario};
use roadwright_simulation::{
    AgentCounts, Collision, CouplingOrder, Ground, GroundInspection, GroundQuestion, HandControls,
    Inspection, JunctionInspection, LogLine, Mark, MoveInspection, RoadInspection, SignalHead,
    Snapshot, Status, VehicleRecord, WaitChain,
};
use roadwright_training::{ControlChange, Course, DriveRow};
use runner::Runner;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest time that the window waits for an answer from the thread.
const LOOK_PATIENCE: Duration = Duration::from_secs(2);

/// Stack size of the simulation thread in bytes. The search for lanes from which all other lanes
/// are reachable recurses along whole routes. The default of 2 MiB is enough for 14,000 lanelets,
/// but a city has more. Unused stack takes no memory.
const STACK: usize = 64 << 20;

/// A junction or road that can be inspected during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinator {
    /// The junction of a node.
    Junction(NodeId),
    /// A road.
    Road(RoadId),
}

impl Coordinator {
    /// Returns the junction or road to be inspected for a selected object; `None` for other
    /// objects.
    pub fn of(object: ObjectId) -> Option<Self> {
        match object {
            ObjectId::Node(id) => Some(Self::Junction(id)),
            ObjectId::Road(id) => Some(Self::Road(id)),
            _ => None,
        }
    }
}

/// Orders to the simulation thread.
enum Order {
    Play,
    Pause,
    Step,
    Reset,
    /// Ends the run at this step, unless the run ends earlier.
    EndAt(Option<u64>),
    Speed(f64),
    Update(Arc<Scenario>),
    Modules(Registry),
    Watch(Option<u64>),
    LookInto(Option<Coordinator>),
    /// Inspects the planning data of the watched agent.
    LookAtGround(GroundQuestion),
    Look(u64, Sender<Option<BehaviourView>>),
    /// Shows the run at an earlier time, in seconds.
    LookBack(f64),
    /// Shows the present again.
    Present,
    /// Sets the controls of an agent under manual control; `None` returns it to its modules.
    Drive(u64, Option<HandControls>),
    /// Couples or uncouples trailers of an agent.
    Coupling(u64, CouplingOrder),
    /// Starts a user's attempt on a course.
    Race(Box<JudgedRace>),
    BeginClip(ClipOrder),
    EndClip,
    End,
}

/// A request to record a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipOrder {
    /// Id of the agent whose motion is recorded.
    pub agent: u64,
    /// Number of frames per second.
    pub rate_hz: f64,
}

/// A request to judge a user's attempt on a course, which begins at the start of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedRace {
    /// Number of the attempt.
    pub number: u64,
    /// Id of the agent that the user drives.
    pub agent: u64,
    /// The course that is driven.
    pub course: Course,
}

/// Progress of a user's attempt on a course.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceProgress {
    /// Number of the attempt.
    pub number: u64,
    /// Control changes since the start of the attempt.
    pub controls: Arc<Vec<ControlChange>>,
    /// Result of the drive, once it has ended.
    pub ended: Option<DriveRow>,
    /// Whether the run was rewound or edited, so that the attempt cannot be reproduced from its controls.
    pub is_void: bool,
}

/// The clip that is being recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipProgress {
    /// Id of the agent whose motion is recorded.
    pub agent: u64,
    /// Number of frames recorded until now.
    pub frames: usize,
    /// Number of frames per second.
    pub rate_hz: f64,
}

/// Snapshot of the running simulation.
#[derive(Debug, Clone, Default)]
pub struct LivePicture {
    /// Vehicles, pedestrians and loose obstacles at the shown moment.
    pub snapshot: Snapshot,
    /// The ground of the run, once it has started.
    pub ground: Option<Arc<Ground>>,
    /// The period that can be rewound, with the moment shown in the snapshot.
    pub timeline: Timeline,
    /// The agent under manual control, and its controls.
    pub driven: Option<(u64, HandControls)>,
    /// Record of the user's drive: time in seconds and vehicle, ten times a second.
    pub drive: Arc<Vec<(f64, VehicleRecord)>>,
    /// Whether the run is playing.
    pub is_playing: bool,
    /// Whether all agents have arrived or the run has reached its last step.
    pub is_over: bool,
    /// Number of agents in each state.
    pub counts: AgentCounts,
    /// Current speed of the run, in simulated seconds per second.
    pub pace: f64,
    /// All collisions of the run, up to the present.
    pub collisions: Arc<Vec<Collision>>,
    /// State of the watched agent.
    pub inspection: Option<Inspection>,
    /// The chain of vehicles that block the watched agent; `None` unless the agent is stationary.
    pub wait_chain: Option<WaitChain>,
    /// Outcome of the watched agent's last drive, and the time at which it ended, in seconds; `None` if it is
    /// driving now or has not driven yet.
    pub ending: Option<(Status, f64)>,
    /// Recent history of the watched agent, oldest first.
    pub trace: Arc<Vec<TracePoint>>,
    /// State of the inspected junction.
    pub junction: Option<JunctionInspection>,
    /// State of the inspected road.
    pub road: Option<RoadInspection>,
    /// State of the watched agent's planning; `None` if it does not plan over open ground.
    pub planning: Option<Arc<GroundInspection>>,
    /// State of the watched agent's move tree; `None` if it has none.
    pub moves: Option<Arc<MoveInspection>>,
    /// The clip that is being recorded.
    pub clip: Option<ClipProgress>,
    /// The last recorded clip, with the number of clips recorded in total.
    pub recorded: Option<(u64, Arc<ClipRows>)>,
    /// The user's attempt on a course.
    pub race: Option<RaceProgress>,
    /// Agents that have no path or are still searching for one.
    pub without_path: Vec<PathNotice>,
    /// Traffic recorded for each cell of the heat map.
    pub heat: Arc<HeatCells>,
    /// Current results of the run.
    pub results: Arc<RunResults>,
    /// Contacts and arrivals of the last minutes.
    pub events: Arc<RunEvents>,
    /// Lights of the inspected junction over the last minutes.
    pub lights: Arc<JunctionLights>,
    /// The last lines that modules logged, oldest first.
    pub log: Arc<Vec<LogLine>>,
    /// Total number of logged lines.
    pub log_count: u64,
    /// Markers that modules show on the map.
    pub marks: Vec<Mark>,
    /// The state of the signals.
    pub signals: Vec<SignalHead>,
    /// Number of module replacements since the start.
    pub swaps: usize,
    /// Error message of the last failed order, with the total number of such messages.
    pub error: Option<(u64, String)>,
    /// Hash of the state of all agents while paused; 0 while running.
    pub hash: u64,
    /// Total number of orders carried out.
    pub orders: u64,
}

/// An agent off the lanes that has no path, or is still searching for one.
#[derive(Debug, Clone, PartialEq)]
pub struct PathNotice {
    /// Id of the agent.
    pub agent: u64,
    /// Middle of the agent's body, m.
    pub at: DVec2,
    /// Reason why the agent has no path; `None` while it is still searching.
    pub reason: Option<String>,
}

/// A simulation that runs in the background.
pub struct Live {
    orders: Sender<Order>,
    picture: Arc<Mutex<Arc<LivePicture>>>,
    // An `Option`, because `drop` has to take the handle in order to join the thread.
    thread: Option<JoinHandle<()>>,
    given: u64,
}

impl Live {
    /// Prepares a scenario as a paused run, which [`play`](Self::play) starts. `wake` is called for every new
    /// snapshot.
    pub fn new(
        scenario: Arc<Scenario>,
        registry: Registry,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        let (orders, inbox) = channel();
        let picture = Arc::new(Mutex::new(Arc::new(LivePicture::default())));
        let shared = picture.clone();
        let runner = move || Runner::new(scenario, registry, inbox, shared, Box::new(wake)).run();
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(runner)
            .expect("the system can start a thread");
        Self {
            orders,
            picture,
            thread: Some(thread),
            given: 0,
        }
    }

    fn give(&mut self, order: Order) {
        // Orders are counted on both sides, because each snapshot reports how many it includes.
        self.given += 1;
        // The thread ends only on an order to end, which is always the last one.
        let _ = self.orders.send(order);
    }

    /// Starts playing. If the past is shown, playing continues from there.
    pub fn play(&mut self) {
        self.give(Order::Play);
    }

    /// Pauses the run.
    pub fn pause(&mut self) {
        self.give(Order::Pause);
    }

    /// Simulates one step and pauses the run.
    pub fn step(&mut self) {
        self.give(Order::Step);
    }

    /// Returns the run to its start.
    pub fn reset(&mut self) {
        self.give(Order::Reset);
    }

    /// Ends the run at a step, unless it ends earlier. An edit of the run's scenario cancels this.
    pub fn end_at(&mut self, step: Option<u64>) {
        self.give(Order::EndAt(step));
    }

    /// Sets the speed in simulated seconds per second; infinity runs as fast as possible.
    pub fn set_speed(&mut self, speed: f64) {
        self.give(Order::Speed(speed));
    }

    /// Passes an edited scenario to the run. The run adopts it between two steps.
    pub fn update(&mut self, scenario: Arc<Scenario>) {
        self.give(Order::Update(scenario));
    }

    /// Passes changed modules to the run. They replace the running ones.
    pub fn use_modules(&mut self, registry: Registry) {
        self.give(Order::Modules(registry));
    }

    /// Shows the run at an earlier time, in seconds. The present is paused, and its timeline is kept.
    pub fn look_back(&mut self, time: f64) {
        self.give(Order::LookBack(time));
    }

    /// Shows the present again.
    pub fn back_to_present(&mut self) {
        self.give(Order::Present);
    }

    /// Sets the manual controls of an agent; `None` returns it to its modules.
    pub fn drive(&mut self, agent: u64, controls: Option<HandControls>) {
        self.give(Order::Drive(agent, controls));
    }

    /// Couples or uncouples trailers of an agent between two steps. If the past is shown, the run continues
    /// from there.
    pub fn coupling(&mut self, agent: u64, order: CouplingOrder) {
        self.give(Order::Coupling(agent, order));
    }

    /// Returns the run to its start and begins a user's attempt on a course.
    pub fn race(&mut self, race: JudgedRace) {
        self.give(Order::Race(Box::new(race)));
    }

    /// Begins to record a clip.
    pub fn begin_clip(&mut self, order: ClipOrder) {
        self.give(Order::BeginClip(order));
    }

    /// Ends the current clip.
    pub fn end_clip(&mut self) {
        self.give(Order::EndClip);
    }

    /// Inspects an agent; `None` stops inspecting.
    pub fn watch(&mut self, agent: Option<u64>) {
        self.give(Order::Watch(agent));
    }

    /// Inspects a junction or a road; `None` stops inspecting.
    pub fn look_into(&mut self, coordinator: Option<Coordinator>) {
        self.give(Order::LookInto(coordinator));
    }

    /// Inspects the data that the watched agent uses to plan on open ground.
    pub fn look_at_ground(&mut self, question: GroundQuestion) {
        self.give(Order::LookAtGround(question));
    }

    /// Returns the current input of an agent's behaviour; `None` if the agent is not driving or the
    /// thread does not answer in time.
    pub fn behaviour_view(&mut self, agent: u64) -> Option<BehaviourView> {
        let (answer, inbox) = channel();
        // The answer is sent between two steps. It has its own channel, because only this caller
        // needs it.
        self.give(Order::Look(agent, answer));
        inbox.recv_timeout(LOOK_PATIENCE).ok().flatten()
    }

    /// Returns the newest snapshot.
    pub fn picture(&self) -> Arc<LivePicture> {
        match self.picture.lock() {
            Ok(picture) => picture.clone(),
            // A panic in the thread leaves a complete snapshot, because snapshots are replaced as a whole.
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// Whether all orders have been carried out and their results published.
    pub fn is_settled(&self) -> bool {
        self.picture().orders == self.given
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::End);
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of that thread.
            let _ = thread.join();
        }
    }
}
