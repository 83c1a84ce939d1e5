//! Management of a training run: asks the breeder for candidates, has them evaluated, keeps the record, and
//! chooses the champion.

use super::breeder::{Breeder, Candidate, Method, Nursery, Start};
use super::cma::CmaEs;
use super::cross_entropy::CrossEntropy;
use super::experiment::{Experiment, Seeds};
use super::genes::{Chromosome, Genome};
use super::halving::halve;
use super::judge::{CandidateRun, Evaluate, Judgement, RunOrFailure, judge, run_all, run_each};
use super::pool::Pool;
use super::racing::race;
use super::record::{Generation, Record, RecordError, tell_again};
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// Number of most recent leaders of the pool among which the champion is chosen.
const FINALISTS: usize = 10;

/// Summary of a generation for progress reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GenerationReport {
    /// Number of the generation, starting at 1.
    pub generation: usize,
    /// Fitness of the best individual of the generation; `None` if no candidate could be judged.
    pub best: Option<f64>,
    /// Mean fitness of the generation.
    pub mean: Option<f64>,
    /// Fitness of the best individual of the pool.
    pub pool_best: Option<f64>,
    /// Number of individuals whose evaluation ended early because they were unfit.
    pub ended_early: usize,
    /// Number of individuals whose evaluation ended early because they could not win.
    pub raced_out: usize,
    /// Number of individuals whose modules failed.
    pub failed: usize,
    /// Number of individuals that the user has struck out.
    #[serde(skip_serializing_if = "is_zero")]
    pub struck_out: usize,
    /// Total number of drives of all individuals.
    pub runs: usize,
    /// Genes of the best individual of the pool.
    pub genes: Option<String>,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The champion and its results.
#[derive(Debug, Clone, PartialEq)]
pub struct Champion {
    /// Genes of the champion.
    pub genes: Chromosome,
    /// Mean score of the champion on the validation courses, which were used to choose it; lower is
    /// better.
    pub validation: f64,
    /// Number of finalists that drove the validation courses.
    pub finalists: usize,
    /// Reasons why finalists were ruled out. Each names a validation course on which a module failed.
    pub failed_finalists: Vec<String>,
    /// Runs of the champion on the held-out test courses, in order. Runs in which a module failed do not
    /// count as results.
    pub held_out: Vec<RunOrFailure>,
    /// Runs of the baseline (the values before training) on the same courses.
    pub start: Vec<RunOrFailure>,
}

/// An individual that could not be evaluated because a module failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedIndividual {
    /// Number of the generation, starting at 1.
    pub generation: usize,
    /// Course and module of the failure, with its time and reason.
    pub reason: String,
}

impl fmt::Display for FailedIndividual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { generation, reason } = self;
        write!(f, "generation {generation}, {reason}; no result")
    }
}

/// Reason why training cannot continue.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrainingError {
    /// The record cannot be resumed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// No candidate was fit to become the champion.
    #[error(
        "no individual qualified as champion in {0} generations: {1}; train for longer, or start \
         from a stack that can drive"
    )]
    Nobody(usize, String),
    /// The breeding method cannot be set up.
    #[error("{0}")]
    Method(String),
    /// The champion failed on all test courses.
    #[error("the champion fails on all test courses: {0}")]
    Champion(String),
    /// The baseline (the values before training), to which the champion is compared, cannot be run.
    #[error("the baseline (values before training) cannot be run: {0}")]
    Start(String),
}

/// A training run in progress.
pub struct Training<'a> {
    experiment: &'a Experiment,
    genome: &'a Genome,
    evaluate: &'a dyn Evaluate,
    breeder: Box<dyn Breeder + 'a>,
    record: Record,
    reports: Vec<GenerationReport>,
    /// Successive leaders of the breeder, with the number of restarts before each of them.
    leaders: Vec<(u32, Chromosome)>,
}

impl<'a> Training<'a> {
    /// Creates a training run that has not started yet.
    ///
    /// # Errors
    /// If the method cannot breed these genes.
    pub fn new(
        experiment: &'a Experiment,
        genome: &'a Genome,
        evaluate: &'a dyn Evaluate,
    ) -> Result<Self, TrainingError> {
        Ok(Self {
            experiment,
            genome,
            evaluate,
            breeder: breeder(experiment, genome)?,
            record: Record::new(experiment, genome, evaluate),
            reports: Vec::new(),
            leaders: Vec::new(),
        })
    }

    /// Creates a training run that continues from a record.
    ///
    /// # Errors
    /// If the record belongs to another experiment, was made with other builds of modules, or contains
    /// candidates other than those proposed by the breeder.
    pub fn resume(
        experiment: &'a Experiment,
        genome: &'a Genome,
        evaluate: &'a dyn Evaluate,
        record: &Record,
    ) -> Result<Self, TrainingError> {
        let mut training = Self::new(experiment, genome, evaluate)?;
        record.check_same(&training.record)?;
        // If a record does not contain builds, it is unknown which builds drove its generations.
        training.record.modules.clone_from(&record.modules);
        // Generation by generation, so that the leaders of the pool are collected as in the original
        // training.
        for generation in &record.generations {
            training.take_over(generation)?;
        }
        Ok(training)
    }

    /// Replays the next generation of a record with its recorded results. Returns its candidates.
    ///
    /// # Errors
    /// If the breeder proposes candidates that differ from the recorded ones.
    pub(super) fn take_over(
        &mut self,
        generation: &Generation,
    ) -> Result<Vec<Candidate>, TrainingError> {
        let asked = tell_again(self.genome, &mut *self.breeder, generation);
        let asked = asked.ok_or(RecordError::Generation {
            generation: self.record.generations.len() + 1,
        })?;
        self.record.generations.push(generation.clone());
        self.note();
        Ok(asked)
    }

    /// Breeds and evaluates a generation, on the threads of the current pool.
    pub fn step(&mut self) {
        let asked = self.breeder.ask();
        let number = self.record.generations.len() as u32 + 1;
        let judged = self.judge_generation(number, &asked);
        let fitness: Vec<_> = judged.iter().map(Judgement::fitness).collect();
        self.breeder.tell(&fitness);
        self.record.push(self.genome, &asked, &judged);
        self.note();
    }

    /// Evaluates the candidates of generation `number` on the threads of the current pool. Generations are
    /// numbered from 1.
    pub(super) fn judge_generation(&self, number: u32, asked: &[Candidate]) -> Vec<Judgement> {
        let drives = self.evaluate.drives_of_a_run();
        let courses = self.experiment.courses_of(number, drives);
        let places = self.experiment.operators.p;
        match (self.experiment.racing, self.experiment.halving) {
            (Some(racing), _) => race(self.evaluate, asked, &courses, racing, places),
            (None, Some(halving)) => halve(self.evaluate, asked, &courses, halving, places),
            (None, None) => judge(self.evaluate, asked, &courses),
        }
    }

    /// Adds the report of the last generation.
    fn note(&mut self) {
        let Some(generation) = self.record.generations.last() else {
            return;
        };
        let best = self.breeder.pool().best();
        let figures = figures(generation);
        let as_fitness = |score: Option<f64>| score.map(|score| self.as_fitness(score));
        let report = GenerationReport {
            generation: self.record.generations.len(),
            best: as_fitness(figures.best),
            mean: as_fitness(figures.mean),
            pool_best: as_fitness(best.map(|best| best.fitness)),
            genes: best.map(|best| self.genome.print(&best.genes)),
            ..figures
        };
        self.reports.push(report);
        if let Some(leader) = self.breeder.leader()
            && self.leaders.iter().all(|(_, known)| *known != leader)
        {
            self.leaders.push((self.breeder.beginning(), leader));
        }
    }

    /// Converts a score back to a fitness. For scores, lower is always better, whereas a higher fitness may
    /// be better.
    pub fn as_fitness(&self, score: f64) -> f64 {
        if self.evaluate.lower_is_better() {
            score
        } else {
            -score
        }
    }

    /// Whether training should stop.
    pub fn is_over(&self) -> bool {
        let stop = self.experiment.stop;
        let best = self.breeder.pool().best().map(|best| best.fitness);
        // Changing the sign twice gives the original value, so this also converts a fitness to a score.
        let enough = stop.fitness.map(|fitness| self.as_fitness(fitness));
        let is_good = enough
            .zip(best)
            .is_some_and(|(enough, best)| best <= enough);
        self.reports.len() >= stop.generations as usize || (is_good && !self.reports.is_empty())
    }

    /// Returns the experiment that is carried out.
    pub(super) fn experiment(&self) -> &Experiment {
        self.experiment
    }

    /// Returns the genes that are trained.
    pub(super) fn genome(&self) -> &Genome {
        self.genome
    }

    /// Returns the current record.
    pub fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    /// Reports on the completed generations.
    pub fn reports(&self) -> &[GenerationReport] {
        &self.reports
    }

    /// Returns the current pool of the best individuals.
    pub fn pool(&self) -> &Pool {
        self.breeder.pool()
    }

    /// Returns the hash of the pool, 16 hexadecimal digits.
    pub fn pool_hash(&self) -> String {
        format!("{:016x}", self.breeder.pool().hash())
    }

    /// Chooses the champion on the validation courses and evaluates it on the test courses. The baseline (the
    /// values before training) is also a finalist, so that training cannot make the result worse, except by
    /// chance.
    ///
    /// # Errors
    /// If no individual could be judged, or if the champion or the baseline fails on all test courses.
    pub fn champion(&self) -> Result<Champion, TrainingError> {
        let finalists = self.finalists();
        let courses = Seeds::all(self.experiment.seeds.validate);
        let mut best: Option<(f64, &Chromosome)> = None;
        let mut failed_finalists = Vec::new();
        // Finalists drive one after another, each on all courses in parallel. A finalist that fails on any
        // course cannot become champion.
        for genes in &finalists {
            let runs = match run_all(self.evaluate, genes, &courses) {
                Ok(runs) => runs,
                Err(failure) => {
                    failed_finalists.push(failure);
                    continue;
                }
            };
            let mean = mean_score(&runs);
            // On a tie, the earlier finalist stays, and the baseline comes first.
            if best.is_none_or(|(lowest, _)| mean < lowest) {
                best = Some((mean, genes));
            }
        }
        let (validation, genes) =
            best.ok_or_else(|| self.nobody(&failed_finalists, finalists.len()))?;
        let test = Seeds::all(self.experiment.seeds.test);
        let start = run_each(self.evaluate, &self.genome.start(), &test);
        let held_out = run_each(self.evaluate, genes, &test);
        // The verdict reports the number of failures, but there is no verdict if no run succeeds.
        some_succeeded(&start).map_err(TrainingError::Start)?;
        some_succeeded(&held_out).map_err(TrainingError::Champion)?;
        Ok(Champion {
            held_out,
            genes: genes.clone(),
            validation,
            finalists: finalists.len(),
            failed_finalists,
            start,
        })
    }

    /// Returns the candidates for champion: the baseline, and the last leaders of the pool. Individuals that
    /// the user has struck out are excluded, even if they were leaders.
    pub fn finalists(&self) -> Vec<Chromosome> {
        let all = self.record.generations.iter().flatten();
        let struck = all.filter(|judged| judged.judgement.struck_out);
        let struck: Vec<&str> = struck.map(|judged| judged.genes.as_str()).collect();
        let is_in = |genes: &Chromosome| !struck.contains(&self.genome.print(genes).as_str());
        let begun = (self.experiment.start == Start::Stack).then(|| self.genome.start());
        let mut finalists: Vec<Chromosome> = begun.into_iter().filter(is_in).collect();
        let leaders = self.leaders.iter().filter(|(_, genes)| is_in(genes));
        let leaders: Vec<&(u32, Chromosome)> = leaders.collect();
        // Each restart contributes about the same number of its last leaders.
        let groups: Vec<_> = leaders.chunk_by(|a, b| a.0 == b.0).collect();
        let each = FINALISTS.div_ceil(groups.len().max(1));
        for group in groups {
            let latest = group.len().saturating_sub(each);
            for (_, leader) in &group[latest..] {
                if !finalists.contains(leader) {
                    finalists.push(leader.clone());
                }
            }
        }
        finalists
    }

    /// Returns individuals whose modules failed, in the order of generations.
    pub fn failures(&self) -> Vec<FailedIndividual> {
        let generations = (1..).zip(&self.record.generations);
        let failed = generations.flat_map(|(generation, judged)| {
            judged.iter().filter_map(move |judged| {
                let reason = judged.judgement.failure.clone()?;
                Some(FailedIndividual { generation, reason })
            })
        });
        failed.collect()
    }

    /// Returns the reason for the first failure, if the training has only one generation and all
    /// its individuals failed; otherwise `None`.
    pub fn failed_from_the_start(&self) -> Option<String> {
        let [first] = &self.record.generations[..] else {
            return None;
        };
        let failures = first.iter().map(|judged| judged.judgement.failure.clone());
        let failures: Option<Vec<String>> = failures.collect();
        failures.and_then(|failures| failures.into_iter().next())
    }

    /// Returns the error for a training run without a champion. The error explains why all finalists failed
    /// or, if there were none, why all individuals failed.
    fn nobody(&self, failed_finalists: &[String], finalists: usize) -> TrainingError {
        let mut all = self.record.generations.iter().flatten();
        let why = match failed_finalists.first() {
            Some(first) => format!(
                "{} of {finalists} finalists failed on a validation course ({first})",
                failed_finalists.len()
            ),
            None => all
                .find_map(|judged| judged.judgement.failure.clone())
                .unwrap_or_else(|| "all were stopped early because they did not move".into()),
        };
        TrainingError::Nobody(self.reports.len(), why)
    }
}

fn breeder<'a>(
    experiment: &Experiment,
    genome: &'a Genome,
) -> Result<Box<dyn Breeder + 'a>, TrainingError> {
    match experiment.method {
        Method::CmaEs => {
            let breeder = CmaEs::new(genome, experiment.plan());
            Ok(Box::new(breeder.map_err(TrainingError::Method)?))
        }
        Method::CrossEntropy => {
            let breeder = CrossEntropy::new(genome, experiment.plan());
            Ok(Box::new(breeder.map_err(TrainingError::Method)?))
        }
        Method::Genetic | Method::Random | Method::HillClimbing => {
            Ok(Box::new(Nursery::new(genome, experiment.plan())))
        }
    }
}

/// Checks that at least one run succeeded.
///
/// # Errors
/// If all runs failed. The error is the first failure.
fn some_succeeded(runs: &[RunOrFailure]) -> Result<(), String> {
    match runs.first() {
        Some(Err(failure)) if runs.iter().all(Result::is_err) => Err(failure.clone()),
        _ => Ok(()),
    }
}

/// Returns the report on the candidates of a generation.
fn figures(generation: &Generation) -> GenerationReport {
    let judgements = || generation.iter().map(|judged| &judged.judgement);
    let fitness: Vec<f64> = judgements().filter_map(Judgement::fitness).collect();
    let mean = fitness.iter().sum::<f64>() / fitness.len() as f64;
    GenerationReport {
        generation: 0,
        best: fitness.iter().copied().min_by(f64::total_cmp),
        mean: (!fitness.is_empty()).then_some(mean),
        pool_best: None,
        ended_early: judgements()
            .filter(|judgement| judgement.ended_early)
            .count(),
        raced_out: judgements().filter(|j| j.raced_out).count(),
        failed: judgements().filter(|j| j.failure.is_some()).count(),
        struck_out: judgements().filter(|j| j.struck_out).count(),
        runs: judgements().map(|judgement| judgement.drives).sum(),
        genes: None,
    }
}

/// Returns the mean score of runs.
pub fn mean_score(runs: &[CandidateRun]) -> f64 {
    runs.iter().map(|run| run.score).sum::<f64>() / runs.len() as f64
}

/// Returns the scores of runs in order; `None` for a failed run.
pub fn scores_of(runs: &[RunOrFailure]) -> Vec<Option<f64>> {
    let score = |run: &RunOrFailure| run.as_ref().ok().map(|run| run.score);
    runs.iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::super::halving::Halving;
    use super::super::racing::Racing;
    use super::super::sum_of_genes::{SumOfGenes, genome};
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn experiment(method: &str) -> Experiment {
        let text = format!(
            r#"{{"format": "roadwright-experiment", "version": 1, "course": "sum", "stack": "x", "genes": [],
            "method": "{method}", "seeds": {{"train": [1, 9], "validate": [10, 12], "test": [20, 29]}},
            "operators": {{"n": 6}}, "runs": 3, "stop": {{"generations": 12}}}}"#
        );
        Experiment::from_text(&text).unwrap()
    }

    fn train(training: &mut Training<'_>) {
        while !training.is_over() {
            training.step();
        }
    }

    #[test]
    fn a_training_that_was_stopped_anywhere_goes_on_to_the_same_pool() {
        let genome = genome();
        for (method, halving) in [
            ("genetic", None),
            ("genetic", Some(Halving::default())),
            ("cross_entropy", None),
            ("cross_entropy", Some(Halving::default())),
            ("random", None),
            ("hill_climbing", None),
            ("cma_es", None),
        ] {
            let mut experiment = experiment(method);
            (experiment.halving, experiment.runs) = (halving, 4);
            experiment.learning.restart = Some(5);
            let mut whole = Training::new(&experiment, &genome, &SumOfGenes).unwrap();
            train(&mut whole);
            for stopped in [0, 1, 5, 12] {
                let mut first = Training::new(&experiment, &genome, &SumOfGenes).unwrap();
                for _ in 0..stopped {
                    first.step();
                }
                let record = Record::from_text(&first.record().to_text()).unwrap();
                let again = Training::resume(&experiment, &genome, &SumOfGenes, &record);
                let mut again = again.unwrap();
                train(&mut again);
                assert_eq!(again.pool_hash(), whole.pool_hash(), "{method} {stopped}");
                assert_eq!(again.reports(), whole.reports());
                assert_eq!(again.champion().unwrap(), whole.champion().unwrap());
            }
        }
    }

    #[test]
    fn racing_spares_runs_and_changes_no_pool() {
        let genome = genome();
        let mut plain = experiment("genetic");
        plain.runs = 30;
        let mut raced = plain.clone();
        raced.racing = Some(Racing {
            least: 0.0,
            block: 1,
            doubt: None,
        });
        let mut without = Training::new(&plain, &genome, &SumOfGenes).unwrap();
        let mut with = Training::new(&raced, &genome, &SumOfGenes).unwrap();
        train(&mut without);
        train(&mut with);
        assert_eq!(with.pool_hash(), without.pool_hash());
        let runs = |training: &Training<'_>| -> usize {
            training.reports().iter().map(|report| report.runs).sum()
        };
        assert!(runs(&with) < runs(&without));
        let lost: usize = with.reports().iter().map(|report| report.raced_out).sum();
        assert!(lost > 0);
    }

    #[test]
    fn who_is_struck_out_is_not_kept_not_bred_from_and_no_champion() {
        let genome = genome();
        let experiment = experiment("genetic");
        let mut training = Training::new(&experiment, &genome, &SumOfGenes).unwrap();
        training.step();
        training.step();
        let mut record = training.record().clone();
        let best = training.pool().best().unwrap().clone();
        let birth = (best.birth.generation, best.birth.number);
        assert!(record.strike_out(birth));
        assert!(!record.strike_out(birth), "twice");
        assert!(!record.strike_out((99, 0)), "nobody");
        // Writes the record to text and reads it again, as with a file.
        let record = Record::from_text(&record.to_text()).unwrap();
        let mut other = Training::resume(&experiment, &genome, &SumOfGenes, &record).unwrap();
        assert_ne!(other.pool_hash(), training.pool_hash());
        assert!(other.pool().members().iter().all(|m| m.birth != best.birth));
        assert_eq!(other.reports()[1].struck_out, 1);
        assert!(training.finalists().contains(&best.genes));
        assert!(!other.finalists().contains(&best.genes));
        train(&mut other);
        assert_ne!(other.champion().unwrap().genes, best.genes);
        let text = other.record().to_text();
        assert_eq!(Record::from_text(&text).unwrap().struck_out(), 1);
    }

    #[test]
    fn what_does_not_fit_is_not_resumed() {
        let (genome, experiment) = (genome(), experiment("genetic"));
        let mut training = Training::new(&experiment, &genome, &SumOfGenes).unwrap();
        training.step();
        training.step();
        let text = training.record().to_text();
        let resume = |experiment: &Experiment, text: &str| {
            let record = Record::from_text(text)?;
            match Training::resume(experiment, &genome, &SumOfGenes, &record) {
                Ok(_) => Ok(()),
                Err(TrainingError::Record(error)) => Err(error),
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!(resume(&experiment, &text), Ok(()));
        // The stopping condition may change.
        let mut longer = experiment.clone();
        longer.stop.generations = 99;
        assert_eq!(resume(&longer, &text), Ok(()));
        let mut other = experiment.clone();
        other.operators.r = 0.3;
        assert_eq!(
            resume(&other, &text),
            Err(RecordError::Other("the experiment file"))
        );
        // If a score is changed, the hash no longer matches.
        let scores = text.find("\"scores\":[").unwrap() + 10;
        let mut damaged = text.clone();
        let digit = if &text[scores..=scores] == "9" {
            "8"
        } else {
            "9"
        };
        damaged.replace_range(scores..=scores, digit);
        assert_eq!(resume(&experiment, &damaged), Err(RecordError::Damaged));
        // If the hash is changed to match, the record still does not match the experiment.
        let mut record = Record::from_text(&text).unwrap();
        record.generations[1][0].birth.1 += 7;
        let forged = record.to_text();
        assert_eq!(
            resume(&experiment, &forged),
            Err(RecordError::Generation { generation: 2 })
        );
        for cut in [0, 1, text.len() / 2, text.len() - 3] {
            assert!(matches!(
                resume(&experiment, &text[..cut]),
                Err(RecordError::Text(_))
            ));
        }
        let newer = text.replacen("\"version\":2", "\"version\":3", 1);
        assert_eq!(resume(&experiment, &newer), Err(RecordError::Version(3)));
    }

    /// An evaluator that returns the sum of the genes and counts the runs. For some individuals, modules fail
    /// on all courses.
    struct Moody(AtomicUsize);

    impl Evaluate for Moody {
        fn run(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
            self.0.fetch_add(1, Ordering::SeqCst);
            if genes[0] == 3.0 {
                return Err("a bad day".into());
            }
            SumOfGenes.run(genes, course)
        }
    }

    #[test]
    fn a_module_that_fails_costs_its_individual_and_not_the_training() {
        let (genome, experiment) = (genome(), experiment("random"));
        let moody = Moody(AtomicUsize::new(0));
        let mut training = Training::new(&experiment, &genome, &moody).unwrap();
        train(&mut training);
        let failed: usize = training.reports().iter().map(|report| report.failed).sum();
        assert!(
            (3..40).contains(&failed),
            "a fifth of 72 by chance: {failed}"
        );
        let champion = training.champion().unwrap();
        assert_ne!(champion.genes[0], 3.0);
        assert_eq!(champion.held_out.len(), 10);
        assert_eq!(champion.start.len(), 10);
        let mean = |runs: &[RunOrFailure]| {
            let runs: Result<Vec<CandidateRun>, String> = runs.iter().cloned().collect();
            mean_score(&runs.unwrap())
        };
        assert!(mean(&champion.held_out) <= mean(&champion.start));
    }

    /// An evaluator that returns the sum of the genes. Modules fail on all validation courses.
    struct FailsLate;

    impl Evaluate for FailsLate {
        fn run(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
            if (10..=12).contains(&course) {
                return Err(format!("seed {course}: tired"));
            }
            SumOfGenes.run(genes, course)
        }
    }

    #[test]
    fn finalists_that_fail_are_counted_and_the_first_failure_is_told() {
        let (genome, experiment) = (genome(), experiment("genetic"));
        let mut training = Training::new(&experiment, &genome, &FailsLate).unwrap();
        train(&mut training);
        let all = training.finalists().len();
        let said = training.champion().unwrap_err().to_string();
        let expected =
            format!("{all} of {all} finalists failed on a validation course (seed 10: tired)");
        assert!(said.contains(&expected), "{said}");
        assert!(!said.contains("stood"), "{said}");
    }

    /// [`SumOfGenes`], whose runs report a module of the given build.
    struct Built(&'static str);

    impl Evaluate for Built {
        fn run(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
            SumOfGenes.run(genes, course)
        }

        fn modules(&self) -> Vec<String> {
            vec![format!("controller x {}", self.0)]
        }
    }

    #[test]
    fn a_training_is_not_resumed_with_another_build() {
        let (genome, experiment) = (genome(), experiment("genetic"));
        let mut training = Training::new(&experiment, &genome, &Built("1")).unwrap();
        training.step();
        let mut record = Record::from_text(&training.record().to_text()).unwrap();
        let resume = |record: &Record, build| {
            let built = Built(build);
            let resumed = Training::resume(&experiment, &genome, &built, record);
            resumed
                .map(|mut training| training.record().modules.clone())
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            resume(&record, "1"),
            Ok(Some(vec!["controller x 1".into()]))
        );
        let said = resume(&record, "2").unwrap_err();
        let expected = "made with controller x 1, but controller x 2 is used here";
        assert!(said.contains(expected), "{said}");
        // A record of an earlier version has no builds. It can be read, and still has none when training
        // continues from it.
        record.modules = None;
        let older = Record::from_text(&record.to_text()).unwrap();
        assert_eq!(resume(&older, "2"), Ok(None));
    }

    #[test]
    fn a_record_is_held_to_the_rules_of_experiments_and_of_its_version() {
        let (genome, experiment) = (genome(), experiment("genetic"));
        let mut training = Training::new(&experiment, &genome, &SumOfGenes).unwrap();
        training.step();
        let honest = training.record().clone();
        type Forge = fn(&mut Experiment);
        let forgeries: [(&str, Forge); 6] = [
            ("seeds", |e| e.seeds.validate = e.seeds.train),
            ("seeds", |e| e.seeds.validate = [0, u64::MAX]),
            ("seeds", |e| e.seeds.test = [20, 1_000_000_000_020]),
            ("seeds", |e| e.seeds.train = [9, 1]),
            ("runs", |e| e.runs = 1_000_000_000),
            ("stop", |e| e.stop.generations = u32::MAX),
        ];
        for (expected, forge) in forgeries {
            let mut forged = honest.clone();
            forge(&mut forged.experiment);
            let found = Record::from_text(&forged.to_text());
            assert!(
                matches!(&found, Err(RecordError::Experiment { key, .. }) if *key == expected),
                "{expected}: {found:?}"
            );
        }
        let text = honest.clone().to_text();
        for (version, expected) in [
            ("0", RecordError::NoVersion(0)),
            ("1", RecordError::FieldOfLater("roadwright")),
        ] {
            let version = format!("\"version\":{version},\"roadwright\"");
            let edited = text.replacen("\"version\":2,\"roadwright\"", &version, 1);
            assert_ne!(edited, text);
            assert_eq!(Record::from_text(&edited), Err(expected));
        }
    }

    /// An evaluator in which no vehicle moves.
    struct Stuck;

    impl Evaluate for Stuck {
        fn run(&self, _: &[f64], _: u64) -> Result<CandidateRun, String> {
            let run = SumOfGenes.run(&[], 0)?;
            Ok(CandidateRun {
                ended_early: true,
                row: None,
                manners: None,
                ..run
            })
        }
    }

    #[test]
    fn if_nobody_is_fit_training_ends_and_says_so() {
        let (genome, mut experiment) = (genome(), experiment("genetic"));
        experiment.start = Start::Random;
        let mut training = Training::new(&experiment, &genome, &Stuck).unwrap();
        train(&mut training);
        let last = training.reports().last().unwrap();
        assert_eq!((last.best, last.ended_early, last.runs), (None, 6, 6));
        assert!(matches!(
            training.champion(),
            Err(TrainingError::Nobody(12, _))
        ));
    }
}
