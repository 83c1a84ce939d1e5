//! An evaluator for tests of methods that reduce the number of runs.

use super::judge::{CandidateRun, Evaluate};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An evaluator that returns the gene as the score on every course, and counts the runs. A run with gene 13
/// fails on course 2, and with gene 16 hardly any vehicle moves.
#[derive(Default)]
pub(super) struct Counts(AtomicUsize);

impl Counts {
    /// Total number of runs.
    pub(super) fn runs(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Evaluate for Counts {
    fn run(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        if genes[0] == 13.0 && course == 2 {
            return Err("no luck".into());
        }
        Ok(CandidateRun {
            score: genes[0],
            drives: 1,
            completed: 1,
            hash: 0,
            ended_early: genes[0] == 16.0,
            row: None,
            manners: None,
        })
    }
}
