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
    Action(Box<Action>),
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
    /// Asks for a path, with a suggestion.
    AskPath(Purpose),
    /// Asks for a path by the system's own dialog.
    Browse(Purpose, Option<Next>),
    /// Takes a path that was given.
    Path(PathBuf, Purpose, Option<Next>),
    /// Asks about unsaved changes, then continues.
    Leave(Next),
    /// Continues without asking about unsaved changes.
    Go(Next),
    /// Deletes the recoveries of crashed sessions.
    DiscardRecoveries,
    /// Reads the file of the document again.
    Reload,
    /// Keeps the document although its file has changed.
    KeepMine,
    /// Cancels the long jobs.
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
    /// Steps along the list of speeds.
    ChangeSpeed(isize),
    /// Watches an agent, or none.
    Watch(Option<u64>),
    /// Toggles whether the map follows the watched vehicle.
    ToggleFollow,
    /// Shows the run a second before the shown moment.
    LookBack,
    /// Shows the run at a time, s.
    LookAt(f64),
    /// Shows the present.
    BackToPresent,
    /// Takes the controls of the watched vehicle, or returns them.
    TakeTheWheel,
    /// Sets the controls of the vehicle driven by hand; `None` returns it to its modules.
    Drive(Option<HandControls>),
    /// Uncouples or couples trailers of an agent.
    Coupling(u64, CouplingOrder),
    /// Uncouples or couples trailers of the watched agent.
    CoupleWatched(CouplingOrder),
    /// Plays a world that was just opened up to a step; `None`: without end.
    PlayTo(Option<u64>),
    /// Gives the run the present registry of modules.
    UseModules,
    /// Finds the view of the agent of a request, and steps through the script with it.
    FindView(StepRequest, u64),
}

/// Requests about plugins and scripts.
pub(crate) enum ModuleRequest {
    /// An action of a panel.
    Action(ModuleAction),
    /// Searches for modules beside the document that is open now.
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
    /// Unpacks the bundle that is shown.
    Unpack {
        /// The folder, which is new or empty.
        folder: PathBuf,
        /// Whether its road presets are added to the user's.
        presets: bool,
    },
}
