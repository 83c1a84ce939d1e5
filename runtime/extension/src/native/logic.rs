//! A module of a run whose answers come from a library, with a built-in one behind it.

use super::backend::{Backend, Batch, Fault, MOST_ROUTE, MOST_ROWS, State, bytes_of, bytes_of_mut};
use super::cell::{Cell, Generation, now};
use super::in_process::InProcess;
use super::kind::{AsController, AsFitness, AsPlanner, Kind, Numbers};
use super::roads::{FlatRoads, checked_route};
use crate::event::Level;
use crate::lock::locked;
use roadwright_agent::{
    Conduct, Controller, Fitness, Logic, LogicState, Lookahead, Module, ModuleKind, ParameterSet,
    Planner, PlannerView, Step, StepBoundary, Swap,
};
use roadwright_plugin_api::abi::{
    CAP_PARALLEL_SLICES, CAP_STATE, CAP_STATELESS, CAP_WANTS_DEFAULTS, ROW_KEEP, ROW_NOT_WRITTEN,
    ROW_OK,
};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, FitnessInput, FitnessOutput, PlannerInput, PlannerOutput,
};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of one call to a plugin whose steps may run in parallel: those of a thread's slice, so that
/// the same rows come together with any number of threads.
const PARALLEL_ROWS: usize = 64;
/// Restarts of a faulted instance in a time before its build goes into quarantine.
const MOST_RESTARTS: usize = 3;
/// That time, s of simulation.
const RESTART_TIME: f64 = 60.0;
/// Steps with more than a hundredth of unusable rows that make a fault.
const BAD_STEPS: u32 = 10;
/// How often the state is kept for a restart, s of simulation.
const SNAPSHOT_TIME: f64 = 1.0;
/// Answered batches after which a build is not on trial any more.
const TRIAL_BATCHES: u32 = 100;

/// What is said of a plugin that changes the floating point mode.
const CHANGED_MODE: &str = "changes the floating point mode, as libraries built with -ffast-math do; \
                            it is put back after each call";

/// An instance that answers now.
struct Active {
    generation: Arc<Generation>,
    is_isolated: bool,
    backend: Box<dyn Backend>,
    lookahead: Option<Lookahead>,
    /// Values of its parameters as it knows them.
    sent: Vec<f64>,
}

/// What a save keeps of a module: the state of the plugin, and the host's own.
#[derive(serde::Serialize, serde::Deserialize)]
struct Kept {
    own: Option<(u32, Vec<u8>)>,
    keeps: bool,
    previous: Vec<u8>,
    snapshot: Option<(u32, Vec<u8>)>,
    snapshot_at: f64,
    restarts: Vec<f64>,
    trial: u32,
    bad_steps: u32,
    flaw: String,
    /// Of the last step, which is judged at the next boundary.
    rows: u64,
    bad_rows: u64,
    mode_changed: bool,
}

/// How the last steps went.
#[derive(Default)]
struct Health {
    /// Why the instance cannot go on.
    fault: Option<Fault>,
    rows: u64,
    bad_rows: u64,
    /// Batches that were answered since the last boundary.
    answered: u32,
    /// Steps in a row with too many unusable rows.
    bad_steps: u32,
    /// Why the last unusable row was so.
    flaw: String,
    mode_changed: bool,
}

/// A module of a run whose answers come from a library.
pub(crate) struct Native<K: Kind> {
    cell: Arc<Cell>,
    fallback: Module<K::Logic>,
    active: Option<Active>,
    seen: u64,
    /// Agents that this module has, by agent index.
    present: Vec<bool>,
    capacity: u32,
    health: Mutex<Health>,
    /// Held while a plugin is asked whose steps must not run in parallel.
    one_at_a_time: Mutex<()>,
    /// Answers of the step before, by agent index, once the plugin has asked to keep one.
    previous: Mutex<Vec<K::Output>>,
    keeps: AtomicBool,
    snapshot: Option<State>,
    snapshot_at: f64,
    restarts: Vec<f64>,
    trial: u32,
    roads: Mutex<Option<Arc<FlatRoads>>>,
}

impl<K: Kind> Native<K> {
    /// A module that uses what the cell wishes for, with `fallback` behind it.
    pub(crate) fn new(cell: Arc<Cell>, fallback: Module<K::Logic>) -> Self {
        let mut native = Self {
            seen: 0,
            cell,
            fallback,
            active: None,
            present: Vec::new(),
            capacity: 0,
            health: Mutex::default(),
            one_at_a_time: Mutex::default(),
            previous: Mutex::default(),
            keeps: AtomicBool::new(false),
            snapshot: None,
            snapshot_at: 0.0,
            restarts: Vec::new(),
            trial: 0,
            roads: Mutex::default(),
        };
        native.seen = native.cell.version();
        let wish = native.cell.wish();
        if let Some(generation) = wish.generation {
            match native.start(generation.clone(), wish.is_isolated) {
                Ok(active) => native.active = Some(active),
                Err(fault) => {
                    native.cell.withdraw(&generation.hash, &fault.message);
                    native.cell.say(Level::Error, &fault.message);
                }
            }
        }
        native
    }

    /// Makes an instance that knows the agents.
    fn start(&mut self, generation: Arc<Generation>, is_isolated: bool) -> Result<Active, Fault> {
        let _call = self.cell.enter(&generation, is_isolated);
        let backend = make_backend(&self.cell, &generation, K::KIND, is_isolated)?;
        let present = self.present.iter().enumerate();
        let indices: Vec<u32> = present
            .filter(|(_, present)| **present)
            .map(|(index, _)| index as u32)
            .collect();
        if !indices.is_empty() {
            backend.agents_changed(self.capacity, &indices, &[])?;
        }
        // Its trial begins with its first step.
        self.trial = if is_isolated { 0 } else { TRIAL_BATCHES };
        Ok(Active {
            sent: backend.parameters().iter().map(|p| p.default).collect(),
            lookahead: backend.lookahead(),
            generation,
            is_isolated,
            backend,
        })
    }

    fn note_agents(&mut self, moment: &StepBoundary<'_>) {
        self.capacity = moment.capacity;
        self.present.resize(moment.capacity as usize, false);
        for &index in moment.removed {
            self.present[index as usize] = false;
        }
        for &index in moment.added {
            self.present[index as usize] = true;
        }
    }

    /// Whether the last step was one too bad; the health starts anew.
    fn verdict(&mut self) -> Option<Fault> {
        let health = self
            .health
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let too_many = health.bad_rows * 100 > health.rows;
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
            Fault {
                message: format!("unusable answers for {BAD_STEPS} steps: {}", health.flaw),
                is_fatal: true,
            }
        })
    }

    /// What follows a fault: a fresh instance with the state kept last (its parameters are sent as
    /// those of any other), or after too many of those the end of the build.
    fn recover(&mut self, fault: &Fault, moment: &StepBoundary<'_>) -> Option<Swap> {
        let active = self.active.take()?;
        let agents = self.present.iter().filter(|present| **present).count();
        let time = moment.time;
        self.restarts.retain(|at| time - at < RESTART_TIME);
        let (generation, is_isolated) = (active.generation.clone(), active.is_isolated);
        drop(active);
        if self.restarts.len() < MOST_RESTARTS {
            self.restarts.push(time);
            let count = self.restarts.len();
            self.cell.state().restarts += 1;
            match self.start(generation.clone(), is_isolated) {
                Ok(active) => {
                    let state = self.snapshot.clone();
                    let kept = state.is_some_and(|state| active.backend.load(&state).is_ok());
                    self.active = Some(active);
                    let kept = if kept { "state kept" } else { "started fresh" };
                    let note = format!(
                        "{}; fallback for {agents} agents, restart {count} of {MOST_RESTARTS}, {kept}",
                        fault.message
                    );
                    self.cell.note_fault(&note);
                    return Some(self.swap(&generation.hash, note));
                }
                Err(again) => self.cell.note_fault(&again.message),
            }
        }
        let why = format!(
            "{}; out after {} restarts",
            fault.message,
            self.restarts.len()
        );
        self.cell.quarantine.end_trial(&generation.hash);
        // What takes over is what the cell wishes for then.
        self.cell.withdraw(&generation.hash, &why);
        self.restarts.clear();
        self.snapshot = None;
        let note = format!("{why}; {} drives", self.fallback.info.id);
        self.cell.say(Level::Error, &note);
        Some(self.swap(&generation.hash, note))
    }

    /// Puts the parameters of the active instance in place of others; gives the keys that are
    /// known to one side only.
    fn take_parameters(&mut self, parameters: &mut ParameterSet) -> Vec<String> {
        let Some(active) = &self.active else {
            return Vec::new();
        };
        let infos = active.backend.parameters();
        let mut taken = ParameterSet::new(infos);
        let mut strange = Vec::new();
        for (index, old) in parameters.infos().iter().enumerate() {
            match infos.iter().find(|info| info.key == old.key) {
                Some(info) => {
                    let value = parameters.at(index).clamp(info.min, info.max);
                    // What was only a default follows the new default; a clamped value of a known
                    // key is always taken.
                    if parameters.at(index) != old.default {
                        let _ = taken.set(info.key, value);
                    }
                }
                None => strange.push(format!("{} is gone", old.key)),
            }
        }
        let is_new = |key: &str| parameters.infos().iter().all(|old| old.key != key);
        let new = infos.iter().filter(|info| is_new(info.key));
        strange.extend(new.map(|info| format!("{} is new", info.key)));
        *parameters = taken;
        strange
    }

    /// Lets what the cell wishes for take over.
    fn follow_wish(
        &mut self,
        parameters: &mut ParameterSet,
        moment: &StepBoundary<'_>,
    ) -> Option<Swap> {
        self.seen = self.cell.version();
        let wish = self.cell.wish();
        let old_hash = self.active_hash();
        let Some(generation) = wish.generation else {
            let old = self.active.take()?;
            self.cell.quarantine.end_trial(&old.generation.hash);
            let note = format!("{} drives", self.fallback.info.id);
            return Some(self.swap(&old_hash, note));
        };
        let state = self.active.as_ref().and_then(|a| a.backend.save());
        let new = match self.start(generation.clone(), wish.is_isolated) {
            Ok(new) => new,
            Err(fault) => {
                let why = format!("{} is not used: {}", generation.info.version, fault.message);
                self.cell.say(Level::Error, &why);
                // Not being able to start a child says nothing against the build.
                if !wish.is_isolated {
                    self.cell.withdraw(&generation.hash, &why);
                }
                // The instance before goes on, as the cell wishes after a withdrawal.
                self.seen = self.cell.version();
                return None;
            }
        };
        let kept = match &state {
            None => "no state to keep".to_owned(),
            Some(state) => match new.backend.load(state) {
                Ok(()) => "state kept".to_owned(),
                Err(why) => {
                    let agents = self.present.iter().filter(|present| **present).count();
                    format!("{why}: started fresh for {agents} agents")
                }
            },
        };
        self.snapshot = state;
        if old_hash != generation.hash || wish.is_isolated {
            self.cell.quarantine.end_trial(&old_hash);
        }
        self.active = Some(new);
        self.restarts.clear();
        let strange = self.take_parameters(parameters);
        let mut note = format!(
            "{} {} active at step {} ({kept}, {} parameters)",
            generation.info.name,
            generation.info.version,
            moment.step,
            parameters.infos().len()
        );
        if !strange.is_empty() {
            note += &format!("; {}", strange.join(", "));
        }
        self.cell.say(Level::Info, &note);
        Some(self.swap(&old_hash, note))
    }

    fn active_hash(&self) -> String {
        let active = self.active.as_ref();
        active.map_or(String::new(), |active| active.generation.hash.clone())
    }

    fn swap(&self, from: &str, note: String) -> Swap {
        Swap {
            info: self
                .active
                .as_ref()
                .map_or(self.fallback.info, |active| active.generation.module),
            from: from.to_owned(),
            to: self.active_hash(),
            note,
        }
    }

    /// Tells the instance parameters that have changed.
    fn send_parameters(&mut self, parameters: &mut ParameterSet) {
        let Some(active) = &self.active else {
            return;
        };
        // Another build may have come between choosing the module and making it.
        if !std::ptr::eq(parameters.infos(), active.backend.parameters()) {
            self.take_parameters(parameters);
        }
        let Some(active) = &mut self.active else {
            return;
        };
        let _call = self.cell.enter(&active.generation, active.is_isolated);
        let mut changed = false;
        for index in 0..active.sent.len().min(parameters.infos().len()) {
            let value = parameters.at(index);
            if active.sent[index] != value {
                active.sent[index] = value;
                changed = true;
                if let Err(fault) = active.backend.set_parameter(index, value) {
                    self.cell.note_fault(&fault.message);
                }
            }
        }
        if changed {
            active.lookahead = active.backend.lookahead();
        }
    }

    fn live(&mut self, parameters: &mut ParameterSet, moment: &StepBoundary<'_>) -> Option<Swap> {
        self.note_agents(moment);
        let fault = self.verdict();
        let mut swap = fault.and_then(|fault| self.recover(&fault, moment));
        if self.cell.version() != self.seen
            && let Some(followed) = self.follow_wish(parameters, moment)
        {
            swap = Some(match swap {
                // The build before takes over from one that could not go on.
                Some(fault) => Swap {
                    note: format!("{}; back to: {}", fault.note, followed.note),
                    from: fault.from,
                    ..followed
                },
                None => followed,
            });
        }
        self.send_parameters(parameters);
        // A fresh instance knows everybody already.
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
                self.snapshot_at = moment.time;
                let _call = self.cell.enter(&active.generation, active.is_isolated);
                self.snapshot = active.backend.save();
            }
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

    /// Asks the library about rows, and the built-in module about what it does not answer.
    fn ask(&self, step: &Step<'_>, inputs: &[K::Input], outputs: &mut [K::Output]) {
        let Some(active) = &self.active else {
            K::answer(&self.fallback, step, inputs, outputs);
            return;
        };
        let parallel = active.generation.info.has(CAP_PARALLEL_SLICES);
        let size = if parallel { PARALLEL_ROWS } else { MOST_ROWS };
        let _one = (!parallel).then(|| locked(&self.one_at_a_time));
        let mut rest = step.indices.chunks(size).zip(step.ids.chunks(size));
        for (inputs, outputs) in inputs.chunks(size).zip(outputs.chunks_mut(size)) {
            let Some((indices, ids)) = rest.next() else {
                return;
            };
            let step = Step {
                indices,
                ids,
                ..*step
            };
            self.ask_chunk(active, &step, inputs, outputs);
        }
    }

    fn ask_chunk(
        &self,
        active: &Active,
        step: &Step<'_>,
        inputs: &[K::Input],
        outputs: &mut [K::Output],
    ) {
        let count = inputs.len();
        if active.generation.info.has(CAP_WANTS_DEFAULTS) {
            K::answer(&self.fallback, step, inputs, outputs);
        }
        let mut seeds = [0u64; MOST_ROWS];
        for (seed, &id) in seeds.iter_mut().zip(step.ids) {
            *seed = step.seed_of(id);
        }
        let mut status = [0u8; MOST_ROWS];
        let status = &mut status[..count];
        let began = now();
        // Slices that run at once must not depend on each other's order: a fault of this step
        // counts from the next one on.
        let is_parallel = active.generation.info.has(CAP_PARALLEL_SLICES);
        let is_faulted = !is_parallel && locked(&self.health).fault.is_some();
        let answered = if is_faulted {
            Ok(false)
        } else {
            let _call = self.cell.enter(&active.generation, active.is_isolated);
            active.backend.step(&mut Batch {
                step: *step,
                seeds: &seeds[..count],
                inputs: bytes_of(inputs),
                outputs: bytes_of_mut(outputs),
                status,
                roads: None,
                delays: &[],
                route: &mut [],
                route_length: 0,
            })
        };
        let seconds = began.elapsed().as_secs_f64();
        let (replaced, bad) = self.mend(step, inputs, outputs, status);
        self.cell.note_time(count, seconds, replaced);
        let mut health = locked(&self.health);
        health.rows += count as u64;
        match answered {
            Ok(changed) => {
                health.answered += 1;
                health.mode_changed |= changed;
                health.bad_rows += bad;
            }
            Err(fault) if fault.is_fatal => health.fault = Some(fault),
            Err(fault) => {
                health.flaw.clone_from(&fault.message);
                health.bad_rows += replaced;
                drop(health);
                self.cell.note_fault(&fault.message);
            }
        }
    }

    /// Replaces what is missing or makes no sense by the built-in module's answers; says how many
    /// rows that were, and how many of them the plugin did not leave to us on purpose.
    fn mend(
        &self,
        step: &Step<'_>,
        inputs: &[K::Input],
        outputs: &mut [K::Output],
        status: &[u8],
    ) -> (u64, u64) {
        if status.contains(&ROW_KEEP) {
            self.keeps.store(true, Ordering::Relaxed);
        }
        let is_sound =
            |(status, output): (&u8, &K::Output)| *status == ROW_OK && K::flaw(output).is_none();
        let keeps = self.keeps.load(Ordering::Relaxed);
        if !keeps && status.iter().zip(&*outputs).all(is_sound) {
            return (0, 0);
        }
        let mut previous = locked(&self.previous);
        previous.resize(self.capacity as usize, K::Output::default());
        let (mut replaced, mut bad) = (0, 0);
        for row in 0..inputs.len() {
            let index = step.indices[row] as usize;
            let flaw = match status[row] {
                ROW_OK => K::flaw(&outputs[row]),
                ROW_KEEP => {
                    outputs[row] = previous.get(index).copied().unwrap_or_default();
                    None
                }
                _ => Some(""),
            };
            if let Some(flaw) = flaw {
                replaced += 1;
                bad += u64::from(status[row] != ROW_NOT_WRITTEN);
                if !flaw.is_empty() {
                    self.report_flaw(flaw, step, row, &inputs[row]);
                }
                let one = Step {
                    indices: &step.indices[row..=row],
                    ids: &step.ids[row..=row],
                    ..*step
                };
                let (input, output) = (&inputs[row..=row], &mut outputs[row..=row]);
                K::answer(&self.fallback, &one, input, output);
            }
            if let Some(previous) = previous.get_mut(index) {
                *previous = outputs[row];
            }
        }
        (replaced, bad)
    }

    fn report_flaw(&self, flaw: &str, step: &Step<'_>, row: usize, input: &K::Input) {
        let message = format!(
            "{} gave {flaw} for agent {} at t={:.2} s",
            K::KIND.name(),
            step.ids[row],
            step.time
        );
        let mut health = locked(&self.health);
        let is_first = health.flaw.is_empty();
        health.flaw = message.clone();
        drop(health);
        if is_first {
            let saved = self.cell.save_input(&message, &input.numbers());
            let saved = saved.map_or(String::new(), |path| {
                format!(" (input saved to {})", path.display())
            });
            self.cell.note_fault(&format!("{message}{saved}"));
        } else {
            self.cell.state().faults += 1;
        }
    }
}

impl<K: Kind> Drop for Native<K> {
    fn drop(&mut self) {
        if let Some(active) = &self.active {
            self.cell.quarantine.end_trial(&active.generation.hash);
        }
    }
}

/// An instance of a build, as a kind of module.
pub(crate) fn make_backend(
    cell: &Cell,
    generation: &Generation,
    kind: ModuleKind,
    is_isolated: bool,
) -> Result<Box<dyn Backend>, Fault> {
    if is_isolated {
        return make_isolated(cell, generation, kind);
    }
    let library = generation.library().map_err(|error| Fault {
        message: error.to_string(),
        is_fatal: true,
    })?;
    if library.changed_mode {
        cell.say(Level::Warning, CHANGED_MODE);
    }
    Ok(Box::new(InProcess::new(library, kind)?))
}

#[cfg(unix)]
fn make_isolated(
    cell: &Cell,
    generation: &Generation,
    kind: ModuleKind,
) -> Result<Box<dyn Backend>, Fault> {
    let isolated = super::isolated::Isolated::start(cell, generation, kind)?;
    Ok(Box::new(isolated))
}

#[cfg(not(unix))]
fn make_isolated(_: &Cell, _: &Generation, _: ModuleKind) -> Result<Box<dyn Backend>, Fault> {
    Err(Fault {
        message: "isolated mode is not available on this system".into(),
        is_fatal: true,
    })
}

impl<K: Kind> Logic for Native<K> {
    fn save_state(&self) -> LogicState {
        let Some(active) = &self.active else {
            return self.fallback.logic.save_state();
        };
        let own = active.backend.save();
        if own.is_none() && !active.generation.info.has(CAP_STATELESS) {
            return LogicState::Unknown;
        }
        let health = locked(&self.health);
        if health.fault.is_some() {
            // It has just failed: what it keeps is not to be trusted before the next boundary.
            return LogicState::Unknown;
        }
        let kept = Kept {
            own: own.map(|state| (state.schema, state.bytes)),
            keeps: self.keeps.load(Ordering::Relaxed),
            previous: bytes_of(&locked(&self.previous)).to_vec(),
            snapshot: self
                .snapshot
                .clone()
                .map(|state| (state.schema, state.bytes)),
            snapshot_at: self.snapshot_at,
            restarts: self.restarts.clone(),
            trial: self.trial,
            bad_steps: health.bad_steps,
            flaw: health.flaw.clone(),
            rows: health.rows,
            bad_rows: health.bad_rows,
            mode_changed: health.mode_changed,
        };
        LogicState::Bytes(postcard::to_allocvec(&kept).unwrap_or_default())
    }

    fn load_state(&mut self, state: &[u8]) -> Result<(), String> {
        let kept: Kept = postcard::from_bytes(state).map_err(|error| error.to_string())?;
        let Some(active) = &self.active else {
            return Err("it is not in use now".into());
        };
        let state = |(schema, bytes)| State { schema, bytes };
        if let Some(own) = kept.own {
            active.backend.load(&state(own))?;
        }
        let size = size_of::<K::Output>();
        let mut previous = vec![K::Output::default(); kept.previous.len() / size];
        let whole = previous.len() * size;
        bytes_of_mut(&mut previous).copy_from_slice(&kept.previous[..whole]);
        *locked(&self.previous) = previous;
        self.keeps.store(kept.keeps, Ordering::Relaxed);
        self.snapshot = kept.snapshot.map(state);
        self.snapshot_at = kept.snapshot_at;
        self.restarts = kept.restarts;
        self.trial = kept.trial;
        let health = self
            .health
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        *health = Health {
            answered: 0,
            fault: None,
            rows: kept.rows,
            bad_rows: kept.bad_rows,
            bad_steps: kept.bad_steps,
            flaw: kept.flaw,
            mode_changed: kept.mode_changed,
        };
        Ok(())
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
            let tier = if active.is_isolated {
                "isolated"
            } else {
                "native"
            };
            let hash = active.generation.short_hash();
            format!("{} {hash} {tier}", active.generation.info.version)
        })
    }

    fn at_step_boundary(
        &mut self,
        parameters: &mut ParameterSet,
        moment: &StepBoundary<'_>,
    ) -> Option<Swap> {
        self.live(parameters, moment)
    }
}

impl Controller for Native<AsController> {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        self.ask(step, inputs, outputs);
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        let wanted = self.active.as_ref().and_then(|active| active.lookahead);
        wanted.unwrap_or_else(|| self.fallback.lookahead())
    }
}

impl Fitness for Native<AsFitness> {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        inputs: &[FitnessInput],
        _: &[Conduct],
        outputs: &mut [FitnessOutput],
    ) {
        self.ask(step, inputs, outputs);
    }
}

impl Planner for Native<AsPlanner> {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        view: &PlannerView<'_>,
        inputs: &[PlannerInput],
        routes: &mut Vec<LaneletId>,
        outputs: &mut [PlannerOutput],
    ) {
        let Some(active) = &self.active else {
            self.fallback.step(step, view, inputs, routes, outputs);
            return;
        };
        let roads = self.flat(view.graph);
        let _one = locked(&self.one_at_a_time);
        // Each question may be answered with all lanelets: no answer depends on its neighbours.
        let size = (MOST_ROUTE / roads.lanelets.len().max(1)).clamp(1, MOST_ROWS);
        let agents = step.indices.chunks(size).zip(step.ids.chunks(size));
        let rows = inputs.chunks(size).zip(outputs.chunks_mut(size));
        for ((indices, ids), (inputs, outputs)) in agents.zip(rows) {
            let step = Step {
                indices,
                ids,
                ..*step
            };
            self.plan_chunk(active, &step, (view, &roads), inputs, routes, outputs);
        }
    }
}

impl Native<AsPlanner> {
    fn flat(&self, graph: &LaneGraph) -> Arc<FlatRoads> {
        let mut kept = locked(&self.roads);
        match &*kept {
            Some(roads) if roads.version == graph.identity() => roads.clone(),
            _ => {
                let roads = Arc::new(FlatRoads::new(graph));
                *kept = Some(roads.clone());
                roads
            }
        }
    }

    fn plan_chunk(
        &self,
        active: &Active,
        step: &Step<'_>,
        (view, roads): (&PlannerView<'_>, &FlatRoads),
        inputs: &[PlannerInput],
        routes: &mut Vec<LaneletId>,
        outputs: &mut [PlannerOutput],
    ) {
        let count = inputs.len();
        let seeds: Vec<u64> = step.ids.iter().map(|&id| step.seed_of(id)).collect();
        let mut status = vec![0u8; count];
        let mut route = vec![0u32; (count * roads.lanelets.len()).min(MOST_ROUTE)];
        let began = now();
        let is_faulted = locked(&self.health).fault.is_some();
        let answered = if is_faulted {
            Ok(false)
        } else {
            let _call = self.cell.enter(&active.generation, active.is_isolated);
            active.backend.step(&mut Batch {
                step: *step,
                seeds: &seeds,
                inputs: bytes_of(inputs),
                outputs: bytes_of_mut(outputs),
                status: &mut status,
                roads: Some(roads),
                delays: view.delays,
                route: &mut route,
                route_length: 0,
            })
        };
        let seconds = began.elapsed().as_secs_f64();
        let (mut replaced, mut bad) = (0, 0);
        for (row, (input, output)) in inputs.iter().zip(outputs.iter_mut()).enumerate() {
            let found = (status[row] == ROW_OK && answered.is_ok())
                .then(|| checked_route(roads, input, output, &route));
            match found {
                Some(Ok(lanelets)) => {
                    output.start = routes.len() as u32;
                    output.count = lanelets.len() as u32;
                    routes.extend_from_slice(lanelets);
                }
                wrong => {
                    replaced += 1;
                    bad += u64::from(status[row] != ROW_NOT_WRITTEN);
                    if let Some(Err(flaw)) = wrong {
                        locked(&self.health).flaw.clone_from(&flaw);
                        self.cell.note_fault(&flaw);
                    }
                    let one = std::slice::from_mut(output);
                    let step = Step {
                        indices: &step.indices[row..=row],
                        ids: &step.ids[row..=row],
                        ..*step
                    };
                    self.fallback.step(&step, view, &[*input], routes, one);
                }
            }
        }
        self.cell.note_time(count, seconds, replaced);
        let mut health = locked(&self.health);
        health.rows += count as u64;
        health.bad_rows += bad;
        match answered {
            Ok(changed) => {
                health.answered += 1;
                health.mode_changed |= changed;
            }
            Err(fault) if fault.is_fatal => health.fault = Some(fault),
            Err(fault) => health.flaw = fault.message,
        }
    }
}
