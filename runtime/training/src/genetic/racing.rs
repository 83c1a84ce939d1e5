//! Racing: individuals are no longer evaluated once they cannot win.
//!
//! The pool of earlier generations drives all courses first, because its results have to be beaten. The new
//! individuals then drive the same courses in the same order, one block of courses at a time. A new
//! individual skips the remaining courses if even the best possible score on each of them would not get it
//! into the pool. The pool is bit-identical to the pool without racing and does not depend on the number of
//! threads.
//!
//! With `doubt`, individuals also skip the remaining courses if a course-by-course comparison shows
//! that they are significantly worse than the individual to beat. This may drop an individual that
//! would have won. The decision is made on the same courses in the same order, so it does not
//! depend on the number of threads either.

use super::breeder::Candidate;
use super::judge::{Evaluate, Judgement, Runs, drive_on, judge};
use crate::statistics::{Moments, student_t};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Racing settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Racing {
    /// Lower bound of the score of a run, such as the travel time on the straight route at the speed limit.
    /// The closer it is to the best possible score, the sooner a race is decided. A bound that is too high
    /// causes wrong decisions.
    #[serde(default)]
    pub least: f64,
    /// Number of courses between two decisions, 1 to 1000.
    #[serde(default = "default_block")]
    #[schemars(range(min = 1, max = 1000))]
    pub block: usize,
    /// Significance level, greater than 0 and less than 0.5. The scores of an individual on the courses so
    /// far are compared with those of the last individual in the pool. The individual is dropped if the
    /// probability of scores that are this much worse by chance is below this level. If absent, only
    /// individuals that cannot win are dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 0.5))]
    pub doubt: Option<f64>,
}

fn default_block() -> usize {
    3
}

impl Racing {
    /// Checks that all values are in their ranges.
    ///
    /// # Errors
    /// If a value is out of its range. The message has the value and the expected range.
    pub fn validate(&self) -> Result<(), String> {
        if !(1..=1000).contains(&self.block) {
            let found = self.block;
            return Err(format!(
                "block: {found} is out of range: expected 1 to 1000"
            ));
        }
        if !self.least.is_finite() {
            return Err(format!("least: {} is not a finite number", self.least));
        }
        if let Some(doubt) = self.doubt.filter(|doubt| !(*doubt > 0.0 && *doubt < 0.5)) {
            return Err(format!(
                "doubt: {doubt} is out of range: expected more than 0 and less than 0.5"
            ));
        }
        Ok(())
    }
}

/// Evaluates candidates on courses as [`judge`] does, but stops evaluating a candidate as soon as it cannot
/// enter the pool of `places` individuals. If earlier generations provide fewer than `places` individuals,
/// all candidates drive all courses.
pub fn race(
    evaluate: &dyn Evaluate,
    candidates: &[Candidate],
    courses: &[u64],
    racing: Racing,
    places: usize,
) -> Vec<Judgement> {
    // Lower scores are better. The lower bound is given as a fitness, so its sign is changed in the
    // same way as the sign of scores.
    let racing = Racing {
        least: if evaluate.lower_is_better() {
            racing.least
        } else {
            -racing.least
        },
        ..racing
    };
    let newest = candidates.iter().map(|c| c.birth.generation).max();
    let is_new = |candidate: &Candidate| Some(candidate.birth.generation) == newest;
    let (new, old): (Vec<Candidate>, Vec<Candidate>) = candidates.iter().cloned().partition(is_new);
    // Earlier individuals drive all courses first, because their means have to be beaten.
    let mut olds = judge(evaluate, &old, courses);
    let mut ranked: Vec<(f64, &[f64])> = olds
        .iter()
        .filter_map(|judged| Some((judged.fitness()?, &judged.scores[..])))
        .collect();
    ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let news = match places.checked_sub(1).and_then(|last| ranked.get(last)) {
        None => judge(evaluate, &new, courses),
        Some(&(to_beat, scores)) => {
            let race = Race {
                evaluate,
                courses,
                racing,
                to_beat,
                scores,
            };
            race.run(&new)
        }
    };
    let (mut olds, mut news) = (olds.drain(..), news.into_iter());
    let back = candidates.iter().map(|candidate| {
        let judged = if is_new(candidate) {
            news.next()
        } else {
            olds.next()
        };
        judged.unwrap_or_default()
    });
    back.collect()
}

/// The race of the new individuals against the earlier individuals.
struct Race<'a> {
    evaluate: &'a dyn Evaluate,
    courses: &'a [u64],
    racing: Racing,
    /// Fitness to beat: the fitness of the worst individual in the pool.
    to_beat: f64,
    /// Scores of the individual to beat, by course.
    scores: &'a [f64],
}

impl Race<'_> {
    fn run(&self, candidates: &[Candidate]) -> Vec<Judgement> {
        let mut runs = vec![Runs::new(); candidates.len()];
        let mut under_way: Vec<usize> = (0..candidates.len()).collect();
        // All remaining individuals drive one block, and then the next, so that they are dropped at the same
        // point for any number of threads.
        for block in self.courses.chunks(self.racing.block) {
            drive_on(self.evaluate, candidates, &under_way, block, &mut runs);
            under_way.retain(|&number| self.can_win(&runs[number]));
        }
        let judged = runs.into_iter().map(|runs| {
            let is_whole = runs.len() == self.courses.len();
            let mut judgement = Judgement::of(runs.into_iter());
            judgement.raced_out =
                !is_whole && !judgement.ended_early && judgement.failure.is_none();
            judgement
        });
        judged.collect()
    }

    /// Whether the fitness of an individual can still become as low as the fitness to beat.
    fn can_win(&self, runs: &Runs) -> bool {
        let mut sum = 0.0;
        for run in runs {
            match run {
                Ok(run) if !run.ended_early => sum += run.score,
                Ok(_) | Err(_) => return false,
            }
        }
        let left = self.courses.len() - runs.len();
        sum += left as f64 * self.racing.least;
        // On a tie the individual continues, because the pool decides by birth.
        sum / self.courses.len() as f64 <= self.to_beat && !self.is_beaten(runs)
    }

    /// Whether a course-by-course comparison shows that an individual is significantly worse than the
    /// individual to beat.
    fn is_beaten(&self, runs: &Runs) -> bool {
        let Some(doubt) = self.racing.doubt else {
            return false;
        };
        // All individuals drive the courses in the same order, so the completed runs belong to the
        // first courses in `scores`. A result without a failure has a score for each course.
        let pairs = runs.iter().flatten().zip(self.scores);
        let differences: Vec<f64> = pairs.map(|(run, score)| run.score - score).collect();
        // The test is one-sided. If the interval extends below 0, the individual may still be better.
        let interval = student_t(&Moments::of(&differences), 1.0 - 2.0 * doubt);
        interval.is_some_and(|interval| interval.low > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::counts::Counts;
    use super::super::pool::Birth;
    use super::*;

    fn candidates(genes: &[(u32, f64)]) -> Vec<Candidate> {
        let of = |(number, &(generation, gene)): (usize, &(u32, f64))| Candidate {
            genes: vec![gene],
            birth: Birth {
                generation,
                number: number as u32,
            },
        };
        genes.iter().enumerate().map(of).collect()
    }

    const RACING: Racing = Racing {
        least: 0.0,
        block: 2,
        doubt: None,
    };

    #[test]
    fn who_cannot_win_is_spared_the_rest_and_nobody_else() {
        let counts = Counts::default();
        let all = candidates(&[(1, 2.0), (2, 9.0), (1, 4.0), (2, 3.0), (2, 13.0), (2, 16.0)]);
        let courses: Vec<u64> = (1..=10).collect();
        let judged = race(&counts, &all, &courses, RACING, 2);
        let fitness: Vec<_> = judged.iter().map(Judgement::fitness).collect();
        assert_eq!(fitness, [Some(2.0), None, Some(4.0), Some(3.0), None, None]);
        // The value to beat is a mean of 4 on 10 courses. With 9 on each, the sum exceeds 40 after 5 courses,
        // which is detected after 6.
        assert!(judged[1].raced_out && judged[1].scores.len() == 6);
        assert!(!judged[4].raced_out && judged[4].failure.is_some());
        assert!(!judged[5].raced_out && judged[5].ended_early);
        assert_eq!(counts.runs(), 10 + 10 + 10 + 6 + 2 + 2);
        // With a lower bound of 2 per run, this is detected after 4 courses, because 36 + 12 exceeds 40.
        let sharp = Racing {
            least: 2.0,
            ..RACING
        };
        let judged = race(&counts, &all, &courses, sharp, 2);
        assert_eq!(judged[1].scores.len(), 4);
    }

    #[test]
    fn who_is_worse_beyond_doubt_is_out_sooner() {
        let counts = Counts::default();
        let all = candidates(&[(1, 2.0), (1, 4.0), (2, 4.5), (2, 3.5), (2, 4.0)]);
        let courses: Vec<u64> = (1..=10).collect();
        let doubting = Racing {
            doubt: Some(0.05),
            ..RACING
        };
        let judged = race(&counts, &all, &courses, doubting, 2);
        // The individual has 4.5 on each course and the value to beat is 4. It could still win, but after two
        // courses it is significantly worse.
        assert!(judged[2].raced_out && judged[2].scores.len() == 2);
        // An individual that is better or equal drives all courses.
        assert!(judged[3..].iter().all(|judged| judged.scores.len() == 10));
        let patient = race(&counts, &all, &courses, RACING, 2);
        assert_eq!(patient[2].scores.len(), 10);
    }

    #[test]
    fn without_enough_to_beat_all_drive_all() {
        let counts = Counts::default();
        let all = candidates(&[(1, 2.0), (2, 9.0), (2, 99.0)]);
        let judged = race(&counts, &all, &[1, 2, 3], RACING, 2);
        assert!(judged.iter().all(|judged| judged.scores.len() == 3));
        let none = race(&counts, &[], &[1], RACING, 2);
        assert!(none.is_empty());
    }

    #[test]
    fn out_of_range_is_said() {
        let bad = |block, least| {
            let racing = Racing {
                least,
                block,
                doubt: None,
            };
            racing.validate().unwrap_err()
        };
        for doubt in [0.0, 0.5, -1.0, f64::NAN] {
            let racing = Racing {
                doubt: Some(doubt),
                ..RACING
            };
            assert!(racing.validate().unwrap_err().starts_with("doubt: "));
        }
        assert!(RACING.validate().is_ok());
        assert!(bad(0, 0.0).starts_with("block: 0"));
        assert!(bad(1, f64::NAN).starts_with("least: NaN"));
    }
}
