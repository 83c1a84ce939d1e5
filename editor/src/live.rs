//! The running simulation: a world on its own thread that takes orders and hands over pictures.

use crate::run_results::RunResults;
use roadwright_agent::{BehaviourView, Registry};
use roadwright_scenario::{NodeId, ObjectId, RoadId, Scenario};
use roadwright_simulation::{
    AgentCounts, Collision, HeatCell, HeatMap, Inspection, JunctionInspection, LogLine, Mark,
    Observer, RoadInspection, RunOptions, Session, SignalHead, Snapshot, Statistics, TimeRow,
    World,
};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the world steps before it looks for orders, s: half a frame of 60 a
/// second.
const SLICE: f64 = 0.008;
/// Pictures a second.
const PICTURE_RATE: f64 = 60.0;
/// What is behind by more than this is given up, s of wall time: without a limit a run that was too
/// slow for a minute would race for a minute once it has less to do.
const MOST_BEHIND: f64 = 0.25;
/// Distance between samples of a trace, s of simulated time, and how many are kept.
const TRACE_STEP: f64 = 0.1;
const TRACE_LENGTH: usize = 600;
/// How long a person waits for a look into the world.
const LOOK_PATIENCE: Duration = Duration::from_secs(2);
/// Lines of the modules' log that are shown.
const LOG_LINES: usize = 200;

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
    pub(crate) fn of(object: ObjectId) -> Option<Self> {
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
    Speed(f64),
    Update(Arc<Scenario>),
    Modules(Registry),
    Watch(Option<u64>),
    LookInto(Option<Coordinator>),
    Look(u64, Sender<Option<BehaviourView>>),
    End,
}

/// What a watched agent did at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracePoint {
    /// Simulated time, s.
    pub time: f64,
    /// Speed, m/s.
    pub speed: f64,
    /// Speed that the road allows, m/s.
    pub road_speed: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
    /// Commanded acceleration, m/s^2.
    pub acceleration: f64,
}

/// The running simulation at one moment.
#[derive(Debug, Clone, Default)]
pub struct LivePicture {
    /// The vehicles.
    pub snapshot: Snapshot,
    /// Whether it runs.
    pub is_playing: bool,
    /// Whether everyone has arrived.
    pub is_over: bool,
    /// How many agents are in which state.
    pub counts: AgentCounts,
    /// Simulated seconds per second at present.
    pub pace: f64,
    /// Collisions so far.
    pub collisions: Arc<Vec<Collision>>,
    /// The watched agent.
    pub inspection: Option<Inspection>,
    /// Its recent past, oldest first.
    pub trace: Arc<Vec<TracePoint>>,
    /// The junction that is looked into.
    pub junction: Option<JunctionInspection>,
    /// The road that is looked into.
    pub road: Option<RoadInspection>,
    /// The heat map, by cell.
    pub heat: Arc<Vec<((i32, i32), HeatCell)>>,
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
        let thread = std::thread::spawn(move || {
            Runner::new(scenario, registry, inbox, shared, Box::new(wake)).run();
        });
        Self {
            orders,
            picture,
            thread: Some(thread),
            given: 0,
        }
    }

    fn give(&mut self, order: Order) {
        self.given += 1;
        // The thread ends only by an order, which is the last one.
        let _ = self.orders.send(order);
    }

    /// Runs or stands still.
    pub fn play(&mut self, on: bool) {
        self.give(Order::Play(on));
    }

    /// One step, and stands still.
    pub fn step(&mut self) {
        self.give(Order::Step);
    }

    /// Back to the start.
    pub fn reset(&mut self) {
        self.give(Order::Reset);
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

/// Traces one agent: an observer.
#[derive(Default)]
struct Watch {
    agent: Option<u64>,
    trace: VecDeque<TracePoint>,
    /// When the next sample is due, s.
    due: f64,
}

impl Watch {
    fn of(agent: Option<u64>) -> Self {
        Self {
            agent,
            ..Self::default()
        }
    }
}

impl Observer for Watch {
    fn after_step(&mut self, world: &World) {
        let time = world.time();
        // Time is a sum of steps: without the margin a sample would now and then be a step late.
        if time < self.due - 1e-9 {
            return;
        }
        let Some(seen) = self.agent.and_then(|id| world.inspect(id)) else {
            return;
        };
        self.due = time + TRACE_STEP;
        if self.trace.len() == TRACE_LENGTH {
            self.trace.pop_front();
        }
        self.trace.push_back(TracePoint {
            time,
            speed: seen.input.speed,
            road_speed: seen.input.road_speed,
            steering: seen.input.steering,
            acceleration: seen.command.acceleration,
        });
    }
}

// The thread of the simulation:
//
//   orders --> obey      between two steps only, so that a run can be repeated
//              step      as many as the clock and the speed ask for, for a slice at most
//   picture <- publish   60 times a second, and after every order
struct Runner {
    scenario: Arc<Scenario>,
    registry: Registry,
    session: Option<Session>,
    inbox: Receiver<Order>,
    shared: Arc<Mutex<Arc<LivePicture>>>,
    wake: Box<dyn Fn() + Send>,
    playing: bool,
    speed: f64,
    watch: Watch,
    coordinator: Option<Coordinator>,
    heat: HeatMap,
    shown_heat: Arc<Vec<((i32, i32), HeatCell)>>,
    statistics: Statistics,
    /// The rows of the run before.
    before: Arc<Vec<TimeRow>>,
    error: Option<(u64, String)>,
    errors: u64,
    orders: u64,
    pace: f64,
}

impl Runner {
    fn new(
        scenario: Arc<Scenario>,
        registry: Registry,
        inbox: Receiver<Order>,
        shared: Arc<Mutex<Arc<LivePicture>>>,
        wake: Box<dyn Fn() + Send>,
    ) -> Self {
        let mut runner = Self {
            scenario,
            registry,
            session: None,
            inbox,
            shared,
            wake,
            playing: false,
            speed: 1.0,
            watch: Watch::default(),
            coordinator: None,
            heat: HeatMap::default(),
            shown_heat: Arc::default(),
            statistics: Statistics::default(),
            before: Arc::default(),
            error: None,
            errors: 0,
            orders: 0,
            pace: 0.0,
        };
        runner.reset();
        runner
    }

    fn fail(&mut self, message: String) {
        self.errors += 1;
        self.error = Some((self.errors, message));
    }

    fn reset(&mut self) {
        // Vehicles that are still being placed must not keep the others from driving.
        let options = RunOptions {
            lenient: true,
            ..RunOptions::default()
        };
        match World::new(&self.scenario, &self.registry, &options) {
            Ok(world) => self.session = Some(Session::new(world)),
            Err(error) => {
                self.session = None;
                self.playing = false;
                self.fail(format!("This scenario cannot run: {error}."));
            }
        }
        // The agent stays watched; its past belongs to the old run.
        self.watch = Watch::of(self.watch.agent);
        self.heat = HeatMap::default();
        self.shown_heat = Arc::default();
        // A run that was not begun compares with nothing.
        if self.statistics.rows().len() > 1 {
            self.before = Arc::new(self.statistics.rows().to_vec());
        }
        self.statistics = Statistics::default();
        if let Some(session) = &self.session {
            self.statistics.begin(session.world());
        }
    }

    /// Carries out an order and all that have come meanwhile; says whether to go on. Of edits in
    /// a row only the last one counts: it holds the others.
    fn obey_all(&mut self, first: Order) -> bool {
        let mut orders: Vec<Order> = vec![first];
        orders.extend(self.inbox.try_iter());
        if orders.iter().any(|order| matches!(order, Order::End)) {
            return false;
        }
        let mut orders = orders.into_iter().peekable();
        while let Some(order) = orders.next() {
            let is_update = |order: &Order| matches!(order, Order::Update(_));
            if is_update(&order) && orders.peek().is_some_and(is_update) {
                self.orders += 1;
                continue;
            }
            self.obey(order);
        }
        true
    }

    fn obey(&mut self, order: Order) {
        self.orders += 1;
        match order {
            Order::Play(on) => self.playing = on && self.session.is_some(),
            Order::Step => {
                self.playing = false;
                self.step();
            }
            Order::Reset => {
                self.playing = false;
                self.reset();
            }
            Order::Look(agent, answer) => {
                let session = self.session.as_ref();
                let view = session.and_then(|session| session.world().behaviour_view(agent));
                // The window may have given up waiting.
                let _ = answer.send(view);
            }
            Order::Speed(speed) => self.speed = speed,
            Order::Update(scenario) => self.update(scenario),
            Order::Modules(registry) => {
                self.registry = registry;
                match &mut self.session {
                    Some(session) => session.world_mut().use_modules(&self.registry),
                    // What could not run without a module may run now.
                    None => self.reset(),
                }
            }
            Order::Watch(agent) => {
                if agent != self.watch.agent {
                    self.watch = Watch::of(agent);
                }
            }
            Order::LookInto(coordinator) => self.coordinator = coordinator,
            Order::End => {}
        }
    }

    fn update(&mut self, scenario: Arc<Scenario>) {
        let Some(session) = &mut self.session else {
            self.scenario = scenario;
            self.reset();
            return;
        };
        // Before the first step an edit changes how it starts.
        if session.world().steps() == 0 {
            self.scenario = scenario;
            self.reset();
            return;
        }
        let world = session.world_mut();
        match world.update(&self.scenario, &scenario, &self.registry) {
            Ok(()) => self.scenario = scenario,
            Err(error) => self.fail(format!("The run goes on without this edit: {error}.")),
        }
    }

    fn step(&mut self) {
        let Some(session) = &mut self.session else {
            return;
        };
        let due = self.heat.due();
        session.step(&mut [&mut self.watch, &mut self.heat, &mut self.statistics]);
        // The heat map has taken a sample in this step: only then it differs.
        if self.heat.due() > due {
            self.shown_heat = Arc::new(self.heat.cells().collect());
        }
    }

    fn publish(&self) {
        // Lists that have not grown are shared with the picture before: most pictures add nothing
        // to them.
        let before = match self.shared.lock() {
            Ok(picture) => picture.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        };
        let mut picture = LivePicture {
            is_playing: self.playing,
            pace: self.pace,
            error: self.error.clone(),
            orders: self.orders,
            trace: Arc::new(self.watch.trace.iter().copied().collect()),
            ..LivePicture::default()
        };
        if let Some(world) = self.session.as_ref().map(Session::world) {
            picture.snapshot = world.snapshot();
            picture.is_over = world.is_over();
            picture.counts = world.counts();
            // Nobody can read it while it runs.
            picture.hash = if self.playing { 0 } else { world.state_hash() };
            picture.inspection = self.watch.agent.and_then(|id| world.inspect(id));
            match self.coordinator {
                Some(Coordinator::Junction(node)) => {
                    picture.junction = world.inspect_junction(node);
                }
                Some(Coordinator::Road(road)) => picture.road = world.inspect_road(road),
                None => {}
            }
            picture.collisions = if before.collisions.len() == world.collisions().len() {
                before.collisions.clone()
            } else {
                Arc::new(world.collisions().to_vec())
            };
            picture.heat = self.shown_heat.clone();
            picture.results = before.results.grown(&self.statistics, &self.before);
            picture.marks = world.marks().cloned().collect();
            picture.signals = world.signals().collect();
            picture.swaps = world.swaps().len();
            picture.log_count = world.log_count();
            picture.log = if before.log_count == picture.log_count {
                before.log.clone()
            } else {
                let lines = world.log();
                let skipped = lines.len().saturating_sub(LOG_LINES);
                Arc::new(lines.skip(skipped).cloned().collect())
            };
        }
        let picture = Arc::new(picture);
        match self.shared.lock() {
            Ok(mut shared) => *shared = picture,
            Err(poisoned) => *poisoned.into_inner() = picture,
        }
        (self.wake)();
    }

    /// Takes the next order: waits for it while the world stands still.
    fn next_order(&self) -> Result<Order, TryRecvError> {
        if self.playing {
            self.inbox.try_recv()
        } else {
            self.inbox.recv().map_err(|_| TryRecvError::Disconnected)
        }
    }

    fn dt(&self) -> f64 {
        let world = self.session.as_ref().map(Session::world);
        world.map_or(0.01, World::dt)
    }

    /// Steps until `owed` simulated time is paid back or the slice is over, so that orders are not
    /// kept waiting; the number of steps.
    fn pay_back(&mut self, owed: &mut f64, since: Instant) -> f64 {
        let dt = self.dt();
        let mut steps = 0.0;
        while *owed >= dt && since.elapsed().as_secs_f64() < SLICE {
            self.step();
            *owed -= dt;
            steps += 1.0;
            let world = self.session.as_ref().map(Session::world);
            if world.is_none_or(World::is_over) {
                self.playing = false;
                break;
            }
        }
        steps
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the window's wall clock paces the simulation; nothing in it reads the clock"
    )]
    fn run(mut self) {
        self.publish();
        let mut last = Instant::now();
        let mut shown = last;
        // Simulated time that is owed, s.
        let mut owed = 0.0;
        loop {
            let waiting = !self.playing;
            match self.next_order() {
                Ok(order) => {
                    if !self.obey_all(order) {
                        return;
                    }
                    if waiting {
                        // Nothing is owed for the time in which it stood still.
                        (last, owed) = (Instant::now(), 0.0);
                    }
                    self.publish();
                    continue;
                }
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {}
            }
            let now = Instant::now();
            let wall = (now - last).as_secs_f64();
            last = now;
            let dt = self.dt();
            owed = if self.speed.is_finite() {
                // A machine that is too slow must not run after a debt that only grows.
                (owed + wall * self.speed).min(MOST_BEHIND * self.speed + dt)
            } else {
                f64::INFINITY
            };
            let steps = self.pay_back(&mut owed, now);
            if wall > 0.0 {
                let spent = now.elapsed().as_secs_f64().max(wall);
                // A running mean: single slices are too uneven to be read.
                self.pace += 0.1 * (steps * dt / spent - self.pace);
            }
            if shown.elapsed().as_secs_f64() >= 1.0 / PICTURE_RATE || !self.playing {
                shown = Instant::now();
                self.publish();
            }
            if owed < dt {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}
