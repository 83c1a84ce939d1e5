//! A world with observers that record statistics, a heat map, and the trace of the watched agent.

use crate::results::{Ran, RunResults};
use crate::rewind::{Checkpoint, Intervention};
use roadwright_agent::Registry;
use roadwright_scenario::Scenario;
use roadwright_simulation::{
    Collision, HeatCell, HeatMap, HeatPlace, Observer, RunOptions, SaveError, Session,
    SimulationError, Statistics, TraceRate, VehicleRecord, World,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Interval between samples of a trace, in seconds of simulated time.
const TRACE_STEP: f64 = 0.1;
/// Maximum number of samples in a trace.
const TRACE_LENGTH: usize = 600;
/// Maximum number of rows recorded while the user drives a vehicle. They cover one hour.
const MOST_KEPT: usize = 36_000;

/// The positions of a heat map and their values, in the order of positions.
pub type HeatCells = Vec<(HeatPlace, HeatCell)>;

/// State of a watched agent at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracePoint {
    /// Simulated time, s.
    pub time: f64,
    /// Speed, m/s.
    pub speed: f64,
    /// Speed limit of the road, m/s.
    pub road_speed: f64,
    /// Angle of the front wheels, rad.
    pub steering: f64,
    /// Commanded acceleration, m/s^2.
    pub acceleration: f64,
    /// Offset to the left of the followed path, m; `None` for controllers without a model of their vehicle.
    pub offset: Option<f64>,
    /// Heading relative to the followed path, rad; `None` for controllers without a model of their vehicle.
    pub heading_error: Option<f64>,
}

/// Observer that records the trace of an agent.
#[derive(Default)]
pub struct AgentTrace {
    /// The agent; `None` if nothing is recorded.
    pub agent: Option<u64>,
    /// The agent's last minute, oldest sample first.
    pub trace: VecDeque<TracePoint>,
    /// Time of the next sample, s.
    due: f64,
}

impl AgentTrace {
    /// Starts a trace of an agent.
    pub fn of(agent: Option<u64>) -> Self {
        Self {
            agent,
            ..Self::default()
        }
    }

    /// Returns the part of the trace up to `time`, s.
    fn until(&self, time: f64) -> Self {
        let before = self.trace.iter().filter(|point| point.time <= time + 1e-9);
        let trace: VecDeque<TracePoint> = before.copied().collect();
        Self {
            due: trace.back().map_or(0.0, |last| last.time + TRACE_STEP),
            agent: self.agent,
            trace,
        }
    }
}

impl Observer for AgentTrace {
    fn after_step(&mut self, world: &World) {
        let time = world.time();
        // Times are sums of time steps, so without the margin, a sample would sometimes be one step
        // late.
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
        let following = seen.following.as_ref();
        let state = |at: usize| following.and_then(|followed| followed.state.get(at).copied());
        self.trace.push_back(TracePoint {
            time,
            speed: seen.input.speed,
            road_speed: seen.input.road_speed,
            steering: seen.input.steering,
            acceleration: seen.command.acceleration,
            offset: state(0),
            heading_error: state(1),
        });
    }
}

/// Observer that records the vehicle that the user drives.
#[derive(Clone, Default)]
pub struct HandDrive {
    /// Time (s) and vehicle for each row that `run --trace` would write, oldest first.
    pub kept: Arc<Vec<(f64, VehicleRecord)>>,
}

impl HandDrive {
    /// Returns the part recorded up to `time`, s.
    fn until(&self, time: f64) -> Self {
        let before = self.kept.iter().filter(|(at, _)| *at <= time + 1e-9);
        Self {
            kept: Arc::new(before.copied().collect()),
        }
    }
}

impl Observer for HandDrive {
    fn begin(&mut self, world: &World) {
        self.after_step(world);
    }

    fn after_step(&mut self, world: &World) {
        let Some((agent, _)) = world.driven_by_hand() else {
            return;
        };
        if self
            .kept
            .last()
            .is_some_and(|(time, _)| *time == world.time())
        {
            return;
        }
        let last = self.kept.last().map(|(_, vehicle)| vehicle.agent);
        // If the user starts to drive another vehicle, a new table begins.
        let is_other = last.is_some_and(|before| before != agent);
        // Rows are due at the same times as with `run --trace`.
        let is_due = TraceRate::default_of(world.dt()).is_due(world.steps());
        if !is_due || !is_other && self.kept.len() >= MOST_KEPT {
            return;
        }
        let vehicles = world.snapshot().vehicles;
        let vehicle = vehicles.into_iter().find(|vehicle| vehicle.agent == agent);
        let kept = Arc::make_mut(&mut self.kept);
        if is_other {
            kept.clear();
        }
        kept.extend(vehicle.map(|vehicle| (world.time(), vehicle)));
    }
}

/// Rows of a vehicle, recorded for a driving clip.
#[derive(Debug, Clone)]
pub struct ClipRows {
    /// The agent.
    pub agent: u64,
    /// Key of its vehicle type.
    pub vehicle_type: Arc<str>,
    /// Number of rows per second.
    pub rate_hz: f64,
    /// Time (s) and vehicle for each row, oldest first.
    pub rows: Vec<(f64, VehicleRecord)>,
    /// Grip of the ground at the first row, relative to dry asphalt.
    pub grip: f64,
    /// Slope of the ground at the first row, as rise over run.
    pub slope: f64,
    /// Reason why the recording ended automatically; `None` if it did not end automatically.
    pub ended: Option<ClipEnd>,
}

/// Reason why the recording of a clip ends automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipEnd {
    /// The vehicle touched something.
    Contact,
    /// The vehicle no longer drives.
    Gone,
    /// The clip has the maximum number of rows.
    Full,
}

/// Maximum number of rows of a clip: ten minutes at 25 Hz.
const MOST_CLIP_ROWS: usize = 15_000;

/// Reason why a clip cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoClip {
    /// The agent is not driving.
    NotDriving,
    /// The dynamics level of the agent keeps it on its lane.
    OnLanes,
    /// The period of the rows is not a multiple of the time step. Contains the time step, s.
    Uneven(f64),
}

/// Observer that records a driving clip while the user makes it.
#[derive(Debug, Clone, Default)]
pub struct ClipRecorder {
    recorded: Option<ClipRows>,
}

impl ClipRecorder {
    /// Returns the clip up to the present; `None` if no clip is being recorded.
    pub fn rows(&self) -> Option<&ClipRows> {
        self.recorded.as_ref()
    }

    /// Ends the recording and returns the clip; `None` if no clip was recorded.
    pub fn end(&mut self) -> Option<ClipRows> {
        self.recorded.take()
    }

    /// Starts to record a clip of an agent, beginning with its present state.
    ///
    /// # Errors
    ///
    /// If the agent cannot be recorded.
    fn begin_clip(&mut self, world: &World, agent: u64, rate_hz: f64) -> Result<(), NoClip> {
        let steps = 1.0 / (rate_hz * world.dt());
        if steps < 0.999_999 || (steps - steps.round()).abs() > 1e-6 * steps {
            return Err(NoClip::Uneven(world.dt()));
        }
        let snapshot = world.snapshot();
        let vehicle = snapshot.vehicle(agent).ok_or(NoClip::NotDriving)?;
        if vehicle.steering_command.is_none() {
            return Err(NoClip::OnLanes);
        }
        self.recorded = Some(ClipRows {
            agent,
            vehicle_type: world.vehicle_type_of(agent).cloned().unwrap_or_default(),
            rate_hz,
            rows: vec![(world.time(), *vehicle)],
            grip: world.ground().grip(vehicle.pose.position),
            slope: world.slope_under(agent).unwrap_or(0.0),
            ended: None,
        });
        Ok(())
    }
}

impl Observer for ClipRecorder {
    fn after_step(&mut self, world: &World) {
        let Some(clip) = self.recorded.as_mut().filter(|clip| clip.ended.is_none()) else {
            return;
        };
        let first = clip.rows[0].0;
        let is_own =
            |one: &Collision| one.agent == clip.agent || one.with.agent() == Some(clip.agent);
        let newest = world.collisions().iter().rev();
        if newest.take_while(|one| one.time > first).any(is_own) {
            clip.ended = Some(ClipEnd::Contact);
            return;
        }
        // Rows are counted from the first row, because the first row may not coincide with a sample
        // of a trace.
        let rows = (clip.rows.len() as f64) / clip.rate_hz;
        if world.time() - first < rows - 1e-9 {
            return;
        }
        let snapshot = world.snapshot();
        match snapshot.vehicle(clip.agent) {
            Some(vehicle) => clip.rows.push((world.time(), *vehicle)),
            None => clip.ended = Some(ClipEnd::Gone),
        }
        if clip.rows.len() >= MOST_CLIP_ROWS {
            clip.ended = Some(ClipEnd::Full);
        }
    }
}

/// A world that runs a scenario, and all its observers.
pub struct ObservedRun {
    session: Session,
    /// The scenario at the start of the run.
    first: Arc<Scenario>,
    /// The current scenario of the run.
    pub scenario: Arc<Scenario>,
    /// The trace of the watched agent.
    pub watch: AgentTrace,
    heat: HeatMap,
    /// The heat map as of its last sample.
    pub shown_heat: Arc<HeatCells>,
    /// Statistics of the run.
    pub statistics: Statistics,
    /// Recorder of the vehicle that the user drives.
    pub recorder: HandDrive,
    /// Recorder of driving clips.
    pub clips: ClipRecorder,
}

impl ObservedRun {
    /// Creates a run that has not started yet.
    ///
    /// # Errors
    /// If the scenario cannot run.
    pub fn new(
        scenario: Arc<Scenario>,
        registry: &Registry,
        watched: Option<u64>,
    ) -> Result<Self, SimulationError> {
        let world = World::new(&scenario, registry, &options())?;
        let mut statistics = Statistics::default();
        statistics.begin(&world);
        Ok(Self {
            session: Session::new(world),
            first: scenario.clone(),
            scenario,
            watch: AgentTrace::of(watched),
            heat: HeatMap::default(),
            shown_heat: Arc::default(),
            statistics,
            recorder: HandDrive::default(),
            clips: ClipRecorder::default(),
        })
    }

    /// Starts recording a clip of an agent.
    ///
    /// # Errors
    /// If the agent cannot be recorded.
    pub fn begin_clip(&mut self, agent: u64, rate_hz: f64) -> Result<(), NoClip> {
        self.clips.begin_clip(self.session.world(), agent, rate_hz)
    }

    /// The world.
    pub fn world(&self) -> &World {
        self.session.world()
    }

    /// The current scenario, and whether it has been edited since the start of the run.
    pub fn ran(&self) -> Ran<'_> {
        Ran {
            scenario: &self.scenario,
            is_edited: !Arc::ptr_eq(&self.first, &self.scenario),
        }
    }

    /// The results of the run up to the present.
    pub fn results(&self) -> Arc<RunResults> {
        Arc::new(RunResults::of(&self.statistics, self.ran()))
    }

    /// Runs one step.
    pub fn step(&mut self) {
        let samples = self.heat.samples();
        self.session.world_mut().watch_moves(self.watch.agent);
        let observers: &mut [&mut dyn Observer] = &mut [
            &mut self.watch,
            &mut self.heat,
            &mut self.statistics,
            &mut self.recorder,
            &mut self.clips,
        ];
        self.session.step(observers);
        // The heat map changes only when it is sampled.
        if self.heat.samples() > samples {
            self.shown_heat = Arc::new(self.heat.cells().collect());
        }
    }

    /// Sets the registry from which new modules are created.
    pub fn use_modules(&mut self, registry: &Registry) {
        self.session.world_mut().use_modules(registry);
    }

    /// Carries out an intervention between two steps.
    ///
    /// # Errors
    /// If the intervention cannot be carried out. The error is a message for the user.
    pub fn take(&mut self, event: &Intervention, registry: &Registry) -> Result<(), String> {
        let world = self.session.world_mut();
        match event {
            Intervention::Update(scenario) => {
                world
                    .update(&self.scenario, scenario, registry)
                    .map_err(|error| format!("The run continues without this edit: {error}."))?;
                self.scenario = scenario.clone();
                Ok(())
            }
            Intervention::Drive(agent, Some(controls)) => {
                let before = world.driven_by_hand().map(|(agent, _)| agent);
                if world.drive_by_hand(*agent, *controls) {
                    if before != Some(*agent) {
                        self.recorder.begin(self.session.world());
                    }
                    Ok(())
                } else {
                    Err(format!("Agent {agent} is not driving."))
                }
            }
            Intervention::Coupling(agent, order) => match world.carry_out(*agent, *order) {
                Ok(_) => Ok(()),
                Err(why) => Err(format!("Agent {agent}: {why}.")),
            },
            Intervention::Drive(agent, None) => {
                world.give_back(*agent);
                Ok(())
            }
        }
    }

    /// Returns everything needed to continue the run from the current moment.
    pub(crate) fn checkpoint(&self) -> Result<Checkpoint, SaveError> {
        let world = self.world();
        Ok(Checkpoint {
            step: world.steps(),
            saved: world.save()?,
            ground: world.ground().clone(),
            scenario: self.scenario.clone(),
            heat: self.heat.clone(),
            statistics: self.statistics.mark(),
        })
    }

    /// Returns this run at a checkpoint.
    pub(crate) fn at(
        &self,
        checkpoint: &Checkpoint,
        registry: &Registry,
    ) -> Result<Self, SaveError> {
        let (world, _) = World::restore(
            checkpoint.ground.clone(),
            &checkpoint.scenario,
            registry,
            &options(),
            &checkpoint.saved,
        )?;
        Ok(Self {
            // The trace is not stored in checkpoints, because this run has also observed the time
            // before the checkpoint. Later samples are removed.
            watch: self.watch.until(world.time()),
            session: Session::new(world),
            first: self.first.clone(),
            scenario: checkpoint.scenario.clone(),
            heat: checkpoint.heat.clone(),
            shown_heat: Arc::new(checkpoint.heat.cells().collect()),
            statistics: self.statistics.at(&checkpoint.statistics),
            recorder: self
                .recorder
                .until(checkpoint.step as f64 * self.world().dt()),
            // A clip that is being recorded ends when the user goes back.
            clips: ClipRecorder::default(),
        })
    }
}

fn options() -> RunOptions {
    RunOptions {
        // If a vehicle cannot be placed yet, this must not prevent the others from driving.
        lenient: true,
        ..RunOptions::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_simulation::{HandControls, builtin_modules};

    fn kart_run() -> (ObservedRun, Registry, u64) {
        let file = "../../scenarios/kart-track.scenario.json";
        let scenario = roadwright_scenario::file::load(file.as_ref()).unwrap();
        let registry = builtin_modules();
        let mut run = ObservedRun::new(Arc::new(scenario), &registry, None).unwrap();
        // Vehicles depart in the first steps.
        while run.world().snapshot().vehicles.is_empty() {
            run.step();
        }
        let agent = run.world().snapshot().vehicles[0].agent;
        (run, registry, agent)
    }

    #[test]
    fn a_clip_has_evenly_spaced_rows_from_the_moment_at_which_it_begins() {
        let (mut run, _, agent) = kart_run();
        let dt = run.world().dt();
        for _ in 0..7 {
            run.step();
        }
        assert_eq!(run.begin_clip(99, 25.0), Err(NoClip::NotDriving));
        let uneven = run.begin_clip(agent, 30.0);
        assert_eq!(uneven, Err(NoClip::Uneven(dt)));
        assert!(run.clips.rows().is_none());
        run.begin_clip(agent, 25.0).unwrap();
        let begin = run.world().time();
        let steps = (1.0 / dt).round() as usize;
        for _ in 0..steps {
            run.step();
        }
        let clip = run.clips.end().unwrap();
        assert_eq!((clip.agent, clip.rows.len(), clip.ended), (agent, 26, None));
        assert_eq!((clip.grip, clip.slope), (1.0, 0.0));
        assert!(
            run.scenario
                .vehicle_types()
                .contains_key(&*clip.vehicle_type)
        );
        for (row, (time, _)) in clip.rows.iter().enumerate() {
            assert!((time - begin - 0.04 * row as f64).abs() < 1e-9, "{row}");
        }
        assert!(run.clips.end().is_none());
    }

    /// Rows of a trace of one agent, as written by `run --trace`.
    struct Traced {
        agent: u64,
        rows: Vec<String>,
    }

    impl Traced {
        fn look(&mut self, world: &World) {
            if TraceRate::default_of(world.dt()).is_due(world.steps()) {
                let snapshot = world.snapshot();
                let row = snapshot
                    .vehicle(self.agent)
                    .map(|vehicle| vehicle.trace_row(world.time()));
                self.rows.extend(row.map(|row| row.join(",")));
            }
        }
    }

    #[test]
    fn a_drive_that_is_kept_has_the_rows_of_a_trace() {
        let (mut run, registry, agent) = kart_run();
        let mut traced = Traced {
            agent,
            rows: Vec::new(),
        };
        for step in 0..700 {
            // The user takes control at a moment without a row, and changes the controls between
            // rows.
            if step % 50 == 3 {
                let controls = HandControls {
                    pedals: 0.4,
                    steering: if step % 100 == 3 { 0.6 } else { -0.6 },
                    ..HandControls::default()
                };
                let drive = Intervention::Drive(agent, Some(controls));
                run.take(&drive, &registry).unwrap();
            }
            if step >= 3 {
                run.step();
                traced.look(run.world());
            } else {
                run.step();
            }
        }
        let kept = run.recorder.kept.iter();
        let kept: Vec<String> = kept
            .map(|(time, vehicle)| vehicle.trace_row(*time).join(","))
            .collect();
        assert!(kept.len() > 50, "{}", kept.len());
        assert_eq!(kept, traced.rows);
        // The vehicle was driven with its pedals.
        assert!(
            kept.last().unwrap().contains(",0.4000,0.0000,"),
            "{:?}",
            kept.last()
        );
    }
}
