//! Why a world cannot be saved or restored.

use crate::options::SimulationError;
use thiserror::Error;

/// Why a world cannot be saved or restored.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SaveError {
    /// Modules keep something that they cannot give.
    #[error(
        "cannot save: {} can neither save state nor declares to have none; run with \
         --allow-inexact to let it start fresh when the world is restored",
        .0.join(", ")
    )]
    Modules(Vec<String>),
    /// An edit waits until junctions are empty, and a save holds no scenarios.
    #[error(
        "cannot save: an edit waits until junctions are empty ({junctions} of them); take steps until \
         it has entered, {seconds:.0} s at most"
    )]
    EditWaits {
        /// So many junctions.
        junctions: usize,
        /// Simulated time until it has entered at the latest, whole seconds.
        seconds: f64,
    },
    /// The bytes are not a save, or cut off or damaged.
    #[error("not a saved world: {0}")]
    NoSave(String),
    /// Something in the save cannot be read or cannot be: a part, or what is wrong with it.
    #[error("the save is damaged ({0}); restore an older one")]
    Damaged(String),
    /// The save is newer than the program.
    #[error("the saved world needs a newer version: part \"{part}\" has version {version}")]
    Newer {
        /// Name of the part.
        part: String,
        /// Its version.
        version: u16,
    },
    /// The save is older than what the program reads.
    #[error(
        "the saved world was written by an older version: part \"{part}\" has version {version}; \
         run the scenario from its start"
    )]
    Older {
        /// Name of the part.
        part: String,
        /// Its version.
        version: u16,
    },
    /// The save belongs to other roads or obstacles.
    #[error("the saved world belongs to other roads or obstacles than this scenario has")]
    OtherGround,
    /// The save belongs to a scenario with other stacks.
    #[error(
        "the saved world has stacks of other names than this scenario; their modules may be others, \
         but not their names"
    )]
    OtherStacks,
    /// The save belongs to a scenario with other vehicle types.
    #[error(
        "the saved world has other vehicle types than this scenario, or with other trailers; what they are \
         may be another, but not which there are"
    )]
    OtherVehicleTypes,
    /// The scenario or the options do not fit.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}
