//! Experiments: one measure over many seeds, until enough has been seen.
//!
//! Rows depend on the head of an experiment and on nothing else: not on the number of threads, on
//! pauses, or on the machine. They are computed in parallel, folded in the order of seeds, and the
//! stopping rule is asked after each of them; rows that were computed beyond its end are thrown away.

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

/// Runs that a thread does between two looks at the stopping rule.
const RUNS_A_THREAD: usize = 4;

/// Number of runs after which an experiment gives up if all of them failed.
const GIVE_UP: usize = 30;

/// A measure that is repeated over seeds.
pub struct RunSeries<'a> {
    /// The course.
    pub course: &'a Course,
    /// Who drives it, with what.
    pub setup: &'a Setup,
    /// The modules that there are.
    pub modules: &'a Registry,
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// What ends it.
    pub stop: Stop,
    /// The results that a rule about differences compares with; no other rule asks for them.
    pub against: Option<&'a Results>,
    /// Level of intervals.
    pub level: f64,
    /// How many runs are done at the same time.
    pub threads: usize,
}

/// A run with its mileage log.
type Logged = (Measured, Vec<MileageMark>);

/// Why an experiment cannot be done.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// Its course cannot be driven.
    #[error(transparent)]
    Course(#[from] CourseError),
    /// Its stopping rule cannot be used.
    #[error(transparent)]
    Stop(#[from] StopError),
    /// Seeds end before the runs do.
    #[error("seed {first}: there are no {runs} seeds from there on")]
    Seeds {
        /// The first seed.
        first: u64,
        /// Runs.
        runs: u64,
    },
    /// Threads cannot be started.
    #[error("cannot start {0} threads")]
    Threads(usize),
    /// There is nothing to compare with on a seed.
    #[error(
        "seed {0}: the results that are compared with have no such row; name others, or fewer runs"
    )]
    NoPartner(u64),
    /// A module failed in every run.
    #[error("all {runs} runs failed, so there is no result; in the first one {reason}")]
    AllFailed {
        /// Runs that were done.
        runs: usize,
        /// Why the first one failed.
        reason: String,
    },
    /// Rows were made with other modules from outside, or other builds of them.
    #[error("the results were made {0}")]
    Modules(String),
    /// The results that it is to go on with are those of another experiment.
    #[error("the results are of another experiment: {what} is {theirs} there, and {ours} here")]
    Other {
        /// What differs.
        what: &'static str,
        /// In the results.
        theirs: String,
        /// In this experiment.
        ours: String,
    },
}

/// Looks on, and may end an experiment before it is finished.
pub trait Watcher: Sync {
    /// Asked before each run, from any thread.
    fn goes_on(&self) -> bool {
        true
    }

    /// Told of the rows so far, and how many there will be as far as one can tell.
    fn progress(&self, _: &Results, _: u64) {}

    /// Whether it wants to be told of the mileage logs of runs.
    fn wants_marks(&self) -> bool {
        false
    }

    /// Told of the mileage log of a run by its seed, in the order of seeds.
    fn marks(&self, _: u64, _: &[MileageMark]) {}
}

/// Nobody looks on.
impl Watcher for () {}

impl RunSeries<'_> {
    /// What it is.
    ///
    /// # Errors
    /// If it cannot be done.
    pub fn head(&self) -> Result<Head, ExperimentError> {
        self.stop.check()?;
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(StopError::Level(self.level).into());
        }
        let runs = self.stop.most();
        // Checked for the most runs, since where the rule stops shows only on the way.
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
            // One that is not there is told with the first run, as for any other module.
            lower_is_better: entry.is_none_or(|entry| entry.make().logic.lower_is_better()),
            fitness,
            first_seed: self.first_seed,
            stop: self.stop,
            level: self.level,
            roadwright: env!("CARGO_PKG_VERSION").into(),
        })
    }

    /// Runs it to its end, or until the watcher says no; goes on with earlier results if there are any.
    ///
    /// # Errors
    /// If it cannot be done, or the earlier results are of another experiment.
    pub fn run(
        &self,
        earlier: Option<Results>,
        watcher: &impl Watcher,
    ) -> Result<Results, ExperimentError> {
        let head = self.head()?;
        let mut results = Results::new(head);
        // What the stopping rule looks at.
        let mut fitness = Moments::default();
        self.check_partners()?;
        if let Some(earlier) = earlier {
            same(&results.head, &earlier.head)?;
            same_direction(&results.head, &earlier.head)?;
            results.head.modules.clone_from(&earlier.head.modules);
            // Before the first run, because a finished experiment has none.
            if !earlier.fitnesses().is_empty() {
                let ours = builds(self.course, self.setup, self.modules, self.first_seed)?;
                same_modules(&results.head, &ours)?;
            }
            // Earlier rows go through the rule again, in their order: the sums have the same bits as
            // without a pause, and rows beyond the end are dropped.
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

    /// Runs batch by batch until the stopping rule is content.
    fn run_batches(
        &self,
        results: &mut Results,
        fitness: &mut Moments,
        watcher: &impl Watcher,
    ) -> Result<(), ExperimentError> {
        while results.stopped.is_none() {
            let done = results.rows.len() as u64;
            // Each batch waits for its slowest run. Several runs a thread make up for that; more would
            // be thrown away when the rule stops in the middle of a batch.
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
                // What comes after one that was not run is not in a row with the others.
                let Some((measured, marks)) = measured.transpose()? else {
                    return Ok(());
                };
                if measured.row.failed.is_none() {
                    watcher.marks(measured.row.seed, &marks);
                    // The first run with a result says which modules made it.
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

    /// A rule about differences needs a partner for each seed that it may come to.
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

    /// The row of the results that are compared with on a seed.
    fn partner(&self, seed: u64) -> Option<&RunRow> {
        let other = self.against?;
        // Rows are one for each seed in their order, which the reader of results has checked.
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

    /// Adds a row. Returns whether it was the last one.
    fn push(&self, results: &mut Results, fitness: &mut Moments, row: RunRow) -> bool {
        results.stopped = self.tell(fitness, &row);
        results.rows.push(row);
        results.stopped.is_some()
    }

    /// Tells the stopping rule of the next row. Returns whether and why it stops there.
    fn tell(&self, fitness: &mut Moments, row: &RunRow) -> Option<Stopped> {
        // There is a row to compare with for each seed: that was checked before the first run. It may have failed.
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

/// Whether an experiment may still come to something.
fn check_some_succeed(results: &Results) -> Result<(), ExperimentError> {
    // In the order of seeds, so where it gives up is the same for any number of threads.
    if results.rows.len() < GIVE_UP {
        return Ok(());
    }
    check_any_succeeded(results)
}

/// Whether an experiment has a row that did not fail.
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

/// Holds the builds of modules from outside to those that the rows before were made with.
fn same_modules(head: &Head, modules: &[String]) -> Result<(), ExperimentError> {
    match other_builds(&head.modules, modules) {
        None => Ok(()),
        Some(words) => Err(ExperimentError::Modules(words)),
    }
}

/// Compares the modules from outside that a file was made with, each with its build, with those in use. Returns
/// the difference in words that follow "made", or `None` if they are the same.
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
        (false, false) => format!("with {theirs}, and {ours} is used here"),
    };
    Some(words)
}

/// Whether the same direction is better in two heads.
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

/// Whether two heads are of one experiment, but for the builds of modules, which the runs tell.
fn same(ours: &Head, theirs: &Head) -> Result<(), ExperimentError> {
    // Results of versions that did not write it say nothing about it.
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
            ("the choice of fitnesses", setting(&setup.fitness)),
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

/// A setting of a setup as it stands in files.
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
