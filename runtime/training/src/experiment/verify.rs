//! Whether rows come out again.

use super::{Experiment, ExperimentError, Results, Watcher};
use crate::measure::{Row, measure};
use rayon::prelude::*;
use roadwright_geometry::math::Stream;

/// Rows that are run again at least, if there are as many.
const LEAST: usize = 5;

/// A row that did not come out as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// As it was written.
    pub written: Row,
    /// As it came out.
    pub found: Row,
}

/// Which rows of results are run again: a tenth of them, five at least, drawn by the hash of the
/// rows; or all. In their order.
pub fn sample(results: &Results, all: bool) -> Vec<usize> {
    let count = results.rows.len();
    if all {
        return (0..count).collect();
    }
    let wanted = count.div_ceil(10).max(LEAST).min(count);
    // The rows themselves choose which of them are run again: who changes one, and the hash with it,
    // changes the choice as well.
    let seed = u64::from_str_radix(&results.hash, 16).unwrap_or_default();
    let mut stream = Stream::new(seed, "verify", 0);
    let mut rows: Vec<usize> = (0..count).collect();
    // The first steps of a shuffle: each place takes one of the rows that are left, so none is drawn
    // twice.
    for place in 0..wanted {
        rows.swap(place, place + stream.next_index(count - place));
    }
    rows.truncate(wanted);
    rows.sort_unstable();
    rows
}

impl Experiment<'_> {
    /// Runs some rows of results again and gives those that come out otherwise, bit by bit. What the
    /// watcher stopped is not among them.
    ///
    /// # Errors
    /// If the results are of another experiment, or it cannot be done.
    pub fn verify(
        &self,
        results: &Results,
        rows: &[usize],
        watcher: &impl Watcher,
    ) -> Result<Vec<Difference>, ExperimentError> {
        super::same(&self.head()?, &results.head)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.max(1));
        let pool = pool.build();
        let pool = pool.map_err(|_| ExperimentError::Threads(self.threads))?;
        let again = |&index: &usize| {
            let written = &results.rows[index];
            if !watcher.goes_on() {
                return Ok(None);
            }
            let measured = measure(self.course, self.setup, self.modules, written.seed)?;
            super::same_modules(&results.head, &measured.modules)?;
            let found = measured.row;
            // 0 and -0 are equal as numbers; bit by bit they are not.
            let is_same = found == *written && found.fitness.to_bits() == written.fitness.to_bits();
            let written = written.clone();
            Ok((!is_same).then_some(Difference { written, found }))
        };
        let found: Result<Vec<Option<Difference>>, ExperimentError> =
            pool.install(|| rows.par_iter().map(again).collect());
        Ok(found?.into_iter().flatten().collect())
    }
}
