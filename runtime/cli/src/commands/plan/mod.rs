//! `roadwright plan`: plans the path of a trip in a scenario, or paths on a grid map.

pub(super) mod edits;
mod figures;
mod grid;
mod grid_planner;
mod trip;

pub(crate) use figures::Times;

use crate::Outcome;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `roadwright plan`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Exit code 1, with the reason, if there is no path or the search did not \
                  finish.\nExamples:\n  roadwright plan \
town.scenario.json --from -20,5 --to 80,40,1.57\n  roadwright plan town.scenario.json --agent 7 --at 30 --picture plan.png\n  \
roadwright plan grid maze512-8-0.map --scen maze512-8-0.map.scen"
)]
pub(crate) struct Plan {
    #[command(subcommand)]
    verb: Option<PlanVerb>,
    #[command(flatten)]
    trip: trip::Arguments,
}

/// Subcommands of `roadwright plan`.
#[derive(Debug, Subcommand)]
enum PlanVerb {
    /// Solve the problems of a Moving AI benchmark map, or repair a plan while the map changes
    Grid(Grid),
}

/// Arguments of `roadwright plan grid`.
#[derive(Debug, Args)]
#[command(
    after_help = "Steps cost 1 and the square root of 2, and do not cut corners. Exit code 1 if a problem of the file \
has no path, or if a path is longer than the file states.\nWith --edits the map is changed repeatedly \
while the start moves along its path from one corner to the other; each time D* Lite repairs its plan and A* plans from scratch. Exit code 1 if \
they disagree.\nExamples:\n  roadwright plan grid maze512-8-0.map --scen maze512-8-0.map.scen\n  roadwright plan grid \
--edits 20 --seed 1"
)]
struct Grid {
    /// Map file, NAME.map [default with --edits: 1000 x 1000 cells, 15 % of them blocked by rectangles]
    #[arg(required_unless_present = "edits")]
    map: Option<PathBuf>,
    /// File with the problems of the map, NAME.map.scen
    #[arg(long, value_name = "FILE", required_unless_present = "edits")]
    scen: Option<PathBuf>,
    /// Planner that solves the problems
    #[arg(long, value_enum, default_value_t = Planner::GridPath, conflicts_with = "edits", value_name = "ID")]
    planner: Planner,
    /// Maximum number of cells that each search of hybrid_fuzzy_path expands
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u64).range(8..=10_000_000), value_name = "N")]
    budget: u64,
    /// Repair a plan after changes of the map that affect this number of cells each
    #[arg(long, conflicts_with = "scen", value_parser = clap::value_parser!(u32).range(1..=1_000_000), value_name = "N")]
    edits: Option<u32>,
    /// Number of changes of the map
    #[arg(long, requires = "edits", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    times: u32,
    /// Seed of the random map, start, goal and changes
    #[arg(long, requires = "edits", default_value_t = 1)]
    seed: u64,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

/// Planners for open ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Planner {
    /// A*
    GridPath,
    /// Dijkstra's algorithm
    Dijkstra,
    /// Costs from all cells to the goal
    FlowField,
    /// D* Lite
    IncrementalPath,
    /// Learning searches of bounded size; reports the path that an agent would drive
    HybridFuzzyPath,
}

impl Planner {
    fn name(self) -> &'static str {
        match self {
            Self::GridPath => "grid_path",
            Self::Dijkstra => "dijkstra",
            Self::FlowField => "flow_field",
            Self::IncrementalPath => "incremental_path",
            Self::HybridFuzzyPath => "hybrid_fuzzy_path",
        }
    }
}

pub(crate) fn plan(arguments: &Plan) -> anyhow::Result<Outcome> {
    match &arguments.verb {
        Some(PlanVerb::Grid(arguments)) => match arguments.edits {
            Some(cells) => edits::run(arguments, cells),
            None => grid::run(arguments),
        },
        None => trip::run(&arguments.trip),
    }
}
