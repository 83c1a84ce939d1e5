//! CPU times of a world's steps, both of whole steps and of selected stages.

use crate::commands::plan::Times;
use crate::progress;
use anyhow::bail;
use cpu_time::ProcessTime;
use roadwright_simulation::{Observer, Session, Stage, World};
use std::time::Duration;

/// Measures the CPU time of whole steps and of selected stages.
pub(super) struct StopWatch {
    /// Times of the selected stages, summed for each step.
    pub(super) counted: Times,
    /// Times of whole steps.
    pub(super) whole: Times,
    /// Number of steps.
    pub(super) steps: usize,
    counts: fn(Stage) -> bool,
    /// Start of the current step.
    begun: Option<ProcessTime>,
    /// Start of the current stage; `None` if the stage is not selected.
    since: Option<ProcessTime>,
    /// Time that the selected stages have taken in the current step.
    spent: Duration,
}

impl StopWatch {
    /// Creates a stop watch for the stages that `counts` selects.
    pub(super) fn new(counts: fn(Stage) -> bool) -> Self {
        Self {
            counted: Times::default(),
            whole: Times::default(),
            steps: 0,
            counts,
            begun: None,
            since: None,
            spent: Duration::ZERO,
        }
    }

    /// Runs and measures steps until a time in seconds. `after_step` is called after each step and not measured.
    ///
    /// # Errors
    /// If the user interrupts the program.
    pub(super) fn run(
        &mut self,
        session: &mut Session,
        seconds: f64,
        mut after_step: impl FnMut(&World),
    ) -> anyhow::Result<()> {
        while session.world().time() < seconds {
            if progress::interrupted() {
                bail!("interrupted");
            }
            self.begun = Some(ProcessTime::now());
            session.step(&mut [self]);
            after_step(session.world());
        }
        Ok(())
    }

    fn end_stage(&mut self) {
        if let Some(since) = self.since.take() {
            self.spent += since.elapsed();
        }
    }
}

impl Observer for StopWatch {
    fn at_stage(&mut self, stage: Stage) {
        self.end_stage();
        if (self.counts)(stage) {
            self.since = Some(ProcessTime::now());
        }
    }

    fn after_step(&mut self, _: &World) {
        self.end_stage();
        self.counted.add(std::mem::take(&mut self.spent));
        let whole = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        self.whole.add(whole);
        self.steps += 1;
    }
}
