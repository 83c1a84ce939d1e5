//! `run --stage-times`: CPU time of the stages of a step.

use cpu_time::ProcessTime;
use roadwright_simulation::{Observer, Stage, World};
use serde::Serialize;
use std::collections::BTreeMap;

/// CPU time of each stage of the steps, summed over all threads. Reading the clock does not affect the world.
#[derive(Default)]
pub(super) struct StageTimes {
    /// The current stage and its start time.
    now: Option<(Stage, ProcessTime)>,
    /// Accumulated CPU time of each stage, s.
    seconds: BTreeMap<Stage, f64>,
}

/// CPU times as written to the document.
#[derive(Debug, Serialize)]
pub(super) struct StageShares {
    /// CPU time of each stage, s.
    cpu_seconds: BTreeMap<&'static str, f64>,
    /// Fraction of the total time that planning takes, 0 to 1.
    planning_share: f64,
}

impl StageTimes {
    /// Ends the current stage.
    fn end(&mut self) {
        if let Some((stage, since)) = self.now.take() {
            *self.seconds.entry(stage).or_default() += since.elapsed().as_secs_f64();
        }
    }

    pub(super) fn shares(&self) -> StageShares {
        let seconds = |stage: &Stage| self.seconds.get(stage).copied().unwrap_or_default();
        let sum: f64 = Stage::ALL.iter().map(seconds).sum();
        let rows = Stage::ALL.iter();
        StageShares {
            cpu_seconds: rows.map(|stage| (stage.name(), seconds(stage))).collect(),
            // A run without steps took no time.
            planning_share: if sum > 0.0 {
                seconds(&Stage::Plan) / sum
            } else {
                0.0
            },
        }
    }

    /// Returns the line of the printed summary.
    pub(super) fn line(&self) -> String {
        let StageShares {
            cpu_seconds,
            planning_share,
        } = self.shares();
        let sum: f64 = cpu_seconds.values().sum();
        let share = |stage: &Stage| {
            let seconds = cpu_seconds[stage.name()];
            let percent = if sum > 0.0 {
                100.0 * seconds / sum
            } else {
                0.0
            };
            format!("{} {percent:.1} %", stage.name())
        };
        let others = Stage::ALL.iter().filter(|stage| **stage != Stage::Plan);
        let others: Vec<String> = others.map(share).collect();
        format!(
            "planning {:.1} %; {}",
            100.0 * planning_share,
            others.join(", ")
        )
    }
}

impl Observer for StageTimes {
    fn at_stage(&mut self, stage: Stage) {
        self.end();
        self.now = Some((stage, ProcessTime::now()));
    }

    fn after_step(&mut self, _: &World) {
        self.end();
    }
}
