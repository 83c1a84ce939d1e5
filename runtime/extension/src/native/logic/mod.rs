//! A module implemented by a library, with a built-in module as its fallback.
//!
//! `asking` sends rows to the library and checks the answers. `planning`, `over_ground` and
//! `deciding` do the same for planners, ground planners and signal controllers. `takeover` replaces
//! builds at step boundaries, and `saving` saves a module with the world.

mod asking;
mod deciding;
mod over_ground;
mod planning;
mod saving;
mod takeover;

pub(crate) use over_ground::check_path;

use super::backend::{Backend, Fault, State};
use super::cell::{Generation, PluginEntry};
use super::in_process::InProcess;
use super::kind::Kind;
use super::roads::FlatRoads;
use crate::event::Level;
use crate::failures::{Cause, Failures};
use crate::lock::locked;
use roadwright_agent::{
    Failure, Logic, LogicState, Lookahead, Module, ModuleKind, Needs, ParameterSet, StepBoundary,
    Swap,
};
use roadwright_plugin_api::PlanPose;
use roadwright_plugin_api::abi::{CAP_PARALLEL_SLICES, CAP_STATE};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

// A single bad step may have a single bad input as its cause, but ten in a row show a defect.
/// Number of consecutive steps with more than 1 % invalid rows that count as a fault.
const BAD_STEPS: u32 = 10;
/// Interval at which the state is saved for restarts, s of simulation time.
const SNAPSHOT_TIME: f64 = 1.0;
/// Number of batches that a build has to answer before its trial ends.
const TRIAL_BATCHES: u32 = 100;

/// Message about a plugin that changes the floating-point mode.
const CHANGED_MODE: &str = "changes the floating-point mode, as libraries built with -ffast-math do; \
                            it is restored after each call";

/// The instance that currently answers.
struct Active {
    generation: Arc<Generation>,
    is_isolated: bool,
    backend: Box<dyn Backend>,
    lookahead: Option<Lookahead>,
    /// Data that the instance requests in addition to its rows.
    needs: Option<Needs>,
    /// Parameter values that were sent to the instance.
    sent: Vec<f64>,
}

impl Active {
    /// Asks the instance again for its lookahead and its needs, which may depend on parameters and state.
    fn ask_again(&mut self, cell: &PluginEntry) {
        self.lookahead = self.backend.lookahead();
        match self.backend.needs() {
            Ok(needs) => self.needs = needs,
            // The instance keeps its previous needs.
            Err(fault) => cell.note_fault(&fault.message),
        }
    }
}

/// Results of the steps since the last boundary.
#[derive(Default)]
struct Health {
    /// Fault that prevents the instance from continuing.
    fault: Option<Fault>,
    rows: u64,
    bad_rows: u64,
    /// Number of batches answered since the last boundary.
    answered: u32,
    /// Number of consecutive steps with too many invalid rows.
    bad_steps: u32,
    /// Description of the flaw of the last invalid row.
    flaw: String,
    /// Status of the last row that the plugin itself marked as failed.
    marked: Option<u8>,
    mode_changed: bool,
}

impl Health {
    /// Returns the reason why rows were invalid, for messages.
    fn flaw(&self) -> String {
        match self.marked {
            Some(status) if self.flaw.is_empty() => {
                format!("rows were marked failed (status {status})")
            }
            _ => self.flaw.clone(),
        }
    }
}

/// A module implemented by a library.
pub(crate) struct Native<K: Kind> {
    cell: Arc<PluginEntry>,
    fallback: Module<K::Logic>,
    active: Option<Active>,
    seen: u64,
    /// Whether an agent uses this module, by agent index.
    present: Vec<bool>,
    capacity: u32,
    health: Mutex<Health>,
    /// Locked during calls of a plugin whose steps must not run in parallel.
    one_at_a_time: Mutex<()>,
    /// Answers of the previous step by agent index. They are stored once the plugin has asked to
    /// keep an answer. They are stored as bytes, because one build of a controller may return
    /// pedals and the next one accelerations.
    previous: Mutex<Vec<u8>>,
    by_pedals: bool,
    keeps: AtomicBool,
    snapshot: Option<State>,
    snapshot_at: f64,
    restarts: Vec<f64>,
    trial: u32,
    roads: Mutex<Option<Arc<FlatRoads>>>,
    /// Buffer for the paths of a ground planner.
    poses: Mutex<Vec<PlanPose>>,
    failures: Failures,
    /// Name of the build that was last in use, in the form used for records.
    last_build: String,
    /// Reason why the last build is no longer in use.
    out_because: String,
}

impl<K: Kind> Native<K> {
    /// Creates a module that uses the build wanted by its cell, with the built-in module `fallback`.
    pub(crate) fn new(cell: Arc<PluginEntry>, fallback: Module<K::Logic>) -> Self {
        let mut native = Self {
            seen: 0,
            cell,
            fallback,
            active: None,
            // Signals are not agents, so their programme is present from the beginning.
            present: vec![true; K::ALWAYS as usize],
            capacity: K::ALWAYS,
            health: Mutex::default(),
            one_at_a_time: Mutex::default(),
            previous: Mutex::default(),
            by_pedals: false,
            keeps: AtomicBool::new(false),
            snapshot: None,
            snapshot_at: 0.0,
            restarts: Vec::new(),
            trial: 0,
            roads: Mutex::default(),
            poses: Mutex::default(),
            failures: Failures::default(),
            last_build: String::new(),
            out_because: String::new(),
        };
        native.seen = native.cell.version();
        let wish = native.cell.wish();
        if let Some(generation) = wish.generation {
            match native.start(generation.clone(), wish.is_isolated) {
                Ok(active) => native.active = Some(active),
                Err(fault) => {
                    native.cell.withdraw(&generation.hash, &fault.message);
                    native.cell.say(Level::Error, &fault.message);
                    native.leave(&generation, wish.is_isolated, &fault);
                }
            }
        }
        native
    }

    /// Records that a fault has put a build out of service.
    fn leave(&mut self, generation: &Generation, is_isolated: bool, fault: &Fault) {
        self.last_build = build_name(generation, is_isolated);
        self.out_because.clone_from(&fault.message);
        self.failures.note(
            0,
            &self.last_build,
            Cause {
                agent: u64::MAX,
                reason: &fault.message,
                depends_on_machine: fault.depends_on_machine,
            },
        );
    }

    /// Counts answers that the built-in module gave because the library failed to give them. `agent` is the
    /// first of the affected agents.
    fn note_missing(&self, answers: u64, agent: Option<&u64>, reason: &str, fault: Option<&Fault>) {
        if answers == 0 {
            return;
        }
        let active = self.active.as_ref();
        let build = active.map(|active| build_name(&active.generation, active.is_isolated));
        self.failures.note(
            answers,
            build.as_ref().unwrap_or(&self.last_build),
            Cause {
                agent: agent.copied().unwrap_or(u64::MAX),
                reason,
                depends_on_machine: fault.is_some_and(|fault| fault.depends_on_machine),
            },
        );
    }

    /// Counts answers that the built-in module gives while no build is in use.
    fn note_out(&self, ids: &[u64]) {
        let reason = match self.out_because.as_str() {
            "" => "it is disabled",
            why => why,
        };
        self.note_missing(ids.len() as u64, ids.first(), reason, None);
    }

    /// Creates an instance and reports the present agents to it.
    fn start(&mut self, generation: Arc<Generation>, is_isolated: bool) -> Result<Active, Fault> {
        let _call = self.cell.enter(&generation, is_isolated);
        let backend = make_backend(&self.cell, &generation, K::KIND, is_isolated)?;
        let present = self.present.iter().enumerate();
        let indices: Vec<u32> = present
            .filter(|(_, present)| **present)
            .map(|(index, _)| index as u32)
            .collect();
        if !indices.is_empty() {
            // All present agents are reported as added, because the instance is new.
            backend.agents_changed(self.capacity, &indices, &[])?;
        }
        if backend.by_pedals() != self.by_pedals {
            self.by_pedals = backend.by_pedals();
            locked(&self.previous).clear();
        }
        // Its trial begins with its first step. If an isolated instance crashes, this process stays alive, so
        // nothing is marked.
        self.trial = if is_isolated { 0 } else { TRIAL_BATCHES };
        Ok(Active {
            sent: backend.parameters().iter().map(|p| p.default).collect(),
            lookahead: backend.lookahead(),
            needs: backend.needs()?,
            generation,
            is_isolated,
            backend,
        })
    }

    fn note_agents(&mut self, moment: &StepBoundary<'_>) {
        self.capacity = moment.capacity.max(K::ALWAYS);
        self.present.resize(self.capacity as usize, false);
        for &index in moment.removed {
            self.present[index as usize] = false;
        }
        for &index in moment.added {
            self.present[index as usize] = true;
        }
    }

    /// Evaluates the last step and resets its counts. Returns a fault if the instance cannot continue, or if
    /// too many consecutive steps had invalid rows.
    fn verdict(&mut self) -> Option<Fault> {
        let health = self
            .health
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // Evaluated at the boundary and not row by row, because the slices of a step run concurrently and the
        // result must not depend on which of them ends first.
        let too_many = health.bad_rows * 100 > health.rows;
        // A step without rows neither extends nor interrupts a series of bad steps.
        health.bad_steps = match (health.rows, too_many) {
            (0, _) => health.bad_steps,
            (_, true) => health.bad_steps + 1,
            (_, false) => 0,
        };
        (health.rows, health.bad_rows) = (0, 0);
        if std::mem::take(&mut health.mode_changed) {
            self.cell.say(Level::Warning, CHANGED_MODE);
        }
        if let Some(fault) = health.fault.take() {
            return Some(fault);
        }
        (health.bad_steps >= BAD_STEPS).then(|| {
            health.bad_steps = 0;
            Fault::fatal(format!(
                "invalid answers for {BAD_STEPS} steps: {}",
                health.flaw()
            ))
        })
    }

    fn active_hash(&self) -> String {
        let active = self.active.as_ref();
        active.map_or(String::new(), |active| active.generation.hash.clone())
    }

    fn live(&mut self, parameters: &mut ParameterSet, moment: &StepBoundary<'_>) -> Option<Swap> {
        // The order of the following parts matters. The agents come first, so that an instance which is
        // started below is notified of the agents of the coming step.
        self.note_agents(moment);
        let fault = self.verdict();
        let mut swap = fault.and_then(|fault| self.recover(&fault, moment));
        // This comes after a fault, because withdrawing a build changes the wish, and the previous build
        // takes over at this same boundary.
        if self.cell.version() != self.seen
            && let Some(followed) = self.follow_wish(parameters, moment)
        {
            swap = Some(match swap {
                // The previous build replaces the one that failed.
                Some(fault) => Swap {
                    note: format!("{}; back to: {}", fault.note, followed.note),
                    from: fault.from,
                    ..followed
                },
                None => followed,
            });
        }
        // This comes after both, because a newly started instance has its defaults.
        self.send_parameters(parameters);
        // A fresh instance already knows all agents.
        if swap.is_none()
            && !(moment.added.is_empty() && moment.removed.is_empty())
            && let Some(active) = &self.active
        {
            let _call = self.cell.enter(&active.generation, active.is_isolated);
            let told = active
                .backend
                .agents_changed(moment.capacity, moment.added, moment.removed);
            if let Err(fault) = told {
                locked(&self.health).fault = Some(fault);
            }
        }
        if let Some(active) = &self.active {
            if active.generation.info.has(CAP_STATE)
                && moment.time - self.snapshot_at >= SNAPSHOT_TIME
            {
                // Saved before the step, in which the plugin may fault, so that the saved state is that of a
                // working instance.
                self.snapshot_at = moment.time;
                let _call = self.cell.enter(&active.generation, active.is_isolated);
                self.snapshot = active.backend.save();
            }
            // No batch has been answered yet. The mark is written before the first step, in which the plugin
            // may end the program.
            if self.trial == TRIAL_BATCHES {
                let hash = &active.generation.hash;
                self.cell.quarantine.begin_trial(hash, self.cell.id);
            }
            let answered = std::mem::take(&mut locked(&self.health).answered);
            if self.trial > 0 && answered > 0 {
                self.trial = self.trial.saturating_sub(answered);
                if self.trial == 0 {
                    self.cell.quarantine.end_trial(&active.generation.hash);
                }
            }
        }
        swap
    }
}

/// Returns the name of a build in records, with its version, hash and tier.
fn build_name(generation: &Generation, is_isolated: bool) -> String {
    let tier = if is_isolated { "isolated" } else { "native" };
    format!(
        "{} {} {tier}",
        generation.info.version,
        generation.short_hash()
    )
}

impl<K: Kind> Drop for Native<K> {
    fn drop(&mut self) {
        if let Some(active) = &self.active {
            // A run that ends during a trial does not count against the build.
            self.cell.quarantine.end_trial(&active.generation.hash);
        }
    }
}

/// Creates an instance of a build for a kind of module.
pub(crate) fn make_backend(
    cell: &PluginEntry,
    generation: &Generation,
    kind: ModuleKind,
    is_isolated: bool,
) -> Result<Box<dyn Backend>, Fault> {
    if is_isolated {
        return make_isolated(cell, generation, kind);
    }
    let library = generation
        .library()
        .map_err(|error| Fault::fatal(error.to_string()))?;
    if library.changed_mode {
        cell.say(Level::Warning, CHANGED_MODE);
    }
    Ok(Box::new(InProcess::new(library, kind)?))
}

#[cfg(unix)]
fn make_isolated(
    cell: &PluginEntry,
    generation: &Generation,
    kind: ModuleKind,
) -> Result<Box<dyn Backend>, Fault> {
    let isolated = super::isolated::Isolated::start(cell, generation, kind)?;
    Ok(Box::new(isolated))
}

#[cfg(not(unix))]
fn make_isolated(
    _: &PluginEntry,
    _: &Generation,
    _: ModuleKind,
) -> Result<Box<dyn Backend>, Fault> {
    Err(Fault::fatal(
        "isolated mode is not available on this system".into(),
    ))
}

impl<K: Kind> Logic for Native<K> {
    fn save_state(&self) -> LogicState {
        self.keep()
    }

    fn load_state(&mut self, state: &[u8]) -> Result<(), String> {
        self.take_back(state)
    }

    fn has_step_boundary(&self) -> bool {
        true
    }

    fn asks_whole(&self) -> bool {
        let active = self.active.as_ref();
        active.is_some_and(|a| !a.generation.info.has(CAP_PARALLEL_SLICES))
    }

    fn version(&self) -> String {
        let active = self.active.as_ref();
        active.map_or(String::new(), |active| {
            build_name(&active.generation, active.is_isolated)
        })
    }

    fn failure(&self) -> Option<Failure> {
        self.failures.look(self.active.is_none())
    }

    fn take_failure(&mut self) -> Option<Failure> {
        self.failures.take(self.active.is_none())
    }

    fn at_step_boundary(
        &mut self,
        parameters: &mut ParameterSet,
        moment: &StepBoundary<'_>,
    ) -> Option<Swap> {
        self.live(parameters, moment)
    }
}
