//! Results of `bench run`, opened by the user for comparison.

use roadwright_training::experiment::{Results, Summary, pairs};
use roadwright_training::genetic::LEVEL;
use roadwright_training::statistics::{Paired, paired};
use std::path::{Path, PathBuf};

/// Maximum size of a results file, bytes.
const LARGEST: u64 = 256 * roadwright_files::MEBIBYTE;

/// An opened results file.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenResults {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents of the results file.
    pub results: Results,
    /// Summary of the rows.
    pub summary: Summary,
}

impl OpenResults {
    /// Reads results and verifies their hash.
    pub fn read(path: &Path) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = roadwright_files::read_text(path, LARGEST).map_err(|error| wrong(&error))?;
        let results = Results::parse(&text).map_err(|error| wrong(&error))?;
        results.check_hash().map_err(|error| wrong(&error))?;
        let summary = Summary::of(&results).ok_or_else(|| wrong(&"the file has no rows yet"))?;
        Ok(Self {
            path: path.to_owned(),
            results,
            summary,
        })
    }

    /// Returns the name of the file.
    pub fn name(&self) -> String {
        let name = self.path.file_stem().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Returns the fitness of each successful run.
    pub fn fitnesses(&self) -> Vec<f64> {
        self.results.fitnesses()
    }

    /// Compares two results on the seeds that both contain. The differences are `other` minus
    /// `self`.
    ///
    /// # Errors
    /// If the results cannot be compared. The error is the reason.
    pub fn against(&self, other: &Self) -> Result<Paired, String> {
        for open in [self, other] {
            let failed = open.summary.failed;
            if failed > 0 {
                return Err(format!(
                    "{}: {failed} of {} runs failed, and failures are not random; use `roadwright \
                     bench compare --without-failed` to compare the others",
                    open.name(),
                    open.results.rows.len()
                ));
            }
        }
        let pairs = pairs(&self.results, &other.results).map_err(|error| error.to_string())?;
        let few = format!(
            "the two results have {} seeds in common, but a comparison needs at least 2",
            pairs.len()
        );
        paired(&pairs, LEVEL).ok_or(few)
    }
}
