//! `roadwright plan grid --edits N`: D* Lite compared with A* on a changing map.

use super::{Grid, Times};
use crate::commands::print_json;
use crate::{Outcome, progress, terminal};
use anyhow::{Context, bail};
use cpu_time::ProcessTime;
use roadwright_geometry::math::Stream;
use roadwright_planning::open_ground::{
    Cell, FactorChange, GridAnswer, GridMap, GridPath, Guide, IncrementalPath, Rules, samples,
};
use serde::Serialize;
use std::io::Write;

/// Edge length of the generated map, cells.
const EDGE: u32 = 1000;
/// Fraction of the cells that are blocked by rectangles.
const SHARE: f64 = 0.15;
/// Maximum edge length of a rectangle, cells.
const LARGEST: u32 = 40;
/// Cost factor of a cell that was freed.
const FREE: u32 = 16;

/// Results of planning after one change of the map.
#[derive(Debug, Serialize)]
struct EditRow {
    /// Cost of the path; `None` if there is none.
    cost: Option<u64>,
    incremental_expanded: u64,
    incremental_ms: f64,
    a_star_expanded: u64,
    a_star_ms: f64,
    restarted: bool,
}

/// Results of all changes.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    seed: u64,
    columns: u32,
    rows: u32,
    /// Number of cells that each change affects.
    cells: u32,
    changes: usize,
    /// Number of changes that left no path.
    without_path: usize,
    /// Number of changes after which the two planners found paths of different cost.
    pub(crate) differing: usize,
    incremental_mean: f64,
    incremental_p99: u64,
    incremental_max: u64,
    a_star_mean: f64,
    /// Mean number of cells expanded by D* Lite, divided by the mean for A*.
    pub(crate) ratio: f64,
    incremental_median_ms: f64,
    incremental_p99_ms: f64,
    a_star_median_ms: f64,
    a_star_p99_ms: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<EditRow>,
}

pub(super) fn run(arguments: &Grid, cells: u32) -> anyhow::Result<Outcome> {
    progress::catch_interrupt();
    let map = match &arguments.map {
        Some(file) => super::grid::read_map(file)?,
        None => generated(arguments.seed)?,
    };
    let report = measure(map, cells, arguments.times, arguments.seed)?;
    if arguments.json {
        print_json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(Outcome::of(report.differing == 0))
}

/// Generates the map that is used if none is given.
pub(crate) fn generated(seed: u64) -> anyhow::Result<GridMap> {
    samples::rectangles(EDGE, EDGE, SHARE, LARGEST, seed).context("cannot create the map")
}

/// Changes cells of a map repeatedly while the start moves along the path, and measures both planners.
pub(crate) fn measure(map: GridMap, cells: u32, times: u32, seed: u64) -> anyhow::Result<Report> {
    let mut stream = Stream::new(seed, "plan grid edits", 0);
    let no_cell = "the map has too few free cells";
    let [mut start, goal] = samples::far_cells(&map).context(no_cell)?;
    let rules = Rules::default();
    let mut scratch = map.clone();
    let [columns, rows] = [map.columns(), map.rows()];
    let mut a_star = GridPath::new(rules, Guide::AStar);
    let mut incremental = IncrementalPath::new(map, rules, goal);
    let mut answer = incremental.plan(start);
    let (mut own_times, mut other_times) = (Times::default(), Times::default());
    let mut edits = Vec::new();
    let mut differing = 0;
    for _ in 0..times {
        if progress::interrupted() {
            bail!("interrupted");
        }
        start = next_cell(&answer, start);
        if start == goal {
            start = samples::free_cell(&scratch, &mut stream).context(no_cell)?;
        }
        let changes = draw(&scratch, cells, [start, goal], &mut stream);
        let cpu = ProcessTime::now();
        incremental.change(&changes);
        answer = incremental.plan(start);
        let own = cpu.elapsed();
        let cpu = ProcessTime::now();
        for change in &changes {
            scratch.set(change.cell, change.factor);
        }
        let expected = a_star.find(&mut scratch, start, goal);
        let other = cpu.elapsed();
        differing += usize::from(answer.cost() != expected.cost());
        own_times.add(own);
        other_times.add(other);
        edits.push(EditRow {
            cost: answer.cost(),
            incremental_expanded: incremental.expanded(),
            incremental_ms: own.as_secs_f64() * 1e3,
            a_star_expanded: a_star.expanded(),
            a_star_ms: other.as_secs_f64() * 1e3,
            restarted: incremental.restarted().is_some(),
        });
    }
    let mut own: Vec<u64> = edits.iter().map(|row| row.incremental_expanded).collect();
    own.sort_unstable();
    let last = own.len().saturating_sub(1);
    let at = |share: f64| own.get((last as f64 * share).round() as usize).copied();
    let mean = |sum: u64| sum as f64 / f64::from(times);
    let own_mean = mean(own.iter().sum());
    let other_mean = mean(edits.iter().map(|row| row.a_star_expanded).sum());
    Ok(Report {
        seed,
        columns,
        rows,
        cells,
        changes: edits.len(),
        without_path: edits.iter().filter(|row| row.cost.is_none()).count(),
        differing,
        incremental_mean: own_mean,
        incremental_p99: at(0.99).unwrap_or(0),
        incremental_max: at(1.0).unwrap_or(0),
        a_star_mean: other_mean,
        ratio: own_mean / other_mean.max(1.0),
        incremental_median_ms: own_times.median(),
        incremental_p99_ms: own_times.quantile(0.99),
        a_star_median_ms: other_times.median(),
        a_star_p99_ms: other_times.quantile(0.99),
        edits,
    })
}

impl Report {
    /// Returns the report without its rows, which describe single changes.
    pub(crate) fn without_rows(self) -> Self {
        Self {
            edits: Vec::new(),
            ..self
        }
    }
}

/// Returns the next cell of a path.
fn next_cell(answer: &GridAnswer, start: Cell) -> Cell {
    let next = answer.path().and_then(|path| path.cells.get(1));
    next.copied().unwrap_or(start)
}

/// Chooses random cells other than start and goal. Free ones become blocked, and blocked ones become free.
fn draw(map: &GridMap, cells: u32, kept: [Cell; 2], stream: &mut Stream) -> Vec<FactorChange> {
    let drawn = (0..cells).map(|_| samples::any_cell(map, stream));
    let drawn = drawn.filter(|cell| !kept.contains(cell));
    let change = |cell| FactorChange {
        cell,
        factor: if map.factor_at(cell) == 0 { FREE } else { 0 },
    };
    drawn.map(change).collect()
}

fn print(report: &Report) -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(
        out,
        "{} x {} cells, {} changed at a time, seed {}",
        report.columns, report.rows, report.cells, report.seed
    )?;
    writeln!(
        out,
        "edit      cost  D* Lite: cells       ms  A*: cells       ms"
    )?;
    for (at, row) in report.edits.iter().enumerate() {
        let cost = row.cost.map_or("none".to_owned(), |cost| cost.to_string());
        writeln!(
            out,
            "{:>4} {cost:>9} {:>15} {:>8.3} {:>10} {:>8.3}",
            at + 1,
            row.incremental_expanded,
            row.incremental_ms,
            row.a_star_expanded,
            row.a_star_ms
        )?;
    }
    writeln!(
        out,
        "D* Lite against A*: mean {:.1} against {:.1} cells, ratio {:.4}, p99 {}, maximum {}; \
         median {:.3} against {:.3} ms; {} without a path, {} with different costs",
        report.incremental_mean,
        report.a_star_mean,
        report.ratio,
        report.incremental_p99,
        report.incremental_max,
        report.incremental_median_ms,
        report.a_star_median_ms,
        report.without_path,
        report.differing
    )?;
    Ok(())
}
