//! Calls a library to choose the next signal stage. If it gives no valid answer, actuated control decides.

use super::Native;
use crate::lock::locked;
use crate::native::backend::{Batch, bytes_of, bytes_of_mut};
use crate::native::cell::now;
use crate::native::kind::{AsSignals, Kind};
use roadwright_agent::{ParameterSet, SignalController, SignalFacts, SignalView, Step};
use roadwright_plugin_api::abi::{CAP_WANTS_DEFAULTS, ROW_KEEP, ROW_NOT_WRITTEN, ROW_OK};
use roadwright_plugin_api::{
    KEEP_STAGE, SIGNAL_MOVEMENTS, SIGNAL_STAGES, SignalInput, SignalMovement, SignalOutput,
    SignalStage,
};
use roadwright_scenario::junction::Turn;

/// Time between two calls, s.
const PERIOD: f64 = 1.0;

impl SignalController for Native<AsSignals> {
    fn decide(
        &mut self,
        parameters: &ParameterSet,
        view: &SignalView<'_>,
    ) -> Result<Option<u32>, String> {
        let Some(facts) = view.facts.filter(|_| self.active.is_some()) else {
            if self.active.is_none() {
                self.note_out(&[0]);
            }
            return self.fallback.logic.decide(parameters, view);
        };
        let input = row(view, facts);
        let ids = [u64::from(facts.node)];
        let step = Step {
            time: facts.time,
            period: PERIOD,
            index: facts.step,
            seed: facts.seed,
            indices: &[0],
            ids: &ids,
        };
        let mut default = SignalOutput::default();
        let active = self.active.as_ref();
        if active.is_some_and(|active| active.generation.info.has(CAP_WANTS_DEFAULTS)) {
            let next = self.fallback.logic.decide(parameters, view)?;
            default.next = next.map_or(KEEP_STAGE, |stage| stage as i32);
        }
        match self.ask_about_signals(&step, &input, default)? {
            Some(KEEP_STAGE) => Ok(None),
            Some(stage) => Ok(Some(stage as u32)),
            // The built-in module decides.
            None => self.fallback.logic.decide(parameters, view),
        }
    }
}

impl Native<AsSignals> {
    /// Returns the stage that the library chooses; `None` if it leaves the choice to the built-in module.
    fn ask_about_signals(
        &self,
        step: &Step<'_>,
        input: &SignalInput,
        default: SignalOutput,
    ) -> Result<Option<i32>, String> {
        let Some(active) = &self.active else {
            return Ok(None);
        };
        if let Some(fault) = locked(&self.health).fault.clone() {
            self.note_missing(1, step.ids.first(), &fault.message, Some(&fault));
            return Err(fault.message);
        }
        let mut output = default;
        let mut status = [ROW_NOT_WRITTEN];
        let seeds = [step.seed_of(step.ids[0])];
        let began = now();
        let answered = {
            let _call = self.cell.enter(&active.generation, active.is_isolated);
            active.backend.step(&mut Batch {
                step: *step,
                seeds: &seeds,
                inputs: bytes_of(std::slice::from_ref(input)),
                outputs: bytes_of_mut(std::slice::from_mut(&mut output)),
                by_pedals: false,
                views: None,
                status: &mut status,
                roads: None,
                delays: &[],
                route: &mut [],
                route_length: 0,
                poses: &mut [],
                pose_length: 0,
            })
        };
        let seconds = began.elapsed().as_secs_f64();
        let flaw = flaw(&output, status[0], input);
        let is_wrong = answered.is_err() || flaw.is_some();
        self.cell.note_time(1, seconds, u64::from(is_wrong));
        self.note_single(step, answered, is_wrong)?;
        if let Some(flaw) = flaw {
            let subject = format!("node {}", input.node);
            return Err(self.note_invalid(step, &flaw, &subject, input));
        }
        Ok(match status[0] {
            ROW_OK => Some(output.next),
            ROW_KEEP => Some(KEEP_STAGE),
            _ => None,
        })
    }
}

/// Returns the flaw of an answer, if there is one.
fn flaw(output: &SignalOutput, status: u8, input: &SignalInput) -> Option<String> {
    match status {
        ROW_OK => AsSignals::flaw(output).map(str::to_owned).or_else(|| {
            let (next, stages) = (output.next, input.stages().len());
            (next >= stages as i32).then(|| format!("stage {next} of {stages}"))
        }),
        ROW_NOT_WRITTEN | ROW_KEEP => None,
        _ => Some("no answer".to_owned()),
    }
}

/// Converts the state of signals to a row.
fn row(view: &SignalView<'_>, facts: &SignalFacts) -> SignalInput {
    let mut input = SignalInput {
        node: facts.node,
        stage: view.stage,
        planned: view.planned,
        stage_count: facts.stages.len().min(SIGNAL_STAGES) as u32,
        movement_count: facts.movements.len().min(SIGNAL_MOVEMENTS) as u32,
        is_extended: u32::from(view.is_extended),
        elapsed: facts.elapsed,
        opposed_for: view.opposed_for.unwrap_or(-1.0),
        ..SignalInput::default()
    };
    for (row, stage) in input.stages.iter_mut().zip(&facts.stages) {
        *row = SignalStage {
            green: stage.times.green,
            min: stage.times.min,
            max: stage.times.max,
            longest_wait: stage.demand.longest_wait,
            queue: stage.demand.queue,
            arrivals: stage.demand.arrivals,
            is_called: u32::from(stage.is_called),
            reserved: 0,
        };
    }
    for (row, movement) in input.movements.iter_mut().zip(&facts.movements) {
        *row = SignalMovement {
            road: movement.road.0,
            turn: match movement.turn {
                Turn::Left => 1,
                Turn::Right => -1,
                Turn::UTurn => 2,
                Turn::Straight => 0,
            },
            stages: movement.stages,
            queue: movement.demand.queue,
            arrivals: movement.demand.arrivals,
            reserved: 0,
            longest_wait: movement.demand.longest_wait,
        };
    }
    input
}
