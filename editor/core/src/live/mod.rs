//! The running simulation: a world on its own thread that takes orders and hands over pictures.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `mod.rs` | the door for the window: orders in, pictures out |
//! | `runner.rs` | the thread: orders between steps, the clock, pictures |

mod runner;

pub use roadwright_recording::{HeatCells, Timeline, TracePoint};

use roadwright_agent::{BehaviourView, Registry};
use roadwright_recording::RunResults;
use roadwright_scenario::{NodeId, ObjectId, RoadId, Scenario};
use roadwright_simulation::{
    AgentCounts, Collision, CouplingOrder, Ground, HandControls, Inspection, JunctionInspection,
    LogLine, Mark, RoadInspection, SignalHead, Snapshot, Status, VehicleRecord,
};
use runner::Runner;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a person waits for a look into the world.
const LOOK_PATIENCE: Duration = Duration::from_secs(2);

/// Room for calls on the thread of the simulation, bytes: the search for the lanes from which all others can be
/// reached calls itself along whole ways, 14,000 lanelets in the 2 MiB that threads have by themselves, and a
/// city has more. What is not used takes no memory.
const STACK: usize = 64 << 20;

/// A part of the roads that is looked into while the simulation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinator {
    /// The junction of a node.
    Junction(NodeId),
    /// A road.
    Road(RoadId),
}

impl Coordinator {
    /// What of a selected object can be looked into.
    pub fn of(object: ObjectId) -> Option<Self> {
        match object {
            ObjectId::Node(id) => Some(Self::Junction(id)),
            ObjectId::Road(id) => Some(Self::Road(id)),
            _ => None,
        }
    }
}

/// Orders to the thread.
enum Order {
    Play(bool),
    Step,
    Reset,
    /// The run ends at a step, if it is not over before.
    EndAt(Option<u64>),
    Speed(f64),
    Update(Arc<Scenario>),
    Modules(Registry),
    Watch(Option<u64>),
    LookInto(Option<Coordinator>),
    Look(u64, Sender<Option<BehaviourView>>),
    /// Looks at a moment of the past, s.
    LookBack(f64),
    /// Looks at the present again.
    Present,
    /// The hands of a person on an agent; `None` gives it back.
    Drive(u64, Option<HandControls>),
    /// The trailers of an agent are let go or joined on.
    Coupling(u64, CouplingOrder),
    End,
}

/// The running simulation at one moment.
#[derive(Debug, Clone, Default)]
pub struct LivePicture {
    /// The vehicles.
    pub snapshot: Snapshot,
    /// The ground that they drive on, once the run has begun.
    pub ground: Option<Arc<Ground>>,
    /// How far it can be looked back at; the snapshot is of the moment that is shown.
    pub timeline: Timeline,
    /// The agent that a person drives, and how.
    pub driven: Option<(u64, HandControls)>,
    /// What a person has driven, each tenth of a second: time, s, and vehicle.
    pub drive: Arc<Vec<(f64, VehicleRecord)>>,
    /// Whether it runs.
    pub is_playing: bool,
    /// Whether everyone has arrived, or the step is reached at which it ends.
    pub is_over: bool,
    /// How many agents are in which state.
    pub counts: AgentCounts,
    /// Simulated seconds per second at present.
    pub pace: f64,
    /// Collisions so far.
    pub collisions: Arc<Vec<Collision>>,
    /// The watched agent.
    pub inspection: Option<Inspection>,
    /// How and when its last drive ended, s, if it does not drive now and has driven.
    pub ending: Option<(Status, f64)>,
    /// Its recent past, oldest first.
    pub trace: Arc<Vec<TracePoint>>,
    /// The junction that is looked into.
    pub junction: Option<JunctionInspection>,
    /// The road that is looked into.
    pub road: Option<RoadInspection>,
    /// The heat map.
    pub heat: Arc<HeatCells>,
    /// What has come of the run so far.
    pub results: Arc<RunResults>,
    /// The last lines that modules have logged, oldest first.
    pub log: Arc<Vec<LogLine>>,
    /// Lines that they have logged so far.
    pub log_count: u64,
    /// What they show on the map.
    pub marks: Vec<Mark>,
    /// What the signals show.
    pub signals: Vec<SignalHead>,
    /// Modules that were replaced so far.
    pub swaps: usize,
    /// Why the last order could not be carried out, with the number of such messages.
    pub error: Option<(u64, String)>,
    /// Hash of the state of all agents while it stands still; 0 while it runs.
    pub hash: u64,
    /// Orders carried out so far.
    pub orders: u64,
}

/// A simulation that runs beside the window.
pub struct Live {
    orders: Sender<Order>,
    picture: Arc<Mutex<Arc<LivePicture>>>,
    // An option, so that `drop` can take it: joining consumes the handle.
    thread: Option<JoinHandle<()>>,
    given: u64,
}

impl Live {
    /// Prepares a scenario; it stands still until [`play`](Self::play). `wake` is called whenever
    /// there is a new picture.
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
            .expect("the system has room for a thread");
        Self {
            orders,
            picture,
            thread: Some(thread),
            given: 0,
        }
    }

    fn give(&mut self, order: Order) {
        // Counted on both sides: the picture says how many orders it has in it.
        self.given += 1;
        // The thread ends only by an order, which is the last one.
        let _ = self.orders.send(order);
    }

    /// Runs. While the past is looked at, running goes on from there.
    pub fn play(&mut self) {
        self.give(Order::Play(true));
    }

    /// Stands still.
    pub fn pause(&mut self) {
        self.give(Order::Play(false));
    }

    /// One step, and stands still.
    pub fn step(&mut self) {
        self.give(Order::Step);
    }

    /// Back to the start.
    pub fn reset(&mut self) {
        self.give(Order::Reset);
    }

    /// The run ends at a step, if it is not over before; an edit of its scenario takes that back.
    pub fn end_at(&mut self, step: Option<u64>) {
        self.give(Order::EndAt(step));
    }

    /// Simulated seconds per second; infinite for as fast as possible.
    pub fn set_speed(&mut self, speed: f64) {
        self.give(Order::Speed(speed));
    }

    /// The scenario has been edited: the change enters between two steps.
    pub fn update(&mut self, scenario: Arc<Scenario>) {
        self.give(Order::Update(scenario));
    }

    /// There are other modules to choose from. Those that run already replace themselves.
    pub fn use_modules(&mut self, registry: Registry) {
        self.give(Order::Modules(registry));
    }

    /// Looks at a moment of the past, s; the present waits, and is looked at again from its own time on.
    pub fn look_back(&mut self, time: f64) {
        self.give(Order::LookBack(time));
    }

    /// Looks at the present again.
    pub fn back_to_present(&mut self) {
        self.give(Order::Present);
    }

    /// Moves the controls of an agent by hand; `None` gives it back to its modules.
    pub fn drive(&mut self, agent: u64, controls: Option<HandControls>) {
        self.give(Order::Drive(agent, controls));
    }

    /// Lets trailers of an agent go, or joins them on, between two steps. While the past is looked at, the
    /// run goes on from there.
    pub fn coupling(&mut self, agent: u64, order: CouplingOrder) {
        self.give(Order::Coupling(agent, order));
    }

    /// Looks into an agent.
    pub fn watch(&mut self, agent: Option<u64>) {
        self.give(Order::Watch(agent));
    }

    /// Looks into a junction or a road.
    pub fn look_into(&mut self, coordinator: Option<Coordinator>) {
        self.give(Order::LookInto(coordinator));
    }

    /// What the behaviour of an agent would see now; `None` if it does not drive, or the thread is
    /// busy for longer than a person waits.
    pub fn behaviour_view(&mut self, agent: u64) -> Option<BehaviourView> {
        let (answer, inbox) = channel();
        // The answer comes between two steps; a channel of its own, since the picture is for all
        // and this for one.
        self.give(Order::Look(agent, answer));
        inbox.recv_timeout(LOOK_PATIENCE).ok().flatten()
    }

    /// The newest picture.
    pub fn picture(&self) -> Arc<LivePicture> {
        match self.picture.lock() {
            Ok(picture) => picture.clone(),
            // A panic on the other side leaves a whole picture: it is replaced in one go.
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// Whether all orders so far have been carried out and shown.
    pub fn is_settled(&self) -> bool {
        self.picture().orders == self.given
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::End);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook already.
            let _ = thread.join();
        }
    }
}
