//! The controlled benchmark. Its fitness is the sum of the genes, so the best individual consists of zeros
//! ([Gerdelan 2011], section 10.5).

use super::genes::{Gene, Genome};
use super::judge::{CandidateRun, Evaluate};
use roadwright_scenario::Slot;

/// Number of genes of the benchmark, the same as for the fuzzy driver.
const COUNT: usize = 36;
/// Maximum value of a gene, because there are five output terms.
const LARGEST: f64 = 4.0;

/// Returns 36 genes of 0 to 4, which start at the middle of the range.
pub fn genome() -> Genome {
    let gene = Gene {
        slot: Slot::Controller,
        module: "sum_of_genes".into(),
        key: "gene",
        min: 0.0,
        max: LARGEST,
        step: 1.0,
        is_whole: true,
        start: LARGEST / 2.0,
        words: &[],
        rule: None,
        table: None,
    };
    Genome::new(vec![gene; COUNT]).expect("the benchmark has genes with a range")
}

/// An evaluator that scores every course with the sum of the genes.
#[derive(Debug, Clone, Copy, Default)]
pub struct SumOfGenes;

impl Evaluate for SumOfGenes {
    fn run(&self, genes: &[f64], _: u64) -> Result<CandidateRun, String> {
        Ok(CandidateRun {
            score: genes.iter().sum(),
            drives: 1,
            completed: 1,
            hash: 0,
            ended_early: false,
            row: None,
            manners: None,
        })
    }
}
