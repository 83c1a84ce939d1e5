//! The command line of `roadwright train`.

use crate::arguments::ExtensionFlags;
use crate::commands::sampling::SampleFlags;
use clap::{Args, Subcommand};
use roadwright_scenario::DynamicsLevel;
use std::path::PathBuf;

/// `roadwright train`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Stopped at any moment, a training with --out or --resume goes on with --resume as if nothing had \
happened.\nExit code 1 if a module failed in a drive: such a drive is no result."
)]
pub(crate) struct Train {
    #[command(subcommand)]
    pub(crate) verb: Option<TrainVerb>,
    #[command(flatten)]
    pub(crate) run: TrainRun,
}

/// What to do with a training.
#[derive(Debug, Subcommand)]
pub(crate) enum TrainVerb {
    /// Breed on the sum of the genes and hold the learning curves to what the source says of them
    Study(Study),
    /// Show the trained values beside those before, rule by rule; or champions beside each other
    Compare(Compare),
    /// Show what trained drivers are fast for: time, obstacles felled and roll margin, and whom nobody beats in all
    Front(Front),
    /// Write the trained values into a stack of a scenario
    Apply(Apply),
    /// Breed and drive a record again and compare it bit by bit
    Verify(Verify),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct TrainRun {
    /// The experiment
    #[arg(required_unless_present = "schema")]
    pub(crate) experiment: Option<PathBuf>,
    /// Generations [default: the experiment's]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) generations: Option<u32>,
    /// Seed of breeding [default: the experiment's]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Threads that drive; the result is the same for any number [default: one for each processor]
    #[arg(long)]
    pub(crate) workers: Option<usize>,
    /// Go on with the training that --out holds [default of --out: NAME.training.json beside the experiment]; one
    /// that has no record yet begins
    #[arg(long)]
    pub(crate) resume: bool,
    /// Keep the record of the training in this file, after each generation
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no summary; errors only
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
    /// Which; left out, all are listed
    pub(crate) name: Option<String>,
    /// Seeds that each line is bred with, 2 to 10000
    #[arg(long, default_value_t = 30)]
    pub(crate) seeds: usize,
    /// Generations of trainings on a course, for studies that drive [default: 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) generations: Option<u32>,
    /// Threads; the result is the same for any number [default: one for each processor]
    #[arg(long)]
    pub(crate) workers: Option<usize>,
    /// Draw the learning curves into this folder, as picture and table
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The record of a training that is over
    pub(crate) record: PathBuf,
    /// Others on the same test courses: champions are compared course by course
    pub(crate) others: Vec<PathBuf>,
    /// Compare the test courses on which no champion failed, although failures are not random
    #[arg(long)]
    pub(crate) without_failed: bool,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Breeds all generations again with the scores in the record, drives generations again as far as \
--all, --rows or the time allow, and always chooses the champion again and drives his test courses.\nExit code 1 if \
anything comes out otherwise, or the training is not over."
)]
pub(crate) struct Verify {
    /// The record of a training that is over
    pub(crate) record: PathBuf,
    #[command(flatten)]
    pub(crate) sample: SampleFlags,
    /// Check the signature FILE.minisig beside the record with this public key
    #[arg(long, value_name = "KEY.pub")]
    pub(crate) signed_by: Option<PathBuf>,
    /// Threads that drive; the result is the same for any number [default: one for each processor]
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
    after_help = "Drives the test courses. Obstacles are felled and vehicles lean at the level rigid; elsewhere the \
fitness is all there is to compare."
)]
pub(crate) struct Front {
    /// The record of a training that is over
    pub(crate) record: PathBuf,
    /// Others of the same genes on the same test courses
    pub(crate) others: Vec<PathBuf>,
    /// With which model bodies move [default: the experiment's]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) dynamics: Option<DynamicsLevel>,
    /// The best of so many last generations drive as well
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) last: usize,
    /// Test courses that are driven, from the first on [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
    /// Threads that drive; the result is the same for any number [default: one for each processor]
    #[arg(long)]
    pub(crate) workers: Option<usize>,
    /// Draw the objectives against the fitness into this folder, as pictures and tables
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
    /// The record of a training that is over
    pub(crate) record: PathBuf,
    /// The scenario whose stack gets the values
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) to: PathBuf,
    /// The stack
    #[arg(long, value_name = "NAME")]
    pub(crate) stack: String,
    /// The scenario to write [default: the same file]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Put a module into a slot of the stack first, as controller=ID; repeatable
    #[arg(long = "use", value_name = "SLOT=MODULE")]
    pub(crate) modules: Vec<String>,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}
