//! Verification of results: checks whether their head, stopping point and rows match the experiment.

use super::{ExperimentError, Results, RunSeries, Stop, Watcher};
use crate::measure::{RunRow, measure};
use crate::statistics::Moments;
use rayon::prelude::*;
use roadwright_geometry::math::Stream;

/// Minimum number of rows to run again, if there are that many.
const LEAST: usize = 5;
/// Maximum probability that a sample of [`enough_rows`] rows contains no forged row if a tenth of all rows
/// are forged.
const RISK: f64 = 0.05;

/// A row whose result differs when it is run again.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The row in the file.
    pub written: RunRow,
    /// The row from the repeated run.
    pub found: RunRow,
}

/// A field of a file that is not checked by running rows again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotChecked {
    /// Name of the field.
    pub field: &'static str,
    /// Reason why the field cannot be checked.
    pub why: &'static str,
}

/// Returns a random order of `count` rows. The first `n` of them are a sample of `n` rows without
/// replacement.
///
/// The verifier has to choose the seed. Otherwise, a forger could leave the sampled rows unchanged and forge
/// only the others.
pub fn draw(count: usize, seed: u64) -> Vec<usize> {
    let mut stream = Stream::new(seed, "verify", 0);
    let mut rows: Vec<usize> = (0..count).collect();
    // Fisher-Yates shuffle from the front: each position takes one of the remaining rows.
    for place in 0..count {
        rows.swap(place, place + stream.next_index(count - place));
    }
    rows
}

/// Returns the probability that a random sample of `sampled` out of `count` rows contains none of
/// the `forged` rows (hypergeometric distribution).
pub fn escape_chance(count: usize, forged: usize, sampled: usize) -> f64 {
    let forged = forged.min(count);
    let sampled = sampled.min(count);
    if sampled + forged > count {
        return 0.0;
    }
    let factor = |drawn: usize| (count - forged - drawn) as f64 / (count - drawn) as f64;
    (0..sampled).map(factor).product()
}

/// Returns a tenth of `count`, but at least 1.
pub fn tenth(count: usize) -> usize {
    count.div_ceil(10)
}

/// Returns the smallest sample size that misses a forged tenth of `count` rows with a probability of at most
/// 5 %. It is at least five.
pub fn enough_rows(count: usize) -> usize {
    let is_enough = |sampled: &usize| escape_chance(count, tenth(count), *sampled) <= RISK;
    let enough = (LEAST.min(count)..count).find(is_enough);
    enough.unwrap_or(count)
}

/// Returns the fields of results that are not checked by running rows again.
pub fn not_checked(results: &Results) -> Vec<NotChecked> {
    let mut fields = vec![
        NotChecked {
            field: "machine",
            why: "the rows do not depend on it",
        },
        NotChecked {
            field: "first_seed, stop",
            why: "the rows are consistent with them, but the file does not show whether they were chosen \
                  before the runs",
        },
    ];
    let is_used = matches!(
        results.head.stop,
        Stop::Width { .. } | Stop::Difference { .. }
    );
    if !is_used {
        fields.push(NotChecked {
            field: "level",
            why: "rows and stopping rule do not depend on it",
        });
    }
    if results.rows.iter().any(|row| row.failed.is_some()) {
        fields.push(NotChecked {
            field: "failed",
            why: "failed runs must fail again, but when and how may depend on the machine",
        });
    }
    if results.head.course_hash.is_empty() {
        fields.push(NotChecked {
            field: "course_hash",
            why: "the version that wrote the file did not record it",
        });
    }
    fields
}

impl RunSeries<'_> {
    /// Compares the head and the stopping point of results with this experiment, without running anything.
    /// Returns the differences as messages.
    ///
    /// # Errors
    /// If the results belong to another experiment, or the experiment cannot be carried out.
    pub fn check(&self, results: &Results) -> Result<Vec<String>, ExperimentError> {
        let (ours, theirs) = (self.head()?, &results.head);
        super::same(&ours, theirs)?;
        let mut wrong = Vec::new();
        if ours.lower_is_better != theirs.lower_is_better {
            let word = |lower: bool| if lower { "lower" } else { "higher" };
            wrong.push(format!(
                "lower_is_better: {} is better in the file, but {} in the fitness {}",
                word(theirs.lower_is_better),
                word(ours.lower_is_better),
                ours.fitness
            ));
        }
        if theirs.course_hash.is_empty() && results.is_sealed() {
            wrong.push("course_hash: the hash is missing".into());
        }
        if let Err(error) = results.check_hash() {
            wrong.push(error.to_string());
        }
        wrong.extend(self.check_end(results));
        Ok(wrong)
    }

    /// Returns a message if the stopping rule would end at another row or for another reason.
    fn check_end(&self, results: &Results) -> Option<String> {
        let rows = &results.rows;
        if rows.is_empty() {
            return Some("there are no rows".into());
        }
        if let Stop::Difference { against, .. } = self.stop {
            let Some(other) = self.against else {
                return Some(
                    "the stopping rule compares with other results, so its end cannot be checked without them"
                        .into(),
                );
            };
            if u64::from_str_radix(&other.hash, 16) != Ok(against) {
                return Some(format!(
                    "the stopping rule compares with results whose hash is {against:016x}, not {}",
                    other.hash
                ));
            }
            if let Err(error) = self.check_partners() {
                return Some(error.to_string());
            }
        }
        let mut fitness = Moments::default();
        for (index, row) in rows.iter().enumerate() {
            let stopped = self.tell(&mut fitness, row);
            let is_last = index + 1 == rows.len();
            match stopped {
                Some(_) if !is_last => {
                    return Some(format!(
                        "the stopping rule ends with row {}, but the file has {} rows",
                        index + 1,
                        rows.len()
                    ));
                }
                None if is_last && results.stopped.is_none() => {
                    return Some(format!(
                        "it is not finished: there are {} rows, but the stopping rule requires more",
                        rows.len()
                    ));
                }
                _ if is_last && stopped != results.stopped => {
                    let word = |stopped| match stopped {
                        None => "not finished",
                        Some(super::Stopped::Reached) => "as precise as requested",
                        Some(super::Stopped::Runs) => "all runs done",
                    };
                    return Some(format!(
                        "stopped: \"{}\" in the file, and \"{}\" by the stopping rule after {} rows",
                        word(results.stopped),
                        word(stopped),
                        rows.len()
                    ));
                }
                _ => {}
            }
        }
        None
    }

    /// Runs the given rows of results again. Returns the rows that differ in any bit, in the order of `rows`.
    /// Rows that were not run because the watcher stopped the runs are left out.
    ///
    /// # Errors
    /// If the rows were made with other builds of modules, or cannot be run.
    pub fn run_again(
        &self,
        results: &Results,
        rows: &[usize],
        watcher: &impl Watcher,
    ) -> Result<Vec<Difference>, ExperimentError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.max(1));
        let pool = pool.build();
        let pool = pool.map_err(|_| ExperimentError::Threads(self.threads))?;
        let again = |&index: &usize| {
            let written = &results.rows[index];
            if !watcher.goes_on() {
                return Ok(None);
            }
            let measured = measure(self.course, self.setup, self.modules, written.seed)?;
            if measured.row.failed.is_none() && written.failed.is_none() {
                super::same_modules(&results.head, &measured.modules)?;
            }
            let found = measured.row;
            let written = written.clone();
            Ok((!is_same(&written, &found)).then_some(Difference { written, found }))
        };
        let found: Result<Vec<Option<Difference>>, ExperimentError> =
            pool.install(|| rows.par_iter().map(again).collect());
        Ok(found?.into_iter().flatten().collect())
    }
}

/// Whether a repeated row is equal to the row in the file. A failed run has to fail again, but the message
/// may be different, because the time and manner of a failure can depend on the machine.
fn is_same(written: &RunRow, found: &RunRow) -> bool {
    if written.failed.is_some() {
        return found.failed.is_some();
    }
    // 0 and -0 compare as equal, but their bits differ.
    let bits = |row: &RunRow| (row.fitness.map(f64::to_bits), row.time.to_bits());
    found == written && bits(found) == bits(written)
}
