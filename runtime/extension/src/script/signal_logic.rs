//! A signal controller driven by a script.

use super::agent::{Agent, Remembered};
use super::folder::ScriptCell;
use super::logic::{MOST_FAULTS, OFF, call_for};
use super::signal::Signal;
use super::version::{Version, values};
use crate::failures::{Cause, Failures};
use crate::native_now;
use roadwright_agent::{
    Failure, Logic, LogicState, ModuleKind, ParameterSet, SignalController, SignalView,
    StepBoundary, Swap,
};
use std::sync::Arc;

/// Name of the handler of scripts that control signals.
pub(super) const DECIDE: &str = "decide";

/// A script that controls the signals of one programme.
pub(super) struct SignalScript {
    version: Version,
    /// Object that keeps the memory of the script.
    own: Agent,
    failures: Failures,
}

impl SignalScript {
    pub(super) fn new(cell: Arc<ScriptCell>) -> Self {
        Self {
            version: Version::new(cell, ModuleKind::SignalController),
            own: Agent::default(),
            failures: Failures::default(),
        }
    }

    /// Returns the stage that the script chooses; `None` if the script keeps the current stage.
    fn ask(&self, parameters: &ParameterSet, view: &SignalView<'_>) -> Result<Option<u32>, String> {
        let (Some(compiled), Some(facts)) = (self.version.active(), view.facts) else {
            return Err(OFF.into());
        };
        let mut content = self.own.content();
        if content.faults >= MOST_FAULTS {
            return Err(format!(
                "{MOST_FAULTS} consecutive faults: the script is disabled until another version is \
                 loaded"
            ));
        }
        content.time = facts.time;
        content.parameters = values(parameters);
        // Released, because the script takes this lock when it reads its memory.
        drop(content);
        let signal = Signal::decided(facts.clone(), self.own.clone());
        let answer = call_for(compiled, DECIDE, (signal.clone(),));
        let answer = answer.map_err(|error| {
            self.version.cell.note_fault(&error);
            error.to_string()
        })?;
        if answer.is_unit() {
            return Ok(None);
        }
        let stage = answer.as_int().map_err(|found| {
            format!("{DECIDE} must return a stage, or () to keep the current one, not {found}")
        })?;
        signal.stage(stage).map(Some)
    }
}

impl Logic for SignalScript {
    fn save_state(&self) -> LogicState {
        LogicState::Bytes(postcard::to_allocvec(&self.own.remembered()).unwrap_or_default())
    }

    fn load_state(&mut self, state: &[u8]) -> Result<(), String> {
        let kept: Remembered = postcard::from_bytes(state).map_err(|error| error.to_string())?;
        self.own = Agent::with_memory(kept);
        Ok(())
    }

    fn version(&self) -> String {
        self.version.name()
    }

    fn failure(&self) -> Option<Failure> {
        self.failures.look(self.version.active().is_none())
    }

    fn take_failure(&mut self) -> Option<Failure> {
        let is_out = self.version.active().is_none();
        self.failures.take(is_out)
    }

    fn has_step_boundary(&self) -> bool {
        true
    }

    fn at_step_boundary(
        &mut self,
        parameters: &mut ParameterSet,
        moment: &StepBoundary<'_>,
    ) -> Option<Swap> {
        let swap = self.version.take_newest(parameters, moment)?;
        // A new version starts without faults.
        self.own.content().faults = 0;
        Some(swap)
    }
}

impl SignalController for SignalScript {
    fn decide(
        &mut self,
        parameters: &ParameterSet,
        view: &SignalView<'_>,
    ) -> Result<Option<u32>, String> {
        let began = native_now();
        let answer = self.ask(parameters, view);
        self.version
            .cell
            .note_time(1, began.elapsed().as_secs_f64());
        if let Err(reason) = &answer {
            let cause = Cause {
                agent: 0,
                reason,
                depends_on_machine: false,
            };
            self.failures.note(1, &self.version.name(), cause);
        }
        let faults = &mut self.own.content().faults;
        *faults = if answer.is_err() {
            // A disabled script returns an error each time, so the count is limited.
            (*faults + 1).min(MOST_FAULTS)
        } else {
            0
        };
        answer
    }
}
