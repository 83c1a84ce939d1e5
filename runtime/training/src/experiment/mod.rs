//! Experiments: measurements that are repeated with many seeds until the result is precise enough.
//!
//! Rows depend only on the head of an experiment. The number of threads, pauses and the machine have no
//! effect on them. They are computed in parallel and processed in the order of seeds. The stopping rule is
//! evaluated after each row, and rows that were computed beyond the stopping point are discarded.

mod pairs;
mod paths;
mod results;
mod stop;
mod summary;
mod verify;

pub use pairs::{Incomparable, check_comparable, pairs};
pub use paths::{DrivePath, PathsError, RunPaths};
pub(crate) use results::digits;
pub use results::{FailedRun, Head, Results, ResultsError};
pub use stop::{MAX_RUNS, MIN_RUNS, MOST_RUNS, Stop, StopError, Stopped};
pub use summary::{Estimate, Summary};
pub use verify::{Difference, NotChecked, draw, enough_rows, escape_chance, not_checked, tenth};

use crate::course::{Course, CourseError, Setup};
use crate::measure::{Measured, MileageMark, RunRow, builds, measure, measure_logged};
use crate::statistics::Moments;
use rayon::prelude::*;
use roadwright_agent::{Fitness, Registry};
use serde::Serialize;
use thiserror::Error;

/// Number of runs per thread between two evaluations of the stopping rule.
const RUNS_A_THREAD: usize = 4;

/// Number of failed runs after which an experiment is abandoned if no run has succeeded.
const GIVE_UP: usize = 30;

/// An experiment: a measurement on a course that is repeated with consecutive seeds.
pub struct RunSeries<'a> {
    /// The course that is driven.
    pub course: &'a Course,
    /// Vehicles, drivers and fitness functions.
    pub setup: &'a Setup,
    /// The available modules.
    pub modules: &'a Registry,
    /// The first seed. The others are consecutive.
    pub first_seed: u64,
    /// The stopping rule.
    pub stop: Stop,
    /// Results to compare with, row by row. Only stopping rules that use differences need them.
    pub against: Option<&'a Results>,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Number of concurrent runs.
    pub threads: usize,
}

/// A run with its mileage log.
type Logged = (Measured, Vec<MileageMark>);

/// Reason why an experiment cannot be carried out.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// The course cannot be driven.
    #[error(transparent)]
    Course(#[from] CourseError),
    /// The stopping rule cannot be used.
    #[error(transparent)]
    Stop(#[from] StopError),
    /// The seed range ends before all runs are done.
    #[error("seed {first}: fewer than {runs} seeds are available from this seed onwards")]
    Seeds {
        /// The first seed.
        first: u64,
        /// Number of runs.
        runs: u64,
    },
    /// Threads cannot be started.
    #[error("cannot start {0} threads")]
    Threads(usize),
    /// The results for comparison have no row for this seed.
    #[error(
        "seed {0}: the results for comparison have no row with this seed; choose other results, or fewer runs"
    )]
    NoPartner(u64),
    /// A module failed in every run.
    #[error("all {runs} runs failed, so there is no result; the first run failed because {reason}")]
    AllFailed {
        /// Number of runs that were started.
        runs: usize,
        /// Reason why the first run failed.
        reason: String,
    },
    /// The rows were made with other external modules or other builds.
    #[error("the results were made {0}")]
    Modules(String),
    /// The earlier results belong to another experiment.
    #[error(
        "the results belong to another experiment: {what} is {theirs} in the results, but {ours} \
         in this experiment"
    )]
    Other {
        /// The property that differs.
        what: &'static str,
        /// Value of the property in the results.
        theirs: String,
        /// Value of the property in this experiment.
        ours: String,
    },
}

/// An observer that may stop an experiment early.
pub trait Watcher: Sync {
    /// Returns whether to continue the experiment. Called before each run, from any thread.
    fn goes_on(&self) -> bool {
        true
    }

    /// Reports the current rows, and the expected total.
    fn progress(&self, _: &Results, _: u64) {}

    /// Whether the watcher requires the mileage logs of runs.
    fn wants_marks(&self) -> bool {
        false
    }

    /// Receives the seed and mileage log of each run, in the order of seeds.
    fn marks(&self, _: u64, _: &[MileageMark]) {}
}

/// A watcher that does nothing.
impl Watcher for () {}

impl RunSeries<'_> {
    /// Returns the head of the experiment.
    ///
    /// # Errors
    /// If the experiment cannot be carried out.
    pub fn head(&self) -> Result<Head, ExperimentError> {
        self.stop.check()?;
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(StopError::Level(self.level).into());
        }
        let runs = self.stop.most();
        // Checked for the maximum number of runs, because the actual number is not known before the end.
        if self.first_seed.checked_add(runs).is_none() {
            return Err(ExperimentError::Seeds {
                first: self.first_seed,
                runs,
            });
        }
        let scenario = self.course.scenario(self.first_seed, self.setup)?;
        let fitness = self.setup.first_fitness(self.course);
        let entries = self.modules.of::<dyn Fitness>();
        let entry = entries.iter().find(|entry| entry.info.id == fitness);
        Ok(Head {
            course: self.course.name.clone(),
            course_hash: self.course.hash()?,
            is_own: self.course.is_own(),
            scenario_hash: results::digits(
                roadwright_scenario::file::to_text(&scenario).as_bytes(),
            ),
            setup: self.setup.clone(),
            modules: Vec::new(),
            // A missing module is reported by the first run, like all problems with modules.
            lower_is_better: entry.is_none_or(|entry| entry.make().logic.lower_is_better()),
            fitness,
            first_seed: self.first_seed,
            stop: self.stop,
            level: self.level,
            roadwright: env!("CARGO_PKG_VERSION").into(),
        })
    }

    /// Runs the experiment until it ends or the watcher stops it. If there are earlier results, the
    /// experiment continues from them.
    ///
    /// # Errors
    /// If the experiment cannot be carried out, or if the earlier results belong to another experiment.
    pub fn run(
        &self,
        earlier: Option<Results>,
        watcher: &impl Watcher,
    ) -> Result<Results, ExperimentError> {
        let head = self.head()?;
        let mut results = Results::new(head);
        // Input to the stopping rule.
        let mut fitness = Moments::default();
        self.check_partners()?;
        if let Some(earlier) = earlier {
            same(&results.head, &earlier.head)?;
            same_direction(&results.head, &earlier.head)?;
            results.head.modules.clone_from(&earlier.head.modules);
            // Checked before the first run, because a finished experiment performs no more runs.
            if !earlier.fitnesses().is_empty() {
                let ours = builds(self.course, self.setup, self.modules, self.first_seed)?;
                same_modules(&results.head, &ours)?;
            }
            // Earlier rows are passed to the stopping rule again, in order. The sums are then
            // bit-identical to those of an uninterrupted run, and rows beyond the end are dropped.
            for row in earlier.rows {
                if self.push(&mut results, &mut fitness, row) {
                    break;
                }
            }
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.max(1));
        let pool = pool.build();
        let pool = pool.map_err(|_| ExperimentError::Threads(self.threads))?;
        pool.install(|| self.run_batches(&mut results, &mut fitness, watcher))?;
        if results.stopped.is_some() {
            check_any_succeeded(&results)?;
        }
        results.seal();
        Ok(results)
    }

    /// Performs runs in batches until the stopping rule is satisfied.
    fn run_batches(
        &self,
        results: &mut Results,
        fitness: &mut Moments,
        watcher: &impl Watcher,
    ) -> Result<(), ExperimentError> {
        while results.stopped.is_none() {
            let done = results.rows.len() as u64;
            // Each batch waits for its slowest run. Several runs per thread compensate for that. With even
            // more runs, too many would be discarded when the rule stops in the middle of a batch.
            let size = (self.threads.max(1) * RUNS_A_THREAD) as u64;
            let next = done..(done + size).min(self.stop.most());
            let wants_marks = watcher.wants_marks();
            let batch: Vec<Option<Result<Logged, CourseError>>> = next
                .into_par_iter()
                .map(|run| {
                    let seed = self.first_seed + run;
                    let goes_on = watcher.goes_on();
                    goes_on.then(|| self.measure(seed, wants_marks))
                })
                .collect();
            for measured in batch {
                // If a row is missing, the following rows would not be consecutive.
                let Some((measured, marks)) = measured.transpose()? else {
                    return Ok(());
                };
                if measured.row.failed.is_none() {
                    watcher.marks(measured.row.seed, &marks);
                    // The first run that succeeds determines the modules in the head.
                    if fitness.count() == 0 && results.fitnesses().is_empty() {
                        results.head.modules = measured.modules;
                    } else {
                        same_modules(&results.head, &measured.modules)?;
                    }
                }
                if self.push(results, fitness, measured.row) {
                    break;
                }
                check_some_succeed(results)?;
            }
            watcher.progress(results, self.stop.expected(fitness, self.level));
        }
        Ok(())
    }

    /// If the stopping rule uses differences, checks that the results for comparison have a row for every
    /// seed that may be run.
    fn check_partners(&self) -> Result<(), ExperimentError> {
        if !self.stop.looks_at_differences() {
            return Ok(());
        }
        let seeds = self.first_seed..self.first_seed + self.stop.most();
        let mut alone = seeds.filter(|&seed| self.partner(seed).is_none());
        alone
            .next()
            .map_or(Ok(()), |seed| Err(ExperimentError::NoPartner(seed)))
    }

    /// Returns the row of the results for comparison that has the given seed.
    fn partner(&self, seed: u64) -> Option<&RunRow> {
        let other = self.against?;
        // There is one row per seed, in order. This was checked when the results were read.
        let index = seed.checked_sub(other.head.first_seed)?;
        other.rows.get(usize::try_from(index).ok()?)
    }

    fn measure(&self, seed: u64, wants_marks: bool) -> Result<Logged, CourseError> {
        if wants_marks {
            return measure_logged(self.course, self.setup, self.modules, seed);
        }
        let measured = measure(self.course, self.setup, self.modules, seed)?;
        Ok((measured, Vec::new()))
    }

    /// Adds a row. Returns whether the experiment ends with it.
    fn push(&self, results: &mut Results, fitness: &mut Moments, row: RunRow) -> bool {
        results.stopped = self.tell(fitness, &row);
        results.rows.push(row);
        results.stopped.is_some()
    }

    /// Passes the next row to the stopping rule. If the experiment stops there, returns the reason.
    fn tell(&self, fitness: &mut Moments, row: &RunRow) -> Option<Stopped> {
        // There is a row for comparison for each seed, as checked before the first run. However, that row may
        // have failed.
        let partner = if self.stop.looks_at_differences() {
            self.partner(row.seed).and_then(|row| row.fitness)
        } else {
            Some(0.0)
        };
        if let (Some(own), Some(partner)) = (row.fitness, partner) {
            fitness.push(own - partner);
        }
        let done = row.seed.saturating_sub(self.first_seed) + 1;
        self.stop.verdict(fitness, done, self.level)
    }
}

/// Returns an error if the experiment should be abandoned because no run has succeeded.
fn check_some_succeed(results: &Results) -> Result<(), ExperimentError> {
    // Evaluated in the order of seeds, so that the point of giving up does not depend on the number of
    // threads.
    if results.rows.len() < GIVE_UP {
        return Ok(());
    }
    check_any_succeeded(results)
}

/// Returns an error if all rows of an experiment have failed.
fn check_any_succeeded(results: &Results) -> Result<(), ExperimentError> {
    let first = results.rows.first();
    let is_failed = |row: &RunRow| row.failed.is_some();
    match first.and_then(|row| row.failed.clone()) {
        Some(reason) if results.rows.iter().all(is_failed) => Err(ExperimentError::AllFailed {
            runs: results.rows.len(),
            reason,
        }),
        _ => Ok(()),
    }
}

/// Checks that the external modules have the same builds as when the earlier rows were made.
fn same_modules(head: &Head, modules: &[String]) -> Result<(), ExperimentError> {
    match other_builds(&head.modules, modules) {
        None => Ok(()),
        Some(words) => Err(ExperimentError::Modules(words)),
    }
}

/// Compares the external modules in use, and their builds, with the modules recorded in a file. Returns the
/// difference as a phrase that follows "made", such as "with a, but b is used here"; `None` if there is no
/// difference.
pub(crate) fn other_builds(made_with: &[String], modules: &[String]) -> Option<String> {
    let without = |ours: &[String], theirs: &[String]| -> Vec<String> {
        ours.iter()
            .filter(|module| !theirs.contains(module))
            .cloned()
            .collect()
    };
    let ours = without(modules, made_with).join(", ");
    let theirs = without(made_with, modules).join(", ");
    let words = match (theirs.is_empty(), ours.is_empty()) {
        (true, true) => return None,
        (true, false) => format!("without {ours}, which is used here"),
        (false, true) => format!("with {theirs}, which is not used here"),
        (false, false) => format!("with {theirs}, but {ours} is used here"),
    };
    Some(words)
}

/// Checks that two heads agree on whether a lower fitness is better.
fn same_direction(ours: &Head, theirs: &Head) -> Result<(), ExperimentError> {
    let word = |head: &Head| {
        if head.lower_is_better {
            "lower"
        } else {
            "higher"
        }
    };
    differ("the better direction", word(theirs), word(ours))
}

/// Checks that two heads belong to the same experiment. Module builds are not compared here, because they
/// come from the runs.
fn same(ours: &Head, theirs: &Head) -> Result<(), ExperimentError> {
    // Results of earlier versions do not contain the hash.
    let unknown = String::new();
    let ours_if_known = if theirs.course_hash.is_empty() {
        &unknown
    } else {
        &ours.course_hash
    };
    let own = |head: &Head| {
        String::from(if head.is_own {
            "a scenario"
        } else {
            "built in"
        })
    };
    let (theirs_own, ours_own) = (own(theirs), own(ours));
    let pairs = [
        ("the kind of course", &theirs_own, &ours_own),
        ("the course", &theirs.course, &ours.course),
        ("the course's content", &theirs.course_hash, ours_if_known),
        ("the scenario", &theirs.scenario_hash, &ours.scenario_hash),
        ("the fitness", &theirs.fitness, &ours.fitness),
        ("the version", &theirs.roadwright, &ours.roadwright),
    ];
    for (what, theirs, ours) in pairs {
        differ(what, theirs, ours)?;
    }
    let texts = |head: &Head| {
        let setup = &head.setup;
        [
            ("the vehicle", setting(&setup.vehicle)),
            ("the level of dynamics", setting(&setup.dynamics)),
            ("the time step", setting(&setup.dt)),
            ("the list of drivers", setting(&setup.drivers)),
            ("the choice of modules", setting(&setup.modules)),
            ("the choice of fitness functions", setting(&setup.fitness)),
            ("the first seed", head.first_seed.to_string()),
            ("the stopping rule", head.stop.to_string()),
            ("the level", head.level.to_string()),
        ]
    };
    let pairs = texts(theirs).into_iter().zip(texts(ours));
    for ((what, theirs), (_, ours)) in pairs {
        differ(what, &theirs, &ours)?;
    }
    Ok(())
}

/// Returns a setting of a setup as it is written in files; "not set" or "empty" if there is none.
fn setting(value: &impl Serialize) -> String {
    match serde_json::to_string(value).as_deref() {
        Ok("null") => "not set".into(),
        Ok("[]" | "{}") => "empty".into(),
        Ok(text) => text.into(),
        Err(error) => error.to_string(),
    }
}

fn differ(what: &'static str, theirs: &str, ours: &str) -> Result<(), ExperimentError> {
    if theirs == ours {
        return Ok(());
    }
    Err(ExperimentError::Other {
        what,
        theirs: theirs.into(),
        ours: ours.into(),
    })
}

#[cfg(test)]
mod tests;
