//! `roadwright moves`: clips of driving, and graphs of moves.

mod build;
mod check;
mod record;
mod show;

use crate::Outcome;
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use roadwright_moves::{ClipFile, LARGEST, Library, MoveFile, Preset, SweepKind};
use std::path::{Path, PathBuf};

/// Commands for move trees.
#[derive(Debug, Subcommand)]
pub(crate) enum MovesVerb {
    /// Create clips from a table of `run --trace`
    Record(Record),
    /// Build a graph of moves from clips, or one of the trees of [Adam 2007]
    Build(Build),
    /// Check a graph of moves and its clips; exit code 1 if something is wrong
    Check(Check),
    /// Show the states and moves of a graph
    Show(Show),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The rows must be evenly spaced: record with a --trace-rate whose period is a multiple of the time step.\n\
Without --clip, the whole drive becomes one clip called \"drive\"."
)]
pub(crate) struct Record {
    /// Table of the drive, as written by `run --trace` or *Save the drive…*
    pub(crate) trace: PathBuf,
    /// The clips to write, NAME.clips.json
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Vehicle that was recorded: a shipped vehicle, or a file NAME.vehicle.json
    #[arg(long)]
    pub(crate) vehicle: String,
    /// Id of the agent; needed if the table has several
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<u64>,
    /// A clip with its start and end in seconds; may be repeated
    #[arg(long = "clip", value_name = "NAME=FROM..TO", value_parser = clip)]
    pub(crate) clips: Vec<NamedClip>,
    /// Add each clip mirrored left to right
    #[arg(long)]
    pub(crate) mirror: bool,
    /// Scenario in which the drive was recorded; clips that touch its obstacles or trees are
    /// refused
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,
    /// Grip of the ground relative to dry asphalt
    #[arg(long, default_value_t = 1.0)]
    pub(crate) grip: f64,
    /// Slope of the ground, m per m
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    pub(crate) slope: f64,
    /// Mass of the load, kg
    #[arg(long, default_value_t = 0.0)]
    pub(crate) load: f64,
}

/// A clip of a recording.
#[derive(Debug, Clone)]
pub(crate) struct NamedClip {
    name: String,
    from: f64,
    to: f64,
}

fn clip(text: &str) -> Result<NamedClip, String> {
    let parts = text.rsplit_once('=').and_then(|(name, range)| {
        let (from, to) = range.split_once("..")?;
        Some(NamedClip {
            name: name.to_owned(),
            from: from.parse().ok()?,
            to: to.parse().ok()?,
        })
    });
    parts.ok_or_else(|| "expected NAME=FROM..TO, such as \"left turn=12.4..13.4\"".to_owned())
}

#[derive(Debug, Args)]
#[command(
    after_help = "Two frames are similar if the differences between their speeds, lateral speeds and yaw rates add up \
to less than the threshold. Moves are cut where clips have similar frames."
)]
pub(crate) struct Build {
    /// The clips, NAME.clips.json
    #[arg(required_unless_present = "preset")]
    pub(crate) clips: Option<PathBuf>,
    /// Instead of reading clips, record one of the trees of [Adam 2007] with the sliding car
    #[arg(long, value_enum, conflicts_with = "clips")]
    pub(crate) preset: Option<PresetArgument>,
    /// The graph to write, NAME.moves.json; the clips of --preset are written beside it
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Distance below which frames are similar
    #[arg(long, default_value_t = 0.5, conflicts_with = "preset")]
    pub(crate) threshold: f64,
    /// Number of frames of a clip to skip after a frame with a transition
    #[arg(
        long,
        default_value_t = 5,
        value_name = "FRAMES",
        conflicts_with = "preset"
    )]
    pub(crate) kc: u32,
    /// Number of frames of the other clip to skip after a similar frame
    #[arg(
        long,
        default_value_t = 9,
        value_name = "FRAMES",
        conflicts_with_all = ["preset", "merge"]
    )]
    pub(crate) ks: u32,
    /// Weight of the speed in the distance between frames
    #[arg(long, default_value_t = 1.0, conflicts_with = "preset")]
    pub(crate) speed_weight: f64,
    /// Weight of the lateral speed in the distance between frames
    #[arg(long, default_value_t = 1.0, conflicts_with = "preset")]
    pub(crate) sideways_weight: f64,
    /// Weight of the yaw rate in the distance between frames
    #[arg(long, default_value_t = 1.0, conflicts_with = "preset")]
    pub(crate) yaw_weight: f64,
    /// Leave out a move that stays within this distance, in metres, of another move with the same
    /// ends; 0 keeps all moves
    #[arg(
        long,
        default_value_t = 0.25,
        value_name = "M",
        conflicts_with = "preset"
    )]
    pub(crate) prune: f64,
    /// Merge frames with similar motions into one state wherever clips are cut, so that long drives
    /// give small graphs; cannot be combined with --ks
    #[arg(long, conflicts_with = "preset")]
    pub(crate) merge: bool,
    /// Also show the size of the graph without pruning, without --kc and without --ks (sections 5.1 and 5.2)
    #[arg(long, conflicts_with = "preset")]
    pub(crate) compare: bool,
    /// Maximum angle in radians between a move left out by --prune and the other move
    #[arg(
        long,
        default_value_t = 0.05,
        value_name = "RAD",
        conflicts_with = "preset"
    )]
    pub(crate) prune_angle: f64,
    /// Maximum difference in frames between the durations of a move left out by --prune and of the
    /// other move
    #[arg(
        long,
        default_value_t = 0,
        value_name = "FRAMES",
        conflicts_with = "preset"
    )]
    pub(crate) prune_frames: u32,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// Trees of [Adam 2007].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArgument {
    /// Five moves of 25 frames in one state
    Five,
    /// Seven moves of 25 frames in one state
    Seven,
    /// Seven states from standing to fast, with turns and skids
    Large,
    /// The large tree with skids from which the car departs at several angles
    LargeAngles,
    /// The large tree without skids, for comparison
    LargeWithoutSkids,
    /// The large tree with a top speed of 14 m/s, which does not ship with the program
    LargeSlow,
    /// Short moves from standstill to standstill, forwards and in reverse
    Shunting,
}

impl PresetArgument {
    fn preset(self) -> Preset {
        match self {
            Self::Five => Preset::Five,
            Self::Seven => Preset::Seven,
            Self::Large => Preset::Large,
            Self::LargeAngles => Preset::LargeAngles,
            Self::LargeWithoutSkids => Preset::LargeWithoutSkids,
            Self::LargeSlow => Preset::LargeSlow,
            Self::Shunting => Preset::Shunting,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The graph, NAME.moves.json
    pub(crate) moves: PathBuf,
    /// Vehicle that will use the graph: a shipped vehicle, or a file NAME.vehicle.json [default: the recorded
    /// vehicle, if it is shipped]
    #[arg(long)]
    pub(crate) vehicle: Option<String>,
    /// Time step of the world that will use the graph, s
    #[arg(long, value_name = "S")]
    pub(crate) dt: Option<f64>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The graph, NAME.moves.json
    pub(crate) moves: PathBuf,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn moves(verb: &MovesVerb) -> anyhow::Result<Outcome> {
    match verb {
        MovesVerb::Record(arguments) => record::record(arguments),
        MovesVerb::Build(arguments) => build::build(arguments),
        MovesVerb::Check(arguments) => check::check(arguments),
        MovesVerb::Show(arguments) => show::show(arguments),
    }
}

/// A graph with its clips.
pub(super) struct Opened {
    pub(super) graph: MoveFile,
    pub(super) clips: ClipFile,
}

impl Opened {
    fn library(&self) -> anyhow::Result<Library> {
        let library = self.graph.library(&self.clips, SweepKind::Exact);
        library.context("the move graph does not match its clips")
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    roadwright_files::read_text(path, LARGEST)
        .with_context(|| format!("cannot read {}", path.display()))
}

fn open_clips(path: &Path) -> anyhow::Result<ClipFile> {
    ClipFile::from_text(&read(path)?)
        .with_context(|| format!("{} has no usable clips", path.display()))
}

/// Opens a graph, and its clips beside it.
pub(super) fn open(path: &Path) -> anyhow::Result<Opened> {
    let graph = MoveFile::from_text(&read(path)?)
        .with_context(|| format!("{} is not a usable move graph", path.display()))?;
    let clips = open_clips(&path.with_file_name(&graph.clips))?;
    Ok(Opened { graph, clips })
}

/// Returns the name of a file. Another file beside it refers to it by this name.
fn file_name(path: &Path) -> anyhow::Result<String> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        bail!("{} has no file name in UTF-8", path.display());
    };
    Ok(name.to_owned())
}
