//! Requests that subjects of the editor send to each other, in addition to the actions of panels.

use crate::experiment::ExperimentFile;
use crate::extensions::StepRequest;
use crate::live::JudgedRace;
use crate::model::{Action, ModuleAction, Next, Purpose};
use roadwright_agent::BehaviourView;
use roadwright_simulation::{CouplingOrder, HandControls};
use std::path::PathBuf;

/// A request from one subject to another. It is carried out as soon as the sender returns.
pub(crate) enum Request {
    /// An action that a panel could also request.
    Action(Box<Action>),
    /// A request about documents and files.
    Flow(FlowAction),
    /// A request about the run.
    Playing(PlayingAction),
    /// A request about plugins and scripts.
    Modules(ModuleRequest),
    /// A request about bundles.
    Bundle(BundleAction),
    /// Uses the path chosen for a file of an experiment.
    ExperimentPath(PathBuf, ExperimentFile),
}

impl From<Action> for Request {
    fn from(action: Action) -> Self {
        Self::Action(Box::new(action))
    }
}

impl From<PlayingAction> for Request {
    fn from(action: PlayingAction) -> Self {
        Self::Playing(action)
    }
}

/// Requests about documents and files.
pub(crate) enum FlowAction {
    /// Saves the document.
    Save,
    /// Asks the user for a path and suggests one.
    AskPath(Purpose),
    /// Asks the user for a path in the system's file dialog.
    Browse(Purpose, Option<Next>),
    /// Uses the chosen path.
    Path(PathBuf, Purpose, Option<Next>),
    /// Asks about unsaved changes before it continues.
    Leave(Next),
    /// Continues without asking about unsaved changes.
    Go(Next),
    /// Deletes the recovery files of crashed sessions.
    DiscardRecoveries,
    /// Reloads the document from its file.
    Reload,
    /// Keeps the open document although its file has changed.
    KeepMine,
    /// Cancels all long jobs.
    CancelJobs,
    /// Saves the work and restarts the program.
    Restart,
}

/// Requests about the run.
pub(crate) enum PlayingAction {
    /// Plays or pauses the run.
    PlayOrPause,
    /// Plays the run, if there is one.
    GoOn,
    /// Pauses the run, if there is one.
    Halt,
    /// Runs one step.
    Step,
    /// Resets the run to the start.
    Reset,
    /// Sets the speed.
    Speed(f64),
    /// Changes the speed by this many entries in the list of speeds.
    ChangeSpeed(isize),
    /// Watches an agent; `None` stops watching.
    Watch(Option<u64>),
    /// Toggles whether the map follows the watched vehicle.
    ToggleFollow,
    /// Shows the run one second before the shown moment.
    LookBack,
    /// Shows the run at this simulated time, s.
    LookAt(f64),
    /// Shows the current state of the run.
    BackToPresent,
    /// Lets the user drive the watched vehicle, or ends manual control.
    TakeTheWheel,
    /// Sets the controls of the manually driven vehicle; `None` returns it to its modules.
    Drive(Option<HandControls>),
    /// Returns the run to its start and begins a user's attempt on a course.
    BeginRace(Box<JudgedRace>),
    /// Starts or ends a clip of the driven or watched vehicle.
    RecordClip,
    /// Uncouples or couples trailers of an agent.
    Coupling(u64, CouplingOrder),
    /// Uncouples or couples trailers of the watched agent.
    CoupleWatched(CouplingOrder),
    /// Plays a newly opened world up to a step; `None` for no limit.
    PlayTo(Option<u64>),
    /// Updates the module registry of the run.
    UseModules,
    /// Fetches the view of an agent, given by its id, from the run, and steps through the script
    /// with it.
    FindView(StepRequest, u64),
}

/// Requests about plugins and scripts.
pub(crate) enum ModuleRequest {
    /// An action of a panel.
    Action(ModuleAction),
    /// Searches for modules in the folder of the open document.
    Follow,
    /// Steps through a script with the view of an agent of the run.
    StepThrough(StepRequest, Box<BehaviourView>),
}

/// Requests about bundles.
pub(crate) enum BundleAction {
    /// Writes the scenario with all its dependencies to a file.
    Share(PathBuf),
    /// Reads a bundle.
    Open(PathBuf),
    /// Unpacks the shown bundle.
    Unpack {
        /// Target folder; must be new or empty.
        folder: PathBuf,
        /// Whether to add the road presets of the bundle to those of the user.
        presets: bool,
    },
}
