//! Reasons why a world cannot be saved or restored.

use crate::options::SimulationError;
use thiserror::Error;

/// Reason why a world cannot be saved or restored.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SaveError {
    /// Some modules have state that they cannot export.
    #[error(
        "cannot save: {} cannot save its state and does not declare that it has none; run with \
         --allow-inexact to let it start fresh when the world is restored",
        .0.join(", ")
    )]
    Modules(Vec<String>),
    /// An edit is pending, and saves do not contain scenarios.
    #[error(
        "cannot save: an edit is waiting until the junctions are empty ({junctions} in total); continue the run \
         until it is applied, which takes at most {seconds:.0} s"
    )]
    EditWaits {
        /// Number of junctions that the edit changes.
        junctions: usize,
        /// Maximum time until the edit will be applied, in whole seconds of simulated time.
        seconds: f64,
    },
    /// The bytes are not a save, or are incomplete or damaged.
    #[error("not a saved world: {0}")]
    NoSave(String),
    /// A part of the save cannot be read or is invalid.
    #[error("the save is damaged ({0}); restore from an older save")]
    Damaged(String),
    /// The save is newer than the program.
    #[error(
        "the saved world was written by a newer Roadwright: part \"{part}\" has version \
         {version}; update Roadwright"
    )]
    Newer {
        /// Name of the part.
        part: String,
        /// Version of the part.
        version: u16,
    },
    /// The save is older than the oldest version that the program reads.
    #[error(
        "the saved world was written by an older Roadwright: part \"{part}\" has version \
         {version}; run the scenario from its start"
    )]
    Older {
        /// Name of the part.
        part: String,
        /// Version of the part.
        version: u16,
    },
    /// The save belongs to a scenario with different roads or obstacles.
    #[error("the saved world belongs to a scenario with different roads or obstacles")]
    OtherGround,
    /// The save belongs to a scenario with differently named stacks.
    #[error(
        "the saved world and this scenario have different stacks; their modules may differ, but their names \
         must be the same"
    )]
    OtherStacks,
    /// The save belongs to a scenario with other vehicle types.
    #[error(
        "the saved world and this scenario have different vehicle types or trailers; their data may differ, but \
         the types and trailers must be the same"
    )]
    OtherVehicleTypes,
    /// Agents were playing clips of a library that has changed since the save.
    #[error(
        "the saved world uses the moves of the library \"{0}\", which is missing or has changed \
         since the save; restore the library, or run the scenario from its start"
    )]
    OtherMoves(String),
    /// The scenario or the options do not match the save.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}
