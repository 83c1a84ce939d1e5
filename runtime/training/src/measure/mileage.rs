//! Mileage logs: the state of each drive of a run at regular distances.

use crate::course::{Course, CourseError, Setup, driver_of};
use crate::measure::{Measured, measure_while};
use roadwright_agent::Registry;
use roadwright_simulation::World;
use std::collections::BTreeMap;

/// Distance between consecutive log entries of a drive, m.
const EVERY: f64 = 10.0;

/// An entry of a mileage log: the state of a drive at a distance.
#[derive(Debug, Clone, PartialEq)]
pub struct MileageMark {
    /// The agent's id.
    pub agent: u64,
    /// Index of the driver in the setup.
    pub driver: usize,
    /// Distance driven, m. Entries are made at each multiple of 10 m, or at the first check after
    /// it.
    pub distance: f64,
    /// Time since the drive began, s.
    pub time: f64,
    /// Current value of the first fitness function.
    pub fitness: f64,
}

/// Runs a course as [`crate::measure`] does, and logs each drive every 10 m until it has driven the
/// maximum distance of the course. Entries are sorted by time, then by agent.
///
/// # Errors
/// As [`crate::measure`].
pub fn measure_logged(
    course: &Course,
    setup: &Setup,
    modules: &Registry,
    seed: u64,
) -> Result<(Measured, Vec<MileageMark>), CourseError> {
    let mut log = Log {
        course,
        last: course.ends.mileage.unwrap_or(f64::INFINITY),
        next: BTreeMap::new(),
        marks: Vec::new(),
    };
    let look = &mut |world: &World| {
        log.look(world);
        true
    };
    let measured = measure_while(course, setup, modules, seed, look)?;
    Ok((measured, log.marks))
}

struct Log<'a> {
    course: &'a Course,
    /// Last distance that is logged, m.
    last: f64,
    /// Distance of the next entry of each agent, m.
    next: BTreeMap<u64, f64>,
    marks: Vec<MileageMark>,
}

impl Log<'_> {
    fn look(&mut self, world: &World) {
        let mut due = Vec::new();
        for (agent, started, distance) in world.odometers() {
            let next = self.next.entry(agent).or_insert(EVERY);
            if distance < *next || *next > self.last {
                continue;
            }
            // A fast vehicle may pass several of these distances between two checks. They share a single
            // entry.
            *next = EVERY * ((distance / EVERY).floor() + 1.0);
            due.push((agent, started, distance));
        }
        due.sort_by_key(|(agent, ..)| *agent);
        for (agent, started, distance) in due {
            let drive = world.drive_so_far(agent);
            let drive = drive.filter(|drive| self.course.scores(drive.stack));
            let noted =
                drive.and_then(|drive| Some((driver_of(drive.stack), drive.scores.first()?.1)));
            self.marks
                .extend(noted.map(|(driver, fitness)| MileageMark {
                    agent,
                    driver,
                    distance,
                    time: world.time() - started,
                    fitness,
                }));
        }
    }
}
