//! Smoke drive of `roadwright plugin check`. It shows in figures and as a picture whether a plugin
//! can drive, compared with the built-in module. The plugin runs in a child process.

use super::course::{BUILT_IN, DRIVER, LANE, STANDER, Standing, course, register, stack_with};
use super::ground_drive::{self, GroundDrive, GroundTrip};
use super::signal_drive::{SignalDrive, beside_demand};
use crate::extensions;
use crate::terminal::say;
use anyhow::Context;
use glam::DVec2;
use roadwright_agent::{ModuleKind, Registry, Slot};
use roadwright_extension::{
    Host, HostOptions, ISOLATED_MEMORY, ReportLine, Trust, Wanted, answer_parent, ask_child,
    inspect,
};
use roadwright_geometry::polyline;
use roadwright_render::{Picture, Trail};
use roadwright_scenario::Stack;
use roadwright_simulation::{
    Ending, Observer, RunOptions, Session, Snapshot, Status, VehicleRecord, World, builtin_modules,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Argument that tells a child process to drive.
const DRIVE: &str = "drive";
/// Time limit of a driver, as a multiple of the time taken by the built-in driver.
const MOST_TIMES: f64 = 3.0;
/// Maximum simulated time of the built-in drivers, s. They need less time than this.
const LONGEST: f64 = 300.0;
/// Distance between a car and its lane beyond which the car has left the course, m.
const LOST: f64 = 20.0;
/// Speed below which a car counts as stationary, m/s.
const STANDS: f64 = 0.3;
/// Distance to the other car within which a stationary car counts as waiting behind it, m.
const BEHIND: f64 = 40.0;
/// Time that the driver has to wait behind the other car before that car drives away, s.
const WAIT: f64 = 1.5;
/// Number of steps between two points of a trail.
const TRAIL_STEPS: u64 = 10;

/// Result of a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Drive {
    /// The tested module.
    module: String,
    /// Whether the driver has reached the goal.
    arrived: bool,
    /// Driving time, s.
    seconds: f64,
    /// Mean speed, m/s.
    mean_speed: f64,
    /// Largest distance between the rear axle and the lane's centre line, m.
    furthest_off: f64,
    /// Number of collisions.
    collisions: u64,
    /// Gap to the standing car while the driver stands behind it, m; `None` if it never stood there.
    gap: Option<f64>,
    /// Faults of the module, if any.
    trouble: Option<String>,
}

/// A drive and its trail.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Driven {
    drive: Drive,
    trail: Vec<[f64; 2]>,
}

/// Scores of a fitness for two drivers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Scores {
    /// Id of the fitness module.
    module: String,
    /// Score of the driver that arrives.
    drives: f64,
    /// Score of the driver that never moves.
    stands: f64,
}

/// Results that a child process reports about a plugin.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Found {
    controller: Option<Driven>,
    planner: Option<Driven>,
    fitness: Option<Scores>,
    signals: Option<[SignalDrive; 2]>,
    ground: Option<[GroundTrip; 2]>,
}

/// Results of the drives with a plugin. Trails are not serialized.
#[derive(Debug, Serialize)]
pub(super) struct Drives {
    built_in: Drive,
    controller: Option<Drive>,
    planner: Option<Drive>,
    fitness: Option<Scores>,
    /// Results of the signal controller and of actuated control.
    signals: Option<[SignalDrive; 2]>,
    /// Results of the ground planner and of `drivable_path`.
    ground: Option<[GroundDrive; 2]>,
    /// Reason why there are no results.
    failed: Option<String>,
    #[serde(skip)]
    trails: Vec<(String, Vec<DVec2>)>,
}

/// Observes the tested driver: its trail, its distance from the lane, and its gap to the standing
/// car.
struct Watch {
    may_go: Arc<AtomicBool>,
    path: Vec<DVec2>,
    trail: Vec<DVec2>,
    furthest_off: f64,
    stood: f64,
    gap: Option<f64>,
}

impl Watch {
    fn new(may_go: Arc<AtomicBool>) -> Self {
        Self {
            may_go,
            path: Vec::new(),
            trail: Vec::new(),
            furthest_off: 0.0,
            stood: 0.0,
            gap: None,
        }
    }

    /// Releases the other car after the driver has stood behind it.
    fn look_at_gap(&mut self, dt: f64, driver: &VehicleRecord, other: &VehicleRecord) {
        let between = (driver.body.position - other.body.position).length();
        let gap = between - 0.5 * (driver.length + other.length);
        let stands = driver.speed.abs() < STANDS && gap < BEHIND;
        self.stood = if stands { self.stood + dt } else { 0.0 };
        if self.stood > WAIT && !self.may_go.swap(true, Ordering::Relaxed) {
            // A car that overlaps the other one does not stand behind it.
            self.gap = (gap > 0.0).then_some(gap);
        }
    }
}

impl Observer for Watch {
    fn after_step(&mut self, world: &World) {
        let snapshot = world.snapshot();
        let find = |id: u32| snapshot.vehicles.iter().find(|v| v.agent == u64::from(id));
        let Some(driver) = find(DRIVER.0) else {
            return;
        };
        let place = driver.pose.position;
        if self.path.is_empty() {
            // The first point is the vehicle's position, and the others are its path.
            let seen = world.inspect(driver.agent);
            self.path = seen.map_or(Vec::new(), |seen| seen.path);
        }
        // Measured from the path as it was at the start.
        let off = polyline::distance(&self.path, place);
        if off.is_finite() {
            self.furthest_off = self.furthest_off.max(off);
        }
        if world.steps() % TRAIL_STEPS == 1 {
            self.trail.push(place);
        }
        if let Some(other) = find(STANDER.0) {
            self.look_at_gap(world.dt(), driver, other);
        }
    }
}

/// Creates a world with both cars, and the switch that releases the standing one.
fn world(
    modules: &Registry,
    stack: Stack,
    standing: Standing,
) -> anyhow::Result<(World, Arc<AtomicBool>)> {
    let mut modules = modules.clone();
    let may_go = register(&mut modules);
    let scenario = course(stack, standing)?;
    let world = World::new(&scenario, &modules, &RunOptions::default())?;
    Ok((world, may_go))
}

/// Drives the course for at most the given time, with one module in place of a built-in one.
fn drive(modules: &Registry, slot: Slot, module: &str, longest: f64) -> anyhow::Result<Driven> {
    let (world, may_go) = world(modules, stack_with(slot, module), Standing::Ahead)?;
    let mut session = Session::new(world);
    let mut watch = Watch::new(may_go);
    while session.world().time() < longest && watch.furthest_off < LOST {
        session.step(&mut [&mut watch]);
        if has_ended(session.world()) {
            break;
        }
    }
    let world = session.world();
    let id = u64::from(DRIVER.0);
    let row = world.drives().into_iter().find(|row| row.id == id);
    let row = row.context("the driver of the course is missing")?;
    let seconds = row.ended - row.started;
    let faults: u64 = world.faults().values().sum();
    let first = world.faults().keys().next();
    let drive = Drive {
        module: module.to_owned(),
        arrived: row.status == Status::Arrived,
        seconds,
        mean_speed: row.distance / seconds.max(world.dt()),
        furthest_off: watch.furthest_off,
        collisions: touched(world, id),
        gap: watch.gap,
        trouble: first.map(|first| format!("{faults} faults; the first: {first}")),
    };
    let trail = watch.trail.iter().map(|point| point.to_array()).collect();
    Ok(Driven { drive, trail })
}

/// Whether the driver has arrived.
fn has_ended(world: &World) -> bool {
    world.finished().any(|row| row.id == u64::from(DRIVER.0))
}

/// Returns the number of collisions in which an agent was involved.
fn touched(world: &World, id: u64) -> u64 {
    let met = world
        .collisions()
        .iter()
        .filter(|hit| hit.agent == id || hit.with.agent() == Some(id));
    met.count() as u64
}

/// Drives the course with the built-in modules.
fn built_in() -> anyhow::Result<Driven> {
    drive(&builtin_modules(), Slot::Controller, BUILT_IN, LONGEST)
}

/// Returns the scores of a fitness for a driver that drives, and for one that never moves.
fn scores(modules: &Registry, module: &str) -> anyhow::Result<Scores> {
    let (world, _) = world(modules, stack_with(Slot::Fitness, module), Standing::Aside)?;
    let mut session = Session::new(world);
    session.run(Ending::AtTime(LONGEST), &mut [], |world| !has_ended(world));
    let drives = session.world().drives();
    let score = |id: u32| {
        let row = drives.iter().find(|row| row.id == u64::from(id))?;
        row.scores.first().map(|(_, score)| *score)
    };
    Ok(Scores {
        module: module.to_owned(),
        drives: score(DRIVER.0).context("there is no score for the driving car")?,
        stands: score(STANDER.0).context("there is no score for the stationary car")?,
    })
}

/// Entry point of the program's child processes, which drive or carry out tasks of the plugin host. Returns
/// the exit code.
pub(crate) fn plugin_host(arguments: &[OsString]) -> i32 {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let [DRIVE, library, nonce] = words[..] else {
        return roadwright_extension::helper(arguments);
    };
    let found = drive_with(Path::new(library)).and_then(|found| Ok(serde_json::to_string(&found)?));
    match found {
        Ok(found) => {
            answer_parent(nonce, &found);
            0
        }
        Err(error) => {
            say!("{error:#}");
            2
        }
    }
}

/// Drives with each kind of module in a library. Runs in the child process. The library is in a separate
/// folder, where the cache may be created.
fn drive_with(library: &Path) -> anyhow::Result<Found> {
    let folder = library.parent().context("the library is not in a folder")?;
    let (inspected, _) = inspect(library)?;
    let (id, kinds) = (inspected.info.id.as_str(), inspected.info.module_kinds());
    let host = Host::open(HostOptions {
        plugins: vec![folder.to_owned()],
        scripts: Vec::new(),
        cache: folder.join("cache"),
        helper: extensions::helper(),
        trust: Trust::All,
        isolated: BTreeSet::new(),
        isolated_memory: ISOLATED_MEMORY,
        wanted: Wanted::All,
        watch: false,
        builtin: builtin_modules(),
    });
    let modules = host.registry();
    // The built-in driver drives again here. Its steps are the same as in the parent, so the limit is the
    // same.
    let longest = MOST_TIMES * built_in()?.drive.seconds;
    let mut found = Found::default();
    for kind in kinds {
        match kind {
            ModuleKind::Controller => {
                found.controller = Some(drive(&modules, Slot::Controller, id, longest)?);
            }
            ModuleKind::Planner => {
                found.planner = Some(drive(&modules, Slot::Planner, id, longest)?);
            }
            ModuleKind::Fitness => found.fitness = Some(scores(&modules, id)?),
            ModuleKind::SignalController => {
                found.signals = Some(beside_demand(&modules, id)?);
            }
            ModuleKind::GroundPlanner => {
                found.ground = Some(ground_drive::beside_built_in(&modules, id)?);
            }
            ModuleKind::Behaviour => {}
        }
    }
    Ok(found)
}

/// Tests a plugin with drives in a child process.
///
/// # Errors
/// If its copy cannot be written, or the course cannot be driven at all.
pub(super) fn try_out(library: &Path, helper: &[OsString]) -> anyhow::Result<Drives> {
    let built_in = built_in()?;
    let folder = tempfile::tempdir().context("cannot create a folder for a copy of the plugin")?;
    let copy = folder.path().join("plugin");
    let copy = copy.with_extension(std::env::consts::DLL_EXTENSION);
    // A file that is not a plugin has been reported before.
    let found = std::fs::copy(library, &copy)
        .map_err(|error| error.to_string())
        .and_then(|_| ask_child(DRIVE, &copy, helper))
        .and_then(|text| serde_json::from_str::<Found>(&text).map_err(|error| error.to_string()));
    let (found, failed) = match found {
        Ok(found) => (found, None),
        Err(why) => (Found::default(), Some(why)),
    };
    let driven = found.controller.iter().chain(&found.planner);
    let mut trails: Vec<(String, Vec<DVec2>)> = std::iter::once(&built_in)
        .chain(driven)
        .map(|driven| {
            let points = driven.trail.iter().copied().map(DVec2::from_array);
            (driven.drive.module.clone(), points.collect())
        })
        .collect();
    if let (1, Some([own, other])) = (trails.len(), &found.ground) {
        trails = vec![other.trail(), own.trail()];
    }
    Ok(Drives {
        built_in: built_in.drive,
        controller: found.controller.map(|driven| driven.drive),
        planner: found.planner.map(|driven| driven.drive),
        fitness: found.fitness,
        signals: found.signals,
        ground: found.ground.map(|trips| trips.map(|trip| trip.drive)),
        failed,
        trails,
    })
}

impl Drives {
    /// Whether all drives passed.
    pub(super) fn is_fine(&self) -> bool {
        self.lines().iter().all(|line| line.problem.is_none())
    }

    /// Returns verdicts and notes, one line per kind.
    pub(super) fn lines(&self) -> Vec<ReportLine> {
        let line = |name: &str, problem: Option<String>, note: String| ReportLine {
            name: name.into(),
            problem: problem.map(|problem| format!("{problem}; {note}")),
            note,
        };
        let built_in = &self.built_in;
        let mut lines = Vec::new();
        if let Some(why) = &self.failed {
            lines.push(ReportLine {
                name: "drive".into(),
                problem: Some(why.clone()),
                note: String::new(),
            });
        }
        if let Some(drive) = &self.controller {
            let problem = drive.problem(built_in, Task::Steer);
            lines.push(line("drive", problem, drive.numbers(built_in)));
        }
        if let Some(drive) = &self.planner {
            let problem = drive.problem(built_in, Task::Route);
            lines.push(line(
                "drive on its routes",
                problem,
                drive.numbers(built_in),
            ));
        }
        if let Some([own, by_demand]) = &self.signals {
            let problem = own.problem(by_demand);
            lines.push(line(
                "signals of a crossing",
                problem,
                own.numbers(by_demand),
            ));
        }
        if let Some([own, built_in]) = &self.ground {
            let problem = own.problem(built_in);
            lines.push(line(
                "drive over open ground",
                problem,
                own.numbers(built_in),
            ));
        }
        if let Some(scores) = &self.fitness {
            lines.push(line("order of drivers", None, scores.note()));
        }
        lines
    }

    /// Draws the course with the driven paths, as a PNG.
    ///
    /// # Errors
    /// If the picture cannot be drawn.
    pub(super) fn draw(&self) -> anyhow::Result<Vec<u8>> {
        const COLORS: [u32; 3] = [0x4FB0E5, 0xE4572E, 0x8BD17C];
        let tested = self.controller.as_ref().or(self.planner.as_ref());
        let (scenario, snapshot, detail) = match (tested, &self.ground) {
            (None, Some([own, built_in])) => {
                let scenario = ground_drive::ground(ground_drive::BUILT_IN_PLANNER)?;
                (scenario, Snapshot::default(), own.numbers(built_in))
            }
            (tested, _) => {
                let tested = tested.unwrap_or(&self.built_in);
                let stack = Stack::with_controller(BUILT_IN);
                // The standing car at its position.
                let (world, _) = world(&builtin_modules(), stack.clone(), Standing::Ahead)?;
                let mut session = Session::new(world);
                session.step(&mut []);
                let snapshot = Snapshot {
                    vehicles: session.world().snapshot().vehicles,
                    ..Snapshot::default()
                };
                let scenario = course(stack, Standing::Ahead)?;
                (scenario, snapshot, tested.numbers(&self.built_in))
            }
        };
        // The built-in module is drawn below and wider, so that it is visible where both paths coincide.
        let trails = self.trails.iter().zip(COLORS).enumerate();
        let trails = trails.map(|(at, ((module, points), color))| Trail {
            points: points.clone(),
            width: if at == 0 { 1.8 } else { 0.7 },
            color,
            label: module.clone(),
        });
        // The margin leaves room for the title and for a car that leaves the road.
        let room = DVec2::splat(1.3 * LOST);
        let bounds = scenario.bounds().context("the course is empty")?;
        let picture = Picture {
            view: Some((bounds.0 - room, bounds.1 + room)),
            trails: trails.collect(),
            detail: Some(detail),
            ..Picture::default()
        };
        Ok(roadwright_render::map(
            &scenario,
            Some(&snapshot),
            &picture,
        )?)
    }
}

/// Role of the module under test in a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// The module steers, so the vehicle has to stay on its lane.
    Steer,
    /// The module plans the route, which the built-in controller drives.
    Route,
}

impl Drive {
    /// Returns the reason why the drive is not acceptable, if there is one.
    fn problem(&self, built_in: &Self, task: Task) -> Option<String> {
        let mut problems = Vec::new();
        problems.extend(self.trouble.clone());
        if self.collisions > 0 {
            problems.push(format!("the vehicle collides {} times", self.collisions));
        }
        if task == Task::Steer && self.furthest_off > LANE {
            problems.push(format!(
                "the vehicle leaves its lane by {:.1} m",
                self.furthest_off
            ));
        }
        if !self.arrived && self.furthest_off < LOST {
            let longest = MOST_TIMES * built_in.seconds;
            problems.push(format!(
                "the vehicle does not arrive within {longest:.0} s, which is {MOST_TIMES} times the time of {}",
                built_in.module
            ));
        }
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    /// Returns all figures, each followed by that of the built-in module in brackets.
    fn numbers(&self, built_in: &Self) -> String {
        let arrives = if self.arrived {
            "arrives after"
        } else {
            "not arrived after"
        };
        let gap = |drive: &Self| drive.gap.map(|gap| format!("{gap:.1} m"));
        let own = gap(self).map_or("never stops".to_owned(), |gap| format!("stops {gap}"));
        format!(
            "{arrives} {:.1} s ({} {:.1} s), mean {:.1} m/s ({:.1}), at most {:.2} m from the \
             centre of its lane ({:.2}), {own} behind the stationary car ({}), {} collisions ({})",
            self.seconds,
            built_in.module,
            built_in.seconds,
            self.mean_speed,
            built_in.mean_speed,
            self.furthest_off,
            built_in.furthest_off,
            gap(built_in).unwrap_or_default(),
            self.collisions,
            built_in.collisions,
        )
    }
}

impl Scores {
    /// Describes whether the fitness distinguishes the two drivers. A lower fitness is better, unless the
    /// module says otherwise.
    fn note(&self) -> String {
        let order = if self.drives < self.stands {
            "the driving car scores lower"
        } else if self.drives > self.stands {
            "the stationary car scores lower"
        } else {
            "both score the same"
        };
        format!(
            "driving scores {:.4}, stationary {:.4}: {order}",
            self.drives, self.stands
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_agent::{
        Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterSet, Step,
    };
    use roadwright_plugin_api::{ControllerInput, ControllerOutput};

    /// A controller whose output is computed by a function.
    struct Law(fn(&ControllerInput) -> ControllerOutput);

    impl Logic for Law {}

    impl Controller for Law {
        fn step(
            &self,
            _: &ParameterSet,
            _: &Step<'_>,
            inputs: &[ControllerInput],
            outputs: &mut [ControllerOutput],
        ) {
            for (input, output) in inputs.iter().zip(outputs) {
                *output = (self.0)(input);
            }
        }

        fn lookahead(&self, _: &ParameterSet) -> Lookahead {
            Lookahead {
                distance: 4.5,
                time: 0.6,
            }
        }
    }

    fn driven(law: fn(&ControllerInput) -> ControllerOutput) -> Drive {
        const INFO: ModuleInfo = ModuleInfo {
            id: "law",
            name: "Law",
            doc: "A function.",
        };
        let mut modules = builtin_modules();
        modules.add(ModuleEntry::<dyn Controller>::new(INFO, &[], move || {
            Box::new(Law(law))
        }));
        drive(&modules, Slot::Controller, "law", 160.0)
            .unwrap()
            .drive
    }

    #[test]
    fn built_in_controllers_drive() {
        let known = built_in().unwrap().drive;
        assert!((30.0..90.0).contains(&known.seconds), "{known:?}");
        let drive = |id: &str| drive(&builtin_modules(), Slot::Controller, id, 160.0);
        for id in ["idm", "pursuit"] {
            let drive = drive(id).unwrap().drive;
            assert_eq!(drive.problem(&known, Task::Steer), None, "{drive:?}");
            // It has met the standing car, and stopped at a normal distance.
            let gap = drive.gap.unwrap();
            assert!((0.5..10.0).contains(&gap), "{drive:?}");
        }
        // Without the gains that streets need, its tables are too gentle for a turn.
        let gentle = drive("fuzzy_driver").unwrap().drive;
        let problem = gentle.problem(&known, Task::Steer).unwrap();
        assert!(problem.contains("leaves its lane"), "{problem}");
    }

    #[test]
    fn what_does_not_drive_is_told_by_its_numbers() {
        let known = built_in().unwrap().drive;
        let away = driven(|input| ControllerOutput {
            acceleration: 3.0,
            steering: if input.waypoint_angle > 0.0 {
                -0.6
            } else {
                0.6
            },
        });
        let problem = away.problem(&known, Task::Steer).unwrap();
        assert!(problem.contains("leaves its lane"), "{problem}");
        // The drive is stopped as soon as the car is lost.
        assert!(away.seconds < 30.0, "{away:?}");

        let stands = driven(|_| ControllerOutput::default());
        let problem = stands.problem(&known, Task::Steer).unwrap();
        assert!(problem.contains("does not arrive"), "{problem}");
        assert_eq!((stands.gap, stands.collisions), (None, 0));

        // Steers well, but ignores other vehicles.
        let blind = driven(|input| ControllerOutput {
            acceleration: input.road_speed - input.speed,
            steering: roadwright_control::laws::pursuit_steering(
                input.wheelbase,
                input.waypoint_distance,
                input.waypoint_angle,
            ),
        });
        let problem = blind.problem(&known, Task::Steer).unwrap();
        assert!(problem.contains("the vehicle collides"), "{problem}");
        assert_eq!(blind.gap, None, "{blind:?}");
    }

    #[test]
    fn a_fitness_tells_who_stands_from_who_drives() {
        let scores = scores(&builtin_modules(), "crash_and_speed").unwrap();
        assert!(scores.drives < scores.stands, "{scores:?}");
        assert!(scores.note().contains("the driving car scores lower"));
        let other = Scores {
            drives: scores.stands,
            ..scores
        };
        assert!(other.note().contains("both score the same"));
    }
}
