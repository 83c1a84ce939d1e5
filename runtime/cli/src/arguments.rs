//! The command line.

use crate::agent_times::{agent_at, agent_at_from};
use crate::commands::{BenchVerb, Compare, PlanVerb, Train, VehicleVerb};
use clap::{Args, Parser, Subcommand};
use roadwright_extension::ISOLATED_MEMORY;
use roadwright_scenario::{DynamicsLevel, MapPart};
use std::path::PathBuf;

/// Draw worlds, let agents drive in them, and measure how well they do.
///
/// Without a verb the editor opens with the shipped scenario old-town; without a display that
/// scenario is run and drawn.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Folder in which this process reports to its parent.
    #[arg(long = crate::supervisor::WORKER, hide = true)]
    pub(crate) worker: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

const EXAMPLES: &str = "\
Examples:
  roadwright edit city.scenario.json
  roadwright run scenarios/old-town.scenario.json --seconds 300
  roadwright import city.osm.pbf --out city.scenario.json
  roadwright check city.scenario.json
  roadwright run city.scenario.json --populate 150 --json
  roadwright render city.scenario.json --out city.png --at 60
  roadwright plugin new my_driver --kind controller --lang rust
  roadwright script check scripts/commuter.rhai
  roadwright controller eval fuzzy_driver.route.speed --input distance=10 --input angle=0.3

Exit codes: 0 fine; 1 the work was done and found something wrong; 2 the call or its input was unusable; \
128 + N signal N ended the work early (Ctrl-C 130, SIGTERM 143, SIGHUP 129).";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Open the editor.
    Edit {
        /// Scenario to open [default: the shipped scenario old-town]
        file: Option<PathBuf>,
    },
    /// Run a scenario and report what came of it.
    Run(Run),
    /// Look for what is wrong with a scenario or an experiment.
    Check(Check),
    /// Tell what rules the junctions of a scenario.
    Junction(Junction),
    /// Measure drivers on courses, with error bars; and junctions: capacities, delays, what they promise.
    Bench {
        #[command(subcommand)]
        verb: BenchVerb,
    },
    /// Train parameters of modules on courses, and judge them on others.
    Train(Box<Train>),
    /// Compare results of `bench run` in pairs of the same seed; as `bench compare`.
    Compare(Compare),
    /// Plan paths on maps, without a simulation.
    Plan {
        #[command(subcommand)]
        verb: PlanVerb,
    },
    /// Make a scenario of OpenStreetMap data.
    Import(Import),
    /// Put a scenario with all that it needs into one file.
    Pack(Pack),
    /// Take a scenario out of such a file; nothing of it is run.
    Unpack(Unpack),
    /// Draw a scenario as a picture.
    Render(Render),
    /// Look into the built-in controllers.
    Controller(Controller),
    /// Check, show and measure vehicle files.
    Vehicle {
        #[command(subcommand)]
        verb: VehicleVerb,
    },
    /// Make, build, look at and list compiled plugins.
    Plugin {
        #[command(subcommand)]
        verb: PluginVerb,
    },
    /// Make and check behaviour scripts.
    Script {
        #[command(subcommand)]
        verb: ScriptVerb,
    },
    /// What child processes do; called by Roadwright itself.
    #[command(hide = true)]
    PluginHost {
        /// Words of the call
        arguments: Vec<std::ffi::OsString>,
    },
    /// Print shell completions, e.g. `roadwright completions bash > /etc/bash_completion.d/roadwright`.
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
}

/// Flags of everything that simulates.
#[derive(Debug, Clone, Args)]
pub(crate) struct Simulate {
    /// Seed of all random streams [default: the scenario's]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Time step in seconds [default: the scenario's]
    #[arg(long)]
    pub(crate) dt: Option<f64>,
    /// Threads; the result is the same for any number
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Add this many cars between random places
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) populate: usize,
    /// Where those begin and end
    #[arg(long, value_enum, default_value_t = PopulateFrom::Both, value_name = "WHERE")]
    pub(crate) populate_from: PopulateFrom,
    /// Stack of the added cars
    #[arg(long, default_value = "idm", value_name = "STACK")]
    pub(crate) stack: String,
    /// Move all agents that appear with this model: `one_track`, `lane` for traffic at scale,
    /// `dynamic_one_track` with tyres that slip, `sliding` for cars that skid into bends, or `rigid`
    /// with bodies on springs that push each other [default: as the scenario says]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) dynamics: Option<DynamicsLevel>,
    /// Time of day at the beginning in hours, 0 to below 24 [default: the scenario's]
    #[arg(long, value_name = "HOURS")]
    pub(crate) time_of_day: Option<f64>,
    /// Let so many people on foot come to each side of each crossing in an hour, where the crossing says
    /// nothing else [default: the scenario's]
    #[arg(long, value_name = "RATE")]
    pub(crate) pedestrians: Option<f64>,
    /// Compare all bodies for contacts, also those that follow their lanes
    #[arg(long)]
    pub(crate) verify: bool,
    /// Use other modules in all stacks: `controller=pursuit`, `fitness=comfort,safety`; `none` where a slot
    /// may be empty. `signal_controller=ID` lets a module decide about all signals
    #[arg(long = "use", value_name = "SLOT=MODULE")]
    pub(crate) modules: Vec<String>,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}

/// `roadwright script run-one`.
#[derive(Debug, Args)]
pub(crate) struct RunOne {
    /// The script
    pub(crate) file: PathBuf,
    /// Id of the agent
    #[arg(long, default_value_t = 1)]
    pub(crate) agent: u64,
    /// The handler; on_start is called before it for an agent that has not started
    #[arg(long, default_value = "behave")]
    pub(crate) event: String,
    /// Take the agent from this scenario [default: one is made up, at 8 m/s on a free road]
    #[arg(long)]
    pub(crate) scenario: Option<PathBuf>,
    /// Simulate that scenario so long before, s
    #[arg(long, value_name = "SECONDS", requires = "scenario")]
    pub(crate) at: Option<f64>,
    /// Show each statement that is run, with what it has changed
    #[arg(long)]
    pub(crate) steps: bool,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) simulate: Simulate,
}

/// Flags about modules that are not built in.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Plugins and scripts")]
pub(crate) struct ExtensionFlags {
    /// Look for plugins here, before the folders `plugins` beside the scenario and of the user
    #[arg(long, value_name = "DIR")]
    pub(crate) plugins: Vec<PathBuf>,
    /// Look for scripts here, before the folders `scripts` beside the scenario and of the user
    #[arg(long, value_name = "DIR")]
    pub(crate) scripts: Vec<PathBuf>,
    /// Let the plugin with this hash run (at least 8 digits); `plugin info` tells hashes
    #[arg(long, value_name = "HASH")]
    pub(crate) allow_plugin: Vec<String>,
    /// Let all plugins run: they can do everything that you can
    #[arg(long)]
    pub(crate) trust_plugins: bool,
    /// Run this plugin in a process of its own
    #[arg(long, value_name = "ID")]
    pub(crate) isolate: Vec<String>,
    /// Memory that each such process may use, MiB of address space
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = ISOLATED_MEMORY,
        value_parser = clap::value_parser!(u64).range(128..=1 << 30)
    )]
    pub(crate) isolated_memory: u64,
    /// Take over plugins and scripts that change while the scenario runs
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without --seconds the run takes the scenario's time, or less if all agents have arrived.\nCtrl-C, \
SIGTERM and SIGHUP end it with the summary and the results so far, and with exit code 130, 143 or 129.\nResults get \
their names when the run has ended: one that is killed leaves those of an earlier run. --save, --trace and --signals \
may be pipes or devices (/dev/null, or /dev/stdout with --quiet)."
)]
pub(crate) struct Run {
    /// The scenario
    pub(crate) file: PathBuf,
    /// Simulated time in seconds [default: the scenario's, or less if all have arrived]
    #[arg(long)]
    pub(crate) seconds: Option<f64>,
    #[command(flatten)]
    pub(crate) simulate: Simulate,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Drive on with the built-in module when another one does not answer in time; the result is not
    /// reproducible then, and says so
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Print the lines that modules log
    #[arg(long)]
    pub(crate) log: bool,
    /// Write where every vehicle was, ten times a second, as CSV, and beside it in FILE.scores.csv what
    /// each fitness says about each drive
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write what the signals of all lanes show at the start and at each change, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) signals: Option<PathBuf>,
    /// Write what comes of the run into a folder: `timeline.csv` with a row for each second (arrivals,
    /// mean speed, queue, contacts, faults) and `timeline.png` with its curves, `trips.csv` with one for each drive that has ended, and
    /// `heat.csv` with one for each 10 m of lane (time that vehicles were there, their mean speed, alone
    /// and as a share of the limit, share of time that they stood, collisions)
    #[arg(long, value_name = "DIR")]
    pub(crate) statistics: Option<PathBuf>,
    /// Measure the CPU time of the steps stage by stage, and the share of planning; the run stays the same
    #[arg(long)]
    pub(crate) stage_times: bool,
    /// Tell what an agent does at a time, s, and what it waits for; may be given several times
    #[arg(long, value_name = "AGENT@TIME", value_parser = agent_at)]
    pub(crate) explain: Vec<(u64, f64)>,
    /// Let the last trailer of an agent go at a time, s, or trailer N and all behind it; may be given
    /// several times
    #[arg(long, value_name = "AGENT@TIME[:N]", value_parser = agent_at_from)]
    pub(crate) uncouple: Vec<(u64, f64, Option<u8>)>,
    /// Join on the trailers that stand at the free coupling of an agent at a time, s; may be given several
    /// times
    #[arg(long, value_name = "AGENT@TIME", value_parser = agent_at)]
    pub(crate) couple: Vec<(u64, f64)>,
    /// Save the world at the end, to go on from there later
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Go on from a saved world of this scenario instead of from the start; seed, steps and time of day are
    /// in it, what `--use`, `--dynamics` and `--pedestrians` asked for holds on, and what they ask for now is
    /// another run from there on, which is told
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["seed", "dt", "time_of_day", "populate"]
    )]
    pub(crate) restore: Option<PathBuf>,
    /// Save although a module cannot save what it keeps: it will start fresh
    #[arg(long, requires = "save")]
    pub(crate) allow_inexact: bool,
    /// No progress bar, no summary; errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The scenario, or the experiment (NAME.experiment.json)
    #[arg(required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the JSON Schema of scenario files instead
    #[arg(long, conflicts_with_all = ["file", "json"])]
    pub(crate) schema: bool,
    #[command(flatten)]
    pub(crate) extensions: ExtensionFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Junction {
    /// The scenario
    pub(crate) file: PathBuf,
    /// A node of the junction; left out, all junctions are listed
    pub(crate) node: Option<u32>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where random trips begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PopulateFrom {
    /// Anywhere on the lanes
    Inside,
    /// Where roads end at the edge of the map
    Edges,
    /// Half of them at edges, the others inside
    Both,
}

/// On which side one drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DriveOn {
    /// As in the country that the data lie in
    Auto,
    /// Left-hand traffic
    Left,
    /// Right-hand traffic
    Right,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// .osm XML or .osm.pbf
    pub(crate) file: PathBuf,
    /// The scenario to write
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Only what lies in this box, in degrees: WEST,SOUTH,EAST,NORTH
    #[arg(
        long = "box",
        value_name = "W,S,E,N",
        allow_hyphen_values = true,
        value_delimiter = ',',
        num_args = 1
    )]
    pub(crate) clip: Option<Vec<f64>>,
    /// On which side one drives
    #[arg(long, value_enum, default_value_t = DriveOn::Auto)]
    pub(crate) drive_on: DriveOn,
    /// By the law of which country one drives (ISO 3166-1 alpha-2, such as US); where the data lie, if left
    /// out
    #[arg(long, value_name = "CODE")]
    pub(crate) country: Option<String>,
    /// Only roads and what belongs to them: no buildings, parks, waters
    #[arg(long)]
    pub(crate) roads_only: bool,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Pack {
    /// The scenario
    pub(crate) file: PathBuf,
    /// The bundle to write, NAME.rwz
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Look for plugins here as well; they do not travel, but their hashes do
    #[arg(long, value_name = "DIR")]
    pub(crate) plugins: Vec<PathBuf>,
    /// Look for scripts here, before the folders `scripts` beside the scenario and of the user
    #[arg(long, value_name = "DIR")]
    pub(crate) scripts: Vec<PathBuf>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unpack {
    /// The bundle, NAME.rwz
    pub(crate) file: PathBuf,
    /// The folder to unpack into: a new one, or an empty one
    #[arg(long, value_name = "DIR")]
    pub(crate) into: PathBuf,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Render {
    /// The scenario
    pub(crate) file: PathBuf,
    /// The picture to write: a PNG, or with --until a GIF
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Width and height in pixels
    #[arg(long, default_value = "1600x1000", value_name = "WxH")]
    pub(crate) size: String,
    /// Run this many simulated seconds first and draw the vehicles
    #[arg(long, value_name = "SECONDS")]
    pub(crate) at: Option<f64>,
    /// Film the run from --at (0 if it is not given) until here: --out is a GIF
    #[arg(long, value_name = "SECONDS")]
    pub(crate) until: Option<f64>,
    /// Simulated seconds from frame to frame of a film; 0.1 is real time in most programs
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.1,
        requires = "until"
    )]
    pub(crate) every: f64,
    /// Only this part of the world, in metres: LEFT,BOTTOM,RIGHT,TOP
    #[arg(
        long,
        value_name = "L,B,R,T",
        allow_hyphen_values = true,
        value_delimiter = ',',
        num_args = 1
    )]
    pub(crate) view: Option<Vec<f64>>,
    /// Draw it for a dark room
    #[arg(long)]
    pub(crate) dark: bool,
    /// Draw the bodies of vehicles of level rigid as the solver has them: hulls, wheels, loads
    #[arg(long)]
    pub(crate) bodies: bool,
    /// Leave these out: roads, obstacles, forests, land, places, vehicles, layer:N for the roads of a layer
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    pub(crate) hide: Vec<MapPart>,
    #[command(flatten)]
    pub(crate) simulate: Simulate,
}

#[derive(Debug, Args)]
pub(crate) struct Controller {
    #[command(subcommand)]
    pub(crate) verb: ControllerVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ControllerVerb {
    /// List the controllers
    List {
        /// Print one JSON document and nothing else
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Print a page of documentation, with formulas and parameters
        #[arg(long)]
        markdown: bool,
    },
    /// Show parameters, or terms and rules
    Show {
        /// A controller, e.g. `idm` or `fuzzy_driver.route.speed`
        name: String,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Show memberships, fired rules and output for given inputs
    Eval(Eval),
    /// Draw the control surface
    Surface {
        /// A fuzzy controller, e.g. `fuzzy_driver.route.speed`
        name: String,
        /// The picture to write (PNG)
        #[arg(long)]
        out: PathBuf,
        /// How rules that name one output term are joined
        #[arg(long, value_enum, default_value_t = Join::Max)]
        aggregation: Join,
    },
}

/// How rules that name one output term are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Join {
    /// By the strongest rule
    Max,
    /// By the sum of the rules
    Sum,
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// A fuzzy controller, e.g. `fuzzy_driver.route.speed`
    pub(crate) name: String,
    /// An input: `distance=10` (m) or `angle=0.3` (rad)
    #[arg(long = "input", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub(crate) inputs: Vec<String>,
    /// Evaluate every row of a table with the columns `distance` and `angle`
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    pub(crate) csv: Option<PathBuf>,
    /// How rules that name one output term are joined
    #[arg(long, value_enum, default_value_t = Join::Max)]
    pub(crate) aggregation: Join,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginVerb {
    /// List the plugins in the folders, with what became of each
    List {
        #[command(flatten)]
        extensions: ExtensionFlags,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Show what a plugin says about itself; runs none of it
    Info {
        /// The library
        file: PathBuf,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Try a plugin in child processes: determinism, hard inputs, state, speed, and a drive
    Check {
        /// The library
        file: PathBuf,
        /// Draw the course with the path that it drives beside that of the built-in module (PNG)
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Make a project that builds and passes the check as it is
    New {
        /// Its name: small letters, digits and _
        name: String,
        /// What it fills
        #[arg(long, value_enum, default_value_t = PluginKind::Controller)]
        kind: PluginKind,
        /// In which language
        #[arg(long, value_enum, default_value_t = PluginLanguage::Rust)]
        lang: PluginLanguage,
        /// Folder that it is made in
        #[arg(long, default_value = ".", value_name = "DIR")]
        at: PathBuf,
    },
    /// Lift the quarantine of a plugin, so that the next run loads it again
    Retry {
        /// Its id
        id: String,
        #[command(flatten)]
        extensions: ExtensionFlags,
    },
    /// Build a plugin, try it and deliver it; again whenever a file of it is saved
    Dev {
        /// Its project
        folder: PathBuf,
        /// Folder of plugins that it is delivered to
        #[arg(long, default_value = "plugins", value_name = "DIR")]
        into: PathBuf,
        /// Build and deliver once
        #[arg(long)]
        once: bool,
    },
}

/// What a plugin fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PluginKind {
    /// Finds the way
    Planner,
    /// Steers and accelerates
    Controller,
    /// Rates the driving
    Fitness,
    /// Says which stage of traffic signals is next
    #[value(name = "signal_controller")]
    SignalController,
}

/// In which language a new plugin is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PluginLanguage {
    /// Rust
    Rust,
    /// C
    C,
    /// C++
    Cpp,
}

/// What to do with scripts.
#[derive(Debug, Subcommand)]
pub(crate) enum ScriptVerb {
    /// Look for mistakes in a script, and for what is probably not meant
    Check {
        /// The script
        file: PathBuf,
        /// Look up vehicle types, stacks and places in this scenario [default: those beside the script, or in the
        /// folder above `scripts`; without any, what new scenarios have]
        #[arg(long)]
        scenario: Option<PathBuf>,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        extensions: ExtensionFlags,
    },
    /// Call one handler of a script for one agent, and show what it does
    RunOne(Box<RunOne>),
    /// Show what scripts can use
    Api {
        /// Print one JSON document and nothing else
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Print a page of documentation
        #[arg(long)]
        markdown: bool,
    },
    /// Make a script that drives
    New {
        /// Its name: small letters, digits and _
        name: String,
        /// Folder that it is made in
        #[arg(long, default_value = "scripts", value_name = "DIR")]
        at: PathBuf,
    },
}
