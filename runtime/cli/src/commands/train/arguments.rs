//! The command line of `roadwright train`.

use crate::arguments::ExtensionFlags;
use crate::commands::sampling::SampleFlags;
use clap::{Args, Subcommand};
use roadwright_scenario::DynamicsLevel;
use std::path::PathBuf;

/// Arguments of `roadwright train`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Training with --out or --resume can be stopped at any time; after --resume, the \
result is the same as without the interruption.\nExit code 1 if a module failed in a drive, which \
then has no result."
)]
pub(crate) struct Train {
    #[command(subcommand)]
    pub(crate) verb: Option<TrainVerb>,
    #[command(flatten)]
    pub(crate) run: TrainRun,
}

/// Subcommands of `roadwright train`.
#[derive(Debug, Subcommand)]
pub(crate) enum TrainVerb {
    /// Train with the sum of the genes as fitness, and compare the learning curves with published ones
    Study(Study),
    /// Compare the trained values with the initial ones, rule by rule, or champions with each other
    Compare(Compare),
    /// Compare trained drivers by time, felled obstacles and roll margin, and show the Pareto front
    Front(Front),
    /// Write the trained values into a stack of a scenario
    Apply(Apply),
    /// Repeat the training and the drives of a record and compare them bit by bit
    Verify(Verify),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct TrainRun {
    /// Experiment file
    #[arg(required_unless_present = "schema")]
    pub(crate) experiment: Option<PathBuf>,
    /// Number of generations [default: the experiment's]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) generations: Option<u32>,
    /// Seed of the training [default: the experiment's]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Number of threads; does not affect the result [default: one per core]
    #[arg(long)]
    pub(crate) workers: Option<usize>,
    /// Continue the training in --out, or start it if there is no record yet [default of --out:
    /// NAME.training.json beside the experiment]
    #[arg(long)]
    pub(crate) resume: bool,
    /// Keep the training record in this file, updated after each generation
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only, without progress and summary
    #[arg(long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print the JSON Schema of experiment files instead
    #[arg(long, conflicts_with_all = ["experiment", "json"])]
    pub(crate) schema: bool,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Study {
    /// Name of the study; without it all studies are listed
    pub(crate) name: Option<String>,
    /// Number of training seeds of each curve, 2 to 10000
    #[arg(long, default_value_t = 30)]
    pub(crate) seeds: usize,
    /// Number of generations of each training run on a course [default: 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) generations: Option<u32>,
    /// Number of threads; does not affect the result [default: one per core]
    #[arg(long)]
    pub(crate) workers: Option<usize>,
    /// Folder for the learning curves, as pictures and tables
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Record of a finished training run
    pub(crate) record: PathBuf,
    /// Other records with the same test courses, to compare champions course by course
    pub(crate) others: Vec<PathBuf>,
    /// Leave out the test courses on which a champion failed; this biases the comparison
    #[arg(long)]
    pub(crate) without_failed: bool,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Repeats the breeding of all generations from the recorded scores. Repeats the drives of as many \
generations as --all, --rows or the time budget allow. Always repeats the choice of the champion and its test \
drives.\nExit code 1 if anything differs, or if the training is not finished."
)]
pub(crate) struct Verify {
    /// Record of a finished training run
    pub(crate) record: PathBuf,
    #[command(flatten)]
    pub(crate) sample: SampleFlags,
    /// Folder of the experiment, to which the path of its scenario is relative [default: the folder of the
    /// record]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Check the signature FILE.minisig beside the record with this public key
    #[arg(long, value_name = "KEY.pub")]
    pub(crate) signed_by: Option<PathBuf>,
    /// Number of threads; does not affect the result [default: one per core]
    #[arg(long)]
    pub(crate) workers: Option<usize>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Drives the test courses. Obstacles fall over and vehicles lean only at the level \
rigid; at other levels only the fitness can be compared."
)]
pub(crate) struct Front {
    /// Record of a finished training run
    pub(crate) record: PathBuf,
    /// Other records with the same genes and test courses
    pub(crate) others: Vec<PathBuf>,
    /// Level of dynamics of the vehicles [default: the experiment's]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) dynamics: Option<DynamicsLevel>,
    /// Also drive the best individual of each of the last N generations
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) last: usize,
    /// Folder of the experiment, to which the path of its scenario is relative [default: the folder of the
    /// record]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Leave out the test courses on which a driver failed; this biases the comparison
    #[arg(long)]
    pub(crate) without_failed: bool,
    /// Number of test courses, starting from the first [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
    /// Number of threads; does not affect the result [default: one per core]
    #[arg(long)]
    pub(crate) workers: Option<usize>,
    /// Folder for plots of the objectives against the fitness, as pictures and tables
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// Record of a finished training run
    pub(crate) record: PathBuf,
    /// Scenario whose stack receives the values
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) to: PathBuf,
    /// Name of the stack
    #[arg(long, value_name = "NAME")]
    pub(crate) stack: String,
    /// Scenario to write [default: the same file]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Before writing the values, put a module into a slot of the stack, as in controller=ID; may
    /// be repeated
    #[arg(long = "use", value_name = "SLOT=MODULE")]
    pub(crate) modules: Vec<String>,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}
