//! Successive halving: all individuals drive a few courses, better individuals drive more, and only
//! the best drive all of them.
//!
//! This follows [Jamieson 2016], with a configurable fraction instead of a half. A single course is
//! usually enough to recognise a bad individual, but finding the best individual takes many
//! courses. Therefore most runs are spent on the best individuals. With three rounds and a fraction
//! of a third, a generation costs a third as much as if all individuals drove all courses.
//!
//! The pool is evaluated together with the new individuals, in the same rounds. All decisions are
//! made on the same courses in the same order, so the number of threads does not matter.

use super::breeder::Candidate;
use super::judge::{Evaluate, Judgement, Runs, drive_on, is_fit};
use super::pool::Birth;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of successive halving, in which only the better individuals advance to the next round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Halving {
    /// Number of rounds, 2 to 10. After the last round, all courses have been driven.
    #[serde(default = "default_rounds")]
    #[schemars(range(min = 2, max = 10))]
    pub rounds: u32,
    /// Fraction of the remaining individuals that advances to the next round, 0.05 to 0.95. At least as many
    /// individuals advance as there are parents. The number of courses in a round is the same fraction of the
    /// number of courses in the next round.
    #[serde(default = "default_share")]
    #[schemars(range(min = 0.05, max = 0.95))]
    pub share: f64,
}

fn default_rounds() -> u32 {
    3
}

fn default_share() -> f64 {
    1.0 / 3.0
}

impl Default for Halving {
    fn default() -> Self {
        Self {
            rounds: default_rounds(),
            share: default_share(),
        }
    }
}

impl Halving {
    /// Checks that all values are in their ranges.
    ///
    /// # Errors
    /// If a value is out of its range. The message has the value and the expected range.
    pub fn validate(&self) -> Result<(), String> {
        if !(2..=10).contains(&self.rounds) {
            let found = self.rounds;
            return Err(format!("rounds: {found} is out of range: expected 2 to 10"));
        }
        // Written so that NaN counts as out of range.
        if !(0.05..=0.95).contains(&self.share) {
            let found = self.share;
            return Err(format!(
                "share: {found} is out of range: expected 0.05 to 0.95"
            ));
        }
        Ok(())
    }

    /// Returns the number of courses driven by the end of each round, in ascending order. Rounds
    /// without additional courses are left out.
    fn courses_driven(&self, all: usize) -> Vec<usize> {
        let mut driven = vec![all];
        let mut left = all as f64;
        for _ in 1..self.rounds {
            left *= self.share;
            driven.push((left.round() as usize).max(1).min(all));
        }
        driven.reverse();
        driven.dedup();
        driven
    }

    /// Returns how many of the `under_way` remaining individuals advance to the next round.
    fn go_on(&self, under_way: usize, places: usize) -> usize {
        let share = (under_way as f64 * self.share).ceil() as usize;
        share.max(places).min(under_way)
    }
}

/// Evaluates candidates on courses as [`judge`](super::judge()) does, except that only the better candidates
/// advance to the next round. At least the best `places` candidates advance.
pub fn halve(
    evaluate: &dyn Evaluate,
    candidates: &[Candidate],
    courses: &[u64],
    halving: Halving,
    places: usize,
) -> Vec<Judgement> {
    let mut runs = vec![Runs::new(); candidates.len()];
    let mut under_way: Vec<usize> = (0..candidates.len()).collect();
    let mut dropped = vec![false; candidates.len()];
    let mut begin = 0;
    for end in halving.courses_driven(courses.len()) {
        let round = &courses[begin..end];
        drive_on(evaluate, candidates, &under_way, round, &mut runs);
        begin = end;
        under_way.retain(|&number| is_fit(&runs[number]));
        if end == courses.len() {
            break;
        }
        // All remaining individuals have driven the same courses, so their sums rank them in the same order
        // as their means. On a tie, the older individual advances, because it would also stay in the pool.
        let rank = |number: usize| -> (f64, Birth) {
            let scores = runs[number].iter().flatten().map(|run| run.score);
            (scores.sum(), candidates[number].birth)
        };
        under_way.sort_by(|&a, &b| {
            let (a, b) = (rank(a), rank(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        for number in under_way.split_off(halving.go_on(under_way.len(), places)) {
            dropped[number] = true;
        }
    }
    let judged = runs
        .into_iter()
        .zip(dropped)
        .map(|(runs, was_dropped)| Judgement {
            raced_out: was_dropped,
            ..Judgement::of(runs.into_iter())
        });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::super::counts::Counts;
    use super::*;

    fn candidates(genes: &[f64]) -> Vec<Candidate> {
        let of = |(number, &gene): (usize, &f64)| Candidate {
            genes: vec![gene],
            birth: Birth {
                generation: 1,
                number: number as u32,
            },
        };
        genes.iter().enumerate().map(of).collect()
    }

    #[test]
    fn the_better_share_goes_on_and_drives_more() {
        let counts = Counts::default();
        let genes: Vec<f64> = (0..9).map(|i| f64::from((i * 5) % 9)).collect();
        let courses: Vec<u64> = (1..=9).collect();
        let halving = Halving::default();
        let judged = halve(&counts, &candidates(&genes), &courses, halving, 1);
        for (gene, judged) in genes.iter().zip(&judged) {
            let driven = match *gene as u32 {
                0 => 9,
                1 | 2 => 3,
                _ => 1,
            };
            assert_eq!(judged.scores.len(), driven, "{gene}");
            assert_eq!(judged.raced_out, driven < 9);
            assert_eq!(judged.fitness().is_some(), driven == 9);
        }
        assert_eq!(counts.runs(), 9 + 3 * 2 + 6);
    }

    #[test]
    fn places_are_filled_and_who_fails_or_stands_takes_none() {
        let counts = Counts::default();
        let genes = [13.0, 16.0, 17.0, 18.0, 19.0, 20.0];
        let courses: Vec<u64> = (1..=9).collect();
        let halving = Halving::default();
        let judged = halve(&counts, &candidates(&genes), &courses, halving, 3);
        // The individual with gene 13 leads after the first course and fails on the second. The one
        // with gene 16 is dropped immediately.
        assert!(judged[0].failure.is_some() && !judged[0].raced_out);
        assert!(judged[1].ended_early && !judged[1].raced_out);
        let fitness: Vec<_> = judged.iter().map(Judgement::fitness).collect();
        assert_eq!(
            fitness,
            [None, None, Some(17.0), Some(18.0), None, None],
            "three advanced after the first course, and 13 was one of them"
        );
    }

    #[test]
    fn of_equals_the_older_goes_on_and_threads_change_nothing() {
        let genes = [5.0; 30];
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let halving = Halving::default();
            let judged = || {
                let counts = Counts::default();
                halve(&counts, &candidates(&genes), &[1, 2, 3, 4], halving, 2)
            };
            pool.unwrap().install(judged)
        };
        let one = with(1);
        let whole: Vec<usize> = (0..30).filter(|&i| !one[i].raced_out).collect();
        // 30 runs, then 10. There are only two rounds, because a ninth of four courses is none.
        assert_eq!(whole, (0..10).collect::<Vec<_>>());
        assert_eq!(one, with(3));
    }

    #[test]
    fn without_courses_or_candidates_nobody_is_judged() {
        let counts = Counts::default();
        let halving = Halving::default();
        let judged = halve(&counts, &candidates(&[1.0, 2.0]), &[], halving, 1);
        assert!(judged.iter().all(|judged| judged.fitness().is_none()));
        assert!(halve(&counts, &[], &[1], halving, 1).is_empty());
        // All individuals drive a single course, and none is dropped.
        let judged = halve(&counts, &candidates(&[1.0, 2.0]), &[1], halving, 1);
        assert!(judged.iter().all(|judged| judged.fitness().is_some()));
    }

    #[test]
    fn out_of_range_is_said() {
        let bad = |rounds, share| Halving { rounds, share }.validate().unwrap_err();
        assert!(Halving::default().validate().is_ok());
        assert!(bad(1, 0.5).starts_with("rounds: 1"));
        assert!(bad(11, 0.5).starts_with("rounds: 11"));
        for share in [0.0, 1.0, f64::NAN] {
            assert!(bad(3, share).starts_with("share: "));
        }
    }
}
