//! Measurement of a single run of a course.

use crate::course::{
    Course, CourseError, End, Setup, drive_manoeuvre, driver_of, manoeuvre_builds,
};
use failure::failure_of;
pub(crate) use failure::in_words;
use roadwright_agent::Registry;
use roadwright_geometry::math::mix64;
use roadwright_simulation::{Drive, Ground, RunOptions, Session, World};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Interval at which the visible state of the world is added to the run's hash, s of simulated time.
const GLANCE: f64 = 1.0;

/// The drive of one agent on a course.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriveRow {
    /// The agent's id.
    pub agent: u64,
    /// Index of the driver in the setup; 0 if the scenario's own drivers drove.
    pub driver: usize,
    /// End of the drive.
    pub end: End,
    /// Duration of the drive, s.
    pub time: f64,
    /// Distance driven, m.
    pub distance: f64,
    /// Number of changes between forwards and reverse; `None` on courses that do not end in a bay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gear_changes: Option<u32>,
    /// Final values of the fitness functions with their ids, in the order of the stack.
    pub scores: Vec<(String, f64)>,
}

impl DriveRow {
    /// Score of the first fitness function; `None` if there is none.
    pub fn fitness(&self) -> Option<f64> {
        self.scores.first().map(|(_, score)| *score)
    }
}

/// Result of a run of a course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRow {
    /// The seed of the run.
    pub seed: u64,
    /// Number of agents that drove. In a failed row, this and all other values are 0.
    pub drives: usize,
    /// Number of drives that were completed.
    pub completed: usize,
    /// Mean fitness of the drives; `None` in a failed row. The drives of a run interact, so the run counts as
    /// a single observation.
    pub fitness: Option<f64>,
    /// Number of drives by kind of end.
    pub ends: BTreeMap<End, usize>,
    /// Mean duration of the drives, s.
    pub time: f64,
    /// Mean number of changes between forwards and reverse per drive; `None` on courses that do not end in a
    /// bay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gear_changes: Option<f64>,
    /// Hash of the visible state of the world each second and at the end, 16 hexadecimal digits. Empty in a
    /// failed row.
    pub hash: String,
    /// Reason why the run is not a result; `None` if it is one. In a failed run, an external module failed
    /// and the built-in module answered in its place. Example: "com.example.x failed at 0.2 s (panic)".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl RunRow {
    /// Creates the row of a failed run. It has no values that could be mistaken for a result.
    pub fn failed(seed: u64, reason: String) -> Self {
        Self {
            seed,
            drives: 0,
            completed: 0,
            fitness: None,
            ends: BTreeMap::new(),
            time: 0.0,
            gear_changes: None,
            hash: String::new(),
            failed: Some(reason),
        }
    }
}

/// A run with its drives.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The run as a row.
    pub row: RunRow,
    /// The drives of the run, sorted by agent.
    pub drives: Vec<DriveRow>,
    /// External modules that were used, with their builds.
    pub modules: Vec<String>,
    /// Number of steps of the world until all drives had ended.
    pub steps: u64,
    /// Roll margin and felled obstacles; `None` if bodies cannot roll or push each other.
    pub handling: Option<Handling>,
}

impl Measured {
    /// Creates a run that is not a result because a module failed.
    pub(crate) fn failed(seed: u64, reason: String, modules: Vec<String>, steps: u64) -> Self {
        Self {
            row: RunRow::failed(seed, reason),
            drives: Vec::new(),
            modules,
            steps,
            handling: None,
        }
    }
}

/// Roll margin and felled obstacles of a run. They are measured on courses that limit the roll, at
/// dynamics levels with colliding bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handling {
    /// Smallest remaining roll angle before a vehicle tips over, rad. Negative if a vehicle tipped
    /// over. Checked every 0.1 s.
    pub roll_margin: f64,
    /// Number of obstacles that lean by more than 45 degrees at the end.
    pub felled: usize,
}

/// Runs a course once in a single thread. The same arguments give bit-identical results.
///
/// If an external module fails, the row has the reason in `failed` and the run has no drives.
///
/// # Errors
/// If the setup does not fit the course, the scenario cannot be run, or no agent drove.
pub fn measure(
    course: &Course,
    setup: &Setup,
    modules: &Registry,
    seed: u64,
) -> Result<Measured, CourseError> {
    measure_while(course, setup, modules, seed, &mut |_| true)
}

/// Runs a course as [`measure`] does, but ends as soon as `goes_on` returns `false`. `goes_on` is called
/// several times per second of simulated time. Drives that are still active end with the run.
///
/// # Errors
/// As [`measure`].
pub fn measure_while(
    course: &Course,
    setup: &Setup,
    modules: &Registry,
    seed: u64,
    goes_on: &mut dyn FnMut(&World) -> bool,
) -> Result<Measured, CourseError> {
    let run = CourseInput {
        course,
        setup,
        modules,
        seed,
    };
    run.measure(None, goes_on)
}

/// Runs a course as [`measure`] does, but the first agent is driven with the recorded controls of a person.
/// The person has to pass all goals in order, within the goal radius of the course or, without one, within 6
/// m. The run ends with the person's drive, and the row only covers this drive.
///
/// # Errors
/// As [`measure`], and if the course simulates its vehicle itself.
pub fn measure_driven(
    course: &Course,
    setup: &Setup,
    modules: &Registry,
    seed: u64,
    controls: &[ControlChange],
) -> Result<Measured, CourseError> {
    if course.is_manoeuvre() {
        return Err(CourseError::Setup {
            course: course.name.clone(),
            what: "it simulates its own vehicle, so it cannot be driven manually",
        });
    }
    let run = CourseInput {
        course,
        setup,
        modules,
        seed,
    };
    run.measure(Some(controls), &mut |_| true)
}

/// All inputs that a run of a course depends on.
struct CourseInput<'a> {
    course: &'a Course,
    setup: &'a Setup,
    modules: &'a Registry,
    seed: u64,
}

impl CourseInput<'_> {
    fn measure(
        &self,
        controls: Option<&[ControlChange]>,
        goes_on: &mut dyn FnMut(&World) -> bool,
    ) -> Result<Measured, CourseError> {
        let Self {
            course,
            setup,
            modules,
            seed,
        } = *self;
        let scenario = course.scenario(seed, setup)?;
        let options = RunOptions {
            seed: Some(seed),
            dt: setup.dt,
            dynamics: setup.dynamics,
            ..RunOptions::default()
        };
        let ground = course
            .shared_ground()
            .unwrap_or_else(|| Ground::new(&scenario));
        let world = World::on_ground(ground, &scenario, modules, &options);
        let world = world.map_err(|error| CourseError::Simulation {
            course: course.name.clone(),
            seed,
            error: Box::new(error),
        })?;
        if course.is_manoeuvre() {
            return drive_manoeuvre(course, seed, &scenario, modules, &world, goes_on);
        }
        let level = setup.dynamics.unwrap_or(scenario.settings().dynamics);
        let judge = match controls {
            None => Judge::new(course, level, &scenario),
            Some(_) => Judge::of_person(course, level, &scenario),
        };
        let mut run = CourseRun {
            judge,
            session: Session::new(world),
            controls: controls.unwrap_or_default(),
            hash: mix64(seed),
        };
        run.finish(goes_on);
        let modules = builds_of(run.world());
        let steps = run.world().steps();
        if let Some(reason) = failure_of(run.world()) {
            return Ok(Measured::failed(seed, reason, modules, steps));
        }
        let handling = run.judge.watch.handling(run.world());
        let person = run.judge.driven_by_person();
        let mut drives: Vec<DriveRow> = run.judge.ended.into_values().collect();
        drives.retain(|drive| person.is_none_or(|person| drive.agent == person));
        check_scores(course, seed, &drives)?;
        let row = summarize(seed, &drives, run.hash).ok_or_else(|| CourseError::NobodyDrove {
            course: course.name.clone(),
            seed,
        })?;
        Ok(Measured {
            row,
            drives,
            modules,
            steps,
            handling,
        })
    }
}

/// Returns the external modules that a course uses and their builds, in the form used by runs, without
/// driving.
///
/// # Errors
/// If the setup does not fit the course, or the scenario cannot be run.
pub(crate) fn builds(
    course: &Course,
    setup: &Setup,
    modules: &Registry,
    seed: u64,
) -> Result<Vec<String>, CourseError> {
    let scenario = course.scenario(seed, setup)?;
    if course.is_manoeuvre() {
        return Ok(manoeuvre_builds(&scenario, modules));
    }
    let options = RunOptions {
        seed: Some(seed),
        dt: setup.dt,
        dynamics: setup.dynamics,
        ..RunOptions::default()
    };
    let world = World::new(&scenario, modules, &options);
    let world = world.map_err(|error| CourseError::Simulation {
        course: course.name.clone(),
        seed,
        error: Box::new(error),
    })?;
    Ok(builds_of(&world))
}

/// Returns the external modules in a world, with slot, id and build.
pub(crate) fn builds_of(world: &World) -> Vec<String> {
    let records = world.modules().into_iter();
    records
        .map(|module| format!("{} {} {}", module.slot, module.module, module.build))
        .collect()
}

/// A run of a course in progress.
struct CourseRun<'a> {
    session: Session,
    judge: Judge,
    /// Recorded controls of a person who drives the first agent.
    controls: &'a [ControlChange],
    hash: u64,
}

impl CourseRun<'_> {
    fn world(&self) -> &World {
        self.session.world()
    }

    /// Takes steps until all drives have ended or the caller stops the run.
    fn finish(&mut self, goes_on: &mut dyn FnMut(&World) -> bool) {
        let dt = self.world().dt();
        let glance = in_steps(GLANCE, dt);
        while self.world().steps() < self.judge.last_step(dt) {
            self.take_controls();
            self.session.step(&mut []);
            let step = self.world().steps();
            if step.is_multiple_of(glance) {
                self.glance();
            }
            // The last step is always checked. Otherwise, a drive that is active at the end would have no
            // row.
            if !self.judge.is_due(self.session.world()) {
                continue;
            }
            // If a module has failed, the run has no result, so the rest of it is not simulated.
            let has_failed = failure_of(self.world()).is_some();
            let is_last = step == self.judge.last_step(dt) || has_failed || !goes_on(self.world());
            let has_ended = self.judge.look(self.session.world(), is_last);
            if has_ended || self.judge.has_person_ended() {
                break;
            }
        }
        self.glance();
    }

    /// Applies the recorded changes of the controls that are due before the next step.
    fn take_controls(&mut self) {
        while let Some((change, rest)) = self.controls.split_first() {
            if change.step > self.world().steps() {
                return;
            }
            self.controls = rest;
            if let Some(agent) = self.judge.driven_by_person() {
                let world = self.session.world_mut();
                world.drive_by_hand(agent, change.controls());
            }
        }
    }

    /// Adds the visible state to the hash.
    fn glance(&mut self) {
        self.hash = mix64(self.hash ^ self.world().snapshot().hash());
    }
}

/// Converts a time in seconds to a number of steps, at least one. Intervals between checks are counted in
/// steps, because rounding errors in sums of times would delay or skip checks.
fn in_steps(time: f64, dt: f64) -> u64 {
    ((time / dt).round() as u64).max(1)
}

fn row_of(drive: &Drive<'_>, end: End) -> DriveRow {
    let scores = drive.scores.iter();
    DriveRow {
        agent: drive.id,
        driver: driver_of(drive.stack),
        end,
        time: drive.ended - drive.started,
        distance: drive.distance,
        gear_changes: None,
        scores: scores.map(|&(id, score)| (id.into(), score)).collect(),
    }
}

/// Checks that the scores of a run are finite, so that they can be reported and compared.
pub(crate) fn check_scores(
    course: &Course,
    seed: u64,
    drives: &[DriveRow],
) -> Result<(), CourseError> {
    let mut scores = drives.iter().flat_map(|drive| &drive.scores);
    match scores.find(|(_, score)| !score.is_finite()) {
        None => Ok(()),
        Some((fitness, score)) => Err(CourseError::NoNumber {
            course: course.name.clone(),
            seed,
            fitness: fitness.clone(),
            score: *score,
        }),
    }
}

/// Summarises a run as a row; `None` if no drive was scored.
pub(crate) fn summarize(seed: u64, drives: &[DriveRow], hash: u64) -> Option<RunRow> {
    let scores: Vec<f64> = drives.iter().filter_map(DriveRow::fitness).collect();
    if scores.is_empty() {
        return None;
    }
    let mut ends = BTreeMap::new();
    for drive in drives {
        *ends.entry(drive.end).or_insert(0) += 1;
    }
    let mean = |sum: f64, count: usize| sum / count as f64;
    Some(RunRow {
        seed,
        drives: drives.len(),
        completed: drives
            .iter()
            .filter(|drive| drive.end.is_complete())
            .count(),
        fitness: Some(mean(scores.iter().sum(), scores.len())),
        ends,
        time: mean(drives.iter().map(|drive| drive.time).sum(), drives.len()),
        gear_changes: {
            let changes = drives.iter().map(|drive| drive.gear_changes);
            let sum: Option<f64> = changes.map(|count| count.map(f64::from)).sum();
            sum.map(|sum| mean(sum, drives.len()))
        },
        hash: format!("{hash:016x}"),
        failed: None,
    })
}

mod failure;
mod judge;
mod mileage;
mod person;
mod watch;

pub use judge::Judge;
pub use person::{ControlChange, PersonTry, TryError, TryOutcome};

pub use mileage::{MileageMark, measure_logged};

#[cfg(test)]
mod tests;
