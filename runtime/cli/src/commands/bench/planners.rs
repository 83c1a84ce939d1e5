//! `roadwright bench planners`: planning times on maps of boxes. They are compared with table 1 of
//! [Kuffner 1998] and with the targets of this program.

use super::arguments::Planners as Arguments;
use super::crowd::{self, Crowd};
use super::walkers::{self, Walkers};
use crate::Outcome;
use crate::commands::plan::{Times, edits};
use crate::commands::print_json;
use crate::{progress, terminal};
use anyhow::{Context, bail};
use cpu_time::ProcessTime;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_planning::open_ground::samples::{self, BoxWorld};
use roadwright_planning::open_ground::{
    Body, Cell, CellSize, DrivableProblems, DrivableProgress, DrivableSearch, DrivableSettings,
    DrivableVehicle, GridMap, GridPath, Guide, ItemId, ObstacleCosts, OpenGround, Profile,
    ProfileId, Reading, Rules, Window,
};
use roadwright_scenario::VehicleType;
use roadwright_simulation::body_of;
use serde::Serialize;
use std::io::Write;

/// Number of obstacles of a problem for each obstacle that is moved at random.
const MOVED: usize = 10;
/// Maximum displacement along each axis, m.
const FARTHEST: f64 = 0.3;
/// Number of map changes for D* Lite.
const CHANGES: u32 = 1000;
/// Number of cells that each map change affects.
const CHANGED_CELLS: u32 = 20;
/// Largest permitted ratio of the cells that D* Lite expands to those that A* expands.
const LARGEST_RATIO: f64 = 0.05;
/// Target for the median time of projection plus search, ms.
const AIM: f64 = 1.5;

/// Target for the share of problems that `drivable_path` solves.
const AIM_SOLVED: f64 = 0.99;
/// Target for the median CPU time of `drivable_path`, ms.
const AIM_MEDIAN: f64 = 5.0;
/// Target for the 99th percentile of the CPU time of `drivable_path`, ms.
const AIM_P99: f64 = 30.0;
/// Maximum number of poses that are expanded for a problem of `drivable_path`.
const MOST_POSES: u64 = 100_000;
/// Number of trips on each map of `drivable_path`.
const TRIPS_PER_MAP: u32 = 10;
/// Marks a target that is an upper limit.
const AT_MOST: &str = "at most";
/// Marks a target that is a lower limit.
const AT_LEAST: &str = "at least";

/// A scene from [Kuffner 1998].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scene {
    Maze,
    Office,
}

/// A row of the published table.
struct Printed {
    scene: Scene,
    cells: u32,
    project: f64,
    search: f64,
    total: f64,
}

/// [Kuffner 1998], table 1: mean times over 100 trials on a 200 MHz workstation, ms.
const PRINTED: [Printed; 6] = [
    printed(Scene::Maze, 50, [9.5, 7.2, 16.7]),
    printed(Scene::Maze, 100, [34.5, 37.4, 72.0]),
    printed(Scene::Maze, 150, [82.9, 79.8, 163.0]),
    printed(Scene::Office, 45, [47.7, 13.9, 61.7]),
    printed(Scene::Office, 90, [62.7, 27.4, 90.2]),
    printed(Scene::Office, 135, [139.2, 56.8, 196.0]),
];

const fn printed(scene: Scene, cells: u32, times: [f64; 3]) -> Printed {
    let [project, search, total] = times;
    Printed {
        scene,
        cells,
        project,
        search,
        total,
    }
}

impl Scene {
    fn name(self) -> &'static str {
        match self {
            Self::Maze => "maze",
            Self::Office => "office",
        }
    }

    fn world(self, seed: u64) -> BoxWorld {
        match self {
            Self::Maze => samples::maze(150.0, seed),
            Self::Office => samples::office(seed),
        }
    }

    /// Returns the body of the walking character.
    fn body(self) -> Body {
        // The maze is five times as large as the office, and so is the character.
        let width = match self {
            Self::Maze => 1.5,
            Self::Office => 0.5,
        };
        Body {
            length: width,
            width,
            height: 1.8,
            ground_clearance: 0.05,
        }
    }
}

/// A measured row beside the published one.
#[derive(Debug, Serialize)]
struct PlannerRow {
    scene: &'static str,
    cells: u32,
    boxes: usize,
    problems: u32,
    without_path: u32,
    project_ms: f64,
    search_ms: f64,
    total_ms: f64,
    median_ms: f64,
    p99_ms: f64,
    source_project_ms: f64,
    source_search_ms: f64,
    source_total_ms: f64,
    /// Speed as a multiple of the published figure.
    faster: f64,
}

/// Report of `bench planners`.
#[derive(Debug, Serialize)]
struct Report {
    seed: u64,
    rows: Vec<PlannerRow>,
    drivable: Drivable,
    crowd: Crowd,
    walkers: Walkers,
    aims: Vec<Aim>,
    incremental: edits::Report,
}

/// Measured figures of the planner `drivable_path`.
#[derive(Debug, Serialize)]
struct Drivable {
    /// Number of problems that the first curve from start to goal does not solve.
    problems: u32,
    /// Number of problems that the first curve from start to goal solves. They are not in `problems`.
    direct: u32,
    /// Number of problems for which no path was found within the budget. It includes problems that
    /// have no path.
    failed: u32,
    /// Share of the problems that were solved.
    success: f64,
    median_ms: f64,
    p99_ms: f64,
    /// Median number of poses expanded for a problem.
    expanded: u64,
}

/// A measured figure and its target.
#[derive(Debug, Serialize)]
struct Aim {
    what: &'static str,
    value: f64,
    aim: f64,
    unit: &'static str,
    /// Whether the target is an upper or a lower limit.
    bound: &'static str,
}

pub(super) fn bench(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut rows = Vec::new();
    if !arguments.json {
        let mut out = terminal::out();
        writeln!(
            out,
            "seed {}; means of {} problems, ms",
            arguments.seed, arguments.problems
        )?;
        writeln!(
            out,
            "scene   cells      boxes no path  project search  total median    p99   1998: project search  total  faster"
        )?;
    }
    for printed in &PRINTED {
        let row = measure(printed, arguments)?;
        if !arguments.json {
            print_row(&row)?;
        }
        rows.push(row);
    }
    let drivable = measure_drivable(arguments)?;
    if !arguments.json {
        let mut out = terminal::out();
        writeln!(
            out,
            "drivable_path, 384 x 384 cells, 72 headings: {} problems and {} solved by the first curve; success {:.1} %, \
median {:.2} ms, p99 {:.2} ms, median of expanded poses {}",
            drivable.problems,
            drivable.direct,
            100.0 * drivable.success,
            drivable.median_ms,
            drivable.p99_ms,
            drivable.expanded
        )?;
    }
    let crowd = crowd::measure(arguments.seed, arguments.problems)?;
    if !arguments.json {
        let mut out = terminal::out();
        writeln!(
            out,
            "{} agents planning 6 times a second, {} steps of 1/60 s: planning {:.2} ms on \
average, 99.9th percentile {:.2} ms; whole steps {:.2} and {:.2} ms; {} agents with contacts",
            crowd.agents,
            crowd.steps,
            crowd.mean_ms,
            crowd.p999_ms,
            crowd.step_mean_ms,
            crowd.step_p999_ms,
            crowd.contacts
        )?;
    }
    let walkers = walkers::measure(arguments.seed, arguments.problems)?;
    if !arguments.json {
        let mut out = terminal::out();
        writeln!(
            out,
            "{} characters, {} steps of 1/60 s: following {:.2} ms and feet {:.2} ms on average; whole steps with \
planning {:.2} ms",
            walkers.characters,
            walkers.steps,
            walkers.following_ms,
            walkers.feet_ms,
            walkers.step_ms
        )?;
    }
    let map = edits::generated(arguments.seed)?;
    let changes = CHANGES.min(arguments.problems);
    let incremental = edits::measure(map, CHANGED_CELLS, changes, arguments.seed)?;
    let mut aims = aims(&rows, &incremental);
    aims.extend(drivable.aims());
    aims.extend(crowd_aims(&crowd));
    aims.push(walkers_aim(&walkers));
    if arguments.json {
        print_json(&Report {
            seed: arguments.seed,
            rows,
            drivable,
            crowd,
            walkers,
            aims,
            incremental: incremental.without_rows(),
        })?;
        return Ok(Outcome::Fine);
    }
    let mut out = terminal::out();
    for aim in &aims {
        writeln!(
            out,
            "{:<60} {:>8.4} {:<2} target: {} {}",
            aim.what, aim.value, aim.unit, aim.bound, aim.aim
        )?;
    }
    Ok(Outcome::Fine)
}

fn print_row(row: &PlannerRow) -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(
        out,
        "{:<7} {:>3} x {:<3} {:>6} {:>7}  {:>7.3} {:>6.3} {:>6.3} {:>6.3} {:>6.3}   {:>13.1} {:>6.1} {:>6.1} {:>7.0}",
        row.scene,
        row.cells,
        row.cells,
        row.boxes,
        row.without_path,
        row.project_ms,
        row.search_ms,
        row.total_ms,
        row.median_ms,
        row.p99_ms,
        row.source_project_ms,
        row.source_search_ms,
        row.source_total_ms,
        row.faster
    )?;
    out.flush()?;
    Ok(())
}

fn aims(rows: &[PlannerRow], incremental: &edits::Report) -> Vec<Aim> {
    let row = |scene: &str, cells| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row.scene == scene && row.cells == cells);
        row.map_or(f64::NAN, |row| row.median_ms)
    };
    vec![
        Aim {
            what: "maze 150 x 150, projection and search, median",
            value: row("maze", 150),
            aim: AIM,
            unit: "ms",
            bound: AT_MOST,
        },
        Aim {
            what: "office 135 x 135, projection and search, median",
            value: row("office", 135),
            aim: AIM,
            unit: "ms",
            bound: AT_MOST,
        },
        Aim {
            what: "D* Lite on 1000 x 1000 cells, expansions as a share of A*'s",
            value: incremental.ratio,
            aim: LARGEST_RATIO,
            unit: "",
            bound: AT_MOST,
        },
    ]
}

fn crowd_aims(crowd: &Crowd) -> [Aim; 2] {
    [
        Aim {
            what: "100 agents planning 6 times a second, mean time per step",
            value: crowd.mean_ms,
            aim: crowd::AIM_MEAN,
            unit: "ms",
            bound: AT_MOST,
        },
        Aim {
            what: "100 agents planning 6 times a second, 99.9th percentile",
            value: crowd.p999_ms,
            aim: crowd::AIM_P999,
            unit: "ms",
            bound: AT_MOST,
        },
    ]
}

fn walkers_aim(walkers: &Walkers) -> Aim {
    Aim {
        what: "1000 characters without planning, mean time per step",
        value: walkers.mean(),
        aim: walkers::AIM_MEAN,
        unit: "ms",
        bound: AT_MOST,
    }
}

/// A scene set up as a map, with one map item for each box.
struct Stage {
    world: BoxWorld,
    ground: OpenGround,
    items: Vec<ItemId>,
    profile: ProfileId,
    cells: u32,
}

impl Stage {
    fn new(printed: &Printed, seed: u64) -> anyhow::Result<Self> {
        let world = printed.scene.world(seed);
        let mut ground = OpenGround::new();
        let size =
            CellSize::new(world.edge / f64::from(printed.cells)).context("invalid cell size")?;
        let profile = ground.add_profile(Profile {
            costs: ObstacleCosts::NONE,
            ..Profile::new(printed.scene.body(), size)
        });
        let items = world.boxes.iter().map(|shape| ground.insert(shape.item()));
        let items = items.collect::<Result<_, _>>()?;
        Ok(Self {
            world,
            ground,
            items,
            profile,
            cells: printed.cells,
        })
    }

    /// Moves some of the boxes at random.
    fn stir(&mut self, stream: &mut Stream) -> anyhow::Result<()> {
        for _ in 0..self.items.len() / MOVED {
            let at = stream.next_index(self.items.len());
            let mut along = || stream.next_in(-FARTHEST, FARTHEST);
            let by = DVec2::new(along(), along());
            let moved = self.world.boxes[at].shifted(by);
            self.ground.replace(self.items[at], moved.item())?;
        }
        Ok(())
    }

    /// Builds the map from scratch.
    fn project(&mut self) -> anyhow::Result<GridMap> {
        let window = Window {
            origin: Cell::default(),
            columns: self.cells,
            rows: self.cells,
        };
        self.ground.drop_tiles();
        Ok(self
            .ground
            .window(self.profile, None, Reading::Everything, window)?)
    }
}

fn measure(printed: &Printed, arguments: &Arguments) -> anyhow::Result<PlannerRow> {
    let mut stage = Stage::new(printed, arguments.seed)?;
    let mut stream = Stream::new(
        arguments.seed,
        printed.scene.name(),
        u64::from(printed.cells),
    );
    let mut planner = GridPath::new(Rules::default(), Guide::AStar);
    let (mut projecting, mut searching) = (Times::default(), Times::default());
    let mut without_path = 0;
    for _ in 0..arguments.problems {
        if progress::interrupted() {
            bail!("interrupted");
        }
        stage.stir(&mut stream)?;
        let mut map = projecting.measure(|| stage.project())?;
        let full = "the map has too few free cells";
        let start = samples::free_cell(&map, &mut stream).context(full)?;
        let goal = samples::free_cell(&map, &mut stream).context(full)?;
        let answer = searching.measure(|| planner.find(&mut map, start, goal));
        without_path += u32::from(answer.path().is_none());
    }
    let total = projecting.plus(&searching);
    Ok(PlannerRow {
        scene: printed.scene.name(),
        cells: printed.cells,
        boxes: stage.world.boxes.len(),
        problems: arguments.problems,
        without_path,
        project_ms: projecting.mean(),
        search_ms: searching.mean(),
        total_ms: total.mean(),
        median_ms: total.median(),
        p99_ms: total.quantile(0.99),
        source_project_ms: printed.project,
        source_search_ms: printed.search,
        source_total_ms: printed.total,
        faster: printed.total / total.mean(),
    })
}

impl Drivable {
    fn aims(&self) -> [Aim; 3] {
        [
            Aim {
                what: "drivable_path, share of problems solved",
                value: self.success,
                aim: AIM_SOLVED,
                unit: "",
                bound: AT_LEAST,
            },
            Aim {
                what: "drivable_path, median",
                value: self.median_ms,
                aim: AIM_MEDIAN,
                unit: "ms",
                bound: AT_MOST,
            },
            Aim {
                what: "drivable_path, 99th percentile",
                value: self.p99_ms,
                aim: AIM_P99,
                unit: "ms",
                bound: AT_MOST,
            },
        ]
    }
}

/// Measures `drivable_path` with the jeep. Times include the estimates and all collision checks, but not the creation
/// of the map. Problems that the first curve solves are counted separately.
fn measure_drivable(arguments: &Arguments) -> anyhow::Result<Drivable> {
    let jeep = VehicleType::willys_mb();
    let vehicle = DrivableVehicle {
        length: jeep.length.get(),
        width: jeep.width.get(),
        centre: jeep.body_centre(),
        curvature: 1.0 / jeep.min_turning_radius(),
        reverses: true,
        trailer: None,
    };
    let mut times = Times::default();
    let mut expanded = Vec::new();
    let (mut direct, mut failed) = (0, 0);
    let maps = arguments.problems.div_ceil(TRIPS_PER_MAP);
    for map in 0..maps {
        let seed = arguments.seed.wrapping_add(u64::from(map));
        let mut problems = DrivableProblems::new(body_of(&jeep), vehicle, seed)?;
        for _ in 0..TRIPS_PER_MAP.min(arguments.problems - map * TRIPS_PER_MAP) {
            if progress::interrupted() {
                bail!("interrupted");
            }
            let trip = problems
                .draw()
                .context("the map has too few free positions")?;
            let ground = problems.ground();
            let begun = ProcessTime::now();
            let mut search = DrivableSearch::new(ground, trip, DrivableSettings::default());
            let found = search.advance(ground, MOST_POSES);
            let time = begun.elapsed();
            if search.is_direct() {
                direct += 1;
                continue;
            }
            times.add(time);
            expanded.push(search.expanded());
            failed += u32::from(found != DrivableProgress::Found);
        }
    }
    expanded.sort_unstable();
    let problems = expanded.len() as u32;
    Ok(Drivable {
        problems,
        direct,
        failed,
        success: 1.0 - f64::from(failed) / f64::from(problems.max(1)),
        median_ms: times.median(),
        p99_ms: times.quantile(0.99),
        expanded: expanded.get(expanded.len() / 2).copied().unwrap_or(0),
    })
}
