//! A user's race on a course: the planner's drive as a ghost, and earlier attempts.

use roadwright_agent::Registry;
use roadwright_geometry::Pose;
use roadwright_scenario::Scenario;
use roadwright_simulation::World;
use roadwright_training::{
    ControlChange, Course, CourseError, DriveRow, End, PersonTry, Setup, measure_while,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Duration of the countdown before an attempt, s.
pub const COUNTDOWN: f64 = 3.0;
/// Maximum number of attempts kept for each course and seed.
const MOST_TRIES: usize = 1000;
/// Extension of an attempt's file name.
const TRY: &str = ".try.json";
/// Maximum size of an attempt's file, bytes.
pub const LARGEST: u64 = 64 * roadwright_files::MEBIBYTE;

/// The course that the user wants to drive.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceOrder {
    /// The course to drive.
    pub course: Course,
    /// Vehicles and modules of the race.
    pub setup: Setup,
    /// Seed of the course.
    pub seed: u64,
    /// Folder in which attempts are kept; `None` for the data folder of the user.
    pub folder: Option<PathBuf>,
}

/// The planner's drive on a course.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannerDrive {
    /// Result of the drive, if any.
    pub drive: Option<DriveRow>,
    /// Time in seconds and pose of the middle of the body, ten times a second.
    pub path: Vec<(f64, Pose)>,
    /// Length and width of the body, m.
    pub size: [f64; 2],
}

/// A course that is ready to be driven.
#[derive(Debug, Clone)]
pub struct ReadyRace {
    /// The requested course, with its seed and vehicles.
    pub order: RaceOrder,
    /// The scenario of the course.
    pub scenario: Scenario,
    /// The agent that the user drives.
    pub agent: u64,
    /// The planner's drive.
    pub planner: PlannerDrive,
}

/// An attempt stored in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptTry {
    /// Number of the attempt, counted from 1.
    pub number: u64,
    /// Event that ended the attempt, if any.
    pub end: Option<End>,
    /// Duration of the attempt, s.
    pub time: f64,
    /// Fitness of the drive; the first fitness if there are several.
    pub fitness: Option<f64>,
    /// File with the controls of the attempt.
    pub path: PathBuf,
}

/// Stage of a race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RacePhase {
    /// Countdown to the attempt, which begins at this time of the window, s.
    Countdown(f64),
    /// The user is driving.
    Driving,
    /// The attempt has ended and is being written to its file.
    Ended,
}

/// A race in the window.
#[derive(Debug, Clone)]
pub struct Race {
    /// The course, which has been prepared for driving.
    pub ready: Arc<ReadyRace>,
    /// Stage of the current attempt.
    pub phase: RacePhase,
    /// Number of the current attempt in this session.
    pub number: u64,
    /// Earlier attempts on the course with the same seed.
    pub tries: Vec<KeptTry>,
}

/// An action of the race.
#[derive(Debug, Clone, PartialEq)]
pub enum RaceAction {
    /// Prepares a course and begins the first attempt.
    Start(Box<RaceOrder>),
    /// Begins another attempt.
    Again,
}

impl ReadyRace {
    /// Prepares a course: its scenario and the planner's drive.
    ///
    /// # Errors
    /// If a user cannot drive the course.
    pub fn prepare(order: RaceOrder, modules: &Registry) -> Result<Self, CourseError> {
        let RaceOrder {
            course,
            setup,
            seed,
            ..
        } = &order;
        let scenario = course.whole_scenario(*seed, setup)?;
        let first = scenario.agents().keys().next().map(|id| u64::from(id.0));
        let agent = first.ok_or_else(|| CourseError::NobodyDrove {
            course: course.name.clone(),
            seed: *seed,
        })?;
        let mut planner = PlannerDrive {
            drive: None,
            path: Vec::new(),
            size: [0.0, 0.0],
        };
        let mut note = |world: &World| {
            if let Some(vehicle) = world.snapshot().vehicle(agent) {
                planner.path.push((world.time(), vehicle.body));
                planner.size = [vehicle.length, vehicle.width];
            }
            true
        };
        let measured = measure_while(course, setup, modules, *seed, &mut note)?;
        let mut drives = measured.drives.into_iter();
        planner.drive = drives.find(|drive| drive.agent == agent);
        Ok(Self {
            order,
            scenario,
            agent,
            planner,
        })
    }
}

impl PlannerDrive {
    /// Returns the pose of the middle of the planner's body at a time in seconds; `None` before its
    /// start and after its end.
    pub fn at(&self, time: f64) -> Option<Pose> {
        let next = self.path.partition_point(|(at, _)| *at < time);
        let (after, to) = self.path.get(next)?;
        let Some((before, from)) = next.checked_sub(1).map(|before| self.path[before]) else {
            return ((after - time).abs() < 1e-9).then_some(*to);
        };
        let share = (time - before) / (after - before);
        let turned = roadwright_geometry::math::wrap_angle(to.heading - from.heading);
        Some(Pose {
            position: from.position.lerp(to.position, share),
            heading: from.heading + share * turned,
        })
    }
}

impl Race {
    /// Describes the race in one sentence.
    pub fn in_words(&self) -> String {
        let RaceOrder { course, seed, .. } = &self.ready.order;
        let planner = match &self.ready.planner.drive {
            Some(drive) => format!("{} after {:.1} s", words(drive.end), drive.time),
            None => "no drive".to_owned(),
        };
        format!(
            "Racing on {}, seed {seed}; planner: {planner}.",
            course.name
        )
    }
}

impl KeptTry {
    /// Describes how the attempt ended and how long it took.
    pub fn in_words(&self) -> String {
        let end = self.end.map_or_else(|| "no drive".to_owned(), words);
        format!("{end} after {:.2} s", self.time)
    }

    fn of(number: u64, path: PathBuf, driven: &PersonTry) -> Self {
        Self {
            number,
            end: driven.row.ends.keys().next().copied(),
            time: driven.row.time,
            fitness: driven.row.fitness,
            path,
        }
    }
}

fn words(end: End) -> String {
    end.name().replace('_', " ")
}

/// Repeats an attempt from its recorded controls and writes it to a folder.
///
/// # Errors
/// If the course cannot be driven, or the file cannot be written.
pub fn keep(
    order: &RaceOrder,
    modules: &Registry,
    controls: Vec<ControlChange>,
    folder: &Path,
) -> Result<KeptTry, String> {
    let RaceOrder {
        course,
        setup,
        seed,
        ..
    } = order;
    let driven = PersonTry::drive(course, setup, modules, *seed, controls);
    let driven = driven.map_err(|error| error.to_string())?;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let kept = paths_of(order, folder);
    if kept.len() >= MOST_TRIES {
        let course = &course.name;
        return Err(format!(
            "{} has {MOST_TRIES} tries on {course} with seed {seed}; delete some of them",
            folder.display()
        ));
    }
    // Numbers of deleted attempts are not reused.
    let number = kept.last_key_value().map_or(1, |(last, _)| last + 1);
    let path = path_of(order, folder, number);
    roadwright_files::write(&path, driven.to_text().as_bytes())
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(KeptTry::of(number, path, &driven))
}

/// Reads the earlier attempts at a race from a folder, sorted by number. Unreadable files are
/// skipped.
pub fn kept_tries(order: &RaceOrder, folder: &Path) -> Vec<KeptTry> {
    let paths = paths_of(order, folder).into_iter().take(MOST_TRIES);
    let read = paths.filter_map(|(number, path)| {
        let text = roadwright_files::read_text(&path, LARGEST).ok()?;
        let driven = PersonTry::from_text(&text).ok()?;
        Some(KeptTry::of(number, path, &driven))
    });
    read.collect()
}

/// Returns the paths of the attempt files of a race in a folder, by number.
fn paths_of(order: &RaceOrder, folder: &Path) -> BTreeMap<u64, PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let name = entry.file_name();
        let stem = name.to_str()?.strip_suffix(TRY)?;
        let number: u64 = stem.rsplit('-').next()?.parse().ok()?;
        // Leaves room for the number of the next attempt.
        number.checked_add(1)?;
        let path = path_of(order, folder, number);
        // Otherwise the file belongs to another course or seed.
        (path.file_name() == Some(&name)).then_some((number, path))
    });
    numbered.collect()
}

/// Returns the path of an attempt's file. The course name is a path if the course is one of the
/// user's scenarios.
fn path_of(order: &RaceOrder, folder: &Path, number: u64) -> PathBuf {
    let name = Path::new(&order.course.name).file_name();
    let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = name.strip_suffix(".scenario.json").unwrap_or(&name);
    folder.join(format!("{name}-{}-{number}{TRY}", order.seed))
}
