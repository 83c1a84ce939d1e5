//! Experiments in the editor: parameter training in the background, and display of individuals.
//!
//! | file | contents |
//! | --- | --- |
//! | `comparison.rs` | results of `bench run` that are compared |
//! | `draft.rs` | the experiment being set up, and its errors |
//! | `trainer.rs` | the training on its own thread: orders in, snapshots out |
//! | `picture.rs` | the state of a training run for the panels |
//! | `gate.rs` | runs that can be paused, cancelled and counted |

mod comparison;
mod draft;
mod gate;
mod picture;
mod trainer;

pub use comparison::OpenResults;
pub use draft::{Checked, Draft, DraftHistory, ENDING, Fault, Gesture, Question, Ticks, check};
pub use gate::Progress;
pub use picture::{Fate, GenerationRow, IndividualRow, Phase, TrainingPicture};
pub use trainer::{Trainer, spare_threads};

use roadwright_training::experiment::DrivePath;
use roadwright_training::genetic::{Chromosome, CourseEnd, Experiment};
use std::sync::Arc;

/// The state of experiments as panels read it.
#[derive(Default)]
pub struct ExperimentModel {
    /// The experiment being set up; `None` until one is created or opened.
    pub draft: Option<Draft>,
    /// Parameters of the draft's stack, and which of them are genes.
    pub ticks: Ticks,
    /// Result of the last check.
    pub checked: Option<Arc<Checked>>,
    /// The training, if one was started.
    pub training: Option<Arc<TrainingPicture>>,
    /// Progress of the training.
    pub progress: Progress,
    /// Opened results of `bench run`.
    pub results: Vec<Arc<OpenResults>>,
    /// The individual whose world is shown in place of the document.
    pub shown: Option<Shown>,
    /// The driven paths of the shown results.
    pub paths: Option<Arc<Vec<DrivePath>>>,
}

/// The individual whose world is shown, or the shown results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Title of the shown world or results.
    pub name: String,
    /// Seed of the shown course.
    pub course: u64,
    /// Title of the document that the shown world replaces.
    pub origin: String,
    /// End of the shown course. `None` for results, and for courses that could not be driven to
    /// their end.
    pub end: Option<CourseEnd>,
}

/// Actions on experiments.
#[derive(Debug, Clone, PartialEq)]
pub enum ExperimentAction {
    /// Creates an experiment on a built-in course, or on the scenario of the document if `None`.
    New(Option<String>),
    /// Closes the experiment.
    Close,
    /// Replaces the experiment.
    Set(Box<Experiment>),
    /// Sets a built-in course, or the scenario of the document if `None`.
    On(Option<String>),
    /// Sets the stack to train.
    Stack(String),
    /// Undoes the last change of the experiment.
    Undo,
    /// Redoes the change that was last undone.
    Redo,
    /// Starts training.
    Train,
    /// Pauses training (`true`) or resumes it (`false`).
    Pause(bool),
    /// Stops training; complete generations are kept.
    Stop,
    /// Resumes a stopped training run.
    GoOn,
    /// Chooses the champion of a stopped training run.
    Judge,
    /// Strikes out an individual of the last generation, identified by its birth.
    StrikeOut((u32, u32)),
    /// Shows the world of an individual.
    Show {
        /// Genes of the individual.
        genes: Chromosome,
        /// The seed of the course.
        course: u64,
        /// Name of the individual.
        name: String,
    },
    /// Shows the document again.
    Back,
    /// Shows the driven paths of the results with this index on the map.
    ShowRuns(usize),
    /// Closes the results with this index.
    CloseResults(usize),
    /// Asks the user for a path.
    File(ExperimentFile),
    /// Writes the champion's values into the given stack of the scenario, or into a new one if `None`.
    Apply(Option<String>),
}

/// Purpose of a file dialog for experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExperimentFile {
    /// An experiment to open.
    Open,
    /// The path to which the experiment is saved.
    Save,
    /// The path to which the training record is written.
    Record,
    /// Results of `bench run` to open.
    Results,
}
