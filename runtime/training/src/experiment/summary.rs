//! Summary of an experiment: means with confidence intervals.

use super::results::{FailedRun, Results};
use super::stop::{Stop, Stopped};
use crate::measure::RunRow;
use crate::statistics::{
    AsymptoticSequence, BettingSequence, Interval, Method, Moments, interquartile_mean, student_t,
    wilson,
};
use serde::Serialize;

/// A mean with its standard deviation, standard error and confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean over the runs.
    pub mean: f64,
    /// Standard deviation over the runs (n - 1).
    pub standard_deviation: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Confidence interval of the mean, from low to high; `None` for a single run.
    pub interval: Option<[f64; 2]>,
    /// Method by which the interval was computed.
    pub method: Option<Method>,
    /// Confidence level of the interval.
    pub level: f64,
}

impl Estimate {
    /// Returns the mean of some values, with a confidence interval by Student's t.
    pub fn of(values: &[f64], level: f64) -> Self {
        let moments = Moments::of(values);
        Self::new(&moments, student_t(&moments, level), level)
    }

    fn new(moments: &Moments, interval: Option<Interval>, level: f64) -> Self {
        Self {
            mean: moments.mean(),
            standard_deviation: moments.standard_deviation(),
            standard_error: moments.standard_error(),
            interval: interval.map(|interval| [interval.low, interval.high]),
            method: interval.map(|interval| interval.method),
            level,
        }
    }
}

/// Summary of the rows of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the course.
    pub course: String,
    /// Number of runs with a result. Each run has a seed and counts as one observation.
    pub runs: u64,
    /// Number of runs without a result because a module failed. The other figures do not include them.
    pub failed: usize,
    /// The first seed. The others are consecutive, and `runs` plus `failed` is the number of seeds that were
    /// tried.
    pub first_seed: u64,
    /// Number of drives in all runs.
    pub drives: usize,
    /// Number of drives that were completed.
    pub completed: usize,
    /// Fraction of the drives in a run that were completed.
    pub completed_share: Estimate,
    /// Id of the fitness module.
    pub fitness_module: String,
    /// Whether a lower fitness is better.
    pub lower_is_better: bool,
    /// Mean fitness of the drives in a run.
    pub fitness: Estimate,
    /// Interquartile mean of the fitness values, that is, the mean of the middle half.
    pub interquartile_mean: f64,
    /// Mean duration of the drives in a run, s.
    pub time: f64,
    /// Mean number of changes between forwards and reverse per drive; absent for courses that do not end in a
    /// bay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gear_changes: Option<f64>,
    /// Reason why the experiment ended; absent if it has not ended.
    pub stopped: Option<Stopped>,
    /// Hash of all rows.
    pub hash: String,
    /// The failed runs, in the order of seeds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedRun>,
}

impl Summary {
    /// Returns the summary of results; `None` if all rows have failed.
    pub fn of(results: &Results) -> Option<Self> {
        let head = &results.head;
        let rows = results.rows.iter().filter(|row| row.failed.is_none());
        let rows: Vec<&RunRow> = rows.collect();
        let fitnesses = results.fitnesses();
        let failures = results.failures();
        let moments = Moments::of(&fitnesses);
        let times: Vec<f64> = rows.iter().map(|row| row.time).collect();
        let level = head.level;
        Some(Self {
            course: head.course.clone(),
            runs: moments.count(),
            failed: failures.len(),
            first_seed: head.first_seed,
            drives: rows.iter().map(|row| row.drives).sum(),
            completed: rows.iter().map(|row| row.completed).sum(),
            completed_share: share_estimate(&rows, head.stop, level),
            fitness_module: head.fitness.clone(),
            lower_is_better: head.lower_is_better,
            fitness: Estimate::new(
                &moments,
                fitness_interval(&moments, head.stop, level),
                level,
            ),
            interquartile_mean: interquartile_mean(&fitnesses)?,
            time: Moments::of(&times).mean(),
            gear_changes: {
                let changes: Option<Vec<f64>> = rows.iter().map(|row| row.gear_changes).collect();
                changes.map(|changes| Moments::of(&changes).mean())
            },
            stopped: results.stopped,
            hash: results.hash.clone(),
            failures,
        })
    }
}

/// Returns the confidence interval of the mean fitness. If the stopping rule monitors the results,
/// the interval belongs to a confidence sequence, which remains valid under repeated looks.
fn fitness_interval(moments: &Moments, stop: Stop, level: f64) -> Option<Interval> {
    match stop.watches_from() {
        None => student_t(moments, level),
        Some(planned) => AsymptoticSequence::new(level, planned).interval(moments),
    }
}

/// Estimates the fraction of completed drives. The drives of a run are not independent trials, so Wilson's
/// interval is used only for runs with a single drive.
fn share_estimate(rows: &[&RunRow], stop: Stop, level: f64) -> Estimate {
    let share = |row: &&RunRow| row.completed as f64 / row.drives.max(1) as f64;
    let shares: Vec<f64> = rows.iter().map(share).collect();
    let is_trial = stop.watches_from().is_none() && rows.iter().all(|row| row.drives == 1);
    let interval = if rows.len() < 2 {
        None
    } else if is_trial {
        let completed: usize = rows.iter().map(|row| row.completed).sum();
        wilson(completed as u64, rows.len() as u64, level)
    } else {
        // Fractions are between 0 and 1, for which a betting confidence sequence is valid under monitoring.
        let mut sequence = BettingSequence::new(level);
        shares.iter().for_each(|&share| sequence.push(share));
        Some(sequence.interval())
    };
    Estimate::new(&Moments::of(&shares), interval, level)
}
