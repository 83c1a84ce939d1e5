//! What is seen of a training.

use roadwright_training::genetic::{
    Chromosome, Experiment, GenerationReport, Judgement, Problem, Record, Training, Verdict,
};
use roadwright_training::statistics::Moments;
use std::sync::Arc;

/// What a training is doing.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Phase {
    /// The course is made, and driven once as a trial.
    #[default]
    Preparing,
    /// A generation, from 1, is judged.
    Breeding(usize),
    /// The champion is chosen among the leaders, and judged on the test courses.
    Choosing,
    /// A person has stopped it.
    Stopped,
    /// It is over.
    Over,
    /// It cannot go on.
    Failed(String),
}

impl Phase {
    /// Whether something is driven.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Preparing | Self::Breeding(_) | Self::Choosing)
    }
}

/// A generation with its spread.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationRow {
    /// As it is reported everywhere.
    pub report: GenerationReport,
    /// Mean fitness of its individuals less and plus their standard deviation; none of fewer than two.
    pub spread: Option<(f64, f64)>,
}

/// What has become of an individual.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// It was judged.
    Rated,
    /// It hardly set out.
    EndedEarly,
    /// It could not win any more.
    RacedOut,
    /// A person has struck it out.
    StruckOut,
    /// Its modules failed.
    Failed(String),
}

impl Fate {
    fn of(judgement: &Judgement) -> Self {
        match &judgement.failure {
            Some(failure) => Self::Failed(failure.clone()),
            // In this order: who was struck out by hand may have ended early as well, and the hand
            // is what counts.
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
    /// Generation and number that it was bred as.
    pub birth: (u32, u32),
    /// Its values.
    pub genes: Chromosome,
    /// Mean fitness of its runs.
    pub fitness: Option<f64>,
    /// Standard error of that; none of one run.
    pub error: Option<f64>,
    /// Runs that it was judged by.
    pub runs: usize,
    /// What has become of it.
    pub fate: Fate,
    /// Its place in the pool, from 1, if it is in it.
    pub rank: Option<usize>,
    /// Whether it was judged in the last generation: then it can be struck out.
    pub is_latest: bool,
}

impl IndividualRow {
    /// What it is called: generation and number.
    pub fn name(&self) -> String {
        format!("{}.{}", self.birth.0, self.birth.1)
    }
}

/// A training at one moment.
#[derive(Clone, Default)]
pub struct TrainingPicture {
    /// What it is doing.
    pub phase: Phase,
    /// The experiment as it was begun.
    pub experiment: Option<Arc<Experiment>>,
    /// The experiment with all that it needs, once that is there.
    pub problem: Option<Arc<Problem>>,
    /// The generations so far.
    pub generations: Arc<Vec<GenerationRow>>,
    /// The pool, best first, and then the others of the last generation.
    pub individuals: Arc<Vec<IndividualRow>>,
    /// Seeds of the courses of the last generation.
    pub courses: Vec<u64>,
    /// Hash of the pool, as `roadwright train` prints it.
    pub pool_hash: String,
    /// Individuals that were struck out by hand: with any, the result is not the experiment's alone.
    pub struck_out: usize,
    /// The champion and how he did, once the training is over.
    pub verdict: Option<Arc<Verdict>>,
    /// The record so far, with the champion if there is one.
    pub record: Option<Arc<Record>>,
}

impl TrainingPicture {
    /// The best of the pool.
    pub fn best(&self) -> Option<&IndividualRow> {
        self.individuals.first().filter(|row| row.rank == Some(1))
    }

    /// Whether a lower fitness is better.
    pub fn is_lower_better(&self) -> bool {
        let problem = self.problem.as_ref();
        problem.is_none_or(|problem| problem.is_lower_better())
    }

    /// Takes in how a training stands.
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

/// The pool, best first, and then the others of the last generation: by fitness, and those without one last.
fn individuals(training: &Training<'_>, record: &Record, problem: &Problem) -> Vec<IndividualRow> {
    let members = training.pool().members();
    let rank = |birth: (u32, u32)| {
        let is_own = |place: &usize| {
            let own = members[*place].birth;
            // By birth, which is unique; two individuals can have the same genes.
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
                // Genes that are not those of the problem make no row.
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
    // Those who are kept without being judged again.
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
        // It changes the sign or nothing, so a second time leads back to the score: less is better.
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
