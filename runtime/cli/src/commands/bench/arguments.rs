//! The command line of `roadwright bench`.

use super::course_arguments::{Compare, League, List, Reproduce, RunCourse, Sign, Verify};
use clap::{Args, Subcommand, ValueEnum};
use roadwright_moves::Phase;
use roadwright_scenario::DynamicsLevel;

/// Subcommands of `roadwright bench`.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchVerb {
    /// List the courses
    List(List),
    /// Drive a course with many seeds, and print means with error bars
    Run(Box<RunCourse>),
    /// Run some rows of results again and compare them bit by bit
    Verify(Verify),
    /// Sign results or a training record, so that others can verify their author
    Sign(Sign),
    /// Compare results, paired by seed
    Compare(Compare),
    /// Compare all built-in controllers on all courses
    League(League),
    /// Recreate figures and tables of [Gerdelan 2011] and [Adam 2007], with data, pictures and a
    /// report
    Reproduce(Reproduce),
    /// Saturate junctions of every kind with traffic and check their guarantees
    Junctions(Junctions),
    /// Compare the saturation flow at a green light with the flow that the driver's control law alone would
    /// give
    Saturation(Saturation),
    /// Compare the delay at signals with Webster's formula
    Delay(Delay),
    /// Compare the capacity of a yielding leg and of a roundabout entry with the formulae of the HCM
    Gaps(Gaps),
    /// Measure path planning on maps of boxes and on changing maps, and compare with the published figures of
    /// 1998
    Planners(Planners),
    /// Repeat the experiments with move trees of [Adam 2007] from many starts, and compare with the
    /// published figures
    MoveTrees(MoveTrees),
    /// Drive on open ground with many seeds, and list which vehicles arrive without contact and in time
    OpenGround(OpenGround),
}

/// Control of the junction under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Vehicles from the nearer side have priority
    Uncontrolled,
    /// Two legs have priority, the others give way
    Priority,
    /// Two legs have priority, the others stop and give way
    Stop,
    /// All-way stop
    AllWayStop,
    /// Fixed-time signals
    Signals,
    /// Actuated signals
    Actuated,
    /// Single-lane roundabout
    Roundabout,
    /// Mini roundabout with a painted island
    MiniRoundabout,
    /// Zipper merge of two one-way legs into one; three legs only
    Zipper,
}

impl Kind {
    pub(super) const ALL: [Self; 9] = [
        Self::Uncontrolled,
        Self::Priority,
        Self::Stop,
        Self::AllWayStop,
        Self::Signals,
        Self::Actuated,
        Self::Roundabout,
        Self::MiniRoundabout,
        Self::Zipper,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Actuated => "actuated",
            _ => self.control().name(),
        }
    }
}

/// Side of the road to drive on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hand {
    /// Left-hand traffic
    Left,
    /// Right-hand traffic
    Right,
}

impl Hand {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// Options of all benches.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Run the seeds 1 to N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: Option<u64>,
    /// Simulated time of each run, s
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: Option<f64>,
    /// Time step, s
    #[arg(long, default_value_t = 0.1, value_parser = time_step)]
    pub(crate) dt: f64,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 if bodies overlap, a vehicle runs a red light, a vehicle waits longer than the \
bound, or the throughput of the second half is less than 95 % of the first (in runs of half an hour or more)."
)]
pub(crate) struct Junctions {
    /// Test only junctions with this kind of control [default: all]
    #[arg(long, value_enum)]
    pub(crate) control: Option<Kind>,
    /// Test only junctions with this number of legs [default: 3 to 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..=6))]
    pub(crate) legs: Option<u8>,
    /// Test only this driving side [default: both]
    #[arg(long, value_enum)]
    pub(crate) hand: Option<Hand>,
    /// Fraction of vehicles that are buses
    #[arg(long, default_value_t = 0.1, value_parser = share)]
    pub(crate) buses: f64,
    /// Block every exit with a crawling vehicle for a twelfth of the time, in the middle of the run
    #[arg(long)]
    pub(crate) close_exits: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 if a figure deviates by more than 5 %.")]
pub(crate) struct Saturation {
    /// Time step, s
    #[arg(long, default_value_t = 0.1, value_parser = time_step)]
    pub(crate) dt: f64,
    /// Number of greens to measure
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) greens: u64,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 if a delay deviates by more than 25 %, or if its standard error exceeds 5 %."
)]
pub(crate) struct Delay {
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 if a capacity is not within 75 to 125 % of the formula.")]
pub(crate) struct Gaps {
    /// Side of the road to drive on
    #[arg(long, value_enum, default_value = "right")]
    pub(crate) hand: Hand,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Times are CPU times. Each problem moves obstacles, rasterizes them into a map, \
and searches the map with A*. The maps are generated from the seed; problems without a path are \
counted, and their times are included."
)]
pub(crate) struct Planners {
    /// Number of problems in each row, and number of map changes for D* Lite (at most 1,000)
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000), value_name = "N")]
    pub(crate) problems: u32,
    /// Seed of maps, starts, goals and moves
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A seed passes if all its drivers arrive without touching anything and take at \
most 2.5 times as long as they would alone on their shortest paths. Seeds from 300001 upwards were \
not used to tune any planner or controller.\nExit code 1 if fewer than --pass of the seeds of a \
course pass."
)]
pub(crate) struct OpenGround {
    /// Courses to drive [default: maze, office, obstacle-town, hill-country-drive]
    #[arg(long = "course", value_name = "NAME")]
    pub(crate) courses: Vec<String>,
    /// Number of seeds
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000), value_name = "N")]
    pub(crate) seeds: u64,
    /// First seed; the others are consecutive
    #[arg(long, default_value_t = roadwright_training::UNSEEN_SEED, value_name = "SEED")]
    pub(crate) first_seed: u64,
    /// Use other modules: `controller=pursuit`, `ground_planner=straight`
    #[arg(long = "use", value_name = "SLOT=MODULE")]
    pub(crate) modules: Vec<String>,
    /// Level of dynamics of the vehicles [default: as in the course]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) dynamics: Option<DynamicsLevel>,
    /// Write the scenario of each seed that fails into this folder, for `run` and the editor
    #[arg(long, value_name = "DIR")]
    pub(crate) failed: Option<std::path::PathBuf>,
    /// Fraction of the seeds that must pass
    #[arg(long, default_value_t = 0.95, value_parser = share, value_name = "SHARE")]
    pub(crate) pass: f64,
    /// Number of threads; does not affect the result [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N")]
    pub(crate) threads: Option<u16>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// Tables of [Adam 2007].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MoveTable {
    /// Small tree among cars on a long straight
    #[value(name = "4.1")]
    T41,
    /// Small trees on a track with corners
    #[value(name = "4.2")]
    T42,
    /// Small trees among cars on a track with corners
    #[value(name = "4.3")]
    T43,
    /// Large tree among cars on the long straight
    #[value(name = "4.4")]
    T44,
    /// Large tree on the track with corners
    #[value(name = "4.5")]
    T45,
    /// Large tree among cars on the track with corners
    #[value(name = "4.6")]
    T46,
    /// Large tree on a track with sharp corners
    #[value(name = "4.7")]
    T47,
    /// Large tree on a track with a sharp corner and with cars in a large central area
    #[value(name = "4.8")]
    T48,
}

/// Method of testing moves for collisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Collisions {
    /// Test the masks of moves against a bitmap of the walls, and look up cars by time and place
    #[default]
    Masks,
    /// Test bounding boxes
    Boxes,
    /// Test every piece of a move against every obstacle
    Exact,
}

impl Collisions {
    pub(crate) fn phase(self) -> Phase {
        match self {
            Self::Masks => Phase::Masks,
            Self::Boxes => Phase::Broad,
            Self::Exact => Phase::Exact,
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Vehicles replay the frames of their moves exactly, unless --replayed or \
--free-ground is given. Drives start at lateral positions up to a metre apart and with the other \
cars in different phases. Planning times are CPU times; everything else is the same on every \
machine. Exit code 1 if a statement about the rows does not hold."
)]
pub(crate) struct MoveTrees {
    /// Drive only this table [default: all]
    #[arg(long, value_enum)]
    pub(crate) table: Option<MoveTable>,
    /// Drive only this row of each table, counted from 1; rows that [Adam 2007] does not have come
    /// last
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    pub(crate) row: Option<u32>,
    /// Drive each row from this many starts
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) starts: u32,
    /// Test collisions as [Adam 2007] does, only at the frames used there and with the lines along
    /// both sides of the car
    #[arg(long)]
    pub(crate) source_sweep: bool,
    /// Method of testing moves for collisions ([Adam 2007], section 5.6); it does not affect the
    /// drives
    #[arg(long, value_enum, default_value_t)]
    pub(crate) collisions: Collisions,
    /// End each search with the first free leaf, which gives the same plans but expands fewer nodes
    #[arg(long)]
    pub(crate) first_leaf: bool,
    /// Order the search by a heuristic that includes turning, gaining speed and going around walls
    /// ([Adam 2007], section 5.3); with --first-leaf, searches expand fewer nodes
    #[arg(long, conflicts_with = "source_sweep")]
    pub(crate) detours: bool,
    /// Drive the model of the sliding car with the recorded commands and corrections, instead of
    /// playing back frames
    #[arg(long)]
    pub(crate) replayed: bool,
    /// Instead of the tables, drive this many routes of 100 m on ground without obstacles with the model of
    /// the sliding car and without replanning, and report how far the car is from each route at the end
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        conflicts_with_all = ["table", "row", "starts", "source_sweep", "collisions", "first_leaf", "detours", "replayed"]
    )]
    pub(crate) free_ground: Option<u32>,
    /// Number of threads; does not affect the result [default: one per core]
    #[arg(long)]
    pub(crate) threads: Option<u16>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

fn in_range(text: &str, least: f64, most: f64, unit: &str) -> Result<f64, String> {
    let value = text
        .parse()
        .ok()
        .filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| format!("expected {least} to {most}{unit}"))
}

fn seconds(text: &str) -> Result<f64, String> {
    in_range(text, 60.0, 1e6, " s")
}

fn time_step(text: &str) -> Result<f64, String> {
    in_range(text, 0.001, 0.5, " s")
}

fn share(text: &str) -> Result<f64, String> {
    in_range(text, 0.0, 1.0, "")
}
