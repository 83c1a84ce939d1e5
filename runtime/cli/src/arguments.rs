//! The command line of `roadwright`: its commands and their options.

use crate::agent_times::{ExplainedAgent, agent_at, agent_at_from, explained_agent};
use crate::commands::{BenchVerb, Compare, GenerateVerb, MovesVerb, Plan, Train, VehicleVerb};
use clap::{Args, Parser, Subcommand};
use roadwright_extension::ISOLATED_MEMORY;
use roadwright_scenario::{DynamicsLevel, MapPart};
use std::path::PathBuf;

/// Draw road networks, let agents drive on them, and measure how well they do.
///
/// Without a command the editor opens with the shipped scenario old-town. Without a display, that scenario is
/// run and drawn instead.
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

Exit codes: 0 success; 1 the command finished and found a problem; 2 the arguments or the input were invalid; \
128 + N stopped by signal N (Ctrl-C 130, SIGTERM 143, SIGHUP 129).";

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Open the editor.
    Edit {
        /// Scenario to open [default: the shipped scenario old-town]
        file: Option<PathBuf>,
    },
    /// Run a scenario and report the results.
    Run(RunScenario),
    /// Check a scenario or an experiment for mistakes.
    Check(Check),
    /// Show the rules of the junctions of a scenario.
    Junction(Junction),
    /// Benchmark drivers on courses (with error bars) and junctions (capacities, delays,
    /// forecasts).
    Bench {
        #[command(subcommand)]
        verb: BenchVerb,
    },
    /// Train the parameters of modules on some courses, and evaluate the result on others.
    Train(Box<Train>),
    /// Compare results of `bench run` in pairs with the same seed (same as `bench compare`).
    Compare(Compare),
    /// Plan the path of a trip on roads or off them, or plan paths on grid maps.
    Plan(Box<Plan>),
    /// Create a scenario from OpenStreetMap data.
    Import(Import),
    /// Bundle a scenario with everything it needs into one file.
    Pack(Pack),
    /// Unpack a bundle without running anything in it.
    Unpack(Unpack),
    /// Draw a scenario as a picture.
    Render(Render),
    /// Inspect the built-in controllers.
    Controller(Controller),
    /// Check, show and measure vehicle files.
    Vehicle {
        #[command(subcommand)]
        verb: VehicleVerb,
    },
    /// Record clips of driving, build graphs of moves from clips, and check or show such graphs.
    Moves {
        #[command(subcommand)]
        verb: MovesVerb,
    },
    /// Generate scenarios from a seed.
    Generate {
        #[command(subcommand)]
        verb: GenerateVerb,
    },
    /// Create, build, inspect and list compiled plugins.
    Plugin {
        #[command(subcommand)]
        verb: PluginVerb,
    },
    /// Create and check behaviour scripts.
    Script {
        #[command(subcommand)]
        verb: ScriptVerb,
    },
    /// Entry point of child processes; only called by Roadwright itself.
    #[command(hide = true)]
    PluginHost {
        /// Arguments of the call
        arguments: Vec<std::ffi::OsString>,
    },
    /// Print shell completions, e.g. `roadwright completions bash > /etc/bash_completion.d/roadwright`.
    Completions {
        /// Shell for which to print completions
        shell: clap_complete::Shell,
    },
}

/// Flags of all commands that simulate.
#[derive(Debug, Clone, Args)]
pub(crate) struct Simulate {
    /// Seed of all random streams [default: the scenario's]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Time step in seconds [default: the scenario's]
    #[arg(long)]
    pub(crate) dt: Option<f64>,
    /// Number of threads; does not affect the result
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Add this many cars with random trips
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) populate: usize,
    /// Where the trips of --populate begin and end
    #[arg(long, value_enum, default_value_t = PopulateFrom::Both, value_name = "WHERE")]
    pub(crate) populate_from: PopulateFrom,
    /// Stack of the cars that --populate adds
    #[arg(long, default_value = "idm", value_name = "STACK")]
    pub(crate) stack: String,
    /// Simulate all spawned agents with this model: `one_track`, `lane` for large-scale traffic,
    /// `dynamic_one_track` with tyre slip, `sliding` for cars that skid in bends, or `rigid` for bodies on
    /// springs that can collide [default: as in the scenario]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) dynamics: Option<DynamicsLevel>,
    /// Time of day at the start, in hours from 0 to below 24 [default: the scenario's]
    #[arg(long, value_name = "HOURS")]
    pub(crate) time_of_day: Option<f64>,
    /// Pedestrians per hour on each side of each crossing that has no separate rate [default: the scenario's]
    #[arg(long, value_name = "RATE")]
    pub(crate) pedestrians: Option<f64>,
    /// Check all bodies for contacts, including those of vehicles that follow lanes
    #[arg(long)]
    pub(crate) verify: bool,
    /// Use other modules in all stacks: `controller=pursuit`, `fitness=comfort,safety`, or `none` for an
    /// optional slot. `signal_controller=ID` lets a module control all signals
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
    /// Handler to call; on_start is called first for an agent that has not started
    #[arg(long, default_value = "behave")]
    pub(crate) event: String,
    /// Take the agent from this scenario [default: a generated agent at 8 m/s on an empty road]
    #[arg(long)]
    pub(crate) scenario: Option<PathBuf>,
    /// Simulate the scenario for this time before the call, in seconds
    #[arg(long, value_name = "SECONDS", requires = "scenario")]
    pub(crate) at: Option<f64>,
    /// Show each executed statement with its changes
    #[arg(long)]
    pub(crate) steps: bool,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) simulate: Simulate,
}

/// Vehicle for which `controller show lqr` computes gains.
#[derive(Debug, Clone, Args)]
pub(crate) struct Design {
    /// Vehicle for which to compute the gains of `lqr`: `car`, a shipped vehicle, or a file
    /// NAME.vehicle.json
    #[arg(long, value_name = "VEHICLE", requires = "speed")]
    pub(crate) vehicle: Option<String>,
    /// Speed of the vehicle, in m/s
    #[arg(long, value_name = "M/S", requires = "vehicle")]
    pub(crate) speed: Option<f64>,
    /// Level of dynamics of the vehicle: one_track, dynamic_one_track or sliding
    #[arg(
        long,
        value_name = "LEVEL",
        requires = "vehicle",
        default_value = "one_track"
    )]
    pub(crate) level: DynamicsLevel,
    /// Compute the gains for driving backwards, with the first trailer leading
    #[arg(long, requires = "vehicle")]
    pub(crate) reverse: bool,
}

/// Flags for external modules.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Plugins and scripts")]
pub(crate) struct ExtensionFlags {
    /// Search this folder for plugins, before the `plugins` folders of the scenario and of the user
    #[arg(long, value_name = "DIR")]
    pub(crate) plugins: Vec<PathBuf>,
    /// Search this folder for scripts, before the `scripts` folders of the scenario and of the user
    #[arg(long, value_name = "DIR")]
    pub(crate) scripts: Vec<PathBuf>,
    /// Allow the plugin with this hash to run (at least 8 digits); `plugin info` shows the hash
    #[arg(long, value_name = "HASH")]
    pub(crate) allow_plugin: Vec<String>,
    /// Allow all plugins to run; they can do everything that you can
    #[arg(long)]
    pub(crate) trust_plugins: bool,
    /// Run this plugin in a separate process
    #[arg(long, value_name = "ID")]
    pub(crate) isolate: Vec<String>,
    /// Memory limit of each isolated process, in MiB of address space
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = ISOLATED_MEMORY,
        value_parser = clap::value_parser!(u64).range(128..=1 << 30)
    )]
    pub(crate) isolated_memory: u64,
    /// Reload plugins and scripts that change while the scenario runs
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without --seconds the run lasts as long as the scenario specifies, or until all agents have arrived.\nCtrl-C, \
SIGTERM and SIGHUP stop the run, which still writes its summary and the results so far; the exit code is 130, 143 or 129.\nResult files \
are replaced when the run ends; a killed run leaves those of an earlier run. --save, --trace and --signals \
may be pipes or devices (/dev/null, or /dev/stdout with --quiet)."
)]
pub(crate) struct RunScenario {
    /// The scenario
    pub(crate) file: PathBuf,
    /// Simulated time in seconds [default: the scenario's, or until all agents have arrived]
    #[arg(long)]
    pub(crate) seconds: Option<f64>,
    #[command(flatten)]
    pub(crate) simulate: Simulate,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Continue with the built-in module if another module does not answer in time; the result is then marked
    /// as not reproducible
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Print the log of modules
    #[arg(long)]
    pub(crate) log: bool,
    /// Write the motion and the controls of every vehicle ten times a second, as CSV, and the scores of each
    /// drive to FILE.scores.csv
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Rows of --trace per second, at most one per step; rows are evenly spaced if their period is a multiple
    /// of the time step [default: 10]
    #[arg(long, value_name = "HZ", requires = "trace")]
    pub(crate) trace_rate: Option<f64>,
    /// Write the signals of all lanes at the start and at each change, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) signals: Option<PathBuf>,
    /// Write statistics of the run into a folder: `timeline.csv` with a row per second (arrivals, mean speed,
    /// queue, contacts, faults), `timeline.png` with its curves, `trips.csv` with a row per completed drive,
    /// and `heat.csv` with a row per 10 m of lane (occupied time, mean speed in m/s and relative to the
    /// limit, fraction of time with standing vehicles, collisions)
    #[arg(long, value_name = "DIR")]
    pub(crate) statistics: Option<PathBuf>,
    /// Measure the CPU time of each stage of the steps, and the share of planning; this does not affect the
    /// run
    #[arg(long)]
    pub(crate) stage_times: bool,
    /// Explain what an agent does and which vehicles it waits for, at the given time (s) or at the end of the
    /// run; may be repeated
    #[arg(long, value_name = "AGENT[@TIME]", value_parser = explained_agent)]
    pub(crate) explain: Vec<ExplainedAgent>,
    /// Uncouple the last trailer of an agent at the given time (s), or trailer N and all trailers behind it;
    /// may be repeated
    #[arg(long, value_name = "AGENT@TIME[:N]", value_parser = agent_at_from)]
    pub(crate) uncouple: Vec<(u64, f64, Option<u8>)>,
    /// At the given time (s), couple the trailers that stand at the free coupling of an agent; may be repeated
    #[arg(long, value_name = "AGENT@TIME", value_parser = agent_at)]
    pub(crate) couple: Vec<(u64, f64)>,
    /// Save the world at the end, so that a run can continue from there
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Continue from a saved world of this scenario instead of the start. The save contains seed,
    /// time step and time of day. Earlier `--use`, `--dynamics` and `--pedestrians` stay in effect.
    /// Giving one of them again makes the result a different run, which is reported
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["seed", "dt", "time_of_day", "populate"]
    )]
    pub(crate) restore: Option<PathBuf>,
    /// Save even if a module cannot save its state; that module starts fresh later
    #[arg(long, requires = "save")]
    pub(crate) allow_inexact: bool,
    /// Print errors only, without progress bar and summary
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
    /// Node of the junction to show [default: list all junctions]
    pub(crate) node: Option<u32>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// Places at which random trips begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PopulateFrom {
    /// Anywhere on the lanes
    Inside,
    /// At road ends on the edge of the map
    Edges,
    /// Half of the places at edges, half inside
    Both,
}

/// Side of the road to drive on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DriveOn {
    /// As in the country that the data are from
    Auto,
    /// Left-hand traffic
    Left,
    /// Right-hand traffic
    Right,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Input file: .osm XML or .osm.pbf
    pub(crate) file: PathBuf,
    /// The scenario to write
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Import only this box, in degrees: WEST,SOUTH,EAST,NORTH
    #[arg(
        long = "box",
        value_name = "W,S,E,N",
        allow_hyphen_values = true,
        value_delimiter = ',',
        num_args = 1
    )]
    pub(crate) clip: Option<Vec<f64>>,
    /// Side of the road to drive on
    #[arg(long, value_enum, default_value_t = DriveOn::Auto)]
    pub(crate) drive_on: DriveOn,
    /// Country whose traffic law applies (ISO 3166-1 alpha-2, such as US) [default: the country of the data]
    #[arg(long, value_name = "CODE")]
    pub(crate) country: Option<String>,
    /// Import roads only, without buildings, parks and water
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
    /// Also search this folder for plugins; the bundle contains only the hashes of plugins
    #[arg(long, value_name = "DIR")]
    pub(crate) plugins: Vec<PathBuf>,
    /// Search this folder for scripts, before the `scripts` folders of the scenario and of the user
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
    /// Folder to unpack into; must be new or empty
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
    /// Picture to write, a PNG or (with --until) a GIF
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Width and height in pixels
    #[arg(long, default_value = "1600x1000", value_name = "WxH")]
    pub(crate) size: String,
    /// Simulate this many seconds first, and draw the vehicles
    #[arg(long, value_name = "SECONDS")]
    pub(crate) at: Option<f64>,
    /// Record the run as a GIF from --at (default 0) until this time
    #[arg(long, value_name = "SECONDS")]
    pub(crate) until: Option<f64>,
    /// Simulated seconds between frames; 0.1 is real time in most viewers
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.1,
        requires = "until"
    )]
    pub(crate) every: f64,
    /// Draw only this part of the world, in metres: LEFT,BOTTOM,RIGHT,TOP [default: all roads and objects,
    /// without land beyond them]
    #[arg(
        long,
        value_name = "L,B,R,T",
        allow_hyphen_values = true,
        value_delimiter = ',',
        num_args = 1
    )]
    pub(crate) view: Option<Vec<f64>>,
    /// Use dark colours
    #[arg(long)]
    pub(crate) dark: bool,
    /// Draw the hulls, wheels and loads of `rigid` vehicles as the solver sees them
    #[arg(long)]
    pub(crate) bodies: bool,
    /// Hide these parts: roads, obstacles, forests, land, places, vehicles, or layer:N for the roads of a
    /// layer
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
        /// Print a Markdown page with formulas and parameters
        #[arg(long)]
        markdown: bool,
    },
    /// Show the parameters of a controller, or its terms and rules
    Show {
        /// A controller, e.g. `idm` or `fuzzy_driver.route.speed`
        name: String,
        #[command(flatten)]
        design: Design,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Show memberships, fired rules and output for given inputs
    Eval(Eval),
    /// Draw the control surface of a fuzzy controller
    Surface {
        /// A fuzzy controller, e.g. `fuzzy_driver.route.speed`
        name: String,
        /// The picture to write (PNG)
        #[arg(long)]
        out: PathBuf,
        /// Method of combining rules with the same output term
        #[arg(long, value_enum, default_value_t = Join::Max)]
        aggregation: Join,
    },
}

/// Method of combining rules with the same output term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Join {
    /// The strongest rule
    Max,
    /// The sum of the rules
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
    /// Method of combining rules with the same output term
    #[arg(long, value_enum, default_value_t = Join::Max)]
    pub(crate) aggregation: Join,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// Commands for plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginVerb {
    /// List the plugins in the plugin folders, with their states
    List {
        #[command(flatten)]
        extensions: ExtensionFlags,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Show the description of a plugin without running it
    Info {
        /// The plugin's library file
        file: PathBuf,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Test a plugin in child processes (determinism, extreme inputs, state, speed, test drive)
    Check {
        /// The plugin's library file
        file: PathBuf,
        /// Draw the course with the plugin's path beside that of the built-in module (PNG)
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Create a project that builds and passes the check
    New {
        /// Name: lower-case letters, digits and _
        name: String,
        /// Kind of module
        #[arg(long, value_enum, default_value_t = PluginKind::Controller)]
        kind: PluginKind,
        /// Programming language
        #[arg(long, value_enum, default_value_t = PluginLanguage::Rust)]
        lang: PluginLanguage,
        /// Parent folder of the new project
        #[arg(long, default_value = ".", value_name = "DIR")]
        at: PathBuf,
    },
    /// Print the fields, types, offsets, units and first versions of the binary interface's records
    Records {
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Lift the quarantine of a plugin, so that the next run loads it again
    Retry {
        /// Id of the plugin
        id: String,
        #[command(flatten)]
        extensions: ExtensionFlags,
    },
    /// Build a plugin, test it and install it; repeat whenever one of its files is saved
    Dev {
        /// Folder of the plugin's project
        folder: PathBuf,
        /// Plugin folder in which to install the plugin
        #[arg(long, default_value = "plugins", value_name = "DIR")]
        into: PathBuf,
        /// Build and install only once
        #[arg(long)]
        once: bool,
    },
}

/// Kind of module that a plugin provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PluginKind {
    /// Finds routes
    Planner,
    /// Finds paths on open ground
    #[value(name = "ground_planner")]
    GroundPlanner,
    /// Steers and accelerates
    Controller,
    /// Scores driving
    Fitness,
    /// Chooses the next stage of traffic signals
    #[value(name = "signal_controller")]
    SignalController,
}

/// Programming language of a new plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PluginLanguage {
    /// Rust
    Rust,
    /// C
    C,
    /// C++
    Cpp,
}

/// Commands for scripts.
#[derive(Debug, Subcommand)]
pub(crate) enum ScriptVerb {
    /// Check a script for mistakes and suspicious code
    Check {
        /// The script
        file: PathBuf,
        /// Look up vehicle types, stacks and places in this scenario [default: scenarios beside the script or
        /// in the folder above `scripts`, or else a new scenario]
        #[arg(long)]
        scenario: Option<PathBuf>,
        /// Print one JSON document and nothing else
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        extensions: ExtensionFlags,
    },
    /// Call one handler of a script for one agent, and show the effects
    RunOne(Box<RunOne>),
    /// Show the API for scripts
    Api {
        /// Print one JSON document and nothing else
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Print a Markdown page
        #[arg(long)]
        markdown: bool,
    },
    /// Create a script that drives a vehicle
    New {
        /// Name: lower-case letters, digits and _
        name: String,
        /// Folder for the new script
        #[arg(long, default_value = "scripts", value_name = "DIR")]
        at: PathBuf,
    },
}
