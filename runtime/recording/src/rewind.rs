//! Rewinds a run to any moment in its last minutes.
//!
//! The world is saved every few seconds of simulated time, and all interventions between these
//! checkpoints are recorded. To show a moment, the checkpoint before it is restored and the steps
//! from there are repeated, with the same interventions between the same steps. The result is
//! bit-identical on every machine.
//!
//! ```text
//!   checkpoints   0 s       2 s       4 s       6 s   | now 7.3 s
//!   events             e1             e2  e3          |
//!   5.1 s is      restore 4 s, step to e2, e2, step to 5.1 s
//! ```

use crate::run::ObservedRun;
use roadwright_agent::Registry;
use roadwright_scenario::Scenario;
use roadwright_simulation::{
    CouplingOrder, Ground, HandControls, HeatCell, HeatMap, HeatPlace, SaveError, SavedWorld,
    StatisticsMark,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Interval between two checkpoints, in seconds of simulated time. With a shorter interval, more
/// memory is needed. With a longer interval, it takes longer to reach a moment.
const PERIOD: f64 = 2.0;
/// Longest period that can be rewound, in seconds of simulated time.
pub const LONGEST_REWIND: f64 = 300.0;
/// Memory limit for rewinding, bytes. If it is exceeded, the oldest checkpoint is dropped.
const MOST_BYTES: usize = 200_000_000;
/// Estimated size of a lanelet, bytes. It is a generous estimate, used for grounds that edits have
/// replaced.
const LANELET_BYTES: usize = 2_000;

/// A change that the user makes to a run between two steps.
#[derive(Debug, Clone)]
pub enum Intervention {
    /// The scenario was edited.
    Update(Arc<Scenario>),
    /// The user moves the controls of an agent, or returns it to its modules.
    Drive(u64, Option<HandControls>),
    /// The trailers of an agent are uncoupled or coupled.
    Coupling(u64, CouplingOrder),
}

/// The period that can be rewound, and the moment that is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// The oldest moment that can be shown, s.
    pub from: f64,
    /// The present moment, s.
    pub to: f64,
    /// The moment that is shown instead of the present, s.
    pub at: Option<f64>,
    /// Memory used for rewinding, bytes.
    pub bytes: usize,
    /// Reason why rewinding is impossible; `None` if it is possible.
    pub problem: Option<String>,
}

/// The state of a run at one moment.
pub(crate) struct Checkpoint {
    pub(crate) step: u64,
    pub(crate) saved: SavedWorld,
    pub(crate) ground: Arc<Ground>,
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) heat: HeatMap,
    pub(crate) statistics: StatisticsMark,
}

impl Checkpoint {
    /// Size of the checkpoint, bytes. The ground is counted only if it differs from that of the previous
    /// checkpoint.
    fn bytes(&self, before: Option<&Self>) -> usize {
        let cell = size_of::<(HeatPlace, HeatCell)>();
        let shares = before.is_some_and(|before| Arc::ptr_eq(&before.ground, &self.ground));
        let ground = if shares {
            0
        } else {
            self.ground.graph().lanelets().len() * LANELET_BYTES
        };
        self.saved.bytes() + self.heat.cells().len() * cell + self.statistics.bytes() + ground
    }
}

/// Checkpoints and interventions for rewinding.
#[derive(Default)]
pub struct Rewind {
    /// Checkpoints, oldest first, each with its size in bytes.
    checkpoints: VecDeque<(Checkpoint, usize)>,
    bytes: usize,
    /// Interventions in order, each with the number of the step that follows it.
    events: VecDeque<(u64, Intervention)>,
    /// Whether a checkpoint has to be stored before the next step.
    is_due: bool,
    /// Reason why rewinding is impossible; `None` if it is possible.
    problem: Option<String>,
}

impl Rewind {
    /// Stores a checkpoint if one is due. Has to be called before each step.
    pub fn watch(&mut self, run: &ObservedRun) {
        let world = run.world();
        // The interval is at least one step, because a step may be longer than the period.
        let every = steps(PERIOD, world.dt()).max(1);
        let last = self.checkpoints.back().map(|(last, _)| last.step);
        let is_due = self.is_due || last.is_none_or(|last| world.steps() >= last + every);
        // If a module cannot be saved now, it cannot be saved later either.
        if !is_due || self.problem.is_some() {
            return;
        }
        self.is_due = false;
        match run.checkpoint() {
            Ok(checkpoint) => self.keep(checkpoint, steps(LONGEST_REWIND, world.dt())),
            Err(error) => {
                *self = Self {
                    problem: Some(problem(&error)),
                    ..Self::default()
                }
            }
        }
    }

    fn keep(&mut self, checkpoint: Checkpoint, reach: u64) {
        let now = checkpoint.step;
        let bytes = checkpoint.bytes(self.checkpoints.back().map(|(last, _)| last));
        self.bytes += bytes;
        self.checkpoints.push_back((checkpoint, bytes));
        // The oldest checkpoint is dropped if the second oldest covers the whole period, or if too
        // much memory is used.
        while let (Some((_, bytes)), Some((second, _))) =
            (self.checkpoints.front(), self.checkpoints.get(1))
            // The last remaining checkpoint is kept, whatever its size.
            && (self.bytes > MOST_BYTES || second.step + reach <= now)
        {
            self.bytes -= bytes;
            self.checkpoints.pop_front();
            // Memory that the dropped checkpoint shared with the next one is attributed to the next
            // one.
            if let Some((first, bytes)) = self.checkpoints.front_mut() {
                let own = first.bytes(None);
                self.bytes = self.bytes - *bytes + own;
                *bytes = own;
            }
        }
        let oldest = self.oldest();
        while self.events.front().is_some_and(|(step, _)| *step < oldest) {
            self.events.pop_front();
        }
    }

    fn oldest(&self) -> u64 {
        self.checkpoints.front().map_or(0, |(first, _)| first.step)
    }

    /// Records an intervention before a step.
    pub fn note(&mut self, step: u64, event: Intervention) {
        // Without this, an earlier checkpoint at this step would be mistaken for one made after the
        // intervention.
        self.cut(|at| at >= step);
        let is_update = |event: &Intervention| matches!(event, Intervention::Update(_));
        let has_one = |(at, before): &(u64, Intervention)| *at == step && is_update(before);
        // Dragging on the map makes many edits while the run is paused, and each edit keeps a
        // scenario in memory. A single checkpoint after all of them takes less memory.
        if is_update(&event) && (self.is_due || self.events.iter().any(has_one)) {
            self.events.retain(|before| !has_one(before));
            self.is_due = true;
            return;
        }
        self.events.push_back((step, event));
    }

    /// Drops the checkpoints of the given steps. They have to be the last ones.
    fn cut(&mut self, is_cut: impl Fn(u64) -> bool) {
        while let Some((_, bytes)) = self.checkpoints.pop_back_if(|(last, _)| is_cut(last.step)) {
            self.bytes -= bytes;
        }
    }

    /// Drops everything after a step, because the run continues from that step.
    pub fn cut_after(&mut self, step: u64) {
        self.cut(|at| at > step);
        self.events.retain(|(at, _)| *at <= step);
        self.is_due = false;
    }

    /// Returns the run at a given step. `on_the_way` is the same run at another step. If that step
    /// is between the checkpoint and the requested step, the run is continued from there instead.
    ///
    /// # Errors
    /// If the moment cannot be reproduced. The error is a message for the user.
    pub fn find(
        &self,
        step: u64,
        run: &ObservedRun,
        on_the_way: Option<ObservedRun>,
        registry: &Registry,
    ) -> Result<ObservedRun, String> {
        let before = self
            .checkpoints
            .iter()
            .rev()
            .map(|(checkpoint, _)| checkpoint);
        let Some(checkpoint) = before.clone().find(|checkpoint| checkpoint.step <= step) else {
            return Err(self
                .problem
                .clone()
                .unwrap_or_else(|| "That moment is no longer available.".to_owned()));
        };
        let is_between =
            |run: &ObservedRun| (checkpoint.step..=step).contains(&run.world().steps());
        let mut found = match on_the_way.filter(is_between) {
            Some(run) => run,
            None => run
                .at(checkpoint, registry)
                .map_err(|error| problem(&error))?,
        };
        self.replay(&mut found, step, registry)?;
        Ok(found)
    }

    /// Runs the steps up to a later moment, with all interventions up to it.
    fn replay(&self, run: &mut ObservedRun, to: u64, registry: &Registry) -> Result<(), String> {
        // The run already includes the interventions before its current step.
        let from = run.world().steps();
        let mut events = self.events.iter().filter(|(step, _)| *step > from);
        let mut next = events.next();
        while run.world().steps() < to {
            run.step();
            while let Some((step, event)) = next
                && *step == run.world().steps()
            {
                run.take(event, registry)?;
                next = events.next();
            }
        }
        Ok(())
    }

    /// Returns the period that can be shown, from the oldest moment to the present of the run.
    pub fn timeline(&self, run: &ObservedRun, shown: Option<&ObservedRun>) -> Timeline {
        let world = run.world();
        Timeline {
            from: if self.checkpoints.is_empty() {
                world.time()
            } else {
                self.oldest() as f64 * world.dt()
            },
            to: world.time(),
            at: shown.map(|shown| shown.world().time()),
            bytes: self.bytes,
            problem: self.problem.clone(),
        }
    }
}

/// Returns the number of steps of length `dt` in a duration, rounded to the nearest integer.
pub fn steps(time: f64, dt: f64) -> u64 {
    (time / dt).round().max(0.0) as u64
}

fn problem(error: &SaveError) -> String {
    match error {
        SaveError::Modules(modules) => format!(
            "This run cannot be rewound: {} cannot save their state.",
            modules.join(", ")
        ),
        other => format!("This run cannot be rewound: {other}."),
    }
}
