//! The thread of the simulation.
//!
//! ```text
//!  orders --> obey      only between two steps, so that a run can be repeated
//!             step      as many steps as the clock and the speed require, for at most one slice
//!  picture <- publish   60 times a second, and after every order
//! ```

use super::history::SignalHistory;
use super::{
    ClipOrder, ClipProgress, Coordinator, JudgedRace, LivePicture, Order, PathNotice, RaceProgress,
};
use roadwright_agent::Registry;
use roadwright_recording::{
    AgentTrace, ClipRows, Intervention, NoClip, ObservedRun, Rewind, RunResults, steps,
};
use roadwright_scenario::{AgentId, Scenario};
use roadwright_simulation::{
    CouplingOrder, GroundInspection, GroundQuestion, HandControls, PathStatus, Snapshot, Status,
    WaitChain, World,
};
use roadwright_training::{ControlChange, Judge};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longest time for which the world is stepped before the thread checks for orders, in seconds:
/// half a frame at 60 Hz.
const SLICE: f64 = 0.008;
/// Snapshots per second.
const PICTURE_RATE: f64 = 60.0;
/// Maximum backlog of wall time to catch up on, in seconds; any excess is dropped. Otherwise, a run that was
/// too slow for a minute would run too fast for a minute once it has less to do.
const MOST_BEHIND: f64 = 0.25;
/// Number of snapshots between updates of the watched agent's cells and searches while the run is
/// playing.
const PLANNING_EVERY: u64 = 12;
/// Number of lines shown from the log of the modules.
const LOG_LINES: usize = 200;

/// A user's attempt on a course.
struct RunningRace {
    race: JudgedRace,
    judge: Judge,
    progress: RaceProgress,
}

impl RunningRace {
    fn new(race: JudgedRace, scenario: &Scenario) -> Self {
        let level = scenario.settings().dynamics;
        Self {
            judge: Judge::of_person(&race.course, level, scenario),
            progress: RaceProgress {
                number: race.number,
                controls: Arc::default(),
                ended: None,
                is_void: false,
            },
            race,
        }
    }

    /// Whether the attempt can still be judged. A run that was rewound or edited cannot be judged.
    fn is_judged(&self) -> bool {
        self.progress.ended.is_none() && !self.progress.is_void
    }

    fn note(&mut self, step: u64, agent: u64, controls: HandControls) {
        if agent == self.race.agent && self.is_judged() {
            Arc::make_mut(&mut self.progress.controls).push(ControlChange {
                step,
                pedals: controls.pedals,
                steering: controls.steering,
                lock: controls.lock,
            });
        }
    }
}

/// State of the simulation thread.
pub(super) struct Runner {
    scenario: Arc<Scenario>,
    registry: Registry,
    run: Option<ObservedRun>,
    past: Rewind,
    /// Lights of the current run over the last minutes.
    lights: SignalHistory,
    /// The run at the shown moment of the past; `None` while the present is shown.
    shown_past: Option<ObservedRun>,
    /// The agent under manual control.
    driven: Option<(u64, HandControls)>,
    inbox: Receiver<Order>,
    shared: Arc<Mutex<Arc<LivePicture>>>,
    wake: Box<dyn Fn() + Send>,
    playing: bool,
    speed: f64,
    /// The step at which the run ends.
    end_at: Option<u64>,
    watched: Option<u64>,
    coordinator: Option<Coordinator>,
    ground: GroundQuestion,
    /// Number of published snapshots.
    published: u64,
    /// The user's attempt on a course.
    race: Option<RunningRace>,
    /// The last recorded clip, with the total number of clips.
    recorded: Option<(u64, Arc<ClipRows>)>,
    /// Results of the previous run.
    before: Option<Arc<RunResults>>,
    error: Option<(u64, String)>,
    errors: u64,
    orders: u64,
    pace: f64,
}

impl Runner {
    pub(super) fn new(
        scenario: Arc<Scenario>,
        registry: Registry,
        inbox: Receiver<Order>,
        shared: Arc<Mutex<Arc<LivePicture>>>,
        wake: Box<dyn Fn() + Send>,
    ) -> Self {
        let mut runner = Self {
            scenario,
            registry,
            run: None,
            past: Rewind::default(),
            lights: SignalHistory::default(),
            shown_past: None,
            driven: None,
            inbox,
            shared,
            wake,
            playing: false,
            speed: 1.0,
            end_at: None,
            watched: None,
            coordinator: None,
            ground: GroundQuestion::default(),
            published: 0,
            race: None,
            recorded: None,
            before: None,
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
        // A run that was never started is not kept for comparison.
        let run = self.run.as_ref();
        if let Some(run) = run.filter(|run| run.statistics.rows().len() > 1) {
            self.before = Some(run.results());
        }
        (self.past, self.shown_past, self.driven) = (Rewind::default(), None, None);
        self.race = None;
        self.lights.clear();
        // The agent is still watched, but its history belongs to the old run.
        match ObservedRun::new(self.scenario.clone(), &self.registry, self.watched) {
            Ok(run) => {
                self.lights.watch(run.world());
                self.run = Some(run);
            }
            Err(error) => {
                self.run = None;
                self.playing = false;
                self.fail(format!("This scenario cannot run: {error}."));
            }
        }
    }

    /// Carries out an order and all orders that have arrived since. Returns whether to continue. Of
    /// consecutive edits, only the last one is applied, because it includes the others. The same
    /// applies to rewinding.
    fn obey_all(&mut self, first: Order) -> bool {
        let mut orders: Vec<Order> = vec![first];
        orders.extend(self.inbox.try_iter());
        // Checked before all other orders, because the window waits for this thread to end.
        if orders.iter().any(|order| matches!(order, Order::End)) {
            return false;
        }
        let mut orders = orders.into_iter().peekable();
        while let Some(order) = orders.next() {
            let holds = |next: &Order| {
                matches!(
                    (&order, next),
                    (Order::Update(_), Order::Update(_)) | (Order::LookBack(_), Order::LookBack(_))
                )
            };
            if orders.peek().is_some_and(holds) {
                // Skipped orders also count as carried out, because the window compares this number with the
                // orders it sent.
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
            Order::Play => {
                self.go_on_from_past();
                // If the past could not become the present, it stays on display and the run stays
                // paused.
                let can = self.run.is_some() && self.shown_past.is_none() && !self.has_ended();
                self.playing = can;
            }
            Order::Pause => self.playing = false,
            Order::Step => {
                self.playing = false;
                match &self.shown_past {
                    // The next moment of the past.
                    Some(shown) => self.look_back(shown.world().steps() + 1),
                    None => self.step(),
                }
            }
            Order::Reset => {
                self.playing = false;
                self.reset();
            }
            Order::Look(agent, answer) => {
                let view = self
                    .shown()
                    .and_then(|run| run.world().behaviour_view(agent));
                // The window may have stopped waiting.
                let _ = answer.send(view);
            }
            Order::EndAt(step) => self.end_at = step,
            Order::Speed(speed) => self.speed = speed,
            Order::Update(scenario) => self.update(scenario),
            Order::Modules(registry) => self.use_modules(registry),
            Order::Watch(agent) => self.watch(agent),
            Order::LookInto(coordinator) => self.coordinator = coordinator,
            Order::LookAtGround(question) => self.ground = question,
            Order::LookBack(time) => {
                let dt = self.dt();
                self.look_back(steps(time, dt));
            }
            Order::Present => self.shown_past = None,
            Order::Drive(agent, controls) => self.drive(agent, controls),
            Order::Coupling(agent, order) => self.couple(agent, order),
            Order::Race(race) => self.begin_race(*race),
            Order::BeginClip(order) => self.begin_clip(order),
            Order::EndClip => self.end_clip(),
            Order::End => {}
        }
    }

    /// Returns the run to its start and hands control to the user. Agents exist only from the first
    /// step on.
    fn begin_race(&mut self, race: JudgedRace) {
        self.playing = false;
        self.reset();
        let agent = race.agent;
        self.race = Some(RunningRace::new(race, &self.scenario));
        self.step();
        self.drive(agent, Some(HandControls::default()));
    }

    fn begin_clip(&mut self, order: ClipOrder) {
        // The past cannot be changed, so the run continues from it first.
        self.go_on_from_past();
        let Some(run) = self.run.as_mut().filter(|_| self.shown_past.is_none()) else {
            return;
        };
        let ClipOrder { agent, rate_hz } = order;
        if let Err(why) = run.begin_clip(agent, rate_hz) {
            self.fail(match why {
                NoClip::NotDriving => format!("Agent {agent} is not driving."),
                NoClip::OnLanes => format!(
                    "Agent {agent} drives at the level \"lane\", which does not steer. Choose another level for it."
                ),
                NoClip::Uneven(dt) => format!(
                    "At {rate_hz} frames per second, the time between frames is not a multiple of the time step, {dt} s. \
                     Choose another time step in the settings of the scenario."
                ),
            });
        }
    }

    fn end_clip(&mut self) {
        let clip = self.run.as_mut().and_then(|run| run.clips.end());
        if let Some(clip) = clip {
            let number = self.recorded.as_ref().map_or(0, |(number, _)| *number);
            self.recorded = Some((number + 1, Arc::new(clip)));
        }
    }

    /// Returns the run at the shown moment.
    fn shown(&self) -> Option<&ObservedRun> {
        self.shown_past.as_ref().or(self.run.as_ref())
    }

    /// Whether a run has reached its last step.
    fn is_at_end(&self, run: &ObservedRun) -> bool {
        self.end_at.is_some_and(|end| run.world().steps() >= end)
    }

    /// Whether the current run has reached its last step.
    fn has_ended(&self) -> bool {
        self.run.as_ref().is_some_and(|run| self.is_at_end(run))
    }

    fn watch(&mut self, agent: Option<u64>) {
        if agent == self.watched {
            return;
        }
        self.watched = agent;
        for run in [&mut self.run, &mut self.shown_past].into_iter().flatten() {
            run.watch = AgentTrace::of(agent);
        }
    }

    fn use_modules(&mut self, registry: Registry) {
        self.registry = registry;
        match &mut self.run {
            Some(run) => run.use_modules(&self.registry),
            // A run that could not start because a module was missing may start now.
            None => self.reset(),
        }
    }

    fn update(&mut self, scenario: Arc<Scenario>) {
        // The step at which the run ends belongs to the old scenario.
        self.end_at = None;
        let steps = self.run.as_ref().map(|run| run.world().steps());
        // Before the first step an edit changes the initial state.
        if steps.is_none_or(|steps| steps == 0) {
            self.scenario = scenario;
            self.reset();
            return;
        }
        let ended = self
            .run
            .as_ref()
            .map_or(0, |run| run.world().finished().len());
        if self.take(Intervention::Update(scenario.clone())) {
            if let Some(race) = &mut self.race {
                race.progress.is_void = true;
            }
            self.scenario = scenario;
            self.tell_of_removed(ended);
        }
    }

    /// Reports how many vehicles an edit has removed, if any. Agents that are still in the scenario are not
    /// counted, because they restart automatically (for example after their start was moved). `ended` is the
    /// number of drives that had ended before the edit.
    fn tell_of_removed(&mut self, ended: usize) {
        let Some(run) = &self.run else { return };
        let agents = self.scenario.agents();
        let stays = |id: u64| u32::try_from(id).is_ok_and(|id| agents.contains_key(&AgentId(id)));
        let news = run.world().finished().skip(ended);
        let gone = news.filter(|drive| drive.status == Status::Removed && !stays(drive.id));
        let vehicles = match gone.count() {
            0 => return,
            1 => "A vehicle was".into(),
            count => format!("{count} vehicles were"),
        };
        self.fail(format!(
            "{vehicles} removed from the run: their lane or destination was deleted. Undo restarts them."
        ));
    }

    /// Applies an intervention to the current run and records it. Returns whether it succeeded.
    fn take(&mut self, event: Intervention) -> bool {
        let Some(run) = &mut self.run else {
            return false;
        };
        match run.take(&event, &self.registry) {
            Ok(()) => {
                self.past.note(run.world().steps(), event);
                true
            }
            Err(message) => {
                self.fail(message);
                false
            }
        }
    }

    fn drive(&mut self, agent: u64, controls: Option<HandControls>) {
        // The past cannot be changed, so the run continues from it before the vehicle is driven.
        self.go_on_from_past();
        if self.shown_past.is_some() {
            return;
        }
        let can = self.take(Intervention::Drive(agent, controls));
        if let (true, Some(run), Some(race)) = (can, &self.run, &mut self.race) {
            match controls {
                Some(controls) => race.note(run.world().steps(), agent, controls),
                None => race.progress.is_void |= race.progress.ended.is_none(),
            }
        }
        self.driven = controls.filter(|_| can).map(|controls| (agent, controls));
    }

    fn couple(&mut self, agent: u64, order: CouplingOrder) {
        // The past cannot be changed, so the run continues from it first.
        self.go_on_from_past();
        if self.shown_past.is_none() {
            self.take(Intervention::Coupling(agent, order));
        }
    }

    /// Shows a step of the past; the present is paused.
    fn look_back(&mut self, step: u64) {
        let Some(run) = &self.run else { return };
        self.playing = false;
        let world = run.world();
        if step >= world.steps() {
            self.shown_past = None;
            return;
        }
        // A moment before the oldest one kept shows the oldest one.
        let oldest = steps(self.past.timeline(run, None).from, world.dt());
        let on_the_way = self.shown_past.take();
        let found = self
            .past
            .find(step.max(oldest), run, on_the_way, &self.registry);
        match found {
            Ok(found) => self.shown_past = Some(found),
            Err(message) => self.fail(message),
        }
    }

    /// Makes the shown moment of the past the present, with the current scenario, and discards everything
    /// after it. Does nothing if the present is shown.
    fn go_on_from_past(&mut self) {
        let (Some(mut shown), Some(run)) = (self.shown_past.take(), &mut self.run) else {
            return;
        };
        let step = shown.world().steps();
        let edited = Some(run.scenario.clone());
        let edited = edited.filter(|scenario| !Arc::ptr_eq(&shown.scenario, scenario));
        // Before the first step an edit changes the initial state.
        if step == 0 && edited.is_some() {
            self.reset();
            return;
        }
        let event = edited.map(Intervention::Update);
        let taken = event
            .iter()
            .try_for_each(|event| shown.take(event, &self.registry));
        if let Err(message) = taken {
            self.shown_past = Some(shown);
            self.fail(message);
            return;
        }
        // The discarded future is kept for comparison.
        self.before = Some(run.results());
        self.driven = shown.world().driven_by_hand();
        self.lights.cut_after(shown.world().time());
        *run = shown;
        if let Some(race) = &mut self.race {
            race.progress.is_void = true;
        }
        self.past.cut_after(step);
        if let Some(event) = event {
            self.past.note(step, event);
        }
    }

    fn step(&mut self) {
        if self.has_ended() {
            return;
        }
        if let Some(run) = &mut self.run {
            self.past.watch(run);
            run.step();
            self.lights.watch(run.world());
            if let Some((agent, _)) = self.driven
                && run
                    .world()
                    .driven_by_hand()
                    .is_none_or(|(id, _)| id != agent)
            {
                self.driven = None;
            }
            if let Some(race) = self.race.as_mut().filter(|race| race.is_judged()) {
                race.judge.after_step(run.world());
                race.progress.ended = race.judge.person_drive().cloned();
                self.playing &= race.progress.ended.is_none();
            }
            if run.clips.rows().is_some_and(|clip| clip.ended.is_some()) {
                self.end_clip();
            }
        }
    }

    fn publish(&mut self) {
        self.published += 1;
        // Lists that have not grown are shared with the previous snapshot, because most snapshots add nothing
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
            driven: self.driven,
            recorded: self.recorded.clone(),
            race: self.race.as_ref().map(|race| race.progress.clone()),
            ..LivePicture::default()
        };
        if let (Some(shown), Some(run)) = (self.shown(), &self.run) {
            picture.timeline = self.past.timeline(run, self.shown_past.as_ref());
            // Curves and trips cover the whole run, even while an earlier moment is shown.
            picture.results =
                before
                    .results
                    .grown(&run.statistics, run.ran(), self.before.as_ref());
            self.show(shown, &before, &mut picture);
            picture.events = before.events.grown(run, picture.timeline.from);
            let node = picture.junction.as_ref().map(|junction| junction.node);
            picture.lights = self.lights.of(node, &before.lights);
        }
        let picture = Arc::new(picture);
        match self.shared.lock() {
            Ok(mut shared) => *shared = picture,
            Err(poisoned) => *poisoned.into_inner() = picture,
        }
        (self.wake)();
    }

    /// Fills a snapshot with the current state of a run.
    fn show(&self, run: &ObservedRun, before: &LivePicture, picture: &mut LivePicture) {
        let world = run.world();
        picture.trace = Arc::new(run.watch.trace.iter().copied().collect());
        picture.snapshot = world.snapshot();
        picture.ground = Some(world.ground().clone());
        picture.is_over = world.is_over() || self.is_at_end(run);
        picture.counts = world.counts();
        // The hash is not shown while the run is playing, because it changes too fast to be read.
        picture.hash = if self.playing { 0 } else { world.state_hash() };
        picture.inspection = self.watched.and_then(|id| world.inspect(id));
        let chain = self.watched.and_then(|id| world.wait_chain(id));
        picture.wait_chain = chain.filter(WaitChain::begins_standing);
        if let (Some(id), None) = (self.watched, &picture.inspection) {
            let last = world.finished().filter(|drive| drive.id == id).last();
            picture.ending = last.map(|drive| (drive.status, drive.ended));
        }
        match self.coordinator {
            Some(Coordinator::Junction(node)) => picture.junction = world.inspect_junction(node),
            Some(Coordinator::Road(road)) => picture.road = world.inspect_road(road),
            None => {}
        }
        picture.moves = self
            .watched
            .and_then(|id| world.inspect_moves(id))
            .map(Arc::new);
        picture.clip = run.clips.rows().map(|clip| ClipProgress {
            agent: clip.agent,
            frames: clip.rows.len(),
            rate_hz: clip.rate_hz,
        });
        picture.planning = self.planning(world, before);
        picture.without_path = without_path(world, &picture.snapshot);
        picture.collisions = if before.collisions.len() == world.collisions().len() {
            before.collisions.clone()
        } else {
            Arc::new(world.collisions().to_vec())
        };
        picture.heat = run.shown_heat.clone();
        picture.drive = run.recorder.kept.clone();
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

    /// Inspects the watched agent's planning. While the run plays, cells and searches are updated
    /// only a few times a second, because they cost more than a step.
    fn planning(&self, world: &World, before: &LivePicture) -> Option<Arc<GroundInspection>> {
        let watched = self.watched?;
        let is_cheap = self.ground == GroundQuestion::default();
        let kept = before
            .planning
            .as_ref()
            .filter(|kept| kept.agent == watched);
        if let Some(kept) = kept
            && self.playing
            && !is_cheap
            && !self.published.is_multiple_of(PLANNING_EVERY)
        {
            return Some(kept.clone());
        }
        world.inspect_ground(watched, &self.ground).map(Arc::new)
    }

    /// Takes the next order, waiting for it while the run is paused.
    fn next_order(&self) -> Result<Order, TryRecvError> {
        if self.playing {
            self.inbox.try_recv()
        } else {
            self.inbox.recv().map_err(|_| TryRecvError::Disconnected)
        }
    }

    fn dt(&self) -> f64 {
        self.run.as_ref().map_or(0.01, |run| run.world().dt())
    }

    /// Simulates the time `owed`, in seconds, step by step. Stops early when the time slice that
    /// began at `since` is over, so that orders are not delayed, or when the run ends. Returns the
    /// number of steps.
    fn pay_back(&mut self, owed: &mut f64, since: Instant) -> f64 {
        let dt = self.dt();
        let mut steps = 0.0;
        while *owed >= dt && since.elapsed().as_secs_f64() < SLICE {
            self.step();
            *owed -= dt;
            steps += 1.0;
            let world = self.run.as_ref().map(ObservedRun::world);
            let has_raced = self
                .race
                .as_ref()
                .is_some_and(|race| race.progress.ended.is_some());
            if world.is_none_or(World::is_over) || self.has_ended() || has_raced {
                self.playing = false;
                break;
            }
        }
        steps
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the wall clock paces the simulation in the window; the simulation itself does not read it"
    )]
    pub(super) fn run(mut self) {
        self.publish();
        let mut last = Instant::now();
        let mut shown = last;
        // Simulated time still to be stepped, in seconds.
        let mut owed = 0.0;
        loop {
            let waiting = !self.playing;
            match self.next_order() {
                Ok(order) => {
                    if !self.obey_all(order) {
                        return;
                    }
                    if waiting {
                        // Paused time is not caught up.
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
                // A machine that is too slow must not accumulate a growing backlog.
                (owed + wall * self.speed).min(MOST_BEHIND * self.speed + dt)
            } else {
                f64::INFINITY
            };
            let steps = self.pay_back(&mut owed, now);
            if wall > 0.0 {
                let spent = now.elapsed().as_secs_f64().max(wall);
                // A running mean, because single slices vary too much to be readable.
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

/// Returns the agents that have no path or are still searching for one.
fn without_path(world: &World, snapshot: &Snapshot) -> Vec<PathNotice> {
    let notice = |(agent, status): (u64, &PathStatus)| {
        Some(PathNotice {
            agent,
            at: snapshot.vehicle(agent)?.body.position,
            reason: match status {
                PathStatus::NoPath(why) => Some(why.text.clone()),
                PathStatus::Searching | PathStatus::Found => None,
            },
        })
    };
    world.without_known_path().filter_map(notice).collect()
}
