//! Paths of the drives in results, obtained by repeating the runs.

use super::results::Results;
use crate::course::{Course, CourseError};
use crate::measure::{RunRow, measure_while};
use rayon::prelude::*;
use roadwright_agent::Registry;
use roadwright_geometry::DVec2;
use roadwright_scenario::Scenario;
use roadwright_simulation::World;
use std::collections::BTreeMap;
use thiserror::Error;

/// Minimum distance between the points of a path, m.
const SPACING: f64 = 1.0;

/// The path of a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct DrivePath {
    /// Seed of the run.
    pub seed: u64,
    /// Id of the agent.
    pub agent: u64,
    /// Whether the drive was completed.
    pub is_complete: bool,
    /// Positions of the vehicle, at least a metre apart, m.
    pub points: Vec<DVec2>,
}

/// The paths of several runs on one course.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPaths {
    /// The scenario of the first run, which serves as the map.
    pub scenario: Scenario,
    /// Number of runs that were driven.
    pub runs: usize,
    /// Number of runs whose rows differ from the rows in the results. This happens if the results
    /// were made by another version or with other modules.
    pub differing: usize,
    /// The paths, in the order of seeds and agents.
    pub paths: Vec<DrivePath>,
}

/// Reason why there are no paths.
#[derive(Debug, Error)]
pub enum PathsError {
    /// The course is a user's scenario, which results do not contain.
    #[error("the results do not include the scenario {0}, so their runs cannot be repeated")]
    Own(String),
    /// The course cannot be driven.
    #[error(transparent)]
    Course(#[from] CourseError),
    /// The caller cancelled the drives.
    #[error("the repetition was cancelled")]
    GivenUp,
}

impl RunPaths {
    /// Repeats the first runs of results on the threads of the current pool, and returns the driven paths.
    /// `note` is called after each run and returns whether to continue.
    ///
    /// # Errors
    /// If the course is not built in or simulates its vehicle itself, or if the caller cancelled the drives.
    pub fn of(
        results: &Results,
        most: usize,
        modules: &Registry,
        note: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, PathsError> {
        let head = &results.head;
        if head.is_own {
            return Err(PathsError::Own(head.course.clone()));
        }
        let course = Course::named(&head.course)?;
        // The scenario is the map on which the paths are drawn. On a generated course, it shows the obstacles
        // of the first seed.
        let scenario = course.whole_scenario(head.first_seed, &head.setup)?;
        // A failed run has no drives to show.
        let rows = results.rows.iter().filter(|row| row.failed.is_none());
        let rows: Vec<&RunRow> = rows.take(most).collect();
        let runs: Vec<Result<_, PathsError>> = rows
            .into_par_iter()
            .map(|row| {
                if !note() {
                    return Err(PathsError::GivenUp);
                }
                let mut trail = Trail::default();
                let look = &mut |world: &World| trail.look(world);
                let measured = measure_while(&course, &head.setup, modules, row.seed, look)?;
                let ended = measured.drives.iter();
                let ends = ended.map(|drive| (drive.agent, drive.end.is_complete()));
                let paths = trail.paths(row.seed, &ends.collect());
                Ok((measured.row == *row, paths))
            })
            .collect();
        let runs: Vec<_> = runs.into_iter().collect::<Result<_, _>>()?;
        Ok(Self {
            scenario,
            runs: runs.len(),
            differing: runs.iter().filter(|(is_same, _)| !is_same).count(),
            paths: runs.into_iter().flat_map(|(_, paths)| paths).collect(),
        })
    }
}

/// Recorded positions of the vehicles, by agent.
#[derive(Default)]
struct Trail(BTreeMap<u64, Vec<DVec2>>);

impl Trail {
    fn look(&mut self, world: &World) -> bool {
        for vehicle in world.snapshot().vehicles {
            let points = self.0.entry(vehicle.agent).or_default();
            let at = vehicle.pose.position;
            if points
                .last()
                .is_none_or(|last| last.distance(at) >= SPACING)
            {
                points.push(at);
            }
        }
        true
    }

    fn paths(self, seed: u64, ends: &BTreeMap<u64, bool>) -> Vec<DrivePath> {
        let paths = self.0.into_iter().map(|(agent, points)| DrivePath {
            seed,
            agent,
            is_complete: ends.get(&agent).copied().unwrap_or(false),
            points,
        });
        paths.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RunSeries, Stop};
    use super::*;
    use crate::course::Setup;
    use crate::measure::measure;
    use roadwright_simulation::builtin_modules;

    fn results(course: &str) -> Results {
        let (course, setup) = (Course::named(course).unwrap(), Setup::default());
        let modules = builtin_modules();
        let experiment = RunSeries {
            course: &course,
            setup: &setup,
            modules: &modules,
            first_seed: 3,
            stop: Stop::Runs { runs: 3 },
            against: None,
            level: 0.95,
            threads: 1,
        };
        let row = |seed| measure(&course, &setup, &modules, seed).unwrap().row;
        Results::of_rows(experiment.head().unwrap(), (3..6).map(row).collect())
    }

    #[test]
    fn drives_are_driven_again_as_they_were() {
        let mut results = results("arena");
        let again = |results: &Results, most| {
            RunPaths::of(results, most, &builtin_modules(), &|| true).unwrap()
        };
        let found = again(&results, 10);
        assert_eq!((found.runs, found.differing, found.paths.len()), (3, 0, 3));
        for (path, row) in found.paths.iter().zip(&results.rows) {
            assert_eq!(
                (path.seed, path.is_complete),
                (row.seed, row.completed == 1)
            );
            assert!(path.points.len() > 20);
            let steps = path.points.windows(2).map(|pair| pair[0].distance(pair[1]));
            // Between two checks, the vehicle moves for a tenth of a second.
            assert!(
                steps
                    .clone()
                    .all(|step| (SPACING..SPACING + 5.0).contains(&step))
            );
        }
        assert_eq!(again(&results, 2).runs, 2);
        // A row that differs is reported.
        results.rows[1].hash = "0".into();
        assert_eq!(again(&results, 10).differing, 1);
    }

    #[test]
    fn what_cannot_be_driven_again_says_why() {
        let error = |results: &Results, goes_on: bool| {
            let found = RunPaths::of(results, 10, &builtin_modules(), &|| goes_on);
            found.unwrap_err().to_string()
        };
        let mut results = results("arena");
        assert!(error(&results, false).contains("cancelled"));
        results.head.course = "spoon".into();
        assert!(error(&results, true).contains("unknown course"));
        results.head.is_own = true;
        assert!(error(&results, true).contains("do not include the scenario"));
        results.head.is_own = false;
        results.head.course = "pendulum".into();
        assert!(error(&results, true).contains("simulates its own vehicle"));
    }
}
