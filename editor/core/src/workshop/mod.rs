//! The vehicle workshop. It consists of the vehicle on the bench with its views and curves, a
//! vehicle to compare it with, trials on the proving ground, and the test track.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | state and actions for the panels |
//! | `bench.rs` | the vehicle on the bench, with its own undo history |
//! | `drawn.rs` | views and curves of a vehicle, from functions of the library |
//! | `trial.rs` | the manoeuvres, on a separate thread |
//! | `track.rs` | the test track as a scenario |

mod bench;
mod drawn;
pub mod track;
mod trial;

pub use bench::{Bench, Kept, Refusal, slug};
pub use drawn::Drawn;
pub use trial::{Trial, TrialRow, TrialState};

use roadwright_scenario::vehicle_file::VehicleFile;
use std::sync::Arc;

/// Origin of a vehicle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A shipped vehicle, given by its name.
    Shipped(&'static str),
    /// A vehicle type of the scenario.
    Type(String),
    /// The vehicle on the bench before its changes.
    Unchanged,
    /// An opened file.
    File(std::path::PathBuf),
}

impl Source {
    /// Returns the title shown in lists.
    pub fn title(&self) -> String {
        match self {
            Self::Shipped(name) => (*name).to_owned(),
            Self::Type(key) => format!("type {key}"),
            Self::Unchanged => "original".to_owned(),
            Self::File(path) => path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        }
    }
}

/// A vehicle for comparison.
#[derive(Debug, Clone)]
pub struct Rival {
    /// Origin of the vehicle.
    pub source: Source,
    /// File of the vehicle.
    pub file: Arc<VehicleFile>,
    /// Views and curves of the vehicle.
    pub drawn: Arc<Drawn>,
}

impl Rival {
    /// Creates the entry for a vehicle and computes its views and curves.
    pub fn new(source: Source, file: VehicleFile) -> Self {
        Self {
            source,
            drawn: Arc::new(Drawn::of(&file)),
            file: Arc::new(file),
        }
    }
}

/// The ground of the test track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ground {
    /// Level ground with cones.
    #[default]
    Flat,
    /// Ground with ridges, waves and a ramp.
    Bumpy,
}

impl Ground {
    /// Both kinds of ground.
    pub const ALL: [Self; 2] = [Self::Flat, Self::Bumpy];

    /// Returns the title shown on the screen.
    pub fn title(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Bumpy => "bumpy",
        }
    }
}

/// State of the workshop that panels read.
#[derive(Debug, Clone, Default)]
pub struct Workshop {
    /// The vehicle on the bench, if there is one.
    pub bench: Option<Bench>,
    /// The vehicle for comparison.
    pub rival: Option<Rival>,
    /// Progress and results of the trials.
    pub trial: TrialState,
    /// The test track shown on the map in place of the scenario.
    pub track: Option<Ground>,
}

/// Actions in the workshop.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkshopAction {
    /// Puts a vehicle on the bench.
    Open(Source),
    /// Compares the vehicle with another one, or with none.
    Compare(Option<Source>),
    /// Changes a value, given the label of the change and the whole new file.
    Change(String, Box<VehicleFile>),
    /// Ends the change with this label.
    Commit(String),
    /// Undoes the last change.
    Undo,
    /// Redoes the change that was last undone.
    Redo,
    /// Runs the manoeuvres of the proving ground.
    Test,
    /// Stops the manoeuvres.
    StopTest,
    /// Lets the user drive the vehicle on a test track with this ground.
    Drive(Ground),
    /// Returns to the scenario.
    LeaveTrack,
    /// Adds the vehicle to the scenario as a vehicle type with a file.
    Use,
}
