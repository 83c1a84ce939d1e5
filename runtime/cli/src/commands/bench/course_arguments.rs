//! The command line of `roadwright bench list`, `run`, `verify`, `compare`, `league` and `reproduce`.

use crate::arguments::ExtensionFlags;
use crate::commands::sampling::SampleFlags;
use clap::{ArgGroup, Args};
use roadwright_scenario::DynamicsLevel;
use roadwright_training::experiment::{MAX_RUNS, MIN_RUNS};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("stop").args(["runs", "until_se", "until_width", "until_difference"]),
    after_help = "A run is one seed: the same course and seed give the same run, bit for bit. With --out FILE \
the same command continues an interrupted experiment; FILE.csv is written beside FILE.\nExit code 1 if a module failed \
in a run, which then has no result; 128 plus the number of the signal if a signal stopped it (Ctrl-C: 130)."
)]
pub(crate) struct RunCourse {
    /// A course (see `bench list`), or a scenario file
    pub(crate) name: String,
    /// Vehicle type of all drivers [default: the course's]
    #[arg(long, value_name = "TYPE")]
    pub(crate) vehicle: Option<String>,
    /// Level of dynamics of the vehicles [default: as in the course]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) dynamics: Option<DynamicsLevel>,
    /// Time step, s [default: the course's]
    #[arg(long)]
    pub(crate) dt: Option<f64>,
    /// Use other modules: `controller=pursuit`, `fitness=comfort,safety`. The first fitness is reported
    #[arg(long = "use", value_name = "SLOT=MODULE")]
    pub(crate) modules: Vec<String>,
    /// Number of runs [default: 30]
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// Run until the standard error of the mean fitness is at most this
    #[arg(long, value_name = "X")]
    pub(crate) until_se: Option<f64>,
    /// Run until the interval of the mean fitness is at most this wide
    #[arg(long, value_name = "X")]
    pub(crate) until_width: Option<f64>,
    /// Run until the mean difference from these results (paired by seed) is significantly above or below 0
    #[arg(long, value_name = "RESULTS")]
    pub(crate) until_difference: Option<PathBuf>,
    /// Compare with the successful runs of --until-difference only; this biases the comparison
    #[arg(long, requires = "until_difference")]
    pub(crate) without_failed: bool,
    /// Minimum number of runs with --until-*
    #[arg(long, value_name = "N", default_value_t = MIN_RUNS)]
    pub(crate) min_runs: u64,
    /// Maximum number of runs with --until-*
    #[arg(long, value_name = "N", default_value_t = MAX_RUNS)]
    pub(crate) max_runs: u64,
    /// First seed; the others are consecutive
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Confidence level of intervals
    #[arg(long, default_value_t = 0.95)]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Folder for plots of the mean fitness against the number of runs, as pictures and tables
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Write the state of each drive after every 10 m (time and current fitness) to this table
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) log: Option<PathBuf>,
    /// Write the rows to this file, and continue it if it is not finished; with --drive, the folder of your
    /// attempts
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Race on the course yourself, in a window: --seed chooses the course, and your attempts are kept in the
    /// folder of --out [default: the user's data folder] for `bench verify`
    #[arg(
        long,
        conflicts_with_all = ["stop", "without_failed", "min_runs", "max_runs", "level", "plots", "log", "json", "threads"]
    )]
    pub(crate) drive: bool,
}

/// Common options of measurements on courses.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Number of concurrent runs; does not affect the result [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 if a row is not reproduced, if the stored fitness direction, end of the experiment \
or hash is wrong, or if the experiment is not finished."
)]
pub(crate) struct Verify {
    /// Results written by `bench run --out`, or an attempt recorded by `bench run --drive`
    pub(crate) results: PathBuf,
    #[command(flatten)]
    pub(crate) sample: SampleFlags,
    /// The results that `bench run --until-difference` compared with
    #[arg(long, value_name = "RESULTS")]
    pub(crate) against: Option<PathBuf>,
    /// Check the signature FILE.minisig beside the file with this public key
    #[arg(long, value_name = "KEY.pub")]
    pub(crate) signed_by: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Writes FILE.minisig beside FILE. Keys and signatures are compatible with minisign. `bench verify` and \
`train verify` check them with --signed-by KEY.pub."
)]
pub(crate) struct Sign {
    /// Results or a training record to sign
    pub(crate) file: PathBuf,
    /// File with the secret key
    #[arg(long, value_name = "KEY")]
    pub(crate) key: PathBuf,
    /// Create the key first, without a password, together with its public key KEY.pub
    #[arg(long)]
    pub(crate) new_key: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Runs are compared in pairs with the same seed. Each of the other results is compared with the \
first, and probabilities are corrected by Holm's method."
)]
pub(crate) struct Compare {
    /// Results to compare the others with
    pub(crate) first: PathBuf,
    /// Results on the same course
    #[arg(required = true)]
    pub(crate) others: Vec<PathBuf>,
    /// Compare the successful runs only; this biases the comparison
    #[arg(long)]
    pub(crate) without_failed: bool,
    /// Confidence level of intervals
    #[arg(long, default_value_t = 0.95)]
    pub(crate) level: f64,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Drives courses from seed 300001 upwards; none of these seeds was used to select \
the shipped rules. Controllers made for one course drive only that course.\nExit code 1 if a \
module failed in a run, which then has no result."
)]
pub(crate) struct League {
    /// Courses to drive [default: all]
    pub(crate) courses: Vec<String>,
    /// External controller to include
    #[arg(long = "controller", value_name = "ID")]
    pub(crate) controllers: Vec<String>,
    /// Number of runs of each controller on each course
    #[arg(long, default_value_t = MIN_RUNS, value_name = "N")]
    pub(crate) runs: u64,
    /// Number of concurrent runs; does not affect the result [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Print the results as a Markdown table
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Writes report.md, report.json, and for each figure a drawing (.svg) and its data \
(.csv). A difference from the source is a result, not an error."
)]
pub(crate) struct Reproduce {
    /// Folder to write to; created if necessary
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Number of runs of each drive; figure 12.5 of [Gerdelan 2011] has 600
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    pub(crate) runs: u64,
    /// Number of training seeds for each curve of a study
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = seeds)]
    pub(crate) seeds: usize,
    /// Number of starts for each row of the move-tree tables; 0 leaves these tables out
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(..=20))]
    pub(crate) starts: u32,
    /// Level of dynamics of the vehicles in the forest [default: one_track]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) dynamics: Option<DynamicsLevel>,
    /// Number of concurrent runs; does not affect the result [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses the number of seeds of a study; a single seed has no error bar.
fn seeds(text: &str) -> Result<usize, String> {
    let seeds = text
        .parse()
        .ok()
        .filter(|seeds| (2..=10_000).contains(seeds));
    seeds.ok_or_else(|| "expected 2 to 10000, because a single seed gives no error bar".into())
}
