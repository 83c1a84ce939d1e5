//! `roadwright plan grid MAP --scen SCEN`: solves the problems of a Moving AI benchmark.

use super::grid_planner::GridPlanner;
use super::{Grid, Times};
use crate::commands::print_json;
use crate::progress;
use crate::{Outcome, terminal};
use anyhow::{Context, bail};
use roadwright_planning::open_ground::GridMap;
use roadwright_planning::open_ground::moving_ai::{self, Problem};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Maximum size of a file, bytes. The largest map of the benchmarks has 4 million cells.
const LARGEST_FILE: u64 = 256 << 20;

/// Results for the problems of a map.
#[derive(Debug, Serialize)]
struct Report {
    planner: &'static str,
    problems: usize,
    /// Number of problems with a path.
    solved: usize,
    /// Number of problems whose path has the optimal length given in the file.
    optimal: usize,
    /// Total length of the paths divided by the total optimal length.
    length_ratio: f64,
    median_ms: f64,
    p99_ms: f64,
    expanded: u64,
}

pub(super) fn run(arguments: &Grid) -> anyhow::Result<Outcome> {
    let map_file = needed(arguments.map.as_deref(), "a map")?;
    let problem_file = needed(arguments.scen.as_deref(), "--scen")?;
    let map = read_map(map_file)?;
    let problems = moving_ai::read_problems(&read(problem_file)?)
        .with_context(|| format!("cannot read {}", problem_file.display()))?;
    check(&map, &problems, problem_file)?;
    progress::catch_interrupt();
    let report = solve(arguments, map, &problems)?;
    if arguments.json {
        print_json(&report)?;
    } else {
        let mut out = terminal::out();
        writeln!(out, "planner   {}", report.planner)?;
        writeln!(out, "problems  {}", report.problems)?;
        writeln!(out, "solved    {}", report.solved)?;
        writeln!(out, "optimal   {}", report.optimal)?;
        writeln!(
            out,
            "length    {:.4} times the shortest",
            report.length_ratio
        )?;
        writeln!(out, "median    {:.3} ms of CPU", report.median_ms)?;
        writeln!(out, "p99       {:.3} ms", report.p99_ms)?;
        writeln!(out, "expanded  {} cells", report.expanded)?;
    }
    let planner_is_exact = arguments.planner != super::Planner::HybridFuzzyPath;
    let is_fine = report.solved == report.problems
        && (report.optimal == report.problems || !planner_is_exact);
    Ok(Outcome::of(is_fine))
}

pub(super) fn read_map(file: &Path) -> anyhow::Result<GridMap> {
    moving_ai::read_map(&read(file)?).with_context(|| format!("cannot read {}", file.display()))
}

fn needed<'a>(file: Option<&'a Path>, what: &str) -> anyhow::Result<&'a Path> {
    file.with_context(|| format!("{what} is required"))
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    roadwright_files::read(file, LARGEST_FILE)
        .with_context(|| format!("cannot read {}", file.display()))
}

/// Checks that problems belong to the map.
fn check(map: &GridMap, problems: &[Problem], file: &Path) -> anyhow::Result<()> {
    if problems.is_empty() {
        bail!("{} contains no problems", file.display());
    }
    for (at, problem) in problems.iter().enumerate() {
        if [problem.columns, problem.rows] != [map.columns(), map.rows()] {
            bail!(
                "problem {} of {} is for a map of {} x {} cells called {}, but the map has {} x {}",
                at + 1,
                file.display(),
                problem.columns,
                problem.rows,
                PathBuf::from(&problem.map).display(),
                map.columns(),
                map.rows()
            );
        }
    }
    Ok(())
}

fn solve(arguments: &Grid, map: GridMap, problems: &[Problem]) -> anyhow::Result<Report> {
    let mut planner = GridPlanner::new(arguments.planner, map, arguments.budget);
    let mut times = Times::default();
    let (mut solved, mut optimal, mut expanded) = (0, 0, 0);
    let (mut length, mut shortest) = (0.0, 0.0);
    for problem in problems {
        if progress::interrupted() {
            bail!("interrupted");
        }
        let planned = times.measure(|| planner.find(problem.start, problem.goal));
        expanded += planned.expanded;
        if let Some(path) = planned.path {
            solved += 1;
            optimal += usize::from(problem.is_optimal(&path));
            length += path.length();
            shortest += problem.length;
        }
    }
    Ok(Report {
        planner: arguments.planner.name(),
        problems: problems.len(),
        solved,
        optimal,
        length_ratio: if shortest > 0.0 {
            length / shortest
        } else {
            1.0
        },
        median_ms: times.median(),
        p99_ms: times.quantile(0.99),
        expanded,
    })
}
