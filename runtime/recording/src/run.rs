//! A world with its observers: statistics, heat map, and the trace of the watched agent.

use crate::results::{Ran, RunResults};
use crate::rewind::{Checkpoint, Intervention};
use roadwright_agent::Registry;
use roadwright_scenario::Scenario;
use roadwright_simulation::{
    HeatCell, HeatMap, HeatPlace, Observer, RunOptions, SaveError, Session, SimulationError,
    Statistics, VehicleRecord, World,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Time between samples of a trace, s of simulated time, and the number of samples that are kept.
const TRACE_STEP: f64 = 0.1;
const TRACE_LENGTH: usize = 600;
/// Maximum number of rows of a drive by hand: an hour.
const MOST_KEPT: usize = 36_000;

/// The places of a heat map with their values, in the order of places.
pub type HeatCells = Vec<(HeatPlace, HeatCell)>;

/// State of a watched agent at one time.
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
    /// Offset to the left of the path that it follows, m; `None` for controllers without a model of their
    /// vehicle.
    pub offset: Option<f64>,
    /// Heading relative to that path, rad; `None` for the same controllers.
    pub heading_error: Option<f64>,
}

/// Traces one agent: an observer.
#[derive(Default)]
pub struct AgentTrace {
    /// The agent; `None` traces nothing.
    pub agent: Option<u64>,
    /// Its last minute, oldest first.
    pub trace: VecDeque<TracePoint>,
    /// When the next sample is due, s.
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

    /// The part of the trace up to a time, s.
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
        // Time is a sum of steps, so without the margin a sample would occasionally be a step late.
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

/// Records the vehicle that the user drives: an observer.
#[derive(Clone, Default)]
pub struct HandDrive {
    /// Time, s, and vehicle, every tenth of a second, oldest first.
    pub kept: Arc<Vec<(f64, VehicleRecord)>>,
}

impl HandDrive {
    /// The part recorded up to a time, s.
    fn until(&self, time: f64) -> Self {
        let before = self.kept.iter().filter(|(at, _)| *at <= time + 1e-9);
        Self {
            kept: Arc::new(before.copied().collect()),
        }
    }
}

impl Observer for HandDrive {
    fn after_step(&mut self, world: &World) {
        let Some((agent, _)) = world.driven_by_hand() else {
            return;
        };
        let last = self
            .kept
            .last()
            .map(|(time, vehicle)| (*time, vehicle.agent));
        // Another drive starts a new table.
        let is_other = last.is_some_and(|(_, before)| before != agent);
        let is_due = last.is_none_or(|(time, _)| world.time() >= time + TRACE_STEP - 1e-9);
        if !is_other && (!is_due || self.kept.len() >= MOST_KEPT) {
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

/// A world that runs a scenario, with all its observers.
pub struct ObservedRun {
    session: Session,
    /// The scenario at its start.
    first: Arc<Scenario>,
    /// Its current scenario.
    pub scenario: Arc<Scenario>,
    /// The trace of the watched agent.
    pub watch: AgentTrace,
    heat: HeatMap,
    /// The heat map as of its last sample.
    pub shown_heat: Arc<HeatCells>,
    /// Its statistics.
    pub statistics: Statistics,
    /// The recorded drive of the user.
    pub recorder: HandDrive,
}

impl ObservedRun {
    /// Makes a run at its start.
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
        })
    }

    /// The world.
    pub fn world(&self) -> &World {
        self.session.world()
    }

    /// Its current scenario, and whether that was edited since its start.
    pub fn ran(&self) -> Ran<'_> {
        Ran {
            scenario: &self.scenario,
            is_edited: !Arc::ptr_eq(&self.first, &self.scenario),
        }
    }

    /// Its results.
    pub fn results(&self) -> Arc<RunResults> {
        Arc::new(RunResults::of(&self.statistics, self.ran()))
    }

    /// Runs one step.
    pub fn step(&mut self) {
        let samples = self.heat.samples();
        let observers: &mut [&mut dyn Observer] = &mut [
            &mut self.watch,
            &mut self.heat,
            &mut self.statistics,
            &mut self.recorder,
        ];
        self.session.step(observers);
        // The heat map changes only when it takes a sample, as in this step.
        if self.heat.samples() > samples {
            self.shown_heat = Arc::new(self.heat.cells().collect());
        }
    }

    /// New modules are made from this registry from now on.
    pub fn use_modules(&mut self, registry: &Registry) {
        self.session.world_mut().use_modules(registry);
    }

    /// Carries out an intervention between two steps.
    ///
    /// # Errors
    /// Why it cannot be carried out, as a message.
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
                if world.drive_by_hand(*agent, *controls) {
                    Ok(())
                } else {
                    Err(format!("Agent {agent} does not drive now."))
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

    /// Everything that is needed to continue from now.
    pub(crate) fn checkpoint(&self) -> Result<Checkpoint, SaveError> {
        let world = self.world();
        Ok(Checkpoint {
            step: world.steps(),
            saved: world.save(false)?,
            ground: world.ground().clone(),
            scenario: self.scenario.clone(),
            heat: self.heat.clone(),
            statistics: self.statistics.mark(),
        })
    }

    /// Returns this run at one of its checkpoints.
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
            // Not in checkpoints, because this run has observed that time as well; later entries are left
            // out.
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
        })
    }
}

fn options() -> RunOptions {
    RunOptions {
        // Vehicles that are still being placed must not prevent the others from driving.
        lenient: true,
        ..RunOptions::default()
    }
}
