//! The genetic fuzzy system: parameters that describe themselves are bred.
//!
//! | part | what it holds |
//! | --- | --- |
//! | `genes.rs` | genes, chromosomes as text and in words, presets |
//! | `operators.rs` | crossing over, mutation, bounds, repair |
//! | `pool.rs` | the best individuals |
//! | `breeder.rs` | who is judged next: ask and tell |
//! | `cma.rs` | a baseline behind the same ask and tell |
//! | `judge.rs` | candidates drive courses in parallel |
//! | `experiment.rs` | experiment files |
//! | `training.rs` | the run manager: generations, champion |
//! | `record.rs` | the checkpoint file |
//! | `problem.rs` | the genes of a stack, and its runs on a course |
//! | `study.rs` | parameter studies |
//! | `sum_of_genes.rs` | the controlled benchmark |
//!
//! The contract: the same experiment and seed give the same pool, bit for bit, with any number of
//! threads, and when it was stopped and resumed at any moment. Draws come from counter-based streams,
//! runs are put together in the order of candidates and courses, and nothing reads the clock.

mod breeder;
mod cma;
pub mod experiment;
mod genes;
mod judge;
mod operators;
mod pool;
mod problem;
mod racing;
pub mod record;
pub mod study;
mod sum_of_genes;
mod training;

pub use breeder::{Breeder, Candidate, Elite, Method, Nursery, Plan, Start};
pub use cma::CmaEs;
pub use experiment::Experiment;
pub use genes::{Chromosome, Gene, GeneError, Genome, Preset};
pub use judge::{Evaluate, Judgement, Run, judge, run_all};
pub use operators::{Bounds, Operators, repair};
pub use pool::{Birth, Individual, Pool};
pub use problem::{LEVEL, Problem, ProblemError};
pub use racing::{Racing, race};
pub use record::{Record, RecordError};
pub use sum_of_genes::{SumOfGenes, genome as sum_of_genes};
pub use training::{Champion, GenerationReport, Training, TrainingError, mean_score};
