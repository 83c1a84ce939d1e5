//! The state that panels read, and the actions that they may request.

use crate::arrangement::Arrangement;
use crate::autosave::Recovery;
use crate::background::Background;
use crate::camera::Camera;
use crate::command::Command;
use crate::damaged::Damaged;
use crate::document::Document;
use crate::drawn_route::DrawnRoute;
use crate::experiment::{ExperimentAction, ExperimentFile, ExperimentModel};
use crate::extensions::{Modules, StepRequest};
use crate::folder_list::ListedFolder;
use crate::gamepad::PadState;
use crate::import_report::ImportReport;
use crate::input::KeyChord;
use crate::kept_runs::{KeptRunAction, KeptRuns};
use crate::live::{LivePicture, PathNotice};
use crate::moves::{MoveBench, MovesAction};
use crate::panel::PanelId;
use crate::race::{Race, RaceAction};
use crate::route_source::RouteSource;
use crate::scene::Scene;
use crate::settings::{Settings, TimelineView};
use crate::theme::Theme;
pub use crate::tone::Tone;
use crate::tools::{RoadPreset, ToolKind};
use crate::workshop::{Workshop, WorkshopAction};
use roadwright_bundle::{Bundle, Lack};
use roadwright_geometry::DVec2;
use roadwright_scenario::check::{Code, Finding};
use roadwright_scenario::junction::LaneEnd;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{AgentId, Edit, NodeId, ObjectId, Scenario};
use roadwright_simulation::{CouplingOrder, HandControls, PlannedRoute};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Available speeds of the simulation.
pub(crate) const SPEEDS: [f64; 11] = [
    0.1,
    0.25,
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    16.0,
    50.0,
    100.0,
    f64::INFINITY,
];

/// The state of the editor, apart from the widgets. Panels, the map and keys read it and send
/// [`Action`]s. It changes in one place, after the frame. Between frames, results of background
/// work are also put into it: scenes, findings, files, and the newest snapshot of the run.
///
/// All widgets of a frame therefore see the same state, regardless of the order in which panels are
/// drawn. State that only a widget needs (typed text, the stroke in progress, the docking of
/// panels) belongs to the view state.
pub struct Model {
    /// The edited scenario.
    pub document: Document,
    /// The user's scenario, while another document is shown in its place.
    pub waiting: Option<Arc<Scenario>>,
    /// Data derived from the scenario, possibly from its previous revision.
    pub scene: Arc<Scene>,
    /// Findings of the check, and the checked revision.
    pub findings: (u64, Arc<Vec<Finding>>),
    /// The selection of problems to show.
    pub problems: ShownProblems,
    /// Result of the last import.
    pub import: Option<Arc<ImportReport>>,
    /// Plugins, scripts and all available modules.
    pub modules: Modules,
    /// The selected objects.
    pub selection: Objects,
    /// The explained connection between two lanes through the selected junction.
    pub explained: Option<(LaneEnd, LaneEnd)>,
    /// The last measured line, m.
    pub measured: Vec<DVec2>,
    /// Planned routes of selected vehicles and flows.
    pub(crate) routes: PlannedRoutes,
    /// Routes for tools and for the background.
    pub(crate) route_source: RouteSource,
    /// The route of the trip being drawn, once found.
    pub drawn_route: Option<DrawnRoute>,
    /// The current tool.
    pub tool: ToolKind,
    /// The view of the map.
    pub camera: Camera,
    /// Settings kept between sessions.
    pub settings: Settings,
    /// The newest snapshot of the running simulation, if there is one.
    pub live: Option<Arc<LivePicture>>,
    /// Runs kept for comparison.
    pub kept_runs: KeptRuns,
    /// Simulated seconds per second; infinity runs as fast as possible.
    pub speed: f64,
    /// The watched agent.
    pub watched: Option<u64>,
    /// Whether the map follows the watched agent.
    pub follow: bool,
    /// The agent under manual control, and its controls.
    pub driving: Option<(u64, HandControls)>,
    /// Gamepads, while the user drives.
    pub pad: PadState,
    /// The background picture.
    pub background: Option<Background>,
    /// Experiments and training.
    pub experiment: ExperimentModel,
    /// The open dialog.
    pub dialog: Dialog,
    /// The folder shown in the path dialog.
    pub folder: ListedFolder,
    /// Status line text that describes the current functions of the mouse buttons.
    pub status: String,
    /// World point under the pointer, m.
    pub pointer: Option<DVec2>,
    /// Background work: its description, and its progress from 0 to 1 (`None` if unknown).
    pub job: Option<(String, Option<f32>)>,
    /// Autosaves of sessions that crashed.
    pub recoveries: Vec<Recovery>,
    /// The last file that could not be opened.
    pub damaged: Option<Arc<Damaged>>,
    /// Whether another program has changed the document's file.
    pub changed_on_disk: bool,
    /// The last bundle read, until it is unpacked or closed.
    pub bundle: Option<Arc<OpenBundle>>,
    /// The vehicle workshop.
    pub workshop: Workshop,
    /// Clips of driving, and the library of moves built from them.
    pub moves: MoveBench,
    /// The race of the user on a course.
    pub race: Option<Race>,
}

impl Model {
    /// Returns the colours of the theme in use.
    pub(crate) fn theme(&self) -> Theme {
        Theme {
            dark: self.settings.dark,
        }
    }

    /// Returns the name of the scenario, with a mark if it has unsaved changes.
    pub fn title(&self) -> String {
        let mark = if self.document.is_dirty() { " •" } else { "" };
        format!("{}{mark}", self.document.title())
    }

    /// Whether the simulation is playing.
    pub fn is_playing(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_playing)
    }

    /// Returns the agents of the run that have no path or are still searching for one.
    pub(crate) fn without_path(&self) -> &[PathNotice] {
        self.live.as_ref().map_or(&[], |live| &live.without_path)
    }

    /// Returns the number of problems: findings of the check, and agents without a known path.
    pub(crate) fn problem_count(&self) -> usize {
        self.findings.1.len() + self.without_path().len()
    }

    /// Returns the findings that the Problems panel lists.
    pub(crate) fn listed_problems(&self) -> impl Iterator<Item = &Finding> {
        let place = self.problems.place;
        let is_there = move |at: DVec2| {
            place.is_none_or(|(low, high)| at.cmpge(low).all() && at.cmple(high).all())
        };
        self.findings
            .1
            .iter()
            .filter(move |finding| is_there(finding.place))
    }

    /// Returns the selected object, if there is exactly one.
    pub fn single(&self) -> Option<ObjectId> {
        match self.selection.len() {
            1 => self.selection.first().copied(),
            _ => None,
        }
    }

    /// Returns the selected agents.
    pub(crate) fn selected_agents(&self) -> Vec<AgentId> {
        let objects = self.selection.iter();
        let agents = objects.filter_map(|object| match object {
            ObjectId::Agent(id) => Some(*id),
            _ => None,
        });
        agents.collect()
    }

    /// Returns the selected nodes.
    pub(crate) fn selected_nodes(&self) -> impl Iterator<Item = NodeId> {
        let objects = self.selection.iter();
        objects.filter_map(|object| match object {
            ObjectId::Node(id) => Some(*id),
            _ => None,
        })
    }
}

/// The selection of problems to show. It is saved neither in the scenario nor in the settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShownProblems {
    /// Kinds that are hidden on the map and folded in the list.
    pub hidden: BTreeSet<Code>,
    /// The corners of the box whose problems are listed, m; `None` for all.
    pub place: Option<(DVec2, DVec2)>,
}

/// The routes of trips; `None` for trips without a route.
pub(crate) type PlannedRoutes = BTreeMap<ObjectId, Option<PlannedRoute>>;

/// A bundle that was read but not unpacked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenBundle {
    /// File of the bundle.
    pub path: PathBuf,
    /// Contents of the bundle.
    pub bundle: Bundle,
    /// Modules and files that the bundle's scenario needs and that are missing here.
    pub lacks: Vec<Lack>,
    /// Road presets of the bundle that the user does not have.
    pub presets: Vec<RoadPreset>,
}

/// The operation that waits for confirmation about unsaved changes.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Creating a new scenario.
    New,
    /// Opening another file.
    Open(PathBuf),
    /// Opening a shipped scenario.
    Shipped(usize),
    /// Importing a map extract.
    Import(PathBuf),
    /// Recovering an autosave.
    Recover(usize),
    /// Opening the readable part of a damaged file.
    Salvaged,
    /// Opening a document that was loaded while the old one was still being edited.
    Loaded,
    /// Returning to the document from the world of an individual.
    Back,
    /// Quitting the program.
    Quit,
}

/// Purpose of a requested path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A scenario to open.
    Open,
    /// A path for the scenario.
    Save,
    /// A map extract to import.
    Import,
    /// A path for a picture.
    Picture,
    /// A background picture to open.
    Background,
    /// A path for a bundle.
    Share,
    /// Folder for the tables of a run.
    Results,
    /// Folder for the comparison of two runs.
    Comparison,
    /// A path for the recording of a manual drive.
    Drive,
    /// A path of an experiment, its training record or its results.
    Experiment(ExperimentFile),
    /// A vehicle file for the workshop.
    OpenVehicle,
    /// A vehicle file to compare the workshop's vehicle with.
    CompareVehicle,
    /// A path for the vehicle of the workshop.
    SaveVehicle,
    /// A path for the vehicle of the workshop, to be used in a vehicle type of the scenario.
    UseVehicle,
    /// A clip file for the Moves panel.
    OpenClips,
    /// A path for the moves and clips of the Moves panel.
    SaveMoves,
}

impl Purpose {
    /// Returns the file extensions for this purpose; empty if a folder is requested.
    pub(crate) fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Open => &[".json", ".rwz"],
            Self::Save => &[".scenario.json"],
            Self::Import => &[".osm", ".pbf", ".xml"],
            Self::Picture => &[".png"],
            Self::Background => &[".png", ".jpg", ".jpeg"],
            Self::Share => &[".rwz"],
            Self::Results | Self::Comparison => &[],
            Self::Drive => &[".csv"],
            Self::Experiment(_) => &[".json"],
            Self::OpenVehicle | Self::CompareVehicle | Self::SaveVehicle | Self::UseVehicle => {
                &[".vehicle.json"]
            }
            Self::OpenClips => &[".clips.json", ".moves.json"],
            Self::SaveMoves => &[".moves.json"],
        }
    }

    /// Returns the file extensions for this purpose, reduced to the part after the last dot, as
    /// desktop dialogs need them.
    pub(crate) fn extensions(self) -> Vec<&'static str> {
        let last = |ending: &&'static str| ending.rsplit('.').next();
        self.endings().iter().filter_map(last).collect()
    }
}

/// The open dialog and its initial contents. Text typed later belongs to the dialog, which sends it when it
/// closes.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Dialog {
    /// No dialog is open.
    #[default]
    None,
    /// The welcome panel with shipped scenarios and recent files.
    Welcome,
    /// Asks what to do with unsaved changes.
    Unsaved(Next),
    /// Shows a file that could not be opened.
    Damaged,
    /// Asks for a path.
    Path {
        /// Purpose of the path.
        purpose: Purpose,
        /// The suggested path.
        text: String,
        /// The operation to continue with after saving.
        then: Option<Next>,
    },
    /// Finds commands, names, objects and problems.
    Palette {
        /// The search text.
        query: String,
        /// Index of the selected line.
        line: usize,
    },
    /// Lists the keys of all commands.
    Keys {
        /// The command that waits for its new key.
        waiting: Option<Command>,
        /// Filter for the listed names.
        filter: String,
    },
    /// Asks whether a build may run for the first time.
    AllowPlugin,
    /// Shows a bundle and asks where to unpack it.
    Bundle {
        /// Path of the target folder, as text.
        folder: String,
        /// Whether to add the road presets of the bundle to those of the user.
        presets: bool,
    },
}

impl Dialog {
    /// Returns an empty command palette.
    pub(crate) fn palette() -> Self {
        Self::Palette {
            query: String::new(),
            line: 0,
        }
    }

    /// Returns the key sheet with all commands.
    pub(crate) fn keys() -> Self {
        Self::Keys {
            waiting: None,
            filter: String::new(),
        }
    }
}

/// An action requested by a panel, the map or a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Carries out a command.
    Do(Command),
    /// Applies an edit as a separate step.
    Apply(String, Edit),
    /// Applies the suggested repair of a problem.
    Repair(Finding),
    /// Applies the suggested repairs of all problems of a kind as one step.
    RepairAll(Code),
    /// Sets the state of the gesture in progress.
    Preview(String, Edit),
    /// Ends the gesture in progress, or only the one with this label.
    Commit(Option<String>),
    /// Cancels the gesture.
    Abort,
    /// Changes the selection.
    Select(Objects),
    /// Sets the measured line, with which the planned path of the watched vehicle is compared.
    /// Points are in m.
    Measured(Vec<DVec2>),
    /// Explains the connection between two lanes through the selected junction; `None` ends the explanation.
    Explain(Option<(LaneEnd, LaneEnd)>),
    /// Shows this box on the map.
    Jump(DVec2, DVec2),
    /// Goes to the state after this many steps of the history.
    GoToStep(usize),
    /// Pastes text from the system's clipboard. The text may be part of a scenario from another
    /// window. For other text, the last copied objects are pasted.
    PasteText(String),
    /// Changes the settings.
    Settings(Box<Settings>),
    /// Binds a command to another key.
    BindKey(Command, KeyChord),
    /// Restores the default keys of all commands.
    ResetKeys,
    /// Selects another tool.
    Tool(ToolKind),
    /// Selects another tool and clicks with it at this point, m.
    Begin(ToolKind, DVec2),
    /// Adds vehicles with random trips according to the options of the vehicle tool.
    AddRandomTrips,
    /// Arranges the selection.
    Arrange(Arrangement),
    /// Pastes the copied objects around this point, m.
    PasteAt(DVec2),
    /// Changes the speed of the simulation.
    Speed(f64),
    /// Watches another agent.
    Watch(Option<u64>),
    /// Shows the run at an earlier time, s.
    LookBack(f64),
    /// Shows the present state of the run.
    BackToPresent,
    /// Sets the controls of the manually driven vehicle; `None` returns it to its modules.
    Drive(Option<HandControls>),
    /// Couples or uncouples the trailers of a driving agent.
    Coupling(u64, CouplingOrder),
    /// Moves the background picture by this vector, m.
    MoveBackground(DVec2),
    /// Resets the layer chosen for a stroke, because the stroke has ended.
    ForgetLayer,
    /// Scales the background picture.
    ScaleBackground(f64),
    /// Sets the background picture's opacity, 0 to 1.
    FadeBackground(f32),
    /// Removes the background picture.
    DropBackground,
    /// Shows another dialog.
    Show(Dialog),
    /// Brings a panel to the front.
    ShowPanel(PanelId),
    /// Opens the system's dialog for a path.
    Browse(Purpose, Option<Next>),
    /// Lists another folder in the path dialog.
    ListFolder(PathBuf),
    /// Asks for a path, with a suggestion.
    AskPath(Purpose),
    /// Handles an entered path.
    Path(PathBuf, Purpose, Option<Next>),
    /// Asks for confirmation, and then starts an operation that would lose unsaved changes.
    Leave(Next),
    /// Starts, without asking, an operation that would lose unsaved changes. The user has already confirmed
    /// it.
    Go(Next),
    /// Discards the autosaves of crashed sessions.
    DiscardRecoveries,
    /// Unpacks the bundle into a folder and opens it there.
    Unpack {
        /// The target folder, which is new or empty.
        folder: PathBuf,
        /// Whether to add the road presets of the bundle to those of the user.
        presets: bool,
    },
    /// Reloads the document from its file.
    Reload,
    /// Keeps the document and ignores the file on disk.
    KeepMine,
    /// Cancels background work.
    CancelJob,
    /// Shows a message.
    Say(Tone, String),
    /// An action on plugins and scripts.
    Module(ModuleAction),
    /// An action on experiments.
    Experiment(ExperimentAction),
    /// An action on kept runs.
    KeptRun(KeptRunAction),
    /// An action in the vehicle workshop.
    Workshop(WorkshopAction),
    /// An action on clips and moves.
    Moves(MovesAction),
    /// An action of a race on a course.
    Race(RaceAction),
    /// A change of the view that the map has already shown in this frame.
    View(ViewAction),
}

/// Changes of the view, most of them by mouse input on the map. The map applies them in the same
/// frame, so that panning and zooming follow the pointer without delay, and sends them afterwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ViewAction {
    /// Sets the view of the map.
    Look(Camera),
    /// Stops following the watched vehicle.
    StopFollowing,
    /// Sets the world point under the pointer, m; `None` if the pointer is not on the map.
    Point(Option<DVec2>),
    /// Hides the problems of a kind, or shows them again.
    ToggleProblems(Code),
    /// Lists only the problems inside a box, given by its corners in m; `None` lists all.
    ListProblems(Option<(DVec2, DVec2)>),
    /// Sets the content and height of the timeline.
    Timeline(TimelineView),
}

/// Actions on plugins and scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleAction {
    /// Allows the build with this hash to run.
    Allow(String),
    /// Allows all builds in this folder to run, including later ones.
    AllowFolder(PathBuf),
    /// Revokes the permission of a folder.
    ForgetFolder(PathBuf),
    /// Declines a build for this session.
    Decline(String),
    /// Reloads the module's file.
    Reload(String),
    /// Disables (`true`) or enables (`false`) the module.
    Disable(String, bool),
    /// Runs the module in a separate process (`true`) or in this process (`false`).
    Isolate(String, bool),
    /// Returns to the previous build of the module.
    RollBack(String),
    /// Opens the folder of a file in the system's file manager.
    OpenFolder(PathBuf),
    /// Saves a script.
    SaveScript {
        /// Id of the script.
        id: String,
        /// Text of the script.
        text: String,
        /// Contents of the file when the draft was started. They are compared with the file, so
        /// that later changes by other programs are not overwritten.
        base: String,
        /// Whether to save even if the script has errors.
        anyway: bool,
    },
    /// Checks the text of a script, given with its id, for errors.
    CheckScript(String, String),
    /// Runs one handler of a script's text for one agent, statement by statement.
    StepThrough(StepRequest),
    /// Stops stepping through a script.
    EndStepping,
    /// Creates a new script.
    NewScript(String),
    /// Answers a time-out of a module: the simulation continues without it, or stays paused.
    TimedOut {
        /// Whether the simulation continues.
        goes_on: bool,
    },
    /// Restarts the program without the module whose native call hangs.
    RestartWithout(String),
}
