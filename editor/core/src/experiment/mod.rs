//! Experiments in the window: parameters are trained beside the frame, and who is bred can be watched.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `comparison.rs` | results of `bench run` beside each other |
//! | `draft.rs` | the experiment that is being set up, and what is wrong with it |
//! | `trainer.rs` | the training on its own thread: orders in, pictures out |
//! | `picture.rs` | what is seen of a training |
//! | `gate.rs` | runs that can be paused, given up and counted |

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

/// What panels read of experiments.
#[derive(Default)]
pub struct ExperimentModel {
    /// The experiment that is set up; none yet at first.
    pub draft: Option<Draft>,
    /// The parameters of its stack.
    pub ticks: Ticks,
    /// What the last look at it has found.
    pub checked: Option<Arc<Checked>>,
    /// The training, if one was begun.
    pub training: Option<Arc<TrainingPicture>>,
    /// How far it is.
    pub progress: Progress,
    /// Results of `bench run` that were opened.
    pub results: Vec<Arc<OpenResults>>,
    /// The individual whose world stands in place of the document.
    pub shown: Option<Shown>,
    /// The ways of the runs of results that are shown.
    pub paths: Option<Arc<Vec<DrivePath>>>,
}

/// The individual whose world is shown, or the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What is seen.
    pub name: String,
    /// The seed of its course.
    pub course: u64,
    /// What the document is called that waits.
    pub origin: String,
    /// Where its course ends; nothing of results, and of what cannot be driven to its end.
    pub end: Option<CourseEnd>,
}

/// What can be asked for about experiments.
#[derive(Debug, Clone, PartialEq)]
pub enum ExperimentAction {
    /// A new experiment on a built-in course; `None`: on the scenario of the document.
    New(Option<String>),
    /// The experiment that is set up is put away.
    Close,
    /// It is this one now.
    Set(Box<Experiment>),
    /// It is driven on a built-in course; `None`: on the scenario of the document.
    On(Option<String>),
    /// Another stack is trained.
    Stack(String),
    /// The last change of what is set up is taken back.
    Undo,
    /// What was taken back is put back.
    Redo,
    /// Training begins.
    Train,
    /// It stands still, or goes on.
    Pause(bool),
    /// It ends; what was bred so far stays.
    Stop,
    /// A stopped one goes on.
    GoOn,
    /// A stopped one chooses its champion among those it has.
    Judge,
    /// An individual of the last generation is struck out, by its birth.
    StrikeOut((u32, u32)),
    /// The world of an individual is shown.
    Show {
        /// Its values.
        genes: Chromosome,
        /// The seed of the course.
        course: u64,
        /// What it is called.
        name: String,
    },
    /// The document is shown again.
    Back,
    /// The ways of the runs of results are shown on the map, by their place in the list.
    ShowRuns(usize),
    /// Results are put away, by their place in the list.
    CloseResults(usize),
    /// A path is asked for.
    File(ExperimentFile),
    /// The champion's values go into a stack of the scenario; `None`: into a new one.
    Apply(Option<String>),
}

/// What a path is asked for by experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExperimentFile {
    /// An experiment to open.
    Open,
    /// Where to save it.
    Save,
    /// Where to write the record of the training.
    Record,
    /// Results of `bench run` to open.
    Results,
}
