//! The genetic fuzzy system, which breeds self-describing parameters.
//!
//! | part | contents |
//! | --- | --- |
//! | `genes.rs` | genes, chromosomes as text and in words, presets |
//! | `patterns.rs` | patterns of experiment files for selected genes |
//! | `operators.rs` | crossover, mutation, bounds, repair |
//! | `pool.rs` | the best individuals |
//! | `breeder.rs` | the interface of all methods (ask and tell) |
//! | `cross_entropy.rs` | the cross-entropy method |
//! | `cma.rs` | covariance matrix adaptation, a baseline |
//! | `judge.rs` | candidates drive courses in parallel |
//! | `racing.rs` | stops evaluating individuals as soon as they cannot win |
//! | `halving.rs` | lets better individuals drive more, round by round |
//! | `experiment.rs` | experiment files |
//! | `training.rs` | the run manager: generations, champion |
//! | `verdict.rs` | the champion and the baseline on the test courses |
//! | `verify.rs` | verification of a record against its experiment |
//! | `workers.rs` | the threads of a training run |
//! | `record.rs` | the checkpoint file |
//! | `problem.rs` | the genes of a stack, and its runs on a course |
//! | `front.rs` | comparison of drivers by several objectives |
//! | `study.rs` | parameter studies |
//! | `sum_of_genes.rs` | the controlled benchmark |
//!
//! The same experiment and seed give a bit-identical pool, with any number of threads, even if training
//! is stopped and resumed at any moment. Random numbers come from counter-based streams, runs are combined in
//! the order of candidates and courses, and the clock is never read.

mod breeder;
mod cma;
#[cfg(test)]
mod counts;
mod covariance;
mod cross_entropy;
pub mod experiment;
mod front;
mod genes;
mod halving;
mod judge;
mod operators;
mod patterns;
mod pool;
mod problem;
mod racing;
pub mod record;
pub mod study;
mod sum_of_genes;
mod symmetric;
mod training;
mod verdict;
mod verify;
mod workers;

pub use breeder::{Breeder, Candidate, Elite, Method, Nursery, Plan, Start};
pub use cma::CmaEs;
pub use cross_entropy::{CrossEntropy, Learning};
pub use experiment::Experiment;
pub use front::{Driven, Failed, Front, Objective, Standing};
pub use genes::{Chromosome, Gene, GeneError, Genome, Preset, parameters, put_preset};
pub use halving::{Halving, halve};
pub use judge::{
    CandidateRun, Evaluate, Judgement, Manners, RunOrFailure, judge, run_all, run_each,
};
pub use operators::{Bounds, Operators, repair};
pub use patterns::patterns_of;
pub use pool::{Birth, Individual, Pool};
pub use problem::{CourseEnd, LEVEL, Problem, ProblemError, stack_of};
pub use racing::{Racing, race};
pub use record::{Record, RecordError};
pub use sum_of_genes::{SumOfGenes, genome as sum_of_genes};
pub use training::{
    Champion, FailedIndividual, GenerationReport, Training, TrainingError, mean_score, scores_of,
};
pub use verdict::{NoRows, Verdict};
pub use verify::Verification;
pub use workers::Workers;
