//! `roadwright bench move-trees`: repeats the experiments of [Adam 2007], tables 4.1 to 4.8, from many starts.

mod free_ground;
mod reproduced;
mod statements;

pub(super) use reproduced::tables;

use super::arguments::{MoveTable, MoveTrees as Arguments};
use super::course::threads;
use crate::commands::print_json;
use crate::{Outcome, progress, terminal};
use anyhow::{Context, bail};
use cpu_time::ThreadTime;
use rayon::prelude::*;
use roadwright_moves::{
    Bounded, Course, DriveFigures, Ending, Library, Played, Preset, Printed, SlidingCar,
    StateNumber, Stop, SweepKind, Table, TableRow, UNPRINTED_LIMIT,
};
use serde::Serialize;
use std::io::Write;

/// Minimum duration of sliding that counts as a skid at a sharp corner, s.
const SKID_COUNTS: f64 = 0.3;
/// Prefix of the names of skids in the shipped trees.
const SKID: &str = "skid";

/// Results for a row of a table, beside the values printed in the source.
#[derive(Debug, Serialize)]
struct MeasuredRow {
    table: &'static str,
    row: u32,
    /// Whether the row is an additional control that the source does not have.
    is_control: bool,
    track: &'static str,
    tree: &'static str,
    frames: u32,
    /// Number of moves of 25 frames up to the horizon; `null` for trees whose moves have different lengths.
    depth: Option<u32>,
    /// Maximum number of nodes; `null` if the source prints none.
    limit: Option<u32>,
    starts: u32,
    crashed: u32,
    arrived: u32,
    /// Number of drives that lasted until the time limit of the course.
    survived: u32,
    /// Median duration of all drives, s.
    median_s: f64,
    /// Quartiles of the duration of all drives, s.
    quartiles_s: [f64; 2],
    /// Median duration of the drives that arrived, s.
    finish_s: Option<f64>,
    source: String,
    source_s: Option<f64>,
    plans: u32,
    nodes_per_plan: f64,
    most_nodes: u32,
    /// Mean number of nodes per plan when the first free leaf was reached.
    nodes_to_leaf_per_plan: f64,
    /// Number of plans without a free move.
    without_path: u32,
    ms_per_plan: f64,
    /// Number of drives that skidded at a sharp corner with a slip of more than 20 degrees for 0.3 s.
    skids_at_corner: u32,
    /// Median time spent near sharp corners by the drives that arrived, s.
    at_corner_s: Option<f64>,
    /// Maximum difference of the motion at a seam between moves.
    worst_seam: f64,
    /// Number of times that a clip was aligned with its vehicle again, because the vehicle was more
    /// than 0.5 m or 5 degrees away from it. 0 if frames are played.
    corrections: u32,
    /// Maximum distance of a vehicle from its clip, m.
    worst_distance: f64,
    /// Maximum difference between the headings of a vehicle and its clip, rad.
    worst_heading: f64,
    /// Wall time of a drive on one thread, s.
    run_s: f64,
}

/// Report of the benchmark: its rows, and statements about them.
#[derive(Debug, Serialize)]
struct Report {
    starts: u32,
    source_sweep: bool,
    replayed: bool,
    rows: Vec<MeasuredRow>,
    statements: Vec<statements::Statement>,
}

pub(super) fn bench(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(count) = arguments.free_ground {
        return free_ground::bench(count, arguments);
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads(arguments.threads))
        .build()
        .context("cannot start threads")?;
    if !arguments.json {
        print_head()?;
    }
    let mut rows = Vec::new();
    for table in Table::ALL {
        if arguments
            .table
            .is_some_and(|asked| table_of(asked) != table)
        {
            continue;
        }
        for (number, printed) in (1u32..).zip(table.rows().chain(table.controls())) {
            if arguments.row.is_some_and(|row| row != number) {
                continue;
            }
            let row = pool.install(|| measure(printed, number, arguments))?;
            if !arguments.json {
                print_row(&row)?;
            }
            rows.push(row);
        }
    }
    if rows.is_empty() {
        bail!("no such row in the table");
    }
    // The statements are about drives that play frames, as in the source.
    let statements = if arguments.row.is_none() && !arguments.replayed {
        statements::of(&rows)
    } else {
        Vec::new()
    };
    let fails = statements.iter().any(|one| !one.holds);
    if arguments.json {
        print_json(&Report {
            starts: arguments.starts,
            source_sweep: arguments.source_sweep,
            replayed: arguments.replayed,
            rows,
            statements,
        })?;
    } else {
        let mut out = terminal::out();
        for one in &statements {
            let holds = if one.holds { "holds" } else { "does not hold" };
            writeln!(out, "{}: {}: {holds}", one.table, one.statement)?;
        }
    }
    Ok(if fails {
        Outcome::Findings
    } else {
        Outcome::Fine
    })
}

fn table_of(table: MoveTable) -> Table {
    match table {
        MoveTable::T41 => Table::T41,
        MoveTable::T42 => Table::T42,
        MoveTable::T43 => Table::T43,
        MoveTable::T44 => Table::T44,
        MoveTable::T45 => Table::T45,
        MoveTable::T46 => Table::T46,
        MoveTable::T47 => Table::T47,
        MoveTable::T48 => Table::T48,
    }
}

/// Result of a drive from one start.
struct Drive {
    ending: Ending,
    /// Time at which the drive ended, s.
    time: f64,
    figures: DriveFigures,
    /// Whether the vehicle has skidded.
    has_skidded: bool,
    /// CPU time of planning, and CPU time of the whole drive, s.
    planning: f64,
    cpu: f64,
}

/// A move tree that is ready for planning, with its start state.
struct Tree {
    library: Library,
    start: StateNumber,
}

impl Tree {
    fn of(preset: Preset, kind: SweepKind) -> anyhow::Result<Self> {
        let recorded = preset.record();
        let library = recorded.graph.library(&recorded.clips, kind);
        Ok(Self {
            library: library.context("the tree cannot be used")?,
            start: recorded.graph.start_state(),
        })
    }
}

/// Returns the sliding car that recorded the trees.
fn racer() -> anyhow::Result<SlidingCar> {
    let found = crate::commands::vehicle::find_with_text("sliding-racer")?;
    SlidingCar::of_file(&found.file)
        .context("the sliding racer has no parameters for the level sliding")
}

fn measure(printed: &TableRow, number: u32, arguments: &Arguments) -> anyhow::Result<MeasuredRow> {
    let course = printed.track.course();
    let kind = if arguments.source_sweep {
        SweepKind::Source
    } else {
        SweepKind::Exact
    };
    let tree = Tree::of(printed.tree, kind)?;
    let car = match arguments.replayed {
        true => Some(racer()?),
        false => None,
    };
    let bounded = Bounded {
        horizon: printed.frames,
        limit: printed.limit.unwrap_or(UNPRINTED_LIMIT),
        stop: if arguments.first_leaf {
            Stop::AtLeaf
        } else {
            Stop::AtLimit
        },
        phase: arguments.collisions.phase(),
    };
    let driver = Driver {
        tree,
        car,
        bounded,
        detours: arguments.detours,
    };
    let starts = 1..=u64::from(arguments.starts);
    let drives: Vec<Option<Drive>> = starts
        .into_par_iter()
        .map(|seed| drive(&driver, &course.with_seed(seed)))
        .collect();
    let drives: Option<Vec<Drive>> = drives.into_iter().collect();
    let Some(drives) = drives else {
        bail!("interrupted");
    };
    Ok(row_of(printed, number, &course, &drives))
}

/// A move tree, and the vehicle and search settings that are used to drive it.
struct Driver {
    tree: Tree,
    /// The vehicle, if it is driven by its own model.
    car: Option<SlidingCar>,
    bounded: Bounded,
    /// Whether the heuristic includes detours.
    detours: bool,
}

/// Drives from a start until the drive ends; `None` if it was interrupted.
fn drive(driver: &Driver, course: &Course) -> Option<Drive> {
    let tree = &driver.tree;
    let begun = ThreadTime::now();
    let mut planning = 0.0;
    let mut played = Played::new(&tree.library, course, tree.start, driver.bounded);
    if let Some(car) = &driver.car {
        played = played.replayed(car);
    }
    if driver.detours {
        played = played.with_detours();
    }
    loop {
        if progress::interrupted() {
            return None;
        }
        let before = ThreadTime::now();
        played.plan();
        planning += before.elapsed().as_secs_f64();
        if let Some(ending) = played.play() {
            let mut made = played.made.iter();
            return Some(Drive {
                ending,
                has_skidded: made.any(|&one| tree.library.get(one).name.starts_with(SKID)),
                time: played.time(),
                figures: played.figures,
                planning,
                cpu: begun.elapsed().as_secs_f64(),
            });
        }
    }
}

fn row_of(printed: &TableRow, number: u32, course: &Course, drives: &[Drive]) -> MeasuredRow {
    let count = |ending| drives.iter().filter(|one| one.ending == ending).count() as u32;
    let times = sorted(drives.iter().map(|one| one.time));
    let arrived = || drives.iter().filter(|one| one.ending == Ending::Arrived);
    let finish = sorted(arrived().map(|one| one.time));
    let at_corner = sorted(arrived().map(|one| one.figures.at_corner));
    let skids =
        |one: &&Drive| one.has_skidded && one.figures.longest_skid_at_corner > SKID_COUNTS - 0.001;
    let is_small = matches!(printed.tree, Preset::Five | Preset::Seven);
    let sum = |of: fn(&Drive) -> f64| drives.iter().map(of).sum::<f64>();
    let plans = sum(|one| f64::from(one.figures.plans)).max(1.0);
    let worst = |of: fn(&DriveFigures) -> f64| {
        let values = drives.iter().map(|one| of(&one.figures));
        values.fold(0.0, f64::max)
    };
    MeasuredRow {
        table: printed.table.number(),
        row: number,
        is_control: printed.table.rows().all(|row| row != printed),
        track: printed.track.name(),
        tree: printed.tree.name(),
        frames: printed.frames,
        depth: is_small.then(|| printed.frames.div_ceil(25)),
        limit: printed.limit,
        starts: drives.len() as u32,
        crashed: count(Ending::Crash),
        arrived: count(Ending::Arrived),
        survived: count(Ending::TimeUp),
        median_s: quantile(&times, 0.5).unwrap_or(course.seconds),
        quartiles_s: [0.25, 0.75].map(|share| quantile(&times, share).unwrap_or(course.seconds)),
        finish_s: quantile(&finish, 0.5),
        source: words(printed.printed),
        source_s: seconds(printed.printed),
        plans: plans as u32,
        nodes_per_plan: sum(|one| one.figures.nodes as f64) / plans,
        most_nodes: drives
            .iter()
            .map(|one| one.figures.most_nodes)
            .max()
            .unwrap_or(0),
        nodes_to_leaf_per_plan: sum(|one| one.figures.nodes_to_leaf as f64) / plans,
        without_path: sum(|one| f64::from(one.figures.without_path)) as u32,
        ms_per_plan: 1e3 * sum(|one| one.planning) / plans,
        skids_at_corner: drives.iter().filter(skids).count() as u32,
        at_corner_s: quantile(&at_corner, 0.5).filter(|_| !course.sharp.is_empty()),
        worst_seam: worst(|figures| figures.worst_seam),
        corrections: drives.iter().map(|one| one.figures.corrections).sum(),
        worst_distance: worst(|figures| figures.worst_distance),
        worst_heading: worst(|figures| figures.worst_heading),
        run_s: sum(|one| one.cpu) / drives.len() as f64,
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns a quantile of sorted values; `None` if there are none. If the quantile lies between two values, returns
/// their mean.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let [low, high] = [place.floor(), place.ceil()].map(|at| sorted[at as usize]);
    Some(0.5 * (low + high))
}

fn seconds(printed: Printed) -> Option<f64> {
    match printed {
        Printed::CrashAfter(time) | Printed::Finish(time) => Some(time),
        Printed::Crash | Printed::Survives | Printed::Skids | Printed::Fails | Printed::Nothing => {
            None
        }
    }
}

fn words(printed: Printed) -> String {
    match printed {
        Printed::CrashAfter(time) => format!("crash at {time}"),
        Printed::Crash => "crash".to_owned(),
        Printed::Finish(time) => format!("finish {time}"),
        Printed::Survives => "no crash within 120".to_owned(),
        Printed::Skids => "skids".to_owned(),
        Printed::Fails => "no path".to_owned(),
        Printed::Nothing => "-".to_owned(),
    }
}

fn print_head() -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(
        out,
        "times in simulated seconds; several drives per row from different starts, where the \
         source has one"
    )?;
    writeln!(
        out,
        "{:<5} {:<13} {:<19} {:>6} {:>7} {:>5} {:>6} {:>7} {:>8} {:>7} {:>15} {:>7}  {:<16} {:>5} {:>9} {:>5} {:>10} {:>9} {:>8} {:>7}",
        "table",
        "track",
        "tree",
        "frames",
        "limit",
        "depth",
        "crash",
        "arrive",
        "survive",
        "median",
        "quartiles",
        "finish",
        "source",
        "skids",
        "at corner",
        "seam",
        "nodes/plan",
        "to leaf",
        "ms/plan",
        "run"
    )?;
    Ok(())
}

fn print_row(row: &MeasuredRow) -> anyhow::Result<()> {
    let mut out = terminal::out();
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    writeln!(
        out,
        "{:<5} {:<13} {:<19} {:>6} {:>7} {:>5} {:>6} {:>7} {:>8} {:>7.1} {:>7.1} {:>7.1} {:>7}  {:<16} {:>5} {:>9} {:>5.2} {:>10.0} {:>9.0} {:>8.2} {:>7.2}",
        row.table,
        row.track,
        row.tree,
        row.frames,
        or_dash(row.limit.map(|limit| limit.to_string())),
        or_dash(row.depth.map(|depth| depth.to_string())),
        row.crashed,
        row.arrived,
        row.survived,
        row.median_s,
        row.quartiles_s[0],
        row.quartiles_s[1],
        or_dash(row.finish_s.map(|time| format!("{time:.1}"))),
        row.source,
        or_dash(row.at_corner_s.map(|_| row.skids_at_corner.to_string())),
        or_dash(row.at_corner_s.map(|time| format!("{time:.2}"))),
        row.worst_seam,
        row.nodes_per_plan,
        row.nodes_to_leaf_per_plan,
        row.ms_per_plan,
        row.run_s
    )?;
    if row.worst_distance > 0.0 {
        writeln!(
            out,
            "      at most {:.2} m and {:.1} degrees from the clips, {} corrections in {} plans",
            row.worst_distance,
            row.worst_heading.to_degrees(),
            row.corrections,
            row.plans
        )?;
    }
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.5), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.5), Some(1.5));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0, 16.0], 0.25), Some(2.0));
    }
}
