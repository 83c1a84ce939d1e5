//! Runs kept for comparison until the window closes, even if another scenario is opened.

use roadwright_recording::RunResults;
use std::sync::Arc;

/// Maximum number of kept runs.
pub const MOST_RUNS: usize = 8;
/// Maximum memory of all kept runs, bytes. This is enough for about two million rows and trips.
const MOST_BYTES: usize = 256 << 20;
/// Longest name, in characters.
const LONGEST: usize = 60;

/// A kept run.
#[derive(Debug, Clone)]
pub struct KeptRun {
    /// Number of the run, counted from 1. Numbers are not reused.
    pub id: u64,
    /// The name given by the user.
    pub name: String,
    /// Name of the run's scenario.
    pub scenario: String,
    /// Results of the run.
    pub results: Arc<RunResults>,
}

/// A run that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The current run.
    Now,
    /// The run before the last reset.
    Before,
    /// A kept run, given by its number.
    Kept(u64),
}

/// The kept runs, and the two runs selected for comparison.
#[derive(Debug, Clone)]
pub struct KeptRuns {
    list: Vec<KeptRun>,
    last: u64,
    /// The first run to compare.
    pub a: Side,
    /// The second run to compare.
    pub b: Side,
}

impl Default for KeptRuns {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            last: 0,
            a: Side::Before,
            b: Side::Now,
        }
    }
}

/// Actions on kept runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptRunAction {
    /// Renames a run.
    Rename(u64, String),
    /// Removes a run from the kept runs.
    Drop(u64),
    /// Chooses the two runs to compare.
    Compare(Side, Side),
    /// Writes the comparison as tables.
    Export,
}

impl KeptRuns {
    /// Returns all kept runs, oldest first.
    pub fn list(&self) -> &[KeptRun] {
        &self.list
    }

    /// Returns the run with the given number; `None` if it was removed.
    pub fn get(&self, id: u64) -> Option<&KeptRun> {
        self.list.iter().find(|run| run.id == id)
    }

    /// Keeps a run, and compares the next run with it.
    ///
    /// # Errors
    ///
    /// If there is nothing to keep, the run is already kept, or there are too many kept runs.
    pub fn keep(&mut self, scenario: &str, results: &Arc<RunResults>) -> Result<&KeptRun, String> {
        if !results.is_some() {
            return Err("Nothing to keep yet. Run the simulation for a second first.".into());
        }
        let is_it = |run: &&KeptRun| is_same(&run.results, results);
        if let Some(known) = self.list.iter().find(is_it) {
            return Err(format!("This run is already kept as {}.", known.name));
        }
        let bytes: usize = self.list.iter().map(|run| run.results.bytes()).sum();
        if self.list.len() == MOST_RUNS || bytes + results.bytes() > MOST_BYTES {
            return Err(
                "No more runs can be kept; remove one in the Compare runs panel first.".into(),
            );
        }
        self.last += 1;
        self.a = Side::Kept(self.last);
        if self.b == self.a || self.b == Side::Before {
            self.b = Side::Now;
        }
        self.list.push(KeptRun {
            id: self.last,
            name: format!("Run {}", self.last),
            scenario: scenario.to_owned(),
            results: without_before(results),
        });
        self.list
            .last()
            .ok_or_else(|| "The run could not be kept.".to_owned())
    }

    pub(crate) fn rename(&mut self, id: u64, name: &str) -> Result<(), String> {
        let name = name.trim();
        if name.is_empty() || name.chars().count() > LONGEST {
            return Err(format!("A name must have 1 to {LONGEST} characters."));
        }
        if self.list.iter().any(|run| run.name == name && run.id != id) {
            return Err(format!("Another run is called {name}."));
        }
        for run in self.list.iter_mut().filter(|run| run.id == id) {
            name.clone_into(&mut run.name);
        }
        Ok(())
    }

    pub(crate) fn drop(&mut self, id: u64) {
        self.list.retain(|run| run.id != id);
        // The run on this side has been removed.
        if self.a == Side::Kept(id) {
            self.a = Side::Before;
        }
        if self.b == Side::Kept(id) {
            self.b = Side::Now;
        }
    }
}

/// Whether two results belong to the same run at the same moment.
fn is_same(a: &RunResults, b: &RunResults) -> bool {
    let is_as_long = a.rows.len() == b.rows.len() && a.trips.len() == b.trips.len();
    is_as_long && Arc::ptr_eq(&a.scenario, &b.scenario) && a.rows.last() == b.rows.last()
}

/// Returns results without the results of the previous run.
fn without_before(results: &Arc<RunResults>) -> Arc<RunResults> {
    match results.before {
        None => results.clone(),
        Some(_) => Arc::new(RunResults {
            before: None,
            ..RunResults::clone(results)
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_simulation::TimeRow;

    fn results(rows: usize) -> Arc<RunResults> {
        Arc::new(RunResults {
            rows: vec![TimeRow::default(); rows],
            ..RunResults::default()
        })
    }

    #[test]
    fn runs_are_kept_named_and_dropped_within_bounds() {
        let mut runs = KeptRuns::default();
        assert!(runs.keep("town", &results(1)).is_err(), "nothing yet");
        let first = results(2);
        assert_eq!(runs.keep("town", &first).unwrap().name, "Run 1");
        assert_eq!((runs.a, runs.b), (Side::Kept(1), Side::Now));
        let why = runs.keep("town", &first).unwrap_err();
        assert!(why.contains("Run 1"), "{why}");
        for _ in 1..MOST_RUNS {
            runs.keep("town", &results(2)).unwrap();
        }
        let why = runs.keep("town", &results(2)).unwrap_err();
        assert!(why.contains("remove one"), "{why}");
        assert!(runs.rename(2, "Run 1").is_err());
        assert!(runs.rename(2, "  ").is_err());
        assert!(runs.rename(2, &"x".repeat(61)).is_err());
        runs.rename(2, " slow ").unwrap();
        assert_eq!(runs.get(2).unwrap().name, "slow");
        runs.a = Side::Kept(2);
        runs.drop(2);
        assert_eq!(runs.a, Side::Before);
        // Numbers are not reused.
        assert_eq!(runs.keep("town", &results(2)).unwrap().id, 9);
    }

    #[test]
    fn runs_that_take_too_much_memory_are_refused() {
        let mut runs = KeptRuns::default();
        let rows = MOST_BYTES / size_of::<TimeRow>() / 2 + 10;
        runs.keep("long", &results(rows)).unwrap();
        assert!(runs.keep("long", &results(rows)).is_err());
        runs.keep("short", &results(100)).unwrap();
    }
}
