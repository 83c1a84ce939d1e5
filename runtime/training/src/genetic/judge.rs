//! Evaluation of candidates, which drive courses in parallel and get scores.

use super::breeder::Candidate;
use crate::course::End;
use crate::measure::{DriveRow, RunRow};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A run of a candidate on a course.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateRun {
    /// Mean score of the run's drives. Lower is always better: if a higher fitness is better, its
    /// sign is inverted.
    pub score: f64,
    /// Number of drives that were scored.
    pub drives: usize,
    /// Number of drives that were completed.
    pub completed: usize,
    /// Hash of the visible state during the run; 0 if nothing is visible.
    pub hash: u64,
    /// Whether the run ended early because hardly any vehicle moved.
    pub ended_early: bool,
    /// The run in the form that `bench` reports; `None` if there is no course.
    pub row: Option<RunRow>,
    /// Behaviour of the vehicles in the run's drives, independent of the fitness. Only available for runs
    /// that evaluate a champion.
    pub manners: Option<Manners>,
}

/// Behaviour of vehicles in drives, independent of the fitness.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manners {
    /// Number of drives that were observed.
    pub drives: usize,
    /// Number of drives that arrived at their destination.
    pub arrived: usize,
    /// Total number of contacts with obstacles and other vehicles.
    pub contacts: f64,
    /// Mean fraction of the driving time spent more than 5 % above the speed limit, 0 to 1.
    pub above_limit: f64,
}

impl Manners {
    /// Ids of the fitness functions that measure this behaviour. They are computed in addition to the fitness
    /// function of the experiment.
    pub(super) const TOLD_BY: [&'static str; 2] = ["contacts", "time_above_limit"];

    /// Adds up the scores of the fitness functions in `TOLD_BY`; `None` if a drive lacks any of them.
    pub(super) fn of(drives: &[DriveRow]) -> Option<Self> {
        let mut all = Self::default();
        for drive in drives {
            let told = Self::TOLD_BY.map(|id| {
                let mut scores = drive.scores.iter();
                scores.find_map(|(known, score)| (known == id).then_some(*score))
            });
            let [Some(contacts), Some(above_limit)] = told else {
                return None;
            };
            all = all.with(Self {
                drives: 1,
                arrived: usize::from(drive.end == End::Arrived),
                contacts,
                above_limit,
            });
        }
        (all.drives > 0).then_some(all)
    }

    /// Combines this behaviour with the behaviour in other drives.
    pub fn with(self, other: Self) -> Self {
        let drives = self.drives + other.drives;
        let share = |of: &Self| of.above_limit * of.drives as f64;
        Self {
            drives,
            arrived: self.arrived + other.arrived,
            contacts: self.contacts + other.contacts,
            above_limit: (share(&self) + share(&other)) / drives.max(1) as f64,
        }
    }
}

impl std::fmt::Display for Manners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {} arrived, {} contacts, {:.1} % of the time above the speed limit",
            self.arrived,
            self.drives,
            self.contacts,
            100.0 * self.above_limit
        )
    }
}

/// Evaluator that runs candidates on courses. The same genes and course give a bit-identical run in any
/// thread.
pub trait Evaluate: Sync {
    /// Drives the course of a seed with the given genes.
    ///
    /// # Errors
    /// If a module failed. The error is a message. Only this candidate is lost, and training continues.
    fn run(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String>;

    /// Drives a course like `run`, but without the approximations that make breeding cheaper and less exact.
    /// Used to evaluate champions.
    ///
    /// # Errors
    /// As [`Evaluate::run`].
    fn run_exactly(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
        self.run(genes, course)
    }

    /// Returns the number of drives in a run, if it is known in advance; at least 1.
    fn drives_of_a_run(&self) -> usize {
        1
    }

    /// Whether a lower fitness is better. Otherwise, scores are fitness values with the opposite sign.
    fn lower_is_better(&self) -> bool {
        true
    }

    /// Hash of the course. A training run can be resumed only on a course with the same hash.
    fn hash(&self) -> u64 {
        0
    }

    /// Returns the external modules that drive, each with its build. A training run can be resumed
    /// only with the same builds.
    fn modules(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Results of a candidate.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Score of each run, in the order of the courses.
    pub scores: Vec<f64>,
    /// Number of drives in all runs.
    pub drives: usize,
    /// Whether the evaluation ended early because the candidate was unfit ([Gerdelan 2011], section 10.6).
    #[serde(default)]
    pub ended_early: bool,
    /// Whether the evaluation ended early because the candidate could not win.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raced_out: bool,
    /// Whether the user has struck out the candidate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub struck_out: bool,
    /// Reason why the candidate could not be run; `None` if it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Judgement {
    /// Mean of the scores; `None` for a candidate that was unfit, could not win, was struck out or failed.
    pub fn fitness(&self) -> Option<f64> {
        let is_out = self.ended_early || self.raced_out || self.struck_out;
        let is_rated = !is_out && self.failure.is_none();
        if !is_rated || self.scores.is_empty() {
            return None;
        }
        Some(self.scores.iter().sum::<f64>() / self.scores.len() as f64)
    }

    /// Combines the runs of a candidate, in the order of the courses.
    pub(super) fn of(runs: impl Iterator<Item = Result<CandidateRun, String>>) -> Self {
        let mut judgement = Self::default();
        for run in runs {
            match run {
                Ok(run) => {
                    judgement.scores.push(run.score);
                    judgement.drives += run.drives;
                    judgement.ended_early |= run.ended_early;
                }
                Err(failure) => {
                    // Only the first failure is recorded, because the others are usually the same.
                    judgement.failure.get_or_insert(failure);
                }
            }
        }
        judgement
    }
}

/// Evaluates candidates, all on the same courses. All candidates drive the first course first, and
/// candidates that are unfit there skip the other courses. Runs are distributed over the threads of
/// the current pool and combined in the order of candidates and courses, so the result does not
/// depend on the number of threads.
pub fn judge(evaluate: &dyn Evaluate, candidates: &[Candidate], courses: &[u64]) -> Vec<Judgement> {
    let (first, others) = courses.split_at(courses.len().min(1));
    let mut runs = vec![Runs::new(); candidates.len()];
    let mut under_way: Vec<usize> = (0..candidates.len()).collect();
    drive_on(evaluate, candidates, &under_way, first, &mut runs);
    under_way.retain(|&number| is_fit(&runs[number]));
    drive_on(evaluate, candidates, &under_way, others, &mut runs);
    let judged = runs.into_iter().map(|runs| Judgement::of(runs.into_iter()));
    judged.collect()
}

/// A run, or the reason why it failed. The reason includes the seed of the course, the module, the time, and
/// the cause.
pub type RunOrFailure = Result<CandidateRun, String>;

/// Completed runs of a candidate, in the order of the courses.
pub(super) type Runs = Vec<RunOrFailure>;

/// Whether a candidate has moved on every course that it has driven, and no run has failed.
pub(super) fn is_fit(runs: &Runs) -> bool {
    runs.iter()
        .all(|run| run.as_ref().is_ok_and(|run| !run.ended_early))
}

/// Drives further courses with the remaining candidates in parallel, and appends their runs in the order of
/// the courses.
pub(super) fn drive_on(
    evaluate: &dyn Evaluate,
    candidates: &[Candidate],
    under_way: &[usize],
    courses: &[u64],
    runs: &mut [Runs],
) {
    let pairs: Vec<(usize, u64)> = under_way
        .iter()
        .flat_map(|&number| courses.iter().map(move |&course| (number, course)))
        .collect();
    let done: Vec<_> = pairs
        .par_iter()
        .map(|&(number, course)| run(evaluate, &candidates[number].genes, course))
        .collect();
    for ((number, _), run) in pairs.into_iter().zip(done) {
        runs[number].push(run);
    }
}

/// Drives all courses with the given genes, in parallel and without racing or halving. Results are
/// in the order of the courses.
///
/// # Errors
/// If a run fails. The error belongs to the first course that failed.
pub fn run_all(
    evaluate: &dyn Evaluate,
    genes: &[f64],
    courses: &[u64],
) -> Result<Vec<CandidateRun>, String> {
    run_each(evaluate, genes, courses).into_iter().collect()
}

/// Like [`run_all`], but returns failed runs as well.
pub fn run_each(evaluate: &dyn Evaluate, genes: &[f64], courses: &[u64]) -> Vec<RunOrFailure> {
    let runs = courses
        .par_iter()
        .map(|&course| guarded(course, || evaluate.run_exactly(genes, course)));
    runs.collect()
}

/// Runs a candidate for breeding.
fn run(evaluate: &dyn Evaluate, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
    guarded(course, || evaluate.run(genes, course))
}

/// Runs a closure. A panic or a NaN score counts as a failure of the modules.
fn guarded(
    course: u64,
    run: impl Fn() -> Result<CandidateRun, String>,
) -> Result<CandidateRun, String> {
    // A failed run shares no data with others.
    let run = catch_unwind(AssertUnwindSafe(run));
    let run = run.map_err(|_| format!("a module panicked on course {course}"))??;
    if run.score.is_nan() {
        return Err(format!("the score of course {course} is not a number"));
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::super::pool::Birth;
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn candidates(genes: &[f64]) -> Vec<Candidate> {
        let candidate = |(number, &gene): (usize, &f64)| Candidate {
            genes: vec![gene],
            birth: Birth {
                generation: 1,
                number: number as u32,
            },
        };
        genes.iter().enumerate().map(candidate).collect()
    }

    /// An evaluator that returns gene x course. With gene 13 the run fails on course 2, with gene 14 it
    /// panics, with gene 15 it returns NaN, and with gene 16 hardly any vehicle moves.
    struct Times(AtomicUsize);

    impl Evaluate for Times {
        fn run(&self, genes: &[f64], course: u64) -> Result<CandidateRun, String> {
            self.0.fetch_add(1, Ordering::SeqCst);
            let run = |score| CandidateRun {
                score,
                drives: 2,
                completed: 1,
                hash: 0,
                ended_early: genes[0] == 16.0,
                row: None,
                manners: None,
            };
            match genes[0] {
                13.0 if course == 2 => Err("no luck".into()),
                14.0 => panic!("on purpose"),
                15.0 => Ok(run(f64::NAN)),
                gene => Ok(run(gene * course as f64)),
            }
        }
    }

    #[test]
    fn who_fails_costs_only_himself_and_who_stands_is_spared_the_rest() {
        let times = Times(AtomicUsize::new(0));
        let judged = judge(
            &times,
            &candidates(&[1.0, 13.0, 14.0, 15.0, 16.0, 2.0]),
            &[1, 2, 3],
        );
        let fitness: Vec<_> = judged.iter().map(Judgement::fitness).collect();
        assert_eq!(fitness, [Some(2.0), None, None, None, None, Some(4.0)]);
        assert_eq!(judged[0].scores, [1.0, 2.0, 3.0]);
        assert_eq!(judged[0].drives, 6);
        assert_eq!(judged[1].failure.as_deref(), Some("no luck"));
        assert!(judged[2].failure.as_ref().unwrap().contains("panicked"));
        assert!(judged[3].failure.as_ref().unwrap().contains("not a number"));
        assert!(judged[4].ended_early && judged[4].failure.is_none());
        // Six candidates drive the first course, and three continue.
        assert_eq!(times.0.load(Ordering::SeqCst), 6 + 3 * 2);
    }

    #[test]
    fn threads_change_nothing() {
        let genes: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.37).collect();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let times = Times(AtomicUsize::new(0));
            pool.unwrap()
                .install(|| judge(&times, &candidates(&genes), &[3, 1, 4, 1, 5]))
        };
        let one = with(1);
        assert_eq!(one, with(2));
        assert_eq!(one, with(7));
    }

    #[test]
    fn without_courses_nobody_is_judged() {
        let times = Times(AtomicUsize::new(0));
        let judged = judge(&times, &candidates(&[1.0]), &[]);
        assert_eq!(judged[0].fitness(), None);
    }
}
