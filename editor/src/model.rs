//! What panels read, and what they may ask for.

use crate::arrangement::Arrangement;
use crate::autosave::Recovery;
use crate::background::Background;
use crate::camera::Camera;
use crate::command::Command;
use crate::damaged::Damaged;
use crate::document::Document;
use crate::experiment::{ExperimentAction, ExperimentFile, ExperimentModel};
use crate::extensions::{Modules, StepRequest};
use crate::folder_list::ListedFolder;
use crate::gamepad::PadState;
use crate::import_report::ImportReport;
use crate::input::KeyChord;
use crate::kept_runs::{KeptRunAction, KeptRuns};
use crate::live::LivePicture;
use crate::panel::PanelId;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::theme::Theme;
use crate::tools::{RoadPreset, ToolKind};
use crate::workshop::{Workshop, WorkshopAction};
use roadwright_bundle::{Bundle, Lack};
use roadwright_geometry::DVec2;
use roadwright_scenario::check::Finding;
use roadwright_scenario::junction::LaneEnd;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Edit, NodeId, ObjectId, Scenario};
use roadwright_simulation::{CouplingOrder, HandControls, PlannedRoute};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Speeds of the simulation: the slowest, the fastest by the clock.
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
/// [`Action`]s; it changes in one place, after the frame. Between frames it also takes in what was
/// worked on beside them: scenes, findings, files, the newest picture of the run.
///
/// So every widget of a frame sees the same state, whatever the order of the panels is. What a
/// widget needs for itself (typed text, the stroke under way, how panels are docked) is not here
/// but in the view state.
pub struct Model {
    /// The scenario that is edited.
    pub document: Document,
    /// The scenario of the person, while something else stands in the place of the document.
    pub waiting: Option<Arc<Scenario>>,
    /// What was derived from it, perhaps a moment ago.
    pub scene: Arc<Scene>,
    /// What is wrong with it, and the revision that was looked at.
    pub findings: (u64, Arc<Vec<Finding>>),
    /// What the last import came to.
    pub import: Option<Arc<ImportReport>>,
    /// Plugins, scripts and all modules to choose from.
    pub modules: Modules,
    /// What is selected.
    pub selection: Objects,
    /// The way from lane to lane through the selected junction that is explained.
    pub explained: Option<(LaneEnd, LaneEnd)>,
    /// Where selected vehicles and flows will drive.
    pub(crate) routes: PlannedRoutes,
    /// The tool in hand.
    pub tool: ToolKind,
    /// Where the map looks.
    pub camera: Camera,
    /// What is kept between sessions.
    pub settings: Settings,
    /// The running simulation at its newest moment, if there is one.
    pub live: Option<Arc<LivePicture>>,
    /// Runs that are kept for comparison.
    pub kept_runs: KeptRuns,
    /// Simulated seconds per second; infinite for as fast as possible.
    pub speed: f64,
    /// The agent that is looked into.
    pub watched: Option<u64>,
    /// Whether the map follows it.
    pub follow: bool,
    /// The agent that the person at the keyboard drives, and where the controls are.
    pub driving: Option<(u64, HandControls)>,
    /// Gamepads, while somebody drives.
    pub pad: PadState,
    /// The picture behind the map.
    pub background: Option<Background>,
    /// What is trained.
    pub experiment: ExperimentModel,
    /// The window that is open over the others.
    pub dialog: Dialog,
    /// The folder that a question for a path is about.
    pub folder: ListedFolder,
    /// What the tool's mouse buttons do now.
    pub status: String,
    /// World point under the pointer, m.
    pub pointer: Option<DVec2>,
    /// Work beside the frame: what it is and how far it is, 0 to 1; `None` unknown.
    pub job: Option<(String, Option<f32>)>,
    /// What sessions that crashed have left.
    pub recoveries: Vec<Recovery>,
    /// The file that could not be opened last.
    pub damaged: Option<Arc<Damaged>>,
    /// Whether the file has been changed by someone else.
    pub changed_on_disk: bool,
    /// The bundle that was read last, until it is unpacked or put away.
    pub bundle: Option<Arc<OpenBundle>>,
    /// The vehicle workshop.
    pub workshop: Workshop,
}

impl Model {
    /// The colours.
    pub(crate) fn theme(&self) -> Theme {
        Theme {
            dark: self.settings.dark,
        }
    }

    /// The name of the scenario, with a mark while it has changes that are not saved.
    pub fn title(&self) -> String {
        let mark = if self.document.is_dirty() { " •" } else { "" };
        format!("{}{mark}", self.document.title())
    }

    /// Whether the simulation runs.
    pub fn is_playing(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_playing)
    }

    /// The only selected object.
    pub fn single(&self) -> Option<ObjectId> {
        match self.selection.len() {
            1 => self.selection.first().copied(),
            _ => None,
        }
    }

    /// The nodes that are selected.
    pub(crate) fn selected_nodes(&self) -> impl Iterator<Item = NodeId> {
        let objects = self.selection.iter();
        objects.filter_map(|object| match object {
            ObjectId::Node(id) => Some(*id),
            _ => None,
        })
    }
}

/// The routes of trips; `None` for a trip without one.
pub(crate) type PlannedRoutes = BTreeMap<ObjectId, Option<PlannedRoute>>;

/// A bundle that was read and not unpacked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenBundle {
    /// Its file.
    pub path: PathBuf,
    /// What is in it.
    pub bundle: Bundle,
    /// What its scenario uses that is not here.
    pub lacks: Vec<Lack>,
    /// Presets of roads in it that one does not have.
    pub presets: Vec<RoadPreset>,
}

/// What a question about unsaved changes is asked before.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// An empty scenario.
    New,
    /// Another file.
    Open(PathBuf),
    /// A shipped scenario.
    Shipped(usize),
    /// An import.
    Import(PathBuf),
    /// What a crash left.
    Recover(usize),
    /// What can be read of the file that could not be opened.
    Salvaged,
    /// A document that was read while the old one was still edited.
    Loaded,
    /// The document that waits while the world of an individual is shown.
    Back,
    /// The end.
    Quit,
}

/// What a path is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A scenario to open.
    Open,
    /// Where to save.
    Save,
    /// A map extract to import.
    Import,
    /// Where to write a picture.
    Picture,
    /// A picture to trace.
    Background,
    /// Where to write a bundle.
    Share,
    /// The folder to write the tables of a run into.
    Results,
    /// The folder to write the comparison of two runs into.
    Comparison,
    /// Where to write what was driven by hand.
    Drive,
    /// Something about experiments.
    Experiment(ExperimentFile),
    /// A vehicle file for the workshop.
    OpenVehicle,
    /// One that the vehicle of the workshop is compared with.
    CompareVehicle,
    /// Where to save the vehicle of the workshop.
    SaveVehicle,
    /// The same, for a vehicle type of the scenario.
    UseVehicle,
}

impl Purpose {
    /// How names of files end that fit; none where a folder is asked for.
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
        }
    }

    /// The same without what comes before the last dot, as dialogs of desktops want it.
    pub(crate) fn extensions(self) -> Vec<&'static str> {
        let last = |ending: &&'static str| ending.rsplit('.').next();
        self.endings().iter().filter_map(last).collect()
    }
}

/// The window that is open over the others, and what it opens with. What has been typed into it
/// since is the window's own, and is sent when it is finished.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Dialog {
    /// None.
    #[default]
    None,
    /// Shipped scenarios and recent files.
    Welcome,
    /// There are unsaved changes.
    Unsaved(Next),
    /// A file could not be opened.
    Damaged,
    /// A path is asked for.
    Path {
        /// What for.
        purpose: Purpose,
        /// A suggestion.
        text: String,
        /// What to do once it is saved.
        then: Option<Next>,
    },
    /// All commands.
    Palette {
        /// What is searched for.
        query: String,
        /// The chosen line.
        line: usize,
    },
    /// All keys.
    Keys {
        /// The command whose new key is waited for.
        waiting: Option<Command>,
        /// Part of the names that are listed.
        filter: String,
    },
    /// A build wants to run for the first time.
    AllowPlugin,
    /// Streets by name.
    Search {
        /// What is searched for.
        query: String,
    },
    /// A bundle was read; where to unpack it.
    Bundle {
        /// The folder, as a text.
        folder: String,
        /// Whether its presets of roads are added to one's own.
        presets: bool,
    },
}

impl Dialog {
    /// The command palette, empty.
    pub(crate) fn palette() -> Self {
        Self::Palette {
            query: String::new(),
            line: 0,
        }
    }

    /// The key sheet with all commands.
    pub(crate) fn keys() -> Self {
        Self::Keys {
            waiting: None,
            filter: String::new(),
        }
    }

    /// The search for streets, empty.
    pub(crate) fn search() -> Self {
        Self::Search {
            query: String::new(),
        }
    }
}

/// What a panel, the map or a key asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A command.
    Do(Command),
    /// An edit as a step of its own.
    Apply(String, Edit),
    /// What nearly everybody would do about a problem.
    Repair(Finding),
    /// The state of the gesture under way.
    Preview(String, Edit),
    /// The end of the gesture, or of the one with this label only.
    Commit(Option<String>),
    /// The gesture is taken back.
    Abort,
    /// Another selection.
    Select(Objects),
    /// A way from lane to lane through the selected junction is explained, or none any more.
    Explain(Option<(LaneEnd, LaneEnd)>),
    /// The map shows this box.
    Jump(DVec2, DVec2),
    /// The state after this many steps of the history.
    GoToStep(usize),
    /// Text from the system's clipboard is pasted: a piece of a scenario, perhaps of another
    /// window. Other text is left aside, and what was copied here last is pasted.
    PasteText(String),
    /// Other settings.
    Settings(Box<Settings>),
    /// A command has another key.
    BindKey(Command, KeyChord),
    /// All commands have their standard keys.
    ResetKeys,
    /// Another tool.
    Tool(ToolKind),
    /// Another tool, whose first click is at this point, m.
    Begin(ToolKind, DVec2),
    /// Vehicles on random trips, as the options of the vehicle tool say.
    AddRandomTrips,
    /// The selection is put in order.
    Arrange(Arrangement),
    /// What was copied is added around this point, m.
    PasteAt(DVec2),
    /// Another speed of the simulation.
    Speed(f64),
    /// Another agent is looked into.
    Watch(Option<u64>),
    /// The run is looked at as it was at a time, s.
    LookBack(f64),
    /// The run is looked at as it is now.
    BackToPresent,
    /// The controls of the vehicle that is driven by hand; `None` gives it back to its modules.
    Drive(Option<HandControls>),
    /// The trailers of an agent under way are let go or joined on.
    Coupling(u64, CouplingOrder),
    /// The background picture is moved, m.
    MoveBackground(DVec2),
    /// The background picture is stretched.
    ScaleBackground(f64),
    /// The background picture's opacity, 0 to 1.
    FadeBackground(f32),
    /// The background picture goes.
    DropBackground,
    /// Another window.
    Show(Dialog),
    /// A panel comes to the front.
    ShowPanel(PanelId),
    /// A native dialog for a path.
    Browse(Purpose, Option<Next>),
    /// Another folder is to be listed.
    ListFolder(PathBuf),
    /// A path is asked for, with a suggestion.
    AskPath(Purpose),
    /// A path was given.
    Path(PathBuf, Purpose, Option<Next>),
    /// Something that would lose unsaved changes: asks first.
    Leave(Next),
    /// The same, asked already.
    Go(Next),
    /// What crashed sessions have left is not wanted.
    DiscardRecoveries,
    /// The bundle that was read is unpacked into a folder and opened there.
    Unpack {
        /// The folder, which is new or empty.
        folder: PathBuf,
        /// Whether its presets of roads are added to one's own.
        presets: bool,
    },
    /// The file is read again.
    Reload,
    /// The file on disk is not looked at.
    KeepMine,
    /// The work beside the frame is not wanted any more.
    CancelJob,
    /// A message for people.
    Say(Tone, String),
    /// Something about plugins and scripts.
    Module(ModuleAction),
    /// Something about experiments.
    Experiment(ExperimentAction),
    /// Something about runs that are kept.
    KeptRun(KeptRunAction),
    /// Something in the vehicle workshop.
    Workshop(WorkshopAction),
    /// What the map has shown already in the frame that sends it.
    View(ViewAction),
}

/// What the hand on the map changes in the view. The map draws with it in the same frame, so that
/// panning and zooming follow the pointer without delay, and sends it afterwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ViewAction {
    /// The map looks here.
    Look(Camera),
    /// The map no longer follows the watched vehicle.
    StopFollowing,
    /// The world point under the pointer, m; `None`: the pointer is not on the map.
    Point(Option<DVec2>),
}

/// What can be done about plugins and scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleAction {
    /// The build with this hash may run, from now on.
    Allow(String),
    /// All builds in this folder may run, from now on.
    AllowFolder(PathBuf),
    /// No longer so.
    ForgetFolder(PathBuf),
    /// It is not asked about again in this session.
    Decline(String),
    /// The module's file is read again.
    Reload(String),
    /// The module is switched off or on.
    Disable(String, bool),
    /// The module runs in a process of its own or not.
    Isolate(String, bool),
    /// The build before is used again.
    RollBack(String),
    /// The folder of a file is shown by the system.
    OpenFolder(PathBuf),
    /// A script is written.
    SaveScript {
        /// Its id.
        id: String,
        /// Its text.
        text: String,
        /// What its file held when it was changed; nothing is written over anything else.
        base: String,
        /// Whether it is written with a mistake in it as well.
        anyway: bool,
    },
    /// The text of a script is looked through for mistakes: its id and its text.
    CheckScript(String, String),
    /// One handler of a text of a script is run for one agent, statement by statement.
    StepThrough(StepRequest),
    /// What was stepped through is put away.
    EndStepping,
    /// A new script is made.
    NewScript(String),
    /// The clock has stopped a module: the simulation continues without it, or stays paused.
    TimedOut {
        /// Whether it continues.
        goes_on: bool,
    },
    /// A native call hangs: the program restarts without that module.
    RestartWithout(String),
}

/// How serious a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Done.
    Done,
    /// Cannot be.
    Refused,
    /// Went wrong.
    Failed,
}
