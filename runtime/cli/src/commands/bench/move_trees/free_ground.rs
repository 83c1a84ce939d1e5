//! Drives on ground without obstacles, with the model of the sliding car and without replanning.

use super::{Arguments, SKID, Tree, quantile, racer, sorted, threads};
use crate::commands::print_json;
use crate::{Outcome, progress, terminal};
use anyhow::{Context, bail};
use rayon::prelude::*;
use roadwright_moves::{Bounded, FreeDrive, FreeGround, Phase, Preset, Route, Stop, SweepKind};
use serde::Serialize;
use std::io::Write;

/// Length of a drive, m.
const LENGTH: f64 = 100.0;
/// Limits of each search for a plan.
const BOUNDED: Bounded = Bounded {
    horizon: 400,
    limit: 5000,
    stop: Stop::AtLeaf,
    phase: Phase::Masks,
};
/// Share of the drives of the large trees that must end close to their routes.
const CLOSE: f64 = 0.95;

/// Results of the drives of one kind.
#[derive(Debug, Serialize)]
struct Row {
    tree: &'static str,
    /// Choice of the moves: `planned` or `random`.
    moves: &'static str,
    /// The subset of these drives: `all`, `with skids` or `without skids`.
    which: &'static str,
    drives: u32,
    /// Number of drives that end within 0.5 m and 5 degrees of their routes.
    close: u32,
    /// Distance from the route at the end: median, 95th percentile and maximum, m.
    distance_m: [f64; 3],
    /// Difference from the heading of the route at the end: median, 95th percentile and maximum, degrees.
    heading_deg: [f64; 3],
}

pub(super) fn bench(count: u32, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads(arguments.threads))
        .build()
        .context("cannot start threads")?;
    let mut rows = Vec::new();
    for (tree, route) in [
        (Preset::Large, Route::Planned),
        (Preset::Large, Route::Random),
        (Preset::LargeAngles, Route::Random),
        (Preset::Five, Route::Random),
        (Preset::Seven, Route::Random),
    ] {
        rows.extend(pool.install(|| measure(tree, route, count))?);
    }
    let is_large = |row: &&Row| row.tree.starts_with(Preset::Large.name());
    let mut large = rows.iter().filter(is_large);
    let fits = large.all(|row| f64::from(row.close) >= CLOSE * f64::from(row.drives));
    if arguments.json {
        print_json(&rows)?;
    } else {
        print(&rows)?;
    }
    Ok(Outcome::of(fits))
}

fn measure(preset: Preset, route: Route, count: u32) -> anyhow::Result<Vec<Row>> {
    let tree = Tree::of(preset, SweepKind::Exact)?;
    let car = racer()?;
    let ground = FreeGround {
        library: &tree.library,
        car: &car,
        length: LENGTH,
        route,
        bounded: BOUNDED,
    };
    let seeds = 1..=u64::from(count);
    let drives: Vec<Option<FreeDrive>> = seeds
        .into_par_iter()
        .map(|seed| (!progress::interrupted()).then(|| ground.drive(seed)))
        .collect();
    let drives: Option<Vec<FreeDrive>> = drives.into_iter().collect();
    let Some(drives) = drives else {
        bail!("interrupted");
    };
    let (skidding, rolling): (Vec<&FreeDrive>, Vec<&FreeDrive>) = drives.iter().partition(|one| {
        let mut moves = one.moves.iter();
        moves.any(|&number| tree.library.get(number).name.starts_with(SKID))
    });
    let row = |which: &'static str, drives: &[&FreeDrive]| Row {
        tree: preset.name(),
        moves: match route {
            Route::Planned => "planned",
            Route::Random => "random",
        },
        which,
        drives: drives.len() as u32,
        close: drives.iter().filter(|one| !one.end.is_large()).count() as u32,
        distance_m: spread(drives, |one| one.end.distance()),
        heading_deg: spread(drives, |one| one.end.heading.abs().to_degrees()),
    };
    let mut rows = vec![row("all", &drives.iter().collect::<Vec<_>>())];
    if !skidding.is_empty() {
        rows.push(row("with skids", &skidding));
        rows.push(row("without skids", &rolling));
    }
    Ok(rows)
}

/// Returns the median, 95th percentile and maximum of a quantity.
fn spread(drives: &[&FreeDrive], of: impl Fn(&FreeDrive) -> f64) -> [f64; 3] {
    let values = sorted(drives.iter().map(|one| of(one)));
    [0.5, 0.95, 1.0].map(|share| quantile(&values, share).unwrap_or(0.0))
}

fn print(rows: &[Row]) -> anyhow::Result<()> {
    let mut out = terminal::out();
    writeln!(
        out,
        "routes of {LENGTH} m on free ground, driven with the sliding-car model without \
         replanning; close: within 0.5 m and 5 degrees at the end"
    )?;
    writeln!(
        out,
        "{:<13} {:<8} {:<14} {:>6} {:>6} {:>7}  {:>22}  {:>22}",
        "tree",
        "moves",
        "drives",
        "number",
        "close",
        "%",
        "m: median, 95 %, max",
        "deg: median, 95 %, max"
    )?;
    for row in rows {
        let share = 100.0 * f64::from(row.close) / f64::from(row.drives.max(1));
        let [distance, heading] = [row.distance_m, row.heading_deg]
            .map(|[middle, most, worst]| format!("{middle:.3} {most:.3} {worst:.3}"));
        writeln!(
            out,
            "{:<13} {:<8} {:<14} {:>6} {:>6} {share:>7.1}  {distance:>22}  {heading:>22}",
            row.tree, row.moves, row.which, row.drives, row.close
        )?;
    }
    Ok(())
}
