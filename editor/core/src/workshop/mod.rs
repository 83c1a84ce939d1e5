//! The vehicle workshop: a vehicle file on the bench, what is drawn of it, what it is compared with, its
//! trials on the proving ground, and the test track.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `mod.rs` | what panels read and ask for |
//! | `bench.rs` | the vehicle on the bench, with its own undo |
//! | `drawn.rs` | what is drawn of a vehicle, from functions of the library |
//! | `trial.rs` | the manoeuvres, on a thread of their own |
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

/// Where a vehicle comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// One that comes with the program, by its name.
    Shipped(&'static str),
    /// A vehicle type of the scenario.
    Type(String),
    /// The one on the bench before it was changed.
    Unchanged,
    /// A file that was opened.
    File(std::path::PathBuf),
}

impl Source {
    /// What it is called in lists.
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

/// A vehicle that the one on the bench is compared with.
#[derive(Debug, Clone)]
pub struct Rival {
    /// Where it comes from.
    pub source: Source,
    /// Its file.
    pub file: Arc<VehicleFile>,
    /// What is drawn of it.
    pub drawn: Arc<Drawn>,
}

impl Rival {
    /// A vehicle with what is drawn of it.
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
    /// Level, with cones.
    #[default]
    Flat,
    /// Ridges, waves and a ramp.
    Bumpy,
}

impl Ground {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Flat, Self::Bumpy];

    /// On the screen.
    pub fn title(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Bumpy => "bumpy",
        }
    }
}

/// What panels read of the workshop.
#[derive(Debug, Clone, Default)]
pub struct Workshop {
    /// The vehicle on the bench, if there is one.
    pub bench: Option<Bench>,
    /// What it is compared with.
    pub rival: Option<Rival>,
    /// How its trials stand, or what came of them.
    pub trial: TrialState,
    /// The test track that is on the map in place of the scenario.
    pub track: Option<Ground>,
}

/// What can be done in the workshop.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkshopAction {
    /// A vehicle comes onto the bench.
    Open(Source),
    /// It is compared with another one, or no longer.
    Compare(Option<Source>),
    /// A number is changed: what the change is called, and the whole file with it.
    Change(String, Box<VehicleFile>),
    /// The change with this name is over.
    Commit(String),
    /// The last change is taken back.
    Undo,
    /// It is done again.
    Redo,
    /// It drives the manoeuvres of the proving ground.
    Test,
    /// It drives no more of them.
    StopTest,
    /// It is driven by hand on a test track.
    Drive(Ground),
    /// The scenario comes back onto the map.
    LeaveTrack,
    /// A vehicle type of the scenario names its file.
    Use,
}
