//! The state of a training run for the panels.

use roadwright_training::genetic::{
    Chromosome, Experiment, GenerationReport, Judgement, Problem, Record, Training, Verdict,
};
use roadwright_training::statistics::Moments;
use std::sync::Arc;

/// Phase of a training run.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Phase {
    /// Prepares the course and drives it once as a trial run.
    #[default]
    Preparing,
    /// Breeds and evaluates the generation with this number, counted from 1.
    Breeding(usize),
    /// Chooses the champion among the finalists and tests it.
    Choosing,
    /// Stopped by the user.
    Stopped,
    /// Training has finished.
    Over,
    /// Failed, with the reason.
    Failed(String),
}

impl Phase {
    /// Whether training is busy with runs.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Preparing | Self::Breeding(_) | Self::Choosing)
    }
}

/// A generation, with the spread of its fitness.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationRow {
    /// The report of the generation.
    pub report: GenerationReport,
    /// Mean fitness minus and plus one standard deviation; `None` for fewer than two individuals.
    pub spread: Option<(f64, f64)>,
}

/// Fate of an individual.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// The individual was rated.
    Rated,
    /// The individual was stopped early because it hardly moved.
    EndedEarly,
    /// The individual was dropped early because it could no longer win.
    RacedOut,
    /// The individual was struck out by the user.
    StruckOut,
    /// The modules of the individual failed.
    Failed(String),
}

impl Fate {
    fn of(judgement: &Judgement) -> Self {
        match &judgement.failure {
            Some(failure) => Self::Failed(failure.clone()),
            // In this order: an individual that was struck out may also have ended early, and striking out
            // takes precedence.
            None if judgement.struck_out => Self::StruckOut,
            None if judgement.ended_early => Self::EndedEarly,
            None if judgement.raced_out => Self::RacedOut,
            None => Self::Rated,
        }
    }
}

/// An individual of the last generation, or of the pool.
#[derive(Debug, Clone, PartialEq)]
pub struct IndividualRow {
    /// Generation and number of the individual, which identify it.
    pub birth: (u32, u32),
    /// Genes of the individual.
    pub genes: Chromosome,
    /// Mean fitness of the individual's runs.
    pub fitness: Option<f64>,
    /// Standard error of the mean; `None` for one run.
    pub error: Option<f64>,
    /// Number of the individual's runs.
    pub runs: usize,
    /// Fate of the individual.
    pub fate: Fate,
    /// Rank in the pool, counted from 1; `None` if the individual is not in the pool.
    pub rank: Option<usize>,
    /// Whether the individual was judged in the last generation and can therefore be struck out.
    pub is_latest: bool,
}

impl IndividualRow {
    /// Returns the name of the individual, formed from its generation and number.
    pub fn name(&self) -> String {
        format!("{}.{}", self.birth.0, self.birth.1)
    }
}

/// A snapshot of a training run.
#[derive(Clone, Default)]
pub struct TrainingPicture {
    /// Current phase of the training run.
    pub phase: Phase,
    /// The experiment as started.
    pub experiment: Option<Arc<Experiment>>,
    /// The experiment with everything it needs, once prepared.
    pub problem: Option<Arc<Problem>>,
    /// The completed generations.
    pub generations: Arc<Vec<GenerationRow>>,
    /// The pool, best first, followed by the other individuals of the last generation.
    pub individuals: Arc<Vec<IndividualRow>>,
    /// Seeds of the courses of the last generation.
    pub courses: Vec<u64>,
    /// Hash of the pool, as `roadwright train` prints it.
    pub pool_hash: String,
    /// Number of individuals struck out by hand. If there are any, rerunning the experiment does
    /// not reproduce the result.
    pub struck_out: usize,
    /// The champion and its test results, once training has finished.
    pub verdict: Option<Arc<Verdict>>,
    /// The current record, including the champion if there is one.
    pub record: Option<Arc<Record>>,
}

impl TrainingPicture {
    /// Returns the best individual of the pool; `None` if the pool is empty.
    pub fn best(&self) -> Option<&IndividualRow> {
        self.individuals.first().filter(|row| row.rank == Some(1))
    }

    /// Whether a lower fitness is better.
    pub fn is_lower_better(&self) -> bool {
        let problem = self.problem.as_ref();
        problem.is_none_or(|problem| problem.is_lower_better())
    }

    /// Updates the snapshot from a training run.
    pub fn take(&mut self, training: &mut Training<'_>, problem: &Problem) {
        self.pool_hash = training.pool_hash();
        let record = training.record().clone();
        let rows = training.reports().iter().zip(&record.generations);
        let rows = rows.map(|(report, generation)| {
            let fitness = generation
                .iter()
                .filter_map(|judged| judged.judgement.fitness());
            let fitness: Vec<f64> = fitness.map(|score| training.as_fitness(score)).collect();
            let moments = Moments::of(&fitness);
            let (mean, deviation) = (moments.mean(), moments.standard_deviation());
            GenerationRow {
                report: report.clone(),
                spread: (fitness.len() > 1).then_some((mean - deviation, mean + deviation)),
            }
        });
        self.generations = Arc::new(rows.collect());
        self.individuals = Arc::new(individuals(training, &record, problem));
        self.struck_out = record.struck_out();
        self.record = Some(Arc::new(record));
    }
}

/// Returns the individuals of the pool, best first, followed by the other individuals of the last
/// generation in the order of their fitness. Unrated individuals are last.
fn individuals(training: &Training<'_>, record: &Record, problem: &Problem) -> Vec<IndividualRow> {
    let members = training.pool().members();
    let rank = |birth: (u32, u32)| {
        let is_own = |place: &usize| {
            let own = members[*place].birth;
            // Matched by birth, because two individuals can have the same genes.
            (own.generation, own.number) == birth
        };
        (0..members.len()).find(is_own).map(|place| place + 1)
    };
    let last = record.generations.last().into_iter().flatten();
    let mut rows: Vec<IndividualRow> = last
        .filter_map(|judged| {
            let moments = Moments::of(&judged.judgement.scores);
            let runs = judged.judgement.scores.len();
            let fitness = judged.judgement.fitness();
            Some(IndividualRow {
                birth: judged.birth,
                // Genes of another problem are not shown.
                genes: problem.genome().read(&judged.genes).ok()?,
                fitness: fitness.map(|score| training.as_fitness(score)),
                error: (runs > 1).then(|| moments.standard_error()),
                runs,
                fate: Fate::of(&judged.judgement),
                rank: rank(judged.birth),
                is_latest: true,
            })
        })
        .collect();
    // Members that stayed in the pool without being judged again.
    for (place, member) in members.iter().enumerate() {
        let birth = (member.birth.generation, member.birth.number);
        if rows.iter().all(|row| row.birth != birth) {
            rows.push(IndividualRow {
                birth,
                genes: member.genes.clone(),
                fitness: Some(training.as_fitness(member.fitness)),
                error: None,
                runs: 0,
                fate: Fate::Rated,
                rank: Some(place + 1),
                is_latest: false,
            });
        }
    }
    let order = |row: &IndividualRow| {
        // The conversion either negates the value or leaves it unchanged, so applying it again
        // restores the score, where lower is better.
        let score = row.fitness.map(|fitness| training.as_fitness(fitness));
        (
            row.rank.unwrap_or(usize::MAX),
            score.unwrap_or(f64::INFINITY),
        )
    };
    rows.sort_by(|a, b| {
        let ((a_rank, a_score), (b_rank, b_score)) = (order(a), order(b));
        a_rank.cmp(&b_rank).then(a_score.total_cmp(&b_score))
    });
    rows
}
