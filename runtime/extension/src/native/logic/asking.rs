//! Calls the library with rows, and replaces missing or invalid answers.

use super::{Active, Native};
use crate::lock::locked;
use crate::native::backend::{Batch, Fault, MOST_ROWS, bytes_of, bytes_of_mut};
use crate::native::cell::now;
use crate::native::kind::{
    AsController, AsFitness, AsNeeds, AsNeedsPedals, AsPedals, InputRows, Kind, Numbers, SOME_CAR,
};
use roadwright_agent::{Controller, Fitness, Lookahead, Needs, ParameterSet, Step, Views};
use roadwright_plugin_api::abi::{
    CAP_ALONG_BEND, CAP_FULL_CONDUCT, CAP_HIGHER_IS_BETTER, CAP_PARALLEL_SLICES,
    CAP_WANTS_DEFAULTS, ROW_KEEP, ROW_NOT_WRITTEN, ROW_OK,
};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, FitnessInput, FitnessOutput, NeedsInput, NeedsPedalsInput,
    PedalsInput, PedalsOutput,
};
use std::sync::atomic::Ordering;

/// Number of rows per call to a plugin whose steps may run in parallel. It equals the size of a
/// thread's slice, so the same rows share a call whatever the number of threads.
const PARALLEL_ROWS: usize = 64;

/// Reason given for rows that were skipped after a fault.
const FAILED_BEFORE: &str = "it was skipped after a fault in the same step";

/// Rows that the built-in module answered instead of a plugin.
#[derive(Default)]
struct Mended {
    /// Number of replaced answers.
    replaced: u64,
    /// Number of invalid answers that were replaced. Rows that the plugin left to the built-in
    /// module are not included.
    bad: u64,
    /// Description of the flaw of the first invalid answer.
    flaw: String,
}

impl<K: Kind> Native<K> {
    /// Calls the library with rows. Rows that it does not answer go to the built-in module. `Q` is the row
    /// format. Controllers have four: acceleration or pedals, each with or without views.
    fn ask<Q: Kind<Logic = K::Logic>>(
        &self,
        step: &Step<'_>,
        views: Option<&Views<'_>>,
        inputs: &[Q::Input],
        outputs: &mut [Q::Output],
    ) {
        let Some(active) = &self.active else {
            self.note_out(step.ids);
            Q::answer(&self.fallback, step, inputs, outputs);
            return;
        };
        // Split at fixed positions, so that a fault affects the same rows with any number of
        // threads.
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
            self.ask_chunk::<Q>(active, &step, views, inputs, outputs);
        }
    }

    fn ask_chunk<Q: Kind<Logic = K::Logic>>(
        &self,
        active: &Active,
        step: &Step<'_>,
        views: Option<&Views<'_>>,
        inputs: &[Q::Input],
        outputs: &mut [Q::Output],
    ) {
        let count = inputs.len();
        // The outputs are filled before the call, so that the plugin can change only some of them.
        if active.generation.info.has(CAP_WANTS_DEFAULTS) {
            Q::answer(&self.fallback, step, inputs, outputs);
        }
        // Kept on the stack to avoid an allocation per batch.
        let mut seeds = [0u64; MOST_ROWS];
        for (seed, &id) in seeds.iter_mut().zip(step.ids) {
            *seed = step.seed_of(id);
        }
        let mut status = [0u8; MOST_ROWS];
        let status = &mut status[..count];
        let rows = InputRows::new::<Q>(inputs, active.generation.info.abi.1);
        let began = now();
        // The results of concurrent slices must not depend on their order, so a fault in this step
        // takes effect in the next step.
        let is_parallel = active.generation.info.has(CAP_PARALLEL_SLICES);
        let is_faulted = !is_parallel && locked(&self.health).fault.is_some();
        let answered = if is_faulted {
            Ok(false)
        } else {
            let _call = self.cell.enter(&active.generation, active.is_isolated);
            active.backend.step(&mut Batch {
                step: *step,
                seeds: &seeds[..count],
                inputs: rows.bytes(),
                outputs: bytes_of_mut(outputs),
                by_pedals: Q::BY_PEDALS,
                // Rows refer to the views of the whole batch.
                views: views.copied(),
                status,
                roads: None,
                delays: &[],
                route: &mut [],
                route_length: 0,
                poses: &mut [],
                pose_length: 0,
            })
        };
        let seconds = began.elapsed().as_secs_f64();
        if answered.is_err() {
            // If a call fails in a separate process, it returns no rows, so none are used here either.
            status.fill(ROW_NOT_WRITTEN);
        }
        let Mended {
            replaced,
            bad,
            flaw,
        } = self.mend::<Q>(step, inputs, outputs, status);
        self.cell.note_time(count, seconds, replaced);
        let first = step.ids.first();
        match &answered {
            Err(fault) => self.note_missing(replaced, first, &fault.message, Some(fault)),
            // Skipped, because an earlier batch of this step has failed.
            Ok(_) if is_faulted => self.note_missing(replaced, first, FAILED_BEFORE, None),
            Ok(_) => self.note_missing(bad, first, &flaw, None),
        }
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
                // Rows that a failed call left unanswered count as its fault. Otherwise `mend`
                // assumes that they were left to the host on purpose.
                health.bad_rows += replaced;
                drop(health);
                self.cell.note_fault(&fault.message);
            }
        }
    }

    /// Replaces missing and invalid rows with the built-in module's answers.
    fn mend<Q: Kind<Logic = K::Logic>>(
        &self,
        step: &Step<'_>,
        inputs: &[Q::Input],
        outputs: &mut [Q::Output],
        status: &[u8],
    ) -> Mended {
        if status.contains(&ROW_KEEP) {
            self.keeps.store(true, Ordering::Relaxed);
        }
        let is_sound =
            |(status, output): (&u8, &Q::Output)| *status == ROW_OK && Q::flaw(output).is_none();
        // In the usual case each row is checked once, without a lock.
        let keeps = self.keeps.load(Ordering::Relaxed);
        if !keeps && status.iter().zip(&*outputs).all(is_sound) {
            return Mended::default();
        }
        let size = size_of::<Q::Output>();
        let mut previous = locked(&self.previous);
        previous.resize(self.capacity as usize * size, 0);
        let mut mended = Mended::default();
        for row in 0..inputs.len() {
            let index = step.indices[row] as usize;
            let flaw = match status[row] {
                ROW_OK => Q::flaw(&outputs[row]),
                ROW_KEEP => {
                    let kept = previous.get(index * size..(index + 1) * size);
                    outputs[row] = Q::Output::default();
                    if let Some(kept) = kept {
                        bytes_of_mut(&mut outputs[row..=row]).copy_from_slice(kept);
                    }
                    None
                }
                _ => Some(""),
            };
            if let Some(flaw) = flaw {
                mended.replaced += 1;
                // A row that was not written is also an answer: the built-in module decides.
                if status[row] != ROW_NOT_WRITTEN {
                    let message = if flaw.is_empty() {
                        locked(&self.health).marked = Some(status[row]);
                        format!("rows were marked failed (status {})", status[row])
                    } else {
                        self.report_flaw(flaw, step, row, &inputs[row])
                    };
                    if mended.bad == 0 {
                        mended.flaw = message;
                    }
                    mended.bad += 1;
                }
                let one = Step {
                    indices: &step.indices[row..=row],
                    ids: &step.ids[row..=row],
                    ..*step
                };
                let (input, output) = (&inputs[row..=row], &mut outputs[row..=row]);
                Q::answer(&self.fallback, &one, input, output);
            }
            // Replaced answers are stored as well, because a plugin that keeps the previous answer
            // means the one that its agent used.
            if let Some(kept) = previous.get_mut(index * size..(index + 1) * size) {
                kept.copy_from_slice(bytes_of(&outputs[row..=row]));
            }
        }
        mended
    }

    /// Records an invalid answer and returns the message.
    fn report_flaw(&self, flaw: &str, step: &Step<'_>, row: usize, input: &impl Numbers) -> String {
        let message = format!(
            "{} returned {flaw} for agent {} at t={:.2} s",
            K::KIND.name(),
            step.ids[row],
            step.time
        );
        self.note_flaw(message.clone(), input);
        message
    }

    /// Records an invalid answer with the input that led to it.
    pub(super) fn note_flaw(&self, message: String, input: &impl Numbers) {
        let mut health = locked(&self.health);
        let is_first = health.flaw.is_empty();
        health.flaw.clone_from(&message);
        drop(health);
        // A single file is enough to reproduce the fault, and a faulty plugin may fail in every step.
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

    /// Records how a call for a single row ended. `is_wrong` states whether the call failed or its
    /// row is invalid. The error is the message of the fault if the call failed.
    pub(super) fn note_single(
        &self,
        step: &Step<'_>,
        answered: Result<bool, Fault>,
        is_wrong: bool,
    ) -> Result<(), String> {
        let mut health = locked(&self.health);
        health.rows += 1;
        health.bad_rows += u64::from(is_wrong);
        match answered {
            Ok(changed) => {
                health.answered += 1;
                health.mode_changed |= changed;
                Ok(())
            }
            Err(fault) => {
                health.flaw.clone_from(&fault.message);
                if fault.is_fatal {
                    health.fault = Some(fault.clone());
                }
                drop(health);
                self.cell.note_fault(&fault.message);
                self.note_missing(1, step.ids.first(), &fault.message, Some(&fault));
                Err(fault.message)
            }
        }
    }

    /// Records that a single row is invalid, and returns the message. `subject` is what the row is
    /// about, such as "node 5".
    pub(super) fn note_invalid(
        &self,
        step: &Step<'_>,
        flaw: &str,
        subject: &str,
        input: &impl Numbers,
    ) -> String {
        let (kind, time) = (K::KIND.name(), step.time);
        let message = format!("{kind} returned {flaw} for {subject} at t={time:.2} s");
        self.note_flaw(message.clone(), input);
        self.note_missing(1, step.ids.first(), &message, None);
        message
    }
}

impl<K: Kind> Native<K> {
    /// Whether the active build declares a capability of version 1.2. Builds for earlier versions cannot know
    /// it, so a bit that they set has no meaning.
    fn declares(&self, cap: u64) -> bool {
        let active = self.active.as_ref();
        active.is_some_and(|active| {
            let info = &active.generation.info;
            info.abi.1 >= 2 && info.has(cap)
        })
    }
}

impl Native<AsController> {
    fn drives_by_pedals(&self) -> bool {
        let active = self.active.as_ref();
        active.is_some_and(|active| active.backend.by_pedals())
    }
}

impl Native<AsController> {
    /// Returns the data that the active build requests in addition to its rows.
    fn wanted(&self) -> Option<Needs> {
        self.active.as_ref().and_then(|active| active.needs)
    }
}

/// Converts pedal positions to the accelerations of the car `SOME_CAR`.
fn accelerate(pressed: &[PedalsOutput], outputs: &mut [ControllerOutput]) {
    for (pressed, output) in pressed.iter().zip(outputs) {
        *output = ControllerOutput {
            acceleration: SOME_CAR.acceleration(pressed.throttle, pressed.brake),
            steering: pressed.steering,
        };
    }
}

impl Controller for Native<AsController> {
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        // Without a world, as on courses with their own dynamics, rows refer to nothing.
        if self.wanted().is_some() {
            let rows: Vec<NeedsInput> = inputs.iter().copied().map(NeedsInput::of).collect();
            self.step_with_views(parameters, step, &Views::default(), &rows, outputs);
            return;
        }
        if !self.drives_by_pedals() {
            self.ask::<AsController>(step, None, inputs, outputs);
            return;
        }
        // If there is no vehicle, as on courses with their own dynamics, accelerations are needed.
        let row = |&seen: &ControllerInput| PedalsInput {
            seen,
            drive: SOME_CAR,
        };
        let rows: Vec<PedalsInput> = inputs.iter().map(row).collect();
        let mut pressed = vec![PedalsOutput::default(); inputs.len()];
        self.ask::<AsPedals>(step, None, &rows, &mut pressed);
        accelerate(&pressed, outputs);
    }

    fn wants_pedals(&self, _: &ParameterSet) -> bool {
        self.drives_by_pedals()
    }

    fn drive(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[PedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        if self.wanted().is_some() {
            let row = |input: &PedalsInput| NeedsPedalsInput {
                needs: NeedsInput::of(input.seen),
                drive: input.drive,
            };
            let rows: Vec<NeedsPedalsInput> = inputs.iter().map(row).collect();
            self.drive_with_views(parameters, step, &Views::default(), &rows, outputs);
            return;
        }
        self.ask::<AsPedals>(step, None, inputs, outputs);
    }

    fn needs(&self, _: &ParameterSet) -> Option<Needs> {
        self.wanted()
    }

    fn step_with_views(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        views: &Views<'_>,
        inputs: &[NeedsInput],
        outputs: &mut [ControllerOutput],
    ) {
        if !self.drives_by_pedals() {
            self.ask::<AsNeeds>(step, Some(views), inputs, outputs);
            return;
        }
        let row = |&needs: &NeedsInput| NeedsPedalsInput {
            needs,
            drive: SOME_CAR,
        };
        let rows: Vec<NeedsPedalsInput> = inputs.iter().map(row).collect();
        let mut pressed = vec![PedalsOutput::default(); inputs.len()];
        self.ask::<AsNeedsPedals>(step, Some(views), &rows, &mut pressed);
        accelerate(&pressed, outputs);
    }

    fn drive_with_views(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        views: &Views<'_>,
        inputs: &[NeedsPedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        self.ask::<AsNeedsPedals>(step, Some(views), inputs, outputs);
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        let wanted = self.active.as_ref().and_then(|active| active.lookahead);
        wanted.unwrap_or_else(|| self.fallback.lookahead())
    }

    fn aims_along_bend(&self, _: &ParameterSet) -> bool {
        self.declares(CAP_ALONG_BEND)
    }
}

impl Fitness for Native<AsFitness> {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        inputs: &[FitnessInput],
        outputs: &mut [FitnessOutput],
    ) {
        self.ask::<AsFitness>(step, None, inputs, outputs);
    }

    fn wants_post_encroachment(&self) -> bool {
        self.declares(CAP_FULL_CONDUCT)
    }

    fn wants_account(&self) -> bool {
        self.declares(CAP_FULL_CONDUCT)
    }

    fn lower_is_better(&self) -> bool {
        !self.declares(CAP_HIGHER_IS_BETTER)
    }
}
