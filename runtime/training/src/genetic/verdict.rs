//! Evaluation of the champion and the baseline (the values before training) on courses that no individual has
//! driven.

use super::genes::Genome;
use super::judge::{Manners, RunOrFailure};
use super::problem::{LEVEL, Problem};
use super::record::RecordedChampion;
use super::training::{Champion, Training, scores_of};
use crate::experiment::{Estimate, ExperimentError, FailedRun, Summary};
use thiserror::Error;

/// Result of a training run, with confidence intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The champion and its results.
    pub champion: Champion,
    /// The champion's runs on the test courses, in the form that `bench run` reports.
    pub held_out: Summary,
    /// The runs of the baseline on the same courses.
    pub start: Summary,
    /// Fitness of the champion minus fitness of the baseline, course by course. Courses on which either of
    /// them failed are left out.
    pub difference: Estimate,
    /// Behaviour of the champion's vehicles on the test courses, independent of the fitness; `None` if it
    /// could not be observed.
    pub manners: Option<Manners>,
}

/// Reason why there is no verdict.
#[derive(Debug, Error)]
pub enum NoRows {
    /// The course cannot be driven with these values.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The runs produced no rows.
    #[error("the test courses produced no rows")]
    Empty,
}

/// Returns the combined behaviour of vehicles in several runs. Runs in which a module failed are
/// left out.
pub(super) fn manners(runs: &[RunOrFailure]) -> Option<Manners> {
    let runs = runs.iter().flatten();
    let all: Option<Vec<Manners>> = runs.map(|run| run.manners).collect();
    all?.into_iter().reduce(Manners::with)
}

impl Verdict {
    /// Creates the verdict on a champion. The test courses start at the given seed.
    ///
    /// # Errors
    /// If the course cannot be driven with the values, or the runs produced no rows.
    pub fn new(
        problem: &Problem,
        first_seed: u64,
        training: &Training<'_>,
        champion: Champion,
    ) -> Result<Self, NoRows> {
        // Both drove the same courses in the same order, so lucky and unlucky courses affect both and cancel
        // out. A course on which either of them failed gives no information about the difference.
        let pairs = champion.held_out.iter().zip(&champion.start);
        let difference = |(trained, before): (&RunOrFailure, &RunOrFailure)| {
            let (trained, before) = (trained.as_ref().ok()?, before.as_ref().ok()?);
            Some(training.as_fitness(trained.score - before.score))
        };
        let differences: Vec<f64> = pairs.filter_map(difference).collect();
        if differences.is_empty() {
            return Err(NoRows::Empty);
        }
        let summary = |genes: &[f64], runs: &[RunOrFailure]| {
            let results = problem.results(genes, first_seed, runs)?;
            results.as_ref().and_then(Summary::of).ok_or(NoRows::Empty)
        };
        Ok(Self {
            held_out: summary(&champion.genes, &champion.held_out)?,
            start: summary(&problem.genome().start(), &champion.start)?,
            difference: Estimate::of(&differences, LEVEL),
            manners: manners(&champion.held_out),
            champion,
        })
    }

    /// Returns the failed runs on the test courses, first those of the champion, then those of the
    /// baseline.
    pub fn failures(&self) -> Vec<&FailedRun> {
        let all = self.held_out.failures.iter().chain(&self.start.failures);
        all.collect()
    }

    /// Returns the champion in the form that records contain.
    pub fn recorded(&self, genome: &Genome) -> RecordedChampion {
        let Champion {
            genes,
            held_out,
            start,
            ..
        } = &self.champion;
        RecordedChampion {
            manners: self.manners,
            ..RecordedChampion::new(genome, genes, scores_of(held_out), scores_of(start))
        }
    }
}
