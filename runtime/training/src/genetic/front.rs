//! Comparison of drivers by several objectives. Drivers that are not dominated by any other driver form the
//! Pareto front.
//!
//! A fast driver passes closer to obstacles, and a careful one takes longer. Training optimises a
//! single number. The front shows what this costs in other objectives.

use super::genes::Chromosome;
use super::problem::{LEVEL, Problem};
use crate::Measured;
use crate::course::CourseError;
use crate::experiment::Estimate;
use crate::statistics::{holm, paired};
use rayon::prelude::*;
use serde::Serialize;

/// Significance level of differences: the probability of a chance result below which a difference counts as
/// certain.
const DOUBT: f64 = 1.0 - LEVEL;

/// An objective by which drivers are compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Objective {
    /// Name of the objective: the name of a fitness, `felled` or `roll_margin`.
    pub name: String,
    /// Description of the objective, with its unit.
    pub doc: String,
    /// Whether a lower value is better.
    pub lower_is_better: bool,
}

/// Results of a driver on the courses, before the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Driven {
    /// Name of the driver.
    pub name: String,
    /// Number of drives in the driver's runs.
    pub drives: usize,
    /// Number of these drives that were completed.
    pub completed: usize,
    /// Values of each objective, by run.
    pub values: Vec<Vec<f64>>,
}

/// Position of a driver in the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// Name of the driver.
    pub name: String,
    /// Number of runs, each on a different course.
    pub runs: usize,
    /// Number of drives in these runs.
    pub drives: usize,
    /// Number of these drives that were completed.
    pub completed: usize,
    /// Mean of each objective with its confidence interval.
    pub estimates: Vec<Estimate>,
    /// A driver that is no worse in any mean and better in at least one mean. If there are several such
    /// drivers, the first of them. `None` if this driver is on the front.
    pub beaten_by: Option<String>,
    /// Whether a driver that dominates this one is significantly better. Results are compared course by
    /// course. After Holm's correction over all objectives, p must be below 0.05 in at least one of them.
    pub is_sure: bool,
}

/// A comparison of drivers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Front {
    /// The objectives of the comparison.
    pub objectives: Vec<Objective>,
    /// The drivers. Those on the front come first. In both groups, drivers are sorted by the first objective,
    /// best first.
    pub drivers: Vec<Standing>,
    /// Number of courses that were left out because a module failed on them.
    pub failed: usize,
}

/// Treatment of courses on which a module failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// Refuses the comparison, because failures are not random.
    Refuse,
    /// Leaves out these courses for all drivers.
    LeaveOut,
}

impl Front {
    /// Compares drivers. O(square of their number).
    pub fn of(objectives: Vec<Objective>, drivers: &[Driven]) -> Self {
        let lower: Vec<bool> = objectives.iter().map(|one| one.lower_is_better).collect();
        let costs: Vec<Vec<Vec<f64>>> = drivers.iter().map(|one| costs(one, &lower)).collect();
        let mut ranked: Vec<(f64, Standing)> = Vec::new();
        for (index, driver) in drivers.iter().enumerate() {
            let own = &costs[index];
            let beaten: Vec<usize> = (0..drivers.len())
                .filter(|&other| beats(&costs[other], own))
                .collect();
            let estimates = driver.values.iter();
            let standing = Standing {
                name: driver.name.clone(),
                runs: driver.values.first().map_or(0, Vec::len),
                drives: driver.drives,
                completed: driver.completed,
                estimates: estimates
                    .map(|values| Estimate::of(values, LEVEL))
                    .collect(),
                beaten_by: beaten.first().map(|&other| drivers[other].name.clone()),
                is_sure: is_sure(beaten.iter().map(|&other| &costs[other]), own),
            };
            ranked.push((own.first().map_or(0.0, |values| mean(values)), standing));
        }
        ranked.sort_by(|(a, first), (b, second)| {
            let is_beaten = |standing: &Standing| standing.beaten_by.is_some();
            (is_beaten(first).cmp(&is_beaten(second))).then(a.total_cmp(b))
        });
        Self {
            objectives,
            drivers: ranked.into_iter().map(|(_, standing)| standing).collect(),
            failed: 0,
        }
    }
}

/// Returns the values of a driver, with signs chosen so that lower is better.
fn costs(driver: &Driven, lower_is_better: &[bool]) -> Vec<Vec<f64>> {
    let all = driver.values.iter().zip(lower_is_better);
    let cost = |(values, &lower): (&Vec<f64>, &bool)| {
        let signed = values
            .iter()
            .map(|&value| if lower { value } else { -value });
        signed.collect()
    };
    all.map(cost).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Whether the first driver dominates the second: no worse in any mean, and better in at least one.
fn beats(first: &[Vec<f64>], second: &[Vec<f64>]) -> bool {
    let pairs = first.iter().zip(second);
    let differences: Vec<f64> = pairs.map(|(a, b)| mean(a) - mean(b)).collect();
    differences.iter().all(|&difference| difference <= 0.0)
        && differences.iter().any(|&difference| difference < 0.0)
}

/// Whether any of the drivers that dominate a driver is significantly better.
fn is_sure<'a>(others: impl Iterator<Item = &'a Vec<Vec<f64>>>, own: &[Vec<f64>]) -> bool {
    let mut p = Vec::new();
    for other in others {
        for (theirs, own) in other.iter().zip(own) {
            let pairs: Vec<(f64, f64)> = theirs.iter().copied().zip(own.iter().copied()).collect();
            // One course is not enough evidence.
            p.push(paired(&pairs, LEVEL).map_or(1.0, |difference| difference.p));
        }
    }
    holm(&p).into_iter().any(|p| p < DOUBT)
}

/// Returns the seed of the first failed run, and the reason of the failure.
fn first_failure(runs: &[Measured]) -> Option<(u64, String)> {
    let mut rows = runs.iter().map(|run| &run.row);
    rows.find_map(|row| Some((row.seed, row.failed.clone()?)))
}

impl Problem {
    /// Drives courses with several sets of genes on the threads of the current pool, and compares the
    /// results. One objective is the fitness. For bodies that can lean and knock obstacles over, there are
    /// two more: the number of felled obstacles, and the remaining lean angle before the drive would have
    /// ended.
    /// `note` is called after each driver.
    ///
    /// # Errors
    /// If a course cannot be driven, if a module failed on a course that is not left out, or if modules failed on
    /// all courses.
    pub fn front(
        &self,
        drivers: &[(String, Chromosome)],
        courses: &[u64],
        failed: Failed,
        note: &(dyn Fn() + Sync),
    ) -> Result<Front, CourseError> {
        let mut all: Vec<Vec<Measured>> = Vec::new();
        // Whether each course was driven without failures.
        let mut is_sound = vec![true; courses.len()];
        for (name, genes) in drivers {
            let runs: Result<Vec<Measured>, CourseError> = courses
                .par_iter()
                .map(|&course| self.measure(genes, course))
                .collect();
            let runs = runs?;
            for (is_sound, run) in is_sound.iter_mut().zip(&runs) {
                *is_sound &= run.row.failed.is_none();
            }
            // Drivers are compared course by course, and failures are not random.
            let is_refused = failed == Failed::Refuse || !is_sound.contains(&true);
            if let Some((seed, reason)) = first_failure(&runs).filter(|_| is_refused) {
                return Err(CourseError::Failed {
                    course: name.clone(),
                    seed,
                    reason,
                });
            }
            // The individual drives are dropped, because they are not needed and there may be many.
            let rows = runs.into_iter().map(|run| Measured {
                drives: Vec::new(),
                ..run
            });
            all.push(rows.collect());
            note();
        }
        let mut driven = Vec::new();
        let mut objectives = Vec::new();
        for ((name, _), runs) in drivers.iter().zip(all) {
            let sound = runs.into_iter().zip(&is_sound);
            let sound = sound.filter_map(|(run, &is_sound)| is_sound.then_some(run));
            let runs: Vec<Measured> = sound.collect();
            objectives = self.objectives(&runs);
            driven.push(Driven {
                name: name.clone(),
                drives: runs.iter().map(|run| run.row.drives).sum(),
                completed: runs.iter().map(|run| run.row.completed).sum(),
                values: self.values(&runs),
            });
        }
        Ok(Front {
            failed: is_sound.iter().filter(|is_sound| !**is_sound).count(),
            ..Front::of(objectives, &driven)
        })
    }

    fn objectives(&self, runs: &[Measured]) -> Vec<Objective> {
        let mut objectives = vec![Objective {
            name: self.fitness(),
            doc: "the fitness of the experiment".into(),
            lower_is_better: self.is_lower_better(),
        }];
        if runs.iter().all(|run| run.handling.is_some()) {
            objectives.push(Objective {
                name: "felled".into(),
                doc: "obstacles that lean by more than 45 degrees at the end".into(),
                lower_is_better: true,
            });
            objectives.push(Objective {
                name: "roll_margin".into(),
                doc: "remaining lean angle before tipping over, rad".into(),
                lower_is_better: false,
            });
        }
        objectives
    }

    fn values(&self, runs: &[Measured]) -> Vec<Vec<f64>> {
        let mut values = vec![runs.iter().filter_map(|run| run.row.fitness).collect()];
        let handling: Option<Vec<_>> = runs.iter().map(|run| run.handling).collect();
        if let Some(handling) = handling {
            values.push(handling.iter().map(|one| one.felled as f64).collect());
            values.push(handling.iter().map(|one| one.roll_margin).collect());
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(name: &str, lower_is_better: bool) -> Objective {
        Objective {
            name: name.into(),
            doc: String::new(),
            lower_is_better,
        }
    }

    fn driven(name: &str, time: [f64; 4], margin: [f64; 4]) -> Driven {
        Driven {
            name: name.into(),
            drives: 4,
            completed: 4,
            values: vec![time.to_vec(), margin.to_vec()],
        }
    }

    fn front(drivers: &[Driven]) -> Vec<(String, Option<String>, bool)> {
        let front = Front::of(
            vec![objective("time", true), objective("margin", false)],
            drivers,
        );
        let rows = front.drivers.into_iter();
        rows.map(|row| (row.name, row.beaten_by, row.is_sure))
            .collect()
    }

    #[test]
    fn who_is_beaten_in_all_is_behind_the_front_and_who_is_best_in_one_is_not() {
        let drivers = [
            driven("slow and upright", [40.0, 41.0, 42.0, 43.0], [1.6; 4]),
            driven("slow and leaning", [40.5, 41.4, 42.6, 43.5], [1.0; 4]),
            driven("fast and leaning", [20.0, 21.0, 22.0, 23.0], [1.1; 4]),
        ];
        let on = |name: &str| (name.to_owned(), None, false);
        let behind = |name: &str, by: &str| (name.to_owned(), Some(by.to_owned()), true);
        assert_eq!(
            front(&drivers),
            [
                on("fast and leaning"),
                on("slow and upright"),
                behind("slow and leaning", "slow and upright")
            ]
        );
    }

    #[test]
    fn what_may_be_chance_is_not_sure() {
        // Better by 0.1 on average, although results vary by 20 between courses.
        let drivers = [
            driven("a", [30.0, 50.0, 30.0, 50.0], [1.0; 4]),
            driven("b", [50.0, 30.0, 50.0, 30.4], [1.0; 4]),
        ];
        let rows = front(&drivers);
        assert_eq!(rows[1], ("b".into(), Some("a".into()), false));
    }

    #[test]
    fn equal_drivers_do_not_beat_each_other() {
        let same = [
            driven("a", [1.0; 4], [1.0; 4]),
            driven("b", [1.0; 4], [1.0; 4]),
        ];
        assert!(
            front(&same)
                .iter()
                .all(|(_, beaten_by, _)| beaten_by.is_none())
        );
        assert!(front(&[]).is_empty());
        let one = Driven {
            values: vec![vec![1.0], vec![2.0]],
            ..same[0].clone()
        };
        assert_eq!(front(&[one]).len(), 1);
    }
}
