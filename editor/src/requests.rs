//! Requests to the subjects of the editor, beside the actions of panels.

use crate::experiment::ExperimentFile;
use crate::extensions::StepRequest;
use crate::model::{Action, ModuleAction, Next, Purpose};
use roadwright_agent::BehaviourView;
use roadwright_simulation::{CouplingOrder, HandControls};
use std::path::PathBuf;

/// A request from one subject to another, carried out as soon as the first one returns.
pub(crate) enum Request {
    /// An action that a panel could send as well.
    Action(Action),
    /// Something about documents and files.
    Flow(FlowAction),
    /// Something about the run.
    Playing(PlayingAction),
    /// Something about plugins and scripts.
    Modules(ModuleRequest),
    /// Something about bundles.
    Bundle(BundleAction),
    /// A path for an experiment was given.
    ExperimentPath(PathBuf, ExperimentFile),
}

impl From<Action> for Request {
    fn from(action: Action) -> Self {
        Self::Action(action)
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
    /// Asks for a path, with a suggestion.
    AskPath(Purpose),
    /// Asks for a path by the system's own dialog.
    Browse(Purpose, Option<Next>),
    /// Takes a path that was given.
    Path(PathBuf, Purpose, Option<Next>),
    /// Asks before unsaved changes are lost.
    Leave(Next),
    /// Loses unsaved changes without asking.
    Go(Next),
    /// Deletes the recoveries of crashed sessions.
    DiscardRecoveries,
    /// Reads the file of the document again.
    Reload,
    /// Keeps the document although its file has changed.
    KeepMine,
    /// Gives up the long jobs.
    CancelJobs,
    /// Keeps the edits and starts the program anew.
    Restart,
}

/// Requests about the run.
pub(crate) enum PlayingAction {
    /// The run is played, or stands still.
    PlayOrPause,
    /// A run that has been started is played on.
    GoOn,
    /// A run that has been started stands still.
    Halt,
    /// One step.
    Step,
    /// Back to the start.
    Reset,
    /// Another speed.
    Speed(f64),
    /// Steps along the list of speeds.
    ChangeSpeed(isize),
    /// Another agent is looked into.
    Watch(Option<u64>),
    /// The map follows the watched vehicle, or no longer.
    ToggleFollow,
    /// The run as it was a second before the moment that is shown.
    LookBack,
    /// The run as it was at a time, s.
    LookAt(f64),
    /// The run as it is now.
    BackToPresent,
    /// The watched vehicle is driven by hand, or given back.
    TakeTheWheel,
    /// The controls of the vehicle that is driven by hand; `None` gives it back.
    Drive(Option<HandControls>),
    /// The trailers of an agent are let go or joined on.
    Coupling(u64, CouplingOrder),
    /// The trailers of the watched agent.
    CoupleWatched(CouplingOrder),
    /// A world that has just been put into the window runs to a step; `None`: for as long as it likes.
    PlayTo(Option<u64>),
    /// The run learns of other modules to choose from.
    UseModules,
    /// Finds the view of the agent of a request, and steps through the script with it.
    FindView(StepRequest, u64),
}

/// Requests about plugins and scripts.
pub(crate) enum ModuleRequest {
    /// An action of a panel.
    Action(ModuleAction),
    /// Looks beside the document that is in the window now.
    Follow,
    /// Steps through a script with the view of an agent of the run.
    StepThrough(StepRequest, Box<BehaviourView>),
}

/// Requests about bundles.
pub(crate) enum BundleAction {
    /// Writes the scenario with all that it needs to a file.
    Share(PathBuf),
    /// Reads a bundle.
    Open(PathBuf),
    /// Unpacks the bundle that is shown.
    Unpack {
        /// The folder, which is new or empty.
        folder: PathBuf,
        /// Whether its presets of roads are added to one's own.
        presets: bool,
    },
}
